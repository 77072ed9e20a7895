//! [`KnownTags`]: recognises known tags, with their numbers and attributes.

use std::sync::LazyLock;

use regex::Regex;

use crate::registry::{get_texts, get_usize};
use deadloop_detect::Value;
use deadloop_detect::harness::{NearestName, Params};

use super::lexer::{can_begin_name, can_continue_name};

/// The role of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TagRole {
    /// An action, by its index among the known ones.
    Action(usize),
    /// A field, by its index among the known ones.
    Field(usize),
}

/// A known tag in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) role: TagRole,
    pub(super) closing: bool,
    /// The number after the name in the tag.
    pub(super) number: Option<u32>,
    /// The attributes that are fields.
    pub(super) attributes: Vec<(String, String)>,
    /// The tag as written.
    pub(super) written: String,
}

deadloop_detect::words! {
    /// The treatment of attributes, from the parameter `attributes`.
    pub(super) enum AttributeRule {
        Refuse = "refuse",
        Drop = "drop",
        Fields = "fields",
    }
}

/// The names of tags in a setting.
#[derive(Clone, Debug)]
pub(super) struct KnownTags {
    /// The names of actions, then of fields, then aliases.
    nearest: NearestName,
    /// The number of action names.
    actions: usize,
    /// The number of field names.
    fields: usize,
    /// The index of the name that each alias replaces.
    aliases: Vec<usize>,
    attributes: AttributeRule,
}

impl KnownTags {
    pub(super) fn new(params: &Params) -> Self {
        let (tags, fields) = (get_texts(params, "tags"), get_texts(params, "fields"));
        let (actions, inner) = (tags.len(), fields.len());
        let mut known = [tags, fields].concat();
        let mut aliases = Vec::new();
        if let Some(Value::Table(table)) = params.get("aliases") {
            for (alias, name) in table {
                let stands_for = known
                    .iter()
                    .position(|k| Some(k.as_str()) == name.as_text());
                if let Some(at) = stands_for {
                    known.push(alias.clone());
                    aliases.push(at);
                }
            }
        }
        let fold = params.text("case") == "ignore";
        let attributes = AttributeRule::named(params.text("attributes"));
        Self {
            nearest: NearestName::new(known, fold, get_usize(params, "edits")),
            actions,
            fields: inner,
            aliases,
            attributes: attributes.unwrap_or(AttributeRule::Refuse),
        }
    }

    /// Returns the name of an action or field.
    pub(super) fn name(&self, role: TagRole) -> &str {
        let at = match role {
            TagRole::Action(at) => at,
            TagRole::Field(at) => self.actions + at,
        };
        self.nearest.known().get(at).map_or("", String::as_str)
    }

    /// Returns the known tag for a written one. `None` if it is unknown.
    pub(super) fn find(&self, written: &str, work: &mut u64) -> Option<Tag> {
        *work += written.len() as u64;
        let inner = written.strip_prefix('<')?.strip_suffix('>')?;
        let (closing, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let end = inner.find(char::is_whitespace);
        let (name, rest) = inner.split_at(end.unwrap_or(inner.len()));
        if end.is_some() && self.attributes == AttributeRule::Refuse {
            return None;
        }
        let (role, number) = self.find_role(name, work)?;
        let attributes = match self.attributes {
            AttributeRule::Fields if !closing => self.read_attributes(rest, work),
            _ => Vec::new(),
        };
        Some(Tag {
            role,
            closing,
            number,
            attributes,
            written: written.to_owned(),
        })
    }

    /// Returns the role of a name, and the number at its end. `None` if the name is unknown.
    fn find_role(&self, name: &str, work: &mut u64) -> Option<(TagRole, Option<u32>)> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        let number = match digits {
            "" => None,
            digits => Some(digits.parse().ok()?),
        };
        let (mut at, _) = self.nearest.find(stem, work)?;
        if let Some(stands_for) = at.checked_sub(self.actions + self.fields) {
            at = *self.aliases.get(stands_for)?;
        }
        let role = match at.checked_sub(self.actions) {
            None => TagRole::Action(at),
            Some(field) => TagRole::Field(field),
        };
        Some((role, number))
    }

    /// Returns the attributes that are fields, and drops others.
    fn read_attributes(&self, text: &str, work: &mut u64) -> Vec<(String, String)> {
        static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r#"([^\s=<>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))"#).ok()
        });
        let Some(pattern) = &*ATTRIBUTE else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        for found in pattern.captures_iter(text) {
            let value = (2..=4).find_map(|group| found.get(group));
            let name = found.get(1).map_or("", |name| name.as_str());
            if let (Some((role @ TagRole::Field(_), _)), Some(value)) =
                (self.find_role(name, work), value)
            {
                fields.push((self.name(role).to_owned(), value.as_str().trim().to_owned()));
            }
        }
        fields
    }
}

/// Returns whether a text can be the name of a tag. The name must not end with a digit, which would be read as its
/// number.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(can_begin_name)
        && text.chars().all(can_continue_name)
        && text.chars().count() <= NearestName::LONGEST
        && !text.ends_with(|c: char| c.is_ascii_digit())
}
