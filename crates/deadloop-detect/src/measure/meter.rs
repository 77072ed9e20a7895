//! [`Meter`]: the measuring part of a detector. [`Recipe`]: a factory of meters.
//!
//! A text detector implements [`TextMeter`], which reads only chars. An adapter selects the text of a channel from the
//! events.

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

/// The measuring part of a detector. There is no reset: each stream needs a new meter.
///
/// The end of a stream is not reported to meters, so alarms cannot depend on it.
pub trait Meter: Send + Sync {
    /// Reads the next event, and appends the new facts. If a setting accepts several at the same position, the first
    /// one counts.
    ///
    /// The facts that a setting accepts, and their positions, do not depend on how text is cut into events. `place` is
    /// the place of the event in the stream. Meters of one text ignore it.
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>);
}

/// A meter of one text.
pub trait TextMeter: Send + Sync {
    /// Reads the next piece of the text, and appends the new facts. If a setting accepts several at the same char, the
    /// first one counts.
    ///
    /// The facts that a setting accepts, and their positions, do not depend on how the text is cut into pieces. A
    /// stretch that continues in the next piece is reported in parts.
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>);
}

/// A factory of meters: the compiled parameters of a detector, shared by all streams. Each stream gets a new [`Meter`].
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
    /// Returns a recipe of text meters, which `make` creates. Reads the parameters that all text detectors share.
    pub fn text(
        params: &Params,
        make: impl Fn() -> Box<dyn TextMeter> + Send + Sync + 'static,
    ) -> Self {
        let patterns = params.items(IGNORE.name).iter();
        let patterns: Vec<&str> = patterns.filter_map(Value::as_text).collect();
        // The parameter was checked, so the patterns compile.
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

    /// Returns a recipe of meters of a run, which `make` creates.
    pub fn run(make: impl Fn() -> Box<dyn Meter> + Send + Sync + 'static) -> Self {
        Self(RecipeKind::Run(Arc::new(make)))
    }

    /// Returns whether the meters also read user messages.
    pub fn reads_user_messages(&self) -> bool {
        matches!(self.0, RecipeKind::Text { skips_prompt, .. } if skips_prompt)
    }

    /// Returns whether the meters restart at each turn.
    pub fn restarts_at_turns(&self) -> bool {
        matches!(self.0, RecipeKind::Text { by_turn, .. } if by_turn)
    }

    /// Returns whether the meters read all events of a run, not the text of one channel.
    pub fn reads_run(&self) -> bool {
        matches!(self.0, RecipeKind::Run(_))
    }

    /// Returns a new meter. A text meter reads only `channel`.
    pub fn meter(&self, channel: Channel) -> Box<dyn Meter> {
        match &self.0 {
            RecipeKind::Run(make) => make(),
            RecipeKind::Text { make, .. } => Box::new(ChannelMeter {
                channel,
                by_turn: self.restarts_at_turns(),
                make: Arc::clone(make),
                meter: make(),
                base: Chars(0),
                read: Chars(0),
                prompt: self.reads_user_messages().then(PromptFilter::default),
            }),
        }
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recipe")
    }
}

/// A meter of one channel of the events. The arguments of each call are a separate text. With `per = "turn"`, the text
/// of each turn is, too. The inner meter restarts for each text, and positions continue over the run.
struct ChannelMeter {
    channel: Channel,
    by_turn: bool,
    make: MeterFactory<dyn TextMeter>,
    meter: Box<dyn TextMeter>,
    /// The position in the channel at which the current text begins.
    base: Chars,
    /// The number of chars read of the channel, counted only if the meter may restart.
    read: Chars,
    /// The filter of the user's text, if it is skipped.
    prompt: Option<PromptFilter>,
}

impl Meter for ChannelMeter {
    fn push(&mut self, event: &Event<'_>, _: EventPlace, facts: &mut Vec<Fact>) {
        let arguments = self.channel == Channel::Arguments;
        match event {
            Event::Text(channel, piece) if *channel == self.channel => self.read(piece, facts),
            Event::Call {
                arguments: written, ..
            } if arguments => {
                // Arguments that did not arrive as text are read from the call.
                if self.read == self.base {
                    self.read(&written.text(), facts);
                }
                self.restart();
            }
            Event::Turn { .. } if self.by_turn && !arguments => self.restart(),
            Event::User(message) => {
                if let Some(prompt) = &mut self.prompt {
                    prompt.add_message(message);
                }
            }
            _ => {}
        }
    }
}

impl ChannelMeter {
    fn restart(&mut self) {
        if self.read > self.base {
            self.meter = (self.make)();
            self.base = self.read;
            if let Some(prompt) = &mut self.prompt {
                prompt.restart();
            }
        }
    }

    fn read(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let known = facts.len();
        self.meter.push(piece, facts);
        if let Some(prompt) = &mut self.prompt {
            prompt.reduce_facts(piece, facts, known);
        }
        if self.by_turn || self.channel == Channel::Arguments {
            self.read = self.read + Chars::count(piece);
        }
        if self.base > Chars(0) {
            let moved: Vec<Fact> = facts.drain(known..).collect();
            facts.extend(moved.into_iter().map(|fact| fact.shifted(self.base)));
        }
    }
}
