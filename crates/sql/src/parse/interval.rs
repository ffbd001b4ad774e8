//! Interval literals as Flink reads them, exact to the millisecond.

use datafusion::sql::sqlparser::ast::{DateTimeField, Expr, Interval, Spanned, UnaryOperator, Value, ValueWithSpan};
use datafusion::sql::sqlparser::tokenizer::Span;
use tidemill_core::Result;

use super::{refusal::Refusal, text::SqlText};

const MS_PER_SECOND: i64 = 1_000;
const MS_PER_MINUTE: i64 = 60 * MS_PER_SECOND;
const MS_PER_HOUR: i64 = 60 * MS_PER_MINUTE;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

const FORM: &str = "write it as INTERVAL '10' MINUTE";

/// The length of a window, in milliseconds: a day has 24 hours.
///
/// # Errors
/// What is no interval literal, is zero or negative, or counts in months or years, which have no fixed length.
pub fn interval_ms(expr: &Expr, sql: &SqlText) -> Result<i64> {
    let result = signed(expr).and_then(|ms| match ms {
        1.. => Ok(ms),
        _ => Err(Refusal::new("a window needs a length above zero", place(expr)).hint(FORM)),
    });
    result.map_err(|refusal| refusal.at(sql))
}

/// The offset of a window, in milliseconds; it may be zero or negative.
///
/// # Errors
/// What is no interval literal, or counts in months or years.
pub fn offset_ms(expr: &Expr, sql: &SqlText) -> Result<i64> {
    signed(expr).map_err(|refusal| refusal.at(sql))
}

fn signed(expr: &Expr) -> Result<i64, Refusal> {
    let interval = match expr {
        Expr::Interval(interval) => interval,
        Expr::Nested(inner) => return signed(inner),
        _ => return Err(Refusal::new("expected an interval", place(expr)).hint(FORM)),
    };
    match amount(interval)? {
        Amount::Milliseconds(ms) => Ok(ms),
        Amount::Months(_) => {
            Err(Refusal::new("a window can't be months or years long: they differ in length", place(expr))
                .hint("write it in days, hours, minutes or seconds"))
        }
    }
}

/// Rewrites the forms that DataFusion does not read (`'1:30' MINUTE TO SECOND`, `DAY(3)`) to one unit.
pub(super) fn simplify(interval: &mut Interval) -> Result<(), Refusal> {
    let amount = amount(interval)?;
    let compound = interval.last_field.is_some();
    interval.leading_precision = None;
    interval.fractional_seconds_precision = None;
    if compound {
        let (text, field) = match amount {
            Amount::Months(months) => (months.to_string(), DateTimeField::Month),
            Amount::Milliseconds(ms) => {
                let (sign, ms) = (if ms < 0 { "-" } else { "" }, ms.unsigned_abs());
                (format!("{sign}{}.{:03}", ms / 1_000, ms % 1_000), DateTimeField::Second)
            }
        };
        let span = place(&interval.value);
        *interval.value = Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span });
        interval.leading_field = Some(field);
        interval.last_field = None;
    }
    Ok(())
}

/// What an interval literal says: the two kinds do not mix.
pub(super) enum Amount {
    Months(i64),
    Milliseconds(i64),
}

pub(super) fn amount(interval: &Interval) -> Result<Amount, Refusal> {
    let span = place(&interval.value);
    let (negative, text) = literal(&interval.value)?;
    let Some(leading) = &interval.leading_field else {
        return Err(Refusal::new("the interval has no unit", span).hint(FORM));
    };
    let (text, negative) = match text.trim().strip_prefix('-') {
        Some(rest) => (rest, !negative),
        None => (text.trim().strip_prefix('+').unwrap_or(text.trim()), negative),
    };
    let units = units(leading, interval.last_field.as_ref(), span)?;
    let fields = split(text, &units).filter(|fields| fields.len() == units.len());
    let wrong = || {
        Refusal::new(format!("'{text}' is not a value of the interval {}", shape(&units)), span).hint(example(&units))
    };
    let fields = fields.ok_or_else(wrong)?;
    let mut total = 0_i64;
    for (i, (field, unit)) in fields.iter().zip(&units).enumerate() {
        let limit = if i == 0 { i64::MAX } else { unit.limit };
        let amount = unit.value(field, limit).ok_or_else(wrong)?;
        total = total.checked_add(amount).ok_or_else(|| Refusal::new("the interval is too long", span))?;
    }
    check_precision(interval, fields.first().copied().unwrap_or_default(), span)?;
    let total = if negative { -total } else { total };
    Ok(if units[0].months { Amount::Months(total) } else { Amount::Milliseconds(total) })
}

fn check_precision(interval: &Interval, leading: &str, span: Span) -> Result<(), Refusal> {
    let digits = leading.split('.').next().unwrap_or_default().len() as u64;
    match interval.leading_precision {
        Some(precision) if digits > precision => {
            Err(Refusal::new(format!("{leading} has more than {precision} digits"), span)
                .hint("raise the precision that stands after the unit, or leave it away"))
        }
        _ => Ok(()),
    }
}

/// The sign before the literal, and its text.
fn literal(value: &Expr) -> Result<(bool, &str), Refusal> {
    match value {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => Ok((false, text)),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => literal(expr).map(|(negative, text)| (!negative, text)),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => literal(expr),
        other => Err(Refusal::new(format!("the value of an interval stands in quotes, found {other}"), place(value))
            .hint(format!("{FORM}; to compute one, write n * INTERVAL '1' MINUTE"))),
    }
}

/// A unit: its name, its size in milliseconds or months, and how many make the next larger one.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    size: i64,
    limit: i64,
    months: bool,
}

impl Unit {
    const YEAR: Self = Self { name: "YEAR", size: 12, limit: i64::MAX, months: true };
    const QUARTER: Self = Self { name: "QUARTER", size: 3, limit: 4, months: true };
    const MONTH: Self = Self { name: "MONTH", size: 1, limit: 12, months: true };
    const WEEK: Self = Self { name: "WEEK", size: 7 * MS_PER_DAY, limit: i64::MAX, months: false };
    const DAY: Self = Self { name: "DAY", size: MS_PER_DAY, limit: i64::MAX, months: false };
    const HOUR: Self = Self { name: "HOUR", size: MS_PER_HOUR, limit: 24, months: false };
    const MINUTE: Self = Self { name: "MINUTE", size: MS_PER_MINUTE, limit: 60, months: false };
    const SECOND: Self = Self { name: "SECOND", size: MS_PER_SECOND, limit: 60, months: false };
    const DAY_TIME: [Self; 4] = [Self::DAY, Self::HOUR, Self::MINUTE, Self::SECOND];

    fn of(field: &DateTimeField) -> Option<Self> {
        Some(match field {
            DateTimeField::Year | DateTimeField::Years => Self::YEAR,
            DateTimeField::Quarter => Self::QUARTER,
            DateTimeField::Month | DateTimeField::Months => Self::MONTH,
            DateTimeField::Week(None) | DateTimeField::Weeks => Self::WEEK,
            DateTimeField::Day | DateTimeField::Days => Self::DAY,
            DateTimeField::Hour | DateTimeField::Hours => Self::HOUR,
            DateTimeField::Minute | DateTimeField::Minutes => Self::MINUTE,
            DateTimeField::Second | DateTimeField::Seconds => Self::SECOND,
            _ => return None,
        })
    }

    /// The field's amount; seconds may have up to three decimals, nothing else has any.
    fn value(self, field: &str, limit: i64) -> Option<i64> {
        let (whole, decimals) = field.split_once('.').unwrap_or((field, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let fraction_is_allowed = self.name == "SECOND" && !decimals.is_empty() && decimals.len() <= 3;
        if whole.is_empty() || !digits(whole) || !digits(decimals) || (field.contains('.') && !fraction_is_allowed) {
            return None;
        }
        let whole = whole.parse::<i64>().ok().filter(|n| *n < limit)?;
        let fraction = format!("{decimals:0<3}").parse::<i64>().ok()?;
        whole.checked_mul(self.size)?.checked_add(fraction)
    }
}

/// The units from the leading to the last one.
fn units(leading: &DateTimeField, last: Option<&DateTimeField>, span: Span) -> Result<Vec<Unit>, Refusal> {
    let known = |field: &DateTimeField| {
        Unit::of(field).ok_or_else(|| {
            Refusal::new(format!("{field} is not a unit of an interval in Flink SQL"), span)
                .hint("units are SECOND (with up to three decimals), MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER and YEAR")
        })
    };
    let first = known(leading)?;
    let Some(last) = last.map(known).transpose()? else { return Ok(vec![first]) };
    let position = |unit: Unit| Unit::DAY_TIME.iter().position(|u| u.name == unit.name);
    match (position(first), position(last)) {
        (Some(from), Some(to)) if from < to => Ok(Unit::DAY_TIME[from..=to].to_vec()),
        _ if first.name == "YEAR" && last.name == "MONTH" => Ok(vec![first, last]),
        _ => Err(Refusal::new(format!("an interval can't go from {} to {}", first.name, last.name), span)
            .hint("DAY TO SECOND and what lies between, or YEAR TO MONTH")),
    }
}

/// Splits `1 10:30:15.5` (days, then a clock) or `1-6` (years and months) into its fields.
fn split<'a>(text: &'a str, units: &[Unit]) -> Option<Vec<&'a str>> {
    match units {
        [_] => Some(vec![text]),
        [first, ..] if first.months => text.split_once('-').map(|(years, months)| vec![years, months]),
        [first, ..] if first.name == "DAY" => {
            let (days, clock) = text.split_once(' ')?;
            Some(std::iter::once(days).chain(clock.trim_start().split(':')).collect())
        }
        _ => Some(text.split(':').collect()),
    }
}

fn shape(units: &[Unit]) -> String {
    match units {
        [first, .., last] => format!("{} TO {}", first.name, last.name),
        _ => units.first().map_or_else(String::new, |unit| unit.name.to_owned()),
    }
}

fn example(units: &[Unit]) -> String {
    let value = match (units.first().map(|u| u.name), units.len()) {
        (Some("YEAR"), 2) => "1-6",
        (Some("DAY"), 2) => "1 10",
        (Some("DAY"), 3) => "1 10:30",
        (Some("DAY"), 4) => "1 10:30:15.500",
        (_, 2) => "1:30",
        (_, 3) => "1:30:15.500",
        _ => "10",
    };
    format!("write it as INTERVAL '{value}' {}", shape(units))
}

/// The place of a small expression.
pub(crate) fn place(expr: &Expr) -> Span {
    match expr {
        Expr::Interval(interval) => place(&interval.value),
        Expr::Value(value) => value.span,
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => place(expr),
        Expr::Identifier(ident) => ident.span,
        Expr::CompoundIdentifier(parts) => parts.first().map_or(Span::empty(), |part| part.span),
        Expr::ILike { expr, .. } | Expr::RLike { expr, .. } | Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => {
            place(expr)
        }
        Expr::JsonAccess { value, .. } => place(value),
        Expr::AtTimeZone { timestamp, .. } => place(timestamp),
        Expr::Function(function) => function.name.span(),
        _ => Span::empty(),
    }
}
