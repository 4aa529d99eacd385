//! Tests of the gradient flow against identities and the reference.

use crate::{common, reference};
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{devices, distance, extents_on, over_ranks, Lex};
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{GaugeField, Geometry, Momenta, Precision, Recon};
use plaq::ops::flow::{Flow, FlowKind, FlowParams, FlowPoint};
use plaq::ops::hmc::gauge_action::{
    GaugeCoefficients, GaugeForce, LinkAction, TREE_LEVEL_SYMANZIK,
};
use plaq::ops::observables::field_strength;
use reference::matrix::{add, dag, mul, scale, trace, Matrix};
use reference::numbers::gauge_numbers;
use reference::{hmc as slow, su3, Lattice, C};

const KINDS: [FlowKind; 3] = [FlowKind::Wilson, FlowKind::Symanzik, FlowKind::Zeuthen];

fn links(device: &Device, g: &Arc<Geometry>, u: &reference::Gauge) -> GaugeField {
    let mut field = GaugeField::new(device, g, Precision::F64, Recon::R18).unwrap();
    field.load_lex(&gauge_numbers(u)).unwrap();
    field
}

fn params(kind: FlowKind, step: f64, time: f64) -> FlowParams {
    FlowParams { kind, step, time, tolerance: 0.0, every: 1 }
}

fn flowed(start: &GaugeField, p: &FlowParams) -> (GaugeField, plaq::ops::flow::FlowReport) {
    let mut u = start.to(Precision::F64, Recon::R18).unwrap();
    let mut go = |_: &FlowPoint| ControlFlow::Continue(());
    let report = Flow::new(&u, p.kind).unwrap().run(&mut u, p, &mut go).unwrap();
    (u, report)
}

/// Coefficients of a hermitian traceless matrix in the generators T_a.
fn coefficients(m: &Matrix<3>) -> [f64; 8] {
    std::array::from_fn(|a| 2.0 * trace(&mul(&slow::generator(a), m)).re)
}

#[test]
fn generators_are_forces_and_their_laplacian() {
    for device in devices() {
        for part in extents_on(&device) {
            let extents = over_ranks(part);
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let u = su3::smooth_gauge::<3>(lat, 0.5, 71);
            let field = links(&device, &geometry, &u);
            for kind in KINDS {
                let c1 = if kind == FlowKind::Wilson { 0.0 } else { TREE_LEVEL_SYMANZIK };
                let c = GaugeCoefficients::improved(6.0, c1).unwrap();
                let mut force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
                let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                force.kick(&field, &mut p, 0.0, 1.0).unwrap();
                let z = p.save_lex().unwrap();
                let at = |x: usize, mu: usize| slow::algebra(&z[8 * (4 * x + mu)..][..8]);
                let mut expected = z.clone();
                if kind == FlowKind::Zeuthen {
                    for x in 0..lat.volume() {
                        for mu in 0..4 {
                            let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
                            let (v, w) = (&u[4 * x + mu], &u[4 * down + mu]);
                            let ahead = mul(&mul(v, &at(up, mu)), &dag(v));
                            let behind = mul(&mul(&dag(w), &at(down, mu)), w);
                            let here = scale(C::new(10.0, 0.0), &at(x, mu));
                            let sum = add(&add(&ahead, &behind), &here);
                            let h = coefficients(&scale(C::new(1.0 / 12.0, 0.0), &sum));
                            expected[8 * (4 * x + mu)..][..8].copy_from_slice(&h);
                        }
                    }
                }
                let mut found = Momenta::new(&device, &geometry, Precision::F64).unwrap();
                let mut flow = Flow::new(&field, kind).unwrap();
                flow.generator(&field, &mut found, 0.0, 1.0).unwrap();
                let off = distance(&found.save_lex().unwrap(), &expected);
                assert!(off < 1e-13, "{kind:?} {extents:?}: {off:e}");
            }
        }
    }
}

/// A stage of Wilson's flow in one launch equals computing the generator and updating the links with it.
#[test]
fn stages_are_generators_and_updates() {
    for device in devices() {
        let mut all = extents_on(&device);
        if !device.is_cpu() {
            all.push([32, 32, 38, 32]);
        }
        for part in all {
            let geometry = common::geometry(over_ranks(part), &device);
            for (precision, max) in [(Precision::F64, 1e-14), (Precision::F32, 4e-6)] {
                let mut u = GaugeField::new(&device, &geometry, precision, Recon::R18).unwrap();
                u.set_near_unit(5, 0.5).unwrap();
                let mut v = u.to(precision, Recon::R18).unwrap();
                let mut p = Momenta::new(&device, &geometry, precision).unwrap();
                let mut flow = Flow::new(&u, FlowKind::Wilson).unwrap();
                flow.step(&mut u, 0.1).unwrap();
                for (scale, factor) in [(0.0, 0.25), (-17.0 / 9.0, 8.0 / 9.0), (-1.0, 0.75)] {
                    flow.generator(&v, &mut p, scale, factor).unwrap();
                    v.evolve(&p, 0.1).unwrap();
                }
                let off = u.distance(&v).unwrap();
                assert!(off < max, "{part:?} {precision:?}: {off:e}");
                u.set_near_unit(5, 0.5).unwrap();
                assert!(u.distance(&v).unwrap() > 0.01, "{part:?}: nothing flows");
            }
        }
    }
}

#[test]
fn steps_are_of_third_order_and_lower_the_action() {
    let device = devices().pop().unwrap();
    let extents = over_ranks([4, 4, 4, 8]);
    let geometry = common::geometry(extents, &device);
    let u = su3::smooth_gauge::<3>(Lattice::new(extents), 0.5, 72);
    let start = links(&device, &geometry, &u);
    for kind in KINDS {
        let time = 0.24;
        let (fine, _) = flowed(&start, &params(kind, 0.0025, time));
        let error = |step| flowed(&start, &params(kind, step, time)).0.distance(&fine).unwrap();
        let (coarse, half) = (error(0.03), error(0.015));
        let power = (coarse / half).log2();
        println!("{kind:?}: {coarse:e}, {half:e}, power {power:.3}");
        assert!((power - 3.0).abs() < 0.4, "{kind:?}: power {power}");
        let (_, report) = flowed(&start, &params(kind, 0.03, time));
        assert_eq!(report.steps, 8);
        assert_eq!(report.points.len(), 9);
        for w in report.points.windows(2) {
            assert!(w[1].plaquette() < w[0].plaquette(), "{kind:?}: {w:?}");
        }
        // A flow with adaptive steps ends at the same time with the same links.
        let p = FlowParams { tolerance: 1e-5, ..params(kind, 0.2, time) };
        let (adaptive, report) = flowed(&start, &p);
        let off = adaptive.distance(&fine).unwrap();
        println!("{kind:?}: {} adaptive steps, {} again, {off:e}", report.steps, report.repeated);
        assert!((report.time - time).abs() < 1e-12 && off < 1e-4, "{kind:?}: {off:e}");
        assert!(report.repeated > 0, "a first step of 0.2 is too large");
    }
}

/// The action falls along Wilson's flow as dS/dt = -sum F^2, and measured points report it.
#[test]
fn the_action_falls_as_the_force_squared() {
    for device in devices() {
        let extents = over_ranks([8, 4, 4, 12]);
        let geometry = common::geometry(extents, &device);
        let u = su3::smooth_gauge::<3>(Lattice::new(extents), 0.4, 73);
        let start = links(&device, &geometry, &u);
        let h = 1e-3;
        let (_, report) = flowed(&start, &params(FlowKind::Wilson, h, 2.0 * h));
        let volume = geometry.global_volume() as f64;
        // The action per site is S = beta / 3 (E / 2) at beta 6.
        let s: Vec<f64> = report.points.iter().map(|p| volume * p.plaquette()).collect();
        let slope = (4.0 * s[1] - s[2] - 3.0 * s[0]) / (2.0 * h);
        let c = GaugeCoefficients::wilson(6.0).unwrap();
        let mut force = GaugeForce::new(&device, &geometry, Precision::F64, c).unwrap();
        let mut p = Momenta::new(&device, &geometry, Precision::F64).unwrap();
        let rms = force.kick(&start, &mut p, 0.0, 1.0).unwrap().rms;
        let expected = -rms * rms * 4.0 * volume;
        assert!((slope / expected - 1.0).abs() < 1e-3, "{slope}, {expected}");
        let f = field_strength(&start).unwrap();
        let first = report.points[0];
        assert_eq!(first.clover(), f.energy_spatial + f.energy_temporal);
        assert_eq!(first.charge, f.charge);
    }
}

#[test]
fn scales_are_where_the_curves_cross() {
    let point = |t: f64| {
        // A made-up curve: t^2 E = 0.1 t + 0.02 t^2
        let e = if t > 0.0 { (0.1 * t + 0.02 * t * t) / (t * t) } else { 1.0 };
        FlowPoint { time: t, energy_spatial: e, ..Default::default() }
    };
    let points = (0..=400).map(|k| point(0.01 * f64::from(k))).collect();
    let report = plaq::ops::flow::FlowReport { points, ..Default::default() };
    let t0 = (-0.1 + (0.01f64 + 0.08 * 0.3).sqrt()) / 0.04;
    assert!((report.t0(FlowPoint::clover).unwrap() - t0).abs() < 1e-4);
    // w0^2 solves t (0.1 + 0.04 t) = 0.3.
    let w2 = (-0.1 + (0.01f64 + 0.16 * 0.3).sqrt()) / 0.08;
    assert!((report.w0(FlowPoint::clover).unwrap() - w2.sqrt()).abs() < 1e-4);
    assert!(plaq::ops::flow::FlowReport::default().t0(FlowPoint::clover).is_none());
}

#[test]
fn bad_parameters_and_stops() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(1, 0.3).unwrap();
    let before = u.save_lex().unwrap();
    let good = params(FlowKind::Wilson, 0.02, 1.0);
    for bad in [
        FlowParams { step: 0.0, ..good },
        FlowParams { step: f64::NAN, ..good },
        FlowParams { step: 0.5, ..good },
        FlowParams { time: -1.0, ..good },
        FlowParams { time: f64::NAN, ..good },
        FlowParams { tolerance: -1.0, ..good },
        FlowParams { every: 0, ..good },
    ] {
        let mut go = |_: &FlowPoint| ControlFlow::Continue(());
        let e = Flow::new(&u, bad.kind).unwrap().run(&mut u, &bad, &mut go).unwrap_err();
        assert_eq!(e.status, Status::BadParameter, "{bad:?}");
    }
    assert_eq!(u.save_lex().unwrap(), before);
    let mut stop = |p: &FlowPoint| {
        if p.time > 0.09 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let report = Flow::new(&u, good.kind).unwrap().run(&mut u, &good, &mut stop).unwrap();
    assert!(report.stopped && report.steps == 5, "{report:?}");
}
