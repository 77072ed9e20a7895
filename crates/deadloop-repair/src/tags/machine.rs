//! [`TagMachine`]: converts tags and text into actions.
//!
//! Text outside of actions is emitted at once. An action waits for its end.

use std::collections::{BTreeMap, VecDeque};

use crate::meaning::{Action, MeaningParts};
use crate::registry::{TextRepair, get_usize};
use deadloop_detect::harness::Params;

use super::code::{CodePiece, CodeScanner};
use super::fields::split_content;
use super::lexer::{Lexeme, Lexer};
use super::requirements::ActionRequirements;
use super::tag::{KnownTags, Tag, TagRole};

deadloop_detect::words! {
    /// The end of an action without a closing tag, from the parameter `close`.
    pub(super) enum UnclosedRule {
        Refuse = "refuse",
        Next = "next",
        End = "end",
    }
}

deadloop_detect::words! {
    /// The tag whose number counts, opening or closing, from the parameter `numbers`.
    pub(super) enum NumberRule {
        First = "first",
        Second = "second",
        Refuse = "refuse",
    }
}

deadloop_detect::words! {
    /// The treatment of known tags without a partner, from the parameter `stray`.
    pub(super) enum StrayRule {
        Keep = "keep",
        Drop = "drop",
        /// Drops such tags, and actions that contain one.
        Refuse = "refuse",
    }
}

/// A part of the waiting text, which begins with an opening tag.
#[derive(Clone, Debug)]
enum PendingPart {
    Text(String),
    /// An opening tag of an action, and the index of the part that closes it.
    Open(Tag, Option<usize>),
    Closing(Tag),
}

/// The repairer of one text.
pub(super) struct TagMachine {
    names: KnownTags,
    close: UnclosedRule,
    pairs_with_last: bool,
    numbers: NumberRule,
    stray: StrayRule,
    needs: ActionRequirements,
    /// Whether a complete action waits for the next tag, in case its closing tag came too early. From the parameter
    /// `settle`.
    emits_later: bool,
    max_open: usize,

    /// The scanner for code, if the parameter `code` is `text`.
    code: Option<CodeScanner>,
    lexer: Lexer,
    parts: Vec<PendingPart>,
    /// The length of all parts in chars.
    chars: usize,
    /// The indices of the parts that are unclosed opening tags, by [`TagKey`].
    open_tags: BTreeMap<TagKey, VecDeque<usize>>,
    /// The last action, with `settle = "later"`. While it waits, no tag is open.
    pending: Option<PendingAction>,
    work: u64,
}

/// The role and number shared by an opening tag and its closing tag. The number is set only if numbers must agree.
type TagKey = (TagRole, Option<u32>);

/// A complete action that was not emitted yet.
struct PendingAction {
    key: TagKey,
    action: Action,
    chars: usize,
}

impl TagMachine {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            names: KnownTags::new(params),
            close: UnclosedRule::named(params.text("close")).unwrap_or(UnclosedRule::Refuse),
            pairs_with_last: params.text("pair") == "last",
            numbers: NumberRule::named(params.text("numbers")).unwrap_or(NumberRule::Refuse),
            stray: StrayRule::named(params.text("stray")).unwrap_or(StrayRule::Keep),
            needs: ActionRequirements::new(params),
            emits_later: params.text("settle") == "later",
            max_open: get_usize(params, "max_open"),
            code: (params.text("code") == "text").then(CodeScanner::default),
            lexer: Lexer::default(),
            parts: Vec::new(),
            chars: 0,
            open_tags: BTreeMap::new(),
            pending: None,
            work: 0,
        }
    }

    fn push_code_piece(&mut self, piece: CodePiece, out: &mut MeaningParts) {
        match piece {
            CodePiece::Plain(c) => self.lex_char(c, out),
            CodePiece::Code(code) => self.emit_code(&code, out),
            CodePiece::CodeThen(code, c) => {
                self.emit_code(&code, out);
                self.push_char(c, out);
            }
            CodePiece::Unclosed(ticks, rest) => {
                ticks.chars().for_each(|c| self.lex_char(c, out));
                rest.chars().for_each(|c| self.push_char(c, out));
            }
        }
    }

    /// Emits code as text. The text held by the lexer is not a tag, since a backtick came before its end.
    fn emit_code(&mut self, code: &str, out: &mut MeaningParts) {
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.finish(&mut |lexeme| self.push_lexeme(lexeme, out));
        self.lexer = lexer;
        self.push_text(code, out);
    }

    fn lex_char(&mut self, c: char, out: &mut MeaningParts) {
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.push_char(c, &mut |lexeme| self.push_lexeme(lexeme, out));
        self.lexer = lexer;
    }

    fn push_lexeme(&mut self, lexeme: Lexeme, out: &mut MeaningParts) {
        match lexeme {
            Lexeme::Text(text) => self.push_text(&text, out),
            Lexeme::Tag(written) => match self.names.find(&written, &mut self.work) {
                Some(tag) => match tag.role {
                    // `split_content` finds the fields once the action is whole.
                    TagRole::Field(_) => self.push_text(&written, out),
                    TagRole::Action(_) if tag.closing => self.push_closing(tag, out),
                    TagRole::Action(_) => self.push_opening(tag, out),
                },
                None => self.push_text(&written, out),
            },
        }
    }

    fn push_text(&mut self, text: &str, out: &mut MeaningParts) {
        if self.parts.is_empty() {
            return out.push_text(text);
        }
        match self.parts.last_mut() {
            Some(PendingPart::Text(last)) => last.push_str(text),
            _ => self.parts.push(PendingPart::Text(text.to_owned())),
        }
        self.count_waiting(text, out);
    }

    /// Counts added text. Text that is too long for an action stops waiting.
    fn count_waiting(&mut self, added: &str, out: &mut MeaningParts) {
        self.chars += added.chars().count();
        if self.chars > self.max_open {
            self.end_waiting(false, out);
        }
    }

    /// Handles a known tag without a partner outside of actions. A second closing tag makes the waiting action
    /// uncertain, so that it is dropped.
    fn handle_unpaired(&mut self, tag: &Tag, out: &mut MeaningParts) {
        let key = self.tag_key(tag);
        let doubled = |waiting: &mut PendingAction| tag.closing && waiting.key == key;
        if self.pending.take_if(doubled).is_none() {
            self.emit_pending(out);
        }
        if self.stray == StrayRule::Keep {
            out.push_text(&tag.written);
        }
    }

    /// Emits the waiting action.
    fn emit_pending(&mut self, out: &mut MeaningParts) {
        if let Some(waiting) = self.pending.take() {
            out.push_action(waiting.action);
        }
    }

    fn push_opening(&mut self, tag: Tag, out: &mut MeaningParts) {
        self.emit_pending(out);
        let written = tag.written.clone();
        match self.close {
            UnclosedRule::Next if !self.parts.is_empty() => self.end_waiting(true, out),
            UnclosedRule::End if !self.parts.is_empty() => return self.push_text(&written, out),
            _ => {}
        }
        let key = self.tag_key(&tag);
        self.open_tags
            .entry(key)
            .or_default()
            .push_back(self.parts.len());
        self.parts.push(PendingPart::Open(tag, None));
        self.count_waiting(&written, out);
    }

    fn push_closing(&mut self, tag: Tag, out: &mut MeaningParts) {
        if self.parts.is_empty() {
            return self.handle_unpaired(&tag, out);
        }
        let partner = self.take_partner(&tag);
        let (at, written) = (self.parts.len(), tag.written.clone());
        self.parts.push(PendingPart::Closing(tag));
        if let Some(partner) = partner
            && let Some(PendingPart::Open(_, end)) = self.parts.get_mut(partner)
        {
            *end = Some(at);
        }
        match partner {
            Some(0) => self.end_waiting(true, out),
            _ => self.count_waiting(&written, out),
        }
    }

    /// Removes the open tag that a closing tag belongs to, and returns its index.
    fn take_partner(&mut self, tag: &Tag) -> Option<usize> {
        self.work += 1;
        let key = self.tag_key(tag);
        let open = self.open_tags.get_mut(&key)?;
        if self.pairs_with_last {
            open.pop_back()
        } else {
            open.pop_front()
        }
    }

    fn tag_key(&self, tag: &Tag) -> TagKey {
        let number = tag.number.filter(|_| self.numbers == NumberRule::Refuse);
        (tag.role, number)
    }

    /// Stops the wait of all parts. Tags with a partner become actions, as does the first tag if `is_complete` is true
    /// and it may end without a closing tag. All other parts become text.
    fn end_waiting(&mut self, is_complete: bool, out: &mut MeaningParts) {
        let parts = std::mem::take(&mut self.parts);
        self.chars = 0;
        self.open_tags.clear();
        let ends = is_complete && self.close != UnclosedRule::Refuse;
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            self.work += 1;
            let end = match part {
                PendingPart::Text(text) => {
                    out.push_text(text);
                    None
                }
                PendingPart::Open(tag, end) => {
                    let end = end.or((ends && at == 0).then_some(parts.len()));
                    match end {
                        Some(end) => {
                            self.finish_action(tag, &parts[at + 1..end], parts.get(end), out)
                        }
                        None => self.handle_unpaired(tag, out),
                    }
                    end
                }
                PendingPart::Closing(tag) => {
                    self.handle_unpaired(tag, out);
                    None
                }
            };
            at = end.unwrap_or(at) + 1;
        }
    }

    fn finish_action(
        &mut self,
        tag: &Tag,
        inside: &[PendingPart],
        closing: Option<&PendingPart>,
        out: &mut MeaningParts,
    ) {
        let (mut body, mut torn) = (String::new(), false);
        for part in inside {
            match part {
                PendingPart::Text(text) => body.push_str(text),
                PendingPart::Open(tag, _) | PendingPart::Closing(tag) => {
                    torn = true;
                    if self.stray == StrayRule::Keep {
                        body.push_str(&tag.written);
                    }
                }
            }
        }
        let second = match closing {
            Some(PendingPart::Closing(closing)) => closing.number,
            _ => None,
        };
        let number = match self.numbers {
            NumberRule::Second => second.or(tag.number),
            NumberRule::First | NumberRule::Refuse => tag.number.or(second),
        };
        let ends = self.close != UnclosedRule::Refuse;
        let read = split_content(&body, &self.names, ends, self.stray, &mut self.work);
        if self.stray == StrayRule::Refuse && (torn || read.torn) {
            return;
        }
        let mut fields = tag.attributes.clone();
        fields.extend(read.fields);
        let action = Action {
            name: self.names.name(tag.role).to_owned(),
            number,
            fields,
            content: read.content.trim().to_owned(),
        };
        if !self.needs.are_met_by(&action, read.tagged, &mut self.work) {
            return;
        }
        self.emit_pending(out);
        if self.emits_later {
            self.pending = Some(PendingAction {
                key: self.tag_key(tag),
                chars: body.chars().count(),
                action,
            });
        } else {
            out.push_action(action)
        }
    }
}

impl TextRepair for TagMachine {
    /// Adds a char, after checking whether it is code.
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let outside = self.parts.is_empty();
        match self.code.as_mut() {
            None => self.lex_char(c, out),
            Some(code) if !outside => {
                code.push_action_char(c);
                self.lex_char(c, out);
            }
            Some(code) => {
                if let Some(piece) = code.push_char(c) {
                    self.push_code_piece(piece, out);
                }
            }
        }
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        while let Some(piece) = self.code.as_mut().and_then(CodeScanner::finish) {
            self.push_code_piece(piece, out);
        }
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.finish(&mut |lexeme| self.push_lexeme(lexeme, out));
        self.end_waiting(true, out);
        self.emit_pending(out);
    }

    fn held_len(&self) -> usize {
        let waits = self.pending.as_ref().map_or(0, |waiting| waiting.chars);
        let code = self.code.as_ref().map_or(0, CodeScanner::held_len);
        self.chars + waits + code + self.lexer.held_len()
    }

    fn work(&self) -> u64 {
        self.work
    }
}
