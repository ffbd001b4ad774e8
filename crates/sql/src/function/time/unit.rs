//! Units of time, and what they do to what a clock shows.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Timelike};

/// A unit that EXTRACT, FLOOR, CEIL, TIMESTAMPADD or TIMESTAMPDIFF takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    IsoYear,
    Epoch,
    Decade,
    Century,
    Millennium,
}

impl Unit {
    /// All units, with the names that SQL has for them.
    pub(crate) const ALL: [(Self, &'static str); 19] = [
        (Self::Nanosecond, "nanosecond"),
        (Self::Microsecond, "microsecond"),
        (Self::Millisecond, "millisecond"),
        (Self::Second, "second"),
        (Self::Minute, "minute"),
        (Self::Hour, "hour"),
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Quarter, "quarter"),
        (Self::Year, "year"),
        (Self::DayOfWeek, "dow"),
        (Self::IsoDayOfWeek, "isodow"),
        (Self::DayOfYear, "doy"),
        (Self::IsoYear, "isoyear"),
        (Self::Epoch, "epoch"),
        (Self::Decade, "decade"),
        (Self::Century, "century"),
        (Self::Millennium, "millennium"),
    ];

    /// Whether times are cut by it: to its begin and to its end.
    pub(crate) fn cuts(self) -> bool {
        self.adds() || matches!(self, Self::Millisecond | Self::Decade | Self::Century | Self::Millennium)
    }

    /// Whether it can be added and counted.
    pub(crate) fn adds(self) -> bool {
        matches!(self, Self::Second | Self::Minute | Self::Hour) || self.is_calendar()
    }

    /// A part of a day, whose length never changes.
    pub(crate) fn is_clock(self) -> bool {
        matches!(
            self,
            Self::Nanosecond | Self::Microsecond | Self::Millisecond | Self::Second | Self::Minute | Self::Hour
        )
    }

    fn is_calendar(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Quarter | Self::Year)
    }

    /// The length in milliseconds of what has one.
    fn length_ms(self) -> Option<i64> {
        Some(match self {
            Self::Millisecond => 1,
            Self::Second => 1_000,
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
            Self::Week => 7 * 86_400_000,
            _ => return None,
        })
    }

    fn months(self) -> i64 {
        match self {
            Self::Quarter => 3,
            Self::Year => 12,
            Self::Decade => 120,
            Self::Century => 1_200,
            Self::Millennium => 12_000,
            _ => 1,
        }
    }

    /// The part of the time that the unit names. Weeks are those of ISO 8601; a week begins on Sunday, the day 1, for
    /// `DOW`, and on Monday for `ISODOW`.
    pub(crate) fn part_of(self, time: NaiveDateTime) -> i64 {
        // The years 1 to 100 are the first century.
        let counted = |years: i32| i64::from((time.year() - 1).div_euclid(years) + 1);
        match self {
            Self::Nanosecond => time.nanosecond().into(),
            Self::Microsecond => (time.nanosecond() / 1_000).into(),
            Self::Millisecond => (time.nanosecond() / 1_000_000).into(),
            Self::Second => time.second().into(),
            Self::Minute => time.minute().into(),
            Self::Hour => time.hour().into(),
            Self::Day => time.day().into(),
            Self::Week => time.iso_week().week().into(),
            Self::Month => time.month().into(),
            Self::Quarter => time.quarter().into(),
            Self::Year => time.year().into(),
            Self::DayOfWeek => i64::from(time.weekday().num_days_from_sunday()) + 1,
            Self::IsoDayOfWeek => time.weekday().number_from_monday().into(),
            Self::DayOfYear => time.ordinal().into(),
            Self::IsoYear => time.iso_week().year().into(),
            Self::Epoch => time.and_utc().timestamp(),
            Self::Decade => i64::from(time.year().div_euclid(10)),
            Self::Century => counted(100),
            Self::Millennium => counted(1_000),
        }
    }

    /// The begin of the unit that the time is in. Weeks begin on Sunday, as Flink has it here.
    pub(crate) fn floor(self, time: NaiveDateTime) -> Option<NaiveDateTime> {
        let day = time.date();
        let day = match self {
            Self::Week => day.checked_sub_days(Days::new(day.weekday().num_days_from_sunday().into()))?,
            Self::Month => day.with_day(1)?,
            Self::Quarter => NaiveDate::from_ymd_opt(day.year(), (day.month0() / 3) * 3 + 1, 1)?,
            Self::Year => NaiveDate::from_ymd_opt(day.year(), 1, 1)?,
            Self::Decade => NaiveDate::from_ymd_opt(day.year().div_euclid(10) * 10, 1, 1)?,
            Self::Century => first_day(day.year(), 100)?,
            Self::Millennium => first_day(day.year(), 1_000)?,
            _ => {
                let ms = time.and_utc().timestamp_millis();
                return at_ms(ms - ms.rem_euclid(self.length_ms()?));
            }
        };
        Some(day.and_time(chrono::NaiveTime::MIN))
    }

    /// The time itself where a unit begins, and else the begin of the next.
    pub(crate) fn ceil(self, time: NaiveDateTime) -> Option<NaiveDateTime> {
        let floor = self.floor(time)?;
        if floor == time { Some(time) } else { self.add(floor, 1) }
    }

    /// So many units later. Of a month that is too short, the last day.
    pub(crate) fn add(self, time: NaiveDateTime, count: i64) -> Option<NaiveDateTime> {
        if let Some(length_ms) = self.length_ms() {
            return time.checked_add_signed(TimeDelta::try_milliseconds(count.checked_mul(length_ms)?)?);
        }
        let months = count.checked_mul(self.months())?;
        let size = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
        if months < 0 { time.checked_sub_months(size) } else { time.checked_add_months(size) }
    }

    /// How many whole units lie between the times, with the sign of the direction.
    pub(crate) fn between(self, from: NaiveDateTime, to: NaiveDateTime) -> i64 {
        if let Some(length_ms) = self.length_ms() {
            return (to - from).num_milliseconds() / length_ms;
        }
        let months = if from <= to { whole_months(from, to) } else { -whole_months(to, from) };
        months / self.months()
    }
}

/// The first day of so many years; the first of them begin with the year 1.
fn first_day(year: i32, years: i32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt((year - 1).div_euclid(years) * years + 1, 1, 1)
}

/// As many months as can be added to the one time without passing the other.
fn whole_months(from: NaiveDateTime, to: NaiveDateTime) -> i64 {
    let months = i64::from(to.year() - from.year()) * 12 + i64::from(to.month()) - i64::from(from.month());
    match Unit::Month.add(from, months) {
        Some(reached) if reached <= to => months,
        _ => months - 1,
    }
}

fn at_ms(ms: i64) -> Option<NaiveDateTime> {
    chrono::DateTime::from_timestamp_millis(ms).map(|at| at.naive_utc())
}
