//! Modes of the three-dimensional Laplacian on every time slice (Peardon et al., Phys. Rev. D 80, 054506).

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;

use super::if_exists::IfExists;
use super::modes_file::{self, Hdf5Modes, Table};
use super::search::{bytes_of, laplacian, search, ModesMemory};
use super::vectors::{colour_vectors, portions, portions_of, VECTOR_BLOCK};
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::time_slices::{combine, dots, is_matrix, own_dots, Combination};
use crate::fields::{
    Components, GaugeField, Geometry, Noise, Recon, RhsOrder, Subset, VectorField, VectorSet,
};
use crate::io::hdf5::{Attribute, Attributes};
use crate::io::LinksMark;
use crate::linop::{LinOp, Shape};
use crate::ops::eigenvectors::{save_sets, VectorFile};
use crate::ops::link_smearing::{smear_links, Smearing};
use crate::ops::links_mark::{check_configuration, check_links, links_mark};
use crate::ops::smearing::{links_with_momentum, SPACE};
use crate::params::{parameters, reports, Choice as _, Parameters};
use crate::refuse;
use crate::solvers::{eigen_tol, search_seed_row, SEARCH};
use crate::solvers::{EigenParams, EigenReport, Monitor, StoppedBy, VectorMemory};

/// Attributes for the projection that identifies the links.
pub(super) const PROJECTION: [&str; 2] = ["links_projection_re", "links_projection_im"];
/// Attribute for the numbers of [`Modes::basis`].
pub(super) const BASIS: &str = "modes_basis";
/// Attribute for the numbers of [`Modes::basis`] of left modes.
pub(super) const LEFT_BASIS: &str = "left_modes_basis";
/// Attribute for [`Modes::basis_errors`].
pub(super) const BASIS_ERROR: &str = "modes_basis_error";
/// Attribute for the tolerance of the search for modes.
pub(super) const TOL: &str = "modes_tol";
/// The kind of a file with modes, as stored in it.
const KIND: &str = "modes";

parameters! {
    /// Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z.
    pub composed struct ModesSettings: plaq_modes_params {
        /// Number of modes on each time slice, at most three times the number of its sites.
        count: usize = 16, within(1, i32::MAX as i64);
        /// Number of steps of spatial stout smearing of the links in the Laplacian.
        steps: usize = 0, within(0, 100_000);
        /// Weight rho of the staples in the stout smearing of the links.
        rho: f64 = 0.1, from(0.0, 1.0);
        /// Largest |D^2 v + lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        /// 0: 1e-10, in single precision 1e-6.
        tol: f64 = 0.0;
        /// Largest number of restarts; in each the vectors are multiplied by a polynomial of the Laplacian.
        max_restarts: usize = 200, within(1, 1_000_000);
        /// True: after the search another one from random vectors orthogonal to the modes looks for modes that were
        /// missed, and is repeated until it finds none.
        verify: bool = true;
        with search_seed_row;
        /// Largest number of seconds for the search; 0: no limit.
        max_seconds: f64 = 0.0;
        /// Memory for the modes. Automatic: on the device; if its memory does not suffice, groups of time slices are
        /// searched one after the other and the host holds the modes that do not fit. `host`: the host holds all but
        /// the first mode, so that solves have the device's memory. `device`: an error if memory does not suffice.
        vectors: VectorMemory = VectorMemory::Auto;
        /// True, for links in double precision: vectors are first iterated in single precision, to a residual of 1e-5
        /// of the largest eigenvalue, and then in double.
        mixed: bool = false;
        /// Momentum of a moving frame, three real numbers: after smearing the links of the Laplacian are multiplied
        /// by exp(2 pi i momentum(j) / L_j) in x, y and z, as in plaq_spinor_smear.
        momentum: [f64; 3] = [0.0; 3];
    }
}

reports! {
    /// Description of modes, and report of the search that found them. Seconds, restarts and applications of the search
    /// are 0 if the modes were read from a file.
    pub composed struct ModesReport: plaq_modes_report {
        with SEARCH;
        /// Number of time slices of the whole lattice.
        times: usize;
        /// Number of steps of spatial stout smearing.
        steps: usize;
        /// Weight rho of the staples in the stout smearing of the links.
        rho: f64;
        /// Average spatial plaquette of the links before smearing. It identifies the links: these modes are refused
        /// with others.
        plaquette_spatial: f64;
        /// Average temporal plaquette of the links before smearing.
        plaquette_temporal: f64;
        /// Average Re tr U / 3 of the links before smearing.
        link_trace: f64;
        /// Bytes of device memory of the modes.
        bytes: u64;
        /// Bytes of the host's memory for the modes that are not on the device.
        host_bytes: u64;
        /// Momentum of the moving frame, as in plaq_modes_params.
        momentum: [f64; 3];
        /// Number of time slices on which the last value belongs to a degenerate level of which further modes were not
        /// asked for: the space of the modes then depends on the basis that the search happened to find.
        cut_levels: usize;
        /// The tolerance of the search.
        tol: f64;
    }
}

/// Modes v_k of every time slice: vector number k holds mode k of each slice, normalised to length 1 on each. The
/// phase is such that colour 0 at the slice's site 0, 0, 0 is real and positive; if that is almost zero colour 1, or
/// 2; if all three are, it is unspecified.
pub struct Modes {
    /// The links in the Laplacian, after smearing.
    links: Arc<GaugeField>,
    vectors: VectorSet,
    search: EigenReport,
    mark: LinksMark,
    smearing: (usize, f64),
    momentum: [f64; 3],
    /// Whether the caller has smeared the links; `smearing` is then unknown.
    by_caller: bool,
    /// The tolerance of the search: the largest residual over the largest eigenvalue.
    tol: f64,
    basis: Vec<f64>,
}

/// Number of modes by which a basis is known in files: an attribute of HDF5 has at most 64 KiB.
const KNOWN: usize = 4096;

/// The links in the Laplacian: links that the caller has smeared, or `gauge` with stout smearing in space, times the
/// phases of a moving frame. They are a copy.
fn smeared(
    gauge: &GaugeField,
    own: Option<&GaugeField>,
    (steps, rho): (usize, f64),
    momentum: [f64; 3],
) -> Result<Arc<GaugeField>> {
    let copy = |links: &GaugeField| match momentum == [0.0; 3] {
        true => links.to(links.precision(), Recon::R12),
        false => links_with_momentum(links, links.precision(), momentum),
    };
    let Some(own) = own else {
        let links = match steps {
            0 => copy(gauge)?,
            steps => {
                let directions = SPACE;
                copy(&smear_links(gauge, Smearing::Stout { rho, directions }, steps)?)?
            }
        };
        return Ok(Arc::new(links));
    };
    if steps > 0 {
        refuse!(
            BadParameter,
            "steps",
            expected("0 with links that are smeared already"),
            found("{steps}")
        );
    }
    if own.geometry() != gauge.geometry() || own.device() != gauge.device() {
        refuse!(
            FieldMismatch,
            "smeared",
            expected("links on the lattice and device of the others")
        );
    }
    // Links that were not smeared in this process are accepted as smeared links of `gauge`.
    if own.configuration() != own.version() {
        check_configuration(gauge, "gauge", own, "smeared")?;
    }
    Ok(Arc::new(copy(own)?))
}

/// Largest difference of numbers of [`Modes::basis`] due to rounding.
pub(super) const NEAR_BASIS: f64 = 1e-5;

/// Largest error of a number of [`Modes::basis`] with which modes of two searches can still count as equal.
const DETERMINED: f64 = 1e-2;

/// The number of the first mode that differs; modes that one of the two lacks are not compared.
fn other_mode(known: &[f64], found: &[f64]) -> Option<usize> {
    // A damaged vector may have numbers that are not finite, which are not near any.
    let near = |a: &f64, b: &f64| (a - b).abs() <= NEAR_BASIS;
    known.iter().zip(found).position(|(a, b)| !near(a, b))
}

/// An open file of modes, in one of the two formats.
enum Kept {
    Lime(VectorFile),
    Hdf5(Hdf5Modes),
}

/// Refuses more modes than a slice has components.
fn check_count(gauge: &GaugeField, count: usize) -> Result<()> {
    let [x, y, z, _] = gauge.geometry().global_extents();
    let unknowns = 3 * x * y * z;
    if count > unknowns {
        refuse!(
            BadParameter,
            "params.count",
            expected("at most {unknowns}, three times the sites of a time slice"),
            found("{count}")
        );
    }
    Ok(())
}

impl Modes {
    /// Modes of links `gauge` that are stout-smeared as `settings` say, or of `own` links, which the caller smeared.
    ///
    /// # Errors
    /// `BadParameter`: more modes than a slice has; `Unsupported`: SU(2) or 16 bits; `FieldMismatch`, `OutOfMemory`.
    pub fn new(
        gauge: &GaugeField,
        own: Option<&GaugeField>,
        settings: &ModesSettings,
        monitor: &mut Monitor,
    ) -> Result<Modes> {
        settings.check_rows("params")?;
        let ModesSettings { count, steps, rho, tol, max_restarts, verify, seed, .. } = *settings;
        let ModesSettings { max_seconds, vectors, momentum, mixed, .. } = *settings;
        check_count(gauge, count)?;
        if steps == 0 && rho != ModesSettings::default().rho {
            refuse!(
                BadParameter,
                "params.rho",
                expected("steps of smearing with this weight, steps > 0"),
                found("rho {rho} and no steps")
            );
        }
        let mark = links_mark(gauge)?;
        let links = smeared(gauge, own, (steps, rho), momentum)?;
        let max_seconds = if max_seconds == 0.0 { f64::INFINITY } else { max_seconds };
        let params = EigenParams {
            count,
            tol,
            max_restarts,
            verify,
            seed,
            max_seconds,
            vectors,
            ..EigenParams::default()
        };
        let (vectors, search) = search(&links, &params, mixed, monitor)?;
        let tol = eigen_tol("params.tol", tol, links.precision())?;
        let smearing = (steps, if steps == 0 { 0.0 } else { rho });
        let basis = vec![];
        let by_caller = own.is_some();
        let mut modes =
            Modes { links, vectors, search, mark, smearing, momentum, by_caller, tol, basis };
        modes.basis = modes.fingerprint()?;
        Ok(modes)
    }

    /// The memory that a search with these settings takes, and that of the modes; the former includes the smeared
    /// links.
    ///
    /// # Errors
    /// Errors of [`Modes::new`] that do not depend on numbers.
    pub fn memory(gauge: &GaugeField, settings: &ModesSettings) -> Result<ModesMemory> {
        settings.check_rows("params")?;
        check_count(gauge, settings.count)?;
        let (geometry, precision) = (gauge.geometry(), gauge.precision());
        let recon = if settings.momentum == [0.0; 3] { Recon::R12 } else { Recon::R18 };
        let links = |geometry: &Geometry| bytes_of(gauge, geometry, recon, settings.mixed);
        let shape = Shape {
            device: gauge.device().clone(),
            geometry: geometry.clone(),
            precision,
            subset: Subset::Full,
            components: Components::COLOUR,
            order: RhsOrder::Slowest,
        };
        ModesMemory::of(&shape, (&links, false), settings.count, settings.vectors)
    }

    /// Number of modes on each time slice.
    pub fn count(&self) -> usize {
        self.vectors.count()
    }
    pub fn times(&self) -> usize {
        self.links.geometry().global_extents()[3]
    }
    /// Eigenvalues lambda of -D^2, ascending for each slice: [t][mode].
    pub fn values(&self) -> &[f64] {
        &self.search.values
    }
    /// Residuals |D^2 v + lambda v|, ordered like the eigenvalues.
    pub fn residuals(&self) -> &[f64] {
        &self.search.residuals
    }
    /// The next eigenvalue after those of the modes, for each slice, as far as the search knows it; infinite: there
    /// is none.
    pub fn beyond(&self) -> &[f64] {
        &self.search.beyond
    }
    /// Number of time slices on which the last eigenvalue belongs to a degenerate level that also has modes beyond
    /// those found: the space of the modes then depends on the basis of this level that the search happened to find.
    pub fn cut_levels(&self) -> usize {
        let width = self.search.largest * self.tol.max(1e-8);
        let last = self.values().chunks(self.count()).filter_map(|values| values.last());
        last.zip(self.beyond()).filter(|(last, next)| *next - *last <= width).count()
    }
    /// A number for each of the first modes: the real part of the sum over time slices of its product with fixed noise,
    /// over the root of the number of slices. It is of order one, the same on any number of ranks up to rounding,
    /// and another one for another vector, also of the same degenerate level.
    pub fn basis(&self) -> &[f64] {
        &self.basis
    }
    /// The largest differences of the numbers of [`Modes::basis`] from those of the same modes in another search. A
    /// mode with residual r is turned by at most r / d out of its eigenvector (Davis and Kahan), d the distance to the
    /// next eigenvalue, in a direction whose product with the noise is a random number of order one; so is the change
    /// of the phase rule. The number is a sum over T slices over sqrt(T): its error has the size of the root of the
    /// mean square of r / d, of which this is ten times. 0: the mode is not determined by the links, as in a
    /// degenerate level, and only the same vectors are the same.
    pub fn basis_errors(&self) -> Vec<f64> {
        let (n, values, times) = (self.count(), self.values(), self.times());
        let least = self.vectors.precision().epsilon() * self.search.largest;
        let square = |k: usize, t: usize| {
            let at = t * n + k;
            let below = if k > 0 { values[at] - values[at - 1] } else { f64::INFINITY };
            let next = if k + 1 < n { values[at + 1] } else { self.beyond()[t] };
            let angle = self.residuals()[at].max(least) / below.min((next - values[at]).abs());
            angle.min(1.0).powi(2)
        };
        let error = |k: usize| {
            let mean = (0..times).map(|t| square(k, t)).sum::<f64>() / times as f64;
            Some(10.0 * mean.sqrt()).filter(|error| *error <= DETERMINED).unwrap_or(0.0)
        };
        (0..self.basis.len()).map(error).collect()
    }
    /// The links in the Laplacian, after smearing.
    pub fn links(&self) -> &Arc<GaugeField> {
        &self.links
    }
    /// Identifies the links before smearing.
    pub fn mark(&self) -> &LinksMark {
        &self.mark
    }
    /// Number of steps and weight of the spatial stout smearing.
    pub fn smearing(&self) -> (usize, f64) {
        self.smearing
    }
    /// Momentum of the moving frame, whose phases multiply the links of the Laplacian.
    pub fn momentum(&self) -> [f64; 3] {
        self.momentum
    }
    pub fn vectors(&self) -> &VectorSet {
        &self.vectors
    }
    /// Report of the search, with the numbers of [`Modes::values`] and [`Modes::residuals`]; of modes from a file it
    /// has only these and `largest`.
    pub fn search(&self) -> &EigenReport {
        &self.search
    }
    pub fn report(&self) -> ModesReport {
        let found = &self.search;
        let (steps, rho) = self.smearing;
        let [plaquette_spatial, plaquette_temporal, link_trace] = self.mark.numbers;
        ModesReport {
            converged: found.converged,
            verified: found.verified,
            stopped: found.stopped,
            stopped_by: found.stopped_by,
            restarts: found.restarts,
            count: found.count,
            largest: found.largest,
            applications: found.applications,
            seconds: found.seconds,
            times: self.times(),
            steps,
            rho,
            plaquette_spatial,
            plaquette_temporal,
            link_trace,
            bytes: self.vectors.first().held() as u64,
            host_bytes: self.host_bytes() as u64,
            momentum: self.momentum,
            tol: self.tol,
            cut_levels: self.cut_levels(),
        }
    }
    /// Bytes of the host's memory that hold modes which are not on the device.
    pub fn host_bytes(&self) -> usize {
        let first = self.vectors.first();
        (self.count() - self.vectors.on_device()) * (first.held() / first.nrhs())
    }

    /// `count` vectors from number `first` on; without a copy if they are on the device.
    pub fn some(&self, first: usize, count: usize) -> Result<VectorField> {
        self.vectors.view(first..first + count)
    }

    /// Scalar products v_a(t)^dagger w_j(t) on every time slice: [t][a][j].
    pub(super) fn products(&self, w: &VectorField) -> Result<Vec<Complex64>> {
        let (n, columns) = (self.count(), w.nrhs());
        let at_once = match self.vectors.on_device() == n && is_matrix(self.vectors.first()) {
            true => n,
            false => VECTOR_BLOCK,
        };
        let mut all = vec![Complex64::ZERO; self.times() * n * columns];
        for (first, count) in portions_of(n, at_once) {
            let some = own_dots(&self.some(first, count)?, w)?;
            for (t, some) in some.chunks(count * columns).enumerate() {
                let at = (t * n + first) * columns;
                all[at..at + some.len()].copy_from_slice(some);
            }
        }
        // Ranks may have divided the modes in different ways.
        self.links.geometry().comm().sum(bytemuck::cast_slice_mut(&mut all))?;
        Ok(all)
    }

    /// Computes [`Modes::basis`].
    fn fingerprint(&self) -> Result<Vec<f64>> {
        let mut noise = colour_vectors(self.vectors.first(), 1)?;
        noise.set_noise(Noise::Normal, 1, 0)?;
        let (n, root) = (self.count(), (self.times() as f64).sqrt());
        let mut sums = vec![0.0; n];
        for (at, z) in self.products(&noise)?.into_iter().enumerate() {
            sums[at % n] += z.re / root;
        }
        sums.truncate(KNOWN);
        Ok(sums)
    }

    /// Attributes that identify these modes in files: number, smearing, momentum, averages and projection of the
    /// links, the basis, and how well the modes were found.
    pub fn about(&self) -> Attributes {
        let (steps, rho) = self.smearing;
        let [spatial, temporal, trace] = self.mark.numbers;
        let mut about = vec![
            ("modes", Attribute::Integer(self.count() as i64)),
            ("stout_steps", Attribute::Integer(steps as i64)),
            ("stout_rho", Attribute::Number(rho)),
            ("momentum", Attribute::Numbers(self.momentum.to_vec())),
            ("plaquette_spatial", Attribute::Number(spatial)),
            ("plaquette_temporal", Attribute::Number(temporal)),
            ("link_trace", Attribute::Number(trace)),
        ];
        if self.by_caller {
            about.push(("smeared_by_caller", Attribute::Integer(1)));
        }
        let projection = PROJECTION.into_iter().zip(self.mark.projection.into_iter().flatten());
        about.extend(projection.map(|(name, number)| (name, Attribute::Number(number))));
        about.extend([
            (BASIS, Attribute::Numbers(self.basis.clone())),
            (BASIS_ERROR, Attribute::Numbers(self.basis_errors())),
            (TOL, Attribute::Number(self.tol)),
            ("modes_converged", Attribute::Integer(self.search.converged.into())),
        ]);
        about
    }

    /// Writes the modes with their eigenvalues and the averages that identify their links: as SciDAC records in LIME
    /// with checksums, or as datasets of HDF5 if the name ends like that of an HDF5 file. The file appears complete or
    /// not at all. All ranks call it.
    ///
    /// # Errors
    /// Errors of [`save_sets`]; `FileWrite`: a file that exists and is to be refused; `Unsupported`: no libhdf5, or
    /// the modes are to be added to a file.
    pub fn save(&self, path: &Path, if_exists: IfExists) -> Result<()> {
        if if_exists == IfExists::Append {
            refuse!(
                Unsupported,
                "if_exists",
                expected("to refuse or overwrite, as a file has modes alone"),
                found("{if_exists}")
            );
        }
        let comm = self.links.geometry().comm();
        comm.agree(if comm.rank() == 0 { if_exists.check(path) } else { Ok(()) })?;
        let (n, times) = (self.count(), self.times());
        let beyond = self.beyond().iter().map(|x| if x.is_finite() { *x } else { -1.0 }).collect();
        let links = [&self.mark.numbers[..], self.mark.projection.as_ref().map_or(&[], |p| p)];
        let (links, EigenReport { converged, verified, .. }) = (links.concat(), &self.search);
        let quality = vec![f64::from(*converged), f64::from(*verified), self.tol];
        let numbers = "plaquette_spatial, plaquette_temporal, link_trace, links_projection";
        let tables: [Table; 9] = [
            ("values", "t, mode", vec![times, n], self.search.values.clone()),
            ("residuals", "t, mode", vec![times, n], self.search.residuals.clone()),
            ("beyond", "t", vec![times], beyond),
            ("largest", "", vec![1], vec![self.search.largest]),
            ("links", numbers, vec![links.len()], links),
            (
                "smearing",
                "stout_steps, stout_rho",
                vec![2],
                vec![self.smearing.0 as f64, self.smearing.1],
            ),
            ("momentum", "x, y, z", vec![3], self.momentum.to_vec()),
            ("quality", "converged, verified, tol", vec![3], quality),
            ("basis", "mode", vec![self.basis.len()], self.basis.clone()),
        ];
        if modes_file::is_named(path) {
            return modes_file::save(path, &tables, &self.about(), &self.vectors);
        }
        let tables = tables.map(|(name, _, _, values)| (name.to_string(), values));
        save_sets(path, KIND, tables.into(), &[&self.vectors])
    }

    /// Reads modes from a file and checks that they belong to these links; `own` has the meaning that it has in
    /// [`Modes::new`].
    ///
    /// # Errors
    /// `FieldMismatch`: modes of other links; `FileFormat`, and errors of [`VectorFile`].
    pub fn load(path: &Path, gauge: &GaugeField, own: Option<&GaugeField>) -> Result<Modes> {
        let (device, geometry) = (gauge.device(), gauge.geometry());
        let times = geometry.global_extents()[3];
        let there = geometry.comm().agree(Ok(modes_file::is_there(path)))?;
        let mut file = match there {
            true => Kept::Hdf5(Hdf5Modes::open(device, geometry, path)?),
            false => {
                Kept::Lime(VectorFile::open(device, geometry, path, KIND, Components::COLOUR)?)
            }
        };
        let n = match &file {
            Kept::Lime(file) => file.header().count,
            Kept::Hdf5(file) => file.table("values")?.map_or(0, |values| values.len()) / times,
        };
        let there = |name: &str| match &file {
            Kept::Lime(file) => Ok(file.header().table(name).map(<[f64]>::to_vec)),
            Kept::Hdf5(file) => file.table(name),
        };
        let numbers = |name: &str| match there(name)? {
            Some(numbers) => Ok(numbers),
            None => bail!(FileFormat, "{}: the file has no table {name}", path.display()),
        };
        let table = |name: &str, count: usize| -> Result<Vec<f64>> {
            let found = numbers(name)?;
            if found.len() != count {
                let path = path.display();
                bail!(
                    FileFormat,
                    "{path}: {name}: expected {count} numbers, found {}",
                    found.len()
                );
            }
            Ok(found)
        };
        let (values, residuals) = (table("values", n * times)?, table("residuals", n * times)?);
        let beyond = table("beyond", times)?;
        let beyond = beyond.into_iter().map(|x| if x < 0.0 { f64::INFINITY } else { x }).collect();
        let largest = table("largest", 1)?[0];
        // Files of older versions have the averages of the links, but not their projection.
        let count = if numbers("links")?.len() == 3 { 3 } else { 5 };
        let (mark, smearing) = (table("links", count)?, table("smearing", 2)?);
        let smearing = (smearing[0] as usize, smearing[1]);
        let mark = LinksMark {
            numbers: [mark[0], mark[1], mark[2]],
            projection: mark.get(3..5).map(|p| [p[0], p[1]]),
            // Modes are of links in single or double precision.
            coarse: false,
            configuration: None,
        };
        // Files of older versions have neither of these tables; only modes that had converged were then kept.
        let (converged, verified, tol) = match there("quality")?.as_deref() {
            Some(&[converged, verified, tol]) => (converged != 0.0, verified != 0.0, tol),
            _ => (true, false, 0.0),
        };
        let search = EigenReport {
            converged,
            verified,
            stopped_by: converged.then_some(StoppedBy::Residual),
            count: n,
            largest,
            values,
            residuals,
            beyond,
            ..EigenReport::default()
        };
        let known = there("basis")?;
        check_links(&mark, &path.display().to_string(), gauge, "gauge")?;
        let mark = links_mark(gauge)?;
        let momentum = table("momentum", 3)?;
        let momentum = [momentum[0], momentum[1], momentum[2]];
        let own_smearing = if own.is_some() { (0, 0.0) } else { smearing };
        let mut links = smeared(gauge, own, own_smearing, momentum)?;
        let vectors = match &mut file {
            Kept::Lime(file) => file.read_set(0..n, links.precision())?,
            Kept::Hdf5(file) => file.read_set(n, links.precision())?,
        };
        // Modes of a file in single precision stay so on links in double, of which the Laplacian takes a copy.
        if vectors.precision() != links.precision() {
            links = Arc::new(links.to(vectors.precision(), links.recon())?);
        }
        let basis = vec![];
        let by_caller = own.is_some();
        let mut modes =
            Modes { links, vectors, search, mark, smearing, momentum, by_caller, tol, basis };
        modes.basis = modes.fingerprint()?;
        if let Some((k, known)) =
            known.and_then(|known| other_mode(&known, &modes.basis).map(|k| (k, known[k])))
        {
            bail!(
                FileChecksum,
                "{}: the file is damaged: mode {k}, read in {} precision, is not the one that was written: its product \
                 with fixed noise was {known:.7} and is {:.7}",
                path.display(),
                modes.vectors.precision().word(),
                modes.basis[k]
            );
        }
        modes.check(path)?;
        Ok(modes)
    }

    /// Refuses vectors that are not modes of these links, since their residuals are larger than the file says.
    fn check(&self, path: &Path) -> Result<()> {
        let (op, n) = (laplacian(&self.links)?, self.count());
        let epsilon = self.vectors.precision().epsilon();
        for (first, count) in portions(n) {
            let x = self.some(first, count)?;
            let mut r = x.like(x.precision())?;
            op.apply(&mut r, &x)?;
            let of = |all: &[f64]| -> Vec<f64> {
                all.chunks(n).flat_map(|v| v[first..first + count].to_vec()).collect()
            };
            let (values, known) = (of(self.values()), of(self.residuals()));
            let minus: Vec<Complex64> = values.iter().map(|v| (-v).into()).collect();
            combine(&mut r, &x, &minus, Combination::AddDiagonal)?;
            let (r2, norms) = (dots(&r, &r)?, dots(&x, &x)?);
            for (k, known) in known.iter().enumerate() {
                let at = (k * count) + k % count;
                let (found, norm) = (r2[at].re.sqrt(), norms[at].re);
                let allowed = 10.0 * known + 1e3 * epsilon * self.search.largest;
                if !(found <= allowed && (norm - 1.0).abs() <= 1e4 * epsilon) {
                    bail!(
                        FieldMismatch,
                        "{}: mode {} of time slice {} has the residual {} in {} precision with these links, when it was \
                         found {}: it belongs to other ones, or these were smeared in another way",
                        path.display(),
                        first + k % count,
                        k / count,
                        significant(found, 3),
                        self.vectors.precision().word(),
                        significant(*known, 3)
                    );
                }
            }
        }
        Ok(())
    }
}
