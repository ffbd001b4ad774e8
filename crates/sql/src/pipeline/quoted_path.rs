//! `FROM 'events.jsonl'`: a path in the place of a table.
//!
//! The path is declared as a table first, in SQL, as the user would have written it: that is what `SHOW CREATE TABLE`
//! gives, and from then on it is a table like others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Query, visit_relations_mut};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::Inferred;

use super::Loader;
use crate::parse::{SqlText, Statement, parse};
use crate::types::{declared_type, quoted};

/// The paths that stand for tables.
#[derive(Debug, Default)]
pub(super) struct QuotedPaths {
    /// By path: the table's name.
    names: BTreeMap<String, String>,
    /// The names that the text declares itself, before or after.
    declared: BTreeSet<String>,
}

impl QuotedPaths {
    /// None yet, in a text of these statements.
    pub(super) fn beside(statements: &[Statement]) -> Self {
        let declared = statements.iter().filter_map(|statement| match statement {
            Statement::CreateTable(create) => Some(create.name.value.clone()),
            Statement::CreateView(view) => Some(view.name.value.clone()),
            _ => None,
        });
        Self { names: BTreeMap::new(), declared: declared.collect() }
    }

    /// A name for the table at `path`: that of the file, without what can't stand in a name, and with a number behind
    /// where it is taken.
    fn name_for(&self, path: &str) -> String {
        let named = |part: &&str| part.contains(char::is_alphanumeric) && !part.contains(['*', '?', '[']);
        let last = path.rsplit('/').find(named).unwrap_or_default();
        let stem = last.trim_start_matches('.').split('.').next().unwrap_or_default();
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let base: String = stem.chars().map(word).collect();
        let base = match base.trim_matches('_') {
            "" => "input".to_owned(),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => format!("t_{digits}"),
            name => name.to_owned(),
        };
        let taken = |name: &String| self.declared.contains(name) || self.names.values().any(|other| other == name);
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
    }
}

impl Loader<'_> {
    /// Declares what the paths of a statement name, and puts the names of the tables in their place.
    pub(super) fn declare_quoted_paths(&mut self, statement: &mut Statement) -> Result<()> {
        match statement {
            Statement::Query { query, .. } => self.in_query(query),
            Statement::Insert(insert) => self.in_query(&mut insert.query),
            Statement::CreateView(view) => self.in_query(&mut view.query),
            Statement::Explain(explained) => self.declare_quoted_paths(explained),
            Statement::Describe(name) | Statement::ShowCreate(name) => self.in_name(name),
            Statement::Set { .. }
            | Statement::CreateTable(_)
            | Statement::ShowTables
            | Statement::ShowViews
            | Statement::ShowFunctions => Ok(()),
        }
    }

    fn in_query(&mut self, query: &mut Query) -> Result<()> {
        let visited = visit_relations_mut(query, |ObjectName(parts)| match parts.as_mut_slice() {
            [ObjectNamePart::Identifier(name)] => match self.in_name(name) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            },
            _ => ControlFlow::Continue(()),
        });
        match visited {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn in_name(&mut self, name: &mut Ident) -> Result<()> {
        if name.quote_style != Some('\'') {
            return Ok(());
        }
        let table = match self.inferred.names.get(&name.value) {
            Some(table) => table.clone(),
            None => self.infer(&name.value).map_err(|e| e.at(self.place_of(name)))?,
        };
        *name = Ident { value: table, quote_style: Some('`'), span: name.span };
        Ok(())
    }

    /// Where the path stands. sqlparser keeps no place of a name in single quotes, so it is looked for.
    fn place_of(&self, path: &Ident) -> Excerpt {
        let literal = format!("'{}'", path.value.replace('\'', "''"));
        match self.sql.text.find(&literal) {
            Some(start) => self.sql.excerpt_of_bytes(start..start + literal.len()),
            None => self.sql.excerpt(path.span),
        }
    }

    /// Declares what `path` names; gives the table's name.
    fn infer(&mut self, path: &str) -> Result<String> {
        let Some(infer) = &self.options.infer else {
            return Err(Error::invalid("a path in the place of a table is not Flink SQL").hint(format!(
                "declare the table: tidemill query \"SHOW CREATE TABLE '{path}'\" gives the CREATE TABLE to begin with"
            )));
        };
        let inferred = infer.infer(path, &self.options.folder)?;
        let name = self.inferred.name_for(path);
        let text = SqlText::new(format!("<the declaration of '{path}'>"), declaration(&name, &inferred));
        for statement in parse(&text)? {
            if let Statement::CreateTable(create) = &statement {
                let mut table = self.declare(create, &text)?;
                table.advice = Some(Arc::from(inferred.advice.as_str()));
                self.session.register(Arc::new(table))?;
            }
        }
        self.inferred.names.insert(path.to_owned(), name.clone());
        Ok(name)
    }
}

/// The `CREATE TABLE` of an inferred table.
fn declaration(name: &str, inferred: &Inferred) -> String {
    let column = |field: &Arc<arrow::datatypes::Field>| {
        format!("  {} {}", quoted(field.name()), declared_type(field.data_type()))
    };
    let columns: Vec<String> = inferred.columns.fields().iter().map(column).collect();
    let option = |(key, value): &(String, String)| format!("  '{key}' = '{}'", value.replace('\'', "''"));
    let options: Vec<String> = inferred.options.iter().map(option).collect();
    let partitions: Vec<String> = inferred.partitioned_by.iter().map(|name| quoted(name)).collect();
    let partitioned =
        if partitions.is_empty() { String::new() } else { format!(" PARTITIONED BY ({})", partitions.join(", ")) };
    let (columns, options) = (columns.join(",\n"), options.join(",\n"));
    format!("CREATE TABLE {} (\n{columns}\n){partitioned} WITH (\n{options}\n)", quoted(name))
}

#[cfg(test)]
mod tests;
