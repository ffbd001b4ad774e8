//! The text whose words are counted: made once, the same for everybody.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::super::random::Random;
use super::work;
use crate::{Outcome, cache};

/// One more where what is written changes.
const VERSION: u32 = 1;
const FILES: u64 = 16;
const FILE_BYTES: usize = 64 << 20;
/// Different words. How often one comes falls with its number, as in a language.
const WORDS: u64 = 200_000;
const WORDS_A_LINE: usize = 12;

const BEGINNINGS: [&str; 16] = ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "th", "w"];
const MIDDLES: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];

/// The folder with the text.
pub(super) fn ready() -> Result<PathBuf, String> {
    let all = cache::folder()?.join("bench");
    let folder = all.join(format!("texts-v{VERSION}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    println!("Making a gigabyte of text in {} ...", folder.display());
    let making = all.join("making-texts");
    work::clear(&making)?;
    fs::create_dir_all(&making).map_err(|e| format!("cannot create {}: {e}", making.display()))?;
    (0..FILES).try_for_each(|number| write(&making.join(format!("{number:02}.txt")), number))?;
    fs::rename(&making, &folder).map_err(|e| format!("cannot rename {}: {e}", making.display()))?;
    Ok(folder)
}

fn write(path: &Path, number: u64) -> Outcome {
    let failed = |e| format!("cannot write {}: {e}", path.display());
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let (mut random, mut line, mut bytes) = (Random(number), String::new(), 0);
    while bytes < FILE_BYTES {
        line.clear();
        for at in 0..WORDS_A_LINE {
            line.push_str(if at == 0 { "" } else { " " });
            let begun = line.len();
            spell(draw(&mut random), &mut line);
            if at == 0 {
                line[begun..].make_ascii_uppercase();
            }
        }
        line.push_str(".\n");
        file.write_all(line.as_bytes()).map_err(failed)?;
        bytes += line.len();
    }
    file.flush().map_err(failed)
}

/// The number of a word: a tenth of as large a number comes ten times as often, or so.
fn draw(random: &mut Random) -> u64 {
    let most = 1 + random.below(WORDS);
    let most = 1 + random.below(most);
    random.below(most)
}

/// Two syllables and more: another word for each number.
fn spell(mut number: u64, line: &mut String) {
    loop {
        let syllable = number % 128;
        line.push_str(BEGINNINGS[(syllable / 8) as usize]);
        line.push_str(MIDDLES[(syllable % 8) as usize]);
        number /= 128;
        if number == 0 {
            return;
        }
    }
}
