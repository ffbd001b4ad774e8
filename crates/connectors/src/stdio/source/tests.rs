use std::io::Write;
use std::time::Duration;

use tidemill_core::ErrorKind;

use crate::format::records::AtLineEnds;

use super::*;

#[tokio::test]
async fn lines_arrive_before_the_input_ends() {
    let (input, mut pipe) = io::pipe().unwrap();
    let mut blocks = read_ahead(input, Box::new(AtLineEnds)).unwrap();
    pipe.write_all(b"a\nb").unwrap();
    assert_eq!(blocks.recv().await.unwrap().unwrap().as_slice(), b"a\n");

    // A wait that is given up loses nothing.
    assert!(tokio::time::timeout(Duration::from_millis(5), blocks.recv()).await.is_err());
    pipe.write_all(b"b\n").unwrap();
    assert_eq!(blocks.recv().await.unwrap().unwrap().as_slice(), b"bb\n");

    pipe.write_all(b"c").unwrap();
    drop(pipe);
    assert_eq!(blocks.recv().await.unwrap().unwrap().as_slice(), b"c");
    assert!(blocks.recv().await.is_none());
}

#[tokio::test]
async fn a_failing_read_ends_the_input_with_its_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("bad cable"))
        }
    }
    let mut blocks = read_ahead(Broken, Box::new(AtLineEnds)).unwrap();
    let error = blocks.recv().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.message(), "cannot read stdin: bad cable");
    assert!(blocks.recv().await.is_none());
}

#[test]
fn standard_input_has_one_reader() {
    take_standard_input().unwrap();
    let error = take_standard_input().unwrap_err();
    assert_eq!(error.message(), "standard input can be read only once");
}
