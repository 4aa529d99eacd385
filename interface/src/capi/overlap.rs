//! The overlap operator: kernel modes, application, low modes and index.

use std::ffi::c_void;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::args::{
    Handle, Local, MaybeArray, One, OptionalHandle, Out, OutArray, Params, Raw, Report,
};
use super::context::{plaq_context, Context};
use super::file_name::FileName;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::progress::{plaq_progress_callback, watch};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::compose::seconds_of;
use crate::compose::{
    Method, Modes, Overlap as Operator, OverlapAlgorithm, OverlapModes, Preconditioned,
};
use crate::error::Result;
use crate::fields::{BoundaryKind, Precision, Recon};
use crate::io::Origin;
use crate::linop::LinOp;
use crate::operators::HermitianWilson;
use crate::ops::eigenvectors::{load_modes, load_overlap_modes, save_modes};
use crate::ops::overlap::{plaq_overlap_report, OverlapReport};
pub use crate::ops::overlap_settings::plaq_overlap_params;
use crate::ops::overlap_settings::{OverlapSettings, OverlapShared};
use crate::params::{Choice as _, InC, ToC as _};
use crate::refuse;
use crate::solvers::stop::check_seconds;

/// The object behind the handle `plaq_overlap`.
pub struct Overlap {
    context: Arc<Context>,
    pub(super) op: Arc<Operator>,
    seconds: [f64; 2],
    /// Seconds that a search for low modes may take; infinite: no limit.
    max_seconds: f64,
    low: Mutex<Option<Arc<OverlapModes>>>,
    kept: Mutex<OverlapShared>,
    /// Algorithm and preconditioner of the last solve, as in plaq_overlap_report.
    solved: Mutex<(OverlapAlgorithm, Preconditioned)>,
}

impl Overlap {
    fn new(
        context: &Arc<Context>,
        op: Arc<Operator>,
        seconds: [f64; 2],
        max_seconds: f64,
        low: Option<Arc<OverlapModes>>,
    ) -> Self {
        let (context, low) = (context.clone(), Mutex::new(low));
        let solved = Mutex::new((OverlapAlgorithm::Auto, Preconditioned::No));
        let kept = Mutex::default();
        Overlap { context, op, seconds, max_seconds, low, kept, solved }
    }
    pub(super) fn kept(&self) -> MutexGuard<'_, OverlapShared> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    /// The origin of solutions with this operator: the boundary phase in time in units of pi, on links periodic in
    /// time.
    pub(super) fn origin(&self) -> Origin {
        Origin {
            boundary: Some(self.phases()[3]),
            boundary_time: Some(BoundaryKind::Periodic.word()),
            ..Default::default()
        }
    }
    pub(super) fn shared(&self) -> &Mutex<OverlapShared> {
        &self.kept
    }
    /// Remembers algorithm and preconditioner of a solve.
    pub(super) fn set_solved(&self, solved: (OverlapAlgorithm, Preconditioned)) {
        *self.solved.lock().unwrap_or_else(PoisonError::into_inner) = solved;
    }
    /// Boundary phases of quarks in units of pi.
    pub(super) fn phases(&self) -> [f64; 4] {
        let phases = self.op.sign().kernel().op().params().boundary;
        phases.map(|phase| phase.arg() / std::f64::consts::PI)
    }
    pub(super) fn low(&self) -> Option<Arc<OverlapModes>> {
        self.low.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum OverlapForm {
    Plain,
    Dagger,
    DaggerTimes,
    Sign,
    Kernel,
    /// D^dagger D restricted to this chirality.
    Square(i32),
}

interface! {
    "Overlap operator"
    handles {
        /// The overlap operator D_N(m) on links of its own, with the low modes of its kernel.
        plaq_overlap: Overlap = 21,
    }
    choices {
        plaq_overlap_sign = Method;
        plaq_overlap_solver = OverlapAlgorithm;
        plaq_overlap_preconditioner = Preconditioned;
    }
    constants {
        /// The operator D, or an operator made from it.
        plaq_overlap_form: OverlapForm {
            /// The overlap operator D.
            PLAQ_OVERLAP_D = 0 => OverlapForm::Plain,
            /// The adjoint D^dagger.
            PLAQ_OVERLAP_DDAG = 1 => OverlapForm::Dagger,
            /// The product D^dagger D.
            PLAQ_OVERLAP_DDAGD = 2 => OverlapForm::DaggerTimes,
            /// The sign function sign(Q).
            PLAQ_OVERLAP_SIGN = 3 => OverlapForm::Sign,
            /// The kernel Q = gamma5 (D_W - (1 + s)).
            PLAQ_OVERLAP_Q = 4 => OverlapForm::Kernel,
            /// D^dagger D (1 + gamma5) / 2, which takes one application of the sign function; PLAQ_OVERLAP_DDAGD
            /// takes two.
            PLAQ_OVERLAP_DDAGD_PLUS = 5 => OverlapForm::Square(1),
            /// D^dagger D (1 - gamma5) / 2, which takes one application of the sign function.
            PLAQ_OVERLAP_DDAGD_MINUS = 6 => OverlapForm::Square(-1),
        }
    }
    tables {
        plaq_overlap_params, plaq_overlap_params_init;
    }
    reported {
        plaq_overlap_report, plaq_overlap_report_init;
    }
    functions {
        /// Makes an operator on the links of `gauge` (SU(3), maybe smeared). `modes`: vectors of an earlier search,
        /// from plaq_overlap_vectors, or the zero handle. Errors: BAD_PARAMETER (|s| >= 1), KERNEL_SPECTRUM (a kernel
        /// mode at zero, an interval that does not hold the spectrum, too few or too inexact modes: the message says
        /// what to change), OUT_OF_MEMORY.
        plaq_overlap_create(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_overlap_params>, modes: OptionalHandle<plaq_spinor>, callback: Raw<plaq_progress_callback>, user: *mut c_void, overlap: Out<plaq_overlap>) = create;
        /// Makes an operator with the modes in a file of plaq_overlap_write. They are not searched for again, but
        /// their residuals with these links are measured. Low modes of D in the file are used at the start of solves
        /// and by plaq_overlap_index. Errors: those of plaq_overlap_create; FIELD_MISMATCH: the modes belong to other
        /// links or parameters; FILE_*.
        plaq_overlap_read(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_overlap_params>, file: FileName, overlap: Out<plaq_overlap>) = load;
        /// Writes the modes of the kernel, and those that plaq_overlap_index found, to a file: SciDAC records in LIME
        /// with checksums, with eigenvalues. The file appears complete or not at all.
        plaq_overlap_write(overlap: Handle<plaq_overlap>, file: FileName) = save;
        /// Makes the same operator with another mass; both operators share the modes.
        plaq_overlap_create_with_mass(overlap: Handle<plaq_overlap>, mass: f64, other: Out<plaq_overlap>) = with_mass;
        /// Destroys an operator. The zero handle is accepted.
        plaq_overlap_destroy(overlap: Raw<plaq_overlap>) = destroy;
        /// Describes parameters, bounds and cost of an operator.
        plaq_overlap_describe(overlap: Local<plaq_overlap>, report: Report<plaq_overlap_report>) = describe;
        /// Gives the projected modes of Q, ordered by modulus: eigenvalues, residuals |(Q - lambda) w|, and distances
        /// to the rest of the spectrum; the last two may be NULL. `count`: `modes` of the report.
        plaq_overlap_kernel_values(overlap: Handle<plaq_overlap>, values: OutArray<f64>[count], residuals: MaybeArray<f64>[count], distances: MaybeArray<f64>[count], count: i64) = kernel_of;
        /// Gives the modes at the upper end of the kernel's spectrum, the largest first: moduli of eigenvalues of Q,
        /// their errors, and distances to the largest modulus below all of them; the last two may be NULL. `count`:
        /// high_modes of the report.
        plaq_overlap_high_values(overlap: Handle<plaq_overlap>, values: OutArray<f64>[count], residuals: MaybeArray<f64>[count], gaps: MaybeArray<f64>[count], count: i64) = high_of;
        /// Makes a field with all vectors found by the search for modes, the projected ones first.
        plaq_overlap_vectors(overlap: Handle<plaq_overlap>, vectors: Out<plaq_spinor>) = modes_of;
        /// Computes y = D x, or applies another plaq_overlap_form. Fields are on the full lattice in the operator's
        /// precision; y and x are different fields.
        plaq_overlap_apply(overlap: Handle<plaq_overlap>, form: One<OverlapForm>, y: Handle<plaq_spinor>, x: Handle<plaq_spinor>) = apply;
        /// Measures the violation of the Ginsparg-Wilson relation, |(gamma5 D + D gamma5 - D gamma5 D / rho) x| /
        /// |x|, of the massless operator for a random x.
        plaq_overlap_ginsparg_wilson(overlap: Handle<plaq_overlap>, seed: i64, violation: Out<f64>) = violation_of;
        /// Finds `count` low modes of D^dagger D of the massless operator for each chirality, to residuals of `tol`
        /// (2 rho)^2; solves may start from them. Modes found or loaded before are used if they are accurate enough.
        /// `plus`, `minus`: room for `count` eigenvalues |lambda|^2 of chirality 1 and -1, ascending. `zeros`: room
        /// for the numbers n_+ and n_- of zero modes; n_- - n_+ is the topological charge of a smooth field. If all
        /// modes that were found are zero modes, twice as many are searched for, so that `zeros` may exceed `count`.
        /// Errors: KERNEL_SPECTRUM if an eighth of all vectors does not suffice or the callback ends the search;
        /// UNSUPPORTED in 16 bits.
        plaq_overlap_index(overlap: Handle<plaq_overlap>, count: i32, tol: f64, callback: Raw<plaq_progress_callback>, user: *mut c_void, plus: OutArray<f64>[count], minus: OutArray<f64>[count], zeros: OutArray<i32>[2]) = index_of;
        /// Gives the low modes of D^dagger D of one chirality, 1 or -1, that plaq_overlap_index found or that were
        /// read from a file: eigenvalues |lambda|^2, ascending, and residuals |(D^dagger D - |lambda|^2) v|, which
        /// may be NULL.
        /// `count`: at most low_modes of the report.
        plaq_overlap_low_values(overlap: Handle<plaq_overlap>, chirality: i32, values: OutArray<f64>[count], residuals: MaybeArray<f64>[count], count: i64) = low_of;
    }
}

/// Makes the hermitian Wilson operator Q on the links of `gauge`, and returns it with precision and link storage of the
/// settings.
fn kernel(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    p: &OverlapSettings,
) -> Result<(Arc<HermitianWilson>, (Precision, Recon))> {
    context.check_same(gauge.context(), "gauge")?;
    let links = gauge.read("gauge")?;
    p.kernel(links)
}

#[allow(clippy::too_many_arguments)]
fn create(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    p: &plaq_overlap_params,
    vectors: Option<&Arc<Spinor>>,
    callback: plaq_progress_callback,
    user: *mut c_void,
    out: &mut Out<plaq_overlap>,
) -> Result<()> {
    let p = OverlapSettings::from_c(p, "params")?;
    let (kernel, target) = kernel(context, gauge, &p)?;
    p.sign()?;
    let modes = p.modes();
    let guess = match vectors {
        Some(vectors) => {
            context.check_same(vectors.context(), "modes")?;
            Some(vectors.read("modes")?)
        }
        None => None,
    };
    let mut monitor = watch(context.comm(), callback, user);
    let start = Instant::now();
    let vectors = Modes::find(&kernel, None, &modes, guess.as_deref(), &mut monitor)?;
    let found = start.elapsed().as_secs_f64();
    let op = Arc::new(p.operator(kernel, vectors, target)?);
    let seconds = [found, start.elapsed().as_secs_f64() - found];
    out.set(context.adopt(Overlap::new(context, op, seconds, modes.max_seconds, None))?);
    Ok(())
}

fn load(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    p: &plaq_overlap_params,
    file: &Path,
    out: &mut Out<plaq_overlap>,
) -> Result<()> {
    let p = OverlapSettings::from_c(p, "params")?;
    let (kernel, target) = kernel(context, gauge, &p)?;
    p.sign()?;
    let max_seconds = seconds_of(p.max_seconds);
    check_seconds(max_seconds)?;
    let start = Instant::now();
    // Vectors of modes are held in the precision in which they are projected out: the operator's, but single at least.
    let own = match target.0.max(Precision::F32) {
        Precision::F64 => kernel.clone(),
        wide => Arc::new(HermitianWilson::new(Arc::new(kernel.op().to(wide, target.1)?))?),
    };
    let modes = load_modes(file, &own)?;
    let found = start.elapsed().as_secs_f64();
    let op = Arc::new(p.operator(kernel, modes, target)?);
    let seconds = [found, start.elapsed().as_secs_f64() - found];
    let low = load_overlap_modes(file, &op)?.map(Arc::new);
    out.set(context.adopt(Overlap::new(context, op, seconds, max_seconds, low))?);
    Ok(())
}

fn save(overlap: &Arc<Overlap>, file: &Path) -> Result<()> {
    save_modes(file, overlap.op.sign().modes(), overlap.low().as_deref())
}

fn with_mass(overlap: &Arc<Overlap>, mass: f64, other: &mut Out<plaq_overlap>) -> Result<()> {
    let op = Arc::new(overlap.op.with_mass(mass)?);
    let (seconds, limit) = (overlap.seconds, overlap.max_seconds);
    let mut object = Overlap::new(&overlap.context, op, seconds, limit, overlap.low());
    object.kept = Mutex::new(overlap.kept().clone());
    other.set(overlap.context.adopt(object)?);
    Ok(())
}

fn destroy(overlap: plaq_overlap) -> Result<()> {
    handles::remove(overlap, "overlap")
}

fn describe(overlap: &Arc<Overlap>, report: &mut Report<plaq_overlap_report>) -> Result<()> {
    let solved = *overlap.solved.lock().unwrap_or_else(PoisonError::into_inner);
    let low = overlap.low();
    let found = OverlapReport::new(&overlap.op, overlap.seconds, solved, low.as_deref());
    report.set(found.to_c());
    Ok(())
}

fn kernel_of(
    overlap: &Arc<Overlap>,
    values: &mut OutArray<f64>,
    residuals: &mut MaybeArray<f64>,
    distances: &mut MaybeArray<f64>,
    count: i64,
) -> Result<()> {
    let modes = overlap.op.sign().modes();
    if count != modes.count() as i64 {
        refuse!(InvalidArgument, "count", expected("{} modes", modes.count()), found("{count}"));
    }
    values.set(modes.values().to_vec());
    residuals.set(modes.residuals().to_vec());
    distances.set(modes.distances().to_vec());
    Ok(())
}

fn high_of(
    overlap: &Arc<Overlap>,
    values: &mut OutArray<f64>,
    residuals: &mut MaybeArray<f64>,
    gaps: &mut MaybeArray<f64>,
    count: i64,
) -> Result<()> {
    let high = overlap.op.sign().modes().high();
    if count != high.len() as i64 {
        refuse!(InvalidArgument, "count", expected("{} modes", high.len()), found("{count}"));
    }
    values.set(high.iter().map(|h| h.value).collect());
    residuals.set(high.iter().map(|h| h.residual).collect());
    gaps.set(high.iter().map(|h| h.gap).collect());
    Ok(())
}

fn modes_of(overlap: &Arc<Overlap>, vectors: &mut Out<plaq_spinor>) -> Result<()> {
    let modes = overlap.op.sign().modes().vectors();
    let all = modes.get(0, modes.count())?;
    vectors.set(overlap.context.adopt(Spinor::new(&overlap.context, all))?);
    Ok(())
}

fn apply(
    overlap: &Arc<Overlap>,
    form: OverlapForm,
    y: &Arc<Spinor>,
    x: &Arc<Spinor>,
) -> Result<()> {
    overlap.context.check_same(y.context(), "y")?;
    overlap.context.check_same(x.context(), "x")?;
    let (x, result) = (x.read("x")?, y);
    let mut y = y.write("y")?;
    let op = &overlap.op;
    let shape = op.shape();
    shape.check(&x, "x")?;
    shape.check(&y, "y")?;
    x.check_like(&y, "y")?;
    match form {
        OverlapForm::Plain => op.apply(&mut y, &x),
        OverlapForm::Dagger => op.apply_dagger(&mut y, &x),
        OverlapForm::DaggerTimes => {
            let mut t = shape.field(x.nrhs())?;
            op.apply(&mut t, &x)?;
            op.apply_dagger(&mut y, &t)
        }
        OverlapForm::Sign => op.sign().apply(&mut y, &x),
        OverlapForm::Kernel => op.sign().kernel().apply(&mut y, &x),
        OverlapForm::Square(chirality) => op.square(chirality).apply_projected(&mut y, &x),
    }?;
    result.set_origin(Origin::default());
    Ok(())
}

fn violation_of(overlap: &Arc<Overlap>, seed: i64, violation: &mut Out<f64>) -> Result<()> {
    violation.set(overlap.op.ginsparg_wilson(seed as u64)?);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn index_of(
    overlap: &Arc<Overlap>,
    count: i32,
    tol: f64,
    callback: plaq_progress_callback,
    user: *mut c_void,
    plus: &mut OutArray<f64>,
    minus: &mut OutArray<f64>,
    zeros: &mut OutArray<i32>,
) -> Result<()> {
    if !(1..=4096).contains(&count) {
        refuse!(InvalidArgument, "count", expected("1 to 4096"), found("{count}"));
    }
    let count = count as usize;
    let known = overlap.low().filter(|low| low.hold(count, tol));
    let searched = known.is_none();
    let modes = match known {
        Some(modes) => modes,
        None => {
            let mut monitor = watch(overlap.context.comm(), callback, user);
            let max = overlap.max_seconds;
            Arc::new(OverlapModes::find_within(max, &overlap.op, count, tol, &mut monitor)?)
        }
    };
    let [upper, lower] = modes.values();
    plus.set(upper[..count].to_vec());
    minus.set(lower[..count].to_vec());
    zeros.set(modes.zeros().map(|n| n as i32).to_vec());
    if !searched {
        return Ok(());
    }
    *overlap.low.lock().unwrap_or_else(PoisonError::into_inner) = Some(modes);
    Ok(())
}

fn low_of(
    overlap: &Arc<Overlap>,
    chirality: i32,
    values: &mut OutArray<f64>,
    residuals: &mut MaybeArray<f64>,
    count: i64,
) -> Result<()> {
    let side = match chirality {
        1 => 0,
        -1 => 1,
        _ => refuse!(InvalidArgument, "chirality", expected("1 or -1"), found("{chirality}")),
    };
    let low = overlap.low();
    let known = low.as_ref().map_or(0, |low| low.count());
    let Some(low) = low.filter(|_| (1..=known as i64).contains(&count)) else {
        bail!(
            InvalidArgument,
            "count: {known} low modes of either chirality are known, found {count}: plaq_overlap_index \
             finds more"
        );
    };
    values.set(low.values()[side][..count as usize].to_vec());
    residuals.set(low.residuals()[side][..count as usize].to_vec());
    Ok(())
}
