//! The top of the page: the measurement, the verdict, the figures.

mod advice;
mod next_step;

use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::numbers::{Estimate, UNDEFINED, chars, count, decimal, percent, range};
use deadloop_score::choose::{Advice, Figures, within};
use deadloop_score::measure::{BREAK_EVEN, DELAY, ENDED, SAVED};
use deadloop_score::replay::detect::Unit;
use deadloop_score::sentences::{capital, spared};
use deadloop_score::{Count, Metric};
use next_step::{next, subject};
use serde::Serialize;
use std::collections::BTreeSet;

/// The top of the page.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Headline<'d> {
    /// The sentence about the measurement.
    pub(crate) measured: String,
    /// The advice of `tune`. `None` for other runs.
    pub(crate) advice: Option<advice::AdviceView<'d>>,
    /// The result in a sentence or two. `None` if the advice has it.
    pub(crate) verdict: Option<String>,
    /// The next command for a run without an advice.
    pub(crate) next: Option<String>,
    /// The figures behind the verdict.
    pub(crate) figures: Vec<HeadlineFigure>,
    /// The setting in use, if the run has cells of a grid.
    pub(crate) current: Option<SettingInUse>,
}

/// The setting in use.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SettingInUse {
    /// The name and the id.
    pub(crate) name: String,
    /// The setting as TOML of a settings file.
    pub(crate) toml: String,
}

/// A figure of several settings.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HeadlineFigure {
    /// The name of the figure.
    pub(crate) name: &'static str,
    /// Whether the figure belongs to the one before, in the same box.
    pub(crate) joined: bool,
    /// The name, the figure and its interval for each setting.
    pub(crate) values: Vec<FigureValue>,
}

/// A figure of one setting.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FigureValue {
    /// The name of the setting.
    pub(crate) of: String,
    /// The role: `current`, `chosen`, `best`, or empty.
    pub(crate) role: &'static str,
    /// The figure.
    pub(crate) text: String,
    /// The interval of the figure. Empty if it has none.
    pub(crate) range: String,
}

/// The figures of a setting, and its name.
struct SettingFigures {
    of: String,
    role: &'static str,
    ended: Estimate,
    saved: Estimate,
    fa: Estimate,
    /// The wrong alarms, and the stops of repetitions that would have ended by themselves.
    alarms: [u64; 2],
    delay: Estimate,
    within: Estimate,
    /// The share of responses that must loop for the setting to pay. The inner `None` is a setting that never pays. The
    /// outer `None` is a figure that the advice already has.
    pays: Option<Option<f64>>,
    /// The saving at the given rate of loops, if the rate is known.
    spared: Option<String>,
}

/// The maximum number of named settings in the headline of a run without a choice: the one in use, and the best of the
/// others.
const NAMED: usize = 3;

/// The name of the figure that shares a box with the wrong alarms.
const TRANSIENT: &str = "transient stops";

/// Builds the headline.
pub(crate) fn headline(data: &ReportData) -> Headline<'_> {
    if !data.summary.is_empty() {
        let (command, corpus) = (&data.run.command, &data.run.corpus);
        return Headline {
            measured: format!("deadloop {command} on the corpus {corpus}."),
            ..Headline::default()
        };
    }
    let lines = lines(data);
    let advice = advice::advice_view(data);
    let verdict = verdict(data, &lines).filter(|_| advice.is_none());
    Headline {
        measured: measured_sentence(data),
        advice,
        verdict,
        next: next(data),
        figures: figures(data, &lines),
        current: in_use(data),
    }
}

/// Returns the setting in use. `None` unless cells of a grid are compared with it.
fn in_use(data: &ReportData) -> Option<SettingInUse> {
    let at = data.in_use()?;
    let is_cell = |setting: &crate::data::SettingRow| setting.role == Role::Cell;
    if !data.settings.iter().any(is_cell) {
        return None;
    }
    let (name, id) = (data.describe(at), &data.settings.get(at)?.id);
    Some(SettingInUse {
        name: format!("{} ({id})", capital(&name)),
        toml: data.toml(at)?.to_owned(),
    })
}

fn measured_sentence(data: &ReportData) -> String {
    let cells = data
        .settings
        .iter()
        .filter(|setting| setting.role != Role::Never)
        .count() as u64;
    let scored = data.scores.iter().map(|score| score.model.as_str());
    let models = scored.chain(data.outcomes.iter().map(|row| &*row.model));
    let models: BTreeSet<&str> = models.filter(|model| *model != ALL_MODELS).collect();
    let models = models.len() as u64;
    let settings = match cells {
        1 => "one setting".to_owned(),
        cells => format!("{} settings", count(cells)),
    };
    let labelled = if data.has_labels() {
        let exposure = largest_count(data, |score| score.scores.tally.get(Count::Exposure));
        let clean = match data.run.unit {
            Unit::Chars => format!("{} million", decimal(Some(exposure as f64 / 1e6))),
            _ => count(exposure),
        };
        let unit = data.run.unit;
        let loops = count(largest_count(data, Score::loops));
        format!("{loops} of which loop; {clean} clean {unit}")
    } else {
        "none of them labelled".into()
    };
    let of = data.together().next().map_or_else(String::new, |_| {
        let s = if models == 1 { "" } else { "s" };
        let models = format!("{} model{s}", count(models));
        let transcripts = count(largest_count(data, |score| {
            score.scores.tally.get(Count::Transcripts)
        }));
        format!(": {transcripts} transcripts of {models}, {labelled}")
    });
    format!(
        "deadloop {} measured {settings} on the corpus {}{of}.",
        data.run.command, data.run.corpus
    )
}

/// Returns the largest value of a count among settings. `never` watches every clean char and stops no loop.
fn largest_count(data: &ReportData, of: fn(&Score) -> u64) -> u64 {
    data.together().map(of).max().unwrap_or(0)
}

fn lines(data: &ReportData) -> Vec<SettingFigures> {
    let of_score = |score: &Score, of: String, role| SettingFigures {
        role,
        ended: score.estimate(&ENDED),
        saved: score.estimate(&SAVED),
        fa: score.estimate(data.run.wrong()),
        alarms: [
            score.scores.tally.wrong(),
            score.scores.tally.get(Count::TransientStop),
        ],
        delay: score.estimate(&DELAY),
        within: Estimate::default(),
        pays: Some(score.value(&BREAK_EVEN)),
        spared: spared(&of, &score.scores.tally, &score.worth, data.run.unit),
        of,
    };
    let together = |setting: usize| data.score(setting, ALL_MODELS);
    if let Some(advice) = &data.advice {
        return advised_figures(data, advice);
    }
    let current = data
        .in_use()
        .and_then(|at| Some(of_score(together(at)?, data.describe(at), "current")));
    let mut lines: Vec<SettingFigures> = current.into_iter().collect();
    let others = data.leading().iter();
    let others = others.filter(|at| data.in_use() != Some(**at));
    let others = others.filter_map(|at| Some(of_score(together(*at)?, data.describe(*at), "")));
    lines.extend(others.take(NAMED - lines.len()));
    if let Some(at) = data.best() {
        lines.extend(together(at).map(|score| of_score(score, data.describe(at), "best")));
    }
    lines
}

/// Returns the lines of the setting in use and, if it ships, of the file. Intervals come from the tables if they belong
/// to the same figure.
fn advised_figures(data: &ReportData, advice: &Advice) -> Vec<SettingFigures> {
    let line = |run: &Figures, of: String, (role, at): (&'static str, Option<usize>)| {
        let score = at.and_then(|at| data.score(at, ALL_MODELS));
        let with_ends = |measure: Metric, value| match score.map(|score| score.estimate(measure)) {
            Some(same) if same.value == value => same,
            _ => Estimate {
                value,
                ..Estimate::default()
            },
        };
        SettingFigures {
            of,
            role,
            ended: with_ends(&ENDED, run.ended),
            saved: with_ends(&SAVED, run.saved),
            fa: with_ends(data.run.wrong(), run.rate),
            alarms: [run.wrong, run.transient],
            delay: with_ends(&DELAY, run.delay),
            within: with_ends(within(data.run.unit), run.within),
            pays: None,
            spared: None,
        }
    };
    let in_use = line(
        &advice.in_use,
        advice.in_use_is.clone(),
        ("current", data.in_use()),
    );
    let measured = ["as measured", "held out"][usize::from(advice.by_folds)];
    let file = || {
        line(
            &advice.file,
            format!("{}, {measured}", advice.name_file()),
            ("chosen", data.chosen()),
        )
    };
    std::iter::once(in_use)
        .chain(data.ships().then(file))
        .collect()
}

fn verdict(data: &ReportData, lines: &[SettingFigures]) -> Option<String> {
    if !data.has_labels() {
        return Some(unlabelled_sentence(data));
    }
    if !data.has_loops() {
        return Some("No transcript is labelled as a loop, so what is ended, saved and the delay are n/a; only wrong alarms could be counted.".into());
    }
    let best = lines.iter().find(|line| line.role == "best").map(|line| {
        let (objective, subject) = (data.run.objective.0.name, subject(data));
        format!(
            "The setting with the best {objective}{subject}, in-sample: {}.",
            line.of
        )
    });
    let spared = lines.first().and_then(|line| line.spared.clone());
    let sentences: Vec<String> = best.into_iter().chain(spared).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn unlabelled_sentence(data: &ReportData) -> String {
    let cuts = data.cuts().into_iter();
    let guards = cuts.filter(|(at, _)| data.settings[*at].role != Role::Never);
    let list = guards.take(5).map(|(at, [cut, all])| {
        format!(
            "{} would have cut {} of {} transcripts",
            data.describe(at),
            count(cut),
            count(all)
        )
    });
    let list: Vec<String> = list.collect();
    if list.is_empty() {
        return "Nothing is labelled, so every rate is n/a.".into();
    }
    format!(
        "Nothing is labelled, so no alarm can be called right or wrong: {}.",
        list.join(", ")
    )
}

/// A figure of a line as text, and its interval.
type FigureFormat<'f> = &'f dyn Fn(&SettingFigures) -> (String, String);

fn figures(data: &ReportData, lines: &[SettingFigures]) -> Vec<HeadlineFigure> {
    let is_empty = |line: &SettingFigures| line.ended.value.is_none() && line.fa.value.is_none();
    if lines.iter().all(is_empty) {
        return Vec::new();
    }
    let ranged = |at: Estimate, write: fn(Option<f64>) -> String| {
        let ends = range(at, write).replace(UNDEFINED, "");
        (write(at.value), ends)
    };
    let wrong = |line: &SettingFigures| {
        let (rate, ends) = ranged(line.fa, decimal);
        if rate == UNDEFINED {
            return (rate, ends);
        }
        let per = data.run.wrong().title_in(data.run.unit);
        let per = per.trim_start_matches("wrong alarms");
        let range = format!("{rate}{per}; {ends}");
        (count(line.alarms[0]), range.trim_end_matches("; ").into())
    };
    let transient = |line: &SettingFigures| {
        let stops = line.fa.value.map(|_| count(line.alarms[1]));
        (stops.unwrap_or(UNDEFINED.into()), String::new())
    };
    let pays = |line: &SettingFigures| {
        let pays = line.ended.value.and(line.pays).map(from_share);
        (pays.unwrap_or_else(|| UNDEFINED.into()), String::new())
    };
    let (soon, delay) = latency_names(data.run.unit);
    let all: [(&'static str, FigureFormat<'_>); 7] = [
        ("ended: loops stopped, in them or before", &|line| {
            ranged(line.ended, percent)
        }),
        ("saved: of what loops generate", &|line| {
            ranged(line.saved, percent)
        }),
        ("wrong alarms", &wrong),
        (TRANSIENT, &transient),
        ("pays from: responses that loop", &pays),
        (soon, &|line| ranged(line.within, percent)),
        (delay, &|line| ranged(line.delay, chars)),
    ];
    let figure = |(name, shown): (&'static str, FigureFormat<'_>)| HeadlineFigure {
        name,
        joined: name == TRANSIENT,
        values: lines.iter().map(|line| figure_value(line, shown)).collect(),
    };
    let is_there = |figure: &HeadlineFigure| {
        let mut values = figure.values.iter();
        values.any(|value| value.text != UNDEFINED)
    };
    all.map(figure).into_iter().filter(is_there).collect()
}

fn figure_value(line: &SettingFigures, shown: FigureFormat<'_>) -> FigureValue {
    let (text, range) = shown(line);
    FigureValue {
        of: match line.role {
            "best" => "best in-sample".into(),
            _ => line.of.clone(),
        },
        role: line.role,
        text,
        range,
    }
}

/// Returns the names of the share of loops ended soon, and of the delay.
fn latency_names(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::Chars => (
            "ended within 1,000 chars",
            "delay: chars that a loop runs on, mean",
        ),
        Unit::Calls => (
            "ended within 5 calls",
            "delay: calls that a loop runs on, mean",
        ),
        Unit::Turns => (
            "ended within 5 turns",
            "delay: turns that a loop runs on, mean",
        ),
    }
}

/// Formats a share of looping responses as `1 in N`.
fn from_share(share: Option<f64>) -> String {
    match share {
        None => "nowhere".into(),
        Some(share) if share > 0.5 => percent(Some(share)),
        Some(share) if share > 0.0 => {
            format!("1 in {}", chars(Some((1.0 / share).round().max(1.0))))
        }
        Some(_) => "the first loop".into(),
    }
}
