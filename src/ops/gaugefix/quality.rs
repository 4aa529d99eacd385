//! Measures of how well a gauge is fixed: the functional F, Eqs. (4) and (11), and the violation theta, Eqs. (7) and
//! (13), of Schroeck and Vogt, arXiv:1212.5221.

/// The functional of a gauge and the violation of its condition, computed in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// F of Eq. (4) or (11): 1 on unit links.
    pub functional: f64,
    /// Average violation theta of Eq. (7), (13), (16).
    pub theta: f64,
    /// Largest violation of any single site; theta is the average over sites.
    pub theta_max: f64,
}
