//! The report from made-up folders: every chart well-formed and whole, hostile names harmless, nothing undefined shown
//! as a number.
#![allow(clippy::unwrap_used, clippy::panic)]

mod fixture;

use deadloop_report::{ALL_MODELS, Chart, Pages, ReportData, Role, draw_all, pages, write};
use deadloop_score::choose::Ruling;
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Constraint, Count, MEASURES};
use std::collections::BTreeMap;

fn all() -> Vec<(&'static str, ReportData)> {
    vec![
        ("tune", fixture::tune()),
        ("sweep", fixture::sweep()),
        ("replay", fixture::replay()),
        ("unlabelled", fixture::unlabelled()),
        ("degenerate", fixture::degenerate()),
        ("empty", ReportData::default()),
    ]
}

fn drawn(data: &ReportData) -> (Vec<Chart>, Pages) {
    let charts = draw_all(data).unwrap();
    let pages = pages(data, &charts).unwrap();
    (charts, pages)
}

fn names(data: &ReportData) -> Vec<&'static str> {
    let (charts, _) = drawn(data);
    charts
        .iter()
        .filter(|chart| chart.drawn.is_some())
        .map(|chart| chart.entry.name)
        .collect()
}

/// A small XML reader: tags nest and close, attributes are quoted, and every text is escaped.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(
            !rest[..start].contains('>'),
            "a bare > before {}",
            &rest[start..]
        );
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            assert_eq!(
                tag.matches('"').count() % 2,
                0,
                "unbalanced quotes in <{tag}>"
            );
            let name = tag.split([' ', '/']).next().unwrap();
            if !tag.ends_with('/') {
                open.push(name);
            }
            if name == "style" {
                let close = rest.find("</style>").unwrap();
                rest = &rest[close..];
                continue;
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "left open: {open:?}");
    let loose = svg.match_indices('&').find(|(at, _)| {
        !["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"]
            .iter()
            .any(|e| svg[*at..].starts_with(e))
    });
    assert_eq!(loose, None);
}

#[test]
fn every_chart_is_well_formed_and_finite() {
    for (kind, data) in all() {
        for chart in drawn(&data).0 {
            let Some(drawn) = chart.drawn else { continue };
            for svg in [drawn.to_svg_file(), drawn.svg()] {
                assert_well_formed(&svg);
                for attribute in svg.split('"').skip(1).step_by(2) {
                    let bad = ["NaN", "inf"].iter().any(|word| {
                        attribute
                            .split([',', ' '])
                            .any(|part| part.trim_start_matches('-') == *word)
                    });
                    assert!(!bad, "{kind} {}: {attribute}", chart.entry.name);
                }
            }
        }
    }
}

#[test]
fn each_folder_gets_the_charts_that_it_has_data_for() {
    let every = ["operating", "latency", "heatmap"];
    assert_eq!(names(&fixture::tune()), every);
    assert_eq!(names(&fixture::sweep()), ["operating", "heatmap"]);
    assert_eq!(names(&fixture::replay()), ["operating", "latency"]);
    assert!(names(&fixture::unlabelled()).is_empty());
    assert!(names(&fixture::degenerate()).is_empty());
}

#[test]
fn a_chart_without_data_is_just_left_out() {
    for (kind, data) in all() {
        let (charts, pages) = drawn(&data);
        for chart in charts.iter().filter(|chart| chart.drawn.is_none()) {
            let title = chart.entry.title;
            let said = pages.html.contains(title) || pages.markdown.contains(title);
            assert!(!said, "{kind}: {title}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let (_, pages) = drawn(&fixture::tune());
    assert!(!pages.html.contains("<script>alert"));
    assert!(!pages.markdown.contains("<script>"));
    assert!(pages.html.contains("&lt;script&gt;alert"));
    assert_eq!(pages.html.matches("<script>").count(), 1, "the page's own");
    let width = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines = pages.markdown.lines();
    let rows = lines.skip_while(|line| !line.starts_with("| model"));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let widths: std::collections::BTreeSet<usize> = rows.map(width).collect();
    assert_eq!(widths.len(), 1, "a name broke out of its cell");
}

#[test]
fn the_page_needs_nothing_from_outside() {
    for (kind, data) in all() {
        let (_, pages) = drawn(&data);
        // The text of an opened transcript says src=x, as text.
        let own = pages.html.replace("http://www.w3.org/2000/svg", "");
        let own = own.replace("&lt;img src=x", "");
        for word in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!own.contains(word), "{kind}: {word}");
        }
    }
}

#[test]
fn the_undefined_is_not_shown_as_a_number() {
    let (_, pages) = drawn(&fixture::degenerate());
    assert!(pages.markdown.contains("Nothing is labelled"));
    for word in ["NaN", "inf", "None", "null", "Some("] {
        assert!(!pages.markdown.contains(word), "{word}");
    }
}

/// The verdict stands first: badge, the sentence as it was given, what changes, what to type, the figures of the file. No
/// other sentence advises to ship, and nothing that nobody gets is shown as the result.
#[test]
fn the_advice_stands_first_and_is_the_only_one() {
    for ruling in [Ruling::Ship, Ruling::Keep, Ruling::Collect] {
        let mut data = fixture::tune();
        fixture::advise(&mut data, ruling);
        let advice = data.advice.clone().unwrap();
        let (_, pages) = drawn(&data);
        let told = pages.markdown.replace(['\\', '`'], "").replace("&lt;", "<");
        let name = ruling.name();
        let first = format!("**{name}**: {}\n\n{}", advice.reason, advice.more.join(" "));
        let at = told
            .find(&first)
            .unwrap_or_else(|| panic!("{name}: {}", &told[..900]));
        let table = told.find("\n## ").unwrap();
        let (head, rest) = told.split_at(table);
        assert!(at < table && head.contains(&advice.next[0]), "{name}");
        assert!(rest.starts_with("\n## What a limit costs"));
        let ships = ruling == Ruling::Ship;
        assert_eq!(data.chosen().is_some(), ships, "{name}");
        assert_eq!(
            head.contains("(**min_repeats**): 6 copies → 5 copies"),
            ships
        );
        assert_eq!(head.contains("What settings.toml changes"), ships, "{name}");
        assert_eq!(
            head.contains("settings.toml (a setting of the grid), held out"),
            ships,
            "{head}"
        );
        for (name, n) in [
            ("wrong alarms", "**13** ("),
            ("transient stops", "**55** ("),
        ] {
            let mut lines = head.lines().filter(|line| line.contains(n));
            assert_eq!(
                lines.any(|line| line.starts_with(&format!("- {name}: "))),
                ships
            );
        }
        assert_eq!(told.matches("Ship").count(), usize::from(ships), "{name}");
        assert!(!told.contains("andidate"), "{name}");
        let html = format!("<b class=\"badge\">{name}</b> {}", advice.reason);
        assert!(pages.html.contains(&html), "{name}");
        assert_eq!(pages.html.contains(": unchanged (in use)"), !ships);
        let toml = pages
            .html
            .matches("<summary>settings.toml, as it lies")
            .count();
        assert_eq!(toml, 1, "with its button to copy");
        for page in [&told, &pages.html] {
            assert!(page.contains("What to do") && page.contains("get_build_status may pass"));
            assert!(
                page.contains("saved_at_1 of checkpoint: 61.2 % (58.9 to 63.1)"),
                "{rest}"
            );
        }
    }
}

/// A file without a part that was chosen by folds has one kind of figures, and says so.
#[test]
fn a_file_of_ready_guards_has_figures_as_measured() {
    let mut data = fixture::tune();
    data.advice.as_mut().unwrap().by_folds = false;
    let (_, pages) = drawn(&data);
    assert!(
        pages
            .html
            .contains("settings.toml (a setting of the grid), as measured")
    );
    assert!(!pages.html.contains("), held out"));
    // A ready guard that ships for all models is one mark of the plane and one column of the matrix.
    let ready = data.settings.iter().position(|one| one.role == Role::Named);
    let name = data.describe(ready.unwrap());
    for choice in &mut data.choices {
        (choice.setting, choice.ships) = (ready, None);
    }
    data.chosen_at.take();
    let (charts, pages) = drawn(&data);
    let plane = charts[0].drawn.as_ref().unwrap().svg();
    for (page, ends) in [(plane, ['>', '<']), (pages.html, ['"', '"'])] {
        let is_there = |name: &str| page.contains(&format!("{}{name}{}", ends[0], ends[1]));
        assert!(is_there(&format!("settings.toml: {name}")) && !is_there(&name));
    }
}

#[test]
fn a_limit_costs_held_out_figures() {
    let data = fixture::tune();
    let limits = &data.advice.as_ref().unwrap().limits;
    let markdown = drawn(&data).1.markdown;
    let row = |at_most: &str| row_of(&markdown, "What a limit costs", at_most);
    let (zero, one) = (row("0"), row("1"));
    assert_eq!(
        [&zero, &one].map(|row| row["in settings.toml?"].as_str()),
        ["no: not proven better", "yes"]
    );
    assert!(zero["setting"].starts_with("in use (document)"), "{zero:?}");
    let at = data
        .settings
        .iter()
        .position(|one| one.id == limits[1].setting);
    let setting = one["setting"].replace(['\\', '`'], "");
    assert!(setting.contains(&data.describe(at.unwrap())), "{one:?}");
    assert_eq!(row("settings.toml")["in settings.toml?"], "yes");
    assert!(one["saved"].starts_with("50 % (in-sample "), "{one:?}");
    assert!(one["wrong alarms"].starts_with("13 (in-sample "), "{one:?}");
    assert!(one["transient stops"].starts_with("55 (in-sample "));
}

/// The cells of a row of a table in Markdown, by the names of its columns.
fn row_of(markdown: &str, table: &str, row: &str) -> BTreeMap<String, String> {
    let (_, table) = markdown.split_once(&format!("## {table}")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = table.lines().filter(|line| line.starts_with('|'));
    let head = cells(lines.next().unwrap());
    let row = lines
        .find(|line| line.starts_with(&format!("| {row} ")))
        .unwrap();
    head.into_iter().zip(cells(row)).collect()
}

#[test]
fn the_table_of_models_says_what_each_gets_and_why() {
    let mut data = fixture::tune();
    let gets = |data: &ReportData, model: &str| {
        row_of(&drawn(data).1.markdown, "What each model gets", model)
    };
    let file = gets(&data, "all models");
    let row = &data.choices[0];
    assert!(
        file["saved"].contains(" → ") && file["saved"].contains("in-sample "),
        "{file:?}"
    );
    let counts = [
        ("wrong alarms", row.held_out.wrong),
        ("transient stops", row.held_out.transient),
    ];
    for (name, n) in counts {
        assert!(file[name].contains(&n.to_string()), "{name}: {file:?}");
    }
    assert!(file["in use → gets"].starts_with("the setting in use → a setting of the grid ("));
    let own = gets(&data, "deepseek-r1-distill-qwen-7b");
    assert_eq!(own["why"], "because");
    fixture::advise(&mut data, Ruling::Keep);
    let same = "Every model has the same setting in settings.toml: the setting in use.";
    assert!(drawn(&data).1.markdown.contains(same));
    let kept = gets(&data, "all models");
    assert!(
        kept["in use → gets"].starts_with("the setting in use ("),
        "{kept:?}"
    );
    let figures = kept
        .values()
        .any(|cell| cell.contains(" → ") || cell.contains("in-sample"));
    assert!(!figures, "{kept:?}");
}

/// Found, stopped in an earlier repetition, missed: together all loops.
#[test]
fn loops_have_three_parts() {
    let data = fixture::tune();
    let row = row_of(&drawn(&data).1.markdown, "Settings side by side", "in use");
    let score = data.score(0, ALL_MODELS).unwrap();
    let (hit, earlier) = (
        score.scores.tally.get(Count::Hit),
        score.scores.tally.get(Count::Earlier),
    );
    let missed = score.loops() - hit - earlier;
    assert!(earlier > 0);
    let parts = format!("({hit} found, {earlier} stopped earlier, {missed} missed)");
    assert!(
        row["loops"].replace('\u{202f}', "").ends_with(&parts),
        "{row:?}"
    );
    let stops = score.scores.tally.get(Count::TransientStop);
    assert_eq!(
        row["transient stops"].replace('\u{202f}', ""),
        stops.to_string()
    );
}

/// A measure is one entry of the table: titles and limits follow.
#[test]
fn every_measure_of_the_table_reaches_the_page() {
    let markdown = drawn(&fixture::tune()).1.markdown;
    for measure in MEASURES {
        let name = measure.name;
        let is_counted = deadloop_score::measures(Unit::Chars).any(|of| of.name == name);
        assert!(
            format!("{name}<=0.5").parse::<Constraint>().is_ok(),
            "{name} is no limit"
        );
        if is_counted && measure.shown.tables {
            assert!(markdown.contains(measure.title), "{name} has no column");
        }
    }
}

#[test]
fn charts_name_the_member_of_a_parameter_where_a_guard_has_several() {
    let svg = |data: &ReportData, name: &str| {
        let charts = drawn(data).0;
        let chart = charts.iter().find(|chart| chart.entry.name == name);
        chart.unwrap().drawn.as_ref().unwrap().svg()
    };
    let mut data = fixture::tune();
    let alone = svg(&data, "heatmap");
    assert!(alone.contains(">in use</text>") && !alone.contains("checkpoint: "));
    // The setting in use is of another guard: it has no place among these cells.
    data.parameters.push("periodic.min_copies".into());
    for (at, setting) in data.settings.iter_mut().enumerate() {
        setting.params.push((at == 0).then(|| "3".into()));
    }
    let map = svg(&data, "heatmap");
    assert!(map.contains("checkpoint: ") && !map.contains(">in use</text>"));
}

#[test]
fn a_sweep_names_and_shows_its_best_setting() {
    let mut data = fixture::sweep();
    let (_, pages) = drawn(&data);
    let best = data.best().unwrap();
    assert_eq!(data.settings[best].role, Role::Cell);
    let mut lines = pages.markdown.lines();
    let verdict = lines.find(|l| l.starts_with("**")).unwrap();
    let verdict = verdict.replace(['\\', '`'], "");
    let parts = [
        "The setting with the best saved".to_owned(),
        data.describe(best),
    ];
    assert!(parts.iter().all(|part| verdict.contains(part)), "{verdict}");
    assert!(pages.markdown.contains("| best in-sample ("));
    // The fixture's settings without a name alone.
    data.best.take();
    data.in_use_at.take();
    data.leading.take();
    for setting in &mut data.settings {
        if setting.role != Role::Never {
            (setting.role, setting.label) = (Role::Cell, None);
        }
    }
    let (_, pages) = drawn(&data);
    let nothing = "There is no setting in use, and no preset, to compare with.";
    assert!(pages.markdown.contains(nothing));
}

#[test]
fn an_unlabelled_replay_lists_what_would_have_fired() {
    let (_, pages) = drawn(&fixture::unlabelled());
    let (first, table) = (pages.markdown)
        .split_once("## What each setting would cut")
        .unwrap();
    assert!(first.contains("## What would have fired"));
    assert!(first.contains("document would have cut 19 of 60 transcripts"));
    assert!(table.contains("| document (f00d) | 19 | 60 | 4.8 |"));
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let (first, second) = (drawn(&fixture::tune()).1, drawn(&fixture::tune()).1);
    assert!(first.html == second.html && first.markdown == second.markdown);
}

#[test]
fn many_models_are_folded_away() {
    let mut data = fixture::tune();
    let few = data.choices.last().unwrap().clone();
    data.choices
        .extend((0..1500).map(|n| deadloop_report::ChoiceRow {
            model: format!("model-{n}"),
            ..few.clone()
        }));
    let (_, pages) = drawn(&data);
    let folded = |line: &&str| line.contains("more with the setting of all models");
    let line = pages.markdown.lines().find(folded).unwrap_or_default();
    assert!(
        line.contains("; the other 1\u{202f}") && line.contains("are in choice.csv"),
        "{line}"
    );
    assert!(pages.html.len() < 3_000_000, "{} bytes", pages.html.len());
}

/// A page for a pull request: what is not in the fold is short, whatever the run.
#[test]
fn the_markdown_is_short_before_its_fold() {
    let mut long = fixture::tune();
    let (advice, few) = (long.advice.as_mut().unwrap(), long.choices.last().unwrap());
    advice.limits = vec![advice.limits[0].clone(); 30];
    advice.to_do = vec!["do it".into(); 40];
    let models = (0..50).map(|n| deadloop_report::ChoiceRow {
        model: format!("model-{n}"),
        ..few.clone()
    });
    long.choices.extend(models.collect::<Vec<_>>());
    for (kind, data) in all().into_iter().chain([("long", long)]) {
        let markdown = drawn(&data).1.markdown;
        let (first, rest) = markdown.split_once("<details>").unwrap();
        let lines = first.lines().count();
        assert!(lines <= 60, "{kind}: {lines} lines\n{first}");
        assert!(rest.trim_end().ends_with("</details>"), "{kind}");
        assert_eq!(rest.matches("<details").count(), 0, "{kind}: one fold");
    }
}

/// Settings without a wrong alarm lie side by side, wherever there is room for them.
#[test]
fn no_dot_of_the_strip_lies_on_another() {
    let mut data = fixture::tune();
    for score in &mut data.scores {
        score.scores.tally[Count::FalseAlarm] = 0;
        score.scores = deadloop_score::Scores::new(
            &score.scores.tally,
            score.scores.latency,
            &score.worth,
            &mut deadloop_score::PoissonCache::default(),
        );
    }
    let charts = drawn(&data).0;
    let svg = charts[0].drawn.as_ref().unwrap().svg();
    let number = |circle: &str, name: &str| -> f64 {
        let (_, rest) = circle.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let circles = svg.split("<circle").skip(1);
    let dots = circles.filter(|circle| number(circle, "r") < 4.0);
    let dots: Vec<(f64, f64)> = dots
        .map(|dot| (number(dot, "cx"), number(dot, "cy")))
        .collect();
    assert!(dots.len() > 50, "{} dots", dots.len());
    for (n, a) in dots.iter().enumerate() {
        let apart = |b: &(f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
        assert!(dots[n + 1..].iter().all(|b| apart(b) >= 6.0), "{a:?}");
    }
}

#[test]
fn charts_of_an_earlier_report_do_not_stay() {
    let dir = tempfile::tempdir().unwrap();
    let report = write(&fixture::tune(), dir.path()).unwrap();
    assert_eq!(report.files.len(), 5);
    write(&fixture::sweep(), dir.path()).unwrap();
    assert!(
        !dir.path().join("charts/latency.svg").exists()
            && dir.path().join("charts/heatmap.svg").exists()
    );
}

#[test]
fn a_small_report_reads_like_this() {
    let (_, pages) = drawn(&fixture::unlabelled());
    let short: Vec<&str> = pages.markdown.lines().take(12).collect();
    assert_eq!(short.join("\n") + "\n", include_str!("golden/small.md"));
}

#[test]
fn a_large_sweep_stays_small() {
    let (_, pages) = drawn(&fixture::big());
    assert!(pages.html.len() < 700_000, "{} bytes", pages.html.len());
    let dots = pages.html.matches("data-dot=").count();
    assert!((100..=400).contains(&dots), "{dots} dots");
}

#[test]
fn opened_transcripts_are_text_and_stand_in_the_page_without_scripts() {
    let data = fixture::tune();
    let (_, pages) = drawn(&data);
    let page = pages.html;
    let opened = data.opened.unwrap().1.len();
    assert_eq!(page.matches("<details class=\"case").count(), opened);
    assert!(!page.contains("<img") && !page.contains("<script>alert"));
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{0}', '\u{1b}']));
    assert!(page.contains("\\u{202e}txt.exe") && page.contains("12 worst of"));
    let plain = page.replace("&#x2f;", "/").replace("&#x27;", "'");
    let command = "deadloop explain . deepseek-r1-distill-qwen/";
    assert!(plain.contains(command), "for the folder of the page");
    // Ids are called in links by nothing that markup knows, and each once.
    let ids: Vec<&str> = page
        .split("id=\"t=")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (opened, opened));
    assert!(ids.iter().all(|id| {
        id.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.~%".contains(&b))
    }));
}

/// Every chart and both pages of results that are counted in `unit`.
fn counted_in(unit: Unit) -> Vec<(String, String)> {
    let mut data = fixture::tune();
    data.run.unit = unit;
    data.run.constraints.clear();
    for row in data.outcomes.iter_mut() {
        row.channel = Some("tools".into());
    }
    let opened = data.opened.iter_mut().flat_map(|(_, opened)| opened);
    for part in opened.flat_map(|one| &mut one.parts) {
        part.channel = "tools".into();
    }
    data.settings_toml = None;
    // The values of these settings of text are in chars.
    for setting in &mut data.settings {
        setting.toml = None;
    }
    let (charts, pages) = drawn(&data);
    let mut all = Vec::new();
    for chart in &charts {
        let Some(drawn) = &chart.drawn else {
            continue;
        };
        all.push((chart.entry.name.to_owned(), drawn.to_svg_file()));
    }
    // Not the script's own words, which are none of the page.
    let script = pages.html.rfind("<script>").unwrap();
    all.push(("report.html".into(), pages.html[..script].to_owned()));
    all.push(("report.md".into(), pages.markdown));
    all
}

#[test]
fn nothing_counts_in_chars_where_another_unit_was_asked_for() {
    for unit in [Unit::Calls, Unit::Turns] {
        for (name, text) in counted_in(unit) {
            let mut said = text.match_indices("char").map(|(at, _)| at);
            let is_word = |at: &usize| {
                !["chart", "charset", "char or call"]
                    .iter()
                    .any(|w| text[*at..].starts_with(w))
            };
            if let Some(at) = said.find(is_word) {
                let before: Vec<&str> = text[..at].rsplitn(9, ' ').collect();
                let rest: String = text[at..].chars().take(30).collect();
                panic!("{name} in {unit}: {rest}… after {before:?}");
            }
        }
    }
}
