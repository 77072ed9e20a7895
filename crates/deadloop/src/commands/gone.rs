//! Words of the command line that are gone, each with a sentence that names the new way.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// Commands and `command --option`, and what to do instead.
const GONE: [(&str, &str); 11] = [
    (
        "stats",
        "`deadloop check CORPUS` prints the counts, and what the labels can prove",
    ),
    (
        "power",
        "`deadloop check CORPUS` prints what the labels can prove; --claims FILE judges claims",
    ),
    (
        "bless",
        "`deadloop compare BASE NEW --bless` makes NEW the baseline",
    ),
    (
        "case",
        "`deadloop cases --add CORPUS ID` writes a recording as a case",
    ),
    ("check-cases", "`deadloop cases FILE…` checks pinned cases"),
    (
        "completions",
        "`deadloop generate DIR` writes completions/ into DIR",
    ),
    ("man", "`deadloop generate DIR` writes man/ into DIR"),
    ("schema", "`deadloop generate DIR` writes schemas/ into DIR"),
    (
        "export --corpus",
        "`deadloop compare` measures one setting against another",
    ),
    ("export --chars-per-token", "a token is taken for 4 chars"),
    ("export --task", "--for NAME exports the guard of a model"),
];

/// What to do instead of the word that an error of the command line names; `None` if it never was one.
pub(crate) fn instead(error: &Error, typed: &[String]) -> Option<String> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let word = match named(ContextKind::InvalidSubcommand) {
        Some(command) => command.to_owned(),
        None => format!(
            "{} {}",
            typed.iter().find(|word| !word.starts_with('-'))?,
            named(ContextKind::InvalidArg)?
        ),
    };
    let (word, how) = GONE.iter().find(|(gone, _)| *gone == word)?;
    Some(format!("`deadloop {word}` is gone: {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_word_that_is_gone_names_the_new_way() {
        for (gone, how) in GONE {
            let typed: Vec<String> = gone.split(' ').map(str::to_owned).collect();
            let line = std::iter::once("deadloop".to_owned()).chain(typed.clone());
            let error = crate::args::Cli::command()
                .try_get_matches_from(line)
                .expect_err(gone);
            let told = instead(&error, &typed).expect(gone);
            assert!(told.ends_with(how) && told.contains(gone), "{told}");
        }
    }
}
