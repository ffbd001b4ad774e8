use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tidemill_core::Watermark;

use super::super::{Inbox, channel};
use super::*;

fn numbers(numbers: impl IntoIterator<Item = i64>) -> EventBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
    EventBatch::append(RecordBatch::try_from_iter([("number", column)]).unwrap())
}

async fn received(inbox: &mut Inbox) -> Vec<String> {
    let mut received = vec![];
    while let Some(message) = inbox.recv().await {
        received.push(match message {
            Message::Data(batch) => format!("{:?}", batch.rows.column(0)),
            other => format!("{other:?}"),
        });
    }
    received
}

#[tokio::test]
async fn what_is_broadcast_reaches_each_subtask_in_order() {
    let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..3).map(|_| channel()).unzip();
    let sender = EdgeSender::Subtasks(Partitioning::Broadcast, outboxes);
    for message in
        [Message::Data(numbers([1, 2])), Message::Watermark(Watermark(5)), Message::Data(numbers([3])), Message::End]
    {
        sender.send(message).await.unwrap();
    }
    drop(sender);
    let column = |batch: EventBatch| format!("{:?}", batch.rows.column(0));
    let expected = [
        column(numbers([1, 2])),
        format!("{:?}", Message::Watermark(Watermark(5))),
        column(numbers([3])),
        format!("{:?}", Message::End),
    ];
    for mut inbox in inboxes {
        assert_eq!(received(&mut inbox).await, expected);
    }
}
