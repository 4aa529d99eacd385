//! Reference physics: slow, obvious, double precision, and shared with nothing in `src` or
//! `kernels`. Only num-complex is used, so that an error here and an error there are
//! independent. Fields live in plain vectors over the lexicographic site index
//! `lex = x + X(y + Y(z + Z t))`; a link is `gauge[lex * 4 + mu]`, a spinor is
//! `psi[lex][spin][colour]` in the DeGrand-Rossi basis.
//!
//! Test programs link it as the crate `reference`; programs in C and Python use it by the functions of `reference.h`.

pub mod bounded;
mod c;
pub mod contract;
pub mod correlators;
pub mod descent;
pub mod dirac;
pub mod gamma;
pub mod gaugefix;
pub mod hmc;
pub mod hot_start;
mod largest;
pub mod lattice;
pub mod matrix;
pub mod numbers;
pub mod observables;
pub mod overlap;
pub mod philox;
pub mod rng;
pub mod smearing;
pub mod solve;
pub mod source;
pub mod spinor;
pub mod structure;
pub mod su3;

pub use largest::largest;
pub use lattice::Lattice;
pub use num_complex::Complex64 as C;

/// A gauge field of SU(N): `gauge[lex * 4 + mu]` joins lex to lex + mu.
pub type GaugeN<const N: usize> = Vec<matrix::Matrix<N>>;
/// A gauge field of SU(3).
pub type Gauge = GaugeN<3>;
/// The spinor on one site: `[spin][colour]`.
pub type Spinor = [[C; 3]; 4];
/// A spinor field: `field[lex][spin][colour]`.
pub type Field = Vec<Spinor>;
