//! Explains settings on a transcript.

use std::num::NonZeroU64;
use std::ops::Range;

use deadloop_corpus::Transcript;
use deadloop_detect::harness::{Domain, Member, Param, ParamRole, TextScope};
use deadloop_detect::{Channel, Chars, Event, Setting, Settings, TextChannel, Unit, Units, Value};
use deadloop_replay::{Interruption, Plan, Stop, has_turns};
use deadloop_score::{Case, Evidence, JudgeOptions, Span};

use super::calls::EqualCalls;
use super::excerpt::{Excerpt, ExcerptMark, ExcerptSource};
use super::explanation::{
    ExplainedAlarm, ExplainedLabel, ExplainedReading, ExplainedSetting, ExplainedTranscript,
    Explanation, MemberReadings,
};
use super::near_misses::{FactSight, select, sights, sights_in_run};
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::programs;

/// The maximum number of near misses shown for each member and channel.
const NEAREST: usize = 3;

/// A transcript to explain, and the options for it.
pub(crate) struct ExplainRequest<'a> {
    /// The transcript.
    pub transcript: &'a Transcript,
    /// The case of the transcript, with its label.
    pub case: &'a Case,
    /// The options for judging an alarm.
    pub judge: JudgeOptions,
    /// The chunk size of the replay, in chars. `None` for the recorded chunks.
    pub chunks: Option<NonZeroU64>,
    /// The chars of text before and after each mark.
    pub context: u64,
}

impl ExplainRequest<'_> {
    /// Runs every setting over the transcript, as a replay does, and collects the facts that its members found.
    ///
    /// # Errors
    /// Returns an error if a program does not start or the host stops it.
    pub(crate) fn explain(
        &self,
        named: &[(String, Settings)],
        host: &dyn Host,
    ) -> RunResult<Explanation> {
        let mut plan = Plan::default();
        let cells: Vec<usize> = named.iter().map(|(_, s)| plan.add_settings(s)).collect();
        let programs = programs::start(&plan, host)?;
        let passing = host.begin(None);
        let decided = programs.decide(&plan, self.transcript, self.chunks, host.cancel());
        drop(passing);
        let records = [decided.map_err(|Interruption| Code::Interrupted.error("interrupted"))?];
        let evidence = Evidence::new(&plan, std::slice::from_ref(self.case), &records)?;
        let told = named.iter().zip(&cells);
        let settings: Vec<ExplainedSetting> = told
            .map(|((name, s), cell)| {
                let guard = s.for_model(self.transcript.work());
                self.explain_setting(name, guard, (&evidence, *cell))
            })
            .collect();
        Ok(Explanation {
            transcript: self.head(),
            text: settings.first().map_or(Vec::new(), |told| self.text(told)),
            settings,
        })
    }

    fn head(&self) -> ExplainedTranscript {
        let truth = self.case.truth.as_ref();
        let label = |span: &Span| ExplainedLabel {
            class: span.class,
            kind: span.kind,
            channel: span.channel,
            start: span.start,
            onset: span.onset,
            earliest: span.earliest,
            end: span.end,
            open: span.open,
            period: span.period,
        };
        ExplainedTranscript {
            id: self.transcript.id.clone(),
            model: self.transcript.model.clone(),
            chars: self.case.timeline.length(),
            class: self.case.class(),
            labels: truth.map_or(Vec::new(), |t| t.spans.iter().map(label).collect()),
            equal_calls: EqualCalls::find(self.transcript),
        }
    }

    fn explain_setting(
        &self,
        name: &str,
        guard: &Setting,
        (evidence, cell): (&Evidence<'_>, usize),
    ) -> ExplainedSetting {
        let place = evidence.plan.cell(cell);
        let decided = evidence.trial(place.block, 0).decided;
        let judged = evidence.outcomes(cell, &[0], &self.judge);
        let judged = judged.first();
        let latency = judged.and_then(|j| j.latency);
        let period = self.span().and_then(|span| span.period);
        let names = guard.member_names();
        let fired = |stop: &Stop| {
            let member = names.get(stop.member).cloned().unwrap_or_default();
            ExplainedAlarm::new(member, stop, decided)
        };
        let seat = |(name, member): (&String, &Member)| self.member_readings(name, member);
        ExplainedSetting {
            name: name.into(),
            setting: evidence.plan.id(cell),
            verdict: judged.map_or("", |j| j.verdict.name()),
            unit: self.judge.unit,
            latency,
            latency_ms: judged.and_then(|j| j.latency_ms),
            latency_tokens: judged.and_then(|j| j.latency_tokens),
            latency_copies: latency.zip(period).map(|(d, p)| d as f64 / p as f64),
            error: decided.error.clone(),
            alarm: decided.stop(&place.at).map(fired),
            members: names.iter().zip(&guard.members).map(seat).collect(),
        }
    }

    fn member_readings(&self, name: &str, member: &Member) -> MemberReadings {
        let program = is_program(member.detector.params);
        let channels = member.channels().filter(|_| !program);
        let readings = channels.filter_map(|channel| {
            let text = self.channel(channel);
            (!text.is_empty()).then(|| self.reading(member, channel, &text.chars))
        });
        MemberReadings {
            member: name.into(),
            program,
            measured_with: measured_with(member),
            readings: readings.collect(),
        }
    }

    fn sights_of(&self, member: &Member, channel: Channel, text: &str) -> Vec<FactSight> {
        let anew =
            member.params.text("per") == TextScope::Turn.name() && has_turns(self.transcript);
        let alone = |lane: &TextChannel| *lane != TextChannel::Arguments && !anew;
        match channel.text().filter(alone) {
            Some(lane) => sights(member, lane, text),
            None => sights_in_run(member, channel, self.transcript),
        }
    }

    fn reading(&self, member: &Member, channel: Channel, text: &str) -> ExplainedReading {
        let span = self.span().filter(|span| span.channel == channel);
        let span: Option<Range<u64>> = span.map(|span| span.onset.count()..span.end.count());
        let sights = self.sights_of(member, channel, text);
        let facts = select(&sights, NEAREST, span.as_ref());
        let fires = facts.first().filter(|f| f.accepted).map(|f| f.position);
        ExplainedReading {
            channel,
            fires_at: fires,
            facts,
            hidden: fires
                .is_none()
                .then(|| self.hidden_loop(member, channel, text))
                .flatten(),
        }
    }

    /// Returns the first loop that a member misses only because a checkpoint cuts the last element before it.
    fn hidden_loop(&self, member: &Member, channel: Channel, text: &str) -> Option<FactSight> {
        if member.params.text("partial_tail") != "keep" {
            return None;
        }
        let mut whole = member.clone();
        whole.params.set("partial_tail", Value::Text("drop".into()));
        let mut sights = self.sights_of(&whole, channel, text).into_iter();
        sights.find(|sight| sight.accepted)
    }

    fn channel(&self, channel: Channel) -> ChannelView {
        ChannelView::new(self.transcript, channel)
    }

    /// Returns the labelled span that matters most: the first loop, else the first transient.
    fn span(&self) -> Option<&Span> {
        let truth = self.case.truth.as_ref()?;
        truth.first_loop().or(truth.spans.first())
    }

    /// Returns the text around the labelled onset and the alarm, or around the nearest miss.
    pub(crate) fn text(&self, told: &ExplainedSetting) -> Vec<Excerpt> {
        let shown = told.shown_fact();
        let of_channel = |channel| {
            let lane = self.channel(channel);
            let sight = shown.filter(|(c, _)| *c == channel).map(|(_, sight)| sight);
            let span = self.span().filter(|span| span.channel == channel);
            let marks = points(channel, sight, span, told.alarm.as_ref());
            // Copies are marked in text alone, not in a list of calls.
            let is_text = channel.unit() == Unit::Chars;
            ExcerptSource {
                channel,
                text: &lane.chars,
                marks: marks.into_iter().map(|mark| lane.put(mark)).collect(),
                sight: sight.filter(|_| is_text),
                span: span.filter(|_| is_text),
            }
            .excerpts(self.context)
        };
        let channels = [
            Channel::Reasoning,
            Channel::Answer,
            Channel::Arguments,
            Channel::Tools,
        ];
        channels.into_iter().flat_map(of_channel).collect()
    }
}

/// The shown content of a channel: its text, or a line for each call.
struct ChannelView {
    chars: String,
    /// The first char of each call's line, if there are calls.
    starts: Option<Vec<u64>>,
}

impl ChannelView {
    fn new(transcript: &Transcript, channel: Channel) -> Self {
        let text = |chars| Self {
            chars,
            starts: None,
        };
        match channel {
            Channel::Reasoning => text(transcript.reasoning()),
            Channel::Answer => text(transcript.answer()),
            Channel::Arguments => {
                let calls = transcript.stream().filter_map(|(_, event)| match event {
                    Event::Call { arguments, .. } => Some(arguments.text().into_owned()),
                    _ => None,
                });
                text(calls.collect())
            }
            Channel::Tools | Channel::Turns => Self::of_calls(transcript),
        }
    }

    fn of_calls(transcript: &Transcript) -> Self {
        let (mut chars, mut starts, mut length) = (String::new(), Vec::new(), 0);
        for (_, event) in transcript.stream() {
            if let Event::Call {
                name, arguments, ..
            } = event
            {
                // Each call has one line, so line breaks in its arguments are replaced.
                let line = format!("{name}({})", arguments.text()).replace(['\n', '\r'], " ");
                starts.push(length);
                length += Chars::count(&line).0 + 1;
                chars.push_str(&line);
                chars.push('\n');
            }
        }
        Self {
            chars,
            starts: Some(starts),
        }
    }

    fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Returns the mark moved to the line of its call.
    fn put(&self, mark: ExcerptMark) -> ExcerptMark {
        let place = |starts: &Vec<u64>| {
            let nth = usize::try_from(mark.at).unwrap_or(usize::MAX);
            starts.get(nth).or(starts.last()).copied()
        };
        ExcerptMark {
            at: self.starts.as_ref().and_then(place).unwrap_or(mark.at),
            ..mark
        }
    }
}

/// Returns whether a detector with these parameters is a user's program, which has no meter here.
fn is_program(params: &[Param]) -> bool {
    params.iter().any(|p| matches!(p.domain, Domain::Program))
}

/// Returns the structural parameters that have a unit or differ from their defaults.
fn measured_with(member: &Member) -> Vec<(&'static str, Value)> {
    let params = member.detector.params.iter();
    let structural = params.filter(|p| p.mark == ParamRole::Structural);
    let told = structural.filter_map(|param| {
        let value = member.params.get(param.name)?;
        let changed = *value != Value::from(param.default);
        (changed || !param.unit.is_empty()).then(|| (param.name, value.clone()))
    });
    told.collect()
}

/// Returns the marks of a channel.
fn points(
    channel: Channel,
    sight: Option<&FactSight>,
    span: Option<&Span>,
    alarm: Option<&ExplainedAlarm>,
) -> Vec<ExcerptMark> {
    let at = |position: Units, what| ExcerptMark {
        at: position.count(),
        position: position.count(),
        what,
    };
    // The last char read is the one before the position.
    let read = |position: Units, what| ExcerptMark {
        at: position.count().saturating_sub(1),
        position: position.count(),
        what,
    };
    let mut points = Vec::new();
    if let Some(span) = span {
        points.push(at(span.onset, "labelled onset"));
        points.extend((!span.open).then(|| read(span.end, "labelled end")));
    }
    if let Some(sight) = sight {
        points.push(at(sight.onset, "second copy"));
    }
    match (alarm.filter(|a| a.channel == channel), sight) {
        (Some(alarm), _) => points.push(read(alarm.exact, "alarm")),
        (None, Some(sight)) if sight.accepted => points.push(read(sight.position, "cut here")),
        (None, Some(sight)) => points.push(read(sight.position, "nearest miss")),
        (None, None) => {}
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::harness::{DETECTORS, Literal};

    #[test]
    fn a_program_is_not_asked_for_facts() {
        let program =
            Param::new("command", Literal::Texts(&[]), Domain::Program).doc("what is run");
        assert!(is_program(&[program]));
        assert!(
            !DETECTORS
                .iter()
                .any(|d| d.name != "command" && is_program(d.params))
        );
    }
}
