//! Faults of text: empty answers, control text and cuts.

use super::DamageRng;

/// Control tokens that servers sometimes leave in text.
const CONTROL_TOKENS: &[&str] = &[
    "<|im_end|>",
    "<|channel|>commentary",
    "<|end|>",
    "<|eot_id|>",
    "<|endoftext|>",
];

const ACKS_ZH: &[&str] = &[
    "好的，收到您的指令。",
    "我将按照您的要求进行分析。",
    "请稍候。",
];
const ACKS_EN: &[&str] = &[
    "Understood, I will get started.",
    "I will follow your instructions.",
    "One moment, please.",
];
const CONFIRM_ZH: &[&str] = &["我选好了", "选好了", "我好了"];
const CONFIRM_EN: &[&str] = &["I'm done", "I am done", "that's all"];

/// Inserts control tokens, but never inside a tag.
pub(super) fn insert_control(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let mut text = intact.to_owned();
    for _ in 0..severity {
        let at = rng.char_boundary(&text, 0, text.len());
        let inside = text[..at]
            .rfind(['<', '>'])
            .is_some_and(|i| text[i..].starts_with('<'));
        let at = if inside { text.len() } else { at };
        text.insert_str(at, rng.choose(CONTROL_TOKENS).copied().unwrap_or(""));
    }
    text
}

/// Replaces the text by acknowledgements in the same language.
pub(super) fn acknowledge(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    select_sentences(intact, severity, rng, [ACKS_ZH, ACKS_EN], false)
}

/// Replaces the text by confirmations in the same language.
pub(super) fn confirm(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    select_sentences(intact, severity, rng, [CONFIRM_ZH, CONFIRM_EN], true)
}

/// Returns `severity` sentences in the language of the text, from a random sentence on if `random`.
fn select_sentences(
    intact: &str,
    severity: usize,
    rng: &mut DamageRng,
    lists: [&[&str]; 2],
    random: bool,
) -> String {
    let chinese = intact
        .chars()
        .any(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c));
    let (list, blank) = if chinese {
        (lists[0], "")
    } else {
        (lists[1], " ")
    };
    let from = if random { rng.below(list.len()) } else { 0 };
    let sentences: Vec<&str> = list
        .iter()
        .cycle()
        .skip(from)
        .take(severity)
        .copied()
        .collect();
    sentences.join(blank)
}

/// Cuts off the end of the text.
pub(super) fn cut_end(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let missing = 1 + rng.below(intact.chars().count() * severity / 4);
    let end = intact
        .char_indices()
        .rev()
        .nth(missing - 1)
        .map_or(0, |(at, _)| at);
    intact[..end].to_owned()
}
