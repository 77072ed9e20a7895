//! Makes a labelled corpus from a spec and a seed.

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
use deadloop_synth::{Synth as Maker, SynthJob};
use rayon::prelude::*;

mod counts;

pub use counts::{COUNTED, MadeCounts};

use crate::corpus::survey::{SurveyRequest, survey};
use crate::failure::{Code, Failure, RunResult};
use crate::folder::outputs::occupied;
use crate::host::Host;
use crate::option::{FORCE, OUT};

/// A finished synthetic corpus.
pub struct MadeCorpus {
    /// The name of the corpus.
    pub name: String,
    /// The counts by item.
    pub counts: MadeCounts,
}

/// The number of transcripts that are made in parallel before they are written.
const BATCH: usize = 256;

/// Makes the corpus of a spec in the folder `out`. Calls `step` after every batch with the number of transcripts made
/// and the total.
///
/// # Errors
/// Returns an error if the spec or a source is bad, no transcript is requested or possible, or the folder holds
/// something else.
pub fn make(
    path: &Path,
    out: &Path,
    force: bool,
    host: &dyn Host,
    step: &dyn Fn(u64, u64),
) -> RunResult<MadeCorpus> {
    let spec = CorpusSpec::read(path).map_err(usage)?;
    let folder = CorpusFolder::prepare(out, &spec, force, host)?;
    let stock = stock(path, &spec, host)?;
    let maker = Maker::new(&spec, &stock);
    let jobs = maker.jobs();
    if jobs.is_empty() {
        return Err(Code::NothingSelected
            .error("the spec asks for no transcript: no form is of its item's lang"));
    }
    let mut counts = MadeCounts::default();
    let mut rows = Vec::new();
    let mut splits = Vec::new();
    let mut writers = folder.writers(&spec)?;
    let (mut made_so_far, all) = (0, jobs.len() as u64);
    for batch in jobs.chunks(BATCH) {
        let make = |job: &SynthJob| maker.make(job).map_err(|e| usage(e.problem(path)));
        // The first transcript that cannot be made is reported, whichever thread was faster.
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
    folder.table("labels.csv", &LABEL_COLUMNS, &rows)?;
    if !splits.is_empty() {
        folder.table("splits.csv", &["transcript", "split"], &splits)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    write_text(&out.join("dataset.toml"), &spec.card(&name))?;
    Ok(MadeCorpus {
        name: spec.name,
        counts,
    })
}

fn usage(problem: Problem) -> Failure {
    Code::Usage.because(problem)
}

/// Converts a write error: a folder with other files is wrong usage, anything else is unexpected.
fn failure(error: WriteError) -> Failure {
    match error {
        WriteError::Exists { .. } => Code::Usage.error(format!("{error} with {FORCE}")),
        other => other.into(),
    }
}

/// Returns the file name of a file of transcripts.
fn file_for(file: &str) -> String {
    format!("{file}.jsonl.zst")
}

/// The folder of the new corpus.
struct CorpusFolder<'a> {
    path: &'a Path,
    force: bool,
    _claim: FolderClaim,
}

impl<'a> CorpusFolder<'a> {
    /// Creates the folder. Refuses a folder whose files would mix with the new ones.
    fn prepare(path: &'a Path, spec: &CorpusSpec, force: bool, host: &dyn Host) -> RunResult<Self> {
        let inner = path.join("transcripts");
        let refuse = |e| Code::Usage.at(OUT, format!("{}: cannot be made: {e}", path.display()));
        std::fs::create_dir_all(&inner).map_err(refuse)?;
        let claim = claim(path).map_err(refuse)?;
        host.writes(path);
        let files: Vec<String> = spec.files().into_iter().map(file_for).collect();
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
            Some(name) if !force => Err(occupied(path, Path::new(&name), "")),
            _ => Ok(Self {
                path,
                force,
                _claim: claim,
            }),
        }
    }

    /// Creates a writer for each file of transcripts.
    fn writers<'s>(&self, spec: &'s CorpusSpec) -> RunResult<BTreeMap<&'s str, CorpusWriter>> {
        let create = |file| {
            let path = self.path.join("transcripts").join(file_for(file));
            let writer = CorpusWriter::create(&path, self.force).map_err(failure)?;
            Ok((file, writer))
        };
        spec.files().into_iter().map(create).collect()
    }

    fn table<R: AsRef<[String]>>(&self, name: &str, header: &[&str], rows: &[R]) -> RunResult {
        let file = UnfinishedFile::create(&self.path.join(name), self.force).map_err(failure)?;
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
fn stock(path: &Path, spec: &CorpusSpec, host: &dyn Host) -> RunResult<Stock> {
    let base = path.parent().unwrap_or(Path::new(""));
    let mut stock = Stock::default();
    for (at, source) in spec.sources.iter().enumerate() {
        let said = match &source.place {
            SourcePlace::Corpus(corpus) => {
                let wants = (spec.wants_runs(at), spec.wants_recordings(at));
                corpus_texts(&base.join(corpus), source, wants, host)?
            }
            SourcePlace::Text(text) => SourceContent {
                texts: source.paragraphs(&base.join(text)).map_err(usage)?,
                ..SourceContent::default()
            },
        };
        if said.texts.is_empty() && said.runs.is_empty() {
            let place = Place::new(Arc::new(path.to_path_buf()), source.line as u64);
            let what = format!("source {} has no text", source.name);
            let expected = "transcripts labelled clean, or take = \"all\"; paragraphs in a text";
            return Err(usage(Problem::new(place, what, expected)));
        }
        stock.texts.push(said.texts);
        stock.real.push(said.real);
        stock.runs.push(said.runs);
        stock.recorded.push(said.recorded);
    }
    stock.forms = spec.read_forms(base).map_err(usage)?;
    Ok(stock)
}

/// The content of a source corpus: texts, channels, runs and recordings.
#[derive(Default)]
struct SourceContent {
    texts: Vec<CleanText>,
    real: BTreeMap<String, RealStream>,
    runs: Vec<RealRun>,
    recorded: Vec<SynthTranscript>,
}

/// Reads a source corpus. With `runs`, an item plants loops into its runs. With `recordings`, an item takes its
/// transcripts unchanged.
fn corpus_texts(
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
    let mut said = SourceContent::default();
    let corpus = Corpus::open(path).map_err(|e| Code::Usage.because(e))?;
    let rows = LabelRows::read(&corpus).map_err(usage)?;
    for entry in corpus.entries() {
        let entry = entry.map_err(|e| Code::Usage.because(e))?;
        if wanted.contains(entry.transcript.id.as_str()) {
            said.texts.extend(CleanText::from_entry(&entry));
            let id = entry.transcript.id.clone();
            said.real.insert(id, RealStream::from_entry(&entry));
            said.runs
                .extend(RealRun::from_entry(&entry).filter(|_| runs));
            if recordings {
                said.recorded.push(rows.recorded(entry));
            }
        }
    }
    Ok(said)
}
