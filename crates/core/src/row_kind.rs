//! What a row does to the result that it belongs to.

/// The kind of a change, as Flink has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert,
    /// `-U`: the old content of a row that the next `+U` replaces.
    UpdateBefore,
    /// `+U`: the new content of an updated row.
    UpdateAfter,
    /// `-D`: a row that is gone.
    Delete,
}

impl RowKind {
    /// The two characters that Flink prints: `+I`, `-U`, `+U`, `-D`.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// Whether the row adds to the result (`+I`, `+U`) or takes away from it (`-U`, `-D`).
    #[must_use]
    pub const fn adds(self) -> bool {
        matches!(self, Self::Insert | Self::UpdateAfter)
    }
}
