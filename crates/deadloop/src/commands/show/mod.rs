//! `deadloop show`: prints a corpus as a list, or one transcript.

use std::path::PathBuf;

use clap::Args;
use deadloop_corpus::Entry;
use deadloop_score::{Class, LabelRow};
use serde::Serialize;
use serde_json::{Value as Json, json};

mod pager;

use deadloop_run::show::outline::{Size, lengths, size, start};
use deadloop_run::show::transcript;
use pager::print_paged;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show::{self, typed};
use deadloop_run::options::SelectionOptions;
use deadloop_run::visible::visible;
use deadloop_run::{CorpusSurvey, SurveyRequest, open, survey_with};

/// The end of the help text.
pub(crate) const HELP: &str = "\
Examples:
  deadloop show recordings/
  deadloop show recordings/ --model 'qwen*'
  deadloop show recordings/ t1
  deadloop show recordings/ t1 --all

In a transcript the labels are marked in the text: ⟦start⟧, ⟦onset⟧, ⟦end⟧. Text far from both ends and from every \
mark is folded. The turns and calls of a run are numbered from 0, as labels count them. On a terminal the output \
goes through $PAGER; in a pipe it is plain.

Exit codes: 0 fine, 4 nothing matches.";

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A corpus: a folder, or one .jsonl file
    corpus: PathBuf,
    /// The id of a transcript [default: all of them, a line each]
    transcript: Option<String>,
    /// Fold nothing
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    select: SelectionOptions,
}

/// The number of chars shown at both ends and around each mark. Text farther away is folded.
const CONTEXT_CHARS: usize = 400;

pub(super) fn run(args: &ShowArgs, global: GlobalArgs) -> Outcome {
    let wanted = SurveyRequest {
        path: &args.corpus,
        selection: args.select.selection()?,
        by: &[],
        entry: args.transcript.as_deref(),
        host: &Terminal::new(global),
    };
    let is_single = args.transcript.is_some();
    let corpus = open(&args.corpus)?;
    let (found, lines) = survey_with(corpus, wanted, |entry, case| {
        (!is_single).then(|| ListLine::from_entry(entry, case.class()))
    })?;
    match &args.transcript {
        Some(id) => print_one(args, id, &found, global),
        None => print_list(args, &found, lines.into_iter().flatten().collect(), global),
    }
}

/// A transcript in the list.
#[derive(Serialize)]
struct ListLine {
    id: String,
    model: String,
    #[serde(flatten)]
    size: Size,
    label: &'static str,
    start: String,
}

impl ListLine {
    fn from_entry(entry: &Entry, class: Option<Class>) -> Self {
        let t = &entry.transcript;
        Self {
            start: start(t),
            id: t.id.clone(),
            model: t.model.clone(),
            size: size(t),
            label: class.map_or("-", Class::name),
        }
    }
}

fn print_list(
    args: &ShowArgs,
    found: &CorpusSurvey,
    lines: Vec<ListLine>,
    global: GlobalArgs,
) -> Outcome {
    found.accept(args.select.skips(), &Terminal::silent())?;
    if !global.quiet {
        found.notify_rejected(&Terminal::new(global));
    }
    if global.json {
        return show::print_json(&json!({"transcripts": lines}));
    }
    let first = lines
        .first()
        .map(|line| typed(&line.id))
        .unwrap_or_default();
    print_paged(&list_table(lines))?;
    let corpus = typed(&args.corpus);
    show::print_next(&[&format!("deadloop show {corpus} {first}")], global)
}

/// Formats the list as a table. It has columns for calls and turns if any transcript is a run, and runs have no length
/// in chars.
fn list_table(lines: Vec<ListLine>) -> String {
    let runs = lines.iter().any(|line| line.size.is_run());
    let texts = lines.iter().any(|line| !line.size.is_run());
    let mut header = vec!["id", "model"];
    header.extend(runs.then_some(["calls", "turns"]).into_iter().flatten());
    header.extend(texts.then_some("chars"));
    let numbers = 2..header.len();
    header.extend(["label", "text"]);
    let row = |l: ListLine| {
        let count = |n: u64, shown: bool| {
            if shown {
                show::count(n)
            } else {
                "-".to_owned()
            }
        };
        let Size {
            chars,
            calls,
            turns,
        } = l.size;
        let run = l.size.is_run();
        let mut cells = vec![l.id, l.model];
        cells.extend(
            runs.then(|| [count(calls, run), count(turns, run)])
                .into_iter()
                .flatten(),
        );
        cells.extend(texts.then(|| count(chars, !run)));
        cells.extend([l.label.to_owned(), l.start]);
        // A row is one line, whatever its text contains.
        cells.iter().map(|cell| visible(cell)).collect()
    };
    let rows: Vec<Vec<String>> = lines.into_iter().map(row).collect();
    show::table_with(&header, &rows, numbers)
}

fn print_one(args: &ShowArgs, id: &str, found: &CorpusSurvey, global: GlobalArgs) -> Outcome {
    let (entry, _) = found.one(id, args.select.skips(), &Terminal::new(global))?;
    let labels = read_labels(found, entry)?;
    if global.json {
        return show::print_json(&transcript_json(entry, &labels));
    }
    let context = (!args.all).then_some(CONTEXT_CHARS);
    print_paged(&transcript(entry, &labels, context))?;
    let (corpus, id) = (typed(&args.corpus), typed(id));
    let next = [
        format!("deadloop explain {corpus} {id}"),
        format!("deadloop label {corpus} {id} --review"),
    ];
    show::print_next(&next, global)
}

/// Returns the labels of a transcript from labels.csv, or else from inside the transcript.
fn read_labels(found: &CorpusSurvey, entry: &Entry) -> Outcome<Vec<LabelRow>> {
    let refused = |problems: Vec<deadloop_corpus::Problem>| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Code::Usage.error(lines.join("\n"))
    };
    let beside = found.corpus.labels_csv().map(LabelRow::read).transpose();
    let mut rows = beside.map_err(refused)?.unwrap_or_default();
    rows.retain(|row| row.transcript == entry.transcript.id);
    if rows.is_empty() {
        LabelRow::inside(entry).map_err(refused)
    } else {
        Ok(rows)
    }
}

fn transcript_json(entry: &Entry, labels: &[LabelRow]) -> Json {
    let t = &entry.transcript;
    let [reasoning, answer] = lengths(t);
    let label = |row: &LabelRow| {
        json!({
            "class": row.class.name(), "kind": row.kind.map(|k| k.name()),
            "channel": row.channel.map(|c| c.name()), "start": row.start, "onset": row.onset,
            "earliest": row.earliest, "end": row.end, "period": row.period, "by": row.by,
            "note": row.note,
        })
    };
    json!({
        "id": t.id, "model": t.model, "profile": t.profile, "group": t.group, "lang": t.lang,
        "split": entry.split, "meta": t.meta, "events": t.events.len(),
        "chars": {"reasoning": reasoning, "answer": answer},
        "reasoning": t.reasoning(), "answer": t.answer(),
        "labels": labels.iter().map(label).collect::<Vec<_>>(),
    })
}
