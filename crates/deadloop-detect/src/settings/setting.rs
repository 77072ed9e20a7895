//! [`Setting`]: the checked parameters of a guard, including defaults.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::detectors::{Detector, Measurement, Program, Refusal};
use crate::guard::response::Response;
use crate::measure::fact::Rule;
use crate::measure::meter::Recipe;
use crate::measure::text_scope::{PER, TextScope};
use crate::settings::param::{Param, ParamRole, Threshold};
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::{Channel, Unit};

/// A detector of a guard, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The detector.
    pub detector: &'static Detector,
    /// The channel. `None` for the default channels of the detector. A text detector has a meter for each of
    /// `reasoning` and `answer`.
    pub channel: Option<Channel>,
    /// The values of all its parameters.
    pub params: Params,
    /// The response to its alarms.
    pub response: Response,
}

impl Member {
    /// Rejects values outside of their domains, impossible combinations, and parameters with which the detector can
    /// never fire.
    pub fn check(&self) -> Result<(), Refusal> {
        self.detector.spec.check(&self.params)
    }

    /// Returns the checks that can never fire, although others can: for each, a parameter and the reason.
    pub fn dead_checks(&self) -> Vec<Refusal> {
        (self.detector.dead)(&self.params)
    }

    /// Returns a detector with these parameters, on its default channels and with its default response.
    pub fn new(detector: &'static Detector, params: Params) -> Self {
        Self {
            detector,
            channel: None,
            params,
            response: detector.response,
        }
    }

    /// Sets the parameter `per` of a text detector.
    pub fn read_per(&mut self, per: TextScope) {
        self.params.set(PER.name, Value::Text(per.name().into()));
    }

    /// Returns the response, if it is not the default.
    fn own_response(&self) -> Option<Response> {
        (self.response != self.detector.response).then_some(self.response)
    }

    /// Returns whether alarms may have positions in `channel`.
    pub fn watches(&self, channel: Channel) -> bool {
        match self.channel {
            Some(own) => own == channel,
            None => self.detector.channels().contains(&channel),
        }
    }

    /// Returns the unit of positions. `None` for a program, which may alarm in any channel.
    pub fn unit(&self) -> Option<Unit> {
        match self.detector.measure {
            Measurement::Text(_) => Some(Unit::Chars),
            Measurement::Run(channel, _) => Some(channel.unit()),
            Measurement::Program(_) => None,
        }
    }

    /// Returns the channels that have a meter, in order. A run detector has one.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        Channel::ALL.into_iter().filter(|c| self.watches(*c))
    }

    /// Returns the recipe of the meters. They report every fact that these parameters or stricter ones accept. `None`
    /// for a [program](Self::program).
    pub fn recipe(&self) -> Option<Recipe> {
        match self.detector.measure {
            Measurement::Text(recipe) | Measurement::Run(_, recipe) => Some(recipe(&self.params)),
            Measurement::Program(_) => None,
        }
    }

    /// Returns the program of a `command` detector. `None` for other detectors.
    pub fn program(&self) -> Option<Program> {
        match self.detector.measure {
            Measurement::Text(_) | Measurement::Run(..) => None,
            Measurement::Program(program) => Some(program(&self.params)),
        }
    }

    /// Returns the rule of the thresholds.
    pub fn rule(&self) -> Rule {
        let thresholds = self.detector.thresholds();
        Rule::new(thresholds.map(|(p, t)| (p.name, t, self.number(p, t))))
    }

    /// Returns the number by which a threshold of this member is compared.
    pub fn number(&self, param: &Param, threshold: Threshold) -> i64 {
        self.params
            .get(param.name)
            .map_or(0, |value| threshold.number(value))
    }

    /// Sets each threshold to the looser value of both members. The meters then report all facts that either member
    /// accepts. Returns whether a value changed.
    pub fn loosen(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (param, threshold) in self.detector.thresholds() {
            let (own, its) = (
                self.number(param, threshold),
                other.number(param, threshold),
            );
            if let (true, Some(value)) = (threshold.looser(its, own), other.params.get(param.name))
            {
                self.params.set(param.name, value.clone());
                changed = true;
            }
        }
        changed
    }

    /// Returns a key of everything that a meter depends on. Members with equal keys measure the same facts.
    pub fn structure(&self) -> String {
        let mut key = format!("{}@{}", self.detector.name, self.detector.version);
        for param in self
            .detector
            .params
            .iter()
            .filter(|p| p.mark == ParamRole::Structural)
        {
            if let Some(value) = self.params.get(param.name) {
                // Writing into a String cannot fail.
                let _ = write!(key, "\n{}={value}", param.name);
            }
        }
        key
    }
}

/// The parameters of a guard: its detectors. A guard without members never fires.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// The detectors. If several alarm at the same position, the first one counts.
    pub members: Vec<Member>,
}

impl Setting {
    /// Returns a hash of all parameters and of the versions of the detectors, with 12 hexadecimal digits. Equal
    /// settings have equal ids.
    pub fn id(&self) -> String {
        short_hash(&self.canonical())
    }

    /// Returns the setting with only the members that `keep` accepts, in order.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Member) -> bool) -> Self {
        let members = self.members.iter();
        Self {
            members: members.filter(|m| keep(m)).cloned().collect(),
        }
    }

    /// Sets the parameter `per` of all text detectors.
    #[must_use]
    pub fn read_per(mut self, per: TextScope) -> Self {
        let members = self.members.iter_mut();
        members.for_each(|member| member.read_per(per));
        self
    }

    /// Adds globs on tool names to the parameter `allow` of all members that have it.
    pub(crate) fn allowing(mut self, tools: &[String]) -> Self {
        let with = |params: &mut Params| {
            let Some(Value::List(allowed)) = params.get("allow") else {
                return;
            };
            let mut allowed = allowed.clone();
            for tool in tools.iter().cloned().map(Value::Text) {
                if !allowed.contains(&tool) {
                    allowed.push(tool);
                }
            }
            params.set("allow", Value::List(allowed));
        };
        self.members.iter_mut().for_each(|m| with(&mut m.params));
        self
    }

    /// Returns whether a member reads `channel`.
    pub fn watches(&self, channel: Channel) -> bool {
        self.members.iter().any(|m| m.watches(channel))
    }

    /// Returns the columns `guard.param` with their values. `guard` is the name of the detector, with `-2`, `-3` … if
    /// it occurs more than once.
    pub fn columns(&self) -> Vec<(String, Value)> {
        let names = self.member_names();
        let of = |(name, member): (&String, &Member)| {
            let column = |(p, v): (&str, &Value)| (format!("{name}.{p}"), v.clone());
            member.params.iter().map(column).collect::<Vec<_>>()
        };
        names.iter().zip(&self.members).flat_map(of).collect()
    }

    /// Returns the name of each member in columns and tables.
    pub fn member_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (i, member) in self.members.iter().enumerate() {
            let name = member.detector.name;
            let before = self.members[..i]
                .iter()
                .filter(|m| m.detector.name == name)
                .count();
            names.push(if before == 0 {
                name.into()
            } else {
                format!("{name}-{}", before + 1)
            });
        }
        names
    }

    /// Returns the setting as TOML of a settings file: a `[[table]]` for each member, with all parameters. A setting
    /// without members is written as a disabled one.
    pub fn to_toml(&self, table: &str) -> String {
        let mut text = String::new();
        if self.members.is_empty() {
            text = format!("[[{table}]]\ndetector = \"periodic\"\nenabled = false\n\n");
        }
        for member in &self.members {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "[[{table}]]\ndetector = \"{}\"", member.detector.name);
            if let Some(channel) = member.channel {
                let _ = writeln!(text, "channel = \"{channel}\"");
            }
            if let Some(response) = member.own_response() {
                let _ = writeln!(text, "response = \"{}\"", response.name());
            }
            let _ = writeln!(text, "[{table}.params]");
            for (name, value) in member.params.iter() {
                let _ = writeln!(text, "{name} = {value}");
            }
            text.push('\n');
        }
        text
    }

    /// Returns the canonical form, from which the id is computed, with one item per line.
    fn canonical(&self) -> String {
        self.canonical_with(|text, _, name, value| {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{name}={value}");
        })
    }

    /// Returns the [canonical](Self::canonical) form. `param` writes a parameter, given the index of the member, the
    /// name and the value.
    fn canonical_with(&self, mut param: impl FnMut(&mut String, usize, &str, &Value)) -> String {
        let mut text = String::new();
        for (at, member) in self.members.iter().enumerate() {
            let channel = member.channel.map_or("*", Channel::name);
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "{}@{} {channel}",
                member.detector.name, member.detector.version
            );
            for (name, value) in member.params.iter() {
                param(&mut text, at, name, value);
            }
            if let Some(response) = member.own_response() {
                let _ = writeln!(text, "response {}", response.name());
            }
        }
        text
    }
}

/// A fast computation of the [ids](Setting::id) of settings that differ in some values. The common start of two
/// consecutive settings is hashed once.
#[derive(Clone, Debug)]
pub struct SettingIds {
    /// For each varying parameter and each of its values, the canonical text from the value to the next varying
    /// parameter.
    texts: Vec<Vec<String>>,
    /// The hash of the text before the first varying parameter, then the hashes up to the next ones in the last
    /// setting.
    states: Vec<Sha256>,
    /// The indices of the values in the last setting.
    last: Vec<u16>,
}

impl SettingIds {
    /// Prepares the ids of settings that differ from `base` in some parameters: for each, the index of the member, the
    /// name and the values. `None` if the parameters are not in the order of a setting.
    pub fn new(base: &Setting, varying: &[(usize, &str, &[Value])]) -> Option<Self> {
        let mut pieces = Vec::new();
        let rest =
            base.canonical_with(
                |text, member, name, value| match varying.get(pieces.len()) {
                    Some((of, param, _)) if (*of, *param) == (member, name) => {
                        pieces.push(std::mem::take(text));
                    }
                    _ => {
                        // Writing into a String cannot fail.
                        let _ = writeln!(text, "{name}={value}");
                    }
                },
            );
        pieces.push(rest);
        let (first, after) = pieces.split_first()?;
        let texts = |((_, name, values), after): (&(usize, &str, &[Value]), &String)| {
            let say = |value: &Value| format!("{name}={value}\n{after}");
            values.iter().map(say).collect()
        };
        (after.len() == varying.len()).then(|| Self {
            texts: varying.iter().zip(after).map(texts).collect(),
            states: vec![Sha256::new_with_prefix(first)],
            last: Vec::new(),
        })
    }

    /// Returns the id of the setting with the values at these indices.
    pub fn id(&mut self, at: &[u16]) -> String {
        let same = at.iter().zip(&self.last).take_while(|(a, b)| a == b);
        let same = same.count();
        self.states.truncate(same + 1);
        for (value, texts) in at.iter().zip(&self.texts).skip(same) {
            let mut state = self.states.last().cloned().unwrap_or_default();
            state.update(texts.get(usize::from(*value)).map_or("", String::as_str));
            self.states.push(state);
        }
        self.last.clear();
        self.last.extend_from_slice(at);
        let whole = self.states.last().cloned().unwrap_or_default();
        short_digest(&whole.finalize())
    }
}

/// The error of a guard that cannot run live, since a detector is a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the detector \"{0}\" is a program: it is replayed, it cannot watch a live stream")]
pub struct NotLive(pub &'static str);

/// Returns the first 12 hexadecimal digits of SHA-256.
pub fn short_hash(text: &str) -> String {
    short_digest(&Sha256::digest(text.as_bytes()))
}

fn short_digest(digest: &[u8]) -> String {
    let first = digest.iter().take(6);
    let number = first.fold(0, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:012x}")
}
