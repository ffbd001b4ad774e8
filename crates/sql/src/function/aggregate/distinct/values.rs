//! The distinct values of all groups, each kept once and known by its number.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use arrow::{
    array::{Array, ArrayRef, AsArray, UInt64Array, new_empty_array},
    compute::take,
    datatypes::{DataType, Field, Float32Type, Float64Type, Schema, SchemaRef},
};
use datafusion::{
    common::{Result, internal_err},
    logical_expr::EmitTo,
    physical_plan::aggregates::{
        group_values::{GroupValues, new_group_values},
        order::GroupOrdering,
    },
};

/// Values 0, 1, 2, ... in the order of their first sight.
pub(super) struct Values {
    schema: SchemaRef,
    kept: Kept,
}

/// DataFusion's table can only be read by draining it: read values stay beside it until others come.
enum Kept {
    /// A `Mutex` because the table may be sent, but not shared between threads; nobody ever waits for it.
    Interned(Mutex<Box<dyn GroupValues>>),
    Read(Vec<ArrayRef>),
}

impl Values {
    /// No values yet, of a column of each type.
    pub(super) fn new(types: impl IntoIterator<Item = DataType>) -> Self {
        let field = |(i, data_type): (usize, DataType)| Field::new(format!("value{i}"), data_type, true);
        Self::none(Arc::new(Schema::new(types.into_iter().enumerate().map(field).collect::<Vec<_>>())))
    }

    fn none(schema: SchemaRef) -> Self {
        let empty = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
        Self { schema, kept: Kept::Read(empty) }
    }

    /// The same columns without values.
    pub(super) fn fresh(&self) -> Self {
        Self::none(Arc::clone(&self.schema))
    }

    /// The columns' types.
    pub(super) fn types(&self) -> impl Iterator<Item = &DataType> {
        self.schema.fields().iter().map(|field| field.data_type())
    }

    /// The number of the value in each row; what is new gets the next. No row may be NULL, and floats come
    /// [`unambiguous`].
    pub(super) fn intern(&mut self, columns: &[ArrayRef], numbers: &mut Vec<usize>) -> Result<()> {
        self.table()?.intern(columns, numbers)
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        match &self.kept {
            Kept::Interned(table) => table.lock().unwrap_or_else(PoisonError::into_inner).len(),
            Kept::Read(columns) => columns.first().map_or(0, |column| column.len()),
        }
    }

    /// All values by their numbers.
    pub(super) fn read(&mut self) -> Result<&[ArrayRef]> {
        if let Kept::Interned(table) = &mut self.kept {
            let table = table.get_mut().unwrap_or_else(PoisonError::into_inner);
            self.kept = Kept::Read(table.emit(EmitTo::All)?);
        }
        match &self.kept {
            Kept::Read(columns) => Ok(columns),
            Kept::Interned(_) => internal_err!("values that were read are interned"),
        }
    }

    /// Keeps the values of these numbers alone, and numbers them anew in this order.
    pub(super) fn retain(&mut self, numbers: Vec<u64>) -> Result<()> {
        let numbers = UInt64Array::from(numbers);
        let columns = self.read()?.iter().map(|column| take(column, &numbers, None)).collect::<Result<_, _>>()?;
        self.kept = Kept::Read(columns);
        Ok(())
    }

    fn table(&mut self) -> Result<&mut dyn GroupValues> {
        if let Kept::Read(columns) = &mut self.kept {
            let columns = mem::take(columns);
            let mut table = new_group_values(Arc::clone(&self.schema), &GroupOrdering::None)?;
            table.intern(&columns, &mut Vec::new())?;
            self.kept = Kept::Interned(Mutex::new(table));
        }
        match &mut self.kept {
            Kept::Interned(table) => Ok(table.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()),
            Kept::Read(_) => internal_err!("interned values are not in their table"),
        }
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        match &self.kept {
            Kept::Interned(table) => table.lock().unwrap_or_else(PoisonError::into_inner).size(),
            Kept::Read(columns) => columns.iter().map(|column| column.get_array_memory_size()).sum(),
        }
    }
}

/// Whether values of this type can be told apart.
pub(super) fn comparable(data_type: &DataType) -> bool {
    data_type.is_integer()
        || data_type.is_decimal()
        || data_type.is_temporal()
        || data_type.is_string()
        || data_type.is_binary()
        || matches!(data_type, DataType::Boolean | DataType::Float32 | DataType::Float64 | DataType::Null)
}

/// Floats with one zero and one NaN; other columns as they are.
pub(crate) fn unambiguous(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let one = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(one)) as ArrayRef
        }
        DataType::Float64 => {
            let one = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(one)) as ArrayRef
        }
        _ => Arc::clone(column),
    }
}
