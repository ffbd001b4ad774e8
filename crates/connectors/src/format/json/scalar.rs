//! Where the text of a scalar stands: in a number, or in a string.

use super::column::Read;
use super::fault::Fault;
use super::scan::Cursor;
use crate::format::text::decimal::Decimal;
use crate::format::text::number::{Float, Floating, Integer, number, plain, whole};
use crate::format::text::temporal::{Date, Time, Timestamp, TimestampFormat, not_a_date, not_a_time};
use crate::format::text::{Misfit, Parse};

/// The text of a number or string: what scalar types are read from. A string is trimmed, as Flink does.
///
/// `quoted` tells whether it was a string. Any other value is a fault with `problem`.
fn scalar<T>(
    cursor: &mut Cursor<'_>,
    problem: &'static str,
    parse: impl FnOnce(&[u8], bool) -> Result<T, Misfit>,
) -> Result<T, Fault> {
    match cursor.peek() {
        b'"' => Ok(parse(cursor.string()?.unescaped().trim_ascii(), true)?),
        b'-' | b'0'..=b'9' => Ok(parse(cursor.number()?, false)?),
        _ => Err(Fault::value(problem)),
    }
}

impl<T: TryFrom<i64>> Read<T> for Integer<T> {
    #[inline]
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<T>, Fault> {
        let value = match plain(cursor.bytes(), cursor.pos()) {
            Some((value, end)) => {
                cursor.seek(end);
                value
            }
            None => scalar(cursor, "is not a whole number", |text, _| whole(text))?,
        };
        Ok(Some(self.fit(value)?))
    }
}

impl<T: Floating> Read<T> for Float {
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<T>, Fault> {
        scalar(cursor, "is not a number", |text, quoted| match quoted {
            true => self.parse(text),
            // The scanner has checked it.
            false => number(text).map(Some),
        })
    }
}

impl Read<i128> for Decimal {
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<i128>, Fault> {
        scalar(cursor, "is not a number", |text, _| self.parse(text))
    }
}

impl Read<i64> for Timestamp {
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<i64>, Fault> {
        string(cursor, self, || self.malformed(b""))
    }
}

impl Read<i32> for Date {
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<i32>, Fault> {
        string(cursor, self, not_a_date)
    }
}

impl Read<i32> for Time {
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<i32>, Fault> {
        string(cursor, self, not_a_time)
    }
}

/// The value of a string; any other value is a `misfit`.
fn string<T>(
    cursor: &mut Cursor<'_>,
    parser: &impl Parse<T>,
    misfit: impl FnOnce() -> Misfit,
) -> Result<Option<T>, Fault> {
    if cursor.peek() != b'"' {
        return Err(misfit().into());
    }
    Ok(parser.parse(&cursor.string()?.unescaped())?)
}

/// Reads timestamps in `format`.
pub(super) fn timestamp(format: TimestampFormat, zoned: bool, units_a_second: i64) -> Timestamp {
    let other_form = match format {
        TimestampFormat::Sql => "for a 'T' between date and time, set 'json.timestamp-format.standard' = 'ISO-8601'",
        TimestampFormat::Iso8601 => "for a space between date and time, set 'json.timestamp-format.standard' = 'SQL'",
    };
    Timestamp::new(format, zoned, units_a_second, other_form)
}
