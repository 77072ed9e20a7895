//! [`Asking`]: the parts of a request that its guard needs.

use deadloop_stream::Prompted;

use crate::Shared;
use crate::http::Head;
use crate::metrics::Counter;

/// The header that names the task. It is not passed on.
pub(crate) const TASK: &str = "x-deadloop-task";

/// The longest body of a request that is read, in bytes. A longer body is passed on and counted.
const LONGEST: usize = 4 << 20;

/// A request while its bytes pass.
pub(crate) struct Asking {
    task: String,
    /// The body so far. `None` if no guard needs it, if it is not JSON, or if it is too long.
    body: Option<Vec<u8>>,
    /// Whether the body was too long.
    long: bool,
}

impl Asking {
    /// Returns the request with this head.
    pub(crate) fn new(head: &Head, shared: &Shared) -> Self {
        let kind = head.value("content-type").unwrap_or_default();
        let json = kind.split(';').next().unwrap_or_default().trim() == "application/json";
        let packed = head.value("content-encoding");
        let plain = packed.is_none_or(|how| how == "identity");
        let read = json && plain && shared.options.guards.skips_prompt();
        Self {
            task: head.value(TASK).unwrap_or_default(),
            body: read.then(Vec::new),
            long: false,
        }
    }

    /// Adds the next bytes of the body.
    pub(crate) fn passes(&mut self, bytes: &[u8]) {
        let Some(body) = &mut self.body else {
            return;
        };
        body.extend_from_slice(bytes);
        if body.len() > LONGEST {
            self.body = None;
            self.long = true;
        }
    }

    /// Returns the prompt that the response answers. A body that could not be read is counted.
    pub(crate) fn asked(self, shared: &Shared) -> Prompted {
        let written = self.body.as_deref().map(Prompted::written);
        if self.long || written == Some(None) {
            shared.metrics.add(Counter::Unheard, 1);
        }
        Prompted {
            task: self.task,
            user: written.flatten().unwrap_or_default(),
        }
    }
}
