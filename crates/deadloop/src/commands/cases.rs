//! `deadloop cases`: checks pinned cases, or writes a recording as a case.

pub(super) use deadloop_run::cases::CasesOptions;
use deadloop_run::cases::{CasesAnswer, cases};

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop cases tests/cases/*.toml --settings settings.toml\n  deadloop cases --add recordings.jsonl t1 >> cases.toml\n\nA case:\n  [[case]]\n  name = \"a menu that repeats\"\n  text = [\"Fine.\\n⟦onset⟧\", { repeat = \"Try again.\\n\", times = 90 }]\n  expect = { alarm = true, between = [\"onset\", \"onset+600\"], kind = \"short-sequence\" }\n\nor expect = { alarm = false }. With todo = \"reason\" the case may fail, and the command says so once it holds.\n\n--add writes a recording as a case on stdout: the transcript with its label, and what is expected of it. A loop is stopped within the latency that the settings have now, and clean text is left alone; what the settings get wrong is a todo. Without a label the case expects what the settings do now.\n\nExit codes: 0 all cases hold, 4 there are no cases, 100 some do not hold.";

pub(super) fn run(args: &CasesOptions, global: GlobalArgs) -> Outcome {
    let answer = cases(args, &Terminal::new(global))?;
    // The case requested by --add is written with --quiet too.
    let written = matches!(answer, CasesAnswer::Written { .. });
    let quiet = global.quiet && !written;
    show::print_answer(&answer, GlobalArgs { quiet, ..global })?;
    if let Some(failure) = answer.failure() {
        return Err(failure);
    }
    let settings = args.settings.as_deref().map(show::typed);
    let settings = settings.map_or(String::new(), |file| format!(" --settings {file}"));
    let next = if written {
        format!("deadloop cases cases.toml{settings}")
    } else {
        "deadloop cases --add CORPUS TRANSCRIPT >> cases.toml".to_owned()
    };
    show::print_next(&[next], global)
}
