//! Splits a text into reasoning and answer, char by char.
//!
//! Chars that may begin a mark are held back until they are certain.

use crate::marks::{MarkMatch, is_blank};
use crate::meaning::MeaningParts;
use crate::registry::{TextRepair, list, size};
use deadloop_detect::harness::Params;

use super::kinds::{MarkKind, MarkKinds};

deadloop_detect::words! {
    /// The blocks that are reasoning: the parameter `blocks`.
    pub(super) enum BlockRule {
        First = "first",
        Row = "row",
        All = "all",
    }
}

deadloop_detect::words! {
    /// The text since the start, or since the last block. The parameter `before` is what may precede the first block.
    pub(super) enum LeadingText {
        Nothing = "nothing",
        Blanks = "blanks",
        Text = "any",
    }
}

/// The side that the next char belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharSide {
    Answer,
    /// A block of thinking: of the pair with this index, or `None` if the prompt opened it.
    Block(Option<usize>),
}

/// The tag that decides what the held text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedTag {
    Nothing,
    /// A closing tag, which makes all text so far reasoning.
    Orphan,
    /// The end of the block. A block without an end is text.
    End,
}

/// The splitter of one text.
pub(super) struct ThinkMachine {
    kinds: MarkKinds,
    blocks: BlockRule,
    before: LeadingText,
    drop_stray: bool,
    keep_unclosed: bool,
    trim_after: bool,
    trim_around: bool,
    hold: usize,

    side: CharSide,
    seen: LeadingText,
    blocks_seen: bool,
    wait: AwaitedTag,
    /// The chars that may be the beginning of a mark.
    held: Vec<char>,
    /// The waiting text. Text of a block begins with the opening tag.
    waiting: String,
    /// The length of `waiting` in chars.
    waiting_chars: usize,
    /// The length of the opening tag in `waiting`, in bytes.
    opening: usize,
    /// The blanks at the end of the block so far, which are left out if the block ends here.
    blanks: String,
    /// The length of `blanks` in chars.
    blank_chars: usize,
    /// Whether blanks are left out until another char comes.
    skip: bool,
    work: u64,
}

impl ThinkMachine {
    pub(super) fn new(params: &Params) -> Self {
        let fold = params.text("case") == "ignore";
        let kinds = MarkKinds::new(&list(params, "tags"), &list(params, "tool"), fold);
        let open = params.text("start") == "open";
        let keep_unclosed = params.text("unclosed") == "text";
        Self {
            kinds: kinds.unwrap_or_else(|_| MarkKinds::none()),
            blocks: BlockRule::named(params.text("blocks")).unwrap_or(BlockRule::First),
            before: LeadingText::named(params.text("before")).unwrap_or(LeadingText::Blanks),
            drop_stray: params.text("stray") == "drop",
            keep_unclosed,
            trim_after: params.text("trim") != "none",
            trim_around: params.text("trim") == "both",
            hold: size(params, "hold"),
            side: if open {
                CharSide::Block(None)
            } else {
                CharSide::Answer
            },
            seen: LeadingText::Nothing,
            blocks_seen: false,
            wait: match (open, params.text("orphan")) {
                (true, _) if keep_unclosed => AwaitedTag::End,
                (false, "split") => AwaitedTag::Orphan,
                _ => AwaitedTag::Nothing,
            },
            held: Vec::new(),
            waiting: String::new(),
            waiting_chars: 0,
            opening: 0,
            blanks: String::new(),
            blank_chars: 0,
            skip: open && params.text("trim") == "both",
            work: 0,
        }
    }

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
                    self.mark(mark, &text, out);
                }
                MarkMatch::Nothing => {
                    let first = self.held.remove(0);
                    self.push_plain_char(first, out);
                }
            }
        }
    }

    fn mark(&mut self, mark: usize, text: &str, out: &mut MeaningParts) {
        match (self.side, self.kinds.kind(mark)) {
            (CharSide::Answer, MarkKind::Open(pair)) if self.counts() => self.open(pair, text, out),
            (CharSide::Answer, MarkKind::Close(_)) if self.wait == AwaitedTag::Orphan => {
                self.side = CharSide::Block(None);
                self.close(out);
            }
            // The prompt has opened the block, and the model repeats the tag.
            (CharSide::Block(None), MarkKind::Open(_)) if self.seen <= LeadingText::Blanks => {}
            (CharSide::Block(Some(pair)), MarkKind::Close(close))
                if self.kinds.closes(close, pair) =>
            {
                self.close(out);
            }
            (CharSide::Block(None), MarkKind::Close(_)) => self.close(out),
            (CharSide::Block(_), MarkKind::Tool) => {
                self.close(out);
                text.chars().for_each(|c| self.push_plain_char(c, out));
            }
            (_, MarkKind::Tool) => text.chars().for_each(|c| self.push_plain_char(c, out)),
            _ if self.drop_stray => {}
            _ => text.chars().for_each(|c| self.push_plain_char(c, out)),
        }
    }

    /// Returns whether an opening tag in the answer opens a block.
    fn counts(&self) -> bool {
        match (self.blocks_seen, self.blocks) {
            (false, _) => self.seen <= self.before,
            (true, BlockRule::First) => false,
            (true, BlockRule::Row) => self.seen <= LeadingText::Blanks,
            (true, BlockRule::All) => true,
        }
    }

    fn open(&mut self, pair: usize, text: &str, out: &mut MeaningParts) {
        self.release(out);
        self.side = CharSide::Block(Some(pair));
        self.seen = LeadingText::Nothing;
        self.skip = self.trim_around;
        if self.keep_unclosed {
            self.wait = AwaitedTag::End;
            self.opening = text.len();
            self.waiting.push_str(text);
            self.waiting_chars = text.chars().count();
        }
    }

    /// Ends a block. The text that waited for its end is reasoning.
    fn close(&mut self, out: &mut MeaningParts) {
        let block = std::mem::take(&mut self.waiting);
        let mut block = block.get(self.opening..).unwrap_or("");
        if self.trim_around {
            block = block.trim_matches(is_blank);
        }
        out.reasoning(block);
        self.forget();
        self.side = CharSide::Answer;
        self.seen = LeadingText::Nothing;
        self.blocks_seen = true;
        self.skip = self.trim_after;
    }

    /// Ends the wait. The waiting text is part of the answer.
    fn release(&mut self, out: &mut MeaningParts) {
        out.text(&std::mem::take(&mut self.waiting));
        self.forget();
    }

    fn forget(&mut self) {
        self.wait = AwaitedTag::Nothing;
        self.waiting_chars = 0;
        self.opening = 0;
        self.blanks.clear();
        self.blank_chars = 0;
        self.skip = false;
    }

    /// Takes a char that is not part of a mark.
    fn push_plain_char(&mut self, c: char, out: &mut MeaningParts) {
        self.work += 1;
        let blank = is_blank(c);
        self.seen = self.seen.max(if blank {
            LeadingText::Blanks
        } else {
            LeadingText::Text
        });
        if self.wait != AwaitedTag::Nothing {
            return self.hold_char(c, out);
        }
        if blank && self.skip {
            return;
        }
        self.skip = false;
        let mut text = [0; 4];
        let text = c.encode_utf8(&mut text);
        match self.side {
            CharSide::Answer => out.text(text),
            CharSide::Block(_) if blank && self.trim_around && self.blank_chars < self.hold => {
                self.blanks.push(c);
                self.blank_chars += 1;
            }
            CharSide::Block(_) => {
                out.reasoning(&self.blanks);
                self.blanks.clear();
                self.blank_chars = 0;
                out.reasoning(text);
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

    /// Gives up waiting. The waiting text is part of the answer, and so is the rest of its block.
    fn give_up(&mut self, out: &mut MeaningParts) {
        if self.wait == AwaitedTag::End {
            self.side = CharSide::Answer;
            self.seen = LeadingText::Text;
            self.blocks_seen = true;
        }
        self.release(out);
    }
}

impl TextRepair for ThinkMachine {
    fn push(&mut self, chunk: &str, out: &mut MeaningParts) {
        chunk.chars().for_each(|c| self.push_char(c, out));
    }

    fn finish(&mut self, out: &mut MeaningParts) {
        for c in std::mem::take(&mut self.held) {
            self.push_plain_char(c, out);
        }
        self.give_up(out);
    }

    fn held(&self) -> usize {
        self.held.len() + self.waiting_chars + self.blank_chars
    }

    fn work(&self) -> u64 {
        self.work
    }
}
