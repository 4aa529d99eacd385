//! How well a gauge is fixed.

/// Functional and violation, computed in double.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// F of Eq. (4) or (11): 1 on unit links.
    pub functional: f64,
    /// Average violation theta of Eq. (7), (13), (16).
    pub theta: f64,
    /// Largest violation of a site, of which theta is the average.
    pub theta_max: f64,
}
