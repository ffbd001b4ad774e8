//! What a file will do, found out without running it: how each driver runs a statement, what it keeps, what is lost.
//!
//! What an operator keeps it says itself ([`tidemill_runtime::operator::Operator::unbounded_state`]), and a sink what it
//! guarantees; the rest stands in the plan.

use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Expr, LogicalPlan};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::{ChangelogMode, Guarantee};
use tidemill_runtime::graph::{JobGraph, UnboundedState};

use super::not_deterministic::{NotDeterministic, not_deterministic};
use super::{Outputs, batch, live};
use crate::plan::{plan_error, scanned, unaliased, windows};
use crate::window_tvf::WindowTvf;
use crate::{Pipeline, PlannedStatement, Table, Target};

/// What was found out about a statement.
#[derive(Debug)]
pub struct Checked {
    /// The statement's name.
    pub name: Arc<str>,
    /// The table that it writes to; `None` for a bare `SELECT`.
    pub target: Option<Arc<str>>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// How it runs live, or why it does not.
    pub live: Result<LivePlan>,
    /// Whether it runs as a batch, or why it does not.
    pub batch: Result<()>,
    /// What to know before running it, the warnings first.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// What to know before running it as a batch, or live.
    pub fn findings_for(&self, batch: bool) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| !(batch && finding.live_only))
    }

    /// Why the statement does not run as a batch, or live.
    #[must_use]
    pub fn refusal(&self, batch: bool) -> Option<&Error> {
        if batch { self.batch.as_ref().err() } else { self.live.as_ref().err() }
    }
}

/// How a statement runs live.
#[derive(Debug)]
pub struct LivePlan {
    /// Which row kinds it gives.
    pub changelog: ChangelogMode,
    /// Its tasks and operators, for people.
    pub plan: String,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run may fail one day, or its answer is not the one that is expected.
    Warning,
    /// So it is meant to be, but it should be known.
    Note,
}

/// Something to know about a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// A word for it that does not change, such as `unbounded-state`.
    pub code: &'static str,
    /// What will be.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Whether it is nothing to a batch.
    pub live_only: bool,
    /// What it is about, where that is less than the statement.
    pub place: Option<Excerpt>,
}

impl Finding {
    fn warning(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            code,
            message: message.into(),
            hint: hint.into(),
            live_only: true,
            place: None,
        }
    }

    fn note(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::warning(code, message, hint) }
    }

    fn of_both_drivers(self) -> Self {
        Self { live_only: false, ..self }
    }
}

/// Checks every statement of a file; nothing is opened or run.
///
/// # Errors
/// What is wrong with the file as a whole, if its statements are well.
pub async fn check(pipeline: &Pipeline, outputs: &dyn Outputs) -> Result<Vec<Checked>> {
    let mut checked = vec![];
    for statement in &pipeline.statements {
        checked.push(check_statement(pipeline, statement, outputs).await?);
    }
    if checked.iter().all(|checked| checked.live.is_ok()) {
        live::plan(pipeline, outputs)?;
    }
    Ok(checked)
}

async fn check_statement(pipeline: &Pipeline, statement: &PlannedStatement, outputs: &dyn Outputs) -> Result<Checked> {
    let mut findings = vec![];
    let live = match live::plan_one(pipeline, statement, outputs) {
        Ok((graph, changelog)) => {
            findings.extend(of_state(&graph)?);
            findings.extend(of_time(pipeline, statement)?);
            findings.extend(of_sink(pipeline, statement, outputs)?);
            Ok(LivePlan { changelog, plan: graph.describe()? })
        }
        Err(error) => Err(error),
    };
    findings.extend(not_deterministic(statement)?.into_iter().map(of_function));
    findings.sort_by_key(|finding| finding.severity);
    let excerpt = &statement.excerpt;
    Ok(Checked {
        name: Arc::clone(&statement.name),
        target: match &statement.target {
            Target::Table(table) => Some(Arc::clone(&table.name)),
            Target::Print => None,
        },
        line: excerpt.position().0,
        live,
        batch: runs_as_a_batch(pipeline, statement).await,
        findings,
    })
}

async fn runs_as_a_batch(pipeline: &Pipeline, statement: &PlannedStatement) -> Result<()> {
    batch::check_bounded(statement)?;
    let state = pipeline.session.state();
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let optimized = state.optimize(&statement.plan).map_err(at_statement)?;
    batch::physical_plan(&optimized, &state, &Arc::default()).await.map_err(at_statement)?;
    Ok(())
}

/// State that grows as long as the job runs.
fn of_state(graph: &JobGraph) -> Result<Vec<Finding>> {
    let finding = |UnboundedState { operator, keeps }: UnboundedState| {
        // Which of them it is says the part before what it computes.
        let operator = operator.split(": ").next().unwrap_or_default();
        Finding::warning(
            "unbounded-state",
            format!("'{operator}' keeps {} in memory, for ever", without_carried(&keeps)),
            "group by the windows of TUMBLE(...) or its kin (a Top-N: of their results, PARTITION BY window_start, \
             window_end), whose state is freed when they are complete; without a window, see that there are few enough \
             values",
        )
    };
    Ok(graph.unbounded_state()?.into_iter().map(finding).collect())
}

/// The names of aggregates without the arguments that the planner adds: columns that it carries along.
fn without_carried(names: &str) -> String {
    let carried = |part: &str| part.find(|c: char| !c.is_alphanumeric() && c != '_').map(|end| part[end..].to_owned());
    let mut parts = names.split(CARRIED);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &carried(part).unwrap_or_default())
}

/// How an argument begins that is a carried column.
const CARRIED: &str = ",__tidemill_";

/// What is late, and what that depends on.
fn of_time(pipeline: &Pipeline, statement: &PlannedStatement) -> Result<Vec<Finding>> {
    let mut findings = vec![];
    let windows = windows(&statement.plan).map_err(|e| plan_error(e, &statement.excerpt))?;
    let by_clock = windows.iter().any(WindowTvf::by_clock);
    let windowed = windows.iter().any(|window| !window.by_clock());
    let tables = tables(statement)?;
    for table in &tables {
        match &table.event_time {
            None if by_clock => {}
            None => findings.push(Finding::note(
                "no-watermark",
                format!("'{}' has no event time, so no window can be over it", table.name),
                "declare WATERMARK FOR a TIMESTAMP(3) column, if its rows say when they happened",
            )),
            Some(event_time) if windowed && matches!(unaliased(&event_time.watermark), Expr::Column(_)) => {
                findings.push(Finding::warning(
                    "no-delay",
                    format!("the watermark of '{}' allows no delay: a row behind any other can be late", table.name),
                    format!("WATERMARK FOR {0} AS {0} - INTERVAL '5' SECOND waits for it", event_time.name),
                ));
            }
            Some(_) => {}
        }
    }
    if windowed && statement.late_output.is_none() {
        findings.push(late_rows_are_not_kept(statement));
    }
    if (windowed || by_clock) && pipeline.settings.emit.early_fire().is_some() {
        findings.push(Finding::note(
            "provisional",
            "rows of windows that are open are told early, and which ones depends on when rows come",
            "the final rows do not: take those for what must be repeatable",
        ));
    }
    if windowed && pipeline.settings.idle_timeout.is_some() && tables.len() > 1 {
        findings.push(Finding::note(
            "idle-timeout",
            "which rows are late depends on when they come, once a source has been idle",
            "leave 'table.exec.source.idle-timeout' out, if sources that meet always have rows",
        ));
    }
    Ok(findings)
}

/// What is likely not meant in a live run, and shows only after long: that nothing becomes visible.
///
/// # Errors
/// A sink or a source that can't be made.
pub fn nothing_visible(pipeline: &Pipeline, outputs: &dyn Outputs) -> Result<Vec<(Arc<str>, Finding)>> {
    let mut found = vec![];
    for statement in &pipeline.statements {
        let warnings = of_sink(pipeline, statement, outputs)?.into_iter().filter(|f| f.severity == Severity::Warning);
        found.extend(warnings.map(|finding| (Arc::clone(&statement.name), finding)));
    }
    Ok(found)
}

fn late_rows_are_not_kept(statement: &PlannedStatement) -> Finding {
    let hint = match &statement.target {
        Target::Table(table) => format!("SET 'tidemill.late-output.{}' = '<table>' keeps them", table.name),
        Target::Print => "an INSERT INTO can keep them".to_owned(),
    };
    Finding::note("late-rows-not-kept", "late rows are counted, and not kept", hint)
}

/// What a failure leaves, and when rows become visible.
fn of_sink(pipeline: &Pipeline, statement: &PlannedStatement, outputs: &dyn Outputs) -> Result<Vec<Finding>> {
    let Target::Table(table) = &statement.target else { return Ok(vec![]) };
    let guarantee = outputs.rows(statement, &statement.schema())?.guarantee();
    let mut endless = false;
    for source in tables(statement)? {
        endless |= !source.source()?.ends();
    }
    Ok(match guarantee {
        Guarantee::AtLeastOnce => vec![
            Finding::note(
                "at-least-once",
                format!("'{}' shows rows as they are written: those of a run that fails stay", table.name),
                "write to a 'filesystem' table, whose rows become visible at a commit",
            )
            .of_both_drivers(),
        ],
        Guarantee::ExactlyOnce if endless && pipeline.settings.checkpointing.interval.is_none() => {
            vec![Finding::warning(
                "no-commit",
                format!("the input has no end, and the rows of '{}' become visible at the end alone", table.name),
                "SET 'execution.checkpointing.interval' = '10 s' commits them on the way",
            )]
        }
        Guarantee::ExactlyOnce => vec![],
    })
}

/// What gives another answer each time that it runs.
fn of_function(NotDeterministic { function, place }: NotDeterministic) -> Finding {
    let finding = Finding::warning(
        "not-deterministic",
        format!(
            "{function} gives another value each time: no replay repeats the answer, and reconcile can't compare it"
        ),
        "make the value where the rows are made, and read it as a column; or take it as it is",
    );
    Finding { place: Some(place), ..finding.of_both_drivers() }
}

/// The tables that the statement reads, each once.
fn tables(statement: &PlannedStatement) -> Result<Vec<Arc<Table>>> {
    let mut tables: Vec<Arc<Table>> = vec![];
    let visit = statement.plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(source) = scanned(scan)
            && !tables.iter().any(|table| table.name == source.table().name)
        {
            tables.push(Arc::clone(source.table()));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visit.map_err(|e| plan_error(e, &statement.excerpt))?;
    Ok(tables)
}
