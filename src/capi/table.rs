//! `interface!`: the table that a C object is declared in. It makes the `extern "C"` functions
//! and `#[repr(C)]` structs, and records them for the header and the Fortran module.

/// What one file of this folder adds to the C interface.
pub struct Module {
    pub title: &'static str,
    pub items: &'static [Item],
}

pub type Doc = &'static [&'static str];

/// Types are Rust's spelling; tests/abi/header.rs knows C's and Fortran's.
pub enum Item {
    Handle {
        name: &'static str,
        doc: Doc,
    },
    Constants {
        name: &'static str,
        doc: Doc,
        values: &'static [(&'static str, i32, Doc)],
    },
    /// A C enum, where hosts know it as one.
    Enum {
        name: &'static str,
        doc: Doc,
        values: &'static [(&'static str, i32, Doc)],
    },
    Define {
        name: &'static str,
        doc: Doc,
        value: &'static str,
    },
    Callback {
        name: &'static str,
        doc: Doc,
        args: &'static [Pair],
        returns: &'static str,
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
        args: &'static [Pair],
        returns: &'static str,
    },
}

/// A file below include/ and the tables it is generated from.
pub struct Header {
    pub file: &'static str,
    pub includes: &'static [&'static str],
    pub modules: &'static [&'static Module],
}

/// Name and type.
pub type Pair = (&'static str, &'static str);

pub struct Field {
    pub name: &'static str,
    pub ty: &'static str,
    pub offset: usize,
    pub doc: Doc,
    /// Of parameters, in Rust's spelling.
    pub default: Option<&'static str>,
}

/// Sections, all optional, in this order:
/// `handles` name: Object = kind; `constants` type: RustEnum { NAME = number => value };
/// `callbacks`; `params` name, init function { field: type = default }; `reports` (results whose
/// struct may grow) and `structs` (which never change); `texts` (functions that return a C
/// string); `functions` (all others: they return a status and run `= implementation` inside
/// the boundary). For the interfaces of capi/quda also, at the places shown: `defines`; `enums`,
/// whose numbers need not all mean something here; `calls`, which return no status: they run
/// `together` on all ranks of the default context or `alone`, and what fails goes to its handler.
macro_rules! interface {
    (
        $title:literal
        $(defines { $($(#[doc = $ddoc:expr])* $define:ident = $dvalue:literal;)* })?
        $(handles { $($(#[doc = $hdoc:expr])* $handle:ident: $object:ty = $kind:literal,)* })?
        $(constants { $($(#[doc = $edoc:expr])* $enum:ident: $value:ty {
            $($(#[doc = $cdoc:expr])* $constant:ident = $number:literal $(=> $meaning:expr)?,)*
        })* })?
        $(enums { $($(#[doc = $ndoc:expr])* $cenum:ident: $nvalue:ty {
            $($(#[doc = $odoc:expr])* $option:ident = $onumber:literal $(=> $omeaning:expr)?,)*
        })* })?
        $(callbacks { $($(#[doc = $bdoc:expr])*
            $callback:ident($($barg:ident: $bty:ty),*) -> $bret:ty;)* })?
        $(params { $($(#[doc = $pdoc:expr])* $params:ident, $pinit:ident {
            $($(#[doc = $pfdoc:expr])* $pfield:ident: $pty:ty = $default:expr,)*
        })* })?
        $(reports { $($(#[doc = $rdoc:expr])* $report:ident, $rinit:ident {
            $($(#[doc = $rfdoc:expr])* $rfield:ident: $rty:ty,)*
        })* })?
        $(structs { $($(#[doc = $sdoc:expr])* $struct:ident {
            $($(#[doc = $sfdoc:expr])* $sfield:ident: $sty:ty,)*
        })* })?
        $(texts { $($(#[doc = $tdoc:expr])*
            $text:ident($($targ:ident: $tty:ty),*) = $tbody:path;)* })?
        $(functions { $($(#[doc = $fdoc:expr])*
            $function:ident($($arg:ident: $ty:ty),* $(,)?) = $body:path;)* })?
        $(calls { $($(#[doc = $ldoc:expr])*
            $call:ident($($larg:ident: $lty:ty),* $(,)?) $(-> $lret:ty)? = $how:ident $lbody:path;)* })?
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
                /// No object.
                pub const NONE: Self = $handle { id: 0 };
            }
            // SAFETY: a number; what it names is looked up where a call uses it.
            unsafe impl $crate::capi::versioned::Plain for $handle {
                const ZERO: Self = Self::NONE;
                fn digest(&self, digest: &mut $crate::capi::digest::Digest) {
                    digest.bytes(&$crate::capi::handles::made_in(*self).to_ne_bytes());
                }
            }
        )*)?
        $($(
            $(#[doc = $edoc])*
            pub type $enum = i32;
            $($(#[doc = $cdoc])* pub const $constant: i32 = $number;)*
            impl $crate::capi::args::Choice for $value {
                const TABLE: &'static [(i32, &'static str, Self)] =
                    &[$($(($number, stringify!($constant), $meaning),)?)*];
            }
        )*)?
        $($(
            $(#[doc = $ndoc])*
            pub type $cenum = std::ffi::c_int;
            $($(#[doc = $odoc])* pub const $option: std::ffi::c_int = $onumber;)*
            impl $crate::capi::args::Choice for $nvalue {
                const TABLE: &'static [(i32, &'static str, Self)] =
                    &[$($(($onumber, stringify!($option), $omeaning),)?)*];
            }
        )*)?
        $($(
            $(#[doc = $bdoc])*
            pub type $callback = Option<unsafe extern "C" fn($($barg: $bty),*) -> $bret>;
            // SAFETY: C callbacks come as they are; NULL is None.
            unsafe impl $crate::capi::versioned::Plain for $callback {
                const ZERO: Self = None;
            }
        )*)?
        $($(
            $(#[doc = $pdoc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $params {
                pub struct_size: i64,
                $($(#[doc = $pfdoc])* pub $pfield: $pty,)*
            }
            impl Default for $params {
                fn default() -> Self {
                    $params { struct_size: size_of::<Self>() as i64, $($pfield: $default,)* }
                }
            }
            $crate::capi::versioned::versioned!($params, $pinit { $($pfield: $pty,)* });
            impl $crate::capi::digest::Digested for $params {
                fn digest(&self, digest: &mut $crate::capi::digest::Digest) {
                    $(digest.member(stringify!($pfield), self.$pfield);)*
                }
            }
        )*)?
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
                        $($rfield: <$rty as $crate::capi::versioned::Plain>::ZERO,)*
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
        )*)?
        $($(
            $(#[doc = $tdoc])*
            #[no_mangle]
            pub unsafe extern "C" fn $text($($targ: $tty),*) -> *const std::ffi::c_char {
                $crate::capi::boundary::text(|| $tbody($($targ),*))
            }
        )*)?
        $($(
            $(#[doc = $fdoc])*
            #[no_mangle]
            pub unsafe extern "C" fn $function(
                $($arg: <$ty as $crate::capi::args::Arg>::C),*
            ) -> i32 {
                use $crate::capi::args::Arg;
                $crate::capi::boundary::call(stringify!($function), || {
                    $(let $arg = <$ty as Arg>::read($arg, stringify!($arg));)*
                    let ranks = [$($arg.as_ref().ok().and_then(Arg::ranks)),*];
                    #[allow(unused_mut)]
                    let mut digest = $crate::capi::digest::Digest::default();
                    $(digest.add(&$arg, stringify!($arg));)*
                    let (digest, name) = (digest.finish(), stringify!($function));
                    let ($($arg,)*) = $crate::capi::boundary::together(name, digest, &ranks, || {
                        $(let mut $arg = $arg.and_then(Arg::checked)?;)*
                        $body($(<$ty as Arg>::view(&mut $arg)),*)?;
                        Ok(($($arg,)*))
                    })?;
                    $(<$ty as Arg>::finish($arg);)*
                    Ok(())
                })
            }
        )*)?
        $($(
            $(#[doc = $ldoc])*
            #[no_mangle]
            pub unsafe extern "C" fn $call(
                $($larg: <$lty as $crate::capi::args::Arg>::C),*
            ) $(-> $lret)? {
                #[allow(unused_imports)]
                use $crate::capi::args::Arg;
                $crate::capi::quda::calls::$how(stringify!($call), || {
                    $(let mut $larg = <$lty as Arg>::read($larg, stringify!($larg))?;)*
                    let value = $lbody($(<$lty as Arg>::view(&mut $larg)),*)?;
                    Ok((value, move || {
                        $(<$lty as Arg>::finish($larg);)*
                    }))
                })
            }
        )*)?

        pub const MODULE: $crate::capi::table::Module = {
            #[allow(unused_imports)]
            use $crate::capi::table::{Field, Item, Module};
            Module {
                title: $title,
                items: &[
                    $($(Item::Define {
                        name: stringify!($define),
                        doc: &[$($ddoc),*],
                        value: $dvalue,
                    },)*)?
                    $($(Item::Handle { name: stringify!($handle), doc: &[$($hdoc),*] },)*)?
                    $($(Item::Constants {
                        name: stringify!($enum),
                        doc: &[$($edoc),*],
                        values: &[$((stringify!($constant), $number, &[$($cdoc),*])),*],
                    },)*)?
                    $($(Item::Enum {
                        name: stringify!($cenum),
                        doc: &[$($ndoc),*],
                        values: &[$((stringify!($option), $onumber, &[$($odoc),*])),*],
                    },)*)?
                    $($(Item::Callback {
                        name: stringify!($callback),
                        doc: &[$($bdoc),*],
                        args: &[$((stringify!($barg), stringify!($bty))),*],
                        returns: stringify!($bret),
                    },)*)?
                    $($(
                        Item::Struct {
                            name: stringify!($params),
                            doc: &[$($pdoc),*],
                            size: size_of::<$params>(),
                            fields: &[
                                $crate::capi::versioned::STRUCT_SIZE,
                                $(Field {
                                    name: stringify!($pfield),
                                    ty: stringify!($pty),
                                    offset: std::mem::offset_of!($params, $pfield),
                                    doc: &[$($pfdoc),*],
                                    default: Some(stringify!($default)),
                                }),*
                            ],
                        },
                        $crate::capi::versioned::init_item(
                            stringify!($pinit),
                            &[("params", concat!("Init<", stringify!($params), ">")), ("struct_size", "i64")],
                        ),
                    )*)?
                    $($(
                        Item::Struct {
                            name: stringify!($report),
                            doc: &[$($rdoc),*],
                            size: size_of::<$report>(),
                            fields: &[
                                $crate::capi::versioned::STRUCT_SIZE,
                                $(Field {
                                    name: stringify!($rfield),
                                    ty: stringify!($rty),
                                    offset: std::mem::offset_of!($report, $rfield),
                                    doc: &[$($rfdoc),*],
                                    default: None,
                                }),*
                            ],
                        },
                        $crate::capi::versioned::init_item(
                            stringify!($rinit),
                            &[("report", concat!("Init<", stringify!($report), ">")), ("struct_size", "i64")],
                        ),
                    )*)?
                    $($(Item::Struct {
                        name: stringify!($struct),
                        doc: &[$($sdoc),*],
                        size: size_of::<$struct>(),
                        fields: &[$(Field {
                            name: stringify!($sfield),
                            ty: stringify!($sty),
                            offset: std::mem::offset_of!($struct, $sfield),
                            doc: &[$($sfdoc),*],
                            default: None,
                        }),*],
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($text),
                        doc: &[$($tdoc),*],
                        args: &[$((stringify!($targ), stringify!($tty))),*],
                        returns: "Text",
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($function),
                        doc: &[$($fdoc),*],
                        args: &[$((stringify!($arg), stringify!($ty))),*],
                        returns: "plaq_status",
                    },)*)?
                    $($(Item::Function {
                        name: stringify!($call),
                        doc: &[$($ldoc),*],
                        args: &[$((stringify!($larg), stringify!($lty))),*],
                        returns: concat!($(stringify!($lret))?),
                    },)*)?
                ],
            }
        };
    };
}
pub(crate) use interface;
