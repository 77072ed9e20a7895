//! `Live`: the bytes of a streamed response through a guard. `Chunks`: its chunks, as JSON.

use std::sync::{Mutex, MutexGuard, PoisonError};

use deadloop_bindings::{Decision, alarm_json, millis};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

use crate::guard::{LONG, alarm, decided, whole};

/// The guard of one streamed response. Threads take turns.
#[pyclass(frozen, module = "deadloop")]
pub(crate) struct Live(Mutex<deadloop_bindings::Live>);

impl Live {
    pub(crate) fn new(live: deadloop_bindings::Live) -> Self {
        Self(Mutex::new(live))
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, deadloop_bindings::Live> {
        let live = self.0.lock_py_attached(py);
        live.unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self, py: Python<'_>, take: AlarmGetter) -> PyResult<Vec<Py<PyAny>>> {
        let alarms = take(&mut self.lock(py));
        alarms
            .iter()
            .map(|found| alarm(py, &alarm_json(found)))
            .collect()
    }
}

type AlarmGetter = fn(&mut deadloop_bindings::Live) -> Vec<deadloop_detect::Alarm>;

#[pymethods]
impl Live {
    fn feed<'py>(
        &self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let chunk = match chunk.cast::<PyBytes>() {
            Ok(bytes) => bytes.clone(),
            // Other buffers are copied, since another thread may change them.
            Err(_) => PyMemoryView::from(chunk)?
                .call_method0("tobytes")?
                .cast_into()?,
        };
        let bytes = chunk.as_bytes();
        let keep = if bytes.len() < LONG {
            self.lock(py).feed(bytes)
        } else {
            py.detach(|| {
                let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                live.feed(bytes)
            })
        };
        Ok(if keep == bytes.len() {
            chunk
        } else {
            PyBytes::new(py, &bytes[..keep])
        })
    }

    fn silence(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let millis = millis(seconds).map_err(PyValueError::new_err)?;
        self.lock(py).silence(millis);
        Ok(())
    }

    fn end(&self, py: Python<'_>) {
        self.lock(py).end();
    }

    #[getter]
    fn alarm(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let json = self.lock(py).alarm().map(alarm_json);
        json.map(|json| alarm(py, &json)).transpose()
    }

    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.taken(py, deadloop_bindings::Live::warnings)
    }

    fn refusals(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.taken(py, deadloop_bindings::Live::refusals)
    }

    #[getter]
    fn ending<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock(py).ending())
    }
}

/// The guard of the chunks of one streamed response. Threads take turns.
#[pyclass(frozen, module = "deadloop")]
pub(crate) struct Chunks(Mutex<deadloop_bindings::Chunks>);

impl Chunks {
    pub(crate) fn new(chunks: deadloop_bindings::Chunks) -> Self {
        Self(Mutex::new(chunks))
    }

    /// Returns the decisions that need an action or a report. Long texts are read while other threads of Python run.
    fn decide(
        &self,
        py: Python<'_>,
        length: usize,
        take: impl FnOnce(&mut deadloop_bindings::Chunks) -> Vec<Decision> + Send,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let decisions = if length < LONG {
            take(
                &mut self
                    .0
                    .lock_py_attached(py)
                    .unwrap_or_else(PoisonError::into_inner),
            )
        } else {
            py.detach(|| take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
        };
        decisions
            .iter()
            .map(|decision| decided(py, decision))
            .collect()
    }
}

#[pymethods]
impl Chunks {
    fn feed(&self, py: Python<'_>, chunk: &Bound<'_, PyString>) -> PyResult<Vec<Py<PyAny>>> {
        let chunk = whole(chunk)?;
        self.decide(py, chunk.len(), |chunks| chunks.feed(&chunk))
    }

    fn text(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<Py<PyAny>>> {
        let text = whole(text)?;
        self.decide(py, text.len(), |chunks| chunks.text(&text))
    }

    fn silence(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<Py<PyAny>>> {
        let millis = millis(seconds).map_err(PyValueError::new_err)?;
        self.decide(py, 0, |chunks| chunks.silence(millis))
    }

    fn end(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.decide(py, 0, deadloop_bindings::Chunks::end)
    }
}
