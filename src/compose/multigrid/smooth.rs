//! The smoothers of the finest level, on its even-odd system, and of coarse levels.

use std::sync::{Mutex, MutexGuard};

use super::cycle::{count, Hierarchy};
use super::krylov::blocks;
use super::least_squares::{Row, Space};
use super::params::{Steps, COLUMNS_FROM, STEPS};
use super::schwarz::colours;
use super::{MultigridParams, Smoother};
use crate::error::Result;
use crate::fields::blas::{self, Times};
use crate::fields::{CoarseField, SpinorField, Subset};
use crate::operators::Scales;
use crate::operators::TensorHop;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Number of vectors that the finest level's smoother keeps when it takes `steps` steps.
fn directions(params: &MultigridParams, steps: usize) -> usize {
    match params.smoother {
        Smoother::CaGcr => steps.clamp(1, STEPS) + params.short_powers() as usize,
        Smoother::Gcr if steps > 1 => 2 * steps.min(STEPS),
        Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative => 3,
        _ => 1,
    }
}

impl Hierarchy {
    /// Takes steps of the finest level's smoother: adds the correction to x and, if the residual is
    /// asked for, leaves it in r. The host waits for no results.
    pub fn relax(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        count(&self.iterations[0], steps as u64);
        let n = r.nrhs();
        if let Some(tensor) = self.tensor.as_ref().filter(|_| n >= COLUMNS_FROM) {
            return self.relax_columns(tensor, x, r, steps, residual);
        }
        let directions = directions(&self.params, steps);
        let mut kept: Vec<SpinorField> = {
            let mut kept = lock(&self.directions);
            std::mem::take(&mut *kept)
        };
        kept.retain(|field| field.nrhs() == n);
        while kept.len() < directions {
            kept.push(self.fine.shape().field(n)?);
        }
        match self.params.smoother {
            Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative => {
                self.relax_domains(x, r, &mut kept, steps, residual)?
            }
            Smoother::Gcr if steps > 1 => self.relax_gcr(x, r, &mut kept, steps, residual)?,
            Smoother::CaGcr if steps > 1 || self.params.short_powers() => {
                self.relax_space(x, r, &mut kept, steps, residual)?
            }
            other => self.relax_alone(other, x, r, &mut kept[0], steps, residual)?,
        }
        *lock(&self.directions) = kept;
        Ok(())
    }

    /// Smooths along one direction at a time.
    fn relax_alone(
        &self,
        smoother: Smoother,
        x: &mut SpinorField,
        r: &mut SpinorField,
        q: &mut SpinorField,
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let n = r.nrhs();
        let relaxed = matches!(smoother, Smoother::Mr) && steps > 1;
        let richardson = matches!(smoother, Smoother::Richardson);
        let omega = if relaxed || richardson { self.params.omega } else { 1.0 };
        for step in 0..steps {
            let goes_on = residual || step + 1 < steps;
            if richardson {
                blas::axpy(&blas::uniform(n, omega), r, x)?;
                if goes_on {
                    self.fine.apply(q, r)?;
                    blas::axpy(&blas::uniform(n, -omega), q, r)?;
                }
                continue;
            }
            self.fine.apply(q, r)?;
            let sums = blas::dot_norm_later(q, r)?;
            let times = Times::DotOverNorm(&sums);
            blas::axpy_times(&blas::uniform(n, omega), times, r, x)?;
            if goes_on {
                blas::axpy_times(&blas::uniform(n, -omega), times, q, r)?;
            }
        }
        Ok(())
    }

    /// Minimises the residual over the Krylov space of several steps at a time, as GCR does. Krylov
    /// vectors in 16 bits start from a rounded copy of r; r itself may be in 16 bits if its
    /// residual is not asked for.
    fn relax_space(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        kept: &mut [SpinorField],
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let squares = self.squares[0].take(r.nrhs())?;
        for (count, last) in blocks(steps, STEPS) {
            let (start, powers) = kept.split_at_mut(self.params.short_powers() as usize);
            let first: &SpinorField = match start {
                [rounded] if rounded.precision() != r.precision() => {
                    blas::copy(rounded, r)?;
                    rounded
                }
                _ => r,
            };
            let mut rows = vec![first.row()?];
            for k in 0..count {
                let (before, now) = powers.split_at_mut(k);
                self.fine.one_minus_schur(&mut now[0], before.last().unwrap_or(first))?;
                rows.push(now[0].row()?);
            }
            squares.solve_roughly(&rows, 0, Space::Powers)?;
            match last && !residual {
                true => squares.solution(&rows, x.row()?, true)?,
                false => squares.both(&rows, x.row()?, true, r.row()?)?,
            }
        }
        Ok(())
    }

    /// Minimises the residual over the Krylov space of several steps at a time, with Krylov vectors
    /// as columns in half precision for tensor cores.
    fn relax_columns(
        &self,
        tensor: &TensorHop,
        x: &mut SpinorField,
        r: &mut SpinorField,
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let (own, n) = (self.fine.shape(), r.nrhs());
        let squares = self.squares[0].take(n)?;
        let scales = Scales::new(&own.device, n)?;
        let mut kept = std::mem::take(&mut *lock(&self.columns));
        kept.retain(|field| field.nrhs() == n);
        while kept.len() < directions(&self.params, steps) {
            kept.push(tensor.field(n)?);
        }
        let mut powers = |first: &SpinorField, count: usize| -> Result<Vec<Row>> {
            kept[0].take(first, &scales)?;
            for k in 0..count {
                let (before, now) = kept.split_at_mut(k + 1);
                tensor.apply(&mut now[0], &before[k])?;
            }
            let rows: Result<Vec<Row>> =
                kept[..=count].iter().map(|power| power.row(first, &scales)).collect();
            let rows = rows?;
            squares.solve_roughly(&rows, 0, Space::Powers)?;
            Ok(rows)
        };
        for (count, last) in blocks(steps, STEPS) {
            let rows = match r.precision() == own.precision {
                true => powers(r, count)?,
                false => {
                    let rounded = &mut *self.workspace.field(&own, n)?;
                    blas::copy(rounded, r)?;
                    powers(rounded, count)?
                }
            };
            match last && !residual {
                true => squares.solution(&rows, x.row()?, true)?,
                false => squares.both(&rows, x.row()?, true, r.row()?)?,
            }
        }
        *lock(&self.columns) = kept;
        Ok(())
    }

    /// Smooths by GCR with a global sum in every step: residuals are the directions, which are kept
    /// with their images.
    fn relax_gcr(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        kept: &mut [SpinorField],
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let squares = self.squares[0].take(r.nrhs())?;
        for (count, last) in blocks(steps, STEPS) {
            let (directions, images) = kept.split_at_mut(count);
            let mut rows: Vec<Row> = vec![];
            for k in 0..count {
                blas::copy(&mut directions[k], r)?;
                self.fine.apply(&mut images[k], &directions[k])?;
                if k == 0 {
                    rows.push(directions[0].row()?);
                }
                rows.push(images[k].row()?);
                squares.solve(&rows, if k == 0 { 0 } else { k + 1 }, Space::Images)?;
                if k + 1 < count || !last || residual {
                    squares.residual(&rows, r.row()?)?;
                }
            }
            let directions = directions.iter().map(|v| v.row()).collect::<Result<Vec<Row>>>()?;
            squares.solution(&directions, x.row()?, true)?;
        }
        Ok(())
    }

    /// Smooths by Schwarz's procedure: computes corrections in domains, and adds their sum times
    /// the factor that makes the residual on the whole lattice smallest.
    fn relax_domains(
        &self,
        x: &mut SpinorField,
        r: &mut SpinorField,
        kept: &mut [SpinorField],
        steps: usize,
        residual: bool,
    ) -> Result<()> {
        let Some((domains, inside)) = &self.schwarz.fine else {
            crate::bail!(Internal, "a smoother without its domains");
        };
        let [z, d, q, ..] = kept else {
            crate::bail!(Internal, "a smoother without its vectors");
        };
        let n = r.nrhs();
        let colours = colours(self.params.smoother);
        domains.with_sums(r.precision(), n, |sums| {
            for step in 0..steps {
                for (k, &colour) in colours.iter().enumerate() {
                    z.clear()?;
                    blas::copy(d, r)?;
                    for _ in 0..self.params.domain_steps {
                        inside.apply(q, d)?;
                        domains.domains.step(sums, [&mut *z, &mut *d], q, colour, 1.0)?;
                    }
                    self.fine.apply(q, z)?;
                    let sums = blas::dot_norm_later(q, r)?;
                    let times = Times::DotOverNorm(&sums);
                    blas::axpy_times(&blas::uniform(n, 1.0), times, z, x)?;
                    if residual || step + 1 < steps || k + 1 < colours.len() {
                        blas::axpy_times(&blas::uniform(n, -1.0), times, q, r)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Takes steps of a coarse level's smoother: writes the correction to x, or adds it with
    /// `keep`, and leaves the residual in r if that is asked for. The host waits for no results.
    pub fn smooth(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: usize,
        keep: bool,
        residual: bool,
    ) -> Result<()> {
        let plain = Steps::smoothing(steps, keep, residual);
        match self.params.coarse_smoother {
            Smoother::CaGcr => self.minimise(level, x, r, plain),
            Smoother::Mr => self.minimise(level, x, r, Steps { at_once: 1, ..plain }),
            Smoother::Gcr => self.gcr(level, x, r, plain, false),
            Smoother::Richardson => self.richardson(level, x, r, plain),
            Smoother::SchwarzAdditive | Smoother::SchwarzMultiplicative => {
                self.smooth_domains(level, x, r, plain)
            }
        }
    }

    fn richardson(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
    ) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let mut odd = pool.take(Subset::Odd, n)?;
        let mut q = pool.take(op.subset(), n)?;
        let omega = blas::uniform(n, self.params.omega);
        for step in 0..steps.max {
            let before = blas::uniform(n, if steps.keep || step > 0 { 1.0 } else { 0.0 });
            x.axpby(&omega, r, &before)?;
            if steps.residual || step + 1 < steps.max {
                op.schur(&mut q, r, &mut odd)?;
                r.axpy(&blas::uniform(n, -self.params.omega), &q)?;
            }
        }
        count(&self.iterations[level], steps.max as u64);
        Ok(())
    }

    fn smooth_domains(
        &self,
        level: usize,
        x: &mut CoarseField,
        r: &mut CoarseField,
        steps: Steps,
    ) -> Result<()> {
        let (op, pool, n) = (self.op(level), &self.pools[level], r.nrhs());
        let Some(domains) = self.schwarz.coarse.get(level - 1) else {
            crate::bail!(Internal, "a smoother without its domains");
        };
        let squares = self.squares[level].take(n)?;
        let mut odd = pool.take(Subset::Odd, n)?;
        let (mut z, mut d) = (pool.take(op.subset(), n)?, pool.take(op.subset(), n)?);
        let mut q = pool.take(op.subset(), n)?;
        let colours = colours(self.params.coarse_smoother);
        let mut keep = steps.keep;
        domains.with_sums(op.precision(), n, |sums| {
            for step in 0..steps.max {
                for (k, &colour) in colours.iter().enumerate() {
                    z.clear()?;
                    d.copy(r)?;
                    for _ in 0..self.params.domain_steps {
                        op.schur_inside(&domains.domains, &mut q, &d, &mut odd)?;
                        domains.domains.coarse_step(sums, [&mut z, &mut d], &q, colour, 1.0)?;
                    }
                    op.schur(&mut q, &z, &mut odd)?;
                    squares.solve(&[r.row(), q.row()], 0, Space::Images)?;
                    squares.solution(&[z.row()], x.row(), keep)?;
                    keep = true;
                    if steps.residual || step + 1 < steps.max || k + 1 < colours.len() {
                        squares.residual(&[r.row(), q.row()], r.row())?;
                    }
                }
            }
            Ok(())
        })?;
        count(&self.iterations[level], steps.max as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::finest::Finest;
    use super::super::setup::{anew, Setup};
    use super::super::{LevelParams, MultigridParams};
    use super::*;
    use crate::backend::tests::one_device;
    use crate::fields::{GaugeField, Geometry, Noise, Precision, Recon};
    use crate::linop::Shape;
    use crate::operators::{ActionParams, DiracParams};
    use crate::solvers::no_monitor;

    /// Smoothing with columns in half precision agrees with smoothing with Krylov vectors in 16
    /// bits, in one block of steps or two, up to the rounding of half precision, 2^-11, times the
    /// amplification by the least squares.
    #[test]
    fn columns_smooth_like_powers_in_16_bits() {
        let device = one_device();
        let geometry = Geometry::new([8, 4, 4, 8], &device).unwrap();
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        links.set_near_unit(7, 0.45).unwrap();
        let dirac = DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = ActionParams::from(dirac.with_kappa(0.13)).create(Arc::new(links)).unwrap();
        let level = LevelParams { block: [4, 2, 2, 4], vectors: 4, pre: 0, post: 6 };
        let params = MultigridParams {
            setup_columns: 4,
            smoother_precision: Some(Precision::F16),
            refinements: 0,
            ..MultigridParams::with_levels(vec![level])
        };
        let finest = Finest::new(&*op, &params).unwrap();
        let mut monitor = no_monitor;
        let mut setup = Setup::new(&params, &mut monitor);
        let mut hierarchy = anew(&finest, &params, &mut setup).unwrap();
        let tensor = Arc::new(finest.smoother().unwrap().tensor_hop().unwrap());
        for (steps, residual, nrhs) in [(6, false, 5), (8, true, 4), (14, true, 9)] {
            let shape = Shape { precision: Precision::F32, ..hierarchy.fine.shape() };
            let mut smoothed = |tensor: Option<Arc<TensorHop>>| {
                hierarchy.tensor = tensor;
                let (mut x, mut r) = (shape.field(nrhs).unwrap(), shape.field(nrhs).unwrap());
                r.set_noise(Noise::Normal, 3, 0).unwrap();
                hierarchy.relax(&mut x, &mut r, steps, residual).unwrap();
                (x, r)
            };
            let ((mut x, mut r), (y, s)) = (smoothed(Some(tensor.clone())), smoothed(None));
            let norms = [&x, &r, &s].map(|v| blas::norm2(v).unwrap());
            let minus = blas::uniform(nrhs, -1.0);
            blas::axpy(&minus, &y, &mut x).unwrap();
            blas::axpy(&minus, &s, &mut r).unwrap();
            let errors = [&x, &r].map(|v| blas::norm2(v).unwrap());
            for i in 0..nrhs {
                let error = (errors[0][i] / norms[0][i]).sqrt();
                assert!(error < 5e-3, "{steps} steps: solutions differ by {error:e}");
                if residual {
                    assert!(errors[1][i] < 2.5e-5 * norms[0][i], "{steps} steps: {:?}", errors[1]);
                    assert!(norms[1][i] < 1.05 * norms[2][i], "{steps} steps: {norms:?}");
                }
            }
            assert!(errors[0].iter().any(|e| *e > 0.0), "columns were not used");
        }
    }
}
