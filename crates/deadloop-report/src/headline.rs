//! What is said first: what was measured, the verdict in a sentence, three figures.

mod budget;
mod doubts;
mod next;

use crate::data::{ALL_MODELS, Nothing, Over, ReportData, Role, Score, Verdict};
use crate::numbers::{Interval, UNDEFINED, chars, count, decimal, percent, range};
use crate::tables::told;
use next::{next, subject};
use serde::Serialize;

/// The top of the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Headline {
    /// What was measured.
    pub(crate) measured: String,
    /// What came out, in a sentence or two.
    pub(crate) verdict: String,
    /// What was chosen and what to do with it.
    pub(crate) next: Option<String>,
    /// The figures behind it.
    pub(crate) figures: Vec<Figure>,
    /// The setting in use, where a choice is held against it.
    pub(crate) current: Option<InUse>,
}

/// The setting in use.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct InUse {
    /// What it is called and its id.
    pub(crate) name: String,
    /// As it stands in a settings file.
    pub(crate) toml: String,
}

/// One figure, of the setting in use and of the chosen one.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    /// What it is.
    pub(crate) name: &'static str,
    /// For each setting: its name, the figure, its interval.
    pub(crate) values: Vec<Value>,
}

/// A figure of one setting.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Value {
    /// Whose it is.
    pub(crate) of: String,
    /// `current`, `chosen`, `nearest` or nothing.
    pub(crate) role: &'static str,
    /// The figure.
    pub(crate) text: String,
    /// Its interval, or nothing.
    pub(crate) range: String,
}

/// A setting's three figures, and where they come from.
struct Line {
    of: String,
    role: &'static str,
    recall: Interval,
    fa: Interval,
    delay: Interval,
    held_out: bool,
}

/// How many named settings are told of where none is chosen: the one in use, and the best of the others.
const NAMED: usize = 3;

/// Builds the headline.
pub(crate) fn headline(data: &ReportData) -> Headline {
    let lines = lines(data);
    let verdict = verdict(data, &lines);
    Headline {
        measured: measured(data),
        verdict: match &data.comparison {
            Some(comparison) => format!("{} {verdict}", told(comparison)),
            None => verdict,
        },
        next: budget::next(data).or_else(|| next(data)),
        figures: figures(&lines),
        current: in_use(data),
    }
}

/// Shown where cells of a grid are held against it.
fn in_use(data: &ReportData) -> Option<InUse> {
    let at = data.current()?;
    let is_cell = |setting: &crate::data::Setting| setting.role == Role::Cell;
    if !data.settings.iter().any(is_cell) {
        return None;
    }
    let (name, id) = (current_name(data, at), &data.settings.get(at)?.id);
    let name = match name.as_str() {
        "" => id.clone(),
        name => format!("{name} ({id})"),
    };
    Some(InUse {
        name,
        toml: data.toml(at)?,
    })
}

/// What the setting in use is called; empty where nothing but that it is in use.
fn current_name(data: &ReportData, at: usize) -> String {
    let name = data.describe(at);
    let name = name.trim_start_matches("current (").trim_end_matches(')');
    match name {
        "current" if data.run.stood_in => "the recommended guard".into(),
        "current" => String::new(),
        name => name.into(),
    }
}

fn measured(data: &ReportData) -> String {
    let cells = data
        .settings
        .iter()
        .filter(|setting| setting.role != Role::Floor)
        .count() as u64;
    let models: std::collections::BTreeSet<&str> = data
        .scores
        .iter()
        .map(|score| score.model.as_str())
        .chain(data.outcomes.iter().map(|row| row.model.as_str()))
        .filter(|model| *model != ALL_MODELS)
        .collect();
    let settings = match cells {
        1 => "one setting".to_owned(),
        cells => format!("{} settings", count(cells)),
    };
    let labelled = if data.has_labels() {
        let clean = decimal(Some(most(data, |score| score.exposure) as f64 / 1e6));
        let loops = count(most(data, |score| score.loops));
        format!("{loops} of which loop; {clean} million clean chars")
    } else {
        "none of them labelled".into()
    };
    let of = data.together().next().map_or_else(String::new, |_| {
        let models = format!(
            "{} model{}",
            count(models.len() as u64),
            if models.len() == 1 { "" } else { "s" }
        );
        let transcripts = count(most(data, |score| score.transcripts));
        format!(": {transcripts} transcripts of {models}, {labelled}")
    });
    let stood_in = match data.run.stood_in && data.current().is_some() {
        true => {
            " No --settings was given: compared with the recommended guard of this version of deadloop."
        }
        false => "",
    };
    format!(
        "deadloop {} measured {settings} on the corpus {}{of}.{stood_in}",
        data.run.command, data.run.corpus
    )
}

/// The most that any setting has of a count: `never` watches every clean char and stops before no loop.
fn most(data: &ReportData, of: fn(&Score) -> u64) -> u64 {
    data.together().map(of).max().unwrap_or(0)
}

fn lines(data: &ReportData) -> Vec<Line> {
    let of_score = |score: &Score, of: String, role| Line {
        of,
        role,
        recall: score.recall,
        fa: score.fa,
        delay: score.delay,
        held_out: false,
    };
    let together = |setting: usize| data.score(setting, ALL_MODELS);
    let current = data
        .current()
        .and_then(|at| Some(of_score(together(at)?, data.describe(at), "current")));
    let pooled = || {
        let mut choices = data.choices.iter();
        choices.find(|choice| choice.model == ALL_MODELS && choice.setting.is_some())
    };
    let chosen = data.shipped.as_ref().or_else(pooled).map(|choice| Line {
        of: match data.shipped {
            Some(_) => "shipped".into(),
            None => "chosen".into(),
        },
        role: "chosen",
        recall: choice.recall,
        fa: choice.fa,
        delay: Interval {
            value: choice.delay,
            ..Interval::default()
        },
        held_out: true,
    });
    let mut lines: Vec<Line> = current.into_iter().chain(chosen).collect();
    let nearest = data.run.nothing.as_ref().and_then(|why| {
        let id = data
            .settings
            .get(why.nearest)
            .map_or("", |setting| &setting.id);
        let of = format!("nearest: {id}");
        Some(of_score(together(why.nearest)?, of, "nearest"))
    });
    let nearest_is_none = nearest.is_none();
    lines.extend(nearest);
    if data.choices.is_empty() && nearest_is_none {
        let others = data
            .leading()
            .iter()
            .filter(|at| data.current() != Some(**at));
        let others = others.filter_map(|at| Some(of_score(together(*at)?, data.describe(*at), "")));
        lines.extend(others.take(NAMED - lines.len()));
    }
    if let Some(at) = data.best() {
        lines.extend(together(at).map(|score| of_score(score, data.described(at), "best")));
    }
    lines
}

fn verdict(data: &ReportData, lines: &[Line]) -> String {
    if !data.has_labels() {
        return unlabelled(data);
    }
    if let Some(told) = budget::verdict(data) {
        return told;
    }
    if !data.has_loops() {
        return "No transcript is labelled as a loop, so recall and delay are n/a; only false alarms could be counted.".into();
    }
    let mut sentences: Vec<String> = lines.iter().map(|line| sentence(data, line)).collect();
    if let Some(why) = &data.run.nothing {
        // Before the figures of the nearest setting, which stand last.
        sentences.insert(sentences.len().saturating_sub(1), nothing(data, why));
    }
    sentences.join(" ")
}

/// Which constraint restricts, which setting comes nearest, and what it violates.
fn nothing(data: &ReportData, why: &Nothing) -> String {
    let by = why.restrictive.as_ref().map_or_else(String::new, |by| {
        format!(
            " {} is the most restrictive constraint: {} of {} settings meet it.",
            by.constraint,
            count(by.met),
            count(why.cells),
        )
    });
    let violated: Vec<String> = why.violated.iter().map(Over::told).collect();
    let violated = match violated.as_slice() {
        [] => String::new(),
        list => format!(", violates: {}", list.join("; ")),
    };
    format!(
        "No setting of the grid satisfies {}: nothing was chosen.{by} The nearest setting, {}{violated}.",
        why.constraints,
        data.described(why.nearest)
    )
}

fn sentence(data: &ReportData, line: &Line) -> String {
    let held_out = if line.held_out { ", held out," } else { "" };
    let of = match line.role {
        "chosen" if data.shipped.is_some() => {
            "settings.toml, each model under its own setting".into()
        }
        "chosen" => "The chosen setting".into(),
        "best" => format!(
            "The setting with the best {}{}, {}, in-sample,",
            data.run.objective.name,
            subject(data),
            line.of
        ),
        "nearest" => "It".into(),
        "" => line.of.clone(),
        _ => match data.current().map(|at| current_name(data, at)) {
            Some(name) if !name.is_empty() => format!("The setting in use, {name},"),
            _ => "The setting in use".into(),
        },
    };
    format!(
        "{of}{held_out} finds {} of the loops{} at {} false alarms per million clean chars{}; a loop runs on for {} chars on average.",
        percent(line.recall.value),
        bracket(line.recall, percent),
        decimal(line.fa.value),
        bracket(line.fa, decimal),
        chars(line.delay.value),
    )
}

fn bracket(interval: Interval, write: fn(Option<f64>) -> String) -> String {
    match interval.low.and(interval.high) {
        Some(_) => format!(" ({})", range(interval, write)),
        None => String::new(),
    }
}

fn unlabelled(data: &ReportData) -> String {
    let of = |at: usize| {
        let rows = data.outcomes.iter().filter(move |row| row.setting == at);
        let (all, cut) = rows.fold((0u64, 0u64), |(all, cut), row| {
            (
                all + 1,
                cut + u64::from(row.alarm_at.is_some() && row.verdict != Verdict::Error),
            )
        });
        format!(
            "{} would have cut {} of {} transcripts",
            data.describe(at),
            count(cut),
            count(all)
        )
    };
    let list: Vec<String> = (0..data.settings.len())
        .filter(|at| {
            data.settings[*at].role != Role::Floor
                && data.outcomes.iter().any(|row| row.setting == *at)
        })
        .take(5)
        .map(of)
        .collect();
    if list.is_empty() {
        return "Nothing is labelled, so every rate is n/a.".into();
    }
    format!(
        "Nothing is labelled, so no alarm can be called right or wrong: {}.",
        list.join(", ")
    )
}

fn figures(lines: &[Line]) -> Vec<Figure> {
    let value = |line: &Line, text: String, range: String| Value {
        of: match line.role {
            "best" => "best in-sample".into(),
            _ => line.of.clone(),
        },
        role: line.role,
        text,
        range,
    };
    let ranged = |line: &Line, at: Interval, write: fn(Option<f64>) -> String| {
        let ends = at
            .low
            .and(at.high)
            .map_or_else(String::new, |_| range(at, write));
        value(line, write(at.value), ends)
    };
    if lines
        .iter()
        .all(|line| line.recall.value.is_none() && line.fa.value.is_none())
    {
        return Vec::new();
    }
    let all = vec![
        Figure {
            name: "recall: loops found",
            values: lines
                .iter()
                .map(|line| ranged(line, line.recall, percent))
                .collect(),
        },
        Figure {
            name: "false alarms per million clean chars",
            values: lines
                .iter()
                .map(|line| ranged(line, line.fa, decimal))
                .collect(),
        },
        Figure {
            name: "delay: chars that a loop runs on, mean",
            values: lines
                .iter()
                .map(|line| ranged(line, line.delay, chars))
                .collect(),
        },
    ];
    let is_there = |figure: &Figure| {
        let mut values = figure.values.iter();
        values.any(|value| value.text != UNDEFINED)
    };
    all.into_iter().filter(is_there).collect()
}
