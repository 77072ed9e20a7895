//! The measuring half of a detector: a [`Meter`] reads the events of one stream, and a [`Recipe`] is what
//! meters are made from. A detector of text writes a [`TextMeter`], which knows of chars alone; the adapter
//! here finds its channel's text among the events.

use std::sync::Arc;

use crate::fact::Fact;
use crate::stream::{Channel, Chars, Event};

/// The measuring half: one per stream. A fresh meter is the reset.
///
/// There is no end to tell it: what is only known when a stream has finished is no alarm.
pub trait Meter: Send + Sync {
    /// Reads the next event and appends what it shows. Of facts that a setting accepts at the same place,
    /// the one that stands first counts.
    ///
    /// How a text is cut into events does not change which setting accepts what where.
    fn push(&mut self, event: &Event<'_>, facts: &mut Vec<Fact>);
}

/// A meter of one text.
pub trait TextMeter: Send + Sync {
    /// Reads the next piece of the text and appends what it shows. Of facts that a setting
    /// accepts at the same char, the one that stands first counts.
    ///
    /// How the text is cut into pieces does not change which setting accepts what where: a stretch
    /// that goes on past the end of a piece is told in parts.
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>);
}

/// What a meter is made from, compiled once and shared: the immutable half of a detector, of which
/// each stream gets a fresh [`Meter`].
#[derive(Clone)]
pub struct Recipe(Make);

type Made<M> = Arc<dyn Fn() -> Box<M> + Send + Sync>;

#[derive(Clone)]
enum Make {
    Text(Made<dyn TextMeter>),
    Run(Made<dyn Meter>),
}

impl Recipe {
    /// A recipe from what makes a fresh meter of a text.
    pub fn new(make: impl Fn() -> Box<dyn TextMeter> + Send + Sync + 'static) -> Self {
        Self(Make::Text(Arc::new(make)))
    }

    /// A recipe from what makes a fresh meter of a whole run.
    pub fn run(make: impl Fn() -> Box<dyn Meter> + Send + Sync + 'static) -> Self {
        Self(Make::Run(Arc::new(make)))
    }

    /// Whether its meters read the whole run, and not one channel's text.
    pub fn reads_run(&self) -> bool {
        matches!(self.0, Make::Run(_))
    }

    /// A fresh meter. One of text reads `channel` and ignores all other events.
    pub fn meter(&self, channel: Channel) -> Box<dyn Meter> {
        match &self.0 {
            Make::Run(make) => make(),
            Make::Text(make) => Box::new(Lane {
                channel,
                make: Arc::clone(make),
                meter: make(),
                base: Chars(0),
                read: Chars(0),
            }),
        }
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recipe")
    }
}

/// The text of one channel among the events. The arguments of each call are a text of their own: the meter
/// starts anew after a call, and positions go on over the run.
struct Lane {
    channel: Channel,
    make: Made<dyn TextMeter>,
    meter: Box<dyn TextMeter>,
    /// Where the text that `meter` reads begins in the channel.
    base: Chars,
    /// Chars of the channel read; counted where texts begin anew.
    read: Chars,
}

impl Meter for Lane {
    fn push(&mut self, event: &Event<'_>, facts: &mut Vec<Fact>) {
        match event {
            Event::Text(channel, piece) if *channel == self.channel => self.read(piece, facts),
            Event::Call { .. } if self.channel == Channel::Arguments && self.read > self.base => {
                self.meter = (self.make)();
                self.base = self.read;
            }
            _ => {}
        }
    }
}

impl Lane {
    fn read(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        if self.channel != Channel::Arguments {
            return self.meter.push(piece, facts);
        }
        let known = facts.len();
        self.meter.push(piece, facts);
        self.read = self.read + Chars::of(piece);
        let told: Vec<Fact> = facts.drain(known..).collect();
        facts.extend(told.into_iter().map(|fact| fact.moved(self.base)));
    }
}
