//! Tests of quark fields on links with boundaries in time that are transported, differentiated and flowed, against paths
//! of links that exist.

use std::ops::ControlFlow;

use num_complex::Complex64;

use crate::boundaries::{setups, Setup};
use crate::common::{distance, tolerance, Lex};
use crate::reference::bounded::Bounded;
use crate::reference::numbers::{field_numbers, gauge_from, gauge_numbers};
use crate::reference::{spinor, Field, C};
use plaq::fields::{
    blas, Components, GaugeField, Precision, Recon, RhsOrder, SpinorField, Subset, VectorField,
};
use plaq::linop::LinOp;
use plaq::operators::{Boundary, CovariantShift};
use plaq::ops::flow::FlowKind;
use plaq::ops::quark_flow::{adjoint_flow, flow, QuarkFlowParams};
use plaq::ops::structure::insertions::{insertions, Lines};
use plaq::ops::structure::lines::Factor;

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
                boundary: [0.0; 4],
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
