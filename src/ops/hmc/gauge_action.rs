//! Gauge actions of plaquettes and rectangles (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59), and their forces.

use std::sync::Arc;

use super::link_work::link_work;
use super::{KickReport, Monomial, Solves, Stream};
use crate::backend::args::ForceArgs;
use crate::backend::{kernels, Device};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    sum_and_max, GaugeField, Geometry, MatrixField, MatrixForm, Momenta, Precision, Recon,
};
use crate::params::Key;
use crate::refuse;

/// S = sum over x and planes mu < nu of
///   plaquette (1 - Re tr P / 3) + first (1 - Re tr R_mu / 3) + second (1 - Re tr R_nu / 3),
/// R_mu the rectangle with two steps in mu, the plane's lower direction, R_nu that with two in nu.
/// Planes in the order xy, xz, yz, xt, yt, zt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeCoefficients {
    pub plaquette: [f64; 6],
    pub first: [f64; 6],
    pub second: [f64; 6],
}

/// The two directions of each plane, in the order of the coefficients.
pub const PLANES: [(usize, usize); 6] = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)];

/// Coefficient c_1 of the tree-level improved action with c_0 = 1 - 8 c_1 (physics.md, HMC; Luescher, Weisz, Commun.
/// Math. Phys. 97 (1985) 59).
pub const TREE_LEVEL_SYMANZIK: f64 = -1.0 / 12.0;
pub const IWASAKI: f64 = -0.331;
pub const DBW2: f64 = -1.4088;

impl GaugeCoefficients {
    /// Coefficients of Wilson's action with coupling beta.
    pub fn wilson(beta: f64) -> Result<Self> {
        Self::improved(beta, 0.0)
    }

    /// Coefficients of an improved action: beta (1 - 8 c1) for plaquettes and beta c1 for rectangles.
    pub fn improved(beta: f64, c1: f64) -> Result<Self> {
        Self::anisotropic([beta; 2], [1.0 - 8.0 * c1; 2], [c1; 3])
    }

    /// Different couplings for purely spatial planes and for those with t: `beta` of each; factors of plaquettes
    /// (spatial, temporal); and factors of rectangles: spatial, temporal with two steps in space, temporal with two
    /// steps in time (0 in actions that are to have one step in time only).
    ///
    /// Wilson's action with bare anisotropy xi: beta = [b / xi, b xi], factors 1.
    pub fn anisotropic(beta: [f64; 2], c0: [f64; 2], c1: [f64; 3]) -> Result<Self> {
        for (name, values) in [("beta", &beta[..]), ("c0", &c0), ("c1", &c1)] {
            if let Some(bad) = values.iter().find(|v| !v.is_finite() || v.abs() > 1e6) {
                refuse!(
                    BadParameter,
                    "gauge action: {name}",
                    expected("a number of modulus up to 1e6"),
                    found("{bad}")
                );
            }
        }
        if beta.iter().any(|&b| b < 0.0) {
            refuse!(BadParameter, "gauge action: beta", expected("0 or more"), found("{beta:?}"));
        }
        let of = |f: &dyn Fn(bool) -> f64| PLANES.map(|(_, nu)| f(nu == 3));
        Ok(GaugeCoefficients {
            plaquette: of(&|t| beta[t as usize] * c0[t as usize]),
            first: of(&|t| beta[t as usize] * c1[t as usize]),
            second: of(&|t| beta[t as usize] * if t { c1[2] } else { c1[0] }),
        })
    }

    pub fn has_rectangles(&self) -> bool {
        self.first.iter().chain(&self.second).any(|&c| c != 0.0)
    }
}

/// Computes an action of plaquettes and rectangles and its force for one set of coefficients, and holds the
/// intermediate fields.
#[derive(Debug)]
pub struct GaugeForce {
    coefficients: GaugeCoefficients,
    geometry: Arc<Geometry>,
    device: Device,
    precision: Precision,
    /// For each link the staples by plane; None: the action has no rectangles.
    staples: Option<MatrixField>,
    at_bounds: AtBounds,
}

/// Coefficients of a gauge action at boundaries in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtBounds {
    /// The weights cG at slice 0 and cG' at the other boundary. They multiply plaquettes and rectangles in an open
    /// boundary slice, which also have a factor 1/2, and plaquettes between a slice of fixed links and the next one.
    pub weights: [f64; 2],
    /// Factor for the force of spatial links in open boundary slices: 1, in gradient flows 2.
    pub twice: f64,
}

impl Default for AtBounds {
    fn default() -> Self {
        AtBounds { weights: [1.0; 2], twice: 1.0 }
    }
}

impl GaugeForce {
    /// Makes the intermediate fields for links in this precision, double or single.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        coefficients: GaugeCoefficients,
    ) -> Result<Self> {
        Self::bounded(device, geometry, precision, coefficients, AtBounds::default())
    }

    /// Makes the intermediate fields as [`GaugeForce::new`] does, with coefficients of the action at boundaries in
    /// time.
    ///
    /// # Errors
    /// `BadParameter`: weights other than 1 where links are periodic in time.
    pub fn bounded(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        coefficients: GaugeCoefficients,
        at_bounds: AtBounds,
    ) -> Result<Self> {
        let boundary = geometry.boundary();
        if boundary.is_periodic() && at_bounds.weights != [1.0; 2] {
            refuse!(
                BadParameter,
                "gauge action: cg, cg_prime",
                expected("1 on links that are periodic in time"),
                found("{:?}", at_bounds.weights)
            );
        }
        let staples = || MatrixField::new(device, geometry, precision, MatrixForm::General, 12);
        Ok(GaugeForce {
            coefficients,
            geometry: geometry.on_device(device),
            device: device.clone(),
            precision,
            staples: coefficients.has_rectangles().then(staples).transpose()?,
            at_bounds,
        })
    }

    fn args(&self, gauge: &GaugeField) -> Result<ForceArgs> {
        let (geometry, precision) = (&self.geometry, self.precision);
        if gauge.geometry() != geometry || *gauge.device() != self.device {
            bail!(FieldMismatch, "gauge force: the links live on another lattice or device");
        }
        let (own, other) = (geometry.boundary(), gauge.geometry().boundary());
        if own != other {
            refuse!(FieldMismatch, "gauge force", expected("links with {own}"), found("{other}"));
        }
        if (gauge.precision(), gauge.recon()) != (precision, Recon::R18) {
            refuse!(
                Unsupported,
                "gauge force",
                expected("{precision} links stored as PLAQ_STORAGE_SU3_18"),
                found("{} links stored as {}", gauge.precision(), gauge.recon())
            );
        }
        let [lower, upper] = self.at_bounds.weights;
        let mut args = ForceArgs {
            geom: geometry.args(),
            bounds: geometry.bounds(),
            lower,
            upper,
            twice: self.at_bounds.twice,
            gauge: gauge.view(),
            column: link_work(geometry, &self.device).1,
            plaquette: self.coefficients.plaquette,
            first: self.coefficients.first,
            second: self.coefficients.second,
            ..Default::default()
        };
        if let Some(staples) = &self.staples {
            args.staples = staples.view();
        }
        Ok(args)
    }

    /// Makes a stage of the gradient flow of the plaquette action in one launch: p = scale p - step F and to = exp(i
    /// time p) U.
    pub(crate) fn flow(
        &self,
        gauge: &GaugeField,
        momenta: &mut Momenta,
        to: &mut GaugeField,
        (scale, step, time): (f64, f64, f64),
    ) -> Result<()> {
        momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        let args = self.args(gauge)?;
        let alike = (to.precision(), to.recon()) == (gauge.precision(), gauge.recon());
        if self.staples.is_some() || !alike || momenta.precision() != gauge.precision() {
            bail!(Internal, "gauge force: no stage of a flow of these fields");
        }
        momenta.matches(to.geometry(), to.device(), "links")?;
        let (momenta, flowed) = (momenta.view(), to.view());
        let [c, others @ ..] = self.coefficients.plaquette;
        if others != [c; 5] {
            bail!(Internal, "gauge force: a flow of planes that differ");
        }
        // With boundaries in time the staples contain their coefficient, otherwise the step does.
        let step = if self.geometry.boundary().is_periodic() { step * c / 6.0 } else { step };
        let args = ForceArgs { momenta, flowed, scale, step, time, ..args };
        let (work, _) = link_work(&self.geometry, &self.device);
        self.device.launch(kernels::PlaquetteFlow::of(self.precision)?, &args, work)?;
        to.exchange(None)
    }

    /// Computes the staples with their borders, if the action has rectangles.
    fn prepare(&self, args: &ForceArgs) -> Result<()> {
        let Some(staples) = &self.staples else { return Ok(()) };
        let (work, _) = link_work(&self.geometry, &self.device);
        self.device.launch(kernels::PlaneStaples::of(self.precision)?, args, work)?;
        staples.exchange()
    }
}

impl KickReport {
    /// The size of a force, from the sum over all links of |F|^2 and the largest |F|^2.
    pub fn of(geometry: &Geometry, (sum, max): (f64, f64)) -> Self {
        let links = 4.0 * geometry.global_volume() as f64;
        KickReport { rms: (sum / links).sqrt(), max: max.sqrt(), solves: Solves::default() }
    }
}

/// An action that is a function of the links alone.
pub trait LinkAction: std::fmt::Debug + Send {
    /// Computes the value S of the action for these links, summed over all ranks.
    fn action(&mut self, gauge: &GaugeField) -> Result<f64>;
    /// Computes momenta = scale momenta - step F with the force F_a = dS/d omega_a for U -> exp(i omega_a T_a) U.
    fn kick(
        &mut self,
        gauge: &GaugeField,
        momenta: &mut Momenta,
        scale: f64,
        step: f64,
    ) -> Result<KickReport>;
    /// A key that identifies everything on which the choice of the action's kernels depends, except the lattice.
    fn key(&self) -> Key;
    /// The same action on another device; for rehearsals.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn like_on(&self, device: &Device) -> Result<Self>
    where
        Self: Sized;
}

impl LinkAction for GaugeForce {
    fn key(&self) -> Key {
        let kind = self.geometry.boundary().kind();
        Key::of(("gauge action", self.coefficients.has_rectangles(), self.precision, kind))
    }
    fn like_on(&self, device: &Device) -> Result<Self> {
        let (geometry, at) = (&self.geometry, self.at_bounds);
        GaugeForce::bounded(device, geometry, self.precision, self.coefficients, at)
    }
    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        let args = self.args(gauge)?;
        self.prepare(&args)?;
        let (geometry, device, p) = (gauge.geometry(), gauge.device(), gauge.precision());
        let work = geometry.work(2);
        let sums = match self.staples {
            Some(_) => geometry.reduce(device, kernels::RectangleAction::of(p)?, &args, work)?,
            None => geometry.reduce(device, kernels::PlaquetteAction::of(p)?, &args, work)?,
        };
        Ok(sums[0] + sums[1])
    }
    fn kick(
        &mut self,
        gauge: &GaugeField,
        momenta: &mut Momenta,
        scale: f64,
        step: f64,
    ) -> Result<KickReport> {
        momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        if momenta.precision() != gauge.precision() {
            let (links, p) = (gauge.precision(), momenta.precision());
            bail!(FieldMismatch, "gauge force: links in {links} and momenta in {p}");
        }
        let args = ForceArgs { momenta: momenta.view(), scale, step, ..self.args(gauge)? };
        self.prepare(&args)?;
        let (geometry, device, p) = (gauge.geometry(), gauge.device(), gauge.precision());
        let (work, _) = link_work(geometry, device);
        let v = match self.staples {
            Some(_) => {
                geometry.reduce_here(device, kernels::RectangleForce::of(p)?, &args, work)?
            }
            None => geometry.reduce_here(device, kernels::PlaquetteForce::of(p)?, &args, work)?,
        };
        Ok(KickReport::of(geometry, sum_and_max(geometry, &v)?))
    }
}

/// The monomial of a gauge action.
#[derive(Debug)]
pub struct GaugeMonomial<A> {
    name: String,
    force: A,
}

impl<A: LinkAction> GaugeMonomial<A> {
    pub fn new(name: &str, force: A) -> Self {
        GaugeMonomial { name: name.to_string(), force }
    }
}

impl<A: LinkAction + 'static> Monomial for GaugeMonomial<A> {
    fn name(&self) -> &str {
        &self.name
    }
    fn refresh(&mut self, _: &GaugeField, _: Stream) -> Result<()> {
        Ok(())
    }
    fn action(&mut self, gauge: &GaugeField) -> Result<f64> {
        self.force.action(gauge)
    }
    fn kick(&mut self, gauge: &GaugeField, momenta: &mut Momenta, step: f64) -> Result<KickReport> {
        self.force.kick(gauge, momenta, 1.0, step)
    }
    fn key(&self) -> Key {
        self.force.key()
    }
    fn like_on(&self, device: &Device) -> Result<Option<Box<dyn Monomial>>> {
        Ok(Some(Box::new(GaugeMonomial::new(&self.name, self.force.like_on(device)?))))
    }
}
