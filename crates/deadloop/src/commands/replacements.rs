//! Replacements of removed commands and options.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// A line for each removed command, option of a command (`command --option`) or option of any command, with its
/// replacement.
const REMOVED: &str = include_str!("replacements.txt");

/// Returns a hint on the replacement of a removed word that caused a command line error. `None` if the word never
/// existed.
pub(crate) fn replacement_for(error: &Error, typed: &[String]) -> Option<String> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let words = match named(ContextKind::InvalidSubcommand) {
        Some(command) => vec![command.to_owned()],
        None => {
            let option = named(ContextKind::InvalidArg)?.split('=').next()?;
            let command = typed.iter().find(|word| !word.starts_with('-'))?;
            vec![format!("{command} {option}"), option.to_owned()]
        }
    };
    let mut gone = REMOVED.lines().filter_map(|line| line.split_once(": "));
    let (word, how) = gone.find(|(gone, _)| words.iter().any(|word| word == gone))?;
    Some(format!("`deadloop {word}` is gone: {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_word_that_is_gone_names_the_new_way() {
        for (gone, how) in REMOVED.lines().filter_map(|line| line.split_once(": ")) {
            let command = gone.starts_with("--").then_some("tune");
            let typed: Vec<String> = command
                .into_iter()
                .chain(gone.split(' '))
                .map(str::to_owned)
                .collect();
            let line = std::iter::once("deadloop".to_owned()).chain(typed.clone());
            let error = crate::args::Cli::command()
                .try_get_matches_from(line)
                .expect_err(gone);
            let told = replacement_for(&error, &typed).expect(gone);
            assert!(told.ends_with(how) && told.contains(gone), "{told}");
        }
    }
}
