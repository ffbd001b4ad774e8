//! The options of single columns, `fields.<column>.<option>`: which of them there can be depends on the column's
//! generator, so the generators ask, and what none of them asked for is a mistake.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Options, TableSpec, nearest};

const PREFIX: &str = "fields.";

/// The options of all columns.
pub(super) struct FieldOptions<'a> {
    table: &'a TableSpec,
    /// What was asked for, by field.
    asked: RefCell<BTreeMap<String, BTreeSet<&'static str>>>,
}

impl<'a> FieldOptions<'a> {
    pub(super) fn new(table: &'a TableSpec) -> Self {
        Self { table, asked: RefCell::default() }
    }

    /// The options of a column, or of a field in one (`column.field`, `column.element`, `column.key`, `column.value`).
    pub(super) fn field(&self, path: impl Into<String>) -> Field<'_> {
        let path = path.into();
        self.asked.borrow_mut().entry(path.clone()).or_default();
        Field { all: self, path }
    }

    /// Refuses what no generator asked for.
    pub(super) fn check_all_asked(&self) -> Result<()> {
        let asked = self.asked.borrow();
        for (key, _) in self.table.options.iter() {
            let Some((path, option)) = key.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('.')) else {
                continue;
            };
            let refuse = |message| self.table.options.refuse(key, message);
            match asked.get(path) {
                Some(options) if options.contains(option) => {}
                Some(options) => {
                    let known: Vec<&str> = options.iter().copied().collect();
                    let error = refuse(format!("the option '{option}' says nothing about the values of '{path}'"));
                    return Err(error.hint(format!("its options are: {}", known.join(", "))));
                }
                None => {
                    let error = refuse(format!("the table '{}' has no column '{path}'", self.table.name));
                    let names = || asked.keys().map(String::as_str);
                    return Err(match nearest(path, names()) {
                        Some(near) => error.hint(format!("did you mean '{near}'?")),
                        None => error.hint(format!("it has: {}", names().collect::<Vec<_>>().join(", "))),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The options of one field.
pub(super) struct Field<'a> {
    all: &'a FieldOptions<'a>,
    pub(super) path: String,
}

impl<'a> Field<'a> {
    /// A field in this one.
    pub(super) fn child(&self, name: &str) -> Field<'a> {
        self.all.field(format!("{}.{name}", self.path))
    }

    /// The value that `read` finds in an option's text, if it is set.
    pub(super) fn get<T>(
        &self,
        option: &'static str,
        read: impl Fn(&str) -> Option<T>,
        what: &str,
    ) -> Result<Option<T>> {
        self.options().parsed(&self.key(option), read, what)
    }

    /// Like [`Field::get`], where it must be set.
    pub(super) fn required<T>(&self, option: &'static str, read: impl Fn(&str) -> Option<T>, what: &str) -> Result<T> {
        let missing = || {
            let message = format!("the sequence '{}' has no '{option}'", self.path);
            self.refuse("kind", message).hint(format!("add '{}' = '...', {what}", self.key(option)))
        };
        self.get(option, read, what)?.ok_or_else(missing)
    }

    /// `true` or `false`; `false` where it is not set.
    pub(super) fn flag(&self, option: &'static str) -> Result<bool> {
        self.options().boolean(&self.key(option), false)
    }

    /// An error about one of the field's options, with its place.
    pub(super) fn refuse(&self, option: &'static str, message: impl Into<String>) -> Error {
        self.options().refuse(&self.key(option), message)
    }

    fn options(&self) -> &Options {
        &self.all.table.options
    }

    fn key(&self, option: &'static str) -> String {
        self.all.asked.borrow_mut().entry(self.path.clone()).or_default().insert(option);
        format!("{PREFIX}{}.{option}", self.path)
    }
}
