//! The keys themselves, table by table.

use super::keys::{Domain, Key};

/// Most chars of anything: what a recording can be expected to hold.
pub(super) const CHARS: u64 = 10_000_000;

/// The kinds of an item.
pub(crate) const KINDS: &[&str] = &[
    "short-sequence",
    "paragraph",
    "ordered-list",
    "near-repeat",
    "tool-repeat",
    "tool-cycle",
    "clean",
];
const TEXT: &[&str] = &["short-sequence", "paragraph", "ordered-list", "near-repeat"];
const EXACT: &[&str] = &["short-sequence", "paragraph"];
const LOOPS: &[&str] = &[
    "short-sequence",
    "paragraph",
    "ordered-list",
    "near-repeat",
    "tool-repeat",
    "tool-cycle",
];
const TOOLS: &[&str] = &["tool-repeat", "tool-cycle"];
const CYCLE: &[&str] = &[
    "short-sequence",
    "paragraph",
    "ordered-list",
    "near-repeat",
    "tool-cycle",
];
const CLEAN: &[&str] = &["clean"];
const WRITTEN: &[&str] = &[
    "short-sequence",
    "paragraph",
    "ordered-list",
    "near-repeat",
    "clean",
];

const fn key(
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
        kinds: &[],
    }
}

const fn of(kinds: &'static [&'static str], key: Key) -> Key {
    Key { kinds, ..key }
}

const REQUIRED: &str = "required";

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
        "model of texts that no model wrote; else the writer's name with +planted after it",
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
        REQUIRED,
        "where clean text comes from",
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
        "the texts, each with its own end (a blank, a line break); {} is filled by drift fill and counter",
    ),
    key(
        "fillers",
        Domain::Texts,
        "none",
        "what drift fill puts in place of {}",
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

/// `[[item]]`.
pub(crate) const ITEM: &[Key] = &[
    key(
        "name",
        Domain::Text,
        REQUIRED,
        "its transcripts are <name>/000, <name>/001, …; with the spec's seed it seeds them, so items do not disturb each other",
    ),
    key(
        "kind",
        Domain::Word(KINDS),
        REQUIRED,
        "the loop's kind, or clean",
    ),
    key(
        "count",
        Domain::Whole(1, 100_000),
        REQUIRED,
        "transcripts; with forms: of each form",
    ),
    key(
        "source",
        Domain::Texts,
        "all",
        "names of the [[source]]s of its clean text",
    ),
    key(
        "lang",
        Domain::Texts,
        "en; of forms: all",
        "languages, dealt in turn; of forms: which of them",
    ),
    of(
        WRITTEN,
        key(
            "channel",
            Domain::Words(&["answer", "reasoning"]),
            "answer; a form's own",
            "channels, dealt in turn",
        ),
    ),
    of(
        TEXT,
        key(
            "unit",
            Domain::Text,
            "cut from clean text",
            "name of the [[unit]] whose texts are repeated",
        ),
    ),
    of(
        CYCLE,
        key(
            "period",
            Domain::Range(1, CHARS),
            "short-sequence 2 to 40, ordered-list 10 to 400, tool-cycle 2 to 4, else 40 to 600",
            "length of one copy, in chars or calls",
        ),
    ),
    of(
        LOOPS,
        key(
            "copies",
            Domain::Range(2, 1_000_000),
            "4 to 12; tools 3 to 8",
            "at least so many copies",
        ),
    ),
    of(
        TEXT,
        key(
            "length",
            Domain::Range(0, CHARS),
            "700 to 2600",
            "at least so many chars from the first copy on",
        ),
    ),
    of(
        LOOPS,
        key(
            "onset",
            Domain::Ranges(1, CHARS),
            "700 to 6000; tools 3 to 20",
            "where the second copy begins, in chars or calls; several ranges are dealt in turn",
        ),
    ),
    of(
        LOOPS,
        key(
            "after",
            Domain::Range(0, CHARS),
            "0",
            "clean chars or calls after the loop; 0: it goes on to the end",
        ),
    ),
    of(
        LOOPS,
        key(
            "class",
            Domain::Word(&["loop", "transient"]),
            "loop",
            "what the label says of a loop; transient needs after",
        ),
    ),
    of(
        TEXT,
        key(
            "truncate",
            Domain::Flag,
            "true",
            "the last copy is cut somewhere, as at a token limit",
        ),
    ),
    of(
        TEXT,
        key(
            "drift",
            Domain::Table(DRIFT),
            "none",
            "how copies differ; near-repeat needs it, others only with lead",
        ),
    ),
    of(
        EXACT,
        key(
            "lead",
            Domain::Range(0, 1000),
            "0",
            "copies that drift before the exact ones; the label's earliest is the second of them",
        ),
    ),
    of(
        EXACT,
        key(
            "nested",
            Domain::Range(2, 100),
            "none",
            "a copy begins with a smaller unit so many times over; the first such run is labelled transient",
        ),
    ),
    of(
        TEXT,
        key(
            "false_starts",
            Domain::Range(0, 20),
            "0",
            "repetitions of 2 or 3 copies before the loop that end by themselves, labelled transient",
        ),
    ),
    of(
        TEXT,
        key(
            "chunks",
            Domain::Table(CHUNKS),
            "one event",
            "how the text is cut into events",
        ),
    ),
    of(
        CLEAN,
        key(
            "forms",
            Domain::Text,
            "none",
            "name of the [[forms]]: hard negatives; without: clean text alone",
        ),
    ),
    of(
        CLEAN,
        key(
            "chars",
            Domain::Range(1, CHARS),
            "1000 to 6000",
            "length of clean text without forms",
        ),
    ),
    of(
        CLEAN,
        key(
            "around",
            Domain::Range(0, 100),
            "1 to 3",
            "paragraphs of clean text before a form and after it",
        ),
    ),
    of(
        TOOLS,
        key(
            "tools",
            Domain::Texts,
            "all",
            "names of the [[tool]]s called",
        ),
    ),
];

/// `item.drift`.
pub(crate) const DRIFT: &[Key] = &[
    key(
        "kind",
        Domain::Word(super::drift::KINDS),
        REQUIRED,
        "counter: a number counts the copies; fill: {} is filled from fillers; word: a word becomes another; paraphrase: words become their like; case, space: noise",
    ),
    key(
        "rate",
        Domain::Share,
        "1",
        "share of the copies after the first that differ; counter and fill: always all",
    ),
    key(
        "counter",
        Domain::Text,
        "Attempt {}: or 第{}次：",
        "what stands before a copy without {}",
    ),
];

/// `item.chunks`.
pub(crate) const CHUNKS: &[Key] = &[
    key(
        "by",
        Domain::Word(&["chars", "tokens"]),
        REQUIRED,
        "tokens: pieces of words, counted in each event's tokens",
    ),
    key(
        "size",
        Domain::Range(1, 100_000),
        "1",
        "chars or tokens of an event",
    ),
    key(
        "ms",
        Domain::Range(0, 600_000),
        "no times",
        "milliseconds from an event to the next; marked as made in meta.times",
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
        "at most so many of it: 1 for a text without variables",
    ),
    key(
        "alone",
        Domain::Flag,
        "false",
        "without clean text around it",
    ),
    key("text", Domain::Text, REQUIRED, "a Jinja template"),
];
