//! A position in the tokens of a text: reads words and strings by itself, and hands the cursor to
//! sqlparser for queries, expressions and types.

use datafusion::sql::sqlparser::{
    ast::{Expr, Ident, Query},
    parser::{Parser, ParserError},
    tokenizer::{Location, Span, Token, TokenWithSpan},
};
use tidemill_core::{Error, Excerpt, Result};

use super::{
    check,
    dialect::{FlinkDialect, MAX_OPERATORS},
    syntax_error,
    text::SqlText,
};

pub(super) struct Cursor<'a> {
    pub(super) sql: &'a SqlText,
    tokens: &'a [TokenWithSpan],
    dialect: &'a FlinkDialect,
    parser: Parser<'a>,
    /// Where the present statement begins.
    statement_start: Location,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(sql: &'a SqlText, tokens: &'a [TokenWithSpan], dialect: &'a FlinkDialect) -> Self {
        let parser = Parser::new(dialect).with_tokens_with_locations(tokens.to_vec());
        Self { sql, tokens, dialect, parser, statement_start: Location::empty() }
    }

    pub(super) fn begin_statement(&mut self) {
        self.statement_start = self.start();
    }

    /// The next token, which may be the end.
    pub(super) fn peek(&self) -> &Token {
        self.peek_nth(0)
    }

    pub(super) fn peek_nth(&self, n: usize) -> &Token {
        &self.parser.peek_nth_token_ref(n).token
    }

    /// Where the next token begins.
    pub(super) fn start(&self) -> Location {
        self.parser.peek_token_ref().span.start
    }

    pub(super) fn next_span(&self) -> Span {
        self.parser.peek_token_ref().span
    }

    /// What was read since `start`.
    pub(super) fn span_since(&self, start: Location) -> Span {
        Span::new(start, self.parser.get_current_token().span.end)
    }

    pub(super) fn excerpt_since(&self, start: Location) -> Excerpt {
        self.sql.excerpt(self.span_since(start))
    }

    pub(super) fn advance(&mut self) {
        self.parser.advance_token();
    }

    /// Whether the next tokens are these words, unquoted and in any case.
    pub(super) fn at_words(&self, words: &str) -> bool {
        words.split(' ').enumerate().all(|(n, word)| self.word(n).is_some_and(|w| w.eq_ignore_ascii_case(word)))
    }

    /// The next token but `n`, if it is a word without quotes.
    pub(super) fn word(&self, n: usize) -> Option<&str> {
        match self.peek_nth(n) {
            Token::Word(w) if w.quote_style.is_none() => Some(&w.value),
            _ => None,
        }
    }

    /// Reads these words if they come next.
    pub(super) fn eat_words(&mut self, words: &str) -> bool {
        let found = self.at_words(words);
        if found {
            words.split(' ').for_each(|_| self.advance());
        }
        found
    }

    pub(super) fn expect_words(&mut self, words: &str) -> Result<()> {
        for word in words.split(' ') {
            if !self.eat_words(word) {
                return Err(self.unexpected(word));
            }
        }
        Ok(())
    }

    pub(super) fn eat(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    pub(super) fn expect(&mut self, token: &Token) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&token.to_string())) }
    }

    /// An error at the next token.
    pub(super) fn unexpected(&self, expected: &str) -> Error {
        syntax_error::unexpected(self.sql, self.tokens, expected, Some(self.parser.peek_token_ref()))
    }

    pub(super) fn describe_next(&self) -> String {
        syntax_error::describe(self.peek())
    }

    /// A refusal with the place of the next tokens.
    pub(super) fn refuse_next(&self, words: usize, message: impl Into<String>) -> Error {
        let last = self.parser.peek_nth_token_ref(words.saturating_sub(1)).span;
        let span = if last == Span::empty() { self.next_span() } else { Span::new(self.start(), last.end) };
        self.sql.error_at(span, message)
    }

    /// A name of one part.
    pub(super) fn name(&mut self, what: &str) -> Result<Ident> {
        let Token::Word(word) = self.peek() else {
            let error = self.unexpected(what);
            return Err(match self.peek() {
                Token::SingleQuotedString(text) => {
                    error.hint(format!("a name stands in backticks, not in quotes: `{text}`"))
                }
                _ => error,
            });
        };
        let ident = word.to_ident(self.next_span());
        self.advance();
        if *self.peek() == Token::Period {
            let error = self.sql.error_at(
                self.next_span(),
                format!("{what} has one part: catalogs, databases and nested fields are not supported here"),
            );
            return Err(
                error.hint(format!("if the dot belongs to the name, write it in backticks: `{}.…`", ident.value))
            );
        }
        Ok(ident)
    }

    /// The name of a table or view, or in single quotes the path of a file that stands for a table.
    pub(super) fn relation(&mut self) -> Result<Ident> {
        if let Token::SingleQuotedString(path) = self.peek() {
            let ident = Ident::with_quote_and_span('\'', self.next_span(), path.clone());
            self.advance();
            return Ok(ident);
        }
        self.name("the name of a table or view")
    }

    /// `(name, ...)`
    pub(super) fn names(&mut self, what: &str) -> Result<Vec<Ident>> {
        self.expect(&Token::LParen)?;
        let mut names = vec![self.name(what)?];
        while self.eat(&Token::Comma) {
            names.push(self.name(what)?);
        }
        if self.eat(&Token::RParen) { Ok(names) } else { Err(self.unexpected(", or )")) }
    }

    /// A string in single quotes, and its place.
    pub(super) fn string(&mut self, what: &str) -> Result<(String, Span)> {
        let (Token::SingleQuotedString(text) | Token::UnicodeStringLiteral(text)) = self.peek() else {
            return Err(self.unexpected(what));
        };
        let string = (text.clone(), self.next_span());
        self.advance();
        Ok(string)
    }

    /// `COMMENT '...'`, if it comes next.
    pub(super) fn comment(&mut self) -> Result<Option<String>> {
        if !self.eat_words("COMMENT") {
            return Ok(None);
        }
        self.string("a comment in single quotes").map(|(text, _)| Some(text))
    }

    /// A query, checked.
    pub(super) fn query(&mut self) -> Result<Box<Query>> {
        let mut query = self.sqlparser(Parser::parse_query)?;
        check::check(self.sql, self.statement_tokens(), &mut query)?;
        Ok(query)
    }

    /// An expression, checked.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        let mut expr = self.sqlparser(Parser::parse_expr)?;
        check::check(self.sql, self.statement_tokens(), &mut expr)?;
        Ok(expr)
    }

    /// Lets sqlparser read on from here.
    pub(super) fn sqlparser<T>(&mut self, read: impl FnOnce(&mut Parser<'a>) -> Result<T, ParserError>) -> Result<T> {
        let start = self.next_span();
        read(&mut self.parser).map_err(|error| match error {
            ParserError::RecursionLimitExceeded if self.dialect.chain_too_long() => self
                .sql
                .error_at(start, format!("more than {MAX_OPERATORS} operators follow each other"))
                .hint("write a list of values with IN, or put parts in parentheses"),
            ParserError::RecursionLimitExceeded => syntax_error::convert(self.sql, self.tokens, start, error),
            _ => syntax_error::convert(self.sql, self.tokens, self.next_span(), error),
        })
    }

    /// The tokens of the present statement that have been read.
    fn statement_tokens(&self) -> &'a [TokenWithSpan] {
        let end = self.parser.get_current_token().span.end;
        let first = self.tokens.partition_point(|t| t.span.start < self.statement_start);
        let last = self.tokens.partition_point(|t| t.span.end <= end);
        &self.tokens[first.min(last)..last]
    }
}
