//! The check for loops whose copies differ in numbers without a counter.

use deadloop_detect::Channel;
use deadloop_finder::selection::find;
use deadloop_finder::views::NumberChange;
use deadloop_score::Class;

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::words::count;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "folded-numbers",
    severity: Severity::Note,
    title: "loop labels that rest on folded numbers",
    why: "the copies are alike only without their numbers, which do not count on: rows of a table or of a log look like that",
    advice: CheckAdvice::Plain("read them; label clean what was asked for"),
    find: CheckFn::Text(find_copies_of_data),
};

fn find_copies_of_data(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    if checked_text.case.class() != Some(Class::Loop) {
        return None;
    }
    Channel::TEXT.into_iter().find_map(|channel| {
        let found = find(&checked_text.text(channel).iter().collect::<String>());
        let last = found.spans.last().filter(|span| span.end.is_none())?;
        (last.numbers == NumberChange::Data).then(|| {
            format!(
                "copies of {} chars in {channel} from {} on, whose numbers differ",
                count(last.period as u64),
                count(last.start as u64),
            )
        })
    })
}
