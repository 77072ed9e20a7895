//! Makes a labelled synthetic corpus from a spec and a seed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{
    Corpus, CorpusWriter, FolderClaim, LABEL_COLUMNS, Place, Problem, Selection, UnfinishedFile,
    WriteError, claim, is_named, parse_where,
};
use deadloop_score::{Class, write_text};
use deadloop_synth::recordings::LabelRows;
use deadloop_synth::runs::RealRun;
use deadloop_synth::spec::{CleanSource, CorpusSpec, SourcePlace};
use deadloop_synth::stock::{CleanText, RealStream, Stock};
use deadloop_synth::transcript::SynthTranscript;
use deadloop_synth::{Synth as SynthRun, SynthJob};
use rayon::prelude::*;

mod counts;

pub use counts::{COUNTED, SynthCounts};

use crate::corpus::survey::{SurveyRequest, survey};
use crate::failure::{Code, Failure, RunResult};
use crate::folder::outputs::occupied_by;
use crate::host::Host;
use crate::option::{FORCE, OUT};

/// The summary of a finished synthetic corpus.
pub struct SynthSummary {
    /// The name of the corpus.
    pub name: String,
    /// The counts of transcripts, loops and faults, by item of the spec.
    pub counts: SynthCounts,
}

/// The number of transcripts made in parallel before they are written.
const BATCH_TRANSCRIPTS: usize = 256;

/// Makes the corpus of a spec in the folder `out`. Calls `step` after every batch, with the number of transcripts made
/// so far and the total.
///
/// # Errors
/// Returns an error if the spec or a source is bad, the spec requests no transcript, or the folder holds something
/// else.
pub fn make(
    path: &Path,
    out: &Path,
    force: bool,
    host: &dyn Host,
    step: &dyn Fn(u64, u64),
) -> RunResult<SynthSummary> {
    let spec = CorpusSpec::read(path).map_err(usage_failure)?;
    let folder = CorpusFolder::prepare(out, &spec, force, host)?;
    let stock = read_stock(path, &spec, host)?;
    let maker = SynthRun::new(&spec, &stock);
    let jobs = maker.jobs();
    if jobs.is_empty() {
        return Err(Code::NothingSelected
            .error("the spec asks for no transcript: no form is of its item's lang"));
    }
    let mut counts = SynthCounts::default();
    let mut rows = Vec::new();
    let mut splits = Vec::new();
    let mut writers = folder.create_writers(&spec)?;
    let (mut made_so_far, all) = (0, jobs.len() as u64);
    for batch in jobs.chunks(BATCH_TRANSCRIPTS) {
        let make = |job: &SynthJob| maker.make(job).map_err(|e| usage_failure(e.problem(path)));
        // The first transcript that cannot be made is reported, independent of the threads' speed.
        let made: Vec<RunResult<SynthTranscript>> = batch.par_iter().map(make).collect();
        let made: Vec<SynthTranscript> = made.into_iter().collect::<RunResult<_>>()?;
        for (job, made) in batch.iter().zip(&made) {
            if let Some(writer) = writers.get_mut(maker.file(job)) {
                writer.write(&made.entry)?;
            }
            counts.add(maker.item(job), made);
            let id = &made.entry.transcript.id;
            rows.extend(made.label_rows());
            splits.extend(
                made.entry
                    .split
                    .iter()
                    .map(|split| [id.clone(), split.clone()]),
            );
        }
        made_so_far += batch.len() as u64;
        step(made_so_far, all);
    }
    for writer in writers.into_values() {
        writer.finish()?;
    }
    folder.write_csv("labels.csv", &LABEL_COLUMNS, &rows)?;
    if !splits.is_empty() {
        folder.write_csv("splits.csv", &["transcript", "split"], &splits)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    write_text(&out.join("dataset.toml"), &spec.card(&name))?;
    Ok(SynthSummary {
        name: spec.name,
        counts,
    })
}

fn usage_failure(problem: Problem) -> Failure {
    Code::Usage.because(problem)
}

/// Converts a write error. A folder with other files is wrong usage, and anything else is unexpected.
fn write_failure(error: WriteError) -> Failure {
    match error {
        WriteError::Exists { .. } => Code::Usage.error(format!("{error} with {FORCE}")),
        other => other.into(),
    }
}

/// Returns the file name for the name of a transcript file in the spec.
fn file_name(file: &str) -> String {
    format!("{file}.jsonl.zst")
}

/// The claimed folder of the new corpus.
struct CorpusFolder<'a> {
    path: &'a Path,
    force: bool,
    _claim: FolderClaim,
}

impl<'a> CorpusFolder<'a> {
    /// Creates the folder. Returns an error if it holds files that would mix with the new ones.
    fn prepare(path: &'a Path, spec: &CorpusSpec, force: bool, host: &dyn Host) -> RunResult<Self> {
        let inner = path.join("transcripts");
        let refuse = |e| Code::Usage.at(OUT, format!("{}: cannot be made: {e}", path.display()));
        std::fs::create_dir_all(&inner).map_err(refuse)?;
        let claim = claim(path).map_err(refuse)?;
        host.writes(path);
        let files: Vec<String> = spec.files().into_iter().map(file_name).collect();
        for entry in std::fs::read_dir(&inner)? {
            let name = entry?.file_name();
            if !files.iter().any(|file| name == file.as_str())
                && !name.to_string_lossy().starts_with('.')
            {
                let other = Path::new(&name).display();
                return Err(Code::Usage.at(OUT, format!("{}: holds transcripts/{other}; expected an empty folder, or a corpus that synth wrote", path.display())));
            }
        }
        let tables = ["labels.csv", "splits.csv", "dataset.toml"].map(str::to_owned);
        let files = files.iter().map(|file| format!("transcripts/{file}"));
        match files.chain(tables).find(|name| is_named(&path.join(name))) {
            Some(name) if !force => Err(occupied_by(path, Path::new(&name), "")),
            _ => Ok(Self {
                path,
                force,
                _claim: claim,
            }),
        }
    }

    /// Creates a writer for each file of transcripts.
    fn create_writers<'s>(
        &self,
        spec: &'s CorpusSpec,
    ) -> RunResult<BTreeMap<&'s str, CorpusWriter>> {
        let create = |file| {
            let path = self.path.join("transcripts").join(file_name(file));
            let writer = CorpusWriter::create(&path, self.force).map_err(write_failure)?;
            Ok((file, writer))
        };
        spec.files().into_iter().map(create).collect()
    }

    fn write_csv<R: AsRef<[String]>>(&self, name: &str, header: &[&str], rows: &[R]) -> RunResult {
        let file =
            UnfinishedFile::create(&self.path.join(name), self.force).map_err(write_failure)?;
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(header)?;
        for row in rows {
            writer.write_record(row.as_ref())?;
        }
        let mut file = writer.into_inner().map_err(|e| Code::Unexpected.error(e))?;
        file.flush()?;
        Ok(file.finish()?)
    }
}

/// Reads the sources and forms of a spec.
fn read_stock(path: &Path, spec: &CorpusSpec, host: &dyn Host) -> RunResult<Stock> {
    let base = path.parent().unwrap_or(Path::new(""));
    let mut stock = Stock::default();
    for (at, source) in spec.sources.iter().enumerate() {
        let content = match &source.place {
            SourcePlace::Corpus(corpus) => {
                let wants = (spec.wants_runs(at), spec.wants_recordings(at));
                read_source_corpus(&base.join(corpus), source, wants, host)?
            }
            SourcePlace::Text(text) => SourceContent {
                texts: source.paragraphs(&base.join(text)).map_err(usage_failure)?,
                ..SourceContent::default()
            },
        };
        if content.texts.is_empty() && content.runs.is_empty() {
            let place = Place::new(Arc::new(path.to_path_buf()), source.line as u64);
            let what = format!("source {} has no text", source.name);
            let expected = "transcripts labelled clean, or take = \"all\"; paragraphs in a text";
            return Err(usage_failure(Problem::new(place, what, expected)));
        }
        stock.texts.push(content.texts);
        stock.real.push(content.real);
        stock.runs.push(content.runs);
        stock.recorded.push(content.recorded);
    }
    stock.forms = spec.read_forms(base).map_err(usage_failure)?;
    Ok(stock)
}

/// The content of a source: clean texts, real streams by transcript id, runs and recordings.
#[derive(Default)]
struct SourceContent {
    texts: Vec<CleanText>,
    real: BTreeMap<String, RealStream>,
    runs: Vec<RealRun>,
    recorded: Vec<SynthTranscript>,
}

/// Reads a source corpus. `runs` is whether its runs are read, into which an item inserts loops. `recordings` is
/// whether its transcripts are read to be taken unchanged.
fn read_source_corpus(
    path: &Path,
    source: &CleanSource,
    (runs, recordings): (bool, bool),
    host: &dyn Host,
) -> RunResult<SourceContent> {
    let pair = |text: &String| {
        let bad = |e| Code::Usage.error(format!("source {}: where: {e}", source.name));
        parse_where(text).map_err(bad)
    };
    let lang = source
        .lang
        .iter()
        .map(|lang| Ok(("lang".to_owned(), lang.clone())));
    let wheres = source.wheres.iter().map(pair).chain(lang);
    let selection = Selection {
        wheres: wheres.collect::<RunResult<_>>()?,
        ..Selection::default()
    };
    let found = survey(SurveyRequest {
        selection,
        ..SurveyRequest::all(path, host)
    })?;
    found.accept(false, host)?;
    let wanted = found
        .cases
        .iter()
        .filter(|case| source.all || case.class() == Some(Class::Clean));
    let wanted: std::collections::HashSet<&str> = wanted.map(|case| &*case.id).collect();
    let mut content = SourceContent::default();
    let corpus = Corpus::open(path).map_err(|e| Code::Usage.because(e))?;
    let rows = LabelRows::read(&corpus).map_err(usage_failure)?;
    for entry in corpus.entries() {
        let entry = entry.map_err(|e| Code::Usage.because(e))?;
        if wanted.contains(entry.transcript.id.as_str()) {
            content.texts.extend(CleanText::from_entry(&entry));
            let id = entry.transcript.id.clone();
            content.real.insert(id, RealStream::from_entry(&entry));
            content
                .runs
                .extend(RealRun::from_entry(&entry).filter(|_| runs));
            if recordings {
                content.recorded.push(rows.convert(entry));
            }
        }
    }
    Ok(content)
}
