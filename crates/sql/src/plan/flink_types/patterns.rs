//! `LIKE` and `SIMILAR TO`: Flink's `LIKE` has no escape character unless the text names one, Arrow's has the backslash.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF, lit};
use tidemill_core::Error;

use super::common::is_text;
use super::{mismatch, refused};
use crate::function;

/// A constant pattern is rewritten for Arrow; others are matched row by row.
pub(super) fn like(like: Like, schema: &DFSchema) -> Result<Transformed<Expr>> {
    texts("LIKE", &like, schema)?;
    let Expr::Literal(ScalarValue::Utf8View(Some(pattern)), _) = &*like.pattern else {
        return Ok(Transformed::yes(call(&function::LIKE, like)));
    };
    let pattern = arrow_pattern(pattern, like.escape_char)?;
    let pattern = Box::new(lit(ScalarValue::Utf8View(Some(pattern))));
    let like = Like::new(like.negated, like.expr, pattern, None, false);
    Ok(Transformed::yes(Expr::Like(like)))
}

pub(super) fn similar_to(like: Like, schema: &DFSchema) -> Result<Transformed<Expr>> {
    texts("SIMILAR TO", &like, schema)?;
    Ok(Transformed::yes(call(&function::SIMILAR_TO, like)))
}

fn texts(what: &str, like: &Like, schema: &DFSchema) -> Result<()> {
    let is = |expr: &Expr| expr.get_type(schema).map(|t| is_text(&t) || matches!(t, DataType::Null));
    if is(&like.expr)? && is(&like.pattern)? {
        return Ok(());
    }
    Err(mismatch(&format!("{what} takes two strings"), &[&like.expr, &like.pattern], schema, "CAST them AS STRING"))
}

fn call(function: &'static function::Function, like: Like) -> Expr {
    let escape = lit(ScalarValue::Utf8View(Some(like.escape_char.map(String::from).unwrap_or_default())));
    let call = ScalarUDF::from(function.clone()).call(vec![*like.expr, *like.pattern, escape]);
    if like.negated { Expr::Not(Box::new(call)) } else { call }
}

fn arrow_pattern(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut arrow = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        if Some(c) == escape {
            match characters.next() {
                Some(next) if next == '%' || next == '_' || Some(next) == escape => {
                    arrow.push('\\');
                    arrow.push(next);
                }
                _ => {
                    return Err(refused(
                        Error::invalid(format!("the pattern '{pattern}' has an escape character that escapes nothing"))
                            .hint("it stands before %, _ or itself"),
                    ));
                }
            }
            continue;
        }
        if c == '\\' {
            arrow.push('\\');
        }
        arrow.push(c);
    }
    Ok(arrow)
}
