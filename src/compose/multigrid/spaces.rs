//! The coarse spaces of a hierarchy in the precision of an operator, for traces and propagators:
//! approximate inverses P D_c^-1 R of each level, with D_c = R D P solved to any tolerance by GCR,
//! preconditioned by the hierarchy's cycle.

use std::sync::Arc;

use super::cycle::Hierarchy;
use super::{CoarseSystem, FineOperator, Multigrid, Transfer};
use crate::error::Result;
use crate::fields::{CoarseField, Precision, Recon, SpinorField, Subset, VectorField};
use crate::linop::{LinOp, Shape};
use crate::operators::{ActionVersion, CoarseOperator, QuarkAction};
use crate::params::Key;
use crate::refuse;
use crate::solvers::{no_monitor, SolverKind, SolverParams, SolverReport, Stop, System};

/// Number of right-hand sides for which rehearsals announce memory.
const COLUMNS: usize = 12;
/// Directions that GCR on a coarse level keeps.
const DIRECTIONS: usize = 10;

/// The coarse levels of a hierarchy, numbered from 1, with prolongators P to the level above each
/// and restrictors R from it; level 0 is the lattice.
pub struct CoarseSpaces {
    spaces: Vec<Space>,
    shape: Shape,
    version: ActionVersion,
}

#[derive(Clone)]
struct Space {
    transfer: Arc<Transfer>,
    op: Arc<CoarseOperator>,
    system: Arc<CoarseSystem>,
    /// The multigrid cycle of the coarser levels, which preconditions solves on this level; None on the coarsest level.
    cycle: Option<Arc<dyn LinOp>>,
}

impl CoarseSpaces {
    /// Makes the spaces of the first `count` coarse levels of a hierarchy for the operator `op`; 0: of all coarse
    /// levels that are distributed over all ranks. Null vectors are those of the hierarchy, coarse operators are made
    /// again in the precision of `op`.
    ///
    /// # Errors
    /// `InvalidArgument`: more levels than there are on all ranks; `Unsupported`: operators of two flavours or in half
    /// precision; `FieldMismatch`: another lattice; `StaleMultigrid`; `OutOfMemory`, before any work.
    pub fn new(multigrid: &Multigrid, op: &dyn QuarkAction, count: usize) -> Result<Self> {
        multigrid.check(op)?;
        multigrid.check_links(op)?;
        let device = &op.shape().device;
        let fits = Self::footprint(multigrid, op, count, true)
            .and_then(|bytes| device.require(bytes, "the spaces of low modes"));
        op.links().geometry().comm().agree(fits)?;
        Self::made(multigrid, op, count)
    }

    /// Largest amount of device memory, in bytes, that making the spaces and then applying P D_c^-1
    /// R to twelve columns takes.
    ///
    /// # Errors
    /// Errors of [`CoarseSpaces::new`] that do not depend on links.
    pub fn memory(multigrid: &Multigrid, op: &dyn QuarkAction, count: usize) -> Result<u64> {
        multigrid.check(op)?;
        Self::footprint(multigrid, op, count, false)
    }

    /// Memory that the spaces take, from a rehearsal. With `compiled` the kernels are compiled at the same time.
    fn footprint(
        multigrid: &Multigrid,
        op: &dyn QuarkAction,
        count: usize,
        compiled: bool,
    ) -> Result<u64> {
        multigrid.with_stand_in(|model| {
            let device = model.device();
            let key = Key::of(("low modes", count, op.key(), model.params()));
            let there = || {
                let op = op.like_on(&device)?;
                let b = op.shape().field(COLUMNS)?;
                Ok((op, b))
            };
            let work = |(op, b): (Arc<dyn QuarkAction>, SpinorField)| {
                let spaces = Self::made(model, &*op, count)?;
                let (x, _) = spaces.solve(1, &spaces.restrict_spinors(&b)?, 0.1)?;
                spaces.prolong_to_spinors(1, &x)?;
                Ok(spaces)
            };
            let geometry = op.links().geometry();
            let both = (&op.shape().device, &device);
            geometry.footprint(both, compiled.then_some(key), there, work).map(|found| found.1)
        })
    }

    fn made(multigrid: &Multigrid, op: &dyn QuarkAction, count: usize) -> Result<Self> {
        let (precision, links) = op.storage();
        let Some(one) = op.coarsenable().filter(|_| precision != Precision::F16) else {
            refuse!(
                Unsupported,
                "multigrid",
                expected("an operator of one flavour in single or double precision"),
                found("{}", op.describe())
            );
        };
        let hierarchy = multigrid.read();
        let everywhere = hierarchy.gathers.iter().take_while(|gather| gather.is_none()).count();
        // A level that lives on fewer ranks is moved to them after restriction, so that the transfer to it still works
        // on all ranks.
        let there = hierarchy.transfers.len().min(everywhere + 1);
        if count > there {
            refuse!(
                InvalidArgument,
                "levels",
                expected(
                    "at most {there}, the coarse levels whose null vectors live on all ranks (multigrid's `gather` moves others to fewer)"
                ),
                found("{count}")
            );
        }
        let count = if count == 0 { there } else { count };
        let links = if links == Recon::R18 { links } else { Recon::R12 };
        let mut fine = FineOperator::Dirac(one.own_copy((precision, links))?);
        let mut spaces: Vec<Space> = vec![];
        for (l, from) in hierarchy.transfers.iter().take(count).enumerate() {
            let vectors = {
                let originals = from.originals(0, from.count())?;
                let grid = spaces.last().map_or(from.fine(), |above| above.transfer.coarse());
                let components = originals.components();
                let n = originals.nrhs();
                let mut vectors = CoarseField::new(grid, precision, Subset::Full, components, n)?;
                vectors.copy_from_columns(0, &originals, 0, n, 0)?;
                vectors
            };
            let transfer = Arc::new(Transfer::new(vectors, hierarchy.params.steps()[l].block)?);
            let op = Arc::new(fine.coarsened(&transfer, precision)?);
            let system = CoarseSystem::new(op.clone(), false);
            let gathered = hierarchy.gathers[l].is_some();
            let below = l + 1 < hierarchy.transfers.len() && !gathered;
            let cycle = below.then(|| {
                Arc::new(LevelCycle { of: hierarchy.clone(), level: l + 1, system: system.clone() })
                    as Arc<dyn LinOp>
            });
            fine = FineOperator::Coarse(op.clone());
            spaces.push(Space { transfer, op, system, cycle });
        }
        Ok(CoarseSpaces { spaces, shape: op.shape(), version: op.version() })
    }

    /// The spaces of another operator on the same lattice and in the same precision, with the same
    /// P and R: D_c is made again, and the cycles that precondition solves are those of the first
    /// operator.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice or precision; `OutOfMemory`.
    pub fn of_other(&self, op: &dyn QuarkAction) -> Result<Self> {
        let (precision, links) = op.storage();
        let shape = op.shape();
        let same = shape.geometry == self.shape.geometry && precision == self.shape.precision;
        let Some(one) = op.coarsenable().filter(|_| same) else {
            refuse!(
                FieldMismatch,
                "other",
                expected("an operator of the lattice and precision of the space"),
                found("{}", op.describe())
            );
        };
        let links = if links == Recon::R18 { links } else { Recon::R12 };
        let mut fine = FineOperator::Dirac(one.own_copy((precision, links))?);
        let mut spaces = vec![];
        for space in &self.spaces {
            let op = Arc::new(fine.coarsened(&space.transfer, precision)?);
            let system = CoarseSystem::new(op.clone(), false);
            fine = FineOperator::Coarse(op.clone());
            spaces.push(Space { op, system, ..space.clone() });
        }
        Ok(CoarseSpaces { spaces, shape, version: op.version() })
    }

    /// Refuses another operator or other links than the spaces were made for.
    ///
    /// # Errors
    /// `FieldMismatch`.
    pub fn check(&self, op: &dyn QuarkAction) -> Result<()> {
        if self.version != op.version() {
            refuse!(
                FieldMismatch,
                "space",
                expected("one that was made for this operator with its present links")
            );
        }
        Ok(())
    }

    /// Number of coarse levels.
    pub fn count(&self) -> usize {
        self.spaces.len()
    }

    fn space(&self, level: usize) -> &Space {
        &self.spaces[level - 1]
    }

    /// Number of unknowns of a coarse level on the whole lattice.
    pub fn unknowns(&self, level: usize) -> usize {
        let op = &self.space(level).op;
        op.grid().global_volume() * op.rows()
    }

    /// Extents of a coarse level on the whole lattice.
    pub fn extents(&self, level: usize) -> [usize; 4] {
        self.space(level).op.grid().global_extents()
    }

    /// Number of complex components at a site of a coarse level.
    pub fn rows(&self, level: usize) -> usize {
        self.space(level).op.rows()
    }

    /// A zero vector of a coarse level.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn field(&self, level: usize, nrhs: usize) -> Result<CoarseField> {
        self.space(level).op.field(Subset::Full, nrhs)
    }

    /// Applies the restrictor R of the first coarse level to spinors.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn restrict_spinors(&self, from: &SpinorField) -> Result<CoarseField> {
        self.shape.check(from, "spinors")?;
        let transfer = &self.space(1).transfer;
        let mut fine = transfer.fine_field(Subset::Full, from.nrhs())?;
        fine.copy_from_spinors(0, from, None)?;
        let mut to = self.field(1, from.nrhs())?;
        transfer.restrict(&mut to, &fine)?;
        Ok(to)
    }

    /// Applies the restrictor R from a coarse level to the next one.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn restrict(&self, level: usize, from: &CoarseField) -> Result<CoarseField> {
        let mut to = self.field(level + 1, from.nrhs())?;
        self.space(level + 1).transfer.restrict(&mut to, from)?;
        Ok(to)
    }

    /// Applies the prolongator P from a coarse level, not the first, to the level above.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn prolong(&self, level: usize, from: &CoarseField) -> Result<CoarseField> {
        let mut to = self.field(level - 1, from.nrhs())?;
        self.space(level).transfer.prolong(&mut to, from)?;
        Ok(to)
    }

    /// Applies the prolongators P of this level and of all above it; the result are spinors.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`.
    pub fn prolong_to_spinors(&self, level: usize, from: &CoarseField) -> Result<SpinorField> {
        if level > 1 {
            return self.prolong_to_spinors(level - 1, &self.prolong(level, from)?);
        }
        let transfer = &self.space(1).transfer;
        let mut fine = transfer.fine_field(Subset::Full, from.nrhs())?;
        transfer.prolong(&mut fine, from)?;
        let mut to = self.shape.field(from.nrhs())?;
        fine.copy_to_spinors(0, &mut to, 0)?;
        Ok(to)
    }

    /// x = D_c^-1 b on a coarse level, where D_c = R M P with the operator M for which the spaces
    /// were made.
    ///
    /// # Errors
    /// `FieldMismatch`, `OutOfMemory`, `SolverBreakdown`. Not converged is not an error: see the report.
    pub fn solve(
        &self,
        level: usize,
        b: &CoarseField,
        tol: f64,
    ) -> Result<(CoarseField, SolverReport)> {
        let Space { system, cycle, .. } = self.space(level);
        let kind = if cycle.is_some() { SolverKind::Gcr } else { SolverKind::BiCgStab };
        let how = System { preconditioner: cycle.clone(), ..System::new(system.clone()) };
        let ask =
            SolverParams { kind, nkrylov: DIRECTIONS, stop: Stop::at(tol), ..Default::default() };
        let mut x = b.like(b.nrhs())?;
        let report = system.solve_all(&how, &ask, false, &mut x, b, &mut no_monitor)?;
        Ok((x, report))
    }
}

/// The cycle of a hierarchy from a coarse level on, in the precision of that level's solves.
struct LevelCycle {
    of: Arc<Hierarchy>,
    level: usize,
    system: Arc<CoarseSystem>,
}

impl LinOp for LevelCycle {
    fn shape(&self) -> Shape {
        self.system.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        let (mut out, inp) = (self.system.coarse(out, "out")?, self.system.coarse(inp, "in")?);
        let (op, n) = (self.of.op(self.level), inp.nrhs());
        let [mut r, mut z, mut remaining] =
            [op.field(op.subset(), n)?, op.field(op.subset(), n)?, op.field(op.subset(), n)?];
        r.copy_from_columns(0, &inp, 0, n, 0)?;
        self.of.coarse_cycle(self.level, &mut z, &mut remaining, &r, false)?;
        out.copy_from_columns(0, &z, 0, n, 0)
    }
    fn flops(&self) -> f64 {
        self.system.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.system.bytes(nrhs)
    }
}
