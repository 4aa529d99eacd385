//! An updater changes a gauge transformation step by step, by sweeps over sites or by descents of the whole lattice.

use super::descent::Descent;
use super::quality::Quality;
use super::sweeper::{Functional, Step, Sweeper};
use crate::error::Result;
use crate::fields::Transformation;

/// A single step of an updater: a sweep or a descent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Update {
    Sweep(Step),
    /// Moves all sites at once along the gradient.
    Descend {
        alpha: f64,
        conjugate: bool,
    },
}

pub(super) struct Updater {
    pub sweeper: Sweeper,
    /// The state of the descent, made at its first step.
    descent: Option<Descent>,
}

impl Updater {
    pub fn new(sweeper: Sweeper) -> Self {
        Updater { sweeper, descent: None }
    }

    /// Replaces the functional by another one whose slices have the same direction; all slices become active.
    pub fn set_functional(&mut self, functional: Functional) -> Result<()> {
        self.descent = None;
        self.sweeper.set_functional(functional)
    }

    /// Replaces the transformation g(x) that sweeps change by `g`.
    pub fn restart(&mut self, g: Transformation) -> Result<()> {
        self.descent = None;
        self.sweeper.restart(g)
    }

    /// Makes a step; `number` selects its random numbers in the sequence of `seed`.
    pub fn update(&mut self, update: Update, seed: u64, number: usize) -> Result<()> {
        match update {
            Update::Sweep(step) => self.sweeper.sweep(step, seed, number),
            Update::Descend { alpha, conjugate } => {
                let descent = match &mut self.descent {
                    Some(descent) => descent,
                    none => none.insert(Descent::new(&self.sweeper, alpha, conjugate)?),
                };
                descent.step(&mut self.sweeper)
            }
        }
    }

    /// Functional and violation of the whole lattice if they are known without a measurement: a descent computes them
    /// with the gradient.
    fn known(&mut self) -> Result<Option<Vec<Quality>>> {
        let Some(descent) = &mut self.descent else { return Ok(None) };
        let found: Vec<([f64; 2], f64)> = descent
            .measure(&mut self.sweeper)?
            .iter()
            .map(|&([f, theta, _], max)| ([f, theta], max))
            .collect();
        Ok(Some(self.sweeper.qualities(&found, 2.0)))
    }

    /// The functional and the violation of every active slice; the violation may be that of even sites only.
    pub fn poll(&mut self) -> Result<Vec<Quality>> {
        match self.known()? {
            Some(all) => Ok(all),
            None => self.sweeper.poll(),
        }
    }

    /// Functional and violation of every active slice on all sites, given the result of `poll`.
    pub fn quality(&mut self, polled: &[Quality]) -> Result<Vec<Quality>> {
        match self.known()? {
            Some(all) => Ok(all),
            None => self.sweeper.quality(polled),
        }
    }
}
