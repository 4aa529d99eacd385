//! Structs and arrays of hosts that use QUDA's interface.

use std::ffi::c_void;

use super::session::Session;
use crate::backend::{External, Location};
use crate::capi::args::{Arg, DataOut};
use crate::capi::digest::Digest;
use crate::capi::table::{Pass, Type};
use crate::error::Result;
use crate::fields::Precision;
use crate::params::CType;
use crate::refuse;

/// A struct that the host passes and that is changed on success.
pub struct InOut<T> {
    at: *mut T,
    value: T,
}

impl<T: Copy + CType> Arg for InOut<T> {
    const TYPE: Type = T::TYPE;
    const PASS: Pass = Pass::InOut;
    type C = *mut T;
    type View<'a>
        = &'a mut T
    where
        T: 'a;
    unsafe fn read(at: *mut T, name: &'static str) -> Result<Self> {
        if at.is_null() {
            refuse!(NullPointer, "{name}", expected("a pointer"), found("NULL"));
        }
        Ok(InOut { at, value: at.read_unaligned() })
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &mut T {
        &mut self.value
    }
    fn finish(self) {
        // SAFETY: the host's pointer, not NULL.
        unsafe { self.at.write_unaligned(self.value) };
    }
}

/// The address of a list of addresses of arrays.
pub struct List(*const *mut c_void);

impl Arg for List {
    const TYPE: Type = Type::Pointer(&Type::Address);
    const PASS: Pass = Pass::Value;
    type C = *const *mut c_void;
    type View<'a> = &'a List;
    unsafe fn read(c: Self::C, name: &'static str) -> Result<Self> {
        if c.is_null() {
            refuse!(NullPointer, "{name}", expected("a pointer"), found("NULL"));
        }
        Ok(List(c))
    }
    fn digest(&self, _: &mut Digest) {}
    fn view(&mut self) -> &Self {
        self
    }
}

impl List {
    /// The list at an address for which `quda.h` declares no list, such as that of links in QDP order.
    pub fn at(address: *mut c_void, name: &str) -> Result<List> {
        if address.is_null() {
            refuse!(NullPointer, "{name}", expected("a pointer"), found("NULL"));
        }
        Ok(List(address.cast()))
    }

    /// The first `count` addresses.
    pub fn get(&self, count: usize, name: &str) -> Result<Vec<*mut c_void>> {
        // SAFETY: the host's list of so many addresses, as the header asks.
        let all: Vec<_> = (0..count).map(|i| unsafe { self.0.add(i).read_unaligned() }).collect();
        if let Some(i) = all.iter().position(|p| p.is_null()) {
            refuse!(NullPointer, "{name}[{i}]", expected("a pointer"), found("NULL"));
        }
        Ok(all)
    }
}

impl Session {
    /// The host's arrays at these addresses, in the memory where they are. Their sizes cannot be checked; the header
    /// requires those of the layout.
    pub fn external(&self, addresses: &[*mut c_void], name: &str) -> Result<External<'_>> {
        if let Some(i) = addresses.iter().position(|p| p.is_null()) {
            refuse!(NullPointer, "{name}", expected("a pointer"), found("NULL (array {i})"));
        }
        let device = self.context.device();
        let location = device.location_of(addresses[0] as u64)?;
        for address in addresses {
            if device.location_of(*address as u64)? != location {
                refuse!(
                    Unsupported,
                    "{name}",
                    expected("all arrays on the device or all in host memory"),
                    found("both")
                );
            }
        }
        let starts: Vec<*mut u8> = addresses.iter().map(|p| p.cast()).collect();
        // SAFETY: the host passes arrays that are as large as its description says.
        Ok(unsafe { External::from_raw(&starts, usize::MAX / 2, location) })
    }

    /// Writes numbers into the host's array at an address, in the memory where it is.
    pub fn write_numbers(
        &self,
        address: *mut c_void,
        precision: Precision,
        numbers: &[f64],
        name: &str,
    ) -> Result<()> {
        let out = DataOut::at(address, name)?;
        let device = self.context.device();
        if device.location_of(address as u64)? == Location::Host {
            out.write(precision, numbers);
            return Ok(());
        }
        let bytes: Vec<u8> = match precision {
            Precision::F64 => bytemuck::cast_slice(numbers).to_vec(),
            _ => numbers.iter().flat_map(|v| (*v as f32).to_ne_bytes()).collect(),
        };
        device.write_at(address as u64, &bytes)
    }
}
