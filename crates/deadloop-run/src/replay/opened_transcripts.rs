//! The transcripts that a report opens: wrong alarms, misses, late hits.
//!
//! Each has the text around its onset and alarm, and the reason why the setting fired. A report reads only files, so
//! these are written while the corpus is at hand.

use std::collections::{BTreeMap, HashMap, HashSet};

use deadloop_corpus::{Entry, text_hash};
use deadloop_detect::{Channel, Settings, Unit};
use deadloop_score::proposals::FinderReading;
use deadloop_score::{
    AnyEvidence, Case, CaseSet, ExcerptsHead, Group, OpenCase, Outcome as Judged, RunCalls,
    Verdict, write_excerpts,
};

use crate::explain::{ExplainRequest, ExplainedAlarm};
use crate::failure::RunResult;
use crate::host::Host;
use crate::replay::ReplayRun;
use crate::replay::second_pass::SecondPass;

/// The chars before and after each mark.
const CONTEXT: u64 = 120;
/// The maximum number of chars of text: of one transcript, and of the whole report.
const MOST: (usize, usize) = (4_000, 800_000);
/// The maximum number of copies marked in one part of a text.
const COPIES: usize = 600;

/// The setting used for a transcript: its cell, its name and its settings.
pub(crate) type Focus = (usize, (String, Settings));

/// The options for opening transcripts.
pub(crate) struct OpeningOptions<'a, E> {
    /// The evidence of every setting.
    pub evidence: &'a E,
    /// The setting of each model, and `*` for all others.
    pub focus: BTreeMap<String, Focus>,
    /// The chunk size of the replay, in chars. `None` for the recorded chunks.
    pub chunks: Option<std::num::NonZeroU64>,
    /// Whether the text of transcripts is kept.
    pub texts: bool,
    /// The remedies that were tried against wrong alarms, a sentence for a case.
    pub remedies: BTreeMap<usize, String>,
    /// The host of the run.
    pub host: &'a dyn Host,
}

/// A case to open, with the group that it is opened for.
struct GroupedCase {
    group: Group,
    case: usize,
}

impl<E: AnyEvidence<Cases: Sync> + Sync> OpeningOptions<'_, E> {
    /// Writes `cases.jsonl` into the folder of a run, and returns its head.
    pub(crate) fn write(&self, done: &ReplayRun) -> RunResult<ExcerptsHead> {
        let (all, picked) = self.pick(done);
        let mut texts = self.read(done, &picked)?;
        let mut head = ExcerptsHead {
            all,
            texts: self.texts,
            without_text: 0,
            unlabelled_loops: 0,
            redacted: false,
        };
        let mut room = MOST.1;
        let mut opened = Vec::new();
        for one in &picked {
            let Some(mut it) = texts.remove(&one.case) else {
                continue;
            };
            let length: usize = it.parts.iter().map(|part| part.text.len()).sum();
            let length = length + it.calls.as_ref().map_or(0, RunCalls::chars);
            match room.checked_sub(length) {
                Some(rest) => room = rest,
                None => {
                    head.without_text += 1;
                    it.parts.clear();
                    it.calls.iter_mut().for_each(RunCalls::forget);
                }
            }
            it.group = one.group;
            head.unlabelled_loops += u64::from(it.unlabelled_loop);
            opened.push(it);
        }
        write_excerpts(done.run.folder.path(), &head, &opened)?;
        Ok(head)
    }

    fn focus(&self, model: &str) -> Option<&Focus> {
        self.focus.get(model).or_else(|| self.focus.get("*"))
    }

    /// Counts the cases of each group, and selects the worst of each.
    fn pick(&self, done: &ReplayRun) -> (BTreeMap<Group, u64>, Vec<GroupedCase>) {
        let mut lists = Group::ALL.map(|group| (group, Vec::new()));
        for (cell, cases) in self.by_cell() {
            let place = self.evidence.plan().cell(cell);
            for case in cases {
                let (judged, alarmed) = self.evidence.on_trial(place.block, case, |trial| {
                    let alarmed = trial.decided.stop(&place.at).is_some();
                    (trial.outcome(&place.at, &done.judge), alarmed)
                });
                for (group, list) in &mut lists {
                    let badness = badness(*group, &judged, alarmed);
                    list.extend(badness.map(|badness| (badness, case)));
                }
            }
        }
        let (mut all, mut picked) = (BTreeMap::new(), Vec::new());
        for (group, mut list) in lists {
            all.insert(group, list.len() as u64);
            list.sort_by_key(|(badness, case)| (std::cmp::Reverse(*badness), *case));
            list.truncate(group.most());
            picked.extend(
                list.into_iter()
                    .map(|(_, case)| GroupedCase { group, case }),
            );
        }
        (all, picked)
    }

    /// Returns the cases by the cell of their model's setting.
    fn by_cell(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut by_cell: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (model, cases) in self.evidence.by_model() {
            if let Some((cell, _)) = self.focus(&model) {
                by_cell.entry(*cell).or_default().extend(cases);
            }
        }
        by_cell
    }

    /// Reads the corpus again and explains the picked transcripts. No other is decoded.
    fn read(
        &self,
        done: &ReplayRun,
        picked: &[GroupedCase],
    ) -> RunResult<HashMap<usize, OpenCase>> {
        let among: HashSet<usize> = picked.iter().map(|one| one.case).collect();
        let mut found = HashMap::new();
        if among.is_empty() {
            return Ok(found);
        }
        let again = SecondPass {
            done,
            what: "opening transcripts",
            interrupted: "interrupted while transcripts were opened; the same command goes on from there",
            host: self.host,
        };
        let open = |entry: &Entry, (case, known): (usize, &Case)| {
            // The corpus may have changed since the merged parts were made.
            if *text_hash(&entry.transcript) == *known.text {
                self.open(entry, case, done)
            } else {
                Ok(None)
            }
        };
        let wanted = |case: usize| among.contains(&case);
        again.some(self.evidence.cases(), &wanted, open, |case, opened| {
            found.extend(opened?.map(|opened| (case, opened)));
            Ok(())
        })?;
        Ok(found)
    }

    fn open(&self, entry: &Entry, case: usize, done: &ReplayRun) -> RunResult<Option<OpenCase>> {
        let case_of: Case = self.evidence.cases().on(case, Case::clone);
        let Some((cell, named)) = self.focus(&case_of.model) else {
            return Ok(None);
        };
        let question = ExplainRequest {
            transcript: &entry.transcript,
            case: &case_of,
            judge: done.judge,
            chunks: self.chunks,
            context: CONTEXT,
        };
        let mut explained = question.explain(std::slice::from_ref(named), self.host)?;
        let labels = explained
            .transcript
            .labels
            .iter()
            .map(|label| label.words());
        let labels: Vec<String> = labels.collect();
        let Some(told) = explained.settings.first_mut() else {
            return Ok(None);
        };
        let mut why = told.describe();
        if told.error.is_some() {
            // A program is not started again, because its recorded verdict is known.
            why = "the detector is a program: nothing is known of it but its verdict".into();
            told.alarm = self.recorded_alarm(*cell, case);
            if let Some(detail) = told.alarm.as_ref().and_then(|alarm| alarm.detail.as_ref()) {
                why = format!("the detector is a program; it says \"{detail}\"");
            }
            explained.text = question.text(told);
        }
        let mut room = MOST.0;
        let mut parts = Vec::new();
        for excerpt in explained.text.iter().filter(|_| self.texts) {
            let part = excerpt.part(room, COPIES);
            room -= part.text.chars().count().min(room);
            if !part.text.is_empty() {
                parts.push(part);
            }
        }
        let disputed = self.finder_reading((*cell, case), entry, done);
        let opened = OpenCase {
            transcript: case_of.id.to_string(),
            group: Group::Miss,
            setting: self.evidence.plan().id(*cell),
            labels,
            why: if self.texts { why } else { String::new() },
            parts,
            calls: self.calls((*cell, case), entry, &case_of),
            unlabelled_loop: matches!(disputed, Some(FinderReading::Loop(_))),
            looks_like: disputed.map_or(String::new(), |reading| reading.words()),
            lang: entry.transcript.lang.clone(),
            remedy: match self.remedies.get(&case) {
                Some(remedy) if self.texts => remedy.clone(),
                _ => String::new(),
            },
        };
        Ok(Some(opened))
    }

    /// Returns the calls of a run around its loop or its alarm.
    fn calls(&self, (cell, case): (usize, usize), entry: &Entry, of: &Case) -> Option<RunCalls> {
        let alarm = self
            .recorded_alarm(cell, case)
            .filter(|fired| fired.channel == Channel::Tools);
        let truth = of.truth.iter();
        let spans = truth.flat_map(|truth| truth.spans_in(Unit::Calls));
        let near = spans
            .map(|(_, span)| span.onset.count())
            .chain(alarm.map(|fired| fired.exact.count()))
            .min();
        let mut calls = RunCalls::from_events(&entry.transcript.events, near.unwrap_or(1))?;
        if !self.texts {
            calls.forget();
        }
        Some(calls)
    }

    /// Returns the finder's reading at a wrong alarm. `None` without a wrong alarm.
    fn finder_reading(
        &self,
        (cell, case): (usize, usize),
        entry: &Entry,
        done: &ReplayRun,
    ) -> Option<FinderReading> {
        let place = self.evidence.plan().cell(cell);
        let wrong = self.evidence.on_trial(place.block, case, |trial| {
            let judged = trial.outcome(&place.at, &done.judge);
            judged.verdict.is_false()
        });
        let fired = self.recorded_alarm(cell, case).filter(|_| wrong)?;
        Some(FinderReading::new(
            &entry.transcript,
            Some((fired.channel, fired.exact.count())),
        ))
    }

    /// Returns the recorded alarm of a cell.
    fn recorded_alarm(&self, cell: usize, case: usize) -> Option<ExplainedAlarm> {
        let place = self.evidence.plan().cell(cell);
        self.evidence.on_trial(place.block, case, |trial| {
            let stop = trial.decided.stop(&place.at)?;
            Some(ExplainedAlarm::new(String::new(), stop, trial.decided))
        })
    }
}

/// Returns how bad an outcome is within a group. `None` if it is not in the group.
fn badness(group: Group, judged: &Judged, alarmed: bool) -> Option<u64> {
    match group {
        Group::FalseAlarm => judged.verdict.is_false().then_some(judged.lost),
        Group::Miss => (judged.verdict == Verdict::Miss).then_some(judged.delay),
        Group::LateHit => judged.latency.filter(|_| judged.verdict == Verdict::Hit),
        Group::Fired => (judged.verdict == Verdict::Unlabelled && alarmed).then_some(0),
    }
}
