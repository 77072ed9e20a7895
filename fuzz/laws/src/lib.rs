//! What holds for any bytes: the bodies of the fuzz targets. Each takes what a fuzzer made up, and
//! panics where a law is broken.
//!
//! `scripts/fuzz` runs them; the test beside this runs them on all seeds and on all that they have
//! ever found.
//!
//! | to find | look in |
//! |---|---|
//! | recordings of every format | `import` |
//! | thinking told from the answer | `splitter` |
//! | damaged streams, mended in any chunks | `repair` |
//! | what production loads | `settings` |
//! | grids of context budgets and of repairers | `grids` |
//! | messages of HTTP, and streams that are judged on their way | `proxy` |
//! | requests that two readers could see differently | `http` |
//! | every registered detector that reads text | `detectors`, its parameters in `drawn` |
//! | every registered detector that reads runs | `runs` |
//! | texts that repeat themselves, and chunks | `text` |

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken law ends the run: that is how a fuzzer is told"
)]

mod detectors;
mod drawn;
mod grids;
mod http;
mod import;
mod proxy;
mod repair;
mod runs;
mod settings;
mod splitter;
mod text;

pub use detectors::{detector, detectors, text_detectors};
pub use grids::grids;
pub use http::http;
pub use import::{import, parquet};
pub use proxy::proxy;
pub use repair::repair;
pub use runs::runs;
pub use settings::settings;
pub use splitter::splitter;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folders of seeds and finds.
pub const TARGETS: [(&str, Target); 10] = [
    ("import", import),
    ("parquet", parquet),
    ("splitter", splitter),
    ("repair", repair),
    ("settings", settings),
    ("grids", grids),
    ("proxy", proxy),
    ("http", http),
    ("detectors", detectors),
    ("runs", runs),
];
