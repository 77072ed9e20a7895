//! settings.toml: the choice, as production loads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use deadloop_replay::Plan;
use deadloop_replay::detect::Setting;

use super::store::{FileError, write_text};
use crate::choice::{Choice, Choices, ChooseOptions};
use crate::metric::Metric;

/// Writes `settings.toml`: the pooled setting for every model, known or not, then each model that has
/// its own. Comments give the held-out figures.
pub fn write_settings(
    dir: &Path,
    plan: &Plan,
    choices: &Choices,
    options: &ChooseOptions,
) -> Result<(), FileError> {
    write_text(
        &dir.join("settings.toml"),
        &settings_toml(plan, choices, options),
    )
}

/// Writes `settings.toml` with one setting for all models, and a line on where it comes from.
pub fn write_setting(dir: &Path, plan: &Plan, cell: usize, comment: &str) -> Result<(), FileError> {
    let mut text = format!("# {}\n", one_line(comment));
    text += &plan.setting(cell).to_toml("guard");
    write_text(&dir.join("settings.toml"), &text)
}

/// The text of `settings.toml`.
pub fn settings_toml(plan: &Plan, choices: &Choices, options: &ChooseOptions) -> String {
    let constraints: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut text = format!(
        "# chosen by deadloop tune: the best {} with {}\ndeployment_loop_rate = {}\n",
        options.objective.name(),
        constraints.join(", "),
        toml::Value::from(options.worth.pi)
    );
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "\n# every model that has no table below, also one that was not in the corpus: what is best on all\n# models together is all that is known of it\n# {}",
        figures(&choices.pooled, options)
    );
    text += &plan.setting(choices.pooled.cell).to_toml("guard");
    // A model that takes the pooled setting has no table of its own: choice.csv says why. Where that
    // is a settings file with guards for particular models, those are written out.
    let pooled = plan.setting(choices.pooled.cell);
    for choice in &choices.models {
        let own = guard(plan, choice);
        if own == pooled {
            continue;
        }
        let name = one_line(&choice.model);
        let glob = toml::Value::from(escaped(&choice.model));
        let _ = writeln!(text, "\n# {name}: {}", figures(choice, options));
        let _ = writeln!(text, "[[model]]\nmatch = {glob}\n");
        text += &own.to_toml("model.guard");
    }
    text
}

/// A setting of a plan as a settings file. Guards for particular models are written for those of
/// `models`, by their names: that is all that a run over them can tell.
pub(crate) fn setting_toml(plan: &Plan, cell: usize, models: &BTreeSet<&str>) -> String {
    let general = plan.setting(cell);
    let mut text = general.to_toml("guard");
    let block = plan.blocks().get(plan.cell(cell).block);
    let Some(file) = block.filter(|block| block.axes().is_empty()) else {
        return text;
    };
    for model in models {
        let own = file.guard(model);
        if *own != general {
            let glob = toml::Value::from(escaped(model));
            // Writing into a String cannot fail.
            let _ = writeln!(text, "[[model]]\nmatch = {glob}\n");
            text += &own.to_toml("model.guard");
        }
    }
    text
}

/// What watches the model of a choice. Only a cell of a grid has axes, and only a settings file has
/// guards for particular models.
fn guard(plan: &Plan, choice: &Choice) -> Setting {
    let place = plan.cell(choice.cell);
    let file = plan.blocks().get(place.block);
    let file = file.filter(|block| block.axes().is_empty());
    file.map_or_else(
        || plan.setting(choice.cell),
        |block| block.guard(&choice.model).clone(),
    )
}

/// The figures behind a choice, on one line.
fn figures(choice: &Choice, options: &ChooseOptions) -> String {
    let worth = &options.worth;
    let shown = |metric: Metric| {
        let value = metric.value(&choice.held_out_tally, worth);
        let value = value.map_or_else(|| "n/a".into(), |x| format!("{x:.3}"));
        format!("{} {value}", metric.name())
    };
    let mut metrics = vec![options.objective];
    let more = [Metric::Recall, Metric::FaPerMchar, Metric::Delay];
    metrics.extend(more.into_iter().filter(|m| *m != options.objective));
    let held_out: Vec<String> = metrics.into_iter().map(shown).collect();
    let thin = if choice.thin { ", thin" } else { "" };
    let (setting, why) = (&choice.setting, choice.why.name());
    let reason = one_line(&choice.reason);
    format!(
        "{setting} ({why}{thin}: {reason}); held out: {}",
        held_out.join(", ")
    )
}

/// A model's name as a glob that matches nothing else.
fn escaped(model: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\');
    let escape = |c: char| {
        if special(c) {
            format!("[{c}]")
        } else {
            c.to_string()
        }
    };
    model.chars().map(escape).collect()
}

/// A text that cannot end the comment that it stands in.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
