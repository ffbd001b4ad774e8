use tidemill_core::ErrorKind;

use super::*;

fn prepared() -> Prepared {
    let file = |path: &str| Add {
        path: path.to_owned(),
        size: 9_007_199_254_740_993,
        stats: Some("{\"numRecords\":1}".to_owned()),
        partition_values: [("a".to_owned(), Some("x\n\"ü".to_owned())), ("b".to_owned(), None)].into(),
        data_change: true,
        ..Add::default()
    };
    let first = vec![file("a=x%0A%22ü/b=__HIVE_DEFAULT_PARTITION__/part-r1-3.parquet"), file("part-r1-4.parquet")];
    let files = [(Epoch(4), first), (Epoch(6), vec![file("part-r1-5.parquet")])].into();
    Prepared { run: "r1".to_owned(), begun: 6, epoch: Epoch(6), files }
}

fn decoded(text: &str) -> Result<Prepared> {
    Prepared::decode("t", &Commitment(text.as_bytes().to_vec()))
}

#[test]
fn what_is_encoded_is_decoded() {
    let encoded = prepared().encode();
    let found = Prepared::decode("t", &encoded).unwrap();
    assert_eq!((&*found.run, found.begun, found.epoch), ("r1", 6, Epoch(6)));
    // As values: the maps of an action have no order.
    let shown = |prepared: Prepared| {
        let files: Vec<(u64, Vec<Add>)> = prepared.files.into_iter().map(|(epoch, files)| (epoch.0, files)).collect();
        serde_json::to_value(files).unwrap()
    };
    assert_eq!(shown(found), shown(prepared()));
}

#[test]
fn what_is_damaged_or_reaches_out_of_the_table_is_an_error() {
    let text = String::from_utf8(prepared().encode().0).unwrap();
    let line = text.lines().last().unwrap();
    let damaged = [
        String::new(),
        text.replace("delta 1", "delta 2"),
        text[..text.len() - 1].to_owned(),
        text.replace("\nr1\n", "\n\n"),
        text.replace("part-r1-5", "part-r2-5"),
        text.replace("part-r1-5", "part-r1-6"),
        text.replace("part-r1-5", "../part-r1-5"),
        text.replace("part-r1-5", "/part-r1-5"),
        text.replace(line, &line.replacen('6', "7", 1)),
    ];
    for text in damaged {
        let error = decoded(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert_eq!(
            error.message(),
            "the checkpoint's list of prepared files of the Delta table 't' is damaged",
            "{text}"
        );
    }
    assert!(decoded(&text).is_ok());
}
