//! How fast JSON lines become Arrow on one core: generated events of 200 bytes, five columns asked for, one of them
//! nested. Run it with `cargo run --release -p tidemill-connectors --example decode_bench`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tidemill_connectors::format::json::{JsonDecoder, JsonEncoder, JsonOptions};
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
    let bytes: usize = chunks.iter().map(Buffer::len).sum();
    println!("{lines} events, {} bytes each", bytes as u64 / lines);
    measure("decode, 5 columns", &chunks, lines, schema())?;
    measure("decode, none", &chunks, lines, Arc::new(Schema::empty()))?;

    let decoder = JsonDecoder::new(schema(), JsonOptions::default())?;
    let encoder = JsonEncoder::new(schema(), JsonOptions::default())?;
    let batches: Vec<_> =
        chunks.iter().map(|chunk| decoder.decode(chunk, false).map_err(|e| e.error)).collect::<Result<_>>()?;
    let (start, mut out) = (Instant::now(), Vec::new());
    for batch in &batches {
        out.clear();
        encoder.encode(&batch.rows, None, &mut out)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("encode, 5 columns: {:.2} M events/s", lines as f64 / seconds / 1e6);
    Ok(())
}

/// Prints the best of some rounds.
fn measure(name: &str, chunks: &[Buffer], lines: u64, schema: SchemaRef) -> Result<()> {
    let decoder = JsonDecoder::new(schema, JsonOptions::default())?;
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
    println!("{name}: {:.2} M events/s, {:.2} GB/s", lines as f64 / best / 1e6, bytes as f64 / best / 1e9);
    Ok(())
}
