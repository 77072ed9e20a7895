//! Remedies for wrong alarms: tools to `allow`, and lines to `ignore`.
//!
//! A tool that repeats in healthy runs may pass, and so may a line that healthy text repeats. Candidates are tools and
//! lines at which the file stops clean transcripts of at least two groups. Each candidate is let pass in another run
//! over the corpus. It is proposed if fewer clean transcripts are stopped and no fewer loops are ended. The figures are
//! in-sample, and the sentences mention that.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_corpus::{Body, Entry, Transcript};
use deadloop_detect::{Channel, Event, Response, Settings, Unit};
use deadloop_replay::{Plan, Record, Stop, decide};
use deadloop_score::choose::Choices;
use deadloop_score::measure::ENDED;
use deadloop_score::{Case, Count, Evidence, Tally, Verdict, exact_glob};

use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::ReplayRun;
use crate::replay::second_pass::SecondPass;
use crate::words::several;

/// The minimum number of groups with a clean transcript stopped at a tool or a line.
const GROUPS: usize = 2;
/// The maximum number of tools or lines that are tried, those with the most stopped clean transcripts first.
const TRIED: usize = 8;
/// The chars before an alarm in which a line has to repeat, and the minimum number of repeats.
const LINES: (usize, usize) = (2_000, 3);

/// A tool or a line at which clean transcripts are stopped, with its counts.
#[derive(Default)]
struct AlarmCause {
    cases: Vec<usize>,
    groups: BTreeSet<String>,
}

/// The remedies that were tried.
#[derive(Default)]
pub(super) struct RemedyTrials {
    /// A sentence for each remedy, and one for all remedies together.
    pub(super) sentences: Vec<String>,
    /// The sentence of the remedy for a case.
    pub(super) of_cases: BTreeMap<usize, String>,
}

/// The results of a setting on the corpus.
#[derive(Clone, Copy, PartialEq)]
struct RemedyResult {
    /// The number of stopped clean transcripts.
    wrong: u64,
    /// The number of loops ended inside the loop or before.
    ended: u64,
}

impl RemedyResult {
    fn new(tally: &Tally) -> Self {
        Self {
            wrong: tally.get(Count::FalseAlarm),
            ended: tally.get(Count::Hit) + tally.get(Count::Earlier),
        }
    }
}

/// The search for remedies for the wrong alarms of a settings file.
pub(super) struct Remedies<'a> {
    pub(super) done: &'a ReplayRun,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) host: &'a dyn Host,
}

impl Remedies<'_> {
    /// Tries remedies, and describes the result of each. `file` is the text of the settings of `choices`.
    ///
    /// # Errors
    /// Returns an error if the settings cannot be read or the host stops the pass.
    pub(super) fn try_remedies(&self, choices: &Choices, file: &str) -> RunResult<RemedyTrials> {
        let mut culprits: Vec<(String, AlarmCause)> = self.causes(choices)?.into_iter().collect();
        culprits.retain(|(_, culprit)| culprit.groups.len() >= GROUPS);
        let stopped = |culprit: &AlarmCause| culprit.cases.len();
        culprits.sort_by(|(a, x), (b, y)| stopped(y).cmp(&stopped(x)).then_with(|| a.cmp(b)));
        culprits.truncate(TRIED);
        if culprits.is_empty() {
            return Ok(RemedyTrials::default());
        }
        let names: Vec<String> = culprits.iter().map(|(name, _)| name.clone()).collect();
        let alone = names
            .iter()
            .map(|name| self.ignoring(file, std::slice::from_ref(name)));
        let settings: Vec<Settings> = std::iter::once(self.ignoring(file, &[]))
            .chain(alone)
            .collect::<RunResult<_>>()?;
        let reached = self.measure_settings(&settings)?;
        let helps =
            |then: &RemedyResult| then.wrong < reached[0].wrong && then.ended >= reached[0].ended;
        let tried = names.iter().zip(&reached[1..]);
        let mut sentences: Vec<String> = tried
            .clone()
            .map(|(name, then)| self.sentence(name, (reached[0], *then), helps(then)))
            .collect();
        let of_each = culprits.iter().zip(&sentences);
        let of_each = of_each.flat_map(|((_, culprit), sentence)| {
            let cases = culprit.cases.iter();
            cases.map(|case| (*case, sentence.clone()))
        });
        let of_cases = of_each.collect();
        let proposed: Vec<String> = tried
            .filter(|(_, then)| helps(then))
            .map(|(name, _)| name.clone())
            .collect();
        if proposed.len() > 1 {
            let all = self.measure_settings(&[self.ignoring(file, &proposed)?])?[0];
            sentences.push(format!(
                "All of them together: {}.",
                format_change(reached[0], all, self.is_text())
            ));
        }
        Ok(RemedyTrials {
            sentences,
            of_cases,
        })
    }

    fn is_text(&self) -> bool {
        self.done.judge.unit == Unit::Chars
    }

    fn sentence(
        &self,
        name: &str,
        (now, then): (RemedyResult, RemedyResult),
        helps: bool,
    ) -> String {
        let told = format_change(now, then, self.is_text());
        match (self.is_text(), helps) {
            (true, true) => {
                format!(
                    "Healthy text repeats a line: ignore = ['{name}'] at the head of the file lets it pass: {told}."
                )
            }
            (true, false) => format!(
                "Healthy text repeats a line, but ignore = ['{name}'] costs too much: {told}."
            ),
            (false, true) => {
                let glob = exact_glob(name);
                format!(
                    "Tool {name} may pass (add '{glob}' to allow in each [guard.params]): {told}."
                )
            }
            (false, false) => {
                format!("Tool {name} repeats in clean runs, but must not pass: {told}.")
            }
        }
    }

    /// Returns the settings of the file, changed to ignore the given tools or lines. Only guards that stop are tried.
    fn ignoring(&self, file: &str, names: &[String]) -> RunResult<Settings> {
        let parse = |text: &str| Settings::parse(text).map_err(|e| Code::Unexpected.error(e));
        let settings = if self.is_text() && !names.is_empty() {
            let mut table: toml::Table =
                toml::from_str(file).map_err(|e| Code::Unexpected.error(e))?;
            let known = table.remove("ignore");
            let mut lines: Vec<toml::Value> = known
                .and_then(|known| known.as_array().cloned())
                .unwrap_or_default();
            lines.extend(names.iter().map(|name| toml::Value::from(name.as_str())));
            table.insert("ignore".to_owned(), lines.into());
            parse(&toml::to_string(&table).map_err(|e| Code::Unexpected.error(e))?)?
        } else {
            let globs: Vec<String> = names.iter().map(|name| exact_glob(name)).collect();
            parse(file)?.allowing(&globs)
        };
        Ok(settings.filter(|m| m.response.level() == Response::Stop && m.program().is_none()))
    }

    /// Returns the tools or lines at which the file stops clean transcripts.
    fn causes(&self, choices: &Choices) -> RunResult<BTreeMap<String, AlarmCause>> {
        let cells = choices.cells();
        let stop = |i: usize| -> Option<&Stop> {
            let case = &self.evidence.cases[i];
            let cell = cells.get(&*case.model).or_else(|| cells.get("*"))?;
            let place = self.evidence.plan.cell(*cell);
            let trial = self.evidence.trial(place.block, i);
            let is_wrong =
                trial.outcome(&place.at, &self.done.judge).verdict == Verdict::FalseAlarm;
            trial.decided.stop(&place.at).filter(|_| is_wrong)
        };
        let stops: Vec<Option<&Stop>> = (0..self.evidence.cases.len()).map(stop).collect();
        let mut culprits: BTreeMap<String, AlarmCause> = BTreeMap::new();
        let found = |entry: &Entry, (i, case): (usize, &Case)| {
            let stop = stops[i]?;
            let name = if self.is_text() {
                line_at(&entry.transcript, stop)
            } else {
                tool_at(&entry.transcript, stop)
            };
            Some((name?, case.cluster().to_owned()))
        };
        let again = self.another_pass("looking at wrong alarms");
        again.for_each_wanted(
            self.evidence.cases,
            &|i| stops[i].is_some(),
            found,
            |i, found| {
                if let Some((name, group)) = found {
                    let culprit = culprits.entry(name).or_default();
                    culprit.cases.push(i);
                    culprit.groups.insert(group);
                }
                Ok(())
            },
        )?;
        Ok(culprits)
    }

    /// Returns the results of each of the settings on the corpus.
    fn measure_settings(&self, tried: &[Settings]) -> RunResult<Vec<RemedyResult>> {
        let mut plan = Plan::default();
        let cells: Vec<usize> = tried.iter().map(|s| plan.add_settings(s)).collect();
        let mut records: Vec<Option<Record>> = vec![None; self.evidence.cases.len()];
        let of = |entry: &Entry, _: (usize, &Case)| decide(&plan, &entry.transcript, None);
        self.another_pass("trying remedies").for_each_wanted(
            self.evidence.cases,
            &|_| true,
            of,
            |i, record| {
                records[i] = Some(record);
                Ok(())
            },
        )?;
        let pairs = self.evidence.cases.iter().zip(records);
        let pairs = pairs.filter_map(|(case, record)| record.map(|record| (case.clone(), record)));
        let (cases, records): (Vec<Case>, Vec<Record>) = pairs.unzip();
        let evidence = Evidence::new(&plan, &cases, &records)?;
        let reached = |cell: usize| {
            RemedyResult::new(&evidence.tally(cell, &evidence.all(), &self.done.judge))
        };
        Ok(cells.into_iter().map(reached).collect())
    }

    /// Returns another pass over the corpus, with `what` as its progress label.
    fn another_pass(&self, what: &'static str) -> SecondPass<'_> {
        SecondPass {
            done: self.done,
            what,
            interrupted: "interrupted; the same command goes on from there",
            host: self.host,
        }
    }
}

/// Formats results like `53 -> 0 clean runs stopped, 40 -> 40 loops ended`.
fn format_change(now: RemedyResult, then: RemedyResult, is_text: bool) -> String {
    let what = ["clean run", "clean transcript"][usize::from(is_text)];
    let stopped = several(then.wrong, what);
    format!(
        "{} -> {stopped} stopped, {} -> {} {}",
        now.wrong,
        now.ended,
        several(then.ended, "loop"),
        ENDED.title
    )
}

/// Returns the tool at whose call or result a run is stopped. `None` if it is stopped elsewhere.
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

/// Returns the line that repeats most before an alarm, as a pattern for `ignore`. A number in it matches any number.
fn line_at(transcript: &Transcript, stop: &Stop) -> Option<String> {
    let at = usize::try_from(stop.exact.seen.units(stop.channel).count()).ok()?;
    let text = text_until(transcript, stop.channel, at);
    let from = text
        .char_indices()
        .rev()
        .nth(LINES.0)
        .map_or(0, |(at, _)| at);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in text[from..].lines().filter(|line| !line.trim().is_empty()) {
        *counts.entry(pattern(line)).or_default() += 1;
    }
    let (line, n) = counts
        .into_iter()
        .max_by_key(|(line, n)| (*n, std::cmp::Reverse(line.clone())))?;
    // A pattern in single quotes has no quote in it.
    (n >= LINES.1 && !line.contains('\'')).then_some(line)
}

/// Returns the text of a channel up to a position.
fn text_until(transcript: &Transcript, channel: Channel, chars: usize) -> String {
    let mut text = String::new();
    for (_, event) in transcript.stream() {
        match event {
            Event::Text(of, piece) if of == channel => text.push_str(piece),
            _ => {}
        }
    }
    text.chars().take(chars).collect()
}

/// Returns a regular expression for one line, with any number in place of each number.
fn pattern(line: &str) -> String {
    let mut pattern = String::from("^");
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_digit = |c: char| c.is_ascii_digit();
        let end = rest
            .find(|c| is_digit(c) != is_digit(first))
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pattern += &if is_digit(first) {
            "[0-9]+".to_owned()
        } else {
            regex::escape(piece)
        };
        rest = after;
    }
    pattern + "$"
}
