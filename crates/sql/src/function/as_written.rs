//! A mark that gives an expression the name that it is written with, casts included, as long as it stands in a plan.
//!
//! DataFusion leaves casts out of names: `GROUP BY x, CAST(x AS STRING)` would have two keys of one name.

use std::sync::LazyLock;

use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

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
