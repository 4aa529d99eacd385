//! Hybrid Monte Carlo (Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195 (1987) 216) of SU(3) gauge fields: an
//! action is a sum of monomials, each with its own heat bath, action and force; integrators and trajectories know
//! nothing else of them.

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
pub use trajectory::{Hmc, HmcParams, MonomialReport, Reversibility, TrajectoryReport};

/// Identifies random numbers of a trajectory: Philox numbers depend on seed, trajectory, purpose and global site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub seed: u64,
    pub trajectory: u32,
}

/// Low and high ends of the intervals that monomials measured, by name of the monomial.
pub type Measured = BTreeMap<String, (f64, f64)>;

/// The state of a chain that a checkpoint keeps beside the links.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainPosition {
    /// The seed, and the number of the next trajectory.
    pub next: Stream,
    /// The intervals that monomials have measured, by their names.
    pub measured: Measured,
}

/// The size of the force in a kick, and the work of solvers for it.
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
    /// Counts of a solve that began at `since`.
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
    fn suits(&self, _boundary: BoundaryTime) -> Result<()> {
        Ok(())
    }
    /// Draws the fields that belong to it (pseudofermions) from their heat bath at the start of a trajectory; gauge
    /// actions do nothing.
    fn refresh(&mut self, gauge: &GaugeField, stream: Stream) -> Result<()>;
    /// Where the pseudofermions of the last `refresh` are; `None` for actions that have none. Those of other values are
    /// as good for `action` and `kick`.
    fn pseudofermions(&mut self) -> Option<&mut Option<SpinorField>> {
        None
    }
    /// The pseudofermions of the last `refresh`, if there are any.
    fn drawn(&self) -> Option<&SpinorField> {
        None
    }
    /// Checks at the end of a trajectory, before acceptance, that the action is valid for these links.
    fn check(&mut self, _gauge: &GaugeField, _stream: Stream) -> Result<()> {
        Ok(())
    }
    /// The value S of the action for these links and the fields of the last `refresh`, over all ranks, in the
    /// accuracy of the Hamiltonian.
    fn action(&mut self, gauge: &GaugeField) -> Result<f64>;
    /// momenta -= step * force.
    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport>;
    /// Begins a trajectory, perhaps again: results of earlier ones (guesses for solvers) are dropped, so that a chain
    /// continues from a checkpoint bit for bit.
    fn restart(&mut self) {}
    /// Ends of an interval that it has measured and goes on with, which belong to the state of a chain. None where
    /// the interval was given, or not measured yet.
    fn measured(&self) -> Option<(f64, f64)> {
        None
    }
    /// Continues with an interval from a checkpoint; None: it is to be measured anew. Without effect where the
    /// interval was given.
    ///
    /// # Errors
    /// `BadParameter`: not possible.
    fn set_measured(&mut self, _interval: Option<(f64, f64)>) -> Result<()> {
        Ok(())
    }
    /// Work of solvers in `refresh`, `check` and `action` since the last call.
    fn solves(&mut self) -> Solves {
        Solves::default()
    }
    /// Describes everything besides the lattice that its kernels depend on.
    fn describe(&self) -> String {
        self.name().to_string()
    }
    /// A monomial with the same parameters on another device, not used yet, for rehearsals of a trajectory that find
    /// out its memory and kernels. Usual values stand for what this one has not measured yet. None: memory and kernels
    /// cannot be known before.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn like_on(&self, _device: &Device) -> Result<Option<Box<dyn Monomial>>> {
        Ok(None)
    }
    /// Whether it is known what kernels a force launches; not before a spectrum was measured on which that depends.
    fn knows_its_force(&self) -> bool {
        true
    }
}
