//! Gauge actions of any closed loops, and their forces.

use std::sync::Arc;

use super::gauge_action::LinkAction;
use super::KickReport;
use crate::backend::args::PathArgs;
use crate::backend::kernels;
use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Geometry, MatrixField, MatrixForm, Momenta, Precision};
use crate::ops::paths::{images, Paths, Walker, TOGETHER};

/// S = sum over x and loops of coefficient (1 - Re tr L(x) / 3), L(x) the product of links along the
/// loop from x.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopAction {
    loops: Paths,
    coefficients: Vec<f64>,
}

/// One of each kind of loop, from which turns and reflections make the others.
const PLAQUETTE: [u8; 4] = [0, 1, 7, 6];
const RECTANGLE: [u8; 6] = [0, 0, 1, 7, 7, 6];
const PARALLELOGRAM: [u8; 6] = [0, 1, 2, 7, 6, 5];

impl LoopAction {
    /// # Errors
    /// `BadParameter`: another number of coefficients than loops, one that is not finite or above 1e6.
    pub fn new(loops: Paths, coefficients: Vec<f64>) -> Result<Self> {
        if coefficients.len() != loops.len() {
            bail!(
                BadParameter,
                "loops: expected {} coefficients, found {}",
                loops.len(),
                coefficients.len()
            );
        }
        if let Some(bad) = coefficients.iter().find(|c| !c.is_finite() || c.abs() > 1e6) {
            bail!(BadParameter, "loops: a coefficient: expected a modulus up to 1e6, found {bad}");
        }
        Ok(LoopAction { loops, coefficients })
    }

    /// Loops with all their images under turns and reflections ([`images`]), each with the coefficient of its
    /// kind.
    ///
    /// # Errors
    /// As of [`LoopAction::new`] and [`Paths::new`].
    pub fn symmetric(kinds: &[(Vec<u8>, f64)]) -> Result<Self> {
        let (mut loops, mut coefficients) = (vec![], vec![]);
        // A path that is none is refused before it is turned.
        Paths::new(kinds.iter().map(|k| k.0.clone()).collect())?;
        for (path, coefficient) in kinds {
            for image in images(path) {
                loops.push(image);
                coefficients.push(*coefficient);
            }
        }
        Self::new(Paths::new(loops)?, coefficients)
    }

    /// The one-loop improved action of Luescher and Weisz (Phys. Lett. B 158 (1985) 250) with tadpole
    /// factor u0 (Alford et al., hep-lat/9507010) and the part of `flavours` HISQ quarks (Hart, von
    /// Hippel, Horgan, arXiv:0812.0503), as MILC takes it: beta (= 10 / g^2) for plaquettes,
    /// -beta / (20 u0^2) (1 - (0.6264 - 1.1746 N_f) ln u0) for rectangles,
    /// beta / u0^2 (0.04335 - 0.0156 N_f) ln u0 for parallelograms.
    ///
    /// # Errors
    /// `BadParameter`: beta below 0 or not finite, u0 not in (0, 1].
    pub fn one_loop_symanzik(beta: f64, u0: f64, flavours: f64) -> Result<Self> {
        if !(beta >= 0.0 && beta.is_finite()) {
            bail!(BadParameter, "gauge action: beta: expected 0 or more, found {beta}");
        }
        if !(u0 > 0.0 && u0 <= 1.0) {
            bail!(BadParameter, "gauge action: u0: expected 0 to 1, found {u0}");
        }
        if !(0.0..=1e3).contains(&flavours) {
            bail!(BadParameter, "gauge action: flavours: expected 0 or more, found {flavours}");
        }
        let (scale, log) = (beta / (u0 * u0), u0.ln());
        let rectangle = -scale / 20.0 * (1.0 - (0.6264 - 1.1746 * flavours) * log);
        let parallelogram = scale * (0.04335 - 0.0156 * flavours) * log;
        Self::symmetric(&[
            (PLAQUETTE.to_vec(), beta),
            (RECTANGLE.to_vec(), rectangle),
            (PARALLELOGRAM.to_vec(), parallelogram),
        ])
    }

    pub fn loops(&self) -> &Paths {
        &self.loops
    }
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }
}

/// Actions and forces of one set of loops, with the fields that they need between kernels.
#[derive(Debug)]
pub struct LoopForce {
    action: LoopAction,
    walker: Walker,
    /// Traceless imaginary parts, before and after a step.
    elements: [MatrixField; 2],
    force: Momenta,
}

impl LoopForce {
    /// Bytes of the fields that are kept.
    pub fn bytes(geometry: &Geometry, precision: Precision, action: &LoopAction) -> usize {
        let together = action.loops.len().min(TOGETHER);
        Walker::bytes(geometry, precision, together)
            + 2 * MatrixField::bytes(geometry, precision, MatrixForm::Algebra, together)
            + Momenta::bytes(geometry, precision)
    }

    /// For links in this precision, double or single.
    ///
    /// # Errors
    /// `BadParameter`: a loop that is not closed on this lattice; `OutOfMemory`.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        action: LoopAction,
    ) -> Result<Self> {
        action.loops.check_closed(geometry.global_extents())?;
        device.require(Self::bytes(geometry, precision, &action) as u64, "forces of loops")?;
        let walker = Walker::new(device, geometry, precision, action.loops.len())?;
        let field = || {
            MatrixField::new(device, geometry, precision, MatrixForm::Algebra, walker.together())
        };
        let elements = [field()?, field()?];
        let force = Momenta::new(device, geometry, precision)?;
        Ok(LoopForce { action, walker, elements, force })
    }

    pub fn loops(&self) -> &LoopAction {
        &self.action
    }

    /// Adds the force of some loops.
    fn add(&self, gauge: &GaugeField, batch: &[usize]) -> Result<()> {
        let loops = &self.action.loops;
        let products = self.walker.walk(gauge, loops, batch)?;
        let [mut from, mut to] = [&self.elements[0], &self.elements[1]];
        let mut args = self.walker.args(gauge);
        // The force of c (1 - Re tr L / 3) is c / 3 Im tr T_a L.
        for (slot, &k) in batch.iter().enumerate() {
            args.coef[slot] = self.action.coefficients[k] / 6.0;
        }
        (args.from, args.to) = (products.view(), from.view());
        self.walker.launch(kernels::PathElements::of(gauge.precision())?, &args)?;
        let most = batch.iter().map(|&k| loops.get(k).len()).max().unwrap_or(0);
        for n in 0..most {
            from.exchange()?;
            let mut args = PathArgs {
                from: from.view(),
                to: to.view(),
                force: self.force.view(),
                ..self.walker.args(gauge)
            };
            for (slot, &k) in batch.iter().enumerate() {
                if let Some(&step) = loops.get(k).get(n) {
                    args.step[slot] = i32::from(step);
                    args.last[slot] = i32::from(n + 1 == loops.get(k).len());
                }
            }
            self.walker.launch(kernels::PathTurn::of(gauge.precision())?, &args)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }
}

impl LinkAction for LoopForce {
    fn describe(&self) -> String {
        format!("{} loops", self.action.loops.len())
    }
    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let traces = self.walker.traces(gauge, &self.action.loops)?;
        let volume = gauge.geometry().global_volume() as f64;
        let terms = self.action.coefficients.iter().zip(traces);
        Ok(terms.map(|(c, t)| c * (volume - t.re / 3.0)).sum())
    }
    fn kick(
        &mut self,
        gauge: &GaugeField,
        momenta: &mut Momenta,
        scale: f64,
        step: f64,
    ) -> Result<KickReport> {
        self.walker.check(gauge)?;
        momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        if momenta.precision() != gauge.precision() {
            let (links, p) = (gauge.precision(), momenta.precision());
            bail!(FieldMismatch, "gauge force: links in {links} and momenta in {p}");
        }
        self.force.clear()?;
        for batch in self.action.loops.batches(self.walker.together()) {
            self.add(gauge, &batch)?;
        }
        let size = self.force.norm2()?;
        momenta.add(scale, -step, &self.force)?;
        Ok(KickReport::of(gauge.geometry(), size))
    }
}
