//! Data that people ask for, and numbers.

use deadloop_corpus::plant::Rng;

use super::words::{names, things, towns};
use super::{Lang, fenced, lines, one};

/// Objects with the same keys.
pub(super) fn json(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(20, 40);
    let body = lines(count, |at| {
        let (name, town) = (one(rng, names(lang)), one(rng, towns(lang)));
        let (age, comma) = (20 + rng.below(50), if at + 1 == count { "" } else { "," });
        format!(
            "  {{\n    \"id\": {},\n    \"name\": \"{name}\",\n    \"city\": \"{town}\",\n    \"age\": {age},\n    \"active\": true\n  }}{comma}",
            at + 1
        )
    });
    fenced("json", &format!("[\n{body}\n]"))
}

/// Services with the same settings.
pub(super) fn yaml(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(12, 24);
    let body = lines(count, |at| {
        let (name, port) = (one(rng, things(lang)), 8000 + at);
        format!(
            "  {name}-{at}:\n    image: registry/{name}:1.{}\n    restart: always\n    ports:\n      - \"{port}:80\"\n    environment:\n      LOG_LEVEL: info\n      TIMEOUT: 30",
            rng.below(20)
        )
    });
    fenced("yaml", &format!("services:\n{body}"))
}

/// Encoded bytes: mostly noise, and a stretch of padding as images have it.
pub(super) fn base64(rng: &mut Rng, _: Lang) -> String {
    const SET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let count = rng.between(20, 50);
    let flat = rng.between(3, 8);
    let body = lines(count, |at| {
        if (count / 2..count / 2 + 2).contains(&at) {
            return "AAAA".repeat(flat) + &noise(rng, SET, 76 - 4 * flat);
        }
        noise(rng, SET, 76)
    });
    fenced("", &format!("{body}=="))
}

fn noise(rng: &mut Rng, set: &[u8], count: usize) -> String {
    (0..count)
        .map(|_| char::from(set[rng.below(set.len())]))
        .collect()
}

/// Bytes with their addresses.
pub(super) fn hex(rng: &mut Rng, _: Lang) -> String {
    let count = rng.between(25, 50);
    let body = lines(count, |at| {
        let empty = rng.below(4) == 0;
        let byte = |rng: &mut Rng| if empty { 0 } else { rng.below(256) };
        let bytes: Vec<_> = (0..16).map(|_| format!("{:02x}", byte(rng))).collect();
        format!("{:08x}  {}", at * 16, bytes.join(" "))
    });
    fenced("", &body)
}

/// Four letters.
pub(super) fn dna(rng: &mut Rng, _: Lang) -> String {
    let count = rng.between(15, 40);
    let body = lines(count, |at| {
        let blocks: Vec<_> = (0..6).map(|_| noise(rng, b"acgt", 10)).collect();
        format!("{:>9} {}", 1 + at * 60, blocks.join(" "))
    });
    fenced("", &format!("ORIGIN\n{body}\n//"))
}

/// Rows with a diagonal and much nothing.
pub(super) fn matrix(rng: &mut Rng, _: Lang) -> String {
    let size = rng.between(14, 22);
    let body = lines(size, |row| {
        let cell = |column: usize| {
            if row == column {
                "1"
            } else if row + 1 == column {
                "2"
            } else {
                "0"
            }
        };
        let cells: Vec<_> = (0..size).map(cell).collect();
        format!("[{}],", cells.join(", "))
    });
    format!(
        "The matrix has ones on its diagonal and twos above it:\n\n{}",
        fenced("python", &format!("A = [\n{body}\n]"))
    )
}

/// A long path of like commands.
pub(super) fn svg(rng: &mut Rng, _: Lang) -> String {
    let count = rng.between(30, 60);
    let body = lines(count, |at| {
        let mut number = |top: usize| format!("{}.{}", rng.below(top), rng.below(10));
        format!(
            "  <path d=\"M{} {} c{} {} {} {} {} {} z\" fill=\"#{:02x}{:02x}40\" stroke=\"none\"/>",
            number(400),
            number(400),
            number(20),
            number(20),
            number(20),
            number(20),
            number(20),
            number(20),
            (at * 7) % 256,
            (at * 11) % 256
        )
    });
    fenced(
        "svg",
        &format!("<svg viewBox=\"0 0 400 400\">\n{body}\n</svg>"),
    )
}

/// A derivation, line under line.
pub(super) fn equations(rng: &mut Rng, lang: Lang) -> String {
    let (mut value, mut total) = (rng.between(2, 9) as u64, 0);
    let add = rng.between(3, 17) as u64;
    let count = rng.between(22, 40);
    let body = lines(count, |at| {
        total += value;
        let line = lang.choose(
            format!(
                "For n = {at} we have a_{at} = {value}, so the partial sum is S_{at} = {total}."
            ),
            format!("当 n = {at} 时，a_{at} = {value}，因此部分和 S_{at} = {total}。"),
        );
        value += add;
        line
    });
    let intro = lang.choose(
        "Let me compute the sums one by one.",
        "下面逐项计算部分和。",
    );
    format!("{intro}\n\n{body}")
}
