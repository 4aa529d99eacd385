//! Gamma matrices in the four bases that the library's interface offers, and the rotations between them. All are
//! hermitian with {gamma_mu, gamma_nu} = 2 delta_mu_nu and gamma5 = gamma_x gamma_y gamma_z gamma_t.

use super::matrix::{apply, dag, mul, one, product, scale, sub, Matrix};
use super::{Spinor, C};

pub type Gamma = Matrix<4>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The basis of QDP++, Chroma and MILC, and of this reference.
    DeGrandRossi,
    /// QUDA's UKQCD basis: gamma_t diagonal, non-relativistic.
    Ukqcd,
    /// The chiral basis of openQCD: gamma_t is -1 off the diagonal. openQCD multiplies gamma5 with t first, so that
    /// its gamma5 is minus the one used here.
    Chiral,
    /// The Dirac-Pauli basis: gamma_t diagonal, the spatial matrices opposite in sign to UKQCD.
    DiracPauli,
}

impl Basis {
    pub const ALL: [Basis; 4] =
        [Basis::DeGrandRossi, Basis::Ukqcd, Basis::Chiral, Basis::DiracPauli];
}

const O: C = C::ZERO;
const P: C = C::ONE;
const M: C = C::new(-1.0, 0.0);
const I: C = C::I;
const J: C = C::new(0.0, -1.0);

/// The matrices i times sigma_1, sigma_2, sigma_3 of Pauli.
const I_SIGMA: [Matrix<2>; 3] = [[[O, I], [I, O]], [[O, P], [M, O]], [[I, O], [O, J]]];

/// The 4x4 matrix ((aA, bB), (cC, dD)) of 2x2 blocks, all blocks multiples of one matrix.
fn blocks(coefficients: [[C; 2]; 2], block: &Matrix<2>) -> Gamma {
    let entry = |i: usize, j: usize| coefficients[i / 2][j / 2] * block[i % 2][j % 2];
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// The matrices gamma_x, gamma_y, gamma_z, gamma_t.
pub fn gammas(basis: Basis) -> [Gamma; 4] {
    let unit = one::<2>();
    let spatial = |sign: [C; 3]| -> [Gamma; 3] {
        std::array::from_fn(|k| blocks([[O, sign[k]], [-sign[k], O]], &I_SIGMA[k]))
    };
    let ([x, y, z], t) = match basis {
        Basis::DeGrandRossi => {
            return [
                [[O, O, O, I], [O, O, I, O], [O, J, O, O], [J, O, O, O]],
                [[O, O, O, M], [O, O, P, O], [O, P, O, O], [M, O, O, O]],
                [[O, O, I, O], [O, O, O, J], [J, O, O, O], [O, I, O, O]],
                [[O, O, P, O], [O, O, O, P], [P, O, O, O], [O, P, O, O]],
            ];
        }
        Basis::Ukqcd => (spatial([P, P, P]), blocks([[P, O], [O, M]], &unit)),
        Basis::Chiral => (spatial([M, M, M]), blocks([[O, M], [M, O]], &unit)),
        Basis::DiracPauli => (spatial([M, M, M]), blocks([[P, O], [O, M]], &unit)),
    };
    [x, y, z, t]
}

pub fn gamma5(basis: Basis) -> Gamma {
    let [x, y, z, t] = gammas(basis);
    product(&[&x, &y, &z, &t])
}

/// The matrix sigma_mu_nu = (i/2) [gamma_mu, gamma_nu] in the DeGrand-Rossi basis.
pub fn sigma(mu: usize, nu: usize) -> Gamma {
    let g = gammas(Basis::DeGrandRossi);
    scale(C::new(0.0, 0.5), &sub(&mul(&g[mu], &g[nu]), &mul(&g[nu], &g[mu])))
}

/// The unitary T with psi_DeGrandRossi = T psi_basis and gamma_DeGrandRossi = T gamma_basis
/// T^dag. The phase of T is the one that QUDA's interface uses (QudaGammaBasis, docs/layouts.md).
pub fn to_degrand_rossi(basis: Basis) -> Gamma {
    let r = C::new(std::f64::consts::FRAC_1_SQRT_2, 0.0);
    match basis {
        Basis::DeGrandRossi => one(),
        Basis::Ukqcd => blocks([[-r, -r], [-r, r]], &I_SIGMA[1]),
        Basis::Chiral => blocks([[O, M], [P, O]], &I_SIGMA[1]),
        Basis::DiracPauli => blocks([[r, -r], [r, r]], &I_SIGMA[1]),
    }
}

/// The rotation R between two bases: psi_to = R psi_from.
pub fn rotation(from: Basis, to: Basis) -> Gamma {
    mul(&dag(&to_degrand_rossi(to)), &to_degrand_rossi(from))
}

/// Multiplies a spinor by a spin matrix; zeros are skipped because a gamma has one nonzero entry in a row.
#[inline]
pub fn mul_spin(gamma: &Gamma, psi: &Spinor) -> Spinor {
    let mut out = [[O; 3]; 4];
    for i in 0..4 {
        for j in (0..4).filter(|&j| gamma[i][j] != O) {
            for c in 0..3 {
                out[i][c] += gamma[i][j] * psi[j][c];
            }
        }
    }
    out
}

/// Multiplies every spin component by a colour matrix.
#[inline]
pub fn mul_colour(u: &Matrix<3>, psi: &Spinor) -> Spinor {
    psi.map(|colour| apply(u, &colour))
}

/// The matrix 1 + sign gamma.
pub fn one_plus(sign: f64, gamma: &Gamma) -> Gamma {
    let mut out = one();
    for i in 0..4 {
        for j in 0..4 {
            out[i][j] += sign * gamma[i][j];
        }
    }
    out
}

/// The charge conjugation matrix C = gamma_y gamma_t: C gamma_mu C^-1 = -gamma_mu^T.
pub fn charge_conjugation() -> Gamma {
    let g = gammas(Basis::DeGrandRossi);
    mul(&g[1], &g[3])
}
