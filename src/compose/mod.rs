//! Operators made of operators and solvers.

pub mod approximation;
mod even_odd;
mod force;
mod modes;
pub mod multigrid;
mod multishift;
mod overlap;
mod overlap_choice;
mod overlap_mass;
mod overlap_modes;
mod overlap_solve;
mod sign;
mod solve;
mod spectrum;
#[cfg(test)]
pub(crate) mod tests;

pub use even_odd::{EvenOdd, SchurComplement};
pub use force::{schur_log_det, HalfTerms, SchurForce};
pub use modes::{Finder, HighMode, ModeParams, Modes, ModesRecord};
pub use overlap::{Overlap, OverlapSquare};
pub use overlap_modes::{OverlapModes, OverlapModesRecord};
pub use overlap_solve::{
    OverlapAlgorithm, OverlapPreconditioner, OverlapSolveParams, OverlapSolver,
};
pub use sign::{Method, Sign, SignParams};
pub use solve::{DiracSolver, Equations, Normalisation, Schur, Solution, SolveParams, SolveReport};
pub use spectrum::{largest, smallest, Bound};
