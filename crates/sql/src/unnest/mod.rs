//! `UNNEST`: how it is planned, and the plan node that stands for it.

mod node;
mod planner;

pub(crate) use node::Unnest;
pub(crate) use planner::UnnestPlanner;
