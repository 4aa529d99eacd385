//! Datasets and attributes of HDF5 files.

use num_complex::Complex64;

use crate::error::significant;

/// Numbers of a dataset, the last index fastest.
#[derive(Clone, Debug)]
pub enum Numbers {
    Real(Vec<f64>),
    Complex(Vec<Complex64>),
    Integer(Vec<i64>),
}

impl Numbers {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Numbers::Real(all) => bytemuck::cast_slice(all),
            Numbers::Complex(all) => bytemuck::cast_slice(all),
            Numbers::Integer(all) => bytemuck::cast_slice(all),
        }
    }
}

/// The value of an attribute of a file or dataset.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
    Numbers(Vec<f64>),
    Integer(i64),
    Integers(Vec<i64>),
    /// An array of extents n and 3.
    Triples(Vec<[i64; 3]>),
}

impl std::fmt::Display for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Attribute::Text(text) => write!(f, "{text}"),
            Attribute::Texts(all) => write!(f, "{}", all.join(", ")),
            Attribute::Number(number) => f.write_str(&significant(*number, 12)),
            Attribute::Numbers(all) => write!(f, "{all:?}"),
            Attribute::Integer(number) => write!(f, "{number}"),
            Attribute::Integers(all) => write!(f, "{all:?}"),
            Attribute::Triples(all) => write!(f, "{all:?}"),
        }
    }
}

/// Attributes of a group or dataset, as names with values.
pub type Attributes = Vec<(&'static str, Attribute)>;

/// A dataset: its name including groups ("a/b/name"), its extents, numbers and attributes.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub name: String,
    pub extents: Vec<usize>,
    pub numbers: Numbers,
    pub attributes: Attributes,
}

/// Largest number of bytes of a chunk.
const CHUNK: usize = 1 << 22;
/// Upper bound of the bytes that libhdf5's list of chunks takes for each chunk.
const OF_CHUNK: usize = 512;

impl Dataset {
    /// Bytes of a number.
    fn width(&self) -> usize {
        match self.numbers {
            Numbers::Complex(_) => 16,
            _ => 8,
        }
    }

    /// Extents of a chunk: whole last axes, and a part of the one before them, which divides it where that is not
    /// much smaller than it could be.
    pub(super) fn chunk(&self) -> Vec<usize> {
        let mut chunk = vec![1; self.extents.len()];
        let mut room = CHUNK / self.width();
        for (part, &extent) in chunk.iter_mut().zip(&self.extents).rev() {
            if extent <= room {
                *part = extent.max(1);
                room /= *part;
                continue;
            }
            let divisor = (1..=room).rev().find(|n| extent.is_multiple_of(*n)).unwrap_or(1);
            let even = extent.div_ceil(extent.div_ceil(room));
            *part = if 16 * divisor < room { even } else { divisor };
            break;
        }
        chunk
    }

    /// Bytes in the file, chunks at the ends being whole ones.
    pub(super) fn bytes(&self) -> usize {
        let chunk = self.chunk();
        let parts = || self.extents.iter().zip(&chunk).map(|(n, part)| n.div_ceil(*part));
        let whole: usize = parts().zip(&chunk).map(|(n, part)| n * part).product();
        whole * self.width() + OF_CHUNK * parts().product::<usize>()
    }
}

/// Whether two values of attributes are equal, where numbers count as equal if they differ by at most `by`.
pub(super) fn same(a: &Attribute, b: &Attribute, by: f64) -> bool {
    let near = |a: &f64, b: &f64| (a - b).abs() <= by;
    match (a, b) {
        (Attribute::Number(a), Attribute::Number(b)) => near(a, b),
        (Attribute::Numbers(a), Attribute::Numbers(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b))
        }
        (a, b) => a == b,
    }
}

/// A value in messages, which do not list more than a few numbers.
pub(super) fn short(value: &Attribute) -> String {
    match value {
        Attribute::Numbers(all) if all.len() > 8 => {
            format!("{} numbers that begin with {}", all.len(), all[0])
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_large_and_fill_the_extents() {
        let of = |extents: &[usize]| {
            let numbers = Numbers::Real(vec![]);
            Dataset { name: String::new(), extents: extents.to_vec(), numbers, attributes: vec![] }
        };
        assert_eq!(of(&[64, 4, 4, 200, 200]).chunk(), [1, 2, 4, 200, 200]);
        assert_eq!(of(&[3, 5]).chunk(), [3, 5]);
        // A prime extent has nearly equal parts.
        assert_eq!(of(&[2, 1_000_003]).chunk(), [1, 500_002]);
        for extents in [vec![7, 1_000_003], vec![1 << 26], vec![64, 32, 32, 32, 3]] {
            let (data, whole) = (of(&extents), 8 * extents.iter().product::<usize>());
            assert!(data.chunk().iter().product::<usize>() <= CHUNK / 8);
            assert!(data.bytes() >= whole && data.bytes() < whole + whole / 10, "{extents:?}");
        }
    }
}
