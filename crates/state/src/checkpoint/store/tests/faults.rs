//! A store that fails or hangs at one of its requests, whichever that is: nothing is lost, and the next run goes on.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::future::pending;
use futures::stream::BoxStream;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, UploadPart,
};
use tokio::time::timeout;

use super::*;

type Answer<T> = object_store::Result<T>;

/// What happens at the request that is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Refused,
    /// It is done, and the answer is an error.
    DoneAndRefused,
    Hangs,
    /// It is done, and no answer comes.
    DoneAndHangs,
}

/// Requests that change something, one of which goes wrong.
#[derive(Debug, Clone)]
struct Requests {
    fault: Fault,
    /// The request.
    at: usize,
    made: Arc<AtomicUsize>,
}

impl Requests {
    async fn make<T>(self, request: impl Future<Output = Answer<T>>) -> Answer<T> {
        if self.made.fetch_add(1, Ordering::Relaxed) != self.at {
            return request.await;
        }
        if matches!(self.fault, Fault::DoneAndRefused | Fault::DoneAndHangs) {
            request.await?;
        }
        if matches!(self.fault, Fault::Hangs | Fault::DoneAndHangs) {
            return pending().await;
        }
        Err(object_store::Error::Generic { store: "test", source: "out of order".into() })
    }
}

#[derive(Debug)]
struct Faulty {
    requests: Requests,
    inner: Arc<InMemory>,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Key, payload: PutPayload, options: PutOptions) -> Answer<PutResult> {
        self.requests.clone().make(self.inner.put_opts(location, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Key,
        options: PutMultipartOptions,
    ) -> Answer<Box<dyn MultipartUpload>> {
        let begun = self.requests.clone().make(self.inner.put_multipart_opts(location, options)).await?;
        Ok(Box::new(FaultyUpload { requests: self.requests.clone(), inner: begun }))
    }

    async fn get_opts(&self, location: &Key, options: GetOptions) -> Answer<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Key, ranges: &[Range<u64>]) -> Answer<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Answer<Key>>) -> BoxStream<'static, Answer<Key>> {
        let (requests, inner) = (self.requests.clone(), Arc::clone(&self.inner));
        let delete = move |location: Answer<Key>| {
            let (requests, inner) = (requests.clone(), Arc::clone(&inner));
            async move {
                let location = location?;
                requests.make(inner.delete(&location)).await.map(|()| location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Answer<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Answer<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Answer<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct FaultyUpload {
    requests: Requests,
    inner: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        Box::pin(self.requests.clone().make(self.inner.put_part(data)))
    }

    async fn complete(&mut self) -> Answer<PutResult> {
        self.requests.clone().make(self.inner.complete()).await
    }

    async fn abort(&mut self) -> Answer<()> {
        self.inner.abort().await
    }
}

fn objects(store: Arc<dyn ObjectStore>) -> Place {
    Place::Objects { store, prefix: "a".into(), shown: "test:///a".into() }
}

/// Each epoch adds its number.
const EPOCHS: u64 = 4;

async fn write_epoch(writer: &mut CheckpointStore, epoch: u64) -> Result<()> {
    write(writer, epoch, append(1, [epoch as i64])).await
}

/// Writes until something goes wrong. How many epochs were written, and the error if there was one.
async fn write_until_it_fails(place: &Place) -> (u64, Option<Error>) {
    let mut writer = store(place, 1);
    for epoch in 1..=EPOCHS {
        match timeout(Duration::from_millis(40), write_epoch(&mut writer, epoch)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return (epoch - 1, Some(error)),
            Err(_) => return (epoch - 1, None),
        }
    }
    (EPOCHS, None)
}

#[tokio::test]
async fn whichever_request_goes_wrong_nothing_is_lost_and_the_next_run_goes_on() {
    for fault in [Fault::Refused, Fault::DoneAndRefused, Fault::Hangs, Fault::DoneAndHangs] {
        for at in 0.. {
            let inner = Arc::new(InMemory::new());
            let made = Arc::new(AtomicUsize::new(0));
            let requests = Requests { fault, at, made: Arc::clone(&made) };
            let (written, error) =
                write_until_it_fails(&objects(Arc::new(Faulty { requests, inner: Arc::clone(&inner) }))).await;
            if made.load(Ordering::Relaxed) <= at {
                assert!(at > 12, "{fault:?}: only {at} requests were made for {EPOCHS} checkpoints");
                break;
            }
            if let Some(error) = error {
                assert_eq!(error.kind(), ErrorKind::Unavailable);
                assert!(error.message().contains("test:///a/"), "{fault:?} at {at}: {error}");
            }
            let place = objects(inner);
            let mut next = store(&place, 1);
            let found = next.resume(false).await.unwrap().map(panes).unwrap_or_default();
            let epochs = found.first().map_or(0, |(_, rows)| rows.len() as u64);
            // Whether the last one is there is not known: it is there whole, or not at all.
            assert!((written..=written + 1).contains(&epochs), "{fault:?} at {at}: {epochs} epochs of {written}");
            for epoch in epochs + 1..=EPOCHS + 1 {
                write_epoch(&mut next, epoch).await.unwrap();
            }
            assert_eq!(resumed(&place).await, [(1, (1..=EPOCHS as i64 + 1).collect())], "{fault:?} at {at}");
            let manifests = place.names().await.unwrap().iter().filter(|name| name.ends_with(MANIFEST)).count();
            assert_eq!(manifests, 1, "{fault:?} at {at}");
        }
    }
}
