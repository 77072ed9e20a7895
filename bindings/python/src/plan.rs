//! `Plan`: a grid, and what its settings say of transcripts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::{Corpus, Entry, Place, RecordDigest, field};
use deadloop_replay::{Grid, Record, decide};
use deadloop_score::{BoxKey, Boxes, Case, JudgeOptions, LabelsFile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::sums;

/// Every setting of a grid, grouped so that each text is measured once, and what is known of the transcripts besides
/// their lines.
#[pyclass(frozen, module = "deadloop")]
pub(crate) struct Plan {
    plan: deadloop_replay::Plan,
    texts: Texts,
    corpus: Corpus,
    labels: Option<LabelsFile>,
}

/// What a plan is made of, in the order of its arguments: it travels so.
#[derive(Clone)]
struct Texts {
    grid: String,
    name: String,
    labels: Option<String>,
    splits: Option<String>,
    card: Option<String>,
    by: Vec<String>,
}

type Fields = (
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Vec<String>,
);

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (grid_toml, name = "grid".to_owned(), labels = None, splits = None, card = None, by = Vec::new()))]
    fn new(
        grid_toml: String,
        name: String,
        labels: Option<String>,
        splits: Option<String>,
        card: Option<String>,
        by: Vec<String>,
    ) -> PyResult<Self> {
        let grid = Grid::parse(&grid_toml).map_err(|e| refused(format!("{name}:{e}")))?;
        let mut plan = deadloop_replay::Plan::default();
        plan.add_grid(&grid)
            .map_err(|e| refused(format!("{name}: {e}")))?;
        let corpus = Corpus::of_texts(card.as_deref(), splits.as_deref()).map_err(refused)?;
        Ok(Self {
            plan,
            corpus,
            labels: labels.as_deref().map(labels_of).transpose()?,
            texts: Texts {
                grid: grid_toml,
                name,
                labels,
                splits,
                card,
                by,
            },
        })
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.plan.fingerprint()
    }

    #[getter]
    fn grid(&self) -> &str {
        &self.texts.grid
    }

    #[getter]
    fn by(&self) -> Vec<String> {
        self.texts.by.clone()
    }

    /// The first line of a file of records.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let Texts {
            labels,
            splits,
            card,
            ..
        } = &self.texts;
        let beside = [
            ("dataset.toml", card),
            ("labels.csv", labels),
            ("splits.csv", splits),
        ];
        let hex = |text: &String| {
            let digest = Sha256::digest(text.as_bytes());
            digest
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        };
        let sides = beside
            .iter()
            .filter_map(|(name, text)| Some(((*name).to_owned(), json!(hex(text.as_ref()?)))));
        let sides: serde_json::Map<_, _> = sides.collect();
        let head = json!({
            "deadloop": env!("CARGO_PKG_VERSION"), "plan": self.plan.fingerprint(), "sides": sides,
        });
        PyBytes::new(py, head.to_string().as_bytes())
    }

    fn __len__(&self) -> usize {
        self.plan.cells()
    }

    /// For pickle: engines carry a plan to where they run.
    fn __getnewargs__(&self) -> Fields {
        let Texts {
            grid,
            name,
            labels,
            splits,
            card,
            by,
        } = self.texts.clone();
        (grid, name, labels, splits, card, by)
    }

    fn setting(&self, cell: usize) -> PyResult<String> {
        if cell < self.plan.cells() {
            Ok(self.plan.id(cell))
        } else {
            Err(refused(format!(
                "there is no cell {cell}; the plan has {}",
                self.plan.cells()
            )))
        }
    }

    /// Other threads of Python run meanwhile.
    #[pyo3(signature = (lines, at = None))]
    fn records<'py>(
        &self,
        py: Python<'py>,
        lines: Vec<Line>,
        at: Option<Vec<(usize, u64)>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        if at.as_ref().is_some_and(|at| at.len() != lines.len()) {
            return Err(refused("at: expected a place for each line"));
        }
        let record = |(i, line): (usize, &Line)| {
            let given = at.as_ref().and_then(|at| at.get(i).copied());
            self.record(line, given.unwrap_or((0, i as u64 + 1)))
        };
        let records = py.detach(|| {
            let lines = lines.iter().enumerate();
            lines.map(record).collect::<Result<Vec<_>, String>>()
        });
        let records = records.map_err(refused)?.into_iter();
        Ok(records.map(|line| PyBytes::new(py, &line)).collect())
    }

    /// Its columns become a table in `_partial.py`.
    #[pyo3(signature = (lines, by = Vec::new()))]
    fn partial<'py>(
        &self,
        py: Python<'py>,
        lines: Vec<Line>,
        by: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let boxes = py.detach(|| self.boxes(&lines, &by)).map_err(refused)?;
        let columns = sums::columns(py, &boxes, by.len())?;
        tables(py)?.call_method1("table", (columns, by))
    }

    fn scores<'py>(
        &self,
        py: Python<'py>,
        tables: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = self::tables(py)?;
        let (columns, by): (Bound<'py, PyDict>, Vec<String>) =
            python.call_method1("columns_of", (tables,))?.extract()?;
        let boxes = sums::boxes(&columns, by.len())?;
        let columns = sums::scores(py, &boxes, &self.plan, by.len())?;
        python.call_method1("table", (columns, by))
    }
}

/// What makes tables of columns.
fn tables(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("deadloop._partial")
}

impl Plan {
    fn entry(&self, line: &Line, number: u64) -> Result<(Entry, RecordDigest, Case), String> {
        let file = Arc::new(PathBuf::from("lines"));
        let read = self.corpus.entry(line.bytes(), Place::new(file, number));
        let (entry, digest) = read.map_err(|problem| problem.to_string())?;
        let (case, problems) = Case::of(&entry, self.labels.as_ref(), &self.texts.by);
        match problems.first() {
            Some(problem) => Err(problem.to_string()),
            None => Ok((entry, digest, case)),
        }
    }

    /// One line of a part.
    fn record(&self, line: &Line, at: (usize, u64)) -> Result<Vec<u8>, String> {
        let (entry, digest, case) = self.entry(line, at.1)?;
        let Record { blocks, .. } = decide(&self.plan, &entry.transcript, None);
        let record = json!({
            "at": at, "digest": digest.to_string(), "case": case, "unreadable": null,
            "bad": false, "meant": true, "decided": blocks,
        });
        serde_json::to_vec(&record).map_err(|e| e.to_string())
    }

    /// What the settings say of the lines, by box and field.
    fn boxes(&self, lines: &[Line], by: &[String]) -> Result<Boxes, String> {
        let mut boxes = Boxes::default();
        let options = JudgeOptions::default();
        for (number, line) in (1..).zip(lines) {
            let (entry, _, case) = self.entry(line, number)?;
            let key: BoxKey = by.iter().map(|name| field(&entry, name)).collect();
            let record = decide(&self.plan, &entry.transcript, None);
            boxes.add(&key, &self.plan, &case, &record, &options);
        }
        Ok(boxes)
    }
}

fn refused(what: impl ToString) -> PyErr {
    PyValueError::new_err(what.to_string())
}

/// A labels.csv, which must be right in every row.
fn labels_of(text: &str) -> PyResult<LabelsFile> {
    let (labels, problems) = LabelsFile::parse(text.as_bytes(), Path::new("labels.csv"));
    match problems.first() {
        Some(problem) => Err(refused(problem)),
        None => Ok(labels),
    }
}

/// A line, as text or as bytes.
#[derive(FromPyObject)]
enum Line {
    Text(String),
    Bytes(Vec<u8>),
}

impl Line {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
