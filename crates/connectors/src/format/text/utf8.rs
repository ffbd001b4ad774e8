//! Where a chunk stops being UTF-8: found once for a chunk that is good, record by record in one that is not.

use memchr::memrchr;

/// The bytes of a chunk, as far as they are known to be UTF-8.
pub(in crate::format) struct Utf8 {
    valid_to: usize,
}

impl Utf8 {
    /// Checks the whole of `bytes`.
    pub(in crate::format) fn of(bytes: &[u8]) -> Self {
        Self { valid_to: valid_lines_to(bytes, 0) }
    }

    /// Whether the record at `start` is known to be UTF-8, if it is one line.
    #[inline]
    pub(in crate::format) fn covers(&self, start: usize) -> bool {
        start < self.valid_to
    }

    /// Up to where `bytes` are known to be UTF-8.
    pub(in crate::format) fn valid_to(&self) -> usize {
        self.valid_to
    }

    /// Checks the record `start..end`; gives the place of the first byte that is not UTF-8. What follows it is checked
    /// when it is reached.
    #[cold]
    pub(in crate::format) fn check(&mut self, bytes: &[u8], start: usize, end: usize) -> Result<(), usize> {
        match simdutf8::compat::from_utf8(&bytes[start..end]) {
            Ok(_) => {
                self.valid_to = valid_lines_to(bytes, start).max(end);
                Ok(())
            }
            Err(error) => Err(start + error.valid_up_to()),
        }
    }
}

/// Where the first line from `start` on begins that is not UTF-8; the end if all are.
fn valid_lines_to(bytes: &[u8], start: usize) -> usize {
    if simdutf8::basic::from_utf8(&bytes[start..]).is_ok() {
        return bytes.len();
    }
    let valid = match simdutf8::compat::from_utf8(&bytes[start..]) {
        Ok(_) => bytes.len() - start,
        Err(error) => error.valid_up_to(),
    };
    memrchr(b'\n', &bytes[start..start + valid]).map_or(start, |end| start + end + 1)
}
