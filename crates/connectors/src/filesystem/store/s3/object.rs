//! One object, as it was when it was listed: one that was replaced since is not read.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{OBJECT_STORE_COALESCE_DEFAULT, ObjectMeta, coalesce_ranges};
use tidemill_core::Result;

use super::Bucket;
use super::budget::allow;
use super::requests::{Answer, ask, begin};
use super::text::ObjectText;
use crate::filesystem::store::{StoredBytes, StoredFile};
use crate::format::parquet::{Fetching, ParquetInput, RemoteFile};

/// The most that one request asks for: an answer should come well within the time that a request may take.
pub(super) const MOST_REQUESTED_BYTES: u64 = 4 << 20;

/// How many requests for the parts of one range are under way at once.
const REQUESTS: usize = 4;

/// An object.
#[derive(Clone)]
pub(super) struct Object {
    bucket: Arc<Bucket>,
    key: Key,
    bytes: u64,
    /// Names its content.
    e_tag: Option<String>,
}

impl Object {
    pub(super) fn new(bucket: Arc<Bucket>, meta: ObjectMeta) -> Self {
        Self { bucket, key: meta.location, bytes: meta.size, e_tag: meta.e_tag }
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins to fetch a range, with one request.
    pub(super) fn begin_fetch(&self, range: Range<u64>) -> Result<Answer<Bytes>> {
        let object = self.clone();
        begin(async move { object.request(range).await })
    }

    async fn request(&self, range: Range<u64>) -> Result<Bytes> {
        self.bucket.bytes(&self.key, self.e_tag.clone(), range).await
    }

    /// A range of any size, in several requests if it is large.
    async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        let step = usize::try_from(MOST_REQUESTED_BYTES).unwrap_or(usize::MAX);
        let parts = range.clone().step_by(step).map(|start| start..range.end.min(start + MOST_REQUESTED_BYTES));
        let mut parts = stream::iter(parts.map(|part| self.request(part))).buffered(REQUESTS);
        let first = parts.try_next().await?.unwrap_or_default();
        if first.len() as u64 == range.end - range.start {
            return Ok(first);
        }
        let mut whole = BytesMut::from(first);
        while let Some(part) = parts.try_next().await? {
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    }

    /// Ranges; those that lie close together, in one request.
    async fn ranges(self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        coalesce_ranges(&ranges, |range| self.range(range), OBJECT_STORE_COALESCE_DEFAULT).await
    }
}

impl StoredFile for Object {
    fn rereadable(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> io::Result<Box<dyn StoredBytes>> {
        Ok(Box::new(ObjectText::new(self.clone())))
    }

    fn parquet(&self) -> io::Result<ParquetInput> {
        Ok(ParquetInput::Remote(Arc::new(self.clone())))
    }
}

impl RemoteFile for Object {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, start: u64, bytes: u64) -> Result<Bytes> {
        let object = self.clone();
        ask(async move { object.range(start..start + bytes).await })
    }

    fn fetch(&self, ranges: Vec<Range<u64>>) -> Fetching {
        match begin(self.clone().ranges(ranges)) {
            Ok(answer) => Box::pin(answer),
            Err(e) => Box::pin(async { Err(e) }),
        }
    }

    fn fetch_ahead(&self, ranges: Vec<Range<u64>>) -> Option<Fetching> {
        let allowance = allow(ranges.iter().map(|range| range.end - range.start).sum())?;
        let fetching = self.fetch(ranges);
        Some(Box::pin(async move {
            let fetched = fetching.await;
            drop(allowance);
            fetched
        }))
    }
}
