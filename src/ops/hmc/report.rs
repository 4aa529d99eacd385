//! Reports on trajectories and on runs of them.

use super::KickReport;
use crate::params::{reports, row_set};

reports! {
    /// Report of a monomial in the last trajectory.
    #[derive(Default)]
    pub struct MonomialReport: plaq_monomial_report {
        /// The monomial's action at the start of the trajectory.
        action_start: f64;
        /// The monomial's action at the end of the trajectory.
        action_end: f64;
        /// Number of evaluations of the force.
        kicks: u64;
        /// Root mean square of the force on a link, averaged over the updates of the momenta.
        rms: f64;
        /// Largest force on a link.
        max: f64;
        /// Number of solver iterations in forces.
        force_iterations: u64;
        /// Number of solver iterations in heat bath and actions.
        action_iterations: u64;
        /// Seconds spent in forces, heat bath and actions.
        seconds: f64;
        /// Seconds spent in solvers, a part of `seconds`.
        solve_seconds: f64;
    } besides {
        /// The monomial's name.
        name: String;
    }
}

row_set! {
    reports TRAJECTORY {
        /// 1: the trajectory was accepted.
        accepted: bool;
        /// Number of the trajectory, from 0 on.
        trajectory: u32;
        /// Delta H = H(end) - H(start), the violation of energy conservation.
        delta_h: f64;
        /// Number of iterations of all solvers in the trajectory.
        iterations: u64;
        /// Kinetic energy at the start of the trajectory.
        kinetic_start: f64;
        /// Kinetic energy at the end of the trajectory.
        kinetic_end: f64;
        /// Average plaquette of the links that the trajectory leaves, accepted or not.
        plaquette: f64;
        /// Largest change of a matrix entry when links were put back into SU(3).
        correction: f64;
        /// Largest difference of a link's matrix entry after integrating forward and back; -1: not measured.
        reversibility_links: Option<f64>;
        /// Modulus of the difference of H after integrating forward and back; -1: not measured.
        reversibility_hamiltonian: Option<f64>;
        /// Seconds that the trajectory took.
        seconds: f64;
    }
}

reports! {
    /// Report of a trajectory.
    #[derive(Default)]
    pub composed table TrajectoryReport {
        with TRAJECTORY;
    } besides {
        monomials: Vec<MonomialReport>;
    }
}

reports! {
    /// Report of a run of trajectories; what concerns one trajectory is that of the last.
    #[derive(Default)]
    pub composed struct RunReport: plaq_hmc_report {
        /// 1: the callback asked to stop.
        stopped: bool;
        with TRAJECTORY;
        /// Number of trajectories done.
        trajectories: u64;
        /// Number of trajectories accepted.
        acceptances: u64;
        /// Number of the next trajectory.
        next_trajectory: u32;
        /// Average of exp(-Delta H) over the run, which is 1 within errors.
        exp_minus_delta_h: f64;
        /// Seconds that the run took.
        run_seconds: f64;
    }
}

impl MonomialReport {
    pub(super) fn count(&mut self, force: &KickReport, seconds: f64) {
        self.kicks += 1;
        self.rms += force.rms;
        self.max = self.max.max(force.max);
        self.force_iterations += force.solves.iterations;
        self.solve_seconds += force.solves.seconds;
        self.seconds += seconds;
    }
}

impl RunReport {
    /// The report of a run to which the trajectory `last` has been added.
    pub fn and(&self, last: &TrajectoryReport) -> Self {
        let before = self.trajectories as f64;
        let weight = before * self.exp_minus_delta_h + (-last.delta_h).exp();
        RunReport {
            accepted: last.accepted,
            trajectory: last.trajectory,
            delta_h: last.delta_h,
            iterations: last.iterations,
            kinetic_start: last.kinetic_start,
            kinetic_end: last.kinetic_end,
            plaquette: last.plaquette,
            correction: last.correction,
            reversibility_links: last.reversibility_links,
            reversibility_hamiltonian: last.reversibility_hamiltonian,
            seconds: last.seconds,
            stopped: self.stopped,
            trajectories: self.trajectories + 1,
            acceptances: self.acceptances + u64::from(last.accepted),
            next_trajectory: last.trajectory.wrapping_add(1),
            exp_minus_delta_h: weight / (before + 1.0),
            run_seconds: self.run_seconds + last.seconds,
        }
    }
}
