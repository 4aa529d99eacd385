//! Reference fields as plain numbers in lexicographic order, the form that plaq loads and saves.

use super::{Field, Gauge, C};

pub fn gauge_numbers(u: &Gauge) -> Vec<f64> {
    u.iter().flatten().flatten().flat_map(|z| [z.re, z.im]).collect()
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
