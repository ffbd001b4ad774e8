//! How many files the program may have open at the same time.

/// Raises the limit as far as the system lets the program raise it; where it does not, the limit stays.
///
/// A live run over files with event time has all of them open, to read on in the one that is furthest behind. The limit
/// that programs begin with is often 1,024, for the sake of old ones that can't deal with more; the hard limit above it
/// is what the machine's owner has set.
pub(crate) fn raise_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes to `limit` and nothing else.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: it only reads `limit`. Where it is refused all is as it was.
    unsafe {
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
    }
}
