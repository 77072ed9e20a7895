//! [`ThinkMachine`]: splits a text into reasoning and answer, char by char.
//!
//! Chars that may begin a marker are held back until they are certain.

use crate::marks::{MarkMatch, is_whitespace};
use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, get_texts, get_usize};
use deadloop_detect::harness::Params;

use super::kinds::{MarkKind, MarkKinds};

deadloop_detect::words! {
    /// The blocks that are reasoning, from the parameter `blocks`.
    pub(super) enum BlockRule {
        First = "first",
        Row = "row",
        All = "all",
    }
}

deadloop_detect::words! {
    /// The text since the start or the last block, in rising order. The parameter `before` is the maximum before the
    /// first block.
    pub(super) enum LeadingText {
        Nothing = "nothing",
        Blanks = "blanks",
        Text = "any",
    }
}

/// The side of the next char.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharSide {
    Answer,
    /// A block of thinking: the index of its pair of tags. `None` if the prompt opened it.
    Block(Option<usize>),
}

/// The tag that determines what the waiting text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedTag {
    Nothing,
    /// A closing tag without an opening one, which makes all text so far reasoning.
    Orphan,
    /// The end of the block, without which the block is text.
    End,
}

/// The splitter of one text.
pub(super) struct ThinkMachine {
    kinds: MarkKinds,
    blocks: BlockRule,
    max_leading: LeadingText,
    drop_stray: bool,
    keep_unclosed: bool,
    trim_after: bool,
    trim_around: bool,
    hold: usize,

    side: CharSide,
    leading: LeadingText,
    blocks_seen: bool,
    awaited: AwaitedTag,
    /// The chars that may begin a marker.
    held: Vec<char>,
    /// The waiting text. For a block, it includes the opening tag.
    waiting: String,
    /// The length of `waiting` in chars.
    waiting_chars: usize,
    /// The length in bytes of the opening tag in `waiting`.
    tag_bytes: usize,
    /// The whitespace at the end of the block so far, which is dropped if the block ends there.
    trailing: String,
    /// The length of `trailing` in chars.
    trailing_chars: usize,
    /// Whether whitespace is dropped until another char comes.
    trimming: bool,
    work: u64,
}

impl ThinkMachine {
    pub(super) fn new(params: &Params) -> Self {
        let fold = params.text("case") == "ignore";
        let kinds = MarkKinds::new(&get_texts(params, "tags"), &get_texts(params, "tool"), fold);
        let open = params.text("start") == "open";
        let keep_unclosed = params.text("unclosed") == "text";
        Self {
            kinds: kinds.unwrap_or_else(|_| MarkKinds::none()),
            blocks: BlockRule::named(params.text("blocks")).unwrap_or(BlockRule::First),
            max_leading: LeadingText::named(params.text("before")).unwrap_or(LeadingText::Blanks),
            drop_stray: params.text("stray") == "drop",
            keep_unclosed,
            trim_after: params.text("trim") != "none",
            trim_around: params.text("trim") == "both",
            hold: get_usize(params, "hold"),
            side: if open {
                CharSide::Block(None)
            } else {
                CharSide::Answer
            },
            leading: LeadingText::Nothing,
            blocks_seen: false,
            awaited: match (open, params.text("orphan")) {
                (true, _) if keep_unclosed => AwaitedTag::End,
                (false, "split") => AwaitedTag::Orphan,
                _ => AwaitedTag::Nothing,
            },
            held: Vec::new(),
            waiting: String::new(),
            waiting_chars: 0,
            tag_bytes: 0,
            trailing: String::new(),
            trailing_chars: 0,
            trimming: open && params.text("trim") == "both",
            work: 0,
        }
    }

    fn push_mark(&mut self, mark: usize, text: &str, out: &mut MeaningParts) {
        match (self.side, self.kinds.kind(mark)) {
            (CharSide::Answer, MarkKind::Open(pair)) if self.can_open_block() => {
                self.open_block(pair, text, out)
            }
            (CharSide::Answer, MarkKind::Close(_)) if self.awaited == AwaitedTag::Orphan => {
                self.side = CharSide::Block(None);
                self.close_block(out);
            }
            // The prompt has opened the block, and the model repeats the tag.
            (CharSide::Block(None), MarkKind::Open(_)) if self.leading <= LeadingText::Blanks => {}
            (CharSide::Block(Some(pair)), MarkKind::Close(close))
                if self.kinds.closes(close, pair) =>
            {
                self.close_block(out);
            }
            (CharSide::Block(None), MarkKind::Close(_)) => self.close_block(out),
            (CharSide::Block(_), MarkKind::Tool) => {
                self.close_block(out);
                text.chars().for_each(|c| self.push_plain_char(c, out));
            }
            (_, MarkKind::Tool) => text.chars().for_each(|c| self.push_plain_char(c, out)),
            _ if self.drop_stray => {}
            _ => text.chars().for_each(|c| self.push_plain_char(c, out)),
        }
    }

    /// Returns whether an opening tag in the answer opens a block.
    fn can_open_block(&self) -> bool {
        match (self.blocks_seen, self.blocks) {
            (false, _) => self.leading <= self.max_leading,
            (true, BlockRule::First) => false,
            (true, BlockRule::Row) => self.leading <= LeadingText::Blanks,
            (true, BlockRule::All) => true,
        }
    }

    fn open_block(&mut self, pair: usize, text: &str, out: &mut MeaningParts) {
        self.emit_waiting(out);
        self.side = CharSide::Block(Some(pair));
        self.leading = LeadingText::Nothing;
        self.trimming = self.trim_around;
        if self.keep_unclosed {
            self.awaited = AwaitedTag::End;
            self.tag_bytes = text.len();
            self.waiting.push_str(text);
            self.waiting_chars = text.chars().count();
        }
    }

    /// Ends a block. The text that waited for its end is reasoning.
    fn close_block(&mut self, out: &mut MeaningParts) {
        let block = std::mem::take(&mut self.waiting);
        let mut block = block.get(self.tag_bytes..).unwrap_or("");
        if self.trim_around {
            block = block.trim_matches(is_whitespace);
        }
        out.push_reasoning(block);
        self.reset_waiting();
        self.side = CharSide::Answer;
        self.leading = LeadingText::Nothing;
        self.blocks_seen = true;
        self.trimming = self.trim_after;
    }

    /// Emits the waiting text as part of the answer.
    fn emit_waiting(&mut self, out: &mut MeaningParts) {
        out.push_text(&std::mem::take(&mut self.waiting));
        self.reset_waiting();
    }

    fn reset_waiting(&mut self) {
        self.awaited = AwaitedTag::Nothing;
        self.waiting_chars = 0;
        self.tag_bytes = 0;
        self.trailing.clear();
        self.trailing_chars = 0;
        self.trimming = false;
    }

    /// Adds a char that is not part of a marker.
    fn push_plain_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let blank = is_whitespace(c);
        self.leading = self.leading.max(if blank {
            LeadingText::Blanks
        } else {
            LeadingText::Text
        });
        if self.awaited != AwaitedTag::Nothing {
            return self.hold_char(c, out);
        }
        if blank && self.trimming {
            return;
        }
        self.trimming = false;
        let mut text = [0; 4];
        let text = c.encode_utf8(&mut text);
        match self.side {
            CharSide::Answer => out.push_text(text),
            CharSide::Block(_) if blank && self.trim_around && self.trailing_chars < self.hold => {
                self.trailing.push(c);
                self.trailing_chars += 1;
            }
            CharSide::Block(_) => {
                out.push_reasoning(&self.trailing);
                self.trailing.clear();
                self.trailing_chars = 0;
                out.push_reasoning(text);
            }
        }
    }

    fn hold_char(&mut self, c: char, out: &mut MeaningParts) {
        self.waiting.push(c);
        self.waiting_chars += 1;
        if self.waiting_chars > self.hold {
            self.give_up(out);
        }
    }

    /// Stops waiting. The waiting text and the rest of its block become part of the answer.
    fn give_up(&mut self, out: &mut MeaningParts) {
        if self.awaited == AwaitedTag::End {
            self.side = CharSide::Answer;
            self.leading = LeadingText::Text;
            self.blocks_seen = true;
        }
        self.emit_waiting(out);
    }
}

impl TextRepair for ThinkMachine {
    fn push_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        if self.held.is_empty() && !self.kinds.can_begin_with(c) {
            return self.push_plain_char(c, out);
        }
        self.held.push(c);
        while !self.held.is_empty() {
            match self.kinds.match_held(&self.held, &mut self.work) {
                MarkMatch::Cut => return,
                MarkMatch::Mark(mark) => {
                    let text: String = self.held.drain(..).collect();
                    self.push_mark(mark, &text, out);
                }
                MarkMatch::Nothing => {
                    let first = self.held.remove(0);
                    self.push_plain_char(first, out);
                }
            }
        }
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        for c in std::mem::take(&mut self.held) {
            self.push_plain_char(c, out);
        }
        self.give_up(out);
    }

    fn held_len(&self) -> usize {
        self.held.len() + self.waiting_chars + self.trailing_chars
    }

    fn work(&self) -> u64 {
        self.work
    }
}
