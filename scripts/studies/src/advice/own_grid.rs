//! [`OwnGrid`]: `tune` with a grid of the detector in use.
//!
//! It checks whether a laxer limit is ever worth less, and whether a dominated guard is ever kept.

use std::fmt;

use deadloop_score::choose::{ChooseOptions, Ruling, choose};
use deadloop_score::measure::{FA_PER_MCHAR, SAVED};
use deadloop_score::{Evidence, JudgeOptions, Tally};

use crate::draws::AdviceDraw;
use crate::study_corpus::StudyCorpus;

/// The grid of `checkpoint`, whose preset `document` is in use.
pub(crate) const GRID: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n\
checkpoints = [[2000,3000,5000],[500,1000,1500,2000]]\nevery = [0,1000]\nshort_at = \"all\"\npartial_tail = \"drop\"\n\
segment = [\"between\",2000]\nmin_repeats = [4,6,8,12]\nmin_matches = [3,4,6,8,12,20]\nmin_cycles = [1,3]\n";

/// The limits, as multiples of the guard's own rate of wrong alarms.
const LIMITS: [f64; 10] = [0.5, 0.7, 0.85, 0.93, 1.0, 1.07, 1.15, 1.3, 1.6, 2.0];
/// The number of transcripts of a draw, and the number of draws.
const DRAWS: (usize, u64) = (1000, 6);
/// The name of the guard in use.
const DOCUMENT: &str = "document";

/// A draw, tuned at every limit.
struct TunedDraw {
    corpus: String,
    ready: bool,
    verdicts: String,
    /// The held-out saved share by rising limits, in points.
    held_out: Vec<f64>,
    /// The saved share on the transcripts not drawn, in points. Empty if all were drawn.
    elsewhere: Vec<f64>,
    /// The saved share of the guard in use on the transcripts not drawn, in points.
    in_use: f64,
    /// The number of limits whose verdict is keep, although a row has fewer wrong alarms and saves over a point more.
    dominated: usize,
}

/// The results of all draws and corpora.
#[derive(Default)]
pub(crate) struct OwnGrid(Vec<TunedDraw>);

impl OwnGrid {
    /// Tunes on draws of a large corpus.
    pub(crate) fn add_draws(&mut self, world: &StudyCorpus) {
        for seed in 0..DRAWS.1 {
            let draw = AdviceDraw::sample(world, DRAWS.0, seed);
            for ready in [false, true] {
                self.0.push(climb(
                    world,
                    (&draw.drawn, &draw.others),
                    ready,
                    &format!("REAL, draw {seed}"),
                ));
            }
        }
    }

    /// Tunes on a whole corpus.
    pub(crate) fn add(&mut self, world: &StudyCorpus, name: &str) {
        let every: Vec<usize> = (0..world.cases.len()).collect();
        for ready in [false, true] {
            self.0.push(climb(world, (&every, &[]), ready, name));
        }
    }

    /// Returns whether every bound holds.
    pub(crate) fn holds(&self) -> bool {
        self.0.iter().all(|climb| {
            climb.falls() <= 1e-9
                && climb.falls_elsewhere() <= 1.5
                && !climb.loses()
                && (climb.dominated == 0 || !climb.elsewhere.is_empty())
        })
    }
}

fn climb(
    world: &StudyCorpus,
    (drawn, others): (&[usize], &[usize]),
    ready: bool,
    corpus: &str,
) -> TunedDraw {
    let cases: Vec<_> = drawn.iter().map(|i| world.cases[*i].clone()).collect();
    let records: Vec<_> = drawn.iter().map(|i| world.records[*i].clone()).collect();
    let judge = JudgeOptions::default();
    let cell = world.cell(DOCUMENT);
    let points = |tally: &Tally| 100.0 * SAVED.value(tally, &world.worth).unwrap_or(0.0);
    let mut climb = TunedDraw {
        corpus: corpus.to_owned(),
        ready,
        verdicts: String::new(),
        held_out: Vec::new(),
        elsewhere: Vec::new(),
        in_use: points(&world.on(cell, others)),
        dominated: 0,
    };
    let Ok(evidence) = Evidence::new(&world.plan, &cases, &records) else {
        return climb;
    };
    let now = evidence.tally(cell, &evidence.all(), &judge);
    let own = FA_PER_MCHAR.value(&now, &world.worth).unwrap_or(0.0);
    for factor in LIMITS {
        let options = ChooseOptions {
            constraints: format!("fa_per_mchar<={}", own * factor)
                .parse()
                .into_iter()
                .collect(),
            given: true,
            ready: if ready {
                world.ready.clone()
            } else {
                Vec::new()
            },
            worth: world.worth,
            ..ChooseOptions::default()
        };
        let Ok(choices) = choose(&evidence, std::slice::from_ref(&world.own), cell, &options)
        else {
            continue;
        };
        let advice = &choices.advice;
        let is_better = |of: &deadloop_score::choose::Figures| {
            let gains = of
                .saved
                .zip(advice.in_use.saved)
                .is_some_and(|(new, old)| new - old > 0.01);
            gains && of.wrong < advice.in_use.wrong
        };
        let better = advice
            .limits
            .iter()
            .any(|rung| rung.at_most <= own * factor && is_better(&rung.held_out));
        climb.dominated += usize::from(advice.verdict == Ruling::Keep && better);
        climb.verdicts.push(match advice.verdict {
            Ruling::Ship => 's',
            Ruling::Keep => 'k',
            Ruling::Collect => 'c',
        });
        climb
            .held_out
            .push(100.0 * advice.file.saved.unwrap_or(0.0));
        if !others.is_empty() {
            climb
                .elsewhere
                .push(points(&world.on_cells(&choices.cells(), others, cell)));
        }
    }
    climb
}

impl TunedDraw {
    /// Returns the largest loss of held-out saved share at a laxer limit.
    fn falls(&self) -> f64 {
        most_fall(&self.held_out)
    }

    /// Returns the largest loss at a laxer limit on the transcripts not drawn.
    fn falls_elsewhere(&self) -> f64 {
        most_fall(&self.elsewhere)
    }

    /// Returns whether any limit loses over two points on the transcripts not drawn.
    fn loses(&self) -> bool {
        self.elsewhere
            .iter()
            .any(|saved| saved - self.in_use < -2.0)
    }
}

fn most_fall(values: &[f64]) -> f64 {
    let mut best = f64::NEG_INFINITY;
    values.iter().fold(0.0, |fall: f64, value| {
        best = best.max(*value);
        fall.max(best - value)
    })
}

impl fmt::Display for OwnGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## A grid of the guard's own\n\n{OWN}\n")?;
        writeln!(
            f,
            "| corpus | ready guards | verdicts | held out | elsewhere | in use | kept though dominated |"
        )?;
        writeln!(f, "|---|---|---|---|---|---:|---:|")?;
        let list = |values: &[f64]| {
            let ends: Vec<String> = values
                .first()
                .into_iter()
                .chain(values.last())
                .map(|x| format!("{x:.1}"))
                .collect();
            ends.join(" to ")
        };
        for climb in &self.0 {
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {:.1} | {} |",
                climb.corpus,
                if climb.ready { "in" } else { "out" },
                climb.verdicts,
                list(&climb.held_out),
                list(&climb.elsewhere),
                climb.in_use,
                climb.dominated
            )?;
        }
        let holds = if self.holds() { "holds" } else { "**fails**" };
        let most = |falls: fn(&TunedDraw) -> f64| self.0.iter().map(falls).fold(0.0, f64::max);
        writeln!(
            f,
            "\nA laxer limit ships at most {:.1} points less held out (0 may be), {:.1} elsewhere (1.5 may be); nobody loses two points; where all of a corpus was drawn no dominated guard is kept: {holds}",
            most(TunedDraw::falls),
            most(TunedDraw::falls_elsewhere)
        )
    }
}

const OWN: &str = "\
`document` is in use, and 384 cells of `checkpoint` are searched at ten limits of 0.5 to 2 times its own rate. *Verdicts*, by rising limits: s ship,
k keep, c collect. *Held out*: what the file saves at the first and at the last limit; *elsewhere*: the same on the transcripts not drawn. *Kept though dominated*:
limits at which `document` is kept while a row within the limit has fewer wrong alarms and saves a point more. On a draw such a row may be luck.";
