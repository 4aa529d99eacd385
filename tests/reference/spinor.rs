//! Spinor fields of the reference as vectors.

use super::gamma::{gamma5, mul_spin, Basis};
use super::rng::Rng;
use super::{Field, Lattice, C};

pub fn zero(lat: Lattice) -> Field {
    vec![[[C::ZERO; 3]; 4]; lat.volume()]
}

/// A field of complex normal numbers.
pub fn random(lat: Lattice, seed: u64) -> Field {
    let mut rng = Rng::new(seed);
    let site = |_| std::array::from_fn(|_| std::array::from_fn(|_| rng.gaussian()));
    (0..lat.volume()).map(site).collect()
}

/// A field that is one at one site, spin and colour, and zero elsewhere.
pub fn point(lat: Lattice, lex: usize, spin: usize, colour: usize) -> Field {
    let mut field = zero(lat);
    field[lex][spin][colour] = C::ONE;
    field
}

/// Computes the scalar product sum conj(a) b.
pub fn dot(a: &Field, b: &Field) -> C {
    let entries = a.iter().flatten().flatten().zip(b.iter().flatten().flatten());
    entries.map(|(x, y)| x.conj() * y).sum()
}

/// Computes the sum of |a|^2.
pub fn norm2(a: &Field) -> f64 {
    a.iter().flatten().flatten().map(|z| z.norm_sqr()).sum()
}

/// Computes a + c b.
pub fn axpy(c: C, b: &Field, a: &Field) -> Field {
    let mut out = a.clone();
    for (o, s) in out.iter_mut().flatten().flatten().zip(b.iter().flatten().flatten()) {
        *o += c * s;
    }
    out
}

pub fn scale(c: C, a: &Field) -> Field {
    a.iter().map(|site| site.map(|colour| colour.map(|z| c * z))).collect()
}

/// The relative distance |a - b| / |b|.
pub fn relative_distance(a: &Field, b: &Field) -> f64 {
    (norm2(&axpy(-C::ONE, b, a)) / norm2(b)).sqrt()
}

pub fn apply_gamma5(a: &Field) -> Field {
    let g5 = gamma5(Basis::DeGrandRossi);
    a.iter().map(|site| mul_spin(&g5, site)).collect()
}

/// The field on the sites of one parity, with zero on the other.
pub fn on_parity(lat: Lattice, parity: usize, a: &Field) -> Field {
    let mut out = zero(lat);
    for lex in lat.sites_of_parity(parity) {
        out[lex] = a[lex];
    }
    out
}
