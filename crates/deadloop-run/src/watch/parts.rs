//! The parts of a watch: guards, think rules, repairers, record.

use deadloop_corpus::{StreamFormat, StreamReader, ThinkOptions, ThinkRules};
use deadloop_detect::{Guards, ModelTask, Settings};
use deadloop_stream::{PromptInfo, WatchedResponse};

use crate::repair::LiveRepair;

use super::{BlindMembersFn, SharedWatch, StreamWatch, UNNAMED, WatchRecord};

/// The rules for separating thinking from the answer: the rules of the settings, changed by options.
pub struct WatchThink {
    /// The rules of the settings.
    pub rules: ThinkRules,
    /// The words of options, which change the rules.
    pub words: Vec<String>,
}

impl WatchThink {
    /// Returns the rules for a model.
    ///
    /// # Errors
    /// Returns an error if a word is unknown.
    pub fn options_for(&self, model: &str) -> Result<ThinkOptions, String> {
        let words = self.words.iter().map(String::as_str);
        self.rules.options(model).with_words(words)
    }
}

/// The parts of a watch.
pub struct WatchParts {
    /// The guards.
    pub guards: Guards,
    /// The think rules, with checked words.
    pub think: WatchThink,
    /// The repairers of the stream, if there are any.
    pub mender: Option<LiveRepair>,
    /// The record of the events, if one is kept.
    pub record: Option<WatchRecord>,
    /// The settings of the guards.
    pub settings: Settings,
    /// The task of the stream. Empty if unknown.
    pub task: String,
}

impl WatchParts {
    /// Creates the watch. `model` is the model whose guard watches; `None` for the first model that the stream names.
    /// With `strict`, a guard that the stream can never feed ends the watch.
    pub fn watching<'a>(
        self,
        model: Option<String>,
        from: Option<StreamFormat>,
        strict: bool,
        shared: &'a SharedWatch,
    ) -> StreamWatch<'a> {
        let (guards, think, settings) = (self.guards, self.think, self.settings);
        let task = self.task;
        let asked = PromptInfo {
            task: task.clone(),
            ..PromptInfo::default()
        };
        let said = model.clone().unwrap_or_else(|| UNNAMED.to_owned());
        // The words were checked before.
        let options = think.options_for(&said).unwrap_or_default();
        let reader = StreamReader::new("stdin", from, options);
        let work = ModelTask {
            model: &said,
            task: &task,
        };
        let guard = guards.guard(work);
        let watched = match model {
            Some(_) => WatchedResponse::with(guard, reader),
            None => {
                let by_model = move |model: &str| think.options_for(model).unwrap_or_default();
                let watched = WatchedResponse::with(guard, reader.splitting_by(by_model));
                watched.by_model(guards).answering(asked)
            }
        };
        let blind: BlindMembersFn = Box::new(move |named, feeds| {
            let model = model.as_deref().or(named).unwrap_or(UNNAMED);
            let work = ModelTask { model, task: &task };
            settings.for_model(work).blind(feeds)
        });
        StreamWatch {
            mender: self.mender,
            record: self.record,
            blind: Some(blind),
            strict,
            ..StreamWatch::new(watched, shared)
        }
    }
}
