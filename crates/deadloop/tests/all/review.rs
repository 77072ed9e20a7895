//! `deadloop label --review` in a terminal: every key pressed, and the saved file read after each.

#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use serde_json::{Value, json};

use crate::program::{Place, has};

/// The end of every page.
const LAST: &str = "q quit";
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with a corpus of four transcripts, of which `uncertain` is the most uncertain; its text has `more` behind it.
pub(crate) fn corpus(uncertain: &str, more: &str) -> Place {
    let place = Place::new();
    let clean = "A text that says one thing after another, and each of them once. ";
    let doubt = "It is so, I think, and it stays so. ".repeat(3);
    let transcripts = [
        json!({"id": "loop", "answer": format!("A start. {}", "Let me think about it. ".repeat(30))}),
        json!({"id": "clean", "answer": clean}),
        json!({"id": "over", "answer": format!("{clean}{}Now I know. {clean}", "I think so. ".repeat(30))}),
        json!({"id": uncertain, "answer": format!("{clean}{doubt}{more}")}),
    ];
    let lines: Vec<String> = transcripts.iter().map(Value::to_string).collect();
    place.file("c.jsonl", lines.join("\n"));
    place
}

/// A review under way in a terminal.
struct Terminal<'a> {
    place: &'a Place,
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    /// What was shown and not looked at yet.
    rest: String,
}

impl<'a> Terminal<'a> {
    fn open(place: &'a Place) -> Self {
        let size = Winsize {
            ws_row: 60,
            ws_col: 160,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).expect("a terminal");
        let (mut screen, keys) = (File::from(pair.master), pair.slave);
        let side = || Stdio::from(keys.try_clone().expect("a handle"));
        let child = place
            .command("label c.jsonl --review --reviewer ann --out l.csv")
            .env("TERM", "xterm")
            .stdin(side())
            .stdout(side())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let keys = screen.try_clone().expect("a handle");
        let (send, shown) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error is how a terminal says that the other side is gone.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            place,
            child,
            keys,
            shown,
            rest: String::new(),
        }
    }

    /// The next page.
    #[track_caller]
    fn page(&mut self) -> String {
        while !self.rest.contains(LAST) {
            let more = self.shown.recv_timeout(PATIENCE);
            assert!(more.is_ok(), "no page; shown: {:?}", self.rest);
            let more = more.unwrap_or_default();
            self.rest.push_str(&String::from_utf8_lossy(&more));
        }
        let (page, rest) = self.rest.split_once(LAST).expect("it was just there");
        let page = page.to_owned();
        self.rest = rest.to_owned();
        page
    }

    fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).expect("keys are taken");
    }

    /// The page after a key, and the onset that it tells.
    #[track_caller]
    fn onset_after(&mut self, key: &str) -> i64 {
        self.press(key);
        onset(&self.page())
    }

    fn saved(&self) -> String {
        self.place.read("l.csv")
    }

    /// What was answered, as saved: transcript, class and onset, in the order of the file.
    fn answers(&self) -> Vec<[String; 3]> {
        let saved = self.saved();
        let rows = saved
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let answered = rows.filter(|row| row[9] == "review:ann");
        let told = answered.map(|row| [row[0], row[1], row[5]].map(str::to_owned));
        told.collect()
    }

    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("it ends");
        while let Ok(more) = self.shown.recv_timeout(Duration::from_secs(1)) {
            self.rest.push_str(&String::from_utf8_lossy(&more));
        }
        (status, self.rest)
    }
}

#[track_caller]
fn onset(page: &str) -> i64 {
    let (_, after) = page.split_once(" onset ").expect("a span is shown");
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn every_key_does_what_the_page_says_and_every_answer_is_saved() {
    let place = corpus("doubt", "");
    let mut terminal = Terminal::open(&place);
    let first = terminal.page();
    has(&first, "1 of 4   proposed: clean, confidence 0.666   doubt");
    let (at, copy) = (onset(&first), 36);
    let before = terminal.saved();

    // One char by sign or arrow, one copy likewise; nothing is saved yet.
    for (there, back, by) in [
        (">", "<", 1),
        ("\u{1b}[C", "\u{1b}[D", 1),
        ("[", "]", -copy),
        ("\u{1b}[A", "\u{1b}[B", -copy),
    ] {
        assert_eq!(terminal.onset_after(there), at + by, "{there:?}");
        assert_eq!(terminal.onset_after(back), at, "{back:?}");
    }
    assert_eq!(terminal.onset_after(">"), at + 1);
    assert_eq!(terminal.saved(), before);

    terminal.press("t");
    assert!(terminal.page().contains("2 of 4"));
    let moved = (at + 1).to_string();
    assert_eq!(terminal.answers(), [["doubt", "transient", moved.as_str()]]);
    terminal.press("z");
    assert!(
        terminal
            .page()
            .contains("1 of 4   proposed: clean, confidence 0.666   doubt")
    );
    assert_eq!(
        terminal.saved(),
        before,
        "what was undone is undone in the file"
    );
    terminal.press("l");
    assert!(terminal.page().contains("2 of 4"));
    let looped = ["doubt", "loop", at.to_string().as_str()].map(str::to_owned);
    assert_eq!(terminal.answers(), std::slice::from_ref(&looped));
    terminal.press("s");
    assert!(terminal.page().contains("3 of 4"));
    assert_eq!(terminal.answers(), [looped], "to skip is no answer");

    terminal.press("c");
    assert!(terminal.page().contains("4 of 4"));
    let classes = |terminal: &Terminal<'_>| {
        let mut classes: Vec<String> = terminal.answers().into_iter().map(|[_, c, _]| c).collect();
        classes.sort_unstable();
        classes
    };
    assert_eq!(classes(&terminal), ["clean", "loop"]);
    terminal.press("u");
    assert!(
        terminal
            .page()
            .contains("3 answered, nothing is left to ask")
    );
    assert_eq!(classes(&terminal), ["clean", "loop", "unsure"]);
    terminal.press("z");
    assert!(
        terminal.page().contains("4 of 4"),
        "the very last answer can be taken back too"
    );
    assert_eq!(classes(&terminal), ["clean", "loop"]);
    terminal.press("u");
    assert!(terminal.page().contains("nothing is left to ask"));
    terminal.press("q");
    let (status, told) = terminal.end();
    assert!(
        status.success() && told.contains("3 answered, 1 left"),
        "{told}"
    );

    let mut again = Terminal::open(&place);
    assert!(
        again.page().contains("1 of 1"),
        "what was skipped is asked again"
    );
    assert_eq!(classes(&again), ["clean", "loop", "unsure"]);
    again.press("q");
    assert!(again.end().0.success());
}

#[test]
fn to_leave_saves_nothing_more() {
    let place = corpus("doubt", "");
    for key in ["q", "\u{1b}", "\u{3}"] {
        let mut terminal = Terminal::open(&place);
        assert!(terminal.page().contains("1 of 4"), "{key:?}");
        let before = terminal.saved();
        // Before the program listens, Ctrl-C is the terminal's own; so it is pressed until it is heard.
        while terminal
            .child
            .try_wait()
            .expect("it can be asked")
            .is_none()
        {
            // It may be gone by now.
            terminal.keys.write_all(key.as_bytes()).ok();
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(terminal.saved(), before, "{key:?}");
        let (status, told) = terminal.end();
        assert!(
            status.success() && told.contains("0 answered, 4 left"),
            "{key:?}: {told}"
        );
    }
}
