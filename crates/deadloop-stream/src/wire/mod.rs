//! What an event may say, as it is in a file or a stream, and what can be wrong with it.

mod events;
mod fast;
mod fields;
mod plain;
mod value;
mod write;

pub use events::{EVENT_TYPES, EventList, event_of, read as read_events};
pub use fields::{Fields, TWICE, WireFault, kind, utf8};
pub use value::{CountedValue, Parser, ValueBudget, parse, read as value};
pub use write::{all, go_on, optional, write_event, write_text};
