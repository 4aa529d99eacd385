//! Memory of the host.

use super::{Buffer, Device};
use crate::error::{host_array, Result};

/// Bytes that the host can give without swapping, as the kernel estimates; None: it does not say.
pub fn host_memory_left() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Bytes of a device's memory on the host. A device without memory has none of them there either.
#[derive(Default)]
pub struct HostArray(Vec<u8>);

impl HostArray {
    /// Makes room for so many bytes, where there is not just as much; `what` they are says an error.
    ///
    /// # Errors
    /// `OutOfMemory`: the host has none.
    pub fn fit(&mut self, device: &Device, bytes: usize, what: &str) -> Result<()> {
        let bytes = if device.is_empty() { 0 } else { bytes };
        if self.0.len() != bytes {
            self.0 = vec![];
            self.0 = host_array(bytes, 0, what)?;
        }
        Ok(())
    }
    /// Copies so many bytes that begin at `from` in the buffer to the place `to` here.
    pub fn take(&mut self, to: usize, buffer: &Buffer, from: usize, bytes: usize) -> Result<()> {
        buffer.download_at(from, self.0.get_mut(to..to + bytes).unwrap_or_default())
    }
    /// Copies all to the beginning of the buffer.
    pub fn give(&self, buffer: &mut Buffer) -> Result<()> {
        buffer.upload(&self.0)
    }
    #[cfg(test)]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
