//! Sums by box as columns, and back; and the scores that are painted from them.

use deadloop_replay::Plan;
use deadloop_score::{BoxKey, BoxPlace, BoxSum, Boxes, Count, LatencySheet, Sheet, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The quantiles of the latency, as scores.parquet calls them.
const QUANTILES: [&str; 2] = ["latency_p50", "latency_p90"];

/// `0-3,1-4`: of each axis the first value and one past the last.
fn written((lo, hi): &(Vec<u16>, Vec<u16>)) -> String {
    let ends = lo.iter().zip(hi);
    ends.map(|(lo, hi)| format!("{lo}-{hi}"))
        .collect::<Vec<_>>()
        .join(",")
}

fn read(text: &str) -> Option<(Vec<u16>, Vec<u16>)> {
    let axes = text.split(',').filter(|axis| !axis.is_empty());
    let (mut los, mut his) = (Vec::new(), Vec::new());
    for axis in axes {
        let (lo, hi) = axis.split_once('-')?;
        los.push(lo.parse().ok()?);
        his.push(hi.parse().ok()?);
    }
    Some((los, his))
}

/// The fields of the key, each a column `key0`, `key1`, …
fn keys<'py>(columns: &Bound<'py, PyDict>, rows: &[&BoxKey], count: usize) -> PyResult<()> {
    for i in 0..count {
        let column = rows.iter().map(|key| key.get(i).cloned().flatten());
        let column = PyList::new(columns.py(), column.collect::<Vec<_>>())?;
        columns.set_item(format!("key{i}"), column)?;
    }
    Ok(())
}

/// One list a column.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    boxes: &Boxes,
    count: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let (places, sums): (Vec<&BoxPlace>, Vec<&BoxSum>) = boxes.sums().unzip();
    keys(
        &columns,
        &places.iter().map(|p| &p.key).collect::<Vec<_>>(),
        count,
    )?;
    let blocks: Vec<usize> = places.iter().map(|place| place.block).collect();
    columns.set_item("block", blocks)?;
    let regions = places
        .iter()
        .map(|place| place.region.as_ref().map(written));
    columns.set_item("box", regions.collect::<Vec<_>>())?;
    let latencies: Vec<Option<u64>> = places.iter().map(|place| place.latency).collect();
    columns.set_item("latency", latencies)?;
    let hits: Vec<u32> = sums.iter().map(|sum| sum.hits).collect();
    columns.set_item("n", hits)?;
    for count in Count::ALL {
        let values: Vec<i64> = sums.iter().map(|sum| sum.tally[count]).collect();
        columns.set_item(count.name(), values)?;
    }
    Ok(columns)
}

fn column<'py, T>(columns: &Bound<'py, PyDict>, name: &str) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObjectOwned<'a>,
{
    let missing =
        || PyValueError::new_err(format!("no column {name}; expected what partial gives"));
    let found = columns.get_item(name)?.ok_or_else(missing)?;
    found
        .try_iter()?
        .map(|item| item?.extract().map_err(Into::into))
        .collect()
}

/// The sums in such columns; rows of one place are added.
pub(crate) fn boxes(columns: &Bound<'_, PyDict>, count: usize) -> PyResult<Boxes> {
    let blocks: Vec<usize> = column(columns, "block")?;
    let regions: Vec<Option<String>> = column(columns, "box")?;
    let latencies: Vec<Option<u64>> = column(columns, "latency")?;
    let hits: Vec<u32> = column(columns, "n")?;
    let keys = (0..count).map(|i| column::<Option<String>>(columns, &format!("key{i}")));
    let keys: Vec<Vec<Option<String>>> = keys.collect::<PyResult<_>>()?;
    let counts = Count::ALL.map(|count| column::<i64>(columns, count.name()));
    let counts: Vec<Vec<i64>> = counts.into_iter().collect::<PyResult<_>>()?;
    let mut boxes = Boxes::default();
    for (row, block) in blocks.into_iter().enumerate() {
        let region = regions.get(row).cloned().flatten();
        let bad = || PyValueError::new_err(format!("row {row}: {region:?} is no box"));
        let region = region.as_deref().map(|text| read(text).ok_or_else(bad));
        let mut tally = Tally::default();
        for (count, values) in Count::ALL.into_iter().zip(&counts) {
            tally[count] = values.get(row).copied().unwrap_or(0);
        }
        let place = BoxPlace {
            key: keys
                .iter()
                .map(|key| key.get(row).cloned().flatten())
                .collect(),
            block,
            region: region.transpose()?,
            latency: latencies.get(row).copied().flatten(),
        };
        let hits = hits.get(row).copied().unwrap_or(0);
        boxes.put(place, BoxSum { tally, hits });
    }
    Ok(boxes)
}

/// A row for each key and cell: its setting, its counts, the quantiles of its latency.
pub(crate) fn scores<'py>(
    py: Python<'py>,
    boxes: &Boxes,
    plan: &Plan,
    count: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let blocks = plan.blocks().iter().enumerate();
    let painted: Vec<Vec<(&BoxKey, Sheet, LatencySheet)>> = blocks
        .map(|(i, block)| boxes.painted(i, &block.shape()))
        .collect();
    let mut rows = Vec::new();
    let mut settings = Vec::new();
    let mut tallies = Vec::new();
    let mut quantiles: [Vec<Option<f64>>; 2] = Default::default();
    for cell in 0..plan.cells() {
        let place = plan.cell(cell);
        for (key, sheet, latencies) in painted.get(place.block).into_iter().flatten() {
            rows.push(*key);
            settings.push(plan.id(cell));
            tallies.push(sheet.tally(&place.at));
            let all = latencies.quantiles(&place.at);
            let own = [all.p50, all.p90];
            quantiles
                .iter_mut()
                .zip(own)
                .for_each(|(column, q)| column.push(q));
        }
    }
    let columns = PyDict::new(py);
    keys(&columns, &rows, count)?;
    columns.set_item("setting", settings)?;
    for count in Count::ALL {
        let values: Vec<i64> = tallies.iter().map(|tally| tally[count]).collect();
        columns.set_item(count.name(), values)?;
    }
    for (name, values) in QUANTILES.into_iter().zip(quantiles) {
        columns.set_item(name, values)?;
    }
    Ok(columns)
}
