//! Types of parameters: their form in text, as a member of a C struct, and their range.

use super::choice::{choose, number_of, Choice, Number};
use super::table::{Kind, Range, Row};
use super::{short, Member};
use crate::error::Result;
use crate::refuse;

/// A type that a row of a table may have.
pub trait Param: Clone + Sized {
    type C: Member;
    const KIND: Kind;
    fn to_c(&self, row: &Row) -> Self::C;
    /// Converts the host's value and checks its range; `name` is used in messages.
    fn from_c(c: Self::C, row: &Row, name: &str) -> Result<Self>;
    fn text(&self, row: &Row) -> String;
    /// Parses the value from text; `name` is used in messages.
    fn parse(text: &str, row: &Row, name: &str) -> Result<Self>;
    fn check(&self, row: &Row, name: &str) -> Result<()>;
    /// Words that are allowed as values, or mean that there is none.
    fn words(_row: &Row) -> Vec<&'static str> {
        vec![]
    }
    /// If this type is a struct of parameters: its rows, and whether a parameter is a list of such structs.
    fn inner() -> Option<(&'static [Row], bool)> {
        None
    }
    /// Sets a row if this type is a struct of parameters; `None`: it has no such row.
    fn set_inner(&mut self, _name: &str, _text: &str, _argument: &str) -> Option<Result<()>> {
        None
    }
}

fn refused<T>(name: &str, row: &Row, found: f64) -> Result<T> {
    let expected = row.range.expected(found);
    refuse!(BadParameter, "{name}", expected("{expected}"), found("{found}"))
}

fn not_read<T>(name: &str, expected: &str, found: &str) -> Result<T> {
    refuse!(InvalidArgument, "{name}", expected("{expected}"), found("{found}"))
}

macro_rules! whole {
    ($($ty:ty, $c:ty, $bits:literal);*) => { $(impl Param for $ty {
        type C = $c;
        const KIND: Kind = Kind::Number;
        fn to_c(&self, _: &Row) -> $c {
            <$c>::try_from(*self).unwrap_or(if $bits { *self as $c } else { <$c>::MAX })
        }
        fn from_c(c: $c, row: &Row, name: &str) -> Result<Self> {
            let value = match <$ty>::try_from(c) {
                Ok(value) => value,
                // All bit patterns are valid seeds.
                Err(_) if $bits && row.range == Range::ANY => c as $ty,
                Err(_) => return refused(name, row, c as f64),
            };
            value.check(row, name)?;
            Ok(value)
        }
        fn text(&self, _: &Row) -> String {
            self.to_string()
        }
        fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
            let whole = text.trim().parse().ok().or_else(|| {
                let value: f64 = text.trim().parse().ok()?;
                let fits = value.fract() == 0.0 && (0.0..=9e15).contains(&value);
                fits.then_some(value as u64).and_then(|n| n.try_into().ok())
            });
            whole.map_or_else(|| not_read(name, "a whole number, not negative", text), Ok)
        }
        fn check(&self, row: &Row, name: &str) -> Result<()> {
            match row.range.holds(*self as f64) {
                true => Ok(()),
                false => refused(name, row, *self as f64),
            }
        }
    })* };
}
whole!(usize, i32, false; u32, i64, false; u64, i64, true);

/// Whole numbers of either sign.
macro_rules! signed {
    ($($ty:ty),*) => { $(impl Param for $ty {
        type C = $ty;
        const KIND: Kind = Kind::Number;
        fn to_c(&self, _: &Row) -> $ty {
            *self
        }
        fn from_c(c: $ty, row: &Row, name: &str) -> Result<Self> {
            c.check(row, name)?;
            Ok(c)
        }
        fn text(&self, _: &Row) -> String {
            self.to_string()
        }
        fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
            text.trim().parse().or_else(|_| not_read(name, "a whole number", text))
        }
        fn check(&self, row: &Row, name: &str) -> Result<()> {
            match row.range.holds(*self as f64) {
                true => Ok(()),
                false => refused(name, row, *self as f64),
            }
        }
    })* };
}
signed!(i32, i64);

/// A member that can be set only by hosts in C and Fortran, e.g. an address; it has no form in text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host<T>(pub T);

impl<T: Member> Param for Host<T> {
    type C = T;
    const KIND: Kind = Kind::Host;
    fn to_c(&self, _: &Row) -> T {
        self.0
    }
    fn from_c(c: T, _: &Row, _: &str) -> Result<Self> {
        Ok(Host(c))
    }
    fn text(&self, _: &Row) -> String {
        self.0.in_c()
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        not_read(name, "nothing, as only programs in C set it", text)
    }
    fn check(&self, _: &Row, _: &str) -> Result<()> {
        Ok(())
    }
}

/// A set of values of an enum whose numbers are bits: their sum in C; in text words separated by commas, or `none`.
pub struct Set<T>(i32, std::marker::PhantomData<T>);

impl<T: Choice + PartialEq> Set<T> {
    pub const NONE: Self = Set(0, std::marker::PhantomData);

    /// The set of these values.
    pub fn of(values: &[T]) -> Self {
        let bits = values.iter().fold(0, |bits, value| bits | number_of(*value).0);
        Set(bits, std::marker::PhantomData)
    }
    pub fn contains(&self, value: T) -> bool {
        self.0 & number_of(value).0 != 0
    }
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

impl<T> Clone for Set<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Set<T> {}
impl<T> PartialEq for Set<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> std::fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "bits {:#b}", self.0)
    }
}

impl<T: Choice + PartialEq> Param for Set<T> {
    type C = i32;
    const KIND: Kind = Kind::Set;
    fn to_c(&self, _: &Row) -> i32 {
        self.0
    }
    fn from_c(c: i32, row: &Row, name: &str) -> Result<Self> {
        let set = Set(c, std::marker::PhantomData);
        set.check(row, name)?;
        Ok(set)
    }
    fn text(&self, _: &Row) -> String {
        let named = T::named().filter(|(_, value)| self.contains(*value));
        match named.map(|(name, _)| name.word).collect::<Vec<_>>() {
            words if words.is_empty() => "none".into(),
            words => words.join(","),
        }
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        let words = text.split(',').filter(|word| !word.is_empty() && *word != "none");
        let values: Result<Vec<T>> = words.map(|word| T::from_word(word.trim(), name)).collect();
        Ok(Set::of(&values?))
    }
    fn check(&self, _: &Row, name: &str) -> Result<()> {
        let all = T::NAMES.iter().fold(0, |bits, name| bits | name.number);
        match self.0 & !all {
            0 => Ok(()),
            _ => {
                let names: Vec<&str> = T::NAMES.iter().map(|name| name.name).collect();
                let expected = format!("a sum of {}", names.join(", "));
                refuse!(BadParameter, "{name}", expected("{expected}"), found("{}", self.0))
            }
        }
    }
    fn words(_: &Row) -> Vec<&'static str> {
        T::named().map(|(name, _)| name.word).chain(["none"]).collect()
    }
}

impl Param for f64 {
    type C = f64;
    const KIND: Kind = Kind::Number;
    fn to_c(&self, _: &Row) -> f64 {
        *self
    }
    fn from_c(c: f64, row: &Row, name: &str) -> Result<Self> {
        c.check(row, name)?;
        Ok(c)
    }
    fn text(&self, _: &Row) -> String {
        short(*self)
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        text.trim().parse().or_else(|_| not_read(name, "a number", text))
    }
    fn check(&self, row: &Row, name: &str) -> Result<()> {
        if !row.range.holds(*self) {
            return refused(name, row, *self);
        }
        Ok(())
    }
}

impl Param for bool {
    type C = i32;
    const KIND: Kind = Kind::Flag;
    fn to_c(&self, _: &Row) -> i32 {
        i32::from(*self)
    }
    fn from_c(c: i32, _: &Row, name: &str) -> Result<Self> {
        match c {
            0 | 1 => Ok(c == 1),
            _ => refuse!(BadParameter, "{name}", expected("0 or 1"), found("{c}")),
        }
    }
    fn text(&self, _: &Row) -> String {
        self.to_string()
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        match text {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            _ => not_read(name, "true or false", text),
        }
    }
    fn check(&self, _: &Row, _: &str) -> Result<()> {
        Ok(())
    }
    fn words(_: &Row) -> Vec<&'static str> {
        vec!["true", "false"]
    }
}

impl<T: Choice + PartialEq> Param for T {
    type C = Number<T>;
    const KIND: Kind = Kind::Word;
    fn to_c(&self, _: &Row) -> Number<T> {
        number_of(*self)
    }
    fn from_c(c: Number<T>, _: &Row, name: &str) -> Result<Self> {
        choose(c, name)
    }
    fn text(&self, _: &Row) -> String {
        self.word().into()
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        T::from_word(text, name)
    }
    fn check(&self, _: &Row, _: &str) -> Result<()> {
        Ok(())
    }
    fn words(_: &Row) -> Vec<&'static str> {
        T::named().map(|(name, _)| name.word).filter(|word| !word.is_empty()).collect()
    }
}

/// A type whose values may be absent: `None` has its own number in C, and the row's word in text.
pub trait Element: Param {
    /// The number in C that means no value; text may use it, too.
    fn absent(row: &Row) -> Self::C;
    fn is_absent(c: &Self::C, row: &Row) -> bool;
    /// Whether text is the number that stands for no value, as C, TOML or a user writes it.
    fn is_absent_text(text: &str, row: &Row) -> bool {
        text == Self::absent(row).in_c()
    }
}

impl<T: Choice + PartialEq> Element for T {
    fn absent(_: &Row) -> Number<T> {
        Number::new(T::none())
    }
    fn is_absent(c: &Number<T>, _: &Row) -> bool {
        c.0 == T::none()
    }
}

/// A flag without a value is -1 in C.
impl Element for bool {
    fn absent(_: &Row) -> i32 {
        -1
    }
    fn is_absent(c: &i32, _: &Row) -> bool {
        *c == -1
    }
}

/// A count without a value is 0 in C if 0 is no allowed value, else -1.
impl Element for usize {
    fn absent(row: &Row) -> i32 {
        if row.range.holds(0.0) {
            -1
        } else {
            0
        }
    }
    fn is_absent(c: &i32, row: &Row) -> bool {
        *c == Self::absent(row)
    }
}

/// A real number without a value is NaN in C, or 0 if 0 is no allowed value.
impl Element for f64 {
    fn absent(row: &Row) -> f64 {
        if row.range.holds(0.0) {
            f64::NAN
        } else {
            0.0
        }
    }
    fn is_absent(c: &f64, row: &Row) -> bool {
        match row.range.holds(0.0) {
            true => c.is_nan(),
            false => *c == 0.0,
        }
    }
    fn is_absent_text(text: &str, row: &Row) -> bool {
        match Self::absent(row) {
            nan if nan.is_nan() => text.trim().parse().is_ok_and(f64::is_nan),
            number => text == number.in_c(),
        }
    }
}

impl<T: Element> Param for Option<T> {
    type C = T::C;
    const KIND: Kind = T::KIND;
    fn to_c(&self, row: &Row) -> T::C {
        self.as_ref().map_or_else(|| T::absent(row), |value| value.to_c(row))
    }
    fn from_c(c: T::C, row: &Row, name: &str) -> Result<Self> {
        if T::is_absent(&c, row) {
            return Ok(None);
        }
        let absent = T::absent(row).in_c();
        // If a number outside the range means "not set", the message names it.
        let named = |e: crate::error::Error| match absent == "-1" {
            true => e.or_expected(&format!(", or {absent} for {}", row.absent)),
            false => e,
        };
        T::from_c(c, row, name).map(Some).map_err(named)
    }
    fn text(&self, row: &Row) -> String {
        self.as_ref().map_or_else(|| row.absent.into(), |value| value.text(row))
    }
    fn parse(text: &str, row: &Row, name: &str) -> Result<Self> {
        if text == row.absent || T::is_absent_text(text, row) {
            return Ok(None);
        }
        T::parse(text, row, name)
            .map(Some)
            .map_err(|e| e.or_expected(&format!(", or {}", row.absent)))
    }
    fn check(&self, row: &Row, name: &str) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.check(row, name))
    }
    fn words(row: &Row) -> Vec<&'static str> {
        T::words(row).into_iter().chain([row.absent]).collect()
    }
}

impl<T: Param, const N: usize> Param for [T; N] {
    type C = [T::C; N];
    const KIND: Kind = T::KIND;
    fn to_c(&self, row: &Row) -> Self::C {
        std::array::from_fn(|i| self[i].to_c(row))
    }
    fn from_c(c: Self::C, row: &Row, name: &str) -> Result<Self> {
        let each = c.into_iter().enumerate();
        let each = each.map(|(i, c)| T::from_c(c, row, &format!("{name}[{i}]")));
        let all: Vec<T> = each.collect::<Result<_>>()?;
        Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as there were")))
    }
    fn text(&self, row: &Row) -> String {
        self.iter().map(|value| value.text(row)).collect::<Vec<_>>().join(",")
    }
    fn parse(text: &str, row: &Row, name: &str) -> Result<Self> {
        let all: Vec<T> =
            text.split(',').map(|one| T::parse(one, row, name)).collect::<Result<_>>()?;
        let found = all.len();
        all.try_into().or_else(|_| not_read(name, &format!("{N} values"), &found.to_string()))
    }
    fn check(&self, row: &Row, name: &str) -> Result<()> {
        let mut each = self.iter().enumerate();
        each.try_for_each(|(i, value)| value.check(row, &format!("{name}[{i}]")))
    }
    fn words(row: &Row) -> Vec<&'static str> {
        T::words(row)
    }
    fn inner() -> Option<(&'static [Row], bool)> {
        T::inner().map(|(rows, _)| (rows, true))
    }
    /// Sets values for the first structs of a list; the last value also holds for all following ones, unless the row
    /// says that each has its own.
    fn set_inner(&mut self, name: &str, text: &str, argument: &str) -> Option<Result<()>> {
        let row = T::inner()?.0.iter().find(|row| row.name == name)?;
        let separator = if row.is_list() { ':' } else { ',' };
        let texts: Vec<&str> = text.split(separator).collect();
        if texts.len() > N {
            let expected = format!("values of at most {N}");
            return Some(not_read(argument, &expected, &texts.len().to_string()));
        }
        for (i, one) in self.iter_mut().enumerate() {
            let text = match texts.get(i) {
                Some(text) => text,
                None if row.each => break,
                None => texts[texts.len() - 1],
            };
            if let Some(Err(e)) = one.set_inner(name, text, argument) {
                return Some(Err(e));
            }
        }
        Some(Ok(()))
    }
}
