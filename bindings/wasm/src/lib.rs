//! The Rust half of the npm package `deadloop` as WebAssembly: the classes of `bindings/node/src/lib.rs`, for the same
//! TypeScript, on node. `scripts/bindings --wasm` builds it and runs node's tests over it.

use deadloop_bindings::{Lane, alarm_json};
use deadloop_detect::Channel;
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
    /// The guard that deadloop recommends, on every model.
    ///
    /// # Errors
    /// Never; the settings are a constant that every test reads.
    pub fn recommended() -> Result<Guards, JsError> {
        Ok(Self(deadloop_bindings::Guards::recommended()?))
    }

    /// The guards of a settings file.
    ///
    /// # Errors
    /// It cannot be read, or is no settings file.
    pub fn load(path: &str) -> Result<Guards, JsError> {
        let text = read_file(path, "utf8").map_err(|e| {
            let why = js_sys::Error::from(e).message();
            JsError::new(&format!("{path}: {}", String::from(why)))
        })?;
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

    /// A fresh guard for a request to this model.
    pub fn guard(&self, model: &str) -> Guard {
        Guard::of(self.0.guard(model))
    }

    /// A fresh guard for the bytes of a streamed response; without a model the name that it gives.
    pub fn live(&self, model: Option<String>) -> Live {
        Live(self.0.live(model.as_deref()))
    }
}

/// The guard of one stream.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Guard {
    guard: deadloop_detect::Guard,
    lanes: [Lane; Channel::LANES.len()],
}

impl Guard {
    fn of(guard: deadloop_detect::Guard) -> Self {
        Self {
            guard,
            lanes: Default::default(),
        }
    }
}

#[wasm_bindgen]
impl Guard {
    /// Takes the next chunk of a channel, by its place in reasoning, answer, arguments; at the alarm its JSON, else
    /// null. The units of the string come one by one: as a string of Rust, halves of pairs would be lost.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn push(&mut self, channel: u32, text: &JsString) -> Result<JsValue, JsError> {
        let at = channel as usize;
        let (Some(channel), Some(lane)) = (Channel::LANES.get(at), self.lanes.get_mut(at)) else {
            return Err(JsError::new(&format!("there is no channel {at}")));
        };
        let units: Vec<u16> = text.iter().collect();
        let alarm = self.guard.push_text(*channel, &lane.text(&units));
        Ok(json(alarm.as_ref()))
    }

    /// The position in UTF-16 units of a position in chars of a channel.
    pub fn units(&self, channel: u32, chars: f64) -> f64 {
        let lane = self.lanes.get(channel as usize);
        // Positions are whole and far below 2^53.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        lane.map_or(chars, |lane| lane.units(chars as u64) as f64)
    }

    /// Takes what only warned or observed and was not asked for yet, each as JSON.
    pub fn warnings(&mut self) -> Vec<String> {
        self.guard
            .warnings()
            .map(|alarm| alarm_json(&alarm))
            .collect()
    }

    /// Whether it has alarmed.
    #[wasm_bindgen(getter)]
    pub fn fired(&self) -> bool {
        self.guard.fired()
    }

    /// A guard for the next request, which knows nothing of what this one has read.
    pub fn fresh(&self) -> Guard {
        Self::of(self.guard.fresh())
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

    /// The response is over: what was held back is judged too.
    pub fn end(&mut self) {
        self.0.end();
    }

    /// Why the response has to be cut, as JSON, once it has; else null.
    #[wasm_bindgen(getter)]
    pub fn alarm(&self) -> JsValue {
        json(self.0.alarm())
    }

    /// Takes what only warned or observed and was not asked for yet, each as JSON.
    pub fn warnings(&mut self) -> Vec<String> {
        self.0.warnings().iter().map(alarm_json).collect()
    }

    /// What ends a response that is cut here, in the words of its API.
    #[wasm_bindgen(getter)]
    pub fn ending(&self) -> Vec<u8> {
        self.0.ending()
    }
}

/// An alarm as JSON, or null.
fn json(alarm: Option<&deadloop_detect::Alarm>) -> JsValue {
    alarm.map_or(JsValue::NULL, |alarm| alarm_json(alarm).into())
}
