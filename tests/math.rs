//! Elementary functions of the kernels against the standard library, in units of the last place:
//! at most 2, and half a unit for the library's own rounding.

mod common;

use plaq::backend::{args, Device};

/// |found - expected| in units of the last place of the expected value; below `scale` the unit
/// is that of `scale` (a sine near its zero keeps absolute accuracy only).
fn ulps(found: f64, expected: f64, single: bool, scale: f64) -> f64 {
    let bits = if single { 23 } else { 52 };
    let exponent = expected.abs().max(scale).log2().floor();
    (found - expected).abs() / (exponent - bits as f64).exp2()
}

/// The largest error of op over `n` arguments given by `point`, in ulp of the first and second.
fn worst(
    device: &Device,
    op: i32,
    single: bool,
    point: impl Fn(f64) -> (f64, f64),
    exact: impl Fn(f64, f64) -> (f64, f64),
    scale: f64,
) -> f64 {
    let n = 20011;
    let narrow = |v: f64| if single { v as f32 as f64 } else { v };
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n)
        .map(|i| point(i as f64 / (n - 1) as f64))
        .map(|(x, y)| (narrow(x), narrow(y)))
        .unzip();
    let (mut s, mut c) = (x.clone(), y.clone());
    device.math(op, &mut s, &mut c, single).expect("runs");
    let mut worst = 0.0f64;
    for i in 0..n {
        let (es, ec) = exact(x[i], y[i]);
        assert!(s[i].is_finite(), "f({}, {}) = {}", x[i], y[i], s[i]);
        worst = worst.max(ulps(s[i], es, single, scale)).max(ulps(c[i], ec, single, scale));
    }
    worst
}

fn sine_and_cosine(device: &Device) {
    for single in [false, true] {
        let unit = |t: f64| (2.0 * t - 1.0, 0.0);
        // The library's sine on arguments that are reduced exactly to at most pi/2.
        let sinpi = |x: f64| {
            let low = if x.abs() > 0.5 { (1.0 - x.abs()) * x.signum() } else { x };
            (std::f64::consts::PI * low).sin()
        };
        let exact = |x: f64, _: f64| (sinpi(x), sinpi(0.5 - x.abs()));
        let e = worst(device, args::MATH_SINCOSPI, single, unit, exact, 0.25);
        assert!(e < 2.5, "sincospi, single {single}: {e} ulp");
        let range = if single { 1000.0 } else { 1e5 };
        let wide = |t: f64| (range * (2.0 * t - 1.0), 0.0);
        let e = worst(device, args::MATH_SINCOS, single, wide, |x, _| (x.sin(), x.cos()), 0.25);
        assert!(e < 2.5, "sincos, single {single}: {e} ulp");
        let small = |t: f64| (0.7 * t * t * t, 0.0);
        let e = worst(device, args::MATH_SINCOS, single, small, |x, _| (x.sin(), x.cos()), 1e-30);
        assert!(e < 2.5, "sincos near 0, single {single}: {e} ulp");
    }
}

fn arcus_tangens_of_every_quadrant(device: &Device) {
    for single in [false, true] {
        let circle = |t: f64| {
            let (s, c) = (6.5 * t - 3.2).sin_cos();
            (c * (1.0 + t), s * (1.0 + t))
        };
        let e = worst(device, args::MATH_ATAN2, single, circle, |x, y| (y.atan2(x), 0.0), 1e-30);
        assert!(e < 2.5, "atan2, single {single}: {e} ulp");
        let tiny = |t: f64| (1.0, (t - 0.5).powi(9));
        let e = worst(device, args::MATH_ATAN2, single, tiny, |x, y| (y.atan2(x), 0.0), 1e-30);
        assert!(e < 2.5, "atan2 near 0, single {single}: {e} ulp");
        let axes =
            |t: f64| [(0.0, 0.0), (0.0, 2.0), (-3.0, 0.0), (0.0, -1.0)][(t * 3.999) as usize];
        let e = worst(device, args::MATH_ATAN2, single, axes, |x, y| (y.atan2(x), 0.0), 1e-30);
        assert!(e < 1.0, "atan2 on the axes, single {single}: {e} ulp");
    }
}

fn logarithm_and_exponential(device: &Device) {
    for single in [false, true] {
        let span = if single { 80.0 } else { 700.0 };
        let decades = |t: f64| ((span * (2.0 * t - 1.0)).exp(), 0.0);
        let e = worst(device, args::MATH_LOG, single, decades, |x, _| (x.ln(), 0.0), 1e-30);
        assert!(e < 2.5, "log, single {single}: {e} ulp");
        let unit = |t: f64| (0.5 + t, 0.0);
        let e = worst(device, args::MATH_LOG, single, unit, |x, _| (x.ln(), 0.0), 1e-30);
        assert!(e < 2.5, "log near 1, single {single}: {e} ulp");
        let line = |t: f64| (span * (2.0 * t - 1.0), 0.0);
        let e = worst(device, args::MATH_EXP, single, line, |x, _| (x.exp(), 0.0), 1e-300);
        assert!(e < 2.5, "exp, single {single}: {e} ulp");
    }
}

/// The tests above, on every device.
mod every_device {
    macro_rules! tests {
        ($($name:ident)*) => {$(
            #[test]
            fn $name() {
                for device in super::common::devices() {
                    super::$name(&device);
                }
            }
        )*};
    }
    tests! {
        sine_and_cosine
        arcus_tangens_of_every_quadrant
        logarithm_and_exponential
    }
}
