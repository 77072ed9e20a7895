//! What is said of the choice: on what grounds it was made, who has another, what it breaks, what to do with it.

use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::numbers::{count, decimal, percent};

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
    sentences.extend(over(data));
    sentences.extend(worth(data, pooled));
    sentences.push("Ship settings.toml, which lies beside this page.".into());
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
            "{} of {} models have labels enough for a setting of their own, the others share one",
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

/// That the choice is worth less than no detector, or than the setting in use, at the price that the run was given.
fn worth(data: &ReportData, pooled: usize) -> Option<String> {
    let (pi, lambda) = data.run.worth?;
    let utility = |at: usize| data.score(at, ALL_MODELS)?.utility;
    let chosen = utility(pooled)?;
    let current = data.current().filter(|at| *at != pooled).and_then(utility);
    let than = match current.filter(|current| *current > chosen) {
        None if chosen >= 0.0 => return None,
        None => "no detector is better, with 0".to_owned(),
        Some(current) if current < 0.0 => format!(
            "the setting in use is better, with {}, and no detector better still, with 0",
            decimal(Some(current))
        ),
        Some(current) => format!(
            "the setting in use is better, with {}",
            decimal(Some(current))
        ),
    };
    Some(format!(
        "At a lambda of {lambda}, and a share of {} of production that loops, its utility in-sample is {}: {than}.",
        percent(Some(pi)),
        decimal(Some(chosen))
    ))
}
