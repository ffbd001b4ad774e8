//! A mark that gives an expression the name that it is written with, casts included, as long as it stands in a plan.
//!
//! DataFusion leaves casts out of names: `GROUP BY x, CAST(x AS STRING)` would have two keys of one name.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// The name of the mark: no name that a file can write without backticks.
pub(crate) const AS_WRITTEN: &str = "as written";

/// The mark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AsWritten;

static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::any(1, Volatility::Immutable));

impl ScalarUDFImpl for AsWritten {
    fn name(&self) -> &'static str {
        AS_WRITTEN
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(Expr::to_string).collect())
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    /// A number has Flink's type already, so that messages name that one.
    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let [marked] = args.arg_fields else { return internal_err!("a mark without what it marks") };
        let int = match args.scalar_arguments {
            [Some(ScalarValue::Int64(Some(value)))] => i32::try_from(*value).is_ok(),
            _ => false,
        };
        let data_type = if int { DataType::Int32 } else { marked.data_type().clone() };
        Ok(Arc::new(Field::new(AS_WRITTEN, data_type, marked.is_nullable())))
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given {
            [marked] => Ok(marked.clone()),
            _ => internal_err!("a mark without what it marks"),
        }
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("a mark is still in the plan that runs")
    }
}
