use std::io::Cursor;

use proptest::prelude::*;
use tidemill_core::ErrorKind as Kind;

use super::*;

/// Gives at most the given numbers of bytes a read, over and over, and is interrupted in between.
struct Trickle {
    bytes: Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    reads: usize,
}

impl Read for Trickle {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let most = self.sizes[self.reads % self.sizes.len()].min(out.len());
        self.bytes.read(&mut out[..most])
    }
}

fn blocks(mut reader: RecordReader<impl Read>) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_records().unwrap() {
        blocks.push(block.as_slice().to_vec());
    }
    assert!(reader.next_records().unwrap().is_none(), "the end stays the end");
    blocks
}

fn reader<R: Read>(input: R, read_bytes: usize) -> RecordReader<R> {
    RecordReader::new(input, Box::new(AtLineEnds), "test.json".into(), read_bytes)
}

/// What must hold of the blocks of every text, however it was read.
fn check(text: &[u8], blocks: &[Vec<u8>]) {
    assert_eq!(blocks.concat(), text);
    for (i, block) in blocks.iter().enumerate() {
        assert!(!block.is_empty());
        assert!(i + 1 == blocks.len() || block.ends_with(b"\n"), "block {i} ends inside a line");
    }
}

#[test]
fn every_cut_of_a_small_text_gives_whole_lines() {
    for text in ["", "\n", "a", "a\n", "a\nbb\n\nccc\n", "a\r\nbb\r\nc", "\n\n\n", "long line, no end"] {
        for read_bytes in 1..=text.len() + 2 {
            check(text.as_bytes(), &blocks(reader(Cursor::new(text), read_bytes)));
        }
    }
}

#[test]
fn lines_leave_as_soon_as_they_have_arrived() {
    let input = Cursor::new("a\nb").chain(Cursor::new("b\nc\n")).chain(Cursor::new("d"));
    let blocks = blocks(reader(input, 1024));
    assert_eq!(blocks, [&b"a\n"[..], b"bb\nc\n", b"d"]);
}

#[test]
fn a_small_block_does_not_pin_a_large_buffer() {
    let mut reader = reader(Cursor::new("a\nb"), 1 << 20);
    for _ in 0..2 {
        let block = reader.next_records().unwrap().unwrap();
        assert!(block.capacity() < 1024, "{} bytes", block.capacity());
    }
}

#[test]
fn a_record_longer_than_the_limit_names_the_input_the_line_and_the_size() {
    let mut reader = RecordReader { max_record_bytes: 10, ..reader(Cursor::new("a\nb\nc\nd\n0123456789abcdef\n"), 4) };
    let error = loop {
        match reader.next_records() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no error"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), Kind::Data);
    assert_eq!(
        error.message(),
        "test.json: the record at line 5 is longer than the limit of 10 bytes (12 bytes without an end)"
    );
}

#[test]
fn behind_what_was_read_before_it_names_the_byte() {
    let text = "b\n0123456789abcdef\n";
    let mut reader = RecordReader { max_record_bytes: 10, ..reader(Cursor::new(text), 4) }.behind(100);
    assert_eq!(reader.next_records().unwrap().unwrap().as_slice(), b"b\n");
    assert_eq!(reader.position(), 102);
    let error = reader.next_records().unwrap_err();
    assert!(error.message().starts_with("test.json: the record at byte 102 is longer than"), "{error}");
}

#[test]
fn a_failing_read_names_the_input() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("bad sector"))
        }
    }
    let error = reader(Broken, 16).next_records().unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert_eq!(error.message(), "cannot read test.json: bad sector");
}

proptest! {
    #[test]
    fn blocks_are_whole_lines_and_together_the_input(
        text in proptest::collection::vec(prop_oneof![4 => Just(b'x'), 1 => Just(b'\n'), 1 => any::<u8>()], 0..300),
        sizes in proptest::collection::vec(1..40usize, 1..6),
        read_bytes in 1..64usize,
    ) {
        let input = Trickle { bytes: Cursor::new(text.clone()), sizes, reads: 0 };
        check(&text, &blocks(reader(input, read_bytes)));
    }
}
