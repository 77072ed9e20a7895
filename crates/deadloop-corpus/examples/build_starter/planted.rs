//! Loops planted into what the recorded models really wrote: clean generations of one model in one
//! language, put one after the other until the onset asked for is reached.

use std::collections::BTreeSet;

use deadloop_corpus::plant::{PlantKind, Rng, plant};
use serde_json::json;

use crate::item::{BUCKETS, Bucket, Item, Label, Made, body, lang_of, planted_meta};
use crate::sources::Unit;

/// Appended to the model's name, so that what a model did by itself stays apart in every table.
const SUFFIX: &str = "+planted";

/// A healthy text that a model wrote.
struct Clean<'a> {
    id: &'a str,
    model: &'a str,
    group: &'a str,
    lang: &'a str,
    split: &'a str,
    text: String,
}

/// For each model, language, kind and place of the onset one in the development part, where there
/// is clean text enough, and for every second combination one in the test part.
pub(crate) fn build(local: &[Item], units: &[Unit], rng: &mut Rng) -> Vec<Item> {
    let clean: Vec<Clean<'_>> = local.iter().filter_map(clean).collect();
    let models: BTreeSet<&str> = clean.iter().map(|c| c.model).collect();
    let mut items = Vec::new();
    for model in models {
        for (at, (unit, kind, bucket)) in combinations(units).enumerate() {
            let splits = if at % 2 == 0 {
                &["dev", "test"][..]
            } else {
                &["dev"]
            };
            for split in splits {
                let pool =
                    |c: &&Clean<'_>| c.model == model && c.lang == unit.lang && c.split == *split;
                let pool: Vec<&Clean<'_>> = clean.iter().filter(pool).collect();
                let wanted = Wanted {
                    unit,
                    kind,
                    bucket,
                    at: items.len(),
                };
                items.extend(one(&pool, &wanted, rng));
            }
        }
    }
    items
}

fn combinations(units: &[Unit]) -> impl Iterator<Item = (&Unit, PlantKind, Bucket)> {
    let kinds = units.iter().filter_map(|unit| Some((unit, unit.kind()?)));
    kinds.flat_map(|(unit, kind)| BUCKETS.map(|bucket| (unit, kind, bucket)))
}

/// A recording of some length that is clean and in a language that loops are written in.
fn clean(item: &Item) -> Option<Clean<'_>> {
    let transcript = &item.entry.transcript;
    let text = format!("{}{}", transcript.reasoning(), transcript.answer())
        .trim()
        .to_owned();
    let healthy = item
        .labels
        .iter()
        .all(|label| label.class == "clean" && label.by == "oracle");
    let lang = lang_of(transcript.lang.as_deref()?)?;
    let chinese = text
        .chars()
        .filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c))
        .count();
    let fits = lang.choose(chinese == 0, 2 * chinese > text.chars().count());
    (healthy && fits && text.chars().count() >= 100).then(|| Clean {
        id: &transcript.id,
        model: &transcript.model,
        group: transcript.group.as_deref().unwrap_or_default(),
        lang: lang.tag(),
        split: item.entry.split.as_deref().unwrap_or_default(),
        text,
    })
}

struct Wanted<'a> {
    unit: &'a Unit,
    kind: PlantKind,
    bucket: Bucket,
    at: usize,
}

fn one(pool: &[&Clean<'_>], wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Item> {
    let plan = wanted.unit.plan(wanted.kind, wanted.at, wanted.bucket, rng);
    let parts = parts(pool, plan.onset + 1, rng)?;
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    let planted = plant(&texts.join("\n\n"), &plan)?;
    let first = parts.first()?;
    let channel = if wanted.at % 4 == 3 {
        "reasoning"
    } else {
        "answer"
    };
    let label = Label::planted(wanted.kind.name(), channel, &planted);
    let ids: Vec<&str> = parts.iter().map(|part| part.id).collect();
    let made = Made {
        id: format!(
            "planted/{:03}/{}/{}",
            wanted.at, wanted.kind, wanted.bucket.name
        ),
        model: &format!("{}{SUFFIX}", first.model),
        group: first.group.to_owned(),
        lang: first.lang,
        meta: planted_meta(
            "planted",
            wanted.kind.name(),
            wanted.bucket,
            &json!({"clean_text_of": ids}),
        ),
    };
    Some(made.item(vec![body(channel, planted.text)], vec![label], first.split))
}

/// Enough texts for so many chars: of the first one's prompt while there are any, then of others of
/// the same split.
fn parts<'a>(pool: &[&'a Clean<'a>], chars: usize, rng: &mut Rng) -> Option<Vec<&'a Clean<'a>>> {
    let mut order = pool.to_vec();
    rng.shuffle(&mut order);
    let group = order.first()?.group;
    order.sort_by_key(|part| part.group != group);
    let (mut parts, mut have) = (Vec::new(), 0);
    for part in order {
        if have >= chars {
            break;
        }
        have += part.text.chars().count() + 2;
        parts.push(part);
    }
    (have >= chars + 2).then_some(parts)
}
