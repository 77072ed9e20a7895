//! Code, logs and drawings.

use deadloop_corpus::plant::Rng;

use super::words::{adjectives, things, verbs};
use super::{Lang, fenced, lines, one};

/// Functions of one shape.
pub(super) fn setters(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(14, 24);
    let body = lines(count, |at| {
        let (thing, kind) = (one(rng, things(lang)), one(rng, adjectives(lang)));
        let name = format!("{kind}_{thing}_{at}");
        format!(
            "    def set_{name}(self, value):\n        if value is None:\n            raise ValueError(\"value is required\")\n        self._{name} = value\n        return self\n"
        )
    });
    fenced("python", &format!("class Builder:\n{body}"))
}

/// Blocks in blocks, and the braces that close them.
pub(super) fn braces(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(5, 8);
    let body = lines(count, |at| {
        let depth = rng.between(6, 10);
        let open = lines(depth, |level| {
            format!(
                "{}if ({}_{level} > {}) {{",
                "  ".repeat(level),
                one(rng, things(lang)),
                rng.below(50)
            )
        });
        let close = lines(depth, |level| {
            format!("{}}}", "  ".repeat(depth - 1 - level))
        });
        format!(
            "// case {at}\n{open}\n{}{}();\n{close}\n",
            "  ".repeat(depth),
            one(rng, verbs(lang))
        )
    });
    fenced("c", &body)
}

/// A test run that is fine.
pub(super) fn test_log(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(50, 90);
    let body = lines(count, |at| {
        let (verb, thing) = (one(rng, verbs(lang)), one(rng, things(lang)));
        format!(
            "tests/test_{thing}.py::test_can_{verb}_{at} PASSED{:>28}",
            format!("[{:>3}%]", at * 100 / count)
        )
    });
    let total = format!(
        "===================== {count} passed in {}.{}s =====================",
        rng.below(90),
        rng.below(100)
    );
    fenced("", &format!("{body}\n\n{total}"))
}

/// A bar that fills.
pub(super) fn progress(rng: &mut Rng, lang: Lang) -> String {
    let file = one(rng, things(lang));
    let width = 40;
    let body = lines(width + 1, |done| {
        let percent = done * 100 / width;
        format!(
            "Downloading {file}.bin [{}{}] {percent:>3}%",
            "#".repeat(done),
            ".".repeat(width - done)
        )
    });
    fenced("", &body)
}

/// Boxes and towers.
pub(super) fn art(rng: &mut Rng, _: Lang) -> String {
    let count = rng.between(3, 5);
    let body = lines(count, |_| {
        let (width, height) = (rng.between(12, 30), rng.between(6, 12));
        let edge = format!("+{}+", "-".repeat(width));
        let wall = lines(height, |row| {
            let at = (row * 3 + width / 2) % width;
            format!("|{}{}{}|", " ".repeat(at), "*", " ".repeat(width - at - 1))
        });
        let tree = lines(8, |row| {
            format!("{}{}", " ".repeat(8 - row), "*".repeat(2 * row + 1))
        });
        format!("{edge}\n{wall}\n{edge}\n\n{tree}\n        |\n")
    });
    fenced("", &body)
}

/// Sections between long rulers.
pub(super) fn rulers(rng: &mut Rng, lang: Lang) -> String {
    let width = rng.between(40, 100);
    let signs = lang.choose(["-", "=", "*", "_"], ["—", "＝", "＊", "─"]);
    let count = rng.between(14, 22);
    lines(count, |at| {
        let ruler = signs[at % signs.len()].repeat(width);
        let (verb, thing) = (one(rng, verbs(lang)), one(rng, things(lang)));
        let kind = one(rng, adjectives(lang));
        let text = lang.choose(
            format!("Section {}: {verb} the {kind} {thing}", at + 1),
            format!("第{}节　{verb}{kind}的{thing}", at + 1),
        );
        format!("{ruler}\n{text}\n{ruler}\n")
    })
}

/// The same change in many places.
pub(super) fn diff(rng: &mut Rng, lang: Lang) -> String {
    let count = rng.between(12, 20);
    let body = lines(count, |at| {
        let (thing, verb) = (one(rng, things(lang)), one(rng, verbs(lang)));
        let line = 10 + at * 17;
        format!(
            "@@ -{line},4 +{line},4 @@\n def {verb}_{thing}(items):\n-    for i in range(len(items)):\n-        process(items[i])\n+    for item in items:\n+        process(item)\n     return items"
        )
    });
    fenced("diff", &body)
}
