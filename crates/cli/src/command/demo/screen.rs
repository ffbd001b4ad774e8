//! The terminal while the demo runs: a screen of its own, drawn anew ten times a second, and given back at the end.

use crossterm::Command;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Attribute, Color, ResetColor, SetAttribute, SetForegroundColor};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, size,
};
use tidemill_connectors::console::Console;
use tidemill_connectors::shop::Traffic;
use tidemill_core::Result;

use super::Counters;
use super::draw::{Line, Picture, Size, Tone, draw};
use super::expected::Expected;
use super::figures::{Figures, REVENUE};

/// A terminal, and what the screen remembers from picture to picture.
pub(super) struct Screen {
    expected: Expected,
    rate: Option<u64>,
    colour: bool,
    entered: bool,
}

impl Screen {
    pub(super) fn new(traffic: &Traffic) -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { expected: Expected::default(), rate: traffic.events_per_second, colour, entered: false }
    }

    /// Draws what is known now.
    pub(super) fn refresh(&mut self, figures: Figures, counters: Counters) -> Result<()> {
        self.learn(&figures);
        let size = terminal_size();
        let picture = self.picture(figures, counters, true);
        let mut out = String::new();
        if !self.entered {
            self.entered = true;
            command(&mut out, &EnterAlternateScreen);
            command(&mut out, &Hide);
        }
        command(&mut out, &BeginSynchronizedUpdate);
        for (row, line) in (0..size.rows).zip(draw(&picture, size)) {
            command(&mut out, &MoveTo(0, row));
            self.write(&mut out, &line);
            command(&mut out, &Clear(ClearType::UntilNewLine));
        }
        command(&mut out, &Clear(ClearType::FromCursorDown));
        command(&mut out, &EndSynchronizedUpdate);
        Console::Output.write(out.as_bytes())
    }

    /// Gives the terminal back.
    pub(super) fn leave(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.entered) {
            return Ok(());
        }
        let mut out = String::new();
        command(&mut out, &LeaveAlternateScreen);
        command(&mut out, &Show);
        Console::Output.write(out.as_bytes())
    }

    /// The last picture, as text to stay in the terminal.
    pub(super) fn last(&mut self, figures: Figures, counters: Counters) -> String {
        let picture = self.picture(figures, counters, false);
        let mut out = String::new();
        for line in draw(&picture, terminal_size()) {
            self.write(&mut out, &line);
            out.push('\n');
        }
        out
    }

    /// Notes how full the open minute is, and what became of those that are complete.
    fn learn(&mut self, figures: &Figures) {
        let watermark = figures.watermark(REVENUE).0;
        if let Some((end_ms, position_ms)) = super::draw::open_minute(watermark) {
            let orders = figures.revenue.get(&end_ms).map_or(0, |minute| minute.orders);
            self.expected.observe(end_ms, position_ms, orders);
            self.expected.finish(end_ms - 60_000, |end_ms| figures.revenue.get(&end_ms).map(|minute| minute.orders));
        }
    }

    fn picture(&self, figures: Figures, counters: Counters, open: bool) -> Picture {
        let (_, position_ms) = super::draw::open_minute(figures.watermark(REVENUE).0).unwrap_or_default();
        Picture { seen: self.expected.seen_at(position_ms), figures, counters, rate: self.rate, open }
    }

    fn write(&self, out: &mut String, line: &Line) {
        for span in &line.0 {
            if self.colour {
                tone(out, span.tone);
            }
            out.push_str(&span.text);
            if self.colour && span.tone != Tone::Plain {
                command(out, &SetAttribute(Attribute::Reset));
                command(out, &ResetColor);
            }
        }
    }
}

impl Drop for Screen {
    /// Also where the run fails: the terminal must not stay without a cursor. Nobody is there to be told of a
    /// terminal that is gone.
    fn drop(&mut self) {
        let _ = self.leave();
    }
}

fn tone(out: &mut String, tone: Tone) {
    match tone {
        Tone::Plain => {}
        Tone::Title => command(out, &SetAttribute(Attribute::Bold)),
        Tone::Faint => command(out, &SetAttribute(Attribute::Dim)),
        Tone::Final => command(out, &SetForegroundColor(Color::Green)),
        Tone::Provisional => command(out, &SetForegroundColor(Color::Yellow)),
    }
}

fn command(out: &mut String, command: &impl Command) {
    command.write_ansi(out).expect("a string takes all that is written");
}

fn terminal_size() -> Size {
    // A terminal that does not tell is taken for the smallest that is common.
    let (columns, rows) = size().ok().filter(|&(columns, rows)| columns > 0 && rows > 0).unwrap_or((80, 24));
    Size { columns, rows }
}
