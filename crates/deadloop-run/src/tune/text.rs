//! The answer of `tune` for the terminal: the verdict first, then its evidence.

use anstyle::{AnsiColor, Style};
use deadloop_report::{NamedGuard, short_name};
use deadloop_score::choose::{
    Advice, Choice, Choices, ChooseOptions, Figures, GuardRow, MODEL_LOOPS, Provenance, Ruling,
    Rung, SAVED_AT_1, SavedMean, within,
};
use deadloop_score::measure::{DELAY, ENDED, Metric, SAVED};
use deadloop_score::sentences::response;
use deadloop_score::{Tally, format_value, wrong_rate};
use serde_json::{Value, json};

use super::{TuneOptions, TunePlan, TuneResult, Tuning};
use crate::layout::TextDocument;
use crate::option::{CONSTRAINT, GRID};
use crate::visible::visible_lines;
use crate::words::{count, per, several, typed};

/// The maximum number of rows of models and rungs that a terminal shows.
const ROWS: usize = 12;

/// Formats the verdict and the tables.
pub(super) fn format_result(tuned: &TuneResult, args: &TuneOptions) -> TextDocument {
    let (choices, options) = (&tuned.choices, &tuned.options);
    let advice = &choices.advice;
    let indented =
        |text: TextDocument, line: String| text.prose(format!("  {}", visible_lines(&line)));
    let mut text = add_verdict(TextDocument::default(), advice);
    let more = advice.more.iter().map(|line| fill_paths(line, args));
    text = more.chain(list_changes(advice)).fold(text, indented);
    if options.given && advice.over_limit && advice.verdict != Ruling::Collect {
        text = text.lines(format!(
            "  The exit code is 6: a limit of {CONSTRAINT} is not met."
        ));
    }
    if !advice.to_do.is_empty() {
        text = text.lines("\nWhat to do:");
    }
    let to_do = advice.to_do.iter().map(|line| fill_paths(line, args));
    text = to_do.fold(text, indented);
    text = text.prose(format!("\n{}", format_totals(choices, options)));
    text = add_sides(text, choices, options).prose(format_legend(options));
    if choices.models.len() > 1 {
        text = add_models(text.lines(""), choices, options, args);
    }
    if !advice.limits.is_empty() {
        text = add_limits(text.lines(""), tuned);
    }
    if options.ships_grid && !advice.saved_at_1.is_empty() {
        text = add_means(text.lines(""), &advice.saved_at_1);
    }
    let file = args.out.join("settings.toml");
    text = text.lines(format!("\nsettings: {}", file.display()));
    let leads = std::iter::once("next:    ").chain(std::iter::repeat("or:      "));
    advice
        .next
        .iter()
        .zip(leads)
        .fold(text, |text, (next, lead)| {
            text.lines(format!("{lead} {}", fill_paths(next, args)))
        })
}

/// Formats the plan of a dry run.
pub(super) fn format_plan(args: &TuneOptions, tuning: &Tuning, plan: &TunePlan) -> String {
    let limits: Vec<String> = tuning.limits().iter().map(ToString::to_string).collect();
    let ready: Vec<&str> = plan.ready.iter().map(|ready| ready.name.as_str()).collect();
    format!(
        "would search {} in {} on {}\nready guards: {}\nlimits: {}; best by: {}; in use: {} ({})\nwould write to {}; nothing was written",
        several(plan.searched() as u64, "setting"),
        several(plan.plan.blocks().len() as u64, "structure"),
        args.corpus.display(),
        ready.join(", "),
        limits.join(", "),
        tuning.objective.name,
        plan.plan.id(plan.in_use),
        tuning.in_use_is,
        args.out.display(),
    )
}

/// Returns the advice as JSON, with the paths of this run.
pub(super) fn summary(tuned: &TuneResult, args: &TuneOptions) -> Value {
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
fn fill_paths(next: &str, args: &TuneOptions) -> String {
    next.replace("CORPUS", &typed(&args.corpus))
        .replace("DIR", &typed(&args.out))
}

/// Adds the verdict in its colour, then the sentence.
fn add_verdict(text: TextDocument, advice: &Advice) -> TextDocument {
    let colour = match advice.verdict {
        Ruling::Ship => AnsiColor::Green,
        Ruling::Collect => AnsiColor::Yellow,
        Ruling::Keep => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let name = advice.verdict.name().to_uppercase();
    text.headed(style, name, &visible_lines(&advice.reason))
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
    format!(
        "Judged on {} labelled {}s: {}, {} and {} clean. Limit: {}{is_default}.",
        count(all.loops() + all.transient() + all.clean()),
        response(options.judge.unit),
        several(all.loops(), "loop"),
        several(all.transient(), "transient repetition"),
        count(all.clean()),
        limits.join(", ")
    )
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
    lines.collect::<Vec<String>>().join("\n")
}

/// Adds the table of the setting in use and the settings file.
fn add_sides(text: TextDocument, choices: &Choices, options: &ChooseOptions) -> TextDocument {
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
    add_figures(text, &rows, "", options)
}

/// Adds the held-out figures of each model, in use and with its setting: a sentence if all models have one setting.
fn add_models(
    text: TextDocument,
    choices: &Choices,
    options: &ChooseOptions,
    args: &TuneOptions,
) -> TextDocument {
    let file = typed(args.out.join("choice.csv"));
    let differs = |choice: &&Choice| choice.source != Provenance::All;
    let mut shown: Vec<&Choice> = choices.models.iter().filter(differs).collect();
    if shown.is_empty() {
        let name = &choices.all.name;
        return text.prose(format!(
            "Every model has the same setting: {name}. {file} has the figures of each."
        ));
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
    let mut text = add_figures(text, &rows, "model", options);
    let left = choices.models.len() - shown.len();
    if left > 0 {
        text = text.lines(format!("{} in {file}", several(left as u64, "more model")));
    }
    let few =
        |choice: &Choice| choice.source == Provenance::All && choice.in_use.loops() < MODEL_LOOPS;
    if choices.models.iter().any(few) {
        text = text.prose(format!(
            "A model with fewer than {MODEL_LOOPS} loops has the setting of all models."
        ));
    }
    text
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
    cells.extend([count(run.wrong), rate, count(run.transient)]);
    cells
}

fn column_titles(options: &ChooseOptions) -> Vec<String> {
    let unit = options.judge.unit;
    let mut header: Vec<String> = shown_measures(options)
        .iter()
        .map(|m| m.title_in(unit).into_owned())
        .collect();
    header.extend(["wrong alarms", per(unit), "transient stops"].map(str::to_owned));
    header
}

/// Adds a table with a row for each setting. `first` is the title of the column of names.
fn add_figures(
    text: TextDocument,
    rows: &[(String, Figures)],
    first: &str,
    options: &ChooseOptions,
) -> TextDocument {
    let row = |(name, run): &(String, Figures)| {
        std::iter::once(name.clone())
            .chain(format_cells(run, options))
            .collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let header: Vec<String> = std::iter::once(first.to_owned())
        .chain(column_titles(options))
        .collect();
    let numbers = 1..header.len();
    text.table(&header, rows, numbers)
}

/// Adds the cost of each limit: the rungs, held out.
fn add_limits(text: TextDocument, tuned: &TuneResult) -> TextDocument {
    let (options, choices) = (&tuned.options, &tuned.choices);
    let (advice, limited) = (&choices.advice, options.limited());
    let all: Vec<&Rung> = advice.limit_rows().collect();
    let shown = &all[..all.len().min(ROWS)];
    let settings = assign_letters(tuned, shown);
    let row = |at_most: String, figures: &Figures, name: &str| -> Vec<String> {
        let mut row = vec![at_most];
        row.extend(format_cells(figures, options));
        row.push(name.to_owned());
        row
    };
    let rung_row = |rung: &&Rung| {
        let mark = ["", " !"][usize::from(rung.breaks_its_limit(limited, options.judge.unit))];
        let known = settings.iter().find(|(cell, ..)| *cell == rung.cell);
        let name = known.map_or("settings.toml", |(_, letter, _)| letter);
        row(rung.name(limited) + mark, &rung.held_out, name)
    };
    let guard_row = |guard: &GuardRow| row("-".to_owned(), &guard.figures, &guard.name);
    let rows: Vec<Vec<String>> = std::iter::once(row("-".to_owned(), &advice.file, &advice.is))
        .chain(advice.guard_rows().map(guard_row))
        .chain(shown.iter().map(rung_row))
        .collect();
    let mut titles = vec!["at most".to_owned()];
    titles.extend(column_titles(options));
    titles.push("setting".to_owned());
    let numbers = 0..titles.len() - 1;
    let is_marked = rows.iter().any(|row| row[0].contains('!'));
    let text = text
        .prose(format!(
            "What a limit on {} costs. {}",
            limited.title_in(options.judge.unit),
            advice.explain_limits(limited)
        ))
        .table(&titles, rows, numbers);
    let letters = settings.iter();
    let letters = letters.map(|(_, letter, name)| format!("{letter}  {name}"));
    let mark = is_marked.then(|| "!  held out, above the limit of the row".to_owned());
    let left = (all.len() - shown.len()) as u64;
    let left = (left > 0).then(|| format!("{} on the page", several(left, "more row")));
    letters
        .chain(list_reasons(advice, shown, limited))
        .chain(mark)
        .chain(left)
        .chain(explain_grids(tuned, shown))
        .fold(text, TextDocument::prose)
}

/// Lists the reasons why ready guards and settings of the grids are not in the file.
fn list_reasons(advice: &Advice, shown: &[&Rung], limited: Metric) -> Vec<String> {
    let guards = advice.guard_rows();
    let guards = guards.map(|guard| format!("{}: {}", guard.name, guard.why));
    let rungs = shown.iter().filter(|rung| !rung.why.is_empty());
    let rungs = rungs.map(|rung| format!("at most {}: {}", rung.name(limited), rung.why));
    guards.chain(rungs).collect()
}

/// Says how a setting of the grids can ship. `None` if the command already has a grid.
fn explain_grids(tuned: &TuneResult, shown: &[&Rung]) -> Option<String> {
    let best = shown.iter().find(|rung| rung.ships.is_some());
    let detector = |rung: &&Rung| tuned.plan.plan.setting(rung.cell).members[0].detector.name;
    let detector = best.or(shown.first()).map(detector)?;
    (!tuned.options.ships_grid).then(|| {
        format!("These settings ship only with {GRID}: deadloop detectors {detector} {GRID} > grid.toml writes one to start from.")
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

/// Adds the held-out `saved_at_1` of each grid.
fn add_means(text: TextDocument, grids: &[SavedMean]) -> TextDocument {
    let row = |grid: &SavedMean| {
        let [value, lo, hi] = [grid.value, grid.lo, grid.hi].map(|x| format_value(&SAVED, x));
        let ends = grid.lo.map_or("n/a".into(), |_| format!("{lo} to {hi}"));
        vec![grid.grid.clone(), value, ends]
    };
    let rows = grids.iter().map(row).collect();
    text.prose(SAVED_AT_1)
        .table(&["grid", "saved_at_1", "95 %"], rows, 1..3)
}
