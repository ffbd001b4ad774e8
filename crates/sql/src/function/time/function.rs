//! The functions as DataFusion calls them: types first, then row by row.

use std::iter;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use chrono::{NaiveDateTime, Timelike};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, internal_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use tidemill_core::Error;
use tidemill_runtime::time_zone::TimeZone;

use super::pattern::Pattern;
use super::unit::Unit;
use super::value::{column, local, local_times};
use super::{ADD, CEIL, DIFF, EXTRACT, FLOOR, text};
use crate::types::{LTZ_ZONE, flink_type_name};

/// What `UNIX_TIMESTAMP` answers to a text that shows no time.
const NO_TIME: i64 = i64::MIN;

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Extract(Unit),
    Floor(Unit),
    Ceil(Unit),
    Add(Unit),
    Difference(Unit),
    Format,
    ToTimestamp,
    ToInstant,
    ToDate,
    FromUnixTime,
    UnixTimestamp,
    ConvertZone,
}

/// A kind of argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// A date, a time of day, or both.
    Time,
    Text,
    Integer,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TimeFunction {
    name: String,
    kind: Kind,
    zone: TimeZone,
    signature: Signature,
}

impl TimeFunction {
    pub(super) fn new(name: String, kind: Kind, zone: TimeZone) -> Self {
        Self { name, kind, zone, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// The call as SQL writes it, for messages.
    fn call(&self) -> String {
        let upper = |prefix: &str| self.name.strip_prefix(prefix).map(str::to_uppercase);
        let form = |prefix, form: fn(String) -> String| upper(prefix).map(form);
        form(EXTRACT, |unit| format!("EXTRACT({unit} FROM ...)"))
            .or_else(|| form(FLOOR, |unit| format!("FLOOR(... TO {unit})")))
            .or_else(|| form(CEIL, |unit| format!("CEIL(... TO {unit})")))
            .or_else(|| form(ADD, |unit| format!("TIMESTAMPADD({unit}, ...)")))
            .or_else(|| form(DIFF, |unit| format!("TIMESTAMPDIFF({unit}, ...)")))
            .unwrap_or_else(|| self.name.to_uppercase())
    }

    /// What the arguments are, by how many there are.
    fn arguments(&self, types: &[DataType]) -> Option<&'static [Argument]> {
        use Argument::{Integer, Text, Time};
        let is_text = types.first().is_some_and(|first| first.is_string());
        Some(match (self.kind, types.len()) {
            (Kind::Extract(_) | Kind::Floor(_) | Kind::Ceil(_), 1) => &[Time],
            (Kind::Add(_), 2) => &[Integer, Time],
            (Kind::Difference(_), 2) => &[Time, Time],
            (Kind::Format, 2) if is_text => &[Text, Text],
            (Kind::Format, 2) => &[Time, Text],
            (Kind::ToTimestamp | Kind::ToDate | Kind::UnixTimestamp, 1) => &[Text],
            (Kind::ToTimestamp | Kind::ToDate | Kind::UnixTimestamp, 2) => &[Text, Text],
            (Kind::ToInstant, 1) if is_text => &[Text],
            (Kind::ToInstant, 2) if is_text => &[Text, Text],
            (Kind::ToInstant, 3) if is_text => &[Text, Text, Text],
            (Kind::ToInstant | Kind::FromUnixTime, 1) => &[Integer],
            (Kind::ToInstant, 2) => &[Integer, Integer],
            (Kind::FromUnixTime, 2) => &[Integer, Text],
            (Kind::ConvertZone, 3) => &[Text, Text, Text],
            _ => return None,
        })
    }

    /// What is wrong with the pattern of a call, if it is a literal.
    pub(super) fn wrong_pattern(&self, arguments: &[Expr]) -> Option<Error> {
        let takes_pattern = !matches!(self.kind, Kind::Extract(_) | Kind::Floor(_) | Kind::Ceil(_) | Kind::ConvertZone)
            && !matches!(self.kind, Kind::Add(_) | Kind::Difference(_));
        let pattern = arguments.get(1).filter(|_| takes_pattern)?;
        let Expr::Literal(literal, _) = pattern else { return None };
        Pattern::new(literal.try_as_str()??).err()
    }

    /// Whether the unit can be asked of the type.
    fn check(&self, unit: Unit, times: &DataType) -> Result<()> {
        let fits = match times {
            DataType::Date32 => !unit.is_clock() || !matches!(self.kind, Kind::Floor(_) | Kind::Ceil(_)),
            DataType::Time32(_) => unit.is_clock(),
            _ => true,
        };
        if fits { Ok(()) } else { plan_err!("{} does not take a {}", self.call(), flink_type_name(times)) }
    }

    fn evaluate(&self, arguments: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
        let times = |index: usize| local_times(&arguments[index], self.zone);
        // Units are added to instants, and counted between them, as if they were local times in UTC.
        let utc = |index: usize| local_times(&arguments[index], TimeZone::UTC);
        match self.kind {
            Kind::Extract(unit) => {
                let parts = times(0)?.into_iter().map(|time| Some(unit.part_of(time?)));
                Ok(Arc::new(parts.collect::<Int64Array>()))
            }
            Kind::Floor(unit) => self.cut(times(0)?, result, |time| unit.floor(time)),
            Kind::Ceil(unit) => self.cut(times(0)?, result, |time| unit.ceil(time)),
            Kind::Add(unit) => {
                let counts = arguments[0].as_primitive::<Int64Type>().iter();
                let later = iter::zip(counts, utc(1)?).map(|(count, time)| unit.add(time?, count?));
                column(later.collect(), result, TimeZone::UTC)
            }
            Kind::Difference(unit) => {
                let pairs = iter::zip(utc(0)?, utc(1)?);
                let between = pairs.map(|(from, to)| i32::try_from(unit.between(from?, to?)).ok());
                Ok(Arc::new(between.collect::<Int32Array>()))
            }
            Kind::Format => self.format(arguments),
            Kind::ToTimestamp => read(arguments, text::timestamp, result),
            Kind::ToDate => read(arguments, text::date, result),
            Kind::ToInstant if arguments[0].data_type().is_integer() => instants(arguments, result),
            Kind::ToInstant => read_instants(arguments, result),
            Kind::FromUnixTime => self.unix_time(arguments),
            Kind::UnixTimestamp => self.unix_timestamp(arguments),
            Kind::ConvertZone => Ok(convert_zone(arguments)),
        }
    }

    fn cut(
        &self,
        times: Vec<Option<NaiveDateTime>>,
        result: &DataType,
        cut: impl Fn(NaiveDateTime) -> Option<NaiveDateTime>,
    ) -> Result<ArrayRef> {
        column(times.into_iter().map(|time| cut(time?)).collect(), result, self.zone)
    }

    fn format(&self, arguments: &[ArrayRef]) -> Result<ArrayRef> {
        let times = match arguments[0].as_string_view_opt() {
            Some(texts) => texts.iter().map(|text| text::date_and_clock(text?)).collect(),
            None => local_times(&arguments[0], self.zone)?,
        };
        with_patterns(&arguments[1], |row, pattern| times[row].map(|time| pattern.format(time)))
    }

    fn unix_time(&self, arguments: &[ArrayRef]) -> Result<ArrayRef> {
        let seconds = arguments[0].as_primitive::<Int64Type>();
        let at = |row: usize| {
            let ms = seconds.is_valid(row).then(|| seconds.value(row).checked_mul(1_000))??;
            local(self.zone.local_ms(ms), 0)
        };
        match arguments.get(1) {
            Some(patterns) => with_patterns(patterns, |row, pattern| at(row).map(|time| pattern.format(time))),
            None => {
                let texts = (0..seconds.len()).map(|row| at(row).map(plain));
                Ok(Arc::new(texts.collect::<StringViewArray>()))
            }
        }
    }

    fn unix_timestamp(&self, arguments: &[ArrayRef]) -> Result<ArrayRef> {
        let texts = texts(&arguments[0])?;
        let second = |time: NaiveDateTime| self.zone.instant_ms(time.and_utc().timestamp_millis()).div_euclid(1_000);
        let told = |time: Option<NaiveDateTime>| Some(time.map_or(NO_TIME, second));
        let seconds: Vec<Option<i64>> = match arguments.get(1) {
            Some(patterns) => each_pattern(patterns, |row, pattern| {
                texts.is_valid(row).then(|| texts.value(row)).and_then(|text| told(pattern.parse_front(text)))
            })?,
            None => texts.iter().map(|text| told(text::date_and_clock(text?))).collect(),
        };
        Ok(Arc::new(Int64Array::from(seconds)))
    }
}

/// Texts as local times: by the pattern, if there is one, and else in the plain form.
fn read_local(
    arguments: &[ArrayRef],
    plain: impl Fn(&str) -> Option<NaiveDateTime>,
) -> Result<Vec<Option<NaiveDateTime>>> {
    let texts = texts(&arguments[0])?;
    match arguments.get(1) {
        Some(patterns) => each_pattern(patterns, |row, pattern| {
            texts.is_valid(row).then(|| texts.value(row)).and_then(|text| pattern.parse(text))
        }),
        None => Ok(texts.iter().map(|text| plain(text?)).collect()),
    }
}

fn read(arguments: &[ArrayRef], plain: impl Fn(&str) -> Option<NaiveDateTime>, result: &DataType) -> Result<ArrayRef> {
    column(read_local(arguments, plain)?, result, TimeZone::UTC)
}

/// `TO_TIMESTAMP_LTZ` of a text: clocks in the zone that is named, or in UTC, show it.
fn read_instants(arguments: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let Some(zones) = arguments.get(2) else { return read(arguments, text::timestamp, result) };
    let zones = texts(zones)?;
    let instants = iter::zip(read_local(&arguments[..2], text::timestamp)?, zones.iter())
        .map(|(time, name)| local(text::zone(name?).instant_ms(time?.and_utc().timestamp_millis()), 0));
    column(instants.collect(), result, TimeZone::UTC)
}

fn texts(column: &ArrayRef) -> Result<&StringViewArray> {
    column.as_string_view_opt().ok_or_else(|| exec_datafusion_err!("a text of the type {}", column.data_type()))
}

/// Calls `each` with every row whose pattern is not NULL; a pattern that comes again is read once.
fn each_pattern<T>(patterns: &ArrayRef, mut each: impl FnMut(usize, &Pattern) -> Option<T>) -> Result<Vec<Option<T>>> {
    let mut last: Option<(&str, Pattern)> = None;
    let mut all = vec![];
    for (row, text) in texts(patterns)?.iter().enumerate() {
        let Some(text) = text else {
            all.push(None);
            continue;
        };
        if last.as_ref().is_none_or(|(known, _)| *known != text) {
            let pattern = Pattern::new(text).map_err(|e| DataFusionError::External(Box::new(e)))?;
            last = Some((text, pattern));
        }
        all.push(last.as_ref().and_then(|(_, pattern)| each(row, pattern)));
    }
    Ok(all)
}

fn with_patterns(patterns: &ArrayRef, each: impl FnMut(usize, &Pattern) -> Option<String>) -> Result<ArrayRef> {
    Ok(Arc::new(each_pattern(patterns, each)?.into_iter().collect::<StringViewArray>()))
}

/// `TO_TIMESTAMP_LTZ` of seconds (precision 0) or milliseconds (precision 3).
fn instants(arguments: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let numbers = arguments[0].as_primitive::<Int64Type>();
    let precisions = arguments.get(1).map(|column| column.as_primitive::<Int64Type>());
    let mut times = Vec::with_capacity(numbers.len());
    for row in 0..numbers.len() {
        let precision = precisions.map_or(Some(3), |column| column.is_valid(row).then(|| column.value(row)));
        let number = numbers.is_valid(row).then(|| numbers.value(row));
        times.push(match (number, precision) {
            (Some(number), Some(0)) => number.checked_mul(1_000).and_then(|ms| local(ms, 0)),
            (Some(number), Some(3)) => local(number, 0),
            (_, Some(other)) if other != 0 && other != 3 => {
                return plan_err!("the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds), not {other}");
            }
            _ => None,
        });
    }
    column(times, result, TimeZone::UTC)
}

/// `CONVERT_TZ`: what clocks in the second zone show when those in the first show the text.
fn convert_zone(arguments: &[ArrayRef]) -> ArrayRef {
    let [texts, from, to] = [0, 1, 2].map(|i| arguments[i].as_string_view());
    let converted = iter::zip(texts, iter::zip(from, to)).map(|(time, (from, to))| {
        let local_ms = text::date_and_clock(time?)?.and_utc().timestamp_millis();
        let ms = text::zone(to?).local_ms(text::zone(from?).instant_ms(local_ms));
        local(ms, 0).map(plain)
    });
    Arc::new(converted.collect::<StringViewArray>())
}

/// `2024-02-29 13:04:05`
fn plain(time: NaiveDateTime) -> String {
    let (date, clock) = (time.date(), time.time());
    format!("{date} {:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())
}

impl ScalarUDFImpl for TimeFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let Some(arguments) = self.arguments(types) else {
            return plan_err!("{} does not take {} arguments", self.call(), types.len());
        };
        let coerced = iter::zip(arguments, types).map(|(argument, given)| {
            let is_time = matches!(given, DataType::Date32 | DataType::Time32(_) | DataType::Timestamp(..));
            Ok(match argument {
                Argument::Text if given.is_string() || given.is_null() => DataType::Utf8View,
                Argument::Integer if given.is_integer() || given.is_null() => DataType::Int64,
                // What is finer than the unit is cut off.
                Argument::Integer if self.kind == Kind::ToInstant && given.is_decimal() => DataType::Int64,
                Argument::Time if is_time => given.clone(),
                Argument::Time if given.is_null() => DataType::Timestamp(TimeUnit::Millisecond, None),
                Argument::Text => return plan_err!("{} takes a STRING, not a {}", self.call(), flink_type_name(given)),
                Argument::Integer => {
                    return plan_err!("{} takes an integer, not a {}", self.call(), flink_type_name(given));
                }
                Argument::Time => {
                    let given = match given {
                        DataType::Interval(_) => "n INTERVAL".to_owned(),
                        other => format!(" {}", flink_type_name(other)),
                    };
                    return plan_err!("{} takes a DATE, a TIME or a TIMESTAMP, not a{given}", self.call());
                }
            })
        });
        let coerced = coerced.collect::<Result<Vec<_>>>()?;
        match self.kind {
            Kind::Extract(unit) | Kind::Floor(unit) | Kind::Ceil(unit) => self.check(unit, &coerced[0])?,
            Kind::Add(unit) => self.check(unit, &coerced[1])?,
            Kind::Difference(unit) => {
                coerced.iter().try_for_each(|times| self.check(unit, times))?;
                let instants = coerced.iter().filter(|times| matches!(times, DataType::Timestamp(_, Some(_)))).count();
                if instants == 1 {
                    return plan_err!("{} of a TIMESTAMP_LTZ and another type; CAST one of them", self.call());
                }
            }
            _ => {}
        }
        Ok(coerced)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let ms = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into));
        let argument = |index: usize| match types.get(index) {
            Some(data_type) => Ok(data_type.clone()),
            None => internal_err!("{} without its arguments", self.name),
        };
        Ok(match self.kind {
            Kind::Extract(_) | Kind::UnixTimestamp => DataType::Int64,
            Kind::Floor(_) | Kind::Ceil(_) => argument(0)?,
            Kind::Add(unit) => match argument(1)? {
                DataType::Date32 if unit.is_clock() => DataType::Timestamp(TimeUnit::Microsecond, None),
                same => same,
            },
            Kind::Difference(_) => DataType::Int32,
            Kind::Format | Kind::FromUnixTime | Kind::ConvertZone => DataType::Utf8View,
            Kind::ToTimestamp => ms(None),
            Kind::ToInstant => ms(Some(LTZ_ZONE)),
            Kind::ToDate => DataType::Date32,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = self.evaluate(&arrays, args.return_field.data_type())?;
        if scalar {
            return Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}
