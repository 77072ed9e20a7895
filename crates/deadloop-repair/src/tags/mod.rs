//! `tags`: recovers actions and visible text from a text with damaged tags.
//!
//! A model requests an action by tags, as in `<create_note><id>3</id>…</create_note>`, and makes mistakes: unclosed
//! tags, misspelt names, wrong case, or different numbers (`<confirm1>…</confirm2>`).
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the rejected combinations | this module |
//! | presets and their sources | `presets.toml` |
//! | code, in which tags are text | `code` |
//! | search for tags in the text | `lexer` |
//! | recognition of known tags, their numbers and attributes | `tag` |
//! | conversion of tags and text into actions | `machine` |
//! | the fields of an action | `fields` |
//! | requirements on complete actions | `requirements` |

use deadloop_detect::Value;
use deadloop_detect::harness::{Param, Params, Refusal};

use super::registry::{RepairTarget, Repairer, RepairerFactory, StreamKind, get_texts, repairer};

mod code;
mod fields;
mod lexer;
mod machine;
mod requirements;
mod tag;

repairer! {
    "tags", version 3,
    "actions and visible text from tags that are not closed, misspelt, miscounted or in another case",
    check, Tags, RepairTarget::Answer(1), RepairerFactory::Text(|params| Box::new(machine::TagMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::texts("tags", &[
            "create_note",
            "save_material",
            "call_orchestrator",
            "web_search",
            "confirm",
        ]).doc("the names of actions, without a number behind them"),
    Param::texts("fields", &["id", "content"]).doc("the names of the tags inside an action"),
    Param::word("case", "exact", &["exact", "ignore"])
        .doc("ignore: ASCII letters of names in either case"),
    Param::count("edits", 0, 0..=2)
        .unit("edits")
        .doc("chars by which a name may differ; one for three letters of the known name at most"),
    Param::word("close", "refuse", &machine::UnclosedRule::NAMES)
        .doc("where an action ends that nothing closes: nowhere, it is text; at the next action or the end; at the end"),
    Param::word("pair", "first", &["first", "last"])
        .doc("with `close` refuse: which of several open tags of a name a closing tag belongs to"),
    Param::word("numbers", "refuse", &machine::NumberRule::NAMES)
        .doc("whose number counts where <confirm1> is closed by </confirm2>, if it has one; refuse: that closes nothing"),
    Param::table("aliases")
        .doc("other names of actions and fields, as { call_orcheator = \"call_orchestrator\" }"),
    Param::word("attributes", "refuse", &tag::AttributeRule::NAMES)
        .doc("a tag with attributes: no tag; they are left out; they are fields"),
    Param::word("stray", "keep", &machine::StrayRule::NAMES)
        .doc("known tags without a partner: text; left out; refuse: and an action with one in it is left out too"),
    Param::table("need")
        .doc("the fields that an action must have, or its number, as { create_note = [\"id\"], confirm = [\"number\"] }; one without them is left out"),
    Param::texts("control", &[])
        .doc("marks of control text, as \"<|\": an action that holds one is left out"),
    Param::word("settle", "now", &["now", "later"])
        .doc("when an action is given: at its closing tag; later: at the next tag of an action or the end, and not at all where that closes it once more"),
    Param::word("code", "act", &["act", "text"])
        .doc("tags outside of actions in a code span or a fence: as anywhere; they are text"),
    Param::count("max_open", 65_536, super::registry::HOLD_RANGE)
        .unit("chars")
        .doc("longest action; what is longer is text"),
];

/// Rejects names that no tag can have, and `aliases` and `need` for unknown names.
fn check(params: &Params) -> Result<(), Refusal> {
    let (tags, fields) = (get_texts(params, "tags"), get_texts(params, "fields"));
    let mut names: Vec<&str> = tags.iter().chain(&fields).map(String::as_str).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return refuse_param(
            "tags",
            format!(
                "{:?} stands twice; expected each name of a tag or field once",
                pair[0]
            ),
        );
    }
    if let Some(name) = names.iter().find(|name| !tag::is_name(name)) {
        return refuse_param(
            "tags",
            format!(
                "{name:?} is no name; expected a letter, then letters, digits, _ . or -, 64 chars at most, and no digit at its end"
            ),
        );
    }
    if let Some(Value::Table(aliases)) = params.get("aliases") {
        let known = |name: &Value| name.as_text().is_some_and(|name| names.contains(&name));
        let odd = |(alias, name): &(&String, &Value)| !known(name) || !tag::is_name(alias);
        if let Some((alias, name)) = aliases.iter().find(odd) {
            let reason =
                format!("{alias} = {name}: expected a name, and a tag or field that is known");
            return refuse_param("aliases", reason);
        }
    }
    let odd = |(action, needed): &(String, Vec<String>)| {
        let is_known =
            |field: &String| field == requirements::NUMBER_FIELD || fields.contains(field);
        !tags.contains(action) || !needed.iter().all(is_known)
    };
    match requirements::required_fields(params)
        .iter()
        .find(|row| odd(row))
    {
        Some((action, needed)) => refuse_param(
            "need",
            format!(
                "{action} = {needed:?}: expected one of `tags`, and a list of some of: {}, {}",
                fields.join(", "),
                requirements::NUMBER_FIELD
            ),
        ),
        None => Ok(()),
    }
}

fn refuse_param(param: &'static str, reason: String) -> Result<(), Refusal> {
    Err(Refusal { param, reason })
}
