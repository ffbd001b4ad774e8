//! The statements of a script, but for the inside of `CREATE TABLE`.

use datafusion::sql::sqlparser::tokenizer::Token;
use tidemill_core::{Error, Result};

use super::{
    create_table::create_table,
    cursor::Cursor,
    statement::{CreateView, Insert, Statement},
};

const SUPPORTED: &str = "supported are CREATE TABLE, CREATE VIEW, INSERT INTO, INSERT OVERWRITE, \
                         EXECUTE STATEMENT SET, SET, SELECT, EXPLAIN, DESCRIBE and SHOW";

/// Flink's statements that are refused by name: by their first word, and the second if it tells more.
const REFUSED: [&str; 21] = [
    "ADD", "ALTER", "ANALYZE", "CALL", "CLEAR", "COMPILE", "CREATE", "DELETE", "DROP", "EXECUTE", "HELP", "LOAD",
    "QUIT", "REMOVE", "RESET", "SHOW", "STOP", "TRUNCATE", "UNLOAD", "UPDATE", "USE",
];

/// All statements up to the end of the text.
pub(super) fn statements(cursor: &mut Cursor<'_>) -> Result<Vec<Statement>> {
    let mut statements = Vec::new();
    loop {
        while cursor.eat(&Token::SemiColon) {}
        if *cursor.peek() == Token::EOF {
            return Ok(statements);
        }
        cursor.begin_statement();
        if cursor.eat_words("EXECUTE STATEMENT SET BEGIN") || begin_statement_set(cursor) {
            statement_set(cursor, &mut statements)?;
        } else {
            statements.push(statement(cursor)?);
        }
        if !matches!(cursor.peek(), Token::SemiColon | Token::EOF) {
            return Err(cursor.unexpected("a ; after the statement"));
        }
    }
}

/// The older form of the head: `BEGIN STATEMENT SET;`
fn begin_statement_set(cursor: &mut Cursor<'_>) -> bool {
    cursor.at_words("BEGIN STATEMENT SET") && *cursor.peek_nth(3) == Token::SemiColon && {
        cursor.eat_words("BEGIN STATEMENT SET");
        cursor.eat(&Token::SemiColon)
    }
}

/// `INSERT ...; INSERT ...; END`
fn statement_set(cursor: &mut Cursor<'_>, statements: &mut Vec<Statement>) -> Result<()> {
    let (first, start) = (statements.len(), cursor.start());
    while !cursor.eat_words("END") {
        if !cursor.at_words("INSERT") {
            let error = cursor.unexpected("INSERT or END");
            return Err(error.hint("a statement set holds INSERT statements, each closed with ;, and ends with END"));
        }
        cursor.begin_statement();
        statements.push(Statement::Insert(insert(cursor)?));
        cursor.expect(&Token::SemiColon)?;
        while cursor.eat(&Token::SemiColon) {}
    }
    if statements.len() == first {
        return Err(cursor.sql.error_at(cursor.span_since(start), "the statement set is empty"));
    }
    Ok(())
}

fn statement(cursor: &mut Cursor<'_>) -> Result<Statement> {
    if cursor.at_words("SET") {
        set(cursor)
    } else if cursor.at_words("CREATE TABLE") || cursor.at_words("CREATE TEMPORARY TABLE") {
        create_table(cursor).map(Statement::CreateTable)
    } else if cursor.at_words("CREATE VIEW") || cursor.at_words("CREATE TEMPORARY VIEW") {
        create_view(cursor).map(Statement::CreateView)
    } else if cursor.at_words("INSERT") {
        insert(cursor).map(Statement::Insert)
    } else if cursor.at_words("EXPLAIN") {
        explain(cursor)
    } else if cursor.eat_words("DESCRIBE") || cursor.eat_words("DESC") {
        cursor.relation().map(Statement::Describe)
    } else if cursor.eat_words("SHOW TABLES") {
        Ok(Statement::ShowTables)
    } else if cursor.eat_words("SHOW FUNCTIONS") {
        Ok(Statement::ShowFunctions)
    } else if cursor.eat_words("SHOW VIEWS") {
        Ok(Statement::ShowViews)
    } else if cursor.eat_words("SHOW CREATE TABLE") || cursor.eat_words("SHOW CREATE VIEW") {
        cursor.relation().map(Statement::ShowCreate)
    } else if ["SELECT", "WITH", "VALUES"].iter().any(|word| cursor.at_words(word)) || *cursor.peek() == Token::LParen {
        let start = cursor.start();
        let query = cursor.query()?;
        Ok(Statement::Query { query, excerpt: cursor.excerpt_since(start) })
    } else {
        Err(refused(cursor))
    }
}

fn refused(cursor: &Cursor<'_>) -> Error {
    let first = cursor.word(0).map(str::to_uppercase).unwrap_or_default();
    if !REFUSED.contains(&first.as_str()) {
        return cursor.unexpected("a statement").hint(SUPPORTED);
    }
    let two_words = ["ALTER", "CREATE", "DROP", "EXECUTE", "LOAD", "SHOW", "UNLOAD", "USE"].contains(&first.as_str());
    match cursor.word(1).filter(|_| two_words) {
        Some(second) => cursor.refuse_next(2, format!("{first} {} is not supported yet", second.to_uppercase())),
        None => cursor.refuse_next(1, format!("{first} is not supported yet")),
    }
    .hint(SUPPORTED)
}

/// `EXPLAIN [PLAN FOR] query|INSERT`
fn explain(cursor: &mut Cursor<'_>) -> Result<Statement> {
    cursor.expect_words("EXPLAIN")?;
    cursor.eat_words("PLAN FOR");
    for detail in ["ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"] {
        if cursor.at_words(detail) {
            return Err(cursor
                .refuse_next(1, format!("EXPLAIN {detail} is not supported"))
                .hint("write EXPLAIN alone: it shows the logical plan and that of both drivers"));
        }
    }
    match statement(cursor)? {
        explained @ (Statement::Query { .. } | Statement::Insert(_)) => Ok(Statement::Explain(Box::new(explained))),
        _ => Err(cursor.unexpected("a query or an INSERT after EXPLAIN")),
    }
}

/// `SET 'key' = 'value'`
fn set(cursor: &mut Cursor<'_>) -> Result<Statement> {
    cursor.expect_words("SET")?;
    let quotes = "write SET 'key' = 'value', both in single quotes";
    if matches!(cursor.peek(), Token::SemiColon | Token::EOF) {
        return Err(cursor.unexpected("a key in single quotes").hint(quotes));
    }
    let (key, key_span) = cursor.string("a key in single quotes").map_err(|e| e.hint(quotes))?;
    cursor.expect(&Token::Eq)?;
    let (value, _) = cursor.string("a value in single quotes").map_err(|e| e.hint(quotes))?;
    Ok(Statement::Set { key, value, excerpt: cursor.sql.excerpt(key_span) })
}

/// `CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(column, ...)] [COMMENT '...'] AS query`
fn create_view(cursor: &mut Cursor<'_>) -> Result<CreateView> {
    let start = cursor.start();
    cursor.expect_words("CREATE")?;
    let temporary = cursor.eat_words("TEMPORARY");
    cursor.expect_words("VIEW")?;
    let if_not_exists = cursor.eat_words("IF NOT EXISTS");
    let name = cursor.name("the name of a view")?;
    let columns = if *cursor.peek() == Token::LParen { cursor.names("the name of a column")? } else { vec![] };
    let comment = cursor.comment()?;
    cursor.expect_words("AS")?;
    let query = cursor.query()?;
    let excerpt = cursor.excerpt_since(start);
    Ok(CreateView { name, if_not_exists, temporary, columns, comment, query, excerpt })
}

/// `INSERT INTO|OVERWRITE target [(column, ...)] query`
fn insert(cursor: &mut Cursor<'_>) -> Result<Insert> {
    let start = cursor.start();
    cursor.expect_words("INSERT")?;
    let overwrite = cursor.eat_words("OVERWRITE");
    if !overwrite && !cursor.eat_words("INTO") {
        return Err(cursor.unexpected("INTO or OVERWRITE"));
    }
    if cursor.at_words("TABLE") {
        return Err(cursor.refuse_next(1, "TABLE after INSERT is not Flink SQL").hint("write INSERT INTO target"));
    }
    let target = cursor.name("the name of a table")?;
    if cursor.at_words("PARTITION") {
        return Err(cursor
            .refuse_next(1, "PARTITION (...) in INSERT is not supported yet")
            .hint("give their values in the query, as columns of the table"));
    }
    let query_in_parentheses =
        ["SELECT", "WITH", "VALUES"].iter().any(|w| cursor.word(1).is_some_and(|x| x.eq_ignore_ascii_case(w)));
    let has_columns = *cursor.peek() == Token::LParen && !query_in_parentheses && *cursor.peek_nth(1) != Token::LParen;
    let columns = if has_columns { cursor.names("the name of a column")? } else { vec![] };
    let query = cursor.query()?;
    Ok(Insert { target, columns, overwrite, query, excerpt: cursor.excerpt_since(start) })
}
