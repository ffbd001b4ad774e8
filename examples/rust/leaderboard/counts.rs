//! How many players have a higher score, in as many steps as a score has bytes, however many players there are.

use tidemill::Result;
use tidemill::state::{KeyedState, MapState};

/// A node of the tree: how many bytes of the scores below it are alike, and what these are.
type Node = (u8, u64);

/// A tree of all scores, byte by byte from the highest: at each node, how many scores below it go on with which byte. There
/// are only nodes that some player's score goes through.
pub struct Counts {
    /// Bytes in their order, each with its count.
    nodes: MapState<Node, Vec<(u8, i64)>>,
}

impl Counts {
    pub fn new(nodes: MapState<Node, Vec<(u8, i64)>>) -> Self {
        Self { nodes }
    }

    /// One player more has this score; says how many have a higher one.
    pub fn enter(&self, state: &mut KeyedState, score: i64) -> Result<i64> {
        let mut higher = 0;
        for (node, byte) in path(score) {
            let mut counts = self.nodes.get(state, &node)?.unwrap_or_default();
            let place = counts.partition_point(|(other, _)| *other < byte);
            match counts.get_mut(place).filter(|(other, _)| *other == byte) {
                Some((_, count)) => *count += 1,
                None => counts.insert(place, (byte, 1)),
            }
            higher += counts[place + 1..].iter().map(|(_, count)| count).sum::<i64>();
            self.nodes.put(state, &node, &counts)?;
        }
        Ok(higher)
    }

    /// One player fewer has this score.
    pub fn leave(&self, state: &mut KeyedState, score: i64) -> Result<()> {
        for (node, byte) in path(score) {
            let mut counts = self.nodes.get(state, &node)?.unwrap_or_default();
            counts.iter_mut().filter(|(other, _)| *other == byte).for_each(|(_, count)| *count -= 1);
            counts.retain(|(_, count)| *count > 0);
            match counts.is_empty() {
                true => self.nodes.remove(state, &node)?,
                false => self.nodes.put(state, &node, &counts)?,
            }
        }
        Ok(())
    }
}

/// From the root on, the nodes that a score goes through, each with the byte by which it goes on.
fn path(score: i64) -> impl Iterator<Item = (Node, u8)> {
    // With the sign inverted, the order of the bytes is that of the numbers.
    let bytes = (score ^ i64::MIN).to_be_bytes();
    bytes.into_iter().zip(0..).scan(0, |alike, (byte, depth)| {
        let node = (depth, *alike);
        *alike = *alike << 8 | u64::from(byte);
        Some((node, byte))
    })
}
