//! Texts as other texts or as bytes, and back.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P, Row};

pub(super) static FUNCTIONS: [Function; 7] = [
    Function::new(
        &["to_base64"],
        "TO_BASE64(string)",
        "its UTF-8 in Base64",
        &[P::Text],
        E::Text(|row| row.text(0).map(|text| BASE64.encode(text))),
    ),
    Function::new(
        &["from_base64"],
        "FROM_BASE64(string)",
        "the text whose UTF-8 this is in Base64",
        &[P::Text],
        E::TryText(from_base64),
    ),
    Function::new(
        &["encode"],
        "ENCODE(string, charset)",
        "its bytes in US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE or UTF-16LE",
        &[P::Text, P::Text],
        E::TryBytes(|row| match (row.text(0), row.text(1)) {
            (Some(text), Some(charset)) => Charset::named(charset).map(|charset| Some(charset.encode(text))),
            _ => Ok(None),
        }),
    ),
    Function::new(
        &["decode"],
        "DECODE(bytes, charset)",
        "the text that these bytes are; what is none becomes U+FFFD",
        &[P::Bytes, P::Text],
        E::TryText(|row| match (row.bytes(0), row.text(1)) {
            (Some(bytes), Some(charset)) => Charset::named(charset).map(|charset| Some(charset.decode(bytes))),
            _ => Ok(None),
        }),
    ),
    Function::new(
        &["hex"],
        "HEX(value)",
        "an integer, or the UTF-8 of a string, in hexadecimal digits",
        &[P::TextOrBigInt],
        E::Text(|row| match row.text(0) {
            Some(text) => Some(text.bytes().map(|byte| format!("{byte:02X}")).collect()),
            None => row.bigint(0).map(|number| format!("{number:X}")),
        }),
    ),
    Function::new(
        &["unhex"],
        "UNHEX(string)",
        "the bytes of these hexadecimal digits; NULL where there are others",
        &[P::Text],
        E::Bytes(|row| unhex(row.text(0)?)),
    )
    .differs("of an odd number of digits the first is a byte; Flink gives a zero byte for it"),
    Function::new(
        &["bin"],
        "BIN(integer)",
        "in binary digits",
        &[P::BigInt],
        E::Text(|row| row.bigint(0).map(|number| format!("{number:b}"))),
    ),
];

/// As Java's decoder: padding may be missing, and what stands behind the last byte is not looked at.
static BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn from_base64(row: Row<'_>) -> Result<Option<String>, Error> {
    let Some(text) = row.text(0) else { return Ok(None) };
    match BASE64.decode(text) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) => Err(Error::data(format!("FROM_BASE64: '{text}' is not Base64: {error}"))
            .hint("filter such values out, for example with REGEXP(value, '^[A-Za-z0-9+/]*=*$')")),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    let (first, pairs) = digits.split_at(digits.len() % 2);
    Some(first.iter().copied().chain(pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1])).collect())
}

#[derive(Clone, Copy)]
enum Charset {
    Ascii,
    Latin1,
    Utf8,
    /// Written big-endian behind a byte order mark, read as that says.
    Utf16,
    Utf16Be,
    Utf16Le,
}

impl Charset {
    fn named(name: &str) -> Result<Self, Error> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "US-ASCII" | "ASCII" => Self::Ascii,
            "ISO-8859-1" => Self::Latin1,
            "UTF-8" => Self::Utf8,
            "UTF-16" => Self::Utf16,
            "UTF-16BE" => Self::Utf16Be,
            "UTF-16LE" => Self::Utf16Le,
            _ => {
                return Err(Error::data(format!("there is no character set '{name}'"))
                    .hint("use US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE or UTF-16LE"));
            }
        })
    }

    /// What the set has not becomes `?`.
    fn encode(self, text: &str) -> Vec<u8> {
        let one_byte = |last: u32| {
            let byte = move |c: char| u8::try_from(u32::from(c)).ok().filter(|&b| u32::from(b) <= last).unwrap_or(b'?');
            text.chars().map(byte).collect()
        };
        match self {
            Self::Ascii => one_byte(0x7F),
            Self::Latin1 => one_byte(0xFF),
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16 if text.is_empty() => vec![],
            Self::Utf16 => [0xFE, 0xFF].into_iter().chain(Self::Utf16Be.encode(text)).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        }
    }

    fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Ascii => {
                let c = |&byte: &u8| if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER };
                bytes.iter().map(c).collect()
            }
            Self::Latin1 => bytes.iter().map(|&byte| char::from(byte)).collect(),
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Self::Utf16 => match bytes {
                [0xFF, 0xFE, rest @ ..] => Self::Utf16Le.decode(rest),
                [0xFE, 0xFF, rest @ ..] | rest => Self::Utf16Be.decode(rest),
            },
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::from_utf16_lossy(&pairs.iter().map(|&pair| unit(pair)).collect::<Vec<_>>());
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}
