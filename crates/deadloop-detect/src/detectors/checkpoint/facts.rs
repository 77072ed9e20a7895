//! Facts at a checkpoint: short runs, and periods of blocks and lines.
//!
//! Runs of short units come from the window, periods from the segment.

use super::period::{Match, find_matches};
use super::segment::{Segment, SegmentElements, SegmentRules};
use super::short_runs::{ShortRun, runs};
use super::structure::{FenceRule, StructuralParams};
use crate::measure::fact::{Bound, Bounds, Clock, Fact, StructuralCondition, UNIT_CHARS};
use crate::stream::{Chars, Kind};

impl StructuralParams {
    /// Reports the runs of short units in the window.
    pub(super) fn report_short_runs(&self, window: &Segment<'_>, facts: &mut Vec<Fact>) {
        for (part, _) in &window.parts {
            let chars: Vec<char> = window.text[part.clone()].chars().collect();
            let start = window.start + Chars::count(&window.text[..part.start]).0;
            let at = Chars(window.start + Chars::count(window.text).0);
            let fact = |run| short_fact(run, &chars, start, at);
            facts.extend(runs(&chars).into_iter().map(fact));
        }
    }

    /// Reports the periods of blocks and of lines in the segment, in the order in which a setting checks them.
    pub(super) fn report_periods(&self, segment: &Segment<'_>, facts: &mut Vec<Fact>) {
        let at = Chars(segment.start + Chars::count(segment.text).0);
        let drop_tail = self.drop_tail;
        let block = SegmentRules {
            marker: None,
            drop_blank: true,
            drop_tail,
        };
        let line = SegmentRules {
            marker: self.marker.as_ref(),
            drop_blank: false,
            drop_tail,
        };
        let blocks = segment.split_elements(|c| self.delimiters.contains(c), &block);
        let lines = segment.split_elements(|c| c == '\n', &line);
        let paragraphs = self.find_periods(&blocks, (Kind::Paragraph, "paragraph", at));
        let lists = self.find_periods(&lines, (Kind::OrderedList, "ordered-list", at));
        facts.extend(order_facts(paragraphs, lists).into_iter().map(|f| f.fact()));
    }

    /// Returns the periods of these elements that some setting may accept, shortest first.
    fn find_periods(
        &self,
        elements: &SegmentElements<'_>,
        (kind, check, at): (Kind, &'static str, Chars),
    ) -> Vec<FactDraft> {
        let with = |m: Match| {
            let tail = elements.tail(m.tail, m.period);
            let asked = self.fence_condition(m, elements.last_fenced);
            if asked
                .as_ref()
                .is_some_and(|asked| to_i64(m.matches) < asked.least)
            {
                return None;
            }
            Some(FactDraft {
                matches: asked.is_none().then_some(to_i64(m.matches)),
                cycles: to_i64(m.cycles),
                period: to_i64(m.period),
                marked: tail.marked,
                fact: Fact {
                    at: at.0,
                    until: at.0,
                    clock: Clock::Chars,
                    kind,
                    bounds: Bounds::default(),
                    asked: asked.into_iter().collect(),
                    check,
                    onset: Chars(tail.onset).into(),
                    period: Chars(tail.period).into(),
                    copies: Bound::Fixed(to_i64(m.cycles)),
                    unit: tail.unit,
                },
            })
        };
        find_matches(&elements.ids)
            .into_iter()
            .filter_map(with)
            .collect()
    }

    /// Returns the condition of `code`, which replaces `min_matches` inside a fence.
    fn fence_condition(&self, m: Match, fenced: bool) -> Option<StructuralCondition> {
        match self.code {
            FenceRule::Matches(least) if fenced => Some(StructuralCondition {
                param: "code".into(),
                least,
                bound: Bound::Fixed(to_i64(m.matches)),
            }),
            _ => None,
        }
    }
}

/// A fact before its bounds are final.
#[derive(Clone)]
struct FactDraft {
    /// The matches. `None` if `code` replaces `min_matches`.
    matches: Option<i64>,
    /// The number of copies.
    cycles: i64,
    period: i64,
    marked: bool,
    fact: Fact,
}

impl FactDraft {
    fn fact(self) -> Fact {
        let mut bounds = Bounds::from([("min_cycles", self.cycles), ("max_period", self.period)]);
        if let Some(matches) = self.matches {
            bounds.add("min_matches", Bound::Fixed(matches));
        }
        Fact {
            bounds,
            ..self.fact
        }
    }
}

/// Orders the facts of both period checks at a checkpoint. The first fact that a setting accepts then has the right
/// kind.
///
/// If both a paragraph and a list without markers in its repeated part fire, the paragraph counts. So a fact with the
/// stricter of both bounds is added before such a list. A setting accepts it if it accepts both.
fn order_facts(paragraphs: Vec<FactDraft>, lists: Vec<FactDraft>) -> Vec<FactDraft> {
    let both = |list: &FactDraft| {
        let with = |p: &FactDraft| FactDraft {
            matches: p.matches.into_iter().chain(list.matches).min(),
            cycles: p.cycles.min(list.cycles),
            period: p.period.max(list.period),
            ..p.clone()
        };
        let yields = if list.marked {
            &[][..]
        } else {
            &paragraphs[..]
        };
        let mut found: Vec<FactDraft> = yields.iter().map(with).collect();
        found.push(list.clone());
        found
    };
    let mut all: Vec<FactDraft> = lists.iter().flat_map(both).collect();
    all.extend(paragraphs);
    all
}

fn short_fact(run: ShortRun, chars: &[char], start: u64, at: Chars) -> Fact {
    let bounds = [
        ("min_unit", to_i64(run.unit)),
        ("max_unit", to_i64(run.unit)),
        ("min_repeats", to_i64(run.copies)),
    ];
    Fact {
        at: at.0,
        until: at.0,
        clock: Clock::Chars,
        kind: Kind::ShortSequence,
        bounds: bounds.into(),
        asked: Vec::new(),
        check: "short-sequence",
        onset: Chars(start + (run.start + run.unit) as u64).into(),
        period: Chars(run.unit as u64).into(),
        copies: Bound::Fixed(to_i64(run.copies)),
        unit: chars[run.start..run.start + run.unit]
            .iter()
            .take(UNIT_CHARS)
            .collect(),
    }
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
