//! What was proposed, as it is printed.

use std::path::Path;

use deadloop_detect::Kind;
use deadloop_score::Class;

use super::Label;
use super::proposing::{DOUBTFUL, Proposal};
use crate::args::Global;
use crate::exit::Outcome;
use crate::show::{self, typed};

/// Prints what was proposed as a table: transcripts by class, and repetitions by kind.
pub(super) fn tell(args: &Label, proposals: &[Proposal], labels: &Path, global: Global) -> Outcome {
    let doubtful = |p: &&Proposal| p.confidence < DOUBTFUL;
    let count = |n: usize| show::count(n as u64);
    let mut rows = Vec::new();
    let mut json = serde_json::Map::new();
    for class in Class::ALL {
        let of: Vec<&Proposal> = proposals.iter().filter(|p| p.class == class).collect();
        let uncertain = of.iter().copied().filter(doubtful).count();
        json.insert(
            class.name().into(),
            serde_json::json!({"transcripts": of.len(), "uncertain": uncertain}),
        );
        rows.push(vec![class.name().into(), count(of.len()), count(uncertain)]);
        let spans = of
            .iter()
            .flat_map(|p| &p.rows)
            .filter(|row| row.class == class);
        let kinds: Vec<Kind> = spans.filter_map(|row| row.kind).collect();
        for kind in Kind::ALL {
            let n = kinds.iter().filter(|k| **k == kind).count();
            if n > 0 {
                rows.push(vec![format!("  {kind}"), count(n), String::new()]);
            }
        }
    }
    let uncertain = proposals.iter().filter(doubtful).count();
    if global.json {
        let told = serde_json::json!({
            "labels": labels.display().to_string(), "transcripts": proposals.len(),
            "uncertain": uncertain, "classes": json,
        });
        return show::print(&told.to_string());
    }
    if global.quiet {
        return Ok(());
    }
    rows.retain(|row| row[1] != "0");
    rows.push(vec!["all".into(), count(proposals.len()), count(uncertain)]);
    show::print(&show::table(&["proposed", "count", "uncertain"], &rows, 1))?;
    show::print(&format!(
        "\n{}: proposals, reviewed by nobody; uncertain: confidence below {DOUBTFUL}",
        labels.display()
    ))?;
    let of = |class| proposals.iter().filter(|p| p.class == class).count();
    if of(Class::Transient) > of(Class::Loop) {
        show::print(
            "more repetitions ended than went on: one at the end of a response that ended by itself (finish reason stop) counts as ended",
        )?;
    }
    let corpus = args.corpus.as_deref().map(typed).unwrap_or_default();
    let out = args
        .out
        .as_deref()
        .map(|out| format!(" --out {}", typed(out)));
    let out = out.unwrap_or_default();
    let next = [
        format!("deadloop label {corpus} --review{out}"),
        format!("deadloop check {corpus}"),
    ];
    show::next(&next.each_ref().map(String::as_str), global)
}
