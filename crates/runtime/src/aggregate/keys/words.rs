//! Keys as words of 64 bits: which columns are NULL, then one word a number, and two a text.
//!
//! ```text
//!             NULLs   pane             category
//! one key:    0       1767225600000    5, "book" │ "s"
//! ```
//!
//! A text of up to 12 bytes is its own view, length and bytes; of a longer one the view says the length, the first four
//! bytes, and the place where [`LongTexts`] keeps it, the same for all texts that are equal.

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, StringViewArray, make_array};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{DataType, Fields};
use tidemill_core::Result;

use super::numbers::Numbers;
use super::texts::LongTexts;

/// The longest text that stands in its view.
const INLINE_BYTES: u32 = 12;

/// So many rows are looked at before their keys are found: what they need stays in the nearest cache until then.
const BLOCK_ROWS: usize = 256;

/// So many keys are in a cache anyway.
const CACHED_KEYS: usize = if cfg!(test) { 2 } else { 8 * 1024 };

/// Keys that are words.
pub(crate) trait WordKeys: Send {
    /// The number of each row's key.
    fn intern(&mut self, columns: &[ArrayRef], numbers: &mut Vec<usize>) -> Result<()>;

    /// How many there are.
    fn len(&self) -> usize;

    /// All keys, by number; then there is none.
    fn take(&mut self) -> Result<Vec<ArrayRef>>;
}

/// Keys of these columns; `None` where their types are others, or they are too many.
pub(super) fn of(fields: &Fields) -> Option<Box<dyn WordKeys>> {
    let columns = fields.iter().map(|field| Column::of(field.data_type())).collect::<Option<Vec<_>>>()?;
    Some(match 1 + columns.iter().map(Column::words).sum::<usize>() {
        2 => Box::new(Words::<2>::new(columns)),
        3 => Box::new(Words::<3>::new(columns)),
        4 => Box::new(Words::<4>::new(columns)),
        5 => Box::new(Words::<5>::new(columns)),
        6 => Box::new(Words::<6>::new(columns)),
        7 => Box::new(Words::<7>::new(columns)),
        _ => return None,
    })
}

/// How a column becomes words.
#[derive(Debug, Clone)]
enum Column {
    /// A type whose values are 32 bits, and equal where those are.
    Short(DataType),
    /// The same of 64 bits.
    Long(DataType),
    Text,
}

impl Column {
    fn of(data_type: &DataType) -> Option<Self> {
        use DataType as T;
        match data_type {
            T::Utf8View => Some(Self::Text),
            T::Int32 | T::UInt32 | T::Date32 | T::Time32(_) => Some(Self::Short(data_type.clone())),
            T::Int64 | T::UInt64 | T::Timestamp(..) | T::Time64(_) => Some(Self::Long(data_type.clone())),
            _ => None,
        }
    }

    fn words(&self) -> usize {
        if matches!(self, Self::Text) { 2 } else { 1 }
    }
}

/// Keys of `W` words.
struct Words<const W: usize> {
    columns: Vec<Column>,
    numbers: Numbers,
    keys: Vec<[u64; W]>,
    texts: LongTexts,
    /// Scratch space: the keys of a batch.
    rows: Vec<[u64; W]>,
}

impl<const W: usize> Words<W> {
    fn new(columns: Vec<Column>) -> Self {
        Self { columns, numbers: Numbers::default(), keys: vec![], texts: LongTexts::default(), rows: vec![] }
    }

    /// Puts the values of a column into word `at` of each row, and the next of a text.
    fn write(&mut self, column: usize, at: usize, array: &ArrayRef) -> Result<()> {
        match &self.columns[column] {
            Column::Short(_) => {
                let data = array.to_data();
                let values = data.buffer::<u32>(0).iter();
                self.rows.iter_mut().zip(values).for_each(|(row, &value)| row[at] = value.into());
            }
            Column::Long(_) => {
                let data = array.to_data();
                let values = data.buffer::<u64>(0).iter();
                self.rows.iter_mut().zip(values).for_each(|(row, &value)| row[at] = value);
            }
            Column::Text => self.write_texts(at, array.as_string_view())?,
        }
        let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        let words = self.columns[column].words();
        for (row, _) in self.rows.iter_mut().zip(nulls.iter()).filter(|(_, valid)| !valid) {
            // What stands in a column where it is NULL is nothing.
            row[at..at + words].fill(0);
            row[0] |= 1 << column;
        }
        Ok(())
    }

    fn write_texts(&mut self, at: usize, texts: &StringViewArray) -> Result<()> {
        for (index, (row, &view)) in self.rows.iter_mut().zip(texts.views().iter()).enumerate() {
            row[at] = view as u64;
            row[at + 1] = (view >> 64) as u64;
            if view as u32 > INLINE_BYTES && texts.is_valid(index) {
                row[at + 1] = self.texts.place(texts.value(index).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Column `column` of all keys, which begins at word `at`; `blocks` have the long texts.
    fn column(&self, column: usize, at: usize, blocks: &[Buffer]) -> Result<ArrayRef> {
        let is_null = |key: &[u64; W]| key[0] & (1 << column) != 0;
        let nulls = self.keys.iter().any(is_null);
        let nulls = nulls.then(|| self.keys.iter().map(|key| !is_null(key)).collect::<NullBuffer>());
        let (data_type, values) = match &self.columns[column] {
            Column::Text => {
                let view = |key: &[u64; W]| u128::from(key[at]) | u128::from(key[at + 1]) << 64;
                let views: Vec<u128> = self.keys.iter().map(view).collect();
                return Ok(Arc::new(StringViewArray::try_new(views.into(), blocks.to_vec(), nulls)?));
            }
            Column::Long(data_type) => (data_type, self.keys.iter().map(|key| key[at]).collect::<Vec<_>>().into()),
            Column::Short(data_type) => {
                // It was 32 bits.
                let values: Vec<u32> = self.keys.iter().map(|key| key[at] as u32).collect();
                (data_type, values.into())
            }
        };
        let data = ArrayData::builder(data_type.clone()).len(self.keys.len()).add_buffer(values).nulls(nulls);
        Ok(make_array(data.build()?))
    }

    /// Where each column begins.
    fn places(&self) -> Vec<usize> {
        let mut next = 1;
        let place = |column: &Column| {
            let place = next;
            next += column.words();
            place
        };
        self.columns.iter().map(place).collect()
    }
}

impl<const W: usize> WordKeys for Words<W> {
    fn intern(&mut self, columns: &[ArrayRef], numbers: &mut Vec<usize>) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len());
        self.rows.clear();
        self.rows.resize(rows, [0; W]);
        for (column, (at, array)) in self.places().into_iter().zip(columns).enumerate() {
            self.write(column, at, array)?;
        }
        numbers.clear();
        numbers.reserve(rows);
        let mut hashes = [0; BLOCK_ROWS];
        for rows in self.rows.chunks(BLOCK_ROWS) {
            hashes.iter_mut().zip(rows).for_each(|(of_row, row)| *of_row = hash(row));
            if self.keys.len() > CACHED_KEYS {
                look_ahead(&self.numbers, &self.keys, &hashes[..rows.len()]);
            }
            for (row, &hash) in rows.iter().zip(&hashes) {
                let (number, new) = self.numbers.find_or_add(hash, |number| equal(&self.keys[number], row))?;
                if new {
                    self.keys.push(*row);
                }
                numbers.push(number);
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>> {
        let blocks = self.texts.take();
        let columns = self.places().into_iter().enumerate().map(|(column, at)| self.column(column, at, &blocks));
        let columns = columns.collect::<Result<_>>()?;
        self.keys.clear();
        self.numbers.clear();
        Ok(columns)
    }
}

/// Reads what finding keys with these hashes will read first: without a branch between them the reads of many rows are under
/// way at once, where those of one row would be waited for before the next.
fn look_ahead<const W: usize>(numbers: &Numbers, keys: &[[u64; W]], hashes: &[u32]) {
    let word = |&hash: &u32| numbers.candidate(hash).and_then(|number| keys.get(number)).map_or(0, |key| key[W - 1]);
    black_box(hashes.iter().map(word).fold(0, |all, word| all ^ word));
}

/// All words are compared, without a branch a word.
fn equal<const W: usize>(a: &[u64; W], b: &[u64; W]) -> bool {
    a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// A product of 128 bits a word, folded: every bit of a key moves all bits of its hash.
fn hash<const W: usize>(key: &[u64; W]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let folded = key.iter().fold(ODD, |hash, word| {
        let product = u128::from(hash ^ word) * u128::from(ODD ^ 0x2545_f491_4f6c_dd1d);
        product as u64 ^ (product >> 64) as u64
    });
    (folded >> 32) as u32
}
