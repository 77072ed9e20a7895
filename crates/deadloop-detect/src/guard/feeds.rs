//! [`Feed`]: the kinds of events that a client can supply.
//!
//! [`Setting::blind`] returns the members of a setting that can never fire without some of them.

use std::fmt;

use crate::detectors::{Detector, Example, Measurement};
use crate::settings::params::Params;
use crate::settings::setting::{Member, Setting};
use crate::stream::{Channel, Event, EventPlaces, TextChannel};

crate::words! {
    /// The kinds of events that a guard can be fed.
    #[non_exhaustive]
    pub enum Feed {
        /// Text of the thinking.
        Reasoning = "reasoning",
        /// Text of the answer.
        Answer = "answer",
        /// Text of arguments. Calls also contain it.
        Arguments = "arguments",
        /// Calls of tools.
        Calls = "calls",
        /// Results of calls.
        Results = "results",
        /// Messages of users.
        Users = "messages of users",
        /// Turns.
        Turns = "turns",
        /// Handoffs from one agent to another.
        Handoffs = "handoffs",
        /// Silence, from a caller with a clock.
        Silence = "silence",
        /// The end of a response.
        Ends = "ends",
    }
}

impl Feed {
    /// Returns the kind of this event. `None` for events that no detector reads.
    pub fn from_event(event: &Event<'_>) -> Option<Self> {
        Some(match event {
            Event::Text(TextChannel::Reasoning, _) => Self::Reasoning,
            Event::Text(TextChannel::Answer, _) => Self::Answer,
            Event::Text(TextChannel::Arguments, _) => Self::Arguments,
            Event::Call { .. } => Self::Calls,
            Event::Result { .. } => Self::Results,
            Event::User(_) => Self::Users,
            Event::Turn { .. } => Self::Turns,
            Event::Handoff { .. } => Self::Handoffs,
            Event::Silence(_) => Self::Silence,
            Event::Finish(_) | Event::Closed => Self::Ends,
            Event::System => return None,
        })
    }
}

/// A set of event kinds that a client can feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feeds(u16);

impl Feeds {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// All kinds: an agent run, with a clock.
    pub const ALL: Self = Self((1 << Feed::ALL.len()) - 1);
    /// The kinds of events in a response of a model server, with a clock: text, calls, silence and the end. Results and
    /// turns come from the client.
    pub const RESPONSE: Self = Self::NONE
        .with(Feed::Reasoning)
        .with(Feed::Answer)
        .with(Feed::Arguments)
        .with(Feed::Calls)
        .with(Feed::Silence)
        .with(Feed::Ends);

    /// Adds a kind.
    #[must_use]
    pub const fn with(self, feed: Feed) -> Self {
        Self(self.0 | 1 << feed as u16)
    }

    /// Removes a kind.
    #[must_use]
    pub const fn without(self, feed: Feed) -> Self {
        Self(self.0 & !(1 << feed as u16))
    }

    /// Returns whether the set has this kind.
    pub const fn has(self, feed: Feed) -> bool {
        self.0 & (1 << feed as u16) != 0
    }

    /// Returns the kinds in the set, in the order of [`Feed::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feed> {
        Feed::ALL.into_iter().filter(move |feed| self.has(*feed))
    }
}

impl FromIterator<Feed> for Feeds {
    fn from_iter<I: IntoIterator<Item = Feed>>(feeds: I) -> Self {
        feeds.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A member of a setting that can never fire, because needed events are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindMember {
    /// The index of the member, counted from 0.
    pub member: usize,
    /// The name of its detector.
    pub detector: &'static str,
    /// The kinds that are missing.
    pub missing: Vec<Feed>,
}

/// Writes the detector and the missing kinds: `stall: no silence`.
impl fmt::Display for BlindMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<&str> = self.missing.iter().map(|feed| feed.name()).collect();
        write!(f, "{}: no {}", self.detector, missing.join(", no "))
    }
}

impl Setting {
    /// Returns the members that can never fire if only `feeds` are supplied. Programs are left out, since they do not
    /// run live. A member that reads arguments is left out if an equal member reads other supplied text: without calls,
    /// no arguments are missed.
    ///
    /// ```
    /// use deadloop_detect::{Feeds, Settings};
    ///
    /// let settings = Settings::parse("[[guard]]\ndetector = \"periodic\"\n[[guard]]\ndetector = \"error-run\"")?;
    /// let blind = settings.guard().blind(Feeds::RESPONSE);
    /// assert_eq!(blind.len(), 1);
    /// assert_eq!(blind[0].to_string(), "error-run: no results");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blind(&self, feeds: Feeds) -> Vec<BlindMember> {
        let beside = |member: &Member| {
            let reads_text = |other: &Member| {
                *other.detector == *member.detector
                    && other.params == member.params
                    && other.missing_feeds(feeds).is_none()
            };
            member.channel == Some(Channel::Arguments) && self.members.iter().any(reads_text)
        };
        let blind = |(index, member): (usize, &Member)| {
            let missing = member.missing_feeds(feeds).filter(|_| !beside(member))?;
            Some(BlindMember {
                member: index,
                detector: member.detector.name,
                missing,
            })
        };
        self.members.iter().enumerate().filter_map(blind).collect()
    }
}

impl Member {
    /// Returns the needed kinds that are not in `feeds`. `None` if the member can fire.
    fn missing_feeds(&self, feeds: Feeds) -> Option<Vec<Feed>> {
        if self.program().is_some() {
            return None;
        }
        if self.detector.reads_text() {
            let heard = |channel| match channel {
                Channel::Reasoning => feeds.has(Feed::Reasoning),
                Channel::Answer => feeds.has(Feed::Answer),
                _ => feeds.has(Feed::Arguments) || feeds.has(Feed::Calls),
            };
            let all: Vec<Channel> = self.channels().collect();
            let named = |channel: &Channel| Feed::named(channel.name());
            let blind = !all.iter().any(|channel| heard(*channel));
            return blind.then(|| all.iter().filter_map(named).collect());
        }
        let detector = self.detector;
        if detector.fires_with(feeds) {
            return None;
        }
        let missing: Vec<Feed> = detector
            .needs()
            .iter()
            .filter(|feed| !feeds.has(*feed))
            .collect();
        Some(if missing.is_empty() {
            // Any kind of the example would suffice.
            detector
                .example()
                .filter(|feed| !feeds.has(*feed))
                .collect()
        } else {
            missing
        })
    }
}

impl Detector {
    /// Returns the kinds of events without which the detector never fires. For a text detector these are its channels,
    /// any one of which suffices. For a run detector, these are the kinds without which its example raises no alarm.
    ///
    /// The kinds are not declared, but measured on the example, so that they always agree with the code.
    pub fn needs(&'static self) -> Feeds {
        match self.measure {
            Measurement::Text(_) => [Feed::Reasoning, Feed::Answer].into_iter().collect(),
            Measurement::Program(_) => Feeds::NONE,
            Measurement::Run(..) => {
                let needed = |feed: &Feed| !self.fires_with(Feeds::ALL.without(*feed));
                self.example().filter(needed).collect()
            }
        }
    }

    /// Returns the kinds of events in the detector's example.
    fn example(&self) -> impl Iterator<Item = Feed> {
        let all: Feeds = self.stream().iter().filter_map(Feed::from_event).collect();
        all.iter()
    }

    /// Returns the events of the example on which the defaults alarm.
    fn stream(&self) -> Vec<Event<'static>> {
        let mut all = self.examples().filter(|e| e.name == Example::FIRES);
        let events = all.find_map(|example| example.events());
        events.unwrap_or_default()
    }

    /// Returns whether the defaults fire on the example if only `feeds` are supplied.
    fn fires_with(&'static self, feeds: Feeds) -> bool {
        let member = Member::new(self, Params::defaults(self.params));
        let Measurement::Run(channel, _) = self.measure else {
            return true;
        };
        let Some(recipe) = member.recipe() else {
            return true;
        };
        let (mut meter, rule) = (recipe.meter(channel), member.rule());
        let fed = |event: &&Event<'_>| Feed::from_event(event).is_none_or(|feed| feeds.has(feed));
        let (mut places, mut facts) = (EventPlaces::default(), Vec::new());
        for event in self.stream().iter().filter(fed) {
            meter.push(event, places.advance(event), &mut facts);
        }
        facts.iter().any(|fact| rule.alarm(fact).is_some())
    }
}
