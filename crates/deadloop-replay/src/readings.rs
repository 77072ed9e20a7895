//! [`Readings`]: what is read of each transcript (channels by meters, all of it by programs), once
//! for every setting that agrees in what it measures.

use std::collections::HashMap;

use deadloop_detect::harness::{EventPlace, Fact, Member, Program, Recipe, Rule};
use deadloop_detect::{Channel, Chars, Event, Setting, TextChannel};

/// The distinct meters and programs of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    meters: Vec<Reading>,
    programs: Vec<Listener>,
    /// Where the meter of a structure and channel is.
    known_meters: HashMap<(String, Channel), usize>,
    /// Where the program of a structure and channel is.
    known_programs: HashMap<(String, Option<Channel>), usize>,
}

/// A channel, read by a meter; or a whole run, whose meter counts in the channel.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) channel: Channel,
    pub(crate) recipe: Recipe,
    /// The loosest of the members that share it: no fact is left out that one of them accepts.
    loosest: Member,
    /// The strictest value of each threshold among them.
    strictest: Rule,
}

/// A program, and the text that it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    /// `None`: all channels.
    pub(crate) channel: Option<Channel>,
    pub(crate) program: Program,
}

/// Where the members of a guard take from what they decide on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) facts: Vec<Source>,
    /// Which member is which program: index in the guard, index into [`Readings::programs`].
    pub(crate) programs: Vec<(usize, usize)>,
}

/// Where a member takes its facts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) member: usize,
    pub(crate) channel: Channel,
    /// Index into [`Readings::meters`].
    pub(crate) meter: usize,
}

/// Bytes that are read between two looks at whether anybody still listens.
const PIECE: usize = 4096;

impl Reading {
    /// The facts of a text of `lane`, up to where every setting has stopped.
    ///
    /// A fact that the loosest and the strictest accept, all accept: also one whose bound must be met exactly, since
    /// then both have one value. What comes after the step at which the strictest accepts it is of no
    /// use to anybody, and is not read.
    pub(crate) fn facts(&self, lane: TextChannel, text: &str) -> Vec<Fact> {
        let mut meter = self.recipe.meter(lane.into());
        let loosest = self.loosest.rule();
        let mut facts: Vec<Fact> = Vec::new();
        let (mut read, mut asked, mut stopped) = (0, 0, None);
        let mut rest = text;
        while !rest.is_empty() && stopped.is_none_or(|at| read < at) {
            let (piece, later) = rest.split_at(boundary(rest));
            meter.push(&Event::Text(lane, piece), EventPlace::default(), &mut facts);
            read += Chars::of(piece).0;
            rest = later;
            for fact in &facts[asked..] {
                if let (Some(_), Some(step)) = (loosest.alarm(fact), self.strictest.alarm(fact)) {
                    let at = fact.position(step).count();
                    stopped = Some(stopped.map_or(at, |known: u64| known.min(at)));
                }
            }
            asked = facts.len();
        }
        facts
    }
}

/// Where the first piece of a text ends.
fn boundary(text: &str) -> usize {
    let mut ends = PIECE..text.len();
    ends.find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len())
}

impl Readings {
    /// The meters: each reads its channel once.
    pub(crate) fn meters(&self) -> &[Reading] {
        &self.meters
    }

    /// The programs: each is asked once.
    pub(crate) fn programs(&self) -> &[Listener] {
        &self.programs
    }

    /// A meter for each member and channel, or a program; those that another block has already are
    /// shared.
    /// `loosest` and `strictest` are the ends of a block's thresholds.
    pub(crate) fn sources(&mut self, loosest: &Setting, strictest: &Setting) -> Sources {
        let mut sources = Sources::default();
        let both = loosest.members.iter().zip(&strictest.members);
        for (member, (m, strict)) in both.enumerate() {
            let structure = m.structure();
            if let Some(program) = m.program() {
                let index = self.program((structure, m.channel), program);
                sources.programs.push((member, index));
                continue;
            }
            for channel in m.channels() {
                if let Some(meter) = self.meter((structure.clone(), channel), m, strict) {
                    sources.facts.push(Source {
                        member,
                        channel,
                        meter,
                    });
                }
            }
        }
        sources
    }

    fn program(&mut self, key: (String, Option<Channel>), program: Program) -> usize {
        let channel = key.1;
        let next = self.programs.len();
        let index = *self.known_programs.entry(key).or_insert(next);
        if index == next {
            self.programs.push(Listener { channel, program });
        }
        index
    }

    fn meter(&mut self, key: (String, Channel), member: &Member, strict: &Member) -> Option<usize> {
        let channel = key.1;
        let next = self.meters.len();
        let index = *self.known_meters.entry(key).or_insert(next);
        match self.meters.get_mut(index) {
            Some(shared) => {
                if shared.loosest.loosen(member) {
                    shared.recipe = shared.loosest.recipe()?;
                }
                shared.strictest.tighten(&strict.rule());
            }
            None => self.meters.push(Reading {
                channel,
                recipe: member.recipe()?,
                loosest: member.clone(),
                strictest: strict.rule(),
            }),
        }
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grid, Plan};

    /// What is told in pieces up to where nobody listens, and of the whole text; the first alarm of the loosest and of
    /// the strictest setting by either.
    fn facts(grid: &str, text: &str) -> [(Vec<Fact>, [Option<u64>; 2]); 2] {
        let mut plan = Plan::default();
        plan.add_grid(&Grid::parse(grid).unwrap()).unwrap();
        let reading = &plan.readings().meters()[0];
        let mut all = Vec::new();
        let lane = reading.channel.text().unwrap();
        let event = Event::Text(lane, text);
        let mut meter = reading.recipe.meter(reading.channel);
        meter.push(&event, EventPlace::default(), &mut all);
        let rules = [reading.loosest.rule(), reading.strictest.clone()];
        [reading.facts(lane, text), all].map(|facts| {
            let first = rules.each_ref().map(|rule| {
                let alarms = facts
                    .iter()
                    .filter_map(|f| Some(f.position(rule.alarm(f)?).count()));
                alarms.min()
            });
            (facts, first)
        })
    }

    #[test]
    fn what_no_setting_waits_for_is_not_read() {
        let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [2, 5]\n";
        let text =
            "Ein Satz, der wiederkehrt. ".repeat(400) + &"Und noch ein anderer. ".repeat(900);
        let later = |facts: &[Fact]| facts.iter().any(|f| f.onset.count() > 10_000);
        let [(read, first), (all, want)] = facts(grid, &text);
        assert!(
            first == want && first.iter().all(Option::is_some),
            "{first:?}"
        );
        assert!(!later(&read) && later(&all));
        // The strictest setting never stops here: all is read.
        let grid = grid.replace("5]", "1000]");
        let [(read, first), (_, want)] = facts(&grid, &text);
        assert_eq!(first, want);
        assert!(first[1].is_none() && later(&read));
    }

    #[test]
    fn pieces_end_between_chars() {
        let text = "思".repeat(PIECE);
        let end = boundary(&text);
        assert!(text.is_char_boundary(end) && end >= PIECE);
        assert_eq!(boundary("short"), 5);
    }
}
