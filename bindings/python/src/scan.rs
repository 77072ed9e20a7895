//! Finished texts through guards, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use deadloop_bindings::{FinishedText, Guards, alarm_json};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::guard::whole;

/// The number of texts that a thread takes at a time.
const SHARE: usize = 16;

/// Reads a row of Python: thinking, answer, model, each a string or none.
pub(crate) fn row(row: &Bound<'_, PyTuple>) -> PyResult<FinishedText> {
    let field = |at: usize| -> PyResult<Option<String>> {
        let value = row.get_item(at)?;
        if value.is_none() {
            Ok(None)
        } else {
            Ok(Some(whole(value.cast::<PyString>()?)?.into_owned()))
        }
    };
    Ok(FinishedText {
        reasoning: field(0)?,
        answer: field(1)?,
        model: field(2)?,
    })
}

/// Returns the first alarm on each text, as JSON.
pub(crate) fn alarms(guards: &Guards, texts: &[FinishedText]) -> Vec<Option<String>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; texts.len()]);
    let work = || {
        loop {
            let from = next.fetch_add(SHARE, Ordering::Relaxed);
            let Some(share) = texts
                .get(from..texts.len().min(from + SHARE))
                .filter(|s| !s.is_empty())
            else {
                return;
            };
            let alarms: Vec<Option<String>> = share
                .iter()
                .map(|text| guards.alarm_of(text).as_ref().map(alarm_json))
                .collect();
            let mut found = found
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            for (at, alarm) in alarms.into_iter().enumerate() {
                found[from + at] = alarm;
            }
        }
    };
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(texts.len().div_ceil(SHARE));
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
