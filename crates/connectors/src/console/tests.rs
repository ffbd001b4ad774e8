use super::*;

#[test]
fn a_closed_pipe_is_told_apart_from_a_failure() {
    let closed = Console::Output.failed(ErrorKind::BrokenPipe.into());
    assert_eq!(closed.kind(), tidemill_core::ErrorKind::Closed);
    let full = Console::Error.failed(ErrorKind::StorageFull.into());
    assert_eq!(full.kind(), tidemill_core::ErrorKind::Unavailable);
    assert!(full.message().starts_with("cannot write to standard error: "), "{full}");
}
