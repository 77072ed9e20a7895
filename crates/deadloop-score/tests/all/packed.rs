//! Packed cases and records: what is taken out is what was put in, and every table of a run is the same to the byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;
use crate::plan;
use crate::sweeps;

use std::path::Path;

use deadloop_score::replay::detect::{Channel, Kind, Unit};
use deadloop_score::replay::{BlockDecision, Record};
use deadloop_score::{
    AnyEvidence, Case, CaseSet, Evidence, JudgeOptions, PackedCases, PackedEvidence, PackedRecords,
    Resampling, ScoringRequest, Stakes, mean_clean, units, unpack, write_outcomes, write_scores,
};
use kit::{case, stop};
use plan::plan;
use proptest::prelude::*;
use serde_json::json;

fn packed(cases: &[Case], records: &[Vec<BlockDecision>]) -> (PackedCases, PackedRecords) {
    let (mut packed, mut said) = (PackedCases::default(), PackedRecords::default());
    cases.iter().for_each(|case| packed.push(case));
    records.iter().for_each(|blocks| said.push(blocks));
    (packed, said)
}

proptest! {
    #[test]
    fn what_is_taken_out_is_what_was_put_in(
        (_, cases, said) in sweeps::sweeps(),
        text in "[0-9a-f]{16}|\\PC{0,20}",
        kept in proptest::collection::vec(any::<bool>(), 0..20),
    ) {
        let mut cases = cases;
        for (i, case) in cases.iter_mut().enumerate() {
            case.text = text.as_str().into();
            case.source = (i % 3 == 0).then(|| format!("s{}", i % 2).into());
            case.profile = (i % 2 == 0).then(|| format!("p{}", i % 3).into());
            case.by = vec![None, Some(format!("value {i}"))];
        }
        let blocks: Vec<Vec<BlockDecision>> = said
            .iter()
            .map(|decided| vec![BlockDecision::default(), decided.clone(), BlockDecision::default(), decided.clone()])
            .collect();
        let (mut packed, records) = packed(&cases, &blocks);
        prop_assert_eq!(&packed.unpack_all(), &cases);
        prop_assert_eq!(mean_clean(&packed, Unit::Chars), mean_clean(&cases, Unit::Chars));
        prop_assert_eq!(units(&packed), units(&cases));
        for (i, blocks) in blocks.iter().enumerate() {
            prop_assert_eq!(&records.all(i, blocks.len()), blocks);
            for (block, decided) in blocks.iter().enumerate() {
                prop_assert_eq!(&records.decision(i, block), decided);
            }
        }
        packed.alter(|case| case.timed = true);
        cases.iter_mut().for_each(|case| case.timed = true);
        prop_assert_eq!(&packed.unpack_all(), &cases);
        let kept: Vec<bool> = kept.into_iter().chain(std::iter::repeat(true)).take(cases.len()).collect();
        packed.retain(&kept);
        let mut left = kept.iter();
        cases.retain(|_| left.next() == Some(&true));
        prop_assert_eq!(packed.unpack_all(), cases);
    }
}

const LENGTHS: (u64, u64) = (500, 6000);

/// Loops, clean ones, some of them copies and some in one group, one without a label, one with an error.
fn world() -> (Vec<Case>, Vec<Record>) {
    let mut cases = Vec::new();
    let mut records = Vec::new();
    for i in 0..60_u64 {
        let labels = match i % 3 {
            0 => {
                json!([{"class": "loop", "kind": "paragraph", "channel": "answer", "onset": 800 + 50 * i}])
            }
            1 => json!([{"class": "clean"}]),
            _ if i % 2 == 0 => {
                json!([{"class": "transient", "channel": "answer", "onset": 5, "end": 50}])
            }
            _ => json!([]),
        };
        let group = match i % 5 {
            0 => String::new(),
            _ => format!("g{}", i / 4),
        };
        let (id, model) = (format!("t{i}"), ["a", "b, c"][i as usize % 2]);
        let mut case = case(&id, model, &group, LENGTHS, labels);
        if i % 7 == 0 {
            case.text = "00000000000000aa".into();
        }
        cases.push(case);
        // The axes stand in the order of the detector's parameters: min_repeats, min_matches.
        let hi = [Some((1, 2)), Some((2, 1)), None, Some((2, 2)), Some((3, 2))][i as usize % 5];
        let stop = stop(Channel::Answer, 1200 + 60 * i, Kind::Paragraph, LENGTHS);
        let mut record = kit::record(&id, stop, hi.map(|(a, b)| vec![b, a]));
        record.blocks[0].error = (i == 31).then(|| "it died".into());
        records.push(record);
    }
    (cases, records)
}

fn write_all<E: AnyEvidence>(dir: &Path, evidence: &E) {
    let (judge, worth) = (JudgeOptions::default(), Stakes::default());
    let cells: Vec<usize> = (0..evidence.plan().cells()).collect();
    let scoring = ScoringRequest {
        evidence,
        judge: &judge,
        units: &[Unit::Chars],
        worth: &worth,
        enough: 10,
        reported: &cells[1..3],
        by: &["group".to_owned()],
        resampling: Resampling {
            replicates: 50,
            seed: 1,
        },
        csv: true,
    };
    write_scores(dir, &scoring).unwrap();
    write_outcomes(dir, evidence, &cells, scoring.by, &judge, true).unwrap();
}

#[test]
fn every_table_is_the_same() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (plan, (cases, records)) = (plan(), world());
    let blocks: Vec<Vec<BlockDecision>> = records.iter().map(|r| r.blocks.clone()).collect();
    let (packed, said) = packed(&cases, &blocks);
    assert_eq!(unpack(&cases, &said, &plan), records);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    write_all(a.path(), &evidence);
    let evidence = PackedEvidence::new(&plan, &packed, &said).unwrap();
    write_all(b.path(), &evidence);
    let mut names: Vec<_> = std::fs::read_dir(a.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
    for name in names {
        let read = |dir: &Path| std::fs::read(dir.join(&name)).unwrap();
        assert!(read(a.path()) == read(b.path()), "{}", name.display());
    }
}

#[test]
fn cases_without_their_records_are_refused() {
    let (plan, (cases, _)) = (plan(), world());
    let (packed, said) = packed(&cases, &[]);
    let error = PackedEvidence::new(&plan, &packed, &said).unwrap_err();
    assert_eq!(error.to_string(), "case 0 is of t0, its record of nothing");
    assert_eq!(packed.number(), 60);
}
