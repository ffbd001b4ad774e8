//! `+ - * / %` as Flink types them, and checked: a result that its type can't hold is an error, never a wrapped number.
//!
//! The planner puts these calls where the text has the operators.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use arrow::compute::kernels::numeric;
use arrow::compute::{cast, try_binary};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, DecimalType, i256};
use arrow::error::ArrowError;
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use tidemill_core::Error;

use super::collection::{ARRAY, ITEM, MAP};
use super::scalar::evaluated;
use crate::types::flink_type_name;

/// The digits behind the point that a quotient of decimals has at least.
const QUOTIENT_SCALE: i16 = 6;

/// An operator of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

impl Arithmetic {
    pub(crate) fn of(operator: Operator) -> Option<Self> {
        Some(match operator {
            Operator::Plus => Self::Plus,
            Operator::Minus => Self::Minus,
            Operator::Multiply => Self::Times,
            Operator::Divide => Self::Divide,
            Operator::Modulo => Self::Modulo,
            _ => return None,
        })
    }

    fn of_text(operator: &BinaryOperator) -> Option<Self> {
        Some(match operator {
            BinaryOperator::Plus => Self::Plus,
            BinaryOperator::Minus => Self::Minus,
            BinaryOperator::Multiply => Self::Times,
            BinaryOperator::Divide => Self::Divide,
            BinaryOperator::Modulo => Self::Modulo,
            _ => return None,
        })
    }

    /// The call for two numbers of these types. A chain (`a + b - c`) is one call, which grows: as calls within calls it
    /// would be as deep as it is long, and its types would be asked for anew at each level.
    pub(crate) fn call(self, left: Expr, left_type: &DataType, right: Expr, right_type: &DataType) -> Expr {
        let step = Step { operator: self, output: self.result_type(left_type, right_type), operand: sql_text(&right) };
        let chain = match &left {
            Expr::ScalarFunction(call) => chain_of(call).map(|chain| chain.and(step.clone())),
            _ => None,
        };
        match (chain, left) {
            (Some(chain), Expr::ScalarFunction(mut call)) => {
                call.args.push(right);
                chain.call(call.args)
            }
            (_, left) => ArithmeticFunction::new(sql_text(&left), vec![step]).call(vec![left, right]),
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }

    fn result_type(self, left: &DataType, right: &DataType) -> DataType {
        use DataType as T;
        match (left, right) {
            (T::Null, other) | (other, T::Null) => other.clone(),
            (T::Float32, other) | (other, T::Float32) if other.is_integer() || matches!(other, T::Float32) => {
                T::Float32
            }
            (a, b) if a.is_floating() || b.is_floating() => T::Float64,
            // What is left of a division by a small number is small.
            (a, b) if a.is_integer() && b.is_integer() => match self {
                Self::Modulo => b.clone(),
                _ if decimal_of_integer(a) >= decimal_of_integer(b) => a.clone(),
                _ => b.clone(),
            },
            (a, b) => {
                let ((p1, s1), (p2, s2)) = (digits(a), digits(b));
                self.decimal_type(p1, s1, p2, s2)
            }
        }
    }

    fn decimal_type(self, p1: i16, s1: i16, p2: i16, s2: i16) -> DataType {
        let scale = s1.max(s2);
        let (precision, scale) = match self {
            Self::Plus | Self::Minus => ((p1 - s1).max(p2 - s2) + scale + 1, scale),
            Self::Times => (p1 + p2 + 1, s1 + s2),
            Self::Divide => {
                let scale = QUOTIENT_SCALE.max(s1 + p2 + 1);
                (p1 - s1 + s2 + scale, scale)
            }
            Self::Modulo => ((p1 - s1).min(p2 - s2) + scale, scale),
        };
        let most = i16::from(DECIMAL128_MAX_PRECISION);
        if precision <= most {
            return decimal(precision.max(1), scale);
        }
        // Digits before the point count for more; but six behind it are kept.
        let kept = (most - (precision - scale)).max(scale.min(QUOTIENT_SCALE));
        decimal(most, kept)
    }
}

/// Makes the calls as soon as the text is planned: DataFusion has no type for a product of many digits.
///
/// Literals have not Flink's types yet then; once they do, the calls are made anew.
#[derive(Debug)]
pub(crate) struct ArithmeticPlanner;

impl ExprPlanner for ArithmeticPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let Some(operator) = Arithmetic::of_text(&expr.op) else { return Ok(PlannerResult::Original(expr)) };
        let (left, right) = (type_of(&expr.left, schema)?, type_of(&expr.right, schema)?);
        if !left.is_numeric() || !right.is_numeric() {
            return Ok(PlannerResult::Original(expr));
        }
        Ok(PlannerResult::Planned(operator.call(expr.left, &left, expr.right, &right)))
    }
}

/// The type of an operand; a chain knows its own.
fn type_of(expr: &Expr, schema: &DFSchema) -> Result<DataType> {
    let chain = match expr {
        Expr::ScalarFunction(call) => chain_of(call),
        _ => None,
    };
    chain.map_or_else(|| expr.get_type(schema), |chain| Ok(chain.output().clone()))
}

fn chain_of(call: &ScalarFunction) -> Option<&ArithmeticFunction> {
    call.func.inner().downcast_ref()
}

/// The call of a chain by the types that its operands have now, if it is one.
pub(crate) fn with_types_of_operands(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let Some(chain) = chain_of(call) else { return Ok(None) };
    let Some((first, rest)) = call.args.split_first() else { return Ok(None) };
    let mut typed = first.clone();
    for (step, operand) in chain.steps.iter().zip(rest) {
        let (left, right) = (type_of(&typed, schema)?, type_of(operand, schema)?);
        typed = step.operator.call(typed, &left, operand.clone(), &right);
    }
    Ok(Some(typed))
}

/// What has a form of its own.
fn collection_text(name: &str, args: &[String]) -> Option<String> {
    match (name, args) {
        (ARRAY, elements) => Some(format!("ARRAY[{}]", elements.join(", "))),
        (MAP, entries) => Some(format!("MAP[{}]", entries.join(", "))),
        (ITEM, [value, key]) => Some(format!("{value}[{key}]")),
        _ => None,
    }
}

/// An operand as a person would write it.
pub(crate) fn sql_text(expr: &Expr) -> String {
    match expr {
        Expr::Column(column) => column.name.clone(),
        Expr::Literal(value, _) => value.to_string(),
        Expr::Alias(alias) => alias.name.clone(),
        Expr::Cast(cast) => sql_text(&cast.expr),
        Expr::ScalarFunction(call) => match chain_of(call) {
            Some(chain) => format!("({})", chain.text()),
            None => {
                let args: Vec<String> = call.args.iter().map(sql_text).collect();
                if let Some(text) = collection_text(call.func.name(), &args) {
                    return text;
                }
                format!("{}({})", call.func.name().to_uppercase(), args.join(", "))
            }
        },
        other => other.to_string(),
    }
}

fn decimal(precision: i16, scale: i16) -> DataType {
    let digits = |n: i16| u8::try_from(n).expect("a precision is at most 38, and a scale at most that");
    DataType::Decimal128(digits(precision), digits(scale).cast_signed())
}

/// The precision of the decimal that holds every integer of the type.
pub(crate) fn decimal_of_integer(integer: &DataType) -> Option<u8> {
    Some(match integer {
        DataType::Int8 => 3,
        DataType::Int16 => 5,
        DataType::Int32 => 10,
        DataType::Int64 => 19,
        // Row numbers, until they are cast to BIGINT.
        DataType::UInt64 => 20,
        _ => return None,
    })
}

fn digits(number: &DataType) -> (i16, i16) {
    match number {
        DataType::Decimal128(precision, scale) => (i16::from(*precision), i16::from(*scale)),
        integer => (i16::from(decimal_of_integer(integer).unwrap_or(DECIMAL128_MAX_PRECISION)), 0),
    }
}

/// A chain of operators, worked off from the left.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ArithmeticFunction {
    /// Its operators.
    name: String,
    /// The first operand, for messages: Arrow names values, and no column.
    first: String,
    steps: Vec<Step>,
    signature: Signature,
}

/// An operator, and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Step {
    operator: Arithmetic,
    output: DataType,
    /// The right operand, for messages.
    operand: String,
}

impl ArithmeticFunction {
    fn new(first: String, steps: Vec<Step>) -> Self {
        let name = steps.iter().map(|step| step.operator.symbol()).collect();
        let signature = Signature::any(steps.len() + 1, Volatility::Immutable);
        Self { name, first, steps, signature }
    }

    /// The chain with a step behind it.
    fn and(&self, step: Step) -> Self {
        Self::new(self.first.clone(), self.steps.iter().cloned().chain([step]).collect())
    }

    fn call(self, operands: Vec<Expr>) -> Expr {
        ScalarUDF::from(self).call(operands)
    }

    /// The type of the result.
    fn output(&self) -> &DataType {
        self.steps.last().map_or(&DataType::Null, |step| &step.output)
    }

    fn text(&self) -> String {
        self.text_of(self.steps.len())
    }

    /// The first so many steps as a person would write them.
    fn text_of(&self, steps: usize) -> String {
        let mut text = "(".repeat(steps.saturating_sub(1));
        text.push_str(&self.first);
        for (number, Step { operator, operand, .. }) in self.steps[..steps].iter().enumerate() {
            let end = if number + 1 < steps { ")" } else { "" };
            text.push_str(&format!(" {} {operand}{end}", operator.symbol()));
        }
        text
    }

    fn evaluate(&self, operands: &[ArrayRef]) -> Result<ArrayRef> {
        let Some((first, rest)) = operands.split_first() else { return internal_err!("{} of no value", self.name) };
        let mut result = Arc::clone(first);
        for (number, (step, operand)) in self.steps.iter().zip(rest).enumerate() {
            result = step.evaluate(&result, operand).map_err(|e| step.error(e, &self.text_of(number + 1)))?;
        }
        Ok(result)
    }
}

impl Step {
    fn evaluate(&self, left: &ArrayRef, right: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
        if let DataType::Decimal128(precision, scale) = self.output {
            let (left, right) = (as_decimal(left)?, as_decimal(right)?);
            let numbers = Decimals { left: left.scale(), right: right.scale(), precision, scale };
            let operation = |a, b| numbers.apply(self.operator, a, b);
            let result: Decimal128Array = try_binary(&left, &right, operation)?;
            return Ok(Arc::new(result.with_precision_and_scale(precision, scale)?));
        }
        // The remainder of two integers is computed in the wider type and has the second's.
        let common = match (left.data_type(), right.data_type()) {
            (a, b) if decimal_of_integer(a) > decimal_of_integer(b) && self.operator == Arithmetic::Modulo => a.clone(),
            _ => self.output.clone(),
        };
        let (left, right) = (cast(left, &common)?, cast(right, &common)?);
        let result = match self.operator {
            Arithmetic::Plus => numeric::add(&left, &right),
            Arithmetic::Minus => numeric::sub(&left, &right),
            Arithmetic::Times => numeric::mul(&left, &right),
            Arithmetic::Divide => numeric::div(&left, &right),
            Arithmetic::Modulo => numeric::rem(&left, &right),
        };
        cast(&result?, &self.output)
    }

    /// The error in the words of the text.
    fn error(&self, error: ArrowError, expression: &str) -> DataFusionError {
        let error = match error {
            ArrowError::DivideByZero => Error::data(format!("division by zero in {expression}"))
                .hint("where the divisor may be 0, write a / NULLIF(b, 0), which gives NULL"),
            ArrowError::ArithmeticOverflow(_) => {
                let hint = match self.output {
                    DataType::Decimal128(..) => "CAST a side to a DECIMAL with fewer digits, or to DOUBLE",
                    DataType::Int64 => "CAST a side AS DECIMAL(38, 0)",
                    _ => "CAST a side AS BIGINT",
                };
                let to = flink_type_name(&self.output);
                Error::data(format!("the result of {expression} is out of the range of {to}")).hint(hint)
            }
            other => return other.into(),
        };
        DataFusionError::External(Box::new(error))
    }
}

fn as_decimal(numbers: &ArrayRef) -> std::result::Result<Decimal128Array, ArrowError> {
    match decimal_of_integer(numbers.data_type()) {
        Some(precision) => {
            Ok(cast(numbers, &DataType::Decimal128(precision, 0))?.as_primitive::<Decimal128Type>().clone())
        }
        None => Ok(cast(numbers, numbers.data_type())?.as_primitive::<Decimal128Type>().clone()),
    }
}

/// The scales of two decimals and the type of their result.
struct Decimals {
    left: i8,
    right: i8,
    precision: u8,
    scale: i8,
}

impl Decimals {
    fn apply(&self, operator: Arithmetic, a: i128, b: i128) -> std::result::Result<i128, ArrowError> {
        if b == 0 && matches!(operator, Arithmetic::Divide | Arithmetic::Modulo) {
            return Err(ArrowError::DivideByZero);
        }
        self.plain(operator, a, b)
            .or_else(|| self.exact(operator, i256::from_i128(a), i256::from_i128(b)).and_then(i256::to_i128))
            .filter(|&value| Decimal128Type::is_valid_decimal_precision(value, self.precision))
            .ok_or_else(|| ArrowError::ArithmeticOverflow(String::new()))
    }

    /// In 128 bits, where no scale changes: that is most money.
    fn plain(&self, operator: Arithmetic, a: i128, b: i128) -> Option<i128> {
        let same = self.left == self.right && self.left == self.scale;
        match operator {
            Arithmetic::Plus if same => a.checked_add(b),
            Arithmetic::Minus if same => a.checked_sub(b),
            Arithmetic::Times if self.left + self.right == self.scale => a.checked_mul(b),
            _ => None,
        }
    }

    /// The result at its scale, rounded half away from zero; `None` where 256 bits can't hold it, and so 38 digits not.
    fn exact(&self, operator: Arithmetic, a: i256, b: i256) -> Option<i256> {
        let common = self.left.max(self.right);
        let both = || Some((shifted(a, common - self.left)?, shifted(b, common - self.right)?));
        match operator {
            Arithmetic::Plus => both().and_then(|(a, b)| rounded(a.checked_add(b)?, common - self.scale)),
            Arithmetic::Minus => both().and_then(|(a, b)| rounded(a.checked_sub(b)?, common - self.scale)),
            Arithmetic::Times => rounded(a.checked_mul(b)?, self.left + self.right - self.scale),
            Arithmetic::Modulo => both().and_then(|(a, b)| a.checked_rem(b)),
            Arithmetic::Divide => {
                let shift = self.scale + self.right - self.left;
                // A scale that was cut may ask for fewer digits than there are: then the divisor grows.
                let (a, b) = if shift >= 0 { (shifted(a, shift)?, b) } else { (a, shifted(b, -shift)?) };
                quotient(a, b)
            }
        }
    }
}

fn shifted(value: i256, digits: i8) -> Option<i256> {
    value.checked_mul(i256::from_i128(10).checked_pow(u32::try_from(digits).ok()?)?)
}

/// Without so many of its last digits.
fn rounded(value: i256, digits: i8) -> Option<i256> {
    match digits {
        ..=0 => shifted(value, -digits),
        _ => quotient(value, i256::from_i128(10).checked_pow(u32::try_from(digits).ok()?)?),
    }
}

/// Rounded half away from zero.
fn quotient(a: i256, b: i256) -> Option<i256> {
    let (whole, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    let twice = rest.wrapping_abs().checked_mul(i256::from_i128(2))?;
    if twice < b.wrapping_abs() {
        return Some(whole);
    }
    let away = if a.is_negative() == b.is_negative() { i256::ONE } else { i256::MINUS_ONE };
    whole.checked_add(away)
}

impl ScalarUDFImpl for ArithmeticFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn display_name(&self, _: &[Expr]) -> Result<String> {
        Ok(self.text())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.output().clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        evaluated(&args, |arrays| self.evaluate(arrays))
    }
}
