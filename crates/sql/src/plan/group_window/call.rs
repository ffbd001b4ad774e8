//! Reads `TUMBLE(ts, INTERVAL '1' MINUTE)` and its auxiliary functions where an expression stands.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, Spanned,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use tidemill_core::{Error, Result};

use super::super::Bound;
use crate::parse::{SqlText, WindowFunction, interval_ms, place};

/// What a function says of the grouped window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// `TUMBLE(...)`: the window itself.
    Window,
    /// `TUMBLE_START(...)`, `TUMBLE_END(...)`, `TUMBLE_ROWTIME(...)`
    Bound(Bound),
    /// `TUMBLE_PROCTIME(...)`
    ProcessingTime,
}

const ROLES: [(&str, Role); 5] = [
    ("", Role::Window),
    ("_start", Role::Bound(Bound::Start)),
    ("_end", Role::Bound(Bound::End)),
    ("_rowtime", Role::Bound(Bound::Time)),
    ("_proctime", Role::ProcessingTime),
];

/// A call of one of these functions; its arguments may still be anything.
#[derive(Clone, Copy)]
pub(super) struct GroupCall<'a> {
    pub(super) role: Role,
    function: WindowFunction,
    call: &'a Function,
}

/// The window that a call describes.
pub(super) struct GroupWindow {
    pub(super) function: WindowFunction,
    pub(super) time_column: Ident,
    /// By the table function's names of them, in its order.
    pub(super) intervals: Vec<(&'static str, Expr)>,
    /// The intervals in milliseconds.
    lengths_ms: Vec<i64>,
    /// The place of the function's name.
    pub(super) span: Span,
}

impl GroupWindow {
    /// Whether it is the same window, however its arguments are written.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.function == other.function
            && self.time_column.value == other.time_column.value
            && self.lengths_ms == other.lengths_ms
    }
}

impl<'a> GroupCall<'a> {
    /// The call that the expression is; a checked query has function names in lower case.
    pub(super) fn of(expr: &'a Expr) -> Option<Self> {
        let Expr::Function(call) = expr else { return None };
        let [part] = call.name.0.as_slice() else { return None };
        let name = &part.as_ident()?.value;
        ROLES.into_iter().find_map(|(suffix, role)| {
            let function = WindowFunction::named(name.strip_suffix(suffix)?)?;
            Some(Self { role, function, call })
        })
    }

    /// The function's name, as messages show it.
    pub(super) fn name(&self) -> String {
        self.call.name.to_string().to_uppercase()
    }

    /// The place of the function's name.
    pub(super) fn span(&self) -> Span {
        self.call.name.span()
    }

    /// The window, over the table of that name.
    pub(super) fn read(&self, sql: &SqlText, table: Option<&Ident>) -> Result<GroupWindow> {
        if self.function == WindowFunction::Cumulate {
            return Err(self.no_cumulate(sql));
        }
        let name = self.name();
        let form = format!("write {}", form(&name, self.function));
        let wrong = |message: String, span: Span| sql.error_at(span, message).hint(&form);
        let args = plain_arguments(self.call)
            .ok_or_else(|| wrong(format!("{name} takes its arguments and nothing else"), self.span()))?;
        let parameters = self.function.lengths();
        let [time, intervals @ ..] = args.as_slice() else {
            return Err(wrong(format!("{name} lacks its arguments"), self.span()));
        };
        if intervals.len() != parameters.len() {
            let (found, needed) = (args.len(), parameters.len() + 1);
            return Err(wrong(format!("{name} has {needed} arguments, found {found}"), self.span()));
        }
        let time_column = time_column(time, table).ok_or_else(|| {
            let span = if place(time) == Span::empty() { self.span() } else { place(time) };
            wrong(format!("the first argument of {name} is a column with event time or PROCTIME(), found {time}"), span)
        })?;
        Ok(GroupWindow {
            function: self.function,
            time_column,
            lengths_ms: intervals.iter().map(|interval| interval_ms(interval, sql)).collect::<Result<_>>()?,
            intervals: parameters.iter().copied().zip(intervals.iter().map(|&interval| interval.clone())).collect(),
            span: self.span(),
        })
    }

    /// The error for a function of another window than the one in `GROUP BY`.
    pub(super) fn mismatch(&self, window: &GroupWindow, sql: &SqlText) -> Error {
        let suffix = ROLES.iter().find(|(_, role)| *role == self.role).map_or("", |(suffix, _)| suffix);
        let intervals = window.intervals.iter().map(|(_, interval)| format!(", {interval}")).collect::<String>();
        let right =
            format!("{}{}({}{intervals})", window.function.name(), suffix.to_uppercase(), window.time_column.value);
        sql.error_at(self.span(), format!("{} is of another window than the one in GROUP BY", self.name()))
            .hint(format!("write {right}"))
    }

    /// The error for a function that means nothing where it stands.
    pub(super) fn misplaced(&self, sql: &SqlText) -> Error {
        let (name, window) = (self.name(), self.function.name());
        let form = form(window, self.function);
        match self.role {
            _ if self.function == WindowFunction::Cumulate => self.no_cumulate(sql),
            Role::Window => sql
                .error_at(self.span(), format!("{window} is a key of GROUP BY, or stands in FROM"))
                .hint(format!("GROUP BY {form}, and select {window}_START or {window}_END of the same arguments")),
            Role::Bound(_) => sql
                .error_at(
                    self.span(),
                    format!("{name} stands in SELECT, HAVING and ORDER BY of a query that is grouped by {window}"),
                )
                .hint(format!("add GROUP BY {form} with the same arguments")),
            Role::ProcessingTime => sql
                .error_at(self.span(), format!("{name} is not supported"))
                .hint(format!("PROCTIME() is the present time; {window}_ROWTIME is the last moment of the window")),
        }
    }

    fn no_cumulate(&self, sql: &SqlText) -> Error {
        sql.error_at(self.span(), format!("{} is not Flink SQL outside of FROM", self.name()))
            .hint("write FROM TABLE(CUMULATE(TABLE t, ...)) and GROUP BY window_start, window_end")
    }
}

fn form(name: &str, function: WindowFunction) -> String {
    let intervals = match function {
        WindowFunction::Hop => "INTERVAL '1' MINUTE /* slide */, INTERVAL '10' MINUTE /* size */",
        WindowFunction::Session => "INTERVAL '30' MINUTE /* gap */",
        WindowFunction::Tumble | WindowFunction::Cumulate => "INTERVAL '10' MINUTE",
    };
    format!("{name}(time_column, {intervals})")
}

/// The arguments of a call that has no names, no `DISTINCT`, no `FILTER` and no `OVER`.
fn plain_arguments(call: &Function) -> Option<Vec<&Expr>> {
    let bare =
        call.filter.is_none() && call.null_treatment.is_none() && call.over.is_none() && call.within_group.is_empty();
    let FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses }) = &call.args else {
        return None;
    };
    let argument = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    if bare && clauses.is_empty() { args.iter().map(argument).collect() } else { None }
}

/// The column that holds `PROCTIME()` where a window names that and no column.
pub(super) const PROCESSING_TIME: &str = "__tidemill_proctime";

fn time_column(expr: &Expr, table: Option<&Ident>) -> Option<Ident> {
    match expr {
        Expr::Function(call) if call.name.to_string() == "proctime" => {
            plain_arguments(call).filter(Vec::is_empty)?;
            Some(Ident::with_span(call.name.span(), PROCESSING_TIME))
        }
        other => column(other, table).cloned(),
    }
}

/// The column that an expression is: `c`, or `t.c` of the table of that name.
pub(super) fn column<'e>(expr: &'e Expr, table: Option<&Ident>) -> Option<&'e Ident> {
    match expr {
        Expr::Identifier(column) => Some(column),
        Expr::Nested(inner) => column(inner, table),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [qualifier, column] if table.is_some_and(|table| table.value == qualifier.value) => Some(column),
            _ => None,
        },
        _ => None,
    }
}
