//! The Rust half of the npm package `deadloop`. Streams, requests and frameworks are TypeScript, in `ts/`,
//! and so are the types that people see. Alarms cross as JSON text.

use std::path::Path;

use deadloop_bindings::{Lane, ReadError, alarm_json};
use deadloop_detect::Channel;
use napi::bindgen_prelude::{Buffer, Utf16String};
use napi::{Error, Result, Status};
use napi_derive::napi;

/// The guards of a settings file.
#[napi]
pub struct Guards(deadloop_bindings::Guards);

#[napi]
impl Guards {
    /// The guard that deadloop recommends, on every model.
    #[napi(factory)]
    pub fn recommended() -> Result<Self> {
        deadloop_bindings::Guards::recommended()
            .map(Self)
            .map_err(error)
    }

    /// The guards of a settings file.
    #[napi(factory)]
    pub fn load(path: String) -> Result<Self> {
        let guards = deadloop_bindings::Guards::load(Path::new(&path));
        guards.map(Self).map_err(error)
    }

    /// The guards of the settings in a text; `name` is what errors call it.
    #[napi(factory)]
    pub fn parse(toml: String, name: String) -> Result<Self> {
        deadloop_bindings::Guards::parse(&toml, &name)
            .map(Self)
            .map_err(error)
    }

    /// The name of the settings in every report.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.0.id().to_owned()
    }

    /// A fresh guard for a request to this model.
    #[napi]
    pub fn guard(&self, model: String) -> Guard {
        Guard::of(self.0.guard(&model))
    }

    /// A fresh guard for the bytes of a streamed response; without a model the name that it gives.
    #[napi]
    pub fn live(&self, model: Option<String>) -> Live {
        Live(self.0.live(model.as_deref()))
    }
}

fn error(error: ReadError) -> Error {
    let status = match error {
        ReadError::File(..) => Status::GenericFailure,
        ReadError::Settings(_) => Status::InvalidArg,
    };
    Error::new(status, error.to_string())
}

/// The guard of one stream.
#[napi]
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

#[napi]
impl Guard {
    /// Takes the next chunk of a channel, by its place in reasoning, answer, arguments; at the alarm its JSON.
    #[napi]
    pub fn push(&mut self, channel: u32, text: Utf16String) -> Result<Option<String>> {
        let at = channel as usize;
        let (Some(channel), Some(lane)) = (Channel::LANES.get(at), self.lanes.get_mut(at)) else {
            return Err(Error::new(
                Status::InvalidArg,
                format!("there is no channel {at}"),
            ));
        };
        let text = lane.text(&text);
        let alarm = self.guard.push_text(*channel, &text);
        Ok(alarm.map(|alarm| alarm_json(&alarm)))
    }

    /// The position in UTF-16 units of a position in chars of a channel.
    #[napi]
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
    #[napi]
    pub fn warnings(&mut self) -> Vec<String> {
        self.guard
            .warnings()
            .map(|alarm| alarm_json(&alarm))
            .collect()
    }

    /// Whether it has alarmed.
    #[napi(getter)]
    pub fn fired(&self) -> bool {
        self.guard.fired()
    }

    /// A guard for the next request, which knows nothing of what this one has read.
    #[napi]
    pub fn fresh(&self) -> Self {
        Self::of(self.guard.fresh())
    }
}

/// The guard of the bytes of one streamed response.
#[napi]
pub struct Live(deadloop_bindings::Live);

#[napi]
impl Live {
    /// Takes the next bytes; how many of them may be passed on.
    #[napi]
    pub fn feed(&mut self, chunk: &[u8]) -> u32 {
        u32::try_from(self.0.feed(chunk)).unwrap_or(u32::MAX)
    }

    /// The response is over: what was held back is judged too.
    #[napi]
    pub fn end(&mut self) {
        self.0.end();
    }

    /// Why the response has to be cut, as JSON, once it has.
    #[napi(getter)]
    pub fn alarm(&self) -> Option<String> {
        self.0.alarm().map(alarm_json)
    }

    /// Takes what only warned or observed and was not asked for yet, each as JSON.
    #[napi]
    pub fn warnings(&mut self) -> Vec<String> {
        self.0.warnings().iter().map(alarm_json).collect()
    }

    /// What ends a response that is cut here, in the words of its API.
    #[napi(getter)]
    pub fn ending(&self) -> Buffer {
        self.0.ending().into()
    }
}
