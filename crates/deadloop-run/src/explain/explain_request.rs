//! [`ExplainRequest`]: runs settings over a transcript and explains their alarms.

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
use super::near_misses::{FactSight, facts_in, facts_in_run, select_facts};
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::programs;

/// The maximum number of near misses to show for each member and channel.
const MAX_NEAR_MISSES: usize = 3;

/// A request to explain settings on a transcript.
pub(crate) struct ExplainRequest<'a> {
    /// The transcript.
    pub transcript: &'a Transcript,
    /// The case of the transcript, which holds its label.
    pub case: &'a Case,
    /// The options for judging the alarms.
    pub judge: JudgeOptions,
    /// The chunk size of the replay, in chars. `None` for the recorded chunks.
    pub chunks: Option<NonZeroU64>,
    /// The number of chars shown before and after each mark.
    pub context: u64,
}

impl ExplainRequest<'_> {
    /// Runs every setting over the transcript like a replay, and collects the facts that its members found. `named`
    /// lists the settings with their names.
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
        let programs = programs::start_programs(&plan, host)?;
        let passing = host.begin(None);
        let decided = programs.decide(&plan, self.transcript, self.chunks, host.cancel());
        drop(passing);
        let records = [decided.map_err(|Interruption| Code::Interrupted.error("interrupted"))?];
        let evidence = Evidence::new(&plan, std::slice::from_ref(self.case), &records)?;
        let cells_by_name = named.iter().zip(&cells);
        let settings: Vec<ExplainedSetting> = cells_by_name
            .map(|((name, s), cell)| {
                let guard = s.for_model(self.transcript.work());
                self.explain_setting(name, guard, (&evidence, *cell))
            })
            .collect();
        Ok(Explanation {
            transcript: self.describe_transcript(),
            text: settings.first().map_or(Vec::new(), |s| self.excerpts(s)),
            settings,
        })
    }

    fn describe_transcript(&self) -> ExplainedTranscript {
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
        let period = self.labelled_span().and_then(|span| span.period);
        let names = guard.member_names();
        let fired = |stop: &Stop| {
            let member = names.get(stop.member).cloned().unwrap_or_default();
            ExplainedAlarm::new(member, stop, decided)
        };
        let readings_of = |(name, member): (&String, &Member)| self.member_readings(name, member);
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
            members: names.iter().zip(&guard.members).map(readings_of).collect(),
        }
    }

    fn member_readings(&self, name: &str, member: &Member) -> MemberReadings {
        let program = is_program(member.detector.params);
        let channels = member.channels().filter(|_| !program);
        let readings = channels.filter_map(|channel| {
            let text = self.channel_view(channel);
            (!text.is_empty()).then(|| self.explain_reading(member, channel, &text.chars))
        });
        MemberReadings {
            member: name.into(),
            program,
            measured_with: measured_with(member),
            readings: readings.collect(),
        }
    }

    fn member_facts(&self, member: &Member, channel: Channel, text: &str) -> Vec<FactSight> {
        let starts_anew =
            member.params.text("per") == TextScope::Turn.name() && has_turns(self.transcript);
        let alone = |lane: &TextChannel| *lane != TextChannel::Arguments && !starts_anew;
        match channel.text().filter(alone) {
            Some(lane) => facts_in(member, lane, text),
            None => facts_in_run(member, channel, self.transcript),
        }
    }

    fn explain_reading(&self, member: &Member, channel: Channel, text: &str) -> ExplainedReading {
        let span = self.labelled_span().filter(|span| span.channel == channel);
        let span: Option<Range<u64>> = span.map(|span| span.onset.count()..span.end.count());
        let sights = self.member_facts(member, channel, text);
        let facts = select_facts(&sights, MAX_NEAR_MISSES, span.as_ref());
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

    /// Returns the first loop that a member misses only because a checkpoint cuts the last element of the text before
    /// it.
    fn hidden_loop(&self, member: &Member, channel: Channel, text: &str) -> Option<FactSight> {
        if member.params.text("partial_tail") != "keep" {
            return None;
        }
        let mut whole = member.clone();
        whole.params.set("partial_tail", Value::Text("drop".into()));
        let mut sights = self.member_facts(&whole, channel, text).into_iter();
        sights.find(|sight| sight.accepted)
    }

    fn channel_view(&self, channel: Channel) -> ChannelView {
        ChannelView::new(self.transcript, channel)
    }

    /// Returns the label to explain: the first loop, or else the first transient.
    fn labelled_span(&self) -> Option<&Span> {
        let truth = self.case.truth.as_ref()?;
        truth.first_loop().or(truth.spans.first())
    }

    /// Returns excerpts around the labelled onset and the alarm of a setting, or around its nearest miss.
    pub(crate) fn excerpts(&self, explained: &ExplainedSetting) -> Vec<Excerpt> {
        let shown = explained.shown_fact();
        let of_channel = |channel| {
            let view = self.channel_view(channel);
            let sight = shown.filter(|(c, _)| *c == channel).map(|(_, sight)| sight);
            let span = self.labelled_span().filter(|span| span.channel == channel);
            let marks = channel_marks(channel, sight, span, explained.alarm.as_ref());
            // Copies are marked only in text, not in lists of calls.
            let is_text = channel.unit() == Unit::Chars;
            ExcerptSource {
                channel,
                text: &view.chars,
                marks: marks.into_iter().map(|m| view.at_call_line(m)).collect(),
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

/// The content of a channel in an excerpt: its text, or one line for each call.
struct ChannelView {
    chars: String,
    /// The index of the first char of each call's line, if the channel has calls.
    line_starts: Option<Vec<u64>>,
}

impl ChannelView {
    fn new(transcript: &Transcript, channel: Channel) -> Self {
        let text = |chars| Self {
            chars,
            line_starts: None,
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
            Channel::Tools | Channel::Turns => Self::from_calls(transcript),
        }
    }

    fn from_calls(transcript: &Transcript) -> Self {
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
            line_starts: Some(starts),
        }
    }

    fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Returns the mark, moved to the line of its call. In text the mark stays.
    fn at_call_line(&self, mark: ExcerptMark) -> ExcerptMark {
        let place = |starts: &Vec<u64>| {
            let nth = usize::try_from(mark.at).unwrap_or(usize::MAX);
            starts.get(nth).or(starts.last()).copied()
        };
        ExcerptMark {
            at: self.line_starts.as_ref().and_then(place).unwrap_or(mark.at),
            ..mark
        }
    }
}

/// Returns whether a detector with these parameters is a user's program, which reports no facts.
fn is_program(params: &[Param]) -> bool {
    params.iter().any(|p| matches!(p.domain, Domain::Program))
}

/// Returns the structural parameters of a member that have a unit or differ from their defaults.
fn measured_with(member: &Member) -> Vec<(&'static str, Value)> {
    let params = member.detector.params.iter();
    let structural = params.filter(|p| p.mark == ParamRole::Structural);
    let explained = structural.filter_map(|param| {
        let value = member.params.get(param.name)?;
        let changed = *value != Value::from(param.default);
        (changed || !param.unit.is_empty()).then(|| (param.name, value.clone()))
    });
    explained.collect()
}

/// Returns the marks to show in a channel.
fn channel_marks(
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
