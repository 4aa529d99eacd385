//! The monomial of one flavour, or of a doublet of two flavours, by rational approximations (Kennedy, Horvath and
//! Sint, hep-lat/9809092; Clark and Kennedy, hep-lat/0608015). With the Schur complement P of M, n fields phi_i and
//! r(x) approximating x^(-1/2 n), S = sum_i phi_i^dagger r(P^dagger P) phi_i - ln |det A|, so that the weight is |det
//! M|. The heat bath uses an approximation of x^(1/4 n); the weight has the errors of both approximations.

use std::time::Instant;

use num_complex::Complex64;

use super::{
    check_multigrid, check_operator, converged, noise_seed, Inverter, KickReport, Operator,
    Operators, DOUBLE,
};
use crate::backend::Device;
use crate::bail;
use crate::compose::multigrid::MultigridReport;
use crate::compose::{largest, smallest, DiracSolver, Schur};
use crate::error::{significant, Result};
use crate::fields::{blas, BoundaryTime, GaugeField, Momenta, Noise, SpinorField};
use crate::linop::Shape;
use crate::operators::{ActionParams, ForceWorkspace, HalfTerms};
use crate::ops::hmc::stout::Stout;
use crate::ops::hmc::{Monomial, Solves, Stream};
use crate::params::{hash_members, Key};
use crate::refuse;
use crate::solvers::{no_monitor, Rational};

/// Parameters of an action of one flavour, or of a doublet.
#[derive(Clone, Debug, PartialEq)]
pub struct OneFlavourParams {
    pub operator: ActionParams,
    pub schur: Schur,
    pub inverter: Inverter,
    /// Number n of pseudofermion fields, each of which represents the n-th root of the determinant.
    pub fields: usize,
    /// Relative error of the approximation in forces.
    pub error_force: f64,
    /// Relative error of the approximations in the heat bath and the Hamiltonian.
    pub error_hamiltonian: f64,
    /// The interval that contains the spectrum of P^dagger P. None: it is measured on the first links, extended by
    /// the factors 2/3 below and 6/5 above, and kept for the whole chain and in its checkpoints.
    pub interval: Option<(f64, f64)>,
    /// The smallest and the largest eigenvalue are measured at start and end of trajectories whose number is a
    /// multiple of this; one outside of the interval ends the trajectory with an error; 0: only once, to find the
    /// interval.
    pub check_every: u32,
}

hash_members!(OneFlavourParams {
    operator, schur, inverter, fields, check_every;
    error_force, error_hamiltonian, interval
});

impl OneFlavourParams {
    /// Default parameters: symmetric Schur complement on even sites, one field, errors 1e-7 and 1e-12, and an
    /// interval that is measured, and checked in every trajectory.
    pub fn new(operator: impl Into<ActionParams>) -> Self {
        OneFlavourParams {
            operator: operator.into(),
            schur: Schur { parity: 0, symmetric: true },
            inverter: Inverter::default(),
            fields: 1,
            error_force: 1e-7,
            error_hamiltonian: 1e-12,
            interval: None,
            check_every: 1,
        }
    }
}

/// The rational approximations of all powers of P^dagger P on an interval.
#[derive(Clone)]
struct Powers {
    force: Rational,
    hamiltonian: Rational,
    heat_bath: Rational,
}

/// The monomial of one flavour, or of a doublet.
pub struct OneFlavour {
    name: String,
    params: OneFlavourParams,
    smearing: Option<Stout>,
    kept: Operators,
    powers: Option<Powers>,
    /// The smallest and the largest eigenvalue of P^dagger P, as last measured.
    seen: Option<(f64, f64)>,
    phi: Option<SpinorField>,
    force: ForceWorkspace,
    scratch: Option<Momenta>,
    solves: Solves,
}

/// Number of Lanczos steps for the largest eigenvalue.
const LANCZOS: usize = 30;
/// Largest number of solves for the smallest eigenvalue.
const INVERSE: usize = 24;
/// Tolerance of the solves for the smallest eigenvalue.
const INVERSE_TOLERANCE: f64 = 1e-3;
/// The interval starts at this factor times the smallest eigenvalue that was measured: the spectrum changes along a
/// chain.
const BELOW: f64 = 1.0 / 1.5;
/// The interval ends at this factor times the largest eigenvalue that was measured.
const ABOVE: f64 = 1.2;
/// The interval that rehearsals assume if the spectrum was not measured yet.
const ASSUMED_SPECTRUM: (f64, f64) = (1e-5, 5.0);

impl OneFlavour {
    /// # Errors
    /// `BadParameter`: a kappa, tolerance, error or interval out of range, no field.
    pub fn new(name: &str, mut params: OneFlavourParams) -> Result<Self> {
        params.inverter.sloppy.get_or_insert(DOUBLE);
        check_operator(name, &params.operator, params.schur)?;
        params.inverter.check()?;
        check_multigrid(name, &params.inverter, params.schur)?;
        if params.fields == 0 || params.fields > 64 {
            refuse!(
                BadParameter,
                "{name}",
                expected("1 to 64 pseudofermion fields"),
                found("{}", params.fields)
            );
        }
        let mut new = OneFlavour {
            name: name.to_string(),
            params,
            smearing: None,
            kept: Operators::default(),
            powers: None,
            seen: None,
            phi: None,
            force: ForceWorkspace::default(),
            scratch: None,
            solves: Solves::default(),
        };
        if let Some((low, high)) = new.params.interval {
            new.approximate(low, high)?;
        }
        Ok(new)
    }

    /// The same monomial with operators on stout-smeared links.
    pub fn with_smearing(self, stout: Stout) -> Self {
        OneFlavour { smearing: Some(stout), kept: Operators::default(), ..self }
    }

    /// Report on multigrid's last set-up or update; None: there is no multigrid yet.
    pub fn multigrid(&self) -> Option<MultigridReport> {
        self.kept.list.first()?.multigrid.as_ref()?.report()
    }

    /// The interval of the approximations; None: not measured yet.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.powers.as_ref().map(|p| (p.hamiltonian.low, p.hamiltonian.high))
    }
    /// The smallest and the largest eigenvalue of P^dagger P, as last measured, to a few per cent and from inside of
    /// the spectrum; None: not measured yet.
    pub fn spectrum(&self) -> Option<(f64, f64)> {
        self.seen
    }
    /// Number of poles of the approximations in forces and in the Hamiltonian; None: the interval is not known yet.
    pub fn poles(&self) -> Option<(usize, usize)> {
        self.powers.as_ref().map(|p| (p.force.shifts.len(), p.hamiltonian.shifts.len()))
    }

    fn approximate(&mut self, low: f64, high: f64) -> Result<()> {
        let n = self.params.fields as f64;
        let (coarse, fine) = (self.params.error_force, self.params.error_hamiltonian);
        self.powers = Some(Powers {
            force: Rational::new(-0.5 / n, low, high, coarse)?,
            hamiltonian: Rational::new(-0.5 / n, low, high, fine)?,
            heat_bath: Rational::new(0.25 / n, low, high, fine)?,
        });
        Ok(())
    }

    /// Measures the smallest and the largest eigenvalue. If there are no rational approximations yet, makes them for an
    /// interval that contains both; otherwise fails if their interval does not contain both.
    fn measure_spectrum(&mut self, gauge: &GaugeField, seed: u64) -> Result<()> {
        let OneFlavourParams { operator, schur, inverter, .. } = &self.params;
        let op = &self.kept.on(gauge, &[*operator], *schur, (inverter, self.smearing))?.list[0];
        // The measurement always starts from noise: a chain that goes on from a checkpoint has no other vector.
        let high = largest(&*op.schur, LANCZOS, seed)?;
        let tol = INVERSE_TOLERANCE.max(inverter.tolerance_hamiltonian);
        let plain = Inverter { multigrid: None, ..inverter.clone() };
        let solver = plain.solver(op.action(), *schur, (tol, inverter.sums_hamiltonian), false)?;
        let since = Instant::now();
        let (low, iterations) = smallest(&solver, &*op.schur, INVERSE, seed)?;
        self.solves += Solves::since(since, iterations);
        self.seen = Some((low.value, high.value));
        // The interval that this measurement would give.
        let (least, greatest) =
            (BELOW * (low.value - low.distance), ABOVE * (high.value + high.distance));
        let Some((from, to)) = self.interval() else { return self.approximate(least, greatest) };
        // Both estimates lie within the spectrum: if one is outside of the interval so is an eigenvalue, whatever their
        // errors.
        if low.value >= from && high.value <= to {
            return Ok(());
        }
        bail!(
            SpectralBounds,
            "{}: the rational approximation covers {} to {}, eigenvalues of P^dagger P from {} to {} were found; \
             interval = [{}, {}] covers these and some room",
            self.name,
            significant(from, 5),
            significant(to, 5),
            significant(low.value, 5),
            significant(high.value, 5),
            significant(least.min(from), 2),
            significant(greatest.max(to), 2)
        )
    }

    /// Whether the spectrum is to be measured in the trajectory of `stream`, according to `check_every`.
    fn is_due(&self, stream: Stream) -> bool {
        let every = self.params.check_every;
        every != 0 && stream.trajectory.is_multiple_of(every)
    }

    /// Seed of the random vectors with which this trajectory's measurement starts.
    fn spectrum_seed(&self, stream: Stream) -> u64 {
        noise_seed(stream.seed, &self.name) ^ 1
    }

    /// A monomial with the same parameters that was not used yet; if the interval is not known, it has that of
    /// `ASSUMED_SPECTRUM`.
    fn like(&self) -> Result<OneFlavour> {
        let mut like = OneFlavour::new(&self.name, self.params.clone())?;
        like.smearing = self.smearing;
        match &self.powers {
            Some(powers) => like.powers = Some(powers.clone()),
            None => like.approximate(ASSUMED_SPECTRUM.0, ASSUMED_SPECTRUM.1)?,
        }
        Ok(like)
    }

    /// Compiles the kernels of a first force in parallel, by a rehearsal.
    fn rehearse_force(&self, gauge: &GaugeField) {
        let geometry = gauge.geometry();
        let fields = self.phi.as_ref().map(|phi| (Shape::of(phi), phi.nrhs()));
        let (Some((shape, n)), poles) = (fields, self.poles()) else { return };
        let key = Key::of(("force", geometry.extents(), poles, self.key()));
        geometry.precompile(gauge.device(), None, false, key, |device| {
            let mut other = self.like()?;
            other.phi = Some(shape.on(device).field(n)?);
            let mut momenta = Momenta::new(device, geometry, gauge.precision())?;
            other.kick(&gauge.like_on(device)?, &mut momenta, 1.0)
        });
    }

    fn no_fields<T>(&self) -> Result<T> {
        bail!(InvalidArgument, "{}: no pseudofermions, refresh comes first", self.name);
    }
}

/// Computes (P^dagger P + s_k)^-1 b for the shifts s_k of all poles; `number` is that of the pseudofermion field b.
/// If there is multigrid it solves for the smallest shifts; CG solves for all others together.
fn poles_of(
    (inverter, op, solver): (&Inverter, &Operator, &DiracSolver),
    shifts: &[f64],
    b: &SpinorField,
    number: usize,
) -> Result<(Vec<SpinorField>, Solves)> {
    let since = Instant::now();
    let mut source = b.like_with(b.precision(), 1)?;
    source.copy_rhs(0, b, number, 1)?;
    let mut xs = vec![];
    for _ in shifts {
        xs.push(source.like(b.precision())?);
    }
    op.follow()?;
    let least = inverter.multigrid.as_ref().map_or(0, |m| m.shifts);
    let mut iterations = 0;
    for report in solver.least_shifted(least, shifts, &mut xs, &source, &mut no_monitor)? {
        converged(&report, solver.params().solver.stop.residual)?;
        iterations += report.iterations;
    }
    Ok((xs, Solves::since(since, iterations)))
}

impl Monomial for OneFlavour {
    fn name(&self) -> &str {
        &self.name
    }

    fn check_time_boundary(&self, boundary: BoundaryTime) -> Result<()> {
        super::check_time_boundary(&self.name, [&self.params.operator].into_iter(), boundary)
    }

    /// Draws phi_i = (P^dagger P)^(1/4 n) eta_i for normal eta. Measures the spectrum first if that is due.
    ///
    /// # Errors
    /// `SpectralBounds`: the spectrum has left the interval of the approximations.
    fn refresh(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()> {
        let seed = noise_seed(stream.seed, &self.name);
        if self.powers.is_none() || self.is_due(stream) {
            self.measure_spectrum(gauge, self.spectrum_seed(stream))?;
        }
        let old = self.phi.take();
        let Some(powers) = &self.powers else { return self.no_fields() };
        let (r, n) = (&powers.heat_bath, self.params.fields);
        let OneFlavourParams { operator, schur, inverter, .. } = &self.params;
        let op = &self.kept.on(gauge, &[*operator], *schur, (inverter, self.smearing))?.list[0];
        let shape = op.schur.shape();
        let (mut eta, mut sum) = (shape.field(n)?, shape.field(1)?);
        let mut phi = match old {
            Some(phi) if phi.nrhs() == n && shape.check(&phi, "phi").is_ok() => phi,
            _ => shape.field(n)?,
        };
        eta.set_noise(Noise::Normal, seed, stream.trajectory.wrapping_mul(n as u32))?;
        for i in 0..n {
            let (xs, done) = poles_of((inverter, op, &op.hamiltonian), &r.shifts, &eta, i)?;
            self.solves += done;
            sum.copy_rhs(0, &eta, i, 1)?;
            for (x, residue) in xs.iter().zip(&r.residues) {
                blas::axpy(&[Complex64::new(*residue, 0.0)], x, &mut sum)?;
            }
            phi.copy_rhs(i, &sum, 0, 1)?;
        }
        // phi = c (eta + ...); eta is not needed any more.
        let c = blas::uniform(n, r.constant);
        blas::axpby(&blas::uniform(n, 0.0), &eta, &c, &mut phi)?;
        self.phi = Some(phi);
        Ok(())
    }

    /// # Errors
    /// `SpectralBounds`: a measurement was due, and the spectrum has left the interval since `refresh`.
    fn check(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()> {
        match self.is_due(stream) {
            true => self.measure_spectrum(gauge, self.spectrum_seed(stream)),
            false => Ok(()),
        }
    }

    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let (Some(phi), Some(powers)) = (&self.phi, &self.powers) else { return self.no_fields() };
        let OneFlavourParams { operator, schur, inverter, .. } = &self.params;
        let op = &self.kept.on(gauge, &[*operator], *schur, (inverter, self.smearing))?.list[0];
        let (r, mut s) = (&powers.hamiltonian, 0.0);
        let mut one = op.schur.shape().field(1)?;
        for i in 0..phi.nrhs() {
            let (xs, done) = poles_of((inverter, op, &op.hamiltonian), &r.shifts, phi, i)?;
            self.solves += done;
            one.copy_rhs(0, phi, i, 1)?;
            s += blas::norm2(&one)?[0];
            for (x, residue) in xs.iter().zip(&r.residues) {
                s += residue * blas::dot(&one, x)?[0].re;
            }
        }
        // log_det is ln |det A|^2, that of two flavours; one flavour has half of it.
        Ok(r.constant * s - 0.5 * op.schur.log_det()?)
    }

    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport> {
        if !gauge.device().is_cpu() {
            self.rehearse_force(gauge);
        }
        let (Some(phi), Some(powers)) = (&self.phi, &self.powers) else { return self.no_fields() };
        let OneFlavourParams { operator, schur, inverter, .. } = &self.params;
        let ops = self.kept.on(gauge, &[*operator], *schur, (inverter, self.smearing))?;
        let all = &ops.list[0];
        let Operator { schur: op, force: solver, .. } = all;
        let r = &powers.force;
        // dS = sum_k 2 Re <-c r_k P x_k, dP x_k>
        let coef: Vec<f64> = r.residues.iter().map(|v| -r.constant * v).collect();
        ops.kick((&mut self.scratch, &mut self.force), momenta, step, |force, f| {
            let mut total = Solves::default();
            let (mut x, mut y) = (op.shape().field(coef.len())?, op.shape().field(coef.len())?);
            for i in 0..phi.nrhs() {
                let (xs, done) = poles_of((inverter, all, solver), &r.shifts, phi, i)?;
                total += done;
                for (k, one) in xs.iter().enumerate() {
                    x.copy_rhs(k, one, 0, 1)?;
                }
                op.apply(&mut y, &x)?;
                op.add_force(force, f, 1.0, HalfTerms { x: &x, y: &y, px: &y, coef: &coef })?;
            }
            op.add_determinant_force(force, -0.5)?;
            Ok(total)
        })
    }

    fn pseudofermions(&mut self) -> Option<&mut Option<SpinorField>> {
        Some(&mut self.phi)
    }

    fn drawn(&self) -> Option<&SpinorField> {
        self.phi.as_ref()
    }

    fn restart(&mut self) {
        self.kept.list.iter().for_each(|op| op.restart());
    }

    fn measured(&self) -> Option<(f64, f64)> {
        self.interval().filter(|_| self.params.interval.is_none())
    }

    fn set_measured(&mut self, interval: Option<(f64, f64)>) -> Result<()> {
        match (self.params.interval, interval) {
            (Some(_), _) => Ok(()),
            (None, Some((low, high))) => self.approximate(low, high),
            (None, None) => {
                self.powers = None;
                Ok(())
            }
        }
    }

    fn solves(&mut self) -> Solves {
        std::mem::take(&mut self.solves)
    }

    fn key(&self) -> Key {
        Key::of(("rational", &self.params, self.smearing))
    }

    fn like_on(&self, _: &Device) -> Result<Option<Box<dyn Monomial>>> {
        Ok(Some(Box::new(self.like()?)))
    }

    fn knows_its_force(&self) -> bool {
        self.powers.is_some()
    }
}
