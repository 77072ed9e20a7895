//! [`ShardParts`]: all parts of a corpus, and their merge.
//!
//! Each part is read once, line by line, in the order of the corpus. Memory holds a case and a record for each
//! transcript, and all ids, like in a run on one machine.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::{Corpus, Ids, Place, Problem, Shard, strays};
use deadloop_detect::Unit;
use deadloop_score::orphans;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::lines::{LineReader, NamesLine, ShardLine};
use super::part::{NAMES, PartManifest, RECORDS, ShardCorpus, detector_versions, subject_hash};
use crate::corpus::case_store::CaseStore;
use crate::corpus::findings::{Findings, SideFiles};
use crate::corpus::places::Places;
use crate::corpus::stamps::Stamps;
use crate::corpus::survey::{CorpusSurvey, drop_sealed};
use crate::failure::{Code, Failure, RunResult};
use crate::option::{CORPUS, SHARD};
use crate::replay::programs::ProgramIdentity;
use crate::replay::request::Request;
use crate::words;

/// The merged corpus, and the subject's answer for each transcript. An answer is `None` if the transcript is sealed.
type MergedCorpus<C, S> = (CorpusSurvey<C>, Vec<Option<S>>);

/// All parts of a corpus.
#[derive(Debug)]
pub struct ShardParts {
    /// The folders of the parts, in the order of their shards.
    dirs: Vec<PathBuf>,
    first: PartManifest,
}

fn parts_failure(what: impl Display) -> Failure {
    Code::Usage.error(what)
}

impl ShardParts {
    /// Opens the parts in these folders, which may be in any order.
    ///
    /// # Errors
    /// Returns an error if a folder has no part, a part is missing or given twice, or parts differ in version,
    /// command, plan or corpus.
    pub fn open(dirs: &[PathBuf]) -> RunResult<Self> {
        let mut by_shard: BTreeMap<usize, (PathBuf, PartManifest)> = BTreeMap::new();
        let mut first: Option<(&Path, PartManifest, Shard)> = None;
        for dir in dirs {
            let shown = dir.display();
            let part = PartManifest::read(dir)?.ok_or_else(|| {
                parts_failure(format_args!(
                    "{shown}: no part.json; expected a folder that {SHARD} left, finished"
                ))
            })?;
            let shard = part.parse_shard()?;
            let (first_dir, first_part, first_shard) =
                first.get_or_insert_with(|| (dir, part.clone(), shard));
            let known = first_dir.display();
            if let Some(what) = part.describe_difference(first_part) {
                return Err(parts_failure(format_args!(
                    "{shown} does not belong to {known}: {what}"
                )));
            }
            if shard.count() != first_shard.count() {
                return Err(parts_failure(format_args!(
                    "{shown} is shard {shard} and {known} is shard {first_shard}; give the parts of one division"
                )));
            }
            if let Some((other, _)) = by_shard.insert(shard.nth(), (dir.clone(), part)) {
                let other = other.display();
                return Err(parts_failure(format_args!(
                    "{other} and {shown} are both shard {shard}; leave one of them out"
                )));
            }
        }
        let (_, first, shard) = first.ok_or_else(|| parts_failure("no parts were given"))?;
        let missing = (1..=shard.count()).filter(|nth| !by_shard.contains_key(nth));
        let missing: Vec<String> = missing
            .map(|nth| format!("{nth}/{}", shard.count()))
            .collect();
        if !missing.is_empty() {
            let (n, some) = (missing.len(), missing[..missing.len().min(20)].join(", "));
            let are = if n == 1 { "shard is" } else { "shards are" };
            return Err(parts_failure(format_args!(
                "{n} {are} missing: {some}; make them with {SHARD}, then merge all parts"
            )));
        }
        if first.whole.detectors != detector_versions() {
            let what = "the parts are of detectors of another version; merge them with the deadloop that made them";
            return Err(parts_failure(what));
        }
        let dirs = by_shard.into_values().map(|(dir, _)| dir).collect();
        Ok(Self { dirs, first })
    }

    /// Returns the command that made the parts, with its options.
    pub fn request(&self) -> &Value {
        &self.first.whole.request
    }

    /// Returns the path that the corpus had when the parts were made.
    pub fn corpus(&self) -> &Path {
        &self.first.whole.corpus.path
    }

    /// Returns the texts of the files that the command read.
    pub fn read(&self) -> &BTreeMap<PathBuf, String> {
        &self.first.whole.read
    }

    /// Returns the unit of the default grids and limits, if defaults were used.
    pub fn unit(&self) -> Option<Unit> {
        let name = self.first.whole.unit.as_deref()?;
        Unit::named(name)
    }

    /// Returns the identity of the programs in the plan.
    pub(crate) fn programs(&self) -> &ProgramIdentity {
        &self.first.whole.programs
    }

    /// Merges the parts into a surveyed corpus, and returns it with the answers for the selected transcripts.
    pub(crate) fn survey<C: CaseStore, S: DeserializeOwned>(
        &self,
        request: &Request<'_>,
        subject: &str,
    ) -> RunResult<MergedCorpus<C, S>> {
        if subject_hash(subject) != self.first.whole.plan {
            return Err(parts_failure(
                "these options make another plan than that of the parts; merge with the options of the shards",
            ));
        }
        let selection = request.selection()?;
        let side_problems = self.side_file_problems()?;
        let mut found: Findings<C, Option<S>> = Findings::new(side_problems.bad_labels);
        self.read_records(&mut found)?;
        let sides = &self.first.whole.corpus.sides;
        found.finish(&SideFiles {
            bad_splits: side_problems.bad_splits,
            strays: &|ids| self.orphaned_splits(ids),
            orphans: &|ids| self.orphaned_labels(ids),
            labels_csv: sides.0.as_deref(),
        })?;
        let corpus = self.open_corpus(request)?;
        let stamps = Stamps::from_corpus(&corpus);
        let side = &self.first.whole.corpus.side;
        let (mut surveyed, said) = found.into_survey(corpus, (stamps, side), &selection);
        surveyed.name.clone_from(&self.first.whole.corpus.name);
        let said = drop_sealed(&mut surveyed, said, request.sealed);
        let fields = request.output.by.len();
        if surveyed.cases.any(|case| case.by.len() != fields) {
            return Err(parts_failure(
                "a part has records of another plan; make the parts anew",
            ));
        }
        // The places are those on the machines that made the parts.
        surveyed.places = Places::default();
        Ok((surveyed, said))
    }

    /// Reads all records of all parts, in the order of the corpus.
    fn read_records<C: CaseStore, S: DeserializeOwned>(
        &self,
        found: &mut Findings<C, Option<S>>,
    ) -> RunResult {
        let open = |dir: &PathBuf| Ok((LineReader::open(&dir.join(RECORDS))?, None));
        let mut parts: Vec<(LineReader, Option<ShardLine<S>>)> =
            self.dirs.iter().map(open).collect::<RunResult<_>>()?;
        for (reader, next) in &mut parts {
            *next = reader.next_line()?;
        }
        let files = &self.first.whole.corpus.files;
        for (nth, (file, _)) in files.iter().enumerate() {
            let file = Arc::new(file.clone());
            let Some((reader, next)) = parts.get_mut(nth % self.dirs.len()) else {
                continue;
            };
            while let Some(line) = next.take_if(|line| line.at.0 == nth) {
                let line = line.into_found(&file);
                found.add_record(line.ok_or_else(|| reader.line_failure("it contradicts itself"))?);
                *next = reader.next_line()?;
            }
        }
        for (reader, next) in &parts {
            if next.is_some() {
                return Err(reader.line_failure("a record out of its order, or of another shard"));
            }
        }
        Ok(())
    }

    /// Reads the problems of labels.csv and splits.csv.
    fn side_file_problems(&self) -> RunResult<SideProblems> {
        let mut beside = SideProblems::default();
        self.each_name(|named| match named {
            NamesLine::BadLabel(wrong) => beside.bad_labels.push(wrong.into_problem()),
            NamesLine::BadSplit(wrong) => beside.bad_splits.push(wrong.into_problem()),
            NamesLine::Label(..) | NamesLine::Split(..) => {}
        })?;
        Ok(beside)
    }

    fn each_name(&self, mut visit: impl FnMut(NamesLine)) -> RunResult {
        let (Some(dir), sides) = (self.dirs.first(), &self.first.whole.corpus.sides) else {
            return Ok(());
        };
        if sides.0.is_none() && sides.1.is_none() {
            return Ok(());
        }
        let mut reader = LineReader::open(&dir.join(NAMES))?;
        while let Some(named) = reader.next_line()? {
            visit(named);
        }
        Ok(())
    }

    /// Returns the ids of labels or splits that belong to no transcript, with their places in `file`. `id_and_line`
    /// selects the lines of one kind.
    fn absent_ids(
        &self,
        ids: &Ids,
        file: Option<&PathBuf>,
        id_and_line: impl Fn(NamesLine) -> Option<(String, u64)>,
    ) -> Vec<(String, Place)> {
        let file = Arc::new(file.cloned().unwrap_or_default());
        let mut absent = Vec::new();
        // Errors were reported when the file was read before.
        let _ = self.each_name(|named| {
            let named = id_and_line(named).filter(|(id, _)| !ids.contains(id));
            absent.extend(named.map(|(id, line)| (id, Place::new(Arc::clone(&file), line))));
        });
        absent
    }

    fn orphaned_labels(&self, ids: &Ids) -> Vec<Problem> {
        let file = self.first.whole.corpus.sides.0.as_ref();
        let absent = self.absent_ids(ids, file, |named| match named {
            NamesLine::Label(id, line) => Some((id, line)),
            _ => None,
        });
        orphans(absent.iter().map(|(id, place)| (id.as_str(), place)), ids)
    }

    fn orphaned_splits(&self, ids: &Ids) -> Vec<Problem> {
        let file = self.first.whole.corpus.sides.1.as_ref();
        let absent = self.absent_ids(ids, file, |named| match named {
            NamesLine::Split(id, line) => Some((id, line)),
            _ => None,
        });
        strays(absent.iter().map(|(id, place)| (id.as_str(), place)), ids)
    }

    /// Opens the corpus, for the transcripts that a report shows. The corpus has no files if it is not on this machine
    /// or has changed.
    fn open_corpus(&self, request: &Request<'_>) -> RunResult<Corpus> {
        let opens = request.opens;
        let path = request.corpus;
        let missing =
            format!("the report opens no transcript; say with {CORPUS} where the corpus is now");
        if !path.exists() {
            if opens {
                let path = words::typed(path);
                request
                    .host
                    .notify(&format!("{path}: the corpus is not here: {missing}"));
            }
            return Ok(Corpus::default());
        }
        let corpus = crate::corpus::survey::open(path)?;
        let looked = ShardCorpus::from_corpus(path, &corpus)?;
        match looked.describe_difference(&self.first.whole.corpus) {
            None => Ok(corpus),
            Some(what) if request.corpus != self.first.whole.corpus.path => {
                let path = path.display();
                Err(Code::Usage.at(
                    CORPUS,
                    format!("{path}: {what}; expected that of the parts"),
                ))
            }
            Some(what) => {
                if opens {
                    let path = path.display();
                    request.host.notify(&format!(
                        "{path}: {what} since the parts were made: {missing}"
                    ));
                }
                Ok(Corpus::default())
            }
        }
    }
}

/// The problems of labels.csv and splits.csv.
#[derive(Default)]
struct SideProblems {
    bad_labels: Vec<Problem>,
    bad_splits: Vec<Problem>,
}
