//! Trajectories of HMC and cycles of stochastic molecular dynamics: heat bath, integration, acceptance.

use std::sync::Arc;
use std::time::Instant;

use super::integrator::{steps_of, Level, Step};
use super::smd::{self, Cycle, Smd, StateField};
use super::{random, ChainPosition, Monomial, MonomialReport, Stream, TrajectoryReport};
use crate::backend::{Device, KeptMemory};
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Geometry, Momenta, Precision, Recon};
use crate::ops::observables::plaquette;
use crate::params::{hint, Key};
use crate::refuse;

/// Parameters of the trajectories of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct HmcParams {
    /// Length of a trajectory in the molecular-dynamics time of [`Momenta`].
    pub length: f64,
    /// Time scales, the outermost first.
    pub levels: Vec<Level>,
    pub seed: u64,
    /// Number of the next trajectory, which is its place in the random streams.
    pub trajectory: u32,
    /// Trajectories with lower numbers are accepted whatever their Delta H: during thermalisation the quantities that
    /// monomials measure are adjusted to the links.
    pub accept_until: u32,
    /// Number of trajectories between checks of reversibility; 0: no checks.
    pub reversibility_every: u32,
    /// Parameters of stochastic molecular dynamics, of which trajectories are cycles; None: hybrid Monte Carlo.
    pub smd: Option<Smd>,
}

/// A Markov chain of trajectories (Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195 (1987) 216): action,
/// integrator, and the fields beside the links.
pub struct Hmc {
    params: HmcParams,
    steps: Vec<Step>,
    monomials: Vec<Box<dyn Monomial>>,
    /// Numbers of the monomials that belong to each level.
    of_level: Vec<Vec<usize>>,
    momenta: Momenta,
    /// The links at the start of the trajectory.
    start: GaugeField,
    /// Force and links for updates of momenta at shifted links; None: the integrator has none.
    shift: Option<(Momenta, GaugeField)>,
    /// The momenta and pseudofermions before the rotation, for stochastic molecular dynamics.
    cycle: Option<Cycle>,
    /// True if the first trajectory has been rehearsed.
    announced: bool,
    /// Keeps memory that every trajectory allocates and frees.
    _kept: KeptMemory,
}

/// A chain in a rehearsal, with its monomials and for each whether its forces are computed.
struct StandIn {
    links: GaugeField,
    start: GaugeField,
    momenta: Momenta,
    shift: Option<(Momenta, GaugeField)>,
    /// Momenta before the rotation of a cycle, for stochastic molecular dynamics.
    before: Option<Momenta>,
    monomials: Vec<(Box<dyn Monomial>, bool)>,
}

impl StandIn {
    /// Launches, in a rehearsal, all kernels that a trajectory launches. Errors are ignored: a rehearsal computes
    /// nothing, and its sums are arbitrary.
    fn run(&mut self, params: &HmcParams) {
        let StandIn { links, start, momenta, shift, before, monomials } = self;
        let mut rotated = vec![];
        let stream = Stream { seed: params.seed, trajectory: params.trajectory };
        let _ = momenta.set_gaussian(stream.seed, stream.trajectory);
        let _ = momenta.kinetic();
        for (m, _) in &mut *monomials {
            m.restart();
            let _ = m.refresh(links, stream);
            if let (Some(before), Some(Some(phi))) = (&before, m.pseudofermions()) {
                let _ = momenta.add(1.0, 1.0, before);
                if let Ok(old) = phi.like(phi.precision()) {
                    let _ = smd::rotate(phi, &old, [1.0; 2]);
                    rotated.push(old);
                }
            }
            let _ = m.action(links);
        }
        if let Some((force, shifted)) = shift {
            let _ = shifted.evolve(force, 1.0);
        }
        for (m, forces) in monomials {
            // The second force starts from a guess, and has its own links.
            for _ in 0..if *forces { 2 } else { 0 } {
                let _ = links.evolve(momenta, 1.0);
                let _ = m.kick(links, momenta, 1.0);
            }
            // The action's memory is needed in addition to the guesses that are kept for further forces.
            let _ = links.evolve(momenta, 1.0);
            let _ = m.action(links);
            let _ = m.check(links, stream);
        }
        if params.reversibility_every > 0 {
            let _ = momenta.scale(-1.0);
            let _ = links.distance(start);
        }
        let _ = links.reunitarise();
        let _ = plaquette(links);
    }
}

impl Hmc {
    /// Bytes of momenta and copies of links that a chain holds besides its monomials.
    pub fn bytes(geometry: &Geometry, precision: Precision, params: &HmcParams) -> Result<usize> {
        let (links, p) = (
            GaugeField::bytes(geometry, precision, Recon::R18),
            Momenta::bytes(geometry, precision),
        );
        let shifted = shifts(&steps_of(&params.levels, params.length)?);
        let before = if params.smd.is_some() { p } else { 0 };
        Ok((links + p) * if shifted { 2 } else { 1 } + before)
    }

    /// A chain for links in this precision (double; single for experiments), stored as R18.
    ///
    /// # Errors
    /// `BadParameter`: an integrator that is not possible; a name of a monomial that appears twice, at no level or at
    /// two levels; a level with a name that no monomial has.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        monomials: Vec<Box<dyn Monomial>>,
        params: HmcParams,
    ) -> Result<Self> {
        let names: Vec<&str> = monomials.iter().map(|m| m.name()).collect();
        let (steps, of_level) = places(&params, &names)?;
        monomials.iter().try_for_each(|m| m.check_time_boundary(geometry.boundary()))?;
        let links = || GaugeField::new(device, geometry, precision, Recon::R18);
        let momenta = || Momenta::new(device, geometry, precision);
        Ok(Hmc {
            shift: if shifts(&steps) { Some((momenta()?, links()?)) } else { None },
            steps,
            monomials,
            of_level,
            cycle: params.smd.map(|_| momenta().map(Cycle::new)).transpose()?,
            momenta: momenta()?,
            start: links()?,
            params,
            announced: false,
            _kept: device.keep_memory(),
        })
    }

    /// Refuses what [`Hmc::new`] refuses for monomials of these names, except for missing memory.
    pub fn check(params: &HmcParams, names: &[&str]) -> Result<()> {
        places(params, names).map(|_| ())
    }

    pub fn params(&self) -> &HmcParams {
        &self.params
    }
    /// The list of steps of a trajectory.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
    /// Names of the monomials in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.monomials.iter().map(|m| m.name())
    }
    pub fn momenta(&self) -> &Momenta {
        &self.momenta
    }
    /// Number of the next trajectory.
    pub fn trajectory(&self) -> u32 {
        self.params.trajectory
    }
    /// The state of the chain, for a checkpoint.
    pub fn place(&self) -> ChainPosition {
        let measured = self.monomials.iter().filter_map(|m| Some((m.name().into(), m.measured()?)));
        let HmcParams { seed, trajectory, .. } = self.params;
        ChainPosition { next: Stream { seed, trajectory }, measured: measured.collect() }
    }
    /// Continues from the state of another chain, as a checkpoint stores it.
    ///
    /// # Errors
    /// `BadParameter`: an interval that is not possible; the chain is then as it was.
    pub fn resume(&mut self, place: &ChainPosition) -> Result<()> {
        let before = self.place();
        let done = self.take_measured(place);
        if done.is_err() {
            self.take_measured(&before)?;
        } else {
            self.set_place(place.next.seed, place.next.trajectory);
        }
        done
    }
    fn take_measured(&mut self, place: &ChainPosition) -> Result<()> {
        self.monomials
            .iter_mut()
            .try_for_each(|m| m.set_measured(place.measured.get(m.name()).copied()))
    }
    /// Sets the seed and the number of the next trajectory, which select random numbers.
    pub fn set_place(&mut self, seed: u64, trajectory: u32) {
        (self.params.seed, self.params.trajectory) = (seed, trajectory);
    }

    /// Largest number of bytes of device memory that trajectories take besides what the chain holds, found by a
    /// rehearsal.
    ///
    /// # Errors
    /// Errors of trajectories that do not depend on numbers.
    pub fn memory(&self, gauge: &GaugeField) -> Result<u64> {
        self.run_through(&gauge.device().stand_in(), gauge, false)
    }

    /// Runs one trajectory; the first one is refused if its memory does not fit. After an error (a solver that does
    /// not converge, a spectrum outside of its interval, NaN, a lost device) the links and the place in the sequence
    /// of random numbers are those before it.
    pub fn run(&mut self, gauge: &mut GaugeField) -> Result<TrajectoryReport> {
        if gauge.geometry() != self.momenta.geometry() || gauge.device() != self.momenta.device() {
            bail!(FieldMismatch, "hmc: the links live on another lattice or device");
        }
        self.momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        let (expected, precision, recon) =
            (self.start.precision(), gauge.precision(), gauge.recon());
        if (precision, recon) != (expected, Recon::R18) {
            refuse!(
                Unsupported,
                "hmc",
                expected("{expected} links stored as PLAQ_STORAGE_SU3_18"),
                found("{precision} links stored as {recon}")
            );
        }
        if !self.announced {
            let fits = self.memory(gauge);
            let fits = fits.and_then(|bytes| gauge.device().require(bytes, "a trajectory"));
            gauge.geometry().comm().agree(fits)?;
            let (device, key) = (gauge.device(), self.key(gauge));
            gauge
                .geometry()
                .precompile(device, None, false, key, |dry| self.run_through(dry, gauge, true));
            self.announced = true;
        }
        self.start.copy_raw(gauge)?;
        if let Some(cycle) = &mut self.cycle {
            cycle.store_previous(&self.momenta, &mut self.monomials)?;
        }
        let done = self.attempt(gauge);
        match &done {
            Ok(report) if report.accepted => {}
            _ => gauge.copy_raw(&self.start)?,
        }
        self.end_cycle(done.as_ref().ok().map(|report| report.accepted))?;
        let report = done?;
        self.params.trajectory = self.params.trajectory.wrapping_add(1);
        Ok(report)
    }

    /// Identifies the random numbers of the present trajectory.
    fn stream(&self) -> Stream {
        Stream { seed: self.params.seed, trajectory: self.params.trajectory }
    }

    /// The factors of the rotation; in hybrid Monte Carlo [0, 1], as nothing of the present fields is kept.
    fn factors(&self) -> [f64; 2] {
        self.params.smd.map_or([0.0, 1.0], |smd| smd.factors(self.params.length))
    }

    /// Draws the momenta of a trajectory, in stochastic molecular dynamics by rotating the present ones.
    fn draw_momenta(&mut self) -> Result<()> {
        let (stream, by) = (self.stream(), self.factors());
        match &self.cycle {
            Some(cycle) => cycle.draw(&mut self.momenta, stream, by),
            None => self.momenta.set_gaussian(stream.seed, stream.trajectory),
        }
    }

    /// Sets momenta and pseudofermions for the next cycle after one was accepted or rejected; after a failure (None)
    /// restores those from before.
    fn end_cycle(&mut self, accepted: Option<bool>) -> Result<()> {
        let (stream, by) = (self.stream(), self.factors());
        let (Some(cycle), Some(smd)) = (&mut self.cycle, self.params.smd) else { return Ok(()) };
        match accepted {
            Some(true) => cycle.accept(),
            Some(false) => cycle.reject(&mut self.momenta, stream, smd.rejection, by)?,
            None => cycle.restore(&mut self.momenta, &mut self.monomials)?,
        }
        Ok(())
    }

    /// The fields, besides links, in a checkpoint of this chain: momenta and pseudofermions of stochastic molecular
    /// dynamics, empty before the first cycle.
    pub(super) fn state(&self) -> Result<Vec<StateField>> {
        match &self.cycle {
            Some(cycle) if cycle.has_previous() => smd::state(&self.momenta, &self.monomials),
            Some(cycle) => Ok(cycle.waiting().to_vec()),
            None => Ok(vec![]),
        }
    }

    /// Continues with the fields of a checkpoint.
    pub(super) fn set_state(&mut self, fields: Vec<StateField>) {
        if let Some(cycle) = &mut self.cycle {
            cycle.load(fields);
        }
    }

    /// A key that identifies everything on which the choice of a trajectory's kernels depends.
    fn key(&self, gauge: &GaugeField) -> Key {
        let terms: Vec<Key> = self.monomials.iter().map(|m| m.key()).collect();
        let place = (gauge.geometry().extents(), gauge.precision(), self.shift.is_some());
        let reversible = self.params.reversibility_every > 0;
        Key::of(("trajectory", place, reversible, terms))
    }

    /// Rehearses trajectories of an equal chain on a device without memory. With `compiled` its kernels are compiled;
    /// forces whose kernels are not known yet are left out.
    pub(crate) fn run_through(
        &self,
        device: &Device,
        gauge: &GaugeField,
        compiled: bool,
    ) -> Result<u64> {
        let geometry = gauge.geometry();
        let known = |m: &dyn Monomial| !compiled || m.knows_its_force();
        let there = || {
            let (precision, mut monomials) = (gauge.precision(), vec![]);
            for m in &self.monomials {
                monomials.extend(m.like_on(device)?.map(|like| (like, known(&**m))));
            }
            let links = || GaugeField::new(device, geometry, precision, Recon::R18);
            let momenta = || Momenta::new(device, geometry, precision);
            let both = || -> Result<_> { Ok((momenta()?, links()?)) };
            let shift = self.shift.as_ref().map(|_| both()).transpose()?;
            let before = self.cycle.as_ref().map(|_| momenta()).transpose()?;
            let (links, start, momenta) = (links()?, links()?, momenta()?);
            let mut chain = StandIn { links, start, momenta, shift, before, monomials };
            // Earlier trajectories have left their buffers allocated.
            if self.announced && !compiled {
                chain.run(&self.params);
            }
            Ok(chain)
        };
        let work = |mut chain: StandIn| {
            // In the second trajectory all monomials have allocated the fields that they keep.
            (0..2).for_each(|_| chain.run(&self.params));
            Ok(chain)
        };
        let both = (gauge.device(), device);
        Ok(geometry.footprint(both, None, there, work)?.1)
    }

    fn attempt(&mut self, gauge: &mut GaugeField) -> Result<TrajectoryReport> {
        let begin = Instant::now();
        let (seed, trajectory) = (self.params.seed, self.params.trajectory);
        let (stream, by) = (self.stream(), self.factors());
        let mut report = TrajectoryReport { trajectory, ..Default::default() };
        report.monomials = self
            .monomials
            .iter()
            .map(|m| MonomialReport { name: m.name().to_string(), ..Default::default() })
            .collect();
        self.draw_momenta()?;
        let until = self.params.accept_until;
        // The interval is also measured anew with the first links after `until`.
        let anew = until > 0 && trajectory <= until;
        for (k, (m, r)) in self.monomials.iter_mut().zip(&mut report.monomials).enumerate() {
            let since = Instant::now();
            m.restart();
            m.solves();
            if anew {
                m.set_measured(None)?;
            }
            m.refresh(gauge, stream)?;
            if let Some(cycle) = &mut self.cycle {
                cycle.rotate(k, &mut **m, by)?;
            }
            r.seconds += since.elapsed().as_secs_f64();
        }
        let before = self.hamiltonian(gauge, &mut report, 0)?;
        let every = self.params.reversibility_every;
        if every > 0 && trajectory % every == 0 {
            let [links, hamiltonian] = self.check_reversibility(gauge, before)?;
            report.reversibility_links = Some(links);
            report.reversibility_hamiltonian = Some(hamiltonian);
            gauge.copy_raw(&self.start)?;
            self.draw_momenta()?;
            self.monomials.iter_mut().for_each(|m| m.restart());
        }
        self.integrate(gauge, Some(&mut report))?;
        report.correction = gauge.reunitarise()?;
        for (m, r) in self.monomials.iter_mut().zip(&mut report.monomials) {
            let since = Instant::now();
            // If the next trajectory measures the interval anew, the present one need not contain the spectrum.
            if trajectory >= until || m.measured().is_none() {
                m.check(gauge, stream)?;
            }
            r.seconds += since.elapsed().as_secs_f64();
        }
        let after = self.hamiltonian(gauge, &mut report, 1)?;
        // Differences are taken term by term, since the sums of all terms are larger and would be rounded more.
        let terms = report.monomials.iter().map(|m| m.action_end - m.action_start);
        report.delta_h = report.kinetic_end - report.kinetic_start + terms.sum::<f64>();
        if !report.delta_h.is_finite() || !before.is_finite() || !after.is_finite() {
            bail!(
                NotFinite,
                "trajectory {trajectory}: H is {before} at its start, {after} at its end"
            );
        }
        let draw = random::uniform(seed, trajectory);
        report.accepted = trajectory < self.params.accept_until || draw < (-report.delta_h).exp();
        // This runs before the end of the trajectory, since a failure after acceptance would leave changed links.
        let left = if report.accepted { &*gauge } else { &self.start };
        report.plaquette = plaquette(left)?.total;
        let iterations = report.monomials.iter().map(|m| m.force_iterations + m.action_iterations);
        report.iterations = iterations.sum();
        report.seconds = begin.elapsed().as_secs_f64();
        Ok(report)
    }

    fn hamiltonian(
        &mut self,
        gauge: &GaugeField,
        report: &mut TrajectoryReport,
        end: usize,
    ) -> Result<f64> {
        let mut sum = self.momenta.kinetic()?;
        *[&mut report.kinetic_start, &mut report.kinetic_end][end] = sum;
        for (m, r) in self.monomials.iter_mut().zip(&mut report.monomials) {
            let since = Instant::now();
            let action = m.action(gauge)?;
            *[&mut r.action_start, &mut r.action_end][end] = action;
            let solves = m.solves();
            r.action_iterations += solves.iterations;
            r.solve_seconds += solves.seconds;
            r.seconds += since.elapsed().as_secs_f64();
            sum += action;
        }
        Ok(sum)
    }

    /// Integrates the equations of motion once through the list of steps.
    fn integrate(
        &mut self,
        gauge: &mut GaugeField,
        mut report: Option<&mut TrajectoryReport>,
    ) -> Result<()> {
        let steps = std::mem::take(&mut self.steps);
        let done = steps.iter().try_for_each(|step| self.step(gauge, *step, report.as_deref_mut()));
        self.steps = steps;
        done?;
        for r in report.into_iter().flat_map(|r| &mut r.monomials) {
            r.rms /= r.kicks.max(1) as f64;
        }
        Ok(())
    }

    fn step(
        &mut self,
        gauge: &mut GaugeField,
        step: Step,
        mut report: Option<&mut TrajectoryReport>,
    ) -> Result<()> {
        let Hmc { monomials, of_level, momenta, shift, .. } = self;
        let mut kick = |level: usize, gauge: &GaugeField, p: &mut Momenta, time: f64| {
            for &k in &of_level[level] {
                let since = Instant::now();
                let force = monomials[k].kick(gauge, p, time)?;
                if !(force.rms.is_finite() && force.max.is_finite()) {
                    let name = monomials[k].name();
                    bail!(NotFinite, "the force of {name} is not finite");
                }
                if let Some(report) = report.as_deref_mut() {
                    report.monomials[k].count(&force, since.elapsed().as_secs_f64());
                }
            }
            Ok(())
        };
        match step {
            Step::Links(time) => gauge.evolve(momenta, time),
            Step::Kick { level, time } => kick(level, gauge, momenta, time),
            Step::ShiftedKick { level, time, shift: by } => {
                let Some((force, links)) = shift else {
                    bail!(Internal, "hmc: no fields for shifted links");
                };
                force.clear()?;
                kick(level, gauge, force, 1.0)?;
                links.copy_raw(gauge)?;
                links.evolve(force, by)?;
                kick(level, links, momenta, time)
            }
        }
    }

    /// Integrates forward and back; returns the largest difference of a matrix entry of a link, and the modulus of the
    /// difference of H from its value `before`.
    fn check_reversibility(&mut self, gauge: &mut GaugeField, before: f64) -> Result<[f64; 2]> {
        self.integrate(gauge, None)?;
        self.momenta.scale(-1.0)?;
        self.integrate(gauge, None)?;
        let mut there = TrajectoryReport {
            monomials: vec![MonomialReport::default(); self.monomials.len()],
            ..Default::default()
        };
        let links = gauge.distance(&self.start)?;
        let hamiltonian = (self.hamiltonian(gauge, &mut there, 1)? - before).abs();
        Ok([links, hamiltonian])
    }
}

/// The list of steps, and for each level the numbers of its monomials.
fn places(params: &HmcParams, names: &[&str]) -> Result<(Vec<Step>, Vec<Vec<usize>>)> {
    let steps = steps_of(&params.levels, params.length)?;
    let place = |name: &String| match names.iter().position(|n| n == name) {
        Some(found) => Ok(found),
        None => refuse!(
            BadParameter,
            "integrator",
            expected("monomials among {}", names.join(", ")),
            found("{name}"),
            hint("{}", hint(name, names.iter().copied()))
        ),
    };
    let of = |level: &Level| level.monomials.iter().map(place).collect::<Result<Vec<usize>>>();
    let of_level = params.levels.iter().map(of).collect::<Result<Vec<_>>>()?;
    for (k, name) in names.iter().enumerate() {
        if names[..k].contains(name) {
            bail!(BadParameter, "action: two monomials are called {name}");
        }
        match of_level.iter().flatten().filter(|&&n| n == k).count() {
            1 => {}
            0 => bail!(
                BadParameter,
                sentence("integrator: monomial {name} stands at no level"),
                hint("name it among the monomials of one")
            ),
            n => refuse!(
                BadParameter,
                "integrator: monomial {name}",
                expected("at one level"),
                found("at {n}")
            ),
        }
    }
    Ok((steps, of_level))
}

fn shifts(steps: &[Step]) -> bool {
    steps.iter().any(|s| matches!(s, Step::ShiftedKick { .. }))
}
