//! [`Guards`]: a compiled settings file.
//!
//! It has the guards of each model, and the rules that split the texts of a model into thinking and answer.

use std::path::Path;
use std::sync::Arc;

use deadloop_detect::harness::read_toml;
use deadloop_detect::{
    Alarm, Event, Feed, Feeds, ModelTask, RECOMMENDED, RECOMMENDED_AGENTS, Settings, TextChannel,
};
use deadloop_stream::{PromptInfo, StreamFormat, StreamReader, ThinkRules};
use serde::Deserialize;

use crate::guard::pass_prompt;
use crate::{Chunks, Guard, Live};

/// The guards of a settings file. It is `Send`, `Sync` and cheap to clone, so that one serves the whole program.
#[derive(Clone, Debug)]
pub struct Guards {
    id: String,
    settings: Arc<Settings>,
    pub(crate) compiled: deadloop_detect::Guards,
    pub(crate) think: Arc<ThinkRules>,
    /// The prompt of the watched responses.
    asked: Arc<PromptInfo>,
}

/// The error of an unusable settings file: a message with its place.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file that cannot be read.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// Text that is not a settings file.
    #[error("{0}")]
    Settings(String),
}

impl Guards {
    /// Compiles the guards of the settings in `text`. Errors call the text `name`.
    ///
    /// # Errors
    /// The text is not a settings file, or one of its detectors is a program. Programs cannot watch a live stream.
    pub fn parse(text: &str, name: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct ThinkSection {
            #[serde(default)]
            think: ThinkRules,
        }
        let bad = |e: &dyn std::fmt::Display| ReadError::Settings(format!("{name}:{e}"));
        let settings = Settings::parse(text).map_err(|e| bad(&e))?;
        let wire: ThinkSection = read_toml(text).map_err(|e| bad(&e))?;
        let compiled = deadloop_detect::Guards::new(&settings);
        Ok(Self {
            id: settings.id(),
            compiled: compiled.map_err(|e| ReadError::Settings(format!("{name}: {e}")))?,
            think: Arc::new(wire.think),
            asked: Arc::default(),
            settings: Arc::new(settings),
        })
    }

    /// Loads the guards of a settings file.
    ///
    /// # Errors
    /// The file cannot be read, or [`parse`](Self::parse) returns an error.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        let (text, name) = Self::text_of(path)?;
        Self::parse(&text, &name)
    }

    /// Returns the text of a settings file and its name in errors. Without such a file, [shipped](Self::shipped)
    /// settings with that name are used, as in every command.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text_of(path: &Path) -> Result<(String, String), ReadError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok((text, name)),
            Err(e) => match Self::shipped(&name) {
                Some(text) => Ok((text, name)),
                None => Err(ReadError::File(name, e)),
            },
        }
    }

    /// Returns the recommended guard, for every model.
    ///
    /// # Errors
    /// Never; the settings are a constant that every test reads.
    pub fn recommended() -> Result<Self, ReadError> {
        Self::parse(RECOMMENDED, "recommended")
    }

    /// Returns the text of shipped settings: `recommended` for text, `recommended-agents` for runs of agents with
    /// their text. `None` for other names.
    pub fn shipped(name: &str) -> Option<String> {
        match name {
            "recommended" => Some(RECOMMENDED.to_owned()),
            "recommended-agents" => Some(format!("{RECOMMENDED}\n{RECOMMENDED_AGENTS}")),
            _ => None,
        }
    }

    /// Returns the name of the settings in every report.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns guards for responses to a known prompt. They are the guards of the task, if the settings have some, and
    /// have received the user's messages. This is cheap enough for each request.
    #[must_use]
    pub fn answering(&self, asked: PromptInfo) -> Self {
        Self {
            asked: Arc::new(asked),
            ..self.clone()
        }
    }

    /// Returns the prompt of the responses.
    pub(crate) fn asked(&self) -> &PromptInfo {
        &self.asked
    }

    /// Returns a model's work on the prompt's task.
    fn work<'a>(&'a self, model: &'a str) -> ModelTask<'a> {
        ModelTask {
            model,
            task: &self.asked.task,
        }
    }

    /// Returns a compiled guard that has received the user's messages.
    pub(crate) fn compiled(&self, model: &str) -> deadloop_detect::Guard {
        let mut guard = self.compiled.guard(self.work(model));
        pass_prompt(&mut guard, &self.asked);
        guard
    }

    /// Returns a fresh guard for a request to this model.
    pub fn guard(&self, model: &str) -> Guard {
        Guard::with_prompt(self.compiled.guard(self.work(model)), &self.asked)
    }

    /// Returns a fresh guard for the bytes of a streamed response. Without `model`, the name in the stream counts.
    pub fn live(&self, model: Option<&str>) -> Live {
        Live::new(self, model)
    }

    /// Returns a fresh guard for the chunks of a streamed response. Without `model`, the name in the chunks counts.
    pub fn chunks(&self, model: Option<&str>) -> Chunks {
        Chunks::new(self, model)
    }

    /// Returns the guards of a model that never alarm on `feeds` alone, each with the feed that it misses.
    ///
    /// # Errors
    /// Returns the names of all feeds if a name is not one of them.
    pub fn blind<S: AsRef<str>>(&self, feeds: &[S], model: &str) -> Result<Vec<String>, String> {
        let feeds: Result<Feeds, String> = feeds.iter().map(|name| feed(name.as_ref())).collect();
        let blind = self.settings.for_model(self.work(model)).blind(feeds?);
        Ok(blind.iter().map(ToString::to_string).collect())
    }

    /// Returns whether some guard of a model never alarms without events of this kind.
    ///
    /// # Errors
    /// Returns the names of all feeds if the name is not one of them.
    pub fn reads(&self, name: &str, model: &str) -> Result<bool, String> {
        let others = Feeds::ALL.without(feed(name)?);
        let guard = self.settings.for_model(self.work(model));
        Ok(!guard.blind(others).is_empty())
    }

    /// Returns the first alarm on a finished text: one that stops or refuses, else one that warns or observes.
    pub fn alarm_of(&self, text: &FinishedText) -> Option<Alarm> {
        let model = text.model.as_deref().unwrap_or("");
        let mut guard = self.compiled(model);
        let mut warned = None;
        let mut push = |event: &Event<'_>| {
            let pushed = guard.push(event);
            let alarm = pushed.first().cloned();
            warned = warned.take().or_else(|| pushed.warnings.into_iter().next());
            alarm
        };
        let thinking = text.reasoning.as_deref().unwrap_or("");
        if let Some(alarm) = push(&Event::Text(TextChannel::Reasoning, thinking)) {
            return Some(alarm);
        }
        let think = self.think.options(model);
        let mut reader = StreamReader::new("text", Some(StreamFormat::Text), think);
        reader.feed(text.answer.as_deref().unwrap_or("").as_bytes());
        reader.end();
        while let Some(arrival) = reader.next_event() {
            if let Some(alarm) = push(&arrival.event.borrowed()) {
                return Some(alarm);
            }
        }
        warned
    }
}

/// A finished text, to be judged as a whole.
#[derive(Clone, Debug, Default)]
pub struct FinishedText {
    /// The thinking, if it is separate.
    pub reasoning: Option<String>,
    /// The answer. Thinking in tags is split off.
    pub answer: Option<String>,
    /// The model, for settings with guards for particular models.
    pub model: Option<String>,
}

/// Returns the kind of events with that name.
fn feed(name: &str) -> Result<Feed, String> {
    let found = Feed::ALL.into_iter().find(|feed| feed.name() == name);
    found.ok_or_else(|| {
        let names = Feed::NAMES.join(", ");
        format!("no kind of events is called {name:?}; expected one of: {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;
    use deadloop_detect::Guard as Plain;

    const SENTENCE: &str = "Wait, let me check the roads once more. ";

    /// Where the guard that the packages hand out alarms on copies of a sentence, and where the one of Rust does: with lines to
    /// ignore, with what the user wrote to skip, and by task.
    #[test]
    fn ignore_prompt_and_task_alarm_as_in_rust() {
        let guard = "[[guard]]\ndetector = \"periodic\"\n";
        let tasks = format!(
            "{guard}[[model]]\ntask = \"drill\"\n[[model.guard]]\ndetector = \"periodic\"\n[model.guard.params]\nmin_copies = 12\n"
        );
        let (ignore, skip) = ("ignore = ['^Wait']\n", "prompt = \"skip\"\n");
        let lines = format!("{SENTENCE}\n");
        let said = [SENTENCE.repeat(30)];
        let cases: [(&str, String, &str, &[String], Option<usize>); 6] = [
            ("plain", guard.to_owned(), "", &[], Some(5)),
            ("ignore", format!("{ignore}{guard}"), "", &[], None),
            ("skip", format!("{skip}{guard}"), "", &said, None),
            (
                "skip, nothing said",
                format!("{skip}{guard}"),
                "",
                &[],
                Some(5),
            ),
            ("check", guard.to_owned(), "", &said, Some(5)),
            ("task", tasks, "drill", &[], Some(12)),
        ];
        for (name, text, task, user, expected) in cases {
            let unit = if name == "ignore" { &lines } else { SENTENCE };
            let settings = Settings::parse(&text).unwrap();
            let work = ModelTask { model: "m", task };
            let mut plain = Plain::new(settings.for_model(work)).unwrap();
            user.iter().for_each(|said| {
                let _ = plain.push(&Event::User(said));
            });
            let rust =
                (1..=25).find(|_| plain.push_text(TextChannel::Answer, unit).decision.stops());
            assert_eq!(rust, expected, "{name}");
            let asked = PromptInfo {
                task: task.to_owned(),
                user: user.to_vec(),
            };
            let guards = Guards::parse(&text, "settings").unwrap();
            let answering = guards.answering(asked);
            let stops =
                |guard: &mut Guard| (1..=25).find(|_| guard.push(1, unit).action == Action::Stop);
            let mut first = answering.guard("m");
            assert_eq!(stops(&mut first), expected, "{name}");
            assert_eq!(
                stops(&mut first.fresh()),
                expected,
                "{name}, another answer"
            );
            for model in [None, Some("m")] {
                let mut chunks = answering.chunks(model);
                let says =
                    |told: Vec<crate::Decision>| told.iter().any(|d| d.action == Action::Stop);
                let stops = (1..=25).find(|_| says(chunks.text(unit)));
                assert_eq!(stops, expected, "{name}, chunks, {model:?}");
            }
            // By hand, as agents and programs that write a loop of their own do.
            if task.is_empty() {
                let mut by_hand = guards.guard("m");
                for said in user {
                    assert!(by_hand.event(&Event::User(said)).is_quiet());
                }
                assert_eq!(stops(&mut by_hand), expected, "{name}, by hand");
            }
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let error = |text| Guards::parse(text, "a.toml").unwrap_err().to_string();
        assert_eq!(error("[[guard]\n"), error("[[guard]\n"));
        assert!(
            error("[[guard]]\ndetector = \"periodc\"").starts_with("a.toml:2:12: unknown detector")
        );
        assert!(
            error("[[guard]]\ndetector = \"periodic\"\n[think]\nblocks = 3")
                .starts_with("a.toml:4:10: ")
        );
        let missing = Guards::load(Path::new("/none/x.toml"))
            .unwrap_err()
            .to_string();
        assert!(missing.starts_with("/none/x.toml: "), "{missing}");
    }

    #[test]
    fn the_id_is_that_of_the_settings() {
        let guards = Guards::recommended().unwrap();
        assert_eq!(guards.id(), Settings::default().id());
        let by_name = |name: &str| Guards::load(Path::new(name)).unwrap();
        assert_eq!(by_name("recommended").id(), guards.id());
        assert_ne!(by_name("recommended-agents").id(), guards.id());
    }

    #[test]
    fn guards_that_see_nothing_are_named() {
        let text = "[[guard]]\ndetector = \"periodic\"\n[[guard]]\ndetector = \"error-run\"\n[[guard]]\ndetector = \"stall\"";
        let guards = Guards::parse(text, "settings").unwrap();
        let blind = |feeds: &[&str]| guards.blind(feeds, "").unwrap();
        assert_eq!(
            blind(&["answer", "calls"]),
            ["error-run: no results", "stall: no silence"]
        );
        let all = ["silence", "results", "calls", "answer", "reasoning"];
        assert_eq!(blind(&all), Vec::<String>::new());
        assert_eq!(guards.reads("silence", ""), Ok(true));
        assert_eq!(guards.reads("turns", ""), Ok(false));
        let error = guards.blind(&["clock"], "").unwrap_err();
        assert!(
            error.contains("\"clock\"; expected one of: reasoning, answer"),
            "{error}"
        );
    }

    #[test]
    fn a_finished_text_has_the_alarm_of_its_stream() {
        let guards = Guards::recommended().unwrap();
        let loops = "Wait, let me check the roads once more. ".repeat(50);
        let alarm = |reasoning: &str, answer: &str| {
            let text = FinishedText {
                reasoning: Some(reasoning.to_owned()),
                answer: Some(answer.to_owned()),
                model: None,
            };
            guards
                .alarm_of(&text)
                .map(|alarm| (alarm.channel.name(), alarm.exact.count()))
        };
        assert_eq!(alarm("", "It is four."), None);
        assert_eq!(alarm(&loops, "It is four."), Some(("reasoning", 200)));
        assert_eq!(alarm("", &loops), Some(("answer", 200)));
        assert_eq!(
            alarm("", &format!("<think>{loops}</think>4")),
            Some(("reasoning", 200))
        );
        let warns = Guards::parse(
            "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"",
            "s",
        )
        .unwrap();
        let text = FinishedText {
            answer: Some(loops),
            ..FinishedText::default()
        };
        assert_eq!(
            warns.alarm_of(&text).map(|a| a.response.name()),
            Some("warn")
        );
    }
}
