//! [`Forms`]: hard negatives as Jinja templates.
//!
//! A file of forms has `[lists]` of texts, and a `[[form]]` for each shape of healthy text that looks like a loop.
//!
//! Besides the functions of Jinja, a text may call `int(low, high)`, `pick(list)` or `pick(a, b, …)`,
//! `some(count, list)` (none twice), `chance(share)`, `noise(letters, count)`, `hex(digits)`,
//! `pad(number, width)`, `left(text, width)`, `right(text, width)`, `date(days)`, `clock(seconds)`
//! and `prose(paragraphs)`. All random values depend on the seed of the transcript.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value as Json;

use super::spec::{Form, FormFile, SpecChannel, SpecResult, parse_toml};
use crate::planted_loops::Rng;

/// A file of forms.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    lists: BTreeMap<String, Vec<Json>>,
    pub(super) forms: Vec<Form>,
}

/// Paragraphs that a text has not used yet.
type SharedParagraphs = Arc<Mutex<Vec<String>>>;

impl Forms {
    /// Parses a file of forms.
    ///
    /// # Errors
    /// Returns the first error: one of those of a spec, or a text that is not a template.
    pub fn parse(text: &str) -> SpecResult<Self> {
        parse_toml(text, |file: FormFile, parsed| {
            let mut forms = Self {
                lists: file.lists.unwrap_or_default().0,
                forms: Vec::new(),
            };
            for (form, parsed) in file.form.into_iter().zip(parsed.tables("form")) {
                if forms.forms.iter().any(|other| other.name == form.name) {
                    let what = format!("two forms named {}", form.name);
                    return Err(parsed.error_at("name", what, "names of their own"));
                }
                forms
                    .render(&form, &mut Rng::new(1), &[String::new()])
                    .map_err(|what| parsed.error_at("text", what, "a Jinja template"))?;
                forms.forms.push(form);
            }
            Ok(forms)
        })
    }

    /// Renders a text of a form. `prose` holds the clean paragraphs that the text may contain.
    pub(super) fn render(
        &self,
        form: &Form,
        rng: &mut Rng,
        prose: &[String],
    ) -> Result<String, String> {
        let shared = Arc::new(Mutex::new(rng.clone()));
        let paragraphs = Arc::new(Mutex::new(prose.to_vec()));
        let env = create_environment(&shared, &paragraphs);
        let lists = Value::from(Serde(&self.lists));
        let rendered = env.and_then(|env| env.render_str(&form.text, lists));
        *rng = lock(&shared).clone();
        rendered.map_err(|e| {
            let line = e.line().map(|line| format!(", line {line} of its text"));
            let line = line.unwrap_or_default();
            let detail = e.detail().unwrap_or_default();
            format!("form {}{line}: {}: {detail}", form.name, e.kind())
        })
    }
}

impl Form {
    pub(super) fn lang(&self) -> &str {
        self.lang.as_ref().map_or("en", |lang| lang)
    }

    /// Returns the default channel of the form's texts.
    pub(super) fn channel(&self) -> &'static str {
        self.channel.unwrap_or(SpecChannel::Answer).name()
    }

    /// Returns the number of texts that an item with `count` texts makes of this form.
    pub(super) fn text_count(&self, count: usize) -> usize {
        self.most.map_or(count, |most| count.min(most.0 as usize))
    }
}

/// Locks a mutex, even if another thread panicked, since the value is always valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn create_environment(
    rng: &Arc<Mutex<Rng>>,
    prose: &SharedParagraphs,
) -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    env.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let paragraphs = Arc::clone(prose);
    env.add_function("prose", move |count: usize| {
        let mut left = lock(&paragraphs);
        let rest = left.len().saturating_sub(count);
        left.split_off(rest).join("\n\n")
    });
    add_plain_functions(&mut env);
    add_random_functions(&mut env, rng);
    Ok(env)
}

/// Adds the template functions that do not use random values.
fn add_plain_functions(env: &mut Environment<'static>) {
    env.add_function("pad", |number: i64, width: usize| {
        format!("{number:0width$}")
    });
    env.add_function("left", |text: String, width: usize| {
        format!("{text:<width$}")
    });
    env.add_function("right", |text: String, width: usize| {
        format!("{text:>width$}")
    });
    env.add_function("clock", |seconds: u64| {
        let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
    });
    env.add_function("date", format_date);
}

/// Formats the date that is `days` days after 1 January 2024.
fn format_date(days: u64) -> String {
    let (mut year, mut day) = (2024, days);
    loop {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        for (month, length) in (1..).zip(lengths) {
            let length = length + u64::from(is_leap && month == 2);
            if day < length {
                return format!("{year}-{month:02}-{:02}", day + 1);
            }
            day -= length;
        }
        year += 1;
    }
}

/// Adds the template functions that return random values.
fn add_random_functions(env: &mut Environment<'static>, rng: &Arc<Mutex<Rng>>) {
    let shared = || Arc::clone(rng);
    let own = shared();
    env.add_function("int", move |low: i64, high: i64| {
        let width = usize::try_from(high - low).unwrap_or_default();
        low + lock(&own).uniform(0, width) as i64
    });
    let own = shared();
    env.add_function("chance", move |share: f64| lock(&own).chance(share));
    let own = shared();
    env.add_function("pick", move |from: Rest<Value>| {
        let list = match from.as_slice() {
            [list] => list_items(list)?,
            several => several.to_vec(),
        };
        let picked = lock(&own).choose(&list).cloned();
        picked.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "pick from nothing"))
    });
    let own = shared();
    env.add_function("some", move |count: usize, list: Value| {
        let mut list = list_items(&list)?;
        lock(&own).shuffle(&mut list);
        list.truncate(count);
        Ok::<_, Error>(list)
    });
    let own = shared();
    env.add_function("noise", move |letters: String, count: usize| {
        let letters: Vec<char> = letters.chars().collect();
        let mut rng = lock(&own);
        (0..count)
            .filter_map(|_| rng.choose(&letters))
            .collect::<String>()
    });
    let own = shared();
    env.add_function("hex", move |digits: usize| {
        let mut rng = lock(&own);
        (0..digits)
            .filter_map(|_| char::from_digit(rng.below(16) as u32, 16))
            .collect::<String>()
    });
}

fn list_items(list: &Value) -> Result<Vec<Value>, Error> {
    Ok(list.try_iter()?.collect())
}
