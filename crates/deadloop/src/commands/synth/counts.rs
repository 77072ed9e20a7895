//! [`Counts`]: what `synth` made, by item of the spec.

use std::path::Path;

use deadloop_corpus::synth::Made;
use serde_json::json;

use crate::args::Global;
use crate::exit::Outcome;
use crate::show;

/// What was made, by item.
#[derive(Default)]
pub(super) struct Counts {
    items: Vec<(String, [u64; 6])>,
}

const COUNTED: [&str; 6] = [
    "transcripts",
    "loops",
    "transient",
    "clean",
    "chars",
    "faults",
];

impl Counts {
    pub(super) fn add(&mut self, item: &str, made: &Made) {
        if self.items.last().is_none_or(|(name, _)| name != item) {
            self.items.push((item.to_owned(), [0; 6]));
        }
        let Some((_, counts)) = self.items.last_mut() else {
            return;
        };
        let classes: Vec<String> = made.label_rows().map(|[_, class, ..]| class).collect();
        let has = |class: &str| classes.iter().any(|has| has == class);
        let transcript = &made.entry.transcript;
        let chars = transcript.reasoning().chars().count() + transcript.answer().chars().count();
        counts[0] += 1;
        counts[1] += u64::from(has("loop"));
        counts[2] += u64::from(has("transient") && !has("loop"));
        counts[3] += u64::from(has("clean"));
        counts[4] += chars as u64;
        counts[5] += u64::from(has("fault"));
    }

    pub(super) fn tell(&self, name: &str, out: &Path, global: Global) -> Outcome {
        if global.json {
            let item = |(name, counts): &(String, [u64; 6])| {
                let counts: serde_json::Map<_, _> = COUNTED
                    .iter()
                    .zip(counts)
                    .map(|(key, n)| ((*key).into(), json!(n)))
                    .collect();
                (name.clone(), counts.into())
            };
            let items: serde_json::Map<_, _> = self.items.iter().map(item).collect();
            return show::print(
                &json!({"name": name, "out": out.display().to_string(), "items": items})
                    .to_string(),
            );
        }
        if global.quiet {
            return Ok(());
        }
        let mut all = [0; 6];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (name, counts) in &self.items {
            all.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
            rows.push(row(name, counts));
        }
        rows.push(row("all", &all));
        let header: Vec<&str> = std::iter::once("item").chain(COUNTED).collect();
        show::print(&show::table(&header, &rows, 1))?;
        let out = show::typed(out);
        let next = [
            format!("deadloop check {out}"),
            format!("deadloop tune {out} --out tuned"),
        ];
        show::next(&next.each_ref().map(String::as_str), global)
    }
}

fn row(name: &str, counts: &[u64; 6]) -> Vec<String> {
    let counts = counts.iter().map(|n| show::count(*n));
    std::iter::once(name.to_owned()).chain(counts).collect()
}
