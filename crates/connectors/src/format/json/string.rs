//! The inside of strings: where they end, the characters that escapes mean, and the escapes of characters.

use std::borrow::Cow;

use crate::format::text::write::write_display;

/// The inside of a string, as it stands in the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    /// The bytes between the quotes.
    pub(super) raw: &'a [u8],
    /// Where they start in the chunk.
    pub(super) start: usize,
    /// Whether there are escapes among them.
    pub(super) escaped: bool,
}

impl<'a> Text<'a> {
    /// The characters that are meant.
    pub(super) fn unescaped(&self) -> Cow<'a, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut out = Vec::with_capacity(self.raw.len());
        unescape(self.raw, &mut out);
        Cow::Owned(out)
    }
}

/// Where the first quote, backslash or control character stands, from `at` on; the length if there is none.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn find_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..at + 16).and_then(|block| <&[u8; 16]>::try_from(block).ok()) {
        let mask = special_mask(block);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    find_special_bytewise(bytes, at)
}

/// One bit for each byte of the block that is a quote, a backslash or a control character.
#[cfg(target_arch = "x86_64")]
#[inline]
fn special_mask(block: &[u8; 16]) -> i32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: SSE2 is part of x86-64; the load reads the 16 bytes of `block`, and needs no alignment.
    unsafe {
        let block = _mm_loadu_si128(block.as_ptr().cast());
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control))
    }
}

/// Where the first quote, backslash or control character stands, from `at` on; the length if there is none.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn find_special(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    while let Some(block) = bytes.get(at..at + 8).and_then(|block| <[u8; 8]>::try_from(block).ok()) {
        let word = u64::from_le_bytes(block);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let special =
            zero_bytes(word ^ (ONES * u64::from(b'"'))) | zero_bytes(word ^ (ONES * u64::from(b'\\'))) | control;
        // A borrow can only mark bytes above the first one that is special: the lowest mark is right.
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    find_special_bytewise(bytes, at)
}

fn find_special_bytewise(bytes: &[u8], at: usize) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    bytes.iter().skip(at).position(special).map_or(bytes.len(), |length| at + length)
}

/// Appends the characters that a checked string means. Half a surrogate pair becomes U+FFFD.
pub(super) fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = rest[at + 1];
        rest = &rest[at + 2..];
        match escape {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => rest = unescape_utf16(rest, out),
            itself => out.push(itself),
        }
    }
    out.extend_from_slice(rest);
}

/// Appends the character of a `\u` whose digits start `rest`, with the second half of a pair; gives what follows.
fn unescape_utf16<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let (unit, mut rest) = (hex(rest), &rest[4..]);
    let mut code = unit;
    if (0xd800..0xdc00).contains(&unit) && rest.starts_with(b"\\u") {
        let low = hex(&rest[2..]);
        if (0xdc00..0xe000).contains(&low) {
            code = 0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00));
            rest = &rest[6..];
        }
    }
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

/// The value of four hexadecimal digits, which were checked.
fn hex(digits: &[u8]) -> u32 {
    digits[..4].iter().fold(0, |value, digit| value << 4 | char::from(*digit).to_digit(16).unwrap_or(0))
}

/// Appends a string, with what JSON does not let stand in it escaped.
pub(super) fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control @ 0..0x20 => write_display(format_args!("\\u{control:04x}"), out),
            quote => out.extend_from_slice(&[b'\\', quote]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
