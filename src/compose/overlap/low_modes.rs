//! Low modes of the overlap operator (Giusti, Hoelbling, Luescher, Wittig, hep-lat/0212012): they give its index, and
//! the part of solutions with which solves start.

use super::modes::not_ended;
use super::{Overlap, OverlapSquare};
use crate::backend::Device;
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{basis, blas, SpinorField};
use crate::linop::LinOp;
use crate::params::Key;
use crate::refuse;
use crate::solvers::stop::Limit;
use crate::solvers::{eigen, no_monitor, EigenParams, Filter, Monitor};

/// Low modes of D^dagger D on both chiralities, of the massless operator.
pub struct OverlapModes {
    /// Vectors of chirality 1, then -1.
    vectors: [SpinorField; 2],
    values: [Vec<f64>; 2],
    residuals: [Vec<f64>; 2],
    zeros: [usize; 2],
    rho: f64,
}

/// Eigenvalues and residuals of low modes, of chirality 1, then -1; together with the vectors they are all that
/// [`OverlapModes::restore`] needs.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapModesRecord {
    pub values: [Vec<f64>; 2],
    pub residuals: [Vec<f64>; 2],
    pub zeros: [usize; 2],
    /// rho = 1 + s, the radius of the circle on which the eigenvalues of D_N(0) lie.
    pub rho: f64,
}

/// A mode is a zero mode if its eigenvalue is at most this multiple of the error that the sign function and the
/// eigensolver leave.
const ZERO: f64 = 10.0;

impl OverlapModes {
    /// Finds `count` modes of each chirality to a residual of `tol` times 4 rho^2. If all modes that were found are
    /// zero modes, the number is doubled and the search repeated, since there may be more zero modes.
    ///
    /// # Errors
    /// Errors of [`eigen`]; `KernelSpectrum`: the modes do not converge, or all are zero modes even for the largest
    /// number that can be searched for on this lattice.
    pub fn find(op: &Overlap, count: usize, tol: f64, monitor: &mut Monitor) -> Result<Self> {
        Self::find_within(f64::INFINITY, op, count, tol, monitor)
    }

    /// Does what [`OverlapModes::find`] does, in at most `max_seconds`.
    ///
    /// # Errors
    /// Errors of [`OverlapModes::find`]; `KernelSpectrum`: the time was over before all were found.
    pub fn find_within(
        max_seconds: f64,
        op: &Overlap,
        count: usize,
        tol: f64,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        let shape = op.shape();
        let key = Key::of(("overlap modes", op.key()));
        shape.geometry.precompile(&shape.device, None, false, key, |device| {
            Self::search(f64::INFINITY, &op.like_on(device)?, count, tol, &mut no_monitor)
        });
        Self::search(max_seconds, op, count, tol, monitor)
    }

    fn search(
        max_seconds: f64,
        op: &Overlap,
        count: usize,
        tol: f64,
        monitor: &mut Monitor,
    ) -> Result<Self> {
        let limit = Limit::new(max_seconds)?;
        let massless = op.with_mass(0.0)?;
        let (rho, delta) = (op.rho(), op.sign().error_bound());
        // An application of D costs many hops: a large Krylov space needs fewer applications than polynomials.
        let max = massless.shape().numbers() as usize / 8;
        let mut once = |chirality: i32, count: usize, guess: Option<&SpinorField>| -> Result<_> {
            let params = EigenParams {
                count,
                tol,
                max_vectors: 4 * count + 40,
                filter: Filter::Plain,
                max_seconds: limit.left(),
                ..Default::default()
            };
            let (v, report) = eigen(&massless.square(chirality), None, &params, guess, monitor)?;
            not_ended(&report, "low modes of the overlap operator", max_seconds)?;
            if !report.converged {
                bail!(
                    KernelSpectrum,
                    "{count} low modes of the overlap operator did not converge in {} restarts: allow \
                     a larger tolerance or ask for fewer",
                    report.restarts
                );
            }
            Ok((v, report))
        };
        let zero = |(v, b): &(&f64, &f64)| v.abs() <= ZERO * (2.0 * rho * rho * delta + *b);
        let mut find = |chirality| -> Result<_> {
            let (mut v, mut report) = once(chirality, count, None)?;
            loop {
                let found = report.values.len();
                let zeros = report.values.iter().zip(&report.bounds).filter(zero).count();
                if zeros < found {
                    return Ok((v, report, zeros));
                }
                if found >= max {
                    bail!(
                        KernelSpectrum,
                        "all {found} low modes of chirality {chirality} are zero modes to their errors: \
                         the index is not known. SolveRequest for a smaller tolerance, or make the operator with \
                         a smaller delta"
                    );
                }
                (v, report) = once(chirality, (2 * found).min(max), Some(&v))?;
            }
        };
        let (upper, lower) = (find(1)?, find(-1)?);
        Ok(OverlapModes {
            vectors: [upper.0, lower.0],
            values: [upper.1.values, lower.1.values],
            residuals: [upper.1.residuals, lower.1.residuals],
            zeros: [upper.2, lower.2],
            rho,
        })
    }

    /// Modes of the same shape on another device, with vectors that are zero; for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        let [upper, lower] = &self.vectors;
        Ok(OverlapModes {
            vectors: [upper.like_on(device)?, lower.like_on(device)?],
            values: self.values.clone(),
            residuals: self.residuals.clone(),
            ..*self
        })
    }

    /// Eigenvalues and residuals, to be stored with the vectors.
    pub fn record(&self) -> OverlapModesRecord {
        OverlapModesRecord {
            values: self.values.clone(),
            residuals: self.residuals.clone(),
            zeros: self.zeros,
            rho: self.rho,
        }
    }

    /// Restores modes that were found before, with the operator's precision or another; residuals are computed with
    /// this operator.
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, number of vectors or rho, or modes of another operator: their
    /// residuals with this one are larger than the record, the sign function's error and the vectors'
    /// precision allow.
    pub fn restore(
        op: &Overlap,
        vectors: [&SpinorField; 2],
        record: &OverlapModesRecord,
    ) -> Result<Self> {
        let (massless, shape, rho) = (op.with_mass(0.0)?, op.shape(), op.rho());
        let max = 4.0 * rho * rho;
        if record.rho != rho {
            refuse!(
                FieldMismatch,
                "modes",
                expected("those of 1 + s = {rho}"),
                found("{}", record.rho)
            );
        }
        let mut own = vec![];
        let mut residuals: [Vec<f64>; 2] = Default::default();
        for (side, (v, chirality)) in vectors.iter().zip([1, -1]).enumerate() {
            let (values, before) = (&record.values[side], &record.residuals[side]);
            let n = v.nrhs();
            let fits = [values.len(), before.len()] == [n; 2] && record.zeros[side] <= n;
            if v.geometry() != &shape.geometry || v.device() != &shape.device || !fits {
                bail!(
                    FieldMismatch,
                    "modes of chirality {chirality}: {n} vectors with {} values, or another lattice",
                    values.len()
                );
            }
            let (mut x, mut r) = (shape.field(n)?, shape.field(n)?);
            blas::copy(&mut x, v)?;
            massless.square(chirality).apply(&mut r, &x)?;
            let minus: Vec<f64> = values.iter().map(|l| -l).collect();
            let r2 = blas::axpy_norm(&blas::complex(&minus), &x, &mut r)?;
            residuals[side] = r2.iter().map(|r| r.sqrt()).collect();
            let norms = blas::norm2(&x)?;
            let epsilon = v.precision().min(shape.precision).epsilon();
            let error = op.sign().error_bound() + 100.0 * epsilon;
            for k in 0..n {
                let allowed = 10.0 * before[k] + max * error;
                let unit = (norms[k] - 1.0).abs() <= 1e3 * epsilon;
                if !(unit && residuals[side][k] <= allowed) {
                    bail!(
                        FieldMismatch,
                        "modes of chirality {chirality}: with this operator mode {k} has the residual \
                         {}, when it was found {}: it belongs to another one",
                        significant(residuals[side][k], 3),
                        significant(before[k], 3)
                    );
                }
            }
            own.push(x);
        }
        let (Some(lower), Some(upper)) = (own.pop(), own.pop()) else {
            bail!(Internal, "modes of two chiralities");
        };
        Ok(OverlapModes {
            vectors: [upper, lower],
            values: record.values.clone(),
            residuals,
            zeros: record.zeros,
            rho,
        })
    }

    /// Whether there are at least `count` modes of each chirality with residuals up to `tol` times 4 rho^2, and at
    /// least one of them is not a zero mode.
    pub fn hold(&self, count: usize, tol: f64) -> bool {
        let max = 4.0 * self.rho * self.rho * tol;
        let good = |(r, &zeros): (&Vec<f64>, &usize)| {
            r.len() >= count && r[..count].iter().all(|r| *r <= max) && zeros < r.len()
        };
        self.residuals.iter().zip(&self.zeros).all(good)
    }

    /// Number of modes of each chirality; one chirality may have one more.
    pub fn count(&self) -> usize {
        self.values[0].len().min(self.values[1].len())
    }
    /// Eigenvalues |lambda|^2 of D^dagger D on chirality 1 and -1, ascending.
    pub fn values(&self) -> &[Vec<f64>; 2] {
        &self.values
    }
    pub fn residuals(&self) -> &[Vec<f64>; 2] {
        &self.residuals
    }
    pub fn vectors(&self) -> &[SpinorField; 2] {
        &self.vectors
    }
    pub(super) fn rho(&self) -> f64 {
        self.rho
    }
    /// Number of zero modes of chirality 1 and of chirality -1.
    pub fn zeros(&self) -> [usize; 2] {
        self.zeros
    }
    /// The index n_- - n_+. With gamma5 = gamma_x gamma_y gamma_z gamma_t it is the topological charge of a smooth
    /// field in the convention of the gauge observables.
    pub fn index(&self) -> i64 {
        self.zeros[1] as i64 - self.zeros[0] as i64
    }

    /// Computes out = sum_k v_k <v_k, b> / mu_k, where mu_k is the eigenvalue of D^dagger D at this mass.
    pub(super) fn low_inverse(
        &self,
        mass: f64,
        out: &mut SpinorField,
        b: &SpinorField,
    ) -> Result<()> {
        let n = b.nrhs();
        let (scale, shift) = OverlapSquare::shift_of(self.rho, mass);
        out.clear()?;
        for (v, values) in self.vectors.iter().zip(&self.values) {
            let k = v.nrhs();
            let mut c = basis::dots(v, 0..k, b, 0..n)?;
            for (row, value) in c.chunks_mut(n).zip(values) {
                let inverse = 1.0 / (scale * (value.max(0.0) + shift));
                row.iter_mut().for_each(|z| *z *= if inverse.is_finite() { inverse } else { 0.0 });
            }
            basis::combine(v, 0..k, &c, 1.0, out, 0..n)?;
        }
        Ok(())
    }

    /// Removes the modes from b: b = b - sum_k v_k <v_k, b>.
    pub(super) fn take_out(&self, b: &mut SpinorField) -> Result<()> {
        let n = b.nrhs();
        for v in &self.vectors {
            let k = v.nrhs();
            let c: Vec<_> = basis::dots(v, 0..k, b, 0..n)?.iter().map(|z| -z).collect();
            basis::combine(v, 0..k, &c, 1.0, b, 0..n)?;
        }
        Ok(())
    }
}
