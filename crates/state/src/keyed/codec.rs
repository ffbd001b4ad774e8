//! How keys and values are written as bytes, which is a storage format: checkpoints hold these bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};

/// Writes values of a type as bytes, and reads them.
///
/// # Contract
/// What was written is read again, by every later version of the program too. Equal keys are written alike.
pub trait Codec<T>: Send + Sync {
    /// What checkpoints call it; another name is another format.
    fn name(&self) -> &'static str;

    /// Writes a value behind what is in `out`.
    ///
    /// # Errors
    /// `Invalid` if the value can't be written.
    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<()>;

    /// Reads the value that was written as these bytes, and no others.
    ///
    /// # Errors
    /// `Data` if they are not such a value.
    fn decode(&self, bytes: &[u8]) -> Result<T>;
}

/// [Postcard](https://postcard.jamesmunns.com/wire-format), a compact format with a specification, for any type of serde
/// that says itself what it is (so no `deserialize_any`, no `skip_serializing_if`). The fields of a struct have no names
/// in it: another order, or other fields, are another type.
#[derive(Debug, Clone, Copy, Default)]
pub struct Postcard;

impl<T: Serialize + DeserializeOwned> Codec<T> for Postcard {
    fn name(&self) -> &'static str {
        "postcard"
    }

    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<()> {
        *out = postcard::to_extend(value, std::mem::take(out))
            .map_err(|e| cannot_write(self.name_of::<T>(), &e).because(e))?;
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> Result<T> {
        let (value, rest) =
            postcard::take_from_bytes(bytes).map_err(|e| cannot_read(self.name_of::<T>(), &e).because(e))?;
        if !rest.is_empty() {
            return Err(cannot_read(self.name_of::<T>(), &"something stands behind the value"));
        }
        Ok(value)
    }
}

/// A format in which bytes are in the order of the values (numbers, texts, tuples and structs field by field, enums by
/// the place of the variant; MyRocks' *memcomparable*), for the keys of maps. It knows no maps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ordered;

impl<T: Serialize + DeserializeOwned> Codec<T> for Ordered {
    fn name(&self) -> &'static str {
        "ordered"
    }

    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<()> {
        let mut serializer = memcomparable::Serializer::new(out);
        value.serialize(&mut serializer).map_err(|e| cannot_write("ordered", &e).because(e))
    }

    fn decode(&self, bytes: &[u8]) -> Result<T> {
        memcomparable::from_slice(bytes).map_err(|e| cannot_read("ordered", &e).because(e))
    }
}

impl Postcard {
    fn name_of<T: Serialize + DeserializeOwned>(self) -> &'static str {
        Codec::<T>::name(&self)
    }
}

fn cannot_write(format: &str, why: &impl std::fmt::Display) -> Error {
    Error::invalid(format!("a value can't be written in the format '{format}': {why}"))
        .hint("give the descriptor a codec of your own for such a type")
}

fn cannot_read(format: &str, why: &impl std::fmt::Display) -> Error {
    Error::data(format!("what is stored is no such value in the format '{format}': {why}"))
        .hint("the type has changed since it was written: read the old one, and write the new one under another name")
}

#[cfg(test)]
mod tests;
