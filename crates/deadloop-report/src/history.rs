//! Several runs over time: the same measures, what flipped between neighbours, a table, a chart, a page.

use crate::charts::{Chart, history_chart};
use crate::data::{ALL_MODELS, History, PastRun, ReportData, Since};
use crate::draw::{DrawError, chart_css, variables_css};
use crate::load::{LoadError, load};
use crate::page::{PageError, environment, policy};
use crate::tables::history as tables;
use crate::visible::visible;
use crate::{Score, write};

use deadloop_score::measure::{DELAY, ENDED, RECALL, SAVED};
use deadloop_score::{
    Change, FileError, JudgeOptions, Manifest, Metric, Regions, Side, SideError, Tally, Verdicts,
    flips, wrong_rate,
};
use minijinja::context;
use minijinja::value::Serde;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A folder could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder has no setting to follow.
    #[error(transparent)]
    Setting(#[from] SideError),
    /// A folder is of a command that has other measures.
    #[error("{folder}: a run of {command}; expected one of tune, sweep or replay")]
    Command {
        /// The folder.
        folder: String,
        /// What made it.
        command: String,
    },
    /// The measures of two runs do not mean the same.
    #[error(
        "{folder}: {what} is {new}, and {old} in {first}; a history has the same measures of every run"
    )]
    Differ {
        /// The folder.
        folder: String,
        /// The first folder.
        first: String,
        /// The unit, or the rule of judging.
        what: String,
        /// What it is here.
        new: String,
        /// What it is there.
        old: String,
    },
    /// The chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The page could not be made.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// The script of the page.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../templates/dom.js"),
    include_str!("../templates/theme.js"),
    include_str!("../templates/tables.js"),
    "})();\n"
);

/// Reads the runs of `folders`, in their order. `setting`: the setting to follow, by name or id; without it the choice of
/// `tune`, the current or only setting of `replay`, the best of `sweep`.
///
/// # Errors
/// A folder cannot be read, or its measures are others than those of the first.
pub fn history(folders: &[PathBuf], setting: Option<&str>) -> Result<History, HistoryError> {
    let mut runs: Vec<PastRun> = Vec::new();
    let mut first: Option<(String, JudgeOptions)> = None;
    let mut before: Option<Left> = None;
    let names = names(folders);
    for (folder, name) in folders.iter().zip(names) {
        let manifest = Manifest::read(folder)?;
        alike(folder, &manifest, &mut first)?;
        let (mut run, did) = past(folder, name, &manifest, setting)?;
        let left = Left {
            corpus: manifest.corpus.hash,
            did,
        };
        run.since = before.map(|before| since(&before, &left));
        before = Some(left);
        runs.push(run);
    }
    let unit = first.map(|(_, judge)| judge.unit).unwrap_or_default();
    Ok(History {
        unit,
        measures: measures(unit),
        runs,
    })
}

/// Those of the first screen of a report, and recall.
fn measures(unit: deadloop_score::replay::detect::Unit) -> Vec<Metric> {
    vec![&ENDED, &SAVED, &RECALL, wrong_rate(unit), &DELAY]
}

/// What each folder is called: its last part, or all of it where two have the same.
fn names(folders: &[PathBuf]) -> Vec<String> {
    let last = |folder: &PathBuf| match folder.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => folder.display().to_string(),
    };
    let all: Vec<String> = folders.iter().map(last).collect();
    let once: BTreeSet<&String> = all.iter().collect();
    if once.len() == all.len() {
        all
    } else {
        folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect()
    }
}

/// Refuses a run whose measures mean something else than those of the first.
fn alike(
    folder: &Path,
    manifest: &Manifest,
    first: &mut Option<(String, JudgeOptions)>,
) -> Result<(), HistoryError> {
    let here = folder.display().to_string();
    if !["tune", "sweep", "replay"].contains(&manifest.command.as_str()) {
        return Err(HistoryError::Command {
            folder: here,
            command: manifest.command.clone(),
        });
    }
    let Some((name, judge)) = first else {
        *first = Some((here, manifest.judge));
        return Ok(());
    };
    let told = |judge: &JudgeOptions| {
        [
            ("the unit", judge.unit.name().to_owned()),
            ("--transient", judge.transient.name().to_owned()),
        ]
    };
    let pairs = told(&manifest.judge).into_iter().zip(told(judge));
    match pairs.into_iter().find(|(new, old)| new != old) {
        None => Ok(()),
        Some(((what, new), (_, old))) => Err(HistoryError::Differ {
            folder: here,
            first: name.clone(),
            what: what.into(),
            new: new.to_lowercase(),
            old: old.to_lowercase(),
        }),
    }
}

/// What a run left of single transcripts.
struct Left {
    /// The hash of its corpus.
    corpus: String,
    did: Did,
}

/// What a setting did to each transcript.
enum Did {
    /// All of it.
    All(Box<Side>),
    /// Its verdicts, of a cell of a sweep.
    Verdicts(Verdicts),
    /// Nobody knows.
    Unknown,
}

impl Did {
    fn verdicts(&self) -> Option<Verdicts> {
        match self {
            Self::All(side) => Some(side.as_ref().into()),
            Self::Verdicts(verdicts) => Some(verdicts.clone()),
            Self::Unknown => None,
        }
    }
}

/// A run, and what it did to each transcript.
fn past(
    folder: &Path,
    name: String,
    manifest: &Manifest,
    setting: Option<&str>,
) -> Result<(PastRun, Did), HistoryError> {
    let (setting, tally, did) = match manifest.command.as_str() {
        "sweep" => searched(folder, setting)?,
        _ => {
            let side = Side::read(folder, setting)?;
            (side.name.clone(), side.tally(), Did::All(Box::new(side)))
        }
    };
    let score = Score {
        tally,
        worth: manifest.worth,
        ..Score::default()
    };
    let corpus = manifest.corpus.name.clone().unwrap_or_else(|| {
        let path = Path::new(&manifest.corpus.path).file_name();
        path.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    });
    let run = PastRun {
        name,
        when: manifest.time.clone(),
        of: format!("{} {corpus}", manifest.command),
        setting,
        transcripts: tally.get(deadloop_score::Count::Transcripts),
        loops: tally.loops(),
        figures: measures(manifest.judge.unit)
            .into_iter()
            .map(|measure| score.of(measure))
            .collect(),
        since: None,
    };
    Ok((run, did))
}

/// The setting of a sweep that is meant, or the best one, and its verdicts.
fn searched(folder: &Path, wanted: Option<&str>) -> Result<(String, Tally, Did), HistoryError> {
    let data = load(folder)?;
    let is = |wanted: &str, at: usize| {
        let setting = &data.settings[at];
        setting.id == wanted || setting.label.as_deref() == Some(wanted)
    };
    let at = match wanted {
        Some(wanted) => (0..data.settings.len()).find(|at| is(wanted, *at)),
        None => data.best(),
    };
    let found = at.and_then(|at| Some((at, data.score(at, ALL_MODELS)?)));
    let Some((at, score)) = found else {
        let what = match wanted {
            Some(wanted) => format!("no setting is called {wanted:?}"),
            None => "no setting meets the limits".to_owned(),
        };
        let there: Vec<&str> = data
            .settings
            .iter()
            .filter_map(|one| one.label.as_deref())
            .collect();
        return Err(HistoryError::Setting(SideError::Setting {
            from: folder.display().to_string(),
            what,
            there: format!("an id of scores.parquet, {}", there.join(", ")),
        }));
    };
    let best = if wanted.is_none() {
        "best in-sample: "
    } else {
        ""
    };
    let verdicts = verdicts(folder, &data, at)?.map_or(Did::Unknown, Did::Verdicts);
    let name = format!("{best}{}", data.describe(at));
    Ok((name, score.tally, verdicts))
}

/// The verdicts of a setting of a sweep; `None` where its file of regions is not there, or left the setting out for its size.
fn verdicts(folder: &Path, data: &ReportData, at: usize) -> Result<Option<Verdicts>, FileError> {
    if let Some(board) = &data.board {
        let cell = board.cells.iter().find(|(_, setting)| *setting == at);
        return Ok(cell.and_then(|(number, _)| Verdicts::of_cell(&board.regions, *number)));
    }
    // There are no sliders over a grid of one cell.
    let Some(regions) = Regions::read(folder)? else {
        return Ok(None);
    };
    let id = &data.settings[at].id;
    let block = regions.blocks.iter().find(|block| block.setting == *id);
    Ok(block.and_then(|block| Verdicts::of_cell(&regions, block.first)))
}

/// What changed from one run to the next.
fn since(before: &Left, now: &Left) -> Since {
    if let (Did::All(before), Did::All(now)) = (&before.did, &now.did) {
        return match flips(before, now) {
            Ok(mut flips) => {
                flips.retain(|flip| flip.change == Change::Flip);
                Since::Flips(flips)
            }
            Err(why) => Since::Unknown(in_words(why.problems.first().map_or("", String::as_str))),
        };
    }
    let unknown = |why: &str| Since::Unknown(why.into());
    if before.corpus != now.corpus {
        return unknown("another corpus, or other labels: of a sweep no texts are left to compare");
    }
    let both = before.did.verdicts().zip(now.did.verdicts());
    match both.map(|(before, now)| before.flips(&now)) {
        None => unknown("the sweep kept no verdicts of this setting"),
        Some(None) => unknown("not of the same transcripts"),
        Some(Some(flips)) => Since::Flips(flips),
    }
}

/// Why two runs cannot be compared, without the names of transcripts.
fn in_words(problem: &str) -> String {
    let what = problem.split(": ").next().unwrap_or_default();
    let what = what.replace("BASE", "the run before");
    what.replace("NEW", "this run")
}

/// The table of a history for a terminal: its head, and a row a run.
pub fn history_rows(history: &History) -> (Vec<String>, Vec<Vec<String>>) {
    let Some(table) = tables::runs(history) else {
        return (Vec::new(), Vec::new());
    };
    let head = table.columns.iter().map(|column| column.name.to_string());
    let rows = table.rows.iter();
    let rows = rows.map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect());
    (head.collect(), rows.collect())
}

/// Writes `history.html`, `charts/history.svg` and `charts/history.csv` into `out`; the files, in the order of writing.
///
/// # Errors
/// Something could not be drawn or written.
pub fn write_history(history: History, out: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let tables = [tables::runs(&history)].into_iter().flatten();
    let tables: Vec<_> = tables.chain(tables::since(&history)).collect();
    let first = history.runs.first().map_or("", |run| run.name.as_str());
    let last = history.runs.last().map_or("", |run| run.name.as_str());
    let title = format!("deadloop history: {} to {}", visible(first), visible(last));
    let measured = format!(
        "{} runs in the order in which they were named. Intervals are 95 %, of each run alone: whether a difference between two \
         runs is more than chance, deadloop compare says.",
        history.runs.len(),
    );
    let mut data = ReportData::default();
    data.run.unit = history.unit;
    data.history = Some(history);
    let chart = history_chart(&data)?;
    let page = page(&title, &measured, &tables, &chart)?;
    Ok(write::history(&page, &chart, out)?)
}

fn page(
    title: &str,
    measured: &str,
    tables: &[crate::tables::Table],
    chart: &Chart,
) -> Result<String, PageError> {
    let mut environment = environment()?;
    environment.add_template("history.html", include_str!("../templates/history.html"))?;
    let css = variables_css() + &chart_css() + include_str!("../templates/page.css");
    let drawn = chart.drawn.as_ref();
    let page = environment.get_template("history.html")?;
    Ok(page.render(context! {
        csp => policy(&css, SCRIPT),
        css,
        js => SCRIPT,
        title,
        measured,
        tables => Serde(tables),
        name => chart.entry.name,
        heading => chart.entry.title,
        reading => chart.entry.reading,
        wide => drawn.map(|layouts| layouts.wide()),
        narrow => drawn.map(|layouts| layouts.narrow()),
    })?)
}
