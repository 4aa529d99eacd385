//! Tests of the program `plaq`: its results compared with those of other codes, its messages and its files.

mod chain;
mod documents;
mod first;
mod gluon;
mod heatbath;
mod hmc;
mod jobs;
mod mistakes;
mod plots;
mod programs;
mod propagator;
mod short_memory;
mod signals;

use crate::{common, reference};
