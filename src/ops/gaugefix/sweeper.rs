//! The device's side: links, a transformation of them, sweeps and measurements.

mod descent;

use descent::Descent;

use super::report::Quality;
use crate::backend::args::{self, GaugeFixArgs, KernelArgs};
use crate::backend::{Buffer, Work};
use crate::error::Result;
use crate::fields::{GaugeField, Group, Recon, Transformation};

/// What a sweep does (kernels/gaugefix.h).
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Overrelax { omega: f64 },
    Microcanonical,
    Stochastic { probability: f64 },
    Heat { beta: f64 },
    Descent { alpha: f64, conjugate: bool },
}

/// A functional of kernels/gaugefix.h, with slices of their own where one direction is left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Functional {
    pub kind: i32,
    pub without: Option<usize>,
}

pub(super) struct Sweeper {
    links: GaugeField,
    pub g: Transformation,
    /// One i32 per slice of this rank.
    active: Buffer,
    args: GaugeFixArgs,
    functional: Functional,
    /// Slices that sweeps change.
    on: Vec<bool>,
    /// From the first step of its kind on.
    descent: Option<Descent>,
}

impl Sweeper {
    /// Keeps a copy of the links in `precision`.
    pub fn new(gauge: &GaugeField, g: Transformation, functional: Functional) -> Result<Self> {
        let storage = if gauge.group() == Group::Su2 { Recon::Su2 } else { Recon::R12 };
        let links = gauge.to(g.precision(), storage)?;
        let geometry = links.geometry();
        let time = functional.without.unwrap_or(3);
        let active = links.device().alloc(4 * geometry.extents()[time])?;
        let args = GaugeFixArgs {
            geom: geometry.args(),
            gauge: links.view(),
            g: g.view(),
            time: time as i32,
            active: active.ptr(),
            ..Default::default()
        };
        let mut sweeper = Sweeper { links, g, active, args, functional, on: vec![], descent: None };
        sweeper.set_functional(functional)?;
        Ok(sweeper)
    }

    /// Another functional of the same slices; all of them are active.
    pub fn set_functional(&mut self, functional: Functional) -> Result<()> {
        self.functional = functional;
        self.descent = None;
        self.args.condition = functional.kind;
        self.args.directions = 15 & !functional.without.map_or(0, |mu| 1 << mu);
        self.activate(&vec![true; self.slices()])
    }

    /// Goes on from another transformation.
    pub fn restart(&mut self, g: Transformation) -> Result<()> {
        self.args.g = g.view();
        self.descent = None;
        self.g = g;
        self.g.exchange()
    }

    /// Parts of the lattice that converge on their own: slices, or one.
    pub fn slices(&self) -> usize {
        self.functional.without.map_or(1, |mu| self.links.geometry().global_extents()[mu])
    }

    /// Which slices sweeps change.
    pub fn activate(&mut self, slices: &[bool]) -> Result<()> {
        self.on = slices.to_vec();
        let geometry = self.links.geometry();
        let time = self.args.time as usize;
        let (origin, count) = (geometry.origin()[time], geometry.extents()[time]);
        let here: Vec<i32> = (0..count)
            .map(|c| slices[if slices.len() == 1 { 0 } else { origin + c }] as i32)
            .collect();
        self.active.upload(bytemuck::cast_slice(&here))
    }

    fn work(&self) -> Work {
        self.links.geometry().slice_work(self.args.time as usize)
    }

    fn params(&self) -> [&'static str; 2] {
        [self.links.precision().token(), self.links.recon().token()]
    }

    /// Even sites, then odd ones; `number` is the place in the random stream of `seed`. A descent
    /// changes all sites at once.
    pub fn sweep(&mut self, step: Step, seed: u64, number: usize) -> Result<()> {
        (self.args.method, self.args.omega) = match step {
            Step::Overrelax { omega } => (args::GAUGE_OVERRELAX, omega),
            Step::Microcanonical => (args::GAUGE_MICROCANONICAL, 0.0),
            Step::Stochastic { probability } => (args::GAUGE_STOCHASTIC, probability),
            Step::Heat { beta } => (args::GAUGE_HEAT, beta),
            Step::Descent { alpha, conjugate } => {
                let mut descent = match self.descent.take() {
                    Some(descent) => descent,
                    None => Descent::new(self, alpha, conjugate)?,
                };
                descent.step(self)?;
                self.descent = Some(descent);
                return Ok(());
            }
        };
        (self.args.seed, self.args.sweep) = (seed, number as i64);
        for parity in 0..2 {
            self.args.parity = parity;
            let (device, params) = (self.links.device(), self.params());
            device.launch("gauge_sweep", &params, &self.args, self.work())?;
            self.g.exchange()?;
        }
        Ok(())
    }

    /// K sums and the largest number of a reduction over this rank's part of every slice; `args` are
    /// those of a parity.
    fn slice_sums<A: KernelArgs, const K: usize>(
        &self,
        kernel: &str,
        mut args: impl FnMut(i32) -> A,
    ) -> Result<Vec<([f64; K], f64)>> {
        let geometry = self.links.geometry();
        let (time, slices, work) = (self.args.time as usize, self.slices(), self.work());
        let origin = geometry.origin()[time];
        let mut found = vec![([0.0; K], 0.0); slices];
        for parity in 0..2 {
            let (device, params) = (self.links.device(), self.params());
            let here = geometry.reduce_here(device, kernel, &params, &args(parity), work)?;
            for (batch, s) in here.chunks_exact(2 * K + 2).enumerate() {
                for upper in 0..geometry.extents()[time] / work.batches {
                    let c = origin + batch + upper * work.batches;
                    let (sums, most) = &mut found[if slices == 1 { 0 } else { c }];
                    (0..K).for_each(|k| sums[k] += s[K * upper + k]);
                    *most = f64::max(*most, s[2 * K + upper]);
                }
            }
        }
        Ok(found)
    }

    /// Functional and violation of every slice; and the sum of `flag` over the ranks.
    pub fn quality(&mut self, flag: bool) -> Result<(Vec<Quality>, bool)> {
        let found: Vec<([f64; 2], f64)> = match self.descent.take() {
            Some(mut descent) => {
                let found = descent.measure(self)?;
                self.descent = Some(descent);
                found.iter().map(|&([f, theta, _], most)| ([f, theta], most)).collect()
            }
            None => {
                self.slice_sums("gauge_quality", |parity| GaugeFixArgs { parity, ..self.args })?
            }
        };
        let geometry = self.links.geometry();
        let slices = found.len();
        let mut sums: Vec<f64> = found.iter().flat_map(|(sums, _)| *sums).collect();
        let mut most: Vec<f64> = found.iter().map(|(_, most)| *most).collect();
        sums.push(flag as i32 as f64);
        geometry.comm().sum(&mut sums)?;
        geometry.comm().most(&mut most)?;
        let colours = self.links.group().colours() as f64;
        let sites = (geometry.global_volume() / slices) as f64 * colours;
        let directions = if self.functional.without.is_some() { 3.0 } else { 4.0 };
        let quality = sums.chunks_exact(2).zip(most).map(|(s, most)| Quality {
            // Both ends of a link have seen it.
            functional: s[0] / (2.0 * directions * sites),
            theta: s[1] / sites,
            theta_max: most / colours,
        });
        Ok((quality.collect(), sums[2 * slices] > 0.0))
    }
}
