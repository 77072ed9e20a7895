//! [`Columns`]: a table as a list of typed columns, the one list by which it is written and documented.

use std::sync::Arc;

use crate::Rows;
use crate::table::{Schema, TableCell, Type};

/// What is said of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDoc {
    /// Its name. A `*` in it stands for names that a run decides.
    pub name: String,
    /// What its cells are.
    pub of: Type,
    /// In what its numbers are counted; empty for texts and plain numbers.
    pub unit: String,
    /// What they mean.
    pub about: String,
}

/// One column of a table whose rows are made from an `R`.
pub struct Column<R> {
    described: ColumnDoc,
    cell: Box<dyn Fn(&R) -> TableCell>,
}

impl<R> Column<R> {
    /// A column of cells of type `T`; [`columns!`](crate::columns) writes this.
    pub fn new<T: CellType>(
        name: impl Into<String>,
        unit: impl Into<String>,
        about: impl Into<String>,
        cell: impl Fn(&R) -> TypedCell<T> + 'static,
    ) -> Self {
        Self {
            described: ColumnDoc {
                name: name.into(),
                of: T::TYPE,
                unit: unit.into(),
                about: about.into(),
            },
            cell: Box::new(move |row| cell(row).cell),
        }
    }
}

/// The columns of a table whose rows are made from an `R`, in their order.
pub struct Columns<R>(Vec<Column<R>>);

impl<R> Default for Columns<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R> Columns<R> {
    /// Columns from a list.
    pub fn of(columns: Vec<Column<R>>) -> Self {
        Self(columns)
    }

    /// Adds a column at the end.
    pub fn push(&mut self, column: Column<R>) {
        self.0.push(column);
    }

    /// The list without the column of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|column| column.described.name != name);
        self
    }

    /// Adds the columns of another list at the end.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Their names and types.
    pub fn schema(&self) -> Schema {
        let columns = self.0.iter().map(|column| &column.described);
        columns.map(|of| (of.name.clone(), of.of)).collect()
    }

    /// The cells of a row.
    pub fn cells(&self, row: &R) -> Vec<TableCell> {
        self.0.iter().map(|column| (column.cell)(row)).collect()
    }

    /// What is said of each.
    pub fn described(&self) -> Vec<ColumnDoc> {
        let columns = self.0.iter();
        columns.map(|column| column.described.clone()).collect()
    }
}

/// The type of a column's cells: [`Text`], [`Int`] or [`Float`].
pub trait CellType {
    /// The same as a value.
    const TYPE: Type;
    /// A cell in memory; `None` where it is empty.
    type Value;
    /// Reads a cell.
    fn read(rows: &Rows<'_>, name: &str, row: usize) -> Self::Value;
}

/// Text.
pub enum Text {}
/// Whole numbers.
pub enum Int {}
/// Numbers.
pub enum Float {}

impl CellType for Text {
    const TYPE: Type = Type::Text;
    type Value = Option<Arc<str>>;

    fn read(rows: &Rows<'_>, name: &str, row: usize) -> Self::Value {
        rows.shared(name, row)
    }
}

impl CellType for Int {
    const TYPE: Type = Type::Int;
    type Value = Option<u64>;

    fn read(rows: &Rows<'_>, name: &str, row: usize) -> Self::Value {
        rows.whole(name, row)
    }
}

impl CellType for Float {
    const TYPE: Type = Type::Float;
    type Value = Option<f64>;

    fn read(rows: &Rows<'_>, name: &str, row: usize) -> Self::Value {
        rows.number(name, row)
    }
}

/// A cell of a column of type `T`.
pub struct TypedCell<T> {
    cell: TableCell,
    of: std::marker::PhantomData<T>,
}

impl<T> TypedCell<T> {
    fn new(cell: TableCell) -> Self {
        Self {
            cell,
            of: std::marker::PhantomData,
        }
    }
}

macro_rules! texts {
    ($($from:ty),*) => {$(
        impl From<$from> for TypedCell<Text> {
            fn from(text: $from) -> Self {
                Self::new(TableCell::Text(Some(text.to_string())))
            }
        }

        impl From<Option<$from>> for TypedCell<Text> {
            fn from(text: Option<$from>) -> Self {
                Self::new(TableCell::maybe(text))
            }
        }
    )*};
}

texts!(&str, String, &String, Arc<str>, &Arc<str>);

impl From<u64> for TypedCell<Int> {
    fn from(n: u64) -> Self {
        Self::new(TableCell::count(n))
    }
}

impl From<Option<u64>> for TypedCell<Int> {
    fn from(n: Option<u64>) -> Self {
        Self::new(TableCell::counted(n))
    }
}

impl From<bool> for TypedCell<Int> {
    fn from(is: bool) -> Self {
        Self::new(TableCell::Int(Some(is.into())))
    }
}

impl From<Option<bool>> for TypedCell<Int> {
    fn from(is: Option<bool>) -> Self {
        Self::new(TableCell::Int(is.map(i64::from)))
    }
}

impl From<f64> for TypedCell<Float> {
    fn from(x: f64) -> Self {
        Self::new(TableCell::Float(Some(x)))
    }
}

impl From<Option<f64>> for TypedCell<Float> {
    fn from(x: Option<f64>) -> Self {
        Self::new(TableCell::Float(x))
    }
}

/// A list of typed columns: the type of a row, then for each column its name, its type, in square brackets its unit, what it
/// means, and its cell of a row. A cell of another type than its column's does not compile.
///
/// ```
/// use deadloop_tables::{TableCell, columns};
///
/// struct Run { name: String, turns: u64, cost: Option<f64> }
/// let columns = columns![Run;
///     ("run", Text, "Its name", |run| &run.name),
///     ("turns", Int["turns"], "How many turns it took", |run| run.turns),
///     ("cost", Float["dollars"], "What it cost; empty where nobody said", |run| run.cost),
/// ];
/// assert_eq!(columns.described()[1].unit, "turns");
/// let run = Run { name: "a".into(), turns: 3, cost: None };
/// let cells = [TableCell::text("a"), TableCell::count(3), TableCell::Float(None)];
/// assert_eq!(columns.cells(&run), cells);
/// ```
///
/// ```compile_fail
/// let columns = deadloop_tables::columns![String; ("name", Int, "A name is no number", |name| name.as_str())];
/// ```
#[macro_export]
macro_rules! columns {
    (@unit) => { "" };
    (@unit $unit:expr) => { $unit };
    ($row:ty; $(($name:expr, $of:ident $([$unit:expr])?, $about:expr, |$arg:ident| $cell:expr $(,)?)),* $(,)?) => {
        $crate::Columns::<$row>::of(vec![$(
            $crate::Column::new::<$crate::cell::$of>(
                $name,
                $crate::columns!(@unit $($unit)?),
                $about,
                move |$arg: &$row| $crate::cell::TypedCell::<$crate::cell::$of>::from($cell),
            ),
        )*])
    };
}

/// A row of a table as a struct: each field is a column, named, typed and documented by it. The struct has `columns()`, by
/// which it is written, and `read()`, which finds the same columns in a table; one that is missing reads as empty.
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
/// let columns = Run::columns();
/// assert_eq!(columns.described()[0].about, "Its name.");
/// let mut table = deadloop_tables::Table::new(&columns.schema());
/// table.push(columns.cells(&run));
/// assert_eq!(Run::read(&deadloop_tables::Rows::new(&table), 0), run);
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
            /// The columns of these rows, in order.
            $visible fn columns() -> $crate::Columns<Self> {
                $crate::columns![$row; $((
                    stringify!($name),
                    $of $([$unit])?,
                    concat!($($about),+).trim(),
                    |row| row.$name.clone(),
                )),*]
            }

            /// Reads a row.
            $visible fn read(rows: &$crate::Rows<'_>, row: usize) -> Self {
                Self { $($name: <$crate::cell::$of as $crate::cell::CellType>::read(rows, stringify!($name), row),)* }
            }
        }
    };
}

/// The names of some columns of a [`table_row!`]. One that the row has not does not compile.
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
/// assert_eq!(deadloop_tables::column_names![Run: turns], ["turns"]);
/// ```
///
/// ```compile_fail
/// deadloop_tables::table_row! {
///     /// A run.
///     pub struct Run {
///         /// Its name.
///         run: Text,
///     }
/// }
/// let names = deadloop_tables::column_names![Run: turns];
/// ```
#[macro_export]
macro_rules! column_names {
    ($row:ty: $($name:ident),* $(,)?) => {{
        let _ = |row: &$row| { $(let _ = &row.$name;)* };
        [$(stringify!($name)),*]
    }};
}
