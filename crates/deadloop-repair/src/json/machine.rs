//! The modes of the repairer. Some wait for the whole text.

use serde::de::IgnoredAny;

use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, list, size};
use deadloop_detect::harness::Params;

use super::clean::clean;
use super::closer::Closer;
use super::cutter::Cutter;
use super::tolerant;

deadloop_detect::words! {
    /// The parameter `mode`.
    pub(super) enum JsonMode {
        Strict = "strict",
        Control = "control",
        Close = "close",
        Tolerant = "tolerant",
    }
}

/// The repairer of one text.
pub(super) struct JsonMachine {
    mode: JsonMode,
    cutter: Cutter,
    closer: Closer,
    refuse_cut: bool,
    /// Whether arguments with a mark in a string are refused.
    refuse_inside: bool,
    hold: usize,
    /// The text so far, in the modes that wait for the whole text.
    text: String,
    /// The length of `text` in chars.
    chars: usize,
    too_long: bool,
    work: u64,
}

impl JsonMachine {
    pub(super) fn new(params: &Params) -> Self {
        let hold = size(params, "hold");
        Self {
            mode: JsonMode::named(params.text("mode")).unwrap_or(JsonMode::Tolerant),
            cutter: Cutter::new(&list(params, "control"), params.text("inside") != "keep"),
            closer: Closer::new(params.text("partial") == "keep", hold),
            refuse_cut: params.text("partial") == "refuse",
            refuse_inside: params.text("inside") == "refuse",
            hold,
            text: String::new(),
            chars: 0,
            too_long: false,
            work: 0,
        }
    }

    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let (closer, work) = (&mut self.closer, &mut self.work);
        match self.mode {
            JsonMode::Control => self
                .cutter
                .push_char(c, work, &mut |c| out.text(c.encode_utf8(&mut [0; 4]))),
            JsonMode::Close => {
                let mut pass = |part: &str| out.text(part);
                self.cutter
                    .push_char(c, work, &mut |c| closer.push_char(c, &mut pass));
            }
            JsonMode::Strict | JsonMode::Tolerant if self.chars < self.hold => {
                self.text.push(c);
                self.chars += 1;
            }
            JsonMode::Strict | JsonMode::Tolerant => {
                self.too_long = true;
                self.text = String::new();
            }
        }
    }

    /// Returns the whole text as JSON. `None` if it is rejected.
    fn take_json(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        if self.too_long {
            return None;
        }
        self.work += 4 * self.chars as u64;
        if self.refuse_inside && self.is_marked_inside(&text) {
            return None;
        }
        if is_json(&text) {
            return Some(text);
        }
        let mends = self.mode == JsonMode::Tolerant;
        mends.then(|| self.mend(&text)).flatten()
    }

    /// Returns whether control text is in a string. If so, the text that it replaced is unknown.
    fn is_marked_inside(&mut self, text: &str) -> bool {
        let mut cutter = self.cutter.clone();
        for c in text.chars() {
            cutter.push_char(c, &mut self.work, &mut |_| {});
        }
        cutter.cut_inside()
    }

    /// Repairs a text that does not parse. `None` if no JSON can be recovered.
    fn mend(&mut self, text: &str) -> Option<String> {
        let (mut cut, mut closed) = (String::new(), String::new());
        for c in text.chars() {
            self.cutter
                .push_char(c, &mut self.work, &mut |c| cut.push(c));
        }
        self.cutter.finish(&mut |c| cut.push(c));
        let mut add = |part: &str| closed.push_str(part);
        for c in clean(&cut).chars() {
            self.closer.push_char(c, &mut add);
        }
        if self.closer.finish(&mut add) && self.refuse_cut {
            return None;
        }
        if is_json(&closed) {
            return Some(closed);
        }
        tolerant::read(&closed).filter(|json| is_json(json))
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl TextRepair for JsonMachine {
    fn push(&mut self, chunk: &str, out: &mut MeaningParts) {
        chunk.chars().for_each(|c| self.push_char(c, out));
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        let mut pass = |part: &str| out.text(part);
        match self.mode {
            JsonMode::Control => self
                .cutter
                .finish(&mut |c| pass(c.encode_utf8(&mut [0; 4]))),
            JsonMode::Close => {
                let closer = &mut self.closer;
                self.cutter.finish(&mut |c| closer.push_char(c, &mut pass));
                self.closer.finish(&mut pass);
            }
            JsonMode::Strict | JsonMode::Tolerant => {
                if let Some(json) = self.take_json() {
                    out.text(&json);
                }
            }
        }
    }

    fn held(&self) -> usize {
        match self.mode {
            JsonMode::Control | JsonMode::Close => self.cutter.held() + self.closer.held(),
            JsonMode::Strict | JsonMode::Tolerant => self.chars,
        }
    }

    fn work(&self) -> u64 {
        self.work
    }
}
