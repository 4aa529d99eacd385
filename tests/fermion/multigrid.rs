//! Tests of multigrid in molecular dynamics: trajectories are the same as with CG, and hierarchies follow the links.

use std::sync::Arc;

use plaq::backend::Device;
use plaq::compose::multigrid::{LevelParams, Multigrid, MultigridParams, Update};
use plaq::compose::{DiracSolver, Normalisation, Schur, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Geometry, Momenta, Noise, Precision, Recon};
use plaq::operators::{ActionParams, DiracParams, DoubletParams};
use plaq::ops::hmc::fermion::{
    Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::gauge_action::{GaugeCoefficients, GaugeForce, GaugeMonomial};
use plaq::ops::hmc::integrator::{Level, Scheme};
use plaq::ops::hmc::{Hmc, HmcParams, Monomial, Stream, TrajectoryReport};
use plaq::solvers::{no_monitor, Shift, SolverKind, SolverParams, Stop};

use super::common::{self, over_ranks};
use super::device;

const FORCE: f64 = 1e-9;
const HAMILTONIAN: f64 = 1e-11;

thread_local! {
    static PLACE: (Device, Arc<Geometry>) = {
        let device = device();
        let geometry = common::geometry(over_ranks([4, 4, 4, 4]), &device);
        (device, geometry)
    };
}

/// Links near the unit matrix, on the device that all parts of a test use.
fn start(spread: f64) -> GaugeField {
    let (device, geometry) = PLACE.with(|place| place.clone());
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, spread).unwrap();
    u
}

fn levels() -> MultigridParams {
    let level = LevelParams { block: [2; 4], vectors: 6, pre: 0, post: 4 };
    MultigridParams {
        setup_iterations: 20,
        refinements: 1,
        ..MultigridParams::with_levels(vec![level])
    }
}

fn params(multigrid: Option<MultigridSolves>) -> TwoFlavoursParams {
    let clover =
        |kappa| DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }.with_kappa(kappa);
    TwoFlavoursParams {
        operator: clover(0.135).into(),
        preconditioner: Some(clover(0.12).into()),
        schur: Schur { parity: 0, symmetric: true },
        inverter: Inverter {
            tolerance_force: FORCE,
            tolerance_hamiltonian: HAMILTONIAN,
            guesses: 2,
            multigrid,
            ..Default::default()
        },
    }
}

fn solves() -> MultigridSolves {
    MultigridSolves { levels: levels(), ..Default::default() }
}

fn chain(u: &GaugeField, multigrid: Option<MultigridSolves>) -> Hmc {
    let c = GaugeCoefficients::wilson(5.4).unwrap();
    let force = GaugeForce::new(u.device(), u.geometry(), u.precision(), c).unwrap();
    let quarks = TwoFlavours::new("quarks", params(multigrid)).unwrap();
    let monomials: Vec<Box<dyn Monomial>> =
        vec![Box::new(GaugeMonomial::new("gauge", force)), Box::new(quarks)];
    let names = vec!["gauge".to_string(), "quarks".to_string()];
    let params = HmcParams {
        length: 0.4,
        levels: vec![Level { scheme: Scheme::Omelyan2, steps: 3, monomials: names }],
        seed: 5,
        trajectory: 3,
        accept_until: 100,
        reversibility_every: 0,
        smd: None,
    };
    Hmc::new(u.device(), u.geometry(), u.precision(), monomials, params).unwrap()
}

fn run(hmc: &mut Hmc, u: &mut GaugeField, count: usize) -> TrajectoryReport {
    (0..count).map(|_| hmc.run(u).unwrap()).last().unwrap()
}

/// Every force agrees with that of CG to its tolerance, and so do links and Delta H. The number of iterations shows
/// that another solver ran.
#[test]
fn a_trajectory_with_multigrid_is_that_with_cg() {
    let (mut u, mut v) = (start(0.6), start(0.6));
    let plain = run(&mut chain(&u, None), &mut u, 1);
    let fast = run(&mut chain(&v, Some(solves())), &mut v, 1);
    let links = u.distance(&v).unwrap();
    let h = (plain.delta_h - fast.delta_h).abs();
    let action = (plain.monomials[1].action_start - fast.monomials[1].action_start).abs();
    println!(
        "links {links:.1e}, Delta H {:.6} and {h:.1e} apart, iterations {} and {}",
        plain.delta_h, plain.iterations, fast.iterations
    );
    // A force of modulus F is wrong by F times the tolerance times the condition number of P.
    assert!(links < 1e2 * FORCE, "{links:e}");
    // The action's error is quadratic in the solution's, Delta H follows the links.
    assert!(action < 1e-9 * plain.monomials[1].action_start.abs(), "{action:e}");
    assert!(h < 1e-6, "{h:e}");
    assert!(plain.delta_h.abs() > 1e-3, "nothing was integrated: {}", plain.delta_h);
    assert!(2 * fast.iterations < plain.iterations, "{fast:?} {plain:?}");
}

/// The heat bath of a ratio with a hierarchy for its preconditioner W, too, equals that with CG, in fewer iterations.
#[test]
fn the_preconditioner_may_have_multigrid() {
    let (mut u, mut v) = (start(0.6), start(0.6));
    let plain = run(&mut chain(&u, Some(solves())), &mut u, 1);
    let both = MultigridSolves { preconditioner: true, ..solves() };
    let mut hmc = chain(&v, Some(both));
    let fast = run(&mut hmc, &mut v, 1);
    let [a, b] = [&plain, &fast].map(|r| &r.monomials[1]);
    println!("iterations outside forces {} and {}", a.action_iterations, b.action_iterations);
    assert!((a.action_start - b.action_start).abs() < 1e-9 * a.action_start.abs(), "{a:?} {b:?}");
    assert!(u.distance(&v).unwrap() < 1e2 * FORCE);
    assert!(b.action_iterations < a.action_iterations, "{a:?} {b:?}");
    // What it holds was announced: the next trajectory takes no more.
    run(&mut hmc, &mut v, 1);
}

/// A chain whose null vectors are computed at each trajectory's start is resumed bit for bit. A chain that keeps them
/// for several trajectories is resumed to the tolerance.
#[test]
fn a_chain_with_multigrid_goes_on_bit_for_bit() {
    for persistent in [false, true] {
        let policy = MultigridSolves { persistent, ..solves() };
        let mut u = start(0.6);
        let mut hmc = chain(&u, Some(policy.clone()));
        run(&mut hmc, &mut u, 1);
        let mut v = start(0.6);
        v.copy_from(&u).unwrap();
        let first = run(&mut hmc, &mut u, 1);
        let mut other = chain(&v, Some(policy));
        other.set_place(5, 4);
        let second = run(&mut other, &mut v, 1);
        let distance = u.distance(&v).unwrap();
        if persistent {
            assert!(distance < 1e3 * FORCE, "{distance:e}");
        } else {
            assert_eq!((distance, first.delta_h), (0.0, second.delta_h));
        }
    }
}

/// After small changes of the links only coarse operators are built anew, after large ones null vectors are found
/// again: null vectors of a rough field, on which the quarks are heavy, do not help on a smooth one.
#[test]
fn null_vectors_follow_the_links() {
    let mut u = start(0.9);
    let mut p = Momenta::new(u.device(), u.geometry(), Precision::F64).unwrap();
    p.set_gaussian(4, 0).unwrap();
    u.evolve(&p, 0.3).unwrap();
    let mut quarks = TwoFlavours::new("quarks", params(Some(solves()))).unwrap();
    assert!(quarks.multigrid().is_none());
    quarks.refresh(&u, Stream { seed: 1, trajectory: 1 }).unwrap();
    quarks.kick(&u, &mut p, 0.1).unwrap();
    let first = quarks.multigrid().unwrap();
    assert_eq!(first.update, None);
    p.set_gaussian(3, 0).unwrap();
    u.evolve(&p, 0.01).unwrap();
    quarks.kick(&u, &mut p, 0.1).unwrap();
    let near = quarks.multigrid().unwrap();
    quarks.kick(&start(0.3), &mut p, 0.1).unwrap();
    let far = quarks.multigrid().unwrap();
    println!(
        "reduction {:.3}, near {:.3} {:?}, far {:.3} {:?}",
        first.reduction, near.reduction, near.update, far.reduction, far.update
    );
    assert_eq!(near.update, Some(Update::Keep));
    assert!(near.reduction.ln() * 1.3 <= first.reduction.ln(), "{near:?}");
    assert!(matches!(far.update, Some(Update::Refine(_) | Update::Anew)), "{far:?}");
    quarks.restart();
    assert!(quarks.multigrid().is_none());
}

/// Multigrid and CG give the same solutions of (P^dagger P + s) x = b for all shifts s, in every normalisation.
#[test]
fn shifted_systems_are_those_of_cg() {
    let u = start(0.6);
    let links = Arc::new(u.to(Precision::F64, Recon::R12).unwrap());
    let quark = params(None).operator;
    let op = quark.create(links).unwrap();
    let tol = 1e-10;
    let solver = |kind, normalisation, schur| {
        let params = SolveParams {
            solver: SolverParams { kind, nkrylov: 20, stop: Stop::at(tol), ..Default::default() },
            solution: Solution::MatPcDagMatPc,
            even_odd: Some(schur),
            normalisation,
            ..Default::default()
        };
        DiracSolver::new(op.clone(), params).unwrap()
    };
    let even = Schur { parity: 0, symmetric: true };
    let hierarchy = Arc::new(Multigrid::new(&*op, &levels()).unwrap());
    for normalisation in [Normalisation::Kappa, Normalisation::Mass] {
        let cg = solver(SolverKind::Cg, normalisation, even);
        let gcr = solver(SolverKind::Gcr, normalisation, even);
        let shape = op.clone().schur(even).unwrap().shape();
        let mut b = shape.field(1).unwrap();
        b.set_noise(Noise::Normal, 7, 1).unwrap();
        let mut x = shape.field(1).unwrap();
        let e = gcr.shifted(0.1, &mut x, &b, &mut no_monitor).unwrap_err();
        assert_eq!(e.status, Status::Unsupported);
        gcr.set_multigrid(Some(hierarchy.clone())).unwrap();
        for sigma in [0.0, 1e-3, 0.03, 1.0] {
            let shift = [Shift { sigma, tol: 1e-12, heavy_quark: 0.0 }];
            let mut want = [shape.field(1).unwrap()];
            let (plain, _) = cg.multishift(&shift, &mut want, &b, &mut no_monitor).unwrap();
            let fast = gcr.shifted(sigma, &mut x, &b, &mut no_monitor).unwrap();
            let (plain, fast) = (plain.solver, fast.solver);
            assert!(fast.converged && fast.residual[0] <= tol, "{sigma}: {fast:?}");
            // What no multigrid was in would take as many as CG.
            println!("{sigma}: {} iterations, CG {}", fast.iterations, plain.iterations);
            assert!(sigma > 0.03 || 2 * fast.iterations < plain.iterations, "{sigma}: {fast:?}");
            blas::axpy(&blas::uniform(1, -1.0), &x, &mut want[0]).unwrap();
            let off = blas::norm2(&want[0]).unwrap()[0] / blas::norm2(&x).unwrap()[0];
            // The difference |x - x'| / |x| is at most the residual times the condition number of P^dagger P, some
            // hundreds.
            assert!(off.sqrt() < 1e3 * tol, "{sigma}: {:e}", off.sqrt());
        }
        let e = gcr.shifted(-0.1, &mut x, &b, &mut no_monitor).unwrap_err();
        assert_eq!(e.status, Status::BadParameter);
    }
}

/// Heat bath, action and force of one flavour and of a doublet are those of CG for any number of shifts that
/// multigrid solves.
#[test]
fn one_flavour_with_multigrid_is_that_with_cg() {
    let clover = DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }.with_kappa(0.135);
    let wilson = DiracParams { mu: 0.1, ..clover };
    shifts_by_multigrid(clover.into());
    shifts_by_multigrid(DoubletParams { wilson, epsilon: 0.08 }.into());
}

fn shifts_by_multigrid(operator: ActionParams) {
    let u = start(0.6);
    let place = Stream { seed: 3, trajectory: 2 };
    let made = |multigrid: Option<MultigridSolves>| {
        let inverter = params(multigrid).inverter;
        let interval = Some((2e-3, 6.0));
        let all = OneFlavourParams::new(operator);
        let mut one = OneFlavour::new("s", OneFlavourParams { inverter, interval, ..all }).unwrap();
        one.refresh(&u, place).unwrap();
        let action = one.action(&u).unwrap();
        let outside = one.solves().iterations;
        let mut force = Momenta::new(u.device(), u.geometry(), Precision::F64).unwrap();
        let kick = one.kick(&u, &mut force, 1.0).unwrap();
        (one, action, force, kick.solves.iterations, outside)
    };
    let (_, action, force, plain, outside) = made(None);
    let size = force.norm2().unwrap().0.sqrt();
    for shifts in [1, 4, 99] {
        let (mut one, a, mut f, iterations, o) = made(Some(MultigridSolves { shifts, ..solves() }));
        println!("{shifts}: {iterations} and {o} iterations, CG {plain} and {outside}");
        assert!((a - action).abs() < 1e-9 * action.abs(), "{shifts}: {a} {action}");
        f.add(1.0, -1.0, &force).unwrap();
        let off = f.norm2().unwrap().0.sqrt();
        assert!(off < 1e2 * FORCE * size, "{shifts}: {off:e} of {size:e}");
        assert!(one.multigrid().is_some());
        one.restart();
        assert!(one.multigrid().is_none());
    }
}

#[test]
fn multigrid_where_it_cannot_be_is_refused() {
    for (parity, symmetric) in [(1, true), (0, false)] {
        let params =
            TwoFlavoursParams { schur: Schur { parity, symmetric }, ..params(Some(solves())) };
        assert_eq!(TwoFlavours::new("q", params).err().unwrap().status, Status::Unsupported);
    }
    let inverter = Inverter { multigrid: Some(solves()), ..Default::default() };
    let schur = Schur { parity: 0, symmetric: false };
    let one = OneFlavourParams { inverter, schur, ..OneFlavourParams::new(DiracParams::default()) };
    assert_eq!(OneFlavour::new("q", one).err().unwrap().status, Status::Unsupported);
    let none = MultigridSolves { nkrylov: 0, ..solves() };
    assert_eq!(
        TwoFlavours::new("q", params(Some(none))).err().unwrap().status,
        Status::BadParameter
    );
    // A hierarchy that does not fit the lattice: the trajectory fails, links stay.
    let mut wrong = levels();
    wrong.level[0].block = [3; 4];
    let policy = MultigridSolves { levels: wrong, ..Default::default() };
    let (mut u, v) = (start(0.3), start(0.3));
    assert!(chain(&u, Some(policy)).run(&mut u).is_err());
    assert_eq!(u.distance(&v).unwrap(), 0.0);
}

#[test]
fn inputs_choose_multigrid() {
    let text = |solver: &str| {
        format!(
            "length = 0.2\nseed = 5\naccept_until = 9\n[[monomial]]\nname = \"q\"\ntype = \"two_flavours\"\n\
             operator = {{ kappa = 0.13 }}\nsolver = {solver}\n[[level]]\nintegrator = \"leapfrog\"\n\
             steps = 2\nmonomials = [\"q\"]\n"
        )
    };
    let made = |solver: &str| {
        let u = start(0.4);
        let input = text(solver);
        plaq::ops::hmc::input::hmc_from_toml(u.device(), u.geometry(), Precision::F64, &input)
    };
    let table = "{ solver = \"multigrid\", tolerance_force = 1e-9, multigrid = { levels = 2, block = [[2, 2, 2, 2]], \
                 vectors = [4], post = 4, setup_iterations = 10, setup_solver = \"gcr\", setup_columns = 3, refinements = 1, update = \"refine\", link_precision = \"quarter\", preconditioner = true } }";
    let (mut u, mut v) = (start(0.4), start(0.4));
    let a = made("\"cg\"").unwrap().run(&mut u).unwrap();
    let b = made(table).unwrap().run(&mut v).unwrap();
    assert!((a.delta_h - b.delta_h).abs() < 1e-5 && b.iterations < a.iterations, "{a:?} {b:?}");
    made("\"multigrid\"").unwrap();
    for wrong in [
        "\"gcr\"",
        "{ multigrid = { post = 4 } }",
        "{ solver = \"multigrid\", multigrid = { size = 4 } }",
        "{ solver = \"multigrid\", multigrid = { vectors = [1, 2, 3, 4, 5, 6] } }",
        "{ solver = \"multigrid\", multigrid = { update = \"never\" } }",
        "{ solver = \"multigrid\", multigrid = { setup_solver = \"mr\" } }",
        "{ solver = \"multigrid\", multigrid = { link_precision = \"eighth\" } }",
        "3",
    ] {
        let e = made(wrong).err().unwrap();
        assert_eq!(e.status, Status::InvalidArgument, "{wrong}: {e}");
    }
    let e = made("{ solver = \"multigrid\", multigrid = { size = 4 } }").err().unwrap();
    assert!(e.message().contains("size"), "{e}");
}
