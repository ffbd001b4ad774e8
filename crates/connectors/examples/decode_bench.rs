//! How fast JSON lines and CSV become Arrow on one core: generated events of 200 bytes in JSON, five columns asked for,
//! one of them nested; the same five columns in CSV. Run it with `cargo run --release -p tidemill-connectors --example decode_bench`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tidemill_connectors::format::csv::{CsvCutter, CsvDecoder, CsvEncoder, CsvOptions};
use tidemill_connectors::format::json::{JsonDecoder, JsonEncoder, JsonOptions};
use tidemill_connectors::format::records::Cutter;
use tidemill_connectors::format::{RecordDecoder, RowEncoder};
use tidemill_core::{Error, Result};

const TOTAL_BYTES: usize = 200_000_000;
const CHUNK_BYTES: usize = 1 << 20;
const ROUNDS: usize = 5;

fn schema() -> SchemaRef {
    let user = vec![Field::new("id", DataType::Int64, true), Field::new("country", DataType::Utf8View, true)];
    Arc::new(Schema::new(vec![
        Field::new("event_id", DataType::Int64, true),
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        Field::new("user", DataType::Struct(user.into()), true),
        Field::new("page", DataType::Utf8View, true),
        Field::new("amount", DataType::Decimal128(10, 2), true),
    ]))
}

/// Chunks of whole lines, and how many lines there are.
fn generate() -> (Vec<Buffer>, u64) {
    let (mut chunks, mut lines, mut total) = (Vec::new(), 0u64, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    while total < TOTAL_BYTES {
        let mut text = String::with_capacity(CHUNK_BYTES + 300);
        while text.len() < CHUNK_BYTES {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let r = random >> 33;
            let (second, milli) = (lines / 1_000, lines % 1_000);
            let (hour, minute) = (second / 3_600 % 24, second / 60 % 60);
            writeln!(
                text,
                "{{\"event_id\":{lines},\"ts\":\"2026-11-29 {hour:02}:{minute:02}:{:02}.{milli:03}\",\
                 \"user\":{{\"id\":{},\"country\":\"{}\",\"plan\":\"free\"}},\"page\":\"/products/{}/details\",\
                 \"session\":\"{:016x}\",\"amount\":{}.{:02},\"referrer\":\"https://example.com/\",\"mobile\":{}}}",
                second % 60,
                r % 100_000,
                ["DE", "FR", "US", "JP"][(r % 4) as usize],
                r % 5_000,
                random,
                r % 1_000,
                r % 100,
                r.is_multiple_of(2),
            )
            .expect("writing to memory does not fail");
            lines += 1;
        }
        total += text.len();
        chunks.push(Buffer::from_vec(text.into_bytes()));
    }
    (chunks, lines)
}

fn main() -> Result<()> {
    let (chunks, lines) = generate();
    let json = |columns| JsonDecoder::new(columns, JsonOptions::default());
    measure("json, 5 columns", &chunks, lines, &json(schema())?)?;
    measure("json, none", &chunks, lines, &json(Arc::new(Schema::empty()))?)?;
    encoded("json", &chunks, &json(schema())?, &JsonEncoder::new(schema(), JsonOptions::default())?)?;

    let chunks = encoded("csv", &chunks, &json(schema())?, &CsvEncoder::new(schema(), CsvOptions::default())?)?;
    let csv = |columns| CsvDecoder::new(columns, &schema(), CsvOptions::default());
    measure("csv, 5 columns", &chunks, lines, &csv(schema())?)?;
    measure("csv, none", &chunks, lines, &csv(Arc::new(Schema::empty()))?)?;
    cut(&chunks);
    Ok(())
}

/// Prints how fast the rows of `chunks` are encoded; gives what was written.
fn encoded(
    name: &str,
    chunks: &[Buffer],
    decoder: &dyn RecordDecoder,
    encoder: &dyn RowEncoder,
) -> Result<Vec<Buffer>> {
    let batches = chunks.iter().map(|chunk| decoder.decode(chunk, false).map_err(|e| e.error));
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let (start, mut written, mut rows) = (Instant::now(), Vec::with_capacity(batches.len()), 0);
    for batch in &batches {
        let mut out = Vec::with_capacity(CHUNK_BYTES);
        encoder.encode(&batch.rows, None, &mut out)?;
        written.push(Buffer::from_vec(out));
        rows += batch.rows.num_rows();
    }
    println!("{name}, encode: {:.2} M events/s", rows as f64 / start.elapsed().as_secs_f64() / 1e6);
    Ok(written)
}

/// Prints how fast the ends of records are found, which is serial: without quotes, and with one that is in the way.
fn cut(chunks: &[Buffer]) {
    for (name, quote) in [("without quotes", &b""[..]), ("with quotes", b"\"\"\n")] {
        let blocks: Vec<_> = chunks.iter().map(|chunk| [quote, chunk.as_slice()].concat()).collect();
        let bytes: usize = blocks.iter().map(Vec::len).sum();
        let (start, mut cutter) = (Instant::now(), CsvCutter::new(&CsvOptions::default()));
        let ends = blocks.iter().filter_map(|block| cutter.last_end(block, 0)).count();
        let seconds = start.elapsed().as_secs_f64();
        println!("csv, cut {ends} blocks {name}: {:.2} GB/s", bytes as f64 / seconds / 1e9);
    }
}

/// Prints the best of some rounds.
fn measure(name: &str, chunks: &[Buffer], lines: u64, decoder: &dyn RecordDecoder) -> Result<()> {
    let bytes: usize = chunks.iter().map(Buffer::len).sum();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (start, mut rows) = (Instant::now(), 0);
        for chunk in chunks {
            rows += decoder.decode(chunk, false).map_err(|e| e.error)?.rows.num_rows() as u64;
        }
        if rows != lines {
            return Err(Error::internal(format!("{rows} rows were decoded of {lines}")));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (rate, speed) = (lines as f64 / best / 1e6, bytes as f64 / best / 1e9);
    println!("{name}: {rate:.2} M events/s of {} bytes, {speed:.2} GB/s", bytes as u64 / lines);
    Ok(())
}
