//! [`WatchedResponse`]: one response of a model under its guard.

use deadloop_detect::{
    Alarm, Calls, Chars, Decision, Event, Feed, Feeds, Guard, Guards, ModelTask, OwnedEvent,
    PushResult, Response, TextChannel,
};

use crate::turns::TurnFinder;
use crate::{
    Arrival, EndingWriter, Problem, PromptInfo, SilenceTimer, StreamFormat, StreamReader,
    ThinkOptions,
};

/// The name used for an unknown model.
const UNKNOWN_MODEL: &str = "unknown";

/// The number of response bytes after which a model's name no longer changes the guard.
const MAX_BYTES_BEFORE_MODEL: u64 = 64 << 10;

/// A response under its guard. Takes its bytes, and returns the decision, the number of bytes to forward, and the
/// ending of a cut response. `deadloop watch`, `deadloop proxy`, and the Python and node packages are built on it.
///
/// A guard stays for one response. It is selected by the model's name, given by the caller or else by the stream, where
/// the first name applies. If the name comes late, its guard takes the earlier events first. The caller passes in the
/// time as milliseconds since the request, which must not decrease.
///
/// It never fails: unreadable parts are counted and forwarded. It holds one line, the arguments of open calls and the
/// guard's window, but not the stream. Only the first of several choices is watched.
///
/// ```
/// use deadloop_stream::detect::{Decision, Guards, Settings};
/// use deadloop_stream::{ThinkRules, WatchedResponse};
///
/// let guards = Guards::new(&Settings::default())?;
/// let rules = ThinkRules::default();
/// let mut watched = WatchedResponse::new(guards, move |model| rules.options(model));
/// let chunk = br#"data: {"choices":[{"delta":{"content":"Let me look again. "}}]}"#;
/// let mut passed = 0;
/// for at in 0..500 {
///     let bytes = [chunk.as_slice(), b"\n\n"].concat();
///     let step = watched.feed(&bytes, at * 30); // milliseconds
///     passed += step.kept; // these bytes go on to the client
///     if let Decision::Stop(alarm) = step.decision {
///         eprintln!("{}", alarm.log_line());
///         break; // then the client gets watched.ending(), and the connection is closed
///     }
/// }
/// assert!(watched.alarm().is_some() && passed < 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WatchedResponse {
    guard: Guard,
    /// The guards of all models, until one is selected.
    guards: Option<Guards>,
    /// The events that the first guard took before a guard was selected by model.
    earlier_events: Vec<OwnedEvent>,
    prompt: PromptInfo,
    reader: StreamReader,
    model: Option<String>,
    silence: SilenceTimer,
    turns: Option<TurnFinder>,
    /// Whether a refused call ends the response.
    stops_at_refusals: bool,
    /// The byte offset in the stream after the current chunk.
    chunk_end: u64,
    /// The byte offset in the stream before the current chunk.
    chunk_start: u64,
    /// The number of recorded events that the guard took. Derived turns, silences and the end are not counted, and each
    /// call counts as one.
    events: u64,
    /// The number of stream bytes so far.
    bytes_so_far: u64,
    counts: ResponseCounts,
    ending: EndingWriter,
    alarm: Option<Alarm>,
    closed: bool,
}

/// Sizes of the response's parts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    /// The number of chars of reasoning text.
    pub reasoning: Chars,
    /// The number of chars of answer text.
    pub answer: Chars,
    /// The number of chars in the arguments of tool calls.
    pub arguments: Chars,
    /// The number of tool calls.
    pub calls: Calls,
}

/// The result of newly arrived bytes, or of a silence.
#[derive(Clone, Debug, Default)]
#[must_use = "a guard does nothing itself: whoever feeds has to pass on, refuse or stop"]
pub struct WatchStep {
    /// The number of bytes to forward to the client: the whole input or, at a stop, the bytes up to the end of the
    /// event that raised the alarm. In plain text they end at the very char of the alarm.
    pub kept: usize,
    /// The decision: [`Stop`](Decision::Stop), [`Refuse`](Decision::Refuse) if a call in these bytes must not run and
    /// nothing stops the response, else `Continue`.
    pub decision: Decision,
    /// All refusals in order, including that of `decision`. A call that is refused both for its arguments and as a call
    /// is listed once.
    pub refused: Vec<RefusedCall>,
    /// Alarms of guards that only warn or observe, and do not stop the response.
    pub warnings: Vec<Alarm>,
}

/// A call that must not run.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedCall {
    /// The alarm that refused the call.
    pub alarm: Alarm,
    /// The call's id. `None` if it is absent or not yet known, or if the refused event is not a call.
    pub id: Option<String>,
    /// The name of the tool, if known.
    pub name: Option<String>,
    /// The byte offset in the stream after the refused event.
    pub end: u64,
}

/// An event of the response, for callers that also process events. The guard has read the event, unless it had already
/// stopped.
#[derive(Clone, Copy, Debug)]
pub struct ResponseEvent<'a> {
    /// The event in the form that detectors take.
    pub event: Event<'a>,
    /// Whether the guard continues after the event.
    pub goes_on: bool,
    /// Whether the event does not occur in the stream, such as a derived turn, a silence or the end.
    pub derived: bool,
}

impl WatchedResponse {
    /// Creates a watched response whose model is not yet known. The function `think` returns the options for splitting
    /// the text of a given model into reasoning and answer.
    pub fn new(
        guards: Guards,
        think: impl Fn(&str) -> ThinkOptions + Send + Sync + 'static,
    ) -> Self {
        let reader = StreamReader::new("response", None, think(UNKNOWN_MODEL));
        Self::with(guards.guard(UNKNOWN_MODEL), reader.splitting_by(think)).by_model(guards)
    }

    /// Creates a watched response that is read by `reader` and checked by `guard`.
    pub fn with(guard: Guard, reader: StreamReader) -> Self {
        Self {
            guard,
            guards: None,
            earlier_events: Vec::new(),
            prompt: PromptInfo::default(),
            reader,
            model: None,
            silence: SilenceTimer::default(),
            turns: None,
            stops_at_refusals: false,
            chunk_end: 0,
            chunk_start: 0,
            events: 0,
            bytes_so_far: 0,
            counts: ResponseCounts::default(),
            ending: EndingWriter::default(),
            alarm: None,
            closed: false,
        }
    }

    /// Sets the guards of all models. The first model name in the stream selects one.
    #[must_use]
    pub fn by_model(mut self, guards: Guards) -> Self {
        self.guards = Some(guards);
        self
    }

    /// Makes a refused call stop the response before the refused event. It is for callers that cannot keep the client
    /// from running the call.
    #[must_use]
    pub fn stopping_at_refusals(mut self) -> Self {
        self.stops_at_refusals = true;
        self
    }

    /// Sets the request that the response answers. Its task takes part in selecting the guard, and the guard takes the
    /// user's texts.
    ///
    /// Must be called after [`by_model`](Self::by_model) and before any bytes.
    #[must_use]
    pub fn answering(mut self, prompt: PromptInfo) -> Self {
        self.prompt = prompt;
        if let Some(guards) = &self.guards {
            self.guard = guards.guard(self.model_task(UNKNOWN_MODEL));
        }
        self.push_user_texts();
        self
    }

    /// Combines a model name with the task of the request.
    fn model_task<'a>(&'a self, model: &'a str) -> ModelTask<'a> {
        ModelTask {
            model,
            task: &self.prompt.task,
        }
    }

    /// Pushes the user's texts to a fresh guard.
    fn push_user_texts(&mut self) {
        for text in &self.prompt.user {
            // Nothing has been generated that could be stopped.
            let _ = self.guard.push(&Event::User(text));
        }
    }

    /// Adds the next bytes of the response, which arrived at `now`.
    pub fn feed(&mut self, bytes: &[u8], now: u64) -> WatchStep {
        self.feed_each(bytes, now, |_| ())
    }

    /// Adds the next bytes, see [`feed`](Self::feed). Calls `each` with each event that the guard took.
    pub fn feed_each(
        &mut self,
        bytes: &[u8],
        now: u64,
        mut each: impl FnMut(&ResponseEvent<'_>),
    ) -> WatchStep {
        if self.alarm().is_some() {
            return self.stopped_step();
        }
        let mut step = WatchStep::default();
        let before = self.bytes_so_far;
        self.bytes_so_far += bytes.len() as u64;
        self.reader.feed(bytes);
        let end = self.push_arrived_events(now, &mut step, &mut each);
        step.kept = self.count_kept_bytes(bytes, before, end);
        self.ending.record(&bytes[..step.kept]);
        step
    }

    /// Ends the response. Text that was held back is checked as well.
    pub fn end(&mut self, now: u64) -> WatchStep {
        self.end_each(now, |_| ())
    }

    /// Ends the response, see [`end`](Self::end). Calls `each` with each event that the guard took.
    pub fn end_each(&mut self, now: u64, mut each: impl FnMut(&ResponseEvent<'_>)) -> WatchStep {
        if self.alarm().is_some() {
            return self.stopped_step();
        }
        let mut step = WatchStep::default();
        if std::mem::replace(&mut self.closed, true) {
            return step;
        }
        self.reader.end();
        if self
            .push_arrived_events(now, &mut step, &mut each)
            .is_none()
        {
            self.silence.on_event(&Event::Closed, now);
            self.push(&Event::Closed, true, &mut step, &mut each);
        }
        step
    }

    /// Reports to the guard that no bytes have arrived until `now`.
    pub fn silent(&mut self, now: u64) -> WatchStep {
        self.silent_each(now, |_| ())
    }

    /// Reports silence, see [`silent`](Self::silent). Calls `each` with each event that the guard took.
    pub fn silent_each(&mut self, now: u64, mut each: impl FnMut(&ResponseEvent<'_>)) -> WatchStep {
        if self.alarm().is_some() {
            return self.stopped_step();
        }
        let mut step = WatchStep::default();
        for silence in self.silence.report_silences(now) {
            if self.push(&Event::Silence(silence), true, &mut step, &mut each) {
                break;
            }
        }
        step
    }

    /// Returns the alarm that stopped the response, if one did.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    /// Returns the first model named in the stream.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the sizes of the response's parts so far.
    pub fn counts(&self) -> ResponseCounts {
        self.counts
    }

    /// Returns the number of bytes of the response so far.
    pub fn bytes(&self) -> u64 {
        self.bytes_so_far
    }

    /// Returns the response's format. `None` until it is recognised.
    pub fn format(&self) -> Option<StreamFormat> {
        self.reader.format()
    }

    /// Returns the number of unreadable lines. In plain text, the number of byte sequences that are not UTF-8.
    pub fn bad_lines(&self) -> u64 {
        self.reader.bad_lines()
    }

    /// Returns the first problems with unreadable lines.
    pub fn problems(&self) -> &[Problem] {
        self.reader.problems()
    }

    /// Returns the server's first error messages.
    pub fn errors(&self) -> &[String] {
        self.reader.errors()
    }

    /// Returns the bytes that end a response cut at this point, in the format of its API. Empty if the API is unknown.
    pub fn ending(&self) -> Vec<u8> {
        self.ending.bytes()
    }

    /// Returns the kinds of events that this stream can bring. `None` until the format is recognised.
    ///
    /// These are only text for plain text, what a server sends for API chunks, and all kinds for transcript events.
    pub fn feeds(&self) -> Option<Feeds> {
        let text = [Feed::Reasoning, Feed::Answer, Feed::Silence, Feed::Ends];
        Some(match self.reader.format()? {
            StreamFormat::Text => text.into_iter().collect(),
            _ if self.reader.may_be_run() => Feeds::ALL,
            StreamFormat::Jsonl | StreamFormat::Sse => Feeds::RESPONSE.with(Feed::Turns),
        })
    }

    fn stopped_step(&self) -> WatchStep {
        WatchStep {
            decision: self
                .alarm()
                .cloned()
                .map_or(Decision::Continue, Decision::Stop),
            ..WatchStep::default()
        }
    }

    /// Pushes the finished events to the guard. Returns the byte offset at which the response is cut, if it is cut.
    fn push_arrived_events(
        &mut self,
        now: u64,
        step: &mut WatchStep,
        each: &mut impl FnMut(&ResponseEvent<'_>),
    ) -> Option<u64> {
        while let Some(arrival) = self.reader.next_event() {
            self.select_guard();
            // The end of a call that a later chunk completes is its own, not that of the chunk.
            if arrival.end > self.chunk_end {
                (self.chunk_start, self.chunk_end) = (self.chunk_end, arrival.end);
            }
            let event = arrival.event.borrowed();
            if self.push_derived_before(&event, now, step, each) {
                // The event has arrived, even if an earlier one raised an alarm.
                each(&ResponseEvent {
                    event,
                    goes_on: false,
                    derived: false,
                });
                return Some(self.offset_before(&arrival));
            }
            let before = self.counts;
            self.count_event(&event);
            if self.push(&event, false, step, each) {
                return Some(self.cut_offset(&arrival, before));
            }
            if let Some(refused) = step.refused.last_mut().filter(|last| last.end == 0) {
                refused.end = arrival.end;
            }
        }
        self.select_guard();
        None
    }

    /// Pushes the derived events that precede this event, silence and a turn, to the guard. Returns whether the guard
    /// stops.
    fn push_derived_before(
        &mut self,
        event: &Event<'_>,
        now: u64,
        step: &mut WatchStep,
        each: &mut impl FnMut(&ResponseEvent<'_>),
    ) -> bool {
        let silences = self.silence.on_event(event, now);
        let mut silences = silences.into_iter().map(Event::Silence);
        if silences.any(|silence| self.push(&silence, true, step, each)) {
            return true;
        }
        self.begins_turn(event) && self.push(&Event::Turn { agent: None }, true, step, each)
    }

    /// Returns whether a turn that the stream does not report begins before this event.
    fn begins_turn(&mut self, event: &Event<'_>) -> bool {
        let objects = self.reader.format() != Some(StreamFormat::Text);
        let turns = self.turns.get_or_insert_with(|| TurnFinder::new(objects));
        turns.begins_turn(event)
    }

    fn count_event(&mut self, event: &Event<'_>) {
        let seen = &mut self.counts;
        match event {
            Event::Text(channel, text) => {
                let chars = match channel {
                    TextChannel::Reasoning => &mut seen.reasoning,
                    TextChannel::Answer => &mut seen.answer,
                    TextChannel::Arguments => &mut seen.arguments,
                };
                *chars = *chars + Chars::count(text);
            }
            Event::Call { .. } => seen.calls = seen.calls + Calls(1),
            _ => {}
        }
    }

    /// Pushes one event to the guard and returns whether the guard stops. `derived` events do not occur in the stream.
    fn push(
        &mut self,
        event: &Event<'_>,
        derived: bool,
        step: &mut WatchStep,
        each: &mut impl FnMut(&ResponseEvent<'_>),
    ) -> bool {
        let PushResult { decision, warnings } = self.guard.push(event);
        if self.guards.is_some() {
            self.earlier_events.push(event.owned());
        }
        // Derived events share the number of the next event of the stream.
        let number = self.events;
        let counts = !derived && !matches!(event, Event::Text(TextChannel::Arguments, _));
        self.events += u64::from(counts);
        let complete_alarm = |mut alarm: Alarm| {
            if let Some(turns) = &self.turns {
                turns.correct_turn_count(&mut alarm);
            }
            alarm.event = number;
            alarm
        };
        step.warnings
            .extend(warnings.into_iter().map(complete_alarm));
        let of_call = matches!(
            event,
            Event::Call { .. } | Event::Text(TextChannel::Arguments, _)
        );
        match decision {
            Decision::Continue => {}
            Decision::Refuse(alarm) if !(self.stops_at_refusals && of_call) => {
                record_refusal(step, event, complete_alarm(alarm));
            }
            Decision::Stop(alarm) | Decision::Refuse(alarm) => {
                let alarm = complete_alarm(alarm);
                self.alarm = Some(alarm.clone());
                step.decision = Decision::Stop(alarm);
            }
        }
        let goes_on = self.alarm.is_none();
        each(&ResponseEvent {
            event: *event,
            goes_on,
            derived,
        });
        !goes_on
    }

    /// Switches to the guard of the first named model, and pushes the earlier events to it.
    fn select_guard(&mut self) {
        if self.model.is_some() {
            return;
        }
        self.model = self.reader.model().map(str::to_owned);
        if self.model.is_none() && self.bytes_so_far <= MAX_BYTES_BEFORE_MODEL {
            return;
        }
        let Some(guards) = self.guards.take() else {
            return;
        };
        let own = guards.guard(self.model_task(self.model().unwrap_or(UNKNOWN_MODEL)));
        if !own.has_setting_of(&self.guard) {
            self.guard = own;
            self.push_user_texts();
            for event in &self.earlier_events {
                // If the guard stops at one of these, the next push returns the alarm again.
                let _ = self.guard.push(&event.borrowed());
            }
        }
        (self.earlier_events, self.prompt.user) = (Vec::new(), Vec::new());
    }

    /// Returns the byte offset before an event, at which the response is cut.
    fn offset_before(&self, arrival: &Arrival) -> u64 {
        match (&arrival.event, self.reader.format()) {
            (OwnedEvent::Text(_, text), Some(StreamFormat::Text)) => {
                arrival.end.saturating_sub(text.len() as u64)
            }
            _ => arrival.end,
        }
    }

    /// Returns the byte offset at which the response is cut for an event's alarm: the end of the event, or the
    /// beginning of a refused call. Plain text, whose pieces may have any length, is cut right after the char of the
    /// alarm.
    fn cut_offset(&self, arrival: &Arrival, before: ResponseCounts) -> u64 {
        if self
            .alarm()
            .is_some_and(|alarm| alarm.response == Response::Refuse)
        {
            return self.chunk_start;
        }
        let (OwnedEvent::Text(channel, text), Some(StreamFormat::Text), Some(alarm)) =
            (&arrival.event, self.reader.format(), self.alarm())
        else {
            return arrival.end;
        };
        let before = match channel {
            TextChannel::Reasoning => before.reasoning,
            _ => before.answer,
        };
        let known = alarm.exact.since(before.into());
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        let after = text.char_indices().nth(known);
        arrival.end - after.map_or(0, |(at, _)| (text.len() - at) as u64)
    }

    /// Returns the number of newly arrived bytes to forward. With a server-sent event, the blank line that ends it is
    /// forwarded, if it has arrived.
    fn count_kept_bytes(&self, bytes: &[u8], before: u64, end: Option<u64>) -> usize {
        let Some(end) = end else {
            return bytes.len();
        };
        // The end may lie before these bytes, in text that was passed on already.
        let kept = usize::try_from(end.saturating_sub(before)).unwrap_or(usize::MAX);
        let kept = kept.min(bytes.len());
        let blank = match &bytes[kept..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [b'\r', ..] => 1,
            _ => 0,
        };
        match self.reader.format() {
            Some(StreamFormat::Sse) => kept + blank,
            _ => kept,
        }
    }
}

/// Records a refusal. If arguments were refused before their call was known, the call's refusal with the same alarm
/// replaces it.
fn record_refusal(step: &mut WatchStep, event: &Event<'_>, alarm: Alarm) {
    let (id, name) = match event {
        Event::Call { id, name, .. } => (id.map(str::to_owned), Some((*name).to_owned())),
        _ => (None, None),
    };
    step.decision = Decision::Refuse(alarm.clone());
    step.refused.retain(|refused| refused.alarm != alarm);
    step.refused.push(RefusedCall {
        alarm,
        id,
        name,
        end: 0,
    });
}

impl std::fmt::Debug for WatchedResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched")
            .field("guard", &self.guard)
            .field("model", &self.model)
            .field("fed", &self.bytes_so_far)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::Settings;

    const CALL: &str = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":N,"id":"cN","function":{"name":"ls","arguments":"{}"}}]}}]}"#;

    /// Returns five calls in this format, as a stream.
    fn five(call: &str) -> String {
        let calls = (0..5).map(|n| call.replace('N', &n.to_string()) + "\n\n");
        calls.collect()
    }

    fn guards(settings: &str) -> Guards {
        Guards::new(&Settings::parse(settings).unwrap()).unwrap()
    }

    fn watched(guards: &Guards) -> WatchedResponse {
        WatchedResponse::new(guards.clone(), |_| ThinkOptions::default())
    }

    /// Checks each response of a guard to five equal calls, of which only two are allowed: the kept bytes, the decision
    /// and the warnings.
    #[test]
    fn each_response_does_what_it_says() {
        let stream = five(CALL);
        let wanted = [
            ("stop", true, 0, 0),
            ("refuse", false, 3, 0),
            ("warn", false, 0, 1),
            ("observe", false, 0, 1),
        ];
        for (response, stops, refused, warned) in wanted {
            let text = format!("[[guard]]\ndetector = \"duplicate\"\nresponse = \"{response}\"");
            let mut watched = watched(&guards(&text));
            let fed = watched.feed(stream.as_bytes(), 0);
            let ended = watched.end(0);
            assert_eq!(watched.alarm().is_some(), stops, "{response}");
            assert_eq!(fed.decision.stops(), stops, "{response}");
            let calls = fed.refused.len() + ended.refused.len();
            let warnings = fed.warnings.len() + ended.warnings.len();
            assert_eq!((calls, warnings), (refused, warned), "{response}");
            assert_eq!(fed.kept < stream.len(), stops, "{response}");
        }
    }

    /// Checks that the chunk that completes a refused call is withheld, in any format of calls.
    #[test]
    fn a_refusal_can_end_the_response() {
        let gemini = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{"a":1},"id":"cN"}}]}}]}"#;
        let text = "[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"";
        let guards = guards(text);
        for call in [CALL, gemini] {
            let stream = five(call);
            let mut watched = watched(&guards).stopping_at_refusals();
            let step = watched.feed(stream.as_bytes(), 0);
            assert!(step.decision.stops() && step.refused.is_empty());
            let kept = &stream[..step.kept];
            assert!(kept.ends_with("\n\n"), "{kept}");
            let last = kept.trim_end().lines().last().unwrap();
            assert!(last.contains("c1"), "{last}");
            assert_eq!(watched.end(0).decision, step.decision);
        }
    }

    /// Checks that the guard for the model at the task has the user's texts, before and after the model is named.
    #[test]
    fn what_is_answered_chooses_the_guard_and_is_heard_by_it() {
        let text = "prompt = \"skip\"\n[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"m\"\ntask = \"drill\"\n\
                    [[model.guard]]\ndetector = \"periodic\"\nenabled = false\n";
        let guards = guards(text);
        let chunk = r#"data: {MODEL"choices":[{"delta":{"content":"Once more. "}}]}"#;
        let stops = |model: &str, task: &str, user: &[String]| {
            let mut watched = watched(&guards).answering(PromptInfo {
                task: task.to_owned(),
                user: user.to_vec(),
            });
            let stream = (chunk.replace("MODEL", model) + "\n\n").repeat(60);
            watched.feed(stream.as_bytes(), 0).decision.stops()
        };
        let said = "Once more. ".repeat(70);
        let in_parts = ["Hello.".to_owned(), said.clone(), "Now you.".to_owned()];
        for model in ["", "\"model\":\"m\",", "\"model\":\"other\","] {
            assert!(stops(model, "", &[]), "{model}");
            assert!(!stops(model, "", std::slice::from_ref(&said)), "{model}");
            assert!(!stops(model, "", &in_parts), "{model}");
            assert!(stops(model, "", &["Once more. ".repeat(7)]), "{model}");
            let own = model.contains("\"m\"");
            assert_eq!(stops(model, "drill", &[]), !own, "{model}");
        }
    }

    fn periodic() -> WatchedResponse {
        watched(&guards("[[guard]]\ndetector = \"periodic\""))
    }

    /// Checks that LF, CR LF and CR line ends give the same result, for any chunks.
    #[test]
    fn lines_may_end_with_a_carriage_return_alone() {
        let chunk =
            "event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"Let me look at it. \"}}]}\n\n";
        let told = |end: &str, size: usize| {
            let mut watched = periodic();
            let text = chunk.repeat(300).replace('\n', end);
            let mut kept = 0;
            for bytes in text.as_bytes().chunks(size) {
                let step = watched.feed(bytes, 0);
                kept += step.kept;
                if step.decision.stops() {
                    break;
                }
            }
            assert_eq!(watched.format(), Some(StreamFormat::Sse));
            assert_eq!(watched.bad_lines(), 0);
            let events = kept / chunk.replace('\n', end).len();
            (watched.alarm().cloned(), events)
        };
        let (alarm, events) = told("\n", 1 << 20);
        assert!(alarm.is_some());
        for (end, size) in [("\r\n", 1 << 20), ("\r", 1 << 20), ("\r", 7), ("\r\n", 1)] {
            let (other, after) = told(end, size);
            assert_eq!(other, alarm, "{end:?} {size}");
            assert!(after.abs_diff(events) <= 1, "{after} of {events}");
        }
    }

    /// Checks that invalid JSON is counted and forwarded, and reading continues after it. Some servers write NaN and
    /// half a surrogate pair.
    #[test]
    fn what_is_no_json_is_counted_and_passed() {
        let mut watched = periodic();
        let bad = [
            r#"data: {"choices":[{"delta":{"content":"x"},"score":NaN}]}"#,
            r#"data: {"choices":[{"delta":{"content":"\ud83d"}}]}"#,
        ];
        let good = r#"data: {"choices":[{"delta":{"content":"The sea. "}}]}"#;
        for (n, line) in bad.iter().enumerate() {
            let text = format!("{good}\n\n{line}\n\n{good}\n\n");
            let step = watched.feed(text.as_bytes(), 0);
            assert_eq!((step.kept, step.decision), (text.len(), Decision::Continue));
            assert_eq!(watched.bad_lines(), n as u64 + 1);
            assert_eq!(watched.problems()[n].place.line, n as u64 * 6 + 3);
        }
        assert_eq!(watched.counts().answer, Chars(4 * 9));
    }

    /// Checks that the first name selects the guard, later names do not change it, and the guard gets the earlier
    /// events.
    #[test]
    fn a_response_has_one_guard_whenever_its_model_is_named() {
        let text = "[[guard]]\ndetector = \"periodic\"\n[[model]]\nmatch = \"b\"\n[[model.guard]]\ndetector = \"periodic\"\n\
                    [model.guard.params]\nmin_copies = 20\nmin_single = 2000";
        let guards = guards(text);
        let alarm = |name: &dyn Fn(usize) -> &'static str| {
            let mut watched = watched(&guards);
            for n in 0..400 {
                let delta = ["reasoning_content", "content"][usize::from(n > 3)];
                let said = format!("{{\"delta\":{{\"{delta}\":\"Let me look at the map. \"}}}}");
                let head = format!("data: {{\"id\":\"c{n}\",{}", name(n));
                let chunk = format!("{head}\"choices\":[{said}]}}\n\n");
                let _ = watched.feed(chunk.as_bytes(), 0);
            }
            let model = watched.model().map(str::to_owned);
            (model, watched.alarm().map(|alarm| alarm.exact.count()))
        };
        let (a, b) = ("\"model\":\"a\",", "\"model\":\"b\",");
        let other = "\"model\":\"a-2026-01-01\",";
        let (first, own) = (alarm(&|_| a), alarm(&|_| b));
        assert!(own.1 > first.1 && first.1.is_some(), "{own:?} {first:?}");
        assert_eq!(alarm(&|n| [a, other][n % 2]), first);
        for late in [1, 5, 8] {
            assert_eq!(alarm(&|n| if n < late { "" } else { a }), first, "{late}");
            assert_eq!(alarm(&|n| if n < late { "" } else { b }), own, "{late}");
        }
        assert_eq!(alarm(&|_| "").1, first.1);
    }
}
