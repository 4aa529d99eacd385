//! Reweighting factors of quark determinants by noise: of twisted masses (Luescher, Palombi, PoS LATTICE2008 (2008)
//! 049) and of rational approximations (Luescher, Schaefer, Comput. Phys. Commun. 184 (2013) 519).
//!
//! For normal eta and a positive B the mean of exp(-(eta, (B - 1) eta)) is 1 / det B. With X = M^dagger M
//!   twisted mass, first kind:  1 / B = (X + mu1^2) / (X + mu2^2),
//!   second kind:               1 / B = [(X + mu1^2) / (X + mu2^2)]^2 (X + 2 mu2^2) / (X + 2 mu1^2),
//!   rational r about x^(-1/2 n): 1 / B = (1 + Z)^(1/2), Z = X r(X)^(2 n) - 1,
//! where the poles of r with the least shifts may be solved for by multigrid and the others in one Krylov space.
//! The products of the first two over 0 < mu_1 < mu_2 < ... are det X / (X + mu^2) and det X (X + 2 mu^2) / (X +
//! mu^2)^2 with the last mu; they fluctuate less than an estimate of the whole as one factor.

use std::sync::Arc;
use std::time::Instant;

use crate::bail;
use crate::compose::{DiracSolver, Equations, Normalisation, Solution, SolveParams};
use crate::error::{significant, Result};
use crate::fields::{blas, Noise, SpinorField};
use crate::linop::{LinOp, Schur, System};
use crate::operators::Wilson;
use crate::ops::source::noise_seed_row;
use crate::params::{choices, parameters, reports};
use crate::refuse;
use crate::solvers::{Monitor, Rational, SolverKind, SolverReport};

choices! {
    /// Reweighting factors, with X = M^dagger M of the quark's operator M.
    pub enum ReweightingKind: plaq_reweighting_kind {
        /// det X / (X + mu^2): openQCD's RWTM1, and RWTM1_EO of an asymmetric system.
        TwistedMass1 = 0, PLAQ_REWEIGHTING_TWISTED_MASS_1, "twisted-mass-1";
        /// det X (X + 2 mu^2) / (X + mu^2)^2: openQCD's RWTM2, and RWTM2_EO of an asymmetric system.
        TwistedMass2 = 1, PLAQ_REWEIGHTING_TWISTED_MASS_2, "twisted-mass-2";
        /// det X^(1/2) r(X)^n of a rational function r about x^(-1/2 n): openQCD's RWRAT.
        Rational = 2, PLAQ_REWEIGHTING_RATIONAL, "rational";
    }
}

parameters! {
    /// Parameters of reweighting factors and of the noise that estimates them.
    pub composed struct ReweightingParams: plaq_reweighting_params {
        /// Kind of the factor.
        kind: ReweightingKind = ReweightingKind::TwistedMass1;
        /// Full lattice, or parity and form of the Schur complement, whose operator is M. Twisted masses:
        /// PLAQ_SYSTEM_FULL, or an asymmetric system with the twisted mass on its own parity only. Rational
        /// functions: the system of the chain, which is PLAQ_SYSTEM_EVEN_SYMMETRIC by default in plaq, and
        /// PLAQ_SYSTEM_EVEN_ASYMMETRIC in openQCD.
        system: System = System::Full;
        /// Number of noise vectors for each factor.
        vectors: usize = 1, within(1, 1 << 20);
        /// Number of the first noise vector: others make independent estimates.
        first: usize = 0, within(0, 1 << 20);
        with noise_seed_row;
        /// Lower end of the interval of the rational function, as in the chain: for M^dagger M in the solver's
        /// normalisation. openQCD gives the ends for |D|; their squares belong here. 0: not given.
        low: f64 = 0.0;
        /// Upper end of the interval of the rational function.
        high: f64 = 0.0;
        /// Number of poles of the rational function; 0: as few as reach `error`.
        poles: usize = 0, within(0, 40);
        /// Number n of pseudofermion fields of the chain, each of which represents the n-th root of the determinant.
        fields: usize = 1, within(1, 64);
        /// Relative error of the rational function, if `poles` is 0; in the chain it is error_hamiltonian.
        error: f64 = 1e-12, above(0.0, 1.0);
        /// Number of the least shifts of the rational function that multigrid solves, where the solver has it; the
        /// others take CG together. openQCD divides the poles into parts of np poles with a solver each: the sum of
        /// np over those with DFL_SAP_GCR.
        shifts: u64 = 3, within(0, 40);
    }
}

/// Estimates of one factor: for each noise vector minus the logarithm of the estimate, and the vector's square norm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor {
    pub minus_ln: Vec<f64>,
    pub norm2: Vec<f64>,
}

/// The average over noise vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// Logarithm of the average.
    pub ln: f64,
    /// Relative error of the average; infinite if there is only one noise vector.
    pub error: f64,
}

impl Factor {
    /// The average of exp(-minus_ln) over noise vectors.
    pub fn average(&self) -> Average {
        let least = self.minus_ln.iter().copied().fold(f64::INFINITY, f64::min);
        let n = self.minus_ln.len() as f64;
        let all = || self.minus_ln.iter().map(|s| (least - s).exp());
        let mean = all().sum::<f64>() / n;
        let variance = all().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = if n > 1.0 { (variance / n).sqrt() / mean } else { f64::INFINITY };
        Average { ln: mean.ln() - least, error }
    }
}

reports! {
    /// Report of a reweighting: the product over factors of their averages over noise vectors.
    pub struct ReweightingReport: plaq_reweighting_report {
        /// Logarithm of the product.
        ln: f64;
        /// Relative error of the product, from the scatter over noise vectors; infinite for a single vector.
        error: f64;
        /// Number of iterations of all solves.
        iterations: u64;
        /// Seconds that the estimates took.
        seconds: f64;
    }
}

/// Factors whose product is the reweighting factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Reweighting {
    pub factors: Vec<Factor>,
    pub iterations: usize,
    pub seconds: f64,
}

impl Reweighting {
    /// The product of the averages of all factors, whose noises are independent.
    pub fn product(&self) -> Average {
        let all: Vec<Average> = self.factors.iter().map(Factor::average).collect();
        Average {
            ln: all.iter().map(|one| one.ln).sum(),
            error: all.iter().map(|one| one.error.powi(2)).sum::<f64>().sqrt(),
        }
    }

    pub fn report(&self) -> ReweightingReport {
        let Average { ln, error } = self.product();
        let (iterations, seconds) = (self.iterations as u64, self.seconds);
        ReweightingReport { ln, error, iterations, seconds }
    }
}

/// Number of noise vectors that are solved for together.
const NOISE_BLOCK: usize = 4;
/// Number of bits for the number of a noise vector within its factor.
const VECTORS: u32 = 24;
/// Largest number of factors in one call.
const FACTORS: usize = 256;
/// Size of the term of the series of (1 + Z)^(-1/2) at which it ends.
const LAST_TERM: f64 = 1e-10;
/// Largest number of terms of this series.
const TERMS: usize = 24;

/// The estimator of a factor from noise.
pub enum Estimator {
    Twisted(Box<Twisted>),
    Rational(Box<RationalSolve>),
}

/// Solvers of (Q + i mu) x = b, Q = gamma5 M, for a factor of twisted masses.
pub struct Twisted {
    /// The squares mu1^2 and mu2^2 of the two twisted masses.
    squares: [f64; 2],
    lower: DiracSolver,
    /// Solver with the twisted mass sqrt(2) mu2, for the second kind.
    upper: Option<DiracSolver>,
}

/// A rational function, with the solver for its poles.
pub struct RationalSolve {
    rational: Rational,
    fields: usize,
    solver: DiracSolver,
    /// Number of poles, those with the least shifts, that are solved for by multigrid; 0 without multigrid.
    least: usize,
    op: Arc<dyn LinOp>,
    /// Ratio of M^dagger M in the chain's normalisation to that of `op`.
    factor: f64,
}

/// Returns the number of iterations, or an error if the solve did not converge.
fn check(report: &SolverReport) -> Result<usize> {
    if report.converged {
        return Ok(report.iterations);
    }
    let worst = report.residual.iter().fold(0.0f64, |m, r| m.max(*r));
    let ended = if report.stopped { "stopped" } else { "not converged" };
    bail!(
        NotConverged,
        "reweighting: a solve is {ended}: residual {} after {} iterations",
        significant(worst, 3),
        report.iterations
    );
}

impl Twisted {
    fn new(of: &DiracSolver, params: &ReweightingParams, [mu1, mu2]: [f64; 2]) -> Result<Twisted> {
        let Some(wilson) = of.op().as_any().downcast_ref::<Wilson>() else {
            refuse!(Unsupported, "solver", expected("a Wilson operator for a twisted mass"));
        };
        let own = wilson.params().mu;
        let form = params.system.schur();
        let solver = |mu: f64| -> Result<DiracSolver> {
            let op = match form {
                None => wilson.with_twists(own.hypot(mu), 0.0)?,
                Some(_) => wilson.with_twists(0.0, mu)?,
            };
            let asked = of.params();
            let solution = if form.is_some() { Solution::MatPc } else { Solution::Mat };
            let even_odd = form.or(asked.even_odd);
            let mut solve = SolveParams {
                solution,
                even_odd,
                normalisation: Normalisation::Mass,
                ..asked.clone()
            };
            solve.solver.initial_guess = false;
            DiracSolver::new(Arc::new(op), solve)?.with_multigrid(of.multigrid())
        };
        let upper = match params.kind {
            ReweightingKind::TwistedMass2 => Some(solver(mu2 * 2f64.sqrt())?),
            _ => None,
        };
        Ok(Twisted { squares: [mu1 * mu1, mu2 * mu2], lower: solver(mu1)?, upper })
    }

    /// Minus the logarithm of the estimates from these noise vectors, and the number of iterations.
    fn estimate(&self, eta: &SpinorField, watch: &mut Monitor) -> Result<(Vec<f64>, usize)> {
        let mut iterations = 0;
        let mut solve = |by: &DiracSolver, b: &SpinorField| -> Result<SpinorField> {
            let (mut turned, mut x) = (b.like(b.precision())?, b.like(b.precision())?);
            by.op().gamma5(&mut turned, b)?;
            iterations += check(&by.solve(&mut x, &turned, watch)?.solver)?;
            Ok(x)
        };
        let [low, high] = self.squares;
        let first = solve(&self.lower, eta)?;
        let Some(upper) = &self.upper else {
            let norms = blas::norm2(&first)?;
            return Ok((norms.iter().map(|n| (high - low) * n).collect(), iterations));
        };
        // B - 1 = (high - low) / (2 high - low) [2 high^2 / ((X + low) (X + 2 high)) + low (high - low) / (X + low)^2]
        let both = blas::norm2(&solve(upper, &first)?)?;
        let twice = match low > 0.0 {
            true => blas::norm2(&solve(&self.lower, &first)?)?,
            false => vec![0.0; both.len()],
        };
        let front = (high - low) / (2.0 * high - low);
        let pairs = both.iter().zip(&twice);
        let found =
            pairs.map(|(a, b)| front * (2.0 * high * high * a + low * (high - low) * b)).collect();
        Ok((found, iterations))
    }
}

impl RationalSolve {
    fn new(of: &DiracSolver, params: &ReweightingParams) -> Result<RationalSolve> {
        let ReweightingParams { low, high, poles, error, fields, shifts, .. } = *params;
        let power = -0.5 / fields as f64;
        let rational = match poles {
            0 => Rational::new(power, low, high, error)?,
            poles => Rational::with_poles(power, low, high, poles)?,
        };
        let (asked, even_odd) = (of.params(), params.system.schur());
        let solution = match even_odd {
            Some(_) => Solution::MatPcDagMatPc,
            None => Solution::MatDagMat,
        };
        let equations = Equations::Direct;
        let mut solve = SolveParams {
            solution,
            even_odd,
            equations,
            automatic: None,
            precondition_steps: 0,
            ..asked.clone()
        };
        solve.solver.initial_guess = false;
        // A hierarchy that belongs to a solver chosen automatically is not used.
        let multigrid = of.multigrid().filter(|_| asked.automatic.is_none());
        let least = if multigrid.is_some() { shifts as usize } else { 0 };
        if multigrid.is_none() {
            solve.solver.kind = SolverKind::Cg;
        }
        let action = of.op().clone();
        let op: Arc<dyn LinOp> = match even_odd {
            Some(form) => action.clone().schur(form)?,
            None => action.clone(),
        };
        let symmetric = even_odd.is_some_and(|form| form.symmetric);
        let factor = match (asked.normalisation, symmetric) {
            (Normalisation::Mass, false) => action.mass_scale().powi(-2),
            _ => 1.0,
        };
        let solver = DiracSolver::new(action, solve)?.with_multigrid(multigrid)?;
        Ok(RationalSolve { rational, fields, solver, least, op, factor })
    }

    /// Replaces v by r(X) v, with the rational function r; returns the number of iterations.
    fn apply(&self, v: &mut SpinorField, watch: &mut Monitor) -> Result<usize> {
        let (r, n) = (&self.rational, v.nrhs());
        let mut xs = vec![];
        for _ in &r.shifts {
            xs.push(v.like(v.precision())?);
        }
        let mut iterations = 0;
        for report in self.solver.least_shifted(self.least, &r.shifts, &mut xs, v, watch)? {
            iterations += check(&report)?;
        }
        for (x, residue) in xs.iter().zip(&r.residues) {
            blas::axpy(&blas::uniform(n, *residue), x, v)?;
        }
        blas::axpby(&blas::uniform(n, 0.0), &xs[0], &blas::uniform(n, r.constant), v)?;
        Ok(iterations)
    }

    /// Computes Z v = X r(X)^(2 n) v - v, with n pseudofermion fields; returns it with the number of iterations.
    fn z(&self, v: &SpinorField, watch: &mut Monitor) -> Result<(SpinorField, usize)> {
        let n = v.nrhs();
        let (mut w, mut t) = (v.like(v.precision())?, v.like(v.precision())?);
        blas::copy(&mut w, v)?;
        let mut iterations = 0;
        for _ in 0..2 * self.fields {
            iterations += self.apply(&mut w, watch)?;
        }
        self.op.apply(&mut t, &w)?;
        self.op.apply_dagger(&mut w, &t)?;
        blas::axpby(&blas::uniform(n, -1.0), v, &blas::uniform(n, self.factor), &mut w)?;
        Ok((w, iterations))
    }

    /// Minus the logarithm of the estimates from these noise vectors, the sum over k from 1 of binomial(-1/2, k) (eta,
    /// Z^k eta), and the number of iterations.
    fn estimate(&self, eta: &SpinorField, watch: &mut Monitor) -> Result<(Vec<f64>, usize)> {
        let mut found = vec![0.0; eta.nrhs()];
        let (mut now, mut iterations) = (self.z(eta, watch)?, 0);
        let mut before: Option<SpinorField> = None;
        let (mut coefficient, mut last) = (1.0, f64::INFINITY);
        for k in 1..=TERMS {
            // (eta, Z^k eta) as scalar product of Z^(k / 2) eta and Z^(k - k / 2) eta, where k / 2 is rounded down.
            let products: Vec<f64> = if k % 2 == 0 {
                blas::norm2(&now.0)?
            } else {
                if k > 1 {
                    let next = self.z(&now.0, watch)?;
                    iterations += now.1;
                    before = Some(std::mem::replace(&mut now, next).0);
                }
                let dots = blas::dot(before.as_ref().unwrap_or(eta), &now.0)?;
                dots.iter().map(|z| z.re).collect()
            };
            coefficient *= (0.5 - k as f64) / k as f64;
            let terms: Vec<f64> = products.iter().map(|p| coefficient * p).collect();
            found.iter_mut().zip(&terms).for_each(|(sum, term)| *sum += term);
            // Only terms of even k decide where the series ends: those of odd k may be small by chance.
            if k % 2 == 1 {
                continue;
            }
            let largest = terms.iter().fold(0.0f64, |m, t| m.max(t.abs()));
            if largest <= LAST_TERM {
                return Ok((found, iterations + now.1));
            }
            // NaN ends the series, too.
            if largest.is_nan() || largest >= last {
                break;
            }
            last = largest;
        }
        bail!(
            SpectralBounds,
            "low, high: the rational function is no approximation of the spectrum on [{}, {}]: the series of (1 + \
             Z)^(-1/2) does not converge, a last term is {}",
            self.rational.low,
            self.rational.high,
            significant(last, 3)
        );
    }
}

impl Estimator {
    /// Minus the logarithm of the estimates from noise vectors, and the number of iterations. Vectors are defined on
    /// the sites of the system and are zero where quarks vanish.
    ///
    /// # Errors
    /// `NotConverged`: a solve; `SpectralBounds`: a spectrum outside of the interval; errors of [`DiracSolver::solve`].
    pub fn estimate(&self, eta: &SpinorField, watch: &mut Monitor) -> Result<(Vec<f64>, usize)> {
        match self {
            Estimator::Twisted(twisted) => twisted.estimate(eta, watch),
            Estimator::Rational(rational) => rational.estimate(eta, watch),
        }
    }
    fn solver(&self) -> &DiracSolver {
        match self {
            Estimator::Twisted(twisted) => &twisted.lower,
            Estimator::Rational(rational) => &rational.solver,
        }
    }
}

/// Refuses twisted masses that are not in ascending order, and systems that do not support them.
fn check_twisted(of: &DiracSolver, params: &ReweightingParams, mu: &[f64]) -> Result<()> {
    let ascending = mu.windows(2).all(|pair| pair[0] < pair[1]);
    let positive = mu.iter().all(|mu| *mu > 0.0 && mu.is_finite());
    if mu.is_empty() || mu.len() > FACTORS || !ascending || !positive {
        refuse!(
            InvalidArgument,
            "mu",
            expected("1 to {FACTORS} twisted masses, 0 < mu_1 < mu_2 < ..."),
            found("{mu:?}")
        );
    }
    let schur = params.system.schur();
    if schur.is_some_and(|form: Schur| form.symmetric) {
        refuse!(
            Unsupported,
            "params.system",
            expected(
                "the full or an asymmetric system, as a twisted mass is added to no symmetric one"
            ),
            found("{}", params.system)
        );
    }
    let own = of.op().as_any().downcast_ref::<Wilson>().map_or(0.0, |op| op.params().mu);
    if schur.is_some() && own != 0.0 {
        refuse!(
            Unsupported,
            "params.system",
            expected("the full system, as the operator has mu {own}"),
            found("{}", params.system)
        );
    }
    Ok(())
}

/// Makes the estimators of all factors: one for each twisted mass or, with `mu` empty, that of a rational function.
/// Their solvers have the settings and the multigrid of `of`; poles that multigrid does not solve take CG.
///
/// # Errors
/// `InvalidArgument`, `BadParameter`, `Unsupported`: masses, parameters or a system that are not allowed; errors of
/// [`DiracSolver::new`].
pub fn estimators(
    of: &DiracSolver,
    params: &ReweightingParams,
    mu: &[f64],
) -> Result<Vec<Estimator>> {
    if of.params().distance.is_some() {
        refuse!(Unsupported, "solver", expected("one with distance_alpha 0"));
    }
    if params.kind == ReweightingKind::Rational {
        if !mu.is_empty() {
            refuse!(InvalidArgument, "mu", expected("none for {}", params.kind), found("{mu:?}"));
        }
        return Ok(vec![Estimator::Rational(Box::new(RationalSolve::new(of, params)?))]);
    }
    check_twisted(of, params, mu)?;
    let lower = [0.0].into_iter().chain(mu.iter().copied());
    let pairs = lower.zip(mu).map(|(low, &high)| [low, high]);
    pairs.map(|pair| Ok(Estimator::Twisted(Box::new(Twisted::new(of, params, pair)?)))).collect()
}

/// Estimates all factors with normal noise, a few vectors at a time. The same seed and numbers of vectors give the
/// same estimates. All ranks call it.
///
/// # Errors
/// Errors of [`estimators`] and [`Estimator::estimate`].
pub fn reweighting(
    of: &DiracSolver,
    params: &ReweightingParams,
    mu: &[f64],
    watch: &mut Monitor,
) -> Result<Reweighting> {
    let since = Instant::now();
    let mut iterations = 0;
    let mut factors = vec![];
    for (k, estimator) in estimators(of, params, mu)?.iter().enumerate() {
        let solver = estimator.solver();
        let shape = solver.op().subset_shape(solver.subset());
        let mut factor = Factor::default();
        while factor.minus_ln.len() < params.vectors {
            let done = factor.minus_ln.len();
            let mut eta = shape.field(NOISE_BLOCK.min(params.vectors - done))?;
            let number = ((k as u32) << VECTORS) + (params.first + done) as u32;
            eta.set_noise(Noise::Normal, params.seed, number)?;
            factor.norm2.extend(blas::norm2(&eta)?);
            let (found, steps) = estimator.estimate(&eta, watch)?;
            factor.minus_ln.extend(found);
            iterations += steps;
        }
        log::info!("reweighting: factor {k}: {:?}", factor.average());
        factors.push(factor);
    }
    Ok(Reweighting { factors, iterations, seconds: since.elapsed().as_secs_f64() })
}
