//! `names`: recovers a tool's name from a damaged one.
//!
//! Some servers add control text to a name, as in `get_weather<|channel|>commentary`, and models misspell names. A name
//! that resembles no known one passes unchanged, for the caller to handle.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the handling of each char | this module |
//! | presets and their sources | `presets.toml` |

use deadloop_detect::harness::{NearestName, Param, Params, Spec};

use super::meaning::MeaningParts;
use super::registry::{
    RepairTarget, Repairer, RepairerFactory, StreamKind, TextRepair, get_texts, get_usize, repairer,
};

repairer! {
    "names", version 1,
    "the name of a tool from one with control text behind it, or misspelt",
    Spec::PLAIN.check, Name, RepairTarget::Name, RepairerFactory::Text(|params| Box::new(NameMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::texts("known", &[]).doc("the names that there are"),
    Param::word("cut", "none", &["none", "mark"])
        .doc("mark: a name ends before the first <, with the blanks there"),
    Param::word("case", "exact", &["exact", "ignore"]).doc("ignore: ASCII letters in either case"),
    Param::count("edits", 0, 0..=2)
        .unit("edits")
        .doc("chars by which a name may differ; one for three letters of the known name at most"),
];

/// The maximum length of a repaired name, in chars. Longer names pass unchanged.
const MAX_NAME_CHARS: usize = 256;

/// The repairer of one name.
struct NameMachine {
    known: NearestName,
    cuts_at_mark: bool,
    name: String,
    chars: usize,
    /// Whether the name has ended. Later text is dropped.
    ended: bool,
    work: u64,
}

impl NameMachine {
    fn new(params: &Params) -> Self {
        let fold = params.text("case") == "ignore";
        Self {
            known: NearestName::new(get_texts(params, "known"), fold, get_usize(params, "edits")),
            cuts_at_mark: params.text("cut") == "mark",
            name: String::new(),
            chars: 0,
            ended: false,
            work: 0,
        }
    }
}

impl TextRepair for NameMachine {
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        self.ended |= self.cuts_at_mark && c == '<';
        if self.ended {
            return;
        }
        self.name.push(c);
        self.chars += 1;
        if self.chars > MAX_NAME_CHARS {
            out.push_text(&std::mem::take(&mut self.name));
        }
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        if self.chars > MAX_NAME_CHARS {
            return;
        }
        let mut name = self.name.as_str();
        if self.ended {
            name = name.trim_end();
        }
        let known = self.known.find(name, &mut self.work);
        let known = known.and_then(|(at, _)| self.known.known().get(at));
        out.push_text(known.map_or(name, String::as_str));
    }

    fn held_len(&self) -> usize {
        self.name.chars().count()
    }

    fn work(&self) -> u64 {
        self.work
    }
}
