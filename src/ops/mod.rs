//! The operations that users ask for: observables, propagators and correlators, generation of gauge fields, gauge
//! fixing, and files.

pub mod config;
pub mod contract;
pub mod correlators;
pub mod device;
pub mod distillation;
pub mod eigenvectors;
pub mod flow;
pub mod gamma;
pub mod gaugefix;
pub mod hmc;
pub mod link_smearing;
pub mod links_mark;
pub mod null_space;
pub mod observables;
pub mod overlap;
pub mod overlap_settings;
pub mod paths;
pub mod propagator;
pub mod propagator_file;
pub mod quark_flow;
pub mod quenched;
pub mod reweighting;
pub mod schroedinger;
pub mod smearing;
pub mod source;
pub mod structure;
pub mod terms;
pub mod time_slices;
pub mod wilson_loops;
