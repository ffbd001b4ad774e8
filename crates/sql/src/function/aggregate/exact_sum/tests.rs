//! Exact sums against arithmetic on big integers.

use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

use super::ExactSum;

fn sum(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    for &value in values {
        sum.add(value);
    }
    sum
}

fn bytes(sum: &ExactSum) -> Vec<u8> {
    let mut out = Vec::new();
    sum.write(&mut out);
    out
}

/// The value in units of 2^-1074.
fn exact(value: f64) -> BigInt {
    let bits = value.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => BigUint::from(fraction),
        _ => BigUint::from(fraction | 1 << 52) << (exponent - 1),
    };
    BigInt::from_biguint(if value < 0.0 { Sign::Minus } else { Sign::Plus }, magnitude)
}

/// The nearest float, found by bisection over the floats and a comparison of distances.
fn nearest(total: &BigInt, divisor: u64) -> f64 {
    let size = BigInt::from(total.magnitude().clone());
    let scaled = |bits: u64| exact(f64::from_bits(bits)) * divisor;
    let (mut low, mut high) = (0u64, f64::MAX.to_bits() + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if scaled(middle) <= size { low = middle } else { high = middle }
    }
    // One step above the largest float is 2^1024, for the purpose of rounding.
    let above = if high > f64::MAX.to_bits() { (BigInt::from(1) << (1024 + 1074)) * divisor } else { scaled(high) };
    let (down, up) = (&size - scaled(low), above - &size);
    let bits = if up < down || up == down && low & 1 == 1 { high } else { low };
    let value = f64::from_bits(bits);
    if total.sign() == Sign::Minus { -value } else { value }
}

fn oracle(values: &[f64], divisor: u64) -> f64 {
    nearest(&values.iter().map(|&v| exact(v)).sum(), divisor)
}

fn finite() -> impl Strategy<Value = f64> {
    let any_bits = any::<u64>().prop_map(|bits| {
        let value = f64::from_bits(bits);
        if value.is_finite() { value } else { f64::from_bits(bits ^ 1 << 62) }
    });
    let subnormal = (any::<u64>(), any::<bool>()).prop_map(|(bits, negative)| {
        let value = f64::from_bits(bits >> 12);
        if negative { -value } else { value }
    });
    let price = (-1_000_000i64..1_000_000).prop_map(|cents| cents as f64 / 100.0);
    let huge = prop_oneof![Just(f64::MAX), Just(-f64::MAX), Just(1e308), Just(-1e308), Just(0.0), Just(-0.0)];
    prop_oneof![2 => any_bits, 1 => subnormal, 3 => price, 1 => huge]
}

/// Splits at random and merges in the shape of the splits, both ways round.
fn merged(values: &[f64], cuts: &[usize]) -> ExactSum {
    let Some((&cut, cuts)) = cuts.split_first() else { return sum(values) };
    let (left, right) = values.split_at(cut % (values.len() + 1));
    let half = cuts.len() / 2;
    let (mut first, mut second) = (merged(left, &cuts[..half]), merged(right, &cuts[half..]));
    if cut & 1 == 1 {
        std::mem::swap(&mut first, &mut second);
    }
    first.merge(&bytes(&second)).unwrap();
    first
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn is_the_nearest_float_of_the_exact_sum(values in prop::collection::vec(finite(), 0..60), divisor in 1u64..1000) {
        let sum = sum(&values);
        prop_assert_eq!(sum.value::<f64>().to_bits(), oracle(&values, 1).abs().copysign(oracle(&values, 1)).to_bits());
        prop_assert_eq!(sum.mean::<f64>(divisor).unwrap().to_bits(), oracle(&values, divisor).to_bits());
    }

    #[test]
    fn order_batches_and_merges_leave_the_bytes_alone(
        values in prop::collection::vec(finite(), 0..60),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        shuffled in any::<u64>(),
    ) {
        let mut other = values.clone();
        let mut seed = shuffled | 1;
        for i in (1..other.len()).rev() {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            other.swap(i, (seed >> 33) as usize % (i + 1));
        }
        prop_assert_eq!(bytes(&sum(&values)), bytes(&merged(&other, &cuts)));
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace(
        kept in prop::collection::vec(finite(), 0..20),
        gone in prop::collection::vec(any::<f64>(), 0..20),
    ) {
        let mut all = sum(&kept);
        gone.iter().for_each(|&v| { all.subtract(v); });
        gone.iter().rev().for_each(|&v| { all.add(v); });
        prop_assert_eq!(bytes(&all), bytes(&sum(&kept)));
    }

    #[test]
    fn singles_round_once(values in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 0..40)) {
        let wide: Vec<f64> = values.iter().map(|&v| v.into()).collect();
        let got = sum(&wide).value::<f32>();
        // Nearest of the three singles about the (once rounded) double, by exact distance.
        let total: BigInt = wide.iter().map(|&v| exact(v)).sum();
        let about = nearest(&total, 1) as f32;
        if about.is_finite() && got.is_finite() {
            let distance = |v: f32| BigInt::from((exact(v.into()) - &total).magnitude().clone());
            for other in [about.next_up(), about, about.next_down()].into_iter().filter(|v| v.is_finite()) {
                let (ours, theirs) = (distance(got), distance(other));
                prop_assert!(ours < theirs || ours == theirs && (got == other || got.to_bits() & 1 == 0));
            }
        } else {
            prop_assert_eq!(got, about);
        }
    }

    #[test]
    fn damaged_states_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut sum = ExactSum::default();
        let mut bytes = bytes;
        if let Some(version) = bytes.first_mut() { *version = 1; }
        if sum.merge(&bytes).is_ok() {
            sum.value::<f64>();
        }
    }
}

#[test]
fn huge_intermediate_values_cancel() {
    for values in [[1e308, 1e308, -1e308], [1e308, -1e308, 1e308], [-1e308, 1e308, 1e308]] {
        assert_eq!(sum(&values).value::<f64>(), 1e308);
    }
    assert_eq!(sum(&[1e308, 1.0, -1e308, 1e-300, -1.0]).value::<f64>(), 1e-300);
    assert_eq!(sum(&[1e308, 1e308]).value::<f64>(), f64::INFINITY);
    assert_eq!(sum(&[1e308, 1e308]).mean::<f64>(2).unwrap(), 1e308);
}

#[test]
fn specials_follow_ieee_in_any_order() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let of = |values: &[f64]| sum(values).value::<f64>();
    assert!(of(&[1.0, nan, 2.0]).is_nan());
    assert!(of(&[inf, 1.0, -inf]).is_nan());
    assert_eq!(of(&[1.0, inf, -1e308]), inf);
    assert_eq!(of(&[-inf, 1.0]), -inf);
    assert_eq!(sum(&[1.0, -inf]).mean::<f32>(2).unwrap(), f32::NEG_INFINITY);
    let mut taken_back = sum(&[1.0, inf, nan]);
    taken_back.subtract(nan);
    taken_back.subtract(inf);
    assert_eq!(taken_back.value::<f64>(), 1.0);
}

#[test]
fn zero_has_one_sign() {
    for values in [&[][..], &[-0.0, -0.0], &[1.0, -1.0], &[1e300, -1e300, -0.0]] {
        assert_eq!(sum(values).value::<f64>().to_bits(), 0);
        assert_eq!(bytes(&sum(values)), [1, 0]);
    }
}

#[test]
fn a_full_window_loses_nothing() {
    // 2^20 values at the top of the window that the first one set up.
    let mut sum = ExactSum::default();
    sum.add(1.0);
    for _ in 0..1 << 20 {
        sum.add((1u64 << 31) as f64);
    }
    assert_eq!(sum.value::<f64>(), (1u64 << 51) as f64 + 1.0);
}

#[test]
fn many_wide_terms_carry() {
    let mut wide = super::wide::Wide::default();
    let terms = (1u64 << 20) + 3;
    for _ in 0..terms {
        wide.add(true, 3, &[u32::MAX, u32::MAX]);
    }
    let total = wide.total(0, 0);
    let limbs = total.limbs.map(u32::to_le_bytes).concat();
    assert!(total.negative);
    assert_eq!(BigUint::from_bytes_le(&limbs), (BigUint::from(u64::MAX) * terms) << 96);
}
