//! `deadloop stats`: what is in a corpus.

use std::collections::BTreeMap;

use deadloop_score::{Case, Class};
use serde_json::json;

use crate::args::{Global, Stats};
use crate::corpus::{Surveyed, Wanted, survey};
use crate::exit::Outcome;
use crate::show;

/// What is counted for each group of transcripts.
#[derive(Clone, Copy, Default)]
struct Counts {
    transcripts: u64,
    chars: u64,
    loops: u64,
    clean: u64,
    clean_chars: u64,
    transient: u64,
    unlabelled: u64,
}

impl Counts {
    fn add(&mut self, case: &Case) {
        let length = case.timeline.length();
        let chars = length.reasoning.0 + length.answer.0;
        self.transcripts += 1;
        self.chars += chars;
        match case.class() {
            Some(Class::Loop) => self.loops += 1,
            Some(Class::Transient) => self.transient += 1,
            Some(Class::Clean) => {
                self.clean += 1;
                self.clean_chars += chars;
            }
            Some(Class::Unsure) | None => self.unlabelled += 1,
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let counts = [
            self.transcripts,
            self.chars,
            self.loops,
            self.clean,
            self.clean_chars,
            self.transient,
            self.unlabelled,
        ];
        std::iter::once(name.to_owned())
            .chain(counts.map(show::count))
            .collect()
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "transcripts": self.transcripts, "chars": self.chars, "loops": self.loops,
            "clean": self.clean, "clean_chars": self.clean_chars, "transient": self.transient,
            "unlabelled": self.unlabelled,
        })
    }
}

/// A way of grouping transcripts: its name, and the group of one.
type Grouping = (&'static str, fn(&Case) -> String);

const GROUPINGS: [Grouping; 5] = [
    ("model", |case| case.model.clone()),
    ("language", |case| {
        case.lang.clone().unwrap_or_else(|| "-".into())
    }),
    ("split", |case| {
        case.split.clone().unwrap_or_else(|| "-".into())
    }),
    ("kind of loop", |case| {
        let span = case.truth.as_ref().and_then(|t| t.first_loop());
        span.map_or("-".into(), |s| {
            s.kind.map_or("unnamed".into(), |k| k.name().into())
        })
    }),
    ("onset of loop", |case| {
        let span = case.truth.as_ref().and_then(|t| t.first_loop());
        span.map_or("-", |s| bucket(s.onset.0)).into()
    }),
];

/// Where a loop begins, as in the report's chart.
fn bucket(onset: u64) -> &'static str {
    match onset {
        0..2000 => "below 2 000 chars",
        2000..5000 => "2 000 to 5 000",
        _ => "from 5 000 on",
    }
}

/// Groups of one kind that are shown; the rest is summed.
const SHOWN: usize = 30;

pub(super) fn run(args: &Stats, global: Global) -> Outcome {
    let selection = args.select.selection()?;
    let found = survey(Wanted {
        path: &args.corpus,
        selection,
        by: &[],
        entry: None,
        quiet: global.quiet,
    })?;
    found.accept(args.select.on_bad, global.quiet)?;
    let groups: Vec<(&str, BTreeMap<String, Counts>)> = GROUPINGS
        .iter()
        .map(|(name, of)| (*name, grouped(&found.cases, *of)))
        .collect();
    if global.json {
        let json_of = |groups: &BTreeMap<String, Counts>| -> serde_json::Map<_, _> {
            groups
                .iter()
                .map(|(name, counts)| (name.clone(), counts.json()))
                .collect()
        };
        let by: serde_json::Map<_, _> = groups
            .iter()
            .map(|(name, g)| ((*name).into(), json_of(g).into()))
            .collect();
        return show::print(
            &json!({"hash": found.hash, "all": all(&found).json(), "by": by}).to_string(),
        );
    }
    show::print(&heading(&found))?;
    for (name, groups) in &groups {
        let header = [
            *name,
            "transcripts",
            "chars",
            "loops",
            "clean",
            "clean chars",
            "transient",
            "unlabelled",
        ];
        show::print(&format!("\n{}", show::table(&header, &rows(groups), 1)))?;
    }
    Ok(())
}

fn all(found: &Surveyed) -> Counts {
    let mut all = Counts::default();
    found.cases.iter().for_each(|case| all.add(case));
    all
}

fn heading(found: &Surveyed) -> String {
    let card = found.corpus.card();
    let name = card.and_then(|c| c.name.as_deref()).unwrap_or("corpus");
    let all = all(found);
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

fn grouped(cases: &[Case], of: fn(&Case) -> String) -> BTreeMap<String, Counts> {
    let mut groups: BTreeMap<String, Counts> = BTreeMap::new();
    cases
        .iter()
        .for_each(|case| groups.entry(of(case)).or_default().add(case));
    groups
}

/// Largest groups first.
fn rows(groups: &BTreeMap<String, Counts>) -> Vec<Vec<String>> {
    let mut sorted: Vec<(&String, &Counts)> = groups.iter().collect();
    sorted.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.transcripts), (*name).clone()));
    let mut rows: Vec<Vec<String>> = sorted.iter().take(SHOWN).map(|(n, c)| c.row(n)).collect();
    if sorted.len() > SHOWN {
        let more = sorted.len() - SHOWN;
        let sum = sorted[SHOWN..]
            .iter()
            .fold(Counts::default(), |mut sum, (_, c)| {
                sum.transcripts += c.transcripts;
                sum.chars += c.chars;
                sum.loops += c.loops;
                sum.clean += c.clean;
                sum.clean_chars += c.clean_chars;
                sum.transient += c.transient;
                sum.unlabelled += c.unlabelled;
                sum
            });
        rows.push(sum.row(&format!("{more} more")));
    }
    rows
}
