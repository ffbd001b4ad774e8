//! Where a row group is cut: into pieces that stay in a core's caches, and of which every core has one to the end.
//!
//! A piece is decoded by itself, and needs of each column the pages that hold its rows, and the dictionary. Where pages
//! stand, the file's offset index says; without one, all pages before would have to be looked at, and a row group is one
//! piece.

use parquet::arrow::ProjectionMask;
use parquet::file::metadata::ParquetMetaData;

/// About how many rows a piece has.
pub(super) const PIECE_ROWS: usize = 64 * 1024;

/// The row of its row group with which a piece ends that begins at row `first`.
///
/// It ends where a page of the first column that is read does, so that few pages are decoded twice.
pub(super) fn end(file: &ParquetMetaData, read: &ProjectionMask, row_group: usize, first: usize) -> usize {
    let (rows, wanted) = (rows(file, row_group), first + PIECE_ROWS);
    let pages = file.offset_index().and_then(|index| index.get(row_group)).filter(|columns| !columns.is_empty());
    let Some(pages) = pages else { return rows };
    // What would be left is no piece of its own.
    if wanted + PIECE_ROWS / 2 >= rows {
        return rows;
    }
    let mut read = pages.iter().enumerate().filter(|(leaf, _)| read.leaf_included(*leaf));
    let Some((_, column)) = read.next() else { return wanted };
    let starts = column.page_locations().iter().filter_map(|page| usize::try_from(page.first_row_index).ok());
    starts.filter(|start| *start >= wanted).min().unwrap_or(rows).min(rows)
}

/// How many rows a row group has.
pub(super) fn rows(file: &ParquetMetaData, row_group: usize) -> usize {
    usize::try_from(file.row_group(row_group).num_rows()).unwrap_or(0)
}
