//! Hadron structure: operators between two quark propagators, baryons of any three quarks, sequential sources, quark
//! loops, pairs of field strengths.

pub mod gluons;
mod hopping;
pub mod insertions;
pub mod lines;
mod loop_state;
pub mod loop_sums;
pub mod loops;
pub mod low_mesons;
pub mod low_space;
pub mod sequential;
pub mod spin;
pub mod three_quarks;
mod waves;
