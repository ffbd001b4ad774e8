//! The scalar functions: DataFusion's, and of those only the ones that answer as Flink documents.
//!
//! A function that has Flink's name and another answer would be wrong in both drivers, and no
//! reconciliation could tell: what is not listed here is refused by name.

use std::sync::Arc;

use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::ScalarUDF;

/// The names that may be called. `get_field` stands for the access to a field of a ROW.
const SAME_AS_FLINK: [&str; 13] = [
    "abs",
    "btrim",
    "character_length",
    "coalesce",
    "exp",
    "get_field",
    "ln",
    "lower",
    "ltrim",
    "nullif",
    "rtrim",
    "sqrt",
    "upper",
];

/// Every scalar function.
#[must_use]
pub fn scalars() -> Vec<Arc<ScalarUDF>> {
    let all = SessionStateDefaults::default_scalar_functions();
    all.into_iter().filter(|function| SAME_AS_FLINK.contains(&function.name())).collect()
}
