//! Which row of the log a row is, as columns that both drivers can add to a scan.

/// The columns that identify a row, where a plan asks for them: its partition and its offset.
pub(crate) const IDENTITY: [&str; 2] = ["__tidemill_partition", "__tidemill_offset"];
