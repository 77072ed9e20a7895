//! `deadloop export`: a tuned setting as the configuration of a guard that people already run, what that cannot say,
//! and what it costs on a corpus.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use deadloop_detect::{Settings, Unit, Work};
use deadloop_score::measure::{DELAY, RECALL};
use deadloop_score::{Count, wrong_rate};
use serde_json::{Value, json};

use crate::args::{Global, Judge, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::{settings, show};
use deadloop_run::Wanted;
use deadloop_run::engines::{ENGINES, Engine, Exported, Measured, measured, recorded_token};

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
    /// The task whose guard is exported, where the settings have one of its own
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    task: String,
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
        (Token::Recorded, Some(path)) => {
            recorded_token(path, &args.select.selection()?, args.model.as_deref())?.ok_or_else(
                || {
                    let path = path.display();
                    Code::Usage.error(format!(
                        "{said}: no event of {path} has `tokens`; give the number of chars"
                    ))
                },
            )
        }
    }
}

pub(super) fn run(args: &Export, global: Global) -> Outcome {
    let settings = settings::settings(Some(&args.settings), &args.judge.set)?;
    let (model, task) = (args.model.as_deref(), args.task.as_str());
    let named = model.is_some() || !task.is_empty();
    let setting = if named {
        settings.for_model(Work {
            model: model.unwrap_or(""),
            task,
        })
    } else {
        settings.guard()
    };
    let engine = ENGINES.iter().find(|engine| engine.name == args.to);
    let engine = engine.ok_or_else(|| Code::Usage.error(format!("--to {}: not known", args.to)))?;
    let token = token(args)?;
    let exported = engine.export(setting, token);
    let mut exported = exported
        .map_err(|what| Code::Usage.error(format!("{}: {what}", args.settings.display())))?;
    let own = settings.overrides().map(|(glob, _)| glob);
    let own = own.filter(|_| !named);
    exported.lost.extend(own.map(|glob| {
        let with = match glob.task() {
            Some(_) => "--task NAME",
            None => "--for NAME",
        };
        format!("what matches {glob} has a guard of its own: export it with {with}")
    }));
    let original = Settings::of(setting.clone());
    let rows = match &args.corpus {
        Some(corpus) => {
            let wanted = Wanted {
                path: corpus,
                selection: args.select.selection()?,
                by: &[],
                entry: None,
                host: &Terminal::of(global),
            };
            let (skips, judging) = (args.select.skips(), args.judge.judging());
            let both = [&original, &exported.twin];
            measured(both, wanted, skips, &judging, args.judge.chunks)?
        }
        None => Vec::new(),
    };
    tell(args, (engine, &exported, token), &rows, global)
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
        "wrong alarms",
        show::per(unit),
        &delay,
    ];
    show::table(&header, &table, 1)
}
