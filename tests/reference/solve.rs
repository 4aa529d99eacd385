//! Reference solvers.

use super::matrix::eliminate;
use super::spinor::{axpy, norm2};
use super::{Field, C};

/// The result of a solve.
#[derive(Clone, Debug)]
pub struct Solved {
    pub x: Field,
    pub iterations: usize,
    /// Relative residual |b - D x| / |b|, computed from x.
    pub residual: f64,
}

/// Solves D x = b by conjugate gradients on D D^dag (CGNE): x = D^dag y, so that the residual of the iteration is
/// that of D x = b. Panics if `tolerance` is not reached.
pub fn cgne(
    apply: impl Fn(&Field) -> Field,
    apply_dag: impl Fn(&Field) -> Field,
    b: &Field,
    tolerance: f64,
) -> Solved {
    const MAX_ITERATIONS: usize = 20_000;
    let real = |x: f64| C::new(x, 0.0);
    let mut x = axpy(-C::ONE, b, b);
    let mut r = b.clone();
    let mut p = apply_dag(&r);
    let mut r2 = norm2(&r);
    let goal = tolerance * tolerance * r2;
    let mut iterations = 0;
    while r2 > goal {
        assert!(iterations < MAX_ITERATIONS, "CGNE stays at {r2:e}, wanted {goal:e}");
        let alpha = r2 / norm2(&p);
        x = axpy(real(alpha), &p, &x);
        r = axpy(real(-alpha), &apply(&p), &r);
        let new = norm2(&r);
        p = axpy(real(new / r2), &p, &apply_dag(&r));
        r2 = new;
        iterations += 1;
    }
    let left = axpy(-C::ONE, &apply(&x), b);
    Solved { x, iterations, residual: (norm2(&left) / norm2(b)).sqrt() }
}

/// The matrix of an operator in the basis site, spin, colour, as rows; for tiny lattices.
pub fn dense(apply: impl Fn(&Field) -> Field, volume: usize) -> Vec<Vec<C>> {
    let n = volume * 12;
    let mut rows = vec![vec![C::ZERO; n]; n];
    for column in 0..n {
        let mut e = vec![[[C::ZERO; 3]; 4]; volume];
        e[column / 12][column / 3 % 4][column % 3] = C::ONE;
        for (row, value) in apply(&e).iter().flatten().flatten().enumerate() {
            rows[row][column] = *value;
        }
    }
    rows
}

/// Solves a dense system exactly; also returns ln det of its matrix.
pub fn dense_solve(mut matrix: Vec<Vec<C>>, b: &Field) -> (Field, C) {
    for (row, value) in matrix.iter_mut().zip(b.iter().flatten().flatten()) {
        row.push(*value);
    }
    let ln_det = eliminate(&mut matrix);
    let x: Vec<C> = matrix.iter().map(|row| row[row.len() - 1]).collect();
    let entry = |site: usize, s: usize, c: usize| x[site * 12 + s * 3 + c];
    let spinor = |i| std::array::from_fn(|s| std::array::from_fn(|c| entry(i, s, c)));
    ((0..b.len()).map(spinor).collect(), ln_det)
}
