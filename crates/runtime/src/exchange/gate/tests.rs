//! Alignment and minimum, message by message.

use super::*;
use crate::exchange::channel;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use std::sync::Arc;

fn batch() -> Message {
    Message::Data(EventBatch::append(RecordBatch::new_empty(Arc::new(Schema::empty()))))
}

#[tokio::test]
async fn a_barrier_waits_for_every_channel_and_holds_back_what_follows_it() {
    let (a, inbox_a) = channel();
    let (b, inbox_b) = channel();
    let mut gate = Gate::new(vec![vec![inbox_a, inbox_b]]);
    a.send(Message::Barrier(Epoch(1))).await.unwrap();
    a.send(batch()).await.unwrap();
    b.send(Message::Watermark(Watermark(5))).await.unwrap();
    b.send(batch()).await.unwrap();
    b.send(Message::Barrier(Epoch(1))).await.unwrap();
    // Only b is read until its barrier comes; a's watermark holds the minimum at -∞.
    assert!(matches!(gate.receive().await.unwrap(), Received::Data { slot: 0, .. }));
    assert!(matches!(gate.receive().await.unwrap(), Received::Barrier(Epoch(1))));
    assert!(matches!(gate.receive().await.unwrap(), Received::Data { slot: 0, .. }));
    a.send(Message::Watermark(Watermark(3))).await.unwrap();
    let Received::Watermark { watermark, .. } = gate.receive().await.unwrap() else { panic!() };
    assert_eq!(watermark, Watermark(3));
}

#[tokio::test]
async fn a_channel_that_ended_aligns_and_keeps_its_watermark() {
    let (a, inbox_a) = channel();
    let (b, inbox_b) = channel();
    let mut gate = Gate::new(vec![vec![inbox_a, inbox_b]]);
    a.send(Message::Watermark(Watermark(1))).await.unwrap();
    a.send(Message::End).await.unwrap();
    b.send(Message::Watermark(Watermark(9))).await.unwrap();
    b.send(Message::Barrier(Epoch(1))).await.unwrap();
    b.send(Message::End).await.unwrap();
    let Received::Watermark { watermark, .. } = gate.receive().await.unwrap() else { panic!() };
    assert_eq!(watermark, Watermark(1));
    assert!(matches!(gate.receive().await.unwrap(), Received::Barrier(Epoch(1))));
    assert!(matches!(gate.receive().await.unwrap(), Received::End));
}

#[tokio::test]
async fn a_sender_that_vanishes_is_an_error() {
    let (a, inbox_a) = channel();
    let mut gate = Gate::new(vec![vec![inbox_a]]);
    drop(a);
    assert_eq!(gate.receive().await.unwrap_err().kind(), tidemill_core::ErrorKind::Closed);
}
