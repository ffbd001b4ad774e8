//! The receiving end of a task: merges its channels, aligns barriers, takes the minimum of watermarks.

use std::future::poll_fn;
use std::task::{Context, Poll};

use tidemill_core::{Epoch, Error, EventBatch, Result, Watermark};

use super::{Inbox, Message};

/// What a task does next. `slot` is the edge that the channel belongs to.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one a batch: moving it costs nothing, a box would")]
pub(crate) enum Received {
    Data {
        slot: usize,
        batch: EventBatch,
    },
    /// The edge's watermark, the minimum over its channels, has moved.
    Watermark {
        slot: usize,
        watermark: Watermark,
    },
    /// Every channel has reached the barrier; none of what follows it has been delivered.
    Barrier(Epoch),
    /// Every channel has ended.
    End,
}

struct Channel {
    inbox: Inbox,
    slot: usize,
    watermark: Watermark,
    /// The barrier that this channel has reached while others have not: it is not read until then.
    barrier: Option<Epoch>,
    ended: bool,
}

/// All channels of one subtask.
pub(crate) struct Gate {
    channels: Vec<Channel>,
    /// The watermark last given out, an edge.
    watermarks: Vec<Watermark>,
    /// Where the next look starts, so that no channel starves another.
    next: usize,
}

impl Gate {
    /// `inboxes[slot]` holds the channels of one edge.
    pub(crate) fn new(inboxes: Vec<Vec<Inbox>>) -> Self {
        let watermarks = vec![Watermark::MIN; inboxes.len()];
        let channels = inboxes
            .into_iter()
            .enumerate()
            .flat_map(|(slot, inboxes)| inboxes.into_iter().map(move |inbox| (slot, inbox)))
            .map(|(slot, inbox)| Channel { inbox, slot, watermark: Watermark::MIN, barrier: None, ended: false })
            .collect();
        Self { channels, watermarks, next: 0 }
    }

    pub(crate) async fn receive(&mut self) -> Result<Received> {
        loop {
            if let Some(epoch) = self.aligned() {
                self.channels.iter_mut().for_each(|c| c.barrier = None);
                return Ok(Received::Barrier(epoch));
            }
            if self.channels.iter().all(|c| c.ended) {
                return Ok(Received::End);
            }
            let (index, message) = poll_fn(|cx| self.poll_channels(cx)).await;
            if let Some(received) = self.take(index, message)? {
                return Ok(received);
            }
        }
    }

    /// How far all edges have come: the minimum of their watermarks.
    pub(crate) fn watermark(&self) -> Watermark {
        self.watermarks.iter().copied().min().unwrap_or(Watermark::MIN)
    }

    /// The barrier that all channels have reached. One that has ended has reached every barrier.
    fn aligned(&self) -> Option<Epoch> {
        let reached = self.channels.iter().find_map(|c| c.barrier)?;
        self.channels.iter().all(|c| c.ended || c.barrier.is_some()).then_some(reached)
    }

    fn poll_channels(&mut self, cx: &mut Context<'_>) -> Poll<(usize, Option<Message>)> {
        let count = self.channels.len();
        for index in (self.next..count).chain(0..self.next) {
            let channel = &mut self.channels[index];
            if channel.ended || channel.barrier.is_some() {
                continue;
            }
            if let Poll::Ready(message) = channel.inbox.poll_recv(cx) {
                self.next = (index + 1) % count;
                return Poll::Ready((index, message));
            }
        }
        Poll::Pending
    }

    fn take(&mut self, index: usize, message: Option<Message>) -> Result<Option<Received>> {
        let channel = &mut self.channels[index];
        let slot = channel.slot;
        match message {
            None => Err(Error::closed("the task that this one receives from has stopped")),
            Some(Message::Data(batch)) => Ok(Some(Received::Data { slot, batch })),
            Some(Message::Watermark(watermark)) => {
                debug_assert!(watermark >= channel.watermark, "a watermark never goes back");
                channel.watermark = watermark;
                Ok(self.advanced(slot))
            }
            Some(Message::Barrier(epoch)) => {
                channel.barrier = Some(epoch);
                Ok(None)
            }
            Some(Message::End) => {
                channel.ended = true;
                Ok(None)
            }
        }
    }

    /// A channel that ended keeps its last watermark: `+∞` where its input ended, and what it had
    /// reached where the run was stopped, so that no open window fires.
    fn advanced(&mut self, slot: usize) -> Option<Received> {
        let of_slot = self.channels.iter().filter(|c| c.slot == slot);
        let watermark = of_slot.map(|c| c.watermark).min().unwrap_or(Watermark::MIN);
        (watermark > self.watermarks[slot]).then(|| {
            self.watermarks[slot] = watermark;
            Received::Watermark { slot, watermark }
        })
    }
}

#[cfg(test)]
mod tests;
