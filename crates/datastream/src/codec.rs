//! How elements are written where a batch keeps them between its stages.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Elements, Error, Result};
use tidemill_runtime::exchange::ElementCodec;

use crate::connected::Either;
use crate::keyed_stream::KeyOf;
use crate::timed::{Element, Timed};

/// Writes and reads one element.
pub(crate) trait ValueCodec<T>: Send + Sync {
    /// Appends what the element is written as.
    fn write(&self, value: &T, bytes: Vec<u8>) -> Result<Vec<u8>>;

    /// The element at the beginning, and what stands behind it.
    fn read<'b>(&self, bytes: &'b [u8]) -> Result<(T, &'b [u8])>;
}

/// By serde, as postcard: numbers and names of fields take no room.
struct BySerde<T>(PhantomData<fn(T)>);

pub(crate) fn by_serde<T: Element + Serialize + DeserializeOwned>() -> Arc<dyn ValueCodec<T>> {
    Arc::new(BySerde(PhantomData))
}

impl<T: Serialize + DeserializeOwned> ValueCodec<T> for BySerde<T> {
    fn write(&self, value: &T, bytes: Vec<u8>) -> Result<Vec<u8>> {
        write(value, bytes)
    }

    fn read<'b>(&self, bytes: &'b [u8]) -> Result<(T, &'b [u8])> {
        read(bytes)
    }
}

/// An element of one of two streams, each as it is written itself.
pub(crate) struct OfEither<A, B>(pub(crate) Arc<dyn ValueCodec<A>>, pub(crate) Arc<dyn ValueCodec<B>>);

impl<A, B> ValueCodec<Either<A, B>> for OfEither<A, B> {
    fn write(&self, value: &Either<A, B>, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        bytes.push(u8::from(matches!(value, Either::Second(_))));
        match value {
            Either::First(value) => self.0.write(value, bytes),
            Either::Second(value) => self.1.write(value, bytes),
        }
    }

    fn read<'b>(&self, bytes: &'b [u8]) -> Result<(Either<A, B>, &'b [u8])> {
        match bytes.split_first() {
            Some((0, bytes)) => self.0.read(bytes).map(|(value, rest)| (Either::First(value), rest)),
            Some((1, bytes)) => self.1.read(bytes).map(|(value, rest)| (Either::Second(value), rest)),
            _ => Err(Error::data("an element that was written is of neither stream")),
        }
    }
}

impl<T: Element, K: 'static> ElementCodec for KeyOf<T, K> {
    fn times<'e>(&self, elements: &'e Elements) -> Result<&'e [i64]> {
        Ok(&elements.downcast_ref::<Timed<T>>()?.times)
    }

    fn gather(&self, runs: &[Elements], picks: &[(usize, usize)]) -> Result<Elements> {
        let runs: Vec<&Timed<T>> = runs.iter().map(Elements::downcast_ref).collect::<Result<_>>()?;
        let mut gathered = Timed { values: Vec::with_capacity(picks.len()), times: vec![] };
        let timed = runs.iter().any(|run| !run.times.is_empty());
        for &(run, place) in picks {
            gathered.values.push(runs[run].values[place].clone());
            if timed {
                gathered.times.push(runs[run].times.get(place).copied().unwrap_or(i64::MIN));
            }
        }
        Ok(Elements::new(gathered))
    }

    fn write(&self, elements: &Elements) -> Result<Vec<u8>> {
        let Timed { values, times } = elements.downcast_ref::<Timed<T>>()?;
        let bytes = write(&(values.len(), times), vec![])?;
        values.iter().try_fold(bytes, |bytes, value| self.1.write(value, bytes))
    }

    fn read(&self, bytes: &[u8]) -> Result<Elements> {
        let ((count, times), mut rest): ((usize, Vec<i64>), _) = read(bytes)?;
        let mut values = Vec::with_capacity(count.min(bytes.len()));
        for _ in 0..count {
            let (value, behind) = self.1.read(rest)?;
            values.push(value);
            rest = behind;
        }
        Ok(Elements::new(Timed { values, times }))
    }
}

fn write<T: Serialize>(value: &T, bytes: Vec<u8>) -> Result<Vec<u8>> {
    postcard::to_extend(value, bytes)
        .map_err(|e| Error::invalid(format!("a {} can't be written: {e}", std::any::type_name::<T>())).because(e))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8])> {
    postcard::take_from_bytes(bytes).map_err(|e| {
        Error::data(format!("what was written is no {}: {e}", std::any::type_name::<T>()))
            .because(e)
            .hint("a type that is read must be written alike: look for serde attributes such as skip_serializing_if")
    })
}
