//! Domains of sites for Schwarz's procedure (Luescher, hep-lat/0310048): links without those between domains, and
//! steps of minimal residual with separate coefficients for each domain (kernels/domains.h). Domains divide a rank's
//! part, so that they need no messages.

use std::sync::Arc;

use crate::backend::args::{DomainArgs, DomainCutArgs};
use crate::backend::{kernels, Buffer, Device, Work};
use crate::bail;
use crate::comm::coordinates;
use crate::error::Result;
use crate::fields::{
    CoarseField, CoarseGrid, GaugeField, Geometry, Precision, Recon, Subset, VectorField,
};

/// Extents of the domains in each direction: those `asked` for, or where that is 0 the largest divisor of the rank's
/// extent that is at most `max`.
///
/// # Errors
/// `BadExtents`: an extent that is asked for does not divide the rank's extent.
pub(crate) fn domain_extents(
    asked: [usize; 4],
    max: usize,
    extents: [usize; 4],
) -> Result<[usize; 4]> {
    let mut chosen = [0; 4];
    for mu in 0..4 {
        chosen[mu] = match asked[mu] {
            0 => (1..=max).rev().find(|b| extents[mu].is_multiple_of(*b)).unwrap_or(1),
            b if extents[mu].is_multiple_of(b) => b,
            b => bail!(
                BadExtents,
                "domain[{mu}]: {b} does not divide the {} sites of a rank",
                extents[mu]
            ),
        };
    }
    Ok(chosen)
}

/// The division of a vector's sites into domains of Schwarz's method.
#[derive(Debug)]
pub struct Domains {
    device: Device,
    count: usize,
    /// Number of sites of a right-hand side, including all lanes.
    places: usize,
    lanes: usize,
    /// The sites of each domain, one domain after the other.
    sites: Buffer,
    starts: Buffer,
    colours: Buffer,
    /// On a coarse level the numbers of the eight neighbours of each site; the smallest integer if a neighbour is
    /// outside of the domain.
    neighbours: Option<Buffer>,
}

/// Memory in which a step keeps products and coefficients of every domain between two launches.
#[derive(Debug)]
pub struct DomainSums {
    nrhs: usize,
    products: Buffer,
    coef: Buffer,
}

impl DomainSums {
    /// Number of right-hand sides for which there is memory.
    pub fn nrhs(&self) -> usize {
        self.nrhs
    }
}

impl Domains {
    /// Divides the sites of one parity of spinors into domains of `block` sites.
    pub fn of_spinors(
        geometry: &Geometry,
        device: &Device,
        block: [usize; 4],
        parity: usize,
    ) -> Result<Self> {
        let (extents, lanes) = (geometry.extents(), geometry.lanes());
        let origin: usize = geometry.origin().iter().sum();
        let place = |x: [usize; 4]| {
            let (o, lane) = geometry.place(x);
            ((x.iter().sum::<usize>() + origin) % 2 == parity).then_some((o * lanes + lane) as i32)
        };
        let coords = geometry.comm().coords();
        Self::build(device, (extents, coords, block), geometry.outer() * lanes, lanes, place, None)
    }

    /// Divides the sites on which a coarse level is solved into domains of `block` sites.
    pub fn of_grid(grid: &CoarseGrid, block: [usize; 4]) -> Result<Self> {
        let extents = grid.extents();
        let solved = grid.even();
        let lex = |x: [usize; 4]| (0..4).rev().fold(0, |i, mu| i * extents[mu] + x[mu]);
        let mut table = vec![i32::MIN; 8 * grid.volume()];
        for (site, &i) in grid.order().iter().enumerate() {
            let x = coordinates(extents, i as usize);
            for mu in (0..4).filter(|&mu| grid.hops(mu)) {
                for forward in [false, true] {
                    let mut n = x;
                    let inside = match forward {
                        true => !(x[mu] + 1).is_multiple_of(block[mu]),
                        false => !x[mu].is_multiple_of(block[mu]),
                    };
                    if inside {
                        n[mu] = if forward { x[mu] + 1 } else { x[mu] - 1 };
                        table[8 * site + 2 * mu + forward as usize] = grid.site(lex(n)) as i32;
                    }
                }
            }
        }
        let place = |x: [usize; 4]| {
            let site = grid.site(lex(x));
            (site < solved).then_some(site as i32)
        };
        let whole = (extents, grid.comm().coords(), block);
        Self::build(grid.device(), whole, solved, 1, place, Some(table))
    }

    fn build(
        device: &Device,
        (extents, coords, block): ([usize; 4], [usize; 4], [usize; 4]),
        places: usize,
        lanes: usize,
        place: impl Fn([usize; 4]) -> Option<i32>,
        neighbours: Option<Vec<i32>>,
    ) -> Result<Self> {
        let along: [usize; 4] = std::array::from_fn(|mu| extents[mu] / block[mu]);
        let count: usize = along.iter().product();
        let mut members = vec![vec![]; count];
        for i in 0..extents.iter().product() {
            let x = coordinates(extents, i);
            if let Some(at) = place(x) {
                let domain = (0..4).rev().fold(0, |i, mu| i * along[mu] + x[mu] / block[mu]);
                members[domain].push(at);
            }
        }
        let mut starts = vec![0i32];
        for own in &members {
            starts.push(starts.last().copied().unwrap_or(0) + own.len() as i32);
        }
        let colour = |domain: usize| {
            let d = coordinates(along, domain);
            (0..4).map(|mu| d[mu] + coords[mu] * along[mu]).sum::<usize>() as i32 % 2
        };
        let colours: Vec<i32> = (0..count).map(colour).collect();
        let upload = |numbers: &[i32]| -> Result<Buffer> {
            let mut buffer = device.alloc(4 * numbers.len().max(1))?;
            buffer.upload(bytemuck::cast_slice(numbers))?;
            Ok(buffer)
        };
        Ok(Domains {
            device: device.clone(),
            count,
            places,
            lanes,
            sites: upload(&members.concat())?,
            starts: upload(&starts)?,
            colours: upload(&colours)?,
            neighbours: match neighbours {
                Some(table) => Some(upload(&table)?),
                None => None,
            },
        })
    }

    pub(crate) fn neighbours(&self) -> Option<&Buffer> {
        self.neighbours.as_ref()
    }

    /// Makes memory for steps with `nrhs` right-hand sides.
    pub fn sums(&self, precision: Precision, nrhs: usize) -> Result<DomainSums> {
        let numbers = self.places * nrhs * precision.bytes();
        let (products, coef) =
            (self.device.alloc(3 * numbers.max(16))?, self.device.alloc(2 * numbers.max(16))?);
        Ok(DomainSums { nrhs, products, coef })
    }

    fn args(&self, sums: &DomainSums, colour: Option<usize>, omega: f64) -> DomainArgs {
        DomainArgs {
            nrhs: sums.nrhs as i32,
            places: self.places as i32,
            products: sums.products.ptr(),
            coef: sums.coef.ptr(),
            sites: self.sites.ptr(),
            starts: self.starts.ptr(),
            colours: self.colours.ptr(),
            colour: colour.map_or(-1, |c| c as i32),
            omega,
            ..Default::default()
        }
    }

    fn coefficients(&self, precision: Precision, args: &DomainArgs, nrhs: usize) -> Result<()> {
        let work = crate::backend::Work { n: self.count, batches: nrhs, lanes: self.lanes };
        // Only arguments that this kernel uses are set: others would make a GPU compile another variant.
        let own = DomainArgs {
            places: args.places,
            products: args.products,
            coef: args.coef,
            sites: args.sites,
            starts: args.starts,
            colours: args.colours,
            colour: args.colour,
            omega: args.omega,
            ..Default::default()
        };
        self.device.launch(kernels::DomainCoefficients::of(precision)?, &own, work)
    }

    /// Makes a step of minimal residual in each domain of one colour, or of all colours: z += c r and r -= c q with c
    /// = omega <q, r> / |q|^2 of the domain; for spinors of one parity.
    pub fn step(
        &self,
        sums: &DomainSums,
        [z, r]: [&mut VectorField; 2],
        q: &VectorField,
        colour: Option<usize>,
        omega: f64,
    ) -> Result<()> {
        let parity = match q.subset() {
            Subset::Even => 0,
            Subset::Odd => 1,
            Subset::Full => bail!(Internal, "steps in domains of both parities"),
        };
        q.check_like(r, "domains")?;
        q.check_like(z, "domains")?;
        let args = DomainArgs {
            geom: q.geometry().args(),
            q: q.view(),
            r: r.view(),
            z: z.view(),
            parity,
            ..self.args(sums, colour, omega)
        };
        let work = q.geometry().work(q.nrhs());
        self.device.launch(kernels::DomainProducts::of(q.precision())?, &args, work)?;
        self.coefficients(q.precision(), &args, q.nrhs())?;
        self.device.launch(kernels::DomainStep::of(q.precision())?, &args, work)
    }

    /// Makes the step of [`Domains::step`] for vectors of a coarse level.
    pub fn coarse_step(
        &self,
        sums: &DomainSums,
        [z, r]: [&mut CoarseField; 2],
        q: &CoarseField,
        colour: Option<usize>,
        omega: f64,
    ) -> Result<()> {
        q.check_like(r, "domains")?;
        q.check_like(z, "domains")?;
        let view =
            |f: &CoarseField| crate::backend::FieldView { data: f.ptr(), ..Default::default() };
        let args = DomainArgs {
            q: view(q),
            r: view(r),
            z: view(z),
            components: q.components() as i32,
            ..self.args(sums, colour, omega)
        };
        let work = Work::rows(&self.device, self.places, q.nrhs());
        self.device.launch(kernels::CoarseDomainProducts::of(q.precision())?, &args, work)?;
        self.coefficients(q.precision(), &args, q.nrhs())?;
        self.device.launch(kernels::CoarseDomainStep::of(q.precision())?, &args, work)
    }
}

impl GaugeField {
    /// A copy of the links in which those between domains of `block` sites, and those between ranks, are zero.
    ///
    /// # Errors
    /// `Unsupported`: links stored in eight numbers.
    pub fn cut(&self, block: [usize; 4]) -> Result<Arc<GaugeField>> {
        if !matches!(self.recon(), Recon::R18 | Recon::R12) {
            bail!(Unsupported, "links stored as {} cannot be zero", self.recon());
        }
        let copy = self.to(self.precision(), self.recon())?;
        let geometry = self.geometry();
        let args = DomainCutArgs {
            geom: geometry.args(),
            gauge: copy.view(),
            storage: self.recon().code(),
            block: block.map(|b| b as i32),
        };
        self.device().launch(kernels::DomainCut(self.precision()), &args, geometry.work(2))?;
        copy.exchange(None)?;
        Ok(Arc::new(copy))
    }
}
