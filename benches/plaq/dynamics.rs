//! Gauge forces, link updates, smearing and the Laplacian. Bytes are compulsory: each link and
//! momentum read or written once per call.

use std::sync::Arc;

use plaq::compose::Schur;
use plaq::error::Result;
use plaq::fields::{Components, GaugeField, Geometry, Momenta, Noise, Precision, Recon};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Laplace};
use plaq::ops::hmc::fermion::{Inverter, TwoFlavours, TwoFlavoursParams};
use plaq::ops::hmc::gauge_action::{
    GaugeCoefficients, GaugeForce, GaugeMonomial, LinkAction, TREE_LEVEL_SYMANZIK,
};
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::loop_action::{LoopAction, LoopForce};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial, Stream};
use plaq::ops::link_smearing::{smear_links, Smearing};

use super::{report, Bench, Options};

/// Whole trajectories of ten leapfrog steps, and forces of two flavours: Wilson quarks of kappa 0.12, CG to
/// 1e-8 in forces and 1e-10 in the Hamiltonian. Links and momenta once per step are the bytes.
fn trajectories(b: &mut Bench) -> Result<()> {
    let (whole, sites) = (Some(Recon::R18), b.geometry.global_volume() as f64);
    let (steps, precision) = (10, b.precision);
    let bytes = |reals: f64| reals * precision.bytes() as f64 * sites;
    let quarks = || {
        let params = TwoFlavoursParams {
            operator: DiracParams::default().with_kappa(0.12),
            preconditioner: None,
            schur: Schur { parity: 0, symmetric: true },
            inverter: Inverter {
                tolerance_force: 1e-8,
                tolerance_hamiltonian: 1e-10,
                sloppy: Some((Precision::F32, Recon::R12)),
                ..Default::default()
            },
        };
        TwoFlavours::new("quarks", params)
    };
    let smooth = |b: &Bench| -> Result<GaugeField> {
        let mut u = GaugeField::new(&b.o.device, b.geometry, precision, Recon::R18)?;
        u.set_near_unit(1, 0.3)?;
        Ok(u)
    };
    for (name, dynamical) in [("trajectory quenched", false), ("trajectory wilson", true)] {
        if !b.wanted(name, "R18", 1) {
            continue;
        }
        let mut u = smooth(b)?;
        let coefficients = GaugeCoefficients::wilson(5.6)?;
        let force = GaugeForce::new(&b.o.device, b.geometry, precision, coefficients)?;
        let mut monomials: Vec<Box<dyn Monomial>> =
            vec![Box::new(GaugeMonomial::new("gauge", force))];
        if dynamical {
            monomials.push(Box::new(quarks()?));
        }
        let names = monomials.iter().map(|m| m.name().to_string()).collect();
        let params = HmcParams {
            length: 0.02 * steps as f64,
            levels: vec![Level { scheme: Scheme::Leapfrog, steps, monomials: names }],
            seed: 1,
            trajectory: 0,
            accept_until: 0,
            reversibility_every: 0,
        };
        let mut hmc = Hmc::new(&b.o.device, b.geometry, precision, monomials, params)?;
        let moved = steps as f64 * bytes(72.0 + 64.0 + 144.0 + 32.0);
        report(b, name, whole, 1, 0.0, moved, || hmc.run(&mut u).map(|_| ()))?;
    }
    if b.wanted("fermion_force wilson", "R18", 1) {
        let u = smooth(b)?;
        let mut quarks = quarks()?;
        quarks.refresh(&u, Stream { seed: 1, trajectory: 0 })?;
        let mut p = Momenta::new(&b.o.device, b.geometry, precision)?;
        report(b, "fermion_force wilson", whole, 1, 0.0, bytes(72.0 + 64.0), || {
            quarks.kick(&u, &mut p, 1e-9).map(|_| ())
        })?;
    }
    Ok(())
}

pub fn rows(
    o: &mut Options,
    geometry: &Arc<Geometry>,
    precision: Precision,
    copy: f64,
) -> Result<()> {
    if precision == Precision::F16 {
        return Ok(());
    }
    let mut b = Bench { o, geometry, precision, copy };
    let (whole, sites) = (Some(Recon::R18), geometry.global_volume() as f64);
    let bytes = |reals: f64| reals * precision.bytes() as f64 * sites;
    let links = |b: &Bench| -> Result<GaugeField> {
        let mut u = GaugeField::new(&b.o.device, geometry, precision, Recon::R18)?;
        u.set_near_unit(1, 0.3)?;
        Ok(u)
    };
    for (name, c1) in [("gauge_force wilson", 0.0), ("gauge_force symanzik", TREE_LEVEL_SYMANZIK)] {
        if !b.wanted(name, "R18", 1) {
            continue;
        }
        let u = links(&b)?;
        let coefficients = GaugeCoefficients::improved(6.0, c1)?;
        let mut force = GaugeForce::new(&b.o.device, geometry, precision, coefficients)?;
        let mut p = Momenta::new(&b.o.device, geometry, precision)?;
        // Six staples of four products each, traceless part: 4 links of 6 x 4 x 198 flop.
        let flops = 4.0 * 6.0 * 4.0 * 198.0 * sites;
        report(&mut b, name, whole, 1, flops, bytes(72.0 + 64.0), || {
            force.kick(&u, &mut p, 1.0, 1e-9).map(|_| ())
        })?;
    }
    if b.wanted("gauge_force one_loop", "R18", 1) {
        let u = links(&b)?;
        let action = LoopAction::one_loop_symanzik(6.5, 0.87, 2.0)?;
        let mut force = LoopForce::new(&b.o.device, geometry, precision, action)?;
        let mut p = Momenta::new(&b.o.device, geometry, precision)?;
        // Of 6 plaquettes and 28 loops of six links: a product and two halves to turn eight numbers
        // for each step.
        let flops = (6.0 * 4.0 + 28.0 * 6.0) * 2.0 * 198.0 * sites;
        report(&mut b, "gauge_force one_loop", whole, 1, flops, bytes(72.0 + 64.0), || {
            force.kick(&u, &mut p, 1.0, 1e-9).map(|_| ())
        })?;
    }
    if precision == Precision::F64 {
        trajectories(&mut b)?;
    }
    if b.wanted("evolve", "R18", 1) {
        let mut u = links(&b)?;
        let mut p = Momenta::new(&b.o.device, geometry, precision)?;
        p.set_gaussian(1, 0)?;
        let flops = 4.0 * 1200.0 * sites;
        report(&mut b, "evolve", whole, 1, flops, bytes(144.0 + 32.0), || u.evolve(&p, 1e-9))?;
    }
    for (name, kind) in [
        ("smear stout", Smearing::Stout { rho: 0.1, directions: 15 }),
        ("smear ape", Smearing::Ape { alpha: 0.5, directions: 7 }),
        ("smear hyp", Smearing::Hyp { alpha: [0.75, 0.6, 0.3] }),
    ] {
        if b.wanted(name, "R18", 1) {
            let u = links(&b)?;
            report(&mut b, name, whole, 1, 0.0, bytes(144.0), || {
                smear_links(&u, kind, 1).map(|_| ())
            })?;
        }
    }
    for (name, components) in
        [("laplace colour", Components::COLOUR), ("laplace spinor", Components::SPINOR)]
    {
        if !b.wanted(name, "R12", 1) {
            continue;
        }
        let u = Arc::new(links(&b)?.to(precision, Recon::R12)?);
        let op = Laplace::massive(u, components, 7, 0.1)?;
        let (mut x, mut y) = (op.shape().field(1)?, op.shape().field(1)?);
        x.set_noise(Noise::Normal, 2, 0)?;
        report(&mut b, name, Some(Recon::R12), 1, op.flops(), op.bytes(1), || {
            op.apply(&mut y, &x)
        })?;
    }
    Ok(())
}
