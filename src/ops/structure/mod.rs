//! Hadron structure: operators between two quark propagators, three quark lines of any kind, sequential sources, quark loops.

pub mod insertions;
pub mod lines;
pub mod loops;
pub mod sequential;
pub mod spin;
pub mod three_quarks;
mod waves;
