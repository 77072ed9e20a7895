//! The page of `deadloop repair`: choices, a matrix of faults and variants, every wrong one to open. It is whole
//! without scripts, and has none. What it shows of a run is put together in `shown`.

mod shown;

pub use shown::{repair_columns, repair_of, repair_page, repair_sentence, why_not_shipped};

use deadloop_score::repairs::WrongRepair;
use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::draw::variables_css;
use crate::page::{PageError, environment};
use crate::visible::in_lines;

/// What the page shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RepairPage {
    /// The corpus, as it was named.
    pub corpus: String,
    /// The limit on harm, as `0.1 %`.
    pub limit: String,
    /// Of each repairer.
    pub choices: Vec<RepairChoiceView>,
    /// Of each repairer.
    pub matrices: Vec<RepairMatrix>,
    /// Wrong ones of the variants that are shown.
    pub wrong: Vec<WrongRepair>,
    /// How many more there are.
    pub left: u64,
}

/// The choice among the variants of a repairer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RepairChoiceView {
    /// The repairer.
    pub repairer: String,
    /// `ship`, `decide`, `collect`, `keep` or `none`.
    pub badge: String,
    /// The verdict as a sentence.
    pub sentence: String,
    /// The best variant at each limit.
    pub prices: Vec<RepairPrice>,
}

/// A row of the price list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RepairPrice {
    /// The limit on harm.
    pub at_most: String,
    /// The variant; empty: none is within it.
    pub variant: String,
    /// Its parameters.
    pub params: String,
    /// How many are recovered.
    pub recovered: String,
    /// How many are wrong.
    pub wrong: String,
    /// How many intact streams are changed.
    pub false_repair: String,
}

/// Faults and variants of a repairer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RepairMatrix {
    /// The repairer.
    pub repairer: String,
    /// Its variants.
    pub columns: Vec<String>,
    /// Each fault with a cell a variant: what is said, and the share from 0 to 1 that colours it.
    pub rows: Vec<(String, Vec<(String, f64)>)>,
}

/// What the page may do: it has no script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The page as HTML. Text of transcripts is shown with nothing hidden in it.
///
/// # Errors
/// The template could not be filled.
pub fn repairs_page(page: &RepairPage) -> Result<String, PageError> {
    let mut environment = environment()?;
    environment.add_filter("seen", |text: &str| {
        text.chars().map(in_lines).collect::<String>()
    });
    environment.add_template("repairs.html", include_str!("../../templates/repairs.html"))?;
    let css = format!(
        "{}{}\n{}",
        variables_css(),
        include_str!("../../templates/page.css"),
        include_str!("../../templates/repairs.css")
    );
    let template = environment.get_template("repairs.html")?;
    Ok(template.render(minijinja::context! {
        page => Value::from(Serde(page)),
        title => format!("repairers on {}", page.corpus),
        csp => POLICY,
        css,
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_is_shown_and_not_run() {
        let page = RepairPage {
            corpus: "<b>".into(),
            wrong: vec![WrongRepair {
                before: "<script>x</script>\u{202e}".into(),
                ..WrongRepair::default()
            }],
            matrices: vec![RepairMatrix {
                columns: vec!["lenient".into()],
                rows: vec![("*".into(), vec![("50 %".into(), 0.5)])],
                ..RepairMatrix::default()
            }],
            ..RepairPage::default()
        };
        let html = repairs_page(&page).unwrap();
        assert!(
            !html.contains("<script") && html.contains("\\u{202e}"),
            "{html}"
        );
        assert!(html.contains("&lt;script&gt;"));
    }
}
