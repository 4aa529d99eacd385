//! Operators made of operators and solvers.

mod even_odd;
mod force;
mod multishift;
mod solve;
mod spectrum;

pub use even_odd::{EvenOdd, SchurComplement};
pub use force::{schur_log_det, HalfTerms, SchurForce};
pub use solve::{DiracSolver, Equations, Normalisation, Schur, Solution, SolveParams, SolveReport};
pub use spectrum::{largest, smallest, Bound};
