//! Eigenvectors of Dirac operators, or of their squares.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::args::{Handle, MaybeArray, OptionalHandle, Out, OutArray, Params, Raw, Report};
use super::context::Context;
use super::dirac::{plaq_dirac, Dirac};
use super::file_name::FileName;
use super::handles;
use super::progress::{plaq_progress_callback, watch};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::compose::seconds_of;
use crate::error::{significant, Result};
use crate::fields::{blas, GaugeField, Subset, VectorSet};
use crate::io::LinksMark;
use crate::linop::{LinOp, Normal, System};
use crate::ops::eigenvectors::{save_sets, VectorFile};
use crate::ops::links_mark::{check_same_links, links_mark};
use crate::params::{InC, ToC as _};
use crate::refuse;
pub use crate::solvers::plaq_eigen_params;
use crate::solvers::plaq_eigen_report;
use crate::solvers::stop::Limit;
use crate::solvers::{
    eigen, eigen_set, eigen_tol, portions, ritz, slice_modes, EigenMethod, EigenParams,
    EigenReport, EigenSettings, End, Filter, StoppedBy, VectorMemory,
};

/// The object behind the handle `plaq_eigen`.
pub struct Eigen {
    context: Arc<Context>,
    vectors: Arc<VectorSet>,
    report: EigenReport,
    /// Identifies the links of the operator.
    links: LinksMark,
}

impl Eigen {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn vectors(&self) -> &Arc<VectorSet> {
        &self.vectors
    }
    /// Refuses the vectors for an operator on `links`, those of `solver`, if their own has another configuration.
    pub(crate) fn check_links(&self, links: &GaugeField) -> Result<()> {
        check_same_links((&links_mark(links)?, "solver"), (&self.links, "eigen"))
    }
}

interface! {
    "Eigenvectors of A: of M where it is hermitian, a Laplacian, else of M^dagger M"
    handles {
        /// Eigenvectors with their eigenvalues.
        plaq_eigen: Eigen = 20,
    }
    choices {
        plaq_eigen_end = End;
        plaq_eigen_method = EigenMethod;
    }
    tables {
        plaq_eigen_params, plaq_eigen_params_init;
    }
    reported {
        plaq_eigen_report, plaq_eigen_report_init;
    }
    functions {
        /// Finds eigenvectors. `guess`: approximate eigenvectors, for example saved ones, or the zero handle. The
        /// callback is called after every restart and every block, and some ten times a second between, with the
        /// largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER, UNSUPPORTED (16-bit vectors), FIELD_MISMATCH,
        /// NOT_FINITE, OUT_OF_MEMORY.
        plaq_eigen_create(dirac: Handle<plaq_dirac>, params: Params<plaq_eigen_params>, guess: OptionalHandle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, eigen: Out<plaq_eigen>, report: Report<plaq_eigen_report>) = create;
        /// Writes eigenvectors to a file: SciDAC records in LIME with checksums, with values, residuals and bounds.
        /// The file appears complete or not at all. Errors: UNSUPPORTED: vectors on one parity; FILE_WRITE.
        plaq_eigen_write(eigen: Handle<plaq_eigen>, file: FileName) = save;
        /// Reads eigenvectors of this operator from a file of plaq_eigen_write; values and residuals are computed
        /// again with the operator. Errors: FIELD_MISMATCH: they belong to other links or another operator; FILE_*.
        plaq_eigen_read(dirac: Handle<plaq_dirac>, file: FileName, eigen: Out<plaq_eigen>, report: Report<plaq_eigen_report>) = load;
        /// Destroys eigenvectors. The zero handle is accepted.
        plaq_eigen_destroy(eigen: Raw<plaq_eigen>) = destroy;
        /// Gives eigenvalues of A in the operator's normalisation, from the end of the spectrum inwards, residuals |A
        /// v - lambda v|, and bounds on the error of the values. `count`: as in the report; with `time_slices` times
        /// the extent in t, ordered [t][k]. `residuals` and `bounds` may be NULL.
        plaq_eigen_values(eigen: Handle<plaq_eigen>, values: OutArray<f64>[count], residuals: MaybeArray<f64>[count], bounds: MaybeArray<f64>[count], count: i64) = values_of;
        /// Makes a field that holds all eigenvectors, orthonormal, one in each right-hand side.
        plaq_eigen_vectors(eigen: Handle<plaq_eigen>, vectors: Out<plaq_spinor>) = vectors_of;
        /// Makes a field with `count` eigenvectors from number `first` on, for sets that do not fit on the device.
        plaq_eigen_some_vectors(eigen: Handle<plaq_eigen>, first: i64, count: i64, vectors: Out<plaq_spinor>) = some_of;
    }
}

/// The operator A (M if it is hermitian, else M^dagger M), and the factor by which its eigenvalues are multiplied for
/// the operator's normalisation.
fn hermitian(dirac: &Arc<Dirac>, system: System) -> Result<(Arc<dyn LinOp>, f64)> {
    let (op, scale) = (dirac.system(system)?, dirac.scale(system));
    match op.hermitian() {
        true => Ok((op, scale)),
        false => Ok((Arc::new(Normal::mdag_m(op)), scale * scale)),
    }
}

fn create(
    dirac: &Arc<Dirac>,
    p: &plaq_eigen_params,
    guess: Option<&Arc<Spinor>>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_eigen>,
    report: &mut Report<plaq_eigen_report>,
) -> Result<()> {
    let context = dirac.context();
    let settings = EigenSettings::from_c(p, "params")?;
    let (op, scale) = hermitian(dirac, settings.system)?;
    if settings.time_slices && !dirac.op().within_time_slices() {
        refuse!(
            Unsupported,
            "params.time_slices",
            expected("an operator without hops in t"),
            found("{}", dirac.op().describe())
        );
    }
    let guess = match guess {
        Some(guess) => {
            context.check_same(guess.context(), "guess")?;
            Some(guess.read_any("guess")?)
        }
        None => None,
    };
    let limit = Limit::new(seconds_of(settings.max_seconds))?;
    let mut monitor = watch(context.comm(), callback, user);
    let other = settings.time_slices || settings.method != EigenMethod::Lanczos;
    if other && settings.vectors == VectorMemory::Host {
        refuse!(
            Unsupported,
            "params.vectors",
            expected(
                "{} or {} where Lanczos is not the method or with time_slices",
                VectorMemory::Auto,
                VectorMemory::Device
            )
        );
    }
    let (vectors, done): (VectorSet, _) = match settings.method {
        _ if settings.time_slices => {
            let EigenSettings { end, count, tol, max_restarts, verify, seed, .. } = settings;
            let (plain, max_seconds) = (EigenParams::default(), limit.left());
            let params =
                EigenParams { end, count, tol, max_restarts, verify, seed, max_seconds, ..plain };
            let (v, report) = slice_modes(&*op, None, &params, &mut monitor)?;
            (v.into(), report)
        }
        EigenMethod::Lanczos => {
            let params = settings.lanczos(scale, limit.left());
            let guess = guess.as_deref().map(VectorSet::of).transpose()?;
            eigen_set(&*op, None, &params, guess.as_ref(), &mut monitor)?
        }
        EigenMethod::Ritz => {
            // The tolerance of this method is absolute: the relative one is multiplied by the largest eigenvalue, which
            // is found first.
            let tol = eigen_tol("tol", settings.tol, op.shape().precision)?;
            let largest = EigenParams {
                end: End::Largest,
                count: 1,
                tol: 1e-3,
                filter: Filter::Plain,
                verify: false,
                max_seconds: limit.left(),
                ..Default::default()
            };
            let (_, top) = eigen(&*op, None, &largest, None, &mut monitor)?;
            let mut params = settings.ritz(tol * top.values[0].abs(), limit.left());
            if top.stopped {
                // The work was stopped: the minimisation will not begin, so that only one vector is asked for.
                params.count = 1;
            }
            let (v, report) = ritz(&*op, &params, guess.as_deref(), &mut monitor)?;
            (v.into(), report)
        }
    };
    let done = done.scaled(scale);
    report.set(done.to_c());
    let vectors = Arc::new(vectors);
    let links = links_mark(dirac.op().links())?;
    out.set(context.adopt(Eigen { context: context.clone(), vectors, report: done, links })?);
    Ok(())
}

/// The kind, as stored in a file, of eigenvectors of A on the whole lattice.
const KIND: &str = "eigen";

fn save(eigen: &Arc<Eigen>, file: &Path) -> Result<()> {
    if eigen.vectors.first().subset() != Subset::Full {
        bail!(
            Unsupported,
            "eigen: files hold vectors on the full lattice, these are on one parity"
        );
    }
    let r = &eigen.report;
    if r.values.len() != eigen.vectors.count() {
        bail!(Unsupported, "eigen: files hold no eigenvectors of time slices");
    }
    let all = [("values", &r.values), ("residuals", &r.residuals), ("bounds", &r.bounds)];
    let mut tables: Vec<_> = all.map(|(name, v)| (name.to_string(), v.clone())).into();
    tables.push(("ends".to_string(), vec![r.least, r.largest]));
    save_sets(file, KIND, tables, &[&eigen.vectors])
}

fn load(
    dirac: &Arc<Dirac>,
    file: &Path,
    out: &mut Out<plaq_eigen>,
    report: &mut Report<plaq_eigen_report>,
) -> Result<()> {
    let (context, action) = (dirac.context(), dirac.op());
    let start = Instant::now();
    let (op, scale) = hermitian(dirac, System::Full)?;
    let links = action.links();
    let mut from =
        VectorFile::open(links.device(), links.geometry(), file, KIND, action.shape().components)?;
    let (values, residuals) = (from.table("values")?, from.table("residuals")?);
    let (bounds, ends) = (from.table("bounds")?, from.table("ends")?);
    let n = from.header().count;
    if n == 0 || [values.len(), residuals.len(), bounds.len()] != [n; 3] || ends.len() != 2 {
        bail!(FileFormat, "{}: {n} eigenvectors with {} values", file.display(), values.len());
    }
    let mut vectors = from.read_set(0..n, links.precision())?;
    let epsilon = vectors.precision().min(op.shape().precision).epsilon();
    if vectors.precision() != op.shape().precision {
        vectors = vectors.to(op.shape().precision)?;
    }
    let (mut r2, mut norms) = (vec![], vec![]);
    for (first, m) in portions(0..n, 1) {
        let (x, mut image) = (vectors.get(first, m)?, op.shape().field(m)?);
        op.apply(&mut image, &x)?;
        let minus: Vec<f64> = values[first..first + m].iter().map(|v| -v / scale).collect();
        r2.extend(blas::axpy_norm(&blas::complex(&minus), &x, &mut image)?);
        norms.extend(blas::norm2(&x)?);
    }
    let mut found = EigenReport {
        converged: true,
        stopped_by: Some(StoppedBy::Residual),
        count: n,
        values,
        bounds,
        least: ends[0],
        largest: ends[1],
        applications: n as u64,
        degree: 1,
        ..Default::default()
    };
    for k in 0..n {
        let r = scale * r2[k].sqrt();
        let allowed = 10.0 * residuals[k] + 100.0 * epsilon * ends[1].abs();
        if !(r <= allowed && (norms[k] - 1.0).abs() <= 1e3 * epsilon) {
            bail!(
                FieldMismatch,
                "{}: with this operator eigenvector {k} of value {} has the residual {}, when \
                 it was found {}: it belongs to another one",
                file.display(),
                significant(found.values[k], 7),
                significant(r, 3),
                significant(residuals[k], 3)
            );
        }
        found.residuals.push(r);
    }
    found.seconds = start.elapsed().as_secs_f64();
    report.set(found.to_c());
    let vectors = Arc::new(vectors);
    let links = links_mark(dirac.op().links())?;
    out.set(context.adopt(Eigen { context: context.clone(), vectors, report: found, links })?);
    Ok(())
}

fn destroy(eigen: plaq_eigen) -> Result<()> {
    handles::remove(eigen, "eigen")
}

fn values_of(
    eigen: &Arc<Eigen>,
    values: &mut OutArray<f64>,
    residuals: &mut MaybeArray<f64>,
    bounds: &mut MaybeArray<f64>,
    count: i64,
) -> Result<()> {
    let found = &eigen.report;
    if count != found.values.len() as i64 {
        refuse!(InvalidArgument, "count", expected("{}", found.values.len()), found("{count}"));
    }
    values.set(found.values.clone());
    residuals.set(found.residuals.clone());
    bounds.set(found.bounds.clone());
    Ok(())
}

fn vectors_of(eigen: &Arc<Eigen>, vectors: &mut Out<plaq_spinor>) -> Result<()> {
    some_of(eigen, 0, eigen.vectors.count() as i64, vectors)
}

fn some_of(
    eigen: &Arc<Eigen>,
    first: i64,
    count: i64,
    vectors: &mut Out<plaq_spinor>,
) -> Result<()> {
    let all = eigen.vectors.count() as i64;
    if first < 0 || count < 1 || first.checked_add(count).is_none_or(|end| end > all) {
        refuse!(
            InvalidArgument,
            "first, count",
            expected("a part of {all} eigenvectors"),
            found("{count} from {first} on")
        );
    }
    let some = eigen.vectors.get(first as usize, count as usize)?;
    vectors.set(eigen.context.adopt(Spinor::new(&eigen.context, some))?);
    Ok(())
}
