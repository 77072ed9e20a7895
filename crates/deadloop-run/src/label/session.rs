//! [`ReviewSession`]: the state of a review, without terminal or file.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_score::{Class, LabelRow, REVIEW};

use super::rows::{class_confidence, describe_previous, main_row};

/// A command of the reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Answers with a class.
    Answer(Class),
    /// Accepts the proposed class, with the onset as the reviewer moved it.
    Accept,
    /// Moves the onset by a number of chars.
    Chars(i64),
    /// Moves the onset by a number of copies.
    Copies(i64),
    /// Takes the last answer back.
    Undo,
    /// Skips the transcript.
    Skip,
    /// Ends the review.
    Quit,
}

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEffect {
    /// The rows changed and must be saved.
    Save,
    /// Only the view changed.
    Show,
    /// The key had no effect, for this reason.
    Nothing(&'static str),
    /// The review ends.
    Quit,
}

/// A transcript to review.
struct ReviewItem {
    id: String,
    /// The rows before the review, which stay if the reviewer skips the transcript.
    rows: Vec<LabelRow>,
    confidence: f64,
}

/// The state of a review.
pub struct ReviewSession {
    /// The author of new rows.
    by: String,
    /// All rows to save, by transcript id.
    rows: BTreeMap<String, Vec<LabelRow>>,
    /// The transcript ids in the order of the file.
    order: Vec<String>,
    items: Vec<ReviewItem>,
    /// The index of the current item.
    current: usize,
    /// The main row of the current item with the reviewer's changes. `None` if the item has no rows.
    draft: Option<LabelRow>,
    /// The answered items with their rows before the answer, for undo.
    answered: Vec<(usize, Vec<LabelRow>)>,
}

impl ReviewSession {
    /// Creates a review of all transcripts without an answer, the most uncertain first. If `again`, answered
    /// transcripts are included. `only` restricts the review to these ids. Transcripts without a confidence come last.
    pub fn new(
        rows: Vec<LabelRow>,
        reviewer: &str,
        only: Option<&BTreeSet<String>>,
        again: bool,
    ) -> Self {
        let mut by_id: BTreeMap<String, Vec<LabelRow>> = BTreeMap::new();
        let mut order = Vec::new();
        for row in rows {
            if !by_id.contains_key(&row.transcript) {
                order.push(row.transcript.clone());
            }
            by_id.entry(row.transcript.clone()).or_default().push(row);
        }
        let open = |id: &&String| {
            let answered = by_id[*id].iter().all(|row| row.by.starts_with(REVIEW));
            (again || !answered) && only.is_none_or(|only| only.contains(*id))
        };
        let item = |id: &String| ReviewItem {
            id: id.clone(),
            rows: by_id[id].clone(),
            confidence: class_confidence(&by_id[id]),
        };
        let mut items: Vec<ReviewItem> = order.iter().filter(open).map(item).collect();
        items.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
        let mut session = Self {
            by: format!("{REVIEW}:{reviewer}"),
            rows: by_id,
            order,
            items,
            current: 0,
            draft: None,
            answered: Vec::new(),
        };
        session.load_draft();
        session
    }

    /// Returns the id of the transcript under review. `None` at the end.
    pub fn current(&self) -> Option<&str> {
        self.items.get(self.current).map(|item| item.id.as_str())
    }

    /// Returns the ids of up to `count` transcripts from the current one on.
    pub fn next(&self, count: usize) -> impl Iterator<Item = &str> {
        let items = self.items.iter().skip(self.current).take(count);
        items.map(|item| item.id.as_str())
    }

    /// Returns the rows of the current transcript, with the reviewer's changes.
    pub fn current_rows(&self) -> Vec<&LabelRow> {
        let item = self.items.get(self.current);
        let rows = item.map_or(&[][..], |item| &item.rows);
        let adjusted = self.draft.as_ref();
        let other = move |row: &&LabelRow| adjusted.is_none() || main_row(rows) != Some(*row);
        adjusted
            .into_iter()
            .chain(rows.iter().filter(other))
            .collect()
    }

    /// Sets the repetition whose onset the reviewer can move, if the current rows have none. `span` is a repetition
    /// that the finder rejected.
    pub(crate) fn suggest_repetition(&mut self, span: Option<LabelRow>) {
        if self.draft.as_ref().is_none_or(|row| row.onset.is_none()) {
            self.draft = span.or(self.draft.take());
        }
    }

    /// Returns the class of the current transcript before an answer.
    pub fn class(&self) -> Option<Class> {
        Some(main_row(&self.items.get(self.current)?.rows)?.class)
    }

    /// Returns the confidence of the current proposal, the number of transcripts before it, and the total.
    pub fn progress(&self) -> (f64, usize, usize) {
        let sure = self.items.get(self.current).map_or(1.0, |i| i.confidence);
        (sure, self.current, self.items.len())
    }

    /// Returns all rows in the order of the file, with the answers.
    pub fn rows(&self) -> Vec<LabelRow> {
        let rows = self.order.iter().filter_map(|id| self.rows.get(id));
        rows.flatten().cloned().collect()
    }

    /// Executes a command.
    pub fn press(&mut self, key: Key) -> KeyEffect {
        if self.current().is_none() && !matches!(key, Key::Undo | Key::Quit) {
            return KeyEffect::Nothing("all were looked at");
        }
        match key {
            Key::Answer(class) => self.record_answer(class),
            Key::Accept => match self.class() {
                Some(class) => self.record_answer(class),
                None => KeyEffect::Nothing("nothing is proposed here"),
            },
            Key::Chars(by) => self.move_onset(by),
            Key::Copies(by) => {
                let period = self.draft.as_ref().and_then(|row| row.period).unwrap_or(0);
                self.move_onset(by.saturating_mul(i64::try_from(period).unwrap_or(0)))
            }
            Key::Undo => self.undo_answer(),
            Key::Skip => {
                self.current += 1;
                self.load_draft();
                KeyEffect::Show
            }
            Key::Quit => KeyEffect::Quit,
        }
    }

    fn load_draft(&mut self) {
        let item = self.items.get(self.current);
        self.draft = item.and_then(|item| main_row(&item.rows)).cloned();
    }

    /// Moves the onset by a number of chars. The length of the first copy stays. The onset must leave room for this
    /// copy, and stay before the end of the repetition.
    fn move_onset(&mut self, by: i64) -> KeyEffect {
        let Some(row) = self.draft.as_mut() else {
            return KeyEffect::Nothing("there is no onset to move");
        };
        let period = row.period.unwrap_or(0);
        let moved = row.onset.and_then(|onset| onset.checked_add_signed(by));
        let fits = |at: &u64| *at >= period && row.end.is_none_or(|end| *at < end);
        let Some(onset) = moved.filter(fits) else {
            return KeyEffect::Nothing("the onset cannot go there");
        };
        row.onset = Some(onset);
        row.start = Some(onset - period);
        row.earliest = row.earliest.filter(|at| *at < onset);
        KeyEffect::Show
    }

    fn record_answer(&mut self, class: Class) -> KeyEffect {
        let Some(item) = self.items.get(self.current) else {
            return KeyEffect::Nothing("all were looked at");
        };
        let draft = self.draft.clone();
        if class == Class::Loop && draft.as_ref().is_none_or(|row| row.onset.is_none()) {
            return KeyEffect::Nothing("a loop needs an onset, and none is known here");
        }
        let answered_row = |row: LabelRow, class| LabelRow {
            class,
            by: self.by.clone(),
            note: describe_previous(&item.rows),
            ..row
        };
        let main = match (class, draft) {
            (Class::Clean, _) | (_, None) => LabelRow::new(&item.id, class, ""),
            (Class::Loop, Some(row)) => LabelRow { end: None, ..row },
            (_, Some(row)) => row,
        };
        let mut rows = vec![answered_row(main, class)];
        if matches!(class, Class::Loop | Class::Transient) {
            let main = main_row(&item.rows);
            let others = item.rows.iter().filter(|row| Some(*row) != main);
            rows.extend(others.map(|row| answered_row(row.clone(), row.class)));
        }
        self.rows.insert(item.id.clone(), rows);
        self.answered.push((self.current, item.rows.clone()));
        self.current += 1;
        self.load_draft();
        KeyEffect::Save
    }

    fn undo_answer(&mut self) -> KeyEffect {
        let Some((at, rows)) = self.answered.pop() else {
            return KeyEffect::Nothing("nothing was answered yet");
        };
        let Some(item) = self.items.get(at) else {
            return KeyEffect::Nothing("nothing was answered yet");
        };
        self.rows.insert(item.id.clone(), rows);
        self.current = at;
        self.load_draft();
        KeyEffect::Save
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::Channel;

    fn clean(id: &str, confidence: f64) -> LabelRow {
        let note = format!("confidence {confidence:.3}");
        LabelRow {
            note,
            ..LabelRow::new(id, Class::Clean, "auto")
        }
    }

    fn span(id: &str, class: Class, onset: u64, confidence: f64) -> LabelRow {
        LabelRow {
            class,
            channel: Some(Channel::Answer),
            start: Some(onset - 10),
            onset: Some(onset),
            earliest: Some(onset - 5),
            end: (class == Class::Transient).then_some(onset + 100),
            period: Some(10),
            ..clean(id, confidence)
        }
    }

    fn session() -> ReviewSession {
        let rows = vec![
            span("sure", Class::Loop, 50, 0.9),
            clean("doubt", 0.6),
            span("half", Class::Loop, 500, 0.7),
            span("half", Class::Transient, 100, 0.99),
        ];
        ReviewSession::new(rows, "ann", None, false)
    }

    fn rows_for<'r>(rows: &'r [LabelRow], id: &str) -> Vec<&'r LabelRow> {
        rows.iter().filter(|row| row.transcript == id).collect()
    }

    #[test]
    fn the_most_uncertain_comes_first_and_the_file_keeps_its_order() {
        let mut session = session();
        let order: Vec<&str> = session.next(9).collect();
        assert_eq!(order, ["doubt", "half", "sure"]);
        assert_eq!(session.press(Key::Answer(Class::Clean)), KeyEffect::Save);
        let rows = session.rows();
        let ids: Vec<&str> = rows.iter().map(|row| row.transcript.as_str()).collect();
        assert_eq!(ids, ["sure", "doubt", "half", "half"]);
        let row = rows_for(&rows, "doubt")[0];
        assert_eq!(row.by, "review:ann");
        assert_eq!(row.note, "was clean by auto, confidence 0.600");
        assert_eq!(session.current(), Some("half"));
    }

    #[test]
    fn an_adjusted_onset_is_what_is_answered_and_other_spans_stay() {
        let mut session = session();
        session.press(Key::Skip);
        for key in [Key::Chars(-1), Key::Chars(-1), Key::Copies(2)] {
            assert_eq!(session.press(key), KeyEffect::Show);
        }
        assert_eq!(session.current_rows()[0].onset, Some(518));
        assert_eq!(session.current_rows().len(), 2);
        session.press(Key::Answer(Class::Loop));
        let rows = session.rows();
        let half = rows_for(&rows, "half");
        assert_eq!((half[0].start, half[0].onset), (Some(508), Some(518)));
        assert_eq!(
            (half[0].class, half[1].class),
            (Class::Loop, Class::Transient)
        );
        assert!(half.iter().all(|row| row.by == "review:ann"));
    }

    #[test]
    fn a_clean_transcript_has_no_spans_and_an_unsure_one_keeps_its_own() {
        let mut session = session();
        session.press(Key::Skip);
        session.press(Key::Answer(Class::Clean));
        session.press(Key::Answer(Class::Unsure));
        let rows = session.rows();
        assert_eq!(rows_for(&rows, "half").len(), 1);
        assert_eq!(rows_for(&rows, "half")[0].onset, None);
        assert_eq!(rows_for(&rows, "sure")[0].class, Class::Unsure);
        assert_eq!(rows_for(&rows, "sure")[0].onset, Some(50));
    }

    #[test]
    fn undo_gives_back_what_was_there() {
        let mut session = session();
        let before = session.rows();
        session.press(Key::Answer(Class::Unsure));
        session.press(Key::Skip);
        session.press(Key::Answer(Class::Clean));
        assert_eq!(session.current(), None);
        assert_eq!(session.press(Key::Undo), KeyEffect::Save);
        assert_eq!(session.current(), Some("sure"));
        session.press(Key::Undo);
        assert_eq!(session.current(), Some("doubt"));
        assert_eq!(session.rows(), before);
        assert!(matches!(session.press(Key::Undo), KeyEffect::Nothing(_)));
    }

    #[test]
    fn what_was_answered_is_not_asked_again() {
        let mut first = session();
        first.press(Key::Answer(Class::Clean));
        let second = ReviewSession::new(first.rows(), "bob", None, false);
        let left: Vec<&str> = second.next(9).collect();
        assert_eq!(left, ["half", "sure"]);
        let only = BTreeSet::from(["sure".to_owned()]);
        assert_eq!(
            ReviewSession::new(first.rows(), "bob", Some(&only), false).current(),
            Some("sure")
        );
        let again = ReviewSession::new(first.rows(), "bob", None, true);
        assert_eq!(again.next(9).count(), 3);
    }

    #[test]
    fn a_proposal_is_accepted_with_the_onset_as_it_was_moved() {
        let mut session = session();
        assert_eq!(session.press(Key::Accept), KeyEffect::Save);
        session.press(Key::Chars(7));
        assert_eq!(session.press(Key::Accept), KeyEffect::Save);
        let rows = session.rows();
        let doubt = rows_for(&rows, "doubt")[0];
        assert_eq!(
            (doubt.class, doubt.by.as_str()),
            (Class::Clean, "review:ann")
        );
        let half = rows_for(&rows, "half");
        assert_eq!((half[0].class, half[0].onset), (Class::Loop, Some(507)));
        assert_eq!(
            half[1].class,
            Class::Transient,
            "the other span stays what it was"
        );
    }

    #[test]
    fn a_loop_needs_an_onset() {
        let mut session = session();
        assert!(matches!(
            session.press(Key::Answer(Class::Loop)),
            KeyEffect::Nothing(_)
        ));
        assert!(matches!(
            session.press(Key::Chars(1)),
            KeyEffect::Nothing(_)
        ));
        session.suggest_repetition(Some(span("doubt", Class::Loop, 30, 0.4)));
        assert_eq!(session.press(Key::Chars(1)), KeyEffect::Show);
        session.press(Key::Answer(Class::Loop));
        assert_eq!(rows_for(&session.rows(), "doubt")[0].onset, Some(31));
    }

    #[test]
    fn an_onset_stays_where_it_can_be() {
        let mut session = session();
        session.suggest_repetition(Some(span("doubt", Class::Transient, 30, 0.4)));
        for key in [
            Key::Copies(-3),
            Key::Copies(11),
            Key::Chars(i64::MIN),
            Key::Chars(i64::MAX),
        ] {
            assert!(
                matches!(session.press(key), KeyEffect::Nothing(_)),
                "{key:?}"
            );
        }
        session.press(Key::Copies(-2));
        let row = session.current_rows()[0];
        assert_eq!(
            (row.start, row.onset, row.earliest),
            (Some(0), Some(10), None)
        );
    }
}
