//! [`compare`]: compares two settings on the same transcripts, and judges a gate.
//!
//! | to find | look in |
//! |---|---|
//! | a side, read from a folder or replayed | `sides` |
//! | `comparison.json`, `flips.csv`, and the commands that explain flips | `files` |
//! | the replacement of BASE by NEW | `bless` |
//! | a comparison with its sides, options and pinned cases | `pinned_comparison` |
//! | the gate on pinned cases | `pins` |
//! | output for a terminal, a pull request, JUnit | `terminal`, `markdown`, `junit` |

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use deadloop_score::{
    CompareOptions, FailCondition, Resampling, compare as compare_sides, write_text,
};
use serde::{Serialize, Serializer};

mod bless;
mod files;
mod junit;
mod markdown;
mod pinned_comparison;
mod pins;
mod sides;
mod terminal;

use bless::BaselineUpdate;
use files::{ComparisonFolder, explain_flips};
use junit::format_junit;
use markdown::format_markdown;
pub use pinned_comparison::{NoComparison, PinnedComparison};
pub use pins::PinComparison;
use pins::check_pins;
use sides::read_sides;

use crate::cases;
use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::{MARGIN, NOISE};
#[cfg(feature = "clap")]
use crate::option_words::{FAILS, word};
use crate::options::{JudgingOptions, SelectionOptions};
use crate::visible::visible;

options! {
    /// The sides to compare, and the gate.
    pub struct ComparisonOptions {
        /// The side in use: a folder that replay, sweep or tune wrote, a settings file, or the name of a preset
        pub base: PathBuf,
        /// The side to be judged, given in the same way
        pub new: PathBuf,
        /// The corpus on which settings files and presets are replayed, and which the commands to explain a flip name
        #[arg(long, value_name = "CORPUS")]
        pub corpus: Option<PathBuf>,
        /// The setting of a folder BASE [default: the chosen, the current or the only one]
        #[arg(long, value_name = "NAME")]
        pub base_setting: Option<String>,
        /// The setting of a folder NEW
        #[arg(long, value_name = "NAME")]
        pub new_setting: Option<String>,
        /// The options of the gate.
        #[command(flatten)]
        pub gate: GateOptions,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for judging alarms.
        #[command(flatten)]
        pub judge: JudgingOptions,
        /// The options for the output.
        #[command(flatten)]
        pub write: ComparisonOutputs,
    }
}

options! {
    /// The options of the gate.
    #[command(next_help_heading = "Gate")]
    pub struct GateOptions {
        /// The conditions that fail the gate: a verdict, a rate of wrong alarms that is not shown to be non-inferior, any
        /// flip
        #[arg(long, value_name = "WHAT", value_parser = word::<FailCondition>(FAILS), value_delimiter = ',', default_value = "regressed,inferior")]
        pub fail_on: Vec<FailCondition> = CompareOptions::default().fail_on,
        /// A file of pinned cases: the gate fails if any case flips; may be repeated
        #[arg(long, value_name = "FILE")]
        pub cases: Vec<PathBuf>,
        /// A difference up to this is noise, as recall=0.01; may be repeated [default: recall=0.01,
        /// fpr=0.005, fa_per_mchar=0.1, delay=20, saved=0.01]
        #[arg(long, value_name = "METRIC=X")]
        pub noise: Vec<String>,
        /// Wrong alarms per million chars that NEW may have more than BASE, by the upper bound
        #[arg(long, value_name = "X", default_value_t = 0.5)]
        pub margin: f64 = CompareOptions::default().margin,
    }
}

options! {
    /// The options for the output of a comparison.
    #[command(next_help_heading = "Writing")]
    pub struct ComparisonOutputs {
        /// A folder for comparison.json, flips.csv and the settings of both sides
        #[arg(long, value_name = "DIR")]
        pub out: Option<PathBuf>,
        /// A summary for a pull request, short enough for a comment
        #[arg(long, value_name = "FILE")]
        pub markdown: Option<PathBuf>,
        /// The gates and the flips as test results, JUnit XML
        #[arg(long, value_name = "FILE")]
        pub junit: Option<PathBuf>,
        /// Make NEW the baseline: its tables replace those in the folder BASE
        #[arg(long)]
        pub bless: bool,
        /// Overwrite these files
        #[arg(long)]
        pub force: bool,
    }
}

/// The answer of [`compare()`].
#[derive(Default)]
pub struct CompareAnswer {
    /// The comparison. `None` if the sides are not comparable, or if there was no baseline yet.
    pub comparison: Option<PinnedComparison>,
    /// The sides and the reasons, if they are not comparable.
    pub refused: Option<NoComparison>,
    /// The failure of the gate. `None` if it passed, or if NEW became the baseline.
    pub failure: Option<Failure>,
}

/// Compares two sides and writes the requested files. With `bless`, NEW then replaces the baseline, even if the gate
/// failed.
///
/// # Errors
/// Returns an error if a side cannot be read or replayed, a file cannot be written, or the host stopped it.
pub fn compare(options: &ComparisonOptions, host: &dyn Host) -> RunResult<CompareAnswer> {
    if !options.write.bless {
        return compare_and_judge(options, host);
    }
    let update = BaselineUpdate::from_options(options)?;
    let mut answer = CompareAnswer::default();
    if !update.is_first() {
        answer = compare_and_judge(options, host)?;
        if let Some(failure) = answer.failure.take() {
            host.notify(&failure.chain());
        }
    }
    update.write(host)?;
    Ok(answer)
}

/// Compares the sides, judges the gate and writes the requested files.
fn compare_and_judge(options: &ComparisonOptions, host: &dyn Host) -> RunResult<CompareAnswer> {
    let rules = options.gate.compare_options(options.select.seed)?;
    let pins = cases::read_cases(&options.gate.cases)?;
    let outputs = &options.write;
    let folder = ComparisonFolder::prepare(outputs, &input_paths(options), host)?;
    let (base, new) = read_sides(options, host)?;
    let comparison = match compare_sides(&base, &new, &rules) {
        Ok(comparison) => comparison,
        Err(why) => {
            let refused = NoComparison { base, new, why };
            write_if_requested(outputs.markdown.as_deref(), || refused.to_markdown())?;
            write_if_requested(outputs.junit.as_deref(), || refused.to_junit())?;
            return Ok(CompareAnswer {
                failure: Some(refused.failure()),
                refused: Some(refused),
                comparison: None,
            });
        }
    };
    let mut compared = PinnedComparison {
        base,
        new,
        options: rules,
        comparison,
        pinned: Vec::new(),
        command: None,
    };
    explain_flips(&mut compared, options);
    check_pins(&pins, &mut compared, host)?;
    folder.write(&compared)?;
    write_if_requested(outputs.markdown.as_deref(), || format_markdown(&compared))?;
    write_if_requested(outputs.junit.as_deref(), || format_junit(&compared))?;
    Ok(CompareAnswer {
        failure: compared.failure(),
        comparison: Some(compared),
        refused: None,
    })
}

/// Returns the paths of all input files and corpora.
fn input_paths(options: &ComparisonOptions) -> Vec<&Path> {
    let named = [&options.base, &options.new].into_iter();
    let named = named.chain(&options.corpus).chain(&options.gate.cases);
    named.map(PathBuf::as_path).collect()
}

fn write_if_requested(path: Option<&Path>, text: impl FnOnce() -> String) -> RunResult {
    let write = |path: &Path| write_text(path, &text());
    Ok(path.map_or(Ok(()), write)?)
}

impl PinnedComparison {
    /// Returns the failure if a gate was not passed.
    fn failure(&self) -> Option<Failure> {
        let unpassed = self.format_unpassed_gates();
        match self.comparison.passed() {
            Some(true) => None,
            Some(false) => Some(Code::GateFailed.error(format!("the gate failed: {unpassed}"))),
            None => {
                let what = format!("a gate that could not be evaluated does not pass: {unpassed}");
                Some(Code::TooLittle.error(what))
            }
        }
    }
}

impl NoComparison {
    /// Returns the failure that lists the reasons.
    fn failure(&self) -> Failure {
        let Self { base, new, why } = self;
        let problems: Vec<String> = why.problems.iter().map(|what| visible(what)).collect();
        let problems = problems.join("\n  ");
        Code::NotComparable.error(format!(
            "not comparable: BASE is {} of {}, NEW is {} of {}\n  {problems}",
            base.name, base.source, new.name, new.source
        ))
    }
}

impl Display for CompareAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let comparison = self.comparison.as_ref();
        comparison.map_or(Ok(()), |compared| compared.fmt(f))
    }
}

impl Serialize for CompareAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.comparison, &self.refused) {
            (Some(compared), _) => compared.serialize(serializer),
            (None, Some(refused)) => refused.serialize(serializer),
            (None, None) => serializer.serialize_none(),
        }
    }
}

impl GateOptions {
    fn compare_options(&self, seed: u64) -> RunResult<CompareOptions> {
        if !(self.margin >= 0.0 && self.margin.is_finite()) {
            let what = "expected a number from 0, wrong alarms per million chars";
            return Err(Code::Usage.at(MARGIN, format!("{}: {what}", self.margin)));
        }
        let mut options = CompareOptions {
            resampling: Resampling {
                seed,
                ..Resampling::default()
            },
            margin: self.margin,
            fail_on: self.fail_on.clone(),
            ..CompareOptions::default()
        };
        for text in &self.noise {
            let wrong = |what| Code::Usage.at(NOISE, format!("{text}: {what}"));
            let expected = "expected one of ended, recall, fpr, fa_per_mchar, delay, saved, and a number from 0, as recall=0.01";
            let (metric, x) = text.split_once('=').ok_or_else(|| wrong(expected))?;
            let floor = options.noise.named(metric.trim());
            let x = x.trim().parse().ok().filter(|x: &f64| *x >= 0.0);
            let (floor, x) = floor.zip(x).ok_or_else(|| wrong(expected))?;
            *floor = x;
        }
        Ok(options)
    }
}
