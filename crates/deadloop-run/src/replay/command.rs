//! [`replay`]: replays settings over a corpus and scores them.

use std::path::{Path, PathBuf};

use deadloop_replay::Plan;
use deadloop_score::{AnyEvidence, Case, CaseSet, Verdict, count_opening};

use super::output::summary;
use super::{ReplayRun, name, replay_plan};
use crate::failure::{Code, RunResult};
use crate::folder::answer::FolderAnswer;
use crate::host::Host;
use crate::options::{JudgingOptions, OutputOptions, SelectionOptions};
use crate::replay::opened_transcripts::OpeningOptions;
use crate::replay::request::{Request, SEALED, record};
use crate::settings::{NamedSettings, SettingsReader};

options! {
    /// The options of a replay.
    pub struct ReplayOptions {
        /// A corpus: a folder, or one .jsonl file
        #[serde(skip)]
        pub corpus: PathBuf,
        /// Settings files; the first is the one in use [default: the recommended guard]
        #[arg(long, value_name = "FILE")]
        pub settings: Vec<PathBuf>,
        /// Add every preset of every detector
        #[arg(long)]
        pub presets: bool,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for judging alarms.
        #[command(flatten)]
        pub judge: JudgingOptions,
        /// The options for the output.
        #[command(flatten)]
        pub output: OutputOptions,
        /// The folder of the results
        #[arg(long, value_name = "DIR")]
        #[serde(skip)]
        pub out: PathBuf,
    }
}

/// Replays settings over a corpus, scores them, and writes the tables and the report.
///
/// # Errors
/// Returns an error if settings are bad or switched off, the corpus is not whole, nothing is selected, the folder holds
/// another result, a program fails, or the host stops the run.
pub fn replay(options: &ReplayOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let reader = SettingsReader::of_folder(&options.output.folder, host);
    let named = reader.named(&options.settings, options.presets, &options.judge)?;
    fail_if_all_guards_off(&named)?;
    let mut plan = Plan::default();
    let cells: Vec<usize> = named.iter().map(|(_, s)| plan.add_settings(s)).collect();
    let input = |(name, s): &NamedSettings| format!("{name} {}", s.id());
    let request = Request {
        command: "replay",
        read: options.settings.iter().map(PathBuf::as_path).collect(),
        inputs: named.iter().map(input).collect(),
        asked: record("replay", options)?,
        judging: options.judge.clone(),
        output: options.output.clone(),
        select: options.select.clone(),
        ..Request::new(&options.corpus, &options.out, host)
    };
    let done = replay_plan(&request, &plan, &named[0].1)?;
    done.answer(&request, |mut done| {
        count_openings(options, &done, host)?;
        let labels = named.iter().map(|(label, _)| label.as_str());
        for (label, cell) in labels.zip(&cells).chain([("current", &cells[0])]) {
            name(&mut done.run.manifest, &plan, *cell, label);
        }
        let mut distinct = cells.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let evidence = done.evidence(&plan)?;
        let (by, csv) = (&options.output.by, options.output.folder.csv);
        let scored = done.score(&evidence, &distinct, by, csv)?;
        let means = done.means(&evidence, &distinct);
        OpeningOptions {
            evidence: &evidence,
            focus: [("*".to_owned(), (cells[0], named[0].clone()))].into(),
            chunks: options.judge.chunks,
            texts: !options.output.no_excerpts,
            remedies: Default::default(),
            host,
        }
        .write(&done)?;
        let (text, json) = summary(&done, &evidence, &named, &cells);
        let worth_explaining = pick_example(&done, &evidence, cells[0]);
        done.run.sum_up(json);
        done.note(scored, means);
        Ok(FolderAnswer {
            worth_explaining,
            ..done.finish(Ok(()), text, host)?
        })
    })
}

/// Returns the id of a transcript worth explaining: a wrong alarm of the setting `cell`, else a miss, else a hit.
fn pick_example(done: &ReplayRun, evidence: &impl AnyEvidence, cell: usize) -> Option<String> {
    const WANTED: [Verdict; 3] = [Verdict::FalseAlarm, Verdict::Miss, Verdict::Hit];
    let mut first = [const { None }; WANTED.len()];
    evidence.each_judged(cell, &evidence.every(), &done.judge, |_, case, outcome| {
        for (first, wanted) in first.iter_mut().zip(WANTED) {
            if first.is_none() && outcome.verdict == wanted {
                *first = Some(case.id.to_string());
            }
        }
    });
    first.into_iter().flatten().next()
}

/// Returns an error if every guard of a setting is switched off.
fn fail_if_all_guards_off(named: &[NamedSettings]) -> RunResult {
    for (name, settings) in named {
        if settings.is_off() {
            let what = format!("{name}: every guard is switched off: nothing can alarm");
            return Err(Code::Usage.error(what));
        }
    }
    Ok(())
}

/// Records, in the folder of each chosen setting, that it was scored on the sealed split.
fn count_openings(options: &ReplayOptions, done: &ReplayRun, host: &dyn Host) -> RunResult {
    let sealed = |case: &Case| case.split.as_deref() == Some(SEALED);
    if !done.run.surveyed.cases.any(sealed) {
        return Ok(());
    }
    for file in &options.settings {
        let dir = file.parent().unwrap_or(Path::new(""));
        if let Some(times) = count_opening(dir)? {
            let file = file.display();
            host.notify(&format!(
                "{file}: scored on the split {SEALED}, time {times}: see choice.csv beside it"
            ));
        }
    }
    Ok(())
}
