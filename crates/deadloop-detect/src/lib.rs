//! Dead-loop detectors for LLM streams: text in, alarm out.
mod position;
pub use position::{Channel, Chars, Kind};
