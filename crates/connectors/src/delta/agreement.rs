//! Whether a Delta table takes the rows of a table that is declared.

use deltalake_core::kernel::transaction::{PROTOCOL, TransactionError};
use deltalake_core::kernel::{ColumnMetadataKey, DataType, StructField};
use deltalake_core::table::state::DeltaTableState;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::WriteMode;

use super::columns::Columns;
use super::options::TablePath;

/// How the keys of a table's properties begin that each of its rows has to satisfy.
const CONSTRAINT: &str = "delta.constraints.";

/// What a column can have that a writer would have to see to.
const RULES: [ColumnMetadataKey; 4] = [
    ColumnMetadataKey::Invariants,
    ColumnMetadataKey::GenerationExpression,
    ColumnMetadataKey::IdentityStart,
    ColumnMetadataKey::IdentityStep,
];

/// Checks that the Delta table takes rows with these columns.
///
/// # Errors
/// `Invalid` if it has other columns or partitions, asks of its writers what is not done here, or keeps all rows where
/// some are to be replaced.
pub fn check(path: &TablePath, state: &DeltaTableState, columns: &Columns, mode: WriteMode) -> Result<()> {
    let table = format!("the Delta table '{}'", path.written);
    PROTOCOL.can_write_to(state).map_err(|e| refused_features(&table, e))?;
    if let Some(name) = state.metadata().configuration().keys().find_map(|key| key.strip_prefix(CONSTRAINT)) {
        return Err(Error::invalid(format!("{table} has the constraint '{name}', which can't be checked here"))
            .hint("drop the constraint, or write to another table"));
    }
    if mode == WriteMode::Overwrite {
        let refused = |_| Error::invalid(format!("{table} is append-only: INSERT OVERWRITE can't replace its rows"));
        PROTOCOL
            .check_append_only(state.snapshot())
            .map_err(|e| refused(e).hint("use INSERT INTO, or set its property 'delta.appendOnly' to false"))?;
    }
    check_columns(&table, state, columns)?;
    let found = state.metadata().partition_columns();
    if found != columns.partitioned_by {
        return Err(Error::invalid(format!(
            "{table} is partitioned by ({}), and the declared table by ({})",
            found.join(", "),
            columns.partitioned_by.join(", ")
        ))
        .hint("declare the partitions as the table has them: PARTITIONED BY (...)"));
    }
    Ok(())
}

fn check_columns(table: &str, state: &DeltaTableState, columns: &Columns) -> Result<()> {
    const AS_IT_IS: &str = "declare the columns as the table has them, or write to another 'table-path'";
    let schema = state.schema();
    let differs = |message: String| Err(Error::invalid(message).hint(AS_IT_IS));
    for ours in columns.delta.fields() {
        let name = ours.name();
        let Some(theirs) = schema.field(name) else {
            return differs(format!("{table} has no column '{name}'"));
        };
        if !same_type(ours.data_type(), theirs.data_type()) {
            return differs(format!(
                "the column '{name}' is {} in {table}, and {} in the declared table",
                theirs.data_type(),
                ours.data_type()
            ));
        }
        if ours.is_nullable() && !theirs.is_nullable() {
            return differs(format!(
                "the column '{name}' is NOT NULL in {table}, and may be NULL in the declared table"
            ));
        }
    }
    for theirs in schema.fields() {
        let name = theirs.name();
        if columns.delta.field(name).is_none() {
            return differs(format!("{table} has a column '{name}', which is not declared"));
        }
        if RULES.iter().any(|rule| theirs.metadata().contains_key(rule.as_ref())) {
            return Err(Error::invalid(format!(
                "the column '{name}' of {table} has a rule for its values, which can't be kept here"
            ))
            .hint("write to another table, and copy the rows with Spark"));
        }
    }
    Ok(())
}

/// Whether two types are the same but for what is noted beside the fields.
fn same_type(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::Array(one), DataType::Array(other)) => {
            one.contains_null() == other.contains_null() && same_type(one.element_type(), other.element_type())
        }
        (DataType::Map(one), DataType::Map(other)) => {
            one.value_contains_null() == other.value_contains_null()
                && same_type(one.key_type(), other.key_type())
                && same_type(one.value_type(), other.value_type())
        }
        (DataType::Struct(one), DataType::Struct(other)) => {
            let same = |(one, other): (&StructField, &StructField)| {
                one.name() == other.name()
                    && one.is_nullable() == other.is_nullable()
                    && same_type(one.data_type(), other.data_type())
            };
            one.fields().len() == other.fields().len() && one.fields().zip(other.fields()).all(same)
        }
        _ => one == other,
    }
}

fn refused_features(table: &str, e: TransactionError) -> Error {
    let message = match &e {
        TransactionError::UnsupportedTableFeatures(features) => {
            let mut names: Vec<String> = features.iter().map(ToString::to_string).collect();
            names.sort();
            format!("{table} has features that can't be written here: {}", names.join(", "))
        }
        _ => format!("{table} can't be written here: {e}"),
    };
    Error::invalid(message).because(e).hint("write to another table, and copy the rows with Spark")
}
