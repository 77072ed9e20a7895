//! `deadloop import`: makes a corpus from recordings in other formats.

pub(super) use deadloop_run::import::ImportRunOptions;
use deadloop_run::import::{ImportEnd, import};

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop import recorded/ --out corpus\n  deadloop import ~/.claude/projects --dry-run\n  deadloop import --from auto-agents --out corpus --resume\n  deadloop import batch_output.jsonl chat.sse --from openai-chat --out corpus --on-bad skip\n  deadloop import answers.csv --text-field output --model-field engine --out corpus\n  deadloop import chats.jsonl --label --out corpus && deadloop tune corpus\n\nThe format of each file is detected from its content; plain text, Markdown and logs are an answer only with --from text. Files may be compressed with gzip or zstd. A .csv file has a header, and its columns are fields. In a folder, files that are no recordings are passed over and counted. Fields that have no place in a transcript are left out, and counted at the end.";

pub(super) fn run(args: &ImportRunOptions, global: GlobalArgs) -> Outcome {
    let imported = import(args, &Terminal::new(global))?;
    show::print_answer(&imported, global)?;
    let ImportEnd::Written(out) = &imported.end else {
        return Ok(());
    };
    let has_labels = out.join("labels.csv").is_file();
    let out = show::typed(out);
    if let ([first, rest @ ..], false) = (&imported.labels.stale[..], global.json) {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" and of {} more", show::count(n as u64)),
        };
        show::eprint(format_args!(
            "the text of {first}{more} has changed since somebody labelled it: read it again (deadloop show {out} {first})"
        ));
    }
    let next = match (&imported.labels.proposals, has_labels) {
        (Some(_), _) => [
            format!("deadloop tune {out}"),
            format!("deadloop label {out} --review"),
        ],
        (None, true) => [
            format!("deadloop check {out}"),
            format!("deadloop show {out}"),
        ],
        (None, false) => [
            format!("deadloop label {out}"),
            format!("deadloop show {out}"),
        ],
    };
    show::print_next(&next, global)
}
