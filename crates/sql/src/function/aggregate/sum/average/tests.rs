//! Flink's two roundings by big integers.

use arrow::datatypes::i256;
use num_bigint::BigInt;
use proptest::prelude::*;

use super::decimal;

fn half_up(numerator: BigInt, denominator: BigInt) -> BigInt {
    let negative = numerator < BigInt::from(0);
    let size = BigInt::from(numerator.magnitude().clone());
    let rounded: BigInt = (size * 2 + &denominator) / (denominator * 2);
    if negative { -rounded } else { rounded }
}

proptest! {
    #[test]
    fn decimal_average_rounds_as_flink(total in any::<i128>(), high in -(1i128 << 60)..1i128 << 60, count in 1i64.., more in 0u32..7) {
        // Any total that a count of such decimals can have.
        let total = i256::from_parts(total as u128, high % (i128::from(count) >> 2).max(1));
        let (dividend, count_big) = (total.to_string().parse::<BigInt>().unwrap(), BigInt::from(count));
        // 38 significant digits half up, then the scale half up: shift until the quotient has 38 digits.
        let mut exponent = 0u32;
        let quotient = |e: u32| dividend.magnitude() * BigInt::from(10).magnitude().pow(e) / count_big.magnitude();
        while quotient(exponent).to_string().len() < 38 { exponent += 1; }
        let mut wanted = half_up(&dividend * BigInt::from(10).pow(exponent), count_big);
        wanted = if exponent > more {
            half_up(wanted, BigInt::from(10).pow(exponent - more))
        } else {
            wanted * BigInt::from(10).pow(more - exponent)
        };
        let fits = wanted.magnitude() < &BigInt::from(10).magnitude().pow(38);
        let got = decimal(total, count, more);
        prop_assert_eq!(got.map(|v| v.to_string()), fits.then(|| wanted.to_string()));
    }
}

#[test]
fn ties_leave_zero() {
    let average = |total: i128, count, more| decimal(i256::from_i128(total), count, more);
    assert_eq!(average(1, 2, 0), Some(1));
    assert_eq!(average(-1, 2, 0), Some(-1));
    assert_eq!(average(1, 3, 6), Some(333_333));
    assert_eq!(average(-2, 3, 6), Some(-666_667));
    assert_eq!(average(0, 3, 6), Some(0));
}
