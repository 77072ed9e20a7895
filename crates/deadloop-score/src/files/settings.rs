//! settings.toml: the advice, as production loads it.

use deadloop_replay::Plan;
use deadloop_replay::detect::{Setting, Settings};
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::choose::{Choice, Choices, ChooseOptions, told, within};
use crate::measure::{DELAY, ENDED, Metric, wrong_rate};
use crate::tally::{Count, Tally};
use crate::words::wrong_and_transient;

/// The settings file in use: its text, and what of it is no guard.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    /// The text, as it was given.
    pub text: String,
    /// The tables of it that are no guards (`[think]`, …) as TOML, to stand behind whatever guards are shipped.
    pub rest: String,
    /// The guards of it that were not chosen among, which stay as they are: what warns or observes, and what
    /// counts in another unit.
    pub kept: Settings,
}

/// What is kept of a guard, as TOML, to stand behind those that are shipped.
fn kept(guard: &Setting, table: &str) -> String {
    if guard.members.is_empty() {
        String::new()
    } else {
        guard.to_toml(table)
    }
}

/// The line with the share of responses that loop. Empty if nobody gave it.
fn rate(options: &ChooseOptions) -> String {
    options.worth.loop_rate.map_or_else(String::new, |rate| {
        format!("deployment_loop_rate = {}\n", toml::Value::from(rate))
    })
}

/// The text of `settings.toml`. What ships stands first, what is in use behind it as it was given: of the tables of
/// models the first that matches wins.
pub fn settings_toml(
    plan: &Plan,
    choices: &Choices,
    in_use: &InUse,
    options: &ChooseOptions,
) -> String {
    let mut text = told_first(choices, options);
    let all = plan.setting(choices.all.cell);
    let own = |choice: &&Choice| choice.cell != choices.all.cell;
    let mut models = String::new();
    for choice in choices.models.iter().filter(own) {
        let setting = plan.guard(choice.cell, &choice.model);
        if choices.all.ships.is_some() && setting == all {
            continue;
        }
        let name = one_line(&choice.model);
        let glob = toml::Value::from(exact_glob(&choice.model));
        let _ = writeln!(models, "\n# {name}: {}", one_line(&choice.reason));
        let _ = writeln!(models, "# {}", figures(choice, options));
        let _ = writeln!(models, "[[model]]\nmatch = {glob}\n");
        models += &setting.to_toml("model.guard");
        models += &kept(in_use.kept.for_model(&choice.model), "model.guard");
    }
    match choices.all.ships {
        Some(_) => {
            let _ = writeln!(
                text,
                "{}\n# every model that has no table below, also one that was not in the corpus",
                rate(options)
            );
            let kept = kept(in_use.kept.guard(), "guard");
            let own = choices.models.iter().filter(own);
            let own: BTreeSet<&str> = own.map(|m| m.model.as_str()).collect();
            let others = choices.models.iter().map(|m| m.model.as_str());
            let others: BTreeSet<&str> = others.filter(|m| !own.contains(m)).collect();
            let overrides = overrides(plan, choices.all.cell, &others);
            text + &all.to_toml("guard") + &kept + &models + &overrides + &in_use.rest
        }
        None if models.is_empty() => format!("{text}\n{}", in_use.text),
        None => before_models(&format!("{text}\n"), &in_use.text, &models),
    }
}

/// Writes what leads the settings, as comments: the verdict, its reason, the figures of the file, what changes.
fn told_first(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let mut text = format!("# deadloop tune: {}\n", advice.verdict.name());
    // Writing into a String cannot fail.
    for sentence in [&advice.reason]
        .into_iter()
        .chain(&advice.more)
        .chain(&advice.to_do)
    {
        let _ = writeln!(text, "# {}", one_line(sentence));
    }
    let _ = writeln!(text, "# this file: {}", figures(&choices.all, options));
    for c in &advice.changes {
        let (from, to) = (shown(c.from.as_ref()), shown(c.to.as_ref()));
        let line = one_line(&format!(
            "{}: {} {}: {from} -> {to}",
            c.model, c.guard, c.param
        ));
        let _ = writeln!(text, "# change: {line}");
    }
    text
}

/// `models` in front of the first table of a model in the text in use, or at its end: a comment that leads that table
/// stays with it.
fn before_models(head: &str, in_use: &str, models: &str) -> String {
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

fn shown(value: Option<&String>) -> &str {
    value.map_or("(none)", String::as_str)
}

/// A setting of a plan as a settings file. Guards for particular models are written for those of
/// `models`, by their names: that is all that a run over them can tell.
pub(crate) fn setting_toml(plan: &Plan, cell: usize, models: &BTreeSet<&str>) -> String {
    plan.setting(cell).to_toml("guard") + &overrides(plan, cell, models)
}

/// The guards that a setting from a file has for particular models, those of `models`, as TOML; empty for a cell of a grid.
fn overrides(plan: &Plan, cell: usize, models: &BTreeSet<&str>) -> String {
    let general = plan.setting(cell);
    let mut text = String::new();
    let block = plan.blocks().get(plan.cell(cell).block);
    let Some(file) = block.filter(|block| block.axes().is_empty()) else {
        return text;
    };
    // Of tasks a run over these models tells too little: they are written as the file has them.
    let by_task = file.overrides().any(|(glob, _)| glob.task().is_some());
    for (glob, own) in file.overrides().filter(|_| by_task) {
        let of = |key: &str, glob: Option<&str>| {
            glob.map_or_else(String::new, |glob| {
                format!("{key} = {}\n", toml::Value::from(glob))
            })
        };
        let globs = of("match", glob.model()) + &of("task", glob.task());
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

/// Writes the figures of a choice on one line: held out, then, where they differ, as a replay has them.
fn figures(choice: &Choice, options: &ChooseOptions) -> String {
    let of = |tally: &Tally| {
        let shown = |metric: Metric| {
            let value = metric.value(tally, &options.worth);
            format!("{} {}", metric.name, told(metric, value))
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

/// A name, of a model or a tool, as a glob that matches nothing else.
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

/// A text that cannot end the comment that it stands in.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::detect::Work;

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
                let work = Work { model, task };
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
