//! What the sliders of the page need, as JSON for a script element that is never executed: `templates/board-data.js`
//! reads it back.
//!
//! Bounded: models and blocks past the budgets are left out and counted.

mod families;
mod pack;

use crate::data::{
    Board, Counted, PackedColumn, ReportData, Role, RunInfo, embedded_counts, varint,
};
use deadloop_score::choose::Rung;
use deadloop_score::{Count, Metric, PoissonCache, RegionBlock, Worth};
use families::{Family, Param, families};
pub(crate) use pack::packed;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes of packed counts in the page.
const COUNTS: usize = 4_500_000;
/// How many cells have their ids in the page.
const IDS: usize = 30_000;
/// Bytes of packed boxes in the page.
const BOXES: usize = 2_500_000;

#[derive(Serialize)]
struct Embedded<'d> {
    params: Vec<Param<'d>>,
    families: Vec<Family>,
    /// Numbers in the plan, where they are not 0, 1, 2, …
    plan: Option<String>,
    cells: usize,
    /// The ids of the cells, of 12 digits each, packed; `None` where they are too many for a page.
    ids: Option<String>,
    models: Vec<Model<'d>>,
    /// Models without counts.
    left_out: usize,
    /// Parameters and the values that were left out.
    thinned: Vec<(&'d str, &'d [String])>,
    /// Bounds of the exact Poisson interval by count.
    poisson: BTreeMap<u64, [f64; 2]>,
    bases: Vec<Base>,
    limit: Option<f64>,
    /// The rate of wrong alarms: its column, and what an axis calls it.
    rate: (&'static str, &'static str),
    /// The measure that settings are chosen by.
    objective: &'static str,
    /// What a limit costs.
    limits: Vec<Limited<'d>>,
    /// The names of the counts that each model has, in their order.
    counted: Vec<&'static str>,
    /// Those that loops are the sum of.
    loops: [&'static str; Count::LOOPS.len()],
    /// The measures that are computed from them.
    measures: Vec<serde_json::Value>,
    worth: &'d Worth,
    regions: Boxes<'d>,
}

#[derive(Serialize)]
struct Model<'d> {
    name: &'d str,
    counts: String,
}

/// A setting to compare with.
#[derive(Serialize)]
struct Base {
    name: String,
    cell: usize,
    /// As a settings file, where the columns say all of it.
    toml: Option<String>,
}

/// A row of what a limit costs whose setting is a cell of the page.
#[derive(Serialize)]
struct Limited<'d> {
    cell: usize,
    #[serde(flatten)]
    rung: &'d Rung,
}

#[derive(Serialize)]
struct Boxes<'d> {
    verdicts: Vec<&'static str>,
    /// Ids, models, verdicts without an alarm and onsets, packed.
    transcripts: String,
    blocks: Vec<BoxBlock<'d>>,
    left_out: usize,
}

#[derive(Serialize)]
struct BoxBlock<'d> {
    first: usize,
    cells: usize,
    shape: &'d [usize],
    possible: Option<String>,
    boxes: Option<String>,
}

/// The JSON, without a `<` in it; `None` where there is nothing to move.
pub(crate) fn embedded(data: &ReportData) -> std::io::Result<Option<String>> {
    let Some(board) = data.board.as_ref().filter(|board| board.grid > 1) else {
        return Ok(None);
    };
    let mut params: Vec<Param<'_>> = data
        .parameters
        .iter()
        .map(|name| Param {
            name,
            values: Vec::new(),
            text: data.is_text(name),
        })
        .collect();
    let families = families(data, board, &mut params)?;
    let (models, out) = models(board)?;
    let mut cache = PoissonCache::default();
    let events = board.models.iter().flat_map(|counted| &counted.events);
    let poisson = events.map(|n| {
        let bounds = cache.get(*n);
        (*n, [bounds.lo, bounds.hi])
    });
    let numbers: Vec<usize> = board.cells.iter().map(|cell| cell.0).collect();
    let whole = numbers.iter().enumerate().all(|(at, number)| at == *number);
    let embedded = Embedded {
        ids: ids(data, board)?,
        plan: if whole { None } else { Some(column(numbers)?) },
        cells: board.cells.len(),
        left_out: board.left_out + out,
        thinned: board
            .thinned
            .iter()
            .map(|(p, v)| (p.as_str(), v.as_slice()))
            .collect(),
        poisson: poisson.collect(),
        bases: bases(data, board),
        limit: data.run.limit,
        rate: (data.run.wrong().name, data.run.wrong_name(false)),
        objective: data.run.objective.0.name,
        limits: limits(data, board),
        counted: embedded_counts().into_iter().map(Count::name).collect(),
        loops: Count::LOOPS.map(Count::name),
        measures: measures(&data.run)?,
        worth: &data.run.worth,
        regions: boxes(data, board)?,
        params,
        families,
        models,
    };
    let json = serde_json::to_string(&embedded)?;
    Ok(Some(json.replace('<', "\\u003c")))
}

/// The measures beside the sliders, called as they are in the run's unit.
fn measures(run: &RunInfo) -> serde_json::Result<Vec<serde_json::Value>> {
    let one = |measure: Metric| {
        let mut json = serde_json::to_value(measure)?;
        json["title"] = measure.title_in(run.unit).into();
        json["about"] = run.told(measure.about).into();
        Ok(json)
    };
    run.on_board().into_iter().map(one).collect()
}

fn column(values: impl IntoIterator<Item = usize>) -> std::io::Result<String> {
    let mut column = PackedColumn::default();
    values
        .into_iter()
        .for_each(|value| column.push(value as i64));
    packed(column.bytes())
}

/// The ids of the cells, one behind the other.
fn ids(data: &ReportData, board: &Board) -> std::io::Result<Option<String>> {
    let ids = board.cells.iter().map(|cell| &data.settings[cell.1].id);
    let fits = board.cells.len() <= IDS && ids.clone().all(|id| id.len() == 12);
    fits.then(|| {
        packed(
            ids.flat_map(|id| id.bytes())
                .collect::<Vec<u8>>()
                .as_slice(),
        )
    })
    .transpose()
}

/// The counts of as many models as the page has room for, and how many models are left out.
fn models(board: &Board) -> std::io::Result<(Vec<Model<'_>>, usize)> {
    let mut room = COUNTS;
    let mut models = Vec::new();
    for Counted { model, columns, .. } in &board.models {
        let mut bytes = Vec::new();
        columns
            .iter()
            .for_each(|column| bytes.extend(column.bytes()));
        let counts = packed(&bytes)?;
        // All models together are always there.
        if counts.len() > room && !models.is_empty() {
            break;
        }
        room = room.saturating_sub(counts.len());
        models.push(Model {
            name: model,
            counts,
        });
    }
    let out = board.models.len() - models.len();
    Ok((models, out))
}

/// The chosen or best setting, then the one in use and named ones.
fn bases(data: &ReportData, board: &Board) -> Vec<Base> {
    let cell = |setting: usize| board.cells.iter().position(|(_, at)| *at == setting);
    let base = |name: String, setting: usize| {
        Some(Base {
            name,
            cell: cell(setting)?,
            toml: data.toml(setting),
        })
    };
    let chosen = data.chosen().and_then(|at| base("chosen".into(), at));
    let best = data
        .best()
        .filter(|at| data.settings[*at].role == Role::Cell);
    let best = best.and_then(|at| base("best in-sample".into(), at));
    let with_role = |role: Role| {
        let all = data.settings.iter().enumerate();
        all.filter(move |(_, setting)| setting.role == role)
    };
    let current = with_role(Role::InUse).filter_map(|(at, _)| base(data.describe(at), at));
    let named = with_role(Role::Named).filter_map(|(at, _)| base(data.describe(at), at));
    let first = chosen.or(best).into_iter();
    first.chain(current).chain(named).collect()
}

/// The rows of what a limit costs, as far as their settings are here.
fn limits<'d>(data: &'d ReportData, board: &Board) -> Vec<Limited<'d>> {
    let all = data.advice.iter().flat_map(|advice| &advice.limits);
    let cell = |rung: &Rung| {
        let mut cells = board.cells.iter();
        cells.position(|(_, at)| data.settings[*at].id == rung.setting)
    };
    let limited = |rung| {
        let cell = cell(rung)?;
        Some(Limited { cell, rung })
    };
    all.filter_map(limited).collect()
}

/// Boxes of the blocks that settings with a name are in, then of the others, while there is room.
fn boxes<'d>(data: &ReportData, board: &'d Board) -> std::io::Result<Boxes<'d>> {
    let regions = &board.regions;
    let holds = |block: &RegionBlock, number: usize| {
        (block.first..block.first + block.cells).contains(&number)
    };
    let marked: Vec<usize> = bases(data, board)
        .iter()
        .map(|base| board.cells[base.cell].0)
        .collect();
    let mut order: Vec<usize> = (0..regions.blocks.len()).collect();
    order.sort_by_key(|at| {
        !marked
            .iter()
            .any(|number| holds(&regions.blocks[*at], *number))
    });
    let mut room = BOXES;
    let mut packs: BTreeMap<usize, String> = BTreeMap::new();
    for at in order {
        let block = &regions.blocks[at];
        let Some(numbers) = &block.boxes else {
            continue;
        };
        let pack = packed(&flat(numbers, block.stride()))?;
        if pack.len() <= room {
            room -= pack.len();
            packs.insert(at, pack);
        }
    }
    let left_out = regions.blocks.len() - packs.len();
    let blocks = regions.blocks.iter().enumerate().map(|(at, block)| {
        Ok(BoxBlock {
            first: block.first,
            cells: block.cells,
            shape: &block.shape,
            possible: block.possible.clone().map(column).transpose()?,
            boxes: packs.remove(&at),
        })
    });
    let blocks = blocks.collect::<std::io::Result<_>>()?;
    let verdicts = regions.head.verdicts.iter().map(|verdict| verdict.name());
    let transcripts: Vec<_> = regions
        .head
        .transcripts
        .iter()
        .map(|t| (&t.id, &t.model, t.quiet.name(), t.onset))
        .collect();
    Ok(Boxes {
        verdicts: verdicts.collect(),
        transcripts: packed(&serde_json::to_vec(&transcripts)?)?,
        blocks,
        left_out,
    })
}

/// Boxes as bytes: the transcript as the step from the one before, the upper ends as sizes.
fn flat(numbers: &[u64], stride: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for one in numbers.chunks_exact(stride) {
        let [transcript, verdict, alarm, along @ ..] = one else {
            continue;
        };
        for n in [transcript.saturating_sub(before), *verdict, *alarm] {
            varint(n, &mut bytes);
        }
        before = *transcript;
        for pair in along.chunks_exact(2) {
            varint(pair[0], &mut bytes);
            varint(pair[1].saturating_sub(pair[0]), &mut bytes);
        }
    }
    bytes
}
