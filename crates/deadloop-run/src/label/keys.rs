//! The keys of a review, in a terminal, on stdin and in a browser.

use deadloop_score::Class;

use super::session::Key;

/// The keys with their help, in the order of importance for a reviewer.
pub const KEYS: [(&str, &str); 13] = [
    ("Enter", "as proposed"),
    ("l", "loop"),
    ("c", "clean"),
    ("t", "transient"),
    ("u", "unsure"),
    ("< >", "onset by a char"),
    ("[ ]", "onset by a copy"),
    ("v", "the whole text"),
    ("space b", "page down, up"),
    ("z", "undo"),
    ("s", "skip"),
    ("?", "help"),
    ("q", "quit"),
];

/// The instructions for reviewers.
pub const HELP: &str = "\
A loop repeats until the text ends, or until something stops it. A transient repeats and then goes on by itself.
Clean text does neither; a table, a list or code that has to repeat is clean. Unsure is not scored.
The onset is the first char of the second copy: the earliest place where a repetition exists. Move it with < > and [ ].
The copies stand in turns in two tints (in brackets without colours).
Each answer is saved at once; z takes it back.
\"not believed\" before a proposal: the finder saw this repetition and thinks that it is none.";

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCommand {
    /// A command to the review session.
    Session(Key),
    /// A change of the view only.
    Sight(ViewChange),
}

/// A change of the view of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewChange {
    /// Switches between the whole text and the excerpts.
    Whole,
    /// Scrolls down by a page.
    Down,
    /// Scrolls up by a page.
    Up,
    /// Shows or hides the instructions.
    Help,
}

/// Returns the command of a key. `name` may be the name of the key in a browser. `None` if the key has no command.
pub fn named(name: &str) -> Option<KeyCommand> {
    let key = match name {
        "Enter" | "enter" => Key::Accept,
        "l" => Key::Answer(Class::Loop),
        "c" => Key::Answer(Class::Clean),
        "t" => Key::Answer(Class::Transient),
        "u" => Key::Answer(Class::Unsure),
        "<" | "ArrowLeft" => Key::Chars(-1),
        ">" | "ArrowRight" => Key::Chars(1),
        "[" | "ArrowUp" => Key::Copies(-1),
        "]" | "ArrowDown" => Key::Copies(1),
        "z" => Key::Undo,
        "s" => Key::Skip,
        "q" => Key::Quit,
        "v" => return Some(KeyCommand::Sight(ViewChange::Whole)),
        " " | "PageDown" => return Some(KeyCommand::Sight(ViewChange::Down)),
        "b" | "PageUp" => return Some(KeyCommand::Sight(ViewChange::Up)),
        "?" => return Some(KeyCommand::Sight(ViewChange::Help)),
        _ => return None,
    };
    Some(KeyCommand::Session(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_that_is_shown_does_something() {
        for (key, _) in KEYS {
            let names = key
                .split(' ')
                .map(|name| if name == "space" { " " } else { name });
            for name in names {
                assert!(named(name).is_some(), "{name}");
            }
        }
    }
}
