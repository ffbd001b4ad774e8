//! The window table functions: how they are planned, and the plan node that stands for them.

mod node;
mod planner;

pub(crate) use node::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowKind, WindowTvf};
pub(crate) use planner::WindowPlanner;
