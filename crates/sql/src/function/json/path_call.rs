//! `JSON_VALUE`, `JSON_QUERY` and `JSON_EXISTS`: what a path leads to, and what is given where it leads nowhere.
//!
//! The clauses are arguments here, constants that the parser writes: `ON EMPTY` and `ON ERROR` by their first word.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, ListBuilder, StringViewArray, StringViewBuilder,
};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type};
use datafusion::common::{Result, internal_datafusion_err, internal_err, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use tidemill_core::Error;

use super::find::find;
use super::path::JsonPath;
use super::read::read;
use super::value::Json;
use super::write::{number, write};
use crate::function::scalar::evaluated;
use crate::types::flink_type_name;

/// A function of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PathCall {
    Exists,
    /// To a scalar, in one of four types.
    Value(Returning),
    /// To an array or an object, as text.
    Query,
    /// The elements of an array, each as text.
    QueryTexts,
}

/// What `JSON_VALUE` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Returning {
    Text,
    Boolean,
    Int,
    Double,
}

impl PathCall {
    pub(super) const ALL: [Self; 7] = [
        Self::Exists,
        Self::Value(Returning::Text),
        Self::Value(Returning::Boolean),
        Self::Value(Returning::Int),
        Self::Value(Returning::Double),
        Self::Query,
        Self::QueryTexts,
    ];

    /// The name in the plan: that of the function, and what it returns where that is said.
    pub(super) fn plan_name(self) -> &'static str {
        match self {
            Self::Exists => "json_exists",
            Self::Value(Returning::Text) => "json_value",
            Self::Value(Returning::Boolean) => "json_value returning boolean",
            Self::Value(Returning::Int) => "json_value returning int",
            Self::Value(Returning::Double) => "json_value returning double",
            Self::Query => "json_query",
            Self::QueryTexts => "json_query returning array<string>",
        }
    }

    fn gives(self) -> DataType {
        match self {
            Self::Exists | Self::Value(Returning::Boolean) => DataType::Boolean,
            Self::Value(Returning::Int) => DataType::Int32,
            Self::Value(Returning::Double) => DataType::Float64,
            Self::Value(Returning::Text) | Self::Query => DataType::Utf8View,
            Self::QueryTexts => DataType::List(Arc::new(Field::new("item", DataType::Utf8View, true))),
        }
    }

    /// The types of the arguments: the text, the path, and the clauses.
    fn takes(self) -> Vec<DataType> {
        let text = || DataType::Utf8View;
        match self {
            Self::Exists => vec![text(); 3],
            Self::Value(_) => vec![text(), text(), text(), self.gives(), text(), self.gives()],
            Self::Query | Self::QueryTexts => vec![text(); 5],
        }
    }
}

/// What is at the path is not what is asked for.
const OTHER_TYPE: Missing = Missing::Error("the value at the path is not of the type to return");

const NOTHING: &str = "there is nothing at the path";

/// Why a text has no answer.
#[derive(Debug, Clone, Copy)]
enum Missing {
    /// What `ON EMPTY` answers.
    Empty,
    /// What `ON ERROR` answers.
    Error(&'static str),
    /// NULL, whatever the clauses say: a strict path leads to null.
    Null,
}

/// A clause: what it answers with, and the argument that holds its default.
#[derive(Debug, Clone, Copy)]
struct Clause {
    answer: Answer,
    default: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Null,
    Error,
    Default,
    True,
    False,
    EmptyArray,
    EmptyObject,
}

impl Clause {
    /// The clause that begins at this argument.
    fn at(arguments: &[ArrayRef], index: usize) -> Result<Self> {
        let answer = match constant(&arguments[index])? {
            "NULL" | "UNKNOWN" => Answer::Null,
            "ERROR" => Answer::Error,
            "DEFAULT" => Answer::Default,
            "TRUE" => Answer::True,
            "FALSE" => Answer::False,
            "EMPTY ARRAY" => Answer::EmptyArray,
            "EMPTY OBJECT" => Answer::EmptyObject,
            other => return internal_err!("the clause {other} of a JSON function"),
        };
        Ok(Self { answer, default: index + 1 })
    }
}

/// An argument that the parser writes.
fn constant(argument: &ArrayRef) -> Result<&str> {
    let texts = argument.as_string_view_opt().filter(|texts| !texts.is_empty() && texts.is_valid(0));
    texts.map(|texts| texts.value(0)).ok_or_else(|| internal_datafusion_err!("a clause of a JSON function"))
}

/// What is at the path: `None` where a lax one leads nowhere.
type Found<'v, 'a> = Option<Cow<'v, Json<'a>>>;

/// The arguments of one batch.
struct Call<'a> {
    /// For messages.
    name: &'static str,
    arguments: &'a [ArrayRef],
    path: JsonPath,
    on_empty: Clause,
    on_error: Clause,
}

impl<'a> Call<'a> {
    fn new(call: PathCall, arguments: &'a [ArrayRef]) -> Result<Self> {
        let (name, on_empty, on_error) = match call {
            PathCall::Exists => ("JSON_EXISTS", 2, 2),
            PathCall::Value(_) => ("JSON_VALUE", 2, 4),
            PathCall::Query | PathCall::QueryTexts => ("JSON_QUERY", 3, 4),
        };
        Ok(Self {
            name,
            arguments,
            path: JsonPath::parse(constant(&arguments[1])?).map_err(external)?,
            on_empty: Clause::at(arguments, on_empty)?,
            on_error: Clause::at(arguments, on_error)?,
        })
    }

    /// For each text, what `taken` makes of what is at the path, or what `instead` makes of the clause.
    ///
    /// # Errors
    /// Where the clause says ERROR.
    fn each<T>(
        &self,
        taken: impl Fn(Found<'_, '_>) -> Result<T, Missing>,
        instead: impl Fn(Clause, usize) -> Option<T>,
    ) -> Result<Vec<Option<T>>> {
        let texts = self.arguments[0].as_string_view();
        let value = |(row, text): (usize, Option<&str>)| {
            let Some(text) = text else { return Ok(None) };
            let (why, clause) = match self.at_path(text, &taken) {
                Ok(value) => return Ok(Some(value)),
                Err(Missing::Empty) => (NOTHING, self.on_empty),
                Err(Missing::Error(why)) => (why, self.on_error),
                Err(Missing::Null) => return Ok(None),
            };
            match clause.answer {
                Answer::Null => Ok(None),
                Answer::Error => Err(external(self.error(why, text))),
                _ => Ok(instead(clause, row)),
            }
        };
        texts.iter().enumerate().map(value).collect()
    }

    fn at_path<T>(&self, text: &str, taken: impl Fn(Found<'_, '_>) -> Result<T, Missing>) -> Result<T, Missing> {
        match read(text) {
            Ok(value) => taken(find(&value, &self.path).map_err(|_| Missing::Error(NOTHING))?),
            Err(_) if self.path.lax => taken(None),
            Err(_) => Err(Missing::Error("the text is not JSON")),
        }
    }

    fn error(&self, why: &str, text: &str) -> Error {
        const SHOWN: usize = 60;
        let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
        let more = if cut < text.len() { "..." } else { "" };
        Error::data(format!("{}: {why}: '{}{more}'", self.name, &text[..cut]))
            .hint("write NULL ON EMPTY and NULL ON ERROR to have NULL instead")
    }

    fn exists(&self) -> Result<ArrayRef> {
        let there = |found: Found<'_, '_>| Ok(found.is_some_and(|value| *value != Json::Null));
        let values = self.each(there, |clause, _| Some(clause.answer == Answer::True))?;
        Ok(Arc::new(BooleanArray::from(values)))
    }

    fn values(&self, returning: Returning) -> Result<ArrayRef> {
        let lax = self.path.lax;
        let default = |clause: Clause, row: usize| {
            let values = &self.arguments[clause.default];
            values.is_valid(row).then_some((values, row))
        };
        Ok(match returning {
            Returning::Text => {
                let text = |found: Found<'_, '_>| scalar(found, lax).map(|value| shown(&value));
                let default =
                    |clause, row| default(clause, row).map(|(v, row)| v.as_string_view().value(row).to_owned());
                Arc::new(StringViewArray::from_iter(self.each(text, default)?))
            }
            Returning::Boolean => {
                let boolean = |found: Found<'_, '_>| match *scalar(found, lax)? {
                    Json::Boolean(value) => Ok(value),
                    _ => Err(OTHER_TYPE),
                };
                let default = |clause, row| default(clause, row).map(|(v, row)| v.as_boolean().value(row));
                Arc::new(BooleanArray::from(self.each(boolean, default)?))
            }
            Returning::Int => {
                let int = |found: Found<'_, '_>| match &*scalar(found, lax)? {
                    Json::Number(text) => number(text).parse().map_err(|_| OTHER_TYPE),
                    _ => Err(OTHER_TYPE),
                };
                let default =
                    |clause, row| default(clause, row).map(|(v, row)| v.as_primitive::<Int32Type>().value(row));
                Arc::new(Int32Array::from(self.each(int, default)?))
            }
            Returning::Double => {
                let double = |found: Found<'_, '_>| match &*scalar(found, lax)? {
                    Json::Number(text) => text.parse().map_err(|_| OTHER_TYPE),
                    _ => Err(OTHER_TYPE),
                };
                let default =
                    |clause, row| default(clause, row).map(|(v, row)| v.as_primitive::<Float64Type>().value(row));
                Arc::new(Float64Array::from(self.each(double, default)?))
            }
        })
    }

    fn texts(&self) -> Result<ArrayRef> {
        let wrapper = constant(&self.arguments[2])?;
        let text = |found: Found<'_, '_>| nested(found, wrapper, self.path.lax).map(|value| write(&value));
        let empty = |clause: Clause, _| Some(if clause.answer == Answer::EmptyObject { "{}" } else { "[]" }.to_owned());
        Ok(Arc::new(StringViewArray::from_iter(self.each(text, empty)?)))
    }

    fn lists(&self) -> Result<ArrayRef> {
        let wrapper = constant(&self.arguments[2])?;
        let list = |found: Found<'_, '_>| match &*nested(found, wrapper, self.path.lax)? {
            Json::Array(elements) => Ok(elements.iter().map(element).collect()),
            _ => Err(OTHER_TYPE),
        };
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        self.each(list, |_, _| Some(vec![]))?.into_iter().for_each(|list| lists.append_option(list));
        Ok(Arc::new(lists.finish()))
    }
}

/// What was found, but for null: that is as good as nothing to a lax path.
fn present<'v, 'a>(found: Found<'v, 'a>, lax: bool) -> Result<Cow<'v, Json<'a>>, Missing> {
    match found {
        Some(value) if *value != Json::Null => Ok(value),
        Some(_) if !lax => Err(Missing::Null),
        _ => Err(Missing::Empty),
    }
}

/// The scalar that was found.
fn scalar<'v, 'a>(found: Found<'v, 'a>, lax: bool) -> Result<Cow<'v, Json<'a>>, Missing> {
    match present(found, lax)? {
        value if value.is_scalar() => Ok(value),
        _ if lax => Err(Missing::Empty),
        _ => Err(Missing::Error("there is an array or an object at the path, and JSON_VALUE gives a scalar")),
    }
}

/// The array or the object that was found or that the wrapper makes.
fn nested<'v, 'a>(found: Found<'v, 'a>, wrapper: &str, lax: bool) -> Result<Cow<'v, Json<'a>>, Missing> {
    let value = present(found, lax)?;
    let wraps = match wrapper {
        "WITH" => true,
        "CONDITIONAL" => !matches!(*value, Json::Array(_)),
        _ => false,
    };
    if wraps {
        return Ok(Cow::Owned(Json::Array(vec![value.into_owned()])));
    }
    match value.is_scalar() {
        false => Ok(value),
        true if lax => Err(Missing::Empty),
        true => Err(Missing::Error("there is a scalar at the path, and JSON_QUERY gives an array or an object")),
    }
}

/// A scalar as JSON_VALUE gives it.
fn shown(value: &Json<'_>) -> String {
    match value {
        Json::Text(text) => text.clone().into_owned(),
        other => write(other),
    }
}

fn element(value: &Json<'_>) -> Option<String> {
    (*value != Json::Null).then(|| shown(value))
}

fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Arguments are checked by [`PathCall::coerce_types`].
static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Immutable));

impl ScalarUDFImpl for PathCall {
    fn name(&self) -> &str {
        self.plan_name()
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.plan_name().split(' ').next().unwrap_or_default().to_uppercase();
        let takes = self.takes();
        if given.len() != takes.len() {
            return internal_err!("{} arguments of {name}", given.len());
        }
        for (index, (given, takes)) in given.iter().zip(&takes).enumerate() {
            let fits = given.is_null()
                || given == takes
                || given.is_string() && takes.is_string()
                || given.is_integer() && *takes == DataType::Int32
                || given.is_numeric() && *takes == DataType::Float64;
            if !fits {
                let what = if index == 0 { "takes a text of JSON" } else { "has a default of its own type" };
                return plan_err!("{name} {what}, not a {}", flink_type_name(given));
            }
        }
        Ok(takes)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.gives())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        evaluated(&args, |arguments| {
            if arguments[0].is_empty() {
                return Ok(arrow::array::new_empty_array(&self.gives()));
            }
            let call = Call::new(*self, arguments)?;
            match self {
                Self::Exists => call.exists(),
                Self::Value(returning) => call.values(*returning),
                Self::Query => call.texts(),
                Self::QueryTexts => call.lists(),
            }
        })
    }
}
