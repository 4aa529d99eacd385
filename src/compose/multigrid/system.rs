//! Coarse operators for the solvers of all operators: a coarse vector is a vector field of rows of
//! numbers, right-hand sides fastest, in the same memory.

use std::sync::Arc;

use super::pool::Pool;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, CoarseField, Components, Geometry, RhsOrder, Subset, VectorField};
use crate::linop::{LinOp, Shape, Uses};
use crate::operators::CoarseOperator;
use crate::solvers::{self, Monitor, SolverParams, SolverReport, System};

/// The operator of a coarse level's solves, S = 1 - Y_eo Y_oe on the even sites or 1 + Y on all of them,
/// as a `LinOp`: what any solver, sum, product or preconditioner takes. Its fields are those of
/// [`LinOp::shape`]; `solve` and `solve_all` take coarse vectors.
pub struct CoarseSystem {
    op: Arc<CoarseOperator>,
    rows: Arc<Geometry>,
    pool: Pool,
    gamma5: bool,
}

impl CoarseSystem {
    /// `gamma5`: the finest operator is gamma5-hermitian (no twisted mass), so that with chiralities
    /// apart the coarse one is: M^dagger = Gamma5 M Gamma5. Only then S has an adjoint.
    pub fn new(op: Arc<CoarseOperator>, gamma5: bool) -> Arc<Self> {
        let grid = op.grid();
        let (sites, global) = match op.subset() {
            Subset::Full => (grid.volume(), grid.global_volume()),
            _ => (grid.even(), grid.global_volume() / 2),
        };
        let rows = Geometry::of_rows(sites, global, grid.global_extents(), grid.comm());
        let pool = Pool::new(grid, op.precision(), op.rows());
        Arc::new(CoarseSystem { op, rows, pool, gamma5 })
    }

    pub fn op(&self) -> &Arc<CoarseOperator> {
        &self.op
    }

    /// Solves S x = b, or the system whose operators stand for S: it may have a sloppy one or a
    /// preconditioner. x and b are on the sites of solves.
    ///
    /// # Errors
    /// As of [`solvers::solve`].
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
        solvers::solve(system, params, &mut x.as_rows(&self.rows), &b.as_rows(&self.rows), monitor)
    }

    /// Solves M x = b on all sites through `system`, as `solve` does; residuals of the report are those of
    /// the system of solves, over the norm of its source.
    ///
    /// # Errors
    /// As of [`solvers::solve`].
    pub fn solve_all(
        &self,
        system: &System,
        params: &SolverParams,
        x: &mut CoarseField,
        b: &CoarseField,
        monitor: &mut Monitor,
    ) -> Result<SolverReport> {
        for (field, name) in [(&*x, "x"), (b, "b")] {
            self.check(field, name, Subset::Full)?;
        }
        let n = b.nrhs();
        let (mut source, mut scaled) =
            (self.op.field(self.op.subset(), n)?, self.op.field(Subset::Full, n)?);
        self.op.prepare(&mut source, &mut scaled, b)?;
        let mut solution = self.op.field(self.op.subset(), n)?;
        let params = SolverParams { initial_guess: false, ..params.clone() };
        let report = self.solve(system, &params, &mut solution, &source, monitor)?;
        self.op.reconstruct(x, &solution, &scaled)?;
        Ok(report)
    }

    fn check(&self, field: &CoarseField, name: &str, subset: Subset) -> Result<()> {
        let found = (field.precision(), field.components(), field.subset());
        let expected = (self.op.precision(), self.op.rows(), subset);
        if field.grid() != self.op.grid() || found != expected {
            bail!(
                FieldMismatch,
                "{name}: expected (precision, components, sites) {expected:?} on {:?}, found \
                 {found:?} on {:?}",
                self.op.grid().extents(),
                field.grid().extents()
            );
        }
        Ok(())
    }

    pub(super) fn coarse(&self, field: &VectorField, name: &str) -> Result<CoarseField> {
        self.shape().check(field, name)?;
        Ok(CoarseField::of_rows(self.op.grid(), self.op.subset(), field))
    }

    /// out = S in
    pub(super) fn image(&self, out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
        self.op.schur(out, inp, &mut *self.pool.lend(Subset::Odd, inp.nrhs())?)
    }
}

/// out = Gamma5 in
fn gamma5(out: &mut CoarseField, inp: &CoarseField) -> Result<()> {
    let n = inp.nrhs();
    out.take_columns(0, inp, 0, n, 2)?;
    out.axpby(&blas::uniform(n, 1.0), inp, &blas::uniform(n, -2.0))
}

impl LinOp for CoarseSystem {
    fn shape(&self) -> Shape {
        Shape {
            device: self.op.device().clone(),
            geometry: self.rows.clone(),
            precision: self.op.precision(),
            subset: Subset::Even,
            components: Components { spins: 2, colours: self.op.rows() / 2 },
            order: RhsOrder::Fastest,
        }
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.image(&mut self.coarse(out, "out")?, &self.coarse(inp, "in")?)
    }
    /// S^dagger = Gamma5 D S D^-1 Gamma5, as D and D S are gamma5-hermitian.
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        if !self.gamma5 {
            bail!(Unsupported, "a coarse operator has an adjoint where it is gamma5-hermitian");
        }
        let (mut out, inp) = (self.coarse(out, "out")?, self.coarse(inp, "in")?);
        let mut t = self.pool.lend(self.op.subset(), inp.nrhs())?;
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
    fn memory(&self, nrhs: usize, uses: Uses) -> u64 {
        let (grid, op) = (self.op.grid(), &self.op);
        let bytes =
            |subset| CoarseField::bytes(grid, op.precision(), subset, op.rows(), nrhs) as u64;
        bytes(Subset::Odd) + if uses.dagger { bytes(op.subset()) } else { 0 }
    }
}
