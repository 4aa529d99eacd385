//! Tables of parameters: the contents of a row, and operations on structs declared by a table.

use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::suggestion::hint;
use super::{Doc, Field, Type};
use crate::error::Result;
use crate::{bail, refuse};

/// The range of numbers that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    least: f64,
    max: f64,
    /// Whether the lower and the upper end are allowed.
    ends: [bool; 2],
    whole: bool,
}

impl Range {
    pub const ANY: Range =
        Range { least: f64::NEG_INFINITY, max: f64::INFINITY, ends: [true; 2], whole: false };
    /// A range of whole numbers, with both ends included.
    pub const fn whole(least: i64, max: i64) -> Self {
        Range { least: least as f64, max: max as f64, ends: [true; 2], whole: true }
    }

    pub fn holds(&self, x: f64) -> bool {
        let from = x > self.least || (self.ends[0] && x == self.least);
        let to = x < self.max || (self.ends[1] && x == self.max);
        *self == Range::ANY || (from && to)
    }

    /// The text of what is expected, for a message about a value `x` outside of the range.
    pub fn expected(&self, x: f64) -> String {
        match x > self.max {
            true if self.max >= f64::from(i32::MAX) => format!("at most {}", self.max),
            _ => self.text(),
        }
    }

    /// The range as text for messages and help; empty if every number is allowed.
    pub fn text(&self) -> String {
        let (least, max) = (super::short(self.least), super::short(self.max));
        let limited = self.max < f64::from(i32::MAX);
        match (self.least.is_finite(), limited, self.ends) {
            (true, true, [true, true]) if self.whole && self.max == self.least + 1.0 => {
                format!("{least} or {max}")
            }
            (true, true, [true, true]) => format!("{least} to {max}"),
            (true, true, [true, false]) => format!("{least} to below {max}"),
            (true, true, [false, true]) => format!("a number above {least}, to {max}"),
            (true, true, [false, false]) => format!("a number between {least} and {max}"),
            (true, false, [true, _]) => format!("{least} or more"),
            (true, false, [false, _]) => format!("a number above {least}"),
            (false, true, _) => format!("at most {max}"),
            (false, false, _) => String::new(),
        }
    }
}

/// The kind of value that a parameter has in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    /// One of the words of the row.
    Word,
    /// True or false.
    Flag,
    /// Some of the words of the row, separated by commas.
    Set,
    /// No text: the member can only be set by hosts in C.
    Host,
}

/// A row of a table: one parameter.
#[derive(Clone, Copy)]
pub struct Row {
    /// Name of the member in Rust and C and of the key in TOML.
    pub name: &'static str,
    /// The option of a program for this parameter: its name with dashes.
    pub option: &'static str,
    /// The name of the parameter in earlier versions, which is refused with a hint to the present one; empty: none.
    pub old: &'static str,
    /// The sentences that describe the parameter.
    pub doc: Doc,
    /// Type of the member in C.
    pub ty: Type,
    pub unit: &'static str,
    pub range: Range,
    /// For parameters that may have no value: the word that stands for no value.
    pub absent: &'static str,
    /// True if the struct is an element of a list, and a value holds for this element only, not for those after it.
    pub each: bool,
    pub kind: Kind,
    /// The default as text.
    pub default: fn() -> String,
    words: fn(&Row) -> Vec<&'static str>,
    /// The rows of the struct that this parameter consists of, if it is not a single value.
    pub inner: fn() -> Option<(&'static [Row], bool)>,
}

impl Row {
    pub const fn new(
        (name, option, doc, ty): (&'static str, &'static str, Doc, Type),
        kind: Kind,
        default: fn() -> String,
        words: fn(&Row) -> Vec<&'static str>,
        inner: fn() -> Option<(&'static [Row], bool)>,
    ) -> Self {
        let (unit, absent) = ("", "auto");
        let range = if matches!(kind, Kind::Flag) { Range::whole(0, 1) } else { Range::ANY };
        Row {
            name,
            option,
            old: "",
            doc,
            ty,
            unit,
            range,
            absent,
            each: false,
            kind,
            default,
            words,
            inner,
        }
    }
    /// Sets the range: whole numbers from `least` to `max`.
    pub const fn within(self, least: i64, max: i64) -> Self {
        Row { range: Range::whole(least, max), ..self }
    }
    /// Sets the range: numbers between `least` and `max`, both excluded.
    pub const fn between(self, least: f64, max: f64) -> Self {
        Row { range: Range { least, max, ends: [false; 2], whole: false }, ..self }
    }
    /// Sets the range: numbers from `least` to `max`, both included.
    pub const fn from(self, least: f64, max: f64) -> Self {
        Row { range: Range { least, max, ends: [true; 2], whole: false }, ..self }
    }
    /// Sets the range: numbers from `least`, included, to `max`, excluded.
    pub const fn below(self, least: f64, max: f64) -> Self {
        Row { range: Range { least, max, ends: [true, false], whole: false }, ..self }
    }
    /// Sets the range: numbers from `least`, excluded, to `max`, included.
    pub const fn above(self, least: f64, max: f64) -> Self {
        Row { range: Range { least, max, ends: [false, true], whole: false }, ..self }
    }
    /// Sets the name that the parameter had in earlier versions.
    pub const fn old(self, old: &'static str) -> Self {
        Row { old, ..self }
    }
    pub const fn unit(self, unit: &'static str) -> Self {
        Row { unit, ..self }
    }
    pub const fn absent(self, absent: &'static str) -> Self {
        Row { absent, ..self }
    }
    pub const fn each(self) -> Self {
        Row { each: true, ..self }
    }

    /// Whether a value is a list of numbers.
    pub fn is_list(&self) -> bool {
        matches!(self.ty, Type::Array(..))
    }
    /// Words that are allowed as values, or mean that there is none.
    pub fn words(&self) -> Vec<&'static str> {
        (self.words)(self)
    }
    /// The description of the parameter on one line.
    pub fn help(&self) -> String {
        self.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
    /// The allowed values on one line: words, range, unit; empty if any number is allowed.
    pub fn values(&self) -> String {
        let range = match self.range.text() {
            text if text.is_empty() || self.kind == Kind::Flag => None,
            text => Some(text),
        };
        let words = Some(self.words().join(", ")).filter(|words| !words.is_empty());
        let mut text = range.into_iter().chain(words).collect::<Vec<_>>().join(", ");
        if !self.unit.is_empty() {
            text = format!("{text} {}", self.unit).trim().into();
        }
        text
    }
}

/// All rows; a row that contains a struct is replaced by the struct's rows.
pub fn flat(rows: &'static [Row]) -> Vec<&'static Row> {
    let each = rows.iter().filter(|row| row.kind != Kind::Host).map(|row| match (row.inner)() {
        Some((inner, _)) => flat(inner),
        None => vec![row],
    });
    each.flatten().collect()
}

/// The present name of the row that had the name `old` in earlier versions.
pub fn renamed(rows: &'static [Row], old: &str) -> Option<&'static str> {
    let row = flat(rows).into_iter().find(|row| !row.old.is_empty() && row.old == old);
    row.map(|row| row.name)
}

/// A struct of the C interface, as data for headers.
pub trait CStruct: Copy {
    const NAME: &'static str;
    const DOC: Doc;
    const FIELDS: &'static [Field];
    /// Calls `to` with the name of each member and those of its bytes that must be equal on all ranks.
    fn digest(&self, to: &mut dyn FnMut(&'static str, &[u8]));
}

/// A struct declared by a table.
pub trait Parameters: Clone + Default + 'static {
    const ROWS: &'static [Row];

    /// Name of the struct.
    const NAME: &'static str;

    /// Sets a row, possibly of an inner struct, from text; `argument` is its name in messages. `None`: there is no
    /// such row.
    fn set_row(&mut self, name: &str, text: &str, argument: &str) -> Option<Result<()>>;
    /// The value of a row of this struct as text.
    fn get(&self, name: &str) -> Option<String>;
    /// Refuses values out of range.
    fn check_rows(&self, prefix: &str) -> Result<()>;
    /// Sets a parameter from text.
    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        match self.set_row(name, text, name) {
            Some(done) => done,
            None => match renamed(Self::ROWS, name) {
                Some(new) => bail!(InvalidArgument, "{name}: its name is {new} now"),
                None => {
                    let names: Vec<&str> = flat(Self::ROWS).iter().map(|row| row.name).collect();
                    refuse!(InvalidArgument, "{name}", expected("one of {}", names.join(", ")))
                }
            },
        }
    }
}

/// A struct of parameters that also exists in the C interface.
pub trait InC: Parameters {
    type C: CStruct + Default;
    fn to_c(&self) -> Self::C;
    /// Converts the host's values and checks their ranges; in messages names of members follow `argument`.
    fn from_c(c: &Self::C, argument: &str) -> Result<Self>;
}

/// Reads a table of TOML key by key; errors have the line of the key.
pub fn deserialize<'de, P: Parameters, D: Deserializer<'de>>(
    input: D,
) -> std::result::Result<P, D::Error> {
    struct Table<P>(P);
    impl<'de, P: Parameters> Visitor<'de> for Table<P> {
        type Value = P;
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("a table")
        }
        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<P, A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                map.next_value_seed(Value { params: &mut self.0, key: &key })?;
            }
            Ok(self.0)
        }
    }
    input.deserialize_map(Table(P::default()))
}

/// Sets a row to a value of TOML; `argument` is its name in messages.
///
/// # Errors
/// `InvalidArgument`: a value of another type; `BadParameter`: one out of range.
pub fn set_toml<P: Parameters>(
    params: &mut P,
    row: &str,
    value: &toml::Value,
    argument: &str,
) -> Result<()> {
    let Some(known) = flat(P::ROWS).into_iter().find(|known| known.name == row) else {
        return params.set(row, "");
    };
    let text = match text_of(value, known) {
        Ok(text) => text,
        Err(expected) => {
            refuse!(
                InvalidArgument,
                "{argument}",
                expected("{expected}"),
                found("{}", found(value))
            )
        }
    };
    params.set_row(row, &text, argument).unwrap_or(Ok(()))
}

/// A deserialiser for the value of one key of TOML, which sets the row with that name in `params`.
struct Value<'a, P> {
    params: &'a mut P,
    key: &'a str,
}

impl<'de, P: Parameters> DeserializeSeed<'de> for Value<'_, P> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> std::result::Result<(), D::Error> {
        let Some(row) = flat(P::ROWS).into_iter().find(|row| row.name == self.key) else {
            let names: Vec<&str> = flat(P::ROWS).iter().map(|row| row.name).collect();
            let (key, known) = (self.key, names.join(", "));
            if let Some(new) = renamed(P::ROWS, key) {
                return Err(D::Error::custom(format!("key `{key}`: its name is {new} now")));
            }
            let meant = match hint(key, names) {
                none if none.is_empty() => none,
                hint => format!("; {hint}"),
            };
            let said = format!("unknown key `{key}`, expected one of {known}{meant}");
            return Err(D::Error::custom(said));
        };
        let value = toml::Value::deserialize(input)?;
        set_toml(self.params, row.name, &value, self.key).map_err(|e| D::Error::custom(e.what()))
    }
}

fn found(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => format!("\"{text}\""),
        other => format!("a value of type {}", other.type_str()),
    }
}

/// A value of TOML in the form that options have; the error is a text of what was expected instead.
fn text_of(value: &toml::Value, row: &Row) -> std::result::Result<String, String> {
    let words = row.words();
    match value {
        toml::Value::String(text) if words.contains(&text.as_str()) => Ok(text.clone()),
        toml::Value::String(_) if row.kind == Kind::Number => Err(match row.range.text() {
            range if range.is_empty() => "a number".into(),
            range => range,
        }),
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(yes) => Ok(yes.to_string()),
        toml::Value::Array(list) => {
            let nested = list.iter().any(|one| matches!(one, toml::Value::Array(_)));
            let texts: Vec<String> =
                list.iter().map(|one| text_of(one, row)).collect::<std::result::Result<_, _>>()?;
            Ok(texts.join(if nested { ":" } else { "," }))
        }
        _ => Err("a value".into()),
    }
}

/// Declares structs of parameters. A row is `name: Type = default, word(values)...;` where the words are functions of
/// [`Row`]. `struct Name: plaq_name` also declares a struct of the C interface that may grow, `part Name: plaq_name`
/// one that is a member of others, and `table Name` none. With `composed` before `struct` some rows are `with name;`:
/// those of a [`row_set!`], which several tables have, or `with name(DEFAULT);`.
#[macro_export]
macro_rules! parameters {
    ($(#[doc = $doc:expr])* pub struct $name:ident: $c:ident { $($rows:tt)* }) => {
        $crate::params::parameters! { @table [$($doc),*] $name { $($rows)* } }
        $crate::params::parameters! { @c [$($doc),*] $name $c struct_size { $($rows)* } }
    };
    ($(#[doc = $doc:expr])* pub part $name:ident: $c:ident { $($rows:tt)* }) => {
        $crate::params::parameters! { @table [$($doc),*] $name { $($rows)* } }
        $crate::params::parameters! { @c [$($doc),*] $name $c { $($rows)* } }
    };
    ($(#[doc = $doc:expr])* pub table $name:ident { $($rows:tt)* }) => {
        $crate::params::parameters! { @table [$($doc),*] $name { $($rows)* } }
    };
    ($(#[doc = $doc:expr])* pub composed $kind:ident $name:ident $(: $c:ident)? { $($rows:tt)* }) => {
        $crate::params::parameters! {
            @compose { $(#[doc = $doc])* pub $kind $name $(: $c)? } [] $($rows)*
        }
    };
    (@compose { $($head:tt)* } [$($done:tt)*]) => {
        $crate::params::parameters! { $($head)* { $($done)* } }
    };
    (@compose $head:tt $done:tt with $set:ident $(($default:expr))?; $($rest:tt)*) => {
        $set! { $head $done [$(($default))?] $($rest)* }
    };
    (@compose $head:tt [$($done:tt)*]
        $(#[doc = $rdoc:expr])* $field:ident: $ty:ty = $default:expr
        $(, $word:ident($($value:expr),*))*; $($rest:tt)*
    ) => {
        $crate::params::parameters! { @compose $head [
            $($done)*
            $(#[doc = $rdoc])* $field: $ty = $default $(, $word($($value),*))*;
        ] $($rest)* }
    };
    (@table [$($doc:expr),*] $name:ident {
        $($(#[doc = $rdoc:expr])* $field:ident: $ty:ty = $default:expr
            $(, $word:ident($($value:expr),*))*;)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $rdoc])* pub $field: $ty,)*
        }
        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }
        impl $crate::params::Parameters for $name {
            const ROWS: &'static [$crate::params::Row] = {
                #[allow(unused_imports)]
                use $crate::params::{text_of_option, option_of, CType, Param, Row};
                &[$(Row::new(
                    (
                        stringify!($field),
                        {
                            const OPTION: &[u8] = &option_of::<{ stringify!($field).len() }>(stringify!($field));
                            text_of_option(OPTION)
                        },
                        &[$($rdoc),*],
                        <<$ty as Param>::C as CType>::TYPE,
                    ),
                    <$ty as Param>::KIND,
                    || Param::text(&$name::default().$field, $name::row(stringify!($field))),
                    <$ty as Param>::words,
                    <$ty as Param>::inner,
                )$(.$word($($value),*))*),*]
            };
            const NAME: &'static str = stringify!($name);
            fn set_row(
                &mut self,
                name: &str,
                text: &str,
                argument: &str,
            ) -> Option<$crate::error::Result<()>> {
                use $crate::params::Param;
                $(if let Some(done) = self.$field.set_inner(name, text, argument) {
                    return Some(done);
                })*
                match name {
                    $(stringify!($field) if <$ty as Param>::inner().is_none() => {
                        let row = $name::row(stringify!($field));
                        Some(<$ty as Param>::parse(text, row, argument).and_then(|value| {
                            Param::check(&value, row, argument)?;
                            self.$field = value;
                            Ok(())
                        }))
                    })*
                    _ => None,
                }
            }
            fn get(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($field) => {
                        Some($crate::params::Param::text(&self.$field, $name::row(name)))
                    })*
                    _ => None,
                }
            }
            fn check_rows(&self, prefix: &str) -> $crate::error::Result<()> {
                let named = |name: &str| match prefix {
                    "" => name.to_string(),
                    prefix => format!("{prefix}.{name}"),
                };
                $({
                    let row = $name::row(stringify!($field));
                    $crate::params::Param::check(&self.$field, row, &named(row.name))?;
                })*
                Ok(())
            }
        }
        impl $name {
            /// The row with a name.
            pub const fn row(name: &str) -> &'static $crate::params::Row {
                $crate::params::find(<Self as $crate::params::Parameters>::ROWS, name)
            }
        }
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                $({
                    let value = $crate::params::Param::to_c(&self.$field, $name::row(stringify!($field)));
                    $crate::params::Member::digest(&value, &mut |bytes| state.write(bytes));
                })*
            }
        }
        impl<'de> $crate::params::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::params::serde::Deserializer<'de>>(
                input: D,
            ) -> std::result::Result<Self, D::Error> {
                $crate::params::deserialize(input)
            }
        }
    };
    (@c [$($doc:expr),*] $name:ident $c:ident $($size:ident)? {
        $($(#[doc = $rdoc:expr])* $field:ident: $ty:ty = $default:expr
            $(, $word:ident($($value:expr),*))*;)*
    }) => {
        #[doc = concat!("`", stringify!($name), "` as hosts pass it.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $c {
            $(pub $size: i64,)?
            $(pub $field: <$ty as $crate::params::Param>::C,)*
        }
        impl Default for $c {
            fn default() -> Self {
                $crate::params::InC::to_c(&$name::default())
            }
        }
        impl $crate::params::CType for $c {
            const TYPE: $crate::params::Type = $crate::params::Type::Struct(stringify!($c));
        }
        impl $crate::params::Member for $c {
            const ZERO: Self = $c {
                $($size: 0,)?
                $($field: <<$ty as $crate::params::Param>::C as $crate::params::Member>::ZERO),*
            };
            fn digest(&self, to: &mut dyn FnMut(&[u8])) {
                $crate::params::CStruct::digest(self, &mut |_, bytes| to(bytes));
            }
            fn in_c(&self) -> String {
                String::new()
            }
        }
        impl $crate::params::CStruct for $c {
            const NAME: &'static str = stringify!($c);
            const DOC: $crate::params::Doc = &[$($doc),*];
            const FIELDS: &'static [$crate::params::Field] = {
                #[allow(unused_imports)]
                use $crate::params::{CType, Field, Member, Param};
                &[
                    $(Field { name: stringify!($size), ..Field::SIZE },)?
                    $(Field {
                        name: stringify!($field),
                        ty: <<$ty as Param>::C as CType>::TYPE,
                        offset: std::mem::offset_of!($c, $field),
                        size: size_of::<<$ty as Param>::C>(),
                        doc: &[$($rdoc),*],
                        range: $name::row(stringify!($field)).range,
                        old: $name::row(stringify!($field)).old,
                        default: Some(|| Member::in_c(&$c::default().$field)),
                    }),*
                ]
            };
            fn digest(&self, to: &mut dyn FnMut(&'static str, &[u8])) {
                $($crate::params::Member::digest(&self.$field, &mut |bytes| {
                    to(stringify!($field), bytes)
                });)*
            }
        }
        impl $crate::params::InC for $name {
            type C = $c;
            fn to_c(&self) -> $c {
                $c {
                    $($size: size_of::<$c>() as i64,)?
                    $($field: $crate::params::Param::to_c(&self.$field, $name::row(stringify!($field))),)*
                }
            }
            fn from_c(c: &$c, argument: &str) -> $crate::error::Result<Self> {
                Ok($name { $($field: {
                    let row = $name::row(stringify!($field));
                    $crate::params::Param::from_c(c.$field, row, &format!("{argument}.{}", row.name))?
                },)* })
            }
        }
        impl $crate::params::Param for $name {
            type C = $c;
            const KIND: $crate::params::Kind = $crate::params::Kind::Number;
            fn to_c(&self, _: &$crate::params::Row) -> $c {
                $crate::params::InC::to_c(self)
            }
            fn from_c(c: $c, _: &$crate::params::Row, name: &str) -> $crate::error::Result<Self> {
                <Self as $crate::params::InC>::from_c(&c, name)
            }
            fn text(&self, _: &$crate::params::Row) -> String {
                String::new()
            }
            fn parse(
                _: &str,
                _: &$crate::params::Row,
                name: &str,
            ) -> $crate::error::Result<Self> {
                $crate::refuse!(InvalidArgument, "{name}", expected("its members"))
            }
            fn check(&self, _: &$crate::params::Row, name: &str) -> $crate::error::Result<()> {
                $crate::params::Parameters::check_rows(self, name)
            }
            fn inner() -> Option<(&'static [$crate::params::Row], bool)> {
                Some((<Self as $crate::params::Parameters>::ROWS, false))
            }
            fn set_inner(
                &mut self,
                name: &str,
                text: &str,
                argument: &str,
            ) -> Option<$crate::error::Result<()>> {
                $crate::params::Parameters::set_row(self, name, text, argument)
            }
        }
    };
}
pub use crate::parameters;

/// Declares rows that several tables of [`parameters!`] have, or with `reports` before the name several of
/// [`crate::params::reports!`], under the name of a macro of this crate; with `pub` other crates have it, too, and in
/// this one only the rest of the file. `name($default)` is a set whose tables write `with name(VALUE);`: rows that have
/// `$default` have it there.
#[macro_export]
macro_rules! row_set {
    ($name:ident $(($d:tt $value:ident))? { $($rows:tt)* }) => {
        $crate::params::row_set! { @($) parameters $name [$(($d $value:expr))?] [] { $($rows)* } }
        // Not for sets that only their own file has.
        #[allow(unused_imports)]
        pub(crate) use $name;
    };
    (pub $name:ident { $($rows:tt)* }) => {
        $crate::params::row_set! { @($) parameters $name [] [#[macro_export]] { $($rows)* } }
    };
    (reports $name:ident { $($rows:tt)* }) => {
        $crate::params::row_set! { @($) reports $name [] [] { $($rows)* } }
        #[allow(unused_imports)]
        pub(crate) use $name;
    };
    (@($d:tt) $of:ident $name:ident [$($value:tt)*] [$($exported:tt)*] { $($rows:tt)* }) => {
        $($exported)*
        macro_rules! $name {
            ($d head:tt [$d($d done:tt)*] [$($value)*] $d($d rest:tt)*) => {
                $crate::params::$of! {
                    @compose $d head [$d($d done)*] $($rows)* $d($d rest)*
                }
            };
        }
    };
}
pub use crate::row_set;

/// The bytes of a row's name of this length with dashes for underscores.
pub const fn option_of<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [b'-'; N];
    let mut i = 0;
    while i < N {
        if name.as_bytes()[i] != b'_' {
            bytes[i] = name.as_bytes()[i];
        }
        i += 1;
    }
    bytes
}

/// The text of bytes, which must be UTF-8; can also be evaluated in constants.
pub const fn text_of_option(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a name in ASCII"),
    }
}

/// The row with this name, which must be in `rows`.
pub const fn find(rows: &'static [Row], name: &str) -> &'static Row {
    let mut i = 0;
    while i < rows.len() {
        if same(rows[i].name, name) {
            return &rows[i];
        }
        i += 1;
    }
    panic!("a name of the table");
}

/// Whether two names are equal; can also be evaluated in constants.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
