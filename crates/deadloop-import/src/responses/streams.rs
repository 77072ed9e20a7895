//! [`Streams`]: the responses of a file, built from an API's objects.
//!
//! The objects are whole responses, or chunks of streams, which may be interleaved.
//!
//! A chunk belongs to the open response with its name, otherwise to the response with the last chunk. A response ends
//! by a mark in one of its chunks, at `[DONE]`, or at the end of the file.
//!
//! Some servers give each chunk an id of its own, which does not identify a response. So a chunk waits if its id is
//! unknown and it does not begin a response. If a second chunk has one of the ids, ids are names of responses, and each
//! waiting chunk is a response. Otherwise the waiting chunks are one response.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

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
const MAX_FINISHED: usize = 16;
/// The maximum number of open responses. One more ends the oldest, which then counts as cut.
const MAX_OPEN: usize = 1024;

/// The maximum number of chunks that wait for a second chunk with their id.
const MAX_WAITING: usize = 64;

/// Returns the certainty that the first known object of a file is of this family.
pub(crate) fn certainty_of(head: &SourceHead, family: &'static Family) -> FormatCertainty {
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
    /// Whether the file is a log of several speakers. `[DONE]` ends all responses of such a log, and names are speakers.
    session: bool,
    /// Hashes of the events of a session, since a reconnect replays the history.
    seen: HashSet<u64>,
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
            seen: HashSet::new(),
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

    /// Reads an object that may be in an envelope.
    pub(crate) fn read_object(
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
        let content = (self.family.read)(std::mem::take(&mut opened.object))?;
        self.add_object(content, opened, place, out);
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
        !self.seen.insert(hasher.finish()) && replay
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
            out.losses.add_rest(path, rest);
        }
        if said.is_empty() {
            return;
        }
        if self.must_wait(&said) {
            let full = self.waiting.chunks.len() + 1 >= MAX_WAITING;
            let ends = full || PartialResponse::is_end(&said);
            self.waiting.chunks.push((said, opened, place.clone()));
            if ends {
                self.end_waiting(out);
            }
            return;
        }
        self.end_waiting(out);
        self.add(said, opened, place, out);
    }

    /// Returns whether an object has to wait until its response is known. Also records whether ids name responses.
    fn must_wait(&mut self, said: &ObjectContent) -> bool {
        let Some(name) = said.response.as_ref().filter(|_| !self.session) else {
            return false;
        };
        let waiting = &mut self.waiting;
        if waiting.named {
            return false;
        }
        let is_same = |other: &Option<String>| other.as_ref() == Some(name);
        waiting.named = self.open.iter().any(|open| is_same(&open.name))
            || waiting
                .chunks
                .iter()
                .any(|(said, ..)| is_same(&said.response));
        !waiting.named && said.goes_on && !self.open.iter().any(|open| open.contains(said))
    }

    /// Ends the waiting of chunks. They belong to one response, or to one each if ids are names.
    fn end_waiting(&mut self, out: &mut Intake) {
        let chunks = std::mem::take(&mut self.waiting.chunks);
        let Some((first, ..)) = chunks.first() else {
            return;
        };
        let goes_on = |last: &&mut PartialResponse| {
            !last.is_done() && last.name.is_some() && last.may_share_model(first)
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
        let at = self.find_response(&said, place, out);
        let mut response = self.open.remove(at);
        response.add(said, opened, place, out, self.family.tags);
        if response.ended {
            self.emit(response, out)
        } else {
            self.open.push(response)
        }
    }

    /// Returns the index in `open` of an object's response.
    fn find_response(&mut self, said: &ObjectContent, place: &Place, out: &mut Intake) -> usize {
        let found = if said.begins {
            None
        } else {
            let named = |open: &PartialResponse| open.name.is_some() && open.name == said.response;
            let found = self.open.iter().rposition(named);
            found.or_else(|| self.open.iter().rposition(|open| open.contains(said)))
        };
        match found {
            Some(at) if self.session || !self.open[at].is_done_before(said) => at,
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
        let finished = self.open.iter().filter(|response| response.is_done());
        if finished.count() > MAX_FINISHED
            && let Some(at) = self.open.iter().position(PartialResponse::is_done)
        {
            let response = self.open.remove(at);
            self.emit(response, out);
        }
        if self.open.len() >= MAX_OPEN {
            let response = self.open.remove(0);
            self.emit(response, out);
        }
        self.open.push(PartialResponse::new(said, place));
        self.open.len() - 1
    }

    /// Ends the finished responses at `[DONE]`, or the last used one if none is finished.
    fn end_marked(&mut self, out: &mut Intake) {
        self.end_waiting(out);
        if !self.session && self.open.iter().any(PartialResponse::is_done) {
            self.emit_all(PartialResponse::is_done, out);
        } else {
            let last = self.open.len().saturating_sub(1);
            let from = if self.session { 0 } else { last };
            let ended = self.open.iter_mut().skip(from);
            ended.for_each(|response| response.ended = true);
            self.emit_all(|response| response.ended, out);
        }
        // Later chunks may be from another server.
        self.waiting.named &= !self.open.is_empty();
    }

    fn emit_all(&mut self, which: impl Fn(&PartialResponse) -> bool, out: &mut Intake) {
        let (ready, open) = std::mem::take(&mut self.open).into_iter().partition(which);
        self.open = open;
        let mut ready: Vec<PartialResponse> = ready;
        ready.sort_by(|one, other| one.place.cmp(&other.place));
        let ready = ready.into_iter();
        ready.for_each(|response| self.emit(response, out));
    }

    fn emit(&self, mut response: PartialResponse, out: &mut Intake) {
        if self.session
            && let Some(name) = response.name.take()
        {
            response.meta.insert("agent".to_owned(), name.into());
        }
        response.emit(self.session, out);
    }
}

impl RecordReader for Streams {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        if matches!(record.content, RecordContent::Done) {
            self.end_marked(out);
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
        self.read_object(record.into_object()?, &place, out)
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
