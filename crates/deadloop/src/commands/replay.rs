//! `deadloop replay`: one setting, or several.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_detect::{Member, Response, Settings, Unit};
use deadloop_replay::Plan;
use deadloop_score::measure::{DELAY, Metric, RECALL, SAVED, Worth};
use deadloop_score::{
    Case, ChooseOptions, Count, Evidence, Tally, Verdict, count_opening, macro_means,
    write_intervals, write_regions, wrong_rate,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::tune::SEALED;
use crate::args::{Global, Judge, Output, Per, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::opening::Opening;
use crate::replaying::{finish, replay, request};
use crate::settings;
use crate::show;
use deadloop_run::{Replayed, Request, name};

pub(crate) const HELP: &str = "Examples:\n  deadloop replay datasets/starter --settings tuned/settings.toml --split test --out tested\n  deadloop replay recordings.jsonl --out seen --set guard.params.min_copies=8";

/// A settings file, or a preset, under the name that tables show.
pub(crate) type Named = (String, Settings);

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// Settings files; the first is taken for the current one [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Also every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &Replay, global: Global) -> Outcome {
    let named = named(
        (&args.settings, args.presets),
        (&args.judge.set, args.judge.per),
    )?;
    refuse_off(&named)?;
    let mut plan = Plan::default();
    let cells: Vec<usize> = named.iter().map(|(_, s)| plan.add_settings(s)).collect();
    let host = Terminal::of(global);
    let options = (&args.select, &args.judge, &args.output);
    let request = Request {
        command: "replay",
        read: args.settings.iter().map(PathBuf::as_path).collect(),
        inputs: named
            .iter()
            .map(|(name, s)| format!("{name} {}", s.id()))
            .collect(),
        asked: json!({"replay": args}),
        ..request((&args.corpus, &args.out), options, &host)?
    };
    let Some(mut done) = replay(&request, &plan, (&named[0].1, global))? else {
        return Ok(());
    };
    count_openings(args, &done, global)?;
    for ((label, _), cell) in named.iter().zip(&cells) {
        name(&mut done.manifest, &plan, *cell, label);
    }
    name(&mut done.manifest, &plan, cells[0], "current");
    let mut distinct = cells.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let evidence = Evidence::new(&plan, &done.surveyed.cases, &done.records)?;
    let scored = done.score(
        &evidence,
        Some(cells[0]),
        &distinct,
        (&args.output.by, args.output.csv),
    )?;
    let means = intervals(&done, &evidence, &distinct)?;
    write_regions(done.folder.path(), &evidence, 0, &distinct, &done.judge)?;
    Opening {
        evidence: &evidence,
        focus: [("*".to_owned(), (cells[0], named[0].clone()))].into(),
        chunks: args.judge.chunks,
        texts: !args.output.no_excerpts,
        quiet: global.quiet,
    }
    .write(&done)?;
    let summary = summary(&done, &evidence, &named, &cells, global)?;
    let worst = worst(&done, &evidence, cells[0]);
    done.sum_up(summary);
    done.manifest.models_left_out = scored.left_out;
    done.manifest.beside_floors = scored.beside_floors;
    done.manifest.macro_means = means;
    finish(*done, Ok(()), global)?;
    let out = show::typed(&args.out);
    let explain = worst.map(|id| format!("deadloop explain {out} {}", show::typed(id)));
    let report = format!("deadloop report {out} --open");
    let next: Vec<&str> = explain
        .iter()
        .chain([&report])
        .map(String::as_str)
        .collect();
    show::next(&next, global)
}

/// A transcript that a reader wants explained: of the first setting a false alarm, else a miss, else any alarm.
fn worst(done: &Replayed, evidence: &Evidence<'_>, cell: usize) -> Option<String> {
    let outcomes = evidence.outcomes(cell, &evidence.all(), &done.judge);
    let of = |wanted: Verdict| outcomes.iter().position(|o| o.verdict == wanted);
    let at = [Verdict::FalseAlarm, Verdict::Miss, Verdict::Hit]
        .into_iter()
        .find_map(of)?;
    Some(evidence.cases[at].id.to_string())
}

/// Settings under which nothing can alarm are a mistake.
fn refuse_off(named: &[Named]) -> Outcome {
    for (name, settings) in named {
        if settings.is_off() {
            let what = format!("{name}: every guard is switched off: nothing can alarm");
            return Err(Code::Usage.error(what));
        }
    }
    Ok(())
}

/// Where transcripts of the sealed split are scored with what `tune` chose, its folder counts it.
fn count_openings(args: &Replay, done: &Replayed, global: Global) -> Outcome {
    let sealed = |case: &Case| case.split.as_deref() == Some(SEALED);
    if !done.surveyed.cases.iter().any(sealed) {
        return Ok(());
    }
    for file in &args.settings {
        let dir = file.parent().unwrap_or(Path::new(""));
        if let (Some(times), false) = (count_opening(dir)?, global.quiet) {
            let file = file.display();
            eprintln!(
                "{file}: scored on the split {SEALED}, time {times}: see choice.csv beside it"
            );
        }
    }
    Ok(())
}

/// The settings of these files, or the recommended guard, and where they are asked for all presets that read what the
/// first of these reads: text, or runs.
pub(super) fn named(
    (files, with_presets): (&[PathBuf], bool),
    (set, per): (&[String], Option<Per>),
) -> Outcome<Vec<Named>> {
    let stems: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let label = |path: &PathBuf| {
        let stem = stem(path);
        let namesakes = stems.iter().filter(|other| **other == stem).count();
        changed(
            if namesakes > 1 {
                path.display().to_string()
            } else {
                stem
            },
            set,
        )
    };
    let file = |path: &PathBuf| Ok((label(path), settings::settings(Some(path), set)?));
    let mut named: Vec<Named> = files.iter().map(file).collect::<Outcome<_>>()?;
    if named.is_empty() {
        let name = changed("recommended".into(), set);
        named.push((name, settings::settings(None, set)?));
    }
    if with_presets {
        let first = reads(&named[0].1);
        let all = settings::all_presets()?.into_iter();
        let all = all.map(|(name, s)| (name, Settings::of(s)));
        named.extend(all.filter(|(_, s)| reads(s).iter().zip(first).any(|(a, b)| *a && b)));
    }
    let read = named.into_iter().map(|(name, settings)| match per {
        None => (name, settings),
        Some(per) => (name, settings.read_per(per.per())),
    });
    Ok(read.flat_map(by_level).collect())
}

/// Whether a guard of these settings reads text (as a program may), and whether one reads runs.
fn reads(settings: &Settings) -> [bool; 2] {
    let others = settings.overrides().map(|(_, guard)| guard);
    let guards = others.chain([settings.guard()]);
    let units = guards.flat_map(|guard| guard.members.iter().map(Member::unit));
    units.fold([false, false], |[text, runs], unit| match unit {
        None | Some(Unit::Chars) => [true, runs],
        Some(_) => [text, true],
    })
}

/// What stops, what warns and what only observes, each as settings of its own: it is scored apart.
fn by_level((name, settings): Named) -> Vec<Named> {
    let levels = settings.levels();
    if levels.len() < 2 {
        return vec![(name, settings)];
    }
    let named = |(level, part): (Response, Settings)| match level {
        Response::Stop => (name.clone(), part),
        other => (format!("{name} ({})", other.name()), part),
    };
    levels.into_iter().map(named).collect()
}

/// What was changed on the way is part of the name.
fn changed(name: String, set: &[String]) -> String {
    match set {
        [] => name,
        _ => format!("{name} with {}", set.join(", ")),
    }
}

/// What a settings file is called: its name without the ending.
fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Means over models: setting, then metric.
pub(super) type MacroMeans = BTreeMap<String, BTreeMap<String, f64>>;

/// Writes the intervals that have to be resampled; returns the means over models.
pub(super) fn intervals(
    done: &Replayed,
    evidence: &Evidence<'_>,
    cells: &[usize],
) -> Outcome<MacroMeans> {
    let scoring = done.scoring(evidence, &[], cells, false);
    let subjects = [("*".to_owned(), evidence.all())];
    write_intervals(done.folder.path(), &scoring, cells, &subjects)?;
    let means = |cell: &usize| {
        let means = macro_means(evidence, *cell, &done.judge, &done.worth);
        (evidence.plan.id(*cell), means)
    };
    Ok(cells.iter().map(means).collect())
}

fn summary(
    done: &Replayed,
    evidence: &Evidence<'_>,
    named: &[Named],
    cells: &[usize],
    global: Global,
) -> Outcome<serde_json::Value> {
    let all = evidence.all();
    let rows: Vec<(String, Tally)> = named
        .iter()
        .zip(cells)
        .map(|((label, _), cell)| (label.clone(), evidence.tally(*cell, &all, &done.judge)))
        .collect();
    let summary = json(done, evidence, &rows, cells);
    if global.quiet || global.json {
        return Ok(summary);
    }
    let unlabelled = rows
        .iter()
        .all(|(_, tally)| tally.loops() + tally.clean() == 0);
    let unit = done.judge.unit;
    let (rate, delay) = (wrong_rate(unit), DELAY.title_in(unit));
    let mut header = vec![
        "setting",
        "loops",
        "hit",
        "earlier",
        "recall",
        "false alarms",
        show::per(unit),
        delay.as_ref(),
        "saved",
    ];
    // A program that failed on a transcript has said nothing of it.
    let failed = rows.iter().any(|(_, tally)| tally.get(Count::Errors) > 0);
    header.extend(failed.then_some("errors"));
    // All that can be said without labels.
    header.extend(unlabelled.then_some("would cut"));
    let row = |(label, tally): &(String, Tally)| {
        let mut cells = vec![
            label.clone(),
            show::count(tally.loops()),
            show::count(tally.get(Count::Hit)),
            show::count(tally.get(Count::Earlier)),
            show::percent(value(&RECALL, tally)),
            show::count(tally.wrong()),
            show::number(value(rate, tally), 2),
            show::number(value(&DELAY, tally), 0),
            show::percent(value(&SAVED, tally)),
        ];
        cells.extend(failed.then(|| show::count(tally.get(Count::Errors))));
        cells
    };
    let mut table: Vec<Vec<String>> = rows.iter().map(row).collect();
    for (row, cell) in table.iter_mut().zip(cells).filter(|_| unlabelled) {
        row.push(cut(done, evidence, *cell));
    }
    show::print(&show::table(&header, &table, 1))?;
    best(&rows, unit).map_or(Ok(()), |line| show::print(&line))?;
    let (name, tally) = &rows[0];
    let ended = show::ended(name, tally, done.judge.transient);
    ended.map_or(Ok(()), |line| show::print(&line))?;
    Ok(summary)
}

/// The same as one object.
fn json(
    done: &Replayed,
    evidence: &Evidence<'_>,
    rows: &[(String, Tally)],
    cells: &[usize],
) -> serde_json::Value {
    let rate = wrong_rate(done.judge.unit);
    let row = |((label, tally), cell): (&(String, Tally), &usize)| {
        let (would_cut, would_cut_per_mchar) = would_cut(done, evidence, *cell);
        json!({
            "name": label, "setting": evidence.plan.id(*cell),
            "transcripts": tally.get(Count::Transcripts), "loops": tally.loops(),
            "unlabelled": tally.get(Count::Unlabelled), "errors": tally.get(Count::Errors),
            "hit": tally.get(Count::Hit), "earlier": tally.get(Count::Earlier), "wrong": tally.wrong(),
            "exposure": tally.get(Count::Exposure), "recall": value(&RECALL, tally),
            rate.name: value(rate, tally),
            "would_cut": would_cut, "would_cut_per_mchar": would_cut_per_mchar,
        })
    };
    let rows: Vec<_> = rows.iter().zip(cells).map(row).collect();
    let rejected = done.surveyed.problems.len();
    json!({"rejected": rejected, "settings": rows})
}

/// `19 of 60 (4.75 per Mchar)`; where calls or turns are counted, `19 of 60`.
fn cut(done: &Replayed, evidence: &Evidence<'_>, cell: usize) -> String {
    let (cut, rate) = would_cut(done, evidence, cell);
    let (cut, all) = (show::count(cut), show::count(evidence.cases.len() as u64));
    match done.judge.unit {
        Unit::Chars => format!("{cut} of {all} ({} per Mchar)", show::number(rate, 2)),
        _ => format!("{cut} of {all}"),
    }
}

/// How many transcripts a setting alarms on, labelled or not, and for each million chars of the corpus.
fn would_cut(done: &Replayed, evidence: &Evidence<'_>, cell: usize) -> (u64, Option<f64>) {
    let place = evidence.plan.cell(cell);
    let alarms = |case: &usize| {
        let decided = evidence.trial(place.block, *case).decided;
        decided.stop(&place.at).is_some()
    };
    let cut = (0..evidence.cases.len()).filter(alarms).count() as u64;
    let chars = done.manifest.corpus.chars;
    (cut, (chars > 0).then(|| cut as f64 * 1e6 / chars as f64))
}

/// Which of many settings a reader looks for in the table: the one that saves the most of those that cut little.
fn best(rows: &[(String, Tally)], unit: Unit) -> Option<String> {
    let rate = wrong_rate(unit);
    let most = ChooseOptions::default_limit(unit)?.bound;
    let calm = rows.iter().filter_map(|(label, tally)| {
        let rate = value(rate, tally).filter(|rate| *rate <= most);
        rate.and(value(&SAVED, tally)).map(|saved| (label, saved))
    });
    let best = calm.reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (label, saved) = best.filter(|_| rows.len() > 2)?;
    Some(format!(
        "\n{label} saves the most ({}) of those with at most {most} false alarm {}",
        show::percent(Some(saved)),
        show::per(unit)
    ))
}

/// A measure that what errors cost does not touch.
fn value(measure: Metric, tally: &Tally) -> Option<f64> {
    measure.value(tally, &Worth::default())
}
