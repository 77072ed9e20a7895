//! Rows and columns.

use deadloop_corpus::plant::Rng;

use super::words::{adjectives, names, things, towns};
use super::{Lang, fenced, lines, one};

/// A table in Markdown, its alignment row included: `|:---|---:|:---:|`.
pub(super) fn markdown(rng: &mut Rng, lang: Lang) -> String {
    let columns = rng.between(4, 8);
    let heads: Vec<_> = (0..columns).map(|_| one(rng, things(lang))).collect();
    let dashes = "-".repeat(rng.between(3, 24));
    let rule = [
        format!(":{dashes}"),
        format!("{dashes}:"),
        format!(":{dashes}:"),
    ];
    let rules: Vec<_> = (0..columns).map(|at| rule[at % 3].clone()).collect();
    let count = rng.between(20, 45);
    let body = lines(count, |_| {
        let first = one(rng, names(lang)).to_owned();
        let cells = (1..columns).map(|_| cell(rng, lang));
        let cells: Vec<_> = std::iter::once(first).chain(cells).collect();
        format!("| {} |", cells.join(" | "))
    });
    format!("| {} |\n|{}|\n{body}", heads.join(" | "), rules.join("|"))
}

fn cell(rng: &mut Rng, lang: Lang) -> String {
    match rng.below(5) {
        0 => "-".to_owned(),
        1 => lang.choose("yes", "是").to_owned(),
        2 => one(rng, adjectives(lang)).to_owned(),
        _ => format!("{}.{}", rng.below(100), rng.below(10)),
    }
}

/// Rows with commas, most fields alike from row to row.
pub(super) fn csv(rng: &mut Rng, lang: Lang) -> String {
    let head = lang.choose(
        "date,station,temperature,humidity,status",
        "日期,站点,温度,湿度,状态",
    );
    let station = one(rng, towns(lang));
    let count = rng.between(60, 120);
    let body = lines(count, |at| {
        let ok = lang.choose("ok", "正常");
        let (month, day) = (1 + at / 28, 1 + at % 28);
        let (warm, wet) = (20 + rng.below(4), 60 + rng.below(3));
        format!("2024-{month:02}-{day:02},{station},{warm}.0,{wet}%,{ok}")
    });
    fenced("csv", &format!("{head}\n{body}"))
}

/// Statements that differ in their values alone.
pub(super) fn sql(rng: &mut Rng, lang: Lang) -> String {
    let table = one(rng, things(lang));
    let count = rng.between(25, 50);
    let body = lines(count, |at| {
        let (name, town) = (one(rng, names(lang)), one(rng, towns(lang)));
        let day = 1 + rng.below(28);
        format!(
            "INSERT INTO {table}s (id, name, city, active, created_at) VALUES ({}, '{name}', '{town}', TRUE, '2024-03-{day:02}');",
            at + 1
        )
    });
    fenced("sql", &body)
}

/// The same tags round every value.
pub(super) fn html(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(20, 40);
    let body = lines(count, |at| {
        let (name, town) = (one(rng, names(lang)), one(rng, towns(lang)));
        let amount = rng.below(900);
        format!(
            "    <tr>\n      <td class=\"cell\">{}</td>\n      <td class=\"cell\">{name}</td>\n      <td class=\"cell\">{town}</td>\n      <td class=\"cell number\">{amount}</td>\n    </tr>",
            at + 1
        )
    });
    fenced(
        "html",
        &format!("<table>\n  <tbody>\n{body}\n  </tbody>\n</table>"),
    )
}

/// A table drawn with lines between all rows.
pub(super) fn ascii(rng: &mut Rng, lang: Lang) -> String {
    let rule = "+------------+------------+----------+";
    let count = rng.between(20, 40);
    let body = lines(count, |_| {
        let (town, thing, amount) = (
            one(rng, towns(lang)),
            one(rng, things(lang)),
            rng.below(99_999),
        );
        format!("| {town:<10} | {thing:<10} | {amount:>8} |\n{rule}")
    });
    fenced(
        "",
        &format!("{rule}\n| town       | item       |   amount |\n{rule}\n{body}"),
    )
}
