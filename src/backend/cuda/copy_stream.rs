//! Streams for copies between the device and page-locked memory, which run concurrently with kernels.

use super::driver::{cu, Driver, Handle, EVENT_NO_TIMING, NOT_READY, STREAM_NON_BLOCKING};
use crate::backend::Ptr;
use crate::error::Result;

pub struct CopyStream {
    driver: &'static Driver,
    /// The stream of the device's kernels.
    kernels: Handle,
    down: Handle,
    up: Handle,
    /// Events recorded after the kernels before a download, and after each of its pieces.
    downloaded: Vec<Handle>,
    /// Event recorded after the last upload.
    uploaded: Handle,
}
// SAFETY: streams and events belong to no thread; a mutex guards the whole.
unsafe impl Send for CopyStream {}

impl CopyStream {
    /// Makes streams for copies that run concurrently with kernels; the context must be current, here and in the
    /// functions below.
    pub fn new(driver: &'static Driver, kernels: Handle) -> Result<CopyStream> {
        let none = std::ptr::null_mut();
        // From here on, drop releases what has been made.
        let mut copies = CopyStream {
            driver,
            kernels,
            down: none,
            up: none,
            downloaded: Vec::new(),
            uploaded: none,
        };
        cu!(driver, stream_create(&mut copies.down, STREAM_NON_BLOCKING), "creating a stream")?;
        cu!(driver, stream_create(&mut copies.up, STREAM_NON_BLOCKING), "creating a stream")?;
        cu!(driver, event_create(&mut copies.uploaded, EVENT_NO_TIMING), "creating an event")?;
        Ok(copies)
    }

    pub fn start_download(&mut self, pieces: &[(u64, Ptr, usize)]) -> Result<()> {
        let d = self.driver;
        while self.downloaded.len() <= pieces.len() {
            let mut event = std::ptr::null_mut();
            cu!(d, event_create(&mut event, EVENT_NO_TIMING), "creating an event")?;
            self.downloaded.push(event);
        }
        let made = self.downloaded[0];
        cu!(d, event_record(made, self.kernels), "recording a kernel")?;
        // Uploads must wait, too, as they overwrite memory that kernels launched before may still read.
        for stream in [self.down, self.up] {
            cu!(d, stream_wait(stream, made, 0), "ordering copies")?;
        }
        for (&(to, from, bytes), event) in pieces.iter().zip(&self.downloaded[1..]) {
            let to = to as *mut std::ffi::c_void;
            cu!(d, copy_to_host(to, from.0, bytes, self.down), "downloading {bytes} bytes")?;
            cu!(d, event_record(*event, self.down), "recording a download")?;
        }
        Ok(())
    }

    pub fn downloaded(&self, pieces: usize) -> Result<bool> {
        // SAFETY: the handle is that of an event of this device.
        match unsafe { (self.driver.event_query)(self.downloaded[pieces]) } {
            0 => Ok(true),
            NOT_READY => Ok(false),
            code => Err(self.driver.error(code, "waiting for a download")),
        }
    }

    pub fn start_upload(&self, (to, from, bytes): (Ptr, u64, usize)) -> Result<()> {
        let (d, from) = (self.driver, from as *const std::ffi::c_void);
        cu!(d, copy_to_device(to.0, from, bytes, self.up), "uploading {bytes} bytes")
    }

    pub fn after_uploads(&self) -> Result<()> {
        let d = self.driver;
        cu!(d, event_record(self.uploaded, self.up), "recording an upload")?;
        cu!(d, stream_wait(self.kernels, self.uploaded, 0), "ordering a kernel")
    }
}

impl Drop for CopyStream {
    fn drop(&mut self) {
        let d = self.driver;
        for stream in [self.down, self.up].into_iter().filter(|s| !s.is_null()) {
            let _ = cu!(d, stream_synchronize(stream), "");
            let _ = cu!(d, stream_destroy(stream), "");
        }
        let events = self.downloaded.iter().chain([&self.uploaded]);
        for event in events.filter(|e| !e.is_null()) {
            let _ = cu!(d, event_destroy(*event), "");
        }
    }
}
