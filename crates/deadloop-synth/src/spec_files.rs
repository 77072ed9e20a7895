//! Reads a spec, its text files and its files of forms.
//!
//! The caller selects the clean texts of a corpus, since this crate does not interpret labels.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use super::forms::Forms;
use super::spec::{CleanSource, CorpusSpec, SpecError};
use super::stock::{CleanText, RealStream, TimedPiece};
use deadloop_corpus::{Body, Entry, Place, Problem, RecordedEvent};

impl SpecError {
    /// Converts the error to a problem of a file.
    pub fn problem(self, file: &Path) -> Problem {
        let place = Place::new(Arc::new(file.to_path_buf()), self.line as u64);
        Problem::new(place, self.what, self.expected)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let what = format!("cannot be read: {error}");
    Problem::new(Place::whole(path), what, "a text file in UTF-8")
}

fn read_utf8(path: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(path).map_err(|e| unreadable(path, &e))
}

impl CorpusSpec {
    /// Reads a spec from its file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and the errors of [`CorpusSpec::parse`].
    pub fn read(path: &Path) -> Result<Self, Problem> {
        Self::parse(&read_utf8(path)?).map_err(|e| e.problem(path))
    }

    /// Reads the files of forms that the spec names. `base` is the spec's folder.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, and the errors of [`Forms::parse`].
    pub fn read_forms(&self, base: &Path) -> Result<BTreeMap<String, Forms>, Problem> {
        let mut read_forms = BTreeMap::new();
        for named in self.table.forms.iter().flatten() {
            let path = base.join(&*named.file);
            let forms = Forms::parse(&read_utf8(&path)?).map_err(|e| e.problem(&path))?;
            read_forms.insert(named.name.to_string(), forms);
        }
        Ok(read_forms)
    }
}

impl CleanSource {
    /// Returns the paragraphs of a text file, or of all .txt files in a folder, sorted by name.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn paragraphs(&self, path: &Path) -> Result<Vec<CleanText>, Problem> {
        let mut texts = Vec::new();
        for file in text_files(path).map_err(|e| unreadable(path, &e))? {
            let text = read_utf8(&file)?.replace("\r\n", "\n");
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let paragraphs = text.split("\n\n").map(str::trim);
            let paragraphs = paragraphs.filter(|text| !text.is_empty());
            texts.extend(paragraphs.enumerate().map(|(at, text)| CleanText {
                id: format!("{name}/{at}"),
                model: None,
                group: None,
                split: None,
                lang: self.lang.clone().unwrap_or_default(),
                text: text.to_owned(),
            }));
        }
        Ok(texts)
    }
}

fn text_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    Ok(files)
}

impl CleanText {
    /// Returns the whole text of a transcript, reasoning first. `None` if the transcript has no text.
    pub fn from_entry(entry: &Entry) -> Option<Self> {
        let transcript = &entry.transcript;
        let parts = [transcript.reasoning(), transcript.answer()];
        let parts = parts.each_ref().map(|part| part.trim());
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join("\n\n");
        (!text.is_empty()).then(|| Self {
            id: transcript.id.clone(),
            model: Some(transcript.model.clone()),
            group: transcript.group.clone(),
            split: entry.split.clone(),
            lang: transcript.lang.clone().unwrap_or_default(),
            text,
        })
    }
}

impl RealStream {
    /// Returns the texts and calls of a transcript.
    pub fn from_entry(entry: &Entry) -> Self {
        let transcript = &entry.transcript;
        let call = |event: &RecordedEvent| match &event.body {
            Body::ToolCall {
                name, arguments, ..
            } => object_arguments(arguments).map(|arguments| (name.clone(), arguments)),
            _ => None,
        };
        let (reasoning, answer) = (transcript.reasoning(), transcript.answer());
        // Some recordings have reasoning and answer in one text, with the model's tags.
        let block = reasoning.trim_start().strip_prefix("<think>");
        let block = block.and_then(|block| block.split_once("</think>"));
        let (thought, said) = match block {
            Some(block) if answer.is_empty() => block,
            _ => (&*reasoning, &*answer),
        };
        let mut events = transcript.events.iter().rev();
        let over = events.find_map(|event| match event.body {
            Body::Finish { .. } => event.t_ms,
            _ => None,
        });
        Self {
            reasoning: thought.trim().to_owned(),
            answer: said.trim().to_owned(),
            calls: transcript.events.iter().filter_map(call).collect(),
            pieces: timed_pieces(&transcript.events).unwrap_or_default(),
            over,
        }
    }
}

/// Returns the pieces of the answer, without leading whitespace. `None` if a piece has no time.
fn timed_pieces(events: &[RecordedEvent]) -> Option<Vec<TimedPiece>> {
    let mut pieces = Vec::new();
    for event in events {
        let Body::Answer(text) = &event.body else {
            continue;
        };
        let is_first = pieces.is_empty();
        let text = if is_first { text.trim_start() } else { text };
        let (chars, t_ms) = (text.chars().count(), event.t_ms?);
        if chars > 0 {
            pieces.push(TimedPiece { chars, t_ms });
        }
    }
    Some(pieces)
}

/// Returns the arguments as the model wrote them, if they are a non-empty object.
fn object_arguments(arguments: &Json) -> Option<String> {
    let (text, value) = match arguments {
        Json::String(text) => (text.clone(), serde_json::from_str(text).ok()?),
        value => (value.to_string(), value.clone()),
    };
    let is_object = value.as_object().is_some_and(|fields| !fields.is_empty());
    is_object.then_some(text)
}
