//! Tests of monomials: the force is the derivative of the action, the weight is the determinant, molecular dynamics
//! is reversible and of second order.

use plaq::compose::multigrid::{LevelParams, MultigridParams};
use plaq::compose::Schur;
use plaq::error::Status;
use plaq::fields::{GaugeField, Momenta, Precision, Recon};
use plaq::operators::{ActionParams, CloverLinks, DiracParams, DoubletParams};
use plaq::ops::hmc::fermion::{
    Inverter, MultigridSolves, OneFlavour, OneFlavourParams, TwoFlavours, TwoFlavoursParams,
};
use plaq::ops::hmc::stout::Stout;
use plaq::ops::hmc::{Monomial, Stream};

use super::common::{over_ranks, Lex};
use super::reference::dirac::Dirac;
use super::reference::matrix::eliminate;
use super::reference::{spinor, Gauge, C};
use super::{
    clover, derivative, device, directions, exponential, moved, reference_params, setup_on, wilson,
    Setup,
};

const EXACT: Inverter = Inverter {
    tolerance_force: 1e-12,
    tolerance_hamiltonian: 1e-12,
    max_iterations: 2000,
    sloppy: Some((Precision::F64, Recon::R12)),
    guesses: 0,
    multigrid: None,
    site: 0.0,
    sums_force: None,
    sums_hamiltonian: None,
};
const SYMMETRIC: Schur = Schur { parity: 0, symmetric: true };
const ASYMMETRIC: Schur = Schur { parity: 1, symmetric: false };

fn setup(part: [usize; 4]) -> Setup {
    setup_on(&device(), part)
}

fn two(operator: DiracParams, preconditioner: Option<DiracParams>, schur: Schur) -> TwoFlavours {
    let params = TwoFlavoursParams {
        operator: operator.into(),
        preconditioner: preconditioner.map(Into::into),
        schur,
        inverter: EXACT,
    };
    TwoFlavours::new("two", params).unwrap()
}
fn smearing() -> Stout {
    Stout::new(0.12, 2).unwrap()
}
fn stout(operator: DiracParams, preconditioner: Option<DiracParams>) -> TwoFlavours {
    let params = TwoFlavoursParams {
        operator: operator.into(),
        preconditioner: preconditioner.map(Into::into),
        schur: ASYMMETRIC,
        inverter: EXACT,
    };
    TwoFlavours::new("stout", params).unwrap().with_smearing(smearing())
}
fn one(operator: impl Into<ActionParams>, schur: Schur, fields: usize) -> OneFlavour {
    let params = OneFlavourParams {
        schur,
        inverter: EXACT,
        fields,
        error_force: 1e-11,
        error_hamiltonian: 1e-11,
        ..OneFlavourParams::new(operator)
    };
    OneFlavour::new("one", params).unwrap()
}

/// Parameters of a doublet whose splitting is above mu.
fn doublet(wilson: DiracParams) -> DoubletParams {
    DoubletParams { wilson, epsilon: 1.2 * wilson.mu }
}

/// The parameters with a clover term computed from the links before smearing.
fn thin(p: DiracParams) -> DiracParams {
    DiracParams { clover_links: CloverLinks::Thin, ..p }
}

fn heavier(p: DiracParams) -> DiracParams {
    DiracParams { mass: p.mass + 0.4, ..p }
}

/// The parameters with a twisted mass on the sites of the Schur complement alone.
fn on_a_parity(p: DiracParams, rho: f64) -> DiracParams {
    DiracParams { rho, ..p }
}

/// Monomials of every kind, with their names and numbers of flavours.
fn all() -> Vec<(&'static str, Box<dyn Monomial>, f64)> {
    let (c, t) = (clover(0.0), clover(0.3));
    let (e, f) = (exponential(0.0), exponential(0.3));
    let twisted = DiracParams { mu: 0.2, ..wilson() };
    vec![
        ("Wilson", Box::new(two(wilson(), None, SYMMETRIC)), 2.0),
        ("Wilson, asymmetric", Box::new(two(wilson(), None, ASYMMETRIC)), 2.0),
        ("twisted", Box::new(two(twisted, None, ASYMMETRIC)), 2.0),
        ("clover", Box::new(two(c, None, SYMMETRIC)), 2.0),
        ("clover, asymmetric", Box::new(two(c, None, ASYMMETRIC)), 2.0),
        ("twisted clover", Box::new(two(t, None, SYMMETRIC)), 2.0),
        ("ratio of masses", Box::new(two(c, Some(heavier(c)), ASYMMETRIC)), 0.0),
        ("ratio of masses, symmetric", Box::new(two(c, Some(heavier(c)), SYMMETRIC)), 0.0),
        ("ratio of twists", Box::new(two(c, Some(t), SYMMETRIC)), 0.0),
        ("twist on a parity", Box::new(two(on_a_parity(c, 0.3), None, ASYMMETRIC)), 2.0),
        (
            "ratio of twists on a parity",
            Box::new(two(on_a_parity(c, 0.1), Some(on_a_parity(c, 0.4)), ASYMMETRIC)),
            0.0,
        ),
        ("stout clover", Box::new(stout(c, Some(heavier(c)))), 2.0),
        ("stout, two flavours", Box::new(two(c, None, SYMMETRIC).with_smearing(smearing())), 2.0),
        ("stout, one flavour", Box::new(one(c, SYMMETRIC, 1).with_smearing(smearing())), 1.0),
        ("stout, thin clover", Box::new(stout(thin(c), Some(heavier(thin(c))))), 2.0),
        (
            "stout, thin exponential, one flavour",
            Box::new(one(thin(e), SYMMETRIC, 1).with_smearing(smearing())),
            1.0,
        ),
        (
            "stout, thin clover, doublet",
            Box::new(one(doublet(thin(t)), SYMMETRIC, 1).with_smearing(smearing())),
            2.0,
        ),
        ("one flavour", Box::new(one(wilson(), SYMMETRIC, 1)), 1.0),
        ("one flavour, clover", Box::new(one(c, ASYMMETRIC, 1)), 1.0),
        ("one flavour, two fields", Box::new(one(c, SYMMETRIC, 2)), 1.0),
        (
            "doublet",
            Box::new(one(doublet(DiracParams { mu: 0.3, ..wilson() }), ASYMMETRIC, 1)),
            2.0,
        ),
        ("doublet, clover", Box::new(one(doublet(t), SYMMETRIC, 1)), 2.0),
        ("exponential", Box::new(two(e, None, SYMMETRIC)), 2.0),
        ("exponential, asymmetric", Box::new(two(e, None, ASYMMETRIC)), 2.0),
        ("ratio of twists, exponential", Box::new(two(e, Some(f), ASYMMETRIC)), 0.0),
        ("one flavour, exponential", Box::new(one(e, SYMMETRIC, 1)), 1.0),
        ("doublet, exponential", Box::new(one(doublet(f), SYMMETRIC, 1)), 2.0),
        ("doublet, asymmetric", Box::new(one(doublet(t), ASYMMETRIC, 1)), 2.0),
    ]
}

/// A monomial of one flavour that solves its smallest shifts with multigrid.
fn one_with_multigrid() -> OneFlavour {
    let level = LevelParams { block: [2; 4], vectors: 6, pre: 0, post: 4 };
    let levels = MultigridParams {
        setup_iterations: 10,
        refinements: 1,
        ..MultigridParams::with_levels(vec![level])
    };
    let solves = MultigridSolves { levels, shifts: 2, ..Default::default() };
    let params = OneFlavourParams {
        inverter: Inverter { multigrid: Some(solves), ..EXACT },
        error_force: 1e-11,
        error_hamiltonian: 1e-11,
        ..OneFlavourParams::new(clover(0.0))
    };
    OneFlavour::new("one", params).unwrap()
}

fn stream(trajectory: u32) -> Stream {
    Stream { seed: 17, trajectory }
}

#[test]
fn forces_are_derivatives_of_the_action() {
    let s = setup([4, 4, 4, 4]);
    let gauge = |links: &Gauge| s.gauge(links, Precision::F64, Recon::R18);
    let start = gauge(&s.links);
    let mut monomials = all();
    monomials.push(("one flavour, multigrid", Box::new(one_with_multigrid()), 1.0));
    for (what, mut monomial, _) in monomials {
        monomial.refresh(&start, stream(3)).unwrap();
        let mut force = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
        let report = monomial.kick(&start, &mut force, -1.0).unwrap();
        let (sum, max) = force.norm2().unwrap();
        let links = 4.0 * s.lat.volume() as f64;
        assert!((report.rms / (sum / links).sqrt() - 1.0).abs() < 1e-12, "{what}: {report:?}");
        assert!((report.max / max.sqrt() - 1.0).abs() < 1e-12 && report.solves.iterations > 0);
        let monomial = std::cell::RefCell::new(monomial);
        for mu in 0..4 {
            let h = directions(s.lat, 200 + mu as u64);
            let found = s.along(&force, &h, mu);
            let action =
                |e| monomial.borrow_mut().action(&gauge(&moved(&s.links, &h, mu, e))).unwrap();
            let expect = derivative(action, 2e-3);
            let error = (found - expect).abs() / sum.sqrt();
            assert!(error < 1e-8, "{what}, direction {mu}: {found} for {expect}, {error:.1e}");
        }
    }
}

/// The matrix M of the reference, as rows, with the twisted mass rho on sites of the parity of `ASYMMETRIC`.
fn rows_of(s: &Setup, links: &Gauge, params: &DiracParams) -> Vec<Vec<C>> {
    let dirac = Dirac::new(s.lat, links, reference_params(params));
    let n = 12 * s.lat.volume();
    let mut rows = vec![vec![C::ZERO; n]; n];
    for column in 0..n {
        let (lex, spin, colour) = (column / 12, column / 3 % 4, column % 3);
        let image = dirac.apply_kappa(&spinor::point(s.lat, lex, spin, colour));
        for (row, z) in image.iter().flatten().flatten().enumerate() {
            rows[row][column] = *z;
        }
        if s.lat.parity(lex) == ASYMMETRIC.parity {
            let twist = 2.0 * params.kappa() * params.rho;
            rows[column][column].im += if spin < 2 { twist } else { -twist };
        }
    }
    rows
}

/// Computes ln |det M| of the reference by elimination of the whole matrix.
fn ln_det(s: &Setup, links: &Gauge, params: &DiracParams) -> f64 {
    eliminate(&mut rows_of(s, links, params)).re
}

/// Computes ln |det M| of a doublet: M of both flavours with - 2 kappa epsilon between them.
fn ln_det_doublet(s: &Setup, links: &Gauge, p: &DoubletParams) -> f64 {
    let mix = C::new(-2.0 * p.wilson.kappa() * p.epsilon, 0.0);
    let [up, down] =
        [p.wilson.mu, -p.wilson.mu].map(|mu| rows_of(s, links, &DiracParams { mu, ..p.wilson }));
    let n = up.len();
    let mixed = |row: usize| (0..n).map(move |k| if k == row { mix } else { C::ZERO });
    let above = up.into_iter().enumerate().map(|(k, r)| r.into_iter().chain(mixed(k)).collect());
    let below = down.into_iter().enumerate().map(|(k, r)| mixed(k).chain(r).collect());
    eliminate(&mut above.chain(below).collect::<Vec<Vec<C>>>()).re
}

/// The mean of exp(S(U) - S(U')) over the heat bath of U is the ratio of the determinants. The number of draws
/// suffices to tell it from the ratio with one flavour more or less, and a monomial of a ratio from none.
#[test]
fn weights_are_determinants() {
    if over_ranks([1; 4]) != [1; 4] {
        return println!("skipped: the determinant is that of a lattice of one rank");
    }
    let s = setup([2, 2, 2, 4]);
    let h = directions(s.lat, 5);
    let links = moved(&s.links, &h, 1, 0.06);
    let [from, to] = [&s.links, &links].map(|l| s.gauge(l, Precision::F64, Recon::R18));
    let c = clover(0.0);
    let mut known: Vec<(DiracParams, f64)> = vec![];
    let mut ratio = |p: &DiracParams| {
        if let Some((_, ratio)) = known.iter().find(|(of, _)| of == p) {
            return *ratio;
        }
        let ratio = ln_det(&s, &links, p) - ln_det(&s, &s.links, p);
        known.push((*p, ratio));
        ratio
    };
    // Monomials with stout links are tested by their derivative alone.
    for (what, mut monomial, flavours) in all().into_iter().filter(|m| !m.0.starts_with("stout")) {
        let expect = match what {
            "ratio of masses" | "ratio of masses, symmetric" => {
                2.0 * (ratio(&c) - ratio(&heavier(c)))
            }
            "ratio of twists, exponential" => {
                2.0 * (ratio(&exponential(0.0)) - ratio(&exponential(0.3)))
            }
            "twist on a parity" => 2.0 * ratio(&on_a_parity(c, 0.3)),
            "ratio of twists on a parity" => {
                2.0 * (ratio(&on_a_parity(c, 0.1)) - ratio(&on_a_parity(c, 0.4)))
            }
            "ratio of twists" => 2.0 * (ratio(&c) - ratio(&clover(0.3))),
            "Wilson" | "Wilson, asymmetric" | "one flavour" => flavours * ratio(&wilson()),
            "twisted" => 2.0 * ratio(&DiracParams { mu: 0.2, ..wilson() }),
            "twisted clover" => 2.0 * ratio(&clover(0.3)),
            _ if what.starts_with("doublet") => {
                let wilson = match what {
                    "doublet" => DiracParams { mu: 0.3, ..wilson() },
                    "doublet, exponential" => exponential(0.3),
                    _ => clover(0.3),
                };
                let p = doublet(wilson);
                ln_det_doublet(&s, &links, &p) - ln_det_doublet(&s, &s.links, &p)
            }
            _ if what.contains("exponential") => flavours * ratio(&exponential(0.0)),
            _ => flavours * ratio(&c),
        };
        let apart = 1.0 - (-expect.abs() / flavours.max(1.0)).exp();
        let (mut sum, mut square, mut mean, mut error) = (0.0, 0.0, 0.0, f64::MAX);
        let mut draws = 0;
        while draws < 30 || (4.0 * error > apart && draws < 300) {
            monomial.refresh(&from, stream(draws)).unwrap();
            let w =
                (monomial.action(&from).unwrap() - monomial.action(&to).unwrap() - expect).exp();
            (sum, square, draws) = (sum + w, square + w * w, draws + 1);
            let n = f64::from(draws);
            mean = sum / n;
            error = ((square / n - mean * mean) / (n - 1.0)).sqrt();
        }
        println!("{what}: ln ratio {expect:.4}, mean {mean:.4} +- {error:.4}, {draws} draws");
        assert!((mean - 1.0).abs() < 4.0 * error + 1e-9, "{what}: {mean} +- {error}");
        assert!(4.0 * error <= apart, "{what}: {error} says nothing");
    }
}

/// Runs a leapfrog trajectory of length 0.5; returns H at the end minus H at the start, and the last links.
fn leapfrog(
    monomials: &mut [Box<dyn Monomial>],
    gauge: &mut GaugeField,
    p: &mut Momenta,
    steps: usize,
) -> f64 {
    let h = |m: &mut [Box<dyn Monomial>], g: &GaugeField, p: &Momenta| -> f64 {
        p.kinetic().unwrap() + m.iter_mut().map(|m| m.action(g).unwrap()).sum::<f64>()
    };
    let before = h(monomials, gauge, p);
    let dt = 0.5 / steps as f64;
    let kick = |m: &mut [Box<dyn Monomial>], g: &GaugeField, p: &mut Momenta, dt: f64| {
        for m in m.iter_mut() {
            m.kick(g, p, dt).unwrap();
        }
    };
    kick(monomials, gauge, p, 0.5 * dt);
    for step in 1..=steps {
        gauge.evolve(p, dt).unwrap();
        kick(monomials, gauge, p, if step == steps { 0.5 * dt } else { dt });
    }
    h(monomials, gauge, p) - before
}

fn start(s: &Setup, trajectory: u32) -> (GaugeField, Momenta) {
    let gauge = s.gauge(&s.links, Precision::F64, Recon::R18);
    let gauge = gauge.to(Precision::F64, Recon::R18).unwrap();
    let mut p = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
    p.set_gaussian(5, trajectory).unwrap();
    (gauge, p)
}

/// An action of two flavours with Hasenbusch's preconditioning and a third one by the rational approximation.
fn action() -> Vec<Box<dyn Monomial>> {
    let light = DiracParams { mass: 0.1, csw: 1.0, csw_t: 1.0, ..Default::default() };
    let heavy = heavier(light);
    let inverter = Inverter { guesses: 3, ..EXACT };
    let two = |name: &str, operator, preconditioner| {
        let inverter = inverter.clone();
        let params = TwoFlavoursParams { operator, preconditioner, schur: ASYMMETRIC, inverter };
        Box::new(TwoFlavours::new(name, params).unwrap())
    };
    vec![
        two("heavy", heavy.into(), None),
        two("light", light.into(), Some(heavy.into())),
        Box::new(one(DiracParams { mass: 0.5, ..light }, SYMMETRIC, 1)),
    ]
}

#[test]
fn trajectories_are_reversible_and_of_second_order() {
    let s = setup([4, 4, 4, 4]);
    let mut monomials = action();
    let mut found = vec![];
    for steps in [8, 16, 32] {
        let (mut gauge, mut p) = start(&s, 1);
        monomials.iter_mut().for_each(|m| m.refresh(&gauge, stream(1)).unwrap());
        found.push(leapfrog(&mut monomials, &mut gauge, &mut p, steps));
        if steps == 8 {
            // With momenta of the opposite sign the trajectory returns.
            let zero = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
            p.add(-1.0, 0.0, &zero).unwrap();
            monomials.iter_mut().for_each(|m| m.restart());
            let back = leapfrog(&mut monomials, &mut gauge, &mut p, steps);
            assert!((found[0] + back).abs() < 1e-8, "{} {back}", found[0]);
            let there = gauge.save_lex().unwrap();
            let here = super::gauge_numbers(&s.links);
            let error = super::common::distance(&there, &here);
            assert!(error < 1e-9, "links come back to {error:.1e}");
        }
    }
    for pair in found.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.6..4.4).contains(&ratio), "dH {found:?}: second order halves to a quarter");
    }
}

#[test]
fn the_mean_of_exp_minus_dh_is_one() {
    let s = setup([4, 4, 4, 4]);
    let mut monomials = action();
    let (mut gauge, mut p) = start(&s, 0);
    let (mut sum, mut square, mut largest) = (0.0, 0.0, 0.0f64);
    let draws = 24;
    for n in 0..draws {
        p.set_gaussian(5, n).unwrap();
        monomials.iter_mut().for_each(|m| m.refresh(&gauge, stream(n)).unwrap());
        // Every trajectory is accepted: with steps so small that hardly changes the equilibrium.
        let dh = leapfrog(&mut monomials, &mut gauge, &mut p, 4);
        let w = (-dh).exp();
        (sum, square, largest) = (sum + w, square + w * w, largest.max(dh.abs()));
    }
    let n = f64::from(draws);
    let error = ((square / n - (sum / n).powi(2)) / (n - 1.0)).sqrt();
    println!("<exp(-dH)> = {:.4} +- {error:.4}, largest |dH| {largest:.3}", sum / n);
    assert!((sum / n - 1.0).abs() < 4.0 * error, "{} +- {error}", sum / n);
    assert!(error < 0.2 && largest > 1e-4, "{error} {largest}");
}

#[test]
fn guesses_and_mixed_precision_change_nothing() {
    let s = setup([4, 4, 4, 4]);
    let gauge = s.gauge(&s.links, Precision::F64, Recon::R18);
    let kick = |inverter: Inverter, times: usize| {
        let params = TwoFlavoursParams {
            operator: clover(0.1).into(),
            preconditioner: None,
            schur: ASYMMETRIC,
            inverter,
        };
        let mut m = TwoFlavours::new("two", params).unwrap();
        m.refresh(&gauge, stream(0)).unwrap();
        let mut last = (Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap(), 0);
        for _ in 0..times {
            last.0.clear().unwrap();
            last.1 = m.kick(&gauge, &mut last.0, 1.0).unwrap().solves.iterations;
        }
        last
    };
    let (exact, plain) = kick(EXACT, 1);
    let size = exact.norm2().unwrap().0.sqrt();
    let difference = |other: &Momenta| {
        let mut d = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
        d.copy_from(&exact).unwrap();
        d.add(1.0, -1.0, other).unwrap();
        d.norm2().unwrap().0.sqrt() / size
    };
    let (again, guessed) = kick(Inverter { guesses: 2, ..EXACT }, 3);
    assert!(difference(&again) < 1e-10 && guessed < plain / 4, "{guessed} of {plain}");
    let sloppy = Some((Precision::F32, Recon::R12));
    let (mixed, _) = kick(Inverter { sloppy, ..EXACT }, 1);
    assert!(difference(&mixed) < 1e-10);
    let (loose, fewer) = kick(Inverter { tolerance_force: 1e-5, ..EXACT }, 1);
    let error = difference(&loose);
    assert!(error < 1e-3 && error > 1e-10 && fewer < plain, "{error} {fewer}");
}

/// A solve in 16 bits that stagnates starts anew in a wider precision. Periodic free quarks near the critical mass
/// have a condition number of P^dagger P of about (2 / (1 - 64 kappa^2))^2 = 1.6e8, too large for 16 bits: without
/// the wider precision the solve ends at a residual of 2e-4.
#[test]
fn a_solve_that_stands_still_in_half_begins_anew() {
    let s = setup([4, 4, 4, 4]);
    let mut gauge = GaugeField::new(&s.device, &s.geometry, Precision::F64, Recon::R18).unwrap();
    gauge.set_near_unit(1, 0.0).unwrap();
    let boundary = [C::new(1.0, 0.0); 4];
    let operator = DiracParams { boundary, ..DiracParams::default() }.with_kappa(0.12499);
    let kick = |precision| {
        let inverter =
            Inverter { sloppy: Some((precision, Recon::R12)), max_iterations: 20_000, ..EXACT };
        let params = TwoFlavoursParams {
            operator: operator.into(),
            preconditioner: None,
            schur: SYMMETRIC,
            inverter,
        };
        let mut m = TwoFlavours::new("two", params).unwrap();
        m.refresh(&gauge, stream(0)).unwrap();
        let mut p = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
        let iterations = m.kick(&gauge, &mut p, 1.0).unwrap().solves.iterations;
        (p, iterations)
    };
    let (exact, _) = kick(Precision::F64);
    let (single, fewer) = kick(Precision::F32);
    let (half, more) = kick(Precision::F16);
    assert!(more > fewer + 20, "half did not are fixed: {more} iterations, single {fewer}");
    let size = exact.norm2().unwrap().0.sqrt();
    for (mut p, what) in [(single, "single"), (half, "half")] {
        p.add(1.0, -1.0, &exact).unwrap();
        let error = p.norm2().unwrap().0.sqrt() / size;
        // The bound is the condition number times the tolerance of 1e-12.
        assert!(error < 1.6e-4, "{what}: {error:e}");
    }
}

#[test]
fn what_cannot_be_done_is_a_status() {
    let s = setup([4, 4, 4, 4]);
    let gauge = s.gauge(&s.links, Precision::F64, Recon::R18);
    let mut p = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
    let mut early = two(wilson(), None, SYMMETRIC);
    assert_eq!(early.action(&gauge).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(early.kick(&gauge, &mut p, 1.0).unwrap_err().status, Status::InvalidArgument);
    let short = Inverter { max_iterations: 2, ..EXACT };
    let params = TwoFlavoursParams {
        operator: wilson().into(),
        preconditioner: None,
        schur: SYMMETRIC,
        inverter: short,
    };
    let mut short = TwoFlavours::new("two", params).unwrap();
    short.refresh(&gauge, stream(0)).unwrap();
    let error = short.kick(&gauge, &mut p, 1.0).unwrap_err();
    assert_eq!(error.status, Status::NotConverged, "{error}");
    assert!(error.message().contains("after 2 iterations, asked for"), "{error}");
    assert_eq!(p.norm2().unwrap().0, 0.0);
    for interval in [(1e-3, 1.0), (0.5, 40.0)] {
        let params =
            OneFlavourParams { interval: Some(interval), ..OneFlavourParams::new(wilson()) };
        let mut narrow = OneFlavour::new("one", params).unwrap();
        let error = narrow.refresh(&gauge, stream(0)).unwrap_err();
        assert_eq!(error.status, Status::SpectralBounds, "{error}");
        assert!(error.message().contains("the rational approximation covers"), "{error}");
        let (low, high) = narrow.spectrum().unwrap();
        assert!(low < interval.0 || high > interval.1);
    }
    let bad = Inverter { tolerance_force: 0.0, ..EXACT };
    let params = |operator, inverter| TwoFlavoursParams {
        operator,
        preconditioner: None,
        schur: SYMMETRIC,
        inverter,
    };
    let made = TwoFlavours::new("two", params(wilson().into(), bad));
    assert_eq!(made.err().unwrap().status, Status::BadParameter);
    let made =
        TwoFlavours::new("two", params(DiracParams { mass: -5.0, ..wilson() }.into(), EXACT));
    assert_eq!(made.err().unwrap().status, Status::BadParameter);
}
