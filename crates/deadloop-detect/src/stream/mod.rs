//! The types that live streams and recordings share.
//!
//! | to find | look in |
//! |---|---|
//! | an event: text, call, result, turn | [`EventOf`]: borrowed an [`Event`], owned an [`OwnedEvent`] |
//! | channels, and the units of their positions | [`Channel`], [`Unit`], [`Units`] |
//! | the channels in which text arrives | [`TextChannel`] |
//! | the place of an event in a stream | [`EventPlace`] |
//! | the length of each channel so far | [`ChannelLengths`] |
//! | a place in a transcript, which can be ordered | [`Cursor`] |
//! | the kind of a loop | [`Kind`] |
//! | the kind of damage of a stream | [`Fault`] |
//!
//! A position is a number of units of **its** channel. Chars, calls and turns are separate types, so that the compiler
//! rejects their sums and comparisons:
//!
//! ```compile_fail
//! use deadloop_detect::{Calls, Chars};
//! let mixed = Chars(10_126) + Calls(39); // chars are not calls
//! ```
//! ```compile_fail
//! use deadloop_detect::{Calls, Turns};
//! assert!(Calls(3) < Turns(4)); // calls and turns are not ordered
//! ```
//! ```
//! use deadloop_detect::{Calls, Chars, Units};
//! assert_eq!(Chars(3) + Chars(4), Chars(7));
//! let (chars, calls) = (Units::from(Chars(3)), Units::from(Calls(4)));
//! assert_eq!(chars.partial_cmp(&calls), None);
//! ```

mod channel;
mod cursor;
mod event;
mod fault;
mod kind;
mod place;
mod units;

pub use channel::{Channel, TextChannel};
pub use cursor::{ChannelLengths, Cursor};
pub use event::{Arguments, ArgumentsOf, CutText, CutTextOf, Event, EventOf, OwnedEvent};
pub use fault::Fault;
pub use kind::Kind;
pub use place::{EventPlace, EventPlaces};
pub use units::{Calls, Chars, Turns, Unit, Units};
