//! Reference Wilson, clover and twisted-mass Dirac operators, full and even-odd preconditioned (physics.md, Wilson
//! and clover).

use super::gamma::{gammas, mul_colour, mul_spin, one_plus, sigma, Basis};
use super::matrix::{
    dag, exponential, inverse, ln_det, scale as scale_matrix, zero as zero_matrix, Matrix,
};
use super::observables::field_strength;
use super::spinor::{apply_gamma5, axpy, on_parity, scale, zero};
use super::{Field, Gauge, Lattice, Spinor, C};

/// One chirality of the clover term on a site: row and column are (spin of that chirality) * 3 + colour.
pub type Block = Matrix<6>;

/// Parameters of D = D_W + c_sw clover + i mu gamma5.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    pub mass: f64,
    /// Coefficient of the planes xy, xz, yz.
    pub csw: f64,
    /// Coefficient of the planes xt, yt, zt.
    pub csw_t: f64,
    /// Whether the clover term is (4 + m) exp(csw / (4 + m) (i/4) sum sigma F) (Francis, Fritzsch, Luscher, Rago,
    /// arXiv:1911.04533, Eq. (3.5)).
    pub exponential: bool,
    /// Twisted mass mu.
    pub mu: f64,
    /// Coefficient of the hop in each direction; all one on an isotropic lattice.
    pub hop: [f64; 4],
    /// Boundary phases, of unit modulus: psi(x + L mu) = `boundary[mu]` psi(x), -1 for antiperiodic.
    pub boundary: [C; 4],
}

impl Params {
    /// Parameters of Wilson fermions of a mass, periodic in space and antiperiodic in time.
    pub fn wilson(mass: f64) -> Self {
        let boundary = [C::ONE, C::ONE, C::ONE, -C::ONE];
        Params { mass, csw: 0.0, csw_t: 0.0, exponential: false, mu: 0.0, hop: [1.0; 4], boundary }
    }

    /// Parameters of clover fermions of a mass, periodic in space and antiperiodic in time.
    pub fn clover(mass: f64, csw: f64) -> Self {
        Params { csw, csw_t: csw, ..Params::wilson(mass) }
    }

    /// The coefficient of the unit matrix in D: 4 + m when isotropic.
    pub fn diagonal(&self) -> f64 {
        self.mass + self.hop.iter().sum::<f64>()
    }

    /// The hopping parameter kappa = 1/(2m + 8) of an isotropic action.
    pub fn kappa(&self) -> f64 {
        0.5 / self.diagonal()
    }
}

/// The mass m = 1/(2 kappa) - 4 of an isotropic action.
pub fn mass_of_kappa(kappa: f64) -> f64 {
    0.5 / kappa - 4.0
}

/// Computes the hop H psi(x) = sum_mu h_mu [(1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dag
/// psi(x-mu)], boundary phases on the hops that wrap. `dagger` selects the adjoint, in which the two projectors are
/// exchanged.
pub fn hop(lat: Lattice, gauge: &Gauge, params: &Params, dagger: bool, psi: &Field) -> Field {
    let sign = if dagger { 1.0 } else { -1.0 };
    let g = gammas(Basis::DeGrandRossi);
    let mut out = zero(lat);
    for mu in 0..4 {
        let (forward_spin, backward_spin) = (one_plus(sign, &g[mu]), one_plus(-sign, &g[mu]));
        let phase = params.boundary[mu];
        assert!((phase.norm() - 1.0).abs() < 1e-14, "boundary phase {phase} is not of modulus one");
        for x in 0..lat.volume() {
            let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
            let from_up = mul_spin(&forward_spin, &mul_colour(&gauge[x * 4 + mu], &psi[up]));
            let back_link = dag(&gauge[down * 4 + mu]);
            let from_down = mul_spin(&backward_spin, &mul_colour(&back_link, &psi[down]));
            let c_up = if lat.wraps_forward(x, mu) { phase } else { C::ONE };
            let c_down = if lat.wraps_backward(x, mu) { phase.conj() } else { C::ONE };
            for s in 0..4 {
                for c in 0..3 {
                    out[x][s][c] +=
                        params.hop[mu] * (c_up * from_up[s][c] + c_down * from_down[s][c]);
                }
            }
        }
    }
    out
}

/// The clover term (i/4) sum_{mu, nu} c_mu_nu sigma_mu_nu F_mu_nu on one site, as two hermitian
/// blocks; block 0 has gamma5 = +1 (spins 0, 1), block 1 has gamma5 = -1 (spins 2, 3).
pub fn clover_blocks(lat: Lattice, gauge: &Gauge, csw: f64, csw_t: f64, x: usize) -> [Block; 2] {
    let mut blocks = [zero_matrix(); 2];
    for nu in 0..4 {
        for mu in 0..nu {
            let coefficient = if nu == 3 { csw_t } else { csw };
            if coefficient == 0.0 {
                continue;
            }
            let spin = sigma(mu, nu);
            let colour = field_strength(lat, gauge, x, mu, nu);
            // The orders (mu, nu) and (nu, mu) give the same term: the factor i/4 doubles.
            let factor = C::new(0.0, 0.5 * coefficient);
            for (chirality, block) in blocks.iter_mut().enumerate() {
                for i in 0..6 {
                    for j in 0..6 {
                        let s = spin[2 * chirality + i / 3][2 * chirality + j / 3];
                        block[i][j] += factor * s * colour[i % 3][j % 3];
                    }
                }
            }
        }
    }
    blocks
}

fn mul_blocks(blocks: &[Block; 2], psi: &Spinor) -> Spinor {
    let mut out = [[C::ZERO; 3]; 4];
    for (chirality, block) in blocks.iter().enumerate() {
        for i in 0..6 {
            for j in 0..6 {
                out[2 * chirality + i / 3][i % 3] +=
                    block[i][j] * psi[2 * chirality + j / 3][j % 3];
            }
        }
    }
    out
}

/// Multiplies a field by the blocks of each site, or by their adjoints.
pub fn site_product(blocks: &[[Block; 2]], dagger: bool, psi: &Field) -> Field {
    let site = |(b, s): (&[Block; 2], &Spinor)| match dagger {
        false => mul_blocks(b, s),
        true => mul_blocks(&[dag(&b[0]), dag(&b[1])], s),
    };
    blocks.iter().zip(psi).map(site).collect()
}

/// The Dirac operator D on a gauge field.
pub struct Dirac<'a> {
    pub lat: Lattice,
    pub gauge: &'a Gauge,
    pub params: Params,
    /// The site-diagonal part A of D = A - H/2: mass, clover and twist, two blocks per site.
    pub site: Vec<[Block; 2]>,
    /// The inverse A^-1, two blocks per site.
    pub site_inverse: Vec<[Block; 2]>,
}

impl<'a> Dirac<'a> {
    pub fn new(lat: Lattice, gauge: &'a Gauge, params: Params) -> Self {
        Self::on_thin(lat, gauge, gauge, params)
    }

    /// The operator D with hops on `gauge` and a clover term of the links `thin`.
    pub fn on_thin(lat: Lattice, gauge: &'a Gauge, thin: &Gauge, params: Params) -> Self {
        assert_eq!(gauge.len(), 4 * lat.volume(), "links do not fit the lattice");
        assert_eq!(thin.len(), 4 * lat.volume(), "links do not fit the lattice");
        let site_blocks = |x| {
            let mut blocks = clover_blocks(lat, thin, params.csw, params.csw_t, x);
            let diagonal = params.diagonal();
            for (block, twist) in blocks.iter_mut().zip([params.mu, -params.mu]) {
                if params.exponential {
                    let exponent = scale_matrix(C::new(1.0 / diagonal, 0.0), block);
                    *block = scale_matrix(C::new(diagonal, 0.0), &exponential(&exponent));
                } else {
                    (0..6).for_each(|i| block[i][i] += diagonal);
                }
                (0..6).for_each(|i| block[i][i] += C::new(0.0, twist));
            }
            blocks
        };
        let site: Vec<[Block; 2]> = (0..lat.volume()).map(site_blocks).collect();
        let site_inverse = site.iter().map(|blocks| [inverse(&blocks[0]), inverse(&blocks[1])]);
        let site_inverse = site_inverse.collect();
        Dirac { lat, gauge, params, site, site_inverse }
    }

    /// Computes H psi, or the adjoint of H applied to psi.
    pub fn hop(&self, dagger: bool, psi: &Field) -> Field {
        hop(self.lat, self.gauge, &self.params, dagger, psi)
    }

    /// Computes A psi, or A^dag psi.
    pub fn diagonal(&self, dagger: bool, psi: &Field) -> Field {
        site_product(&self.site, dagger, psi)
    }

    /// Computes A^-1 psi, or A^-dag psi.
    pub fn diagonal_inverse(&self, dagger: bool, psi: &Field) -> Field {
        site_product(&self.site_inverse, dagger, psi)
    }

    /// Computes D psi = A psi - H psi / 2.
    pub fn apply(&self, psi: &Field) -> Field {
        axpy(C::new(-0.5, 0.0), &self.hop(false, psi), &self.diagonal(false, psi))
    }

    /// Computes D^dag psi from the adjoint of each term.
    pub fn apply_dag(&self, psi: &Field) -> Field {
        axpy(C::new(-0.5, 0.0), &self.hop(true, psi), &self.diagonal(true, psi))
    }

    /// Computes the kappa-normalised M psi = 2 kappa D psi, which is psi - kappa H psi for Wilson fermions.
    pub fn apply_kappa(&self, psi: &Field) -> Field {
        scale(C::new(2.0 * self.params.kappa(), 0.0), &self.apply(psi))
    }

    /// The sum over the sites of one parity of ln det A.
    pub fn ln_det_diagonal(&self, parity: usize) -> C {
        let sites = self.lat.sites_of_parity(parity);
        sites.iter().flat_map(|&x| &self.site[x]).map(ln_det).sum()
    }

    /// Computes H psi on the sites of one parity from psi on the other.
    pub fn hop_to(&self, parity: usize, dagger: bool, psi: &Field) -> Field {
        on_parity(self.lat, parity, &self.hop(dagger, &on_parity(self.lat, 1 - parity, psi)))
    }

    /// Applies the preconditioned operator on one parity; fields have all sites, zero on the other parity. Symmetric:
    /// 1 - A_pp^-1 D_pq A_qq^-1 D_qp; asymmetric: A_pp - D_pq A_qq^-1 D_qp, with D_pq = -H_pq / 2. The symmetric form
    /// is the same in kappa normalisation, the asymmetric one is then 2 kappa times this.
    pub fn apply_eo(&self, pc: Preconditioned, dagger: bool, psi: &Field) -> Field {
        let Preconditioned { parity, symmetric } = pc;
        let psi = on_parity(self.lat, parity, psi);
        let hops = |v: &Field| {
            let other = self.diagonal_inverse(dagger, &self.hop_to(1 - parity, dagger, v));
            scale(C::new(0.25, 0.0), &self.hop_to(parity, dagger, &other))
        };
        match (symmetric, dagger) {
            (true, false) => axpy(-C::ONE, &self.diagonal_inverse(false, &hops(&psi)), &psi),
            (true, true) => axpy(-C::ONE, &hops(&self.diagonal_inverse(true, &psi)), &psi),
            (false, _) => axpy(-C::ONE, &hops(&psi), &self.diagonal(dagger, &psi)),
        }
    }

    /// The right-hand side of the preconditioned system for D x = b.
    pub fn prepare(&self, pc: Preconditioned, b: &Field) -> Field {
        // The source of the system on parity p: b_p - D_pq A_qq^-1 b_q
        let hopped = self.hop_to(pc.parity, false, &self.diagonal_inverse(false, b));
        let source = axpy(C::new(0.5, 0.0), &hopped, &on_parity(self.lat, pc.parity, b));
        match pc.symmetric {
            true => self.diagonal_inverse(false, &source),
            false => source,
        }
    }

    /// The full solution of D x = b from the solution on one parity.
    pub fn reconstruct(&self, pc: Preconditioned, solved: &Field, b: &Field) -> Field {
        // The solution on the other parity q: x_q = A_qq^-1 (b_q - D_qp x_p)
        let other = 1 - pc.parity;
        let hopped = self.hop_to(other, false, solved);
        let source = axpy(C::new(0.5, 0.0), &hopped, &on_parity(self.lat, other, b));
        let rest = self.diagonal_inverse(false, &source);
        axpy(C::ONE, &rest, &on_parity(self.lat, pc.parity, solved))
    }
}

/// The parity and the form of an even-odd preconditioned operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preconditioned {
    /// The parity on which the system is solved: 0 even, 1 odd.
    pub parity: usize,
    /// Whether the form is the symmetric one, or else the asymmetric one.
    pub symmetric: bool,
}

/// Computes gamma5 D gamma5 psi, which is D^dag psi if D is gamma5-hermitian.
pub fn gamma5_conjugate(apply: impl Fn(&Field) -> Field, psi: &Field) -> Field {
    apply_gamma5(&apply(&apply_gamma5(psi)))
}
