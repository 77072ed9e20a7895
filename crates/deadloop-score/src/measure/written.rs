//! A measure as JSON, from which the page's script computes [`Measure::value`].

use serde::{Serialize, Serializer};

use super::{Certainty, Joined, Measure, MeasureUnit, Ratio, Term, Times};

#[derive(Serialize)]
struct Written {
    name: &'static str,
    title: &'static str,
    unit: MeasureUnit,
    more_is_better: bool,
    about: &'static str,
    certainty: Certainty,
    ratios: Vec<WrittenRatio>,
    joined: Joined,
}

#[derive(Serialize)]
struct WrittenRatio {
    scale: f64,
    num: Vec<WrittenTerm>,
    den: Vec<WrittenTerm>,
}

/// The factor, the count, and whether the factor is in mean clean responses.
type WrittenTerm = (f64, &'static str, bool);

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ratios = self.formula.ratios.iter();
        let written = Written {
            name: self.name,
            title: self.title,
            unit: self.unit,
            more_is_better: self.more_is_better,
            about: self.about,
            certainty: self.certainty,
            ratios: ratios.map(ratio).collect(),
            joined: self.formula.joined,
        };
        written.serialize(serializer)
    }
}

fn ratio(ratio: &Ratio) -> WrittenRatio {
    WrittenRatio {
        scale: ratio.scale,
        num: ratio.num.iter().map(term).collect(),
        den: ratio.den.iter().map(term).collect(),
    }
}

fn term(Term(count, times): &Term) -> WrittenTerm {
    match times {
        Times::Number(x) => (*x, count.name(), false),
        Times::Responses(x) => (*x, count.name(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::super::formula::{one, times};
    use super::super::{Formula, MEASURES, Shown, Worth};
    use super::*;
    use crate::tally::{Count, Tally};
    use serde_json::Value;

    /// A measure that no table has: 1e3 (2 premature + R stale) / (quiet + miss).
    static MADE_UP: Measure = Measure {
        name: "made_up",
        title: "made up",
        unit: MeasureUnit::PerMillion,
        counted_in: &[],
        more_is_better: false,
        meaning: "something made up",
        about: "for the test",
        formula: Formula {
            ratios: &[Ratio {
                scale: 1e3,
                num: &[
                    times(2.0, Count::Premature),
                    Term(Count::Stale, Times::Responses(1.0)),
                ],
                den: &[one(Count::Quiet), one(Count::Miss)],
            }],
            joined: Joined::Alone,
        },
        certainty: Certainty::Resampled,
        bounds: None,
        shown: Shown {
            choice: false,
            tables: false,
        },
    };

    /// What templates/measures.js does: it knows the two joins and nothing else.
    fn computed(json: &Value, tally: &Tally, worth: &Worth) -> Option<f64> {
        let count = |name: &str| {
            let count = Count::ALL.into_iter().find(|count| count.name() == name);
            tally[count.unwrap()] as f64
        };
        let sum = |terms: &Value| -> f64 {
            let term = |term: &Value| {
                let responses = if term[2] == true { worth.response } else { 1.0 };
                term[0].as_f64().unwrap() * responses * count(term[1].as_str().unwrap())
            };
            terms.as_array().unwrap().iter().map(term).sum()
        };
        let value = |ratio: &Value| {
            let den = sum(&ratio["den"]);
            (den > 0.0).then(|| ratio["scale"].as_f64().unwrap() * sum(&ratio["num"]) / den)
        };
        let ratios = json["ratios"].as_array().unwrap().iter();
        let values: Vec<f64> = ratios.map(value).collect::<Option<_>>()?;
        let joined: Joined = serde_json::from_value(json["joined"].clone()).unwrap();
        joined.join(&values)
    }

    /// A measure is one entry: its JSON says all that its value takes, the made-up one's too.
    #[test]
    fn the_json_is_the_formula() {
        let worth = Worth {
            loop_rate: None,
            response: 700.0,
        };
        let mut tally = Tally::default();
        for (i, count) in Count::ALL.into_iter().enumerate() {
            tally[count] = 10 + (i * i) as i64;
        }
        for measure in MEASURES.into_iter().chain([&MADE_UP]) {
            let json = serde_json::to_value(measure).unwrap();
            for tally in [tally, Tally::default()] {
                let (found, wanted) = (
                    computed(&json, &tally, &worth),
                    measure.value(&tally, &worth),
                );
                let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-12 * b.abs();
                assert_eq!(found.is_some(), wanted.is_some(), "{measure:?}");
                assert!(found.zip(wanted).is_none_or(near), "{measure:?}");
            }
        }
        let made_up = MADE_UP.value(&tally, &worth).unwrap();
        let (premature, stale) = (tally[Count::Premature], tally[Count::Stale]);
        let den = tally[Count::Quiet] + tally[Count::Miss];
        assert!((made_up - 1e3 * (2 * premature + 700 * stale) as f64 / den as f64).abs() < 1e-6);
    }
}
