//! Host memory: how much of it this process can still allocate, and arrays that hold copies of device memory.

pub(super) mod pages;

use std::fs::read_to_string;
use std::path::Path;
use std::ptr::NonNull;

use super::{Buffer, Device};
use crate::bail;
use crate::error::Result;

/// Bytes of the address space for what is not announced and not there when a device is opened: arrays of the host,
/// buffers of MPI, and what the heap keeps.
const UNANNOUNCED: u64 = 64 << 20;

/// Number of bytes that the host has free without swapping, as its kernel estimates, within the limits of this
/// process's address space (`ulimit -v`) and control groups. None: it is not known.
pub fn host_memory_left() -> Option<u64> {
    left(None)
}

/// Bytes of memory that are left for further fields of a CPU, where `fields` are the bytes of those that exist, and
/// `others` those of all else in the address space when the device was opened.
pub(super) fn left_for_fields(fields: u64, others: u64) -> Option<u64> {
    left(Some((fields, others)))
}

fn left(of_fields: Option<(u64, u64)>) -> Option<u64> {
    let read = |file: &str| read_to_string(file).ok();
    let machine = read("/proc/meminfo").and_then(|text| available(&text));
    let groups =
        read("/proc/self/cgroup").and_then(|text| group_left(Path::new("/sys/fs/cgroup"), &text));
    let space = limit_of_address_space().zip(address_space());
    let space = space.map(|(limit, mapped)| address_space_left(limit, mapped, of_fields));
    [machine, groups, space].into_iter().flatten().min()
}

/// Number of bytes that the kernel's table of memory lists as available; reclaimable cache counts as free.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn page_size() -> u64 {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

/// Limit of the process's address space in bytes; None: there is none.
fn limit_of_address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a struct of this type.
    let done = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Number of bytes of its address space that the process has mapped: code, stacks of threads, heap and fields.
pub(super) fn address_space() -> Option<u64> {
    let text = read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? * page_size())
}

/// Number of bytes that are left of an address space of `limit` bytes, of which `mapped` are mapped. A sixteenth is
/// subtracted for what nobody announces. For fields of a CPU, of which there are so many bytes, what is not there yet
/// is set aside, too: all else may grow to [`UNANNOUNCED`] bytes more than it had when the device was opened. Where it
/// had more then than now, it may grow by as much from now on.
fn address_space_left(limit: u64, mapped: u64, of_fields: Option<(u64, u64)>) -> u64 {
    let taken = of_fields.map_or(mapped, |(fields, at_opening)| {
        let others = mapped.saturating_sub(fields);
        fields + others.max(at_opening.min(others) + UNANNOUNCED)
    });
    let left = limit.saturating_sub(taken);
    left - left / 16
}

/// Number of bytes that are left by the limits of a process's control groups, given in `groups` like
/// `/proc/self/cgroup`: the smallest over each group and its parents. Their file systems are mounted below `root`,
/// for version 1 in a folder for memory. Cached files of the groups count as free.
fn group_left(root: &Path, groups: &str) -> Option<u64> {
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let memory = controllers.split(',').any(|name| name == "memory");
        let (mount, [max, used, files]) = match memory {
            true => (
                root.join("memory"),
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
            ),
            false if controllers.is_empty() => {
                (root.to_path_buf(), ["memory.max", "memory.current", "inactive_file"])
            }
            false => return None,
        };
        let left = |group: &Path| {
            let folder = mount.join(group);
            let number =
                |file: &str| read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
            // A limit that is not set reads "max", which is not a number.
            let (max, used) = (number(max)?, number(used)?);
            let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let cache = stat.lines().find_map(|line| line.strip_prefix(files)?.trim().parse().ok());
            Some(max.saturating_sub(used.saturating_sub(cache.unwrap_or(0))))
        };
        Path::new(path.trim_start_matches('/')).ancestors().filter_map(left).min()
    };
    groups.lines().filter_map(of).min()
}

/// A copy of a device's bytes in the host's memory; for a device without memory it is empty.
pub struct HostArray {
    first: *mut u8,
    bytes: usize,
}

// SAFETY: the memory belongs to this array alone.
unsafe impl Send for HostArray {}
// SAFETY: it is written through `&mut self` alone.
unsafe impl Sync for HostArray {}

impl Default for HostArray {
    fn default() -> Self {
        HostArray { first: NonNull::dangling().as_ptr(), bytes: 0 }
    }
}

impl Drop for HostArray {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the memory was allocated with this size, and is not used any more.
            unsafe { pages::free(self.first, self.bytes) }
        }
    }
}

impl HostArray {
    /// Resizes this memory to `bytes` bytes, or to none for a device without memory. If the size changes all bytes
    /// are zero; the pages of large arrays are made by the threads that copy to them. `what` describes the contents in
    /// errors.
    ///
    /// # Errors
    /// `OutOfMemory`: the host has none.
    pub fn fit(&mut self, device: &Device, bytes: usize, what: &str) -> Result<()> {
        let bytes = if device.is_empty() { 0 } else { bytes };
        if self.bytes != bytes {
            *self = HostArray::default();
        }
        if self.bytes != bytes {
            let first = pages::allocate(bytes);
            if first.is_null() {
                bail!(OutOfMemory, "{what}: the host has no {bytes} bytes");
            }
            *self = HostArray { first, bytes };
        }
        Ok(())
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the array's own memory, all of which is initialised.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.bytes) }
    }
    /// Copies `bytes` bytes from offset `from` in the buffer to offset `to` in this memory.
    pub fn take(&mut self, to: usize, buffer: &Buffer, from: usize, bytes: usize) -> Result<()> {
        buffer.download_at(from, self.bytes_mut().get_mut(to..to + bytes).unwrap_or_default())
    }
    /// Copies all bytes to the beginning of the buffer.
    pub fn give(&self, buffer: &mut Buffer) -> Result<()> {
        buffer.upload(self.bytes())
    }
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the array's own memory, all of which is initialised.
        unsafe { std::slice::from_raw_parts(self.first, self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_counts() {
        assert_eq!(available("MemFree: 7 kB\nMemAvailable:   12 kB\n"), Some(12 << 10));
        assert_eq!(available("MemFree: 7 kB\n"), None);
        assert!(address_space().is_none_or(|bytes| bytes > 1 << 20));
        assert_eq!(address_space_left(1 << 20, 1 << 16, None), (15 << 16) * 15 / 16);
        assert_eq!(address_space_left(1 << 10, 1 << 16, None), 0);
        // In units of half of what is not announced: what is not fields may grow to 2 more than at the opening.
        let unit = UNANNOUNCED / 2;
        let left = |mapped: u64, fields: u64, at_opening: u64| {
            let of_fields = Some((fields * unit, at_opening * unit));
            address_space_left(32 * unit, mapped * unit, of_fields) * 16 / 15 / unit
        };
        for mapped in [5, 6, 7] {
            assert_eq!(left(mapped, 1, 4), 25);
        }
        assert_eq!(left(8, 1, 4), 24);
        // A host that has freed most of its arrays since.
        assert_eq!(left(3, 1, 20), 27);
    }

    #[test]
    fn groups_of_both_versions_and_those_around_them_have_limits() {
        let root = std::env::temp_dir().join(format!("plaq-groups-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("job/step/memory.max", "max\n");
        write("job/step/memory.current", "700\n");
        write("job/memory.max", "1000\n");
        write("job/memory.current", "800\n");
        write("job/memory.stat", "anon 500\ninactive_file 150\n");
        assert_eq!(group_left(&root, "0::/job/step\n"), Some(350));
        assert_eq!(group_left(&root, "0::/elsewhere\n"), None);
        write("memory/old/memory.limit_in_bytes", "900\n");
        write("memory/old/memory.usage_in_bytes", "650\n");
        let both = "3:cpu,memory:/old\n1:name=systemd:/job\n0::/job\n";
        assert_eq!(group_left(&root, both), Some(250));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
