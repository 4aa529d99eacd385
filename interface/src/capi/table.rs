//! `interface!`: the table that declares a C object. It makes the `extern "C"` functions and `#[repr(C)]` structs,
//! and records them as data for the header and the Fortran module.

pub use crate::params::{Doc, Field, Name, Type};

/// The declarations of one table.
pub struct Module {
    pub title: &'static str,
    pub items: &'static [Item],
}

/// A declaration in a table. Types are data ([`Type`]), from which headers and bindings are written.
pub enum Item {
    Handle {
        name: &'static str,
        doc: Doc,
    },
    Constants {
        name: &'static str,
        doc: Doc,
        values: &'static [Name],
    },
    /// A C enum, for interfaces in which hosts expect one.
    Enum {
        name: &'static str,
        doc: Doc,
        values: &'static [Name],
    },
    Define {
        name: &'static str,
        doc: Doc,
        value: &'static str,
    },
    Callback {
        name: &'static str,
        doc: Doc,
        args: &'static [Argument],
        returns: Type,
    },
    Struct {
        name: &'static str,
        doc: Doc,
        size: usize,
        fields: &'static [Field],
    },
    Function {
        name: &'static str,
        doc: Doc,
        args: &'static [Argument],
        returns: Type,
    },
}

/// Names of an enum's values without their common prefix; it is kept if a name would begin with a digit.
pub fn members(values: &[Name]) -> Vec<String> {
    let names: Vec<&str> = values.iter().map(|v| v.name).collect();
    let first = names[0];
    let common = (0..=first.len())
        .rev()
        .find(|&n| {
            first[..n].ends_with('_') && names.iter().all(|name| name.starts_with(&first[..n]))
        })
        .unwrap_or(0);
    let digit = names.iter().any(|name| name[common..].starts_with(|c: char| c.is_ascii_digit()));
    let cut = if digit { "PLAQ_".len() } else { common };
    names.iter().map(|name| name[cut..].to_string()).collect()
}

/// A file below include/, and the tables from which it is generated.
pub struct Header {
    pub file: &'static str,
    /// True if hosts read the file as text, so that it must not contain an include guard.
    pub read_as_text: bool,
    pub includes: &'static [&'static str],
    /// Lines after the include directives.
    pub preamble: &'static str,
    /// Lines that end the header.
    pub conclusion: &'static str,
    /// Tables for hosts that have not defined a macro, with the macro's name.
    pub unless: &'static [(&'static str, &'static Module)],
    pub modules: &'static [&'static Module],
}

impl Header {
    /// All tables of the header, in order.
    pub fn all(&self) -> impl Iterator<Item = &'static Module> {
        self.unless.iter().map(|(_, module)| *module).chain(self.modules.iter().copied())
    }
}

/// An argument of a function or callback.
pub struct Argument {
    pub name: &'static str,
    /// Type of the argument; for an address the type of what is stored at it.
    pub ty: Type,
    pub pass: Pass,
    /// Number of elements, if the argument is an array: a product of factors.
    pub length: Option<&'static [Factor]>,
}

/// A factor in the length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    Number(i64),
    /// The value of another argument of the call.
    Argument(&'static str),
    /// A quantity that is described in words.
    Words(&'static str),
}

/// Ways of passing an argument: its type in C, the owner of the memory at an address, and whether it may be NULL or
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Value,
    /// The handle of an object that all ranks of its context use together in this call.
    Handle,
    /// The handle of an object that each rank uses independently.
    Local,
    /// A handle that may be zero.
    OptionalHandle,
    /// A handle whose object the call destroys.
    Destroyed,
    /// The address of parameters; NULL: all defaults.
    Params,
    /// The address of a struct that the call fills with defaults.
    Init,
    /// The address of a report; NULL: not wanted.
    Report,
    /// The address of a result; if it is a handle, the host has to destroy the object.
    Out,
    MaybeOut,
    /// The address of a struct that is read and written.
    InOut,
    /// The address of values that are read, and (next) of values that are written.
    Array,
    OutArray,
    MaybeArray,
    /// The address of an array that a layout describes, borrowed for the call.
    Data,
    DataOut,
    Text,
    /// A buffer for text; the next argument is its capacity.
    TextOut,
}

impl Pass {
    /// Whether the address may be NULL.
    pub fn is_optional(self) -> bool {
        matches!(self, Pass::Params | Pass::Report | Pass::MaybeOut | Pass::MaybeArray)
    }
    pub fn is_array(self) -> bool {
        matches!(self, Pass::Array | Pass::OutArray | Pass::MaybeArray)
    }
}

/// Sections, all optional, in this order: `handles` name: Object = kind; `choices` type = RustEnum, an enum of
/// `choices!`; `constants` type: RustEnum { NAME = number => value }; `callbacks`; `tables` structs of `parameters!`,
/// with an init function where they may grow; `reported` likewise structs of `reports!`; `reports` (results that C alone
/// has and whose struct may grow) and `structs` (which never change); `texts` (functions that return a C string);
/// `functions` (all others: they return a status and run `= implementation` inside the boundary). For the interfaces of capi/quda also, at the places shown: `defines`; `enums`,
/// whose numbers need not all mean something here; `calls`, which return no status: they run `together` on all ranks of
/// the default context or `alone`, and what fails goes to its handler; `refused` functions, which fail with the reason
/// that stands behind them.
macro_rules! interface {
    (
        $title:literal
        $(defines { $($(#[doc = $ddoc:expr])* $define:ident = $dvalue:literal;)* })?
        $(handles { $($(#[doc = $hdoc:expr])* $handle:ident: $object:ty = $kind:literal,)* })?
        $(choices { $($chosen:ident = $chosen_value:ty $(, in $listed:ty)?;)* })?
        $(constants { $($(#[doc = $edoc:expr])* $enum:ident: $value:ty {
            $($(#[doc = $cdoc:expr])* $constant:ident = $number:literal $(=> $meaning:expr)?,)*
        })* })?
        $(enums { $($(#[doc = $ndoc:expr])* $cenum:ident: $nvalue:ty {
            $($(#[doc = $odoc:expr])* $option:ident = $onumber:literal $(=> $omeaning:expr)?,)*
        })* })?
        $(callbacks { $($(#[doc = $bdoc:expr])*
            $callback:ident($($barg:ident: $bty:ty),*) -> $bret:ty;)* })?
        $(tables { $($tabled:ident $(, $tinit:ident)?;)* })?
        $(reported { $($reported:ident $(, $reported_init:ident)?;)* })?
        $(reports { $($(#[doc = $rdoc:expr])* $report:ident, $rinit:ident {
            $($(#[doc = $rfdoc:expr])* $rfield:ident: $rty:ty,)*
        })* })?
        $(structs { $($(#[doc = $sdoc:expr])* $struct:ident {
            $($(#[doc = $sfdoc:expr])* $sfield:ident: $sty:ty,)*
        })* })?
        $(texts { $($(#[doc = $tdoc:expr])*
            $text:ident($($targ:ident: $tty:ty),*) = $tbody:path;)* })?
        $(functions { $($(#[doc = $fdoc:expr])*
            $function:ident($($arg:ident: $ty:ty $([$($factor:tt)*])?),* $(,)?) = $body:path;)* })?
        $(calls { $($(#[doc = $ldoc:expr])*
            $call:ident($($larg:ident: $lty:ty),* $(,)?) $(-> $lret:ty)? = $how:ident $lbody:path;)* })?
        $(refused { $($refused:ident($($narg:ident: $nty:ty),* $(,)?) $(-> $nret:ty)? = $why:literal;)* })?
    ) => {
        $($(
            $(#[doc = $hdoc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[repr(C)]
            pub struct $handle {
                id: i64,
            }
            impl $crate::capi::handles::HandleType for $handle {
                type Object = $object;
                const KIND: u8 = $kind;
                const NAME: &'static str = stringify!($handle);
                fn from_id(id: i64) -> Self {
                    $handle { id }
                }
                fn id(self) -> i64 {
                    self.id
                }
                fn ranks(object: &$object) -> &std::sync::Arc<$crate::comm::Comm> {
                    object.context().comm()
                }
            }
            impl $handle {
                /// The zero handle: no object.
                pub const NONE: Self = $handle { id: 0 };
            }
            impl $crate::params::CType for $handle {
                const TYPE: $crate::params::Type = $crate::params::Type::Handle(stringify!($handle));
            }
            impl $crate::params::Member for $handle {
                const ZERO: Self = Self::NONE;
                fn digest(&self, to: &mut dyn FnMut(&[u8])) {
                    to(&$crate::capi::handles::made_in(*self).to_ne_bytes());
                }
                fn in_c(&self) -> String {
                    "none".into()
                }
            }
            // SAFETY: a number; what it names is looked up where a call uses it.
            unsafe impl $crate::capi::versioned::Plain for $handle {}
        )*)?
        $($(
            #[doc = concat!("Number of a [`", stringify!($chosen_value), "`].")]
            pub type $chosen = $crate::params::Number<$chosen_value>;
        )*)?
        $($(
            $(#[doc = $edoc])*
            pub type $enum = $crate::params::Number<$value>;
            $($(#[doc = $cdoc])* pub const $constant: $enum = $enum::new($number);)*
            $crate::capi::table::meanings! { $enum: $value, [$($edoc),*]
                { $([$($cdoc),*] $constant = $number $(=> $meaning)?,)* } }
        )*)?
        $($(
            $(#[doc = $ndoc])*
            pub type $cenum = $crate::params::Number<$nvalue>;
            $($(#[doc = $odoc])* pub const $option: $cenum = $cenum::new($onumber);)*
            $crate::capi::table::meanings! { $cenum: $nvalue, [$($ndoc),*]
                { $([$($odoc),*] $option = $onumber $(=> $omeaning)?,)* } }
        )*)?
        $($(
            $(#[doc = $bdoc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(transparent)]
            pub struct $callback(pub Option<unsafe extern "C" fn($($barg: $bty),*) -> $bret>);
            impl $crate::params::CType for $callback {
                const TYPE: $crate::params::Type = $crate::params::Type::Callback(stringify!($callback));
            }
            impl PartialEq for $callback {
                fn eq(&self, other: &Self) -> bool {
                    self.0.map(|f| f as usize) == other.0.map(|f| f as usize)
                }
            }
            impl $crate::params::Member for $callback {
                const ZERO: Self = $callback(None);
                fn in_c(&self) -> String {
                    "NULL".into()
                }
            }
            // SAFETY: C callbacks come as they are; NULL is None.
            unsafe impl $crate::capi::versioned::Plain for $callback {}
        )*)?
        $($($($crate::capi::versioned::tabled!($tabled, $tinit);)?)*)?
        $($($($crate::capi::versioned::tabled!($reported, $reported_init);)?)*)?
        $($(
            $(#[doc = $rdoc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $report {
                pub struct_size: i64,
                $($(#[doc = $rfdoc])* pub $rfield: $rty,)*
            }
            impl Default for $report {
                fn default() -> Self {
                    $report {
                        struct_size: size_of::<Self>() as i64,
                        $($rfield: <$rty as $crate::params::Member>::ZERO,)*
                    }
                }
            }
            $crate::capi::versioned::versioned!($report, $rinit { $($rfield: $rty,)* });
        )*)?
        $($(
            $(#[doc = $sdoc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $struct {
                $($(#[doc = $sfdoc])* pub $sfield: $sty,)*
            }
            impl $crate::params::CType for $struct {
                const TYPE: $crate::params::Type = $crate::params::Type::Struct(stringify!($struct));
            }
        )*)?
        $($(
            $(#[doc = $tdoc])*
            #[cfg_attr(not(test), no_mangle)]
            pub unsafe extern "C" fn $text($($targ: $tty),*) -> *const std::ffi::c_char {
                $crate::capi::boundary::text(|| $tbody($($targ),*))
            }
        )*)?
        $($(
            $(#[doc = $fdoc])*
            #[cfg_attr(not(test), no_mangle)]
            pub unsafe extern "C" fn $function(
                $($arg: <$ty as $crate::capi::args::Arg>::C),*
            ) -> i32 {
                use $crate::capi::args::Arg;
                $crate::capi::boundary::call(stringify!($function), &mut || {
                    $(let $arg = <$ty as Arg>::read($arg, stringify!($arg));)*
                    let ranks = [$($arg.as_ref().ok().and_then(Arg::ranks)),*];
                    #[allow(unused_mut)]
                    let mut digest = $crate::capi::digest::Digest::default();
                    $(digest.add(&$arg, stringify!($arg));)*
                    let (digest, name) = (digest.finish(), stringify!($function));
                    let together = $crate::capi::boundary::Together::begin(name, &ranks);
                    let guarded = || {
                        $(let mut $arg = $arg.and_then(Arg::checked)?;)*
                        $body($(<$ty as Arg>::view(&mut $arg)),*)?;
                        Ok(($($arg,)*))
                    };
                    let ($($arg,)*) =
                        $crate::comm::Comm::guard_call(together.comm(), name, digest, guarded)?;
                    $(<$ty as Arg>::finish($arg);)*
                    Ok(())
                })
            }
        )*)?
        $($(
            $(#[doc = $ldoc])*
            #[cfg_attr(not(test), no_mangle)]
            pub unsafe extern "C" fn $call(
                $($larg: <$lty as $crate::capi::args::Arg>::C),*
            ) $(-> $lret)? {
                #[allow(unused_imports)]
                use $crate::capi::args::Arg;
                $crate::capi::quda::calls::$how(stringify!($call), || {
                    $(let mut $larg =
                        <$lty as Arg>::read($larg, stringify!($larg)).and_then(Arg::checked)?;)*
                    let value = $lbody($(<$lty as Arg>::view(&mut $larg)),*)?;
                    Ok((value, move || {
                        $(<$lty as Arg>::finish($larg);)*
                    }))
                })
            }
        )*)?
        $($(
            #[doc = concat!(" Not offered: ", $why, ".")]
            #[cfg_attr(not(test), no_mangle)]
            pub unsafe extern "C" fn $refused($(_: $nty),*) $(-> $nret)? {
                $crate::capi::quda::calls::refuse(stringify!($refused), $why)
            }
        )*)?

        pub const MODULE: $crate::capi::table::Module = {
            #[allow(unused_imports)]
            use $crate::capi::{args::{argument, Arg}, table::{Field, Item, Module, Type}};
            #[allow(unused_imports)]
            use $crate::params::{CStruct, CType, Choice};
            Module {
                title: $title,
                items: &[
                    $($(Item::Define {
                        name: stringify!($define),
                        doc: &[$($ddoc),*],
                        value: $dvalue,
                    },)*)?
                    $($(Item::Handle { name: stringify!($handle), doc: &[$($hdoc),*] },)*)?
                    $($($crate::capi::table::choice_item!($chosen, $chosen_value $(, $listed)?),)*)?
                    $($(Item::Constants {
                        name: stringify!($enum),
                        doc: &[$($edoc),*],
                        values: <$value as Choice>::NAMES,
                    },)*)?
                    $($(Item::Enum {
                        name: stringify!($cenum),
                        doc: &[$($ndoc),*],
                        values: <$nvalue as Choice>::NAMES,
                    },)*)?
                    $($(Item::Callback {
                        name: stringify!($callback),
                        doc: &[$($bdoc),*],
                        args: &[$(argument::<$crate::capi::args::Raw<$bty>>(stringify!($barg), None)),*],
                        returns: <$bret as CType>::TYPE,
                    },)*)?
                    $($(
                        Item::Struct {
                            name: <$tabled as CStruct>::NAME,
                            doc: <$tabled as CStruct>::DOC,
                            size: size_of::<$tabled>(),
                            fields: <$tabled as CStruct>::FIELDS,
                        },
                        $($crate::capi::versioned::init_item(
                            stringify!($tinit),
                            &[argument::<$crate::capi::args::Init<$tabled>>("params", None), $crate::capi::versioned::SIZE],
                        ),)?
                    )*)?
                    $($(
                        Item::Struct {
                            name: <$reported as CStruct>::NAME,
                            doc: <$reported as CStruct>::DOC,
                            size: size_of::<$reported>(),
                            fields: <$reported as CStruct>::FIELDS,
                        },
                        $($crate::capi::versioned::init_item(
                            stringify!($reported_init),
                            &[argument::<$crate::capi::args::Init<$reported>>("report", None), $crate::capi::versioned::SIZE],
                        ),)?
                    )*)?
                    $($(
                        Item::Struct {
                            name: stringify!($report),
                            doc: &[$($rdoc),*],
                            size: size_of::<$report>(),
                            fields: &[
                                Field::SIZE,
                                $(Field {
                                    name: stringify!($rfield),
                                    ty: <$rty as CType>::TYPE,
                                    offset: std::mem::offset_of!($report, $rfield),
                                    size: size_of::<$rty>(),
                                    doc: &[$($rfdoc),*],
                                    ..Field::SIZE
                                }),*
                            ],
                        },
                        $crate::capi::versioned::init_item(
                            stringify!($rinit),
                            &[argument::<$crate::capi::args::Init<$report>>("report", None), $crate::capi::versioned::SIZE],
                        ),
                    )*)?
                    $($(Item::Struct {
                        name: stringify!($struct),
                        doc: &[$($sdoc),*],
                        size: size_of::<$struct>(),
                        fields: &[$(Field {
                            name: stringify!($sfield),
                            ty: <$sty as CType>::TYPE,
                            offset: std::mem::offset_of!($struct, $sfield),
                            size: size_of::<$sty>(),
                            doc: &[$($sfdoc),*],
                            ..Field::SIZE
                        }),*],
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($text),
                        doc: &[$($tdoc),*],
                        args: &[$(argument::<$tty>(stringify!($targ), None)),*],
                        returns: Type::Text,
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($function),
                        doc: &[$($fdoc),*],
                        args: &[$(argument::<$ty>(
                            stringify!($arg),
                            $crate::capi::table::length!($([$($factor)*])?),
                        )),*],
                        returns: Type::Enum("plaq_status"),
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($call),
                        doc: &[$($ldoc),*],
                        args: &[$(argument::<$lty>(stringify!($larg), None)),*],
                        returns: $crate::capi::table::returned!($($lret)?),
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($refused),
                        doc: &[concat!(" Not offered: ", $why, ".")],
                        args: &[$(argument::<$crate::capi::args::Raw<$nty>>(stringify!($narg), None)),*],
                        returns: $crate::capi::table::returned!($($nret)?),
                    },)*)?
                ],
            }
        };
    };
}
pub(crate) use interface;

/// Declares numbers and meanings of an enum that is used only in an interface.
macro_rules! meanings {
    ($c:ident: $type:ty, [$($doc:expr),*]
        { $([$($vdoc:expr),*] $name:ident = $number:literal $(=> $meaning:expr)?,)* }) => {
        impl $crate::params::Choice for $type {
            const TYPE: &'static str = stringify!($c);
            const DOC: $crate::params::Doc = &[$($doc),*];
            const NAMES: &'static [$crate::params::Name] = &[$($crate::params::Name {
                number: $number,
                name: stringify!($name),
                word: "",
                doc: &[$($vdoc),*],
            }),*];
            const VALUES: &'static [Option<Self>] =
                &[$($crate::capi::table::meanings!(@ $($meaning)?)),*];
        }
    };
    (@) => { None };
    (@ $meaning:expr) => { Some($meaning) };
}
pub(crate) use meanings;

macro_rules! choice_item {
    ($chosen:ident, $value:ty) => {
        $crate::capi::table::choice_item!($chosen, $value, $value)
    };
    ($chosen:ident, $value:ty, $listed:ty) => {
        Item::Constants {
            name: stringify!($chosen),
            doc: <$listed as Choice>::DOC,
            values: <$listed as Choice>::NAMES,
        }
    };
}
pub(crate) use choice_item;

macro_rules! returned {
    () => {
        Type::Void
    };
    ($type:ty) => {
        <$type as CType>::TYPE
    };
}
pub(crate) use returned;

/// Makes the factors of an array's length from numbers, arguments, or words in parentheses.
macro_rules! length {
    () => { None };
    ([$($factor:tt)*]) => { Some(&[$($crate::capi::table::factor!($factor)),*]) };
}
pub(crate) use length;

macro_rules! factor {
    ($argument:ident) => {
        $crate::capi::table::Factor::Argument(stringify!($argument))
    };
    ($number:literal) => {
        $crate::capi::table::Factor::Number($number)
    };
    (($words:literal)) => {
        $crate::capi::table::Factor::Words($words)
    };
}
pub(crate) use factor;
