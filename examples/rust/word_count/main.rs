//! How often each word stands in the files of a folder: map, combine, shuffle, reduce.

mod count;
#[path = "../text.rs"]
mod text;

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};

use count::{Count, add_words, print_most_frequent};
use text::files;
use tidemill::{Collector, Context, DataStream, Environment, KeyedProcessFunction, Result, WindowAssigner};

/// Counts the words of a file, so that of each word only the number goes to the next step.
struct OfFile;

impl KeyedProcessFunction<String, String> for OfFile {
    type Out = Count;

    fn process_element(
        &mut self,
        path: &String,
        _: String,
        _: &mut Context<'_>,
        out: &mut Collector<Count>,
    ) -> Result<()> {
        let mut counts = HashMap::new();
        add_words(path, &mut counts)?;
        counts.into_iter().for_each(|count| out.collect(count));
        Ok(())
    }
}

/// Each word of the files once. They are dealt out by their paths, so that several are read at the same time, and one that
/// could not be read is tried again.
fn count(paths: DataStream<String>) -> DataStream<Count> {
    paths
        .key_by(String::clone)
        .process("words of a file", |_| Ok(OfFile))
        .key_by(|(word, _)| word.clone())
        .window(WindowAssigner::global())
        .reduce("words", |a, b| (a.0, a.1 + b.1))
        .map(|of| of.value)
}

fn main() -> Result<()> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("word_count/texts");
    let folder = env::args_os().nth(1).map_or_else(own, PathBuf::from);
    let env = Environment::new();
    let counts = count(env.from_iter(files(&folder)?)).collect();
    env.execute_batch()?;
    print_most_frequent(counts.take());
    Ok(())
}

#[cfg(test)]
mod tests;
