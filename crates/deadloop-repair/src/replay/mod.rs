//! `replay`: emits events after a reconnect once each and in order, with an end marker.
//!
//! After a reconnect, a server may send some events twice, and a client that joins the replay with the live stream may
//! get some out of order. Lost events are not replaced, but counted by `judge_events`.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the handling of each event | this module |
//! | presets and their sources | `presets.toml` |

use std::collections::{BTreeMap, HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_128;

use deadloop_detect::harness::{Param, Params, Spec};

use super::meaning::Delivery;
use super::registry::{
    EventRepair, RepairTarget, Repairer, RepairerFactory, StreamKind, get_usize, repairer,
};

repairer! {
    "replay", version 1,
    "events after a reconnect, each once and in order, and the end mark",
    Spec::PLAIN.check, Events, RepairTarget::Nothing, RepairerFactory::Events(|params| Box::new(EventMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::word("by", "id", &["id", "hash", "position"])
        .doc("by what two events are one: their ids, their texts, their places in the row; by position they are put in order too"),
    Param::count("window", 10_000, 1..=1_000_000)
        .unit("events")
        .doc("how many ids or texts are remembered"),
    Param::count("wait", 100, 0..=100_000)
        .unit("events")
        .doc("by position: how many events wait for one that is missing; then it is lost"),
    Param::count("first", 0, 0..=1_000_000_000)
        .unit("")
        .doc("by position: the place of the first event"),
    Param::word("done", "always", &["always", "arrived"])
        .doc("always: one end mark, after everything; arrived: end marks as they come"),
];

/// The criterion for equal events, from the parameter `by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventIdentity {
    Id,
    Hash,
    Position,
}

/// The repairer of one sequence of events.
struct EventMachine {
    by: EventIdentity,
    window: usize,
    wait: usize,
    always_emits_done: bool,
    /// The keys of the latest events.
    known_keys: HashSet<u128>,
    /// The keys in `known_keys`, oldest first.
    keys_by_age: VecDeque<u128>,
    /// The position of the next event to emit.
    next_position: u64,
    /// The events that came too early, by position.
    waiting: BTreeMap<u64, Delivery>,
    /// The end marker, if it has come.
    done: Option<Delivery>,
}

impl EventMachine {
    fn new(params: &Params) -> Self {
        Self {
            by: match params.text("by") {
                "hash" => EventIdentity::Hash,
                "position" => EventIdentity::Position,
                _ => EventIdentity::Id,
            },
            window: get_usize(params, "window"),
            wait: get_usize(params, "wait"),
            always_emits_done: params.text("done") == "always",
            known_keys: HashSet::new(),
            keys_by_age: VecDeque::new(),
            next_position: params.count("first"),
            waiting: BTreeMap::new(),
            done: None,
        }
    }

    /// Remembers a key. Returns whether it was not remembered before.
    fn remember_key(&mut self, key: u128) -> bool {
        if !self.known_keys.insert(key) {
            return false;
        }
        self.keys_by_age.push_back(key);
        if self.keys_by_age.len() > self.window
            && let Some(oldest) = self.keys_by_age.pop_front()
        {
            self.known_keys.remove(&oldest);
        }
        true
    }

    fn add_at_position(&mut self, position: u64, event: Delivery, out: &mut Vec<Delivery>) {
        if position < self.next_position {
            return;
        }
        self.waiting.entry(position).or_insert(event);
        self.emit_in_order(out);
        while self.waiting.len() > self.wait {
            self.skip_missing(out);
        }
    }

    /// Emits the waiting events before which no event is missing.
    fn emit_in_order(&mut self, out: &mut Vec<Delivery>) {
        while let Some(event) = self.waiting.remove(&self.next_position) {
            out.push(event);
            self.next_position = self.next_position.saturating_add(1);
        }
    }

    /// Skips the missing event and emits the first waiting one.
    fn skip_missing(&mut self, out: &mut Vec<Delivery>) {
        if let Some((position, event)) = self.waiting.pop_first() {
            out.push(event);
            self.next_position = position.saturating_add(1);
            self.emit_in_order(out);
        }
    }
}

impl EventRepair for EventMachine {
    fn push(&mut self, event: Delivery, out: &mut Vec<Delivery>) {
        if event.done && self.always_emits_done {
            self.done.get_or_insert(event);
            return;
        }
        match (self.by, &event.id, event.position) {
            (EventIdentity::Position, _, Some(place)) => self.add_at_position(place, event, out),
            (EventIdentity::Id, Some(id), _) => {
                let key = xxh3_128(id.as_bytes());
                if self.remember_key(key) {
                    out.push(event);
                }
            }
            (EventIdentity::Hash, ..) => {
                let key = xxh3_128(event.text.as_bytes());
                if self.remember_key(key) {
                    out.push(event);
                }
            }
            // Without an id or a place it cannot be compared.
            (EventIdentity::Id | EventIdentity::Position, ..) => out.push(event),
        }
    }

    fn finish(&mut self, out: &mut Vec<Delivery>) {
        while !self.waiting.is_empty() {
            self.skip_missing(out);
        }
        if self.always_emits_done {
            let mark = || Delivery {
                done: true,
                ..Delivery::default()
            };
            out.push(self.done.take().unwrap_or_else(mark));
        }
    }

    fn held_len(&self) -> usize {
        self.keys_by_age.len() + self.waiting.len() + usize::from(self.done.is_some())
    }
}
