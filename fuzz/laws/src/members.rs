//! Members of a guard, drawn from bytes within the bounds of the registry.
//!
//! A new detector is drawn without a change here.

use arbitrary::{Result, Unstructured};
use deadloop_detect::harness::{Detector, Domain, Member, Params};
use deadloop_detect::{Response, Value};

/// Draws a member of a detector. `None` if its parameters are impossible together or `bytes` is too short.
pub(crate) fn member(detector: &'static Detector, bytes: &[u8]) -> Option<Member> {
    let mut bytes = Unstructured::new(bytes);
    let mut params = Params::defaults(detector.params);
    for param in detector.params {
        if bytes.ratio(1, 2).ok()? {
            params.set(param.name, value(param.domain, &mut bytes).ok()?);
        }
    }
    let member = Member {
        response: Response::Stop,
        ..Member::new(detector, params)
    };
    member.check().is_ok().then_some(member)
}

/// Draws a value of a domain. Most numbers are near the minimum, since the texts are short.
pub(crate) fn value(domain: Domain, bytes: &mut Unstructured) -> Result<Value> {
    Ok(match domain {
        Domain::Int { min, max } => Value::Int(int(min, max, bytes)?),
        Domain::Float { min, max } => {
            Value::Float(min + (max - min) * f64::from(bytes.arbitrary::<u8>()?) / 255.0)
        }
        Domain::Flag => Value::Bool(bytes.arbitrary()?),
        Domain::Word(words) => word(words, bytes)?,
        Domain::WordOrInt { words, min, max } => {
            if bytes.arbitrary()? {
                word(words, bytes)?
            } else {
                Value::Int(int(min, max, bytes)?)
            }
        }
        Domain::Words(words) => {
            let bits: u32 = bytes.arbitrary()?;
            let words = words.iter().enumerate();
            let chosen = words.filter(|(i, _)| bits >> (i % 32) & 1 == 1);
            let chosen = chosen.map(|(_, word)| Value::Text((*word).into()));
            Value::List(chosen.collect())
        }
        Domain::Rising { min, max } => {
            let mut numbers: Vec<i64> = Vec::new();
            for _ in 0..bytes.int_in_range(1..=4)? {
                numbers.push(int(min, max, bytes)?);
            }
            numbers.sort_unstable();
            numbers.dedup();
            Value::List(numbers.into_iter().map(Value::Int).collect())
        }
        Domain::CharSet => word(&["。.；;！!？?\n", ".", "\n", "ab ", "x。"], bytes)?,
        Domain::Regex => word(PATTERNS, bytes)?,
        Domain::Regexes => several(2, bytes, |bytes| word(PATTERNS, bytes))?,
        Domain::Texts => several(2, bytes, |bytes| {
            word(&["en", "zh", "wait", "ab", "等等"], bytes)
        })?,
        Domain::Globs => several(2, bytes, |bytes| word(&["*", "a*", "[ab]", "wait"], bytes))?,
        Domain::Rows(fields) => several(3, bytes, |bytes| row(fields, bytes))?,
        // Of detectors that are programs, which no live guard runs.
        Domain::Program | Domain::Free => Value::List(Vec::new()),
    })
}

/// Draws a list of at most `most` values.
fn several(
    most: u8,
    bytes: &mut Unstructured,
    one: impl Fn(&mut Unstructured) -> Result<Value>,
) -> Result<Value> {
    let count = bytes.int_in_range(0..=most)?;
    let values = (0..count).map(|_| one(bytes));
    Ok(Value::List(values.collect::<Result<_>>()?))
}

const PATTERNS: &[&str] = &[
    r"^\s*\d+\.\s*",
    "^-",
    "a+",
    "^x|y$",
    "",
    ".*",
    r"\b",
    "[^ab]*$",
];

fn word(words: &[&str], bytes: &mut Unstructured) -> Result<Value> {
    Ok(Value::Text((*bytes.choose(words)?).to_owned()))
}

fn int(min: i64, max: i64, bytes: &mut Unstructured) -> Result<i64> {
    let least = |span: i64| max.min(min.saturating_add(span));
    match bytes.int_in_range(0..=9)? {
        0..=4 => bytes.int_in_range(min..=least(30)),
        5..=7 => bytes.int_in_range(min..=least(300)),
        8 => bytes.int_in_range(min..=least(5000)),
        _ => bytes.int_in_range(min..=max),
    }
}

fn row(fields: &[&str], bytes: &mut Unstructured) -> Result<Value> {
    let number = |bytes: &mut Unstructured| Ok(Value::Int(int(1, i64::from(u32::MAX), bytes)?));
    let fields = fields.iter();
    let named = fields.map(|field| Ok(((*field).to_owned(), number(bytes)?)));
    Ok(Value::Table(named.collect::<Result<_>>()?))
}
