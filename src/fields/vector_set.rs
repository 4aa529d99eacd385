//! Sets of many vectors, of which some may be in host memory if not all fit the device.

use std::ops::Range;

use num_complex::Complex64;

use super::basis::TURNED;
use super::vector::HostCopy;
use super::{basis, blas, Precision, VectorField};
use crate::backend::Device;
use crate::bail;
use crate::error::Result;

/// Number of vectors that are copied from the host to the device at a time.
const VECTOR_BLOCK: usize = 8;

/// Vectors of one shape, numbered from 0. The first ones (at least one) are right-hand sides of a field on the device.
/// The others are in host memory and are copied to the device a few at a time when they are needed. Results do not
/// depend on where vectors are, except for the rounding of [`VectorSet::rotate`].
pub struct VectorSet {
    first: VectorField,
    on_host: Vec<HostCopy>,
}

impl From<VectorField> for VectorSet {
    fn from(first: VectorField) -> Self {
        VectorSet { first, on_host: vec![] }
    }
}

impl VectorSet {
    /// A set of the right-hand sides of `first`, followed by `on_host` vectors in host memory, which must not be read
    /// before they are written.
    pub fn new(first: VectorField, on_host: usize) -> Self {
        let on_host = (0..on_host).map(|_| HostCopy::default()).collect();
        VectorSet { first, on_host }
    }

    /// A set of `count` vectors of the shape of `like`. As many of them are on the device as leave a quarter of its
    /// memory free; all ranks have the same number there. Vectors must not be read before they are written.
    ///
    /// # Errors
    /// `OutOfMemory`: not even one fits.
    pub fn fitting(like: &VectorField, count: usize) -> Result<Self> {
        let (device, comm) = (like.device(), like.geometry().comm());
        let free = comm.agree(device.memory())?.0;
        let mut fewest = [-((free - free / 4) as f64 / (like.held() / like.nrhs()) as f64)];
        comm.max(&mut fewest)?;
        let here = (-fewest[0] as usize).clamp(1, count);
        Ok(VectorSet::new(like.like_with(like.precision(), here)?, count - here))
    }

    /// A set that uses the memory of `field`. The caller must make sure that nothing else writes to the memory while it
    /// is in use.
    pub fn of(field: &VectorField) -> Result<Self> {
        Ok(field.columns(0, field.nrhs())?.into())
    }

    pub fn count(&self) -> usize {
        self.on_device() + self.on_host.len()
    }
    /// Number of vectors on the device, which are the first ones of the set.
    pub fn on_device(&self) -> usize {
        self.first.nrhs()
    }
    /// The field of the vectors on the device.
    pub fn first(&self) -> &VectorField {
        &self.first
    }
    pub fn device(&self) -> &Device {
        self.first.device()
    }
    pub fn precision(&self) -> Precision {
        self.first.precision()
    }

    fn check(&self, which: &Range<usize>) -> Result<()> {
        if which.start > which.end || which.end > self.count() {
            bail!(
                FieldMismatch,
                "basis: vectors {} to below {} of {}",
                which.start,
                which.end,
                self.count()
            );
        }
        Ok(())
    }

    /// Splits a range of vectors into ranges that are on the device at the same time: the vectors that are always on
    /// the device, and groups of those in host memory.
    fn parts(&self, which: Range<usize>) -> Vec<Range<usize>> {
        let here = self.on_device();
        let on_host = (which.start.max(here)..which.end).step_by(VECTOR_BLOCK);
        let on_host = on_host.map(|k| k..which.end.min(k + VECTOR_BLOCK));
        let on_device = std::iter::once(which.start..which.end.min(here));
        on_device.chain(on_host).filter(|part| !part.is_empty()).collect()
    }

    /// The vectors of one of the ranges that `parts` returns as a field on the device: a copy of those in host memory,
    /// else a field that uses the memory of the set.
    fn part(&self, which: &Range<usize>) -> Result<VectorField> {
        if which.end <= self.on_device() {
            return self.first.columns(which.start, which.len());
        }
        self.get(which.start, which.len())
    }

    /// A range of vectors as a field on the device that must not be written to: it uses the memory of the set if all of
    /// them are on the device, else it is a copy.
    ///
    /// # Errors
    /// Errors of [`VectorSet::get`].
    pub(crate) fn view(&self, which: Range<usize>) -> Result<VectorField> {
        self.check(&which)?;
        self.part(&which)
    }

    /// A new field with `count` vectors from number `from` on.
    ///
    /// # Errors
    /// `FieldMismatch`: fewer than `from` + `count` vectors; `OutOfMemory`.
    pub fn get(&self, from: usize, count: usize) -> Result<VectorField> {
        self.check(&(from..from + count))?;
        let mut field = self.first.like_with(self.precision(), count)?;
        let here = (from + count).min(self.on_device()).saturating_sub(from);
        if here > 0 {
            field.copy_rhs(0, &self.first, from, here)?;
        }
        for k in here..count {
            field.columns(k, 1)?.copy_from_host(&self.on_host[from + k - self.on_device()])?;
        }
        Ok(field)
    }

    /// Replaces the vectors from number `to` on by `count` right-hand sides of `src` from number `from` on.
    ///
    /// # Errors
    /// Errors of [`VectorField::copy_rhs`]; `OutOfMemory`: the host has no memory.
    pub fn put(&mut self, to: usize, src: &VectorField, from: usize, count: usize) -> Result<()> {
        self.check(&(to..to + count))?;
        let device = self.on_device();
        let here = (to + count).min(device).saturating_sub(to);
        if here > 0 {
            self.first.copy_rhs(to, src, from, here)?;
        }
        for k in here..count {
            src.columns(from + k, 1)?.copy_to_host(&mut self.on_host[to + k - device])?;
        }
        Ok(())
    }

    /// All vectors as one field.
    ///
    /// # Errors
    /// `OutOfMemory`: the device has no room for them.
    pub fn into_field(self) -> Result<VectorField> {
        let count = self.count();
        match self.on_host.is_empty() {
            true => Ok(self.first),
            false => Ok(self.moved(count, count)?.first),
        }
    }

    /// Keeps the first `count` vectors, with as many on the device as before, and frees the others. With `by_host` they
    /// are copied through host memory, so that the device never holds more than before.
    ///
    /// # Errors
    /// `OutOfMemory`: the device has not enough memory for the copy, or the host for vectors that are copied through
    /// it.
    pub fn cut(mut self, count: usize, by_host: bool) -> Result<Self> {
        self.check(&(0..count))?;
        let here = count.min(self.on_device());
        self.on_host.truncate(count - here);
        if here == self.on_device() {
            return Ok(self);
        }
        if by_host {
            return self.moved(count, here);
        }
        let mut first = self.first.like_with(self.precision(), here)?;
        first.copy_rhs(0, &self.first, 0, here)?;
        Ok(VectorSet { first, ..self })
    }

    /// Keeps the first `count` vectors, `here` of them on the device; meanwhile no vector is on the device twice.
    fn moved(self, count: usize, here: usize) -> Result<Self> {
        let VectorSet { first, on_host } = self;
        let mut copies = vec![];
        for k in 0..first.nrhs().min(count) {
            copies.push(first.columns(k, 1)?.to_host()?);
        }
        let (device, geometry) = (first.device().clone(), first.geometry().clone());
        let (precision, subset) = (first.precision(), first.subset());
        let content = (first.components(), first.order());
        drop(first);
        // Where freed memory is kept, too.
        device.free_kept()?;
        copies.extend(on_host);
        let on_host = copies.split_off(here);
        let first =
            VectorField::with_components(&device, &geometry, precision, subset, here, content)?;
        for (k, copy) in copies.iter().enumerate() {
            first.columns(k, 1)?.copy_from_host(copy)?;
        }
        Ok(VectorSet { first, on_host })
    }

    /// A set like this one on another device, vectors zero: for rehearsals.
    pub(crate) fn like_on(&self, device: &Device) -> Result<Self> {
        Ok(VectorSet::new(self.first.like_on(device)?, self.on_host.len()))
    }

    /// A copy of the set in another precision, with the same vectors on the device and in host memory.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn to(&self, precision: Precision) -> Result<Self> {
        let mut first = self.first.like(precision)?;
        blas::copy(&mut first, &self.first)?;
        let mut other = VectorSet::new(first, self.on_host.len());
        for k in self.on_device()..self.count() {
            let mut one = self.first.like_with(precision, 1)?;
            blas::copy(&mut one, &self.get(k, 1)?)?;
            other.put(k, &one, 0, 1)?;
        }
        Ok(other)
    }

    /// Computes the scalar products of the vectors `of` of this set with right-hand sides of w, as [`basis::dots`]
    /// does.
    ///
    /// # Errors
    /// Errors of [`basis::dots`].
    pub fn dots(
        &self,
        of: Range<usize>,
        w: &VectorField,
        with: Range<usize>,
    ) -> Result<Vec<Complex64>> {
        self.check(&of)?;
        let mut all = vec![];
        for part in self.parts(of) {
            all.extend(basis::dots(&self.part(&part)?, 0..part.len(), w, with.clone())?);
        }
        Ok(all)
    }

    /// The scalar products <v_i, v_j> of the vectors `of` with each other, row by row.
    ///
    /// # Errors
    /// Errors of [`basis::dots`].
    pub fn gram(&self, of: Range<usize>) -> Result<Vec<Complex64>> {
        self.check(&of)?;
        let (n, start) = (of.len(), of.start);
        let mut g = vec![Complex64::ZERO; n * n];
        for part in self.parts(of.clone()) {
            let (m, at) = (part.len(), part.start - start);
            let c = self.dots(of.clone(), &self.part(&part)?, 0..m)?;
            for i in 0..n {
                g[i * n + at..i * n + at + m].copy_from_slice(&c[i * m..(i + 1) * m]);
            }
        }
        Ok(g)
    }

    /// Adds a linear combination of the vectors `from` of this set to right-hand sides of a field, as
    /// [`basis::combine`] does.
    ///
    /// # Errors
    /// Errors of [`basis::combine`].
    pub fn combine(
        &self,
        from: Range<usize>,
        c: &[Complex64],
        mut alpha: f64,
        w: &mut VectorField,
        to: Range<usize>,
    ) -> Result<()> {
        self.check(&from)?;
        if from.is_empty() {
            return basis::combine(&self.first, 0..0, c, alpha, w, to);
        }
        for part in self.parts(from.clone()) {
            let [first, end] = [part.start, part.end].map(|k| (k - from.start) * to.len());
            let v = self.part(&part)?;
            basis::combine(&v, 0..part.len(), &c[first..end], alpha, w, to.clone())?;
            alpha = 1.0;
        }
        Ok(())
    }

    /// Replaces vectors by linear combinations of the vectors `which`, as [`basis::rotate`] does.
    ///
    /// # Errors
    /// Errors of [`basis::rotate`]; `OutOfMemory`: the host has no memory.
    pub fn rotate(&mut self, which: Range<usize>, c: &[Complex64]) -> Result<()> {
        self.check(&which)?;
        if which.is_empty() || which.end <= self.on_device() {
            return basis::rotate(&mut self.first, which, c);
        }
        let rows = which.len();
        let columns = c.len() / rows;
        // For each portion of new vectors all old ones are copied to the device once.
        let portions = (0..columns).step_by(TURNED).map(|k| (k, TURNED.min(columns - k)));
        self.replace(which.start, portions, |set, first, n| {
            let some: Vec<Complex64> = (0..rows)
                .flat_map(|i| c[i * columns + first..i * columns + first + n].iter().copied())
                .collect();
            let mut w = set.first.like_with(set.precision(), n)?;
            set.combine(which.clone(), &some, 0.0, &mut w, 0..n)?;
            Ok(w)
        })
    }

    /// Puts vector `order[k]` in the place of vector k, for all k.
    ///
    /// # Errors
    /// `FieldMismatch`: fewer vectors; `OutOfMemory`.
    pub fn arrange(&mut self, order: &[usize]) -> Result<()> {
        let mut done = vec![false; order.len()];
        for start in 0..order.len() {
            if done[start] || order[start] == start {
                continue;
            }
            let (first, mut at) = (self.get(start, 1)?, start);
            while !done[at] {
                done[at] = true;
                match order[at] {
                    from if from == start => self.put(at, &first, 0, 1)?,
                    from => {
                        let vector = self.get(from, 1)?;
                        self.put(at, &vector, 0, 1)?;
                        at = from;
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the vectors from number `to` on, portion by portion, by those that `make` returns for a portion's first
    /// vector and number of vectors. `make` can read all old vectors.
    ///
    /// # Errors
    /// Errors of `make`; `OutOfMemory`: the host has no memory.
    pub fn replace(
        &mut self,
        to: usize,
        portions: impl Iterator<Item = (usize, usize)>,
        mut make: impl FnMut(&VectorSet, usize, usize) -> Result<VectorField>,
    ) -> Result<()> {
        let mut copies: Vec<HostCopy> = vec![];
        for (first, n) in portions {
            let made = make(self, first, n)?;
            for k in 0..n {
                copies.push(made.columns(k, 1)?.to_host()?);
            }
        }
        self.check(&(to..to + copies.len()))?;
        let here = self.on_device();
        for (k, copy) in (to..).zip(copies) {
            match k < here {
                true => self.first.columns(k, 1)?.copy_from_host(&copy)?,
                false => self.on_host[k - here] = copy,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Geometry, Subset};

    /// Vectors that go by way of the host leave nothing behind, also where freed memory is kept.
    #[test]
    fn a_cut_by_way_of_the_host_frees_the_rest() {
        let device = Device::cpu(1).unwrap();
        let geometry = Geometry::new([4; 4], &device).unwrap();
        let before = device.held();
        let _kept = device.keep_memory();
        let first = VectorField::new(&device, &geometry, Precision::F64, Subset::Full, 9).unwrap();
        let nine = device.held() - before;
        let two = VectorSet::new(first, 1).cut(2, true).unwrap();
        assert_eq!((two.on_device(), 9 * (device.held() - before)), (2, 2 * nine));
    }
}
