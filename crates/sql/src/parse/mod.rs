//! Flink SQL text to statements, each with its place in the text.
//!
//! `tokens` makes tokens that sqlparser can read, `script` and `create_table` read Flink's
//! statements off them and leave queries and expressions to sqlparser, and `check` goes over every
//! query: a clause that is parsed is either kept or refused by name, never dropped.

mod access;
mod case;
mod chain;
mod check;
mod create_table;
mod cursor;
mod dialect;
mod interval;
mod json_call;
mod like;
mod predicate;
mod refusal;
mod rewrite;
mod script;
mod statement;
mod syntax_error;
mod text;
mod time_call;
mod tokens;
mod unnest;
mod window_call;
mod words;

#[cfg(test)]
mod tests;

use tidemill_core::{Error, Result};

pub(crate) use create_table::resolve;
pub use dialect::FlinkDialect;
pub(crate) use dialect::call;
pub(crate) use interval::place;
pub use interval::{interval_ms, offset_ms};
pub use like::{Feature, Like, Strategy};
pub use statement::{ColumnDef, ColumnKind, CreateTable, CreateView, Insert, Statement, WatermarkDef};
pub use text::SqlText;
pub(crate) use unnest::{UnnestCall, unnest_call, unnests};
pub(crate) use window_call::table_factor;
pub use window_call::{WindowCall, WindowFunction, window_call};

/// Only what is used of it is ever committed to memory.
const PARSER_STACK_BYTES: usize = 32 << 20;

/// The statements of a text, in order; those of a statement set stand by themselves.
///
/// # Errors
/// The first mistake, with its place and what to do about it.
pub fn parse(sql: &SqlText) -> Result<Vec<Statement>> {
    // sqlparser recurses up to its own limit of depth, whose frames don't fit every thread's stack.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("parse".into()).stack_size(PARSER_STACK_BYTES);
        let worker = thread
            .spawn_scoped(scope, || parse_here(sql))
            .map_err(|e| Error::unavailable("no thread to parse the SQL").because(e))?;
        worker.join().unwrap_or_else(|_| Err(Error::internal("the SQL parser failed")))
    })
}

fn parse_here(sql: &SqlText) -> Result<Vec<Statement>> {
    let tokens = tokens::tokenize(sql)?;
    let dialect = FlinkDialect::for_tokens(tokens.len());
    script::statements(&mut cursor::Cursor::new(sql, &tokens, &dialect))
}
