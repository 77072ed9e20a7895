//! The JSON format of events in files and streams, and its faults.

mod events;
mod fields;
mod value;
mod write;

pub use events::{EVENT_TYPES, EventList, event_of, read as read_events};
pub use fields::{DUPLICATE_FIELD, Fields, WireFault, WireResult, kind, repair_escapes, utf8};
pub use value::{CountedValue, ValueBudget, parse, read as value};
pub use write::{all, optional};
