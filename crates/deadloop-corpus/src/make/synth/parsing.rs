//! Reads a [`CorpusSpec`] from TOML. Everything that can be known to be impossible is refused before any work.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::{allowed, ends, named, room};
use super::drift::Drift;
use super::fields::{Bounds, Fields, SpecError};
use super::runs::Shape;
use super::spec::{
    Chunks, CleanSource, CorpusSpec, Item, Loop, SourcePlace, Tool, ToolLoop, Unit, What,
};
use super::tables;
use crate::make::plant::PlantKind;

impl CorpusSpec {
    /// Reads a spec.
    ///
    /// # Errors
    /// The first thing that is wrong with it: a key that is unknown, missing, out of its bounds or
    /// without meaning for the kind, a name of nothing, or keys that are impossible together.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let fields = Fields::parse(text, tables::SPEC)?;
        let mut spec = Self {
            name: fields.string("name"),
            seed: fields.whole("seed").unwrap_or_default(),
            sources: fields
                .tables("source")
                .iter()
                .map(source)
                .collect::<Result<_, _>>()?,
            forms: fields.tables("forms").iter().map(forms).collect(),
            card: card(&fields),
            model: fields.text("model").unwrap_or("handmade").to_owned(),
            marked: fields.text("writers") != Some("kept"),
            test: fields.number("test").unwrap_or(0.3),
            paraphrase: fields.groups("paraphrase").to_vec(),
            units: fields.tables("unit").iter().map(unit).collect(),
            tools: fields.tables("tool").iter().map(tool).collect(),
            items: Vec::new(),
        };
        for table in fields.tables("item") {
            let item = spec.item(table)?;
            if spec.items.iter().any(|other| other.name == item.name) {
                let what = format!("two items named {}", item.name);
                return Err(SpecError::at(
                    table.line_of("name"),
                    what,
                    "names of their own",
                ));
            }
            spec.items.push(item);
        }
        Ok(spec)
    }

    fn item(&self, table: &Fields) -> Result<Item, SpecError> {
        let kind = table.string("kind");
        allowed(table, &kind)?;
        let names = || self.sources.iter().map(|source| &source.name);
        let position = |name: &String| named(table, "source", name, names());
        let sources: Vec<usize> = match table.texts("source") {
            [] => (0..self.sources.len()).collect(),
            some => some.iter().map(position).collect::<Result<_, _>>()?,
        };
        let langs = match table.texts("lang") {
            [] if kind == "recorded" || Shape::named(&kind).is_some() => Vec::new(),
            [] if table.text("forms").is_none() || kind == "fault" => self.own_langs(&sources),
            langs => langs.to_vec(),
        };
        let what = self.what(table, &kind, &langs)?;
        Ok(Item {
            name: table.string("name"),
            file: file(table)?,
            count: table.whole("count").unwrap_or(1) as usize,
            line: table.line,
            sources,
            langs,
            channels: table.texts("channel").to_vec(),
            chunks: chunks(table, &what)?,
            what,
        })
    }

    fn what(&self, table: &Fields, kind: &str, langs: &[String]) -> Result<What, SpecError> {
        if let Some(kind) = PlantKind::ALL.into_iter().find(|k| k.name() == kind) {
            return self.looped(table, kind, langs).map(What::Loop);
        }
        if let Some(shape) = Shape::named(kind) {
            return self.run(table, shape).map(What::Run);
        }
        match (kind, table.text("forms")) {
            ("fault", _) => self.faults(table).map(What::Faults),
            ("recorded", _) => Ok(What::Recorded),
            ("clean", Some(forms)) => {
                named(table, "forms", forms, self.forms.iter().map(|f| &f.0))?;
                let around = table.range("around").unwrap_or(Bounds::new(1, 3));
                Ok(What::Negatives {
                    forms: forms.to_owned(),
                    around,
                    aside: table.range("aside").unwrap_or(Bounds::new(0, 0)),
                })
            }
            ("clean", None) => {
                let chars = table.range("chars").unwrap_or(Bounds::new(1000, 6000));
                let glue = table.text("glue").map(str::to_owned);
                if glue.is_some() {
                    self.doubt_possible(table.line_of("glue"), glue.as_deref(), langs)?;
                }
                Ok(What::Clean { chars, glue })
            }
            _ => self.tool_loop(table, kind == "tool-cycle").map(What::Tools),
        }
    }

    /// The languages of an item that names none: English, but where all its sources are in others.
    fn own_langs(&self, sources: &[usize]) -> Vec<String> {
        let sources = sources.iter().filter_map(|at| self.sources.get(*at));
        let langs: Option<BTreeSet<String>> = sources.map(|source| source.lang.clone()).collect();
        let langs = langs.filter(|langs| !langs.is_empty() && !langs.contains("en"));
        langs.map_or_else(
            || vec!["en".to_owned()],
            |langs| langs.into_iter().collect(),
        )
    }

    fn looped(&self, table: &Fields, kind: PlantKind, langs: &[String]) -> Result<Loop, SpecError> {
        let default = match kind {
            PlantKind::ShortSequence => Bounds::new(2, 40),
            PlantKind::OrderedList => Bounds::new(10, 400),
            PlantKind::Paragraph | PlantKind::NearRepeat => Bounds::new(40, 600),
        };
        let zero = Bounds::new(0, 0);
        let range = |name: &str, default| table.range(name).unwrap_or(default);
        let looped = Loop {
            kind,
            unit: table.text("unit").map(str::to_owned),
            period: range("period", default),
            copies: range("copies", Bounds::new(4, 12)),
            length: range("length", Bounds::new(700, 2600)),
            onsets: onsets(table, Bounds::new(700, 6000)),
            after: range("after", zero),
            transient: table.text("class") == Some("transient"),
            truncate: table.flag("truncate").unwrap_or(true),
            drift: table.table("drift").map(Drift::of),
            lead: range("lead", zero),
            nested: table.range("nested"),
            false_starts: range("false_starts", zero),
        };
        self.possible(table, &looped, langs)?;
        Ok(looped)
    }

    fn tool_loop(&self, table: &Fields, cycle: bool) -> Result<ToolLoop, SpecError> {
        let all = || self.tools.iter().map(|tool| &tool.name);
        let tools: Vec<String> = match table.texts("tools") {
            [] => all().cloned().collect(),
            tools => tools.to_vec(),
        };
        for name in &tools {
            named(table, "tools", name, all())?;
        }
        let default = Bounds::new(2, 4);
        let period = table.range("period").unwrap_or(default);
        let period = if cycle { period } else { Bounds::new(1, 1) };
        let what = if cycle && period.low < 2 {
            Some((
                "period",
                format!("a cycle of {period} calls"),
                "2 calls and more; one call over and over is tool-repeat",
            ))
        } else if tools.is_empty() {
            Some((
                "kind",
                "a tool loop without [[tool]]".to_owned(),
                "a [[tool]] that is called",
            ))
        } else {
            None
        };
        if let Some((key, what, expected)) = what {
            return Err(SpecError::at(table.line_of(key), what, expected));
        }
        let looped = ToolLoop {
            cycle,
            tools,
            period,
            copies: table.range("copies").unwrap_or(Bounds::new(3, 8)),
            onsets: onsets(table, Bounds::new(3, 20)),
            after: table.range("after").unwrap_or(Bounds::new(0, 0)),
            transient: table.text("class") == Some("transient"),
        };
        room(table, &looped.onsets, period, "calls")?;
        ends(table, looped.transient, looped.after)?;
        Ok(looped)
    }
}

fn file(table: &Fields) -> Result<String, SpecError> {
    let name = table.text("file").unwrap_or("synth");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(name.to_owned());
    }
    let expected = "letters, digits, - and _: the name of a file without an ending";
    Err(SpecError::at(
        table.line_of("file"),
        format!("file {name:?}"),
        expected,
    ))
}

fn onsets(table: &Fields, default: Bounds) -> Vec<Bounds> {
    match table.ranges("onset") {
        [] => vec![default],
        onsets => onsets.to_vec(),
    }
}

fn card(fields: &Fields) -> BTreeMap<&'static str, String> {
    let keys = ["version", "licence", "description", "how"];
    let given = keys
        .into_iter()
        .filter_map(|key| Some((key, fields.text(key)?.to_owned())));
    given.collect()
}

fn source(table: &Fields) -> Result<CleanSource, SpecError> {
    let refuse = |key: &str, what: &str, expected: &str| {
        Err(SpecError::at(table.line_of(key), what, expected))
    };
    let place = match (table.text("corpus"), table.text("text")) {
        (Some(corpus), None) => SourcePlace::Corpus(corpus.to_owned()),
        (None, Some(text)) => SourcePlace::Text(text.to_owned()),
        _ => return refuse("name", "a source of neither or both", "corpus or text"),
    };
    if matches!(place, SourcePlace::Text(_)) {
        if let Some(key) = ["where", "take"]
            .into_iter()
            .find(|key| table.given().any(|k| k == *key))
        {
            return refuse(key, "a filter on a text", "it with corpus alone");
        }
        if table.text("lang").is_none() {
            return refuse("text", "a text without lang", "lang, a language tag");
        }
    }
    Ok(CleanSource {
        name: table.string("name"),
        place,
        lang: table.text("lang").map(str::to_owned),
        wheres: table.texts("where").to_vec(),
        all: table.text("take") == Some("all"),
        line: table.line,
    })
}

fn forms(table: &Fields) -> (String, String) {
    (table.string("name"), table.string("file"))
}

fn unit(table: &Fields) -> Unit {
    Unit {
        name: table.string("name"),
        lang: table.string("lang"),
        texts: table.texts("texts").to_vec(),
        fillers: table.texts("fillers").to_vec(),
    }
}

fn tool(table: &Fields) -> Tool {
    let results = match table.texts("results") {
        [] => vec!["ok".to_owned()],
        results => results.to_vec(),
    };
    Tool {
        name: table.string("name"),
        arguments: table.lists("arguments"),
        results,
    }
}

/// `item.chunks`; recorded ones are those of whole streams out of a source.
fn chunks(item: &Fields, what: &What) -> Result<Option<Chunks>, SpecError> {
    let Some(table) = item.table("chunks") else {
        return Ok(None);
    };
    if table.text("by") != Some("recorded") {
        return Ok(Some(Chunks::Made {
            tokens: table.text("by") == Some("tokens"),
            size: table.range("size").unwrap_or(Bounds::new(1, 1)),
            ms: table.range("ms"),
        }));
    }
    let refused = |what: &str, expected: &str| SpecError::at(table.line, what, expected);
    if !matches!(what, What::Faults(faults) if faults.stream == "whole" && faults.forms.is_none()) {
        let expected =
            "by tokens or chars; recorded chunks are those of stream whole, out of a source";
        return Err(refused("chunks by recorded", expected));
    }
    if table.range("size").is_some() || table.range("ms").is_some() {
        return Err(refused(
            "chunks by recorded with size or ms",
            "by alone: the recording has both",
        ));
    }
    Ok(Some(Chunks::Recorded))
}
