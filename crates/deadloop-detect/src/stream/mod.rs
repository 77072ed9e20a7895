//! The ground floor: what a live stream and a recording have in common.
//!
//! | to find | look in |
//! |---|---|
//! | what arrives: text, calls, results, turns | [`EventOf`]: borrowed an [`Event`], held an [`OwnedEvent`] |
//! | what positions are counted on, and in what | [`Channel`], [`Unit`], [`Units`] |
//! | the channels in which text arrives | [`TextChannel`] |
//! | where in a stream an event is | [`EventPlace`] |
//! | how much of each channel had arrived | [`Seen`] |
//! | a place in a transcript, which can be ordered | [`Cursor`] |
//! | what kind of loop it is | [`Kind`] |
//! | how a stream is damaged | [`Fault`] |
//!
//! A position is a number of units of **its** channel. Chars, calls and turns are types of their own, so
//! that the compiler refuses to add or compare them:
//!
//! ```compile_fail
//! use deadloop_detect::{Calls, Chars};
//! let mixed = Chars(10_126) + Calls(39); // a char is no call
//! ```
//! ```compile_fail
//! use deadloop_detect::{Calls, Turns};
//! assert!(Calls(3) < Turns(4)); // neither is before the other
//! ```
//! ```
//! use deadloop_detect::{Calls, Chars, Units};
//! assert_eq!(Chars(3) + Chars(4), Chars(7));
//! let (chars, calls) = (Units::from(Chars(3)), Units::from(Calls(4)));
//! assert_eq!(chars.partial_cmp(&calls), None);
//! ```

mod channel;
mod event;
mod fault;
mod kind;
mod place;
mod seen;
mod units;

pub use channel::{Channel, TextChannel};
pub use event::{Arguments, ArgumentsOf, Cut, CutOf, Event, EventOf, OwnedEvent};
pub use fault::Fault;
pub use kind::Kind;
pub use place::{EventPlace, EventPlaces};
pub use seen::{Cursor, Seen};
pub use units::{Calls, Chars, Turns, Unit, Units};
