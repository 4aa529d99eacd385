//! The gauge-covariant Laplacian on vector fields with three colours: colour vectors and spinors,
//! in any of the four directions.

use std::sync::Arc;

use crate::backend::args::{self, LaplaceArgs};
use crate::backend::{kernels, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{halo, Components, GaugeField, Group, Recon, RhsOrder, Subset, VectorField};
use crate::linop::{LinOp, Shape};

/// a + b sum_mu [U_mu(x) delta_{x+mu,y} + U_mu(x-mu)^dagger delta_{x-mu,y}] over some directions:
/// with a = 2 d + m^2, b = -1 the Laplacian -D^2 + m^2 in d directions, and with b = alpha,
/// normalised by a + 2 d b, a step of Gaussian (Wuppertal) smearing (Guesken, Nucl. Phys. B (Proc.
/// Suppl.) 17, 361).
pub struct Laplace {
    gauge: Arc<GaugeField>,
    components: Components,
    directions: i32,
    diagonal: f64,
    neighbours: f64,
}

impl Laplace {
    /// On fields of `components`, colour vectors or spinors, in the precision of the links;
    /// `directions`: bit mu.
    ///
    /// # Errors
    /// `Unsupported`: other components, SU(2), or links stored as 8 numbers;
    /// `InvalidArgument`: no direction, numbers that are not finite.
    pub fn new(
        gauge: Arc<GaugeField>,
        components: Components,
        directions: i32,
        diagonal: f64,
        neighbours: f64,
    ) -> Result<Self> {
        if components != Components::COLOUR && components != Components::SPINOR {
            bail!(Unsupported, "laplacian: expected colour vectors or spinors, found {components}");
        }
        let readable = matches!(gauge.recon(), Recon::R18 | Recon::R12);
        if gauge.group() != Group::Su3 || !readable {
            bail!(Unsupported, "laplacian: expected SU(3) links of 18 or 12 numbers");
        }
        let finite = diagonal.is_finite() && neighbours.is_finite();
        if !((1..16).contains(&directions) && finite) {
            bail!(
                InvalidArgument,
                "laplacian: expected directions 1 to 15 and finite coefficients, found \
                 {directions}, {diagonal}, {neighbours}"
            );
        }
        Ok(Laplace { gauge, components, directions, diagonal, neighbours })
    }

    /// -D^2 + m^2 in the directions of the mask.
    pub fn massive(
        gauge: Arc<GaugeField>,
        components: Components,
        directions: i32,
        mass2: f64,
    ) -> Result<Self> {
        let d = f64::from(directions.count_ones());
        Self::new(gauge, components, directions, 2.0 * d + mass2, -1.0)
    }

    /// One parity of the result; `inp` holds both.
    fn parity(&self, out: &mut VectorField, inp: &VectorField, parity: usize) -> Result<()> {
        let geometry = self.gauge.geometry();
        let (precision, nrhs, reals) = (inp.precision(), inp.nrhs(), self.components.reals());
        let mut args = LaplaceArgs {
            geom: geometry.args(),
            out: out.parity_view(parity),
            inp: inp.parity_view(1 - parity),
            y: inp.parity_view(parity),
            gauge: self.gauge.view(),
            region: args::REGION_ALL,
            parity: parity as i32,
            directions: self.directions,
            spins: self.components.spins as i32,
            step_out: out.parities() as i32,
            step_in: inp.parities() as i32,
            step_y: inp.parities() as i32,
            coef: self.neighbours,
            coef_y: self.diagonal,
            ..Default::default()
        };
        let laplace = kernels::Laplace::of(precision, self.gauge.recon())?;
        let device = self.gauge.device();
        let work = geometry.work(nrhs);
        let mask = geometry.halo_mask() & self.directions;
        if mask == 0 {
            return device.launch(laplace, &args, work);
        }
        let faces = geometry.vector_faces(mask, precision, reals, nrhs);
        let halo = geometry.halo_exchange(device, &faces)?;
        let mut halo = halo::lock(&halo);
        halo.begin(geometry.comm())?;
        let sent = |mu, upper| halo.sent(mu, upper);
        args.sent = geometry.vector_halo(mask, precision, reals, nrhs, sent);
        let received = |mu, upper| halo.received(mu, upper);
        args.received = geometry.vector_halo(mask, precision, reals, nrhs, received);
        let rows = (0..4).filter(|mu| mask >> mu & 1 == 1).map(|mu| 2 * geometry.face_rows(mu));
        device.launch(kernels::VectorPack(precision), &args, Work { n: rows.sum(), ..work })?;
        let part = |region, n| {
            let args = LaplaceArgs { region, ..args };
            device.launch(laplace, &args, Work { n, ..work })
        };
        let inner = geometry.inner();
        halo.exchange(geometry.comm(), || part(args::REGION_INNER, inner))?;
        part(args::REGION_OUTER, geometry.outer() - inner)
    }
}

impl LinOp for Laplace {
    fn shape(&self) -> Shape {
        Shape {
            device: self.gauge.device().clone(),
            geometry: self.gauge.geometry().clone(),
            precision: self.gauge.precision(),
            subset: Subset::Full,
            components: self.components,
            order: RhsOrder::Slowest,
        }
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.shape().check(inp, "in")?;
        inp.check_like(out, "laplacian")?;
        self.shape().check(out, "out")?;
        (0..2).try_for_each(|parity| self.parity(out, inp, parity))
    }
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        // A matrix times a vector: 66, and an addition of 6 per neighbour.
        let directions = f64::from(self.directions.count_ones());
        let site = (2.0 * directions * 72.0 + 12.0) * self.components.spins as f64;
        site * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        let links = 2 * self.directions.count_ones() as usize * self.gauge.recon().reals();
        let vectors = 3 * nrhs * self.components.reals();
        let bytes = (links + vectors) * self.gauge.precision().bytes();
        bytes as f64 * self.shape().sites() as f64
    }
}
