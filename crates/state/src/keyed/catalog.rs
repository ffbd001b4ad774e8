//! The states that there are, by name: which number each has in the keys of its entries, and what it is.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray, UInt16Array};
use arrow::datatypes::UInt16Type;
use tidemill_core::{Error, Result};

use super::layout::StateId;

/// What a state is for each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Value,
    List,
    Map,
    Reducing,
    Aggregating,
    Timers,
}

const KINDS: [Kind; 6] = [Kind::Value, Kind::List, Kind::Map, Kind::Reducing, Kind::Aggregating, Kind::Timers];

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "value",
            Self::List => "list",
            Self::Map => "map",
            Self::Reducing => "reducing",
            Self::Aggregating => "aggregating",
            Self::Timers => "timers",
        })
    }
}

/// A state that was registered, or that snapshots have left.
struct Described {
    name: String,
    kind: Kind,
    /// How its values are written.
    codec: String,
    registered: bool,
}

/// The states, by their numbers.
#[derive(Default)]
pub(super) struct Catalog {
    states: Vec<Described>,
    /// Since it was last told.
    changed: bool,
}

impl Catalog {
    /// The number of a state that a program speaks of.
    ///
    /// # Errors
    /// `Invalid` if the name has been registered before, or snapshots have left something else under it.
    pub(super) fn register(&mut self, name: &str, kind: Kind, codec: &str) -> Result<StateId> {
        let id = self.find_or_add(name, kind, codec)?;
        let state = &mut self.states[usize::from(id)];
        if std::mem::replace(&mut state.registered, true) {
            return Err(Error::invalid(format!("the state '{name}' is registered twice"))
                .hint("give each state of an operator a name of its own"));
        }
        Ok(id)
    }

    fn find_or_add(&mut self, name: &str, kind: Kind, codec: &str) -> Result<StateId> {
        if let Some(id) = self.states.iter().position(|state| state.name == name) {
            let found = &self.states[id];
            if (found.kind, found.codec.as_str()) != (kind, codec) {
                let message = format!(
                    "the state '{name}' is {kind} in the format '{codec}', and snapshots have left {} in the format '{}'",
                    found.kind, found.codec
                );
                return Err(
                    Error::invalid(message).hint("read the old one as what it is, or give the new one another name")
                );
            }
            return Ok(id as StateId);
        }
        let id = StateId::try_from(self.states.len())
            .map_err(|_| Error::invalid(format!("an operator has no more than {} states", StateId::MAX)))?;
        self.changed = true;
        self.states.push(Described { name: name.to_owned(), kind, codec: codec.to_owned(), registered: false });
        Ok(id)
    }

    /// What a state is called.
    pub(super) fn name(&self, id: StateId) -> &str {
        self.states.get(usize::from(id)).map_or("", |state| &state.name)
    }

    /// Names that snapshots have left and nobody has registered.
    pub(super) fn unregistered(&self) -> Vec<&str> {
        self.states.iter().filter(|state| !state.registered).map(|state| state.name.as_str()).collect()
    }

    /// The catalog as rows, if they have changed since they were last asked for.
    pub(super) fn changes(&mut self) -> Result<Option<RecordBatch>> {
        if !std::mem::take(&mut self.changed) {
            return Ok(None);
        }
        let texts = |text: fn(&Described) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.states.iter().map(text)))
        };
        let ids: ArrayRef = Arc::new(UInt16Array::from_iter_values(0..self.states.len() as StateId));
        let columns = [
            ("id", ids),
            ("name", texts(|state| state.name.clone())),
            ("kind", texts(|state| state.kind.to_string())),
            ("codec", texts(|state| state.codec.clone())),
        ];
        Ok(Some(RecordBatch::try_from_iter(columns)?))
    }

    /// Takes in the states that snapshots have left. By the numbers that they had: the ones that they have now.
    ///
    /// # Errors
    /// `Data` if the rows are no catalog, `Invalid` if a state has been registered as something else.
    pub(super) fn restore(&mut self, rows: &RecordBatch) -> Result<Vec<StateId>> {
        let damaged = || Error::data("the list of states in the checkpoint is damaged");
        let texts =
            |name| rows.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()).ok_or_else(damaged);
        let ids = rows.column_by_name("id").and_then(|column| column.as_primitive_opt::<UInt16Type>());
        let (ids, names, kinds, codecs) = (ids.ok_or_else(damaged)?, texts("name")?, texts("kind")?, texts("codec")?);
        let mut now = vec![];
        for row in 0..rows.num_rows() {
            let kind = KINDS.into_iter().find(|kind| kind.to_string() == kinds.value(row)).ok_or_else(damaged)?;
            if usize::from(ids.value(row)) != row {
                return Err(damaged());
            }
            now.push(self.find_or_add(names.value(row), kind, codecs.value(row))?);
        }
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_keep_their_names_and_may_get_other_numbers() {
        let mut then = Catalog::default();
        then.register("a", Kind::Value, "postcard").unwrap();
        then.register("b", Kind::List, "postcard").unwrap();
        let rows = then.changes().unwrap().unwrap();
        assert_eq!(then.changes().unwrap(), None);

        let mut now = Catalog::default();
        assert_eq!(now.register("b", Kind::List, "postcard").unwrap(), 0);
        assert_eq!(now.restore(&rows).unwrap(), [1, 0]);
        assert_eq!(now.unregistered(), ["a"]);
        assert_eq!(now.register("a", Kind::Value, "postcard").unwrap(), 1);
        assert!(now.unregistered().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let mut then = Catalog::default();
        then.register("a", Kind::Value, "postcard").unwrap();
        let rows = then.changes().unwrap().unwrap();
        let error = then.register("a", Kind::Value, "postcard").unwrap_err();
        assert_eq!(error.message(), "the state 'a' is registered twice");
        let mut now = Catalog::default();
        now.restore(&rows).unwrap();
        let error = now.register("a", Kind::Map, "ordered, postcard").unwrap_err();
        assert_eq!(
            error.message(),
            "the state 'a' is map in the format 'ordered, postcard', and snapshots have left value in the format 'postcard'"
        );
        assert_eq!(
            now.restore(&rows.slice(0, 0).project(&[0]).unwrap()).unwrap_err().message(),
            "the list of states in the checkpoint is damaged"
        );
    }
}
