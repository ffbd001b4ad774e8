//! Builds this crate anew when another checkout built it last: the paths of its own folder are part of it.
//! `crates/core/build.rs` says more.

fn main() {
    // Set to the path of the checkout by .cargo/config.toml.
    println!("cargo::rerun-if-env-changed=TIDEMILL_CHECKOUT");
}
