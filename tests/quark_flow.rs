//! Tests of the gradient flow of quark fields and of its adjoint against the reference and identities.

use crate::setup::{complex_numbers, setups, Setup};
use crate::{common, reference};

use common::{distance, tolerance, Lex};
use plaq::error::Status;
use plaq::fields::GaugeField;
use plaq::fields::{blas, Components, Precision, Recon, Subset, VectorField};
use plaq::operators::Boundary;
use plaq::ops::flow::FlowKind;
use plaq::ops::quark_flow::{self, QuarkFlowParams, QuarkFlowReport};
use reference::matrix::{add, dag, mul, product, scale, sub, trace, zero, Matrix};
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{su3, Gauge, Lattice, C};
use std::ops::ControlFlow;

const BOUNDARY: Boundary = Boundary([0.3, 0.0, -0.5, 1.0]);

fn params(kind: FlowKind, step: f64, time: f64) -> QuarkFlowParams {
    QuarkFlowParams { kind, step, time, boundary: BOUNDARY, checkpoints: None }
}

fn flow(
    psi: &mut VectorField,
    gauge: &GaugeField,
    p: &QuarkFlowParams,
) -> plaq::error::Result<(GaugeField, QuarkFlowReport)> {
    quark_flow::flow(psi, gauge, p, &mut |_| ControlFlow::Continue(()))
}

fn adjoint_flow(
    psi: &mut VectorField,
    gauge: &GaugeField,
    p: &QuarkFlowParams,
) -> plaq::error::Result<QuarkFlowReport> {
    quark_flow::adjoint_flow(psi, gauge, p, &mut |_| ControlFlow::Continue(()))
}

fn random(lat: Lattice, spins: usize, seed: u64) -> Vec<C> {
    let mut rng = Rng::new(seed);
    (0..lat.volume() * spins * 3).map(|_| rng.gaussian()).collect()
}

/// Computes -i times the generator Z of Wilson's flow, dV/dt = Z V: Z is the traceless antihermitian part of the
/// staples times V^dagger.
fn generator(lat: Lattice, v: &Gauge) -> Gauge {
    let mut z = vec![];
    for x in 0..lat.volume() {
        for mu in 0..4 {
            let mut staples = zero::<3>();
            for nu in (0..4).filter(|nu| *nu != mu) {
                let (ahead, up, down) =
                    (lat.forward(x, mu), lat.forward(x, nu), lat.backward(x, nu));
                let corner = lat.forward(down, mu);
                let (a, b) = (|x: usize| &v[4 * x + mu], |x: usize| &v[4 * x + nu]);
                staples = add(&staples, &product(&[b(x), a(up), &dag(b(ahead))]));
                staples = add(&staples, &product(&[&dag(b(down)), a(down), b(corner)]));
            }
            let m: Matrix<3> = mul(&staples, &dag(&v[4 * x + mu]));
            let mut h = scale(C::new(0.0, -0.5), &sub(&m, &dag(&m)));
            let third = trace(&h) / 3.0;
            (0..3).for_each(|i| h[i][i] -= third);
            z.push(h);
        }
    }
    z
}

/// Computes exp(i e sum_k c_k z_k) v.
fn moved(v: &Gauge, e: f64, terms: &[(f64, &Gauge)]) -> Gauge {
    let mut out = vec![];
    for (l, link) in v.iter().enumerate() {
        let h =
            terms.iter().fold(zero::<3>(), |h, (c, z)| add(&h, &scale(C::new(e * c, 0.0), &z[l])));
        out.push(mul(&su3::exp_i(&h), link));
    }
    out
}

/// Computes D^2 psi with phases at the ends of the lattice.
fn laplacian(lat: Lattice, v: &Gauge, spins: usize, psi: &[C]) -> Vec<C> {
    let phases = BOUNDARY.phases();
    let mut out: Vec<C> = psi.iter().map(|z| -8.0 * z).collect();
    for x in 0..lat.volume() {
        for mu in 0..4 {
            let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
            let ahead = if lat.wraps_forward(x, mu) { phases[mu] } else { C::new(1.0, 0.0) };
            let back = if lat.wraps_backward(x, mu) { phases[mu].conj() } else { C::new(1.0, 0.0) };
            for spin in 0..spins {
                for i in 0..3 {
                    for k in 0..3 {
                        out[(x * spins + spin) * 3 + i] +=
                            ahead * v[4 * x + mu][i][k] * psi[(up * spins + spin) * 3 + k]
                                + back
                                    * v[4 * down + mu][k][i].conj()
                                    * psi[(down * spins + spin) * 3 + k];
                    }
                }
            }
        }
    }
    out
}

fn plus(terms: &[(f64, &[C])]) -> Vec<C> {
    (0..terms[0].1.len()).map(|i| terms.iter().map(|(c, v)| *c * v[i]).sum()).collect()
}

/// A step of Wilson's flow of links and quark fields (Luescher, JHEP 04 (2013) 123, Eqs. (D.1) to (D.5)).
fn step(lat: Lattice, w: &mut Gauge, fields: &mut [Vec<C>], spins: usize, e: f64) {
    let z0 = generator(lat, w);
    let w1 = moved(w, e, &[(0.25, &z0)]);
    let z1 = generator(lat, &w1);
    let w2 = moved(&w1, e, &[(8.0 / 9.0, &z1), (-17.0 / 36.0, &z0)]);
    let z2 = generator(lat, &w2);
    let w3 = moved(&w2, e, &[(0.75, &z2), (-8.0 / 9.0, &z1), (17.0 / 36.0, &z0)]);
    for phi in fields {
        let d0 = laplacian(lat, w, spins, phi);
        let phi1 = plus(&[(1.0, phi), (e / 4.0, &d0)]);
        let d1 = laplacian(lat, &w1, spins, &phi1);
        let phi2 = plus(&[(1.0, phi), (e * 8.0 / 9.0, &d1), (-e * 2.0 / 9.0, &d0)]);
        let d2 = laplacian(lat, &w2, spins, &phi2);
        *phi = plus(&[(1.0, &phi1), (e * 0.75, &d2)]);
    }
    *w = w3;
}

fn vectors(
    s: &Setup,
    precision: Precision,
    components: Components,
    fields: &[Vec<C>],
) -> VectorField {
    s.vectors(precision, components, &fields.iter().map(|f| f.as_slice()).collect::<Vec<_>>())
}

#[test]
fn flowed_fields_equal_the_reference() {
    for (number, s) in setups().into_iter().enumerate() {
        // The reference is slow: colour vectors on some lattices.
        let kinds = [Components::SPINOR, Components::COLOUR];
        for components in &kinds[..if number % 3 == 0 { 2 } else { 1 }] {
            let (components, spins) = (*components, components.spins);
            // More columns of colour vectors than the kernel has in a batch.
            let columns = if spins == 4 { 2 } else { 5 };
            let start: Vec<_> = (0..columns).map(|k| random(s.lat, spins, 11 + k)).collect();
            let (mut w, mut want) = (s.links.clone(), start.clone());
            step(s.lat, &mut w, &mut want, spins, 0.08);
            step(s.lat, &mut w, &mut want, spins, 0.05);
            let want: Vec<f64> = want.iter().flat_map(|f| complex_numbers(f)).collect();
            for precision in [Precision::F64, Precision::F32] {
                let mut psi = vectors(&s, precision, components, &start);
                let before = psi.save_lex().unwrap();
                let p = params(FlowKind::Wilson, 0.08, 0.13);
                let (links, report) = flow(&mut psi, &s.gauge, &p).unwrap();
                assert_eq!((report.steps, report.time), (2, 0.13));
                let found = psi.save_lex().unwrap();
                let off = distance(&found, &want);
                assert!(off < tolerance(precision, 100.0), "{components:?} {precision:?}: {off:e}");
                let off = distance(&links.save_lex().unwrap(), &gauge_numbers(&w));
                assert!(off < tolerance(precision, 100.0), "links {precision:?}: {off:e}");
                assert!(distance(&before, &want) > 0.1, "nothing flows");
            }
        }
    }
}

/// The adjoint flow satisfies <phi, K chi> = <K^dagger phi, chi>, for any number of kept intermediate links; with
/// another boundary condition it does not.
#[test]
fn the_adjoint_is_the_transpose_of_the_steps() {
    let (spinor, colour) = (Components::SPINOR, Components::COLOUR);
    for s in setups().into_iter().take(2) {
        for (kind, kinds) in [
            (FlowKind::Wilson, &[spinor, colour][..]),
            (FlowKind::Symanzik, &[spinor]),
            (FlowKind::Zeuthen, &[colour]),
        ] {
            for &components in kinds {
                let spins = components.spins;
                let of =
                    |seed| vectors(&s, Precision::F64, components, &[random(s.lat, spins, seed)]);
                let (chi, phi) = (of(21), of(22));
                let p = params(kind, 0.03, 0.2);
                let mut flowed = of(21);
                let steps = flow(&mut flowed, &s.gauge, &p).unwrap().1.steps;
                assert_eq!(steps, 7);
                let expected = blas::dot(&phi, &flowed).unwrap()[0];
                let size =
                    (blas::norm2(&phi).unwrap()[0] * blas::norm2(&flowed).unwrap()[0]).sqrt();
                let mut first = vec![];
                for (checkpoints, kept, work) in [
                    (None, 6, 6),
                    (Some(0), 0, 21),
                    (Some(1), 1, 11),
                    (Some(2), 2, 9),
                    (Some(500), 6, 6),
                ] {
                    let mut back = of(22);
                    let p = QuarkFlowParams { checkpoints, ..p };
                    let report = adjoint_flow(&mut back, &s.gauge, &p).unwrap();
                    assert_eq!((report.checkpoints, report.steps), (kept, 7), "{checkpoints:?}");
                    assert_eq!(report.link_steps, work, "{checkpoints:?}");
                    let off = (blas::dot(&back, &chi).unwrap()[0] - expected).norm() / size;
                    assert!(off < 1e-14, "{kind:?} {components:?} {checkpoints:?}: {off:e}");
                    let numbers = back.save_lex().unwrap();
                    assert!(first.is_empty() || numbers == first, "{checkpoints:?}: other bits");
                    first = numbers;
                }
                let mut other = of(22);
                let p = QuarkFlowParams { boundary: Boundary::PERIODIC, ..p };
                adjoint_flow(&mut other, &s.gauge, &p).unwrap();
                let off = (blas::dot(&other, &chi).unwrap()[0] - expected).norm() / size;
                assert!(off > 1e-9, "boundaries do nothing");
            }
        }
    }
}

/// A stopped flow is at the time that its report states, and a second call for the remaining time gives the result of
/// the whole flow.
#[test]
fn stopped_flows_are_where_they_say() {
    let s = &setups()[0];
    let (p, start) = (params(FlowKind::Wilson, 0.03, 0.2), random(s.lat, 4, 41));
    let of = || vectors(s, Precision::F64, Components::SPINOR, std::slice::from_ref(&start));
    let stop = |n: usize| {
        move |done: usize| {
            if done == n {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    };
    let mut part = of();
    let (links, report) = quark_flow::flow(&mut part, &s.gauge, &p, &mut stop(4)).unwrap();
    assert!(report.stopped && report.steps == 4 && (report.time - 0.12).abs() < 1e-15);
    let mut rest = part.like(Precision::F64).unwrap();
    blas::copy(&mut rest, &part).unwrap();
    flow(&mut rest, &links, &QuarkFlowParams { time: 0.08, ..p }).unwrap();
    let mut whole = of();
    flow(&mut whole, &s.gauge, &p).unwrap();
    let off = distance(&rest.save_lex().unwrap(), &whole.save_lex().unwrap());
    assert!(off < 1e-14, "{off:e}");
    // Back: to the time 0.12 by three steps, then to 0.
    for checkpoints in [Some(0), Some(2)] {
        let p = QuarkFlowParams { checkpoints, ..p };
        let mut back = of();
        let report = quark_flow::adjoint_flow(&mut back, &s.gauge, &p, &mut stop(3)).unwrap();
        assert!(report.stopped && report.steps == 3 && (report.time - 0.12).abs() < 1e-15);
        adjoint_flow(&mut back, &s.gauge, &QuarkFlowParams { time: 0.12, ..p }).unwrap();
        let mut whole = of();
        let report = adjoint_flow(&mut whole, &s.gauge, &p).unwrap();
        assert_eq!((report.time, report.stopped), (0.0, false));
        let off = distance(&back.save_lex().unwrap(), &whole.save_lex().unwrap());
        assert!(off < 1e-14, "{off:e}");
    }
}

#[test]
fn bad_input_changes_nothing() {
    let s = &setups()[0];
    let good = params(FlowKind::Wilson, 0.02, 0.1);
    let mut psi = vectors(s, Precision::F64, Components::SPINOR, &[random(s.lat, 4, 31)]);
    let before = psi.save_lex().unwrap();
    for (bad, word) in [
        (QuarkFlowParams { time: f64::NAN, ..good }, "time"),
        (QuarkFlowParams { time: -1.0, ..good }, "time"),
        (QuarkFlowParams { step: 0.2, ..good }, "step"),
        (QuarkFlowParams { step: 0.0, ..good }, "step"),
        (QuarkFlowParams { step: 1e-8, ..good }, "steps"),
        (QuarkFlowParams { checkpoints: Some(1001), ..good }, "checkpoints"),
        (QuarkFlowParams { boundary: Boundary([f64::NAN; 4]), ..good }, "boundary"),
    ] {
        let bad_steps = [
            flow(&mut psi, &s.gauge, &bad).map(|_| ()).unwrap_err(),
            adjoint_flow(&mut psi, &s.gauge, &bad).map(|_| ()).unwrap_err(),
        ];
        for e in bad_steps {
            assert_eq!(e.status, Status::BadParameter, "{bad:?}");
            assert!(e.to_string().contains(word), "{e}");
        }
    }
    // With so many steps and no states kept on the way a call would not end: it is refused.
    let long = QuarkFlowParams { time: 100.0, checkpoints: Some(0), ..good };
    let e = adjoint_flow(&mut psi, &s.gauge, &long).map(|_| ()).unwrap_err();
    assert!(e.status == Status::BadParameter && e.to_string().contains("checkpoints"), "{e}");
    let su2 =
        plaq::fields::GaugeField::new(&s.device, &s.geometry, Precision::F64, Recon::Su2).unwrap();
    assert_eq!(flow(&mut psi, &su2, &good).map(|_| ()).unwrap_err().status, Status::Unsupported);
    assert_eq!(psi.save_lex().unwrap(), before);
    for (precision, subset) in [(Precision::F16, Subset::Full), (Precision::F64, Subset::Even)] {
        let shape = plaq::linop::Shape { subset, ..s.shape(precision, Components::SPINOR) };
        let mut psi = shape.field(1).unwrap();
        let e = flow(&mut psi, &s.gauge, &good).map(|_| ()).unwrap_err();
        assert_eq!(e.status, Status::Unsupported, "{precision:?} {subset:?}");
    }
    // At time 0 nothing flows.
    let (_, report) = flow(&mut psi, &s.gauge, &QuarkFlowParams { time: 0.0, ..good }).unwrap();
    assert_eq!(report.steps, 0);
    assert_eq!(psi.save_lex().unwrap(), before);
}
