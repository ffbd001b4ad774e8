//! Decimal arithmetic against integers of any size.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

/// The value that `exact` claims, by the definition: rounded half away from zero at the result's scale.
fn expected(operator: Arithmetic, (a, s1): (i128, i8), (b, s2): (i128, i8), scale: i8) -> BigInt {
    let ten = |digits: i8| BigInt::from(10).pow(u32::try_from(digits).expect("digits are counted from 0"));
    // Numerator and denominator of the result.
    let (top, bottom) = match operator {
        Arithmetic::Plus => (BigInt::from(a) * ten(s2) + BigInt::from(b) * ten(s1), ten(s1 + s2)),
        Arithmetic::Minus => (BigInt::from(a) * ten(s2) - BigInt::from(b) * ten(s1), ten(s1 + s2)),
        Arithmetic::Times => (BigInt::from(a) * BigInt::from(b), ten(s1 + s2)),
        Arithmetic::Divide => (BigInt::from(a) * ten(s2), BigInt::from(b) * ten(s1)),
        Arithmetic::Modulo => ((BigInt::from(a) * ten(s2)) % (BigInt::from(b) * ten(s1)), ten(s1 + s2)),
    };
    let (top, bottom) = if bottom < BigInt::ZERO { (-top, -bottom) } else { (top, bottom) };
    let doubled: BigInt = top * ten(scale) * 2;
    let twice: BigInt = &bottom * 2;
    if doubled < BigInt::ZERO {
        let away: BigInt = (bottom - doubled) / twice;
        return -away;
    }
    (doubled + bottom) / twice
}

fn operators() -> impl Strategy<Value = Arithmetic> {
    prop_oneof![
        Just(Arithmetic::Plus),
        Just(Arithmetic::Minus),
        Just(Arithmetic::Times),
        Just(Arithmetic::Divide),
        Just(Arithmetic::Modulo)
    ]
}

/// Precision, scale, and a value that has them.
fn decimals() -> impl Strategy<Value = (u8, i8, i128)> {
    (1..=38u8).prop_flat_map(|precision| {
        let most = 10i128.pow(u32::from(precision)) - 1;
        let scale = 0..=i8::try_from(precision).expect("at most 38");
        (Just(precision), scale, prop_oneof![-most..=most, -100.min(most)..=100.min(most)])
    })
}

proptest! {
    #[test]
    fn decimals_are_exact_or_an_error(op in operators(), (p1, s1, a) in decimals(), (p2, s2, b) in decimals()) {
        let types = [DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)];
        let DataType::Decimal128(precision, scale) = op.result_type(&types[0], &types[1]) else {
            return Err(TestCaseError::fail("decimals give a decimal"));
        };
        let numbers = Decimals { left: s1, right: s2, precision, scale };
        match numbers.apply(op, a, b) {
            Err(ArrowError::DivideByZero) => prop_assert_eq!(b, 0),
            Err(_) => {
                let value = expected(op, (a, s1), (b, s2), scale);
                prop_assert!(value.magnitude() >= BigInt::from(10).pow(u32::from(precision)).magnitude());
            }
            Ok(value) => prop_assert_eq!(BigInt::from(value), expected(op, (a, s1), (b, s2), scale)),
        }
    }
}
