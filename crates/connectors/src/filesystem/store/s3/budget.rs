//! How much memory all tables together may fill with bytes that are fetched before they are needed.
//!
//! One object is read fastest in large pieces, the next of which is on its way while one is decoded. Of a thousand that
//! are open at once, as shards of the same hour are, each must do with a small one.

use tokio::sync::{Semaphore, SemaphorePermit};

const KIB: u64 = 1 << 10;

/// In KiB.
static SPARE: Semaphore = Semaphore::const_new(64 << 10);

/// Memory that is set aside, until this is dropped.
pub(super) type Allowance = SemaphorePermit<'static>;

/// Sets memory aside, if there is so much.
pub(super) fn allow(bytes: u64) -> Option<Allowance> {
    let kib = u32::try_from(bytes.div_ceil(KIB)).ok()?;
    SPARE.try_acquire_many(kib).ok()
}
