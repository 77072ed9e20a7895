//! `deadloop stats`: what is in a corpus, by model, and what its labels can prove.

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::Args;
use deadloop_detect::{Kind, Unit};

use crate::args::{Global, Select};
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;
use deadloop_run::counting::{
    CorpusCounts, CountedCorpus, CountedNames, Groups, NONE, UNNAMED, counted,
};
use deadloop_run::{Surveyed, Wanted};

pub(crate) const HELP: &str = "Examples:\n  deadloop stats datasets/starter\n  deadloop stats datasets/starter --model 'smollm*' --json";

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// A corpus: a folder, or one .jsonl or .parquet file
    corpus: PathBuf,
    #[command(flatten)]
    select: Select,
}

/// How many groups a table shows; the rest are summed in one row.
const SHOWN: usize = 30;

pub(super) fn run(args: &Stats, global: Global) -> Outcome {
    let wanted = Wanted {
        path: &args.corpus,
        selection: args.select.selection()?,
        by: &[],
        entry: None,
        host: &Terminal::of(global),
    };
    let CountedCorpus { found, all, groups } = counted(wanted, args.select.skips())?;
    if !global.quiet {
        found.tell_rejected(&Terminal::of(global));
    }
    if global.json {
        return show::print(&CountedCorpus { found, all, groups }.json().to_string());
    }
    show::print(&show::prose(&heading(&found, &all)))?;
    let models = &groups[0].1;
    let parts = [
        overview("model", models),
        kinds(models),
        origins(models),
        provable(models, &all),
        distributions(&all),
    ];
    for part in parts.iter().filter(|part| !part.is_empty()) {
        show::print(&show::prose(&format!("\n{part}")))?;
    }
    for (name, groups) in groups.iter().skip(1).filter(|(_, groups)| groups.len() > 1) {
        show::print(&format!("\n{}", overview(name, groups)))?;
    }
    lead_on(args, &all, global)
}

/// Prints what to run next: `label` if the corpus has no labels, else `check`.
fn lead_on(args: &Stats, all: &CorpusCounts, global: Global) -> Outcome {
    let corpus = show::typed(&args.corpus);
    let next = match all.loops + all.clean {
        0 => format!("deadloop label {corpus}"),
        _ => format!("deadloop check {corpus}"),
    };
    show::next(&[&next, &format!("deadloop show {corpus}")], global)
}

fn heading(found: &Surveyed, all: &CorpusCounts) -> String {
    let card = found.corpus.card();
    let name = card.and_then(|c| c.name.as_deref()).unwrap_or("corpus");
    let timed = found.cases.iter().filter(|case| case.timed).count() as u64;
    format!(
        "{name}: {} transcripts, {} chars, {} loops, {} clean; {} with chunk times; {} filtered out; hash {}",
        show::count(all.transcripts),
        show::count(all.chars),
        show::count(all.loops),
        show::count(all.clean),
        show::count(timed),
        show::count(found.filtered),
        found.hash,
    )
}

/// A row for each of the largest groups, and one for all others.
fn rows(groups: &Groups, row: impl Fn(&CorpusCounts) -> Vec<String>) -> Vec<Vec<String>> {
    let named = |name: &str, counts: &CorpusCounts| -> Vec<String> {
        std::iter::once(name.to_owned())
            .chain(row(counts))
            .collect()
    };
    let shown = groups.iter().take(SHOWN);
    let mut rows: Vec<Vec<String>> = shown.map(|(name, c)| named(name, c)).collect();
    if let Some(rest) = groups.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let mut sum = CorpusCounts::default();
        rest.iter().for_each(|(_, counts)| sum.merge(counts));
        rows.push(named(&format!("{} more", rest.len()), &sum));
    }
    rows
}

/// A column of counts: its name, and a function that returns the count of a group.
type Column = (&'static str, fn(&CorpusCounts) -> u64);

const COUNTED: [Column; 9] = [
    ("transcripts", |c| c.transcripts),
    ("chars", |c| c.chars),
    ("calls", |c| c.calls),
    ("turns", |c| c.turns),
    ("loops", |c| c.loops),
    ("clean", |c| c.clean),
    ("faults", |c| c.faults),
    ("transient", |c| c.transient),
    ("unlabelled", |c| c.unlabelled),
];

/// The table of groups with their counts. Columns that are 0 for all groups are left out.
fn overview(name: &str, groups: &Groups) -> String {
    let columns: Vec<Column> = COUNTED
        .into_iter()
        .filter(|(_, of)| groups.iter().any(|(_, c)| of(c) > 0))
        .collect();
    let onsets = groups.iter().any(|(_, c)| !c.onsets.is_empty());
    let mut header: Vec<&str> = vec![name];
    header.extend(columns.iter().map(|(name, _)| *name));
    header.push("lengths");
    header.extend(onsets.then_some("onsets"));
    let rows = rows(groups, |c| {
        let mut cells: Vec<String> = columns.iter().map(|(_, of)| show::count(of(c))).collect();
        cells.push(c.lengths.spark());
        cells.extend(onsets.then(|| c.onsets.spark()));
        cells
    });
    show::table(&header, &rows, 1)
}

/// The table of loops by kind; empty without loops.
fn kinds(models: &Groups) -> String {
    let names: Vec<&str> = Kind::ALL
        .map(Kind::name)
        .into_iter()
        .chain([UNNAMED])
        .collect();
    let there = |name: &&str| models.iter().any(|(_, c)| c.kinds.contains_key(*name));
    let names: Vec<&str> = names.into_iter().filter(there).collect();
    if names.is_empty() {
        return String::new();
    }
    let header: Vec<&str> = ["loops by kind"].into_iter().chain(names.clone()).collect();
    let rows = rows(models, |c| {
        let count = |name: &&str| show::count(c.kinds.get(*name).copied().unwrap_or(0));
        names.iter().map(count).collect()
    });
    show::table(&header, &rows, 1)
}

/// A column of names: its name, and a function that returns the names of a group with their counts.
type Named = (&'static str, fn(&CorpusCounts) -> &CountedNames);

/// The table of languages and finish reasons; empty if no recording has either.
fn origins(models: &Groups) -> String {
    let says = |of: fn(&CorpusCounts) -> &CountedNames| {
        let mut names = models.iter().flat_map(|(_, c)| of(c).keys());
        names.any(|name| name != NONE)
    };
    let all: [Named; 2] = [
        ("languages", |c| &c.languages),
        ("ended with", |c| &c.finishes),
    ];
    let columns: Vec<_> = all.into_iter().filter(|(_, of)| says(*of)).collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut header = vec!["model"];
    header.extend(columns.iter().map(|(name, _)| *name));
    let rows = rows(models, |c| {
        columns.iter().map(|(_, of)| list(of(c))).collect()
    });
    show::table(&header, &rows, header.len())
}

/// CountedNames with their counts, the most frequent first.
fn list(names: &CountedNames) -> String {
    /// How many names are shown.
    const MOST: usize = 4;
    let mut sorted: Vec<(&String, &u64)> = names.iter().collect();
    sorted.sort_by_key(|(name, n)| (Reverse(**n), name.as_str()));
    let shown = sorted.iter().take(MOST);
    let mut parts: Vec<String> = shown.map(|(name, n)| format!("{name} {n}")).collect();
    if sorted.len() > MOST {
        parts.push(format!("{} more", sorted.len() - MOST));
    }
    parts.join(", ")
}

/// What a perfect detector could show on these labels, for each unit that they are in; empty without labels.
fn provable(models: &Groups, all: &CorpusCounts) -> String {
    let tables = (0..Unit::ALL.len()).filter(|at| all.evidence[*at].labelled() > 0);
    let tables: Vec<String> = tables.map(|at| provable_in(at, models, all)).collect();
    if tables.is_empty() {
        return String::new();
    }
    let note =
        "At 95 %, if every loop is found and nothing else; a claim beyond that needs more labels.";
    format!("{}\n{note}", tables.join("\n"))
}

/// The table of one unit.
fn provable_in(at: usize, models: &Groups, all: &CorpusCounts) -> String {
    let unit = all.evidence[at].unit;
    let (clean, rate) = (
        format!("clean {}", show::per(unit).trim_start_matches("per ")),
        format!("false alarms {} <=", show::per(unit)),
    );
    let header = ["what labels can prove", "loops", "recall >=", &clean, &rate];
    let everything = ("all together".to_owned(), all.clone());
    let labelled = models.iter().filter(|(_, c)| c.evidence[at].labelled() > 0);
    let groups: Groups = std::iter::once(everything)
        .chain(labelled.cloned())
        .collect();
    let rows = rows(&groups, |c| {
        let e = c.evidence[at];
        vec![
            show::count(e.loops),
            show::percent(e.recall()),
            show::number(Some(e.clean_many()), 2),
            show::number(e.rate(), 2),
        ]
    });
    show::table(&header, &rows, 1)
}

/// The histograms of lengths, onsets and periods that are not empty.
fn distributions(all: &CorpusCounts) -> String {
    let parts = [
        ("length of transcripts, in chars", &all.lengths),
        ("onset of the first loop, in chars", &all.onsets),
        ("period of the first loop, in chars", &all.periods),
    ];
    let there = parts
        .into_iter()
        .filter(|(_, histogram)| !histogram.is_empty());
    let shown: Vec<String> = there
        .map(|(what, histogram)| format!("{what}\n{}", histogram.bars()))
        .collect();
    shown.join("\n")
}
