//! The price list: what one more wrong alarm buys.

use super::{Cell, Row, Table, number, words};
use crate::data::ReportData;
use crate::numbers::{Estimate, chars, count, decimal, percent, writer};
use deadloop_score::measure::DELAY;
use deadloop_score::{Assurance, Price};

/// The rows of the advice.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let advice = data.advice.as_ref()?;
    let objective = data.run.objective.0;
    let (unit, rate) = (data.run.unit, data.run.wrong());
    let columns = vec![
        words("at most"),
        number("ended"),
        number(objective.title_in(unit)),
        number("recall"),
        number(DELAY.title_in(unit)),
        number(rate.title.replace("false", "wrong")),
        words("within the limits"),
        words("setting"),
        words("file"),
    ];
    let rows = advice.prices.iter().map(|price| row(data, price)).collect();
    let note = "For each number of wrong alarms on this corpus, the best setting that raises no more and meets the other limits. Its figures are \
                held out: each fold was judged by what the others had chosen; below them, in-sample ones. “Within the limits”: the \
                highest level of assurance that it reaches (likely: as likely as not, probable: 4 in 5, sure: 19 in 20). Each is a settings \
                file that can be loaded as it is.";
    Table::new("What one more wrong alarm buys", note, columns, rows)
}

fn row(data: &ReportData, price: &Price) -> Row {
    let objective = data.run.objective.0;
    let rate = Estimate {
        value: price.rate,
        low: price.rate_lo,
        high: price.rate_hi,
    };
    let s = if price.at_most == 1 { "" } else { "s" };
    let most = Cell {
        sort: Some(price.at_most as f64),
        ..Cell::text(format!("{} wrong alarm{s}", count(price.at_most)))
    };
    let beside = |value, inside, write: fn(Option<f64>) -> String| {
        Cell::figure(value, write).with(format!("in-sample {}", write(inside)))
    };
    let is = |name: &str| price.is.iter().any(|is| is == name);
    let name = |is: &String| match is.as_str() {
        "in use" => data.in_use_is().to_owned(),
        other => other.to_owned(),
    };
    let names: Vec<String> = price.is.iter().map(name).collect();
    let level = price.assurance.map_or("none", Assurance::name);
    Row {
        cells: vec![
            most.with(format!("in-sample {}", count(price.wrong))),
            beside(price.ended, price.ended_in_sample, percent),
            beside(
                price.objective,
                price.objective_in_sample,
                writer(objective),
            ),
            beside(price.recall, price.recall_in_sample, percent),
            Cell::figure(price.delay, chars),
            Cell::interval(rate, decimal),
            Cell::text(level),
            called(data, price, &names),
            Cell::text(price.file.as_str()),
        ],
        role: match (is("candidate"), is("in use")) {
            (true, _) => "chosen",
            (_, true) => "current",
            _ => "",
        },
    }
}

/// What its setting is, or else what it is called; its id below.
fn called(data: &ReportData, price: &Price, names: &[String]) -> Cell {
    let at = data.settings.iter().position(|one| one.id == price.setting);
    let name = match at {
        Some(at) if names.is_empty() => data.describe(at),
        _ => names.join(", "),
    };
    let id = price.setting.as_str();
    Cell::text(name.as_str()).with(if name == id { "" } else { id })
}
