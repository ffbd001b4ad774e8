//! Random texts.

use crate::synthetic::Draws;

const LETTERS: u64 = 26;

/// The shortest text, before it is trimmed.
const SHORTEST: u64 = 3;
/// One in so many characters is no letter.
const ONE_GAP_OF: u64 = 13;

/// Appends a text of less than `limit` letters with gaps between them, without gaps at its ends.
pub(super) fn words(draws: &mut Draws, limit: u64, gap: char, out: &mut String) {
    let start = out.len();
    let length = SHORTEST + draws.below(limit - SHORTEST);
    let mut written = 0;
    while written < length {
        let bits = draws.bits();
        for i in 0..4.min(length - written) {
            // The product's high bits choose between letter and gap, its low ones the letter.
            let product = (bits >> (i * 16) & 0xffff) * ONE_GAP_OF;
            out.push(if product >> 16 == 0 { gap } else { letter(product & 0xffff, 16) });
        }
        written += 4;
    }
    if gap == ' ' {
        out.truncate(start + out[start..].trim_end().len());
        let leading = out[start..].len() - out[start..].trim_start().len();
        out.replace_range(start..start + leading, "");
    }
}

/// Appends what brings a record of `size` bytes to `wanted` on average, give or take a fifth; nothing if it is larger.
pub(super) fn extra(draws: &mut Draws, size: u64, wanted: u64, out: &mut String) {
    let Some(missing) = wanted.checked_sub(size) else { return };
    let spread = (missing as f64 * 0.2).round() as u64;
    let mut left = missing - spread + draws.below(2 * spread);
    while left > 0 {
        let bits = draws.bits();
        let letters = left.min(8);
        out.extend((0..letters).map(|i| letter(bits >> (i * 8) & 0xff, 8)));
        left -= letters;
    }
}

/// The letter of a number of so many bits.
fn letter(number: u64, bits: u32) -> char {
    char::from(b'a' + ((number * LETTERS) >> bits) as u8)
}
