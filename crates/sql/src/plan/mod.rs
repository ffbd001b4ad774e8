//! What both drivers know of a logical plan, and how its errors become ours.

mod aggregate_names;
mod attached;
mod carry;
mod column_names;
mod current_watermark;
mod error;
mod event_time;
mod flink_types;
mod group_names;
mod group_window;
mod grouping_sets;
mod read_fields;
mod refuse;
mod row_order;
mod session_zone;
mod ties;
mod values;
mod windows;

pub(crate) use aggregate_names::AggregateNames;
pub(crate) use attached::{Bound, attached_by, bound_at, bound_of, is_windowed};
pub(crate) use column_names::{name_columns, tell_columns_apart};
pub(crate) use current_watermark::{refuse_watermark, row_watermarks};
pub(crate) use error::plan_error;
pub(crate) use event_time::{TimeAttribute, is_event_time, made_of_element, scanned, time_attribute, unaliased};
pub(crate) use flink_types::{in_flink_types, typed};
pub(crate) use group_names::mark_casts;
pub(crate) use group_window::rewrite_group_windows;
pub(crate) use grouping_sets::{grouping_sets, has_grouping_sets};
pub(crate) use read_fields::{ReadFields, without_unread_fields};
use refuse::input_schema;
pub(crate) use refuse::refuse_other_answers;
pub(crate) use row_order::order_rows;

pub(crate) use session_zone::{casts_in_zone, in_session_zone, names_its_zone};
pub(crate) use ties::break_ties;
pub(crate) use values::mark_values;
pub(crate) use windows::{all_scanned_tables, function_below, reads, scanned_tables, windows};
