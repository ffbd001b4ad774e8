//! A program's scalar function, as DataFusion calls it.

use std::fmt;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ptr_eq::PtrEq;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::arguments::coerced;

/// A value for each row, of a column for each argument. The rows are counted, as there may be no argument.
pub type Evaluate = dyn Fn(&[ArrayRef], usize) -> tidemill_core::Result<ArrayRef> + Send + Sync;

/// A function of a program that makes one value of each row.
///
/// # Contract
/// - `evaluate` is given columns of the types of `parameters`, and gives one of `result`'s: an entry a row.
/// - If it is `deterministic`, equal arguments give equal values, in this run and in later ones.
#[derive(Clone)]
pub struct ScalarFunction {
    /// What queries call it.
    pub name: String,
    /// The types of its arguments.
    pub parameters: Vec<DataType>,
    /// The type of its value.
    pub result: DataType,
    /// Whether its value follows from its arguments.
    pub deterministic: bool,
    /// What it does.
    pub evaluate: Arc<Evaluate>,
}

impl ScalarFunction {
    pub(super) fn udf(self: &Arc<Self>) -> ScalarUDF {
        let volatility = if self.deterministic { Volatility::Immutable } else { Volatility::Volatile };
        let signature = Signature::user_defined(volatility);
        ScalarUDF::from(ProgramFunction { function: Arc::clone(self).into(), signature })
    }
}

impl fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalarFunction").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Two are the same if they are of one registered function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramFunction {
    function: PtrEq<Arc<ScalarFunction>>,
    signature: Signature,
}

impl ProgramFunction {
    /// The types of its arguments.
    pub(super) fn parameters(&self) -> &[DataType] {
        &self.function.parameters
    }
}

impl ScalarUDFImpl for ProgramFunction {
    fn name(&self) -> &str {
        &self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerced(&self.function.name, &self.function.parameters, given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.result.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let values = (self.function.evaluate)(&arrays, args.number_rows);
        values.map(ColumnarValue::Array).map_err(|e| DataFusionError::External(Box::new(e)))
    }
}
