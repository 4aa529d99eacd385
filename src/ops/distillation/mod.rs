//! Distillation (Peardon et al., Phys. Rev. D 80, 054506): modes of the Laplacian on every time slice, and quark
//! propagators and operators in the space of these modes.

pub mod elementals;
pub mod file;
pub mod if_exists;
pub mod inverse;
mod kinds;
pub mod meson;
pub mod modes;
mod modes_file;
pub mod noise;
pub mod perambulator;
pub mod search;
mod vectors;
pub mod wave_products;
