//! Hard negatives: healthy text that looks like a loop to a naive detector. One function a class, all
//! of them in [`CLASSES`]; `datasets/POLICY.md` lists the same names.

use deadloop_corpus::plant::Rng;

mod code;
mod data;
mod lists;
mod speech;
mod tables;
pub(crate) mod words;

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lang {
    En,
    Zh,
}

impl Lang {
    pub(crate) const ALL: [Self; 2] = [Self::En, Self::Zh];

    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// One of two, by language.
    pub(crate) fn choose<T>(self, en: T, zh: T) -> T {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}

/// A class of healthy text.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) langs: &'static [Lang],
    /// Where such text usually stands.
    pub(crate) reasoning: bool,
    /// Makes a block of some 800 to 5,000 chars.
    pub(crate) make: fn(&mut Rng, Lang) -> String,
}

const EN: &[Lang] = &[Lang::En];
const ZH: &[Lang] = &[Lang::Zh];
const BOTH: &[Lang] = &Lang::ALL;

const fn answer(
    name: &'static str,
    langs: &'static [Lang],
    make: fn(&mut Rng, Lang) -> String,
) -> Class {
    Class {
        name,
        langs,
        reasoning: false,
        make,
    }
}

const fn reasoning(
    name: &'static str,
    langs: &'static [Lang],
    make: fn(&mut Rng, Lang) -> String,
) -> Class {
    Class {
        reasoning: true,
        ..answer(name, langs, make)
    }
}

/// Every class.
pub(crate) const CLASSES: &[Class] = &[
    answer("markdown-table", BOTH, tables::markdown),
    answer("csv-rows", BOTH, tables::csv),
    answer("sql-rows", EN, tables::sql),
    answer("html-table", EN, tables::html),
    answer("ascii-table", EN, tables::ascii),
    answer("json-array", BOTH, data::json),
    answer("yaml-config", EN, data::yaml),
    answer("base64", EN, data::base64),
    answer("hex-dump", EN, data::hex),
    answer("dna-sequence", EN, data::dna),
    answer("matrix", EN, data::matrix),
    answer("svg-path", EN, data::svg),
    answer("list-shared-prefix", BOTH, lists::shared_prefix),
    answer("numbered-lines", BOTH, lists::numbered_lines),
    answer("counting", BOTH, lists::counting),
    answer("multiplication-table", BOTH, lists::multiplication),
    answer("citations", BOTH, lists::citations),
    answer("url-list", EN, lists::urls),
    answer("study-plan", BOTH, lists::plan),
    answer("repeated-code-lines", EN, code::setters),
    answer("closing-braces", EN, code::braces),
    answer("test-log", EN, code::test_log),
    answer("progress-bar", EN, code::progress),
    answer("ascii-art", EN, code::art),
    answer("rulers", BOTH, code::rulers),
    answer("diff", EN, code::diff),
    answer("poem-refrain", BOTH, speech::refrain),
    answer("reduplication", ZH, speech::reduplication),
    answer("emphasis", EN, speech::emphasis),
    answer("dialogue", BOTH, speech::dialogue),
    answer("subtitles", BOTH, speech::subtitles),
    answer("contract-clauses", BOTH, speech::clauses),
    reasoning("case-check", BOTH, lists::cases),
    reasoning("restated-question", BOTH, speech::restated),
    reasoning("equation-steps", BOTH, data::equations),
];

/// Lines made one by one.
fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// One of these.
pub(crate) fn one<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    rng.pick(from).copied().unwrap_or_default()
}

/// A fence around code.
fn fenced(language: &str, code: &str) -> String {
    format!("```{language}\n{code}\n```")
}
