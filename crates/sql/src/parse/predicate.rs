//! Predicates that sqlparser does not read, as plain calls: `IS JSON` and `BETWEEN SYMMETRIC`.

use datafusion::sql::sqlparser::{
    ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, UnaryOperator},
    dialect::{Dialect, Precedence},
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::Span,
};

use super::dialect::{FlinkDialect, call};
use super::words::{is_next, take_words, text};
use crate::function::{BETWEEN_SYMMETRIC, IS_JSON};

/// Reads a predicate behind its operand, if that is what comes.
pub(super) fn predicate(parser: &mut Parser<'_>, operand: &Expr) -> Option<Result<Expr, ParserError>> {
    let negated = is_next(parser, &["NOT", "BETWEEN"]) || is_next(parser, &["IS", "NOT"]);
    let span = parser.peek_token_ref().span;
    let (is, between): (&[&str], &[&str]) = match negated {
        true => (&["IS", "NOT", "JSON"], &["NOT", "BETWEEN"]),
        false => (&["IS", "JSON"], &["BETWEEN"]),
    };
    let read = if take_words(parser, is) {
        Ok(is_json(parser, operand, span))
    } else if take_words(parser, &[between, &["SYMMETRIC"]].concat()) {
        between_symmetric(parser, operand, span)
    } else if is_next(parser, &[between, &["ASYMMETRIC"]].concat()) {
        // That is what BETWEEN means by itself.
        take_words(parser, between);
        take_words(parser, &["ASYMMETRIC"]);
        return Some(bounds(parser).map(|[low, high]| Expr::Between {
            expr: Box::new(operand.clone()),
            negated,
            low: Box::new(low),
            high: Box::new(high),
        }));
    } else {
        return None;
    };
    Some(read.map(|predicate| match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(predicate) },
        false => predicate,
    }))
}

/// The rest of `IS JSON [VALUE | SCALAR | ARRAY | OBJECT]`.
fn is_json(parser: &mut Parser<'_>, operand: &Expr, span: Span) -> Expr {
    let kinds = ["VALUE", "SCALAR", "ARRAY", "OBJECT"];
    let kind = kinds.into_iter().find(|kind| take_words(parser, &[kind])).unwrap_or("VALUE");
    call(Ident::with_span(span, IS_JSON), vec![operand.clone(), text(kind)])
}

/// The rest of `BETWEEN SYMMETRIC low AND high`.
fn between_symmetric(parser: &mut Parser<'_>, operand: &Expr, span: Span) -> Result<Expr, ParserError> {
    let [low, high] = bounds(parser)?;
    Ok(call(Ident::with_span(span, BETWEEN_SYMMETRIC), vec![operand.clone(), low, high]))
}

/// `low AND high`
fn bounds(parser: &mut Parser<'_>) -> Result<[Expr; 2], ParserError> {
    let between = FlinkDialect::for_tokens(0).prec_value(Precedence::Between);
    let low = parser.parse_subexpr(between)?;
    parser.expect_keyword(Keyword::AND)?;
    Ok([low, parser.parse_subexpr(between)?])
}

/// The operand of such a predicate, if the expression is one: a chain of them is as deep as it is long.
pub(super) fn operand(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr else { return None };
    let name = name.0.first().and_then(|part| part.as_ident()).map(|ident| ident.value.as_str());
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(operand)))
            if matches!(name, Some(IS_JSON | BETWEEN_SYMMETRIC)) =>
        {
            Some(operand)
        }
        _ => None,
    }
}
