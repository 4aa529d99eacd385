//! Example programs in C and in Fortran, their numbers compared with others.

mod chain;
#[path = "../common/mod.rs"]
mod common;
mod first;
mod gluon;
mod heatbath;
mod hmc;
mod mistakes;
mod plots;
mod programs;
mod propagator;
#[path = "../reference/mod.rs"]
mod reference;
mod signals;
mod twins;
