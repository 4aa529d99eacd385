//! Tables of QUDA's structs, with a row for each member: its type, QUDA's default, and how plaq treats it. They
//! generate the structs, the headers, the results of `newQuda...Param`, the output of `printQuda...Param`, the checks
//! of members with one supported value, and docs/quda-fields.md.

use std::ffi::c_int;

use crate::error::Result;
use crate::params::{CStruct, Doc, Member, Number, Taken};
use crate::refuse;

/// The way in which plaq treats a member of a struct of QUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Functions of plaq read the member.
    Used,
    /// Functions of plaq write the member.
    Result,
    /// Only these values are accepted.
    Only(&'static str),
    /// The member has no effect.
    Ignored,
}

/// QUDA's mark for integers that the host has to set.
pub const INVALID: c_int = c_int::MIN;
pub const UNSET: f64 = f64::MIN_POSITIVE;

pub(super) const fn unset<T>() -> Number<T> {
    Number::new(INVALID)
}

/// A member of a struct: its name, how plaq treats it, and a sentence about that.
pub type MemberRole = (&'static str, Role, Doc);

/// A struct of these tables.
pub trait Record: CStruct {
    /// The struct as returned by `newQuda...Param`.
    const NEW: Self;
    /// Names of the members, how plaq treats them, and sentences about that.
    const ROLES: &'static [MemberRole];
    /// A line `name = value` for each member.
    fn lines(&self) -> Vec<String>;
    /// Sets a member from words; `place` is the index for members that are arrays. Returns what the words should have
    /// been if they are wrong, and `None` if no member has this name.
    fn take(&mut self, member: &str, place: Option<usize>, words: &[&str]) -> Option<Taken>;
    /// Refuses a wrong size of the struct, and unsupported values of members that support only one.
    fn check(&self, argument: &str) -> Result<()>;
}

/// Refuses a value that is not among those supported.
pub(super) fn only<T: Member + PartialEq>(
    value: T,
    supported: &[T],
    names: &str,
    argument: &str,
    member: &str,
) -> Result<()> {
    if !supported.contains(&value) {
        refuse!(Unsupported, "{argument}.{member}", expected("{names}"), found("{}", value.in_c()));
    }
    Ok(())
}

/// Declares structs of QUDA, with a row for each member: `name: type = default, role;` where the role is `used`,
/// `result`, `ignored`, or `only(values)`.
macro_rules! records {
    ($($(#[doc = $doc:expr])* $record:ident {
        $($(#[doc = $fdoc:expr])* $field:ident: $ty:ty = $default:expr, $role:ident $(($($only:expr),+))?;)*
    })*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct $record {
            /// Size of this struct in bytes, as set by its newQuda function.
            pub struct_size: usize,
            $($(#[doc = $fdoc])* pub $field: $ty,)*
        }
        impl $crate::params::CType for $record {
            const TYPE: $crate::params::Type = $crate::params::Type::Struct(stringify!($record));
        }
        impl $crate::params::CStruct for $record {
            const NAME: &'static str = stringify!($record);
            const DOC: $crate::params::Doc = &[$($doc),*];
            const FIELDS: &'static [$crate::params::Field] = {
                use $crate::params::{CType, Field, Type};
                &[
                    Field {
                        ty: Type::Size,
                        doc: &[" Bytes of this struct, as its newQuda function sets it."],
                        ..Field::SIZE
                    },
                    $(Field {
                        name: stringify!($field),
                        ty: <$ty as CType>::TYPE,
                        offset: std::mem::offset_of!($record, $field),
                        size: size_of::<$ty>(),
                        doc: &[
                            $($fdoc,)*
                            $crate::capi::quda::records::records!(@doc $role $(($($only),+))?)
                        ],
                        ..Field::SIZE
                    },)*
                ]
            };
            fn digest(&self, _: &mut dyn FnMut(&'static str, &[u8])) {}
        }
        impl $crate::capi::quda::records::Record for $record {
            const NEW: Self = $record { struct_size: size_of::<$record>(), $($field: $default,)* };
            const ROLES: &'static [(
                &'static str,
                $crate::capi::quda::records::Role,
                $crate::params::Doc,
            )] = &[$((
                stringify!($field),
                $crate::capi::quda::records::records!(@role $role $(($($only),+))?),
                &[$($fdoc,)*],
            ),)*];
            fn lines(&self) -> Vec<String> {
                use $crate::params::Member;
                vec![
                    format!("struct_size = {}", self.struct_size),
                    $(format!("{} = {}", stringify!($field).trim_start_matches("r#"), self.$field.in_c()),)*
                ]
            }
            fn take(
                &mut self,
                member: &str,
                place: Option<usize>,
                words: &[&str],
            ) -> Option<$crate::params::Taken> {
                use $crate::params::Member;
                $(if member == stringify!($field).trim_start_matches("r#") {
                    return Some(match place {
                        Some(place) => self.$field.take_at(place, words),
                        None => self.$field.take(words),
                    });
                })*
                None
            }
            fn check(&self, argument: &str) -> $crate::error::Result<()> {
                if self.struct_size != size_of::<$record>() {
                    $crate::refuse!(InvalidArgument, "{argument}.struct_size", expected("{} as new{} sets it", size_of::<$record>(), stringify!($record)), found("{}", self.struct_size));
                }
                $($crate::capi::quda::records::records!(@check self, argument, $field $(($($only),+))?);)*
                Ok(())
            }
        }
        impl $crate::capi::quda::calls::ErrorValue for $record {
            const ON_ERROR: Self = <$record as $crate::capi::quda::records::Record>::NEW;
        }
    )* };
    (@doc only($($only:expr),+)) => { concat!(" Only ", stringify!($($only),+), ".") };
    (@doc ignored) => { " Not used." };
    (@doc $role:ident) => { "" };
    (@role used) => { $crate::capi::quda::records::Role::Used };
    (@role result) => { $crate::capi::quda::records::Role::Result };
    (@role ignored) => { $crate::capi::quda::records::Role::Ignored };
    (@role only($($only:expr),+)) => {
        $crate::capi::quda::records::Role::Only(stringify!($($only),+))
    };
    (@check $self:ident, $argument:ident, $field:ident) => {};
    (@check $self:ident, $argument:ident, $field:ident ($($only:expr),+)) => {
        $crate::capi::quda::records::only(
            $self.$field,
            &[$($only),+],
            stringify!($($only),+),
            $argument,
            stringify!($field),
        )?
    };
}
pub(crate) use records;
