//! deadloop's own events, as they stand in a transcript.

use super::{Family, kind};
use crate::stream::said::Said;
use crate::wire::{EVENT_TYPES, event_of};

pub(crate) const ENTRY: Family = Family {
    name: "events",
    keys: &["type", "text", "t_ms", "tokens"],
    // Whoever writes them has split the text.
    tags: false,
    knows: |object| EVENT_TYPES.contains(&kind(object)),
    read: |object| event_of(object).map(|event| Said::of([event])),
    quick: None,
};
