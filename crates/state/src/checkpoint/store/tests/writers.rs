//! Two processes that write to one place: what a manifest names stays whole, and each has its epochs or is told.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, UploadPart,
};
use tokio::sync::oneshot;

use super::*;

type Answer<T> = object_store::Result<T>;

fn objects(store: Arc<dyn ObjectStore>) -> Place {
    Place::Objects { store, prefix: "a".into(), shown: "memory:///a".into() }
}

fn assert_told(error: &Error, place: &Place, epoch: u64) {
    let message = format!("another process writes to '{place}': checkpoint {epoch} there is of another run");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Unavailable, message.as_str()));
    assert!(error.hint_text().unwrap().starts_with("stop one of the two, or give each a place of its own"), "{error}");
}

#[tokio::test]
async fn a_run_whose_epoch_is_of_another_is_told_and_leaves_it_whole() {
    let root = tempdir().unwrap();
    for place in [objects(Arc::new(InMemory::new())), folder(root.path())] {
        let (mut first, mut second) = (store(&place, 1), store(&place, 1));
        write(&mut first, 1, append(1, [1])).await.unwrap();
        assert_told(&write(&mut second, 1, append(1, [2])).await.unwrap_err(), &place, 1);
        assert_eq!(panes(store(&place, 1).resume(false).await.unwrap().unwrap()), [(1, vec![1])]);
        write(&mut first, 2, append(1, [3])).await.unwrap();
        assert_eq!(resumed(&place).await, [(1, vec![1, 3])]);
    }
}

#[tokio::test]
async fn a_run_that_was_overtaken_is_told_also_where_the_name_is_free_again() {
    let root = tempdir().unwrap();
    for place in [objects(Arc::new(InMemory::new())), folder(root.path())] {
        let mut slow = store(&place, 1);
        write(&mut slow, 1, append(1, [1])).await.unwrap();
        let mut fast = store(&place, 1);
        fast.resume(false).await.unwrap();
        for epoch in 2..=4 {
            write(&mut fast, epoch, append(1, [epoch as i64])).await.unwrap();
        }
        assert!(!place.names().await.unwrap().contains(&manifest_name(2)));
        assert_told(&write(&mut slow, 2, append(1, [7])).await.unwrap_err(), &place, 4);
        write(&mut fast, 5, append(1, [5])).await.unwrap();
        assert_eq!(resumed(&place).await, [(1, vec![1, 2, 3, 4, 5])]);
    }
}

#[tokio::test]
async fn a_manifest_that_is_there_already_because_its_answer_was_lost_is_the_runs_own() {
    let place = objects(Arc::new(InMemory::new()));
    let mut writer = store(&place, 1);
    write(&mut writer, 1, append(1, [1])).await.unwrap();
    let manifest = writer.kept.pop().unwrap();
    writer.claim(&manifest).await.unwrap();
    let another = Manifest { run: Run::draw().number(), ..manifest };
    assert_told(&writer.claim(&another).await.unwrap_err(), &place, 1);
}

/// What a process is at.
#[derive(Debug)]
enum At {
    Work,
    /// It has asked for something, and waits for its turn.
    Request(oneshot::Sender<()>),
    End,
}

/// Takes the requests of both one by one, in an order that is drawn: each when neither process is at work, so that
/// threads have no say in it.
#[derive(Debug)]
struct Turns {
    random: u64,
    processes: [At; 2],
    /// Whose requests are taken, and how many more of them: one may be held up for long.
    favoured: usize,
    left: u64,
    /// The checkpoints that have been the last, by epoch and run.
    last: BTreeSet<(u64, u64)>,
}

impl Turns {
    fn new(seed: u64) -> Self {
        let random = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { random, processes: [At::Work, At::Work], favoured: 0, left: 0, last: BTreeSet::new() }
    }

    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn set(&mut self, process: usize, at: At) {
        self.processes[process] = at;
        if !self.processes.iter().any(|at| matches!(at, At::Work)) {
            self.take_one();
        }
    }

    fn take_one(&mut self) {
        if self.left == 0 {
            let most = [2, 10, 80][(self.draw() % 3) as usize];
            self.left = 1 + self.draw() % most;
            self.favoured = (self.draw() % 2) as usize;
        }
        self.left -= 1;
        for process in [self.favoured, 1 - self.favoured] {
            if matches!(self.processes[process], At::Request(_)) {
                if let At::Request(turn) = mem::replace(&mut self.processes[process], At::Work) {
                    turn.send(()).unwrap();
                }
                return;
            }
        }
    }
}

/// The store, as one of the processes reaches it.
#[derive(Debug, Clone)]
struct Reached {
    by: usize,
    turns: Arc<Mutex<Turns>>,
    inner: Arc<InMemory>,
}

impl Reached {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap()
    }

    async fn turn(&self) {
        let (turn, taken) = oneshot::channel();
        self.turns().set(self.by, At::Request(turn));
        taken.await.unwrap();
    }

    /// After each change: the last checkpoint is whole, and each that has been the last, as long as it is there.
    async fn assert_whole(&self) {
        let place = objects(Arc::<InMemory>::clone(&self.inner));
        let names = place.names().await.unwrap();
        let manifests = CheckpointStore::list(&place).await.unwrap().into_iter().map(|found| found.manifest.unwrap());
        let manifests: Vec<Manifest> = manifests.collect();
        let mut turns = self.turns();
        if let Some(last) = manifests.last() {
            let last = (last.epoch, last.run);
            let goes_on = |&before: &(u64, u64)| before == last || before.0 < last.0;
            assert!(turns.last.last().is_none_or(goes_on), "the last was {:?}, and is {last:?}", turns.last.last());
            turns.last.insert(last);
        }
        for manifest in manifests.iter().filter(|manifest| turns.last.contains(&(manifest.epoch, manifest.run))) {
            for file in manifest.files.keys().copied().map(parts_name) {
                assert!(names.contains(&file), "{file} of checkpoint {} is gone: {names:?}", manifest.epoch);
            }
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reached")
    }
}

#[async_trait]
impl ObjectStore for Reached {
    async fn put_opts(&self, location: &Key, payload: PutPayload, options: PutOptions) -> Answer<PutResult> {
        self.turn().await;
        let put = self.inner.put_opts(location, payload, options).await;
        self.assert_whole().await;
        put
    }

    async fn put_multipart_opts(
        &self,
        location: &Key,
        options: PutMultipartOptions,
    ) -> Answer<Box<dyn MultipartUpload>> {
        self.turn().await;
        assert!(self.inner.head(location).await.is_err(), "{location} is written twice");
        let inner = self.inner.put_multipart_opts(location, options).await?;
        Ok(Box::new(ReachedUpload { store: self.clone(), inner }))
    }

    async fn get_opts(&self, location: &Key, options: GetOptions) -> Answer<GetResult> {
        self.turn().await;
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Key, ranges: &[Range<u64>]) -> Answer<Vec<Bytes>> {
        self.turn().await;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Answer<Key>>) -> BoxStream<'static, Answer<Key>> {
        let store = self.clone();
        let delete = move |location: Answer<Key>| {
            let store = store.clone();
            async move {
                let location = location?;
                store.turn().await;
                let deleted = store.inner.delete(&location).await;
                store.assert_whole().await;
                deleted.map(|()| location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Answer<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Answer<ListResult> {
        self.turn().await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Answer<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct ReachedUpload {
    store: Reached,
    inner: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for ReachedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (store, put) = (self.store.clone(), self.inner.put_part(data));
        Box::pin(async move {
            store.turn().await;
            put.await
        })
    }

    async fn complete(&mut self) -> Answer<PutResult> {
        self.store.turn().await;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Answer<()> {
        self.inner.abort().await
    }
}

/// How often a process is started.
const STARTS: usize = 6;

/// How many epochs it has then, if nothing stops it.
const EPOCHS: u64 = 8;

/// What was written, by epoch.
type Acknowledged = RefCell<BTreeMap<u64, i64>>;

/// The value of an epoch that a process has written.
fn value(epoch: u64, process: usize) -> i64 {
    epoch as i64 * 2 + process as i64
}

/// Adds a value an epoch to two sections: one is replaced now and then, the other grows until its parts are made one.
fn changes(epoch: u64, values: &[i64]) -> Vec<(Owner, StateChanges)> {
    let mut changes = StateChanges::default();
    let last = values[values.len() - 1];
    match epoch % 5 {
        0 => changes.replace(Section::new("pane", 1), vec![numbers(values.to_vec())]),
        _ => changes.append(Section::new("pane", 1), numbers([last])),
    }
    changes.append(Section::new("pane", 2), numbers([last]));
    vec![("a".to_owned(), changes)]
}

/// The values that both sections have.
fn values(state: BTreeMap<Owner, State>) -> Vec<i64> {
    match &panes(state)[..] {
        [] => vec![],
        [(1, replaced), (2, grown)] if replaced == grown => grown.clone(),
        other => panic!("the sections differ: {other:?}"),
    }
}

async fn start(place: &Place, retention: usize, process: usize, acknowledged: &Acknowledged) -> Result<()> {
    let mut writer = store(place, retention);
    let mut values = values(writer.resume(false).await?.unwrap_or_default());
    let from = writer.last().map_or(0, |last| last.epoch().0);
    for epoch in from + 1..=from + EPOCHS {
        values.push(value(epoch, process));
        let (changes, longest_pause) = (changes(epoch, &values), Duration::ZERO);
        writer.write(Snapshot { epoch: Epoch(epoch), finished: false, changes, longest_pause }).await?;
        let before = acknowledged.borrow_mut().insert(epoch, value(epoch, process));
        assert_eq!(before, None, "epoch {epoch} was written twice");
        writer.drop_oldest().await?;
    }
    Ok(())
}

/// Starts a process again and again. How often it was told that there is another.
async fn process(store: Reached, retention: usize, acknowledged: &Acknowledged) -> usize {
    let place = objects(Arc::new(store.clone()));
    let mut told = 0;
    for _ in 0..STARTS {
        if let Err(error) = start(&place, retention, store.by, acknowledged).await {
            assert!(error.message().starts_with("another process writes to 'memory:///a'"), "{error}");
            told += 1;
        }
    }
    store.turns().set(store.by, At::End);
    told
}

#[tokio::test]
async fn in_whichever_order_two_processes_write_nothing_is_lost_and_each_has_its_epochs_or_is_told() {
    let mut all_told = 0;
    for seed in 0..24 {
        let (turns, inner) = (Arc::new(Mutex::new(Turns::new(seed))), Arc::new(InMemory::new()));
        let reached = |by: usize| Reached { by, turns: Arc::clone(&turns), inner: Arc::clone(&inner) };
        let acknowledged = Acknowledged::default();
        let retentions = [1 + seed as usize % 3, 1 + seed as usize / 3 % 3];
        let (told, also_told) = tokio::join!(
            process(reached(0), retentions[0], &acknowledged),
            process(reached(1), retentions[1], &acknowledged),
        );
        all_told += told + also_told;
        let values = values(store(&objects(inner), 1).resume(false).await.unwrap().unwrap());
        // One value an epoch: the checkpoints of both are one row.
        let epochs: Vec<u64> = values.iter().map(|value| *value as u64 / 2).collect();
        assert_eq!(epochs, (1..=values.len() as u64).collect::<Vec<_>>(), "seed {seed}");
        for (epoch, value) in acknowledged.take() {
            assert_eq!(values[epoch as usize - 1], value, "seed {seed}, epoch {epoch}");
        }
    }
    assert!(all_told > 10, "only {all_told} runs were told that there is another");
}
