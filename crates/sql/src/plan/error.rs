//! DataFusion's planning errors in our form: what is wrong, where in the file, and what to do.

mod place;
#[cfg(test)]
mod tests;
mod wording;

use datafusion::common::{Column, Diagnostic, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::keywords::Keyword;
use tidemill_core::{Error, ErrorKind, Excerpt};
use tidemill_runtime::connector::nearest;
use tidemill_runtime::engine_error;

use crate::function;
use crate::parse::SqlText;
use place::word;

/// `excerpt` is the statement that was planned, or the part of it that the error is about.
pub(crate) fn plan_error(error: DataFusionError, excerpt: &Excerpt) -> Error {
    if let Some((function, message)) = coercion_message(&error) {
        return Error::invalid(message).at(word(excerpt, function));
    }
    if let DataFusionError::Execution(message) | DataFusionError::Plan(message) = &error
        && let Some(error) = no_fields(message)
    {
        return error.at(excerpt.clone());
    }
    match error {
        DataFusionError::NotImplemented(message) if message.starts_with(NOT_PLANNED) => {
            not_planned(&message[NOT_PLANNED.len()..], excerpt)
        }
        DataFusionError::NotImplemented(message) => wording::empty_tuple(&message, excerpt)
            .unwrap_or_else(|| engine_error(DataFusionError::NotImplemented(message)).at(excerpt.clone())),
        DataFusionError::Diagnostic(diagnostic, inner) => {
            let place = diagnosed_place(&diagnostic, excerpt);
            plan_error(*inner, place.as_ref().unwrap_or(excerpt))
        }
        DataFusionError::Context(_, inner) => plan_error(*inner, excerpt),
        DataFusionError::Collection(errors) => match errors.into_iter().next() {
            Some(first) => plan_error(first, excerpt),
            None => Error::internal("planning failed without saying why").at(excerpt.clone()),
        },
        DataFusionError::SchemaError(schema_error, _) => self::schema_error(&schema_error, excerpt),
        DataFusionError::Plan(message) => plan_message(&message, excerpt),
        DataFusionError::Internal(message) => Error::internal(message).at(excerpt.clone()),
        other => {
            let error = engine_error(other);
            let error = match error.kind() {
                // While planning there is no data yet that could be wrong.
                ErrorKind::Data => {
                    wording::failed_cast(error.message(), excerpt).unwrap_or_else(|| Error::invalid(error.message()))
                }
                _ => error,
            };
            error.at(excerpt.clone())
        }
    }
}

/// A function of ours, and what it says of its arguments' types, without what DataFusion puts around it.
fn coercion_message(error: &DataFusionError) -> Option<(&str, &str)> {
    let (DataFusionError::Plan(message) | DataFusionError::Execution(message)) = error else { return None };
    let (before, rest) = message.split_once("user-defined coercion failed with: Error during planning: ")?;
    let function = before.split('\'').nth(1).unwrap_or_default();
    let end = rest.find(" No function matches the given name").unwrap_or(rest.len());
    Some((function, rest[..end].trim_end_matches('.')))
}

/// What is read of a value as if it was a `ROW`.
fn no_fields(message: &str) -> Option<Error> {
    let (_, rest) = message.split_once("Cannot access field at argument ")?;
    let (_, rest) = rest.split_once("type ")?;
    let (written, _) = rest.split_once(" is not Struct")?;
    let error = Error::invalid(format!("a field is read of a value that is a {}", wording::type_name(written)));
    Some(error.hint("only a ROW has fields; an element of an ARRAY or a MAP is read as value[index]"))
}

/// How DataFusion begins to say that an expression of a plan can't be run.
const NOT_PLANNED: &str = "Physical plan does not support logical expression ";

/// The expression is named by its kind: the rest is DataFusion's own form of it.
fn not_planned(expression: &str, excerpt: &Excerpt) -> Error {
    let kind = expression.split('(').next().unwrap_or_default();
    let (what, at) = match kind {
        "InSubquery" => ("IN (SELECT ...)", place::before_subquery(excerpt, Keyword::IN)),
        "Exists" => ("EXISTS (SELECT ...)", place::before_subquery(excerpt, Keyword::EXISTS)),
        "AggregateFunction" => {
            return Error::invalid("an aggregate stands where there is no group of rows to compute it over")
                .hint("compute it in a subquery, and use its column here")
                .at(excerpt.clone());
        }
        _ => ("this subquery", place::scalar_subquery(excerpt)),
    };
    let error = Error::invalid(format!("{what} depends on the row around it in a way that is not supported yet"));
    let error = error.hint(
        "compare a column of the subquery's table with one of the outer table by '=' in its WHERE; of an array ask \
         ARRAY_CONTAINS(array, element)",
    );
    error.at(at)
}

/// The place that DataFusion names. One outside of the statement is none: the text there was put in.
fn diagnosed_place(diagnostic: &Diagnostic, statement: &Excerpt) -> Option<Excerpt> {
    use datafusion::sql::sqlparser::tokenizer::{Location, Span};
    let span = diagnostic.span?;
    let location = |l: datafusion::common::Location| Location { line: l.line, column: l.column };
    let sql = SqlText::new(statement.origin.clone(), statement.text.clone());
    let place = sql.excerpt(Span { start: location(span.start), end: location(span.end) });
    let within = statement.span.start <= place.span.start && place.span.end <= statement.span.end;
    (within && !place.span.is_empty()).then_some(place)
}

fn schema_error(error: &SchemaError, excerpt: &Excerpt) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let names: Vec<&str> = valid_fields.iter().map(Column::name).collect();
            let error = Error::invalid(format!("there is no column '{}'", field.flat_name().replace(['`', '"'], "")));
            let error = match nearest(field.name(), names.iter().copied()) {
                Some(near) => error.hint(format!("did you mean '{near}'?")),
                None => error.hint(format!("the columns here are: {}", names.join(", "))),
            };
            error.at(word(excerpt, field.name()))
        }
        SchemaError::AmbiguousReference { field } => {
            Error::invalid(format!("the column '{}' could come from more than one table", field.name()))
                .hint("put the table's name before it: t.column")
                .at(word(excerpt, field.name()))
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            Error::invalid(format!("the column '{name}' is there twice"))
                .hint("give one of them another name: expr AS name")
                .at(word(excerpt, name))
        }
    }
}

fn plan_message(message: &str, excerpt: &Excerpt) -> Error {
    if let Some(rest) = message.strip_prefix("table '") {
        let name = rest.split('\'').next().unwrap_or(rest);
        let name = name.rsplit('.').next().unwrap_or(name);
        return Error::invalid(format!("there is no table '{name}'"))
            .hint("declare it with CREATE TABLE before this statement; names are case-sensitive")
            .at(word(excerpt, name));
    }
    if let Some(rest) = message.strip_prefix("Invalid function '") {
        let name = rest.split('\'').next().unwrap_or(rest);
        let error = Error::invalid(format!("there is no function '{}'", name.to_uppercase()));
        // DataFusion proposes names in no order, and such as are not called from SQL.
        let names = function::names();
        let error = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean '{}'?", near.to_uppercase())),
            None => error.hint("SHOW FUNCTIONS lists them"),
        };
        return error.at(word(excerpt, name));
    }
    if let Some(name) = message.strip_prefix("Field ").and_then(|rest| rest.strip_suffix(" not found in struct")) {
        return Error::invalid(format!("the row has no field '{name}'")).at(word(excerpt, name));
    }
    if message.starts_with("Projections require unique expression names") {
        return Error::invalid("two columns of the result have one name")
            .hint("give one of them another name with AS")
            .at(excerpt.clone());
    }
    if message.starts_with("Inconsistent data length across values list") {
        return Error::invalid("the rows of VALUES have different numbers of values")
            .hint("give each row a value for each column; NULL is one")
            .at(word(excerpt, "VALUES"));
    }
    if message.starts_with("Inconsistent data type across values list") {
        return Error::invalid("the rows of VALUES have no type in common")
            .hint("CAST the values of each column to one type")
            .at(word(excerpt, "VALUES"));
    }
    if let Some(column) = ungrouped(message) {
        return Error::invalid(format!("the column '{column}' is neither grouped by nor aggregated"))
            .hint(format!("add {column} to GROUP BY, or aggregate it: MAX({column})"))
            .at(word(excerpt, column));
    }
    wording::reworded(message, excerpt)
        .unwrap_or_else(|| Error::invalid(message.trim_end_matches('.')).at(excerpt.clone()))
}

/// The column that DataFusion found outside of `GROUP BY`, without its table.
fn ungrouped(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("must be in GROUP BY")?;
    let (_, rest) = rest.split_once("column \"")?;
    let (name, _) = rest.split_once('"')?;
    Some(name.rsplit('.').next().unwrap_or(name).trim_matches('`'))
}
