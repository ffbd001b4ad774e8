//! `ARRAY[...]`, `value[index]` and `value.field` become calls: the planner then knows one form of each.

use datafusion::sql::sqlparser::ast::{AccessExpr, Expr, Ident, Spanned, Subscript, Value};

use super::{dialect::call, interval::place, refusal::Refusal};
use crate::function::{ARRAY, ITEM};

/// How many accesses may follow each other: their tree is as deep.
const MAX_ACCESSES: usize = 32;

/// Rewrites one expression; those below it are visited later.
///
/// # Errors
/// What Flink has not, as `value[1:2]`.
pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Refusal> {
    let rewritten = match expr {
        Expr::Array(array) if array.named => call(Ident::new(ARRAY), std::mem::take(&mut array.elem)),
        Expr::Array(_) => {
            return Err(Refusal::new("[...] is not Flink SQL", place(expr)).hint("write ARRAY[value, ...]"));
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            if access_chain.len() > MAX_ACCESSES {
                let message = format!("more than {MAX_ACCESSES} accesses follow each other");
                return Err(Refusal::new(message, root.span()).hint("make some of them in a subquery"));
            }
            let (root, mut chain) = named(root, access_chain);
            chain.drain(..).try_fold(root, access)?
        }
        _ => return Ok(()),
    };
    *expr = rewritten;
    Ok(())
}

/// `t.column` is one name, what follows is accessed.
fn named(root: &Expr, chain: &[AccessExpr]) -> (Expr, Vec<AccessExpr>) {
    let Expr::Identifier(first) = root else { return (root.clone(), chain.to_vec()) };
    let name = |access: &AccessExpr| match access {
        AccessExpr::Dot(Expr::Identifier(ident)) => Some(ident.clone()),
        _ => None,
    };
    let names: Vec<Ident> = std::iter::once(first.clone()).chain(chain.iter().map_while(name)).collect();
    let rest = chain[names.len() - 1..].to_vec();
    match &names[..] {
        [_] => (root.clone(), rest),
        _ => (Expr::CompoundIdentifier(names), rest),
    }
}

fn access(value: Expr, access: AccessExpr) -> Result<Expr, Refusal> {
    match access {
        AccessExpr::Dot(Expr::Identifier(field)) => {
            let name = Expr::Value(Value::SingleQuotedString(field.value).with_span(field.span));
            Ok(call(Ident::new("get_field"), vec![value, name]))
        }
        AccessExpr::Dot(other) => {
            Err(Refusal::new("a point is followed by the name of a field", place(&other)).hint("write row.field"))
        }
        AccessExpr::Subscript(Subscript::Index { index }) => Ok(call(Ident::new(ITEM), vec![value, index])),
        AccessExpr::Subscript(Subscript::Slice { .. }) => {
            Err(Refusal::new("a slice [a:b] is not Flink SQL", place(&value))
                .hint("write ARRAY_SLICE(array, first, last)"))
        }
    }
}
