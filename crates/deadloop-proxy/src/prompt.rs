//! [`PromptReader`]: the parts of a request that its guard needs.

use std::sync::atomic::Ordering;

use deadloop_stream::PromptInfo;

use crate::ProxyState;
use crate::http::MessageHead;
use crate::metrics::MetricCounter;

/// The header that names the task. It is not passed on.
pub(crate) const TASK: &str = "x-deadloop-task";

/// The longest body of a request that is read, in bytes. A longer body is passed on and counted.
const MAX_BODY_BYTES: usize = 4 << 20;
/// The maximum number of bytes of all held bodies. Above it, the body that would grow is passed on and counted.
const MAX_HELD_BYTES: usize = 64 << 20;

/// A reader of a request that is being passed on.
pub(crate) struct PromptReader<'a> {
    shared: &'a ProxyState,
    task: String,
    /// The body so far. `None` if no guard needs it, if it is not JSON, or if it is too long.
    body: Option<Vec<u8>>,
    /// Whether the body was too long.
    long: bool,
}

impl<'a> PromptReader<'a> {
    /// Creates a reader from the head of a request.
    pub(crate) fn new(head: &MessageHead, shared: &'a ProxyState) -> Self {
        let kind = head.value("content-type").unwrap_or_default();
        let json = kind.split(';').next().unwrap_or_default().trim() == "application/json";
        let packed = head.value("content-encoding");
        let plain = packed.is_none_or(|how| how == "identity");
        let read = json && plain && shared.options.guards.skips_prompt();
        Self {
            shared,
            task: head.text(TASK).unwrap_or_default(),
            body: read.then(Vec::new),
            long: false,
        }
    }

    /// Adds the next bytes of the body.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Some(body) = &mut self.body else {
            return;
        };
        body.extend_from_slice(bytes);
        let held = &self.shared.held;
        let held = held.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if body.len() > MAX_BODY_BYTES || held > MAX_HELD_BYTES {
            self.forget();
            self.long = true;
        }
    }

    /// Returns the prompt that the response answers. A body that could not be read is counted.
    pub(crate) fn into_prompt(mut self) -> PromptInfo {
        let written = self.forget().as_deref().map(PromptInfo::written);
        if self.long || written == Some(None) {
            self.shared.metrics.add(MetricCounter::Unheard, 1);
        }
        PromptInfo {
            task: std::mem::take(&mut self.task),
            user: written.flatten().unwrap_or_default(),
        }
    }

    /// Takes the held part of the body.
    fn forget(&mut self) -> Option<Vec<u8>> {
        let body = self.body.take()?;
        self.shared.held.fetch_sub(body.len(), Ordering::Relaxed);
        Some(body)
    }
}

impl Drop for PromptReader<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}
