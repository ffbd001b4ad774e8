//! The columns that hold several values a row: `ROW`, `ARRAY` and `MAP`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, MapArray, NullBufferBuilder, StructArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, FieldRef, Fields};
use tidemill_core::Result as CoreResult;

use super::NAME;
use super::column::Column;
use super::fault::Fault;
use super::object::{Object, Slot};
use super::options::JsonOptions;
use super::scan::Cursor;
use super::string::Text;
use super::text::StringColumn;
use crate::format::text::ends::Ends;
use crate::format::text::unsupported;

/// `ROW`.
pub(super) struct RowColumn {
    fields: Fields,
    object: Object,
    len: usize,
    nulls: NullBufferBuilder,
}

impl RowColumn {
    pub(super) fn new(fields: Fields, options: &JsonOptions, rows: usize) -> CoreResult<Self> {
        let object = Object::new(&fields, options, rows)?;
        Ok(Self { fields, object, len: 0, nulls: NullBufferBuilder::new(rows) })
    }
}

impl Column for RowColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != b'{' {
            return Err(Fault::value("is not an object"));
        }
        self.object.append(cursor, self.len)?;
        self.len += 1;
        self.nulls.append_non_null();
        Ok(())
    }

    fn append_null(&mut self) {
        self.object.append_null();
        self.len += 1;
        self.nulls.append_null();
    }

    fn truncate(&mut self, len: usize) {
        self.object.truncate(len);
        self.len = self.len.min(len);
        self.nulls.truncate(len);
    }

    fn finish(mut self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        let columns = self.object.finish(chunk)?;
        let array = StructArray::try_new_with_length(self.fields, columns, self.nulls.finish(), self.len)?;
        Ok(Arc::new(array))
    }
}

/// `ARRAY`.
pub(super) struct ListColumn {
    ends: Ends,
    element: Slot,
}

impl ListColumn {
    pub(super) fn new(element: &FieldRef, options: &JsonOptions, rows: usize) -> CoreResult<Self> {
        Ok(Self { ends: Ends::new(rows), element: Slot::new(element, options, rows)? })
    }
}

impl Column for ListColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != b'[' {
            return Err(Fault::value("is not an array"));
        }
        cursor.open()?;
        if !cursor.close_empty(b']') {
            loop {
                let (at, next) = (cursor.pos(), self.element.len);
                self.element.read(cursor, next)?;
                if self.element.len == next {
                    return Err(Fault::absent(at, self.element.field.name(), "is NOT NULL, but is null in the line"));
                }
                if !cursor.another(b']')? {
                    break;
                }
            }
        }
        self.ends.close(self.element.len);
        Ok(())
    }

    fn append_null(&mut self) {
        self.ends.append_null();
    }

    fn truncate(&mut self, len: usize) {
        let elements = self.ends.truncate(len);
        self.element.truncate(elements);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        let Self { ends, element } = *self;
        let (offsets, nulls) = ends.finish();
        let array = ListArray::try_new(element.field, offsets, element.column.finish(chunk)?, nulls)?;
        Ok(Arc::new(array))
    }
}

/// An entry of a map: its key, and the place of its value.
type Entry<'a> = (Cow<'a, [u8]>, Range<usize>);

/// `MAP` with keys that are strings. A key that comes twice keeps its last value.
pub(super) struct MapColumn {
    entries: FieldRef,
    fields: Fields,
    ends: Ends,
    keys: Box<StringColumn>,
    value: Slot,
}

impl MapColumn {
    pub(super) fn new(name: &str, entries: &FieldRef, options: &JsonOptions, rows: usize) -> CoreResult<Self> {
        let DataType::Struct(fields) = entries.data_type() else {
            return Err(unsupported(NAME, name, entries.data_type()));
        };
        let [key, value] = &fields[..] else { return Err(unsupported(NAME, name, entries.data_type())) };
        if key.data_type() != &DataType::Utf8View {
            return Err(unsupported(NAME, name, key.data_type()).hint("the keys of a MAP in JSON are STRING"));
        }
        Ok(Self {
            entries: entries.clone(),
            fields: fields.clone(),
            ends: Ends::new(rows),
            keys: Box::new(StringColumn::new(rows)),
            value: Slot::new(value, options, rows)?,
        })
    }

    /// Steps over the object at the cursor, and tells its keys and the places of their values.
    fn entries<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Entry<'a>>, Fault> {
        let mut entries = Vec::new();
        cursor.open()?;
        if cursor.close_empty(b'}') {
            return Ok(entries);
        }
        loop {
            let key: Text<'a> = cursor.string()?;
            cursor.colon()?;
            let start = cursor.pos();
            cursor.skip_value()?;
            entries.push((key.unescaped(), start..cursor.pos()));
            if !cursor.another(b'}')? {
                return Ok(entries);
            }
        }
    }
}

impl Column for MapColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != b'{' {
            return Err(Fault::value("is not an object"));
        }
        let depth = cursor.depth();
        let mut entries = Self::entries(cursor)?;
        let end = cursor.pos();
        entries.sort_unstable_by(|(a, place_a), (b, place_b)| a.cmp(b).then(place_b.start.cmp(&place_a.start)));
        entries.dedup_by(|(later, _), (kept, _)| later == kept);
        entries.sort_unstable_by_key(|(_, place)| place.start);
        // The values are one level within the map.
        cursor.set_depth(depth + 1);
        for (key, place) in entries {
            self.keys.push(&key);
            cursor.seek(place.start);
            let next = self.value.len;
            self.value.read(cursor, next)?;
            if self.value.len == next {
                return Err(Fault::absent(
                    place.start,
                    self.value.field.name(),
                    "is NOT NULL, but is null in the line",
                ));
            }
        }
        cursor.set_depth(depth);
        cursor.seek(end);
        self.ends.close(self.value.len);
        Ok(())
    }

    fn append_null(&mut self) {
        self.ends.append_null();
    }

    fn truncate(&mut self, len: usize) {
        let elements = self.ends.truncate(len);
        self.keys.truncate(elements);
        self.value.truncate(elements);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        let Self { entries, fields, ends, keys, value } = *self;
        let (offsets, nulls) = ends.finish();
        let columns = vec![keys.finish(chunk)?, value.column.finish(chunk)?];
        let pairs = StructArray::try_new(fields, columns, None)?;
        Ok(Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, false)?))
    }
}
