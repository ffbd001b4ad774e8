//! Variances against big rational arithmetic.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::exact::{Moments, parts_of_decimal, parts_of_integer};

fn moments(values: impl IntoIterator<Item = Vec<f64>>) -> Moments {
    let mut moments = Moments::default();
    values.into_iter().for_each(|parts| {
        moments.count(&parts, false);
    });
    moments
}

/// The integer that a float is.
fn whole(value: f64) -> BigInt {
    BigInt::from(value as i128)
}

/// (count * squares - sum^2) / (count * divisor), to the nearest float but for a last bit.
fn expected(values: &[BigInt], sample: bool) -> Option<f64> {
    let count = values.len() as i64;
    let divisor = if sample { count - 1 } else { count };
    let sum: BigInt = values.iter().sum();
    let squares: BigInt = values.iter().map(|v| v * v).sum();
    let (above, below) = (squares * count - &sum * &sum, BigInt::from(count) * divisor);
    // Scaled up, so that the division of integers keeps more bits than a float has.
    let quotient = (divisor > 0).then(|| (above << 200usize) / below)?;
    Some(quotient.to_string().parse::<f64>().unwrap() / 2f64.powi(200))
}

fn close(got: Option<f64>, expected: Option<f64>) -> bool {
    match (got, expected) {
        (Some(got), Some(expected)) => (got - expected).abs() <= expected.abs() * 4.0 * f64::EPSILON,
        (got, expected) => got == expected,
    }
}

proptest! {
    #[test]
    fn integers(values in prop::collection::vec(prop_oneof![-50..50i64, any::<i64>()], 0..40), sample: bool) {
        let moments = moments(values.iter().map(|&v| parts_of_integer(v).to_vec()));
        let expected = expected(&values.iter().map(|&v| BigInt::from(v)).collect::<Vec<_>>(), sample);
        prop_assert!(close(moments.variance(sample), expected), "{:?} {:?}", moments.variance(sample), expected);
    }

    #[test]
    fn decimals(values in prop::collection::vec(any::<i128>().prop_map(|v| v >> 1), 0..20), sample: bool) {
        for &value in &values {
            let sum: BigInt = parts_of_decimal(value).into_iter().map(whole).sum();
            prop_assert_eq!(sum, BigInt::from(value));
        }
        let moments = moments(values.iter().map(|&v| parts_of_decimal(v).to_vec()));
        let expected = expected(&values.iter().map(|&v| BigInt::from(v)).collect::<Vec<_>>(), sample);
        prop_assert!(close(moments.variance(sample), expected));
    }

    #[test]
    fn values_far_from_zero(offset in (1i64 << 50)..(1 << 53) - 100, values in prop::collection::vec(0..4i64, 1..30)) {
        let values: Vec<i64> = values.into_iter().map(|v| v + offset).collect();
        let moments = moments(values.iter().map(|&v| vec![v as f64]));
        let expected = expected(&values.iter().map(|&v| BigInt::from(v)).collect::<Vec<_>>(), false);
        prop_assert!(close(moments.variance(false), expected), "{:?} {:?}", moments.variance(false), expected);
    }

    #[test]
    fn order_and_what_was_taken_back_leave_no_trace(
        values in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.abs() < 1e100), 0..20),
        others in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.abs() < 1e100), 0..20),
    ) {
        let plain = moments(values.iter().map(|&v| vec![v]));
        let mut mixed = moments(others.iter().chain(values.iter().rev()).map(|&v| vec![v]));
        for &other in &others {
            mixed.count(&[other], true);
        }
        prop_assert_eq!(mixed.variance(true).map(f64::to_bits), plain.variance(true).map(f64::to_bits));
    }
}

#[test]
fn what_is_not_finite_has_no_variance() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(moments([vec![1.0], vec![odd]]).variance(false).unwrap().is_nan());
    }
    assert_eq!(moments([vec![3.0]]).variance(true), None);
    assert_eq!(moments([vec![3.0]]).variance(false), Some(0.0));
}
