//! Windows as a function with state and timers: a namespace a window, a timer at its end and one where it is forgotten.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventTime, Result};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_state::keyed::{KeyedState, StateDescriptor, ValueState};

use super::contents::Contents;
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
}

pub(crate) struct WindowFunction<T, C> {
    options: WindowOptions<T>,
    contents: C,
    metrics: Arc<WindowMetrics>,
    /// The sessions of a key that are open, where windows are sessions.
    sessions: Option<ValueState<Vec<TimeWindow>>>,
}

impl<T: Element, C> WindowFunction<T, C> {
    pub(crate) fn new(
        state: &mut KeyedState,
        options: WindowOptions<T>,
        contents: C,
        metrics: Arc<WindowMetrics>,
    ) -> Result<Self> {
        let sessions = options.assigner.merges().then(|| state.value_state(StateDescriptor::new("sessions")));
        Ok(Self { options, contents, metrics, sessions: sessions.transpose()? })
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
        C: Contents<K, T>,
    {
        let first = self.contents.add(context.state(), value)?;
        if first {
            self.register_timers(window, context)?;
        }
        if context.current_watermark().0 >= window.max_timestamp().0 {
            self.emit(key, window, context, out)?;
        }
        Ok(())
    }

    fn register_timers(&self, window: TimeWindow, context: &mut Context<'_>) -> Result<()> {
        let (end, forgotten) = (window.max_timestamp(), self.options.forgotten(window));
        if context.current_watermark().0 < end.0 {
            context.register_event_time_timer(end)?;
        }
        if forgotten > end.0 {
            context.register_event_time_timer(EventTime(forgotten))?;
        }
        Ok(())
    }

    fn emit<K>(
        &mut self,
        key: &K,
        window: TimeWindow,
        context: &mut Context<'_>,
        out: &mut Collector<C::Out>,
    ) -> Result<()>
    where
        C: Contents<K, T>,
    {
        out.at(window.max_timestamp().0, i64::MIN);
        self.contents.emit(context.state(), key, window, out)
    }

    /// The session that an element joins: it may be one of several that become one. `None` if it would be forgotten.
    fn session<K: Serialize>(
        &mut self,
        key: &K,
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
            for window in &gone {
                context.state().set_current_namespace(window)?;
                context.delete_event_time_timer(window.max_timestamp())?;
                context.delete_event_time_timer(EventTime(self.options.forgotten(*window)))?;
            }
            if !gone.is_empty() {
                context.state().set_current_key(key)?;
                self.contents.merge(context.state(), &session, &gone)?;
                self.register_timers(session, context)?;
            }
        }
        context.state().set_current_namespace(&session)?;
        Ok(Some(session))
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
        let windows = (context.time != i64::MIN).then(|| self.options.assigner.assign(context.time));
        let mut windows = windows.into_iter().flatten().peekable();
        let no_time = context.time == i64::MIN;
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
                let session = self.session(key, window, context, &sessions);
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
        counter.fetch_add(1, Ordering::Relaxed);
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
        let Timer::EventTime(time) = timer else { return Ok(()) };
        let window: TimeWindow = context.state().current_namespace()?;
        if time == window.max_timestamp() {
            self.emit(key, window, context, out)?;
        }
        if time.0 >= self.options.forgotten(window) {
            self.contents.clear(context.state())?;
            if let Some(sessions) = &self.sessions {
                context.state().set_current_key(key)?;
                let open = sessions.value(context.state())?.cloned().unwrap_or_default();
                let open: Vec<TimeWindow> = open.into_iter().filter(|other| *other != window).collect();
                if open.is_empty() {
                    sessions.clear(context.state())?
                } else {
                    sessions.update(context.state(), open)?
                }
            }
        }
        Ok(())
    }
}
