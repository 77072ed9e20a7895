//! `deadloop compare`: two settings on the same transcripts, and the gate.
//!
//! | to find | look in |
//! |---|---|
//! | a side from a folder, or by a replay | `sides` |
//! | `comparison.json`, `flips.csv`, and the commands that explain flips | `files` |
//! | NEW in place of BASE | `bless` |
//! | the printed comparison | `comparing` |

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_score::{
    CompareOptions, FailCondition, NotComparable, Resampling, Side, compare, write_text,
};

mod bless;
mod files;
mod sides;

use bless::BaselineUpdate;
use files::{ComparisonFolder, FlipPlace, explain};
use sides::read_sides;

use crate::args::GlobalArgs;
use crate::comparison::{NoComparison, PinnedComparison, Pins, junit, markdown, words};
use crate::exit::{Code, Outcome};
use crate::show;
use crate::visible::visible;
use deadloop_run::option_words::{FAILS, word};
use deadloop_run::options::{JudgingOptions, SelectionOptions};

pub(crate) const HELP: &str = "Examples:\n  deadloop compare reports/baseline fresh\n  deadloop compare old.toml new.toml --corpus datasets/starter --out compared --markdown summary.md\n  deadloop compare document vllm --corpus datasets/starter --fail-on never\n  deadloop compare baseline fresh --bless\n\nA side that is not a folder is replayed on the corpus; --set changes NEW. The setting of a folder is the choice of tune or the current one of replay, unless --base-setting or --new-setting names another. Equal texts count once, in estimates, intervals and tests. Intervals are of a paired bootstrap over groups; ended, recall, fpr and the rate of wrong alarms are tested by exact sign flips over groups, the other metrics by their intervals. A metric has improved or regressed if its difference is more than chance and beyond the noise. It is equivalent if the 95 % interval is inside the noise. Otherwise it is inconclusive. Of all models together, loops ended and wrong alarms decide on NEW; the other rows are told.\n\n--bless makes NEW the baseline after the comparison is shown, whatever the gate says: BASE gets the tables of NEW (CSV, settings.toml) and its manifest, and no report. A folder BASE that does not exist is made.\n\nExit codes: 0 passed, 3 not comparable (other transcripts, texts or labels, an error), 4 nothing selected, 5 a gate could not be evaluated, 100 a gate failed.";

/// The sides to compare, and the gate.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The side in use: a folder that replay, sweep or tune wrote, a settings file, or the name of a preset
    pub(crate) base: PathBuf,
    /// The side to be judged, given in the same way
    pub(crate) new: PathBuf,
    /// The corpus on which settings files and presets are replayed, and which the commands to explain a flip name
    #[arg(long, value_name = "CORPUS")]
    pub(crate) corpus: Option<PathBuf>,
    /// The setting of a folder BASE [default: the chosen, the current or the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) base_setting: Option<String>,
    /// The setting of a folder NEW
    #[arg(long, value_name = "NAME")]
    pub(crate) new_setting: Option<String>,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) select: SelectionOptions,
    #[command(flatten)]
    pub(crate) judge: JudgingOptions,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// The options of the gate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gate")]
pub(crate) struct GateArgs {
    /// The conditions that fail the gate: a verdict, a rate of wrong alarms that is not shown to be non-inferior, any
    /// flip
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = word::<FailCondition>(FAILS),
        value_delimiter = ',',
        default_value = "regressed,inferior"
    )]
    pub(crate) fail_on: Vec<FailCondition>,
    /// A file of pinned cases: the gate fails if any case flips; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Vec<PathBuf>,
    /// A difference up to this is noise, as recall=0.01; may be repeated [default: recall=0.01,
    /// fpr=0.005, fa_per_mchar=0.1, delay=20, saved=0.01]
    #[arg(long, value_name = "METRIC=X")]
    pub(crate) noise: Vec<String>,
    /// Wrong alarms per million chars that NEW may have more than BASE, by the upper bound
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    pub(crate) margin: f64,
}

/// The options for the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WriteArgs {
    /// A folder for comparison.json, flips.csv and the settings of both sides
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A summary for a pull request, short enough for a comment
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// The gates and the flips as test results, JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Make NEW the baseline: its tables replace those in the folder BASE
    #[arg(long)]
    pub(crate) bless: bool,
    /// Overwrite these files
    #[arg(long)]
    pub(crate) force: bool,
}

/// The maximum number of flips listed on a terminal.
const LISTED: usize = 40;

impl GateArgs {
    fn options(&self, seed: u64) -> Outcome<CompareOptions> {
        if !(self.margin >= 0.0 && self.margin.is_finite()) {
            let what = "expected a number from 0, wrong alarms per million chars";
            return Err(Code::Usage.error(format!("--margin {}: {what}", self.margin)));
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
            let wrong = |what| Code::Usage.error(format!("--noise {text}: {what}"));
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

pub(super) fn run(args: &CompareArgs, global: GlobalArgs) -> Outcome {
    if !args.write.bless {
        return judge(args, global);
    }
    let blessing = BaselineUpdate::from_args(args)?;
    if !blessing.is_first() {
        match judge(args, global) {
            Err(failure) if JUDGED.contains(&failure.code()) => {
                show::remark(failure.chain());
            }
            judged => judged?,
        }
    }
    blessing.write(global)
}

/// The failures of a comparison that was still made and shown.
const JUDGED: [Code; 3] = [Code::GateFailed, Code::TooLittle, Code::NotComparable];

/// Compares both sides. Fails if a gate fails.
fn judge(args: &CompareArgs, global: GlobalArgs) -> Outcome {
    let options = args.gate.options(args.select.seed)?;
    let pins = Pins::read(&args.gate.cases)?;
    let out = ComparisonFolder::prepare(&args.write, &read(args))?;
    let (base, new) = read_sides(args, global)?;
    let place = FlipPlace::new(args, (&base, &new));
    match compare(&base, &new, &options) {
        Ok(comparison) => {
            let mut compared = PinnedComparison::new((base, new), comparison, options);
            explain(&mut compared, &place);
            pins.check(&mut compared)?;
            write_outputs(args, global, &compared, &out)
        }
        Err(why) => refuse(args, global, (&base, &new), &why),
    }
}

/// Returns the files and corpora that are read.
fn read(args: &CompareArgs) -> Vec<&Path> {
    let named = [&args.base, &args.new].into_iter().chain(&args.corpus);
    named
        .chain(&args.gate.cases)
        .map(PathBuf::as_path)
        .collect()
}

/// Writes the requested files and returns the result of the gate.
fn write_outputs(
    args: &CompareArgs,
    global: GlobalArgs,
    compared: &PinnedComparison,
    out: &ComparisonFolder,
) -> Outcome {
    out.write(compared)?;
    write(&args.write.markdown, || markdown(compared))?;
    write(&args.write.junit, || junit(compared))?;
    if global.json {
        show::print(&compared.json()?)?;
    } else if !global.quiet {
        show::print(&show::prose(&words(compared, LISTED)))?;
    }
    match compared.comparison.passed() {
        Some(true) => lead_on(args, global),
        Some(false) => {
            Err(Code::GateFailed.error(format!("the gate failed: {}", compared.list_unpassed())))
        }
        None => Err(Code::TooLittle.error(format!(
            "a gate that could not be evaluated does not pass: {}",
            compared.list_unpassed()
        ))),
    }
}

/// Prints the next command: `--bless` for folders, a replay for settings.
fn lead_on(args: &CompareArgs, global: GlobalArgs) -> Outcome {
    if args.write.bless {
        return Ok(());
    }
    let (base, new) = (show::typed(&args.base), show::typed(&args.new));
    let corpus = args.corpus.as_deref().map(show::typed);
    let folders = args.base.is_dir() && args.new.is_dir();
    let next = match corpus {
        Some(corpus) if !folders => {
            format!(
                "deadloop replay {corpus} --settings {new} --settings {base} --out compared-replay"
            )
        }
        _ => format!("deadloop compare {base} {new} --bless"),
    };
    show::next(&[&next], global)
}

/// Writes and returns the failure of sides that are not comparable. A pull request shows it too.
fn refuse(
    args: &CompareArgs,
    global: GlobalArgs,
    (base, new): (&Side, &Side),
    why: &NotComparable,
) -> Outcome {
    let refused = NoComparison { base, new, why };
    write(&args.write.markdown, || refused.markdown())?;
    write(&args.write.junit, || refused.junit())?;
    if global.json {
        show::print_json(&refused.json())?;
    }
    let problems: Vec<String> = why.problems.iter().map(|what| visible(what)).collect();
    let problems = problems.join("\n  ");
    Err(Code::NotComparable.error(format!(
        "not comparable: BASE is {} of {}, NEW is {} of {}\n  {problems}",
        base.name, base.source, new.name, new.source
    )))
}

fn write(path: &Option<PathBuf>, text: impl FnOnce() -> String) -> Outcome {
    let write = |path: &Path| write_text(path, &text());
    Ok(path.as_deref().map_or(Ok(()), write)?)
}
