//! `COUNT(*)` and `COUNT(x)`: DataFusion's own, for they are Flink's: `BIGINT NOT NULL`, 0 for no rows.

use std::sync::Arc;

use datafusion::{functions_aggregate::count::count_udaf, logical_expr::AggregateUDF};

pub(super) fn count() -> Arc<AggregateUDF> {
    count_udaf()
}
