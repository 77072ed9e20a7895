//! A grid of repairers: TOML in which a parameter may have several values, and the variants that it asks for.
//!
//! ```toml
//! [[repairer]]
//! name = "tags"
//! preset = "lenient"          # or presets = true: each of them
//! [repairer.params]
//! edits = [0, 1, 2]
//! close = ["refuse", "next"]
//!
//! [[repairer]]
//! name = "command"            # a program; reads streams of one kind
//! command = ["python3", "scripts/repairers/json_repair_lines.py"]
//! stream = "arguments"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use deadloop_detect::repair::{REPAIRERS, Repairer};
use deadloop_detect::{Params, Program, Value};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

mod product;

use product::product;

/// The grid where none is named.
pub const DEFAULT_GRID: &str = include_str!("grid.toml");
/// The most variants of one grid.
const MOST: usize = 20_000;

/// A setting of a repairer.
#[derive(Clone, Debug)]
pub struct Variant {
    /// `tags/lenient`, or the repairer and a hash of the parameters.
    pub name: String,
    /// Whether it is a preset, a program or the stream as it is: shown beside what is chosen.
    pub shown: bool,
    /// What does it.
    pub made: Mending,
}

/// What mends.
#[derive(Clone, Debug)]
pub enum Mending {
    /// Nothing: the stream as it is, of the kind that the repairer reads.
    Nothing(&'static Repairer),
    /// A repairer of deadloop.
    Of(&'static Repairer, Params),
    /// A program, and the kind of streams that it reads.
    Program(Program, String),
}

impl Variant {
    /// The name of the repairer that it stands beside: a program beside that of its streams.
    pub fn repairer(&self) -> &str {
        match &self.made {
            Mending::Nothing(repairer) | Mending::Of(repairer, _) => repairer.name,
            Mending::Program(_, stream) => repairer_of(stream).map_or("command", |r| r.name),
        }
    }

    /// The kind of streams that it reads.
    pub fn stream(&self) -> &str {
        match &self.made {
            Mending::Nothing(repairer) | Mending::Of(repairer, _) => repairer.stream,
            Mending::Program(_, stream) => stream,
        }
    }

    /// The parameters that differ from the defaults, as `a=1; b=2`.
    pub fn params(&self) -> String {
        match &self.made {
            Mending::Nothing(_) => String::new(),
            Mending::Program(program, _) => program.command.join(" "),
            Mending::Of(repairer, params) => differing(repairer, params),
        }
    }

    /// Returns the TOML of a grid that has only this repairer; empty for the stream without repair.
    pub fn toml(&self) -> String {
        match &self.made {
            Mending::Nothing(_) => String::new(),
            Mending::Program(program, stream) => format!(
                "[[repairer]]\nname = \"command\"\ncommand = {}\nstream = \"{stream}\"\n",
                Value::List(program.command.iter().cloned().map(Value::Text).collect())
            ),
            Mending::Of(repairer, params) => {
                let mut text = format!(
                    "[[repairer]]\nname = \"{}\"\n[repairer.params]\n",
                    repairer.name
                );
                let defaults = repairer.defaults();
                for (name, value) in params.iter() {
                    if defaults.get(name) != Some(value) {
                        // Of a list a grid takes a list of lists.
                        let is_list = repairer.param(name).is_some_and(|p| p.domain.is_list());
                        let (open, close) = if is_list { ("[", "]") } else { ("", "") };
                        // Writing to a String cannot fail.
                        let _ = writeln!(text, "{name} = {open}{}{close}", value.to_toml());
                    }
                }
                text
            }
        }
    }
}

/// The repairer of streams of this kind.
fn repairer_of(stream: &str) -> Option<&'static Repairer> {
    REPAIRERS.iter().copied().find(|r| r.stream == stream)
}

fn differing(repairer: &Repairer, params: &Params) -> String {
    let defaults = repairer.defaults();
    let other = params
        .iter()
        .filter(|(name, value)| defaults.get(name) != Some(value));
    let shown = other.map(|(name, value)| format!("{name}={value}"));
    shown.collect::<Vec<_>>().join("; ")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default)]
    repairer: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: Spanned<String>,
    preset: Option<String>,
    #[serde(default)]
    presets: bool,
    #[serde(default)]
    params: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    command: Vec<String>,
    stream: Option<String>,
    timeout_ms: Option<u64>,
}

/// The variants of a grid, the streams as they are first, and how many combinations are impossible. No variant stands
/// twice.
///
/// # Errors
/// What is wrong, as `line: what; expected …`.
pub fn variants(text: &str) -> Result<(Vec<Variant>, usize), String> {
    let wire: Wire = toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(0, |span| span.start);
        format!("{}: {}", line(text, at), e.message())
    })?;
    if wire.repairer.is_empty() {
        return Err("1: no [[repairer]]; expected one and more".into());
    }
    let (mut made, mut refused) = (Vec::new(), 0);
    for table in &wire.repairer {
        let at = line(text, table.name.span().start);
        let one = of_table(table).map_err(|(place, what)| {
            format!("{}: {what}", place.map_or(at, |place| line(text, place)))
        })?;
        refused += one.1;
        made.extend(one.0);
        if made.len() > MOST {
            return Err(format!(
                "{at}: more than {MOST} variants; expected fewer values"
            ));
        }
    }
    let used: BTreeSet<String> = made.iter().map(|v| v.repairer().to_owned()).collect();
    let idle = REPAIRERS.iter().filter(|r| used.contains(r.name));
    let idle = idle.map(|repairer| Variant {
        name: format!("{}/none", repairer.name),
        shown: true,
        made: Mending::Nothing(repairer),
    });
    let mut all: Vec<Variant> = idle.collect();
    let mut known = BTreeSet::new();
    for variant in made {
        // The same parameters under another name: the name of the preset, which comes first, stays.
        let same = format!("{} {}", variant.repairer(), variant.params());
        if known.insert(same) {
            all.push(variant);
        }
    }
    Ok((all, refused))
}

fn line(text: &str, at: usize) -> usize {
    1 + text
        .get(..at)
        .map_or(0, |before| before.matches('\n').count())
}

/// Where in the grid something is wrong, and what.
type Wrong = (Option<usize>, String);

fn of_table(table: &Table) -> Result<(Vec<Variant>, usize), Wrong> {
    let name = table.name.get_ref().as_str();
    if name == "command" {
        return Ok((vec![program(table)?], 0));
    }
    let Some(repairer) = Repairer::find(name) else {
        let known: Vec<&str> = REPAIRERS.iter().map(|r| r.name).collect();
        let known = known.join(", ");
        return Err((
            None,
            format!("no repairer {name:?}; expected one of: {known}, command"),
        ));
    };
    if !table.command.is_empty() || table.stream.is_some() || table.timeout_ms.is_some() {
        let what = "command, stream and timeout_ms are a program's; expected them beside name = \"command\"";
        return Err((None, what.into()));
    }
    let mut variants = Vec::new();
    if table.presets {
        for preset in repairer.presets().map_err(|e| (None, e))? {
            let params = repairer.preset(&preset.name).map_err(|e| (None, e))?;
            variants.push(Variant {
                name: format!("{name}/{}", preset.name),
                shown: true,
                made: Mending::Of(repairer, params),
            });
        }
        if table.params.is_empty() && table.preset.is_none() {
            return Ok((variants, 0));
        }
    }
    let base = match &table.preset {
        Some(preset) => repairer.preset(preset).map_err(|e| (None, e))?,
        None => repairer.defaults(),
    };
    if table.params.is_empty() {
        variants.push(Variant {
            name: format!("{name}/{}", table.preset.as_deref().unwrap_or("defaults")),
            shown: true,
            made: Mending::Of(repairer, base),
        });
        return Ok((variants, 0));
    }
    let (swept, refused) = product(repairer, base, &table.params)?;
    let named = swept.into_iter().map(|params| Variant {
        name: format!("{name}/{}", short(repairer, &params)),
        shown: false,
        made: Mending::Of(repairer, params),
    });
    variants.extend(named);
    Ok((variants, refused))
}

fn program(table: &Table) -> Result<Variant, Wrong> {
    let stream = table.stream.clone().unwrap_or_default();
    if table.command.is_empty() || repairer_of(&stream).is_none() {
        let known: Vec<&str> = REPAIRERS.iter().map(|r| r.stream).collect();
        let what = format!(
            "a program without command or stream; expected command = [\"program\", …] and stream, one of: {}",
            known.join(", ")
        );
        return Err((None, what));
    }
    let mut params = BTreeMap::new();
    for (name, item) in &table.params {
        let value = Value::from_toml(item.get_ref());
        let bad = |found| {
            (
                Some(item.span().start),
                format!("{name} is {found}; expected a value"),
            )
        };
        params.insert(name.clone(), value.map_err(bad)?);
    }
    let file = table
        .command
        .iter()
        .rev()
        .find(|word| word.contains(['/', '.']));
    let file = file.or(table.command.last()).cloned().unwrap_or_default();
    let stem = std::path::Path::new(&file).file_stem();
    let stem = stem.map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Variant {
        name: format!("command/{stem}"),
        shown: true,
        made: Mending::Program(
            Program {
                command: table.command.clone(),
                params: Value::Table(params),
                timeout_ms: table.timeout_ms.unwrap_or(10_000),
                max_errors: u64::MAX,
            },
            stream,
        ),
    })
}

fn short(repairer: &Repairer, params: &Params) -> String {
    let text = format!(
        "{} {} {}",
        repairer.name,
        repairer.version,
        differing(repairer, params)
    );
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(4).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_grid_is_read() {
        let (variants, refused) = variants(DEFAULT_GRID).unwrap();
        // A mode that passes text on before it is whole cannot refuse what is inside: these cells are impossible.
        assert_eq!(refused, 6);
        assert!(variants.len() > 100, "{}", variants.len());
        let names: BTreeSet<&str> = variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names.len(), variants.len());
        assert!(names.contains("think/leading") && names.contains("tags/none"));
    }

    #[test]
    fn a_variant_is_read_again_from_its_table() {
        for variant in variants(DEFAULT_GRID).unwrap().0 {
            if let Mending::Of(_, params) = &variant.made {
                let toml = variant.toml();
                let again = variants_of(&toml);
                let same = again
                    .iter()
                    .any(|v| matches!(&v.made, Mending::Of(_, p) if p == params));
                assert!(same, "{toml}");
            }
        }
    }

    fn variants_of(toml: &str) -> Vec<Variant> {
        variants(toml).unwrap().0
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        for (text, said) in [
            ("[[repairer]]\nname = \"tag\"", "2: no repairer \"tag\""),
            (
                "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedit = 1",
                "4: tags has no parameter edit",
            ),
            (
                "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = [0, 9]",
                "4: edits: 9",
            ),
            ("[[repairer]]\nname = \"command\"", "2: a program without"),
            (
                "[[repairer]]\nname = \"tags\"\npreset = \"x\"",
                "2: the repairer tags has no preset",
            ),
            ("x = 1", "1: unknown field"),
            ("", "1: no [[repairer]]"),
        ] {
            let error = variants(text).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
