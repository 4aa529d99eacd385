//! A shared library whose destructors are not registered from now on.
//!
//! A library calls `__cxa_atexit` through an entry of its global offset table, which the loader has filled from the
//! relocations that its dynamic section lists (System V ABI, chapter 5). That entry is overwritten.

use std::ffi::{c_char, c_int, c_void, CStr};

/// Words of a dynamic section: `Elf64_Dyn` of elf.h.
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;

/// `Elf64_Rela`: one entry that the loader fills.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// `struct link_map` of link.h, as far as it is used.
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
}
const RTLD_DL_LINKMAP: c_int = 2;

extern "C" fn nothing(_: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

/// Destructors that the library around the address `inside` registers from now on never run. False: the library has
/// no such entry.
pub fn never_register(inside: *const c_void) -> bool {
    let mut found = false;
    // SAFETY: the loader's own description of a library that stays loaded; addresses in its dynamic section are
    // absolute with glibc. The entry is a pointer that may be written after its page has been made writable.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut map: *mut c_void = std::ptr::null_mut();
        if dladdr1(inside, &mut info, &mut map, RTLD_DL_LINKMAP) == 0 || map.is_null() {
            return false;
        }
        let map = &*(map as *const LinkMap);
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
                let symbol = &*symbols.add((relocation.info >> 32) as usize);
                let name = u32::from_ne_bytes(symbol[..4].try_into().expect("four bytes"));
                if CStr::from_ptr(names.add(name as usize)) == c"__cxa_atexit" {
                    let entry = (map.base + relocation.offset) as *mut usize;
                    found |= make_writable(entry);
                    if found {
                        entry.write_volatile(nothing as *const () as usize);
                    }
                }
            }
        }
    }
    found
}

/// # Safety
/// The page of `entry` is mapped.
unsafe fn make_writable(entry: *mut usize) -> bool {
    // SAFETY: as above.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let start = entry as usize / page * page;
        libc::mprotect(start as *mut c_void, page, libc::PROT_READ | libc::PROT_WRITE) == 0
    }
}
