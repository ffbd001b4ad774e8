//! Objects with known fields: a line, or a `ROW` within one. Here keys are matched with columns.

use arrow::array::ArrayRef;
use arrow::buffer::Buffer;
use arrow::datatypes::{FieldRef, Fields};
use tidemill_core::Result as CoreResult;

use super::column::{Column, column};
use super::fault::Fault;
use super::options::JsonOptions;
use super::scan::Cursor;

/// How many keys of an object are remembered.
const MAX_REMEMBERED: usize = 256;

/// A column with its name, and how many elements it has.
pub(super) struct Slot {
    pub(super) field: FieldRef,
    pub(super) column: Box<dyn Column>,
    pub(super) len: usize,
}

impl Slot {
    /// An empty column with room for `rows`.
    pub(super) fn new(field: &FieldRef, options: &JsonOptions, rows: usize) -> CoreResult<Self> {
        Ok(Self { field: field.clone(), column: column(field, options, rows)?, len: 0 })
    }

    /// Reads the value at the cursor as element `row`, instead of an earlier one from the same line. A NULL that may
    /// not be is left out: whoever closes the row sees that the column has nothing.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, row: usize) -> Result<(), Fault> {
        if self.len > row {
            self.truncate(row);
        }
        if cursor.peek() == b'n' {
            cursor.word("null")?;
            self.append_null_if_allowed();
            return Ok(());
        }
        let (start, depth) = (cursor.pos(), cursor.depth());
        match self.column.append(cursor) {
            Ok(()) => {
                self.len = row + 1;
                Ok(())
            }
            Err(fault) if fault.spoils_only_the_value() => {
                self.column.truncate(row);
                cursor.seek(start);
                cursor.set_depth(depth);
                // A fault of the line weighs more, and would keep the line from being read on.
                cursor.skip_value()?;
                if !cursor.ignore_value_faults() {
                    return Err(self.named(fault, start));
                }
                self.append_null_if_allowed();
                Ok(())
            }
            Err(fault) => Err(self.named(fault, start)),
        }
    }

    #[cold]
    fn named(&self, fault: Fault, start: usize) -> Fault {
        fault.within(self.field.name(), self.field.data_type(), start)
    }

    fn append_null_if_allowed(&mut self) {
        if self.field.is_nullable() {
            self.append_null();
        }
    }

    fn append_null(&mut self) {
        self.column.append_null();
        self.len += 1;
    }

    /// Keeps the first `len` elements.
    pub(super) fn truncate(&mut self, len: usize) {
        self.column.truncate(len);
        self.len = self.len.min(len);
    }
}

/// A key that stood in the line before: where, and the slot that it belongs to.
#[derive(Clone, Copy)]
struct Remembered {
    start: usize,
    len: usize,
    slot: Option<usize>,
}

/// Objects with known fields: a line, or a `ROW` within one.
///
/// The keys of one object mostly come in the order of the object before. So the bytes at the cursor are first compared
/// with the key that stood at the same step last time (and, for a field left out, the one after); only where they
/// differ is a key scanned and looked up.
pub(super) struct Object {
    slots: Vec<Slot>,
    /// The slots by name.
    by_name: Vec<(Box<[u8]>, usize)>,
    remembered: Vec<Remembered>,
    fail_on_missing_field: bool,
}

impl Object {
    /// Empty columns with room for `rows`.
    pub(super) fn new(fields: &Fields, options: &JsonOptions, rows: usize) -> CoreResult<Self> {
        let slots = fields.iter().map(|field| Slot::new(field, options, rows)).collect::<CoreResult<Vec<_>>>()?;
        let mut by_name: Vec<(Box<[u8]>, usize)> =
            fields.iter().enumerate().map(|(slot, field)| (field.name().as_bytes().into(), slot)).collect();
        by_name.sort();
        Ok(Self { slots, by_name, remembered: Vec::new(), fail_on_missing_field: options.fail_on_missing_field })
    }

    /// Reads the object at the cursor as element `row` of every column.
    pub(super) fn append(&mut self, cursor: &mut Cursor<'_>, row: usize) -> Result<(), Fault> {
        let start = cursor.pos();
        cursor.open()?;
        if !cursor.close_empty(b'}') {
            let mut step = 0;
            loop {
                let slot = self.key(cursor, &mut step)?;
                cursor.colon()?;
                match slot {
                    Some(slot) => self.slots[slot].read(cursor, row)?,
                    None => cursor.skip_value()?,
                }
                if !cursor.another(b'}')? {
                    break;
                }
            }
        }
        self.fill(start, row)
    }

    /// Steps over a key, and tells its slot.
    #[inline]
    fn key(&mut self, cursor: &mut Cursor<'_>, step: &mut usize) -> Result<Option<usize>, Fault> {
        for guess in *step..*step + 2 {
            let Some(key) = self.remembered.get(guess) else { break };
            if cursor.accept_same(key.start, key.len) {
                *step = guess + 1;
                return Ok(key.slot);
            }
        }
        self.look_up(cursor, step)
    }

    #[inline(never)]
    fn look_up(&mut self, cursor: &mut Cursor<'_>, step: &mut usize) -> Result<Option<usize>, Fault> {
        let start = cursor.pos();
        let name = cursor.string()?.unescaped();
        let found = self.by_name.binary_search_by(|(known, _)| (**known).cmp(&name));
        let slot = found.ok().map(|place| self.by_name[place].1);
        let key = Remembered { start, len: cursor.pos() - start, slot };
        if *step < self.remembered.len() {
            self.remembered[*step] = key;
        } else if *step < MAX_REMEMBERED {
            self.remembered.push(key);
        }
        *step += 1;
        Ok(slot)
    }

    /// Gives the columns that the object at `start` had no value for their NULL.
    #[inline]
    fn fill(&mut self, start: usize, row: usize) -> Result<(), Fault> {
        for slot in &mut self.slots {
            if slot.len > row {
                continue;
            }
            if !slot.field.is_nullable() {
                return Err(Fault::absent(start, slot.field.name(), "is NOT NULL, but has no value in the line")
                    .hint("fix the line, or drop NOT NULL from the column's type"));
            }
            if self.fail_on_missing_field {
                return Err(Fault::absent(start, slot.field.name(), "has no field in the line")
                    .hint("fix the line, or set 'json.fail-on-missing-field' = 'false' to read NULL"));
            }
            slot.append_null();
        }
        Ok(())
    }

    /// Appends NULL to every column: the object itself is NULL.
    pub(super) fn append_null(&mut self) {
        self.slots.iter_mut().for_each(Slot::append_null);
    }

    /// Keeps the first `len` rows.
    pub(super) fn truncate(&mut self, len: usize) {
        self.slots.iter_mut().for_each(|slot| slot.truncate(len));
    }

    /// The columns.
    pub(super) fn finish(self, chunk: &Buffer) -> CoreResult<Vec<ArrayRef>> {
        self.slots.into_iter().map(|slot| slot.column.finish(chunk)).collect()
    }
}
