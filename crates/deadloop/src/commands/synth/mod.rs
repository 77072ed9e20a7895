//! `deadloop synth`: a labelled corpus from a spec and a seed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use deadloop_corpus::synth::{
    COLUMNS, CleanSource, CleanText, CorpusSpec, LabelRows, Made, Real, Run, SourcePlace, Stock,
    Synth as Maker, SynthJob, key_texts,
};
use deadloop_corpus::{
    Beside, Corpus, CorpusWriter, Place, Problem, Selection, WriteError, is_named, parse_where,
};
use deadloop_score::{Class, write_text};
use rayon::prelude::*;

mod counts;

use crate::args::Global;
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::interrupt;
use crate::progress::counted;
use crate::show;
use counts::Counts;
use deadloop_run::{Wanted, survey};

/// The text under the help of the command.
pub(crate) const HELP: &str = r#"Examples:
  deadloop synth --spec spec.toml --out planted
  deadloop synth --keys

A spec (`--keys` tells every key, its bounds and default):
  name = "planted"
  seed = 1

  [[source]]                    # clean text: a corpus, or text files with paragraphs apart
  name = "prose"
  text = "prose-en.txt"
  lang = "en"

  [[item]]                      # sentences of the text itself, over and over
  name = "paragraphs"
  kind = "paragraph"
  count = 20
  period = [60, 900]
  copies = [4, 8]
  onset = [[700, 1999], [2000, 4999], [5000, 9000]]

  [[item]]                      # every second copy has another word in it; then it recovers
  name = "escaped"
  kind = "near-repeat"
  count = 10
  drift = { kind = "word", rate = 0.5 }
  after = [500, 2000]
  class = "transient"
  chunks = { by = "tokens", size = [1, 4] }

Paths in a spec start from its folder. The same spec, sources and seed give the same bytes, for any
--jobs, and every transcript has a seed of its own, so an item more does not change the others."#;

/// The options of `synth`.
#[derive(Debug, Args)]
pub(crate) struct Synth {
    /// What to make: a TOML file
    #[arg(long, value_name = "FILE", required_unless_present = "keys")]
    spec: Option<PathBuf>,
    /// The folder of the corpus
    #[arg(long, value_name = "CORPUS", required_unless_present = "keys")]
    out: Option<PathBuf>,
    /// Overwrite a corpus that synth wrote there
    #[arg(long)]
    force: bool,
    /// Only list every key of a spec: bounds, default, meaning
    #[arg(long, conflicts_with_all = ["spec", "out", "force"])]
    keys: bool,
}

/// How many transcripts are made in parallel before they are written.
const BATCH: usize = 256;

pub(super) fn run(args: &Synth, global: Global) -> Outcome {
    match (&args.spec, &args.out) {
        (Some(spec), Some(out)) => make(spec, out, args.force, global),
        _ => keys(global),
    }
}

fn keys(global: Global) -> Outcome {
    let keys = key_texts();
    if global.json {
        return show::print(&serde_json::to_string(&keys)?);
    }
    let mut tables: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    let mut order = Vec::new();
    for key in keys {
        if !order.contains(&key.table) {
            order.push(key.table);
        }
        let row = vec![
            key.key.to_owned(),
            key.expected,
            key.default.to_owned(),
            key.meaning,
        ];
        tables.entry(key.table).or_default().push(row);
    }
    for table in order {
        let rows = tables.get(table).map_or(&[][..], Vec::as_slice);
        let shown = show::wrapped(&["key", "expected", "default", "meaning"], rows, 100);
        show::print(&format!("{table}\n{shown}\n"))?;
    }
    show::next(
        &[
            "deadloop schema spec > spec.schema.json",
            "deadloop synth --spec spec.toml --out corpus",
        ],
        global,
    )
}

fn make(path: &Path, out: &Path, force: bool, global: Global) -> Outcome {
    let spec = CorpusSpec::read(path).map_err(usage)?;
    let folder = Folder::prepare(out, &spec, force)?;
    let stock = stock(path, &spec, global.quiet)?;
    let maker = Maker::new(&spec, &stock);
    let jobs = maker.jobs();
    if jobs.is_empty() {
        return Err(Code::NothingSelected
            .error("the spec asks for no transcript: no form is of its item's lang"));
    }
    let mut counts = Counts::default();
    let mut rows = Vec::new();
    let mut splits = Vec::new();
    let mut writers = folder.writers(&spec)?;
    let bar = counted("making", jobs.len() as u64, global.quiet);
    for batch in jobs.chunks(BATCH) {
        let make = |job: &SynthJob| maker.make(job).map_err(|e| usage(e.problem(path)));
        // The first transcript that cannot be made is reported, whichever thread was faster.
        let made: Vec<Outcome<Made>> = batch.par_iter().map(make).collect();
        let made: Vec<Made> = made.into_iter().collect::<Outcome<_>>()?;
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
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    for writer in writers.into_values() {
        writer.finish()?;
    }
    folder.table("labels.csv", &COLUMNS, &rows)?;
    if !splits.is_empty() {
        folder.table("splits.csv", &["transcript", "split"], &splits)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    write_text(&out.join("dataset.toml"), &spec.card(&name))?;
    counts.tell(&spec.name, out, global)
}

fn usage(problem: Problem) -> Failure {
    Code::Usage.because(problem)
}

/// A folder with other files is wrong usage. A corpus that cannot be written is another error.
fn refused(error: WriteError) -> Failure {
    match error {
        WriteError::Exists { .. } => Code::Usage.error(format!("{error} with --force")),
        other => other.into(),
    }
}

/// The name of a file of transcripts.
fn named(file: &str) -> String {
    format!("{file}.jsonl.zst")
}

/// The folder of the new corpus.
struct Folder<'a> {
    path: &'a Path,
    force: bool,
}

impl<'a> Folder<'a> {
    /// Makes the folder; refuses one with files that would mix with the new ones.
    fn prepare(path: &'a Path, spec: &CorpusSpec, force: bool) -> Outcome<Self> {
        let inner = path.join("transcripts");
        let refuse =
            |e| Code::Usage.error(format!("--out {}: cannot be made: {e}", path.display()));
        std::fs::create_dir_all(&inner).map_err(refuse)?;
        interrupt::sweeps(path);
        let files: Vec<String> = spec.files().into_iter().map(named).collect();
        for entry in std::fs::read_dir(&inner)? {
            let name = entry?.file_name();
            if !files.iter().any(|file| name == file.as_str())
                && !name.to_string_lossy().starts_with('.')
            {
                let other = Path::new(&name).display();
                return Err(Code::Usage.error(format!("--out {}: holds transcripts/{other}; expected an empty folder, or a corpus that synth wrote", path.display())));
            }
        }
        let tables = ["labels.csv", "splits.csv", "dataset.toml"].map(str::to_owned);
        let files = files.iter().map(|file| format!("transcripts/{file}"));
        match files.chain(tables).find(|name| is_named(&path.join(name))) {
            Some(name) if !force => Err(Code::Usage.error(format!(
                "--out {}: holds {name}; choose another folder, or --force to overwrite",
                path.display()
            ))),
            _ => Ok(Self { path, force }),
        }
    }

    /// A writer for each file of transcripts.
    fn writers<'s>(&self, spec: &'s CorpusSpec) -> Outcome<BTreeMap<&'s str, CorpusWriter>> {
        let create = |file| {
            let path = self.path.join("transcripts").join(named(file));
            let writer = CorpusWriter::create(&path, self.force).map_err(refused)?;
            Ok((file, writer))
        };
        spec.files().into_iter().map(create).collect()
    }

    fn table<R: AsRef<[String]>>(&self, name: &str, header: &[&str], rows: &[R]) -> Outcome {
        let file = Beside::create(&self.path.join(name), self.force).map_err(refused)?;
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
fn stock(path: &Path, spec: &CorpusSpec, quiet: bool) -> Outcome<Stock> {
    let base = path.parent().unwrap_or(Path::new(""));
    let mut stock = Stock::default();
    for (at, source) in spec.sources.iter().enumerate() {
        let said = match &source.place {
            SourcePlace::Corpus(corpus) => {
                let wants = (spec.wants_runs(at), spec.wants_recordings(at));
                corpus_texts(&base.join(corpus), source, wants, quiet)?
            }
            SourcePlace::Text(text) => Said {
                texts: source.paragraphs(&base.join(text)).map_err(usage)?,
                ..Said::default()
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

/// The transcripts of a corpus: their texts, their channels apart, their runs, and as recorded.
#[derive(Default)]
struct Said {
    texts: Vec<CleanText>,
    real: BTreeMap<String, Real>,
    runs: Vec<Run>,
    recorded: Vec<Made>,
}

/// Reads a corpus that is a source. `runs`: an item plants into its runs. `recordings`: an item takes its transcripts
/// unchanged.
fn corpus_texts(
    path: &Path,
    source: &CleanSource,
    (runs, recordings): (bool, bool),
    quiet: bool,
) -> Outcome<Said> {
    let pair = |text: &String| {
        let bad = |e| Code::Usage.error(format!("source {}: where: {e}", source.name));
        parse_where(text).map_err(bad)
    };
    let selection = Selection {
        lang: source.lang.clone(),
        wheres: source.wheres.iter().map(pair).collect::<Outcome<_>>()?,
        ..Selection::default()
    };
    let found = survey(Wanted {
        path,
        selection,
        by: &[],
        entry: None,
        host: &Terminal { quiet },
    })?;
    found.accept(false, &Terminal { quiet })?;
    let wanted = found
        .cases
        .iter()
        .filter(|case| source.all || case.class() == Some(Class::Clean));
    let wanted: std::collections::HashSet<&str> = wanted.map(|case| &*case.id).collect();
    let mut said = Said::default();
    let corpus = Corpus::open(path).map_err(|e| Code::Usage.because(e))?;
    let rows = LabelRows::of(&corpus).map_err(usage)?;
    for entry in corpus.entries() {
        let entry = entry.map_err(|e| Code::Usage.because(e))?;
        if wanted.contains(entry.transcript.id.as_str()) {
            said.texts.extend(CleanText::of(&entry));
            let id = entry.transcript.id.clone();
            said.real.insert(id, Real::of(&entry));
            said.runs.extend(Run::of(&entry).filter(|_| runs));
            if recordings {
                said.recorded.push(rows.recorded(entry));
            }
        }
    }
    Ok(said)
}
