//! Coarse operators as `LinOp`, so that all solvers take them.

use std::sync::Arc;

use super::pool::Pool;
use super::rows::shape_of;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, CoarseField, Geometry, Subset, VectorField};
use crate::linop::{LinOp, SchurComplement, Shape};
use crate::operators::CoarseOperator;
use crate::refuse;
use crate::solvers::{self, Monitor, SolverParams, SolverReport, System};

/// The operator S of the solves on a coarse level as a `LinOp`, for any solver, sum or
/// preconditioner: S = 1 - Y_eo Y_oe on even sites, or S = 1 + Y on all sites where there are no
/// parities, the Schur complement of the level's M (Clark et al., arXiv:1612.07873, Eq. 3). Its
/// fields have the shape [`LinOp::shape`]; `solve` and `solve_all` take coarse vectors.
pub struct CoarseSystem {
    op: Arc<CoarseOperator>,
    rows: Arc<Geometry>,
    /// All sites of the level as a geometry of rows.
    all: Arc<Geometry>,
    pool: Pool,
    gamma5: bool,
}

impl CoarseSystem {
    /// Makes the system of a coarse operator. `gamma5`: the finest operator is gamma5-hermitian (no
    /// twisted mass); then so is the coarse one, M^dagger = Gamma5 M Gamma5, and S has an adjoint.
    pub fn new(op: Arc<CoarseOperator>, gamma5: bool) -> Arc<Self> {
        let grid = op.grid();
        let (rows, all) = (grid.rows(op.subset()), grid.rows(Subset::Full));
        let pool = Pool::new(grid, op.precision(), op.rows());
        Arc::new(CoarseSystem { op, rows, all, pool, gamma5 })
    }

    /// Solves S x = b, with the operators of `system`, which may include one of lower precision and
    /// a preconditioner. x and b are on the sites of S.
    ///
    /// # Errors
    /// Errors of [`solvers::solve`].
    pub fn solve(
        &self,
        system: &System,
        params: &SolverParams,
        x: &mut CoarseField,
        b: &CoarseField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        for (field, name) in [(&*x, "x"), (b, "b")] {
            self.check(field, name, self.op.subset())?;
        }
        solvers::solve(system, params, &mut x.as_rows(), &b.as_rows(), monitor)
    }

    /// Solves M x = b on all sites through `system`, as `solve` does, or M^dagger x = b if `dagger`, where `system` is
    /// that of S^dagger. Residuals of the report are those of the system that is solved, divided by the norm of its
    /// source.
    ///
    /// # Errors
    /// Errors of [`solvers::solve`].
    pub fn solve_all(
        &self,
        system: &System,
        params: &SolverParams,
        dagger: bool,
        x: &mut CoarseField,
        b: &CoarseField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        for (field, name) in [(&*x, "x"), (b, "b")] {
            self.check(field, name, Subset::Full)?;
        }
        let (mut x, b) = (x.as_rows(), b.as_rows());
        // A parity of a level is not half of it where extents are odd.
        let (mut y, mut source) = (self.shape().field(b.nrhs())?, self.shape().field(b.nrhs())?);
        self.prepare(&mut source, &b, dagger)?;
        if params.initial_guess {
            self.restrict(&mut y, &x, dagger)?;
        }
        let report = solvers::solve(system, params, &mut y, &source, monitor)?;
        drop(source);
        self.reconstruct(&mut x, &y, &b, dagger)?;
        Ok(report)
    }

    fn check(&self, field: &CoarseField, name: &str, subset: Subset) -> Result<()> {
        let found = (field.precision(), field.components(), field.subset());
        let expected = (self.op.precision(), self.op.rows(), subset);
        if field.grid() != self.op.grid() || found != expected {
            refuse!(
                FieldMismatch,
                "{name}",
                expected(
                    "(precision, components, sites) {expected:?} on {:?}",
                    self.op.grid().extents()
                ),
                found("{found:?} on {:?}", field.grid().extents())
            );
        }
        Ok(())
    }

    pub(super) fn coarse(&self, field: &VectorField, name: &str) -> Result<CoarseField> {
        self.shape().check(field, name)?;
        Ok(CoarseField::of_rows(self.op.grid(), self.op.subset(), field))
    }

    fn whole(&self, field: &VectorField, name: &str) -> Result<CoarseField> {
        self.full_shape().check(field, name)?;
        Ok(CoarseField::of_rows(self.op.grid(), Subset::Full, field))
    }

    fn check_adjoint(&self) -> Result<()> {
        if !self.gamma5 {
            bail!(Unsupported, "a coarse operator has an adjoint where it is gamma5-hermitian");
        }
        Ok(())
    }

    /// Computes out = S in, where S is the operator of this system.
    pub(super) fn image(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.op.schur(out, inp, &mut *self.pool.take(Subset::Odd, inp.nrhs())?)
    }
}

/// Computes out = Gamma5 in, where Gamma5 is the sign of the coarse spin.
fn gamma5(out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
    let n = inp.nrhs();
    out.copy_from_columns(0, inp, 0, n, 2)?;
    out.axpby(&blas::uniform(n, 1.0), inp, &blas::uniform(n, -2.0))
}

/// The Schur complement S of the equation M x = b divided by the diagonal D. Where M^dagger = Gamma5 M Gamma5, the
/// solution of M^dagger x = b is Gamma5 y with M y = Gamma5 b, and S^dagger is solved by Gamma5 D times the solution of
/// S.
impl SchurComplement for CoarseSystem {
    fn full_shape(&self) -> Shape {
        shape_of(self.op.grid(), &self.all, self.op.precision(), self.op.rows())
    }

    /// Computes the right-hand side (D^-1 b)_e - Y_eo (D^-1 b)_o of the system of S.
    fn prepare(&self, out: &mut VectorField, b: &VectorField, dagger: bool) -> Result<()> {
        let (mut out, b, n) = (self.coarse(out, "out")?, self.whole(b, "b")?, b.nrhs());
        let mut scaled = self.pool.take(Subset::Full, n)?;
        if !dagger {
            return self.op.prepare(&mut out, &mut scaled, &b);
        }
        self.check_adjoint()?;
        let mut t = self.pool.take(Subset::Full, n)?;
        gamma5(&mut t, &b)?;
        self.op.prepare(&mut out, &mut scaled, &t)?;
        let mut source = self.pool.take(self.op.subset(), n)?;
        self.op.diagonal(&mut source, &out)?;
        gamma5(&mut out, &source)
    }

    /// Computes the odd sites of the solution, x_o = (D^-1 b)_o - Y_oe x_e.
    fn reconstruct(
        &self,
        full: &mut VectorField,
        x: &VectorField,
        b: &VectorField,
        dagger: bool,
    ) -> Result<()> {
        let (mut full, b) = (self.whole(full, "x")?, self.whole(b, "b")?);
        let (x, n) = (self.coarse(x, "in")?, x.nrhs());
        let mut scaled = self.pool.take(Subset::Full, n)?;
        if !dagger {
            self.op.inverse_diagonal(&mut scaled, &b)?;
            return self.op.reconstruct(&mut full, &x, &scaled);
        }
        self.check_adjoint()?;
        gamma5(&mut full, &b)?;
        self.op.inverse_diagonal(&mut scaled, &full)?;
        let (mut t, mut y) =
            (self.pool.take(self.op.subset(), n)?, self.pool.take(self.op.subset(), n)?);
        gamma5(&mut t, &x)?;
        self.op.inverse_diagonal(&mut y, &t)?;
        let mut all = self.pool.take(Subset::Full, n)?;
        self.op.reconstruct(&mut all, &y, &scaled)?;
        gamma5(&mut full, &all)
    }

    fn restrict(&self, out: &mut VectorField, full: &VectorField, dagger: bool) -> Result<()> {
        let (mut out, full, n) = (self.coarse(out, "out")?, self.whole(full, "in")?, full.nrhs());
        out.copy_from_even(&full)?;
        if !dagger {
            return Ok(());
        }
        self.check_adjoint()?;
        let mut t = self.pool.take(self.op.subset(), n)?;
        gamma5(&mut t, &out)?;
        self.op.diagonal(&mut out, &t)?;
        gamma5(&mut t, &out)?;
        out.copy(&t)
    }
}

impl LinOp for CoarseSystem {
    fn shape(&self) -> Shape {
        shape_of(self.op.grid(), &self.rows, self.op.precision(), self.op.rows())
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.image(&mut self.coarse(out, "out")?, &self.coarse(inp, "in")?)
    }
    /// S^dagger = Gamma5 D S D^-1 Gamma5, as D and D S are gamma5-hermitian.
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.check_adjoint()?;
        let (mut out, inp) = (self.coarse(out, "out")?, self.coarse(inp, "in")?);
        let mut t = self.pool.take(self.op.subset(), inp.nrhs())?;
        gamma5(&mut t, &inp)?;
        self.op.inverse_diagonal(&mut out, &t)?;
        self.image(&mut t, &out)?;
        self.op.diagonal(&mut out, &t)?;
        gamma5(&mut t, &out)?;
        out.copy(&t)
    }
    fn flops(&self) -> f64 {
        self.op.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.op.held() as f64 + 3.0 * self.shape().bytes(nrhs) as f64
    }
}
