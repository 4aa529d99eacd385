//! Sources, propagators and hadron correlators against the reference and their symmetries.

use crate::{common, reference};
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{devices, largest, lattices, tolerance, Lex};
use plaq::backend::Device;
use plaq::compose::{DiracSolver, Equations, Normalisation, SolveParams};
use plaq::error::Status;
use plaq::fields::{blas, BoundaryKind, GaugeField, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{Boundary, DiracParams, Wilson};
use plaq::ops::correlators::{correlators, effective_mass, outward_mass, EffectiveMass};
use plaq::ops::propagator::{propagator, COLUMNS};
use plaq::ops::source::{Source, SourceSites};
use plaq::solvers::{no_monitor, Progress, SolverKind, SolverParams, Stop};
use reference::correlators::{nucleon, pion, rho, Propagator};
use reference::numbers::{field_numbers, gauge_numbers};
use reference::{spinor, su3, Gauge, Lattice, C};

fn field(device: &Device, extents: [usize; 4], precision: Precision) -> SpinorField {
    let geometry = common::geometry(extents, device);
    SpinorField::new(device, &geometry, precision, Subset::Full, COLUMNS).unwrap()
}

#[test]
fn correlators_of_random_columns_agree_with_the_reference() {
    for extents in lattices() {
        let lat = Lattice::new(extents);
        let s: Propagator = (0..12).map(|i| spinor::random(lat, 100 + i)).collect();
        let numbers: Vec<f64> = s.iter().flat_map(field_numbers).collect();
        let mesons = [pion(lat, &s), rho(lat, &s, 0), rho(lat, &s, 1), rho(lat, &s, 2)];
        let baryon = nucleon(lat, &s);
        // Bounds for the products of two and of three columns on a time slice.
        let mut norms = vec![[0.0; 2]; extents[3]];
        for x in 0..lat.volume() {
            let n2: f64 = s.iter().flat_map(|c| c[x].iter().flatten()).map(|z| z.norm_sqr()).sum();
            norms[lat.coords(x)[3]][0] += n2;
            norms[lat.coords(x)[3]][1] += n2.powf(1.5);
        }
        for device in devices() {
            for precision in Precision::ALL {
                let mut f = field(&device, extents, precision);
                f.load_lex(&numbers).unwrap();
                for start in [0, extents[3] - 1] {
                    let found = correlators(&f, [0, 0, 0, start], Boundary::ANTIPERIODIC).unwrap();
                    for t in 0..extents[3] {
                        let at = (start + t) % extents[3];
                        let bound = tolerance(precision, 30.0);
                        let near = |a: f64, b: f64, power: usize| {
                            let off = (a - b).abs() / norms[at][power];
                            assert!(off < bound, "{extents:?} {precision:?} t={t}: {off:e}");
                        };
                        near(found.pion[t], mesons[0][at], 0);
                        for i in 0..3 {
                            near(found.rho[i][t], mesons[1 + i][at], 0);
                        }
                        // Over the antiperiodic boundary all three quarks change their sign.
                        let sign = if start + t < extents[3] { 1.0 } else { -1.0 };
                        near(found.nucleon[t].re, sign * baryon[at].re, 1);
                        near(found.nucleon[t].im, sign * baryon[at].im, 1);
                    }
                }
            }
        }
    }
}

#[test]
fn sources_are_exact() {
    for extents in lattices() {
        let lat = Lattice::new(extents);
        for device in devices() {
            for precision in Precision::ALL {
                let mut f = field(&device, extents, precision);
                let x = [1, 3, 2, 1];
                for source in [Source::point(x), Source::wall(1)] {
                    source.set(&mut f).unwrap();
                    let expect = (0..12).flat_map(|column| {
                        let mut b = spinor::zero(lat);
                        for (lex, site) in b.iter_mut().enumerate() {
                            let y = lat.coords(lex);
                            let here = match source.place {
                                SourceSites::Point => y == x,
                                _ => y[3] == 1,
                            };
                            site[column / 3][column % 3] = C::new(here as i32 as f64, 0.0);
                        }
                        field_numbers(&b)
                    });
                    let expect: Vec<f64> = expect.collect();
                    // Fixed point keeps the largest number to half a unit, and zeros exactly.
                    let bound = if precision == Precision::F16 { precision.epsilon() } else { 0.0 };
                    let found = f.save_lex().unwrap();
                    let off = found
                        .iter()
                        .zip(&expect)
                        .map(|(a, b)| (a - b).abs() / b.max(f64::MIN_POSITIVE));
                    assert!(largest(off) <= bound, "{extents:?} {precision:?}");
                }
            }
        }
    }
}

#[test]
fn refusals_name_the_argument() {
    let device = devices().remove(0);
    let mut f = field(&device, [4; 4], Precision::F32);
    let e = Source::point([0, 0, 4, 0]).set(&mut f).unwrap_err();
    assert!(e.status == Status::InvalidArgument && e.message().contains("[0, 0, 4, 0]"), "{e}");
    assert_eq!(Source::wall(4).set(&mut f).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(
        correlators(&f, [0, 0, 0, 4], Boundary::PERIODIC).unwrap_err().status,
        Status::InvalidArgument
    );
    let geometry = f.geometry().clone();
    let one = SpinorField::new(&device, &geometry, Precision::F32, Subset::Full, 1).unwrap();
    let mut many = f.like_with(Precision::F32, 13).unwrap();
    assert_eq!(Source::wall(0).set(&mut many).unwrap_err().status, Status::FieldMismatch);
    assert_eq!(
        correlators(&one, [0; 4], Boundary::PERIODIC).unwrap_err().status,
        Status::FieldMismatch
    );
}

/// The gauge field shifted such that `origin` becomes site 0.
fn moved(lat: Lattice, links: &Gauge, origin: [usize; 4]) -> Gauge {
    let from = |lex: usize| {
        let x = lat.coords(lex);
        lat.lex(std::array::from_fn(|mu| (x[mu] + origin[mu]) % lat.extents[mu]))
    };
    (0..lat.volume()).flat_map(|lex| (0..4).map(move |mu| links[from(lex) * 4 + mu])).collect()
}

/// Correlators do not depend on the origin, also with antiperiodic fermions. For any number of columns solved at a
/// time, each column equals the one of a solve of all at once; so do residuals and their order.
#[test]
fn columns_at_a_time_make_the_same_propagator() {
    for device in devices() {
        let extents = [4, 4, 4, 8];
        let geometry = common::geometry(extents, &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        let links: Gauge =
            su3::smooth_gauge(Lattice::new(extents), 0.5, 3).iter().map(su3::reunitarise).collect();
        u.load_lex(&gauge_numbers(&links)).unwrap();
        let dirac = DiracParams { mass: 0.3, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = Arc::new(Wilson::new(Arc::new(u), dirac).unwrap());
        let kind = SolverKind::BiCgStab;
        let solver =
            SolverParams { kind, history: true, stop: Stop::at(1e-12), ..Default::default() };
        let params = SolveParams { solver, ..Default::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let run = |at_once| {
            let (mut calls, mut clock) = (0, 0.0);
            let mut watch = |p: &Progress| {
                assert!(p.seconds >= clock);
                (calls, clock) = (calls + 1, p.seconds);
                ControlFlow::Continue(())
            };
            let (x, report) =
                propagator(&solver, Source::point([1, 2, 3, 5]), at_once, &mut watch).unwrap();
            let r = report.solver;
            assert!(r.converged && r.residual.len() == 12 && r.residual_hq.len() == 12, "{r:?}");
            assert!(r.residual.iter().all(|&r| r > 0.0 && r <= 1e-12), "{r:?}");
            assert_eq!(r.history.len(), calls);
            assert!(at_once < 12 || r.iterations == calls);
            (x.save_lex().unwrap(), r.residual)
        };
        let (all, _) = run(12);
        let column = all.len() / 12;
        for at_once in [1, 5] {
            let (some, residual) = run(at_once);
            for k in 0..12 {
                let part = k * column..(k + 1) * column;
                let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let apart: Vec<f64> =
                    some[part.clone()].iter().zip(&all[part.clone()]).map(|(a, b)| a - b).collect();
                let off = norm(&apart) / norm(&all[part.clone()]);
                // Both solutions have a residual of 1e-12.
                assert!(off < 1e-10, "{at_once} at a time, column {k}: {off:e}");
            }
            // Residuals in the report belong to their columns.
            let mut x = op.shape().field(COLUMNS).unwrap();
            x.load_lex(&some).unwrap();
            let (mut b, mut image) =
                (op.shape().field(COLUMNS).unwrap(), op.shape().field(COLUMNS).unwrap());
            Source::point([1, 2, 3, 5]).set(&mut b).unwrap();
            op.apply(&mut image, &x).unwrap();
            let (one, minus) = (blas::uniform(12, 1.0), blas::uniform(12, -1.0));
            blas::axpby(&one, &b, &minus, &mut image).unwrap();
            for (found, norm2) in residual.iter().zip(blas::norm2(&image).unwrap()) {
                assert!((found - norm2.sqrt()).abs() < 1e-3 * found, "{found:e} {norm2:e}");
            }
        }
        let refused = propagator(&solver, Source::wall(0), 13, &mut no_monitor);
        assert_eq!(refused.unwrap_err().status, Status::BadParameter);
        // Asked to stop during the second solve, the remaining solves take one iteration each.
        let mut calls = 0;
        let mut stop = |p: &Progress| {
            calls += (p.residual.len() == 5) as i32;
            match p.iteration == 1 && p.seconds > 0.0 && calls > 3 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (_, report) = propagator(&solver, Source::point([0; 4]), 5, &mut stop).unwrap();
        let r = report.solver;
        assert!(r.stopped && !r.converged, "{r:?}");
        assert!(r.residual[..5].iter().all(|&r| r <= 1e-12), "{r:?}");
        assert!(r.residual[5..].iter().all(|&r| r > 1e-12), "{r:?}");
    }
}

#[test]
fn correlators_do_not_depend_on_the_place_of_the_source() {
    for extents in [[4, 4, 4, 8], [2, 4, 4, 6]].map(common::over_ranks) {
        let lat = Lattice::new(extents);
        let smooth = su3::smooth_gauge(lat, 0.5, 3);
        let links: Gauge = smooth.iter().map(su3::reunitarise).collect();
        let origin = [1, 2, 3, 5];
        for device in devices() {
            let geometry = common::geometry(extents, &device);
            let run = |links: &Gauge, source: Source| {
                let mut u =
                    GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
                u.load_lex(&gauge_numbers(links)).unwrap();
                let dirac = DiracParams { mass: 0.6, csw: 1.0, csw_t: 1.0, ..Default::default() };
                let op = Arc::new(Wilson::new(Arc::new(u), dirac).unwrap());
                let solver = SolverParams {
                    kind: SolverKind::BiCgStab,
                    stop: Stop::at(1e-13),
                    ..Default::default()
                };
                let params = SolveParams {
                    solver,
                    equations: Equations::Direct,
                    normalisation: Normalisation::Mass,
                    ..Default::default()
                };
                let solver = DiracSolver::new(op, params).unwrap();
                let (x, report) = propagator(&solver, source, COLUMNS, &mut no_monitor).unwrap();
                assert!(report.solver.converged);
                correlators(&x, source.position, Boundary::ANTIPERIODIC).unwrap()
            };
            for (here, there) in [
                (Source::point([0; 4]), Source::point(origin)),
                (Source::wall(0), Source::wall(origin[3])),
            ] {
                let (a, b) = (run(&moved(lat, &links, origin), here), run(&links, there));
                // The solver's tolerance is relative to the largest number. Times are compared relatively as long as
                // their values are well above it.
                for (x, y) in a.pion.iter().zip(&b.pion) {
                    assert!((x - y).abs() < 1e-9 * x, "{extents:?} pion {x:e} {y:e}");
                }
                for i in 0..3 {
                    for (t, (x, y)) in a.rho[i].iter().zip(&b.rho[i]).enumerate() {
                        assert!((x - y).abs() < 1e-9 * a.pion[t], "{extents:?} rho {x:e} {y:e}");
                    }
                }
                for (t, (x, y)) in a.nucleon.iter().zip(&b.nucleon).enumerate() {
                    let scale = a.pion[t].powf(1.5);
                    assert!((x - y).norm() < 1e-9 * scale, "{extents:?} nucleon t={t} {x} {y}");
                }
            }
        }
    }
}

#[test]
fn effective_masses_of_exact_correlators() {
    let (times, m) = (12, 0.37);
    let cosh: Vec<f64> = (0..times).map(|t| (m * (t as f64 - 6.0)).cosh()).collect();
    let masses = effective_mass(&cosh, EffectiveMass::Cosh);
    assert!(masses[0].is_nan() && masses[times - 1].is_nan());
    assert!(masses[1..times - 1].iter().all(|x| (x - m).abs() < 1e-13), "{masses:?}");
    let falling: Vec<f64> = (0..times).map(|t| 3.0 * (-m * t as f64).exp()).collect();
    let masses = effective_mass(&falling, EffectiveMass::Log);
    assert!(masses[times - 1].is_nan());
    assert!(masses[..times - 1].iter().all(|x| (x - m).abs() < 1e-13), "{masses:?}");
    let noisy = effective_mass(&[1.0, -0.1, 0.2, 0.1], EffectiveMass::Log);
    assert!(noisy[0].is_nan() && noisy[1].is_nan() && (noisy[2] - 2f64.ln()).abs() < 1e-13);
    assert!(effective_mass(&[], EffectiveMass::Cosh).is_empty());
}

/// Between boundaries a state that decays away from the source has its mass on both sides; there is none where a slice
/// or the next one farther is a boundary.
#[test]
fn masses_between_boundaries_go_outward() {
    let (slices, m) = (9, 0.37);
    for (boundary, upper) in
        [(BoundaryKind::Open, 8), (BoundaryKind::Sf, 9), (BoundaryKind::OpenSf, 9)]
    {
        for source in 1..upper {
            let value = |slice: usize| match slice == 0 || slice == upper {
                true => 0.0,
                false => 3.0 * (-m * slice.abs_diff(source) as f64).exp(),
            };
            let times: Vec<usize> = (0..slices).map(|t| (source + t) % slices).collect();
            let correlator: Vec<f64> = times.iter().map(|&slice| value(slice)).collect();
            let found = outward_mass(&correlator, source, boundary);
            for (slice, mass) in times.into_iter().zip(found) {
                let has = match slice >= source {
                    true => slice + 1 < upper,
                    false => slice > 1,
                };
                assert!(
                    if has { (mass - m).abs() < 1e-13 } else { mass.is_nan() },
                    "{boundary}, source {source}: {mass} on {slice}"
                );
            }
        }
    }
    assert!(outward_mass(&[1.0, -0.5, 0.25, 0.0], 1, BoundaryKind::Sf)[0].is_nan());
    assert!(outward_mass(&[], 0, BoundaryKind::Open).is_empty());
}
