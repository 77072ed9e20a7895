//! Faults by construction against the presets: how many are recovered, how many come out wrong. With
//! `--nocapture` it prints the tables.
//!
//! ```sh
//! cargo nextest run --release -p deadloop-score -p deadloop repair_faults --no-capture
//! ```
#![allow(clippy::unwrap_used)]

use crate::repairing;

use std::collections::BTreeMap;

use deadloop_repair::meaning::Meaning;
use deadloop_replay::detect::{Fault, Value};
use deadloop_score::repairs::{ExpectedText, RepairVerdict, judge_arguments};
use deadloop_synth::damage::damage;
use repairing::{preset, whole};

const TAGGED: &[&str] = &[
    "好的，我来整理。\n<create_note><id>1</id><content>春季选题：露营、踏青</content></create_note>\n接着查资料。<web_search>露营 趋势 2026</web_search>\n请选择：<confirm1>按城市写</confirm1><confirm2>按人群写</confirm2>。",
    "Let me keep this.\n<save_material><id>7</id><content>Prices rose by 12 % last year.</content></save_material>\nNow I ask the writer.<call_orchestrator>Three drafts on freight</call_orchestrator>\nPick one: <confirm1>short</confirm1> or <confirm2>long</confirm2>.",
    "<create_note><id>12</id>会议纪要</create_note>先放这里。<create_note><id>13</id>待办</create_note>完成。",
];

const THINKING: &[&str] = &[
    "<think>用户要两条标题。先想受众，再想场景。</think>标题一：周末去露营。标题二：把客厅搬到山里。",
    "<think>They want a query.\n\nJoin orders to users.</think>SELECT id FROM orders JOIN users USING (user_id);",
    "<think>I need the weather.</think><tool_call>{\"name\": \"get_weather\"}</tool_call>",
];

const ARGUMENTS: &[&str] = &[
    "{\"city\": \"Bonn\", \"days\": 3, \"units\": [\"C\", \"mm\"]}",
    "{\"path\": \"src/main.rs\", \"edit\": {\"from\": 12, \"text\": \"let x = \\\"a\\\";\\n\"}, \"dry\": true}",
    "{\"query\": \"露营 趋势\", \"top\": 5, \"fields\": null}",
];

/// Seeds and severities of each fault.
fn draws() -> impl Iterator<Item = (u64, u8)> {
    (0..100).flat_map(|seed| (1..=3).map(move |severity| (seed, severity)))
}

/// How often each verdict came.
type Counts = BTreeMap<RepairVerdict, u32>;

/// The faults of some texts, mended by a preset. `truth`: by which preset the intact text is read; `None`: it
/// means nothing.
fn mended(
    repairer: &str,
    name: &str,
    fault: Fault,
    texts: &[&str],
    truth: Option<&str>,
    marks: &[&str],
) -> Counts {
    let (entry, params) = preset(repairer, name);
    let mut counts = Counts::new();
    for intact in texts {
        let meaning = truth.map_or_else(Meaning::default, |truth| {
            let (entry, params) = preset(repairer, truth);
            whole(entry, &params, intact)
        });
        let marks = marks.iter().map(|&mark| mark.to_owned()).collect();
        let gold = ExpectedText {
            meaning,
            damaged: true,
            marks,
        };
        for (seed, severity) in draws() {
            let damaged = damage(fault, severity, seed, intact);
            if damaged.onset.is_some() {
                let verdict = gold.judge(&whole(entry, &params, &damaged.text));
                *counts.entry(verdict).or_default() += 1;
            }
        }
    }
    counts
}

fn share(counts: &Counts, verdict: RepairVerdict) -> f64 {
    let all: u32 = counts.values().sum();
    100.0 * f64::from(counts.get(&verdict).copied().unwrap_or(0)) / f64::from(all.max(1))
}

/// A row of a table: recovered and wrong, per cent.
fn cell(counts: &Counts) -> String {
    format!(
        "{:.0} / {:.0}",
        share(counts, RepairVerdict::Recovered),
        share(counts, RepairVerdict::Wrong)
    )
}

const TAG_MARKS: &[&str] = &[
    "create_note",
    "save_material",
    "web_search",
    "call_orchestrator",
    "<confirm",
    "</confirm",
];

#[test]
fn tags() {
    use Fault::{
        Case, Crossed, Cut, EarlyClose, LeakedControl, MissingField, Misspelt, Nested,
        NumberMismatch, Unclosed,
    };
    let presets = ["strict", "handlers", "lenient", "careful"];
    println!("| fault | {} |", presets.join(" | "));
    for fault in [
        Unclosed,
        EarlyClose,
        Nested,
        Crossed,
        Case,
        Misspelt,
        NumberMismatch,
        MissingField,
        LeakedControl,
        Cut,
    ] {
        let of = |name: &&str| mended("tags", name, fault, TAGGED, Some("strict"), TAG_MARKS);
        let all: Vec<Counts> = presets.iter().map(of).collect();
        println!(
            "| `{fault}` | {} |",
            all.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
        let recovered: Vec<f64> = all
            .iter()
            .map(|c| share(c, RepairVerdict::Recovered))
            .collect();
        assert!(
            recovered[2] >= recovered[1] && recovered[1] >= recovered[0],
            "{fault} {recovered:?}"
        );
        // What is not certain is left out: `careful` does no harm.
        assert_eq!(
            all[3].get(&RepairVerdict::Wrong),
            None,
            "{fault} {:?}",
            all[3]
        );
    }
    for (fault, least) in [(Case, 100.0), (NumberMismatch, 100.0), (Misspelt, 50.0)] {
        let counts = mended("tags", "lenient", fault, TAGGED, Some("strict"), TAG_MARKS);
        assert!(
            share(&counts, RepairVerdict::Recovered) >= least,
            "{fault} {counts:?}"
        );
    }
}

#[test]
fn thinking() {
    use Fault::{ThinkLate, ThinkMissing, ThinkOpen, ThinkTwice, ToolInThink};
    let presets = [
        "leading",
        "vllm-deepseek-r1",
        "sglang-deepseek-r1",
        "sglang-qwen3",
        "llama-cpp",
        "lenient",
    ];
    println!("| fault | {} |", presets.join(" | "));
    for fault in [ThinkOpen, ThinkMissing, ThinkTwice, ThinkLate, ToolInThink] {
        let of = |name: &&str| {
            mended(
                "think",
                name,
                fault,
                THINKING,
                Some(""),
                &["<think>", "</think>"],
            )
        };
        let all: Vec<Counts> = presets.iter().map(of).collect();
        let recovered = |c: &Counts| format!("{:.0}", share(c, RepairVerdict::Recovered));
        println!(
            "| `{fault}` | {} |",
            all.iter().map(recovered).collect::<Vec<_>>().join(" | ")
        );
    }
    for fault in [ThinkMissing, ThinkTwice, ToolInThink] {
        let counts = mended("think", "lenient", fault, THINKING, Some(""), &[]);
        assert!(
            (share(&counts, RepairVerdict::Recovered) - 100.0).abs() < 1e-9,
            "{fault} {counts:?}"
        );
    }
}

#[test]
fn answers_that_are_none() {
    for (fault, name) in [(Fault::Pseudo, ""), (Fault::Confirmation, "confirmation")] {
        let counts = mended("filter", name, fault, THINKING, None, &[]);
        println!("| `{fault}` | {} |", cell(&counts));
        assert!(
            share(&counts, RepairVerdict::Recovered) >= 30.0,
            "{fault} {counts:?}"
        );
    }
}

/// Of arguments what counts is the value: exact, and wrong but valid.
#[test]
fn arguments() {
    let modes = [
        ("strict", ""),
        ("control", ""),
        ("close", "keep"),
        ("close", "drop"),
        ("tolerant", "keep"),
        ("tolerant", "drop"),
        ("tolerant", "refuse"),
    ];
    println!("| mode | exact | wrong but valid | refused or no JSON |");
    for fault in [Fault::BrokenJson, Fault::Cut, Fault::LeakedControl] {
        for (mode, partial) in modes {
            let (entry, mut params) = preset("json", "");
            params.set("mode", Value::Text(mode.into()));
            if !partial.is_empty() {
                params.set("partial", Value::Text(partial.into()));
            }
            let (mut all, mut exact, mut wrong, mut harm) = (0_u32, 0_u32, 0_u32, Vec::new());
            for (intact, (seed, severity)) in ARGUMENTS
                .iter()
                .flat_map(|text| draws().map(move |draw| (text, draw)))
            {
                let damaged = damage(fault, severity, seed, intact);
                if damaged.onset.is_some() {
                    let arguments =
                        judge_arguments(intact, &whole(entry, &params, &damaged.text).text);
                    all += 1;
                    exact += u32::from(arguments.exact);
                    wrong += u32::from(arguments.wrong_but_valid());
                    if arguments.wrong_but_valid() {
                        harm.push(damaged.text);
                    }
                }
            }
            let share = |n: u32| 100.0 * f64::from(n) / f64::from(all);
            println!(
                "| {fault} {mode} {partial} | {:.1} | {:.1} | {:.1} |",
                share(exact),
                share(wrong),
                share(all - exact - wrong)
            );
            // A mark of control text inside a text that parses is not noticed.
            let noticed = fault != Fault::LeakedControl;
            if noticed && (mode, partial) == ("tolerant", "refuse") {
                assert!(share(wrong) < 0.1, "{fault}: {wrong} of {all}: {harm:#?}");
            }
        }
    }
}

/// Intact streams stay as they are: no preset that mends tags or thinking spoils one.
#[test]
fn no_false_repair_of_templates() {
    for name in ["strict", "handlers", "lenient", "careful"] {
        let (entry, params) = preset("tags", name);
        for text in TAGGED {
            let (strict, strictly) = preset("tags", "strict");
            assert_eq!(
                whole(entry, &params, text),
                whole(strict, &strictly, text),
                "{name}"
            );
        }
    }
    for name in [
        "leading",
        "sglang-qwen3",
        "llama-cpp",
        "lenient",
        "vllm-deepseek-r1",
        "vllm-qwen3",
        "sglang-deepseek-r1",
    ] {
        let (entry, params) = preset("think", name);
        for text in THINKING {
            let (first, firstly) = preset("think", "");
            assert_eq!(
                whole(entry, &params, text),
                whole(first, &firstly, text),
                "{name}"
            );
        }
    }
}
