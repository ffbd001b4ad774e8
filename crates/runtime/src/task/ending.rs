//! What tasks hear of a run that ends before its input does, while they wait for something that may take long.

/// How a run ends early. It only ever gets further.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// It does not.
    #[default]
    No,
    /// A stop is wanted: where checkpoints are kept, an epoch that is under way is completed before, and then a last one.
    Wanted,
    /// Sources give nothing more: what would take long is left.
    Stopped,
    /// It has failed.
    Failed,
}
