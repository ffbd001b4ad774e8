//! What is kept of a row, in bytes that sort as the row does.

use arrow::{
    array::ArrayRef,
    datatypes::DataType,
    row::{RowConverter, Rows, SortField},
};
use datafusion::common::Result;

/// A row's place and its value. Entries sort by the place, then by the value; NULL comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub key: Box<[u8]>,
    pub value: Box<[u8]>,
}

impl Entry {
    /// The memory outside the entry itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.key.len() + self.value.len()
    }
}

/// Between columns and entries.
pub(super) struct Encoder {
    /// `None` where there is no key.
    keys: Option<RowConverter>,
    value: RowConverter,
    pub key_count: usize,
    pub types: Vec<DataType>,
}

impl Encoder {
    pub(super) fn new(keys: &[DataType], value: &DataType) -> Result<Self> {
        let field = |data_type: &DataType| SortField::new(data_type.clone());
        let key_fields: Vec<SortField> = keys.iter().map(field).collect();
        Ok(Self {
            keys: (!keys.is_empty()).then(|| RowConverter::new(key_fields)).transpose()?,
            value: RowConverter::new(vec![field(value)])?,
            key_count: keys.len(),
            types: keys.iter().chain([value]).cloned().collect(),
        })
    }

    /// Whether values of this type have such bytes.
    pub(super) fn supports(data_type: &DataType) -> bool {
        RowConverter::supports_fields(&[SortField::new(data_type.clone())])
    }

    /// The type of the value.
    pub(super) fn value_type(&self) -> &DataType {
        &self.types[self.key_count]
    }

    /// The bytes of rows whose columns are the keys, then the value.
    pub(super) fn encode(&self, columns: &[ArrayRef]) -> Result<Encoded> {
        let (keys, value) = columns.split_at(self.key_count);
        let keys = self.keys.as_ref().map(|converter| converter.convert_columns(keys)).transpose()?;
        Ok(Encoded { keys, values: self.value.convert_columns(value)? })
    }

    /// The columns of entries: the keys, then the value.
    pub(super) fn columns(&self, entries: &[&Entry]) -> Result<Vec<ArrayRef>> {
        let mut columns = match &self.keys {
            Some(converter) => {
                let parser = converter.parser();
                converter.convert_rows(entries.iter().map(|entry| parser.parse(&entry.key)))?
            }
            None => vec![],
        };
        columns.push(self.values(entries.iter().map(|entry| &*entry.value))?);
        Ok(columns)
    }

    /// A column of values.
    pub(super) fn values<'a>(&self, values: impl IntoIterator<Item = &'a [u8]>) -> Result<ArrayRef> {
        let parser = self.value.parser();
        let bytes: Vec<&[u8]> = values.into_iter().collect();
        let mut columns = self.value.convert_rows(bytes.iter().map(|bytes| parser.parse(bytes)))?;
        Ok(columns.swap_remove(0))
    }
}

/// Rows as bytes.
pub(super) struct Encoded {
    keys: Option<Rows>,
    values: Rows,
}

impl Encoded {
    pub(super) fn key(&self, row: usize) -> &[u8] {
        self.keys.as_ref().map_or(&[], |keys| keys.row(row).data())
    }

    pub(super) fn value(&self, row: usize) -> &[u8] {
        self.values.row(row).data()
    }

    pub(super) fn entry(&self, row: usize) -> Entry {
        Entry { key: self.key(row).into(), value: self.value(row).into() }
    }
}
