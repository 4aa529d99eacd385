//! Dense spin matrices, row by row, in the DeGrand-Rossi basis.

use num_complex::Complex64;

use crate::error::Result;
use crate::ops::gamma::SpinMatrix;
use crate::params::choices;
use crate::refuse;

choices! {
    /// Matrices Gamma of two quarks in interpolators eps_abc (q1_a^T Gamma q2_b) q3_c of baryons; C = gamma_y gamma_t.
    pub enum Diquark: plaq_diquark {
        /// C gamma5, of the octet.
        C5 = 0, PLAQ_DIQUARK_C5, "c5";
        /// C gamma_t gamma5.
        Ct5 = 1, PLAQ_DIQUARK_CT5, "ct5";
        /// C gamma_z gamma5.
        Cz5 = 2, PLAQ_DIQUARK_CZ5, "cz5";
        /// C gamma_x, of the decuplet.
        Cx = 3, PLAQ_DIQUARK_CX, "cx";
        /// C gamma_y, of the decuplet.
        Cy = 4, PLAQ_DIQUARK_CY, "cy";
        /// C gamma_z, of the decuplet.
        Cz = 5, PLAQ_DIQUARK_CZ, "cz";
    }
}

choices! {
    /// Projectors P of the free spin of a baryon, for tr P C.
    pub enum Projector: plaq_projector {
        /// (1 + parity gamma_t) / 2.
        Unpolarised = 0, PLAQ_PROJECTOR_UNPOLARISED, "unpolarised";
        /// The unpolarised one times -i gamma_y gamma_z, twice the spin along x.
        X = 1, PLAQ_PROJECTOR_X, "x";
        /// The unpolarised projector times -i gamma_z gamma_x.
        Y = 2, PLAQ_PROJECTOR_Y, "y";
        /// The unpolarised projector times -i gamma_x gamma_y.
        Z = 3, PLAQ_PROJECTOR_Z, "z";
    }
}

impl Diquark {
    pub fn matrix(self) -> Spin {
        let [five, t] = [SpinMatrix::gamma5(), SpinMatrix::axis(3)];
        let gamma = match self {
            Diquark::C5 => five,
            Diquark::Ct5 => t.times(five),
            Diquark::Cz5 => SpinMatrix::axis(2).times(five),
            Diquark::Cx => SpinMatrix::axis(0),
            Diquark::Cy => SpinMatrix::axis(1),
            Diquark::Cz => SpinMatrix::axis(2),
        };
        Spin::from(SpinMatrix::conjugation().times(gamma))
    }
}

impl Projector {
    /// The projector for states of this parity, 1 or -1, that propagate forward in time.
    pub fn matrix(self, parity: i32) -> Spin {
        let gamma_t = Spin::from(SpinMatrix::axis(3)).scaled(f64::from(parity).into());
        let forward = Spin::diagonal(Complex64::ONE).plus(gamma_t).scaled(0.5.into());
        let [j, k] = match self {
            Projector::Unpolarised => return forward,
            Projector::X => [1, 2],
            Projector::Y => [2, 0],
            Projector::Z => [0, 1],
        };
        let product = SpinMatrix::axis(j).times(SpinMatrix::axis(k));
        forward.times(Spin::from(product).scaled(-Complex64::I))
    }
}

/// A 4 x 4 matrix on spins: `m[row][column]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spin(pub [[Complex64; 4]; 4]);

impl Spin {
    /// The matrix z times 1.
    pub fn diagonal(z: Complex64) -> Spin {
        Spin::from_fn(|r, c| if r == c { z } else { Complex64::ZERO })
    }
    fn from_fn(entry: impl Fn(usize, usize) -> Complex64) -> Spin {
        Spin(std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c))))
    }
    /// The matrix from 32 numbers: real and imaginary parts, row by row.
    ///
    /// # Errors
    /// `InvalidArgument`: not 32 finite numbers.
    pub fn from_numbers(numbers: &[f64], argument: &str) -> Result<Spin> {
        if numbers.len() != 32 || numbers.iter().any(|x| !x.is_finite()) {
            refuse!(InvalidArgument, "{argument}", expected("32 finite numbers, a 4 x 4 matrix"));
        }
        let at = |k: usize| Complex64::new(numbers[2 * k], numbers[2 * k + 1]);
        Ok(Spin::from_fn(|r, c| at(4 * r + c)))
    }
    /// Real and imaginary parts row by row, as kernels and hosts take them.
    pub fn to_kernel(self) -> [f64; 32] {
        std::array::from_fn(|k| {
            let z = self.0[k / 8][k / 2 % 4];
            [z.re, z.im][k % 2]
        })
    }
    pub fn times(self, other: Spin) -> Spin {
        Spin::from_fn(|r, c| (0..4).map(|k| self.0[r][k] * other.0[k][c]).sum())
    }
    pub fn scaled(self, z: Complex64) -> Spin {
        Spin::from_fn(|r, c| z * self.0[r][c])
    }
    pub fn plus(self, other: Spin) -> Spin {
        Spin::from_fn(|r, c| self.0[r][c] + other.0[r][c])
    }
    pub fn transposed(self) -> Spin {
        Spin::from_fn(|r, c| self.0[c][r])
    }
    pub fn dagger(self) -> Spin {
        Spin::from_fn(|r, c| self.0[c][r].conj())
    }
    /// The matrix gamma_t M^dagger gamma_t, which stands at the source if the operator has M at the sink.
    pub fn barred(self) -> Spin {
        let t = Spin::from(SpinMatrix::axis(3));
        t.times(self.dagger()).times(t)
    }
    /// The sum over entries sum_rc self_rc other_rc.
    pub(crate) fn contracted(self, other: &[Complex64; 16]) -> Complex64 {
        (0..16).map(|k| self.0[k / 4][k % 4] * other[k]).sum()
    }
}

impl From<SpinMatrix> for Spin {
    fn from(m: SpinMatrix) -> Spin {
        Spin::from_fn(|r, c| if m.column[r] == c { m.entry(r) } else { Complex64::ZERO })
    }
}
