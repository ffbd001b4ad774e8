//! What a sink hears, and in which order.

use std::sync::{Arc, Mutex};

use arrow::array::{Int64Array, RecordBatch};
use async_trait::async_trait;
use tidemill_core::EventBatch;

use super::*;
use crate::exchange::{Message, channel};

/// Writes down what it is told.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: String) -> Result<()> {
        self.0.lock().unwrap().push(what);
        Ok(())
    }
}

#[async_trait]
impl Sink for Diary {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.note(format!("{} rows", batch.num_rows()))
    }

    async fn progress(&mut self, watermark: Watermark) -> Result<()> {
        self.note(format!("until {watermark}"))
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        self.note(format!("prepare {}", epoch.0))
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        self.note(format!("commit {}", epoch.0))
    }

    async fn abort(&mut self) -> Result<()> {
        self.note("abort".to_owned())
    }
}

fn rows(count: usize) -> Message {
    let column: arrow::array::ArrayRef = Arc::new(Int64Array::from(vec![1; count]));
    Message::Data(EventBatch::append(RecordBatch::try_from_iter([("n", column)]).unwrap()))
}

/// The diary of a sink with two edges: each message with the edge that it comes by.
async fn diary(messages: Vec<(usize, Message)>) -> Vec<String> {
    let ((a, inbox_a), (b, inbox_b)) = (channel(), channel());
    let (commands, inbox) = mpsc::unbounded_channel();
    let (line, mut progress) = mpsc::unbounded_channel();
    let diary = Diary::default();
    let gate = Gate::new(vec![vec![inbox_a], vec![inbox_b]]);
    let task = tokio::spawn(run(Box::new(diary.clone()), gate, inbox, Reporter { subtask: 0, line }, false));
    for (edge, message) in messages {
        [&a, &b][edge].send(message).await.unwrap();
        // The sink, on this thread too, takes it before the next: the order between two edges is the test's.
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }
    for edge in [&a, &b] {
        edge.send(Message::End).await.unwrap();
    }
    progress.recv().await.unwrap();
    for command in [Command::Prepare(Epoch(1)), Command::Commit(Epoch(1)), Command::Close] {
        commands.send(command).unwrap();
    }
    task.await.unwrap().unwrap();
    diary.0.lock().unwrap().clone()
}

#[tokio::test]
async fn progress_follows_the_rows_that_it_speaks_of_and_is_that_of_the_slowest_edge() {
    let watermark = |ms| Message::Watermark(Watermark(ms));
    let heard = diary(vec![
        (0, rows(2)),
        (0, watermark(10)),
        (1, watermark(5)),
        (0, watermark(20)),
        (1, rows(1)),
        (1, watermark(15)),
    ]);
    assert_eq!(heard.await, ["2 rows", "until 5", "1 rows", "until 15", "prepare 1", "commit 1"]);
}
