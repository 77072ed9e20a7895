//! The Rust half of the npm package `deadloop` as WebAssembly: the classes of `bindings/node/src/lib.rs`, for the same
//! TypeScript, on node. `scripts/bindings --wasm` builds it and runs node's tests over it. What it does is in
//! `deadloop-bindings`; here stands how JavaScript calls it.

use deadloop_bindings::{Decision, Prompted, alarm_json, millis};
use deadloop_detect::{Arguments, Event};
use js_sys::JsString;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

#[wasm_bindgen(module = "node:fs")]
extern "C" {
    /// The text of a file. WebAssembly sees no files; node does.
    #[wasm_bindgen(js_name = readFileSync, catch)]
    fn read_file(path: &str, encoding: &str) -> Result<String, JsValue>;
}

/// The guards of a settings file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Guards(deadloop_bindings::Guards);

#[wasm_bindgen]
impl Guards {
    /// The guards of a settings file, or those that deadloop recommends under that name.
    ///
    /// # Errors
    /// It cannot be read, or is no settings file.
    pub fn load(path: &str) -> Result<Guards, JsError> {
        let text = match (
            read_file(path, "utf8"),
            deadloop_bindings::Guards::shipped(path),
        ) {
            (Ok(text), _) | (Err(_), Some(text)) => text,
            (Err(e), None) => {
                let why = String::from(js_sys::Error::from(e).message());
                return Err(JsError::new(&format!("{path}: {why}")));
            }
        };
        Self::parse(&text, path)
    }

    /// The guards of the settings in a text; `name` is what errors call it.
    ///
    /// # Errors
    /// It is no settings file.
    pub fn parse(toml: &str, name: &str) -> Result<Guards, JsError> {
        Ok(Self(deadloop_bindings::Guards::parse(toml, name)?))
    }

    /// The name of the settings in every report.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id().to_owned()
    }

    /// The same guards for responses that answer this.
    #[must_use]
    pub fn answering(&self, task: String, user: Vec<String>) -> Guards {
        Self(self.0.answering(Prompted { task, user }))
    }

    /// A fresh guard for a request to this model.
    pub fn guard(&self, model: &str) -> Guard {
        Guard(self.0.guard(model).counting_utf16())
    }

    /// A fresh guard for the bytes of a streamed response; without a model the first name that it gives.
    pub fn live(&self, model: Option<String>) -> Live {
        Live(self.0.live(model.as_deref()))
    }

    /// A fresh guard for the chunks of a streamed response; without a model the first name that they give.
    pub fn chunks(&self, model: Option<String>) -> Chunks {
        Chunks(self.0.chunks(model.as_deref()))
    }

    /// Which guards never alarm where nothing but `feeds` comes, each with what it misses.
    ///
    /// # Errors
    /// There is no such kind of events.
    pub fn blind(&self, feeds: Vec<String>, model: &str) -> Result<Vec<String>, JsError> {
        self.0.blind(&feeds, model).map_err(wrong)
    }

    /// Whether some guard never alarms without that.
    ///
    /// # Errors
    /// There is no such kind of events.
    pub fn reads(&self, feed: &str, model: &str) -> Result<bool, JsError> {
        self.0.reads(feed, model).map_err(wrong)
    }
}

#[allow(clippy::needless_pass_by_value)] // for map_err
fn wrong(what: String) -> JsError {
    JsError::new(&what)
}

/// The guard of one stream.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Guard(deadloop_bindings::Guard);

impl Guard {
    fn event(&mut self, event: &Event<'_>) -> JsValue {
        let decision = self.0.event(event);
        or_null(self.0.told(&decision))
    }
}

// Each method gives a decision as JSON, or null where all goes on.
#[wasm_bindgen]
impl Guard {
    /// Takes the next chunk of a channel, by its place in reasoning, answer, arguments. The units of the string come one by
    /// one: as a string of Rust, halves of pairs would be lost.
    pub fn push(&mut self, channel: u32, text: &JsString) -> JsValue {
        let units: Vec<u16> = text.iter().collect();
        let decision = self.0.push_utf16(channel as usize, &units);
        or_null(self.0.told(&decision))
    }

    /// Takes a call of a tool, before it is run.
    pub fn call(&mut self, name: &str, arguments: &str, id: Option<String>) -> JsValue {
        let (id, arguments) = (id.as_deref(), Arguments::Raw(arguments));
        self.event(&Event::Call {
            id,
            name,
            arguments,
        })
    }

    /// Takes the result of a call.
    pub fn result(&mut self, id: Option<String>, content: &str, error: Option<bool>) -> JsValue {
        let (id, cut) = (id.as_deref(), None);
        self.event(&Event::Result {
            id,
            content,
            error,
            cut,
        })
    }

    /// A turn begins.
    pub fn turn(&mut self, agent: Option<String>) -> JsValue {
        let agent = agent.as_deref();
        self.event(&Event::Turn { agent })
    }

    /// A message of the user.
    pub fn user(&mut self, text: &str) -> JsValue {
        self.event(&Event::User(text))
    }

    /// An agent chose the next one.
    pub fn handoff(&mut self, from: &str, to: &str) -> JsValue {
        self.event(&Event::Handoff { from, to })
    }

    /// Nothing has come for so long.
    ///
    /// # Errors
    /// The seconds are no number from 0 on.
    pub fn silence(&mut self, seconds: f64) -> Result<JsValue, JsError> {
        let millis = millis(seconds).map_err(wrong)?;
        Ok(self.event(&Event::Silence(millis)))
    }

    /// The response or the run has ended.
    pub fn finish(&mut self, reason: Option<String>) -> JsValue {
        self.event(&Event::Finish(reason.as_deref()))
    }

    /// The connection is gone.
    pub fn closed(&mut self) -> JsValue {
        self.event(&Event::Closed)
    }

    /// Why it has stopped the stream, as JSON, once it has; else null.
    #[wasm_bindgen(getter)]
    pub fn alarm(&self) -> JsValue {
        or_null(self.0.alarm().map(|alarm| self.0.alarm_json(alarm)))
    }

    /// A guard for the next request, which knows nothing of what this one has read.
    pub fn fresh(&self) -> Guard {
        Self(self.0.fresh())
    }
}

/// The guard of the bytes of one streamed response.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Live(deadloop_bindings::Live);

#[wasm_bindgen]
impl Live {
    /// Takes the next bytes; how many of them may be passed on.
    pub fn feed(&mut self, chunk: &[u8]) -> u32 {
        u32::try_from(self.0.feed(chunk)).unwrap_or(u32::MAX)
    }

    /// Nothing has come for so long.
    ///
    /// # Errors
    /// The seconds are no number from 0 on.
    pub fn silence(&mut self, seconds: f64) -> Result<(), JsError> {
        self.0.silence(millis(seconds).map_err(wrong)?);
        Ok(())
    }

    /// The response is over: what was held back is judged too.
    pub fn end(&mut self) {
        self.0.end();
    }

    /// Why the response has to be cut, as JSON, once it has; else null.
    #[wasm_bindgen(getter)]
    pub fn alarm(&self) -> JsValue {
        or_null(self.0.alarm().map(alarm_json))
    }

    /// Takes what only warned or observed and was not asked for yet, each as JSON.
    pub fn warnings(&mut self) -> Vec<String> {
        self.0.warnings().iter().map(alarm_json).collect()
    }

    /// Takes what refused a call and was not asked for yet, each as JSON.
    pub fn refusals(&mut self) -> Vec<String> {
        self.0.refusals().iter().map(alarm_json).collect()
    }

    /// What ends a response that is cut here, in the words of its API.
    #[wasm_bindgen(getter)]
    pub fn ending(&self) -> Vec<u8> {
        self.0.ending()
    }
}

/// The guard of the chunks of one streamed response.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Chunks(deadloop_bindings::Chunks);

// Each method gives decisions as JSON: what there is to do or to tell, mostly nothing.
#[wasm_bindgen]
impl Chunks {
    /// Takes the next chunk.
    pub fn feed(&mut self, chunk: &str) -> Vec<String> {
        told(&self.0.feed(chunk))
    }

    /// Takes a piece of plain text.
    pub fn text(&mut self, text: &JsString) -> Vec<String> {
        let units: Vec<u16> = text.iter().collect();
        told(&self.0.text_utf16(&units))
    }

    /// Nothing has come for so long.
    ///
    /// # Errors
    /// The seconds are no number from 0 on.
    pub fn silence(&mut self, seconds: f64) -> Result<Vec<String>, JsError> {
        Ok(told(&self.0.silence(millis(seconds).map_err(wrong)?)))
    }

    /// The response is over.
    pub fn end(&mut self) -> Vec<String> {
        told(&self.0.end())
    }
}

fn told(decisions: &[Decision]) -> Vec<String> {
    decisions.iter().map(Decision::json).collect()
}

/// A text, or null.
fn or_null(text: Option<String>) -> JsValue {
    text.map_or(JsValue::NULL, JsValue::from)
}
