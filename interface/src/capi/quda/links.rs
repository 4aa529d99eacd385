//! `quda.h`: links that are kept on the device, observables, smearing and flows.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::arrays::InOut;
use super::enums::*;
use super::gauge::{closed, scaled_traces};
use super::host::Host;
use super::params::{QudaGaugeObservableParam, QudaGaugeParam, QudaGaugeSmearParam};
use super::records::Record;
use super::resident::{Links, Resident};
use super::session;
use crate::capi::args::{choose, Array, DataOut, One, OutArray, PathList, Raw};
use crate::capi::table::interface;
use crate::error::{within, Result};
use crate::fields::Precision;
use crate::ops::flow::{Flow, FlowKind};
use crate::ops::link_smearing::{project_links, smear_links, Smearing};
use crate::ops::observables::{self, FieldStrength};
use crate::params::Number;
use crate::refuse;

interface! {
    "Links, what they are measured by, smearing and flows"
    calls {
        /// Copies the host's links to the device, where they are kept, dividing out the sign and 1 / anisotropy that
        /// they contain. The first call fixes the lattice. With use_resident_gauge 1 `h_gauge` may be NULL, and the
        /// links on the device are kept.
        loadGaugeQuda(h_gauge: *mut c_void, param: Array<QudaGaugeParam>) = together load_gauge;
        /// Writes the links on the device into the host's array, multiplied by sign and 1 / anisotropy; for type
        /// QUDA_SMEARED_LINKS the smeared ones.
        saveGaugeQuda(h_gauge: *mut c_void, param: Array<QudaGaugeParam>) = together save_gauge;
        /// Frees links and smeared links.
        freeGaugeQuda() = alone free_gauge;
        /// Frees the links of one type.
        freeUniqueGaugeQuda(link_type: One<LinkKind>) = alone free_unique;
        /// Frees smeared links.
        freeGaugeSmearedQuda() = alone free_smeared;
        /// Measures average plaquettes, 1 for unit links: of all planes, of spatial planes, of planes with time.
        plaqQuda(plaq: OutArray<f64>) = together plaquette;
        /// Measures the sum of the traced loops in t over the sites of space, divided by their number: re, im. `dir`
        /// must be 3.
        polyakovLoopQuda(ploop: OutArray<f64>, dir: c_int) = together polyakov_loop;
        /// Measures what `param` asks for, on the smeared links if there are any.
        gaugeObservablesQuda(param: InOut<QudaGaugeObservableParam>) = together observe;
        /// Smears the links n_steps times; the result are the smeared links. obs_param: an array with an entry for
        /// the start, and one for every meas_interval steps.
        performGaugeSmearQuda(smear_param: InOut<QudaGaugeSmearParam>, obs_param: Raw<*mut QudaGaugeObservableParam>) = together smear;
        /// Flows the links by Luescher's third-order scheme; results and measurements as in performGaugeSmearQuda.
        performWFlowQuda(smear_param: InOut<QudaGaugeSmearParam>, obs_param: Raw<*mut QudaGaugeObservableParam>) = together flow;
    }
}

pub(crate) fn load_gauge(h_gauge: *mut c_void, param: &Array<QudaGaugeParam>) -> Result<()> {
    let host = Host::new(param)?;
    if h_gauge.is_null() && host.param.use_resident_gauge != 0 {
        return host.resident().links().map(|_| ());
    }
    // The former links are freed first.
    match host.kind {
        LinkKind::Plain => host.resident().set_links(None),
        LinkKind::Smeared => host.resident().smeared = None,
    }
    let links = host.links_to_keep(h_gauge, "h_gauge")?;
    match host.kind {
        LinkKind::Plain => host.resident().set_links(Some(links)),
        LinkKind::Smeared => host.resident().smeared = Some(links),
    }
    Ok(())
}

fn save_gauge(h_gauge: *mut c_void, param: &Array<QudaGaugeParam>) -> Result<()> {
    let host = Host::new(param)?;
    let links = match host.kind {
        LinkKind::Plain => host.resident().links()?,
        LinkKind::Smeared => smeared(&host.resident())?,
    };
    host.save(&links, h_gauge, "h_gauge")
}

fn smeared(resident: &Resident) -> Result<Links> {
    match &resident.smeared {
        Some(links) => Ok(links.clone()),
        None => refuse!(
            InvalidArgument,
            "smeared links",
            expected("some on the device"),
            found("none"),
            hint("call performGaugeSmearQuda or performWFlowQuda first")
        ),
    }
}

pub(crate) fn free_gauge() -> Result<()> {
    free_unique(LinkKind::Plain)?;
    free_smeared()
}

fn free_unique(kind: LinkKind) -> Result<()> {
    match (session::current(), kind) {
        (Some(session), LinkKind::Plain) => session.resident().set_links(None),
        (_, LinkKind::Smeared) => return free_smeared(),
        _ => {}
    }
    Ok(())
}

fn free_smeared() -> Result<()> {
    if let Some(session) = session::current() {
        session.resident().smeared = None;
    }
    Ok(())
}

fn plaquette(plaq: &mut OutArray<f64>) -> Result<()> {
    let links = session::get()?.resident().measured()?;
    plaq.set(plaquettes(&links)?.to_vec());
    Ok(())
}

pub(crate) fn plaquettes(links: &Links) -> Result<[f64; 3]> {
    let p = observables::plaquette(&links.field)?;
    Ok([p.total, p.spatial, p.temporal])
}

fn polyakov_loop(ploop: &mut OutArray<f64>, dir: c_int) -> Result<()> {
    if dir != 3 {
        refuse!(InvalidArgument, "dir", expected("3 (t)"), found("{dir}"));
    }
    let links = session::get()?.resident().measured()?;
    ploop.set(loops(&links)?.to_vec());
    Ok(())
}

/// The Polyakov loop as in QUDA, whose trace is not divided by the number of colours.
fn loops(links: &Links) -> Result<[f64; 2]> {
    let z = observables::polyakov_loop(&links.field, 3)? * (3.0 * links.sign);
    Ok([z.re, z.im])
}

fn observe(param: &mut QudaGaugeObservableParam) -> Result<()> {
    let session = session::get()?;
    let before = session.resident().measured()?;
    let mut links = before.clone();
    measure(&mut links, param, "param")?;
    if !Arc::ptr_eq(&links.field, &before.field) {
        let mut resident = session.resident();
        match resident.smeared {
            Some(_) => resident.smeared = Some(links),
            None => resident.set_links(Some(links)),
        }
    }
    Ok(())
}

/// Measures what the struct asks for and writes the results to it. With su_project the links are first projected to
/// SU(3), and stay so.
fn measure(links: &mut Links, p: &mut QudaGaugeObservableParam, name: &str) -> Result<()> {
    p.check(name)?;
    let asked = |flag: Number<Flag>, member: &str| -> Result<bool> {
        Ok(choose::<Flag>(flag, &format!("{name}.{member}"))?.0)
    };
    if asked(p.su_project, "su_project")? {
        links.field = Arc::new(project_links(&links.field)?);
    }
    if asked(p.compute_plaquette, "compute_plaquette")? {
        p.plaquette = plaquettes(links)?;
    }
    if asked(p.compute_polyakov_loop, "compute_polyakov_loop")? {
        p.ploop = loops(links)?;
    }
    let density = asked(p.compute_qcharge_density, "compute_qcharge_density")?;
    if density {
        let sites = observables::charge_density(&links.field, true)?;
        let sites = even_odd(&sites, links.field.geometry().extents());
        let name = format!("{name}.qcharge_density");
        let precision = links.field.precision();
        session::get()?.write_numbers(p.qcharge_density, precision, &sites, &name)?;
    }
    if density || asked(p.compute_qcharge, "compute_qcharge")? {
        // The energy is that of an F without its trace, the charge of one with it.
        let FieldStrength { energy_spatial: s, energy_temporal: t, .. } =
            observables::field_strength(&links.field)?;
        p.energy = [s + t, s, t];
        p.qcharge = observables::field_strength_with_trace(&links.field)?.charge;
    }
    if asked(p.compute_gauge_loop_trace, "compute_gauge_loop_trace")? {
        let list = PathList::at(p.input_path_buff.cast(), &format!("{name}.input_path_buff"))?;
        let lengths = Array::at(p.path_length, "path_length")?;
        let coefficients = Array::at(p.loop_coeff, "loop_coeff")?;
        let (paths, numbers) = closed(&list, &lengths, &coefficients, p.num_paths, p.max_length)?;
        let traces = scaled_traces(&links.field, &paths, &numbers, p.factor)?;
        DataOut::at(p.traces.cast(), &format!("{name}.traces"))?.write(Precision::F64, &traces);
    }
    Ok(())
}

/// Reorders numbers of lexicographic sites to even sites first, as in the host's arrays.
fn even_odd(numbers: &[f64], extents: [usize; 4]) -> Vec<f64> {
    let mut places = [vec![], vec![]];
    for (site, number) in numbers.iter().enumerate() {
        let mut remainder = site;
        let coordinates = extents.map(|l| {
            let x = remainder % l;
            remainder /= l;
            x
        });
        places[coordinates.iter().sum::<usize>() % 2].push(*number);
    }
    places.concat()
}

/// The host's structs for the results at the start and after the steps that are measured; none if their address is
/// NULL.
pub(super) struct Measurements {
    at: *mut QudaGaugeObservableParam,
    pub interval: usize,
    written: Vec<QudaGaugeObservableParam>,
}

impl Measurements {
    pub fn new(at: *mut QudaGaugeObservableParam, smear: &QudaGaugeSmearParam) -> Result<Self> {
        if smear.meas_interval == 0 && !at.is_null() {
            refuse!(
                InvalidArgument,
                "smear_param.meas_interval",
                expected("1 or more"),
                found("0")
            );
        }
        Ok(Measurements { at, interval: smear.meas_interval as usize, written: vec![] })
    }

    /// Measures after step number `step` if that is a multiple of the interval.
    pub fn take(&mut self, links: &mut Links, step: usize) -> Result<()> {
        if self.at.is_null() || !step.is_multiple_of(self.interval) {
            return Ok(());
        }
        let mut param = Array::at(self.at.wrapping_add(self.written.len()), "obs_param")?.own(1)[0];
        measure(links, &mut param, &format!("obs_param[{}]", self.written.len()))?;
        self.written.push(param);
        Ok(())
    }

    pub fn write(self) {
        for (i, param) in self.written.into_iter().enumerate() {
            // SAFETY: the host's array with an entry for every measurement, as the header asks.
            unsafe { self.at.add(i).write_unaligned(param) };
        }
    }
}

/// The links with which a smearing or a flow begins.
pub(super) fn start(resident: &Resident, p: &QudaGaugeSmearParam) -> Result<Links> {
    match choose::<Flag>(p.restart, "smear_param.restart")? {
        Flag(true) => smeared(resident),
        Flag(false) => resident.links(),
    }
}

/// Bits of the directions that remain without direction `dir_ignore`; if that is -1, without direction `usual`.
fn directions(p: &QudaGaugeSmearParam, usual: c_int) -> Result<i32> {
    match if p.dir_ignore == -1 { usual } else { p.dir_ignore } {
        mu @ 0..=3 => Ok(15 & !(1 << mu)),
        4 => Ok(15),
        other => refuse!(
            InvalidArgument,
            "smear_param.dir_ignore",
            expected("-1 to 4"),
            found("{other}")
        ),
    }
}

/// Largest number of steps of smearing or flow that is accepted; a call with more would not end.
pub const MAX_STEPS: usize = 100_000;

fn smear(p: &mut QudaGaugeSmearParam, obs_param: *mut QudaGaugeObservableParam) -> Result<()> {
    p.check("smear_param")?;
    let session = session::get()?;
    let smearing = match choose::<Smear>(p.smear_type, "smear_param.smear_type")? {
        Smear::Ape => Smearing::Ape { alpha: p.alpha, directions: directions(p, 3)? },
        Smear::Stout => Smearing::Stout { rho: p.rho, directions: directions(p, 3)? },
        Smear::OverImproved => {
            let (rho, epsilon) = (p.rho, p.epsilon);
            Smearing::OverImproved { rho, epsilon, directions: directions(p, 4)? }
        }
        Smear::Hyp => {
            let alpha = [p.alpha1, p.alpha2, p.alpha3];
            Smearing::Hyp { alpha, directions: directions(p, 4)? }
        }
        Smear::WilsonFlow | Smear::SymanzikFlow => refuse!(
            InvalidArgument,
            "smear_param.smear_type",
            expected("QUDA_GAUGE_SMEAR_APE, STOUT, OVRIMP_STOUT or HYP"),
            hint("performWFlowQuda flows")
        ),
    };
    within("smear_param.n_steps", p.n_steps as usize, 0, MAX_STEPS)?;
    let mut links = start(&session.resident(), p)?;
    let mut measured = Measurements::new(obs_param, p)?;
    measured.take(&mut links, 0)?;
    for step in 1..=p.n_steps as usize {
        links.field = Arc::new(smear_links(&links.field, smearing, 1)?);
        measured.take(&mut links, step)?;
    }
    session.resident().smeared = Some(links);
    measured.write();
    Ok(())
}

/// The action whose gradient generates the flow; checks step size and number of steps.
pub(super) fn flow_kind(p: &QudaGaugeSmearParam) -> Result<FlowKind> {
    let kind = match choose::<Smear>(p.smear_type, "smear_param.smear_type")? {
        Smear::WilsonFlow => FlowKind::Wilson,
        Smear::SymanzikFlow => FlowKind::Symanzik,
        _ => refuse!(
            InvalidArgument,
            "smear_param.smear_type",
            expected("QUDA_GAUGE_SMEAR_WILSON_FLOW or SYMANZIK_FLOW"),
            hint("performGaugeSmearQuda smears")
        ),
    };
    if !p.epsilon.is_finite() {
        refuse!(
            InvalidArgument,
            "smear_param.epsilon",
            expected("a finite number"),
            found("{}", p.epsilon)
        );
    }
    within("smear_param.n_steps", p.n_steps as usize, 0, MAX_STEPS)?;
    Ok(kind)
}

fn flow(p: &mut QudaGaugeSmearParam, obs_param: *mut QudaGaugeObservableParam) -> Result<()> {
    p.check("smear_param")?;
    let session = session::get()?;
    let kind = flow_kind(p)?;
    let mut links = start(&session.resident(), p)?;
    let mut measured = Measurements::new(obs_param, p)?;
    measured.take(&mut links, 0)?;
    let own = |links: &Links| links.field.to(links.field.precision(), links.field.recon());
    let mut field = own(&links)?;
    let mut flow = Flow::new(&field, kind)?;
    for step in 1..=p.n_steps as usize {
        flow.step(&mut field, p.epsilon)?;
        if step == p.n_steps as usize {
            break;
        }
        if step.is_multiple_of(measured.interval.max(1)) {
            links.field = Arc::new(field);
            measured.take(&mut links, step)?;
            field = own(&links)?;
        }
    }
    if p.n_steps > 0 {
        links.field = Arc::new(field);
        measured.take(&mut links, p.n_steps as usize)?;
    }
    session.resident().smeared = Some(links);
    measured.write();
    Ok(())
}
