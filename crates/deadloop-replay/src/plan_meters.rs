//! [`PlanMeters`]: the meters and programs of a plan.
//!
//! Settings that share structural parameters share a meter or program, which reads each transcript once.

use std::collections::HashMap;

use deadloop_detect::harness::{EventPlace, Fact, Member, Program, Recipe, Rule};
use deadloop_detect::{Channel, Chars, Event, Setting, TextChannel};

/// The distinct meters and programs of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanMeters {
    meters: Vec<PlanMeter>,
    programs: Vec<PlanProgram>,
    /// The index of the meter for a structure and channel.
    known_meters: HashMap<(String, Channel), usize>,
    /// The index of the program for a structure and channel.
    known_programs: HashMap<(String, Option<Channel>), usize>,
}

/// A meter and its channel. For the meter of a whole run, the channel only names the unit.
#[derive(Clone, Debug)]
pub(crate) struct PlanMeter {
    pub(crate) channel: Channel,
    pub(crate) recipe: Recipe,
    /// The loosest of the members that share the meter. It accepts every fact that any of them accepts.
    loosest: Member,
    /// The rule with the strictest thresholds of these members.
    strictest: Rule,
}

/// A detector program and the channel that it reads.
#[derive(Clone, Debug)]
pub(crate) struct PlanProgram {
    /// The channel. `None` for all channels.
    pub(crate) channel: Option<Channel>,
    pub(crate) program: Program,
}

/// The meters and programs that feed the members of a guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberSources {
    pub(crate) facts: Vec<FactSource>,
    /// The index of each program's member in the guard, and its index in [`PlanMeters::programs`].
    pub(crate) programs: Vec<(usize, usize)>,
}

/// The meter that yields facts of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactSource {
    pub(crate) member: usize,
    pub(crate) channel: Channel,
    /// The index in [`PlanMeters::meters`].
    pub(crate) meter: usize,
}

/// The number of bytes read between two checks whether every setting has stopped.
const PIECE_BYTES: usize = 4096;

impl PlanMeter {
    /// Returns the facts of a text in channel `lane`, up to the position where every setting has stopped.
    ///
    /// A fact that both the loosest and the strictest member accept is accepted by all, so the text after it is not
    /// needed. This also holds for a bound that must be met exactly, for which all members have the same value.
    pub(crate) fn measure_text(&self, lane: TextChannel, text: &str) -> Vec<Fact> {
        let mut meter = self.recipe.meter(lane.into());
        let loosest = self.loosest.rule();
        let mut facts: Vec<Fact> = Vec::new();
        let (mut read, mut asked, mut stopped) = (0, 0, None);
        let mut rest = text;
        while !rest.is_empty() && stopped.is_none_or(|at| read < at) {
            let (piece, later) = rest.split_at(piece_end(rest));
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

/// Returns the byte offset after the first piece of a text.
fn piece_end(text: &str) -> usize {
    let mut ends = PIECE_BYTES..text.len();
    ends.find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len())
}

impl PlanMeters {
    /// Returns the meters. Each meter reads its channel once.
    pub(crate) fn meters(&self) -> &[PlanMeter] {
        &self.meters
    }

    /// Returns the programs. Each program reads a transcript once.
    pub(crate) fn programs(&self) -> &[PlanProgram] {
        &self.programs
    }

    /// Returns the sources of a block's members, and adds missing meters and programs. `loosest` and `strictest` are
    /// the settings at the ends of the block's thresholds.
    pub(crate) fn add_sources(&mut self, loosest: &Setting, strictest: &Setting) -> MemberSources {
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
                if let Some(meter) = self.intern((structure.clone(), channel), m, strict) {
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
            self.programs.push(PlanProgram { channel, program });
        }
        index
    }

    fn intern(&mut self, key: (String, Channel), loose: &Member, strict: &Member) -> Option<usize> {
        let channel = key.1;
        let next = self.meters.len();
        let index = *self.known_meters.entry(key).or_insert(next);
        match self.meters.get_mut(index) {
            Some(shared) => {
                if shared.loosest.loosen(loose) {
                    shared.recipe = shared.loosest.recipe()?;
                }
                shared.strictest.tighten(&strict.rule());
            }
            None => self.meters.push(PlanMeter {
                channel,
                recipe: loose.recipe()?,
                loosest: loose.clone(),
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
        let reading = &plan.sources().meters()[0];
        let mut all = Vec::new();
        let lane = reading.channel.text().unwrap();
        let event = Event::Text(lane, text);
        let mut meter = reading.recipe.meter(reading.channel);
        meter.push(&event, EventPlace::default(), &mut all);
        let rules = [reading.loosest.rule(), reading.strictest.clone()];
        [reading.measure_text(lane, text), all].map(|facts| {
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
        let end = piece_end(&text);
        assert!(text.is_char_boundary(end) && end >= PIECE_BYTES);
        assert_eq!(piece_end("short"), 5);
    }
}
