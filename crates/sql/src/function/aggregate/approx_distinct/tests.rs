//! The sketch against exact counts, and the independence of its bytes from the way they came about.

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::registers::Registers;

fn sketch(values: impl IntoIterator<Item = u64>) -> Registers {
    let mut registers = Registers::default();
    for value in values {
        registers.add(xxh3_64(&value.to_le_bytes()));
    }
    registers
}

#[test]
fn the_estimate_is_within_five_standard_errors() {
    assert_eq!(sketch([]).estimate(), 0);
    for count in [1, 10, 500, 1_024, 1_025, 5_000, 40_000, 100_000, 1_000_000] {
        let estimate = sketch(0..count).estimate() as f64;
        let error = (estimate - count as f64).abs() / count as f64;
        assert!(error <= 5.0 * 1.04 / 128.0, "{count}: {estimate}");
    }
}

#[test]
fn few_values_are_counted_exactly_or_nearly() {
    for count in 1..=100 {
        assert!((sketch(0..count).estimate() - count as i64).abs() <= 2, "{count}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_merge_is_the_sketch_of_all(from in any::<u32>(), counts in prop::collection::vec(0..2_000u64, 0..4)) {
        let from = u64::from(from);
        let mut merged = Registers::default();
        for count in &counts {
            // Parts overlap.
            prop_assert!(merged.merge(&sketch((from..from + count).rev()).to_bytes()).is_some());
        }
        let all = sketch(from..from + counts.iter().max().unwrap_or(&0));
        prop_assert!(merged.to_bytes() == all.to_bytes());
        prop_assert_eq!(merged.estimate(), all.estimate());
    }

    #[test]
    fn damage_is_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
        let mut registers = Registers::default();
        if registers.merge(&bytes).is_some() {
            registers.estimate();
        }
    }
}
