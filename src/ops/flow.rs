//! Gradient flow of SU(3) links (Luescher, JHEP 08 (2010) 071): V' = i p V with p = -F of an action at
//! beta = 6, which is -g0^2 dS/dV for every coupling.

use std::ops::ControlFlow;

use super::hmc::gauge_action::{
    AtBounds, GaugeCoefficients, GaugeForce, LinkAction, TREE_LEVEL_SYMANZIK,
};
use super::observables::{field_strength, plaquette};
use crate::backend::args::ForceArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::{significant, Result};
use crate::fields::{GaugeField, Momenta, Precision, Recon};
use crate::params::{choices, parameters, reports, Parameters};
use crate::refuse;

choices! {
    /// Actions whose gradient generates the flow.
    pub enum FlowKind: plaq_flow_kind {
        /// Wilson's plaquette action.
        Wilson = 0, PLAQ_FLOW_WILSON, "wilson";
        /// Tree-level improved Symanzik action.
        Symanzik = 1, PLAQ_FLOW_SYMANZIK, "symanzik";
        /// The Symanzik flow with a factor 1 + D*D / 12 along each link, which removes all O(a^2) effects of the flow
        /// (Ramos, Sint, Eur. Phys. J. C 76 (2016) 15).
        Zeuthen = 2, PLAQ_FLOW_ZEUTHEN, "zeuthen";
    }
}

parameters! {
    /// A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C).
    pub struct FlowParams: plaq_flow_params {
        /// Action whose gradient generates the flow.
        kind: FlowKind = FlowKind::Wilson;
        /// Number of steps between measurements; further ones are made at the start and at the end.
        every: usize = 10, within(1, i32::MAX as i64);
        /// Step of the flow time; for adaptive steps the first step. Above 0.2 the scheme is unstable.
        step: f64 = 0.02, above(0.0, 0.2);
        /// Flow time t / a^2 at the end, at most a million steps. It must be set.
        time: f64 = f64::NAN, from(0.0, 1e6);
        /// Adaptive steps: largest difference of a matrix entry between the scheme and the embedded second-order
        /// scheme in one step (Fritzsch, Ramos, JHEP 10 (2013) 008, appendix D); 0: fixed steps. A tolerance that
        /// needs steps below a millionth of the flow time is refused.
        tolerance: f64 = 0.0, below(0.0, 1.0);
    }
}

impl Copy for FlowParams {}

reports! {
    /// Observables at a flow time.
    #[derive(Copy, Default)]
    pub part FlowPoint: plaq_flow_point {
        /// Flow time t / a^2.
        time: f64;
        /// Average plaquette of the planes xy, xz and yz, 1 for unit links.
        plaquette_spatial: f64;
        /// Average plaquette of the planes xt, yt and zt.
        plaquette_temporal: f64;
        /// Action density from clover leaves of the planes xy, xz and yz, as of plaq_gauge_topology.
        energy_spatial: f64;
        /// Action density from clover leaves of the planes xt, yt and zt.
        energy_temporal: f64;
        /// Topological charge.
        charge: f64;
    }
}

impl FlowPoint {
    /// Action density E from clover leaves, of all planes.
    pub fn clover(&self) -> f64 {
        self.energy_spatial + self.energy_temporal
    }
    /// E = 2 sum over planes of Re tr (1 - P) (Luescher, Eq. (3.1)).
    pub fn plaquette(&self) -> f64 {
        18.0 * (2.0 - self.plaquette_spatial - self.plaquette_temporal)
    }
}

/// Largest number of steps of a flow.
const MAX_STEPS: f64 = 1e6;

/// Report on a gradient flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowReport {
    pub points: Vec<FlowPoint>,
    /// Flow time that was reached, in units of the lattice spacing squared.
    pub time: f64,
    /// Number of steps done.
    pub steps: u64,
    /// Number of steps that were repeated with a smaller step size.
    pub repeated: u64,
    /// True if the callback asked to stop.
    pub stopped: bool,
}

reports! {
    /// Report of a flow. Scales are in lattice units, -1 if the flow ended before they were reached.
    pub struct FlowTotals: plaq_flow_report {
        /// Flow time that was reached, t / a^2.
        time: f64;
        /// Scale t0 with t^2 E = 0.3, E from clover leaves.
        t0_clover: Option<f64>;
        /// Scale t0, E from plaquettes.
        t0_plaquette: Option<f64>;
        /// Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves.
        w0_clover: Option<f64>;
        /// Scale w0, E from plaquettes.
        w0_plaquette: Option<f64>;
        /// Number of steps of the flow, without repeated ones.
        steps: u64;
        /// Number of steps that were repeated with a smaller step size.
        repeated: u64;
        /// 1: the callback asked to stop.
        stopped: bool;
        /// Seconds that the flow took.
        seconds: f64;
    }
}

impl FlowReport {
    /// The report on a flow that took this time.
    pub fn totals(&self, seconds: f64) -> FlowTotals {
        FlowTotals {
            time: self.time,
            t0_clover: self.t0(FlowPoint::clover),
            t0_plaquette: self.t0(FlowPoint::plaquette),
            w0_clover: self.w0(FlowPoint::clover),
            w0_plaquette: self.w0(FlowPoint::plaquette),
            steps: self.steps,
            repeated: self.repeated,
            stopped: self.stopped,
            seconds,
        }
    }

    /// The flow time t0 with t^2 E = 0.3 (Luescher, JHEP 08 (2010) 071), by linear interpolation between
    /// measurements; `energy` chooses the definition of E. None: not reached.
    pub fn t0(&self, energy: impl Fn(&FlowPoint) -> f64) -> Option<f64> {
        let curve = self.points.iter().map(|p| (p.time, p.time.powi(2) * energy(p)));
        crossing(&curve.collect::<Vec<_>>(), 0.3)
    }

    /// The scale w0 with t d/dt (t^2 E) = 0.3 at t = w0^2 (Borsanyi et al., JHEP 09 (2012) 010), with the derivative
    /// from differences of neighbouring measurements; `energy` chooses the definition of E. None: not reached.
    pub fn w0(&self, energy: impl Fn(&FlowPoint) -> f64) -> Option<f64> {
        let value = |p: &FlowPoint| p.time.powi(2) * energy(p);
        let slope = |w: &[FlowPoint]| {
            let middle = 0.5 * (w[0].time + w[1].time);
            (middle, middle * (value(&w[1]) - value(&w[0])) / (w[1].time - w[0].time))
        };
        let curve: Vec<_> = self.points.windows(2).map(slope).collect();
        crossing(&curve, 0.3).map(f64::sqrt)
    }
}

/// The abscissa at which a rising curve first reaches `value`, by linear interpolation.
fn crossing(curve: &[(f64, f64)], value: f64) -> Option<f64> {
    curve.windows(2).find_map(|w| {
        let ((t, a), (u, b)) = (w[0], w[1]);
        (a < value && b >= value).then(|| t + (u - t) * (value - a) / (b - a))
    })
}

/// The fields that a flow needs besides the links.
pub struct Flow {
    kind: FlowKind,
    force: GaugeForce,
    momenta: Option<Momenta>,
    scratch: Option<Momenta>,
    /// For Wilson's flow, the links after a stage.
    next: Option<GaugeField>,
    /// For adaptive steps: the links at the start of the step, the links of the second-order scheme, and the exponent
    /// of that.
    adaptive: Option<(GaugeField, GaugeField, Momenta)>,
}

impl Flow {
    /// Makes the fields of a flow for links like these, in double or single precision and stored whole (`R18`).
    pub fn new(links: &GaugeField, kind: FlowKind) -> Result<Self> {
        let (device, geometry, precision) = (links.device(), links.geometry(), links.precision());
        let c = match kind {
            FlowKind::Wilson => GaugeCoefficients::wilson(6.0)?,
            _ => GaugeCoefficients::improved(6.0, TREE_LEVEL_SYMANZIK)?,
        };
        if kind == FlowKind::Zeuthen {
            geometry.periodic_in_time("flow of kind zeuthen")?;
        }
        // Links of an open boundary flow twice as fast, as half of their plaquettes are missing.
        let at_bounds = AtBounds { twice: 2.0, ..Default::default() };
        let momenta = || Momenta::new(device, geometry, precision);
        Ok(Flow {
            kind,
            force: GaugeForce::bounded(device, geometry, precision, c, at_bounds)?,
            momenta: Some(momenta()?),
            scratch: if kind == FlowKind::Zeuthen { Some(momenta()?) } else { None },
            next: match kind {
                FlowKind::Wilson => Some(GaugeField::new(device, geometry, precision, Recon::R18)?),
                _ => None,
            },
            adaptive: None,
        })
    }

    /// Computes p = scale p + factor Z, where Z is the generator of the flow, V' = i Z V (Luescher, JHEP 08 (2010)
    /// 071, Eq. (1.4)).
    pub fn generator(
        &mut self,
        gauge: &GaugeField,
        p: &mut Momenta,
        scale: f64,
        factor: f64,
    ) -> Result<()> {
        let Some(scratch) = &mut self.scratch else {
            return self.force.kick(gauge, p, scale, factor).map(|_| ());
        };
        self.force.kick(gauge, scratch, 0.0, factor)?;
        scratch.exchange()?;
        let args = ForceArgs {
            geom: gauge.geometry().args(),
            gauge: gauge.view(),
            elements: scratch.view(),
            momenta: p.view(),
            scale,
            step: 1.0 / 12.0,
            ..Default::default()
        };
        gauge.device().launch(
            kernels::AlgebraLaplace::of(gauge.precision())?,
            &args,
            gauge.geometry().work(2),
        )
    }

    /// Makes one step of the third-order Runge-Kutta scheme (Luescher, JHEP 08 (2010) 071, appendix C) with exponents
    /// Z0 / 4, 8 Z1 / 9 - 17 Z0 / 36 and 3 Z2 / 4 - 8 Z1 / 9 + 17 Z0 / 36; each exponent is a multiple of the one
    /// before plus a new generator.
    pub fn step(&mut self, gauge: &mut GaugeField, step: f64) -> Result<()> {
        (0..3).try_for_each(|k| self.stage(gauge, k, step))
    }

    /// Makes stage `k` = 0, 1 or 2 of a step; `gauge` holds the links after the previous stage.
    pub fn stage(&mut self, gauge: &mut GaugeField, k: usize, step: f64) -> Result<()> {
        let Some(mut p) = self.momenta.take() else { bail!(Internal, "flow: no momenta") };
        let done = self.integrate_stage(gauge, &mut p, k, step);
        self.momenta = Some(p);
        done
    }

    fn integrate_stage(
        &mut self,
        gauge: &mut GaugeField,
        p: &mut Momenta,
        k: usize,
        step: f64,
    ) -> Result<()> {
        let stages = [(0.0, 0.25, 0.25), (-17.0 / 9.0, 8.0 / 9.0, 2.25), (-1.0, 0.75, 0.0)];
        let (scale, factor, second) = stages[k];
        match &mut self.next {
            Some(next) => {
                self.force.flow(gauge, p, next, (scale, factor, step))?;
                std::mem::swap(gauge, next);
            }
            None => {
                self.generator(gauge, p, scale, factor)?;
                gauge.evolve(p, step)?;
            }
        }
        if let (Some((_, _, q)), true) = (&mut self.adaptive, k < 2) {
            // The exponent of the second-order scheme is 2 Z1 - Z0.
            q.add(if k == 0 { 0.0 } else { 1.0 }, second, p)?;
        }
        Ok(())
    }

    /// Largest difference of a matrix entry between the third-order and the second-order scheme.
    fn error(&mut self, gauge: &GaugeField, step: f64) -> Result<f64> {
        let Some((start, second, q)) = &mut self.adaptive else {
            bail!(Internal, "flow: fixed steps have no error");
        };
        second.copy_raw(start)?;
        second.evolve(q, step)?;
        second.distance(gauge)
    }

    /// Flows the links; `watch` is called with every measurement.
    ///
    /// # Errors
    /// `BadParameter`: a step, time or tolerance out of range, or more than a million steps;
    /// `NotFinite`. The links are then where the flow had come.
    pub fn run(
        &mut self,
        gauge: &mut GaugeField,
        params: &FlowParams,
        watch: &mut dyn FnMut(&FlowPoint) -> ControlFlow<()>,
    ) -> Result<FlowReport> {
        check(gauge, params)?;
        if params.kind != self.kind {
            bail!(BadParameter, "flow: made for {}, found {}", self.kind, params.kind);
        }
        self.adaptive = None;
        if params.tolerance > 0.0 {
            let links = || gauge.to(gauge.precision(), Recon::R18);
            let q = Momenta::new(gauge.device(), gauge.geometry(), gauge.precision())?;
            self.adaptive = Some((links()?, links()?, q));
        }
        let mut report = FlowReport::default();
        let mut step = params.step;
        report.stopped = measured(gauge, &mut report, watch)?;
        // The comparison allows for rounding of many steps, which must not cause a tiny last step.
        while !report.stopped && params.time - report.time > 1e-9 * params.step {
            if step < params.time / MAX_STEPS {
                bail!(
                    BadParameter,
                    "flow: tolerance: {:e} takes steps of {} at t = {}, expected one that allows a \
                     time of at most {MAX_STEPS} steps",
                    params.tolerance,
                    significant(step, 2),
                    report.time
                );
            }
            let h = step.min(params.time - report.time);
            if let Some((start, ..)) = &mut self.adaptive {
                start.copy_raw(gauge)?;
            }
            self.step(gauge, h)?;
            if self.adaptive.is_some() {
                let error = self.error(gauge, h)?;
                if !error.is_finite() {
                    bail!(NotFinite, "flow: a link is not finite at t = {}", report.time);
                }
                let wanted = h * 0.95 * (params.tolerance / error.max(1e-300)).cbrt();
                if error > params.tolerance {
                    if let Some((start, ..)) = &self.adaptive {
                        gauge.copy_raw(start)?;
                    }
                    report.repeated += 1;
                    step = wanted.max(0.1 * h);
                    continue;
                }
                // A step that was cut short at the end says nothing about the next.
                step = wanted.min(2.0 * step.max(h));
            }
            report.time += h;
            report.steps += 1;
            let last = params.time - report.time <= 1e-9 * params.step;
            if last || report.steps % params.every as u64 == 0 {
                report.stopped = measured(gauge, &mut report, watch)?;
            }
        }
        gauge.reunitarise()?;
        Ok(report)
    }
}

fn measured(
    gauge: &GaugeField,
    report: &mut FlowReport,
    watch: &mut dyn FnMut(&FlowPoint) -> ControlFlow<()>,
) -> Result<bool> {
    let (p, f) = (plaquette(gauge)?, field_strength(gauge)?);
    let point = FlowPoint {
        time: report.time,
        plaquette_spatial: p.spatial,
        plaquette_temporal: p.temporal,
        energy_spatial: f.energy_spatial,
        energy_temporal: f.energy_temporal,
        charge: f.charge,
    };
    if !(p.total.is_finite() && f.charge.is_finite()) {
        bail!(NotFinite, "flow: a link is not finite at t = {}", report.time);
    }
    report.points.push(point);
    let mine = watch(&point).is_break();
    let mut asked = [mine as i32 as f64];
    gauge.geometry().comm().sum(&mut asked)?;
    Ok(asked[0] > 0.0)
}

fn check(gauge: &GaugeField, params: &FlowParams) -> Result<()> {
    if gauge.recon() != Recon::R18 || gauge.precision() == Precision::F16 {
        let (precision, recon) = (gauge.precision(), gauge.recon());
        refuse!(
            Unsupported,
            "flow",
            expected("double or single links stored as PLAQ_STORAGE_SU3_18"),
            found("{precision} links stored as {recon}")
        );
    }
    params.check_rows("flow")?;
    let steps = (params.time / params.step).ceil();
    if steps > MAX_STEPS {
        refuse!(
            BadParameter,
            "flow",
            expected("a time of at most {MAX_STEPS} steps"),
            found("{steps}: take larger ones")
        );
    }
    Ok(())
}
