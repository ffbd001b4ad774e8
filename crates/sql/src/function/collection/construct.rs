//! `ARRAY[...]`, `MAP[...]` and `ROW(...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult};
use datafusion::logical_expr::{Expr, ScalarUDF};

use super::pool::{Holds, Pool};
use super::{array_of, map};
use crate::function::scalar::{Evaluate as E, Function, Parameter as P, Returns};
use crate::types::map_type;

/// What `ARRAY[a, b]` calls; nobody can write it, for it has a space.
pub(crate) const ARRAY: &str = "array of";

/// What `MAP[k, v]` calls.
pub(crate) const MAP: &str = "map of";

pub(super) static FUNCTIONS: [Function; 2] = [
    Function::new(
        &[ARRAY],
        "ARRAY[value, ...]",
        "an array of the values, which have a type in common",
        &[P::Any],
        E::Arrays(array),
    )
    .repeats()
    .returns(Returns::Of(|types| array_of(&types[0]))),
    Function::new(
        &[MAP],
        "MAP[key, value, ...]",
        "a map; of a key that is there twice, the last value",
        &[P::Any, P::Any],
        E::Arrays(map_of),
    )
    .repeats()
    .returns(Returns::Of(|types| map_type(types[0].clone(), types[1].clone()))),
];

/// What `ROW(a, b)` and `(a, b)` call.
pub(crate) const ROW: &str = "row";

pub(super) static ROW_FUNCTION: Function = Function::new(
    &[ROW],
    "ROW(value, ...)",
    "a row of the values; also (value, value, ...)",
    &[P::Any],
    E::Arrays(row),
)
.repeats()
.returns(Returns::Of(row_type));

/// Plans `(a, b)` as a ROW.
#[derive(Debug)]
pub(crate) struct CollectionPlanner;

impl ExprPlanner for CollectionPlanner {
    fn plan_struct_literal(&self, args: Vec<Expr>, _is_named: bool) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(ScalarUDF::from(ROW_FUNCTION.clone()).call(args)))
    }
}

/// As in Flink, the fields are named by their position.
fn row_type(types: &[DataType]) -> DataType {
    let field = |(i, data_type): (usize, &DataType)| Field::new(format!("EXPR${i}"), data_type.clone(), true);
    DataType::Struct(types.iter().enumerate().map(field).collect())
}

fn array(values: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let pool = Pool::new(values.iter().map(|value| (value, Holds::Element)))?;
    pool.arrays(output, values[0].len(), |row, picked| {
        picked.extend((0..values.len()).filter_map(|value| pool.elements(value, row)).flatten());
        Some(())
    })
}

fn map_of(entries: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let side = |side: usize| Pool::new(entries.iter().skip(side).step_by(2).map(|value| (value, Holds::Element)));
    let (keys, values) = (side(0)?, side(1)?);
    map::maps(&keys.values, &values.values, output, entries[0].len(), |row, picked| {
        let pairs = (0..entries.len() / 2).filter_map(|i| keys.elements(i, row).zip(values.elements(i, row)));
        picked.extend(pairs.flat_map(|(keys, values)| keys.zip(values)));
        Some(())
    })
}

fn row(values: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let DataType::Struct(fields) = output else { return internal_err!("a row of type {output}") };
    Ok(Arc::new(StructArray::try_new(fields.clone(), values.to_vec(), None)?))
}
