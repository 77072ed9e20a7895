//! `--agreement`: how far two labellings agree, in words; and `--merge`, which says it too.

use std::path::Path;

use deadloop_run::apart;
use deadloop_run::reviewing::{Merged, Two, differing, merged, reviewed};
use deadloop_score::{Agreement, Class, agreement, write_labels};

use super::Label;
use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show::{self, count, typed};

/// `--agreement`: prints how far two labellings agree, and writes the rows that differ.
pub(super) fn compare(args: &Label, global: Global, (a, b): (&Path, &Path)) -> Outcome {
    let Two {
        first,
        second,
        lengths,
    } = Two::read(a, b, args.corpus.as_deref(), &Terminal::of(global))?;
    let found = agreement(&first, &second, &lengths);
    if found.both == 0 {
        return Err(Code::NothingSelected.error("no transcript is labelled by both"));
    }
    if let Some(out) = &args.out {
        show::refuse_over(out, args.force)?;
        write_labels(out, &differing(&first, &second))?;
    }
    if global.json {
        return show::print(&serde_json::to_string(&found)?);
    }
    let names = (a.display().to_string(), b.display().to_string());
    if global.quiet {
        Ok(())
    } else {
        show::print(show::prose(&words(&found, (&names.0, &names.1))).trim_end())
    }
}

/// The agreement, for people.
fn words(found: &Agreement, (first, second): (&str, &str)) -> String {
    let mut text = format!(
        "{} transcripts labelled by both ({} by {first} alone, {} by {second} alone)\n\n",
        show::count(found.both),
        show::count(found.only_first),
        show::count(found.only_second)
    );
    text.push_str(&classes(found));
    let alpha = show::number(found.alpha, 3);
    text.push_str(&format!(
        "\n\nsame class: {}   Krippendorff's alpha: {alpha}   same kind: {} of {}\n",
        show::percent(found.agree),
        show::count(found.kinds.0),
        show::count(found.kinds.1)
    ));
    let onsets = &found.onsets;
    let chars = |n: Option<u64>| n.map_or("n/a".into(), show::count);
    let unit = onsets.unit;
    text.push_str(&format!(
        "onsets of {} loops (in another channel: {}): same {} {}, median {} {unit} apart, p75 {}, p90 {}\n",
        show::count(onsets.count),
        show::count(onsets.elsewhere),
        unit.trim_end_matches('s'),
        show::count(onsets.exact),
        chars(onsets.median),
        chars(onsets.p75),
        chars(onsets.p90)
    ));
    let overlaps = &found.overlaps;
    text.push_str(&format!(
        "spans: {} compared, {unit} shared: median {}, mean {}\n",
        show::count(overlaps.count),
        show::percent(overlaps.median),
        show::percent(overlaps.mean)
    ));
    if let Some(p75) = onsets.p75 {
        text.push_str(&format!(
            "tolerance: --early {p75}: a smaller one measures the labels, not the detector\n"
        ));
    }
    text
}

/// A row for each class of the first, a column for each of the second.
fn classes(found: &Agreement) -> String {
    let mut header = vec!["class"];
    header.extend(Class::NAMES);
    header.extend(["total", "agree"]);
    let row = |(class, counts): (Class, &[u64; Class::ALL.len()])| {
        let total: u64 = counts.iter().sum();
        let same = Class::ALL.iter().zip(counts).find(|(c, _)| **c == class);
        let share = same
            .filter(|_| total > 0)
            .map(|(_, n)| *n as f64 / total as f64);
        let mut cells = vec![class.name().to_owned()];
        cells.extend(counts.iter().map(|n| show::count(*n)));
        cells.extend([show::count(total), show::percent(share)]);
        cells
    };
    let rows: Vec<Vec<String>> = Class::ALL.into_iter().zip(&found.table).map(row).collect();
    show::table(&header, &rows, 1)
}

/// `--merge`: writes the answers of both, and prints how far they agree on what both reviewed.
pub(super) fn merge(args: &Label, global: Global, (a, b): (&Path, &Path)) -> Outcome {
    let Some(out) = &args.out else {
        return Err(Code::Usage.error("--merge: no file to write; name it with --out"));
    };
    show::refuse_over(out, args.force)?;
    apart(&[("--out", out.clone())], &[a, b])?;
    let Two {
        first,
        second,
        lengths,
    } = Two::read(a, b, args.corpus.as_deref(), &Terminal::of(global))?;
    let (rows, merged) = merged(&first, &second);
    let found = agreement(&reviewed(&first), &reviewed(&second), &lengths);
    write_labels(out, &rows)?;
    if global.json {
        let told = serde_json::json!({"merged": merged, "agreement": found});
        return show::print(&told.to_string());
    }
    if !global.quiet {
        if found.both > 0 {
            let names = (a.display().to_string(), b.display().to_string());
            show::print(&show::prose(&words(&found, (&names.0, &names.1))))?;
        }
        show::print(&show::prose(&told(merged, out)))?;
    }
    let corpus = args.corpus.as_deref().map_or("CORPUS".into(), typed);
    let next = match merged.differ {
        0 => format!("deadloop check {corpus}"),
        _ => format!("deadloop label {corpus} --review --out {}", typed(out)),
    };
    show::next(&[&next], global)
}

fn told(merged: Merged, out: &Path) -> String {
    let Merged {
        same,
        differ,
        only_first,
        only_second,
        nobody,
    } = merged;
    format!(
        "{}: {} alike, {} reviewed by one alone, {} by nobody; {} differ, and are to be reviewed again",
        out.display(),
        count(same),
        count(only_first + only_second),
        count(nobody),
        count(differ)
    )
}
