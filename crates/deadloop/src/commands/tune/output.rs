//! The results of `tune`: the verdict first, then its evidence.

use anstyle::{AnsiColor, Style};
use deadloop_report::{NamedGuard, short_name};
use deadloop_run::tune::TuneResult;
use deadloop_score::choose::{
    Advice, Choice, Choices, ChooseOptions, Figures, MODEL_LOOPS, Provenance, Ruling, Rung,
    SAVED_AT_1, SavedMean, within,
};
use deadloop_score::measure::{DELAY, ENDED, Metric, SAVED};
use deadloop_score::sentences::response;
use deadloop_score::{Tally, format_value, wrong_rate};
use serde_json::{Value, json};

use super::TuneArgs;
use crate::args::{GlobalArgs, ToCommandLine};
use crate::exit::Outcome;
use crate::show::{self, typed};
use crate::visible::visible_lines;

/// The maximum number of rows of models and rungs that a terminal shows.
const ROWS: usize = 12;

/// Returns the next commands, with CORPUS and DIR for the corpus and the folder of results. Only the request in the
/// manifest may hold a path. `watch` is among them if the settings file can guard a live stream.
pub(super) fn next_commands(choices: &Choices, is_live: bool, args: &TuneArgs) -> Vec<String> {
    let replayed = args.select.to_command_line() + &args.judge.to_command_line();
    match choices.advice.verdict {
        Ruling::Ship => {
            let mut all = vec![format!(
                "deadloop replay CORPUS{replayed} --settings DIR/settings.toml --out DIR-check"
            )];
            if is_live {
                all.push("deadloop watch --settings DIR/settings.toml < stream.jsonl".to_owned());
            }
            all
        }
        Ruling::Collect => vec![
            "deadloop check CORPUS".to_owned(),
            "deadloop label CORPUS --review".to_owned(),
        ],
        Ruling::Keep => vec!["deadloop report DIR --open".to_owned()],
    }
}

/// Prints the verdict and the tables. Returns the summary for `--json`.
pub(super) fn print_all(tuned: &TuneResult, args: &TuneArgs, global: GlobalArgs) -> Outcome<Value> {
    let (choices, options) = (&tuned.choices, &tuned.options);
    let advice = &choices.advice;
    let summary = json_summary(tuned, args);
    if global.json || global.quiet {
        return Ok(summary);
    }
    show::print_styled(&format_verdict(advice))?;
    let more = advice.more.iter().map(|line| fill_paths(line, args));
    for line in more.chain(list_changes(advice)) {
        show::print(&show::fold(&format!("  {}", visible_lines(&line))))?;
    }
    if options.given && advice.over_limit && advice.verdict != Ruling::Collect {
        show::print("  The exit code is 6: a limit of --constraint is not met.")?;
    }
    if !advice.to_do.is_empty() {
        show::print("\nWhat to do:")?;
    }
    for line in &advice.to_do {
        let line = fill_paths(line, args);
        show::print(&show::fold(&format!("  {}", visible_lines(&line))))?;
    }
    show::print(&format!("\n{}", format_totals(choices, options)))?;
    show::print(&format_sides(choices, options))?;
    show::print(&format_legend(options))?;
    if choices.models.len() > 1 {
        show::print(&format!("\n{}", format_models(choices, options, args)))?;
    }
    if !advice.limits.is_empty() {
        show::print(&format!("\n{}", format_limits(tuned)))?;
    }
    if options.ships_grid && !advice.saved_at_1.is_empty() {
        show::print(&format!("\n{}", format_means(&advice.saved_at_1)))?;
    }
    show::print(&format!(
        "\nsettings: {}",
        args.out.join("settings.toml").display()
    ))?;
    for (i, next) in advice.next.iter().enumerate() {
        let lead = if i == 0 { "next:    " } else { "or:      " };
        show::print(&format!("{lead} {}", fill_paths(next, args)))?;
    }
    Ok(summary)
}

fn json_summary(tuned: &TuneResult, args: &TuneArgs) -> Value {
    let advice = &tuned.choices.advice;
    let mut value = json!(advice);
    if let Value::Object(map) = &mut value {
        let next = advice.next.iter().map(|next| fill_paths(next, args));
        map.insert("next".to_owned(), next.collect::<Vec<_>>().into());
        map.insert(
            "settings".to_owned(),
            args.out.join("settings.toml").display().to_string().into(),
        );
        map.insert("chosen".to_owned(), chosen_rows(&tuned.choices).into());
        map.insert(
            "unlabelled_loops".to_owned(),
            tuned.head.unlabelled_loops.into(),
        );
    }
    value
}

fn chosen_rows(choices: &Choices) -> Vec<Value> {
    let own = choices
        .models
        .iter()
        .filter(|choice| choice.cell != choices.all.cell);
    let json = |c: &Choice| json!({"model": c.model, "setting": c.setting, "from": c.source.name(), "why": c.reason});
    std::iter::once(&choices.all).chain(own).map(json).collect()
}

/// Fills the paths into a command, as the user gave them.
fn fill_paths(next: &str, args: &TuneArgs) -> String {
    next.replace("CORPUS", &typed(&args.corpus))
        .replace("DIR", &typed(&args.out))
}

/// Formats the verdict in its colour, then the sentence.
fn format_verdict(advice: &Advice) -> String {
    let colour = match advice.verdict {
        Ruling::Ship => AnsiColor::Green,
        Ruling::Collect => AnsiColor::Yellow,
        Ruling::Keep => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let name = advice.verdict.name().to_uppercase();
    let line = show::fold(&format!("{name}  {}", visible_lines(&advice.reason)));
    // Folding counts columns, so the colour is added afterwards.
    line.replacen(&name, &format!("{style}{name}{style:#}"), 1)
}

/// Lists the parameters that change. A long list is one line.
fn list_changes(advice: &Advice) -> Vec<String> {
    let all = || advice.changes.iter().map(ToString::to_string).collect();
    advice.many_changes().map_or_else(all, |many| vec![many])
}

/// Counts the transcripts that were judged, and names the limits.
fn format_totals(choices: &Choices, options: &ChooseOptions) -> String {
    let all = &choices.all.in_use;
    let limits: Vec<String> = options
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    let is_default = if options.given { "" } else { " (the default)" };
    show::fold(&format!(
        "Judged on {} labelled {}s: {}, {} and {} clean. Limit: {}{is_default}.",
        show::count(all.loops() + all.transient() + all.clean()),
        response(options.judge.unit),
        show::several(all.loops(), "loop"),
        show::several(all.transient(), "transient repetition"),
        show::count(all.clean()),
        limits.join(", ")
    ))
}

/// Explains the columns of figures.
fn format_legend(options: &ChooseOptions) -> String {
    let measures = shown_measures(options).into_iter();
    let rate = wrong_rate(options.judge.unit);
    let lines = measures.chain([rate]).map(|measure| {
        let title = measure.title_in(options.judge.unit);
        let decides = ["", ", which decides"][usize::from(measure == options.objective)];
        format!("{title}{decides}: {}", measure.meaning)
    });
    show::fold(&lines.collect::<Vec<String>>().join("\n"))
}

/// Formats the setting in use and the settings file, side by side.
fn format_sides(choices: &Choices, options: &ChooseOptions) -> String {
    let advice = &choices.advice;
    let in_use = format!("in use: {}", options.in_use_is);
    let mut rows = vec![(in_use, advice.in_use.clone())];
    if advice.verdict == Ruling::Ship {
        let (file, held_out) = (
            advice.name_file(),
            ["", ", held out"][usize::from(advice.by_folds)],
        );
        rows.push((format!("{file}{held_out}"), advice.file.clone()));
        let in_sample = || (format!("{file}, in-sample"), advice.in_sample.clone());
        rows.extend(advice.by_folds.then(in_sample));
    }
    format_figures(&rows, "", options)
}

/// Formats the held-out figures of each model, in use and with its setting. Without a model of its own it is a sentence.
fn format_models(choices: &Choices, options: &ChooseOptions, args: &TuneArgs) -> String {
    let file = typed(args.out.join("choice.csv"));
    let differs = |choice: &&Choice| choice.source != Provenance::All;
    let mut shown: Vec<&Choice> = choices.models.iter().filter(differs).collect();
    if shown.is_empty() {
        let name = &choices.all.name;
        let same =
            format!("Every model has the same setting: {name}. {file} has the figures of each.");
        return show::fold(&same);
    }
    let mut rest: Vec<&Choice> = choices.models.iter().filter(|one| !differs(one)).collect();
    rest.sort_by_key(|choice| std::cmp::Reverse(choice.in_use.loops()));
    shown.extend(rest.into_iter().take(ROWS.saturating_sub(shown.len())));
    shown.sort_by(|a, b| a.model.cmp(&b.model));
    let of = |tally: &Tally| Figures::new(tally, options);
    let rows = shown.iter().flat_map(|choice| {
        let now = (format!("{}: in use", choice.model), of(&choice.in_use));
        let gets = (
            format!("{}: {}", choice.model, choice.name),
            of(&choice.held_out),
        );
        if choice.cell == choices.in_use {
            vec![now]
        } else {
            vec![now, gets]
        }
    });
    let rows: Vec<(String, Figures)> = rows.collect();
    let mut left = match choices.models.len() - shown.len() {
        0 => String::new(),
        n => format!("\n{} in {file}", show::several(n as u64, "more model")),
    };
    let few =
        |choice: &Choice| choice.source == Provenance::All && choice.in_use.loops() < MODEL_LOOPS;
    if choices.models.iter().any(few) {
        left += "\n";
        left += &show::fold(&format!(
            "A model with fewer than {MODEL_LOOPS} loops has the setting of all models."
        ));
    }
    format!("{}{left}", format_figures(&rows, "model", options))
}

/// Returns the measures of a row, without repeats.
fn shown_measures(options: &ChooseOptions) -> Vec<Metric> {
    let mut columns: Vec<Metric> = Vec::new();
    let all: [Metric; 5] = [
        &ENDED,
        within(options.judge.unit),
        options.objective,
        &SAVED,
        &DELAY,
    ];
    for metric in all {
        if !columns.contains(&metric) && !metric.is_wrong_rate() {
            columns.push(metric);
        }
    }
    columns
}

/// Formats the cells of a row: measures, then wrong alarms and transient stops.
fn format_cells(run: &Figures, options: &ChooseOptions) -> Vec<String> {
    let figure = |metric: &Metric| match () {
        () if *metric == options.objective => format_value(metric, run.objective),
        () if *metric == &ENDED => format_value(metric, run.ended),
        () if *metric == within(options.judge.unit) => format_value(metric, run.within),
        () if *metric == &SAVED => format_value(metric, run.saved),
        () => format_value(metric, run.delay),
    };
    let mut cells: Vec<String> = shown_measures(options).iter().map(figure).collect();
    let rate = format_value(wrong_rate(options.judge.unit), run.rate);
    cells.extend([show::count(run.wrong), rate, show::count(run.transient)]);
    cells
}

fn column_titles(options: &ChooseOptions) -> Vec<String> {
    let unit = options.judge.unit;
    let mut header: Vec<String> = shown_measures(options)
        .iter()
        .map(|m| m.title_in(unit).into_owned())
        .collect();
    header.extend(["wrong alarms", show::per(unit), "transient stops"].map(str::to_owned));
    header
}

/// Formats a table with a row for each setting.
fn format_figures(rows: &[(String, Figures)], first: &str, options: &ChooseOptions) -> String {
    let row = |(name, run): &(String, Figures)| {
        std::iter::once(name.clone())
            .chain(format_cells(run, options))
            .collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let header: Vec<String> = std::iter::once(first.to_owned())
        .chain(column_titles(options))
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    show::table(&header, &rows, 1)
}

/// Formats the cost of each limit: the rungs, held out.
fn format_limits(tuned: &TuneResult) -> String {
    let (options, choices) = (&tuned.options, &tuned.choices);
    let (advice, limited) = (&choices.advice, options.limited());
    let all: Vec<&Rung> = advice.limit_rows().collect();
    let shown = &all[..all.len().min(ROWS)];
    let settings = assign_letters(tuned, shown);
    let row = |rung: &&Rung| {
        let is_above = rung.breaks_its_limit(limited, options.judge.unit);
        let mark = if is_above { " !" } else { "" };
        let mut row = vec![rung.name(limited) + mark];
        row.extend(format_cells(&rung.held_out, options));
        let known = settings.iter().find(|(cell, ..)| *cell == rung.cell);
        row.push(
            known
                .map_or("settings.toml", |(_, letter, _)| letter)
                .to_owned(),
        );
        row
    };
    let fixed = |figures: &Figures, name: &str| -> Vec<String> {
        let mut row = vec!["-".to_owned()];
        row.extend(format_cells(figures, options));
        row.push(name.to_owned());
        row
    };
    let guards = advice.guard_rows();
    let rows: Vec<Vec<String>> = std::iter::once(fixed(&advice.file, &advice.is))
        .chain(guards.map(|guard| fixed(&guard.figures, &guard.name)))
        .chain(shown.iter().map(row))
        .collect();
    let mut titles = vec!["at most".to_owned()];
    titles.extend(column_titles(options));
    titles.push("setting".to_owned());
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let numbers = 0..titles.len() - 1;
    let lines = settings.iter();
    let lines = lines.map(|(_, letter, name)| format!("{letter}  {name}"));
    let mut below: Vec<String> = lines.collect();
    let guards = advice
        .guard_rows()
        .map(|guard| (guard.name.clone(), &guard.why));
    let rungs = shown.iter().filter(|rung| !rung.why.is_empty());
    let rungs = rungs.map(|rung| (format!("at most {}", rung.name(limited)), &rung.why));
    below.extend(
        guards
            .chain(rungs)
            .map(|(row, why)| format!("{row}: {why}")),
    );
    if rows.iter().any(|row| row[0].contains('!')) {
        below.push("!  held out, above the limit of the row".to_owned());
    }
    if all.len() > shown.len() {
        let more = show::several((all.len() - shown.len()) as u64, "more row");
        below.push(format!("{more} on the page"));
    }
    below.extend(explain_grids(tuned, shown));
    let below: Vec<String> = below.iter().map(|line| show::fold(line)).collect();
    format!(
        "{}\n{}\n{}",
        show::fold(&format!(
            "What a limit on {} costs. {}",
            limited.title_in(options.judge.unit),
            advice.explain_limits(limited)
        )),
        show::table_with(&titles, &rows, numbers),
        below.join("\n")
    )
}

/// Says how a setting of the grids can ship. `None` if the command already has a grid.
fn explain_grids(tuned: &TuneResult, shown: &[&Rung]) -> Option<String> {
    let best = shown.iter().find(|rung| rung.ships.is_some());
    let detector = |rung: &&Rung| tuned.plan.plan.setting(rung.cell).members[0].detector.name;
    let detector = best.or(shown.first()).map(detector)?;
    (!tuned.options.ships_grid).then(|| {
        format!("These settings ship only with --grid: deadloop detectors {detector} --grid > grid.toml writes one to start from.")
    })
}

/// Returns each setting of the rows but that of the file once: its cell, a letter for it, and its name, which is long.
fn assign_letters(tuned: &TuneResult, shown: &[&Rung]) -> Vec<(usize, String, String)> {
    let plan = &tuned.plan;
    let guard = |name: &str, cell| NamedGuard {
        name: name.to_owned(),
        guard: plan.plan.setting(cell),
    };
    let ready = plan.ready.iter().zip(&plan.short);
    let ready = ready.map(|(ready, short)| guard(short, ready.cell));
    let in_use = std::iter::once(guard("", plan.in_use));
    let named: Vec<NamedGuard> = in_use.chain(ready).collect();
    let mut cells: Vec<usize> = Vec::new();
    for rung in shown {
        if plan.plan.id(rung.cell) != tuned.choices.all.setting && !cells.contains(&rung.cell) {
            cells.push(rung.cell);
        }
    }
    let name = |cell| short_name(&plan.plan.setting(cell), &named);
    let lettered = cells.into_iter().zip('A'..='Z');
    let lettered = lettered.map(|(cell, letter)| (cell, letter.to_string(), name(cell)));
    lettered.collect()
}

/// Formats the held-out `saved_at_1` of each grid.
fn format_means(grids: &[SavedMean]) -> String {
    let row = |grid: &SavedMean| {
        let [value, lo, hi] = [grid.value, grid.lo, grid.hi].map(|x| format_value(&SAVED, x));
        let ends = grid.lo.map_or("n/a".into(), |_| format!("{lo} to {hi}"));
        vec![grid.grid.clone(), value, ends]
    };
    let rows: Vec<Vec<String>> = grids.iter().map(row).collect();
    format!(
        "{}\n{}",
        show::fold(SAVED_AT_1),
        show::table(&["grid", "saved_at_1", "95 %"], &rows, 1)
    )
}
