//! The report from made-up folders: every chart well-formed and whole, hostile names harmless, nothing undefined shown
//! as a number.
#![allow(clippy::unwrap_used, clippy::panic)]

mod fixture;

use deadloop_report::{
    ALL_MODELS, Chart, Nothing, Over, Pages, ReportData, Restrictive, Role, Score, draw_all, pages,
    write,
};
use std::collections::{BTreeMap, BTreeSet};

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
        .filter(|chart| chart.drawn.is_ok())
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
            let Ok(layouts) = chart.drawn else { continue };
            for svg in [layouts.file(), layouts.narrow()] {
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
    let every = [
        "operating",
        "forest",
        "pareto",
        "cost",
        "latency",
        "breakdown",
        "heatmap",
        "marginal",
        "agreement",
    ];
    assert_eq!(names(&fixture::tune()), every);
    assert_eq!(
        names(&fixture::sweep()),
        [
            "operating",
            "forest",
            "pareto",
            "cost",
            "heatmap",
            "marginal"
        ]
    );
    assert_eq!(
        names(&fixture::replay()),
        [
            "operating",
            "forest",
            "cost",
            "latency",
            "breakdown",
            "agreement"
        ]
    );
    assert!(names(&fixture::unlabelled()).is_empty());
    assert!(names(&fixture::degenerate()).is_empty());
}

#[test]
fn what_is_left_out_says_why() {
    for (kind, data) in all() {
        let (charts, pages) = drawn(&data);
        for chart in charts {
            if let Err(why) = chart.drawn {
                assert!(
                    pages.html.contains(why) && pages.markdown.contains(why),
                    "{kind} {}",
                    chart.entry.name
                );
            }
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
    let rows = pages
        .markdown
        .lines()
        .skip_while(|line| !line.starts_with("| model"))
        .take_while(|line| line.starts_with('|'));
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

#[test]
fn current_and_chosen_stand_in_the_verdict() {
    let (_, pages) = drawn(&fixture::tune());
    let verdict = pages
        .markdown
        .lines()
        .find(|line| line.starts_with("**"))
        .unwrap();
    assert!(
        verdict.contains("The setting in use, document, finds 26 %"),
        "{verdict}"
    );
    assert!(
        verdict.contains("The chosen setting, held out, finds 62 %"),
        "{verdict}"
    );
}

#[test]
fn nothing_feasible_is_said() {
    let mut data = fixture::tune();
    data.choices.clear();
    data.run.nothing = Some(Nothing {
        constraints: "recall>=0.9, fa_per_mchar<=1".into(),
        restrictive: Some(Restrictive {
            constraint: "recall>=0.9".into(),
            met: 3,
            compared: Some(0.75),
        }),
        cells: 500,
        nearest: 1,
        violated: vec![
            Over {
                constraint: "recall>=0.9".into(),
                compared: Some(0.75),
                by_bound: true,
            },
            Over {
                constraint: "fa_per_mchar<=1".into(),
                compared: Some(2.5),
                by_bound: true,
            },
        ],
    });
    let (_, pages) = drawn(&data);
    let words = [
        "No setting of the grid satisfies recall>=0.9, fa_per_mchar<=1",
        "recall>=0.9 is the most restrictive constraint: 3 of 500 settings meet it",
        "The nearest setting, ts-1 (b2c3d4), violates: recall 0.75 where 0.9 is asked for; fa_per_mchar 2.5 where 1 is allowed.",
        "It finds 34 % of the loops",
    ];
    let verdict = pages
        .markdown
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace(['\\', '`'], "");
    for word in words {
        assert!(verdict.contains(word), "{word:?} in {verdict}");
    }
    assert!(pages.html.contains("nearest: b2c3d4"), "its figures");
}

#[test]
fn a_model_over_the_limit_is_marked_and_counted() {
    let (_, pages) = drawn(&fixture::tune());
    let html = pages.html.replace("&lt;", "<");
    for word in [
        "over the limit: fa_per_mchar 12.5 where 1 is allowed",
        "1 model is over the limit on its own transcripts",
    ] {
        assert!(html.contains(word), "{word}");
    }
}

#[test]
fn a_choice_that_is_worth_less_than_nothing_is_called_so() {
    let mut data = fixture::tune();
    let said = |data: &ReportData| drawn(data).1.markdown.contains("its utility in-sample is");
    assert!(!said(&data), "it is worth something");
    let chosen = data.choices[0].setting.unwrap();
    let mut scores = data.scores.iter_mut();
    let together = |score: &&mut Score| score.setting == chosen && score.model == ALL_MODELS;
    scores.find(together).unwrap().utility = Some(-12.5);
    let (_, pages) = drawn(&data);
    assert!(
        pages
            .markdown
            .contains("its utility in-sample is −12.5: the setting in use is better, with 26.1"),
        "{}",
        &pages.markdown[..2000]
    );
}

/// The paragraph behind the verdict.
fn advice(data: &ReportData) -> String {
    let markdown = drawn(data).1.markdown.replace(['\\', '`'], "");
    let mut lines = markdown.lines();
    let told = lines.find(|line| line.starts_with("Chosen for")).unwrap();
    told.replace("&lt;", "<")
}

#[test]
fn a_choice_is_shipped_only_where_nothing_speaks_against_it() {
    let mut data = fixture::tune();
    data.choices[0].fa.value = Some(0.6);
    assert!(advice(&data).contains("Ship settings.toml"));
    // Held out over the limit.
    data.choices[0].fa.value = Some(1.3);
    let told = advice(&data);
    assert!(
        !told.contains("Ship")
            && told.contains("Held out it makes 1.3 false alarms per million clean chars, more than the 1 that is allowed")
            && told.contains("record more clean text"),
        "{told}"
    );
    // Thin: the text could not have shown a rate below the limit.
    data.choices[0].fa.value = Some(0.0);
    data.choices[0].thin = true;
    for score in &mut data.scores {
        score.exposure = score.exposure.min(1_500_000);
    }
    let told = advice(&data);
    assert!(
        !told.contains("Ship") && told.contains("1.5 million clean chars are too few"),
        "{told}"
    );
    assert!(told.contains("3.0 million without a false alarm"), "{told}");
    // Worth less than the setting in use.
    let chosen = data.choices[0].setting.unwrap();
    for score in data.scores.iter_mut().filter(|one| one.setting == chosen) {
        score.utility = Some(-12.5);
    }
    let told = advice(&data);
    assert!(
        !told.contains("Ship") && told.contains("What to do: keep the setting in use"),
        "{told}"
    );
}

#[test]
fn why_the_setting_in_use_could_not_be_chosen_is_said() {
    let mut data = fixture::tune();
    assert!(!advice(&data).contains("not allowed"));
    data.run.current_over = vec![Over {
        constraint: "fa_per_mchar<=1".into(),
        compared: Some(1.19),
        by_bound: true,
    }];
    let told = advice(&data);
    assert!(
        told.contains(
            "The setting in use is not allowed: at most 1 false alarm per million clean chars is asked for, \
             with the evidence here it may be 1.2 (95 % upper bound)."
        ),
        "{told}"
    );
}

#[test]
fn a_setting_that_nobody_named_is_said_to_be_the_recommended_guard() {
    let mut data = fixture::tune();
    data.run.stood_in = true;
    data.settings[0].label = Some("current".into());
    let page = drawn(&data).1.markdown;
    assert!(page.contains("compared with the recommended guard of this version"));
    assert!(page.contains("The setting in use, the recommended guard, finds"));
}

/// The cells of the row of a model in the table of choices.
fn choice_row(data: &ReportData, model: &str) -> BTreeMap<String, String> {
    let markdown = drawn(data).1.markdown;
    let (_, table) = markdown.split_once("## Chosen setting per model").unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = table.lines().filter(|line| line.starts_with('|'));
    let head = cells(lines.next().unwrap());
    let row = lines
        .find(|line| line.starts_with(&format!("| {model} ")))
        .unwrap();
    head.into_iter().zip(cells(row)).collect()
}

#[test]
fn the_table_of_choices_says_what_decided_and_what_else_there_is() {
    let data = fixture::tune();
    let pooled = choice_row(&data, "all models");
    assert_eq!(pooled["decided on"], "0.88 (upper bound)");
    assert!(pooled["false alarms / Mchar"].contains(" in 14\u{202f}000\u{202f}000 chars"));
    let own = choice_row(&data, "deepseek-r1-distill-qwen-7b");
    assert!(
        own["why"].contains("held out worse than without it: saved"),
        "{own:?}"
    );
    assert!(own["in use: recall"].contains(" / Mchar"), "{own:?}");
    assert!(own.contains_key("optimism, saved") && own["without it: recall"] != "–");
    let few = choice_row(&data, "phi-3-mini");
    assert_eq!(
        (
            few["decided on"].as_str(),
            few["without it: recall"].as_str()
        ),
        ("–", "–")
    );
}

#[test]
fn charts_name_the_member_of_a_parameter_where_a_guard_has_several() {
    let svg = |data: &ReportData, name: &str| {
        let charts = drawn(data).0;
        let chart = charts.iter().find(|chart| chart.entry.name == name);
        chart.unwrap().drawn.as_ref().unwrap().wide()
    };
    let mut data = fixture::tune();
    let alone = svg(&data, "heatmap");
    assert!(alone.contains(">current</text>") && !alone.contains("checkpoint.min_repeats"));
    // The setting in use is of another guard: it has no place among these cells.
    data.parameters.push("periodic.min_copies".into());
    for (at, setting) in data.settings.iter_mut().enumerate() {
        setting.params.push((at == 0).then(|| "3".into()));
    }
    let map = svg(&data, "heatmap");
    assert!(map.contains("checkpoint.min_repeats") && !map.contains(">current</text>"));
    assert!(svg(&data, "marginal").contains(">checkpoint.min_repeats</text>"));
}

#[test]
fn models_without_scores_are_counted_below_the_charts() {
    let mut data = fixture::tune();
    data.run.models_left_out = 1_679;
    let (charts, pages) = drawn(&data);
    assert!(pages.html.contains("of 1\u{202f}687 models"));
    // The loops of each setting, not those of the last.
    data.scores[1].loops -= 1;
    let charts = [charts, drawn(&data).0].map(|charts| {
        let forest = charts.iter().find(|chart| chart.entry.name == "forest");
        numbers(forest.unwrap())
    });
    let loops = |at: usize| charts[at][0]["loops"].parse::<u64>().unwrap();
    assert_eq!(loops(0), loops(1) + 1);
    assert_eq!(charts[0][1]["loops"], charts[1][1]["loops"]);
}

#[test]
fn a_budget_leads_with_what_the_clean_text_supports() {
    let mut data = fixture::tune();
    data.choices.clear();
    data.outcomes.clear();
    for score in &mut data.scores {
        (score.loops, score.hit) = (0, 0);
        (score.recall, score.f1, score.objective) = (Default::default(), None, None);
        score.meets = score.setting > 500;
    }
    let row = |what: &str, setting, bound, holds| deadloop_report::Supported {
        model: ALL_MODELS.into(),
        what: what.into(),
        setting,
        wrong: 2,
        exposure: 1_400_000,
        bound: Some(bound),
        holds,
        missing: 0,
    };
    data.budget = vec![row("current", 0, 4.5, false), row("chosen", 505, 0.9, true)];
    let page = drawn(&data).1;
    let told = page.markdown.replace(['\\', '`'], "");
    for words in [
        "makes at most 0.90 false alarms per million clean chars (2 in 1\u{202f}400\u{202f}000 chars; 95 % upper bound). The budget is 1. 5 of 503 settings are within it.",
        "The setting in use is not within the budget: it may make 4.5",
        "## What the clean text supports",
        "with the fewest false alarms first",
    ] {
        assert!(told.contains(words), "{words:?} in {}", &told[..3000]);
    }
    assert!(
        page.html.contains("<a href=\"#budget\">") && !page.html.contains(">chosen settings</a>")
    );
}

#[test]
fn models_over_the_limit_stand_before_the_fold() {
    let mut data = fixture::tune();
    let last = data.choices.last().unwrap().clone();
    let model = |n: usize| deadloop_report::Choice {
        model: format!("model-{n}"),
        over: if n < 20 {
            Vec::new()
        } else {
            data.choices[6].over.clone()
        },
        ..last.clone()
    };
    let more: Vec<_> = (0..40).map(model).collect();
    data.choices.extend(more);
    let page = drawn(&data).1.html;
    let (shown, _) = page.split_once("more rows</summary>").unwrap();
    assert_eq!(shown.matches("over the limit: fa").count(), 21);
    assert!(shown.contains("21 models are over the limit"));
    assert!(page.contains("class=\"rows\" data-pinned=\"1\""));
}

#[test]
fn a_sweep_names_and_shows_its_best_setting() {
    let mut data = fixture::sweep();
    let (_, pages) = drawn(&data);
    let best = data.best().unwrap();
    let id = data.settings[best].id.clone();
    assert_eq!(data.settings[best].role, Role::Cell);
    let verdict = pages
        .markdown
        .lines()
        .find(|l| l.starts_with("**"))
        .unwrap();
    assert!(
        verdict.contains("The setting with the best saved") && verdict.contains(&id),
        "{verdict}"
    );
    assert!(
        pages.markdown.contains("| best in-sample ("),
        "in the table"
    );
    // The fixture's settings without a name alone.
    data.best.take();
    data.leading.take();
    for setting in &mut data.settings {
        if setting.role != Role::Floor {
            (setting.role, setting.label) = (Role::Cell, None);
        }
    }
    let (_, pages) = drawn(&data);
    assert!(
        pages
            .markdown
            .contains("There is no setting in use, and no preset, to compare with.")
    );
}

#[test]
fn who_fired_first_is_told_of_settings_with_several_members() {
    let mut data = fixture::replay();
    assert!(!drawn(&data).1.markdown.contains("Who fired first"));
    let second = |row: &&mut deadloop_report::Outcome| row.setting == 1 && row.detector.is_some();
    let mut alarms = data.outcomes.iter_mut().filter(second);
    alarms.next().unwrap().detector = Some("periodic".into());
    let (_, pages) = drawn(&data);
    let table = pages.markdown.split("Who fired first").nth(1).unwrap();
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("| checkpoint |") || line.contains("| periodic |"))
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows[1].starts_with("| ts-1 | periodic | 1 |"), "{rows:?}");
}

#[test]
fn an_unlabelled_replay_lists_what_would_have_fired() {
    let (_, pages) = drawn(&fixture::unlabelled());
    assert!(pages.markdown.contains("## What would have fired"));
    assert!(
        pages
            .markdown
            .contains("document would have cut 19 of 60 transcripts")
    );
    let table = pages
        .markdown
        .split("## What each setting would cut")
        .nth(1)
        .unwrap();
    assert!(
        table.contains("| document (f00d) | 19 | 60 | 4.8 |"),
        "{table}"
    );
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
        .extend((0..1500).map(|n| deadloop_report::Choice {
            model: format!("model-{n}"),
            ..few.clone()
        }));
    let (_, pages) = drawn(&data);
    assert!(
        pages
            .markdown
            .contains("300 more rows; the other 1\u{202f}193 are in choice.csv"),
    );
    assert!(pages.html.len() < 3_000_000, "{} bytes", pages.html.len());
}

/// The rows of a chart's CSV file, by the names of the columns.
fn numbers(chart: &Chart) -> Vec<BTreeMap<String, String>> {
    let bytes = chart.csv().unwrap().unwrap();
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_chart_has_its_numbers_in_documented_columns() {
    for (kind, data) in all() {
        for chart in drawn(&data).0 {
            let name = chart.entry.name;
            if chart.drawn.is_err() {
                assert!(chart.csv().unwrap().is_none(), "{kind} {name}");
                continue;
            }
            let bytes = chart.csv().unwrap().unwrap();
            let head = String::from_utf8(bytes).unwrap();
            let columns: Vec<&str> = chart.entry.columns.iter().map(|column| column.0).collect();
            assert_eq!(head.lines().next().unwrap(), columns.join(","), "{name}");
            assert!(
                chart
                    .entry
                    .columns
                    .iter()
                    .all(|column| !column.1.is_empty())
            );
            let rows = numbers(&chart);
            assert!(
                !rows.is_empty() && rows.iter().all(|row| row.len() == columns.len()),
                "{name}"
            );
        }
    }
}

/// Every figure that stands beside a setting is the one of the scores, to the last digit.
#[test]
fn numbers_behind_charts_are_those_of_the_scores() {
    let data = fixture::tune();
    let written = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut compared = 0;
    for chart in drawn(&data).0.iter().filter(|chart| chart.drawn.is_ok()) {
        for row in numbers(chart) {
            let own = row
                .get("name")
                .is_some_and(|name| name.contains("held out"));
            let Some(id) = row.get("setting").filter(|id| !id.is_empty() && !own) else {
                continue;
            };
            let at = data
                .settings
                .iter()
                .position(|setting| setting.id == *id)
                .unwrap();
            let model = row.get("model").map_or(ALL_MODELS, String::as_str);
            let score = data.score(at, model).unwrap();
            let wanted = [
                ("recall", score.recall.value),
                ("recall_lo", score.recall.low),
                ("fa_per_mchar", score.fa.value),
                ("fa_hi", score.fa.high),
                ("delay", score.delay.value),
                ("objective", score.objective),
                ("best", score.objective),
                ("best_fa_per_mchar", score.fa.value),
            ];
            for (column, value) in wanted {
                if let Some(found) = row.get(column) {
                    assert_eq!(*found, written(value), "{} {column}", chart.entry.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared} numbers");
}

/// The marks of a chart are the rows of its file: every point that is pointed at has the figures of a row.
#[test]
fn what_is_drawn_is_what_is_written() {
    let data = fixture::tune();
    let charts = drawn(&data).0;
    let chart = |name: &str| {
        charts
            .iter()
            .find(|chart| chart.entry.name == name)
            .unwrap()
    };
    let titles = |name: &str, part: &str| {
        let svg = chart(name).drawn.as_ref().unwrap().wide();
        svg.matches(part).count()
    };
    assert_eq!(titles("pareto", "<title>"), numbers(chart("pareto")).len());
    let rows = numbers(chart("operating"));
    let best = rows.iter().filter(|row| row["mark"] == "best");
    let drawn: BTreeSet<&String> = best.map(|row| &row["model"]).collect();
    let marks = rows.iter().filter(|row| row["mark"] != "best");
    let (marked, others): (Vec<_>, Vec<_>) = marks.partition(|row| drawn.contains(&row["model"]));
    assert_eq!(others.len(), 2, "the eighth model has no line");
    let marked = marked.len();
    assert_eq!(
        titles("operating", "</title></circle>")
            + titles("operating", "</title></polygon>")
            + titles("operating", "</title></polyline>")
            - curves(chart("operating")),
        marked
    );
    let fields = numbers(chart("heatmap")).len();
    assert_eq!(titles("heatmap", "</title></rect>"), fields);
}

/// How many lines an operating chart has.
fn curves(chart: &Chart) -> usize {
    let rows = numbers(chart);
    let lines = rows.iter().filter(|row| row["mark"] == "best");
    lines
        .map(|row| &row["model"])
        .collect::<BTreeSet<_>>()
        .len()
}

#[test]
fn charts_are_drawn_as_pixels_where_there_is_a_font() {
    let dir = tempfile::tempdir().unwrap();
    match write(&fixture::tune(), dir.path(), true) {
        Err(error) => assert!(
            error.to_string().starts_with("no font was found"),
            "{error}"
        ),
        Ok(report) => {
            let pixels = report
                .files
                .iter()
                .filter(|file| file.extension().is_some_and(|e| e == "png"));
            assert_eq!(pixels.clone().count(), 9);
            for file in pixels {
                let bytes = std::fs::read(file).unwrap();
                let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
                assert!(bytes.starts_with(b"\x89PNG") && side(16) == 1920 && side(20) > 300);
            }
        }
    }
}

#[test]
fn charts_of_an_earlier_report_do_not_stay() {
    let dir = tempfile::tempdir().unwrap();
    let report = write(&fixture::tune(), dir.path(), false).unwrap();
    assert_eq!((report.files.len(), report.absent.len()), (20, 0));
    std::fs::write(dir.path().join("charts/heatmap.png"), "an earlier one").unwrap();
    let report = write(&fixture::sweep(), dir.path(), false).unwrap();
    assert!(report.absent.iter().any(|absent| absent.0 == "latency"));
    assert!(
        !dir.path().join("charts/latency.svg").exists()
            && dir.path().join("charts/heatmap.svg").exists()
    );
    assert!(
        !dir.path().join("charts/latency.csv").exists()
            && !dir.path().join("charts/heatmap.png").exists(),
        "they would show other numbers"
    );
}

#[test]
fn a_small_report_reads_like_this() {
    let (_, pages) = drawn(&fixture::unlabelled());
    let short: Vec<&str> = pages.markdown.lines().take(14).collect();
    assert_eq!(short.join("\n") + "\n", include_str!("golden/small.md"));
}

/// The page's script element with the sliders' data.
fn embedded(html: &str) -> Option<&str> {
    let (_, rest) = html.split_once("id=\"board-data\">")?;
    Some(rest.split_once("</script>")?.0)
}

#[test]
fn a_large_sweep_stays_small_and_says_what_it_left_out() {
    let data = fixture::big();
    let (_, pages) = drawn(&data);
    assert!(pages.html.len() < 10_000_000, "{} bytes", pages.html.len());
    let json: serde_json::Value = serde_json::from_str(embedded(&pages.html).unwrap()).unwrap();
    let models = json["models"].as_array().unwrap().len() as u64;
    assert!(models >= 1 && models + json["left_out"].as_u64().unwrap() == 9);
    let blocks = json["regions"]["blocks"].as_array().unwrap();
    let without = blocks
        .iter()
        .filter(|block| block["boxes"].is_null())
        .count() as u64;
    assert_eq!(json["regions"]["left_out"].as_u64(), Some(without));
    assert!(without < 100, "no boxes at all");
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

#[test]
fn a_comparison_shows_both_sides_and_every_flip() {
    let json = r#"{"base": {"name": "old <b>"}, "new": {"name": "new"}, "verdict": "improved", "why": ["recall rose"],
        "gates": [{"gate": "corpus", "passed": null, "why": "too few"}],
        "rows": [{"model": "*", "metric": "recall", "base": 0.6, "new": 0.7, "difference": 0.1, "lo": 0.05, "hi": 0.15, "verdict": "improved"},
                 {"model": "*", "metric": "fa_per_mchar", "base": 1.0, "new": null, "difference": null, "lo": null, "hi": null, "verdict": null}],
        "flips": [{"transcript": "t/1", "model": "m", "change": "flip", "direction": "better", "onset": 10,
                   "base": {"verdict": "miss", "alarm_at": null}, "new": {"verdict": "hit", "alarm_at": 2310}, "explain": null},
                  {"transcript": "only-moved", "model": "m", "change": "moved", "direction": "neutral", "onset": 10,
                   "base": {"verdict": "hit", "alarm_at": 1}, "new": {"verdict": "hit", "alarm_at": 2}, "explain": null}]}"#;
    let mut data = fixture::tune();
    data.comparison = serde_json::from_str(json).unwrap();
    assert_eq!(names(&data)[0], "dumbbells");
    let page = drawn(&data).1.html;
    assert!(page.contains("hit at 2\u{202f}310") && page.contains("could not be evaluated"));
    assert!(
        !page.contains("only-moved") && !page.contains("old <b>"),
        "only flips, and as text"
    );
}
