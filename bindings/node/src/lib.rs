//! The Rust half of the npm package `deadloop`: calls from node to `deadloop-bindings`.
//!
//! Streams, requests, frameworks and the public types are TypeScript, in `ts/`. Alarms and decisions are passed as JSON
//! text.

use std::path::Path;

use deadloop_bindings::{Decision, PromptInfo, ReadError, alarm_json, millis};
use deadloop_detect::{Arguments, Event};
use napi::bindgen_prelude::{Buffer, ObjectFinalize, Utf16String};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;

/// The size of the recommended guard, in bytes. It is reported to V8, whose garbage collector does not see this memory.
const HELD: i64 = 180_000;

/// The guards of a settings file.
#[napi]
pub struct Guards(deadloop_bindings::Guards);

#[napi]
impl Guards {
    /// Loads the guards of a settings file, or the shipped ones with that name.
    #[napi(factory)]
    pub fn load(path: String) -> Result<Self> {
        let guards = deadloop_bindings::Guards::load(Path::new(&path));
        guards.map(Self).map_err(error)
    }

    /// Compiles the guards of the settings in a text. Errors call the text `name`.
    #[napi(factory)]
    pub fn parse(toml: String, name: String) -> Result<Self> {
        let guards = deadloop_bindings::Guards::parse(&toml, &name);
        guards.map(Self).map_err(error)
    }

    /// Returns the name of the settings in every report.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.0.id().to_owned()
    }

    /// Returns guards for responses to this prompt.
    #[napi]
    pub fn answering(&self, task: String, user: Vec<String>) -> Self {
        Self(self.0.answering(PromptInfo { task, user }))
    }

    /// Returns a fresh guard for a request to this model.
    #[napi]
    pub fn guard(&self, env: Env, model: String) -> Result<Guard> {
        held(env, 1)?;
        Ok(Guard(self.0.guard(&model).counting_utf16()))
    }

    /// Returns a fresh guard for the bytes of a streamed response. Without a model, the first name in them counts.
    #[napi]
    pub fn live(&self, env: Env, model: Option<String>) -> Result<Live> {
        held(env, 1)?;
        Ok(Live(self.0.live(model.as_deref())))
    }

    /// Returns a fresh guard for the chunks of a streamed response. Without a model, the first name in them counts.
    #[napi]
    pub fn chunks(&self, env: Env, model: Option<String>) -> Result<Chunks> {
        held(env, 1)?;
        Ok(Chunks(self.0.chunks(model.as_deref())))
    }

    /// Returns the guards that never alarm on `feeds` alone, each with the feed that it misses.
    #[napi]
    pub fn blind(&self, feeds: Vec<String>, model: String) -> Result<Vec<String>> {
        self.0.blind(&feeds, &model).map_err(wrong)
    }

    /// Returns whether some guard never alarms without that feed.
    #[napi]
    pub fn reads(&self, feed: String, model: String) -> Result<bool> {
        self.0.reads(&feed, &model).map_err(wrong)
    }
}

fn error(error: ReadError) -> Error {
    let status = match error {
        ReadError::File(..) => Status::GenericFailure,
        ReadError::Settings(_) => Status::InvalidArg,
    };
    Error::new(status, error.to_string())
}

fn wrong(what: String) -> Error {
    Error::new(Status::InvalidArg, what)
}

/// Reports guards that come or go to V8.
fn held(env: Env, guards: i64) -> Result<()> {
    env.adjust_external_memory(guards * HELD)?;
    Ok(())
}

/// The guard of one stream.
#[napi(custom_finalize)]
pub struct Guard(deadloop_bindings::Guard);

impl ObjectFinalize for Guard {
    fn finalize(self, env: Env) -> Result<()> {
        held(env, -1)
    }
}

impl Guard {
    fn event(&mut self, event: &Event<'_>) -> Option<String> {
        let decision = self.0.event(event);
        self.0.report(&decision)
    }
}

// Each method gives a decision as JSON, or nothing where all goes on.
#[napi]
impl Guard {
    /// Takes the next chunk of a channel, by its place in reasoning, answer, arguments.
    #[napi]
    pub fn push(&mut self, channel: u32, text: Utf16String) -> Option<String> {
        let decision = self.0.push_utf16(channel as usize, &text);
        self.0.report(&decision)
    }

    /// Takes a call of a tool, before it is run.
    #[napi]
    pub fn call(&mut self, name: String, arguments: String, id: Option<String>) -> Option<String> {
        let (id, arguments) = (id.as_deref(), Arguments::Raw(&arguments));
        let name = &name;
        self.event(&Event::Call {
            id,
            name,
            arguments,
        })
    }

    /// Takes the result of a call.
    #[napi]
    pub fn result(
        &mut self,
        id: Option<String>,
        content: String,
        error: Option<bool>,
    ) -> Option<String> {
        let (id, content, cut) = (id.as_deref(), &*content, None);
        self.event(&Event::Result {
            id,
            content,
            error,
            cut,
        })
    }

    /// Takes the start of a turn.
    #[napi]
    pub fn turn(&mut self, agent: Option<String>) -> Option<String> {
        let agent = agent.as_deref();
        self.event(&Event::Turn { agent })
    }

    /// Takes a message of the user.
    #[napi]
    pub fn user(&mut self, text: String) -> Option<String> {
        self.event(&Event::User(&text))
    }

    /// Takes an agent's choice of the next one.
    #[napi]
    pub fn handoff(&mut self, from: String, to: String) -> Option<String> {
        let (from, to) = (&*from, &*to);
        self.event(&Event::Handoff { from, to })
    }

    /// Takes a silence of so many seconds.
    #[napi]
    pub fn silence(&mut self, seconds: f64) -> Result<Option<String>> {
        let millis = millis(seconds).map_err(wrong)?;
        Ok(self.event(&Event::Silence(millis)))
    }

    /// Takes the end of the response or the run.
    #[napi]
    pub fn finish(&mut self, reason: Option<String>) -> Option<String> {
        self.event(&Event::Finish(reason.as_deref()))
    }

    /// Takes the loss of the connection.
    #[napi]
    pub fn closed(&mut self) -> Option<String> {
        self.event(&Event::Closed)
    }

    /// Returns the alarm that has stopped the stream, as JSON, if one has.
    #[napi(getter)]
    pub fn alarm(&self) -> Option<String> {
        self.0.alarm().map(|alarm| self.0.alarm_json(alarm))
    }

    /// Returns a fresh guard for the next request.
    #[napi]
    pub fn fresh(&self, env: Env) -> Result<Self> {
        held(env, 1)?;
        Ok(Self(self.0.fresh()))
    }
}

/// The guard of the bytes of one streamed response.
#[napi(custom_finalize)]
pub struct Live(deadloop_bindings::Live);

impl ObjectFinalize for Live {
    fn finalize(self, env: Env) -> Result<()> {
        held(env, -1)
    }
}

#[napi]
impl Live {
    /// Takes the next bytes. Returns the number of bytes that may be passed on.
    #[napi]
    pub fn feed(&mut self, chunk: &[u8]) -> u32 {
        u32::try_from(self.0.feed(chunk)).unwrap_or(u32::MAX)
    }

    /// Takes a silence of so many seconds.
    #[napi]
    pub fn silence(&mut self, seconds: f64) -> Result<()> {
        self.0.silence(millis(seconds).map_err(wrong)?);
        Ok(())
    }

    /// Ends the response. Text that was held back is judged too.
    #[napi]
    pub fn end(&mut self) {
        self.0.end();
    }

    /// Returns the alarm that cuts the response, as JSON, if there is one.
    #[napi(getter)]
    pub fn alarm(&self) -> Option<String> {
        self.0.alarm().map(alarm_json)
    }

    /// Takes the alarms that only warn or observe and have not been returned yet, each as JSON.
    #[napi]
    pub fn warnings(&mut self) -> Vec<String> {
        self.0.warnings().iter().map(alarm_json).collect()
    }

    /// Takes the alarms that refuse a call and have not been returned yet, each as JSON.
    #[napi]
    pub fn refusals(&mut self) -> Vec<String> {
        self.0.refusals().iter().map(alarm_json).collect()
    }

    /// Returns the end of a response that is cut here, in the format of its API.
    #[napi(getter)]
    pub fn ending(&self) -> Buffer {
        self.0.ending().into()
    }
}

/// The guard of the chunks of one streamed response.
#[napi(custom_finalize)]
pub struct Chunks(deadloop_bindings::Chunks);

impl ObjectFinalize for Chunks {
    fn finalize(self, env: Env) -> Result<()> {
        held(env, -1)
    }
}

// Each method returns decisions as JSON. Most chunks have none.
#[napi]
impl Chunks {
    /// Takes the next chunk.
    #[napi]
    pub fn feed(&mut self, chunk: String) -> Vec<String> {
        reports(&self.0.feed(&chunk))
    }

    /// Takes a piece of plain text.
    #[napi]
    pub fn text(&mut self, text: Utf16String) -> Vec<String> {
        reports(&self.0.text_utf16(&text))
    }

    /// Takes a silence of so many seconds.
    #[napi]
    pub fn silence(&mut self, seconds: f64) -> Result<Vec<String>> {
        Ok(reports(&self.0.silence(millis(seconds).map_err(wrong)?)))
    }

    /// Ends the response.
    #[napi]
    pub fn end(&mut self) -> Vec<String> {
        reports(&self.0.end())
    }
}

fn reports(decisions: &[Decision]) -> Vec<String> {
    decisions.iter().map(Decision::json).collect()
}
