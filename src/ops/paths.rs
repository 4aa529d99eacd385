//! Ordered products of links along paths (kernels/paths.h): traces of closed paths summed over the lattice, and
//! staples of any form. A path is a list of steps, 0 to 3 forward in x, y, z, t and 7 - mu back in direction mu, as
//! QUDA counts them. Borders are exchanged before every step, so that paths of any form and length may cross any
//! number of ranks.

use std::sync::Arc;

use num_complex::Complex64;

use crate::backend::args::PathArgs;
use crate::backend::families::Sites;
use crate::backend::{kernels, Device};
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Geometry, MatrixField, MatrixForm, Precision, Recon};
use crate::refuse;

/// Largest number of steps of a path.
pub const LONGEST: usize = 64;
/// Largest number of paths in a list.
pub const MAX_PATHS: usize = 4096;
/// Largest number of paths that one launch follows, which is the number of sums of a kernel.
pub(crate) const PATHS_PER_LAUNCH: usize = 8;

/// A list of paths, each a list of steps.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct Paths(Vec<Vec<u8>>);

impl Paths {
    /// # Errors
    /// `BadParameter`: no path or more than 4096, one without steps or with more than 64, a step that is not
    /// 0 to 7.
    pub fn new(paths: Vec<Vec<u8>>) -> Result<Self> {
        if !(1..=MAX_PATHS).contains(&paths.len()) {
            refuse!(BadParameter, "paths", expected("1 to {MAX_PATHS}"), found("{}", paths.len()));
        }
        for (k, path) in paths.iter().enumerate() {
            if !(1..=LONGEST).contains(&path.len()) {
                refuse!(
                    BadParameter,
                    "path {k}",
                    expected("1 to {LONGEST} steps"),
                    found("{}", path.len())
                );
            }
            if let Some(step) = path.iter().find(|&&s| s > 7) {
                refuse!(BadParameter, "path {k}: a step", expected("0 to 7"), found("{step}"));
            }
        }
        Ok(Paths(paths))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|p| p.as_slice())
    }

    /// Refuses paths that do not end where they start on a lattice of these extents; paths that wind around the
    /// lattice are closed.
    pub fn check_closed(&self, extents: [usize; 4]) -> Result<()> {
        for (k, path) in self.iter().enumerate() {
            let way = displacement(path);
            if (0..4).any(|mu| way[mu] % extents[mu] as i64 != 0) {
                refuse!(
                    BadParameter,
                    "path {k}",
                    expected("a closed path"),
                    found("one that ends at {way:?}")
                );
            }
        }
        Ok(())
    }

    /// Divides the paths into lists of at most `batch_size`, with paths of similar length in each.
    pub(crate) fn batches(&self, batch_size: usize) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(self.0[k].len()));
        order.chunks(batch_size).map(|c| c.to_vec()).collect()
    }

    pub(crate) fn get(&self, k: usize) -> &[u8] {
        &self.0[k]
    }
}

/// The displacement from the start of a path to its end.
pub fn displacement(path: &[u8]) -> [i64; 4] {
    let mut way = [0; 4];
    for &step in path {
        match step {
            0..=3 => way[step as usize] += 1,
            _ => way[7 - step as usize] -= 1,
        }
    }
    way
}

/// All images of a closed path under rotations and reflections of the lattice, in a fixed order; paths that differ
/// only in their start or sense are listed once. An action is symmetric if it sums Re tr over all of them.
pub fn images(path: &[u8]) -> Vec<Vec<u8>> {
    let mut found = std::collections::BTreeSet::new();
    for order in permutations() {
        for signs in 0..16u8 {
            let turned: Vec<u8> = path
                .iter()
                .map(|&step| {
                    let (mu, back) = if step < 4 { (step, false) } else { (7 - step, true) };
                    let to = order[mu as usize];
                    if back != (signs >> mu & 1 == 1) {
                        7 - to
                    } else {
                        to
                    }
                })
                .collect();
            found.insert(canonical(&turned));
        }
    }
    found.into_iter().collect()
}

/// The first in lexicographic order among the versions of a closed path with any start and either sense.
fn canonical(path: &[u8]) -> Vec<u8> {
    let back: Vec<u8> = path.iter().rev().map(|s| 7 - s).collect();
    let starts = |p: &[u8]| -> Vec<Vec<u8>> {
        (0..p.len())
            .map(|k| {
                let mut q = p.to_vec();
                q.rotate_left(k);
                q
            })
            .collect()
    };
    let all = starts(path).into_iter().chain(starts(&back));
    all.min().unwrap_or_default()
}

fn permutations() -> Vec<[u8; 4]> {
    let all = (0..256u32).map(|n| std::array::from_fn(|k| (n >> (2 * k) & 3) as u8));
    all.filter(|p: &[u8; 4]| (0..4).all(|d| p.contains(&d))).collect()
}

/// Fields for the products of links along paths.
#[derive(Debug)]
pub struct PathProducts {
    products: [MatrixField; 2],
}

impl PathProducts {
    /// Bytes of device memory that a walker of `paths` paths takes.
    pub fn bytes(geometry: &Geometry, precision: Precision, paths: usize) -> usize {
        let batch_size = paths.min(PATHS_PER_LAUNCH);
        2 * MatrixField::bytes(geometry, precision, MatrixForm::General, batch_size)
    }

    /// The lattice, and the precision of the fields.
    pub fn place(&self) -> (&Arc<Geometry>, Precision) {
        (self.products[0].geometry(), self.products[0].precision())
    }

    /// Makes fields for links in this precision, double or single, for lists of at most `paths` paths.
    ///
    /// # Errors
    /// `OutOfMemory`; `Unsupported`: half precision.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        paths: usize,
    ) -> Result<Self> {
        let field = || {
            let batch_size = paths.clamp(1, PATHS_PER_LAUNCH);
            MatrixField::new(device, geometry, precision, MatrixForm::General, batch_size)
        };
        Ok(PathProducts { products: [field()?, field()?] })
    }

    fn field(&self) -> &MatrixField {
        &self.products[0]
    }

    pub(crate) fn check(&self, gauge: &GaugeField) -> Result<()> {
        let (geometry, precision) = (self.field().geometry(), self.field().precision());
        if gauge.geometry() != geometry || gauge.device() != self.field().device() {
            bail!(FieldMismatch, "paths: the links live on another lattice or device");
        }
        if (gauge.precision(), gauge.recon()) != (precision, Recon::R18) {
            refuse!(
                Unsupported,
                "paths",
                expected("{precision} links stored as PLAQ_STORAGE_SU3_18"),
                found("{} links stored as {}", gauge.precision(), gauge.recon())
            );
        }
        Ok(())
    }

    /// Refuses paths that the links' boundaries in time do not allow. Between open boundaries links that do not exist
    /// are zero, and so are the products that contain them; fixed links of slice N_t are not stored, so that paths stay
    /// within their time slice.
    fn check_paths(&self, gauge: &GaugeField, paths: &Paths) -> Result<()> {
        let boundary = gauge.geometry().boundary();
        let in_time = |path: &[u8]| path.iter().any(|step| matches!(step, 3 | 4));
        match paths.iter().position(in_time).filter(|_| boundary.phi_prime().is_some()) {
            Some(k) => refuse!(
                Unsupported,
                "path {k}",
                expected("steps in space alone, as links have {boundary}"),
                found("steps in time")
            ),
            None => Ok(()),
        }
    }

    /// Kernel arguments that all launches for these links share; the fields of the walker determine the number of
    /// matrices and elements of a site.
    pub(crate) fn args(&self, gauge: &GaugeField) -> PathArgs {
        PathArgs {
            geom: gauge.geometry().args(),
            gauge: gauge.view(),
            paths: self.field().count() as i32,
            step: [-1; PATHS_PER_LAUNCH],
            ..Default::default()
        }
    }

    pub(crate) fn launch(
        &self,
        kernel: impl Sites<Args = PathArgs>,
        args: &PathArgs,
    ) -> Result<()> {
        self.field().device().launch(kernel, args, self.field().geometry().work(2))
    }

    /// Multiplies links along the paths of `batch` from every site; returns the field that holds the products.
    pub(crate) fn multiply_along(
        &self,
        gauge: &GaugeField,
        paths: &Paths,
        batch: &[usize],
    ) -> Result<&MatrixField> {
        let max = batch.iter().map(|&k| paths.get(k).len()).max().unwrap_or(0);
        let [mut from, mut to] = [&self.products[0], &self.products[1]];
        for k in (0..max).rev() {
            let mut args = PathArgs { from: from.view(), to: to.view(), ..self.args(gauge) };
            for (slot, &path) in batch.iter().enumerate() {
                if let Some(&step) = paths.get(path).get(k) {
                    args.step[slot] = i32::from(step);
                    args.last[slot] = i32::from(k + 1 == paths.get(path).len());
                }
            }
            self.launch(kernels::PathStep::of(gauge.precision())?, &args)?;
            if k > 0 {
                to.exchange()?;
            }
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }

    /// Traces of the products of a batch of paths, summed over all sites of all ranks.
    pub(crate) fn sum_traces(
        &self,
        gauge: &GaugeField,
        products: &MatrixField,
        count: usize,
    ) -> Result<Vec<Complex64>> {
        let args = PathArgs { from: products.view(), ..self.args(gauge) };
        let geometry = gauge.geometry();
        let work = geometry.work(2);
        let v = geometry.reduce(
            gauge.device(),
            kernels::PathTraces::of(gauge.precision())?,
            &args,
            work,
        )?;
        let both = |k: usize| v[k] + v[k + 2 * PATHS_PER_LAUNCH];
        Ok((0..count).map(|k| Complex64::new(both(2 * k), both(2 * k + 1))).collect())
    }

    /// For each closed path, the trace of the ordered product of links along it, summed over all starting points x on
    /// all ranks; between open boundaries in time over those from which all links of the path exist.
    ///
    /// # Errors
    /// `BadParameter`: a path is not closed; `FieldMismatch`, `Unsupported`: links of another lattice or form, steps in
    /// time where links are fixed.
    pub fn traces(&self, gauge: &GaugeField, paths: &Paths) -> Result<Vec<Complex64>> {
        self.check(gauge)?;
        self.check_paths(gauge, paths)?;
        paths.check_closed(gauge.geometry().global_extents())?;
        let mut all = vec![Complex64::ZERO; paths.len()];
        for batch in paths.batches(self.batch_size()) {
            let products = self.multiply_along(gauge, paths, &batch)?;
            let traces = self.sum_traces(gauge, products, batch.len())?;
            batch.iter().zip(traces).for_each(|(&k, t)| all[k] = t);
        }
        Ok(all)
    }

    /// Adds to out_mu(x), for each path that begins with a step forward in mu, its coefficient times the ordered
    /// product of links along it from x; `out` has four general matrices at a site.
    ///
    /// # Errors
    /// `BadParameter`: a path begins with a step back, another number of coefficients; `FieldMismatch`,
    /// `Unsupported`: fields of another lattice or form.
    pub fn gather(
        &self,
        gauge: &GaugeField,
        paths: &Paths,
        coefficients: &[f64],
        out: &mut MatrixField,
    ) -> Result<()> {
        self.check(gauge)?;
        self.check_paths(gauge, paths)?;
        if coefficients.len() != paths.len() {
            let (n, found) = (paths.len(), coefficients.len());
            refuse!(BadParameter, "coefficients", expected("{n} numbers"), found("{found}"));
        }
        if let Some(k) = paths.iter().position(|p| p[0] > 3) {
            refuse!(
                BadParameter,
                "path {k}",
                expected("a first step forward"),
                found("{}", paths.get(k)[0])
            );
        }
        let form = (out.form(), out.count(), out.precision());
        if form != (MatrixForm::General, 4, gauge.precision()) || out.geometry() != gauge.geometry()
        {
            refuse!(
                FieldMismatch,
                "gather",
                expected("four general matrices as the links"),
                found("{} {} in {}", out.count(), out.form(), out.precision())
            );
        }
        for batch in paths.batches(self.batch_size()) {
            let products = self.multiply_along(gauge, paths, &batch)?;
            let mut args = PathArgs { from: products.view(), to: out.view(), ..self.args(gauge) };
            for (slot, &k) in batch.iter().enumerate() {
                args.step[slot] = i32::from(paths.get(k)[0]);
                args.coef[slot] = coefficients[k];
            }
            self.launch(kernels::PathGather::of(gauge.precision())?, &args)?;
        }
        out.exchange()
    }

    /// Number of paths that are followed at a time.
    pub(crate) fn batch_size(&self) -> usize {
        self.field().count()
    }
}

/// For each closed path, the trace of the ordered product of links along it, summed over all starting points x on all
/// ranks; links in any storage of SU(3).
///
/// # Errors
/// Errors of [`PathProducts::traces`]; `OutOfMemory`.
pub fn traces(gauge: &GaugeField, paths: &Paths) -> Result<Vec<Complex64>> {
    if gauge.group() != crate::fields::Group::Su3 {
        refuse!(
            Unsupported,
            "paths",
            expected("SU(3) links"),
            found("links stored as {}", gauge.recon())
        );
    }
    gauge.with_whole(|links| {
        let (device, geometry, precision) = (links.device(), links.geometry(), links.precision());
        let bytes = PathProducts::bytes(geometry, precision, paths.len());
        geometry.require(device, bytes as u64, "products along paths")?;
        PathProducts::new(device, geometry, precision, paths.len())?.traces(links, paths)
    })
}
