//! Reference dense operators on small lattices: the hermitian Wilson operator, its sign by diagonalisation, and the
//! overlap operator (physics.md, Overlap).

use super::dirac::{Dirac, Params};
use super::spinor::{apply_gamma5, point};
use super::{Field, Gauge, Lattice, C};

/// A dense matrix stored row by row; an index is (site * 4 + spin) * 3 + colour.
#[derive(Clone)]
pub struct Dense {
    pub n: usize,
    pub a: Vec<C>,
}

pub fn flat(f: &Field) -> Vec<C> {
    f.iter().flatten().flatten().copied().collect()
}

pub fn field(v: &[C]) -> Field {
    v.chunks(12).map(|s| std::array::from_fn(|i| std::array::from_fn(|j| s[3 * i + j]))).collect()
}

impl Dense {
    /// The matrix of a linear map.
    pub fn of(lat: Lattice, map: impl Fn(&Field) -> Field) -> Dense {
        let n = 12 * lat.volume();
        let mut a = vec![C::ZERO; n * n];
        for column in 0..n {
            let image = flat(&map(&point(lat, column / 12, column / 3 % 4, column % 3)));
            (0..n).for_each(|row| a[row * n + column] = image[row]);
        }
        Dense { n, a }
    }

    pub fn apply(&self, v: &Field) -> Field {
        let v = flat(v);
        let row = |i: usize| (0..self.n).map(|j| self.a[i * self.n + j] * v[j]).sum();
        field(&(0..self.n).map(row).collect::<Vec<C>>())
    }

    /// Eigenvalues and eigenvectors (columns) of a hermitian matrix by Jacobi's rotations.
    pub fn eigen(&self) -> (Vec<f64>, Vec<C>) {
        let n = self.n;
        let mut a = self.a.clone();
        // Rows of v become the eigenvectors.
        let mut v = vec![C::ZERO; n * n];
        (0..n).for_each(|i| v[i * n + i] = C::ONE);
        // Rotates rows p and q by cosine c, sine s and phase e: x -> c x - s e y, y -> s conj(e) x + c y.
        let rotate = |m: &mut [C], (p, q): (usize, usize), (c, s, e): (f64, f64, C)| {
            let (above, below) = m.split_at_mut(q * n);
            let (minus, plus) = (s * e, s * e.conj());
            for (x, y) in above[p * n..][..n].iter_mut().zip(&mut below[..n]) {
                (*x, *y) = (c * *x - minus * *y, plus * *x + c * *y);
            }
        };
        let norm: f64 = a.iter().map(|z| z.norm_sqr()).sum();
        loop {
            let mut off = 0.0;
            for p in 0..n {
                for q in p + 1..n {
                    let z = a[p * n + q];
                    off += z.norm_sqr();
                    if z.norm_sqr() < 1e-34 * norm / (n * n) as f64 {
                        continue;
                    }
                    // The rotation ((c, s e), (-s conj(e), c)), where e is the phase of a_pq, makes a_pq vanish.
                    let phase = z / z.norm();
                    let tau = (a[q * n + q].re - a[p * n + p].re) / (2.0 * z.norm());
                    let t = 1.0 / (tau.abs() + (1.0 + tau * tau).sqrt());
                    let t = if tau < 0.0 { -t } else { t };
                    let c = 1.0 / (1.0 + t * t).sqrt();
                    let s = t * c;
                    rotate(&mut v, (p, q), (c, s, phase.conj()));
                    rotate(&mut a, (p, q), (c, s, phase));
                    for i in [p, q] {
                        let (x, y) = (a[i * n + p], a[i * n + q]);
                        a[i * n + p] = c * x - s * phase.conj() * y;
                        a[i * n + q] = s * phase * x + c * y;
                    }
                    // The matrix stays hermitian: other numbers in columns p and q are conjugates of those in rows p
                    // and q.
                    for k in (0..n).filter(|&k| k != p && k != q) {
                        a[k * n + p] = a[p * n + k].conj();
                        a[k * n + q] = a[q * n + k].conj();
                    }
                }
            }
            if off < 1e-28 * norm {
                let columns: Vec<C> = (0..n * n).map(|i| v[i % n * n + i / n]).collect();
                return (self.quotients(&columns), columns);
            }
        }
    }
}

impl Dense {
    /// Rayleigh quotients of the columns, which do not have the rounding errors of many rotations.
    fn quotients(&self, v: &[C]) -> Vec<f64> {
        let n = self.n;
        (0..n)
            .map(|k| {
                let column: Vec<C> = (0..n).map(|i| v[i * n + k]).collect();
                let row = |i: usize| -> C {
                    self.a[i * n..(i + 1) * n].iter().zip(&column).map(|(a, v)| a * v).sum()
                };
                let along: C = (0..n).map(|i| column[i].conj() * row(i)).sum();
                along.re / column.iter().map(|z| z.norm_sqr()).sum::<f64>()
            })
            .collect()
    }
}

/// The kernel Q = gamma5 D with mass -rho.
pub fn kernel(lat: Lattice, gauge: &Gauge, params: Params) -> Dense {
    let dirac = Dirac::new(lat, gauge, params);
    Dense::of(lat, |f| apply_gamma5(&dirac.apply(f)))
}

/// Eigenvalues of Q, and the matrix sign(Q).
pub fn sign(q: &Dense) -> (Vec<f64>, Dense) {
    let (values, v) = q.eigen();
    let n = q.n;
    let mut a = vec![C::ZERO; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] =
                (0..n).map(|k| values[k].signum() * v[i * n + k] * v[j * n + k].conj()).sum();
        }
    }
    (values, Dense { n, a })
}

/// Computes D_N(m) of a field, with sign(Q) given.
pub fn apply(sign: &Dense, rho: f64, mass: f64, f: &Field) -> Field {
    let s = apply_gamma5(&sign.apply(f));
    let one = |x: C, y: C| (1.0 - mass / (2.0 * rho)) * rho * (x + y) + mass * x;
    field(&flat(f).iter().zip(flat(&s)).map(|(&x, y)| one(x, y)).collect::<Vec<C>>())
}

/// Computes the adjoint of D_N(m) of a field, by gamma5-hermiticity.
pub fn apply_dag(sign: &Dense, rho: f64, mass: f64, f: &Field) -> Field {
    apply_gamma5(&apply(sign, rho, mass, &apply_gamma5(f)))
}
