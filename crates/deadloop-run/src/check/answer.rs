//! [`check`]: checks a corpus, and returns its counts, findings and judged claims.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use serde_json::json;

use super::claims::{ClaimVerdict, JudgedClaim, judge_claims, read_claims};
use super::listing::list_findings;
use super::{CorpusCheck, CorpusCounts, Finding, Severity, check_corpus};
use crate::corpus::survey::{join_lines, suggest_import};
use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::layout::TextDocument;
use crate::option::STRICT;
use crate::settings::SettingsReader;
use crate::words::{count, number, several};

options! {
    /// The options of a check.
    pub struct CheckOptions {
        /// A corpus: a folder, or one .jsonl file
        pub corpus: PathBuf,
        /// Fail on warnings too
        #[arg(long)]
        pub strict: bool,
        /// Show every finding, not the first five of each kind
        #[arg(long)]
        pub all: bool,
        /// A file of claims about a guard, each held against the corpus
        #[arg(long, value_name = "FILE")]
        pub claims: Option<PathBuf>,
        /// The settings that the claims are about [default: the recommended guard]
        #[arg(long, value_name = "FILE", requires = "claims")]
        pub settings: Option<PathBuf>,
    }
}

/// The answer of [`check`].
pub struct CheckAnswer {
    /// The hash of the corpus.
    pub hash: String,
    /// The number of transcripts.
    pub transcripts: u64,
    /// Whether a transcript has a label.
    pub labelled: bool,
    /// The counts, and the results that the labels can prove.
    pub counts: CorpusCounts,
    /// The mean number of chars in a token by language, from texts with recorded tokens.
    pub chars_per_token: BTreeMap<String, f64>,
    /// The findings of each check, the worst first.
    pub findings: Vec<(&'static CorpusCheck, Vec<Finding>)>,
    /// The claims with their verdicts.
    pub claims: Vec<JudgedClaim>,
    /// The problems that keep the corpus from being scored, one a line.
    pub problems: String,
    /// A message that suggests an import, if the corpus consists of problems alone.
    pub foreign: Option<String>,
    strict: bool,
    all: bool,
}

/// Reads a corpus, counts it, checks it for causes of misleading figures, and judges claims on it.
///
/// # Errors
/// Returns an error if the claims or settings are bad, the corpus cannot be read, or the host stopped it.
pub fn check(options: &CheckOptions, host: &dyn Host) -> RunResult<CheckAnswer> {
    let claims = options.claims.as_deref().map(read_claims).transpose()?;
    let settings = SettingsReader::new(host).settings(options.settings.as_deref(), &[])?;
    let (surveyed, seen) = check_corpus(&options.corpus, host)?;
    let mut answer = CheckAnswer {
        hash: surveyed.hash,
        transcripts: seen.cases.len() as u64,
        labelled: seen.cases.iter().any(|case| case.truth.is_some()),
        counts: CorpusCounts::from_cases(&seen.cases),
        chars_per_token: seen.chars_per_token(),
        findings: seen.findings(),
        claims: Vec::new(),
        problems: join_lines(&seen.problems),
        foreign: suggest_import(&seen.problems).filter(|_| seen.cases.is_empty()),
        strict: options.strict,
        all: options.all,
    };
    if let Some(claims) = claims
        && answer.number(Severity::Error) == 0
        && !seen.cases.is_empty()
    {
        answer.claims = judge_claims(&claims, &settings, &options.corpus, host)?;
    }
    Ok(answer)
}

impl CheckAnswer {
    /// Counts the findings of a severity.
    pub fn number(&self, severity: Severity) -> u64 {
        let of = self.findings.iter();
        let of = of.filter(|(check, _)| check.severity == severity);
        of.map(|(_, findings)| findings.len() as u64).sum()
    }

    /// Returns an error if the corpus has problems, is empty, or in strict mode has warnings. `lists` adds the problems
    /// to the message.
    ///
    /// # Errors
    /// Returns an error in these cases.
    pub fn whole(&self, lists: bool) -> RunResult {
        let (errors, warnings) = (self.number(Severity::Error), self.number(Severity::Warning));
        if errors > 0 {
            let problems = several(errors, "problem");
            let what = format!("the corpus is not whole: {problems}");
            return Err(Code::Usage.error(if lists {
                format!("{what}\n{}", self.problems)
            } else {
                what
            }));
        }
        if self.transcripts == 0 {
            return Err(Code::NothingSelected.error("the corpus has no transcripts"));
        }
        if self.strict && warnings > 0 {
            let warnings = several(warnings, "warning");
            return Err(Code::Usage.error(format!("{warnings} ({STRICT})")));
        }
        Ok(())
    }

    /// Returns the failure if claims are refuted or cannot be judged.
    pub fn unproven(&self) -> Option<Failure> {
        let all = self.claims.len();
        let with = |verdict| {
            self.claims
                .iter()
                .filter(|of| of.verdict == verdict)
                .count()
        };
        match (with(ClaimVerdict::Refuted), with(ClaimVerdict::Open)) {
            (0, 0) => None,
            (0, n) => {
                let what = format!("the corpus is too small to decide {n} of {all} claims");
                Some(Code::TooLittle.error(what))
            }
            (n, _) => Some(Code::GateFailed.error(format!("{n} of {all} claims are refuted"))),
        }
    }
}

impl Display for CheckAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let whole = match self.number(Severity::Error) {
            0 => "whole",
            _ => "not whole",
        };
        let mut heading = format!("{whole}, hash {}\n{}", self.hash, self.counts.lines());
        let tokens = self.chars_per_token.iter();
        let tokens: Vec<String> = tokens.map(|(lang, n)| format!("{lang} {n:.1}")).collect();
        if !tokens.is_empty() {
            heading += &format!("\nchars per token, as recorded: {}", tokens.join(", "));
        }
        let mut text = TextDocument::default().prose(heading).lines(format!(
            "\n{}",
            list_findings(self, self.all, f.alternate())
        ));
        if !self.claims.is_empty() {
            let header = [
                "claim",
                "verdict",
                "value",
                "from",
                "to (95 %)",
                "labels more",
            ];
            let rows = self.claims.iter().map(claim_row).collect();
            text = text.lines("").table(&header, rows, 2..header.len());
        }
        text.fmt(f)
    }
}

fn claim_row(of: &JudgedClaim) -> Vec<String> {
    let digits = |x: Option<f64>| number(x, 3);
    vec![
        of.claim.clone(),
        of.verdict.name().to_owned(),
        digits(of.value),
        digits(of.lo),
        digits(of.hi),
        of.more.map_or_else(String::new, count),
    ]
}

serialize_as_json!(CheckAnswer, this => {
    let findings = this.findings.iter();
    let findings = findings.flat_map(|(check, all)| all.iter().map(move |one| one.to_json(check)));
    json!({
        "transcripts": this.transcripts, "hash": this.hash, "counts": this.counts.json(),
        "chars_per_token": this.chars_per_token, "claims": this.claims,
        "errors": this.number(Severity::Error), "warnings": this.number(Severity::Warning),
        "notes": this.number(Severity::Note), "findings": findings.collect::<Vec<_>>(),
    })
});
