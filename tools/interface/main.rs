//! Writes what is generated from the tables of interface/src/capi: the C headers, the modules of Fortran and Python,
//! and the tables of statuses and parameters. `cargo run --example interface`; tests/abi fails where a file is not
//! current.

mod fields;
mod files;
mod fortran;
mod header;
mod parameters;
mod python;

fn main() -> std::io::Result<()> {
    for (file, text) in files::all() {
        let path = std::path::Path::new(env!("SOURCE_TREE")).join(&file);
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            println!("{file}");
            std::fs::write(path, text)?;
        }
    }
    Ok(())
}
