//! Removed commands and options, each with its replacement.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// The removed commands, `command --option`, and options of any command, with their replacements.
const GONE: [(&str, &str); 46] = [
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
    ("compare --list", "flips.csv of --out DIR has every flip"),
    ("label --context", "the key v shows the whole text"),
    (
        "label --id",
        "`deadloop label CORPUS ID --review` asks about ID",
    ),
    ("show --context", "--all folds nothing"),
    (
        "show --find",
        "`grep` finds a text in a corpus, which is JSON lines",
    ),
    (
        "explain --context",
        "`deadloop show CORPUS ID` prints the whole text",
    ),
    ("proxy --grace", "open streams have 30 seconds"),
    ("budget --preset", "every preset has its row"),
    (
        "detectors --explain",
        "`deadloop detectors FILE` says its guards in plain sentences",
    ),
    (
        "merge --unit",
        "the parts are made with --unit, and the result is as they say",
    ),
    (
        "merge --transient",
        "the parts are made with --transient, and the result is as they say",
    ),
    (
        "merge --loop-rate",
        "the parts are made with --loop-rate, and the result is as they say",
    ),
    (
        "merge --csv",
        "the parts are made with --csv, and the result is as they say",
    ),
    (
        "merge --no-excerpts",
        "the parts are made with --no-excerpts, and the result is as they say",
    ),
    (
        "report --out",
        "`deadloop compare BASE NEW` says what changed between two results",
    ),
    (
        "report --setting",
        "`deadloop compare BASE NEW` says what changed between two results",
    ),
    ("--annoyance", "a wrong alarm costs one mean clean response"),
    (
        "--assurance",
        "the lower end of an 80 % interval decides; docs/choosing.md",
    ),
    ("--at", "an alarm counts where it is delivered"),
    (
        "--budget",
        "--constraint 'fa_per_mchar<=N' limits wrong alarms",
    ),
    (
        "--deadline",
        "within_1000 and the delay say how late alarms are",
    ),
    (
        "--early",
        "`earliest` of a label says how early an alarm is right",
    ),
    ("--facts", "`deadloop explain` shows what each check saw"),
    ("--folds", "five folds of groups are used"),
    ("--grace", "an alarm is right up to the end of the loop"),
    ("--horizon", "a miss costs the whole loop"),
    ("--lang", "--where lang=TAG selects a language"),
    (
        "--learn-allow",
        "tune always looks for tools that may repeat, and names them",
    ),
    (
        "--price",
        "tokens and milliseconds are columns of outcomes.parquet",
    ),
    (
        "--price-in",
        "tokens and milliseconds are columns of outcomes.parquet",
    ),
    (
        "--price-out",
        "tokens and milliseconds are columns of outcomes.parquet",
    ),
    (
        "--price-cached",
        "tokens and milliseconds are columns of outcomes.parquet",
    ),
    (
        "--records",
        "--shard I/N and `deadloop merge` run a corpus on several machines",
    ),
    (
        "--require-own",
        "choice.csv says which models have settings of their own, and why",
    ),
    ("--worthwhile", "one point is the tolerance everywhere"),
];

/// Returns the replacement of the word that a command line error names. `None` if the word was never one of the
/// program's.
pub(crate) fn instead(error: &Error, typed: &[String]) -> Option<String> {
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
    let (word, how) = GONE
        .iter()
        .find(|(gone, _)| words.iter().any(|word| word == gone))?;
    Some(format!("`deadloop {word}` is gone: {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_word_that_is_gone_names_the_new_way() {
        for (gone, how) in GONE {
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
            let told = instead(&error, &typed).expect(gone);
            assert!(told.ends_with(how) && told.contains(gone), "{told}");
        }
    }
}
