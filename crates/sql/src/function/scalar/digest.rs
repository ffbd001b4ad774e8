//! Hashes of a text's UTF-8, in lower-case hexadecimal digits.

use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P, Row};

pub(super) static FUNCTIONS: [Function; 7] = [
    Function::new(&["md5"], "MD5(string)", "32 digits", &[P::Text], E::Text(|row| row.text(0).map(hex::<Md5>))),
    Function::new(&["sha1"], "SHA1(string)", "40 digits", &[P::Text], E::Text(|row| row.text(0).map(hex::<Sha1>))),
    Function::new(
        &["sha224"],
        "SHA224(string)",
        "56 digits",
        &[P::Text],
        E::Text(|row| row.text(0).map(hex::<Sha224>)),
    ),
    Function::new(
        &["sha256"],
        "SHA256(string)",
        "64 digits",
        &[P::Text],
        E::Text(|row| row.text(0).map(hex::<Sha256>)),
    ),
    Function::new(
        &["sha384"],
        "SHA384(string)",
        "96 digits",
        &[P::Text],
        E::Text(|row| row.text(0).map(hex::<Sha384>)),
    ),
    Function::new(
        &["sha512"],
        "SHA512(string)",
        "128 digits",
        &[P::Text],
        E::Text(|row| row.text(0).map(hex::<Sha512>)),
    ),
    Function::new(
        &["sha2"],
        "SHA2(string, bits)",
        "by 224, 256, 384 or 512 bits",
        &[P::Text, P::Int],
        E::TryText(sha2),
    ),
];

fn hex<D: Digest>(text: &str) -> String {
    D::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha2(row: Row<'_>) -> Result<Option<String>, Error> {
    let (Some(text), Some(bits)) = (row.text(0), row.int(1)) else { return Ok(None) };
    match bits {
        224 => Ok(Some(hex::<Sha224>(text))),
        256 => Ok(Some(hex::<Sha256>(text))),
        384 => Ok(Some(hex::<Sha384>(text))),
        512 => Ok(Some(hex::<Sha512>(text))),
        _ => Err(Error::data(format!("SHA2 has no hash of {bits} bits")).hint("use 224, 256, 384 or 512")),
    }
}
