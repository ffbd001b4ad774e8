//! Functions over arrays against plain vectors.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray};
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::ScalarValue;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl};
use proptest::prelude::*;

use super::*;

type Elements = Vec<Option<i32>>;
type Arrays = Vec<Option<Elements>>;

fn column(arrays: &Arrays) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(arrays.iter().cloned()))
}

fn call(name: &str, arguments: Vec<ArrayRef>) -> ArrayRef {
    let function = functions().find(|function| function.names.contains(&name)).unwrap();
    let types: Vec<DataType> = arguments.iter().map(|argument| argument.data_type().clone()).collect();
    let output = function.return_type(&function.coerce_types(&types).unwrap()).unwrap();
    let field = |data_type: &DataType| Arc::new(Field::new("x", data_type.clone(), true));
    let number_rows = arguments[0].len();
    let args = ScalarFunctionArgs {
        arg_fields: types.iter().map(field).collect(),
        args: arguments.into_iter().map(ColumnarValue::Array).collect(),
        number_rows,
        return_field: field(&output),
        config_options: Arc::new(ConfigOptions::default()),
    };
    let result = function.invoke_with_args(args).unwrap().into_array(number_rows).unwrap();
    assert_eq!(*result.data_type(), output);
    result
}

/// The rows of a column of arrays.
fn arrays(column: &ArrayRef) -> Arrays {
    let lists = column.as_list::<i32>();
    lists.iter().map(|list| list.map(|list| list.as_primitive::<Int32Type>().iter().collect())).collect()
}

fn ints(column: &ArrayRef) -> Elements {
    column.as_primitive::<Int32Type>().iter().collect()
}

fn elements() -> impl Strategy<Value = Elements> {
    prop::collection::vec(prop::option::weighted(0.8, 0..5_i32), 0..7)
}

/// Two columns of arrays and one of elements, of one length, cut off some rows before them.
fn given() -> impl Strategy<Value = (Arrays, Arrays, Elements)> {
    let row = (
        prop::option::weighted(0.9, elements()),
        prop::option::weighted(0.9, elements()),
        prop::option::weighted(0.8, 0..5_i32),
    );
    prop::collection::vec(row, 1..8).prop_map(|rows| {
        let (mut left, mut right, mut element) = (vec![], vec![], vec![]);
        for (a, b, c) in rows {
            left.push(a);
            right.push(b);
            element.push(c);
        }
        (left, right, element)
    })
}

/// The column as a part of a longer one: its offsets don't begin at 0.
fn sliced(arrays: &Arrays) -> ArrayRef {
    let longer: Arrays = std::iter::once(Some(vec![Some(9), None])).chain(arrays.iter().cloned()).collect();
    column(&longer).slice(1, arrays.len())
}

fn once(elements: impl IntoIterator<Item = Option<i32>>) -> Elements {
    let mut kept: Elements = vec![];
    for element in elements {
        if !kept.contains(&element) {
            kept.push(element);
        }
    }
    kept
}

/// The rows of two columns, where both are there.
fn zipped(left: &Arrays, right: &Arrays, f: impl Fn(&Elements, &Elements) -> Elements) -> Arrays {
    left.iter().zip(right).map(|(a, b)| Some(f(a.as_ref()?, b.as_ref()?))).collect()
}

fn with(left: &Arrays, element: &Elements, f: impl Fn(&Elements, Option<i32>) -> Elements) -> Arrays {
    left.iter().zip(element).map(|(a, e)| Some(f(a.as_ref()?, *e))).collect()
}

fn each(left: &Arrays, f: impl Fn(&Elements) -> Elements) -> Arrays {
    left.iter().map(|a| a.as_ref().map(&f)).collect()
}

proptest! {
    #[test]
    fn of_two_arrays((left, right, _) in given()) {
        let both = || vec![sliced(&left), column(&right)];
        let chained = |a: &Elements, b: &Elements| a.iter().chain(b).copied().collect::<Vec<_>>();
        prop_assert_eq!(arrays(&call("array_concat", both())), zipped(&left, &right, chained));
        prop_assert_eq!(arrays(&call("array_union", both())), zipped(&left, &right, |a, b| once(chained(a, b))));
        let except = |a: &Elements, b: &Elements| once(a.iter().copied().filter(|e| !b.contains(e)));
        prop_assert_eq!(arrays(&call("array_except", both())), zipped(&left, &right, except));
        let intersect = |a: &Elements, b: &Elements| once(a.iter().copied().filter(|e| b.contains(e)));
        prop_assert_eq!(arrays(&call("array_intersect", both())), zipped(&left, &right, intersect));
    }

    #[test]
    fn of_an_array_and_an_element((left, _, element) in given()) {
        let both = || vec![sliced(&left), Arc::new(Int32Array::from(element.clone())) as ArrayRef];
        let append = |a: &Elements, e| a.iter().copied().chain([e]).collect();
        prop_assert_eq!(arrays(&call("array_append", both())), with(&left, &element, append));
        let prepend = |a: &Elements, e| std::iter::once(e).chain(a.iter().copied()).collect();
        prop_assert_eq!(arrays(&call("array_prepend", both())), with(&left, &element, prepend));
        let remove = |a: &Elements, e| a.iter().copied().filter(|x| *x != e).collect();
        prop_assert_eq!(arrays(&call("array_remove", both())), with(&left, &element, remove));
        let rows = || left.iter().zip(&element);
        let contains: Vec<Option<bool>> = rows().map(|(a, e)| Some(a.as_ref()?.contains(e))).collect();
        let result = call("array_contains", both());
        prop_assert_eq!(result.as_boolean().iter().collect::<Vec<_>>(), contains);
        let position: Elements = rows().map(|(a, e)| {
            let (a, e) = (a.as_ref()?, (*e)?);
            Some(a.iter().position(|x| *x == Some(e)).map_or(0, |at| i32::try_from(at).unwrap() + 1))
        }).collect();
        prop_assert_eq!(ints(&call("array_position", both())), position);
        let item: Elements = rows().map(|(a, e)| {
            let at = usize::try_from((*e)?).unwrap().checked_sub(1)?;
            *a.as_ref()?.get(at)?
        }).collect();
        prop_assert_eq!(ints(&call(ITEM, both())), item);
    }

    #[test]
    fn of_one_array((left, _, _) in given(), ascending: bool, nulls_first: bool) {
        let one = || vec![sliced(&left)];
        let reverse = |a: &Elements| a.iter().rev().copied().collect();
        prop_assert_eq!(arrays(&call("array_reverse", one())), each(&left, reverse));
        prop_assert_eq!(arrays(&call("array_distinct", one())), each(&left, |a| once(a.iter().copied())));
        let most: Elements = left.iter().map(|a| a.as_ref()?.iter().flatten().max().copied()).collect();
        prop_assert_eq!(ints(&call("array_max", one())), most);
        let least: Elements = left.iter().map(|a| a.as_ref()?.iter().flatten().min().copied()).collect();
        prop_assert_eq!(ints(&call("array_min", one())), least);
        let count: Elements = left.iter().map(|a| Some(i32::try_from(a.as_ref()?.len()).unwrap())).collect();
        prop_assert_eq!(ints(&call("cardinality", one())), count);
        let sorted = |a: &Elements| {
            let mut present: Vec<i32> = a.iter().flatten().copied().collect();
            present.sort_by_key(|e| if ascending { *e } else { -e });
            let nulls = vec![None; a.len() - present.len()];
            let present = present.into_iter().map(Some);
            if nulls_first { nulls.into_iter().chain(present).collect() } else { present.chain(nulls).collect() }
        };
        let flags = [ascending, nulls_first].map(|flag| Arc::new(BooleanArray::from(vec![flag; left.len()])) as ArrayRef);
        let given = one().into_iter().chain(flags).collect();
        prop_assert_eq!(arrays(&call("array_sort", given)), each(&left, sorted));
    }

    #[test]
    fn slices((left, _, _) in given(), first in -9..9_i32, last in -9..9_i32) {
        let bounds = [first, last].map(|bound| Arc::new(Int32Array::from(vec![bound; left.len()])) as ArrayRef);
        let expected = |a: &Elements| {
            let length = i32::try_from(a.len()).unwrap();
            // Which places are in, each judged for itself.
            let place = |bound: i32| if bound < 0 { length + bound + 1 } else { bound };
            let (from, to) = (place(first).max(1), if place(last) == 0 { 1 } else { place(last) });
            (1..).zip(a).filter(|(at, _)| from <= *at && *at <= to).map(|(_, e)| *e).collect()
        };
        let given = [sliced(&left)].into_iter().chain(bounds).collect();
        prop_assert_eq!(arrays(&call("array_slice", given)), each(&left, expected));
    }

    /// The entries of a map of random keys, against the last value of each.
    #[test]
    fn maps_of_entries(entries in prop::collection::vec((0..5_i32, prop::option::of(0..9_i32)), 1..6)) {
        let column = |value: Option<i32>| Arc::new(Int32Array::from(vec![value; 2])) as ArrayRef;
        let map = call(MAP, entries.iter().flat_map(|(key, value)| [column(Some(*key)), column(*value)]).collect());
        let keys = once(entries.iter().map(|(key, _)| Some(*key)));
        let last = |key: &Option<i32>| entries.iter().rev().find(|(k, _)| Some(*k) == *key).and_then(|(_, value)| *value);
        let values: Elements = keys.iter().map(last).collect();
        prop_assert_eq!(arrays(&call("map_keys", vec![Arc::clone(&map)])), vec![Some(keys.clone()); 2]);
        prop_assert_eq!(arrays(&call("map_values", vec![Arc::clone(&map)])), vec![Some(values.clone()); 2]);
        for key in 0..6 {
            let found = ints(&call(ITEM, vec![Arc::clone(&map), column(Some(key))]));
            prop_assert_eq!(found, vec![last(&Some(key)); 2]);
        }
        let (mut backwards, forwards) = (keys.clone(), [keys, values.clone()]);
        backwards.reverse();
        let reversed: Elements = values.into_iter().rev().collect();
        let map = |[keys, values]: [Elements; 2]| call("map_from_arrays", vec![self::column(&vec![Some(keys)]), self::column(&vec![Some(values)])]);
        let same = equal_maps(&map(forwards), &map([backwards, reversed]));
        prop_assert_eq!(same, ScalarValue::Boolean(Some(true)));
    }
}

fn equal_maps(left: &ArrayRef, right: &ArrayRef) -> ScalarValue {
    let crate::function::scalar::Evaluate::Arrays(equal) = EQUAL.evaluate else { unreachable!("it takes arrays") };
    let result = equal(&[Arc::clone(left), Arc::clone(right)], &DataType::Boolean).unwrap();
    ScalarValue::try_from_array(&result, 0).unwrap()
}
