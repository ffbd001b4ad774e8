//! What a program's function takes: values of its parameters' types, or such as lose nothing on the way to them.

use std::any::Any;

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::aggregate_function::ProgramAggregate;
use super::scalar_function::ProgramFunction;
use crate::pipeline::implicit_cast;
use crate::types::flink_type_name;

/// The types that arguments are cast to. A whole number may yet turn out to be an INT: a literal is a BIGINT to DataFusion.
pub(super) fn coerced(name: &str, parameters: &[DataType], given: &[DataType]) -> Result<Vec<DataType>> {
    fitting(name, parameters, given, |given, parameter| given.is_integer() && parameter.is_integer())
}

/// Refuses a call of a program's function whose arguments, in Flink's types, are not of its parameters' types.
pub(crate) fn check_arguments(call: &Expr, schema: &DFSchema) -> Result<()> {
    let (name, parameters, arguments) = match call {
        Expr::ScalarFunction(call) => {
            match (call.func.inner().as_ref() as &dyn Any).downcast_ref::<ProgramFunction>() {
                Some(function) => (call.func.name(), function.parameters(), &call.args),
                None => return Ok(()),
            }
        }
        Expr::AggregateFunction(call) => match ProgramAggregate::of(&call.func) {
            Some(function) => (call.func.name(), function.parameters(), &call.params.args),
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let given = arguments.iter().map(|argument| argument.get_type(schema)).collect::<Result<Vec<_>>>()?;
    fitting(name, parameters, &given, |_, _| false).map(drop)
}

fn fitting(
    name: &str,
    parameters: &[DataType],
    given: &[DataType],
    also: impl Fn(&DataType, &DataType) -> bool,
) -> Result<Vec<DataType>> {
    let fits = |(given, parameter): (&DataType, &DataType)| {
        given == parameter || implicit_cast(given, parameter) || also(given, parameter)
    };
    if given.len() == parameters.len() && given.iter().zip(parameters).all(fits) {
        return Ok(parameters.to_vec());
    }
    let (takes, called) = (listed(parameters), listed(given));
    plan_err!("{}({takes}) is called with ({called}); CAST the arguments to its types", name.to_uppercase())
}

fn listed(types: &[DataType]) -> String {
    types.iter().map(flink_type_name).collect::<Vec<_>>().join(", ")
}
