//! Makes chunks of events: the columns that are wanted, and no other.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, RecordBatchOptions, StructArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Fields, SchemaRef};
use tidemill_core::{Error, Result};

use super::columns::{Column, column};
use super::events::{Event, Kind, events, of_kind};
use super::model::Model;
use super::record::{RecordField, Records};
use crate::synthetic::Recipe;

/// The events of a site.
pub(super) struct Nexmark {
    model: Model,
}

impl Nexmark {
    pub(super) fn new(model: Model) -> Self {
        Self { model }
    }

    fn column(&self, field: &Field, events: &[Event]) -> Result<ArrayRef> {
        Ok(match (column(field.name()), field.data_type()) {
            (Some(Column::EventType), _) => {
                Arc::new(events.iter().map(|event| event.kind as i32).collect::<Int32Array>())
            }
            (Some(Column::Time), _) => {
                let times = events.iter().map(|event| self.model.time(event.number));
                Arc::new(TimestampMillisecondArray::from_iter_values(times))
            }
            (Some(Column::Record(kind, known)), DataType::Struct(fields)) => {
                self.records(field.name(), kind, known, fields, events)?
            }
            _ => return Err(Error::internal(format!("the column '{}' was not checked", field.name()))),
        })
    }

    fn records(
        &self,
        name: &str,
        kind: Kind,
        known: &[RecordField],
        fields: &Fields,
        events: &[Event],
    ) -> Result<ArrayRef> {
        let nulls = of_kind(events, kind);
        let make = |field: &Arc<Field>| {
            let made = known.iter().find(|known| known.name == field.name());
            let made = made.ok_or_else(|| Error::internal(format!("the field '{}' was not checked", field.name())))?;
            let sequence = self.model.sequence(&format!("{name}.{}", made.name));
            Ok((made.make)(&Records { model: &self.model, events, kind, nulls: &nulls, sequence }))
        };
        let arrays = fields.iter().map(make).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, Some(nulls), events.len())?))
    }
}

impl Recipe for Nexmark {
    fn generate(&self, columns: &SchemaRef, rows: Range<u64>) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some((rows.end - rows.start) as usize));
        let events = if columns.fields().is_empty() { vec![] } else { events(&self.model, rows) };
        let arrays = columns.fields().iter().map(|field| self.column(field, &events)).collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(Arc::clone(columns), arrays, &options)?)
    }

    fn narrows_rows(&self) -> bool {
        true
    }

    /// The average over events of all kinds.
    fn row_bytes(&self, columns: &SchemaRef) -> usize {
        let bytes = |field: &Arc<Field>| match (column(field.name()), field.data_type()) {
            (Some(Column::Record(kind, known)), DataType::Struct(fields)) => {
                let fields = known.iter().filter(|known| fields.find(known.name).is_some());
                let record: usize = fields.map(|field| (field.bytes)(&self.model)).sum();
                record * self.in_group(kind) / self.model.group() as usize
            }
            _ => 8,
        };
        columns.fields().iter().map(bytes).sum()
    }
}

impl Nexmark {
    fn in_group(&self, kind: Kind) -> usize {
        (match kind {
            Kind::Person => self.model.people,
            Kind::Auction => self.model.auctions,
            Kind::Bid => self.model.bids,
        }) as usize
    }
}
