//! `Live`: the bytes of a streamed response through a guard.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::guard::told;

/// The guard of one streamed response.
#[pyclass(module = "deadloop")]
pub(crate) struct Live {
    live: deadloop_bindings::Live,
    alarm: Option<Py<PyAny>>,
}

impl Live {
    pub(crate) fn of(live: deadloop_bindings::Live) -> Self {
        Self { live, alarm: None }
    }

    /// What Python knows of the alarm that there is now.
    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        if let (Some(alarm), None) = (self.live.alarm(), &self.alarm) {
            self.alarm = Some(told(py, alarm)?);
        }
        Ok(())
    }
}

#[pymethods]
impl Live {
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let keep = self.live.feed(chunk);
        self.tell(py)?;
        Ok(PyBytes::new(py, &chunk[..keep]))
    }

    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        self.live.end();
        self.tell(py)
    }

    #[getter]
    fn alarm(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.alarm.as_ref().map(|alarm| alarm.clone_ref(py))
    }

    fn warnings(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let warnings = self.live.warnings();
        warnings.iter().map(|alarm| told(py, alarm)).collect()
    }

    #[getter]
    fn ending<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.live.ending())
    }
}
