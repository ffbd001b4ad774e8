//! Texts that are too long to stand in a view, each kept once: equal texts have the same place.

use arrow::buffer::Buffer;
use tidemill_core::Result;
use xxhash_rust::xxh3::xxh3_64;

use super::numbers::Numbers;

/// How many bytes a block has before another is begun: a place in it is a number of 32 bits.
const BLOCK_BYTES: usize = 1 << 20;

/// Texts in blocks.
#[derive(Debug, Default)]
pub(super) struct LongTexts {
    numbers: Numbers,
    /// By number: place and length.
    texts: Vec<(u64, usize)>,
    blocks: Vec<Vec<u8>>,
}

impl LongTexts {
    /// The place of a text, as the upper half of its view has it: the block, and where it begins there.
    pub(super) fn place(&mut self, text: &[u8]) -> Result<u64> {
        let Self { numbers, texts, blocks } = self;
        let hash = (xxh3_64(text) >> 32) as u32;
        let (number, new) = numbers.find_or_add(hash, |number| bytes(blocks, texts[number]) == text)?;
        if new {
            if blocks.last().is_none_or(|block| block.len() + text.len() > BLOCK_BYTES) {
                blocks.push(Vec::with_capacity(if blocks.is_empty() { text.len() } else { BLOCK_BYTES }));
            }
            let number = blocks.len() - 1;
            let block = &mut blocks[number];
            texts.push((number as u64 | (block.len() as u64) << 32, text.len()));
            block.extend_from_slice(text);
        }
        Ok(texts[number].0)
    }

    /// The blocks; then there is no text.
    pub(super) fn take(&mut self) -> Vec<Buffer> {
        self.numbers.clear();
        self.texts.clear();
        std::mem::take(&mut self.blocks).into_iter().map(Buffer::from_vec).collect()
    }
}

fn bytes(blocks: &[Vec<u8>], (place, length): (u64, usize)) -> &[u8] {
    let (block, start) = ((place & u64::from(u32::MAX)) as usize, (place >> 32) as usize);
    &blocks[block][start..start + length]
}
