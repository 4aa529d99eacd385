//! The largest of several values, which is NaN if one of them is NaN.

/// The largest of values that are not negative, or 0 if there are none. NaN if one value is NaN, unlike `f64::max`,
/// which ignores NaN.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m, v| if m.is_nan() || v <= m { m } else { v })
}
