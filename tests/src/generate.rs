//! Generated text, settings and grids. Values come from the registry's own domains, so a new
//! detector is generated for without a change here.

use deadloop_corpus::Body;
use deadloop_detect::harness::{
    DETECTORS, Detector, Domain, Measurement, Member, ParamRole, Params,
};
use deadloop_detect::{Channel, Response, Setting, Value};
use deadloop_replay::{Grid, GridMember};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Text that loops, nearly loops, or does not: units of few letters, Chinese, emoji, lists with
/// rising numbers, fences and blank lines, some of them repeated.
pub fn text() -> impl Strategy<Value = String> {
    let word = select(vec![
        "a",
        "b",
        "ab",
        "思考",
        "思",
        "哈",
        "é",
        "😀",
        " ",
        "\n",
        "\n\n",
        ". ",
        "。",
        "；",
        "1. ",
        "2. ",
        "12. x",
        "2) ",
        "三、",
        "（二）",
        "第九条",
        "b. ",
        "  ",
        "Case 7: ",
        "9",
        "```\n",
        "\n```rust\n",
        "the same sentence",
        "我需要分析",
        "-",
        "|",
        "{}",
        "\u{0}",
        "\r\n",
    ]);
    let unit = vec(word, 1..5).prop_map(|words| words.concat());
    let stretch = prop_oneof![
        2 => (unit.clone(), 1..40_usize).prop_map(|(unit, n)| unit.repeat(n)),
        1 => (unit.clone(), 1..15_usize).prop_map(|(unit, n)| {
            (1..=n).map(|i| format!("{i}. {unit}\n")).collect()
        }),
        1 => (unit.clone(), 1..15_usize).prop_map(|(unit, n)| {
            (1..=n).map(|i| format!("{unit}{} ", 3 * i)).collect()
        }),
        2 => unit,
        1 => ".{0,12}".prop_map(|s: String| s),
    ];
    vec(stretch, 0..8).prop_map(|parts| parts.concat())
}

/// Texts on both channels, in turn.
pub fn pieces() -> impl Strategy<Value = Vec<(Channel, String)>> {
    vec((select(Channel::TEXT.to_vec()), text()), 0..4)
}

/// A value of a domain, small where numbers are meant: texts here are short.
fn value(domain: Domain) -> BoxedStrategy<Value> {
    let int = |min: i64, max: i64| (min..=max.min(min + 30)).prop_map(Value::Int);
    let word =
        |words: &'static [&'static str]| select(words.to_vec()).prop_map(|w| Value::Text(w.into()));
    let text = |texts: &[&str]| {
        select(texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>()).prop_map(Value::Text)
    };
    let patterns = ["^\\s*\\d+\\.\\s*", "^-", "a+", "^x|y$"];
    match domain {
        Domain::Int { min, max } => {
            prop_oneof![3 => int(min, max), 1 => (min..=max.min(min + 200)).prop_map(Value::Int)]
                .boxed()
        }
        Domain::Flag => any::<bool>().prop_map(Value::Bool).boxed(),
        Domain::Word(words) => word(words).boxed(),
        Domain::WordOrInt { words, min, max } => {
            prop_oneof![word(words), (min..=max.min(min + 150)).prop_map(Value::Int)].boxed()
        }
        Domain::Words(words) => proptest::sample::subsequence(words, 0..=words.len())
            .prop_map(|words| Value::List(words.iter().map(|w| Value::Text((*w).into())).collect()))
            .boxed(),
        Domain::Rising { min, .. } => proptest::collection::btree_set(min..min + 250, 1..5)
            .prop_map(|set| Value::List(set.into_iter().map(Value::Int).collect()))
            .boxed(),
        Domain::CharSet => text(&["。.；;！!？?\n", ".", "ab", "\n"]).boxed(),
        Domain::Regex => text(&patterns).boxed(),
        Domain::Regexes => vec(text(&["^-", "^$", r"^\d+\. ", "same"]), 0..3)
            .prop_map(Value::List)
            .boxed(),
        Domain::Texts => vec(text(&["en", "zh", "a", "b. ab", "思考"]), 0..3)
            .prop_map(Value::List)
            .boxed(),
        Domain::Globs => vec(text(&["*", "a*", "[ab]", "wait"]), 0..3)
            .prop_map(Value::List)
            .boxed(),
        // A hundredth is enough to tell values apart, and prints short.
        Domain::Float { min, max } => (0..=100_i32)
            .prop_map(move |i| {
                Value::Float(((min + (max - min) * f64::from(i) / 100.0) * 100.0).round() / 100.0)
            })
            .boxed(),
        Domain::Rows(fields) => vec(row(fields), 0..3).prop_map(Value::List).boxed(),
        // Of detectors that are programs, for which no settings are generated.
        Domain::Program | Domain::Free => Just(Value::List(vec![])).boxed(),
    }
}

/// A possible member of a detector, each parameter at its default or at a value of its domain.
pub fn member(detector: &'static Detector) -> impl Strategy<Value = Member> {
    let one = |p: &'static deadloop_detect::harness::Param| prop_oneof![1 => Just(Value::from(p.default)), 2 => value(p.domain)];
    let values: Vec<_> = detector.params.iter().map(one).collect();
    let channels = detector.all_channels().iter().copied().map(Some);
    let channel = select([None].into_iter().chain(channels).collect::<Vec<_>>());
    (values, channel).prop_filter_map("can fire", move |(values, channel)| {
        let mut params = Params::defaults(detector.params);
        for (param, value) in detector.params.iter().zip(values) {
            params.set(param.name, value);
        }
        let member = Member {
            channel,
            response: Response::Stop,
            ..Member::new(detector, params)
        };
        member.check().is_ok().then_some(member)
    })
}

/// The detectors that measure text: what the laws are about.
pub fn text_detectors() -> Vec<&'static Detector> {
    let text = |d: &&'static Detector| matches!(d.measure, Measurement::Text(_));
    DETECTORS.iter().copied().filter(text).collect()
}

/// The detectors that read whole runs.
pub fn run_detectors() -> Vec<&'static Detector> {
    let run = |d: &&'static Detector| matches!(d.measure, Measurement::Run(..));
    DETECTORS.iter().copied().filter(run).collect()
}

/// A guard of one to three members: detectors of runs, and of text.
pub fn run_setting() -> impl Strategy<Value = Setting> {
    let run = select(run_detectors()).prop_flat_map(member);
    let text = select(text_detectors()).prop_flat_map(member);
    vec(prop_oneof![3 => run, 1 => text], 1..4).prop_map(|members| Setting { members })
}

/// A run of an agent: few tools, few arguments, few results, so that much comes again; ids that are met again, and
/// results of no call.
pub fn run() -> impl Strategy<Value = Vec<Body>> {
    let id = (0..4_u8).prop_map(|n| Some(format!("c{n}")));
    let tool = select(vec!["ls", "wait", "read"]);
    let arguments = select(vec![
        r#"{"a":1,"b":2}"#,
        r#"{"b":2,"a":1}"#,
        "ls -l",
        " ls -l ",
    ]);
    let call = (id.clone(), tool, arguments).prop_map(|(id, name, text)| Body::ToolCall {
        id,
        name: name.into(),
        arguments: serde_json::Value::String(text.into()),
    });
    let result = (
        id,
        select(vec!["12:30:05", "12:31:00", "no"]),
        any::<Option<bool>>(),
    );
    let result = result.prop_map(|(id, content, error)| Body::ToolResult {
        id,
        content: content.into(),
        error,
    });
    let text = text().prop_map(Body::Answer);
    let other = select(vec![Body::Turn, Body::User("go on".into()), Body::System]);
    let user = self::text().prop_map(Body::User);
    vec(
        prop_oneof![6 => call, 6 => result, 1 => text, 2 => other, 1 => user],
        0..40,
    )
}

/// A guard of one to two members of any detectors that measure text.
pub fn setting() -> impl Strategy<Value = Setting> {
    let member = select(text_detectors()).prop_flat_map(member);
    vec(member, 1..3).prop_map(|members| Setting { members })
}

/// A grid around a generated guard: several values for some parameters.
pub fn grid() -> impl Strategy<Value = Grid> {
    around(setting())
}

/// A grid around a generated guard of runs.
pub fn run_grid() -> impl Strategy<Value = Grid> {
    around(run_setting())
}

fn around(setting: impl Strategy<Value = Setting>) -> impl Strategy<Value = Grid> {
    setting.prop_flat_map(|setting| {
        let members: Vec<_> = setting.members.into_iter().map(grid_member).collect();
        members.prop_map(|members| Grid { members })
    })
}

fn grid_member(base: Member) -> impl Strategy<Value = GridMember> {
    let params: Vec<_> = base.detector.params.iter().collect();
    let most = params.len().min(3);
    let chosen = proptest::sample::subsequence(params, 0..=most);
    chosen.prop_flat_map(move |chosen| {
        let base = base.clone();
        let several = |p: &'static deadloop_detect::harness::Param| {
            vec(value(p.domain), 1..4).prop_map(move |values| (p, tidy(p, values)))
        };
        let values: Vec<_> = chosen.into_iter().map(several).collect();
        values.prop_map(move |values| {
            let mut base = base.clone();
            for (param, values) in &values {
                base.params.set(param.name, values[0].clone());
            }
            let values = values.into_iter().filter(|(_, v)| v.len() > 1).collect();
            GridMember { base, values }
        })
    })
}

/// Without repetitions, thresholds rising: as a grid file would be read.
fn tidy(param: &deadloop_detect::harness::Param, values: Vec<Value>) -> Vec<Value> {
    let mut tidy: Vec<Value> = Vec::new();
    for value in values {
        if !tidy.contains(&value) {
            tidy.push(value);
        }
    }
    if let ParamRole::Threshold(threshold) = param.mark {
        tidy.sort_by_key(|v| threshold.number(v));
    }
    tidy
}

fn row(fields: &'static [&'static str]) -> impl Strategy<Value = Value> {
    vec(1..60_i64, fields.len()).prop_map(move |numbers| {
        let named = fields.iter().zip(numbers);
        Value::Table(
            named
                .map(|(f, n)| ((*f).to_owned(), Value::Int(n)))
                .collect(),
        )
    })
}
