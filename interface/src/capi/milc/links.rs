//! Observables, projection and gauge fixing of links in the host's site array.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use num_complex::Complex64;

use super::{clover, precision_of, QudaMILCSiteArg_t};
use crate::backend::{Device, External, Location};
use crate::capi::args::{Array, DataOut, Memory, OutArray};
use crate::capi::quda::dynamics::{overrelaxation, projected, Fixing};
use crate::capi::quda::gauge::finite;
use crate::capi::quda::session::{self, Session};
use crate::error::Result;
use crate::fields::{GaugeField, Group, Layout, LinkOptions, Precision, Recon, Subset};
use crate::ops::gaugefix::{self, Condition};
use crate::ops::link_smearing::project_links;
use crate::ops::observables;
use crate::params::Key;
use crate::refuse;

/// The host's links: their addresses, layout and precision.
pub(super) struct Links {
    pub(super) session: Arc<Session>,
    memory: DataOut,
    layout: Layout,
    pub(super) precision: Precision,
    /// Whether the host's links contain staggered phases and the antiperiodic sign.
    pub(super) phased: bool,
}

impl Links {
    /// The host's links. If `phase_in` is 1 they contain staggered phases and the antiperiodic sign: these are
    /// divided out on loading, and multiplied in again by `save`.
    pub(super) fn new(
        precision: c_int,
        arg: &Array<QudaMILCSiteArg_t>,
        phase_in: c_int,
    ) -> Result<Links> {
        let phased = phases(phase_in)?;
        let session = session::get()?;
        let arg = arg.own(1)[0];
        let precision = precision_of(precision, "precision")?;
        let (memory, layout) = if arg.site.is_null() {
            (DataOut::at(arg.link, "arg.link")?, Layout::milc(precision))
        } else {
            let layout = Layout::milc_site(precision, arg.size, arg.link_offset)?;
            (DataOut::at(arg.site, "arg.site")?, layout)
        };
        let layout = if phased { layout.with_milc_phases() } else { layout };
        Ok(Links { session, memory, layout, precision, phased })
    }

    fn array(&self) -> Result<External<'_>> {
        let extents = self.session.geometry.extents();
        let bytes = self.layout.bytes(extents, Group::Su3, Subset::Full)?;
        Ok(self.memory.block(&bytes, Location::Host))
    }

    pub(super) fn load(&self, options: LinkOptions) -> Result<GaugeField> {
        let (device, geometry) = (self.session.context.device(), &self.session.geometry);
        let key = Key::of(("links of the host", geometry.extents(), &self.layout));
        // Requests the kernels that hosts usually need next: observables, projection, and copies to the host.
        geometry.precompile(device, None, false, key, |device| {
            let links = self.load_onto(device, options)?;
            observables::plaquette(&links)?;
            observables::unitarity(&project_links(&links)?)?;
            self.save(&links)
        });
        let key = Key::of(("MILC", geometry.extents(), self.precision));
        geometry.precompile(device, None, true, key, |device| {
            let links = GaugeField::new(device, geometry, self.precision, Recon::R18)?;
            for condition in [Condition::Coulomb { time: 3 }, Condition::Landau] {
                gaugefix::run_through(&links, &overrelaxation(condition));
            }
            clover::run_through(&self.session, device, self.precision)
        });
        self.load_onto(device, options)
    }

    fn load_onto(&self, device: &Device, options: LinkOptions) -> Result<GaugeField> {
        let (geometry, form) = (&self.session.geometry, (self.precision, Recon::R18));
        GaugeField::from_external(device, geometry, form, &self.layout, &self.array()?, options)
    }

    pub(super) fn save(&self, links: &GaugeField) -> Result<()> {
        links.save(&self.layout, &mut self.array()?)
    }
}

/// Options with which links are only checked for NaN, since hosts may hold matrices that are not unitary.
pub(super) const FINITE: LinkOptions =
    LinkOptions { tolerance: Some(f64::INFINITY), reproject: false };

fn phases(phase_in: c_int) -> Result<bool> {
    if !(0..=1).contains(&phase_in) {
        refuse!(InvalidArgument, "phase_in", expected("0 or 1"), found("{phase_in}"));
    }
    Ok(phase_in == 1)
}

pub fn plaquette(
    precision: c_int,
    plaq: &mut OutArray<f64>,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    let p = observables::plaquette(&Links::new(precision, arg, phase_in)?.load(FINITE)?)?;
    plaq.set(vec![p.total, p.spatial, p.temporal]);
    Ok(())
}

pub fn polyakov_loop(
    precision: c_int,
    ploop: &mut OutArray<f64>,
    dir: c_int,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    if dir != 3 {
        refuse!(InvalidArgument, "dir", expected("3 (t)"), found("{dir}"));
    }
    // MILC's temporal links have no staggered phase, but the sign of antiperiodic quarks: the loop is minus theirs.
    let links = Links::new(precision, arg, phase_in)?;
    let sign = if links.phased { 1.0 } else { -1.0 };
    let z = observables::polyakov_loop(&links.load(FINITE)?, 3)?;
    ploop.set(vec![sign * z.re, sign * z.im]);
    Ok(())
}

pub fn unitarize(
    precision: c_int,
    tol: f64,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    let links = Links::new(precision, arg, phase_in)?;
    links.save(&projected(&links.load(FINITE)?, tol)?)
}

/// Number of reals of a matrix.
const MATRIX: usize = 18;
const SITE: usize = 4 * MATRIX;

pub fn rephase(prec: c_int, gauge: &DataOut, flag: c_int, i_mu: f64) -> Result<()> {
    let session = session::get()?;
    let precision = precision_of(prec, "prec")?;
    if !(0..=1).contains(&flag) {
        refuse!(InvalidArgument, "flag", expected("0 (phases out) or 1 (in)"), found("{flag}"));
    }
    finite(i_mu, "i_mu")?;
    let geometry = &session.geometry;
    let ([nx, ny, nz, nt], origin) = (geometry.extents(), geometry.origin());
    let length = geometry.global_extents()[3];
    let angle = std::f64::consts::PI * i_mu / length as f64;
    let turn = Complex64::new(angle.cos(), if flag == 1 { angle.sin() } else { -angle.sin() });
    let mut numbers = gauge.numbers(precision, geometry.volume() * SITE);
    let mut sites = numbers.chunks_mut(SITE);
    // Even sites first; a rank's origin is even, so its own parities are those of the lattice.
    for parity in 0..2 {
        for index in 0..nx * ny * nz * nt {
            let (x, y) = (index % nx, index / nx % ny);
            let (z, t) = (index / (nx * ny) % nz, index / (nx * ny * nz));
            if (x + y + z + t) % 2 != parity {
                continue;
            }
            let last = origin[3] + t + 1 == length;
            let odd = [t % 2 == 1, (t + x) % 2 == 1, (t + x + y) % 2 == 1, last];
            let site = sites.next().expect("as many sites as the lattice has");
            for (link, odd) in site.chunks_mut(MATRIX).zip(odd) {
                if odd {
                    link.iter_mut().for_each(|n| *n = -*n);
                }
            }
            if i_mu != 0.0 {
                for number in site[3 * MATRIX..].chunks_mut(2) {
                    let turned = Complex64::new(number[0], number[1]) * turn;
                    number.copy_from_slice(&[turned.re, turned.im]);
                }
            }
        }
    }
    gauge.write(precision, &numbers);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
pub fn fix_gauge_ovr(
    precision: c_int,
    gauge_dir: c_uint,
    steps: c_int,
    _verbose_interval: c_int,
    relax_boost: f64,
    tolerance: f64,
    _reunit_interval: c_uint,
    stop_theta: c_uint,
    arg: &Array<QudaMILCSiteArg_t>,
) -> Result<()> {
    if steps < 1 {
        refuse!(InvalidArgument, "Nsteps", expected("1 or more"), found("{steps}"));
    }
    let fixing = Fixing { gauge_dir, steps: steps as c_uint, tolerance, stop_theta };
    let links = Links::new(precision, arg, 0)?;
    let gauge = links.load(FINITE)?;
    links.save(&fixing.overrelaxed(&gauge, relax_boost)?)
}
