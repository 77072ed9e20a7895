//! Runs of agents with a planted loop or with harmless repetition.
//!
//! The repetition is planted into a host: a clean real run, or a script of a file of forms. It consists of the host's
//! own calls and their results, so that a loop looks like the rest of its run.
//!
//! | to find | look in |
//! |---|---|
//! | one transcript | this file |
//! | a run as turns, with its source | `host` |
//! | the notation of scripts | `script` |
//! | the kinds that can be planted | `spec/kinds` |
//! | loops | `loops` |
//! | reported loops of recent agents | `agent_loops` |
//! | harmless repetition | `harmless` |
//! | a call in other words | `rewording` |
//! | ids and dates in each result | `volatile_values` |

pub(crate) mod agent_loops;
pub(crate) mod harmless;
mod host;
pub(crate) mod loops;
mod rewording;
mod script;
mod volatile_values;

pub use host::RealRun;

use deadloop_detect::Channel;
use serde_json::{Value as Json, json};

use super::label::PlantedLabel;
use super::spec::{CountRange, ItemMaker, SpecError, SpecItem};
use super::stock::{Split, items_of_split};
use super::transcript::{NoDraw, SynthTranscript, seed_of_name};
use super::{MAX_DRAWS, PLANTED_SUFFIX, Synth, TranscriptFrame};
use crate::planted_loops::Rng;
use deadloop_corpus::Reason;
use deadloop_corpus::{Body, RecordedEvent};
use harmless::HarmlessTurns;
use host::{HostRun, HostTurn};
use loops::PlantedLoop;
use volatile_values::add_volatile_values;

/// A loop in a run: draws the planted turns behind a turn of the host.
pub(crate) type LoopScene = fn(&DrawSpec<'_>, &mut Rng) -> Draw<PlantedLoop>;

/// Harmless repetition in a run: draws the turns that replace some of the host's.
pub(crate) type HarmlessScene = fn(&DrawSpec<'_>, usize, &mut Rng) -> Draw<HarmlessTurns>;

/// The result of a draw, or the reason why it failed.
type Draw<T> = Result<T, NoDraw>;

/// The item and the host of one draw.
pub(crate) struct DrawSpec<'a> {
    item: &'a SpecItem,
    /// The range of the second copy's position, in calls, or in turns for loops of turns.
    onset: CountRange,
    /// The run to plant into.
    host: &'a HostRun,
}

/// A run with a planted part, and its labels.
struct PlantedRun {
    turns: Vec<HostTurn>,
    labels: Vec<PlantedLabel>,
    /// Whether the run ends in the loop.
    is_cut: bool,
}

impl<'a> Synth<'a> {
    /// Makes the run at `at` of an item.
    pub(super) fn make_run(
        &self,
        item: &'a SpecItem,
        at: usize,
    ) -> Result<SynthTranscript, SpecError> {
        let (mut rng, split) = self.begin(item, at);
        let onset = item.onset(at);
        let draw = |attempt| {
            let host = self.draw_host(item, (at + attempt, split), &mut rng)?;
            let spec = DrawSpec {
                item,
                onset,
                host: &host,
            };
            let planted = draw_planted(&spec, &mut rng)?;
            Ok((planted, host))
        };
        let (planted, host) = self.try_draw((item, &item.id(at)), MAX_DRAWS, draw)?;
        Ok(self.finish_run(item, (at, split), planted, host))
    }

    /// Draws a run to plant into. Forms are used in turn.
    fn draw_host(
        &self,
        item: &SpecItem,
        (at, split): (usize, Split),
        rng: &mut Rng,
    ) -> Result<HostRun, NoDraw> {
        if let Some(name) = &item.forms {
            let file = self.stock.forms.get(name.as_str());
            let file = file.ok_or("no forms were read")?;
            let fits = |form: &&super::spec::Form| *form.class == "run" && item.speaks(form.lang());
            let forms: Vec<_> = file.forms.iter().filter(fits).collect();
            let group = |form: &super::spec::Form| form.name.to_string();
            let forms = items_of_split(self.spec, forms, name, split, group);
            let form = forms.get(at % forms.len().max(1));
            let form = form.ok_or("no form of class run")?;
            let text = file.render(form, rng, &[]);
            let text = text.map_err(|_| "a form that cannot be rendered")?;
            return HostRun::from_script(form, &text);
        }
        let pool = self.find_runs(item, split);
        let run = rng.pick(&pool).copied().map(HostRun::from_run);
        run.ok_or("no run with calls in the sources")
    }

    /// Returns the runs of an item's sources in its languages and in one split.
    fn find_runs(&self, item: &SpecItem, split: Split) -> Vec<&'a RealRun> {
        let mut pool: Vec<&RealRun> = Vec::new();
        for at in &item.sources {
            let runs = self.stock.runs.get(*at).map_or(&[][..], Vec::as_slice);
            let fits = |run: &&RealRun| item.speaks(&run.lang);
            let name = self.spec.sources.get(*at).map_or("", |source| &source.name);
            let runs = runs.iter().filter(fits).collect();
            let group = |run: &RealRun| run.group.clone();
            pool.extend(items_of_split(self.spec, runs, name, split, group));
        }
        pool
    }

    fn finish_run(
        &self,
        item: &'a SpecItem,
        (at, split): (usize, Split),
        made: PlantedRun,
        host: HostRun,
    ) -> SynthTranscript {
        let kind = item.kind.name;
        let (source, tag) = match item.kind.by {
            ItemMaker::Loop(..) => ("planted", format!("{}-{kind}", item.repeats.class.name())),
            ItemMaker::Harmless(..) => ("harmless", kind.to_owned()),
            _ => ("clean", "clean".to_owned()),
        };
        let made_of = json!({"of": host.from});
        let mut meta =
            json!({"source": source, "tag": tag, "item": item.name.as_str(), "made": made_of});
        let benign = list_benign(&made.turns);
        if !benign.is_empty() {
            meta["benign"] = benign.into();
        }
        if made.is_cut {
            meta["max_turns"] = made.turns.len().into();
        }
        let reason = if made.is_cut { "limit" } else { "stop" };
        let mut events = host.head;
        events.extend(made.turns.into_iter().flat_map(|turn| turn.events));
        events.push(super::finish(reason));
        number_calls(&mut events);
        let seed = seed_of_name(self.spec.seed, &["volatile", &item.name, &at.to_string()]);
        let volatile = item.volatile.as_deref().unwrap_or_default();
        add_volatile_values(volatile, &mut events, &mut Rng::new(seed));
        let frame = TranscriptFrame {
            item,
            id: item.id(at),
            lang: &host.lang,
            split,
        };
        let model = host
            .model
            .map(|model| self.name_writer(&model, PLANTED_SUFFIX));
        self.create_transcript(frame, model, host.group, meta, events, made.labels)
    }
}

/// Draws a planted part for one host.
fn draw_planted(spec: &DrawSpec<'_>, rng: &mut Rng) -> Draw<PlantedRun> {
    match spec.item.kind.by {
        ItemMaker::Harmless(reason, scene) => harmless::plant_harmless(spec, (reason, scene), rng),
        ItemMaker::Loop(kind, scene) => loops::plant_loop(spec, (kind, scene), rng),
        _ => Ok(PlantedRun {
            turns: spec.host.turns.clone(),
            labels: clean_labels(),
            is_cut: false,
        }),
    }
}

impl<'a> DrawSpec<'a> {
    /// Draws a text of the item or its kind.
    fn draw_text(&self, rng: &mut Rng) -> Result<&'a str, NoDraw> {
        let drawn = match &self.item.texts {
            Some(texts) => rng.pick(texts).map(|text| text.as_str()),
            None => rng.pick(self.item.kind.texts()).map(String::as_str),
        };
        drawn.ok_or("no texts")
    }
}

/// Returns the labels of a run that is clean in calls and in turns.
fn clean_labels() -> Vec<PlantedLabel> {
    [Channel::Tools, Channel::Turns]
        .map(|channel| PlantedLabel::clean(channel.name()))
        .into()
}

/// Returns the stretches of harmless repetition, in calls from 0, for `meta.benign`.
fn list_benign(turns: &[HostTurn]) -> Vec<Json> {
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

/// Gives each call a new id, and gives the same id to its result.
fn number_calls(events: &mut [RecordedEvent]) {
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
