//! [`JsonMachine`]: repairs the JSON of one text in one of several modes.
//!
//! Some modes wait for the whole text.

use serde::de::IgnoredAny;

use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, get_texts, get_usize};
use deadloop_detect::harness::Params;

use super::clean::clean;
use super::closer::Closer;
use super::cutter::Cutter;
use super::tolerant;

deadloop_detect::words! {
    /// The mode, from the parameter `mode`.
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
    /// Whether arguments with a control marker in a string are refused.
    refuse_control_in_string: bool,
    max_waiting_chars: usize,
    /// The text so far, in the modes that wait for the whole text.
    text: String,
    /// The length of `text` in chars.
    chars: usize,
    too_long: bool,
    work: u64,
}

impl JsonMachine {
    pub(super) fn new(params: &Params) -> Self {
        let hold = get_usize(params, "hold");
        let control = get_texts(params, "control");
        Self {
            mode: JsonMode::named(params.text("mode")).unwrap_or(JsonMode::Tolerant),
            cutter: Cutter::new(&control, params.text("inside") != "keep"),
            closer: Closer::new(params.text("partial") == "keep", hold),
            refuse_cut: params.text("partial") == "refuse",
            refuse_control_in_string: params.text("inside") == "refuse",
            max_waiting_chars: hold,
            text: String::new(),
            chars: 0,
            too_long: false,
            work: 0,
        }
    }

    /// Returns the whole text as JSON. `None` if it is rejected.
    fn take_json(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        if self.too_long {
            return None;
        }
        self.work += 4 * self.chars as u64;
        if self.refuse_control_in_string && self.has_control_in_string(&text) {
            return None;
        }
        if is_json(&text) {
            return Some(text);
        }
        let is_tolerant = self.mode == JsonMode::Tolerant;
        is_tolerant.then(|| self.recover_json(&text)).flatten()
    }

    /// Returns whether a string of the JSON contains control text. The text that the control text replaced cannot be
    /// recovered.
    fn has_control_in_string(&mut self, text: &str) -> bool {
        let mut cutter = self.cutter.clone();
        for c in text.chars() {
            cutter.push_char(c, &mut self.work, &mut |_| {});
        }
        cutter.is_cut_in_string()
    }

    /// Repairs a text that does not parse. `None` if no JSON can be recovered.
    fn recover_json(&mut self, text: &str) -> Option<String> {
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
        tolerant::parse_to_json(&closed).filter(|json| is_json(json))
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl TextRepair for JsonMachine {
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let (closer, work) = (&mut self.closer, &mut self.work);
        match self.mode {
            JsonMode::Control => self
                .cutter
                .push_char(c, work, &mut |c| out.push_text(c.encode_utf8(&mut [0; 4]))),
            JsonMode::Close => {
                let mut emit = |part: &str| out.push_text(part);
                self.cutter
                    .push_char(c, work, &mut |c| closer.push_char(c, &mut emit));
            }
            JsonMode::Strict | JsonMode::Tolerant if self.chars < self.max_waiting_chars => {
                self.text.push(c);
                self.chars += 1;
            }
            JsonMode::Strict | JsonMode::Tolerant => {
                self.too_long = true;
                self.text = String::new();
            }
        }
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        let mut emit = |part: &str| out.push_text(part);
        match self.mode {
            JsonMode::Control => self
                .cutter
                .finish(&mut |c| emit(c.encode_utf8(&mut [0; 4]))),
            JsonMode::Close => {
                let closer = &mut self.closer;
                self.cutter.finish(&mut |c| closer.push_char(c, &mut emit));
                self.closer.finish(&mut emit);
            }
            JsonMode::Strict | JsonMode::Tolerant => {
                if let Some(json) = self.take_json() {
                    out.push_text(&json);
                }
            }
        }
    }

    fn held_len(&self) -> usize {
        match self.mode {
            JsonMode::Control | JsonMode::Close => self.cutter.held_len() + self.closer.held_len(),
            JsonMode::Strict | JsonMode::Tolerant => self.chars,
        }
    }

    fn work(&self) -> u64 {
        self.work
    }
}
