//! What a state is called, how its values are written, and how long they last.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::codec::{Codec, Ordered, Postcard};
use crate::backend::{Clocks, Expiry};

/// A state of values of type `T`: one a key ([`super::ValueState`], [`super::ReducingState`], and of accumulators
/// [`super::AggregatingState`]) or a list of them ([`super::ListState`]).
pub struct StateDescriptor<T> {
    pub(super) name: Cow<'static, str>,
    pub(super) codec: Arc<dyn Codec<T>>,
    pub(super) ttl: Option<StateTtlConfig>,
}

impl<T: Serialize + DeserializeOwned> StateDescriptor<T> {
    /// A state of this name, whose values are written by [`Postcard`] and last until they are cleared.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self::with_codec(name, Postcard)
    }
}

impl<T> StateDescriptor<T> {
    /// A state of this name, whose values are written by `codec`.
    #[must_use]
    pub fn with_codec(name: impl Into<Cow<'static, str>>, codec: impl Codec<T> + 'static) -> Self {
        Self { name: name.into(), codec: Arc::new(codec), ttl: None }
    }

    /// Its values last so long.
    #[must_use]
    pub fn enable_time_to_live(mut self, ttl: StateTtlConfig) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

/// A state of one map a key ([`super::MapState`]), in the order of the bytes of its keys.
pub struct MapStateDescriptor<K, V> {
    pub(super) name: Cow<'static, str>,
    pub(super) keys: Arc<dyn Codec<K>>,
    pub(super) values: Arc<dyn Codec<V>>,
    pub(super) ttl: Option<StateTtlConfig>,
}

impl<K: Serialize + DeserializeOwned, V: Serialize + DeserializeOwned> MapStateDescriptor<K, V> {
    /// A state of this name, whose keys are written by [`Ordered`] (so that a map is in the order of its keys), and its
    /// values by [`Postcard`].
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self::with_codecs(name, Ordered, Postcard)
    }
}

impl<K, V> MapStateDescriptor<K, V> {
    /// A state of this name, whose keys and values are written so.
    #[must_use]
    pub fn with_codecs(
        name: impl Into<Cow<'static, str>>,
        keys: impl Codec<K> + 'static,
        values: impl Codec<V> + 'static,
    ) -> Self {
        Self { name: name.into(), keys: Arc::new(keys), values: Arc::new(values), ttl: None }
    }

    /// Its entries last so long, each by itself.
    #[must_use]
    pub fn enable_time_to_live(mut self, ttl: StateTtlConfig) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

impl<T> fmt::Debug for StateDescriptor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateDescriptor({} in {}, {:?})", self.name, self.codec.name(), self.ttl)
    }
}

impl<K, V> fmt::Debug for MapStateDescriptor<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keys, values) = (self.keys.name(), self.values.name());
        write!(f, "MapStateDescriptor({} in {keys} and {values}, {:?})", self.name, self.ttl)
    }
}

/// How long values last. What has expired is never returned; it is cleaned up in the background.
///
/// Elements of lists and entries of maps expire one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateTtlConfig {
    ttl_ms: i64,
    update_type: UpdateType,
    time: TtlTimeCharacteristic,
}

/// What makes a value last anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpdateType {
    /// To write it: the last time counts.
    #[default]
    OnCreateAndWrite,
    /// To write it, and to read it.
    OnReadAndWrite,
}

/// Which clock values go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TtlTimeCharacteristic {
    /// The machine's: another run may find other values expired.
    #[default]
    ProcessingTime,
    /// That of the elements: the event time of the one that is processed, or its own watermark if that is later; in a
    /// timer the timer's time. So what a key's elements find expired is a function of these elements alone.
    EventTime,
}

impl StateTtlConfig {
    /// Values last so long after they were written, in processing time.
    #[must_use]
    pub fn new(ttl: Duration) -> Self {
        let ttl_ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        Self { ttl_ms, update_type: UpdateType::default(), time: TtlTimeCharacteristic::default() }
    }

    /// What makes a value last anew.
    #[must_use]
    pub fn update_type(mut self, update_type: UpdateType) -> Self {
        self.update_type = update_type;
        self
    }

    /// Which clock values go by.
    #[must_use]
    pub fn time_characteristic(mut self, time: TtlTimeCharacteristic) -> Self {
        self.time = time;
        self
    }

    /// When a value ends that is read now; `None` if that makes no difference. It never ends earlier by it.
    pub(super) fn prolonged(ttl: Option<Self>, expiry_then: Expiry, now: Clocks) -> Option<Expiry> {
        ttl.filter(|ttl| ttl.update_type == UpdateType::OnReadAndWrite)?;
        let prolonged = expiry_then.later(expiry(ttl, now));
        (prolonged != expiry_then).then_some(prolonged)
    }
}

/// When a value ends that is written now.
pub(super) fn expiry(ttl: Option<StateTtlConfig>, now: Clocks) -> Expiry {
    let Some(StateTtlConfig { ttl_ms, time, .. }) = ttl else { return Expiry::Never };
    match time {
        TtlTimeCharacteristic::ProcessingTime => Expiry::ProcessingTime(now.processing_ms.saturating_add(ttl_ms)),
        TtlTimeCharacteristic::EventTime => Expiry::EventTime(now.event_ms.saturating_add(ttl_ms)),
    }
}
