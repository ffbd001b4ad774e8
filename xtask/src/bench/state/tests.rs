use super::*;

#[test]
fn a_checkpoint_is_read_from_its_line() {
    let line =
        r#"{"checkpoint":7,"time":"x","state_bytes":200,"written_bytes":3,"longest_pause_ms":1.25,"finished":false}"#;
    let checkpoint = Checkpoint::of(line).unwrap();
    assert_eq!((checkpoint.written_percent(), checkpoint.pause_ms), (1.5, 1.25));
    let damaged = Checkpoint::of(r#"{"checkpoint":7,"error":"the manifest is damaged"}"#).unwrap_err();
    assert!(damaged.starts_with("a checkpoint has no state_bytes: {"), "{damaged}");
}
