//! Overlap operators made from users' settings, the memory that making them and solving with them needs, and
//! propagators.

use std::sync::Arc;

use super::link_smearing::smear_links;
use super::overlap_settings::{OverlapSettings, OverlapShared, OverlapSolving};
use super::propagator::COLUMNS;
use super::source::Source;
use crate::bail;
use crate::compose::{
    Method, Modes, Overlap, OverlapAlgorithm, OverlapModes, OverlapSolver, Preconditioned, Sign,
    SignParams,
};
use crate::error::{Result, Status};
use crate::fields::{blas, GaugeField, Group, Needs, Precision, Recon, SpinorField};
use crate::linop::LinOp;
use crate::operators::HermitianWilson;
use crate::params::reports;
use crate::refuse;
use crate::solvers::stop::Limit;
use crate::solvers::{Monitor, SolverReport};

reports! {
    /// Description of an overlap operator.
    pub struct OverlapReport: plaq_overlap_report {
        /// Shift s of the kernel.
        s: f64;
        /// Quark mass.
        mass: f64;
        /// Approximation in use: polynomial or Zolotarev's function.
        sign: Method;
        /// Degree of the polynomial in Q^2, or number of poles.
        degree: usize;
        /// Number of modes of the kernel that are projected.
        modes: usize;
        /// Number of vectors that plaq_overlap_vectors gives.
        vectors: usize;
        /// Largest error of the sign function on the spectrum that is not projected.
        delta: f64;
        /// Error kappa_+ of the projector on positive modes (Walk, section 2.8).
        kappa_plus: f64;
        /// Error kappa_- of the projector on negative modes.
        kappa_minus: f64;
        /// Bound on the error of an application, |D~ - D| <= (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta),
        /// without rounding: below 1e-12 in double precision, 3e-5 in single and 2e-2 in 16 bit on small
        /// lattices.
        error_bound: f64;
        /// Smallest modulus of the eigenvalues of Q for which the approximation holds.
        low: f64;
        /// Largest modulus of the eigenvalues of Q for which the approximation holds.
        high: f64;
        /// Largest modulus of an eigenvalue of Q.
        largest: f64;
        /// Bound on the error of `largest`.
        largest_error: f64;
        /// Smallest modulus of an eigenvalue of Q that is not projected.
        next: f64;
        /// Number of multiplications of a vector by Q so far.
        multiplications: u64;
        /// Precision of the operator.
        precision: Precision;
        /// Storage of the operator's links.
        storage: Recon;
        /// Seconds that the search for modes took.
        seconds_modes: f64;
        /// Seconds that making the approximation took.
        seconds_sign: f64;
        /// Algorithm of the last solve; PLAQ_OVERLAP_SOLVER_AUTO before the first one.
        solver: OverlapAlgorithm;
        /// Preconditioner of the last solve.
        preconditioner: Preconditioned;
        /// Number of modes that plaq_overlap_high_values gives.
        high_modes: usize;
        /// Number of known low modes of D^dagger D of each chirality.
        low_modes: usize;
        /// Number of the vectors in `vectors` that are on the device; the others are in the host's memory.
        vectors_on_device: usize;
        /// Largest number of vectors that the search for modes kept; 0: the modes were read from a file, or not found
        /// by Lanczos.
        max_vectors: usize;
    }
}

impl OverlapReport {
    /// Describes an operator; `seconds` of the search for modes and of making the approximation, algorithm and
    /// preconditioner of the last solve, and known low modes of D^dagger D.
    pub fn new(
        op: &Overlap,
        seconds: [f64; 2],
        (solver, preconditioner): (OverlapAlgorithm, Preconditioned),
        low: Option<&OverlapModes>,
    ) -> Self {
        let sign = op.sign();
        let (modes, links) = (sign.modes(), sign.kernel().op().gauge());
        let ([low_end, high_end], [kappa_plus, kappa_minus]) = (sign.interval(), modes.kappa());
        OverlapReport {
            s: op.rho() - 1.0,
            mass: op.mass(),
            sign: sign.method(),
            degree: sign.degree(),
            modes: modes.count(),
            vectors: modes.vectors().count(),
            delta: sign.delta(),
            kappa_plus,
            kappa_minus,
            error_bound: op.error_bound(),
            low: low_end,
            high: high_end,
            largest: modes.largest().value,
            largest_error: modes.largest().residual,
            next: modes.interval()[0],
            multiplications: sign.multiplications(),
            precision: links.precision(),
            storage: links.recon(),
            seconds_modes: seconds[0],
            seconds_sign: seconds[1],
            solver,
            preconditioner,
            high_modes: modes.high().len(),
            low_modes: low.map_or(0, OverlapModes::count),
            vectors_on_device: modes.vectors().on_device(),
            max_vectors: modes.report().max_vectors,
        }
    }
}

impl OverlapSettings {
    /// Makes the kernel on these links, smeared if the settings say so, in double precision; returns it with the
    /// precision and storage that the operator will have.
    ///
    /// # Errors
    /// `Unsupported`: SU(2); those of [`smear_links`] and [`Overlap::kernel`].
    pub fn kernel(
        &self,
        mut links: Arc<GaugeField>,
    ) -> Result<(Arc<HermitianWilson>, (Precision, Recon))> {
        if links.group() != Group::Su3 {
            refuse!(Unsupported, "gauge", expected("SU(3) links"), found("SU(2)"));
        }
        let (precision, storage) =
            (self.precision.unwrap_or(links.precision()), self.storage.unwrap_or(Recon::R12));
        if storage.group() != Group::Su3 {
            refuse!(
                Unsupported,
                "params.storage",
                expected("a storage of SU(3) links"),
                found("SU(2)")
            );
        }
        if self.smearing_steps > 0 {
            links = Arc::new(smear_links(&links, self.smearing(), self.smearing_steps)?);
        }
        if (links.precision(), links.recon()) != (Precision::F64, storage) {
            links = Arc::new(links.to(Precision::F64, storage)?);
        }
        Ok((Overlap::kernel(links, self.s, self.physics())?, (precision, storage)))
    }

    /// Makes the operator from a kernel and its modes, in the requested precision and storage.
    ///
    /// # Errors
    /// Errors of [`Sign::new`], [`Overlap::new`] and [`Overlap::to`].
    pub fn operator(
        &self,
        kernel: Arc<HermitianWilson>,
        modes: Modes,
        target: (Precision, Recon),
    ) -> Result<Overlap> {
        let sign = self.sign()?;
        // The error delta asked of the polynomial is raised to the least one that the precision of the operator allows.
        let sign = SignParams { delta: sign.delta.max(Sign::least_delta(target.0)), ..sign };
        let sign = Sign::new(kernel, Arc::new(modes), sign)?;
        let double = Overlap::new(Arc::new(sign), self.mass)?;
        match target.0 {
            Precision::F64 => Ok(double),
            precision => double.to(precision, target.1),
        }
    }

    /// The memory and kernels needed to make an operator on links like these, including the search for modes, and then,
    /// if `solve` is given, to solve for a number of right-hand sides; the fields of right-hand sides and solutions are
    /// not counted. The largest number of modes is assumed that the search may find. Vectors of the search are planned
    /// in the device's memory as far as it is free at present; if they do not fit at all, the plan states what all of
    /// them would take.
    ///
    /// # Errors
    /// Errors of making it and of [`OverlapSolving::solver`] that do not depend on links.
    pub fn needs(
        &self,
        links: &GaugeField,
        solve: Option<(&OverlapSolving, usize)>,
    ) -> Result<Needs> {
        let free = links.device().memory()?.0;
        match self.needs_within(free, links, solve) {
            Err(e) if e.status == Status::OutOfMemory => self.needs_within(u64::MAX, links, solve),
            found => found,
        }
    }

    /// Memory and kernels as in [`OverlapSettings::needs`], if `free` bytes of device memory are free.
    fn needs_within(
        &self,
        free: u64,
        links: &GaugeField,
        solve: Option<(&OverlapSolving, usize)>,
    ) -> Result<Needs> {
        let device = links.device().stand_in();
        links.geometry().needs(
            (links.device(), &device),
            || {
                let links = Arc::new(links.like_on(&device)?);
                device.limit_memory(free.saturating_add(device.used().0));
                Ok(links)
            },
            |links| {
                let (kernel, target) = self.kernel(links.clone())?;
                let modes = Modes::expected(&kernel, &self.modes())?;
                let op = Arc::new(self.operator(kernel, modes, target)?);
                if let Some((how, nrhs)) = solve {
                    let (mut x, b) = (op.shape().field(nrhs)?, op.shape().field(nrhs)?);
                    how.run_through(&op, None, &mut OverlapShared::default(), nrhs, (&mut x, &b))?;
                }
                Ok((op, links))
            },
        )
    }
}

impl OverlapSolving {
    /// The memory and kernels of a solve, as [`OverlapSolving::solver`] makes it, for a number of right-hand sides; the
    /// fields of right-hand sides and solutions are not counted, multigrid is. Choices that depend on the Wilson
    /// operator's spectrum are predicted from the quark mass if the spectrum is not known yet.
    ///
    /// # Errors
    /// Errors of [`OverlapSolving::solver`].
    pub fn needs(
        &self,
        op: &Overlap,
        modes: Option<&OverlapModes>,
        nrhs: usize,
        kept: &OverlapShared,
    ) -> Result<Needs> {
        self.needs_among(op, modes, (nrhs, nrhs), kept)
    }

    /// Memory and kernels as in [`OverlapSolving::needs`] of one solve among others for `columns` right-hand sides in
    /// all.
    ///
    /// # Errors
    /// Errors of [`OverlapSolving::solver`].
    pub fn needs_among(
        &self,
        op: &Overlap,
        modes: Option<&OverlapModes>,
        (nrhs, columns): (usize, usize),
        kept: &OverlapShared,
    ) -> Result<Needs> {
        let (shape, device) = (op.shape(), op.shape().device.stand_in());
        shape.geometry.needs(
            (&shape.device, &device),
            || {
                let like = Arc::new(op.like_on(&device)?);
                let modes = modes.map(|modes| modes.like_on(&device)).transpose()?.map(Arc::new);
                let mut known = OverlapShared { edge: kept.edge, multigrid: None };
                if let Some((mass, multigrid)) = &kept.multigrid {
                    known.multigrid = Some((*mass, multigrid.like_on(&device)?));
                }
                let (x, b) = (like.shape().field(nrhs)?, like.shape().field(nrhs)?);
                Ok((like, modes, known, x, b))
            },
            |(op, modes, mut kept, mut x, b)| {
                self.run_through(&op, modes.clone(), &mut kept, columns, (&mut x, &b))?;
                Ok((op, modes, kept, x, b))
            },
        )
    }

    /// Launches, in a rehearsal, all kernels of a solve.
    fn run_through(
        &self,
        op: &Arc<Overlap>,
        modes: Option<Arc<OverlapModes>>,
        kept: &mut OverlapShared,
        columns: usize,
        (x, b): (&mut SpinorField, &SpinorField),
    ) -> Result<()> {
        let modes = modes.filter(|_| self.deflate);
        self.solver(op, modes, &[op.mass()], columns, kept)?.run_through(x, b)
    }
}

/// Makes (D^-1 b - b / (2 rho)) / (1 - m / (2 rho)) of x = D^-1 b, the propagator without its contact term.
///
/// # Errors
/// Errors of [`blas::axpby`].
pub fn without_contact(op: &Overlap, x: &mut SpinorField, b: &SpinorField) -> Result<()> {
    subtract_contact((op.rho(), op.mass()), x, b)
}

fn subtract_contact((rho, m): (f64, f64), x: &mut SpinorField, b: &SpinorField) -> Result<()> {
    let scale = 1.0 / (1.0 - m / (2.0 * rho));
    let contact = blas::uniform(x.nrhs(), -scale / (2.0 * rho));
    blas::axpby(&contact, b, &blas::uniform(x.nrhs(), scale), x)
}

/// Number of columns of a source that have the same chirality.
const HALF: usize = COLUMNS / 2;

/// Computes D(m)^-1 source for all twelve columns and every mass, six columns of one chirality at a time. If
/// `subtract` is true, the contact term is subtracted: (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) is the propagator
/// of quark fields that transform as in the continuum, from which hadron correlators are made. The time limit
/// `max_seconds` of the solver applies to all solves together.
///
/// # Errors
/// Errors of [`OverlapSolver::solve_masses`] and [`Source::set`].
pub fn overlap_propagators(
    solver: &OverlapSolver,
    masses: &[f64],
    source: Source,
    subtract: bool,
    monitor: &mut Monitor,
) -> Result<(Vec<SpinorField>, SolverReport)> {
    if masses.is_empty() {
        refuse!(BadParameter, "masses", expected("at least one"));
    }
    if source.columns() != COLUMNS {
        let found = source.columns();
        refuse!(
            BadParameter,
            "source",
            expected("{COLUMNS} columns, spin x colour"),
            found("{found}")
        );
    }
    let (shape, rho) = (solver.op().shape(), solver.op().rho());
    let wanted = (2 + masses.len()) * COLUMNS + (1 + 2 * masses.len()) * HALF;
    shape.geometry.require(&shape.device, shape.bytes(wanted), "these propagators")?;
    let mut sources = shape.field(COLUMNS)?;
    source.set(&mut sources)?;
    let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(COLUMNS)).collect();
    let mut all = fields?;
    let mut total: Option<SolverReport> = None;
    let limit = Limit::new(solver.params().max_seconds)?;
    let alone = masses == [solver.op().mass()];
    for first in [0, HALF] {
        let mut b = shape.field(HALF)?;
        b.copy_rhs(0, &sources, first, HALF)?;
        let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(HALF)).collect();
        let mut xs = fields?;
        let part = match alone {
            true => solver.solve_within(limit.left(), &mut xs[0], &b, monitor)?,
            false => solver.solve_masses_within(limit.left(), masses, &mut xs, &b, monitor)?,
        };
        for (to, x) in all.iter_mut().zip(&xs) {
            to.copy_rhs(first, x, 0, HALF)?;
        }
        total = Some(match total {
            Some(before) => before.join(part),
            None => part,
        });
    }
    if subtract {
        for (x, &m) in all.iter_mut().zip(masses) {
            subtract_contact((rho, m), x, &sources)?;
        }
    }
    let Some(report) = total else { bail!(Internal, "no columns") };
    Ok((all, report))
}
