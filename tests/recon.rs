//! Tests of every link storage in every precision: a reconstructed link agrees with the original to the rounding of
//! the stored numbers, times the loss that the storage documents, and is never NaN.

use crate::{common, reference};
use common::Lex;
use plaq::backend::Device;
use plaq::fields::{GaugeField, Precision, Recon};
use reference::matrix::mul;
use reference::{largest, lattice::Lattice, su3, Gauge, C};

const EXTENTS: [usize; 4] = [4, 4, 4, 8];

fn flat(gauge: &Gauge) -> Vec<f64> {
    gauge.iter().flatten().flatten().flat_map(|z| [z.re, z.im]).collect()
}

fn field(
    device: &Device,
    gauge: &Gauge,
    extents: [usize; 4],
    precision: Precision,
    recon: Recon,
) -> GaugeField {
    let geometry = common::geometry(extents, device);
    let mut field = GaugeField::new(device, &geometry, precision, recon).expect("fits");
    field.load_lex(&flat(gauge)).expect("loads");
    field
}

/// Largest difference of a matrix element, for each link.
fn errors(field: &GaugeField, gauge: &Gauge) -> Vec<f64> {
    let back = field.save_lex().expect("saves");
    let expected = flat(gauge);
    back.chunks(18)
        .zip(expected.chunks(18))
        .map(|(b, e)| largest(b.iter().zip(e).map(|(b, e)| (b - e).abs())))
        .collect()
}

fn bound(precision: Precision, recon: Recon) -> f64 {
    let arithmetic = if precision == Precision::F64 { f64::EPSILON } else { f32::EPSILON as f64 };
    let stored = precision.epsilon();
    match recon {
        Recon::R18 | Recon::Su2 => stored + arithmetic,
        Recon::R12 => 4.0 * stored + 8.0 * arithmetic,
        // v0 and w0 carry four times the rounding of the stored numbers; a unit vector turns by twice the change of v
        // and takes the second row with it.
        Recon::R8 => 24.0 * stored + 24.0 * arithmetic,
        Recon::R8Angles => 8.0 * stored + 24.0 * arithmetic,
    }
}

fn check(device: &Device, gauge: &Gauge, what: &str) {
    // Without this projection the matrices are unitary to 1e-13 only.
    let gauge: &Gauge = &gauge.iter().map(su3::reunitarise).collect();
    for precision in Precision::ALL {
        for recon in Recon::SU3 {
            for extents in [EXTENTS, [2, 2, 16, 8]] {
                let field = field(device, gauge, extents, precision, recon);
                for (error, u) in errors(&field, gauge).into_iter().zip(gauge) {
                    let bound = bound(precision, recon);
                    assert!(
                        error <= bound,
                        "{what}, {precision:?} {recon:?}: error {error:e} > {bound:e} on {u:?}"
                    );
                }
            }
        }
    }
}

fn haar_links(device: &Device) {
    check(device, &su3::haar_gauge(Lattice::new(EXTENTS), 1), "Haar");
}

fn links_near_and_at_unity(device: &Device) {
    let lat = Lattice::new(EXTENTS);
    for epsilon in [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-1] {
        check(device, &su3::smooth_gauge(lat, epsilon, 2), "near unit");
    }
    check(device, &su3::unit_gauge(lat), "unit");
}

fn unit_links_are_stored_without_loss_of_digits(device: &Device) {
    let gauge = su3::unit_gauge(Lattice::new(EXTENTS));
    for recon in Recon::SU3 {
        let worst = errors(&field(device, &gauge, EXTENTS, Precision::F64, recon), &gauge);
        let worst = largest(worst);
        assert!(worst < 1e-15, "{recon:?}: {worst:e}");
    }
}

/// Links that are permutations with signs and phases, and links at distances 1e-8 and 1e-3 from them, are stored
/// well.
fn permutation_like_links(device: &Device) {
    let lat = Lattice::new(EXTENTS);
    let mut rng = reference::rng::Rng::new(5);
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    for epsilon in [0.0, 1e-8, 1e-3] {
        let near = su3::smooth_gauge::<3>(lat, epsilon, 7);
        let gauge: Gauge = (0..lat.volume() * 4)
            .map(|i| {
                let order = orders[i % 6];
                let sign = if i % 6 < 3 { 1.0 } else { -1.0 };
                let (p, q) = if i % 5 == 0 { (0.0, 0.0) } else { (rng.uniform(), rng.uniform()) };
                let phases = [p, q, -p - q].map(|x| C::from_polar(1.0, std::f64::consts::TAU * x));
                let mut u = [[C::ZERO; 3]; 3];
                (0..3).for_each(|row| u[row][order[row]] = sign * phases[row]);
                if epsilon == 0.0 {
                    u
                } else {
                    mul(&u, &near[i])
                }
            })
            .collect();
        check(device, &gauge, "permutation");
    }
}

/// Links at which stereographic projections change half spheres, and at which they are furthest from their poles, are
/// stored well: rows (i cos, .., sin ..) with signs, and links near them.
fn links_at_the_equators(device: &Device) {
    let lat = Lattice::new(EXTENTS);
    let turns = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75];
    for epsilon in [0.0, 1e-8, 1e-3] {
        let near = su3::smooth_gauge::<3>(lat, epsilon, 8);
        let gauge: Gauge = (0..lat.volume() * 4)
            .map(|i| {
                let phase = |n: usize| C::from_polar(1.0, std::f64::consts::PI * turns[n % 8]);
                let (sin, cos) = (std::f64::consts::FRAC_PI_4 * (i / 64 % 8) as f64).sin_cos();
                let (p, q) = (phase(i), phase(i / 8));
                // diag(p, q, 1 / pq) times a rotation of rows 1 and 2, or of rows 2 and 3
                let mut turn = [[C::ZERO; 3]; 3];
                let at = i / 512 % 2;
                (0..3).for_each(|k| turn[k][k] = C::ONE);
                (turn[at][at], turn[at][at + 1]) = (cos.into(), sin.into());
                (turn[at + 1][at], turn[at + 1][at + 1]) = ((-sin).into(), cos.into());
                let phases = [p, q, (p * q).conj()];
                let u = std::array::from_fn(|r| turn[r].map(|z| phases[r] * z));
                if epsilon == 0.0 {
                    u
                } else {
                    mul(&u, &near[i])
                }
            })
            .collect();
        check(device, &gauge, "equator");
    }
}

fn conversion_equals_loading_in_the_other_storage(device: &Device) {
    let gauge = su3::smooth_gauge(Lattice::new(EXTENTS), 0.3, 9);
    let gauge: Gauge = gauge.iter().map(su3::reunitarise).collect();
    for (from, to) in [
        (Precision::F64, Precision::F64),
        (Precision::F64, Precision::F32),
        (Precision::F64, Precision::F16),
        (Precision::F32, Precision::F16),
        (Precision::F32, Precision::F64),
    ] {
        for (a, b) in [
            (Recon::R18, Recon::R12),
            (Recon::R12, Recon::R8),
            (Recon::R8, Recon::R18),
            (Recon::R18, Recon::R8Angles),
        ] {
            let source = field(device, &gauge, EXTENTS, from, a);
            let converted = source.to(to, b).expect("same group");
            assert_eq!((converted.precision(), converted.recon()), (to, b));
            for error in errors(&converted, &gauge) {
                let bound = 2.0 * (bound(from, a) + bound(to, b));
                assert!(error <= bound, "{from:?} {a:?} to {to:?} {b:?}: {error:e} > {bound:e}");
            }
        }
    }
    assert!(field(device, &gauge, EXTENTS, Precision::F64, Recon::R18)
        .to(Precision::F64, Recon::Su2)
        .is_err());
}

common::on_every_device! {
    haar_links
    links_near_and_at_unity
    unit_links_are_stored_without_loss_of_digits
    permutation_like_links
    links_at_the_equators
    conversion_equals_loading_in_the_other_storage
}
