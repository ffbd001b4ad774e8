//! Which files of a table an entry of its log takes away, and which of a run's it knows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::ready;
use std::path::Path;

use deltalake_core::DeltaTableError;
use deltalake_core::kernel::{PrimitiveType, Remove};
use deltalake_core::logstore::LogStoreRef;
use deltalake_core::table::state::DeltaTableState;
use futures::{StreamExt, TryStreamExt};
use tidemill_core::{Error, Result};

use super::Replaces;
use crate::delta::columns::Columns;
use crate::delta::data_file::number_in;

/// The values of a partition in a form in which equal ones are equal, whoever has written them.
type Key = Vec<String>;

/// What became of a file that an entry has added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// It is in the table.
    Present,
    /// Its rows were taken out.
    TakenOut,
    /// Its rows are in another file: it was compacted.
    Rewritten,
}

/// The files of a run that the log still knows, by number.
pub(super) async fn named(run: &str, state: &DeltaTableState, store: &LogStoreRef) -> Result<BTreeMap<u64, Named>> {
    let gone = state.all_tombstones(store).map_ok(|file| {
        let became = if file.data_change() { Named::TakenOut } else { Named::Rewritten };
        (file.path().into_owned(), became)
    });
    let present = state.snapshot().file_views(store, None).map_ok(|file| (file.path().into_owned(), Named::Present));
    let files: Vec<(String, Named)> = gone.chain(present).try_collect().await.map_err(unreadable)?;
    let number = |(path, became): (String, Named)| Some((number_in(Path::new(&path), run)?, became));
    Ok(files.into_iter().filter_map(number).collect())
}

/// Whether a file of the table goes.
type Wanted<'a> = dyn Fn(&Remove) -> Result<bool> + Send + Sync + 'a;

/// The files that go.
///
/// # Errors
/// `Data` if the log says of a file what can't be read.
pub(super) async fn replaced(
    replaces: &Replaces,
    state: &DeltaTableState,
    store: &LogStoreRef,
    columns: &Columns,
) -> Result<Vec<Remove>> {
    let wanted: Box<Wanted<'_>> = match replaces {
        Replaces::Nothing => return Ok(vec![]),
        Replaces::Everything => Box::new(|_| Ok(true)),
        Replaces::Partitions(partitions) => {
            let keys = partitions.iter().map(|partition| key(&partition.values(columns), columns));
            let keys: HashSet<Key> = keys.collect::<Result<_>>()?;
            Box::new(move |file| Ok(keys.contains(&key(&file.partition_values.clone().unwrap_or_default(), columns)?)))
        }
        Replaces::Later { run, begun } => {
            Box::new(move |file| Ok(number_in(Path::new(&file.path), run).is_some_and(|number| number >= *begun)))
        }
    };
    let files = state.snapshot().file_views(store, None).map_err(unreadable);
    let goes = files
        .map_ok(|file| file.remove_action(true))
        .try_filter_map(|file| ready(wanted(&file).map(|wanted| wanted.then_some(file))));
    goes.try_collect().await
}

fn key(values: &HashMap<String, Option<String>>, columns: &Columns) -> Result<Key> {
    let part = |name: &String| {
        let text = values.get(name).and_then(Option::as_deref).unwrap_or_default();
        let primitive = columns.delta.field(name).and_then(|field| field.data_type().as_primitive_opt());
        let primitive: &PrimitiveType =
            primitive.ok_or_else(|| Error::internal(format!("the partition column '{name}' has no simple type")))?;
        // The same time can be written in several forms.
        let value = primitive.parse_scalar(text).map_err(|e| {
            Error::data(format!("the log says '{text}' of the partition column '{name}', which is no {primitive}"))
                .because(e)
        })?;
        Ok(format!("{value:?}"))
    };
    columns.partitioned_by.iter().map(part).collect()
}

fn unreadable(e: DeltaTableError) -> Error {
    Error::data(format!("the log of a Delta table can't be read: {e}")).because(e)
}
