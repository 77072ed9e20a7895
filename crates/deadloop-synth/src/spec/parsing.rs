//! Parsing of a [`CorpusSpec`] from TOML.
//!
//! A spec that no transcript could satisfy is rejected.

use std::collections::BTreeSet;
use std::ops::Range;

use deadloop_detect::harness::did_you_mean;
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::keys::expected_value;
use super::kinds::ItemMaker;
use super::tables::{ItemTable, LoopClass, SourceFilter, SourceTable, SpecTable};
use super::values::{NonEmpty, NonEmptyText, range_or};
use super::{CleanSource, CorpusSpec, Repeats, SourcePlace, SpecItem};

/// The result of reading a spec or a file of forms, or of making what it describes.
pub type SpecResult<T = ()> = Result<T, SpecError>;

/// An error in a spec or a file of forms, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}, expected {expected}")]
pub struct SpecError {
    /// Number of the line, from 1.
    pub line: usize,
    /// The problem, as a lower-case fragment.
    pub what: String,
    /// The expected value.
    pub expected: String,
}

impl SpecError {
    pub(crate) fn new(line: usize, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            expected: expected.into(),
        }
    }

    /// Converts a deserialization error of a text that is valid TOML.
    fn from_toml(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        let line = line_of(text, &span);
        let message = error.message().replace('`', "\"");
        let (what, known) = message.rsplit_once(", expected ").unwrap_or((&message, ""));
        let named = what.split('"').nth(1).unwrap_or_default();
        if what.starts_with("missing field") {
            let expected = expected_value(table_at(text, span.start, true), named);
            return Self::new(line, format!("no {named}"), expected);
        }
        if what.starts_with("unknown field") {
            let known = known.trim_start_matches("one of ").replace('"', "");
            let hint = did_you_mean(named, known.split(", "));
            let what = format!("unknown key {named}{hint}");
            return Self::new(line, what, format!("one of {known}"));
        }
        let shown = text.get(span.clone()).unwrap_or_default();
        let before = text.get(..span.start).unwrap_or_default();
        let key = before.rsplit(['\n', '{', ',']).next().unwrap_or_default();
        let key = key.trim_start();
        let expected = match split_header(shown) {
            Some(header) => expected_value(header.0, header.1),
            None => {
                let name = key.split('=').next().unwrap_or_default();
                expected_value(table_at(text, span.start, false), name.trim_end())
            }
        };
        let hint = did_you_mean(shown.trim_matches('"'), expected.split(" | "));
        let short: String = shown.chars().take(40).collect();
        let what = format!("{key}{}{hint}", short.replace('\n', " "));
        Self::new(line, what, expected)
    }
}

/// Splits a table header into the name of the outer table and the name of the table itself.
///
/// The outer table is empty for the whole file. `None` if the line is not a header.
fn split_header(line: &str) -> Option<(&str, &str)> {
    let name = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    let name = name.trim_matches(['[', ']']);
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let names = name.rsplit_once('.').unwrap_or(("", name));
    name.chars().all(is_name).then_some(names)
}

/// Returns the name of the table around a byte offset, which is empty for the whole file. If `inclusive`, a table that
/// begins at the offset counts.
fn table_at(text: &str, offset: usize, inclusive: bool) -> &str {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let from = before.rfind('\n').map_or(0, |at| at + 1);
    let begins = usize::from(inclusive && after.starts_with('{'));
    let line = &text[from..offset + begins];
    if let Some((key, _)) = line.split_once('{') {
        return key.trim_end_matches(['=', ' ']);
    }
    let own = after
        .lines()
        .next()
        .filter(|_| inclusive && line.is_empty());
    let lines = own.into_iter().chain(before.lines().rev());
    let mut headers = lines.filter_map(split_header);
    headers.next().map_or("", |(_, name)| name)
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    let before = text.as_bytes().iter().take(span.start);
    1 + before.filter(|byte| **byte == b'\n').count()
}

/// A table of a file, with the positions of its keys.
#[derive(Clone, Copy)]
pub(crate) struct ParsedTable<'a> {
    text: &'a str,
    /// First line of the table.
    pub(super) line: usize,
    table: &'a DeTable<'a>,
}

/// Parses a file, and converts its content with `convert`.
pub(crate) fn parse_toml<T: DeserializeOwned, R>(
    text: &str,
    convert: impl FnOnce(T, ParsedTable<'_>) -> SpecResult<R>,
) -> SpecResult<R> {
    let table = DeTable::parse(text).map_err(|e| {
        let what = e.message().trim().replace('\n', ", ");
        SpecError::new(line_of(text, &e.span().unwrap_or(0..0)), what, "TOML")
    })?;
    let read = toml::from_str(text).map_err(|error| SpecError::from_toml(text, &error))?;
    let table = table.get_ref();
    let line = 1;
    convert(read, ParsedTable { text, line, table })
}

impl<'a> ParsedTable<'a> {
    /// Iterates over the tables with this name inside the table.
    pub(crate) fn tables(self, name: &str) -> impl Iterator<Item = Self> {
        let list = self.table.iter().find(|(key, _)| key.get_ref() == name);
        let list = list.and_then(|(_, list)| list.get_ref().as_array());
        let list = list.into_iter().flat_map(|list| list.iter());
        list.filter_map(move |item| {
            let (line, table) = (line_of(self.text, &item.span()), item.get_ref().as_table()?);
            Some(Self {
                line,
                table,
                ..self
            })
        })
    }

    /// Iterates over the names of the table's keys, in file order.
    pub(super) fn keys(self) -> impl Iterator<Item = &'a str> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter().map(|key| key.get_ref().as_ref())
    }

    /// Creates an error at a key, or at the table if the key is missing.
    pub(crate) fn error_at(
        self,
        key: &str,
        what: impl Into<String>,
        expected: impl Into<String>,
    ) -> SpecError {
        let key = self.table.keys().find(|other| other.get_ref() == key);
        let line = key.map_or(self.line, |key| line_of(self.text, &key.span()));
        SpecError::new(line, what, expected)
    }
}

/// Returns the index of `name` among `names`. An unknown name is an error at the key `key`.
pub(super) fn resolve_name<'a>(
    parsed: ParsedTable<'_>,
    key: &str,
    name: &str,
    names: impl Iterator<Item = &'a String> + Clone,
) -> SpecResult<usize> {
    let mut names = names.map(String::as_str);
    let known: BTreeSet<&str> = names.clone().collect();
    let hint = did_you_mean(name, known.iter().copied());
    names.position(|other| other == name).ok_or_else(|| {
        let known: Vec<&str> = known.into_iter().collect();
        let expected = match known.as_slice() {
            [] => "a table of that name".to_owned(),
            known => format!("one of {}", known.join(", ")),
        };
        parsed.error_at(key, format!("{key} {name}: there is none{hint}"), expected)
    })
}

impl CorpusSpec {
    /// Parses a spec.
    ///
    /// # Errors
    /// Returns the first error: a key that is unknown, missing, out of bounds or meaningless for the kind, a reference
    /// to an unknown name, or an impossible combination of keys.
    pub fn parse(text: &str) -> SpecResult<Self> {
        parse_toml(text, Self::from_table)
    }

    fn from_table(table: SpecTable, parsed: ParsedTable<'_>) -> SpecResult<Self> {
        let sources = table.source.iter().flatten().zip(parsed.tables("source"));
        let mut spec = Self {
            name: table.name.to_string(),
            seed: table.seed.0,
            sources: sources
                .map(|(table, parsed)| read_source(table, parsed))
                .collect::<Result<_, _>>()?,
            items: Vec::new(),
            table,
        };
        let tables = std::mem::take(&mut spec.table.item);
        for (table, parsed) in tables.into_iter().zip(parsed.tables("item")) {
            let item = SpecItem::from_table(&spec, table, parsed)?;
            if spec.items.iter().any(|other| other.name == item.name) {
                let what = format!("two items named {}", item.name);
                return Err(parsed.error_at("name", what, "names of their own"));
            }
            spec.items.push(item);
        }
        Ok(spec)
    }

    /// Returns the default languages of an item: English, or the sources' languages if none is English.
    fn default_langs(&self, sources: &[usize]) -> Vec<String> {
        let sources = sources.iter().filter_map(|at| self.sources.get(*at));
        let langs: Option<BTreeSet<String>> = sources.map(|source| source.lang.clone()).collect();
        let langs = langs.filter(|langs| !langs.is_empty() && !langs.contains("en"));
        let langs = langs.unwrap_or_else(|| BTreeSet::from(["en".to_owned()]));
        langs.into_iter().collect()
    }
}

fn read_source(table: &SourceTable, parsed: ParsedTable<'_>) -> SpecResult<CleanSource> {
    let place = match (&table.corpus, &table.text) {
        (Some(corpus), None) => SourcePlace::Corpus(corpus.to_string()),
        (None, Some(text)) => SourcePlace::Text(text.to_string()),
        _ => return Err(parsed.error_at("name", "a source of neither or both", "corpus or text")),
    };
    if matches!(place, SourcePlace::Text(_)) {
        let filter = parsed.keys().find(|key| matches!(*key, "where" | "take"));
        if let Some(key) = filter {
            return Err(parsed.error_at(key, "a filter on a text", "it with corpus alone"));
        }
        if table.lang.is_none() {
            return Err(parsed.error_at("text", "a text without lang", "lang, a language tag"));
        }
    }
    Ok(CleanSource {
        name: table.name.to_string(),
        place,
        lang: table.lang.as_ref().map(ToString::to_string),
        wheres: to_strings(table.r#where.as_ref()),
        all: table.take == Some(SourceFilter::All),
        line: parsed.line,
    })
}

/// Converts a list of texts. Empty if the list is missing.
fn to_strings(many: Option<&NonEmpty<NonEmptyText>>) -> Vec<String> {
    let all = many.into_iter().flat_map(|many| many.iter());
    all.map(ToString::to_string).collect()
}

/// An item, with the spec so far and the positions of its keys.
pub(super) struct ItemContext<'a> {
    pub(super) spec: &'a CorpusSpec,
    pub(super) item: &'a SpecItem,
    pub(super) parsed: ParsedTable<'a>,
}

impl SpecItem {
    fn from_table(
        spec: &CorpusSpec,
        table: ItemTable,
        parsed: ParsedTable<'_>,
    ) -> SpecResult<Self> {
        let kind = table.kind;
        super::checks::check_keys(&table, parsed)?;
        let names = spec.sources.iter().map(|source| &source.name);
        let sources: Vec<usize> = match table.source.as_deref() {
            None => (0..spec.sources.len()).collect(),
            Some(some) => {
                let index =
                    |name: &NonEmptyText| resolve_name(parsed, "source", name, names.clone());
                some.iter().map(index).collect::<Result<_, _>>()?
            }
        };
        let langs = match (&table.lang, kind.maker) {
            (None, ItemMaker::Text(_) | ItemMaker::Fault) => spec.default_langs(&sources),
            (None, ItemMaker::Clean) if table.forms.is_none() => spec.default_langs(&sources),
            (langs, _) => to_strings(langs.as_ref()),
        };
        let onsets = table.onset.as_deref();
        let repeats = Repeats {
            period: range_or(table.period, kind.period.low, kind.period.high),
            copies: range_or(table.copies, kind.copies.low, kind.copies.high),
            onsets: match onsets {
                Some(all) => all.iter().map(|onset| onset.0).collect(),
                None => vec![kind.default_onset()],
            },
            after: range_or(table.after, 0, 0),
            class: table.class.unwrap_or(LoopClass::Loop),
        };
        let item = Self {
            table,
            line: parsed.line,
            sources,
            langs,
            repeats,
            faults: None,
        };
        let faults = (ItemContext {
            spec,
            item: &item,
            parsed,
        })
        .check()?;
        Ok(Self { faults, ..item })
    }
}
