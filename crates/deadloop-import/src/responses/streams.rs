//! [`Streams`]: the responses of a file, built from an API's objects.
//!
//! The objects are chunks of streams, which may be interleaved, or whole responses.
//!
//! A chunk belongs to the open response with its name, otherwise to the response with the last chunk. A response ends
//! by its own mark, at `[DONE]`, or at the end of the file.
//!
//! Some servers give each chunk an id of its own, which does not identify a response. So chunks wait if their id is
//! unknown and they do not begin a response. A second chunk with one of the ids shows that ids are names, and each
//! chunk is a response. Without a second chunk, they are one response.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::reader::{Intake, RecordReader};
use crate::responses::envelope::{self, Payload};
use crate::responses::response::PartialResponse;
use crate::source::head::{FamilyMatch, FormatCertainty, SourceHead};
use crate::source::records::{RecordContent, SourceRecord};
use deadloop_corpus::Place;
use deadloop_stream::fields::Object;
use deadloop_stream::reader::content::ObjectContent;
use deadloop_stream::reader::families::agent::is_replay;
use deadloop_stream::reader::families::{self, Family};
use deadloop_stream::wire::WireFault;

/// The maximum number of finished responses that still wait for their usage.
const FINISHED: usize = 16;
/// The maximum number of open responses. Beyond it, the oldest counts as cut.
const OPEN: usize = 1024;

/// The maximum number of chunks that wait for a second one with their id. This is also the number of responses that may
/// begin at the same time.
const WAITING: usize = 64;

/// Returns the certainty that the first known object of a file is of this family.
pub(crate) fn knows(head: &SourceHead, family: &'static Family) -> FormatCertainty {
    match head.family.get_or_init(|| find_family(head)) {
        Some((of, true)) if of.name == family.name => FormatCertainty::Certain,
        // Agents' sessions hold an API's responses, and are recognized by the data around them.
        Some((of, false)) if of.name == family.name => FormatCertainty::Enclosed,
        _ => FormatCertainty::No,
    }
}

/// Returns the family of the first object that some family recognizes.
fn find_family(head: &SourceHead) -> Option<FamilyMatch> {
    head.objects().find_map(|object| {
        if let Some(of) = families::recognize(object) {
            return Some((of, true));
        }
        let inner = Cell::new(None);
        let known = |object: &Object| {
            inner.set(inner.get().or(families::recognize(object)));
            inner.get().is_some()
        };
        envelope::holds(object, &known);
        Some((inner.get()?, false))
    })
}

/// A reader of records of one family.
pub(crate) struct Streams {
    family: &'static Family,
    /// Whether the file is a log of several speakers. `[DONE]` then ends all open responses, and names are speakers.
    session: bool,
    /// Hashes of a session's events, since a reconnect replays its history.
    sent: HashSet<u64>,
    /// The open responses, the last used one last.
    open: Vec<PartialResponse>,
    waiting: PendingChunks,
}

/// Chunks with unknown ids that do not begin a response.
#[derive(Default)]
struct PendingChunks {
    chunks: Vec<(ObjectContent, Payload, Place)>,
    /// Whether an id came twice, which shows that ids are names of responses.
    named: bool,
    /// Number of records that could not be read while chunks wait.
    gaps: u64,
}

impl Streams {
    /// Creates a reader of responses and streams of responses.
    pub(crate) fn new(family: &'static Family) -> Self {
        Self {
            family,
            session: false,
            sent: HashSet::new(),
            open: Vec::new(),
            waiting: PendingChunks::default(),
        }
    }

    /// Creates a reader of logs of several speakers, whose responses all end at `[DONE]`.
    pub(crate) fn session(family: &'static Family) -> Self {
        Self {
            session: true,
            ..Self::new(family)
        }
    }

    /// Adds an object that may be in an envelope.
    pub(crate) fn object(
        &mut self,
        object: Object,
        place: &Place,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let known = |object: &_| (self.family.knows)(object);
        let mut opened = envelope::open(object, &known, out)?;
        if let Some(check) = self.family.check {
            check(&opened.object)?;
        }
        if self.session && self.is_replayed(&mut opened.object) {
            out.losses.add("[] (replayed, and recorded before)");
            return Ok(());
        }
        let said = (self.family.read)(std::mem::take(&mut opened.object))?;
        self.add_object(said, opened, place, out);
        Ok(())
    }

    /// Returns whether an event is marked as a replay and came before, by its id or its whole content.
    fn is_replayed(&mut self, event: &mut Object) -> bool {
        let replay = is_replay(event);
        let id = event.get("payload").and_then(|payload| payload.get("id"));
        let mut hasher = DefaultHasher::new();
        match id.filter(|id| !id.is_null()) {
            Some(id) => (event.get("agent_source"), id).hash(&mut hasher),
            None => event.hash(&mut hasher),
        }
        !self.sent.insert(hasher.finish()) && replay
    }

    /// Adds an object and the data of its envelope.
    fn add_object(
        &mut self,
        said: ObjectContent,
        opened: Payload,
        place: &Place,
        out: &mut Intake,
    ) {
        for (path, rest) in &said.rest {
            out.losses.rest(path, rest);
        }
        if said.is_empty() {
            return;
        }
        let waits = self.must_wait(&said);
        if waits {
            let full = self.waiting.chunks.len() + 1 >= WAITING;
            let settles = full || PartialResponse::is_end(&said);
            self.waiting.chunks.push((said, opened, place.clone()));
            if settles {
                self.end_waiting(out);
            }
            return;
        }
        self.end_waiting(out);
        self.add(said, opened, place, out);
    }

    /// Returns whether an object has to wait until its response is known. Also notes whether ids name responses.
    fn must_wait(&mut self, said: &ObjectContent) -> bool {
        let Some(name) = said.response.as_ref().filter(|_| !self.session) else {
            return false;
        };
        let waiting = &mut self.waiting;
        if waiting.named {
            return false;
        }
        let of = |other: &Option<String>| other.as_ref() == Some(name);
        waiting.named = self.open.iter().any(|open| of(&open.name))
            || waiting.chunks.iter().any(|(said, ..)| of(&said.response));
        !waiting.named && said.goes_on && !self.open.iter().any(|open| open.is_of(said))
    }

    /// Ends the waiting of chunks.
    ///
    /// They continue or begin one response, or begin one each if ids are names.
    fn end_waiting(&mut self, out: &mut Intake) {
        let chunks = std::mem::take(&mut self.waiting.chunks);
        let Some((first, ..)) = chunks.first() else {
            return;
        };
        let goes_on = |last: &&mut PartialResponse| {
            !last.is_done() && last.name.is_some() && last.may_be_by(first)
        };
        let mut renamed = self.waiting.named;
        if !renamed && let Some(last) = self.open.last_mut().filter(goes_on) {
            last.renamed = true;
            renamed = true;
        }
        for (said, opened, place) in chunks {
            self.add(said, opened, &place, out);
            // The first chunk begins the response.
            if !std::mem::replace(&mut renamed, true)
                && let Some(begun) = self.open.last_mut()
            {
                begun.renamed = true;
            }
        }
        let gaps = std::mem::take(&mut self.waiting.gaps);
        if let Some(last) = self.open.last_mut() {
            last.gaps += gaps;
        }
    }

    /// Adds an object to its response.
    fn add(&mut self, said: ObjectContent, opened: Payload, place: &Place, out: &mut Intake) {
        let at = self.response(&said, place, out);
        let mut response = self.open.remove(at);
        response.add(said, opened, place, out, self.family.tags);
        if response.ended {
            self.emit(response, out)
        } else {
            self.open.push(response)
        }
    }

    /// Returns the index in `open` of an object's response.
    fn response(&mut self, said: &ObjectContent, place: &Place, out: &mut Intake) -> usize {
        let found = if said.begins {
            None
        } else {
            let named = |open: &PartialResponse| open.name.is_some() && open.name == said.response;
            let found = self.open.iter().rposition(named);
            found.or_else(|| self.open.iter().rposition(|open| open.is_of(said)))
        };
        match found {
            Some(at) if self.session || !self.open[at].goes_on_without(said) => at,
            Some(at) => {
                let finished = self.open.remove(at);
                self.emit(finished, out);
                self.begin(said, place, out)
            }
            None => self.begin(said, place, out),
        }
    }

    fn begin(&mut self, said: &ObjectContent, place: &Place, out: &mut Intake) -> usize {
        if said.begins {
            // Chunks of this family have no name of a response, so one is open at a time.
            self.emit_all(|_| true, out);
        }
        let finished = self
            .open
            .iter()
            .filter(|response| response.is_done())
            .count();
        if finished > FINISHED
            && let Some(at) = self.open.iter().position(PartialResponse::is_done)
        {
            let response = self.open.remove(at);
            self.emit(response, out);
        }
        if self.open.len() >= OPEN {
            let response = self.open.remove(0);
            self.emit(response, out);
        }
        self.open.push(PartialResponse::new(said, place));
        self.open.len() - 1
    }

    /// Ends the finished responses at `[DONE]`, or the last used one if none is finished.
    fn done(&mut self, out: &mut Intake) {
        self.end_waiting(out);
        self.close(out);
        // Later chunks may be from another server.
        self.waiting.named &= !self.open.is_empty();
    }

    fn close(&mut self, out: &mut Intake) {
        if !self.session && self.open.iter().any(PartialResponse::is_done) {
            return self.emit_all(PartialResponse::is_done, out);
        }
        let last = self.open.len().saturating_sub(1);
        let from = if self.session { 0 } else { last };
        self.open
            .iter_mut()
            .skip(from)
            .for_each(|response| response.ended = true);
        self.emit_all(|response| response.ended, out);
    }

    fn emit_all(&mut self, which: impl Fn(&PartialResponse) -> bool, out: &mut Intake) {
        let (ready, open) = std::mem::take(&mut self.open).into_iter().partition(which);
        self.open = open;
        let mut ready: Vec<PartialResponse> = ready;
        ready.sort_by(|one, other| one.place.cmp(&other.place));
        ready
            .into_iter()
            .for_each(|response| self.emit(response, out));
    }

    fn emit(&self, mut response: PartialResponse, out: &mut Intake) {
        if self.session
            && let Some(name) = response.name.take()
        {
            response
                .meta
                .insert("agent".to_owned(), Value::String(name));
        }
        response.emit(self.session, out);
    }
}

impl RecordReader for Streams {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        if matches!(record.content, RecordContent::Done) {
            self.done(out);
            return Ok(());
        }
        let place = record.place.clone();
        if let RecordContent::Line(text) = &record.content
            && let Some(mut said) = self.family.quick.and_then(|quick| quick(text))
        {
            let opened = Payload::without_envelope(said.rest_of(""));
            self.add_object(said, opened, &place, out);
            return Ok(());
        }
        self.object(record.object()?, &place, out)
    }

    fn gap(&mut self) {
        let open = self.open.iter_mut().filter(|response| !response.is_done());
        open.for_each(|response| response.gaps += 1);
        self.waiting.gaps += u64::from(!self.waiting.chunks.is_empty());
    }

    fn end(&mut self, out: &mut Intake) {
        self.end_waiting(out);
        self.emit_all(|_| true, out);
    }
}
