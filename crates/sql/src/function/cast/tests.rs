//! What is written is read again as the same value.

use arrow::array::{Decimal128Array, Float32Array, Float64Array, TimestampMicrosecondArray, TimestampMillisecondArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use proptest::prelude::*;

use super::*;

const TARGET: Target = Target { tries: false, zone: TimeZone::UTC };

fn written_and_read(values: &ArrayRef) -> ArrayRef {
    let texts = TARGET.converted(values, &DataType::Utf8View).expect("a value has a text");
    TARGET.converted(&texts, values.data_type()).expect("a text that was written can be read")
}

proptest! {
    #[test]
    fn floats_survive(double in any::<f64>(), single in any::<f32>()) {
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![double]));
        prop_assert_eq!(&written_and_read(&doubles), &doubles);
        let singles: ArrayRef = Arc::new(Float32Array::from(vec![single]));
        prop_assert_eq!(&written_and_read(&singles), &singles);
    }

    #[test]
    fn decimals_survive(value in -10i128.pow(30)..10i128.pow(30), scale in 0..30i8) {
        let decimals = Decimal128Array::from(vec![value]).with_precision_and_scale(38, scale).expect("it fits");
        let decimals: ArrayRef = Arc::new(decimals);
        prop_assert_eq!(&written_and_read(&decimals), &decimals);
    }

    #[test]
    fn timestamps_survive(microseconds in -60_000_000_000_000_000i64..250_000_000_000_000_000) {
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![microseconds]));
        prop_assert_eq!(&written_and_read(&times), &times);
    }
}

#[test]
fn before_1970_digits_are_cut_off_too() {
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![-400, 1_400]));
    let to = DataType::Timestamp(TimeUnit::Millisecond, None);
    let coarser = TARGET.converted(&times, &to).expect("a coarser time");
    assert_eq!(coarser.as_primitive::<TimestampMillisecondType>().values(), &[-1, 1]);
}

/// Two instants an hour apart, of which clocks in Berlin show the same time.
fn twice_half_past_two() -> ArrayRef {
    let instants = TimestampMillisecondArray::from(vec![1_792_888_200_000, 1_792_891_800_000]);
    Arc::new(instants.with_timezone("UTC"))
}

fn in_one_list(values: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([values.len()]), values, None))
}

#[test]
fn instants_within_a_value_are_told_by_the_clocks_of_the_zone() {
    let berlin = Target { tries: false, zone: "Europe/Berlin".parse().expect("a zone") };
    let instants = in_one_list(twice_half_past_two());
    let text = |target: Target| target.converted(&instants, &DataType::Utf8View).expect("a list has a text");
    assert_eq!(text(TARGET).as_string_view().value(0), "[2026-10-25 00:30:00.000, 2026-10-25 01:30:00.000]");
    assert_eq!(text(berlin).as_string_view().value(0), "[2026-10-25 02:30:00.000, 2026-10-25 02:30:00.000]");
    let days = berlin.converted(&instants, &DataType::new_list(DataType::Date32, true)).expect("days");
    assert_eq!(days.as_list::<i32>().values().as_primitive::<Date32Type>().values(), &[20_751, 20_751]);
}

#[test]
fn local_times_within_a_value_become_the_first_instant_that_shows_them() {
    let berlin = Target { tries: false, zone: "Europe/Berlin".parse().expect("a zone") };
    let texts: ArrayRef = Arc::new(StringViewArray::from(vec!["2026-10-25 02:30:00", "2026-03-29 02:30:00"]));
    let instant = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let read = berlin.converted(&in_one_list(texts), &DataType::new_list(instant, true)).expect("instants");
    let read = read.as_list::<i32>().values().as_primitive::<TimestampMillisecondType>().values().to_vec();
    assert_eq!(read, [1_792_888_200_000, 1_774_747_800_000]);
}
