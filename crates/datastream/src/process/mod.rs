//! Functions of a program with state and timers.

mod context;
mod function;
mod life;
mod operator;

pub use context::Context;
pub use function::{KeyedProcessFunction, Timer};
pub(crate) use life::Make;
use life::{Life, Made};
pub(crate) use operator::{Pace, ProcessOperator, ProcessSpec, behind};
