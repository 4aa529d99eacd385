//! Tests of rational approximations of powers.

use plaq::error::Status;
use plaq::solvers::Rational;

/// Largest relative error on a fine logarithmic grid, and number of sign changes of the error.
fn errors(r: &Rational) -> (f64, usize) {
    let (mut worst, mut changes, mut sign) = (0.0f64, 0, 0.0);
    for i in 0..=20_000 {
        let x = r.low * (r.high / r.low).powf(i as f64 / 20_000.0);
        let e = r.value(x) / x.powf(r.power);
        assert!(e.is_finite(), "{x}");
        worst = worst.max((e - 1.0).abs());
        // Approximations are optimal for the logarithm, in which errors up and down are alike.
        let e = e.ln();
        if e.abs() > 0.5 * r.error.ln_1p() && e.signum() != sign {
            (sign, changes) = (e.signum(), changes + 1);
        }
    }
    (worst, changes)
}

#[test]
fn errors_alternate_as_the_best_ones_do() {
    for power in [-0.5, 0.25, -0.25, 0.125, -0.125] {
        for (low, high) in [(0.02, 1.7), (3e-5, 4.1), (1e-7, 7.0)] {
            for poles in [1, 2, 3, 5, 8, 11] {
                let r = Rational::with_poles(power, low, high, poles).unwrap();
                let (worst, changes) = errors(&r);
                assert!(
                    worst < 1.001 * r.error + 1e-13,
                    "{power} {low} {poles}: {worst} {}",
                    r.error
                );
                // By Chebyshev's theorem the best approximation has 2 n + 2 equal extrema of alternating sign.
                assert_eq!(changes, 2 * poles + 2, "{power} {low} {poles}: {}", r.error);
                assert!(r.shifts.iter().all(|&s| s > 0.0) && r.shifts.is_sorted());
                assert!(r.residues.iter().all(|&v| v * power < 0.0));
            }
        }
    }
}

/// The approximation of x^(-1/2) with one pole is the best one. With b / a = 1 / k'^2 its error follows from one step
/// of the arithmetic-geometric mean; the test searches over both parameters of c (1 + r / (x + s)).
#[test]
fn one_pole_is_the_best_one() {
    let (low, high) = (0.1, 1.0);
    let r = Rational::with_poles(-0.5, low, high, 1).unwrap();
    let level = |s: f64, residue: f64| {
        let f = |x: f64| (1.0 + residue / (x + s)) * x.sqrt();
        let values: Vec<f64> =
            (0..=400).map(|i| f(low * (high / low).powf(i as f64 / 400.0))).collect();
        let max = values.iter().fold(0.0f64, |m, v| m.max(*v));
        let least = values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        (max / least).sqrt() - 1.0
    };
    let best = level(r.shifts[0], r.residues[0]);
    assert!((best / r.error - 1.0).abs() < 0.01, "{best} {}", r.error);
    for (ds, dr) in [(1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99), (1.01, 1.01), (0.99, 0.99)]
    {
        assert!(level(ds * r.shifts[0], dr * r.residues[0]) > best);
    }
}

#[test]
fn the_fewest_poles_reach_the_error() {
    for (power, error) in [(-0.5, 1e-6), (0.25, 1e-9), (-0.25, 2e-12), (-0.5, 1e-12)] {
        let r = Rational::new(power, 1e-4, 3.0, error).unwrap();
        assert!(r.error <= error);
        assert!(errors(&r).0 < 1.01 * error + 1e-12);
        let poles = r.shifts.len();
        assert!(Rational::with_poles(power, 1e-4, 3.0, poles - 1).unwrap().error > error);
    }
    let refused = |r: plaq::error::Result<Rational>| r.unwrap_err().status;
    assert_eq!(refused(Rational::new(-0.5, 1e-4, 1.0, 1e-17)), Status::BadParameter);
    assert_eq!(refused(Rational::new(-0.5, 0.0, 1.0, 1e-3)), Status::BadParameter);
    assert_eq!(refused(Rational::new(-0.5, 2.0, 1.0, 1e-3)), Status::BadParameter);
    assert_eq!(refused(Rational::new(1.5, 0.1, 1.0, 1e-3)), Status::BadParameter);
    assert_eq!(refused(Rational::new(0.5, 0.1, f64::NAN, 1e-3)), Status::BadParameter);
}

/// There is an approximation for every width of the interval: a narrow one takes few poles, and one pole more would
/// give an error below rounding.
#[test]
fn narrow_intervals_have_approximations() {
    for power in [-0.5, 0.25] {
        for i in (2..250).step_by(8) {
            let high = 0.37 * (1.02 + 4.98 * i as f64 / 249.0);
            let r = Rational::new(power, 0.37, high, 1e-12).unwrap();
            assert!(r.shifts.len() <= 8 && r.error <= 1e-12, "{high}: {r:?}");
            for k in 0..=1000 {
                let x = 0.37 * (high / 0.37).powf(k as f64 / 1000.0);
                let error = (r.value(x) / x.powf(power) - 1.0).abs();
                assert!(error < 1.1e-12, "{power} {high} {x}: {error:e}");
            }
        }
    }
    for ratio in [1.0 + 1e-12, 1.0 + 1e-6, 1.001] {
        let r = Rational::new(-0.5, 1.0, ratio, 1e-12).unwrap();
        assert!(r.shifts.len() == 1 && (r.value(1.0) - 1.0).abs() < 1.1e-12, "{ratio}: {r:?}");
    }
}
