//! From text to tokens: what is not Flink SQL is refused here, and what sqlparser can't read is
//! rewritten to what it can. Every token keeps its place.

use datafusion::sql::sqlparser::{
    keywords::Keyword,
    tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError, Whitespace, Word},
};
use tidemill_core::{Error, Result};

use super::{dialect::FlinkDialect, text::SqlText};

/// The most `UNION`, `EXCEPT` and `INTERSECT` in one statement: they nest as deep as they are many.
const MAX_SET_OPERATIONS: usize = 250;

/// The deepest nesting of `ROW<...>`, `ARRAY<...>` and `MAP<...>`.
const MAX_TYPE_DEPTH: usize = 32;

/// The tokens of a text, without white space and comments.
pub(super) fn tokenize(sql: &SqlText) -> Result<Vec<TokenWithSpan>> {
    let dialect = FlinkDialect::for_tokens(0);
    let tokens = Tokenizer::new(&dialect, sql.body()).tokenize_with_location().map_err(|e| lexical_error(sql, &e))?;
    let mut kept = Vec::with_capacity(tokens.len() / 2);
    let mut set_operations = 0;
    for token in tokens {
        refuse_foreign(sql, &token)?;
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::SemiColon => set_operations = 0,
            Token::Word(w) if matches!(w.keyword, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT) => {
                set_operations += 1;
                if set_operations > MAX_SET_OPERATIONS {
                    let message = format!("a statement may have at most {MAX_SET_OPERATIONS} set operations");
                    return Err(sql.error_at(token.span, message).hint("split it with CREATE VIEW"));
                }
            }
            // Flink SQL has no shift operator: this closes two types, as in ARRAY<ROW<a INT>>.
            Token::ShiftRight => {
                let middle = Location::new(token.span.start.line, token.span.start.column + 1);
                kept.push(TokenWithSpan::new(Token::Gt, Span::new(token.span.start, middle)));
                kept.push(TokenWithSpan::new(Token::Gt, Span::new(middle, token.span.end)));
                continue;
            }
            _ => {}
        }
        kept.push(token);
    }
    rewrite_rows(&mut kept);
    rewrite_calls(&mut kept);
    limit_types(sql, &kept)?;
    rewrite_local_time_zones(&mut kept);
    Ok(kept)
}

/// `ROW <` is a row type, which sqlparser knows as `STRUCT <`.
fn rewrite_rows(tokens: &mut [TokenWithSpan]) {
    for i in 1..tokens.len() {
        if tokens[i].token == Token::Lt && is_keyword(&tokens[i - 1], Keyword::ROW) {
            tokens[i - 1].token = Token::make_keyword("STRUCT");
        }
    }
}

/// `CEILING(` is the long name of `CEIL(`, and `TRIM(BOTH FROM` leaves out the space that it trims.
fn rewrite_calls(tokens: &mut Vec<TokenWithSpan>) {
    for i in (1..tokens.len()).rev() {
        let opens = tokens[i].token == Token::LParen;
        if opens && matches!(&tokens[i - 1].token, Token::Word(w) if w.value.eq_ignore_ascii_case("CEILING")) {
            tokens[i - 1].token = Token::make_keyword("CEIL");
        }
        let side = [Keyword::BOTH, Keyword::LEADING, Keyword::TRAILING].iter().any(|k| is_keyword(&tokens[i - 1], *k));
        if side && is_keyword(&tokens[i], Keyword::FROM) {
            let space = TokenWithSpan::new(Token::SingleQuotedString(" ".to_owned()), tokens[i].span);
            tokens.insert(i, space);
        }
    }
}

/// sqlparser reads nested types by recursion without a limit of its own.
fn limit_types(sql: &SqlText, tokens: &[TokenWithSpan]) -> Result<()> {
    let mut depth = 0_usize;
    for pair in tokens.windows(2) {
        let opens = [Keyword::STRUCT, Keyword::ARRAY, Keyword::MAP].iter().any(|k| is_keyword(&pair[0], *k));
        match pair[1].token {
            Token::Lt if opens => depth += 1,
            Token::Gt => depth = depth.saturating_sub(1),
            Token::SemiColon => depth = 0,
            _ => {}
        }
        if depth > MAX_TYPE_DEPTH {
            let message = format!("types may be nested {MAX_TYPE_DEPTH} deep, not deeper");
            return Err(sql
                .error_at(pair[0].span, message)
                .hint("keep the inner part as STRING, and read it with JSON functions"));
        }
    }
    Ok(())
}

/// `TIMESTAMP(p) WITH LOCAL TIME ZONE` is the long name of `TIMESTAMP_LTZ(p)`.
fn rewrite_local_time_zones(tokens: &mut Vec<TokenWithSpan>) {
    let mut i = 0;
    while i < tokens.len() {
        let zone = [Keyword::WITH, Keyword::LOCAL, Keyword::TIME, Keyword::ZONE];
        let is_zone = zone.iter().enumerate().all(|(n, k)| tokens.get(i + n).is_some_and(|t| is_keyword(t, *k)));
        let precision = i >= 4 && tokens[i - 1].token == Token::RParen && tokens[i - 3].token == Token::LParen;
        let head = if precision { i.checked_sub(4) } else { i.checked_sub(1) };
        match head.filter(|head| is_zone && is_keyword(&tokens[*head], Keyword::TIMESTAMP)) {
            Some(head) => {
                tokens[head].token = Token::make_word("TIMESTAMP_LTZ", None);
                tokens.drain(i..i + zone.len());
            }
            None => i += 1,
        }
    }
}

fn is_keyword(token: &TokenWithSpan, keyword: Keyword) -> bool {
    matches!(&token.token, Token::Word(Word { keyword: k, .. }) if *k == keyword)
}

/// Refuses what can be read but is not Flink SQL, or would be ignored if it were read.
fn refuse_foreign(sql: &SqlText, token: &TokenWithSpan) -> Result<()> {
    let (message, hint) = match &token.token {
        Token::Whitespace(Whitespace::MultiLineComment(comment)) if comment.starts_with('+') => (
            format!("the hint /*{comment}*/ is not supported yet"),
            "write the options in the WITH clause of CREATE TABLE, or remove the + to make it a comment",
        ),
        Token::DoubleQuotedString(text) => (
            format!("double quotes are not Flink SQL: \"{text}\""),
            "write a string in single quotes ('...') and a name in backticks (`...`)",
        ),
        Token::DoubleColon => ("the cast :: is not Flink SQL".to_owned(), "write CAST(value AS type)"),
        Token::Char(c @ ('\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}')) => {
            (format!("unexpected character {c}"), "replace the typographic quotes with ' or `")
        }
        _ => return Ok(()),
    };
    Err(sql.error_at(token.span, message).hint(hint))
}

fn lexical_error(sql: &SqlText, error: &TokenizerError) -> Error {
    let at = Span::new(error.location, Location::new(error.location.line, error.location.column + 1));
    match error.message.as_str() {
        m if m.starts_with("Unterminated string literal") => sql
            .error_at(at, "this string is not closed")
            .hint("close it with a single quote; a quote within a string is written twice ('')"),
        m if m.starts_with("Expected close delimiter") => {
            sql.error_at(at, "this name is not closed").hint("close it with a backtick (`)")
        }
        m if m.contains("multi-line comment") => {
            let open = sql.text.rfind("/*").unwrap_or_default();
            Error::invalid("this comment is not closed")
                .at(sql.excerpt_of_bytes(open..(open + 2).min(sql.text.len())))
                .hint("close it with */")
        }
        other => sql.error_at(at, format!("the text can't be read: {other}")),
    }
}
