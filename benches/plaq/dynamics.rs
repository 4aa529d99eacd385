//! Gauge forces, link updates, smearing and the Laplacian. Bytes are compulsory: each link and
//! momentum read or written once per call.

use std::sync::Arc;

use plaq::error::Result;
use plaq::fields::{Components, GaugeField, Geometry, Momenta, Noise, Precision, Recon};
use plaq::linop::LinOp;
use plaq::operators::Laplace;
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, TREE_LEVEL_SYMANZIK};
use plaq::ops::link_smearing::{smear_links, Smearing};

use super::{report, Bench, Options};

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
