//! [`Meter`]: the measuring half of a detector. [`Recipe`]: a factory of meters.
//!
//! A text detector implements [`TextMeter`], which reads chars alone. The adapter here selects the channel's text from
//! the events.

use std::sync::Arc;

use crate::measure::fact::Fact;
pub(crate) use crate::measure::ignore::IGNORE;
use crate::measure::ignore::{Ignore, LineMeter};
pub(crate) use crate::measure::prompt::PROMPT;
use crate::measure::prompt::{PromptFilter, SKIP};
pub(crate) use crate::measure::text_scope::PER;
use crate::measure::text_scope::TextScope;
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::{Channel, Chars, Event, EventPlace};

/// The measuring half of a detector, one for each stream. There is no reset: each stream needs a fresh meter.
///
/// A meter gets no notice of the end of a stream, so alarms cannot depend on it.
pub trait Meter: Send + Sync {
    /// Reads the next event and appends the facts that it shows. Of facts that a setting accepts at the same place, the
    /// first one counts.
    ///
    /// The cuts of a text into events do not change which setting accepts which fact at which place. `place` is the
    /// event's place in the stream. A meter of one text does not use it.
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>);
}

/// A meter of one text.
pub trait TextMeter: Send + Sync {
    /// Reads the next piece of the text and appends the facts that it shows. Of facts that a setting accepts at the
    /// same char, the first one counts.
    ///
    /// The cuts of the text into pieces do not change which setting accepts which fact at which place. A stretch that
    /// continues past the end of a piece is reported in parts.
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>);
}

/// A factory of meters: the immutable half of a detector, compiled once and shared. Each stream gets a fresh [`Meter`].
#[derive(Clone)]
pub struct Recipe(RecipeKind);

type MeterFactory<M> = Arc<dyn Fn() -> Box<M> + Send + Sync>;

#[derive(Clone)]
enum RecipeKind {
    Text {
        make: MeterFactory<dyn TextMeter>,
        by_turn: bool,
        skips_prompt: bool,
    },
    Run(MeterFactory<dyn Meter>),
}

impl Recipe {
    /// Returns a recipe from a function that makes a fresh text meter. Reads the parameters that every text detector
    /// has.
    pub fn text(
        params: &Params,
        make: impl Fn() -> Box<dyn TextMeter> + Send + Sync + 'static,
    ) -> Self {
        let patterns = params.items(IGNORE.name).iter();
        let patterns: Vec<&str> = patterns.filter_map(Value::as_text).collect();
        // The parameter was checked, so the list compiles.
        let ignore = Ignore::new(&patterns).unwrap_or_default();
        Self(RecipeKind::Text {
            make: if ignore.is_empty() {
                Arc::new(make)
            } else {
                Arc::new(move || Box::new(LineMeter::new(ignore.clone(), make())))
            },
            by_turn: params.text(PER.name) == TextScope::Turn.name(),
            skips_prompt: params.text(PROMPT.name) == SKIP,
        })
    }

    /// Returns a recipe from a function that makes a fresh meter of a whole run.
    pub fn run(make: impl Fn() -> Box<dyn Meter> + Send + Sync + 'static) -> Self {
        Self(RecipeKind::Run(Arc::new(make)))
    }

    /// Returns whether its meters read user messages beside their text.
    pub fn hears_users(&self) -> bool {
        matches!(self.0, RecipeKind::Text { skips_prompt, .. } if skips_prompt)
    }

    /// Returns whether its meters begin anew at a turn.
    pub fn begins_anew(&self) -> bool {
        matches!(self.0, RecipeKind::Text { by_turn, .. } if by_turn)
    }

    /// Returns whether its meters read the whole run, and not one channel's text.
    pub fn reads_run(&self) -> bool {
        matches!(self.0, RecipeKind::Run(_))
    }

    /// Returns a fresh meter. A text meter reads `channel` and ignores all other events.
    pub fn meter(&self, channel: Channel) -> Box<dyn Meter> {
        match &self.0 {
            RecipeKind::Run(make) => make(),
            RecipeKind::Text { make, .. } => Box::new(ChannelMeter {
                channel,
                by_turn: self.begins_anew(),
                make: Arc::clone(make),
                meter: make(),
                base: Chars(0),
                read: Chars(0),
                said: self.hears_users().then(PromptFilter::default),
            }),
        }
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recipe")
    }
}

/// The text of one channel among the events. The arguments of each call are a text of their own, and with `per =
/// "turn"` so is the text of each turn. For each text the meter starts anew, while positions continue over the run.
struct ChannelMeter {
    channel: Channel,
    by_turn: bool,
    make: MeterFactory<dyn TextMeter>,
    meter: Box<dyn TextMeter>,
    /// The position in the channel at which the text of `meter` begins.
    base: Chars,
    /// The number of chars read of the channel, counted if texts may begin anew.
    read: Chars,
    /// The user's text, if it is skipped.
    said: Option<PromptFilter>,
}

impl Meter for ChannelMeter {
    fn push(&mut self, event: &Event<'_>, _: EventPlace, facts: &mut Vec<Fact>) {
        let arguments = self.channel == Channel::Arguments;
        match event {
            Event::Text(channel, piece) if *channel == self.channel => self.read(piece, facts),
            Event::Call {
                arguments: written, ..
            } if arguments => {
                // Arguments that did not come as text before the call are read from it.
                if self.read == self.base {
                    self.read(&written.text(), facts);
                }
                self.begin_anew();
            }
            Event::Turn { .. } if self.by_turn && !arguments => self.begin_anew(),
            Event::User(message) => {
                if let Some(said) = &mut self.said {
                    said.hear(message);
                }
            }
            _ => {}
        }
    }
}

impl ChannelMeter {
    fn begin_anew(&mut self) {
        if self.read > self.base {
            self.meter = (self.make)();
            self.base = self.read;
            if let Some(said) = &mut self.said {
                said.begin_anew();
            }
        }
    }

    fn read(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let known = facts.len();
        self.meter.push(piece, facts);
        if let Some(said) = &mut self.said {
            said.reduce_facts(piece, facts, known);
        }
        if self.by_turn || self.channel == Channel::Arguments {
            self.read = self.read + Chars::count(piece);
        }
        if self.base > Chars(0) {
            let told: Vec<Fact> = facts.drain(known..).collect();
            facts.extend(told.into_iter().map(|fact| fact.move_by(self.base)));
        }
    }
}
