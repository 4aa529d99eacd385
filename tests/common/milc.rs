//! Results of MILC on two of its sample configurations, to compare with.

/// MILC's results for a configuration. Correlators are of su3_clov: point source at the origin, propagator M^-1 with
/// M = 2 kappa D, csw = 1.2, links projected onto SU(3), no gauge fixing.
pub struct Milc {
    pub name: &'static str,
    pub kappa: f64,
    /// Whether fermions are antiperiodic in time.
    pub antiperiodic: bool,
    /// Spatial and temporal plaquette, and link trace, that MILC wrote when it made the configuration; all are 3 on
    /// unit links.
    pub plaquettes: [f64; 2],
    pub link_trace: f64,
    /// Correlators of the pion, and of the rho as the mean over the polarisations, on every time slice, to seven
    /// digits.
    pub mesons: &'static [[f64; 2]],
}

pub const CSW: f64 = 1.2;

pub const PERIODIC: Milc = Milc {
    name: "milc.lat.sample.l4444",
    kappa: 0.1,
    antiperiodic: false,
    plaquettes: [1.7946751560761729, 1.7744257976067317],
    link_trace: 3.0 * 0.64675873741896339,
    mesons: &[
        [1.440799e+01, 1.351174e+01],
        [4.432254e-01, 3.860256e-01],
        [5.781884e-02, 4.826942e-02],
        [4.203921e-01, 3.638618e-01],
    ],
};

pub const ANTIPERIODIC: Milc = Milc {
    name: "milc.lat.sample.l4448.ll",
    kappa: 0.12,
    antiperiodic: true,
    plaquettes: [1.6788352909656483, 1.6451928367175011],
    link_trace: 3.0 * 0.62131679539094975,
    mesons: &[
        [1.563598e+01, 1.384116e+01],
        [8.250978e-01, 6.197456e-01],
        [8.851532e-02, 6.072726e-02],
        [1.200198e-02, 7.315921e-03],
        [3.303246e-03, 1.767100e-03],
        [1.303585e-02, 7.711087e-03],
        [9.419383e-02, 6.326402e-02],
        [8.347426e-01, 6.113444e-01],
    ],
};

impl Milc {
    /// Compares correlators with MILC's to half a unit of the last digit, or to the relative error `allowed`, which
    /// configurations in single precision may need.
    pub fn check_mesons(&self, pion: &[f64], rho: &[Vec<f64>; 3], allowed: f64, what: &str) {
        assert_eq!(pion.len(), self.mesons.len(), "{} {what}", self.name);
        for (t, milc) in self.mesons.iter().enumerate() {
            let mean = rho.iter().map(|r| r[t]).sum::<f64>() / 3.0;
            for (ours, theirs) in [pion[t], mean].into_iter().zip(milc) {
                let half = 0.5 * 10f64.powi(theirs.log10().floor() as i32 - 6);
                assert!(
                    (ours - theirs).abs() <= half.max(allowed * theirs),
                    "{} {what} t={t}: {ours:e} {theirs:e}",
                    self.name
                );
            }
        }
    }
}
