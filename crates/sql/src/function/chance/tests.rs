use proptest::prelude::*;

use super::below;

proptest! {
    #[test]
    fn a_share_falls_below_the_bound(share in 0.0..1.0f64, bound in 1..=i32::MAX) {
        let drawn = below(share, Some(bound)).unwrap().unwrap();
        prop_assert!((0..bound).contains(&drawn));
    }
}

#[test]
fn every_number_below_the_bound_is_drawn_alike() {
    let mut drawn = [0; 6];
    for part in 0..600 {
        drawn[below(f64::from(part) / 600.0, Some(6)).unwrap().unwrap() as usize] += 1;
    }
    assert_eq!(drawn, [100; 6]);
}

#[test]
fn a_bound_is_over_0() {
    assert_eq!(below(0.5, None).unwrap(), None);
    for bound in [0, -1, i32::MIN] {
        assert!(below(0.5, Some(bound)).unwrap_err().to_string().contains("over 0"), "{bound}");
    }
}
