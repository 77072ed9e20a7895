//! `--merge`: merges the answers of two reviewers into one file.

use std::path::Path;

use deadloop_run::apart;
use deadloop_run::label::{MergeCounts, labels_of, merged};
use deadloop_score::write_labels;

use super::LabelArgs;
use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show::{self, count, typed};

/// Writes the answers of both reviewers, and prints how many agree.
pub(super) fn merge(args: &LabelArgs, global: GlobalArgs, (a, b): (&Path, &Path)) -> Outcome {
    let Some(out) = &args.out else {
        return Err(Code::Usage.error("--merge: no file to write; name it with --out"));
    };
    show::refuse_over(out, args.force)?;
    apart(&[("--out", out.clone())], &[a, b])?;
    let host = Terminal::new(global);
    let (first, second) = (labels_of(a, &host)?, labels_of(b, &host)?);
    let (rows, merged) = merged(&first, &second);
    write_labels(out, &rows)?;
    let text = || show::prose(&merge_summary(merged, out));
    show::answer(&serde_json::json!({ "merged": merged }), text, global)?;
    let corpus = args.corpus.as_deref().map_or("CORPUS".into(), typed);
    let next = match merged.differ {
        0 => format!("deadloop check {corpus}"),
        _ => format!("deadloop label {corpus} --review --out {}", typed(out)),
    };
    show::next(&[&next], global)
}

fn merge_summary(merged: MergeCounts, out: &Path) -> String {
    let MergeCounts {
        same,
        differ,
        only_first,
        only_second,
        nobody,
    } = merged;
    format!(
        "{}: {} alike, {} reviewed by one alone, {} by nobody; {} differ, and are to be reviewed again",
        out.display(),
        count(same),
        count(only_first + only_second),
        count(nobody),
        count(differ)
    )
}
