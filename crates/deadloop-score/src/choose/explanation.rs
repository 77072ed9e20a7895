//! [`explain_setting`]: an explanation of a setting in plain sentences, from the registry's texts.

use deadloop_replay::detect::harness::{Domain, Member, Param, ParamRole};
use deadloop_replay::detect::{Setting, Value};

use crate::sentences::{capital, thousands};

/// Describes a setting: one line for each guard, and one for each of its parameters that matters.
///
/// A parameter matters if it is an active threshold, or if it differs from its default.
pub fn explain_setting(setting: &Setting) -> Vec<String> {
    let guards = setting.members.iter().enumerate();
    guards
        .flat_map(|(nth, member)| describe_guard(nth + 1, member))
        .collect()
}

fn describe_guard(number: usize, member: &Member) -> Vec<String> {
    let detector = member.detector;
    let on = match (member.channel, detector.channels()) {
        (Some(channel), _) => format!("{channel} alone"),
        (None, all) => {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            names.join(" and ")
        }
    };
    let head = format!(
        "Guard {number}, {}: {}. It reads {on}; an alarm has the response \"{}\".",
        detector.name,
        detector.about.trim_end_matches('.'),
        member.response.name()
    );
    let listed = detector
        .params
        .iter()
        .filter(|param| is_notable(param, member));
    let lines = listed.flat_map(|param| match member.params.get(param.name) {
        Some(Value::List(rows)) if matches!(param.domain, Domain::Rows(_)) => {
            list_rules(rows, member)
        }
        Some(value) => vec![describe_param(param, value, member)],
        None => Vec::new(),
    });
    std::iter::once(head)
        .chain(lines.map(|line| format!("  {line}")))
        .collect()
}

/// Returns whether a parameter is an active threshold, or has a value that is not the default.
fn is_notable(param: &Param, member: &Member) -> bool {
    let Some(value) = member.params.get(param.name) else {
        return false;
    };
    let is_default = *value == Value::from(param.default);
    let is_off = is_default && matches!(value, Value::Int(0)) && param.doc.contains("0: ");
    match param.mark {
        ParamRole::Threshold(_) => !is_off,
        ParamRole::Structural => !is_default,
    }
}

/// Splits the registry text of a parameter into the meaning of its values, and that of the value 0, if it has one.
fn split_zero_meaning(param: &Param) -> (&str, Option<&str>) {
    match param.doc.rsplit_once("; 0: ") {
        Some((meaning, zero)) => (meaning, Some(zero)),
        None => (param.doc, None),
    }
}

/// Splits the registry text `true: only pairs …` into a single value with its own meaning, and that meaning. The value
/// is `None` if the text names none.
fn split_value_meaning(param: &Param) -> (Option<&str>, &str) {
    let (meaning, _) = split_zero_meaning(param);
    match meaning.split_once(": ") {
        Some((value, rest)) if !value.contains(' ') => (Some(value), rest),
        _ => (None, meaning),
    }
}

/// Returns the first clause of the registry text of a parameter, such as `copies in a row`.
pub fn subject(param: &Param) -> &str {
    let (_, meaning) = split_value_meaning(param);
    let clause = meaning.split([',', ';', ':', '(']).next();
    clause.unwrap_or(meaning).trim_end()
}

/// Describes a value of a parameter as written in a settings file: `4 copies in a row`, `longest unit that repeats =
/// 4,500 chars`, `no rows for shorter units`.
pub fn describe_value(param: &Param, value: &str) -> String {
    let (what, words) = (subject(param), in_words(param, value));
    match (split_value_meaning(param).0, param.domain) {
        (Some(own), _) if own == words => return what.to_owned(),
        (Some(_), Domain::Flag | Domain::Word([_, _])) => return format!("not {what}"),
        (_, Domain::Word(_)) => return format!("{what} = {}", value.trim_matches('"')),
        (_, Domain::Rows(_)) if words == EMPTY_LIST_WORD => return format!("no {what}"),
        _ => {}
    }
    let mut begins = what.split(' ').take(2);
    match words.strip_suffix(param.unit) {
        Some(number) if begins.any(|word| word == param.unit) => format!("{number}{what}"),
        _ => format!("{what} = {words}"),
    }
}

/// The description of an empty list.
const EMPTY_LIST_WORD: &str = "none";

/// Formats a value of a parameter, as written in a settings file, in words: `4 copies`, `list markers at line starts
/// (lists)`.
pub fn in_words(param: &Param, value: &str) -> String {
    let (meaning, zero) = split_zero_meaning(param);
    let word = value.trim_matches('"');
    let unit = param
        .unit
        .split_once(", or ")
        .map_or(param.unit, |(usual, _)| usual);
    match (split_word(param, meaning, word), zero, word.parse()) {
        (Some((_, clause)), ..) => clause,
        (_, Some(zero), Ok(0)) => zero.to_owned(),
        (_, _, Ok(n)) => format!("{} {unit}", thousands(n)).trim_end().to_owned(),
        _ if word == "[]" => EMPTY_LIST_WORD.to_owned(),
        _ => word.to_owned(),
    }
}

/// Describes a parameter in a sentence: `Copies of the unit in a row, the first included: 3 copies (min_copies).`
fn describe_param(param: &Param, value: &Value, member: &Member) -> String {
    let (meaning, zero) = split_zero_meaning(param);
    let sentence = match (value, zero) {
        (Value::Int(0), Some(zero)) => format!("{meaning}: {zero}"),
        _ => match split_word(param, meaning, value.as_text().unwrap_or_default()) {
            Some((what, clause)) => format!("{what}: {clause}"),
            None => format!("{meaning}: {}", with_unit(value, unit_of(param, member))),
        },
    };
    format!("{} ({}).", capital(&sentence), param.name)
}

/// Splits the meaning of a parameter with named values into its subject and the clause of the value `word`. `None` for
/// other parameters.
fn split_word<'d>(param: &'d Param, meaning: &'d str, word: &str) -> Option<(&'d str, String)> {
    let Domain::Word(words) = param.domain else {
        return None;
    };
    let (what, clauses) = meaning.split_once(": ")?;
    let clauses: Vec<&str> = clauses.split("; ").collect();
    let nth = words.iter().position(|one| *one == word)?;
    let clause = clauses.get(nth).filter(|_| clauses.len() == words.len())?;
    Some((what, format!("{clause} ({})", words[nth])))
}

/// Formats a value with its unit, such as `4,500 chars`. A text has no unit.
fn with_unit(value: &Value, unit: &str) -> String {
    let text = match value {
        Value::Int(n) => thousands(*n),
        other => other.to_string(),
    };
    match (unit, value) {
        ("", _) | (_, Value::Text(_)) => text,
        _ => format!("{text} {unit}"),
    }
}

/// Returns the unit of a parameter's value.
///
/// The registry's unit `chars, or elements with on` is elements if the parameter `on` has not its default.
fn unit_of<'d>(param: &'d Param, member: &Member) -> &'d str {
    let Some((usual, other)) = param.unit.split_once(", or ") else {
        return param.unit;
    };
    let Some((other, with)) = other.split_once(" with ") else {
        return param.unit;
    };
    let mut params = member.detector.params.iter();
    let with = params.find(|param| param.name == with);
    let differs =
        |param: &Param| member.params.get(param.name) != Some(&Value::from(param.default));
    if with.is_some_and(differs) {
        other
    } else {
        usual
    }
}

/// Describes each row of the parameter `rules` in a sentence.
fn list_rules(rows: &[Value], member: &Member) -> Vec<String> {
    let unit = unit_of_rules(member);
    let number =
        |row: &Value, name: &str| thousands(row.field(name).and_then(Value::as_int).unwrap_or(0));
    let line = |row: &Value| {
        let [period, copies, chars] =
            ["max_period", "min_copies", "min_chars"].map(|name| number(row, name));
        format!("Units of up to {period} {unit}: {copies} copies, {chars} chars in all (rules).")
    };
    rows.iter().map(line).collect()
}

fn unit_of_rules(member: &Member) -> &'static str {
    let mut params = member.detector.params.iter();
    let longest = params.find(|param| param.name == "max_period");
    longest.map_or("chars", |param| unit_of(param, member))
}

/// Explains a new value of a parameter that applies only to units longer than every row of `rules`, such as `units
/// above 2,000 chars: 2 copies are enough`. `None` if the value applies to all units.
pub(crate) fn explain_beyond_rules(param: &str, member: &Member) -> Option<String> {
    let rows = match member.params.get("rules") {
        Some(Value::List(rows)) if !rows.is_empty() => rows,
        _ => return None,
    };
    let last = rows.last()?.field("max_period").and_then(Value::as_int)?;
    let n = member.params.get(param).and_then(Value::as_int)?;
    let longest = member.params.get("max_period").and_then(Value::as_int);
    if longest.is_some_and(|longest| longest <= last) {
        return None; // No unit is longer.
    }
    let enough = match param {
        "min_copies" => format!("{} copies are enough", thousands(n)),
        "min_chars" => format!("{} chars are enough", thousands(n)),
        _ => return None,
    };
    let unit = unit_of_rules(member);
    Some(format!("units above {} {unit}: {enough}", thousands(last)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::detect::Settings;
    use deadloop_replay::detect::harness::{DETECTORS, Detector, Literal, Params};

    /// Checks that every parameter of every detector has a description, for its default and for another value.
    #[test]
    fn every_parameter_of_every_detector_has_a_sentence() {
        for detector in DETECTORS.iter().copied() {
            let member = Member::new(detector, Params::defaults(detector.params));
            for param in detector.params {
                let value = Value::from(param.default);
                let said = describe_param(param, &value, &member);
                let name = format!("({}).", param.name);
                assert!(said.ends_with(&name), "{}: {said}", detector.name);
                assert!(said.len() > name.len() + 10, "{}: {said}", detector.name);
                assert!(said.contains(": "), "{}: {said}", detector.name);
                let literal = matches!(param.default, Literal::Int(n) if n > 0);
                let Literal::Int(n) = param.default else {
                    continue;
                };
                assert!(
                    !literal || said.contains(&thousands(n)),
                    "{}: {said}",
                    detector.name
                );
            }
            let setting = Setting {
                members: vec![member],
            };
            let lines = explain_setting(&setting);
            assert!(lines[0].starts_with(&format!("Guard 1, {}: ", detector.name)));
        }
    }

    #[test]
    fn a_setting_is_said_in_words() {
        let text = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 4500\nmin_copies = 2\nmin_chars = 250\n\
            rules = [{ max_period = 50, min_copies = 5, min_chars = 180 }, { max_period = 2000, min_copies = 3, min_chars = 250 }]\n";
        let settings = Settings::parse(text).unwrap();
        let said = explain_setting(settings.guard());
        for line in [
            "  Longest unit that repeats: 4,500 chars (max_period).",
            "  Copies in a row, the first included: 2 copies (min_copies).",
            "  Units of up to 50 chars: 5 copies, 180 chars in all (rules).",
            "  Units of up to 2,000 chars: 3 copies, 250 chars in all (rules).",
        ] {
            assert!(said.iter().any(|one| one == line), "{line} in {said:#?}");
        }
        let member = &settings.guard().members[0];
        assert_eq!(
            explain_beyond_rules("min_copies", member).as_deref(),
            Some("units above 2,000 chars: 2 copies are enough")
        );
        assert_eq!(explain_beyond_rules("max_period", member), None);
        let param = |name: &str| member.detector.param(name).unwrap();
        let said = [
            ("min_copies", "4"),
            ("fold", "\"lists\""),
            ("min_form", "0"),
            ("max_period", "4500"),
        ];
        let said = said.map(|(name, value)| (subject(param(name)), in_words(param(name), value)));
        let said = said.map(|(what, value)| format!("{what}: {value}"));
        assert_eq!(said[0], "copies in a row: 4 copies");
        assert_eq!(said[1], "not compared: list markers at line starts (lists)");
        assert!(said[2].ends_with(": as for others"), "{}", said[2]);
        assert_eq!(said[3], "longest unit that repeats: 4,500 chars");
        let said = [
            ("min_copies", "4"),
            ("max_period", "4500"),
            ("fold", "lists"),
            ("rules", "[]"),
        ];
        let said = said.map(|(name, value)| describe_value(param(name), value));
        assert_eq!(
            said,
            [
                "4 copies in a row",
                "longest unit that repeats = 4,500 chars",
                "not compared = lists",
                "no rows for shorter units"
            ]
        );
        let flag = Detector::find("same-pair").and_then(|own| own.param("failure_only"));
        let said = ["true", "false"].map(|value| describe_value(flag.unwrap(), value));
        let only = "only pairs whose result is an error";
        assert_eq!(said, [only.to_owned(), format!("not {only}")]);
    }
}
