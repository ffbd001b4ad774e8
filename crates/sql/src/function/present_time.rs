//! The functions that tell the present time.
//!
//! A live run asks the clock for each batch of rows: all rows of a batch, and all calls on their way through a task, are
//! told one moment. In a batch it is the moment at which the run began: a planner that knows it puts the value in the
//! place of the call, as it is the same for all rows.

use std::any::Any;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tidemill_runtime::clock::present_ms;
use tidemill_runtime::time_zone::TimeZone;

use crate::types::LTZ_ZONE;

/// What stands behind `UNIX_TIMESTAMP()`: with arguments it reads a time from a text.
pub(crate) const UNIX_TIMESTAMP_NOW: &str = "unix_timestamp ";

/// The one that is a time attribute too: windows over it go by the clock.
const PROCTIME: &str = "proctime";

const SAME_IN_BATCH: &str = "in a batch the moment at which the run began, where Flink asks the clock for each row";

/// How the functions are called, what they give, and where that is not Flink's.
pub(super) const USAGES: [(&str, &str, &str); 5] = [
    (
        "CURRENT_TIMESTAMP, NOW()",
        "the moment at which rows are processed, a TIMESTAMP_LTZ(3); in a batch that at which the run began",
        "",
    ),
    ("CURRENT_ROW_TIMESTAMP()", "the moment at which rows are processed, a TIMESTAMP_LTZ(3)", SAME_IN_BATCH),
    (
        "LOCALTIMESTAMP, LOCALTIME, CURRENT_TIME, CURRENT_DATE",
        "what the clocks of the session's zone show then: a TIMESTAMP(3), TIME or DATE",
        "",
    ),
    (
        "PROCTIME()",
        "the same moment, a TIMESTAMP_LTZ(3); as a column of a table, a view or a subquery it is processing time, by \
         which a live run makes windows",
        SAME_IN_BATCH,
    ),
    ("UNIX_TIMESTAMP()", "the seconds since 1970 of that moment", SAME_IN_BATCH),
];

/// In which form the present is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// `TIMESTAMP_LTZ(3)`
    Instant,
    /// `TIMESTAMP(3)`: what the clocks of the session's zone show.
    Local,
    /// `TIME(0)`
    TimeOfDay,
    /// `DATE`
    Date,
    /// `BIGINT`: since 1970.
    Seconds,
}

const FORMS: [(&str, Form); 9] = [
    ("current_date", Form::Date),
    ("current_row_timestamp", Form::Instant),
    ("current_time", Form::TimeOfDay),
    ("current_timestamp", Form::Instant),
    ("localtime", Form::TimeOfDay),
    ("localtimestamp", Form::Local),
    ("now", Form::Instant),
    (PROCTIME, Form::Instant),
    (UNIX_TIMESTAMP_NOW, Form::Seconds),
];

/// A call of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PresentTime {
    name: &'static str,
    form: Form,
    zone: TimeZone,
}

/// Every function, in a time zone.
pub(crate) fn functions(zone: TimeZone) -> impl Iterator<Item = Arc<ScalarUDF>> {
    FORMS.into_iter().map(move |(name, form)| Arc::new(ScalarUDF::from(PresentTime { name, form, zone })))
}

/// Whether an expression is `PROCTIME()`.
pub(crate) fn is_processing_time(expr: &Expr) -> bool {
    let Expr::ScalarFunction(call) = expr else { return false };
    let present = (call.func.inner().as_ref() as &dyn Any).downcast_ref::<PresentTime>();
    present.is_some_and(|present| present.name == PROCTIME)
}

impl PresentTime {
    /// `now_ms`: milliseconds since 1970.
    fn value(&self, now_ms: i64) -> ScalarValue {
        const SECOND_MS: i64 = 1_000;
        const DAY_MS: i64 = 86_400_000;
        let local_ms = self.zone.local_ms(now_ms);
        // Both are in range for as long as clocks show years that a DATE has.
        let small = |value: i64| i32::try_from(value).ok();
        match self.form {
            Form::Instant => ScalarValue::TimestampMillisecond(Some(now_ms), Some(LTZ_ZONE.into())),
            Form::Local => ScalarValue::TimestampMillisecond(Some(local_ms), None),
            Form::TimeOfDay => {
                let time_ms = local_ms.rem_euclid(DAY_MS);
                ScalarValue::Time32Millisecond(small(time_ms - time_ms % SECOND_MS))
            }
            Form::Date => ScalarValue::Date32(small(local_ms.div_euclid(DAY_MS))),
            Form::Seconds => ScalarValue::Int64(Some(now_ms.div_euclid(SECOND_MS))),
        }
    }
}

/// Not the same each time: so nothing computes it before it runs.
static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Volatile));

impl ScalarUDFImpl for PresentTime {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [] => Ok(vec![]),
            _ => plan_err!("{} takes no arguments", self.name.to_uppercase()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.form {
            Form::Instant => DataType::Timestamp(TimeUnit::Millisecond, Some(LTZ_ZONE.into())),
            Form::Local => DataType::Timestamp(TimeUnit::Millisecond, None),
            Form::TimeOfDay => DataType::Time32(TimeUnit::Millisecond),
            Form::Date => DataType::Date32,
            Form::Seconds => DataType::Int64,
        })
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.name, self.return_type(&[])?, false)))
    }

    fn simplify(&self, args: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(match context.query_execution_start_time() {
            Some(start) => ExprSimplifyResult::Simplified(Expr::Literal(self.value(start.timestamp_millis()), None)),
            None => ExprSimplifyResult::Original(args),
        })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value(present_ms())))
    }
}

#[cfg(test)]
mod tests;
