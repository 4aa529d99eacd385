//! Gauge and fermion forces, trajectories, link updates, gradient flow, smearing and the Laplacian. Bytes are
//! compulsory: each link and momentum read or written once per call.

use std::sync::Arc;

use plaq::compose::{DiracSolver, Equations, Schur, Solution, SolveParams};
use plaq::error::Result;
use plaq::fields::{
    Components, GaugeField, Geometry, Momenta, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::linop::LinOp;
use plaq::operators::{
    Boundary, DiracParams, ForceTerms, InverseOwner, Laplace, QuarkAction, Wilson,
};
use plaq::ops::flow::{Flow, FlowKind};
use plaq::ops::hmc::fermion::{
    Inverter, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::gauge_action::{
    GaugeCoefficients, GaugeForce, GaugeMonomial, LinkAction, TREE_LEVEL_SYMANZIK,
};
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::loop_action::{LoopAction, LoopForce};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial, Stream};
use plaq::ops::link_smearing::{smear_links, Smearing};
use plaq::ops::quark_flow::QuarkFlow;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use super::{report, row, Bench, Options};

const QUARK: f64 = 0.12;

/// CG to 1e-8 in forces and to 1e-10 in the Hamiltonian; the precision inside is the default.
fn inverter() -> Inverter {
    Inverter { tolerance_force: 1e-8, tolerance_hamiltonian: 1e-10, ..Default::default() }
}

fn clover(kappa: f64) -> DiracParams {
    DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }.with_kappa(kappa)
}

fn two(operator: DiracParams, preconditioner: Option<DiracParams>) -> Result<Box<dyn Monomial>> {
    let schur = Schur { parity: 0, symmetric: true };
    let params = TwoFlavoursParams {
        operator: operator.into(),
        preconditioner: preconditioner.map(Into::into),
        schur,
        inverter: inverter(),
    };
    Ok(Box::new(TwoFlavours::new("quarks", params)?))
}

fn smooth(b: &Bench) -> Result<GaugeField> {
    let mut u = GaugeField::new(&b.o.device, b.geometry, b.precision, Recon::R18)?;
    u.set_near_unit(1, 0.3)?;
    Ok(u)
}

/// Whole trajectories of ten leapfrog steps, and forces of monomials with their solves. The bytes are those of reading
/// or writing links and momenta once per step.
fn trajectories(b: &mut Bench) -> Result<()> {
    let (whole, sites) = (Some(Recon::R18), b.geometry.global_volume() as f64);
    let (steps, precision) = (10, b.precision);
    let bytes = |reals: f64| reals * precision.bytes() as f64 * sites;
    let wilson = DiracParams::default().with_kappa(QUARK);
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
            monomials.push(two(wilson, None)?);
        }
        let names = monomials.iter().map(|m| m.name().to_string()).collect();
        let params = HmcParams {
            length: 0.02 * steps as f64,
            levels: vec![Level { scheme: Scheme::Leapfrog, steps, monomials: names }],
            seed: 1,
            trajectory: 0,
            accept_until: 0,
            reversibility_every: 0,
            smd: None,
        };
        let mut hmc = Hmc::new(&b.o.device, b.geometry, precision, monomials, params)?;
        let moved = steps as f64 * bytes(72.0 + 64.0 + 144.0 + 32.0);
        report(b, name, whole, 1, 0.0, moved, || hmc.run(&mut u).map(|_| ()))?;
    }
    for kind in ["wilson", "clover", "ratio", "rational"] {
        let name = format!("fermion_force {kind}");
        if !b.wanted(&name, "R18", 1) {
            continue;
        }
        let u = smooth(b)?;
        let mut quarks = match kind {
            "wilson" => two(wilson, None)?,
            "clover" => two(clover(QUARK), None)?,
            "ratio" => two(clover(QUARK), Some(clover(0.11)))?,
            _ => {
                let all = OneFlavourParams::new(clover(QUARK));
                let params = OneFlavourParams { inverter: inverter(), ..all };
                Box::new(OneFlavour::new("quark", params)?)
            }
        };
        quarks.refresh(&u, Stream { seed: 1, trajectory: 0 })?;
        let mut p = Momenta::new(&b.o.device, b.geometry, precision)?;
        report(b, &name, whole, 1, 0.0, bytes(72.0 + 64.0), || {
            quarks.kick(&u, &mut p, 1e-9).map(|_| ())
        })?;
    }
    clover_force(b)
}

/// The clover force for given X and Y, and the solve for such an X, with its number of iterations in the name. Bytes:
/// links, X, Y and the insertion are read, momenta and the insertion also written.
fn clover_force(b: &mut Bench) -> Result<()> {
    let wanted = |b: &Bench, name| b.wanted(name, "R12", 1);
    if !wanted(b, "clover_force") && !wanted(b, "clover_solve") {
        return Ok(());
    }
    let form = Recon::R12;
    let op = Arc::new(Wilson::new(Arc::new(smooth(b)?.to(b.precision, form)?), clover(QUARK))?);
    if wanted(b, "clover_force") {
        let (x, y) = (b.field(Subset::Full, 1)?, b.field(Subset::Full, 1)?);
        let mut p = Momenta::new(&b.o.device, b.geometry, b.precision)?;
        let mut insertion = op.insertion()?;
        // In a trajectory these blocks are kept for a solve and its force.
        let inverse = op.clone().schur(Schur { parity: 0, symmetric: true })?;
        inverse.set_inverse_owner(InverseOwner::Complement)?;
        let reals = 48.0 + 48.0 + 64.0 + 48.0;
        let sites = b.geometry.global_volume() as f64;
        let ranks = b.o.comm.size() as f64;
        let bytes =
            reals * b.precision.bytes() as f64 * sites + 2.0 * ranks * op.insertion_bytes() as f64;
        report(b, "clover_force", Some(form), 1, 0.0, bytes, || {
            let terms = ForceTerms { x: &x, y: &y, coef: &[1e-9] };
            op.hop_force(&mut p, 1.0, terms)?;
            op.insert(&mut insertion, Some(terms), [1e-9; 2], false)?;
            op.clover_force(&mut p, 1.0, &insertion)
        })?;
    }
    if wanted(b, "clover_solve") {
        let schur = Schur { parity: 0, symmetric: true };
        let fastest = if b.o.device.is_cpu() { Precision::F32 } else { Precision::F16 };
        let params = SolveParams {
            solver: SolverParams {
                kind: SolverKind::Cg,
                stop: Stop::at(1e-8),
                ..Default::default()
            },
            solution: Solution::MatPcDagMatPc,
            equations: Equations::Direct,
            even_odd: Some(schur),
            sloppy: Some((fastest, Recon::R12)),
            ..Default::default()
        };
        let solver = DiracSolver::new(op.clone(), params)?;
        let source = b.field(Subset::Even, 1)?;
        let mut x = b.field(Subset::Even, 1)?;
        solver.solve(&mut x, &source, &mut no_monitor)?;
        let found = solver.solve(&mut x, &source, &mut no_monitor)?.solver;
        let name = format!("clover_solve {}", found.iterations);
        row(b, &name, Some(form), 1, found.seconds, found.flops, found.bytes)?;
    }
    Ok(())
}

/// Steps of the gradient flow with three stages each. A stage of Wilson's flow reads and writes links and exponents,
/// but the first one does not read exponents; a stage of other flows is a force and an update, which read both again.
fn flows(b: &mut Bench) -> Result<()> {
    let sites = b.geometry.global_volume() as f64;
    for (name, kind) in [("flow wilson", FlowKind::Wilson), ("flow symanzik", FlowKind::Symanzik)] {
        if !b.wanted(name, "R18", 1) {
            continue;
        }
        let mut u = smooth(b)?;
        let mut flow = Flow::new(&u, kind)?;
        let stage =
            if kind == FlowKind::Wilson { 144.0 + 64.0 } else { 72.0 + 64.0 + 144.0 + 32.0 };
        let reals = 3.0 * stage - 32.0;
        let bytes = reals * b.precision.bytes() as f64 * sites;
        report(b, name, Some(Recon::R18), 1, 0.0, bytes, || flow.step(&mut u, 1e-9))?;
    }
    // Quark fields with Wilson's flow: each stage reads and writes them, the second and the third stage read two of
    // them, and each reads the links once more.
    let columns = 12;
    if b.wanted("flow quarks", "R18", columns) {
        let mut u = smooth(b)?;
        let (device, geometry) = (&b.o.device, b.geometry);
        let mut psi = SpinorField::new(device, geometry, b.precision, Subset::Full, columns)?;
        psi.set_noise(Noise::Normal, 2, 0)?;
        let boundary = Boundary::ANTIPERIODIC.phases();
        let mut flow = QuarkFlow::new(&mut psi, &u, FlowKind::Wilson, boundary)?;
        let reals = 3.0 * (144.0 + 64.0 + 72.0) - 32.0 + 8.0 * 24.0 * columns as f64;
        let bytes = reals * b.precision.bytes() as f64 * sites;
        report(b, "flow quarks", Some(Recon::R18), columns, 0.0, bytes, || {
            flow.step(&mut psi, &mut u, 1e-9)
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
        // Flop: six staples of four products each, and the traceless part, for 4 links: 4 x 6 x 4 x 198.
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
        // Flop: for each link the product of all links of each of its 6 plaquettes and 28 loops of six links.
        let flops = (6.0 * 4.0 * 3.0 + 28.0 * 6.0 * 5.0) * 198.0 * sites;
        report(&mut b, "gauge_force one_loop", whole, 1, flops, bytes(72.0 + 64.0), || {
            force.kick(&u, &mut p, 1.0, 1e-9).map(|_| ())
        })?;
    }
    if precision == Precision::F64 {
        trajectories(&mut b)?;
    }
    flows(&mut b)?;
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
        ("smear hyp", Smearing::Hyp { alpha: [0.75, 0.6, 0.3], directions: 15 }),
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
