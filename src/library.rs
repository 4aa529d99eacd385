//! Shared libraries that are opened at run time, each once per process.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Status};

/// Opens a library with `load`: the one whose full path the environment variable `variable` holds, or if that is not
/// set the first of `paths` that can be opened, None if there is none.
///
/// # Errors
/// `missing`: the library that the variable names cannot be opened.
pub fn open<T>(
    variable: &str,
    missing: Status,
    paths: impl FnOnce() -> Vec<PathBuf>,
    load: impl Fn(&Path) -> std::result::Result<T, libloading::Error>,
) -> Result<Option<T>> {
    match std::env::var_os(variable).filter(|path| !path.is_empty()) {
        Some(path) => load(Path::new(&path)).map(Some).map_err(|e| {
            Error::new(missing, format!("{variable}={}: {e}", path.to_string_lossy()))
        }),
        None => Ok(paths().iter().find_map(|path| load(path).ok())),
    }
}
