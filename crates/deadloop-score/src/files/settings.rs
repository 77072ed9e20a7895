//! settings.toml: the advised settings file, in the form that production loads.

use deadloop_replay::Plan;
use deadloop_replay::detect::{Setting, Settings};
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::choose::{Choice, Choices, ChooseOptions, format_value, within};
use crate::measure::{DELAY, ENDED, Metric, wrong_rate};
use crate::sentences::wrong_and_transient;
use crate::tally::{Count, Tally};

/// The settings file in use, with the parts that a choice does not change.
#[derive(Clone, Debug, Default)]
pub struct SettingsInUse {
    /// The text of the file as given.
    pub text: String,
    /// The tables that are not guards (`[think]`, …) as TOML. They are written after the guards.
    pub rest: String,
    /// The guards that a choice does not change, since they warn or observe, or count in another unit.
    pub kept: Settings,
}

/// Formats the unchanged guards of a setting as TOML. Empty if there are none.
fn format_unchanged(guard: &Setting, table: &str) -> String {
    if guard.members.is_empty() {
        String::new()
    } else {
        guard.to_toml(table)
    }
}

/// Formats the line with the share of responses that loop. Empty if the share is unknown.
fn format_loop_rate(options: &ChooseOptions) -> String {
    options.worth.loop_rate.map_or_else(String::new, |rate| {
        format!("deployment_loop_rate = {}\n", toml::Value::from(rate))
    })
}

/// Formats `settings.toml`: the chosen guards, then the other parts of the settings in use. Among tables of models the
/// first match wins.
pub fn settings_toml(
    plan: &Plan,
    choices: &Choices,
    in_use: &SettingsInUse,
    options: &ChooseOptions,
) -> String {
    let mut text = format_head(choices, options);
    let all = plan.setting(choices.all.cell);
    let own = |choice: &&Choice| choice.cell != choices.all.cell;
    let mut models = String::new();
    for choice in choices.models.iter().filter(own) {
        let setting = plan.guard(choice.cell, &choice.model);
        if choices.all.ships.is_some() && setting == all {
            continue;
        }
        let name = to_one_line(&choice.model);
        let glob = toml::Value::from(exact_glob(&choice.model));
        let _ = writeln!(models, "\n# {name}: {}", to_one_line(&choice.reason));
        let _ = writeln!(models, "# {}", figures_text(choice, options));
        let _ = writeln!(models, "[[model]]\nmatch = {glob}\n");
        models += &setting.to_toml("model.guard");
        models += &format_unchanged(in_use.kept.for_model(&choice.model), "model.guard");
    }
    match choices.all.ships {
        Some(_) => {
            let _ = writeln!(
                text,
                "{}\n# every model that has no table below, also one that was not in the corpus",
                format_loop_rate(options)
            );
            let kept = format_unchanged(in_use.kept.guard(), "guard");
            let own = choices.models.iter().filter(own);
            let own: BTreeSet<&str> = own.map(|m| m.model.as_str()).collect();
            let others = choices.models.iter().map(|m| m.model.as_str());
            let others: BTreeSet<&str> = others.filter(|m| !own.contains(m)).collect();
            let overrides = format_overrides(plan, choices.all.cell, &others);
            text + &all.to_toml("guard") + &kept + &models + &overrides + &in_use.rest
        }
        None if models.is_empty() => format!("{text}\n{}", in_use.text),
        None => insert_models(&format!("{text}\n"), &in_use.text, &models),
    }
}

/// Formats the comments at the top of the file: the verdict, its reason, the figures of the file, and the changes.
fn format_head(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let mut text = format!("# deadloop tune: {}\n", advice.verdict.name());
    // Writing into a String cannot fail.
    for sentence in [&advice.reason]
        .into_iter()
        .chain(&advice.more)
        .chain(&advice.to_do)
    {
        let _ = writeln!(text, "# {}", to_one_line(sentence));
    }
    let _ = writeln!(text, "# this file: {}", figures_text(&choices.all, options));
    for c in &advice.changes {
        let _ = writeln!(text, "# {}", to_one_line(&c.to_string()));
    }
    text
}

/// Inserts `models` before the first model's table in the settings in use, or at the end. A comment right above the
/// table stays with it.
fn insert_models(head: &str, in_use: &str, models: &str) -> String {
    let lines: Vec<&str> = in_use.lines().collect();
    let mut at = lines
        .iter()
        .position(|line| line.trim_start().starts_with("[[model]]"))
        .unwrap_or(lines.len());
    while at > 0 && at < lines.len() && lines[at - 1].trim_start().starts_with('#') {
        at -= 1;
    }
    let (before, after) = lines.split_at(at);
    let mut text = format!("{head}{}\n{models}", before.join("\n"));
    if !after.is_empty() {
        text += "\n";
        text += &after.join("\n");
        text += "\n";
    }
    text
}

/// Formats a setting of a plan as a settings file. Guards for particular models are written under the exact names in
/// `models`.
pub(crate) fn setting_toml(plan: &Plan, cell: usize, models: &BTreeSet<&str>) -> String {
    plan.setting(cell).to_toml("guard") + &format_overrides(plan, cell, models)
}

/// Formats the guards that a setting from a file has for particular `models`, as TOML. Empty for a cell of a grid.
fn format_overrides(plan: &Plan, cell: usize, models: &BTreeSet<&str>) -> String {
    let general = plan.setting(cell);
    let mut text = String::new();
    let block = plan.blocks().get(plan.cell(cell).block);
    let Some(file) = block.filter(|block| block.axes().is_empty()) else {
        return text;
    };
    // The models of a run do not cover tasks, so guards with tasks are written as the file has them.
    let by_task = file.overrides().any(|(glob, _)| glob.task().is_some());
    for (glob, own) in file.overrides().filter(|_| by_task) {
        let line = |key: &str, glob: Option<&str>| {
            glob.map_or_else(String::new, |glob| {
                format!("{key} = {}\n", toml::Value::from(glob))
            })
        };
        let globs = line("match", glob.model()) + &line("task", glob.task());
        let _ = writeln!(text, "[[model]]\n{globs}");
        text += &own.to_toml("model.guard");
    }
    for model in models.iter().filter(|_| !by_task) {
        let own = file.guard(*model);
        if *own != general {
            let glob = toml::Value::from(exact_glob(model));
            // Writing into a String cannot fail.
            let _ = writeln!(text, "[[model]]\nmatch = {glob}\n");
            text += &own.to_toml("model.guard");
        }
    }
    text
}

/// Formats the figures of a choice on one line: held out, then in-sample if they differ.
fn figures_text(choice: &Choice, options: &ChooseOptions) -> String {
    let of = |tally: &Tally| {
        let shown = |metric: Metric| {
            let value = metric.value(tally, &options.worth);
            format!("{} {}", metric.name, format_value(metric, value))
        };
        let mut metrics = vec![options.objective];
        let more: [Metric; 4] = [
            &ENDED,
            within(options.judge.unit),
            wrong_rate(options.judge.unit),
            &DELAY,
        ];
        metrics.extend(more.into_iter().filter(|m| *m != options.objective));
        let metrics: Vec<String> = metrics.into_iter().map(shown).collect();
        let alarms = wrong_and_transient(tally.wrong(), tally.get(Count::TransientStop));
        format!("{}, {alarms}", metrics.join(", "))
    };
    if choice.held_out == choice.in_sample {
        of(&choice.in_sample)
    } else {
        format!(
            "held out: {}; in-sample: {}",
            of(&choice.held_out),
            of(&choice.in_sample)
        )
    }
}

/// Returns a glob that matches only this name of a model or tool.
pub fn exact_glob(name: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\');
    let escape = |c: char| {
        if special(c) {
            format!("[{c}]")
        } else {
            c.to_string()
        }
    };
    name.chars().map(escape).collect()
}

/// Replaces control characters by spaces, so that a text cannot end its comment.
fn to_one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::detect::ModelTask;

    /// A settings file with guards of tasks that ships as one setting keeps them all, in their order.
    #[test]
    fn guards_of_tasks_are_written_as_the_file_has_them() {
        let table = |keys: &str, copies: usize| {
            format!(
                "[[model]]\n{keys}\n[[model.guard]]\ndetector = \"periodic\"\n[model.guard.params]\nmin_copies = {copies}\n"
            )
        };
        let text = [
            "[[guard]]\ndetector = \"periodic\"\n".to_owned(),
            table("match = \"a*\"\ntask = \"code\"", 5),
            table("task = \"c*\"", 6),
            table("match = \"[ab]\"", 7),
        ];
        let settings = Settings::parse(&text.concat()).unwrap();
        let mut plan = Plan::default();
        let cell = plan.add_settings(&settings);
        let written = setting_toml(&plan, cell, &BTreeSet::from(["a"]));
        let written = Settings::parse(&written).unwrap();
        for model in ["a", "b", "c", "ab"] {
            for task in ["", "code", "chat", "x"] {
                let work = ModelTask { model, task };
                assert_eq!(
                    written.for_model(work),
                    settings.for_model(work),
                    "{work:?}"
                );
            }
        }
        assert_eq!(written.id(), settings.id());
    }
}
