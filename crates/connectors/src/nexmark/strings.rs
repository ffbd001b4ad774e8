//! Random texts, a block of letters at a time: bids are mostly text, so this is where the time goes.

use crate::synthetic::Draws;

const LETTERS: u64 = 26;

/// The shortest text, before it is trimmed.
const SHORTEST: u64 = 3;
/// One in so many characters is no letter.
const ONE_GAP_OF: u64 = 13;

/// Appends a text of less than `limit` letters with gaps between them; it neither begins nor ends with a space.
pub(super) fn words(draws: &mut Draws, limit: u64, gap: u8, out: &mut String) {
    let start = out.len();
    let mut left = (SHORTEST + draws.below(limit - SHORTEST)) as usize;
    while left > 0 {
        let bits = draws.bits();
        // The product's high bits choose between letter and gap, its low ones the letter.
        let block: [u8; 4] = std::array::from_fn(|i| match ((bits >> (i * 16)) & 0xffff) * ONE_GAP_OF {
            product if product >> 16 == 0 => gap,
            product => b'a' + (((product & 0xffff) * LETTERS) >> 16) as u8,
        });
        let length = left.min(4);
        push(&block[..length], out);
        left -= length;
    }
    if gap == b' ' {
        out.truncate(start + out[start..].trim_end().len());
        let leading = out[start..].len() - out[start..].trim_start().len();
        out.replace_range(start..start + leading, "");
    }
}

/// Appends what brings a record of `size` bytes to `wanted` on average, give or take a fifth; nothing if it is larger.
pub(super) fn extra(draws: &mut Draws, size: u64, wanted: u64, out: &mut String) {
    let Some(missing) = wanted.checked_sub(size) else { return };
    let spread = (missing as f64 * 0.2).round() as u64;
    let length = (missing - spread + draws.below(2 * spread)) as usize;
    // Whole blocks are copied and the last one is cut: faster than eight letters at a time of a length to be looked at.
    let mut bytes = std::mem::take(out).into_bytes();
    let end = bytes.len() + length;
    bytes.reserve(length + 8);
    while bytes.len() < end {
        bytes.extend_from_slice(&eight_letters(draws.bits()));
    }
    bytes.truncate(end);
    *out = String::from_utf8(bytes).expect("letters behind a text are a text");
}

/// A letter for each byte: as many 256ths of the alphabet as the byte says, eight of them in two multiplications.
fn eight_letters(bits: u64) -> [u8; 8] {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    const FIRST_LETTERS: u64 = u64::from_le_bytes([b'a'; 8]);
    let even = (((bits & EVEN) * LETTERS) >> 8) & EVEN;
    let odd = (((bits >> 8) & EVEN) * LETTERS) & !EVEN;
    (FIRST_LETTERS + (even | odd)).to_le_bytes()
}

fn push(ascii: &[u8], out: &mut String) {
    out.push_str(str::from_utf8(ascii).expect("letters and gaps are ASCII"));
}
