//! JSON values with a limit on their number.
//!
//! A value takes up to a hundred times the memory of its text, so a line of 64 MiB could take gigabytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::fields::{WireFault, WireResult};

/// The maximum number of values in the lists and objects of one record, besides its events and their fields. At worst
/// they take 1 GB. A tool call has a handful.
const MAX_VALUES: u32 = 4_000_000;

/// The number of JSON values that a record may still contain.
#[derive(Debug)]
pub struct ValueBudget {
    max_values: u32,
    left: Cell<u32>,
}

impl Default for ValueBudget {
    fn default() -> Self {
        Self::new(MAX_VALUES)
    }
}

impl ValueBudget {
    fn new(max_values: u32) -> Self {
        Self {
            max_values,
            left: Cell::new(max_values),
        }
    }

    fn spend_value<E: Error>(&self) -> Result<(), E> {
        let max_values = self.max_values;
        let left = self.left.get().checked_sub(1).ok_or_else(|| {
            E::custom(format_args!(
                "a record with more than {max_values} values in its lists and objects, expected at most {max_values}"
            ))
        })?;
        self.left.set(left);
        Ok(())
    }
}

/// Parses a JSON value. Each list element and object field counts toward the limit.
pub fn read(text: &str) -> WireResult<Value> {
    parse(text, MAX_VALUES).map_err(|e| WireFault::json(&e, text))
}

/// Parses a JSON value with at most `max_values` values in its lists and objects.
///
/// # Errors
///
/// The text is not JSON, or has more values.
pub fn parse(text: &str, max_values: u32) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = CountedValue(&ValueBudget::new(max_values)).deserialize(&mut json);
    value.and_then(|value| json.end().map(|()| value))
}

/// Deserializer of a JSON value that counts toward a budget.
#[derive(Clone, Copy)]
pub struct CountedValue<'a>(pub &'a ValueBudget);

impl<'de> DeserializeSeed<'de> for CountedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Defines the functions that visit values without inner values.
macro_rules! visit_scalars {
    ($($visit:ident: $scalar:ty),*) => {$(
        fn $visit<E>(self, value: $scalar) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> Visitor<'de> for CountedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    visit_scalars! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64 }
    visit_scalars! { visit_str: &str, visit_string: String }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            self.0.spend_value()?;
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key()? {
            self.0.spend_value()?;
            fields.insert(name, map.next_value_seed(self)?);
        }
        Ok(fields.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    #[test]
    fn too_many_values_are_refused_before_they_are_held() {
        let fits = format!("[{}0]", "0,".repeat(MAX_VALUES as usize - 1));
        assert_eq!(read(&fits).unwrap().as_array().unwrap().len(), 4_000_000);
        let over = format!("[[],{}", "{},".repeat(MAX_VALUES as usize + 5));
        let fault = format!("{:?}", read(&over).unwrap_err());
        assert!(fault.contains("more than 4000000 values"), "{fault}");
    }

    proptest! {
        /// Checks the result against that of serde_json itself.
        #[test]
        fn any_json_is_read_as_ever(
            whole in any::<i64>(), large in any::<u64>(), real in any::<f64>(), text in any::<String>(),
            keys in prop::collection::vec("[ab]{1,2}", 0..6), cut in 0usize..80,
        ) {
            let object: Map<String, Value> = keys.iter().map(|key| (key.clone(), real.into())).collect();
            let value = serde_json::json!([whole, large, {"x": text, "y": [null, true, object]}]);
            let mut text = value.to_string();
            prop_assert_eq!(read(&text).unwrap(), value);
            text.truncate((0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap());
            prop_assert_eq!(read(&text).ok(), serde_json::from_str(&text).ok());
        }
    }
}
