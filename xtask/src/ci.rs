//! `cargo xtask ci`: every check but the tests, the cheap ones first.

use crate::checkout::Checkout;
use crate::{Outcome, arrows, process, readme, tidy};

pub(crate) fn run(checkout: &Checkout) -> Outcome {
    process::cargo(checkout, &["fmt", "--all", "--check"], &[])?;
    tidy::run(checkout)?;
    arrows::run(checkout)?;
    readme::run(checkout, readme::Mode::Compare)?;
    process::cargo(
        checkout,
        &["clippy", "--quiet", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"],
        &[],
    )
}
