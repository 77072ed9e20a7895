//! `deadloop label`: proposes labels, reviews them, and merges two reviews.
//!
//! | to find | look in |
//! |---|---|
//! | a review, disputes, proposals for a corpus | `deadloop_run::label` |
//! | the view of a transcript for a reviewer | `view` |
//! | a review in a terminal, or by lines on stdin | `terminal_review` |
//! | a review in a browser | `web` |

pub(super) use deadloop_run::label::LabelOptions;
use deadloop_run::label::{LabelAnswer, label, review};

mod terminal_review;
mod view;
mod web;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show::{self, typed};

pub(crate) const HELP: &str = include_str!("help.txt");

pub(super) fn run(args: &LabelOptions, global: GlobalArgs) -> Outcome {
    let host = Terminal::new(global);
    let corpus = args.corpus.as_deref().map_or("CORPUS".into(), typed);
    if args.asks() {
        let task = review(args, &host)?;
        let (answered, left) = match args.serve {
            Some(port) => web::serve(&task, port)?,
            None => terminal_review::run_review(&task)?,
        };
        let json = serde_json::json!({"answered": answered, "left": left});
        let shown = task.labels.display();
        show::print_values(
            &json,
            || format!("{answered} answered, {left} left: {shown}"),
            global,
        )?;
        let next = match (answered + left, left) {
            (0, _) => format!("deadloop label {corpus} --review --again"),
            (_, 0) => format!("deadloop check {corpus}"),
            _ => format!("deadloop label {corpus} --review"),
        };
        return show::print_next(&[next], global);
    }
    let answer = label(args, &host)?;
    show::print_answer(&answer, global)?;
    let next = match &answer {
        LabelAnswer::Proposed(..) => {
            let out = args.out.iter().map(|out| format!(" --out {}", typed(out)));
            let out: String = out.collect();
            vec![
                format!("deadloop label {corpus} --review{out}"),
                format!("deadloop check {corpus}"),
            ]
        }
        LabelAnswer::Disputes(found) if found.is_empty() => Vec::new(),
        LabelAnswer::Disputes(_) => {
            let results = args.disputes.as_deref().map(typed).unwrap_or_default();
            let disputes = format!("--disputes {results}");
            vec![format!("deadloop label {corpus} {disputes} --review")]
        }
        LabelAnswer::Merged(counts, out) => vec![match counts.differ {
            0 => format!("deadloop check {corpus}"),
            _ => format!("deadloop label {corpus} --review --out {}", typed(out)),
        }],
    };
    show::print_next(&next, global)
}
