//! Creates the manifest of a run, with the request, the corpus, the version and the machine.

use std::time::{Duration, SystemTime};

use deadloop_score::{CaseSet, CorpusInfo, FORMAT, Manifest};

use crate::corpus::survey::CorpusSurvey;
use crate::replay::request::Request;

/// Creates the manifest of a request on a surveyed corpus.
pub(crate) fn new_manifest<C: CaseSet>(
    request: &Request<'_>,
    surveyed: &CorpusSurvey<C>,
) -> Manifest {
    let mut chars = 0;
    surveyed.cases.each(|_, case| {
        let length = case.timeline.length();
        chars += length.reasoning.0 + length.answer.0;
    });
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get() as u64);
    Manifest {
        deadloop: env!("CARGO_PKG_VERSION").into(),
        format: FORMAT,
        command: request.command.into(),
        args: request.host.command_line(),
        started_in: std::env::current_dir()
            .map_or_else(|_| String::new(), |dir| dir.display().to_string()),
        corpus: CorpusInfo {
            path: request.corpus.display().to_string(),
            name: surveyed.name.clone(),
            hash: surveyed.hash.clone(),
            transcripts: surveyed.cases.number() as u64,
            chars,
            filtered: surveyed.filtered,
            rejected: surveyed.problems.len() as u64,
            by: request.output.by.clone(),
        },
        grid: request.grid.clone(),
        seed: request.select.seed,
        cores,
        threads: rayon::current_num_threads() as u64,
        ..Manifest::default()
    }
}

/// Returns the current time in the format of a manifest.
pub(crate) fn now() -> String {
    format_time(SystemTime::now())
}

/// Formats a time, clamped to the years 1970 to 9999, the only ones that the format can express.
fn format_time(time: SystemTime) -> String {
    /// The last second of the year 9999, since 1970.
    const MAX_SECONDS: Duration = Duration::from_secs(253_402_300_799);
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default().min(MAX_SECONDS);
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_ends_nothing() {
        let at = |seconds: i64| {
            let by = Duration::from_secs(seconds.unsigned_abs());
            if seconds < 0 {
                SystemTime::UNIX_EPOCH - by
            } else {
                SystemTime::UNIX_EPOCH + by
            }
        };
        assert_eq!(format_time(at(-86_400)), "1970-01-01T00:00:00Z");
        assert_eq!(format_time(at(1_764_000_000)), "2025-11-24T16:00:00Z");
        for late in [253_402_300_799, 253_402_300_800, 900_000_000_000] {
            assert_eq!(format_time(at(late)), "9999-12-31T23:59:59Z");
        }
    }
}
