//! `deadloop synth`: makes a labelled corpus from a spec and a seed.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_run::synth::{COUNTED, SynthSummary, make};
use deadloop_synth::spec::{KeyDoc, describe_keys};
use serde_json::{Map, Value, json};

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::progress::items_bar;
use crate::show;

/// The end of the help text.
pub(crate) const HELP: &str = r#"Examples:
  deadloop synth --spec spec.toml --out planted
  deadloop synth --keys

A spec (`--keys` tells every key, its bounds and default):
  name = "planted"
  seed = 1

  [[source]]                    # clean text: a corpus, or text files with paragraphs apart
  name = "prose"
  text = "prose-en.txt"
  lang = "en"

  [[item]]                      # sentences of the text itself, over and over
  name = "paragraphs"
  kind = "paragraph"
  count = 20
  period = [60, 900]
  copies = [4, 8]
  onset = [[700, 1999], [2000, 4999], [5000, 9000]]

  [[item]]                      # every second copy has another word in it; then it recovers
  name = "escaped"
  kind = "near-repeat"
  count = 10
  drift = { kind = "word", rate = 0.5 }
  after = [500, 2000]
  class = "transient"
  chunks = { by = "tokens", size = [1, 4] }

Paths in a spec start from its folder. The same spec, sources and seed give the same bytes, for any
--jobs, and every transcript has a seed of its own, so an item more does not change the others."#;

/// The arguments of `deadloop synth`.
#[derive(Debug, Args)]
pub(crate) struct SynthArgs {
    /// The spec of the corpus: a TOML file
    #[arg(long, value_name = "FILE", required_unless_present = "keys")]
    spec: Option<PathBuf>,
    /// The folder of the corpus
    #[arg(long, value_name = "CORPUS", required_unless_present = "keys")]
    out: Option<PathBuf>,
    /// Overwrite a corpus that synth wrote there
    #[arg(long)]
    force: bool,
    /// Only list every key of a spec: bounds, default, meaning
    #[arg(long, conflicts_with_all = ["spec", "out", "force"])]
    keys: bool,
}

pub(super) fn run(args: &SynthArgs, global: GlobalArgs) -> Outcome {
    match (&args.spec, &args.out) {
        (Some(spec), Some(out)) => {
            let bar = items_bar("making", 0, global.quiet);
            let step = |made, all| {
                bar.set_length(all);
                bar.set_position(made);
            };
            let made = make(spec, out, args.force, &Terminal::new(global), &step);
            bar.finish_and_clear();
            print_counts(&made?, out, global)
        }
        _ => print_keys(global),
    }
}

fn print_keys(global: GlobalArgs) -> Outcome {
    let keys = describe_keys();
    if global.json {
        return show::print_json(&keys);
    }
    for table in keys.chunk_by(|one, next| one.table == next.table) {
        let row = |key: &KeyDoc| {
            [&key.key, &key.expected, &key.default, &key.meaning]
                .map(String::clone)
                .to_vec()
        };
        let rows: Vec<Vec<String>> = table.iter().map(row).collect();
        let shown = show::table_within(&["key", "expected", "default", "meaning"], &rows, 100);
        show::print(&format!("{}\n{shown}\n", table[0].table))?;
    }
    show::print_next(&["deadloop synth --spec spec.toml --out corpus"], global)
}

/// Prints the counts of a synthetic corpus by item.
fn print_counts(made: &SynthSummary, out: &Path, global: GlobalArgs) -> Outcome {
    let items = made.counts.items();
    if global.json {
        let item = |(name, counts): &(String, [u64; 6])| {
            let counted = COUNTED.iter().zip(counts);
            let counts: Map<String, Value> =
                counted.map(|(key, n)| ((*key).into(), json!(n))).collect();
            (name.clone(), counts.into())
        };
        let items: Map<String, Value> = items.iter().map(item).collect();
        let told = json!({"name": made.name, "out": out.display().to_string(), "items": items});
        return show::print(&told.to_string());
    }
    if global.quiet {
        return Ok(());
    }
    let mut all = [0; 6];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (name, counts) in items {
        all.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        rows.push(counts_row(name, counts));
    }
    rows.push(counts_row("all", &all));
    let header: Vec<&str> = std::iter::once("item").chain(COUNTED).collect();
    show::print(&show::table(&header, &rows, 1))?;
    let out = show::typed(out);
    let next = [
        format!("deadloop check {out}"),
        format!("deadloop tune {out} --out tuned"),
    ];
    show::print_next(&next, global)
}

fn counts_row(name: &str, counts: &[u64; 6]) -> Vec<String> {
    let counts = counts.iter().map(|n| show::count(*n));
    std::iter::once(name.to_owned()).chain(counts).collect()
}
