//! From repetitions to facts. A fact is a stretch of text that ends in copies of one unit, from the
//! first char at which the loosest setting accepts it to the last that continues it; copies and
//! chars grow along it, so that one fact answers every threshold.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::runs::{Read, Run, Runs, Want};
use super::symbols::{Fold, MOST, NUMBER, On, Symbols};
use crate::fact::{Bound, Clock, Fact, Meter, Recipe, UNIT_CHARS};
use crate::param::Threshold;
use crate::position::{Chars, Kind};
use crate::setting::Params;
use crate::value::Value;

/// What the meters of one recipe share.
struct Look {
    want: Want,
    symbols: Symbols,
    min_period: u32,
    min_copies: u64,
    min_chars: u64,
    /// `min_chars` for a single char and for units without letters or numbers.
    min_single: u64,
    start_after: u64,
    /// `min_copies` inside code fences.
    fenced_copies: Option<u64>,
    rows: Vec<Row>,
}

/// A row of `rules`.
#[derive(Clone, Copy)]
struct Row {
    max_period: u32,
    min_copies: u64,
    min_chars: u64,
}

/// What periodic meters are made from.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    Recipe::new(move || Box::new(PeriodicMeter::new(Arc::clone(&look))))
}

impl Look {
    fn new(params: &Params) -> Self {
        let code = params.get("code");
        let skip = code.and_then(Value::as_text) == Some("skip");
        let fenced_copies = code.and_then(Value::as_int).map(i64::unsigned_abs);
        let fold = match params.text("fold") {
            "lists" => Fold::Lists,
            "digits" => Fold::Digits,
            _ => Fold::None,
        };
        let on = match params.text("on") {
            "sentences" => On::Sentences,
            "lines" => On::Lines,
            _ => On::Chars,
        };
        let min_chars = params.count("min_chars");
        let look = Self {
            want: Want::new(1, |_| 2),
            symbols: Symbols::new(fold, on, (skip || fenced_copies.is_some(), skip)),
            min_period: small(params.count("min_period")),
            min_copies: params.count("min_copies"),
            min_chars,
            // A sweep may ask for 0 (min_chars) and for other values: the looser of both is told.
            min_single: match params.count("min_single") {
                0 => min_chars,
                n => n.min(min_chars),
            },
            start_after: params.count("start_after"),
            fenced_copies,
            rows: params.items("rules").iter().map(row).collect(),
        };
        let max_period = small(params.count("max_period"));
        Self {
            want: Want::new(max_period, |lag| {
                let (plain, single) = (look.need(lag, false), look.need(lag, true));
                if lag < look.min_period {
                    u32::MAX
                } else {
                    small(plain.min(single))
                }
            }),
            ..look
        }
    }

    fn row(&self, lag: u32) -> Option<&Row> {
        self.rows.iter().find(|row| lag <= row.max_period)
    }

    /// Chars that a tail of this lag needs.
    fn chars(&self, lag: u32, single: bool) -> u64 {
        match self.row(lag) {
            Some(row) => row.min_chars,
            None if single => self.min_single,
            None => self.min_chars,
        }
    }

    /// Symbols that a tail of this lag needs; chars of elements are not counted here.
    fn need(&self, lag: u32, single: bool) -> u64 {
        let copies = self.row(lag).map_or(self.min_copies, |row| row.min_copies);
        let (copies, chars) = (copies * u64::from(lag), self.chars(lag, single));
        if self.symbols.are_elements() {
            copies
        } else {
            copies.max(chars)
        }
    }
}

fn row(row: &Value) -> Row {
    let field = |name| {
        row.field(name)
            .and_then(Value::as_int)
            .unwrap_or(1)
            .unsigned_abs()
    };
    Row {
        max_period: small(field("max_period")),
        min_copies: field("min_copies"),
        min_chars: field("min_chars"),
    }
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Follows one stream.
struct PeriodicMeter {
    look: Arc<Look>,
    symbols: Symbols,
    runs: Runs,
    /// Where the symbols lie in the text, where they are not its chars.
    places: Option<Places>,
    /// Steps whose facts have been told.
    told: u64,
    /// Facts of the piece that is read, with their lags.
    found: Vec<(u32, Fact)>,
}

/// Where symbols lie in the text.
#[derive(Default)]
struct Places {
    /// Chars read.
    read: u64,
    /// The chars that had been read when each kept symbol was complete.
    ends: Vec<u64>,
    /// The last chars, where symbols are elements: what units are told from.
    recent: Option<Vec<char>>,
    /// Where list markers were left out last.
    markers: VecDeque<u64>,
    /// Of tails that began before what is kept: lag, first symbol, chars before the first copy and
    /// before the second.
    origins: Vec<(Run, u64, u64)>,
}

/// Chars that are kept to tell units from, and markers to tell lists from.
const RECENT: usize = 4096;

impl Places {
    fn new(elements: bool) -> Self {
        Self {
            recent: elements.then(Vec::new),
            ..Self::default()
        }
    }

    #[inline]
    fn read(&mut self, c: char, marker: bool) {
        self.read += 1;
        if let Some(recent) = &mut self.recent {
            if recent.len() >= 2 * RECENT {
                recent.drain(..RECENT);
            }
            recent.push(c);
        }
        if marker {
            if self.markers.len() >= RECENT {
                self.markers.pop_front();
            }
            self.markers.push_back(self.read);
        }
    }

    /// The chars from position `from` to `to`, as far as they are kept.
    fn text(&self, from: u64, to: u64) -> Option<String> {
        let recent = self.recent.as_ref()?;
        let base = self.read - recent.len() as u64;
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
        let to = index(to).min(recent.len());
        Some(recent[index(from).min(to)..to].iter().collect())
    }
}

impl PeriodicMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            symbols: look.symbols,
            runs: Runs::new(&look.want),
            places: (!look.symbols.are_chars()).then(|| Places::new(look.symbols.are_elements())),
            told: 0,
            found: Vec::new(),
            look,
        }
    }

    fn chars(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut symbols = piece.chars().map(u32::from);
        loop {
            match self.runs.read(&look.want, &mut symbols) {
                Read::All => return,
                Read::Ended => self.tell_ended(),
                Read::Full => _ = self.runs.forget(&look.want),
            }
        }
    }

    fn symbols(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        for c in piece.chars() {
            let (fenced, markers) = (self.symbols.fenced(), self.symbols.markers());
            let (mut complete, mut count) = ([0; MOST], 0);
            self.symbols.read(c, &mut |symbol| {
                complete[count] = symbol;
                count += 1;
            });
            if self.symbols.fenced() != fenced {
                self.tell_going_on(fenced);
            }
            if let Some(places) = &mut self.places {
                places.read(c, self.symbols.markers() > markers);
            }
            for symbol in &complete[..count] {
                self.symbol(&look, *symbol, fenced);
            }
        }
    }

    #[inline]
    fn symbol(&mut self, look: &Look, symbol: u32, fenced: bool) {
        if self.runs.is_full(&look.want) {
            self.tell_going_on(fenced);
            self.forget();
        }
        if let Some(places) = &mut self.places {
            places.ends.push(places.read);
        }
        if self.runs.read(&look.want, &mut std::iter::once(symbol)) == Read::Ended {
            self.tell_ended();
        }
    }

    /// Drops old symbols and their places, but for where tails that go on began.
    fn forget(&mut self) {
        let all: Vec<Run> = self.runs.going_on().collect();
        let origins = all.into_iter().map(|run| {
            let (start, onset) = self.origin(run);
            (run, start.0, onset.0)
        });
        let origins = origins.collect();
        let old = self.runs.forget(&self.look.want);
        if let Some(places) = &mut self.places {
            places.origins = origins;
            places.ends.drain(..old);
        }
    }

    fn tell_ended(&mut self) {
        let until = self.runs.seen() - 1;
        let fenced = self.symbols.fenced();
        for run in self.runs.take_ended() {
            self.tell(run, until, fenced);
        }
    }

    fn tell_going_on(&mut self, fenced: bool) {
        let until = self.runs.seen();
        let all: Vec<Run> = self.runs.going_on().collect();
        for run in all {
            self.tell(run, until, fenced);
        }
        self.told = until;
    }

    /// Tells of a tail whose last symbol is number `until`, from where it was told last.
    fn tell(&mut self, run: Run, until: u64, fenced: bool) {
        let look = Arc::clone(&self.look);
        let (plain, alone) = (look.need(run.lag, false), look.need(run.lag, true));
        if run.lag < look.min_period || run.start + plain.min(alone) > until {
            return;
        }
        let unit = self.unit(run, until);
        let chars = !look.symbols.are_elements();
        let single = chars && run.lag == 1 || !NAMED.is_match(&unit);
        let fenced = look.fenced_copies.filter(|_| fenced).unwrap_or(0);
        let need = look.need(run.lag, single).max(fenced * u64::from(run.lag));
        let first = (run.start + need).max(self.told + 1);
        let Some((first, clock)) = self.clock(run, (first, until), single) else {
            return;
        };
        let (start, onset) = self.origin(run);
        let (from, to) = self.last_copy(run, until);
        let fact = Fact {
            at: first,
            until,
            clock,
            kind: self.kind(run, &unit, (from, to)),
            bounds: Vec::new(),
            check: "periodic",
            onset,
            period: to - from,
            copies: Bound::Steps {
                from: run.start,
                per: u64::from(run.lag),
            },
            unit: unit.chars().take(UNIT_CHARS).collect(),
        };
        for bounds in look.bounds(run, start, single) {
            self.found.push((
                run.lag,
                Fact {
                    bounds,
                    ..fact.clone()
                },
            ));
        }
    }

    /// The steps from `first` to `until` that the loosest setting accepts, and where they lie.
    fn clock(&self, run: Run, (first, until): (u64, u64), single: bool) -> Option<(u64, Clock)> {
        let look = &self.look;
        let Some(places) = &self.places else {
            let first = first.max(look.start_after);
            return (first <= until).then_some((first, Clock::Chars));
        };
        let mut from = look.start_after;
        if look.symbols.are_elements() {
            from = from.max(self.origin(run).0.0 + look.chars(run.lag, single));
        }
        let base = self.runs.seen() - places.ends.len() as u64;
        let index = |step: u64| usize::try_from(step.saturating_sub(base)).unwrap_or(0);
        // Step n is complete with symbol number n-1.
        let ends = places.ends.get(index(first) - 1..index(until))?;
        let skip = ends.partition_point(|end| *end < from);
        let at: Vec<Chars> = ends[skip..].iter().map(|end| Chars(*end)).collect();
        (!at.is_empty()).then(|| (first + skip as u64, Clock::At(at)))
    }

    /// The chars before a tail's first copy, and before its second.
    fn origin(&self, run: Run) -> (Chars, Chars) {
        let second = run.start + u64::from(run.lag);
        let Some(places) = &self.places else {
            return (Chars(run.start), Chars(second));
        };
        let known = places
            .origins
            .iter()
            .find(|(r, ..)| (r.lag, r.start) == (run.lag, run.start));
        if let Some((_, start, onset)) = known {
            return (Chars(*start), Chars(*onset));
        }
        (self.end_of(run.start), self.end_of(second))
    }

    /// The chars that had been read with the first `count` symbols.
    fn end_of(&self, count: u64) -> Chars {
        let Some(places) = &self.places else {
            return Chars(count);
        };
        let base = self.runs.seen() - places.ends.len() as u64;
        let index = count
            .checked_sub(base + 1)
            .and_then(|i| usize::try_from(i).ok());
        Chars(index.and_then(|i| places.ends.get(i)).copied().unwrap_or(0))
    }

    /// Where the last whole copy of a tail's unit begins and ends.
    fn last_copy(&self, run: Run, until: u64) -> (Chars, Chars) {
        let lag = u64::from(run.lag);
        let end = run.start + (until - run.start) / lag * lag;
        (self.end_of(end - lag), self.end_of(end))
    }

    /// The last whole copy of a tail's unit; a number that was folded is a `#`.
    fn unit(&self, run: Run, until: u64) -> String {
        let (from, to) = self.last_copy(run, until);
        let text = self.places.as_ref().and_then(|p| p.text(from.0, to.0));
        text.unwrap_or_else(|| {
            let lag = u64::from(run.lag);
            let end = run.start + (until - run.start) / lag * lag;
            let (kept, base) = self.runs.kept();
            let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
            let symbols = kept[index(end - lag)..index(end)].iter();
            let char_of = |s: &u32| match *s {
                NUMBER => Some('#'),
                symbol => char::from_u32(symbol),
            };
            symbols.filter_map(char_of).collect()
        })
    }

    /// A list where its numbers stand in the unit or were left out of it; else short or long.
    fn kind(&self, run: Run, unit: &str, (from, to): (Chars, Chars)) -> Kind {
        let in_copy = |at: &u64| from.0 < *at && *at <= to.0;
        let marked = |places: &Places| places.markers.iter().rev().any(in_copy);
        if self.places.as_ref().is_some_and(marked) || LISTED.is_match(unit) {
            Kind::OrderedList
        } else if !self.look.symbols.are_elements() && run.lag < SHORT {
            Kind::ShortSequence
        } else {
            Kind::Paragraph
        }
    }
}

impl Look {
    /// One set of bounds, or two: a single is held to `min_single`, or to `min_chars` where that is
    /// 0.
    fn bounds(&self, run: Run, start: Chars, single: bool) -> Vec<Vec<Bound>> {
        let always = Bound::Fixed(Threshold::AT_MOST.always());
        let grows = match self.symbols.are_elements() {
            true => Bound::Chars { from: start },
            false => Bound::Steps {
                from: run.start,
                per: 1,
            },
        };
        let copies = Bound::Steps {
            from: run.start,
            per: u64::from(run.lag),
        };
        let all = |copies, chars, single| {
            let period = Bound::Fixed(i64::from(run.lag));
            vec![
                period,
                copies,
                chars,
                single,
                Bound::Chars { from: Chars(0) },
            ]
        };
        if self.row(run.lag).is_some() {
            vec![all(always, always, always)]
        } else if single {
            let as_chars = Bound::Exactly(Threshold::AT_MOST.elsewhere());
            vec![all(copies, grows, as_chars), all(copies, always, grows)]
        } else {
            vec![all(copies, grows, always)]
        }
    }
}

/// A char of the Unicode categories L and N.
#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{L}\p{N}]").expect("a pattern"));

/// A line that begins with a list number.
#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
static LISTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*\**[(（]?\d+[.)）、]").expect("a pattern"));

/// Units shorter than this are short sequences.
const SHORT: u32 = 40;

impl Meter for PeriodicMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        if self.look.symbols.are_plain() {
            self.chars(piece);
        } else {
            self.symbols(piece);
        }
        self.tell_going_on(self.symbols.fenced());
        // Where several are accepted at one char, the shortest period is reported.
        self.found.sort_by_key(|(lag, _)| *lag);
        facts.extend(self.found.drain(..).map(|(_, fact)| fact));
    }
}
