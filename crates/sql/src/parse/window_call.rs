//! Reads `TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)` and its kin back from the parsed call.

use datafusion::sql::sqlparser::{
    ast::{
        Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArguments, Ident, ObjectName,
        Spanned, TableAlias, TableFactor, TableFunctionArgs,
    },
    tokenizer::Span,
};
use tidemill_core::Result;

use super::{
    dialect::{self, TABLE_ARGUMENT},
    interval::place,
    refusal::Refusal,
};

/// A window table function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowFunction {
    /// Windows that follow each other.
    Tumble,
    /// Windows of one size that begin every slide.
    Hop,
    /// Windows that grow by a step up to a size.
    Cumulate,
    /// Windows that end with a gap in activity.
    Session,
}

impl WindowFunction {
    pub(super) const ALL: [Self; 4] = [Self::Tumble, Self::Hop, Self::Cumulate, Self::Session];

    /// The function of that name, in any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name().eq_ignore_ascii_case(name))
    }

    /// Its name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tumble => "TUMBLE",
            Self::Hop => "HOP",
            Self::Cumulate => "CUMULATE",
            Self::Session => "SESSION",
        }
    }

    /// Flink's names of the parameters, in order.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Tumble => &["DATA", "TIMECOL", "SIZE", "OFFSET"],
            Self::Hop => &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"],
            Self::Cumulate => &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"],
            Self::Session => &["DATA", "TIMECOL", "GAP"],
        }
    }

    /// The parameters that are intervals and can't be left away, in order.
    pub(crate) fn lengths(self) -> &'static [&'static str] {
        let intervals = &self.parameters()[2..];
        intervals.strip_suffix(&["OFFSET"]).unwrap_or(intervals)
    }

    /// A call of the right form, for a hint.
    fn form(self) -> &'static str {
        match self {
            Self::Tumble => "write TUMBLE(TABLE t, DESCRIPTOR(time_column), INTERVAL '10' MINUTE [, offset])",
            Self::Hop => {
                "write HOP(TABLE t, DESCRIPTOR(time_column), INTERVAL '1' MINUTE /* slide */, INTERVAL '10' MINUTE /* size */ [, offset])"
            }
            Self::Cumulate => {
                "write CUMULATE(TABLE t, DESCRIPTOR(time_column), INTERVAL '1' HOUR /* step */, INTERVAL '1' DAY /* size */ [, offset])"
            }
            Self::Session => {
                "write SESSION(TABLE t PARTITION BY key, DESCRIPTOR(time_column), INTERVAL '30' MINUTE /* gap */)"
            }
        }
    }
}

/// A call of a window table function, with its arguments in place.
#[derive(Debug, Clone)]
pub struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// The input: `TableFactor::Table` or `TableFactor::Derived`, without an alias.
    pub data: TableFactor,
    /// `PARTITION BY` of a session's input; empty without one, and for the other functions.
    pub partition_by: Vec<Ident>,
    /// The column in `DESCRIPTOR(...)`.
    pub time_column: Ident,
    /// The other arguments by Flink's name (`SIZE`, `SLIDE`, `STEP`, `GAP`, `OFFSET`), in the order of the
    /// declaration; only `OFFSET` can be missing.
    pub intervals: Vec<(&'static str, Expr)>,
    /// `AS w`, `AS w (a, b)`
    pub alias: Option<TableAlias>,
    /// The place of the function's name.
    pub span: Span,
}

impl WindowCall {
    /// The argument of that name.
    #[must_use]
    pub fn interval(&self, name: &str) -> Option<&Expr> {
        self.intervals.iter().find(|(n, _)| *n == name).map(|(_, expr)| expr)
    }

    /// The call as it stands in `FROM`; [`window_call`] reads it back.
    pub(crate) fn into_factor(self) -> TableFactor {
        let data = match self.data {
            TableFactor::Derived { subquery, .. } if self.partition_by.is_empty() => Expr::Subquery(subquery),
            TableFactor::Derived { subquery, .. } => {
                dialect::table_marker(self.span, Expr::Subquery(subquery), self.partition_by)
            }
            TableFactor::Table { name, .. } => {
                let parts = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
                dialect::table_marker(self.span, dialect::names(parts), self.partition_by)
            }
            _ => unreachable!("the data of a call is a table or a subquery"),
        };
        let time = dialect::call(Ident::new("DESCRIPTOR"), vec![Expr::Identifier(self.time_column)]);
        let unnamed = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
        let intervals = self.intervals.into_iter().map(|(_, interval)| interval);
        let args = [data, time].into_iter().chain(intervals).map(unnamed).collect();
        let name = ObjectName::from(vec![Ident::with_span(self.span, self.function.name())]);
        table_factor(name, Some(TableFunctionArgs { args, settings: None }), self.alias)
    }
}

/// A table or a table function, and nothing after it but its alias.
pub(crate) fn table_factor(
    name: ObjectName,
    args: Option<TableFunctionArgs>,
    alias: Option<TableAlias>,
) -> TableFactor {
    TableFactor::Table {
        name,
        alias,
        args,
        with_hints: vec![],
        version: None,
        with_ordinality: false,
        partitions: vec![],
        json_path: None,
        sample: None,
        index_hints: vec![],
    }
}

/// The call of a window table function that stands in `FROM`, or `None` if it is something else.
///
/// # Errors
/// Arguments of the wrong number, name or kind. [`super::parse`] has refused these with their place already,
/// so that a call in a parsed statement gives none.
pub fn window_call(factor: &TableFactor) -> Result<Option<WindowCall>> {
    resolve(factor).map_err(Into::into)
}

pub(super) fn resolve(factor: &TableFactor) -> Result<Option<WindowCall>, Refusal> {
    let Some((name, args, alias)) = called(factor) else { return Ok(None) };
    let Some(function) = single_name(name).and_then(WindowFunction::named) else { return Ok(None) };
    let span = name.span();
    let mut slots = fill(function, args, span)?.into_iter();
    let missing = || Refusal::new(format!("{} lacks an argument", function.name()), span).hint(function.form());
    let data = slots.next().flatten().ok_or_else(missing)?;
    let time = slots.next().flatten().ok_or_else(missing)?;
    let (data, partition_by) = data_argument(function, data)?;
    let intervals = function.parameters()[2..].iter().zip(slots);
    let intervals = intervals.filter_map(|(name, expr)| expr.map(|expr| (*name, expr.clone()))).collect();
    Ok(Some(WindowCall {
        function,
        data,
        partition_by,
        time_column: time_argument(function, time)?,
        intervals,
        alias: alias.cloned(),
        span,
    }))
}

/// The name and arguments of `f(...)` and of `TABLE(f(...))`.
fn called(factor: &TableFactor) -> Option<(&ObjectName, &[FunctionArg], Option<&TableAlias>)> {
    match factor {
        TableFactor::Table { name, args: Some(TableFunctionArgs { args, settings: None }), alias, .. } => {
            Some((name, args, alias.as_ref()))
        }
        TableFactor::TableFunction { expr: Expr::Function(Function { name, args, .. }), alias } => match args {
            FunctionArguments::List(list) => Some((name, &list.args, alias.as_ref())),
            FunctionArguments::None | FunctionArguments::Subquery(_) => None,
        },
        _ => None,
    }
}

fn single_name(name: &ObjectName) -> Option<&str> {
    match name.0.as_slice() {
        [part] => part.as_ident().map(|ident| ident.value.as_str()),
        _ => None,
    }
}

/// Puts each argument into its parameter's slot, by position or by name.
fn fill(function: WindowFunction, args: &[FunctionArg], span: Span) -> Result<Vec<Option<&Expr>>, Refusal> {
    let (name, parameters) = (function.name(), function.parameters());
    let wrong = |message: String, span: Span| Refusal::new(message, span).hint(function.form());
    if args.len() > parameters.len() {
        return Err(wrong(
            format!("{name} has {} arguments, at most {} are known", args.len(), parameters.len()),
            span,
        ));
    }
    let mut slots = vec![None; parameters.len()];
    let named = args.iter().filter(|arg| !matches!(arg, FunctionArg::Unnamed(_))).count();
    if named != 0 && named != args.len() {
        return Err(wrong(format!("{name} has both named and unnamed arguments"), span));
    }
    for (position, arg) in args.iter().enumerate() {
        let (slot, value, at) = match arg {
            FunctionArg::Unnamed(value) => (Some(position), value, span),
            FunctionArg::Named { name, arg, operator: FunctionArgOperator::RightArrow } => {
                (parameters.iter().position(|p| p.eq_ignore_ascii_case(&name.value)), arg, name.span)
            }
            FunctionArg::Named { name, .. } => return Err(wrong("a name stands before =>".to_owned(), name.span)),
            FunctionArg::ExprNamed { .. } => return Err(wrong("a name stands before =>".to_owned(), span)),
        };
        let Some(slot) = slot else {
            return Err(wrong(format!("{name} has no parameter of this name; it has {}", parameters.join(", ")), at));
        };
        let FunctionArgExpr::Expr(value) = value else {
            return Err(wrong(format!("{name} takes no *"), at));
        };
        if slots[slot].replace(value).is_some() {
            return Err(wrong(format!("the argument {} is given twice", parameters[slot]), at));
        }
    }
    let missing = parameters.iter().zip(&slots).find(|(parameter, slot)| slot.is_none() && **parameter != "OFFSET");
    match missing {
        Some((parameter, _)) => Err(wrong(format!("{name} lacks its argument {parameter}"), span)),
        None => Ok(slots),
    }
}

/// `TABLE t [PARTITION BY ...]` or `(SELECT ...)`.
fn data_argument(function: WindowFunction, expr: &Expr) -> Result<(TableFactor, Vec<Ident>), Refusal> {
    let name = function.name();
    if let Some(subquery) = subquery(expr) {
        return Ok((subquery, vec![]));
    }
    let Some((data, partition_by)) = table_argument(expr) else {
        return Err(Refusal::new(format!("the first argument of {name} is a table, found {expr}"), place(expr))
            .hint(function.form()));
    };
    if let Some(first) = partition_by.first().filter(|_| function != WindowFunction::Session) {
        return Err(Refusal::new(format!("{name} takes no PARTITION BY: only SESSION does"), first.span)
            .hint("remove it; GROUP BY the column instead"));
    }
    Ok((data, partition_by))
}

/// The table or subquery and the columns of `TABLE t PARTITION BY ...`, as the dialect keeps them.
pub(super) fn table_argument(expr: &Expr) -> Option<(TableFactor, Vec<Ident>)> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr else { return None };
    let [part] = name.0.as_slice() else { return None };
    let keyword = part.as_ident().filter(|ident| ident.quote_style.is_none())?;
    if keyword.value != TABLE_ARGUMENT {
        return None;
    }
    let mut args = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    let data = args.next()??;
    let data = match subquery(data) {
        Some(subquery) => subquery,
        None => table_factor(ObjectName::from(identifiers(data)?), None, None),
    };
    Some((data, args.next().map_or(Some(vec![]), |columns| identifiers(columns?))?))
}

fn subquery(expr: &Expr) -> Option<TableFactor> {
    let Expr::Subquery(subquery) = expr else { return None };
    Some(TableFactor::Derived { lateral: false, subquery: subquery.clone(), alias: None, sample: None })
}

fn identifiers(tuple: &Expr) -> Option<Vec<Ident>> {
    let Expr::Tuple(names) = tuple else { return None };
    names.iter().map(identifier).collect()
}

fn identifier(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Identifier(ident) => Some(ident.clone()),
        _ => None,
    }
}

/// The column in `DESCRIPTOR(column)`.
fn time_argument(function: WindowFunction, expr: &Expr) -> Result<Ident, Refusal> {
    let column = match expr {
        Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
            if single_name(name).is_some_and(|n| n.eq_ignore_ascii_case("DESCRIPTOR")) =>
        {
            match list.args.as_slice() {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(column))] => identifier(column),
                _ => None,
            }
        }
        _ => None,
    };
    column.ok_or_else(|| {
        Refusal::new(format!("{} needs DESCRIPTOR(time_column), found {expr}", function.name()), place(expr))
            .hint(function.form())
    })
}
