//! The generated files.

use super::{fields, fortran, header, parameters, python};

/// All generated files: their paths in the repository and their contents.
pub fn all() -> Vec<(String, String)> {
    let headers = header::headers().into_iter();
    let mut files: Vec<_> = headers.map(|(file, text)| (format!("include/{file}"), text)).collect();
    files.push(("bindings/fortran/plaq.f90".into(), fortran::module()));
    files.push(("bindings/python/plaq/capi.py".into(), python::module()));
    files.push(("bindings/python/plaq/_keywords.py".into(), python::keywords()));
    files.push(("docs/errors.md".into(), header::errors()));
    files.push(("docs/parameters.md".into(), parameters::page()));
    files.push(("docs/quda-fields.md".into(), fields::page()));
    files
}
