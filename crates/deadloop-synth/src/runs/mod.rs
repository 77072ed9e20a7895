//! Runs of agents with an inserted loop or harmless repetition.
//!
//! The repetition is inserted into a host: a clean real run, or a script of a file of forms. It consists of the host's
//! own calls and their results, so that a loop looks like the rest of its run.
//!
//! | to find | look in |
//! |---|---|
//! | one transcript | this file |
//! | a run as turns, with its source | `host` |
//! | the notation of scripts | `script` |
//! | the kinds of repetition | `spec/kinds` |
//! | loops | `loops` |
//! | loops reported for recent agents | `agent_loops` |
//! | harmless repetition | `harmless` |
//! | rewording of a call | `rewording` |
//! | random ids and dates in results | `volatile_values` |

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
use super::spec::{CountRange, ItemMaker, SpecItem, SpecResult};
use super::stock::{Split, items_of_split};
use super::transcript::{DrawResult, SynthTranscript, derive_seed};
use super::{MAX_DRAWS, PLANTED_SUFFIX, Synth, TranscriptFrame};
use crate::planted_loops::Rng;
use deadloop_corpus::BenignReason;
use deadloop_corpus::{Body, RecordedEvent};
use harmless::HarmlessTurns;
use host::{HostRun, HostTurn};
use loops::InsertedLoop;
use volatile_values::add_volatile_values;

/// A function that draws the turns of a loop to insert into a host.
pub(crate) type InsertLoopFn = fn(&DrawInput<'_>, &mut Rng) -> LoopDraw;

/// A function that draws harmless turns to replace turns of a host.
pub(crate) type InsertHarmlessFn = fn(&DrawInput<'_>, usize, &mut Rng) -> HarmlessDraw;

/// The result of drawing a loop.
type LoopDraw = DrawResult<InsertedLoop>;

/// The result of drawing harmless turns.
type HarmlessDraw = DrawResult<HarmlessTurns>;

/// The item and the host of one draw.
pub(crate) struct DrawInput<'a> {
    item: &'a SpecItem,
    /// Range of the second copy's position, in calls, or in turns for loops of turns.
    onset: CountRange,
    /// Run into which the repetition is inserted.
    host: &'a HostRun,
}

/// A run with inserted repetition, and its labels.
struct RunWithInsertion {
    turns: Vec<HostTurn>,
    labels: Vec<PlantedLabel>,
    /// Whether the run ends in the loop.
    is_cut: bool,
}

impl<'a> Synth<'a> {
    /// Makes a run of an item.
    pub(super) fn make_run(&self, item: &'a SpecItem, nth: usize) -> SpecResult<SynthTranscript> {
        let (mut rng, split) = self.start_rng(item, nth);
        let onset = item.onset(nth);
        let draw = |attempt| {
            let host = self.draw_host(item, (nth + attempt, split), &mut rng)?;
            let spec = DrawInput {
                item,
                onset,
                host: &host,
            };
            let planted = draw_insertion(&spec, &mut rng)?;
            Ok((planted, host))
        };
        let (planted, host) = self.draw_with_retries((item, &item.id(nth)), MAX_DRAWS, draw)?;
        Ok(self.finish_run(item, (nth, split), planted, host))
    }

    /// Draws a host. Forms are used in turn.
    fn draw_host(
        &self,
        item: &SpecItem,
        (nth, split): (usize, Split),
        rng: &mut Rng,
    ) -> DrawResult<HostRun> {
        if let Some(name) = &item.forms {
            let file = self.stock.forms.get(name.as_str());
            let file = file.ok_or("no forms were read")?;
            let fits =
                |form: &&super::spec::Form| *form.class == "run" && item.accepts(form.lang());
            let forms: Vec<_> = file.forms.iter().filter(fits).collect();
            let group = |form: &super::spec::Form| form.name.to_string();
            let forms = items_of_split(self.spec, forms, name, split, group);
            let form = forms.get(nth % forms.len().max(1));
            let form = form.ok_or("no form of class run")?;
            let text = file.render(form, rng, &[]);
            let text = text.map_err(|_| "a form that cannot be rendered")?;
            return HostRun::from_script(form, &text);
        }
        let pool = self.find_runs(item, split);
        let run = rng.choose(&pool).copied().map(HostRun::from_run);
        run.ok_or("no run with calls in the sources")
    }

    /// Returns the runs of an item's sources that have its languages and one split.
    fn find_runs(&self, item: &SpecItem, split: Split) -> Vec<&'a RealRun> {
        let mut pool: Vec<&RealRun> = Vec::new();
        for source in &item.sources {
            let runs = self.stock.runs.get(*source).map_or(&[][..], Vec::as_slice);
            let fits = |run: &&RealRun| item.accepts(&run.lang);
            let name = self
                .spec
                .sources
                .get(*source)
                .map_or("", |source| &source.name);
            let runs = runs.iter().filter(fits).collect();
            let group = |run: &RealRun| run.group.clone();
            pool.extend(items_of_split(self.spec, runs, name, split, group));
        }
        pool
    }

    fn finish_run(
        &self,
        item: &'a SpecItem,
        (nth, split): (usize, Split),
        run: RunWithInsertion,
        host: HostRun,
    ) -> SynthTranscript {
        let kind = item.kind.name;
        let (source, tag) = match item.kind.maker {
            ItemMaker::Loop(..) => ("planted", format!("{}-{kind}", item.repeats.class.name())),
            ItemMaker::Harmless(..) => ("harmless", kind.to_owned()),
            _ => ("clean", "clean".to_owned()),
        };
        let made_of = json!({"of": host.source_id});
        let mut meta =
            json!({"source": source, "tag": tag, "item": item.name.as_str(), "made": made_of});
        let benign = list_benign(&run.turns);
        if !benign.is_empty() {
            meta["benign"] = benign.into();
        }
        if run.is_cut {
            meta["max_turns"] = run.turns.len().into();
        }
        let reason = if run.is_cut { "limit" } else { "stop" };
        let mut events = host.head;
        events.extend(run.turns.into_iter().flat_map(|turn| turn.events));
        events.push(super::finish_event(reason));
        renumber_calls(&mut events);
        let seed = derive_seed(self.spec.seed, &["volatile", &item.name, &nth.to_string()]);
        let volatile = item.volatile.as_deref().unwrap_or_default();
        add_volatile_values(volatile, &mut events, &mut Rng::new(seed));
        let frame = TranscriptFrame {
            item,
            id: item.id(nth),
            lang: &host.lang,
            split,
        };
        let model = host
            .model
            .map(|model| self.derived_model_name(&model, PLANTED_SUFFIX));
        self.create_transcript(frame, model, host.group, meta, events, run.labels)
    }
}

/// Draws the repetition for one host.
fn draw_insertion(spec: &DrawInput<'_>, rng: &mut Rng) -> DrawResult<RunWithInsertion> {
    match spec.item.kind.maker {
        ItemMaker::Harmless(reason, scene) => harmless::insert_harmless(spec, (reason, scene), rng),
        ItemMaker::Loop(kind, scene) => loops::insert_loop(spec, (kind, scene), rng),
        _ => Ok(RunWithInsertion {
            turns: spec.host.turns.clone(),
            labels: clean_labels(),
            is_cut: false,
        }),
    }
}

impl<'a> DrawInput<'a> {
    /// Draws a text of the item or of its kind.
    fn draw_text(&self, rng: &mut Rng) -> DrawResult<&'a str> {
        let drawn = match &self.item.texts {
            Some(texts) => rng.choose(texts).map(|text| text.as_str()),
            None => rng.choose(self.item.kind.texts()).map(String::as_str),
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

/// Lists the spans of harmless repetition, in calls from 0, for `meta.benign`.
fn list_benign(turns: &[HostTurn]) -> Vec<Json> {
    let mut found: Vec<(BenignReason, usize, usize)> = Vec::new();
    let mut calls = 0;
    for turn in turns {
        let (start, end) = (calls, calls + turn.count_calls());
        calls = end;
        match (turn.benign, found.last_mut()) {
            (Some(reason), Some(last))
                if !turn.begins_benign && last.0 == reason && last.2 == start =>
            {
                last.2 = end;
            }
            (Some(reason), _) => found.push((reason, start, end)),
            (None, _) => {}
        }
    }
    let one = |(reason, start, end): &(BenignReason, usize, usize)| json!({"reason": reason.to_string(), "start": start, "end": end});
    found.iter().map(one).collect()
}

/// Renumbers the ids of calls and of their results.
fn renumber_calls(events: &mut [RecordedEvent]) {
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
                if let Some(nth) = open.iter().position(|(old, _)| old == id) {
                    *id = Some(open.remove(nth).1);
                }
            }
            _ => {}
        }
    }
}
