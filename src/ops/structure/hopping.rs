//! The hopping expansion M^-1 = sum_k (A^-1 H)^k A^-1 with M = A - H, where A is the part of M that acts on single
//! sites. T_n, the sum of the terms k < n, connects sites at most n - 1 steps apart, so that its trace is exact if
//! noise columns separate sites within this distance; and M^-1 - T_n = (A^-1 H)^n M^-1 has a smaller variance (Thron,
//! Dong, Liu, Ying, Phys. Rev. D 57 (1998) 1642).

use num_complex::Complex64;

use super::lines::Factor;
use super::loops::{probe, probes_beyond, LoopNoise, LoopOperators, Loops};
use super::sequential::times_spin;
use super::spin::Spin;
use crate::compose::{DiracSolver, Normalisation};
use crate::error::Result;
use crate::fields::{blas, Noise, SpinorField, Subset};
use crate::operators::{copy_parity, SiteTerm};
use crate::ops::gamma::SpinMatrix;

/// The sum T_n of the first terms of the hopping expansion, for a solver's operator.
pub(super) struct Hopping<'a> {
    solver: &'a DiracSolver,
    /// Number n of terms.
    terms: usize,
    /// The noise whose columns give the exact trace.
    noise: LoopNoise,
}

impl<'a> Hopping<'a> {
    /// Prepares the first `terms` terms for loops of these lines; `noise` gives the seed of the noise in the columns.
    /// This is of modulus 1, whatever the kind of `noise`: on a site its average must be 1 without a variance.
    pub fn new(
        solver: &'a DiracSolver,
        terms: usize,
        lines: &[Vec<Factor>],
        noise: LoopNoise,
    ) -> Hopping<'a> {
        let extents = solver.op().shape().geometry.global_extents();
        // A derivative takes a quark a site to either side.
        let longest = lines.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let reach = terms - 1 + longest;
        let noise = LoopNoise {
            noise: Noise::Z4,
            first: 0,
            vectors: 1,
            dilute: [true, true, false],
            time_parts: 1,
            probes: probes_beyond(extents, reach),
            ..noise
        };
        Hopping { solver, terms, noise }
    }

    /// Number of columns that give the exact trace.
    pub fn columns(&self) -> usize {
        self.noise.columns()
    }

    /// Computes out = A^-1 in, where A is the part of M that acts on single sites.
    fn site(&self, out: &mut SpinorField, inp: &SpinorField) -> Result<()> {
        let op = self.solver.op();
        for (parity, subset) in [(0, Subset::Even), (1, Subset::Odd)] {
            let shape = op.subset_shape(subset);
            let (mut from, mut to) = (shape.field(inp.nrhs())?, shape.field(inp.nrhs())?);
            copy_parity(&mut from, inp, parity)?;
            op.apply_site(&mut to, &from, parity, SiteTerm::Inverse, false, 1.0)?;
            copy_parity(out, &to, parity)?;
        }
        Ok(())
    }

    /// Computes x <- (A^-1 H)^n x, by n steps x <- x - A^-1 M x: for x = M^-1 b this is (M^-1 - T_n) b.
    ///
    /// # Errors
    /// Errors of the operator.
    pub fn remainder(&self, x: &mut SpinorField) -> Result<()> {
        (0..self.terms).try_for_each(|_| self.step(x, None))
    }

    /// Computes x <- x + A^-1 (b - M x); None: b = 0.
    fn step(&self, x: &mut SpinorField, b: Option<&SpinorField>) -> Result<()> {
        let shape = self.solver.op().shape();
        let (mut t, mut s) = (shape.field(x.nrhs())?, shape.field(x.nrhs())?);
        self.solver.op().apply(&mut t, x)?;
        if let Some(b) = b {
            blas::axpy(&blas::uniform(x.nrhs(), -1.0), b, &mut t)?;
        }
        self.site(&mut s, &t)?;
        blas::axpy(&blas::uniform(x.nrhs(), -1.0), &s, x)
    }

    /// The loops of T_n from columns `first` to `first + count`, in the normalisation of the solver; the sum over all
    /// columns is the exact trace over the sites where quarks do not vanish at boundaries in time.
    ///
    /// # Errors
    /// Errors of the operator and of [`LoopOperators::contracted`].
    pub fn exact(&self, first: usize, count: usize, operators: &LoopOperators) -> Result<Loops> {
        let shape = self.solver.op().shape();
        let each = self.noise.columns() / self.noise.probes;
        let b = shape.field(count)?;
        for k in 0..count {
            let (wave, column) = ((first + k) / each, (first + k) % each);
            let wave = probe(shape.geometry.global_extents(), wave)?;
            self.noise.set(&b.columns(k, 1)?, 0, column, wave)?;
        }
        let mut x = shape.field(count)?;
        self.site(&mut x, &b)?;
        for _ in 1..self.terms {
            self.step(&mut x, Some(&b))?;
        }
        let factor = match self.solver.params().normalisation {
            Normalisation::Kappa => 1.0,
            Normalisation::Mass => self.solver.op().mass_scale(),
        };
        times_spin(&b, Spin::from(SpinMatrix::gamma5()))?;
        let mut found = operators.contracted(&b, &x)?;
        let factor = Complex64::from(factor / self.noise.probes as f64);
        found.lines.iter_mut().chain(&mut found.current).for_each(|z| *z *= factor);
        Ok(found)
    }
}
