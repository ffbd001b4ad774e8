//! The pass over every query: what sqlparser reads and Tidemill does not do is refused by name and
//! place; what it does is brought into the one form that the planner knows.
//!
//! The structs are taken apart field by field, so that a new clause in sqlparser does not compile
//! until somebody has decided about it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::{
    ast::{
        CastKind, DataType, Distinct, Expr, Fetch, Function, FunctionArguments, GroupByExpr, LimitClause, ObjectName,
        ObjectNamePart, Query, Select, SelectFlavor, SetExpr, SetOperator, SetQuantifier, Spanned, TableFactor,
        TableFunctionArgs, TableWithJoins, TimezoneInfo, TypedString, Value, ValueWithSpan, VisitMut, VisitorMut,
    },
    tokenizer::{Location, Span, Token, TokenWithSpan},
};
use tidemill_core::{Error, Result};

use super::{
    access,
    interval::{self, place},
    json_call,
    refusal::Refusal,
    rewrite::rewrite,
    text::SqlText,
    time_call, unnest,
    window_call::{self, WindowFunction},
};
use crate::types;

/// Checks a query or an expression that stands in the given tokens, and normalises it.
pub(super) fn check(sql: &SqlText, tokens: &[TokenWithSpan], node: &mut impl VisitMut) -> Result<()> {
    let mut checker = Checker { sql, tokens, from: Location::empty(), table_arguments: 0 };
    match node.visit(&mut checker) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Checker<'a> {
    sql: &'a SqlText,
    /// The tokens of the statement: nodes without a span are found by their keywords.
    tokens: &'a [TokenWithSpan],
    /// Where the present `SELECT` begins: its keywords come later.
    from: Location,
    /// How many `TABLE t` are yet to come that belong to a window function.
    table_arguments: usize,
}

type Flow = ControlFlow<Error>;

impl Checker<'_> {
    /// The place of these words, from the present `SELECT` on.
    fn words(&self, words: &str) -> Span {
        let words: Vec<&str> = words.split(' ').collect();
        let matches = |window: &&[TokenWithSpan]| {
            window[0].span.start >= self.from && window.iter().zip(&words).all(|(t, w)| is_word(&t.token, w))
        };
        let found = self.tokens.windows(words.len()).find(matches);
        let head = self.tokens.first().map_or(Span::empty(), |t| t.span);
        found.map_or(head, |window| Span::new(window[0].span.start, window[words.len() - 1].span.end))
    }

    /// The place of the refusal, or if that is not known, of the present `SELECT`.
    fn refuse(&self, refusal: Refusal) -> Flow {
        ControlFlow::Break(refusal.at(self.sql).at(self.sql.excerpt(self.words("SELECT"))))
    }

    /// `FETCH FIRST n ROWS ONLY` is `LIMIT n`.
    fn fetch_as_limit(&self, fetch: Fetch, limit_clause: &mut Option<LimitClause>) -> Flow {
        let form = "write FETCH FIRST n ROWS ONLY";
        let Fetch { with_ties, percent, quantity } = fetch;
        self.absent(!with_ties, "WITH TIES", form)?;
        self.absent(!percent, "PERCENT", form)?;
        let fetched = match quantity {
            Some(fetched) => fetched,
            None => return self.not_flink("FETCH without a number", self.words("FETCH"), form),
        };
        match limit_clause {
            None => {
                *limit_clause = Some(LimitClause::LimitOffset { limit: Some(fetched), offset: None, limit_by: vec![] })
            }
            Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(fetched),
            Some(_) => return self.not_flink("LIMIT and FETCH together", self.words("FETCH"), "remove one of them"),
        }
        ControlFlow::Continue(())
    }

    /// `LIMIT`, `FETCH` and `OFFSET` take a number as it stands there, as in Flink.
    fn check_count(&self, what: &str, count: Option<&Expr>) -> Flow {
        let number =
            |value: &ValueWithSpan| matches!(&value.value, Value::Number(text, _) if text.parse::<i64>().is_ok());
        match count {
            None => ControlFlow::Continue(()),
            Some(Expr::Value(value)) if number(value) => ControlFlow::Continue(()),
            Some(other) => self.refuse(
                Refusal::new(format!("{what} is '{other}', which is no whole number from 0 on"), place(other))
                    .hint("write LIMIT 10, OFFSET 10 or FETCH FIRST 10 ROWS ONLY"),
            ),
        }
    }

    fn not_yet(&self, what: &str, span: Span) -> Flow {
        self.refuse(Refusal::new(format!("{what} is not supported yet"), span))
    }

    fn not_flink(&self, what: &str, span: Span, instead: &str) -> Flow {
        self.refuse(Refusal::new(format!("{what} is not Flink SQL"), span).hint(instead))
    }

    /// Refuses a clause of another dialect where it is present; it is found by its own words.
    fn absent(&self, absent: bool, words: &str, instead: &str) -> Flow {
        if absent { ControlFlow::Continue(()) } else { self.not_flink(words, self.words(words), instead) }
    }
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

impl VisitorMut for Checker<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        let Query {
            with,
            body,
            order_by: _,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let recursive = with.as_ref().is_some_and(|with| with.recursive);
        self.absent(!recursive, "WITH RECURSIVE", "write the steps out")?;
        if let Some(fetch) = fetch.take() {
            self.fetch_as_limit(fetch, limit_clause)?;
        }
        self.absent(locks.is_empty() && for_clause.is_none(), "FOR", "remove the clause")?;
        self.absent(settings.is_none(), "SETTINGS", "write SET 'key' = 'value' before the query")?;
        self.absent(format_clause.is_none(), "FORMAT", "the format is an option of the sink table")?;
        self.absent(pipe_operators.is_empty(), "the operator |>", "write a subquery")?;
        match limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                self.absent(limit_by.is_empty(), "BY", "number the rows with ROW_NUMBER() and filter on it")?;
                self.check_count("the number of rows to give", limit.as_ref())?;
                self.check_count("OFFSET", offset.as_ref().map(|offset| &offset.value))?;
            }
            Some(LimitClause::OffsetCommaLimit { .. }) => {
                return self.not_flink("LIMIT offset, count", self.words("LIMIT"), "write LIMIT count OFFSET offset");
            }
            None => {}
        }
        self.check_body(body)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        self.from = select.select_token.0.span.start;
        if let Err(refusal) = unnest::fold(&mut select.from) {
            return self.refuse(refusal);
        }
        self.check_select(select)
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        unwrap_table_function(factor);
        match window_call::resolve(factor) {
            Err(refusal) => self.refuse(refusal),
            Ok(Some(call)) => {
                self.table_arguments += usize::from(matches!(call.data, TableFactor::Table { .. }));
                ControlFlow::Continue(())
            }
            Ok(None) => self.check_factor(factor),
        }
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if let Err(refusal) = time_call::rewrite(expr).and_then(|()| access::rewrite(expr)) {
            return self.refuse(refusal);
        }
        rewrite(expr);
        match expr {
            Expr::Function(_) if window_call::table_argument(expr).is_some() => self.check_table_argument(expr),
            Expr::Function(function) => self.check_function(function),
            Expr::Interval(interval) => match interval::simplify(interval) {
                Ok(()) => ControlFlow::Continue(()),
                Err(refusal) => self.refuse(refusal),
            },
            Expr::TypedString(literal) => {
                set_precision(literal);
                self.check_type(&literal.data_type, literal.value.span)
            }
            Expr::Cast { kind, data_type, expr, array, format } => match kind {
                CastKind::Cast | CastKind::TryCast if !*array && format.is_none() => {
                    let span = place(expr);
                    self.check_type(data_type, span)
                }
                _ => self.not_flink("this form of a cast", place(expr), "write CAST(value AS type)"),
            },
            other => match foreign(other) {
                Some((what, instead)) => self.not_flink(what, place(other), instead),
                None => ControlFlow::Continue(()),
            },
        }
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> Flow {
        match &value.value {
            Value::Placeholder(_) => self.not_flink("a placeholder", value.span, "write the value"),
            Value::Number(..)
            | Value::SingleQuotedString(_)
            | Value::UnicodeStringLiteral(_)
            | Value::HexStringLiteral(_)
            | Value::Boolean(_)
            | Value::Null => ControlFlow::Continue(()),
            _ => self.not_flink("this form of a string", value.span, "write it in single quotes"),
        }
    }
}

impl Checker<'_> {
    fn check_body(&self, body: &SetExpr) -> Flow {
        match body {
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => ControlFlow::Continue(()),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.absent(*op != SetOperator::Minus, "MINUS", "write EXCEPT")?;
                let by_name = matches!(
                    set_quantifier,
                    SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
                );
                self.absent(!by_name, "BY NAME", "list the columns in the same order")?;
                // As DataFusion has them, a row on the other side counts for all that are like it.
                match (op, set_quantifier) {
                    (SetOperator::Except, SetQuantifier::All) => {
                        self.not_yet("EXCEPT ALL", self.words("EXCEPT ALL"))?;
                    }
                    (SetOperator::Intersect, SetQuantifier::All) => {
                        self.not_yet("INTERSECT ALL", self.words("INTERSECT ALL"))?;
                    }
                    _ => {}
                }
                self.check_body(left)?;
                self.check_body(right)
            }
            SetExpr::Table(_) => self.not_flink("TABLE t as a query", self.words("TABLE"), "write SELECT * FROM t"),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                let head = self.tokens.first().map_or(Span::empty(), |t| t.span);
                self.not_flink(
                    "WITH before INSERT, UPDATE, DELETE or MERGE",
                    head,
                    "write INSERT INTO t WITH ... SELECT ...",
                )
            }
        }
    }

    fn check_select(&self, select: &Select) -> Flow {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        let standard = *flavor == SelectFlavor::Standard && !projection.is_empty();
        self.absent(standard, "FROM", "write SELECT columns FROM table")?;
        self.absent(optimizer_hints.is_empty(), "a hint", "remove it")?;
        self.absent(!matches!(distinct, Some(Distinct::On(_))), "DISTINCT ON", "number the rows with ROW_NUMBER()")?;
        self.absent(select_modifiers.is_none(), "SELECT", "remove the modifier")?;
        self.absent(top.is_none(), "TOP", "write LIMIT n")?;
        self.absent(exclude.is_none(), "EXCLUDE", "list the columns")?;
        self.absent(into.is_none(), "INTO", "write INSERT INTO target SELECT ...")?;
        self.absent(lateral_views.is_empty(), "LATERAL VIEW", "remove it")?;
        self.absent(prewhere.is_none(), "PREWHERE", "write WHERE")?;
        self.absent(connect_by.is_empty(), "CONNECT BY", "remove it")?;
        self.absent(cluster_by.is_empty(), "CLUSTER BY", "remove it")?;
        self.absent(distribute_by.is_empty(), "DISTRIBUTE BY", "remove it")?;
        self.absent(sort_by.is_empty(), "SORT BY", "write ORDER BY")?;
        self.absent(qualify.is_none(), "QUALIFY", "filter on the column in an outer query")?;
        self.absent(value_table_mode.is_none(), "SELECT AS", "remove AS")?;
        match group_by {
            GroupByExpr::Expressions(_, modifiers) => {
                self.absent(modifiers.is_empty(), "WITH", "write GROUP BY ROLLUP (...)")?;
            }
            GroupByExpr::All(_) => return self.not_flink("GROUP BY ALL", self.words("GROUP BY"), "list the columns"),
        }
        if !named_window.is_empty() {
            self.not_yet("WINDOW", self.words("WINDOW"))?;
        }
        self.check_from(from)
    }

    fn check_from(&self, from: &[TableWithJoins]) -> Flow {
        if let [_, second, ..] = from {
            if let TableFactor::Function { .. } | TableFactor::Derived { lateral: true, .. } = second.relation {
                return self.not_yet("LATERAL", self.words("LATERAL"));
            }
            let named = second.relation.span();
            let span = if named == Span::empty() { self.words("FROM") } else { named };
            return self.not_yet("a join of several tables in FROM", span);
        }
        match from.first() {
            Some(table) if !table.joins.is_empty() => self.not_yet("JOIN", self.words("JOIN")),
            _ => ControlFlow::Continue(()),
        }
    }

    fn check_factor(&self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table {
                name,
                alias: _,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                match unnest::is_unnest(factor) {
                    Ok(false) => {}
                    Ok(true) => return ControlFlow::Continue(()),
                    Err(refusal) => return self.refuse(refusal),
                }
                if args.is_some() {
                    let message = format!("the table function {name} is not supported yet");
                    let known = WindowFunction::ALL.map(WindowFunction::name).join(", ");
                    return self.refuse(Refusal::new(message, name.span()).hint(format!("supported are {known}")));
                }
                if version.is_some() {
                    return self.not_yet("FOR SYSTEM_TIME AS OF", self.words("FOR SYSTEM_TIME"));
                }
                if sample.is_some() {
                    return self.not_yet("TABLESAMPLE", self.words("TABLESAMPLE"));
                }
                let plain = with_hints.is_empty()
                    && !with_ordinality
                    && partitions.is_empty()
                    && json_path.is_none()
                    && index_hints.is_empty();
                self.absent(plain, "WITH", "remove the clause after the table")
            }
            TableFactor::Derived { lateral, subquery: _, alias: _, sample } => {
                if *lateral {
                    return self.not_yet("LATERAL", self.words("LATERAL"));
                }
                match sample {
                    Some(_) => self.not_yet("TABLESAMPLE", self.words("TABLESAMPLE")),
                    None => ControlFlow::Continue(()),
                }
            }
            TableFactor::Function { .. } => self.not_yet("LATERAL", self.words("LATERAL")),
            TableFactor::NestedJoin { .. } if unnest::unnests(factor).is_some() => ControlFlow::Continue(()),
            TableFactor::NestedJoin { .. } => self.not_yet("JOIN", self.words("JOIN")),
            TableFactor::MatchRecognize { .. } => self.not_yet("MATCH_RECOGNIZE", self.words("MATCH_RECOGNIZE")),
            TableFactor::TableFunction { .. } => {
                self.not_flink("this argument of TABLE(...)", self.words("TABLE"), "write TABLE(TUMBLE(...))")
            }
            _ => self.not_flink("this kind of table", self.words("FROM"), "write a table, a view or a subquery"),
        }
    }

    fn check_table_argument(&mut self, expr: &Expr) -> Flow {
        match self.table_arguments.checked_sub(1) {
            Some(left) => {
                self.table_arguments = left;
                ControlFlow::Continue(())
            }
            None => {
                let refusal = Refusal::new("TABLE stands only before the input of a window function", place(expr));
                self.refuse(
                    refusal.hint("write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(time_column), INTERVAL '10' MINUTE))"),
                )
            }
        }
    }

    fn check_function(&self, function: &mut Function) -> Flow {
        lower_case(&mut function.name);
        if let Err(refusal) = json_call::check(function) {
            return self.refuse(refusal);
        }
        let span = function.name.span();
        let name = function.name.to_string();
        if function.over.is_some() && name != "row_number" {
            let message = format!("{} OVER (...) is not supported yet", name.to_uppercase());
            return self.refuse(Refusal::new(message, span).hint("ROW_NUMBER() OVER (...) is, to find the first rows"));
        }
        let plain = !function.uses_odbc_syntax && matches!(function.parameters, FunctionArguments::None);
        if plain {
            ControlFlow::Continue(())
        } else {
            self.not_flink("this form of a call", span, "write name(arguments)")
        }
    }

    fn check_type(&self, data_type: &DataType, span: Span) -> Flow {
        match types::arrow_type(data_type) {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => {
                let span = if span == Span::empty() { self.words("CAST") } else { span };
                ControlFlow::Break(error.at(self.sql.excerpt(span)))
            }
        }
    }
}

/// `TABLE(f(...))` and `f(...)` mean the same: the planner sees the second.
fn unwrap_table_function(factor: &mut TableFactor) {
    let TableFactor::TableFunction { expr: Expr::Function(function), alias } = factor else { return };
    let FunctionArguments::List(list) = &mut function.args else { return };
    let args = TableFunctionArgs { args: std::mem::take(&mut list.args), settings: None };
    let name = std::mem::replace(&mut function.name, ObjectName(vec![]));
    *factor = window_call::table_factor(name, Some(args), alias.take());
}

/// Function names mean the same in any case; DataFusion knows them in lower case.
fn lower_case(name: &mut ObjectName) {
    for part in &mut name.0 {
        if let ObjectNamePart::Identifier(ident) = part {
            ident.value = ident.value.to_lowercase();
            ident.quote_style = None;
        }
    }
}

/// A `TIMESTAMP` or `TIME` literal has the precision that it is written with: the default of six
/// digits would cast a column of milliseconds that it is compared with.
fn set_precision(literal: &mut TypedString) {
    let Value::SingleQuotedString(text) = &literal.value.value else { return };
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end().len() as u64);
    if let DataType::Timestamp(precision @ None, TimezoneInfo::None) = &mut literal.data_type {
        *precision = Some(digits.min(9));
    }
}

/// Expressions of other dialects, and what Flink SQL says instead.
fn foreign(expr: &Expr) -> Option<(&'static str, &'static str)> {
    Some(match expr {
        Expr::ILike { .. } => ("ILIKE", "write LOWER(a) LIKE b"),
        Expr::RLike { .. } => ("RLIKE", "write REGEXP(a, b)"),
        Expr::JsonAccess { .. } => ("this access to JSON", "write JSON_VALUE(column, '$.path')"),
        Expr::AtTimeZone { .. } => ("AT TIME ZONE", "SET 'table.local-time-zone', and CAST to TIMESTAMP"),
        Expr::Convert { .. } => ("CONVERT", "write CAST(value AS type)"),
        Expr::Collate { .. } => ("COLLATE", "remove it"),
        Expr::Struct { .. } => ("STRUCT", "write ROW(a, b)"),
        Expr::Dictionary(_) | Expr::Map(_) => ("{...}", "write MAP['key', value]"),
        Expr::Lambda(_) => ("a lambda", "use a function"),
        Expr::MatchAgainst { .. } => ("MATCH ... AGAINST", "write LIKE"),
        Expr::Prefixed { .. } => ("a prefix before a string", "write the string alone"),
        Expr::Named { .. } => ("AS within an expression", "write ROW(a, b)"),
        Expr::InUnnest { .. } => ("IN UNNEST", "write ARRAY_CONTAINS(array, element)"),
        Expr::IsNormalized { .. } => ("IS NORMALIZED", "remove it"),
        Expr::Prior(_) => ("PRIOR", "remove it"),
        Expr::OuterJoin(_) => ("(+)", "remove it"),
        _ => return None,
    })
}
