//! The windows that are tried: how SQL writes them. A new kind is a variant here, and its definition in
//! [`super::naive`].

use proptest::prelude::*;

/// Times and lengths are in milliseconds.
#[derive(Debug, Clone, Copy)]
pub enum Window {
    Tumble { size: i64, offset: i64 },
    Hop { slide: i64, size: i64, offset: i64 },
    Cumulate { step: i64, size: i64, offset: i64 },
    Session { gap: i64 },
}

impl Window {
    /// The same windows, longer.
    pub fn times(self, n: i64) -> Self {
        match self {
            Self::Tumble { size, offset } => Self::Tumble { size: size * n, offset: offset * n },
            Self::Hop { slide, size, offset } => Self::Hop { slide: slide * n, size: size * n, offset: offset * n },
            Self::Cumulate { step, size, offset } => {
                Self::Cumulate { step: step * n, size: size * n, offset: offset * n }
            }
            Self::Session { gap } => Self::Session { gap: gap * n },
        }
    }

    /// The table function over the table `events`.
    pub fn sql(self) -> String {
        let call = match self {
            Self::Tumble { size, offset } => {
                format!("TUMBLE(TABLE events, DESCRIPTOR(ts), {}, {}", interval(size), interval(offset))
            }
            Self::Hop { slide, size, offset } => {
                let (slide, size) = (interval(slide), interval(size));
                format!("HOP(TABLE events, DESCRIPTOR(ts), {slide}, {size}, {}", interval(offset))
            }
            Self::Cumulate { step, size, offset } => {
                let (step, size) = (interval(step), interval(size));
                format!("CUMULATE(TABLE events, DESCRIPTOR(ts), {step}, {size}, {}", interval(offset))
            }
            Self::Session { gap } => {
                format!("SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), {}", interval(gap))
            }
        };
        format!("TABLE({call}))")
    }
}

/// An interval of so many milliseconds.
pub fn interval(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("INTERVAL '{sign}{}.{:03}' SECOND", ms.abs() / 1000, ms.abs() % 1000)
}

/// Mostly round lengths, so that times meet the edges; sometimes one of a few milliseconds more.
fn lengths() -> impl Strategy<Value = i64> {
    prop_oneof![4 => (1..=12i64).prop_map(|n| n * 1000), 1 => 900..12_000i64]
}

fn offsets() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), -20_000..20_000i64]
}

pub fn tumbling() -> impl Strategy<Value = Window> {
    (lengths(), offsets()).prop_map(|(size, offset)| Window::Tumble { size, offset })
}

pub fn hopping() -> impl Strategy<Value = Window> {
    (lengths(), 1..=20i64, offsets()).prop_map(|(slide, n, offset)| Window::Hop { slide, size: slide * n, offset })
}

pub fn cumulating() -> impl Strategy<Value = Window> {
    (lengths(), 1..=6i64, offsets()).prop_map(|(step, n, offset)| Window::Cumulate { step, size: step * n, offset })
}

pub fn sessions() -> impl Strategy<Value = Window> {
    lengths().prop_map(|gap| Window::Session { gap })
}
