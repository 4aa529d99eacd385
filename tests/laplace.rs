//! Tests of the covariant Laplacian on colour vectors and spinors: smearing and solves, operators composed of
//! operators, and vectors whose right-hand sides are the fastest index.

use crate::setup::{complex_numbers, setups};
use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, extents_on, over_ranks, tolerance, Lex};
use plaq::error::Status;
use plaq::fields::blas::Times;
use plaq::fields::{
    blas, Components, Geometry, Noise, Precision, Recon, RhsOrder, Subset, VectorField,
};
use plaq::linop::{Adjoint, Convert, LinOp, Normal, Polynomial, Product, Shape, Shifted, Sum};
use plaq::operators::{Gamma5, Laplace};
use plaq::ops::eigenvectors::{save_vectors, VectorFile};
use plaq::ops::smearing::{wuppertal, SPACE};
use plaq::solvers::shifts::Step;
use plaq::solvers::{
    no_monitor, solve, Inverse, RationalFunction, RationalParams, SolverKind, SolverParams, Stop,
    System,
};
use reference::rng::Rng;
use reference::{Gauge, Lattice, C};

/// Random colour vectors, `spins` of them per site.
fn random(lat: Lattice, spins: usize, seed: u64) -> Vec<C> {
    let mut rng = Rng::new(seed);
    (0..lat.volume() * spins * 3).map(|_| rng.gaussian()).collect()
}

/// Computes diagonal v + c times the sum over the neighbours of v, site by site.
fn laplace(
    lat: Lattice,
    links: &Gauge,
    spins: usize,
    mask: i32,
    a: f64,
    c: f64,
    v: &[C],
) -> Vec<C> {
    let at = |x: usize, spin: usize, k: usize| v[(x * spins + spin) * 3 + k];
    let mut out: Vec<C> = v.iter().map(|z| a * z).collect();
    for x in 0..lat.volume() {
        for mu in (0..4).filter(|mu| mask >> mu & 1 == 1) {
            let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
            for spin in 0..spins {
                for i in 0..3 {
                    for k in 0..3 {
                        out[(x * spins + spin) * 3 + i] +=
                            c * links[4 * x + mu][i][k] * at(up, spin, k);
                        out[(x * spins + spin) * 3 + i] +=
                            c * links[4 * down + mu][k][i].conj() * at(down, spin, k);
                    }
                }
            }
        }
    }
    out
}

const BOTH: [Components; 2] = [Components::COLOUR, Components::SPINOR];

#[test]
fn the_laplacian_equals_the_reference() {
    for s in setups() {
        for components in BOTH {
            let spins = components.spins;
            let (a, b) = (random(s.lat, spins, 1), random(s.lat, spins, 2));
            for (precision, recon) in [
                (Precision::F64, Recon::R18),
                (Precision::F32, Recon::R12),
                (Precision::F16, Recon::R12),
                (Precision::F16, Recon::R18),
            ] {
                let links = Arc::new(s.gauge.to(precision, recon).unwrap());
                for mask in [15, SPACE, 8] {
                    let op = Laplace::new(links.clone(), components, mask, 0.7, -0.3).unwrap();
                    let inp = s.vectors(precision, components, &[&a, &b]);
                    let mut out = op.range().field(2).unwrap();
                    op.apply(&mut out, &inp).unwrap();
                    let want: Vec<f64> = [&a, &b]
                        .iter()
                        .flat_map(|v| {
                            complex_numbers(&laplace(s.lat, &s.links, spins, mask, 0.7, -0.3, v))
                        })
                        .collect();
                    let found = distance(&out.save_lex().unwrap(), &want);
                    let bound = tolerance(precision, 60.0);
                    assert!(found < bound, "{components:?} {precision:?} {mask}: {found:e}");
                }
            }
        }
    }
}

#[test]
fn smearing_is_a_power_of_the_step() {
    for s in setups() {
        let a = random(s.lat, 4, 3);
        let gauge = Arc::new(s.gauge.to(Precision::F64, Recon::R12).unwrap());
        let steps = 3;
        let smeared = |alpha: f64| {
            let norm = 1.0 / (1.0 + 6.0 * alpha);
            (0..steps)
                .fold(a.clone(), |v, _| laplace(s.lat, &s.links, 4, SPACE, norm, alpha * norm, &v))
        };
        let wanted = [0.21, -0.05].map(|alpha| (alpha, smeared(alpha)));
        for precision in [Precision::F64, Precision::F32, Precision::F16] {
            for (alpha, want) in &wanted {
                let mut psi = s.vectors(precision, Components::SPINOR, &[&a]);
                wuppertal(&mut psi, &gauge, *alpha, steps, SPACE).unwrap();
                let found = distance(&psi.save_lex().unwrap(), &complex_numbers(want));
                // In 16 bits every step rounds sites and links to units of their own, so that fewer roundings are
                // allowed.
                let terms = if precision == Precision::F16 { 8.0 } else { 200.0 };
                assert!(found < tolerance(precision, terms), "{precision:?} {alpha}: {found:e}");
            }
            let mut psi = s.vectors(precision, Components::SPINOR, &[&a]);
            let kept = psi.save_lex().unwrap();
            for (alpha, directions) in [(-1.0 / 6.0, SPACE), (f64::NAN, SPACE), (0.1, 0), (0.1, 16)]
            {
                let e = wuppertal(&mut psi, &gauge, alpha, 1, directions).unwrap_err();
                assert_eq!(e.status, Status::BadParameter);
            }
            assert_eq!(psi.save_lex().unwrap(), kept);
        }
    }
}

#[test]
fn colour_vectors_are_solved_for() {
    for s in setups() {
        let (a, b) = (random(s.lat, 1, 4), random(s.lat, 1, 5));
        let gauge = Arc::new(s.gauge.to(Precision::F64, Recon::R18).unwrap());
        let colour = Components::COLOUR;
        let fine = Arc::new(Laplace::massive(gauge, colour, 15, 0.3).unwrap());
        let low = |precision| -> Arc<dyn LinOp> {
            let links = Arc::new(s.gauge.to(precision, Recon::R12).unwrap());
            Arc::new(Laplace::massive(links, colour, 15, 0.3).unwrap())
        };
        let rhs = s.vectors(Precision::F64, colour, &[&a, &b]);
        for kind in [SolverKind::Cg, SolverKind::BiCgStab, SolverKind::Gcr] {
            let mut alone = 0;
            for precision in [Precision::F64, Precision::F32, Precision::F16] {
                let sloppy = Some(precision).filter(|p| *p != Precision::F64).map(low);
                let system = System { sloppy, ..System::new(fine.clone()) };
                let params = SolverParams { kind, stop: Stop::at(1e-10), ..Default::default() };
                let mut x = fine.shape().field(2).unwrap();
                let report = solve(&system, &params, &mut x, &rhs, &mut no_monitor).unwrap();
                assert!(report.converged, "{kind:?} {report:?}");
                // Residuals that drift and reliable updates may cost some iterations in lower precision.
                let max =
                    if precision == Precision::F64 { usize::MAX } else { alone + alone / 4 + 4 };
                alone = if precision == Precision::F64 { report.iterations } else { alone };
                assert!(report.iterations <= max, "{kind:?} {precision}: {}", report.iterations);
                println!("{kind:?}, {precision} inside: {} iterations", report.iterations);
                let found = x.save_lex().unwrap();
                for (found, b) in found.chunks(found.len() / 2).zip([&a, &b]) {
                    let v: Vec<C> = found.chunks(2).map(|z| C::new(z[0], z[1])).collect();
                    let image = laplace(s.lat, &s.links, 1, 15, 8.3, -1.0, &v);
                    let distance2: f64 =
                        image.iter().zip(b.iter()).map(|(x, y)| (x - y).norm_sqr()).sum();
                    let norm2: f64 = b.iter().map(|z| z.norm_sqr()).sum();
                    assert!((distance2 / norm2).sqrt() < 1.01e-10);
                }
            }
        }
    }
}

/// Composed operators (L + c)^2, c L + L, T_2(L), L^-1, c + w / (L + s) and their adjoints agree with the reference.
#[test]
fn operators_are_made_of_operators() {
    let s = &setups()[0];
    let a = random(s.lat, 1, 6);
    let colour = Components::COLOUR;
    let gauge = Arc::new(s.gauge.to(Precision::F64, Recon::R18).unwrap());
    let op: Arc<dyn LinOp> = Arc::new(Laplace::massive(gauge, colour, 15, 0.1).unwrap());
    let once = |v: &[C]| laplace(s.lat, &s.links, 1, 15, 8.1, -1.0, v);
    let combine = |x: C, v: &[C], y: C, w: &[C]| -> Vec<C> {
        v.iter().zip(w).map(|(v, w)| x * v + y * w).collect()
    };
    let (i, one) = (C::new(0.0, 1.0), C::new(1.0, 0.0));
    let l1 = once(&a);
    let l2 = once(&l1);
    let z = C::new(0.4, -0.6);
    let shifted: Arc<dyn LinOp> = Arc::new(Shifted::new(op.clone(), z));
    // T_2 on the interval [0, 20]: y = L / 10 - 1, T_2 = 2 y^2 - 1.
    let y1 = combine(one / 10.0, &l1, -one, &a);
    let y2 = combine(one / 10.0, &once(&y1), -one, &y1);
    let cases: Vec<(Arc<dyn LinOp>, Vec<C>)> = vec![
        (Arc::new(Normal::mdag_m(op.clone())), l2.clone()),
        (shifted.clone(), combine(one, &l1, z, &a)),
        (Arc::new(Adjoint(shifted.clone())), combine(one, &l1, z.conj(), &a)),
        (
            Arc::new(Product::new(vec![shifted.clone(), op.clone()]).unwrap()),
            combine(one, &l2, z, &l1),
        ),
        (
            Arc::new(Sum::new(vec![(i, op.clone()), (one, shifted.clone())]).unwrap()),
            combine(i + one, &l1, z, &a),
        ),
        (
            Arc::new(Polynomial::new(op.clone(), [0.0, 20.0], vec![0.5, 0.0, 3.0]).unwrap()),
            combine(6.0 * one, &y2, (0.5 - 3.0) * one, &a),
        ),
    ];
    // Rational functions, compared after multiplication by their denominators.
    let params = RationalParams { tol: 1e-14, max_iterations: 500, two_passes: false };
    let ask = SolverParams { kind: SolverKind::Cg, stop: Stop::at(1e-13), ..Default::default() };
    let back: Arc<dyn LinOp> = Arc::new(Inverse::new(System::new(op.clone()), ask).unwrap());
    let plus = |c: f64| -> Arc<dyn LinOp> { Arc::new(Shifted::new(op.clone(), c)) };
    let (mut cases, exact) = (cases, 6);
    cases.push((Arc::new(Product::new(vec![op.clone(), back]).unwrap()), a.clone()));
    for two_passes in [false, true] {
        let params = RationalParams { two_passes, ..params };
        let function =
            RationalFunction::new(op.clone(), 0.3, vec![0.7, -0.2], vec![0.5, 2.0], params)
                .unwrap();
        let denominators = [plus(0.5), plus(2.0), Arc::new(function)];
        // The numerator: 0.3 (L + 0.5)(L + 2) + 0.7 (L + 2) - 0.2 (L + 0.5)
        let low = combine((0.3 * 2.5 + 0.5) * one, &l1, (0.3 + 1.4 - 0.1) * one, &a);
        let want = combine(0.3 * one, &l2, one, &low);
        cases.push((Arc::new(Product::new(denominators.to_vec()).unwrap()), want));
    }
    let inp = s.vectors(Precision::F64, colour, &[&a]);
    for (k, (op, want)) in cases.iter().enumerate() {
        let mut out = op.range().field(1).unwrap();
        op.apply(&mut out, &inp).unwrap();
        let found = distance(&out.save_lex().unwrap(), &complex_numbers(want));
        // Solves end at a residual of 1e-13, and the denominators multiply errors by at most 26 and 18.
        let bound = if k < exact { tolerance(Precision::F64, 200.0) } else { 5e-12 };
        assert!(found < bound, "{k}: {found:e}");
    }
    let product = Product::new(vec![shifted.clone(), op.clone()]).unwrap();
    let mut out = product.shape().field(1).unwrap();
    product.apply_dagger(&mut out, &inp).unwrap();
    let found =
        distance(&out.save_lex().unwrap(), &complex_numbers(&combine(one, &l2, z.conj(), &l1)));
    assert!(found < tolerance(Precision::F64, 200.0), "{found:e}");
}

/// Products with gamma5 and changes of precision, from double through 16 bits and back, agree with the reference.
#[test]
fn gamma5_and_changes_of_precision() {
    for s in setups() {
        let shape = s.shape(Precision::F64, Components::SPINOR);
        let a = random(s.lat, 4, 8);
        let inp = s.vectors(Precision::F64, Components::SPINOR, &[&a]);
        let sign = |spin: usize| if spin < 2 { 1.0 } else { -1.0 };
        let want: Vec<C> = a.iter().enumerate().map(|(i, z)| sign(i / 3 % 4) * z).collect();
        for precision in [Precision::F64, Precision::F32, Precision::F16] {
            let down = Arc::new(Convert::new(shape.clone(), precision).unwrap());
            let gamma5 = Arc::new(Gamma5(down.range()));
            let up: Arc<dyn LinOp> = Arc::new(Adjoint(down.clone()));
            let all = Product::new(vec![up, gamma5, down]).unwrap();
            assert_eq!((all.shape(), all.range()), (shape.clone(), shape.clone()));
            let mut out = shape.field(1).unwrap();
            all.apply(&mut out, &inp).unwrap();
            let found = distance(&out.save_lex().unwrap(), &complex_numbers(&want));
            assert!(found < tolerance(precision, 4.0), "{precision:?}: {found:e}");
            assert!(precision == Precision::F64 || found > 0.0, "{precision:?}");
        }
        let colour = Gamma5(s.shape(Precision::F64, Components::COLOUR));
        let mut out = colour.shape().field(1).unwrap();
        let vector = colour.shape().field(1).unwrap();
        assert_eq!(colour.apply(&mut out, &vector).unwrap_err().status, Status::FieldMismatch);
        assert_eq!(colour.apply(&mut out, &inp).unwrap_err().status, Status::FieldMismatch);
        let wide = Shape { order: RhsOrder::Fastest, ..shape };
        assert_eq!(Convert::new(wide, Precision::F16).err().unwrap().status, Status::Unsupported);
    }
}

/// Vector operations are right on fields of any number of components, in both orders of right-hand sides.
#[test]
fn vectors_of_any_size_in_both_orders() {
    for device in devices() {
        let extents = over_ranks([4, 4, 2, 6]);
        let comm = common::ranks();
        let geometry = if comm.size() == 1 {
            Geometry::with_lanes(extents, 1).unwrap()
        } else {
            common::geometry(extents, &device)
        };
        let sites = geometry.global_volume() as f64;
        for (spins, colours) in [(1, 3), (2, 5), (2, 24), (4, 3)] {
            for order in [RhsOrder::Slowest, RhsOrder::Fastest] {
                for precision in [Precision::F64, Precision::F32] {
                    if order == RhsOrder::Fastest && geometry.lanes() > 1 {
                        continue;
                    }
                    let components = Components::of(spins, colours);
                    let n = 3;
                    let field = || {
                        let content = (components, order);
                        let subset = Subset::Full;
                        VectorField::with_components(
                            &device, &geometry, precision, subset, n, content,
                        )
                    };
                    // Z4 noise times constants, whose norms and products are known.
                    let (mut x, mut y) = (field().unwrap(), field().unwrap());
                    x.set_noise(plaq::fields::Noise::Z4, 5, 0).unwrap();
                    let numbers = sites * components.reals() as f64 / 2.0;
                    let what = format!("{components:?} {order:?} {precision:?}");
                    for norm in blas::norm2(&x).unwrap() {
                        assert_eq!(norm, numbers, "{what}");
                    }
                    blas::copy(&mut y, &x).unwrap();
                    let c: Vec<C> = (0..n).map(|i| C::new(1.0 + i as f64, 0.5)).collect();
                    blas::axpby(&c, &x, &blas::uniform(n, 2.0), &mut y).unwrap();
                    let (dots, norms) = blas::dot_norm(&x, &y).unwrap();
                    for i in 0..n {
                        let want = (c[i] + 2.0) * numbers;
                        assert!(
                            (dots[i] - want).norm() < 1e-6 * numbers,
                            "{what} {i}: {}",
                            dots[i]
                        );
                        assert_eq!(norms[i], numbers, "{what}");
                    }
                    let back: Vec<C> = c.iter().map(|c| -(c + 2.0)).collect();
                    let left = blas::axpy_norm(&back, &x, &mut y).unwrap();
                    assert!(left.iter().all(|v| *v < 1e-10 * numbers), "{what}: {left:?}");
                    let mut z = field().unwrap();
                    blas::axpby(&blas::uniform(n, 0.5), &x, &blas::uniform(n, 0.0), &mut z)
                        .unwrap();
                    let hq = blas::heavy_quark_residual(&x, &z).unwrap();
                    assert!(hq.iter().all(|v| (v - 0.5).abs() < 1e-6), "{what}: {hq:?}");
                    let other =
                        if precision == Precision::F64 { Precision::F32 } else { Precision::F64 };
                    let mut mixed = x.like(other).unwrap();
                    blas::copy(&mut mixed, &x).unwrap();
                    assert_eq!(blas::norm2(&mixed).unwrap(), vec![numbers; n], "{what}");
                }
            }
        }
    }
}

/// Fields in 16 bits have a scale for each site, for any values: a stored number is off by at most half a unit of its
/// site's scale, and operations give the results that they give on the same numbers in double.
#[test]
fn sixteen_bits_of_any_size() {
    let (f64, f32, f16) = (Precision::F64, Precision::F32, Precision::F16);
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks) {
            let geometry = common::geometry(extents, &device);
            let sites = geometry.global_volume() as f64;
            for (spins, colours) in [(1, 3), (4, 3), (1, 1), (2, 5), (2, 8), (2, 24), (1, 26)] {
                let components = Components::of(spins, colours);
                let what = format!("{} {extents:?} {components:?}", device.name());
                let n = 3;
                let content = (components, RhsOrder::Slowest);
                let noise = |seed, precision| {
                    let subset = Subset::Full;
                    let mut v = VectorField::with_components(
                        &device, &geometry, precision, subset, n, content,
                    )
                    .unwrap();
                    v.set_noise(Noise::Normal, seed, 0).unwrap();
                    v
                };
                let to = |v: &VectorField, precision| {
                    let mut other = v.like(precision).unwrap();
                    blas::copy(&mut other, v).unwrap();
                    other
                };
                let one = blas::uniform(n, 1.0);
                // The rounding error of a site is at most `epsilon` of its largest number for each number.
                let off = |found: &VectorField, exact: &VectorField| {
                    let mut d = to(found, f64);
                    blas::axpby(&blas::uniform(n, -1.0), exact, &one, &mut d).unwrap();
                    blas::heavy_quark_residual(exact, &d).unwrap().into_iter().fold(0.0, f64::max)
                };
                let rounding = f16.epsilon() * (components.reals() as f64).sqrt();
                let (x, y) = (noise(1, f64), noise(2, f64));
                let (sx, sy) = (to(&x, f16), to(&y, f16));
                for (short, exact) in [(&sx, &x), (&sy, &y), (&noise(1, f16), &x)] {
                    let found = off(short, exact);
                    let some = if components.reals() > 2 { found > 0.01 * rounding } else { true };
                    assert!(found <= rounding && some, "{what}: {found:e} {rounding:e}");
                }
                // The stored numbers are the exact ones from here on. A copy in 16 bits is rounded once more, since
                // units on a GPU have 12 bits.
                let (x, y) = (to(&sx, f64), to(&sy, f64));
                assert!(off(&to(&sx, f32), &x) < 1e-7, "{what}");
                let size = sites * components.reals() as f64 / 2.0;
                let close = |found: &[f64], exact: &[f64], tol: f64| {
                    for (a, b) in found.iter().zip(exact) {
                        assert!((a - b).abs() <= tol * size, "{what}: {a} {b}");
                    }
                };
                let (dots, norms) = blas::dot_norm(&sx, &sy).unwrap();
                let (exact, exact_norms) = blas::dot_norm(&x, &y).unwrap();
                close(&norms, &exact_norms, 1e-6);
                close(&blas::norm2(&sx).unwrap(), &exact_norms, 1e-6);
                for (a, b) in dots.iter().zip(&exact) {
                    close(&[a.re, a.im], &[b.re, b.im], 1e-6);
                }
                let (a, b): (Vec<C>, Vec<C>) = (0..n)
                    .map(|i| (C::new(0.3 + i as f64, 0.5), C::new(-0.7, 0.1 * i as f64)))
                    .unzip();
                // Operations with one result, stored in 16 bits or in single precision.
                for precision in [f16, f32] {
                    let mut z = to(&sy, precision);
                    let mut exact = to(&z, f64);
                    blas::axpby(&a, &sx, &b, &mut z).unwrap();
                    blas::axpby(&a, &x, &b, &mut exact).unwrap();
                    let found = off(&z, &exact);
                    let bound = if precision == f16 { 1.01 * rounding } else { 1e-6 };
                    assert!(found <= bound, "{what} {precision}: {found:e}");
                }
                // Operations with two results, and with sums, which contain results before they are rounded.
                let (mut p, mut s, mut t) = (to(&sx, f16), to(&sy, f16), to(&sx, f16));
                let (mut xp, mut xs, mut xt) = (to(&p, f64), to(&s, f64), to(&t, f64));
                blas::cg_update(&mut s, &a, &mut p, &b, &t, &one).unwrap();
                blas::cg_update(&mut xs, &a, &mut xp, &b, &xt, &one).unwrap();
                for (found, exact) in [(&s, &xs), (&p, &xp)] {
                    assert!(off(found, exact) <= 1.01 * rounding, "{what}");
                }
                let (p, s) = (to(&sx, f16), to(&sy, f16));
                let (x, y) = (to(&p, f64), to(&s, f64));
                let (dot, norm) = blas::axpy_dot(&a, &p, &mut t, &s).unwrap();
                let (exact_dot, exact_norm) = blas::axpy_dot(&a, &x, &mut xt, &y).unwrap();
                close(&norm, &exact_norm, 1e-5);
                for (a, b) in dot.iter().zip(&exact_dot) {
                    close(&[a.re, a.im], &[b.re, b.im], 1e-5);
                }
                assert!(off(&t, &xt) <= 1.01 * rounding, "{what}");
                let (mut solution, mut r) = (to(&sx, f16), to(&sy, f16));
                let (mut xsolution, mut xr) = (to(&solution, f64), to(&r, f64));
                let known = blas::norm2_later(&p).unwrap();
                let times = Times::OverNorm(&known);
                let found = blas::bicgstab_update(
                    &mut solution,
                    (&a, times),
                    &s,
                    (&b, times),
                    &mut r,
                    &p,
                    &s,
                );
                let exactly = blas::norm2_later(&x).unwrap();
                let times = Times::OverNorm(&exactly);
                let exact = blas::bicgstab_update(
                    &mut xsolution,
                    (&a, times),
                    &y,
                    (&b, times),
                    &mut xr,
                    &x,
                    &y,
                );
                close(&found.unwrap().1, &exact.unwrap().1, 1e-5);
                assert!(off(&solution, &xsolution) <= 1.01 * rounding, "{what}");
                assert!(off(&r, &xr) <= 1.01 * rounding, "{what}");
                // Updates of a multi-shift solver, and right-hand sides that are taken out one by one.
                let step = |c: f64| Step { a: vec![c; n], c: vec![0.5; n], d: vec![1.0 - c; n] };
                let mut wide = noise(3, f32);
                let mut exact = to(&wide, f64);
                let (mut p, mut q) = (to(&sx, f16), to(&sy, f16));
                let (mut xp, mut xq) = (to(&p, f64), to(&q, f64));
                let steps = [step(0.2), step(-0.4)];
                plaq::solvers::shifts::sum(&mut wide, &mut [&mut p, &mut q], &steps, &s).unwrap();
                plaq::solvers::shifts::sum(&mut exact, &mut [&mut xp, &mut xq], &steps, &y)
                    .unwrap();
                assert!(off(&wide, &exact) < 1e-6, "{what}");
                assert!(off(&p, &xp).max(off(&q, &xq)) <= 1.01 * rounding, "{what}");
                let mut columns = s.like_with(f16, 4).unwrap();
                columns.copy_rhs(1, &s, 0, 2).unwrap();
                columns.keep(&[1, 2]).unwrap();
                // On a GPU the order of a sum depends on the number of right-hand sides.
                close(&blas::norm2(&columns).unwrap(), &blas::norm2(&s).unwrap()[..2], 1e-13);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_a_status() {
    let s = &setups()[0];
    let gauge = Arc::new(s.gauge.to(Precision::F64, Recon::R18).unwrap());
    let coarse = Components::of(2, 8);
    let e = Laplace::massive(gauge.clone(), coarse, 15, 0.1).err().unwrap();
    assert_eq!(e.status, Status::Unsupported);
    let op = Laplace::massive(gauge.clone(), Components::COLOUR, 15, 0.1).unwrap();
    let spinor = s.shape(Precision::F64, Components::SPINOR).field(1).unwrap();
    let mut out = op.range().field(1).unwrap();
    assert_eq!(op.apply(&mut out, &spinor).unwrap_err().status, Status::FieldMismatch);
    let e = Laplace::massive(gauge, Components::COLOUR, 0, 0.1).err().unwrap();
    assert_eq!(e.status, Status::InvalidArgument);
    let shape = Shape { order: RhsOrder::Fastest, ..s.shape(Precision::F16, coarse) };
    assert_eq!(shape.field(1).unwrap_err().status, Status::Unsupported);
}

/// Colour vectors and spinors are the same bit for bit after writing and reading a file, and one kind is refused for
/// the other.
#[test]
fn vectors_of_either_kind_in_files() {
    let folder = common::Folder::new("vectors");
    for s in setups() {
        for (components, other) in [(BOTH[0], BOTH[1]), (BOTH[1], BOTH[0])] {
            for precision in [Precision::F64, Precision::F32] {
                let path = folder.0.join("vectors");
                let mut v = s.shape(precision, components).field(2).unwrap();
                v.set_noise(Noise::Normal, 9, 0).unwrap();
                let values = vec![(String::from("values"), vec![0.5, -1.25])];
                save_vectors(&path, "test", values.clone(), &[&v]).unwrap();
                let open = |components| {
                    VectorFile::open(s.gauge.device(), &s.geometry, &path, "test", components)
                };
                let mut file = open(components).unwrap();
                assert_eq!(file.header().tables, values);
                let back = file.read(0..2, Precision::F64).unwrap();
                assert_eq!(back.precision(), precision);
                assert_eq!(back.save_lex().unwrap(), v.save_lex().unwrap(), "{components}");
                let refused = open(other).err().expect("other components");
                assert_eq!(refused.status, Status::FileFormat, "{refused}");
            }
        }
    }
}
