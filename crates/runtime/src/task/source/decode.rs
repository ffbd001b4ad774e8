//! From a chunk to a batch: decodes it, and stitches it to the chunk before.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, RecordBatchOptions};
use tidemill_core::{Error, ErrorKind, EventBatch, Lineage, Result, SourceRows, Watermark};

use super::event_time::Times;
use super::plan::{Carry, ChunkPlace, SourcePlan, Work};
use super::rejected::rejected_rows;
use crate::clock::{Clock, at};
use crate::connector::{Chunk, DecodeError, Decoded};
use crate::graph::{SourceElements, SourceProgram, SourceSpec};
use crate::metrics::{SourceMetrics, add};
use crate::operator::evaluate;

/// What a chunk holds.
pub(crate) struct DecodedChunk {
    pub(crate) rows: EventBatch,
    /// What could not be decoded, where it is kept.
    pub(crate) rejected: Option<EventBatch>,
    /// The present moment of its rows, in milliseconds since 1970.
    pub(crate) moment_ms: i64,
}

/// Decodes a chunk, waits for what is known of the rows before it, and tells the next one.
pub(crate) async fn decode(
    work: Work,
    spec: &SourceSpec,
    plan: &SourcePlan,
    metrics: &SourceMetrics,
    clock: &dyn Clock,
) -> Result<DecodedChunk> {
    let Work { partition, partition_name, chunk, carry_in, carry_out, epoch, position, floor } = work;
    let unit = chunk.unit();
    let moment_ms = clock.now_ms();
    let Made { decoded, elements: made, times } = make(chunk, spec, moment_ms)?;
    let before = carry_in.await.map_err(|_| Error::closed("the chunk before this one has failed"))?;
    let before = Carry { watermark: before.watermark.max(floor), ..before };
    let decoded = decoded.map_err(|e| locate(e, &spec.table, &partition_name, unit, before.offset))?;
    let claimed = times.as_ref().map_or(Watermark::MIN, Times::claimed);
    let after = Carry { offset: before.offset + decoded.offset_count, watermark: before.watermark.max(claimed) };
    // The next chunk may belong to a subtask that has just failed.
    let _ = carry_out.send(after);
    plan.decoded(ChunkPlace { partition, epoch, position }, after);
    add(&metrics.rows, decoded.rows.num_rows());
    add(&metrics.rejected, decoded.rejected.len());
    let rejected = (!decoded.rejected.is_empty())
        .then(|| rejected_rows(&decoded.rejected, &partition_name, before.offset))
        .transpose()?;

    let watermarks = times.and_then(|times| times.row_watermarks(before.watermark, spec.row_watermarks));
    let lineage = spec.lineage.then(|| Lineage {
        source: Arc::new(SourceRows {
            offsets: offsets(&decoded, before.offset),
            rows: decoded.rows.clone(),
            partition: partition_name,
        }),
        indices: None,
    });
    let rows = EventBatch { watermarks, lineage, ..made.unwrap_or_else(|| EventBatch::append(decoded.rows)) };
    Ok(DecodedChunk { rows, rejected, moment_ms })
}

/// What a chunk holds, apart from what came before it.
pub(crate) struct Made {
    pub(crate) decoded: Result<Decoded, DecodeError>,
    /// What a program has made of the rows.
    pub(crate) elements: Option<EventBatch>,
    times: Option<Times>,
}

/// Decodes a chunk at a present moment (milliseconds since 1970).
pub(crate) fn make(chunk: Box<dyn Chunk>, spec: &SourceSpec, moment_ms: i64) -> Result<Made> {
    let decoded = at(moment_ms, || chunk.decode().map(|decoded| with_computed(decoded, spec)));
    // An expression that fails has no row to name: the table is where to look.
    let mut decoded = match decoded {
        Ok(Err(error)) => return Err(error.context(format!("a computed column of {}", spec.table))),
        Ok(Ok(decoded)) => Ok(decoded),
        Err(error) => Err(error),
    };
    let mut made = None;
    let times = match (&mut decoded, &spec.program, &spec.event_time) {
        (Ok(decoded), Some(program), _) => {
            let elements = at(moment_ms, || elements(program.as_ref(), decoded));
            let SourceElements { elements, times } = elements.map_err(|e| e.context(format!("{}", spec.table)))?;
            made = Some(EventBatch::of_elements(elements));
            times.map(Times::of_elements)
        }
        (Ok(decoded), None, Some(event_time)) => Some(Times::of(event_time, &decoded.rows)?),
        _ => None,
    };
    Ok(Made { decoded, elements: made, times })
}

/// What a program makes of a chunk, of which only what is counted is left.
fn elements(program: &dyn SourceProgram, decoded: &mut Decoded) -> Result<SourceElements> {
    let rest = Decoded {
        rows: decoded.rows.clone(),
        offsets: decoded.offsets.clone(),
        offset_count: decoded.offset_count,
        rejected: vec![],
        elements: decoded.elements.take(),
    };
    program.elements(rest)
}

/// The columns of the table, made of those that are stored.
fn with_computed(decoded: Decoded, spec: &SourceSpec) -> Result<Decoded> {
    let Some(computed) = &spec.computed else { return Ok(decoded) };
    let columns = computed.iter().map(|expr| evaluate(expr, &decoded.rows)).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(decoded.rows.num_rows()));
    let rows = RecordBatch::try_new_with_options(Arc::clone(&spec.columns), columns, &options)?;
    Ok(Decoded { rows, ..decoded })
}

/// Says where a row stands that can't be decoded, and what to do if nothing better is known.
pub(crate) fn locate(e: DecodeError, table: &str, partition: &str, unit: &str, first_offset: u64) -> Error {
    let DecodeError { offset, error } = e;
    let error = error.context(format!("{partition}, {unit} {}", first_offset + offset + 1));
    if error.hint_text().is_some() || error.kind() != ErrorKind::Data {
        return error;
    }
    error.hint(format!(
        "fix the row, or SET 'tidemill.dead-letter.{table}' = '<another table>', which takes the rows that can't be read"
    ))
}

/// The offsets of rows behind `first`.
pub(crate) fn offsets(decoded: &Decoded, first: u64) -> Int64Array {
    let first = first.cast_signed();
    let rows: &RecordBatch = &decoded.rows;
    match &decoded.offsets {
        Some(offsets) => offsets.iter().map(|&o| first + i64::from(o)).collect(),
        None => (first..).take(rows.num_rows()).collect(),
    }
}
