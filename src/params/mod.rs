//! Parameters as data. A table of `parameters!` declares a struct of parameters once, with one row for each:
//! name, type, default, range and a sentence. From it come the Rust struct with its default and its check, the struct
//! of the C interface, the keys of a table in TOML, options of programs with their help, and docs/parameters.md.
//! `choices!` does the same for the values of an enum. Nothing here knows what the parameters are of.

mod choice;
mod key;
mod report;
mod suggestion;
mod table;
mod value;

pub use choice::{choices, choose, number_of, Choice, Name, Number};
pub use key::{hash_members, Key, Reals};
pub use report::{reports, Report, Reported, ToC, Value};
/// Used by the macros when they declare tables in other crates.
#[doc(hidden)]
pub use serde;
pub use suggestion::{hint, same_word, suggestion};
pub use table::{deserialize, flat, set_toml, CStruct, InC, Kind, Parameters, Range, Row};
pub use table::{find, option_of, parameters, renamed, row_set, same, text_of_option};
pub use value::{Element, Host, Param, Set};

use std::ffi::{c_char, c_int, c_uint, c_void};

use num_complex::Complex64;

/// The lines of a doc comment.
pub type Doc = &'static [&'static str];

/// A type of the C interface, as data: headers and bindings are written from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    I32,
    I64,
    F64,
    /// C's `unsigned`, only in QUDA's interface, like `size_t`, `char` and `double _Complex` below; there I32 is
    /// `int`.
    Unsigned,
    Size,
    Char,
    Complex,
    /// A number whose values are the constants of this type: `int32_t`, or an enum of QUDA's interface.
    Enum(&'static str),
    Handle(&'static str),
    Struct(&'static str),
    Callback(&'static str),
    /// An address that the library passes on unchanged: `void *`.
    Address,
    /// Text of the host: NUL-terminated UTF-8.
    Text,
    /// Address of numbers of the host.
    Numbers(&'static Type),
    /// Address of values that a function may change; only in QUDA's interface.
    Pointer(&'static Type),
    /// C's `int` with this number of pointers, as in QUDA's lists of paths.
    Paths(usize),
    /// Array of a type with this length.
    Array(&'static Type, usize),
}

/// A Rust type that corresponds to a type of the C interface.
pub trait CType {
    const TYPE: Type;
}

/// A type that a member of a struct of the C interface may have.
pub trait Member: Copy + CType {
    const ZERO: Self;
    /// Calls the function with the bytes that must be equal on all ranks: those of numbers, not of addresses.
    fn digest(&self, _to: &mut dyn FnMut(&[u8])) {}
    /// The value as C code, as the header states it.
    fn in_c(&self) -> String;
    /// Sets the value from words; the error is a text that states what was expected instead.
    fn take(&mut self, _words: &[&str]) -> Taken {
        Err("no value, as programs set this member".into())
    }
    /// Sets the first elements of the array `all`, one from each word; the others are not changed.
    fn take_all(all: &mut [Self], words: &[&str]) -> Taken {
        if words.is_empty() || words.len() > all.len() {
            return Err(format!("1 to {} values", all.len()));
        }
        all.iter_mut().zip(words).try_for_each(|(one, word)| one.take(&[word]))
    }
    /// Sets element number `place` of a member that is an array.
    fn take_at(&mut self, _place: usize, _words: &[&str]) -> Taken {
        Err("no key here, as this member has one value for all levels".into())
    }
}

/// Result of reading a value from words: success, or a text that states what was expected instead.
pub type Taken = std::result::Result<(), String>;

/// Parses a value of exactly one word; more words or none are an error.
fn one_word<T>(
    words: &[&str],
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> std::result::Result<T, String> {
    match words {
        [word] => read(word).ok_or_else(|| expected.into()),
        _ => Err(expected.into()),
    }
}

/// Parses a word for true or false.
fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "on" | "quda_boolean_true" | "quda_boolean_yes" => Some(true),
        "no" | "n" | "false" | "off" | "quda_boolean_false" | "quda_boolean_no" => Some(false),
        _ => None,
    }
}

macro_rules! number {
    ($($ty:ty: $type:ident),*) => { $(
    impl CType for $ty {
        const TYPE: Type = Type::$type;
    }
    impl Member for $ty {
        const ZERO: Self = 0 as $ty;
        fn digest(&self, to: &mut dyn FnMut(&[u8])) {
            to(&self.to_ne_bytes());
        }
        fn in_c(&self) -> String {
            self.to_string()
        }
        fn take(&mut self, words: &[&str]) -> Taken {
            let read = |word: &str| word.parse().ok().or_else(|| truth(word).map(|t| t as $ty));
            one_word(words, "a whole number, yes or no", read).map(|value| *self = value)
        }
    }
    )* };
}
number!(i32: I32, i64: I64, c_uint: Unsigned, usize: Size);

impl CType for c_char {
    const TYPE: Type = Type::Char;
}
impl CType for Complex64 {
    const TYPE: Type = Type::Complex;
}
impl<T: CType> CType for *mut T {
    const TYPE: Type = Type::Pointer(&T::TYPE);
}

impl CType for () {
    const TYPE: Type = Type::Void;
}
impl CType for f64 {
    const TYPE: Type = Type::F64;
}

impl Member for f64 {
    const ZERO: Self = 0.0;
    fn digest(&self, to: &mut dyn FnMut(&[u8])) {
        to(&self.to_ne_bytes());
    }
    fn in_c(&self) -> String {
        short(*self)
    }
    fn take(&mut self, words: &[&str]) -> Taken {
        one_word(words, "a number", |word| word.parse().ok()).map(|value| *self = value)
    }
}

macro_rules! address {
    ($($ty:ty: $type:expr, $null:expr),*) => { $(
    impl CType for $ty {
        const TYPE: Type = $type;
    }
    impl Member for $ty {
        const ZERO: Self = $null;
        fn in_c(&self) -> String {
            "NULL".into()
        }
    }
    )* };
}
address!(
    *mut c_void: Type::Address, std::ptr::null_mut(),
    *const c_char: Type::Text, std::ptr::null(),
    *const i32: Type::Numbers(&Type::I32), std::ptr::null()
);

impl<T: CType> Member for *mut T {
    const ZERO: Self = std::ptr::null_mut();
    fn in_c(&self) -> String {
        if self.is_null() {
            "NULL".into()
        } else {
            format!("{self:p}")
        }
    }
}
impl Member for c_char {
    const ZERO: Self = 0;
    fn in_c(&self) -> String {
        self.to_string()
    }
    /// Stores the single word as text in the array of characters `all`, with a NUL at the end.
    fn take_all(all: &mut [Self], words: &[&str]) -> Taken {
        match words {
            [word] if word.len() < all.len() && word.is_ascii() => {
                all.fill(0);
                all.iter_mut().zip(word.bytes()).for_each(|(to, byte)| *to = byte as c_char);
                Ok(())
            }
            _ => Err(format!("one word of ASCII, {} characters at most", all.len() - 1)),
        }
    }
}
impl Member for Complex64 {
    const ZERO: Self = Complex64::ZERO;
    fn in_c(&self) -> String {
        format!("{} + {} I", short(self.re), short(self.im))
    }
}

impl<T: CType, const N: usize> CType for [T; N] {
    const TYPE: Type = Type::Array(&T::TYPE, N);
}
impl<T: Member, const N: usize> Member for [T; N] {
    const ZERO: Self = [T::ZERO; N];
    fn digest(&self, to: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|item| item.digest(to));
    }
    fn in_c(&self) -> String {
        self.iter().map(Member::in_c).collect::<Vec<_>>().join(", ")
    }
    fn take(&mut self, words: &[&str]) -> Taken {
        T::take_all(self, words)
    }
    fn take_at(&mut self, place: usize, words: &[&str]) -> Taken {
        match self.get_mut(place) {
            Some(member) => member.take(words),
            None => Err(format!("no key here, as this member has {N} values")),
        }
    }
}

/// A member of a struct of the C interface, for the generators of headers.
pub struct Field {
    pub name: &'static str,
    pub ty: Type,
    pub offset: usize,
    pub size: usize,
    pub doc: Doc,
    pub range: Range,
    /// The name of the member in earlier versions; empty: none.
    pub old: &'static str,
    /// The default of a parameter as written in the header.
    pub default: Option<fn() -> String>,
}

impl Field {
    /// The first member of structs that may grow: their size.
    pub const SIZE: Field = Field {
        name: "struct_size",
        ty: Type::I64,
        offset: 0,
        size: 8,
        doc: &[" sizeof of this struct, set by its init function."],
        range: Range::ANY,
        old: "",
        default: None,
    };
}

/// Whether these members are in order and the last one ends a struct of `size` bytes. Then members that later
/// versions add are never in the padding of earlier versions. Gaps between members must remain unused.
pub const fn ends_with_a_member(fields: &[Field], size: usize) -> bool {
    let (mut i, mut next) = (0, 0);
    while i < fields.len() {
        if fields[i].offset < next {
            return false;
        }
        next = fields[i].offset + fields[i].size;
        i += 1;
    }
    next == size && size.is_multiple_of(8)
}

const _: () = assert!(size_of::<c_int>() == 4);

/// A number as text, in exponential form if it would be long.
fn short(x: f64) -> String {
    let plain = x.to_string();
    match plain.len() > 10 {
        true => format!("{x:e}"),
        false => plain,
    }
}
