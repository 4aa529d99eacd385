//! Operators made of operators and solvers.

mod even_odd;
pub mod multigrid;
mod multishift;
mod solve;

pub use even_odd::{EvenOdd, SchurComplement};
pub use solve::{DiracSolver, Equations, Normalisation, Schur, Solution, SolveParams, SolveReport};
