//! The keys of an item: what is made, how often, and how its copies differ and arrive.

use deadloop_detect::Fault;

use super::keys::{Domain, Key};
use super::kinds::{
    CLEAN, COPIED, CUT, EXACT, FAULT, FORMED, KINDS, LOOP, PERIOD, REPEATS, RUN, TEXT, TEXTS,
    TOOLS, WRITTEN,
};
use super::tables::{REQUIRED, key};

/// Most chars of anything: what a recording can be expected to hold.
pub(super) const CHARS: u64 = 10_000_000;

/// The names of faults.
const FAULTS: [&str; Fault::ALL.len()] = {
    let mut names = [""; Fault::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Fault::ALL[at].name();
        at += 1;
    }
    names
};

/// `[[item]]`.
pub(crate) const ITEM: &[Key] = &[
    key(
        "name",
        Domain::Text,
        REQUIRED,
        "its transcripts are <name>/000, <name>/001, …; with the spec's seed it \
             seeds them, so items do not disturb each other",
    ),
    key(
        "kind",
        Domain::Word(&KINDS),
        REQUIRED,
        "the loop's kind, or clean; recorded: transcripts of its sources as they \
             are, with labels and split; of runs: a kind of agents.md, harmless \
             repetition, or run: as it is",
    ),
    key(
        "count",
        Domain::Whole(1, 100_000),
        REQUIRED,
        "how many transcripts; with forms: of each form; recorded: at most",
    ),
    key(
        "file",
        Domain::Text,
        "synth",
        "its transcripts stand in transcripts/<file>.jsonl.zst: letters, digits, - \
             and _",
    ),
    key(
        "source",
        Domain::Texts,
        "all",
        "names of the [[source]]s of its clean text; of a fault of calls: of the runs \
             whose parallel calls are damaged, in place of the [[tool]]s",
    ),
    key(
        "lang",
        Domain::Texts,
        "en, or those of its sources where none is English; of forms: all",
        "languages, dealt in turn; of forms: which of them",
    )
    .of(LOOP | REPEATS | FORMED),
    key(
        "channel",
        Domain::Words(&["answer", "reasoning"]),
        "answer; a form's own",
        "channels, dealt in turn",
    )
    .of(WRITTEN),
    key(
        "unit",
        Domain::Text,
        "cut from clean text",
        "name of the [[unit]] whose texts are repeated",
    )
    .of(TEXT),
    key(
        "period",
        Domain::Range(1, CHARS),
        "short-sequence 2 to 40, ordered-list 10 to 400, tool-cycle, cycle, interleaved \
             and replan 2 to 4, aperiodic-stagnation and window 4 to 8, else 40 to 600",
        "length of one copy, in chars or calls; of window: calls of a round",
    )
    .of(PERIOD),
    key(
        "copies",
        Domain::Range(2, 1_000_000),
        "4 to 12; tools 3 to 8; runs 4 to 10; poll and verify 3 to 6, batch 5 to 9, \
             retry 2 to 3, game 8 to 20, stateless 3 to 8, reworded-write 8 to 16, window 3 to \
             4, narration 5 to 8, same-answer 5 to 10",
        "the fewest copies; of window: rounds",
    )
    .of(COPIED),
    key(
        "length",
        Domain::Range(0, CHARS),
        "700 to 2600",
        "the fewest chars from the first copy on",
    )
    .of(TEXT),
    key(
        "onset",
        Domain::Ranges(1, CHARS),
        "700 to 6000; tools and runs 3 to 20",
        "where the second copy begins, in chars, calls, or turns (monologue, \
             handoff, same-answer, narration); several ranges are dealt in turn",
    )
    .of(REPEATS),
    key(
        "after",
        Domain::Range(0, CHARS),
        "0",
        "clean chars or calls after the loop; 0: it goes on to the end",
    )
    .of(LOOP),
    key(
        "class",
        Domain::Word(&["loop", "transient"]),
        "loop",
        "what the label says of a loop; transient needs after",
    )
    .of(LOOP),
    key(
        "truncate",
        Domain::Flag,
        "true",
        "the last copy is cut somewhere, as at a token limit",
    )
    .of(TEXT),
    key(
        "drift",
        Domain::Table(DRIFT),
        "none",
        "how copies differ; near-repeat needs it, others only with lead",
    )
    .of(TEXT),
    key(
        "lead",
        Domain::Range(0, 1000),
        "0",
        "copies that drift before the exact ones; the label's earliest is the \
             second of them",
    )
    .of(EXACT),
    key(
        "nested",
        Domain::Range(2, 100),
        "none",
        "a copy begins with a smaller unit, repeated this many times; the first such run \
             is labelled transient",
    )
    .of(EXACT),
    key(
        "false_starts",
        Domain::Range(0, 20),
        "0",
        "repetitions of 2 or 3 copies before the loop that end by themselves, \
             labelled transient",
    )
    .of(TEXT),
    key(
        "chunks",
        Domain::Table(CHUNKS),
        "one event",
        "how the text is cut into events",
    )
    .of(CUT),
    key(
        "forms",
        Domain::Text,
        "none",
        "name of the [[forms]]: hard negatives, of a fault the streams that are \
             damaged (with `source` the actions in them, between the sentences of real \
             answers), of runs the scripts (class run); without: clean text alone, or \
             the transcripts of its sources",
    )
    .of(FORMED),
    key(
        "chars",
        Domain::Range(1, CHARS),
        "1000 to 6000",
        "length of clean text without forms",
    )
    .of(CLEAN),
    key(
        "glue",
        Domain::Text,
        "none",
        "name of the [[unit]] whose texts stand as words of doubt before each \
             statement of clean text without forms",
    )
    .of(CLEAN),
    key(
        "around",
        Domain::Range(0, 100),
        "1 to 3",
        "paragraphs of clean text before a form and after it",
    )
    .of(CLEAN),
    key(
        "aside",
        Domain::Range(0, 100),
        "0",
        "paragraphs of clean text in the other channel: thought before a form's \
             answer, or said after its thinking",
    )
    .of(CLEAN),
    key(
        "fault",
        Domain::Words(&FAULTS),
        "none; a fault needs one",
        "kinds of damage, dealt in turn",
    )
    .of(FAULT),
    key(
        "stream",
        Domain::Word(super::faults::STREAMS),
        "none; a fault needs one",
        "what is damaged: a text with actions in tags, thinking and an answer, a \
             text, a call's arguments or name, events with ids and places, a whole \
             stream, parallel calls; of forms those of this class are taken",
    )
    .of(FAULT),
    key(
        "severity",
        Domain::Range(1, 3),
        "1 to 3",
        "degrees of damage, dealt in turn",
    )
    .of(FAULT),
    key(
        "intact",
        Domain::Part,
        "0.2",
        "share that is left as it was; of a stall: it goes on after a pause",
    )
    .of(FAULT),
    key(
        "texts",
        Domain::Texts,
        "some in English",
        "what an error says (retry, error-retry, reworded-write), a tool that is not ready \
             (poll; {} is how far it is) or has nothing to say (stateless), a turn without a \
             call (monologue, handoff, same-answer), a turn before its call (narration; {} counts \
             the turns), the plan (replan)",
    )
    .of(TEXTS),
    key(
        "volatile",
        Domain::Words(super::runs::VOLATILE),
        "none",
        "what each result of the run has, drawn anew: an id, a date, or both; fields of a JSON object, \
             else lines",
    )
    .of(RUN),
    key(
        "tools",
        Domain::Texts,
        "all",
        "names of the [[tool]]s called",
    )
    .of(TOOLS),
];

/// `item.drift`.
pub(crate) const DRIFT: &[Key] = &[
    key(
        "kind",
        Domain::Word(super::drift::KINDS),
        REQUIRED,
        "counter: a number counts the copies; fill: {} is filled from fillers in turn; draw: with any of them; \
             word: a word becomes another; paraphrase: words become their like; case, \
             space: noise; circle: the statements of the text in another order, glued \
             by words of doubt",
    ),
    key(
        "rate",
        Domain::Share,
        "1",
        "share of the copies after the first that differ; counter and fill: always \
             all; circle: share of the statements that are glued",
    ),
    key(
        "counter",
        Domain::Text,
        "Attempt {}: or 第{}次：",
        "what stands before a copy without {}",
    ),
    key(
        "glue",
        Domain::Text,
        "circle has to say",
        "name of the [[unit]] whose texts are the words of doubt, one of them \
             before each statement",
    ),
];

/// `item.chunks`.
pub(crate) const CHUNKS: &[Key] = &[
    key(
        "by",
        Domain::Word(&["chars", "tokens", "recorded"]),
        REQUIRED,
        "tokens: pieces of words, counted in each event's tokens; recorded: the pieces and times of the \
         recording, of stream whole out of a source",
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
