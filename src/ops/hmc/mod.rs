//! Hybrid Monte Carlo (Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195 (1987) 216) for SU(3) gauge fields. An
//! action is a sum of monomials, each with its own heat bath, action and force; integrators and trajectories see them
//! only through the trait [`Monomial`].

pub mod checkpoint;
mod evolve;
pub mod fermion;
pub mod gauge_action;
pub mod gauge_params;
pub mod input;
pub mod integrator;
mod link_work;
pub mod loop_action;
pub mod quarks;
pub(super) mod random;
mod report;
pub mod smd;
pub mod stout;
#[cfg(test)]
mod tests;
mod trajectory;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::backend::Device;
use crate::error::Result;
use crate::fields::{BoundaryTime, GaugeField, Momenta, SpinorField};
use crate::params::Key;
pub use report::{plaq_hmc_report, plaq_monomial_report};
pub use report::{MonomialReport, RunReport, TrajectoryReport};
pub use trajectory::{Hmc, HmcParams};

/// Identifies the random numbers of a trajectory: Philox numbers depend on seed, trajectory, purpose and global site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub seed: u64,
    pub trajectory: u32,
}

/// The lower and upper ends of the intervals that monomials have measured, by the monomial's name.
pub type Measured = BTreeMap<String, (f64, f64)>;

/// The state of a chain, besides links and fields, that a checkpoint stores.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainPosition {
    /// The seed, and the number of the next trajectory.
    pub next: Stream,
    /// The intervals that monomials have measured, by their names.
    pub measured: Measured,
}

/// The size of the force in an update of the momenta, and the work of solvers for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KickReport {
    /// Root mean square over links of |F|, where |F|^2 = sum_a F_a^2 and F_a = dS/d omega_a for U -> exp(i omega_a
    /// T_a) U, without the step size.
    pub rms: f64,
    /// The largest |F| of a link.
    pub max: f64,
    pub solves: Solves,
}

/// The number of solves, their iterations and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solves {
    pub iterations: u64,
    pub seconds: f64,
}

impl Solves {
    /// The counts of a solve that started at `since` and took this number of iterations.
    pub(crate) fn since(since: Instant, iterations: usize) -> Self {
        Solves { iterations: iterations as u64, seconds: since.elapsed().as_secs_f64() }
    }
}

impl std::ops::AddAssign for Solves {
    fn add_assign(&mut self, other: Solves) {
        self.iterations += other.iterations;
        self.seconds += other.seconds;
    }
}

/// A term of the action. Links are periodic and stored whole (`R18`) in the momenta's precision; boundary conditions
/// of fermions belong to their monomials.
pub trait Monomial: Send {
    /// A short name, unique in its action.
    fn name(&self) -> &str;
    /// Refuses, before the first trajectory, boundaries in time of the links that this term cannot have.
    ///
    /// # Errors
    /// `BadParameter`, `Unsupported`.
    fn check_time_boundary(&self, _boundary: BoundaryTime) -> Result<()> {
        Ok(())
    }
    /// Draws the fields that belong to it (pseudofermions) from their heat bath at the start of a trajectory; gauge
    /// actions do nothing.
    fn refresh(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()>;
    /// Access to the pseudofermions of the last `refresh`; `None` for actions without pseudofermions. The caller may
    /// replace them by others, with which `action` and `kick` then work.
    fn pseudofermions(&mut self) -> Option<&mut Option<SpinorField>> {
        None
    }
    /// The pseudofermions drawn by the last `refresh`, if there are any.
    fn drawn(&self) -> Option<&SpinorField> {
        None
    }
    /// Checks at the end of a trajectory, before acceptance, that the action is valid for these links.
    fn check(&mut self, _gauge: &GaugeField, _stream: Stream) -> Result<()> {
        Ok(())
    }
    /// Computes the value S of the action, over all ranks, for these links and the fields of the last `refresh`, with
    /// the accuracy of the Hamiltonian.
    fn action(&mut self, gauge: &GaugeField) -> Result<f64>;
    /// Computes momenta -= step * force.
    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport>;
    /// Called at the start of a trajectory and when one is repeated: results of earlier trajectories (guesses for
    /// solvers) are dropped, so that a chain continues from a checkpoint bit for bit.
    fn restart(&mut self) {}
    /// The ends of the interval that it has measured and will use from now on; they are part of the chain's state.
    /// None: the interval was given, or is not measured yet.
    fn measured(&self) -> Option<(f64, f64)> {
        None
    }
    /// Continues with an interval from a checkpoint; None: the interval is measured again. Without effect if the
    /// interval was given by the user.
    ///
    /// # Errors
    /// `BadParameter`: an interval that is not possible.
    fn set_measured(&mut self, _interval: Option<(f64, f64)>) -> Result<()> {
        Ok(())
    }
    /// Work of solvers in `refresh`, `check` and `action` since the last call of this function.
    fn solves(&mut self) -> Solves {
        Solves::default()
    }
    /// A key that identifies everything on which the choice of the monomial's kernels depends, except the lattice.
    fn key(&self) -> Key {
        Key::of(("monomial", self.name()))
    }
    /// A monomial with the same parameters on another device, for rehearsals, which find memory and kernels of a
    /// trajectory. Where this one has not measured a quantity yet, a usual value is assumed. None: memory and kernels
    /// cannot be known in advance.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn like_on(&self, _device: &Device) -> Result<Option<Box<dyn Monomial>>> {
        Ok(None)
    }
    /// Whether the kernels of a force are known; if they depend on the spectrum, only after it was measured.
    fn knows_its_force(&self) -> bool {
        true
    }
}
