//! Rows of elements against plain vectors: their values, and what is known of each row.

use std::sync::Arc;

use arrow::array::{Int64Array, ListArray, MapBuilder, StringViewBuilder, StructArray};
use arrow::datatypes::{Fields, Int32Type, Int64Type};
use proptest::prelude::*;
use tidemill_core::{Lineage, RowKind, SourceRows};

use super::*;

type Arrays = Vec<Option<Vec<Option<i32>>>>;

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// Rows with a number, their kind, watermark and offset all made of it, and an array.
fn batch(arrays: &Arrays) -> EventBatch {
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(arrays.iter().cloned()));
    let numbers: Int64Array = (0..).take(arrays.len()).collect();
    let schema = Schema::new(vec![field("list", lists.data_type().clone()), field("number", DataType::Int64)]);
    let rows = RecordBatch::try_new(Arc::new(schema), vec![lists, Arc::new(numbers.clone())]).unwrap();
    let kinds = (0..arrays.len()).map(|i| if i % 2 == 0 { RowKind::Insert } else { RowKind::Delete }).collect();
    let source = SourceRows { rows: rows.clone(), partition: "p".into(), offsets: numbers.unary(|n| n + 100) };
    let lineage = Lineage { source: Arc::new(source), indices: None };
    EventBatch {
        kinds: Some(kinds),
        watermarks: Some(numbers.unary(|n| n * 10)),
        lineage: Some(lineage),
        ..EventBatch::append(rows)
    }
}

fn unnest(keeps_empty: bool, ordinals: usize) -> Unnest {
    let mut fields = vec![field("number", DataType::Int64), field("element", DataType::Int32)];
    fields.extend((0..ordinals).map(|i| field(&format!("n{i}"), DataType::Int32)));
    Unnest { column: 0, keeps_empty, ordinals, schema: Arc::new(Schema::new(fields)) }
}

proptest! {
    #[test]
    fn each_element_is_a_row_that_knows_what_its_row_knew(
        arrays in prop::collection::vec(prop::option::weighted(0.8, prop::collection::vec(prop::option::of(0..9_i32), 0..5)), 0..9),
        keeps_empty: bool,
    ) {
        let unnest = unnest(keeps_empty, 1);
        let (mut given, batch) = (vec![], batch(&arrays));
        for rows in unnest.apply(&batch).unwrap() {
            let rows = rows.unwrap();
            let column = |index: usize| rows.rows.column(index).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
            let numbers = rows.rows.column(0).as_primitive::<Int64Type>();
            let (elements, ordinals) = (column(1), column(2));
            let offsets = rows.lineage.as_ref().unwrap().offsets().unwrap();
            for i in 0..rows.num_rows() {
                let number = numbers.value(i);
                prop_assert_eq!(rows.watermarks.as_ref().unwrap().value(i), number * 10);
                prop_assert_eq!(offsets.value(i), number + 100);
                prop_assert_eq!(rows.kinds.as_ref().unwrap()[i].adds(), number % 2 == 0);
                given.push((number, elements[i], ordinals[i]));
            }
        }
        let mut expected = vec![];
        for (number, array) in (0_i64..).zip(&arrays) {
            let elements = array.clone().unwrap_or_default();
            if elements.is_empty() && keeps_empty {
                expected.push((number, None, None));
            }
            expected.extend(elements.into_iter().zip(1..).map(|(element, n)| (number, element, Some(n))));
        }
        prop_assert_eq!(given, expected);
    }
}

/// The number of rows of a batch is that of its elements, whatever is left of its columns.
#[test]
fn the_array_may_be_the_only_column() {
    let lists: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None]));
    let rows = RecordBatch::try_from_iter_with_nullable([("list", lists, true)]).unwrap();
    let unnest = Unnest {
        column: 0,
        keeps_empty: false,
        ordinals: 0,
        schema: Arc::new(Schema::new(vec![field("element", DataType::Int32)])),
    };
    let batch = EventBatch::append(rows);
    let given: Vec<EventBatch> = unnest.apply(&batch).unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(given.iter().map(EventBatch::num_rows).sum::<usize>(), 2);
}

#[test]
fn rows_and_maps_have_several_columns() {
    let fields = Fields::from(vec![field("a", DataType::Int32), field("b", DataType::Int32)]);
    let column = |values: Vec<i32>| Arc::new(Int32Array::from(values)) as ArrayRef;
    // The second is NULL as a whole, whatever stands in its fields.
    let nulls = Some(vec![true, false].into());
    let structs = StructArray::new(fields, vec![column(vec![1, 2]), column(vec![3, 4])], nulls);
    let item = Arc::new(field("item", structs.data_type().clone()));
    let offsets = arrow::buffer::OffsetBuffer::from_lengths([2]);
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(structs), None));
    assert_eq!(of_one_row(lists), [vec![Some(1), None], vec![Some(3), None]]);

    let mut maps = MapBuilder::new(None, arrow::array::Int32Builder::new(), arrow::array::Int32Builder::new());
    maps.keys().append_slice(&[7, 8]);
    maps.values().append_slice(&[9, 10]);
    maps.append(true).unwrap();
    assert_eq!(of_one_row(Arc::new(maps.finish())), [vec![Some(7), Some(8)], vec![Some(9), Some(10)]]);
    assert!(pieces(&(Arc::new(StringViewBuilder::new().finish()) as ArrayRef)).is_err());
}

fn of_one_row(column: ArrayRef) -> [Vec<Option<i32>>; 2] {
    let batch = EventBatch::append(RecordBatch::try_from_iter_with_nullable([("x", column, true)]).unwrap());
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Int32), field("b", DataType::Int32)]));
    let unnest = Unnest { column: 0, keeps_empty: false, ordinals: 0, schema };
    let rows = unnest.apply(&batch).unwrap().next().unwrap().unwrap();
    [0, 1].map(|i| rows.rows.column(i).as_primitive::<Int32Type>().iter().collect())
}

/// Many elements leave in several batches, and no row is cut.
#[test]
fn batches_stay_small() {
    let arrays: Arrays = vec![Some(vec![Some(1); 3000]); 10];
    let batch = batch(&arrays);
    let given: Vec<usize> = unnest(false, 0).apply(&batch).unwrap().map(|rows| rows.unwrap().num_rows()).collect();
    assert_eq!(given, [9000, 9000, 9000, 3000]);
}
