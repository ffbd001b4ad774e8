use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Key {
    Nothing,
    Of(i64, String),
    Pair { a: Option<u8>, b: (bool, char) },
}

fn written<T: Serialize + DeserializeOwned>(codec: &impl Codec<T>, value: &T) -> Vec<u8> {
    let mut out = vec![7];
    codec.encode(value, &mut out).unwrap();
    assert_eq!(out[0], 7, "what was there stays");
    out[1..].to_vec()
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        Just(Key::Nothing),
        (any::<i64>(), "[a-c\\x00]{0,10}").prop_map(|(n, text)| Key::Of(n, text)),
        any::<(Option<u8>, (bool, char))>().prop_map(|(a, b)| Key::Pair { a, b }),
    ]
}

proptest! {
    #[test]
    fn ordered_bytes_are_in_the_order_of_the_values(a in key(), b in key()) {
        let (of_a, of_b) = (written(&Ordered, &a), written(&Ordered, &b));
        prop_assert_eq!(of_a.cmp(&of_b), a.cmp(&b));
        let (read_a, read_b): (Key, Key) = (Ordered.decode(&of_a).unwrap(), Ordered.decode(&of_b).unwrap());
        prop_assert_eq!((read_a, read_b), (a, b));
    }

    #[test]
    fn postcard_reads_what_it_wrote(map in any::<BTreeMap<String, Vec<Option<i64>>>>()) {
        let read: BTreeMap<String, Vec<Option<i64>>> = Postcard.decode(&written(&Postcard, &map)).unwrap();
        prop_assert_eq!(read, map);
    }
}

/// A change here makes stored state unreadable.
#[test]
fn the_formats_do_not_change() {
    assert_eq!(written(&Postcard, &(300_u32, -1_i64, "é".to_owned())), [172, 2, 1, 2, 195, 169]);
    assert_eq!(written(&Ordered, &(300_u32, -1_i64)), [0, 0, 1, 44, 127, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!(written(&Ordered, &"é".to_owned()), [1, 195, 169, 0, 0, 0, 0, 0, 0, 2]);
}

#[test]
fn what_does_not_fit_is_told() {
    let read: Result<u8> = Postcard.decode(&[1, 2]);
    let expected = "what is stored is no such value in the format 'postcard': something stands behind the value";
    assert_eq!(read.unwrap_err().message(), expected);
    let read: Result<String> = Postcard.decode(&[5, 65]);
    assert!(read.unwrap_err().message().starts_with("what is stored is no such value in the format 'postcard': "));
    let wrote = Ordered.encode(&BTreeMap::from([(1, 2)]), &mut vec![]);
    let expected = "a value can't be written in the format 'ordered': unsupported type: map";
    assert_eq!(wrote.unwrap_err().message(), expected);
}
