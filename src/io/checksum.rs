//! The rotating checksum pair that MILC takes over 32-bit words and SciDAC over the CRC32 of
//! each site: item i is rotated left by i mod 29 (first sum) or i mod 31 (second sum) bits
//! and all are combined by exclusive or.

/// A pair of checksums over numbered items, each of which is rotated by its number. Items of equal rotation are
/// combined first and rotated once at the end, so the inner loop is a plain exclusive or.
pub struct RotatingPair {
    lanes29: [u32; 29],
    lanes31: [u32; 31],
}

impl RotatingPair {
    pub fn new() -> Self {
        RotatingPair { lanes29: [0; 29], lanes31: [0; 31] }
    }

    /// Adds consecutive items, the first of which has number `first`.
    pub fn add(&mut self, first: usize, items: &[u32]) {
        accumulate(&mut self.lanes29, first, items);
        accumulate(&mut self.lanes31, first, items);
    }

    /// The two checksums: (sum29, sum31) of MILC, (suma, sumb) of SciDAC.
    pub fn sums(&self) -> (u32, u32) {
        (combine(&self.lanes29), combine(&self.lanes31))
    }
}

fn accumulate<const N: usize>(lanes: &mut [u32; N], first: usize, items: &[u32]) {
    lanes.rotate_left(first % N);
    let mut blocks = items.chunks_exact(N);
    for block in &mut blocks {
        for (lane, item) in lanes.iter_mut().zip(block) {
            *lane ^= item;
        }
    }
    for (lane, item) in lanes.iter_mut().zip(blocks.remainder()) {
        *lane ^= item;
    }
    lanes.rotate_right(first % N);
}

fn combine(lanes: &[u32]) -> u32 {
    lanes.iter().zip(0..).fold(0, |sum, (lane, i)| sum ^ lane.rotate_left(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_definition() {
        let items: Vec<u32> = (0..1000u32).map(|i| (i + 1).wrapping_mul(2654435761)).collect();
        let by_definition = |n: u32| {
            items.iter().zip(0..).fold(0, |sum, (item, i): (_, u32)| sum ^ item.rotate_left(i % n))
        };
        let mut pair = RotatingPair::new();
        let mut rest = &items[..];
        for length in [0, 1, 28, 29, 30, 31, 62, 100, 719] {
            let (piece, tail) = rest.split_at(length);
            pair.add(items.len() - rest.len(), piece);
            rest = tail;
        }
        assert!(rest.is_empty());
        assert_eq!(pair.sums(), (by_definition(29), by_definition(31)));
    }
}
