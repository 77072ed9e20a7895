//! `transcripts.html`: the whole of the transcripts that the report opens. One page without scripts: its address says which of
//! them it shows, and without one it lists them.

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use super::open::link;
use super::text::{Shown, stretch};
use crate::data::ReportData;
use crate::draw::variables_css;
use crate::numbers::count;
use crate::page::{PageError, environment, policy};
use crate::visible::visible;
use deadloop_score::{WHOLE_CHARS, Whole};

/// One transcript.
#[derive(Serialize)]
struct View {
    id: String,
    /// As it is called in links.
    link: String,
    chars: String,
    parts: Vec<Shown>,
}

impl View {
    fn of(whole: &Whole) -> Self {
        Self {
            id: visible(&whole.transcript).into_owned(),
            link: link(&whole.transcript),
            chars: count(whole.chars() as u64),
            parts: whole.parts.iter().map(stretch).collect(),
        }
    }
}

/// The page; `None` where no text is kept.
pub(crate) fn whole_page(data: &ReportData) -> Result<Option<String>, PageError> {
    let Some((head, wholes)) = data.wholes.as_ref().filter(|(_, all)| !all.is_empty()) else {
        return Ok(None);
    };
    let mut environment = environment()?;
    environment.add_template("whole.html", include_str!("../../templates/whole.html"))?;
    let css = variables_css()
        + include_str!("../../templates/page.css")
        + include_str!("../../templates/whole.css");
    let left_out = match head.left_out {
        0 => String::new(),
        n => format!(
            " {} that the report opens are not here: at most {} chars of one transcript, and {} of all, are kept.",
            count(n),
            count(WHOLE_CHARS.0 as u64),
            count(WHOLE_CHARS.1 as u64)
        ),
    };
    let views: Vec<View> = wholes.iter().map(View::of).collect();
    let page = environment.get_template("whole.html")?;
    let page = page.render(context! {
        csp => policy(&css, ""),
        css,
        title => "Whole transcripts",
        redacted => data.redacted,
        left_out,
        wholes => Serde(views),
    })?;
    Ok(Some(page))
}
