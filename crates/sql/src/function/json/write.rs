//! JSON values as text, in the form that Flink writes: no spaces, members in the order of their names.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use super::value::Json;

/// The value as text.
pub(super) fn write(value: &Json<'_>) -> String {
    let mut out = String::new();
    append(value, &mut out);
    out
}

fn append(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(text) => out.push_str(&number(text)),
        Json::Text(text) => quote(text, out),
        Json::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                separate(index, out);
                append(element, out);
            }
            out.push(']');
        }
        Json::Object(object) => {
            let mut members = object.members();
            members.sort_by(|(a, _), (b, _)| utf16_order(a, b));
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                separate(index, out);
                quote(name, out);
                out.push(':');
                append(value, out);
            }
            out.push('}');
        }
    }
}

/// The order in which Java sorts texts: that of their UTF-16.
pub(super) fn utf16_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// A comma before all but the first.
pub(super) fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

/// The text in quotes; only what must be is escaped.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[copied..at]);
        copied = at + 1;
        match short_escape(char::from(byte)) {
            Some(letter) => out.extend(['\\', letter]),
            None => write!(out, "\\u{byte:04X}").expect("a String takes all"),
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// The text in quotes as `JSON_QUOTE` gives it: what is not ASCII by its UTF-16, and a slash escaped too.
pub(super) fn quote_ascii(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match short_escape(c).or((c == '/').then_some(c)) {
            Some(letter) => out.extend(['\\', letter]),
            None if c.is_ascii() => out.push(c),
            None => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("a String takes all");
                }
            }
        }
    }
    out.push('"');
    out
}

/// The letter behind the backslash, for characters that have one.
fn short_escape(c: char) -> Option<char> {
    Some(match c {
        '"' | '\\' => c,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return None,
    })
}

/// A number as Java writes it: whole numbers by their digits, others as a `BigDecimal`, with all digits that it was
/// written with, and an exponent where there was one that is not needed for zeros behind the point.
pub(super) fn number(text: &str) -> Cow<'_, str> {
    if !text.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(if text == "-0" { "0" } else { text });
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (negative, whole) = whole.strip_prefix('-').map_or((false, whole), |whole| (true, whole));
    let digits = format!("{whole}{fraction}");
    let digits = Some(digits.trim_start_matches('0')).filter(|rest| !rest.is_empty()).unwrap_or("0");
    let exponent: i64 = exponent.parse().expect("the reader lets through what fits");
    let scale = i64::try_from(fraction.len()).unwrap_or(i64::MAX).saturating_sub(exponent);
    let sign = if negative && digits != "0" { "-" } else { "" };
    Cow::Owned(format!("{sign}{}", scaled(digits, scale)))
}

/// `digits` · 10^-scale
fn scaled(digits: &str, scale: i64) -> String {
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let exponent = count - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        // Both are small: there are more digits than the scale, or at most six zeros before them.
        let behind = usize::try_from(scale).unwrap_or_default();
        let padded = format!("{digits:0>width$}", width = behind + 1);
        let (whole, fraction) = padded.split_at(padded.len() - behind);
        let point = if behind > 0 { "." } else { "" };
        return format!("{whole}{point}{fraction}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { "" } else { "+" };
    format!("{first}{point}{rest}E{sign}{exponent}")
}
