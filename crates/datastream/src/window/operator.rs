//! Windows as a function with state and timers: a namespace a window, a timer where it is forgotten, and those of its trigger.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventTime, Result};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_state::keyed::{KeyedState, StateDescriptor, ValueState};

use super::contents::Contents;
use super::trigger::{Trigger, TriggerContext, TriggerResult};
use super::{LateElement, TimeWindow, WindowAssigner};
use crate::collector::Collector;
use crate::output_tag::OutputTag;
use crate::process::{Context, KeyedProcessFunction, Timer};
use crate::timed::Element;

/// When windows are complete, and where goes what comes later.
pub(crate) struct WindowOptions<T> {
    pub(crate) assigner: WindowAssigner,
    pub(crate) allowed_lateness_ms: i64,
    pub(crate) late: Option<OutputTag<LateElement<T>>>,
}

impl<T> Clone for WindowOptions<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WindowOptions<T> {}

impl<T> WindowOptions<T> {
    /// When a window is forgotten: elements whose watermark has reached that are late for it.
    pub(super) fn forgotten(&self, window: TimeWindow) -> i64 {
        window.max_timestamp().0.saturating_add(self.allowed_lateness_ms)
    }

    fn trigger_context<'a>(self, window: TimeWindow, context: &'a mut Context<'_>) -> TriggerContext<'a> {
        TriggerContext::new(context, self.forgotten(window))
    }
}

pub(crate) struct WindowFunction<T, C> {
    options: WindowOptions<T>,
    contents: C,
    trigger: Box<dyn Trigger<T>>,
    metrics: Arc<WindowMetrics>,
    /// The sessions of a key that are open, where windows are sessions.
    sessions: Option<ValueState<Vec<TimeWindow>>>,
}

impl<T: Element, C> WindowFunction<T, C> {
    pub(crate) fn new(
        state: &mut KeyedState,
        options: WindowOptions<T>,
        contents: C,
        trigger: Box<dyn Trigger<T>>,
        metrics: Arc<WindowMetrics>,
    ) -> Result<Self> {
        let sessions = options.assigner.merges().then(|| state.value_state(StateDescriptor::new("sessions")));
        Ok(Self { options, contents, trigger, metrics, sessions: sessions.transpose()? })
    }

    /// Adds an element to a window that is not forgotten, in whose namespace the state is.
    fn add<K>(
        &mut self,
        key: &K,
        window: TimeWindow,
        value: T,
        context: &mut Context<'_>,
        out: &mut Collector<C::Out>,
    ) -> Result<()>
    where
        K: Serialize,
        C: Contents<K, T>,
    {
        let result = self.trigger.on_element(&value, window, &mut self.options.trigger_context(window, context))?;
        let first = self.contents.add(context.state(), value)?;
        self.act(result, key, window, context, out)?;
        let forgotten = self.options.forgotten(window);
        if context.current_watermark().0 >= forgotten {
            // Nothing that comes later is in time, but what has no watermark of its own: that is told by itself.
            return self.forget(key, window, context);
        }
        if first { context.register_event_time_timer(EventTime(forgotten)) } else { Ok(()) }
    }

    /// Does with a window, in whose namespace the state is, what its trigger says.
    fn act<K>(
        &mut self,
        result: TriggerResult,
        key: &K,
        window: TimeWindow,
        context: &mut Context<'_>,
        out: &mut Collector<C::Out>,
    ) -> Result<()>
    where
        C: Contents<K, T>,
    {
        if result.fires() {
            // As late as the element that has come late.
            out.at(window.max_timestamp().0, context.row_watermark);
            self.contents.emit(context.state(), key, window, out)?;
        }
        if result.purges() { self.contents.clear(context.state()) } else { Ok(()) }
    }

    /// Leaves nothing of a window, in whose namespace the state is.
    fn forget<K: Serialize>(&mut self, key: &K, window: TimeWindow, context: &mut Context<'_>) -> Result<()>
    where
        C: Contents<K, T>,
    {
        self.contents.clear(context.state())?;
        self.trigger.clear(window, &mut self.options.trigger_context(window, context))?;
        let Some(sessions) = &self.sessions else { return Ok(()) };
        context.state().set_current_key(key)?;
        let open = sessions.value(context.state())?.cloned().unwrap_or_default();
        let open: Vec<TimeWindow> = open.into_iter().filter(|other| *other != window).collect();
        if open.is_empty() { sessions.clear(context.state()) } else { sessions.update(context.state(), open) }
    }

    /// Whether a window, in whose namespace the state is, has not become part of another. A timer may not know that.
    fn is_open<K: Serialize>(&self, key: &K, window: TimeWindow, context: &mut Context<'_>) -> Result<bool> {
        let Some(sessions) = &self.sessions else { return Ok(true) };
        context.state().set_current_key(key)?;
        let open = sessions.value(context.state())?.is_some_and(|open| open.contains(&window));
        context.state().set_current_namespace(&window)?;
        Ok(open)
    }

    /// The session that an element joins: it may be one of several that become one. `None` if it would be forgotten.
    fn session<K>(
        &mut self,
        own: TimeWindow,
        context: &mut Context<'_>,
        sessions: &ValueState<Vec<TimeWindow>>,
    ) -> Result<Option<TimeWindow>>
    where
        C: Contents<K, T>,
    {
        let open = sessions.value(context.state())?.cloned().unwrap_or_default();
        let (joined, mut apart): (Vec<_>, Vec<_>) = open.into_iter().partition(|window| window.intersects(&own));
        let session = joined.iter().fold(own, |session, window| session.cover(window));
        if context.row_watermark >= self.options.forgotten(session) {
            return Ok(None);
        }
        if joined != [session] {
            apart.push(session);
            sessions.update(context.state(), apart)?;
            let gone: Vec<TimeWindow> = joined.iter().copied().filter(|window| *window != session).collect();
            if !gone.is_empty() {
                self.merge(session, &gone, context)?;
            }
        }
        context.state().set_current_namespace(&session)?;
        Ok(Some(session))
    }

    /// Sessions of the current key become one.
    fn merge<K>(&mut self, session: TimeWindow, gone: &[TimeWindow], context: &mut Context<'_>) -> Result<()>
    where
        C: Contents<K, T>,
    {
        context.state().set_current_namespace(&session)?;
        self.trigger.on_merge(session, gone, &mut self.options.trigger_context(session, context))?;
        for window in gone {
            context.state().set_current_namespace(window)?;
            self.trigger.clear(*window, &mut self.options.trigger_context(*window, context))?;
            context.delete_event_time_timer(EventTime(self.options.forgotten(*window)))?;
        }
        self.contents.merge(context.state(), &session, gone)?;
        context.register_event_time_timer(EventTime(self.options.forgotten(session)))
    }
}

impl<K, T, C> KeyedProcessFunction<K, T> for WindowFunction<T, C>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    C: Contents<K, T>,
{
    type Out = C::Out;

    fn process_element(
        &mut self,
        key: &K,
        value: T,
        context: &mut Context<'_>,
        out: &mut Collector<C::Out>,
    ) -> Result<()> {
        let mut missed = vec![];
        let no_time = context.time == i64::MIN && self.options.assigner.needs_time();
        let windows = (!no_time).then(|| self.options.assigner.assign(context.time));
        let mut windows = windows.into_iter().flatten().peekable();
        // A window that ends later is not late if one before it is not.
        let mut value = Some(value);
        while let Some(window) = windows.next() {
            let element = match windows.peek() {
                Some(_) => value.clone(),
                None if missed.is_empty() => value.take(),
                None => value.clone(),
            };
            let Some(element) = element else { break };
            if let Some(sessions) = self.sessions.take() {
                let session = self.session(window, context, &sessions);
                self.sessions = Some(sessions);
                match session? {
                    Some(session) => self.add(key, session, element, context, out)?,
                    None => {
                        missed.push(window);
                        value = Some(element);
                    }
                }
            } else if context.row_watermark >= self.options.forgotten(window) {
                missed.push(window);
                value = Some(element);
            } else {
                context.state().set_current_namespace(&window)?;
                self.add(key, window, element, context, out)?;
            }
        }
        if !no_time && missed.is_empty() {
            return Ok(());
        }
        let counter = if no_time { &self.metrics.no_event_time_rows } else { &self.metrics.late_rows };
        counter.add(1);
        if let (Some(late), Some(element)) = (&self.options.late, value) {
            context.output(late, LateElement { element, missed })?;
        }
        Ok(())
    }

    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<C::Out>,
    ) -> Result<()> {
        let window: TimeWindow = context.state().current_namespace()?;
        let forgotten = EventTime(self.options.forgotten(window));
        if matches!(timer, Timer::EventTime(time) if time > forgotten) || !self.is_open(key, window, context)? {
            return Ok(());
        }
        let trigger_context = &mut self.options.trigger_context(window, context);
        let result = match timer {
            Timer::EventTime(time) => self.trigger.on_event_time(time, window, trigger_context)?,
            Timer::ProcessingTime(time_ms) => self.trigger.on_processing_time(time_ms, window, trigger_context)?,
        };
        self.act(result, key, window, context, out)?;
        if timer == Timer::EventTime(forgotten) { self.forget(key, window, context) } else { Ok(()) }
    }
}
