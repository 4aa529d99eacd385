//! Gauge actions of arbitrary closed loops, and their forces.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gauge_action::LinkAction;
use super::link_work::link_work;
use super::KickReport;
use crate::backend::args::{ForceArgs, PathArgs};
use crate::backend::{kernels, Buffer, Device};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    sum_and_max, GaugeField, Geometry, MatrixField, MatrixForm, Momenta, Precision,
};
use crate::ops::paths::{images, PathProducts, Paths, PATHS_PER_LAUNCH};
use crate::params::Key;
use crate::refuse;

/// The action S = sum over x and loops of coefficient (1 - Re tr L(x) / 3), where L(x) is the product of links along
/// a loop from x.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopAction {
    loops: Paths,
    coefficients: Vec<f64>,
}

/// A plaquette as a list of steps, 0 to 3 forward in x, y, z, t and 7 - mu back; its rotations and reflections are all
/// others.
const PLAQUETTE: [u8; 4] = [0, 1, 7, 6];
const RECTANGLE: [u8; 6] = [0, 0, 1, 7, 7, 6];
const PARALLELOGRAM: [u8; 6] = [0, 1, 2, 7, 6, 5];

impl LoopAction {
    /// # Errors
    /// `BadParameter`: not one coefficient for each loop; a coefficient that is not finite or above 1e6.
    pub fn new(loops: Paths, coefficients: Vec<f64>) -> Result<Self> {
        if coefficients.len() != loops.len() {
            refuse!(
                BadParameter,
                "loops",
                expected("{} coefficients", loops.len()),
                found("{}", coefficients.len())
            );
        }
        if let Some(bad) = coefficients.iter().find(|c| !c.is_finite() || c.abs() > 1e6) {
            refuse!(
                BadParameter,
                "loops: a coefficient",
                expected("a modulus up to 1e6"),
                found("{bad}")
            );
        }
        Ok(LoopAction { loops, coefficients })
    }

    /// Adds to loops all their images under turns and reflections ([`images`]), each with the coefficient of its
    /// kind.
    ///
    /// # Errors
    /// Errors of [`LoopAction::new`] and [`Paths::new`].
    pub fn symmetric(kinds: &[(Vec<u8>, f64)]) -> Result<Self> {
        let (mut loops, mut coefficients) = (vec![], vec![]);
        // Invalid paths are refused before they are reversed.
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
            refuse!(BadParameter, "gauge action: beta", expected("0 or more"), found("{beta}"));
        }
        if !(u0 > 0.0 && u0 <= 1.0) {
            refuse!(BadParameter, "gauge action: u0", expected("0 to 1"), found("{u0}"));
        }
        if !(0.0..=1e3).contains(&flavours) {
            refuse!(
                BadParameter,
                "gauge action: flavours",
                expected("0 or more"),
                found("{flavours}")
            );
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

    fn link_by_link(&self, geometry: &Geometry) -> bool {
        geometry.halo_mask() == 0 && self.loops.iter().all(|l| (2..=SHORT).contains(&l.len()))
    }

    /// For links of each direction the paths that close the loops through the link, as the kernel `loop_force` reads
    /// them: each path once, from the link's end to its start, with the coefficient of its loop divided by 6.
    fn lists(&self) -> (Vec<i32>, Vec<f64>) {
        let mut all: [BTreeMap<Vec<u8>, f64>; 4] = Default::default();
        for (path, c) in self.loops.iter().zip(&self.coefficients) {
            let back: Vec<u8> = path.iter().rev().map(|s| 7 - s).collect();
            for (method, k) in
                [path, &back].into_iter().flat_map(|w| (0..w.len()).map(move |k| (w, k)))
            {
                // If step k of the path goes forward, the other steps are the path that closes the loop through its
                // link.
                if let Some(list) = all.get_mut(usize::from(method[k])) {
                    let rest = method[k + 1..].iter().chain(&method[..k]);
                    *list.entry(rest.rev().copied().collect()).or_default() += c / 6.0;
                }
            }
        }
        let (mut words, mut weights) = (vec![0; 12], vec![]);
        for (mu, list) in all.into_iter().enumerate() {
            (words[mu], words[4 + mu], words[8 + mu]) =
                (words.len() as i32, weights.len() as i32, list.len() as i32);
            for (path, weight) in list {
                words.push(path.len() as i32);
                words.extend(path.into_iter().map(i32::from));
                weights.push(weight);
            }
        }
        (words, weights)
    }
}

/// Length up to which the force of loops is computed link by link, with n (n - 1) matrix products; for longer loops
/// products of whole fields, 2 n of them, are faster.
const SHORT: usize = 8;

/// Computes an action of loops and its force, and holds the intermediate fields.
#[derive(Debug)]
pub struct LoopForce {
    action: LoopAction,
    products: PathProducts,
    method: ForceMethod,
}

/// Methods of computing the force.
#[derive(Debug)]
enum ForceMethod {
    /// Computes the force of each link from the paths that close its loops. This is for short loops that no border
    /// cuts.
    Links { paths: Buffer, weights: Buffer },
    /// Computes the force by transporting traceless antihermitian matrices along the loops, step by step through
    /// whole fields, one before and one after the step.
    Steps { elements: Box<[MatrixField; 2]>, force: Momenta },
}

impl LoopForce {
    /// Bytes of the intermediate fields.
    pub fn bytes(geometry: &Geometry, precision: Precision, action: &LoopAction) -> usize {
        let together = action.loops.len().min(PATHS_PER_LAUNCH);
        let products = PathProducts::bytes(geometry, precision, together);
        if action.link_by_link(geometry) {
            return products;
        }
        products
            + 2 * MatrixField::bytes(geometry, precision, MatrixForm::Algebra, together)
            + Momenta::bytes(geometry, precision)
    }

    /// Makes the intermediate fields for links in this precision, double or single.
    ///
    /// # Errors
    /// `BadParameter`: a loop that is not closed on this lattice; `OutOfMemory`.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        action: LoopAction,
    ) -> Result<Self> {
        geometry.periodic_in_time("action of loops")?;
        action.loops.check_closed(geometry.global_extents())?;
        device.require(Self::bytes(geometry, precision, &action) as u64, "forces of loops")?;
        let products = PathProducts::new(device, geometry, precision, action.loops.len())?;
        let method = if action.link_by_link(geometry) {
            let (paths, weights) = action.lists();
            let upload = |bytes: &[u8]| -> Result<Buffer> {
                let mut buffer = device.alloc(bytes.len())?;
                buffer.upload(bytes)?;
                Ok(buffer)
            };
            let paths = upload(bytemuck::cast_slice(&paths))?;
            ForceMethod::Links { paths, weights: upload(bytemuck::cast_slice(&weights))? }
        } else {
            let (form, together) = (MatrixForm::Algebra, products.batch_size());
            let field = || MatrixField::new(device, geometry, precision, form, together);
            let elements = [field()?, field()?];
            ForceMethod::Steps {
                elements: Box::new(elements),
                force: Momenta::new(device, geometry, precision)?,
            }
        };
        Ok(LoopForce { action, products, method })
    }
}

/// Adds the force of a batch of loops.
fn add(
    (action, products): (&LoopAction, &PathProducts),
    gauge: &GaugeField,
    batch: &[usize],
    (elements, force): (&[MatrixField; 2], &Momenta),
) -> Result<()> {
    let loops = &action.loops;
    let along = products.multiply_along(gauge, loops, batch)?;
    let [mut from, mut to] = [&elements[0], &elements[1]];
    let mut args = products.args(gauge);
    // The force of c (1 - Re tr L / 3) is c / 3 Im tr T_a L.
    for (slot, &k) in batch.iter().enumerate() {
        args.coef[slot] = action.coefficients[k] / 6.0;
    }
    (args.from, args.to) = (along.view(), from.view());
    products.launch(kernels::PathElements::of(gauge.precision())?, &args)?;
    let max = batch.iter().map(|&k| loops.get(k).len()).max().unwrap_or(0);
    for n in 0..max {
        from.exchange()?;
        let mut args = PathArgs {
            from: from.view(),
            to: to.view(),
            force: force.view(),
            ..products.args(gauge)
        };
        for (slot, &k) in batch.iter().enumerate() {
            if let Some(&step) = loops.get(k).get(n) {
                args.step[slot] = i32::from(step);
                args.last[slot] = i32::from(n + 1 == loops.get(k).len());
            }
        }
        products.launch(kernels::PathForce::of(gauge.precision())?, &args)?;
        std::mem::swap(&mut from, &mut to);
    }
    Ok(())
}

impl LinkAction for LoopForce {
    fn key(&self) -> Key {
        let (_, precision) = self.products.place();
        Key::of(("loops", &self.action.loops, precision))
    }
    fn like_on(&self, device: &Device) -> Result<Self> {
        let (geometry, precision) = self.products.place();
        LoopForce::new(device, geometry, precision, self.action.clone())
    }
    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let traces = self.products.traces(gauge, &self.action.loops)?;
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
        self.products.check(gauge)?;
        momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        if momenta.precision() != gauge.precision() {
            let (links, p) = (gauge.precision(), momenta.precision());
            bail!(FieldMismatch, "gauge force: links in {links} and momenta in {p}");
        }
        let geometry = gauge.geometry();
        let LoopForce { action, products, method } = self;
        let size = match method {
            ForceMethod::Links { paths, weights } => {
                let (work, column) = link_work(geometry, gauge.device());
                let args = ForceArgs {
                    geom: geometry.args(),
                    gauge: gauge.view(),
                    momenta: momenta.view(),
                    scale,
                    step,
                    column,
                    paths: paths.ptr(),
                    weights: weights.ptr(),
                    ..Default::default()
                };
                let kernel = kernels::LoopForce::of(gauge.precision())?;
                let sums = geometry.reduce_here(gauge.device(), kernel, &args, work)?;
                sum_and_max(geometry, &sums)?
            }
            ForceMethod::Steps { elements, force } => {
                force.clear()?;
                for batch in action.loops.batches(products.batch_size()) {
                    add((action, products), gauge, &batch, (elements, force))?;
                }
                momenta.add(scale, -step, force)?;
                force.norm2()?
            }
        };
        Ok(KickReport::of(geometry, size))
    }
}
