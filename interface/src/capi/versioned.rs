//! Structs of C that may grow in later versions: they begin with `struct_size`, and new members are added at the end.
//! For a host compiled with a shorter struct the missing members have defaults; a longer struct is accepted if the
//! members that this version does not know are zero.

use std::ffi::{c_char, c_void, CStr};

use super::digest::Digest;
use super::table::{Argument, Item, Pass, Type};
use crate::error::Result;
use crate::params::{CStruct, Choice, Member, Number};
use crate::refuse;

/// Largest size in bytes of a struct that a call accepts, far above that of any struct of the interface: a larger
/// number is taken to be uninitialised.
const LARGEST: i64 = 4096;

/// A member whose value may be copied byte by byte from and to a struct of the host.
///
/// # Safety
/// Every bit pattern is a value.
pub(crate) unsafe trait Plain: Member {}

macro_rules! plain {
    ($($ty:ty),*) => { $(
        // SAFETY: numbers and pointers have no invalid bit patterns.
        unsafe impl Plain for $ty {}
    )* };
}
plain!(i32, i64, f64, *mut c_void, *const c_char, *const i32);
// SAFETY: a number has no invalid bit patterns, whether or not it is one of the values.
unsafe impl<T: Choice> Plain for Number<T> {}
// SAFETY: an array of such values.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// # Safety
/// `#[repr(C)]`, an i64 `struct_size` first, plain members of which the last one ends the struct.
pub(crate) unsafe trait Versioned: Copy + Default {
    /// Calls `each` with the offset and the size of every member.
    fn members(each: &mut dyn FnMut(usize, usize));
}

/// Passes on the members that all ranks have in common: numbers and texts, not addresses.
pub(crate) fn digest<T: CStruct>(params: &T, digest: &mut Digest) {
    CStruct::digest(params, &mut |name, bytes| digest.member(name, bytes));
    for field in T::FIELDS.iter().filter(|field| field.ty == Type::Text) {
        let members: *const u8 = (params as *const T).cast();
        // SAFETY: a member of this type begins there.
        let text = unsafe { members.add(field.offset).cast::<*const c_char>().read() };
        digest.member(field.name, &[u8::from(!text.is_null())]);
        if !text.is_null() {
            // SAFETY: NULL or NUL-terminated text, as the header asks.
            digest.text(unsafe { CStr::from_ptr(text) }.to_bytes());
        }
    }
}

/// Implements [`Versioned`] for a struct, checks what that trait requires, and makes the struct's init function.
macro_rules! versioned {
    ($name:ident, $init:ident { $($field:ident: $ty:ty,)* }) => {
        // A struct must not end with padding: a new member could take its place, and would have arbitrary bytes of a
        // host that was compiled with the old struct.
        const _: () = {
            const fn plain<T: $crate::capi::versioned::Plain>() -> usize {
                size_of::<T>()
            }
            const ENDS: &[usize] =
                &[$(std::mem::offset_of!($name, $field) + plain::<$ty>()),*];
            assert!(ENDS[ENDS.len() - 1] == size_of::<$name>());
        };
        impl $crate::params::CType for $name {
            const TYPE: $crate::params::Type = $crate::params::Type::Struct(stringify!($name));
        }
        // SAFETY: repr(C) and struct_size first by `interface!`; the rest is asserted above.
        unsafe impl $crate::capi::versioned::Versioned for $name {
            fn members(each: &mut dyn FnMut(usize, usize)) {
                each(0, size_of::<i64>());
                $(each(std::mem::offset_of!($name, $field), size_of::<$ty>());)*
            }
        }

        #[cfg_attr(not(test), no_mangle)]
        pub unsafe extern "C" fn $init(to: *mut $name, struct_size: i64) -> i32 {
            $crate::capi::boundary::call(stringify!($init), &mut || {
                $crate::capi::versioned::init(to, struct_size)
            })
        }
    };
}
pub(crate) use versioned;

/// Implements [`Versioned`] for a struct of `parameters!` or `reports!`, and makes its init function.
macro_rules! tabled {
    ($name:ident, $init:ident) => {
        // SAFETY: repr(C) and struct_size first by its table; that the last member ends it is asserted.
        unsafe impl $crate::capi::versioned::Versioned for $name {
            fn members(each: &mut dyn FnMut(usize, usize)) {
                let fields = <$name as $crate::params::CStruct>::FIELDS;
                fields.iter().for_each(|field| each(field.offset, field.size));
            }
        }
        const _: () = assert!($crate::params::ends_with_a_member(
            <$name as $crate::params::CStruct>::FIELDS,
            size_of::<$name>(),
        ));
        // The program of unit tests exports no symbols of C, as everything that they reach would be compiled into it.
        #[cfg_attr(not(test), no_mangle)]
        pub unsafe extern "C" fn $init(to: *mut $name, struct_size: i64) -> i32 {
            $crate::capi::boundary::call(stringify!($init), &mut || {
                $crate::capi::versioned::init(to, struct_size)
            })
        }
        impl $crate::capi::digest::Digested for $name {
            fn digest(&self, digest: &mut $crate::capi::digest::Digest) {
                $crate::capi::versioned::digest(self, digest);
            }
        }
    };
}
pub(crate) use tabled;

/// The argument with the size of the host's struct.
pub(super) const SIZE: Argument =
    Argument { name: "struct_size", ty: Type::I64, pass: Pass::Value, length: None };

pub(super) const fn init_item(name: &'static str, args: &'static [Argument]) -> Item {
    Item::Function {
        name,
        doc: &[" Fills in defaults; pass sizeof."],
        args,
        returns: Type::Enum("plaq_status"),
    }
}

fn check_size(size: i64) -> Result<usize> {
    if !(16..=LARGEST).contains(&size) || size % 8 != 0 {
        refuse!(
            StructSize,
            "struct_size",
            expected("sizeof of the struct (16 to {LARGEST}, a multiple of 8)"),
            found("{size}"),
            hint("call its init function first")
        );
    }
    Ok(size as usize)
}

/// Copies the members that both structs have; the rest of the host's struct, and gaps between members, become zero,
/// so that structs with equal members have equal bytes.
unsafe fn put<T: Versioned>(to: *mut T, value: &T, size: usize) {
    let (to, from): (*mut u8, *const u8) = (to.cast(), (value as *const T).cast());
    std::ptr::write_bytes(to, 0, size);
    T::members(&mut |offset, bytes| {
        if offset < size {
            let bytes = bytes.min(size - offset);
            // SAFETY: a part of both structs: of the library's by `members`, of the host's by its size.
            unsafe { std::ptr::copy_nonoverlapping(from.add(offset), to.add(offset), bytes) };
        }
    });
    to.cast::<i64>().write_unaligned(size as i64);
}

pub(crate) unsafe fn init<T: Versioned>(to: *mut T, struct_size: i64) -> Result<()> {
    if to.is_null() {
        refuse!(NullPointer, "the struct to fill", expected("a pointer"), found("NULL"));
    }
    put(to, &T::default(), check_size(struct_size)?);
    Ok(())
}

/// The host's parameters, with defaults for members that it does not have; NULL: all defaults.
pub(crate) unsafe fn read<T: Versioned>(from: *const T, argument: &str) -> Result<T> {
    let mut value = T::default();
    if from.is_null() {
        return Ok(value);
    }
    let size = check_size(from.cast::<i64>().read_unaligned())?;
    let from: *const u8 = from.cast();
    if (size_of::<T>()..size).any(|i| *from.add(i) != 0) {
        refuse!(
            StructSize,
            "{argument}",
            expected("at most {} bytes", size_of::<T>()),
            found(
                "{size} with values that this library does not know: it is older than the header"
            )
        );
    }
    let to: *mut u8 = (&mut value as *mut T).cast();
    std::ptr::copy_nonoverlapping(from, to, size.min(size_of::<T>()));
    Ok(value)
}

/// Size of the host's report struct, which is checked before the work begins.
pub(crate) unsafe fn report_size<T: Versioned>(report: *const T) -> Result<usize> {
    check_size(report.cast::<i64>().read_unaligned())
}

pub(crate) unsafe fn write_report<T: Versioned>(to: *mut T, value: &T, size: usize) {
    put(to, value, size);
}
