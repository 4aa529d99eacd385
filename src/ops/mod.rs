//! What users ask for: observables, generation of gauge fields, configurations in files.

pub mod config;
pub mod observables;
pub mod quenched;
