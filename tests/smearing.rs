//! Tests of smeared links against the reference, of gauge covariance, and of operators whose links change.

use crate::{common, reference};
use std::collections::HashMap;
use std::sync::Arc;

use crate::boundaries::Setup;
use common::{devices, distance, extents_on, over_ranks, shared, tolerance, Lex};
use plaq::backend::Device;
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{
    BoundaryTime, GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset,
};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::flow::{Flow, FlowKind};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::link_smearing::{smear_links, Smearing};
use plaq::solvers::no_monitor;
use reference::matrix::Matrix;
use reference::numbers::{gauge_from, gauge_numbers};
use reference::smearing::{self as slow, Rule};
use reference::{su3, Gauge, Lattice};

/// The reference's links, which the ranks compute together.
fn smeared(lat: Lattice, links: &Gauge, smearing: Smearing) -> Gauge {
    let (rule, directions) = match smearing {
        Smearing::Ape { alpha, directions } => (Rule::Ape { alpha }, directions),
        Smearing::Stout { rho, directions } => (Rule::Stout { rho, epsilon: 1.0 }, directions),
        Smearing::OverImproved { rho, epsilon, directions } => {
            (Rule::Stout { rho, epsilon }, directions)
        }
        Smearing::Hyp { alpha, directions } => (Rule::Hyp { alpha }, directions),
    };
    let together = |n: usize, link: &dyn Fn(usize) -> Matrix<3>| -> Gauge {
        gauge_from(&shared(n, 18, |i| gauge_numbers(&vec![link(i)])))
    };
    slow::smeared(lat, links, rule, directions, &together)
}

fn kinds() -> Vec<Smearing> {
    vec![
        Smearing::Ape { alpha: 0.6, directions: 7 },
        Smearing::Ape { alpha: 0.5, directions: 15 },
        Smearing::Stout { rho: 0.11, directions: 15 },
        Smearing::Stout { rho: 0.15, directions: 7 },
        Smearing::Hyp { alpha: [0.75, 0.6, 0.3], directions: 15 },
        Smearing::Hyp { alpha: [f64::NAN, 0.6, 0.3], directions: 7 },
        Smearing::Hyp { alpha: [f64::NAN, 0.5, 0.4], directions: 13 },
        Smearing::OverImproved { rho: 0.06, epsilon: -0.25, directions: 15 },
        Smearing::OverImproved { rho: 0.08, epsilon: 0.3, directions: 11 },
    ]
}

#[test]
fn smeared_links_equal_the_reference() {
    // Results of the reference, kept for all devices.
    let mut known = HashMap::new();
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks).take(3) {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let links: Gauge =
                su3::smooth_gauge(lat, 0.5, 7).iter().map(su3::reunitarise).collect();
            let mut gauge =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            gauge.load_lex(&gauge_numbers(&links)).unwrap();
            for (i, kind) in kinds().into_iter().enumerate() {
                let want = known
                    .entry((extents, i))
                    .or_insert_with(|| gauge_numbers(&smeared(lat, &links, kind)));
                for (precision, recon) in
                    [(Precision::F64, Recon::R18), (Precision::F32, Recon::R12)]
                {
                    let inp = gauge.to(precision, recon).unwrap();
                    let out = smear_links(&inp, kind, 1).unwrap();
                    assert_eq!((out.precision(), out.recon()), (precision, recon));
                    let found = distance(&out.save_lex().unwrap(), want);
                    // Rounding of sums of some staples, then of some ten steps of Newton's iteration.
                    let bound = tolerance(precision, 100.0);
                    assert!(found < bound, "{kind:?} {precision:?} {extents:?}: {found:e}");
                }
            }
            // Two steps of smearing equal two calls with one step each.
            let kind = Smearing::Stout { rho: 0.1, directions: 15 };
            let once = smear_links(&gauge, kind, 1).unwrap();
            let twice = smear_links(&once, kind, 1).unwrap().save_lex().unwrap();
            assert_eq!(smear_links(&gauge, kind, 2).unwrap().save_lex().unwrap(), twice);
        }
    }
}

#[test]
fn smearing_is_covariant() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 6]);
        let geometry = common::geometry(extents, &device);
        let lat = Lattice::new(extents);
        let links: Gauge = su3::smooth_gauge(lat, 0.5, 7).iter().map(su3::reunitarise).collect();
        let g = su3::random_transformation::<3>(lat, 5);
        let load = |u: &Gauge| {
            let mut gauge =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            gauge.load_lex(&gauge_numbers(u)).unwrap();
            gauge
        };
        let (plain, turned) = (load(&links), load(&su3::transform(lat, &links, &g)));
        for kind in kinds() {
            let after = smear_links(&plain, kind, 2).unwrap().save_lex().unwrap();
            let after = reference::numbers::gauge_from::<3>(&after);
            let want = gauge_numbers(&su3::transform(lat, &after, &g));
            let found = smear_links(&turned, kind, 2).unwrap().save_lex().unwrap();
            assert!(distance(&found, &want) < 1e-13, "{kind:?}");
        }
        for bad in [
            Smearing::Ape { alpha: 1.5, directions: 15 },
            Smearing::Stout { rho: f64::NAN, directions: 15 },
            Smearing::Hyp { alpha: [f64::NAN, 0.6, 0.3], directions: 15 },
            Smearing::OverImproved { rho: 0.1, epsilon: f64::NAN, directions: 15 },
        ] {
            assert_eq!(smear_links(&plain, bad, 1).unwrap_err().status, Status::BadParameter);
        }
        for bad in [
            Smearing::Stout { rho: 0.1, directions: 1 },
            Smearing::Hyp { alpha: [0.5; 3], directions: 3 },
        ] {
            assert_eq!(smear_links(&plain, bad, 1).unwrap_err().status, Status::InvalidArgument);
        }
    }
}

/// An operator with changed links equals one made with the new links, and so does its copy in lower precision;
/// nothing is allocated.
#[test]
fn an_operator_takes_new_links() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 8]);
        let geometry = common::geometry(extents, &device);
        let random = |seed| {
            let mut gauge =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            gauge.set_near_unit(seed, 0.2).unwrap();
            gauge
        };
        let params = DiracParams { csw: 1.2, csw_t: 1.1, mu: 0.1, ..Default::default() };
        for params in [params, DiracParams { csw: 0.0, csw_t: 0.0, mu: 0.0, ..params }] {
            let params = params.with_kappa(0.12);
            for recon in [Recon::R18, Recon::R12, Recon::R8] {
                let make = |gauge: &GaugeField| {
                    let own = Arc::new(gauge.to(Precision::F64, Recon::R18).unwrap());
                    let op = Wilson::new(own, params).unwrap();
                    Arc::new(op.to(Precision::F64, recon).unwrap())
                };
                let (old, new) = (random(1), random(2));
                let (op, want) = (make(&old), make(&new));
                let ask = || SolveParams {
                    sloppy: Some((Precision::F16, Recon::R12)),
                    ..Default::default()
                };
                let solver = DiracSolver::new(op.clone(), ask()).unwrap();
                let fresh = DiracSolver::new(want.clone(), ask()).unwrap();
                let form = (Precision::F64, Subset::Full);
                let field = || SpinorField::new(&device, &geometry, form.0, form.1, 1).unwrap();
                let (mut b, mut x, mut y) = (field(), field(), field());
                b.set_noise(Noise::Normal, 3, 0).unwrap();
                let before = device.used().0;
                op.update(&new).unwrap();
                assert_eq!(device.used().0, before);
                op.apply(&mut x, &b).unwrap();
                want.apply(&mut y, &b).unwrap();
                let same = distance(&x.save_lex().unwrap(), &y.save_lex().unwrap());
                assert!(same <= 1e-15, "{recon:?}: {same:e}");
                let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                let s = fresh.solve(&mut y, &b, &mut no_monitor).unwrap().solver;
                assert!(r.converged && r.iterations == s.iterations, "{recon:?} {r:?} {s:?}");
                // The field that the operator's links were converted from still has the old links.
                assert_eq!(old.save_lex().unwrap(), random(1).save_lex().unwrap());
            }
        }
    }
}

/// Smearing, flow and trajectories on lattices whose pieces have odd extents agree with one lane.
#[test]
fn pieces_of_odd_extents_are_smeared() {
    const CHAIN: &str = r#"
length = 0.2
[[monomial]]
name = "gauge"
type = "gauge"
action = "iwasaki"
beta = 2.6
[[monomial]]
name = "light"
type = "two_flavours"
operator = { kappa = 0.12, csw = 1.0 }
smearing = { rho = 0.1, levels = 1 }
[[level]]
integrator = "leapfrog"
steps = 2
monomials = ["light", "gauge"]
"#;
    let kinds = [
        Smearing::Ape { alpha: 0.5, directions: 15 },
        Smearing::Stout { rho: 0.1, directions: 15 },
        Smearing::Hyp { alpha: [0.75, 0.6, 0.3], directions: 15 },
        Smearing::OverImproved { rho: 0.06, epsilon: -0.25, directions: 15 },
    ];
    for device in devices().into_iter().filter(Device::is_cpu) {
        for extents in [[6, 6, 6, 6], [6, 6, 4, 4], [4, 4, 6, 6], [2, 6, 10, 6]] {
            let run = |geometry: &Arc<Geometry>| {
                let mut u = GaugeField::new(&device, geometry, Precision::F64, Recon::R18).unwrap();
                u.set_near_unit(3, 0.4).unwrap();
                let mut all: Vec<_> = kinds
                    .iter()
                    .map(|kind| smear_links(&u, *kind, 2).unwrap().save_lex().unwrap())
                    .collect();
                for kind in [FlowKind::Wilson, FlowKind::Symanzik, FlowKind::Zeuthen] {
                    let mut v = u.to(Precision::F64, Recon::R18).unwrap();
                    Flow::new(&v, kind).unwrap().step(&mut v, 0.02).unwrap();
                    all.push(v.save_lex().unwrap());
                }
                let mut chain = hmc_from_toml(&device, geometry, Precision::F64, CHAIN).unwrap();
                let report = chain.run(&mut u).unwrap();
                assert!(report.accepted, "{report:?}");
                all.push(u.save_lex().unwrap());
                all
            };
            let found = run(&Geometry::new(extents, &device).unwrap());
            let plain = run(&Geometry::with_lanes(extents, 1).unwrap());
            for (k, (found, plain)) in found.iter().zip(&plain).enumerate() {
                let off = distance(found, plain);
                assert!(off < 1e-10, "{extents:?}, number {k}: {off:e}");
            }
        }
    }
}

/// On links with boundaries in time staples are those of links that exist, fixed links stay bit for bit, and
/// kinds with links of time that are not defined there are refused by name. A link that does not exist is zero in the
/// reference, too, so that no path passes it.
#[test]
fn boundaries_in_time_are_kept() {
    let device = devices().pop().unwrap();
    let phi = [-0.7, 0.15, 0.55];
    for boundary in [
        BoundaryTime::Open,
        BoundaryTime::Sf { phi, phi_prime: [-2.1, 0.8, 1.3] },
        BoundaryTime::OpenSf { phi_prime: phi },
    ] {
        let s = Setup::new(&device, [4, 4, 2, 4], boundary);
        for kind in kinds() {
            let mask = match kind {
                Smearing::Ape { directions, .. }
                | Smearing::Stout { directions, .. }
                | Smearing::Hyp { directions, .. }
                | Smearing::OverImproved { directions, .. } => directions,
            };
            let what = format!("{boundary} {kind:?}");
            let out = smear_links(&s.gauge, kind, 1);
            let along_time = mask & 8 != 0;
            let defined = match kind {
                Smearing::Stout { .. } => true,
                Smearing::OverImproved { .. } => !along_time || boundary.lacks_links(),
                _ => !along_time,
            };
            if !defined {
                let refused = out.unwrap_err();
                assert_eq!(refused.status, Status::Unsupported, "{what}");
                let text = refused.to_string();
                assert!(text.contains(&boundary.to_string()), "{what}: {text}");
                continue;
            }
            let out = out.unwrap().save_lex().unwrap();
            // Stout links at fixed slices are compared in tests/boundaries.rs.
            if !along_time || boundary.lacks_links() {
                let mut expected = smeared(s.lat, &s.links, kind);
                for (k, u) in expected.iter_mut().enumerate() {
                    if boundary.phi().is_some() && k % 4 < 3 && s.lat.coords(k / 4)[3] == 0 {
                        *u = s.links[k];
                    }
                }
                let off = distance(&out, &gauge_numbers(&expected));
                assert!(off < 1e-13, "{what}: {off:e}");
            }
            let start = gauge_numbers(&s.links);
            for (k, (a, b)) in out.chunks(18).zip(start.chunks(18)).enumerate() {
                if !s.reference().is_active(k / 4, k % 4) {
                    assert_eq!(a, b, "{what}: link {k}");
                }
            }
        }
    }
}
