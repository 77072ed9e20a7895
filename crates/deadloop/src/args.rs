//! What the command line takes. The help texts here are the reference of the program.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum};

use deadloop_corpus::Shard;
use serde::{Deserialize, Serialize};

use crate::commands::{self, synth};
use crate::sharding::Parts;

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
        after_help = "Examples:\n  deadloop tune datasets/starter\n  deadloop tune recordings.jsonl.zst --grid grid.toml --out tuned --constraint 'fa_per_mchar<=0.5'\n  deadloop tune clean.jsonl --budget 1/Mchar\n  deadloop tune recordings.jsonl.zst --grid huge.toml --search lhs --structures 40\n\nThe folder holds report.html, settings.toml (what production loads), choice.csv and every table. The same\ncommand resumes where it was interrupted."
    )]
    Tune(commands::Tune),
    /// Scores of every cell of a grid, no choice; resumes where it stopped
    #[command(
        after_help = "Example:\n  deadloop sweep datasets/starter --grid grid.toml --out swept"
    )]
    Sweep(Sweep),
    /// One setting, or several files of settings: what fires where, and how good that is
    #[command(
        after_help = "Examples:\n  deadloop replay datasets/starter --settings tuned/settings.toml --split test --out tested\n  deadloop replay recordings.jsonl --out seen --set guard.params.min_copies=8"
    )]
    Replay(Replay),
    /// The guard between any client and any server of LLM streams
    #[command(after_help = commands::PROXY_HELP)]
    Proxy(commands::Proxy),
    /// Parts that shards left, put together: what one machine would have left
    #[command(after_help = commands::MERGE_HELP)]
    Merge(commands::Merge),
    /// A setting as the configuration of a guard that people already run, and what is lost by that
    #[command(after_help = commands::EXPORT_HELP)]
    Export(commands::Export),
    /// One transcript: what each check saw, where, and which threshold decided
    #[command(
        after_help = "Examples:\n  deadloop explain datasets/starter planted/000/short-sequence/under-2000 --settings settings.toml\n  deadloop explain recordings.jsonl t1 --presets --context 400\n\nThe first settings are told in full, the others in a table: where they fire, or how near they came. A near miss is the fact that the fewest thresholds refuse, then the one with the smallest gap between what was measured and what is wanted. To see them, facts are measured down to a tenth of what each threshold asks for (ten times, where it is an upper bound); rows of `rules` stay as they are."
    )]
    Explain(Explain),
    /// Reads a live stream on stdin and says when it would abort: exit code 10 on an alarm
    #[command(
        after_help = "Examples:\n  curl -N … | deadloop watch --settings settings.toml --model qwen3-8b\n  curl -N … | deadloop watch --settings settings.toml --passthrough | ./client\n  ollama run qwen3 'Plan my trip.' | deadloop watch --json\n  curl -N … | deadloop watch --think open    # the prompt ends with <think>\n\nThe stream is plain text (with <think>…</think> before the answer), JSON lines (events of a\ntranscript, Ollama) or server-sent events (OpenAI chat completions and responses, Anthropic\nmessages), told by its content. The guard is that of the model that the stream names, or of --model.\nAfter an alarm nothing is waited for: the program ends, and\nwhoever writes the stream finds the pipe closed. With --passthrough the copy ends with the event\nthat held the alarm: at its char in plain text, else at its line.\n\nExit codes: 0 the stream ended without an alarm, 2 nothing came, or nothing that could be read, 10 alarm,\n130 interrupted."
    )]
    Watch(Watch),
    /// Brings recordings in other formats in as a corpus
    #[command(
        after_help = "Examples:\n  deadloop import recorded/ --out corpus\n  deadloop import batch_output.jsonl chat.sse --from openai-chat --out corpus --on-bad skip\n  deadloop import answers.csv --text-field output --model-field engine --out corpus\n\nA .csv has a header; its columns are fields.\nThe format of each file is told by its content. What a format's fields have no place for in a\ntranscript is counted and named at the end. Files may be packed with gzip or zstd."
    )]
    Import(commands::Import),
    /// Repairers of faulty streams: how many they recover, how often wrongly, which to take
    #[command(
        after_help = "Examples:\n  deadloop synth --spec datasets/faults/spec.toml --out faults\n  deadloop repair faults --out repaired\n  deadloop repair faults --grid grid.toml --limit 1 --in-use tags/seed-002 --out repaired\n\nA grid:\n  [[repairer]]\n  name = \"tags\"            # think, tags, json, names, filter, replay, or command: a program\n  presets = true\n  [repairer.params]\n  edits = [0, 1, 2]\n\nWrong is an action that the truth does not have, or with other arguments; of each repairer the variant is taken that\nrecovers most within the limit. The folder holds report.html (a matrix of faults and variants, every wrong one to\nopen), settings.toml, repairs.parquet and scores.parquet; arguments.csv where real arguments are no JSON."
    )]
    Repair(commands::Repair),
    /// How many loops and how much clean text a claim, or a difference, takes
    #[command(
        after_help = "Examples:\n  deadloop power --claim 'fa_per_mchar<=1' --claim 'recall>=0.9'\n  deadloop power --claim 'recall>=0.9' --truth 0.95\n  deadloop power --claim 'recall>=0.9' --claim 'fa_per_mchar<=1' --truth recall=0.95 --truth fa_per_mchar=0.5\n  deadloop power --difference recall --from 0.80 --to 0.90\n\nAll of it is exact: binomial (Clopper-Pearson), Poisson, McNemar; no normal approximation."
    )]
    Power(commands::Power),
    /// Renders the report of a result folder again; runs nothing
    #[command(
        after_help = "Examples:\n  deadloop report tuned --open\n  deadloop report tuned --redact\n  deadloop report tuned --comparison compared\n  deadloop report tuned --png\n\nWrites report.html, report.md and, for each chart, charts/NAME.svg and charts/NAME.csv with its numbers. --png adds charts/NAME.png, written with the fonts in this system's font folders (/usr/share/fonts, /usr/local/share/fonts, ~/.fonts, ~/.local/share/fonts; those of macOS and Windows): each char by the first font that has it. Chinese, Japanese and Korean names need such a font (Debian: fonts-noto-cjk); chars that no font has are left out and named. SVG and page need none of this: there the viewer's fonts are used. Charts of an earlier report are replaced, PNG files that are not asked for again are removed."
    )]
    Report(Report),
    /// Labels: proposed by the offline loop finder, reviewed on a terminal, compared
    #[command(
        after_help = "Examples:\n  deadloop label recordings/                         proposes labels, writes recordings/labels.csv\n  deadloop label recordings/ --review                asks about them, the most uncertain first\n  deadloop label recordings/ --review --id t1       asks about this one, reviewed or not (--again: about all)\n  deadloop label --agreement ann.csv bob.csv recordings/\n\nA proposed row has by = auto, a reviewed one by = review:NAME. A review saves after every answer and\ngoes on where it stopped. Where stdin is no terminal it reads keys from lines: l c t u (loop, clean,\ntransient, unsure), < > (onset by a char), [ ] (by a copy), z (undo), s (skip), q (quit)."
    )]
    Label(commands::Label),
    /// Whether a corpus is whole, and what in it makes numbers lie
    #[command(
        after_help = "Examples:\n  deadloop check recordings/\n  deadloop check datasets/starter --strict --json\n\nErrors are what keeps a corpus from being scored, each with its file and line: exit code 2. Warnings\nare what makes scores wrong: near-duplicates across splits or groups, labels that the text contradicts,\ntoo few labels. They fail with --strict alone. Notes are what the scores cannot say."
    )]
    Check(commands::Check),
    /// What is in a corpus: models, loops, lengths, and what its labels can prove
    #[command(
        after_help = "Examples:\n  deadloop stats datasets/starter\n  deadloop stats datasets/starter --model 'smollm*' --json"
    )]
    Stats(commands::Stats),
    /// A labelled corpus from a spec and a seed: loops planted into clean text, hard negatives
    #[command(after_help = synth::HELP)]
    Synth(synth::Synth),
    /// Two settings on the same transcripts: what moved, which transcripts flipped, and a gate
    #[command(
        after_help = "Examples:\n  deadloop compare reports/baseline fresh\n  deadloop compare old.toml new.toml --corpus datasets/starter --out compared --markdown summary.md\n  deadloop compare document ts-3 --corpus datasets/starter --fail-on never\n\nWhat is no folder is replayed on the corpus; --set changes NEW. Recall and fpr are tested by exact McNemar, the others by a paired bootstrap over groups; p is after Holm's correction, over the metrics of all models together and over metrics x models. NEW has improved or regressed where that is significant and beyond the noise, is equivalent where the 95 % interval lies inside the noise, else nothing is concluded. Which setting of a folder is meant: the choice of tune, the current one of replay, or --base-setting and --new-setting.\n\nExit codes: 0 passed, 3 not comparable (other transcripts, texts or labels, an error), 4 nothing selected, 5 a gate could not be evaluated, 100 a gate failed."
    )]
    Compare(commands::Compare),
    /// Budgets of context: how often, when and how much recorded runs of agents would be summarised
    #[command(after_help = commands::BUDGET_HELP)]
    Budget(commands::BudgetArgs),
    /// Makes a result the baseline, after showing what that changes
    #[command(
        after_help = "Example:\n  deadloop replay datasets/starter --split dev --presets --csv --out fresh\n  deadloop bless fresh reports/baseline\n\nThe baseline keeps the tables (CSV, cases.jsonl, settings.toml), which are the same bytes for the same run, and no manifest and report. Without --yes it asks; where nobody can be asked nothing is changed, exit code 2."
    )]
    Bless(commands::Bless),
    /// Writes a pinned case from a recording, on stdout
    #[command(
        after_help = "Examples:\n  deadloop case recordings.jsonl t1 >> cases.toml\n  deadloop case recordings.jsonl t1 --redact --settings settings.toml >> cases.toml\n\nWhat is expected follows from the label: a loop has to be stopped within the latency that the settings have now, clean text left alone; where the settings are wrong on it the case is a todo. Without a label it pins what the settings say. --redact replaces words by words (equal ones by equal ones, letter by letter where that would move the alarm) and proves that the alarm stays; numbers below five digits stay, ids and metadata are left out, the model's name is not."
    )]
    Case(commands::WriteCase),
    /// Pinned cases: texts with the answer beside them, held against settings
    #[command(
        after_help = "Example:\n  deadloop check-cases tests/cases/*.toml --settings settings.toml\n\nA case:\n  [[case]]\n  name = \"a menu that repeats\"\n  text = [\"Fine.\\n⟦onset⟧\", { repeat = \"Try again.\\n\", times = 90 }]\n  expect = { alarm = true, between = [\"onset\", \"onset+600\"], kind = \"short-sequence\" }\n\nor expect = { alarm = false }; with todo = \"reason\" it may fail, and is told once it holds.\n\nExit codes: 0 all hold, 4 there is none, 100 some do not."
    )]
    CheckCases(commands::CheckCases),
    /// Detectors; one of them with its parameters (S structural, T threshold), bounds, defaults and presets
    #[command(
        after_help = "Examples:\n  deadloop detectors\n  deadloop detectors periodic\n  deadloop detectors periodic --grid > grid.toml\n  deadloop tune CORPUS --grid grid.toml"
    )]
    Detectors(commands::Detectors),
    /// A folder to start from: settings, a grid, a small corpus and a job for CI
    #[command(after_help = commands::INIT_HELP)]
    Init(commands::Init),
    /// Reads a corpus as a person does: all transcripts in a list, or one of them
    #[command(after_help = commands::SHOW_HELP)]
    Show(commands::Show),
    /// Completions for a shell, on stdout
    #[command(
        after_help = "Examples:\n  deadloop completions bash > ~/.local/share/bash-completion/completions/deadloop\n  deadloop completions zsh > ~/.zfunc/_deadloop\n  deadloop completions fish > ~/.config/fish/completions/deadloop.fish"
    )]
    Completions(commands::Completions),
    /// Man pages: one on stdout, or all of them in a folder
    #[command(
        after_help = "Examples:\n  deadloop man tune | man -l -\n  deadloop man --out ~/.local/share/man/man1"
    )]
    Man(commands::Man),
    /// JSON Schema of a kind of file that people write, for editors
    #[command(
        after_help = "Examples:\n  deadloop schema settings > settings.schema.json\n  deadloop schema\n\nIn an editor that reads TOML with schemas (Taplo, Even Better TOML) write this as the first line of settings.toml:\n  #:schema ./settings.schema.json"
    )]
    Schema(commands::Schema),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Sweep {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
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
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
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
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A corpus: a folder, or one .jsonl or .parquet file; or the folder of a result: its corpus, seen
    /// through its settings and judged by its rules
    pub(crate) corpus: PathBuf,
    /// The id of a transcript
    pub(crate) transcript: String,
    /// Settings files; the first is told in full [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Also every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    /// Instead: what the repairers of this file did to it, step by step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "presets"])]
    pub(crate) repair: Option<PathBuf>,
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
    /// The model that is listened to: its guard in the settings watches [default: the one that the stream
    /// names, `unknown` where it names none]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Change settings on the way, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// How the stream is written [default: told by its content]
    #[arg(long, value_enum)]
    pub(crate) from: Option<From>,
    /// How thinking is told from the answer: open (the prompt opened the tag: the text begins as
    /// thinking) or closed, first or all (blocks), off (no tags), or the tags that count, as `<think>`,
    /// `<|a|>...<|b|>`, `harmony` [default: as the think table of the settings says]
    #[arg(long, value_name = "WORD", value_delimiter = ',', verbatim_doc_comment)]
    pub(crate) think: Vec<String>,
    /// Copy the stream to stdout as it arrives, up to the alarm; all else goes to stderr
    #[arg(long)]
    pub(crate) passthrough: bool,
    /// Mend the stream: what is certain goes to stdout as JSON lines (reasoning, answer, action, tool_call), all
    /// else to stderr. The file has one repairer of a kind, as deadloop repair leaves settings.toml
    #[arg(long, value_name = "FILE", conflicts_with = "passthrough")]
    pub(crate) repair: Option<PathBuf>,
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
    /// Hide the letters and digits of the transcripts in the page; copies and structure stay
    #[arg(long)]
    pub(crate) redact: bool,
    /// Show what changed: a folder that deadloop compare --out left
    #[arg(long, value_name = "DIR")]
    pub(crate) comparison: Option<PathBuf>,
    /// Also draw each chart as PNG (charts/*.png), with the fonts of this system
    #[arg(long)]
    pub(crate) png: bool,
    /// Open the page when it is there
    #[arg(long)]
    pub(crate) open: bool,
}

/// Which transcripts are meant, and what is done with bad ones.
#[derive(Debug, Args, Serialize, Deserialize)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum OnBad {
    /// Nothing is scored on a corpus that is not whole; every problem is listed
    Fail,
    /// Leave bad transcripts out, count and list them
    Skip,
}

/// How alarms are judged (scoring.md).
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Judging")]
pub(crate) struct Judge {
    /// Change settings on the way, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Replay as if all text had come in chunks of N chars
    #[arg(long, value_name = "N")]
    pub(crate) chunks: Option<NonZeroU64>,
    /// In what loops and healthy output are counted, and the choice is made [default: that of the labels]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) unit: Option<Unit>,
    /// Which position of an alarm counts
    #[arg(long, value_enum, default_value_t = At::Delivered)]
    pub(crate) at: At,
    /// Units before the onset at which an alarm is right already
    #[arg(long, value_name = "UNITS", default_value_t = 0)]
    pub(crate) early: u64,
    /// Units after the onset from which a right alarm is too late [default: none]
    #[arg(long, value_name = "UNITS")]
    pub(crate) deadline: Option<u64>,
    /// Units after the end of a loop at which an alarm is still right
    #[arg(long, value_name = "UNITS", default_value_t = 0)]
    pub(crate) grace: u64,
    /// Repetitions that end by themselves
    #[arg(long, value_enum, default_value_t = Transient::Ignore)]
    pub(crate) transient: Transient,
    /// Most units that a miss may cost in `delay` [default: the whole loop]
    #[arg(long, value_name = "UNITS")]
    pub(crate) horizon: Option<u64>,
    /// What a wrong alarm costs besides the text that is generated again, for `net_per_1000` and `break_even`
    /// [default: one mean clean transcript]
    #[arg(long, value_name = "UNITS")]
    pub(crate) annoyance: Option<u64>,
    /// What a million generated tokens cost: `net_per_1000` in money too, where recordings have tokens
    #[arg(long, value_name = "PER_MILLION_TOKENS", value_parser = price)]
    pub(crate) price: Option<f64>,
}

pub(crate) fn price(text: &str) -> Result<f64, String> {
    let price = text
        .parse::<f64>()
        .ok()
        .filter(|n| *n >= 0.0 && n.is_finite());
    price.ok_or_else(|| "expected a number from 0 on".into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Unit {
    /// Chars of text
    Chars,
    /// Tool calls
    Calls,
    /// Turns of an agent
    Turns,
}

impl Unit {
    /// The unit that it names.
    pub(crate) fn unit(self) -> deadloop_detect::Unit {
        match self {
            Self::Chars => deadloop_detect::Unit::Chars,
            Self::Calls => deadloop_detect::Unit::Calls,
            Self::Turns => deadloop_detect::Unit::Turns,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum At {
    /// The end of the chunk: what a live integration sees
    Delivered,
    /// The char at which it is known
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Transient {
    /// In a column of their own, in no ratio
    Ignore,
    /// As clean text
    Clean,
    /// As loops
    Loop,
}

/// What is written.
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Output {
    /// A further breakdown of the scores by a field, as meta.source; may be repeated
    #[arg(long = "by", value_name = "FIELD")]
    pub(crate) by: Vec<String>,
    /// Also scores.csv and, but for a sweep, outcomes.csv
    #[arg(long)]
    pub(crate) csv: bool,
    /// Keep no text of the transcripts in the folder: for corpora that are private
    #[arg(long)]
    pub(crate) no_excerpts: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    #[serde(skip)]
    pub(crate) force: bool,
    /// Only shard I of N, each of every N-th file of the corpus: --out gets a part without scores, and
    /// deadloop merge makes of all parts what one machine would have left. A part that is there is skipped
    #[arg(long, value_name = "I/N")]
    #[serde(skip)]
    pub(crate) shard: Option<Shard>,
    /// Lines that an engine made with Plan.records of the Python package, in place of replaying the shard
    #[arg(long, value_name = "FILE", requires = "shard")]
    #[serde(skip)]
    pub(crate) records: Option<PathBuf>,
    /// What is merged, where it is no corpus that is read
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) parts: Option<Arc<Parts>>,
}
