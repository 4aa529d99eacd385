//! Example programs in C and in Fortran, their numbers compared with others.

mod chain;
mod first;
mod gluon;
mod heatbath;
mod hmc;
mod mistakes;
mod plots;
mod programs;
mod propagator;
mod signals;
mod twins;

use crate::{common, reference};
