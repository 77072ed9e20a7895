//! What is said of the choice: on what grounds it was made, who has another, what it breaks, what to do with it.

use super::doubts::{Worth, doubts, worth};
use crate::data::{ALL_MODELS, Choice, Over, ReportData};
use crate::numbers::{count, decimal};

/// Where the choice stands, on what grounds it was made, and who has another; without one, what makes it.
pub(super) fn next(data: &ReportData) -> Option<String> {
    let Some(pooled) = data.pooled() else {
        return unchosen(data);
    };
    let kept = data
        .choices
        .iter()
        .any(|choice| choice.setting == Some(pooled) && choice.kept);
    let kept = if kept {
        "; the setting in use was kept, no other is surely better"
    } else {
        ""
    };
    let mut sentences = vec![format!(
        "Chosen for the best {}{}: {}{kept}.",
        data.run.objective.name,
        subject(data),
        who(data)
    )];
    sentences.extend(refused(data, pooled));
    sentences.extend(over(data));
    let doubts = doubts(data);
    let worth = worth(data, pooled);
    let advice = advice(&doubts, worth.as_ref());
    sentences.extend(doubts);
    sentences.extend(worth.map(|worth| worth.told));
    sentences.push(advice);
    Some(sentences.join(" "))
}

/// What to do where nothing was chosen.
fn unchosen(data: &ReportData) -> Option<String> {
    if !data.has_loops() || data.run.nothing.is_some() {
        return None;
    }
    let mut sentences = Vec::new();
    if data.searched() && data.best().is_none() {
        let (objective, subject) = (&data.run.objective.name, subject(data));
        sentences.push(format!(
            "No setting can be called the best {objective}{subject}."
        ));
    }
    if data.searched() && data.leading().is_empty() {
        sentences.push("There is no setting in use, and no preset, to compare with.".to_owned());
    }
    sentences.push(format!(
        "Nothing was chosen here; deadloop tune {} chooses, and says how the choice does on transcripts that it was not made on.",
        data.run.corpus_file
    ));
    Some(sentences.join(" "))
}

/// The constraints of the run, behind what they bind.
pub(super) fn subject(data: &ReportData) -> String {
    match data.run.constraints.as_slice() {
        [] => String::new(),
        list => format!(" subject to {}", list.join(", ")),
    }
}

/// Which models have a setting of their own.
fn who(data: &ReportData) -> String {
    let single = |choice: &&Choice| choice.model != ALL_MODELS;
    let is_own = |choice: &&Choice| choice.setting.is_some() && choice.setting != data.pooled();
    let models = data.choices.iter().filter(single).count() as u64;
    let own = data.choices.iter().filter(single).filter(is_own).count() as u64;
    match (own, models) {
        (_, 0) => "one setting for all transcripts".into(),
        (0, 1) => "the one model has this setting".into(),
        (0, _) => format!("all {} models have the same setting", count(models)),
        (own, _) => format!(
            "{} of {} models get a setting of their own, the others share one",
            count(own),
            count(models)
        ),
    }
}

/// How many models do not keep a limit on their own transcripts.
fn over(data: &ReportData) -> Option<String> {
    let is_over = |choice: &&Choice| choice.model != ALL_MODELS && !choice.over.is_empty();
    match data.choices.iter().filter(is_over).count() as u64 {
        0 => None,
        1 => Some("1 model is over the limit on its own transcripts; the table names it.".into()),
        n => Some(format!(
            "{} models are over the limit on their own transcripts; the table names them.",
            count(n)
        )),
    }
}

/// Why the setting in use could not be chosen, where it was not.
fn refused(data: &ReportData, pooled: usize) -> Option<String> {
    if data.current() == Some(pooled) || data.run.current_over.is_empty() {
        return None;
    }
    let limits: Vec<String> = data.run.current_over.iter().map(held).collect();
    Some(format!(
        "The setting in use is not allowed: {}.",
        limits.join("; ")
    ))
}

/// `at most 1 false alarm per million clean chars is asked for, with the evidence here it may be 1.2 (95 % upper bound)`.
fn held(over: &Over) -> String {
    let at_most = over.constraint.split_once("<=");
    let asked = match at_most.or_else(|| over.constraint.split_once(">=")) {
        Some(("fa_per_mchar", "1")) => {
            "at most 1 false alarm per million clean chars is asked for".into()
        }
        Some(("fa_per_mchar", limit)) => {
            format!("at most {limit} false alarms per million clean chars are asked for")
        }
        _ => format!("{} is asked for", over.constraint),
    };
    let found = decimal(over.compared);
    match (over.by_bound, at_most) {
        (true, Some(_)) => {
            format!("{asked}, with the evidence here it may be {found} (95 % upper bound)")
        }
        (true, None) => {
            format!("{asked}, with the evidence here it may be {found} (95 % lower bound)")
        }
        (false, _) => format!("{asked}, measured here is {found}"),
    }
}

/// What to do with the choice.
fn advice(doubts: &[String], worth: Option<&Worth>) -> String {
    const FILE: &str = "settings.toml, which lies beside this page";
    match worth {
        Some(worth) => format!(
            "What to do: {}; {FILE}, is for those to whom a false alarm costs less.",
            worth.instead
        ),
        None if !doubts.is_empty() => format!(
            "Try {FILE}, and do not rely on it yet: record more clean text and tune again, or allow more false alarms."
        ),
        None => format!("Ship {FILE}."),
    }
}
