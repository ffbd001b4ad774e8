//! Expressions with a form of their own become calls, and functions that only abbreviate become what they mean: the
//! planner then knows one form of each.

use datafusion::sql::sqlparser::ast::{
    self, BinaryLength, CaseWhen, CastKind, CharacterLength, DataType, ExactNumberInfo, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArguments, Ident, TrimWhereField, Value, helpers::attached_token::AttachedToken,
};

use super::dialect::call;
use crate::function::{BINARY, CHAR, ROW, VARBINARY, VARCHAR};

/// Rewrites one expression; those below it are visited later.
pub(super) fn rewrite(expr: &mut Expr) {
    let rewritten = match expr {
        Expr::Value(value) => match &value.value {
            // A number with an exponent is a DOUBLE, without one it is exact.
            Value::Number(text, _) if text.contains(['e', 'E']) => {
                let text = Expr::Value(Value::SingleQuotedString(text.clone()).with_span(value.span));
                Some(Expr::Cast {
                    kind: CastKind::Cast,
                    expr: Box::new(text),
                    data_type: DataType::Double(ExactNumberInfo::None),
                    array: false,
                    format: None,
                })
            }
            Value::UnicodeStringLiteral(text) => {
                Some(Expr::Value(Value::SingleQuotedString(text.clone()).with_span(value.span)))
            }
            _ => None,
        },
        // As in Flink, it wins over a column of this name that is not in backticks.
        Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("PI") => {
            Some(call(Ident::with_span(ident.span, "pi"), vec![]))
        }
        Expr::Cast { .. } => return with_length(expr),
        // A tuple of names and literals is left to the planner: the arguments of TABLE are marked by such.
        Expr::Tuple(fields) if !fields.iter().all(is_plain) => Some(call(Ident::new(ROW), std::mem::take(fields))),
        Expr::Function(function) => abbreviation(function),
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let parts = [Some(expr), substring_from.as_mut(), substring_for.as_mut()];
            Some(of_parts("substring", parts))
        }
        Expr::Position { expr, r#in } => Some(of_parts("position", [Some(expr), Some(r#in), None])),
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            let parts = [Some(expr), Some(overlay_what), Some(overlay_from), overlay_for.as_mut()];
            Some(of_parts("overlay", parts))
        }
        Expr::Trim { expr, trim_where, trim_what, trim_characters: None } => {
            let name = match trim_where {
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
                Some(TrimWhereField::Both) | None => "btrim",
            };
            Some(of_parts(name, [Some(expr), trim_what.as_mut()]))
        }
        _ => None,
    };
    if let Some(rewritten) = rewritten {
        *expr = rewritten;
    }
}

fn is_plain(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::Value(_))
}

/// A cast to a type with a length casts to the type without, and cuts or fills what comes of it.
fn with_length(expr: &mut Expr) {
    let Expr::Cast { data_type, .. } = expr else { return };
    let Some((name, length)) = length_of(data_type) else { return };
    let text = matches!(name, CHAR | VARCHAR);
    *data_type = if text { DataType::String(None) } else { DataType::Bytes(None) };
    let cast = std::mem::replace(expr, Expr::Value(Value::Null.into()));
    let length = Expr::Value(Value::Number(length.to_string(), false).into());
    *expr = call(Ident::new(name), vec![cast, length]);
}

/// The call that cuts to the type's length, and the length; a CHAR without one has 1, and a VARCHAR has none.
fn length_of(data_type: &DataType) -> Option<(&'static str, i32)> {
    let (name, length) = match data_type {
        DataType::Char(length) | DataType::Character(length) => (CHAR, length.map_or(Some(1), characters)?),
        DataType::Varchar(length) | DataType::CharVarying(length) | DataType::CharacterVarying(length) => {
            (VARCHAR, characters((*length)?)?)
        }
        DataType::Binary(length) => (BINARY, length.unwrap_or(1)),
        DataType::Varbinary(Some(BinaryLength::IntegerLength { length })) => (VARBINARY, *length),
        _ => return None,
    };
    i32::try_from(length).ok().filter(|length| *length > 0).map(|length| (name, length))
}

fn characters(length: CharacterLength) -> Option<u64> {
    match length {
        CharacterLength::IntegerLength { length, unit: None } => Some(length),
        _ => None,
    }
}

fn of_parts<const N: usize>(name: &str, parts: [Option<&mut Box<Expr>>; N]) -> Expr {
    call(Ident::new(name), parts.into_iter().flatten().map(taken).collect())
}

fn taken(expr: &mut Box<Expr>) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.into()))
}

/// `IF`, `IFNULL`, `NULLIF` and `MOD` with as many arguments as they take; else the planner refuses them by name.
fn abbreviation(function: &Function) -> Option<Expr> {
    let name = function.name.to_string().to_ascii_lowercase();
    let FunctionArguments::List(list) = &function.args else { return None };
    let args: Option<Vec<Expr>> = list.args.iter().map(plain).collect();
    Some(match (name.as_str(), args?.as_slice()) {
        ("if", [condition, yes, no]) => case(condition.clone(), yes.clone(), no.clone()),
        ("ifnull", [value, other]) => call(Ident::new("coalesce"), vec![value.clone(), other.clone()]),
        ("nullif", [value, other]) => {
            let equal = binary(value.clone(), ast::BinaryOperator::Eq, other.clone());
            case(equal, Expr::Value(Value::Null.into()), value.clone())
        }
        ("mod", [a, b]) => {
            let nested = |side: &Expr| Expr::Nested(Box::new(side.clone()));
            Expr::Nested(Box::new(binary(nested(a), ast::BinaryOperator::Modulo, nested(b))))
        }
        _ => return None,
    })
}

fn plain(arg: &FunctionArg) -> Option<Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    }
}

fn binary(left: Expr, op: ast::BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn case(condition: Expr, result: Expr, otherwise: Expr) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition, result }],
        else_result: Some(Box::new(otherwise)),
    }
}
