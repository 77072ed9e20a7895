//! [`Card`]: the card of a corpus, `dataset.toml`.

use std::path::Path;

use serde::Deserialize;

use crate::files::read_text;
use crate::{CorpusError, Place, Problem, ThinkOptions, ThinkRules};

/// Content of `dataset.toml`: the origin of a corpus and how it was made. All keys are optional, and unknown keys are
/// kept in `rest`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Card {
    /// Name of the corpus.
    pub name: Option<String>,
    /// Version of the corpus, as text.
    pub version: Option<String>,
    /// Licence of the corpus.
    pub licence: Option<String>,
    /// Description of the content.
    pub description: Option<String>,
    /// Description of how the corpus was made.
    pub how: Option<String>,
    /// Models of the recorded outputs.
    pub models: Vec<CardModel>,
    /// Rules for splitting the `text` of transcripts at `<think>` tags.
    pub think: ThinkRules,
    /// All other keys.
    #[serde(flatten)]
    pub rest: toml::Table,
}

/// A model in a [`Card`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CardModel {
    /// Name of the model, as in the transcripts.
    pub name: String,
    /// All other keys.
    #[serde(flatten)]
    pub rest: toml::Table,
}

impl Card {
    /// Reads a card from a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not TOML, if a key has the wrong type, or if a glob or tag is
    /// invalid.
    pub fn read(path: &Path) -> Result<Self, CorpusError> {
        let text = read_text(path).map_err(|e| CorpusError::unreadable(path, e))?;
        Self::parse(&text, path)
    }

    /// Parses the text of a card. `path` is used in errors.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read) that concern the text.
    pub fn parse(text: &str, path: &Path) -> Result<Self, CorpusError> {
        toml::from_str(text).map_err(|e| card_error(path, line_of_error(text, &e), e.message()))
    }
}

/// Returns the options for splitting the `text` of a model. Without a card, these are the default options.
pub(crate) fn think_options(card: Option<&Card>, model: &str) -> ThinkOptions {
    card.map_or_else(ThinkOptions::default, |card| card.think.options(model))
}

fn line_of_error(text: &str, error: &toml::de::Error) -> u64 {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|byte| **byte == b'\n').count() as u64
}

fn card_error(path: &Path, line: u64, what: &str) -> CorpusError {
    let place = Place {
        line,
        ..Place::whole(path)
    };
    let what = what.trim_end().replace('\n', ", ");
    Problem::new(place, what, "a dataset card in TOML").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blocks;

    fn read(text: &str) -> Result<Card, CorpusError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dataset.toml");
        std::fs::write(&path, text).unwrap();
        Card::read(&path)
    }

    #[test]
    fn known_keys_are_read_and_others_kept() {
        let card =
            read("name = 'x'\nmood = 'good'\n[[models]]\nname = 'm'\nweights = 'w'\n").unwrap();
        assert_eq!(card.name.as_deref(), Some("x"));
        assert_eq!(card.rest["mood"].as_str(), Some("good"));
        assert_eq!(card.models[0].name, "m");
        assert_eq!(card.models[0].rest["weights"].as_str(), Some("w"));
    }

    #[test]
    fn an_error_names_its_line() {
        let error = read("name = 'x'\nversion = 3\n").unwrap_err().to_string();
        assert!(error.contains("dataset.toml:2: invalid type"), "{error}");
        let error = read("name = \n").unwrap_err().to_string();
        assert!(error.contains("dataset.toml:1"), "{error}");
    }

    #[test]
    fn models_that_open_the_tag_in_the_prompt_are_declared_by_glob() {
        let card = read("[think]\nblocks = 'all'\nopened_in_prompt = ['deepseek-r1*']\n").unwrap();
        assert!(card.think.options("deepseek-r1:8b").opened);
        assert!(!card.think.options("other").opened);
        assert_eq!(card.think.options("other").blocks, Blocks::All);
        assert!(read("[think]\nopened_in_prompt = ['[']\n").is_err());
        assert!(read("[think]\nblocs = 'all'\n").is_err());
    }
}
