//! Dense spin matrices, row by row, in the DeGrand-Rossi basis.

use num_complex::Complex64;

use crate::error::Result;
use crate::ops::gamma::SpinMatrix;
use crate::refuse;

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
    /// The matrix in the form that kernels take.
    pub(crate) fn to_kernel(self) -> [f64; 32] {
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
