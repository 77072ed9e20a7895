//! A [`Case`] as bytes, and back.

use deadloop_replay::ChannelLengths;
use deadloop_replay::corpus::CopyKeys;
use deadloop_replay::detect::Fault;
use deadloop_replay::detect::{Channel, Kind};

use super::{
    ByteReader, NameTable, put_list, put_number, put_option, put_optional_float,
    put_optional_number, put_text,
};
use crate::truth::{Case, Class, Span, Timeline, Truth};

/// Writes a case.
pub(super) fn put_case(case: &Case, names: &mut NameTable, to: &mut Vec<u8>) {
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

/// Reads a case written by [`put_case`].
pub(super) fn read_case(from: &mut ByteReader<'_>, names: &NameTable) -> Case {
    let id = from.read_text().into();
    let model = names.read(from).unwrap_or_else(|| "".into());
    let [task, profile, lang, split, source] = [(); 5].map(|()| names.read(from));
    Case {
        id,
        model,
        task,
        profile,
        group: from.read_option(|from| from.read_text().into()),
        lang,
        split,
        source,
        by: from.read_list(|from| names.read(from).map(|value| value.to_string())),
        timeline: Timeline::read(from),
        timed: from.read_byte() != 0,
        truth: from.read_option(read_truth),
        text: read_hash(from),
        copied: CopyKeys {
            text: read_key(from),
            calls: from.read_option(read_key),
        },
    }
}

/// Writes a text hash of 16 hexadecimal digits as 8 bytes. Any other text is written as a text.
fn put_hash(text: &str, to: &mut Vec<u8>) {
    let bits = u64::from_str_radix(text, 16).ok();
    let hash = bits.filter(|bits| format!("{bits:016x}") == text);
    to.push(hash.is_some().into());
    match hash {
        Some(bits) => to.extend(bits.to_le_bytes()),
        None => put_text(text, to),
    }
}

fn read_hash(from: &mut ByteReader<'_>) -> Box<str> {
    match from.read_byte() {
        0 => from.read_text().into(),
        _ => format!("{:016x}", read_key(from)).into(),
    }
}

fn read_key(from: &mut ByteReader<'_>) -> u64 {
    u64::from_le_bytes(from.read_up_to(8).try_into().unwrap_or_default())
}

fn put_truth(truth: &Truth, to: &mut Vec<u8>) {
    put_index_of(&Class::ALL, truth.class, to);
    put_list(&truth.spans, put_span, to);
    let put_channel = |one: &Channel, to: &mut Vec<u8>| put_index_of(&Channel::ALL, *one, to);
    put_list(&truth.channels, put_channel, to);
    to.push(truth.reviewed.into());
}

fn read_truth(from: &mut ByteReader<'_>) -> Truth {
    Truth {
        class: read_by_index(&Class::ALL, from),
        spans: from.read_list(read_span),
        channels: from.read_list(|from| read_by_index(&Channel::ALL, from)),
        reviewed: from.read_byte() != 0,
    }
}

fn put_span(span: &Span, to: &mut Vec<u8>) {
    put_index_of(&Class::ALL, span.class, to);
    put_option(span.kind, put_kind, to);
    put_index_of(&Channel::ALL, span.channel, to);
    put_optional_number(span.start.map(|start| start.count()), to);
    for at in [span.onset, span.earliest, span.end] {
        put_number(at.count(), to);
    }
    to.push(span.open.into());
    put_optional_number(span.period, to);
    put_lengths(&span.seen, to);
    put_lengths(&span.until, to);
    put_optional_float(span.onset_ms, to);
    put_optional_number(span.onset_tokens, to);
}

fn read_span(from: &mut ByteReader<'_>) -> Span {
    let class = read_by_index(&Class::ALL, from);
    let kind = from.read_option(read_kind);
    let channel: Channel = read_by_index(&Channel::ALL, from);
    let start = from.read_optional_number().map(|at| channel.units(at));
    let [onset, earliest, end] = [(); 3].map(|()| channel.units(from.read_number()));
    Span {
        class,
        kind,
        channel,
        start,
        onset,
        earliest,
        end,
        open: from.read_byte() != 0,
        period: from.read_optional_number(),
        seen: read_lengths(from),
        until: read_lengths(from),
        onset_ms: from.read_optional_float(),
        onset_tokens: from.read_optional_number(),
    }
}

/// Writes a kind as a number. The kinds of loops come before those of faults.
pub(crate) fn put_kind(kind: Kind, to: &mut Vec<u8>) {
    match kind {
        Kind::Fault(fault) => {
            put_number(Kind::ALL.len() as u64, to);
            put_index_of(&Fault::ALL, fault, to);
        }
        of_loop => put_index_of(&Kind::ALL, of_loop, to),
    }
}

/// Reads a kind written by [`put_kind`].
pub(crate) fn read_kind(from: &mut ByteReader<'_>) -> Kind {
    match Kind::ALL.get(from.read_size()) {
        Some(of_loop) => *of_loop,
        None => Kind::Fault(read_by_index(&Fault::ALL, from)),
    }
}

/// Writes the lengths of all channels.
pub(crate) fn put_lengths(seen: &ChannelLengths, to: &mut Vec<u8>) {
    for channel in Channel::ALL {
        put_number(seen.count(channel), to);
    }
}

/// Reads the lengths written by [`put_lengths`].
pub(crate) fn read_lengths(from: &mut ByteReader<'_>) -> ChannelLengths {
    let all = Channel::ALL.into_iter();
    all.fold(ChannelLengths::default(), |seen, channel| {
        seen.plus(channel, from.read_number())
    })
}

/// Writes the index of a value in the list of all values.
pub(crate) fn put_index_of<T: PartialEq>(all: &[T], value: T, to: &mut Vec<u8>) {
    let index = all.iter().position(|other| *other == value);
    put_number(index.unwrap_or(0) as u64, to);
}

/// Reads a value written by [`put_index_of`].
pub(crate) fn read_by_index<T: Copy, const N: usize>(all: &[T; N], from: &mut ByteReader<'_>) -> T {
    let index = from.read_size();
    all[index.min(N - 1)]
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
            put_case(&case, &mut names, &mut bytes);
            let mut from = ByteReader(&bytes);
            assert_eq!((read_case(&mut from, &names), from.0.len()), (case, 0));
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
        let back: Vec<Kind> = kinds.iter().map(|_| read_kind(&mut from)).collect();
        assert_eq!((back, from.0.len()), (kinds, 0));
    }
}
