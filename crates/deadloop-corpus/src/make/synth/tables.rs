//! The keys of the file and of what it names, table by table; those of an item stand in `items`.

use super::items::ITEM;
use super::keys::{Domain, Key};

/// A key of any item or table.
pub(super) const fn key(
    name: &'static str,
    domain: Domain,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        domain,
        default,
        meaning,
        groups: 0,
    }
}

/// The default of a key that has none.
pub(super) const REQUIRED: &str = "required";

/// The file as a whole.
pub(crate) const SPEC: &[Key] = &[
    key("name", Domain::Text, REQUIRED, "name of the corpus"),
    key(
        "seed",
        Domain::Whole(0, i64::MAX as u64),
        REQUIRED,
        "the same spec, seed and sources give the same bytes",
    ),
    key("version", Domain::Text, "1", "version, for the card"),
    key("licence", Domain::Text, "none", "licence, for the card"),
    key(
        "description",
        Domain::Text,
        "none",
        "what it is, for the card",
    ),
    key(
        "how",
        Domain::Text,
        "none",
        "what else is to be said about how it was made, for the card",
    ),
    key(
        "model",
        Domain::Text,
        "handmade",
        "model of texts that no model wrote",
    ),
    key(
        "writers",
        Domain::Word(&["marked", "kept"]),
        "marked",
        "the model of other texts: marked: the writer's name with +planted or +damaged after it; kept: the name \
         alone, so that a setting chosen for it is a setting for the model itself",
    ),
    key(
        "test",
        Domain::Part,
        "0.3",
        "share of each pool of texts, units and forms that is dealt to split test; the rest is dev; 0: no splits",
    ),
    key(
        "paraphrase",
        Domain::Groups,
        "none",
        "words that may stand for one another",
    ),
    key(
        "source",
        Domain::Tables(SOURCE),
        "none",
        "where clean text and runs come from",
    ),
    key(
        "unit",
        Domain::Tables(UNIT),
        "none",
        "texts that are repeated, instead of pieces of clean text",
    ),
    key(
        "tool",
        Domain::Tables(TOOL),
        "none",
        "tools that are called in tool loops",
    ),
    key(
        "forms",
        Domain::Tables(FORMS),
        "none",
        "files of hard negatives",
    ),
    key("item", Domain::Tables(ITEM), REQUIRED, "what is made"),
];

/// `[[source]]`.
pub(crate) const SOURCE: &[Key] = &[
    key("name", Domain::Text, REQUIRED, "what items call it by"),
    key(
        "corpus",
        Domain::Text,
        "none",
        "path of a corpus, from the spec's folder; transcripts labelled clean are taken",
    ),
    key(
        "text",
        Domain::Text,
        "none",
        "path of a text file, or a folder of .txt files, instead: paragraphs apart by a blank line",
    ),
    key(
        "lang",
        Domain::Text,
        "the transcript's",
        "language tag; required with text, a filter with corpus",
    ),
    key(
        "where",
        Domain::Texts,
        "all",
        "key=value: only such transcripts of the corpus",
    ),
    key(
        "take",
        Domain::Word(&["clean", "all"]),
        "clean",
        "all: whatever the labels say, or without any",
    ),
];

/// `[[unit]]`.
pub(crate) const UNIT: &[Key] = &[
    key(
        "name",
        Domain::Text,
        REQUIRED,
        "what items call it by; several may share a name, one a language",
    ),
    key("lang", Domain::Text, REQUIRED, "language tag"),
    key(
        "texts",
        Domain::Texts,
        REQUIRED,
        "the texts, each with its own end (a blank, a line break); {} is filled by drift fill, draw and counter",
    ),
    key(
        "fillers",
        Domain::Texts,
        "none",
        "what drift fill and draw put in place of {}",
    ),
];

/// `[[tool]]`.
pub(crate) const TOOL: &[Key] = &[
    key("name", Domain::Text, REQUIRED, "the tool"),
    key(
        "arguments",
        Domain::Lists,
        "none",
        "values that each argument may take",
    ),
    key("results", Domain::Texts, "ok", "what it may answer"),
];

/// `[[forms]]`.
pub(crate) const FORMS: &[Key] = &[
    key("name", Domain::Text, REQUIRED, "what items call it by"),
    key(
        "file",
        Domain::Text,
        REQUIRED,
        "path of a file of [[form]] tables, from the spec's folder",
    ),
];

/// `[[form]]` in a file of forms, and the lists that stand beside them.
pub(crate) const FORM_FILE: &[Key] = &[
    key(
        "lists",
        Domain::Lists,
        "none",
        "names for lists of texts, to pick from",
    ),
    key("form", Domain::Tables(FORM), REQUIRED, "the forms"),
];

/// One `[[form]]`.
pub(crate) const FORM: &[Key] = &[
    key("name", Domain::Text, REQUIRED, "its own among all forms"),
    key(
        "class",
        Domain::Text,
        REQUIRED,
        "class of hard negative, for meta.tag",
    ),
    key("lang", Domain::Text, "en", "language tag"),
    key(
        "channel",
        Domain::Word(&["answer", "reasoning"]),
        "answer",
        "where such text usually stands",
    ),
    key(
        "most",
        Domain::Whole(1, 100_000),
        "the item's count",
        "the most texts of it: 1 for a text without variables",
    ),
    key(
        "alone",
        Domain::Flag,
        "false",
        "without clean text around it",
    ),
    key(
        "text",
        Domain::Text,
        REQUIRED,
        "a Jinja template; of class run: a script, a line of it @user, @say, @think, @call NAME JSON, @result, @error, @agent, or @poll … @end around harmless repetition",
    ),
];
