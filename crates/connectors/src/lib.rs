//! The systems that Tidemill reads from and writes to, and the formats of their bytes.
//!
//! **Owns** one folder per system (`filesystem`, `delta`, `stdio`, `datagen`, `nexmark`, `shop`, `print`, `blackhole`),
//! the formats, and [`connectors`], the one list of all of them.
//! **Never** knows an operator, a plan or SQL: it sees a table's columns and options, through the
//! contracts of `tidemill_runtime::connector`. One system never imports another.
//! **Start at** [`connectors`], then [`filesystem`]; bytes become rows in [`mod@format`], and
//! numbers in `synthetic`.

pub mod blackhole;
mod blocking;
pub mod console;
pub mod datagen;
pub mod delta;
pub mod filesystem;
pub mod format;
mod local;
pub mod nexmark;
pub mod print;
pub mod shop;
pub mod stdio;
mod synthetic;

use std::sync::Arc;

use tidemill_runtime::connector::Connectors;

/// Every system that `'connector' = '...'` may name.
#[must_use]
pub fn connectors() -> Connectors {
    Connectors::new(vec![
        Arc::new(filesystem::FilesystemConnector),
        Arc::new(delta::DeltaConnector),
        Arc::new(stdio::StdioConnector),
        Arc::new(datagen::DatagenConnector),
        Arc::new(nexmark::NexmarkConnector),
        Arc::new(shop::ShopConnector::default()),
        Arc::new(print::PrintConnector),
        Arc::new(blackhole::BlackholeConnector),
    ])
}
