//! Reading and writing of files in bounded buffers: lengths are checked first, data are handled in chunks of about a
//! megabyte, and byte order and precision are converted for whole chunks.

use super::{ByteOrder, SITE};
use crate::bail;
use crate::error::{host_array, Error, Result, Status};
use std::collections::hash_map::RandomState;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{fchown, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Approximate size of a chunk in bytes.
pub(super) const CHUNK: usize = 1 << 20;

/// The operating system's message for an error, without the number that Rust adds.
pub(super) fn said(e: &io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// An error for an empty file name.
fn named(path: &Path, status: Status) -> Result<()> {
    match path.as_os_str().is_empty() {
        true => Err(Error::new(status, "a file's name is empty")),
        false => Ok(()),
    }
}

/// A file opened for reading, with its length and position.
pub struct Input {
    file: File,
    path: PathBuf,
    length: u64,
    position: u64,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self> {
        named(path, Status::FileOpen)?;
        let refused = |e| Error::new(Status::FileOpen, said(&e)).at(path.display());
        // The kind of the file is found before opening it, since opening a pipe would wait for its writer.
        if !fs::metadata(path).map_err(refused)?.is_file() {
            bail!(FileOpen, "{}: not a regular file", path.display());
        }
        let file = File::open(path).map_err(refused)?;
        let length = file.metadata().map_err(refused)?.len();
        Ok(Input { file, path: path.to_owned(), length, position: 0 })
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn remaining(&self) -> u64 {
        self.length.saturating_sub(self.position)
    }

    /// An error about this file; if the status means that the file is bad, the message says so, too.
    pub fn error(&self, status: Status, message: impl std::fmt::Display) -> Error {
        let what = match status {
            Status::FileTruncated => "the file is incomplete: ",
            Status::FileChecksum => "the file is damaged: ",
            _ => "",
        };
        Error::new(status, format!("{what}{message}")).at(self.path.display())
    }

    fn failure(&self, e: io::Error) -> Error {
        let status = match e.kind() {
            ErrorKind::UnexpectedEof => Status::FileTruncated,
            _ => Status::FileOpen,
        };
        self.error(status, format!("reading at byte {}: {}", self.position, said(&e)))
    }

    pub fn seek(&mut self, position: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(position)).map_err(|e| self.failure(e))?;
        self.position = position;
        Ok(())
    }

    /// Up to `count` bytes from the present position, which does not change.
    pub fn peek(&mut self, count: usize) -> Result<Vec<u8>> {
        let position = self.position;
        let bytes = self.bytes(self.remaining().min(count as u64) as usize)?;
        self.seek(position)?;
        Ok(bytes)
    }

    /// Reads the next `count` bytes; the caller must keep `count` small.
    pub fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        self.need(count as u64, "header")?;
        let mut bytes = vec![0; count];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact(buffer).map_err(|e| self.failure(e))?;
        self.position += buffer.len() as u64;
        Ok(())
    }

    /// An error unless there are at least `count` bytes after the present position.
    pub fn need(&self, count: u64, what: &str) -> Result<()> {
        if count > self.remaining() {
            let (at, left) = (self.position, self.remaining());
            let message = format!("{what}: expected {count} bytes from byte {at} on, found {left}");
            return Err(self.error(Status::FileTruncated, message));
        }
        Ok(())
    }

    /// An error unless there are exactly `count` bytes after the present position.
    pub fn need_exactly(&self, count: u64, what: &str) -> Result<()> {
        self.need(count, what)?;
        if count < self.remaining() {
            let extra = self.remaining() - count;
            return Err(self.error(Status::FileFormat, format!("{extra} bytes follow the {what}")));
        }
        Ok(())
    }

    /// Checks that the extents in a header are plausible and equal to the expected ones.
    pub fn extents(&self, found: [u64; 4], expect: Option<[usize; 4]>) -> Result<[usize; 4]> {
        let volume = found.iter().try_fold(1u64, |volume, &n| match n {
            1..=0x7fff_ffff => volume.checked_mul(n),
            _ => None,
        });
        // The number of bytes of all links, also as doubles and with headers, must fit into an address.
        match volume.and_then(|v| v.checked_mul(8 * SITE as u64)) {
            Some(bytes) if bytes < isize::MAX as u64 / 2 => {}
            _ => {
                let message = format!("lattice {found:?} of the header is no lattice");
                return Err(self.error(Status::FileFormat, message));
            }
        }
        let extents = found.map(|n| n as usize);
        match expect {
            Some(expect) if expect != extents => Err(self.error(
                Status::FileExtents,
                format!("the file holds a lattice x,y,z,t = {extents:?}, expected {expect:?}"),
            )),
            _ => Ok(extents),
        }
    }

    /// Makes an array of zeros for a field with `width` numbers per site; to be called after the length of the file
    /// was checked.
    pub fn allocate(&self, extents: [usize; 4], width: usize) -> Result<Vec<f64>> {
        let count = width * extents.iter().product::<usize>();
        host_array(count, 0.0, "its numbers").map_err(|e| e.at(self.path.display()))
    }

    /// Reads `items` × `item_bytes` bytes from the present position and passes them on in chunks of whole items, each
    /// with the number of its first item.
    pub fn stream(
        &mut self,
        items: usize,
        item_bytes: usize,
        mut consume: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let per_chunk = (CHUNK / item_bytes).max(1);
        let mut buffer = host_array(per_chunk.min(items) * item_bytes, 0, "a piece of a file")?;
        for first in (0..items).step_by(per_chunk) {
            let bytes = &mut buffer[..per_chunk.min(items - first) * item_bytes];
            self.fill(bytes)?;
            consume(first, bytes);
        }
        Ok(())
    }
}

/// Names of files that this process is going to write and that did not exist when it checked.
static NEW: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Records that a file of this name, if it does not exist yet, must not be created by another process: the first
/// write of this process then fails.
pub fn expect_new(path: &Path) {
    if !path.exists() {
        NEW.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }
}

/// A file under a temporary name. The process that created it removes it when this is dropped, unless it was
/// committed.
pub struct Output {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    /// True if the file is removed on drop.
    owned: bool,
}

impl Output {
    /// The file to be replaced: symbolic links are followed, so that renaming replaces the file and not the link.
    fn target_of(path: &Path) -> Result<PathBuf> {
        named(path, Status::FileWrite)?;
        let Ok(target) = fs::canonicalize(path) else {
            if let Ok(end) = fs::read_link(path) {
                bail!(
                    FileWrite,
                    "{}: a link to {}, which is not there",
                    path.display(),
                    end.display()
                );
            }
            return Ok(path.to_owned());
        };
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => bail!(FileWrite, "{}: is a folder", path.display()),
            Ok(found) if !found.is_file() => {
                bail!(FileWrite, "{}: is a device, a pipe or a socket, not a file", path.display())
            }
            _ => Ok(target),
        }
    }

    /// Creates a file with a temporary name beside the target; existing files, for instance of killed processes, are
    /// not touched.
    fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
        for _ in 0..100 {
            // Every RandomState has its own random keys, so that every number is another one.
            let number = RandomState::new().build_hasher().finish();
            let temporary = target.with_file_name(format!(".plaq-{number:016x}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|file| (file, temporary)),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Opens the temporary file `name` that another process has created for `path`.
    pub fn join(path: &Path, name: &str) -> Result<Self> {
        let target = Self::target_of(path)?;
        let temporary = target.with_file_name(name);
        match OpenOptions::new().write(true).open(&temporary) {
            Ok(file) => Ok(Output { file, temporary, target, owned: false }),
            Err(e) => {
                bail!(
                    FileWrite,
                    "{}: its new file {}: {}",
                    path.display(),
                    temporary.display(),
                    said(&e)
                )
            }
        }
    }

    /// The path of the temporary file, to which another library may write before `commit`.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The path that the file gets by `commit`.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Name of the temporary file.
    pub fn name(&self) -> String {
        self.temporary.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn create(path: &Path) -> Result<Self> {
        let target = Self::target_of(path)?;
        match Self::create_beside(&target) {
            Ok((file, temporary)) => Ok(Output { file, temporary, target, owned: true }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let folder = target.parent().unwrap_or(&target).display();
                bail!(FileWrite, "{}: the folder {folder} does not exist", path.display())
            }
            Err(e) => bail!(FileWrite, "{}: a file in its folder: {}", path.display(), said(&e)),
        }
    }

    /// Gives the file the mode and, if this process is allowed to, the owner of the file that it replaces.
    fn inherit(&self) -> io::Result<()> {
        let Ok(old) = fs::metadata(&self.target) else { return Ok(()) };
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = fchown(&self.file, Some(old.uid()), Some(old.gid()));
        }
        self.file.set_permissions(old.permissions())
    }

    fn failure(&self, e: io::Error) -> Error {
        Error::new(Status::FileWrite, said(&e)).at(self.target.display())
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| self.failure(e))
    }

    pub fn seek(&mut self, position: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(position)).map_err(|e| self.failure(e))?;
        Ok(())
    }

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|e| self.failure(e))
    }

    /// Writes `items` × `item_bytes` bytes, which `produce` fills chunk by chunk, given the number of the chunk's
    /// first item.
    pub fn stream(
        &mut self,
        items: usize,
        item_bytes: usize,
        mut produce: impl FnMut(usize, &mut [u8]),
    ) -> Result<()> {
        let per_chunk = (CHUNK / item_bytes).max(1);
        let mut buffer = host_array(per_chunk.min(items) * item_bytes, 0, "a piece of a file")?;
        for first in (0..items).step_by(per_chunk) {
            let bytes = &mut buffer[..per_chunk.min(items - first) * item_bytes];
            produce(first, bytes);
            self.put(bytes)?;
        }
        Ok(())
    }

    /// Flushes to disk and gives the file its name.
    pub fn commit(mut self) -> Result<()> {
        self.inherit().map_err(|e| self.failure(e))?;
        self.sync()?;
        let new = NEW.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.target);
        match new.then(|| fs::hard_link(&self.temporary, &self.target)) {
            // The file has its name now; the temporary name is removed on drop.
            Some(Ok(())) => {}
            Some(Err(e)) if e.kind() == ErrorKind::AlreadyExists => bail!(
                FileWrite,
                "{}: another process has written it since this one began: its file stays",
                self.target.display()
            ),
            // Not every file system has hard links.
            _ => {
                fs::rename(&self.temporary, &self.target).map_err(|e| self.failure(e))?;
                self.owned = false;
            }
        }
        // The folder is flushed for the new name. Not every file system allows this; the data are safe without it.
        if let Some(Ok(folder)) = self.target.parent().map(File::open) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.owned {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Converts bytes of a file to doubles.
pub fn decode(raw: &[u8], bits: u32, order: ByteOrder, out: &mut [f64]) {
    match (bits, order) {
        (32, ByteOrder::Little) => map4(raw, out, |b| f32::from_le_bytes(b) as f64),
        (32, ByteOrder::Big) => map4(raw, out, |b| f32::from_be_bytes(b) as f64),
        (_, ByteOrder::Little) => map8(raw, out, f64::from_le_bytes),
        (_, ByteOrder::Big) => map8(raw, out, f64::from_be_bytes),
    }
}

/// Converts doubles to bytes of a file.
pub fn encode(values: &[f64], bits: u32, order: ByteOrder, raw: &mut [u8]) {
    match (bits, order) {
        (32, ByteOrder::Little) => unmap(values, raw, |v| (v as f32).to_le_bytes()),
        (32, ByteOrder::Big) => unmap(values, raw, |v| (v as f32).to_be_bytes()),
        (_, ByteOrder::Little) => unmap(values, raw, f64::to_le_bytes),
        (_, ByteOrder::Big) => unmap(values, raw, f64::to_be_bytes),
    }
}

/// Converts bytes of a file to 32-bit words, for checksums.
pub fn words(raw: &[u8], order: ByteOrder, out: &mut [u32]) {
    match order {
        ByteOrder::Little => map4(raw, out, u32::from_le_bytes),
        ByteOrder::Big => map4(raw, out, u32::from_be_bytes),
    }
}

fn map4<T>(raw: &[u8], out: &mut [T], f: impl Fn([u8; 4]) -> T) {
    for (o, b) in out.iter_mut().zip(raw.chunks_exact(4)) {
        *o = f([b[0], b[1], b[2], b[3]]);
    }
}

fn map8<T>(raw: &[u8], out: &mut [T], f: impl Fn([u8; 8]) -> T) {
    for (o, b) in out.iter_mut().zip(raw.chunks_exact(8)) {
        *o = f([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    }
}

fn unmap<const N: usize>(values: &[f64], raw: &mut [u8], f: impl Fn(f64) -> [u8; N]) {
    for (v, b) in values.iter().zip(raw.chunks_exact_mut(N)) {
        b.copy_from_slice(&f(*v));
    }
}
