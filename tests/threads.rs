//! Tests that the number of threads changes no bit: pieces of a launch are independent of each other, and sums have a
//! fixed order. Other tests run on the CPU with one number of threads, one or two.

use crate::common;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::Lex;
use plaq::backend::Device;
use plaq::compose::multigrid::{LevelParams, Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, ModeParams, Overlap, SignParams, SolveParams};
use plaq::fields::{
    Components, GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::linop::LinOp;
use plaq::operators::{Boundary, DiracParams, Laplace, QuarkAction, Wilson};
use plaq::ops::correlators::correlators;
use plaq::ops::flow::{Flow, FlowKind, FlowParams, FlowPoint};
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams, Method, Schedule};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::link_smearing::{smear_links, Smearing};
use plaq::ops::observables::{field_strength, plaquette, polyakov_loop, unitarity};
use plaq::ops::propagator::propagator;
use plaq::ops::quenched::Quenched;
use plaq::ops::smearing::wuppertal;
use plaq::ops::source::Source;
use plaq::ops::wilson_loops::wilson_loops;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};
use Precision::{F16, F32, F64};

/// Extents of a rank's part with all lanes of the kernels, and with a single lane.
const PARTS: [[usize; 4]; 2] = [[8, 4, 4, 12], [2, 6, 6, 2]];

/// Checks that one, two and three threads compute the same bits.
fn same(work: impl Fn(&Device, &Arc<Geometry>) -> Vec<f64>) {
    same_on(PARTS, work);
}

fn same_on(parts: [[usize; 4]; 2], work: impl Fn(&Device, &Arc<Geometry>) -> Vec<f64>) {
    for part in parts {
        let by = |threads| {
            let device = Device::cpu(threads).unwrap();
            work(&device, &common::geometry(common::over_ranks(part), &device))
        };
        let one = by(1);
        assert!(
            one.len() > 10 && one.iter().all(|x| x.is_finite()),
            "{part:?}: {} numbers",
            one.len()
        );
        for threads in [2, 3] {
            let found = by(threads);
            assert_eq!(one.len(), found.len(), "{part:?}, {threads} threads");
            let differ = one.iter().zip(&found).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            assert_eq!(differ, 0, "{part:?}, {threads} threads: of {} numbers", one.len());
        }
    }
}

fn links(
    device: &Device,
    geometry: &Arc<Geometry>,
    precision: Precision,
    recon: Recon,
) -> GaugeField {
    let mut links = GaugeField::new(device, geometry, precision, recon).unwrap();
    links.set_near_unit(3, 0.4).unwrap();
    links
}

fn wilson(device: &Device, geometry: &Arc<Geometry>) -> Arc<dyn QuarkAction> {
    let links = links(device, geometry, F64, Recon::R12);
    let clover = DiracParams { mass: 0.2, csw: 1.0, csw_t: 1.0, ..Default::default() };
    Arc::new(Wilson::new(Arc::new(links), clover).unwrap())
}

fn noise(op: &dyn QuarkAction, subset: Subset, count: usize) -> SpinorField {
    let mut b = op.subset_shape(subset).field(count).unwrap();
    b.set_noise(Noise::Normal, 5, 0).unwrap();
    b
}

#[test]
fn links_are_updated_and_measured() {
    for (precision, recon) in [(F64, Recon::R18), (F32, Recon::R18)] {
        same(|device, geometry| {
            let mut u = links(device, geometry, precision, recon);
            Quenched::new(5.0, 9).unwrap().run(&mut u, 2).unwrap();
            let strength = field_strength(&u).unwrap();
            let mut all = u.save_lex().unwrap();
            all.extend([plaquette(&u).unwrap().total, strength.charge, strength.energy_temporal]);
            all.extend([polyakov_loop(&u, 3).unwrap().re, unitarity(&u).unwrap().worst()]);
            all
        });
    }
}

#[test]
fn links_are_smeared_and_flow() {
    same(|device, geometry| {
        let u = links(device, geometry, F64, Recon::R18);
        let mut all = Vec::new();
        for smearing in [
            Smearing::Ape { alpha: 0.5, directions: 7 },
            Smearing::Stout { rho: 0.1, directions: 15 },
            Smearing::Hyp { alpha: [0.75, 0.6, 0.3], directions: 15 },
            Smearing::OverImproved { rho: 0.06, epsilon: -0.25, directions: 15 },
        ] {
            all.extend(smear_links(&u, smearing, 2).unwrap().save_lex().unwrap());
        }
        for kind in [FlowKind::Wilson, FlowKind::Zeuthen] {
            let params = FlowParams { kind, step: 0.05, time: 0.1, tolerance: 0.0, every: 1 };
            let mut u = u.to(F64, Recon::R18).unwrap();
            let mut go = |_: &FlowPoint| ControlFlow::Continue(());
            let report = Flow::new(&u, kind).unwrap().run(&mut u, &params, &mut go).unwrap();
            all.extend(u.save_lex().unwrap());
            all.extend(report.points.iter().map(FlowPoint::clover));
        }
        all.extend(wilson_loops(&u, [2, 2]).unwrap().concat());
        all
    });
}

#[test]
fn gauges_are_fixed() {
    let schedule = Schedule { steps: 8, ..Schedule::default() };
    for (condition, method) in [
        (Condition::Landau, Method::Overrelaxation),
        (Condition::Coulomb { time: 3 }, Method::StochasticRelaxation { probability: 0.5 }),
        (Condition::MaximallyAbelian { residual: true }, Method::Annealing(schedule)),
        (Condition::Landau, Method::FourierCg { alpha: 0.08 }),
    ] {
        same(|device, geometry| {
            let u = links(device, geometry, F64, Recon::R18);
            let params =
                GaugeFixParams { method, max_iterations: 30, ..GaugeFixParams::new(condition) };
            let fixed = fix_gauge(&u, &params, &mut |_| false).unwrap();
            let mut all = fixed.gauge.save_lex().unwrap();
            let quality = fixed.report.best.total.quality();
            all.extend([quality.functional, quality.theta, quality.theta_max]);
            all
        });
    }
}

const CHAIN: &str = r#"
length = 0.2
seed = 7
[[monomial]]
name = "gauge"
type = "gauge"
action = "iwasaki"
beta = 2.6
[[monomial]]
name = "light"
type = "two_flavours"
operator = { kappa = 0.12, csw = 1.0 }
preconditioner = { kappa = 0.11, csw = 1.0 }
[[monomial]]
name = "strange"
type = "one_flavour"
operator = { kappa = 0.11, csw = 1.0 }
[[monomial]]
name = "charm"
type = "doublet"
operator = { kappa = 0.11, csw = 1.0, mu = 0.1, epsilon = 0.05 }
[[level]]
integrator = "omelyan2"
steps = 1
monomials = ["light", "strange", "charm"]
[[level]]
integrator = "omelyan4"
steps = 1
monomials = ["gauge"]
"#;

#[test]
fn trajectories_run() {
    same(|device, geometry| {
        let mut u = links(device, geometry, F64, Recon::R18);
        let report = hmc_from_toml(device, geometry, F64, CHAIN).unwrap().run(&mut u).unwrap();
        let mut all = u.save_lex().unwrap();
        all.extend([report.delta_h, report.plaquette]);
        all
    });
}

#[test]
fn systems_are_solved() {
    use SolverKind::{BiCgStab, Cgne, Cgnr, Gcr, Mr};
    same(|device, geometry| {
        let op = wilson(device, geometry);
        let b = noise(&*op, Subset::Full, 3);
        let mut x = b.like(F64).unwrap();
        let mut all = Vec::new();
        for kind in [BiCgStab, Cgnr, Cgne, Gcr, Mr] {
            for sloppy in [None, Some((F32, Recon::R12)), Some((F16, Recon::R8))] {
                let stop = Stop { iterations: 20, ..Stop::at(1e-8) };
                let solver = SolverParams { kind, stop, ..Default::default() };
                let params = SolveParams { solver, sloppy, ..Default::default() };
                let solver = DiracSolver::new(op.clone(), params).unwrap();
                let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
                all.extend(report.solver.residual);
                all.extend(x.save_lex().unwrap());
            }
        }
        // Solves for colour vectors.
        let u = Arc::new(links(device, geometry, F64, Recon::R18));
        let laplace = Laplace::new(u.clone(), Components::COLOUR, 15, 8.5, -1.0).unwrap();
        let mut v = laplace.range().field(2).unwrap();
        v.set_noise(Noise::Normal, 6, 0).unwrap();
        let mut w = v.like(F64).unwrap();
        laplace.apply(&mut w, &v).unwrap();
        wuppertal(&mut v, &u, 0.2, 2, 7).unwrap();
        all.extend(v.save_lex().unwrap());
        all.extend(w.save_lex().unwrap());
        all
    });
}

#[test]
fn multigrid_and_propagators() {
    same(|device, geometry| {
        let op = wilson(device, geometry);
        let block = geometry.extents().map(|n| if n % 4 == 0 { 4 } else { 2 });
        let level = LevelParams { block, vectors: 4, pre: 0, post: 4 };
        let levels = MultigridParams::with_levels(vec![level]);
        let multigrid = Arc::new(Multigrid::new(&*op, &levels).unwrap());
        let solver =
            SolverParams { kind: SolverKind::Gcr, stop: Stop::at(1e-8), ..Default::default() };
        let params = SolveParams { solver, ..Default::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        solver.set_multigrid(Some(multigrid)).unwrap();
        let (quark, report) =
            propagator(&solver, Source::point([0; 4]), 0, &mut no_monitor).unwrap();
        assert!(report.solver.converged, "{report:?}");
        let found = correlators(&quark, [0; 4], Boundary::ANTIPERIODIC).unwrap();
        let mut all = quark.save_lex().unwrap();
        all.extend(found.pion.iter().chain(&found.rho[0]));
        all.extend(found.nucleon.iter().flat_map(|z| [z.re, z.im]));
        all
    });
}

#[test]
fn modes_and_the_overlap_operator() {
    same_on([[4, 4, 4, 8], [2, 6, 2, 2]], |device, geometry| {
        let u = Arc::new(links(device, geometry, F64, Recon::R18));
        let kernel = Overlap::kernel(u, 0.4, DiracParams::default()).unwrap();
        let modes = ModeParams { count: Some(4), tol: 1e-2, ..Default::default() };
        let sign = SignParams { delta: 1e-2, ..Default::default() };
        let op = Overlap::build(kernel, 0.1, &modes, sign, &mut no_monitor).unwrap();
        let mut b = op.shape().field(2).unwrap();
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        let mut x = b.like(F64).unwrap();
        op.apply(&mut x, &b).unwrap();
        let mut all = x.save_lex().unwrap();
        all.extend(op.sign().modes().values());
        all
    });
}
