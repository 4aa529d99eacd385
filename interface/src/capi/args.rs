//! Kinds of arguments of C functions: how each is checked before a call, and how results are written after it.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::Arc;

use super::boundary;
use super::digest::{Digest, Digested};
use super::handles::{self, HandleType};
use super::table::{Argument, Factor, Pass, Type};
use super::versioned::{self, Versioned};
use crate::backend::{External, Location};
use crate::comm::Comm;
use crate::error::Result;
use crate::fields::Precision;
pub(crate) use crate::params::{choose, number_of};
use crate::params::{CType, Choice, Number};
use crate::refuse;

/// One argument of a C function.
pub trait Arg: Sized {
    /// The argument's type as declared in headers and bindings.
    const TYPE: Type;
    const PASS: Pass;
    /// The type that C passes.
    type C;
    /// The type that the Rust function behind the C function receives.
    type View<'a>
    where
        Self: 'a;
    /// # Safety
    /// Pointers are NULL or point to what the header says.
    unsafe fn read(c: Self::C, name: &'static str) -> Result<Self>;
    fn view(&mut self) -> Self::View<'_>;
    /// The ranks that make this call together, if this argument determines them.
    fn ranks(&self) -> Option<Arc<Comm>> {
        None
    }
    /// Adds to the hash the part of this argument that must be the same on all ranks. Addresses, callbacks and arrays
    /// for results are not included, since they differ between ranks.
    fn digest(&self, digest: &mut Digest);
    /// Checks what `read` could not check, because an error there must be reported to all ranks.
    fn checked(self) -> Result<Self> {
        Ok(self)
    }
    /// Writes results; called only after success.
    fn finish(self) {}
}

impl Digest {
    pub fn add<T: Arg>(&mut self, argument: &Result<T>, name: &str) {
        match argument {
            Ok(argument) if Self::counts(name) => argument.digest(self),
            Ok(_) => {}
            Err(_) => self.refuse(),
        }
    }
    pub(crate) fn member(&mut self, name: &str, bytes: &[u8]) {
        if Self::counts(name) {
            self.bytes(bytes);
        }
    }
}

macro_rules! by_value {
    ($($ty:ty: $value:ident, $digest:ident, $how:expr;)*) => { $(impl Arg for $ty {
        const TYPE: Type = <$ty as CType>::TYPE;
        const PASS: Pass = Pass::Value;
        type C = $ty;
        type View<'a> = $ty;
        unsafe fn read(c: $ty, _: &'static str) -> Result<Self> {
            Ok(c)
        }
        fn view(&mut self) -> $ty {
            *self
        }
        fn digest(&self, $digest: &mut Digest) {
            let $value = self;
            $how
        }
    })* };
}
by_value! {
    i32: n, digest, digest.bytes(&n.to_ne_bytes());
    u32: n, digest, digest.bytes(&n.to_ne_bytes());
    i64: n, digest, digest.bytes(&n.to_ne_bytes());
    usize: n, digest, digest.bytes(&n.to_ne_bytes());
    f64: n, digest, digest.bytes(&n.to_ne_bytes());
    *mut c_void: _address, _digest, {};
}

/// The number of an enum's value.
impl<T: Choice> Arg for Number<T> {
    const TYPE: Type = <Number<T> as CType>::TYPE;
    const PASS: Pass = Pass::Value;
    type C = Self;
    type View<'a> = Self;
    unsafe fn read(c: Self, _: &'static str) -> Result<Self> {
        Ok(c)
    }
    fn view(&mut self) -> Self {
        *self
    }
    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.0.to_ne_bytes());
    }
}

/// A value of an enum, or the error for a number that is none of its values.
pub struct One<T>(Result<T>, i32);

impl<T: Choice> Arg for One<T> {
    const TYPE: Type = <Number<T> as CType>::TYPE;
    const PASS: Pass = Pass::Value;
    type C = Number<T>;
    type View<'a> = T;
    unsafe fn read(c: Number<T>, name: &'static str) -> Result<Self> {
        Ok(One(choose(c, name), c.0))
    }
    fn view(&mut self) -> T {
        *self.0.as_ref().expect("checked")
    }
    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.1.to_ne_bytes());
    }
    fn checked(self) -> Result<Self> {
        Ok(One(Ok(self.0?), self.1))
    }
}

/// An argument that is passed on unchanged: a callback, or a handle that is to be destroyed.
pub struct Raw<T>(T);

impl<T: Copy + CType> Arg for Raw<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = match T::TYPE {
        Type::Handle(_) => Pass::Destroyed,
        _ => Pass::Value,
    };
    type C = T;
    type View<'a>
        = T
    where
        T: 'a;
    unsafe fn read(c: T, _: &'static str) -> Result<Self> {
        Ok(Raw(c))
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> T {
        self.0
    }
}

/// A handle, looked up; all ranks of its context make the call together.
pub struct Handle<H: HandleType> {
    object: Result<Arc<H::Object>>,
    /// Ranks of the object's context. They are known for a destroyed object, too, as long as its context exists, so
    /// that other ranks do not wait for this one.
    ranks: Option<Arc<Comm>>,
    made_in: i64,
}

impl<H: HandleType> Arg for Handle<H> {
    const TYPE: Type = Type::Handle(H::NAME);
    const PASS: Pass = Pass::Handle;
    type C = H;
    type View<'a>
        = &'a Arc<H::Object>
    where
        H: 'a;
    unsafe fn read(c: H, name: &'static str) -> Result<Self> {
        let object = handles::get(c, name);
        let ranks = match &object {
            Ok(object) => Some(H::ranks(object).clone()),
            Err(_) => handles::ranks_of_stale(c),
        };
        Ok(Handle { object, ranks, made_in: handles::made_in(c) })
    }
    fn view(&mut self) -> &Arc<H::Object> {
        self.object.as_ref().expect("checked")
    }
    fn ranks(&self) -> Option<Arc<Comm>> {
        self.ranks.clone()
    }
    fn digest(&self, digest: &mut Digest) {
        if self.object.is_err() {
            digest.refuse();
        }
        digest.bytes(&self.made_in.to_ne_bytes());
    }
    fn checked(self) -> Result<Self> {
        match self.object {
            Err(e) => Err(e),
            object => Ok(Handle { object, ..self }),
        }
    }
}

/// A handle in a call that every rank makes independently.
pub struct Local<H: HandleType>(Arc<H::Object>);

impl<H: HandleType> Arg for Local<H> {
    const TYPE: Type = Type::Handle(H::NAME);
    const PASS: Pass = Pass::Local;
    type C = H;
    type View<'a>
        = &'a Arc<H::Object>
    where
        H: 'a;
    unsafe fn read(c: H, name: &'static str) -> Result<Self> {
        Ok(Local(handles::get(c, name)?))
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &Arc<H::Object> {
        &self.0
    }
}

/// A handle that may be zero, which means no object.
pub struct OptionalHandle<H: HandleType> {
    object: Option<Arc<H::Object>>,
    made_in: i64,
}

impl<H: HandleType> Arg for OptionalHandle<H> {
    const TYPE: Type = Type::Handle(H::NAME);
    const PASS: Pass = Pass::OptionalHandle;
    type C = H;
    type View<'a>
        = Option<&'a Arc<H::Object>>
    where
        H: 'a;
    unsafe fn read(c: H, name: &'static str) -> Result<Self> {
        let object = if c.id() == 0 { None } else { Some(handles::get(c, name)?) };
        Ok(OptionalHandle { object, made_in: handles::made_in(c) })
    }
    fn view(&mut self) -> Option<&Arc<H::Object>> {
        self.object.as_ref()
    }
    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&[self.object.is_some() as u8]);
        digest.bytes(&self.made_in.to_ne_bytes());
    }
}

/// A struct of parameters; for NULL it has all default values.
pub struct Params<T>(T);

impl<T: Versioned + Digested + CType> Arg for Params<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::Params;
    type C = *const T;
    type View<'a>
        = &'a T
    where
        T: 'a;
    unsafe fn read(c: *const T, name: &'static str) -> Result<Self> {
        Ok(Params(versioned::read(c, name)?))
    }
    fn view(&mut self) -> &T {
        &self.0
    }
    fn digest(&self, digest: &mut Digest) {
        self.0.digest(digest);
    }
}

/// A struct that is filled with default values, whatever it contains.
pub(super) struct Init<T>(std::marker::PhantomData<T>);

impl<T: CType> Arg for Init<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::Init;
    type C = *mut T;
    type View<'a>
        = ()
    where
        T: 'a;
    unsafe fn read(_: *mut T, _: &'static str) -> Result<Self> {
        Ok(Init(std::marker::PhantomData))
    }
    fn view(&mut self) {}
    fn digest(&self, _: &mut Digest) {}
}

/// A result, written on success.
pub struct Out<T> {
    to: *mut T,
    value: Option<T>,
}

impl<T> Out<T> {
    pub(crate) fn set(&mut self, value: T) {
        self.value = Some(value);
    }
}

impl<T: CType> Arg for Out<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::Out;
    type C = *mut T;
    type View<'a>
        = &'a mut Out<T>
    where
        T: 'a;
    unsafe fn read(to: *mut T, name: &'static str) -> Result<Self> {
        not_null(to, name)?;
        Ok(Out { to, value: None })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        if let Some(value) = self.value {
            // SAFETY: the host's pointer, not NULL.
            unsafe { self.to.write_unaligned(value) };
        }
    }
}

/// An address for the handle of an object that the call makes; NULL if the host does not want it.
pub struct MaybeOut<T>(Out<T>);

impl<T> MaybeOut<T> {
    pub(crate) fn wanted(&self) -> bool {
        !self.0.to.is_null()
    }
    pub(crate) fn set(&mut self, value: T) {
        self.0.value = self.wanted().then_some(value);
    }
}

impl<T: CType> Arg for MaybeOut<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::MaybeOut;
    type C = *mut T;
    type View<'a>
        = &'a mut MaybeOut<T>
    where
        T: 'a;
    unsafe fn read(to: *mut T, _: &'static str) -> Result<Self> {
        Ok(MaybeOut(Out { to, value: None }))
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        self.0.finish();
    }
}

/// An address for a struct of results that may grow in later versions, written on success; NULL if not wanted.
pub struct Report<T> {
    to: *mut T,
    size: usize,
    value: Option<T>,
}

impl<T> Report<T> {
    pub(crate) fn set(&mut self, value: T) {
        self.value = Some(value);
    }
}

impl<T: Versioned + CType> Arg for Report<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::Report;
    type C = *mut T;
    type View<'a>
        = &'a mut Report<T>
    where
        T: 'a;
    unsafe fn read(to: *mut T, _: &'static str) -> Result<Self> {
        let size = if to.is_null() { 0 } else { versioned::report_size(to)? };
        Ok(Report { to, size, value: None })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        if let (false, Some(value)) = (self.to.is_null(), self.value) {
            // SAFETY: the host's pointer with as many bytes as its struct_size says.
            unsafe { versioned::write_report(self.to, &value, self.size) };
        }
    }
}

/// The address of numbers that a call reads. The function behind the call computes how many it needs, and ranks
/// compare the numbers when they are read.
pub struct Array<T> {
    from: *const T,
    pub(crate) name: &'static str,
}

/// A type of array entries that ranks can compare by a hash.
pub(crate) trait Compared {
    fn digest(&self, digest: &mut Digest);
}
macro_rules! compared {
    ($($ty:ty),*) => { $(impl Compared for $ty {
        fn digest(&self, digest: &mut Digest) {
            digest.bytes(&self.to_ne_bytes());
        }
    })* };
}
compared!(i32, f64);
impl<H: HandleType> Compared for H {
    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&handles::made_in(*self).to_ne_bytes());
    }
}

impl<T: Copy> Array<T> {
    /// The array at an address that stands in a struct of the host.
    pub(crate) fn at(from: *const T, name: &'static str) -> Result<Self> {
        not_null(from, name)?;
        Ok(Array { from, name })
    }

    /// The first `count` numbers, which the header requires the host to have, and to be the same on all ranks that
    /// make the call together.
    ///
    /// # Errors
    /// On all ranks `InvalidArgument`: they are not the same. `CommFailed`, `MpiThread`.
    pub(crate) fn get(&self, count: usize) -> Result<Vec<T>>
    where
        T: Compared,
    {
        let numbers = self.own(count);
        let mut digest = Digest::default();
        numbers.iter().for_each(|number| number.digest(&mut digest));
        boundary::compare(self.name, digest)?;
        Ok(numbers)
    }

    /// The first `count` numbers, which may differ between ranks.
    pub(crate) fn own(&self, count: usize) -> Vec<T> {
        // SAFETY: the host's pointer, not NULL.
        (0..count).map(|i| unsafe { self.from.add(i).read_unaligned() }).collect()
    }
}

impl<T: Copy + CType> Arg for Array<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::Array;
    type C = *const T;
    type View<'a>
        = &'a Array<T>
    where
        T: 'a;
    unsafe fn read(from: *const T, name: &'static str) -> Result<Self> {
        not_null(from, name)?;
        Ok(Array { from, name })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &Self {
        self
    }
}

/// An array for results, written on success; of `MaybeArray` it may be NULL.
pub struct OutArray<T> {
    to: *mut T,
    values: Vec<T>,
}

impl<T> OutArray<T> {
    pub(crate) fn set(&mut self, values: Vec<T>) {
        self.values = values;
    }
}

impl<T: Copy + CType> Arg for OutArray<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::OutArray;
    type C = *mut T;
    type View<'a>
        = &'a mut OutArray<T>
    where
        T: 'a;
    unsafe fn read(to: *mut T, name: &'static str) -> Result<Self> {
        not_null(to, name)?;
        Ok(OutArray { to, values: Vec::new() })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        for (i, value) in self.values.iter().enumerate() {
            // SAFETY: the host's pointer to as many numbers as the header says.
            unsafe { self.to.add(i).write_unaligned(*value) };
        }
    }
}

/// An array for results; NULL if the host does not want them.
pub struct MaybeArray<T>(OutArray<T>);

impl<T> MaybeArray<T> {
    pub(crate) fn wanted(&self) -> bool {
        !self.0.to.is_null()
    }
    pub(crate) fn set(&mut self, values: Vec<T>) {
        self.0.values = if self.wanted() { values } else { Vec::new() };
    }
}

impl<T: Copy + CType> Arg for MaybeArray<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::MaybeArray;
    type C = *mut T;
    type View<'a>
        = &'a mut MaybeArray<T>
    where
        T: 'a;
    unsafe fn read(to: *mut T, _: &'static str) -> Result<Self> {
        Ok(MaybeArray(OutArray { to, values: Vec::new() }))
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        self.0.finish();
    }
}

/// An array of the host that a layout describes, or a list of such arrays, which is read.
pub struct Data(*mut u8);

/// An array of the host that a layout describes, or a list of such arrays, which is written.
pub struct DataOut(*mut u8);

/// Lends the host's memory for the duration of a call.
pub(crate) trait Memory {
    fn address(&self) -> *mut u8;

    /// Arrays of `bytes` bytes each, one after the other in memory. Their true size cannot be checked; the header
    /// requires it of the host.
    fn block(&self, bytes: &[usize], location: Location) -> External<'_> {
        let starts: Vec<*mut u8> = bytes
            .iter()
            .scan(self.address(), |next, bytes| {
                let start = *next;
                *next = start.wrapping_add(*bytes);
                Some(start)
            })
            .collect();
        // SAFETY: the host's array has all these parts, one after the other.
        unsafe { External::from_raw(&starts, bytes.iter().copied().max().unwrap_or(0), location) }
    }

    /// The arrays at `count` addresses, which the host's memory holds.
    fn list(&self, count: usize, location: Location) -> External<'_> {
        let list: *const *mut u8 = self.address().cast();
        // SAFETY: the header asks for the address of as many pointers, to arrays large enough.
        unsafe {
            let starts: Vec<*mut u8> = (0..count).map(|i| list.add(i).read_unaligned()).collect();
            External::from_raw(&starts, usize::MAX / 2, location)
        }
    }
}

macro_rules! memory {
    ($name:ident, $pointer:ty) => {
        impl Memory for $name {
            fn address(&self) -> *mut u8 {
                self.0
            }
        }
        impl Arg for $name {
            const TYPE: Type = Type::Void;
            const PASS: Pass = Pass::$name;
            type C = $pointer;
            type View<'a> = &'a $name;
            unsafe fn read(c: $pointer, name: &'static str) -> Result<Self> {
                not_null(c, name)?;
                Ok($name(c as *mut u8))
            }
            fn digest(&self, _: &mut Digest) {}
            fn view(&mut self) -> &Self {
                self
            }
        }
    };
}
memory!(Data, *const c_void);
memory!(DataOut, *mut c_void);

/// A NUL-terminated UTF-8 string.
pub struct Text(String);

impl Arg for Text {
    const TYPE: Type = Type::Text;
    const PASS: Pass = Pass::Text;
    type C = *const c_char;
    type View<'a> = &'a str;
    unsafe fn read(c: *const c_char, name: &'static str) -> Result<Self> {
        not_null(c, name)?;
        match CStr::from_ptr(c).to_str() {
            Ok(text) => Ok(Text(text.to_owned())),
            Err(_) => {
                refuse!(InvalidArgument, "{name}", expected("UTF-8 text"), found("other bytes"))
            }
        }
    }
    fn digest(&self, digest: &mut Digest) {
        digest.text(self.0.as_bytes());
    }
    fn view(&mut self) -> &str {
        &self.0
    }
}

/// A text that a parameter struct points to; `None` for NULL.
pub(crate) fn optional_text(text: *const c_char, name: &'static str) -> Result<Option<String>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the host's pointer to NUL-terminated text, as the header says.
    Ok(Some(unsafe { Text::read(text, name) }?.0))
}

/// A buffer for text; the next argument is its capacity in bytes.
pub struct TextOut {
    to: *mut c_char,
    text: Vec<u8>,
}

impl TextOut {
    pub(crate) fn set(&mut self, text: &str, capacity: i64) -> Result<()> {
        let mut bytes = text.replace('\0', " ").into_bytes();
        bytes.push(0);
        if capacity < bytes.len() as i64 {
            refuse!(
                InvalidArgument,
                "capacity",
                expected("at least {}", bytes.len()),
                found("{capacity}")
            );
        }
        self.text = bytes;
        Ok(())
    }
}

impl Arg for TextOut {
    const TYPE: Type = Type::Text;
    const PASS: Pass = Pass::TextOut;
    type C = *mut c_char;
    type View<'a> = &'a mut TextOut;
    unsafe fn read(to: *mut c_char, name: &'static str) -> Result<Self> {
        not_null(to, name)?;
        Ok(TextOut { to, text: Vec::new() })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut Self {
        self
    }
    fn finish(self) {
        // SAFETY: `set` compared the length with the host's capacity.
        unsafe {
            std::ptr::copy_nonoverlapping(self.text.as_ptr(), self.to.cast(), self.text.len())
        };
    }
}

impl DataOut {
    /// The array at an address that stands in a struct of the host.
    pub(crate) fn at(address: *mut c_void, name: &str) -> Result<DataOut> {
        not_null(address, name)?;
        Ok(DataOut(address.cast()))
    }
}

impl Data {
    /// Calls `work` with the array's first `count` bytes. Its size is not checked, as in [`Memory::block`].
    pub(crate) fn read<T>(&self, count: usize, work: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: the host's array of that size, which nobody changes during its call.
        work(unsafe { std::slice::from_raw_parts(self.0, count) })
    }

    /// The array's first `count` numbers, converted to double precision.
    pub(crate) fn numbers(&self, precision: Precision, count: usize) -> Vec<f64> {
        // SAFETY: the host's array has `count` numbers of this precision, and nobody changes them during the call.
        unsafe { numbers_at(self.0, precision, count) }
    }
}

/// # Safety
/// `at` must be the address of `count` numbers in this precision.
unsafe fn numbers_at(at: *const u8, precision: Precision, count: usize) -> Vec<f64> {
    let (single, double): (*const f32, *const f64) = (at.cast(), at.cast());
    let number = |i: usize| match precision {
        Precision::F64 => double.add(i).read_unaligned(),
        _ => f64::from(single.add(i).read_unaligned()),
    };
    (0..count).map(number).collect()
}

impl DataOut {
    /// The first `count` numbers of an array, converted to double precision. Its size is not checked.
    pub(crate) fn numbers(&self, precision: Precision, count: usize) -> Vec<f64> {
        // SAFETY: the host's array of that size.
        unsafe { numbers_at(self.0, precision, count) }
    }

    /// Writes numbers to the beginning of the array.
    pub(crate) fn write(&self, precision: Precision, numbers: &[f64]) {
        let single: *mut f32 = self.0.cast();
        let double: *mut f64 = self.0.cast();
        for (i, number) in numbers.iter().enumerate() {
            // SAFETY: the host's array of that size.
            unsafe {
                match precision {
                    Precision::F64 => double.add(i).write_unaligned(*number),
                    _ => single.add(i).write_unaligned(*number as f32),
                }
            }
        }
    }
}

/// C's `int ***`: for each direction a list of paths.
pub struct PathTable(*const *const *const c_int);

/// C's `int **`: the addresses of paths.
pub struct PathList(*const *const c_int);

impl PathTable {
    /// The list of paths of a direction.
    pub(crate) fn of(&self, direction: usize) -> Result<PathList> {
        // SAFETY: the host's array of four addresses, not NULL.
        let list = unsafe { self.0.add(direction).read_unaligned() };
        not_null(list, "input_path_buf")?;
        Ok(PathList(list))
    }
}

impl PathList {
    /// The list at an address that stands in a struct of the host.
    pub(crate) fn at(list: *const *const c_int, name: &str) -> Result<PathList> {
        not_null(list, name)?;
        Ok(PathList(list))
    }

    /// The first `length` steps of path number `number`.
    pub(crate) fn get(&self, number: usize, length: usize) -> Result<Vec<i32>> {
        // SAFETY: the host's array of as many addresses as there are paths, not NULL.
        let path = unsafe { self.0.add(number).read_unaligned() };
        not_null(path, "input_path_buf")?;
        Ok(numbers(path, length).unwrap_or_default())
    }
}

macro_rules! pointer {
    ($name:ident, $pointer:ty, $depth:literal) => {
        impl Arg for $name {
            const TYPE: Type = Type::Paths($depth);
            const PASS: Pass = Pass::Value;
            type C = $pointer;
            type View<'a> = &'a $name;
            unsafe fn read(c: $pointer, name: &'static str) -> Result<Self> {
                not_null(c, name)?;
                Ok($name(c))
            }
            fn digest(&self, _: &mut Digest) {}
            fn view(&mut self) -> &Self {
                self
            }
        }
    };
}
pointer!(PathTable, *const *const *const c_int, 3);
pointer!(PathList, *const *const c_int, 2);

pub(crate) fn not_null<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_null() {
        refuse!(NullPointer, "{name}", expected("a pointer"), found("NULL"));
    }
    Ok(())
}

/// The numbers that a parameter struct points to; `None` for NULL.
pub(crate) fn numbers(from: *const i32, count: usize) -> Option<Vec<i32>> {
    // SAFETY: the host's pointer to as many numbers as the header says.
    (!from.is_null()).then(|| (0..count).map(|i| unsafe { from.add(i).read_unaligned() }).collect())
}

/// The description of an argument of this kind, for headers and bindings.
pub(crate) const fn argument<T: Arg>(
    name: &'static str,
    length: Option<&'static [Factor]>,
) -> Argument {
    Argument { name, ty: T::TYPE, pass: T::PASS, length }
}
