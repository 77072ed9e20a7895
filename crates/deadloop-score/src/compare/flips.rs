//! [`Flip`]: a transcript whose alarm differs between the two sides.

use deadloop_tables::{CsvWriter, Schema, schema};
use serde::{Deserialize, Serialize};

use super::pairs::TranscriptPair;
use super::side::{JudgedSpan, SideOutcome, rank_verdict, to_owned_text};
use crate::judge::Verdict;

/// A transcript whose alarm or verdict differs between the two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flip {
    /// The transcript's id.
    pub transcript: String,
    /// The transcript's model.
    pub model: String,
    /// The class of the transcript's label.
    pub class: Option<String>,
    /// The loop by which the alarms were judged.
    #[serde(flatten)]
    pub span: JudgedSpan,
    /// The part of the outcome that differs: the verdict, or the alarm alone.
    pub change: Change,
    /// The direction of the difference: NEW is better, worse or neither.
    pub direction: Direction,
    /// The alarm and the verdict of BASE.
    pub base: SideOutcome,
    /// The alarm and the verdict of NEW.
    pub new: SideOutcome,
    /// The command that explains the difference. Set by callers that have the paths of the settings.
    pub explain: Option<String>,
}

deadloop_replay::detect::words! {
    /// The part of an outcome that differs.
    pub enum Change {
        /// The verdict.
        Flip = "flip",
        /// The position, channel or kind of the alarm, under the same verdict.
        Moved = "moved",
    }

    /// The direction of a difference.
    pub enum Direction {
        /// Worse on NEW.
        Worse = "worse",
        /// Better on NEW.
        Better = "better",
        /// Neither better nor worse.
        Neutral = "neutral",
    }
}

/// Returns the content of `flips.csv`.
///
/// # Errors
/// The rows cannot be written.
pub fn flips_csv(flips: &[Flip]) -> Result<Vec<u8>, csv::Error> {
    let mut file = CsvWriter::new(Vec::new());
    file.write(&flip_schema().frame(flips))?;
    file.finish()
}

/// Returns the columns of `flips.csv`.
pub(crate) fn flip_schema() -> Schema<Flip> {
    let mut list = schema![Flip;
        ("transcript", Text, "The transcript's id.", |flip| &flip.transcript),
        ("model", Text, "Its model.", |flip| &flip.model),
        ("class", Text, "The class of its label.", |flip| flip.class.as_ref()),
        ("kind", Text, "The kind of its loop.", |flip| flip.span.kind.as_ref()),
        ("channel", Text, "The channel of the loop.", |flip| flip.span.channel.as_ref()),
        ("onset", Int["units of the channel"], "Where the second copy starts.", |flip| flip.span.onset),
        ("end", Int["units of the channel"], "Where the loop ends.", |flip| flip.span.end),
        ("change", Text, "flip: another verdict; moved: only another alarm.", |flip| flip.change.name()),
        ("direction", Text, "Whether NEW is better or worse on it; neutral: neither.", |flip| flip.direction.name()),
    ];
    list.extend(side_columns("base", |flip| &flip.base));
    list.extend(side_columns("new", |flip| &flip.new));
    list.extend(schema![Flip;
        ("explain", Text, "The command that shows why.", |flip| flip.explain.as_ref()),
    ]);
    list
}

/// Returns the columns of `flips.csv` for one side.
fn side_columns(side: &str, outcome_of: fn(&Flip) -> &SideOutcome) -> Schema<Flip> {
    let name = |column: &str| format!("{side}_{column}");
    let whose = side.to_uppercase();
    let about = |text: &str| format!("{whose}: {text}.");
    schema![Flip;
        (name("verdict"), Text, about("what became of it"), |flip| outcome_of(flip).verdict.name()),
        (name("alarm_at"), Int["units of the channel"], about("where the alarm came"), |flip| outcome_of(flip).alarm_at),
        (name("alarm_channel"), Text, about("the alarm's channel"), |flip| outcome_of(flip).alarm_channel.as_ref()),
        (name("alarm_kind"), Text, about("the kind of loop that the alarm claims"), |flip| outcome_of(flip).alarm_kind.as_ref()),
        (name("detector"), Text, about("the guard that alarmed"), |flip| outcome_of(flip).detector.as_ref()),
    ]
}

/// Returns the flips of all pairs of transcripts, in the order of the corpus.
pub(crate) fn find_flips(pairs: &[TranscriptPair]) -> Vec<Flip> {
    pairs.iter().filter_map(compare_pair).collect()
}

/// Returns the difference between the two outcomes of a transcript, if they differ.
fn compare_pair(pair: &TranscriptPair) -> Option<Flip> {
    let TranscriptPair { base, new, .. } = pair;
    let change = if base.verdict != new.verdict {
        Change::Flip
    } else if base.alarm_at != new.alarm_at
        || base.alarm_channel != new.alarm_channel
        || base.alarm_kind != new.alarm_kind
    {
        Change::Moved
    } else {
        return None;
    };
    let alarms = [base, new].map(|row| row.side_outcome());
    // The charged span can depend on the alarm. So the span of the side with a hit is shown.
    let found = alarms.each_ref().map(|alarm| alarm.verdict == Verdict::Hit);
    let span = if found[1] && !found[0] { new } else { base }.judged_span();
    let direction = compare_sides(&alarms[0], &alarms[1]);
    let [base_outcome, new_outcome] = alarms;
    Some(Flip {
        transcript: base.id().to_owned(),
        model: to_owned_text(&base.model).unwrap_or_default(),
        class: to_owned_text(&base.class).or(to_owned_text(&new.class)),
        span,
        change,
        direction,
        base: base_outcome,
        new: new_outcome,
        explain: None,
    })
}

fn compare_sides(base: &SideOutcome, new: &SideOutcome) -> Direction {
    let (Some(a), Some(b)) = (rank_verdict(base.verdict), rank_verdict(new.verdict)) else {
        return Direction::Neutral;
    };
    let later = match (base.verdict, base.alarm_channel == new.alarm_channel) {
        (Verdict::Hit, true) => base.alarm_at.cmp(&new.alarm_at),
        _ => std::cmp::Ordering::Equal,
    };
    match b.cmp(&a).then(later) {
        std::cmp::Ordering::Less => Direction::Worse,
        std::cmp::Ordering::Greater => Direction::Better,
        std::cmp::Ordering::Equal => Direction::Neutral,
    }
}
