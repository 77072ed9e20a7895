//! `deadloop explain`: one transcript and one setting, or several.

use std::io::Write;

use anstream::{AutoStream, ColorChoice};
use deadloop_corpus::{Entry, Selection};
use deadloop_score::Case;

use super::replay::named;
use crate::args::{Explain, Global, OnBad};
use crate::corpus::{Surveyed, Wanted, survey};
use crate::exit::{Code, Failure, Outcome};
use crate::explaining::{Question, visible};
use crate::show;

/// Ids that are suggested for one that is not there.
const SUGGESTED: usize = 10;

pub(super) fn run(args: &Explain, global: Global) -> Outcome {
    let named = named((&args.settings, args.presets), &args.judge.set)?;
    let found = survey(Wanted {
        path: &args.corpus,
        selection: Selection::default(),
        by: &[],
        entry: Some(&args.transcript),
        quiet: global.quiet,
    })?;
    let (entry, case) = the_one((&args.transcript, args.on_bad), global.quiet, &found)?;
    let question = Question {
        transcript: &entry.transcript,
        case,
        judge: args.judge.options(),
        chunks: args.judge.chunks,
        context: args.context,
    };
    let explained = question.explain(&named)?;
    if global.json {
        return show::print(&serde_json::to_string(&explained)?);
    }
    if global.quiet {
        return Ok(());
    }
    let tinted = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    Ok(writeln!(
        anstream::stdout(),
        "{}",
        explained.words(tinted).trim_end()
    )?)
}

/// The transcript that was asked for, in a corpus that is whole.
pub(super) fn the_one<'a>(
    (id, on_bad): (&str, OnBad),
    quiet: bool,
    found: &'a Surveyed,
) -> Outcome<(&'a Entry, &'a Case)> {
    if on_bad == OnBad::Fail && !found.problems.is_empty() {
        return Err(Code::Usage.error(found.listing()));
    }
    if !quiet && !found.problems.is_empty() {
        eprintln!("{} problems skipped", found.problems.len());
    }
    let case = found.cases.iter().find(|case| case.id == id);
    match (found.entry.as_deref(), case) {
        (Some(entry), Some(case)) => Ok((entry, case)),
        // Its labels are bad, and it was left out.
        (Some(_), None) => Err(Code::Usage.error(found.listing())),
        (None, _) => Err(unknown(id, found)),
    }
}

fn unknown(id: &str, found: &Surveyed) -> Failure {
    let wanted = id.to_lowercase();
    let ids = || found.cases.iter().map(|case| case.id.as_str());
    let near: Vec<&str> = ids()
        .filter(|id| id.to_lowercase().contains(&wanted))
        .collect();
    let what = match near.len() {
        0 => format!(
            "none contains that; the {} of the corpus look like",
            found.cases.len()
        ),
        1 => "1 contains that".into(),
        n => format!("{n} contain that"),
    };
    let told = if near.is_empty() {
        ids().take(3).collect()
    } else {
        near
    };
    let mut told: Vec<String> = told.into_iter().take(SUGGESTED + 1).map(visible).collect();
    if told.len() > SUGGESTED {
        told[SUGGESTED] = "…".into();
    }
    let id = visible(id);
    Code::NothingSelected.error(format!(
        "no transcript is called {id}; {what}: {}",
        told.join(", ")
    ))
}
