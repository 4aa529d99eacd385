//! What users ask for: observables, propagators and correlators, generation of gauge fields,
//! configurations in files.

pub mod config;
pub mod correlators;
pub mod observables;
pub mod propagator;
pub mod quenched;
