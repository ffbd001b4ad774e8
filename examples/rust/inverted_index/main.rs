//! Where each word stands: an index of the files of a folder, by word.

#[path = "../text.rs"]
mod text;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use text::{files, lines, words};
use tidemill::{
    AggregateFunction, Collector, Context, DataStream, Environment, KeyedProcessFunction, Result, WindowAssigner,
};

/// A line in which a word stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Place {
    path: String,
    /// From 1.
    line: usize,
}

/// A word, and all lines in which it stands, in order.
type Entry = (String, Vec<Place>);

/// Finds the words of a file, each once a line.
struct OfFile;

impl KeyedProcessFunction<String, String> for OfFile {
    type Out = (String, Place);

    fn process_element(
        &mut self,
        path: &String,
        _: String,
        _: &mut Context<'_>,
        out: &mut Collector<(String, Place)>,
    ) -> Result<()> {
        for (number, line) in (1..).zip(lines(path)?) {
            let of_line: BTreeSet<String> = words(&line?).map(Cow::into_owned).collect();
            of_line.into_iter().for_each(|word| out.collect((word, Place { path: path.clone(), line: number })));
        }
        Ok(())
    }
}

/// All places of a word.
#[derive(Clone)]
struct Places;

impl AggregateFunction for Places {
    type In = (String, Place);
    type Acc = BTreeSet<Place>;
    type Out = Vec<Place>;

    fn create_accumulator(&self) -> Self::Acc {
        BTreeSet::new()
    }

    fn add(&self, places: &mut Self::Acc, (_, place): (String, Place)) {
        places.insert(place);
    }

    fn result(&self, places: &Self::Acc) -> Self::Out {
        places.iter().cloned().collect()
    }

    fn merge(&self, mut a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.extend(b);
        a
    }
}

fn index(paths: DataStream<String>) -> DataStream<Entry> {
    paths
        .key_by(String::clone)
        .process("words of a file", |_| Ok(OfFile))
        .key_by(|(word, _)| word.clone())
        .window(WindowAssigner::global())
        .aggregate("places", Places)
        .map(|of| (of.key, of.value))
}

fn main() -> Result<()> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("word_count/texts");
    let folder = env::args_os().nth(1).map_or_else(own, PathBuf::from);
    let env = Environment::new();
    let index = index(env.from_iter(files(&folder)?)).collect();
    env.execute_batch()?;
    let mut index = index.take();
    index.sort();
    for (word, places) in index {
        let name =
            |place: &Place| Path::new(&place.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let places: Vec<String> = places.iter().map(|place| format!("{}:{}", name(place), place.line)).collect();
        println!("{word}: {}", places.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
