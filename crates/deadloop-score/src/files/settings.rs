//! settings.toml: the advice, as production loads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use deadloop_replay::Plan;
use deadloop_replay::detect::{Setting, Settings};

use super::store::{FileError, write_text};
use crate::choose::choices::{Choice, Choices};
use crate::choose::options::ChooseOptions;
use crate::choose::words::told;
use crate::measure::{DELAY, ENDED, Metric, RECALL, wrong_rate};

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

/// Writes `settings.toml`, and the settings of the price list in `alternatives/`.
pub fn write_settings(
    dir: &Path,
    plan: &Plan,
    choices: &Choices,
    in_use: &InUse,
    options: &ChooseOptions,
) -> Result<(), FileError> {
    let text = settings_toml(plan, choices, in_use, options);
    write_text(&dir.join("settings.toml"), &text)?;
    let alternatives = dir.join("alternatives");
    std::fs::create_dir_all(&alternatives).map_err(|e| FileError::at(&alternatives, e))?;
    let models: BTreeSet<&str> = choices.models.iter().map(|m| m.model.as_str()).collect();
    for price in &choices.advice.prices {
        let n = price.at_most;
        let s = if n == 1 { "" } else { "s" };
        let (unit, title) = (
            options.judge.unit,
            options.objective.title_in(options.judge.unit),
        );
        let wrong = wrong_rate(unit);
        let head = format!(
            "# the best {} with at most {n} wrong alarm{s} on this corpus, chosen by deadloop tune\n\
             # held out: {} {}, ended {}, recall {}, {} {}, delay {}\n",
            title,
            title,
            told(options.objective, price.objective),
            told(&ENDED, price.ended),
            told(&RECALL, price.recall),
            told(wrong, price.rate),
            wrong.title,
            told(&DELAY, price.delay),
        );
        let body = setting_toml(plan, price.cell, &models);
        let kept = kept(in_use.kept.guard(), "guard");
        let text = format!("{head}{}\n{kept}{body}{}", rate(options), in_use.rest);
        write_text(&dir.join(&price.file), &text)?;
    }
    Ok(())
}

/// Writes `settings.toml` with one setting for all models, and a line on where it comes from.
pub fn write_setting(dir: &Path, plan: &Plan, cell: usize, comment: &str) -> Result<(), FileError> {
    let mut text = format!("# {}\n", one_line(comment));
    text += &plan.setting(cell).to_toml("guard");
    write_text(&dir.join("settings.toml"), &text)
}

fn rate(options: &ChooseOptions) -> String {
    format!(
        "deployment_loop_rate = {}",
        toml::Value::from(options.assumed_rate())
    )
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
    let pooled = plan.setting(choices.pooled.cell);
    let own = |choice: &&Choice| choice.cell != choices.pooled.cell;
    let mut models = String::new();
    for choice in choices.models.iter().filter(own) {
        let setting = guard(plan, choice);
        if choices.pooled.ships.is_some() && setting == pooled {
            continue;
        }
        let name = one_line(&choice.model);
        let glob = toml::Value::from(exact_glob(&choice.model));
        let _ = writeln!(models, "\n# {name}: {}", one_line(&choice.reason));
        let _ = writeln!(models, "# held out: {}", figures(choice, options));
        let _ = writeln!(models, "[[model]]\nmatch = {glob}\n");
        models += &setting.to_toml("model.guard");
        models += &kept(in_use.kept.for_model(&choice.model), "model.guard");
    }
    match choices.pooled.ships {
        Some(_) => {
            let _ = writeln!(
                text,
                "{}\n\n# every model that has no table below, also one that was not in the corpus",
                rate(options)
            );
            let kept = kept(in_use.kept.guard(), "guard");
            let own = choices.models.iter().filter(own);
            let own: BTreeSet<&str> = own.map(|m| m.model.as_str()).collect();
            let others = choices.models.iter().map(|m| m.model.as_str());
            let others: BTreeSet<&str> = others.filter(|m| !own.contains(m)).collect();
            let overrides = overrides(plan, choices.pooled.cell, &others);
            text + &pooled.to_toml("guard") + &kept + &models + &overrides + &in_use.rest
        }
        None if models.is_empty() => format!("{text}\n{}", in_use.text),
        None => before_models(&format!("{text}\n"), &in_use.text, &models),
    }
}

/// What leads the settings, as comments: the verdict, why, and what changes.
fn told_first(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let mut text = format!(
        "# deadloop tune: {}\n# {}\n",
        advice.verdict.name(),
        one_line(&advice.reason)
    );
    if !advice.pays.is_empty() {
        let _ = writeln!(text, "# {}", one_line(&advice.pays));
    }
    for warning in &advice.warnings {
        let _ = writeln!(text, "# {}", one_line(warning));
    }
    // Writing into a String cannot fail.
    let _ = writeln!(text, "# held out: {}", figures(&choices.pooled, options));
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

/// The held-out figures of a choice, on one line.
fn figures(choice: &Choice, options: &ChooseOptions) -> String {
    let shown = |metric: Metric| {
        let value = metric.value(&choice.held_out_tally, &options.worth);
        format!("{} {}", metric.name, told(metric, value))
    };
    let mut metrics = vec![options.objective];
    let more: [Metric; 4] = [&ENDED, &RECALL, wrong_rate(options.judge.unit), &DELAY];
    metrics.extend(more.into_iter().filter(|m| *m != options.objective));
    metrics
        .into_iter()
        .map(shown)
        .collect::<Vec<_>>()
        .join(", ")
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
