//! Opens a shared library from a copy of its file in memory such that it does not change the state of the process: it
//! registers no destructors and sets no signal handlers.
//!
//! A library calls `__cxa_atexit`, `signal` and `sigaction` through entries of its global offset table, which the
//! loader fills from the relocations that its dynamic section lists (System V ABI, chapter 5). Constructors run before
//! `dlopen` returns, so the copy's dynamic section names none: its entries are overwritten first, and its constructors
//! are called then.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_NOW};

/// Tag of a dynamic section, as in `Elf64_Dyn` of elf.h.
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_INIT: u64 = 12;
const DT_FINI: u64 = 13;
const DT_JMPREL: u64 = 23;
const DT_INIT_ARRAY: u64 = 25;
const DT_FINI_ARRAY: u64 = 26;
const DT_INIT_ARRAYSZ: u64 = 27;
/// A tag of the dynamic section that loaders ignore: the first one reserved for operating systems.
const DT_LOOS: u64 = 0x6000_000d;
/// Type of the program header that describes the dynamic section.
const PT_DYNAMIC: u32 = 2;

/// `Elf64_Rela`: an entry that the loader fills in.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// The members of `struct link_map` in link.h that are used.
#[repr(C)]
struct LinkMap {
    base: u64,
    name: *const c_char,
    dynamic: *const [u64; 2],
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
    static environ: *const *const c_char;
}
const RTLD_DL_LINKMAP: c_int = 2;

extern "C" fn atexit(_: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

/// Replacement for the C function `signal`: changes nothing, and returns the default handler as the previous one.
extern "C" fn signal(_: c_int, _: *mut c_void) -> *mut c_void {
    libc::SIG_DFL as *mut c_void
}

extern "C" fn sigaction(
    number: c_int,
    _: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the arguments are those of a call of libc's function, whose rules the caller follows.
    unsafe { libc::sigaction(number, std::ptr::null(), before) }
}

/// A constructor of a library, which may read the program's arguments.
type Constructor = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);

/// Opens a copy of the library `file` that shares no data with other copies of it. `symbol` is any function in it, by
/// which its address is found.
pub fn open(file: &Path, symbol: &CStr) -> Result<Library> {
    // SAFETY: the name is a string, the number a new file's.
    let mut memory = unsafe {
        let fd = libc::memfd_create(c"nvrtc".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        File::from_raw_fd(fd)
    };
    std::io::copy(&mut File::open(file)?, &mut memory)?;
    let constructors = Constructors::take(&memory)?;
    let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
    // SAFETY: no code of the library runs before its constructors, which are called once, with what they expect.
    unsafe {
        let library = Library::open(Some(path), RTLD_NOW).map_err(Error::other)?;
        let inside: *const c_void =
            *library.get(symbol.to_bytes_with_nul()).map_err(Error::other)?;
        let map = link_map(inside).ok_or_else(|| Error::other("it is not where it was loaded"))?;
        replace(map);
        constructors.run(map.base);
        // The loader remembers the library by this path, which contains the file's number: the file stays open, so that
        // no other file gets this number.
        std::mem::forget(memory);
        Ok(library)
    }
}

/// The constructors of a library, by their addresses relative to its load address.
#[derive(Default)]
struct Constructors {
    init: Option<u64>,
    /// Address and length of the array of constructors.
    array: (u64, u64),
}

impl Constructors {
    /// Reads the constructors from a library's file, and removes them and the destructors from its dynamic section.
    fn take(file: &File) -> Result<Constructors> {
        let bytes = |at: u64, count: u64| -> Result<Vec<u8>> {
            let mut read = vec![0; count as usize];
            file.read_exact_at(&mut read, at)?;
            Ok(read)
        };
        let word = |at: u64| -> Result<u64> {
            Ok(u64::from_ne_bytes(bytes(at, 8)?.try_into().expect("eight bytes")))
        };
        let half = |at: u64| -> Result<u64> {
            Ok(u16::from_ne_bytes(bytes(at, 2)?.try_into().expect("two bytes")).into())
        };
        // The first bytes of an ELF file: a magic number, and 2 for the class of 64-bit files.
        if bytes(0, 5)? != *b"\x7fELF\x02" {
            return Err(Error::other("it is no library of 64 bits"));
        }
        let (first, size, count) = (word(0x20)?, half(0x36)?, half(0x38)?);
        let mut found = Constructors::default();
        for header in (0..count).map(|k| first + k * size) {
            if bytes(header, 4)? != PT_DYNAMIC.to_ne_bytes() {
                continue;
            }
            let (start, length) = (word(header + 8)?, word(header + 32)?);
            for entry in (start..start + length).step_by(16) {
                let (tag, value) = (word(entry)?, word(entry + 8)?);
                match tag {
                    0 => break,
                    DT_INIT => found.init = Some(value),
                    DT_INIT_ARRAY => found.array.0 = value,
                    DT_INIT_ARRAYSZ => found.array.1 = value / 8,
                    DT_FINI | DT_FINI_ARRAY => {}
                    _ => continue,
                }
                file.write_all_at(&DT_LOOS.to_ne_bytes(), entry)?;
            }
        }
        Ok(found)
    }

    /// # Safety
    /// The library that they were read from is loaded at `base`, and they have not run.
    unsafe fn run(&self, base: u64) {
        // SAFETY: constructors are called with the loader's arguments; the array is relocated already.
        unsafe {
            let none = [std::ptr::null()];
            let init = self.init.filter(|&at| at != 0).map(|at| base + at);
            let array = (base + self.array.0) as *const u64;
            let rest = (0..self.array.1 as usize).map(|k| *array.add(k));
            for at in init.into_iter().chain(rest) {
                std::mem::transmute::<u64, Constructor>(at)(0, none.as_ptr(), environ);
            }
        }
    }
}

/// The loader's description of the library that contains an address.
fn link_map(inside: *const c_void) -> Option<&'static LinkMap> {
    // SAFETY: the loader fills both; the library stays loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut map: *mut c_void = std::ptr::null_mut();
        if dladdr1(inside, &mut info, &mut map, RTLD_DL_LINKMAP) == 0 {
            return None;
        }
        (map as *const LinkMap).as_ref()
    }
}

/// Redirects a library's table entries for three functions to the functions in this file.
///
/// # Safety
/// The library is loaded, and stays so; no other thread runs code of it.
unsafe fn replace(map: &LinkMap) {
    // SAFETY: addresses in a dynamic section are absolute with glibc. An entry is a pointer that may be written after
    // its page has been made writable.
    unsafe {
        let value = |tag: u64| {
            let mut at = map.dynamic;
            while (*at)[0] != 0 && (*at)[0] != tag {
                at = at.add(1);
            }
            if (*at)[0] == tag {
                (*at)[1]
            } else {
                0
            }
        };
        let symbols = value(DT_SYMTAB) as *const [u8; 24];
        let names = value(DT_STRTAB) as *const c_char;
        for (table, bytes) in [(DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)] {
            let first = value(table) as *const Relocation;
            for k in 0..value(bytes) as usize / size_of::<Relocation>() {
                let relocation = &*first.add(k);
                let index = relocation.info >> 32;
                if index == 0 {
                    continue;
                }
                let symbol = &*symbols.add(index as usize);
                let name = u32::from_ne_bytes(symbol[..4].try_into().expect("four bytes"));
                let own = match CStr::from_ptr(names.add(name as usize)).to_bytes() {
                    b"__cxa_atexit" => atexit as *const () as usize,
                    b"signal" => signal as *const () as usize,
                    b"sigaction" => sigaction as *const () as usize,
                    _ => continue,
                };
                let entry = (map.base + relocation.offset) as *mut usize;
                if make_writable(entry) {
                    entry.write_volatile(own);
                }
            }
        }
    }
}

/// # Safety
/// The page of `entry` is mapped.
unsafe fn make_writable(entry: *mut usize) -> bool {
    // SAFETY: the caller guarantees that the page is mapped.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let start = entry as usize / page * page;
        libc::mprotect(start as *mut c_void, page, libc::PROT_READ | libc::PROT_WRITE) == 0
    }
}
