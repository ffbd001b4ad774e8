//! Which row of the log a row is, and its watermark, as columns that both drivers can add to a scan.

/// The columns that identify a row, where a plan asks for them: its partition and its offset.
pub(crate) const IDENTITY: [&str; 2] = ["__tidemill_partition", "__tidemill_offset"];

/// The column of a row's own watermark, where a plan asks for it.
pub(crate) const ROW_WATERMARK: &str = "__tidemill_row_watermark";
