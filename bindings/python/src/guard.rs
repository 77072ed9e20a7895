//! `Guards`, `Guard` and `Decision`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deadloop_bindings::{Decision, PromptInfo, ReadError, lane, millis};
use deadloop_detect::{Arguments, Event};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyString, PyTuple, PyType};

use crate::live::{Chunks, Live};
use crate::scan;

/// The minimum number of chars for which a push releases the interpreter lock. For fewer, releasing it would cost more
/// than the push.
pub(crate) const LONG: usize = 4096;

/// The guards of a settings file.
#[pyclass(frozen, subclass, module = "deadloop")]
pub(crate) struct Guards(deadloop_bindings::Guards);

#[pymethods]
impl Guards {
    #[new]
    #[pyo3(signature = (toml, name = "settings"))]
    fn new(toml: &str, name: &str) -> PyResult<Self> {
        let guards = deadloop_bindings::Guards::parse(toml, name);
        Ok(Self(guards.map_err(error)?))
    }

    #[classmethod]
    fn recommended<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
        Self::load(cls, "recommended".into())
    }

    #[classmethod]
    fn load<'py>(cls: &Bound<'py, PyType>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let (text, name) = deadloop_bindings::Guards::text_of(&path).map_err(error)?;
        cls.call1((text, name))
    }

    #[classmethod]
    #[pyo3(signature = (toml, name = "settings"))]
    fn parse<'py>(cls: &Bound<'py, PyType>, toml: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
        cls.call1((toml, name))
    }

    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    #[pyo3(signature = (task = "", user = Vec::new()))]
    fn answering(&self, task: &str, user: Vec<Bound<'_, PyString>>) -> PyResult<Self> {
        let user = user.iter().map(|text| Ok(whole(text)?.into_owned()));
        let asked = PromptInfo {
            task: task.to_owned(),
            user: user.collect::<PyResult<_>>()?,
        };
        Ok(Self(self.0.answering(asked)))
    }

    #[pyo3(signature = (model = ""))]
    fn guard(&self, model: &str) -> Guard {
        Guard(Mutex::new(self.0.guard(model)))
    }

    #[pyo3(signature = (model = None))]
    fn live(&self, model: Option<&str>) -> Live {
        Live::new(self.0.live(model))
    }

    #[pyo3(signature = (model = None))]
    fn chunks(&self, model: Option<&str>) -> Chunks {
        Chunks::new(self.0.chunks(model))
    }

    #[pyo3(signature = (feeds, model = ""))]
    fn blind(&self, feeds: Vec<String>, model: &str) -> PyResult<Vec<String>> {
        self.0.blind(&feeds, model).map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (feed, model = ""))]
    fn reads(&self, feed: &str, model: &str) -> PyResult<bool> {
        self.0.reads(feed, model).map_err(PyValueError::new_err)
    }

    fn scan(
        &self,
        py: Python<'_>,
        rows: Vec<Bound<'_, PyTuple>>,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let rows = rows.iter().map(scan::row).collect::<PyResult<Vec<_>>>()?;
        let alarms = py.detach(|| scan::alarms(&self.0, &rows));
        let alarms = alarms.into_iter();
        alarms
            .map(|json| json.map(|json| alarm(py, &json)).transpose())
            .collect()
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

/// The guard of one stream. Threads take turns.
#[pyclass(frozen, module = "deadloop")]
pub(crate) struct Guard(Mutex<deadloop_bindings::Guard>);

impl Guard {
    /// Locks the guard. Other threads of Python run until it is free.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, deadloop_bindings::Guard> {
        self.0
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Pushes a long text while other threads of Python run.
    fn long(
        &self,
        py: Python<'_>,
        push: impl FnOnce(&mut deadloop_bindings::Guard) -> Decision + Send,
    ) -> Decision {
        py.detach(|| push(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn event(&self, py: Python<'_>, length: usize, event: &Event<'_>) -> PyResult<Py<PyAny>> {
        let decision = if length < LONG {
            self.lock(py).event(event)
        } else {
            self.long(py, |guard| guard.event(event))
        };
        decided(py, &decision)
    }
}

#[pymethods]
impl Guard {
    fn push(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        channel: &Bound<'_, PyString>,
    ) -> PyResult<Py<PyAny>> {
        let name = channel.to_cow()?;
        let lane = lane(&name, || text.to_cow().unwrap_or_default().into_owned())
            .map_err(PyValueError::new_err)?;
        let decision = match text.to_cow() {
            Ok(text) if text.len() < LONG => self.lock(py).push(lane, &text),
            Ok(text) => self.long(py, |guard| guard.push(lane, &text)),
            // The text has half of a surrogate pair, since JSON may be cut between the two.
            Err(_) => self.lock(py).push_utf16(lane, &units(text)?),
        };
        decided(py, &decision)
    }

    #[pyo3(signature = (name, arguments = None, id = None))]
    fn call(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyString>,
        arguments: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Py<PyAny>> {
        let (name, arguments) = (whole(name)?, written(arguments)?);
        let id = id.map(whole).transpose()?;
        let call = Event::Call {
            id: id.as_deref(),
            name: &name,
            arguments: Arguments::Raw(&arguments),
        };
        self.event(py, arguments.len(), &call)
    }

    #[pyo3(signature = (id, content, error = None))]
    fn result(
        &self,
        py: Python<'_>,
        id: Option<&Bound<'_, PyString>>,
        content: Option<&Bound<'_, PyAny>>,
        error: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let (id, content) = (id.map(whole).transpose()?, written(content)?);
        let result = Event::Result {
            id: id.as_deref(),
            content: &content,
            error,
            cut: None,
        };
        self.event(py, content.len(), &result)
    }

    #[pyo3(signature = (agent = None))]
    fn turn(&self, py: Python<'_>, agent: Option<&Bound<'_, PyString>>) -> PyResult<Py<PyAny>> {
        let agent = agent.map(whole).transpose()?;
        let agent = agent.as_deref();
        self.event(py, 0, &Event::Turn { agent })
    }

    fn user(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        let text = whole(text)?;
        self.event(py, text.len(), &Event::User(&text))
    }

    fn handoff(
        &self,
        py: Python<'_>,
        from_: &Bound<'_, PyString>,
        to: &Bound<'_, PyString>,
    ) -> PyResult<Py<PyAny>> {
        let (from, to) = (whole(from_)?, whole(to)?);
        let (from, to) = (&*from, &*to);
        self.event(py, 0, &Event::Handoff { from, to })
    }

    fn silence(&self, py: Python<'_>, seconds: f64) -> PyResult<Py<PyAny>> {
        let millis = millis(seconds).map_err(PyValueError::new_err)?;
        self.event(py, 0, &Event::Silence(millis))
    }

    #[pyo3(signature = (reason = None))]
    fn finish(&self, py: Python<'_>, reason: Option<&Bound<'_, PyString>>) -> PyResult<Py<PyAny>> {
        let reason = reason.map(whole).transpose()?;
        self.event(py, 0, &Event::Finish(reason.as_deref()))
    }

    fn closed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.event(py, 0, &Event::Closed)
    }

    #[getter]
    fn fired(&self, py: Python<'_>) -> bool {
        self.lock(py).alarm().is_some()
    }

    #[getter]
    fn alarm(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let guard = self.lock(py);
        let json = guard.alarm().map(deadloop_bindings::alarm_json);
        drop(guard);
        json.map(|json| alarm(py, &json)).transpose()
    }

    fn fresh(&self, py: Python<'_>) -> Self {
        Self(Mutex::new(self.lock(py).fresh()))
    }

    fn __repr__(&self, py: Python<'_>) -> &'static str {
        if self.fired(py) {
            "Guard(fired=True)"
        } else {
            "Guard(fired=False)"
        }
    }
}

/// Returns a string in units of UTF-16, which may contain halves of pairs.
fn units(text: &Bound<'_, PyString>) -> PyResult<Vec<u16>> {
    let bytes: Vec<u8> = text
        .call_method1("encode", ("utf-16-le", "surrogatepass"))?
        .extract()?;
    let pairs = bytes.chunks_exact(2);
    Ok(pairs
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect())
}

/// Returns a whole string. Half a pair in it becomes U+FFFD.
pub(crate) fn whole<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    match text.to_cow() {
        Ok(text) => Ok(text),
        Err(_) => Ok(String::from_utf16_lossy(&units(text)?).into()),
    }
}

/// Returns a tool's arguments or result as text: a text itself, another value as JSON, no value as an empty text.
fn written(value: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(value) = value else {
        return Ok(String::new());
    };
    match value.cast::<PyString>() {
        Ok(text) => Ok(whole(text)?.into_owned()),
        Err(_) => {
            let text = value
                .py()
                .import("deadloop._json")?
                .call_method1("text", (value,))?;
            Ok(whole(text.cast::<PyString>()?)?.into_owned())
        }
    }
}

/// Returns a decision as `deadloop.Decision`. The decision to continue is always the same object.
pub(crate) fn decided(py: Python<'_>, decision: &Decision) -> PyResult<Py<PyAny>> {
    static CONTINUE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module = || py.import("deadloop._alarm");
    if decision.is_quiet() {
        let quiet = CONTINUE.get_or_try_init(py, || {
            Ok::<_, PyErr>(module()?.getattr("CONTINUE")?.unbind())
        })?;
        return Ok(quiet.clone_ref(py));
    }
    let told = |found: &deadloop_detect::Alarm| alarm(py, &deadloop_bindings::alarm_json(found));
    let why = decision.alarm.as_deref().map(told).transpose()?;
    let warnings = decision
        .warnings
        .iter()
        .map(told)
        .collect::<PyResult<Vec<_>>>()?;
    let warnings = PyTuple::new(py, warnings)?;
    let class = module()?.getattr("Decision")?;
    Ok(class
        .call1((decision.action.name(), why, warnings))?
        .unbind())
}

/// Returns an alarm as `deadloop.Alarm`, made from its JSON.
pub(crate) fn alarm(py: Python<'_>, json: &str) -> PyResult<Py<PyAny>> {
    let class = py.import("deadloop._alarm")?.getattr("Alarm")?;
    Ok(class.call_method1("of_json", (json,))?.unbind())
}
