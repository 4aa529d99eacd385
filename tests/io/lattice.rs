//! Helpers for tests of files: random SU(3) links, observables computed slowly, and a folder for each test.

use std::fs;
use std::path::PathBuf;

/// A test's own folder, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plaq-io-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub type Complex = num_complex::Complex64;
pub type Matrix = [[Complex; 3]; 3];

pub struct Random(pub u64);

impl Random {
    /// The next random number, uniform in (-1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A random SU(3) matrix: the unit matrix for `disorder` 0, far from it for large values.
    pub fn su3(&mut self, disorder: f64) -> Matrix {
        let mut u: Matrix = Default::default();
        for (i, row) in u.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = Complex::new(self.next(), self.next()) * disorder;
                *entry += if i == j { 1.0 } else { 0.0 };
            }
        }
        let norm = |row: [Complex; 3]| {
            let n = row.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            row.map(|z| z / n)
        };
        u[0] = norm(u[0]);
        let overlap: Complex = (0..3).map(|j| u[0][j].conj() * u[1][j]).sum();
        u[1] = norm([0, 1, 2].map(|j| u[1][j] - overlap * u[0][j]));
        u[2] = [0, 1, 2].map(|j| {
            let (k, l) = ((j + 1) % 3, (j + 2) % 3);
            (u[0][k] * u[1][l] - u[0][l] * u[1][k]).conj()
        });
        u
    }

    pub fn links(&mut self, n: [usize; 4], disorder: f64) -> Vec<f64> {
        let count = 4 * n.iter().product::<usize>();
        (0..count).flat_map(|_| self.su3(disorder)).flatten().flat_map(|z| [z.re, z.im]).collect()
    }
}

pub fn lex(n: [usize; 4], x: [usize; 4]) -> usize {
    x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3]))
}

pub fn coordinates(n: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    (0..n.iter().product()).map(move |i: usize| {
        [i % n[0], i / n[0] % n[1], i / n[0] / n[1] % n[2], i / n[0] / n[1] / n[2]]
    })
}

pub fn link(n: [usize; 4], links: &[f64], x: [usize; 4], mu: usize) -> Matrix {
    let at = 18 * (4 * lex(n, x) + mu);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            Complex::new(links[at + 6 * i + 2 * j], links[at + 6 * i + 2 * j + 1])
        })
    })
}

pub fn times(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

pub fn dagger(a: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i].conj()))
}

pub fn trace(a: Matrix) -> f64 {
    (0..3).map(|i| a[i][i].re).sum()
}

/// Averages of Re tr U_p over spatial and temporal plaquettes, 3 for unit links.
pub fn plaquettes(n: [usize; 4], links: &[f64]) -> (f64, f64) {
    let (mut space, mut time) = (0.0, 0.0);
    for x in coordinates(n) {
        for nu in 0..4 {
            for mu in 0..nu {
                let step = |mu: usize| {
                    let mut y = x;
                    y[mu] = (y[mu] + 1) % n[mu];
                    y
                };
                let one = times(link(n, links, x, mu), link(n, links, step(mu), nu));
                let two = times(link(n, links, x, nu), link(n, links, step(nu), mu));
                let value = trace(times(one, dagger(two)));
                *if nu == 3 { &mut time } else { &mut space } += value;
            }
        }
    }
    let count = 3.0 * n.iter().product::<usize>() as f64;
    (space / count, time / count)
}

pub fn plaquette(n: [usize; 4], links: &[f64]) -> f64 {
    let (space, time) = plaquettes(n, links);
    (space + time) / 6.0
}

pub fn link_trace(n: [usize; 4], links: &[f64]) -> f64 {
    let sum: f64 = coordinates(n)
        .flat_map(|x| (0..4).map(move |mu| (x, mu)))
        .map(|(x, mu)| trace(link(n, links, x, mu)))
        .sum();
    sum / (12 * n.iter().product::<usize>()) as f64
}
