//! Quark actions, and the operators from which they are made; the trait is in `action.rs`.

mod action;
mod actions;
mod boundary;
mod chiral;
mod clover_term;
mod coarse;
mod covariant;
mod dirac_params;
mod distance;
pub mod domains;
mod doublet;
mod even_odd;
mod force;
mod force_workspace;
mod half_columns;
mod kernel;
mod laplace;
mod quark;
mod schur_force;
mod site;
mod tensor;
mod wilson;
mod wilson_action;

pub use action::{
    in_storage, ActionVersion, Coarsenable, CoarsenablePair, FlavourTerm, InverseOwner,
    QuarkAction, SchurAction, Storage,
};
pub use actions::ActionParams;
pub use boundary::Boundary;
pub use chiral::{chiral_sum, one_and_gamma5, Chiral};
pub use coarse::{CoarseOperator, LinkPrecision};
pub use covariant::{laplacian_4d, CovariantShift};
pub use distance::{Distance, DistanceWeighted, DistanceWeights};
pub use doublet::{Doublet, DoubletParams};
pub use even_odd::{EvenOdd, WilsonType};
pub use force::ForceTerms;
pub use force_workspace::{ForceWorkspace, HalfTerms};
pub(crate) use half_columns::{HalfColumns, Scales};
pub use kernel::{HermitianWilson, KernelSquare};
pub use laplace::{Laplace, LaplaceParams};
pub use quark::{
    plaq_dirac_params, CloverLinks, DiracParams, Normalisation, QuarkParams, TermValue,
};
pub use site::{copy_parity, gamma5, phase, Gamma5, Gamma5Times, Site, SiteTerm};
pub use tensor::TensorHop;
pub use wilson::{HopCall, HopSum, Wilson};
