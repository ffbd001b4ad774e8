//! Counts words, and shows them.

use std::collections::HashMap;

use tidemill::Result;

use crate::text::{lines, words};

/// A word, and how often it stands there.
pub type Count = (String, i64);

/// Counts the words of a file, too.
pub fn add_words(path: &str, counts: &mut HashMap<String, i64>) -> Result<()> {
    for line in lines(path)? {
        for word in words(&line?) {
            match counts.get_mut(&*word) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.into_owned(), 1)),
            }
        }
    }
    Ok(())
}

/// Prints the ten words that come most often.
pub fn print_most_frequent(mut counts: Vec<Count>) {
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.iter().take(10).for_each(|(word, count)| println!("{count:>8} {word}"));
}
