//! A streaming client with a guard: every step of an integration.
//!
//! 1. a fresh [guard](deadloop_detect::Guard) for each request, so that nothing has to be reset;
//! 2. each chunk into the guard, before it is shown;
//! 3. on an alarm: an error line for the log, an abort with a reason, a sentence for the user;
//! 4. another attempt, a limited number of times.
//!
//! It has no clock, no thread and no network. Streams come from a [`Provider`], so that the example and
//! `tests/integration.rs` run this code on scripts.

use std::fmt;

use deadloop_detect::{Alarm, Decision, Guards, TextChannel};

/// The reason for an abort, spelt as in the document's `abortStream`.
pub(crate) const STREAMING_FAILED: &str = "streaming_failed";

/// A chunk of a model's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A chunk of thinking.
    Reasoning(String),
    /// A chunk of the answer.
    Answer(String),
}

/// A response while it streams.
pub(crate) trait Stream: Iterator<Item = Event> {
    /// Closes the connection, so that no more text is generated and paid for.
    fn abort(&mut self, reason: &'static str);
}

/// A service that runs models.
pub(crate) trait Provider {
    /// A response.
    type Stream: Stream;

    /// Sends a request.
    fn request(&mut self, model: &str, prompt: &str) -> Self::Stream;
}

/// The receiver of the client's log lines and messages.
pub(crate) trait ClientLog {
    /// Writes a line to the error log.
    fn error(&mut self, line: &str);
    /// Shows a sentence to the user.
    fn show(&mut self, sentence: &str);
}

/// A client with its guards and its limit on retries.
pub(crate) struct Client {
    /// The guards by model, compiled once when the settings are read.
    pub(crate) guards: Guards,
    /// The maximum number of times that a request is sent again after an alarm.
    pub(crate) retries: u32,
}

/// The error after every attempt ended in a dead loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttemptsExhausted {
    /// The number of attempts.
    pub(crate) attempts: u32,
    /// The alarm that ended the last one.
    pub(crate) last: Box<Alarm>,
}

impl fmt::Display for AttemptsExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The model kept repeating itself in all {} attempts. Rephrase the request, or choose another model.",
            self.attempts
        )
    }
}

impl Client {
    /// Sends a request, and sends it again after a dead loop. Returns the answer of the first healthy attempt.
    pub(crate) fn request(
        &self,
        provider: &mut impl Provider,
        desk: &mut impl ClientLog,
        model: &str,
        prompt: &str,
    ) -> Result<String, AttemptsExhausted> {
        let mut attempts = 1;
        loop {
            let last = match self.attempt(provider.request(model, prompt), desk, model) {
                Ok(answer) => return Ok(answer),
                Err(alarm) => alarm,
            };
            if attempts > self.retries {
                let gave_up = AttemptsExhausted { attempts, last };
                desk.show(&gave_up.to_string());
                return Err(gave_up);
            }
            attempts += 1;
            desk.show(&format!(
                "Trying again ({attempts} of {}).",
                self.retries + 1
            ));
        }
    }

    /// Sends one request and reads its response to the end or to an alarm.
    fn attempt(
        &self,
        mut stream: impl Stream,
        desk: &mut impl ClientLog,
        model: &str,
    ) -> Result<String, Box<Alarm>> {
        let mut guard = self.guards.guard(model);
        let mut answer = String::new();
        while let Some(event) = stream.next() {
            let pushed = match &event {
                Event::Reasoning(chunk) => guard.push_text(TextChannel::Reasoning, chunk),
                Event::Answer(chunk) => guard.push_text(TextChannel::Answer, chunk),
            };
            for warning in &pushed.warnings {
                desk.error(&format!("{model}: {}", warning.log_line()));
            }
            if let Decision::Stop(alarm) = pushed.decision {
                desk.error(&format!("{model}: {}", alarm.log_line()));
                stream.abort(STREAMING_FAILED);
                desk.show(&alarm.user_message());
                return Err(Box::new(alarm));
            }
            if let Event::Answer(chunk) = event {
                answer.push_str(&chunk);
            }
        }
        Ok(answer)
    }
}
