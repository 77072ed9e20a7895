//! Where a review takes place: a terminal that delivers one key at a time, or lines of keys on stdin.
//! `session` makes all decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use console::{Key as Pressed, Term, truncate_str};
use deadloop_corpus::{Corpus, Transcript};
use deadloop_replay::{Interrupted, each};
use deadloop_score::{Class, LabelRow, write_labels};

use super::proposing::doubt;
use super::session::{Effect, Key, Session};
use super::view::{HELP, Page, keys, page};
use crate::commands::explain::Paint;
use crate::exit::{Code, Outcome};
use crate::progress::watched;
use crate::show;
use crate::visible::visible;

/// How many transcripts are loaded ahead. One pass over the corpus loads this many.
const AHEAD: usize = 50;
/// The least context that a page is cut down to, in chars, where a terminal is small.
const LEAST: u64 = 30;

/// What is reviewed.
pub(crate) struct Review<'a> {
    pub(crate) corpus: &'a Corpus,
    /// The labels.csv that is revised.
    pub(crate) labels: &'a Path,
    pub(crate) reviewer: &'a str,
    /// The transcripts that are meant.
    pub(crate) only: BTreeSet<String>,
    /// Whether answered rows are reviewed again.
    pub(crate) again: bool,
    /// Chars around each mark.
    pub(crate) context: u64,
}

/// Asks about every row that no review has answered, or about all rows with `again`, and saves after every answer.
/// Returns how many transcripts were answered and how many are left.
pub(crate) fn review(task: &Review<'_>, rows: Vec<LabelRow>) -> Outcome<(usize, usize)> {
    let mut session = Session::new(rows, task.reviewer, (Some(&task.only), task.again));
    let mut shelf = BTreeMap::new();
    let desk = Desk::open();
    let mut said = String::new();
    let mut answered = 0_usize;
    let mut suggested = None;
    let mut sight = Sight::default();
    while let Some(id) = session.current().map(str::to_owned) {
        if !shelf.contains_key(&id) {
            shelf = fetch(
                task.corpus,
                session.next(AHEAD).map(str::to_owned).collect(),
            )?;
        }
        let Some(transcript) = shelf.get(&id) else {
            let labels = task.labels.display();
            let what = format!(
                "{labels}: a label for no transcript: {id:?}; expected the id of a transcript of this corpus"
            );
            return Err(Code::Usage.error(what));
        };
        if suggested.as_ref() != Some(&id) {
            session.suggest(doubt(transcript));
            suggested = Some(id);
        }
        let paged = |context, paint| page(transcript, &session, context, paint);
        let (in_sight, room) = desk.show(&said, paged, task.context, sight)?;
        sight = in_sight;
        let Some(press) = desk.key()? else { break };
        said.clear();
        let key = match press {
            Press::Session(key) => key,
            Press::Sight(look) => {
                sight = sight.after(look, room);
                continue;
            }
        };
        match session.press(key) {
            Effect::Save => {
                write_labels(task.labels, &session.rows())?;
                answered = match key {
                    Key::Undo => answered.saturating_sub(1),
                    _ => answered + 1,
                };
                suggested = None;
                sight = Sight::default();
            }
            Effect::Show if key == Key::Skip => sight = Sight::default(),
            Effect::Show => {}
            Effect::Nothing(why) => said = why.into(),
            Effect::Quit => break,
        }
    }
    let (_, _, all) = session.progress();
    Ok((answered, all - answered))
}

/// The transcripts of these ids, in one pass over the corpus.
fn fetch(corpus: &Corpus, ids: BTreeSet<String>) -> Outcome<BTreeMap<String, Transcript>> {
    let mut shelf = BTreeMap::new();
    let wanted = |entry: Result<deadloop_corpus::Entry, _>, _| {
        let transcript = entry.ok()?.transcript;
        ids.contains(&transcript.id).then_some(transcript)
    };
    watched("reading", true, |watch| {
        each(corpus, watch, wanted, |found| {
            shelf.extend(found.map(|t| (t.id.clone(), t)));
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interrupted| Code::Interrupted.error("interrupted; every answer is saved"))?;
    Ok(shelf)
}

/// Where a review takes place.
enum Desk {
    Terminal(Term),
    Lines,
}

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    /// Something that the session decides.
    Session(Key),
    /// Something that only changes what is in sight.
    Sight(Look),
}

/// What is pressed to see something else of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// The whole text, or the excerpts again.
    Whole,
    Down,
    Up,
    Help,
}

/// What is in sight of a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sight {
    whole: bool,
    /// The first row of the text that is shown.
    from: usize,
    help: bool,
}

impl Sight {
    /// What is in sight after a key; `room`: how many rows of the text a page has.
    fn after(self, look: Look, room: usize) -> Self {
        let step = room.saturating_sub(1).max(1);
        match look {
            Look::Whole => Self {
                whole: !self.whole,
                ..Self::default()
            },
            Look::Down => Self {
                from: self.from.saturating_add(step),
                help: false,
                ..self
            },
            Look::Up => Self {
                from: self.from.saturating_sub(step),
                help: false,
                ..self
            },
            Look::Help => Self {
                help: !self.help,
                ..self
            },
        }
    }
}

impl Desk {
    fn open() -> Self {
        let person = io::stdin().is_terminal() && io::stdout().is_terminal();
        if person {
            Self::Terminal(Term::stdout())
        } else {
            Self::Lines
        }
    }

    /// Shows a transcript: its head and the keys, and between them as much of its text as there is room for. Returns what
    /// was in sight, and how many rows the text had.
    fn show(
        &self,
        said: &str,
        page: impl Fn(Option<u64>, Paint) -> Page,
        context: u64,
        sight: Sight,
    ) -> Outcome<(Sight, usize)> {
        let Self::Terminal(terminal) = self else {
            let help = if sight.help { HELP } else { "" };
            let page = page((!sight.whole).then_some(context), Paint::new(false, None));
            let after = [help, said].into_iter().filter(|text| !text.is_empty());
            let after: String = after.map(|text| format!("\n{text}")).collect();
            show::print(&format!(
                "{}
{}{after}",
                page.head.join(
                    "
"
                ),
                page.text
            ))?;
            return Ok((sight, usize::MAX));
        };
        let (height, width) = terminal.size();
        let tinted = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let screen = Screen {
            height: height.into(),
            width: width.into(),
            said,
            sight,
        };
        let (lines, sight, room) = screen.lines(
            |context| page(context, Paint::new(tinted, Some(width))),
            context,
        );
        terminal.clear_screen()?;
        terminal.write_str(&lines.join("\n"))?;
        terminal.flush()?;
        Ok((sight, room))
    }

    /// The next key; `None` where there are no more.
    fn key(&self) -> Outcome<Option<Press>> {
        loop {
            let key = match self {
                Self::Terminal(terminal) => pressed(&terminal.read_key_raw()?),
                Self::Lines => {
                    let mut line = String::new();
                    if io::stdin().lock().read_line(&mut line)? == 0 {
                        return Ok(None);
                    }
                    let key = named(line.trim());
                    if key.is_none() && !line.trim().is_empty() {
                        let keys = keys(usize::MAX).concat();
                        show::remark(format_args!(
                            "no key {}; expected one of: {keys}",
                            visible(line.trim())
                        ));
                    }
                    key
                }
            };
            if key.is_some() {
                return Ok(key);
            }
        }
    }
}

/// What a terminal of some size shows.
struct Screen<'a> {
    height: usize,
    width: usize,
    said: &'a str,
    sight: Sight,
}

impl Screen<'_> {
    /// The lines of the screen, never more than it has; what is in sight; and how many rows are left for the text.
    fn lines(
        &self,
        page: impl Fn(Option<u64>) -> Page,
        context: u64,
    ) -> (Vec<String>, Sight, usize) {
        let mut sight = self.sight;
        let keys = keys(self.width);
        let mut shown = page((!sight.whole).then_some(context));
        // Of many rows the first ones are the ones that are asked about.
        let head: Vec<String> = shown
            .head
            .iter()
            .take(self.height / 4 + 1)
            .cloned()
            .collect();
        let room = self
            .height
            .saturating_sub(head.len() + keys.len() + 1)
            .max(1);
        let mut around = context;
        while !sight.whole && shown.text.lines().count() > room && around > LEAST {
            around = (around / 2).max(LEAST);
            shown = page(Some(around));
        }
        if sight.help {
            shown.text = HELP
                .lines()
                .flat_map(|line| folded(line, self.width))
                .collect::<Vec<_>>()
                .join("\n");
        }
        let all = shown.text.lines().count();
        sight.from = sight.from.min(all.saturating_sub(room));
        let text = shown.text.lines().skip(sight.from).take(room);
        let clip = |line: &str| truncate_str(line, self.width, "…").into_owned();
        let mut lines: Vec<String> = head.iter().map(|line| clip(line)).collect();
        lines.extend(text.map(clip));
        lines.resize(head.len() + room, String::new());
        lines.extend(keys.iter().map(|line| clip(line)));
        let more = sight.from + room < all;
        let said = match (self.said.is_empty(), more) {
            (true, true) => "more below: space",
            _ => self.said,
        };
        lines.push(clip(said));
        (lines, sight, room)
    }
}

/// A line of words as lines of at most `width` columns.
fn folded(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(word),
            Some(last) if last.len() + 1 + word.len() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn pressed(key: &Pressed) -> Option<Press> {
    match key {
        Pressed::Char(c) => named(c.encode_utf8(&mut [0; 4])),
        Pressed::Enter => Some(Press::Session(Key::Accept)),
        Pressed::ArrowLeft => Some(Press::Session(Key::Chars(-1))),
        Pressed::ArrowRight => Some(Press::Session(Key::Chars(1))),
        Pressed::ArrowUp => Some(Press::Session(Key::Copies(-1))),
        Pressed::ArrowDown => Some(Press::Session(Key::Copies(1))),
        Pressed::PageDown => Some(Press::Sight(Look::Down)),
        Pressed::PageUp => Some(Press::Sight(Look::Up)),
        Pressed::Escape | Pressed::CtrlC => Some(Press::Session(Key::Quit)),
        _ => None,
    }
}

fn named(name: &str) -> Option<Press> {
    let key = match name {
        "Enter" | "enter" => Key::Accept,
        "l" => Key::Answer(Class::Loop),
        "c" => Key::Answer(Class::Clean),
        "t" => Key::Answer(Class::Transient),
        "u" => Key::Answer(Class::Unsure),
        "<" => Key::Chars(-1),
        ">" => Key::Chars(1),
        "[" => Key::Copies(-1),
        "]" => Key::Copies(1),
        "z" => Key::Undo,
        "s" => Key::Skip,
        "q" => Key::Quit,
        "v" => return Some(Press::Sight(Look::Whole)),
        " " => return Some(Press::Sight(Look::Down)),
        "b" => return Some(Press::Sight(Look::Up)),
        "?" => return Some(Press::Sight(Look::Help)),
        _ => return None,
    };
    Some(Press::Session(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(context: Option<u64>) -> Page {
        let rows = context.map_or(500, |context| context / 5);
        let row = |i: u64| format!("{:>10} │ \u{1b}[46m{}\u{1b}[0m\n", i, "想".repeat(60));
        let head = (0..9).map(|i| format!("{i} of 9   proposed: loop   {}", "x".repeat(150)));
        Page {
            head: head.collect(),
            text: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn the_head_and_the_keys_stay_in_sight_on_every_screen() {
        for (height, width) in [(24, 80), (20, 60), (40, 120), (10, 40), (1, 1)] {
            for whole in [false, true] {
                let sight = Sight {
                    whole,
                    from: 70,
                    help: false,
                };
                let screen = Screen {
                    height,
                    width,
                    said: "",
                    sight,
                };
                let (lines, sight, room) = screen.lines(page, 1000);
                let wide = |line: &String| console::measure_text_width(line) > width;
                assert_eq!(
                    lines.iter().filter(|line| wide(line)).count(),
                    0,
                    "{lines:#?}"
                );
                if height < 20 {
                    continue;
                }
                assert_eq!(lines.len(), height);
                assert!(lines[0].starts_with("0 of 9   proposed: loop"), "{lines:?}");
                assert!(lines[height - 3..].concat().contains("quit"), "{lines:?}");
                assert!(room > 0);
                assert_eq!(sight.from > 0, whole, "excerpts shrink until they fit");
            }
        }
    }

    #[test]
    fn a_whole_text_is_gone_through_page_by_page_to_its_end() {
        let mut sight = Sight::default().after(Look::Whole, 10);
        let mut first = Vec::new();
        for _ in 0..200 {
            let screen = Screen {
                height: 24,
                width: 80,
                said: "",
                sight,
            };
            let (_, now, room) = screen.lines(page, 1000);
            first.push(now.from);
            sight = now.after(Look::Down, room);
        }
        assert!(first.windows(2).all(|pair| pair[0] <= pair[1]), "{first:?}");
        assert!(
            first.last().is_some_and(|last| (480..500).contains(last)),
            "{first:?}"
        );
        assert_eq!(sight.after(Look::Whole, 10), Sight::default());
    }

    #[test]
    fn each_key_that_is_shown_does_something() {
        for (key, _) in super::super::view::KEYS {
            let names = key
                .split(' ')
                .map(|name| if name == "space" { " " } else { name });
            for name in names {
                assert!(named(name).is_some(), "{name}");
            }
        }
    }
}
