//! `deadloop man`: man pages, made from the arguments themselves; and the reference of the docs' site (the rest of it is `deadloop_run::reference`).

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use deadloop_detect::harness::meant;
use deadloop_run::reference::{Leaf, head, leaf, leaves, row};
use deadloop_score::write_text;
use serde_json::json;

use crate::args::{Cli, Global};
use crate::commands::families::FAMILIES;
use crate::exit::{Code, Outcome};
use crate::show::{self, typed};

pub(crate) const HELP: &str = "Examples:\n  deadloop man tune | man -l -\n  deadloop man --out ~/.local/share/man/man1\n  deadloop man --site --out reference";

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command of the page [default: the program itself]
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Write all pages into this folder, as deadloop.1, deadloop-tune.1 and so on
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the reference of the docs' site instead, as Markdown: commands, detectors, formats, measures, files
    #[arg(long, requires = "out", hide_short_help = true)]
    site: bool,
    /// Overwrite existing pages
    #[arg(long, requires = "out")]
    force: bool,
}

pub(super) fn run(args: &Man, global: Global) -> Outcome {
    let mut program = Cli::command();
    program.build();
    match &args.out {
        Some(_) => write(args, &program, global),
        None => {
            let page = text(named(&program, args.command.as_deref())?)?;
            if global.json {
                show::print(&json!({"page": page}).to_string())
            } else {
                show::print(page.trim_end())
            }
        }
    }
}

/// A command of the program, or the program.
fn named<'a>(program: &'a Command, name: Option<&str>) -> Outcome<&'a Command> {
    let Some(name) = name else { return Ok(program) };
    program.find_subcommand(name).ok_or_else(|| {
        let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        Code::Usage.error(format!(
            "unknown command \"{name}\"{}; expected one of: {}",
            meant(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

/// What the page of a command is called.
fn title(command: &Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    name.to_owned()
}

fn text(command: &Command) -> Outcome<String> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write(args: &Man, program: &Command, global: Global) -> Outcome {
    let dir = args.out.clone().unwrap_or_default();
    let pages = if args.site {
        let leaves = leaves(commands(program))?.into_iter();
        leaves
            .map(|leaf| (dir.join(leaf.path), leaf.text))
            .collect()
    } else {
        manuals(program, &dir)?
    };
    for (file, _) in &pages {
        show::refuse_over(file, args.force)?;
    }
    for (file, text) in &pages {
        let folder = file.parent().unwrap_or(&dir);
        std::fs::create_dir_all(folder)
            .map_err(|e| Code::Usage.error(format!("{}: {e}", folder.display())))?;
        write_text(file, text)?;
    }
    if global.json {
        let files: Vec<String> = pages.iter().map(|(f, _)| f.display().to_string()).collect();
        return show::print(&json!({"files": files}).to_string());
    }
    if !global.quiet {
        let count = show::several(pages.len() as u64, "page");
        show::print(&format!("{count} in {}", dir.display()))?;
    }
    if args.site {
        return Ok(());
    }
    let first = typed(dir.join("deadloop.1"));
    show::next(&[&format!("man -l {first}")], global)
}

/// The man pages of the program and its commands, with their files.
fn manuals(program: &Command, dir: &Path) -> Outcome<Vec<(PathBuf, String)>> {
    let all = std::iter::once(program).chain(program.get_subcommands());
    all.map(|command| {
        let file = dir.join(format!("{}.1", title(command)));
        Ok((file, text(command)?))
    })
    .collect()
}

/// The pages of the commands, for the reference.
fn commands(program: &Command) -> Vec<Leaf> {
    let mut text = String::from(
        "# Commands\n\n`--jobs`, `--quiet` and `--json` go with every command. `-h` shows what most people need, `--help` \
         everything.\n",
    );
    let mut pages = Vec::new();
    for (family, names) in FAMILIES {
        text += &format!("\n## {family}\n\n{}", head(&["command", "does"]));
        for command in names
            .iter()
            .filter_map(|name| program.find_subcommand(name))
        {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let link = format!("[`deadloop {name}`](commands/{name}.md)");
            text += &row([link.as_str(), about.as_str()]);
            let help = command.clone().term_width(100).render_long_help();
            let page = format!(
                "# deadloop {name}\n\n```text\n{}\n```\n",
                help.to_string().trim_end()
            );
            pages.push(leaf(format!("commands/{name}.md"), 1, page));
        }
    }
    pages.insert(0, leaf("commands.md", 0, text));
    pages
}
