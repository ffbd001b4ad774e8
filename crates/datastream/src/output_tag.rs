//! Side outputs: what leaves a step beside its result.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemill_core::{Error, Result};
use tidemill_runtime::operator::{Output, Port};

use crate::collector::Collector;
use crate::timed::Element;

/// The name of a side output, of elements of type `T`.
///
/// ```
/// use tidemill_datastream::OutputTag;
///
/// const SUSPICIOUS: OutputTag<String> = OutputTag::new("suspicious");
/// ```
pub struct OutputTag<T> {
    id: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> OutputTag<T> {
    /// The side output of this name.
    #[must_use]
    pub const fn new(id: &'static str) -> Self {
        Self { id, of: PhantomData }
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }
}

impl<T> Clone for OutputTag<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OutputTag<T> {}

impl<T> fmt::Debug for OutputTag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputTag({})", self.id)
    }
}

#[derive(Debug, Clone, Copy)]
struct Read {
    id: &'static str,
    of: TypeId,
    port: Port,
}

/// The side outputs of a step that somebody reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct SideOutputs(Arc<Mutex<Reads>>);

#[derive(Debug, Default)]
struct Reads {
    reads: Vec<Read>,
    /// Somebody may still ask for one that was written to.
    keep_all: bool,
}

impl SideOutputs {
    fn lock(&self) -> MutexGuard<'_, Reads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What nobody reads yet is kept, too.
    pub(crate) fn keep_all(&self) {
        self.lock().keep_all = true;
    }

    /// Somebody reads it: by this port.
    pub(crate) fn port<T: 'static>(&self, tag: &OutputTag<T>) -> Result<Port> {
        let all = &mut self.lock().reads;
        if let Some(read) = all.iter().find(|read| read.id == tag.id) {
            return same_type::<T>(read).map(|()| read.port);
        }
        let number =
            u8::try_from(all.len() + 1).map_err(|_| Error::invalid("a step has more than 255 side outputs"))?;
        all.push(Read { id: tag.id, of: TypeId::of::<T>(), port: Port(number) });
        Ok(Port(number))
    }

    /// What a running step writes to.
    pub(crate) fn open(&self) -> Sides {
        Sides { sides: self.lock().reads.iter().map(|read| (*read, None)).collect(), outputs: self.clone() }
    }
}

fn same_type<T: 'static>(read: &Read) -> Result<()> {
    if read.of == TypeId::of::<T>() {
        return Ok(());
    }
    Err(Error::invalid(format!("the side output '{}' has elements of two types", read.id))
        .hint("give each side output a name of its own, or declare its OutputTag once as a const"))
}

/// What a step has written to its side outputs.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    outputs: SideOutputs,
    sides: Vec<(Read, Option<Box<dyn Side>>)>,
}

impl Sides {
    /// Takes an element, unless nobody reads the output.
    pub(crate) fn collect<T: Element>(
        &mut self,
        tag: &OutputTag<T>,
        value: T,
        time: i64,
        watermark: i64,
    ) -> Result<()> {
        if !self.sides.iter().any(|(read, _)| read.id == tag.id) && self.outputs.lock().keep_all {
            let port = self.outputs.port(tag)?;
            self.sides.push((Read { id: tag.id, of: TypeId::of::<T>(), port }, None));
        }
        let Some((read, side)) = self.sides.iter_mut().find(|(read, _)| read.id == tag.id) else { return Ok(()) };
        same_type::<T>(read)?;
        let side: &mut dyn Any = side.get_or_insert_with(|| Box::new(Collector::<T>::default())).as_mut();
        if let Some(collector) = side.downcast_mut::<Collector<T>>() {
            collector.at(time, watermark);
            collector.collect(value);
        }
        Ok(())
    }

    pub(crate) fn emit(&mut self, out: &mut Output) {
        for (read, side) in &mut self.sides {
            if let Some(side) = side {
                side.emit_to(read.port, out);
            }
        }
    }
}

/// The elements of one side output.
trait Side: Any + Send + fmt::Debug {
    fn emit_to(&mut self, port: Port, out: &mut Output);
}

impl<T: Element> Side for Collector<T> {
    fn emit_to(&mut self, port: Port, out: &mut Output) {
        Collector::emit_to(self, port, out);
    }
}
