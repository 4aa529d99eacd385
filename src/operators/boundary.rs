//! Boundary conditions of quarks.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::phase;
use crate::error::Result;
use crate::fields::Geometry;
use crate::params::{Kind, Param, Row};
use crate::refuse;

/// Phases of a quark in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x), directions x, y, z, t. In text four
/// numbers, or a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary(pub [f64; 4]);

/// Phases of hadrons, sums of those of their quarks, that differ by less are equal.
const ROUNDING: f64 = 1e-12;

/// Boundary conditions that have a name.
const WORDS: [(&str, Boundary); 2] =
    [("periodic", Boundary::PERIODIC), ("antiperiodic", Boundary::ANTIPERIODIC)];

impl Boundary {
    pub const PERIODIC: Boundary = Boundary([0.0; 4]);
    /// Periodic in space, antiperiodic in time.
    pub const ANTIPERIODIC: Boundary = Boundary([0.0, 0.0, 0.0, 1.0]);

    /// The phases as complex numbers of modulus 1.
    pub fn phases(self) -> [Complex64; 4] {
        self.0.map(phase)
    }
    /// The boundary of a product of the fields of quarks and of conjugate fields of antiquarks, as in the operator of a
    /// hadron: phases of quarks are added, those of antiquarks are subtracted.
    pub fn of_hadron(quarks: &[Boundary], antiquarks: &[Boundary]) -> Boundary {
        let sum =
            |of: &[Boundary], mu: usize| of.iter().map(|boundary| boundary.0[mu]).sum::<f64>();
        Boundary(std::array::from_fn(|mu| sum(quarks, mu) - sum(antiquarks, mu)))
    }
    /// Whether quarks with these two boundaries have the same phases in space.
    pub fn same_in_space(self, other: Boundary) -> bool {
        Boundary::of_hadron(&[self], &[other]).momentum_shift() == [0.0; 4]
    }
    /// The factor of the field at times beyond the end of the lattice, compared with those stored.
    pub fn across_time(self) -> Complex64 {
        phase(self.0[3])
    }
    /// The phases in x, y and z, to which multiples of 2 are added so that they are above -1 and at most 1, and 0 in t:
    /// a field with this boundary has the momenta p_i = (2 pi n_i + pi shift_i) / L_i.
    pub fn momentum_shift(self) -> [f64; 4] {
        // Sums of phases are rounded: 3 times 1/3 is 1, three times 2/3 is 0.
        let reduced = |angle: f64| {
            let shift = angle - 2.0 * ((angle - 1.0 - ROUNDING) / 2.0).ceil();
            if shift.abs() < ROUNDING {
                0.0
            } else {
                shift
            }
        };
        let [x, y, z, _] = self.0;
        [reduced(x), reduced(y), reduced(z), 0.0]
    }
    /// The boundary with these factors of modulus one; its phases in units of pi are above -1 and at most 1.
    pub fn of_phases(phases: [Complex64; 4]) -> Self {
        Boundary(phases.map(|z| if z.re <= -1.0 { 1.0 } else { z.arg() / PI }))
    }
}

/// Phases of hops across the end of the lattice, for the kernels of a rank: a mask with bit mu for each direction
/// that has a phase, and eight phases, of hops forward at index mu and backward at mu + 4. They are 1 if the end of
/// the lattice in this direction belongs to another rank.
pub(super) fn seam_phases(geometry: &Geometry, boundary: &[Complex64; 4]) -> (i32, [Complex64; 8]) {
    let comm = geometry.comm();
    let (mut mask, mut phases) = (0, [Complex64::ONE; 8]);
    for (mu, &z) in boundary.iter().enumerate() {
        mask |= i32::from(z != Complex64::ONE) << mu;
        if comm.coords()[mu] + 1 == comm.grid()[mu] {
            phases[mu] = z;
        }
        if comm.coords()[mu] == 0 {
            phases[mu + 4] = z.conj();
        }
    }
    (mask, phases)
}

/// Writes the name of a boundary condition, or its four numbers with commas if it has none.
impl std::fmt::Display for Boundary {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match WORDS.iter().find(|(_, boundary)| boundary == self) {
            Some((word, _)) => f.write_str(word),
            None => f.write_str(&self.0.map(|angle| angle.to_string()).join(",")),
        }
    }
}

impl Param for Boundary {
    type C = [f64; 4];
    const KIND: Kind = Kind::Number;
    fn to_c(&self, _: &Row) -> [f64; 4] {
        self.0
    }
    fn from_c(c: [f64; 4], row: &Row, name: &str) -> Result<Self> {
        Boundary(c).check(row, name)?;
        Ok(Boundary(c))
    }
    fn text(&self, _: &Row) -> String {
        self.to_string()
    }
    fn parse(text: &str, _: &Row, name: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((_, boundary)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text))
        {
            return Ok(*boundary);
        }
        let angles: Vec<f64> =
            text.split(',').map_while(|angle| angle.trim().parse().ok()).collect();
        match <[f64; 4]>::try_from(angles) {
            Ok(angles) if text.split(',').count() == 4 => Ok(Boundary(angles)),
            _ => refuse!(
                InvalidArgument,
                "{name}",
                expected("periodic, antiperiodic, or four numbers in units of pi (x,y,z,t)"),
                found("{text}")
            ),
        }
    }
    fn check(&self, _: &Row, name: &str) -> Result<()> {
        for (mu, angle) in self.0.iter().enumerate() {
            if !angle.is_finite() {
                refuse!(BadParameter, "{name}[{mu}]", expected("a finite angle"), found("{angle}"));
            }
        }
        Ok(())
    }
    fn words(_: &Row) -> Vec<&'static str> {
        WORDS.iter().map(|(word, _)| *word).collect()
    }
}
