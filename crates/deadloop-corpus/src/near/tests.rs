use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn shingles(text: &str) -> Shingles {
    Shingles::from_texts(std::iter::once(text.to_owned()), MAX_SHINGLES)
}

fn sketch(text: &str) -> Option<Sketch> {
    Sketch::from_texts(std::iter::once(text.to_owned()))
}

/// Returns the Jaccard index by the definition, from sets of strings.
fn slow_likeness(a: &str, b: &str) -> f64 {
    let set = |text: &str| -> BTreeSet<String> {
        let text: Vec<char> = fold_text(text).collect();
        let width = SHINGLE_CHARS.min(text.len()).max(1);
        text.windows(width).map(|w| w.iter().collect()).collect()
    };
    let (a, b) = (set(a), set(b));
    let either = a.union(&b).count();
    if either == 0 {
        0.0
    } else {
        a.intersection(&b).count() as f64 / either as f64
    }
}

/// Returns a text of different sentences.
fn text(seed: u64, sentences: u64) -> String {
    let sentence = |n: u64| format!("{:x} {:x}. ", mix64(seed * 1000 + n), mix64(n * 7 + seed));
    (0..sentences).map(sentence).collect()
}

#[test]
fn case_white_space_and_the_number_of_copies_do_not_matter() {
    let one = "Wait, let me check the roads. ";
    assert_eq!(shingles(&one.repeat(5)), shingles(&one.repeat(50)));
    assert_eq!(shingles("A b\n\nc"), shingles("a  B c"));
    assert_eq!(shingles("").likeness(&shingles("")), 0.0);
    assert!(sketch("").is_none());
    assert_eq!(shingles("ok").likeness(&shingles("OK")), 1.0);
}

#[test]
fn the_sketch_estimates_the_likeness() {
    for changed in [0, 10, 25, 50, 100] {
        let a = text(1, 100);
        let b = text(1, 100 - changed) + &text(2, changed);
        let (Some(x), Some(y)) = (sketch(&a), sketch(&b)) else {
            panic!("not empty")
        };
        let off = (shingles(&a).likeness(&shingles(&b)) - x.likeness(&y)).abs();
        assert!(off < 0.15, "{changed}: {off}");
    }
}

#[test]
fn a_sketch_is_that_of_the_set_however_far_copies_are_apart() {
    for sentences in [3, 200, 2_000] {
        let said = text(1, sentences).repeat(3) + "the end";
        // By the definition: the smallest hash of each row.
        let mut rows = vec![EMPTY_ROW; ROWS_PER_BAND * BANDS_PER_SKETCH];
        for hash in shingles(&said).hashes {
            rows[row_of_hash(hash)] = rows[row_of_hash(hash)].min(hash as u32);
        }
        let Some(Sketch(found)) = sketch(&said) else {
            panic!("not empty")
        };
        let said = rows
            .iter()
            .zip(&found)
            .filter(|(least, _)| **least != EMPTY_ROW);
        assert!(said.into_iter().all(|(least, found)| least == found));
        assert!(found.iter().all(|least| rows.contains(least)));
    }
}

#[test]
fn a_sample_estimates_the_likeness() {
    for changed in [0, 25, 50, 100] {
        let a = text(1, 2000);
        let b = text(1, 2000 - 20 * changed) + &text(2, 20 * changed);
        let of =
            |text: &str, sample| Shingles::from_texts(std::iter::once(text.to_owned()), sample);
        let exact = of(&a, MAX_SHINGLES).likeness(&of(&b, MAX_SHINGLES));
        let (a, b) = (of(&a, 10_000), of(&b, 5_000));
        assert!(a.hashes.len() <= 10_000 && b.hashes.len() <= 5_000);
        assert!((a.likeness(&b) - exact).abs() < 0.03, "{changed}: {exact}");
    }
}

#[test]
fn near_duplicates_are_joined_and_others_not() {
    // One text in ten is a copy of an earlier one with three of its 100 sentences changed.
    let texts: Vec<String> = (0..300)
        .map(|i| match i % 10 {
            9 => text(i - 9, 97) + &text(i + 5000, 3),
            _ => text(i, 100),
        })
        .collect();
    let sets: Vec<Shingles> = texts.iter().map(|text| shingles(text)).collect();
    let sketches: Vec<_> = texts.iter().map(|text| sketch(text)).collect();
    let pairs = find_pairs(&sketches, 0.8, |a, b| sets[a].likeness(&sets[b]));
    let clusters = find_clusters(sets.len(), &pairs);
    let members: Vec<_> = clusters.iter().map(|c| c.members.clone()).collect();
    let expected: Vec<_> = (0..30).map(|n| vec![10 * n, 10 * n + 9]).collect();
    assert_eq!(members, expected);
    assert!(clusters.iter().all(|c| (0.8..1.0).contains(&c.least)));
}

#[test]
fn many_copies_cost_a_comparison_each() {
    let sketch = sketch(&text(1, 50));
    let sketches = vec![sketch; 5000];
    let compared = std::cell::Cell::new(0);
    let pairs = find_pairs(&sketches, 0.8, |_, _| {
        compared.set(compared.get() + 1);
        1.0
    });
    assert_eq!((pairs.len(), compared.get()), (4999, 4999));
    assert_eq!(find_clusters(5000, &pairs)[0].members.len(), 5000);
}

proptest! {
    #[test]
    fn likeness_is_that_of_the_sets(a in "[ab \n]{0,60}", b in "[ab \n]{0,60}", cut in 0_usize..60) {
        let near = format!("{}{b}", a.chars().take(cut).collect::<String>());
        prop_assert_eq!(shingles(&a).likeness(&shingles(&near)), slow_likeness(&a, &near));
    }
}
