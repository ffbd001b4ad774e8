//! Compressed files: known by their first bytes, read as what they hold.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::filesystem::store::StoredBytes;

/// What a file may be compressed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// How data that is compressed so begins.
    fn magic(self) -> &'static [u8] {
        match self {
            Self::Gzip => b"\x1f\x8b",
            Self::Zstd => b"\x28\xb5\x2f\xfd",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// What a file's name says of it.
    fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Names of files that are compressed with what is not supported.
const UNSUPPORTED: [(&str, &str); 5] =
    [("bz2", "bzip2"), ("xz", "xz"), ("deflate", "deflate"), ("lz4", "lz4"), ("snappy", "snappy")];

/// What a file holds, from its beginning.
pub(super) enum Text {
    Plain(BufReader<Box<dyn StoredBytes>>),
    Compressed(Box<dyn Read + Send>),
}

impl Text {
    /// The bytes behind the first `position` of the text. Of a compressed file those are read, to be thrown away.
    ///
    /// # Errors
    /// `UnexpectedEof` if there are not so many.
    pub(super) fn from(self, position: u64) -> io::Result<Box<dyn Read + Send>> {
        let (skipped, rest): (u64, Box<dyn Read + Send>) = match self {
            // Nothing can be sought in a pipe.
            Self::Plain(file) if position == 0 => (0, Box::new(file)),
            Self::Plain(mut file) => {
                let skipped = file.get_ref().count()?.min(position);
                file.seek(SeekFrom::Start(skipped))?;
                (skipped, Box::new(file))
            }
            Self::Compressed(mut text) => {
                let skipped = io::copy(&mut text.by_ref().take(position), &mut io::sink())?;
                (skipped, text)
            }
        };
        if skipped < position {
            let what = format!("{position} bytes of its text were read by the run before, and it has {skipped}");
            return Err(io::Error::new(ErrorKind::UnexpectedEof, what));
        }
        Ok(rest)
    }
}

/// The bytes that `file` holds, uncompressed. Its first bytes say whether it is compressed; text
/// begins with none of those.
///
/// # Errors
/// `Unsupported` if the name says that it is compressed with something else, `InvalidData` if the
/// name says that it is compressed and it is not.
pub(super) fn uncompressed(file: Box<dyn StoredBytes>, path: &Path) -> io::Result<Text> {
    let mut file = BufReader::new(file);
    let head = file.fill_buf()?;
    let found = [Compression::Gzip, Compression::Zstd].into_iter().find(|c| head.starts_with(c.magic()));
    match (found, Compression::of_name(path)) {
        (Some(Compression::Gzip), _) => Ok(Text::Compressed(Box::new(Uncompressed {
            compression: Compression::Gzip,
            bytes: MultiGzDecoder::new(file),
            failed: None,
        }))),
        (Some(Compression::Zstd), _) => {
            let bytes = zstd::Decoder::with_buffer(file)?;
            Ok(Text::Compressed(Box::new(Uncompressed { compression: Compression::Zstd, bytes, failed: None })))
        }
        (None, Some(named)) => Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("its name says {}, and it is not: rename it", named.name()),
        )),
        (None, None) => match unsupported(path) {
            Some(name) => {
                let what = format!("it is compressed with {name}, which is not supported: use gzip or zstd");
                Err(io::Error::new(ErrorKind::Unsupported, what))
            }
            None => Ok(Text::Plain(file)),
        },
    }
}

fn unsupported(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    UNSUPPORTED.iter().find(|(end, _)| *end == extension).map(|(_, name)| *name)
}

/// Compressed bytes, with errors that say so.
struct Uncompressed<R> {
    compression: Compression,
    bytes: R,
    /// What went wrong after bytes that are still to be given.
    failed: Option<io::Error>,
}

impl<R: Read> Read for Uncompressed<R> {
    /// Fills the buffer: decompressors give a little at a time, and chunks of that size would cost more than they hold.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() && self.failed.is_none() {
            match self.bytes.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => self.failed = Some(self.explain(e)),
            }
        }
        match self.failed.take_if(|_| filled == 0) {
            Some(e) => Err(e),
            None => Ok(filled),
        }
    }
}

impl<R> Uncompressed<R> {
    fn explain(&self, e: io::Error) -> io::Error {
        let name = self.compression.name();
        match e.kind() {
            ErrorKind::UnexpectedEof => {
                io::Error::new(e.kind(), format!("the {name} data ends too early, so the file is not whole"))
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
                io::Error::new(ErrorKind::InvalidData, format!("the {name} data is damaged ({e})"))
            }
            _ => e,
        }
    }
}
