//! Operators made of operators and solvers.

pub mod approximation;
mod even_odd;
mod modes;
mod multishift;
mod overlap;
mod sign;
mod solve;

pub use even_odd::{EvenOdd, SchurComplement};
pub use modes::{Finder, ModeParams, Modes};
pub use overlap::{Overlap, OverlapSquare};
pub use sign::{Method, Sign, SignParams};
pub use solve::{DiracSolver, Equations, Normalisation, Schur, Solution, SolveParams, SolveReport};
