//! `cargo xtask golden [FILTER] [--accept]`: the golden cases, or what they give now as the expectation.

use crate::checkout::Checkout;
use crate::{Outcome, process};

pub(crate) fn run(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    let (flags, filters): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|a| a.starts_with('-'));
    let environment: &[(&str, &str)] = match *flags {
        [] => &[],
        ["--accept"] => &[("TIDEMILL_GOLDEN", "accept")],
        _ => return Err("usage: cargo xtask golden [FILTER] [--accept]".to_owned()),
    };
    process::build(checkout)?;
    let command =
        [&["test", "--quiet", "--workspace", "--all-features", "--test", "golden", "--"], &filters[..]].concat();
    process::cargo(checkout, &command, environment)
}
