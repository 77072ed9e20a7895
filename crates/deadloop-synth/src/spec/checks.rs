//! Checks of a spec for meaningless keys and impossible combinations.

use deadloop_detect::{Fault, Kind};

use super::keys::describe_keys;
use super::kinds::ItemMaker;
use super::parsing::{ItemContext, ParsedTable, SpecResult, resolve_name};
use super::tables::{DriftKind, ItemTable, LoopClass, RepeatedUnit, SpecStreamKind};
use super::values::range_or;
use super::{Faults, Repeats};

/// Returns the error of the first rule whose condition holds.
///
/// A rule has the key at which the error is reported, the condition, the problem and the expected value.
macro_rules! reject_if {
    ($at:expr; $($key:literal if $wrong:expr => $what:expr, $expected:expr;)+) => {$(
        if $wrong {
            return Err($at.error_at($key, $what, $expected));
        }
    )+};
}

/// Rejects keys that items of the kind do not have.
pub(super) fn check_keys(table: &ItemTable, parsed: ParsedTable<'_>) -> SpecResult {
    let kind = table.kind;
    let Some(key) = parsed.keys().find(|key| !kind.has_key(key)) else {
        return Ok(());
    };
    let keys = describe_keys();
    let known = keys.iter().filter(|known| known.table == "[[item]]");
    let known = known.map(|known| known.key.as_str());
    let known: Vec<&str> = known.filter(|key| kind.has_key(key)).collect();
    let what = format!("{key} has no meaning for kind {}", kind.name);
    Err(parsed.error_at(key, what, format!("one of {}", known.join(", "))))
}

impl ItemContext<'_> {
    /// Rejects an item that no transcript could satisfy. Returns the fault parameters of an item of kind `fault`.
    pub(super) fn check(&self) -> SpecResult<Option<Faults>> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        reject_if! { self.parsed;
            "file" if !self.item.file().chars().all(plain) => format!("file {:?}", self.item.file()),
                "letters, digits, - and _: the name of a file without an ending";
            "class" if self.item.repeats.class == LoopClass::Transient && self.item.repeats.after.low == 0 =>
                "class = \"transient\" without an end", "after of 1 and more";
        }
        if let Some(name) = &self.item.forms {
            let all = self.spec.table.forms.iter().flatten();
            resolve_name(self.parsed, "forms", name, all.map(|forms| &*forms.name))?;
        }
        match self.item.kind.maker {
            ItemMaker::Text(kind) => self.check_loop(kind)?,
            ItemMaker::Run | ItemMaker::Harmless(..) | ItemMaker::Loop(..) => self.check_run()?,
            ItemMaker::Clean | ItemMaker::Recorded | ItemMaker::Fault => {}
        }
        if self.item.glue.is_some() && self.item.forms.is_none() {
            self.check_doubt("glue")?;
        }
        let faults = match self.item.kind.maker {
            ItemMaker::Fault => Some(self.read_faults()?),
            _ => None,
        };
        let stream = faults.as_ref().map(|faults| faults.stream);
        let whole = stream == Some(SpecStreamKind::Whole);
        let chunks = self.item.chunks.as_ref();
        let recorded = chunks.filter(|chunks| chunks.are_recorded());
        reject_if! { self.parsed;
            "chunks" if recorded.is_some() && !(whole && self.item.forms.is_none()) => "chunks by recorded",
                "by tokens or chars; recorded chunks are those of stream whole, out of a source";
            "chunks" if recorded.is_some_and(|chunks| chunks.size.is_some() || chunks.ms.is_some()) =>
                "chunks by recorded with size or ms", "by alone: the recording has both";
        }
        Ok(faults)
    }

    fn check_loop(&self, kind: Kind) -> SpecResult {
        let Repeats { onsets, period, .. } = &self.item.repeats;
        if let Some(onset) = onsets.iter().find(|onset| onset.high < period.low) {
            let what = format!("onset {onset} leaves no room for a first copy of {period} chars");
            let expected = format!("an onset of at least {} chars", period.low);
            return Err(self.parsed.error_at("onset", what, expected));
        }
        let all = self.spec.table.unit.iter().flatten();
        if let Some(name) = &self.item.unit {
            resolve_name(self.parsed, "unit", name, all.map(|unit| &*unit.name))?;
        }
        let unit = self.item.unit.as_ref().map_or("", |name| name);
        let without =
            |lang: &&String| !unit.is_empty() && self.spec.find_unit(unit, lang).is_none();
        let silent = self.item.langs.iter().find(without);
        let drift = self.item.drift.as_ref();
        let near = kind == Kind::NearRepeat;
        let mut texts = self.used_units().flat_map(|unit| unit.texts.iter());
        let is_open = texts.any(|text| text.contains("{}"));
        reject_if! { self.parsed;
            "unit" if silent.is_some() => format!("unit {unit} has no texts in {}", silent.map_or("", |lang| lang)),
                "a [[unit]] of that name and language";
            "unit" if is_open && !(near && drift.is_some_and(|drift| drift.replaces_placeholder())) =>
                format!("{kind} of texts with {{}} in them"),
                "near-repeat with drift fill, draw or counter, or texts without {}";
            "kind" if near && drift.is_none() =>
                "near-repeat without drift", "drift = { kind = … }: how the copies differ";
            "drift" if !near && drift.is_some() => format!("{kind} whose copies differ"), "kind = \"near-repeat\"";
        }
        self.check_drift()
    }

    /// Iterates over the item's units in its languages.
    fn used_units(&self) -> impl Iterator<Item = &RepeatedUnit> {
        let unit = |lang: &String| self.spec.find_unit(self.item.unit.as_ref()?, lang);
        self.item.langs.iter().filter_map(unit)
    }

    /// Rejects drift that does not fit the texts of the item.
    fn check_drift(&self) -> SpecResult {
        let Some(drift) = &self.item.drift else {
            return Ok(());
        };
        let kind = drift.kind;
        let fills = matches!(kind, DriftKind::Fill | DriftKind::Draw);
        let counter = drift.counter.as_ref();
        let closed = |unit: &RepeatedUnit| !unit.texts.iter().all(|text| text.contains("{}"));
        reject_if! { self.parsed;
            "drift" if fills && self.item.unit.is_none() =>
                "drift fill or draw of text that is cut", "unit: texts with {} in them";
            "drift" if fills && self.used_units().any(|unit| unit.fillers().len() < 2) =>
                "drift fill or draw with nothing to fill in", "at least two fillers in every [[unit]]";
            "drift" if fills && self.used_units().any(closed) =>
                "drift fill or draw, but a text without {}", "{} in every text of the [[unit]]";
            "drift" if kind == DriftKind::Counter && counter.is_some_and(|text| !text.contains("{}")) =>
                "a counter without {}", "{} where the number stands";
            "drift" if kind != DriftKind::Circle && drift.glue.is_some() =>
                "glue without circle", "drift kind circle";
            "drift" if kind == DriftKind::Paraphrase && self.spec.paraphrase_groups().is_empty() =>
                "drift paraphrase without words", "paraphrase = [[…]] at the top of the spec";
            "drift" if kind == DriftKind::Case && !self.item.langs.iter().all(|lang| has_case(lang)) =>
                "drift case in a script without case", "other languages, or another drift";
        }
        if kind == DriftKind::Circle {
            self.check_doubt("drift")?;
        }
        Ok(())
    }

    /// Rejects `glue` without phrases of doubt in the languages of the item.
    fn check_doubt(&self, key: &str) -> SpecResult {
        let drift = self.item.drift.as_ref();
        let glue = drift.and_then(|drift| drift.glue.as_ref());
        let glue = self.item.glue.as_ref().or(glue);
        let known = |lang: &String| {
            glue.and_then(|name| self.spec.find_unit(name, lang))
                .is_some()
        };
        let unknown = self.item.langs.iter().find(|lang| !known(lang));
        unknown.map_or(Ok(()), |lang| {
            let expected = "glue: the name of a [[unit]] of that language";
            let what = format!("no words of doubt in {lang}");
            Err(self.parsed.error_at(key, what, expected))
        })
    }

    /// Rejects loops that do not fit into any run.
    fn check_run(&self) -> SpecResult {
        let (period, kind) = (self.item.repeats.period, self.item.kind);
        reject_if! { self.parsed;
            "" if self.item.forms.is_none() && self.spec.sources.is_empty() =>
                "a run without a host", "forms, or a [[source]] that is a corpus of runs";
            "period" if period.low < kind.period.low.min(2) => format!("{} of {period} calls", kind.name),
                "2 calls and more; one call over and over is same-call-same-result";
        }
        Ok(())
    }

    /// Reads the fault parameters of an item, and rejects values that do not fit the stream.
    fn read_faults(&self) -> SpecResult<Faults> {
        let item = self.item;
        let faults = item.fault.iter().flat_map(|all| all.iter());
        let kinds: Vec<Fault> = faults.copied().collect();
        let missing = || {
            let what = "kind fault without stream";
            self.parsed.error_at("kind", what, "stream")
        };
        let stream = item.stream.ok_or_else(missing)?;
        let planted = item.source.is_some() && item.forms.is_some();
        let chunks = item.chunks.as_ref();
        let timed = chunks.is_some_and(|chunks| chunks.make_times() || chunks.are_recorded());
        let foreign = kinds.iter().find(|kind| !stream.allows(**kind));
        let known = Fault::ALL.into_iter().filter(|kind| stream.allows(*kind));
        let known: Vec<&str> = known.map(Fault::name).collect();
        reject_if! { self.parsed;
            "kind" if kinds.is_empty() => "kind fault without fault", "fault";
            "fault" if foreign.is_some() =>
                format!("fault {} of a stream of {}", foreign.map_or("", |kind| kind.name()), stream.name()),
                format!("one of {}", known.join(", "));
            "" if kinds.contains(&Fault::Stall) && !timed => "a stall without times",
                "chunks = { by = …, ms = [low, high] }, or { by = \"recorded\" }";
            "" if stream == SpecStreamKind::Calls && self.spec.tools().is_empty() =>
                "calls without [[tool]]", "a [[tool]] that is called";
            "source" if planted && !matches!(stream, SpecStreamKind::Tags | SpecStreamKind::Think) =>
                format!("forms in the texts of a source, of a stream of {}", stream.name()),
                "stream tags or think, or source without forms";
        }
        Ok(Faults {
            kinds,
            stream,
            severity: range_or(item.severity, 1, 3),
            intact: item.intact.map_or(0.2, |share| share.0),
            planted,
        })
    }
}

fn has_case(lang: &str) -> bool {
    !["zh", "ja", "ko", "th", "ar", "he", "hi", "bn"].contains(&lang)
}

impl SpecStreamKind {
    /// Returns whether a fault can occur in streams of this kind.
    fn allows(self, fault: Fault) -> bool {
        use Fault as F;
        use SpecStreamKind::{Arguments, Calls, Events, Name, Tags, Text, Think, Whole};
        let streams: &[Self] = match fault {
            F::Unclosed | F::EarlyClose | F::Nested | F::Crossed => &[Tags],
            F::NumberMismatch | F::MissingField | F::Empty => &[Tags],
            F::Case | F::Misspelt => &[Tags, Name],
            F::ThinkOpen | F::ThinkMissing | F::ThinkTwice => &[Think],
            F::ThinkLate | F::ToolInThink => &[Think],
            F::Pseudo | F::Confirmation => &[Text],
            F::BrokenJson => &[Arguments],
            F::ReplayLost | F::ReplayDoubled | F::ReplayOrder => &[Events],
            F::NoDone | F::Stall | F::ErrorEvent => &[Whole],
            F::PartialTools => &[Calls],
            F::LeakedControl => &[Tags, Think, Text, Arguments, Name],
            F::Cut => &[Tags, Think, Text, Arguments, Whole],
            _ => &[],
        };
        streams.contains(&self)
    }
}
