//! Null vectors and links of coarse operators in few bits against those in single precision.

use super::*;

/// Null vectors in 16 or 8 bits are those in single precision to what these hold: on even sites in these, on all of
/// them in 16 bits. By way of the host they become the same.
#[test]
fn null_vectors_of_few_bits() {
    for device in some_devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.35);
        // Numbers of them that are loaded one, two, eight and four at a time.
        let forms = [(LinkPrecision::Half, 5e-4), (LinkPrecision::Quarter, 1.5e-2)];
        for (n, (bits, bound)) in [3, 6, 8, 12].into_iter().flat_map(|n| forms.map(|f| (n, f))) {
            let full = Transfer::new(null_vectors(&s, n, Precision::F32), [2, 2, 2, 4]).unwrap();
            let [short, by_host] = [false, true].map(|by_host| {
                let v = null_vectors(&s, n, Precision::F32);
                let mut short = Transfer::new(v, [2, 2, 2, 4]).unwrap();
                short.shorten(bits, by_host.then_some(&mut vec![])).unwrap();
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

/// The matrices of a site's hops, [direction][site][row][column]: those of the unit vectors.
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

/// Links in 16 and in 8 bits are those in single precision to what these hold, each number and their products.
#[test]
fn short_links() {
    for device in some_devices() {
        let s = Setup::new(&device, over_ranks([8, 4, 4, 8]), 0.35);
        let op = Arc::new(s.wilson(twisted_clover()).to(Precision::F32, Recon::R18).unwrap());
        // Rows that do and do not fill whole tiles and loads.
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
                let mut short = copy_of(&full);
                short.shorten_links(precision).unwrap();
                let what = format!("{}, {n} vectors, {precision}", device.name());
                let saved = 8 * volume * (2 * rows * rows * (4 - precision.bytes()) - 4);
                assert_eq!(full.held() - short.held(), saved, "{what}");
                // Half a unit in terms of the largest number of a matrix; half precision has eleven bits.
                let off = match precision {
                    LinkPrecision::Quarter => 0.5 / 127.0,
                    _ if device.is_cpu() => 0.5 / 32767.0,
                    _ => 0.5 / 2048.0,
                };
                let found = matrices(&short);
                for d in 0..8 {
                    for (i, (a, b)) in expected[d].iter().zip(&found[d]).enumerate() {
                        let most = (off + 1e-6) * largest[d][i / (2 * rows * rows)];
                        assert!((a - b).abs() <= most, "{what}: {a} {b}, expected within {most:e}");
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
                    // Numbers of random vectors have a mean square of 2, those of matrices are off independently, each
                    // part by less than `off` times the largest.
                    let hops = length(&largest.concat()) * off * rows as f64;
                    let most = hops * 2.0 * (nrhs as f64).sqrt();
                    let apart: Vec<f64> =
                        images[0].iter().zip(&images[1]).map(|(a, b)| a - b).collect();
                    let found = length(&apart) / most;
                    println!("{what}, {nrhs}: {found:.2} of the bound");
                    // They are not the same numbers.
                    assert!(found < 1.0 && found > 0.02, "{what}, {nrhs}: {found}");
                    // What stands still is exact: the diagonal.
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
