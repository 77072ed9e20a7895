//! Runs a subject on one shard and writes its part.
//!
//! The shard is read in one pass, in bounded memory: two batches of transcripts, and the labels. Every line is written
//! as soon as it is complete.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{Corpus, Problem, Shard};
use deadloop_replay::{Interruption, PassResult, Subject, map_corpus_for};
use deadloop_score::{Case, LabelsFile, write_text};

use super::lines::{LineWriter, NamesLine, ShardLine, StoredProblem};
use super::part::{NAMES, PART_FILE, PartManifest, RECORDS, SharedFields};
use crate::corpus::findings::{FoundRecord, RecordChecker, sort_label_problems_first};
use crate::corpus::stamps::Stamps;
use crate::corpus::survey::{SurveyRequest, fail_if_out_of_resources, list_problems, open};
use crate::failure::{Code, RunResult};
use crate::folder::outputs::{claim_folder, occupied_by};
use crate::host::watched;
use crate::option::FORCE;
use crate::replay::request::Request;
use crate::words;

/// The summary of a finished part.
pub struct PartSummary {
    /// The shard as `I/N`.
    pub shard: String,
    /// The number of corpus files in the shard.
    pub files: u64,
    /// The number of transcripts in the shard.
    pub records: u64,
}

/// The run of a subject on one shard.
struct ShardRun<'a, S> {
    request: &'a Request<'a>,
    subject: &'a S,
    shard: Shard,
    /// All files of the corpus, in their order.
    files: &'a [PathBuf],
    /// The corpus restricted to the files of the shard.
    corpus: &'a Corpus,
    labels: Option<&'a LabelsFile>,
    /// Set after a problem that rules out a part. Later transcripts are read and not replayed.
    hopeless: AtomicBool,
}

/// Runs a subject on one shard of the corpus files and writes the part, or returns an existing part of the same
/// request.
pub(crate) fn write_part<S: Subject>(
    request: &Request<'_>,
    shard: Shard,
    subject: &S,
) -> RunResult<PartSummary> {
    request.selection()?;
    let out = request.out;
    let read = std::iter::once(request.corpus).chain(request.read.iter().copied());
    let read: Vec<&Path> = read.collect();
    let _claim = claim_folder(out, [PART_FILE, RECORDS, NAMES], &read, request.host)?;
    let corpus = open(request.corpus)?;
    let own = corpus.shard(shard);
    let stamps = Stamps::from_corpus(&own);
    let mut part = PartManifest {
        whole: SharedFields::new(request, subject, &corpus)?,
        shard: shard.to_string(),
        records: 0,
        bytes: Default::default(),
    };
    if let Some(known) = existing_part(request, &part)? {
        request.host.notify(&format!(
            "{}: already holds this part; nothing to do ({FORCE} makes it anew)",
            out.display()
        ));
        return Ok(part_summary(&known, &own));
    }
    if own.files().is_empty() {
        let files = words::several(corpus.files().len() as u64, "file");
        request.host.notify(&format!(
            "shard {shard} is empty: shards are made of files, and the corpus has {files}"
        ));
    }
    let labels = corpus.labels_csv().map(LabelsFile::read);
    let (labels, problems) = labels.unzip();
    let problems = problems.unwrap_or_default();
    if shard.nth() == 1 {
        write_names(out, &corpus, (labels.as_ref(), &problems))?;
    }
    let work = ShardRun {
        request,
        subject,
        shard,
        files: corpus.files(),
        corpus: &own,
        labels: labels.as_ref(),
        hopeless: AtomicBool::new(false),
    };
    part.records = work.write_records(problems)?;
    stamps.check()?;
    part.bytes = part_file_sizes(out);
    let text = serde_json::to_string_pretty(&part)? + "\n";
    write_text(&out.join(PART_FILE), &text)?;
    Ok(part_summary(&part, &own))
}

/// Returns the sizes of the files of a part, in bytes.
fn part_file_sizes(out: &Path) -> BTreeMap<String, u64> {
    let size = |name: &str| Some((name.to_owned(), out.join(name).metadata().ok()?.len()));
    [RECORDS, NAMES].into_iter().filter_map(size).collect()
}

/// Returns the part of this request, if the folder holds it. Otherwise empties the folder, or returns an error if it
/// holds anything else and must not be overwritten.
fn existing_part(request: &Request<'_>, part: &PartManifest) -> RunResult<Option<PartManifest>> {
    let (out, force) = (request.out, request.output.folder.force);
    if !force {
        let known = PartManifest::read(out)?;
        let same = |known: &PartManifest| known.whole == part.whole && known.shard == part.shard;
        if let Some(known) = known.filter(same) {
            return Ok(Some(known));
        }
        // Files left by an interruption are not a result.
        let own = |name: &std::ffi::OsString| name == NAMES || name == RECORDS;
        let unfinished = !out.join(PART_FILE).exists();
        let other = std::fs::read_dir(out)?
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .find(|name| !(unfinished && own(name)));
        if let Some(name) = other {
            return Err(occupied_by(out, Path::new(&name), " and is not this part"));
        }
    }
    for name in [PART_FILE, RECORDS, NAMES] {
        match std::fs::remove_file(out.join(name)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    Ok(None)
}

/// Writes the ids in labels.csv and splits.csv. All shards read these files, and only the first writes the ids.
fn write_names(
    out: &Path,
    corpus: &Corpus,
    (labels, bad): (Option<&LabelsFile>, &[Problem]),
) -> RunResult {
    if labels.is_none() && corpus.splits_csv().is_none() {
        return Ok(());
    }
    let bad_labels = bad
        .iter()
        .map(|problem| NamesLine::BadLabel(StoredProblem::from_problem(problem)));
    let bad_splits = corpus.bad_splits();
    let bad_splits = bad_splits
        .iter()
        .map(|p| NamesLine::BadSplit(StoredProblem::from_problem(p)));
    let named = labels.into_iter().flat_map(LabelsFile::named);
    let named = named.map(|(id, place)| NamesLine::Label(id.into(), place.line));
    let mut splits: Vec<_> = corpus.split_places().collect();
    splits.sort_by_key(|(_, place)| place.line);
    let splits = splits.into_iter();
    let splits = splits.map(|(id, place)| NamesLine::Split(id.into(), place.line));
    let mut file = LineWriter::create(&out.join(NAMES))?;
    for line in bad_labels.chain(bad_splits).chain(named).chain(splits) {
        file.push_line(&serde_json::to_string(&line)?)?;
    }
    file.finish()
}

impl<S: Subject> ShardRun<'_, S> {
    /// Replays the shard, writes its records and returns their number. `problems` are those of labels.csv.
    fn write_records(&self, mut problems: Vec<Problem>) -> RunResult<u64> {
        let mut file = LineWriter::create(&self.request.out.join(RECORDS))?;
        self.replay_files(&mut file, &mut problems)?;
        fail_if_out_of_resources(&problems)?;
        if !self.request.select.skips() && !problems.is_empty() {
            sort_label_problems_first(&mut problems, self.corpus.labels_csv());
            return Err(Code::Usage.error(list_problems(&problems)));
        }
        let lines = file.lines;
        file.finish()?;
        Ok(lines)
    }

    /// Replays the files of the shard. Adds a line to `file` for each record, and its problems to `problems`.
    fn replay_files(&self, file: &mut LineWriter, problems: &mut Vec<Problem>) -> RunResult {
        let fails = !self.request.select.skips();
        self.hopeless
            .store(fails && !problems.is_empty(), Ordering::Relaxed);
        let wanted = SurveyRequest {
            path: self.request.corpus,
            selection: self.request.selection()?,
            by: &self.request.output.by,
            entry: None,
            host: self.request.host,
        };
        let checker = RecordChecker {
            labels: self.labels,
            request: &wanted,
            is_full: &AtomicBool::new(false),
            refuses: &|transcript| self.subject.find_invalid(transcript),
        };
        let mut written = Ok(());
        let pass = watched(wanted.host, "replaying", |watch| {
            let line = |entry, raw| {
                self.format_record(checker.check_record(entry, raw, |entry, case| {
                    let idle = self.is_sealed(case) || self.hopeless.load(Ordering::Relaxed);
                    let say = || self.subject.compute(&entry.transcript, watch.cancel);
                    (!idle).then(say).transpose()
                }))
            };
            map_corpus_for(self.subject, self.corpus, watch, line, |line| {
                let taken = line.map(|(text, wrong)| {
                    self.hopeless
                        .fetch_or(fails && !wrong.is_empty(), Ordering::Relaxed);
                    problems.extend(wrong);
                    text
                });
                match taken {
                    Ok(text) => written = text.and_then(|text| file.push_line(&text)),
                    Err(Interruption) => return ControlFlow::Break(()),
                }
                if written.is_err() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })
        });
        written?;
        if let Some(what) = self.subject.failure() {
            return Err(Code::Unexpected.error(what));
        }
        pass.map_err(|Interruption| {
            let what = "interrupted; the same command makes the part from its beginning";
            Code::Interrupted.error(what)
        })
    }

    /// Returns whether the case is in the sealed split.
    fn is_sealed(&self, case: &Case) -> bool {
        let split = self.request.sealed;
        split.is_some_and(|sealed| case.split.as_deref() == Some(sealed))
    }

    /// Formats a record as a line. Also returns its problems.
    fn format_record(
        &self,
        found: FoundRecord<PassResult<Option<S::Reply>>>,
    ) -> PassResult<(RunResult<String>, Vec<Problem>)> {
        let found = FoundRecord {
            case: found.case,
            is_selected: found.is_selected,
            look_result: found.look_result.transpose()?,
            problems: found.problems,
            bad: found.bad,
            digest: found.digest,
            entry: None,
        };
        let unreadable = found.case.as_ref().err();
        let wrong: Vec<Problem> = found.problems.iter().chain(unreadable).cloned().collect();
        let path = match &found.case {
            Ok((_, place)) => &place.file,
            Err(problem) => &problem.place.file,
        };
        let own = self
            .files
            .iter()
            .enumerate()
            .filter(|(nth, _)| self.shard.has(*nth));
        let file = own.into_iter().find(|(_, file)| *file == path.as_path());
        let line = ShardLine::from_found(file.map_or(0, |(nth, _)| nth), found);
        Ok((serde_json::to_string(&line).map_err(Into::into), wrong))
    }
}

fn part_summary(part: &PartManifest, corpus: &Corpus) -> PartSummary {
    PartSummary {
        shard: part.shard.clone(),
        files: corpus.files().len() as u64,
        records: part.records,
    }
}
