//! Which functions a query calls, and where: a plan no longer knows the places.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, Spanned, TableFactor, Visit, Visitor};
use tidemill_core::Excerpt;

use crate::parse::{SqlText, window_call};

/// A call in the text of a query, or of a view that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// In lower case.
    pub(crate) function: String,
    /// Where the function's name stands.
    pub(crate) place: Excerpt,
}

/// The calls in a checked query, then those in the views that it reads.
pub(super) fn calls(query: &Query, sql: &SqlText, views: &BTreeMap<String, Vec<Call>>) -> Vec<Call> {
    let mut collector = Collector { sql, views, calls: vec![], of_views: vec![] };
    let ControlFlow::Continue(()) = query.visit(&mut collector);
    [collector.calls, collector.of_views].concat()
}

struct Collector<'a> {
    sql: &'a SqlText,
    views: &'a BTreeMap<String, Vec<Call>>,
    calls: Vec<Call>,
    of_views: Vec<Call>,
}

impl Collector<'_> {
    fn read(&mut self, name: &ObjectName) {
        let name = name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.as_str());
        let view = name.and_then(|name| self.views.get(name));
        for call in view.into_iter().flatten() {
            if !self.of_views.contains(call) {
                self.of_views.push(call.clone());
            }
        }
    }
}

impl Visitor for Collector<'_> {
    type Break = Infallible;

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<Infallible> {
        self.read(name);
        ControlFlow::Continue(())
    }

    /// The table that stands among the arguments of a window function.
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        if let Ok(Some(call)) = window_call(factor)
            && let TableFactor::Table { name, .. } = &call.data
        {
            self.read(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        if let Expr::Function(call) = expr {
            let place = self.sql.excerpt(call.name.span());
            self.calls.push(Call { function: call.name.to_string(), place });
        }
        ControlFlow::Continue(())
    }
}
