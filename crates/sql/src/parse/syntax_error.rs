//! From sqlparser's words to an error that says where, what and what to do.

use datafusion::sql::sqlparser::{
    parser::ParserError,
    tokenizer::{Location, Span, Token, TokenWithSpan},
};
use tidemill_core::Error;

use super::text::SqlText;

/// Parts of Flink SQL that come later, by the word that betrays them.
const NOT_YET: [&str; 5] = ["JOIN", "LATERAL", "MATCH_RECOGNIZE", "TABLESAMPLE", "UNNEST"];

/// Words of other dialects.
const NOT_FLINK: [&str; 7] = ["QUALIFY", "PREWHERE", "CONNECT", "PIVOT", "UNPIVOT", "ILIKE", "RLIKE"];

/// The error of sqlparser with its place among the tokens of the text.
pub(super) fn convert(sql: &SqlText, tokens: &[TokenWithSpan], next: Span, error: ParserError) -> Error {
    let text = match error {
        ParserError::ParserError(text) | ParserError::TokenizerError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return sql.error_at(next, "this is nested too deeply").hint("give the inner parts names with CREATE VIEW");
        }
    };
    let (text, at) = split_location(&text);
    let found = at.and_then(|at| tokens.iter().find(|t| t.span.start == at));
    let expectation = text.strip_prefix("Expected: ").or_else(|| text.strip_prefix("Expected "));
    match expectation.and_then(|rest| rest.split_once(", found: ")) {
        // sqlparser gives some messages the place after the token, or none: it is the last of its text that was read.
        Some((expected, name)) if name != "EOF" && found.is_none_or(|t| t.token.to_string() != name) => {
            let read = tokens.iter().take_while(|t| next == Span::empty() || t.span.start <= next.start);
            let named = read.filter(|t| t.token.to_string() == name).last();
            unexpected(sql, tokens, &soften(expected), named.or(found))
        }
        Some((expected, _)) => unexpected(sql, tokens, &soften(expected), found),
        None => sql.error_at(found.map_or(next, |t| t.span), soften(text)),
    }
}

/// An error for a token that stands where something else must; `None` is the end of the text.
pub(super) fn unexpected(
    sql: &SqlText,
    tokens: &[TokenWithSpan],
    expected: &str,
    found: Option<&TokenWithSpan>,
) -> Error {
    let Some(found) = found.filter(|t| t.token != Token::EOF) else {
        let error = sql.error_at(Span::empty(), format!("expected {expected}, found the end of the text"));
        return match unclosed(tokens) {
            Some(open) => {
                let line = open.span.start.line;
                error.hint(format!("the ( in line {line}, column {} is not closed", open.span.start.column))
            }
            None => error,
        };
    };
    if let Some(refusal) = named_refusal(sql, found) {
        return refusal;
    }
    let error = sql.error_at(found.span, format!("expected {expected}, found {}", describe(&found.token)));
    match hint(tokens, found) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The token as a message shows it.
pub(super) fn describe(token: &Token) -> String {
    match token {
        Token::EOF => "the end of the text".to_owned(),
        Token::SingleQuotedString(text) => format!("the string '{text}'"),
        // sqlparser reads ROW<...> under its own name.
        Token::Word(w) if w.quote_style.is_none() && w.value == "STRUCT" => "ROW".to_owned(),
        other => other.to_string(),
    }
}

fn named_refusal(sql: &SqlText, found: &TokenWithSpan) -> Option<Error> {
    let Token::Word(word) = &found.token else { return None };
    let name = word.value.to_uppercase();
    if word.quote_style.is_some() {
        None
    } else if NOT_YET.contains(&name.as_str()) {
        Some(sql.error_at(found.span, format!("{name} is not supported yet")))
    } else if NOT_FLINK.contains(&name.as_str()) {
        Some(sql.error_at(found.span, format!("{name} is not Flink SQL")))
    } else {
        None
    }
}

/// What often lies behind an unexpected token.
fn hint(tokens: &[TokenWithSpan], found: &TokenWithSpan) -> Option<&'static str> {
    let at = tokens.iter().position(|t| t.span.start == found.span.start)?;
    let before = at.checked_sub(1).map(|i| &tokens[i].token);
    let starts_clause = matches!(&found.token, Token::Word(w)
        if ["FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT"].iter().any(|k| w.quote_style.is_none() && w.value.eq_ignore_ascii_case(k)));
    match (before, &found.token) {
        (Some(Token::Comma), _) if starts_clause => Some("remove the comma before it"),
        (Some(Token::Comma), Token::RParen) => Some("remove the comma before )"),
        (_, Token::SemiColon) if unclosed(&tokens[..at]).is_some() => Some("a ( before it is not closed"),
        (
            Some(Token::Word(_) | Token::Number(..) | Token::RParen | Token::SingleQuotedString(_)),
            Token::Word(_) | Token::SingleQuotedString(_),
        ) => Some("is a comma, an operator or a ; missing before it?"),
        _ => None,
    }
}

/// The last `(` of the last statement that nothing closes.
fn unclosed(tokens: &[TokenWithSpan]) -> Option<&TokenWithSpan> {
    let mut open = Vec::new();
    for token in tokens {
        match token.token {
            Token::LParen => open.push(token),
            Token::RParen => {
                open.pop();
            }
            Token::SemiColon => open.clear(),
            _ => {}
        }
    }
    open.pop()
}

/// Splits ` at Line: 3, Column: 14` off.
fn split_location(text: &str) -> (&str, Option<Location>) {
    let location = |text: &str| {
        let (line, column) = text.split_once(", Column: ")?;
        Some(Location::new(line.parse().ok()?, column.parse().ok()?))
    };
    match text.rsplit_once(" at Line: ") {
        Some((head, tail)) => (head, location(tail)),
        None => (text, None),
    }
}

/// sqlparser begins its sentences with a capital letter, and knows dialects that are not ours.
fn soften(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.replace("STRUCT", "ROW"),
    }
}
