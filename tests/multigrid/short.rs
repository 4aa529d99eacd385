//! Tests of null vectors and links of coarse operators in 16 and 8 bits against those in single precision.

use super::*;
use plaq::backend::HostArray;

/// Null vectors in 16 or 8 bits equal those in single precision to the rounding of these formats: on even sites in
/// either, on all sites in 16 bits. Copies through the host are the same.
#[test]
fn null_vectors_of_few_bits() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.35);
        // With n = 3, 6, 8 and 12 null vectors a load takes one, two, eight and four numbers.
        let forms = [(LinkPrecision::Half, 5e-4), (LinkPrecision::Quarter, 1.5e-2)];
        for (n, (bits, bound)) in [3, 6, 8, 12].into_iter().flat_map(|n| forms.map(|f| (n, f))) {
            let full = Transfer::new(null_vectors(&s, n, Precision::F32), [2, 2, 2, 4]).unwrap();
            let [short, by_host] = [false, true].map(|by_host| {
                let v = null_vectors(&s, n, Precision::F32);
                let mut short = Transfer::new(v, [2, 2, 2, 4]).unwrap();
                short.shorten(bits, by_host.then_some(&mut HostArray::default())).unwrap();
                short
            });
            for (nrhs, subset) in
                [(1, Subset::Even), (3, Subset::Even), (8, Subset::Even), (4, Subset::Full)]
            {
                let mut x =
                    CoarseField::new(full.coarse(), Precision::F32, Subset::Full, 2 * n, nrhs)
                        .unwrap();
                let count = full.coarse().global_volume() * 2 * n * nrhs;
                scatter(&mut x, &random_numbers(count, 21));
                let all = [&full, &short, &by_host].map(|transfer| {
                    let mut fine =
                        CoarseField::new(full.fine(), Precision::F32, subset, 12, nrhs).unwrap();
                    transfer.prolong(&mut fine, &x).unwrap();
                    let mut back = x.like(nrhs).unwrap();
                    transfer.restrict(&mut back, &fine).unwrap();
                    [fine.save().unwrap(), back.save().unwrap()]
                });
                assert!(all[1] == all[2], "{}: by way of the host", device.name());
                for (a, b) in all[0].iter().zip(&all[1]) {
                    let found = distance(a, b);
                    let bound = if subset == Subset::Even { bound } else { forms[0].1 };
                    let what = format!("{}, {n} vectors, {nrhs}: off by {found:e}", device.name());
                    assert!(found < bound && found > 2e-3 * bound, "{what}");
                }
            }
        }
    }
}

/// The matrices of the hops, [direction][site][row][column], found by applying them to unit vectors.
fn matrices(op: &CoarseOperator) -> Vec<Vec<f64>> {
    let rows = op.rows();
    let mut units = op.field(Subset::Full, rows).unwrap();
    let one = |i| if i % (rows + 1) == 0 { C::ONE } else { C::ZERO };
    let each: Vec<C> = (0..rows * rows).map(one).collect();
    scatter(&mut units, &each.repeat(op.grid().global_volume()));
    let mut image = units.like(rows).unwrap();
    let hop = |d| {
        op.one_hop(&mut image, &units, d).unwrap();
        image.save().unwrap()
    };
    (0..8).map(hop).collect()
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Links in 16 and in 8 bits equal those in single precision to the rounding of these formats: each number, and
/// products with vectors.
#[test]
fn short_links() {
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.35);
        let op = Arc::new(s.wilson(twisted_clover()).to(Precision::F32, Recon::R18).unwrap());
        // With 24 null vectors the rows of a coarse matrix fill whole tiles and loads of the kernels, with 7 they do
        // not.
        for n in [7, 24] {
            let transfer =
                Transfer::new(null_vectors(&s, n, Precision::F32), [2, 2, 2, 4]).unwrap();
            let coarse = FineOperator::Dirac(op.clone());
            let full = coarse.coarsened(&transfer, Precision::F32).unwrap();
            let (volume, rows) = (full.grid().volume(), full.rows());
            let expected = matrices(&full);
            let largest_of = |m: &[f64]| largest(m.iter().map(|v| v.abs()));
            let largest: Vec<Vec<f64>> = expected
                .iter()
                .map(|d| d.chunks(2 * rows * rows).map(largest_of).collect())
                .collect();
            for precision in [LinkPrecision::Half, LinkPrecision::Quarter] {
                let short = full.with_short_links(precision).unwrap();
                let what = format!("{}, {n} vectors, {precision}", device.name());
                let saved = 8 * volume * (2 * rows * rows * (4 - precision.bytes()) - 4);
                assert_eq!(full.held() - short.held(), saved, "{what}");
                // The largest error of a number relative to its matrix's largest number: half a unit; half precision
                // has eleven bits.
                let off = match precision {
                    LinkPrecision::Quarter => 0.5 / 127.0,
                    _ if device.is_cpu() => 0.5 / 32767.0,
                    _ => 0.5 / 2048.0,
                };
                let found = matrices(&short);
                for d in 0..8 {
                    for (i, (a, b)) in expected[d].iter().zip(&found[d]).enumerate() {
                        let max = (off + 1e-6) * largest[d][i / (2 * rows * rows)];
                        assert!((a - b).abs() <= max, "{what}: {a} {b}, expected within {max:e}");
                    }
                }
                for nrhs in [1, 2, 12, 17] {
                    let mut x = full.field(Subset::Full, nrhs).unwrap();
                    let count = full.grid().global_volume() * rows * nrhs;
                    scatter(&mut x, &random_numbers(count, 21));
                    let images = [&full, &short].map(|op| {
                        let (mut sum, mut image) = (x.like(nrhs).unwrap(), x.like(nrhs).unwrap());
                        op.apply(&mut sum, &x).unwrap();
                        op.inverse_diagonal(&mut image, &sum).unwrap();
                        image.save().unwrap()
                    });
                    // Real and imaginary parts of random vectors have a mean square of 2 together. Errors of matrix
                    // elements are independent, each below `off` times the largest number of the matrix.
                    let hops = length(&largest.concat()) * off * rows as f64;
                    let max = hops * 2.0 * (nrhs as f64).sqrt();
                    let apart: Vec<f64> =
                        images[0].iter().zip(&images[1]).map(|(a, b)| a - b).collect();
                    let found = length(&apart) / max;
                    println!("{what}, {nrhs}: {found:.2} of the bound");
                    // The products differ, so that the short links were really used.
                    assert!(found < 1.0 && found > 0.02, "{what}, {nrhs}: {found}");
                    // The diagonal part is not shortened, so it is the same bit for bit.
                    let images = [&full, &short].map(|op| {
                        let mut image = x.like(nrhs).unwrap();
                        op.diagonal(&mut image, &x).unwrap();
                        image.save().unwrap()
                    });
                    assert_eq!(images[0], images[1]);
                }
            }
        }
    }
}

/// Links of a coarse operator are as short as null vectors allow. For vectors t of one chirality t^dagger A t is
/// real; between two vectors there is one for which it is zero, so that rounding changes it by more than its value.
#[test]
fn links_are_as_short_as_null_vectors_allow() {
    let choices = [LinkPrecision::Quarter, LinkPrecision::Half];
    for device in devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.35);
        // A mass close to -4 makes hops much larger than the site term.
        let params = DiracParams { mass: -3.99, ..Default::default() };
        let op = Arc::new(s.wilson(params).to(Precision::F32, Recon::R18).unwrap());
        let n = 6;
        let transfer = Transfer::new(null_vectors(&s, n, Precision::F32), [2, 2, 2, 4]).unwrap();
        let op = FineOperator::Dirac(op).coarsened(&transfer, Precision::F32).unwrap();
        let sites = op.grid().global_volume();
        let random = |seed| {
            let mut numbers = random_numbers(sites * 2 * n, seed);
            let other = numbers.chunks_mut(2 * n).flat_map(|site| &mut site[n..]);
            other.for_each(|z| *z = C::ZERO);
            numbers
        };
        let field = |numbers: &[C]| {
            let mut t = op.field(Subset::Full, 1).unwrap();
            scatter(&mut t, numbers);
            t
        };
        let product = |op: &CoarseOperator, t: &CoarseField, u: &CoarseField| {
            let mut image = t.like(1).unwrap();
            op.apply(&mut image, u).unwrap();
            t.dot_norm(&image).unwrap().0[0]
        };
        let all: Vec<_> = (0..40).map(random).collect();
        let values: Vec<f64> = all.iter().map(|t| product(&op, &field(t), &field(t)).re).collect();
        let [low, high] = [f64::min, f64::max].map(|f| values.iter().copied().reduce(f).unwrap());
        assert!(low < 0.0 && high > 0.0, "{low} {high}");
        let [t, u] = [low, high].map(|v| &all[values.iter().position(|&w| w == v).unwrap()]);
        let mixed = product(&op, &field(t), &field(u)).re;
        let zero = (-mixed + (mixed * mixed - low * high).sqrt()) / high;
        let mut taken = vec![];
        for c in [0.0, zero] {
            let sum: Vec<C> = t.iter().zip(u).map(|(t, u)| t + c * u).collect();
            let t = field(&sum);
            let short = shortened(&op, &t, &choices).unwrap();
            let one = op.with_short_links(LinkPrecision::Quarter).unwrap();
            let left = (1.0 - product(&op, &t, &t) / product(&one, &t, &t)).norm();
            let took = choices
                .iter()
                .position(|&bits| short.held() == op.with_short_links(bits).unwrap().held());
            println!("{}: {left:.3}, choice {took:?}", device.name());
            assert_eq!(took, Some((left >= 0.25) as usize), "{left}");
            taken.extend(took);
            // If one precision alone is allowed, it is taken.
            let asked = shortened(&op, &t, &choices[..1]).unwrap();
            assert_eq!(asked.held(), one.held());
        }
        assert_eq!(taken, [0, 1]);
    }
}
