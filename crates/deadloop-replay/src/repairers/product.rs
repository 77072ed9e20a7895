//! The combinations of a grid's values.

use std::collections::BTreeMap;

use deadloop_detect::repair::Repairer;
use deadloop_detect::{Domain, Param, Params, Value};
use toml::Spanned;

use super::{MOST, Wrong};

/// Every combination of the values; the impossible ones are counted.
pub(super) fn product(
    repairer: &'static Repairer,
    base: Params,
    given: &BTreeMap<String, Spanned<toml::Value>>,
) -> Result<(Vec<Params>, usize), Wrong> {
    let mut all = vec![base];
    for (name, item) in given {
        let at = Some(item.span().start);
        let Some(param) = repairer.param(name) else {
            let known: Vec<&str> = repairer.params.iter().map(|p| p.name).collect();
            let known = known.join(", ");
            return Err((
                at,
                format!(
                    "{} has no parameter {name}; expected one of: {known}",
                    repairer.name
                ),
            ));
        };
        let values =
            values(param, item.get_ref()).map_err(|what| (at, format!("{name}: {what}")))?;
        if all.len().saturating_mul(values.len()) > MOST {
            return Err((
                at,
                format!("more than {MOST} variants; expected fewer values"),
            ));
        }
        let mut wider = Vec::with_capacity(all.len() * values.len());
        for params in &all {
            for value in &values {
                let mut one = params.clone();
                one.set(name, value.clone());
                wider.push(one);
            }
        }
        all = wider;
    }
    let before = all.len();
    let mut reason = None;
    all.retain(|params| match repairer.check(params) {
        Ok(()) => true,
        Err(refusal) => {
            reason.get_or_insert(format!("{}: {}", refusal.param, refusal.reason));
            false
        }
    });
    match (all.is_empty(), reason) {
        (true, Some(reason)) => Err((None, reason)),
        _ => {
            let refused = before - all.len();
            Ok((all, refused))
        }
    }
}

/// One value, or a list of several; of a parameter that holds a list, a list of lists.
fn values(param: &Param, item: &toml::Value) -> Result<Vec<Value>, String> {
    let read = |item: &toml::Value| {
        let value = Value::from_toml(item).map_err(|found| format!("{found}; expected a value"))?;
        let checked = param.domain.check(&value);
        checked.map_err(|reason| format!("{value}: {reason}"))?;
        Ok(value)
    };
    match item {
        toml::Value::Array(items)
            if !matches!(param.domain, Domain::Free)
                && (!param.domain.is_list() || items.iter().any(toml::Value::is_array)) =>
        {
            if items.is_empty() {
                return Err("no value; expected one and more".into());
            }
            items.iter().map(read).collect()
        }
        single => Ok(vec![read(single)?]),
    }
}
