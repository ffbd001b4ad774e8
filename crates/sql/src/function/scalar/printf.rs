//! `PRINTF(format, value, ...)`: the directives of Java's `Formatter`, for the types that SQL has.
//!
//! As in Flink, a format that is wrong, or that a value does not fit, gives NULL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use chrono::{DateTime, Utc};
use datafusion::common::Result;

#[cfg(test)]
mod tests;

use super::{Evaluate as E, Function, Parameter as P, Returns};
use crate::function::cast::float;

pub(super) static FUNCTIONS: [Function; 1] = [Function::new(
    &["printf"],
    "PRINTF(format, value, ...)",
    "the values in the places of %d, %5.2f, %s and others, as Java's Formatter has them; NULL where one does not fit",
    &[P::Text, P::Shown],
    E::Arrays(printf),
)
.required(1)
.repeats()
.returns(Returns::Type(|| DataType::Utf8View))
.differs("not %h, %a and %t; no BYTES, ARRAY, MAP and ROW")];

fn printf(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let formats = arguments[0].as_string_view();
    let texts = formats.iter().enumerate().map(|(row, format)| {
        let values: Vec<Value> = arguments[1..].iter().map(|values| value(values, row)).collect();
        formatted(format?, &values)
    });
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}

/// A value as directives see it.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Boolean(bool),
    /// With the number of bits of its type.
    Whole(i64, u32),
    /// And whether it is a FLOAT, which has fewer digits by itself.
    Float(f64, bool),
    /// For `%s` alone.
    Text(String),
}

fn value(values: &ArrayRef, row: usize) -> Value {
    if values.is_null(row) {
        return Value::Null;
    }
    match values.data_type() {
        DataType::Boolean => Value::Boolean(values.as_boolean().value(row)),
        DataType::Int8 => Value::Whole(values.as_primitive::<Int8Type>().value(row).into(), 8),
        DataType::Int16 => Value::Whole(values.as_primitive::<Int16Type>().value(row).into(), 16),
        DataType::Int32 => Value::Whole(values.as_primitive::<Int32Type>().value(row).into(), 32),
        DataType::Int64 => Value::Whole(values.as_primitive::<Int64Type>().value(row), 64),
        DataType::Float32 => Value::Float(values.as_primitive::<Float32Type>().value(row).into(), true),
        DataType::Float64 => Value::Float(values.as_primitive::<Float64Type>().value(row), false),
        DataType::Decimal128(..) => Value::Text(values.as_primitive::<Decimal128Type>().value_as_string(row)),
        DataType::Utf8View => Value::Text(values.as_string_view().value(row).to_owned()),
        // Days since 1970 and milliseconds since midnight, as Flink hands them in.
        DataType::Date32 => Value::Whole(values.as_primitive::<Date32Type>().value(row).into(), 32),
        DataType::Time32(_) => Value::Whole(values.as_primitive::<Time32MillisecondType>().value(row).into(), 32),
        DataType::Timestamp(unit, _) => timestamp(values, row, *unit)
            .map_or(Value::Null, |time| Value::Text(time.format("%Y-%m-%dT%H:%M:%S%.f").to_string())),
        _ => Value::Null,
    }
}

fn timestamp(values: &ArrayRef, row: usize, unit: TimeUnit) -> Option<DateTime<Utc>> {
    match unit {
        TimeUnit::Millisecond => {
            DateTime::from_timestamp_millis(values.as_primitive::<TimestampMillisecondType>().value(row))
        }
        TimeUnit::Microsecond => {
            DateTime::from_timestamp_micros(values.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        _ => Some(DateTime::from_timestamp_nanos(values.as_primitive::<TimestampNanosecondType>().value(row))),
    }
}

/// The longest field that is filled: more is nobody's table.
const MAX_WIDTH: usize = 10_000;

/// `%[index$][flags][width][.precision]conversion`
#[derive(Debug, Default)]
struct Directive {
    flags: String,
    width: Option<usize>,
    precision: Option<usize>,
    conversion: char,
}

fn formatted(format: &str, values: &[Value]) -> Option<String> {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    let (mut next, mut last) = (0, None);
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (index, directive, behind) = Directive::read(&rest[at + 1..])?;
        rest = behind;
        match directive.conversion {
            'n' => out.push('\n'),
            '%' => out.push_str(&directive.filled("%".to_owned())?),
            _ => {
                let place = match index {
                    Index::Next => {
                        next += 1;
                        next - 1
                    }
                    Index::Last => last?,
                    Index::At(place) => place,
                };
                last = Some(place);
                out.push_str(&directive.of(values.get(place)?)?);
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Which value a directive takes.
enum Index {
    Next,
    /// `%<s`: that of the directive before.
    Last,
    /// `%2$s`
    At(usize),
}

/// The digits at the head of a text as a number, and the rest.
fn digits(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().ok(), &text[end..])
}

impl Directive {
    /// Reads what stands behind a `%`; `None` where it is no directive.
    fn read(text: &str) -> Option<(Index, Self, &str)> {
        let (index, mut rest) = match digits(text) {
            (Some(number), behind) if behind.starts_with('$') => (Index::At(number.checked_sub(1)?), &behind[1..]),
            _ => match text.strip_prefix('<') {
                Some(behind) => (Index::Last, behind),
                None => (Index::Next, text),
            },
        };
        let flags = rest.len() - rest.trim_start_matches(['-', '#', '+', ' ', '0', ',', '(']).len();
        let mut directive = Self { flags: rest[..flags].to_owned(), ..Self::default() };
        (directive.width, rest) = digits(&rest[flags..]);
        if let Some(behind) = rest.strip_prefix('.') {
            (directive.precision, rest) = digits(behind);
            directive.precision?;
        }
        directive.conversion = rest.chars().next()?;
        let too_wide = directive.width.max(directive.precision).is_some_and(|width| width > MAX_WIDTH);
        let behind = &rest[directive.conversion.len_utf8()..];
        (!too_wide && directive.agrees()).then_some((index, directive, behind))
    }

    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Whether its parts go together.
    fn agrees(&self) -> bool {
        let twice = self.flags.chars().any(|flag| self.flags.matches(flag).count() > 1);
        let filled = self.has('-') || self.has('0');
        let allowed = match self.conversion.to_ascii_lowercase() {
            'b' | 's' | 'c' | '%' => "-",
            'd' => "-+ 0,(",
            'x' | 'o' => "-0#",
            'e' => "-+ 0(",
            'f' | 'g' => "-+ 0,(",
            _ => "",
        };
        let contradicts =
            filled && self.width.is_none() || self.has('-') && self.has('0') || self.has('+') && self.has(' ');
        let cut = matches!(self.conversion, 'd' | 'x' | 'X' | 'o' | 'c' | 'C' | '%' | 'n') && self.precision.is_some();
        !(twice || contradicts || cut) && self.flags.chars().all(|flag| allowed.contains(flag))
    }

    /// The value in its form; `None` where it has none.
    fn of(&self, value: &Value) -> Option<String> {
        let text = match (self.conversion, value) {
            ('b' | 'B', value) => self.cut(match value {
                Value::Null => "false".to_owned(),
                Value::Boolean(value) => value.to_string(),
                _ => "true".to_owned(),
            }),
            ('s' | 'S', value) => self.cut(text(value)?),
            ('c' | 'C' | 'd' | 'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'g' | 'G', Value::Null) => {
                self.cut("null".to_owned())
            }
            ('c' | 'C', Value::Whole(code, 8..=32)) => char::from_u32(u32::try_from(*code).ok()?)?.to_string(),
            ('d', Value::Whole(number, _)) => return self.number(*number < 0, number.unsigned_abs().to_string()),
            ('x' | 'X', Value::Whole(number, bits)) => {
                let prefix = if self.has('#') { "0x" } else { "" };
                return self.padded(prefix, format!("{:x}", unsigned(*number, *bits)));
            }
            ('o', Value::Whole(number, bits)) => {
                let prefix = if self.has('#') { "0" } else { "" };
                return self.padded(prefix, format!("{:o}", unsigned(*number, *bits)));
            }
            ('e' | 'E' | 'f' | 'g' | 'G', Value::Float(number, _)) => return self.float(*number),
            _ => return None,
        };
        self.filled(text)
    }

    /// No longer than the precision.
    fn cut(&self, text: String) -> String {
        match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        }
    }

    /// As wide as it must be, in the case of the conversion.
    fn filled(&self, text: String) -> Option<String> {
        let text = if self.conversion.is_ascii_uppercase() { text.to_uppercase() } else { text };
        let width = self.width.unwrap_or(0);
        Some(if self.has('-') { format!("{text:<width$}") } else { format!("{text:>width$}") })
    }

    /// With zeros behind the prefix, where the flag says so.
    fn padded(&self, prefix: &str, digits: String) -> Option<String> {
        let zeros = if self.has('0') { self.width.unwrap_or(0).saturating_sub(prefix.len()) } else { 0 };
        self.filled(format!("{prefix}{digits:0>zeros$}"))
    }

    /// With its sign, and commas between thousands.
    fn number(&self, negative: bool, mut digits: String) -> Option<String> {
        if self.has(',') {
            digits = grouped(&digits);
        }
        let (before, behind) = match negative {
            true if self.has('(') => ("(", ")"),
            true => ("-", ""),
            false if self.has('+') => ("+", ""),
            false if self.has(' ') => (" ", ""),
            false => ("", ""),
        };
        let zeros = if self.has('0') { self.width.unwrap_or(0).saturating_sub(before.len() + behind.len()) } else { 0 };
        self.filled(format!("{before}{digits:0>zeros$}{behind}"))
    }

    fn float(&self, number: f64) -> Option<String> {
        if !number.is_finite() {
            let name = if number.is_nan() { "NaN" } else { "Infinity" };
            let sign = if number == f64::NEG_INFINITY { "-" } else { "" };
            return self.filled(format!("{sign}{name}"));
        }
        let (digits, exponent) = shortest(number.abs());
        let precision = self.precision.unwrap_or(6);
        let text = match self.conversion {
            'f' => fixed(&digits, exponent, precision),
            'e' | 'E' => scientific(&digits, exponent, precision),
            _ => general(&digits, exponent, precision.max(1)),
        };
        self.number(number.is_sign_negative(), text)
    }
}

fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Whole(number, _) => number.to_string(),
        Value::Float(number, single) => {
            let mut text = String::new();
            #[allow(clippy::cast_possible_truncation, reason = "it was one")]
            let written = if *single { float(*number as f32, &mut text) } else { float(*number, &mut text) };
            written.ok()?;
            text
        }
        Value::Text(text) => text.clone(),
    })
}

/// The bits of the number in its type.
fn unsigned(number: i64, bits: u32) -> u64 {
    number.cast_unsigned() & (u64::MAX >> (64 - bits))
}

fn grouped(digits: &str) -> String {
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// The fewest digits that tell the number from others, and the power of ten of the first.
fn shortest(number: f64) -> (Vec<u8>, i32) {
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    (digits, exponent.parse().unwrap_or(0))
}

/// The first `count` digits, half rounded up, and the power of ten of the first, which a carry raises.
fn rounded(digits: &[u8], exponent: i32, count: i32) -> (Vec<u8>, i32) {
    let Ok(count) = usize::try_from(count) else { return (vec![0], exponent) };
    let mut kept: Vec<u8> = digits.iter().copied().chain(std::iter::repeat(0)).take(count).collect();
    if digits.get(count).is_some_and(|next| *next >= 5) {
        for digit in kept.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                return (kept, exponent);
            }
        }
        kept.insert(0, 1);
        return (kept, exponent + 1);
    }
    (kept, exponent)
}

fn written(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(b'0' + digit)).collect()
}

/// So many digits behind the point.
fn fixed(digits: &[u8], exponent: i32, precision: usize) -> String {
    let behind = i32::try_from(precision).unwrap_or(i32::MAX);
    let (digits, exponent) = rounded(digits, exponent, exponent.saturating_add(1).saturating_add(behind));
    // One zero at least before the point, and as many behind it as come before the first digit.
    let text = "0".repeat(usize::try_from(-exponent).unwrap_or(0)) + &written(&digits);
    let wanted = usize::try_from(exponent.max(0)).unwrap_or(0) + 1 + precision;
    let text = format!("{text:0<wanted$}");
    let (whole, fraction) = text[..wanted].split_at(wanted - precision);
    if precision == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// One digit before the point, and an exponent of two digits at least.
fn scientific(digits: &[u8], exponent: i32, precision: usize) -> String {
    let count = i32::try_from(precision).unwrap_or(i32::MAX).saturating_add(1);
    let (digits, exponent) = rounded(digits, exponent, count);
    let text = written(&digits[..=precision]);
    let (whole, fraction) = text.split_at(1);
    let point = if precision == 0 { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{whole}{point}{fraction}e{sign}{:02}", exponent.abs())
}

/// So many digits in all, with an exponent where the number is large or small.
fn general(digits: &[u8], exponent: i32, precision: usize) -> String {
    let count = i32::try_from(precision).unwrap_or(i32::MAX);
    let (_, after) = rounded(digits, exponent, count);
    let zero = digits.iter().all(|digit| *digit == 0);
    if zero || (-4..count).contains(&after) {
        let behind = usize::try_from(count - 1 - if zero { 0 } else { after }).unwrap_or(0);
        return fixed(digits, exponent, behind);
    }
    scientific(digits, exponent, precision - 1)
}
