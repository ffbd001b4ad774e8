//! Where in a statement a word stands: among its tokens, so that no string and no comment is taken for it.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer};
use tidemill_core::Excerpt;

use crate::parse::{FlinkDialect, SqlText};

/// The first place in the statement where the word stands by itself; the statement if there is none.
pub(super) fn word(statement: &Excerpt, word: &str) -> Excerpt {
    let found = tokens(statement).into_iter().find(|token| is_word(token, word));
    found.map_or_else(|| statement.clone(), |token| part(statement, token.span))
}

/// The column that alone is the condition of `WHERE` or `HAVING`; the statement if there is no such or several.
pub(super) fn condition(statement: &Excerpt, column: &str) -> Excerpt {
    only(statement, |tokens, i| {
        let qualified = i >= 2 && tokens[i - 1].token == Token::Period;
        let before = if qualified { i.checked_sub(3) } else { i.checked_sub(1) };
        let opens = before.is_some_and(|before| is_one_of(&tokens[before], &[Keyword::WHERE, Keyword::HAVING]));
        opens && is_word(&tokens[i], column)
    })
}

/// The `WHERE` or `HAVING` of a statement that has one of them; else the statement.
pub(super) fn clause(statement: &Excerpt) -> Excerpt {
    only(statement, |tokens, i| is_one_of(&tokens[i], &[Keyword::WHERE, Keyword::HAVING]))
}

/// The `IN` or `EXISTS` that a subquery follows; the statement if there is no such or several.
pub(super) fn before_subquery(statement: &Excerpt, keyword: Keyword) -> Excerpt {
    only(statement, |tokens, i| is_one_of(&tokens[i], &[keyword]) && opens_subquery(tokens, i + 1))
}

/// The `SELECT` of the subquery that stands for a value; the statement if there is no such or several.
pub(super) fn scalar_subquery(statement: &Excerpt) -> Excerpt {
    const OTHERS: [Keyword; 6] =
        [Keyword::FROM, Keyword::JOIN, Keyword::IN, Keyword::EXISTS, Keyword::AS, Keyword::LATERAL];
    only(statement, |tokens, i| match i.checked_sub(1) {
        Some(open) if opens_subquery(tokens, open) => {
            open.checked_sub(1).is_some_and(|before| !is_one_of(&tokens[before], &OTHERS))
        }
        _ => false,
    })
}

/// The place of the only token that fits; the statement if there is none or several.
fn only(statement: &Excerpt, fits: impl Fn(&[TokenWithSpan], usize) -> bool) -> Excerpt {
    let tokens = tokens(statement);
    let mut fitting = (0..tokens.len()).filter(|&i| fits(&tokens, i));
    match (fitting.next(), fitting.next()) {
        (Some(i), None) => part(statement, tokens[i].span),
        _ => statement.clone(),
    }
}

fn is_word(token: &TokenWithSpan, word: &str) -> bool {
    match &token.token {
        Token::Word(found) => found.value.eq_ignore_ascii_case(word),
        Token::Number(found, _) => found == word,
        _ => false,
    }
}

fn is_one_of(token: &TokenWithSpan, keywords: &[Keyword]) -> bool {
    matches!(&token.token, Token::Word(word) if keywords.contains(&word.keyword))
}

fn opens_subquery(tokens: &[TokenWithSpan], open: usize) -> bool {
    tokens.get(open).is_some_and(|token| token.token == Token::LParen)
        && tokens.get(open + 1).is_some_and(|token| is_one_of(token, &[Keyword::SELECT]))
}

/// The tokens of the statement, without white space and comments.
fn tokens(statement: &Excerpt) -> Vec<TokenWithSpan> {
    let dialect = FlinkDialect::for_tokens(0);
    let mut tokens = Tokenizer::new(&dialect, text(statement)).tokenize_with_location().unwrap_or_default();
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    tokens
}

/// The place of a span that is counted from the beginning of the statement.
fn part(statement: &Excerpt, span: Span) -> Excerpt {
    let within = SqlText::new("", text(statement)).excerpt(span).span;
    let start = statement.span.start;
    Excerpt { span: start + within.start..start + within.end, ..statement.clone() }
}

fn text(statement: &Excerpt) -> &str {
    &statement.text[statement.span.clone()]
}
