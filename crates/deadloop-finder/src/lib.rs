//! The offline loop finder: finds repetition in complete texts and runs.
//!
//! Unlike any detector, it reads the whole text, and so the future. It shares no code with the detectors, so that
//! their results can be checked against each other.
mod aligned;
mod begins;
mod blanks;
mod choose;
mod evidence;
mod gone;
mod grids;
mod places;
mod recycled;
mod runs;
mod soup;
mod stale;
mod steps;
mod views;
mod windows;

pub use choose::{Found, FoundSpan, find};
pub use places::copies;
pub use runs::{PeriodicRun, runs};
pub use steps::{Benign, FoundRun, Reason, Stuck, find_run};
pub use views::{Numbers, Stretch, View};
