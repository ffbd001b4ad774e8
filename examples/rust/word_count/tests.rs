//! Word counts against a loop over the text.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use tidemill::Settings;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_word_is_counted_once_for_each_place(
        texts in prop::collection::vec("([A-Da-d]{1,2}[ ,.\n]{1,2}){0,40}", 0..6), parallelism in 1..4_usize, shuffle_memory in 0..200_u64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.txt")), text).unwrap();
        }
        let env = Environment::with(Settings { parallelism, shuffle_memory, ..Settings::default() });
        let counts = count(env.from_iter(files(folder.path()).unwrap())).collect();
        env.execute_batch().unwrap();

        let mut expected = BTreeMap::<String, i64>::new();
        for word in texts.concat().to_lowercase().split([' ', ',', '.', '\n']) {
            *expected.entry(word.to_owned()).or_default() += 1;
        }
        expected.remove("");
        let counts = counts.take();
        prop_assert_eq!(counts.len(), expected.len());
        prop_assert_eq!(counts.into_iter().collect::<BTreeMap<_, _>>(), expected);
    }
}

#[test]
fn a_file_that_is_no_text_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.txt"), "to be").unwrap();
    fs::write(folder.path().join("bad.txt"), b"\xff\xfe").unwrap();
    let env = Environment::new();
    let counts = count(env.from_iter(files(folder.path()).unwrap())).collect();
    let error = env.execute_batch().unwrap_err();
    assert!(error.to_string().contains("bad.txt"), "{error}");
    assert_eq!(counts.take(), []);
}
