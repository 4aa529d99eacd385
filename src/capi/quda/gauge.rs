//! `quda.h`: links that stay on the device, and what QUDA makes of path tables.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::calls::Nothing;
use super::enums::*;
use super::session::{self, Resident, Session};
use crate::backend::{External, Location};
use crate::bail;
use crate::capi::args::{choose, Array, DataOut, Memory, PathList, PathTable};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::{
    GaugeField, Group, Layout, LinkOptions, MatrixField, MatrixForm, Momenta, MomentaForm,
    Precision, Recon, SiteOrder, Subset,
};
use crate::ops::paths::{traces, Paths, Walker, LONGEST, MOST};
use crate::params::Number;

interface! {
    "Links and paths"
    structs {
        /// What links and momenta are, and what becomes of them. Members that plaq does not use have
        /// their place so that programs compile.
        QudaGaugeParam {
            /// Bytes of this struct, as newQudaGaugeParam sets it.
            struct_size: usize,
            location: QudaFieldLocation,
            /// Sites of this rank in x, y, z, t.
            X: [c_int; 4],
            /// 1, or members of other fermions; not used.
            anisotropy: f64,
            tadpole_coeff: f64,
            scale: f64,
            r#type: QudaLinkType,
            gauge_order: QudaGaugeFieldOrder,
            t_boundary: QudaTboundary,
            /// Of the host's arrays.
            cpu_prec: QudaPrecision,
            /// That plaq works in; links are kept whole.
            cuda_prec: QudaPrecision,
            reconstruct: QudaReconstructType,
            /// Not used here, as all up to reconstruct_eigensolver.
            cuda_prec_sloppy: QudaPrecision,
            reconstruct_sloppy: QudaReconstructType,
            cuda_prec_refinement_sloppy: QudaPrecision,
            reconstruct_refinement_sloppy: QudaReconstructType,
            cuda_prec_precondition: QudaPrecision,
            reconstruct_precondition: QudaReconstructType,
            cuda_prec_eigensolver: QudaPrecision,
            reconstruct_eigensolver: QudaReconstructType,
            gauge_fix: QudaGaugeFixed,
            /// Not used.
            ga_pad: c_int,
            site_ga_pad: c_int,
            staple_pad: c_int,
            llfat_ga_pad: c_int,
            mom_ga_pad: c_int,
            /// Links with staggered phases are refused.
            staggered_phase_type: QudaStaggeredPhase,
            staggered_phase_applied: c_int,
            /// Not used.
            i_mu: f64,
            overlap: c_int,
            /// 1: results take the place of what the output held, 0: they are added.
            overwrite_gauge: c_int,
            overwrite_mom: c_int,
            /// Input from the device instead of the host's array, which may be NULL then; results that
            /// stay on the device, and that come back.
            use_resident_gauge: c_int,
            use_resident_mom: c_int,
            make_resident_gauge: c_int,
            make_resident_mom: c_int,
            return_result_gauge: c_int,
            return_result_mom: c_int,
            /// Of QUDA_MILC_SITE_GAUGE_ORDER: bytes of a site struct before links and momenta, and of
            /// the struct.
            gauge_offset: usize,
            mom_offset: usize,
            site_size: usize,
        }
    }
    calls {
        /// The GPU of the only rank, -1: plaq chooses. With several ranks qudaInit of
        /// quda_milc_interface.h takes its place.
        initQuda(device: c_int) = alone init;
        /// Gives everything back.
        endQuda() = alone end;
        /// All members as QUDA sets them: values to be filled in are invalid.
        newQudaGaugeParam() -> QudaGaugeParam = alone new_param;
        /// Keeps the host's links on the device. The first call fixes the lattice.
        loadGaugeQuda(h_gauge: DataOut, param: Array<QudaGaugeParam>) = together load_gauge;
        /// Forgets them.
        freeGaugeQuda() = alone free_gauge;
        /// mom = mom - dt TA[U_d(x) sum_i loop_coeff[i] (product along path i of direction d from x + d)]
        /// for each link, TA the traceless anti-hermitian part: input_path_buf[d][i] holds the
        /// path_length[i] steps of a staple, 0 to 3 forward in x, y, z, t, 7 to 4 back, that leads back to
        /// x. Momenta are anti-hermitian, 10 reals a link (sqrt(2) i p in plaq's convention), in
        /// one array, four on a site, even sites first (QUDA_MILC_GAUGE_ORDER), or on the device. Up to 63
        /// steps and 1024 paths. Returns 0.
        computeGaugeForceQuda(mom: *mut c_void, sitelink: *mut c_void, input_path_buf: PathTable, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, dt: f64, qudaGaugeParam: Array<QudaGaugeParam>) -> c_int = together gauge_force;
        /// out_d(x) = out_d(x) + dt U_d(x) sum_i loop_coeff[i] (product along path i from x + d), without
        /// the sum where overwrite_gauge is 1; `out` is laid out as links. Paths need not be closed.
        computeGaugePathQuda(out: DataOut, sitelink: *mut c_void, input_path_buf: PathTable, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, dt: f64, qudaGaugeParam: Array<QudaGaugeParam>) -> c_int = together gauge_path;
        /// traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x) of
        /// the links that loadGaugeQuda keeps: `traces` takes num_paths complex doubles. Up to 64 steps
        /// and 4096 paths.
        computeGaugeLoopTraceQuda(traces: DataOut, input_path_buf: PathList, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, factor: f64) = together loop_trace;
    }
}

const INVALID: c_int = c_int::MIN;
const UNSET: f64 = f64::MIN_POSITIVE;

impl QudaGaugeParam {
    const NEW: QudaGaugeParam = QudaGaugeParam {
        struct_size: size_of::<QudaGaugeParam>(),
        location: QUDA_CPU_FIELD_LOCATION,
        X: [INVALID; 4],
        anisotropy: UNSET,
        tadpole_coeff: UNSET,
        scale: 1.0,
        r#type: Number::new(INVALID),
        gauge_order: Number::new(INVALID),
        t_boundary: Number::new(INVALID),
        cpu_prec: Number::new(INVALID),
        cuda_prec: Number::new(INVALID),
        reconstruct: Number::new(INVALID),
        cuda_prec_sloppy: Number::new(INVALID),
        reconstruct_sloppy: Number::new(INVALID),
        cuda_prec_refinement_sloppy: Number::new(INVALID),
        reconstruct_refinement_sloppy: Number::new(INVALID),
        cuda_prec_precondition: Number::new(INVALID),
        reconstruct_precondition: Number::new(INVALID),
        cuda_prec_eigensolver: Number::new(INVALID),
        reconstruct_eigensolver: Number::new(INVALID),
        gauge_fix: Number::new(INVALID),
        ga_pad: 0,
        site_ga_pad: 0,
        staple_pad: 0,
        llfat_ga_pad: 0,
        mom_ga_pad: 0,
        staggered_phase_type: QUDA_STAGGERED_PHASE_NO,
        staggered_phase_applied: 0,
        i_mu: 0.0,
        overlap: 0,
        overwrite_gauge: 0,
        overwrite_mom: 0,
        use_resident_gauge: 0,
        use_resident_mom: 0,
        make_resident_gauge: 0,
        make_resident_mom: 0,
        return_result_gauge: 1,
        return_result_mom: 1,
        gauge_offset: 0,
        mom_offset: 0,
        site_size: 0,
    };
}

impl Nothing for QudaGaugeParam {
    const NOTHING: Self = QudaGaugeParam::NEW;
}

/// The device that initQuda named, until the lattice is known.
static DEVICE: Mutex<Option<c_int>> = Mutex::new(None);

fn device() -> MutexGuard<'static, Option<c_int>> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn init(number: c_int) -> Result<()> {
    if number < -1 {
        bail!(InvalidArgument, "device: expected -1 or the number of a GPU, found {number}");
    }
    *device() = Some(number);
    Ok(())
}

fn end() -> Result<()> {
    *device() = None;
    session::close();
    Ok(())
}

fn new_param() -> Result<QudaGaugeParam> {
    Ok(QudaGaugeParam::NEW)
}

/// Links and momenta of the host as a checked parameter struct describes them.
struct Host {
    session: Arc<Session>,
    param: QudaGaugeParam,
    order: LinkOrder,
    layout: Layout,
    /// Of the host's arrays, and on the device.
    outside: Precision,
    inside: Precision,
}

impl Host {
    fn new(param: &Array<QudaGaugeParam>) -> Result<Host> {
        let param = param.own(1)[0];
        if param.struct_size != size_of::<QudaGaugeParam>() {
            bail!(
                InvalidArgument,
                "param.struct_size: expected {} as newQudaGaugeParam sets it, found {}",
                size_of::<QudaGaugeParam>(),
                param.struct_size
            );
        }
        choose::<HostMemory>(param.location, "param.location")?;
        choose::<Su3Links>(param.r#type, "param.type")?;
        choose::<Boundary>(param.t_boundary, "param.t_boundary")?;
        choose::<Kept>(param.reconstruct, "param.reconstruct")?;
        choose::<NotFixed>(param.gauge_fix, "param.gauge_fix")?;
        if param.staggered_phase_applied != 0 {
            choose::<NoPhase>(param.staggered_phase_type, "param.staggered_phase_type")?;
        }
        let order = choose::<LinkOrder>(param.gauge_order, "param.gauge_order")?;
        let Numbers(outside) = choose(param.cpu_prec, "param.cpu_prec")?;
        let Numbers(inside) = choose(param.cuda_prec, "param.cuda_prec")?;
        if session::current().is_none() {
            let Some(number) = *device() else {
                bail!(NotInitialised, "the library is not initialised; call initQuda first");
            };
            session::open(param.X, [1; 4], number)?;
        }
        if let Some(part) = session::part().filter(|part| *part != param.X) {
            bail!(
                InvalidArgument,
                "param.X: expected {part:?} as before, found {:?}; call endQuda before another lattice",
                param.X
            );
        }
        let layout = match order {
            LinkOrder::Qdp => Layout::qdp(outside),
            LinkOrder::Milc => Layout::milc(outside),
            LinkOrder::MilcSite => Layout::milc_site(outside, param.site_size, param.gauge_offset)?,
        };
        Ok(Host { session: session::get()?, param, order, layout, outside, inside })
    }

    fn resident(&self) -> MutexGuard<'_, Resident> {
        resident(&self.session)
    }

    fn array<'a>(&self, data: &'a DataOut) -> Result<External<'a>> {
        if self.order == LinkOrder::Qdp {
            return Ok(data.list(4, Location::Host));
        }
        let extents = self.session.geometry.extents();
        let bytes = self.layout.bytes(extents, Group::Su3, Subset::Full)?;
        Ok(data.block(&bytes, Location::Host))
    }

    fn load(&self, data: &DataOut) -> Result<GaugeField> {
        let (device, geometry) = (self.session.context.device(), &self.session.geometry);
        let form = (self.inside, Recon::R18);
        let any = LinkOptions { tolerance: Some(f64::INFINITY), reproject: false };
        GaugeField::from_external(device, geometry, form, &self.layout, &self.array(data)?, any)
    }

    /// The links that a call works on.
    fn links(&self, sitelink: *mut c_void) -> Result<Arc<GaugeField>> {
        if self.param.use_resident_gauge == 0 {
            let links = Arc::new(self.load(&DataOut::at(sitelink, "sitelink")?)?);
            if self.param.make_resident_gauge != 0 {
                self.resident().links = Some(links.clone());
            }
            return Ok(links);
        }
        let kept = self.resident().links.clone();
        let Some(links) = kept else {
            bail!(
                InvalidArgument,
                "param.use_resident_gauge: expected links on the device; call loadGaugeQuda first"
            );
        };
        match links.precision() == self.inside {
            true => Ok(links),
            false => Ok(Arc::new(links.to(self.inside, Recon::R18)?)),
        }
    }

    /// Place of the host's momenta, four on a site, even sites first.
    fn momenta_at(&self, mom: *mut c_void) -> Result<DataOut> {
        if self.order != LinkOrder::Milc {
            bail!(
                Unsupported,
                "param.gauge_order: expected QUDA_MILC_GAUGE_ORDER for momenta of the host, found {}; \
                 or keep momenta on the device (use_resident_mom, make_resident_mom)",
                self.order
            );
        }
        DataOut::at(mom, "mom")
    }
}

pub(crate) fn resident(session: &Session) -> MutexGuard<'_, Resident> {
    session.resident.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_gauge(h_gauge: &DataOut, param: &Array<QudaGaugeParam>) -> Result<()> {
    let host = Host::new(param)?;
    let links = host.load(h_gauge)?;
    host.resident().links = Some(Arc::new(links));
    Ok(())
}

fn free_gauge() -> Result<()> {
    if let Some(session) = session::current() {
        resident(&session).links = None;
    }
    Ok(())
}

pub(crate) fn step_of(step: i32) -> Result<u8> {
    match u8::try_from(step) {
        Ok(step) if step < 8 => Ok(step),
        _ => bail!(InvalidArgument, "input_path_buf: a step: expected 0 to 7, found {step}"),
    }
}

/// Lengths and coefficients of `num_paths` paths.
pub(crate) fn list_of(
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    (num_paths, most): (c_int, usize),
    (max_length, longest): (c_int, usize),
) -> Result<(Vec<usize>, Vec<f64>)> {
    if !(1..=most as c_int).contains(&num_paths) {
        bail!(InvalidArgument, "num_paths: expected 1 to {most}, found {num_paths}");
    }
    let n = num_paths as usize;
    // Hosts pass a maximum above what they use.
    let longest = (max_length.max(0) as usize).min(longest);
    let mut all = vec![];
    for length in lengths.get(n)? {
        match usize::try_from(length) {
            Ok(length) if (1..=longest).contains(&length) => all.push(length),
            _ => bail!(InvalidArgument, "path_length: expected 1 to {longest}, found {length}"),
        }
    }
    let coefficients = coefficients.get(n)?;
    if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
        bail!(InvalidArgument, "loop_coeff: expected finite numbers, found {bad}");
    }
    Ok((all, coefficients))
}

/// Paths of a table with the link that they begin with, and their coefficients.
fn staples(
    table: &PathTable,
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
) -> Result<(Paths, Vec<f64>)> {
    let (paths, length) = ((num_paths, MOST / 4), (max_length, LONGEST - 1));
    let (lengths, coefficients) = list_of(lengths, coefficients, paths, length)?;
    let (mut all, mut numbers) = (vec![], vec![]);
    for d in 0..4u8 {
        let list = table.of(d as usize)?;
        for (i, (&length, &c)) in lengths.iter().zip(&coefficients).enumerate() {
            let mut path = vec![d];
            for step in list.get(i, length)? {
                path.push(step_of(step)?);
            }
            all.push(path);
            numbers.push(c);
        }
    }
    Ok((Paths::new(all)?, numbers))
}

/// Sums of the products along such paths, four matrices on a site.
pub(crate) fn gathered(
    links: &GaugeField,
    paths: &Paths,
    coefficients: &[f64],
) -> Result<MatrixField> {
    let (device, geometry, precision) = (links.device(), links.geometry(), links.precision());
    let walker = Walker::new(device, geometry, precision, paths.len())?;
    let mut sum = MatrixField::new(device, geometry, precision, MatrixForm::General, 4)?;
    walker.gather(links, paths, coefficients, &mut sum)?;
    Ok(sum)
}

pub(crate) fn finite(dt: f64, name: &str) -> Result<()> {
    if !dt.is_finite() {
        bail!(InvalidArgument, "{name}: expected a finite number, found {dt}");
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn gauge_force(
    mom: *mut c_void,
    sitelink: *mut c_void,
    input_path_buf: &PathTable,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    dt: f64,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    finite(dt, "dt")?;
    let host = Host::new(param)?;
    let (paths, numbers) = staples(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    paths.check_closed(host.session.geometry.global_extents())?;
    let p = host.param;
    let from_host = p.use_resident_mom == 0 && p.overwrite_mom == 0;
    let to_host = p.return_result_mom != 0;
    let array = match from_host || to_host {
        true => Some(host.momenta_at(mom)?),
        false => None,
    };
    if p.use_resident_mom != 0 && host.resident().momenta.is_none() {
        bail!(
            InvalidArgument,
            "param.use_resident_mom: expected momenta on the device, found none"
        );
    }
    let links = host.links(sitelink)?;
    let (device, geometry) = (links.device(), links.geometry());
    let root = std::f64::consts::SQRT_2;
    let (form, order) = (MomentaForm::Ten, SiteOrder::EvenOdd);
    let count = geometry.volume() * 4 * form.reals();
    let mut momenta = Momenta::new(device, geometry, host.inside)?;
    match &array {
        Some(array) if from_host => {
            momenta.load(&array.numbers(host.outside, count), form, order, root)?
        }
        _ if p.overwrite_mom == 0 => {
            if let Some(kept) = &host.resident().momenta {
                momenta.copy_from(kept)?;
            }
        }
        _ => {}
    }
    // i sqrt(2) p loses dt times i times the traceless part of (W - W^dagger) / 2i.
    momenta.add_projection(1.0, -0.5 * dt * root, &gathered(&links, &paths, &numbers)?)?;
    let mut result = vec![];
    if to_host {
        result = vec![0.0; count];
        momenta.save(&mut result, form, order, root)?;
    }
    host.resident().momenta = (p.make_resident_mom != 0).then_some(momenta);
    if let Some(array) = array.filter(|_| to_host) {
        array.write(host.outside, &result);
    }
    Ok(0)
}

#[allow(clippy::too_many_arguments)]
fn gauge_path(
    out: &DataOut,
    sitelink: *mut c_void,
    input_path_buf: &PathTable,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    dt: f64,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    finite(dt, "dt")?;
    let host = Host::new(param)?;
    let (paths, numbers) = staples(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    let links = host.links(sitelink)?;
    let numbers: Vec<f64> = numbers.iter().map(|c| dt * c).collect();
    let walker = Walker::new(links.device(), links.geometry(), host.inside, paths.len())?;
    let mut sum = match host.param.overwrite_gauge {
        0 => MatrixField::from_links(host.load(out)?),
        _ => {
            let form = MatrixForm::General;
            MatrixField::new(links.device(), links.geometry(), host.inside, form, 4)?
        }
    };
    walker.gather(&links, &paths, &numbers, &mut sum)?;
    sum.into_links().save(&host.layout, &mut host.array(out)?)?;
    Ok(0)
}

/// Closed paths and their coefficients.
pub(crate) fn closed(
    list: &PathList,
    lengths: &Array<c_int>,
    coefficients: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
) -> Result<(Paths, Vec<f64>)> {
    let (paths, length) = ((num_paths, MOST), (max_length, LONGEST));
    let (lengths, coefficients) = list_of(lengths, coefficients, paths, length)?;
    let mut all = vec![];
    for (i, length) in lengths.into_iter().enumerate() {
        let steps = list.get(i, length)?;
        all.push(steps.into_iter().map(step_of).collect::<Result<Vec<u8>>>()?);
    }
    Ok((Paths::new(all)?, coefficients))
}

fn loop_trace(
    out: &DataOut,
    input_path_buf: &PathList,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    factor: f64,
) -> Result<()> {
    finite(factor, "factor")?;
    let session = session::get()?;
    let kept = resident(&session).links.clone();
    let Some(links) = kept else {
        bail!(
            InvalidArgument,
            "links: expected some on the device, found none; call loadGaugeQuda first"
        );
    };
    let (paths, coefficients) =
        closed(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    out.write(Precision::F64, &scaled_traces(&links, &paths, &coefficients, factor)?);
    Ok(())
}

/// Traces of closed paths, summed over the lattice, times factor and coefficient: (re, im) of each.
pub(crate) fn scaled_traces(
    links: &GaugeField,
    paths: &Paths,
    coefficients: &[f64],
    factor: f64,
) -> Result<Vec<f64>> {
    let sums = traces(links, paths)?;
    let scaled = sums.iter().zip(coefficients).map(|(t, c)| factor * c * t);
    Ok(scaled.flat_map(|t| [t.re, t.im]).collect())
}
