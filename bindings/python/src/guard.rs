//! `Guards` and `Guard`.

use std::path::PathBuf;

use deadloop_bindings::{Lane, ReadError, alarm_json, channel};
use deadloop_detect::{Channel, Event};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::live::Live;

/// Chars from which on a push lets other threads of Python run: for less it costs more than the push.
const LONG: usize = 4096;

/// The guards of a settings file.
#[pyclass(frozen, module = "deadloop")]
pub(crate) struct Guards(deadloop_bindings::Guards);

#[pymethods]
impl Guards {
    #[staticmethod]
    fn recommended() -> PyResult<Self> {
        Ok(Self(
            deadloop_bindings::Guards::recommended().map_err(error)?,
        ))
    }

    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Ok(Self(deadloop_bindings::Guards::load(&path).map_err(error)?))
    }

    #[staticmethod]
    #[pyo3(signature = (toml, name = "settings"))]
    fn parse(toml: &str, name: &str) -> PyResult<Self> {
        Ok(Self(
            deadloop_bindings::Guards::parse(toml, name).map_err(error)?,
        ))
    }

    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    #[pyo3(signature = (model = ""))]
    fn guard(&self, model: &str) -> Guard {
        Guard::of(self.0.guard(model))
    }

    #[pyo3(signature = (model = None))]
    fn live(&self, model: Option<&str>) -> Live {
        Live::of(self.0.live(model))
    }

    fn __repr__(&self) -> String {
        format!("Guards(id={:?})", self.0.id())
    }
}

fn error(error: ReadError) -> PyErr {
    match error {
        ReadError::File(name, e) => PyOSError::new_err((e.raw_os_error(), e.to_string(), name)),
        ReadError::Settings(what) => PyValueError::new_err(what),
    }
}

/// The guard of one stream.
#[pyclass(module = "deadloop")]
pub(crate) struct Guard {
    guard: deadloop_detect::Guard,
    alarm: Option<Py<PyAny>>,
    /// For each channel of text, halves of surrogate pairs that JSON cut.
    lanes: [Option<Lane>; Channel::LANES.len()],
}

impl Guard {
    fn of(guard: deadloop_detect::Guard) -> Self {
        Self {
            guard,
            alarm: None,
            lanes: Default::default(),
        }
    }

    /// A chunk as text: of a channel in which a half of a pair came, all is read as UTF-16.
    fn text(&mut self, channel: Channel, chunk: &Bound<'_, PyString>) -> PyResult<Option<String>> {
        let at = Channel::LANES.iter().position(|lane| *lane == channel);
        let Some(lane) = at.and_then(|at| self.lanes.get_mut(at)) else {
            return Ok(None);
        };
        if lane.is_none() && chunk.to_cow().is_ok() {
            return Ok(None);
        }
        let bytes = chunk.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
        let bytes: Vec<u8> = bytes.extract()?;
        let units = bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let units: Vec<u16> = units.collect();
        Ok(Some(lane.get_or_insert_default().text(&units)))
    }
}

#[pymethods]
impl Guard {
    fn push(
        &mut self,
        py: Python<'_>,
        channel: &str,
        text: &Bound<'_, PyString>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let channel = lane(channel)?;
        let alarm = match self.text(channel, text)? {
            Some(text) => self.guard.push(&Event::Text(channel, &text)),
            None => {
                let text = text.to_cow()?;
                let guard = &mut self.guard;
                match text.len() < LONG {
                    true => guard.push(&Event::Text(channel, &text)),
                    false => py.detach(|| guard.push(&Event::Text(channel, &text))),
                }
            }
        };
        let Some(alarm) = alarm else { return Ok(None) };
        let alarm = told(py, &alarm)?;
        self.alarm = Some(alarm.clone_ref(py));
        Ok(Some(alarm))
    }

    #[getter]
    fn fired(&self) -> bool {
        self.guard.fired()
    }

    #[getter]
    fn alarm(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.alarm.as_ref().map(|alarm| alarm.clone_ref(py))
    }

    fn warnings(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.guard
            .warnings()
            .map(|alarm| told(py, &alarm))
            .collect()
    }

    fn fresh(&self) -> Self {
        Self::of(self.guard.fresh())
    }

    fn __repr__(&self) -> String {
        format!(
            "Guard(fired={})",
            if self.guard.fired() { "True" } else { "False" }
        )
    }
}

fn lane(name: &str) -> PyResult<Channel> {
    channel(name).map_err(PyValueError::new_err)
}

/// An alarm as Python has it: `deadloop.Alarm`, made of its JSON.
pub(crate) fn told(py: Python<'_>, alarm: &deadloop_detect::Alarm) -> PyResult<Py<PyAny>> {
    let class = py.import("deadloop._alarm")?.getattr("Alarm")?;
    Ok(class
        .call_method1("of_json", (alarm_json(alarm),))?
        .unbind())
}
