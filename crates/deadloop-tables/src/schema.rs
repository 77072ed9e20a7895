//! [`Schema`]: the columns of a table, declared in one list.

use std::sync::Arc;

use polars::prelude::{
    Column, DataFrame, DataType, Float64Chunked, Int64Chunked, IntoColumn, NewChunkedArray,
    StringChunked,
};
use polars_ops::prelude::{DataFrameJoinOps as _, JoinArgs, JoinType, MaintainOrderJoin};

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// Whole numbers.
    Int,
    /// Numbers. Infinite numbers are `never` in CSV.
    Float,
}

impl Type {
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::String,
            Self::Int => DataType::Int64,
            Self::Float => DataType::Float64,
        }
    }
}

/// The description of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDoc {
    /// The name of the column. A `*` stands for names that depend on the run.
    pub name: String,
    /// The type of the column's cells.
    pub cell_type: Type,
    /// The unit of the numbers. Empty for texts and plain numbers.
    pub unit: String,
    /// A description of what the cells contain.
    pub about: String,
}

/// Function that builds a column from rows.
type ColumnBuilder<R> = dyn Fn(&[R]) -> Column + Send;

/// A column, with the function that builds its cells from rows of type `R`.
pub struct SchemaField<R> {
    /// The description of the column.
    pub doc: ColumnDoc,
    column: Box<ColumnBuilder<R>>,
}

impl<R> SchemaField<R> {
    /// Returns a column whose cells of type `T` are built by `cell`. Called by the macro [`schema!`](crate::schema!).
    pub fn new<T: CellType>(
        name: impl Into<String>,
        unit: impl Into<String>,
        about: impl Into<String>,
        cell: impl Fn(&R) -> T + Send + 'static,
    ) -> Self {
        let doc = ColumnDoc {
            name: name.into(),
            cell_type: T::TYPE,
            unit: unit.into(),
            about: about.into(),
        };
        let name = doc.name.clone();
        Self {
            doc,
            column: Box::new(move |rows| T::column(&name, &mut rows.iter().map(&cell))),
        }
    }
}

/// The columns of a table in order. Its rows are built from values of type `R`.
pub struct Schema<R>(Vec<SchemaField<R>>);

impl<R> FromIterator<SchemaField<R>> for Schema<R> {
    fn from_iter<I: IntoIterator<Item = SchemaField<R>>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl<R> IntoIterator for Schema<R> {
    type Item = SchemaField<R>;
    type IntoIter = std::vec::IntoIter<SchemaField<R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<R> Extend<SchemaField<R>> for Schema<R> {
    fn extend<I: IntoIterator<Item = SchemaField<R>>>(&mut self, fields: I) {
        self.0.extend(fields);
    }
}

impl<R> Schema<R> {
    /// Returns the schema without the column of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|field| field.doc.name != name);
        self
    }

    /// Returns the descriptions of all columns.
    pub fn docs(&self) -> Vec<ColumnDoc> {
        self.0.iter().map(|field| field.doc.clone()).collect()
    }

    /// Builds a data frame from rows.
    pub fn frame(&self, rows: &[R]) -> DataFrame {
        let columns = self.0.iter().map(|field| (field.column)(rows)).collect();
        // The names of a list differ, and each column has a cell for each row.
        DataFrame::new(rows.len(), columns).unwrap_or_default()
    }
}

/// The type of a column's cells: [`Text`], [`Int`] or [`Float`].
pub trait CellType: Sized {
    /// The type as a value.
    const TYPE: Type;
    /// The value of a cell in memory. `None` for an empty cell.
    type Value: Default + Clone;
    /// Builds a column from cells.
    fn column(name: &str, cells: &mut dyn Iterator<Item = Self>) -> Column;
    /// Reads the values of a column. A missing column has no values.
    fn read<'f>(frame: &'f DataFrame, name: &str) -> Box<dyn Iterator<Item = Self::Value> + 'f>;
}

/// A text cell.
pub struct Text(Option<String>);
/// A cell with a whole number.
pub struct Int(Option<i64>);
/// A cell with a number.
pub struct Float(Option<f64>);

impl CellType for Text {
    const TYPE: Type = Type::Text;
    type Value = Option<Arc<str>>;

    fn column(name: &str, cells: &mut dyn Iterator<Item = Self>) -> Column {
        StringChunked::from_iter_options(name.into(), cells.map(|cell| cell.0)).into_column()
    }

    /// Reads the texts of a column. Equal texts in adjacent rows share one allocation.
    fn read<'f>(frame: &'f DataFrame, name: &str) -> Box<dyn Iterator<Item = Self::Value> + 'f> {
        let mut last: Self::Value = None;
        Box::new(texts(frame, name).map(move |text| {
            if last.as_deref() != text {
                last = text.map(Arc::from);
            }
            last.clone()
        }))
    }
}

impl CellType for Int {
    const TYPE: Type = Type::Int;
    type Value = Option<u64>;

    fn column(name: &str, cells: &mut dyn Iterator<Item = Self>) -> Column {
        Int64Chunked::from_iter_options(name.into(), cells.map(|cell| cell.0)).into_column()
    }

    fn read<'f>(frame: &'f DataFrame, name: &str) -> Box<dyn Iterator<Item = Self::Value> + 'f> {
        Box::new(ints(frame, name).map(|n| u64::try_from(n?).ok()))
    }
}

impl CellType for Float {
    const TYPE: Type = Type::Float;
    type Value = Option<f64>;

    fn column(name: &str, cells: &mut dyn Iterator<Item = Self>) -> Column {
        Float64Chunked::from_iter_options(name.into(), cells.map(|cell| cell.0)).into_column()
    }

    fn read<'f>(frame: &'f DataFrame, name: &str) -> Box<dyn Iterator<Item = Self::Value> + 'f> {
        Box::new(floats(frame, name))
    }
}

macro_rules! cell_conversions {
    ($($cell:ident: $($from:ty = |$value:ident| $to:expr),*;)*) => {$($(
        impl From<$from> for $cell {
            fn from($value: $from) -> Self {
                Self($to)
            }
        }

        impl From<Option<$from>> for $cell {
            fn from(value: Option<$from>) -> Self {
                Self(value.and_then(|$value| $to))
            }
        }
    )*)*};
}

cell_conversions! {
    Text: &str = |text| Some(text.to_owned()), String = |text| Some(text), &String = |text| Some(text.clone()),
        Arc<str> = |text| Some(text.to_string()), &Arc<str> = |text| Some(text.to_string());
    Int: u64 = |n| i64::try_from(n).ok(), i64 = |n| Some(n), bool = |is| Some(is.into());
    Float: f64 = |x| Some(x);
}

/// Iterates over the text cells of a column. There are none if the frame lacks the column.
pub fn texts<'f>(
    frame: &'f DataFrame,
    name: &str,
) -> impl Iterator<Item = Option<&'f str>> + use<'f> {
    let cells = frame.column(name).and_then(|column| column.str());
    cells.into_iter().flat_map(|cells| cells.iter())
}

/// Iterates over the integer cells of a column. There are none if the frame lacks the column.
pub fn ints<'f>(frame: &'f DataFrame, name: &str) -> impl Iterator<Item = Option<i64>> + use<'f> {
    let cells = frame.column(name).and_then(|column| column.i64());
    cells.into_iter().flat_map(|cells| cells.iter())
}

/// Iterates over the number cells of a column. There are none if the frame lacks the column.
pub fn floats<'f>(frame: &'f DataFrame, name: &str) -> impl Iterator<Item = Option<f64>> + use<'f> {
    let cells = frame.column(name).and_then(|column| column.f64());
    cells.into_iter().flat_map(|cells| cells.iter())
}

/// Joins two frames by the column `key` of both, in the row order of `rows`. Empty if a frame lacks the column.
pub fn join(rows: &DataFrame, others: &DataFrame, key: &str, how: JoinType) -> DataFrame {
    let mut how = JoinArgs::new(how);
    how.maintain_order = MaintainOrderJoin::Left;
    let joined = rows.join(others, [key], [key], how, None);
    joined.unwrap_or_default()
}

/// Builds a [`Schema`] from a row type and its columns. A column has a name, a type, an optional unit in square
/// brackets, a meaning, and the cell of a row. Code in which the cell's type differs from the column's does not
/// compile.
///
/// ```
/// use deadloop_tables::{ints, schema};
///
/// struct Run { name: String, turns: u64, cost: Option<f64> }
/// let schema = schema![Run;
///     ("run", Text, "Its name", |run| &run.name),
///     ("turns", Int["turns"], "How many turns it took", |run| run.turns),
///     ("cost", Float["dollars"], "What it cost. Empty if unknown", |run| run.cost),
/// ];
/// assert_eq!(schema.docs()[1].unit, "turns");
/// let frame = schema.frame(&[Run { name: "a".into(), turns: 3, cost: None }]);
/// assert_eq!(ints(&frame, "turns").collect::<Vec<_>>(), [Some(3)]);
/// ```
///
/// ```compile_fail
/// let schema = deadloop_tables::schema![String; ("name", Int, "A name is no number", |name| name.as_str())];
/// ```
#[macro_export]
macro_rules! schema {
    (@unit) => { "" };
    (@unit $unit:expr) => { $unit };
    ($row:ty; $(($name:expr, $of:ident $([$unit:expr])?, $about:expr, |$arg:ident| $cell:expr $(,)?)),* $(,)?) => {
        [$(
            $crate::SchemaField::new::<$crate::cell::$of>(
                $name,
                $crate::schema!(@unit $($unit)?),
                $about,
                move |$arg: &$row| $crate::cell::$of::from($cell),
            ),
        )*].into_iter().collect::<$crate::Schema<$row>>()
    };
}

/// Declares a table's row as a struct, whose fields are the columns with their names, types and descriptions. The
/// struct gets `schema()`, which returns the columns, and `read()`, which reads the rows of a frame. Missing columns
/// are read as empty.
///
/// ```
/// deadloop_tables::table_row! {
///     /// A run.
///     pub struct Run {
///         /// Its name.
///         run: Text,
///         /// How many turns it took.
///         turns: Int["turns"],
///     }
/// }
/// let run = Run { run: Some("a".into()), turns: Some(3) };
/// assert_eq!(Run::schema().docs()[0].about, "Its name.");
/// assert_eq!(Run::read(&Run::schema().frame(&[run.clone()])), [run]);
/// ```
#[macro_export]
macro_rules! table_row {
    (
        $(#[$outer:meta])*
        $visible:vis struct $row:ident {
            $($(#[doc = $about:literal])+ $name:ident: $of:ident $([$unit:literal])?),* $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visible struct $row {
            $($(#[doc = $about])+ pub $name: <$crate::cell::$of as $crate::cell::CellType>::Value,)*
        }

        impl $row {
            /// Returns the columns of these rows, in order.
            $visible fn schema() -> $crate::Schema<Self> {
                $crate::schema![$row; $((
                    stringify!($name),
                    $of $([$unit])?,
                    concat!($($about),+).trim(),
                    |row| row.$name.clone(),
                )),*]
            }

            /// Reads the rows of a frame.
            $visible fn read(frame: &$crate::DataFrame) -> Vec<Self> {
                $(let mut $name = <$crate::cell::$of as $crate::cell::CellType>::read(frame, stringify!($name));)*
                let rows = 0..frame.height();
                rows.map(|_| Self { $($name: $name.next().unwrap_or_default(),)* }).collect()
            }
        }
    };
}
