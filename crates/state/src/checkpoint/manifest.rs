//! The list of what makes a checkpoint: one line of JSON, and its checksum.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidemill_core::{Epoch, Error, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::job::OperatorIdentity;
use super::run::epoch_of;

/// The format that is written, and the only one so far. A change of what stands in a manifest, of what a section of an
/// operator holds, or of the words of a plan raises it; a golden checkpoint of each format stays in the tests
/// (`tests/compat/checkpoints`).
pub const FORMAT: u32 = 1;

/// Before the checksum.
const CHECKSUM: &[u8] = b"\nxxh3 ";

/// Whose state it is: a name that the job gives, the same in each of its runs.
pub type Owner = String;

/// What a checkpoint is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format.
    pub(super) format: u32,
    /// The program that wrote it.
    pub(super) program: String,
    /// The number of the cut.
    pub(super) epoch: u64,
    /// The number of the run that wrote it; 0 where an older version did.
    #[serde(default)]
    pub(super) run: u64,
    /// When it was written, in milliseconds since 1970.
    pub(super) created_ms: i64,
    /// The job had come to the end of its input.
    pub(super) finished: bool,
    /// The longest that a task took no row because of the cut.
    #[serde(default)]
    pub(super) longest_pause_us: u64,
    /// The job, in words: another one's state is of no use to it.
    pub(super) plan: String,
    /// Its operators, as another job finds them again; none where an older version wrote it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) operators: BTreeMap<String, OperatorIdentity>,
    /// The savepoint that the job began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// If it is a savepoint, what tells it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) savepoint: Option<String>,
    /// The files of parts that are named, with all bytes that they have.
    pub(super) files: BTreeMap<u64, u64>,
    /// By owner, the sections.
    pub(super) state: BTreeMap<Owner, Vec<SectionParts>>,
}

/// The parts of a section, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SectionParts {
    pub(super) name: String,
    pub(super) number: i64,
    /// Its rows are keys with their values, and the last one of a key counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) upserts: bool,
    pub(super) parts: Vec<PartRef>,
}

/// Where one batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartRef {
    /// The number of the file, which has that of the run and the epoch that wrote it.
    pub(super) file: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// XXH3 of the bytes.
    pub(super) xxh3: u64,
    /// Of keys and values: it goes on where the part before ends, and no key is in both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) goes_on: bool,
}

impl Manifest {
    /// The number of the cut.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch(self.epoch)
    }

    /// Whether the job had come to the end of its input.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// The job, in words.
    #[must_use]
    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// The savepoint that the job began from, by its id.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// If it is a savepoint, its id.
    #[must_use]
    pub fn savepoint(&self) -> Option<&str> {
        self.savepoint.as_deref()
    }

    /// When it was written, in milliseconds since 1970.
    #[must_use]
    pub fn created_ms(&self) -> i64 {
        self.created_ms
    }

    /// The longest that a task took no row because of the cut; 0 in checkpoints of versions that did not tell it.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        Duration::from_micros(self.longest_pause_us)
    }

    /// How many bytes of parts were written for it.
    pub(super) fn part_bytes(&self) -> u64 {
        self.files.iter().filter(|(file, _)| epoch_of(**file) == self.epoch).map(|(_, bytes)| bytes).sum()
    }

    /// How many bytes of state it names, by owner.
    #[must_use]
    pub fn bytes(&self) -> BTreeMap<&str, u64> {
        let bytes = |sections: &[SectionParts]| sections.iter().flat_map(|s| &s.parts).map(|part| part.bytes).sum();
        self.state.iter().map(|(owner, sections)| (owner.as_str(), bytes(sections))).collect()
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self)
            .map_err(|e| Error::internal(format!("a manifest can't be written as JSON: {e}")).because(e))?;
        let checksum = xxh3_64(&text);
        text.extend_from_slice(CHECKSUM);
        text.extend_from_slice(format!("{checksum:016x}\n").as_bytes());
        Ok(text)
    }

    /// # Errors
    /// `Data` if it is not whole, or of a format that this program does not read.
    pub(super) fn decode(text: &[u8]) -> Result<Self> {
        let damaged = |why: &str| Error::data(format!("the manifest is damaged: {why}"));
        let end = text.len().checked_sub(CHECKSUM.len() + 17).ok_or_else(|| damaged("it is cut off"))?;
        let (body, checksum) = text.split_at(end);
        let expected = format!("{:016x}\n", xxh3_64(body));
        if checksum.strip_prefix(CHECKSUM) != Some(expected.as_bytes()) {
            return Err(damaged("its checksum does not fit"));
        }
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            program: String,
        }
        let head: Head = serde_json::from_slice(body).map_err(|e| damaged(&e.to_string()))?;
        if head.format != FORMAT {
            let Head { format, program } = head;
            return Err(Error::data(format!(
                "the checkpoint has format {format}, and this program reads format {FORMAT}"
            ))
            .hint(format!("use the version that wrote it: {program}")));
        }
        serde_json::from_slice(body).map_err(|e| damaged(&e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let part = PartRef { file: 3, offset: 7, bytes: 90, xxh3: u64::MAX, goes_on: false };
        let section = SectionParts { name: "pane".to_owned(), number: -60_000, upserts: false, parts: vec![part] };
        let parts = vec![part, PartRef { goes_on: true, ..part }];
        let keyed = SectionParts { name: "keyed".to_owned(), number: 0, upserts: true, parts };
        Manifest {
            format: FORMAT,
            program: "tidemill 0.1.0".to_owned(),
            epoch: 3,
            run: 482_193_755,
            created_ms: 1,
            finished: false,
            longest_pause_us: 1_500,
            plan: "0: source \"t\"\n".to_owned(),
            operators: BTreeMap::new(),
            origin: None,
            savepoint: None,
            files: [(3, 97)].into(),
            state: [("1.0.a".to_owned(), vec![section, keyed])].into(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Manifest::decode(&manifest().encode().unwrap()).unwrap(), manifest());
    }

    #[test]
    fn every_damage_is_seen() {
        let whole = manifest().encode().unwrap();
        for cut in 0..whole.len() {
            assert!(Manifest::decode(&whole[..cut]).is_err(), "cut at {cut}");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            assert!(Manifest::decode(&damaged).is_err(), "changed at {place}");
        }
    }

    #[test]
    fn another_format_is_told_with_the_program_that_reads_it() {
        let newer = Manifest { format: 2, program: "tidemill 9.0.0".to_owned(), ..manifest() };
        let error = Manifest::decode(&newer.encode().unwrap()).unwrap_err();
        assert_eq!(error.message(), "the checkpoint has format 2, and this program reads format 1");
        assert_eq!(error.hint_text(), Some("use the version that wrote it: tidemill 9.0.0"));
    }
}
