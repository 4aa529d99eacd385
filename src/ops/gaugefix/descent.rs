//! Fourier-accelerated descents, which move all sites along the gradient of the functional at once: steepest descent
//! (Davies et al., Phys. Rev. D37 (1988) 1581), and nonlinear conjugate gradients of Polak and Ribiere (Hudspith,
//! Comput. Phys. Commun. 187 (2015) 115), preconditioned by the factor p2max / p^2 in momentum space. In Coulomb
//! gauge each time slice has its own steps.

use super::sweeper::Sweeper;
use crate::backend::args::{FourierArgs, Ptr};
use crate::backend::families::Sums;
use crate::backend::kernels;
use crate::backend::{Buffer, Work};
use crate::error::Result;
use crate::fields::fourier::{Arrays, LatticeFourier};
use crate::fields::{GaugeField, Precision};

/// A decrease of the functional by less than this multiple of the precision, relative to the functional, is rounding.
const ROUNDING: f64 = 32.0;
/// Factor by which steps of steepest descent grow again after one was halved. A step longer than about twice Newton's
/// lowers the functional and is halved; as 1.1^7 is about 2, this then happens at every seventh step.
const GROWTH: f64 = 1.1;
/// Largest length of a step, as a multiple of the trial step before it.
const LONGEST: f64 = 4.0;
/// Largest length of the eight numbers h_a of a site in a step exp(i sum_a h_a T_a) g (kernels/unitary.h).
const FURTHEST: f64 = 8.0;
/// Smallest fraction of a step to which it is halved; below that the step is undone.
const SHORTEST: f64 = 1e-6;

/// Measurements on a time slice: [functional (counted from both ends of its links), violation, scalar product of the
/// gradient with another vector], and the largest violation of a site.
type Found = ([f64; 3], f64);

#[derive(Clone, Copy, Default)]
struct Slice {
    /// Size of the next step; for conjugate gradients, size of the first of the trial steps of its line search.
    alpha: f64,
    /// Size of the last step, until the functional has been measured after it.
    moved: f64,
    /// The gauge functional of the slice before the last step.
    functional: f64,
    /// Derivative of the functional with respect to alpha at the start of the step; steepest descent only.
    slope: f64,
    /// Scalar product of the gradient with the preconditioned gradient at the last step; 0 before the first one.
    square: f64,
}

pub(super) struct Descent {
    fourier: LatticeFourier,
    /// The gradient, the preconditioned gradient and, for conjugate gradients, the direction.
    gradient: Buffer,
    vector: Buffer,
    direction: Option<Buffer>,
    /// The numbers 4 sin^2(p_mu / 2), in double precision, for this rank's part of momentum space: first for axis x,
    /// then y, z, t.
    momenta: Buffer,
    /// One number (`advance`) or two (`next_direction`) for each slice of this rank, by which kernels multiply vectors;
    /// in double precision.
    factors: Buffer,
    alpha: f64,
    slices: Vec<Slice>,
    /// Functional and violation for the present transformation, if they have been measured; then `gradient` holds its
    /// gradient.
    found: Option<Vec<Found>>,
}

impl Descent {
    pub fn new(at: &Sweeper, alpha: f64, conjugate: bool) -> Result<Self> {
        let (device, geometry) = (at.links.device(), at.links.geometry());
        let (l, global, origin) =
            (geometry.extents(), geometry.global_extents(), geometry.origin());
        let form = form(&at.links, at.functional.without, at.links.precision());
        let numbers = form.arrays * geometry.volume();
        let array = || device.alloc(2 * at.links.precision().bytes() * numbers);
        let sine = |mu: usize, k: usize| {
            let half = std::f64::consts::PI * (origin[mu] + k) as f64 / global[mu] as f64;
            4.0 * half.sin().powi(2)
        };
        let sines: Vec<f64> = (0..4).flat_map(|mu| (0..l[mu]).map(move |k| sine(mu, k))).collect();
        let mut momenta = device.alloc(8 * sines.len())?;
        momenta.upload(bytemuck::cast_slice(&sines))?;
        Ok(Descent {
            gradient: array()?,
            vector: array()?,
            direction: if conjugate { Some(array()?) } else { None },
            momenta,
            factors: device.alloc(16 * l[at.args.time as usize])?,
            alpha,
            slices: vec![Slice { alpha, ..Slice::default() }; at.slices()],
            found: None,
            fourier: LatticeFourier::new(device, geometry, form)?,
        })
    }

    /// Makes a step on every active slice.
    pub fn step(&mut self, at: &mut Sweeper) -> Result<()> {
        at.update_borders()?;
        let now = self.measure(at)?;
        self.fourier.forward(&self.gradient, &mut self.vector)?;
        let squares = self.precondition(at)?;
        self.fourier.inverse(&mut self.vector)?;
        let moved = if self.direction.is_some() {
            self.search(at, &now, &squares)?
        } else {
            let (slopes, max) = self.next_direction(at, &vec![[1.0, 0.0]; self.slices.len()])?;
            let steps = self.active(at, &max);
            self.advance(at, &steps)?;
            for (slice, slope) in self.slices.iter_mut().zip(slopes) {
                (slice.alpha, slice.slope) = ((GROWTH * slice.alpha).min(self.alpha), slope);
            }
            steps
        };
        for (slice, moved) in self.slices.iter_mut().zip(moved) {
            slice.moved = moved;
        }
        Ok(())
    }

    /// Measures functional and violation and computes the gradient. If the last step has lowered the functional, which
    /// is to be maximised, the step is halved until it does not.
    pub fn measure(&mut self, at: &mut Sweeper) -> Result<Vec<Found>> {
        if let Some(found) = &self.found {
            return Ok(found.clone());
        }
        let epsilon = ROUNDING * at.links.precision().epsilon();
        loop {
            // The scalar product of the gradient with the preconditioned gradient of the last step: conjugate gradients
            // need it for the next direction; for steepest descent it is the slope of the functional along the last
            // step.
            let found = self.pass(at, true, self.vector.ptr())?;
            let mut back = vec![0.0; self.slices.len()];
            for ((slice, (sums, _)), back) in self.slices.iter_mut().zip(&found).zip(&mut back) {
                let fall = slice.functional - sums[0];
                // If rounding hides the change of the functional, the mean of its slopes at the start and the end of
                // the step tells whether it fell.
                let hidden = fall.abs() <= epsilon * slice.functional.abs();
                let steepest = self.direction.is_none();
                let fallen =
                    if hidden { steepest && slice.slope + sums[2] < 0.0 } else { fall > 0.0 };
                if slice.moved == 0.0 || !fallen {
                    (slice.functional, slice.moved) = (sums[0], 0.0);
                    continue;
                }
                let short = slice.moved.abs() < SHORTEST * self.alpha;
                *back = if short { -slice.moved } else { -0.5 * slice.moved };
                slice.moved += *back;
                (slice.alpha, slice.square) = (slice.moved.max(SHORTEST * self.alpha), 0.0);
            }
            if back.iter().all(|&b| b == 0.0) {
                self.found = Some(found.clone());
                return Ok(found);
            }
            self.advance(at, &back)?;
        }
    }

    /// Makes a step along the new direction. Its size comes from the derivative of the functional with respect to
    /// alpha, which is known at the start and after a first trial and is interpolated linearly.
    fn search(&mut self, at: &mut Sweeper, now: &[Found], squares: &[f64]) -> Result<Vec<f64>> {
        let factors: Vec<[f64; 2]> = (self.slices.iter().zip(now).zip(squares))
            .map(|((slice, (sums, _)), square)| {
                let beta = (square - sums[2]) / slice.square;
                [1.0, if slice.square > 0.0 && beta > 0.0 { beta } else { 0.0 }]
            })
            .collect();
        let (mut slopes, mut max) = self.next_direction(at, &factors)?;
        if slopes.iter().any(|&slope| slope <= 0.0) {
            let again = |slope: &f64| if *slope <= 0.0 { [1.0, 0.0] } else { [0.0, 1.0] };
            let factors: Vec<[f64; 2]> = slopes.iter().map(again).collect();
            (slopes, max) = self.next_direction(at, &factors)?;
        }
        let tried = self.active(at, &max);
        self.advance(at, &tried)?;
        let direction = self.direction.as_ref().map_or(Ptr::NULL, Buffer::ptr);
        let there = self.pass(at, false, direction)?;
        let moved: Vec<f64> = (0..self.slices.len())
            .map(|k| {
                let (slope, fall) = (slopes[k], slopes[k] - there[k].0[2]);
                let steps = if fall > 0.0 { slope / fall } else { LONGEST };
                if slope > 0.0 {
                    (tried[k] * steps.min(LONGEST)).min(max[k])
                } else {
                    0.0
                }
            })
            .collect();
        let rest: Vec<f64> = moved.iter().zip(&tried).map(|(m, t)| m - t).collect();
        self.advance(at, &rest)?;
        for ((slice, square), &moved) in self.slices.iter_mut().zip(squares).zip(&moved) {
            slice.square = *square;
            if moved > 0.0 {
                slice.alpha = moved;
            }
        }
        Ok(moved)
    }

    /// The step sizes alpha of the slices: at most `max` for active ones, 0 for others.
    fn active(&self, at: &Sweeper, max: &[f64]) -> Vec<f64> {
        let alpha = |((slice, &on), &max): ((&Slice, _), _)| {
            if on {
                slice.alpha.min(max)
            } else {
                0.0
            }
        };
        self.slices.iter().zip(&at.on).zip(max).map(alpha).collect()
    }

    fn args(&self, at: &Sweeper) -> FourierArgs {
        let direction = self.direction.as_ref().unwrap_or(&self.vector);
        FourierArgs {
            fix: at.args,
            gradient: self.gradient.ptr(),
            vector: self.vector.ptr(),
            direction: direction.ptr(),
            ..Default::default()
        }
    }

    /// Computes functional and violation, the scalar product of the gradient with `vector`, and with `keep` stores
    /// the gradient.
    fn pass(&self, at: &Sweeper, keep: bool, vector: Ptr) -> Result<Vec<Found>> {
        let mut args = FourierArgs { write: keep as i32, vector, ..self.args(at) };
        let (precision, storage) = at.form()?;
        let gradient = kernels::FourierGradient(precision, storage);
        let here = at.slice_sums(gradient, 0..2, |parity| {
            args.fix.parity = parity;
            args
        })?;
        at.over_ranks(here)
    }

    /// Makes the step g -> exp(i c sum_a h_a T_a) g along the direction h, with a number c for each slice.
    fn advance(&mut self, at: &mut Sweeper, steps: &[f64]) -> Result<()> {
        self.found = None;
        self.send(at, steps)?;
        let args = FourierArgs { table: self.factors.ptr(), ..self.args(at) };
        let work = at.links.geometry().work(2);
        let (precision, storage) = at.form()?;
        at.links.device().launch(kernels::FourierUpdate(precision, storage), &args, work)?;
        at.g.exchange()
    }

    /// Multiplies the gradient by p2max / p^2 in momentum space (Davies et al., Phys. Rev. D37 (1988) 1581); returns
    /// its products with the gradient, per slice.
    fn precondition(&mut self, at: &Sweeper) -> Result<Vec<f64>> {
        let (extents, time) = (at.links.geometry().global_extents(), at.args.time as usize);
        let sites: usize = extents.iter().product();
        let each = if at.slices() == 1 { sites } else { sites / extents[time] };
        let norm = 1.0 / each as f64;
        let args = FourierArgs { table: self.momenta.ptr(), norm, ..self.args(at) };
        let (precision, storage) = at.form()?;
        let found = self.arrays(at, kernels::FourierScale(precision, storage), args)?;
        Ok(found.iter().map(|&([square], _)| square).collect())
    }

    /// Computes direction = a vector + b direction with [a, b] of each slice; returns for each slice the scalar
    /// product of the direction with the gradient, and the largest alpha that a step along it may have.
    fn next_direction(
        &mut self,
        at: &Sweeper,
        factors: &[[f64; 2]],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        self.send(at, factors)?;
        let args = FourierArgs { table: self.factors.ptr(), ..self.args(at) };
        let (precision, storage) = at.form()?;
        let found = self.arrays(at, kernels::FourierDirection(precision, storage), args)?;
        let furthest = |square: f64| FURTHEST / square.sqrt();
        Ok(found.iter().map(|&([product], square)| (product, furthest(square))).unzip())
    }

    fn send<T: bytemuck::Pod>(&mut self, at: &Sweeper, values: &[T]) -> Result<()> {
        let (geometry, time) = (at.links.geometry(), at.args.time as usize);
        let first = geometry.origin()[time];
        let here = first..first + geometry.extents()[time];
        let all: Vec<T> = here.map(|c| values[c % values.len()]).collect();
        self.factors.upload_at(0, bytemuck::cast_slice(&all))
    }

    /// Launches a kernel over the arrays; returns its sum for each slice, and for each slice its maximum if it
    /// computes one.
    fn arrays(
        &self,
        at: &Sweeper,
        kernel: impl Sums<Args = FourierArgs>,
        args: FourierArgs,
    ) -> Result<Vec<([f64; 1], f64)>> {
        let geometry = at.links.geometry();
        let time = at.args.time as usize;
        let (count, first) = (geometry.extents()[time], geometry.origin()[time]);
        let lanes = geometry.work(1).lanes;
        let n = (geometry.volume() / count).div_ceil(lanes);
        let work = Work { n, batches: count, lanes };
        let numbers = at.links.device().reduce(kernel, &args, work)?;
        let each = numbers.chunks_exact(numbers.len() / count);
        let mut found = vec![([0.0], 0.0); at.slices()];
        for (c, s) in each.enumerate() {
            let ([sum], max) = &mut found[(first + c) % at.slices()];
            *sum += s[0];
            *max = f64::max(*max, s.get(1).copied().unwrap_or(0.0));
        }
        at.over_ranks(found)
    }
}

/// The shape of the arrays for Fourier transforms; the direction `without` is not transformed, so that its slices are
/// independent.
fn form(gauge: &GaugeField, without: Option<usize>, precision: Precision) -> Arrays {
    let (colours, time) = (gauge.group().colours(), without.unwrap_or(3));
    let mut order = [0, 1, 2, 3];
    order[time..].rotate_left(1);
    Arrays {
        order,
        axes: if without.is_some() { 3 } else { 4 },
        arrays: colours * colours / 2,
        single: precision == Precision::F32,
    }
}
