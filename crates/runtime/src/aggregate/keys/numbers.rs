//! A hash table of numbers: what they stand for, and how it is hashed, is kept elsewhere.

use tidemill_core::{Error, Result};

/// The fewest places of a table that is not empty.
const FIRST_PLACES: usize = 64;

/// Numbers from 0 on, found by hash. Open addressing: at most half of the places are taken, and none is given up.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// A power of two of them, or none.
    places: Vec<Place>,
    count: u32,
}

/// What stands at a place of the table: the number that follows, so that 0 is none, and its hash.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    next: u32,
    hash: u32,
}

impl Numbers {
    /// The number with this hash that is `equal`, or a new one: the next. Whether it is new.
    ///
    /// # Errors
    /// `Unavailable` if there are more than 2^32 - 2.
    #[inline]
    pub(super) fn find_or_add(&mut self, hash: u32, equal: impl Fn(usize) -> bool) -> Result<(usize, bool)> {
        if self.places.len() < 2 * (self.count as usize + 1) {
            self.grow()?;
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = &mut self.places[at];
            if place.next == 0 {
                self.count += 1;
                *place = Place { next: self.count, hash };
                return Ok((self.count as usize - 1, true));
            }
            let number = place.next as usize - 1;
            if place.hash == hash && equal(number) {
                return Ok((number, false));
            }
            at = (at + 1) & mask;
        }
    }

    /// The number that stands where one with this hash is looked for first: it may be another one's.
    #[inline]
    pub(super) fn candidate(&self, hash: u32) -> Option<usize> {
        let place = self.places.get(hash as usize & self.places.len().wrapping_sub(1))?;
        (place.next as usize).checked_sub(1)
    }

    fn grow(&mut self) -> Result<()> {
        if self.count >= u32::MAX - 1 {
            return Err(Error::unavailable("there are more than 4,294,967,294 groups"));
        }
        let length = (4 * self.places.len()).max(FIRST_PLACES);
        let taken = std::mem::replace(&mut self.places, vec![Place::default(); length]);
        for place in taken.into_iter().filter(|place| place.next != 0) {
            let mut at = place.hash as usize & (length - 1);
            while self.places[at].next != 0 {
                at = (at + 1) & (length - 1);
            }
            self.places[at] = place;
        }
        Ok(())
    }

    /// There is no number any more; the places stay.
    pub(super) fn clear(&mut self) {
        self.places.fill(Place::default());
        self.count = 0;
    }
}
