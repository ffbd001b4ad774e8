//! Patterns of dates and times in the letters of Java: `yyyy-MM-dd HH:mm:ss.SSS`.
//!
//! Supported are `y u M d D E a H h K k m s S` and text in quotes; any other letter is refused by name, as its meaning
//! would be lost. Texts are English.

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use tidemill_core::{Error, Result};

/// A pattern, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Item>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Text(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
}

const LETTERS: &str = "yuMdDEaHhKkmsS";

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A letter without a meaning here, or a quote without an end.
    pub(super) fn new(pattern: &str) -> Result<Self> {
        let mut items = vec![];
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => items.push(Item::Text(quoted(pattern, &mut chars)?)),
                c if c.is_ascii_alphabetic() => {
                    let mut count = 1;
                    while chars.next_if_eq(&c).is_some() {
                        count += 1;
                    }
                    if !LETTERS.contains(c) || count > 9 {
                        return Err(unsupported(pattern, &c.to_string().repeat(count)));
                    }
                    items.push(Item::Field(c, count));
                }
                '[' | ']' | '{' | '}' | '#' => return Err(unsupported(pattern, &c.to_string())),
                c => items.push(Item::Text(c.to_string())),
            }
        }
        Ok(Self(items))
    }

    /// The time as the pattern has it.
    pub(super) fn format(&self, time: NaiveDateTime) -> String {
        let mut out = String::new();
        for item in &self.0 {
            match item {
                Item::Text(text) => out += text,
                Item::Field(letter, count) => field(*letter, *count, time, &mut out),
            }
        }
        out
    }

    /// The time that the whole text shows; what the pattern does not say is that of 1970-01-01 00:00:00. `None` where
    /// the text does not fit the pattern, or shows no time.
    pub(super) fn parse(&self, text: &str) -> Option<NaiveDateTime> {
        let (read, rest) = self.read(text, false)?;
        if rest.is_empty() { read.time(date) } else { None }
    }

    /// The same for the front of a text, and whatever stands behind it. Here numbers may have fewer digits than letters,
    /// and no day is replaced by another.
    pub(super) fn parse_front(&self, text: &str) -> Option<NaiveDateTime> {
        self.read(text, true)?.0.time(NaiveDate::from_ymd_opt)
    }

    fn read<'t>(&self, text: &'t str, short: bool) -> Option<(Read, &'t str)> {
        let mut rest = text;
        let mut read = Read::default();
        for (i, item) in self.0.iter().enumerate() {
            rest = match item {
                Item::Text(text) => rest.strip_prefix(text.as_str())?,
                Item::Field(letter, count) => {
                    let adjacent = matches!(self.0.get(i + 1), Some(Item::Field(..)));
                    let count = if short && !adjacent && !named(*letter, *count) { 1 } else { *count };
                    read.field(*letter, count, adjacent, rest)?
                }
            };
        }
        Some((read, rest))
    }
}

/// Whether a field is a word.
fn named(letter: char, count: usize) -> bool {
    matches!(letter, 'a' | 'E') || letter == 'M' && count > 2
}

fn unsupported(pattern: &str, what: &str) -> Error {
    Error::invalid(format!("'{what}' in the pattern '{pattern}' is not supported"))
        .hint("letters are y, u, M, d, D, E, a, H, h, K, k, m, s and S, as Java has them; text stands in single quotes")
}

fn quoted(pattern: &str, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String> {
    if chars.next_if_eq(&'\'').is_some() {
        return Ok("'".to_owned());
    }
    let mut text = String::new();
    loop {
        match chars.next() {
            Some('\'') if chars.next_if_eq(&'\'').is_some() => text.push('\''),
            Some('\'') => return Ok(text),
            Some(c) => text.push(c),
            None => {
                let message = format!("the pattern '{pattern}' has a quote without an end");
                return Err(Error::invalid(message).hint("write '' for a quote"));
            }
        }
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

fn field(letter: char, count: usize, time: NaiveDateTime, out: &mut String) {
    let number = match letter {
        'y' | 'u' if count == 2 => i64::from(time.year().rem_euclid(100)),
        'y' | 'u' => time.year().into(),
        'M' if count > 2 => return *out += name(MONTHS[time.month0() as usize], count),
        'M' => time.month().into(),
        'd' => time.day().into(),
        'D' => time.ordinal().into(),
        'E' => return *out += name(DAYS[time.weekday().num_days_from_monday() as usize], count),
        'a' => return *out += if time.hour() < 12 { "AM" } else { "PM" },
        'H' => time.hour().into(),
        'h' => time.hour12().1.into(),
        'K' => (time.hour() % 12).into(),
        'k' => (if time.hour() == 0 { 24 } else { time.hour() }).into(),
        'm' => time.minute().into(),
        's' => time.second().into(),
        // The first digits of the fraction.
        _ => return out.push_str(&format!("{:09}", time.nanosecond())[..count]),
    };
    *out += &format!("{number:0count$}");
}

/// In full with four letters.
fn name(full: &'static str, count: usize) -> &'static str {
    if count == 4 { full } else { &full[..3] }
}

/// What a text has shown so far.
#[derive(Default)]
struct Read {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: Option<u32>,
    hour_of_half: Option<u32>,
    afternoon: Option<bool>,
    minute: Option<u32>,
    second: Option<u32>,
    nanosecond: Option<u32>,
}

impl Read {
    /// Reads a field from the front of the text; gives what is left. A number is as long as its letters, or, of one
    /// letter, as long as it is. A year of four letters may be longer, unless a number follows at once.
    fn field<'t>(&mut self, letter: char, count: usize, adjacent: bool, text: &'t str) -> Option<&'t str> {
        if letter == 'a' {
            self.afternoon = Some(text.get(..2)? == "PM");
            return text.strip_prefix("AM").or_else(|| text.strip_prefix("PM"));
        }
        if named(letter, count) {
            let names: &[&str] = if letter == 'E' { &DAYS } else { &MONTHS };
            let found = names.iter().position(|full| text.starts_with(name(full, count)))?;
            if letter == 'M' {
                self.month = Some(found as u32 + 1);
            }
            return Some(&text[name(names[found], count).len()..]);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let wide = matches!(letter, 'y' | 'u') && count > 2 && !adjacent;
        let (least, most) = match count {
            1 if !adjacent => (1, 9),
            count if wide => (count, 9),
            count => (count, count),
        };
        let length = digits.min(most);
        if length < least {
            return None;
        }
        let (number, rest) = text.split_at(length);
        let value: u32 = number.parse().ok()?;
        match letter {
            'y' | 'u' if count == 2 => self.year = Some(2_000 + i32::try_from(value).ok()?),
            'y' | 'u' => self.year = Some(i32::try_from(value).ok()?),
            'M' => self.month = Some(value),
            'd' => self.day = Some(value),
            'D' => self.day_of_year = Some(value),
            'H' => self.hour = Some(value),
            'k' => self.hour = Some((1..=24).contains(&value).then_some(value % 24)?),
            'h' => self.hour_of_half = Some((1..=12).contains(&value).then_some(value % 12)?),
            'K' => self.hour_of_half = Some((value < 12).then_some(value)?),
            'm' => self.minute = Some(value),
            's' => self.second = Some(value),
            _ => self.nanosecond = Some(format!("{number:0<9}").parse().ok()?),
        }
        Some(rest)
    }

    fn time(&self, date: impl Fn(i32, u32, u32) -> Option<NaiveDate>) -> Option<NaiveDateTime> {
        let year = self.year.unwrap_or(1970);
        let date = match self.day_of_year {
            Some(day) => NaiveDate::from_yo_opt(year, day)?,
            None => date(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
        };
        let half = self.hour_of_half.map(|hour| hour + if self.afternoon == Some(true) { 12 } else { 0 });
        let hour = self.hour.or(half).unwrap_or(0);
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let time = NaiveTime::from_hms_nano_opt(hour, minute, second, self.nanosecond.unwrap_or(0))?;
        Some(date.and_time(time))
    }
}

/// The day, or the last of a month that has fewer than 31.
pub(super) fn date(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    let last = if day <= 31 { day.min(28) } else { day };
    (last..=day).rev().find_map(|day| NaiveDate::from_ymd_opt(year, month, day))
}
