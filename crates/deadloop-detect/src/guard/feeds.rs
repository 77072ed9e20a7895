//! [`Feed`]: a kind of event that a client can or cannot bring; and which members of a setting never see what they
//! look for ([`Setting::blind`]).

use std::fmt;

use crate::detectors::{Detector, Example, Measuring};
use crate::settings::params::Params;
use crate::settings::setting::{Member, Setting};
use crate::stream::{Channel, Event, EventPlaces, TextChannel};

crate::words! {
    /// A kind of event that a guard can be fed.
    #[non_exhaustive]
    pub enum Feed {
        /// Text of the thinking.
        Reasoning = "reasoning",
        /// Text of the answer.
        Answer = "answer",
        /// Text of calls' arguments. A call brings it too.
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
        /// Silence, from whoever has a clock.
        Silence = "silence",
        /// The end of a response.
        Ends = "ends",
    }
}

impl Feed {
    /// The kind of this event; `None` of what no detector looks at.
    pub fn of(event: &Event<'_>) -> Option<Self> {
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

/// A set of kinds of events: what a client can feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feeds(u16);

impl Feeds {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// All there is: a run of an agent, with a clock.
    pub const ALL: Self = Self((1 << Feed::ALL.len()) - 1);
    /// What the response of a model's server brings, read with a clock: text, calls and its end. What tools answer is
    /// the client's, and turns begin with it.
    pub const RESPONSE: Self = Self::NONE
        .with(Feed::Reasoning)
        .with(Feed::Answer)
        .with(Feed::Arguments)
        .with(Feed::Calls)
        .with(Feed::Silence)
        .with(Feed::Ends);

    /// These, and one more.
    #[must_use]
    pub const fn with(self, feed: Feed) -> Self {
        Self(self.0 | 1 << feed as u16)
    }

    /// These without one.
    #[must_use]
    pub const fn without(self, feed: Feed) -> Self {
        Self(self.0 & !(1 << feed as u16))
    }

    /// Whether this kind is among them.
    pub const fn has(self, feed: Feed) -> bool {
        self.0 & (1 << feed as u16) != 0
    }

    /// All of them, in the order of [`Feed::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feed> {
        Feed::ALL.into_iter().filter(move |feed| self.has(*feed))
    }
}

impl FromIterator<Feed> for Feeds {
    fn from_iter<I: IntoIterator<Item = Feed>>(feeds: I) -> Self {
        feeds.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A member of a setting that can never alarm, because what it looks for is never fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blind {
    /// Which member it is, counted from 0.
    pub member: usize,
    /// Its detector.
    pub detector: &'static str,
    /// What it would have to be fed too.
    pub missing: Vec<Feed>,
}

/// The detector, and what does not come: `stall: no silence`.
impl fmt::Display for Blind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<&str> = self.missing.iter().map(|feed| feed.name()).collect();
        write!(f, "{}: no {}", self.detector, missing.join(", no "))
    }
}

impl Setting {
    /// The members that can never alarm if nothing but `feeds` comes. Programs are left out: no live stream waits for
    /// one. So are those that read arguments as another member reads the text that comes: without a call nothing is missed.
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
    pub fn blind(&self, feeds: Feeds) -> Vec<Blind> {
        let beside = |member: &Member| {
            let reads_text = |other: &Member| {
                *other.detector == *member.detector
                    && other.params == member.params
                    && other.missing(feeds).is_none()
            };
            member.channel == Some(Channel::Arguments) && self.members.iter().any(reads_text)
        };
        let blind = |(index, member): (usize, &Member)| {
            let missing = member.missing(feeds).filter(|_| !beside(member))?;
            Some(Blind {
                member: index,
                detector: member.detector.name,
                missing,
            })
        };
        self.members.iter().enumerate().filter_map(blind).collect()
    }
}

impl Member {
    /// What is missing for an alarm where nothing but `feeds` comes; `None`: nothing is.
    fn missing(&self, feeds: Feeds) -> Option<Vec<Feed>> {
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
            // One of several would do.
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
    /// The kinds of events without which it never alarms: for a detector of text its channels, any one of which
    /// suffices; for a detector of runs those without which its own example raises no alarm.
    ///
    /// That is measured on the example that each detector brings, not declared: so it cannot be
    /// forgotten, and cannot be wrong about what the code does.
    pub fn needs(&'static self) -> Feeds {
        match self.measure {
            Measuring::Text(_) => [Feed::Reasoning, Feed::Answer].into_iter().collect(),
            Measuring::Program(_) => Feeds::NONE,
            Measuring::Run(..) => {
                let needed = |feed: &Feed| !self.fires_with(Feeds::ALL.without(*feed));
                self.example().filter(needed).collect()
            }
        }
    }

    /// The kinds of events in its example of a run.
    fn example(&self) -> impl Iterator<Item = Feed> {
        let all: Feeds = self.stream().iter().filter_map(Feed::of).collect();
        all.iter()
    }

    /// The events of its example that fires.
    fn stream(&self) -> Vec<Event<'static>> {
        let fires = self
            .examples()
            .find(|example| example.name == Example::FIRES);
        let events = fires.and_then(|example| example.events());
        events.unwrap_or_default()
    }

    /// Whether its defaults alarm on what is left of its example of a run if only `feeds` come.
    fn fires_with(&'static self, feeds: Feeds) -> bool {
        let member = Member::new(self, Params::defaults(self.params));
        let Measuring::Run(channel, _) = self.measure else {
            return true;
        };
        let Some(recipe) = member.recipe() else {
            return true;
        };
        let (mut meter, rule) = (recipe.meter(channel), member.rule());
        let fed = |event: &&Event<'_>| Feed::of(event).is_none_or(|feed| feeds.has(feed));
        let (mut places, mut facts) = (EventPlaces::default(), Vec::new());
        for event in self.stream().iter().filter(fed) {
            meter.push(event, places.of(event), &mut facts);
        }
        facts.iter().any(|fact| rule.alarm(fact).is_some())
    }
}
