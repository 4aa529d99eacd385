//! Deflation by low modes: solves start from the low modes' part of the solution and project the modes out again
//! whenever the residual has fallen by a factor, since rounding errors bring them back.

use std::sync::Arc;
use std::time::Instant;

use num_complex::Complex64;

use super::equation::{iterated_operator, SolveReport};
use super::inverter::{Inverter, SolveRequest};
use crate::backend::Device;
use crate::error::Result;
use crate::fields::{blas, Precision, SpinorField, VectorSet};
use crate::linop::{LinOp, Normal, Schur, Shape};
use crate::operators::{ActionVersion, QuarkAction};
use crate::refuse;
use crate::solvers::{eigen_set, EigenParams, EigenReport, Monitor, Stop};

/// Eigenvectors v_k of A^dagger A with their eigenvalues, A being a quark action or a Schur complement of it.
pub struct LowModes {
    action: Arc<dyn QuarkAction>,
    op: Arc<dyn LinOp>,
    form: Option<Schur>,
    version: ActionVersion,
    vectors: Arc<VectorSet>,
    values: Vec<f64>,
}

/// Describes in which spaces of singular vectors of A the source and the solution of an equation C x = b lie. The
/// modes v_k are right singular vectors of A, A v_k are left ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingularSpaces {
    /// True if b lies in the space of left singular vectors, as it does if C = A or C = A A^dagger; A^dagger maps it
    /// to the space of the modes.
    left_source: bool,
    /// True if x lies in the space of left singular vectors, as it does if C = A^dagger or C = A A^dagger; A maps the
    /// modes there.
    left_solution: bool,
}

impl SingularSpaces {
    /// The spaces of source and solution for C = A, or with `dagger` C = A^dagger.
    pub fn of_one(dagger: bool) -> SingularSpaces {
        SingularSpaces { left_source: !dagger, left_solution: dagger }
    }
    /// The spaces of source and solution for C = A^dagger A, or with `adjoint_first` C = A A^dagger.
    pub fn of_both(adjoint_first: bool) -> SingularSpaces {
        SingularSpaces { left_source: adjoint_first, left_solution: adjoint_first }
    }
}

impl LowModes {
    /// Finds modes of the action, or of its Schur complement of the given form, in the action's precision.
    ///
    /// # Errors
    /// Errors of [`eigen_set`].
    pub fn find(
        action: &Arc<dyn QuarkAction>,
        form: Option<Schur>,
        params: &EigenParams,
        monitor: &mut Monitor,
    ) -> Result<(LowModes, EigenReport)> {
        let (version, action) = (action.version(), action.clone());
        let op = iterated_operator(&action, form)?;
        let normal = Normal::mdag_m(op.clone());
        let (vectors, report) = eigen_set(&normal, None, params, None, monitor)?;
        let (vectors, values) = (Arc::new(vectors), report.values.clone());
        Ok((LowModes { action, op, form, version, vectors, values }, report))
    }

    pub fn count(&self) -> usize {
        self.vectors.count()
    }

    /// These modes for an operator that was made again from the same links and parameters, which the caller guarantees,
    /// in the precision of the former operator.
    pub fn of_same(&self, action: &Arc<dyn QuarkAction>) -> Result<LowModes> {
        Ok(LowModes {
            op: iterated_operator(action, self.form)?,
            action: action.clone(),
            form: self.form,
            version: action.version(),
            vectors: self.vectors.clone(),
            values: self.values.clone(),
        })
    }

    /// Whether the modes belong to this operator; its precision and storage may be others.
    pub fn is_of(&self, action: &dyn QuarkAction) -> bool {
        self.version == action.version()
    }

    pub fn precision(&self) -> Precision {
        self.action.storage().0
    }

    /// Refuses solves with another operator, with other links or with another system.
    pub(super) fn check(&self, op: &dyn QuarkAction, form: Option<Schur>) -> Result<()> {
        if !self.is_of(op) || self.form != form {
            refuse!(
                FieldMismatch,
                "low modes",
                expected("those of the solver's operator, links and system"),
                found("others")
            );
        }
        Ok(())
    }
}

/// Low modes, and how a solve uses them.
#[derive(Clone)]
pub struct Deflation {
    pub modes: Arc<LowModes>,
    /// Number of modes used, the lowest ones.
    pub count: usize,
    /// Factor by which the residual falls before the modes are projected out of it again, above 0 and below 1.
    pub restart: f64,
}

impl Deflation {
    /// This deflation on another device with modes that are zero; for rehearsals.
    pub(super) fn like_on(&self, device: &Device) -> Result<Deflation> {
        let LowModes { action, form, version, vectors, values, .. } = &*self.modes;
        let action = action.like_on(device)?;
        let modes = LowModes {
            op: iterated_operator(&action, *form)?,
            action,
            form: *form,
            version: *version,
            vectors: Arc::new(vectors.like_on(device)?),
            values: values.clone(),
        };
        Ok(Deflation { modes: Arc::new(modes), ..*self })
    }

    /// Adds to x the low modes' part of the solution y of C y = b - C x; returns the largest |b - C x| before,
    /// relative to `norms`.
    fn correct(
        &self,
        (op, spaces): (&dyn LinOp, SingularSpaces),
        x: &mut SpinorField,
        b: &SpinorField,
        norms: &[f64],
        guess: bool,
    ) -> Result<f64> {
        let LowModes { op: own, vectors, values, .. } = &*self.modes;
        let (n, used) = (b.nrhs(), self.count.min(values.len()));
        let mut r = b.like(b.precision())?;
        if guess {
            op.apply(&mut r, x)?;
            blas::axpby(&blas::uniform(n, 1.0), b, &blas::uniform(n, -1.0), &mut r)?;
        } else {
            blas::copy(&mut r, b)?;
            x.clear()?;
        }
        // Residuals are scaled to unit length, since the modes may be in single precision.
        let lengths: Vec<f64> = blas::norm2(&r)?.iter().map(|v| v.sqrt()).collect();
        let over = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let worst = lengths.iter().zip(norms).map(|(l, norm)| over(*l, *norm)).fold(0.0, f64::max);
        if used == 0 {
            return Ok(worst);
        }
        let inverse: Vec<f64> = lengths.iter().map(|l| over(1.0, *l)).collect();
        let mut unit = own.shape().field(n)?;
        blas::axpby(&blas::complex(&inverse), &r, &blas::uniform(n, 0.0), &mut unit)?;
        drop(r);
        let mut along = own.shape().field(n)?;
        let from = match spaces.left_source {
            true => {
                own.apply_dagger(&mut along, &unit)?;
                &along
            }
            false => &unit,
        };
        let mut c = vectors.dots(0..used, from, 0..n)?;
        let power = if spaces.left_source && spaces.left_solution { 2 } else { 1 };
        for (row, value) in c.chunks_mut(n).zip(values) {
            let factor = Complex64::from(value.powi(power));
            row.iter_mut().for_each(|z| *z /= factor);
        }
        vectors.combine(0..used, &c, 0.0, &mut along, 0..n)?;
        let found = match spaces.left_solution {
            true => {
                own.apply(&mut unit, &along)?;
                &unit
            }
            false => &along,
        };
        blas::axpy(&blas::complex(&lengths), found, x)?;
        Ok(worst)
    }
}

/// A link around an iteration for C x = b. It asks for the solution in stages, each of which reduces the residual by
/// the deflation's `restart`; before each stage it adds the modes' part of the solution to x.
pub(super) struct Deflated {
    pub next: Arc<dyn Inverter>,
    pub deflation: Deflation,
    /// The operator C of the equation.
    pub op: Arc<dyn LinOp>,
    pub spaces: SingularSpaces,
    /// The action and the system to which the modes must belong.
    pub action: Arc<dyn QuarkAction>,
    pub form: Option<Schur>,
}

impl Inverter for Deflated {
    fn solve(
        &self,
        x: &mut SpinorField,
        b: &SpinorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        let restart = self.deflation.restart;
        let correct = |x: &mut SpinorField, guess: bool| {
            let correction = (&*self.op, self.spaces);
            self.deflation.correct(correction, x, b, request.norms, guess)
        };
        let (asked, mut part) = (request.stop, SolveRequest { origin: None, ..*request });
        let mut total: Option<SolveReport> = None;
        // A part without iterations may not have reduced the residual: then the remaining solve is one part.
        let mut stalled = false;
        let falling = b.device().falling(asked.fall(), 1);
        for parts in 1.. {
            let worst = correct(x, part.guess)?;
            part.guess = true;
            let goal = (restart * worst).min(0.5);
            // If only a heavy-quark residual is required, the number of parts is unknown.
            let more = !stalled && asked.residual > 0.0 && goal > asked.residual;
            let left = part.stop.iterations;
            part.stop = Stop { iterations: left, ..asked.since(start) };
            if more {
                (part.stop.residual, part.stop.heavy_quark) = (goal, 0.0);
            }
            let found = self.next.solve(x, b, &part, watch)?;
            falling.after(parts);
            let ended = !more || !found.solver.converged || found.solver.iterations >= left;
            part.stop.iterations = left.saturating_sub(found.solver.iterations);
            stalled = found.solver.iterations == 0;
            let report = match total.take() {
                Some(before) => before.followed_by(found),
                None => found,
            };
            if ended {
                return Ok(report);
            }
            total = Some(report);
        }
        unreachable!("parts are not counted to the end")
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, _: usize) -> String {
        format!("deflated by {} modes", self.deflation.count.min(self.deflation.modes.count()))
    }
    fn prepare(&self) -> Result<()> {
        self.deflation.modes.check(&*self.action, self.form)?;
        self.next.prepare()
    }
}
