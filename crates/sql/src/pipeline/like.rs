//! `CREATE TABLE ... LIKE`: the declaration that a table has with the parts of another.

use tidemill_core::{Error, Excerpt, Result};

use crate::parse::{ColumnDef, ColumnKind, CreateTable, Feature, Like, Strategy};

/// The declaration with what it takes over of the base table; `place` is that of the base's name.
///
/// # Errors
/// A part that is given again although it is taken over.
pub(super) fn completed(create: &CreateTable, like: &Like, base: &CreateTable, place: &Excerpt) -> Result<CreateTable> {
    let merge = Merge { like, base: &base.name.value, place };
    let mut completed = create.clone();
    completed.columns = merge.columns(&base.columns, &create.columns)?;
    completed.options = merge.options(&base.options, &create.options)?;
    if merge.takes(Feature::Watermarks, "a watermark", base.watermark.is_some(), create.watermark.is_some())? {
        completed.watermark.clone_from(&base.watermark);
    }
    let (ours, theirs) = (!create.primary_key.is_empty(), !base.primary_key.is_empty());
    if merge.takes(Feature::Constraints, "a primary key", theirs, ours)? {
        completed.primary_key.clone_from(&base.primary_key);
    }
    let (ours, theirs) = (!create.partitioned_by.is_empty(), !base.partitioned_by.is_empty());
    if merge.takes(Feature::Partitions, "partitions", theirs, ours)? {
        completed.partitioned_by.clone_from(&base.partitioned_by);
    }
    Ok(completed)
}

struct Merge<'a> {
    like: &'a Like,
    /// The name of the base table.
    base: &'a str,
    place: &'a Excerpt,
}

impl Merge<'_> {
    /// Whether a part that both may have is taken over.
    fn takes(&self, feature: Feature, what: &str, theirs: bool, ours: bool) -> Result<bool> {
        match self.like.strategy(feature) {
            Strategy::Excluding => Ok(false),
            Strategy::Overwriting => Ok(theirs && !ours),
            Strategy::Including if theirs && ours => Err(self.twice(what, feature)),
            Strategy::Including => Ok(theirs),
        }
    }

    fn twice(&self, what: &str, feature: Feature) -> Error {
        let name = format!("{feature:?}").to_uppercase();
        let error = Error::invalid(format!("the table '{}' has {what} already", self.base)).at(self.place.clone());
        match feature {
            Feature::Constraints | Feature::Partitions => {
                error.hint(format!("write LIKE {} (EXCLUDING {name})", self.base))
            }
            _ => error.hint(format!("write LIKE {} (EXCLUDING {name}) or (OVERWRITING {name})", self.base)),
        }
    }

    /// The base's columns, then the new ones. Stored columns are always taken over.
    fn columns(&self, theirs: &[ColumnDef], ours: &[ColumnDef]) -> Result<Vec<ColumnDef>> {
        let mut columns = vec![];
        for column in theirs {
            let again = ours.iter().find(|own| own.name.value == column.name.value);
            let (feature, same_kind) = match (&column.kind, again.map(|own| &own.kind)) {
                (ColumnKind::Physical { .. }, Some(_)) => {
                    let what = format!("the table '{}' has a column '{}' already", self.base, column.name.value);
                    let hint = "columns that are stored are taken over: give the new one another name";
                    let place = again.map_or(self.place, |own| &own.excerpt);
                    return Err(Error::invalid(what).hint(hint).at(place.clone()));
                }
                (ColumnKind::Physical { .. }, None) => {
                    columns.push(column.clone());
                    continue;
                }
                (ColumnKind::Computed(_), own) => {
                    (Feature::Generated, matches!(own, None | Some(ColumnKind::Computed(_))))
                }
                (ColumnKind::Metadata { .. }, own) => {
                    (Feature::Metadata, matches!(own, None | Some(ColumnKind::Metadata { .. })))
                }
            };
            let what = format!("a column '{}'", column.name.value);
            if !same_kind && self.like.strategy(feature) != Strategy::Excluding {
                return Err(self.twice(&what, feature));
            }
            if self.takes(feature, &what, true, again.is_some())? {
                columns.push(column.clone());
            }
        }
        columns.extend(ours.iter().cloned());
        Ok(columns)
    }

    fn options(
        &self,
        theirs: &[(String, String, Excerpt)],
        ours: &[(String, String, Excerpt)],
    ) -> Result<Vec<(String, String, Excerpt)>> {
        let mut options = vec![];
        for option in theirs {
            let again = ours.iter().any(|(key, ..)| *key == option.0);
            if self.takes(Feature::Options, &format!("the option '{}'", option.0), true, again)? {
                options.push(option.clone());
            }
        }
        options.extend(ours.iter().cloned());
        Ok(options)
    }
}
