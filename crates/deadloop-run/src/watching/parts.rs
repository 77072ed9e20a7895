//! What a watch is made of: guards by model, how thinking is separated, repairers, a record.

use deadloop_corpus::{StreamFormat, StreamReader, ThinkOptions, ThinkRules};
use deadloop_detect::{Guards, Settings, Work};
use deadloop_stream::{Prompted, Watched};

use crate::repairs::LiveRepair;

use super::{BlindOf, Shared, UNNAMED, WatchRecord, Watching};

/// How thinking is separated: by the rules of the settings, changed by words beside them.
pub struct Think {
    /// The rules of the settings.
    pub rules: ThinkRules,
    /// What was said beside them.
    pub words: Vec<String>,
}

impl Think {
    /// The rules for a model.
    ///
    /// # Errors
    /// A word is not known.
    pub fn of(&self, model: &str) -> Result<ThinkOptions, String> {
        let words = self.words.iter().map(String::as_str);
        self.rules.options(model).with_words(words)
    }
}

/// What a watch is made of.
pub struct WatchParts {
    /// The guards.
    pub guards: Guards,
    /// How thinking is separated; its words are known to be good.
    pub think: Think,
    /// What repairs the stream.
    pub mender: Option<LiveRepair>,
    /// Where its events are kept.
    pub record: Option<WatchRecord>,
    /// The settings that the guards are of.
    pub settings: Settings,
    /// The task that the stream works at; empty: not known.
    pub task: String,
}

impl WatchParts {
    /// The watch itself. `model`: whose guard watches; `None`: that of the first model that the stream names. `strict`: a guard
    /// that the stream can never feed ends the watch.
    pub fn watching<'a>(
        self,
        model: Option<String>,
        from: Option<StreamFormat>,
        strict: bool,
        shared: &'a Shared,
    ) -> Watching<'a> {
        let (guards, think, settings) = (self.guards, self.think, self.settings);
        let task = self.task;
        let asked = Prompted {
            task: task.clone(),
            ..Prompted::default()
        };
        let said = model.clone().unwrap_or_else(|| UNNAMED.to_owned());
        // The words were checked before.
        let options = think.of(&said).unwrap_or_default();
        let reader = StreamReader::new("stdin", from, options);
        let work = Work {
            model: &said,
            task: &task,
        };
        let guard = guards.guard(work);
        let watched = match model {
            Some(_) => Watched::with(guard, reader),
            None => {
                let by_model = move |model: &str| think.of(model).unwrap_or_default();
                let watched = Watched::with(guard, reader.splitting_by(by_model));
                watched.by_model(guards).answering(asked)
            }
        };
        let blind: BlindOf = Box::new(move |named, feeds| {
            let model = model.as_deref().or(named).unwrap_or(UNNAMED);
            let work = Work { model, task: &task };
            settings.for_model(work).blind(feeds)
        });
        Watching::new(watched, shared)
            .mending(self.mender)
            .recording(self.record)
            .looking_for_blind(blind, strict)
    }
}
