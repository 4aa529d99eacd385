//! Gauge fixing on the device: the links, a transformation of them, sweeps and measurements.

mod halves;

use std::ops::Range;

use super::quality::Quality;
use crate::backend::args::{self, GaugeFixArgs};
use crate::backend::families::{Float, GaugeFixing, Sums, Values};
use crate::backend::kernels;
use crate::backend::{Buffer, Device, FieldView, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Group, Precision, Recon, Transformation};

/// Largest number of threads of a block that the tuner tries.
const MAX_THREADS: usize = 256;

/// The kind of change that a sweep makes at each site (kernels/gaugefix.h).
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Overrelax { omega: f64 },
    Microcanonical,
    Stochastic { probability: f64 },
    Heat { beta: f64 },
}

/// A functional of kernels/gaugefix.h; if one direction is left out, the slices across it are independent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Functional {
    pub kind: i32,
    pub without: Option<usize>,
}

/// The storage in which sweeps keep the links, which they only read: eight numbers on a GPU, where memory limits the
/// speed, twelve on a CPU, where arithmetic does.
pub fn sweep_storage(device: &Device, group: Group) -> Recon {
    match group {
        Group::Su2 => Recon::Su2,
        Group::Su3 if device.is_cpu() => Recon::R12,
        Group::Su3 => Recon::R8,
    }
}

/// The number of slices by which odd sites follow even ones if a GPU makes a whole sweep in one launch
/// (kernels/block_order.h); as many slices are in progress at a time. 0: one launch for each parity, because the cache
/// does not hold links and g of that many slices, arithmetic takes longer than memory access, or slices are independent
/// or on other ranks.
fn lag(links: &GaugeField, g: &Transformation, functional: Functional) -> usize {
    let geometry = links.geometry();
    let Some(gpu) = links.device().gpu() else { return 0 };
    let work = geometry.slice_work(3);
    let divided = functional.without.is_some() || geometry.halo_mask() != 0;
    if divided || functional.kind != args::GAUGE_TRACE || !work.n.is_multiple_of(MAX_THREADS) {
        return 0;
    }
    // Measured in docs/lab/gaugefix.md: the number of threads for each multiprocessor, and the part of the cache that
    // slices may fill.
    let threads = if links.precision() == Precision::F64 { 256 } else { 512 };
    let lag = 2 + (threads * gpu.multiprocessors + work.n) / (2 * work.n);
    let bytes = |f: FieldView| 2 * f.plane_bytes as u64 / work.batches as u64;
    let slice = bytes(links.view()) + bytes(g.view());
    let gains = 2 * lag <= work.batches && 10 * lag as u64 * slice <= 6 * gpu.cache;
    if gains {
        lag
    } else {
        0
    }
}

pub(super) struct Sweeper {
    pub links: GaugeField,
    /// The transformation g; its borders are up to date after a measurement.
    pub g: Transformation,
    /// For each slice of this rank an i32, non-zero if the slice is active.
    active: Buffer,
    /// Number of slices by which odd sites follow even ones where a launch is a whole sweep; else 0.
    lag: usize,
    /// For launches of whole sweeps a counter (i32) for each slice, and one that tells whether a block gave up
    /// waiting.
    done: Buffer,
    pub args: GaugeFixArgs,
    /// Number of the exchange of faces that the last half of a sweep made within its kernel, after which the borders of
    /// `g` are not up to date; None: they are.
    ahead: Option<u32>,
    pub functional: Functional,
    /// Whether sweeps change a time slice, for each slice.
    pub on: Vec<bool>,
}

impl Sweeper {
    /// Makes a sweeper with a copy of the links in the precision of `g`; `axial` says which links are unit matrices
    /// ([`Axial::mask`](super::axial::Axial::mask)).
    pub fn new(
        gauge: &GaugeField,
        axial: i32,
        g: Transformation,
        functional: Functional,
    ) -> Result<Self> {
        let storage = sweep_storage(gauge.device(), gauge.group());
        Self::with_links(gauge, (storage, axial), g, functional)
    }

    fn with_links(
        gauge: &GaugeField,
        (storage, axial): (Recon, i32),
        g: Transformation,
        functional: Functional,
    ) -> Result<Self> {
        let links = gauge.to(g.precision(), storage)?;
        let geometry = links.geometry();
        let time = functional.without.unwrap_or(3);
        let slices = geometry.extents()[time];
        let active = links.device().alloc(4 * slices)?;
        let done = links.device().alloc(4 * (slices + 1))?;
        let args = GaugeFixArgs {
            geom: geometry.args(),
            gauge: links.view(),
            g: g.view(),
            time: time as i32,
            axial,
            active: active.ptr(),
            done: done.ptr(),
            ..Default::default()
        };
        let on = vec![];
        let mut sweeper =
            Sweeper { links, g, active, lag: 0, done, args, ahead: None, functional, on };
        sweeper.set_functional(functional)?;
        Ok(sweeper)
    }

    /// Replaces the functional by another one whose slices have the same direction; all slices become active.
    pub fn set_functional(&mut self, functional: Functional) -> Result<()> {
        self.functional = functional;
        self.lag = lag(&self.links, &self.g, functional);
        self.args.condition = functional.kind;
        self.args.directions = functional.without.map_or(15, |mu| [14, 13, 11, 7][mu]);
        self.activate(&vec![true; self.slices()])
    }

    /// Replaces the transformation g(x) that sweeps change by `g`.
    pub fn restart(&mut self, g: Transformation) -> Result<()> {
        self.args.g = g.view();
        self.ahead = None;
        self.g = g;
        self.g.exchange()
    }

    /// Number of parts of the lattice that converge on their own: slices, or one.
    pub fn slices(&self) -> usize {
        self.functional.without.map_or(1, |mu| self.links.geometry().global_extents()[mu])
    }

    /// Makes these slices active: sweeps change and measurements include only these.
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

    /// The precision of the kernels, and the storage for which they are compiled.
    pub fn form(&self) -> Result<(Float, GaugeFixing)> {
        Ok((Float::of(self.links.precision())?, GaugeFixing::of(self.links.recon())?))
    }

    /// Makes a sweep over even sites, then odd ones; `number` selects its random numbers in the sequence of `seed`.
    pub fn sweep(&mut self, step: Step, seed: u64, number: usize) -> Result<()> {
        let lag = if matches!(step, Step::Heat { .. }) { 0 } else { self.lag };
        self.prepare(step, seed, number, lag);
        if lag > 0 {
            self.args.target = self.args.target.wrapping_add(self.work().n as i32);
            return self.launch(&self.args);
        }
        self.half(0)?;
        self.half(1)
    }

    /// Launches the change of the sites of one parity, or of both parities if `lag` is not zero.
    fn launch(&self, args: &GaugeFixArgs) -> Result<()> {
        let slices = self.work();
        let work = Work { batches: slices.batches * if args.lag > 0 { 2 } else { 1 }, ..slices };
        let (precision, storage) = self.form()?;
        self.links.device().launch(kernels::GaugeSweep(precision, storage), args, work)
    }

    /// Makes a sweep that also measures: functional and violation are taken at odd sites before these change.
    pub fn sweep_seen(&mut self, step: Step, seed: u64, number: usize) -> Result<Vec<Quality>> {
        self.prepare(step, seed, number, 0);
        self.half(0)?;
        let (precision, storage) = self.form()?;
        let odd = self.measure_quality(kernels::GaugeSweepSeen(precision, storage), 1)?;
        self.g.exchange_faces(1, || Ok(()))?;
        Ok(odd)
    }

    fn prepare(&mut self, step: Step, seed: u64, number: usize, lag: usize) {
        (self.args.method, self.args.omega) = match step {
            Step::Overrelax { omega } => (args::GAUGE_OVERRELAX, omega),
            Step::Microcanonical => (args::GAUGE_MICROCANONICAL, 0.0),
            Step::Stochastic { probability } => (args::GAUGE_STOCHASTIC, probability),
            Step::Heat { beta } => (args::GAUGE_HEAT, beta),
        };
        (self.args.seed, self.args.sweep, self.args.lag) = (seed, number as i64, lag as i32);
    }

    /// K sums and the largest number that a reduction computes on every slice, over the given parities and the sites
    /// of this rank; `args` are the kernel's arguments for a parity.
    pub fn slice_sums<S: Sums, const K: usize>(
        &self,
        kernel: S,
        parities: Range<i32>,
        mut args: impl FnMut(i32) -> S::Args,
    ) -> Result<Vec<([f64; K], f64)>> {
        let geometry = self.links.geometry();
        let (time, slices, work) = (self.args.time as usize, self.slices(), self.work());
        let origin = geometry.origin()[time];
        let mut found = vec![([0.0; K], 0.0); slices];
        for parity in parities {
            let here = geometry.reduce_here(self.links.device(), kernel, &args(parity), work)?;
            for (batch, s) in here.chunks_exact(2 * K + 2).enumerate() {
                for upper in 0..geometry.extents()[time] / work.batches {
                    let c = origin + batch + upper * work.batches;
                    let (sums, max) = &mut found[if slices == 1 { 0 } else { c }];
                    (0..K).for_each(|k| sums[k] += s[K * upper + k]);
                    *max = f64::max(*max, s[2 * K + upper]);
                }
            }
        }
        Ok(found)
    }

    /// Combines sums and largest numbers of slices over all ranks.
    pub fn over_ranks<const K: usize>(
        &self,
        here: Vec<([f64; K], f64)>,
    ) -> Result<Vec<([f64; K], f64)>> {
        let comm = self.links.geometry().comm();
        let mut sums: Vec<f64> = here.iter().flat_map(|(sums, _)| *sums).collect();
        let mut max: Vec<f64> = here.iter().map(|(_, max)| *max).collect();
        comm.sum(&mut sums)?;
        comm.max(&mut max)?;
        let of = |k: usize| std::array::from_fn(|i| sums[K * k + i]);
        Ok(max.iter().enumerate().map(|(k, &max)| (of(k), max)).collect())
    }

    /// Functional and violation of slices from sums over one parity or over both. Every link has one site of each
    /// parity, so that either parity gives the whole functional; the violation is the average over the sites that
    /// were summed.
    pub fn qualities(&self, found: &[([f64; 2], f64)], parities: f64) -> Vec<Quality> {
        let geometry = self.links.geometry();
        let colours = self.links.group().colours() as f64;
        let sites = (geometry.global_volume() / found.len()) as f64 * colours;
        let directions = if self.functional.without.is_some() { 3.0 } else { 4.0 };
        let quality = found.iter().map(|(s, max)| Quality {
            functional: s[0] / (parities * directions * sites),
            theta: 2.0 * s[1] / (parities * sites),
            theta_max: max / colours,
        });
        quality.collect()
    }

    /// Fails if, in a launch of whole sweeps, a slice has given up waiting for another one.
    fn whole_sweeps_ended(&self) -> Result<()> {
        if self.args.target == 0 {
            return Ok(());
        }
        let mut gave_up = [0; 4];
        self.done.download_at(self.done.bytes() - 4, &mut gave_up)?;
        if gave_up != [0; 4] {
            bail!(
                DeviceLost,
                "gauge fixing: sites of a sweep waited 10 s for others of the same launch on {}, \
                 which did not come; the run ends without a result",
                self.links.device().name()
            );
        }
        Ok(())
    }

    /// Functional and violation of every active slice, measured at the sites of one parity; 0 for inactive slices.
    fn measure_quality(
        &mut self,
        kernel: impl Sums<Args = GaugeFixArgs>,
        parity: i32,
    ) -> Result<Vec<Quality>> {
        self.update_borders()?;
        self.whole_sweeps_ended()?;
        let args = |parity| GaugeFixArgs { parity, ..self.args };
        let here = self.slice_sums(kernel, parity..parity + 1, args)?;
        Ok(self.qualities(&self.over_ranks(here)?, 1.0))
    }

    fn quality_of(&mut self, parity: i32) -> Result<Vec<Quality>> {
        let (precision, storage) = self.form()?;
        self.measure_quality(kernels::GaugeQuality(precision, storage), parity)
    }

    /// The functional and the violation of every active slice; the violation may be that of even sites only.
    pub fn poll(&mut self) -> Result<Vec<Quality>> {
        self.quality_of(0)
    }

    /// Functional and violation of every active slice on all sites, given the result of `poll`.
    pub fn quality(&mut self, polled: &[Quality]) -> Result<Vec<Quality>> {
        let odd = self.quality_of(1)?;
        let both = polled.iter().zip(odd).map(|(even, odd)| Quality {
            functional: 0.5 * (even.functional + odd.functional),
            theta: 0.5 * (even.theta + odd.theta),
            theta_max: even.theta_max.max(odd.theta_max),
        });
        Ok(both.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::args::{GAUGE_ABELIAN, GAUGE_PHASES, GAUGE_TRACE};
    use crate::backend::cuda::candidates;
    use crate::backend::families::{combinations, KERNELS};
    use crate::backend::tests::one_device;
    use crate::comm::Comm;
    use crate::error::Status;
    use crate::fields::Geometry;
    use crate::ops::gaugefix::{
        functional, Axial, Condition, GaugeFixParams, Progress, Run, Stop, Updater, Working,
    };
    use crate::ops::quenched::Quenched;

    fn sweeper(u: &GaugeField, storage: Recon, precision: Precision, f: Functional) -> Sweeper {
        let (device, geometry) = (u.device(), u.geometry());
        let g = Transformation::random(device, geometry, precision, u.group(), (7, 0)).unwrap();
        Sweeper::with_links(u, (storage, 0), g, f).unwrap()
    }

    fn cases() -> Vec<(GaugeField, Functional)> {
        let device = one_device();
        // Lanes in all directions, in the slices' too, and in none.
        let extents = [[4, 8, 4, 8], [6, 4, 2, 6]];
        let functionals = [
            (GAUGE_TRACE, None),
            (GAUGE_TRACE, Some(3)),
            (GAUGE_TRACE, Some(0)),
            (GAUGE_ABELIAN, None),
            (GAUGE_PHASES, None),
        ];
        let mut all = vec![];
        for extents in extents {
            let geometry = Geometry::new(extents, &device).unwrap();
            for (kind, without) in functionals {
                // In the direction in which lanes turn, slices in memory are not slices of the lattice; `fix_gauge`
                // orders the sites anew in this case.
                if without.is_some() && without == geometry.turning() {
                    continue;
                }
                let mut u =
                    GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
                u.set_random(5).unwrap();
                all.push((u, Functional { kind, without }));
            }
        }
        all
    }

    fn furthest(a: &Sweeper, b: &Sweeper) -> f64 {
        let (a, b) = (a.g.to_array().unwrap(), b.g.to_array().unwrap());
        a.iter().zip(&b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    }

    /// On a divided lattice the change of one parity in one launch, which exchanges faces itself, gives the same as
    /// separate launches for faces and interior.
    #[test]
    fn halves_at_once_are_halves_by_parts() {
        let device = one_device();
        if device.is_cpu() {
            return println!("skipped: only kernels of a GPU exchange faces by themselves");
        }
        let relax = Step::Overrelax { omega: 1.6 };
        let steps = [relax, Step::Microcanonical, Step::Stochastic { probability: 0.5 }, relax];
        for (split, extents) in [
            ([false, false, false, true], [8, 6, 4, 12]),
            ([true, false, true, false], [8, 4, 6, 4]),
            ([true; 4], [4, 6, 8, 4]),
        ] {
            let geometry = Geometry::decomposed(extents, &device, &Comm::looped(split)).unwrap();
            let whole = Geometry::new(extents, &device).unwrap();
            for (kind, without, group) in [
                (GAUGE_TRACE, None, Group::Su3),
                (GAUGE_TRACE, Some(3), Group::Su3),
                (GAUGE_ABELIAN, None, Group::Su2),
            ] {
                let f = Functional { kind, without };
                let links = |geometry| {
                    let recon = if group == Group::Su2 { Recon::Su2 } else { Recon::R18 };
                    let mut u = GaugeField::new(&device, geometry, Precision::F64, recon).unwrap();
                    u.set_random(5).unwrap();
                    u
                };
                let storage = if group == Group::Su2 { Recon::Su2 } else { Recon::R8 };
                let mut divided = sweeper(&links(&geometry), storage, Precision::F64, f);
                let mut one =
                    Sweeper { lag: 0, ..sweeper(&links(&whole), storage, Precision::F64, f) };
                for (n, step) in steps.into_iter().enumerate() {
                    divided.sweep(step, 3, n).unwrap();
                    assert!(divided.ahead.is_some(), "{split:?}");
                    one.sweep(step, 3, n).unwrap();
                    if n == 1 {
                        // Borders are up to date for measurements between sweeps, and for the sweeps after them.
                        let (a, b) = (divided.poll().unwrap(), one.poll().unwrap());
                        assert!(divided.ahead.is_none());
                        for (a, b) in a.iter().zip(&b) {
                            assert!((a.functional - b.functional).abs() < 1e-13, "{a:?} {b:?}");
                        }
                    }
                    let off = furthest(&divided, &one);
                    assert!(off < 1e-11, "{split:?} {f:?} {group:?} {step:?}: {off:e}");
                }
            }
        }
    }

    /// Sweeps of links in axial gauge lead to the same links as sweeps of the original ones, and measurements agree.
    #[test]
    fn axial_gauge_changes_nothing() {
        for (u, functional) in cases() {
            let (axial, links) = Axial::new(&u, functional).unwrap();
            for (precision, tolerance) in [(Precision::F64, 1e-11), (Precision::F32, 5e-3)] {
                for storage in [Recon::R8, Recon::R12] {
                    let mut plain = sweeper(&u, storage, precision, functional);
                    let g = axial.enter(plain.g.to(precision).unwrap()).unwrap();
                    let form = (storage, axial.mask());
                    let mut other = Sweeper::with_links(&links, form, g, functional).unwrap();
                    let qualities = |s: &mut Sweeper| {
                        let even = s.poll().unwrap();
                        s.quality(&even).unwrap()
                    };
                    for (n, omega) in [1.6, 1.0, 1.6].into_iter().enumerate() {
                        let [a, b] = [&mut plain, &mut other].map(qualities);
                        for (a, b) in a.iter().zip(&b) {
                            let (f, theta) = (a.functional - b.functional, a.theta - b.theta);
                            let bound = 0.1 * tolerance;
                            assert!(
                                f.abs() < bound && theta.abs() < bound * b.theta,
                                "{a:?} {b:?}"
                            );
                        }
                        for sweeper in [&mut plain, &mut other] {
                            sweeper.sweep(Step::Overrelax { omega }, 0, n).unwrap();
                        }
                    }
                    other.g = axial.back(other.g).unwrap();
                    let off = furthest(&plain, &other);
                    assert!(off > 0.0 && off < tolerance, "{functional:?} {precision:?}: {off:e}");
                }
            }
        }
    }

    /// Sweeps with links stored as eight numbers agree with those of twelve numbers, up to rounding.
    #[test]
    fn sweeps_are_those_of_other_storages_of_links() {
        for (u, functional) in cases() {
            for (precision, tolerance) in [(Precision::F64, 1e-11), (Precision::F32, 5e-3)] {
                let [mut short, mut long] =
                    [Recon::R8, Recon::R12].map(|r| sweeper(&u, r, precision, functional));
                for number in 0..3 {
                    for step in [Step::Overrelax { omega: 1.6 }, Step::Microcanonical] {
                        short.sweep(step, 0, number).unwrap();
                        long.sweep(step, 0, number).unwrap();
                    }
                }
                let off = furthest(&short, &long);
                assert!(off > 0.0 && off < tolerance, "{functional:?} {precision:?}: {off:e}");
                let [a, b] = [&mut short, &mut long].map(|s| {
                    let even = s.poll().unwrap();
                    s.quality(&even).unwrap()
                });
                for (a, b) in a.iter().zip(&b) {
                    let (f, theta) = (a.functional - b.functional, a.theta - b.theta);
                    let bound = 0.1 * tolerance;
                    assert!(f.abs() < bound && theta.abs() < bound * b.theta, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_that_the_tuner_tries_fit_into_a_whole_slice() {
        let kernel = KERNELS.iter().find(|k| k.name == "gauge_sweep").unwrap();
        for params in combinations(kernel.params) {
            for shape in candidates(kernel, &params) {
                assert_eq!(MAX_THREADS % shape.block as usize, 0, "{params:?} {shape:?}");
            }
        }
    }

    /// A whole sweep in one launch, as made on GPUs where it is faster, gives the same as one launch for each parity.
    #[test]
    fn whole_sweeps_are_two_halves() {
        let device = one_device();
        if device.is_cpu() {
            return println!("skipped: whole sweeps in one launch are a GPU's");
        }
        for (extents, lags) in [([16, 16, 16, 8], [2, 3, 8]), ([8, 16, 8, 4], [2, 3, 4])] {
            let geometry = Geometry::new(extents, &device).unwrap();
            for group in [Group::Su3, Group::Su2] {
                let recon = if group == Group::Su3 { Recon::R18 } else { Recon::Su2 };
                let mut u = GaugeField::new(&device, &geometry, Precision::F64, recon).unwrap();
                u.set_random(5).unwrap();
                let storage = sweep_storage(&device, group);
                for kind in [GAUGE_TRACE, GAUGE_ABELIAN, GAUGE_PHASES] {
                    for (precision, bound) in [(Precision::F64, 1e-11), (Precision::F32, 5e-3)] {
                        let f = Functional { kind, without: None };
                        let new = |lag| Sweeper { lag, ..sweeper(&u, storage, precision, f) };
                        let mut halves = new(0);
                        let mut whole = lags.map(new);
                        let relax = Step::Overrelax { omega: 1.6 };
                        let turn = Step::Stochastic { probability: 0.5 };
                        for (n, step) in [relax, relax, turn].into_iter().enumerate() {
                            halves.sweep(step, 3, n).unwrap();
                            for (sweeper, lag) in whole.iter_mut().zip(lags) {
                                sweeper.sweep(step, 3, n).unwrap();
                                let off = furthest(&halves, sweeper);
                                let what =
                                    format!("{extents:?} {group:?} {f:?} {precision:?} {step:?}");
                                assert!(off < bound, "{what} lag {lag}: {off:e}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Sites that wait for slices which are never changed give up, and the run reports it.
    #[test]
    fn whole_sweeps_do_not_wait_for_ever() {
        let device = one_device();
        if device.is_cpu() {
            return println!("skipped: whole sweeps in one launch are a GPU's");
        }
        let geometry = Geometry::new([16, 16, 16, 8], &device).unwrap();
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_random(5).unwrap();
        let f = Functional { kind: GAUGE_TRACE, without: None };
        let mut whole = Sweeper { lag: 2, ..sweeper(&u, Recon::R8, Precision::F32, f) };
        let relax = Step::Overrelax { omega: 1.6 };
        whole.sweep(relax, 3, 0).unwrap();
        whole.poll().unwrap();
        // Sites now wait for one site more than a slice has, which never comes.
        whole.args.target += 1;
        let start = std::time::Instant::now();
        whole.sweep(relax, 3, 1).unwrap();
        let error = whole.poll().unwrap_err();
        assert_eq!(error.status, Status::DeviceLost, "{error}");
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    /// Close to the limit of single precision, where rounded links of eight numbers hide half of the remaining
    /// violation, sweeps continue until the criterion is met in double precision.
    #[test]
    fn what_rounded_links_hide_is_no_convergence() {
        let device = one_device();
        let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_unit().unwrap();
        Quenched::new(6.0, 5).unwrap().run(&mut u, 20).unwrap();
        let mut hidden = 0.0;
        for condition in [
            Condition::Landau,
            Condition::Coulomb { time: 3 },
            Condition::MaximallyAbelian { residual: false },
        ] {
            for storage in [Recon::R8, Recon::R12] {
                // About 1.3 times the smallest theta that relaxation in single precision can reach.
                let stop = Stop { theta: 7e-13, theta_max: 0.0, change: 0.0 };
                let new = GaugeFixParams::new(condition);
                let precision = Working::Single;
                let params = GaugeFixParams { omega: 1.0, stop, precision, ..new };
                let mut seen = 0.0;
                let mut watch = |p: &Progress| {
                    seen = p.quality.theta;
                    false
                };
                let mut run = Run::new(&u, &params, &mut watch).unwrap();
                let g =
                    Transformation::unit(&device, &geometry, Precision::F32, u.group()).unwrap();
                let (axial, links) = Axial::new(&u, functional(condition)).unwrap();
                let form = (storage, axial.mask());
                let other = Sweeper::with_links(&links, form, g, functional(condition)).unwrap();
                run.single = Some(Updater::new(other));
                let (g, report) = run.copy(0).unwrap();
                drop(run);
                let said = report.total;
                let what = format!("{condition:?} {storage:?} {said:?}");
                assert!(said.converged && said.theta <= stop.theta, "{what}");
                // The reported quality must be that of the original links transformed by g.
                let mut all =
                    Sweeper::with_links(&u, (Recon::R12, 0), g, functional(condition)).unwrap();
                let even = all.poll().unwrap();
                let all = all.quality(&even).unwrap();
                let theta = all.iter().map(|q| q.theta).sum::<f64>() / all.len() as f64;
                assert!((theta - said.theta).abs() < 1e-4 * theta, "{what} {theta:e}");
                hidden = f64::max(hidden, 1.0 - seen / theta);
            }
        }
        assert!(hidden > 0.2, "nothing was hidden: {hidden}");
    }

    /// A sweep that measures gives the same links as one that does not, and measures the field after even and before
    /// odd sites have changed.
    #[test]
    fn what_a_sweep_sees_is_what_is_there() {
        for (u, functional) in cases() {
            let new = || sweeper(&u, Recon::R8, Precision::F64, functional);
            let (mut seeing, mut blind, mut half) = (new(), new(), new());
            for number in 0..2 {
                let step = Step::Overrelax { omega: 1.6 };
                let seen = seeing.sweep_seen(step, 0, number).unwrap();
                blind.sweep(step, 0, number).unwrap();
                assert!(furthest(&seeing, &blind) < 1e-12, "{functional:?}");
                half.prepare(step, 0, number, 0);
                half.half(0).unwrap();
                for (a, b) in seen.iter().zip(half.quality_of(1).unwrap()) {
                    let (f, theta) = (a.functional - b.functional, a.theta - b.theta);
                    assert!(f.abs() < 1e-13 && theta.abs() < 1e-12 * b.theta, "{a:?} {b:?}");
                    assert!((a.theta_max - b.theta_max).abs() < 1e-12 * b.theta_max);
                }
                half.half(1).unwrap();
            }
        }
    }

    /// Either parity gives the whole functional, since every link ends at one even and one odd site.
    #[test]
    fn either_parity_sees_the_whole_functional() {
        for (u, functional) in cases() {
            let mut sweeper = sweeper(&u, Recon::R8, Precision::F64, functional);
            sweeper.sweep(Step::Overrelax { omega: 1.6 }, 0, 0).unwrap();
            let [even, odd] = [0, 1].map(|p| sweeper.quality_of(p).unwrap());
            let all = sweeper.quality(&even).unwrap();
            assert_eq!(all.len(), sweeper.slices());
            for ((even, odd), all) in even.iter().zip(&odd).zip(&all) {
                assert!((even.functional - odd.functional).abs() < 1e-13, "{even:?} {odd:?}");
                // Odd sites, which a sweep changes last, have a smaller violation than even ones.
                assert!(odd.theta < even.theta, "{even:?} {odd:?}");
                assert!(all.theta >= 0.5 * even.theta && all.theta_max >= even.theta_max);
            }
            // Slices that are not active are not measured; a lattice without slices is always active.
            if sweeper.slices() == 1 {
                continue;
            }
            let mut active = vec![true; sweeper.slices()];
            active[0] = false;
            sweeper.activate(&active).unwrap();
            let some = sweeper.poll().unwrap();
            assert_eq!(some[0], Quality::default());
            assert_eq!(some[1..], even[1..]);
        }
    }
}
