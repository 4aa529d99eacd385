//! What users ask for: observables, propagators and correlators, generation of gauge fields, gauge
//! fixing, configurations in files.

pub mod config;
pub mod correlators;
pub mod eigenvectors;
pub mod flow;
pub mod gaugefix;
pub mod hmc;
pub mod link_smearing;
pub mod observables;
pub mod overlap;
pub mod propagator;
pub mod quenched;
pub mod smearing;
