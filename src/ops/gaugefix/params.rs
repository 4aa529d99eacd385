//! Parameters of a gauge fixing.

use std::hash::{Hash, Hasher};

use super::quality::Quality;
use crate::backend::fourier::Fourier;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Precision};
use crate::ops::quenched::random_seed_row;
use crate::params::{choices, hash_members, parameters, Param, Reals as _};
use crate::refuse;

choices! {
    /// Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
    /// and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907).
    pub enum GaugeKind: plaq_gaugefix_condition {
        /// F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V).
        Landau = 0, PLAQ_GAUGEFIX_LANDAU, "landau";
        /// Like Landau gauge without the links along `direction`; every slice with a fixed coordinate in this direction is
        /// fixed independently.
        Coulomb = 1, PLAQ_GAUGEFIX_COULOMB, "coulomb";
        /// Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V).
        MaximallyAbelian = 2, PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN, "maximally_abelian";
    }
    /// Algorithms that maximise the gauge functional.
    pub enum Algorithm: plaq_gaugefix_method {
        /// Overrelaxation: each site takes its best value to the power `omega`; omega = 1 is relaxation.
        Overrelaxation = 0, PLAQ_GAUGEFIX_OVERRELAXATION, "overrelaxation";
        /// Stochastic relaxation: every SU(2) subgroup takes its best value, or with probability `probability` the
        /// square of it.
        Stochastic = 1, PLAQ_GAUGEFIX_STOCHASTIC, "stochastic";
        /// Simulated annealing, followed by overrelaxation.
        Annealing = 2, PLAQ_GAUGEFIX_ANNEALING, "annealing";
        /// Simulated annealing, then `stochastic_sweeps` sweeps of stochastic relaxation, then overrelaxation.
        Combined = 3, PLAQ_GAUGEFIX_COMBINED, "combined";
        /// Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
        /// (1988) 1581); Landau and Coulomb gauge.
        FourierDescent = 4, PLAQ_GAUGEFIX_FOURIER_DESCENT, "fourier-descent";
        /// Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
        /// 115) with `alpha` as the first trial; Landau and Coulomb gauge.
        FourierCg = 5, PLAQ_GAUGEFIX_FOURIER_CG, "fourier-cg";
        /// Fourier-accelerated conjugate gradients where they are available: in Landau and Coulomb gauge, on a CPU or
        /// on one GPU with cuFFT. Otherwise overrelaxation. The report says which.
        Automatic = 6, PLAQ_GAUGEFIX_AUTO, "auto";
    }
    /// Precision of the sweeps. Rounding does not grow in the links, which are only read. Functional, violation and
    /// result are computed in double precision in all cases, and so is the fixing of the residual gauge.
    pub enum Working: plaq_gaugefix_precision {
        /// Sweeps in single precision.
        Single = 0, PLAQ_GAUGEFIX_SINGLE, "single";
        /// Single precision until it gives no further progress, then double.
        Mixed = 1, PLAQ_GAUGEFIX_MIXED, "mixed";
        /// Sweeps in double precision.
        Double = 2, PLAQ_GAUGEFIX_DOUBLE, "double";
    }
}

parameters! {
    /// Parameters of gauge fixing.
    pub composed struct GaugeFixing: plaq_gaugefix_params {
        /// Gauge to which the links are fixed.
        condition: GaugeKind = GaugeKind::Landau;
        /// Direction (0 to 3: x, y, z, t) whose links are not part of the functional of Coulomb gauge.
        direction: usize = 3, within(0, 3), old("time");
        /// True: maximally Abelian gauge is followed by Landau gauge for the remaining diagonal transformations.
        residual: bool = false;
        /// Algorithm that maximises the functional.
        method: Algorithm = Algorithm::Automatic;
        /// Precision of the sweeps; the result is measured in double.
        precision: Working = Working::Mixed;
        /// True: consecutive temperatures of annealing have equal ratios; false: equal differences.
        logarithmic: bool = false;
        /// Power omega of overrelaxation.
        omega: f64 = 1.7, below(1.0, 2.0);
        /// Probability of taking the square in stochastic relaxation.
        probability: f64 = 0.5, below(0.0, 1.0);
        /// Number of sweeps of stochastic relaxation in the combined algorithm.
        stochastic_sweeps: u64 = 1000, within(0, i64::MAX);
        /// First temperature of annealing.
        hot: f64 = 1.4;
        /// Last temperature of annealing.
        cold: f64 = 0.1;
        /// Number of temperatures of annealing, each with one heat bath sweep.
        temperatures: u64 = 1000, within(1, 1 << 24);
        /// Number of microcanonical sweeps after each heat bath sweep.
        microcanonical: u64 = 3, within(0, i64::MAX);
        /// Largest violation theta; 0: not required; negative: 1e-12, or 1e-11 where sweeps are in single precision,
        /// the smallest that it reaches. Where several criteria are set, all must be met.
        stop_theta: f64 = -1.0;
        /// Largest violation of any single site; theta is the average over sites. 0: not required.
        stop_theta_max: f64 = 0.0, below(0.0, f64::INFINITY);
        /// Largest increase of the functional in one iteration; 0: not required.
        stop_change: f64 = 0.0, below(0.0, f64::INFINITY);
        /// Number of sweeps after which a copy, or in Coulomb gauge a slice, is given up; those of annealing are not
        /// counted.
        max_iterations: u64 = 20_000, within(1, i32::MAX as i64);
        /// Number of sweeps between two measurements of the violation, after which the callback is called.
        /// Fourier-accelerated methods know the violation at every step and end as soon as it is small enough.
        check_every: u64 = 10, within(1, i32::MAX as i64);
        /// Number of gauge copies. Of those that converged the one with the largest functional is returned, in
        /// Coulomb gauge for each slice. The first copy starts from the field as it is.
        copies: u64 = 1, within(1, i32::MAX as i64);
        /// 1: the first copy, too, starts from a random transformation.
        random_start: u64 = 0, within(0, 1);
        with random_seed_row(1);
        /// Step size alpha of the Fourier-accelerated methods, by which the gradient times p2max / p^2 is multiplied.
        alpha: f64 = 0.08, between(0.0, f64::INFINITY);
    }
}

impl GaugeFixing {
    fn schedule(&self) -> Schedule {
        Schedule {
            hot: self.hot,
            cold: self.cold,
            steps: self.temperatures as usize,
            microcanonical: self.microcanonical as usize,
            logarithmic: self.logarithmic,
        }
    }

    /// The parameters of the fixing as [`fix_gauge`](super::fix_gauge) takes them.
    pub fn params(&self) -> GaugeFixParams {
        let (probability, schedule) = (self.probability, self.schedule());
        let method = match self.method {
            Algorithm::Overrelaxation => Method::Overrelaxation,
            Algorithm::Stochastic => Method::StochasticRelaxation { probability },
            Algorithm::Annealing => Method::Annealing(schedule),
            Algorithm::Combined => {
                Method::Combined { schedule, probability, sweeps: self.stochastic_sweeps as usize }
            }
            Algorithm::FourierDescent => Method::FourierDescent { alpha: self.alpha },
            Algorithm::FourierCg => Method::FourierCg { alpha: self.alpha },
            Algorithm::Automatic => Method::Automatic { alpha: self.alpha },
        };
        let condition = match self.condition {
            GaugeKind::Landau => Condition::Landau,
            GaugeKind::Coulomb => Condition::Coulomb { time: self.direction },
            GaugeKind::MaximallyAbelian => Condition::MaximallyAbelian { residual: self.residual },
        };
        let theta = match self.stop_theta < 0.0 {
            true => Stop::of(self.precision).theta,
            false => self.stop_theta,
        };
        GaugeFixParams {
            condition,
            method,
            omega: self.omega,
            stop: Stop { theta, theta_max: self.stop_theta_max, change: self.stop_change },
            max_iterations: self.max_iterations as usize,
            check_every: self.check_every as usize,
            precision: self.precision,
            links_tolerance: 0.0,
            copies: self.copies as usize,
            random_start: self.random_start == 1,
            seed: self.seed,
        }
    }
}

/// The gauge, by the functional of g(x) that is maximised, which is 1 on unit links. Equations are those of Schroeck
/// and Vogt, Comput. Phys. Commun. 184 (2013) 1907.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Landau gauge, Eq. (4): all four directions.
    Landau,
    /// Coulomb gauge, Eq. (4) without the links along `time`; every slice with a fixed coordinate in this direction
    /// is fixed independently.
    Coulomb {
        /// Direction 0 to 3 (x, y, z, t).
        time: usize,
    },
    /// Maximally Abelian gauge, Eq. (11): squares of the diagonal entries.
    MaximallyAbelian {
        /// True: followed by Landau gauge for the remaining diagonal transformations, U(1) or U(1) x U(1).
        residual: bool,
    },
}

/// The algorithm that maximises the functional, with its parameters. Annealing is followed by overrelaxation, which
/// converges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Each site takes its best value, to the power `omega`: 1 (relaxation) to below 2.
    Overrelaxation,
    /// Each SU(2) subgroup takes its best value, or with this probability the square of it.
    StochasticRelaxation { probability: f64 },
    /// Simulated annealing, followed by overrelaxation.
    Annealing(Schedule),
    /// Simulated annealing, then this number of sweeps of stochastic relaxation, then overrelaxation.
    Combined { schedule: Schedule, probability: f64, sweeps: usize },
    /// Fourier-accelerated steepest descent (Davies et al., Phys. Rev. D37 (1988) 1581):
    /// exp(-i alpha Delta') g with Delta of Eq. (6) times p2max / p^2 in momentum space, where p^2 =
    /// 4 sum_mu sin^2(p_mu / 2). A step after which the functional is lower is halved, and
    /// the next ones grow by a tenth each up to alpha again. Landau and Coulomb gauge.
    FourierDescent { alpha: f64 },
    /// Nonlinear conjugate gradients of Polak and Ribiere with the same acceleration (Hudspith,
    /// Comput. Phys. Commun. 187 (2015) 115). Steps end where the slope of the functional would
    /// vanish were it linear; the first one tries alpha, later ones the step before.
    FourierCg { alpha: f64 },
    /// Fourier-accelerated conjugate gradients with this alpha where they are available, else overrelaxation.
    Automatic { alpha: f64 },
}

impl Hash for Method {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Method::Overrelaxation => {}
            Method::StochasticRelaxation { probability } => probability.hash_bits(state),
            Method::Annealing(schedule) => schedule.hash(state),
            Method::Combined { schedule, probability, sweeps } => {
                (schedule, sweeps).hash(state);
                probability.hash_bits(state);
            }
            Method::FourierDescent { alpha }
            | Method::FourierCg { alpha }
            | Method::Automatic { alpha } => alpha.hash_bits(state),
        }
    }
}

impl Method {
    /// Whether the method moves all sites at once; the Fourier-accelerated ones do.
    pub(super) fn descends(&self) -> bool {
        matches!(self, Method::FourierDescent { .. } | Method::FourierCg { .. })
    }

    /// The name of the method in the interface.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Method::Overrelaxation => Algorithm::Overrelaxation,
            Method::StochasticRelaxation { .. } => Algorithm::Stochastic,
            Method::Annealing(_) => Algorithm::Annealing,
            Method::Combined { .. } => Algorithm::Combined,
            Method::FourierDescent { .. } => Algorithm::FourierDescent,
            Method::FourierCg { .. } => Algorithm::FourierCg,
            Method::Automatic { .. } => Algorithm::Automatic,
        }
    }
}

/// The temperatures T of annealing, in which configurations have the weight exp(f / T), f being the local functional
/// of Eq. (18).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    pub hot: f64,
    pub cold: f64,
    /// Number of temperatures, first and last included; each has one heat bath sweep.
    pub steps: usize,
    /// Number of sweeps after each heat bath that keep the functional.
    pub microcanonical: usize,
    /// True for equal ratios of temperatures, false for equal differences.
    pub logarithmic: bool,
}

hash_members! {
    Schedule { steps, microcanonical, logarithmic; hot, cold }
    Stop { ; theta, theta_max, change }
    GaugeFixParams {
        condition, method, stop, max_iterations, check_every, precision, copies, random_start, seed;
        omega, links_tolerance
    }
}

impl Default for Schedule {
    /// Temperatures that start high enough for annealing in four dimensions to forget the initial transformation.
    fn default() -> Self {
        GaugeFixing::default().schedule()
    }
}

impl Schedule {
    /// The temperature number `step`.
    pub fn temperature(&self, step: usize) -> f64 {
        let x = if self.steps > 1 { step as f64 / (self.steps - 1) as f64 } else { 1.0 };
        if self.logarithmic {
            self.hot * (self.cold / self.hot).powf(x)
        } else {
            self.hot + (self.cold - self.hot) * x
        }
    }
}

/// Stopping criteria for a copy, in Coulomb gauge for a slice; all must be met; 0: not required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Largest average violation theta, Eq. (7), or Eq. (13) and its sum over subgroups.
    pub theta: f64,
    /// Largest violation of any single site; theta is the average over sites.
    pub theta_max: f64,
    /// Largest increase of the functional in one iteration, averaged over the iterations between two checks.
    pub change: f64,
}

impl Stop {
    /// The default criteria: theta of 1e-12, or of 1e-11 in single precision.
    pub fn of(precision: Working) -> Stop {
        let theta = if precision == Working::Single { SINGLE_THETA } else { 1e-12 };
        Stop { theta, theta_max: 0.0, change: 0.0 }
    }

    /// Whether a slice meets the criteria. `rise`: increase of its functional in the last iteration.
    pub(super) fn met(&self, now: &Quality, rise: f64) -> bool {
        let below = |value: f64, stop: f64| stop == 0.0 || value <= stop;
        below(now.theta, self.theta)
            && below(now.theta_max, self.theta_max)
            && below(rise, self.change)
    }

    /// Whether a slice may meet the criteria, judged by `half`, averages over the sites of one parity; theta of all
    /// sites is at least half of theta of one parity. `rise`: increase of the functional in the last iteration. `late`:
    /// `half` was measured half a sweep ago.
    pub(super) fn may_be_met(&self, half: &Quality, rise: f64, late: bool) -> bool {
        let fall = if late { 0.1 } else { 1.0 };
        let (theta, theta_max) = (0.5 * fall * half.theta, fall * half.theta_max);
        self.met(&Quality { theta, theta_max, ..*half }, rise)
    }

    /// Factor by which gradients have to decrease until the criteria are met; violations are squares of gradients.
    pub(super) fn fall(&self) -> f64 {
        let all = [self.theta, self.theta_max, self.change].into_iter().filter(|&stop| stop > 0.0);
        all.reduce(f64::min).map_or(1e-8, f64::sqrt)
    }

    /// The criteria, each at least as large as single precision can resolve.
    pub(super) fn in_single(&self) -> Stop {
        let least = |stop: f64, seen: f64| if stop > 0.0 { stop.max(seen) } else { 0.0 };
        Stop {
            theta: least(self.theta, SINGLE_THETA),
            theta_max: least(self.theta_max, 10.0 * SINGLE_THETA),
            change: least(self.change, SINGLE_CHANGE),
        }
    }
}

/// Smallest violation theta that single precision reaches for all omega up to 1.95 and all volumes. Measured: for omega
/// = 1 rounding of g leaves 25 to 50 times 2^-48, and that of links stored as eight numbers 45 to 105 times 2^-48 more;
/// overrelaxation leaves 4e-13 to 1.2e-12 for omega = 1.7, 3e-12 to 6e-12 for 1.95.
const SINGLE_THETA: f64 = 1e-11;
/// Smallest change of the functional in one iteration that single precision can resolve.
const SINGLE_CHANGE: f64 = 1e-9;

/// Parameters of a gauge fixing by [`fix_gauge`](super::fix_gauge).
#[derive(Clone, Copy, Debug)]
pub struct GaugeFixParams {
    pub condition: Condition,
    pub method: Method,
    /// Power omega of overrelaxation, from 1 to below 2.
    pub omega: f64,
    pub stop: Stop,
    /// Number of sweeps after which a copy is given up; those of annealing are not counted.
    pub max_iterations: usize,
    /// Number of sweeps between two measurements of the violation.
    pub check_every: usize,
    /// Precision of the sweeps; single precision does not reach the criteria of `new`, see [`Stop::of`].
    pub precision: Working,
    /// Largest accepted deviation of a link from the group; 0: what rounding produces in long runs, 1e-8 in double
    /// and 1e-4 in single precision.
    pub links_tolerance: f64,
    /// Number of gauge copies; of those that converged the one with the largest functional is returned.
    pub copies: usize,
    /// True if the first copy, too, starts from a random transformation.
    pub random_start: bool,
    pub seed: u64,
}

impl GaugeFixParams {
    pub fn new(condition: Condition) -> Self {
        GaugeFixParams { condition, ..GaugeFixing::default().params() }
    }

    /// These parameters with the method that `Automatic` stands for on this lattice and device.
    pub(super) fn chosen(&self, gauge: &GaugeField) -> Self {
        let Method::Automatic { alpha } = self.method else { return *self };
        let descent = GaugeFixParams { method: Method::FourierCg { alpha }, ..*self };
        let (device, comm) = (gauge.device(), gauge.geometry().comm());
        let possible = match self.condition {
            Condition::MaximallyAbelian { .. } => false,
            // Fourier transforms of a lattice on several GPUs go through the memory of the host, which is slow.
            _ => device.is_cpu() || comm.size() == 1,
        };
        let fits = || {
            Fourier::available(device)?;
            device.require(descent.memory(gauge)?, "Fourier-accelerated gauge fixing")
        };
        // Memory may be short on one rank alone, but all ranks must choose the same method.
        match possible && comm.agree(fits()).is_ok() {
            true => descent,
            false => GaugeFixParams { method: Method::Overrelaxation, ..*self },
        }
    }

    /// These parameters reduced for a rehearsal: at most a few sweeps of each kind, a few checks and two copies.
    pub(super) fn few(&self) -> Self {
        const FEW: usize = 4;
        let short = |s: Schedule| Schedule { steps: s.steps.min(FEW), ..s };
        let method = match self.method {
            Method::Annealing(schedule) => Method::Annealing(short(schedule)),
            Method::Combined { schedule, probability, sweeps } => {
                Method::Combined { schedule: short(schedule), probability, sweeps: sweeps.min(FEW) }
            }
            other => other,
        };
        GaugeFixParams {
            method,
            max_iterations: self.max_iterations.min(2 * FEW),
            check_every: self.check_every.min(FEW / 2),
            copies: self.copies.min(2),
            ..*self
        }
    }

    /// # Errors
    /// `BadParameter` naming the first parameter out of range; `Unsupported`: links in half precision, Fourier
    /// acceleration in maximally Abelian gauge.
    pub(super) fn check(&self, gauge: &GaugeField) -> Result<()> {
        if gauge.precision() == Precision::F16 {
            refuse!(
                Unsupported,
                "gauge fixing",
                expected("links in double or single precision"),
                found("half")
            );
        }
        let whole = |name: &str, n: usize| (n as u64).check(GaugeFixing::row(name), &called(name));
        if let Condition::Coulomb { time } = self.condition {
            whole("direction", time)?;
        }
        number("omega", self.omega)?;
        let Stop { theta, theta_max, change } = self.stop;
        if !(0.0..f64::INFINITY).contains(&theta) {
            refuse!(
                BadParameter,
                "gauge fixing: stop_theta",
                expected("0 or more"),
                found("{theta}")
            );
        }
        number("stop_theta_max", theta_max)?;
        number("stop_change", change)?;
        if [theta, theta_max, change] == [0.0; 3] {
            refuse!(
                BadParameter,
                "gauge fixing: stop_theta, stop_theta_max, stop_change",
                expected("one above 0"),
                found("none")
            );
        }
        whole("max_iterations", self.max_iterations)?;
        whole("check_every", self.check_every)?;
        whole("copies", self.copies)?;
        let (schedule, probability) = match self.method {
            Method::Overrelaxation => (None, None),
            Method::Automatic { alpha } => {
                number("alpha", alpha)?;
                (None, None)
            }
            Method::FourierDescent { alpha } | Method::FourierCg { alpha } => {
                number("alpha", alpha)?;
                if let Condition::MaximallyAbelian { .. } = self.condition {
                    bail!(
                        Unsupported,
                        "gauge fixing: Fourier acceleration is for Landau and Coulomb gauge, found maximally \
                         Abelian gauge: use overrelaxation"
                    );
                }
                (None, None)
            }
            Method::StochasticRelaxation { probability } => (None, Some(probability)),
            Method::Annealing(schedule) => (Some(schedule), None),
            Method::Combined { schedule, probability, .. } => (Some(schedule), Some(probability)),
        };
        probability.map_or(Ok(()), |p| number("probability", p))?;
        if let Some(s) = schedule {
            let falls = s.hot >= s.cold && s.cold > 0.0 && s.hot.is_finite();
            if !falls || s.steps == 0 || s.steps > 1 << 24 {
                refuse!(
                    BadParameter,
                    "gauge fixing: annealing",
                    expected("temperatures hot >= cold > 0 and 1 to 2^24 steps"),
                    found("{} to {} in {} steps", s.hot, s.cold, s.steps)
                );
            }
        }
        Ok(())
    }
}

/// The name by which messages call a parameter.
fn called(name: &str) -> String {
    format!("gauge fixing: {name}")
}

/// Refuses a number that is out of the range of its parameter.
fn number(name: &str, x: f64) -> Result<()> {
    x.check(GaugeFixing::row(name), &called(name))
}
