//! sign(Q) of the hermitian kernel (Walk, section 2.8): exact for low modes, for the other modes by a polynomial in Q^2
//! or by Zolotarev's sum of poles of Q^2 (van den Eshof et al., hep-lat/0202025).
//!   sign(Q) = P_+ - P_- + (1 - P_+ - P_-) X P(X^2) (1 - P_+ - P_-),  X = Q / top

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

use num_complex::Complex64;

use super::approximation::{Polynomial, Rational};
use super::Modes;
use crate::backend::Device;
use crate::bail;
use crate::error::{significant, within, Result, Status};
use crate::fields::{blas, Noise, Precision, Recon, SpinorField};
use crate::linop::{LinOp, Shape, Workspace};
use crate::operators::{chiral_sum, one_and_gamma5, HermitianWilson, HopSum, KernelSquare};
use crate::params::{choices, Key};
use crate::refuse;
use crate::solvers::{rational_sum, RationalParams};

choices! {
    /// Approximations of sign(Q) on the part of the spectrum that is not projected.
    pub enum Method: plaq_overlap_sign {
        /// The minimax polynomial, by Clenshaw's recurrence.
        Polynomial = 0, PLAQ_OVERLAP_POLYNOMIAL, "polynomial";
        /// Zolotarev's rational function, by multi-shift CG. In 16 bits, where CG cannot reach the accuracy, the
        /// polynomial is used instead.
        Zolotarev = 1, PLAQ_OVERLAP_ZOLOTAREV, "zolotarev";
        /// The polynomial or Zolotarev's function, whichever takes less time on this device in double precision.
        Auto = 2, PLAQ_OVERLAP_AUTO, "auto";
    }
}

/// Parameters of the approximation.
#[derive(Clone, Debug, PartialEq)]
pub struct SignParams {
    /// Largest error of the approximation on the part of the spectrum that is not projected.
    pub delta: f64,
    pub method: Method,
    pub max_degree: usize,
    /// The least and the largest modulus of the eigenvalues that are not projected; None: as found with the modes.
    pub interval: Option<[f64; 2]>,
    /// Zolotarev's function: build the Krylov space twice instead of keeping a vector for each pole.
    pub two_passes: bool,
    pub max_iterations: usize,
}

impl Default for SignParams {
    fn default() -> Self {
        SignParams {
            delta: 1e-8,
            method: Method::Polynomial,
            max_degree: 5000,
            interval: None,
            two_passes: false,
            max_iterations: 20_000,
        }
    }
}

impl SignParams {
    /// Refuses parameters that are not allowed, before modes are searched for.
    pub fn check(&self) -> Result<()> {
        if !(self.delta >= 1e-14 && self.delta < 1.0) {
            refuse!(BadParameter, "delta", expected("1e-14 to 1"), found("{}", self.delta));
        }
        within("max_degree", self.max_degree, 1, MAX_DEGREE)
    }
}

/// sign(Q) as an operator: exact on the projected modes, and an approximation on the space orthogonal to them.
pub struct Sign {
    kernel: Arc<HermitianWilson>,
    modes: Arc<Modes>,
    params: SignParams,
    /// Polynomials from the coarsest to the finest, whose error is the delta asked for. Empty for Zolotarev's
    /// function.
    polynomials: Vec<Polynomial>,
    rational: Option<Rational>,
    top: f64,
    /// The errors kappa_+ and kappa_- of the projectors for this interval, see [`Modes::kappa`].
    kappa: [f64; 2],
    /// Error delta of the approximation in use, as the bits of a double.
    accuracy: AtomicU64,
    /// Number of multiplications of a vector with Q so far.
    work: AtomicU64,
    /// Largest number of right-hand sides for which the kernels of an application have been compiled.
    rehearsed: AtomicUsize,
    workspace: Workspace,
    high_workspace: Workspace,
}

/// Highest degree that may be asked for: the time to make a polynomial grows with the square of its degree.
const MAX_DEGREE: usize = 20_000;
/// The largest error to which a solve relaxes the approximation.
const COARSEST: f64 = 1e-2;
/// Ratio of consecutive errors when a solve relaxes the approximation.
const STEP: f64 = 0.1;
/// Residuals of a mode at zero above this fraction of the largest eigenvalue mean that the modes are too inexact, not
/// that the kernel has an eigenvalue near zero.
const INEXACT_MODE: f64 = 1e-5;
/// The argument of the approximation is multiplied by this, as the upper end of the spectrum is only known
/// approximately.
const ARGUMENT_SCALE: f64 = 0.999;

impl Sign {
    /// The rounding error of vectors in a precision, below which a smaller error of the approximation is useless.
    pub fn least_delta(precision: Precision) -> f64 {
        match precision {
            Precision::F64 => 1e-14,
            Precision::F32 => 3e-7,
            Precision::F16 => 1e-3,
        }
    }

    /// # Errors
    /// `KernelSpectrum`: a mode at zero, an interval that does not hold the spectrum, modes too
    /// inexact or too few for the delta asked for: the message says what to change. `BadParameter`.
    pub fn new(
        kernel: Arc<HermitianWilson>,
        modes: Arc<Modes>,
        mut params: SignParams,
    ) -> Result<Self> {
        params.check()?;
        if kernel.shape().precision == Precision::F16 {
            params.method = Method::Polynomial;
        }
        let found = modes.interval();
        let all = modes.values().iter().zip(modes.residuals());
        if let Some((l, r)) = all.clone().find(|(l, r)| l.abs() <= r.max(1e-12 * found[1])) {
            let (value, residue) = (significant(*l, 4), significant(*r, 2));
            if *r > INEXACT_MODE * found[1] {
                bail!(
                    KernelSpectrum,
                    "the projected mode of eigenvalue {value} has residue {residue}, and its sign is not known: \
                     the modes are too inexact, find them to a smaller tolerance"
                );
            }
            bail!(
                KernelSpectrum,
                "the kernel has an eigenvalue {value} with residue {residue}, zero to its precision: its sign \
                 is not known. Change s, smear the links or find the modes more precisely"
            );
        }
        let [low, high] = params.interval.unwrap_or([ARGUMENT_SCALE * modes.from(), found[1]]);
        if !(low > 0.0 && low < high && high.is_finite()) {
            refuse!(
                KernelSpectrum,
                "interval",
                expected("0 < low < high"),
                found("{} to {}: project more modes", significant(low, 7), significant(high, 7))
            );
        }
        if low > found[0] || high < modes.largest().value {
            bail!(
                KernelSpectrum,
                "interval: the kernel has eigenvalues of modulus {} to {} that are not \
                 projected, which {} to {} does not hold: widen it, or project more modes",
                significant(found[0], 7),
                significant(modes.largest().value, 7),
                significant(low, 7),
                significant(high, 7)
            );
        }
        let kappa = modes.kappa_from(low);
        let share = 2.0 * (kappa[0] + kappa[1]);
        let asked = params.delta.max(Self::least_delta(kernel.shape().precision));
        if share > asked.max(Self::least_delta(modes.vectors().precision())) {
            bail!(
                KernelSpectrum,
                "the low modes are too inexact: 2 (kappa_+ + kappa_-) = {} is more than delta = {}: find \
                 them to a smaller tolerance, project more or fewer of them, or allow a larger delta",
                significant(share, 3),
                significant(asked, 3)
            );
        }
        let epsilon = (low / high).powi(2);
        let mut sign = Sign {
            top: high,
            polynomials: vec![],
            rational: None,
            kappa,
            accuracy: AtomicU64::new(asked.to_bits()),
            work: AtomicU64::new(0),
            rehearsed: AtomicUsize::new(0),
            workspace: Workspace::default(),
            high_workspace: Workspace::default(),
            kernel,
            modes,
            params,
        };
        if sign.params.method != Method::Zolotarev {
            let mut delta = COARSEST;
            while delta > 1.5 * asked {
                sign.polynomials.push(sign.polynomial(delta, epsilon)?);
                delta *= STEP;
            }
            sign.polynomials.push(sign.polynomial(asked, epsilon)?);
        }
        if sign.params.method != Method::Polynomial {
            sign.rational = Some(Rational::for_delta(0.5 * asked, epsilon)?);
        }
        if sign.params.method == Method::Auto {
            sign.choose()?;
        }
        Ok(sign)
    }

    fn polynomial(&self, delta: f64, epsilon: f64) -> Result<Polynomial> {
        match Polynomial::for_delta(delta, epsilon, self.params.max_degree) {
            Err(e) if !e.hint.is_empty() => {
                let place = format!("{} modes are projected", self.modes.count());
                Err(e.with_status(Status::KernelSpectrum).at(place))
            }
            other => other,
        }
    }

    /// Measures the time of both methods and keeps the faster one.
    fn choose(&mut self) -> Result<()> {
        let shape = self.shape();
        let (mut x, mut y) = (shape.field(1)?, shape.field(1)?);
        x.set_noise(Noise::Normal, 1, 0)?;
        let rational = self.rational.take();
        let mut seconds = [0.0; 2];
        let polynomials = std::mem::take(&mut self.polynomials);
        for (k, s) in seconds.iter_mut().enumerate() {
            (self.polynomials, self.rational) = match k {
                0 => (polynomials.clone(), None),
                _ => (vec![], rational.clone()),
            };
            self.rehearsed = AtomicUsize::new(0);
            self.rehearse(1);
            *s = shape.device.time(|| self.apply(&mut y, &x))?;
        }
        let mut all = seconds;
        shape.geometry.comm().sum(&mut all)?;
        // If both times are zero, as in a rehearsal, Zolotarev's function is kept, since it takes more memory.
        if all[0] < all[1] {
            (self.polynomials, self.rational) = (polynomials, None);
        }
        self.workspace = Workspace::default();
        Ok(())
    }

    /// The same function in another precision and link storage; its error is the smallest that this precision allows,
    /// if that is larger.
    ///
    /// # Errors
    /// Errors of [`Sign::new`] in 16 bits, where a polynomial takes the place of Zolotarev's function.
    pub fn to(&self, precision: Precision, recon: Recon) -> Result<Self> {
        let kernel =
            Arc::new(HermitianWilson::new(Arc::new(self.kernel.op().to(precision, recon)?))?);
        let wide = precision.max(Precision::F32);
        let modes = if self.modes.vectors().precision() == wide {
            self.modes.clone()
        } else {
            Arc::new(self.modes.to(wide)?)
        };
        let least = Self::least_delta(precision);
        let fits = |p: &&Polynomial| self.params.delta >= least || p.delta >= least;
        let mut polynomials: Vec<Polynomial> =
            self.polynomials.iter().filter(fits).cloned().collect();
        let rational = match &self.rational {
            Some(r) if precision == Precision::F16 => {
                let delta = self.params.delta.max(least);
                polynomials.push(self.polynomial(delta, r.epsilon)?);
                None
            }
            Some(r) if r.delta < least => Some(Rational::for_delta(least, r.epsilon)?),
            other => other.clone(),
        };
        if polynomials.is_empty() {
            polynomials.extend(self.polynomials.first().cloned());
        }
        let sign = Sign { polynomials, rational, ..self.with_parts(kernel, modes) };
        sign.set_accuracy(self.accuracy().max(least));
        Ok(sign)
    }

    /// A function of the same shape on another device, with links and modes that are zero; for rehearsals.
    pub(super) fn like_on(&self, device: &Device) -> Result<Self> {
        let (kernel, modes) = (self.kernel.like_on(device)?, self.modes.like_on(device)?);
        Ok(self.with_parts(Arc::new(kernel), Arc::new(modes)))
    }
    fn with_parts(&self, kernel: Arc<HermitianWilson>, modes: Arc<Modes>) -> Self {
        Sign {
            kernel,
            modes,
            params: self.params.clone(),
            polynomials: self.polynomials.clone(),
            rational: self.rational.clone(),
            top: self.top,
            kappa: self.kappa,
            accuracy: AtomicU64::new(self.accuracy().to_bits()),
            work: AtomicU64::new(0),
            rehearsed: AtomicUsize::new(0),
            workspace: Workspace::default(),
            high_workspace: Workspace::default(),
        }
    }

    pub fn kernel(&self) -> &Arc<HermitianWilson> {
        &self.kernel
    }
    pub fn modes(&self) -> &Arc<Modes> {
        &self.modes
    }
    /// The method in use, polynomial or Zolotarev.
    pub fn method(&self) -> Method {
        match self.rational {
            None => Method::Polynomial,
            Some(_) => Method::Zolotarev,
        }
    }
    /// Degree in Q^2 of the finest polynomial, or the number of poles.
    pub fn degree(&self) -> usize {
        match (&self.rational, self.polynomials.last()) {
            (Some(r), _) => r.poles.len(),
            (None, Some(p)) => p.degree(),
            (None, None) => 0,
        }
    }
    /// Error of the finest approximation on the spectrum that is not projected.
    pub fn delta(&self) -> f64 {
        match (&self.rational, self.polynomials.last()) {
            (Some(r), _) => 2.0 * r.delta,
            (None, Some(p)) => p.delta,
            (None, None) => 1.0,
        }
    }
    /// Least and largest modulus of the eigenvalues for which the approximation holds.
    pub fn interval(&self) -> [f64; 2] {
        let epsilon = match (&self.rational, self.polynomials.last()) {
            (Some(r), _) => r.epsilon,
            (None, Some(p)) => p.epsilon,
            (None, None) => 1.0,
        };
        [epsilon.sqrt() * self.top, self.top]
    }
    /// Sets the largest error that the following applications may have; the finest approximation is used where it is
    /// larger.
    pub fn set_accuracy(&self, delta: f64) {
        self.accuracy.store(delta.to_bits(), Ordering::Relaxed);
    }
    pub fn accuracy(&self) -> f64 {
        f64::from_bits(self.accuracy.load(Ordering::Relaxed))
    }
    /// Multiplications of a vector with Q in all applications so far.
    pub fn multiplications(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }
    /// 2 (kappa_+ + kappa_-) + delta: the largest error of the operator at the accuracy in use, to first
    /// order (Walk, section 2.8).
    pub fn error_bound(&self) -> f64 {
        let delta = match (&self.rational, self.chosen()) {
            (Some(r), _) => (2.0 * r.delta).max(self.accuracy()),
            (None, p) => p.map_or(1.0, |p| p.delta),
        };
        2.0 * (self.kappa[0] + self.kappa[1]) + delta
    }

    /// The polynomial of lowest degree whose error is at most the accuracy in use.
    fn chosen(&self) -> Option<&Polynomial> {
        let wanted = 1.001 * self.accuracy();
        self.polynomials.iter().find(|p| p.delta <= wanted).or(self.polynomials.last())
    }

    /// out = X P(X^2) in = sum_k c_k T_(2k+1)(X) in by Clenshaw's recurrence,
    /// b_j = 2 X b_(j+1) - b_(j+2) + (c_k in if j = 2 k + 1), each step in one pass over the lattice: as
    /// X = gamma5 D / top, D makes gamma5 b_j of odd b_(j+1), and D^dagger b_j of gamma5 b_(j+1).
    fn clenshaw(&self, p: &Polynomial, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (shape, nrhs) = (self.shape(), inp.nrhs());
        // Three steps launch all kernels of the recurrence.
        let n = shape.device.falling(1.0, 0).limit(p.degree());
        let (c, one) = (&p.odd, 1.0 / self.top);
        let step = |to: &mut SpinorField, from: &SpinorField, j: usize, own: f64| {
            let z = (j % 2 == 1).then(|| (inp, c[j / 2]));
            let scale = if j == 0 { one } else { 2.0 * one };
            self.kernel.dirac_add(to, from, j % 2 == 1, scale, &HopSum { z, own })
        };
        {
            let d = &mut *self.workspace.field(&shape, nrhs)?;
            // `own` is the coefficient of b_(j+2), which b_j overwrites.
            chiral_sum(d, None, &[(inp, [c[n], c[n]])])?;
            let (mut here, mut other) = (d, out);
            for j in (0..=2 * n).rev() {
                step(other, here, j, if j == 2 * n { 0.0 } else { -1.0 })?;
                std::mem::swap(&mut here, &mut other);
            }
            // 2 n + 1 steps: b_0, which is the sum, is in `out`.
            chiral_sum(here, Some(one_and_gamma5(0.0, 1.0)), &[])?;
        }
        self.count((2 * n + 1) * nrhs);
        Ok(())
    }

    fn count(&self, multiplications: usize) {
        self.work.fetch_add(multiplications as u64, Ordering::Relaxed);
    }

    /// Compiles the kernels of a first application to `n` right-hand sides, in parallel.
    fn rehearse(&self, n: usize) {
        if self.rehearsed.swap(n, Ordering::Relaxed) == n {
            return;
        }
        let shape = self.shape();
        let own = (self.method(), self.params.two_passes, self.modes.count() > 0);
        let key = Key::of(("sign", self.kernel.key(), n, own));
        shape.geometry.precompile(&shape.device, None, false, key, |device| {
            let (like, shape) = (self.like_on(device)?, shape.on(device));
            like.function(&mut shape.field(n)?, &shape.field(n)?)
        });
    }

    /// Computes out = sign(Q) in.
    fn function(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        if self.modes.count() == 0 {
            return self.approximation(out, inp);
        }
        let n = inp.nrhs();
        let along = self.low(inp)?;
        {
            let t = &mut *self.workspace.field(&self.shape(), n)?;
            blas::copy(t, inp)?;
            let minus: Vec<Complex64> = along.iter().map(|z| -z).collect();
            self.add_low(&minus, t)?;
            self.approximation(out, t)?;
        }
        // Components of the modes that rounding and inexact modes brought back are subtracted, and the modes' exact
        // part is added.
        let back = self.low(out)?;
        let signs = self.modes.values().iter().map(|l| l.signum());
        let mut c = vec![];
        for (k, s) in signs.enumerate() {
            c.extend((0..n).map(|j| s * along[k * n + j] - back[k * n + j]));
        }
        self.add_low(&c, out)
    }

    /// Applies the approximation to `in`, from which the projected modes have been removed.
    fn approximation(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let (shape, n) = (self.shape(), inp.nrhs());
        if let Some(r) = &self.rational {
            let square = KernelSquare(self.kernel.clone());
            let t2 = self.top * self.top;
            let shifts: Vec<f64> = r.poles.iter().map(|p| p * t2).collect();
            let weights: Vec<f64> = r.residues.iter().map(|p| p * self.top).collect();
            // |Q (Q^2 + sigma)^-1 e| <= |e| / (2 sqrt(sigma)) for the error of each system.
            let spread: f64 =
                shifts.iter().zip(&weights).map(|(s, w)| 0.5 * w / s.sqrt()).sum::<f64>();
            let params = RationalParams {
                tol: 0.5 * self.accuracy() / spread.max(1.0),
                max_iterations: self.params.max_iterations,
                two_passes: self.params.two_passes,
            };
            let w = &mut *self.workspace.field(&shape, n)?;
            let done = rational_sum(&square, &shifts, &weights, &params, w, inp)?;
            if !done.converged {
                bail!(
                        KernelSpectrum,
                        "the systems of Zolotarev's function did not converge in {} iterations: project \
                         more low modes or allow more iterations",
                        done.iterations
                    );
            }
            self.count(2 * done.applications + n);
            return self.kernel.scaled(out, w, 1.0);
        }
        let Some(p) = self.chosen() else {
            bail!(Internal, "the sign function has no approximation");
        };
        self.clenshaw(p, out, inp)
    }

    /// Scalar products <w_k, x_j> of the projected modes with the right-hand sides of x, ordered [mode][right-hand
    /// side].
    fn low(&self, x: &SpinorField) -> Result<Vec<Complex64>> {
        let (k, n) = (self.modes.count(), x.nrhs());
        let v = self.modes.vectors();
        if x.precision() == v.precision() {
            return v.dots(0..k, x, 0..n);
        }
        let wide = Shape { precision: v.precision(), ..self.shape() };
        let t = &mut *self.high_workspace.field(&wide, n)?;
        blas::copy(t, x)?;
        v.dots(0..k, t, 0..n)
    }

    /// Adds modes to a field: x_j += sum_k w_k c_kj, with c in the order [mode][right-hand side].
    fn add_low(&self, c: &[Complex64], x: &mut SpinorField) -> Result<()> {
        let (k, n) = (self.modes.count(), x.nrhs());
        let v = self.modes.vectors();
        if x.precision() == v.precision() {
            return v.combine(0..k, c, 1.0, x, 0..n);
        }
        let wide = Shape { precision: v.precision(), ..self.shape() };
        let t = &mut *self.high_workspace.field(&wide, n)?;
        blas::copy(t, x)?;
        v.combine(0..k, c, 1.0, t, 0..n)?;
        blas::copy(x, t)
    }
}

impl LinOp for Sign {
    fn shape(&self) -> Shape {
        self.kernel.shape()
    }
    fn apply(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        inp.check_like(out, "sign")?;
        self.rehearse(inp.nrhs());
        self.function(out, inp)
    }
    fn apply_dagger(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        let degree = self.chosen().map_or(50, Polynomial::degree) as f64;
        let sites = self.shape().sites() as f64;
        (2.0 * degree + 1.0) * self.kernel.flops()
            + (degree * 144.0 + self.modes.count() as f64 * 384.0) * sites
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let degree = self.chosen().map_or(50, Polynomial::degree) as f64;
        let s = self.shape();
        let vector = SpinorField::bytes(&s.geometry, s.precision, s.subset, nrhs) as f64;
        // Every application also reads b_(j+2), every second one the input vector.
        (2.0 * degree + 1.0) * self.kernel.op().bytes(nrhs) + (3.0 * degree + 2.0) * vector
    }
    fn like_on_device(&self, device: &Device) -> Result<Arc<dyn LinOp>> {
        Ok(Arc::new(self.like_on(device)?))
    }
}
