use super::*;

#[test]
fn the_values_of_a_seed_never_change() {
    let mut draws = Sequence::new(7, "a").at(3);
    assert_eq!([draws.bits(), draws.bits()], [4_869_488_778_615_900_161, 8_910_495_619_407_714_065]);
}

/// The reference implementation's first outputs for the seed 1234567.
#[test]
fn it_is_split_mix_64() {
    let mut draws = Draws { state: 1_234_567 };
    let first: Vec<u64> = (0..3).map(|_| draws.bits()).collect();
    assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}

#[test]
fn ranges_have_both_ends() {
    let sequence = Sequence::new(1, "n");
    let seen =
        |min, max| (0..1000).map(|n| sequence.at(n).between(min, max)).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(seen(-1, 2).into_iter().collect::<Vec<_>>(), [-1, 0, 1, 2]);
    assert_eq!(seen(i64::MAX, i64::MAX).len(), 1);
    assert!(seen(i64::MIN, i64::MAX).len() == 1000);
    assert_eq!(sequence.at(0).below(0), 0);
}

#[test]
fn values_are_even_and_positions_and_names_independent() {
    let (a, b) = (Sequence::new(1, "a"), Sequence::new(1, "b"));
    let mean = |sequence: Sequence| (0..10_000).map(|n| sequence.at(n).unit()).sum::<f64>() / 10_000.0;
    assert!((mean(a) - 0.5).abs() < 0.02 && (mean(b) - 0.5).abs() < 0.02);
    let together = (0..10_000).filter(|&n| (a.at(n).unit() < 0.5) == (b.at(n).unit() < 0.5)).count();
    assert!((4_700..5_300).contains(&together), "{together}");
    let followed = (0..10_000).filter(|&n| (a.at(n).unit() < 0.5) == (a.at(n + 1).unit() < 0.5)).count();
    assert!((4_700..5_300).contains(&followed), "{followed}");
}
