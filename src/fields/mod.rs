//! Lattice fields on a device.

pub mod basis;
pub mod blas;
mod border;
pub mod boundary_time;
mod clover;
mod coarse;
mod costs;
mod devices;
mod faces;
mod footprint;
pub mod fourier;
mod gauge;
mod geometry;
pub(crate) mod halo;
mod layout;
mod matrix;
mod momenta;
mod peer_memory;
mod peers;
mod random;
mod reduce;
mod routes;
pub(crate) mod time_slices;
mod transfer;
mod transformation;
mod vector;
mod vector_set;
mod version;

pub use boundary_time::{BoundaryKind, BoundaryParams, BoundaryTime};
pub use clover::{CloverCoefficients, CloverField, CloverForm};
pub(crate) use coarse::{spinor_work, AllRanks, Coarsening, DenseMatrix, Overlaps, Part};
pub use coarse::{CoarseField, CoarseGrid, Gather};
pub(crate) use costs::{Connection, Costs};
pub use footprint::Needs;
pub use gauge::{GaugeField, Group};
pub use geometry::{layout_on, Geometry};
pub use layout::{Content, GammaBasis, Index, Layout};
pub use matrix::{MatrixField, MatrixForm};
pub use momenta::{Momenta, MomentaForm, SiteOrder};
pub use random::Noise;
pub(crate) use reduce::sum_and_max;
pub use routes::FaceRoute;
pub use time_slices::{vanish, vanishing};
pub use transfer::LinkOptions;
pub use transformation::Transformation;
pub(crate) use vector::parts_of;
pub use vector::HostCopy;
pub use vector::{Components, RhsOrder, SpinorField, Subset, VectorField};
pub use vector_set::VectorSet;
pub use version::Version;

pub use crate::backend::{Precision, Recon};
use crate::error::Result;
use crate::params::choices;
use crate::refuse;

choices! {
    /// Storage precision; the value is the number of bytes of a real. Arithmetic is in double precision for fields in
    /// double, else in single; sums are in double.
    impl Precision: plaq_precision {
        /// 64-bit floating point.
        F64 = 8, PLAQ_PRECISION_DOUBLE, "double";
        /// 32-bit floating point.
        F32 = 4, PLAQ_PRECISION_SINGLE, "single";
        /// 16-bit fixed point; spinors have one norm per site.
        F16 = 2, PLAQ_PRECISION_HALF, "half";
    }
}

impl Precision {
    pub const ALL: [Precision; 3] = [Precision::F64, Precision::F32, Precision::F16];
    pub fn bytes(self) -> usize {
        match self {
            Precision::F16 => 2,
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }
    /// Rounding error of a stored number, relative to the largest number of its site.
    pub fn epsilon(self) -> f64 {
        match self {
            // Half a unit; units are top / 32767 (CPU) or up to top / 32744 (GPU, kernels/field.h).
            Precision::F16 => 0.5 / 32744.0,
            Precision::F32 => f32::EPSILON as f64 / 2.0,
            Precision::F64 => f64::EPSILON / 2.0,
        }
    }
    /// Whether each site has a unit in addition to its numbers (16-bit storage).
    pub fn has_norm(self) -> bool {
        self == Precision::F16
    }
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "double" | "f64" => Ok(Precision::F64),
            "single" | "float" | "f32" => Ok(Precision::F32),
            "half" | "f16" => Ok(Precision::F16),
            _ => refuse!(
                InvalidArgument,
                "precision",
                expected("double, single or half"),
                found("{name}")
            ),
        }
    }
}
