use arrow::array::{Int64Array, StringViewArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Int64Type;

use super::*;

/// A nanosecond before 1970, and one after.
fn moments() -> ArrayRef {
    Arc::new(arrow::array::TimestampNanosecondArray::from(vec![-1, 1]))
}

fn time(unit: TimeUnit, zone: Option<&str>) -> DataType {
    DataType::Timestamp(unit, zone.map(Into::into))
}

/// The milliseconds of what is left when all around them is taken away.
fn millis(array: &ArrayRef) -> Vec<i64> {
    array.as_primitive::<TimestampMillisecondType>().values().to_vec()
}

fn pairs(key: Field, value: Field) -> FieldRef {
    Arc::new(Field::new("entries", DataType::Struct(Fields::from(vec![key, value])), false))
}

#[test]
fn moments_are_floored_wherever_they_stand() {
    let (nanos, millisecond) = (time(TimeUnit::Nanosecond, None), time(TimeUnit::Millisecond, None));
    assert_eq!(millis(&convert(&moments(), &millisecond).unwrap()), [-1, 0]);

    let element = |data_type: &DataType| Arc::new(Field::new("element", data_type.clone(), true));
    let offsets = OffsetBuffer::new(vec![0, 2].into());
    let list: ArrayRef = Arc::new(ListArray::new(element(&nanos), offsets.clone(), moments(), None));
    let floored = convert(&list, &DataType::List(element(&millisecond))).unwrap();
    assert_eq!(millis(floored.as_list::<i32>().values()), [-1, 0]);

    let large = cast(&list, &DataType::LargeList(element(&nanos))).unwrap();
    let floored = convert(&large, &DataType::List(element(&millisecond))).unwrap();
    assert_eq!(millis(floored.as_list::<i32>().values()), [-1, 0]);

    let number = Field::new("n", DataType::Int64, true);
    let fields = Fields::from(vec![Field::new("t", nanos.clone(), true), number.clone()]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5, 6]));
    let row: ArrayRef = Arc::new(StructArray::new(fields, vec![moments(), numbers], None));
    // The fields are found by name.
    let wanted = Fields::from(vec![number, Field::new("t", millisecond.clone(), true)]);
    let floored = convert(&row, &DataType::Struct(wanted)).unwrap();
    assert_eq!(floored.as_struct().column(0).as_primitive::<Int64Type>().values().to_vec(), [5, 6]);
    assert_eq!(millis(floored.as_struct().column(1)), [-1, 0]);

    let entries = pairs(Field::new("key", DataType::Utf8View, false), Field::new("value", nanos, true));
    let DataType::Struct(fields) = entries.data_type().clone() else { unreachable!() };
    let keys: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b"]));
    let both = StructArray::new(fields, vec![keys, moments()], None);
    let map: ArrayRef = Arc::new(MapArray::new(entries, offsets, both, None, false));
    let wanted = pairs(Field::new("keys", DataType::Utf8View, false), Field::new("values", millisecond, true));
    let floored = convert(&map, &DataType::Map(wanted, false)).unwrap();
    assert_eq!(millis(floored.as_map().values()), [-1, 0]);
}

#[test]
fn a_zone_moves_no_moment_also_within_an_array() {
    let zoned = |zone| Arc::new(Field::new("element", time(TimeUnit::Millisecond, zone), true));
    let times = TimestampMillisecondArray::from(vec![1_000]).with_timezone("+02:00");
    let offsets = OffsetBuffer::new(vec![0, 1].into());
    let list: ArrayRef = Arc::new(ListArray::new(zoned(Some("+02:00")), offsets, Arc::new(times), None));
    for zone in [None, Some("+00:00")] {
        let named = convert(&list, &DataType::List(zoned(zone))).unwrap();
        assert_eq!(millis(named.as_list::<i32>().values()), [1_000]);
    }
}

#[test]
fn moments_that_nanoseconds_can_t_tell_are_found() {
    let coarse: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), Some(7), None]));
    let column: ArrayRef = Arc::new(arrow::array::TimestampNanosecondArray::from(vec![Some(-1), Some(1), None]));
    assert_eq!(other_moments(&column, &coarse).unwrap(), [1]);
    let coarse: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), Some(0), None]));
    assert!(other_moments(&column, &coarse).unwrap().is_empty());
}
