//! [`ask`]: runs a subject over a corpus, from folder to manifest.
//!
//! Guards, repairers and budgets run in the same way. A request is checked before any work, and an interrupted one is
//! resumed from its journal. A request can be split into parts, which are merged later.

use std::path::Path;
use std::time::Instant;

use deadloop_corpus::{Entry, Transcript};
use deadloop_replay::{Job, Journal, JournalEntry, JournalError, RunError, Subject, run_into};
use deadloop_score::{Case, Manifest, ResultFailure};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::corpus::case_store::CaseStore;
use crate::corpus::findings::Refuses;
use crate::corpus::survey::{CorpusSurvey, SurveyRequest, drop_sealed, open, survey_into};
use crate::failure::{Code, Failure, RunResult};
use crate::folder::answer::{FolderAnswer, FolderContent};
use crate::folder::manifest::{manifest, now};
use crate::folder::{Folder, FolderState, fingerprint};
use crate::host::{Host, watched};
use crate::layout::TextDocument;
use crate::merge;
use crate::replay::RunOutcome;
use crate::replay::programs::ProgramIdentity;
use crate::replay::request::Request;
use crate::report::render;

/// A request with its writable folder and its surveyed corpus.
pub(crate) struct OpenRun<'a, C, S> {
    request: &'a Request<'a>,
    /// The fingerprint of the subject.
    subject: String,
    folder: Folder,
    /// The surveyed corpus, which the caller may still alter.
    pub(crate) surveyed: CorpusSurvey<C>,
    /// The subject's answer for each transcript, if the request merges parts.
    known: Option<Vec<Option<S>>>,
    began: Instant,
}

/// A request whose selected transcripts all have an answer.
pub struct AnsweredRun<C> {
    /// The folder of the results.
    pub folder: Folder,
    /// The surveyed corpus.
    pub surveyed: CorpusSurvey<C>,
    /// The manifest of the folder. The caller adds the chosen setting.
    pub manifest: Manifest,
    journal: Option<Journal>,
    began: Instant,
}

/// The subject's answers, and the run that made them.
pub struct Answers<T> {
    /// The folder, the surveyed corpus and the manifest.
    pub run: AnsweredRun<Vec<Case>>,
    /// The subject's answer for each case, in corpus order.
    pub said: Vec<T>,
}

/// Runs a subject on every selected transcript. `more` lists further inputs that the result depends on, beside the
/// request and the subject. The caller writes the tables and ends the run by [`AnsweredRun::finish`].
///
/// # Errors
/// Returns an error if the corpus is not whole or changes, nothing is selected, the subject refuses a transcript, the
/// folder holds another result, a program fails, or the host stops the run.
pub fn ask<S: Subject>(
    request: &Request<'_>,
    subject: &S,
    more: Vec<String>,
) -> RunResult<RunOutcome<Answers<S::Reply>>> {
    if let Some(shard) = request.output.folder.shard {
        return merge::write(request, shard, subject).map(RunOutcome::Part);
    }
    let refuses = |transcript: &Transcript| subject.refuses(transcript);
    let (opened, _) = OpenRun::open(request, subject.fingerprint(), &refuses, |_, _| ())?;
    let mut said = Vec::new();
    let asked = opened.ask(subject, more, &mut |entered| said.push(entered.said))?;
    asked.then(|run| Ok(Answers { run, said }))
}

impl<'a, C: CaseStore, S: DeserializeOwned> OpenRun<'a, C, S> {
    /// Checks that the folder is writable and surveys the corpus. Also returns the result of `look` for each
    /// transcript read here. `subject` is the fingerprint that parts must have.
    ///
    /// # Errors
    /// Returns an error if the folder or the corpus cannot be used, or if parts belong to another subject.
    pub(crate) fn open<T: Send>(
        request: &'a Request<'a>,
        subject: String,
        refuses: Refuses<'_>,
        look: impl Fn(&Entry, &Case) -> T + Sync,
    ) -> RunResult<(Self, Vec<T>)> {
        let began = Instant::now();
        let folder = request.folder()?;
        let (surveyed, looks, known) = match request.output.folder.parts.as_deref() {
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
                let (surveyed, known) = parts.survey(request, &subject)?;
                (surveyed, Vec::new(), Some(known))
            }
        };
        let opened = Self {
            request,
            subject,
            folder,
            surveyed,
            known,
            began,
        };
        Ok((opened, looks))
    }

    /// Runs the subject on each transcript and passes its answers to `keep`, in corpus order. `more` lists further
    /// inputs that the result depends on.
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
            known,
            began,
        } = self;
        let programs = match request.output.folder.parts.as_deref() {
            None => ProgramIdentity::from_subject(subject),
            Some(parts) => parts.programs().clone(),
        };
        let inputs = inputs(request, (&surveyed.hash, &asked), more)?;
        let inputs = fingerprint(&[inputs, programs.inputs].concat());
        if let FolderState::Done(manifest) = folder.state(&inputs)? {
            return Ok(RunOutcome::Already(folder, manifest));
        }
        surveyed.accept(request.select.skips(), request.host)?;
        if !request.by_default {
            surveyed.tell_absent(&request.output.by, request.host);
        }
        let journal = match known {
            Some(known) => put_together(&surveyed, subject, known, keep).map(|()| None)?,
            None => run(request, (&surveyed, subject), (&folder, &inputs), keep)?,
        };
        surveyed.stamps.check()?;
        folder.begin()?;
        surveyed.write_rejected(folder.path())?;
        let manifest = Manifest {
            inputs,
            programs: programs.described,
            ..manifest(request, &surveyed)
        };
        Ok(RunOutcome::Ran(Box::new(AnsweredRun {
            folder,
            surveyed,
            manifest,
            journal,
            began,
        })))
    }
}

/// Lists everything that the bytes of a result depend on, except programs.
fn inputs(
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

/// Runs the subject on this machine, with the folder's journal.
fn run<S: Subject, C: CaseStore>(
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
    let (mut next, mut other) = (0, false);
    let mut checked = |entered: JournalEntry<S::Reply>| {
        let is_its = |case: &Case| case.id == entered.transcript;
        other |= next >= surveyed.cases.number() || !surveyed.cases.on(next, is_its);
        next += 1;
        keep(entered);
    };
    let ran = watched(request.host, "replaying", |watch| {
        run_into(&job, Some(journal), watch, &mut checked)
    });
    let journal = ran.map_err(failed)?;
    if other {
        let what = "other transcripts stand where those were that were checked";
        return Err(failed(RunError::Changed(what.into())));
    }
    Ok(journal)
}

/// Passes the answers of merged parts to `keep`, as [`run`] would.
fn put_together<S: Subject, C: CaseStore>(
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
        if !subject.fits(&said) {
            let what = "a part has records of another plan; make the parts anew";
            return Err(Code::Usage.error(what));
        }
        keep(JournalEntry { transcript, said });
    }
    Ok(())
}

/// Turns an error that ended a run early into a failure.
pub(crate) fn failed(error: RunError) -> Failure {
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
    /// Ends a run that cannot have a result: removes the journal and returns the failure.
    pub(crate) fn given_up(self, why: Failure) -> Failure {
        let removed = self.journal.map_or(Ok(()), Journal::remove);
        removed.map_or_else(|e| Code::Unexpected.because(e), |()| why)
    }

    /// Sets the summary, which the answer has as JSON besides the folder.
    pub fn sum_up(&mut self, summary: Value) {
        if let Value::Object(summary) = summary {
            self.manifest.summary = summary;
        }
    }

    /// Ends the run as [`close`](Self::close) does, with the report of deadloop. `text` shows the result to people.
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

    /// Writes the manifest, which makes the folder a finished result, runs `report` on the folder and removes the
    /// journal. `result` is the caller's own result, which the manifest records.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn close(
        self,
        result: RunResult,
        report: impl FnOnce(&Path) -> RunResult,
    ) -> RunResult<FolderAnswer> {
        // What was shown of the texts was read after they were judged.
        self.surveyed.stamps.check()?;
        let Self {
            folder,
            mut manifest,
            journal,
            began,
            ..
        } = self;
        manifest.ended = result.as_ref().err().map(|failure| ResultFailure {
            exit: failure.code().exit(),
            reason: failure.chain(),
        });
        manifest.files = folder.files();
        manifest.seconds = began.elapsed().as_secs_f64();
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
