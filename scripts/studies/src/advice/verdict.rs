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

/// The key of a row: whether a grid may ship, size, spoilt labels, guard in use.
type RowKey = (bool, usize, bool, &'static str);

impl AdviceReport {
    fn rows(&self) -> BTreeMap<RowKey, Vec<&DrawResult>> {
        let mut rows: BTreeMap<RowKey, Vec<&DrawResult>> = BTreeMap::new();
        for trial in &self.trials {
            let key = (trial.ships_grid, trial.size, trial.spoilt, trial.in_use);
            rows.entry(key).or_default().push(trial);
        }
        rows
    }

    /// Groups the trials by size, by kind of labels, and by whether a grid may ship.
    fn kinds(&self) -> BTreeMap<(bool, usize, bool), Vec<&DrawResult>> {
        let mut kinds: BTreeMap<(bool, usize, bool), Vec<&DrawResult>> = BTreeMap::new();
        for trial in &self.trials {
            kinds
                .entry((trial.ships_grid, trial.size, trial.spoilt))
                .or_default()
                .push(trial);
        }
        kinds
    }

    /// Returns whether every bound holds.
    pub(crate) fn holds(&self) -> bool {
        let losses = self.kinds().into_values().all(|of| {
            let count = |is: fn(&DrawResult) -> bool| of.iter().filter(|t| is(t)).count();
            count(DrawResult::loses) == 0 && count(DrawResult::cuts) <= 3
        });
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
                let Some(of) = rows.get(&(false, size, false, name)) else {
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
        self.write_bounds(f)?;
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
        for (name, size, share, least) in self.gains() {
            writeln!(
                f,
                "- `{name}` in use, {size} transcripts, labels as they are: {:.0} % of what hindsight gains (at least {:.0} %): {}",
                100.0 * share,
                100.0 * least,
                holds(share >= least)
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
    /// Writes a row for each size of a draw, kind of labels and guard in use.
    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((grid, size, spoilt, name), of) in self.rows() {
            let labels = if spoilt { "3 % spoilt" } else { "as they are" };
            let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
            of.iter()
                .for_each(|t| *verdicts.entry(t.verdict.name()).or_default() += 1);
            let verdicts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
            let worst = of.iter().map(|t| t.gain()).fold(f64::INFINITY, f64::min);
            writeln!(
                f,
                "| {} | {size} | {labels} | `{name}` | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} % | {:+.1} | {:.2} | {:.2} | {} | {} |",
                if grid { "grid" } else { "ready" },
                verdicts.join(", "),
                100.0 * mean(&of, |t| t.saved[0]),
                100.0 * mean(&of, |t| t.saved[1]),
                100.0 * mean(&of, |t| t.recommended),
                100.0 * mean(&of, |t| t.hindsight),
                100.0 * share(&of),
                100.0 * worst,
                mean(&of, |t| t.rate[0]),
                mean(&of, |t| t.rate[1]),
                of.iter().filter(|t| t.loses()).count(),
                of.iter().filter(|t| t.cuts()).count(),
            )?;
        }
        Ok(())
    }

    /// Returns whether few enough draws lose, or cut too much.
    fn write_bounds(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((grid, size, spoilt), of) in self.kinds() {
            let labels = if spoilt {
                "3 % spoilt"
            } else {
                "labels as they are"
            };
            let of_draws = |is: fn(&DrawResult) -> bool| {
                let which: Vec<String> = of
                    .iter()
                    .filter(|t| is(t))
                    .map(|t| format!("draw {} {}", t.seed, t.in_use))
                    .collect();
                (which.len(), which.join(", "))
            };
            let (lost, who) = of_draws(DrawResult::loses);
            let (cut, whom) = of_draws(DrawResult::cuts);
            let n = of.len();
            writeln!(
                f,
                "- {size} transcripts, {labels}{}: {lost} of {n} lose more than two points (none may){}; {cut} of {n} cut too much (at most 3){}: {}",
                if grid { ", the grid may ship" } else { "" },
                guard_title(&who),
                guard_title(&whom),
                holds(lost == 0 && cut <= 3)
            )?;
        }
        Ok(())
    }
}

fn guard_title(who: &str) -> String {
    match who {
        "" => String::new(),
        _ => format!(" ({who})"),
    }
}

fn holds(holds: bool) -> &'static str {
    if holds { "holds" } else { "**fails**" }
}

const HEAD: &str = "\
| may ship | drawn | labels | in use | verdicts | saved, in use | as advised | just take recommended | hindsight | of its gain | worst draw | wrong/Mchar, in use | as advised | lose > 2 points | cut too much |\n\
|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

const INTRODUCTION: &str = "\
Written by `scripts/advice`; the code is `scripts/studies/src/advice`. From REAL (8,559 recordings, labels of version 3) whole
groups are drawn, some 300, 1,000 or 3,000 transcripts, 20 times each. On each draw the code that `deadloop tune` runs takes its verdict for four
guards in use, `hipfire` a bad one, with the default limit; once among the ready guards alone, once with the default grid (*may ship*). The settings that it would write are scored on all transcripts that were not
drawn, beside the guard in use on the same ones. `spoilt`: of a hundred labels of the draw three are wrong on purpose (loops called clean, clean
transcripts called loops, onsets moved half-way to the end); the score is by the true ones.

*Just take recommended*: the recommended guard on the same transcripts, with nothing looked at. *Hindsight* is the best setting of the search that keeps the limit on what was not drawn; *of its gain*: the mean gain of the advice over the mean
gain of hindsight. *Lose*: more than two points of `saved` fewer than what was in use. *Cut too much*: wrong alarms above 1.5 times the limit and above
1.5 times those of what was in use. All in points of 100 of `saved`.";
