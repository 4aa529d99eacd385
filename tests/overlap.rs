//! Tests of the sign function of the hermitian kernel and of the overlap operator: against a dense matrix, in
//! momentum space, and by their identities (physics.md, Overlap).

use crate::{common, reference};
use std::sync::{Arc, OnceLock};

use common::{devices, distance, over_ranks, Lex};
use plaq::backend::Device;
use plaq::compose::approximation::{Polynomial, Rational};
use plaq::compose::{Method, ModeParams, Modes, Overlap, Sign, SignParams};
use plaq::error::Status;
use plaq::fields::{blas, GaugeField, Noise, Precision, Recon, SpinorField};
use plaq::linop::LinOp;
use plaq::operators::{
    chiral_sum, one_and_gamma5, DiracParams, HermitianWilson, HopCall, HopSum, SiteTerm, Wilson,
    WilsonType,
};
use plaq::solvers::{no_monitor, EigenMethod, VectorMemory};
use reference::numbers::{field_from, field_numbers, gauge_numbers};
use reference::{overlap as dense, spinor, su3, Field, Gauge, Lattice, C};

const S: f64 = 0.4;
const RHO: f64 = 1.0 + S;
const SMALL: [usize; 4] = [2, 2, 2, 4];

fn smooth(extents: [usize; 4], width: f64, seed: u64) -> Gauge {
    su3::smooth_gauge(Lattice::new(extents), width, seed).iter().map(su3::reunitarise).collect()
}

fn links(device: &Device, extents: [usize; 4], u: &Gauge) -> Arc<GaugeField> {
    let geometry = common::geometry(extents, device);
    let mut field = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    field.load_lex(&gauge_numbers(u)).unwrap();
    Arc::new(field)
}

fn kernel(device: &Device, extents: [usize; 4], u: &Gauge) -> Arc<HermitianWilson> {
    Overlap::kernel(links(device, extents, u), S, DiracParams::default()).unwrap()
}

fn modes(kernel: &Arc<HermitianWilson>, count: usize) -> Arc<Modes> {
    modes_in(kernel, count, VectorMemory::Auto)
}

fn modes_in(kernel: &Arc<HermitianWilson>, count: usize, vectors: VectorMemory) -> Arc<Modes> {
    let params = ModeParams { count: Some(count), vectors, ..Default::default() };
    Arc::new(Modes::find(kernel, None, &params, None, &mut no_monitor).unwrap())
}

fn load(op: &dyn LinOp, fields: &[Field]) -> SpinorField {
    let mut f = op.shape().field(fields.len()).unwrap();
    f.load_lex(&fields.iter().flat_map(field_numbers).collect::<Vec<f64>>()).unwrap();
    f
}

fn applied(op: &dyn LinOp, dagger: bool, fields: &[Field]) -> Vec<f64> {
    let inp = load(op, fields);
    let mut out = inp.like(inp.precision()).unwrap();
    match dagger {
        false => op.apply(&mut out, &inp).unwrap(),
        true => op.apply_dagger(&mut out, &inp).unwrap(),
    }
    out.save_lex().unwrap()
}

fn all_numbers(fields: &[Field]) -> Vec<f64> {
    fields.iter().flat_map(field_numbers).collect()
}

/// Eigenvalues of the kernel and its sign on the small lattice, by the reference.
fn exact() -> &'static (Vec<f64>, dense::Dense) {
    static EXACT: OnceLock<(Vec<f64>, dense::Dense)> = OnceLock::new();
    EXACT.get_or_init(|| {
        let params = reference::dirac::Params::wilson(-RHO);
        dense::sign(&dense::kernel(Lattice::new(SMALL), &smooth(SMALL, 0.5, 3), params))
    })
}

fn random_fields(lat: Lattice, count: u64) -> Vec<Field> {
    (0..count).map(|k| spinor::random(lat, 30 + k)).collect()
}

#[test]
fn modes_signs_and_operators_agree_with_dense_matrices() {
    if common::ranks().size() > 1 {
        return;
    }
    let (values, sign) = exact();
    let mut moduli: Vec<f64> = values.iter().map(|l| l.abs()).collect();
    moduli.sort_by(f64::total_cmp);
    let fields = random_fields(Lattice::new(SMALL), 3);
    let places = [VectorMemory::Auto, VectorMemory::Host];
    for (device, place) in devices().into_iter().flat_map(|d| places.map(|p| (d.clone(), p))) {
        let kernel = kernel(&device, SMALL, &smooth(SMALL, 0.5, 3));
        let modes = modes_in(&kernel, 6, place);
        let vectors = modes.vectors();
        let here = if place == VectorMemory::Host { 1 } else { vectors.count() };
        assert!(vectors.on_device() == here && vectors.count() > 6);
        for (k, (l, r)) in modes.values().iter().zip(modes.residuals()).enumerate() {
            assert!((l.abs() - moduli[k]).abs() < r + 1e-10, "{k}: {l} {}", moduli[k]);
            assert!(values.iter().any(|v| (v - l).abs() < r + 1e-10), "{l}");
        }
        assert!(modes.interval()[0] <= moduli[modes.count()] + 1e-10);
        assert!(modes.interval()[1] >= moduli[moduli.len() - 1]);
        for (method, two_passes) in
            [(Method::Polynomial, false), (Method::Zolotarev, false), (Method::Zolotarev, true)]
        {
            let params = SignParams { delta: 1e-9, method, two_passes, ..Default::default() };
            let own = Arc::new(Sign::new(kernel.clone(), modes.clone(), params).unwrap());
            for (precision, bound) in [
                (Precision::F64, own.error_bound()),
                (Precision::F32, 2e-5),
                (Precision::F16, 2e-2),
            ] {
                let op = Overlap::new(own.clone(), 0.2).unwrap().to(precision, Recon::R12).unwrap();
                let by = if precision == Precision::F16 { Method::Polynomial } else { method };
                assert_eq!(op.sign().method(), by);
                let what = format!("{method:?} {two_passes} {precision:?}");
                let check = |found: Vec<f64>, expect: Vec<Field>, scale: f64| {
                    // A vector's error over its norm bounds the operator's.
                    let expect = all_numbers(&expect);
                    let difference: f64 =
                        found.iter().zip(&expect).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    let norm = all_numbers(&fields).iter().map(|x| x * x).sum::<f64>().sqrt();
                    assert!(
                        difference < scale * bound * norm,
                        "{what}: {:e} {bound:e}",
                        difference / norm
                    );
                };
                let map = |f: &dyn Fn(&Field) -> Field| fields.iter().map(f).collect::<Vec<_>>();
                let s: &dyn LinOp = &**op.sign();
                check(applied(s, false, &fields), map(&|f| sign.apply(f)), 1.0);
                let d = |f: &Field| dense::apply(sign, RHO, 0.2, f);
                let d_dag = |f: &Field| dense::apply_dag(sign, RHO, 0.2, f);
                check(applied(&op, false, &fields), map(&d), 1.3);
                check(applied(&op, true, &fields), map(&d_dag), 1.3);
                for chirality in [1, -1] {
                    let half = |f: &Field| -> Field {
                        let g = spinor::apply_gamma5(f);
                        let c = C::new(chirality as f64, 0.0);
                        spinor::scale(C::new(0.5, 0.0), &spinor::axpy(c, &g, f))
                    };
                    let expect = |f: &Field| {
                        let other = spinor::axpy(-C::ONE, &half(f), f);
                        let own = d_dag(&d(&half(f)));
                        spinor::axpy(C::new(4.0 * RHO * RHO, 0.0), &other, &half(&own))
                    };
                    check(applied(&op.square(chirality), false, &fields), map(&expect), 6.0);
                }
            }
        }
    }
}

/// Eigenvalues of D_N(0)/rho - 1 = gamma5 sign(Q) lie on the unit circle; low eigenvalues of D^dagger D on either
/// chirality are those of the dense matrix, (1 + Re z) 2 rho^2 for points z of the circle.
#[test]
fn eigenvalues_lie_on_the_circle() {
    if common::ranks().size() > 1 {
        return;
    }
    let (_, sign) = exact();
    let n = sign.n;
    // Of one chirality P sign(Q) P has these eigenvalues.
    let upper: Vec<usize> = (0..n).filter(|i| i % 12 < 6).collect();
    let block = dense::Dense {
        n: n / 2,
        a: upper
            .iter()
            .flat_map(|&i| upper.iter().map(move |&j| (i, j)))
            .map(|(i, j)| sign.a[i * n + j])
            .collect(),
    };
    let (mut cosines, _) = block.eigen();
    cosines.sort_by(f64::total_cmp);
    for device in devices() {
        let kernel = kernel(&device, SMALL, &smooth(SMALL, 0.5, 3));
        let modes = modes(&kernel, 6);
        let sign =
            Sign::new(kernel, modes, SignParams { delta: 1e-10, ..Default::default() }).unwrap();
        let op = Overlap::new(Arc::new(sign), 0.0).unwrap();
        let params = plaq::solvers::EigenParams { count: 5, tol: 1e-9, ..Default::default() };
        let (v, report) =
            plaq::solvers::eigen(&op.square(1), None, &params, None, &mut no_monitor).unwrap();
        assert!(report.converged, "{report:?}");
        for k in 0..5 {
            let expect = 2.0 * RHO * RHO * (1.0 + cosines[k]);
            assert!((report.values[k] - expect).abs() < 1e-8, "{k}: {} {expect}", report.values[k]);
        }
        // For any vector v, |D v / rho - v| = |v|, since the sign function is unitary.
        let mut w = v.like(v.precision()).unwrap();
        op.apply(&mut w, &v).unwrap();
        let scale = blas::uniform(5, 1.0 / RHO);
        blas::axpby(&blas::uniform(5, -1.0), &v, &scale, &mut w).unwrap();
        for norm in blas::norm2(&w).unwrap() {
            assert!((norm - 1.0).abs() < 1e-9, "{norm}");
        }
    }
}

fn norm(f: &SpinorField) -> f64 {
    blas::norm2(f).unwrap().iter().sum::<f64>().sqrt()
}

#[test]
fn identities_hold_to_the_delta_asked_for() {
    for device in devices() {
        let extents = over_ranks([4, 4, 4, 4]);
        let u = smooth(extents, 0.5, 7);
        let kernel = kernel(&device, extents, &u);
        let modes = modes(&kernel, 8);
        for (delta, method) in [
            (1e-5, Method::Polynomial),
            (1e-9, Method::Polynomial),
            (1e-7, Method::Zolotarev),
            (1e-6, Method::Auto),
        ] {
            let params = SignParams { delta, method, ..Default::default() };
            let sign = Arc::new(Sign::new(kernel.clone(), modes.clone(), params).unwrap());
            let double = Overlap::new(sign, 0.1).unwrap();
            // Largest rounding, for |x| = 1, and least delta: a power of ten above what the precision allows.
            for (precision, rounding, least) in [
                (Precision::F64, 0.0, 0.0),
                (Precision::F32, 3e-5, 1e-6),
                (Precision::F16, 2e-2, 1e-2),
            ] {
                if precision == Precision::F16 && (delta, method) != (1e-5, Method::Polynomial) {
                    continue;
                }
                let op = double.to(precision, Recon::R12).unwrap();
                let error = op.sign().error_bound();
                let bound = error + rounding;
                assert!(error < 1.1 * delta.max(least), "{error:e}");
                let what = format!("{delta:e} {method:?} {precision:?}");
                let shape = op.shape();
                let noise = |seed| {
                    let mut f = shape.field(2).unwrap();
                    f.set_noise(Noise::Normal, seed, 0).unwrap();
                    f
                };
                let (x, y) = (noise(1), noise(2));
                let (mut a, mut b) = (shape.field(2).unwrap(), shape.field(2).unwrap());
                // sign^2 = 1
                op.sign().apply(&mut a, &x).unwrap();
                op.sign().apply(&mut b, &a).unwrap();
                blas::axpy(&blas::uniform(2, -1.0), &x, &mut b).unwrap();
                assert!(norm(&b) < 2.1 * bound * norm(&x), "{what}: {:e}", norm(&b) / norm(&x));
                // gamma5 D gamma5 = D^dagger, and D^dagger is the adjoint.
                let g5 = one_and_gamma5(0.0, 1.0);
                chiral_sum(&mut a, None, &[(&x, g5)]).unwrap();
                op.apply(&mut b, &a).unwrap();
                chiral_sum(&mut b, Some(g5), &[]).unwrap();
                op.apply_dagger(&mut a, &x).unwrap();
                blas::axpy(&blas::uniform(2, -1.0), &a, &mut b).unwrap();
                let epsilon = if precision == Precision::F64 { 1e-12 } else { rounding };
                assert!(norm(&b) < epsilon * norm(&x), "{what}: {:e}", norm(&b) / norm(&x));
                op.apply(&mut b, &y).unwrap();
                let (left, right) = (blas::dot(&a, &y).unwrap(), blas::dot(&x, &b).unwrap());
                for (l, r) in left.iter().zip(&right) {
                    // The sign is hermitian whatever its error; Zolotarev's to the tolerance of CG.
                    let max = if method == Method::Polynomial { epsilon } else { 4.0 * bound };
                    assert!((l - r).norm() < max * norm(&x) * norm(&y), "{what}: {l} {r}");
                }
                let violation = op.ginsparg_wilson(3).unwrap();
                assert!(violation < 2.1 * RHO * bound, "{what}: {violation:e} {bound:e}");
            }
        }
    }
}

/// D of gauge-transformed links and vector gives the transformed result, in every precision.
#[test]
fn the_operator_is_gauge_covariant() {
    for device in devices() {
        let extents = over_ranks([2, 4, 2, 4]);
        let lat = Lattice::new(extents);
        let u = smooth(extents, 0.5, 5);
        let g = su3::random_transformation(lat, 11);
        let turn = |f: &Field| -> Field {
            f.iter().enumerate().map(|(x, psi)| reference::gamma::mul_colour(&g[x], psi)).collect()
        };
        let plain = random_fields(lat, 1);
        let turned = vec![turn(&plain[0])];
        let operator = |u: &Gauge| {
            let kernel = kernel(&device, extents, u);
            let modes = modes(&kernel, 4);
            let params = SignParams { delta: 1e-9, ..Default::default() };
            let sign = Sign::new(kernel, modes, params).unwrap();
            Overlap::new(Arc::new(sign), 0.0).unwrap()
        };
        let (here, there) = (operator(&u), operator(&su3::transform(lat, &u, &g)));
        for (precision, rounding) in
            [(Precision::F64, 1e-12), (Precision::F32, 3e-5), (Precision::F16, 2e-2)]
        {
            let image = |op: &Overlap, f: &[Field]| {
                let op = op.to(precision, Recon::R12).unwrap();
                (applied(&op, false, f), op.error_bound())
            };
            let (found, error) = image(&there, &turned);
            let expect = field_numbers(&turn(&field_from(&image(&here, &plain).0)));
            let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let apart: Vec<f64> = found.iter().zip(&expect).map(|(a, b)| a - b).collect();
            let off = size(&apart) / size(&field_numbers(&plain[0]));
            assert!(off < 2.1 * (error + RHO * rounding), "{precision:?}: {off:e} {error:e}");
        }
    }
}

/// A clover term enters the kernel: modes, sign and D are those of the dense matrix with it, and not of the one
/// without it.
#[test]
fn a_clover_term_belongs_to_the_kernel() {
    if common::ranks().size() > 1 {
        return;
    }
    let extents = [2, 2, 2, 2];
    let (lat, u, csw) = (Lattice::new(extents), smooth(extents, 0.5, 3), 1.1);
    let params = reference::dirac::Params::clover(-RHO, csw);
    let (values, sign) = dense::sign(&dense::kernel(lat, &u, params));
    let mut moduli: Vec<f64> = values.iter().map(|l| l.abs()).collect();
    moduli.sort_by(f64::total_cmp);
    let fields = random_fields(lat, 1);
    for device in devices() {
        let off = |csw: f64| {
            let params = DiracParams { csw, csw_t: csw, ..Default::default() };
            let kernel = Overlap::kernel(links(&device, extents, &u), S, params).unwrap();
            let modes = modes(&kernel, 4);
            let last = moduli.len() - 1;
            let pairs = modes.values().iter().zip(&moduli).map(|(l, m)| (l.abs() - m).abs());
            let ends = pairs.fold((modes.largest().value - moduli[last]).abs(), f64::max);
            let params = SignParams { delta: 1e-9, ..Default::default() };
            let own = Arc::new(Sign::new(kernel, modes, params).unwrap());
            let op = Overlap::new(own.clone(), 0.2).unwrap();
            let images = [
                (applied(&*own, false, &fields), all_numbers(&[sign.apply(&fields[0])])),
                (
                    applied(&op, false, &fields),
                    all_numbers(&[dense::apply(&sign, RHO, 0.2, &fields[0])]),
                ),
            ];
            (ends, images.map(|(found, expect)| distance(&found, &expect)))
        };
        let (ends, images) = off(csw);
        assert!(ends < 1e-3 && images.iter().all(|d| *d < 1e-7), "{ends:e} {images:?}");
        let (ends, images) = off(0.0);
        assert!(ends > 1e-2 && images.iter().all(|d| *d > 1e-2), "{ends:e} {images:?}");
    }
}

/// Momentum with number k_mu in each direction, for the default boundary condition.
fn momentum(extents: [usize; 4], k: [usize; 4]) -> [f64; 4] {
    std::array::from_fn(|mu| {
        let half = if mu == 3 { 0.5 } else { 0.0 };
        std::f64::consts::TAU * (k[mu] as f64 + half) / extents[mu] as f64
    })
}

/// Computes s^2 and w of the free kernel: Q^2 = s^2 + w^2, D^dagger D = 2 rho^2 (1 + w / |Q|).
fn parts(p: [f64; 4]) -> (f64, f64) {
    let s2: f64 = p.iter().map(|p| p.sin().powi(2)).sum();
    (s2, p.iter().map(|p| 1.0 - p.cos()).sum::<f64>() - RHO)
}

/// The pairs (s^2, w) of all momenta.
fn momenta(extents: [usize; 4]) -> Vec<(f64, f64)> {
    let lat = Lattice::new(extents);
    (0..lat.volume()).map(|x| parts(momentum(extents, lat.coords(x)))).collect()
}

/// The free operator acts on plane waves as D_N = rho (1 + (i s + w) / sqrt(s^2 + w^2)), s = sum gamma_mu sin p_mu, w
/// = sum (1 - cos p_mu) - rho.
#[test]
fn the_free_operator_is_the_one_of_momentum_space() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 4]);
        let lat = Lattice::new(extents);
        let kernel = kernel(&device, extents, &su3::unit_gauge(lat));
        let params = ModeParams { count: Some(0), block: 4, ..Default::default() };
        let modes = Arc::new(Modes::find(&kernel, None, &params, None, &mut no_monitor).unwrap());
        assert_eq!(modes.count(), 0);
        let gammas = reference::gamma::gammas(reference::gamma::Basis::DeGrandRossi);
        let moduli = momenta(extents).into_iter().map(|(s2, w)| (s2 + w * w).sqrt());
        let least = moduli.fold(f64::INFINITY, f64::min);
        assert!((modes.interval()[0] - least).abs() < 1e-8, "{:?} {least}", modes.interval());
        let sign =
            Sign::new(kernel, modes, SignParams { delta: 1e-11, ..Default::default() }).unwrap();
        let mass = 0.3;
        let op = Overlap::new(Arc::new(sign), mass).unwrap();
        for k in [[0, 0, 0, 0], [1, 0, 1, 2], [3, 2, 0, 1], [2, 1, 1, 3]] {
            let p = momentum(extents, k);
            let chi = spinor::random(Lattice::new([1; 4]), 9)[0];
            let wave = |chi: &reference::Spinor| -> Field {
                (0..lat.volume())
                    .map(|x| {
                        let c = lat.coords(x);
                        let angle: f64 = (0..4).map(|mu| p[mu] * c[mu] as f64).sum();
                        chi.map(|s| s.map(|z| z * C::from_polar(1.0, angle)))
                    })
                    .collect()
            };
            let (s2, w) = parts(p);
            let root = (s2 + w * w).sqrt();
            let mut slash = [[C::ZERO; 3]; 4];
            for mu in 0..4 {
                let g = reference::gamma::mul_spin(&gammas[mu], &chi);
                for s in 0..4 {
                    for c in 0..3 {
                        slash[s][c] += C::new(0.0, p[mu].sin()) * g[s][c];
                    }
                }
            }
            let expect: reference::Spinor = std::array::from_fn(|s| {
                std::array::from_fn(|c| {
                    let unitary = (slash[s][c] + w * chi[s][c]) / root;
                    (RHO + 0.5 * mass) * chi[s][c] + (RHO - 0.5 * mass) * unitary
                })
            });
            let found = applied(&op, false, &[wave(&chi)]);
            let d = distance(&found, &field_numbers(&wave(&expect)));
            assert!(d < 1e-10, "{k:?}: {d:e}");
        }
    }
}

/// Eigenvalues of |Q| on unit links are at least 24-fold, half of them with either sign of Q: for any number of modes
/// the projected ones are eigenvectors of Q, and the operator's spectrum is that of momentum space.
#[test]
fn levels_that_hold_both_signs_are_taken_apart() {
    if common::ranks().size() > 1 {
        return;
    }
    let device = &devices()[0];
    let extents = [4, 4, 4, 4];
    let all = momenta(extents);
    let mut moduli: Vec<f64> = all.iter().flat_map(|(s2, w)| [(s2 + w * w).sqrt(); 12]).collect();
    moduli.sort_by(f64::total_cmp);
    let free = kernel(device, extents, &su3::unit_gauge(Lattice::new(extents)));
    let build = |kernel: &Arc<HermitianWilson>, params: &ModeParams| {
        let modes = Modes::find(kernel, None, params, None, &mut no_monitor).unwrap();
        let sign = Sign::new(kernel.clone(), Arc::new(modes), SignParams::default()).unwrap();
        Overlap::new(Arc::new(sign), 0.0).unwrap()
    };
    for count in [None, Some(0), Some(1), Some(2), Some(7), Some(16), Some(24), Some(30)] {
        let op = build(&free, &ModeParams { count, ..Default::default() });
        let modes = op.sign().modes();
        assert!(modes.count() >= count.unwrap_or(8), "{count:?} {}", modes.count());
        for (k, l) in modes.values().iter().enumerate() {
            assert!((l.abs() - moduli[k]).abs() < 1e-9, "{count:?} {k}: {l} {}", moduli[k]);
        }
        assert!((op.sign().interval()[0] / moduli[modes.count()] - 1.0).abs() < 2e-3);
        let violation = op.ginsparg_wilson(3).unwrap();
        assert!(violation < 2.1 * RHO * 1e-8, "{count:?}: {violation:e}");
        // What was found can be kept and taken up again.
        let again =
            Modes::restore(&free, modes.vectors().to(Precision::F64).unwrap(), &modes.record())
                .unwrap();
        assert_eq!(again.count(), modes.count());
        assert!((again.from() - modes.from()).abs() < 1e-9);
    }
    let op = build(&free, &ModeParams::default());
    let low = plaq::compose::OverlapModes::find(&op, 4, 1e-9, &mut no_monitor).unwrap();
    let square = |(s2, w): &(f64, f64)| 2.0 * RHO * RHO * (1.0 + w / (s2 + w * w).sqrt());
    let mut expect: Vec<f64> = all.iter().flat_map(|p| [square(p); 6]).collect();
    expect.sort_by(f64::total_cmp);
    assert_eq!((low.zeros(), low.index()), ([0, 0], 0));
    for values in low.values() {
        for (value, expect) in values.iter().zip(&expect) {
            assert!((value - expect).abs() < 1e-6, "{value} {expect}");
        }
    }
    // Nearly free: levels split by less than the search resolves, or by a little more.
    for width in [1e-12, 1e-8, 1e-5, 1e-3, 1e-2] {
        let u = smooth(extents, width, 3);
        let near = kernel(device, extents, &u);
        for count in [None, Some(16)] {
            let op = build(&near, &ModeParams { count, ..Default::default() });
            let violation = op.ginsparg_wilson(3).unwrap();
            assert!(violation < 2.1 * RHO * 1e-8, "{width:e} {count:?}: {violation:e}");
        }
    }
}

#[test]
fn the_ritz_functional_gives_the_same_sign() {
    for device in devices() {
        let extents = over_ranks([2, 2, 2, 4]);
        let u = smooth(extents, 0.5, 6);
        let kernel = kernel(&device, extents, &u);
        let find = |method| {
            let tol = if method == EigenMethod::Ritz { 2e-10 } else { 0.0 };
            let params = ModeParams { count: Some(2), method, tol, ..Default::default() };
            Arc::new(Modes::find(&kernel, None, &params, None, &mut no_monitor).unwrap())
        };
        let image = |modes: Arc<Modes>| {
            let params = SignParams { delta: 1e-5, ..Default::default() };
            let sign = Sign::new(kernel.clone(), modes, params).unwrap();
            applied(&sign, false, &random_fields(Lattice::new(extents), 1))
        };
        let d = distance(&image(find(EigenMethod::Ritz)), &image(find(EigenMethod::Lanczos)));
        assert!(d < 1e-4, "{d:e}");
    }
}

#[test]
fn what_cannot_be_says_what_to_change() {
    let device = &devices()[0];
    let extents = over_ranks([2, 2, 2, 4]);
    let u = smooth(extents, 0.5, 3);
    let fields = links(device, extents, &u);
    for s in [1.0, -1.0, f64::NAN] {
        let error = Overlap::kernel(fields.clone(), s, DiracParams::default()).err().unwrap();
        assert_eq!(error.status, Status::BadParameter);
        assert!(error.message().contains("between -1 and 1"), "{error}");
    }
    let kernel = kernel(device, extents, &u);
    let modes = modes(&kernel, 4);
    let refused = |params: SignParams, says: &str| {
        let error = Sign::new(kernel.clone(), modes.clone(), params).err().unwrap();
        assert!(error.message().contains(says), "{error}");
        assert_eq!(error.status, Status::KernelSpectrum, "{error}");
    };
    let good = SignParams::default();
    let [low, high] = modes.interval();
    refused(SignParams { interval: Some([1.2 * low, high]), ..good.clone() }, "widen it");
    refused(SignParams { interval: Some([low, 0.5 * high]), ..good.clone() }, "widen it");
    refused(SignParams { interval: Some([0.0, high]), ..good.clone() }, "project more modes");
    refused(SignParams { max_degree: 10, ..good.clone() }, "project more low modes");
    let method = EigenMethod::Ritz;
    let rough = ModeParams { count: Some(4), tol: 1e-4, method, ..Default::default() };
    let rough = Arc::new(Modes::find(&kernel, None, &rough, None, &mut no_monitor).unwrap());
    let error = Sign::new(kernel.clone(), rough, good.clone()).err().unwrap();
    assert!(error.message().contains("smaller tolerance"), "{error}");
    // Links where the kernel has an exact zero: rho at which the trivial field's Q vanishes for p = 0.
    let unit = links(device, extents, &su3::unit_gauge(Lattice::new(extents)));
    let one = C::ONE;
    let params = DiracParams { boundary: [one; 4], mass: 0.0, ..Default::default() };
    let massless = plaq::operators::Wilson::new(unit, params).unwrap();
    let massless = Arc::new(HermitianWilson::new(Arc::new(massless)).unwrap());
    let params = ModeParams { count: Some(12), block: 6, ..Default::default() };
    let zero = Arc::new(Modes::find(&massless, None, &params, None, &mut no_monitor).unwrap());
    let error = Sign::new(massless, zero, good).err().unwrap();
    assert!(error.message().contains("its sign is not known"), "{error}");
    let sign = Arc::new(Sign::new(kernel, modes, SignParams::default()).unwrap());
    for mass in [-0.1, 2.0 * RHO, f64::NAN] {
        assert_eq!(Overlap::new(sign.clone(), mass).err().unwrap().status, Status::BadParameter);
    }
}

/// A random field has many low modes: the largest allowed number is projected, and the approximation reaches the
/// requested delta on the rest of the spectrum.
#[test]
fn the_number_of_modes_is_found() {
    let device = &devices()[0];
    let extents = over_ranks([4, 2, 2, 4]);
    let lat = Lattice::new(extents);
    let hot = links(device, extents, &su3::haar_gauge(lat, 5));
    let hot = Overlap::kernel(hot, 0.9, DiracParams::default()).unwrap();
    let tame = kernel(device, extents, &smooth(extents, 0.5, 5));
    let delta = 1e-3;
    let found = |kernel: &Arc<HermitianWilson>, max| {
        let params = ModeParams { max_count: max, tol: 1e-9, ..Default::default() };
        let modes = Arc::new(Modes::find(kernel, None, &params, None, &mut no_monitor).unwrap());
        let params = SignParams { delta, ..Default::default() };
        let sign = Sign::new(kernel.clone(), modes.clone(), params).unwrap();
        assert!(sign.delta() <= delta && sign.degree() > 10);
        let op = Overlap::new(Arc::new(sign), 0.0).unwrap();
        let violation = op.ginsparg_wilson(1).unwrap();
        assert!(violation < 2.1 * op.error_bound(), "{violation:e}");
        (modes.count(), modes.interval()[0] / modes.largest().value)
    };
    for max in [5, 9] {
        let (count, next) = found(&hot, max);
        assert_eq!(count, max);
        assert!(next < 0.06, "{next}: this field has too few low modes");
    }
    let (count, next) = found(&tame, 48);
    assert!((8..48).contains(&count) && next > 0.06, "{count} {next}");
}

/// The largest moduli by either method, their errors and gaps.
#[test]
fn high_modes_are_the_ends_of_the_spectrum() {
    if common::ranks().size() > 1 {
        return;
    }
    let mut moduli: Vec<f64> = exact().0.iter().map(|l| l.abs()).collect();
    moduli.sort_by(|a, b| b.total_cmp(a));
    let kernel = kernel(&devices()[0], SMALL, &smooth(SMALL, 0.5, 3));
    for method in [EigenMethod::Lanczos, EigenMethod::Ritz] {
        let tol = if method == EigenMethod::Ritz { 1e-8 } else { 0.0 };
        let params = ModeParams { count: Some(1), high: 4, method, tol, ..Default::default() };
        let modes = Modes::find(&kernel, None, &params, None, &mut no_monitor).unwrap();
        assert_eq!((modes.high().len(), modes.high()[0]), (4, modes.largest()));
        for (k, h) in modes.high().iter().enumerate() {
            assert!(h.residual < 1e-3 && (h.value - moduli[k]).abs() <= h.residual, "{k}: {h:?}");
            let gap = moduli[k] - moduli[4];
            assert!((h.gap - gap).abs() < 2e-3 && h.gap >= 0.0, "{k}: {h:?} {gap}");
        }
    }
}

/// A hop that adds further terms in its pass over memory gives the result of adding them afterwards, from the first
/// call on, before which a GPU's tuner runs the kernel.
#[test]
fn a_hop_adds_vectors_in_its_pass() {
    for device in devices() {
        let extents = over_ranks([4, 2, 2, 6]);
        let double = kernel(&device, extents, &smooth(extents, 0.5, 3));
        for precision in Precision::ALL {
            let op = Arc::new(double.op().to(precision, Recon::R12).unwrap());
            let kernel = HermitianWilson::new(op).unwrap();
            for n in [1, 3] {
                let noise = |seed| {
                    let mut f = kernel.shape().field(n).unwrap();
                    f.set_noise(Noise::Normal, seed, 0).unwrap();
                    f
                };
                let (x, z, own) = (noise(1), noise(2), noise(3));
                for dagger in [false, true] {
                    let sum = HopSum { z: Some((&z, 0.7)), own: -1.3 };
                    let mut found = noise(3);
                    kernel.dirac_add(&mut found, &x, dagger, 0.4, &sum).unwrap();
                    let mut expect = noise(4);
                    kernel.dirac_add(&mut expect, &x, dagger, 0.4, &HopSum::default()).unwrap();
                    let terms = [(&z, [0.7; 2]), (&own, [-1.3; 2])];
                    chiral_sum(&mut expect, Some([1.0; 2]), &terms).unwrap();
                    blas::axpy(&blas::uniform(n, -1.0), &expect, &mut found).unwrap();
                    let error = norm(&found) / norm(&expect);
                    assert!(error < 4.0 * precision.epsilon(), "{precision:?} {n}: {error:e}");
                }
                let short = kernel.shape().field(n + 1).unwrap();
                let sum = HopSum { z: Some((&short, 1.0)), own: 0.0 };
                let mut out = noise(4);
                let error = kernel.dirac_add(&mut out, &x, false, 1.0, &sum).unwrap_err();
                assert_eq!(error.status, Status::FieldMismatch);
            }
        }
    }
}

/// A hop of both parities, in one launch on GPUs, equals the two hops one after the other: with blocks that fill
/// slices and blocks that do not, site terms on either side, and further terms. CPUs give the same bits.
#[test]
fn both_parities_at_once_are_one_after_the_other() {
    for device in devices() {
        // On many GPUs, each of which compiles its kernels, the second lattice alone.
        let alone = common::ranks().size() > 1 && !device.is_cpu();
        let lattices = [[4, 6, 2, 10], [16, 16, 4, 6]].map(over_ranks);
        for extents in lattices.into_iter().skip(alone as usize) {
            let geometry = common::geometry(extents, &device);
            let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            u.set_near_unit(1, 0.4).unwrap();
            let params = DiracParams { csw: 1.1, csw_t: 1.1, mass: -0.9, ..Default::default() };
            let double = Wilson::new(Arc::new(u), params).unwrap();
            for precision in Precision::ALL {
                let op = double.to(precision, Recon::R12).unwrap();
                for (n, dagger) in [(1, false), (3, true)] {
                    let noise = |seed| {
                        let mut f = op.shape().field(n).unwrap();
                        f.set_noise(Noise::Normal, seed, 0).unwrap();
                        f
                    };
                    let (x, z, own) = (noise(1), noise(2), noise(3));
                    let all = HopSum { z: Some((&z, 0.7)), own: -1.3 };
                    for (site_hop, site_y, sum) in [
                        (SiteTerm::One, SiteTerm::One, all),
                        (SiteTerm::One, SiteTerm::Direct, all),
                        (SiteTerm::Inverse, SiteTerm::One, HopSum::default()),
                    ] {
                        let y = Some((&x, 0.8, site_y));
                        let call = HopCall { parity: 0, dagger, coef: -0.3, site_hop, y };
                        let (mut found, mut expect) = (noise(4), noise(5));
                        // A GPU's tuner runs kernels many times before the first use.
                        for _ in 0..2 {
                            blas::copy(&mut found, &own).unwrap();
                            op.hop_both(&mut found, &x, &call, &sum).unwrap();
                            blas::copy(&mut expect, &own).unwrap();
                            for parity in 0..2 {
                                let call = HopCall { parity, ..call };
                                op.hop_add(&mut expect, &x, &call, &sum).unwrap();
                            }
                        }
                        let size = norm(&expect);
                        blas::axpy(&blas::uniform(n, -1.0), &expect, &mut found).unwrap();
                        let error = norm(&found) / size;
                        let bound = if device.is_cpu() { 0.0 } else { 4.0 * precision.epsilon() };
                        assert!(
                            error <= bound,
                            "{extents:?} {precision:?} {n} {site_y:?}: {error:e}"
                        );
                    }
                }
            }
        }
    }
}

/// Modes in single precision are rounded modes in double, and rotations of them stay orthonormal.
#[test]
fn modes_change_their_precision() {
    let device = &devices()[0];
    let extents = over_ranks([2, 2, 4, 4]);
    let kernel = kernel(device, extents, &smooth(extents, 0.5, 3));
    let modes = modes(&kernel, 4);
    let single = modes.to(Precision::F16).unwrap();
    assert_eq!(single.vectors().precision(), Precision::F32);
    let n = single.vectors().count();
    let g = single.vectors().gram(0..n).unwrap();
    for (k, z) in g.iter().enumerate() {
        let one = if k / n == k % n { 1.0 } else { 0.0 };
        assert!((z - one).norm() < 1e-6, "{k}: {z}");
    }
}

/// Degrees and poles depend on the ratio of the ends of the spectrum and on delta as the printed table in
/// docs/overlap.md says: no degree lower by two suffices, and delta = A exp(-2.083 n sqrt(epsilon)) with A = 0.41
/// (hep-lat/0212012) holds within 5 %.
#[test]
fn degrees_follow_the_law_of_their_asymptotics() {
    let deltas = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10];
    for ratio in [0.3, 0.1, 0.05, 0.03, 0.01f64] {
        let epsilon = ratio * ratio;
        let mut row = format!("| {ratio} |");
        for delta in deltas {
            let found = Polynomial::for_delta(delta, epsilon, 5000).unwrap();
            let n = found.degree();
            let worst = (0..=4000).map(|k| {
                let x = ratio * (1.0 / ratio).powf(k as f64 / 4000.0);
                (1.0 - x * found.value(x * x)).abs()
            });
            let worst = worst.fold(0.0, f64::max);
            assert!(worst <= 1.01 * delta, "{ratio} {delta:e} {n} {worst:e}");
            assert!(Polynomial::of_degree(n - 2, epsilon).unwrap().delta > delta, "{ratio} {n}");
            let law = (0.41 / delta).ln() / (2.083 * ratio);
            assert!((n as f64 - law).abs() <= 1.5 + 0.05 * law, "{ratio} {delta:e} {n} {law}");
            let poles = Rational::for_delta(delta, epsilon).unwrap().poles.len();
            row += &format!(" {n} ({law:.0}), {poles} |");
        }
        println!("{row}");
    }
}
