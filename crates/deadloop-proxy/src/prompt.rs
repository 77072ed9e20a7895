//! [`PromptReader`]: collects the parts of a request that its guard needs.

use std::sync::atomic::Ordering;

use deadloop_stream::PromptInfo;

use crate::ProxyState;
use crate::http::MessageHead;
use crate::metrics::MetricCounter;

/// The header that names the task, which is not forwarded.
pub(crate) const TASK_HEADER: &str = "x-deadloop-task";

/// The maximum length of a request body that is read, in bytes. A longer one is only forwarded and counted.
const MAX_BODY_BYTES: usize = 4 << 20;
/// The maximum number of request body bytes held in memory. A body that would exceed it is only forwarded and counted.
const MAX_HELD_BYTES: usize = 64 << 20;

/// Reader of a request while it is being forwarded.
pub(crate) struct PromptReader<'a> {
    shared: &'a ProxyState,
    task: String,
    /// The body so far. `None` if no guard needs it, if it is not JSON, or if it is too long.
    body: Option<Vec<u8>>,
    /// Whether the body was too long.
    is_too_long: bool,
}

impl<'a> PromptReader<'a> {
    /// Returns a reader for the request with this head.
    pub(crate) fn new(head: &MessageHead, shared: &'a ProxyState) -> Self {
        let kind = head.lowercase_value("content-type").unwrap_or_default();
        let json = kind.split(';').next().unwrap_or_default().trim() == "application/json";
        let packed = head.lowercase_value("content-encoding");
        let plain = packed.is_none_or(|how| how == "identity");
        let read = json && plain && shared.options.guards.skips_prompt();
        Self {
            shared,
            task: head.first_value(TASK_HEADER).unwrap_or_default(),
            body: read.then(Vec::new),
            is_too_long: false,
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
            self.release_body();
            self.is_too_long = true;
        }
    }

    /// Returns the task and the user's texts. Counts a body that could not be read.
    pub(crate) fn into_prompt(mut self) -> PromptInfo {
        let texts = self.release_body().as_deref().map(PromptInfo::user_texts);
        if self.is_too_long || texts == Some(None) {
            self.shared.metrics.add(MetricCounter::Unheard, 1);
        }
        PromptInfo {
            task: std::mem::take(&mut self.task),
            user: texts.flatten().unwrap_or_default(),
        }
    }

    /// Releases the held part of the body and returns it.
    fn release_body(&mut self) -> Option<Vec<u8>> {
        let body = self.body.take()?;
        self.shared.held.fetch_sub(body.len(), Ordering::Relaxed);
        Some(body)
    }
}

impl Drop for PromptReader<'_> {
    fn drop(&mut self) {
        self.release_body();
    }
}
