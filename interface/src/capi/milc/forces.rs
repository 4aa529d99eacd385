//! Momenta, forces of gauge actions, traces of loops and link updates of MILC.

use std::f64::consts::SQRT_2;
use std::ffi::c_int;
use std::sync::Arc;

use super::links::{Links, FINITE};
use super::{precision_of, QudaMILCSiteArg_t};
use crate::bail;
use crate::capi::args::{Array, DataOut, OutArray, PathList};
use crate::capi::quda::gauge::{closed, finite, gathered, scaled_traces};
use crate::capi::quda::session::{self, Session};
use crate::error::Result;
use crate::fields::{Momenta, MomentaForm, Precision, SiteOrder};
use crate::ops::paths::{displacement, images, Paths};
use crate::refuse;

/// Number of reals of a site: four matrices of 10.
const REALS: usize = 40;

/// The host's momenta: their addresses and precision.
struct HostMomenta {
    session: Arc<Session>,
    sites: Vec<DataOut>,
    precision: Precision,
}

impl HostMomenta {
    fn new(precision: c_int, arg: &Array<QudaMILCSiteArg_t>) -> Result<HostMomenta> {
        let session = session::get()?;
        let arg = arg.own(1)[0];
        let precision = precision_of(precision, "precision")?;
        let (begin, stride, name) = if arg.site.is_null() {
            (arg.mom, REALS * precision.bytes(), "arg.mom")
        } else {
            let end = arg.mom_offset.checked_add(REALS * precision.bytes());
            // No struct is as large as this limit, below which no product of sizes overflows.
            if end.is_none_or(|end| end > arg.size) || arg.size > 1 << 32 {
                refuse!(
                    InvalidArgument,
                    "arg.mom_offset",
                    expected("room for {REALS} numbers in a site of {} bytes", arg.size),
                    found("{}", arg.mom_offset)
                );
            }
            (arg.site.wrapping_byte_add(arg.mom_offset), arg.size, "arg.site")
        };
        if begin.is_null() {
            bail!(NullPointer, "{name} is NULL");
        }
        let at = |i: usize| DataOut::at(begin.wrapping_byte_add(i * stride), name);
        let sites = (0..session.geometry.volume()).map(at).collect::<Result<_>>()?;
        Ok(HostMomenta { session, sites, precision })
    }

    /// Loads the momenta; the host's antihermitian matrices are sqrt(2) i p.
    fn load(&self) -> Result<Momenta> {
        let mut momenta = self.new_field()?;
        let sites = self.sites.iter();
        let all: Vec<f64> = sites.flat_map(|s| s.numbers(self.precision, REALS)).collect();
        momenta.load(&all, MomentaForm::Ten, SiteOrder::EvenOdd, SQRT_2)?;
        Ok(momenta)
    }

    fn new_field(&self) -> Result<Momenta> {
        let session = &self.session;
        Momenta::new(session.context.device(), &session.geometry, self.precision)
    }

    fn save(&self, momenta: &Momenta) -> Result<()> {
        let mut all = vec![0.0; self.sites.len() * REALS];
        momenta.save(&mut all, MomentaForm::Ten, SiteOrder::EvenOdd, SQRT_2)?;
        for (site, numbers) in self.sites.iter().zip(all.chunks(REALS)) {
            site.write(self.precision, numbers);
        }
        Ok(())
    }

    /// A copy, in this precision, of the momenta on the device or, if there are none, of the host's; and whether it
    /// was made from those on the device.
    fn current(&self) -> Result<(Momenta, bool)> {
        let kept = self.session.resident();
        let Some(kept) = &kept.momenta else {
            drop(kept);
            return Ok((self.load()?, false));
        };
        let mut momenta = self.new_field()?;
        momenta.copy_from(kept)?;
        Ok((momenta, true))
    }
}

pub fn load_momenta(precision: c_int, arg: &Array<QudaMILCSiteArg_t>) -> Result<()> {
    let host = HostMomenta::new(precision, arg)?;
    let momenta = host.load()?;
    host.session.resident().momenta = Some(momenta);
    Ok(())
}

pub fn save_momenta(precision: c_int, arg: &Array<QudaMILCSiteArg_t>) -> Result<()> {
    let host = HostMomenta::new(precision, arg)?;
    let mut kept = host.session.resident();
    let Some(momenta) = &kept.momenta else {
        refuse!(
            InvalidArgument,
            "momenta",
            expected("some on the device"),
            found("none"),
            hint("call qudaMomLoad first")
        );
    };
    host.save(momenta)?;
    kept.momenta = None;
    Ok(())
}

pub fn momentum_action(precision: c_int, arg: &Array<QudaMILCSiteArg_t>) -> Result<f64> {
    let host = HostMomenta::new(precision, arg)?;
    // Momenta that are kept on the device are used in their precision there, as QUDA does.
    let kept = host.session.resident();
    let kinetic = match &kept.momenta {
        Some(momenta) => momenta.kinetic()?,
        None => host.load()?.kinetic()?,
    };
    // MILC subtracts from each link the mean of its kinetic energy, which is 4 for eight coefficients.
    Ok(kinetic - 4.0 * 4.0 * host.session.geometry.global_volume() as f64)
}

/// One loop of each kind in MILC's improved actions.
const KINDS: [&[u8]; 3] = [&[0, 1, 7, 6], &[0, 0, 1, 7, 7, 6], &[0, 1, 2, 7, 6, 5]];

/// All images of a loop under rotations and reflections, in both senses, that begin with a step forward, so that each
/// staple of each link occurs once.
fn through_links(kind: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![];
    for image in images(kind) {
        let back: Vec<u8> = image.iter().rev().map(|s| 7 - s).collect();
        for mut path in [image, back] {
            for _ in 0..path.len() {
                if path[0] < 4 {
                    all.push(path.clone());
                }
                path.rotate_left(1);
            }
        }
    }
    all
}

pub fn force(
    precision: c_int,
    num_loop_types: c_int,
    milc_loop_coeff: &Array<f64>,
    eb3: f64,
    arg: &Array<QudaMILCSiteArg_t>,
) -> Result<()> {
    force_phased(precision, num_loop_types, milc_loop_coeff, eb3, arg, 0)
}

pub fn force_phased(
    precision: c_int,
    num_loop_types: c_int,
    milc_loop_coeff: &Array<f64>,
    eb3: f64,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    finite(eb3, "eb3")?;
    if !(1..=3).contains(&num_loop_types) {
        refuse!(InvalidArgument, "num_loop_types", expected("1 to 3"), found("{num_loop_types}"));
    }
    let coefficients = milc_loop_coeff.get(num_loop_types as usize)?;
    if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
        refuse!(InvalidArgument, "milc_loop_coeff", expected("finite numbers"), found("{bad}"));
    }
    let (mut paths, mut numbers) = (vec![], vec![]);
    for (kind, c) in KINDS.iter().zip(coefficients) {
        for path in through_links(kind) {
            numbers.push(c);
            paths.push(path);
        }
    }
    let host = HostMomenta::new(precision, arg)?;
    let links = Links::new(precision, arg, phase_in)?.load(FINITE)?;
    let (mut momenta, kept) = host.current()?;
    // The host's matrices i sqrt(2) p decrease by eb3 times i times the traceless part of (W - W^dagger) / 2i.
    let sum = gathered(&links, &Paths::new(paths)?, &numbers)?;
    momenta.add_projection(1.0, -0.5 * eb3 * SQRT_2, &sum)?;
    if kept {
        host.session.resident().momenta = Some(momenta);
        return Ok(());
    }
    host.save(&momenta)
}

#[allow(clippy::too_many_arguments)]
pub fn loop_traces(
    precision: c_int,
    out: &mut OutArray<f64>,
    input_path_buf: &PathList,
    path_length: &Array<c_int>,
    loop_coeff: &Array<f64>,
    num_paths: c_int,
    max_length: c_int,
    factor: f64,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    finite(factor, "factor")?;
    let (paths, mut coefficients) =
        closed(input_path_buf, path_length, loop_coeff, num_paths, max_length)?;
    let host = Links::new(precision, arg, phase_in)?;
    if host.phased {
        // The antiperiodic sign stays in loops around the lattice, as in QUDA.
        let length = host.session.geometry.global_extents()[3] as i64;
        for (c, path) in coefficients.iter_mut().zip(paths.iter()) {
            if displacement(path)[3] / length % 2 != 0 {
                *c = -*c;
            }
        }
    }
    out.set(scaled_traces(&host.load(FINITE)?, &paths, &coefficients, factor)?);
    Ok(())
}

pub fn update(precision: c_int, eps: f64, arg: &Array<QudaMILCSiteArg_t>) -> Result<()> {
    update_phased(precision, eps, arg, 0)
}

pub fn update_pipeline(
    precision: c_int,
    eps: f64,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
    want_gaugepipe: c_int,
) -> Result<()> {
    if !(0..=1).contains(&want_gaugepipe) {
        refuse!(InvalidArgument, "want_gaugepipe", expected("0 or 1"), found("{want_gaugepipe}"));
    }
    update_phased(precision, eps, arg, phase_in)
}

pub fn update_phased(
    precision: c_int,
    eps: f64,
    arg: &Array<QudaMILCSiteArg_t>,
    phase_in: c_int,
) -> Result<()> {
    finite(eps, "eps")?;
    let (momenta, _) = HostMomenta::new(precision, arg)?.current()?;
    let host = Links::new(precision, arg, phase_in)?;
    let mut links = host.load(FINITE)?;
    links.evolve(&momenta, SQRT_2 * eps)?;
    host.save(&links)
}
