//! `tags`: actions and visible text from a text whose tags are damaged.
//!
//! A model asks for something in tags, `<create_note><id>3</id>…</create_note>`, and gets them wrong:
//! it forgets to close one, misspells it, writes it in capitals, counts `<confirm1>…</confirm2>`.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and which are refused together | here |
//! | presets and where they come from | `presets.toml` |
//! | chars to tags | `lexer` |
//! | which known tag a tag is, its number and attributes | `tag` |
//! | tags and text to actions | `machine` |
//! | the fields of an action | `fields` |

use crate::detectors::Refusal;
use crate::param::Param;
use crate::params::Params;
use crate::value::Value;

use super::registry::{HOLD, Make, Repairer, count, list, table, texts, word};

mod fields;
mod lexer;
mod machine;
mod tag;

/// The registry entry.
pub(super) static ENTRY: Repairer = Repairer {
    name: "tags",
    version: 1,
    about: "actions and visible text from tags that are not closed, misspelt, miscounted or in another case",
    exactly: include_str!("exactly.md"),
    params: PARAMS,
    presets: include_str!("presets.toml"),
    check,
    make: Make::Text(|params| Box::new(machine::Machine::new(params))),
};

static PARAMS: &[Param] = &[
    texts(
        "tags",
        &[
            "create_note",
            "save_material",
            "call_orchestrator",
            "web_search",
            "confirm",
        ],
        "the names of actions, without a number behind them",
    ),
    texts(
        "fields",
        &["id", "content"],
        "the names of the tags inside an action",
    ),
    word(
        "case",
        "exact",
        &["exact", "ignore"],
        "ignore: ASCII letters of names in either case",
    ),
    count(
        "edits",
        0,
        (0, 2),
        "edits",
        "chars by which a name may differ; one for three letters of the known name at most",
    ),
    word(
        "close",
        "refuse",
        &["refuse", "next", "end"],
        "where an action ends that nothing closes: nowhere, it is text; at the next action or the end; at the end",
    ),
    word(
        "pair",
        "first",
        &["first", "last"],
        "with `close` refuse: which of several open tags of a name a closing tag belongs to",
    ),
    word(
        "numbers",
        "refuse",
        &["first", "second", "refuse"],
        "whose number counts where <confirm1> is closed by </confirm2>; refuse: that closes nothing",
    ),
    table(
        "aliases",
        "other names of actions and fields, as { call_orcheator = \"call_orchestrator\" }",
    ),
    word(
        "attributes",
        "refuse",
        &["refuse", "drop", "fields"],
        "a tag with attributes: no tag; they are left out; they are fields",
    ),
    word(
        "stray",
        "keep",
        &["keep", "drop", "refuse"],
        "known tags without a partner: text; left out; refuse: and an action with one in it is left out too",
    ),
    count(
        "max_open",
        65_536,
        HOLD,
        "chars",
        "longest action; what is longer is text",
    ),
];

/// Refuses aliases of names that are not known, and names that are none.
fn check(params: &Params) -> Result<(), Refusal> {
    let known: Vec<String> = [list(params, "tags"), list(params, "fields")].concat();
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let reason = format!(
            "{:?} stands twice; expected each name of a tag or field once",
            pair[0]
        );
        return Err(Refusal {
            param: "tags",
            reason,
        });
    }
    if let Some(name) = names.iter().find(|name| !tag::is_name(name)) {
        let reason = format!(
            "{name:?} is no name; expected a letter, then letters, digits, _ . or -, 64 chars at most, and no digit at its end"
        );
        return Err(Refusal {
            param: "tags",
            reason,
        });
    }
    let Some(Value::Table(aliases)) = params.get("aliases") else {
        return Ok(());
    };
    for (alias, name) in aliases {
        if !name.as_text().is_some_and(|name| names.contains(&name)) || !tag::is_name(alias) {
            let reason =
                format!("{alias} = {name}: expected a name, and a tag or field that is known");
            return Err(Refusal {
                param: "aliases",
                reason,
            });
        }
    }
    Ok(())
}
