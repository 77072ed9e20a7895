//! [`Judge`]: one response under watch, and what of its bytes the client gets.

use std::time::Instant;

use deadloop_stream::detect::{Alarm, Guards};
use deadloop_stream::{Passed, Prompted, Refusing, StreamFormat, StreamReader, Watched};

use crate::ProxyOptions;

/// The longest line that is watched, and the longest answer that is not streamed, in bytes. What is longer is passed on and
/// counted. Events of the APIs are far shorter, but for those that repeat a whole request or answer.
const LINE: usize = 1 << 20;
/// What stands for the model's name where none is known.
const UNNAMED: &str = "unknown";

/// How the body of a response that is watched is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A stream.
    Streamed(StreamFormat),
    /// One JSON object, which is there when all of it is. Only calls in it can be refused.
    Whole,
}

/// What followed an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Nothing: it only warns or observes, or it is a refusal and there was no call to refuse.
    Nothing,
    /// A text went on in place of the call.
    Replaced,
    /// The response was ended.
    Ended,
}

/// One response under watch.
pub(crate) struct Judge {
    refusing: Refusing,
    /// What has come of an answer that is not streamed, while it is short enough to wait.
    held: Vec<u8>,
    written: Written,
    /// Whether an answer that is not streamed is too long to wait.
    long: bool,
    /// What nobody has asked for.
    news: Vec<(Alarm, Followed)>,
    began: Instant,
}

impl Judge {
    /// `written` as the response's content type says, `asked` as the request says.
    pub(crate) fn new(options: &ProxyOptions, written: Written, asked: Prompted) -> Self {
        let (format, guards) = match written {
            Written::Streamed(format) => (format, None),
            // It has been generated: nothing of it can be stopped.
            Written::Whole => (StreamFormat::Jsonl, options.guards.only_refusing()),
        };
        let guards = guards.unwrap_or(options.guards.clone());
        let refusing = watch(options, (&guards, asked), format);
        Self {
            refusing,
            held: Vec::new(),
            written,
            long: false,
            news: Vec::new(),
            began: Instant::now(),
        }
    }

    /// The model that the response has named.
    pub(crate) fn model(&self) -> &str {
        self.refusing.watched().model().unwrap_or(UNNAMED)
    }

    /// How many lines of a stream no guard could read, so far.
    pub(crate) fn unread(&self) -> u64 {
        match self.written {
            Written::Streamed(_) => self.refusing.watched().bad_lines(),
            Written::Whole => 0,
        }
    }

    /// Takes the alarms that have not been asked for yet, in their order, and what followed each.
    pub(crate) fn news(&mut self) -> Vec<(Alarm, Followed)> {
        std::mem::take(&mut self.news)
    }

    /// Judges that nothing has come for a while; `bytes` become what the client gets. Whether the response ends there.
    pub(crate) fn silence(&mut self, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let streamed = self.written != Written::Whole;
        streamed && {
            let passed = self.refusing.silent(self.now());
            self.pass(passed, bytes)
        }
    }

    /// Judges the bytes that have arrived (none: the response has ended), which become what the client gets. Whether the
    /// response ends there.
    pub(crate) fn judge(&mut self, bytes: &mut Vec<u8>) -> bool {
        let now = self.now();
        if self.written == Written::Whole {
            return self.wait(bytes, now);
        }
        let arrived = std::mem::take(bytes);
        let passed = if arrived.is_empty() {
            self.refusing.end(now)
        } else {
            self.refusing.feed(&arrived, now)
        };
        let ended = self.pass(passed, bytes);
        if ended || arrived.is_empty() {
            return ended;
        }
        // Comments that only keep the connection open are no event: the guard hears how long there was none.
        let passed = self.refusing.silent(now);
        self.pass(passed, bytes)
    }

    /// An answer that is not streamed waits for its end, unless it is too long: then it goes on as it comes.
    fn wait(&mut self, bytes: &mut Vec<u8>, now: u64) -> bool {
        let ended = bytes.is_empty();
        if self.long {
            return false;
        }
        self.held.append(bytes);
        self.long = self.held.len() > LINE;
        match (self.long, ended) {
            (true, _) => *bytes = std::mem::take(&mut self.held),
            (false, true) => {
                let passed = self.refusing.answer(&self.held, now);
                return self.pass(passed, bytes);
            }
            (false, false) => {}
        }
        false
    }

    /// Notes what there is to tell. Whether the response ends here.
    fn pass(&mut self, passed: Passed, bytes: &mut Vec<u8>) -> bool {
        bytes.extend(passed.bytes);
        let mut note = |alarms: Vec<Alarm>, followed| {
            let alarms = alarms.into_iter();
            self.news.extend(alarms.map(|alarm| (alarm, followed)));
        };
        note(passed.warnings, Followed::Nothing);
        note(passed.replaced, Followed::Replaced);
        let ended = passed.ended.is_some();
        self.news
            .extend(passed.ended.map(|alarm| (alarm, Followed::Ended)));
        ended
    }

    /// Milliseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A response that nothing has come of, under these guards.
fn watch(
    options: &ProxyOptions,
    (guards, asked): (&Guards, Prompted),
    format: StreamFormat,
) -> Refusing {
    let rules = options.think.clone();
    let reader = StreamReader::new("upstream", Some(format), rules.options(UNNAMED));
    let reader = reader.with_lines_up_to(LINE);
    let reader = reader.splitting_by(move |model| rules.options(model));
    let watched = Watched::with(guards.guard(UNNAMED), reader).by_model(guards.clone());
    Refusing::new(watched.answering(asked), guards.refuses())
}
