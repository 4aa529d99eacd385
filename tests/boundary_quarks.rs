//! Tests of links with boundaries in time against paths of links that exist: quark fields that are transported,
//! differentiated and flowed, closed paths, and Coulomb gauge of time slices.

use std::ops::ControlFlow;
use std::sync::Arc;

use num_complex::Complex64;

use crate::boundaries::{of, quarks, setups, status, Setup, BOUNDARIES};
use crate::common::{self, devices, distance, tolerance, Lex};
use crate::reference::bounded::Bounded;
use crate::reference::matrix::{one, trace};
use crate::reference::numbers::{field_numbers, gauge_from, gauge_numbers};
use crate::reference::{spinor, Field, C};
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::Status;
use plaq::fields::{
    blas, vanishing, BoundaryTime, CloverForm, Components, GaugeField, Noise, Precision, Recon,
    RhsOrder, SpinorField, Subset, VectorField,
};
use plaq::linop::{LinOp, Schur};
use plaq::operators::{Boundary, CovariantShift, DiracParams, QuarkAction, Wilson};
use plaq::ops::flow::FlowKind;
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
use plaq::ops::paths::{traces, Paths};
use plaq::ops::quark_flow::{adjoint_flow, flow, QuarkFlowParams};
use plaq::ops::structure::insertions::{insertions, Lines};
use plaq::ops::structure::lines::Factor;
use plaq::ops::structure::loop_sums::{
    LoopGoals, LoopQuarks, LoopSettings, LoopSums, LoopSumsParams, Term, Traces,
};
use plaq::ops::structure::loops::{loops, LoopKind, LoopNoise, LoopOperators, OneEnd};
use plaq::solvers::{no_monitor, SolverKind};

const BOUNDARY: Boundary = Boundary([0.3, 0.0, -0.5, 1.0]);

fn field(s: &Setup, precision: Precision, components: Components, numbers: &[f64]) -> VectorField {
    let content = (components, RhsOrder::Slowest);
    let mut f =
        SpinorField::with_components(&s.device, &s.geometry, precision, Subset::Full, 1, content)
            .unwrap();
    f.load_lex(numbers).unwrap();
    f
}

/// The first spin component of every site, as numbers of a colour vector.
fn first_spin(numbers: &[f64]) -> Vec<f64> {
    numbers.chunks(24).flat_map(|site| site[..6].to_vec()).collect()
}

/// What operators of one flavour give does not depend on the values of a vector on slices where quarks vanish.
#[test]
fn vectors_count_as_zero_where_quarks_vanish() {
    let forms = [
        None,
        Some(Schur { parity: 0, symmetric: true }),
        Some(Schur { parity: 1, symmetric: false }),
    ];
    for s in setups() {
        for precision in Precision::ALL {
            let exact = Wilson::new(s.gauge.clone(), quarks()).unwrap();
            let op: Arc<dyn QuarkAction> = Arc::new(exact.to(precision, Recon::R12).unwrap());
            for (form, n) in forms.into_iter().flat_map(|form| [1, 3].map(|n| (form, n))) {
                let schur = form.map(|form| op.clone().schur(form).unwrap());
                let system: &dyn LinOp = match &schur {
                    Some(schur) => &**schur,
                    None => &*op,
                };
                let subset = system.shape().subset;
                let numbers: Vec<f64> = (0..n as u64)
                    .flat_map(|seed| field_numbers(&spinor::random(s.lat, seed)))
                    .collect();
                let mut exact =
                    SpinorField::new(&s.device, &s.geometry, Precision::F64, subset, n).unwrap();
                exact.load_lex(&numbers).unwrap();
                let zeroed = vanishing(&exact, s.boundary).unwrap();
                let [x, zeroed] = [exact, zeroed].map(|exact| {
                    let mut x = exact.like(precision).unwrap();
                    blas::copy(&mut x, &exact).unwrap();
                    x
                });
                for dagger in [false, true] {
                    let [found, expected] = [&x, &zeroed].map(|x| {
                        let mut y = x.like(precision).unwrap();
                        match dagger {
                            false => system.apply(&mut y, x).unwrap(),
                            true => system.apply_dagger(&mut y, x).unwrap(),
                        }
                        let mut whole = y.like(Precision::F64).unwrap();
                        blas::copy(&mut whole, &y).unwrap();
                        whole
                    });
                    let what = format!("{} {precision:?} {form:?} {n} {dagger}", s.boundary);
                    let norms = blas::norm2(&expected).unwrap();
                    let mut off = found;
                    blas::axpy(&blas::uniform(n, -1.0), &expected, &mut off).unwrap();
                    for (off, norm) in blas::norm2(&off).unwrap().into_iter().zip(norms) {
                        assert!(norm > 0.0 && off == 0.0, "{what}: {off:e} of {norm:e}");
                    }
                }
            }
        }
    }
}

/// Flowed quark fields are those of Dirichlet conditions, whatever the field is on boundary slices before, and the
/// adjoint flow is the transpose.
#[test]
fn flowed_quarks_vanish_at_boundaries() {
    for s in setups() {
        let what = format!("{} {:?}", s.boundary, s.lat.extents);
        let (phi, chi): (Field, Field) = (spinor::random(s.lat, 3), spinor::random(s.lat, 4));
        let first = s.reference();
        let e = 0.04;
        let (links, once) = first.quark_flow_step(e, BOUNDARY.phases(), &first.inside(&chi));
        let second = Bounded { links: &links, ..s.reference() };
        let (links, twice) = second.quark_flow_step(e, BOUNDARY.phases(), &once);
        let expected = field_numbers(&twice);
        let params = QuarkFlowParams {
            kind: FlowKind::Wilson,
            step: e,
            time: 2.0 * e,
            boundary: BOUNDARY,
            checkpoints: None,
        };
        for components in [Components::SPINOR, Components::COLOUR] {
            let of = |f: &Field| match components == Components::SPINOR {
                true => field_numbers(f),
                false => first_spin(&field_numbers(f)),
            };
            let expected = if components == Components::SPINOR {
                expected.clone()
            } else {
                first_spin(&expected)
            };
            for precision in [Precision::F64, Precision::F32] {
                let load = |f: &Field| field(&s, precision, components, &of(f));
                let mut on = |_| ControlFlow::Continue(());
                let mut flowed = load(&chi);
                let (made, _) = flow(&mut flowed, &s.gauge, &params, &mut on).unwrap();
                let off = distance(&flowed.save_lex().unwrap(), &expected);
                assert!(
                    off < tolerance(precision, 200.0),
                    "{what} {components} {precision}: {off:e}"
                );
                let off = distance(&made.save_lex().unwrap(), &gauge_numbers(&links));
                assert!(off < tolerance(precision, 200.0), "{what} {precision}: {off:e}");
                let mut back = load(&phi);
                adjoint_flow(&mut back, &s.gauge, &params, &mut on).unwrap();
                let inside = load(&first.inside(&phi));
                let one = blas::dot(&load(&phi), &flowed).unwrap()[0];
                let two = blas::dot(&back, &load(&chi)).unwrap()[0];
                let scale =
                    (blas::norm2(&inside).unwrap()[0] * blas::norm2(&flowed).unwrap()[0]).sqrt();
                let off = (one - two).norm() / scale;
                assert!(
                    off < tolerance(precision, 200.0),
                    "{what} {components} {precision}: {off:e}"
                );
            }
        }
    }
}

/// Shifts along paths do not leave the slices that are stored.
#[test]
fn shifts_end_at_boundaries() {
    // 0 to 3 forward in x, y, z, t and 7 - mu back; in the reference -1 - mu back.
    let paths: [&[u8]; 9] =
        [&[3], &[4], &[4, 4], &[3, 3, 3], &[4, 0, 4], &[3, 7, 4], &[4, 1, 3], &[3, 4], &[0, 6]];
    for s in setups() {
        let psi = s.reference().inside(&spinor::random(s.lat, 5));
        let inp = field(&s, Precision::F64, Components::SPINOR, &field_numbers(&psi));
        for path in paths {
            let steps: Vec<i32> =
                path.iter().map(|&p| if p < 4 { p.into() } else { i32::from(p) - 8 }).collect();
            let shift =
                CovariantShift::new(s.gauge.clone(), inp.components(), path.to_vec()).unwrap();
            let mut out = inp.like(Precision::F64).unwrap();
            shift.apply(&mut out, &inp).unwrap();
            let expected = s.reference().shift(&psi, &steps);
            let off = distance(&out.save_lex().unwrap(), &field_numbers(&expected));
            let what = format!("{} {:?} {path:?}", s.boundary, s.lat.extents);
            assert!(off < 1e-14, "{what}: {off:e}");
            // On spinors that vanish on boundary slices the adjoint is the shift back.
            let phi = s.reference().inside(&spinor::random(s.lat, 6));
            let phi = field(&s, Precision::F64, Components::SPINOR, &field_numbers(&phi));
            let mut back = phi.like(Precision::F64).unwrap();
            shift.apply_dagger(&mut back, &phi).unwrap();
            let off = blas::dot(&phi, &out).unwrap()[0] - blas::dot(&back, &inp).unwrap()[0];
            assert!(off.norm() < 1e-11, "{what}: {off}");
        }
    }
}

/// Operators with derivatives and lines in time count paths between the boundaries alone, with links and without.
#[test]
fn insertions_end_at_boundaries() {
    let t = Factor::Derivative(3);
    let back = Factor::Step(4);
    let operators = [
        vec![t],
        vec![t, t],
        vec![back, back],
        vec![Factor::Step(3); 3],
        vec![back, Factor::Step(3)],
    ];
    for s in setups() {
        let mut unit = GaugeField::new(&s.device, &s.geometry, Precision::F64, Recon::R18).unwrap();
        unit.set_unit().unwrap();
        let ones = gauge_from(&unit.save_lex().unwrap());
        for links in [&s.links, &ones] {
            let of = Bounded { links, ..s.reference() };
            let [x, q] = [7, 8].map(|seed| of.inside(&spinor::random(s.lat, seed)));
            let load = |f: &Field| field(&s, Precision::F64, Components::SPINOR, &field_numbers(f));
            let (forward, backward) = (load(&q), load(&x));
            let lines = Lines {
                back: &backward,
                forward: &forward,
                links: std::ptr::eq(links, &s.links).then_some(&s.gauge),
                boundary: [Boundary::PERIODIC; 2],
                origin: [0; 4],
            };
            let found = insertions(lines, &operators, &[[0; 3]]).unwrap();
            // Sums over space of x^dagger gamma5 q.
            let slices = s.lat.extents[3];
            let product = |x: &Field, q: &Field| -> Vec<Complex64> {
                let q = spinor::apply_gamma5(q);
                let mut sums = vec![Complex64::ZERO; slices];
                for (lex, (x, q)) in x.iter().zip(&q).enumerate() {
                    let both = x.iter().flatten().zip(q.iter().flatten());
                    sums[s.lat.coords(lex)[3]] += both.map(|(a, b)| a.conj() * b).sum::<C>();
                }
                sums
            };
            let d = |f: &Field, n: u32| of.time_derivative(f, n);
            let sum = |terms: &[(f64, Vec<Complex64>)]| -> Vec<Complex64> {
                (0..slices).map(|z| terms.iter().map(|(c, v)| *c * v[z]).sum()).collect()
            };
            let expected = [
                sum(&[(0.5, product(&x, &d(&q, 1))), (-0.5, product(&d(&x, 1), &q))]),
                sum(&[
                    (0.25, product(&x, &d(&q, 2))),
                    (-0.5, product(&d(&x, 1), &d(&q, 1))),
                    (0.25, product(&d(&x, 2), &q)),
                ]),
                product(&x, &of.shift(&q, &[-4, -4])),
                product(&x, &of.shift(&q, &[3, 3, 3])),
                product(&x, &q),
            ];
            for (k, expected) in expected.iter().enumerate() {
                for (z, value) in expected.iter().enumerate() {
                    let off = found[16 * slices * k + z] - value;
                    let what =
                        format!("{} {:?}, operator {k}, slice {z}", s.boundary, s.lat.extents);
                    assert!(off.norm() < 1e-11, "{what}: {off}");
                }
            }
        }
    }
}

/// Traces of closed paths count what exists between open boundaries, and spatial ones run with all boundaries.
#[test]
fn closed_paths_count_links_that_exist() {
    // 7 - mu steps back; in the reference -1 - mu does.
    let paths: [&[u8]; 5] =
        [&[0, 1, 7, 6], &[0, 0, 2, 7, 7, 5], &[3, 0, 4, 7], &[3, 3, 1, 4, 4, 6], &[4, 2, 3, 5]];
    for s in setups() {
        let all: Vec<Vec<u8>> = paths.iter().map(|p| p.to_vec()).collect();
        let found = traces(&s.gauge, &Paths::new(all[..2].to_vec()).unwrap()).unwrap();
        let timelike = traces(&s.gauge, &Paths::new(all[2..].to_vec()).unwrap());
        let found = match s.boundary {
            BoundaryTime::Open => [found, timelike.unwrap()].concat(),
            _ => {
                let (status, text) = status(timelike);
                assert_eq!(status, Status::Unsupported, "{text}");
                assert!(text.contains("path 0") && text.contains("steps in time"), "{text}");
                found
            }
        };
        for (path, found) in paths.iter().zip(&found) {
            let steps: Vec<i32> =
                path.iter().map(|&p| if p < 4 { p.into() } else { i32::from(p) - 8 }).collect();
            let of = |lex| s.reference().path(s.lat.coords(lex), &steps).map(|u| trace(&u));
            let expected: C = (0..s.lat.volume()).filter_map(of).sum();
            let off = (found - expected).norm() / s.lat.volume() as f64;
            assert!(off < 1e-13, "{} {:?} {path:?}: {off:e}", s.boundary, s.lat.extents);
        }
    }
}

/// Coulomb gauge between open boundaries is that of the same time slices of periodic links; other gauges are refused.
#[test]
fn coulomb_gauge_fixes_open_slices() {
    for device in devices() {
        let s = Setup::new(&device, [4, 4, 4, 8], BoundaryTime::Open);
        let periodic = common::geometry(s.lat.extents, &device);
        let mut links = s.links.clone();
        let last = |k: usize| k % 4 == 3 && s.lat.coords(k / 4)[3] + 1 == s.lat.extents[3];
        links.iter_mut().enumerate().filter(|(k, _)| last(*k)).for_each(|(_, u)| *u = one());
        for recon in Recon::SU3 {
            let params = GaugeFixParams::new(Condition::Coulomb { time: 3 });
            let mut on = |_: &_| false;
            let whole = of(&device, &periodic, &links).to(Precision::F64, recon).unwrap();
            let expected = fix_gauge(&whole, &params, &mut on).unwrap();
            let open = s.gauge.to(Precision::F64, recon).unwrap();
            let fixed = fix_gauge(&open, &params, &mut on).unwrap();
            assert!(fixed.report.best.total.converged, "{:?}", fixed.report.best.total);
            let [fixed, expected] = [fixed.gauge, expected.gauge].map(|u| u.save_lex().unwrap());
            for (k, (a, b)) in fixed.chunks(18).zip(expected.chunks(18)).enumerate() {
                if !last(k) {
                    assert!(distance(a, b) < 1e-12, "{recon}: link {k}");
                } else if recon == Recon::R18 {
                    assert!(a.iter().all(|v| *v == 0.0), "{recon}: link {k}");
                }
            }
            for condition in [Condition::Landau, Condition::Coulomb { time: 0 }] {
                let params = GaugeFixParams::new(condition);
                let refused = fix_gauge(&open, &params, &mut on).map(|_| ());
                assert_eq!(status(refused).0, Status::Unsupported);
            }
        }
    }
    for s in setups().iter().filter(|s| s.boundary != BoundaryTime::Open) {
        let params = GaugeFixParams::new(Condition::Coulomb { time: 3 });
        let refused = fix_gauge(&s.gauge, &params, &mut |_| false).map(|_| ());
        assert_eq!(status(refused).0, Status::Unsupported);
    }
}

/// A solver of these quarks by BiCGStab, to |r| <= `goals[0]` |b| and the heavy-quark residual `goals[1]`.
fn solver(s: &Setup, params: DiracParams, goals: [f64; 2]) -> DiracSolver {
    let mut solve = SolveParams::default();
    solve.solver.kind = SolverKind::BiCgStab;
    [solve.solver.stop.residual, solve.solver.stop.heavy_quark] = goals;
    let op = Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
    DiracSolver::new(op, solve).unwrap()
}

/// Loops, and each part of them by the hopping expansion, are exactly zero on slices where quarks vanish, and the parts
/// add up to the trace.
#[test]
fn loops_vanish_where_quarks_do() {
    let device = devices().pop().unwrap();
    for boundary in BOUNDARIES {
        let s = Setup::new(&device, [2, 2, 2, 4], boundary);
        let params = DiracParams { boundary: [C::ONE; 4], hop: [1.0; 4], ..quarks() };
        let solver = solver(&s, params, [1e-12, 0.0]);
        let noise = LoopNoise {
            noise: Noise::Z4,
            seed: 3,
            first: 0,
            vectors: 1,
            dilute: [true, true, false],
            time_parts: 1,
            probes: s.lat.volume(),
        };
        let settings = LoopSettings {
            noise,
            how: OneEnd::None,
            factor: C::ONE,
            lines: vec![vec![], vec![Factor::Step(3)], vec![Factor::Derivative(2)]],
            momenta: vec![[0; 3], [1, 0, 0]],
            boundary: [0.0; 4],
            params: LoopSumsParams { traces: Traces::Noise, hopping: 3 },
        };
        let operators = LoopOperators {
            lines: &settings.lines,
            momenta: &settings.momenta,
            links: &s.gauge,
            own: solver.op().links(),
            boundary: settings.boundary,
        };
        let (how, factor) = (OneEnd::None, C::ONE);
        let plain = LoopKind { how, other: None, factor, low: None, change: None };
        let mut exact = None;
        let watch = &mut no_monitor;
        loops((&solver, 0), noise, plain, operators, watch, &mut |_, found| exact = Some(found))
            .unwrap();
        let exact = exact.unwrap();
        let exact: Vec<C> = exact.lines.iter().chain(&exact.current).copied().collect();
        let quarks = LoopQuarks {
            solver: &solver,
            at_once: 0,
            other: None,
            links: &s.gauge,
            space: None,
            other_space: None,
        };
        let mut sums = LoopSums::new(settings.clone(), &quarks).unwrap();
        let goals = LoopGoals { vectors: 1, ..Default::default() };
        sums.add(&quarks, &goals, &mut no_monitor, &mut |_, _| Ok(())).unwrap();
        let terms: Vec<Term> = sums.parts().iter().map(|p| p.term).collect();
        assert_eq!(terms, [Term::Noise(0), Term::Hopping]);
        let of = |part| sums.result(part).unwrap().mean;
        let (all, times) = ([exact.clone(), of(Some(0)), of(Some(1))], s.lat.extents[3]);
        for (part, numbers) in all.iter().enumerate() {
            for (k, z) in numbers.iter().enumerate() {
                let vanishes = s.reference().is_boundary(k % times);
                assert!(!vanishes || *z == C::ZERO, "{boundary}, part {part}, {k}: {z}");
            }
            assert!(numbers.iter().any(|z| z.norm() > 1e-8), "{boundary}, part {part}");
        }
        let top = exact.iter().map(|z| z.norm()).fold(0.0, f64::max);
        for (a, b) in of(None).iter().zip(&exact) {
            assert!((a - b).norm() < 1e-9 * top, "{boundary}: {a} {b} of {top}");
        }
    }
}

/// The heavy-quark residual is the average over sites where quarks do not vanish, so that its goal can be met; a site
/// that the solution has not reached counts as 1.
#[test]
fn heavy_quark_residuals_count_sites_with_quarks() {
    for s in setups() {
        let solver = solver(&s, quarks(), [1e-3, 1e-9]);
        let mut source = spinor::random(s.lat, 3);
        let at = s.lat.lex([1, 0, 1, 1]);
        source.iter_mut().enumerate().filter(|(k, _)| *k != at).for_each(|(_, v)| {
            *v = Default::default();
        });
        let b = field(&s, Precision::F64, Components::SPINOR, &field_numbers(&source));
        let mut x = b.like(Precision::F64).unwrap();
        let nothing = blas::heavy_quark_residual(&x, &b).unwrap();
        assert!((nothing[0] - 1.0).abs() < 1e-14, "{}: {nothing:?}", s.boundary);
        let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
        let mut left = b.like(Precision::F64).unwrap();
        solver.op().apply(&mut left, &x).unwrap();
        blas::axpy(&blas::uniform(1, -1.0), &b, &mut left).unwrap();
        let [x, left] = [&x, &left].map(|f| f.save_lex().unwrap());
        let size = |site: &[f64]| site.iter().map(|v| v * v).sum::<f64>();
        let (mut sum, mut count) = (0.0, 0.0);
        for (k, (x, r)) in x.chunks(24).zip(left.chunks(24)).enumerate() {
            if !s.reference().is_boundary(s.lat.coords(k)[3]) {
                sum += size(r) / size(x);
                count += 1.0;
            }
        }
        let (found, what) = ((sum / count).sqrt(), format!("{} {r:?}", s.boundary));
        assert!(r.converged && r.residual_hq[0] <= 1e-9, "{what}");
        assert!((found / r.residual_hq[0] - 1.0).abs() < 1e-2, "{what}: {found:e}");
    }
}

/// What keeps blocks from being made is named: terms at boundaries on links of 16 bits, and an exponential that
/// overflows.
#[test]
fn blocks_that_cannot_be_made_are_refused() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [2, 4, 2, 4], BoundaryTime::Open);
    let half = Arc::new(s.gauge.to(Precision::F16, Recon::R12).unwrap());
    let plain = DiracParams { mass: 0.1, ..Default::default() };
    let refused = |gauge: &Arc<GaugeField>, params: DiracParams| {
        status(Wilson::new(gauge.clone(), params).map(|_| ()))
    };
    let (of_cf, text) = refused(&half, DiracParams { cf: 0.9, ..plain });
    assert!(of_cf == Status::Unsupported && text.contains("cf, cf_prime"), "{text}");
    let clover = DiracParams { csw: 1.0, csw_t: 1.0, ..plain };
    let (of_clover, text) = refused(&half, clover);
    assert!(of_clover == Status::Unsupported && text.contains("clover term from half"), "{text}");
    let exponential = DiracParams { clover: CloverForm::Exponential, ..clover };
    assert!(Wilson::new(s.gauge.clone(), DiracParams { csw: 50.0, ..exponential }).is_ok());
    let (of_csw, text) = refused(&s.gauge, DiracParams { csw: 1e4, ..exponential });
    assert!(of_csw == Status::BadParameter && text.contains("csw: expected"), "{text}");
}
