//! Selects transcripts of a corpus by field, number or random sample.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use crate::{Entry, ModelGlob};

/// Size and random seed of a sample of transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Number of transcripts.
    pub count: usize,
    /// Random seed. Equal seeds draw equal samples.
    pub seed: u64,
}

/// A selection of transcripts. Every condition that is set must hold, and one of several models must match.
///
/// [`Selection::matches`] checks a single transcript. `limit` takes the first matching transcripts in corpus order, and
/// `sample` draws from them. A sample needs two passes over the corpus: see [`SampleDraw`].
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Globs of the model name.
    pub models: Vec<ModelGlob>,
    /// Required split.
    pub split: Option<String>,
    /// Pairs of a field and its required value. [`field`] describes the possible fields.
    pub wheres: Vec<(String, String)>,
    /// Maximum number of matching transcripts, counted from the first one in the corpus.
    pub limit: Option<usize>,
    /// Random sample of the matching transcripts.
    pub sample: Option<SampleSize>,
}

impl Selection {
    /// Returns whether a transcript meets all conditions other than `limit` and `sample`.
    pub fn matches(&self, entry: &Entry) -> bool {
        let transcript = &entry.transcript;
        (self.models.is_empty()
            || self
                .models
                .iter()
                .any(|glob| glob.is_match(&transcript.model)))
            && (self.split.is_none() || self.split == entry.split)
            && self.wheres.iter().all(|(key, value)| {
                field(entry, key).is_some_and(|actual| is_same_value(&actual, value))
            })
    }
}

/// Returns whether a field's text equals the required value. Numbers such as 1.0 and 1 are equal.
fn is_same_value(text: &str, wanted: &str) -> bool {
    text == wanted || serde_json::from_str(wanted).is_ok_and(|wanted| text == number_text(&wanted))
}

/// Parses a condition `key=value`.
///
/// # Errors
/// Returns an error if there is no `=`, or no key before it.
pub fn parse_where(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not of the form key=value")),
    }
}

/// Returns the value of a transcript's field as text.
///
/// The key is `id`, `model`, `profile`, `group`, `lang`, `split`, or any other key of the line. `meta.source` is the
/// key `source` of `meta`. A key that does not exist elsewhere is looked up in `meta`. Dots lead into nested objects.
/// Null counts as absent, and a list or object is returned as JSON. Equal numbers, such as 1 and 1.0, have the same
/// text.
pub fn field(entry: &Entry, key: &str) -> Option<String> {
    let transcript = &entry.transcript;
    match key {
        "id" => Some(transcript.id.clone()),
        "model" => Some(transcript.model.clone()),
        "profile" => transcript.profile.clone(),
        "group" => transcript.group.clone(),
        "lang" => transcript.lang.clone(),
        "split" => entry.split.clone(),
        _ => value_text(find_other_field(entry, key)?),
    }
}

/// Returns the names of the top-level and `meta` fields that have a value.
pub fn fields(entry: &Entry) -> Vec<String> {
    let transcript = &entry.transcript;
    let known_fields = ["id", "model", "profile", "group", "lang", "split"].map(String::from);
    let meta = transcript.meta.keys().map(|key| format!("meta.{key}"));
    let all = known_fields
        .into_iter()
        .chain(meta)
        .chain(entry.rest.keys().cloned());
    all.filter(|name| field(entry, name).is_some()).collect()
}

fn find_other_field<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    let (meta, rest) = (&entry.transcript.meta, &entry.rest);
    let in_meta = key.strip_prefix("meta.").and_then(|key| look_up(meta, key));
    in_meta
        .or_else(|| look_up(rest, key))
        .or_else(|| look_up(meta, key))
}

fn look_up<'a>(object: &'a serde_json::Map<String, Value>, key: &str) -> Option<&'a Value> {
    if let Some(value) = object.get(key) {
        return Some(value);
    }
    let (first, rest) = key.split_once('.')?;
    look_up(object.get(first)?.as_object()?, rest)
}

/// Returns a value as text. `None` if the value is null.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(value) => Some(number_text(value)),
        other => Some(other.to_string()),
    }
}

/// Returns a number as text. A whole number is written without a fraction.
fn number_text(value: &Number) -> String {
    // Beyond 2^53 not every whole number is a float.
    let is_whole = |float: &f64| float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
    match value.as_f64().filter(|_| value.is_f64()).filter(is_whole) {
        Some(float) => (float as i64).to_string(),
        None => value.to_string(),
    }
}

/// A random draw of transcripts in two passes.
///
/// The transcripts with the smallest seeded hashes of their ids are drawn, independently of threads and order. The
/// first pass offers the ids that are left after `limit`. The second pass selects with [`SampleIds`].
#[derive(Clone, Debug)]
pub struct SampleDraw {
    sample: SampleSize,
    smallest: BTreeSet<([u8; 32], String)>,
}

impl SampleDraw {
    /// Creates an empty draw.
    pub fn new(sample: SampleSize) -> Self {
        Self {
            sample,
            smallest: BTreeSet::new(),
        }
    }

    /// Adds an id to the population of the sample.
    pub fn offer(&mut self, id: &str) {
        let mut hasher = Sha256::new();
        hasher.update(self.sample.seed.to_le_bytes());
        hasher.update(id);
        self.smallest
            .insert((hasher.finalize().into(), id.to_owned()));
        if self.smallest.len() > self.sample.count {
            self.smallest.pop_last();
        }
    }

    /// Returns the drawn ids, after all ids were offered.
    pub fn finish(self) -> SampleIds {
        SampleIds(self.smallest.into_iter().map(|(_, id)| id).collect())
    }
}

/// The ids of the transcripts that a [`SampleDraw`] has drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleIds(HashSet<String>);

impl SampleIds {
    /// Returns whether the transcript with this id was drawn.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Returns the number of drawn transcripts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no transcript was drawn.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Transcript};
    use serde_json::json;

    fn entry() -> Entry {
        let meta = json!({"source": "planted", "n": 3, "deep": {"er": true}, "a.b": "dot", "x": null, "reward": 1.0, "share": 0.5});
        let transcript = Transcript {
            id: "i".into(),
            model: "org/m-7b".into(),
            lang: Some("en".into()),
            meta: meta.as_object().unwrap().clone(),
            ..Transcript::default()
        };
        Entry {
            transcript,
            labels: None,
            rest: json!({"top": "t", "n": 4}).as_object().unwrap().clone(),
            split: Some("dev".into()),
            place: Place::whole("x"),
        }
    }

    #[test]
    fn fields_are_found_on_top_and_in_meta() {
        let value = |key: &str| field(&entry(), key);
        assert_eq!(value("meta.source").as_deref(), Some("planted"));
        assert_eq!(value("source").as_deref(), Some("planted"));
        assert_eq!(value("top").as_deref(), Some("t"));
        assert_eq!(value("n").as_deref(), Some("4"), "the top goes before meta");
        assert_eq!(value("meta.n").as_deref(), Some("3"));
        assert_eq!(value("meta.deep.er").as_deref(), Some("true"));
        assert_eq!(value("a.b").as_deref(), Some("dot"));
        assert_eq!(value("split").as_deref(), Some("dev"));
        assert_eq!(
            value("meta.reward").as_deref(),
            Some("1"),
            "as 1 is written"
        );
        assert_eq!(value("share").as_deref(), Some("0.5"));
        assert_eq!(value("x"), None);
        assert_eq!(value("profile"), None);
        assert_eq!(value("nothing.at.all"), None);
    }

    #[test]
    fn everything_asked_for_must_hold() {
        let with = |change: fn(&mut Selection)| {
            let mut selection = Selection::default();
            change(&mut selection);
            selection.matches(&entry())
        };
        assert!(with(|_| ()));
        let with_where = |required: &str| {
            let wheres = vec![parse_where(required).unwrap()];
            let selection = Selection {
                wheres,
                ..Selection::default()
            };
            selection.matches(&entry())
        };
        assert!(with(
            |s| s.models = vec!["x*".parse().unwrap(), "*m-7b".parse().unwrap()]
        ));
        assert!(!with(|s| s.models = vec!["m-7b".parse().unwrap()]));
        assert!(with(|s| s.split = Some("dev".into())));
        assert!(!with(|s| s.split = Some("test".into())));
        assert!(with(
            |s| s.wheres = vec![parse_where("meta.deep.er=true").unwrap()]
        ));
        for required in ["meta.reward=1", "meta.reward=1.0", "meta.n=3.0"] {
            assert!(with_where(required), "{required}");
        }
        assert!(!with_where("meta.none="));
        assert!(!with_where("meta.reward=01"));
        assert!(parse_where("=x").is_err());
        assert!(parse_where("x").is_err());
        assert_eq!(parse_where("k=a=b"), Ok(("k".into(), "a=b".into())));
        assert!("[".parse::<ModelGlob>().is_err());
    }

    #[test]
    fn a_sample_depends_on_the_seed_and_the_ids_alone() {
        let ids: Vec<String> = (0..100).map(|n| format!("id{n}")).collect();
        let draw = |ids: &mut dyn Iterator<Item = &String>, seed| {
            let mut draw = SampleDraw::new(SampleSize { count: 10, seed });
            ids.for_each(|id| draw.offer(id));
            draw.finish()
        };
        let forward = draw(&mut ids.iter(), 1);
        assert_eq!(forward.len(), 10);
        assert_eq!(forward, draw(&mut ids.iter().rev(), 1));
        assert_ne!(forward, draw(&mut ids.iter(), 2));
        assert_eq!(draw(&mut ids[..4].iter(), 1).len(), 4);
    }
}
