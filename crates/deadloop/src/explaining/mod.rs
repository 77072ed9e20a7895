//! Why a setting fires where it does, or does not: everything that `deadloop explain` tells, as data.
//!
//! | to find | look in |
//! |---|---|
//! | facts against thresholds, and what "near" is | `near` |
//! | where copies of a unit stand | `copies` |
//! | which text is shown | `excerpt` |
//! | what of a stranger's text reaches the terminal | `visible` |
//! | tables, and text in colours | `words`, `paint` |

use std::ops::Range;

use deadloop_corpus::Transcript;
use deadloop_detect::{Channel, Chars, Domain, Kind, Mark, Member, Setting, Value};
use deadloop_replay::{Plan, Seen, Stop, decide};
use deadloop_score::{Case, Class, Evidence, JudgeOptions, Outcome as Judged, Span};
use serde::Serialize;

mod copies;
mod excerpt;
mod near;
mod paint;
mod visible;
mod words;

use excerpt::{Excerpt, Mark as Point, Source};
use near::{Sight, nearest, sights, telling};
pub(crate) use visible::visible;

use crate::commands::Named;
use crate::exit::Outcome;

/// Near misses that are told of a member and channel.
const NEAREST: usize = 3;

/// Everything that is told.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) transcript: Head,
    /// The first is the one that the text is about.
    pub(crate) settings: Vec<Told>,
    pub(crate) text: Vec<Excerpt>,
}

/// Which transcript it is, and what is true about it.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) chars: Seen,
    /// The class of its labels; none: nobody labelled it.
    pub(crate) class: Option<Class>,
    pub(crate) labels: Vec<Label>,
}

/// A labelled span.
#[derive(Debug, Serialize)]
pub(crate) struct Label {
    pub(crate) class: Class,
    pub(crate) kind: Option<Kind>,
    pub(crate) channel: Channel,
    pub(crate) start: Option<Chars>,
    pub(crate) onset: Chars,
    pub(crate) earliest: Chars,
    pub(crate) end: Chars,
    /// Whether it still repeats where the recording ends.
    pub(crate) open: bool,
    pub(crate) period: Option<u64>,
}

/// What one setting did.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) setting: String,
    pub(crate) verdict: &'static str,
    pub(crate) latency: Option<u64>,
    pub(crate) latency_ms: Option<f64>,
    pub(crate) latency_tokens: Option<u64>,
    /// Copies of the labelled period in the latency.
    pub(crate) latency_copies: Option<f64>,
    /// Why the detector failed.
    pub(crate) error: Option<String>,
    pub(crate) alarm: Option<Fired>,
    pub(crate) members: Vec<Seat>,
}

/// The first alarm of the guard.
#[derive(Debug, Serialize)]
pub(crate) struct Fired {
    pub(crate) member: String,
    pub(crate) channel: Channel,
    pub(crate) kind: Kind,
    pub(crate) exact: Chars,
    pub(crate) delivered: Chars,
}

/// One member of a guard.
#[derive(Debug, Serialize)]
pub(crate) struct Seat {
    pub(crate) member: String,
    /// Whether it is a program, of which nothing is known but its verdict.
    pub(crate) program: bool,
    /// The structural parameters that say what it looks at, or that are not the default.
    pub(crate) measured_with: Vec<(&'static str, Value)>,
    /// One for each channel that it watches and that has text.
    pub(crate) readings: Vec<Reading>,
}

/// What a member saw in a channel.
#[derive(Debug, Serialize)]
pub(crate) struct Reading {
    pub(crate) channel: Channel,
    /// Where it fires, if nothing else does before.
    pub(crate) fires_at: Option<Chars>,
    /// The fact that it fires on, then the nearest misses.
    pub(crate) facts: Vec<Sight>,
}

/// What is explained, and how it is judged.
pub(crate) struct Question<'a> {
    pub(crate) transcript: &'a Transcript,
    pub(crate) case: &'a Case,
    pub(crate) judge: JudgeOptions,
    pub(crate) chunks: Option<std::num::NonZeroU64>,
    pub(crate) context: u64,
}

impl Question<'_> {
    /// Runs every setting over the transcript, as a replay does, and looks at what its members saw.
    pub(crate) fn explain(&self, named: &[Named]) -> Outcome<Explained> {
        let mut plan = Plan::default();
        let cells: Vec<usize> = named.iter().map(|(_, s)| plan.add_settings(s)).collect();
        let records = [decide(&plan, self.transcript, self.chunks)];
        let evidence = Evidence::new(&plan, std::slice::from_ref(self.case), &records)?;
        let told = named.iter().zip(&cells);
        let settings: Vec<Told> = told
            .map(|((name, s), cell)| {
                let guard = s.for_model(&self.transcript.model);
                self.told(name, guard, (&evidence, *cell))
            })
            .collect();
        Ok(Explained {
            transcript: self.head(),
            text: settings.first().map_or(Vec::new(), |told| self.text(told)),
            settings,
        })
    }

    fn head(&self) -> Head {
        let truth = self.case.truth.as_ref();
        let label = |span: &Span| Label {
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
        Head {
            id: self.transcript.id.clone(),
            model: self.transcript.model.clone(),
            chars: self.case.timeline.length(),
            class: self.case.class(),
            labels: truth.map_or(Vec::new(), |t| t.spans.iter().map(label).collect()),
        }
    }

    fn told(&self, name: &str, guard: &Setting, (evidence, cell): (&Evidence<'_>, usize)) -> Told {
        let place = evidence.plan.cell(cell);
        let decided = evidence.trial(place.block, 0).decided;
        let judged: Vec<Judged> = evidence.outcomes(cell, &[0], &self.judge);
        let judged = judged.first();
        let latency = judged.and_then(|j| j.latency);
        let period = self.span().and_then(|span| span.period);
        let names = guard.member_names();
        let fired = |stop: &Stop| Fired {
            member: names.get(stop.member).cloned().unwrap_or_default(),
            channel: stop.channel,
            kind: stop.kind,
            exact: stop.exact.seen.of(stop.channel),
            delivered: stop.delivered.seen.of(stop.channel),
        };
        let seat = |(name, member): (&String, &Member)| self.seat(name, member);
        Told {
            name: name.into(),
            setting: evidence.plan.id(cell),
            verdict: judged.map_or("", |j| j.verdict.name()),
            latency,
            latency_ms: judged.and_then(|j| j.latency_ms),
            latency_tokens: judged.and_then(|j| j.latency_tokens),
            latency_copies: latency.zip(period).map(|(d, p)| d as f64 / p as f64),
            error: decided.error.clone(),
            alarm: decided.stop(&place.at).map(fired),
            members: names.iter().zip(&guard.members).map(seat).collect(),
        }
    }

    fn seat(&self, name: &str, member: &Member) -> Seat {
        let program = is_program(member);
        let channels = Channel::TEXT.into_iter().filter(|c| member.watches(*c));
        let readings = channels.filter(|_| !program).filter_map(|channel| {
            let text = self.channel(channel);
            (!text.is_empty()).then(|| self.reading(member, channel, &text))
        });
        Seat {
            member: name.into(),
            program,
            measured_with: measured_with(member),
            readings: readings.collect(),
        }
    }

    fn reading(&self, member: &Member, channel: Channel, text: &str) -> Reading {
        let span = self.span().filter(|span| span.channel == channel);
        let span: Option<Range<u64>> = span.map(|span| span.onset.0..span.end.0);
        let facts = telling(&sights(member, text), NEAREST, span.as_ref());
        Reading {
            channel,
            fires_at: facts.first().filter(|f| f.accepted).map(|f| f.position),
            facts,
        }
    }

    fn channel(&self, channel: Channel) -> String {
        match channel {
            Channel::Reasoning => self.transcript.reasoning(),
            Channel::Answer => self.transcript.answer(),
            Channel::Tools => String::new(),
        }
    }

    /// The labelled span that matters most: the first loop, else the first that recovers.
    fn span(&self) -> Option<&Span> {
        let truth = self.case.truth.as_ref()?;
        truth.first_loop().or(truth.spans.first())
    }

    /// The text around the labelled onset and the alarm, or what came nearest to one.
    fn text(&self, told: &Told) -> Vec<Excerpt> {
        let shown = told.shown();
        let of_channel = |channel| {
            let sight = shown.filter(|(c, _)| *c == channel).map(|(_, sight)| sight);
            let span = self.span().filter(|span| span.channel == channel);
            Source {
                channel,
                text: &self.channel(channel),
                marks: points(channel, sight, span, told.alarm.as_ref()),
                sight,
                span,
            }
            .excerpts(self.context)
        };
        Channel::TEXT.into_iter().flat_map(of_channel).collect()
    }
}

impl Told {
    /// The fact that the text is shown for: the alarm's, else the nearest miss.
    pub(crate) fn shown(&self) -> Option<(Channel, &Sight)> {
        let readings = self
            .members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)));
        if let Some(alarm) = &self.alarm {
            let mut readings = readings;
            let (_, reading) =
                readings.find(|(m, r)| m.member == alarm.member && r.channel == alarm.channel)?;
            return reading.facts.first().map(|fact| (reading.channel, fact));
        }
        self.nearest().map(|(_, channel, sight)| (channel, sight))
    }

    /// The nearest miss of all members: whose, where and what.
    pub(crate) fn nearest(&self) -> Option<(&str, Channel, &Sight)> {
        let readings = self
            .members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)));
        let all: Vec<(&Seat, &Reading)> = readings.collect();
        let sight = nearest(all.iter().flat_map(|(_, r)| &r.facts))?;
        let (seat, reading) = all
            .into_iter()
            .find(|(_, r)| r.facts.iter().any(|fact| std::ptr::eq(fact, sight)))?;
        Some((&seat.member, reading.channel, sight))
    }
}

/// Whether a member is a program of the user's, whose meter is not in here.
fn is_program(member: &Member) -> bool {
    let params = member.detector.params.iter();
    params
        .into_iter()
        .any(|p| matches!(p.domain, Domain::Program))
}

/// Structural parameters that count something, and those that somebody has changed.
fn measured_with(member: &Member) -> Vec<(&'static str, Value)> {
    let params = member.detector.params.iter();
    let structural = params.filter(|p| p.mark == Mark::Structural);
    let told = structural.filter_map(|param| {
        let value = member.params.get(param.name)?;
        let changed = *value != Value::from(param.default);
        (changed || !param.unit.is_empty()).then(|| (param.name, value.clone()))
    });
    told.collect()
}

/// What is pointed at in a channel.
fn points(
    channel: Channel,
    sight: Option<&Sight>,
    span: Option<&Span>,
    alarm: Option<&Fired>,
) -> Vec<Point> {
    let at = |position: Chars, what| Point {
        at: position.0,
        position: position.0,
        what,
    };
    // What had been read is one more than the number of the last char.
    let read = |position: Chars, what| Point {
        at: position.0.saturating_sub(1),
        position: position.0,
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
        (None, Some(sight)) => points.push(read(sight.position, "nearest miss")),
        (None, None) => {}
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::{Detector, Domain, Literal, Param, Params, Recipe};

    static PROGRAM: Detector = Detector {
        name: "program",
        version: 1,
        about: "a program",
        params: &[Param {
            name: "command",
            mark: Mark::Structural,
            default: Literal::Texts(&["node"]),
            domain: Domain::Program,
            unit: "",
            doc: "what is run",
        }],
        presets: "",
        check: |_| Ok(()),
        recipe: |_| Recipe::new(|| unreachable!("a program has no meter")),
    };

    #[test]
    fn a_program_is_not_asked_for_facts() {
        let program = Member {
            detector: &PROGRAM,
            channel: None,
            params: Params::defaults(&PROGRAM),
        };
        assert!(is_program(&program));
        let text = deadloop_detect::DETECTORS.iter();
        for detector in text.filter(|d| d.name != "command") {
            let params = Params::defaults(detector);
            let member = Member {
                detector,
                channel: None,
                params,
            };
            assert!(!is_program(&member), "{}", detector.name);
        }
    }
}
