//! Chains of `AND`, `OR` and `||`: a tree that is as deep as the chain is long would be visited by recursion, and at each
//! level the types below it would be asked for. What may be put in any brackets is read into a tree that is flat.

use datafusion::sql::sqlparser::{
    ast::{BinaryOperator, Expr},
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::Token,
};

/// Up to so many operands the tree is as it was written.
const AS_WRITTEN: usize = 16;

/// Reads the rest of a chain behind its first operand, if an operator of one comes.
pub(super) fn chain(parser: &mut Parser<'_>, first: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
    let operator = next(parser)?;
    Some(operands(parser, first.clone(), &operator, precedence).map(|operands| tree(operands, &operator)))
}

fn next(parser: &Parser<'_>) -> Option<BinaryOperator> {
    match &parser.peek_token_ref().token {
        Token::StringConcat => Some(BinaryOperator::StringConcat),
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            Keyword::AND => Some(BinaryOperator::And),
            Keyword::OR => Some(BinaryOperator::Or),
            _ => None,
        },
        _ => None,
    }
}

fn operands(
    parser: &mut Parser<'_>,
    first: Expr,
    operator: &BinaryOperator,
    precedence: u8,
) -> Result<Vec<Expr>, ParserError> {
    let mut operands = vec![first];
    while next(parser).as_ref() == Some(operator) {
        parser.next_token();
        operands.push(parser.parse_subexpr(precedence)?);
    }
    Ok(operands)
}

/// The operands in their order, with one operator between them.
fn tree(mut operands: Vec<Expr>, operator: &BinaryOperator) -> Expr {
    let joined =
        |left: Expr, right: Expr| Expr::BinaryOp { left: Box::new(left), op: operator.clone(), right: Box::new(right) };
    if operands.len() <= AS_WRITTEN {
        let whole = operands.into_iter().reduce(joined);
        return whole.expect("a chain has a first operand");
    }
    let behind = operands.split_off(operands.len() / 2);
    joined(tree(operands, operator), tree(behind, operator))
}
