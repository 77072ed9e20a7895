//! Reviews labels in a terminal, one key at a time, or by lines on stdin.
//!
//! [`InteractiveReview`] handles the keys and saves the answers.

use std::io::{self, BufRead, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use console::{Key as ConsoleKey, Term, truncate_str};

use super::view::{Page, format_page, key_lines};
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;
use deadloop_run::explain::Paint;
use deadloop_run::label::{HELP, InteractiveReview, Key, KeyCommand, Review, ReviewView, named};
use deadloop_run::layout::fold_lines;
use deadloop_run::visible::visible;

/// The minimum number of chars shown around a mark on a small terminal.
const MIN_CONTEXT: u64 = 30;

/// Runs a review in the terminal or by lines on stdin, and saves after every answer. After the last answer it waits for
/// a key, so that this answer can be undone too. Returns the number of answered transcripts, and the number of open
/// ones.
pub(super) fn run_review(task: &Review) -> Outcome<(usize, usize)> {
    let host = Terminal::silent();
    let mut review = InteractiveReview::open(task, &host)?;
    let console = ReviewConsole::open();
    loop {
        let command = match review.transcript() {
            Some(transcript) => {
                let paged =
                    |context, paint| format_page(transcript, &review.session, context, paint);
                let (view, room) =
                    console.show_page(review.said, paged, task.context, review.sight)?;
                (review.sight, review.room) = (view, room);
                console.read_key()?
            }
            None if review.progress().0 == 0 => break,
            None => {
                console.print_end(review.progress().0)?;
                console
                    .read_key()?
                    .filter(|press| *press == KeyCommand::Session(Key::Undo))
            }
        };
        let Some(command) = command else { break };
        if !review.press(command)? {
            break;
        }
    }
    Ok(review.progress())
}

/// The input and output of a review: a terminal, or lines of keys.
enum ReviewConsole {
    Person(Term),
    Lines,
}

impl ReviewConsole {
    fn open() -> Self {
        let person = io::stdin().is_terminal() && io::stdout().is_terminal();
        if person {
            Self::Person(Term::stdout())
        } else {
            Self::Lines
        }
    }

    /// Shows the head of a transcript, as much of its text as fits, and the keys. Returns the view, and the number of
    /// rows for the text.
    fn show_page(
        &self,
        said: &str,
        page: impl Fn(Option<u64>, Paint) -> Page,
        context: u64,
        sight: ReviewView,
    ) -> Outcome<(ReviewView, usize)> {
        let Self::Person(terminal) = self else {
            let help = if sight.help { HELP } else { "" };
            let page = page((!sight.whole).then_some(context), Paint::new(false, None));
            let after = [help, said].into_iter().filter(|text| !text.is_empty());
            let after: String = after.map(|text| format!("\n{text}")).collect();
            show::print(&format!("{}\n{}{after}", page.head.join("\n"), page.text))?;
            return Ok((sight, usize::MAX));
        };
        let (height, width) = terminal.size();
        let tinted = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let screen = Screen {
            height: height.into(),
            width: width.into(),
            message: said,
            sight,
        };
        let (lines, sight, room) = screen.render(
            |context| page(context, Paint::new(tinted, Some(width.into()))),
            context,
        );
        terminal.clear_screen()?;
        terminal.write_str(&lines.join("\n"))?;
        terminal.flush()?;
        Ok((sight, room))
    }

    /// Shows that nothing is left to review. Does nothing without a terminal.
    fn print_end(&self, answered: usize) -> Outcome {
        if let Self::Person(terminal) = self {
            let last = format!("{answered} answered, nothing is left to ask   z undo   q quit");
            terminal.clear_screen()?;
            terminal.write_str(&last)?;
            terminal.flush()?;
        }
        Ok(())
    }

    /// Reads keys until one has a command, and returns the command. `None` at the end of the input.
    fn read_key(&self) -> Outcome<Option<KeyCommand>> {
        loop {
            let key = match self {
                Self::Person(terminal) => key_command(&terminal.read_key_raw()?),
                Self::Lines => {
                    let mut line = String::new();
                    if io::stdin().lock().read_line(&mut line)? == 0 {
                        return Ok(None);
                    }
                    let key = named(line.trim());
                    if key.is_none() && !line.trim().is_empty() {
                        let keys = key_lines(usize::MAX).concat();
                        show::eprint(format_args!(
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

/// The size of a terminal, and what it shows besides the transcript.
struct Screen<'a> {
    height: usize,
    width: usize,
    /// The message in the last line. It may be empty.
    message: &'a str,
    sight: ReviewView,
}

impl Screen<'_> {
    /// Returns the lines of the screen, the view, and the number of rows for the text. There are at most as many lines
    /// as the screen is high.
    fn render(
        &self,
        page: impl Fn(Option<u64>) -> Page,
        context: u64,
    ) -> (Vec<String>, ReviewView, usize) {
        let mut sight = self.sight;
        let keys = key_lines(self.width);
        let mut shown = page((!sight.whole).then_some(context));
        // The first rows of the head are those under review.
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
        let mut radius = context;
        while !sight.whole && shown.text.lines().count() > room && radius > MIN_CONTEXT {
            radius = (radius / 2).max(MIN_CONTEXT);
            shown = page(Some(radius));
        }
        if sight.help {
            shown.text = HELP
                .lines()
                .flat_map(|line| fold_lines(line, self.width))
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
        let said = match (self.message.is_empty(), more) {
            (true, true) => "more below: space",
            _ => self.message,
        };
        lines.push(clip(said));
        (lines, sight, room)
    }
}

fn key_command(key: &ConsoleKey) -> Option<KeyCommand> {
    match key {
        ConsoleKey::Char(c) => named(c.encode_utf8(&mut [0; 4])),
        ConsoleKey::Enter => named("Enter"),
        ConsoleKey::ArrowLeft => named("ArrowLeft"),
        ConsoleKey::ArrowRight => named("ArrowRight"),
        ConsoleKey::ArrowUp => named("ArrowUp"),
        ConsoleKey::ArrowDown => named("ArrowDown"),
        ConsoleKey::PageDown => named("PageDown"),
        ConsoleKey::PageUp => named("PageUp"),
        ConsoleKey::Escape | ConsoleKey::CtrlC => named("q"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_run::label::ViewChange;

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
                let sight = ReviewView {
                    whole,
                    from: 70,
                    help: false,
                };
                let screen = Screen {
                    height,
                    width,
                    message: "",
                    sight,
                };
                let (lines, sight, room) = screen.render(page, 1000);
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
        let mut sight = ReviewView::default().after(ViewChange::Whole, 10);
        let mut first = Vec::new();
        for _ in 0..200 {
            let screen = Screen {
                height: 24,
                width: 80,
                message: "",
                sight,
            };
            let (_, now, room) = screen.render(page, 1000);
            first.push(now.from);
            sight = now.after(ViewChange::Down, room);
        }
        assert!(first.windows(2).all(|pair| pair[0] <= pair[1]), "{first:?}");
        assert!(
            first.last().is_some_and(|last| (480..500).contains(last)),
            "{first:?}"
        );
        assert_eq!(sight.after(ViewChange::Whole, 10), ReviewView::default());
    }
}
