//! What a function of ours is: what it takes, what it gives, and a body that sees one row at a time.
//!
//! Most functions here are called on a text and allocate one: a loop over rows costs no more than that. Those that are
//! arithmetic take whole arrays ([`Evaluate::Arrays`]).

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewBuilder, BooleanBuilder, Float64Builder, Int32Builder, ListBuilder,
    StringViewBuilder,
};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use tidemill_core::Error;

use crate::function::json::has_json_form;
use crate::types::flink_type_name;

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Text,
    Bytes,
    /// An integer that is no BIGINT to Flink; what does not fit fails.
    Int,
    BigInt,
    Double,
    /// A text, or the code of a character.
    TextOrInt,
    TextOrBigInt,
    TextOrBytes,
    /// A number as it is.
    Number,
    Boolean,
    Array,
    /// An array of what has an order.
    Ordered,
    /// An array of texts.
    Texts,
    Map,
    /// An array or a map.
    Collection,
    /// A value that has a text of its own: no bytes, and no collection.
    Shown,
    /// A value that has a form in JSON.
    Json,
    /// Anything, as it is.
    Any,
}

/// What a function gives.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Returns {
    Type(fn() -> DataType),
    /// From the types of the arguments.
    Of(fn(&[DataType]) -> DataType),
}

/// A body. `None` is NULL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evaluate {
    Text(fn(Row<'_>) -> Option<String>),
    /// A text, or a value that has no answer.
    TryText(fn(Row<'_>) -> Result<Option<String>, Error>),
    Texts(fn(Row<'_>) -> Option<Vec<String>>),
    Bytes(fn(Row<'_>) -> Option<Vec<u8>>),
    TryBytes(fn(Row<'_>) -> Result<Option<Vec<u8>>, Error>),
    Int(fn(Row<'_>) -> Option<i32>),
    TryInt(fn(Row<'_>) -> Result<Option<i32>, Error>),
    Boolean(fn(Row<'_>) -> Option<bool>),
    Double(fn(Row<'_>) -> Option<f64>),
    /// The arguments as arrays of one length, and the type to give.
    Arrays(fn(&[ArrayRef], &DataType) -> Result<ArrayRef>),
}

/// A function of ours.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// Its names in lower case; the first is its own.
    pub(crate) names: &'static [&'static str],
    /// How it is called.
    pub(crate) usage: &'static str,
    pub(crate) doc: &'static str,
    /// Where its answer is not Flink's; empty where it is.
    pub(crate) difference: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// How many arguments there must be.
    pub(crate) required: usize,
    /// Whether the last parameter may come again and again.
    pub(crate) repeats: bool,
    pub(crate) returns: Returns,
    pub(crate) evaluate: Evaluate,
}

/// An entry to which the table adds only what is special.
impl Function {
    pub(crate) const fn new(
        names: &'static [&'static str],
        usage: &'static str,
        doc: &'static str,
        parameters: &'static [Parameter],
        evaluate: Evaluate,
    ) -> Self {
        let returns = match evaluate {
            Evaluate::Text(_) | Evaluate::TryText(_) => Returns::Type(|| DataType::Utf8View),
            Evaluate::Texts(_) => Returns::Type(texts_type),
            Evaluate::Bytes(_) | Evaluate::TryBytes(_) => Returns::Type(|| DataType::BinaryView),
            Evaluate::Int(_) | Evaluate::TryInt(_) => Returns::Type(|| DataType::Int32),
            Evaluate::Boolean(_) => Returns::Type(|| DataType::Boolean),
            Evaluate::Double(_) => Returns::Type(|| DataType::Float64),
            Evaluate::Arrays(_) => Returns::Of(|types| types[0].clone()),
        };
        let required = parameters.len();
        Self { names, usage, doc, difference: "", parameters, required, repeats: false, returns, evaluate }
    }

    /// The last arguments may be left out.
    pub(crate) const fn required(mut self, required: usize) -> Self {
        self.required = required;
        self
    }

    pub(crate) const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    pub(crate) const fn returns(mut self, returns: Returns) -> Self {
        self.returns = returns;
        self
    }

    pub(crate) const fn differs(mut self, difference: &'static str) -> Self {
        self.difference = difference;
        self
    }

    fn parameter(&self, index: usize) -> Option<Parameter> {
        let last = if self.repeats { self.parameters.last().copied() } else { None };
        self.parameters.get(index).copied().or(last)
    }
}

fn texts_type() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Utf8View, true)))
}

impl Parameter {
    /// The type that an argument is cast to; `None` where the function does not take it.
    fn coerced(self, given: &DataType) -> Option<DataType> {
        let text = matches!(given, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8);
        let bytes = matches!(given, DataType::Binary | DataType::BinaryView | DataType::LargeBinary);
        let null = given.is_null();
        match self {
            Self::Text => (text || null).then_some(DataType::Utf8View),
            Self::Bytes => (bytes || null).then_some(DataType::BinaryView),
            Self::Int => (given.is_integer() || null).then_some(DataType::Int32),
            Self::BigInt => (given.is_integer() || null).then_some(DataType::Int64),
            Self::Double => (given.is_numeric() || null).then_some(DataType::Float64),
            Self::TextOrInt => Self::Text.coerced(given).or_else(|| Self::Int.coerced(given)),
            Self::TextOrBigInt => Self::Text.coerced(given).or_else(|| Self::BigInt.coerced(given)),
            Self::TextOrBytes => Self::Text.coerced(given).or_else(|| Self::Bytes.coerced(given)),
            Self::Number if null => Some(DataType::Int32),
            Self::Number => given.is_numeric().then(|| given.clone()),
            Self::Boolean => (matches!(given, DataType::Boolean) || null).then_some(DataType::Boolean),
            Self::Array => matches!(given, DataType::List(_)).then(|| given.clone()),
            Self::Ordered => match given {
                DataType::List(element) if !element.data_type().is_nested() => Some(given.clone()),
                _ => None,
            },
            Self::Texts => match given {
                DataType::List(element) => Self::Text.coerced(element.data_type()).map(|_| texts_type()),
                _ => None,
            },
            Self::Map => matches!(given, DataType::Map(..)).then(|| given.clone()),
            Self::Collection => Self::Array.coerced(given).or_else(|| Self::Map.coerced(given)),
            Self::Shown => (!bytes && !given.is_nested()).then(|| given.clone()),
            Self::Json => has_json_form(given).then(|| given.clone()),
            Self::Any => Some(given.clone()),
        }
    }
}

/// One row of the arguments.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    arguments: &'a [ArrayRef],
    row: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn count(self) -> usize {
        self.arguments.len()
    }

    fn at(self, index: usize) -> Option<(&'a ArrayRef, usize)> {
        let argument = &self.arguments.get(index)?;
        // An argument that is the same for all rows is there once.
        let row = if argument.len() == 1 { 0 } else { self.row };
        argument.is_valid(row).then_some((argument, row))
    }

    pub(crate) fn text(self, index: usize) -> Option<&'a str> {
        let (array, row) = self.at(index)?;
        array.as_string_view_opt().map(|texts| texts.value(row))
    }

    pub(crate) fn bytes(self, index: usize) -> Option<&'a [u8]> {
        self.at(index).map(|(array, row)| array.as_binary_view().value(row))
    }

    /// Bytes, or those of a text.
    pub(crate) fn bytes_of(self, index: usize) -> Option<&'a [u8]> {
        let (array, row) = self.at(index)?;
        let bytes = || array.as_binary_view_opt().map(|bytes| bytes.value(row));
        self.text(index).map(str::as_bytes).or_else(bytes)
    }

    pub(crate) fn int(self, index: usize) -> Option<i32> {
        let (array, row) = self.at(index)?;
        array.as_primitive_opt::<Int32Type>().map(|numbers| numbers.value(row))
    }

    pub(crate) fn bigint(self, index: usize) -> Option<i64> {
        let (array, row) = self.at(index)?;
        array.as_primitive_opt::<Int64Type>().map(|numbers| numbers.value(row))
    }

    pub(crate) fn double(self, index: usize) -> Option<f64> {
        self.at(index).map(|(array, row)| array.as_primitive::<Float64Type>().value(row))
    }

    /// The argument as an integer, or what is taken where it is left out; `None` where it is NULL.
    pub(crate) fn int_or(self, index: usize, default: i32) -> Option<i32> {
        if index < self.count() { self.int(index) } else { Some(default) }
    }
}

impl Evaluate {
    fn run(self, arguments: &[ArrayRef], rows: usize, output: &DataType) -> Result<ArrayRef> {
        let rows = (0..rows).map(|row| Row { arguments, row });
        Ok(match self {
            Self::Text(f) => {
                let mut texts = StringViewBuilder::new();
                rows.for_each(|row| texts.append_option(f(row)));
                Arc::new(texts.finish())
            }
            Self::TryText(f) => {
                let mut texts = StringViewBuilder::new();
                for row in rows {
                    texts.append_option(f(row).map_err(external)?);
                }
                Arc::new(texts.finish())
            }
            Self::Texts(f) => {
                let mut lists = ListBuilder::new(StringViewBuilder::new());
                rows.for_each(|row| lists.append_option(f(row).map(|texts| texts.into_iter().map(Some))));
                Arc::new(lists.finish())
            }
            Self::Bytes(f) => {
                let mut bytes = BinaryViewBuilder::new();
                rows.for_each(|row| bytes.append_option(f(row)));
                Arc::new(bytes.finish())
            }
            Self::TryBytes(f) => {
                let mut bytes = BinaryViewBuilder::new();
                for row in rows {
                    bytes.append_option(f(row).map_err(external)?);
                }
                Arc::new(bytes.finish())
            }
            Self::Int(f) => {
                let mut ints = Int32Builder::new();
                rows.for_each(|row| ints.append_option(f(row)));
                Arc::new(ints.finish())
            }
            Self::TryInt(f) => {
                let mut ints = Int32Builder::new();
                for row in rows {
                    ints.append_option(f(row).map_err(external)?);
                }
                Arc::new(ints.finish())
            }
            Self::Boolean(f) => {
                let mut booleans = BooleanBuilder::new();
                rows.for_each(|row| booleans.append_option(f(row)));
                Arc::new(booleans.finish())
            }
            Self::Double(f) => {
                let mut doubles = Float64Builder::new();
                rows.for_each(|row| doubles.append_option(f(row)));
                Arc::new(doubles.finish())
            }
            Self::Arrays(f) => f(arguments, output)?,
        })
    }
}

fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A function's value over arrays of one length; of constants it is computed once.
pub(crate) fn evaluated(
    args: &ScalarFunctionArgs,
    body: impl FnOnce(&[ArrayRef]) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let rows = if constant { 1 } else { args.number_rows };
    let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
    let result = body(&arrays)?;
    Ok(if constant {
        ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
    } else {
        ColumnarValue::Array(result)
    })
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}

/// Arguments are checked by [`Function::coerce_types`].
static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Immutable));

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.names[0]
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let most = if self.repeats { usize::MAX } else { self.parameters.len() };
        if !(self.required..=most).contains(&given.len()) {
            return plan_err!(
                "{} arguments are too {}: {}",
                given.len(),
                if given.len() > most { "many" } else { "few" },
                self.usage
            );
        }
        let coerced = |(index, given): (usize, &DataType)| {
            let parameter = self.parameter(index).and_then(|parameter| parameter.coerced(given));
            match parameter {
                Some(data_type) => Ok(data_type),
                None => match self.parameter(index) {
                    Some(Parameter::Json) => {
                        plan_err!("a value of the type {} has no form in JSON", flink_type_name(given))
                    }
                    Some(Parameter::Shown) => {
                        let given = flink_type_name(given);
                        plan_err!("the argument {} of {} is a {given}, which has no text", index + 1, self.usage)
                    }
                    _ => plan_err!("the argument {} of {} is a {}", index + 1, self.usage, flink_type_name(given)),
                },
            }
        };
        given.iter().enumerate().map(coerced).collect()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(match self.returns {
            Returns::Type(data_type) => data_type(),
            Returns::Of(of) => of(given),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        if constant || matches!(self.evaluate, Evaluate::Arrays(_)) {
            let rows = if constant { 1 } else { args.number_rows };
            return evaluated(&args, |arrays| self.evaluate.run(arrays, rows, args.return_field.data_type()));
        }
        let once = |arg: &ColumnarValue| match arg {
            ColumnarValue::Array(array) => Ok(Arc::clone(array)),
            ColumnarValue::Scalar(value) => value.to_array(),
        };
        let arrays = args.args.iter().map(once).collect::<Result<Vec<_>>>()?;
        Ok(ColumnarValue::Array(self.evaluate.run(&arrays, args.number_rows, args.return_field.data_type())?))
    }
}
