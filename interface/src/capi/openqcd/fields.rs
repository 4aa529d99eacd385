//! Links, clover terms and spinors of openQxD, and its Dirac operator.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use num_complex::Complex64;

use super::flags::dirac_parms_t;
use super::order::{CLOVER, LINK, SPINOR};
use super::state::{self, CloverOrigin, Host, LinksOrigin};
use super::{openQCD_QudaDiracParam_t, Group};
use crate::bail;
use crate::capi::args::{Array, DataOut};
use crate::capi::quda::enums::*;
use crate::capi::quda::operators::{self, Vectors};
use crate::capi::quda::params::QudaGaugeParam;
use crate::capi::quda::params_invert::QudaInvertParam;
use crate::capi::quda::records::Record;
use crate::capi::quda::resident::Links;
use crate::capi::quda::{host as arrays_of, links, session};
use crate::error::Result;
use crate::fields::{
    blas, BoundaryTime, GammaBasis, Geometry, Layout, LinkOptions, Precision, Subset, VectorField,
};
use crate::ops::config::fix_links;
use crate::ops::gamma::Gamma;
use crate::params::Number;
use crate::refuse;

/// Parameters, for functions of `quda.h`, of operators on openQxD's arrays.
pub fn operator() -> QudaInvertParam {
    QudaInvertParam {
        dslash_type: QUDA_WILSON_DSLASH,
        kappa: 0.125,
        cpu_prec: QUDA_DOUBLE_PRECISION,
        cuda_prec: QUDA_DOUBLE_PRECISION,
        cuda_prec_sloppy: QUDA_SINGLE_PRECISION,
        cuda_prec_precondition: QUDA_HALF_PRECISION,
        clover_cpu_prec: QUDA_DOUBLE_PRECISION,
        clover_order: QUDA_OPENQCD_CLOVER_ORDER,
        solution_type: QUDA_MAT_SOLUTION,
        solve_type: QUDA_DIRECT_SOLVE,
        matpc_type: QUDA_MATPC_EVEN_EVEN,
        dagger: QUDA_DAG_NO,
        mass_normalization: QUDA_MASS_NORMALIZATION,
        dirac_order: QUDA_OPENQCD_DIRAC_ORDER,
        gamma_basis: QUDA_OPENQCD_GAMMA_BASIS,
        twist_flavor: QUDA_TWIST_SINGLET,
        ..QudaInvertParam::NEW
    }
}

/// These parameters for arrays in an order of `quda.h`, to which openQxD's arrays are converted.
pub fn in_order(param: &QudaInvertParam) -> QudaInvertParam {
    QudaInvertParam {
        dirac_order: QUDA_DIRAC_ORDER,
        clover_order: QUDA_PACKED_CLOVER_ORDER,
        ..*param
    }
}

/// Sets kappa, clover term and twisted mass. openQxD's gamma5 has the opposite sign to that in the basis of fields.
pub fn set_operator(param: &mut QudaInvertParam, kappa: f64, clover: bool, mu: f64) {
    param.kappa = kappa;
    param.mu = -mu;
    param.dslash_type = match (clover, mu != 0.0) {
        (false, false) => QUDA_WILSON_DSLASH,
        (true, false) => QUDA_CLOVER_WILSON_DSLASH,
        (false, true) => QUDA_TWISTED_MASS_DSLASH,
        (true, true) => QUDA_TWISTED_CLOVER_DSLASH,
    };
}

/// The boundaries in time that openQxD has set.
///
/// # Errors
/// `InvalidArgument`: a type that it does not have; `BadParameter`: angles whose sum is not 0.
fn boundary_time(host: &Host) -> Result<BoundaryTime> {
    let set = host.boundary()?;
    let [phi, phi_prime] = set.phi3;
    let boundary = match set.r#type {
        0 => BoundaryTime::Open,
        1 => BoundaryTime::Sf { phi, phi_prime },
        2 => BoundaryTime::OpenSf { phi_prime },
        3 => BoundaryTime::Periodic,
        other => refuse!(
            InvalidArgument,
            "bc_parms().type",
            expected("0 (open), 1 (SF), 2 (open-SF) or 3 (periodic)"),
            found("{other}")
        ),
    };
    for (k, angles) in [boundary.phi(), boundary.phi_prime()].into_iter().enumerate() {
        let angles = angles.unwrap_or_default();
        // NaN is refused, too.
        let fits = angles.iter().sum::<f64>().abs() < 1e-9;
        if !fits {
            refuse!(
                BadParameter,
                "bc_parms().phi3[{k}]",
                expected("three angles with the sum 0 for type {}", set.r#type),
                found("{angles:?}")
            );
        }
    }
    Ok(boundary)
}

/// c_F and c_F' of openQxD's quarks on links with these boundaries; where time is periodic it has none.
fn boundary_terms(dirac: &dirac_parms_t, boundary: BoundaryTime) -> [f64; 2] {
    if boundary.is_periodic() {
        [1.0; 2]
    } else {
        dirac.cF
    }
}

/// Brings links and clover term on the device up to date with openQxD's; returns revisions and parameters that they
/// were made from.
pub fn update(host: &Host) -> Result<CloverOrigin> {
    let boundary = boundary_time(host)?;
    let dirac = host.dirac()?;
    let revisions = host.revisions()?;
    let cf = boundary_terms(&dirac, boundary);
    let made = CloverOrigin {
        links: LinksOrigin { revisions, charge: dirac.qhat, boundary, theta: dirac.theta },
        kappa: 1.0 / (2.0 * dirac.m0 + 8.0),
        su3csw: dirac.su3csw,
        u1csw: dirac.u1csw,
        cf,
    };
    if revisions == (0, 0) {
        return Ok(made);
    }
    if state::with(|state| Ok(state.links))? != Some(made.links) {
        let sign = if boundary.is_periodic() { -1.0 } else { 1.0 };
        gauge_load(host.links()?, Numbers(Precision::F64), QUDA_RECONSTRUCT_NO, Boundary(sign))?;
        state::with(|state| {
            state.links = Some(made.links);
            Ok(())
        })?;
    }
    if let Some(links) = &mut session::get()?.resident().links {
        links.cf = cf;
    }
    if state::with(|state| Ok(state.clover))? == Some(made) {
        return Ok(made);
    }
    if !has_clover(&made) {
        clover_free()?;
    } else if host.fields()?.gauge == Group::SU3 {
        compute_clover(made.kappa, made.su3csw)?;
    } else {
        clover_load(host.clover()?, made.kappa, 1.0)?;
    }
    state::with(|state| {
        state.clover = Some(made);
        Ok(())
    })?;
    Ok(made)
}

pub fn has_clover(made: &CloverOrigin) -> bool {
    made.su3csw != 0.0 || made.u1csw != 0.0
}

fn compute_clover(kappa: f64, csw: f64) -> Result<()> {
    let mut param = in_order(&operator());
    set_operator(&mut param, kappa, true, 0.0);
    (param.compute_clover, param.clover_coeff) = (1, kappa * csw);
    let null = std::ptr::null_mut();
    operators::load_clover(null, null, &mut param)
}

fn gauge_param(host: &Host, prec: Numbers, Boundary(sign): Boundary) -> QudaGaugeParam {
    QudaGaugeParam {
        X: host.layout.L,
        anisotropy: 1.0,
        r#type: QUDA_WILSON_LINKS,
        gauge_order: QUDA_QDP_GAUGE_ORDER,
        t_boundary: if sign < 0.0 { QUDA_ANTI_PERIODIC_T } else { QUDA_PERIODIC_T },
        cpu_prec: QUDA_DOUBLE_PRECISION,
        cuda_prec: Number::new(prec.0.bytes() as i32),
        ..QudaGaugeParam::NEW
    }
}

/// Removes the phases exp(i theta_k / N_k) of links in space from the four arrays of `quda.h`.
fn without_phases(ours: &mut [f64], host: &Host, theta: [f64; 3]) {
    let arrays = ours.chunks_exact_mut(host.order.volume() * LINK);
    for ((array, theta), length) in arrays.zip(theta).zip(host.layout.N) {
        let phase = Complex64::from_polar(1.0, -theta / f64::from(length));
        for z in array.chunks_exact_mut(2).filter(|_| theta != 0.0) {
            let bare = Complex64::new(z[0], z[1]) * phase;
            z.copy_from_slice(&[bare.re, bare.im]);
        }
    }
}

/// Refuses links of the four arrays of `quda.h` that are zero where links exist, or other than zero where boundaries in
/// time have none.
///
/// # Errors
/// `BadParameter`.
fn existing(ours: &[f64], host: &Host, geometry: &Geometry) -> Result<()> {
    let (volume, origin, boundary) = (host.order.volume(), geometry.origin(), geometry.boundary());
    let last = geometry.global_extents()[3] - 1;
    for (k, link) in ours.chunks_exact(LINK).enumerate() {
        let (mu, [t, x, y, z]) = (k / volume, host.order.site(k % volume));
        let place = [x + origin[0], y + origin[1], z + origin[2], t + origin[3]];
        let absent = boundary.lacks_links() && mu == 3 && place[3] == last;
        let zero = link.iter().all(|number| *number == 0.0);
        if zero != absent {
            let word = |zero: bool| if zero { "zero" } else { "a link that is not zero" };
            let axis = ["x", "y", "z", "t"][mu];
            refuse!(
                BadParameter,
                "gauge: link at {place:?}, direction {axis}",
                expected("{} with {boundary}", word(absent)),
                found("{}", word(zero))
            );
        }
    }
    Ok(())
}

pub fn gauge_load(
    gauge: *mut c_void,
    prec: Numbers,
    _: QudaReconstructType,
    t_boundary: Boundary,
) -> Result<()> {
    let host = state::host()?;
    let (boundary, dirac) = (boundary_time(&host)?, host.dirac()?);
    let theirs = DataOut::at(gauge, "gauge")?.numbers(prec.0, host.order.matrices() * LINK);
    let mut ours = host.order.links(&theirs);
    without_phases(&mut ours, &host, dirac.theta);
    let param = gauge_param(&host, prec, t_boundary);
    let to = arrays_of::Host::new(&Array::at(&param, "param")?)?.bounded(boundary)?;
    to.session.context.comm().agree(existing(&ours, &host, &to.geometry))?;
    state::with(|state| {
        (state.links, state.clover) = (None, None);
        Ok(())
    })?;
    if boundary.phi().is_none() {
        // The former links are freed first.
        to.resident().set_links(None);
    }
    let mut arrays = ours.chunks_exact_mut(host.order.volume() * LINK);
    let arrays: [*mut f64; 4] =
        std::array::from_fn(|_| arrays.next().map_or(std::ptr::null_mut(), |a| a.as_mut_ptr()));
    let mut links = to.links_to_keep(arrays.as_ptr() as *mut c_void, "gauge")?;
    // Fixed links times links of U(1) have other angles, so that links are compared with the stated angles for SU(3)
    // alone.
    if host.fields()?.gauge == Group::SU3 {
        let Some(field) = Arc::get_mut(&mut links.field) else {
            bail!(Internal, "gauge: others have links that were just read");
        };
        fix_links(field, LinkOptions::checked(prec.0).tolerance).map_err(|e| {
            e.renamed(|name| match name {
                "phi" => "bc_parms().phi3[0]".into(),
                other => other.into(),
            })
        })?;
    }
    let cf = boundary_terms(&dirac, boundary);
    to.resident().set_links(Some(Links { theta: dirac.theta, cf, ..links }));
    Ok(())
}

pub fn gauge_save(
    gauge: *mut c_void,
    prec: Numbers,
    _: QudaReconstructType,
    Boundary(sign): Boundary,
) -> Result<()> {
    let host = state::host()?;
    let session = session::get()?;
    let Some(reorder) = host.init.reorder_gauge_quda_to_openqcd.0 else {
        refuse!(
            NullPointer,
            "initargs.reorder_gauge_quda_to_openqcd",
            expected("a function"),
            found("NULL")
        );
    };
    let links = session.resident().links()?;
    let field = session.resident().turned(&links, links.field.precision())?.unwrap_or(links.field);
    let one = Complex64::ONE;
    let layout = Layout {
        axes: [3, 2, 1, 0],
        boundary: [one, one, one, Complex64::new(sign, 0.0)],
        ..Layout::lexicographic(prec.0)
    };
    // Doubles have the size and alignment that suffice for either precision.
    let mut ours = vec![0.0f64; 4 * host.order.volume() * LINK];
    let at: *mut c_void = ours.as_mut_ptr().cast();
    field.save(&layout, &mut session.external(&[at], "gauge")?)?;
    // SAFETY: the host's function, which takes so many links in lexicographic order and the array that it passed.
    unsafe { reorder(at, gauge) };
    Ok(())
}

pub fn gauge_free() -> Result<()> {
    state::with(|state| {
        (state.links, state.clover) = (None, None);
        Ok(())
    })?;
    links::free_gauge()
}

/// Loads openQxD's clover term, which is A / (2 kappa), with an A that is 1 for links that are zero.
pub fn clover_load(clover: *mut c_void, kappa: f64, csw: f64) -> Result<()> {
    let host = state::host()?;
    if csw == 0.0 || !csw.is_finite() {
        refuse!(InvalidArgument, "csw", expected("a finite number other than 0"), found("{csw}"));
    }
    let theirs =
        DataOut::at(clover, "h_clover")?.numbers(Precision::F64, host.order.volume() * CLOVER);
    let mut ours = host.order.clover(&theirs, 2.0 * kappa);
    let mut param = in_order(&operator());
    set_operator(&mut param, kappa, true, 0.0);
    state::with(|state| {
        state.clover = None;
        Ok(())
    })?;
    operators::load_clover(ours.as_mut_ptr().cast(), std::ptr::null_mut(), &mut param)
}

pub fn clover_free() -> Result<()> {
    state::with(|state| {
        state.clover = None;
        Ok(())
    })?;
    operators::free_clover()
}

/// Sum over colours of the average plaquette: the average of Re tr P, 3 on unit links. Where links of U(1) are fixed
/// those at T are not known here.
pub fn plaquette() -> Result<f64> {
    let host = state::host()?;
    let made = update(&host)?;
    let fixed = made.links.boundary.phi_prime().is_some();
    if fixed && host.fields()?.gauge != Group::SU3 {
        refuse!(
            Unsupported,
            "flds_parms().gauge",
            expected("{} (SU(3)) with {}", Group::SU3, made.links.boundary),
            found("{}", host.fields()?.gauge)
        );
    }
    Ok(3.0 * links::plaquettes(&session::get()?.resident().links()?)?[0])
}

/// Converts one of openQxD's spinors to the order of `quda.h`.
pub fn spinor_in(host: &Host, at: *mut c_void, name: &str) -> Result<Vec<f64>> {
    let theirs = DataOut::at(at, name)?.numbers(Precision::F64, host.order.volume() * SPINOR);
    Ok(host.order.gathered(&theirs, SPINOR))
}

pub fn spinor_out(host: &Host, numbers: &[f64], at: *mut c_void, name: &str) -> Result<()> {
    DataOut::at(at, name)?.write(Precision::F64, &host.order.scattered(numbers, SPINOR));
    Ok(())
}

fn to_device(vectors: &Vectors, host: &Host, at: *mut c_void, name: &str) -> Result<VectorField> {
    let mut numbers = spinor_in(host, at, name)?;
    vectors.load(&[numbers.as_mut_ptr().cast()], Subset::Full, name)
}

fn to_host(
    vectors: &Vectors,
    host: &Host,
    field: &VectorField,
    at: *mut c_void,
    name: &str,
) -> Result<()> {
    let mut numbers = vec![0.0; host.order.volume() * SPINOR];
    vectors.save(field, &[numbers.as_mut_ptr().cast()], name)?;
    spinor_out(host, &numbers, at, name)
}

/// Calls `work` for openQxD's spinors, without an operator.
fn plain<T>(work: impl FnOnce(&Vectors, &Host) -> Result<T>) -> Result<T> {
    let host = state::host()?;
    let param = in_order(&operator());
    work(&Vectors::new(&param, "param")?, &host)
}

pub fn back_and_forth(h_in: *mut c_void, h_out: *mut c_void) -> Result<()> {
    plain(|vectors, host| {
        let field = to_device(vectors, host, h_in, "h_in")?;
        to_host(vectors, host, &field, h_out, "h_out")
    })
}

pub fn norm(h_in: *mut c_void) -> Result<f64> {
    plain(|vectors, host| Ok(blas::norm2(&to_device(vectors, host, h_in, "h_in")?)?[0]))
}

pub fn norm_no_loads(d_in: *mut c_void) -> Result<f64> {
    state::host()?;
    let field = state::with(|state| Ok(state.spinor(d_in, "d_in")?.clone()))?;
    Ok(blas::norm2(&field)?[0])
}

pub fn h2d(h_in: *mut c_void) -> Result<*mut c_void> {
    let field = plain(|vectors, host| to_device(vectors, host, h_in, "h_field"))?;
    state::with(|state| Ok(state.add_spinor(field)))
}

pub fn d2h(d_in: *mut c_void, h_out: *mut c_void) -> Result<()> {
    let field = state::with(|state| Ok(state.spinor(d_in, "d_field")?.clone()))?;
    plain(|vectors, host| to_host(vectors, host, &field, h_out, "h_field"))
}

pub fn spinor_free(handle: &mut *mut c_void) -> Result<()> {
    state::with(|state| state.free_spinor(*handle))?;
    *handle = std::ptr::null_mut();
    Ok(())
}

/// A gamma matrix in openQxD's basis, row by row; gamma5 is the product in the order t, x, y, z.
fn gamma_matrix(dir: c_int) -> Result<[[Complex64; 4]; 4]> {
    let (gamma, sign) = match dir {
        0 => (Gamma::T, 1.0),
        1 => (Gamma::X, 1.0),
        2 => (Gamma::Y, 1.0),
        3 => (Gamma::Z, 1.0),
        4 | 5 => (Gamma::FIVE, -1.0),
        _ => refuse!(
            InvalidArgument,
            "dir",
            expected("0 to 3 (t, x, y, z), 4 or 5 (gamma5)"),
            found("{dir}")
        ),
    };
    let (matrix, t) = (gamma.matrix(), GammaBasis::Chiral.to_degrand_rossi());
    let entry = |a: usize, b: usize| -> Complex64 {
        (0..4).map(|r| matrix.entry(r) * (sign * t[4 * r + a] * t[4 * matrix.column[r] + b])).sum()
    };
    Ok(std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b))))
}

pub fn gamma(dir: c_int, h_in: *mut c_void, h_out: *mut c_void) -> Result<()> {
    let host = state::host()?;
    let matrix = gamma_matrix(dir)?;
    let count = host.order.volume() * SPINOR;
    let theirs = DataOut::at(h_in, "h_in")?.numbers(Precision::F64, count);
    let mut out = vec![0.0; count];
    for (out, site) in out.chunks_exact_mut(SPINOR).zip(theirs.chunks_exact(SPINOR)) {
        for (i, out) in out.chunks_exact_mut(2).enumerate() {
            let (spin, colour) = (i / 3, i % 3);
            let at =
                |s: usize| Complex64::new(site[6 * s + 2 * colour], site[6 * s + 2 * colour + 1]);
            let z: Complex64 = (0..4).map(|s| matrix[spin][s] * at(s)).sum();
            out.copy_from_slice(&[z.re, z.im]);
        }
    }
    DataOut::at(h_out, "h_out")?.write(Precision::F64, &out);
    Ok(())
}

/// Calls `work` with openQxD's present operator.
fn current<T>(mu: f64, work: impl FnOnce(&Vectors, &Host) -> Result<T>) -> Result<T> {
    let host = state::host()?;
    let made = update(&host)?;
    let mut param = in_order(&operator());
    set_operator(&mut param, made.kappa, has_clover(&made), mu);
    work(&Vectors::new(&param, "param")?, &host)
}

pub fn dw(mu: f64, h_in: *mut c_void, h_out: *mut c_void) -> Result<()> {
    current(mu, |vectors, host| {
        let x = to_device(vectors, host, h_in, "h_in")?;
        to_host(vectors, host, &operators::operate(vectors, &x, false)?, h_out, "h_out")
    })
}

pub fn dw_no_loads(mu: f64, d_in: *mut c_void, d_out: *mut c_void) -> Result<()> {
    let x = state::with(|state| {
        state.spinor(d_out, "d_out")?;
        Ok(state.spinor(d_in, "d_in")?.clone())
    })?;
    let y = current(mu, |vectors, _| operators::operate(vectors, &x, false))?;
    state::with(|state| {
        *state.spinor(d_out, "d_out")? = Arc::new(y);
        Ok(())
    })
}

/// Applies D_w with the links on the device, and a clover term made from these.
pub fn dw_deprecated(
    h_in: *mut c_void,
    h_out: *mut c_void,
    p: openQCD_QudaDiracParam_t,
) -> Result<()> {
    let host = state::host()?;
    if p.u1csw != 0.0 || p.qhat != 0 {
        refuse!(
            Unsupported,
            "p.u1csw, p.qhat",
            expected("0"),
            found("{} and {}", p.u1csw, p.qhat),
            hint("openQCD_qudaDw takes openQxD's own clover term")
        );
    }
    if p.su3csw != 0.0 {
        state::with(|state| {
            state.clover = None;
            Ok(())
        })?;
        compute_clover(p.kappa, p.su3csw)?;
    }
    let mut param = in_order(&operator());
    set_operator(&mut param, p.kappa, p.su3csw != 0.0, p.mu);
    let vectors = Vectors::new(&param, "p")?;
    let x = to_device(&vectors, &host, h_in, "h_src")?;
    to_host(&vectors, &host, &operators::operate(&vectors, &x, false)?, h_out, "h_dst")
}

/// Four coordinates, which must lie inside of this rank's part.
fn coordinates(host: &Host, x: &Array<c_int>) -> Result<[usize; 4]> {
    let found = x.own(4);
    let extents = host.order.extents();
    for (mu, axis) in ["t", "x", "y", "z"].iter().enumerate() {
        if !(0..extents[mu] as c_int).contains(&found[mu]) {
            refuse!(
                InvalidArgument,
                "x in {axis}",
                expected("0 to {}", extents[mu] - 1),
                found("{}", found[mu])
            );
        }
    }
    Ok(std::array::from_fn(|mu| found[mu] as usize))
}

pub fn ipt(x: &Array<c_int>) -> Result<c_int> {
    let host = state::host()?;
    Ok(host.order.index(coordinates(&host, x)?) as c_int)
}

pub fn iup(x: &Array<c_int>, mu: c_int) -> Result<c_int> {
    let host = state::host()?;
    if !(0..4).contains(&mu) {
        refuse!(InvalidArgument, "mu", expected("0 to 3 (t, x, y, z)"), found("{mu}"));
    }
    Ok(host.order.up(coordinates(&host, x)?, mu as usize) as c_int)
}
