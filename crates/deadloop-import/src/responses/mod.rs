//! API responses, assembled from the chunks of their streams.
//!
//! | to find | look in |
//! |---|---|
//! | the open responses of a file | `streams` |
//! | one response; one of its alternatives | `response`; `choice` |
//! | envelopes of recorders around an API's objects | `envelope` |

mod choice;
pub(crate) mod envelope;
mod response;
pub(crate) mod streams;
