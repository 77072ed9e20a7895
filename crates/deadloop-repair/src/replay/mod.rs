//! `replay`: passes on events after a reconnect, each once and in order, with an end mark.
//!
//! After a reconnect, a server may send some events twice. A client that joins the replay with the live stream may get
//! some out of order. Lost events are not replaced. `judge_events` counts them.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the handling of each event | here |
//! | presets and their sources | `presets.toml` |

use std::collections::{BTreeMap, HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_128;

use deadloop_detect::harness::{Param, Params, Spec};

use super::meaning::Delivery;
use super::registry::{
    EventRepair, RepairTarget, Repairer, RepairerFactory, StreamKind, repairer, size,
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

/// The criterion by which two events are equal: the parameter `by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventIdentity {
    Id,
    Hash,
    Position,
}

/// The repairer of one row of events.
struct EventMachine {
    by: EventIdentity,
    window: usize,
    wait: usize,
    always: bool,
    /// The remembered keys.
    seen: HashSet<u128>,
    /// The remembered keys, the oldest first.
    order: VecDeque<u128>,
    /// The place of the next event to pass.
    next: u64,
    /// The events that came too early, by their places.
    waiting: BTreeMap<u64, Delivery>,
    /// The end mark that came.
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
            window: size(params, "window"),
            wait: size(params, "wait"),
            always: params.text("done") == "always",
            seen: HashSet::new(),
            order: VecDeque::new(),
            next: params.count("first"),
            waiting: BTreeMap::new(),
            done: None,
        }
    }

    /// Adds a key. Returns whether it was not among the remembered ones.
    fn is_new(&mut self, key: u128) -> bool {
        if !self.seen.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > self.window
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        true
    }

    fn place(&mut self, place: u64, event: Delivery, out: &mut Vec<Delivery>) {
        if place < self.next {
            return;
        }
        self.waiting.entry(place).or_insert(event);
        self.in_order(out);
        while self.waiting.len() > self.wait {
            self.skip(out);
        }
    }

    /// Passes the events before which no event is missing.
    fn in_order(&mut self, out: &mut Vec<Delivery>) {
        while let Some(event) = self.waiting.remove(&self.next) {
            out.push(event);
            self.next = self.next.saturating_add(1);
        }
    }

    /// Gives up the missing event and passes the first waiting one.
    fn skip(&mut self, out: &mut Vec<Delivery>) {
        if let Some((place, event)) = self.waiting.pop_first() {
            out.push(event);
            self.next = place.saturating_add(1);
            self.in_order(out);
        }
    }
}

impl EventRepair for EventMachine {
    fn push(&mut self, event: Delivery, out: &mut Vec<Delivery>) {
        if event.done && self.always {
            self.done.get_or_insert(event);
            return;
        }
        match (self.by, &event.id, event.position) {
            (EventIdentity::Position, _, Some(place)) => self.place(place, event, out),
            (EventIdentity::Id, Some(id), _) => {
                let key = xxh3_128(id.as_bytes());
                if self.is_new(key) {
                    out.push(event);
                }
            }
            (EventIdentity::Hash, ..) => {
                let key = xxh3_128(event.text.as_bytes());
                if self.is_new(key) {
                    out.push(event);
                }
            }
            // Without an id or a place it cannot be compared.
            (EventIdentity::Id | EventIdentity::Position, ..) => out.push(event),
        }
    }

    fn finish(&mut self, out: &mut Vec<Delivery>) {
        while !self.waiting.is_empty() {
            self.skip(out);
        }
        if self.always {
            let mark = || Delivery {
                done: true,
                ..Delivery::default()
            };
            out.push(self.done.take().unwrap_or_else(mark));
        }
    }

    fn held(&self) -> usize {
        self.order.len() + self.waiting.len() + usize::from(self.done.is_some())
    }
}
