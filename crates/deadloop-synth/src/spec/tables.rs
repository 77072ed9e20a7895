//! The tables of a spec and of a file of forms.
//!
//! A field is a key, which serde reads. Its type, comment and default are the text of `--keys`.

#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "`--keys` prints the comments as they are"
)]

use deadloop_detect::Fault;
use serde::Deserialize;

use super::keys::SpecKey;
use super::kinds::ItemKind;
use super::values::{
    BoundedRange, CHARS, Fraction, NamedLists, NamedValue, NonEmpty, NonEmptyText, Share,
    SpecValue, WholeNumber, WordGroups, WordValue,
};

/// Defines tables, each as a struct. A key with a default is an `Option`. The default is given in words, since it
/// often depends on other keys.
macro_rules! tables {
    ($($(#[doc = $what:literal])+ $table:ident {
        $($(#[doc = $about:literal])+ $key:ident: $of:ty $(= $default:literal)?,)+
    })+) => {$(
        $(#[doc = $what])+
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub(crate) struct $table {
            $($(#[doc = $about])+ pub(crate) $key: $of,)+
        }

        impl $table {
            /// The keys of the table.
            pub(super) const KEYS: &'static [SpecKey] = &[$(SpecKey {
                field: stringify!($key),
                default: concat!($($default)?),
                meaning: concat!($($about),+),
                expected: <$of as SpecValue>::expected,
            }),+];
        }

        impl SpecValue for $table {
            fn expected() -> String {
                "a table".into()
            }
        }
    )+};
}

deadloop_detect::words! {
    /// The name of the model of a made text.
    pub(crate) enum Writers {
        Marked = "marked",
        Kept = "kept",
    }
    /// The transcripts taken from a source.
    pub(crate) enum SourceFilter {
        Clean = "clean",
        All = "all",
    }
    /// The channel of a text.
    pub(crate) enum SpecChannel {
        Answer = "answer",
        Reasoning = "reasoning",
    }
    /// The class in the label of a loop.
    pub(crate) enum LoopClass {
        Loop = "loop",
        Transient = "transient",
    }
    /// The kinds of streams that can be damaged.
    pub(crate) enum SpecStreamKind {
        Tags = "tags",
        Think = "think",
        Text = "text",
        Arguments = "arguments",
        Name = "name",
        Events = "events",
        Whole = "whole",
        Calls = "calls",
    }
    /// The values that are added to each result of a run.
    pub(crate) enum Volatile {
        Ids = "ids",
        Dates = "dates",
    }
    /// The ways in which copies differ.
    pub(crate) enum DriftKind {
        Counter = "counter",
        Fill = "fill",
        /// `Fill` with a random filler in each copy, which leaves no period.
        Draw = "draw",
        Word = "word",
        Paraphrase = "paraphrase",
        Case = "case",
        Space = "space",
        /// The statements of the unit in another order, joined by words of doubt.
        Circle = "circle",
    }
    /// The kinds of chunks.
    pub(crate) enum ChunkKind {
        Chars = "chars",
        Tokens = "tokens",
        Recorded = "recorded",
    }
}

/// Implements [`NamedValue`] for enums of words.
macro_rules! named {
    ($($words:ty),+) => {$(
        impl NamedValue for $words {
            fn all() -> Vec<Self> {
                Self::ALL.to_vec()
            }

            fn name(self) -> &'static str {
                self.name()
            }
        }
    )+};
}

named!(
    LoopClass,
    ChunkKind,
    DriftKind,
    Fault,
    SpecStreamKind,
    SourceFilter,
    SpecChannel,
    Volatile,
    Writers
);

tables! {
    /// The file as a whole.
    SpecTable {
        /// name of the corpus
        name: NonEmptyText,
        /// the same spec, seed and sources give the same bytes
        seed: WholeNumber<0, { i64::MAX as u64 }>,
        /// version, for the card
        version: Option<NonEmptyText> = "1",
        /// licence, for the card
        licence: Option<NonEmptyText> = "none",
        /// what it is, for the card
        description: Option<NonEmptyText> = "none",
        /// what else is to be said about how it was made, for the card
        how: Option<NonEmptyText> = "none",
        /// model of texts that no model wrote
        model: Option<NonEmptyText> = "handmade",
        /// the model of other texts: marked: the writer's name with +planted or +damaged after it; kept: the name
        /// alone, so that a setting chosen for it is a setting for the model itself
        writers: Option<WordValue<Writers>> = "marked",
        /// share of each pool of texts, units and forms that is dealt to split test; the rest is dev; 0: no splits
        test: Option<Fraction> = "0.3",
        /// words that may stand for one another
        paraphrase: Option<WordGroups> = "none",
        /// where clean text and runs come from
        source: Option<Vec<SourceTable>> = "none",
        /// texts that are repeated, instead of pieces of clean text
        unit: Option<Vec<Unit>> = "none",
        /// tools that are called in tool loops
        tool: Option<Vec<Tool>> = "none",
        /// files of hard negatives
        forms: Option<Vec<FormsTable>> = "none",
        /// what is made
        item: Vec<ItemTable>,
    }
    /// `[[source]]`.
    SourceTable {
        /// what items call it by
        name: NonEmptyText,
        /// path of a corpus, from the spec's folder; transcripts labelled clean are taken
        corpus: Option<NonEmptyText> = "none",
        /// path of a text file, or a folder of .txt files, instead: paragraphs apart by a blank line
        text: Option<NonEmptyText> = "none",
        /// language tag; required with text, a filter with corpus
        lang: Option<NonEmptyText> = "the transcript's",
        /// key=value: only such transcripts of the corpus
        r#where: Option<NonEmpty<NonEmptyText>> = "all",
        /// all: whatever the labels say, or without any
        take: Option<WordValue<SourceFilter>> = "clean",
    }
    /// `[[unit]]`: texts that are repeated.
    Unit {
        /// what items call it by; several may share a name, one a language
        name: NonEmptyText,
        /// language tag
        lang: NonEmptyText,
        /// the texts, each with its own end (a blank, a line break); {} is filled by drift fill, draw and counter
        texts: NonEmpty<NonEmptyText>,
        /// what drift fill and draw put in place of {}
        fillers: Option<NonEmpty<NonEmptyText>> = "none",
    }
    /// `[[tool]]`: a tool that is called.
    Tool {
        /// the tool
        name: NonEmptyText,
        /// values that each argument may take
        arguments: Option<NamedLists> = "none",
        /// what it may answer
        results: Option<NonEmpty<NonEmptyText>> = "ok",
    }
    /// `[[forms]]`.
    FormsTable {
        /// what items call it by
        name: NonEmptyText,
        /// path of a file of [[form]] tables, from the spec's folder
        file: NonEmptyText,
    }
    /// `[[item]]`: what is made, how often, and how its copies differ and arrive.
    ItemTable {
        /// its transcripts are <name>/000, <name>/001, …; with the spec's seed it seeds them, so items do not disturb
        /// each other
        name: NonEmptyText,
        /// the loop's kind, or clean; recorded: transcripts of its sources as they are, with labels and split; of runs:
        /// a kind of agents.md, harmless repetition, or run: as it is
        kind: WordValue<&'static ItemKind>,
        /// how many transcripts; with forms: of each form; recorded: at most
        count: WholeNumber<1, 100_000>,
        /// its transcripts stand in transcripts/<file>.jsonl.zst: letters, digits, - and _
        file: Option<NonEmptyText> = "synth",
        /// names of the [[source]]s of its clean text; of a fault of calls: of the runs whose parallel calls are
        /// damaged, in place of the [[tool]]s
        source: Option<NonEmpty<NonEmptyText>> = "all",
        /// languages, dealt in turn; of forms: which of them
        lang: Option<NonEmpty<NonEmptyText>> = "en, or those of its sources where none is English; of forms: all",
        /// channels, dealt in turn
        channel: Option<NonEmpty<WordValue<SpecChannel>>> = "answer; a form's own",
        /// name of the [[unit]] whose texts are repeated
        unit: Option<NonEmptyText> = "cut from clean text",
        /// length of one copy, in chars or calls; of window: calls of a round
        period: Option<BoundedRange<1, CHARS>> = "short-sequence 2 to 40, ordered-list 10 to 400, tool-cycle, cycle, \
            interleaved and replan 2 to 4, aperiodic-stagnation and window 4 to 8, else 40 to 600",
        /// the fewest copies; of window: rounds
        copies: Option<BoundedRange<2, 1_000_000>> = "4 to 12; tools 3 to 8; runs 4 to 10; poll and verify 3 to 6, \
            batch 5 to 9, retry 2 to 3, game 8 to 20, stateless 3 to 8, reworded-write 8 to 16, window 3 to 4, \
            narration 5 to 8, same-answer 5 to 10",
        /// the fewest chars from the first copy on
        length: Option<BoundedRange<0, CHARS>> = "700 to 2600",
        /// where the second copy begins, in chars, calls, or turns (monologue, handoff, same-answer, narration);
        /// several ranges are dealt in turn
        onset: Option<NonEmpty<BoundedRange<1, CHARS>>> = "700 to 6000; tools and runs 3 to 20",
        /// clean chars or calls after the loop; 0: it goes on to the end
        after: Option<BoundedRange<0, CHARS>> = "0",
        /// what the label says of a loop; transient needs after
        class: Option<WordValue<LoopClass>> = "loop",
        /// the last copy is cut somewhere, as at a token limit
        truncate: Option<bool> = "true",
        /// how copies differ; near-repeat needs it, others only with lead
        drift: Option<Drift> = "none",
        /// copies that drift before the exact ones; the label's earliest is the second of them
        lead: Option<BoundedRange<0, 1000>> = "0",
        /// a copy begins with a smaller unit, repeated this many times; the first such run is labelled transient
        nested: Option<BoundedRange<2, 100>> = "none",
        /// repetitions of 2 or 3 copies before the loop that end by themselves, labelled transient
        false_starts: Option<BoundedRange<0, 20>> = "0",
        /// how the text is cut into events
        chunks: Option<Chunks> = "one event",
        /// name of the [[forms]]: hard negatives, of a fault the streams that are damaged (with `source` the actions in
        /// them, between the sentences of real answers), of runs the scripts (class run); without: clean text alone, or
        /// the transcripts of its sources
        forms: Option<NonEmptyText> = "none",
        /// length of clean text without forms
        chars: Option<BoundedRange<1, CHARS>> = "1000 to 6000",
        /// name of the [[unit]] whose texts stand as words of doubt before each statement of clean text without forms
        glue: Option<NonEmptyText> = "none",
        /// paragraphs of clean text before a form and after it
        around: Option<BoundedRange<0, 100>> = "1 to 3",
        /// paragraphs of clean text in the other channel: thought before a form's answer, or said after its thinking
        aside: Option<BoundedRange<0, 100>> = "0",
        /// kinds of damage, dealt in turn
        fault: Option<NonEmpty<WordValue<Fault>>> = "none; a fault needs one",
        /// what is damaged: a text with actions in tags, thinking and an answer, a text, a call's arguments or name,
        /// events with ids and places, a whole stream, parallel calls; of forms those of this class are taken
        stream: Option<WordValue<SpecStreamKind>> = "none; a fault needs one",
        /// degrees of damage, dealt in turn
        severity: Option<BoundedRange<1, 3>> = "1 to 3",
        /// share that is left as it was; of a stall: it goes on after a pause
        intact: Option<Fraction> = "0.2",
        /// what an error says (retry, error-retry, reworded-write), a tool that is not ready (poll; {} is how far it is)
        /// or has nothing to say (stateless), a turn without a call (monologue, handoff, same-answer), a turn before
        /// its call (narration; {} counts the turns), the plan (replan)
        texts: Option<NonEmpty<NonEmptyText>> = "some in English",
        /// what each result of the run has, drawn anew: an id, a date, or both; fields of a JSON object, else lines
        volatile: Option<NonEmpty<WordValue<Volatile>>> = "none",
        /// names of the [[tool]]s called
        tools: Option<NonEmpty<NonEmptyText>> = "all",
    }
    /// `item.drift`: how the copies of a loop differ from the first one.
    Drift {
        /// counter: a number counts the copies; fill: {} is filled from fillers in turn; draw: with any of them; word: a
        /// word becomes another; paraphrase: words become their like; case, space: noise; circle: the statements of the
        /// text in another order, glued by words of doubt
        kind: WordValue<DriftKind>,
        /// share of the copies after the first that differ; counter and fill: always all; circle: share of the
        /// statements that are glued
        rate: Option<Share> = "1",
        /// text before each copy, if it has no {}
        counter: Option<NonEmptyText> = "Attempt {}: or 第{}次：",
        /// name of the [[unit]] whose texts are the words of doubt, one before each statement
        glue: Option<NonEmptyText> = "circle has to say",
    }
    /// `item.chunks`.
    Chunks {
        /// tokens: pieces of words, counted in each event's tokens; recorded: the pieces and times of the recording, of
        /// stream whole out of a source
        by: WordValue<ChunkKind>,
        /// chars or tokens of an event
        size: Option<BoundedRange<1, 100_000>> = "1",
        /// milliseconds from an event to the next; marked as made in meta.times
        ms: Option<BoundedRange<0, 600_000>> = "no times",
    }
    /// A file of forms.
    FormFile {
        /// names for lists of texts, to pick from
        lists: Option<NamedLists> = "none",
        /// the forms
        form: Vec<Form>,
    }
    /// `[[form]]`: a shape of healthy text.
    Form {
        /// its own among all forms
        name: NonEmptyText,
        /// class of hard negative, for meta.tag
        class: NonEmptyText,
        /// language tag
        lang: Option<NonEmptyText> = "en",
        /// channel in which such text usually comes
        channel: Option<WordValue<SpecChannel>> = "answer",
        /// the most texts to make: 1 for a text without variables
        most: Option<WholeNumber<1, 100_000>> = "the item's count",
        /// without clean text around it
        alone: Option<bool> = "false",
        /// a Jinja template; of class run: a script, a line of it @user, @say, @think, @call NAME JSON, @result, @error,
        /// @agent, or @poll … @end around harmless repetition
        text: NonEmptyText,
    }
}
