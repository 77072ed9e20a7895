//! Grids and the parallel replay engine: transcripts x settings -> records.
mod record;
pub use deadloop_corpus as corpus;
pub use deadloop_detect as detect;
pub use record::{Decided, Moment, Record, Region, Seen, Stop};
