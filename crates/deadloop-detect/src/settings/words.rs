//! [`words!`](crate::words): defines enums whose variants have names in files.

/// Defines enums whose variants have names in files. Each variant is followed by its name. The macro derives `ALL` (in
/// the order of tables), `name`, `named`, `Display`, `Serialize` and `Deserialize`. A variant may have older names,
/// which are read but not written. After a bar at the end, one variant may hold another such enum.
///
/// ```
/// use deadloop_detect::words;
///
/// words! {
///     /// The color of a traffic light.
///     pub enum Light {
///         /// Stop.
///         Red = "red" | "rouge",
///         /// Go.
///         Green = "green",
///     }
/// }
/// assert_eq!(Light::NAMES, ["red", "green"]);
/// assert_eq!(Light::named("rouge"), Some(Light::Red));
/// assert_eq!(serde_json::to_string(&Light::Green).unwrap(), "\"green\"");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(
        $(#[$about:meta])*
        $vis:vis enum $words:ident {
            $($(#[$of:meta])* $variant:ident = $word:literal $(| $older:literal)*,)+
            $(| $(#[$of_other:meta])* $other:ident($inner:ty),)?
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $words {
            $($(#[$of])* $variant,)+
            $($(#[$of_other])* $other($inner),)?
        }

        #[allow(dead_code, reason = "one that is not public may not need all of these")]
        impl $words {
            /// All variants, in the order of tables, without those of an inner enum.
            $vis const ALL: [Self; Self::NAMES.len()] = [$(Self::$variant),+];

            /// The names of [`ALL`](Self::ALL).
            $vis const NAMES: [&'static str; [$($word),+].len()] = [$($word),+];

            /// Returns the name used in files and commands.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                    $(Self::$other(one) => <$inner>::name(one),)?
                }
            }

            /// Returns the variant with this name. `None` if there is none.
            $vis fn named(name: &str) -> Option<Self> {
                match name {
                    $($word $(| $older)* => Some(Self::$variant),)+
                    _ => None$(.or_else(|| <$inner>::named(name).map(Self::$other)))?,
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
                let unknown = || ::serde::de::Error::unknown_variant(&name, &Self::NAMES);
                Self::named(&name).ok_or_else(unknown)
            }
        }
    )+};
}
