//! The HTML page and the Markdown of a report, with the same content in two templates.

use crate::charts::{CHARTS, Chart};
use crate::data::ReportData;
use crate::draw::{DrawError, chart_css, variables_css};
use crate::drill::{open_groups, texts_note};
use crate::headline::headline;
use crate::matrix;
use crate::numbers::count;
use crate::plane;
use crate::tables::tables;
use crate::visible::visible;
use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A report as two texts with the same content.
#[derive(Debug, Clone)]
pub struct Pages {
    /// The self-contained HTML page.
    pub html: String,
    /// The Markdown. Its charts are links into `charts/`.
    pub markdown: String,
}

/// The script of the page, in one scope.
const PAGE_SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../templates/dom.js"),
    include_str!("../templates/theme.js"),
    include_str!("../templates/save.js"),
    include_str!("../templates/only.js"),
    include_str!("../templates/tables.js"),
    include_str!("../templates/plane.js"),
    include_str!("../templates/drill.js"),
    include_str!("../templates/matrix.js"),
    "})();\n"
);

/// The error for pages that could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A template could not be rendered.
    #[error("the page could not be filled: {0}")]
    Template(#[from] minijinja::Error),
    /// The embedded data could not be packed.
    #[error("what the page holds could not be packed: {0}")]
    Pack(#[from] std::io::Error),
    /// A plane could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
}

/// A chart as the templates render it.
#[derive(Serialize)]
struct ChartFigure {
    name: &'static str,
    title: &'static str,
    reading: Cow<'static, str>,
    svg: String,
}

/// Creates the template environment, with the head of a page and the macros of tables.
///
/// A line with only a tag leaves no blank line.
pub(crate) fn template_environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()?,
    );
    environment.add_template("head.html", include_str!("../templates/head.html"))?;
    environment.add_template("macros.html", include_str!("../templates/macros.html"))?;
    Ok(environment)
}

/// Renders both texts from the data and the drawn charts.
pub fn pages(data: &ReportData, charts: &[Chart]) -> Result<Pages, PageError> {
    let mut environment = template_environment()?;
    environment.add_filter("md", escape_markdown);
    environment.add_filter("fence", |text: &str| fenced_block("toml", text));
    environment.add_filter("command", |text: &str| fenced_block("sh", text));
    environment.add_template("page.html", include_str!("../templates/page.html"))?;
    environment.add_template("plane.html", include_str!("../templates/plane.html"))?;
    environment.add_template("matrix.html", include_str!("../templates/matrix.html"))?;
    environment.add_template("drill.html", include_str!("../templates/drill.html"))?;
    environment.add_template("method.html", include_str!("../templates/method.html"))?;
    environment.add_template("report.md", include_str!("../templates/report.md"))?;
    let content = template_context(data, charts)?;
    let html = environment
        .get_template("page.html")?
        .render(content.clone())?;
    let markdown = environment.get_template("report.md")?.render(content)?;
    Ok(Pages { html, markdown })
}

fn to_value(data: impl Serialize) -> Value {
    Value::from(Serde(data))
}

/// Returns the data that the templates render.
fn template_context(data: &ReportData, charts: &[Chart]) -> Result<Value, PageError> {
    // The first chart, the plane, has its own section.
    let drawn = charts.iter().skip(1).filter_map(|chart| {
        let drawn = chart.drawn.as_ref()?;
        Some(ChartFigure {
            name: chart.entry.name,
            title: chart.entry.title,
            reading: data.run.in_unit(chart.entry.reading),
            svg: drawn.svg(),
        })
    });
    let (plane, dots) = plane::embedded_planes(data)?.unzip();
    let run = &data.run;
    let css = variables_css() + &chart_css() + include_str!("../templates/page.css");
    let constraints = run.constraints.iter().map(ToString::to_string);
    let counts = run.counts.iter();
    let counts = counts.map(|(name, value)| (name, count(*value)));
    Ok(context! {
        title => format!("deadloop {}: {}", run.command, visible(&run.corpus)),
        headline => to_value(headline(data)),
        tables => to_value(tables(data)),
        charts => to_value(drawn.collect::<Vec<_>>()),
        settings_toml => to_value(&data.settings_toml),
        constraints => to_value(constraints.collect::<Vec<_>>()),
        objective => to_value(run.objective.0.title_in(run.unit)),
        judge => to_value(&run.judge),
        seed => to_value(run.seed),
        counts => to_value(counts.collect::<Vec<_>>()),
        versions => to_value(&run.versions),
        corpus => to_value(&run.corpus),
        corpus_hash => to_value(&run.corpus_hash),
        labelled => data.has_labels(),
        chosen => !data.choices.is_empty(),
        plane => to_value(plane),
        plane_reading => to_value(run.in_unit(CHARTS[0].reading)),
        dots => to_value(dots),
        matrix => to_value(matrix::embedded_json(data)?),
        drill => to_value(open_groups(data)),
        texts_note => to_value(texts_note(data)),
        redacted => data.redacted,
        csp => security_policy(&css, PAGE_SCRIPT),
        css => css,
        js => PAGE_SCRIPT,
        // The denominator of the rate of wrong alarms, such as `per million clean chars`.
        per_clean => run.wrong_name().trim_start_matches("wrong alarms "),
        unit => run.unit.name(),
    })
}

/// Returns a content security policy that allows only this style and this script.
pub(crate) fn security_policy(css: &str, js: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(css),
        hash(js)
    )
}

/// Escapes a text for Markdown, including cells of tables. Names of columns and conditions on columns become code.
fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, word) in text.split(' ').enumerate() {
        if n > 0 {
            out.push(' ');
        }
        let core = word.trim_matches(|c: char| "(),;:.".contains(c));
        if is_code(core) {
            let (before, after) = word.split_once(core).unwrap_or_default();
            out += &format!("{}`{core}`{}", escape_word(before), escape_word(after));
        } else {
            out += &escape_word(word);
        }
    }
    out
}

/// Returns whether a word is code, such as `fa_per_mchar` or `recall>=0.9`.
fn is_code(word: &str) -> bool {
    let bare = word.replace("<=", "").replace(">=", "");
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.=".contains(c);
    (bare.len() < word.len() || word.contains('_'))
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && bare.chars().all(is_part)
}

fn escape_word(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // An entity alone would become a mention again when the text is read.
            '@' => out.push_str("@&#8203;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Formats a fenced block of Markdown. The fence is longer than any run of backticks in the text.
fn fenced_block(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_cannot_be_broken_out_of() {
        assert_eq!(
            escape_markdown("a|b<script>\n`x`"),
            "a\\|b&lt;script&gt; \\`x\\`"
        );
        assert_eq!(
            escape_markdown("best saved (fa_per_mchar<=1), a_`b` <x>"),
            "best saved (`fa_per_mchar<=1`), a\\_\\`b\\` &lt;x&gt;"
        );
        // Nobody is called.
        assert_eq!(escape_markdown("@everyone"), "@&#8203;everyone");
        assert!(fenced_block("toml", "a ```` b").starts_with("`````toml\n"));
    }
}
