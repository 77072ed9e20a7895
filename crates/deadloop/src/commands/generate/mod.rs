//! `deadloop generate`: writes man pages, completions, schemas and reference pages.
//!
//! The files are generated from the arguments and the registries.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use deadloop_run::schemas::SCHEMAS;
use deadloop_score::write_text;
use serde_json::json;

use crate::args::{Cli, GlobalArgs};
use crate::commands::families::FAMILIES;
use crate::exit::{Code, Outcome};
use crate::show;

mod reference;
use reference::{ReferencePage, md_head, md_row, new_page, reference_pages};

pub(crate) const HELP: &str = "Example:\n  deadloop generate made\n\nThe folder gets man/ (man pages), completions/ (for each shell), schemas/ (JSON Schemas of settings, grids and transcripts) and site/ (the reference of the docs' site, Markdown). Files that are there are overwritten.\n\nIn an editor that reads TOML with schemas (Taplo, Even Better TOML) write this as the first line of settings.toml:\n  #:schema ./settings.schema.json";

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The folder
    dir: PathBuf,
}

pub(super) fn run(args: &GenerateArgs, global: GlobalArgs) -> Outcome {
    let mut program = Cli::command();
    program.build();
    let mut files = man_pages(&program)?;
    for shell in Shell::value_variants() {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "deadloop", &mut script);
        files.push((format!("completions/deadloop.{shell}"), utf8_text(&script)));
    }
    for of in &SCHEMAS {
        let schema = serde_json::to_string_pretty(&of.schema()?)? + "\n";
        files.push((format!("schemas/{}.schema.json", of.name), schema));
    }
    let site = reference_pages(command_pages(&program))?.into_iter();
    files.extend(site.map(|page| (format!("site/{}", page.path), page.text)));
    for (name, text) in &files {
        let file = args.dir.join(name);
        let folder = file.parent().unwrap_or(&args.dir);
        std::fs::create_dir_all(folder)
            .map_err(|e| Code::Usage.error(format!("{}: {e}", folder.display())))?;
        write_text(&file, text)?;
    }
    let names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
    let count = show::several(files.len() as u64, "file");
    let text = || format!("{count} in {}", args.dir.display());
    show::print_values(&json!({"files": names}), text, global)
}

fn utf8_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the commands that the help lists.
fn listed_commands(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|one| !one.is_hide_set())
}

/// Returns the man pages of the program and its commands, with their file names.
fn man_pages(program: &Command) -> Outcome<Vec<(String, String)>> {
    let page = |command: &Command| {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        Ok((format!("man/{name}.1"), utf8_text(&page)))
    };
    std::iter::once(program)
        .chain(listed_commands(program))
        .map(page)
        .collect()
}

/// Returns the reference pages of the commands, first their list.
fn command_pages(program: &Command) -> Vec<ReferencePage> {
    let mut text = String::from(
        "# Commands\n\n`--jobs`, `--quiet` and `--json` go with every command. `-h` shows what most people need, `--help` \
         everything.\n",
    );
    let mut pages = Vec::new();
    for (family, names) in FAMILIES {
        text += &format!("\n## {family}\n\n{}", md_head(&["command", "does"]));
        for command in names
            .iter()
            .filter_map(|name| program.find_subcommand(name))
        {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let link = format!("[`deadloop {name}`](commands/{name}.md)");
            text += &md_row([link.as_str(), about.as_str()]);
            let help = command.clone().term_width(100).render_long_help();
            let page = format!(
                "# deadloop {name}\n\n```text\n{}\n```\n",
                help.to_string().trim_end()
            );
            pages.push(new_page(format!("commands/{name}.md"), 1, page));
        }
    }
    pages.insert(0, new_page("commands.md", 0, text));
    pages
}
