//! [`ResponseStreams`]: the responses of a file, built from an API's objects.
//!
//! The objects are whole responses, or chunks of streams, which may be interleaved.
//!
//! A chunk belongs to the open response with its id, otherwise to the response of the previous chunk. A response ends
//! with a final chunk, at `[DONE]`, or at the end of the file.
//!
//! Some servers give every chunk a different id, which does not identify a response. So a chunk stays pending if its id is
//! unknown and it does not begin a response. If an id occurs twice, ids identify responses, and each pending chunk is a
//! response. Otherwise all pending chunks are one response.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::reader::{Output, RecordReader};
use crate::responses::envelope::{self, Payload};
use crate::responses::response::PartialResponse;
use crate::source::head::{FamilyMatch, FormatCertainty, SourceHead};
use crate::source::records::{RecordContent, SourceRecord};
use deadloop_corpus::Place;
use deadloop_stream::fields::Object;
use deadloop_stream::reader::content::ObjectContent;
use deadloop_stream::reader::families::agent::is_replay;
use deadloop_stream::reader::families::{self, Family};
use deadloop_stream::wire::WireResult;

/// The maximum number of finished responses that wait for their token usage.
const MAX_FINISHED_RESPONSES: usize = 16;
/// The maximum number of open responses. Beyond it, the oldest response is emitted as cut off.
const MAX_OPEN_RESPONSES: usize = 1024;

/// The maximum number of pending chunks.
const MAX_PENDING_CHUNKS: usize = 64;

/// Rates how certainly a file has this API family, by its first known object.
pub(crate) fn rate_certainty(head: &SourceHead, family: &'static Family) -> FormatCertainty {
    match head.family.get_or_init(|| find_family(head)) {
        Some((of, true)) if of.name == family.name => FormatCertainty::Certain,
        // Agents' sessions hold an API's responses, and are recognized by the data around them.
        Some((of, false)) if of.name == family.name => FormatCertainty::Enclosed,
        _ => FormatCertainty::No,
    }
}

/// Returns the API family of the first object that any family recognizes.
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
        envelope::contains_known(object, &known);
        Some((inner.get()?, false))
    })
}

/// A reader of an API's responses, whole or in chunks.
pub(crate) struct ResponseStreams {
    family: &'static Family,
    /// Whether the file is a log of several agents, where ids name agents and `[DONE]` ends all responses.
    is_session: bool,
    /// Hashes of a session's events, since a reconnect replays the history.
    event_hashes: HashSet<u64>,
    /// Open responses, ordered by last use.
    open: Vec<PartialResponse>,
    pending: PendingChunks,
}

/// Chunks with unknown ids that do not begin a response.
#[derive(Default)]
struct PendingChunks {
    chunks: Vec<(ObjectContent, Payload, Place)>,
    /// Whether an id occurred twice, so that ids identify responses.
    shared_ids: bool,
    /// Number of unreadable records while chunks are pending.
    gaps: u64,
}

impl ResponseStreams {
    /// Creates a reader of whole or streamed responses.
    pub(crate) fn new(family: &'static Family) -> Self {
        Self {
            family,
            is_session: false,
            event_hashes: HashSet::new(),
            open: Vec::new(),
            pending: PendingChunks::default(),
        }
    }

    /// Creates a reader of logs of several agents, where `[DONE]` ends all responses.
    pub(crate) fn session_log(family: &'static Family) -> Self {
        Self {
            is_session: true,
            ..Self::new(family)
        }
    }

    /// Reads an object, which may be inside an envelope.
    pub(crate) fn read_object(
        &mut self,
        object: Object,
        place: &Place,
        out: &mut Output,
    ) -> WireResult {
        let known = |object: &_| (self.family.knows)(object);
        let mut payload = envelope::unwrap_envelopes(object, &known, out)?;
        if let Some(check) = self.family.check {
            check(&payload.object)?;
        }
        if self.is_session && self.is_replayed(&mut payload.object) {
            out.losses.add("[] (replayed, and recorded before)");
            return Ok(());
        }
        let content = self.family.content(std::mem::take(&mut payload.object))?;
        self.add_object(content, payload, place, out);
        Ok(())
    }

    /// Returns whether an event is marked as a replay and occurred before, by its id or its whole content.
    fn is_replayed(&mut self, event: &mut Object) -> bool {
        let replay = is_replay(event);
        let id = event.get("payload").and_then(|payload| payload.get("id"));
        let mut hasher = DefaultHasher::new();
        match id.filter(|id| !id.is_null()) {
            Some(id) => (event.get("agent_source"), id).hash(&mut hasher),
            None => event.hash(&mut hasher),
        }
        !self.event_hashes.insert(hasher.finish()) && replay
    }

    /// Adds an object with the data from its envelope, or keeps it pending.
    fn add_object(
        &mut self,
        content: ObjectContent,
        payload: Payload,
        place: &Place,
        out: &mut Output,
    ) {
        for (path, rest) in &content.rest {
            out.losses.add_fields(path, rest);
        }
        if content.is_empty() {
            return;
        }
        if self.must_wait(&content) {
            let full = self.pending.chunks.len() + 1 >= MAX_PENDING_CHUNKS;
            let ends = full || PartialResponse::finishes_answer(&content);
            self.pending.chunks.push((content, payload, place.clone()));
            if ends {
                self.release_pending(out);
            }
            return;
        }
        self.release_pending(out);
        self.append(content, payload, place, out);
    }

    /// Returns whether an object must stay pending. Updates `shared_ids`.
    fn must_wait(&mut self, content: &ObjectContent) -> bool {
        let Some(name) = content.response.as_ref().filter(|_| !self.is_session) else {
            return false;
        };
        let pending = &mut self.pending;
        if pending.shared_ids {
            return false;
        }
        let is_same = |other: &Option<String>| other.as_ref() == Some(name);
        pending.shared_ids = self.open.iter().any(|open| is_same(&open.response_id))
            || pending
                .chunks
                .iter()
                .any(|(content, ..)| is_same(&content.response));
        !pending.shared_ids
            && content.goes_on
            && !self.open.iter().any(|open| open.contains(content))
    }

    /// Assigns the pending chunks to responses. If ids identify responses, each chunk becomes a separate response.
    /// Otherwise all chunks become one response.
    fn release_pending(&mut self, out: &mut Output) {
        let chunks = std::mem::take(&mut self.pending.chunks);
        let Some((first, ..)) = chunks.first() else {
            return;
        };
        let goes_on = |last: &&mut PartialResponse| {
            !last.is_done() && last.response_id.is_some() && last.may_share_model(first)
        };
        let mut ids_differ = self.pending.shared_ids;
        if !ids_differ && let Some(last) = self.open.last_mut().filter(goes_on) {
            last.ids_differ = true;
            ids_differ = true;
        }
        for (content, payload, place) in chunks {
            self.append(content, payload, &place, out);
            // The first chunk begins the response.
            if !std::mem::replace(&mut ids_differ, true)
                && let Some(begun) = self.open.last_mut()
            {
                begun.ids_differ = true;
            }
        }
        let gaps = std::mem::take(&mut self.pending.gaps);
        if let Some(last) = self.open.last_mut() {
            last.gaps += gaps;
        }
    }

    /// Appends an object to its response, which may begin or end with the object.
    fn append(
        &mut self,
        content: ObjectContent,
        payload: Payload,
        place: &Place,
        out: &mut Output,
    ) {
        let at = self.find_or_begin(&content, place, out);
        let mut response = self.open.remove(at);
        response.add(content, payload, place, out, self.family.tags);
        if response.ended {
            self.emit_one(response, out)
        } else {
            self.open.push(response)
        }
    }

    /// Returns the index in `open` of the response for an object. Begins a response if necessary.
    fn find_or_begin(&mut self, content: &ObjectContent, place: &Place, out: &mut Output) -> usize {
        let found = if content.begins {
            None
        } else {
            let is_same = |open: &PartialResponse| {
                open.response_id.is_some() && open.response_id == content.response
            };
            let found = self.open.iter().rposition(is_same);
            found.or_else(|| self.open.iter().rposition(|open| open.contains(content)))
        };
        match found {
            Some(at) if self.is_session || !self.open[at].is_reopened_by(content) => at,
            Some(at) => {
                let finished = self.open.remove(at);
                self.emit_one(finished, out);
                self.begin(content, place, out)
            }
            None => self.begin(content, place, out),
        }
    }

    fn begin(&mut self, content: &ObjectContent, place: &Place, out: &mut Output) -> usize {
        if content.begins {
            // Chunks of this family have no response id, so one response is open at a time.
            self.emit_matching(|_| true, out);
        }
        let finished = self.open.iter().filter(|response| response.is_done());
        if finished.count() > MAX_FINISHED_RESPONSES
            && let Some(at) = self.open.iter().position(PartialResponse::is_done)
        {
            let response = self.open.remove(at);
            self.emit_one(response, out);
        }
        if self.open.len() >= MAX_OPEN_RESPONSES {
            let response = self.open.remove(0);
            self.emit_one(response, out);
        }
        self.open.push(PartialResponse::new(content, place));
        self.open.len() - 1
    }

    /// Handles `[DONE]`: ends the finished responses, or the last used one if none is finished.
    fn end_at_done(&mut self, out: &mut Output) {
        self.release_pending(out);
        if !self.is_session && self.open.iter().any(PartialResponse::is_done) {
            self.emit_matching(PartialResponse::is_done, out);
        } else {
            let last = self.open.len().saturating_sub(1);
            let from = if self.is_session { 0 } else { last };
            let ended = self.open.iter_mut().skip(from);
            ended.for_each(|response| response.ended = true);
            self.emit_matching(|response| response.ended, out);
        }
        // Later chunks may be from another server.
        self.pending.shared_ids &= !self.open.is_empty();
    }

    fn emit_matching(&mut self, pred: impl Fn(&PartialResponse) -> bool, out: &mut Output) {
        let (ready, open) = std::mem::take(&mut self.open).into_iter().partition(pred);
        self.open = open;
        let mut ready: Vec<PartialResponse> = ready;
        ready.sort_by(|one, other| one.place.cmp(&other.place));
        let ready = ready.into_iter();
        ready.for_each(|response| self.emit_one(response, out));
    }

    fn emit_one(&self, mut response: PartialResponse, out: &mut Output) {
        if self.is_session
            && let Some(name) = response.response_id.take()
        {
            response.meta.insert("agent".to_owned(), name.into());
        }
        response.emit(self.is_session, out);
    }
}

impl RecordReader for ResponseStreams {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        if matches!(record.content, RecordContent::Done) {
            self.end_at_done(out);
            return Ok(());
        }
        let place = record.place.clone();
        if let RecordContent::Line(text) = &record.content
            && let Some(mut content) = self.family.quick.and_then(|quick| quick(text))
        {
            let payload = Payload::without_envelope(content.rest_of(""));
            self.add_object(content, payload, &place, out);
            return Ok(());
        }
        self.read_object(record.into_object()?, &place, out)
    }

    fn record_gap(&mut self) {
        let open = self.open.iter_mut().filter(|response| !response.is_done());
        open.for_each(|response| response.gaps += 1);
        self.pending.gaps += u64::from(!self.pending.chunks.is_empty());
    }

    fn finish(&mut self, out: &mut Output) {
        self.release_pending(out);
        self.emit_matching(|_| true, out);
    }
}
