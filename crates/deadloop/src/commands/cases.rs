//! `deadloop cases`: pinned cases against settings, and a pinned case from a recording.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_corpus::Selection;
use deadloop_detect::Settings;
use deadloop_run::cases::{CheckedCase, PinFinding, check, read};
use deadloop_run::{SurveyRequest, recorded_case, survey};
use serde_json::json;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::settings;
use crate::show;
use deadloop_run::visible::visible;

pub(crate) const HELP: &str = "Examples:\n  deadloop cases tests/cases/*.toml --settings settings.toml\n  deadloop cases --add recordings.jsonl t1 >> cases.toml\n\nA case:\n  [[case]]\n  name = \"a menu that repeats\"\n  text = [\"Fine.\\n⟦onset⟧\", { repeat = \"Try again.\\n\", times = 90 }]\n  expect = { alarm = true, between = [\"onset\", \"onset+600\"], kind = \"short-sequence\" }\n\nor expect = { alarm = false }. With todo = \"reason\" the case may fail, and the command says so once it holds.\n\n--add writes a recording as a case on stdout: the transcript with its label, and what is expected of it. A loop is stopped within the latency that the settings have now, and clean text is left alone; what the settings get wrong is a todo. Without a label the case expects what the settings do now.\n\nExit codes: 0 all cases hold, 4 there are no cases, 100 some do not hold.";

#[derive(Debug, Args)]
pub(crate) struct CasesArgs {
    /// Files of cases
    #[arg(required_unless_present = "add", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write a recording as a case, on stdout
    #[arg(long, num_args = 2, value_names = ["CORPUS", "ID"], conflicts_with_all = ["files", "corpus"])]
    pub(crate) add: Vec<String>,
    /// The settings for expectations that do not name their own [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The corpus, for cases that name transcripts
    #[arg(long, value_name = "CORPUS")]
    pub(crate) corpus: Option<PathBuf>,
}

pub(super) fn run(args: &CasesArgs, global: GlobalArgs) -> Outcome {
    let general = settings::settings(args.settings.as_deref(), &args.set)?;
    if let [corpus, id] = &args.add[..] {
        return add(args, (corpus.as_ref(), id), &general, global);
    }
    let name = match &args.settings {
        Some(path) => path.display().to_string(),
        None => "the recommended guard".into(),
    };
    let cases = read(&args.files)?;
    let checked = check(
        &cases,
        &name,
        &general,
        args.corpus.as_deref(),
        &Terminal::silent(),
    )?;
    if checked.is_empty() {
        return Err(Code::NothingSelected.error("the files hold no expectation"));
    }
    let failed = checked
        .iter()
        .filter(|c| c.finding() == PinFinding::Fail)
        .count();
    let rows: Vec<_> = checked.iter().map(row).collect();
    let json = json!({"failed": failed, "expectations": rows});
    show::answer(&json, || words(&checked), global)?;
    if failed > 0 {
        let all = checked.len();
        return Err(Code::GateFailed.error(format!("{failed} of {all} expectations do not hold")));
    }
    show::next(
        &["deadloop cases --add CORPUS TRANSCRIPT >> cases.toml"],
        global,
    )
}

/// Prints a recording as a case.
fn add(
    args: &CasesArgs,
    (corpus, id): (&Path, &str),
    settings: &Settings,
    global: GlobalArgs,
) -> Outcome {
    let host = Terminal::new(global);
    let found = survey(SurveyRequest {
        path: corpus,
        selection: Selection::default(),
        by: &[],
        entry: Some(id),
        host: &host,
    })?;
    let (entry, case) = found.one(id, false, &host)?;
    let text = recorded_case(entry, case, settings, &Terminal::silent())?;
    if global.json {
        return show::print_json(&json!({"name": id, "case": text}));
    }
    show::print(text.trim_end())?;
    let settings = args.settings.as_deref().map(show::typed);
    let settings = settings.map_or(String::new(), |file| format!(" --settings {file}"));
    show::next(&[&format!("deadloop cases cases.toml{settings}")], global)
}

fn row(checked: &CheckedCase<'_>) -> serde_json::Value {
    json!({
        "file": checked.case.file, "line": checked.case.pinned.line,
        "case": checked.case.pinned.name, "settings": checked.settings,
        "finding": name(checked.finding()), "said": checked.describe(),
        "expected": checked.expect.wanted(&checked.marks), "todo": checked.expect.todo,
        "around": checked.around,
    })
}

fn name(finding: PinFinding) -> &'static str {
    match finding {
        PinFinding::Pass => "pass",
        PinFinding::Fail => "fail",
        PinFinding::Todo => "todo",
        PinFinding::Mended => "mended",
    }
}

/// Formats the cases that fail, the todos that hold now, and the counts.
fn words(checked: &[CheckedCase<'_>]) -> String {
    let told = checked.iter().filter_map(|c| {
        let what = match (c.finding(), &c.expect.todo) {
            (PinFinding::Fail, _) => {
                let wanted = c.expect.wanted(&c.marks);
                format!(
                    "{}, expected {wanted}\n  {}",
                    visible(&c.describe()),
                    c.around
                )
            }
            (PinFinding::Mended, Some(todo)) => {
                format!("holds now: take off todo = {:?}", visible(todo))
            }
            _ => return None,
        };
        let (file, line) = (&c.case.file, c.case.pinned.line);
        let name = visible(&c.case.pinned.name);
        Some(format!("{file}:{line}: {name}: {}: {what}", c.settings))
    });
    let mut lines: Vec<String> = told.collect();
    let count = |finding| checked.iter().filter(|c| c.finding() == finding).count();
    lines.push(format!(
        "{} hold, {} do not, {} are known not to, {} of those hold now",
        count(PinFinding::Pass) + count(PinFinding::Mended),
        count(PinFinding::Fail),
        count(PinFinding::Todo) + count(PinFinding::Mended),
        count(PinFinding::Mended),
    ));
    lines.join("\n")
}
