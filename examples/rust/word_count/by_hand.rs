//! The same without a pipeline: a loop over all files, on one core. `cargo xtask bench --only typed_words` compares the two.

mod count;
#[path = "../text.rs"]
mod text;

use std::collections::HashMap;
use std::env;
use std::path::Path;

use count::{add_words, print_most_frequent};
use text::files;
use tidemill::{Error, Result};

fn main() -> Result<()> {
    let folder = env::args_os().nth(1).ok_or_else(|| Error::invalid("name the folder with the texts"))?;
    let mut counts = HashMap::new();
    files(Path::new(&folder))?.iter().try_for_each(|path| add_words(path, &mut counts))?;
    print_most_frequent(counts.into_iter().collect());
    Ok(())
}
