//! `quda.h`: momenta, link updates, projection, random fields and gauge fixing.

#![allow(non_snake_case)]

use std::f64::consts::SQRT_2;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::gauge::finite;
use super::host::Host;
use super::params::QudaGaugeParam;
use super::resident::Links;
use super::session;
use crate::capi::args::Array;
use crate::capi::table::interface;
use crate::error::{significant, Result};
use crate::fields::{GaugeField, Momenta, Recon};
use crate::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams, Method, Stop, Working};
use crate::ops::link_smearing::project_links;
use crate::ops::observables;
use crate::refuse;

interface! {
    "Momenta, link updates, random fields and gauge fixing"
    calls {
        /// make_resident_mom 1: copies the host's momenta to the device. return_result_mom 1: returns those on the
        /// device to the host, and frees them unless make_resident_mom is 1, too.
        momResidentQuda(mom: *mut c_void, param: Array<QudaGaugeParam>) = together resident_momenta;
        /// Gives 1/2 tr P^dagger P - 4 summed over links of all ranks; for the momenta on the device if
        /// use_resident_mom is 1.
        momActionQuda(momentum: *mut c_void, param: Array<QudaGaugeParam>) -> f64 = together action;
        /// Sets the momenta on the device to independent normally distributed coefficients sqrt(2) i p, where p has
        /// width sigma.
        gaussMomQuda(seed: usize, sigma: f64) = together random_momenta;
        /// Sets the links on the device to exp(sigma A), with A distributed like momenta of width 1.
        gaussGaugeQuda(seed: usize, sigma: f64) = together random_links;
        /// Computes U = exp(dt P) U; the exponential is exact to rounding. conj_mom 1: with the adjoint of P.
        updateGaugeFieldQuda(gauge: *mut c_void, momentum: *mut c_void, dt: f64, conj_mom: c_int, exact: c_int, param: Array<QudaGaugeParam>) = together update;
        /// Projects the links onto SU(3): the unitary factor of the polar decomposition, divided by the cube root of
        /// its determinant that is nearest to 1. Refused if a result is not unitary to `tol`.
        projectSU3Quda(gauge_h: *mut c_void, tol: f64, param: Array<QudaGaugeParam>) = together project;
        /// Fixes Coulomb (`gauge_dir` 3) or Landau gauge (4) of the host's links by overrelaxation with
        /// `relax_boost`. The fixing ends when the functional sum Re tr U / (3 d V) rises by less than `tolerance`
        /// from one sweep to the next (`stopWtheta` 0), when QUDA's theta is below it (1), or after `Nsteps`. Returns
        /// 0.
        computeGaugeFixingOVRQuda(gauge: *mut c_void, gauge_dir: c_uint, Nsteps: c_uint, verbose_interval: c_uint, relax_boost: f64, tolerance: f64, reunit_interval: c_uint, stopWtheta: c_uint, param: Array<QudaGaugeParam>) -> c_int = together fix_by_overrelaxation;
        /// Fixes Coulomb or Landau gauge as computeGaugeFixingOVRQuda does, but by Fourier-accelerated steepest
        /// descent, on one rank. Steps that lower the functional are halved, whatever `autotune` is.
        computeGaugeFixingFFTQuda(gauge: *mut c_void, gauge_dir: c_uint, Nsteps: c_uint, verbose_interval: c_uint, alpha: f64, autotune: c_uint, tolerance: f64, stopWtheta: c_uint, param: Array<QudaGaugeParam>) -> c_int = together fix_by_descent;
    }
}

fn resident_momenta(mom: *mut c_void, param: &Array<QudaGaugeParam>) -> Result<()> {
    let host = Host::new(param)?;
    let p = host.param;
    if p.return_result_mom == 0 {
        let mut momenta = host.new_momenta()?;
        host.momenta_at(mom)?.load(&mut momenta)?;
        host.resident().momenta = (p.make_resident_mom != 0).then_some(momenta);
        return Ok(());
    }
    let result = match &host.resident().momenta {
        Some(momenta) => host.momenta_at(mom)?.numbers_of(momenta)?,
        None => refuse!(
            InvalidArgument,
            "momenta",
            expected("some on the device"),
            found("none"),
            hint("call momResidentQuda with return_result_mom 0 first")
        ),
    };
    if p.make_resident_mom == 0 {
        host.resident().momenta = None;
    }
    result.write()
}

fn action(momentum: *mut c_void, param: &Array<QudaGaugeParam>) -> Result<f64> {
    let host = Host::new(param)?;
    let kinetic = host.momenta(momentum)?.kinetic()?;
    // QUDA subtracts from each link the mean of its kinetic energy, which is 4 for eight coefficients.
    Ok(kinetic - 4.0 * 4.0 * host.session.geometry.global_volume() as f64)
}

fn random_momenta(seed: usize, sigma: f64) -> Result<()> {
    finite(sigma, "sigma")?;
    let session = session::get()?;
    let mut resident = session.resident();
    match &mut resident.momenta {
        Some(momenta) => {
            momenta.set_gaussian(seed as u64, 0)?;
            momenta.scale(sigma)
        }
        None => refuse!(
            InvalidArgument,
            "momenta",
            expected("some on the device"),
            found("none"),
            hint("call momResidentQuda first")
        ),
    }
}

fn random_links(seed: usize, sigma: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&sigma) {
        refuse!(InvalidArgument, "sigma", expected("0 to 1"), found("{sigma}"));
    }
    let session = session::get()?;
    let kept = session.resident().links()?;
    let (device, precision) = (kept.field.device(), kept.field.precision());
    let mut momenta = Momenta::new(device, &session.geometry, precision)?;
    momenta.set_gaussian(seed as u64, 0)?;
    let mut links = GaugeField::new(device, &session.geometry, precision, Recon::R18)?;
    links.set_unit()?;
    links.evolve(&momenta, SQRT_2 * sigma)?;
    session.resident().set_links(Some(Links { field: Arc::new(links), ..kept }));
    Ok(())
}

/// The links that a call changes, with the sign and anisotropy that they contain.
fn links_of(host: &Host, gauge: *mut c_void) -> Result<(GaugeField, Links)> {
    let links = match host.param.use_resident_gauge {
        0 => host.links_to_keep(gauge, "gauge")?,
        _ => host.resident().links()?,
    };
    Ok((links.field.to(host.inside, Recon::R18)?, links))
}

/// Stores changed links in the host's array, on the device for later calls, or both, as `return_result_gauge` and
/// `make_resident_gauge` say.
fn give(host: &Host, field: GaugeField, like: Links, gauge: *mut c_void) -> Result<()> {
    let links = Links { field: Arc::new(field), ..like };
    if host.param.return_result_gauge != 0 {
        host.save(&links, gauge, "gauge")?;
    }
    if host.param.make_resident_gauge != 0 {
        host.resident().set_links(Some(links));
    }
    Ok(())
}

fn update(
    gauge: *mut c_void,
    momentum: *mut c_void,
    dt: f64,
    conj_mom: c_int,
    _exact: c_int,
    param: &Array<QudaGaugeParam>,
) -> Result<()> {
    finite(dt, "dt")?;
    let host = Host::new(param)?;
    let momenta = host.momenta(momentum)?;
    let (mut field, links) = links_of(&host, gauge)?;
    // Momenta are anti-hermitian: their conjugate is evolution by -dt.
    let dt = if conj_mom == 0 { dt } else { -dt };
    field.evolve(&momenta, SQRT_2 * dt)?;
    give(&host, field, links, gauge)
}

fn project(gauge_h: *mut c_void, tol: f64, param: &Array<QudaGaugeParam>) -> Result<()> {
    let host = Host::new(param)?;
    let (field, links) = links_of(&host, gauge_h)?;
    give(&host, projected(&field, tol)?, links, gauge_h)
}

/// The nearest matrices of U(3) to the links, divided by the cube roots of their determinants.
///
/// # Errors
/// `InvalidArgument`: `tol` is not a number above 0; `NotUnitary`: a link is not in SU(3) to `tol` then.
pub(crate) fn projected(links: &GaugeField, tol: f64) -> Result<GaugeField> {
    if !(tol > 0.0 && tol.is_finite()) {
        refuse!(InvalidArgument, "tol", expected("a number above 0"), found("{tol}"));
    }
    let field = project_links(links)?;
    let left = observables::unitarity(&field)?;
    if left.worst().is_nan() || left.worst() > tol {
        refuse!(
            NotUnitary,
            format!("link {} at {:?}", left.direction, left.site),
            expected(
                "a deviation from SU(3) of at most {} after the projection",
                significant(tol, 6)
            ),
            found("{}", significant(left.worst(), 2)),
            hint("the link as it was has no SU(3) matrix near it")
        );
    }
    Ok(field)
}

/// Largest deviation from the group that gauge fixing accepts, as in MILC's check of its links.
const UNITARY: f64 = 1e-4;

/// QUDA's arguments of gauge fixing. The fixing ends when the change of the functional is small (`stop_theta` 0) or
/// when the violation theta is.
pub(crate) struct Fixing {
    pub gauge_dir: c_uint,
    pub steps: c_uint,
    pub tolerance: f64,
    pub stop_theta: c_uint,
}

impl Fixing {
    fn params(&self, method: Method, omega: f64) -> Result<GaugeFixParams> {
        if !(0.0..f64::INFINITY).contains(&self.tolerance) {
            refuse!(
                InvalidArgument,
                "tolerance",
                expected("0 or more"),
                found("{}", self.tolerance)
            );
        }
        if self.steps < 1 {
            refuse!(InvalidArgument, "Nsteps", expected("1 or more"), found("{}", self.steps));
        }
        // A tolerance of 0 becomes the smallest number above it, so that all steps are made.
        let least = self.tolerance.max(f64::MIN_POSITIVE);
        let (stop, check_every) = match self.stop_theta {
            0 => (Stop { theta: 0.0, theta_max: 0.0, change: least }, 1),
            // QUDA's Delta lacks the factor 1/2 of culgt-2012's Eq. (6).
            1 => (Stop { theta: least / 4.0, theta_max: 0.0, change: 0.0 }, 10),
            other => refuse!(InvalidArgument, "stopWtheta", expected("0 or 1"), found("{other}")),
        };
        Ok(GaugeFixParams {
            method,
            omega,
            stop,
            max_iterations: self.steps as usize,
            check_every,
            ..overrelaxation(condition(self.gauge_dir))
        })
    }

    /// The links after gauge fixing by overrelaxation with the parameter `relax_boost`, from 1 to below 2.
    pub fn overrelaxed(&self, links: &GaugeField, relax_boost: f64) -> Result<GaugeField> {
        if !(1.0..2.0).contains(&relax_boost) {
            refuse!(
                InvalidArgument,
                "relax_boost",
                expected("1 to below 2"),
                found("{relax_boost}")
            );
        }
        self.fix(links, &self.params(Method::Overrelaxation, relax_boost)?)
    }

    fn fix(&self, links: &GaugeField, params: &GaugeFixParams) -> Result<GaugeField> {
        let fixed = fix_gauge(links, params, &mut |_| false)?;
        let best = &fixed.report.best.total;
        log::info!(
            "gauge fixing: {} sweeps, functional {:.12}, theta {} (QUDA's {})",
            best.iterations,
            best.functional,
            significant(best.theta, 4),
            significant(4.0 * best.theta, 4)
        );
        Ok(fixed.gauge)
    }
}

fn condition(gauge_dir: c_uint) -> Condition {
    if gauge_dir == 3 {
        Condition::Coulomb { time: 3 }
    } else {
        Condition::Landau
    }
}

/// Parameters of MILC's gauge fixing by overrelaxation, which ends when the change of the functional is small.
pub(crate) fn overrelaxation(condition: Condition) -> GaugeFixParams {
    GaugeFixParams {
        stop: Stop { theta: 0.0, theta_max: 0.0, change: 1e-7 },
        check_every: 1,
        precision: Working::Mixed,
        links_tolerance: UNITARY,
        method: Method::Overrelaxation,
        ..GaugeFixParams::new(condition)
    }
}

fn host_links(gauge: *mut c_void, param: &Array<QudaGaugeParam>) -> Result<(Host, Links)> {
    let host = Host::new(param)?;
    let links = host.links_to_keep(gauge, "gauge")?;
    Ok((host, links))
}

fn fixed(host: &Host, field: GaugeField, like: Links, gauge: *mut c_void) -> Result<c_int> {
    let links = Links { field: Arc::new(field), ..like };
    host.save(&links, gauge, "gauge")?;
    if host.param.make_resident_gauge != 0 {
        host.resident().set_links(Some(links));
    }
    Ok(0)
}

#[allow(clippy::too_many_arguments)]
fn fix_by_overrelaxation(
    gauge: *mut c_void,
    gauge_dir: c_uint,
    steps: c_uint,
    _verbose_interval: c_uint,
    relax_boost: f64,
    tolerance: f64,
    _reunit_interval: c_uint,
    stop_theta: c_uint,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    let (host, links) = host_links(gauge, param)?;
    let fixing = Fixing { gauge_dir, steps, tolerance, stop_theta };
    let field = fixing.overrelaxed(&links.field, relax_boost)?;
    fixed(&host, field, links, gauge)
}

#[allow(clippy::too_many_arguments)]
fn fix_by_descent(
    gauge: *mut c_void,
    gauge_dir: c_uint,
    steps: c_uint,
    _verbose_interval: c_uint,
    alpha: f64,
    _autotune: c_uint,
    tolerance: f64,
    stop_theta: c_uint,
    param: &Array<QudaGaugeParam>,
) -> Result<c_int> {
    let (host, links) = host_links(gauge, param)?;
    let fixing = Fixing { gauge_dir, steps, tolerance, stop_theta };
    let params = fixing.params(Method::FourierDescent { alpha }, 1.0)?;
    let field = fixing.fix(&links.field, &params)?;
    fixed(&host, field, links, gauge)
}
