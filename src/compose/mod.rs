//! Operators made of operators and solvers.

mod even_odd;

pub use even_odd::EvenOdd;
