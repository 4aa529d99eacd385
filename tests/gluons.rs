//! Tests of pairs of field strengths along adjoint lines against sums site by site.

use crate::setup::setups;
use crate::{common, reference};

use common::{distance, tolerance};
use plaq::error::Status;
use plaq::fields::{Precision, Recon};
use plaq::ops::observables::field_strength;
use plaq::ops::structure::gluons::{gluon_pairs, PLANES};
use reference::hmc::path;
use reference::matrix::{add, dag, mul, scale, sub, trace, zero, Matrix};
use reference::{Gauge, Lattice, C};

const ORDER: [(i32, i32); PLANES] = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)];

/// The field strength (Q - Q^dagger) / 8 with Q the sum of the four leaves, without its trace.
fn strength(lat: Lattice, u: &Gauge, x: usize, (m, n): (i32, i32)) -> Matrix<3> {
    let (b, c) = (-1 - m, -1 - n);
    let leaves = [[m, n, b, c], [n, b, c, m], [b, c, m, n], [c, m, n, b]];
    let q = leaves.iter().fold(zero::<3>(), |q, steps| add(&q, &path(lat, u, x, steps)));
    let mut f = scale(C::new(0.125, 0.0), &sub(&q, &dag(&q)));
    let third = trace(&f) / 3.0;
    (0..3).for_each(|i| f[i][i] -= third);
    f
}

#[test]
fn pairs_equal_sums_site_by_site() {
    let (steps, momenta) = ([2u8, 2, 7, 3, 4], [[0, 0, 0], [1, 0, -1]]);
    for s in setups().into_iter().take(3) {
        let (lat, extents) = (s.lat, s.geometry.global_extents());
        let times = extents[3];
        let f: Vec<Vec<_>> = (0..lat.volume())
            .map(|x| ORDER.iter().map(|p| strength(lat, &s.links, x, *p)).collect())
            .collect();
        let mut want = vec![C::new(0.0, 0.0); (steps.len() + 1) * 36 * momenta.len() * times];
        for x in 0..lat.volume() {
            let at = lat.coords(x);
            for n in 0..=steps.len() {
                // The reference counts steps back as -1, -2, ...
                let of = |s: &u8| if *s < 4 { i32::from(*s) } else { i32::from(*s) - 8 };
                let walked: Vec<i32> = steps[..n].iter().map(of).collect();
                let end = steps[..n].iter().fold(x, |y, &s| match usize::from(s) {
                    mu @ 0..=3 => lat.forward(y, mu),
                    back => lat.backward(y, 7 - back),
                });
                let w = path(lat, &s.links, x, &walked);
                for (b, second) in f[end].iter().enumerate() {
                    let moved = mul(&mul(&w, second), &dag(&w));
                    for (a, first) in f[x].iter().enumerate() {
                        let z = trace(&mul(first, &moved));
                        for (p, n3) in momenta.iter().enumerate() {
                            let turns: f64 = (0..3)
                                .map(|i| n3[i] as f64 * at[i] as f64 / extents[i] as f64)
                                .sum();
                            let wave = C::from_polar(1.0, -std::f64::consts::TAU * turns);
                            want[(((n * 6 + a) * 6 + b) * momenta.len() + p) * times + at[3]] +=
                                wave * z;
                        }
                    }
                }
            }
        }
        for (precision, recon) in [
            (Precision::F64, Recon::R18),
            (Precision::F64, Recon::R8),
            (Precision::F32, Recon::R12),
        ] {
            let links = std::sync::Arc::new(s.gauge.to(precision, recon).unwrap());
            let found = gluon_pairs(&links, &steps, &momenta).unwrap();
            let numbers = |v: &[C]| v.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<_>>();
            let off = distance(&numbers(&found), &numbers(&want));
            assert!(
                off < tolerance(precision, 2000.0),
                "{extents:?} {precision:?} {recon:?}: {off:e}"
            );
        }
        // Pairs of equal planes without a line between them give the action density.
        let found = gluon_pairs(&s.gauge, &[], &[[0; 3]]).unwrap();
        let density: f64 =
            (0..6).map(|a| found[7 * a * times..][..times].iter().map(|z| z.re).sum::<f64>()).sum();
        let e = field_strength(&s.gauge).unwrap();
        let total = (e.energy_spatial + e.energy_temporal) * s.geometry.global_volume() as f64;
        assert!((density / total + 1.0).abs() < 1e-12, "{density} {total}");
        let bad = gluon_pairs(&s.gauge, &[8], &[[0; 3]]).unwrap_err();
        assert_eq!(bad.status, Status::InvalidArgument);
    }
}
