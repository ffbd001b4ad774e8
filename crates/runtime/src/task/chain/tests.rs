//! Requests among other operators of one task: what waits for whom.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tidemill_core::Error;
use tokio::time::sleep;

use super::*;
use crate::clock::SystemClock;
use crate::exchange::{Inbox, Partitioning, channel};
use crate::graph::{Head, MakeOperator, NodeSpec};
use crate::operator::{Request, Requests};

/// What has happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn rows(count: usize) -> EventBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![0; count]));
    EventBatch::append(RecordBatch::try_from_iter([("n", column)]).unwrap())
}

/// One request a batch, and one under way at a time.
struct Asks {
    log: Log,
    takes: Duration,
    fails: bool,
    waiting: Vec<EventBatch>,
    asked: Option<EventBatch>,
    answered: Arc<Mutex<bool>>,
    held: Watermark,
    reached: Watermark,
}

impl Asks {
    fn new(log: &Log, takes: Duration) -> Self {
        let (log, answered) = (log.clone(), Arc::default());
        let (held, reached) = (Watermark::MIN, Watermark::MIN);
        Self { log, takes, fails: false, waiting: vec![], asked: None, answered, held, reached }
    }
}

impl Operator for Asks {
    fn describe(&self) -> String {
        "asks".to_owned()
    }

    fn on_batch(&mut self, batch: EventBatch, _: &mut Output) -> Result<()> {
        self.log.note(format!("taken behind {}", self.waiting.len()));
        self.waiting.push(batch);
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _: &mut Output) -> Result<()> {
        self.held = watermark;
        if !self.open() {
            self.reached = watermark;
        }
        Ok(())
    }

    fn reached(&self, _: Watermark) -> Watermark {
        self.reached
    }

    fn on_barrier(&mut self, _: Epoch, _: &mut Output) -> Result<()> {
        self.log.note(if self.open() { "barrier too early" } else { "barrier" });
        Ok(())
    }

    fn requests(&mut self) -> Option<&mut dyn Requests> {
        Some(self)
    }
}

impl Requests for Asks {
    fn begin(&mut self) -> Result<Option<Request>> {
        if self.asked.is_some() || self.waiting.is_empty() {
            return Ok(None);
        }
        self.asked = Some(self.waiting.remove(0));
        let (takes, fails, answered) = (self.takes, self.fails, Arc::clone(&self.answered));
        Ok(Some(Box::pin(async move {
            sleep(takes).await;
            *answered.lock().unwrap() = true;
            if fails { Err(Error::unavailable("no answer")) } else { Ok(()) }
        })))
    }

    fn waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn open(&self) -> bool {
        self.waiting() || self.asked.is_some()
    }

    fn on_answers(&mut self, out: &mut Output) -> Result<bool> {
        if std::mem::take(&mut *self.answered.lock().unwrap())
            && let Some(asked) = self.asked.take()
        {
            self.log.note("answered");
            out.emit(asked);
        }
        if !self.open() {
            self.reached = self.held;
        }
        Ok(false)
    }

    fn give_up(&mut self) {
        self.waiting.clear();
        self.asked = None;
        self.held = self.reached;
    }
}

/// Keeps what it is given until a barrier or a pause, or gives as much for each step of a watermark.
struct Holds {
    log: Log,
    held: Vec<EventBatch>,
    steps: usize,
    timer: Option<Instant>,
}

impl Holds {
    fn new(log: &Log) -> Self {
        Self { log: log.clone(), held: vec![], steps: 0, timer: None }
    }

    fn give(&mut self, out: &mut Output) {
        self.held.drain(..).for_each(|batch| out.emit(batch));
    }
}

impl Operator for Holds {
    fn describe(&self) -> String {
        "holds".to_owned()
    }

    fn on_batch(&mut self, batch: EventBatch, _: &mut Output) -> Result<()> {
        self.held.push(batch);
        Ok(())
    }

    fn on_watermark(&mut self, _: Watermark, out: &mut Output) -> Result<()> {
        self.steps = self.steps.saturating_sub(1);
        out.emit(rows(1));
        Ok(())
    }

    fn unfinished(&self) -> bool {
        self.steps > 0
    }

    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        self.give(out);
        Ok(())
    }

    fn on_barrier(&mut self, _: Epoch, out: &mut Output) -> Result<()> {
        self.give(out);
        Ok(())
    }

    fn timer(&self) -> Option<Instant> {
        self.timer
    }

    fn on_timer(&mut self, _: Instant, _: &mut Output) -> Result<()> {
        self.timer = None;
        self.log.note("timer");
        Ok(())
    }
}

/// A chain of these, one behind the other, and what leaves it.
fn chain(operators: Vec<Box<dyn Operator>>, ending: watch::Receiver<Ending>) -> (Chain, Inbox) {
    let last = operators.len() - 1;
    let nodes = operators.into_iter().enumerate().map(|(node, operator)| {
        let operator = Mutex::new(Some(operator));
        let make: MakeOperator = Arc::new(move || Ok(operator.lock().unwrap().take().unwrap()));
        let target = if node == last { Target::Edge(0) } else { Target::Node { node: node + 1, slot: 0 } };
        NodeSpec { make, slots: 1, targets: vec![(Port::MAIN, target)] }
    });
    let task = TaskSpec {
        name: "task".into(),
        parallelism: 1,
        head: Head::Edges,
        nodes: nodes.collect(),
        head_targets: vec![vec![Target::Node { node: 0, slot: 0 }]],
        edges: vec![],
        key: vec![],
    };
    let (outbox, inbox) = channel();
    let edges = vec![EdgeSender::Subtasks(Partitioning::Gather, vec![outbox])];
    let clock = Arc::new(JobClock::new(Arc::new(SystemClock)));
    (Chain::new(&task, edges, ending, None, clock).unwrap(), inbox)
}

fn runs() -> watch::Sender<Ending> {
    watch::Sender::default()
}

/// What has left, in words.
fn leaves(inbox: &mut Inbox) -> Vec<String> {
    let mut left = vec![];
    while let Ok(message) = inbox.try_recv() {
        left.push(match message {
            Message::Data(batch) => format!("{} rows", batch.num_rows()),
            Message::Watermark(watermark) => format!("watermark {}", watermark.0),
            Message::Barrier(_) => "barrier".to_owned(),
            Message::End => "end".to_owned(),
        });
    }
    left
}

const SHORT: Duration = Duration::from_millis(5);

#[tokio::test]
async fn what_an_operator_gives_at_a_barrier_is_asked_before_it() {
    let (log, ending) = (Log::default(), runs());
    let operators: Vec<Box<dyn Operator>> = vec![
        Box::new(Holds::new(&log)),
        Box::new(Asks::new(&log, SHORT)),
        Box::new(Holds::new(&log)),
        Box::new(Asks::new(&log, SHORT)),
    ];
    let (mut chain, mut inbox) = chain(operators, ending.subscribe());
    chain.data(0, rows(1)).unwrap();
    chain.data(0, rows(2)).unwrap();
    chain.barrier(Epoch::default().next()).await.unwrap();
    chain.send().await.unwrap();
    assert_eq!(leaves(&mut inbox), ["1 rows", "2 rows", "barrier"]);
    assert!(!log.take().contains(&"barrier too early".to_owned()));
    // The same where the input ends.
    chain.data(0, rows(3)).unwrap();
    chain.end().await.unwrap();
    chain.send().await.unwrap();
    assert_eq!(leaves(&mut inbox), ["3 rows", "end"]);
}

#[tokio::test]
async fn a_watermark_waits_for_the_answers_before_it() {
    let (log, ending) = (Log::default(), runs());
    let (mut chain, mut inbox) = chain(vec![Box::new(Asks::new(&log, SHORT))], ending.subscribe());
    chain.watermark(0, Watermark(3)).await.unwrap();
    chain.data(0, rows(1)).unwrap();
    chain.watermark(0, Watermark(5)).await.unwrap();
    assert_eq!(leaves(&mut inbox), ["watermark 3"]);
    // It comes by itself, while the task waits for something else.
    let nothing = std::future::pending::<()>;
    assert!(chain.next(None, nothing()).await.unwrap().is_none());
    chain.send().await.unwrap();
    assert_eq!(leaves(&mut inbox), ["1 rows", "watermark 5"]);
}

#[tokio::test]
async fn what_a_watermark_completes_is_made_when_it_can_be_asked() {
    let (log, ending) = (Log::default(), runs());
    let many = Holds { steps: 3, ..Holds::new(&log) };
    let (mut chain, mut inbox) =
        chain(vec![Box::new(many), Box::new(Asks::new(&log, Duration::ZERO))], ending.subscribe());
    chain.watermark(0, Watermark(5)).await.unwrap();
    let noted = log.take();
    let takes: Vec<&String> = noted.iter().filter(|what| what.starts_with("taken")).collect();
    assert_eq!(takes, ["taken behind 0"; 3]);
    assert_eq!(leaves(&mut inbox)[..2], ["1 rows", "1 rows"]);
}

#[tokio::test]
async fn timers_come_while_answers_are_waited_for() {
    let (log, ending) = (Log::default(), runs());
    let alarm = Holds { timer: Some(Instant::now() + SHORT), ..Holds::new(&log) };
    let asks = Asks::new(&log, Duration::from_millis(100));
    let (mut chain, _inbox) = chain(vec![Box::new(asks), Box::new(alarm)], ending.subscribe());
    chain.data(0, rows(1)).unwrap();
    chain.barrier(Epoch::default().next()).await.unwrap();
    assert_eq!(log.take(), ["taken behind 0", "timer", "answered", "barrier"]);
}

#[tokio::test]
async fn an_error_of_a_request_is_the_tasks() {
    let (log, ending) = (Log::default(), runs());
    let asks = || Asks { fails: true, ..Asks::new(&log, SHORT) };
    let (mut waits, _inbox) = chain(vec![Box::new(asks())], ending.subscribe());
    waits.data(0, rows(1)).unwrap();
    assert_eq!(waits.end().await.unwrap_err().message(), "no answer");
    let (mut goes_on, _inbox) = chain(vec![Box::new(asks())], ending.subscribe());
    goes_on.data(0, rows(1)).unwrap();
    goes_on.send().await.unwrap();
    assert_eq!(goes_on.next(None, std::future::pending::<()>()).await.unwrap_err().message(), "no answer");
}

#[tokio::test]
async fn a_run_that_ends_early_waits_for_no_answer() {
    let log = Log::default();
    for (ends, durable, left) in
        [(Ending::Stopped, false, Ok(vec!["end"])), (Ending::Failed, true, Err("the run has failed"))]
    {
        let ending = runs();
        let (mut chain, mut inbox) =
            chain(vec![Box::new(Asks::new(&log, Duration::from_secs(3600)))], ending.subscribe());
        chain.durable = durable;
        chain.data(0, rows(1)).unwrap();
        chain.watermark(0, Watermark(7)).await.unwrap();
        let stop = async {
            sleep(SHORT).await;
            ending.send(ends).unwrap();
        };
        let (ended, ()) = tokio::join!(chain.end(), stop);
        let ended = match ended {
            Ok(_) => {
                chain.send().await.unwrap();
                Ok(leaves(&mut inbox))
            }
            Err(error) => Err(error.message().to_owned()),
        };
        let left = left.map(|left| left.into_iter().map(str::to_owned).collect()).map_err(str::to_owned);
        assert_eq!(ended, left, "{ends:?}");
    }
}

/// Its timer is due now, whenever it is asked.
struct Due {
    log: Log,
    due: bool,
}

impl Operator for Due {
    fn describe(&self) -> String {
        "due".to_owned()
    }

    fn on_batch(&mut self, _: EventBatch, _: &mut Output) -> Result<()> {
        self.due = true;
        Ok(())
    }

    fn timer(&self) -> Option<Instant> {
        self.due.then(Instant::now)
    }

    fn on_timer(&mut self, _: Instant, _: &mut Output) -> Result<()> {
        self.due = false;
        self.log.note("timer");
        Ok(())
    }
}

#[tokio::test]
async fn a_timer_that_says_when_from_now_on_comes() {
    let (log, ending) = (Log::default(), runs());
    let (mut chain, _inbox) = chain(vec![Box::new(Due { log: log.clone(), due: false })], ending.subscribe());
    chain.data(0, rows(1)).unwrap();
    chain.on_timer().unwrap();
    assert_eq!((log.take(), chain.timer()), (vec!["timer".to_owned()], None));
}
