//! [`words!`](crate::words): an enum whose variants have names in files, each said once.

/// Makes an enum of words: what its variants are called in files stands beside them, and all else follows: `ALL` (in

/// spellings, which are read and never written. Behind a bar at the end may stand one variant that holds another enum of words.
///
/// ```
/// use deadloop_detect::harness::words;
///
/// words! {
///     /// What a traffic light shows.
///     pub enum Light {
///         /// Stop.
///         Red = "red" | "rouge",
///         /// Go.
///         Green = "green",
///     }
/// }
/// assert_eq!(Light::ALL.map(Light::name), ["red", "green"]);
/// assert_eq!(Light::named("rouge"), Some(Light::Red));
/// assert_eq!(serde_json::to_string(&Light::Green).unwrap(), "\"green\"");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        $vis:vis enum $words:ident {
            $($(#[$of:meta])* $variant:ident = $word:literal $(| $older:literal)*,)+
            $(| $(#[$of_other:meta])* $other:ident($inner:ty),)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $words {
            $($(#[$of])* $variant,)+
            $($(#[$of_other])* $other($inner),)?
        }

        #[allow(dead_code, reason = "one that is not public may not need all of these")]
        impl $words {
            /// All of them, in the order of tables; without those that another enum has.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The name used in files and commands.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                    $(Self::$other(one) => <$inner>::name(one),)?
                }
            }

            /// The one with this name; `None` where none has it.
            $vis fn named(name: &str) -> Option<Self> {
                match name {
                    $($word $(| $older)* => Some(Self::$variant),)+
                    _ => $crate::words!(@other name $($other($inner))?),
                }
            }
        }

        impl ::std::fmt::Display for $words {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::serde::Serialize for $words {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $words {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <::std::borrow::Cow<'_, str> as ::serde::Deserialize>::deserialize(from)?;
                let unknown = || ::serde::de::Error::unknown_variant(&name, &[$($word),+]);
                Self::named(&name).ok_or_else(unknown)
            }
        }
    };
    (@other $name:ident) => { None };
    (@other $name:ident $other:ident($inner:ty)) => { <$inner>::named($name).map(Self::$other) };
}
