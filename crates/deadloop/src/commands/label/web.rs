//! Reviews labels in a browser on this machine, with the keys of the terminal.
//!
//! The page draws the state that it receives and sends keys back.

use deadloop_proxy::{LocalPage, LocalRequest, LocalResponse};
use deadloop_report::review_page;
use serde::{Deserialize, Serialize};

use super::view::{TintedText, TranscriptView, view_of};
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::label::{HELP, InteractiveReview, KEYS, KeyCommand, Review, ViewChange, named};

/// A key from the page, with the number of the state in which it was pressed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyPress {
    key: String,
    turn: u64,
}

/// The state that the page shows.
#[derive(Serialize)]
struct PageState<'a> {
    /// The number of this state, which grows by 1 with each key. A key pressed in an older state, for example in a
    /// second window, has no effect.
    turn: u64,
    head: Vec<String>,
    excerpts: Vec<(String, Vec<TintedText>)>,
    said: &'a str,
    whole: bool,
    help: Option<&'static str>,
    /// The number of pages to move the text: 1 is down, -1 is up.
    moved: i8,
    keys: &'static [(&'static str, &'static str)],
    answered: usize,
    left: usize,
    ended: bool,
}

/// A review served as a web page.
struct ReviewServer<'a> {
    review: InteractiveReview<'a>,
    turn: u64,
    ended: bool,
}

/// Serves a review in the browser until `q` is pressed there. Returns the number of answered transcripts, and the
/// number of open ones.
pub(super) fn serve(task: &Review, port: u16) -> Outcome<(usize, usize)> {
    let host = Terminal::silent();
    let review = InteractiveReview::open(task, &host)?;
    let local = LocalPage::bind(port)
        .map_err(|e| Code::Usage.error(format!("--serve: 127.0.0.1:{port}: {e}")))?;
    let page = review_page().map_err(Failure::from)?;
    show::eprint(format_args!(
        "review: {}\nOpen it in a browser on this machine. Every answer is saved at once; q or Ctrl-C ends it.",
        local.address()
    ));
    let mut server = ReviewServer {
        review,
        turn: 0,
        ended: false,
    };
    local.serve(|request| server.answer_request(request, &page))?;
    Ok(server.review.progress())
}

impl ReviewServer<'_> {
    fn answer_request(&mut self, request: &LocalRequest, page: &str) -> Outcome<LocalResponse> {
        match (request.posted, request.path.as_str()) {
            (false, "") => Ok(respond("200 OK", "text/html; charset=utf-8", page)),
            (false, "state") => self.state_answer(0),
            (true, "press") => match serde_json::from_slice::<KeyPress>(&request.body) {
                Ok(pressed) => self.handle_key(&pressed),
                Err(_) => Ok(respond("400 Bad Request", "text/plain", "no key\n")),
            },
            _ => Ok(respond("404 Not Found", "text/plain", "nothing is here\n")),
        }
    }

    fn handle_key(&mut self, pressed: &KeyPress) -> Outcome<LocalResponse> {
        let press = named(&pressed.key).filter(|_| pressed.turn == self.turn);
        let moved = match press {
            Some(KeyCommand::Sight(ViewChange::Down)) => 1,
            Some(KeyCommand::Sight(ViewChange::Up)) => -1,
            _ => 0,
        };
        if let Some(press) = press {
            self.turn += 1;
            self.ended = !self.review.press(press)?;
        }
        self.state_answer(moved)
    }

    fn state_answer(&self, moved: i8) -> Outcome<LocalResponse> {
        let review = &self.review;
        let shown = review.transcript();
        let shown = shown.map(|transcript| view_of(transcript, &review.session, review.context()));
        let TranscriptView { head, excerpts } = shown.unwrap_or_default();
        let (answered, left) = review.progress();
        let state = PageState {
            turn: self.turn,
            head,
            excerpts: excerpts.iter().map(super::view::tinted_pieces).collect(),
            said: review.said,
            whole: review.sight.whole,
            help: review.sight.help.then_some(HELP),
            moved,
            keys: &KEYS,
            answered,
            left,
            ended: self.ended,
        };
        let text = serde_json::to_string(&state)?;
        Ok(LocalResponse {
            last: self.ended,
            ..respond("200 OK", "application/json", &text)
        })
    }
}

fn respond(status: &'static str, kind: &'static str, text: &str) -> LocalResponse {
    LocalResponse {
        status,
        kind,
        text: text.to_owned(),
        last: false,
    }
}
