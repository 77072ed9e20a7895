//! What the command line takes. The help texts here are the reference of the program.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Offline evaluation and tuning harness for LLM dead-loop detectors.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Global {
    /// Threads to work with [default: one a core]
    #[arg(long, short = 'j', global = true, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Machine-readable result on stdout, all else on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: sweep a grid, cross-validate, choose a setting per model, write the evidence
    #[command(
        after_help = "Examples:\n  deadloop tune datasets/starter\n  deadloop tune recordings.jsonl.zst --grid grid.toml --out tuned --constraint 'fa_per_mchar<=0.5'\n\nThe folder holds report.html, settings.toml (what production loads), choice.csv and every table. The same\ncommand resumes where it was interrupted."
    )]
    Tune(Tune),
    /// Scores of every cell of a grid, no choice; resumes where it stopped
    #[command(
        after_help = "Example:\n  deadloop sweep datasets/starter --grid grid.toml --out swept"
    )]
    Sweep(Sweep),
    /// One setting, or several files of settings: what fires where, and how good that is
    #[command(
        after_help = "Examples:\n  deadloop replay datasets/starter --settings tuned/settings.toml --split test --out tested\n  deadloop replay recordings.jsonl --out seen --set guard.params.every=1000"
    )]
    Replay(Replay),
    /// One transcript: what each check saw, where, and which threshold decided
    #[command(
        after_help = "Examples:\n  deadloop explain datasets/starter planted/000/short-sequence/under-2000 --settings settings.toml\n  deadloop explain recordings.jsonl t1 --presets --context 400\n\nThe first settings are told in full, the others in a table: where they fire, or how near they came. A near miss is the fact that the fewest thresholds refuse, then the one with the smallest gap between what was measured and what is wanted. To see them, facts are measured down to a tenth of what each threshold asks for (ten times, where it is an upper bound); rows of `rules` stay as they are."
    )]
    Explain(Explain),
    /// Reads a live stream on stdin and says when it would abort: exit code 10 on an alarm
    #[command(
        after_help = "Examples:\n  curl -N … | deadloop watch --settings settings.toml --model qwen3-8b\n  curl -N … | deadloop watch --settings settings.toml --passthrough | ./client\n  ollama run qwen3 'Plan my trip.' | deadloop watch --json\n\nThe stream is plain text (with <think>…</think> before the answer), JSON lines (events of a\ntranscript, Ollama) or server-sent events (OpenAI chat completions and responses, Anthropic\nmessages), told by its content. After an alarm nothing is waited for: the program ends, and\nwhoever writes the stream finds the pipe closed. With --passthrough the copy ends with the event\nthat held the alarm: at its char in plain text, else at its line.\n\nExit codes: 0 the stream ended without an alarm, 10 alarm, 130 interrupted."
    )]
    Watch(Watch),
    /// Renders the report of a result folder again; runs nothing
    #[command(after_help = "Example:\n  deadloop report tuned")]
    Report(Report),
    /// Whether a corpus is whole, and what in it makes numbers lie
    #[command(
        after_help = "Examples:\n  deadloop check recordings/\n  deadloop check datasets/starter --strict --json\n\nErrors are what keeps a corpus from being scored, each with its file and line: exit code 2. Warnings\nare what makes scores wrong: near-duplicates across splits or groups, labels that the text contradicts,\ntoo few labels. They fail with --strict alone. Notes are what the scores cannot say."
    )]
    Check(crate::commands::Check),
    /// What is in a corpus: models, loops, lengths, and what its labels can prove
    #[command(
        after_help = "Examples:\n  deadloop stats datasets/starter\n  deadloop stats datasets/starter --model 'smollm*' --json"
    )]
    Stats(crate::commands::Stats),
    /// Detectors, their parameters (S structural, T threshold), bounds, defaults and presets
    #[command(after_help = "Examples:\n  deadloop detectors\n  deadloop detectors --json")]
    Detectors,
}

#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The grid to search [default: a grid of every text detector]
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: Option<PathBuf>,
    /// The settings in use now, to compare with [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// What a setting has to meet: metric<=number or metric>=number; may be repeated
    #[arg(
        long = "constraint",
        value_name = "EXPR",
        default_value = "fa_per_mchar<=1"
    )]
    pub(crate) constraints: Vec<String>,
    /// What it is to be best in
    #[arg(long, value_name = "METRIC", default_value = "saved")]
    pub(crate) objective: String,
    /// Folds of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=100))]
    pub(crate) folds: u64,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR", default_value = "deadloop-tune")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The grid
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: PathBuf,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// Settings files; the first is taken for the current one [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Also every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) judge: Judge,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The id of a transcript
    pub(crate) transcript: String,
    /// Settings files; the first is told in full [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Also every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    /// How much text is shown before and after the onset and the alarm
    #[arg(long, value_name = "CHARS", default_value_t = 200)]
    pub(crate) context: u64,
    /// A line that is bad: stop, or leave it out
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
    #[command(flatten)]
    pub(crate) judge: Judge,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The settings [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// The model that is listened to: its guard in the settings watches
    #[arg(long, value_name = "NAME", default_value = "unknown")]
    pub(crate) model: String,
    /// Change settings on the way, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// How the stream is written [default: told by its content]
    #[arg(long, value_enum)]
    pub(crate) from: Option<From>,
    /// Copy the stream to stdout as it arrives, up to the alarm; all else goes to stderr
    #[arg(long)]
    pub(crate) passthrough: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// Plain text, though it may look like JSON
    Text,
    /// One JSON object a line
    Jsonl,
    /// Server-sent events
    Sse,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A folder that tune, sweep or replay left
    pub(crate) dir: PathBuf,
}

/// Which transcripts are meant, and what is done with bad ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selecting")]
pub(crate) struct Select {
    /// Only models that match; may be repeated
    #[arg(long = "model", value_name = "GLOB")]
    pub(crate) models: Vec<String>,
    /// Only this split
    #[arg(long, value_name = "NAME")]
    pub(crate) split: Option<String>,
    /// Only this language
    #[arg(long, value_name = "TAG")]
    pub(crate) lang: Option<String>,
    /// Only transcripts with this field (on meta too); may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) wheres: Vec<String>,
    /// Only the first N that are meant
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only N of them, drawn at random
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Seed of every random draw
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A line that is bad: stop, or leave it out, count it, and list it in rejected.jsonl of the results
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnBad {
    /// Nothing is scored on a corpus that is not whole; every problem is listed
    Fail,
    /// Leave bad transcripts out, count and list them
    Skip,
}

/// How alarms are judged (scoring.md).
#[derive(Debug, Args)]
#[command(next_help_heading = "Judging")]
pub(crate) struct Judge {
    /// Change settings on the way, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Replay as if all text had come in chunks of N chars
    #[arg(long, value_name = "N")]
    pub(crate) chunks: Option<NonZeroU64>,
    /// Which position of an alarm counts
    #[arg(long, value_enum, default_value_t = At::Delivered)]
    pub(crate) at: At,
    /// Chars before the onset at which an alarm is right already
    #[arg(long, value_name = "CHARS", default_value_t = 0)]
    pub(crate) early: u64,
    /// Chars after the onset from which a right alarm is too late [default: none]
    #[arg(long, value_name = "CHARS")]
    pub(crate) deadline: Option<u64>,
    /// Chars after the end of a loop at which an alarm is still right
    #[arg(long, value_name = "CHARS", default_value_t = 0)]
    pub(crate) grace: u64,
    /// Repetitions that end by themselves
    #[arg(long, value_enum, default_value_t = Transient::Ignore)]
    pub(crate) transient: Transient,
    /// Most chars that a miss may cost in `delay` [default: the whole loop]
    #[arg(long, value_name = "CHARS")]
    pub(crate) horizon: Option<u64>,
    /// What a false alarm costs beside a miss, for `utility`
    #[arg(long, value_enum, default_value_t = Profile::Interactive)]
    pub(crate) profile: Profile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum At {
    /// The end of the chunk: what a live integration sees
    Delivered,
    /// The char at which it is known
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transient {
    /// In a column of their own, in no ratio
    Ignore,
    /// As clean text
    Clean,
    /// As loops
    Loop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Lambda 10
    Interactive,
    /// Lambda 3
    Batch,
    /// Lambda 1
    Ci,
}

/// What is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Output {
    /// A further breakdown of the scores by a field, as meta.source; may be repeated
    #[arg(long = "by", value_name = "FIELD")]
    pub(crate) by: Vec<String>,
    /// Also outcomes.csv
    #[arg(long)]
    pub(crate) csv: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    pub(crate) force: bool,
}
