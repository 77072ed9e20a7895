//! The page of a budget: its template, and what is in it.

use minijinja::value::{Serde, Value};
use serde::Serialize;

use super::data::{BudgetPoint, LIMIT_HEADER, Page, World};
use super::{Both, BudgetPageError, both, costs, lengths, turns};
use crate::draw::{chart_css, variables_css};
use crate::numbers::{UNDEFINED, count, percent, plain};
use crate::page::{PageError, environment, policy};
use crate::visible::visible;

/// Worlds that are drawn; more have their tables alone.
const DRAWN: usize = 15;

const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../templates/dom.js"),
    include_str!("../../templates/theme.js"),
    include_str!("../../templates/save.js"),
    include_str!("../../templates/tables.js"),
    "})();\n"
);

#[derive(Serialize)]
struct Content {
    title: String,
    measured: String,
    worlds: Vec<Shown>,
    trace: Option<Drawn>,
    limits: Option<Drawn>,
    limit_table: Grid,
    hash: String,
    css: String,
    js: &'static str,
    csp: String,
}

/// A chart with what is said of it.
#[derive(Serialize)]
struct Drawn {
    note: String,
    wide: String,
    narrow: String,
}

impl Drawn {
    fn of(note: String, both: Both) -> Self {
        Self {
            note,
            wide: both.wide,
            narrow: both.narrow,
        }
    }
}

/// A window.
#[derive(Serialize)]
struct Shown {
    id: String,
    title: String,
    verdict: String,
    reason: String,
    chart: Option<Drawn>,
    settings: Grid,
    prices: Grid,
}

/// A table.
#[derive(Serialize)]
struct Grid {
    title: String,
    note: String,
    /// Columns from this one on hold numbers.
    numbers: usize,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The whole page.
pub(super) fn page(data: &Page) -> Result<String, BudgetPageError> {
    let content = content(data)?;
    let render = || {
        let mut environment = environment()?;
        environment.add_template("budget.html", include_str!("../../templates/budget.html"))?;
        environment
            .get_template("budget.html")?
            .render(Value::from(Serde(&content)))
    };
    Ok(render().map_err(PageError::from)?)
}

fn content(data: &Page) -> Result<Content, BudgetPageError> {
    let css = variables_css()
        + &chart_css()
        + include_str!("../../templates/page.css")
        + ".badge{white-space:nowrap}";
    let shown = |(at, world): (usize, &World)| shown(at, world);
    let trace = data.trace.as_ref().map(|trace| {
        let note = format!(
            "Run {} ({}), {}. Each mark is where something was done: what the prompt would have been, and what it was then.",
            visible(&trace.run),
            visible(&trace.source),
            trace.what
        );
        both(|width, name| turns::draw(trace, (width, &format!("trace-{name}")))).map(|both| Drawn::of(note, both))
    });
    let strips = (!data.strips.is_empty()).then(|| {
        let note = "Each step down is a run that had ended by then; where a line crosses a dotted one, the limit would have cut that share of the source's runs.";
        both(|width, name| lengths::draw(&data.strips, (width, &format!("lengths-{name}")))).map(|both| Drawn::of(note.into(), both))
    });
    Ok(Content {
        title: format!("deadloop budget: {}", visible(&data.corpus)),
        measured: format!(
            "{} runs, {} windows and prices. From the sizes of recorded events alone: how often, when and how much, never how good a summary is.",
            count(data.runs),
            data.worlds.len()
        ),
        worlds: data
            .worlds
            .iter()
            .enumerate()
            .map(shown)
            .collect::<Result<_, _>>()?,
        trace: trace.transpose()?,
        limits: strips.transpose()?,
        limit_table: limit_table(data),
        hash: data.corpus_hash.clone(),
        csp: policy(&css, SCRIPT),
        css,
        js: SCRIPT,
    })
}

fn shown(at: usize, world: &World) -> Result<Shown, BudgetPageError> {
    let draws = at < DRAWN && world.points.len() > 1;
    let chart = draws.then(|| {
        let note = format!(
            "Below 1 a setting costs less than no guard in a window without end; a cached token costs {}. {} of {} runs overflow without a guard.",
            world.cache,
            count(world.overflow_never),
            count(world.runs)
        );
        both(|width, name| costs::draw(world, (width, &format!("costs-{at}-{name}")))).map(|both| Drawn::of(note, both))
    });
    Ok(Shown {
        id: format!("world-{at}"),
        title: format!(
            "Window {}, cached tokens at {} ({})",
            count(world.window),
            world.cache,
            world.counter
        ),
        verdict: world.verdict.clone(),
        reason: world.reason.clone(),
        chart: chart.transpose()?,
        settings: settings(world),
        prices: prices(world),
    })
}

/// A ratio with two decimals.
fn ratio(x: Option<f64>) -> String {
    x.map_or_else(|| UNDEFINED.into(), |x| format!("{x:.2}"))
}

/// The settings that have a name.
fn settings(world: &World) -> Grid {
    let row = |p: &BudgetPoint| {
        let cost = match (p.cost_lo, p.cost_hi) {
            (Some(lo), Some(hi)) => format!(
                "{} ({} to {})",
                ratio(p.cost),
                ratio(Some(lo)),
                ratio(Some(hi))
            ),
            _ => ratio(p.cost),
        };
        vec![
            p.names.clone(),
            p.policy.clone(),
            plain(p.threshold, 3) + if p.is_unsafe { " (unsafe)" } else { "" },
            plain(p.keep, 3),
            format!(
                "{} ({})",
                count(p.overflow),
                percent((world.runs > 0).then(|| p.overflow as f64 / world.runs as f64))
            ),
            ratio((world.runs > 0).then(|| p.summaries as f64 / world.runs as f64)),
            cost,
            p.even.map_or("no turn".into(), |even| ratio(Some(even))),
        ]
    };
    grid(
        "Settings with a name",
        "Cost against no guard, on the runs that the setting does not kill, 95 % over groups. Pays above: the price of a cached token at which the sign turns.",
        (
            2,
            &[
                "setting",
                "policy",
                "threshold",
                "keep",
                "runs that overflow",
                "summaries a run",
                "cost",
                "pays above",
            ],
        ),
        world
            .points
            .iter()
            .filter(|p| !p.names.is_empty())
            .map(row)
            .collect(),
    )
}

fn prices(world: &World) -> Grid {
    let rows = world.prices.iter().map(|p| {
        vec![
            p.at_most.to_string(),
            p.what.clone(),
            count(p.overflow),
            percent(Some(p.hi)),
            ratio(p.cost),
            p.is.clone(),
        ]
    });
    grid(
        "What one more overflow buys",
        "The cheapest setting with no more overflows on these runs than the first column says, of those that keep no less than what is in use, chosen again in five folds: overflow and cost are held out.",
        (
            2,
            &[
                "at most",
                "setting",
                "overflow, held out",
                "share, at most (95 %)",
                "cost, held out",
                "is",
            ],
        ),
        rows.collect(),
    )
}

fn limit_table(data: &Page) -> Grid {
    grid(
        "Iteration limits",
        "`asks, + 50 %`: the user says yes each time. `stops`: at the limit. Useful turns are those outside the loops of the labels; a good run cut is a labelled one that was stopped with a useful turn still to come; lead: turns from the warning at 0.8 to the question.",
        (3, &LIMIT_HEADER),
        data.limits.clone(),
    )
}

fn grid(
    title: &str,
    note: &str,
    (numbers, header): (usize, &[&str]),
    rows: Vec<Vec<String>>,
) -> Grid {
    Grid {
        title: title.into(),
        note: note.into(),
        numbers,
        header: header.iter().map(|name| (*name).to_owned()).collect(),
        rows: rows
            .into_iter()
            .map(|row| row.iter().map(|cell| visible(cell).to_string()).collect())
            .collect(),
    }
}
