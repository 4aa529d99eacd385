//! Tests of Wilson, clover and twisted-mass operators against the reference and the identities of physics.md.

use crate::setup::{reference_params, setups, Setup};
use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, storage_factor, tolerance, Lex};
use plaq::backend::{lanes_up_to, Device, External};
use plaq::error::Status;
use plaq::fields::{
    blas, CloverCoefficients, CloverField, CloverForm, GaugeField, Geometry, Layout, Noise,
    Precision, Recon, SpinorField, Subset,
};
use plaq::linop::LinOp;
use plaq::operators::{gamma5, DiracParams, EvenOdd, HopCall, SiteTerm, Wilson};
use reference::dirac::{Dirac, Preconditioned};
use reference::matrix::det;
use reference::numbers::{field_from, field_numbers, gauge_numbers};
use reference::{spinor, su3, Field, Gauge, Lattice, C};

/// Every storage of SU(3); each adds its own error to the rounding of a link (kernels/recon.h).
const RECONS: [Recon; 4] = Recon::SU3;

/// Parameters for Wilson; clover with every option; twisted mass; twisted clover; complex phases; and exponentiated
/// clover terms, one with an exponent so large that it is halved before the series.
fn parameter_sets() -> Vec<DiracParams> {
    let one = C::new(1.0, 0.0);
    let plain = DiracParams { mass: 0.2, ..Default::default() };
    let general = DiracParams {
        mass: 0.3,
        csw: 1.1,
        csw_t: 0.9,
        cf: 1.0,
        cf_prime: 1.0,
        mu: 0.0,
        rho: 0.0,
        hop: [0.7, 0.7, 0.7, 1.0],
        boundary: [one, C::from_polar(1.0, 0.4), one, -one],
        ..Default::default()
    };
    vec![
        plain,
        DiracParams { mu: 0.17, boundary: [one; 4], ..plain },
        general,
        DiracParams { mu: -0.25, boundary: [-one, one, -one, C::from_polar(1.0, 1.1)], ..general },
        DiracParams { clover: CloverForm::Exponential, ..general },
        DiracParams { clover: CloverForm::Exponential, csw: 3.7, mu: 0.21, ..general },
    ]
}

fn scaled(f: &Field, a: f64) -> Field {
    spinor::scale(C::new(a, 0.0), f)
}

/// Number of terms whose rounding errors add up in one output number: 8 directions x 3 colours x 2, and the site
/// terms.
const TERMS: f64 = 60.0;

#[test]
fn full_operator_agrees_with_the_reference() {
    for s in setups() {
        let (a, b) = (spinor::random(s.lat, 1), spinor::random(s.lat, 2));
        for params in parameter_sets() {
            let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
            let scale = 2.0 * params.kappa();
            let expect: Vec<f64> = [&a, &b]
                .iter()
                .flat_map(|f| field_numbers(&scaled(&dirac.apply(f), scale)))
                .collect();
            let expect_dag: Vec<f64> = [&a, &b]
                .iter()
                .flat_map(|f| field_numbers(&scaled(&dirac.apply_dag(f), scale)))
                .collect();
            for precision in Precision::ALL {
                for recon in RECONS {
                    let short = matches!(recon, Recon::R8 | Recon::R8Angles);
                    if short && !s.device.is_cpu() && params != parameter_sets()[2] {
                        continue;
                    }
                    let op = s.wilson_in(params, precision, recon);
                    let inp = s.spinors(precision, Subset::Full, &[&a, &b]);
                    let mut out = inp.like(precision).unwrap();
                    op.apply(&mut out, &inp).unwrap();
                    let found = distance(&out.save_lex().unwrap(), &expect);
                    let bound = storage_factor(recon) * tolerance(precision, TERMS);
                    assert!(
                        found < bound,
                        "{:?} {precision:?} {recon:?} {params:?}: {found:e} > {bound:e}",
                        s.lat
                    );
                    op.apply_dagger(&mut out, &inp).unwrap();
                    let found = distance(&out.save_lex().unwrap(), &expect_dag);
                    assert!(
                        found < bound,
                        "dagger {precision:?} {recon:?} {params:?}: {found:e} > {bound:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn even_odd_operators_agree_with_the_reference() {
    for s in setups() {
        let a = spinor::random(s.lat, 3);
        for params in parameter_sets() {
            let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
            for precision in [Precision::F64, Precision::F32, Precision::F16] {
                let op = Arc::new(s.wilson_in(params, precision, Recon::R12));
                for parity in 0..2 {
                    for symmetric in [true, false] {
                        let pc = Preconditioned { parity, symmetric };
                        let eo = EvenOdd::new(op.clone(), parity, symmetric);
                        // The reference is mass-normalised: in kappa normalisation the asymmetric form is 2 kappa times
                        // it.
                        let scale = if symmetric { 1.0 } else { 2.0 * params.kappa() };
                        let on_p = spinor::on_parity(s.lat, parity, &a);
                        let inp = s.spinors(precision, Subset::of_parity(parity), &[&a]);
                        let mut out = inp.like(precision).unwrap();
                        for dagger in [false, true] {
                            if dagger {
                                eo.apply_dagger(&mut out, &inp).unwrap();
                            } else {
                                eo.apply(&mut out, &inp).unwrap();
                            }
                            let expect =
                                field_numbers(&scaled(&dirac.apply_eo(pc, dagger, &on_p), scale));
                            let found = distance(&out.save_lex().unwrap(), &expect);
                            let bound = tolerance(precision, 3.0 * TERMS);
                            assert!(
                                found < bound,
                                "{:?} {precision:?} parity {parity} symmetric {symmetric} dagger {dagger} {params:?}: {found:e} > {bound:e}",
                                s.lat
                            );
                        }
                    }
                }
            }
        }
    }
}

/// ln det A agrees with the reference in kappa normalisation, with twist ln |det(A + i twist gamma5)|^2.
#[test]
fn log_det_of_the_clover_term_agrees_with_the_reference() {
    for s in setups() {
        for params in parameter_sets().into_iter().filter(DiracParams::has_clover) {
            let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
            let two_kappa = 2.0 * params.kappa();
            let eigenvalues = 6.0 * s.lat.volume() as f64;
            for precision in [Precision::F64, Precision::F32] {
                let op = s.wilson_in(params, precision, Recon::R12);
                let clover = op.clover().unwrap().expect("a clover term");
                let found = clover.log_det(CloverField::square(two_kappa * params.mu)).unwrap();
                for parity in 0..2 {
                    let one = dirac.ln_det_diagonal(parity).re + eigenvalues * two_kappa.ln();
                    let expect = if params.mu == 0.0 { one } else { 2.0 * one };
                    // The reference adds up terms of half of the sites, which cancel against the logarithm of 2 kappa.
                    let sites = 0.5 * s.lat.volume() as f64;
                    let summed = sites * f64::EPSILON * (eigenvalues * two_kappa.ln()).abs();
                    let bound = eigenvalues * tolerance(precision, TERMS) + summed;
                    // ln det of an exponential without a trace in its exponent is 0.
                    let constant = params.mu == 0.0 && params.clover == CloverForm::Exponential;
                    assert!(
                        (found[parity] - expect).abs() < bound
                            && (expect.abs() > 100.0 * bound) != constant,
                        "{:?} {precision:?} {params:?}: {found:?} {expect}",
                        s.lat
                    );
                }
                assert_ne!(found[0], found[1]);
            }
            let half = s.wilson_in(params, Precision::F16, Recon::R12);
            let error = half.clover().unwrap().unwrap().log_det(None).unwrap_err();
            assert_eq!(error.status, Status::Unsupported, "{error}");
        }
    }
}

/// A clover term with negative eigenvalues, from a very large coefficient, is inverted, and even-odd preconditioning
/// uses the inverse.
#[test]
fn a_clover_term_that_is_not_positive_is_inverted() {
    for s in setups() {
        let params = DiracParams { mass: 0.3, csw: 200.0, csw_t: 150.0, ..Default::default() };
        let dirac = Dirac::new(s.lat, &s.links, reference_params(&params));
        let negative = |x: usize| {
            dirac.site[x].iter().map(|block| det(block).re.signum()).product::<f64>() < 0.0
        };
        assert!((0..s.lat.volume()).any(negative), "no site has a negative determinant");
        for precision in [Precision::F64, Precision::F32] {
            let op = s.wilson_in(params, precision, Recon::R12);
            let clover = op.clover().unwrap().expect("a clover term");
            // Rounding is multiplied by the condition numbers of single blocks.
            let tol = 1e4 * tolerance(precision, TERMS);
            let (ln, sign) = (clover.log_det(None).unwrap(), clover.det_sign(None).unwrap());
            for parity in 0..2 {
                let sites = 6.0 * s.lat.volume() as f64;
                let one = dirac.ln_det_diagonal(parity).re + sites * (2.0 * params.kappa()).ln();
                assert!((ln[parity] - one).abs() < tol * sites, "{precision:?}: {ln:?} {one}");
                let sites = s.lat.sites_of_parity(parity);
                let odd = sites.iter().filter(|&&x| negative(x)).count();
                assert_eq!(sign[parity], if odd % 2 == 0 { 1 } else { -1 });
            }
            let psi = spinor::random(s.lat, 3);
            let inp = s.spinors(precision, Subset::Full, &[&psi]);
            let mut out = inp.like(precision).unwrap();
            for parity in 0..2 {
                op.apply_site(&mut out, &inp, parity, SiteTerm::Inverse, false, 1.0).unwrap();
            }
            let expect = spinor::scale(
                C::new(0.5 / params.kappa(), 0.0),
                &dirac.diagonal_inverse(false, &psi),
            );
            let found = field_from(&out.save_lex().unwrap());
            let off = spinor::relative_distance(&found, &expect);
            assert!(off < tol, "{:?} {precision:?}: {off:e}", s.lat);
        }
        assert!(s
            .wilson_in(params, Precision::F64, Recon::R12)
            .clover()
            .unwrap()
            .unwrap()
            .log_det(Some(0.01))
            .is_ok());
    }
}

/// A clover block without inverse is reported with its site; the full operator works, and only operations that need
/// the inverse fail.
#[test]
fn a_singular_clover_term_serves_the_full_operator() {
    for s in setups() {
        let mut clover =
            CloverField::build(&s.gauge, CloverCoefficients::traditional(0.2, 0.2)).unwrap();
        let layout = Layout::packed_clover(Precision::F64);
        let volume = s.geometry.volume();
        let mut blocks = vec![0.0; 72 * volume];
        clover.save(&layout, &mut External::write(vec![&mut blocks[..]])).unwrap();
        // The last site of this rank gets a second block with one zero eigenvalue.
        let block = &mut blocks[72 * volume - 36..];
        block.fill(0.0);
        block[..5].fill(1.0);
        clover.load(&layout, &External::read(&[&blocks[..]]), true).unwrap();
        let params = DiracParams { mass: 0.3, csw: 1.0, ..Default::default() };
        let op = Wilson::with_clover(s.gauge.clone(), Some(Arc::new(clover)), params).unwrap();
        let inp = s.spinors(Precision::F64, Subset::Full, &[&spinor::random(s.lat, 3)]);
        let mut out = inp.like(Precision::F64).unwrap();
        op.apply(&mut out, &inp).unwrap();
        assert!(blas::norm2(&out).unwrap()[0] > 0.0);
        let error = op.apply_site(&mut out, &inp, 0, SiteTerm::Inverse, false, 1.0).unwrap_err();
        assert_eq!(error.status, Status::SingularClover);
        let last: Vec<usize> = s.geometry.extents().iter().map(|l| l - 1).collect();
        // The named site has odd parity, as the last site in the array: its x makes the sum of coordinates odd.
        assert!(error.message().contains(", ") && error.message().contains("site ["), "{error}");
        if common::ranks().size() == 1 {
            let x = last[0] - (last.iter().sum::<usize>() + 1) % 2;
            let site = format!("[{x}, {}, {}, {}]", last[1], last[2], last[3]);
            assert!(error.message().contains(&site), "{site}: {error}");
        }
        let half = EvenOdd::new(Arc::new(op), 0, true);
        let inp = s.spinors(Precision::F64, Subset::Even, &[&spinor::random(s.lat, 3)]);
        let mut out = inp.like(Precision::F64).unwrap();
        let error = half.apply(&mut out, &inp).unwrap_err();
        assert_eq!(error.status, Status::SingularClover, "{error}");
    }
}

/// Operators give the same result for several right-hand sides as for one at a time. GPUs have a kernel of their own
/// for several, which runs through columns of sites if a lattice's slices are large enough, as here.
#[test]
fn several_right_hand_sides_agree_with_one_at_a_time() {
    for device in devices() {
        let extents = [16, 8, 6, 4];
        let geometry = Geometry::new(extents, &device).unwrap();
        let lat = Lattice::new(extents);
        let links: Gauge = su3::smooth_gauge(lat, 0.4, 7).iter().map(su3::reunitarise).collect();
        let mut exact = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        exact.load_lex(&gauge_numbers(&links)).unwrap();
        let s = Setup { device, geometry, lat, links, gauge: Arc::new(exact) };
        let fields: Vec<Field> = (0..5).map(|k| spinor::random(lat, 20 + k)).collect();
        let params = parameter_sets()[2];
        for precision in Precision::ALL {
            let op = s.wilson_in(params, precision, Recon::R12);
            let apply = |fields: &[&Field]| {
                let inp = s.spinors(precision, Subset::Full, fields);
                let mut out = inp.like(precision).unwrap();
                op.apply(&mut out, &inp).unwrap();
                out.save_lex().unwrap()
            };
            let together = apply(&fields.iter().collect::<Vec<_>>());
            let alone: Vec<f64> = fields.iter().flat_map(|f| apply(&[f])).collect();
            let found = distance(&together, &alone);
            let bound = tolerance(precision, TERMS);
            assert!(found < bound, "{precision:?}: {found:e} > {bound:e}");
        }
    }
}

#[test]
fn gamma5_hermiticity_holds_to_rounding() {
    for s in setups() {
        let a = spinor::random(s.lat, 4);
        for params in parameter_sets().into_iter().filter(|p| p.mu == 0.0) {
            for precision in Precision::ALL {
                let op = s.wilson_in(params, precision, Recon::R12);
                let inp = s.spinors(precision, Subset::Full, &[&a]);
                let (mut x, mut y) = (inp.like(precision).unwrap(), inp.like(precision).unwrap());
                gamma5(&mut x, &inp).unwrap();
                op.apply(&mut y, &x).unwrap();
                gamma5(&mut x, &y).unwrap();
                op.apply_dagger(&mut y, &inp).unwrap();
                let found = distance(&x.save_lex().unwrap(), &y.save_lex().unwrap());
                assert!(found < tolerance(precision, TERMS), "{precision:?} {params:?}: {found:e}");
            }
        }
    }
}

#[test]
fn gauge_covariance() {
    for s in setups() {
        let g = su3::random_transformation(s.lat, 11);
        let moved = su3::transform(s.lat, &s.links, &g);
        let mut links =
            GaugeField::new(&s.device, &s.geometry, Precision::F64, Recon::R18).unwrap();
        links.load_lex(&gauge_numbers(&moved)).unwrap();
        let a = spinor::random(s.lat, 5);
        let turn = |f: &Field| -> Field {
            f.iter().enumerate().map(|(x, psi)| reference::gamma::mul_colour(&g[x], psi)).collect()
        };
        for params in parameter_sets() {
            let op = s.wilson_in(params, Precision::F64, Recon::R12);
            let turned =
                Wilson::new(Arc::new(links.to(Precision::F64, Recon::R12).unwrap()), params)
                    .unwrap();
            let inp = s.spinors(Precision::F64, Subset::Full, &[&a]);
            let inp_g = s.spinors(Precision::F64, Subset::Full, &[&turn(&a)]);
            let mut out = inp.like(Precision::F64).unwrap();
            op.apply(&mut out, &inp).unwrap();
            let expect = field_numbers(&turn(&field_from(&out.save_lex().unwrap())));
            turned.apply(&mut out, &inp_g).unwrap();
            let found = distance(&out.save_lex().unwrap(), &expect);
            assert!(found < 2.0 * tolerance(Precision::F64, TERMS), "{params:?}: {found:e}");
        }
    }
}

/// Results on a lattice larger than the caches, where stores bypass them, equal those of one lane; so do results for
/// several right-hand sides, which go through it in tiles of sites.
#[test]
fn large_lattices_agree_with_one_lane() {
    for device in devices().into_iter().filter(Device::is_cpu) {
        let hop = |lanes, nrhs: usize| {
            let geometry = Geometry::with_lanes([16, 16, 16, 12], lanes).unwrap();
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            u.set_random(1).unwrap();
            let op = Wilson::new(Arc::new(u), DiracParams::default()).unwrap();
            let new = |subset, first| {
                let mut f =
                    SpinorField::new(&device, &geometry, Precision::F64, subset, nrhs).unwrap();
                f.set_noise(Noise::Normal, 2, first).unwrap();
                f
            };
            let (inp, mut out) = (new(Subset::Odd, 0), new(Subset::Even, 9));
            let site_hop = SiteTerm::One;
            let call = HopCall { parity: 0, dagger: false, coef: 0.3, site_hop, y: None };
            op.hop(&mut out, &inp, &call).unwrap();
            out.save_lex().unwrap()
        };
        let plain = hop(1, 2);
        assert!(distance(&hop(device.max_lanes(), 2), &plain) < tolerance(Precision::F64, 64.0));
        assert!(hop(1, 1) == plain[..plain.len() / 2]);
    }
}

/// A lattice of one rank splits into 8 lanes even if four divides no extent: then its pieces have odd extents, and a
/// step from one piece to the next changes the lane in another direction. An extent of two is not split: its pieces
/// would be single sites, and a path of two links would cross two boundaries between pieces.
#[test]
fn lattices_that_four_does_not_divide_have_lanes() {
    let boundary = [0.3, -0.7, 0.4, 1.0].map(|a: f64| C::from_polar(1.0, 3.0 * a));
    for device in devices().into_iter().filter(Device::is_cpu) {
        for (extents, lanes) in [
            ([6, 6, 6, 6], 8),
            ([6, 6, 6, 12], 8),
            ([8, 6, 6, 12], 8),
            ([10, 10, 2, 10], 4),
            ([4, 6, 10, 2], 4),
        ] {
            let run = |geometry: &Arc<Geometry>| {
                let mut u = GaugeField::new(&device, geometry, Precision::F64, Recon::R18).unwrap();
                u.set_random(3).unwrap();
                let params = DiracParams { boundary, csw: 1.1, csw_t: 0.9, ..Default::default() };
                let op = Wilson::new(Arc::new(u), params).unwrap();
                let mut x =
                    SpinorField::new(&device, geometry, Precision::F64, Subset::Full, 2).unwrap();
                x.set_noise(Noise::Normal, 2, 0).unwrap();
                let mut y = x.like(Precision::F64).unwrap();
                op.apply(&mut y, &x).unwrap();
                y.save_lex().unwrap()
            };
            let geometry = Geometry::new(extents, &device).unwrap();
            assert_eq!(geometry.lanes(), lanes_up_to(lanes.min(device.max_lanes())), "{extents:?}");
            let plain = run(&Geometry::with_lanes(extents, 1).unwrap());
            let off = distance(&run(&geometry), &plain);
            assert!(off < tolerance(Precision::F64, TERMS), "{extents:?}: {off:e}");
        }
    }
}
