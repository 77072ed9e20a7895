//! What a watch is made of: guards by model, how thinking is separated, repairers, a record.

use deadloop_corpus::{StreamFormat, StreamReader, ThinkOptions, ThinkRules};
use deadloop_detect::{Guards, Settings};
use deadloop_stream::Watched;

use super::{BlindOf, Mender, Record, Shared, UNNAMED, Watching};

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
pub struct Parts {
    /// The guards.
    pub guards: Guards,
    /// How thinking is separated; its words are known to be good.
    pub think: Think,
    /// What repairs the stream.
    pub mender: Option<Box<dyn Mender>>,
    /// Where its events are kept.
    pub record: Option<Record>,
    /// The settings that the guards are of.
    pub settings: Settings,
}

impl Parts {
    /// The watch itself. `model`: whose guard watches; `None`: that of the first model that the stream names. `strict`: a guard
    /// that the stream can never feed ends the watch.
    pub fn watching<'a>(
        self,
        model: Option<String>,
        from: Option<StreamFormat>,
        (strict, shared): (bool, &'a Shared),
    ) -> Watching<'a> {
        let (guards, think, settings) = (self.guards, self.think, self.settings);
        let said = model.clone().unwrap_or_else(|| UNNAMED.to_owned());
        // The words were checked before.
        let options = think.of(&said).unwrap_or_default();
        let reader = StreamReader::new("stdin", from, options);
        let guard = guards.guard(&said);
        let watched = match model {
            Some(_) => Watched::with(guard, reader),
            None => {
                let by_model = move |model: &str| think.of(model).unwrap_or_default();
                Watched::with(guard, reader.splitting_by(by_model)).by_model(guards)
            }
        };
        let blind: BlindOf = Box::new(move |named, feeds| {
            let model = model.as_deref().or(named).unwrap_or(UNNAMED);
            settings.for_model(model).blind(feeds)
        });
        Watching::new(watched, shared)
            .mending(self.mender)
            .recording(self.record)
            .looking_for_blind(blind, strict)
    }
}
