//! `deadloop check`: counts, findings and claims on a corpus.

use std::path::PathBuf;

use clap::Args;
use deadloop_run::check::{self, CheckSeen, CorpusCounts, Severity};

mod listing;

use listing::listing;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::settings::settings;
use crate::show;
use deadloop_run::{ClaimVerdict, JudgedClaim, foreign, judge_claims, read_claims};

pub(crate) const HELP: &str = "Examples:\n  deadloop check recordings/\n  deadloop check datasets/starter --strict --json\n  deadloop check recordings/ --claims claims.txt --settings settings.toml\n\nIt prints the counts first, and what the labels can prove. With an error, printed with its file and line, a corpus cannot be scored: exit code 2. Warnings name what would make scores wrong: near-duplicates across splits or groups, labels that the text contradicts, too few labels. They fail only with --strict. Notes name what the scores cannot say.\n\nA file of claims has one a line, as ended>=0.9 or fa_per_mchar<=1. `where` keeps it to a part: ended>=0.95 where kind = \"short-sequence\" and channel = \"reasoning\"; kind and channel are those of the label, other fields those of the transcript. The settings are replayed on the corpus. A claim holds if all of its 95 % interval (Wilson for a share, exact Poisson for a rate) is within it, and is refuted if none is. Else the table says how many labels more would decide at the same rate.\n\nExit codes: 0 fine, 2 the corpus is not whole, 4 it is empty, 5 it cannot tell whether a claim holds, 100 a claim is refuted.";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A corpus: a folder, or one .jsonl file
    corpus: PathBuf,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Show every finding, not the first five of each kind
    #[arg(long)]
    all: bool,
    /// A file of claims about a guard, each held against the corpus
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// The settings that the claims are about [default: the recommended guard]
    #[arg(long, value_name = "FILE", requires = "claims")]
    settings: Option<PathBuf>,
}

pub(super) fn run(args: &CheckArgs, global: GlobalArgs) -> Outcome {
    let claims = args.claims.as_deref().map(read_claims).transpose()?;
    let settings = settings(args.settings.as_deref(), &[])?;
    let (surveyed, seen) = check::check_corpus(&args.corpus, &Terminal::new(global))?;
    if let Some(what) = foreign(&seen.problems).filter(|_| seen.cases.is_empty() && !global.json) {
        return Err(Code::Usage.error(what));
    }
    let found = seen.findings();
    let of = |severity| check::count(&found, severity);
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let counts = CorpusCounts::from_cases(&seen.cases);
    let judged = match claims {
        Some(claims) if errors == 0 && !seen.cases.is_empty() => {
            judge_claims(&claims, &settings, &args.corpus, &Terminal::new(global))?
        }
        _ => Vec::new(),
    };
    if global.json {
        let report = serde_json::json!({
            "transcripts": seen.cases.len(), "hash": surveyed.hash, "counts": counts.json(),
            "chars_per_token": seen.chars_per_token(), "claims": judged, "errors": errors,
            "warnings": warnings, "notes": of(Severity::Note), "findings": check::json(&found),
        });
        show::print_json(&report)?;
    } else if !global.quiet {
        let whole = if errors == 0 { "whole" } else { "not whole" };
        let mut heading = format!("{whole}, hash {}\n{}", surveyed.hash, counts.lines());
        let tokens = seen.chars_per_token().into_iter();
        let tokens: Vec<String> = tokens.map(|(lang, n)| format!("{lang} {n:.1}")).collect();
        if !tokens.is_empty() {
            heading += &format!("\nchars per token, as recorded: {}", tokens.join(", "));
        }
        let heading = show::prose(&heading);
        show::print_styled(&format!("{heading}\n\n{}", listing(&found, args.all)))?;
        if !judged.is_empty() {
            show::print(&format!("\n{}", claims_table(&judged)))?;
        }
    }
    verdict(args, global, errors, warnings, &seen)?;
    let with = |verdict| judged.iter().filter(|of| of.verdict == verdict).count();
    match (with(ClaimVerdict::Refuted), with(ClaimVerdict::Open)) {
        (0, 0) => Ok(()),
        (0, n) => Err(Code::TooLittle.error(format!(
            "the corpus cannot tell whether {n} of {} claims hold",
            judged.len()
        ))),
        (n, _) => {
            Err(Code::GateFailed.error(format!("{n} of {} claims are refuted", judged.len())))
        }
    }
}

/// Formats the table of claims.
fn claims_table(judged: &[JudgedClaim]) -> String {
    let row = |of: &JudgedClaim| {
        let digits = |x: Option<f64>| show::number(x, 3);
        vec![
            of.claim.clone(),
            of.verdict.name().to_owned(),
            digits(of.value),
            digits(of.lo),
            digits(of.hi),
            of.more.map_or_else(String::new, show::count),
        ]
    };
    let rows: Vec<Vec<String>> = judged.iter().map(row).collect();
    show::table(
        &[
            "claim",
            "verdict",
            "value",
            "from",
            "to (95 %)",
            "labels more",
        ],
        &rows,
        2,
    )
}

fn verdict(
    args: &CheckArgs,
    global: GlobalArgs,
    errors: u64,
    warnings: u64,
    seen: &CheckSeen,
) -> Outcome {
    if errors > 0 {
        let listed: Vec<String> = seen.problems.iter().map(ToString::to_string).collect();
        // With --quiet or --json the errors are printed to stderr.
        let listed = if global.quiet || global.json {
            format!("\n{}", listed.join("\n"))
        } else {
            String::new()
        };
        return Err(Code::Usage.error(format!(
            "the corpus is not whole: {}{listed}",
            show::several(errors, "problem")
        )));
    }
    if seen.cases.is_empty() {
        return Err(Code::NothingSelected.error("the corpus has no transcripts"));
    }
    if args.strict && warnings > 0 {
        return Err(Code::Usage.error(format!("{} (--strict)", show::several(warnings, "warning"))));
    }
    let corpus = show::typed(&args.corpus);
    let labelled = seen.cases.iter().any(|case| case.truth.is_some());
    let next = if labelled {
        format!("deadloop tune {corpus} --out tuned")
    } else {
        format!("deadloop label {corpus}")
    };
    show::next(&[&next, &format!("deadloop show {corpus}")], global)
}
