//! Rules for splitting texts into reasoning and answer, by model.
//!
//! They are part of corpus cards and of settings.
//!
//! ```toml
//! [think]
//! blocks = "first"                     # or "all"
//! tags = ["<think>", "harmony"]        # recognised tags
//! opened_in_prompt = ["deepseek-r1*"]  # models whose template opens the tag in the prompt
//!
//! [[think.model]]                      # first match wins; unset keys are as above
//! match = "magistral*"
//! tags = ["[THINK]"]
//! opened = true
//! ```

use serde::Deserialize;

use super::{Blocks, Tags, ThinkOptions};
use crate::ModelGlob;

/// Rules for splitting texts, by model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThinkRules {
    /// The blocks that are reasoning: `first` (default) for one at the start, `all` for every block.
    pub blocks: Blocks,
    /// The recognised tags. See [`Tags::new`] for their syntax.
    pub tags: Tags,
    /// The models whose prompt template opens the tag. Then a closing tag without an opening one ends the reasoning.
    pub opened_in_prompt: Vec<ModelGlob>,
    /// Rules for some models. The first match applies.
    pub model: Vec<ModelThink>,
}

/// Rules for the models that match a glob. A field that is `None` keeps the general rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelThink {
    /// The models that the rule applies to.
    pub r#match: ModelGlob,
    /// The blocks that are reasoning.
    pub blocks: Option<Blocks>,
    /// The recognised tags.
    pub tags: Option<Tags>,
    /// Whether the prompt template opens the tag.
    pub opened: Option<bool>,
}

impl ThinkRules {
    /// Returns the options for splitting the texts of a model.
    pub fn options(&self, model: &str) -> ThinkOptions {
        let own = self.model.iter().find(|rule| rule.r#match.is_match(model));
        let opened = || {
            self.opened_in_prompt
                .iter()
                .any(|glob| glob.is_match(model))
        };
        ThinkOptions {
            blocks: own.and_then(|rule| rule.blocks).unwrap_or(self.blocks),
            tags: own
                .and_then(|rule| rule.tags.clone())
                .unwrap_or_else(|| self.tags.clone()),
            opened: own.and_then(|rule| rule.opened).unwrap_or_else(opened),
        }
    }
}

impl ThinkOptions {
    /// Applies option words in order: `open` or `closed` (whether the text begins as reasoning), `first` or `all`
    /// (blocks), `off` (no tags), or the names of the recognised tags.
    ///
    /// # Errors
    /// Returns a description of the expected words if a word is unknown.
    pub fn with_words<'a>(
        mut self,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let mut tags = Vec::new();
        for word in words {
            match word {
                "open" => self.opened = true,
                "closed" => self.opened = false,
                "first" => self.blocks = Blocks::First,
                "all" => self.blocks = Blocks::All,
                "off" => self.tags = Tags::none(),
                tag => tags.push(tag.to_owned()),
            }
        }
        if !tags.is_empty() {
            let words = "; or one of: open, closed, first, all, off";
            self.tags = Tags::new(&tags).map_err(|e| e + words)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> ThinkRules {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_first_rule_that_matches_goes_before_those_for_all() {
        let rules = rules(
            "blocks = 'all'\ntags = ['<think>']\nopened_in_prompt = ['r1*', 'qwq']\n\
             [[model]]\nmatch = 'r1-zero'\nopened = false\n\
             [[model]]\nmatch = 'r1*'\ntags = ['harmony']\nblocks = 'first'\n",
        );
        let of = |model| {
            let options = rules.options(model);
            (options.opened, options.blocks, options.tags.harmony())
        };
        assert_eq!(of("x"), (false, Blocks::All, false));
        assert_eq!(of("qwq"), (true, Blocks::All, false));
        assert_eq!(of("r1-zero"), (false, Blocks::All, false));
        assert_eq!(of("r1-8b"), (true, Blocks::First, true));
        assert_eq!(ThinkRules::default().options("x"), ThinkOptions::default());
    }

    #[test]
    fn what_is_no_rule_is_refused_with_its_place() {
        for (text, what) in [
            ("tags = ['<think>']\nopened_in_prompt = ['[']\n", "line 2"),
            ("tags = ['think']", "is no tag"),
            ("bloks = 'all'", "unknown field"),
            ("[[model]]\nopened = true\n", "match"),
            ("[[model]]\nmatch = 'a'\nopen = true\n", "unknown field"),
        ] {
            let error = toml::from_str::<ThinkRules>(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn words_change_what_they_name() {
        let with = |words: &[&str]| ThinkOptions::default().with_words(words.iter().copied());
        assert_eq!(with(&[]), Ok(ThinkOptions::default()));
        let options = with(&["open", "all", "<thought>", "harmony"]).unwrap();
        assert!(options.opened && options.blocks == Blocks::All);
        let tags = Tags::new(&["<thought>".into(), "harmony".into()]);
        assert_eq!(options.tags, tags.unwrap());
        let same = with(&["open", "closed", "all", "first"]);
        assert_eq!(same, Ok(ThinkOptions::default()));
        assert_eq!(with(&["off"]).unwrap().tags, Tags::none());
        let error = with(&["opened"]).unwrap_err();
        assert!(error.contains("\"opened\" is no tag"), "{error}");
        assert!(error.contains("off"), "{error}");
    }
}
