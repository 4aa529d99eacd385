//! Example programs in C and in Fortran, their numbers compared with others.

#[path = "../common/mod.rs"]
mod common;
mod gluon;
mod programs;
mod propagator;
#[path = "../reference/mod.rs"]
mod reference;
