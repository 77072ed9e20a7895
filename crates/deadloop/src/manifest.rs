//! The manifest of a run: what it says of the request, and what is said of a folder that has one.

use std::path::Path;
use std::time::{Duration, SystemTime};

use deadloop_detect::DETECTORS;
use deadloop_replay::Plan;
use deadloop_score::{CorpusInfo, JudgeOptions, Manifest, Worth};

use crate::args::Global;
use crate::corpus::Surveyed;
use crate::exit::{Failure, Outcome};
use crate::folder::Folder;
use crate::rendering::render;
use crate::replaying::Request;
use crate::show;

/// What was asked for, of what, and with what.
pub(crate) fn manifest(
    request: &Request<'_>,
    plan: &Plan,
    surveyed: &Surveyed,
    (judge, worth): (&JudgeOptions, &Worth),
) -> Manifest {
    let chars = surveyed.cases.iter().map(|case| {
        let length = case.timeline.length();
        length.reasoning.0 + length.answer.0
    });
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get() as u64);
    Manifest {
        deadloop: env!("CARGO_PKG_VERSION").into(),
        detectors: DETECTORS
            .iter()
            .map(|d| (d.name.into(), u64::from(d.version)))
            .collect(),
        command: request.command.into(),
        args: std::env::args_os()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect(),
        started_in: std::env::current_dir()
            .map_or_else(|_| String::new(), |dir| dir.display().to_string()),
        corpus: CorpusInfo {
            path: request.corpus.display().to_string(),
            name: surveyed.name.clone(),
            hash: surveyed.hash.clone(),
            transcripts: surveyed.cases.len() as u64,
            chars: chars.sum(),
            filtered: surveyed.filtered,
            rejected: surveyed.problems.len() as u64,
            by: request.output.by.clone(),
        },
        grid: request.grid.clone(),
        seed: request.select.seed,
        judge: *judge,
        worth: *worth,
        cells: plan.cells() as u64,
        refused: plan
            .refused()
            .iter()
            .map(|r| (format!("{}: {}", r.param, r.reason), r.cells as u64))
            .collect(),
        cores,
        threads: rayon::current_num_threads() as u64,
        ..Manifest::default()
    }
}

/// The same request was carried out before, into the same folder: it says the same, and ends the same
/// way. A report that is gone is made again.
pub(crate) fn already_done(folder: &Folder, manifest: &Manifest, global: Global) -> Outcome {
    let dir = folder.path();
    if !global.quiet {
        let dir = dir.display();
        eprintln!("{dir}: already holds these results; nothing to do (--force makes them anew)");
    }
    if !dir.join("report.html").is_file() {
        render(dir, &deadloop_report::Options::default(), global)?;
    }
    say(dir, manifest, global)?;
    match &manifest.ended {
        Some(ended) => Err(Failure::again(ended)),
        None => Ok(()),
    }
}

/// What `--json` says of a result.
pub(crate) fn say(dir: &Path, manifest: &Manifest, global: Global) -> Outcome {
    if !global.json {
        return Ok(());
    }
    let mut said = serde_json::Map::new();
    said.insert("out".into(), dir.display().to_string().into());
    said.extend(manifest.summary.clone());
    if let Some(ended) = &manifest.ended {
        said.insert("exit".into(), ended.exit.into());
        said.insert("reason".into(), ended.reason.clone().into());
    }
    show::print(&serde_json::Value::from(said).to_string())
}

/// The time in a manifest.
pub(crate) fn now() -> String {
    told(SystemTime::now())
}

/// A clock may be set before 1970 or after 9999, which no manifest can say: the nearest that it can.
fn told(time: SystemTime) -> String {
    /// The last second of the year 9999.
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default().min(LAST);
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_ends_nothing() {
        let at = |seconds: i64| {
            let by = Duration::from_secs(seconds.unsigned_abs());
            match seconds < 0 {
                true => SystemTime::UNIX_EPOCH - by,
                false => SystemTime::UNIX_EPOCH + by,
            }
        };
        assert_eq!(told(at(-86_400)), "1970-01-01T00:00:00Z");
        assert_eq!(told(at(1_764_000_000)), "2025-11-24T16:00:00Z");
        for late in [253_402_300_799, 253_402_300_800, 900_000_000_000] {
            assert_eq!(told(at(late)), "9999-12-31T23:59:59Z");
        }
    }
}
