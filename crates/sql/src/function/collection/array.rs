//! Functions that make an array of arrays.

use std::collections::HashSet;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{Row, Rows};
use datafusion::common::Result;

use super::arguments;
use super::pool::Pool;
use crate::function::scalar::{Evaluate as E, Function, Parameter as P};

pub(super) static FUNCTIONS: [Function; 11] = [
    Function::new(
        &["array_append"],
        "ARRAY_APPEND(array, element)",
        "with the element behind its own",
        &[P::Array, P::Any],
        E::Arrays(append),
    ),
    Function::new(
        &["array_prepend"],
        "ARRAY_PREPEND(array, element)",
        "with the element before its own",
        &[P::Array, P::Any],
        E::Arrays(prepend),
    ),
    Function::new(
        &["array_concat"],
        "ARRAY_CONCAT(array, ...)",
        "the elements of all; NULL if one is NULL",
        &[P::Array],
        E::Arrays(concat),
    )
    .repeats(),
    Function::new(
        &["array_distinct"],
        "ARRAY_DISTINCT(array)",
        "each element once, where it stands first",
        &[P::Array],
        E::Arrays(distinct),
    ),
    Function::new(
        &["array_except"],
        "ARRAY_EXCEPT(array, other)",
        "the elements that are not in the other, each once",
        &[P::Array, P::Array],
        E::Arrays(except),
    ),
    Function::new(
        &["array_intersect"],
        "ARRAY_INTERSECT(array, other)",
        "the elements that are in the other too, each once",
        &[P::Array, P::Array],
        E::Arrays(intersect),
    ),
    Function::new(
        &["array_union"],
        "ARRAY_UNION(array, other)",
        "the elements of both, each once",
        &[P::Array, P::Array],
        E::Arrays(union),
    ),
    Function::new(
        &["array_remove"],
        "ARRAY_REMOVE(array, element)",
        "without the elements that are equal to this one",
        &[P::Array, P::Any],
        E::Arrays(remove),
    ),
    Function::new(&["array_reverse"], "ARRAY_REVERSE(array)", "backwards", &[P::Array], E::Arrays(reverse)),
    Function::new(
        &["array_slice"],
        "ARRAY_SLICE(array, first[, last])",
        "the elements from the first to the last, counted from 1, or from the end where negative",
        &[P::Array, P::Int, P::Int],
        E::Arrays(slice),
    )
    .required(2),
    Function::new(
        &["array_sort"],
        "ARRAY_SORT(array[, ascending[, nulls_first]])",
        "in order; NULLs come first where it ascends, unless it is said otherwise",
        &[P::Ordered, P::Boolean, P::Boolean],
        E::Arrays(sort),
    )
    .required(1),
];

fn append(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let [array, element] = arguments(given)?;
    let pool = Pool::with_element(array, element)?;
    pool.arrays(output, array.len(), |row, picked| {
        picked.extend(pool.elements(0, row)?.chain(pool.elements(1, row)?));
        Some(())
    })
}

fn prepend(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let [array, element] = arguments(given)?;
    let pool = Pool::with_element(array, element)?;
    pool.arrays(output, array.len(), |row, picked| {
        picked.extend(pool.elements(1, row)?.chain(pool.elements(0, row)?));
        Some(())
    })
}

fn concat(arrays: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(arrays)?;
    pool.arrays(output, arrays[0].len(), |row, picked| {
        for argument in 0..arrays.len() {
            picked.extend(pool.elements(argument, row)?);
        }
        Some(())
    })
}

/// Picks each element once.
fn pick_once<'a>(
    elements: impl Iterator<Item = usize>,
    encoded: &'a Rows,
    seen: &mut HashSet<Row<'a>>,
    picked: &mut Vec<usize>,
) {
    picked.extend(elements.filter(|element| seen.insert(encoded.row(*element))));
}

fn distinct(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let encoded = pool.encoded()?;
    pool.arrays(output, given[0].len(), |row, picked| {
        pick_once(pool.elements(0, row)?, &encoded, &mut HashSet::new(), picked);
        Some(())
    })
}

fn union(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let encoded = pool.encoded()?;
    pool.arrays(output, given[0].len(), |row, picked| {
        let both = pool.elements(0, row)?.chain(pool.elements(1, row)?);
        pick_once(both, &encoded, &mut HashSet::new(), picked);
        Some(())
    })
}

fn except(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let encoded = pool.encoded()?;
    pool.arrays(output, given[0].len(), |row, picked| {
        // Those of the other are seen already.
        let mut seen: HashSet<Row<'_>> = pool.elements(1, row)?.map(|element| encoded.row(element)).collect();
        pick_once(pool.elements(0, row)?, &encoded, &mut seen, picked);
        Some(())
    })
}

fn intersect(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let encoded = pool.encoded()?;
    pool.arrays(output, given[0].len(), |row, picked| {
        let other: HashSet<Row<'_>> = pool.elements(1, row)?.map(|element| encoded.row(element)).collect();
        let shared = pool.elements(0, row)?.filter(|element| other.contains(&encoded.row(*element)));
        pick_once(shared, &encoded, &mut HashSet::new(), picked);
        Some(())
    })
}

fn remove(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let [array, element] = arguments(given)?;
    let pool = Pool::with_element(array, element)?;
    let encoded = pool.encoded()?;
    pool.arrays(output, array.len(), |row, picked| {
        let removed = encoded.row(pool.elements(1, row)?.start);
        picked.extend(pool.elements(0, row)?.filter(|element| encoded.row(*element) != removed));
        Some(())
    })
}

fn reverse(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    pool.arrays(output, given[0].len(), |row, picked| {
        picked.extend(pool.elements(0, row)?.rev());
        Some(())
    })
}

fn slice(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(&given[..1])?;
    let bounds = given[1..].iter().map(|bound| cast(bound, &DataType::Int64)).collect::<Result<Vec<_>, _>>()?;
    let bound = |i: usize, row: usize| {
        let bounds = bounds[i].as_primitive::<Int64Type>();
        bounds.is_valid(row).then(|| bounds.value(row))
    };
    pool.arrays(output, given[0].len(), |row, picked| {
        let elements = pool.elements(0, row)?;
        let last = if bounds.len() > 1 { bound(1, row)? } else { -1 };
        picked.extend(sliced(elements, bound(0, row)?, last));
        Some(())
    })
}

/// The elements from the first to the last. As in Flink, a first one that lies before the first element is that, and a last
/// one only if it is 0.
fn sliced(elements: Range<usize>, first: i64, last: i64) -> Range<usize> {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let position = |bound: i64| if bound < 0 { length + bound + 1 } else { bound };
    let last = if position(last) == 0 { 1 } else { position(last) };
    let (first, last) = (position(first).max(1), last.min(length));
    match (usize::try_from(first - 1), usize::try_from(last)) {
        (Ok(skipped), Ok(end)) if skipped < end => elements.start + skipped..elements.start + end,
        _ => elements.start..elements.start,
    }
}

fn sort(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(&given[..1])?;
    let encoded = pool.encoded()?;
    let flag = |i: usize, row: usize, default: bool| match given.get(i).map(|flags| flags.as_boolean()) {
        Some(flags) => value(flags, row),
        None => Some(default),
    };
    pool.arrays(output, given[0].len(), |row, picked| {
        let elements = pool.elements(0, row)?;
        let ascending = flag(1, row, true)?;
        let nulls_first = flag(2, row, ascending)?;
        let (mut present, nulls): (Vec<usize>, Vec<usize>) =
            elements.partition(|element| pool.values.is_valid(*element));
        present.sort_by(|a, b| {
            let order = encoded.row(*a).cmp(&encoded.row(*b));
            if ascending { order } else { order.reverse() }
        });
        let (before, behind) = if nulls_first { (nulls, vec![]) } else { (vec![], nulls) };
        picked.extend(before.into_iter().chain(present).chain(behind));
        Some(())
    })
}

fn value(flags: &BooleanArray, row: usize) -> Option<bool> {
    flags.is_valid(row).then(|| flags.value(row))
}
