//! `deadloop export`: a tuned setting as the configuration of a guard that people already run, what that cannot say,
//! and what it costs on a corpus.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use deadloop_detect::{Chars, Event, Settings, Unit};
use deadloop_replay::{Guards, Job, Plan, run as replayed};
use deadloop_score::measure::{DELAY, RECALL};
use deadloop_score::{Count, Evidence, Tally, wrong_rate};
use serde_json::{Value, json};

use crate::args::{Global, Judge, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::progress::watched;
use crate::{settings, show};
use deadloop_run::engines::{ENGINES, Engine, Exported};
use deadloop_run::failed;
use deadloop_run::programs;
use deadloop_run::{Wanted, survey};

/// What its help ends with.
pub(crate) const HELP: &str = "Examples:\n  deadloop export tuned/settings.toml --to vllm > body.json\n  deadloop export tuned/settings.toml --to litellm --corpus recordings/ --split test\n\nThe configuration goes to stdout, everything else to stderr. The command lists what the configuration cannot say; it never asks for less than the setting does. With --corpus it measures what that costs: it replays the setting and its twin, a setting that behaves like the exported configuration. Engines count tokens, and a token is taken for --chars-per-token chars.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// A settings file, `recommended` or the name of a preset
    settings: PathBuf,
    /// The guard to configure
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(ENGINES.iter().map(|e| e.name)))]
    to: String,
    /// The model whose guard is exported [default: the guard of all models without one of their own]
    #[arg(long = "for", value_name = "NAME")]
    model: Option<String>,
    /// Chars per token, or `recorded`: the mean of the transcripts of --corpus that count tokens
    #[arg(long, value_name = "N", default_value = "4", value_parser = per_token)]
    chars_per_token: Token,
    /// Recordings with labels, to measure what is lost
    #[arg(long, value_name = "CORPUS")]
    corpus: Option<PathBuf>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    judge: Judge,
}

/// How long a token is.
#[derive(Clone, Copy, Debug)]
enum Token {
    Chars(f64),
    Recorded,
}

fn per_token(text: &str) -> Result<Token, String> {
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|n| (0.5..=20.0).contains(n));
    match (text, number) {
        ("recorded", _) => Ok(Token::Recorded),
        (_, Some(number)) => Ok(Token::Chars(number)),
        _ => Err("expected a number from 0.5 to 20, or recorded".into()),
    }
}

/// The chars of a token.
fn token(args: &Export) -> Outcome<f64> {
    let said = "--chars-per-token recorded";
    match (args.chars_per_token, &args.corpus) {
        (Token::Chars(number), _) => Ok(number),
        (Token::Recorded, None) => Err(Code::Usage.error(format!(
            "{said}: expected --corpus with recordings that count tokens"
        ))),
        (Token::Recorded, Some(path)) => recorded(args, path)?.ok_or_else(|| {
            let path = path.display();
            Code::Usage.error(format!(
                "{said}: no event of {path} has `tokens`; give the number of chars"
            ))
        }),
    }
}

/// Chars per token over the events that count tokens, in the selected transcripts: those of the model, where
/// one is named.
fn recorded(args: &Export, path: &Path) -> Outcome<Option<f64>> {
    let selection = args.select.selection()?;
    let corpus = deadloop_run::open(path)?;
    let (mut chars, mut tokens) = (0_u64, 0_u64);
    // What cannot be read is told by whoever measures.
    for entry in corpus.entries().filter_map(Result::ok) {
        let model = entry.transcript.model.as_str();
        if !selection.matches(&entry) || args.model.as_deref().is_some_and(|own| own != model) {
            continue;
        }
        let counted = entry.transcript.events.iter();
        for (event, n) in counted.filter_map(|event| Some((event, event.tokens?))) {
            if let Event::Text(_, text) = event.seen() {
                chars += Chars::of(text).0;
                tokens += n;
            }
        }
    }
    Ok((tokens > 0).then(|| chars as f64 / tokens as f64))
}

pub(super) fn run(args: &Export, global: Global) -> Outcome {
    let settings = settings::settings(Some(&args.settings), &args.judge.set)?;
    let setting = match &args.model {
        Some(model) => settings.for_model(model),
        None => settings.guard(),
    };
    let engine = ENGINES.iter().find(|engine| engine.name == args.to);
    let engine = engine.ok_or_else(|| Code::Usage.error(format!("--to {}: not known", args.to)))?;
    let token = token(args)?;
    let exported = engine.export(setting, token);
    let mut exported = exported
        .map_err(|what| Code::Usage.error(format!("{}: {what}", args.settings.display())))?;
    let own = settings.overrides().map(|(glob, _)| glob);
    let own = own.filter(|_| args.model.is_none());
    exported.lost.extend(own.map(|glob| {
        format!("models that match {glob} have a guard of their own: export it with --for NAME")
    }));
    let original = Settings::of(setting.clone());
    let rows = match &args.corpus {
        Some(corpus) => measured(args, corpus, [&original, &exported.twin], global)?,
        None => Vec::new(),
    };
    tell(args, (engine, &exported, token), &rows, global)
}

/// What a setting did on the recordings: a tally, and the unit that it counts in.
type Measured = (Unit, Tally);

/// The setting and its twin on the recordings.
fn measured(
    args: &Export,
    corpus: &Path,
    both: [&Settings; 2],
    global: Global,
) -> Outcome<Vec<Measured>> {
    let mut plan = Plan::default();
    let cells = both.map(|settings| plan.add_settings(settings));
    let running = programs::start(&plan, &Terminal::of(global))?;
    let surveyed = survey(Wanted {
        path: corpus,
        selection: args.select.selection()?,
        by: &[],
        entry: None,
        host: &Terminal::of(global),
    })?;
    surveyed.accept(args.select.skips(), &Terminal::of(global))?;
    surveyed.tell_rejected(&Terminal::of(global));
    let judge = args.judge.judging().options_for(&surveyed.cases)?;
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.ids(),
        subject: &Guards {
            plan: &plan,
            programs: &running,
            chunks: args.judge.chunks,
        },
    };
    let ran = watched("replaying", global.quiet, |watch| {
        replayed(&job, None, watch)
    });
    let records = ran.map_err(failed)?.records;
    programs::tell_errors(&records, &Terminal::of(global));
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let tally = |cell: usize| (judge.unit, evidence.tally(cell, &evidence.all(), &judge));
    Ok(cells.into_iter().map(tally).collect())
}

/// Prints the configuration, what it cannot say, and how it scored where there was a corpus.
fn tell(
    args: &Export,
    (engine, exported, token): (&Engine, &Exported, f64),
    rows: &[Measured],
    global: Global,
) -> Outcome {
    if global.json {
        return show::print(&json((engine, exported, token), rows).to_string());
    }
    show::print(exported.config.trim_end())?;
    if global.quiet {
        return Ok(());
    }
    show::remark(format_args!("{}: {}", engine.name, engine.about));
    if let Some(why) = engine.unread {
        show::remark(format_args!(
            "NOTE        nothing that you can install reads this: {why}"
        ));
    }
    if matches!(args.chars_per_token, Token::Recorded) {
        show::remark(format_args!("a token is {token:.2} chars, as recorded"));
    }
    for lost in &exported.lost {
        show::remark(format_args!("cannot say  {lost}"));
    }
    if let Some((unit, _)) = rows.first() {
        show::remark(table(engine, *unit, rows));
        return Ok(());
    }
    let [to, settings] = [args.to.clone(), show::typed(&args.settings)];
    let next = format!("deadloop export {settings} --to {to} --corpus CORPUS");
    show::next(&[&next], global)
}

/// What was exported and how it scored, as one object.
fn json((engine, exported, token): (&Engine, &Exported, f64), rows: &[Measured]) -> Value {
    let row = |(name, (unit, tally)): (&str, &Measured)| {
        let rate = wrong_rate(*unit);
        json!({
            "name": name, "loops": tally.loops(), "clean": tally.clean(),
            "hit": tally.get(Count::Hit), "wrong": tally.wrong(),
            "recall": show::value(&RECALL, tally), rate.name: show::value(rate, tally),
            "delay": show::value(&DELAY, tally),
        })
    };
    let both = ["setting", engine.name].into_iter().zip(rows);
    let measured: Vec<Value> = both.map(row).collect();
    json!({
        "to": engine.name, "unread": engine.unread, "config": exported.config, "lost": exported.lost,
        "twin": exported.twin.guard().to_toml("guard"), "chars_per_token": token,
        "measured": measured,
    })
}

/// The setting and its twin, a row each.
fn table(engine: &Engine, unit: Unit, rows: &[Measured]) -> String {
    let (rate, delay) = (wrong_rate(unit), DELAY.title_in(unit));
    let row = |(name, (_, tally)): (&str, &Measured)| {
        vec![
            name.to_owned(),
            show::count(tally.loops()),
            show::count(tally.get(Count::Hit)),
            show::percent(show::value(&RECALL, tally)),
            show::count(tally.wrong()),
            show::number(show::value(rate, tally), 2),
            show::number(show::value(&DELAY, tally), 0),
        ]
    };
    let both = ["setting", engine.name].into_iter().zip(rows);
    let table: Vec<Vec<String>> = both.map(row).collect();
    let header = [
        "",
        "loops",
        "hit",
        "recall",
        "false alarms",
        show::per(unit),
        &delay,
    ];
    show::table(&header, &table, 1)
}
