//! Integrators as lists of steps. In the list of an outer level the list of the inner level stands in place of each
//! link update, and neighbouring steps of the same kind are merged; so every integrator and nesting is run by one
//! loop, and no step is done twice.

use crate::error::{within, words, Result};
use crate::params::{choices, hint};
use crate::refuse;

/// One step of an integrator; times are in units of molecular-dynamics time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Updates the links by the momenta for this time.
    Links(f64),
    /// Updates the momenta by the force of the monomials on level `level` for this time.
    Kick { level: usize, time: f64 },
    /// Updates the momenta by the force at shifted links: these were moved along the force itself, p = -F, for
    /// `shift` (a time squared), and are restored afterwards.
    ShiftedKick { level: usize, time: f64, shift: f64 },
}

/// A scheme for one step of unit time, as fractions of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Leapfrog: second order, one force per step.
    Leapfrog,
    /// Omelyan, Mryglod, Folk (Comput. Phys. Commun. 151 (2003) 272): second order, two forces per
    /// step, the smallest error of its kind (Takaishi, de Forcrand, Phys. Rev. E 73 (2006) 036706).
    Omelyan2,
    /// Fourth-order scheme of Omelyan, Mryglod and Folk with five forces per step.
    Omelyan4,
    /// Fourth order with three forces per step and one more at shifted links (force gradient: Omelyan,
    /// Mryglod, Folk; the shift as in Yin, Mawhinney, PoS LATTICE2011 (2011) 051).
    ForceGradient,
}

words!(Scheme {
    Leapfrog => "PLAQ_INTEGRATOR_LEAPFROG",
    Omelyan2 => "PLAQ_INTEGRATOR_OMELYAN2",
    Omelyan4 => "PLAQ_INTEGRATOR_OMELYAN4",
    ForceGradient => "PLAQ_INTEGRATOR_FORCE_GRADIENT",
});

choices! {
    /// The schemes of integrators.
    names Scheme: plaq_integrator {
        /// Leapfrog: second order, one force per step.
        Leapfrog = 0, PLAQ_INTEGRATOR_LEAPFROG, "leapfrog";
        /// Omelyan, Mryglod and Folk: second order, two forces per step.
        Omelyan2 = 1, PLAQ_INTEGRATOR_OMELYAN2, "omelyan2";
        /// Omelyan, Mryglod and Folk: fourth order, five forces per step.
        Omelyan4 = 2, PLAQ_INTEGRATOR_OMELYAN4, "omelyan4";
        /// Force gradient: fourth order, three forces and one at shifted links per step.
        ForceGradient = 3, PLAQ_INTEGRATOR_FORCE_GRADIENT, "force_gradient";
    }
}

#[derive(Clone, Copy)]
enum Part {
    Drift(f64),
    Kick(f64),
    Shifted(f64, f64),
}

impl Scheme {
    pub const ALL: [Scheme; 4] =
        [Scheme::Leapfrog, Scheme::Omelyan2, Scheme::Omelyan4, Scheme::ForceGradient];

    pub fn name(self) -> &'static str {
        match self {
            Scheme::Leapfrog => "leapfrog",
            Scheme::Omelyan2 => "omelyan2",
            Scheme::Omelyan4 => "omelyan4",
            Scheme::ForceGradient => "force_gradient",
        }
    }
    pub fn parse(name: &str) -> Result<Self> {
        match Self::ALL.iter().find(|s| s.name() == name) {
            Some(scheme) => Ok(*scheme),
            None => {
                let names = Self::ALL.map(Scheme::name).join(", ");
                let meant = hint(name, Self::ALL.map(Scheme::name));
                refuse!(
                    InvalidArgument,
                    "integrator",
                    expected("one of {names}"),
                    found("{name}"),
                    hint("{meant}")
                )
            }
        }
    }
    /// The power of the step size with which the error of the Hamiltonian decreases.
    pub fn order(self) -> u32 {
        match self {
            Scheme::Leapfrog | Scheme::Omelyan2 => 2,
            Scheme::Omelyan4 | Scheme::ForceGradient => 4,
        }
    }

    fn parts(self) -> Vec<Part> {
        use Part::*;
        let half = match self {
            Scheme::Leapfrog => return vec![Kick(0.5), Drift(1.0), Kick(0.5)],
            Scheme::Omelyan2 => {
                let l = 0.1931833275037836;
                return vec![Kick(l), Drift(0.5), Kick(1.0 - 2.0 * l), Drift(0.5), Kick(l)];
            }
            Scheme::ForceGradient => {
                let sixth = 1.0 / 6.0;
                let middle = Shifted(2.0 / 3.0, 1.0 / 24.0);
                return vec![Kick(sixth), Drift(0.5), middle, Drift(0.5), Kick(sixth)];
            }
            Scheme::Omelyan4 => {
                let (rho, theta) = (0.2539785108410595, -0.03230286765269967);
                let (vartheta, lambda) = (0.08398315262876693, 0.6822365335719091);
                let (kick, drift) = (0.5 - (lambda + vartheta), 1.0 - 2.0 * (theta + rho));
                let first = [Kick(vartheta), Drift(rho), Kick(lambda), Drift(theta), Kick(kick)];
                (first, Drift(drift))
            }
        };
        let mirror = half.0.iter().rev();
        half.0.iter().chain([&half.1]).chain(mirror).copied().collect()
    }
}

/// A time scale. Every step of the next outer level consists of `steps` steps of this level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    pub scheme: Scheme,
    pub steps: usize,
    /// Names of the monomials whose forces act on this time scale.
    pub monomials: Vec<String>,
}

/// Largest number of levels.
const MAX_LEVELS: usize = 16;
/// Largest number of steps of a level.
const MAX_STEPS: usize = 10_000;
/// Largest number of link updates in a trajectory.
const MAX_UPDATES: usize = 1_000_000;

/// The list of steps of a trajectory of length `length`; levels are given from the outermost (the largest steps) in.
///
/// # Errors
/// `BadParameter`: no level or too many, a level without steps or with more than 10000, more than a
/// million link updates in all, a length that is not positive.
pub fn steps_of(levels: &[Level], length: f64) -> Result<Vec<Step>> {
    if !(length > 0.0 && length.is_finite()) {
        refuse!(
            BadParameter,
            "trajectory length",
            expected("a positive number"),
            found("{length}")
        );
    }
    within("integrator: levels", levels.len(), 1, MAX_LEVELS)?;
    for (l, level) in levels.iter().enumerate() {
        within(&format!("integrator: level {l}: steps"), level.steps, 1, MAX_STEPS)?;
    }
    let drifts = |l: &Level| {
        l.steps * l.scheme.parts().iter().filter(|p| matches!(p, Part::Drift(_))).count()
    };
    let updates = levels.iter().fold(1, |n: usize, l| n.saturating_mul(drifts(l)));
    within("integrator: link updates of a trajectory", updates, 1, MAX_UPDATES)?;
    let mut list = Vec::new();
    expand(levels, 0, length, &mut list);
    Ok(merged(list))
}

fn expand(levels: &[Level], level: usize, time: f64, list: &mut Vec<Step>) {
    let Some(here) = levels.get(level) else {
        list.push(Step::Links(time));
        return;
    };
    let h = time / here.steps as f64;
    for _ in 0..here.steps {
        for part in here.scheme.parts() {
            match part {
                Part::Drift(f) => expand(levels, level + 1, f * h, list),
                Part::Kick(f) => list.push(Step::Kick { level, time: f * h }),
                Part::Shifted(f, s) => {
                    list.push(Step::ShiftedKick { level, time: f * h, shift: s * h * h });
                }
            }
        }
    }
}

/// Merges neighbouring steps: kicks between two link updates commute, so that one kick for each level remains, and
/// consecutive link updates become one.
fn merged(list: Vec<Step>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(list.len());
    for step in list {
        match step {
            Step::Links(time) => match out.last_mut() {
                Some(Step::Links(before)) => *before += time,
                _ => out.push(step),
            },
            Step::Kick { level, time } => {
                let since =
                    out.iter().rposition(|s| matches!(s, Step::Links(_))).map_or(0, |i| i + 1);
                let same = out[since..].iter_mut().find_map(|s| match s {
                    Step::Kick { level: l, time } if *l == level => Some(time),
                    _ => None,
                });
                match same {
                    Some(before) => *before += time,
                    None => out.push(step),
                }
            }
            Step::ShiftedKick { .. } => out.push(step),
        }
    }
    out
}
