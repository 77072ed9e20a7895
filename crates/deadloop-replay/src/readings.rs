//! [`Readings`]: what is read of each transcript (channels by meters, all of it by programs), once
//! for every setting that agrees in what it measures.

use std::collections::HashMap;

use deadloop_detect::{Channel, Member, Program, Recipe, Setting};

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
    pub(crate) fn sources(&mut self, setting: &Setting) -> Sources {
        let mut sources = Sources::default();
        for (member, m) in setting.members.iter().enumerate() {
            let structure = m.structure();
            if let Some(program) = m.program() {
                let index = self.program((structure, m.channel), program);
                sources.programs.push((member, index));
                continue;
            }
            for channel in m.channels() {
                if let Some(meter) = self.meter((structure.clone(), channel), m) {
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

    fn meter(&mut self, key: (String, Channel), member: &Member) -> Option<usize> {
        let channel = key.1;
        let next = self.meters.len();
        let index = *self.known_meters.entry(key).or_insert(next);
        match self.meters.get_mut(index) {
            Some(shared) => {
                if shared.loosest.loosen(member) {
                    shared.recipe = shared.loosest.recipe()?;
                }
            }
            None => self.meters.push(Reading {
                channel,
                recipe: member.recipe()?,
                loosest: member.clone(),
            }),
        }
        Some(index)
    }
}
