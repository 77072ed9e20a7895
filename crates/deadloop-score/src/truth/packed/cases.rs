//! A [`Case`] as bytes.

use deadloop_replay::Seen;
use deadloop_replay::detect::repair::Fault;
use deadloop_replay::detect::{Calls, Channel, Chars, Kind, Turns};

use super::{Bytes, Shared, put_float, put_maybe, put_number, put_text};
use crate::truth::{Case, Class, Gauges, Span, Timeline, Truth};

/// Puts a case.
pub(super) fn put(case: &Case, names: &mut Shared, to: &mut Vec<u8>) {
    put_text(&case.id, to);
    names.put(Some(&case.model), to);
    for name in [&case.profile, &case.lang, &case.split] {
        names.put(name.as_ref(), to);
    }
    put_option(case.group.as_deref(), put_text, to);
    put_number(case.by.len() as u64, to);
    for value in &case.by {
        names.put(value.as_deref().map(Into::into).as_ref(), to);
    }
    case.timeline.put(to);
    to.push(case.timed.into());
    put_option(case.truth.as_ref(), put_truth, to);
    put_option(case.gauges.as_deref(), Gauges::put, to);
    put_hash(&case.text, to);
}

/// Takes what [`put`] put.
pub(super) fn take(from: &mut Bytes<'_>, names: &Shared) -> Case {
    let id = from.text().into();
    let model = names.take(from).unwrap_or_else(|| "".into());
    let [profile, lang, split] = [(); 3].map(|()| names.take(from));
    Case {
        id,
        model,
        profile,
        group: take_option(from, |from| from.text().into()),
        lang,
        split,
        by: {
            let value = |from: &mut Bytes<'_>| names.take(from).map(|value| value.to_string());
            take_list(from, value)
        },
        timeline: Timeline::take(from),
        timed: from.byte() != 0,
        truth: take_option(from, take_truth),
        gauges: take_option(from, |from| Box::new(Gauges::take(from))),
        text: take_hash(from),
    }
}

fn put_option<T>(value: Option<T>, put: impl FnOnce(T, &mut Vec<u8>), to: &mut Vec<u8>) {
    to.push(value.is_some().into());
    if let Some(value) = value {
        put(value, to);
    }
}

fn take_option<'a, T>(from: &mut Bytes<'a>, take: impl FnOnce(&mut Bytes<'a>) -> T) -> Option<T> {
    (from.byte() != 0).then(|| take(from))
}

fn take_list<'a, T>(from: &mut Bytes<'a>, mut take: impl FnMut(&mut Bytes<'a>) -> T) -> Vec<T> {
    let many = from.size();
    (0..many).map(|_| take(from)).collect()
}

/// A hash of a text is 16 hexadecimal digits; whatever else stands there is kept as it is.
fn put_hash(text: &str, to: &mut Vec<u8>) {
    let bits = u64::from_str_radix(text, 16).ok();
    let hash = bits.filter(|bits| format!("{bits:016x}") == text);
    to.push(hash.is_some().into());
    match hash {
        Some(bits) => to.extend(bits.to_le_bytes()),
        None => put_text(text, to),
    }
}

fn take_hash(from: &mut Bytes<'_>) -> Box<str> {
    match from.byte() {
        0 => from.text().into(),
        _ => {
            let bits = from.some(8).try_into().unwrap_or_default();
            format!("{:016x}", u64::from_le_bytes(bits)).into()
        }
    }
}

fn put_truth(truth: &Truth, to: &mut Vec<u8>) {
    put_place(&Class::ALL, truth.class, to);
    put_number(truth.spans.len() as u64, to);
    truth.spans.iter().for_each(|span| put_span(span, to));
    put_number(truth.channels.len() as u64, to);
    for channel in &truth.channels {
        put_place(&Channel::ALL, *channel, to);
    }
}

fn take_truth(from: &mut Bytes<'_>) -> Truth {
    Truth {
        class: take_place(&Class::ALL, from),
        spans: take_list(from, take_span),
        channels: take_list(from, |from| take_place(&Channel::ALL, from)),
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

fn take_span(from: &mut Bytes<'_>) -> Span {
    let class = take_place(&Class::ALL, from);
    let kind = take_option(from, take_kind);
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

/// Puts a kind by its place: those of loops, then those of faults.
pub(crate) fn put_kind(kind: Kind, to: &mut Vec<u8>) {
    match kind {
        Kind::Fault(fault) => {
            put_number(Kind::ALL.len() as u64, to);
            put_place(&Fault::ALL, fault, to);
        }
        of_loop => put_place(&Kind::ALL, of_loop, to),
    }
}

/// Takes what [`put_kind`] put.
pub(crate) fn take_kind(from: &mut Bytes<'_>) -> Kind {
    match Kind::ALL.get(from.size()) {
        Some(of_loop) => *of_loop,
        None => Kind::Fault(take_place(&Fault::ALL, from)),
    }
}

/// Puts what had arrived.
pub(crate) fn put_seen(seen: &Seen, to: &mut Vec<u8>) {
    for channel in Channel::ALL {
        put_number(seen.count(channel), to);
    }
}

/// Takes what [`put_seen`] put.
pub(crate) fn take_seen(from: &mut Bytes<'_>) -> Seen {
    let mut seen = Seen::default();
    for channel in Channel::ALL {
        let many = from.number();
        match channel {
            Channel::Reasoning => seen.reasoning = Chars(many),
            Channel::Answer => seen.answer = Chars(many),
            Channel::Arguments => seen.arguments = Chars(many),
            Channel::Tools => seen.tools = Calls(many),
            Channel::Turns => seen.turns = Turns(many),
        }
    }
    seen
}

/// Puts one of a few by its place among all.
pub(crate) fn put_place<T: PartialEq>(all: &[T], one: T, to: &mut Vec<u8>) {
    let place = all.iter().position(|other| *other == one);
    put_number(place.unwrap_or(0) as u64, to);
}

/// Takes what [`put_place`] put.
pub(crate) fn take_place<T: Copy, const N: usize>(all: &[T; N], from: &mut Bytes<'_>) -> T {
    let place = from.size();
    all[place.min(N - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back() {
        let kinds: Vec<Kind> = Kind::ALL
            .into_iter()
            .chain(Fault::ALL.map(Kind::Fault))
            .collect();
        let mut bytes = Vec::new();
        kinds.iter().for_each(|kind| put_kind(*kind, &mut bytes));
        let mut from = Bytes(&bytes);
        let back: Vec<Kind> = kinds.iter().map(|_| take_kind(&mut from)).collect();
        assert_eq!((back, from.0.len()), (kinds, 0));
    }
}
