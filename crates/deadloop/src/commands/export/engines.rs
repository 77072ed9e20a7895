//! A tuned setting as the configuration of a guard that people already run: one entry of [`ENGINES`] for each engine.
//!
//! An export has four parts: the configuration, a *twin* (a setting of deadloop that behaves like that configuration),
//! what the setting says and the configuration cannot, and what a user of it has to know. For an engine that counts
//! tokens, chars are divided by the mean length of a token. Numbers are rounded so that the export never asks for less
//! text than the setting does.

use deadloop_detect::{Member, Setting, Settings, Value};

/// A guard that people run, and how a setting is written for it.
pub(crate) struct Engine {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What is written, and where it goes.
    pub(crate) about: &'static str,
    write: fn(&Copies, f64) -> Written,
}

/// A setting, exported.
#[derive(Debug)]
pub(crate) struct Exported {
    /// What the engine reads.
    pub(crate) config: String,
    /// What it does with that, as a setting.
    pub(crate) twin: Settings,
    /// What the setting says and the configuration does not.
    pub(crate) lost: Vec<String>,
}

/// The configuration, its twin in TOML, and the parameters of `periodic` that it can say.
struct Written {
    config: String,
    twin: String,
    said: &'static [&'static str],
}

/// What a member asks of exact copies: what every engine has a word for.
struct Copies {
    /// Longest unit, in chars.
    max_period: u64,
    /// Copies at the end of the text.
    min_copies: u64,
    /// The largest number of chars that copies must have together, over all lengths of the unit.
    min_chars: u64,
    /// The same for a unit of a few chars: one token over and over.
    short_chars: u64,
    /// The chars before which there is no alarm.
    start_after: u64,
}

/// Every engine.
pub(crate) const ENGINES: [Engine; 5] = [
    Engine {
        name: "vllm",
        about: "a field of the request (extra_body of the OpenAI clients), or SamplingParams(repetition_detection=…): vLLM 0.17 and later",
        write: vllm,
    },
    Engine {
        name: "llama-cpp",
        about: "a field of the request to a server started with --repetition-detection: PR 26039 of llama.cpp, which was closed; no release has it",
        write: vllm,
    },
    Engine {
        name: "sglang",
        about: "custom_params of RepetitionTruncationLogitProcessor: PR 27778 of SGLang, which was closed; the class has to come with the request",
        write: sglang,
    },
    Engine {
        name: "typescript",
        about: "the parameters of the design document's detector (section 4.1), by which its TypeScript ports go",
        write: typescript,
    },
    Engine {
        name: "litellm",
        about: "config.yaml of the LiteLLM proxy; with the library litellm.REPEATED_STREAMING_CHUNK_LIMIT = the number",
        write: litellm,
    },
];

impl Engine {
    /// Writes a setting for the engine. `token` is the length of a token, in chars.
    ///
    /// # Errors
    /// Returns an error if no member of the setting looks for exact copies of chars: the engine cannot express other members.
    pub(crate) fn export(&self, setting: &Setting, token: f64) -> Result<Exported, String> {
        let exact = setting.members.iter().position(is_exact).ok_or_else(|| {
            let names = setting.member_names().join(", ");
            format!(
                "{} can only be told of exact copies (periodic on chars, nothing folded), and the setting has {names}; replay it with such a guard added, or run deadloop itself (deadloop proxy)",
                self.name
            )
        })?;
        let member = &setting.members[exact];
        let Written { config, twin, said } = (self.write)(&Copies::of(member), token);
        let names = setting.member_names();
        let others = names.iter().enumerate().filter(|(i, _)| *i != exact);
        let others = others.map(|(_, name)| format!("the guard {name}: left out"));
        let changed = changed(member).filter(|(name, _)| !said.contains(&name.as_str()));
        let changed = changed.map(|(name, value)| format!("{}: {name} = {value}", names[exact]));
        let channel = member
            .channel
            .map(|channel| format!("{}: on {channel} alone", names[exact]));
        let twin = Settings::parse(&twin).map_err(|e| format!("the twin of the export: {e}"))?;
        Ok(Exported {
            config,
            twin,
            lost: others.chain(changed).chain(channel).collect(),
        })
    }
}

/// Whether a member looks for exact copies of chars.
fn is_exact(member: &Member) -> bool {
    let params = &member.params;
    member.detector.name == "periodic"
        && params.text("on") == "chars"
        && params.text("fold") == "none"
}

/// The parameters of a member that are not as by default.
fn changed(member: &Member) -> impl Iterator<Item = (String, String)> {
    let defaults = deadloop_detect::Params::defaults(member.detector.params);
    let own = member
        .params
        .iter()
        .filter(move |(name, value)| defaults.get(name) != Some(value));
    own.map(|(name, value)| (name.to_owned(), value.to_string()))
}

impl Copies {
    fn of(member: &Member) -> Self {
        let params = &member.params;
        let number = |row: &Value, name| {
            let field = row.field(name).and_then(Value::as_int);
            field.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
        };
        let rows = params.items("rules");
        let min_chars = params.count("min_chars");
        let most = rows
            .iter()
            .map(|row| number(row, "min_chars"))
            .fold(min_chars, u64::max);
        let short = rows.iter().find(|row| number(row, "max_period") >= 4);
        Self {
            max_period: params.count("max_period"),
            min_copies: params.count("min_copies").max(2),
            min_chars: most,
            short_chars: short.map_or(min_chars, |row| number(row, "min_chars")),
            start_after: params.count("start_after"),
        }
    }
}

/// The smallest number of tokens, of `token` chars each, that hold at least `chars` chars.
fn tokens(chars: u64, token: f64) -> u64 {
    ((chars as f64 / token).ceil() as u64).max(1)
}

/// The length of `tokens` tokens in chars, where one token is `token` chars long.
fn chars(tokens: u64, token: f64) -> u64 {
    ((tokens as f64 * token).round() as u64).max(1)
}

/// The last `min_count` × p tokens are copies of one p-gram. A shorter unit counts as a multiple of it, so the shortest
/// pattern is what asks for a length.
fn vllm(copies: &Copies, token: f64) -> Written {
    let count = copies.min_copies;
    let min = tokens(copies.min_chars.div_ceil(count), token);
    let max = tokens(copies.max_period, token).max(min);
    let config = serde_json::json!({"repetition_detection": {
        "max_pattern_size": max, "min_pattern_size": min, "min_count": count,
    }});
    let (unit, all) = (chars(min, token), chars(min * count, token));
    let shorter = match unit {
        0 | 1 => String::new(),
        _ => format!(
            "rules = [{{ max_period = {}, min_copies = 2, min_chars = {all} }}]\n",
            unit - 1
        ),
    };
    Written {
        config: format!("{config:#}\n"),
        twin: format!(
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = {}\nmin_copies = {count}\nmin_chars = {all}\n{shorter}",
            chars(max, token)
        ),
        said: &["max_period", "min_copies", "min_chars"],
    }
}

/// Some n-gram occurs `min_repeat` times in the window: of a loop of period p after p × (`min_repeat` - 1) + n tokens.
fn sglang(copies: &Copies, token: f64) -> Written {
    let repeat = copies.min_copies.min(100);
    let size = tokens(copies.min_chars, token)
        .saturating_sub(repeat - 1)
        .max(1);
    let window = tokens(copies.max_period, token) * (repeat - 1) + size;
    let config = serde_json::json!({"custom_params": {
        "ngram_size": size, "window_size": window, "min_repeat": repeat,
        "min_content_length": (copies.start_after as f64 / token).ceil() as u64,
    }});
    let words = |tokens: u64| (tokens * 3).div_ceil(4).max(1);
    Written {
        config: format!("{config:#}\n"),
        twin: format!(
            "[[guard]]\ndetector = \"recurrence\"\n[guard.params]\nby = \"words\"\nn = {}\nwindow = {}\nmin_count = {repeat}\nmax_gap = 0\nmax_distinct = 0\n",
            words(size),
            words(window)
        ),
        said: &["max_period", "min_copies", "min_chars", "start_after"],
    }
}

/// The document's detector has checkpoints and elements where a guard by copies is wanted: it can only say how often a short unit
/// occurs in a row.
fn typescript(copies: &Copies, _: f64) -> Written {
    let repeats = copies.min_copies;
    let config = format!(
        "export const deadLoopDetector = {{\n  checkpoints: [2000, 3000, 5000],\n  window: 200,\n  minUnit: 2,\n  minRepeats: {repeats},\n  minMatches: 6,\n  maxPeriod: 50,\n}} as const;\n"
    );
    Written {
        config,
        twin: format!(
            "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = {repeats}\n"
        ),
        said: &["min_copies"],
    }
}

/// LiteLLM stops after a number of equal chunks in a row, each of more than two chars. A chunk is taken for a token.
fn litellm(copies: &Copies, token: f64) -> Written {
    let limit = tokens(copies.short_chars, token).max(copies.min_copies);
    let unit = chars(1, token);
    Written {
        config: format!("litellm_settings:\n  REPEATED_STREAMING_CHUNK_LIMIT: {limit}\n"),
        twin: format!(
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = {unit}\nmin_copies = 2\nmin_chars = {}\n",
            chars(limit, token)
        ),
        said: &["min_copies"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(engine: &str, setting: &str) -> Result<Exported, String> {
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
                let exported = export(engine.name, setting).expect(engine.name);
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
        let preset = deadloop_detect::DETECTORS
            .iter()
            .find(|d| d.name == "periodic")
            .map(|d| deadloop_detect::presets(d));
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
