//! The page and the Markdown: the same content through two templates.

use crate::charts::{CHARTS, Chart};
use crate::data::ReportData;
use crate::draw::{DrawError, chart_css, variables_css};
use crate::drill::{drill, texts_note};
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

/// The texts of a report.
#[derive(Debug, Clone)]
pub struct Pages {
    /// The self-contained page.
    pub html: String,
    /// The Markdown with the same content. Charts are links into `charts/`.
    pub markdown: String,
}

/// The script of the page, in one scope.
const SCRIPT: &str = concat!(
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

/// The reason why the pages could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A template could not be filled.
    #[error("the page could not be filled: {0}")]
    Template(#[from] minijinja::Error),
    /// The embedded data could not be packed.
    #[error("what the page holds could not be packed: {0}")]
    Pack(#[from] std::io::Error),
    /// A plane could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
}

/// A drawn chart.
#[derive(Serialize)]
struct ChartFigure {
    name: &'static str,
    title: &'static str,
    reading: Cow<'static, str>,
    svg: String,
}

/// Returns the environment of all templates. A line with only a tag leaves no blank line. The head of a page and the
/// macros of tables are included.
pub(crate) fn environment() -> Result<Environment<'static>, minijinja::Error> {
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

/// Renders both pages from the data and the charts drawn from it.
pub fn pages(data: &ReportData, charts: &[Chart]) -> Result<Pages, PageError> {
    let mut environment = environment()?;
    environment.add_filter("md", markdown_text);
    environment.add_filter("fence", |text: &str| fence("toml", text));
    environment.add_filter("command", |text: &str| fence("sh", text));
    environment.add_template("page.html", include_str!("../templates/page.html"))?;
    environment.add_template("plane.html", include_str!("../templates/plane.html"))?;
    environment.add_template("matrix.html", include_str!("../templates/matrix.html"))?;
    environment.add_template("drill.html", include_str!("../templates/drill.html"))?;
    environment.add_template("report.md", include_str!("../templates/report.md"))?;
    let content = content(data, charts)?;
    let html = environment
        .get_template("page.html")?
        .render(content.clone())?;
    let markdown = environment.get_template("report.md")?.render(content)?;
    Ok(Pages { html, markdown })
}

fn value(of: impl Serialize) -> Value {
    Value::from(Serde(of))
}

/// Returns the data of the templates.
fn content(data: &ReportData, charts: &[Chart]) -> Result<Value, PageError> {
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
        headline => value(headline(data)),
        tables => value(tables(data)),
        charts => value(drawn.collect::<Vec<_>>()),
        settings_toml => value(&data.settings_toml),
        constraints => value(constraints.collect::<Vec<_>>()),
        objective => value(run.objective.0.title_in(run.unit)),
        judge => value(&run.judge),
        seed => value(run.seed),
        counts => value(counts.collect::<Vec<_>>()),
        versions => value(&run.versions),
        corpus => value(&run.corpus),
        corpus_hash => value(&run.corpus_hash),
        labelled => data.has_labels(),
        chosen => !data.choices.is_empty(),
        plane => value(plane),
        plane_reading => value(run.in_unit(CHARTS[0].reading)),
        dots => value(dots),
        matrix => value(matrix::embedded_json(data)?),
        drill => value(drill(data)),
        texts_note => value(texts_note(data)),
        redacted => data.redacted,
        csp => policy(&css, SCRIPT),
        css => css,
        js => SCRIPT,
        // The denominator of the rate of wrong alarms, such as `per million clean chars`.
        per_clean => run.wrong_name().trim_start_matches("wrong alarms "),
        unit => run.unit.name(),
    })
}

/// Returns a content security policy that allows this style and this script, and no other source.
pub(crate) fn policy(css: &str, js: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(css),
        hash(js)
    )
}

/// Escapes text for Markdown, also for a cell of a table. Names of columns and conditions on them become code.
fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, word) in text.split(' ').enumerate() {
        if n > 0 {
            out.push(' ');
        }
        let core = word.trim_matches(|c: char| "(),;:.".contains(c));
        if is_code(core) {
            let (before, after) = word.split_once(core).unwrap_or_default();
            out += &format!("{}`{core}`{}", escape(before), escape(after));
        } else {
            out += &escape(word);
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

fn escape(text: &str) -> String {
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

/// Formats a fenced block. The fence is longer than any run of backticks inside.
fn fence(language: &str, text: &str) -> String {
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
            markdown_text("a|b<script>\n`x`"),
            "a\\|b&lt;script&gt; \\`x\\`"
        );
        assert_eq!(
            markdown_text("best saved (fa_per_mchar<=1), a_`b` <x>"),
            "best saved (`fa_per_mchar<=1`), a\\_\\`b\\` &lt;x&gt;"
        );
        // Nobody is called.
        assert_eq!(markdown_text("@everyone"), "@&#8203;everyone");
        assert!(fence("toml", "a ```` b").starts_with("`````toml\n"));
    }
}
