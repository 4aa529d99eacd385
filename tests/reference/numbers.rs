//! Reference fields as plain numbers in lexicographic order, the form that plaq loads and saves.

use super::matrix::Matrix;
use super::{Field, GaugeN, C};

pub fn gauge_numbers<const N: usize>(u: &GaugeN<N>) -> Vec<f64> {
    u.iter().flatten().flatten().flat_map(|z| [z.re, z.im]).collect()
}

pub fn gauge_from<const N: usize>(numbers: &[f64]) -> GaugeN<N> {
    let link = |v: &[f64]| -> Matrix<N> {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| C::new(v[2 * (N * i + j)], v[2 * (N * i + j) + 1]))
        })
    };
    numbers.chunks(2 * N * N).map(link).collect()
}

pub fn field_numbers(f: &Field) -> Vec<f64> {
    f.iter().flatten().flatten().flat_map(|z| [z.re, z.im]).collect()
}

pub fn field_from(numbers: &[f64]) -> Field {
    numbers
        .chunks(24)
        .map(|site| {
            let mut s = [[C::ZERO; 3]; 4];
            for (i, z) in site.chunks(2).enumerate() {
                s[i / 3][i % 3] = C::new(z[0], z[1]);
            }
            s
        })
        .collect()
}
