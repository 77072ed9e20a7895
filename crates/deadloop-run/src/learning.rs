//! [`learn`]: tools that repeat in healthy runs, to be let pass (`allow`). What it finds stands in settings.toml as
//! a comment until a person takes it.
//!
//! A tool comes into question where the chosen guards stop clean runs of two groups and more at a call of it. Each is then
//! tried: the same runs once more, with that tool let pass. It is proposed where fewer clean runs are stopped and no loop less
//! is ended. The runs are those that it was learnt from, and the comment says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::replay::Replayed;
use deadloop_corpus::{Body, Entry, Transcript};
use deadloop_detect::{Response, Settings};
use deadloop_replay::{Plan, Record, Stop, decide};
use deadloop_score::measure::ENDED;
use deadloop_score::{
    Case, Class, Count, Evidence, Tally, exact_glob, read_text_if_named, write_text,
};
use serde::Serialize;

use crate::again::Again;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::visible::visible_lines;
use crate::words::several;

/// Groups of clean runs in which a tool has to be stopped before it comes into question.
const GROUPS: usize = 2;
/// How many tools are tried, those first at which most clean runs are stopped.
const TRIED: usize = 20;

/// What was learnt.
#[derive(Debug, Serialize)]
pub struct Learnt {
    /// Clean runs in which a tool is called.
    clean_runs: u64,
    /// The guards as they were chosen.
    chosen: Reached,
    /// The same with all proposed tools let pass; `None`: nothing is proposed.
    allowed: Option<Reached>,
    /// The tools that came into question.
    tools: Vec<Tool>,
}

/// A tool at which clean runs are stopped.
#[derive(Debug, Serialize)]
struct Tool {
    name: String,
    /// Clean runs in which it is called.
    called_in: u64,
    /// Clean runs that are stopped at a call or a result of it.
    stopped_at: u64,
    /// What the guards reach that let it pass.
    allowed: Reached,
    /// Whether it is proposed.
    proposed: bool,
}

/// What guards reach on the corpus.
#[derive(Clone, Copy, Debug, Serialize)]
struct Reached {
    /// Clean runs that are stopped.
    wrong: u64,
    /// Loops that are ended, in the loop or before.
    ended: u64,
    loops: u64,
}

impl Reached {
    fn of(tally: &Tally) -> Self {
        Self {
            wrong: tally.get(Count::FalseAlarm),
            ended: tally.get(Count::Hit) + tally.get(Count::Earlier),
            loops: tally.loops(),
        }
    }
}

/// What clean runs say of a tool.
#[derive(Default)]
struct Seen {
    called_in: u64,
    stopped_at: u64,
    stopped_in: BTreeSet<String>,
}

/// The runs that were replayed, and what they are called by.
struct LearnRuns<'a> {
    done: &'a Replayed,
    cases: &'a [Case],
    host: &'a dyn Host,
}

/// Learns from the corpus of a run, for the settings that it left in `dir`, and writes what it learnt into them.
///
/// # Errors
/// The settings cannot be read or written, or it was interrupted.
pub fn learn(done: &Replayed, cases: &[Case], dir: &Path, host: &dyn Host) -> RunResult<Learnt> {
    let file = dir.join("settings.toml");
    let text = read_text_if_named(&file)?.unwrap_or_default();
    let chosen = Settings::parse(&text).map_err(|e| Code::Unexpected.error(e))?;
    let chosen = chosen.part(|m| m.response.level() == Response::Stop && m.program().is_none());
    let runs = LearnRuns { done, cases, host };
    let learnt = runs.learn(&chosen)?;
    write_text(&file, &with_comment(&text, &learnt.comment()))?;
    Ok(learnt)
}

impl LearnRuns<'_> {
    fn learn(&self, chosen: &Settings) -> RunResult<Learnt> {
        let (clean_runs, mut seen) = self.seen(chosen)?;
        seen.retain(|(_, seen)| seen.stopped_in.len() >= GROUPS);
        seen.sort_by(|(a, x), (b, y)| y.stopped_at.cmp(&x.stopped_at).then_with(|| a.cmp(b)));
        seen.truncate(TRIED);
        let alone = |(name, _): &(String, Seen)| chosen.clone().allowing(&[exact_glob(name)]);
        let tried = std::iter::once(chosen.clone()).chain(seen.iter().map(alone));
        let reached = self.reached(tried.collect())?;
        let chosen_reached = reached[0];
        let tools = seen.into_iter().zip(&reached[1..]);
        let tool = |((name, seen), allowed): ((String, Seen), &Reached)| Tool {
            name,
            called_in: seen.called_in,
            stopped_at: seen.stopped_at,
            proposed: allowed.wrong < chosen_reached.wrong && allowed.ended >= chosen_reached.ended,
            allowed: *allowed,
        };
        let mut learnt = Learnt {
            clean_runs,
            chosen: chosen_reached,
            allowed: None,
            tools: tools.map(tool).collect(),
        };
        let proposed = learnt.proposed();
        if !proposed.is_empty() {
            let all = self.reached(vec![chosen.clone().allowing(&proposed)])?;
            learnt.allowed = all.first().copied();
        }
        Ok(learnt)
    }

    /// How many clean runs call a tool, and what they say of each.
    fn seen(&self, chosen: &Settings) -> RunResult<(u64, Vec<(String, Seen)>)> {
        let mut plan = Plan::default();
        let cell = plan.add_settings(chosen);
        let place = plan.cell(cell);
        let mut all: BTreeMap<String, Seen> = BTreeMap::new();
        let mut clean_runs = 0;
        let of = |entry: &Entry, (_, case): (usize, &Case)| {
            let called = called(&entry.transcript);
            if case.class() != Some(Class::Clean) || called.is_empty() {
                return None;
            }
            let record = decide(&plan, &entry.transcript, None);
            let stop = record.blocks[place.block].stop(&place.at);
            let at = stop.and_then(|stop| tool_at(&entry.transcript, stop));
            Some((called, at, case.cluster().to_owned()))
        };
        let again = self.again("looking for tools that repeat");
        again.each(self.cases, of, |_, found| {
            let Some((called, at, cluster)) = found else {
                return Ok(());
            };
            clean_runs += 1;
            for tool in called {
                all.entry(tool).or_default().called_in += 1;
            }
            if let Some(tool) = at {
                let seen = all.entry(tool).or_default();
                seen.stopped_at += 1;
                seen.stopped_in.insert(cluster);
            }
            Ok(())
        })?;
        Ok((clean_runs, all.into_iter().collect()))
    }

    /// What each of the settings reaches on the corpus.
    fn reached(&self, tried: Vec<Settings>) -> RunResult<Vec<Reached>> {
        let mut plan = Plan::default();
        let cells: Vec<usize> = tried.iter().map(|s| plan.add_settings(s)).collect();
        let mut records: Vec<Option<Record>> = vec![None; self.cases.len()];
        let of = |entry: &Entry, _: (usize, &Case)| decide(&plan, &entry.transcript, None);
        self.again("trying them")
            .each(self.cases, of, |i, record| {
                records[i] = Some(record);
                Ok(())
            })?;
        let (mut cases, mut known) = (Vec::new(), Vec::new());
        for (case, record) in self.cases.iter().zip(records) {
            if let Some(record) = record {
                cases.push(case.clone());
                known.push(record);
            }
        }
        let evidence = Evidence::new(&plan, &cases, &known)?;
        let reached = |cell: usize| evidence.tally(cell, &evidence.all(), &self.done.judge);
        Ok(cells
            .into_iter()
            .map(|cell| Reached::of(&reached(cell)))
            .collect())
    }

    /// The pass that says `what`.
    fn again(&self, what: &'static str) -> Again<'_> {
        Again {
            done: self.done,
            what,
            interrupted: "interrupted; nothing was learnt",
            host: self.host,
        }
    }
}

/// The tools that a run calls.
fn called(run: &Transcript) -> BTreeSet<String> {
    let name = |body: &Body| match body {
        Body::ToolCall { name, .. } => Some(name.clone()),
        _ => None,
    };
    run.events.iter().filter_map(|e| name(&e.body)).collect()
}

/// The tool at whose call or result a run was stopped; `None`: it was stopped elsewhere.
fn tool_at(run: &Transcript, stop: &Stop) -> Option<String> {
    let at = usize::try_from(stop.exact.place.event).ok()?;
    let until = run.events.get(..=at)?;
    let of_result = match &until.last()?.body {
        Body::ToolCall { .. } => None,
        Body::ToolResult { id, .. } => id.as_ref(),
        _ => return None,
    };
    until.iter().rev().find_map(|event| match &event.body {
        Body::ToolCall { id, name, .. } if of_result.is_none() || id.as_ref() == of_result => {
            Some(name.clone())
        }
        _ => None,
    })
}

impl Learnt {
    /// The proposed tools, as globs.
    fn proposed(&self) -> Vec<String> {
        let proposed = self.tools.iter().filter(|tool| tool.proposed);
        proposed.map(|tool| exact_glob(&tool.name)).collect()
    }

    /// What was learnt, a sentence a line.
    pub fn lines(&self) -> Vec<String> {
        let Reached {
            wrong,
            ended,
            loops,
        } = self.chosen;
        let mut lines = Vec::new();
        if self.tools.is_empty() {
            lines.push(format!(
                "allow: nothing to learn: of {} that call tools, {wrong} are stopped, and no tool is the reason in two groups",
                several(self.clean_runs, "clean run"),
            ));
        }
        for tool in &self.tools {
            let Reached {
                wrong: then,
                ended: kept,
                ..
            } = tool.allowed;
            let verdict = if tool.proposed {
                "may pass"
            } else {
                "is not proposed"
            };
            lines.push(format!(
                "allow: {} {verdict}: called in {}, of which {} stopped at it; if it passes, {wrong} -> {then} clean runs are \
                 stopped, {ended} -> {kept} of {loops} loops are {}",
                tool.name,
                several(tool.called_in, "clean run"),
                tool.stopped_at,
                ENDED.title,
            ));
        }
        if let (Some(all), true) = (self.allowed, self.proposed().len() > 1) {
            lines.push(format!(
                "allow: all of them together: {wrong} -> {} clean runs are stopped, {ended} -> {} of {loops} loops are {}",
                all.wrong, all.ended, ENDED.title
            ));
        }
        lines
    }

    /// The lines as a comment of settings.toml, with what to take.
    fn comment(&self) -> String {
        let mut text = String::from("# --learn-allow, on the runs that it was learnt from:\n");
        // Writing into a String cannot fail.
        for line in self.lines() {
            let _ = writeln!(text, "# {}", visible_lines(&line));
        }
        let proposed = self.proposed();
        if !proposed.is_empty() {
            let globs = toml::Value::from(proposed);
            let _ = writeln!(
                text,
                "# To take it, add these to `allow` of each guard on calls: {globs}"
            );
        }
        text
    }
}

/// The settings with a comment more, behind those that lead them.
fn with_comment(text: &str, comment: &str) -> String {
    let lead = text.lines().take_while(|line| line.starts_with('#'));
    let at: usize = lead.map(|line| line.len() + 1).sum();
    let (head, rest) = text.split_at(at.min(text.len()));
    format!("{head}{comment}{rest}")
}
