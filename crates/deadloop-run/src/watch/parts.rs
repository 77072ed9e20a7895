//! [`WatchParts`]: the guards, think rules, repairers and record of a watch.

use deadloop_corpus::{StreamFormat, StreamReader, ThinkOptions, ThinkRules};
use deadloop_detect::{Guards, ModelTask, Settings};
use deadloop_stream::{PromptInfo, WatchedResponse};

use crate::repair::LiveRepair;

use super::{BlindMembersFn, SharedWatch, StreamWatch, UNNAMED, WatchRecord};

/// Rules for separating thinking from the answer, from settings and options.
pub struct WatchThink {
    /// The rules of the settings.
    pub rules: ThinkRules,
    /// The words of `--think`, which override the rules.
    pub words: Vec<String>,
}

impl WatchThink {
    /// Returns the think options for a model.
    ///
    /// # Errors
    /// Returns an error if a word is unknown.
    pub fn options_for(&self, model: &str) -> Result<ThinkOptions, String> {
        let words = self.words.iter().map(String::as_str);
        self.rules.options(model).with_words(words)
    }
}

/// The parts from which a [`StreamWatch`] is built.
pub struct WatchParts {
    /// The guards.
    pub guards: Guards,
    /// The rules for separating thinking, whose words are valid.
    pub think: WatchThink,
    /// The repairers of the stream, if any.
    pub mender: Option<LiveRepair>,
    /// The file that records the events, if any.
    pub record: Option<WatchRecord>,
    /// The settings of the guards.
    pub settings: Settings,
    /// The task of the model. Empty if unknown.
    pub task: String,
}

impl WatchParts {
    /// Builds the watch. `model` names the model whose guard watches; without one, the first model named in the stream
    /// selects the guard. If `strict`, a guard that cannot judge this kind of stream ends the watch.
    pub fn watching<'a>(
        self,
        model: Option<String>,
        from: Option<StreamFormat>,
        strict: bool,
        shared: &'a SharedWatch,
    ) -> StreamWatch<'a> {
        let (guards, think, settings) = (self.guards, self.think, self.settings);
        let task = self.task;
        let prompt = PromptInfo {
            task: task.clone(),
            ..PromptInfo::default()
        };
        let model_name = model.clone().unwrap_or_else(|| UNNAMED.to_owned());
        // The words were checked before.
        let options = think.options_for(&model_name).unwrap_or_default();
        let reader = StreamReader::new("stdin", from, options);
        let model_task = ModelTask {
            model: &model_name,
            task: &task,
        };
        let guard = guards.guard(model_task);
        let watched = match model {
            Some(_) => WatchedResponse::with(guard, reader),
            None => {
                let by_model = move |model: &str| think.options_for(model).unwrap_or_default();
                let watched = WatchedResponse::with(guard, reader.splitting_by(by_model));
                watched.by_model(guards).answering(prompt)
            }
        };
        let blind: BlindMembersFn = Box::new(move |named, feeds| {
            let model = model.as_deref().or(named).unwrap_or(UNNAMED);
            let model_task = ModelTask { model, task: &task };
            settings.for_model(model_task).blind(feeds)
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
