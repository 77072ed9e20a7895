//! The verdicts of `reports/METHOD.md`, one by one, on transcripts small enough to check by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use deadloop_score::replay::Stop;
use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::{Case, Count, JudgeOptions, Outcome, ReadChannels, Transient, Verdict, judge};
use kit::stop;
use serde_json::{Value, json};

/// 100 chars of reasoning, then 3000 of answer.
const LENGTHS: (u64, u64) = (100, 3000);
const BOTH: ReadChannels = ReadChannels::TEXT;
const ANSWER: ReadChannels = ReadChannels {
    reasoning: false,
    answer: true,
    arguments: false,
};

fn case(labels: Value) -> Case {
    kit::case("t", "m", "g", LENGTHS, labels)
}

fn looping() -> Case {
    case(json!([{"class": "loop", "kind": "paragraph", "channel": "answer", "onset": 1000}]))
}

/// The stop of an alarm that is delivered at `at`.
fn delivered(channel: Channel, at: u64, kind: Kind) -> Stop {
    let stop = stop(channel, at, kind, LENGTHS);
    Stop {
        delivered: stop.exact,
        ..stop
    }
}

/// The outcome of an alarm that is delivered at `at` in the answer.
fn at(case: &Case, at: u64, options: &JudgeOptions) -> Outcome {
    let stop = delivered(Channel::Answer, at, Kind::Paragraph);
    judge(case, BOTH, Some(&stop), options)
}

fn taking(transient: Transient) -> JudgeOptions {
    JudgeOptions {
        transient,
        ..JudgeOptions::default()
    }
}

/// The verdict, the exposure and what was lost.
fn figures(outcome: Outcome) -> (Verdict, u64, u64) {
    (outcome.verdict, outcome.exposure, outcome.lost)
}

fn verdict(case: &Case, place: u64, options: &JudgeOptions) -> &'static str {
    at(case, place, options).verdict.name()
}

#[test]
fn a_loop_is_hit_from_its_onset_to_its_end() {
    let (case, plain) = (looping(), JudgeOptions::default());
    assert_eq!(verdict(&case, 999, &plain), "premature");
    assert_eq!(verdict(&case, 1000, &plain), "hit");
    assert_eq!(verdict(&case, 3000, &plain), "hit");
    assert_eq!(judge(&case, BOTH, None, &plain).verdict, Verdict::Miss);
}

#[test]
fn the_table_of_judge_holds() {
    let (case, plain) = (looping(), JudgeOptions::default());
    let numbers = |o: Outcome| (o.exposure, o.delay, o.saved, o.lost, o.loop_chars);
    let missed = judge(&case, BOTH, None, &plain);
    assert_eq!(numbers(missed), (1100, 2000, 0, 0, 2000));
    assert_eq!(numbers(at(&case, 900, &plain)), (1000, 2000, 0, 100, 2000));
    assert_eq!(numbers(at(&case, 1400, &plain)), (1100, 400, 1600, 0, 2000));
    let ended =
        self::case(json!([{"class": "loop", "channel": "answer", "onset": 1000, "end": 2000}]));
    let stale = at(&ended, 2500, &plain);
    assert_eq!(stale.verdict, Verdict::Stale);
    assert_eq!(numbers(stale), (1100, 1000, 0, 500, 1000));
}

/// Without an `earliest` the onset is the first place at which an alarm is right.
#[test]
fn a_loop_that_is_seen_earlier_is_hit_from_there_on() {
    let case = case(
        json!([{"class": "loop", "channel": "answer", "onset": 1000, "earliest": 950, "end": 2000}]),
    );
    let plain = JudgeOptions::default();
    assert_eq!(verdict(&case, 950, &plain), "hit");
    assert_eq!(verdict(&case, 940, &plain), "premature");
    assert_eq!(verdict(&case, 2000, &plain), "hit");
    assert_eq!(verdict(&case, 2001, &plain), "stale");
}

/// In another channel than the loop's an alarm has no position in it: what counts is what had arrived.
#[test]
fn before_a_loop_of_another_channel_an_alarm_is_premature_however_near_its_onset() {
    for onset in [0, 30, 60, 1000] {
        let case = case(
            json!([{"class": "loop", "channel": "answer", "onset": onset.max(1), "earliest": onset}]),
        );
        let stop = stop(Channel::Reasoning, 50, Kind::Paragraph, LENGTHS);
        let outcome = judge(&case, BOTH, Some(&stop), &JudgeOptions::default());
        assert_eq!(outcome.verdict.name(), "premature", "{onset}");
    }
}

/// A loop counts within the least N of its delay; by the end of the second whole copy, or within 1,000 chars.
#[test]
fn a_loop_that_is_ended_is_within_its_delay() {
    let with = |period: u64| {
        case(json!([
            {"class": "transient", "channel": "answer", "onset": 100, "end": 300},
            {"class": "loop", "channel": "answer", "onset": 500, "period": period},
        ]))
    };
    let plain = JudgeOptions::default();
    let of = |place, period| {
        let outcome = at(&with(period), place, &plain);
        (outcome.within, outcome.in_periods)
    };
    assert_eq!(of(600, 10), (Some(Count::Within100), true));
    assert_eq!(of(601, 10), (Some(Count::Within200), true));
    assert_eq!(of(1500, 10), (Some(Count::Within1000), true));
    assert_eq!(of(1501, 10), (Some(Count::Within2000), false));
    assert_eq!(of(1501, 1001), (Some(Count::Within2000), true));
    // An earlier repetition.
    assert_eq!(of(200, 10), (Some(Count::Within100), true));
    assert_eq!(of(400, 10), (None, false), "premature");
    let missed = judge(&with(10), BOTH, None, &plain);
    assert_eq!((missed.within, missed.in_periods), (None, false));
}

#[test]
fn an_alarm_before_the_onset_that_is_a_hit_has_no_latency_and_saves_no_more_than_the_loop() {
    let case =
        case(json!([{"class": "loop", "channel": "answer", "onset": 1000, "earliest": 900}]));
    let early = at(&case, 920, &JudgeOptions::default());
    assert_eq!((early.latency, early.saved), (Some(0), 2000));
    assert_eq!(early.delay, 0);
    // The reasoning and 900 chars of the answer.
    assert_eq!(early.exposure, 1000);
}

#[test]
fn several_spans_are_judged_by_the_one_that_holds_the_alarm() {
    let case = case(json!([
        {"class": "transient", "channel": "answer", "onset": 200, "end": 400},
        {"class": "loop", "channel": "answer", "onset": 600, "end": 800},
        {"class": "loop", "channel": "answer", "onset": 1000},
    ]));
    let kinds = [Transient::Ignore, Transient::Clean, Transient::Loop];
    let ignore = taking(Transient::Ignore);
    let table = [
        (100, ["premature"; 3]),
        (300, ["transient-stop", "premature", "hit"]),
        (500, ["premature"; 3]),
        (700, ["hit"; 3]),
        (900, ["premature"; 3]),
        (1200, ["hit"; 3]),
    ];
    for (place, want) in table {
        let got = kinds.map(|transient| verdict(&case, place, &taking(transient)));
        assert_eq!(got, want, "{place}");
    }
    assert_eq!(at(&case, 700, &ignore).loop_chars, 200);
    assert_eq!(at(&case, 1200, &ignore).latency, Some(200));
    // Healthy up to the loop that follows; a miss is charged to the first.
    assert_eq!(at(&case, 900, &ignore).lost, 100);
    assert_eq!(judge(&case, BOTH, None, &ignore).loop_chars, 200);
}

#[test]
fn transient_transcripts_stand_apart_unless_asked_for() {
    let case = case(json!([{"class": "transient", "channel": "answer", "onset": 200, "end": 400}]));
    let got = |place, t| verdict(&case, place, &taking(t));
    assert_eq!(got(300, Transient::Ignore), "transient-stop");
    assert_eq!(got(900, Transient::Ignore), "transient-stop");
    assert_eq!(got(300, Transient::Clean), "false-alarm");
    assert_eq!(got(300, Transient::Loop), "hit");
    assert_eq!(got(900, Transient::Loop), "stale");
    let pass = |t| judge(&case, BOTH, None, &taking(t));
    assert_eq!(pass(Transient::Ignore).verdict, Verdict::TransientPass);
    assert_eq!(pass(Transient::Ignore).exposure, 0, "in no ratio");
    assert_eq!(pass(Transient::Clean).exposure, 3100);
    assert_eq!(pass(Transient::Loop).verdict, Verdict::Miss);
}

/// Such a transcript has no healthy text over which a wrong alarm could be a rate: it is a transient stop wherever it
/// stands, far before the repetition too.
#[test]
fn a_transient_transcript_has_no_exposure_for_a_wrong_alarm() {
    let case =
        case(json!([{"class": "transient", "channel": "answer", "onset": 2777, "end": 2990}]));
    for place in [10, 1050, 2776, 2777, 2990, 3000] {
        let outcome = at(&case, place, &JudgeOptions::default());
        assert_eq!(figures(outcome), (Verdict::TransientStop, 0, 0), "{place}");
        let clean = at(&case, place, &taking(Transient::Clean));
        let kept = (place + 100, 3000 - place);
        assert_eq!(
            figures(clean),
            (Verdict::FalseAlarm, kept.0, kept.1),
            "{place}"
        );
    }
    assert_eq!(verdict(&case, 1050, &taking(Transient::Loop)), "premature");
}

#[test]
fn an_alarm_in_another_channel_is_ordered_by_what_had_arrived() {
    let plain = JudgeOptions::default();
    let alarm = |case: &Case, channel, place| {
        let stop = delivered(channel, place, Kind::Other);
        figures(judge(case, BOTH, Some(&stop), &plain))
    };
    let in_answer = alarm(&looping(), Channel::Reasoning, 60);
    assert_eq!(in_answer, (Verdict::Premature, 60, 1040));
    let thought = case(json!([{"class": "loop", "channel": "reasoning", "onset": 40}]));
    let after = alarm(&thought, Channel::Answer, 500);
    assert_eq!(after, (Verdict::Stale, 40, 2500));
}

#[test]
fn only_watched_channels_are_exposure() {
    let clean = case(json!([{"class": "clean"}]));
    let plain = JudgeOptions::default();
    assert_eq!(judge(&clean, ANSWER, None, &plain).exposure, 3000);
    let stop = delivered(Channel::Answer, 700, Kind::Other);
    let alarm = judge(&clean, ANSWER, Some(&stop), &plain);
    assert_eq!(figures(alarm), (Verdict::FalseAlarm, 700, 2300));
}

#[test]
fn the_place_at_which_an_alarm_is_delivered_counts() {
    let (case, alarm) = (looping(), stop(Channel::Answer, 995, Kind::Other, LENGTHS));
    let outcome = judge(&case, BOTH, Some(&alarm), &JudgeOptions::default());
    assert_eq!((outcome.verdict, outcome.latency), (Verdict::Hit, Some(2)));
}

#[test]
fn without_a_label_or_with_a_doubt_nothing_is_scored() {
    for labels in [json!([]), json!([{"class": "unsure"}])] {
        let outcome = at(&case(labels), 500, &JudgeOptions::default());
        assert_eq!(figures(outcome), (Verdict::Unlabelled, 0, 0));
    }
}
