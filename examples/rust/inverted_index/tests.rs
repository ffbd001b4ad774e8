//! The index against a search for each word in each line.

use std::fs;

use proptest::prelude::*;
use tidemill::Settings;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_word_has_the_lines_in_which_it_stands(
        texts in prop::collection::vec("([a-c]{1,2}[ \n]{1,2}){0,40}", 0..6), parallelism in 1..4_usize, shuffle_memory in 0..200_u64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.txt")), text).unwrap();
        }
        let env = Environment::with(Settings { parallelism, shuffle_memory, ..Settings::default() });
        let index = index(env.from_iter(files(folder.path()).unwrap())).collect();
        env.execute_batch().unwrap();

        let letters = ["", "a", "b", "c"];
        let all = letters.iter().flat_map(|a| letters[1..].iter().map(move |b| format!("{a}{b}")));
        let mut expected = vec![];
        for word in all {
            let mut places = vec![];
            for (file, text) in texts.iter().enumerate() {
                let path = folder.path().join(format!("{file}.txt")).to_string_lossy().into_owned();
                let found = text.split('\n').enumerate().filter(|(_, line)| line.split(' ').any(|of| of == word));
                places.extend(found.map(|(number, _)| Place { path: path.clone(), line: number + 1 }));
            }
            expected.extend((!places.is_empty()).then_some((word, places)));
        }
        expected.sort();
        let mut index = index.take();
        index.sort();
        prop_assert_eq!(index, expected);
    }
}
