//! `deadloop export`: writes a setting as the configuration of another guard.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use deadloop_run::export::ENGINES;
use serde_json::json;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::settings::SettingsReader;

/// The end of the help text.
pub(crate) const HELP: &str = "Examples:\n  deadloop export tuned/settings.toml --to vllm > body.json\n  deadloop export tuned/settings.toml --to litellm --for qwen3-8b\n\nThe configuration goes to stdout, everything else to stderr. The command lists what the configuration cannot say; it never asks for less than the setting does. Engines count tokens, and a token is taken for 4 chars.";

/// The assumed length of a token, in chars.
const CHARS_PER_TOKEN: f64 = 4.0;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A settings file, `recommended` or the name of a preset
    settings: PathBuf,
    /// The guard to configure
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(ENGINES.iter().map(|e| e.name)))]
    to: String,
    /// The model whose guard is exported [default: the guard of all models without one of their own]
    #[arg(long = "for", value_name = "NAME")]
    model: Option<String>,
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(super) fn run(args: &ExportArgs, global: GlobalArgs) -> Outcome {
    let host = &Terminal::new(global);
    let settings = SettingsReader::new(host).settings(Some(&args.settings), &args.set)?;
    let setting = match args.model.as_deref() {
        Some(model) => settings.for_model(model),
        None => settings.guard(),
    };
    let engine = ENGINES.iter().find(|engine| engine.name == args.to);
    let engine = engine.ok_or_else(|| Code::Usage.error(format!("--to {}: not known", args.to)))?;
    let mut exported = engine
        .export(setting, CHARS_PER_TOKEN)
        .map_err(|what| Code::Usage.error(format!("{}: {what}", args.settings.display())))?;
    let own = settings.overrides().map(|(glob, _)| glob);
    let own = own.filter(|_| args.model.is_none());
    exported.lost.extend(own.map(|glob| {
        let with = match glob.task() {
            Some(_) => "by its task, which no engine knows",
            None => "export it with --for NAME",
        };
        format!("what matches {glob} has a guard of its own: {with}")
    }));
    if global.json {
        let told = json!({
            "to": engine.name, "config": exported.config, "lost": exported.lost,
            "twin": exported.twin.guard().to_toml("guard"),
        });
        return show::print(&told.to_string());
    }
    show::print(exported.config.trim_end())?;
    if global.quiet {
        return Ok(());
    }
    show::eprint(format_args!("{}: {}", engine.name, engine.about));
    for lost in &exported.lost {
        show::eprint(format_args!("cannot say  {lost}"));
    }
    let proxy = format!(
        "deadloop proxy --settings {} --upstream URL",
        show::typed(&args.settings)
    );
    show::print_next(&[&proxy], global)
}
