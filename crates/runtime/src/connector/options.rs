//! `WITH` and `SET` options: known keys only, and a nearest name for the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use tidemill_core::{Error, Excerpt, Result};

use super::{duration, memory_size};

/// An option that can be set.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// The key, as Flink has it where Flink has one; a `#` in it stands for a column's name.
    pub key: &'static str,
    /// What it does and what it takes, in one sentence.
    pub doc: &'static str,
}

/// Options as the user wrote them, with the place of each for error messages.
#[derive(Debug, Clone, Default)]
pub struct Options {
    values: BTreeMap<String, (String, Option<Excerpt>)>,
}

impl Options {
    /// Sets an option; the last setting of a key holds.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>, place: Option<Excerpt>) {
        self.values.insert(key.into(), (value.into(), place));
    }

    /// Takes an option out.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.values.remove(key).map(|(value, _)| value)
    }

    /// The text of an option.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.as_str())
    }

    /// The keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(key, (value, _))| (key.as_str(), value.as_str()))
    }

    /// The text of an option that must be there.
    pub fn required(&self, key: &str) -> Result<&str> {
        self.get(key).ok_or_else(|| {
            Error::invalid(format!("the option '{key}' is missing"))
                .hint(format!("add '{key}' = '...' to the WITH clause"))
        })
    }

    /// `true` or `false`; `default` where the option is not set.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        self.one_of(key, &[("true", true), ("false", false)], default)
    }

    /// One of a list of words (in any case); `default` where the option is not set.
    pub fn one_of<T: Copy>(&self, key: &str, words: &[(&str, T)], default: T) -> Result<T> {
        let Some(value) = self.get(key) else { return Ok(default) };
        if let Some((_, chosen)) = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(value)) {
            return Ok(*chosen);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Err(self
            .refuse(key, format!("'{value}' is not a value of '{key}'"))
            .hint(format!("use one of: {}", known.join(", "))))
    }

    /// A duration of more than nothing; `default` where the option is not set.
    pub fn duration(&self, key: &str, default: Duration) -> Result<Duration> {
        self.quantity(key, default, |text| duration(text).filter(|d| !d.is_zero()), "a duration, such as '30 min'")
    }

    /// A size in bytes, more than nothing; `default` where the option is not set.
    pub fn memory_size(&self, key: &str, default: u64) -> Result<u64> {
        self.quantity(key, default, |text| memory_size(text).filter(|b| *b > 0), "a size, such as '128MB'")
    }

    fn quantity<T>(&self, key: &str, default: T, read: impl Fn(&str) -> Option<T>, what: &str) -> Result<T> {
        Ok(self.parsed(key, read, what)?.unwrap_or(default))
    }

    /// The value that `read` finds in an option's text, if the option is set; `what` says what to write instead of a
    /// text in which it finds none.
    pub fn parsed<T>(&self, key: &str, read: impl Fn(&str) -> Option<T>, what: &str) -> Result<Option<T>> {
        let Some(text) = self.get(key) else { return Ok(None) };
        let refused = || self.refuse(key, format!("'{text}' is not a value of '{key}'")).hint(format!("write {what}"));
        read(text).map(Some).ok_or_else(refused)
    }

    /// An error about the option `key`, with its place.
    #[must_use]
    pub fn refuse(&self, key: &str, message: impl Into<String>) -> Error {
        let error = Error::invalid(message);
        match self.values.get(key) {
            Some((_, Some(place))) => error.at(place.clone()),
            _ => error,
        }
    }

    /// Refuses the first key that `known` does not list, with the nearest one that it does. Whether the name that
    /// stands where a listed key has `#` is that of a column is for the connector to say.
    /// The hint leaves out the options of other `formats` than the one that is set.
    pub fn check_known<'a>(
        &self,
        owner: &str,
        known: impl Iterator<Item = &'a str> + Clone,
        formats: &[&str],
    ) -> Result<()> {
        for key in self.values.keys() {
            let possible: Vec<Cow<'a, str>> = known.clone().map(|known| with_name_of(key, known)).collect();
            if possible.iter().any(|possible| possible == key) {
                continue;
            }
            let error = self.refuse(key, format!("{owner} has no option '{key}'"));
            return Err(match nearest(key, possible.iter().map(AsRef::as_ref)) {
                Some(near) => error.hint(format!("did you mean '{near}'?")),
                None => {
                    let known: Vec<&str> = known.filter(|known| self.can_apply(known, formats)).collect();
                    error.hint(format!("known options: {}", known.join(", ")))
                }
            });
        }
        Ok(())
    }
}

impl Options {
    /// Whether the option is not one of another format than the table's.
    fn can_apply(&self, key: &str, formats: &[&str]) -> bool {
        let of = key.split_once('.').map(|(format, _)| format).filter(|format| formats.contains(format));
        match (of, self.get("format")) {
            (Some(of), Some(chosen)) => of == chosen,
            _ => true,
        }
    }
}

/// A known key, with the column that `key` names in the place of `#`: what stands there up to the last point.
fn with_name_of<'a>(key: &str, known: &'a str) -> Cow<'a, str> {
    let named = known.split_once('#').and_then(|(before, after)| {
        let (name, _) = key.strip_prefix(before)?.rsplit_once('.')?;
        Some(format!("{before}{name}{after}").into())
    });
    named.unwrap_or(Cow::Borrowed(known))
}

/// The candidate nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (edit_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(nearest("fromat", ["path", "format"].into_iter()), Some("format"));
        assert_eq!(nearest("PATH", ["path", "format"].into_iter()), Some("path"));
        assert_eq!(nearest("bootstrap", ["path", "format"].into_iter()), None);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let mut options = Options::default();
        options.set("pth", "x", None);
        let error = options.check_known("the connector 'filesystem'", ["path", "format"].into_iter(), &[]).unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean 'path'?"));
    }

    #[test]
    fn options_of_other_formats_are_not_proposed() {
        let hint = |format: Option<&str>| {
            let mut options = Options::default();
            options.set("zzzzzzzz", "x", None);
            format.into_iter().for_each(|format| options.set("format", format, None));
            let known = ["format", "csv.delimiter", "json.errors", "sink.size"].into_iter();
            let error = options.check_known("it", known, &["csv", "json"]).unwrap_err();
            error.hint_text().map(str::to_owned)
        };
        assert_eq!(hint(Some("json")).as_deref(), Some("known options: format, json.errors, sink.size"));
        assert_eq!(hint(None).as_deref(), Some("known options: format, csv.delimiter, json.errors, sink.size"));
    }

    #[test]
    fn a_key_may_name_a_column() {
        let check = |key: &str| {
            let mut options = Options::default();
            options.set(key, "x", None);
            let known = ["seed", "fields.#.kind", "fields.#.min"].into_iter();
            options.check_known("it", known, &[]).map_err(|e| e.hint_text().map(str::to_owned))
        };
        for key in ["fields.a.kind", "fields.a.b.min", "fields..kind"] {
            assert_eq!(check(key), Ok(()), "{key}");
        }
        assert_eq!(check("fields.a.knd"), Err(Some("did you mean 'fields.a.kind'?".to_owned())));
        assert_eq!(check("field.a.kind"), Err(Some("did you mean 'fields.#.kind'?".to_owned())));
        assert!(check("fields.kind").is_err() && check("fields").is_err());
    }
}
