//! The JSON format of events in files and streams, and its faults.

mod events;
mod fields;
mod value;
mod write;

pub use events::{EVENT_TYPES, EventList, event_from_object, read as read_events};
pub use fields::{Fields, REPEATED_FIELD, WireFault, WireResult, fix_surrogates, kind, read_utf8};
pub use value::{CountedValue, ValueBudget, parse, read as value};
pub use write::{write_all, write_optional};
