//! The commands, grouped into the four families of the help.

use clap::Command;

/// The families of commands. Each has its purpose, and its commands in the order of use.
pub(crate) const FAMILIES: [(&str, &[&str]); 4] = [
    (
        "Get recordings, and know what is in them",
        &["import", "label", "check", "show", "synth"],
    ),
    (
        "Measure guards, and choose one",
        &[
            "tune", "sweep", "replay", "compare", "explain", "report", "merge",
        ],
    ),
    (
        "Run a guard, or mend a stream",
        &["watch", "proxy", "export", "repair", "budget"],
    ),
    ("More", &["cases", "detectors", "init"]),
];

/// Sets a help template that lists the commands by family.
pub(crate) fn group_by_family(program: Command) -> Command {
    let names = FAMILIES.iter().flat_map(|(_, names)| *names);
    let widest = names.map(|name| name.len()).max().unwrap_or(0);
    let mut list = String::new();
    for (what, names) in FAMILIES {
        list.push_str(&format!("\n{what}:\n"));
        for name in names {
            let command = program.find_subcommand(name);
            let about = command.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            list.push_str(&format!("  {name:widest$}  {about}\n"));
        }
    }
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\nOptions:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_command_is_in_one_family() {
        let program = crate::args::Cli::command();
        let all = program.get_subcommands().filter(|one| !one.is_hide_set());
        let mut all: Vec<&str> = all.map(Command::get_name).collect();
        let mut listed: Vec<&str> = FAMILIES
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        all.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, all);
        assert_eq!(all.len(), 20);
    }

    /// Options by the help: those of every command once, each command's own, without `--help` and `--version`.
    #[test]
    fn options_are_counted() {
        let program = crate::args::Cli::command();
        let own = |command: &Command| {
            let all = command.get_arguments();
            all.filter(|one| one.get_long().is_some() && !one.is_hide_set())
                .count()
        };
        let commands = program.get_subcommands().filter(|one| !one.is_hide_set());
        let options = own(&program) + commands.map(own).sum::<usize>();
        assert!(options <= MOST_OPTIONS, "{options}");
        let tune = program.find_subcommand("tune").map(own).unwrap_or(0);
        assert!(tune + own(&program) <= MOST_OF_TUNE, "{tune}");
    }

    /// Of `tune`, with those of every command.
    const MOST_OF_TUNE: usize = 28;

    /// It only falls.
    const MOST_OPTIONS: usize = 210;

    #[test]
    fn the_help_fits_a_terminal_and_names_every_command() {
        let help = group_by_family(crate::args::Cli::command())
            .render_help()
            .to_string();
        for (what, names) in FAMILIES {
            assert!(help.contains(what), "{help}");
            assert!(
                names
                    .iter()
                    .all(|name| help.contains(&format!("  {name} "))),
                "{help}"
            );
        }
        // clap wraps the options at the terminal's width, but not this list.
        let list = help.split("\nOptions:").next().unwrap_or_default();
        let widest = list.lines().max_by_key(|line| line.len());
        assert!(widest.is_some_and(|line| line.len() <= 80), "{widest:?}");
    }
}
