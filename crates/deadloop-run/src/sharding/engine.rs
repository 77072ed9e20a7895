//! Lines that an engine made: what `Plan.records` of the Python package wrote on the machines of a cluster, in the order of
//! the corpus, in place of a replay here. The first line of the file says of which plan and labels they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Shard, read_file};
use deadloop_replay::Subject;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::lines::{Line, Reader, Writer};
use crate::failure::{Code, Failure, RunResult};
use crate::request::Request;

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// The version of deadloop.
    deadloop: String,
    /// The plan's fingerprint.
    plan: String,
    /// The SHA-256 of each file beside the transcripts that the plan was given, by its name.
    sides: BTreeMap<String, String>,
}

/// The names of the files beside the transcripts.
const SIDES: [&str; 3] = ["dataset.toml", "labels.csv", "splits.csv"];

/// Takes the lines in `from` for those of a shard; how many there are.
///
/// # Errors
/// They are of another plan, version or corpus, out of order, or no lines of a part; or the command asks for what an
/// engine was not told.
pub(super) fn take<S: Subject>(
    request: &Request<'_>,
    subject: &S,
    (files, shard): (&[PathBuf], Shard),
    (from, into): (&Path, &mut Writer),
) -> RunResult<u64> {
    let selection = request.selection()?;
    let narrowed = !selection.models.is_empty()
        || selection.split.is_some()
        || selection.lang.is_some()
        || !selection.wheres.is_empty();
    if narrowed || request.judging.chunks.is_some() {
        return Err(refused(
            "`records`: an engine replays all transcripts as they were recorded; leave out the filters and `chunks`",
        ));
    }
    let mut reader = Reader::plain(from)?;
    let head: Option<Head> = reader.next()?;
    let head = head.ok_or_else(|| reader.broken("it is empty"))?;
    fits(&head, &subject.fingerprint(), request.corpus)
        .map_err(|what| refused(&format!("{}: {what}", from.display())))?;
    let mut last = None;
    while let Some(line) = reader.next::<Line<S::Said>>()? {
        if last.is_some_and(|last| last >= line.at) {
            return Err(reader.broken("a record out of its order, or twice; sort by file and line"));
        }
        if line.at.0 >= files.len() || !shard.has(line.at.0) {
            return Err(reader.broken("a record of no file of this shard"));
        }
        last = Some(line.at);
        into.push(reader.text())?;
    }
    Ok(into.lines)
}

fn refused(what: &str) -> Failure {
    Code::Usage.error(what)
}

/// Why the lines are not of this plan and corpus.
fn fits(head: &Head, subject: &str, corpus: &Path) -> Result<(), String> {
    let own = env!("CARGO_PKG_VERSION");
    if head.deadloop != own {
        let theirs = &head.deadloop;
        return Err(format!(
            "made by deadloop {theirs}, and this is {own}; install one version on the cluster and here"
        ));
    }
    if head.plan != subject {
        return Err("made for another grid; give Plan the text of `grid`".into());
    }
    if sides(corpus) == head.sides {
        Ok(())
    } else {
        Err(format!(
            "made with other labels; give Plan the texts of {} beside the transcripts",
            SIDES.join(", ")
        ))
    }
}

/// What is beside the transcripts of a corpus.
fn sides(corpus: &Path) -> BTreeMap<String, String> {
    let side = |name: &&str| {
        let bytes = read_file(&corpus.join(name)).ok()?;
        let hex = Sha256::digest(bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        Some(((*name).to_owned(), hex))
    };
    SIDES.iter().filter_map(side).collect()
}
