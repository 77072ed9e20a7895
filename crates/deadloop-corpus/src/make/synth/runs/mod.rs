//! Runs of agents: a host (a real run that is clean, or a script out of a file of forms) into which a loop of
//! tool calls or turns is planted, or repetition that does no harm. What is repeated is the host's own: its
//! calls with their results, so that a planted loop looks like the run that it is in.
//!
//! | to find | look in |
//! |---|---|
//! | what an item may ask for | this file |
//! | a run as turns, and where it is from | `host` |
//! | the notation of scripts | `script` |
//! | what can be planted | `shape` |
//! | loops | `loops` |
//! | loops of the shapes that people report of agents of today | `reported` |
//! | parallel calls that come back in part | `partial` |
//! | repetition that does no harm | `harmless` |
//! | a call in other words | `reworded` |
//! | ids and dates that each result has | `volatile` |

mod harmless;
mod host;
mod loops;
mod partial;
mod reported;
mod reworded;
mod script;
mod shape;
mod volatile;

pub use host::Run;

use deadloop_detect::Channel;
use serde_json::{Map, Value as Json, json};

use super::checks::{ends, named};
use super::fields::{Bounds, Fields, SpecError};
use super::label::Label;
use super::spec::{CorpusSpec, Item};
use super::stock::{Split, of_split};
use super::{ATTEMPTS, Frame, Made, PLANTED, Synth, seeded};
use crate::find::Reason;
use crate::make::plant::Rng;
use crate::{Body, RecordedEvent};
use host::{Host, Turn};
pub(super) use shape::Shape;
use volatile::Volatile;
pub(super) use volatile::WORDS as VOLATILE;

/// Why nothing came of a draw.
type Failed = &'static str;

/// An item of runs.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) shape: Shape,
    /// None: the runs of the sources.
    pub(super) forms: Option<String>,
    period: Bounds,
    copies: Bounds,
    onsets: Vec<Bounds>,
    after: Bounds,
    is_transient: bool,
    texts: Vec<String>,
    volatile: Volatile,
}

impl CorpusSpec {
    /// Reads an item of runs; refuses what no run has.
    pub(super) fn run(&self, table: &Fields, shape: Shape) -> Result<Wanted, SpecError> {
        let forms = table.text("forms");
        match forms {
            Some(name) => {
                named(table, "forms", name, self.forms.iter().map(|f| &f.0))?;
            }
            None if self.sources.is_empty() => {
                let expected = "forms, or a [[source]] that is a corpus of runs";
                return Err(SpecError::at(table.line, "a run without a host", expected));
            }
            None => {}
        }
        let wanted = Wanted {
            shape,
            forms: forms.map(str::to_owned),
            period: table.range("period").unwrap_or(shape.period()),
            copies: table.range("copies").unwrap_or(shape.copies()),
            onsets: match table.ranges("onset") {
                [] => vec![Bounds::new(3, 20)],
                onsets => onsets.to_vec(),
            },
            after: table.range("after").unwrap_or(Bounds::new(0, 0)),
            is_transient: table.text("class") == Some("transient"),
            texts: match table.texts("texts") {
                [] => shape
                    .texts()
                    .iter()
                    .map(|text| (*text).to_owned())
                    .collect(),
                texts => texts.to_vec(),
            },
            volatile: Volatile::of(table.texts("volatile")),
        };
        let least = shape.period().low.min(2);
        if wanted.period.low < least {
            let what = format!("{} of {} calls", table.string("kind"), wanted.period);
            let expected = "2 calls and more; one call over and over is same-call-same-result";
            return Err(SpecError::at(table.line_of("period"), what, expected));
        }
        ends(table, wanted.is_transient, wanted.after)?;
        Ok(wanted)
    }
}

impl Wanted {
    /// What the label says of a loop.
    fn class(&self) -> &'static str {
        if self.is_transient {
            "transient"
        } else {
            "loop"
        }
    }
}

/// What is asked of one draw.
struct Asked<'a> {
    wanted: &'a Wanted,
    /// Where the second copy has to begin, in calls; in turns for loops of turns.
    onset: Bounds,
}

/// A run with what was planted, and what is true about it.
struct Planted {
    turns: Vec<Turn>,
    labels: Vec<Label>,
    /// It ends in the loop.
    is_cut: bool,
}

impl<'a> Synth<'a> {
    pub(super) fn run(
        &self,
        item: &'a Item,
        wanted: &Wanted,
        at: usize,
    ) -> Result<Made, SpecError> {
        let mut rng = Rng::new(seeded(
            self.spec.seed,
            &["item", &item.name, &at.to_string()],
        ));
        let split = if rng.chance(self.spec.test) {
            Split::Test
        } else {
            Split::Dev
        };
        let asked = Asked {
            wanted,
            onset: wanted.onsets[at % wanted.onsets.len()],
        };
        let mut why = "no run";
        for attempt in 0..ATTEMPTS {
            let host = self.host(item, wanted, (at + attempt, split), &mut rng);
            match host.and_then(|host| Ok((planted(&asked, &host, &mut rng)?, host))) {
                Ok((planted, host)) => {
                    return Ok(self.of_run(item, wanted, (at, split), planted, host));
                }
                Err(reason) => why = reason,
            }
        }
        Err(self.failed(item, &format!("{}/{at:03}", item.name), why))
    }

    /// A run to plant into; forms take turns.
    fn host(
        &self,
        item: &Item,
        wanted: &Wanted,
        (at, split): (usize, Split),
        rng: &mut Rng,
    ) -> Result<Host, Failed> {
        if let Some(name) = &wanted.forms {
            let file = self.stock.forms.get(name).ok_or("no forms were read")?;
            let fits = |form: &&super::forms::Form| {
                form.class == "run" && (item.langs.is_empty() || item.langs.contains(&form.lang))
            };
            let forms: Vec<_> = file.forms.iter().filter(fits).collect();
            let forms = of_split(self.spec, forms, name, split, |form| form.name.clone());
            let form = forms
                .get(at % forms.len().max(1))
                .ok_or("no form of class run")?;
            let text = file.render(form, rng, &[]);
            let text = text.map_err(|_| "a form that cannot be rendered")?;
            return Host::of_script(form, &text);
        }
        let pool = self.runs(item, split);
        let run = rng.pick(&pool).copied();
        run.map(Host::of_run)
            .ok_or("no run with calls in the sources")
    }

    /// The runs of an item's sources, in its languages and a split.
    fn runs(&self, item: &Item, split: Split) -> Vec<&'a Run> {
        let mut pool: Vec<&Run> = Vec::new();
        for at in &item.sources {
            let runs = self.stock.runs.get(*at).map_or(&[][..], Vec::as_slice);
            let fits = |run: &&Run| item.langs.is_empty() || item.langs.contains(&run.lang);
            let name = self.spec.sources.get(*at).map_or("", |source| &source.name);
            let runs = runs.iter().filter(fits).collect();
            pool.extend(of_split(self.spec, runs, name, split, |run| {
                run.group.clone()
            }));
        }
        pool
    }

    fn of_run(
        &self,
        item: &'a Item,
        wanted: &Wanted,
        (at, split): (usize, Split),
        made: Planted,
        host: Host,
    ) -> Made {
        let (source, tag) = match wanted.shape {
            Shape::Plain => ("clean", "clean".to_owned()),
            Shape::Harmless(harmless) => ("harmless", harmless.name()),
            Shape::Loop(looped) => ("planted", format!("{}-{}", wanted.class(), looped.name())),
        };
        let mut meta = Map::new();
        meta.insert("source".into(), source.into());
        meta.insert("tag".into(), tag.into());
        meta.insert("item".into(), item.name.clone().into());
        meta.insert("made".into(), json!({"of": host.from}));
        let benign = benign(&made.turns);
        if !benign.is_empty() {
            meta.insert("benign".into(), benign.into());
        }
        if made.is_cut {
            meta.insert("max_turns".into(), made.turns.len().into());
        }
        let reason = if made.is_cut { "limit" } else { "stop" };
        let mut events = host.head;
        events.extend(made.turns.into_iter().flat_map(|turn| turn.events));
        events.push(super::finish(reason));
        name_calls(&mut events);
        let seed = seeded(self.spec.seed, &["volatile", &item.name, &at.to_string()]);
        wanted.volatile.put(&mut events, &mut Rng::new(seed));
        let frame = Frame {
            item,
            id: format!("{}/{at:03}", item.name),
            lang: &host.lang,
            split,
        };
        let model = host.model.map(|model| self.writer(&model, PLANTED));
        self.entry(
            frame,
            model,
            host.group,
            Json::Object(meta),
            events,
            made.labels,
        )
    }
}

/// One draw on one host.
fn planted(asked: &Asked<'_>, host: &Host, rng: &mut Rng) -> Result<Planted, Failed> {
    match asked.wanted.shape {
        Shape::Plain => Ok(Planted {
            turns: host.turns.clone(),
            labels: clean(),
            is_cut: false,
        }),
        Shape::Harmless(harmless) => harmless::planted(asked, host, harmless, rng),
        Shape::Loop(looped) => loops::planted(asked, host, looped, rng),
    }
}

/// A clean run is clean in calls and in turns.
fn clean() -> Vec<Label> {
    [Channel::Tools, Channel::Turns]
        .map(|channel| Label::clean(channel.name()))
        .into()
}

/// The stretches of harmless repetition, in calls from 0, as `meta.benign` has them.
fn benign(turns: &[Turn]) -> Vec<Json> {
    let mut found: Vec<(Reason, usize, usize)> = Vec::new();
    let mut calls = 0;
    for turn in turns {
        let (start, end) = (calls, calls + turn.calls());
        calls = end;
        match (turn.benign, found.last_mut()) {
            (Some(reason), Some(last)) if !turn.begins && last.0 == reason && last.2 == start => {
                last.2 = end;
            }
            (Some(reason), _) => found.push((reason, start, end)),
            (None, _) => {}
        }
    }
    let one = |(reason, start, end): &(Reason, usize, usize)| json!({"reason": reason.to_string(), "start": start, "end": end});
    found.iter().map(one).collect()
}

/// Gives each call an id of its own, and its result the same.
fn name_calls(events: &mut [RecordedEvent]) {
    let mut open: Vec<(Option<String>, String)> = Vec::new();
    let mut calls = 0;
    for event in events {
        match &mut event.body {
            Body::ToolCall { id, .. } => {
                let new = format!("call-{calls}");
                calls += 1;
                open.push((id.replace(new.clone()), new));
            }
            Body::ToolResult { id, .. } => {
                if let Some(at) = open.iter().position(|(old, _)| old == id) {
                    *id = Some(open.remove(at).1);
                }
            }
            _ => {}
        }
    }
}
