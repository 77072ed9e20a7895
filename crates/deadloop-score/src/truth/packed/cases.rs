//! A [`Case`] as bytes.

use deadloop_replay::ChannelLengths;
use deadloop_replay::corpus::CopyKeys;
use deadloop_replay::detect::Fault;
use deadloop_replay::detect::{Channel, Kind};

use super::{
    ByteReader, NameTable, put_float, put_list, put_maybe, put_number, put_option, put_text,
};
use crate::truth::{Case, Class, Span, Timeline, Truth};

/// Writes a case.
pub(super) fn put(case: &Case, names: &mut NameTable, to: &mut Vec<u8>) {
    put_text(&case.id, to);
    names.put(Some(&case.model), to);
    for name in [
        &case.task,
        &case.profile,
        &case.lang,
        &case.split,
        &case.source,
    ] {
        names.put(name.as_ref(), to);
    }
    put_option(case.group.as_deref(), put_text, to);
    let put_value = |value: &Option<String>, to: &mut Vec<u8>| {
        names.put(value.as_deref().map(Into::into).as_ref(), to);
    };
    put_list(&case.by, put_value, to);
    case.timeline.put(to);
    to.push(case.timed.into());
    put_option(case.truth.as_ref(), put_truth, to);
    put_hash(&case.text, to);
    to.extend(case.copied.text.to_le_bytes());
    let put_key = |key: u64, to: &mut Vec<u8>| to.extend(key.to_le_bytes());
    put_option(case.copied.calls, put_key, to);
}

/// Reads a case of [`put`].
pub(super) fn take(from: &mut ByteReader<'_>, names: &NameTable) -> Case {
    let id = from.text().into();
    let model = names.take(from).unwrap_or_else(|| "".into());
    let [task, profile, lang, split, source] = [(); 5].map(|()| names.take(from));
    Case {
        id,
        model,
        task,
        profile,
        group: from.option(|from| from.text().into()),
        lang,
        split,
        source,
        by: from.list(|from| names.take(from).map(|value| value.to_string())),
        timeline: Timeline::take(from),
        timed: from.byte() != 0,
        truth: from.option(take_truth),
        text: take_hash(from),
        copied: CopyKeys {
            text: take_key(from),
            calls: from.option(take_key),
        },
    }
}

/// Writes a text hash of 16 hexadecimal digits as 8 bytes. Any other text is written as it is.
fn put_hash(text: &str, to: &mut Vec<u8>) {
    let bits = u64::from_str_radix(text, 16).ok();
    let hash = bits.filter(|bits| format!("{bits:016x}") == text);
    to.push(hash.is_some().into());
    match hash {
        Some(bits) => to.extend(bits.to_le_bytes()),
        None => put_text(text, to),
    }
}

fn take_hash(from: &mut ByteReader<'_>) -> Box<str> {
    match from.byte() {
        0 => from.text().into(),
        _ => format!("{:016x}", take_key(from)).into(),
    }
}

fn take_key(from: &mut ByteReader<'_>) -> u64 {
    u64::from_le_bytes(from.read_up_to(8).try_into().unwrap_or_default())
}

fn put_truth(truth: &Truth, to: &mut Vec<u8>) {
    put_place(&Class::ALL, truth.class, to);
    put_list(&truth.spans, put_span, to);
    let put_channel = |channel: &Channel, to: &mut Vec<u8>| put_place(&Channel::ALL, *channel, to);
    put_list(&truth.channels, put_channel, to);
    to.push(truth.reviewed.into());
}

fn take_truth(from: &mut ByteReader<'_>) -> Truth {
    Truth {
        class: take_place(&Class::ALL, from),
        spans: from.list(take_span),
        channels: from.list(|from| take_place(&Channel::ALL, from)),
        reviewed: from.byte() != 0,
    }
}

fn put_span(span: &Span, to: &mut Vec<u8>) {
    put_place(&Class::ALL, span.class, to);
    put_option(span.kind, put_kind, to);
    put_place(&Channel::ALL, span.channel, to);
    put_maybe(span.start.map(|start| start.count()), to);
    for at in [span.onset, span.earliest, span.end] {
        put_number(at.count(), to);
    }
    to.push(span.open.into());
    put_maybe(span.period, to);
    put_seen(&span.seen, to);
    put_seen(&span.until, to);
    put_float(span.onset_ms, to);
    put_maybe(span.onset_tokens, to);
}

fn take_span(from: &mut ByteReader<'_>) -> Span {
    let class = take_place(&Class::ALL, from);
    let kind = from.option(take_kind);
    let channel: Channel = take_place(&Channel::ALL, from);
    let start = from.maybe().map(|at| channel.units(at));
    let [onset, earliest, end] = [(); 3].map(|()| channel.units(from.number()));
    Span {
        class,
        kind,
        channel,
        start,
        onset,
        earliest,
        end,
        open: from.byte() != 0,
        period: from.maybe(),
        seen: take_seen(from),
        until: take_seen(from),
        onset_ms: from.float(),
        onset_tokens: from.maybe(),
    }
}

/// Writes the number of a kind: kinds of loops, then of faults.
pub(crate) fn put_kind(kind: Kind, to: &mut Vec<u8>) {
    match kind {
        Kind::Fault(fault) => {
            put_number(Kind::ALL.len() as u64, to);
            put_place(&Fault::ALL, fault, to);
        }
        of_loop => put_place(&Kind::ALL, of_loop, to),
    }
}

/// Reads a kind of [`put_kind`].
pub(crate) fn take_kind(from: &mut ByteReader<'_>) -> Kind {
    match Kind::ALL.get(from.size()) {
        Some(of_loop) => *of_loop,
        None => Kind::Fault(take_place(&Fault::ALL, from)),
    }
}

/// Writes the lengths of all channels.
pub(crate) fn put_seen(seen: &ChannelLengths, to: &mut Vec<u8>) {
    for channel in Channel::ALL {
        put_number(seen.count(channel), to);
    }
}

/// Reads the lengths of [`put_seen`].
pub(crate) fn take_seen(from: &mut ByteReader<'_>) -> ChannelLengths {
    let all = Channel::ALL.into_iter();
    all.fold(ChannelLengths::default(), |seen, channel| {
        seen.plus(channel, from.number())
    })
}

/// Writes the place of a value among all values.
pub(crate) fn put_place<T: PartialEq>(all: &[T], one: T, to: &mut Vec<u8>) {
    let place = all.iter().position(|other| *other == one);
    put_number(place.unwrap_or(0) as u64, to);
}

/// Reads a value of [`put_place`].
pub(crate) fn take_place<T: Copy, const N: usize>(all: &[T; N], from: &mut ByteReader<'_>) -> T {
    let place = from.size();
    all[place.min(N - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_comes_back() {
        for task in [None, Some("code")] {
            let case = Case {
                task: task.map(Into::into),
                ..crate::truth::case("t", Some(Class::Loop))
            };
            let (mut names, mut bytes) = (NameTable::default(), Vec::new());
            put(&case, &mut names, &mut bytes);
            let mut from = ByteReader(&bytes);
            assert_eq!((take(&mut from, &names), from.0.len()), (case, 0));
        }
    }

    #[test]
    fn every_kind_comes_back() {
        let kinds: Vec<Kind> = Kind::ALL
            .into_iter()
            .chain(Fault::ALL.map(Kind::Fault))
            .collect();
        let mut bytes = Vec::new();
        kinds.iter().for_each(|kind| put_kind(*kind, &mut bytes));
        let mut from = ByteReader(&bytes);
        let back: Vec<Kind> = kinds.iter().map(|_| take_kind(&mut from)).collect();
        assert_eq!((back, from.0.len()), (kinds, 0));
    }
}
