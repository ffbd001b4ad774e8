//! Builds this crate, and so all that stand on it, anew when another checkout built it last.
//!
//! Checkouts share one target folder, so that DataFusion is built once. Cargo knows a crate of a
//! workspace by its path from the root and judges it by the times of its files: it would take what
//! another checkout has built later for its own.

fn main() {
    // Set to the path of the checkout by .cargo/config.toml.
    println!("cargo::rerun-if-env-changed=TIDEMILL_CHECKOUT");
}
