//! `CREATE TABLE`: its columns, key, watermark and options. Of one that is `LIKE` another, the names are resolved when the
//! other's parts are there.

use arrow::datatypes::DataType;
use datafusion::sql::sqlparser::{ast::Ident, parser::Parser, tokenizer::Token};
use tidemill_core::{Error, Excerpt, Result};

use super::{
    cursor::Cursor,
    like,
    statement::{ColumnDef, ColumnKind, CreateTable, WatermarkDef},
    text::SqlText,
};
use crate::types;

const KEY_FORM: &str = "write PRIMARY KEY (column, ...) NOT ENFORCED";

/// What stands between the parentheses.
#[derive(Default)]
struct Body {
    columns: Vec<ColumnDef>,
    watermark: Option<WatermarkDef>,
    primary_key: Vec<Ident>,
}

/// `CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name [(...)] [COMMENT '...'] [PARTITIONED BY (...)] [WITH (...)] [LIKE ...]`;
/// without `LIKE`, columns and options must be there.
pub(super) fn create_table(cursor: &mut Cursor<'_>) -> Result<CreateTable> {
    let start = cursor.start();
    cursor.expect_words("CREATE")?;
    let temporary = cursor.eat_words("TEMPORARY");
    cursor.expect_words("TABLE")?;
    let if_not_exists = cursor.eat_words("IF NOT EXISTS");
    let name = cursor.name("the name of a table")?;
    refuse_clause(cursor)?;
    let body = if cursor.at_words("LIKE") || cursor.at_words("WITH") { Body::default() } else { body(cursor)? };
    let comment = cursor.comment()?;
    refuse_clause(cursor)?;
    let partitioned_by =
        if cursor.eat_words("PARTITIONED BY") { cursor.names("the name of a column")? } else { vec![] };
    refuse_clause(cursor)?;
    let with = cursor.eat_words("WITH");
    let options = if with { options(cursor)? } else { vec![] };
    refuse_clause(cursor)?;
    let like = like::like(cursor)?;
    if like.is_none() {
        check_whole(cursor, &name, with, body.columns.is_empty())?;
    }
    let Body { columns, watermark, primary_key } = body;
    let excerpt = cursor.excerpt_since(start);
    let create = CreateTable {
        name,
        if_not_exists,
        temporary,
        columns,
        watermark,
        primary_key,
        partitioned_by,
        options,
        like,
        comment,
        excerpt,
    };
    if create.like.is_some() { Ok(create) } else { resolve(cursor.sql, create) }
}

/// What a table needs that is not like another.
fn check_whole(cursor: &Cursor<'_>, name: &Ident, with: bool, no_columns: bool) -> Result<()> {
    if no_columns && with {
        return Err(cursor.sql.error_at(name.span, "the table has no columns"));
    }
    if with {
        return Ok(());
    }
    let lacks = if matches!(cursor.peek(), Token::SemiColon | Token::EOF) {
        cursor.sql.error_at(name.span, format!("the table {} has no WITH (...)", name.value))
    } else {
        cursor.unexpected("WITH (...)")
    };
    Err(lacks.hint("add WITH ('connector' = '...', ...): it says where the rows are"))
}

/// Refuses what Flink has after a table's name or columns and we have not.
fn refuse_clause(cursor: &Cursor<'_>) -> Result<()> {
    let refused = [
        ("AS", "CREATE TABLE ... AS SELECT", "declare the table with its columns, then INSERT INTO it"),
        ("DISTRIBUTED", "DISTRIBUTED", "remove it"),
        ("USING", "USING", "name the connector in WITH ('connector' = '...')"),
    ];
    match refused.iter().find(|(word, ..)| cursor.at_words(word)) {
        Some((_, what, hint)) => Err(cursor.refuse_next(1, format!("{what} is not supported yet")).hint(*hint)),
        None => Ok(()),
    }
}

/// `(column, ..., PRIMARY KEY ..., WATERMARK FOR ...)`
fn body(cursor: &mut Cursor<'_>) -> Result<Body> {
    if !cursor.eat(&Token::LParen) {
        return Err(cursor.unexpected("the columns in parentheses"));
    }
    let mut body = Body::default();
    loop {
        item(cursor, &mut body)?;
        if cursor.eat(&Token::RParen) {
            break;
        }
        if !cursor.eat(&Token::Comma) {
            let error = cursor.unexpected(", or )");
            let missing = matches!(cursor.peek(), Token::Word(_));
            return Err(if missing { error.hint("is a comma missing before it?") } else { error });
        }
    }
    Ok(body)
}

fn item(cursor: &mut Cursor<'_>, body: &mut Body) -> Result<()> {
    let constraint = cursor.at_words("CONSTRAINT") && cursor.word(2).is_some_and(|w| w.eq_ignore_ascii_case("PRIMARY"));
    if constraint {
        cursor.advance();
        cursor.name("the name of the constraint")?;
    }
    if cursor.at_words("PRIMARY KEY") {
        let start = cursor.start();
        cursor.eat_words("PRIMARY KEY");
        let key = cursor.names("the name of a column")?;
        not_enforced(cursor)?;
        set_key(body, key, cursor.excerpt_since(start))
    } else if cursor.at_words("WATERMARK FOR") {
        watermark(cursor, body)
    } else if cursor.at_words("UNIQUE") && *cursor.peek_nth(1) == Token::LParen {
        Err(cursor.refuse_next(1, "UNIQUE is not supported").hint(KEY_FORM))
    } else {
        column(cursor, body)
    }
}

/// Rows are not checked against the key, and Flink wants this said.
fn not_enforced(cursor: &mut Cursor<'_>) -> Result<()> {
    if cursor.eat_words("NOT ENFORCED") {
        return Ok(());
    }
    if cursor.at_words("ENFORCED") {
        return Err(cursor.refuse_next(1, "a primary key can't be enforced").hint(KEY_FORM));
    }
    Err(cursor.unexpected("NOT ENFORCED after the primary key").hint(KEY_FORM))
}

fn set_key(body: &mut Body, key: Vec<Ident>, excerpt: Excerpt) -> Result<()> {
    if !body.primary_key.is_empty() {
        return Err(Error::invalid("the table has two primary keys").at(excerpt).hint(KEY_FORM));
    }
    body.primary_key = key;
    Ok(())
}

/// `WATERMARK FOR column AS expr`
fn watermark(cursor: &mut Cursor<'_>, body: &mut Body) -> Result<()> {
    let form = "write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND";
    let start = cursor.start();
    cursor.expect_words("WATERMARK FOR")?;
    let column = cursor.name("the time column")?;
    if !cursor.eat_words("AS") {
        return Err(cursor.unexpected("AS").hint(form));
    }
    let expr = cursor.expression()?;
    let excerpt = cursor.excerpt_since(start);
    if body.watermark.is_some() {
        return Err(Error::invalid("the table has two watermarks").at(excerpt).hint("keep one"));
    }
    body.watermark = Some(WatermarkDef { column, expr, excerpt });
    Ok(())
}

/// `name TYPE ...` or `name AS expr`
fn column(cursor: &mut Cursor<'_>, body: &mut Body) -> Result<()> {
    let start = cursor.start();
    let name = cursor.name("a column")?;
    let (kind, is_key) = if cursor.eat_words("AS") {
        (ColumnKind::Computed(Box::new(cursor.expression()?)), false)
    } else {
        declared(cursor, &name)?
    };
    let comment = cursor.comment()?;
    if cursor.at_words("DEFAULT") {
        return Err(cursor
            .refuse_next(1, "DEFAULT is not Flink SQL")
            .hint("write COALESCE(column, value) in the query"));
    }
    let excerpt = cursor.excerpt_since(start);
    if body.columns.iter().any(|c| c.name.value == name.value) {
        return Err(cursor.sql.error_at(name.span, format!("the column {} is declared twice", name.value)));
    }
    if is_key {
        set_key(body, vec![name.clone()], excerpt.clone())?;
    }
    body.columns.push(ColumnDef { name, kind, comment, excerpt });
    Ok(())
}

/// `TYPE [NOT NULL] [PRIMARY KEY NOT ENFORCED]` or `TYPE [NOT NULL] METADATA [FROM 'key'] [VIRTUAL]`,
/// and whether it is the key.
fn declared(cursor: &mut Cursor<'_>, name: &Ident) -> Result<(ColumnKind, bool)> {
    let data_type = data_type(cursor, name)?;
    let nullable = !cursor.eat_words("NOT NULL");
    if nullable {
        cursor.eat_words("NULL");
    }
    if cursor.eat_words("METADATA") {
        let key = if cursor.eat_words("FROM") { Some(cursor.string("a key in single quotes")?.0) } else { None };
        let read_only = cursor.eat_words("VIRTUAL");
        return Ok((ColumnKind::Metadata { data_type, nullable, key, read_only }, false));
    }
    let is_key = cursor.eat_words("PRIMARY KEY");
    if is_key {
        not_enforced(cursor)?;
    }
    Ok((ColumnKind::Physical { data_type, nullable }, is_key))
}

/// A type, as Arrow keeps it.
fn data_type(cursor: &mut Cursor<'_>, name: &Ident) -> Result<DataType> {
    let start = cursor.start();
    if !matches!(cursor.peek(), Token::Word(_)) {
        let error = cursor.unexpected(&format!("the type of the column {}", name.value));
        return Err(error.hint("write name TYPE, or name AS expression"));
    }
    for refused in ["RAW", "MULTISET"] {
        if cursor.at_words(refused) {
            let error = cursor.refuse_next(1, format!("the type {refused} is not supported"));
            return Err(error.hint("use STRING, ARRAY or MAP"));
        }
    }
    if cursor.at_words("ROW") && *cursor.peek_nth(1) == Token::LParen {
        return Err(cursor.refuse_next(1, "ROW(...) is not supported here").hint("write ROW<name type, ...>"));
    }
    let sql_type = cursor.sqlparser(Parser::parse_data_type).map_err(|error| {
        let not_null = error.message().ends_with("found NOT") || error.message().ends_with("found not");
        if not_null { error.hint("NOT NULL within ROW, ARRAY and MAP is not supported: leave it away") } else { error }
    })?;
    for suffix in ["ARRAY", "MULTISET"] {
        if cursor.at_words(suffix) {
            let error = cursor.refuse_next(1, format!("{suffix} after a type is not supported"));
            return Err(error.hint("write ARRAY<type>"));
        }
    }
    types::arrow_type(&sql_type).map_err(|error| error.at(cursor.excerpt_since(start)))
}

/// `('key' = 'value', ...)`
fn options(cursor: &mut Cursor<'_>) -> Result<Vec<(String, String, Excerpt)>> {
    let form = "write ('connector' = '...', 'key' = 'value')";
    if !cursor.eat(&Token::LParen) {
        return Err(cursor.unexpected("( after WITH").hint(form));
    }
    let mut options: Vec<(String, String, Excerpt)> = Vec::new();
    loop {
        let (key, span) = cursor.string("an option's key in single quotes").map_err(|e| quoted(e, cursor))?;
        if !cursor.eat(&Token::Eq) {
            return Err(cursor.unexpected(&format!("= after '{key}'")).hint(form));
        }
        let what = format!("the value of '{key}' in single quotes");
        let (value, _) = cursor.string(&what).map_err(|e| quoted(e, cursor))?;
        if options.iter().any(|(k, ..)| *k == key) {
            return Err(cursor.sql.error_at(span, format!("the option '{key}' is given twice")).hint("keep one"));
        }
        options.push((key, value, cursor.sql.excerpt(span)));
        if cursor.eat(&Token::RParen) {
            return Ok(options);
        }
        if !cursor.eat(&Token::Comma) {
            let error = cursor.unexpected(", or )");
            let missing = matches!(cursor.peek(), Token::SingleQuotedString(_));
            return Err(if missing { error.hint("is a comma missing before it?") } else { error });
        }
    }
}

fn quoted(error: Error, cursor: &Cursor<'_>) -> Error {
    match cursor.peek() {
        Token::RParen => error.hint("remove the comma before )"),
        Token::Word(_) | Token::Number(..) => {
            error.hint(format!("write it in single quotes: '{}'", cursor.describe_next()))
        }
        _ => error,
    }
}

/// Names in the key, the watermark and the partitions must be columns; key columns are never NULL.
///
/// # Errors
/// A name that is no column, and a key column that is not stored.
pub(crate) fn resolve(sql: &SqlText, mut create: CreateTable) -> Result<CreateTable> {
    let names: Vec<String> = create.columns.iter().map(|c| c.name.value.clone()).collect();
    let time_column = create.watermark.iter().map(|w| &w.column);
    for ident in time_column.chain(&create.primary_key).chain(&create.partitioned_by) {
        if !names.contains(&ident.value) {
            let error = sql.error_at(ident.span, format!("the table has no column {}", ident.value));
            return Err(error.hint(format!("its columns are {}", names.join(", "))));
        }
    }
    for column in &mut create.columns {
        let in_key = create.primary_key.iter().any(|key| key.value == column.name.value);
        match &mut column.kind {
            ColumnKind::Physical { nullable, .. } if in_key => *nullable = false,
            ColumnKind::Computed(_) | ColumnKind::Metadata { .. } if in_key => {
                return Err(Error::invalid(format!("{} can't be in the primary key", column.name.value))
                    .at(column.excerpt.clone())
                    .hint("only physical columns can"));
            }
            _ => {}
        }
    }
    Ok(create)
}
