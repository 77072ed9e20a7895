//! What is said first: what was measured, the verdict in a sentence, three figures.

use crate::data::{Nothing, ReportData, Role, Score, Verdict};
use crate::numbers::{Interval, chars, count, decimal, percent, range};
use crate::tables::told;
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
        next: next(data),
        figures: figures(&lines),
    }
}

fn measured(data: &ReportData) -> String {
    let first = data
        .together()
        .find(|score| score.loops + score.clean > 0)
        .or_else(|| data.together().next());
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
        .filter(|model| *model != crate::data::ALL_MODELS)
        .collect();
    let settings = match cells {
        1 => "one setting".to_owned(),
        cells => format!("{} settings", count(cells)),
    };
    let labelled = |score: &Score| {
        let clean = decimal(Some(clean_chars(data) as f64 / 1e6));
        if data.has_labels() {
            format!(
                "{} of which loop; {clean} million clean chars",
                count(score.loops)
            )
        } else {
            "none of them labelled".into()
        }
    };
    let of = first.map_or_else(String::new, |score| {
        let models = format!(
            "{} model{}",
            count(models.len() as u64),
            if models.len() == 1 { "" } else { "s" }
        );
        format!(
            ": {} transcripts of {models}, {}",
            count(score.transcripts),
            labelled(score)
        )
    });
    format!(
        "deadloop {} measured {settings} on the corpus {}{of}.",
        data.run.command, data.run.corpus
    )
}

/// Where the choice stands, on what grounds it was made, and who has another; without one, what makes it.
fn next(data: &ReportData) -> Option<String> {
    let pooled = data.pooled();
    if pooled.is_none() {
        let tells = data.has_loops() && data.run.nothing.is_none();
        return tells.then(|| {
            format!(
                "Nothing was chosen here; deadloop tune {} chooses, and says how the choice does on transcripts that it was not made on.",
                data.run.corpus_file
            )
        });
    }
    let models = data.choices.len() as u64 - 1;
    let is_own = |choice: &&crate::data::Choice| {
        choice.model != crate::data::ALL_MODELS
            && choice.setting.is_some()
            && choice.setting != pooled
    };
    let own = data.choices.iter().filter(is_own).count() as u64;
    let subject = match data.run.constraints.as_slice() {
        [] => String::new(),
        list => format!(" subject to {}", list.join(", ")),
    };
    let who = match own {
        0 => format!("all {} models have the same setting", count(models)),
        own => format!(
            "{} of {} models have labels enough for a setting of their own, the others share one",
            count(own),
            count(models)
        ),
    };
    let kept = data
        .choices
        .iter()
        .any(|choice| choice.setting == pooled && choice.kept);
    let kept = if kept {
        "; the setting in use was kept, no other is surely better"
    } else {
        ""
    };
    Some(format!(
        "Chosen for the best {}{subject}: {who}{kept}. Ship settings.toml, which lies beside this page.",
        data.run.objective.name
    ))
}

/// The most clean chars that any setting watched: `never` watches them all.
fn clean_chars(data: &ReportData) -> u64 {
    data.together()
        .map(|score| score.exposure)
        .max()
        .unwrap_or(0)
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
    let together = |setting: usize| data.score(setting, crate::data::ALL_MODELS);
    let current = data
        .current()
        .and_then(|at| Some(of_score(together(at)?, data.describe(at), "current")));
    let choice = data
        .choices
        .iter()
        .find(|choice| choice.model == crate::data::ALL_MODELS && choice.setting.is_some());
    let chosen = choice.map(|choice| Line {
        of: "chosen".into(),
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
        let of = format!("nearest: {}", data.describe(why.nearest));
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
    if lines.is_empty() {
        let best = best_cell(data)
            .and_then(|at| Some(of_score(together(at)?, "best in-sample".into(), "chosen")));
        lines.extend(best);
    }
    lines
}

/// The cell with the best objective that meets the limit.
fn best_cell(data: &ReportData) -> Option<usize> {
    let cells = data
        .together()
        .filter(|score| data.settings[score.setting].role != Role::Floor);
    let feasible = cells.filter(|score| score.meets);
    let valued = feasible
        .filter_map(|score| Some((score.setting, data.run.objective.merit(score.objective?))));
    valued
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
        .map(|best| best.0)
}

fn verdict(data: &ReportData, lines: &[Line]) -> String {
    if !data.has_labels() {
        return unlabelled(data);
    }
    if !data.has_loops() {
        return "No transcript is labelled as a loop, so recall and delay are n/a; only false alarms could be counted.".into();
    }
    let mut sentences: Vec<String> = lines.iter().map(sentence).collect();
    if let Some(why) = &data.run.nothing {
        // Before the figures of the nearest setting, which stand last.
        sentences.insert(sentences.len().saturating_sub(1), nothing(data, why));
    }
    sentences.join(" ")
}

/// Which constraint restricts, and which setting comes nearest.
fn nothing(data: &ReportData, why: &Nothing) -> String {
    let nearest = data.describe(why.nearest);
    let by = why.restrictive.as_ref().map_or_else(String::new, |by| {
        format!(
            " {} is the most restrictive constraint: {} of {} settings meet it; for the nearest setting, {nearest}, {} was compared with it.",
            by.constraint,
            count(by.met),
            count(why.cells),
            decimal(by.compared),
        )
    });
    format!(
        "No setting of the grid satisfies {}: nothing was chosen.{by}",
        why.constraints
    )
}

fn sentence(line: &Line) -> String {
    let held_out = if line.held_out { ", held out," } else { "" };
    let of = match line.role {
        "chosen" => format!("The {} setting", line.of),
        "nearest" => "The nearest setting".into(),
        "" => line.of.clone(),
        _ => format!(
            "The setting in use, {},",
            line.of
                .trim_start_matches("current (")
                .trim_end_matches(')')
        ),
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
        of: line.of.clone(),
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
    vec![
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
    ]
}
