//! Tests of gauge observables against the reference, in every storage and precision.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, largest, lattices, storage_factor, tolerance, Lex};
use plaq::backend::Device;
use plaq::error::Status;
use plaq::fields::{GaugeField, Geometry, Precision, Recon};
use plaq::io::LinksMark;
use plaq::ops::links_mark::{check_links, check_same, check_same_links, links_mark};
use plaq::ops::observables::{
    charge_density, field_strength, field_strength_with_trace, plaquette, polyakov_loop,
    projection, unitarity, wilson_action, Plaquette,
};
use reference::matrix::{mul, one, scale, trace};
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{observables, su3, GaugeN, Lattice, C};

fn field<const N: usize>(
    device: &Device,
    geometry: &Arc<Geometry>,
    links: &GaugeN<N>,
    (precision, recon): (Precision, Recon),
) -> GaugeField {
    let mut u = GaugeField::new(device, geometry, precision, recon).unwrap();
    u.load_lex(&gauge_numbers(links)).unwrap();
    u
}

/// Average tr / N of the closed straight lines in a direction; each line is counted once per site on it.
fn line_average<const N: usize>(lat: Lattice, u: &GaugeN<N>, mu: usize) -> C {
    let sum: C = (0..lat.volume())
        .map(|x| {
            let (mut line, mut at) = (one(), x);
            for _ in 0..lat.extents[mu] {
                line = mul(&line, &u[at * 4 + mu]);
                at = lat.forward(at, mu);
            }
            trace(&line)
        })
        .sum();
    sum / (N * lat.volume()) as f64
}

/// The sum of exp(2 pi i theta x) (1 + mu) / 4 (1 + N i + j) / 8 U_mu(x)_ij over sites, directions and entries, over
/// the root of the volume; theta the square roots of 2, 3, 5 and 7.
fn projected<const N: usize>(lat: Lattice, u: &GaugeN<N>) -> C {
    let theta = [2.0f64, 3.0, 5.0, 7.0].map(f64::sqrt);
    let mut sum = C::ZERO;
    for x in 0..lat.volume() {
        let turns: f64 = theta.iter().zip(lat.coords(x)).map(|(t, x)| t * x as f64).sum();
        for mu in 0..4 {
            for (k, z) in u[x * 4 + mu].iter().flatten().enumerate() {
                let weight = (1 + mu) as f64 / 4.0 * (1 + k) as f64 / 8.0;
                sum += C::from_polar(weight, std::f64::consts::TAU * turns) * z;
            }
        }
    }
    sum / (lat.volume() as f64).sqrt()
}

/// Largest difference of two sets of plaquettes.
fn apart(a: &Plaquette, b: &Plaquette) -> f64 {
    largest(
        [
            a.total - b.total,
            a.spatial - b.spatial,
            a.temporal - b.temporal,
            a.link_trace - b.link_trace,
        ]
        .map(f64::abs),
    )
}

fn compare<const N: usize>(device: &Device, extents: [usize; 4], recons: &[Recon]) {
    let geometry = common::geometry(extents, device);
    let lat = Lattice::new(extents);
    let links: GaugeN<N> = su3::smooth_gauge(lat, 0.3, 41);
    let p = observables::plaquette(lat, &links);
    let expected = Plaquette {
        total: p.total,
        spatial: p.spatial,
        temporal: p.temporal,
        link_trace: observables::link_trace(&links),
        unweighted: p.total,
    };
    assert!(
        (line_average(lat, &links, 3) - observables::polyakov_loop(lat, &links)).norm() < 1e-13
    );
    for precision in Precision::ALL {
        for &recon in recons {
            let u = field(device, &geometry, &links, (precision, recon));
            let what = format!("{extents:?} {precision:?} {recon:?} on {}", device.name());
            // A plaquette has 4 links; entries of products of N x N matrices are sums of N terms.
            let tol = 4.0 * N as f64 * storage_factor(recon) * tolerance(precision, 4.0);
            let found = plaquette(&u).unwrap();
            assert!(apart(&found, &expected) < tol, "{what}: {found:?}, {expected:?}");
            let (found, expected) = (projection(&u).unwrap(), projected(lat, &links));
            let off = (C::new(found[0], found[1]) - expected).norm();
            // The numbers of a site have a modulus below 10. The argument of their phase, up to 2 pi times the sum of
            // the extents, is rounded to its last digit. Errors of V sites add up to sqrt(V), by which the sum is
            // divided.
            let arguments = 2.0 * std::f64::consts::PI * extents.iter().sum::<usize>() as f64;
            let rounded = 10.0 * f64::EPSILON * arguments;
            assert!(off < 4.0 * tol + rounded, "{what}: projection {found:?}, {expected}");
            let beta = 5.7;
            let action = wilson_action(&u, beta).unwrap();
            let scale = beta * 6.0 * lat.volume() as f64;
            let e = observables::wilson_action(lat, &links, beta);
            assert!((action - e).abs() < scale * tol, "{what}: action {action}, {e}");
            for (mu, length) in extents.into_iter().enumerate() {
                let (found, expected) =
                    (polyakov_loop(&u, mu).unwrap(), line_average(lat, &links, mu));
                let off = (found - expected).norm();
                assert!(off < tol * length as f64, "{what}: line {mu}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn plaquettes_traces_and_lines_match_the_reference() {
    for device in devices() {
        for extents in lattices() {
            compare::<3>(&device, extents, &Recon::SU3);
            compare::<2>(&device, extents, &[Recon::Su2]);
        }
    }
}

#[test]
fn charge_and_action_density_match_the_reference() {
    for device in devices() {
        for extents in lattices() {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let links = su3::smooth_gauge::<3>(lat, 0.4, 43);
            let density = [false, true].map(|k| observables::charge_density(lat, &links, k));
            let charge = [0, 1].map(|k| density[k].iter().sum::<f64>());
            // energy[trace][time]: without and with the trace of F, in planes without and with t.
            let mut energy = [[0.0; 2]; 2];
            for x in 0..lat.volume() {
                for nu in 0..4 {
                    for mu in 0..nu {
                        let f = observables::field_strength(lat, &links, x, mu, nu);
                        let t = trace(&f);
                        let full = trace(&mul(&f, &f));
                        for (e, square) in energy.iter_mut().zip([full - t * t / 3.0, full]) {
                            e[usize::from(nu == 3)] -= square.re / lat.volume() as f64;
                        }
                    }
                }
            }
            // The trace of F contributes far more than rounding.
            assert!((charge[0] - charge[1]).abs() > 1e-4 * charge[0].abs(), "{charge:?}");
            assert!(energy[1][0] > 1.0001 * energy[0][0], "{energy:?}");
            for precision in Precision::ALL {
                for recon in Recon::SU3 {
                    let u = field(&device, &geometry, &links, (precision, recon));
                    let found = [field_strength, field_strength_with_trace].map(|f| f(&u).unwrap());
                    // Rounding per site: 16 links in a leaf, F of order one; errors of the sites may add up.
                    let tol = 64.0 * storage_factor(recon) * tolerance(precision, 4.0);
                    let what = format!("{extents:?} {precision:?} {recon:?} {}", device.name());
                    for ((found, charge), energy) in found.iter().zip(charge).zip(energy) {
                        let off = (found.charge - charge).abs();
                        // q(x) has a factor of 1/(4 pi^2) before the sum of three products.
                        let bound = tol * lat.volume() as f64 * 3.0 / 39.0;
                        assert!(off < bound, "{what}: {found:?}, {charge}");
                        let apart = [found.energy_spatial, found.energy_temporal];
                        let near = |(a, b): (f64, f64)| (a - b).abs() < tol;
                        assert!(apart.into_iter().zip(energy).all(near), "{what}: {energy:?}");
                    }
                    for (kept, density) in [false, true].into_iter().zip(&density) {
                        let found = charge_density(&u, kept).unwrap();
                        assert_eq!(found.len(), geometry.volume());
                        // The index of a site of this rank on the whole lattice.
                        let global = |site: usize| {
                            let mut rest = site;
                            let place = |mu: usize| {
                                let x = rest % geometry.extents()[mu];
                                rest /= geometry.extents()[mu];
                                x + geometry.origin()[mu]
                            };
                            let [x, y, z, t] = std::array::from_fn(place);
                            x + extents[0] * (y + extents[1] * (z + extents[2] * t))
                        };
                        for (x, q) in found.iter().enumerate() {
                            let off = (q - density[global(x)]).abs();
                            assert!(off < tol * 3.0 / 39.0, "{what}: site {x}: off by {off:e}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn observables_are_gauge_invariant() {
    for device in devices() {
        for extents in lattices() {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let links = su3::smooth_gauge::<3>(lat, 0.3, 47);
            let turned = su3::transform(lat, &links, &su3::random_transformation(lat, 48));
            let double = (Precision::F64, Recon::R18);
            let [u, v] = [&links, &turned].map(|l| field(&device, &geometry, l, double));
            let tol = 12.0 * tolerance(Precision::F64, 16.0);
            let (p, q) = (plaquette(&u).unwrap(), plaquette(&v).unwrap());
            assert!((p.spatial - q.spatial).abs() < tol && (p.temporal - q.temporal).abs() < tol);
            assert!((p.link_trace - q.link_trace).abs() > 0.1, "the transformation did nothing");
            for mu in 0..4 {
                let off = polyakov_loop(&u, mu).unwrap() - polyakov_loop(&v, mu).unwrap();
                assert!(off.norm() < tol * extents[mu] as f64);
            }
            let (f, g) = (field_strength(&u).unwrap(), field_strength(&v).unwrap());
            let sites = lat.volume() as f64;
            assert!((f.charge - g.charge).abs() < tol * sites, "{f:?} {g:?}");
            assert!((f.energy_temporal - g.energy_temporal).abs() < 16.0 * tol);
        }
    }
}

#[test]
fn the_worst_link_is_found() {
    for device in devices() {
        for extents in lattices() {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            // The links are orthonormalised twice: rows that were nearly parallel leave more than rounding the first
            // time.
            let links: GaugeN<3> =
                su3::haar_gauge::<3>(lat, 53).iter().map(su3::reunitarise).collect();
            for precision in Precision::ALL {
                let u = field(&device, &geometry, &links, (precision, Recon::R18));
                let clean = unitarity(&u).unwrap();
                // Unitarity: sums of 3 products of entries of modulus at most one; determinant: 6 terms of 3 factors.
                let tol = 18.0 * tolerance(precision, 4.0);
                assert!(clean.worst() < tol, "{precision:?}: {clean:?}");
            }
            let site = [1, extents[1] - 1, 2, extents[3] / 2];
            let bad = lat.lex(site) * 4 + 2;
            let mut scaled = links.clone();
            scaled[bad] = scale(C::new(1.01, 0.0), &links[bad]);
            let double = (Precision::F64, Recon::R18);
            let found = unitarity(&field(&device, &geometry, &scaled, double)).unwrap();
            assert_eq!((found.site, found.direction), (site, 2));
            assert!((found.unitary - (1.01f64.powi(2) - 1.0)).abs() < 1e-12, "{found:?}");
            assert!((found.det - (1.01f64.powi(3) - 1.0)).abs() < 1e-12, "{found:?}");
            // A matrix times a phase is unitary, so that the determinant alone shows the fault.
            scaled[bad] = scale(C::from_polar(1.0, 0.1), &links[bad]);
            let found = unitarity(&field(&device, &geometry, &scaled, double)).unwrap();
            assert_eq!((found.site, found.direction), (site, 2));
            assert!(found.unitary < 1e-12 && (found.det - 2.0 * 0.15f64.sin()).abs() < 1e-12);
            scaled[bad][1][1] = C::new(f64::NAN, 0.0);
            let found = unitarity(&field(&device, &geometry, &scaled, double)).unwrap();
            assert_eq!((found.site, found.direction), (site, 2));
            assert!(found.unitary.is_infinite() && found.det.is_infinite(), "{found:?}");
        }
    }
}

#[test]
fn what_does_not_exist_is_refused() {
    for device in devices() {
        let geometry = common::geometry([4; 4], &device);
        let mut u = GaugeField::new(&device, &geometry, Precision::F32, Recon::Su2).unwrap();
        u.set_unit().unwrap();
        assert_eq!(field_strength(&u).unwrap_err().status, Status::Unsupported);
        assert_eq!(polyakov_loop(&u, 4).unwrap_err().status, Status::InvalidArgument);
        let unit =
            Plaquette { total: 1.0, spatial: 1.0, temporal: 1.0, link_trace: 1.0, unweighted: 1.0 };
        assert_eq!(plaquette(&u).unwrap(), unit);
    }
}

/// Numbers that identify links are computed once for each state of them.
#[test]
fn marks_of_links_are_kept() {
    for device in devices() {
        let extents = common::over_ranks([4, 2, 2, 4]);
        let geometry = common::geometry(extents, &device);
        let numbers = gauge_numbers(&su3::smooth_gauge::<3>(Lattice::new(extents), 0.3, 54));
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        let mut computed = 0.0;
        for expected in [1.0, 2.0] {
            u.load_lex(&numbers).unwrap();
            for _ in 0..3 {
                let mark = u.mark(|| {
                    computed += 1.0;
                    Ok([computed; 5])
                });
                assert_eq!(mark.unwrap(), [expected; 5]);
            }
        }
    }
}

/// Marks of links, as they come from files, are compared to the rounding of the coarser links.
#[test]
fn marks_of_links_are_compared_by_their_precision() {
    for device in devices() {
        let extents = common::over_ranks([4, 4, 2, 4]);
        let (geometry, lat) = (common::geometry(extents, &device), Lattice::new(extents));
        let links = su3::smooth_gauge::<3>(lat, 0.3, 55);
        // Other links that are nearly the same as these.
        let mut rng = Rng::new(56);
        let moved: GaugeN<3> = links
            .iter()
            .map(|u| {
                mul(
                    &su3::exp_i(
                        &su3::random_hermitian::<3>(&mut rng).map(|row| row.map(|z| 1e-4 * z)),
                    ),
                    u,
                )
            })
            .collect();
        let [u, v] =
            [&links, &moved].map(|l| field(&device, &geometry, l, (Precision::F64, Recon::R18)));
        let [single, half] =
            [Precision::F32, Precision::F16].map(|precision| u.to(precision, Recon::R18).unwrap());
        let of_file = |u: &GaugeField| LinksMark { configuration: None, ..links_mark(u).unwrap() };
        let [double, coarse] = [&u, &half].map(of_file);
        assert!(coarse.coarse && !double.coarse);
        for (mark, links) in
            [(double, &u), (double, &single), (double, &half), (coarse, &u), (coarse, &half)]
        {
            check_links(&mark, "a file", links, "gauge").unwrap();
            check_same(&mark, "a file", links, "gauge").unwrap();
            check_same_links((&mark, "a file"), (&of_file(links), "gauge")).unwrap();
        }
        let refused = |found: plaq::error::Result<()>| {
            assert_eq!(found.unwrap_err().status, Status::FieldMismatch);
        };
        refused(check_links(&double, "a file", &v, "gauge"));
        refused(check_same_links((&double, "a file"), (&of_file(&v), "gauge")));
        // In 16 bits the two fields cannot be distinguished.
        check_links(&coarse, "a file", &v, "gauge").unwrap();
    }
}
