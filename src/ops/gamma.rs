//! Products of gamma matrices in the DeGrand-Rossi basis; each row has one non-zero entry, a power of i.

use num_complex::Complex64;

use crate::error::Result;
use crate::params::choices;
use crate::refuse;

/// A spin matrix with one non-zero entry in each row r: i^`phase[r]` in column `column[r]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinMatrix {
    pub column: [usize; 4],
    pub(crate) phase: [u8; 4],
}

/// The matrices gamma_x, gamma_y, gamma_z, gamma_t.
const GAMMAS: [SpinMatrix; 4] = [
    SpinMatrix { column: [3, 2, 1, 0], phase: [1, 1, 3, 3] },
    SpinMatrix { column: [3, 2, 1, 0], phase: [2, 0, 0, 2] },
    SpinMatrix { column: [2, 3, 0, 1], phase: [1, 3, 3, 1] },
    SpinMatrix { column: [2, 3, 0, 1], phase: [0, 0, 0, 0] },
];

impl SpinMatrix {
    pub const ONE: SpinMatrix = SpinMatrix { column: [0, 1, 2, 3], phase: [0; 4] };

    /// The matrix gamma_mu, mu = 0 to 3 for x, y, z, t.
    pub(crate) fn axis(mu: usize) -> Self {
        GAMMAS[mu]
    }
    /// The product of two matrices.
    pub fn times(self, other: Self) -> Self {
        SpinMatrix {
            column: self.column.map(|k| other.column[k]),
            phase: std::array::from_fn(|r| (self.phase[r] + other.phase[self.column[r]]) % 4),
        }
    }
    /// The transposed matrix.
    pub(crate) fn transposed(self) -> Self {
        let mut out = self;
        for r in 0..4 {
            (out.column[self.column[r]], out.phase[self.column[r]]) = (r, self.phase[r]);
        }
        out
    }
    pub(crate) fn dagger(self) -> Self {
        let t = self.transposed();
        SpinMatrix { phase: t.phase.map(|p| (4 - p) % 4), ..t }
    }
    /// The non-zero entry of row r.
    pub fn entry(self, r: usize) -> Complex64 {
        Complex64::I.powu(u32::from(self.phase[r]))
    }
    pub(crate) fn gamma5() -> Self {
        Gamma::FIVE.matrix()
    }
    /// The charge conjugation matrix C = gamma_y gamma_t.
    pub(crate) fn conjugation() -> Self {
        GAMMAS[1].times(GAMMAS[3])
    }
    /// The matrix in the form that kernels take.
    pub(crate) fn to_kernel(self) -> ([i32; 4], [i32; 4]) {
        (self.column.map(|k| k as i32), self.phase.map(i32::from))
    }
}

/// One of the sixteen products gamma_x^a gamma_y^b gamma_z^c gamma_t^d, number a + 2 b + 4 c + 8 d
/// (the numbers of QDP++); gamma5 is number 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gamma(u8);

/// Names of the sixteen Gammas, each the product that it spells.
#[rustfmt::skip]
pub const NAMES: [&str; 16] =
    ["1", "X", "Y", "XY", "Z", "XZ", "YZ", "5T", "T", "XT", "YT", "Z5", "ZT", "5Y", "X5", "5"];

choices! {
    /// Products of gamma matrices: gamma_x^a gamma_y^b gamma_z^c gamma_t^d has the number a + 2 b + 4 c + 8 d, from 0
    /// to 15; the following have names.
    names Gamma: plaq_gamma {
        /// The unit matrix.
        ONE = 0, PLAQ_GAMMA_ONE, "one";
        /// gamma_x.
        X = 1, PLAQ_GAMMA_X, "x";
        /// gamma_y.
        Y = 2, PLAQ_GAMMA_Y, "y";
        /// gamma_z.
        Z = 4, PLAQ_GAMMA_Z, "z";
        /// gamma_t.
        T = 8, PLAQ_GAMMA_T, "t";
        /// gamma5 = gamma_x gamma_y gamma_z gamma_t.
        FIVE = 15, PLAQ_GAMMA_5, "5";
    }
}

impl Gamma {
    pub const ONE: Gamma = Gamma(0);
    pub const X: Gamma = Gamma(1);
    pub const Y: Gamma = Gamma(2);
    pub const Z: Gamma = Gamma(4);
    pub const T: Gamma = Gamma(8);
    pub const FIVE: Gamma = Gamma(15);

    /// # Errors
    /// `InvalidArgument`: not 0 to 15.
    pub fn new(number: i32) -> Result<Self> {
        if !(0..16).contains(&number) {
            refuse!(InvalidArgument, "gamma", expected("a number from 0 to 15"), found("{number}"));
        }
        Ok(Gamma(number as u8))
    }
    pub fn all() -> impl Iterator<Item = Gamma> {
        (0..16).map(Gamma)
    }
    pub fn number(self) -> usize {
        self.0.into()
    }
    /// The name of the product, of [`NAMES`].
    pub fn name(self) -> &'static str {
        NAMES[self.number()]
    }
    pub fn matrix(self) -> SpinMatrix {
        let factors = (0..4).filter(|mu| self.0 >> mu & 1 == 1);
        factors.fold(SpinMatrix::ONE, |m, mu| m.times(GAMMAS[mu]))
    }
}
