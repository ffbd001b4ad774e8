//! What a task waits for between its steps: room in its channels, and answers to the requests of its operators.

use std::time::Instant;

use tidemill_core::{Error, Result};
use tokio::select;
use tokio::task::yield_now;

use super::Chain;
use crate::clock::{Clock, at};
use crate::operator::{Operator, Output, Requests};
use crate::task::before;
use crate::task::under_way::{Heard, SILENCE};

impl Chain {
    /// Sends what the last steps produced, until more may be taken: waits where a channel is full, and where elements wait for
    /// requests that may not begin yet. What a watermark completes is sent as it is made, so that one which completes a
    /// great many windows neither fills the memory nor holds a stop up.
    pub(crate) async fn send(&mut self) -> Result<()> {
        loop {
            self.under_way.look()?;
            self.pass_on_answers()?;
            self.begin_requests()?;
            self.send_pending().await?;
            let crowded = self.requests().filter(|(_, requests)| requests.waiting()).map(|(node, _)| node).max();
            // What is further down comes first: a node takes nothing while it is unfinished.
            match self.unfinished.last() {
                Some(&node) if crowded.is_none_or(|crowded| crowded < node) => self.go_on(node).await?,
                _ if crowded.is_some() => self.wait().await?,
                _ => return Ok(()),
            }
        }
    }

    /// What `next` gives, unless an answer comes before, or it is `due`, or a timer is: then `None`, and `next` must not have
    /// lost anything.
    pub(crate) async fn next<T>(&mut self, due: Option<Instant>, next: impl Future<Output = T>) -> Result<Option<T>> {
        let due = self.timer().into_iter().chain(due).min();
        let next = async {
            select! {
                biased;
                next = next => Ok(Some(next)),
                answered = self.under_way.answered() => answered.map(|()| None),
            }
        };
        before(due, next).await.unwrap_or(Ok(None))
    }

    /// Calls all operators, each when what came before it has been passed on to it: what an operator emits may lead to
    /// requests of one behind it, which are answered before that one is called.
    pub(super) async fn in_turn(&mut self, call: impl Fn(&mut dyn Operator, &mut Output) -> Result<()>) -> Result<()> {
        let moment_ms = self.clock.now_ms();
        for node in 0..self.nodes.len() {
            self.settle(node).await?;
            at(moment_ms, || self.call(node, &call))?;
        }
        Ok(())
    }

    /// Waits until an operator's requests are answered, and passes on what they have come to.
    async fn settle(&mut self, node: usize) -> Result<()> {
        if self.nodes[node].operator.requests().is_none() {
            return Ok(());
        }
        loop {
            self.send().await?;
            if !self.requests().any(|(of, requests)| of == node && requests.open()) {
                return Ok(());
            }
            self.wait().await?;
        }
    }

    /// Waits for an answer, or for a timer, which is called.
    async fn wait(&mut self) -> Result<()> {
        match before(self.timer(), self.under_way.hear(self.durable)).await.transpose()? {
            None => self.on_timer(),
            Some(Heard::Answer) => Ok(()),
            Some(Heard::GiveUp) => {
                self.under_way.give_up();
                self.requests().for_each(|(_, requests)| requests.give_up());
                Ok(())
            }
            Some(Heard::Silence) => Err(self.silent()),
        }
    }

    /// Passes on what requests have come to. One that an unfinished node is behind waits for that.
    fn pass_on_answers(&mut self) -> Result<()> {
        for node in 0..self.nodes.len() {
            while self.unfinished.last().is_none_or(|&unfinished| unfinished < node) {
                let Some(requests) = self.nodes[node].operator.requests() else { break };
                let mut out = Output::default();
                let more = requests.on_answers(&mut out)?;
                at(self.clock.now_ms(), || {
                    self.emitted(node, out)?;
                    self.tell_reached(node)
                })?;
                if !more {
                    break;
                }
            }
        }
        Ok(())
    }

    fn begin_requests(&mut self) -> Result<()> {
        let Self { nodes, under_way, .. } = self;
        for requests in nodes.iter_mut().filter_map(|node| node.operator.requests()) {
            while let Some(request) = requests.begin()? {
                under_way.begin(request);
            }
        }
        Ok(())
    }

    /// Lets a node emit more of what its watermark completes.
    async fn go_on(&mut self, node: usize) -> Result<()> {
        if self.under_way.stopped() {
            self.unfinished.clear();
            return Ok(());
        }
        at(self.clock.now_ms(), || self.complete(node, self.nodes[node].watermark))?;
        if !self.nodes[node].operator.unfinished() {
            self.unfinished.remove(&node);
        }
        self.send_pending().await?;
        yield_now().await;
        Ok(())
    }

    async fn send_pending(&mut self) -> Result<()> {
        for (edge, message) in self.pending.drain(..) {
            self.edges[edge].send(message).await?;
        }
        Ok(())
    }

    /// By node, the requests of those that make any.
    fn requests(&mut self) -> impl Iterator<Item = (usize, &mut dyn Requests)> {
        let nodes = self.nodes.iter_mut().enumerate();
        nodes.filter_map(|(node, of_node)| Some((node, of_node.operator.requests()?)))
    }

    fn silent(&mut self) -> Error {
        let silent = self.requests().find(|(_, requests)| requests.open()).map(|(node, _)| node);
        let of = silent.map(|node| self.nodes[node].operator.describe()).unwrap_or_default();
        let seconds = SILENCE.as_secs();
        Error::unavailable(format!(
            "the run is stopped without its last checkpoint: {of} has had no answer for {seconds} s"
        ))
        .hint("nothing is lost: run it again once what it asks answers, and it goes on from the checkpoint before")
    }
}
