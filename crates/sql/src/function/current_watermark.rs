//! `CURRENT_WATERMARK(event_time)`, as long as it stands in a plan: `plan/current_watermark` puts a column in its place.

use std::sync::LazyLock;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use crate::types::flink_type_name;

/// What a document says of it.
pub(super) const USAGE: (&str, &str, &str) = (
    "CURRENT_WATERMARK(event_time)",
    "the row's own watermark: the highest that the rows before it in its partition have claimed; NULL where none has",
    "the same live and in a batch; Flink gives that of the operator, and NULL in a batch",
);

/// The call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CurrentWatermark;

/// Not the same for the same argument: so nothing computes it before it is replaced.
static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Volatile));

impl ScalarUDFImpl for CurrentWatermark {
    fn name(&self) -> &'static str {
        "current_watermark"
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [time @ DataType::Timestamp(TimeUnit::Millisecond, _)] => Ok(vec![time.clone()]),
            [other] => plan_err!("CURRENT_WATERMARK takes the event time, not a {}", flink_type_name(other)),
            more => plan_err!("CURRENT_WATERMARK takes the event time, and not {} arguments", more.len()),
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given {
            [time] => Ok(time.clone()),
            _ => internal_err!("CURRENT_WATERMARK without its argument"),
        }
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("CURRENT_WATERMARK is still in the plan that runs")
    }
}
