//! A maximum that sees NaN.

/// The largest of values that are not negative, 0 of none; NaN where one is NaN, which `f64::max` passes
/// over.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m, v| if m.is_nan() || v <= m { m } else { v })
}
