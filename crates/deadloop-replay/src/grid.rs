//! [`Grid`]: guards whose parameters may have several values, read from a file.
//!
//! The grids of repairers and budgets share [`read_param_values`] and [`combine_values`].
//!
//! ```toml
//! ignore = ['^\s*\|']                                       # as in a settings file
//!
//! [[guard]]
//! detector = "checkpoint"
//! [guard.params]
//! checkpoints = [[2000, 3000, 5000], [500, 1000, 2000]]   # a list of lists
//! window      = { from = 100, to = 400, step = 100 }      # 100, 200, 300, 400
//! max_period  = { from = 5, to = 50, factor = 3.2 }       # 5, 16, 51 -> 5, 16
//! min_repeats = [3, 4, 5, 6]
//! ```

use std::collections::{BTreeMap, HashSet};

use deadloop_detect::harness::{
    DECIMAL, Domain, GuardTable, LocatedValue, Member, Param, ParamRole, Params, Spec, TextScope,
    did_you_mean, read_toml, resolve, share,
};
use deadloop_detect::{Response, SettingsError, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A guard with several values for some parameters of its members. Its settings are all combinations of these values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The members, in the order of the file.
    pub members: Vec<GridMember>,
}

/// A member of a grid.
#[derive(Clone, Debug)]
pub struct GridMember {
    /// The member with the first value of every parameter.
    pub base: Member,
    /// The parameters with more than one value, in the detector's order. The values of a threshold are rising, others
    /// are in the order of the file.
    pub values: Vec<(&'static Param, Vec<Value>)>,
}

/// The maximum number of values of one parameter, because value indices are `u16`.
const MAX_VALUES: usize = u16::MAX as usize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridFile {
    #[serde(default)]
    guard: Vec<GuardTable>,
    ignore: Option<LocatedValue<Vec<String>>>,
    prompt: Option<LocatedValue<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueRange<N> {
    from: N,
    to: N,
    step: Option<N>,
    factor: Option<f64>,
}

impl Grid {
    /// Parses a grid file and checks each value by itself. [`Plan::add_grid`](crate::Plan::add_grid) finds impossible
    /// combinations.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut wire: GridFile = read_toml(text)?;
        share(
            &mut wire.guard,
            wire.ignore.as_ref(),
            wire.prompt.as_ref(),
            text,
        )?;
        let on: Vec<&GuardTable> = wire.guard.iter().filter(|table| table.enabled).collect();
        if on.is_empty() {
            return Err(SettingsError::at(
                text,
                0..0,
                "no [[guard]] that is enabled",
            ));
        }
        let members = on.iter().map(|table| read_member(table, text));
        let members: Vec<GridMember> = members.collect::<Result<_, _>>()?;
        for (table, member) in on.iter().zip(&members) {
            let [first, this] = [&members[0], member].map(|m| m.base.response.level().name());
            if first != this {
                let what = format!(
                    "this guard has the response {this}, the first of the grid {first}; they are \
                     scored apart: write a grid for each"
                );
                return Err(SettingsError::at(text, table.detector.span(), what));
            }
        }
        Ok(Self { members })
    }

    /// Returns the distinct names of the detectors, such as `periodic + recurrence`.
    pub fn name(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for member in &self.members {
            let name = member.base.detector.name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(" + ")
    }

    /// Sets the unit that text detectors treat as one text in a run.
    #[must_use]
    pub fn read_per(mut self, per: TextScope) -> Self {
        for member in &mut self.members {
            member.values.retain(|(param, _)| param.name != "per");
            member.base.read_per(per);
        }
        self
    }

    /// Returns the [level](Response::level) of the grid's guards, which is the same for all.
    pub fn response(&self) -> Response {
        let first = self.members.first();
        first.map_or(Response::Stop, |m| m.base.response.level())
    }
}

fn read_member(table: &GuardTable, text: &str) -> Result<GridMember, SettingsError> {
    if let Some(ratio) = &table.chars_per_token {
        let what = "chars_per_token is for settings; the values of a grid are in chars";
        return Err(SettingsError::at(text, ratio.span(), what));
    }
    let (mut base, named) = resolve(table, text)?;
    let mut values = Vec::new();
    for (param, found) in read_param_values(base.detector, named, text)? {
        if let Some(first) = found.first() {
            base.params.set(param.name, first.clone());
        }
        if found.len() > 1 {
            values.push((param, found));
        }
    }
    Ok(GridMember { base, values })
}

/// Parameters of a grid's table, each with its values.
pub(crate) type ParamValues = Vec<(&'static Param, Vec<Value>)>;

/// Reads the parameters of a table, each with all its values, in the order of `spec`, so that the numbering of cells
/// does not depend on the file. A parameter without a value is an error.
pub(crate) fn read_param_values<'g>(
    spec: &Spec,
    given: impl IntoIterator<Item = (&'g LocatedValue<String>, &'g LocatedValue<Value>)>,
    text: &str,
) -> Result<ParamValues, SettingsError> {
    let given: Vec<_> = given.into_iter().collect();
    if let Some((name, _)) = given
        .iter()
        .find(|(name, _)| spec.param(name.get_ref()).is_none())
    {
        let known: Vec<&str> = spec.params.iter().map(|param| param.name).collect();
        let what = format!(
            "unknown parameter \"{name}\" of {}{}; expected one of: {}",
            spec.name,
            did_you_mean(name.get_ref(), known.iter().copied()),
            known.join(", "),
            name = name.get_ref(),
        );
        return Err(SettingsError::at(text, name.span(), what));
    }
    let mut all = Vec::new();
    for param in spec.params {
        let Some((_, item)) = given.iter().find(|(name, _)| name.get_ref() == param.name) else {
            continue;
        };
        let error =
            |what: String| SettingsError::at(text, item.span(), format!("{}: {what}", param.name));
        let values = read_values(param, item).map_err(error)?;
        if values.is_empty() {
            return Err(error("no value".into()));
        }
        all.push((param, values));
    }
    Ok(all)
}

/// Returns the number of combinations. `None` if it exceeds `most`.
pub(crate) fn count_combinations(swept: &ParamValues, most: usize) -> Option<usize> {
    let mut values = swept.iter().map(|(_, values)| values.len());
    let cells = values.try_fold(1_usize, usize::checked_mul);
    cells.filter(|cells| *cells <= most)
}

/// Returns the first `cells` combinations of the swept values over `base`, last parameter innermost.
pub(crate) fn combine_values(
    base: Params,
    swept: &ParamValues,
    cells: usize,
) -> impl Iterator<Item = Params> {
    (0..cells).map(move |cell| {
        let (mut one, mut rest) = (base.clone(), cell);
        for (param, values) in swept.iter().rev() {
            one.set(param.name, values[rest % values.len()].clone());
            rest /= values.len();
        }
        one
    })
}

fn read_values(param: &Param, item: &LocatedValue<Value>) -> Result<Vec<Value>, String> {
    // Checked before any copy is made: a list may have any length.
    if let Value::List(items) = item.get_ref()
        && is_value_list(param, items)
        && items.len() > MAX_VALUES
    {
        return Err(describe_too_many(&items.len().to_string()));
    }
    let mut values = match item.get_ref() {
        Value::Table(table) if !matches!(param.domain, Domain::Free) => expand_range(param, table)?,
        Value::List(items) if is_value_list(param, items) => items.clone(),
        single => vec![single.clone()],
    };
    for value in &values {
        param
            .domain
            .check(value)
            .map_err(|reason| format!("{value}: {reason}"))?;
    }
    if let ParamRole::Threshold(threshold) = param.mark {
        values.sort_by_key(|v| threshold.number(v));
    }
    values.dedup();
    let mut seen = HashSet::with_capacity(values.len());
    match values.iter().find(|value| !seen.insert(key_text(value))) {
        Some(value) => Err(format!("{value} stands twice")),
        None => Ok(values),
    }
}

/// Returns a text that identifies a value. Equal values, and only those, have the same text.
fn key_text(value: &Value) -> String {
    match value {
        // Negative zero equals zero, but is printed differently.
        Value::Float(x) if *x == 0.0 => Value::Float(0.0).to_string(),
        other => other.to_string(),
    }
}

fn describe_too_many(count: &str) -> String {
    format!("{count} values; at most {MAX_VALUES} are allowed")
}

/// Returns whether a list is several values of the parameter, rather than one value that is a list.
fn is_value_list(param: &Param, items: &[Value]) -> bool {
    let is_list = |item: &Value| matches!(item, Value::List(_));
    !param.domain.is_list() || items.iter().any(is_list)
}

const RANGE_EXPECTED: &str = "expected { from, to, step } or { from, to, factor }";

fn expand_range(param: &Param, table: &BTreeMap<String, Value>) -> Result<Vec<Value>, String> {
    match param.domain {
        Domain::Float { .. } => Ok(expand_floats(parse_range(table)?)?
            .into_iter()
            .map(Value::Float)
            .collect()),
        _ => Ok(expand_ints(parse_range(table)?)?
            .into_iter()
            .map(Value::Int)
            .collect()),
    }
}

fn parse_range<N: DeserializeOwned>(
    table: &BTreeMap<String, Value>,
) -> Result<ValueRange<N>, String> {
    let table = toml::Value::try_from(table).map_err(|e| e.to_string())?;
    let range = table.try_into();
    range.map_err(|e: toml::de::Error| format!("{}; {RANGE_EXPECTED}", e.message()))
}

fn expand_ints(range: ValueRange<i64>) -> Result<Vec<i64>, String> {
    let ValueRange { from, to, .. } = range;
    if to < from {
        return Err(format!("from {from} is above to {to}"));
    }
    let next: Box<dyn Fn(i64) -> i64> = match (range.step, range.factor) {
        (Some(step), None) if step > 0 => Box::new(move |x| x.saturating_add(step)),
        // A small number that the factor leaves as it is grows by one instead.
        (None, Some(factor)) if factor > 1.0 && factor.is_finite() && from > 0 => {
            Box::new(move |x| ((x as f64 * factor).round() as i64).max(x.saturating_add(1)))
        }
        (step, factor) => return Err(describe_bad_range(step.is_some(), factor.is_some())),
    };
    let values =
        std::iter::successors(Some(from), |x| Some(next(*x)).filter(|y| y > x && *y <= to));
    let values: Vec<i64> = values.take(MAX_VALUES + 1).collect();
    match values.len() {
        0..=MAX_VALUES => Ok(values),
        _ => Err(describe_too_many(&format!("more than {MAX_VALUES}"))),
    }
}

/// Returns the numbers of a range, computed in millionths, so that 0.1 plus three steps of 0.1 is exactly 0.4.
fn expand_floats(range: ValueRange<f64>) -> Result<Vec<f64>, String> {
    let numbers = [Some(range.from), Some(range.to), range.step];
    if numbers.into_iter().flatten().any(|x| !x.is_finite()) {
        return Err("from, to and step must be finite numbers".into());
    }
    // The domains of parameters keep numbers small enough for this cast.
    let millionths = |x: f64| (x * DECIMAL as f64).round() as i64;
    let number = |n: i64| n as f64 / DECIMAL as f64;
    let counted = ValueRange {
        from: millionths(range.from),
        to: millionths(range.to),
        step: range.step.map(millionths),
        factor: range.factor,
    };
    Ok(expand_ints(counted)?.into_iter().map(number).collect())
}

/// Formats the parameters that differ from the defaults as lines of a grid's table.
pub(crate) fn params_toml(spec: &Spec, params: &Params) -> String {
    let defaults = spec.defaults();
    let other = params.iter();
    let other = other.filter(|(name, value)| defaults.get(name) != Some(value));
    let line = |(name, value): (&str, &Value)| {
        // In a grid, a single list is written as a list of lists.
        let is_list = spec.param(name).is_some_and(|p| p.domain.is_list());
        let (open, close) = if is_list { ("[", "]") } else { ("", "") };
        format!("{name} = {open}{}{close}\n", value)
    };
    other.map(line).collect()
}

fn describe_bad_range(step: bool, factor: bool) -> String {
    match (step, factor) {
        (true, false) => "step must be above 0".into(),
        (false, true) => "factor must be a finite number above 1, and from above 0".into(),
        _ => RANGE_EXPECTED.into(),
    }
}
