//! What sqlparser must know of Flink SQL, and the limits that keep a hostile text harmless.

use std::cell::Cell;

use datafusion::sql::sqlparser::{
    ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName},
    dialect::Dialect,
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::{Span, Token},
};

use super::{case, chain, json_call, predicate};
use crate::function::MAP;

/// The most operators in one chain (`a + b + c`), but for those of [`chain`]: its tree is as deep as the chain is long, and is
/// visited, copied and dropped by recursion.
pub(super) const MAX_OPERATORS: usize = 250;

/// How often an expression may be started for each token, before backtracking is given up.
const MAX_STARTS_PER_TOKEN: usize = 200;

/// Names that the parser gives to `TABLE t PARTITION BY k`, which sqlparser has no node for.
///
/// It is a call of the unquoted function `TABLE` (which nobody can write: it is a reserved word)
/// over the tuple of the table's name parts and, if there is a `PARTITION BY`, the tuple of its columns.
/// Rewritten queries put a subquery where the table's name stands.
pub(super) const TABLE_ARGUMENT: &str = "TABLE";

/// Flink's dialect of SQL: identifiers in backticks, strings in single quotes, `TABLE t` as an argument.
#[derive(Debug)]
pub struct FlinkDialect {
    /// How many more expressions may be started; sqlparser tries and backs off, at worst exponentially.
    starts_left: Cell<usize>,
    chain_too_long: Cell<bool>,
}

impl FlinkDialect {
    /// A dialect whose limits fit a text of so many tokens.
    pub(crate) fn for_tokens(tokens: usize) -> Self {
        let starts = (tokens + 10).saturating_mul(MAX_STARTS_PER_TOKEN);
        Self { starts_left: Cell::new(starts), chain_too_long: Cell::new(false) }
    }

    /// Whether reading stopped at a chain of too many operators.
    pub(super) fn chain_too_long(&self) -> bool {
        self.chain_too_long.get()
    }

    /// Counts one start of an expression.
    fn spend(&self) -> Result<(), ParserError> {
        let left = self.starts_left.get().checked_sub(1).ok_or(ParserError::RecursionLimitExceeded)?;
        self.starts_left.set(left);
        Ok(())
    }
}

/// How many operators follow each other down the left side of a tree.
fn chain_length(mut expr: &Expr) -> usize {
    let mut length = 0;
    while length < MAX_OPERATORS {
        expr = match expr {
            Expr::BinaryOp { left, .. } => left,
            Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::IsDistinctFrom(inner, _)
            | Expr::IsNotDistinctFrom(inner, _) => inner,
            Expr::IsNormalized { expr, .. }
            | Expr::InList { expr, .. }
            | Expr::InSubquery { expr, .. }
            | Expr::InUnnest { expr, .. }
            | Expr::Between { expr, .. }
            | Expr::Like { expr, .. }
            | Expr::ILike { expr, .. }
            | Expr::SimilarTo { expr, .. }
            | Expr::RLike { expr, .. }
            | Expr::UnaryOp { expr, .. }
            | Expr::Cast { expr, .. }
            | Expr::Collate { expr, .. } => expr,
            Expr::AnyOp { left, .. } | Expr::AllOp { left, .. } => left,
            Expr::AtTimeZone { timestamp, .. } => timestamp,
            Expr::JsonAccess { value, .. } => value,
            other => match predicate::operand(other) {
                Some(operand) => operand,
                None => break,
            },
        };
        length += 1;
    }
    length
}

impl Dialect for FlinkDialect {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_struct_literal(&self) -> bool {
        true // ROW<...>, whose token is rewritten to STRUCT
    }

    fn supports_map_literal_with_angle_brackets(&self) -> bool {
        true // MAP<K, V>
    }

    fn supports_table_versioning(&self) -> bool {
        true // FOR SYSTEM_TIME AS OF: parsed, so that it can be refused by name
    }

    fn supports_match_recognize(&self) -> bool {
        true // as above
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        true
    }

    /// These words begin an expression of their own form. To try them as a plain identifier too
    /// would double the work at each level of nesting, and hide the place of the mistake.
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        matches!(
            keyword,
            Keyword::CASE
                | Keyword::CAST
                | Keyword::TRY_CAST
                | Keyword::CEIL
                | Keyword::EXISTS
                | Keyword::EXTRACT
                | Keyword::FLOOR
                | Keyword::INTERVAL
                | Keyword::NOT
                | Keyword::OVERLAY
                | Keyword::POSITION
                | Keyword::STRUCT
                | Keyword::SUBSTRING
                | Keyword::TRIM
        )
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        if let Err(e) = self.spend() {
            return Some(Err(e));
        }
        let [first, second] = parser.peek_tokens_ref();
        match (&first.token, &second.token) {
            (Token::Word(word), Token::Word(_) | Token::SingleQuotedString(_)) if word.keyword == Keyword::TABLE => {
                Some(table_argument(parser))
            }
            (Token::Word(word), _) if word.keyword == Keyword::CASE && word.quote_style.is_none() => {
                Some(case::case(parser))
            }
            (Token::Word(word), Token::LParen) => json_call::reader(&word.value).map(|read| read(parser)),
            (Token::Word(word), Token::LBracket) if word.keyword == Keyword::MAP && word.quote_style.is_none() => {
                Some(map(parser))
            }
            _ => None,
        }
    }

    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        let too_long = chain_length(expr) >= MAX_OPERATORS;
        self.chain_too_long.set(too_long);
        if too_long {
            return Some(Err(ParserError::RecursionLimitExceeded));
        }
        predicate::predicate(parser, expr).or_else(|| chain::chain(parser, expr, precedence))
    }
}

/// Reads `TABLE name [PARTITION BY column | PARTITION BY (column, ...)]`.
fn table_argument(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let keyword = parser.expect_keyword(Keyword::TABLE)?;
    let name = parser.parse_object_name(true)?;
    let name = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
    let partition_by = if !parser.parse_keywords(&[Keyword::PARTITION, Keyword::BY]) {
        vec![]
    } else if parser.peek_token_ref().token == Token::LParen {
        parser.parse_parenthesized(|p| p.parse_comma_separated(Parser::parse_identifier))?
    } else {
        vec![parser.parse_identifier()?]
    };
    Ok(table_marker(keyword.span, names(name), partition_by))
}

/// Reads `MAP[key, value, ...]`.
fn map(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let keyword = parser.expect_keyword(Keyword::MAP)?;
    parser.expect_token(&Token::LBracket)?;
    let entries = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RBracket)?;
    Ok(call(Ident::with_span(keyword.span, MAP), entries))
}

/// The call that stands for `TABLE data PARTITION BY ...`; the data are names, or a subquery.
pub(super) fn table_marker(span: Span, data: Expr, partition_by: Vec<Ident>) -> Expr {
    let mut args = vec![data];
    if !partition_by.is_empty() {
        args.push(names(partition_by));
    }
    call(Ident::with_span(span, TABLE_ARGUMENT), args)
}

/// A plain call of a function.
pub(crate) fn call(name: Ident, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    let list = FunctionArgumentList { duplicate_treatment: None, args, clauses: vec![] };
    Expr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// The tuple of these names.
pub(super) fn names(idents: Vec<Ident>) -> Expr {
    Expr::Tuple(idents.into_iter().map(Expr::Identifier).collect())
}
