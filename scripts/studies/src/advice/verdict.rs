//! [`AdviceReport`]: the results of all draws.

use std::collections::BTreeMap;
use std::fmt;

use deadloop_score::choose::Ruling;

use crate::own_grid::OwnGrid;
use crate::study_corpus::IN_USE;

/// The result of one draw for one guard in use.
#[derive(Clone, Debug)]
pub(crate) struct DrawResult {
    pub(crate) size: usize,
    pub(crate) spoilt: bool,
    /// Whether a setting of the default grids may ship.
    pub(crate) ships_grid: bool,
    pub(crate) in_use: &'static str,
    pub(crate) verdict: Ruling,
    /// The saved share on the transcripts not drawn, of the guard in use and of the advised one.
    pub(crate) saved: [f64; 2],
    /// The saved share of the recommended guard on the transcripts not drawn.
    pub(crate) recommended: f64,
    /// Wrong alarms per million healthy chars of the transcripts not drawn, of the guard in use and of the advised one.
    pub(crate) rate: [f64; 2],
    /// The best saved share of any setting within the limit, on the transcripts not drawn.
    pub(crate) hindsight: f64,
    pub(crate) seed: u64,
}

/// The lowest allowed mean gain over the better of the guard in use and the recommended one.
const BEHIND: f64 = -0.01;

/// The limit on wrong alarms: the default.
const LIMIT: f64 = 1.0;

impl DrawResult {
    fn gain(&self) -> f64 {
        self.saved[1] - self.saved[0]
    }

    /// Returns the gain over the better of the guard in use and the recommended one.
    fn over_both(&self) -> f64 {
        self.saved[1] - self.saved[0].max(self.recommended)
    }

    /// Returns whether the advice loses more than two points of the saved share.
    fn loses(&self) -> bool {
        self.gain() < -0.02
    }

    /// Returns whether the rate of wrong alarms is above 1.5 times the limit, and above 1.5 times the rate in use.
    fn cuts(&self) -> bool {
        self.rate[1] > 1.5 * LIMIT && self.rate[1] > 1.5 * self.rate[0]
    }
}

/// The results of all draws.
pub(crate) struct AdviceReport {
    pub(crate) own: OwnGrid,
    pub(crate) trials: Vec<DrawResult>,
    pub(crate) transcripts: usize,
    pub(crate) settings: usize,
}

/// The key of a row: size, guard in use, whether a grid may ship, spoilt labels.
type RowKey = (usize, &'static str, bool, bool);

impl AdviceReport {
    fn rows(&self) -> BTreeMap<RowKey, Vec<&DrawResult>> {
        let mut rows: BTreeMap<RowKey, Vec<&DrawResult>> = BTreeMap::new();
        for trial in &self.trials {
            let key = (trial.size, trial.in_use, trial.ships_grid, trial.spoilt);
            rows.entry(key).or_default().push(trial);
        }
        rows
    }

    /// Returns the largest number of draws with a property, of one size and one way.
    fn most(&self, has: fn(&DrawResult) -> bool) -> usize {
        let mut counts: BTreeMap<(usize, bool, bool), usize> = BTreeMap::new();
        for t in &self.trials {
            let key = (t.size, t.ships_grid, t.spoilt);
            *counts.entry(key).or_default() += usize::from(has(t));
        }
        counts.into_values().max().unwrap_or(0)
    }

    /// Returns whether every bound holds.
    pub(crate) fn holds(&self) -> bool {
        let losses = self.most(DrawResult::loses) == 0 && self.most(DrawResult::cuts) <= 3;
        let both = self
            .rows()
            .into_values()
            .all(|of| BEHIND <= mean(&of, DrawResult::over_both));
        self.own.holds()
            && losses
            && both
            && self
                .gains()
                .iter()
                .all(|(.., share, least)| *share >= *least)
    }

    /// Returns, for each guard in use but the recommended one, the achieved and the required share of the gain of the
    /// best setting in hindsight. Draws with spoilt labels are left out.
    fn gains(&self) -> Vec<(&'static str, usize, f64, f64)> {
        let mut gains = Vec::new();
        for name in IN_USE.into_iter().filter(|name| *name != "recommended") {
            for (size, least) in [(1000, 0.4), (3000, 0.8)] {
                let rows = self.rows();
                let Some(of) = rows.get(&(size, name, false, false)) else {
                    continue;
                };
                gains.push((name, size, share(of), least));
            }
        }
        gains
    }
}

/// Returns the mean gain, divided by the mean gain of the best setting in hindsight.
fn share(of: &[&DrawResult]) -> f64 {
    let gain: f64 = of.iter().map(|t| t.gain()).sum();
    let most: f64 = of.iter().map(|t| t.hindsight - t.saved[0]).sum();
    // 0 is not below 0: `-0 %` would read as a loss.
    let share = gain / most;
    if share.abs() < 0.005 { 0.0 } else { share }
}

fn mean(of: &[&DrawResult], value: impl Fn(&DrawResult) -> f64) -> f64 {
    of.iter().map(|t| value(t)).sum::<f64>() / of.len() as f64
}

impl fmt::Display for AdviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            transcripts,
            settings,
            ..
        } = self;
        let draws = self.trials.iter().map(|t| t.seed + 1).max().unwrap_or(0);
        let introduction = INTRODUCTION.replace("20 times", &format!("{draws} times"));
        writeln!(f, "# Is the advice good?\n\n{introduction}\n")?;
        writeln!(
            f,
            "{transcripts} transcripts, {settings} settings.\n\n{HEAD}"
        )?;
        self.write_rows(f)?;
        writeln!(f, "\n## The bounds\n")?;
        let (lost, cut) = (self.most(DrawResult::loses), self.most(DrawResult::cuts));
        writeln!(
            f,
            "- Of the {} draws of each size and way at most {lost} lose more than two points (none may), and {cut} cut too much (at most 3): {}",
            IN_USE.len() as u64 * draws,
            holds(lost == 0 && cut <= 3)
        )?;
        for t in self.trials.iter().filter(|t| t.loses() || t.cuts()) {
            writeln!(f, "  - draw {} of {}: `{}`", t.seed, t.size, t.in_use)?;
        }
        let behind: Vec<f64> = self
            .rows()
            .values()
            .map(|of| mean(of, DrawResult::over_both))
            .collect();
        let least = behind.iter().copied().fold(f64::INFINITY, f64::min);
        let most = behind.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        writeln!(
            f,
            "- {:+.1} to {:+.1} points over the better of the guard in use and the recommended one, in all rows (at least {:+.0}): {}",
            100.0 * least,
            100.0 * most,
            100.0 * BEHIND,
            holds(least >= BEHIND)
        )?;
        for of in self.gains().chunk_by(|one, next| one.0 == next.0) {
            let parts: Vec<String> = of
                .iter()
                .map(|(_, size, share, least)| {
                    let [share, least] = [100.0 * share, 100.0 * least];
                    format!("{share:.0} % with {size} transcripts (at least {least:.0} %)")
                })
                .collect();
            writeln!(
                f,
                "- `{}` in use, labels as they are, of what hindsight gains: {}: {}",
                of[0].0,
                parts.join(", "),
                holds(of.iter().all(|(.., share, least)| share >= least))
            )?;
        }
        write!(f, "{}", self.own)?;
        let all = if self.holds() {
            "**Every bound is kept.**"
        } else {
            "**Not every bound is kept.**"
        };
        writeln!(f, "\n{all}")
    }
}

impl AdviceReport {
    /// Writes the rows by size and guard in use. Ways of the same figures share a row.
    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<((usize, &str), Vec<String>, String)> = Vec::new();
        for ((size, name, grid, spoilt), of) in self.rows() {
            let way = if grid { "grid" } else { "ready" };
            let way = format!("{way}{}", if spoilt { ", spoilt" } else { "" });
            let figures = figures(&of);
            match rows.last_mut() {
                Some((key, ways, same)) if *key == (size, name) && *same == figures => {
                    ways.push(way)
                }
                _ => rows.push(((size, name), vec![way], figures)),
            }
        }
        for ((size, name), ways, figures) in rows {
            let ways = if ways.len() == 4 {
                "all".to_owned()
            } else {
                ways.join("; ")
            };
            writeln!(f, "| {size} | `{name}` | {ways} | {figures} |")?;
        }
        Ok(())
    }
}

/// Returns the cells of a row behind its key.
fn figures(of: &[&DrawResult]) -> String {
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    of.iter()
        .for_each(|t| *verdicts.entry(t.verdict.name()).or_default() += 1);
    let verdicts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
    let worst = of.iter().map(|t| t.gain()).fold(f64::INFINITY, f64::min);
    format!(
        "{} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} % | {:+.1} | {:.2} | {:.2}",
        verdicts.join(", "),
        100.0 * mean(of, |t| t.saved[0]),
        100.0 * mean(of, |t| t.saved[1]),
        100.0 * mean(of, |t| t.recommended),
        100.0 * mean(of, |t| t.hindsight),
        100.0 * share(of),
        100.0 * worst,
        mean(of, |t| t.rate[0]),
        mean(of, |t| t.rate[1]),
    )
}

fn holds(holds: bool) -> &'static str {
    if holds { "holds" } else { "**fails**" }
}

const HEAD: &str = "\
| drawn | in use | way | verdicts | saved, in use | as advised | recommended | hindsight | of its gain | worst draw | wrong/Mchar, in use | as advised |\n\
|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|";

const INTRODUCTION: &str = "\
`scripts/advice` writes this page. It draws whole groups of REAL (8,559 recordings, labels of version 3), some 300, 1,000 or 3,000 transcripts, 20 times
each. The code of `deadloop tune` chooses on each draw, with the default limit, for four guards in use, `hipfire` a bad one. The settings that it writes,
and the guard in use, are scored on all other transcripts, in points of 100 of `saved`.

- *Way*: `ready` chooses among ready guards alone, `grid` also among the default grid. `spoilt`: three labels of a hundred of the draw are wrong on purpose
  (loops called clean, clean transcripts called loops, onsets moved half-way to the end); the score is by the true ones. Ways of equal figures share a row.
- *Recommended*: the recommended guard, with nothing looked at. *Hindsight*: the best setting within the limit on the transcripts not drawn. *Of its gain*:
  the mean gain of the advice, divided by that of hindsight.
- A draw *loses* if it saves two points less than the guard in use. It *cuts too much* if its wrong alarms are above 1.5 times the limit and those in use.";
