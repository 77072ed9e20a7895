//! [`PlanMeters`]: the meters and programs of a plan.
//!
//! Each meter or program reads a transcript once, for all settings that share its structural parameters.

use std::collections::HashMap;

use deadloop_detect::harness::{EventPlace, Fact, Member, Program, Recipe, Rule};
use deadloop_detect::{Channel, Chars, Event, Setting, TextChannel};

/// The distinct meters and programs of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanMeters {
    meters: Vec<PlanMeter>,
    programs: Vec<Listener>,
    /// The index of the meter for a structure and channel.
    known_meters: HashMap<(String, Channel), usize>,
    /// The index of the program for a structure and channel.
    known_programs: HashMap<(String, Option<Channel>), usize>,
}

/// A channel and its meter. The meter of a whole run counts in that channel.
#[derive(Clone, Debug)]
pub(crate) struct PlanMeter {
    pub(crate) channel: Channel,
    pub(crate) recipe: Recipe,
    /// The member with the loosest thresholds that shares the meter. It accepts every fact that another member accepts.
    loosest: Member,
    /// The strictest value of each threshold among these members.
    strictest: Rule,
}

/// A program, and the channel that it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    /// The channel. `None` if all channels are sent.
    pub(crate) channel: Option<Channel>,
    pub(crate) program: Program,
}

/// The inputs of the members of a guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberSources {
    pub(crate) facts: Vec<FactSource>,
    /// The index of a member in the guard, and the index of its program in [`PlanMeters::programs`].
    pub(crate) programs: Vec<(usize, usize)>,
}

/// The meter that yields the facts of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactSource {
    pub(crate) member: usize,
    pub(crate) channel: Channel,
    /// Index into [`PlanMeters::meters`].
    pub(crate) meter: usize,
}

/// The number of bytes that are read between two checks whether every setting has stopped.
const PIECE_BYTES: usize = 4096;

impl PlanMeter {
    /// Returns the facts of a text of `lane`, up to the point where every setting has stopped.
    ///
    /// A fact that both the loosest and the strictest member accept is accepted by all. This also holds for a bound
    /// that must be met exactly, since both then have the same value. The text after the step at which the strictest
    /// member accepts the fact is not needed.
    pub(crate) fn facts(&self, lane: TextChannel, text: &str) -> Vec<Fact> {
        let mut meter = self.recipe.meter(lane.into());
        let loosest = self.loosest.rule();
        let mut facts: Vec<Fact> = Vec::new();
        let (mut read, mut asked, mut stopped) = (0, 0, None);
        let mut rest = text;
        while !rest.is_empty() && stopped.is_none_or(|at| read < at) {
            let (piece, later) = rest.split_at(find_boundary(rest));
            meter.push(&Event::Text(lane, piece), EventPlace::default(), &mut facts);
            read += Chars::count(piece).0;
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

/// Returns the end of the first piece of a text.
fn find_boundary(text: &str) -> usize {
    let mut ends = PIECE_BYTES..text.len();
    ends.find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len())
}

impl PlanMeters {
    /// Returns the meters. Each reads its channel once.
    pub(crate) fn meters(&self) -> &[PlanMeter] {
        &self.meters
    }

    /// Returns the programs. Each reads a transcript once.
    pub(crate) fn programs(&self) -> &[Listener] {
        &self.programs
    }

    /// Returns the sources of the members of a block, and adds the meters and programs that no earlier block has.
    /// `loosest` and `strictest` are the ends of the block's thresholds.
    pub(crate) fn sources(&mut self, loosest: &Setting, strictest: &Setting) -> MemberSources {
        let mut sources = MemberSources::default();
        let both = loosest.members.iter().zip(&strictest.members);
        for (member, (m, strict)) in both.enumerate() {
            let structure = m.structure();
            if let Some(program) = m.program() {
                let index = self.add_program((structure, m.channel), program);
                sources.programs.push((member, index));
                continue;
            }
            for channel in m.channels() {
                if let Some(meter) = self.meter((structure.clone(), channel), m, strict) {
                    sources.facts.push(FactSource {
                        member,
                        channel,
                        meter,
                    });
                }
            }
        }
        sources
    }

    fn add_program(&mut self, key: (String, Option<Channel>), program: Program) -> usize {
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
            None => self.meters.push(PlanMeter {
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

    /// Returns the facts of the text in pieces, up to the last stop, and those of the whole text. Each list comes with
    /// the first alarm of the loosest and of the strictest setting.
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
                let at = |f: &Fact| Some(f.position(rule.alarm(f)?).count());
                facts.iter().filter_map(at).min()
            });
            (facts, first)
        })
    }

    #[test]
    fn what_no_setting_waits_for_is_not_read() {
        let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [2, 5]\n";
        let other = "Und noch ein anderer. ".repeat(900);
        let text = "Ein Satz, der wiederkehrt. ".repeat(400) + &other;
        let later = |facts: &[Fact]| facts.iter().any(|f| f.onset.count() > 10_000);
        let [(read, first), (all, want)] = facts(grid, &text);
        assert_eq!(first, want);
        assert!(first.iter().all(Option::is_some), "{first:?}");
        assert!(!later(&read) && later(&all));
        // The strictest setting never stops here, so the whole text is read.
        let grid = grid.replace("5]", "1000]");
        let [(read, first), (_, want)] = facts(&grid, &text);
        assert_eq!(first, want);
        assert!(first[1].is_none() && later(&read));
    }

    #[test]
    fn pieces_end_between_chars() {
        let text = "思".repeat(PIECE_BYTES);
        let end = find_boundary(&text);
        assert!(text.is_char_boundary(end) && end >= PIECE_BYTES);
        assert_eq!(find_boundary("short"), 5);
    }
}
