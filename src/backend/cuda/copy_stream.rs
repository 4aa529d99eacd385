//! Copies between the device and page-locked memory on a stream of their own, beside kernels.

use super::driver::{cu, Driver, Handle, EVENT_NO_TIMING, STREAM_NON_BLOCKING};
use crate::backend::Ptr;
use crate::error::Result;

pub struct CopyStream {
    driver: &'static Driver,
    /// The stream of the device's kernels.
    kernels: Handle,
    copies: Handle,
    /// Events that are recorded before a copy begins, after downloads, and after uploads.
    events: [Handle; 3],
}
// SAFETY: streams and events belong to no thread; a mutex guards the whole.
unsafe impl Send for CopyStream {}

impl CopyStream {
    /// A stream for copies beside the kernels; the context must be current, here and in the calls below.
    pub fn new(driver: &'static Driver, kernels: Handle) -> Result<CopyStream> {
        let none = std::ptr::null_mut();
        // From here on, drop releases what has been made.
        let mut copy_stream = CopyStream { driver, kernels, copies: none, events: [none; 3] };
        let copies = &mut copy_stream.copies;
        cu!(driver, stream_create(copies, STREAM_NON_BLOCKING), "creating a stream")?;
        for event in &mut copy_stream.events {
            cu!(driver, event_create(event, EVENT_NO_TIMING), "creating an event")?;
        }
        Ok(copy_stream)
    }

    pub fn start_download(&self, pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        let (d, [made, downloaded, _]) = (self.driver, self.events);
        cu!(d, event_record(made, self.kernels), "recording a kernel")?;
        cu!(d, stream_wait(self.copies, made, 0), "ordering a download")?;
        for &(to, from, bytes) in pieces {
            let to = to as *mut std::ffi::c_void;
            cu!(d, copy_to_host(to, from.0, bytes, self.copies), "downloading {bytes} bytes")?;
        }
        cu!(d, event_record(downloaded, self.copies), "recording a download")
    }

    /// The event that completes with the last download.
    pub fn downloaded(&self) -> Handle {
        self.events[1]
    }

    pub fn start_upload(&self, pieces: &[(Ptr, u64, usize)]) -> Result<()> {
        let (d, [.., uploaded]) = (self.driver, self.events);
        for &(to, from, bytes) in pieces {
            let from = from as *const std::ffi::c_void;
            cu!(d, copy_to_device(to.0, from, bytes, self.copies), "uploading {bytes} bytes")?;
        }
        cu!(d, event_record(uploaded, self.copies), "recording an upload")?;
        cu!(d, stream_wait(self.kernels, uploaded, 0), "ordering a kernel")
    }
}

impl Drop for CopyStream {
    fn drop(&mut self) {
        let d = self.driver;
        if !self.copies.is_null() {
            let _ = cu!(d, stream_synchronize(self.copies), "");
            let _ = cu!(d, stream_destroy(self.copies), "");
        }
        for event in self.events.into_iter().filter(|e| !e.is_null()) {
            let _ = cu!(d, event_destroy(event), "");
        }
    }
}
