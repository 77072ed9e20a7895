//! [`Case`]: the facts about a transcript that scoring needs, without its text.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use deadloop_replay::corpus::{CopyKeys, Entry, Place, Problem, RecordedEvent, field, text_hash};
use deadloop_replay::detect::{Channel, Kind, ModelTask, Unit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Ordering;

use crate::truth::{
    CaseSet, Class, LabelRow, LabelsFile, LocatedLabel, REVIEW, Span, Timeline, Truth, WireLabel,
    add_problem, combine_classes, position_time,
};

/// A transcript for scoring, with its names, its lengths and its label.
///
/// A corpus of a hundred thousand transcripts is as many cases in memory, without any text. The JSON of a case is a
/// shard's record of a transcript, with kinds, classes and channels by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The transcript's id.
    #[serde(with = "names")]
    pub id: Arc<str>,
    /// The name of the model.
    #[serde(with = "names")]
    pub model: Arc<str>,
    /// The name of the task, if settings may have guards by task.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "names::maybe"
    )]
    pub task: Option<Arc<str>>,
    /// The profile of the request, such as the temperature or the prompt.
    #[serde(with = "names::maybe")]
    pub profile: Option<Arc<str>>,
    /// The group of transcripts that folds and the bootstrap keep together.
    #[serde(with = "names::maybe")]
    pub group: Option<Arc<str>>,
    /// The language.
    #[serde(with = "names::maybe")]
    pub lang: Option<Arc<str>>,
    /// The split.
    #[serde(with = "names::maybe")]
    pub split: Option<Arc<str>>,
    /// The `source` of the recording, or of its `meta`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "names::maybe"
    )]
    pub source: Option<Arc<str>>,
    /// The values of the fields of `--by`, in the requested order.
    pub by: Vec<Option<String>>,
    /// The order and the lengths of the channels.
    pub timeline: Timeline,
    /// Whether the time of some event was recorded.
    pub timed: bool,
    /// The label of the transcript. `None` without a label.
    pub truth: Option<Truth>,
    /// The hash of the text by [`text_hash`]. Two cases with the same hash have the same text in the same channels.
    pub text: Box<str>,
    /// The keys that the copies of the transcript share.
    pub copied: CopyKeys,
}

/// A key that the copies of a transcript share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CopyKey {
    /// A hash of the whole text.
    Text(u64),
    /// A hash of the calls of a run and their results.
    Calls(u64),
}

/// Serialization of shared names as strings.
mod names {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(name: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(name)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }

    /// Serialization of optional shared names, with null for a missing name.
    pub(super) mod maybe {
        use std::sync::Arc;

        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub(in super::super) fn serialize<S: Serializer>(
            name: &Option<Arc<str>>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            name.as_deref().serialize(to)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Arc<str>>, D::Error> {
            Ok(Option::<String>::deserialize(from)?.map(Arc::from))
        }
    }
}

/// The names that cases share, such as models and groups. Each name is stored once.
#[derive(Debug, Default)]
pub struct SharedNames(HashSet<Arc<str>>);

impl SharedNames {
    /// Returns the stored copy of a name, and stores a new name.
    fn intern(&mut self, name: Arc<str>) -> Arc<str> {
        match self.0.get(&name) {
            Some(known) => known.clone(),
            None => {
                self.0.insert(name.clone());
                name
            }
        }
    }
}

impl Case {
    /// Builds the case of a transcript.
    ///
    /// Rows of `labels`, the corpus's labels.csv, replace the labels inside the transcripts that they name. `by` names
    /// fields such as `meta.source` or `lang`.
    ///
    /// Also returns every problem with the labels that reading labels.csv has not reported. A transcript with a problem
    /// has no label, since half of its labels could mislead.
    pub fn from_entry(
        entry: &Entry,
        labels: Option<&LabelsFile>,
        by: &[String],
    ) -> (Self, Vec<Problem>) {
        let t = &entry.transcript;
        let mut problems = Vec::new();
        let located = match labels.and_then(|file| file.labels_for(&t.id)) {
            Some(rows) => rows.to_vec(),
            None => read_inline_labels(entry, &mut problems),
        };
        let bad = labels.is_some_and(|file| file.is_bad(&t.id));
        let timeline = Timeline::from_events(&t.events);
        let truth = build_truth(&located, &t.events, &timeline, &mut problems);
        let shared = |name: &Option<String>| name.as_deref().map(Arc::from);
        let case = Self {
            id: t.id.as_str().into(),
            model: t.model.as_str().into(),
            task: Some(t.work().task)
                .filter(|task| !task.is_empty())
                .map(Arc::from),
            profile: shared(&t.profile),
            group: shared(&t.group),
            lang: shared(&t.lang),
            split: shared(&entry.split),
            source: shared(&field(entry, "source")),
            by: by.iter().map(|name| field(entry, name)).collect(),
            timeline,
            timed: t.events.iter().any(|event| event.t_ms.is_some()),
            truth: truth.filter(|_| problems.is_empty() && !bad),
            text: text_hash(t).into(),
            copied: CopyKeys::from_transcript(t),
        };
        (case, problems)
    }

    /// Replaces the names by their copies in `names`, so that cases store each name once.
    #[must_use]
    pub fn sharing(mut self, names: &mut SharedNames) -> Self {
        self.model = names.intern(self.model);
        let own = [
            &mut self.task,
            &mut self.profile,
            &mut self.group,
            &mut self.lang,
            &mut self.split,
            &mut self.source,
        ];
        own.into_iter().for_each(|name| {
            *name = name.take().map(|name| names.intern(name));
        });
        self
    }

    /// Returns the model and the task of the transcript.
    pub fn work(&self) -> ModelTask<'_> {
        ModelTask {
            model: &self.model,
            task: self.task.as_deref().unwrap_or(""),
        }
    }

    /// Returns the group, or the id of a case without a group.
    pub fn cluster(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.id)
    }

    /// Returns the class of the label.
    pub fn class(&self) -> Option<Class> {
        self.truth.as_ref().map(|t| t.class)
    }

    /// Returns the class of the label if output is counted in `unit`. `None` if the case is not scored in this unit.
    pub fn class_in(&self, unit: Unit) -> Option<Class> {
        let truth = self.truth.as_ref()?;
        truth.class_in(unit, || self.length_in(unit) > 0)
    }

    /// Returns the key that the copies of a transcript share if output is counted in `unit`.
    ///
    /// In calls or turns, the copies of a run have the same calls, even with other texts between them. Otherwise copies
    /// have the same text.
    pub fn copy_key(&self, unit: Unit) -> CopyKey {
        match self.copied.calls {
            Some(calls) if unit != Unit::Chars => CopyKey::Calls(calls),
            _ => CopyKey::Text(self.copied.text),
        }
    }

    /// Returns the length of the transcript in `unit`.
    pub(crate) fn length_in(&self, unit: Unit) -> u64 {
        self.timeline.in_unit(unit)
    }

    /// Makes faults of these kinds count as loops, and drops other faults.
    pub fn notice(&mut self, kinds: &[Kind]) {
        let Some(truth) = &mut self.truth else {
            return;
        };
        truth.notice(kinds);
    }
}

/// Returns the mean length of the clean cases, in `unit`. 0 if there are none.
pub fn mean_clean(cases: &(impl CaseSet + ?Sized), unit: Unit) -> f64 {
    let (mut n, mut sum) = (0_u64, 0_u64);
    cases.each(|_, case| {
        if case.class_in(unit) == Some(Class::Clean) {
            n += 1;
            sum += case.length_in(unit);
        }
    });
    if n > 0 { sum as f64 / n as f64 } else { 0.0 }
}

/// Returns the units of the channels that labels name, in the order of [`Unit::ALL`]. Only chars if no label names a
/// channel.
pub fn units(cases: &(impl CaseSet + ?Sized)) -> Vec<Unit> {
    let mut named = BTreeSet::new();
    cases.each(|_, case| {
        let channels = case.truth.iter().flat_map(|truth| &truth.channels);
        named.extend(channels.copied());
    });
    let is_named = |unit: &Unit| named.iter().any(|channel| channel.unit() == *unit);
    let found: Vec<Unit> = Unit::ALL.into_iter().filter(is_named).collect();
    if found.is_empty() {
        vec![Unit::Chars]
    } else {
        found
    }
}

/// Reads the labels inside a transcript, and adds every problem to `problems`.
pub(crate) fn read_inline_labels(entry: &Entry, problems: &mut Vec<Problem>) -> Vec<LocatedLabel> {
    let place = &entry.place;
    let labels = match &entry.labels {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(labels)) => labels,
        Some(_) => {
            let expected = "\"labels\": [{\"class\": …}]";
            add_problem(problems, place, "labels that are not a list", expected);
            return Vec::new();
        }
    };
    let read = |label: &Value| match WireLabel::deserialize(label) {
        Ok(wire) => {
            let row = wire.check_into_row(&entry.transcript.id, place, problems);
            row.map(|row| (place.clone(), row))
        }
        Err(error) => {
            let what = format!("a bad label: {error}");
            add_problem(problems, place, what, "the fields of labels.csv");
            None
        }
    };
    labels.iter().filter_map(read).collect()
}

/// Builds the label of a transcript from its rows. `None` without rows, or if they contradict each other.
fn build_truth(
    labels: &[LocatedLabel],
    events: &[RecordedEvent],
    timeline: &Timeline,
    problems: &mut Vec<Problem>,
) -> Option<Truth> {
    let class = combine_classes(labels, problems)?;
    let mut spans: Vec<Span> = labels
        .iter()
        .filter(|(_, l)| matches!(l.class, Class::Loop | Class::Transient | Class::Fault))
        .filter_map(|(place, label)| build_span(place, label, events, timeline, problems))
        .collect();
    // Moments of one transcript are always ordered.
    spans.sort_by(|a, b| {
        let moments = a.seen.partial_cmp(&b.seen).unwrap_or(Ordering::Equal);
        let onsets = || (a.onset.count(), a.channel).cmp(&(b.onset.count(), b.channel));
        moments.then_with(onsets)
    });
    spans.shrink_to_fit();
    let named = labels.iter().filter_map(|(_, label)| label.channel);
    let mut channels: Vec<Channel> = named.chain(spans.iter().map(|s| s.channel)).collect();
    channels.sort_unstable();
    channels.dedup();
    Some(Truth {
        class,
        spans,
        channels,
        reviewed: labels.iter().all(|(_, label)| label.by.starts_with(REVIEW)),
    })
}

/// Builds the span of a label, and checks it against the transcript. `None` if the label has no onset.
fn build_span(
    place: &Place,
    label: &LabelRow,
    events: &[RecordedEvent],
    timeline: &Timeline,
    problems: &mut Vec<Problem>,
) -> Option<Span> {
    let onset = label.onset?;
    let channel = find_channel(place, label, timeline, problems)?;
    let length = timeline.units(channel);
    let earliest = label.earliest.unwrap_or(onset);
    let end = label.end.unwrap_or(length);
    let bounds = [
        ("onset", onset, onset >= length, "an onset below"),
        ("end", end, end > length, "an end of at most"),
        (
            "earliest",
            earliest,
            earliest > length,
            "an earliest of at most",
        ),
    ];
    if let Some((name, at, _, bound)) = bounds.into_iter().find(|(_, _, is_past, _)| *is_past) {
        let what = format!("{name} {at} is past the end of {channel}");
        let expected = format!("{bound} its length, {length}");
        add_problem(problems, place, what, &expected);
        return None;
    }
    let time = position_time(events, channel, onset);
    Some(Span {
        class: label.class,
        kind: label.kind,
        channel,
        start: label.start.map(|start| channel.units(start)),
        onset: channel.units(onset),
        earliest: channel.units(earliest),
        end: channel.units(end),
        open: label.end.is_none(),
        period: label.period.filter(|p| *p > 0),
        seen: timeline.before(channel, earliest),
        until: timeline.before(channel, end),
        onset_ms: time.t_ms,
        onset_tokens: time.tokens,
    })
}

/// Returns the channel of a label, or the only channel of the transcript if the label names none.
fn find_channel(
    place: &Place,
    label: &LabelRow,
    timeline: &Timeline,
    problems: &mut Vec<Problem>,
) -> Option<Channel> {
    label.channel.or_else(|| match timeline.channels()[..] {
        [only] => Some(only),
        _ => {
            let expected = "a channel: the transcript does not have exactly one";
            add_problem(problems, place, "a label without a channel", expected);
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::corpus::{Body, Transcript};
    use deadloop_replay::detect::Chars;
    use std::path::PathBuf;
    use std::sync::Arc;

    use deadloop_replay::ChannelLengths;
    use serde_json::json;

    fn entry(labels: Value, texts: &[(Channel, &str)]) -> Entry {
        let event = |(channel, text): &(Channel, &str)| RecordedEvent {
            body: match channel {
                Channel::Reasoning => Body::Reasoning((*text).into()),
                _ => Body::Answer((*text).into()),
            },
            ..RecordedEvent::default()
        };
        let transcript = Transcript {
            id: "t".into(),
            model: "m".into(),
            events: texts.iter().map(event).collect(),
            meta: json!({"source": "web", "deep": {"n": 3}})
                .as_object()
                .unwrap()
                .clone(),
            ..Transcript::default()
        };
        let place = Place {
            file: Arc::new(PathBuf::from("a.jsonl")),
            line: 7,
        };
        Entry {
            transcript,
            labels: Some(labels),
            rest: Default::default(),
            split: None,
            place,
        }
    }

    fn case(labels: Value) -> (Case, Vec<String>) {
        let texts = [
            (Channel::Reasoning, "thinking"),
            (Channel::Answer, "0123456789"),
        ];
        let (case, problems) = Case::from_entry(&entry(labels, &texts), None, &[]);
        (case, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_span_knows_what_had_arrived_and_where_it_ends() {
        let (case, problems) = case(json!([
            {"class": "transient", "channel": "answer", "start": 0, "onset": 2, "end": 5},
            {"class": "loop", "kind": "paragraph", "channel": "answer", "onset": 7,
             "earliest": 6, "period": 2, "by": "x", "note": "y", "end": null},
        ]));
        assert_eq!(problems, Vec::<String>::new());
        let truth = case.truth.unwrap();
        assert_eq!(truth.class, Class::Loop);
        let first = truth.first_loop().unwrap();
        assert_eq!(
            (first.end, first.open, first.earliest),
            (Chars(10).into(), true, Chars(6).into())
        );
        assert_eq!(
            first.seen,
            ChannelLengths {
                reasoning: Chars(8),
                answer: Chars(6),
                ..ChannelLengths::default()
            }
        );
        assert!(!truth.spans[0].open);
    }

    #[test]
    fn a_case_comes_back_from_json_with_names_for_numbers() {
        let (mut case, _) = case(json!([
            {"class": "transient", "channel": "reasoning", "start": 0, "onset": 2, "end": 5},
            {"class": "loop", "kind": "near-repeat", "channel": "answer", "onset": 7},
        ]));
        case.group = Some("g".into());
        case.task = Some("code".into());
        case.by = vec![None, Some("web".into())];
        // No shorter number than these 17 digits is read back as the same.
        case.truth.as_mut().unwrap().spans[0].onset_ms = Some(0.1 + 0.2);
        let text = serde_json::to_string(&case).unwrap();
        assert!(
            text.contains(r#""kind":"near-repeat","channel":"answer""#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        let newer = text.replace("near-repeat", "a-kind-of-later");
        assert!(serde_json::from_str::<Case>(&newer).is_err());
    }

    #[test]
    fn positions_outside_the_channel_are_problems_and_the_case_is_not_scored() {
        let (bad, problems) = case(json!([
            {"class": "loop", "channel": "reasoning", "onset": 8},
            {"class": "loop", "channel": "answer", "onset": 3, "end": 11},
            {"class": "loop", "onset": 3},
            {"class": "loop", "channel": "answer", "onset": 3, "earliest": 11},
        ]));
        assert_eq!(bad.truth, None);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].starts_with("a.jsonl:7: onset 8 is past the end of reasoning"));
        assert!(problems[1].contains("end 11 is past the end of answer"));
        assert!(problems[2].contains("a label without a channel"));
        assert!(problems[3].contains("earliest 11 is past the end of answer"));
    }

    #[test]
    fn contradictions_are_problems_and_unknown_fields_are_none() {
        let clean_and_loop = json!([{"class": "clean"},
            {"class": "loop", "channel": "answer", "onset": 3}]);
        assert!(case(clean_and_loop).1[0].contains("labelled clean and loop"));
        let typo = case(json!([{"class": "loop", "onest": 3}])).1;
        assert!(typo[0].contains("a loop without an onset"), "{typo:?}");
        assert_eq!(case(json!([{"class": "clean", "sure": 0.9}])).1, [""; 0]);
        assert!(case(json!("loop")).1[0].contains("not a list"));
    }

    #[test]
    fn no_label_is_not_clean_and_unsure_wins() {
        assert_eq!(case(json!([])).0.class(), None);
        assert_eq!(case(Value::Null).0.class(), None);
        let doubt = case(json!([{"class": "clean"}, {"class": "unsure"}]));
        assert_eq!(doubt.0.class(), Some(Class::Unsure));
        assert_eq!(
            case(json!([{"class": "transient"}])).0.class(),
            Some(Class::Transient)
        );
    }

    #[test]
    fn a_label_may_leave_out_the_only_channel() {
        let one = entry(
            json!([{"class": "loop", "onset": 3}]),
            &[(Channel::Answer, "abcabc")],
        );
        let (case, problems) = Case::from_entry(&one, None, &[]);
        assert_eq!(problems, []);
        assert_eq!(case.truth.unwrap().spans[0].channel, Channel::Answer);
    }

    #[test]
    fn names_that_cases_have_in_common_are_in_memory_once() {
        let one = || entry(Value::Null, &[(Channel::Answer, "x")]);
        let mut names = SharedNames::default();
        let [a, b] = [one(), one()].map(|entry| {
            let (case, _) = Case::from_entry(&entry, None, &[]);
            case.clone().sharing(&mut names)
        });
        assert!(Arc::ptr_eq(&a.model, &b.model));
        assert_eq!(a, b);
    }

    #[test]
    fn breakdown_fields_come_from_the_transcript_or_its_meta() {
        let by = ["meta.source", "meta.deep.n", "model", "meta.none"].map(String::from);
        let (case, _) = Case::from_entry(&entry(Value::Null, &[]), None, &by);
        let want = [Some("web"), Some("3"), Some("m"), None].map(|v| v.map(String::from));
        assert_eq!(case.by, want);
    }
}
