use tidemill_core::ErrorKind;

use super::*;

fn prepared(table: &Path) -> Prepared {
    let parts = vec![Part::new(&table.join("a=x/b=1"), "r1", 3, "json"), Part::new(table, "r1", 11, "json")];
    Prepared { run: "r1".to_owned(), begun: 12, parts }
}

#[test]
fn what_is_encoded_is_decoded_wherever_the_table_is() {
    let (here, there) = (Path::new("/out/t"), Path::new("elsewhere"));
    let commitment = prepared(here).encode(here);
    assert_eq!(commitment.0, b"tidemill parts 1\nr1\n12\na=x/b=1/part-r1-3.json\0part-r1-11.json\0");
    assert_eq!(Prepared::decode(here, &commitment).unwrap(), prepared(here));
    assert_eq!(Prepared::decode(there, &commitment).unwrap(), prepared(there));
    let empty = Prepared { run: "r1".to_owned(), begun: 0, parts: vec![] };
    assert_eq!(Prepared::decode(here, &empty.encode(here)).unwrap(), empty);
}

#[test]
fn what_is_something_else_is_an_error() {
    for text in [
        "",
        "tidemill parts 2\nr1\n12\n",
        "tidemill parts 1\nr1\n12",
        "tidemill parts 1\n\n12\n",
        "tidemill parts 1\n../r\n12\n",
        "tidemill parts 1\nr1\nmany\n",
        "tidemill parts 1\nr1\n12\npart-r1-3.json",
        "tidemill parts 1\nr1\n12\npart-r2-3.json\0",
        "tidemill parts 1\nr1\n12\npart-r1-12.json\0",
        "tidemill parts 1\nr1\n12\npart-r1-+3.json\0",
        "tidemill parts 1\nr1\n12\n../part-r1-3.json\0",
        "tidemill parts 1\nr1\n12\n/etc/part-r1-3.json\0",
        "tidemill parts 1\nr1\n12\n\0",
    ] {
        let error = Prepared::decode(Path::new("t"), &Commitment(text.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{text:?}");
        assert_eq!(error.message(), "the checkpoint's list of prepared files in 't' is damaged");
        assert!(error.hint_text().unwrap().contains("--allow-older-checkpoint"));
    }
}

/// Whichever byte is cut off or changed, it is refused or names parts of the table: never a file of somebody else's.
#[test]
fn damage_reaches_nothing_outside_of_the_table() {
    let table = Path::new("/out/t");
    let Commitment(bytes) = prepared(table).encode(table);
    for place in 0..bytes.len() {
        let cut = bytes[..place].to_vec();
        let mut changed = bytes.clone();
        changed[place] ^= 0x21;
        for damaged in [cut, changed] {
            for part in Prepared::decode(table, &Commitment(damaged)).into_iter().flat_map(|read| read.parts) {
                assert!(part.visible().starts_with(table) && part.staged().starts_with(table));
            }
        }
    }
}
