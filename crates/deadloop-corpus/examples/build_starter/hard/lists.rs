//! Lists, counted things, and cases gone through one by one.

use deadloop_corpus::plant::Rng;

use super::words::{adjectives, names, things, towns, verbs};
use super::{Lang, lines, one};

/// Items that begin alike.
pub(super) fn shared_prefix(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(25, 45);
    lines(count, |at| {
        let (verb, thing) = (one(rng, verbs(lang)), one(rng, things(lang)));
        let (kind, town) = (one(rng, adjectives(lang)), one(rng, towns(lang)));
        lang.choose(
            format!(
                "{}. **You should be able to {verb}** the {kind} {thing} in {town}.",
                at + 1
            ),
            format!(
                "{}. **你应当能够{verb}**{town}的那件{kind}的{thing}，并且做好记录。",
                at + 1
            ),
        )
    })
}

/// "Print a hundred lines": the request, then the lines.
pub(super) fn numbered_lines(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(80, 160);
    let intro = lang.choose(
        format!("As requested, here are {count} numbered lines for the load test of the parser:"),
        format!("按照要求，下面是用于测试解析器的{count}行编号文本："),
    );
    let body = lines(count, |at| {
        let n = at + 1;
        lang.choose(
            format!("Line {n}: item number {n}"),
            format!("第{n}行：第{n}个条目的内容"),
        )
    });
    format!("{intro}\n\n{body}")
}

/// Numbers, squares, days.
pub(super) fn counting(rng: &mut Rng, lang: Lang) -> String {
    let first = 1 + rng.below(500);
    let numbers: Vec<_> = (first..first + 350).map(|n| n.to_string()).collect();
    let squares = lines(40, |at| {
        format!("{n}^2 = {}", (at + 1) * (at + 1), n = at + 1)
    });
    let intro = lang.choose("Counting up as asked:", "按要求依次数下去：");
    let then = lang.choose("And the squares:", "再列出平方数：");
    format!("{intro}\n\n{}\n\n{then}\n\n{squares}", numbers.join(", "))
}

/// Products, all of them.
pub(super) fn multiplication(rng: &mut Rng, lang: Lang) -> String {
    let size = rng.between(10, 14);
    let cell = |row: usize, column: usize| format!("{row} x {column} = {}", row * column);
    let body = lines(size, |row| {
        let row = row + 1;
        (1..=size)
            .map(|column| cell(row, column))
            .collect::<Vec<_>>()
            .join("\n")
            + "\n"
    });
    let intro = lang.choose("Here is the whole table:", "下面是完整的乘法表：");
    format!("{intro}\n\n{body}")
}

/// References in one style.
pub(super) fn citations(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(18, 32);
    lines(count, |at| {
        let (a, b) = (one(rng, names(lang)), one(rng, names(lang)));
        let (kind, thing) = (one(rng, adjectives(lang)), one(rng, things(lang)));
        let (year, volume, page) = (1990 + rng.below(35), 1 + rng.below(60), 10 + rng.below(800));
        let last = page + 9;
        lang.choose(
            format!("[{}] {a} and {b}. On the {kind} {thing}. Journal of Applied Studies, {volume}:{page}-{last}, {year}.", at + 1),
            format!("[{}] {a}，{b}．关于{kind}{thing}的研究[J]．应用研究学报，{year}，{volume}：{page}-{last}．", at + 1),
        )
    })
}

/// Addresses under one host.
pub(super) fn urls(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(30, 50);
    lines(count, |_| {
        let (thing, town) = (one(rng, things(lang)), one(rng, towns(lang)).to_lowercase());
        format!(
            "- https://www.example.org/catalogue/{town}/items/{thing}?page={}&sort=asc",
            rng.below(90)
        )
    })
}

/// Days with the same times.
pub(super) fn plan(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(14, 24);
    lines(count, |at| {
        let day = at + 1;
        let (a, b) = (one(rng, verbs(lang)), one(rng, things(lang)));
        let (c, d) = (one(rng, verbs(lang)), one(rng, things(lang)));
        lang.choose(
            format!("### Day {day}\n- **Morning (09:00 - 11:00):** {a} the {b}\n- **Afternoon (14:00 - 16:00):** {c} the {d}\n- **Evening:** rest\n"),
            format!("### 第{day}天\n- **上午（09:00 - 11:00）：**{a}{b}\n- **下午（14:00 - 16:00）：**{c}{d}\n- **晚上：**休息\n"),
        )
    })
}

/// Cases ruled out one by one, in words that hardly change.
pub(super) fn cases(rng: &mut Rng, lang: Lang) -> String {
    let modulus = rng.between(29, 47);
    let wanted = rng.between(1, modulus - 1);
    let body = lines(modulus, |n| {
        let rest = n * n % modulus;
        let no = rest != wanted;
        lang.choose(
            format!(
                "n = {n}: n^2 = {}, which leaves {rest} modulo {modulus}, so this {}.",
                n * n,
                if no { "does not work" } else { "works" }
            ),
            format!(
                "n = {n}：n^2 = {}，除以{modulus}余{rest}，所以{}。",
                n * n,
                if no {
                    "不符合条件"
                } else {
                    "符合条件"
                }
            ),
        )
    });
    let intro = lang.choose("Let me check every case.", "逐一检查每种情况。");
    format!("{intro}\n\n{body}")
}
