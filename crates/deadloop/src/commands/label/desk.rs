//! Where a review takes place: a terminal that delivers one key at a time, or lines of keys on stdin.
//! `session` makes all decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use console::{Key as Pressed, Term};
use deadloop_corpus::{Corpus, Transcript};
use deadloop_replay::{Interrupted, each};
use deadloop_score::{Class, LabelRow, write_labels};

use super::proposing::doubt;
use super::session::{Effect, Key, Session};
use super::view::{KEYS, page};
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
        desk.show(
            &said,
            |context, tinted| page(transcript, &session, context, tinted),
            task.context,
        )?;
        let Some(key) = desk.key()? else { break };
        said.clear();
        match session.press(key) {
            Effect::Save => {
                write_labels(task.labels, &session.rows())?;
                answered = match key {
                    Key::Undo => answered.saturating_sub(1),
                    _ => answered + 1,
                };
                suggested = None;
            }
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

enum Desk {
    Terminal(Term),
    Lines,
}

impl Desk {
    fn open() -> Self {
        let person = io::stdin().is_terminal() && io::stdout().is_terminal();
        match person {
            true => Self::Terminal(Term::stdout()),
            false => Self::Lines,
        }
    }

    /// Shows a page, as much of it as there is room for.
    fn show(&self, said: &str, page: impl Fn(u64, bool) -> String, context: u64) -> Outcome {
        let Self::Terminal(terminal) = self else {
            let after = if said.is_empty() { "" } else { "\n" };
            return show::print(&format!("{}{after}{said}", page(context, false)));
        };
        let (height, _) = terminal.size();
        let tinted = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let mut room = context;
        let mut shown = page(room, tinted);
        while shown.lines().count() + 3 > usize::from(height) && room > LEAST {
            room = (room / 2).max(LEAST);
            shown = page(room, tinted);
        }
        terminal.clear_screen()?;
        Ok(terminal.write_line(&format!("{shown}\n{KEYS}\n{said}"))?)
    }

    /// The next key; `None` where there are no more.
    fn key(&self) -> Outcome<Option<Key>> {
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
                        show::remark(format_args!(
                            "no key {}; expected one of: {KEYS}",
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

fn pressed(key: &Pressed) -> Option<Key> {
    match key {
        Pressed::Char(c) => named(c.encode_utf8(&mut [0; 4])),
        Pressed::ArrowLeft => Some(Key::Chars(-1)),
        Pressed::ArrowRight => Some(Key::Chars(1)),
        Pressed::ArrowUp => Some(Key::Copies(-1)),
        Pressed::ArrowDown => Some(Key::Copies(1)),
        Pressed::Escape | Pressed::CtrlC => Some(Key::Quit),
        _ => None,
    }
}

fn named(name: &str) -> Option<Key> {
    Some(match name {
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
        _ => return None,
    })
}
