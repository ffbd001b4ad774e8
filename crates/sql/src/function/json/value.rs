//! A JSON value that keeps what is lost elsewhere: the digits of its numbers, and the order of its members.

use std::borrow::Cow;
use std::collections::HashMap;

/// A value, over the text that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json<'a> {
    Null,
    Boolean(bool),
    /// As it is written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Object<'a>),
}

impl Json<'_> {
    /// Neither an array nor an object.
    pub(super) fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }
}

/// The members as they are written, a name perhaps twice: then the last value counts, at the place of the first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Object<'a>(pub(super) Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Each name once, with the value that counts.
    pub(super) fn members(&self) -> Vec<(&str, &Json<'a>)> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(self.0.len());
        let mut members: Vec<(&str, &Json<'a>)> = Vec::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            let place = *places.entry(name).or_insert(members.len());
            match members.get_mut(place) {
                Some(member) => member.1 = value,
                None => members.push((name, value)),
            }
        }
        members
    }
}
