//! Exports a tuned setting as the configuration of another guard.
//!
//! Each engine is an entry of [`ENGINES`]: a widely used guard, with the release from which it reads the configuration.
//! An export has three parts: the configuration, a *twin* (a deadloop setting that behaves like the configuration), and
//! a list of what the configuration cannot express. For an engine that counts tokens, chars are divided by the mean
//! length of a token.
//!
//! An export is never laxer than the setting. For all units that the engine looks for, it takes the strictest demand of
//! the setting. If this is impossible, the export is refused with the reason. A test replays every twin on the starter
//! corpus and checks that it stops only what the setting stops, and never earlier.

use deadloop_detect::harness::Member;
use deadloop_detect::{Setting, Settings, Value};

/// A widely used guard, and the function that writes its configuration.
pub struct Engine {
    /// The name on the command line.
    pub name: &'static str,
    /// The kind of configuration and its place, for help texts.
    pub about: &'static str,
    write: fn(&CopyBands, f64) -> Result<EngineConfig, String>,
}

/// A setting, exported as the configuration of an engine.
#[derive(Debug)]
pub struct EngineExport {
    /// The configuration of the engine.
    pub config: String,
    /// The setting of deadloop that behaves like the configuration.
    pub twin: Settings,
    /// The parts of the setting that the configuration cannot express.
    pub lost: Vec<String>,
}

/// A written configuration, its twin as TOML, and the parameters of `periodic` that it expresses.
struct EngineConfig {
    config: String,
    twin: String,
    used: &'static [&'static str],
}

/// The demands of a member on exact copies, by the length of the unit. Each row of its `rules` is a band, and the plain
/// parameters are the band of longer units.
struct CopyBands {
    bands: Vec<CopyBand>,
    /// The length of the longest unit, in chars.
    max_period: u64,
    /// The demand on units without a letter or digit.
    single: CopyBand,
}

/// A demand on copies of units of up to `max_unit` chars.
#[derive(Clone, Copy)]
struct CopyBand {
    max_unit: u64,
    /// The number of copies.
    copies: u64,
    /// The number of chars in all copies.
    chars: u64,
}

/// All engines.
pub const ENGINES: [Engine; 3] = [
    Engine {
        name: "vllm",
        about: "a field of the request (extra_body of the OpenAI clients), or SamplingParams(repetition_detection=…): vLLM 0.17 and later",
        write: vllm_config,
    },
    Engine {
        name: "typescript",
        about: "the parameters of the TypeScript detectors that look at checkpoints",
        write: typescript_config,
    },
    Engine {
        name: "litellm",
        about: "config.yaml of the LiteLLM proxy; with the library litellm.REPEATED_STREAMING_CHUNK_LIMIT = the number",
        write: litellm_config,
    },
];

/// The advice in the error of a setting that an engine cannot express.
const ADVICE: &str = "run deadloop itself: deadloop proxy, or its package for Python or Node, which read this very setting";

impl Engine {
    /// Exports a setting for the engine. `token` is the mean length of a token, in chars.
    ///
    /// # Errors
    /// Returns an error if no member of the setting looks for exact copies of chars, or if the engine cannot express
    /// one without being laxer.
    pub fn export(&self, setting: &Setting, token: f64) -> Result<EngineExport, String> {
        let exact = setting.members.iter().position(finds_exact_copies).ok_or_else(|| {
            let names = setting.member_names().join(", ");
            format!(
                "{} can only be told of exact copies (periodic on chars, nothing folded), and the setting has {names}; replay it with such a guard added, or {ADVICE}",
                self.name
            )
        })?;
        let member = &setting.members[exact];
        let written =
            CopyBands::from_member(member).and_then(|copies| (self.write)(&copies, token));
        let refused = |why| format!("{}: {why}; {ADVICE}", self.name);
        let EngineConfig { config, twin, used } = written.map_err(refused)?;
        let names = setting.member_names();
        let others = names.iter().enumerate().filter(|(i, _)| *i != exact);
        let others = others.map(|(_, name)| format!("the guard {name}: left out"));
        let changed = changed_params(member).filter(|(name, _)| !used.contains(&name.as_str()));
        let changed = changed.map(|(name, value)| format!("{}: {name} = {value}", names[exact]));
        let twin = Settings::parse(&twin).map_err(|e| format!("the twin of the export: {e}"))?;
        Ok(EngineExport {
            config,
            twin,
            lost: others.chain(changed).collect(),
        })
    }
}

/// Returns whether a member looks only for exact copies of chars.
fn finds_exact_copies(member: &Member) -> bool {
    let params = &member.params;
    member.detector.name == "periodic"
        && params.text("on") == "chars"
        && params.text("fold") == "none"
}

/// Returns the names and values of a member's parameters that differ from their defaults.
fn changed_params(member: &Member) -> impl Iterator<Item = (String, String)> {
    let defaults = deadloop_detect::harness::Params::defaults(member.detector.params);
    let own = member
        .params
        .iter()
        .filter(move |(name, value)| defaults.get(name) != Some(value));
    own.map(|(name, value)| (name.to_owned(), value.to_string()))
}

impl CopyBands {
    /// Collects the conditions of a member.
    ///
    /// # Errors
    /// Returns an error if the member has a condition that no engine can express. Without it, an engine would stop
    /// earlier.
    fn from_member(member: &Member) -> Result<Self, String> {
        let params = &member.params;
        let inexpressible = ["unit_holds", "code"];
        let at_default = |name: &str| {
            let param = member.detector.params.iter().find(|p| p.name == name);
            param.is_none_or(|p| params.get(name) == Some(&Value::from(p.default)))
        };
        if let Some(name) = inexpressible.iter().find(|name| !at_default(name)) {
            let value = params.get(name).map(ToString::to_string);
            return Err(format!(
                "no engine has a word for {name} = {}, and without it one would stop earlier than the setting does",
                value.unwrap_or_default()
            ));
        }
        if let Some(channel) = member.channel {
            return Err(format!(
                "the guard watches {channel} alone, and an engine would stop in other text too"
            ));
        }
        let number = |row: &Value, name| {
            let field = row.field(name).and_then(Value::as_int);
            field.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
        };
        let (max_period, copies) = (params.count("max_period"), params.count("min_copies"));
        let copies = copies.max(2);
        let row = |row: &Value| CopyBand {
            max_unit: number(row, "max_period").min(max_period),
            copies: number(row, "min_copies").max(2),
            chars: number(row, "min_chars"),
        };
        let plain = CopyBand {
            max_unit: max_period,
            copies,
            chars: params.count("min_chars"),
        };
        let rows = params.items("rules");
        let mut bands: Vec<CopyBand> = rows.iter().map(row).collect();
        if bands.last().is_none_or(|last| last.max_unit < max_period) {
            bands.push(plain);
        }
        Ok(Self {
            // No engine distinguishes a form or a ruler from other text.
            single: match params.count("min_single").max(params.count("min_form")) {
                0 => CopyBand {
                    copies: 2,
                    chars: 0,
                    ..plain
                },
                chars => CopyBand { chars, ..plain },
            },
            bands,
            max_period,
        })
    }

    /// Returns the largest number of chars demanded for any unit of up to `max` chars.
    fn max_chars_for(&self, max: u64) -> u64 {
        let asked = self.bands_up_to(max).map(|band| band.chars);
        asked.fold(self.single.chars, u64::max)
    }

    /// Returns the largest number of copies demanded for any unit of up to `max` chars.
    fn max_copies_for(&self, max: u64) -> u64 {
        let asked = self.bands_up_to(max).map(|band| band.copies);
        asked.fold(self.single.copies, u64::max)
    }

    /// Returns the bands of units of up to `max` chars.
    fn bands_up_to(&self, max: u64) -> impl Iterator<Item = &CopyBand> {
        let mut from = 1;
        self.bands.iter().filter(move |band| {
            let begins = std::mem::replace(&mut from, band.max_unit + 1);
            begins <= max && band.max_unit >= begins
        })
    }

    /// Returns whether a demand of `copies` copies of units of at least `unit` chars is never laxer than the setting.
    /// The engine counts a shorter unit as part of a longer one, so its copies need as much text.
    fn is_strict(&self, copies: u64, unit: u64) -> bool {
        let all = copies * unit;
        let single = CopyBand {
            max_unit: self.max_period,
            ..self.single
        };
        let bands = self.bands_up_to(self.max_period).chain([&single]);
        bands.into_iter().all(|band| {
            let longest_short = band.max_unit.min(unit.saturating_sub(1));
            let copies_suffice = band.max_unit < unit || copies >= band.copies;
            copies_suffice && all >= band.chars && all >= band.copies * longest_short
        })
    }

    /// Returns the smallest number of copies with which the engine is never laxer than the setting, and the length in
    /// tokens of the shortest unit for it.
    fn fewest_copies(&self, token: f64) -> (u64, u64) {
        let most = self.max_copies_for(self.max_period);
        let pair = |copies: u64| {
            let all = self.max_chars_for(self.max_period);
            (copies, tokens_for(all.div_ceil(copies), token))
        };
        let fits = |(copies, unit): &(u64, u64)| self.is_strict(*copies, chars_in(*unit, token));
        (2..most).map(pair).find(fits).unwrap_or_else(|| pair(most))
    }
}

/// Returns the largest number of tokens of `token` chars that fit in `chars` chars.
fn tokens_within(chars: u64, token: f64) -> u64 {
    (chars as f64 / token).floor() as u64
}

/// Returns the smallest number of tokens of `token` chars that hold at least `chars` chars.
fn tokens_for(chars: u64, token: f64) -> u64 {
    ((chars as f64 / token).ceil() as u64).max(1)
}

/// Returns the length in chars of `tokens` tokens of `token` chars.
fn chars_in(tokens: u64, token: f64) -> u64 {
    ((tokens as f64 * token).round() as u64).max(1)
}

/// Writes the configuration of vLLM, which stops when the last `min_count` × p tokens are copies of one sequence of p
/// tokens. Copies of a shorter unit also count as copies of its multiples, so the shortest pattern determines the
/// length.
fn vllm_config(copies: &CopyBands, token: f64) -> Result<EngineConfig, String> {
    let (count, min) = copies.fewest_copies(token);
    let max = tokens_within(copies.max_period, token);
    if max < min {
        return Err(format!(
            "it asks for {} chars of {count} copies, and its longest unit has {}: nothing shorter may be stopped, and nothing longer is looked for",
            chars_in(min * count, token),
            copies.max_period
        ));
    }
    let config = serde_json::json!({"repetition_detection": {
        "max_pattern_size": max, "min_pattern_size": min, "min_count": count,
    }});
    let (unit, all) = (chars_in(min, token), chars_in(min * count, token));
    let shorter = match unit {
        0 | 1 => String::new(),
        _ => format!(
            "rules = [{{ max_period = {}, min_copies = 2, min_chars = {all} }}]\n",
            unit - 1
        ),
    };
    Ok(EngineConfig {
        config: format!("{config:#}\n"),
        twin: format!(
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = {}\nmin_copies = {count}\nmin_chars = {all}\n{shorter}",
            chars_in(max, token)
        ),
        used: &["max_period", "min_copies", "min_chars"],
    })
}

/// The maximum length in chars of the window of the TypeScript detector.
const MAX_WINDOW_CHARS: u64 = 10_000;
/// The maximum number of chars of the window that its check of short units reads.
const MAX_SHORT_UNIT_CHARS: u64 = 2000;

/// Writes the configuration of the TypeScript detector, which looks only at checkpoints, and for adjacent copies only
/// at the first one. Its checks of elements, which need not be copies, are switched off, since no number of matches is
/// as strict as an exact guard.
fn typescript_config(copies: &CopyBands, _: f64) -> Result<EngineConfig, String> {
    let (repeats, min_unit) = copies.fewest_copies(1.0);
    let window = (copies.max_period * repeats).min(MAX_WINDOW_CHARS);
    let read = window.min(MAX_SHORT_UNIT_CHARS);
    if min_unit * repeats > read {
        return Err(format!(
            "it asks for {} chars, and the class looks at {read} at most",
            min_unit * repeats
        ));
    }
    let (unit, off) = (min_unit.max(2), 1_000_000);
    let config = format!(
        "export const deadLoopDetector = {{\n  checkpoints: [2000, 3000, 5000],\n  window: {window},\n  minUnit: {unit},\n  minRepeats: {repeats},\n  minMatches: {off},\n  maxPeriod: 50,\n}} as const;\n"
    );
    Ok(EngineConfig {
        config,
        twin: format!(
            "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nwindow = {window}\nmin_unit = {unit}\nmin_repeats = {repeats}\nmin_matches = {off}\n"
        ),
        used: &["min_copies"],
    })
}

/// The minimum length in chars of a chunk that LiteLLM compares.
const LITELLM_MIN_CHUNK_CHARS: u64 = 3;

/// Writes the configuration of LiteLLM, which stops after a number of equal chunks in a row, each of at least
/// [`LITELLM_MIN_CHUNK_CHARS`] chars. The number suffices for the shortest chunks. In the twin a chunk is a token.
fn litellm_config(copies: &CopyBands, token: f64) -> Result<EngineConfig, String> {
    let max = copies.max_period;
    let limit = copies.max_chars_for(max).div_ceil(LITELLM_MIN_CHUNK_CHARS);
    let limit = limit.max(copies.max_copies_for(max));
    let unit = chars_in(1, token).max(LITELLM_MIN_CHUNK_CHARS);
    Ok(EngineConfig {
        config: format!("litellm_settings:\n  REPEATED_STREAMING_CHUNK_LIMIT: {limit}\n"),
        twin: format!(
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = {unit}\nmin_copies = 2\nmin_chars = {}\n",
            limit * unit
        ),
        used: &["min_copies"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(engine: &str, setting: &str) -> Result<EngineExport, String> {
        let settings = Settings::parse(setting).expect("settings");
        let engine = ENGINES
            .iter()
            .find(|e| e.name == engine)
            .expect("an engine");
        engine.export(settings.guard(), 4.0)
    }

    const PLAIN: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 512\nmin_copies = 4\nmin_chars = 64\n";

    #[test]
    fn every_engine_gets_what_it_can_say_and_a_twin_that_parses() {
        let rows =
            PLAIN.to_owned() + "rules = [{ max_period = 50, min_copies = 5, min_chars = 180 }]\n";
        for engine in &ENGINES {
            for setting in [PLAIN, &rows, deadloop_detect::RECOMMENDED] {
                let exported = export(engine.name, setting);
                if setting == deadloop_detect::RECOMMENDED && engine.name == "typescript" {
                    let why = exported.expect_err("forms need more chars than the class reads");
                    assert!(
                        why.contains("asks for 4500 chars") && why.ends_with(ADVICE),
                        "{why}"
                    );
                    continue;
                }
                let exported = exported.expect(engine.name);
                assert!(!exported.config.is_empty(), "{}", engine.name);
                let lossless = exported.lost.is_empty();
                assert_eq!(
                    lossless,
                    setting == PLAIN && engine.name != "typescript" && engine.name != "litellm",
                    "{} {:?}",
                    engine.name,
                    exported.lost
                );
            }
        }
    }

    /// The preset of deadloop was written by hand from vLLM's own rule.
    #[test]
    fn the_twin_of_vllm_is_the_preset_that_was_written_by_hand() {
        let exported = export("vllm", PLAIN).expect("it can be said");
        let config: serde_json::Value = serde_json::from_str(&exported.config).expect("JSON");
        let wanted =
            serde_json::json!({"max_pattern_size": 128, "min_pattern_size": 4, "min_count": 4});
        assert_eq!(config["repetition_detection"], wanted);
        let preset = deadloop_detect::harness::DETECTORS
            .iter()
            .find(|d| d.name == "periodic")
            .map(|d| d.presets());
        let presets = preset.expect("there").expect("they parse");
        let preset = presets.iter().find(|p| p.name == "vllm").expect("there");
        for (name, value) in &preset.params {
            assert_eq!(
                exported.twin.guard().members[0].params.get(name),
                Some(value),
                "{name}"
            );
        }
    }

    #[test]
    fn what_no_engine_has_a_word_for_is_refused() {
        let folded = "[[guard]]\ndetector = \"novelty\"\n";
        let refused = export("vllm", folded).expect_err("novelty");
        assert!(
            refused.contains("exact copies") && refused.contains("novelty"),
            "{refused}"
        );
    }
}
