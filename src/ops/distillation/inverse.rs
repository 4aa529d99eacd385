//! Inverses of quark operators that are applied to modes: a solver of a quark action, or the overlap operator.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::compose::{
    DiracSolver, Overlap, OverlapAlgorithm, OverlapModes, OverlapSolver, Preconditioned,
    SolveReport,
};
use crate::error::{significant, Error, Result};
use crate::fields::{blas, Components, GaugeField, Noise, SpinorField};
use crate::io::hdf5::{Attribute, Attributes};
use crate::linop::{LinOp, Shape};
use crate::operators::{Boundary, DiracParams, Wilson};
use crate::ops::gamma::Gamma;
use crate::ops::overlap::without_contact;
use crate::ops::overlap_settings::{OverlapShared, OverlapSolving};
use crate::ops::propagator::{check, propagates};
use crate::ops::source::Sequential;
use crate::ops::terms;
use crate::params::Choice as _;
use crate::refuse;
use crate::solvers::{Monitor, SolverKind, Stop};

/// The inverse of a quark operator M, or a propagator made from it, that is applied to sources made of modes.
pub trait Inverse {
    fn shape(&self) -> Shape;
    /// The links in the hops of M.
    fn links(&self) -> &Arc<GaugeField>;
    /// The largest |b - M x| / |b| of solves.
    fn tol(&self) -> f64;
    /// The seconds that all solves of a call may take together.
    fn seconds(&self) -> f64;
    /// The algorithm that was asked for, as in reports.
    fn kind(&self) -> SolverKind;
    /// Refuses a solver, or a number of columns, that perambulators cannot be made with.
    ///
    /// # Errors
    /// `Unsupported`: M does not act on spinors; `BadParameter`: the solver is not one for M x = b, or a number of
    /// columns is out of range.
    fn check(&self, columns: usize, at_once: usize) -> Result<()>;
    /// The first of these numbers of columns for which all ranks have memory. `need` computes the bytes that work with
    /// a number of columns takes from those of a solve for them. All ranks call it.
    ///
    /// # Errors
    /// `OutOfMemory`: not even one column fits; nothing has been allocated.
    fn fitting(&self, ways: &[usize], need: &dyn Fn(usize, u64) -> u64) -> Result<usize>;
    /// Computes x = M^-1 b in at most this number of seconds.
    ///
    /// # Errors
    /// Errors of solves; not converged is none.
    fn solve(
        &self,
        seconds: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport>;
    /// The inverse of gamma5 M^dagger gamma5; `None`: it is this one.
    ///
    /// # Errors
    /// `Unsupported`: there is no solver for it.
    fn of_sinks(&self) -> Result<Option<Box<dyn Inverse>>>;
    /// Normalisation, kind, masses and terms of M as attributes of files.
    fn about(&self) -> Attributes;
}

fn text(word: &str) -> Attribute {
    Attribute::Text(word.into())
}

/// Phases of quarks in attributes: in time, where quarks that vanish at boundaries have none, and in space.
fn phases(params: &DiracParams, links: &GaugeField) -> Attributes {
    let [x, y, z, t] = Boundary::of_phases(params.boundary).0;
    let periodic = links.geometry().boundary().is_periodic();
    vec![
        ("boundary", Attribute::Number(if periodic { t } else { 0.0 })),
        ("boundary_space", Attribute::Numbers(vec![x, y, z])),
    ]
}

impl Inverse for DiracSolver {
    fn shape(&self) -> Shape {
        self.op().shape()
    }
    fn links(&self) -> &Arc<GaugeField> {
        self.op().links()
    }
    fn tol(&self) -> f64 {
        self.params().solver.stop.residual
    }
    fn seconds(&self) -> f64 {
        self.params().solver.stop.seconds
    }
    fn kind(&self) -> SolverKind {
        self.params().solver.kind
    }
    fn check(&self, columns: usize, at_once: usize) -> Result<()> {
        let op = self.op();
        if !propagates(&**op) {
            refuse!(
                Unsupported,
                "solver",
                expected("an operator on {} complex numbers a site", Components::SPINOR),
                found("one on {}", op.shape().components)
            );
        }
        check(self, columns.min(4096), at_once)
    }
    fn fitting(&self, ways: &[usize], need: &dyn Fn(usize, u64) -> u64) -> Result<usize> {
        let with = |n: usize, solve: &dyn Fn(usize) -> Result<u64>| Ok(need(n, solve(n)?));
        match DiracSolver::fitting(self, ways, with)? {
            Some(n) => Ok(n),
            None => {
                let shape = self.op().shape();
                let bytes = shape.geometry.comm().agree(self.memory(1))?;
                shape.geometry.require(&shape.device, need(1, bytes), "perambulators")?;
                Ok(1)
            }
        }
    }
    fn solve(
        &self,
        seconds: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        self.solve_until(Stop { seconds, ..self.params().solver.stop }, x, b, monitor)
    }
    fn of_sinks(&self) -> Result<Option<Box<dyn Inverse>>> {
        let other = other_flavour(self)?;
        check_gamma5(self, other.as_ref().unwrap_or(self))?;
        Ok(other.map(|other| Box::new(other) as Box<dyn Inverse>))
    }
    fn about(&self) -> Attributes {
        let mut about = vec![("normalisation", text(self.params().normalisation.word()))];
        let Some(wilson) = self.op().as_any().downcast_ref::<Wilson>() else {
            about.push(("operator", text(&self.op().describe())));
            return about;
        };
        let p = wilson.params();
        about.extend(phases(p, self.op().links()));
        about.extend([
            ("operator", text(if p.csw == 0.0 && p.csw_t == 0.0 { "Wilson" } else { "Clover" })),
            ("kappa", Attribute::Number(p.kappa())),
            ("mass", Attribute::Number(p.mass)),
        ]);
        about.extend(terms::attributes(p.terms()));
        about
    }
}

/// A solver like this one for gamma5 M^dagger gamma5 of twisted mass, the operator with -mu; `None`: M has none.
fn other_flavour(solver: &DiracSolver) -> Result<Option<DiracSolver>> {
    let Some(op) = solver.op().as_any().downcast_ref::<Wilson>() else { return Ok(None) };
    let (mu, rho) = (op.params().mu, op.params().rho);
    if mu == 0.0 && rho == 0.0 {
        return Ok(None);
    }
    let other = Arc::new(op.with_twists(-mu, -rho)?);
    let solver =
        DiracSolver::new(other, solver.params().clone())?.with_multigrid(solver.multigrid());
    solver.map(Some)
}

/// Refuses operators M and M' of two solvers where (u, M v) differs from (gamma5 M' gamma5 u, v).
fn check_gamma5(solver: &DiracSolver, other: &DiracSolver) -> Result<()> {
    let (op, shape) = (solver.op(), solver.op().shape());
    let noise = |number| {
        let mut f = shape.field(1)?;
        f.set_noise(Noise::Normal, 1, number)?;
        Ok::<_, Error>(f)
    };
    let (u, v) = (noise(0)?, noise(1)?);
    let five = |f: &SpinorField| {
        let mut out = f.like(f.precision())?;
        let gamma = Gamma::FIVE;
        Sequential { time: None, gamma, momentum: [0; 3], origin: [0; 3] }.set(&mut out, f)?;
        Ok::<_, Error>(out)
    };
    let (mut mv, mut mu) = (shape.field(1)?, shape.field(1)?);
    op.apply(&mut mv, &v)?;
    other.op().apply(&mut mu, &five(&u)?)?;
    let (a, b) = (blas::dot(&u, &mv)?[0], blas::dot(&five(&mu)?, &v)?[0]);
    let scale = (blas::norm2(&u)?[0] * blas::norm2(&mv)?[0]).sqrt();
    let off = (a - b).norm() / scale;
    if off > 1e-5 {
        refuse!(
            Unsupported,
            "solver",
            expected("a gamma5-hermitian operator, <u, M v> = <gamma5 M gamma5 u, v>"),
            found("one for which these differ by {} of their size", significant(off, 2))
        );
    }
    Ok(())
}

/// The propagator of the overlap operator: D^-1, or with `how.subtract` (D^-1 - 1 / (2 rho)) / (1 - m / (2 rho)), which
/// are gamma5-hermitian. Its solver is made at the first solve.
pub struct OverlapInverse<'a> {
    op: &'a Arc<Overlap>,
    how: OverlapSolving,
    low: Option<Arc<OverlapModes>>,
    kept: &'a Mutex<OverlapShared>,
    columns: usize,
    solver: OnceCell<OverlapSolver>,
}

impl<'a> OverlapInverse<'a> {
    /// The inverse of `op`; `low`: known low modes of D^dagger D, `kept`: what solves of the operator share, `columns`:
    /// the number of columns of all solves, by which it is decided whether multigrid pays.
    pub fn new(
        op: &'a Arc<Overlap>,
        how: OverlapSolving,
        low: Option<Arc<OverlapModes>>,
        kept: &'a Mutex<OverlapShared>,
        columns: usize,
    ) -> Self {
        let low = low.filter(|_| how.deflate);
        OverlapInverse { op, how, low, kept, columns, solver: OnceCell::new() }
    }
    /// Algorithm and preconditioner of the last solve, if there was one.
    pub fn solved(&self) -> Option<(OverlapAlgorithm, Preconditioned)> {
        self.solver.get().map(|solver| (solver.algorithm(), solver.preconditioned()))
    }
    fn kept(&self) -> MutexGuard<'_, OverlapShared> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn solver(&self) -> Result<&OverlapSolver> {
        if let Some(solver) = self.solver.get() {
            return Ok(solver);
        }
        let (low, masses) = (self.low.clone(), [self.op.mass()]);
        let made = self.how.solver(self.op, low, &masses, self.columns, &mut self.kept())?;
        Ok(self.solver.get_or_init(|| made))
    }
    fn memory(&self, nrhs: usize) -> Result<u64> {
        let kept = self.kept().clone();
        let needs = self.how.needs_among(self.op, self.low.as_deref(), (nrhs, self.columns), &kept);
        Ok(needs?.memory)
    }
}

impl Inverse for OverlapInverse<'_> {
    fn shape(&self) -> Shape {
        self.op.shape()
    }
    fn links(&self) -> &Arc<GaugeField> {
        self.op.sign().kernel().op().gauge()
    }
    fn tol(&self) -> f64 {
        self.how.tol
    }
    fn seconds(&self) -> f64 {
        self.how.seconds()
    }
    fn kind(&self) -> SolverKind {
        SolverKind::Cg
    }
    fn check(&self, _: usize, _: usize) -> Result<()> {
        Ok(())
    }
    fn fitting(&self, ways: &[usize], need: &dyn Fn(usize, u64) -> u64) -> Result<usize> {
        let shape = self.op.shape();
        let (comm, mut least) = (shape.geometry.comm(), 0);
        for &n in ways {
            least = comm.agree(self.memory(n).map(|solve| need(n, solve)))?;
            let mut short = [f64::from(shape.device.require(least, "perambulators").is_err())];
            comm.max(&mut short)?;
            if short[0] == 0.0 {
                return Ok(n);
            }
        }
        shape.geometry.require(&shape.device, least, "perambulators")?;
        Ok(1)
    }
    fn solve(
        &self,
        seconds: f64,
        x: &mut SpinorField,
        b: &SpinorField,
        monitor: &mut Monitor,
    ) -> Result<SolveReport> {
        let solver = self.solver()?;
        let report = solver.solve_within(seconds, x, b, monitor)?;
        if self.how.subtract {
            without_contact(self.op, x, b)?;
        }
        Ok(solver.report(report))
    }
    fn of_sinks(&self) -> Result<Option<Box<dyn Inverse>>> {
        Ok(None)
    }
    fn about(&self) -> Attributes {
        let p = self.op.sign().kernel().op().params();
        let mut about = phases(p, self.links());
        about.extend([
            ("normalisation", text("mass")),
            ("operator", text("Overlap")),
            ("mass", Attribute::Number(self.op.mass())),
            ("overlap_s", Attribute::Number(self.op.rho() - 1.0)),
            ("contact_term", text(if self.how.subtract { "subtracted" } else { "included" })),
        ]);
        about.extend(terms::attributes(p.terms()));
        about
    }
}
