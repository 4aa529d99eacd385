//! Tests of the twisted mass on coarse levels.

use super::*;

/// A twist added on the second or the third level gives the coarse operator of a fine operator with that twist.
#[test]
fn coarse_operators_take_a_larger_twist() {
    let precision = Precision::F64;
    for device in devices() {
        let s = Setup::new(&device, over_ranks([4, 4, 4, 8]), 0.35);
        let p = twisted_clover();
        let [op, heavier] = [1.0, 2.5].map(|f| s.wilson(DiracParams { mu: f * p.mu, ..p }));
        let added = 1.5 * 2.0 * p.kappa() * p.mu;
        let transfer = Transfer::new(null_vectors(&s, 5, precision), [2, 2, 4, 2]).unwrap();
        let coarse = |op: FineOperator, transfer: &Transfer, twist: f64| {
            op.coarsened_on(transfer, precision, twist, None, (8, &mut || Ok(()))).unwrap().unwrap()
        };
        let plain = coarse(FineOperator::Dirac(op.clone()), &transfer, 0.0);
        let twisted = coarse(FineOperator::Dirac(op), &transfer, added);
        let expected = coarse(FineOperator::Dirac(heavier), &transfer, 0.0);
        let next = next_transfer(&expected);
        let third = |op: &CoarseOperator, twist| {
            coarse(FineOperator::Coarse(Arc::new(copy_of(op))), &next, twist)
        };
        let pairs = [
            (third(&plain, added), third(&expected, 0.0)),
            (third(&twisted, 0.0), third(&expected, 0.0)),
            (twisted, expected),
        ];
        for (k, (found, expected)) in pairs.iter().enumerate() {
            let mut x = found.field(Subset::Full, 1).unwrap();
            scatter(&mut x, &random_numbers(found.grid().global_volume() * found.rows(), 31));
            let image = |op: &CoarseOperator| {
                let mut out = x.like(1).unwrap();
                op.apply(&mut out, &x).unwrap();
                numbers(&whole(&out))
            };
            let off = distance(&image(found), &image(expected));
            assert!(off < 1e-12, "{}, {k}: {off:e}", device.name());
        }
    }
}
