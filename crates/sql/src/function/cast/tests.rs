//! What is written is read again as the same value.

use arrow::array::{Decimal128Array, Float32Array, Float64Array, TimestampMicrosecondArray};
use proptest::prelude::*;

use super::*;

const TARGET: Target = Target { tries: false };

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
