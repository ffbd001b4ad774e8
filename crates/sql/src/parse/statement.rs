//! What a Flink SQL text says, statement by statement, each with its place.

use arrow::datatypes::DataType;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Query};
use tidemill_core::Excerpt;

use super::like::Like;

/// One statement.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a handful of statements a file")]
pub enum Statement {
    /// `SET 'key' = 'value'`
    Set {
        /// The key, without quotes.
        key: String,
        /// The value, without quotes.
        value: String,
        /// The place of the key.
        excerpt: Excerpt,
    },
    /// `CREATE [TEMPORARY] TABLE`
    CreateTable(CreateTable),
    /// `CREATE [TEMPORARY] VIEW`
    CreateView(CreateView),
    /// `INSERT INTO` or `INSERT OVERWRITE`, alone or in a statement set
    Insert(Insert),
    /// `EXPLAIN [PLAN FOR] statement`, where that is a query or an `INSERT`
    Explain(Box<Statement>),
    /// `SHOW TABLES`
    ShowTables,
    /// `SHOW FUNCTIONS`
    ShowFunctions,
    /// `SHOW VIEWS`
    ShowViews,
    /// `SHOW CREATE TABLE name` or `SHOW CREATE VIEW name`
    ShowCreate(Ident),
    /// `DESCRIBE name` or `DESC name`
    Describe(Ident),
    /// A bare query.
    Query {
        /// The query, checked and with its function names in lower case.
        query: Box<Query>,
        /// The place of the whole statement.
        excerpt: Excerpt,
    },
}

/// `CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name (...) [COMMENT '...'] [PARTITIONED BY (...)] WITH (...) [LIKE ...]`
///
/// Column names are unique, and the key, the partition columns and the watermark name declared columns: of this table, or
/// of the one that it is like.
#[derive(Debug, Clone)]
pub struct CreateTable {
    /// The table's name.
    pub name: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `TEMPORARY`
    pub temporary: bool,
    /// The columns, in order.
    pub columns: Vec<ColumnDef>,
    /// `WATERMARK FOR column AS expr`
    pub watermark: Option<WatermarkDef>,
    /// `PRIMARY KEY (...) NOT ENFORCED`; empty without one.
    pub primary_key: Vec<Ident>,
    /// `PARTITIONED BY (...)`; empty without one.
    pub partitioned_by: Vec<Ident>,
    /// `WITH ('key' = 'value', ...)`, with the place of each key. Keys are unique.
    pub options: Vec<(String, String, Excerpt)>,
    /// `LIKE base (...)`
    pub like: Option<Like>,
    /// `COMMENT '...'`
    pub comment: Option<String>,
    /// The place of the whole statement.
    pub excerpt: Excerpt,
}

/// A column of `CREATE TABLE`.
#[derive(Debug, Clone)]
pub struct ColumnDef {
    /// The column's name.
    pub name: Ident,
    /// Where its values come from.
    pub kind: ColumnKind,
    /// `COMMENT '...'`
    pub comment: Option<String>,
    /// The place of the whole definition.
    pub excerpt: Excerpt,
}

/// Where the values of a column come from.
#[derive(Debug, Clone)]
pub enum ColumnKind {
    /// `name TYPE [NOT NULL]`: stored in the connector's records.
    Physical {
        /// The Arrow form of the declared type.
        data_type: DataType,
        /// False if declared `NOT NULL`, or a part of the primary key.
        nullable: bool,
    },
    /// `name AS expr`: computed from the row's other columns.
    Computed(Box<Expr>),
    /// `name TYPE METADATA [FROM 'key'] [VIRTUAL]`: known to the connector beside the record.
    Metadata {
        /// The Arrow form of the declared type.
        data_type: DataType,
        /// False if declared `NOT NULL`.
        nullable: bool,
        /// The connector's name of it; the column's name if none is given.
        key: Option<String>,
        /// `VIRTUAL`: read, never written.
        read_only: bool,
    },
}

/// `WATERMARK FOR column AS expr`
#[derive(Debug, Clone)]
pub struct WatermarkDef {
    /// The column that holds event time.
    pub column: Ident,
    /// The watermark of a row.
    pub expr: Expr,
    /// The place of the whole definition.
    pub excerpt: Excerpt,
}

/// `CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT '...'] AS query`
#[derive(Debug, Clone)]
pub struct CreateView {
    /// The view's name.
    pub name: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `TEMPORARY`
    pub temporary: bool,
    /// The names that replace those of the query's columns; empty without them.
    pub columns: Vec<Ident>,
    /// `COMMENT '...'`
    pub comment: Option<String>,
    /// The query, checked and with its function names in lower case.
    pub query: Box<Query>,
    /// The place of the whole statement.
    pub excerpt: Excerpt,
}

/// `INSERT INTO|OVERWRITE target [(columns)] query`
#[derive(Debug, Clone)]
pub struct Insert {
    /// The table that is written.
    pub target: Ident,
    /// The columns that are written, in the query's order; empty for all.
    pub columns: Vec<Ident>,
    /// `OVERWRITE`
    pub overwrite: bool,
    /// The query, checked and with its function names in lower case.
    pub query: Box<Query>,
    /// The place of the whole statement.
    pub excerpt: Excerpt,
}
