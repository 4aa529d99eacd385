//! Gradient flow of quark fields (Luescher, JHEP 04 (2013) 123): d chi / dt = D^2 chi with the covariant Laplacian on
//! the flowed links, and its adjoint. With boundaries of the links in time chi = 0 at all flow times on the slices
//! where quarks vanish.

use std::ops::ControlFlow;
use std::time::Instant;

use num_complex::Complex64;

use super::flow::{Flow, FlowKind};
use super::observables::plaquette;
use crate::bail;
use crate::error::Result;
use crate::fields::{
    vanish, Components, GaugeField, Geometry, Group, Precision, Recon, Subset, VectorField,
};
use crate::operators::{laplacian_4d, Boundary};
use crate::params::{parameters, reports, Parameters};
use crate::refuse;

parameters! {
    /// A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D),
    /// or its adjoint.
    pub struct QuarkFlowParams: plaq_spinor_flow_params {
        /// Action whose gradient flows the links.
        kind: FlowKind = FlowKind::Wilson;
        /// Number of states of the links that the adjoint flow keeps, besides the first one; states between them are
        /// computed again; -1: as many as half of the free memory holds, at most 1000.
        checkpoints: Option<usize> = None, within(0, MAX_CHECKPOINTS);
        /// Step of the flow time; the last step ends at `time`. Above 0.157 the scheme is unstable.
        step: f64 = 0.01, above(0.0, MAX_STEP);
        /// Flow time t / a^2 at the end, starting with 0 for the given links. It must be set.
        time: f64 = f64::NAN, from(0.0, 1e6);
        /// Boundary phases in units of pi, for fields that do not carry their own: psi(x + L_mu) = exp(i pi
        /// boundary[mu]) psi(x). Options, TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        boundary: Boundary = Boundary::ANTIPERIODIC;
    }
}

impl Copy for QuarkFlowParams {}

impl QuarkFlowParams {
    /// Number of steps. A flow time that is a multiple of the step up to rounding has no tiny last step.
    pub fn steps(&self) -> f64 {
        ((self.time / self.step) - 1e-9).ceil().max(0.0)
    }
}

/// Largest number of states of the links that an adjoint flow keeps: with 1000, a flow of 500,000 steps computes none
/// of them more than three times.
const MAX_CHECKPOINTS: i64 = 1000;

/// Largest step for which the scheme is stable.
pub const MAX_STEP: f64 = 0.157;
/// Largest number of steps of a flow, and of link steps of an adjoint flow.
const MAX_STEPS: f64 = 1e6;
const MAX_LINK_STEPS: f64 = 1e7;

reports! {
    /// Report of a flow of quark fields, or of its adjoint.
    #[derive(Copy, Default)]
    pub struct QuarkFlowReport: plaq_spinor_flow_report {
        /// Flow time of the fields afterwards. Unless the flow was stopped it is that of the parameters, for an
        /// adjoint flow 0.
        time: f64;
        /// Number of steps of the quark fields.
        steps: u64;
        /// Number of steps of the links, including those that were computed again.
        link_steps: u64;
        /// Number of states of the links that the adjoint flow kept, besides the first one.
        checkpoints: u64;
        /// 1: the callback asked to stop.
        stopped: bool;
        /// Seconds that the flow took.
        seconds: f64;
    }
}

/// Callback after each step, in an adjoint flow also after steps of the links, with the number of steps of the quark
/// fields that are done; it may end the work.
pub type Watch<'a> = &'a mut dyn FnMut(usize) -> ControlFlow<()>;

/// Returns whether the callback of any rank asks to stop after `done` steps. All ranks call it.
fn stop_requested(
    geometry: &Geometry,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    done: usize,
) -> Result<bool> {
    let mut asked = [f64::from(u8::from(watch(done).is_break()))];
    geometry.comm().sum(&mut asked)?;
    Ok(asked[0] > 0.0)
}

/// A stage of a step of size e in the flow of quark fields: next = e factor D^2 now + identity now + before times the
/// field in the memory of next, where D has the links of this stage and the memory of next holds the field at the
/// start of the step or after its first stage. With D0, D1, D2 on the links of the three stages, phi1 = phi0 + e/4
/// D0^2 phi0, phi2 = 17/9 phi0 - 8/9 phi1 + 8/9 e D1^2 phi1, phi3 = phi1 + 3/4 e D2^2 phi2 (appendix D; the second
/// uses e D0^2 phi0 = 4 (phi1 - phi0)). The adjoint flow applies the stages' transposes in the opposite order, with
/// the same `factor` and `identity`, but with `before_adjoint`.
struct Stage {
    factor: f64,
    identity: f64,
    before: f64,
    before_adjoint: f64,
}

const STAGES: [Stage; 3] = [
    Stage { factor: 0.25, identity: 1.0, before: 0.0, before_adjoint: 17.0 / 9.0 },
    Stage { factor: 8.0 / 9.0, identity: -8.0 / 9.0, before: 17.0 / 9.0, before_adjoint: 1.0 },
    Stage { factor: 0.75, identity: 0.0, before: 1.0, before_adjoint: 0.0 },
];

/// A field of the same shape as the flowing one, and its boundary phases.
struct Fields {
    next: VectorField,
    boundary: [Complex64; 4],
}

impl Fields {
    /// Computes one stage of a step of the flow from the links at that stage: afterwards `psi` holds the new field and
    /// `next` the old one. Both are zero where quarks vanish.
    fn stage(
        &mut self,
        psi: &mut VectorField,
        links: &GaugeField,
        (step, stage, before): (f64, &Stage, f64),
    ) -> Result<()> {
        let coefficients = [step * stage.factor, stage.identity, before];
        laplacian_4d(links, &self.boundary, &mut self.next, psi, coefficients)?;
        std::mem::swap(psi, &mut self.next);
        vanish(psi, links.geometry().boundary())
    }
}

/// The fields of a flow of quark fields together with links.
pub struct QuarkFlow {
    fields: Fields,
    links: Flow,
}

impl QuarkFlow {
    /// Makes the fields for the flow of `psi` with these boundary phases, and SU(3) links stored whole in the precision
    /// of `psi`, which is set to zero where quarks vanish.
    ///
    /// # Errors
    /// `Unsupported`, `FieldMismatch`: fields that do not fit; `NotFinite`: links that are not finite; `OutOfMemory`.
    pub fn new(
        psi: &mut VectorField,
        links: &GaugeField,
        kind: FlowKind,
        boundary: [Complex64; 4],
    ) -> Result<Self> {
        check_fields(psi, links)?;
        let next = psi.like(psi.precision())?;
        let flow = QuarkFlow { fields: Fields { next, boundary }, links: Flow::new(links, kind)? };
        vanish(psi, links.geometry().boundary())?;
        Ok(flow)
    }

    /// Makes one step of every column of `psi` and of the links.
    pub fn step(&mut self, psi: &mut VectorField, links: &mut GaugeField, step: f64) -> Result<()> {
        for (k, stage) in STAGES.iter().enumerate() {
            self.fields.stage(psi, links, (step, stage, stage.before))?;
            self.links.stage(links, k, step)?;
        }
        Ok(())
    }
}

/// Flows every column of `psi` (spinors or colour vectors on both parities, double or single precision) from these
/// links to the flow time of `params`. Returns the flowed links, in the precision of `psi`, and a report. If the input
/// is refused, `psi` is unchanged; if `watch` stops the flow, `psi` and the links are at the flow time that was
/// reached.
///
/// # Errors
/// `BadParameter`: parameters out of range or more than a million steps; those of [`QuarkFlow::new`].
pub fn flow(
    psi: &mut VectorField,
    gauge: &GaugeField,
    params: &QuarkFlowParams,
    watch: Watch,
) -> Result<(GaugeField, QuarkFlowReport)> {
    let since = Instant::now();
    let steps = steps_of(params)?;
    check_fields(psi, gauge)?;
    let mut links = gauge.to(psi.precision(), Recon::R18)?;
    let mut both = QuarkFlow::new(psi, &links, params.kind, params.boundary.phases())?;
    let (mut report, geometry) = (QuarkFlowReport::default(), gauge.geometry());
    for (k, &step) in steps.iter().enumerate() {
        both.step(psi, &mut links, step)?;
        report.steps += 1;
        report.stopped = stop_requested(geometry, watch, k + 1)?;
        if report.stopped {
            break;
        }
    }
    links.reunitarise()?;
    links.belongs_to(gauge);
    let done = report.steps as usize;
    report.time = if done == steps.len() { params.time } else { steps[..done].iter().sum() };
    report.link_steps = report.steps;
    report.seconds = since.elapsed().as_secs_f64();
    Ok((links, report))
}

/// Applies the adjoint of [`flow`] from the same links and with the same parameters to every column of `psi`, which
/// is a field at the flow time `params.time`: the result is one at time 0 with <phi, K chi> = <K^dagger phi, chi> to
/// rounding. Links of the steps are computed again from states that are kept. Where `watch` stops it, the field is
/// that of the adjoint of the flow from the time that was reached.
///
/// # Errors
/// Errors of [`flow`].
pub fn adjoint_flow(
    psi: &mut VectorField,
    gauge: &GaugeField,
    params: &QuarkFlowParams,
    watch: Watch,
) -> Result<QuarkFlowReport> {
    let (steps, how) = (steps_of(params)?, (params.kind, params.boundary.phases()));
    adjoint_of_steps(psi, gauge, how, steps, params.checkpoints, watch)
}

/// Applies the adjoint of a flow with steps of the sizes `steps`, from time 0 on.
///
/// # Errors
/// Errors of [`QuarkFlow::new`].
pub fn adjoint_of_steps(
    psi: &mut VectorField,
    gauge: &GaugeField,
    (kind, boundary): (FlowKind, [Complex64; 4]),
    steps: Vec<f64>,
    checkpoints: Option<usize>,
    watch: Watch,
) -> Result<QuarkFlowReport> {
    let since = Instant::now();
    check_fields(psi, gauge)?;
    let precision = psi.precision();
    let copy = || gauge.to(precision, Recon::R18);
    let start = copy()?;
    let (links, stages) = (copy()?, [copy()?, copy()?]);
    let flow = Flow::new(&start, kind)?;
    let fields = Fields { next: psi.like(psi.precision())?, boundary };
    let kept = match checkpoints {
        None => affordable(&start, steps.len())?,
        Some(n) => n.min(MAX_CHECKPOINTS as usize).min(steps.len().saturating_sub(1)),
    };
    let work = repeats(steps.len(), kept) as f64 * steps.len() as f64;
    if work > MAX_LINK_STEPS {
        refuse!(
            BadParameter,
            "checkpoints",
            expected(
                "as many as let {} steps take at most {MAX_LINK_STEPS} of the links",
                steps.len()
            ),
            found("{kept}: about {work:e}")
        );
    }
    let report = QuarkFlowReport { checkpoints: kept as u64, ..Default::default() };
    let spare = Vec::with_capacity(kept);
    let mut back = AdjointFlow { psi, fields, flow, steps, links, stages, spare, watch, report };
    // Allocating so many fields takes a while, so that requests to stop are looked for in between.
    while back.spare.len() < kept && !back.stops()? {
        back.spare.push(copy()?);
    }
    vanish(back.psi, start.geometry().boundary())?;
    back.all(&start, 0, back.steps.len())?;
    let left = back.steps.len() - back.report.steps as usize;
    let (time, seconds) = (back.steps[..left].iter().sum(), since.elapsed().as_secs_f64());
    Ok(QuarkFlowReport { time, seconds, ..back.report })
}

/// The number of states of the links that fit in half of the free memory, the smallest over all ranks, and at most as
/// many as `steps` steps can use.
fn affordable(links: &GaugeField, steps: usize) -> Result<usize> {
    let (geometry, precision) = (links.geometry(), links.precision());
    let bytes = GaugeField::bytes(geometry, precision, Recon::R18).max(1) as u64;
    let (free, _) = links.device().memory()?;
    let mine = (free / 2 / bytes).min(MAX_CHECKPOINTS as u64);
    let mut negated = [-(mine as f64)];
    geometry.comm().max(&mut negated)?;
    Ok((-negated[0] as usize).min(steps.saturating_sub(1)))
}

/// Applies the adjoints of the steps of a flow in reverse order.
struct AdjointFlow<'a> {
    psi: &'a mut VectorField,
    fields: Fields,
    flow: Flow,
    steps: Vec<f64>,
    /// The links at the time that their flow has reached.
    links: GaugeField,
    /// The links at the first and the second stage of a step.
    stages: [GaugeField; 2],
    /// Fields of links in which further states can be kept.
    spare: Vec<GaugeField>,
    watch: Watch<'a>,
    report: QuarkFlowReport,
}

impl AdjointFlow<'_> {
    /// Applies the adjoints of steps `first` to `last` - 1 in reverse order; `start` are the links before step
    /// `first`.
    fn all(&mut self, start: &GaugeField, first: usize, last: usize) -> Result<()> {
        let mut last = last;
        while last > first && !self.report.stopped {
            let ahead = ahead(last - first, self.spare.len());
            self.links.copy_raw(start)?;
            for k in first..first + ahead {
                self.flow.step(&mut self.links, self.steps[k])?;
                self.report.link_steps += 1;
                if self.stops()? {
                    return Ok(());
                }
            }
            match self.spare.pop() {
                Some(mut kept) if last - first - ahead > 1 => {
                    kept.copy_raw(&self.links)?;
                    let done = self.all(&kept, first + ahead, last);
                    self.spare.push(kept);
                    done?;
                }
                unused => {
                    self.spare.extend(unused);
                    self.one(self.steps[first + ahead])?;
                }
            }
            last = first + ahead;
        }
        Ok(())
    }

    /// Applies the adjoint of one step of size `step` to the quark fields; `links` are the links before the step.
    fn one(&mut self, step: f64) -> Result<()> {
        for (k, before) in self.stages.iter_mut().enumerate() {
            before.copy_raw(&self.links)?;
            self.flow.stage(&mut self.links, k, step)?;
        }
        let [first, second] = &self.stages;
        for (stage, links) in STAGES.iter().zip([first, second, &self.links]).rev() {
            self.fields.stage(self.psi, links, (step, stage, stage.before_adjoint))?;
        }
        self.report.steps += 1;
        self.stops().map(|_| ())
    }

    fn stops(&mut self) -> Result<bool> {
        let done = self.report.steps as usize;
        self.report.stopped = stop_requested(self.links.geometry(), self.watch, done)?;
        Ok(self.report.stopped)
    }
}

/// Largest number of steps that can be reversed with `states` stored states if no step is computed more than r times:
/// C(states + r, r).
fn max_steps(states: usize, r: usize) -> usize {
    (1..=r).fold(1, |c: usize, k| (c.saturating_mul(states + k) / k).min(usize::MAX / 4))
}

/// Largest number of times that one of `n` steps is computed in the reverse order, with memory for `spare` states.
fn repeats(n: usize, spare: usize) -> usize {
    if spare == 0 {
        return n.saturating_sub(1).max(1);
    }
    (1..).find(|&r| max_steps(spare + 1, r) >= n).unwrap_or(1)
}

/// Number of steps after which the next state of the links is kept, when `n` steps are reversed with memory for
/// `spare` states (Griewank, Walther, ACM Trans. Math. Softw. 26 (2000) 19); this makes the total number of steps of
/// the links smallest. 0: only the last step remains.
fn ahead(n: usize, spare: usize) -> usize {
    if n <= 1 {
        return 0;
    }
    let (states, repeats) = (spare + 1, repeats(n, spare));
    let least = n.saturating_sub(max_steps(spare, repeats));
    least.max(if repeats > 1 { max_steps(states, repeats - 2) } else { 1 })
}

/// The sizes of the steps of a flow; the last step ends at its time.
fn steps_of(params: &QuarkFlowParams) -> Result<Vec<f64>> {
    params.check_rows("flow")?;
    let n = params.steps();
    if n > MAX_STEPS {
        refuse!(
            BadParameter,
            "flow",
            expected("a time of at most {MAX_STEPS} steps"),
            found("{n}: take larger ones")
        );
    }
    let mut steps = vec![params.step; n as usize];
    if let Some(last) = steps.last_mut() {
        *last = params.time - (n - 1.0) * params.step;
    }
    Ok(steps)
}

/// Refuses quark fields and links of different lattices, devices or precisions, or in forms that cannot flow.
fn check_fields(psi: &VectorField, gauge: &GaugeField) -> Result<()> {
    let fits = psi.components() == Components::SPINOR || psi.components() == Components::COLOUR;
    if !fits || psi.subset() != Subset::Full || psi.precision() == Precision::F16 {
        let (components, precision, subset) = (psi.components(), psi.precision(), psi.subset());
        refuse!(
            Unsupported,
            "spinor",
            expected("spinors or colour vectors on both parities in double or single precision"),
            found("{components} in {precision} on {subset:?}")
        );
    }
    if gauge.group() != Group::Su3 {
        refuse!(Unsupported, "gauge", expected("SU(3) links"), found("{}", gauge.recon()));
    }
    if gauge.geometry() != psi.geometry() || gauge.device() != psi.device() {
        refuse!(
            FieldMismatch,
            "gauge",
            expected(
                "links of the lattice and device of the field, {:?}",
                psi.geometry().global_extents()
            ),
            found("{:?}", gauge.geometry().global_extents())
        );
    }
    if !plaquette(gauge)?.total.is_finite() {
        bail!(NotFinite, "gauge: a link is not finite");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ahead;

    /// Number of steps of the links that the adjoint of `n` steps takes.
    fn work(n: usize, spare: usize) -> usize {
        let (mut last, mut sum) = (n, 0);
        while last > 0 {
            let m = ahead(last, spare);
            sum += m;
            if last - m > 1 {
                sum += work(last - m, spare - 1);
            }
            last = m;
        }
        sum
    }

    #[test]
    fn no_other_choice_of_states_takes_fewer_steps() {
        const N: usize = 60;
        let mut least = vec![vec![0usize; N + 1]; 8];
        for s in 0..8 {
            for n in 2..=N {
                least[s][n] = if s == 0 {
                    n * (n - 1) / 2
                } else {
                    (1..n).map(|m| m + least[s - 1][n - m] + least[s][m]).min().unwrap()
                };
                assert_eq!(work(n, s), least[s][n], "{n} steps, {s} states");
            }
        }
        assert_eq!(work(50, 49), 49);
    }
}
