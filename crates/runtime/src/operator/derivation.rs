//! Where the columns that an operator emits come from: state is of use to an operator only while its rows mean the same.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;

/// How the columns that an operator emits derive from those that it takes.
#[derive(Debug)]
pub enum Derivation {
    /// Each from all, and from what the operator does.
    All,
    /// They are the same; perhaps others stand behind them. That some rows are left out is no matter.
    Same,
    /// Each from some.
    Columns(Vec<DerivedColumn>),
}

/// A column that is made of others.
#[derive(Debug)]
pub struct DerivedColumn {
    /// What it is called.
    pub name: String,
    /// The expression, in words that say nothing of where columns stand.
    pub words: String,
    /// The names of the columns that it reads, sorted.
    pub reads: Vec<String>,
}

impl Derivation {
    /// Of the columns of `schema`, each of an expression.
    pub(crate) fn of(exprs: &[Arc<dyn PhysicalExpr>], schema: &SchemaRef) -> Self {
        let column = |(expr, name): (&Arc<dyn PhysicalExpr>, &String)| {
            let mut reads: Vec<String> = collect_columns(expr).iter().map(|column| column.name().to_owned()).collect();
            reads.sort();
            DerivedColumn { name: name.clone(), words: without_places(expr), reads }
        };
        let names = schema.fields().iter().map(|field| field.name());
        Self::Columns(exprs.iter().zip(names).map(column).collect())
    }
}

/// An expression in words, without the places of its columns among others: `id@3 % 7` is `id % 7`.
pub(crate) fn without_places(expr: &Arc<dyn PhysicalExpr>) -> String {
    let words = expr.to_string();
    let mut parts = words.split('@');
    let mut without = parts.next().unwrap_or_default().to_owned();
    without.extend(parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())));
    without
}
