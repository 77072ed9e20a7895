//! [`ask`]: runs a subject over a corpus, from the folder to the manifest.
//!
//! Guards, repairers and budgets are such subjects. A request is checked before any work, and an interrupted run is
//! resumed from its journal. A request can be split into parts, which are merged later.

use std::path::Path;
use std::time::Instant;

use deadloop_corpus::{Entry, Transcript};
use deadloop_replay::{Job, Journal, JournalEntry, JournalError, RunError, Subject, run_into};
use deadloop_score::{Case, Manifest, ResultFailure};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::corpus::case_store::CaseStore;
use crate::corpus::findings::TranscriptFilter;
use crate::corpus::survey::{CorpusSurvey, SurveyRequest, drop_sealed, open, survey_into};
use crate::failure::{Code, Failure, RunResult};
use crate::folder::answer::{FolderAnswer, FolderContent};
use crate::folder::manifest::{new_manifest, now};
use crate::folder::{Folder, FolderState, fingerprint};
use crate::host::{Host, watched};
use crate::layout::TextDocument;
use crate::replay::RunOutcome;
use crate::replay::programs::ProgramIdentity;
use crate::replay::request::Request;
use crate::report::render;
use crate::shards;

/// A request with its writable folder and its surveyed corpus.
pub(crate) struct OpenRun<'a, C, S> {
    request: &'a Request<'a>,
    /// The fingerprint of the subject.
    subject: String,
    folder: Folder,
    /// The surveyed corpus, which the caller may still change.
    pub(crate) surveyed: CorpusSurvey<C>,
    /// The answers of the subject from merged parts, one for each transcript. `None` if the corpus is read here.
    merged_answers: Option<Vec<Option<S>>>,
    started: Instant,
}

/// A run in which every selected transcript has an answer.
pub struct AnsweredRun<C> {
    /// The folder of the results.
    pub folder: Folder,
    /// The surveyed corpus.
    pub surveyed: CorpusSurvey<C>,
    /// The manifest of the folder. The caller adds the chosen setting.
    pub manifest: Manifest,
    journal: Option<Journal>,
    started: Instant,
}

/// The answers of a subject, and the run that computed them.
pub struct Answers<T> {
    /// The folder, the surveyed corpus and the manifest.
    pub run: AnsweredRun<Vec<Case>>,
    /// The subject's answer for each case, in the order of the corpus.
    pub said: Vec<T>,
}

/// Runs a subject on every selected transcript. `more` lists further inputs on which the result depends, besides the
/// request and the subject. The caller writes the tables and ends the run by [`AnsweredRun::finish`].
///
/// # Errors
/// Returns an error if the corpus is not whole or changes, nothing is selected, the subject does not accept a
/// transcript, the folder holds another result, a program fails, or the host stops the run.
pub fn ask<S: Subject>(
    request: &Request<'_>,
    subject: &S,
    more: Vec<String>,
) -> RunResult<RunOutcome<Answers<S::Reply>>> {
    if let Some(shard) = request.output.folder.shard {
        return shards::write_part(request, shard, subject).map(RunOutcome::Part);
    }
    let refuses = |transcript: &Transcript| subject.find_invalid(transcript);
    let (opened, _) = OpenRun::open(request, subject.fingerprint(), &refuses, |_, _| ())?;
    let mut said = Vec::new();
    let asked = opened.ask(subject, more, &mut |entered| said.push(entered.said))?;
    asked.try_map(|run| Ok(Answers { run, said }))
}

impl<'a, C: CaseStore, S: DeserializeOwned> OpenRun<'a, C, S> {
    /// Prepares the folder and surveys the corpus, or the merged parts. Also returns the result of `look` for each
    /// transcript read here. `subject` is the fingerprint that parts must have.
    ///
    /// # Errors
    /// Returns an error if the folder or the corpus cannot be used, or if parts belong to another subject.
    pub(crate) fn open<T: Send>(
        request: &'a Request<'a>,
        subject: String,
        refuses: TranscriptFilter<'_>,
        look: impl Fn(&Entry, &Case) -> T + Sync,
    ) -> RunResult<(Self, Vec<T>)> {
        let started = Instant::now();
        let folder = request.folder()?;
        let (surveyed, looks, merged_answers) = match request.output.folder.parts.as_deref() {
            None => {
                let wanted = SurveyRequest {
                    path: request.corpus,
                    selection: request.selection()?,
                    by: &request.output.by,
                    entry: None,
                    host: request.host,
                };
                let corpus = open(request.corpus)?;
                let (mut surveyed, looks) = survey_into(corpus, wanted, refuses, look)?;
                let looks = drop_sealed(&mut surveyed, looks, request.sealed);
                (surveyed, looks, None)
            }
            Some(parts) => {
                let (surveyed, merged_answers) = parts.survey(request, &subject)?;
                (surveyed, Vec::new(), Some(merged_answers))
            }
        };
        let opened = Self {
            request,
            subject,
            folder,
            surveyed,
            merged_answers,
            started,
        };
        Ok((opened, looks))
    }

    /// Runs the subject on each transcript and passes its answers to `keep`, in the order of the corpus. `more` lists
    /// further inputs on which the result depends.
    ///
    /// # Errors
    /// Returns an error if the corpus is not whole or changes, nothing is selected, the folder holds another result,
    /// a program fails, or the host stops the run.
    pub(crate) fn ask(
        self,
        subject: &impl Subject<Reply = S>,
        more: Vec<String>,
        keep: &mut dyn FnMut(JournalEntry<S>),
    ) -> RunResult<RunOutcome<AnsweredRun<C>>> {
        let Self {
            request,
            subject: asked,
            folder,
            surveyed,
            merged_answers,
            started,
        } = self;
        let programs = match request.output.folder.parts.as_deref() {
            None => ProgramIdentity::from_subject(subject),
            Some(parts) => parts.programs().clone(),
        };
        let inputs = result_inputs(request, (&surveyed.hash, &asked), more)?;
        let inputs = fingerprint(&[inputs, programs.inputs].concat());
        if let FolderState::Done(manifest) = folder.state(&inputs)? {
            return Ok(RunOutcome::Already(folder, manifest));
        }
        surveyed.accept(request.select.skips(), request.host)?;
        if !request.by_default {
            surveyed.notify_absent(&request.output.by, request.host);
        }
        let journal = match merged_answers {
            Some(known) => keep_merged_answers(&surveyed, subject, known, keep).map(|()| None)?,
            None => run_with_journal(request, (&surveyed, subject), (&folder, &inputs), keep)?,
        };
        surveyed.stamps.check()?;
        folder.begin()?;
        surveyed.write_rejected(folder.path())?;
        let manifest = Manifest {
            inputs,
            programs: programs.described,
            ..new_manifest(request, &surveyed)
        };
        Ok(RunOutcome::Ran(Box::new(AnsweredRun {
            folder,
            surveyed,
            manifest,
            journal,
            started,
        })))
    }
}

/// Returns everything on which the bytes of a result depend, except programs.
fn result_inputs(
    request: &Request<'_>,
    (corpus, subject): (&str, &str),
    more: Vec<String>,
) -> RunResult<Vec<String>> {
    let mut parts = vec![
        format!("{} {}", env!("CARGO_PKG_VERSION"), request.command),
        corpus.to_owned(),
        subject.to_owned(),
        format!(
            "{:?} {} {} {:?}",
            request.selection()?,
            request.select.skips(),
            request.select.seed,
            request.output.by
        ),
        format!(
            "{} {}",
            request.output.folder.csv, request.output.no_excerpts
        ),
    ];
    parts.extend(more);
    parts.extend(request.inputs.iter().cloned());
    Ok(parts)
}

/// Runs the subject on this machine, with the journal of the folder.
fn run_with_journal<S: Subject, C: CaseStore>(
    request: &Request<'_>,
    (surveyed, subject): (&CorpusSurvey<C>, &S),
    (folder, inputs): (&Folder, &str),
    keep: &mut dyn FnMut(JournalEntry<S::Reply>),
) -> RunResult<Option<Journal>> {
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.places,
        subject,
    };
    let opened = Journal::open(&folder.journal(), inputs, folder.force());
    let journal = opened.map_err(|e| match e {
        JournalError::OtherInputs(_) | JournalError::Busy(_) => Code::Usage.because(e),
        JournalError::Io(..) => Code::Unexpected.because(e),
    })?;
    let (mut next, mut is_other_corpus) = (0, false);
    let mut checked = |entered: JournalEntry<S::Reply>| {
        let is_same_id = |case: &Case| case.id == entered.transcript;
        is_other_corpus |= next >= surveyed.cases.number() || !surveyed.cases.on(next, is_same_id);
        next += 1;
        keep(entered);
    };
    let ran = watched(request.host, "replaying", |watch| {
        run_into(&job, Some(journal), watch, &mut checked)
    });
    let journal = ran.map_err(run_failure)?;
    if is_other_corpus {
        let what = "other transcripts stand where those were that were checked";
        return Err(run_failure(RunError::Changed(what.into())));
    }
    Ok(journal)
}

/// Passes the answers of merged parts to `keep`, like [`run_with_journal`] those of a run.
fn keep_merged_answers<S: Subject, C: CaseStore>(
    surveyed: &CorpusSurvey<C>,
    subject: &S,
    known: Vec<Option<S::Reply>>,
    keep: &mut dyn FnMut(JournalEntry<S::Reply>),
) -> RunResult {
    for (i, said) in known.into_iter().enumerate() {
        let transcript = surveyed.cases.on(i, |case| case.id.clone());
        let said = said.ok_or_else(|| {
            let what = "was not replayed by its shard; make the part anew";
            Code::Usage.error(format!("transcript {transcript:?} {what}"))
        })?;
        if !subject.can_return(&said) {
            let what = "a part has records of another plan; make the parts anew";
            return Err(Code::Usage.error(what));
        }
        keep(JournalEntry { transcript, said });
    }
    Ok(())
}

/// Converts an error that ended a run early.
pub(crate) fn run_failure(error: RunError) -> Failure {
    match error {
        RunError::Interrupted { .. } => {
            Code::Interrupted.error(format!("{error}; the same command goes on from there"))
        }
        RunError::Journal(_) | RunError::Program(_) | RunError::Machine(_) => {
            Code::Unexpected.because(error)
        }
        RunError::Changed(_) => Code::Usage.because(error),
    }
}

impl<C> AnsweredRun<C> {
    /// Ends a run that cannot have a result. Removes the journal and returns the failure.
    pub(crate) fn give_up(self, why: Failure) -> Failure {
        let removed = self.journal.map_or(Ok(()), Journal::remove);
        removed.map_or_else(|e| Code::Unexpected.because(e), |()| why)
    }

    /// Sets the summary of the manifest, which the answer prints as JSON. Values other than objects are ignored.
    pub fn sum_up(&mut self, summary: Value) {
        if let Value::Object(summary) = summary {
            self.manifest.summary = summary;
        }
    }

    /// Ends the run like [`close`](Self::close), with the report of deadloop. `text` is the result as shown to people.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn finish(
        self,
        result: RunResult,
        text: TextDocument,
        host: &dyn Host,
    ) -> RunResult<FolderAnswer> {
        let report = |dir: &Path| render(dir, &Default::default(), host).map(drop);
        let answer = self.close(result, report)?;
        Ok(answer.with_text(text))
    }

    /// Writes the manifest, which makes the folder a finished result, calls `report` with the folder and removes the
    /// journal. The manifest records the failure in `result`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn close(
        self,
        result: RunResult,
        report: impl FnOnce(&Path) -> RunResult,
    ) -> RunResult<FolderAnswer> {
        // Texts were read again to be shown, so the corpus is checked once more.
        self.surveyed.stamps.check()?;
        let Self {
            folder,
            mut manifest,
            journal,
            started,
            ..
        } = self;
        manifest.ended = result.as_ref().err().map(|failure| ResultFailure {
            exit: failure.code().exit(),
            reason: failure.chain(),
        });
        manifest.files = folder.files();
        manifest.seconds = started.elapsed().as_secs_f64();
        manifest.time = now();
        manifest.write(folder.path())?;
        report(folder.path())?;
        if let Some(journal) = journal {
            journal.remove()?;
        }
        let content = FolderContent::Result(Box::new(manifest));
        Ok(FolderAnswer::new(folder.path(), content, result.err()))
    }
}
