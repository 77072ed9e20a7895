//! What `tune` says on stdout once it has chosen.

use deadloop_score::{Choice, Choices, Evidence, Why};
use serde_json::{Value, json};

use crate::args::Global;
use crate::commands::replay::ratio;
use crate::exit::Outcome;
use crate::replaying::Replayed;
use crate::show;

/// The choice for each model that has one of its own, and the pooled one; gives back what `--json` says.
pub(super) fn summary(
    done: &Replayed,
    evidence: &Evidence<'_>,
    choices: &Choices,
    current: usize,
    global: Global,
) -> Outcome<Value> {
    let own: Vec<&Choice> = choices
        .models
        .iter()
        .filter(|c| c.why == Why::Own)
        .collect();
    let json = |c: &Choice| json!({"model": c.model, "setting": c.setting, "why": c.why.name()});
    let chosen: Vec<Value> = std::iter::once(&choices.pooled)
        .chain(&choices.shipped)
        .chain(own.clone())
        .map(json)
        .collect();
    let summary = json!({"chosen": chosen});
    if global.json || global.quiet {
        return Ok(summary);
    }
    let now = evidence.tally(current, &evidence.all(), &done.judge);
    let mut rows = vec![vec![
        "current".into(),
        evidence.plan.id(current),
        String::new(),
        show::percent(ratio(&now)),
        show::number(deadloop_score::fa_per_mchar(&now), 2),
        show::number(deadloop_score::delay(&now), 0),
        show::percent(deadloop_score::saved(&now)),
    ]];
    // The row of an only model would say the same again.
    let is_other =
        |choice: &&Choice| choices.models.len() > 1 || choice.setting != choices.pooled.setting;
    let own = own.into_iter().filter(is_other);
    rows.extend(
        std::iter::once(&choices.pooled)
            .chain(&choices.shipped)
            .chain(own)
            .map(row),
    );
    let header = [
        "model",
        "setting",
        "why",
        "recall",
        "false alarms/Mchar",
        "delay, chars",
        "saved",
    ];
    show::print(&show::table(&header, &rows, 3))?;
    show::print(&format!(
        "{}. Chosen rows are held-out figures: see choice.csv for why.",
        shared(choices)
    ))?;
    Ok(summary)
}

/// How many models share the pooled setting, and what the row of the file is.
fn shared(choices: &Choices) -> String {
    let takes = |choice: &&Choice| choice.setting == choices.pooled.setting;
    let who = match choices.models.iter().filter(takes).count() {
        0 => "No model takes".to_owned(),
        1 => "1 model takes".to_owned(),
        n => format!("{n} models take"),
    };
    let shipped = match choices.shipped {
        Some(_) => "; settings.toml is each model under its own",
        None => "",
    };
    format!("{who} the pooled setting (*){shipped}")
}

fn row(choice: &Choice) -> Vec<String> {
    let t = &choice.held_out_tally;
    vec![
        choice.model.clone(),
        choice.setting.clone(),
        format!(
            "{}{}",
            choice.why.name(),
            if choice.thin { ", thin" } else { "" }
        ),
        show::percent(ratio(t)),
        show::number(deadloop_score::fa_per_mchar(t), 2),
        show::number(deadloop_score::delay(t), 0),
        show::percent(deadloop_score::saved(t)),
    ]
}
