//! Songs, talk, law: repetition that people mean.

use deadloop_corpus::plant::Rng;

use super::words::{adjectives, names, things, towns, verbs};
use super::{Lang, lines, one};

/// Verses with a refrain.
pub(super) fn refrain(rng: &mut Rng, lang: Lang) -> String {
    let chorus = lang.choose(
        "Oh, the wind on the water, the wind on the sea,\nSing high, sing low, sing over to me,\nOh, the wind on the water, the wind on the sea.",
        "月儿弯弯照九州，\n几家欢乐几家愁，\n啦啦啦，啦啦啦，\n月儿弯弯照九州。",
    );
    let count = rng.between(7, 11);
    lines(count, |_| {
        let verse = lines(4, |_| {
            let (kind, thing) = (one(rng, adjectives(lang)), one(rng, things(lang)));
            let (verb, town) = (one(rng, verbs(lang)), one(rng, towns(lang)));
            lang.choose(
                format!("I went to {town} to {verb} a {kind} {thing},"),
                format!("我到{town}去{verb}那{kind}的{thing}，"),
            )
        });
        format!("{verse}\n\n{chorus}\n")
    })
}

/// Doubled words, laughter, and calls, as Chinese has them.
pub(super) fn reduplication(rng: &mut Rng, lang: Lang) -> String {
    const DOUBLED: &[&str] = &[
        "慢慢地",
        "轻轻地",
        "高高兴兴地",
        "认认真真地",
        "仔仔细细地",
        "平平安安地",
        "常常",
        "渐渐",
        "匆匆忙忙地",
        "开开心心地",
    ];
    const CALLS: &[&str] = &[
        "哈哈哈哈哈",
        "嘻嘻嘻",
        "对对对对",
        "好好好",
        "谢谢谢谢",
        "等等等等",
        "加油加油加油",
        "呜呜呜呜",
    ];
    let count = rng.between(30, 50);
    lines(count, |_| {
        let (how, call) = (one(rng, DOUBLED), one(rng, CALLS));
        let (name, verb, thing) = (
            one(rng, names(lang)),
            one(rng, verbs(lang)),
            one(rng, things(lang)),
        );
        format!("{name}{how}{verb}着{thing}，一边说：“{call}！看看这个，想想办法，试试再说。”")
    })
}

/// Words said again for their weight.
pub(super) fn emphasis(rng: &mut Rng, lang: Lang) -> String {
    const SAID: &[&str] = &[
        "no, no, no, no",
        "very, very, very",
        "ha ha ha ha ha",
        "never, never, never",
        "on and on and on",
        "knock, knock, knock",
        "la la la la la",
        "wait, wait, wait",
        "again and again and again",
        "tick, tock, tick, tock",
    ];
    let count = rng.between(25, 40);
    lines(count, |_| {
        let (said, name) = (one(rng, SAID), one(rng, names(lang)));
        let (kind, thing, verb) = (
            one(rng, adjectives(lang)),
            one(rng, things(lang)),
            one(rng, verbs(lang)),
        );
        format!("\"{said}!\" said {name}, who had come to {verb} the {kind} {thing}.")
    })
}

/// Two speakers, named each time.
pub(super) fn dialogue(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(30, 50);
    lines(count, |at| {
        let who = lang.choose(
            ["**Interviewer:**", "**Candidate:**"],
            ["**面试官：**", "**应聘者：**"],
        )[at % 2];
        let (verb, kind, thing) = (
            one(rng, verbs(lang)),
            one(rng, adjectives(lang)),
            one(rng, things(lang)),
        );
        let (ask, tell) = (
            lang.choose(
                format!("How would you {verb} a {kind} {thing}?"),
                format!("请问你会怎样{verb}一件{kind}的{thing}？"),
            ),
            lang.choose(
                format!("I would {verb} the {thing} first, since it is {kind}."),
                format!("我会先{verb}{thing}，因为它比较{kind}。"),
            ),
        );
        format!("{who} {}\n", if at % 2 == 0 { ask } else { tell })
    })
}

/// Numbered moments.
pub(super) fn subtitles(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(30, 50);
    lines(count, |at| {
        let (minute, second) = (at * 3 / 60, at * 3 % 60);
        let (verb, thing) = (one(rng, verbs(lang)), one(rng, things(lang)));
        let text = match rng.below(4) {
            0 => lang.choose("- Yes.\n- Yes.".to_owned(), "- 好。\n- 好。".to_owned()),
            1 => lang.choose("[music]".to_owned(), "[音乐]".to_owned()),
            _ => lang.choose(
                format!("They {verb} the {thing}."),
                format!("他们{verb}{thing}。"),
            ),
        };
        format!(
            "{}\n00:{minute:02}:{second:02},000 --> 00:{minute:02}:{:02},500\n{text}\n",
            at + 1,
            second + 2
        )
    })
}

/// Articles in the words of lawyers.
pub(super) fn clauses(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(12, 20);
    lines(count, |at| {
        let (verb, thing) = (one(rng, verbs(lang)), one(rng, things(lang)));
        let days = 3 + rng.below(60);
        lang.choose(
            format!("Article {}. The Supplier shall {verb} the {thing} within {days} days of written notice. If the Supplier fails to {verb} the {thing} within the said period, the Purchaser may terminate this Agreement and claim damages in accordance with Article 2.\n", at + 1),
            format!("第{}条　乙方应当自收到书面通知之日起{days}日内{verb}{thing}。乙方未在前款规定的期限内{verb}{thing}的，甲方有权解除本合同，并依照第二条的规定要求赔偿损失。\n", at + 1),
        )
    })
}

/// The user's words taken up again at each step, as long thinking does.
pub(super) fn restated(rng: &mut Rng, lang: Lang) -> String {
    let (verb, kind, thing) = (
        one(rng, verbs(lang)),
        one(rng, adjectives(lang)),
        one(rng, things(lang)),
    );
    let question = lang.choose(
        format!("\"Please {verb} the {kind} {thing} and tell me which of the suppliers I should choose\""),
        format!("“请{verb}这件{kind}的{thing}，并告诉我应该选择哪一家供应商”"),
    );
    let count = rng.between(10, 16);
    lines(count, |at| {
        let (name, town) = (one(rng, names(lang)), one(rng, towns(lang)));
        let (good, bad) = (one(rng, adjectives(lang)), one(rng, adjectives(lang)));
        let price = 100 + rng.below(900);
        lang.choose(
            format!("{}. The user said: {question}. The supplier {name} of {town} asks {price} a piece. Their goods are {good}, though somewhat {bad}.\n", at + 1),
            format!("{}. 用户的要求是：{question}。{town}的供应商{name}报价{price}元，货品{good}，不过有些{bad}。\n", at + 1),
        )
    })
}
