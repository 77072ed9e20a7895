//! [`spoilt`]: labels with mistakes, as people make them.

use deadloop_score::replay::detect::{Channel, Chars, Units};
use deadloop_score::{Case, Class, Span, Truth, Weights};

/// The percentage of spoilt labels.
const SHARE: u64 = 3;

/// Spoils 3 % of the labels. Clean transcripts become loops. Loops become clean or have their onset moved, in turn.
pub(crate) fn spoilt(cases: &mut [Case], seed: u64) {
    let mut turn = 0_u64;
    for case in cases {
        let dice: u64 = Weights::new(seed, &format!("spoil {}", case.id), &UNIFORM)
            .next()
            .map_or(0, u64::from);
        if dice >= SHARE {
            continue;
        }
        let Some(truth) = &mut case.truth else {
            continue;
        };
        let length = case.timeline.length();
        let (channel, chars) = if length.reasoning > length.answer {
            (Channel::Reasoning, length.reasoning.0)
        } else {
            (Channel::Answer, length.answer.0)
        };
        match truth.class {
            Class::Loop if turn.is_multiple_of(2) => *truth = clean(),
            Class::Loop => truth.spans.iter_mut().for_each(moved),
            Class::Clean if chars > 400 => {
                let onset = Units::from(Chars(chars / 2));
                let seen = case.timeline.before(channel, onset.count());
                *truth = Truth {
                    class: Class::Loop,
                    spans: vec![Span {
                        class: Class::Loop,
                        kind: None,
                        channel,
                        start: None,
                        onset,
                        earliest: onset,
                        end: Chars(chars).into(),
                        open: true,
                        period: None,
                        seen,
                        until: case.timeline.before(channel, chars),
                        onset_ms: None,
                        onset_tokens: None,
                    }],
                    channels: vec![channel],
                    reviewed: false,
                };
            }
            _ => continue,
        }
        turn += 1;
    }
}

/// The 99 bounds between a hundred equal parts of 2^53.
const UNIFORM: [u64; 99] = {
    let mut steps = [0; 99];
    let mut i = 0;
    while i < 99 {
        steps[i] = (i as u64 + 1) * ((1 << 53) / 100);
        i += 1;
    }
    steps
};

fn clean() -> Truth {
    Truth {
        class: Class::Clean,
        spans: Vec::new(),
        channels: Vec::new(),
        reviewed: false,
    }
}

/// Moves the onset half-way to the end, so that a right alarm becomes too early.
fn moved(span: &mut Span) {
    let onset = Units::from(Chars((span.onset.count() + span.end.count()) / 2));
    (span.onset, span.earliest) = (onset, onset);
}
