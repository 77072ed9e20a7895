//! The responses of a file, put together from what an API's objects say: the chunks of streams,
//! which may be interleaved, and responses that came whole.
//!
//! A chunk belongs to the open response that it names, else to the one that was spoken of last. A
//! response ends where it says so, at `[DONE]`, or where the file ends.
//!
//! Some servers give each chunk an id of its own, which names no response. Chunks with unknown ids that
//! begin nothing therefore wait: a second chunk with one of their ids shows that ids are names, and each
//! is a response. Where none comes they are one response.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::cut::{Content, Record};
use super::envelope::{self, Opened};
use super::head::{Certainty, Head, Spoken};
use super::reader::{Out, Reader};
use super::response::Response;
use crate::Place;
use crate::transcript::wire::WireFault;
use deadloop_stream::reader::families::agent::is_replay;
use deadloop_stream::reader::families::{self, Family};
use deadloop_stream::reader::said::Said;
use deadloop_stream::take::Object;

/// Most responses that are finished and may still be told their usage.
const FINISHED: usize = 16;
/// Most responses that are open at once. When there are more the one that began first is taken for
/// cut.
const OPEN: usize = 1024;

/// The most chunks that wait for a second one with their id, and so the most responses that may begin at the same time.
const WAITING: usize = 64;

/// Whether the first known object of a file is one of this family.
pub(crate) fn knows(head: &Head, family: &'static Family) -> Certainty {
    match head.family.get_or_init(|| spoken(head)) {
        Some((of, true)) if of.name == family.name => Certainty::Certain,
        // Sessions of agents hold what an API said, and are told by what they put around it.
        Some((of, false)) if of.name == family.name => Certainty::Enclosed,
        _ => Certainty::No,
    }
}

/// The family of the first object that some family knows.
fn spoken(head: &Head) -> Option<Spoken> {
    head.objects().find_map(|object| {
        if let Some(of) = families::of(object) {
            return Some((of, true));
        }
        let inner = Cell::new(None);
        let known = |object: &Object| {
            inner.set(inner.get().or(families::of(object)));
            inner.get().is_some()
        };
        envelope::holds(object, &known);
        Some((inner.get()?, false))
    })
}

/// Reads records of one family.
pub(crate) struct Streams {
    family: &'static Family,
    /// `[DONE]` ends all that is open, and what names a response is who speaks.
    session: bool,
    /// What a session has sent, by hash: its history comes again after a disconnect.
    sent: HashSet<u64>,
    /// In the order in which they were spoken of last.
    open: Vec<Response>,
    waiting: Waiting,
}

/// Chunks with unknown ids that begin nothing.
#[derive(Default)]
struct Waiting {
    chunks: Vec<(Said, Opened, Place)>,
    /// An id came twice: ids are names of responses.
    named: bool,
    /// Records that could not be read since chunks wait.
    gaps: u64,
}

impl Streams {
    /// For responses and streams of responses.
    pub(crate) fn of(family: &'static Family) -> Self {
        Self {
            family,
            session: false,
            sent: HashSet::new(),
            open: Vec::new(),
            waiting: Waiting::default(),
        }
    }

    /// Reads logs of several speakers. Names tell them apart, and all end at `[DONE]`.
    pub(crate) fn session(family: &'static Family) -> Self {
        Self {
            session: true,
            ..Self::of(family)
        }
    }

    /// Takes what an object says that may be in an envelope.
    pub(crate) fn object(
        &mut self,
        object: Object,
        place: &Place,
        out: &mut Out,
    ) -> Result<(), WireFault> {
        let known = |object: &_| (self.family.knows)(object);
        let mut opened = envelope::open(object, &known, out)?;
        if let Some(check) = self.family.check {
            check(&opened.object)?;
        }
        if self.session && self.again(&mut opened.object) {
            out.losses.add("[] (replayed, and recorded before)");
            return Ok(());
        }
        let said = (self.family.read)(std::mem::take(&mut opened.object))?;
        self.said(said, opened, place, out);
        Ok(())
    }

    /// Whether an event is marked as a replay and was sent before: by its id, or by all that it says.
    fn again(&mut self, event: &mut Object) -> bool {
        let replay = is_replay(event);
        let id = event.get("payload").and_then(|payload| payload.get("id"));
        let mut hasher = DefaultHasher::new();
        match id.filter(|id| !id.is_null()) {
            Some(id) => (event.get("agent_source"), id).hash(&mut hasher),
            None => event.hash(&mut hasher),
        }
        !self.sent.insert(hasher.finish()) && replay
    }

    /// Takes what an object says, and what its envelope says.
    fn said(&mut self, said: Said, opened: Opened, place: &Place, out: &mut Out) {
        for (path, rest) in &said.rest {
            out.losses.rest(path, rest);
        }
        if said.is_empty() {
            return;
        }
        let waits = self.waits(&said);
        if waits {
            let full = self.waiting.chunks.len() + 1 >= WAITING;
            let settles = full || Response::is_end(&said);
            self.waiting.chunks.push((said, opened, place.clone()));
            if settles {
                self.settle(out);
            }
            return;
        }
        self.settle(out);
        self.add(said, opened, place, out);
    }

    /// Whether it is not known yet which response an object belongs to. Notes what its id shows.
    fn waits(&mut self, said: &Said) -> bool {
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

    /// Chunks wait no longer: they are one response, which may have begun, or each begins one where ids are names.
    fn settle(&mut self, out: &mut Out) {
        let chunks = std::mem::take(&mut self.waiting.chunks);
        let Some((first, ..)) = chunks.first() else {
            return;
        };
        let goes_on =
            |last: &&mut Response| !last.finished() && last.name.is_some() && last.may_be_by(first);
        let mut renamed = self.waiting.named;
        if !renamed && let Some(last) = self.open.last_mut().filter(goes_on) {
            last.renamed = true;
            renamed = true;
        }
        for (said, opened, place) in chunks {
            self.add(said, opened, &place, out);
            // The first of them begins the response.
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

    /// Adds what an object says to its response.
    fn add(&mut self, said: Said, opened: Opened, place: &Place, out: &mut Out) {
        let at = self.response(&said, place, out);
        let mut response = self.open.remove(at);
        response.add(said, opened, place, out, self.family.tags);
        if response.ended {
            self.emit(response, out)
        } else {
            self.open.push(response)
        }
    }

    /// The place in `open` of the response that an object belongs to.
    fn response(&mut self, said: &Said, place: &Place, out: &mut Out) -> usize {
        let found = if said.begins {
            None
        } else {
            let named = |open: &Response| open.name.is_some() && open.name == said.response;
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

    fn begin(&mut self, said: &Said, place: &Place, out: &mut Out) -> usize {
        if said.begins {
            // Chunks of this family do not name their response: one is open at a time.
            self.emit_all(|_| true, out);
        }
        let finished = self
            .open
            .iter()
            .filter(|response| response.finished())
            .count();
        if finished > FINISHED
            && let Some(at) = self.open.iter().position(Response::finished)
        {
            let response = self.open.remove(at);
            self.emit(response, out);
        }
        if self.open.len() >= OPEN {
            let response = self.open.remove(0);
            self.emit(response, out);
        }
        self.open.push(Response::new(said, place));
        self.open.len() - 1
    }

    /// `[DONE]`: what is finished ends; where nothing is, the response that was spoken of last.
    fn done(&mut self, out: &mut Out) {
        self.settle(out);
        self.close(out);
        // What comes may be of another server.
        self.waiting.named &= !self.open.is_empty();
    }

    fn close(&mut self, out: &mut Out) {
        if !self.session && self.open.iter().any(Response::finished) {
            return self.emit_all(Response::finished, out);
        }
        let last = self.open.len().saturating_sub(1);
        let from = if self.session { 0 } else { last };
        self.open
            .iter_mut()
            .skip(from)
            .for_each(|response| response.ended = true);
        self.emit_all(|response| response.ended, out);
    }

    fn emit_all(&mut self, which: impl Fn(&Response) -> bool, out: &mut Out) {
        let (ready, open) = std::mem::take(&mut self.open).into_iter().partition(which);
        self.open = open;
        let mut ready: Vec<Response> = ready;
        ready.sort_by(|one, other| one.place.cmp(&other.place));
        ready
            .into_iter()
            .for_each(|response| self.emit(response, out));
    }

    fn emit(&self, mut response: Response, out: &mut Out) {
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

impl Reader for Streams {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        if matches!(record.content, Content::Done) {
            self.done(out);
            return Ok(());
        }
        let place = record.place.clone();
        if let Content::Line(text) = &record.content
            && let Some(mut said) = self.family.quick.and_then(|quick| quick(text))
        {
            let opened = Opened::bare(said.rest_of(""));
            self.said(said, opened, &place, out);
            return Ok(());
        }
        self.object(record.object()?, &place, out)
    }

    fn gap(&mut self) {
        let open = self.open.iter_mut().filter(|response| !response.finished());
        open.for_each(|response| response.gaps += 1);
        self.waiting.gaps += u64::from(!self.waiting.chunks.is_empty());
    }

    fn end(&mut self, out: &mut Out) {
        self.settle(out);
        self.emit_all(|_| true, out);
    }
}
