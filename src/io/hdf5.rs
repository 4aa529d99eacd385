//! HDF5 files, written by libhdf5, which is opened at run time.
//!
//! A dataset holds real or complex numbers, these as compounds (r, i) of doubles as h5py makes them, in chunks with
//! Fletcher checksums, which libhdf5 compares when it reads; attributes say what it is. A new file appears complete or not at all; disk space for what is added to a file is reserved before,
//! so that it stays whole where there is none.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_NOW};
use num_complex::Complex64;

use super::hdf5_data::{same, short};
pub use super::hdf5_data::{Attribute, Attributes, Dataset, Numbers};
use super::stream::{said, Output};
use crate::bail;
use crate::error::{host_array, Error, Result, Status};
use crate::{library, refuse, refused};

/// Identifier of an object of libhdf5 from version 1.10 on.
type Id = i64;

// Constants of H5public.h and the headers that belong to it.
const DEFAULT: Id = 0;
const READ: c_uint = 0;
const READ_AND_WRITE: c_uint = 1;
const TRUNCATE: c_uint = 2;
const SCALAR: c_int = 0;
const THIS_FILE: c_int = 0;
const COMPOUND: c_int = 6;
const UTF8: c_int = 1;
const VARIABLE: usize = usize::MAX;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($arg:ty),*) -> $back:ty;)*) => {
        /// The functions and types of numbers of libhdf5 that are used.
        #[allow(clippy::type_complexity)]
        struct Api {
            $($name: unsafe extern "C" fn($($arg),*) -> $back,)*
            double: Id,
            integer: Id,
            text: Id,
            links: Id,
            datasets: Id,
            _library: Library,
        }
        impl Api {
            fn load(path: &Path) -> std::result::Result<Api, libloading::Error> {
                // SAFETY: the signatures are those of hdf5.h; the identifiers are set once H5open has run.
                unsafe {
                    let library = Library::open(Some(path), RTLD_NOW)?;
                    $(let $name = *library.get::<unsafe extern "C" fn($($arg),*) -> $back>($symbol)?;)*
                    library.get::<unsafe extern "C" fn() -> c_int>(b"H5open")?();
                    let id = |name: &[u8]| library.get::<*const Id>(name).map(|id| **id);
                    Ok(Api {
                        double: id(b"H5T_IEEE_F64LE_g")?,
                        integer: id(b"H5T_STD_I64LE_g")?,
                        text: id(b"H5T_C_S1_g")?,
                        links: id(b"H5P_CLS_LINK_CREATE_ID_g")?,
                        datasets: id(b"H5P_CLS_DATASET_CREATE_ID_g")?,
                        $($name,)*
                        _library: library,
                    })
                }
            }
        }
    };
}
functions! {
    version = b"H5get_libversion" (*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
    quiet = b"H5Eset_auto2" (Id, *const c_void, *mut c_void) -> c_int;
    file = b"H5Fcreate" (*const c_char, c_uint, Id, Id) -> Id;
    open = b"H5Fopen" (*const c_char, c_uint, Id) -> Id;
    exists = b"H5Lexists" (Id, *const c_char, Id) -> c_int;
    close_file = b"H5Fclose" (Id) -> c_int;
    list = b"H5Pcreate" (Id) -> Id;
    with_groups = b"H5Pset_create_intermediate_group" (Id, c_uint) -> c_int;
    in_chunks = b"H5Pset_chunk" (Id, c_int, *const u64) -> c_int;
    with_checksums = b"H5Pset_fletcher32" (Id) -> c_int;
    close_list = b"H5Pclose" (Id) -> c_int;
    space = b"H5Screate" (c_int) -> Id;
    simple = b"H5Screate_simple" (c_int, *const u64, *const u64) -> Id;
    close_space = b"H5Sclose" (Id) -> c_int;
    new_type = b"H5Tcreate" (c_int, usize) -> Id;
    member = b"H5Tinsert" (Id, *const c_char, usize, Id) -> c_int;
    copy_type = b"H5Tcopy" (Id) -> Id;
    size = b"H5Tset_size" (Id, usize) -> c_int;
    characters = b"H5Tset_cset" (Id, c_int) -> c_int;
    close_type = b"H5Tclose" (Id) -> c_int;
    dataset = b"H5Dcreate_anon" (Id, Id, Id, Id, Id) -> Id;
    name = b"H5Olink" (Id, Id, *const c_char, Id, Id) -> c_int;
    flush = b"H5Fflush" (Id, c_int) -> c_int;
    open_dataset = b"H5Dopen2" (Id, *const c_char, Id) -> Id;
    write = b"H5Dwrite" (Id, Id, Id, Id, Id, *const c_void) -> c_int;
    dataset_space = b"H5Dget_space" (Id) -> Id;
    dataset_type = b"H5Dget_type" (Id) -> Id;
    class = b"H5Tget_class" (Id) -> c_int;
    read = b"H5Dread" (Id, Id, Id, Id, Id, *mut c_void) -> c_int;
    close_dataset = b"H5Dclose" (Id) -> c_int;
    attribute = b"H5Acreate2" (Id, *const c_char, Id, Id, Id, Id) -> Id;
    write_attribute = b"H5Awrite" (Id, Id, *const c_void) -> c_int;
    open_attribute = b"H5Aopen" (Id, *const c_char, Id) -> Id;
    read_attribute = b"H5Aread" (Id, Id, *mut c_void) -> c_int;
    attribute_space = b"H5Aget_space" (Id) -> Id;
    values = b"H5Sget_simple_extent_npoints" (Id) -> i64;
    close_attribute = b"H5Aclose" (Id) -> c_int;
    free_text = b"H5free_memory" (*mut c_void) -> c_int;
}

impl Api {
    /// The library, opened once per process: `PLAQ_HDF5` (a full path), else one that the loader finds.
    fn get() -> Result<&'static Api> {
        static API: OnceLock<Result<Api>> = OnceLock::new();
        API.get_or_init(Api::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Api> {
        let names = || {
            let versions = ["310", "200", "103", "100"];
            let of = |stem: &str| versions.map(|v| PathBuf::from(format!("lib{stem}.so.{v}")));
            [of("hdf5_serial"), of("hdf5")].concat()
        };
        let Some(api) = library::open("PLAQ_HDF5", Status::Unsupported, names, Self::load)? else {
            bail!(
                Unsupported,
                sentence("HDF5: cannot open libhdf5.so of version 1.10 or later"),
                hint("install libhdf5 and set PLAQ_HDF5 to its full path")
            )
        };
        let mut found = [0; 3];
        let [major, minor, patch] = &mut found;
        // SAFETY: three numbers to be written.
        unsafe { (api.version)(major, minor, patch) };
        if found < [1, 10, 0] {
            bail!(Unsupported, "HDF5: expected version 1.10 or later, found {found:?}");
        }
        // SAFETY: no handler; errors come back as numbers.
        unsafe { (api.quiet)(DEFAULT, std::ptr::null(), std::ptr::null_mut()) };
        Ok(api)
    }

    fn own(
        &'static self,
        id: Id,
        close: unsafe extern "C" fn(Id) -> c_int,
        what: &str,
    ) -> Result<Owned> {
        if id < 0 {
            bail!(FileWrite, "HDF5: {what}");
        }
        Ok(Owned { id, close })
    }

    /// The dataspace of an array, or of one value.
    fn space_of(&'static self, extents: &[usize]) -> Result<Owned> {
        let extents: Vec<u64> = extents.iter().map(|&n| n as u64).collect();
        // SAFETY: `extents` has the number of elements that is passed beside its address.
        let id = unsafe {
            match extents.len() {
                0 => (self.space)(SCALAR),
                n => (self.simple)(n as c_int, extents.as_ptr(), std::ptr::null()),
            }
        };
        self.own(id, self.close_space, "making a space")
    }

    /// The type of texts that end with NUL.
    fn texts(&'static self) -> Result<Owned> {
        // SAFETY: a copy of a live type.
        unsafe {
            let copy = self.own((self.copy_type)(self.text), self.close_type, "making a type")?;
            (self.size)(copy.id, VARIABLE);
            (self.characters)(copy.id, UTF8);
            Ok(copy)
        }
    }

    /// The type of complex numbers.
    fn complex(&'static self) -> Result<Owned> {
        // SAFETY: members lie within the 16 bytes.
        unsafe {
            let made = self.own((self.new_type)(COMPOUND, 16), self.close_type, "making a type")?;
            (self.member)(made.id, c"r".as_ptr(), 0, self.double);
            (self.member)(made.id, c"i".as_ptr(), 8, self.double);
            Ok(made)
        }
    }

    fn put_attribute(&'static self, at: &Owned, name: &str, value: &Attribute) -> Result<()> {
        let mut texts = vec![];
        let single = |text: &String| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let extents = match value {
            Attribute::Text(text) => {
                texts.push(single(text));
                vec![]
            }
            Attribute::Texts(all) => {
                texts.extend(all.iter().map(single));
                vec![all.len()]
            }
            Attribute::Number(_) | Attribute::Integer(_) => vec![],
            Attribute::Numbers(all) => vec![all.len()],
            Attribute::Integers(all) => vec![all.len()],
            Attribute::Triples(all) => vec![all.len(), 3],
        };
        let places: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let of_text;
        let (kind, data): (Id, *const c_void) = match value {
            Attribute::Text(_) | Attribute::Texts(_) => {
                of_text = self.texts()?;
                (of_text.id, places.as_ptr().cast())
            }
            Attribute::Number(number) => (self.double, (number as *const f64).cast()),
            Attribute::Numbers(all) => (self.double, all.as_ptr().cast()),
            Attribute::Integer(number) => (self.integer, (number as *const i64).cast()),
            Attribute::Integers(all) => (self.integer, all.as_ptr().cast()),
            Attribute::Triples(all) => (self.integer, all.as_ptr().cast()),
        };
        let space = self.space_of(&extents)?;
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: data of the type and number said, which live until the call returns.
        unsafe {
            let id = (self.attribute)(at.id, name.as_ptr(), kind, space.id, DEFAULT, DEFAULT);
            let made = self.own(id, self.close_attribute, "making an attribute")?;
            done((self.write_attribute)(made.id, kind, data), "writing an attribute")
        }
    }

    /// Writes a dataset that has no name yet.
    fn put(&'static self, file: &Owned, data: &Dataset) -> Result<Owned> {
        let of_complex;
        let numbers: *const c_void = data.numbers.bytes().as_ptr().cast();
        let (kind, count): (Id, usize) = match &data.numbers {
            Numbers::Real(all) => (self.double, all.len()),
            Numbers::Integer(all) => (self.integer, all.len()),
            Numbers::Complex(all) => {
                of_complex = self.complex()?;
                (of_complex.id, all.len())
            }
        };
        let name = &data.name;
        if count != data.extents.iter().product::<usize>() {
            bail!(Internal, "HDF5: {name}: {count} numbers for extents {:?}", data.extents);
        }
        let space = self.space_of(&data.extents)?;
        let layout = self.layout(data)?;
        let layout = layout.as_ref().map_or(DEFAULT, |layout| layout.id);
        // SAFETY: as many numbers as the extents say, which live until the call returns.
        unsafe {
            let id = (self.dataset)(file.id, kind, space.id, layout, DEFAULT);
            let made = self.own(id, self.close_dataset, &format!("making {name}"))?;
            done(
                (self.write)(made.id, kind, DEFAULT, DEFAULT, DEFAULT, numbers),
                &format!("writing {name}"),
            )?;
            for (name, value) in &data.attributes {
                self.put_attribute(&made, name, value)?;
            }
            Ok(made)
        }
    }

    /// Chunks of a dataset and their checksums; `None`: a single value or no number, which have no chunks.
    fn layout(&'static self, data: &Dataset) -> Result<Option<Owned>> {
        if data.extents.is_empty() || data.extents.contains(&0) {
            return Ok(None);
        }
        let chunk = data.chunk().iter().map(|&n| n as u64).collect::<Vec<_>>();
        // SAFETY: `chunk` has the number of elements that is passed beside its address.
        unsafe {
            let list = self.own((self.list)(self.datasets), self.close_list, "making a list")?;
            let n = chunk.len() as c_int;
            done((self.in_chunks)(list.id, n, chunk.as_ptr()), "setting chunks")?;
            done((self.with_checksums)(list.id), "setting checksums")?;
            Ok(Some(list))
        }
    }

    /// Opens a file that exists. Waits for other processes that have it open, for a while.
    fn open_file(&'static self, path: &Path, how: c_uint) -> Result<Owned> {
        let (name, begin) = (c_name(path), Instant::now());
        loop {
            // SAFETY: a name that ends with NUL.
            let id = unsafe { (self.open)(name.as_ptr(), how, DEFAULT) };
            if id >= 0 {
                return self.own(id, self.close_file, "opening a file");
            }
            if !locked(path, how) {
                return Err(not_whole(path));
            }
            if begin.elapsed() >= PATIENCE {
                refuse!(
                    FileOpen,
                    "HDF5",
                    expected("a file that no other process has open"),
                    found("one that was open for {} s", PATIENCE.as_secs())
                );
            }
            std::thread::sleep(PATIENCE / 100);
        }
    }

    /// Whether the file contains an object with the name "a/b/name".
    fn has(&'static self, file: &Owned, name: &str) -> bool {
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        ends.map(|end| CString::new(&name[..end]).unwrap_or_default()).all(|part| {
            // SAFETY: a live file and a name that ends with NUL, whose groups are there.
            unsafe { (self.exists)(file.id, part.as_ptr(), DEFAULT) > 0 }
        })
    }

    /// The attribute of this name of a dataset, if it has the same kind and count of values as `like`, which is no list
    /// of texts or triples; `None`: there is no such attribute.
    fn attribute_like(
        &'static self,
        data: &Owned,
        name: &str,
        like: &Attribute,
    ) -> Result<Option<Attribute>> {
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: values are read in the type of where they go; the library's text is copied and given back.
        unsafe {
            let id = (self.open_attribute)(data.id, c_name.as_ptr(), DEFAULT);
            let Ok(found) = self.own(id, self.close_attribute, "an attribute") else {
                return Ok(None);
            };
            let space = self.own((self.attribute_space)(found.id), self.close_space, "a space")?;
            let values = match like {
                Attribute::Numbers(all) => all.len(),
                Attribute::Integers(all) => all.len(),
                _ => 1,
            };
            if (self.values)(space.id) != values as i64 {
                return Ok(None);
            }
            let read = |kind: Id, to: *mut c_void| (self.read_attribute)(found.id, kind, to) >= 0;
            Ok(match like {
                Attribute::Numbers(_) => {
                    let mut all = vec![0.0f64; values];
                    let there = read(self.double, all.as_mut_ptr().cast());
                    there.then_some(Attribute::Numbers(all))
                }
                Attribute::Integers(_) => {
                    let mut all = vec![0i64; values];
                    let there = read(self.integer, all.as_mut_ptr().cast());
                    there.then_some(Attribute::Integers(all))
                }
                Attribute::Number(_) => {
                    let mut x = 0.0f64;
                    read(self.double, (&raw mut x).cast()).then_some(Attribute::Number(x))
                }
                Attribute::Integer(_) => {
                    let mut x = 0i64;
                    read(self.integer, (&raw mut x).cast()).then_some(Attribute::Integer(x))
                }
                Attribute::Text(_) => {
                    let mut text: *mut c_char = std::ptr::null_mut();
                    let kind = self.texts()?;
                    let there = read(kind.id, (&raw mut text).cast()) && !text.is_null();
                    there.then(|| {
                        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
                        (self.free_text)(text.cast());
                        Attribute::Text(copy)
                    })
                }
                Attribute::Texts(_) | Attribute::Triples(_) => None,
            })
        }
    }

    /// A dataset of a file; `None`: the file has none of this name.
    fn dataset_of(&'static self, file: &Owned, name: &str) -> Result<Option<Owned>> {
        if !self.has(file, name) {
            return Ok(None);
        }
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: a live file and a name that ends with NUL.
        let id = unsafe { (self.open_dataset)(file.id, c_name.as_ptr(), DEFAULT) };
        self.own(id, self.close_dataset, &format!("opening {name}")).map(Some)
    }

    /// Makes a file with these attributes.
    fn create(&'static self, path: &Path, attributes: &Attributes) -> Result<()> {
        let name = c_name(path);
        // SAFETY: a name that ends with NUL.
        let id = unsafe { (self.file)(name.as_ptr(), TRUNCATE, DEFAULT, DEFAULT) };
        let file = self.own(id, self.close_file, "making the file")?;
        attributes.iter().try_for_each(|(name, value)| self.put_attribute(&file, name, value))?;
        self.close(file)
    }

    /// Adds datasets to a file, for which there is space on the disk.
    fn add(&'static self, path: &Path, all: &[Dataset]) -> Result<()> {
        // Opened for writing, so that nothing is reserved in a file that another process has open.
        let there = self.open_file(path, READ_AND_WRITE)?;
        if let Some(data) = all.iter().find(|data| self.has(&there, &data.name)) {
            bail!(FileWrite, "{}: there already", data.name);
        }
        self.close(there)?;
        if all.is_empty() {
            return Ok(());
        }
        reserve(path, all)?;
        let file = self.open_file(path, READ_AND_WRITE)?;
        // SAFETY: the list exists.
        let groups = unsafe {
            let groups = self.own((self.list)(self.links), self.close_list, "making a list")?;
            (self.with_groups)(groups.id, 1);
            groups
        };
        // Datasets get their names when they are on the disk: a process that is killed leaves no name of anything that is
        // not.
        let made: Vec<Owned> =
            all.iter().map(|data| self.put(&file, data)).collect::<Result<_>>()?;
        // SAFETY: live objects and names that end with NUL.
        unsafe {
            done((self.flush)(file.id, THIS_FILE), "writing to the disk")?;
            for (data, made) in all.iter().zip(&made) {
                let name = CString::new(data.name.as_str()).unwrap_or_default();
                let linked = (self.name)(made.id, file.id, name.as_ptr(), groups.id, DEFAULT);
                done(linked, &format!("naming {}", data.name))?;
            }
        }
        drop(made);
        self.close(file)
    }

    /// Closes a file, which reports errors of writing to the disk.
    fn close(&'static self, file: Owned) -> Result<()> {
        let id = file.id;
        std::mem::forget(file);
        // SAFETY: a live file, closed once.
        done(unsafe { (self.close_file)(id) }, "closing the file")
    }
}

/// Time for which a file may be open in other processes before it is refused.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether another process has locked the file, as HDF5 does: for itself to write, with others to read.
fn locked(path: &Path, how: c_uint) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let kind = if how == READ { libc::LOCK_SH } else { libc::LOCK_EX };
    // SAFETY: the file is open; closing it ends the lock.
    let code = unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) };
    code != 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}

/// The error about a file that HDF5 does not open.
fn not_whole(path: &Path) -> Error {
    match File::open(path) {
        Err(e) => Error::new(Status::FileOpen, said(&e)),
        Ok(_) if is_hdf5(path) => refused!(
            FileTruncated,
            "HDF5",
            expected("a whole file"),
            found("one that was cut off or damaged")
        ),
        Ok(_) => refused!(FileFormat, "HDF5", expected("a file of it"), found("another one")),
    }
}

/// The first bytes of a file of HDF5.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Whether this file exists and begins as HDF5 files do.
pub fn is_hdf5(path: &Path) -> bool {
    use std::io::Read as _;
    let mut begin = [0; SIGNATURE.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && &begin == SIGNATURE
}

/// Upper bound of the bytes that a dataset's entries in groups and its attributes take: an attribute has at most 64
/// KiB, and four can have half of that.
const BESIDE: usize = 1 << 18;

/// Reserves space on the disk for datasets at the end of a file, which is as it was if there is none. HDF5 cuts off
/// what remains of it. Without it a full disk would end HDF5 between numbers and tables, after which no part of the
/// file can be read.
fn reserve(path: &Path, all: &[Dataset]) -> Result<()> {
    let failure = |e: io::Error| Error::new(Status::FileWrite, said(&e));
    let file = OpenOptions::new().write(true).open(path).map_err(failure)?;
    let length = file.metadata().map_err(failure)?.len();
    let need: usize = all.iter().map(|data| data.bytes() + BESIDE).sum();
    // SAFETY: the file is open.
    let code = unsafe { libc::posix_fallocate(file.as_raw_fd(), length as i64, need as i64) };
    if code != 0 {
        file.set_len(length).map_err(failure)?;
        let e = failure(io::Error::from_raw_os_error(code));
        return Err(e.at(format!("space for {need} bytes more")));
    }
    Ok(())
}

fn c_name(path: &Path) -> CString {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

fn done(code: c_int, what: &str) -> Result<()> {
    match code < 0 {
        true => bail!(FileWrite, "HDF5: {what}"),
        false => Ok(()),
    }
}

/// An object of libhdf5, which is closed when dropped.
struct Owned {
    id: Id,
    close: unsafe extern "C" fn(Id) -> c_int,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: a live object, closed once.
        unsafe { (self.close)(self.id) };
    }
}

/// An error unless libhdf5 is available, so that files can be written.
///
/// # Errors
/// `Unsupported`: there is none.
pub fn check() -> Result<()> {
    Api::get().map(|_| ())
}

/// Calls `work` with the library, one thread at a time, since libhdf5 may have been built without support for
/// threads.
fn alone<T>(work: impl FnOnce(&'static Api) -> Result<T>) -> Result<T> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    work(Api::get()?)
}

/// A file that is written in parts and appears under its name when it is complete.
pub struct Writer {
    output: Output,
}

impl Writer {
    /// Creates a file with these attributes; it will replace an existing one of this name.
    ///
    /// # Errors
    /// `Unsupported`: no libhdf5; `FileWrite`.
    pub fn create(path: &Path, attributes: &Attributes) -> Result<Self> {
        alone(|api| {
            let output = Output::create(path)?;
            api.create(output.path(), attributes).map_err(|e| e.at(path.display()))?;
            Ok(Writer { output })
        })
    }

    /// Adds datasets.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn add(&self, all: &[Dataset]) -> Result<()> {
        let named = |e: Error| e.at(self.output.target().display());
        alone(|api| api.add(self.output.path(), all).map_err(named))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn finish(self) -> Result<()> {
        self.output.commit()
    }
}

/// Writes datasets and attributes to a file, replacing an existing one.
///
/// # Errors
/// `Unsupported`: no libhdf5; `FileWrite`.
pub fn write(path: &Path, all: &[Dataset], attributes: &Attributes) -> Result<()> {
    let writer = Writer::create(path, attributes)?;
    writer.add(all)?;
    writer.finish()
}

/// Adds datasets to an existing file.
///
/// # Errors
/// `Unsupported`: no libhdf5; `FileFormat`: not an HDF5 file; `FileWrite`: also if the file already has a dataset of
/// one of these names, or the disk has no space; then the file is as it was.
pub fn add(path: &Path, all: &[Dataset]) -> Result<()> {
    alone(|api| api.add(path, all).map_err(|e| e.at(path.display())))
}

/// Opens a file for reading and calls `work` with it; errors name the file.
fn reading<T>(path: &Path, work: impl FnOnce(&'static Api, &Owned) -> Result<T>) -> Result<T> {
    let found = alone(|api| work(api, &api.open_file(path, READ)?));
    found
        .map_err(|e| match e.status {
            // Calls of HDF5 that failed, which in a whole file none does.
            Status::FileWrite => e.with_status(Status::FileChecksum).at("the file is damaged"),
            _ => e,
        })
        .map_err(|e| e.at(path.display()))
}

/// Whether a file has the dataset; if it does, its attributes must be equal to these (lists of texts and of
/// triples are not compared). `near`: by how much the numbers of the attribute with this name may differ.
///
/// # Errors
/// `Unsupported`: no libhdf5; `FileOpen`, `FileFormat`, `FileTruncated`: not a whole HDF5 file; `FieldMismatch`: an
/// attribute has another value.
pub fn has(
    path: &Path,
    name: &str,
    attributes: &Attributes,
    near: &dyn Fn(&str) -> f64,
) -> Result<bool> {
    reading(path, |api, file| {
        let Some(data) = api.dataset_of(file, name)? else { return Ok(false) };
        let compared =
            |value: &Attribute| !matches!(value, Attribute::Texts(_) | Attribute::Triples(_));
        for (key, value) in attributes.iter().filter(|(_, value)| compared(value)) {
            let found = api.attribute_like(&data, key, value)?;
            if !found.as_ref().is_some_and(|found| same(found, value, near(key))) {
                bail!(
                    FieldMismatch,
                    "{name}: {key}: expected {}, found {}",
                    short(value),
                    found.map_or("none or others".into(), |found| short(&found))
                );
            }
        }
        Ok(true)
    })
}

/// Refuses a name of a group "a/b" in a file where a part of it, "a" or "a/b", is a dataset.
///
/// # Errors
/// Errors of [`has`]; `FileFormat`.
pub fn check_group(path: &Path, group: &str) -> Result<()> {
    reading(path, |api, file| {
        let ends = group.match_indices('/').map(|(at, _)| at).chain([group.len()]);
        for part in ends.map(|end| &group[..end]).take_while(|part| api.has(file, part)) {
            if api.dataset_of(file, part).is_ok() {
                bail!(FileFormat, "{part}: expected a group, found a dataset");
            }
        }
        Ok(())
    })
}

/// A number that is an attribute of a dataset; None if either does not exist.
///
/// # Errors
/// Errors of [`has`].
pub fn number(path: &Path, name: &str, attribute: &str) -> Result<Option<f64>> {
    let found = attribute_of(path, name, attribute, &Attribute::Number(0.0))?;
    Ok(match found {
        Some(Attribute::Number(x)) => Some(x),
        _ => None,
    })
}

/// `count` numbers that are an attribute of a dataset; None if either does not exist or there is another number of
/// them.
///
/// # Errors
/// Errors of [`has`].
pub fn numbers(path: &Path, name: &str, attribute: &str, count: usize) -> Result<Option<Vec<f64>>> {
    let found = attribute_of(path, name, attribute, &Attribute::Numbers(vec![0.0; count]))?;
    Ok(match found {
        Some(Attribute::Numbers(all)) => Some(all),
        _ => None,
    })
}

fn attribute_of(
    path: &Path,
    name: &str,
    attribute: &str,
    like: &Attribute,
) -> Result<Option<Attribute>> {
    reading(path, |api, file| match api.dataset_of(file, name)? {
        Some(data) => api.attribute_like(&data, attribute, like),
        None => Ok(None),
    })
}

/// Reads all numbers of a dataset, which are complex if `complex` is true, else real; None: the file has no such
/// dataset.
///
/// # Errors
/// Errors of [`has`]; `FileFormat`: the numbers are not of the kind that `complex` says; `OutOfMemory`.
pub fn read(path: &Path, name: &str, complex: bool) -> Result<Option<Numbers>> {
    reading(path, |api, file| {
        let Some(data) = api.dataset_of(file, name)? else { return Ok(None) };
        let of_complex = api.complex()?;
        // SAFETY: live objects; as many numbers as there are go to an array of that size, in its type.
        unsafe {
            let space = api.own((api.dataset_space)(data.id), api.close_space, "a space")?;
            let count = (api.values)(space.id).max(0) as usize;
            let mut numbers = host_array(count * (1 + usize::from(complex)), 0.0f64, name)?;
            let kind = if complex { of_complex.id } else { api.double };
            let to = numbers.as_mut_ptr().cast();
            if (api.read)(data.id, kind, DEFAULT, DEFAULT, DEFAULT, to) < 0 {
                let stored = api.own((api.dataset_type)(data.id), api.close_type, "a type")?;
                if ((api.class)(stored.id) == COMPOUND) != complex {
                    let what = if complex { "complex" } else { "real" };
                    bail!(FileFormat, "{name}: expected {what} numbers");
                }
                bail!(FileChecksum, "{name}: the numbers are damaged, as their checksums say");
            }
            Ok(Some(match complex {
                false => Numbers::Real(numbers),
                true => Numbers::Complex(
                    numbers.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect(),
                ),
            }))
        }
    })
}
