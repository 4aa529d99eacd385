//! Names of files as arguments.

use std::ffi::{c_char, CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::args::{not_null, Arg};
use super::digest::Digest;
use super::table::{Pass, Type};
use crate::error::Result;

/// The name of a file, as NUL-terminated bytes of the operating system, UTF-8 or not.
pub struct FileName(PathBuf);

impl Arg for FileName {
    const TYPE: Type = Type::Text;
    const PASS: Pass = Pass::Text;
    type C = *const c_char;
    type View<'a> = &'a Path;
    unsafe fn read(c: *const c_char, name: &'static str) -> Result<Self> {
        not_null(c, name)?;
        Ok(FileName(OsStr::from_bytes(CStr::from_ptr(c).to_bytes()).into()))
    }
    fn digest(&self, digest: &mut Digest) {
        digest.text(self.0.as_os_str().as_bytes());
    }
    fn view(&mut self) -> &Path {
        &self.0
    }
}
