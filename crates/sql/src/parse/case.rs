//! `CASE` with several values behind one `WHEN`, which sqlparser does not read.
//!
//! `CASE x WHEN 1, 2 THEN a WHEN 3 THEN b END` asks twice: for the branch, and for its result. So nothing is written
//! twice, and nested forms do not grow.

use datafusion::sql::sqlparser::{
    ast::{CaseWhen, Expr, Value, helpers::attached_token::AttachedToken},
    keywords::Keyword,
    parser::{Parser, ParserError},
};

/// A branch: the values or the condition, and the result.
struct Branch {
    when: Vec<Expr>,
    then: Expr,
}

/// Reads a `CASE` from its first word on.
pub(super) fn case(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let first = parser.expect_keyword(Keyword::CASE)?;
    let operand = if parser.peek_keyword(Keyword::WHEN) { None } else { Some(Box::new(parser.parse_expr()?)) };
    let mut branches = vec![];
    parser.expect_keyword(Keyword::WHEN)?;
    loop {
        let when = match operand {
            Some(_) => parser.parse_comma_separated(Parser::parse_expr)?,
            None => vec![parser.parse_expr()?],
        };
        parser.expect_keyword(Keyword::THEN)?;
        branches.push(Branch { when, then: parser.parse_expr()? });
        if !parser.parse_keyword(Keyword::WHEN) {
            break;
        }
    }
    let otherwise = if parser.parse_keyword(Keyword::ELSE) { Some(parser.parse_expr()?) } else { None };
    let last = parser.expect_keyword(Keyword::END)?;
    let tokens = (AttachedToken(first), AttachedToken(last));
    if branches.iter().all(|branch| branch.when.len() == 1) {
        let conditions = branches.into_iter().flat_map(|Branch { when, then }| {
            when.into_iter().map(move |condition| CaseWhen { condition, result: then.clone() })
        });
        return Ok(plain(tokens, operand, conditions.collect(), otherwise));
    }
    Ok(by_branch(tokens, operand, branches, otherwise))
}

/// The number of the branch is asked for first.
fn by_branch(
    tokens: (AttachedToken, AttachedToken),
    operand: Option<Box<Expr>>,
    branches: Vec<Branch>,
    otherwise: Option<Expr>,
) -> Expr {
    let (mut numbers, mut results) = (vec![], vec![]);
    for (index, Branch { when, then }) in branches.into_iter().enumerate() {
        let number = || Expr::Value(Value::Number(index.to_string(), false).into());
        numbers.extend(when.into_iter().map(|condition| CaseWhen { condition, result: number() }));
        results.push(CaseWhen { condition: number(), result: then });
    }
    let branch = plain((AttachedToken::empty(), AttachedToken::empty()), operand, numbers, None);
    plain(tokens, Some(Box::new(branch)), results, otherwise)
}

fn plain(
    (case_token, end_token): (AttachedToken, AttachedToken),
    operand: Option<Box<Expr>>,
    conditions: Vec<CaseWhen>,
    otherwise: Option<Expr>,
) -> Expr {
    Expr::Case { case_token, end_token, operand, conditions, else_result: otherwise.map(Box::new) }
}
