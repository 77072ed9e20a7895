//! What `tune` says on stdout once it has chosen: the verdict first, then what it rests on.

use anstyle::{AnsiColor, Style};
use deadloop_score::measure::{DELAY, RECALL};
use deadloop_score::wrong_rate;
use deadloop_score::{
    Advice, AnyEvidence, Choice, Choices, ChooseOptions, ExcerptsHead, Price, Ruling, RunFigures,
    Tally, Why, told,
};
use serde_json::{Value, json};

use super::Tune;
use super::planned::Planned;
use crate::args::Global;
use crate::commands::sweep::differing;
use crate::exit::Outcome;
use crate::settings;
use crate::show::{self, typed};
use crate::visible::visible_lines;
use deadloop_run::Replayed;

/// Rows of the price list that a terminal shows.
const PRICES: usize = 7;

/// The commands to type next, with CORPUS and DIR for the corpus and the folder of results: of all files only
/// the manifest's request holds a path. A replay has what was selected, and the unit; `power` what was selected.
pub(super) fn lead_on(choices: &mut Choices, args: &Tune) {
    let selected = args.select.typed();
    let replayed = selected.clone() + &args.judge.typed_unit();
    let next: &[&str] = match choices.advice.verdict {
        Ruling::Ship => &[
            "deadloop replay CORPUS --settings DIR/settings.toml --out DIR-check",
            "deadloop watch --settings DIR/settings.toml < stream.jsonl",
        ],
        Ruling::Collect if unlabelled(&choices.pooled.in_use_tally) => &["deadloop label CORPUS"],
        Ruling::Collect => &[
            "deadloop power CORPUS --claim 'recall>=0.9'",
            "deadloop label CORPUS --review",
        ],
        Ruling::Decide => &[
            "deadloop report DIR --open",
            "deadloop explain DIR TRANSCRIPT",
        ],
        Ruling::Keep | Ruling::None => &["deadloop report DIR --open"],
    };
    let line = |line: &&str| match line.split_once(" CORPUS") {
        Some(("deadloop replay", rest)) => format!("deadloop replay CORPUS{replayed}{rest}"),
        Some(("deadloop power", rest)) => format!("deadloop power CORPUS{selected}{rest}"),
        _ => (*line).to_owned(),
    };
    choices.advice.next = next.iter().map(line).collect();
}

/// Whether no label says what a transcript is: there is nothing to review yet.
fn unlabelled(tally: &Tally) -> bool {
    tally.loops() + tally.clean() == 0
}

/// A command with the paths as they were given.
fn whole(next: &str, args: &Tune) -> String {
    let (corpus, out) = (typed(&args.corpus), typed(&args.out));
    next.replace("CORPUS", &corpus).replace("DIR", &out)
}

/// The verdict, the table and the price list; what `--json` says.
pub(super) fn summary(
    done: &Replayed,
    planned: &Planned,
    choices: &Choices,
    head: &ExcerptsHead,
    (args, options): (&Tune, &ChooseOptions),
    global: Global,
) -> Outcome<Value> {
    let advice = &choices.advice;
    let file = args.out.join("settings.toml");
    let summary = json!({
        "verdict": advice.verdict,
        "reason": advice.reason,
        "settings": file.display().to_string(),
        "changes": advice.changes,
        "would_change": advice.would_change,
        "prices": advice.prices,
        "assurance": advice.assurance,
        "in_use": advice.in_use,
        "candidate": advice.candidate,
        "next": advice.next.iter().map(|next| whole(next, args)).collect::<Vec<_>>(),
        "chosen": chosen(choices),
        "unlabelled_loops": head.unlabelled_loops,
    });
    if global.json || global.quiet {
        return Ok(summary);
    }
    show::print_styled(&verdict(advice))?;
    for line in changed(advice) {
        show::print(&visible_lines(&line))?;
    }
    show::print(&format!(
        "\n{}",
        table(done, planned, choices, args, options)
    ))?;
    if !advice.prices.is_empty() {
        show::print(&format!("\n{}", prices(advice, planned, options)))?;
    }
    let in_use = &choices.pooled.in_use_tally;
    if let Some(line) = show::ended(options.in_use_is, in_use, options.judge.transient) {
        show::print(&line)?;
    }
    if let Some(disputed) = disputed(head, args) {
        show::print(&format!("\n{disputed}"))?;
    }
    show::print(&format!("\nsettings: {}", file.display()))?;
    for (i, next) in advice.next.iter().enumerate() {
        let lead = if i == 0 { "next:    " } else { "or:      " };
        show::print(&format!("{lead} {}", whole(next, args)))?;
    }
    Ok(summary)
}

/// How many of the wrong alarms look like the label's mistake, and how to read them.
fn disputed(head: &ExcerptsHead, args: &Tune) -> Option<String> {
    let (corpus, out) = (typed(&args.corpus), typed(&args.out));
    Some(format!(
        "{}: deadloop label {corpus} --disputes {out}",
        head.disputed()?
    ))
}

fn chosen(choices: &Choices) -> Vec<Value> {
    let own = choices.models.iter().filter(|c| c.why == Why::Own);
    let json = |c: &Choice| json!({"model": c.model, "setting": c.setting, "why": c.why.name()});
    std::iter::once(&choices.pooled)
        .chain(own)
        .map(json)
        .collect()
}

/// The verdict in its colour, then the sentence.
fn verdict(advice: &Advice) -> String {
    let colour = match advice.verdict {
        Ruling::Ship => AnsiColor::Green,
        Ruling::Decide | Ruling::Collect => AnsiColor::Yellow,
        Ruling::None => AnsiColor::Red,
        Ruling::Keep => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let name = advice.verdict.name().to_uppercase();
    format!("{style}{name}{style:#}  {}", visible_lines(&advice.reason))
}

/// The parameters that change, or would.
fn changed(advice: &Advice) -> Vec<String> {
    let (lead, changes) = match advice.changes.is_empty() {
        false => ("change", &advice.changes),
        true => ("the best other setting would change", &advice.would_change),
    };
    let line = |c: &deadloop_score::Changed| {
        let of = |x: &Option<String>| x.clone().unwrap_or_else(|| "(none)".into());
        let model = match c.model.as_str() {
            "*" => String::new(),
            model => format!("{model}: "),
        };
        format!(
            "  {lead} {model}{} {}: {} -> {}",
            c.guard,
            c.param,
            of(&c.from),
            of(&c.to)
        )
    };
    changes.iter().map(line).collect()
}

/// What is in use, the candidate held out, models with a setting of their own, and what else has a name.
fn table(
    done: &Replayed,
    planned: &Planned,
    choices: &Choices,
    args: &Tune,
    options: &ChooseOptions,
) -> String {
    let mut rows: Vec<(String, [String; 5])> = Vec::new();
    let advice = &choices.advice;
    rows.push((
        options.in_use_is.to_owned(),
        of_run(&advice.in_use, options),
    ));
    if let Some(candidate) = &advice.candidate {
        let level = advice.assurance.map_or("", |a| a.name());
        rows.push((
            format!("candidate ({level}), held out"),
            of_run(candidate, options),
        ));
    }
    for choice in choices.models.iter().filter(|c| c.why == Why::Own) {
        let name = format!("{} (its own), held out", choice.model);
        rows.push((name, of_tally(&choice.held_out_tally, options)));
    }
    let shown = planned.presets.iter().filter(|(name, cell)| {
        *cell != planned.in_use && (args.presets || settings::SHIPPED.contains(&name.as_str()))
    });
    for (name, cell) in shown {
        if let Ok(evidence) = done.evidence(&planned.plan) {
            let tally = evidence.tally_of(*cell, &evidence.every(), &done.judge);
            rows.push((name.clone(), of_tally(&tally, options)));
        }
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, cells)| std::iter::once(name).chain(cells).collect())
        .collect();
    let unit = options.judge.unit;
    let header = [
        "",
        &options.objective.title_in(unit),
        "recall",
        "wrong alarms",
        show::per(unit),
        &DELAY.title_in(unit),
    ];
    show::table(&header, &rows, 1)
}

fn of_run(run: &RunFigures, options: &ChooseOptions) -> [String; 5] {
    [
        told(options.objective, run.objective),
        told(&RECALL, run.recall),
        show::count(run.wrong),
        told(wrong_rate(options.judge.unit), run.rate),
        told(&DELAY, run.delay),
    ]
}

fn of_tally(tally: &Tally, options: &ChooseOptions) -> [String; 5] {
    let (worth, rate) = (&options.worth, wrong_rate(options.judge.unit));
    [
        told(options.objective, options.objective.value(tally, worth)),
        told(&RECALL, RECALL.value(tally, worth)),
        show::count(tally.wrong()),
        told(rate, rate.value(tally, worth)),
        told(&DELAY, DELAY.value(tally, worth)),
    ]
}

/// The price list: at most seven rows, those about the candidate and what is in use among them.
fn prices(advice: &Advice, planned: &Planned, options: &ChooseOptions) -> String {
    let all = &advice.prices;
    let mut shown: Vec<&Price> = all
        .iter()
        .filter(|p| !p.is.is_empty())
        .take(PRICES)
        .collect();
    let others = all.iter().filter(|p| p.is.is_empty());
    shown.extend(others.take(PRICES - shown.len()));
    shown.sort_by_key(|price| price.at_most);
    let settings: Vec<_> = shown.iter().map(|p| planned.plan.setting(p.cell)).collect();
    let differ = differing(&settings.iter().collect::<Vec<_>>());
    let unit = options.judge.unit;
    let row = |(p, differ): (&&Price, String)| {
        vec![
            p.at_most.to_string(),
            told(options.objective, p.objective),
            told(&RECALL, p.recall),
            told(wrong_rate(unit), p.rate),
            p.is.join(", "),
            differ,
        ]
    };
    let rows: Vec<Vec<String>> = shown.iter().zip(differ).map(row).collect();
    let header = [
        "at most",
        &options.objective.title_in(unit),
        "recall",
        show::per(unit),
        "is",
        "setting",
    ];
    let left = match all.len() - shown.len() {
        0 => String::new(),
        n => format!("\n{} on the page", show::several(n as u64, "more row")),
    };
    format!(
        "What wrong alarms on this corpus buy, held out; each row is alternatives/at-most-N.toml\n{}{left}",
        show::table_of(&header, &rows, 0..4)
    )
}
