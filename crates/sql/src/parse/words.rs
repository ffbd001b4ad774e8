//! Words that sqlparser's parser has no name for.

use datafusion::sql::sqlparser::{
    ast::{Expr, Value},
    parser::{Parser, ParserError},
    tokenizer::Token,
};

/// Whether the words come next.
pub(super) fn is_next(parser: &Parser<'_>, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(index, word)| match &parser.peek_nth_token_ref(index).token {
        Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word),
        _ => false,
    })
}

/// Takes the words, if all of them come next.
pub(super) fn take_words(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let found = is_next(parser, words);
    if found {
        words.iter().for_each(|_| parser.advance_token());
    }
    found
}

/// Takes the words, which must come next.
pub(super) fn expect_words(parser: &mut Parser<'_>, words: &[&str]) -> Result<(), ParserError> {
    if take_words(parser, words) { Ok(()) } else { parser.expected_ref(&words.join(" "), parser.peek_token_ref()) }
}

/// The literal of a text that nobody wrote.
pub(super) fn text(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).into())
}
