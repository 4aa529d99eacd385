//! Enums whose values have a number and a name in C and a word in text.

use std::marker::PhantomData;

use super::{one_word, same_word, truth, CType, Doc, Member, Taken, Type};
use crate::error::Result;
use crate::refuse;

/// The names of an enum's value.
pub struct Name {
    pub number: i32,
    /// Name of the constant in the C interface.
    pub name: &'static str,
    /// Word in TOML and options; empty for values that cannot be given in text.
    pub word: &'static str,
    pub doc: Doc,
}

/// An enum whose values have numbers in the C header.
pub trait Choice: Copy + 'static {
    /// Name of the type in the C interface.
    const TYPE: &'static str;
    const DOC: Doc;
    const NAMES: &'static [Name];
    /// For each name the value that it means; `None`: a value that the library refuses.
    const VALUES: &'static [Option<Self>];

    fn named() -> impl Iterator<Item = (&'static Name, Self)> {
        Self::NAMES.iter().zip(Self::VALUES).filter_map(|(name, value)| Some((name, (*value)?)))
    }

    /// The value for a word, in any spelling accepted by [`same_word`].
    fn from_word(word: &str, argument: &str) -> Result<Self> {
        if let Some((_, value)) = Self::named().find(|(name, _)| same_word(name.word, word)) {
            return Ok(value);
        }
        let known: Vec<&str> = Self::named().map(|(name, _)| name.word).collect();
        refuse!(
            InvalidArgument,
            "{argument}",
            expected("one of {}", known.join(", ")),
            found("{word}")
        )
    }

    fn word(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::named().find(|(_, value)| *value == self).map_or("", |(name, _)| name.word)
    }

    /// The number for no choice: 0, or -1 if 0 is a value.
    fn none() -> i32 {
        if Self::NAMES.iter().any(|name| name.number == 0) {
            -1
        } else {
            0
        }
    }
}

/// The number of an enum's value as passed by a host; it may be any number until [`choose`] has checked it.
#[repr(transparent)]
pub struct Number<T>(pub i32, PhantomData<T>);

impl<T> Number<T> {
    pub const fn new(number: i32) -> Self {
        Number(number, PhantomData)
    }
}

impl<T> Clone for Number<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Number<T> {}
impl<T> PartialEq for Number<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> std::fmt::Debug for Number<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
impl<T> std::fmt::Display for Number<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
impl<T: Choice + PartialEq> From<T> for Number<T> {
    fn from(value: T) -> Self {
        number_of(value)
    }
}

impl<T: Choice> CType for Number<T> {
    const TYPE: Type = Type::Enum(T::TYPE);
}
impl<T: Choice> CType for *const Number<T> {
    const TYPE: Type = Type::Numbers(&Number::<T>::TYPE);
}
impl<T: Choice> Member for Number<T> {
    const ZERO: Self = Number::new(0);
    fn digest(&self, to: &mut dyn FnMut(&[u8])) {
        to(&self.0.to_ne_bytes());
    }
    fn in_c(&self) -> String {
        match T::NAMES.iter().find(|name| name.number == self.0) {
            Some(name) => name.name.into(),
            None => self.0.to_string(),
        }
    }
    /// Reads the name of a value or its number; for yes and no also the usual words.
    fn take(&mut self, words: &[&str]) -> Taken {
        let names = || T::NAMES.iter().filter(|name| name.number != i32::MIN);
        let flag = T::TYPE == "QudaBoolean";
        let read = |word: &str| {
            let named = names().find(|name| name.name == word).map(|name| name.number);
            let named = named.or_else(|| truth(word).filter(|_| flag).map(|t| t as i32));
            named.or_else(|| word.parse().ok())
        };
        let all: Vec<&str> = names().map(|name| name.name).collect();
        let expected = format!("{}{}", all.join(", "), if flag { ", yes, no" } else { "" });
        one_word(words, &expected, read).map(|number| *self = Number::new(number))
    }
}

/// The value whose number the host passed in `argument`, or an error.
pub fn choose<T: Choice>(number: Number<T>, argument: &str) -> Result<T> {
    if let Some((_, value)) = T::named().find(|(name, _)| name.number == number.0) {
        return Ok(value);
    }
    let known: Vec<String> =
        T::named().map(|(name, _)| format!("{} ({})", name.name, name.number)).collect();
    refuse!(InvalidArgument, "{argument}", expected("{}", known.join(" or ")), found("{number}"))
}

/// The number of a value in the header.
pub fn number_of<T: Choice + PartialEq>(value: T) -> Number<T> {
    let found = T::named().find(|(_, v)| *v == value);
    Number::new(found.map_or(0, |(name, _)| name.number))
}

/// Enums with the number and name of each value in C, and its word in text. `enum` declares the enum, whose values
/// have their C names in messages; `impl` is for an existing enum, whose values have their words in messages; `names`
/// is for an existing enum with its own texts for messages, which may have values that C does not have.
#[macro_export]
macro_rules! choices {
    ($(
        $(#[doc = $doc:expr])*
        pub enum $type:ident: $c:ident {
            $($(#[doc = $vdoc:expr])* $value:ident = $number:literal, $name:ident, $word:literal;)*
        }
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[doc = $vdoc])* $value,)*
        }
        $crate::error::words!($type { $($value => stringify!($name),)* });
        $crate::params::choices! { @table $type: $c, [$($doc),*]
            { $([$($vdoc),*] $value = $number, $name, $word;)* } }
    )* };
    (
        $(#[doc = $doc:expr])*
        impl $type:ident: $c:ident {
            $($(#[doc = $vdoc:expr])* $value:ident = $number:literal, $name:ident, $word:literal;)*
        }
    ) => {
        $crate::error::words!($type { $($value => $word,)* });
        $crate::params::choices! { @table $type: $c, [$($doc),*]
            { $([$($vdoc),*] $value = $number, $name, $word;)* } }
    };
    (
        $(#[doc = $doc:expr])*
        names $type:ident: $c:ident {
            $($(#[doc = $vdoc:expr])* $value:ident = $number:literal, $name:ident, $word:literal;)*
        }
    ) => {
        $crate::params::choices! { @table $type: $c, [$($doc),*]
            { $([$($vdoc),*] $value = $number, $name, $word;)* } }
    };
    (@table $type:ident: $c:ident, [$($doc:expr),*]
        { $([$($vdoc:expr),*] $value:ident = $number:literal, $name:ident, $word:literal;)* }) => {
        impl $crate::params::Choice for $type {
            const TYPE: &'static str = stringify!($c);
            const DOC: $crate::params::Doc = &[$($doc),*];
            const NAMES: &'static [$crate::params::Name] = &[$($crate::params::Name {
                number: $number,
                name: stringify!($name),
                word: $word,
                doc: &[$($vdoc),*],
            }),*];
            const VALUES: &'static [Option<Self>] = &[$(Some($type::$value)),*];
        }
    };
}
pub use crate::choices;
