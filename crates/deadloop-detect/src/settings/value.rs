//! [`Value`]: the value of a parameter, read from and printed as TOML.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// A word or a pattern.
    Text(String),
    /// A list of values.
    List(Vec<Value>),
    /// A table of values by name.
    Table(BTreeMap<String, Value>),
}

impl Value {
    /// Converts a TOML item. Rejects dates, which no parameter has.
    fn from_toml(item: toml::Value) -> Result<Self, &'static str> {
        Ok(match item {
            toml::Value::Integer(n) => Self::Int(n),
            toml::Value::Float(x) => Self::Float(x),
            toml::Value::Boolean(b) => Self::Bool(b),
            toml::Value::String(s) => Self::Text(s),
            toml::Value::Array(items) => Self::List(
                items
                    .into_iter()
                    .map(Self::from_toml)
                    .collect::<Result<_, _>>()?,
            ),
            toml::Value::Table(table) => {
                let item = |(name, item)| Ok((name, Self::from_toml(item)?));
                let items = table.into_iter().map(item);
                Self::Table(items.collect::<Result<_, &'static str>>()?)
            }
            toml::Value::Datetime(_) => return Err("a date; expected a value"),
        })
    }

    fn to_toml(&self) -> toml::Value {
        match self {
            Self::Int(n) => (*n).into(),
            Self::Float(x) => (*x).into(),
            Self::Bool(b) => (*b).into(),
            Self::Text(s) => s.clone().into(),
            Self::List(items) => toml::Value::Array(items.iter().map(Self::to_toml).collect()),
            Self::Table(table) => {
                let item = |(name, value): (&String, &Self)| (name.clone(), value.to_toml());
                toml::Value::Table(table.iter().map(item).collect())
            }
        }
    }

    /// Returns the number, if it is a whole one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns the number, whole or not.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            // A parameter's whole numbers are far below 2^52.
            Self::Int(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// Returns the value under `name`, if this is a table.
    pub fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Table(table) => table.get(name),
            _ => None,
        }
    }

    /// Returns the text, if this is a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(s) => Some(s),
            _ => None,
        }
    }

    /// Returns the items of a list. Empty for other values.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

/// Writes the value as TOML, on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Numbers skip TOML for speed: they are the most frequent values, and every setting of a grid formats its
            // values.
            Self::Int(n) => n.fmt(f),
            Self::Bool(b) => b.fmt(f),
            _ => self.to_toml().fmt(f),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_toml().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::from_toml(toml::Value::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A constant default of a [parameter](crate::harness::Param).
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// A word or a pattern.
    Text(&'static str),
    /// Whole numbers.
    Ints(&'static [i64]),
    /// Words or patterns.
    Texts(&'static [&'static str]),
    /// An empty table.
    EmptyTable,
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        match literal {
            Literal::Int(n) => Self::Int(n),
            Literal::Float(x) => Self::Float(x),
            Literal::Bool(b) => Self::Bool(b),
            Literal::Text(s) => Self::Text(s.into()),
            Literal::Ints(ns) => Self::List(ns.iter().map(|n| Self::Int(*n)).collect()),
            Literal::EmptyTable => Self::Table(BTreeMap::new()),
            Literal::Texts(ss) => Self::List(ss.iter().map(|s| Self::Text((*s).into())).collect()),
        }
    }
}
