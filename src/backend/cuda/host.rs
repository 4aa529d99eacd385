//! Arrays of the host program in memory of this device, and the CUDA streams on which it works.

use std::ffi::{c_int, c_void};

use super::driver::{cu, EVENT_NO_TIMING};
use super::{Cuda, Handle};
use crate::backend::Ptr;
use crate::error::Result;
use crate::refuse;

// cuda.h: CUpointer_attribute.
const MEMORY_TYPE: c_int = 2;
const DEVICE_POINTER: c_int = 3;
const IS_MANAGED: c_int = 8;
const DEVICE_ORDINAL: c_int = 9;
const RANGE_START: c_int = 11;
const RANGE_SIZE: c_int = 12;
/// Memory type CU_MEMORYTYPE_HOST.
const HOST: u64 = 1;
const DEVICE: u64 = 2;
/// Code CUDA_ERROR_INVALID_VALUE.
const INVALID_VALUE: c_int = 1;
const INVALID_CONTEXT: c_int = 201;
const INVALID_HANDLE: c_int = 400;

/// Information that the driver has about an address.
struct Known {
    /// The kind of memory; 0: unknown.
    kind: u64,
    device_pointer: u64,
    managed: bool,
    ordinal: c_int,
    start: u64,
    bytes: u64,
}

impl Cuda {
    /// Asks the driver about an address; the context must be current.
    fn known(&self, address: u64) -> Result<Known> {
        let mut which =
            [MEMORY_TYPE, DEVICE_POINTER, IS_MANAGED, DEVICE_ORDINAL, RANGE_START, RANGE_SIZE];
        // Answers of one, four and eight bytes: the rest of each word stays zero.
        let mut answers = [0u64; 6];
        let mut places = answers.each_mut().map(|answer| (answer as *mut u64).cast::<c_void>());
        // SAFETY: six attributes with a word for each; the driver takes any address.
        let code = unsafe {
            (self.driver.pointer_attributes)(
                which.len() as u32,
                which.as_mut_ptr(),
                places.as_mut_ptr(),
                address,
            )
        };
        match code {
            0 => {}
            // Not an address of any context.
            INVALID_VALUE | INVALID_CONTEXT => answers = [0; 6],
            code => return Err(self.driver.error(code, "asking what an address is")),
        }
        let [kind, device_pointer, managed, ordinal, start, bytes] = answers;
        let managed = managed & 0xff != 0;
        Ok(Known { kind, device_pointer, managed, ordinal: ordinal as c_int, start, bytes })
    }

    /// Whether an address is in memory that was mapped in pieces, so that the following addresses may belong to it.
    fn mapped_in_pieces(&self, address: u64) -> bool {
        let mut handle = 0;
        // SAFETY: a place for the answer; the driver takes any address.
        let code = unsafe { (self.driver.retain_allocation)(&mut handle, address as *mut c_void) };
        if code == 0 {
            let _ = cu!(self.driver, release_allocation(handle), "");
        }
        code == 0
    }

    /// The reason for which kernels cannot use `bytes` bytes from this address on; None if they can.
    pub(super) fn access_error(&self, at: Ptr, bytes: u64) -> Result<Option<String>> {
        let (begin, end) = (at.0, at.0.saturating_add(bytes));
        let mut next = begin;
        while next < end || next == begin {
            let known = self.known(next)?;
            let stop = known.start.saturating_add(known.bytes);
            if known.kind == 0 || stop <= next {
                return Ok(Some(match next - begin {
                    0 => "an address that the driver does not know: host memory?".into(),
                    found => format!("{found} bytes"),
                }));
            }
            if known.kind == HOST && !known.managed && known.device_pointer != next {
                return Ok(Some("host memory that is not mapped for the device".into()));
            }
            if known.kind == DEVICE && !known.managed && known.ordinal != self.device {
                return Ok(Some(format!("memory of CUDA device {}", known.ordinal)));
            }
            if stop < end && !self.mapped_in_pieces(next) {
                return Ok(Some(format!("{} bytes", stop - begin)));
            }
            next = stop;
        }
        Ok(None)
    }

    /// Whether an address is in device memory that the host's code cannot read.
    pub(super) fn is_device_address(&self, address: u64) -> Result<bool> {
        let known = self.known(address)?;
        Ok(known.kind == DEVICE && !known.managed)
    }

    /// Makes kernels launched later wait for all work that the host program has put on this stream so far.
    pub(super) fn after_stream(&self, stream: u64) -> Result<()> {
        let d = self.driver;
        let mut event: Handle = std::ptr::null_mut();
        cu!(d, event_create(&mut event, EVENT_NO_TIMING), "creating an event")?;
        // SAFETY: an event of ours and the stream that the host vouches for.
        let code = unsafe { (d.event_record)(event, stream as Handle) };
        let ordered = match code {
            0 => cu!(d, stream_wait(self.stream, event, 0), "ordering work after the host's"),
            code => Err(d.error(code, "recording on the host's stream")),
        };
        // The stream still waits after the event has been destroyed.
        let _ = cu!(d, event_destroy(event), "");
        if matches!(code, INVALID_VALUE | INVALID_CONTEXT | INVALID_HANDLE) {
            refuse!(
                InvalidArgument,
                "stream",
                expected("one of the primary context of {}", self.name),
                found("another")
            );
        }
        ordered
    }
}
