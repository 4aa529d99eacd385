//! Tables of reports: results that the library gives to C, Fortran, Python and the program's JSON.

use serde::{Serialize, Serializer};

use super::choice::{number_of, Choice, Number};
use super::Member;

/// The value of a row of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Flag(bool),
    Whole(i64),
    Number(f64),
    /// The word of an enum's value, or the end of its name in C where it has none.
    Word(String),
    List(Vec<Value>),
    /// There is no value: `null` in JSON.
    Absent,
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Flag(yes) => to.serialize_bool(*yes),
            Value::Whole(number) => to.serialize_i64(*number),
            Value::Number(number) => to.serialize_f64(*number),
            Value::Word(word) => to.serialize_str(word),
            Value::List(values) => to.collect_seq(values),
            Value::Absent => to.serialize_none(),
        }
    }
}

/// A type that a row of a report may have.
pub trait Reported {
    /// Type of the member in C.
    type C: Member;
    fn to_c(&self) -> Self::C;
    fn value(&self) -> Value;
}

macro_rules! reported {
    ($($ty:ty, $c:ty, $kind:ident as $as:ty;)*) => { $(impl Reported for $ty {
        type C = $c;
        fn to_c(&self) -> $c {
            *self as $c
        }
        fn value(&self) -> Value {
            Value::$kind(*self as $as)
        }
    })* };
}
reported! {
    bool, i32, Flag as bool;
    i32, i32, Whole as i64;
    usize, i32, Whole as i64;
    u32, i64, Whole as i64;
    u64, i64, Whole as i64;
    f64, f64, Number as f64;
}

impl<T: Choice + PartialEq> Reported for T {
    type C = Number<T>;
    fn to_c(&self) -> Number<T> {
        number_of(*self)
    }
    fn value(&self) -> Value {
        let found = T::named().find(|(_, value)| value == self).map(|(name, _)| name);
        Value::Word(found.map_or_else(String::new, |found| match found.word {
            "" => {
                let kind = T::TYPE.len() + "_".len();
                found.name.get(kind..).unwrap_or_default().to_lowercase()
            }
            word => word.into(),
        }))
    }
}

/// A number of at least 0 that may be absent: -1 in C.
impl Reported for Option<f64> {
    type C = f64;
    fn to_c(&self) -> f64 {
        self.unwrap_or(-1.0)
    }
    fn value(&self) -> Value {
        self.map_or(Value::Absent, Value::Number)
    }
}

/// An enum's value that may be absent: [`Choice::none`] in C.
impl<T: Choice + PartialEq> Reported for Option<T> {
    type C = Number<T>;
    fn to_c(&self) -> Number<T> {
        self.map_or(Number::new(T::none()), number_of)
    }
    fn value(&self) -> Value {
        self.map_or(Value::Absent, |value| value.value())
    }
}

impl<T: Reported, const N: usize> Reported for [T; N] {
    type C = [T::C; N];
    fn to_c(&self) -> Self::C {
        std::array::from_fn(|i| self[i].to_c())
    }
    fn value(&self) -> Value {
        Value::List(self.iter().map(Reported::value).collect())
    }
}

/// A report that a table declares.
pub trait Report {
    /// Names and values of all rows.
    fn values(&self) -> Vec<(&'static str, Value)>;
}

/// A report that hosts get as a struct of the C interface.
pub trait ToC: Report {
    type C;
    fn to_c(&self) -> Self::C;
}

/// Declares reports once: the Rust struct, that of the C interface with its documentation, and the keys of JSON. A row
/// is `name: Type;`. `struct Name: plaq_name` may grow in C, `part Name: plaq_name` may not, and `table Name` is not in
/// C. Members behind `besides` are in Rust's struct only. With `composed` before `struct` some rows are `with name;`:
/// those of a [`crate::params::row_set!`], which several reports have.
#[macro_export]
macro_rules! reports {
    ($(#[doc = $doc:expr])* $(#[derive($($derive:ident),*)])? pub composed $kind:ident $name:ident $(: $c:ident)? {
        $($rows:tt)*
    } $($besides:tt)*) => {
        $crate::params::reports! { @compose {
            { $(#[doc = $doc])* $(#[derive($($derive),*)])? pub $kind $name $(: $c)? } { $($besides)* }
        } [] $($rows)* }
    };
    (@compose { { $($head:tt)* } { $($besides:tt)* } } [$($done:tt)*]) => {
        $crate::params::reports! { $($head)* { $($done)* } $($besides)* }
    };
    (@compose $head:tt $done:tt with $set:ident; $($rest:tt)*) => {
        $set! { $head $done [] $($rest)* }
    };
    (@compose $head:tt [$($done:tt)*] $(#[doc = $rdoc:expr])* $field:ident: $ty:ty; $($rest:tt)*) => {
        $crate::params::reports! { @compose $head [
            $($done)*
            $(#[doc = $rdoc])* $field: $ty;
        ] $($rest)* }
    };
    ($($(#[doc = $doc:expr])* $(#[derive($($derive:ident),*)])? pub $kind:ident $name:ident $(: $c:ident)? {
        $($(#[doc = $rdoc:expr])* $field:ident: $ty:ty;)*
    } $(besides { $($(#[doc = $bdoc:expr])* $beside:ident: $bty:ty;)* })?)*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq $(, $($derive),*)?)]
        pub struct $name {
            $($(#[doc = $rdoc])* pub $field: $ty,)*
            $($($(#[doc = $bdoc])* pub $beside: $bty,)*)?
        }
        impl $crate::params::Report for $name {
            fn values(&self) -> Vec<(&'static str, $crate::params::Value)> {
                vec![$((stringify!($field), $crate::params::Reported::value(&self.$field))),*]
            }
        }
        $crate::params::reports! { @$kind $name $($c)? [$($doc),*] $({ [$($rdoc),*] $field: $ty })* }
    )* };
    (@table $name:ident $($row:tt)*) => {};
    (@struct $name:ident $c:ident $doc:tt $($row:tt)*) => {
        $crate::params::reports! { @c $name $c struct_size [size_of::<$c>() as i64] $doc $($row)* }
    };
    (@part $name:ident $c:ident $doc:tt $($row:tt)*) => {
        $crate::params::reports! { @c $name $c $doc $($row)* }
    };
    (@c $name:ident $c:ident $($size:ident [$bytes:expr])? [$($doc:expr),*]
        $({ [$($rdoc:expr),*] $field:ident: $ty:ty })*
    ) => {
        #[doc = concat!("`", stringify!($name), "` as hosts get it.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $c {
            $(pub $size: i64,)?
            $(pub $field: <$ty as $crate::params::Reported>::C,)*
        }
        impl Default for $c {
            fn default() -> Self {
                use $crate::params::{Member, Reported};
                $c { $($size: $bytes,)? $($field: <<$ty as Reported>::C as Member>::ZERO,)* }
            }
        }
        impl $crate::params::ToC for $name {
            type C = $c;
            #[allow(clippy::needless_update)]
            fn to_c(&self) -> $c {
                $c { $($field: $crate::params::Reported::to_c(&self.$field),)* ..$c::default() }
            }
        }
        impl $crate::params::CType for $c {
            const TYPE: $crate::params::Type = $crate::params::Type::Struct(stringify!($c));
        }
        impl $crate::params::CStruct for $c {
            const NAME: &'static str = stringify!($c);
            const DOC: $crate::params::Doc = &[$($doc),*];
            const FIELDS: &'static [$crate::params::Field] = {
                use $crate::params::{CType, Field, Reported};
                &[
                    $(Field { name: stringify!($size), ..Field::SIZE },)?
                    $(Field {
                        name: stringify!($field),
                        ty: <<$ty as Reported>::C as CType>::TYPE,
                        offset: std::mem::offset_of!($c, $field),
                        size: size_of::<<$ty as Reported>::C>(),
                        doc: &[$($rdoc),*],
                        ..Field::SIZE
                    }),*
                ]
            };
            fn digest(&self, to: &mut dyn FnMut(&'static str, &[u8])) {
                $($crate::params::Member::digest(&self.$field, &mut |bytes| {
                    to(stringify!($field), bytes)
                });)*
            }
        }
    };
}
pub use crate::reports;
