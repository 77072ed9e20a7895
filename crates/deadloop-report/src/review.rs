//! The page of `deadloop label --serve`, on which a person reviews labels.
//!
//! The page sends keys and receives the state to show. It has no text of a corpus, so it is the same for every corpus.

use minijinja::context;

use crate::draw::variables_css;
use crate::page::{PageError, security_policy, template_environment};

/// The script of the page, in one scope.
const REVIEW_SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../templates/dom.js"),
    include_str!("../templates/theme.js"),
    include_str!("../templates/review.js"),
    "})();\n"
);

/// Renders the page for reviewing labels. The page requests `state` and `press` from its own server, and loads nothing
/// else.
///
/// # Errors
/// The template could not be filled.
pub fn review_page() -> Result<String, PageError> {
    let css = variables_css()
        + include_str!("../templates/page.css")
        + include_str!("../templates/review.css");
    let mut environment = template_environment()?;
    environment.add_template("review.html", include_str!("../templates/review.html"))?;
    let csp = security_policy(&css, REVIEW_SCRIPT) + "; connect-src 'self'";
    let page = environment.get_template("review.html")?;
    Ok(page.render(context! { csp, css, js => REVIEW_SCRIPT, title => "deadloop label: review" })?)
}
