//! [`explain`]: explains settings or repairers on one transcript of a corpus.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::paint::Paint;
use super::{ExplainRequest, Explanation};
use crate::corpus::survey::{SurveyRequest, survey};
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::options::{JudgingOptions, OnBad};
use crate::repair::{explain_steps, format_steps};
use crate::settings::SettingsReader;

/// The number of chars shown before and after the onset and the alarm.
const CONTEXT_CHARS: u64 = 200;

options! {
    /// The options of an explanation.
    pub struct ExplainOptions {
        /// A corpus: a folder, or one .jsonl file; or the folder of a result: its corpus, seen
        /// through its settings and judged by its rules
        pub corpus: PathBuf,
        /// The id of a transcript
        pub transcript: String,
        /// Settings files; the first is explained in full [default: the recommended guard]
        #[arg(long, value_name = "FILE")]
        pub settings: Vec<PathBuf>,
        /// Add every preset of every detector
        #[arg(long)]
        pub presets: bool,
        /// Show instead what the repairers of this file do to the transcript, step by step
        #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "presets"])]
        pub repair: Option<PathBuf>,
        /// The handling of a bad line: stop, or leave it out
        #[arg(long, value_enum, default_value_t = OnBad::Fail)]
        pub on_bad: OnBad,
        /// The options for judging alarms.
        #[command(flatten)]
        pub judge: JudgingOptions,
    }
}

/// The answer of [`explain`].
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ExplainAnswer {
    /// The explanation of settings.
    Settings(Box<Explanation>),
    /// The steps of each repairer, as JSON.
    Repair(Vec<Value>),
}

/// Explains what settings, or the repairers of a file, do to one transcript.
///
/// # Errors
/// Returns an error if settings or repairers are bad, no transcript has the id, the corpus is not whole, a program does
/// not start, or the host stopped it.
pub fn explain(options: &ExplainOptions, host: &dyn Host) -> RunResult<ExplainAnswer> {
    let (reader, judge) = (SettingsReader::new(host), &options.judge);
    let named = reader.named(&options.settings, options.presets, judge)?;
    let found = survey(SurveyRequest {
        entry: Some(&options.transcript),
        ..SurveyRequest::all(&options.corpus, host)
    })?;
    let skips = options.on_bad == OnBad::Skip;
    let (entry, case) = found.one(&options.transcript, skips, host)?;
    if let Some(file) = &options.repair {
        let repair_steps = explain_steps(&reader.text(file)?, &entry.transcript)
            .map_err(|what| Code::Usage.error(format!("{}:{what}", file.display())))?;
        return Ok(ExplainAnswer::Repair(repair_steps));
    }
    let question = ExplainRequest {
        transcript: &entry.transcript,
        case,
        // For a transcript with labels in several units, any unit will do.
        judge: judge
            .options_for(std::slice::from_ref(case))
            .unwrap_or_else(|_| judge.options()),
        chunks: judge.chunks,
        context: CONTEXT_CHARS,
    };
    let explained = question.explain(&named, host)?;
    Ok(ExplainAnswer::Settings(Box::new(explained)))
}

impl Display for ExplainAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(explained) => {
                let paint = Paint::new(f.alternate(), f.width());
                f.write_str(super::text::format_explanation(explained, paint).trim_end())
            }
            Self::Repair(told) => f.write_str(&format_steps(told)),
        }
    }
}
