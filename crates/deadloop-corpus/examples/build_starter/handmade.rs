//! Texts made here: hard negatives in prose, and loops planted after such text.

use deadloop_corpus::Body;
use deadloop_corpus::plant::{PlantKind, Rng, plant};
use serde_json::json;

use crate::hard::{CLASSES, Class, Lang};
use crate::item::{BUCKETS, Bucket, Item, Label, Made, Splits, body, planted_meta};
use crate::sources::{self, Unit};

const MODEL: &str = "handmade";
/// Hard negatives of a class in a language.
const EACH: usize = 6;
/// Loops of a unit's kind for each place of the onset.
const LOOPS: usize = 4;

/// Several of every class in every language that it has. A class in a language is a group.
pub(crate) fn hard_negatives(rng: &mut Rng) -> Vec<Item> {
    let group = |class: &Class, lang: Lang| format!("{}/{}", class.name, lang.tag());
    let groups = CLASSES
        .iter()
        .flat_map(|class| class.langs.iter().map(move |lang| (class, *lang)));
    let groups: Vec<_> = groups.collect();
    let splits = Splits::deal(groups.iter().map(|(class, lang)| group(class, *lang)), rng);
    let mut items = Vec::new();
    for (class, lang) in groups {
        for at in 0..EACH {
            let made = Made {
                id: format!("handmade/{}/{}/{at}", class.name, lang.tag()),
                model: MODEL,
                group: group(class, lang),
                lang: lang.tag(),
                meta: json!({"source": "hard-negative", "tag": class.name}),
            };
            let split = splits.of(&made.group);
            items.push(hard_negative(class, lang, at, made, split, rng));
        }
    }
    items
}

fn hard_negative(
    class: &Class,
    lang: Lang,
    at: usize,
    made: Made<'_>,
    split: &str,
    rng: &mut Rng,
) -> Item {
    let mut prose = Prose::new(lang, rng);
    let (long, short) = lang.choose((2, 1), (5, 3));
    let aside = prose.take(short);
    let before = prose.take(rng.between(short, long));
    let mut block = (class.make)(rng, lang);
    if block.chars().count() < 1200 {
        block = format!(
            "{block}\n\n{}\n\n{}",
            prose.take(1),
            (class.make)(rng, lang)
        );
    }
    let main = format!(
        "{before}\n\n{block}\n\n{}",
        prose.take(rng.between(short, long))
    );
    let (texts, channel) = if class.reasoning {
        (
            vec![Body::Reasoning(main), Body::Answer(aside)],
            "reasoning",
        )
    } else if at.is_multiple_of(3) {
        (vec![Body::Reasoning(aside), Body::Answer(main)], "answer")
    } else {
        (vec![Body::Answer(main)], "answer")
    };
    made.item(texts, vec![Label::clean(channel)], split)
}

/// Loops of every kind, onset and language after prose and hard negatives. A repeated unit is a
/// group.
pub(crate) fn loops(units: &[Unit], rng: &mut Rng) -> Vec<Item> {
    let group = |unit: &Unit, kind: PlantKind, at: usize| {
        format!("loop/{}/{kind}/{}", unit.lang, at % unit.texts.len())
    };
    let mut wanted = Vec::new();
    for (unit, kind) in units.iter().filter_map(|unit| Some((unit, unit.kind()?))) {
        for (at, bucket) in BUCKETS
            .into_iter()
            .cycle()
            .take(LOOPS * BUCKETS.len())
            .enumerate()
        {
            // The shift brings each unit into several places of the onset.
            let text = at + at / unit.texts.len();
            wanted.push(Wanted {
                unit,
                kind,
                bucket,
                text,
                at,
                group: group(unit, kind, text),
            });
        }
    }
    let splits = Splits::deal(wanted.iter().map(|wanted| wanted.group.clone()), rng);
    wanted
        .iter()
        .filter_map(|wanted| planted(wanted, splits.of(&wanted.group), rng))
        .collect()
}

struct Wanted<'a> {
    unit: &'a Unit,
    kind: PlantKind,
    bucket: Bucket,
    text: usize,
    at: usize,
    group: String,
}

fn planted(wanted: &Wanted<'_>, split: &str, rng: &mut Rng) -> Option<Item> {
    let lang = crate::item::lang_of(&wanted.unit.lang)?;
    let plan = wanted
        .unit
        .plan(wanted.kind, wanted.text, wanted.bucket, rng);
    let (clean, tags) = compose(lang, plan.onset + 1, rng);
    let planted = plant(&clean, &plan)?;
    let channel = if wanted.at.is_multiple_of(2) {
        "reasoning"
    } else {
        "answer"
    };
    let label = Label::planted(wanted.kind.name(), channel, &planted);
    let made = Made {
        id: format!("handmade/loop/{}/{}/{}", lang.tag(), wanted.kind, wanted.at),
        model: MODEL,
        group: wanted.group.clone(),
        lang: lang.tag(),
        meta: planted_meta(
            "planted",
            wanted.kind.name(),
            wanted.bucket,
            &json!({"before": tags}),
        ),
    };
    Some(made.item(vec![body(channel, planted.text)], vec![label], split))
}

/// Prose and hard negatives in turn, of at least so many chars, and the classes used.
fn compose(lang: Lang, chars: usize, rng: &mut Rng) -> (String, Vec<&'static str>) {
    let classes: Vec<&Class> = CLASSES
        .iter()
        .filter(|class| class.langs.contains(&lang))
        .collect();
    let mut prose = Prose::new(lang, rng);
    let (mut text, mut tags) = (prose.take(lang.choose(2, 5)), Vec::new());
    while text.chars().count() < chars {
        let Some(class) = rng.pick(&classes) else {
            break;
        };
        tags.push(class.name);
        text = format!(
            "{text}\n\n{}\n\n{}",
            (class.make)(rng, lang),
            prose.take(lang.choose(2, 4))
        );
    }
    (text, tags)
}

/// Paragraphs, none twice in one text.
struct Prose(Vec<&'static str>);

impl Prose {
    fn new(lang: Lang, rng: &mut Rng) -> Self {
        let mut all = sources::prose(lang);
        rng.shuffle(&mut all);
        Self(all)
    }

    fn take(&mut self, count: usize) -> String {
        let rest = self.0.len().saturating_sub(count);
        self.0.split_off(rest).join("\n\n")
    }
}
