//! Tests of general solvers on coarse operators, against a dense matrix.

use plaq::compose::multigrid::{CoarseSystem, Coarsest, Prolongator};
use plaq::fields::blas;
use plaq::linop::{Adjoint, LinOp, Normal, Product, Shape, Shifted, Sum};
use plaq::solvers::{no_monitor, solve, SolverKind, SolverParams, Stop, StoppedBy, System};

use super::*;

/// The coarse operator of a smooth gauge field; for the plain Wilson operator it is gamma5-hermitian.
fn coarse(
    device: &Device,
    part: [usize; 4],
    block: [usize; 4],
    n: usize,
    precision: Precision,
) -> Arc<CoarseOperator> {
    let s = Setup::new(device, over_ranks(part), 0.35);
    let p = DiracParams { mass: 0.1, csw: 1.1, csw_t: 1.1, ..Default::default() };
    let op = s.wilson(p);
    let transfer = Transfer::new(null_vectors(&s, n, Precision::F64), block).unwrap();
    let low = Arc::new(op.to(precision, Recon::R18).unwrap());
    Arc::new(FineOperator::Dirac(low).coarsened(&transfer, precision).unwrap())
}

fn random(op: &CoarseOperator, nrhs: usize, seed: u64) -> CoarseField {
    let mut f = op.field(Subset::Full, nrhs).unwrap();
    scatter(&mut f, &random_numbers(op.grid().global_volume() * op.rows() * nrhs, seed));
    f
}

/// Columns of a vector `[site][component][right-hand side]`.
fn columns(f: &CoarseField) -> Vec<Vec<C>> {
    let values = f.save().unwrap();
    let z: Vec<C> = values.chunks(2).map(|z| C::new(z[0], z[1])).collect();
    (0..f.nrhs()).map(|j| z.iter().skip(j).step_by(f.nrhs()).copied().collect()).collect()
}

/// The vector with the sign of its lower chirality changed.
fn gamma5(f: &CoarseField) -> CoarseField {
    let (mut values, n) = (f.save().unwrap(), f.nrhs());
    for (i, z) in values.chunks_mut(2 * n).enumerate() {
        if i % f.components() >= f.components() / 2 {
            z.iter_mut().for_each(|x| *x = -*x);
        }
    }
    let mut g = f.like(n).unwrap();
    g.load(&values).unwrap();
    g
}

/// Solves A x = b for the matrix with these columns, by Gaussian elimination with pivots.
fn dense_solution(columns: &[Vec<C>], b: &[C]) -> Vec<C> {
    let n = b.len();
    let mut rows: Vec<Vec<C>> =
        (0..n).map(|i| columns.iter().map(|c| c[i]).chain([b[i]]).collect()).collect();
    for k in 0..n {
        let pivot =
            (k..n).max_by(|&i, &j| rows[i][k].norm().total_cmp(&rows[j][k].norm())).unwrap();
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for j in k..=n {
                row[j] -= factor * above[k][j];
            }
        }
    }
    let mut x = vec![C::ZERO; n];
    for k in (0..n).rev() {
        let rest: C = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - rest) / rows[k][k];
    }
    x
}

/// The relative residual |b - M x| / |b| over all ranks, by the operator on all sites.
fn off(op: &CoarseOperator, x: &CoarseField, b: &CoarseField) -> f64 {
    let mut image = b.like(b.nrhs()).unwrap();
    op.apply(&mut image, x).unwrap();
    image.axpby(&blas::uniform(b.nrhs(), 1.0), b, &blas::uniform(b.nrhs(), -1.0)).unwrap();
    let (r, n) = (image.norm2().unwrap(), b.norm2().unwrap());
    r.iter().zip(n).fold(0.0, |m, (r, n)| m.max((r / n).sqrt()))
}

/// Every solver solves on coarse levels with and without parity; several ranks compare with the operator, one rank
/// with the dense matrix too.
#[test]
fn any_solver_solves_on_coarse_levels() {
    for device in devices() {
        for (part, block) in [([4, 4, 4, 8], [2, 2, 4, 4]), ([6, 2, 2, 4], [2, 2, 2, 2])] {
            let op = coarse(&device, part, block, 3, Precision::F64);
            let low = coarse(&device, part, block, 3, Precision::F32);
            let system = CoarseSystem::new(op.clone(), true);
            let b = random(&op, 3, 5);
            let dense: Option<Vec<Vec<C>>> = (ranks().size() == 1).then(|| {
                let size = op.grid().volume() * op.rows();
                let mut unit = op.field(Subset::Full, size).unwrap();
                let mut numbers = vec![0.0; 2 * size * size];
                (0..size).for_each(|i| numbers[2 * i * (size + 1)] = 1.0);
                unit.load(&numbers).unwrap();
                let mut image = unit.like(size).unwrap();
                op.apply(&mut image, &unit).unwrap();
                let matrix = columns(&image);
                columns(&b).iter().map(|b| dense_solution(&matrix, b)).collect()
            });
            let twin: Arc<dyn LinOp> = CoarseSystem::new(low, true);
            for kind in [
                SolverKind::BiCgStab,
                SolverKind::Gcr,
                SolverKind::Cgnr,
                SolverKind::Cgne,
                SolverKind::Mr,
            ] {
                for sloppy in [None, Some(twin.clone())] {
                    let how = System { sloppy, ..System::new(system.clone()) };
                    let ask = SolverParams { kind, stop: Stop::at(1e-11), ..Default::default() };
                    let mut x = b.like(3).unwrap();
                    let r =
                        system.solve_all(&how, &ask, false, &mut x, &b, &mut no_monitor).unwrap();
                    assert!(r.converged && r.iterations > 1, "{kind:?} {part:?}: {r:?}");
                    assert_eq!(r.stopped_by, Some(StoppedBy::Residual));
                    let found = off(&op, &x, &b);
                    assert!(found < 1e-9, "{kind:?} {part:?}: {found:e} {r:?}");
                    for (x, exact) in columns(&x).iter().zip(dense.iter().flatten()) {
                        let error: f64 = x.iter().zip(exact).map(|(x, y)| (x - y).norm_sqr()).sum();
                        let norm: f64 = exact.iter().map(|y| y.norm_sqr()).sum();
                        let error = (error / norm).sqrt();
                        assert!(error < 1e-8, "{kind:?} {part:?}: {error:e}");
                    }
                }
            }
        }
    }
}

/// P and R act as operators from one space to another: <x, P y> = <R x, y>, R P = 1, and the composed operator R M P
/// equals the three applied in turn.
#[test]
fn prolongators_are_rectangular_operators() {
    for device in devices() {
        for (part, block) in [([4, 4, 4, 8], [2, 2, 4, 4]), ([6, 2, 2, 4], [2, 2, 2, 2])] {
            let s = Setup::new(&device, over_ranks(part), 0.35);
            let transfer =
                Arc::new(Transfer::new(null_vectors(&s, 3, Precision::F64), block).unwrap());
            let p = Prolongator::new(transfer.clone());
            let (coarse, fine) = (p.shape(), p.range());
            assert_ne!(coarse, fine);
            assert_eq!((coarse.components.reals(), fine.components.reals()), (2 * 6, 2 * 12));
            let noise = |shape: &Shape, seed| {
                let mut v = shape.field(2).unwrap();
                v.set_noise(plaq::fields::Noise::Normal, seed, 0).unwrap();
                v
            };
            let (x, y) = (noise(&fine, 1), noise(&coarse, 2));
            let r: Arc<dyn LinOp> = Arc::new(Adjoint(p.clone()));
            assert_eq!((r.shape(), r.range()), (fine.clone(), coarse.clone()));
            let (mut py, mut rx) = (fine.field(2).unwrap(), coarse.field(2).unwrap());
            p.apply(&mut py, &y).unwrap();
            r.apply(&mut rx, &x).unwrap();
            let (left, right) = (blas::dot(&x, &py).unwrap(), blas::dot(&rx, &y).unwrap());
            let scale = blas::norm2(&x).unwrap()[0];
            for (a, b) in left.iter().zip(&right) {
                assert!((a - b).norm() < 1e-12 * scale && a.norm() > 1e-6 * scale, "{a} {b}");
            }
            // R (2 + 3 P R) P = 5, since R P = 1.
            let up_down: Arc<dyn LinOp> =
                Arc::new(Product::new(vec![p.clone(), r.clone()]).unwrap());
            let three = Sum::new(vec![(C::new(3.0, 0.0), up_down)]).unwrap();
            let middle: Arc<dyn LinOp> = Arc::new(Shifted::new(Arc::new(three), C::new(2.0, 0.0)));
            let all = Product::new(vec![r, middle, p.clone()]).unwrap();
            let mut back = coarse.field(2).unwrap();
            all.apply(&mut back, &y).unwrap();
            blas::axpy(&blas::uniform(2, -5.0), &y, &mut back).unwrap();
            let (off, norm) = (blas::norm2(&back).unwrap(), blas::norm2(&y).unwrap());
            assert!(off.iter().zip(norm).all(|(o, n)| *o < 1e-24 * n), "{off:?}");
            // A field of the space that P maps to is refused as its input.
            assert_eq!(p.apply(&mut rx, &y).unwrap_err().status, Status::FieldMismatch);
            let twice = Product::new(vec![p.clone() as Arc<dyn LinOp>, p]).err().unwrap();
            assert_eq!(twice.status, Status::FieldMismatch);
        }
    }
}

/// Adjoints of coarse operators satisfy <x, S y> = <S^dagger x, y>, and CG solves with S^dagger S; without
/// gamma5-hermiticity there is no adjoint.
#[test]
fn adjoints_of_coarse_operators() {
    for device in devices() {
        let op = coarse(&device, [4, 4, 4, 8], [2, 2, 4, 4], 3, Precision::F64);
        let system = CoarseSystem::new(op.clone(), true);
        let shape = system.shape();
        let noise = |seed| {
            let mut v = shape.field(2).unwrap();
            v.set_noise(plaq::fields::Noise::Normal, seed, 0).unwrap();
            v
        };
        let (x, y) = (noise(1), noise(2));
        let (mut sy, mut sx) = (shape.field(2).unwrap(), shape.field(2).unwrap());
        system.apply(&mut sy, &y).unwrap();
        system.apply_dagger(&mut sx, &x).unwrap();
        let (left, right) = (blas::dot(&x, &sy).unwrap(), blas::dot(&sx, &y).unwrap());
        let scale = blas::norm2(&x).unwrap()[0];
        for (a, b) in left.iter().zip(&right) {
            assert!((a - b).norm() < 1e-12 * scale, "{a} {b}");
        }
        let normal: Arc<dyn LinOp> = Arc::new(Normal::mdag_m(system.clone()));
        let ask =
            SolverParams { kind: SolverKind::Cg, stop: Stop::at(1e-11), ..Default::default() };
        let mut z = shape.field(2).unwrap();
        let r = solve(&System::new(normal), &ask, &mut z, &x, &mut no_monitor).unwrap();
        assert!(r.converged, "{r:?}");
        system.apply(&mut sx, &z).unwrap();
        system.apply_dagger(&mut sy, &sx).unwrap();
        blas::axpy(&blas::uniform(2, -1.0), &x, &mut sy).unwrap();
        let found = blas::norm2(&sy).unwrap()[0] / scale;
        assert!(found.sqrt() < 2e-11, "{:e}", found.sqrt());

        // On all sites M^dagger = Gamma5 M Gamma5. A solve that starts from the solution needs no iteration.
        let adjoint = System::new(Arc::new(Adjoint(system.clone())));
        let ask = SolverParams {
            kind: SolverKind::BiCgStab,
            stop: Stop::at(1e-11),
            ..Default::default()
        };
        let (b, watch) = (random(&op, 2, 7), &mut no_monitor);
        let mut y = b.like(2).unwrap();
        let r = system.solve_all(&adjoint, &ask, true, &mut y, &b, watch).unwrap();
        let found = off(&op, &gamma5(&y), &gamma5(&b));
        assert!(r.converged && r.iterations > 1 && found < 1e-9, "{found:e} {r:?}");
        let again =
            SolverParams { initial_guess: true, stop: Stop { residual: 1e-9, ..ask.stop }, ..ask };
        let r = system.solve_all(&adjoint, &again, true, &mut y, &b, watch).unwrap();
        assert!(r.converged && r.iterations == 0, "{r:?}");

        let plain = CoarseSystem::new(op.clone(), false);
        assert_eq!(plain.apply_dagger(&mut sy, &x).unwrap_err().status, Status::Unsupported);
        let half = op.field(op.subset(), 2).unwrap();
        let mut whole = op.field(Subset::Full, 2).unwrap();
        let how = System::new(plain.clone() as Arc<dyn LinOp>);
        let e = plain.solve(&how, &ask, &mut whole, &half, &mut no_monitor).unwrap_err();
        assert_eq!(e.status, Status::FieldMismatch);
        let other = SolverParams::default();
        let mut x = whole.like(1).unwrap();
        let e = plain.solve_all(&how, &other, false, &mut x, &whole, &mut no_monitor).unwrap_err();
        assert_eq!(e.status, Status::FieldMismatch);
    }
}

/// Single right-hand sides of fields in which they are the fastest index are copied from and to fields with other
/// numbers of them.
#[test]
fn columns_of_coarse_vectors_are_copied() {
    for device in devices() {
        let op = coarse(&device, [4, 4, 4, 8], [2, 2, 4, 4], 3, Precision::F64);
        let shape = CoarseSystem::new(op, false).shape();
        let mut x = shape.field(3).unwrap();
        x.set_noise(plaq::fields::Noise::Normal, 1, 0).unwrap();
        let mut y = shape.field(5).unwrap();
        y.copy_rhs(2, &x, 1, 2).unwrap();
        let (nx, ny) = (blas::norm2(&x).unwrap(), blas::norm2(&y).unwrap());
        assert!(nx[1] > 0.0 && nx[1] != nx[2]);
        assert_eq!(ny, [0.0, 0.0, nx[1], nx[2], 0.0]);
        assert_eq!(y.copy_rhs(4, &x, 1, 2).unwrap_err().status, Status::FieldMismatch);
    }
}

/// Solves on coarse levels end for each right-hand side by itself: the result of a cycle for it is the same whichever
/// right-hand sides are solved with it.
#[test]
fn columns_of_a_cycle_are_independent() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.5);
        let params = DiracParams { mass: -0.25, csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = s.wilson(params);
        let level = |block| LevelParams { block, vectors: 6, pre: 0, post: 2 };
        let base = MultigridParams {
            coarse_precision: Precision::F64,
            smoother_precision: Some(Precision::F64),
            tol: 0.1,
            coarsest_tol: 1e-3,
            refinements: 0,
            ..MultigridParams::with_levels(vec![level([2; 4]), level([2, 2, 1, 2])])
        };
        let vectors = Multigrid::new(&*op, &base).unwrap().vectors(Precision::F64).unwrap();
        for (coarsest, coarsest_modes) in [
            (Coarsest::CaGcr, 0),
            (Coarsest::CaGcr, 4),
            (Coarsest::Gcr, 0),
            (Coarsest::BiCgStab, 0),
        ] {
            let params =
                MultigridParams { coarsest, coarsest_modes: Some(coarsest_modes), ..base.clone() };
            let multigrid = Arc::new(Multigrid::with_vectors(&*op, &params, &vectors).unwrap());
            let field = |n| {
                let geometry = &s.geometry;
                SpinorField::new(&device, geometry, Precision::F64, Subset::Even, n).unwrap()
            };
            let mut noise = field(1);
            noise.set_noise(Noise::Normal, 5, 0).unwrap();
            let inverse = multigrid.inverse(Schur::EVEN_SYMMETRIC, Shape::of(&noise));
            let apply = |b: &SpinorField| {
                let mut x = field(b.nrhs());
                inverse.apply(&mut x, b).unwrap();
                x
            };
            // Right-hand sides: noise; low modes; zero; noise with a part of low modes.
            let low = (0..4).fold(apply(&noise), |v, _| apply(&v));
            let mut mixed = field(1);
            mixed.set_noise(Noise::Normal, 6, 0).unwrap();
            let norm = blas::norm2(&low).unwrap()[0].sqrt();
            blas::axpy(&blas::uniform(1, 30.0 / norm), &low, &mut mixed).unwrap();
            let columns = [noise, low, field(1), mixed];
            let mut all = field(4);
            for (i, column) in columns.iter().enumerate() {
                all.copy_rhs(i, column, 0, 1).unwrap();
            }
            let together = apply(&all);
            for (i, column) in columns.iter().enumerate() {
                let alone = apply(column).save_lex().unwrap();
                let mut one = field(1);
                one.copy_rhs(0, &together, i, 1).unwrap();
                let one = one.save_lex().unwrap();
                let size = alone.iter().fold(0.0, |m: f64, v| m.max(v.abs())).max(1e-300);
                let apart = alone.iter().zip(&one).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                println!("{coarsest:?} {coarsest_modes}, column {i}: {:.1e} apart", apart / size);
                assert!(apart <= 1e-9 * size, "{coarsest:?}, column {i}: {apart:e} of {size:e}");
            }
        }
    }
}
