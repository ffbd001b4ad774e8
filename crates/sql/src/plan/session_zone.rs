//! Casts that cross between `TIMESTAMP_LTZ` and what a clock shows go by the session's time zone, also
//! those that a comparison of the two implies, and those of the parts of an `ARRAY`, `MAP` or `ROW`.
//!
//! An instant is in UTC for Arrow, so in UTC its own cast is right.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use arrow::datatypes::DataType;
use chrono::{FixedOffset, Utc};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use tidemill_core::Error;
use tidemill_runtime::time_zone::TimeZone;

use super::input_schema;
use crate::function::{Clock, cast_in_zone};

/// The plan with its casts in the session's time zone.
pub(crate) fn in_session_zone(plan: LogicalPlan, zone: TimeZone) -> Result<LogicalPlan> {
    if zone.is_utc() {
        return Ok(plan);
    }
    let rewritten = plan.transform_up_with_subqueries(|node| {
        let schema = input_schema(&node)?;
        let names = NamePreserver::new(&node);
        let node = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = casts_in_zone(expr, &schema, zone)?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })?;
        if node.transformed { node.map_data(LogicalPlan::recompute_schema) } else { Ok(node) }
    });
    Ok(rewritten?.data)
}

/// An expression over columns of `schema` with its casts in the session's time zone.
pub(crate) fn casts_in_zone(expr: Expr, schema: &DFSchema, zone: TimeZone) -> Result<Transformed<Expr>> {
    if zone.is_utc() {
        return Ok(Transformed::no(expr));
    }
    expr.transform_up(|expr| {
        let crossed = match &expr {
            Expr::Cast(cast) => crossing(&cast.expr, cast.field.data_type(), schema, zone, false)?,
            Expr::TryCast(cast) => crossing(&cast.expr, cast.field.data_type(), schema, zone, true)?,
            Expr::ScalarFunction(call) => cast_in_zone(call, zone),
            _ => None,
        };
        Ok(crossed.map_or(Transformed::no(expr), Transformed::yes))
    })
}

/// The cast by way of the other clock, where it crosses.
fn crossing(expr: &Expr, to: &DataType, schema: &DFSchema, zone: TimeZone, tries: bool) -> Result<Option<Expr>> {
    let cast = |expr: Expr, to: &DataType| match tries {
        true => Expr::TryCast(TryCast::new(Box::new(expr), to.clone())),
        false => Expr::Cast(Cast::new(Box::new(expr), to.clone())),
    };
    Ok(match (expr.get_type(schema)?, to) {
        (DataType::Timestamp(_, Some(_)), DataType::Timestamp(_, None) | DataType::Date32 | DataType::Time32(_)) => {
            Some(cast(Clock::Local.call(zone, expr.clone()), to))
        }
        (DataType::Timestamp(_, None) | DataType::Date32, DataType::Timestamp(unit, Some(_))) => {
            Some(Clock::Instant.call(zone, cast(expr.clone(), &DataType::Timestamp(*unit, None))))
        }
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, DataType::Timestamp(unit, Some(_))) => match expr {
            Expr::Literal(text, _) if text.try_as_str().flatten().is_some_and(names_its_zone) => None,
            Expr::Literal(..) => Some(Clock::Instant.call(zone, cast(expr.clone(), &DataType::Timestamp(*unit, None)))),
            _ => return Err(DataFusionError::External(Box::new(text_of_rows(expr)))),
        },
        _ => None,
    })
}

/// Whether a text says at which offset from UTC it is: then it is the same instant wherever it is read.
pub(crate) fn names_its_zone(text: &str) -> bool {
    let Some(elsewhere) = FixedOffset::east_opt(3_600) else { return false };
    match (string_to_datetime(&Utc, text), string_to_datetime(&elsewhere, text)) {
        (Ok(here), Ok(there)) => here == there,
        _ => false,
    }
}

fn text_of_rows(expr: &Expr) -> Error {
    Error::invalid(format!("CAST({expr} AS TIMESTAMP_LTZ) of a text is supported only in UTC so far"))
        .hint(format!("write CAST(CAST({expr} AS TIMESTAMP(3)) AS TIMESTAMP_LTZ(3)), which reads a local time"))
}
