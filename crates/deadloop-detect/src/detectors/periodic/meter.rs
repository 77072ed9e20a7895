//! From repetitions to facts. A fact is a stretch of text that ends in copies of one unit, from the
//! first char at which the loosest setting accepts it to the last that continues it; copies and
//! chars grow along it, so that one fact answers every threshold.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::counters::{Counters, Part};
use super::elements::{Elements, NAMED};
use super::look::{Look, steps};
use super::places::{Origin, Places};
use super::recycled::{Recycled, Stretch};
use super::runs::{Run, Runs};
use super::symbols::{MOST, NUMBER, Out, Symbols};
use crate::fact::{Bound, Clock, Fact, UNIT_CHARS};
use crate::meter::{Recipe, TextMeter};
use crate::params::Params;
use crate::repeated::{SHORT, kind};
use crate::stream::{Chars, Kind};

/// What periodic meters are made from.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    Recipe::new(move || Box::new(PeriodicMeter::new(Arc::clone(&look))))
}

/// Follows one stream.
struct PeriodicMeter {
    look: Arc<Look>,
    symbols: Symbols,
    runs: Runs,
    /// Where the symbols lie in the text, where they are not its chars.
    places: Option<Places>,
    /// What the kept symbols are, where they are elements.
    elements: Elements,
    /// What numbers are worth, where they must count on.
    counters: Option<Counters>,
    /// The search for recycled elements, where a setting wants it.
    recycled: Option<Recycled>,
    /// The first element of the recycled stretch that goes on, once it is not kept, and its number.
    first: (u64, String),
    /// The steps whose facts have been emitted.
    told: u64,
    /// Facts of the piece that is read, with their lags.
    found: Vec<(u32, Fact)>,
}

impl PeriodicMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            symbols: look.symbols,
            runs: Runs::new(&look.want),
            places: (!look.symbols.are_chars()).then(Places::default),
            elements: Elements::new(look.symbols.are_elements()),
            counters: look.symbols.count().then(Counters::default),
            recycled: (look.min_recycled > 0).then(|| Recycled::new(look.want.max_lag)),
            first: (0, String::new()),
            told: 0,
            found: Vec::new(),
            look,
        }
    }

    fn chars(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if self.runs.room(&look.want) == 0 {
                self.runs.forget(&look.want);
            }
            // A text of `room` bytes has at most `room` chars.
            let room = self.runs.room(&look.want);
            let (block, after) =
                rest.split_at(rest.floor_char_boundary(room).max(first.len_utf8()));
            rest = after;
            self.runs.add_chars(block);
            self.read(false);
        }
    }

    fn symbols(&mut self, piece: &str) {
        let look = Arc::clone(&self.look);
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let fenced = self.symbols.fenced();
            let mut most = self.runs.room(&look.want).saturating_sub(MOST);
            if most == 0 {
                self.read(fenced);
                self.tell_going_on(fenced);
                self.forget();
                most = self.runs.room(&look.want).saturating_sub(MOST);
            }
            if self.symbols.follow_fences() {
                // What is before a fence is told before it turns.
                self.read(fenced);
                most = 0;
            }
            // A text of `most` bytes has at most `most` chars, and these complete at most MOST symbols more.
            let cut = rest.floor_char_boundary(most).max(first.len_utf8());
            let (block, after) = rest.split_at(cut);
            rest = after;
            self.symbols.read(
                block,
                &mut Taken {
                    runs: &mut self.runs,
                    places: &mut self.places,
                    elements: &mut self.elements,
                    counters: &mut self.counters,
                    recycled: &mut self.recycled,
                },
            );
            if self.symbols.fenced() != fenced {
                self.tell_going_on(fenced);
            }
        }
        self.read(self.symbols.fenced());
    }

    /// Reads what was added.
    fn read(&mut self, fenced: bool) {
        let look = Arc::clone(&self.look);
        while self.runs.read(&look.want) {
            self.tell_ended(fenced);
        }
    }

    /// Drops old symbols and their places, but for where tails that go on began.
    fn forget(&mut self) {
        let all: Vec<Run> = self.runs.going_on().collect();
        let left = |run: &Run| match &self.counters {
            Some(counters) => counters.left(*run).to_vec(),
            None => vec![*run],
        };
        let left = all.iter().flat_map(left);
        let origins = left.map(|run| (run, self.origin(run))).collect();
        if let Some(stretch) = self.recycled.as_ref().and_then(Recycled::going_on) {
            self.first = (stretch.first, self.first_of(stretch));
        }
        let old = self.runs.forget(&self.look.want);
        if let Some(places) = &mut self.places {
            places.origins = origins;
            places.ends.drain(..old);
        }
        if let Some(counters) = &mut self.counters {
            counters.forget(old, &all);
        }
        self.elements.forget(old);
    }

    fn tell_ended(&mut self, fenced: bool) {
        let until = self.runs.seen() - 1;
        for run in self.runs.take_ended() {
            self.tell_parts(run, until, fenced);
        }
    }

    fn tell_going_on(&mut self, fenced: bool) {
        let until = self.runs.seen();
        let all: Vec<Run> = self.runs.going_on().collect();
        for run in all {
            self.tell_parts(run, until, fenced);
        }
        self.tell_recycled(until);
        self.told = until;
    }

    fn tell_recycled(&mut self, until: u64) {
        let Some(recycled) = &mut self.recycled else {
            return;
        };
        let going_on = recycled.going_on().map(|stretch| (stretch, until));
        let all = recycled.take_ended().into_iter().chain(going_on);
        for (stretch, until) in all.collect::<Vec<_>>() {
            let Stretch { first, before, at } = stretch;
            let [oldest, onset, start] = at.map(Chars);
            let from = self.look.start_after.max(start.0 + self.look.min_recycled);
            let steps = ((first + 1).max(self.told + 1), until);
            let Some((at, clock)) = self.clock_from(from, steps) else {
                continue;
            };
            // From one to the next of the first three.
            let per = ((first - before[0]) / 2).max(1);
            let fact = Fact {
                at,
                until,
                clock,
                kind: Kind::NearRepeat,
                bounds: Look::recycled_bounds(start),
                asked: Vec::new(),
                check: "recycled",
                onset: onset.into(),
                period: Chars((start - oldest).0 / 2).into(),
                copies: Bound::Steps {
                    from: before[0],
                    per,
                },
                unit: self.first_of(stretch).chars().take(UNIT_CHARS).collect(),
            };
            self.found.push((u32::MAX, fact));
        }
    }

    /// The first element of a recycled stretch.
    fn first_of(&self, stretch: Stretch) -> String {
        let kept = stretch.first.checked_sub(self.runs.base());
        let lines = self.look.symbols.are_lines();
        match kept.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => self.elements.unit((index, index + 1), lines),
            None if self.first.0 == stretch.first => self.first.1.clone(),
            None => String::new(),
        }
    }

    /// Reports a tail and, if its numbers are compared, the parts of it in which they are equal or count on evenly.
    fn tell_parts(&mut self, run: Run, until: u64, fenced: bool) {
        let base = self.runs.base();
        match &mut self.counters {
            None => self.tell(Part::Any, (run, until), fenced),
            Some(counters) => {
                let parts = counters.parts(run, base, until);
                for (part, run, until) in parts {
                    self.tell(part, (run, until), fenced);
                }
            }
        }
    }

    /// Emits the facts of a tail whose last symbol is number `until`, from where the last one ended.
    fn tell(&mut self, part: Part, (run, until): (Run, u64), fenced: bool) {
        let look = Arc::clone(&self.look);
        if run.lag < look.min_period || run.start + look.least(run.lag) > until {
            return;
        }
        let unit = self.unit(run, until);
        if look.holds_letter && !LETTER_OR_EMOJI.is_match(&unit) {
            return;
        }
        let chars = !look.symbols.are_elements();
        // Where numbers are compared, they are no names: dumps and grids are often meant.
        let bare = look.symbols.count() && !unit.contains(char::is_alphabetic);
        let single = chars && run.lag == 1 || bare || !self.is_named(run, until, &unit);
        let origin = self.origin(run);
        let fenced = look.fenced_copies.filter(|_| fenced).unwrap_or(0);
        for ask in look.asks_of(part, run.lag, single) {
            let need = look.need(run.lag, ask).max(fenced * u64::from(run.lag));
            let first = (run.start + need).max(self.told + 1);
            let Some((at, clock)) = self.clock(run, (first, until), look.chars(ask)) else {
                continue;
            };
            let fact = Fact {
                at,
                until,
                clock,
                kind: self.kind(run, &unit, origin),
                bounds: look.bounds_of(part, (run, origin), (ask, single)),
                asked: look.asked(run, origin.start, (ask, fenced)),
                check: "periodic",
                onset: origin.onset.into(),
                period: (origin.onset - origin.start).into(),
                copies: steps(run.start, run.lag),
                unit: unit.chars().take(UNIT_CHARS).collect(),
            };
            self.found.push((run.lag, fact));
        }
    }

    /// The steps from `first` to `until` that the loosest setting accepts, and where they lie.
    fn clock(&self, run: Run, (first, until): (u64, u64), chars: u64) -> Option<(u64, Clock)> {
        let mut from = self.look.start_after;
        if self.look.symbols.are_elements() {
            from = from.max(self.origin(run).start.0 + chars);
        }
        self.clock_from(from, (first, until))
    }

    /// Those of the steps from `first` to `until` at which `from` chars had been read, and where they lie.
    fn clock_from(&self, from: u64, (first, until): (u64, u64)) -> Option<(u64, Clock)> {
        let Some(places) = &self.places else {
            let first = first.max(from);
            return (first <= until).then_some((first, Clock::Chars));
        };
        let base = self.runs.base();
        let index = |step: u64| usize::try_from(step.saturating_sub(base)).unwrap_or(0);
        // Step n is complete with symbol number n-1.
        let ends = places.ends.get(index(first) - 1..index(until))?;
        let skip = ends.partition_point(|end| *end < from);
        let at: Vec<Chars> = ends[skip..].iter().map(|end| Chars(*end)).collect();
        (!at.is_empty()).then(|| (first + skip as u64, Clock::At(at)))
    }

    /// How a tail began.
    fn origin(&self, run: Run) -> Origin {
        let known = |places: &Places| {
            let mut origins = places.origins.iter();
            let same = |(r, _): &&(Run, Origin)| (r.lag, r.start) == (run.lag, run.start);
            origins.find(same).map(|(_, origin)| *origin)
        };
        self.places.as_ref().and_then(known).unwrap_or_else(|| {
            let start = self.end_of(run.start);
            let onset = self.end_of(run.start + u64::from(run.lag));
            let marked = |places: &Places| places.is_marked(start, onset);
            Origin {
                start,
                onset,
                marked: self.places.as_ref().is_some_and(marked),
            }
        })
    }

    /// The chars that had been read with the first `count` symbols.
    fn end_of(&self, count: u64) -> Chars {
        let end_of = |places: &Places| places.end_of(self.runs.base(), count);
        Chars(self.places.as_ref().map_or(count, end_of))
    }

    /// A tail's unit; a number that was folded is a `#`. The last copy says it, and says what any would.
    fn unit(&self, run: Run, until: u64) -> String {
        let copy = self.copy(run, until);
        if self.look.symbols.are_elements() {
            return self.elements.unit(copy, self.look.symbols.are_lines());
        }
        let char_of = |s: &u32| match *s {
            NUMBER => Some('#'),
            symbol => char::from_u32(symbol),
        };
        self.symbols_of(copy).iter().filter_map(char_of).collect()
    }

    /// Where the last whole copy lies among the kept symbols.
    fn copy(&self, run: Run, until: u64) -> (usize, usize) {
        let (from, to) = run.last_copy(until);
        let base = self.runs.base();
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
        (index(from), index(to))
    }

    fn symbols_of(&self, (from, to): (usize, usize)) -> &[u32] {
        &self.runs.kept()[from..to]
    }

    /// Whether the unit has a letter or a number.
    fn is_named(&self, run: Run, until: u64, unit: &str) -> bool {
        let mut symbols = self.symbols_of(self.copy(run, until)).iter();
        if self.look.symbols.are_elements() {
            return symbols.any(|symbol| symbol & NAMED != 0);
        }
        LETTER.is_match(unit) || symbols.any(|symbol| *symbol == NUMBER)
    }

    /// A list where its numbers are in the unit, or were left out of the first copy; else short or
    /// long. The copies of folded text differ, so only the first one decides: it is the same whenever
    /// a fact is emitted.
    fn kind(&self, run: Run, unit: &str, origin: Origin) -> Kind {
        if self.look.symbols.fold() {
            let text = if origin.marked { "1." } else { "" };
            return self.kind_of(run, text);
        }
        self.kind_of(run, unit)
    }

    fn kind_of(&self, run: Run, text: &str) -> Kind {
        let elements = self.look.symbols.are_elements();
        kind(text, !elements && u64::from(run.lag) < SHORT)
    }
}

/// Where symbols go.
struct Taken<'a> {
    runs: &'a mut Runs,
    places: &'a mut Option<Places>,
    elements: &'a mut Elements,
    counters: &'a mut Option<Counters>,
    recycled: &'a mut Option<Recycled>,
}

impl Out for Taken<'_> {
    #[inline]
    fn symbol(&mut self, symbol: u32, value: u64, at: u64) {
        self.runs.add(symbol);
        if let Some(counters) = self.counters {
            counters.add(value);
        }
        let Some(places) = self.places else {
            return;
        };
        places.ends.push(at);
        if let Some(recycled) = self.recycled {
            let start = |number| places.end_of(self.runs.base(), number);
            recycled.add(symbol, start);
        }
    }

    fn marker(&mut self, at: u64) {
        if let Some(places) = self.places {
            places.mark(at);
        }
    }

    #[inline]
    fn elements(&mut self) -> &mut Elements {
        self.elements
    }
}

/// A char of the Unicode categories L and N.
static LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}]"));

/// What `unit_holds` asks for: digits are not enough.
static LETTER_OR_EMOJI: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}\p{Extended_Pictographic}]"));

#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

impl TextMeter for PeriodicMeter {
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
