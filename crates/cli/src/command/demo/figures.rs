//! What the statements of the pipeline have said so far, in the form in which it is shown.
//!
//! A statement's rows are applied in the order in which they come, so a provisional row is replaced by those that
//! follow, and stays when its window is complete: [`Figures::complete`] says which are.

use std::collections::BTreeMap;

use tidemill_core::{EventBatch, Result, Watermark};

use super::cells::{Cells, or_default};

pub(super) const REVENUE: &str = "revenue_per_minute";
pub(super) const TRENDING: &str = "trending_products";
pub(super) const ACTIVE: &str = "active_users";
pub(super) const FUNNEL: &str = "funnel";

/// The steps of the funnel, by the names of their columns.
pub(super) const STEPS: [&str; 4] = ["viewed", "carted", "ordered", "paid"];

/// How many windows of a statement are kept, a day of minutes. Of the revenue all are: they are added up at the end.
const KEPT_WINDOWS: usize = 24 * 60;

/// The orders of a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Minute {
    pub(super) orders: i64,
    pub(super) cents: i128,
}

/// A product and how often it was viewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) product: String,
    pub(super) views: i64,
}

/// What is known, windows by their end in milliseconds since 1970.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    pub(super) revenue: BTreeMap<i64, Minute>,
    /// By place, from 1.
    pub(super) trending: BTreeMap<i64, BTreeMap<i64, Place>>,
    pub(super) active: BTreeMap<i64, i64>,
    /// Users, a step an entry.
    pub(super) funnel: [i64; 4],
    /// How far each statement has come.
    complete: BTreeMap<String, Watermark>,
}

impl Figures {
    /// Takes what a statement gave.
    pub(super) fn apply(&mut self, statement: &str, batch: &EventBatch) -> Result<()> {
        let cells = Cells(&batch.rows);
        let adds = |row: usize| batch.kinds.as_ref().is_none_or(|kinds| kinds[row].adds());
        match statement {
            REVENUE => {
                let (end, orders) = (cells.time("window_end")?, cells.bigint("orders")?);
                let revenue = cells.decimal("revenue")?;
                for row in 0..batch.num_rows() {
                    let minute = Minute { orders: orders.value(row), cents: or_default(revenue, row) };
                    change(&mut self.revenue, end.value(row), minute, adds(row));
                }
            }
            TRENDING => {
                let (end, place) = (cells.time("window_end")?, cells.bigint("place")?);
                let (product, views) = (cells.text("product_id")?, cells.bigint("views")?);
                for row in 0..batch.num_rows() {
                    let value = Place { product: product.value(row).to_owned(), views: views.value(row) };
                    change(self.trending.entry(end.value(row)).or_default(), place.value(row), value, adds(row));
                }
                forget(&mut self.trending);
            }
            ACTIVE => {
                let (end, users) = (cells.time("window_end")?, cells.bigint("users")?);
                for row in 0..batch.num_rows() {
                    change(&mut self.active, end.value(row), users.value(row), adds(row));
                }
                forget(&mut self.active);
            }
            FUNNEL => {
                let steps = STEPS.into_iter().map(|step| cells.bigint(step)).collect::<Result<Vec<_>>>()?;
                for row in (0..batch.num_rows()).filter(|&row| adds(row)) {
                    self.funnel.iter_mut().zip(&steps).for_each(|(users, column)| *users = column.value(row));
                }
            }
            // A statement without a panel is compared at the end, and not shown.
            _ => {}
        }
        Ok(())
    }

    /// A statement has come so far.
    pub(super) fn progress(&mut self, statement: &str, watermark: Watermark) {
        self.complete.insert(statement.to_owned(), watermark);
    }

    /// How far a statement has come.
    pub(super) fn watermark(&self, statement: &str) -> Watermark {
        self.complete.get(statement).copied().unwrap_or(Watermark::MIN)
    }

    /// The end of the last minute with orders. When the shop has closed there are windows that reach beyond it.
    pub(super) fn last_minute_ms(&self) -> i64 {
        self.revenue.last_key_value().map_or(i64::MIN, |(end_ms, _)| *end_ms)
    }

    /// How far all statements with windows have come: what they say of windows that are complete there is final.
    pub(super) fn complete(&self) -> Watermark {
        [REVENUE, TRENDING, ACTIVE]
            .map(|statement| self.watermark(statement))
            .into_iter()
            .min()
            .unwrap_or(Watermark::MIN)
    }
}

fn change<V: PartialEq>(values: &mut BTreeMap<i64, V>, key: i64, value: V, adds: bool) {
    if adds {
        values.insert(key, value);
    } else if values.get(&key) == Some(&value) {
        // Its successor may have come before: then there is nothing to take back.
        values.remove(&key);
    }
}

fn forget<V>(windows: &mut BTreeMap<i64, V>) {
    while windows.len() > KEPT_WINDOWS {
        windows.pop_first();
    }
}
