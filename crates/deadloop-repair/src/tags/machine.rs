//! Turns tags and text into actions.
//!
//! Text outside of actions passes at once. An action waits for its end.

use std::collections::{BTreeMap, VecDeque};

use crate::meaning::{Action, MeaningParts};
use crate::registry::{TextRepair, size};
use deadloop_detect::harness::Params;

use super::code::{CodePiece, CodeScanner};
use super::fields::split_content;
use super::lexer::{Lexeme, Lexer};
use super::requirements::ActionRequirements;
use super::tag::{KnownTags, Tag, TagRole};

deadloop_detect::words! {
    /// The end of an action without a closing tag: the parameter `close`.
    pub(super) enum UnclosedRule {
        Refuse = "refuse",
        Next = "next",
        End = "end",
    }
}

deadloop_detect::words! {
    /// The tag whose number counts, the opening or the closing one: the parameter `numbers`.
    pub(super) enum NumberRule {
        First = "first",
        Second = "second",
        Refuse = "refuse",
    }
}

deadloop_detect::words! {
    /// The treatment of known tags without a partner: the parameter `stray`.
    pub(super) enum StrayRule {
        Keep = "keep",
        Drop = "drop",
        /// Such tags are left out, and so is an action that contains one.
        Refuse = "refuse",
    }
}

/// A part of the text that waits. The first part is an opening tag.
#[derive(Clone, Debug)]
enum PendingPart {
    Text(String),
    /// A tag that opens an action, and the index of the part that closes it.
    Open(Tag, Option<usize>),
    Closing(Tag),
}

/// The repairer of one text.
pub(super) struct TagMachine {
    names: KnownTags,
    close: UnclosedRule,
    last: bool,
    numbers: NumberRule,
    stray: StrayRule,
    needs: ActionRequirements,
    /// Whether a whole action waits for the next tag, in case its closing tag came too early: the parameter `settle`.
    later: bool,
    max_open: usize,

    /// The tracker of code, if the parameter `code` is `text`.
    code: Option<CodeScanner>,
    lexer: Lexer,
    parts: Vec<PendingPart>,
    /// The length of all parts in chars.
    chars: usize,
    /// The indices of the parts that are open tags, by [`TagKey`].
    open: BTreeMap<TagKey, VecDeque<usize>>,
    /// The last action, with `settle = "later"`. While it waits, no tag is open.
    waits: Option<PendingAction>,
    work: u64,
}

/// The common part of an opening tag and its closing tag: their role and, if numbers must agree, their number.
type TagKey = (TagRole, Option<u32>);

/// An action that is whole and has not been passed on yet.
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
            last: params.text("pair") == "last",
            numbers: NumberRule::named(params.text("numbers")).unwrap_or(NumberRule::Refuse),
            stray: StrayRule::named(params.text("stray")).unwrap_or(StrayRule::Keep),
            needs: ActionRequirements::new(params),
            later: params.text("settle") == "later",
            max_open: size(params, "max_open"),
            code: (params.text("code") == "text").then(CodeScanner::default),
            lexer: Lexer::default(),
            parts: Vec::new(),
            chars: 0,
            open: BTreeMap::new(),
            waits: None,
            work: 0,
        }
    }

    /// Takes a char. Checks first whether it is code.
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let outside = self.parts.is_empty();
        match self.code.as_mut() {
            None => self.lex_char(c, out),
            Some(code) if !outside => {
                code.take_action_char(c);
                self.lex_char(c, out);
            }
            Some(code) => {
                if let Some(piece) = code.push_char(c) {
                    self.take_piece(piece, out);
                }
            }
        }
    }

    fn take_piece(&mut self, piece: CodePiece, out: &mut MeaningParts) {
        match piece {
            CodePiece::Plain(c) => self.lex_char(c, out),
            CodePiece::Code(code) => self.pass_code(&code, out),
            CodePiece::Then(code, c) => {
                self.pass_code(&code, out);
                self.push_char(c, out);
            }
            CodePiece::Open(ticks, rest) => {
                ticks.chars().for_each(|c| self.lex_char(c, out));
                rest.chars().for_each(|c| self.push_char(c, out));
            }
        }
    }

    /// Passes on code as text. The text that the lexer holds is not a tag, because a backtick came before its end.
    fn pass_code(&mut self, code: &str, out: &mut MeaningParts) {
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.finish(&mut |lexeme| self.take_lexeme(lexeme, out));
        self.lexer = lexer;
        self.take_text(code, out);
    }

    fn lex_char(&mut self, c: char, out: &mut MeaningParts) {
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.push_char(c, &mut |lexeme| self.take_lexeme(lexeme, out));
        self.lexer = lexer;
    }

    fn take_lexeme(&mut self, lexeme: Lexeme, out: &mut MeaningParts) {
        match lexeme {
            Lexeme::Text(text) => self.take_text(&text, out),
            Lexeme::Tag(written) => match self.names.tag(&written, &mut self.work) {
                Some(tag) => match tag.role {
                    // `split` finds the fields once the action is whole.
                    TagRole::Field(_) => self.take_text(&written, out),
                    TagRole::Action(_) if tag.closing => self.take_closing(tag, out),
                    TagRole::Action(_) => self.take_opening(tag, out),
                },
                None => self.take_text(&written, out),
            },
        }
    }

    fn take_text(&mut self, text: &str, out: &mut MeaningParts) {
        if self.parts.is_empty() {
            return out.text(text);
        }
        match self.parts.last_mut() {
            Some(PendingPart::Text(last)) => last.push_str(text),
            _ => self.parts.push(PendingPart::Text(text.to_owned())),
        }
        self.count_waiting(text, out);
    }

    /// Counts text that was added. Text that is too long for an action stops waiting.
    fn count_waiting(&mut self, added: &str, out: &mut MeaningParts) {
        self.chars += added.chars().count();
        if self.chars > self.max_open {
            self.end_waiting(false, out);
        }
    }

    /// Takes a known tag without a partner, outside of actions. If it closes the waiting action a second time, that
    /// action is in doubt and is dropped.
    fn take_unpaired(&mut self, tag: &Tag, out: &mut MeaningParts) {
        let key = self.key(tag);
        let doubled = |waiting: &mut PendingAction| tag.closing && waiting.key == key;
        if self.waits.take_if(doubled).is_none() {
            self.release(out);
        }
        if self.stray == StrayRule::Keep {
            out.text(&tag.written);
        }
    }

    /// Passes on the waiting action.
    fn release(&mut self, out: &mut MeaningParts) {
        if let Some(waiting) = self.waits.take() {
            out.action(waiting.action);
        }
    }

    fn take_opening(&mut self, tag: Tag, out: &mut MeaningParts) {
        self.release(out);
        let written = tag.written.clone();
        match self.close {
            UnclosedRule::Next if !self.parts.is_empty() => self.end_waiting(true, out),
            UnclosedRule::End if !self.parts.is_empty() => return self.take_text(&written, out),
            _ => {}
        }
        let key = self.key(&tag);
        self.open
            .entry(key)
            .or_default()
            .push_back(self.parts.len());
        self.parts.push(PendingPart::Open(tag, None));
        self.count_waiting(&written, out);
    }

    fn take_closing(&mut self, tag: Tag, out: &mut MeaningParts) {
        if self.parts.is_empty() {
            return self.take_unpaired(&tag, out);
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

    /// Finds the open tag that a closing tag belongs to, and removes it from the open ones. Returns its index.
    fn take_partner(&mut self, tag: &Tag) -> Option<usize> {
        self.work += 1;
        let key = self.key(tag);
        let open = self.open.get_mut(&key)?;
        if self.last {
            open.pop_back()
        } else {
            open.pop_front()
        }
    }

    fn key(&self, tag: &Tag) -> TagKey {
        let number = tag.number.filter(|_| self.numbers == NumberRule::Refuse);
        (tag.role, number)
    }

    /// Ends the wait of all parts. A tag with a partner is an action, and so is the first tag if `ends` is set, so that
    /// it may end with the text. Everything else is text.
    fn end_waiting(&mut self, ends: bool, out: &mut MeaningParts) {
        let parts = std::mem::take(&mut self.parts);
        self.chars = 0;
        self.open.clear();
        let ends = ends && self.close != UnclosedRule::Refuse;
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            self.work += 1;
            let end = match part {
                PendingPart::Text(text) => {
                    out.text(text);
                    None
                }
                PendingPart::Open(tag, end) => {
                    let end = end.or((ends && at == 0).then_some(parts.len()));
                    match end {
                        Some(end) => {
                            self.finish_action(tag, &parts[at + 1..end], parts.get(end), out)
                        }
                        None => self.take_unpaired(tag, out),
                    }
                    end
                }
                PendingPart::Closing(tag) => {
                    self.take_unpaired(tag, out);
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
        if !self.needs.hold(&action, read.tagged, &mut self.work) {
            return;
        }
        self.release(out);
        if self.later {
            self.waits = Some(PendingAction {
                key: self.key(tag),
                chars: body.chars().count(),
                action,
            });
        } else {
            out.action(action)
        }
    }
}

impl TextRepair for TagMachine {
    fn push(&mut self, chunk: &str, out: &mut MeaningParts) {
        chunk.chars().for_each(|c| self.push_char(c, out));
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        while let Some(piece) = self.code.as_mut().and_then(CodeScanner::end) {
            self.take_piece(piece, out);
        }
        let mut lexer = std::mem::take(&mut self.lexer);
        lexer.finish(&mut |lexeme| self.take_lexeme(lexeme, out));
        self.end_waiting(true, out);
        self.release(out);
    }

    fn held(&self) -> usize {
        let waits = self.waits.as_ref().map_or(0, |waiting| waiting.chars);
        let code = self.code.as_ref().map_or(0, CodeScanner::held);
        self.chars + waits + code + self.lexer.held()
    }

    fn work(&self) -> u64 {
        self.work
    }
}
