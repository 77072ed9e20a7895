//! `deadloop bless`: makes a result the baseline, after showing what that changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_corpus::{if_named, prove_writable, read_text};
use deadloop_run::result_files;
use deadloop_score::{CompareOptions, Side, compare, write_text};
use serde_json::json;

use crate::args::Global;
use crate::comparing::{Compared, words};
use crate::exit::{Code, Outcome};
use crate::show;

pub(crate) const HELP: &str = "Example:\n  deadloop replay datasets/starter --split dev --presets --csv --out fresh\n  deadloop bless fresh reports/baseline\n\nThe baseline keeps the tables (CSV, cases.jsonl, settings.toml), which have the same bytes whenever the same run is repeated. It keeps no manifest and no report. Without --yes the command asks first. If it cannot ask, it changes nothing and ends with exit code 2.";

/// What [`Side::read`] needs.
const SIDE: [&str; 2] = ["outcomes.csv", "cases.jsonl"];

/// Whether a baseline keeps a file of a result: what is text, and has the same bytes whenever the same run is repeated.
fn is_kept(file: &str) -> bool {
    file.ends_with(".csv") || ["cases.jsonl", "settings.toml"].contains(&file)
}

#[derive(Debug, Args)]
pub(crate) struct Bless {
    /// A folder that replay, sweep or tune wrote with --csv
    pub(crate) result: PathBuf,
    /// The folder of the baseline; it is made if it does not exist
    pub(crate) baseline: PathBuf,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// How many flips are listed
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) list: usize,
}

pub(super) fn run(args: &Bless, global: Global) -> Outcome {
    let new = tables(&args.result)?;
    if !is_result(&new) {
        let what = "holds no outcomes.csv beside cases.jsonl; expected a result of replay, sweep or tune with --csv";
        return Err(Code::Usage.error(format!("{}: {what}", args.result.display())));
    }
    let old = tables(&args.baseline)?;
    if let (Some(name), false) = (old.keys().next(), is_result(&old)) {
        return Err(Code::Usage.error(format!(
            "{}: holds {name} and is no baseline; choose another folder",
            args.baseline.display()
        )));
    }
    let changes = changes(&old, &new);
    if global.json {
        let row = |c: &Change| json!({"file": c.file, "lines": c.lines, "added": c.added, "removed": c.removed});
        let rows: Vec<_> = changes.iter().map(row).collect();
        show::print(&json!({"changes": rows}).to_string())?;
    } else if !global.quiet {
        show::print(&told(args, &old, &changes))?;
    }
    if changes.is_empty() {
        return Ok(());
    }
    agree(args)?;
    let refuse = |e| format!("{}: cannot be written to: {e}", args.baseline.display());
    std::fs::create_dir_all(&args.baseline)
        .and_then(|()| prove_writable(&args.baseline))
        .map_err(|e| Code::Usage.error(refuse(e)))?;
    for (name, text) in &new {
        write_text(&args.baseline.join(name), text)?;
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        std::fs::remove_file(args.baseline.join(name))?;
    }
    let baseline = show::typed(&args.baseline);
    show::next(&[&format!("deadloop compare {baseline} NEW")], global)
}

/// Whether these tables are a result that can be compared; a baseline is one too.
fn is_result(tables: &Tables) -> bool {
    SIDE.iter().all(|name| tables.contains_key(*name))
}

type Tables = BTreeMap<String, String>;

/// The tables of a folder by name; empty if there is no such folder.
fn tables(dir: &Path) -> Outcome<Tables> {
    let mut found = Tables::new();
    for name in result_files().into_keys().filter(|name| is_kept(name)) {
        let path = dir.join(&name);
        let text = if_named(read_text(&path))
            .map_err(|e| Code::Usage.error(format!("{}: {e}", path.display())))?;
        found.extend(text.map(|text| (name, text)));
    }
    Ok(found)
}

/// How a table changes. Counts are of lines.
struct Change {
    file: String,
    lines: usize,
    added: usize,
    removed: usize,
}

fn changes(old: &Tables, new: &Tables) -> Vec<Change> {
    let change = |file: &String| {
        let (old, new) = (old.get(file), new.get(file));
        let lines = |text: Option<&String>| {
            let mut lines: BTreeMap<String, i64> = BTreeMap::new();
            for line in text.into_iter().flat_map(|text| text.lines()) {
                *lines.entry(line.to_owned()).or_default() += 1;
            }
            lines
        };
        let (was, mut is) = (lines(old), lines(new));
        for (line, n) in was {
            *is.entry(line).or_default() -= n;
        }
        let count = |sign: i64| {
            let n: i64 = is.values().map(|n| (n * sign).max(0)).sum();
            usize::try_from(n).unwrap_or(0)
        };
        (old != new).then(|| Change {
            file: file.clone(),
            lines: new.map_or(0, |text| text.lines().count()),
            added: count(1),
            removed: count(-1),
        })
    };
    let files: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    files.into_iter().filter_map(change).collect()
}

/// How the files change, and what that means for the current setting, as text for the terminal.
fn told(args: &Bless, old: &Tables, changes: &[Change]) -> String {
    if changes.is_empty() {
        return format!("{}: nothing changes", args.baseline.display());
    }
    if old.is_empty() {
        return format!("{}: a new baseline", args.baseline.display());
    }
    let row = |c: &Change| {
        [
            c.file.clone(),
            c.lines.to_string(),
            format!("+{}", c.added),
            format!("-{}", c.removed),
        ]
        .to_vec()
    };
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    let files = show::table(&["file", "lines", "new", "gone"], &rows, 1);
    format!("{}\n\n{files}", compared(args))
}

/// Compares the current or chosen setting of the baseline with that of the result.
fn compared(args: &Bless) -> String {
    let sides = Side::read(&args.baseline, None)
        .and_then(|base| Ok((base, Side::read(&args.result, None)?)));
    let (base, new) = match sides {
        Ok(sides) => sides,
        Err(e) => return format!("not compared: {e}"),
    };
    let options = CompareOptions::default();
    match compare(&base, &new, &options) {
        Ok(comparison) => words(&Compared::new((base, new), comparison, options), args.list),
        Err(why) => why.to_string(),
    }
}

/// Asks the user on a terminal; without a terminal only `--yes` agrees.
fn agree(args: &Bless) -> Outcome {
    if args.yes {
        return Ok(());
    }
    let refuse = |what: &str| {
        Code::Usage.error(format!(
            "{}: left as it is: {what}",
            args.baseline.display()
        ))
    };
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(refuse("nobody to ask; --yes agrees"));
    }
    let mut stderr = std::io::stderr();
    let asked = write!(
        stderr,
        "make this the baseline {}? [y/N] ",
        args.baseline.display()
    );
    // Where nobody can be asked nobody agrees.
    asked.map_err(|_| refuse("nobody to ask; --yes agrees"))?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(refuse("not agreed")),
    }
}
