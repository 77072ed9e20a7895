//! Proposed labels of a corpus, for `label` and `import --label`.

use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, Problem, Selection};
use deadloop_detect::Kind;
use deadloop_run::label::{loop_rate, of_class, proposed, uncertain};
use deadloop_run::{foreign, refuse_machine};
use deadloop_score::Class;
use deadloop_score::proposals::{DOUBTFUL, Proposal};

use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::options::OnBad;

/// Proposes labels for every selected transcript, or for the `unlabelled` ones. Bad records are handled as `on_bad` sets.
pub(crate) fn proposals(
    corpus: &Corpus,
    selection: &Selection,
    unlabelled: bool,
    on_bad: OnBad,
    quiet: bool,
) -> Outcome<Vec<Proposal>> {
    let found = proposed(corpus, selection, unlabelled, &Terminal { quiet })?;
    refuse(&found.problems, found.empty, on_bad, quiet)?;
    if found.proposals.is_empty() {
        let what =
            "no transcript is selected; in a folder, --out takes those with labels inside too";
        return Err(Code::NothingSelected.error(what));
    }
    Ok(found.proposals)
}

/// Refuses a corpus with problems, or prints them with `--on-bad skip`. `all` says that the corpus has no good
/// transcript.
fn refuse(problems: &[Problem], all: bool, on_bad: OnBad, quiet: bool) -> Outcome {
    refuse_machine(problems)?;
    if let Some(what) = foreign(problems).filter(|_| all && on_bad == OnBad::Fail) {
        return Err(Code::Usage.error(what));
    }
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    match on_bad {
        _ if problems.is_empty() => {}
        OnBad::Fail => {
            let hint = "nothing was labelled; mend them, or leave them out with --on-bad skip";
            let what = format!("the corpus is not whole\n{}\n{hint}", lines.join("\n"));
            return Err(Code::Usage.error(what));
        }
        OnBad::Skip if !quiet => show::remark(format_args!("left out:\n{}", lines.join("\n"))),
        OnBad::Skip => {}
    }
    Ok(())
}

/// Formats the proposals as a table: transcripts by class, and repetitions by kind.
pub(crate) fn table(proposals: &[Proposal], labels: &Path) -> String {
    let count = |n: usize| show::count(n as u64);
    let mut rows = Vec::new();
    for class in Class::ALL {
        let of = of_class(proposals, class);
        if of.is_empty() {
            continue;
        }
        let uncertain = uncertain(of.iter().copied());
        rows.push(vec![class.name().into(), count(of.len()), count(uncertain)]);
        let spans = of.iter().flat_map(|p| &p.rows);
        let spans = spans.filter(|row| row.class == class);
        let kinds: Vec<Kind> = spans.filter_map(|row| row.kind).collect();
        for kind in Kind::ALL {
            let n = kinds.iter().filter(|k| **k == kind).count();
            if n > 0 {
                rows.push(vec![format!("  {kind}"), count(n), String::new()]);
            }
        }
    }
    let doubtful = uncertain(proposals);
    rows.push(vec!["all".into(), count(proposals.len()), count(doubtful)]);
    let mut text = show::table(&["proposed", "count", "uncertain"], &rows, 1);
    text += &format!(
        "\n\n{}: proposals, reviewed by nobody; uncertain: confidence below {DOUBTFUL}",
        labels.display()
    );
    let of = |class| of_class(proposals, class).len();
    if of(Class::Transient) > of(Class::Loop) {
        text += "\nmore repetitions ended than went on: one at the end of a response that ended by itself (finish reason stop) counts as ended";
    }
    if let Some(rate) = loop_rate(proposals) {
        text += &format!(
            "\n{} of {} loop; if these are all the responses of some time, and no selection, guess --loop-rate 1/{:.0}",
            count(of(Class::Loop)),
            count(proposals.len()),
            1.0 / rate,
        );
    }
    text
}

/// Returns the default file of labels: `labels.csv` in the folder of the corpus, or `<its name>.labels.csv` beside a
/// corpus of one file.
pub(crate) fn beside(corpus: &Path) -> PathBuf {
    if corpus.is_dir() {
        return corpus.join("labels.csv");
    }
    let name = corpus.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty());
    corpus.with_file_name(format!("{}.labels.csv", stem.unwrap_or("corpus")))
}
