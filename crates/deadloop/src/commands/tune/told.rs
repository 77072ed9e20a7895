//! What `tune` says on stdout once it has chosen: the verdict first, then what it rests on.

use std::path::Path;

use anstyle::{AnsiColor, Style};
use deadloop_report::beside;
use deadloop_score::measure::{DELAY, ENDED, Measure, Metric, RECALL, SAVED};
use deadloop_score::wrong_rate;
use deadloop_score::{
    Advice, AnyEvidence, Choice, Choices, ChooseOptions, ExcerptsHead, Lack, Price, Ruling,
    RunFigures, Tally, Why, told,
};
use serde_json::{Value, json};

use super::Tune;
use super::planned::Planned;
use crate::args::Global;
use crate::exit::Outcome;
use crate::settings;
use crate::show::{self, typed};
use crate::visible::visible_lines;
use deadloop_run::Learnt;
use deadloop_run::Replayed;

/// The heading of the price list.
const BUY: &str =
    "What wrong alarms on this corpus buy, held out; each row is alternatives/at-most-N.toml";

/// Rows of the price list that a terminal shows.
const PRICES: usize = 7;

/// The commands to type next, with CORPUS and DIR for the corpus and the folder of results: of all files only
/// the manifest's request holds a path. A replay has what was selected, and the unit.
pub(super) fn lead_on(choices: &mut Choices, args: &Tune) {
    let replayed = args.select.typed() + &args.judge.typed_unit();
    let next: &[&str] = match choices.advice.verdict {
        Ruling::Ship => &[
            "deadloop replay CORPUS --settings DIR/settings.toml --out DIR-check",
            "deadloop watch --settings DIR/settings.toml < stream.jsonl",
        ],
        Ruling::Collect => match choices.advice.lacks {
            Some(Lack::Labels) => &["deadloop label CORPUS"],
            Some(Lack::Clean) => &[
                "deadloop check CORPUS",
                "deadloop import MORE-LOGS --out MORE",
            ],
            _ => &["deadloop check CORPUS", "deadloop label CORPUS --review"],
        },
        Ruling::Decide => &[
            "deadloop report DIR --open",
            "deadloop explain DIR TRANSCRIPT",
        ],
        Ruling::Keep | Ruling::None => &["deadloop report DIR --open"],
    };
    let line = |line: &&str| match line.split_once(" CORPUS") {
        Some(("deadloop replay", rest)) => format!("deadloop replay CORPUS{replayed}{rest}"),
        _ => (*line).to_owned(),
    };
    choices.advice.next = next.iter().map(line).collect();
}

/// A command with the paths as they were given.
fn whole(next: &str, args: &Tune) -> String {
    let (corpus, out) = (typed(&args.corpus), typed(&args.out));
    next.replace("CORPUS", &corpus).replace("DIR", &out)
}

/// What was asked, and what stands beside the choice.
pub(super) struct Said<'a> {
    pub(super) args: &'a Tune,
    pub(super) options: &'a ChooseOptions,
    pub(super) head: &'a ExcerptsHead,
    pub(super) learnt: Option<Learnt>,
}

impl Said<'_> {
    /// What `--json` says.
    fn json(&self, choices: &Choices, file: &Path) -> Value {
        let advice = &choices.advice;
        let next = advice.next.iter().map(|next| whole(next, self.args));
        let mut summary = json!({
            "verdict": advice.verdict,
            "reason": advice.reason,
            "pays": advice.pays,
            "warnings": advice.warnings,
            "ready": advice.ready,
            "doubted": advice.doubted,
            "settings": file.display().to_string(),
            "changes": advice.changes,
            "would_change": advice.would_change,
            "prices": advice.prices,
            "assurance": advice.assurance,
            "in_use": advice.in_use,
            "candidate": advice.candidate,
            "next": next.collect::<Vec<_>>(),
            "chosen": chosen(choices),
            "unlabelled_loops": self.head.unlabelled_loops,
        });
        if let Some(learnt) = &self.learnt {
            summary["learnt"] = json!(learnt);
        }
        summary
    }
}

/// Prints the verdict, the table and the price list; returns what `--json` says.
pub(super) fn summary(
    done: &Replayed,
    planned: &Planned,
    choices: &Choices,
    said: &Said<'_>,
    global: Global,
) -> Outcome<Value> {
    let Said {
        args,
        options,
        head,
        learnt,
    } = said;
    let advice = &choices.advice;
    let file = args.out.join("settings.toml");
    let summary = said.json(choices, &file);
    if global.json || global.quiet {
        return Ok(summary);
    }
    show::print_styled(&verdict(advice))?;
    if !advice.pays.is_empty() {
        show::print(&show::prose(&format!("  {}", visible_lines(&advice.pays))))?;
    }
    for line in changed(advice) {
        show::print(&show::prose(&visible_lines(&line)))?;
    }
    show::print(&format!(
        "\n{}",
        table(done, planned, choices, args, options)
    ))?;
    let Measure { title, meaning, .. } = options.objective;
    show::print(&show::prose(&format!("{title}, which decides: {meaning}")))?;
    if !advice.prices.is_empty() {
        show::print(&format!("\n{}", prices(advice, planned, options)))?;
    }
    let in_use = &choices.pooled.in_use_tally;
    if let Some(line) = show::ended(options.in_use_is, in_use, options.judge.transient) {
        show::print(&show::prose(&line))?;
    }
    for warning in &advice.warnings {
        show::print(&format!("\n{}", show::prose(&visible_lines(warning))))?;
    }
    if let Some(disputed) = disputed(head, args) {
        show::print(&format!("\n{disputed}"))?;
    }
    if let Some(learnt) = learnt {
        let lines = visible_lines(&learnt.lines().join("\n"));
        show::print(&format!("\n{}", show::prose(&lines)))?;
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
    let line = show::prose(&format!("{name}  {}", visible_lines(&advice.reason)));
    // The colour is no part of what is folded.
    line.replacen(&name, &format!("{style}{name}{style:#}"), 1)
}

/// The parameters that change, or would.
fn changed(advice: &Advice) -> Vec<String> {
    let (lead, changes) = if advice.changes.is_empty() {
        ("the best other setting would change", &advice.would_change)
    } else {
        ("change", &advice.changes)
    };
    let line = |c: &deadloop_score::Changed| {
        let of = |x: &Option<String>| x.clone().unwrap_or_else(|| "(none)".into());
        let model = match c.model.as_str() {
            "*" => String::new(),
            model => format!("{model}: "),
        };
        let words = c
            .words
            .as_ref()
            .map_or_else(String::new, |words| format!("  ({words})"));
        format!(
            "  {lead} {model}{} {}: {} -> {}{words}",
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
    let mut rows: Vec<(String, RunFigures)> = Vec::new();
    let advice = &choices.advice;
    rows.push((options.in_use_is.to_owned(), advice.in_use.clone()));
    if let Some(candidate) = &advice.candidate {
        let level = advice.assurance.map_or("", |a| a.name());
        let name = match &advice.ready {
            Some(ready) => ready.clone(),
            None => format!("candidate ({level}), held out"),
        };
        rows.push((name, candidate.clone()));
    }
    let of = |tally: &Tally| RunFigures::of(String::new(), tally, options);
    for choice in choices.models.iter().filter(|c| c.why == Why::Own) {
        let name = format!("{} (its own), held out", choice.model);
        rows.push((name, of(&choice.held_out_tally)));
    }
    let also = planned.presets.len() - args.also.len();
    let taken = choices.pooled.candidate.filter(|_| advice.ready.is_some());
    let shown = planned
        .presets
        .iter()
        .enumerate()
        .filter(|(nth, (name, cell))| {
            let named = *nth >= also || settings::SHIPPED.contains(&name.as_str());
            *cell != planned.in_use && Some(*cell) != taken && (args.presets || named)
        });
    for (_, (name, cell)) in shown {
        if let Ok(evidence) = done.evidence(&planned.plan) {
            let tally = evidence.tally_of(*cell, &evidence.every(), &done.judge);
            rows.push((name.clone(), of(&tally)));
        }
    }
    figures(&rows, options)
}

/// A row for each way to run a guard.
fn figures(rows: &[(String, RunFigures)], options: &ChooseOptions) -> String {
    let columns = Columns::of(options, true);
    let row = |(name, run): &(String, RunFigures)| {
        let figure = |metric: &Metric| match () {
            () if *metric == options.objective => told(metric, run.objective),
            () if *metric == &ENDED => told(metric, run.ended),
            () if *metric == &SAVED => told(metric, run.saved),
            () if *metric == &RECALL => told(metric, run.recall),
            () => told(metric, run.delay),
        };
        let mut cells = vec![name.clone()];
        cells.extend(columns.first.iter().map(figure));
        cells.push(show::count(run.wrong));
        cells.push(told(wrong_rate(options.judge.unit), run.rate));
        cells.extend(columns.last.iter().map(figure));
        cells
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let unit = options.judge.unit;
    let mut header = vec![String::new()];
    header.extend(columns.first.iter().map(|m| m.title_in(unit).into_owned()));
    header.extend(["wrong alarms".to_owned(), show::per(unit).to_owned()]);
    header.extend(columns.last.iter().map(|m| m.title_in(unit).into_owned()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    show::table(&header, &rows, 1)
}

/// The measures of a table of settings, none of them twice: before the wrong alarms, and behind them.
struct Columns {
    first: Vec<Metric>,
    last: Vec<Metric>,
}

impl Columns {
    /// What ends loops first, then the objective, then what stands behind them; `saved` where there is room for it.
    fn of(options: &ChooseOptions, saved: bool) -> Self {
        let objective = options.objective;
        let mut first: Vec<Metric> = vec![&ENDED];
        let more: [Metric; 3] = [objective, if saved { &SAVED } else { objective }, &RECALL];
        for metric in more {
            if !first.contains(&metric) && !metric.is_wrong_rate() {
                first.push(metric);
            }
        }
        let last: Vec<Metric> = if objective == &DELAY {
            Vec::new()
        } else {
            vec![&DELAY]
        };
        Self { first, last }
    }
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
    let in_use = planned.plan.setting(planned.in_use);
    let differ = beside(&in_use, &settings.iter().collect::<Vec<_>>());
    let unit = options.judge.unit;
    let columns = Columns::of(options, false).first;
    let row = |(p, differ): (&&Price, String)| {
        let figure = |metric: &Metric| match () {
            () if *metric == options.objective => told(metric, p.objective),
            () if *metric == &ENDED => told(metric, p.ended),
            () => told(metric, p.recall),
        };
        let mut cells = vec![p.at_most.to_string()];
        cells.extend(columns.iter().map(figure));
        cells.extend([told(wrong_rate(unit), p.rate), p.is.join(", "), differ]);
        cells
    };
    let rows: Vec<Vec<String>> = shown.iter().zip(differ).map(row).collect();
    let mut header = vec!["at most".to_owned()];
    header.extend(columns.iter().map(|m| m.title_in(unit).into_owned()));
    header.extend([show::per(unit), "is", "setting"].map(str::to_owned));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let left = match all.len() - shown.len() {
        0 => String::new(),
        n => format!("\n{} on the page", show::several(n as u64, "more row")),
    };
    format!(
        "{}\n{}{left}",
        show::prose(BUY),
        show::table_of(&header, &rows, 0..columns.len() + 2)
    )
}
