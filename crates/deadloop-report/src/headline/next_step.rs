//! The sentences about a run without a choice.

use crate::data::ReportData;

/// Returns the command that makes a choice, for a run without one.
pub(super) fn next(data: &ReportData) -> Option<String> {
    if !data.has_loops() || data.advice.is_some() {
        return None;
    }
    let mut sentences = Vec::new();
    if data.is_search() && data.best().is_none() {
        let (objective, subject) = (data.run.objective.0.name, subject(data));
        sentences.push(format!(
            "No setting can be called the best {objective}{subject}."
        ));
    }
    if data.is_search() && data.leading().is_empty() {
        sentences.push("There is no setting in use, and no preset, to compare with.".to_owned());
    }
    sentences.push(format!(
        "Nothing was chosen here; deadloop tune {} chooses, and says how the choice does on transcripts that it was not made on.",
        data.run.corpus_file
    ));
    Some(sentences.join(" "))
}

/// Formats the limits of the run as the end of a phrase.
pub(super) fn subject(data: &ReportData) -> String {
    let limits = data.run.constraints.iter().map(ToString::to_string);
    let limits: Vec<String> = limits.collect();
    if limits.is_empty() {
        String::new()
    } else {
        format!(" subject to {}", limits.join(", "))
    }
}
