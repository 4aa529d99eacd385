//! Tests of links with boundaries in time: observables, flow, forces and quarks against the reference, files, chains.

use std::sync::Arc;

use crate::common::lex::links_from_lex;
use crate::common::{self, devices, distance, over_ranks, ranks, tolerance, Folder, Lex};
use crate::reference::bounded::{diagonal, Action, Bounded};
use crate::reference::dirac::Params;
use crate::reference::hmc::{derivative, moved};
use crate::reference::matrix::{dag, mul, one, sub, trace, zero};
use crate::reference::numbers::{field_from, field_numbers, gauge_from, gauge_numbers};
use crate::reference::spinor;
use crate::reference::{su3, Field, Gauge, Lattice, C};
use crate::setup::reference_params;
use plaq::backend::Device;
use plaq::compose::{DiracSolver, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{
    blas, BoundaryKind, BoundaryParams, BoundaryTime, CloverForm, GaugeField, Geometry,
    LinkOptions, Momenta, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::io::{FileFormat, WriteOptions};
use plaq::linop::{LinOp, Normal, Schur};
use plaq::operators::{ActionParams, DiracParams, QuarkAction, Wilson};
use plaq::ops::config::{load_gauge, save_gauge, LoadOptions};
use plaq::ops::flow::{Flow, FlowKind};
use plaq::ops::hmc::fermion::{Inverter, TwoFlavours, TwoFlavoursParams};
use plaq::ops::hmc::gauge_action::{AtBounds, GaugeCoefficients, GaugeForce, LinkAction};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::stout::Stout;
use plaq::ops::hmc::{Hmc, Monomial, Stream};
use plaq::ops::link_smearing::{smear_links, Smearing};
use plaq::ops::observables::{plaquette, unitarity};
use plaq::ops::quenched::{overrelax, Quenched};
use plaq::ops::time_slices::time_slices;
use plaq::params::Choice as _;
use plaq::solvers::{eigen_set, no_monitor, EigenParams, Shift, SolverKind};

pub(crate) const PHI: [f64; 3] = [-0.7, 0.15, 0.55];
pub(crate) const PHI_PRIME: [f64; 3] = [-2.1, 0.8, 1.3];
pub(crate) const BOUNDARIES: [BoundaryTime; 3] = [
    BoundaryTime::Open,
    BoundaryTime::Sf { phi: PHI, phi_prime: PHI_PRIME },
    BoundaryTime::OpenSf { phi_prime: PHI_PRIME },
];
/// Extents of a rank's part for which SIMD lanes split time in pieces of two or more slices, or not at all.
const PARTS: [[usize; 4]; 3] = [[4, 4, 4, 4], [2, 6, 4, 8], [2, 4, 2, 6]];

pub(crate) struct Setup {
    pub device: Device,
    pub geometry: Arc<Geometry>,
    pub boundary: BoundaryTime,
    pub lat: Lattice,
    pub links: Gauge,
    pub gauge: Arc<GaugeField>,
}

impl Setup {
    pub fn new(device: &Device, part: [usize; 4], boundary: BoundaryTime) -> Self {
        let mut extents = over_ranks(part);
        // At least one slice lies between the boundaries.
        extents[3] = extents[3].max(4);
        let lat = Lattice::new(extents);
        let links: Gauge = su3::smooth_gauge(lat, 0.4, 7);
        let mut links: Gauge = links.iter().map(su3::reunitarise).collect();
        for (k, u) in links.iter_mut().enumerate() {
            let (t, mu) = (lat.coords(k / 4)[3], k % 4);
            if mu == 3 && t + 1 == extents[3] && boundary.lacks_links() {
                *u = zero();
            }
            if let (Some(phi), 0, 0..3) = (boundary.phi(), t, mu) {
                *u = diagonal(phi, extents[mu]);
            }
        }
        let geometry = common::geometry(extents, device).bounded(boundary).unwrap();
        let gauge = of(device, &geometry, &links);
        Setup { device: device.clone(), geometry, boundary, lat, links, gauge }
    }
    pub fn reference(&self) -> Bounded<'_> {
        Bounded {
            lat: self.lat,
            links: &self.links,
            open_below: self.boundary.phi().is_none(),
            above: self.boundary.phi_prime(),
        }
    }
    fn spinor(&self, precision: Precision, field: &Field) -> SpinorField {
        let mut f =
            SpinorField::new(&self.device, &self.geometry, precision, Subset::Full, 1).unwrap();
        f.load_lex(&field_numbers(field)).unwrap();
        f
    }
    /// A random quark field that vanishes on the slices where boundaries make quarks vanish.
    fn quark(&self, seed: u64) -> Field {
        let mut psi = spinor::random(self.lat, seed);
        for (lex, s) in psi.iter_mut().enumerate() {
            if self.reference().is_boundary(self.lat.coords(lex)[3]) {
                *s = [[C::ZERO; 3]; 4];
            }
        }
        psi
    }
}

pub(crate) fn of(device: &Device, geometry: &Arc<Geometry>, links: &Gauge) -> Arc<GaugeField> {
    let mut gauge = GaugeField::new(device, geometry, Precision::F64, Recon::R18).unwrap();
    gauge.load_lex(&gauge_numbers(links)).unwrap();
    Arc::new(gauge)
}

pub(crate) fn setups() -> Vec<Setup> {
    let mut all = vec![];
    for device in devices() {
        let parts = if device.is_cpu() { &PARTS[..] } else { &PARTS[1..2] };
        for &part in parts {
            for boundary in BOUNDARIES {
                all.push(Setup::new(&device, part, boundary));
            }
        }
    }
    all
}

pub(crate) fn quarks() -> DiracParams {
    let one = C::ONE;
    DiracParams {
        mass: 0.2,
        csw: 1.3,
        csw_t: 1.1,
        cf: 0.9,
        cf_prime: 1.2,
        mu: 0.1,
        hop: [0.9, 0.8, 1.1, 1.0],
        boundary: [one, C::from_polar(1.0, 0.4), -one, one],
        ..Default::default()
    }
}

#[test]
fn observables_count_what_exists() {
    for s in setups() {
        let expected = s.reference();
        let [space, time, all] = expected.plaquettes();
        let volume = s.lat.volume() as f64;
        let n = volume / expected.slices() as f64 * expected.last() as f64;
        for precision in Precision::ALL {
            for recon in Recon::SU3 {
                let u = s.gauge.to(precision, recon).unwrap();
                let p = plaquette(&u).unwrap();
                let what = format!("{} {:?} {precision:?} {recon:?}", s.boundary, s.lat.extents);
                let close = |a: f64, b: f64| {
                    assert!((a - b).abs() < tolerance(precision, 60.0), "{what}: {a} {b}")
                };
                close(p.total, (space + time) / (18.0 * n));
                close(p.spatial, space / (9.0 * n));
                close(p.temporal, time / (9.0 * n));
                close(p.unweighted, all / (18.0 * volume));
                let there = (0..s.links.len()).filter(|&k| !absent(&s, k));
                let count = there.clone().count() as f64;
                let traces = there.map(|k| trace(&s.links[k]).re / 3.0).sum::<f64>();
                close(p.link_trace, traces / count);
            }
        }
        let off = unitarity(&s.gauge).unwrap();
        assert!(off.worst() < 1e-13, "{}: {off:?}", s.boundary);
        let found = time_slices(&s.gauge).unwrap();
        let [clover, charge] = expected.clover_energy_and_charge();
        assert!(distance(&found.plaquette, &expected.plaquette_energy()) < 1e-13);
        assert!(distance(&found.clover, &clover) < 1e-13);
        assert!(distance(&found.charge, &charge) < 1e-12);
        // Eight numbers cannot represent the links that do not exist, so observables must not read them.
        let short = s.gauge.to(Precision::F32, Recon::R8).unwrap();
        let found = time_slices(&short).unwrap();
        assert!(distance(&found.clover, &clover) < 1e-4);
    }
}

fn absent(s: &Setup, link: usize) -> bool {
    let t = s.lat.coords(link / 4)[3];
    link % 4 == 3 && t + 1 == s.lat.extents[3] && s.boundary.lacks_links()
}

#[test]
fn flow_moves_what_is_there() {
    for s in setups() {
        let mut flowed = s.gauge.to(Precision::F64, Recon::R18).unwrap();
        Flow::new(&flowed, FlowKind::Wilson).unwrap().step(&mut flowed, 0.03).unwrap();
        let expected = gauge_numbers(&s.reference().flow_step(0.03));
        let off = distance(&flowed.save_lex().unwrap(), &expected);
        assert!(off < 1e-13, "{} {:?}: {off:e}", s.boundary, s.lat.extents);
    }
}

/// Overrelaxation keeps the action of all links to rounding: its sums of staples hold the plaquettes that exist, with
/// their weights.
#[test]
fn overrelaxation_keeps_the_action_with_its_weights() {
    for s in setups() {
        let cg = [1.1, 0.8];
        let action = Action { beta: 5.5, c1: 0.0, cg };
        for precision in [Precision::F64, Precision::F32] {
            let mut u = s.gauge.to(precision, Recon::R18).unwrap();
            let start = u.save_lex().unwrap();
            overrelax(&mut u, cg).unwrap();
            let found = u.save_lex().unwrap();
            let links: Gauge = gauge_from(&found);
            let value = |links: &Gauge| Bounded { links, ..s.reference() }.action(&action);
            let off = value(&links) / value(&s.links) - 1.0;
            let what = format!("{} {:?} {precision}", s.boundary, s.lat.extents);
            assert!(off.abs() < tolerance(precision, 100.0), "{what}: {off:e}");
            for (k, (a, b)) in found.chunks(18).zip(start.chunks(18)).enumerate() {
                let moves = s.reference().is_active(k / 4, k % 4);
                assert_eq!(a != b, moves, "{what}: link {k}");
            }
            let mut heat = Quenched { weights: cg, ..Quenched::new(5.5, 3).unwrap() };
            heat.run(&mut u, 1).unwrap();
            assert!(unitarity(&u).unwrap().worst() < tolerance(precision, 10.0), "{what}");
            for (k, (a, b)) in u.save_lex().unwrap().chunks(18).zip(&links).enumerate() {
                if !s.reference().is_active(k / 4, k % 4) {
                    let b: Vec<f64> = b.iter().flatten().flat_map(|z| [z.re, z.im]).collect();
                    assert_eq!(a, b, "{what}: link {k}");
                }
            }
        }
    }
}

/// Plaquettes at strong coupling have the mean of a matrix with the weight exp(x Re tr U / 3), x = w beta: u(x) = x /
/// 18 + x^2 / 216 - 5 x^4 / 93312 + ... (Gross, Witten, Phys. Rev. D 21 (1980) 446; Drouffe, Zuber, Phys. Rep. 102
/// (1983) 1).
#[test]
fn heat_bath_weighs_plaquettes_at_the_boundaries() {
    let device = devices().pop().unwrap();
    let mean = |x: f64| x / 18.0 + x * x / 216.0 - 5.0 * x.powi(4) / 93312.0;
    let (beta, cg) = (0.5, [2.0, 0.2]);
    let fixed = BoundaryTime::Sf { phi: [0.0; 3], phi_prime: [0.0; 3] };
    for boundary in [BoundaryTime::Open, fixed] {
        let extents = over_ranks([6, 6, 6, 6]);
        let geometry = common::geometry(extents, &device).bounded(boundary).unwrap();
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_random(4).unwrap();
        let mut heat = Quenched { weights: cg, overrelax: 1, ..Quenched::new(beta, 9).unwrap() };
        let (mut sums, mut count) = (vec![0.0; extents[3]], 0.0);
        for sweep in 0..220 {
            heat.run(&mut u, 1).unwrap();
            if sweep >= 20 {
                let slices = time_slices(&u).unwrap().plaquette;
                sums.iter_mut().zip(slices).for_each(|(sum, e)| *sum += e);
                count += 1.0;
            }
        }
        let planes = 9.0 * extents[..3].iter().product::<usize>() as f64;
        let found: Vec<f64> = sums.iter().map(|sum| sum / (count * planes)).collect();
        let u = |w: f64| 1.0 - mean(w * beta);
        let last = extents[3] - 1;
        let expected: Vec<f64> = (0..extents[3])
            .map(|t| match (boundary.lacks_links(), t) {
                (true, 0) => u(0.5 * cg[0]) + u(1.0),
                (true, t) if t == last => u(0.5 * cg[1]) + u(1.0),
                (false, 0) => u(cg[0]),
                (false, 1) => 2.0 * u(1.0) + u(1.0) + u(cg[0]),
                (false, t) if t == last => 2.0 * u(1.0) + u(1.0) + u(cg[1]),
                _ => 4.0 * u(1.0),
            })
            .collect();
        // A mean of Re tr P / 3 over N plaquettes has the standard deviation 1 / sqrt(18 N); energies add four such
        // means, some of them twice.
        let error = 2.5 / (18.0 * count * planes / 9.0 * 3.0).sqrt();
        for (t, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 4.0 * error + 1e-4, "{boundary} slice {t}: {a} {b} {error}");
        }
    }
}

/// Indices 4 site + direction of some links at the boundaries, next to them and between.
fn some_links(s: &Setup) -> Vec<usize> {
    let l = s.lat.extents;
    let times = [0, 1, l[3] / 2, l[3] - 2, l[3] - 1];
    let all = times.iter().flat_map(|&t| (0..4).map(move |mu| (t, mu)));
    all.map(|(t, mu)| 4 * s.lat.lex([t % l[0], 1, 0, t]) + mu).collect()
}

#[test]
fn gauge_actions_and_forces_are_those_of_the_reference() {
    for s in setups() {
        for c1 in [0.0, -0.2] {
            let action = Action { beta: 5.5, c1, cg: [1.1, 0.8] };
            let at = AtBounds { weights: action.cg, ..Default::default() };
            let coefficients = GaugeCoefficients::improved(5.5, c1).unwrap();
            let (device, p) = (&s.device, Precision::F64);
            let mut force = GaugeForce::bounded(device, &s.geometry, p, coefficients, at).unwrap();
            let with = |links: &Gauge| Bounded { links, ..s.reference() }.action(&action);
            let expected = with(&s.links);
            let found = force.action(&s.gauge).unwrap();
            let what = format!("{} {:?} c1 {c1}", s.boundary, s.lat.extents);
            assert!((found / expected - 1.0).abs() < 1e-13, "{what}: {found} {expected}");
            let mut momenta = Momenta::new(device, &s.geometry, p).unwrap();
            force.kick(&s.gauge, &mut momenta, 0.0, -1.0).unwrap();
            let f = momenta.save_lex().unwrap();
            let mut links = s.links.clone();
            for k in some_links(&s).into_iter().step_by(if c1 == 0.0 { 3 } else { 1 }) {
                if !s.reference().is_active(k / 4, k % 4) {
                    assert!(f[8 * k..][..8].iter().all(|v| *v == 0.0), "{what}: link {k}");
                    continue;
                }
                let a = k % 8;
                let slope = derivative(&mut links, k, a, 1e-3, &|u| with(u));
                assert!((f[8 * k + a] - slope).abs() < 2e-8, "{what} link {k}: {}", slope);
            }
        }
    }
}

#[test]
fn operators_agree_with_the_reference() {
    let params = quarks();
    for s in setups() {
        let psi = s.quark(5);
        let plain = DiracParams { csw: 0.0, csw_t: 0.0, cf: 1.0, cf_prime: 1.0, ..params };
        let exponential = DiracParams { clover: CloverForm::Exponential, ..params };
        for params in [params, plain, exponential] {
            let of: Params = reference_params(&params);
            let expected = s.reference().dirac(&of, [params.cf, params.cf_prime], &psi);
            let expected = spinor::scale(C::new(2.0 * of.kappa(), 0.0), &expected);
            for precision in Precision::ALL {
                for recon in [Recon::R18, Recon::R12, Recon::R8] {
                    let exact = Wilson::new(s.gauge.clone(), params).unwrap();
                    let op = exact.to(precision, recon).unwrap();
                    let x = s.spinor(precision, &psi);
                    let mut y = x.like(precision).unwrap();
                    op.apply(&mut y, &x).unwrap();
                    let off = distance(&y.save_lex().unwrap(), &field_numbers(&expected));
                    let what =
                        format!("{} {:?} {precision:?} {recon:?}", s.boundary, s.lat.extents);
                    assert!(off < 3.0 * tolerance(precision, 40.0), "{what}: {off:e}");
                }
            }
        }
    }
}

/// The even-odd solution solves the full system, for any values of the source on slices where quarks vanish.
#[test]
fn solutions_vanish_where_quarks_do() {
    let params = quarks();
    for s in setups() {
        let op = ActionParams::from(params).create(s.gauge.clone()).unwrap();
        let default = SolverKind::Cgnr;
        let form = Some(Schur { parity: 0, symmetric: true });
        for (form, kind) in [(None, default), (form, default), (form, SolverKind::BlockGcr)] {
            let mut solve = SolveParams { even_odd: form, ..Default::default() };
            (solve.solver.stop.residual, solve.solver.kind) = (1e-11, kind);
            let solver = DiracSolver::new(op.clone(), solve).unwrap();
            let b = spinor::random(s.lat, 9);
            let rhs = s.spinor(Precision::F64, &b);
            let mut x = rhs.like(Precision::F64).unwrap();
            assert!(solver.solve(&mut x, &rhs, &mut no_monitor).unwrap().solver.converged);
            let x: Field = field_from(&x.save_lex().unwrap());
            let of: Params = reference_params(&params);
            let back = s.reference().dirac(&of, [params.cf, params.cf_prime], &x);
            let kappa = C::new(2.0 * of.kappa(), 0.0);
            let back = spinor::scale(kappa, &back);
            let mut inside = b.clone();
            for (lex, v) in inside.iter_mut().enumerate() {
                if s.reference().is_boundary(s.lat.coords(lex)[3]) {
                    assert!(x[lex].iter().flatten().all(|z| *z == C::ZERO));
                    *v = [[C::ZERO; 3]; 4];
                }
            }
            let off = spinor::relative_distance(&back, &inside);
            assert!(off < 1e-9, "{} {form:?} {kind}: {off:e}", s.boundary);
        }
    }
}

/// Operators and forces two slices or more away from the boundaries equal those of periodic links, bit for bit.
#[test]
fn inside_everything_is_as_without_boundaries() {
    let params = DiracParams { cf: 1.0, cf_prime: 1.0, ..quarks() };
    for s in setups() {
        let l = s.lat.extents[3];
        let periodic = common::geometry(s.lat.extents, &s.device);
        let links = of(&s.device, &periodic, &s.links);
        let psi = s.quark(3);
        let mut found = vec![];
        for gauge in [&s.gauge, &links] {
            let op = Wilson::new(gauge.clone(), params).unwrap();
            let x = s.spinor(Precision::F64, &psi);
            let mut y = x.like(Precision::F64).unwrap();
            op.apply(&mut y, &x).unwrap();
            let coefficients = GaugeCoefficients::improved(5.0, -0.1).unwrap();
            let (geometry, p) = (gauge.geometry(), Precision::F64);
            let mut force = GaugeForce::new(&s.device, geometry, p, coefficients).unwrap();
            let mut momenta = Momenta::new(&s.device, geometry, p).unwrap();
            force.kick(gauge, &mut momenta, 0.0, 1.0).unwrap();
            found.push([y.save_lex().unwrap(), momenta.save_lex().unwrap()]);
        }
        for (bounded, without) in found[0].iter().zip(&found[1]) {
            let slice = bounded.len() / l;
            for t in 2..l.saturating_sub(3).max(2) {
                let range = slice * t..slice * (t + 1);
                assert_eq!(bounded[range.clone()], without[range], "{} slice {t}", s.boundary);
            }
        }
    }
}

#[test]
fn fermion_forces_are_derivatives_at_the_boundaries() {
    let device = devices().pop().unwrap();
    let forms = [CloverForm::Traditional, CloverForm::Exponential];
    for (boundary, clover) in BOUNDARIES.into_iter().flat_map(|b| forms.map(|form| (b, form))) {
        let s = Setup::new(&device, [4, 4, 2, 6], boundary);
        let params = TwoFlavoursParams {
            operator: DiracParams { mu: 0.0, clover, ..quarks() }.into(),
            preconditioner: None,
            schur: Schur { parity: 1, symmetric: false },
            inverter: Inverter {
                tolerance_force: 1e-13,
                tolerance_hamiltonian: 1e-13,
                max_iterations: 3000,
                sloppy: Some((Precision::F64, Recon::R12)),
                guesses: 0,
                multigrid: None,
                site: 0.0,
                sums_force: None,
                sums_hamiltonian: None,
            },
        };
        let mut two = TwoFlavours::new("two", params).unwrap();
        if boundary.lacks_links() || clover == CloverForm::Exponential {
            two = two.with_smearing(Stout::new(0.1, 2).unwrap());
        }
        two.refresh(&s.gauge, Stream { seed: 4, trajectory: 0 }).unwrap();
        let mut momenta = Momenta::new(&device, &s.geometry, Precision::F64).unwrap();
        two.kick(&s.gauge, &mut momenta, -1.0).unwrap();
        let f = momenta.save_lex().unwrap();
        let links = some_links(&s);
        for &k in links.iter().filter(|&&k| !s.reference().is_active(k / 4, k % 4)) {
            assert!(f[8 * k..][..8].iter().all(|v| *v == 0.0), "{boundary}: link {k}");
        }
        // Only a few links are tested, as each value of the action needs solves.
        let times = |k: &usize| [0, 1, s.lat.extents[3] - 1].contains(&s.lat.coords(k / 4)[3]);
        let active = links.into_iter().filter(|&k| s.reference().is_active(k / 4, k % 4));
        for k in active.filter(times).step_by(2) {
            let a = (k / 4 + k) % 8;
            let slope = common::derivative(
                |e| {
                    let mut at = s.links.clone();
                    let h: Vec<f64> = (0..8).map(|b| if a == b { e } else { 0.0 }).collect();
                    at[k] = moved(&s.links[k], &h);
                    two.action(&of(&device, &s.geometry, &at)).unwrap()
                },
                2e-3,
            );
            let found = f[8 * k + a];
            assert!((found - slope).abs() < 1e-6, "{boundary}: link {k}: {found} {slope}");
        }
    }
}

/// Stout smearing of chains equals smearing by steps along the force of plaquettes, and leaves fixed links unchanged.
#[test]
fn stout_links_of_both_ways_agree() {
    for s in setups() {
        let smearing = Smearing::Stout { rho: 0.1, directions: 15 };
        let found = Stout::new(0.1, 2).unwrap().smear(&s.gauge).unwrap().save_lex().unwrap();
        let expected = smear_links(&s.gauge, smearing, 2).unwrap().save_lex().unwrap();
        let what = format!("{} {:?}", s.boundary, s.lat.extents);
        assert!(distance(&found, &expected) < 1e-13, "{what}");
        let start = gauge_numbers(&s.links);
        for (k, (a, b)) in found.chunks(18).zip(start.chunks(18)).enumerate() {
            assert_eq!(a != b, s.reference().is_active(k / 4, k % 4), "{what}: link {k}");
        }
    }
}

fn chain_of(gauge: &GaugeField, steps: usize) -> Hmc {
    let text = format!(
        "length = 0.5\nseed = 3\nreversibility_every = 1\n\
         [[monomial]]\nname = \"gluons\"\ntype = \"gauge\"\naction = \"symanzik\"\nbeta = 5.0\ncg = 1.1\n\
         [[monomial]]\nname = \"quarks\"\ntype = \"two_flavours\"\n\
         operator = {{ mass = 0.3, csw = 1.2, cf = 0.9, boundary = [0.2, 0, 0, 0] }}\n\
         [[level]]\nintegrator = \"omelyan2\"\nsteps = {steps}\nmonomials = [\"gluons\", \"quarks\"]\n"
    );
    hmc_from_toml(gauge.device(), gauge.geometry(), gauge.precision(), &text).unwrap()
}

/// Trajectories are reversible and of second order; fixed links stay as they are, bit for bit.
#[test]
fn chains_leave_boundaries_alone() {
    let device = devices().pop().unwrap();
    for boundary in BOUNDARIES {
        let s = Setup::new(&device, [4, 4, 2, 6], boundary);
        let mut errors = vec![];
        for steps in [6, 12] {
            let mut gauge = s.gauge.to(Precision::F64, Recon::R18).unwrap();
            let mut chain = chain_of(&gauge, steps);
            let report = chain.run(&mut gauge).unwrap();
            let back = [report.reversibility_links, report.reversibility_hamiltonian];
            let [links, hamiltonian] = back.map(|off| off.expect("every trajectory"));
            assert!(hamiltonian < 1e-7 && links < 1e-9, "{boundary}: {back:?}");
            errors.push(report.delta_h);
            let after: Gauge = gauge_from(&gauge.save_lex().unwrap());
            for (k, (new, old)) in after.iter().zip(&s.links).enumerate() {
                let moves = s.reference().is_active(k / 4, k % 4);
                assert_eq!(moves, new != old, "{boundary}: link {k}");
                if moves {
                    let off = sub(&mul(new, &dag(new)), &diagonal([0.0; 3], 1));
                    assert!(off.iter().flatten().all(|z| z.norm() < 1e-12));
                }
            }
        }
        let ratio = errors[0] / errors[1];
        assert!((3.0..5.5).contains(&ratio), "{boundary}: {errors:?}");
    }
}

#[test]
fn noise_vanishes_where_quarks_do() {
    for s in setups() {
        let mut eta = s.spinor(Precision::F32, &s.quark(1));
        eta.set_noise(Noise::Normal, 3, 0).unwrap();
        let eta: Field = field_from(&eta.save_lex().unwrap());
        for (lex, v) in eta.iter().enumerate() {
            let zero = v.iter().flatten().all(|z| *z == C::ZERO);
            assert_eq!(zero, s.reference().is_boundary(s.lat.coords(lex)[3]));
        }
        let mut p = Momenta::new(&s.device, &s.geometry, Precision::F64).unwrap();
        p.set_gaussian(1, 2).unwrap();
        let p = p.save_lex().unwrap();
        for (k, p) in p.chunks(8).enumerate() {
            assert_eq!(p.iter().any(|v| *v != 0.0), s.reference().is_active(k / 4, k % 4));
        }
    }
}

pub(crate) fn status<T: std::fmt::Debug>(r: plaq::error::Result<T>) -> (Status, String) {
    let e = r.unwrap_err();
    (e.status, e.message())
}

#[test]
fn files_say_what_their_boundaries_are() {
    let folder = Folder::new("boundaries");
    for device in devices() {
        for boundary in BOUNDARIES {
            let s = Setup::new(&device, [4, 4, 4, 8], boundary);
            // A reader tells openQCD's order of links from another one by the plaquettes that it gives, here of
            // gauge-transformed links.
            let mut g = su3::random_transformation(s.lat, 3);
            g.iter_mut().take(s.lat.volume() / s.lat.extents[3]).for_each(|g| *g = one());
            let links = su3::transform(s.lat, &s.links, &g);
            let gauge = of(&device, &s.geometry, &links);
            for format in [FileFormat::OpenQcd, FileFormat::Nersc3x3, FileFormat::Ildg] {
                let path = folder.0.join(format!("{}-{format:?}", boundary.kind()));
                save_gauge(&path, &gauge, format, &WriteOptions::default()).unwrap();
                let read = |boundary_time| {
                    let options = LoadOptions { boundary_time, ..Default::default() };
                    let (p, recon) = (Precision::F64, Recon::R12);
                    load_gauge(&device, &ranks(), &path, p, recon, &options)
                };
                let stated = read(Some(boundary)).unwrap();
                assert_eq!(stated.gauge.geometry().boundary(), boundary);
                let off = distance(&stated.gauge.save_lex().unwrap(), &gauge_numbers(&links));
                assert!(off < 1e-13, "{boundary} {format:?}: {off:e}");
                let unstated = read(None);
                match (boundary, format) {
                    (BoundaryTime::Open, FileFormat::OpenQcd) => {
                        let found = unstated.unwrap().gauge.geometry().boundary();
                        assert_eq!(found, BoundaryTime::Open);
                    }
                    (_, FileFormat::OpenQcd) => {
                        let (status, text) = status(unstated);
                        assert_eq!(status, Status::FilePlaquette, "{text}");
                        assert!(text.contains("phi_prime"), "{text}");
                    }
                    // Headers of the other formats state the boundary.
                    _ => assert_eq!(unstated.unwrap().gauge.geometry().boundary(), boundary),
                }
                if format != FileFormat::OpenQcd {
                    // Files of other programs may have the word alone, or nothing.
                    let with = |record: &str| {
                        let options = WriteOptions {
                            boundary_time: Some(record.into()),
                            ..Default::default()
                        };
                        save_gauge(&path, &gauge, format, &options).unwrap();
                        read(None)
                    };
                    match boundary {
                        BoundaryTime::Open => {
                            assert_eq!(with("Open").unwrap().gauge.geometry().boundary(), boundary);
                            let (status, text) = status(with("periodic"));
                            assert_eq!(status, Status::NotUnitary, "{text}");
                            assert!(text.contains("boundary_time open"), "{text}");
                        }
                        _ => {
                            let (status, text) = status(with(boundary.kind().word()));
                            assert_eq!(status, Status::BadParameter, "{text}");
                            assert!(text.contains("phi_prime to be given"), "{text}");
                            assert_eq!(
                                read(Some(boundary)).unwrap().gauge.geometry().boundary(),
                                boundary
                            );
                        }
                    }
                    save_gauge(&path, &gauge, format, &WriteOptions::default()).unwrap();
                }
                // Stated boundaries that contradict the links are refused.
                let other = match boundary {
                    BoundaryTime::Open => BoundaryTime::Periodic,
                    _ => BoundaryTime::Open,
                };
                let (status, text) = status(read(Some(other)));
                assert_eq!(status, Status::BadParameter, "{text}");
                if boundary.phi().is_some() {
                    let turned = BoundaryTime::Sf { phi: PHI_PRIME, phi_prime: PHI_PRIME };
                    let (status, text) = self::status(read(Some(turned)));
                    assert_eq!(status, Status::BadParameter, "{text}");
                    assert!(text.contains("phi"), "{text}");
                }
            }
        }
    }
}

#[test]
fn what_boundaries_exclude_is_refused() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [4, 4, 4, 6], BoundaryTime::Open);
    let small = common::geometry(over_ranks([4, 4, 4, 2]), &device);
    if small.global_extents()[3] < 4 {
        assert_eq!(status(small.bounded(BoundaryTime::Open)).0, Status::BadExtents);
    }
    let params = |kind, phi, phi_prime| BoundaryParams { boundary_time: kind, phi, phi_prime };
    let unset = [f64::NAN; 3];
    for (bad, name) in [
        (params(Some(BoundaryKind::Sf), unset, PHI_PRIME), "phi:"),
        (params(Some(BoundaryKind::Sf), PHI, [1.0, 0.0, 0.0]), "phi_prime:"),
        (params(Some(BoundaryKind::OpenSf), PHI, PHI_PRIME), "phi:"),
        (params(None, unset, PHI_PRIME), "phi_prime:"),
    ] {
        let (status, text) = status(bad.boundary(""));
        assert_eq!(status, Status::BadParameter);
        assert!(text.starts_with(name), "{text}");
    }
    // Boundary coefficients are refused for periodic links.
    let periodic = common::geometry(s.lat.extents, &device);
    let links = of(&device, &periodic, &s.links);
    let wrong = Wilson::new(links, DiracParams { cf: 0.9, ..Default::default() });
    assert_eq!(status(wrong.map(|_| ())).0, Status::BadParameter);
    let at = AtBounds { weights: [0.9; 2], ..Default::default() };
    let c = GaugeCoefficients::wilson(6.0).unwrap();
    let wrong = GaugeForce::bounded(&device, &periodic, Precision::F64, c, at);
    assert_eq!(status(wrong).0, Status::BadParameter);
    // A boundary phase in time is refused.
    let turned = DiracParams { boundary: [C::ONE, C::ONE, C::ONE, C::I], ..Default::default() };
    assert_eq!(status(Wilson::new(s.gauge.clone(), turned).map(|_| ())).0, Status::BadParameter);
    let flow = Flow::new(&s.gauge, FlowKind::Zeuthen);
    assert_eq!(status(flow.map(|_| ())).0, Status::Unsupported);
}

/// A phase in time where quarks vanish, and links that contradict the boundaries, are refused before anything runs,
/// with a message that names both sides.
#[test]
fn what_does_not_fit_boundaries_is_refused_with_both_sides() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Open);
    let chain = |boundary: &str| {
        let text = format!(
            "[[monomial]]\nname = \"quarks\"\ntype = \"two_flavours\"\noperator = {{ kappa = 0.12, boundary = {boundary} }}\n\
             [[level]]\nintegrator = \"omelyan2\"\nsteps = 1\nmonomials = [\"quarks\"]\n"
        );
        hmc_from_toml(&device, &s.geometry, Precision::F64, &text).map(|_| ())
    };
    chain("[0, 0, 0.3, 1]").unwrap();
    let refused = chain("[0, 0, 0, 0.5]").unwrap_err();
    assert_eq!(refused.status, Status::BadParameter);
    let text = refused.to_string();
    assert!(text.contains("quarks") && text.contains("boundary[3]"), "{text}");

    let load = |boundary: BoundaryTime, links: &Gauge| {
        let geometry = common::geometry(s.lat.extents, &device).bounded(boundary).unwrap();
        let form = (Precision::F64, Recon::R18);
        let options = LinkOptions::checked(Precision::F64);
        links_from_lex(&device, &geometry, form, &gauge_numbers(links), options).map(|_| ())
    };
    load(BoundaryTime::Open, &s.links).unwrap();
    let refused = load(BoundaryTime::Periodic, &s.links).unwrap_err().to_string();
    assert!(refused.contains("are zero, boundary_time is open"), "{refused}");
    let periodic = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Periodic);
    let refused = load(BoundaryTime::Open, &periodic.links).unwrap_err().to_string();
    assert!(refused.contains("with boundary_time open"), "{refused}");

    let sf = |angle: f64| BoundaryTime::Sf { phi: PHI, phi_prime: [angle, -angle, 0.0] };
    let [one, other] = [0.1, 0.2].map(|angle| Setup::new(&device, [4, 4, 4, 4], sf(angle)));
    let op = Wilson::new(one.gauge.clone(), quarks()).unwrap().with_own_links().unwrap();
    let refused = op.update(&other.gauge).unwrap_err();
    assert_eq!(refused.status, Status::FieldMismatch);
    let text = refused.to_string();
    assert!(text.contains("[0.1, -0.1, 0.0]") && text.contains("[0.2, -0.2, 0.0]"), "{text}");
}

/// All eigenvectors of a small operator with open boundaries are found: the dimension is the number of components
/// that do not vanish.
#[test]
fn all_eigenvalues_of_a_small_open_operator_are_found() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [2, 2, 2, 4], BoundaryTime::Open);
    let op = Arc::new(Wilson::new(s.gauge.clone(), quarks()).unwrap());
    let normal = Normal::mdag_m(op);
    let inside = s.lat.volume() * 12 / 2;
    assert_eq!(normal.shape().numbers() as usize, inside);
    for count in [8, 3 * inside / 4] {
        let params = EigenParams { count, tol: 1e-9, ..Default::default() };
        let (found, report) = eigen_set(&normal, None, &params, None, &mut no_monitor).unwrap();
        assert!(report.converged && found.count() == count);
        assert!(report.values.iter().all(|v| *v > 1e-6), "{:?}", report.values);
    }
}

/// The largest site of a residual is a goal of several shifts, and of chains.
#[test]
fn shifts_and_chains_meet_the_largest_site() {
    let device = devices().pop().unwrap();
    for boundary in [BoundaryTime::Periodic, BoundaryTime::Open] {
        let s = Setup::new(&device, [4, 4, 4, 6], boundary);
        let params = match boundary.is_periodic() {
            true => DiracParams { cf: 1.0, cf_prime: 1.0, ..quarks() },
            false => quarks(),
        };
        let op: Arc<dyn QuarkAction> = Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
        let schur = Schur { parity: 0, symmetric: false };
        let complement = op.clone().schur(schur).unwrap();
        let mut solve = SolveParams {
            solution: Solution::MatPcDagMatPc,
            even_odd: Some(schur),
            ..Default::default()
        };
        solve.solver.kind = SolverKind::Cg;
        let site = 1e-7;
        (solve.solver.stop.residual, solve.solver.stop.site) = (1e-4, site);
        let solver = DiracSolver::new(op.clone(), solve).unwrap();
        // The source is on one site, while its residual is spread over all others.
        let mut b = op.subset_shape(Subset::Even).field(1).unwrap();
        let mut point = vec![[[C::ZERO; 3]; 4]; s.lat.volume()];
        point[s.lat.lex([0, 0, 0, 2])][1][2] = C::ONE;
        b.load_lex(&field_numbers(&point)).unwrap();
        let mut x = b.like(Precision::F64).unwrap();
        let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
        assert!(report.converged && report.residual_site[0] <= site, "{report:?}");
        let shifts = [0.0, 0.3].map(|sigma| Shift { sigma, tol: 1e-4, heavy_quark: 0.0 });
        let mut xs = vec![b.like(Precision::F64).unwrap(), b.like(Precision::F64).unwrap()];
        let (report, _) = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged && report.solver.residual_site[0] <= site);
        for (shift, x) in shifts.iter().zip(&xs) {
            let (mut t, mut r) = (b.like(Precision::F64).unwrap(), b.like(Precision::F64).unwrap());
            complement.apply(&mut t, x).unwrap();
            complement.apply_dagger(&mut r, &t).unwrap();
            blas::axpy(&[C::new(shift.sigma, 0.0)], x, &mut r).unwrap();
            blas::axpby(&[C::ONE], &b, &[-C::ONE], &mut r).unwrap();
            let most = blas::largest_site(&r).unwrap()[0] / blas::largest_site(&b).unwrap()[0];
            assert!(most <= 1.001 * site, "{boundary} {shift:?}: {most:e}");
        }
    }
    let text = "[[monomial]]\nname = \"quarks\"\ntype = \"two_flavours\"\noperator = { kappa = 0.12 }\nsolver = { tol_site = 0.1 }\n\
                [[level]]\nintegrator = \"omelyan2\"\nsteps = 1\nmonomials = [\"quarks\"]\n";
    let s = Setup::new(&device, [4, 4, 4, 4], BoundaryTime::Open);
    let mut links = s.gauge.to(Precision::F64, Recon::R18).unwrap();
    let mut chain = hmc_from_toml(&device, &s.geometry, Precision::F64, text).unwrap();
    assert!(chain.run(&mut links).unwrap().delta_h.is_finite());
}
