//! Zeroed memory of the host. Large allocations are memory mappings aligned to large pages, whose pages are made by the
//! first threads that write to them; they take exactly the pages that they fill from the process's address space, so
//! that the memory announced for a computation is what a limit of the address space (`ulimit -v`) must allow.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ptr::null_mut;

/// Bytes of a large page. With small pages the neighbours of a site lie on more pages than the processor's TLB holds.
pub(in crate::backend) const HUGE_PAGE: usize = 2 << 20;
/// Bytes of the smallest page of any processor.
pub(in crate::backend) const PAGE: usize = 4096;
/// Sizes of mappings are multiples of this number of bytes, which is a multiple of every processor's small page.
const MAPPING_UNIT: usize = 1 << 16;
/// Alignment in bytes of allocations from the heap.
const ALIGN: usize = 256;

/// Whether an allocation of this size is a memory mapping, not from the heap.
fn is_mapped(bytes: usize) -> bool {
    bytes >= 2 * HUGE_PAGE
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), ALIGN).expect("sizes are below isize::MAX")
}

/// Allocates `bytes` bytes of zeroed memory; returns null if the host has not enough.
pub(in crate::backend) fn allocate(bytes: usize) -> *mut u8 {
    if !is_mapped(bytes) {
        // SAFETY: the layout has a non-zero size.
        return unsafe { alloc_zeroed(layout(bytes)) };
    }
    let all = bytes.next_multiple_of(MAPPING_UNIT) + HUGE_PAGE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, which no one else uses.
    let base = unsafe {
        libc::mmap(null_mut(), all, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    if base == libc::MAP_FAILED {
        return null_mut();
    }
    let before = (base as usize).next_multiple_of(HUGE_PAGE) - base as usize;
    let after = HUGE_PAGE - before;
    // SAFETY: both ends lie inside of the mapping just made, and consist of whole pages.
    unsafe {
        let first = base.byte_add(before);
        if before > 0 {
            libc::munmap(base, before);
        }
        libc::munmap(base.byte_add(all - after), after);
        // If the system refuses large pages, kernels are only slower.
        #[cfg(target_os = "linux")]
        libc::madvise(first, all - HUGE_PAGE, libc::MADV_HUGEPAGE);
        first.cast()
    }
}

/// Returns memory to the host.
///
/// # Safety
/// `first` came from [`allocate`] with the same size.
pub(in crate::backend) unsafe fn free(first: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees what this function requires.
    unsafe {
        match is_mapped(bytes) {
            true => _ = libc::munmap(first.cast(), bytes.next_multiple_of(MAPPING_UNIT)),
            false => dealloc(first, layout(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the process's address space.
    #[cfg(target_os = "linux")]
    fn mapped() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split_whitespace().next().unwrap().parse::<usize>().unwrap() * PAGE
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn large_pieces_take_what_they_fill() {
        const PIECES: usize = 60;
        let bytes = 2 * HUGE_PAGE + 5 * PAGE + 7;
        // Other tests allocate memory at the same time, therefore the smallest result of several tries is taken.
        let extra = (0..20).map(|_| {
            let before = mapped();
            let pieces: Vec<*mut u8> = (0..PIECES).map(|_| allocate(bytes)).collect();
            let taken = mapped().saturating_sub(before);
            for &piece in &pieces {
                assert!(!piece.is_null() && (piece as usize).is_multiple_of(HUGE_PAGE));
                // SAFETY: the piece has this size and is returned once.
                unsafe {
                    assert_eq!((*piece, *piece.add(bytes - 1)), (0, 0));
                    piece.write_bytes(1, bytes);
                    free(piece, bytes);
                }
            }
            taken as i64 - (PIECES * bytes.next_multiple_of(MAPPING_UNIT)) as i64
        });
        let least = extra.map(i64::abs).min().unwrap();
        assert!(least < HUGE_PAGE as i64, "{least} bytes more or less than {PIECES} pieces have");
        assert!(allocate(1 << 62).is_null());
    }
}
