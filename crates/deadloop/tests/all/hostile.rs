//! A law over all commands that write: what one of them writes every other reads, whatever ids, models,
//! groups and notes are called.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use program::{Place, Ran, code, stderr, stdout};
use serde_json::json;

/// What ids, models, groups and splits are called.
const NAMES: [&str; 16] = [
    "line\nbreak",
    "cr\r\nlf",
    "\nfirst",
    "last\n",
    "=1+1",
    "@everyone",
    "-2+3",
    "-5",
    "'=z",
    " before",
    "after ",
    "a\"quote",
    "\"quoted\"",
    "x,y",
    "\u{feff}mark\u{2028}\u{202e}",
    "tab\tnul\u{0}<script>|`*`",
];

fn corpus(place: &Place) {
    let mut splits = csv::Writer::from_writer(Vec::new());
    splits.write_record(["transcript", "split"]).unwrap();
    let mut lines = String::new();
    for (i, name) in NAMES.iter().enumerate() {
        let text = match i % 2 {
            0 => "This is a line that comes again and again, as it was. ".repeat(60),
            _ => format!("Nothing of the sort is said in number {i}."),
        };
        let line = json!({
            "id": name, "model": NAMES[i % 5], "group": name, "profile": name, "lang": name,
            "meta": {"source": name}, "answer": text,
        });
        lines += &format!("{line}\n");
        splits.write_record([name, ["dev", "test"][i % 2]]).unwrap();
    }
    let splits = splits.into_inner().unwrap();
    place.file("corpus/splits.csv", splits);
    place.file("corpus/transcripts/t.jsonl", lines);
}

#[test]
fn what_one_command_writes_every_other_reads() {
    let place = Place::new();
    corpus(&place);
    let done = |line: &str| place.run(line).ends(0);
    done("check corpus");
    done("label corpus");
    done("import corpus --out again");
    done("label again --out again.csv");
    for corpus in ["corpus", "again"] {
        done(&format!("check {corpus}"));
        let merge = format!("label --merge {corpus} again.csv --out merged.csv --force --json");
        assert_eq!(done(&merge).json()["merged"]["nobody"], NAMES.len());
        // An argument of a program cannot hold a NUL.
        for name in NAMES.iter().filter(|name| !name.contains('\0')) {
            let mut explain = place.command(format!("explain {corpus} --"));
            explain.arg(name).output().unwrap().ends(0);
        }
    }
    let guard = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 50\n";
    place.file("s.toml", guard);
    done("replay corpus --csv --by meta.source --out out");
    done("replay again --csv --by meta.source --out other --settings s.toml");
    let ends = |line: &str, codes: &[i32]| {
        let run = place.run(line);
        let ended = code(&run).is_some_and(|code| codes.contains(&code));
        assert!(ended, "{line}: {:?} {}", code(&run), stderr(&run));
        stdout(&run)
    };
    ends("compare out other --out flips", &[0, 100]);
    // From the table for people too.
    std::fs::remove_file(place.path("out/outcomes.parquet")).unwrap();
    let same = ends("compare out other --json", &[0, 100]);
    assert!(!same.is_empty());
    for cell in place
        .rows("out/outcomes.csv")
        .iter()
        .flat_map(|row| row.values())
    {
        let runs = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
        assert!(!runs, "{cell:?}");
    }
    done("report other");
    ends("tune corpus --out tuned", &[0, 5, 6]);
    done("report tuned");
}
