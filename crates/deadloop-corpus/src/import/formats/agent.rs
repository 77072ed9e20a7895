//! The log of an agent server (seed 002): each agent of a session is a transcript, called `meta.agent`.

use crate::import::reader::Foreign;
use crate::import::stream::families::agent::ENTRY as FAMILY;
use crate::import::streams::{Streams, knows};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "agent",
    help: "an agent server's events (event_type, agent_source, payload), ending in [DONE]",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::session(&FAMILY)),
};
