//! The transcripts that a report shows in full: wrong alarms, misses and late hits.
//!
//! Each comes with the text around its onset and alarm, and with the reason for the alarm. They are written during the
//! run, since a report reads only result files.

use std::collections::{BTreeMap, HashMap, HashSet};

use deadloop_corpus::{Entry, text_hash};
use deadloop_detect::{Channel, Settings, Unit};
use deadloop_score::proposals::FinderReading;
use deadloop_score::{
    AnyEvidence, Case, CaseSet, ExcerptsHead, Group, OpenCase, Outcome as CaseOutcome, RunCalls,
    Verdict, write_excerpts,
};

use crate::explain::{ExplainRequest, ExplainedAlarm};
use crate::failure::RunResult;
use crate::host::Host;
use crate::replay::ReplayRun;
use crate::replay::second_pass::SecondPass;

/// The number of chars shown before and after each mark.
const CONTEXT_CHARS: u64 = 120;
/// The maximum number of chars of text of one transcript.
const MAX_TRANSCRIPT_CHARS: usize = 4_000;
/// The maximum number of bytes of text of all transcripts.
const MAX_REPORT_BYTES: usize = 800_000;
/// The maximum number of copies marked in one excerpt.
const MAX_EXCERPT_COPIES: usize = 600;

/// The setting shown for a transcript, as its cell, its name and the settings.
pub(crate) type FocusSetting = (usize, (String, Settings));

/// The request to write the opened transcripts of a run.
pub(crate) struct OpeningOptions<'a, E> {
    /// The labels and decisions of all settings.
    pub evidence: &'a E,
    /// The setting shown for each model, and under `*` the one for all other models.
    pub focus: BTreeMap<String, FocusSetting>,
    /// The chunk size of the replay, in chars. `None` for the recorded chunks.
    pub chunks: Option<std::num::NonZeroU64>,
    /// Whether texts of the transcripts are written.
    pub texts: bool,
    /// The remedies tried against wrong alarms, as a sentence for each case index.
    pub remedies: BTreeMap<usize, String>,
    /// The host of the run.
    pub host: &'a dyn Host,
}

/// A case to open, and the group for which it is opened.
struct GroupedCase {
    group: Group,
    case: usize,
}

impl<E: AnyEvidence<Cases: Sync> + Sync> OpeningOptions<'_, E> {
    /// Writes `cases.jsonl` into the folder of a run, and returns the head of this file.
    pub(crate) fn write(&self, done: &ReplayRun) -> RunResult<ExcerptsHead> {
        let (head, selected) = self.select_worst(done);
        let mut texts = self.open_cases(done, &selected)?;
        let mut head = ExcerptsHead {
            texts: self.texts,
            ..head
        };
        let mut room = MAX_REPORT_BYTES;
        let mut opened = Vec::new();
        for item in &selected {
            let Some(mut open_case) = texts.remove(&item.case) else {
                continue;
            };
            let length: usize = open_case.parts.iter().map(|part| part.text.len()).sum();
            let length = length + open_case.calls.as_ref().map_or(0, RunCalls::chars);
            match room.checked_sub(length) {
                Some(rest) => room = rest,
                None => {
                    head.without_text += 1;
                    open_case.parts.clear();
                    open_case.calls.iter_mut().for_each(RunCalls::forget);
                }
            }
            open_case.group = item.group;
            head.unlabelled_loops += u64::from(open_case.unlabelled_loop);
            opened.push(open_case);
        }
        write_excerpts(done.run.folder.path(), &head, &opened)?;
        Ok(head)
    }

    fn focus_setting(&self, model: &str) -> Option<&FocusSetting> {
        self.focus.get(model).or_else(|| self.focus.get("*"))
    }

    /// Returns the counts of all cases, and the worst cases of each group.
    fn select_worst(&self, done: &ReplayRun) -> (ExcerptsHead, Vec<GroupedCase>) {
        let mut head = ExcerptsHead::default();
        let mut lists = Group::ALL.map(|group| (group, Vec::new()));
        for (cell, cases) in self.cases_by_cell() {
            let place = self.evidence.plan().cell(cell);
            for case in cases {
                let (judged, alarmed) = self.evidence.on_trial(place.block, case, |trial| {
                    let alarmed = trial.decided.stop(&place.at).is_some();
                    (trial.outcome(&place.at, &done.judge), alarmed)
                });
                head.exposure += judged.exposure;
                for (group, list) in &mut lists {
                    let badness = badness(*group, &judged, alarmed);
                    list.extend(badness.map(|badness| (badness, case)));
                }
            }
        }
        let mut selected = Vec::new();
        for (group, mut list) in lists {
            head.all.insert(group, list.len() as u64);
            list.sort_by_key(|(badness, case)| (std::cmp::Reverse(*badness), *case));
            list.truncate(group.most());
            selected.extend(
                list.into_iter()
                    .map(|(_, case)| GroupedCase { group, case }),
            );
        }
        (head, selected)
    }

    /// Returns the case indices by the cell of the setting shown for their model.
    fn cases_by_cell(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut by_cell: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (model, cases) in self.evidence.by_model() {
            if let Some((cell, _)) = self.focus_setting(&model) {
                by_cell.entry(*cell).or_default().extend(cases);
            }
        }
        by_cell
    }

    /// Reads the corpus again and explains the selected cases. Other transcripts are not decoded.
    fn open_cases(
        &self,
        done: &ReplayRun,
        selected: &[GroupedCase],
    ) -> RunResult<HashMap<usize, OpenCase>> {
        let among: HashSet<usize> = selected.iter().map(|item| item.case).collect();
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
            // The corpus may have changed since the merged parts were written.
            if *text_hash(&entry.transcript) == *known.text {
                self.explain(entry, case, done)
            } else {
                Ok(None)
            }
        };
        let wanted = |case: usize| among.contains(&case);
        again.for_each_wanted(self.evidence.cases(), &wanted, open, |case, opened| {
            found.extend(opened?.map(|opened| (case, opened)));
            Ok(())
        })?;
        Ok(found)
    }

    fn explain(&self, entry: &Entry, case: usize, done: &ReplayRun) -> RunResult<Option<OpenCase>> {
        let case_of: Case = self.evidence.cases().on(case, Case::clone);
        let Some((cell, named)) = self.focus_setting(&case_of.model) else {
            return Ok(None);
        };
        let question = ExplainRequest {
            transcript: &entry.transcript,
            case: &case_of,
            judge: done.judge,
            chunks: self.chunks,
            context: CONTEXT_CHARS,
        };
        let mut explained = question.explain(std::slice::from_ref(named), self.host)?;
        let labels = explained
            .transcript
            .labels
            .iter()
            .map(|label| label.words());
        let labels: Vec<String> = labels.collect();
        let Some(setting) = explained.settings.first_mut() else {
            return Ok(None);
        };
        let mut why = setting.describe();
        if setting.error.is_some() {
            // A program is not started again, since its recorded verdict is known.
            why = "the detector is a program: nothing is known of it but its verdict".into();
            setting.alarm = self.recorded_alarm(*cell, case);
            if let Some(detail) = setting.alarm.as_ref().and_then(|a| a.detail.as_ref()) {
                why = format!("the detector is a program; it says \"{detail}\"");
            }
            explained.text = question.excerpts(setting);
        }
        let mut room = MAX_TRANSCRIPT_CHARS;
        let mut parts = Vec::new();
        for excerpt in explained.text.iter().filter(|_| self.texts) {
            let part = excerpt.part(room, MAX_EXCERPT_COPIES);
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

    /// Returns the calls of a run around its loop or its alarm. `None` if it has no calls.
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

    /// Returns the finding of the finder at a wrong alarm. `None` without a wrong alarm.
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

    /// Returns the recorded alarm of a cell on a case.
    fn recorded_alarm(&self, cell: usize, case: usize) -> Option<ExplainedAlarm> {
        let place = self.evidence.plan().cell(cell);
        self.evidence.on_trial(place.block, case, |trial| {
            let stop = trial.decided.stop(&place.at)?;
            Some(ExplainedAlarm::new(String::new(), stop, trial.decided))
        })
    }
}

/// Returns how bad an outcome is within a group, larger being worse. `None` if it is not in the group.
fn badness(group: Group, judged: &CaseOutcome, alarmed: bool) -> Option<u64> {
    match group {
        Group::FalseAlarm => judged.verdict.is_false().then_some(judged.lost),
        Group::Miss => (judged.verdict == Verdict::Miss).then_some(judged.delay),
        Group::LateHit => judged.latency.filter(|_| judged.verdict == Verdict::Hit),
        Group::Fired => (judged.verdict == Verdict::Unlabelled && alarmed).then_some(0),
    }
}
