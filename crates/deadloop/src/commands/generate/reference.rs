//! The reference pages of the docs' site, made from the registries.
//!
//! The pages describe detectors, repairers, budgets, formats of `import`, measures and result files in Markdown.
//! `scripts/book` adds them to the book. The program adds the pages of its commands.

use std::fmt::Write;
use std::ops::Deref;

use deadloop_detect::Value;
use deadloop_detect::harness::{DETECTORS, Detector, Example, Param, ParamRole, Preset, Spec};
use deadloop_import::import_formats;
use deadloop_repair::registry::{REPAIRERS, Repairer};
use deadloop_replay::budget;
use deadloop_score::{ColumnDoc, MEASURES, MeasureUnit, Type, result_tables};

use deadloop_run::{REPORT_FILES, result_files};

use crate::exit::{Code, Outcome};

/// A page of the reference.
pub(super) struct ReferencePage {
    /// The path below the folder of the reference, separated by `/`.
    pub(super) path: String,
    /// The depth in the table of contents, 0 or 1.
    pub(super) depth: usize,
    /// The Markdown text, which begins with its title.
    pub(super) text: String,
}

/// Returns all pages of the reference in the order of the contents, first `commands`. The last page is `contents.md`,
/// the list of pages in the form of mdBook's summary.
///
/// # Errors
/// Returns an error if the presets that ship with a detector cannot be read.
pub(super) fn reference_pages(commands: Vec<ReferencePage>) -> Outcome<Vec<ReferencePage>> {
    let mut all = commands;
    all.extend(detector_pages()?);
    all.extend(repairer_pages()?);
    all.extend([
        budget_page(),
        formats_page(),
        measures_page(),
        files_page(),
        disk_page(),
    ]);
    let line = |page: &ReferencePage| {
        let title = page.text.lines().next().unwrap_or_default();
        let title = title.trim_start_matches("# ");
        format!("{}- [{title}]({})\n", "  ".repeat(page.depth), page.path)
    };
    let text = all.iter().map(line).collect();
    all.push(new_page("contents.md", 0, text));
    Ok(all)
}

/// Creates a page of the reference.
pub(super) fn new_page(path: impl Into<String>, depth: usize, text: String) -> ReferencePage {
    ReferencePage {
        path: path.into(),
        depth,
        text,
    }
}

/// Returns the page on formats on disk and their versions.
fn disk_page() -> ReferencePage {
    let text = include_str!("disk.txt").replace("VERSION", env!("CARGO_PKG_VERSION"));
    let versions = DETECTORS.iter().map(|of| (of.name, of.version.to_string()));
    let rows = versions.map(|(name, version)| md_row([format!("`{name}`").as_str(), &version]));
    new_page("disk.md", 0, text + &rows.collect::<String>())
}

/// Escapes text for a Markdown table. Text between backticks is unchanged, apart from bars.
fn escape_markdown(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    let parts = text
        .split('`')
        .enumerate()
        .map(|(nth, part)| match nth % 2 {
            0 => part.replace('<', "&lt;").replace('*', "\\*"),
            _ => part.to_owned(),
        });
    parts.collect::<Vec<_>>().join("`")
}

/// Formats a row of a Markdown table.
pub(super) fn md_row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(escape_markdown).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Formats the head of a Markdown table.
pub(super) fn md_head(names: &[&str]) -> String {
    format!(
        "{}|{}\n",
        md_row(names.iter().copied()),
        "---|".repeat(names.len())
    )
}

fn detector_pages() -> Outcome<Vec<ReferencePage>> {
    let head = format!(
        "# Detectors\n\nA guard is one or more of these, each with its parameters. Without \
         parameters it runs with its defaults.\n\n{}",
        md_head(&["detector", "alarms on", "does at an alarm", "presets"])
    );
    let page = |detector: &Detector, presets: &[Preset]| {
        format_spec(detector, &examples_of(detector), presets) + &format_grid(detector)
    };
    let does = |detector: &Detector| detector.response.name();
    spec_pages("detectors", head, DETECTORS, does, page)
}

fn repairer_pages() -> Outcome<Vec<ReferencePage>> {
    let head = format!(
        "# Repairers\n\nThey mend faulty streams. How they compare: [Faulty streams](../docs/faults.md).\n\n{}",
        md_head(&["repairer", "does", "reads", "presets"])
    );
    let page = |repairer: &Repairer, presets: &[Preset]| format_spec(repairer, "", presets);
    spec_pages(
        "repairers",
        head,
        REPAIRERS,
        |of: &Repairer| of.stream.name(),
        page,
    )
}

/// Returns the pages of a kind of specs: their list, which begins with `head`, then a page for each.
fn spec_pages<S: Deref<Target = Spec>>(
    folder: &str,
    mut head: String,
    specs: &[&S],
    third_cell: impl Fn(&S) -> &'static str,
    page: impl Fn(&S, &[Preset]) -> String,
) -> Outcome<Vec<ReferencePage>> {
    let mut pages = Vec::new();
    for spec in specs {
        let presets = spec.presets().map_err(|e| Code::Unexpected.error(e))?;
        let path = format!("{folder}/{}.md", spec.name);
        head += &md_row([
            format!("[`{}`]({path})", spec.name).as_str(),
            spec.about,
            third_cell(spec),
            presets.len().to_string().as_str(),
        ]);
        pages.push(new_page(path, 1, page(spec, &presets)));
    }
    pages.insert(0, new_page(format!("{folder}.md"), 0, head));
    Ok(pages)
}

fn budget_page() -> ReferencePage {
    let mut text = format_spec(&budget::SPEC, "", &[]);
    text += &format!(
        "\n## Presets\n\nThe first is the one in use where `--preset` names none.\n\n{}",
        md_head(&["preset", "threshold", "keep", "imitates"])
    );
    for preset in budget::presets() {
        text += &md_row([
            format!("`{}`", preset.name).as_str(),
            preset.threshold.to_string().as_str(),
            preset.keep.to_string().as_str(),
            &preset.about,
        ]);
    }
    new_page("budget.md", 0, text)
}

/// Formats the page of a spec, with its description, `example`, parameters and presets.
fn format_spec(spec: &Spec, example: &str, presets: &[Preset]) -> String {
    let about = escape_markdown(spec.about);
    let (first, rest) = about.split_at(about.chars().next().map_or(0, char::len_utf8));
    let mut page = format!(
        "# {}\n\n{}{rest}. Version {}.\n",
        spec.name,
        first.to_uppercase(),
        spec.version
    );
    page += example;
    if !spec.exactly.is_empty() {
        page += &format!(
            "\n## What it does, exactly\n\n{}\n",
            spec.exactly.trim_end()
        );
    }
    if !spec.params.is_empty() {
        page += &format!(
            "\n## Parameters\n\nS changes what is measured, T only what is accepted.\n\n{}",
            md_head(&["parameter", "", "default", "allowed", "unit", "meaning"])
        );
        page.extend(spec.params.iter().map(parameter_row));
    }
    if !presets.is_empty() {
        page += "\n## Presets\n";
        page.extend(presets.iter().map(format_preset));
    }
    page
}

/// Formats the examples of a detector: streams on which it alarms with its defaults, and others.
fn examples_of(detector: &Detector) -> String {
    let mut text = String::new();
    for example in detector.examples() {
        let does = match example.name {
            Example::FIRES => "With its defaults it alarms on this:".to_owned(),
            Example::QUIET => "With its defaults it does not alarm on this:".to_owned(),
            param => format!("With `{}`, `{param}` matters on this:", example.params),
        };
        text += &format!("\n{does}\n\n```text\n{}\n```\n", example.lines.trim_end());
    }
    text
}

fn parameter_row(param: &Param) -> String {
    let mark = match param.mark {
        ParamRole::Structural => "S",
        ParamRole::Threshold(_) => "T",
    };
    md_row([
        format!("`{}`", param.name).as_str(),
        mark,
        format!("`{}`", Value::from(param.default)).as_str(),
        param.domain.to_string().as_str(),
        param.unit,
        param.doc,
    ])
}

fn format_preset(preset: &Preset) -> String {
    let from = &preset.source;
    let mut text = format!(
        "\n### {}\n\n{}. From {}, {}, {}.\n",
        preset.name,
        escape_markdown(&preset.about),
        escape_markdown(&from.project),
        escape_markdown(&from.version),
        from.date
    );
    if !preset.left_out.is_empty() {
        text += &format!("\nLeft out: {}.\n", escape_markdown(&preset.left_out));
    }
    if !preset.params.is_empty() {
        text += "\n```toml\n";
        for (name, value) in &preset.params {
            let _ = writeln!(text, "{name} = {value}");
        }
        text += "```\n";
    }
    text
}

fn format_grid(detector: &Detector) -> String {
    match detector.grid.trim_end() {
        "" => String::new(),
        text => format!(
            "\n## Its default grid\n\nWhat `tune` searches without a grid of yours:\n\n```toml\n{text}\n```\n"
        ),
    }
}

fn formats_page() -> ReferencePage {
    let mut text = format!(
        "# Formats of import\n\n`deadloop import` tells the format of each file by its content; `--from` names it.\n\n{}",
        md_head(&["`--from`", "what it reads"])
    );
    let rows = import_formats().map(|one| md_row([format!("`{}`", one.name).as_str(), one.help]));
    text.extend(rows);
    new_page("formats.md", 0, text)
}

fn measures_page() -> ReferencePage {
    let mut text = format!(
        "# Measures\n\nColumns of `scores.parquet`; `--constraint` and `--objective` take their names. [How the numbers are \
         made](../reports/METHOD.md) has the rest.\n\n{}",
        md_head(&["measure", "means", "formula", "unit", "better"])
    );
    for measure in MEASURES {
        let unit = match measure.unit {
            MeasureUnit::Share => "share",
            MeasureUnit::PerMillion if measure.scale() < 1e6 => "per thousand",
            MeasureUnit::PerMillion => "per million",
            MeasureUnit::Chars => "chars, calls or turns",
        };
        let better = if measure.more_is_better {
            "more"
        } else {
            "less"
        };
        let name = format!("`{}`", measure.name);
        text += &md_row([name.as_str(), measure.meaning, measure.about, unit, better]);
    }
    new_page("measures.md", 0, text)
}

fn files_page() -> ReferencePage {
    let mut text = format!(
        "# Result files\n\nWhat `replay`, `sweep`, `tune`, `repair` and `budget` leave in the folder of `--out`. The same \
         inputs give the same bytes in every file but `manifest.json`.\n\n{}",
        md_head(&["file", "holds"])
    );
    let more = [("charts/*.svg", "the charts of the report")];
    let owned = |(name, holds): (&str, &str)| (name.to_owned(), holds.to_owned());
    let more = REPORT_FILES.into_iter().chain(more).map(owned);
    for (name, holds) in result_files().into_iter().chain(more) {
        text += &md_row([format!("`{name}`").as_str(), &holds]);
    }
    text += "\n## Columns\n\nAn empty cell is n/a. A unit `unit` is that of the row, or of the choice. A `.parquet` has a `.csv` beside it with `--csv`.\n";
    for table in result_tables() {
        text += &format!(
            "\n### `{}` of {}\n\nA row is {}.\n\n{}",
            table.file,
            table.left_by,
            table.row,
            md_head(&["column", "type, unit", "means"])
        );
        for of in &table.columns {
            let name = format!("`{}`", of.name);
            text += &md_row([name.as_str(), &column_kind(of), &of.about]);
        }
    }
    new_page("files.md", 0, text)
}

/// Formats the type and the unit of a column.
fn column_kind(of: &ColumnDoc) -> String {
    let kind = match of.cell_type {
        Type::Text if of.name.contains('*') => "text or number",
        Type::Text => "text",
        Type::Int => "whole number",
        Type::Float => "number",
    };
    match of.unit.as_str() {
        "" => kind.to_owned(),
        unit => format!("{kind}, {unit}"),
    }
}
