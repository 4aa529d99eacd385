//! Links and momenta of the host as a `QudaGaugeParam` describes them.

use std::f64::consts::SQRT_2;
use std::ffi::c_void;
use std::sync::{Arc, MutexGuard};

use num_complex::Complex64;

use super::arrays::List;
use super::enums::*;
use super::params::QudaGaugeParam;
use super::records::Record;
use super::resident::{Links, Resident};
use super::session::{self, Session};
use crate::backend::{Device, External, Location};
use crate::capi::args::{choose, Array, DataOut};
use crate::error::Result;
use crate::fields::{
    BoundaryTime, GaugeField, Geometry, Layout, LinkOptions, Momenta, MomentaForm, Precision,
    Recon, SiteOrder,
};
use crate::refuse;

pub struct Host {
    pub session: Arc<Session>,
    pub param: QudaGaugeParam,
    pub kind: LinkKind,
    /// The lattice, with the boundaries in time of the links.
    pub geometry: Arc<Geometry>,
    order: LinkOrder,
    /// Layout of the host's links, including the phases and the anisotropy that they contain.
    pub layout: Layout,
    sign: f64,
    /// Precision of the host's arrays.
    pub outside: Precision,
    pub inside: Precision,
}

impl Host {
    pub fn new(param: &Array<QudaGaugeParam>) -> Result<Host> {
        let param = param.own(1)[0];
        param.check("param")?;
        let kind = choose::<LinkKind>(param.r#type, "param.type")?;
        let Boundary(sign) = choose(param.t_boundary, "param.t_boundary")?;
        if param.staggered_phase_applied != 0 {
            choose::<NoPhase>(param.staggered_phase_type, "param.staggered_phase_type")?;
        }
        let order = choose::<LinkOrder>(param.gauge_order, "param.gauge_order")?;
        let Numbers(outside) = choose(param.cpu_prec, "param.cpu_prec")?;
        let Numbers(inside) = choose(param.cuda_prec, "param.cuda_prec")?;
        let session = session::with_part(param.X)?;
        let layout = match order {
            LinkOrder::Qdp => Layout::qdp(outside),
            LinkOrder::QdpJit => Layout::qdpjit(outside),
            LinkOrder::Milc => Layout::milc(outside),
            LinkOrder::MilcSite => Layout::milc_site(outside, param.site_size, param.gauge_offset)?,
        };
        let geometry = session.geometry.clone();
        Ok(Host { session, param, kind, geometry, order, layout, sign, outside, inside })
    }

    /// This description for links with these boundaries in time.
    ///
    /// # Errors
    /// `BadExtents`: too few time slices.
    pub fn bounded(self, boundary: BoundaryTime) -> Result<Host> {
        Ok(Host { geometry: self.geometry.bounded(boundary)?, ..self })
    }

    pub fn resident(&self) -> MutexGuard<'_, Resident> {
        self.session.resident()
    }

    pub fn array(&self, data: *mut c_void, name: &str) -> Result<External<'_>> {
        match self.order {
            LinkOrder::Qdp | LinkOrder::QdpJit => {
                let list = List::at(data, name)?.get(4, name)?;
                self.session.external(&list, name)
            }
            _ => self.session.external(&[data], name),
        }
    }

    fn load_as(&self, layout: &Layout, data: *mut c_void, name: &str) -> Result<GaugeField> {
        let (device, geometry) = (self.session.context.device(), &self.geometry);
        let form = (self.inside, Recon::R18);
        let any = LinkOptions { tolerance: Some(f64::INFINITY), reproject: false };
        let array = self.array(data, name)?;
        GaugeField::from_external(device, geometry, form, layout, &array, any)
    }

    /// Loads the host's links as they are.
    pub fn load(&self, data: *mut c_void, name: &str) -> Result<GaugeField> {
        self.load_as(&self.layout, data, name)
    }

    /// The layout of links that contain a sign and an anisotropy.
    pub fn with_host_factors(&self, sign: f64, scale: [f64; 4]) -> Layout {
        let one = Complex64::ONE;
        let boundary = [one, one, one, Complex64::new(sign, 0.0)];
        Layout { boundary, scale, ..self.layout.clone() }
    }

    /// Loads the host's links to be kept on the device, with the sign and anisotropy by which the host has multiplied
    /// them.
    pub fn links_to_keep(&self, data: *mut c_void, name: &str) -> Result<Links> {
        let anisotropy = self.param.anisotropy;
        if !(anisotropy > 0.0 && anisotropy.is_finite()) {
            refuse!(
                InvalidArgument,
                "param.anisotropy",
                expected("a number above 0"),
                found("{anisotropy}")
            );
        }
        // Hosts without anisotropy leave the number there by which QUDA marks values that are not set.
        let anisotropy = if anisotropy < 1e-300 { 1.0 } else { anisotropy };
        let space = 1.0 / anisotropy;
        let layout = self.with_host_factors(self.sign, [space, space, space, 1.0]);
        let field = Arc::new(self.load_as(&layout, data, name)?);
        Ok(Links { sign: self.sign, anisotropy, ..Links::plain(field) })
    }

    /// The links on which a call works: those on the device, or the host's.
    pub fn links(&self, data: *mut c_void) -> Result<Arc<GaugeField>> {
        if self.param.use_resident_gauge == 0 {
            let links = Arc::new(self.load(data, "sitelink")?);
            if self.param.make_resident_gauge != 0 {
                self.resident().set_links(Some(Links::plain(links.clone())));
            }
            return Ok(links);
        }
        let kept = self.resident().links.clone();
        let Some(Links { field: links, .. }) = kept else {
            refuse!(
                InvalidArgument,
                "param.use_resident_gauge",
                expected("links on the device"),
                hint("call loadGaugeQuda first")
            );
        };
        match links.precision() == self.inside {
            true => Ok(links),
            false => Ok(Arc::new(links.to(self.inside, Recon::R18)?)),
        }
    }

    /// Writes links into the host's array, multiplied by the sign and anisotropy of those that are kept.
    pub fn save(&self, links: &Links, data: *mut c_void, name: &str) -> Result<()> {
        let layout = self.with_host_factors(links.sign, links.scale());
        links.field.save(&layout, &mut self.array(data, name)?)
    }

    pub fn new_momenta(&self) -> Result<Momenta> {
        Momenta::new(self.session.context.device(), &self.session.geometry, self.inside)
    }

    /// A copy of the momenta that a call works on: those on the device, or the host's.
    pub fn momenta(&self, data: *mut c_void) -> Result<Momenta> {
        let mut momenta = self.new_momenta()?;
        if self.param.use_resident_mom == 0 {
            self.momenta_at(data)?.load(&mut momenta)?;
            return Ok(momenta);
        }
        match &self.resident().momenta {
            Some(kept) => momenta.copy_from(kept)?,
            None => refuse!(
                InvalidArgument,
                "param.use_resident_mom",
                expected("momenta on the device"),
                found("none"),
                hint("call momResidentQuda first")
            ),
        }
        Ok(momenta)
    }

    /// Stores changed momenta where the parameters ask for them: on the device, in the host's array, or both.
    pub fn store_momenta(&self, momenta: Momenta, data: *mut c_void) -> Result<()> {
        let result = match self.param.return_result_mom {
            0 => None,
            _ => Some(self.momenta_at(data)?.numbers_of(&momenta)?),
        };
        self.resident().momenta = (self.param.make_resident_mom != 0).then_some(momenta);
        if let Some(result) = result {
            result.write()?;
        }
        Ok(())
    }

    /// Arrays of the host's momenta, even sites first: one with four momenta for each site, or four arrays.
    pub fn momenta_at(&self, data: *mut c_void) -> Result<HostMomenta> {
        let arrays = match self.order {
            LinkOrder::Milc => vec![data],
            LinkOrder::Qdp => List::at(data, "mom")?.get(4, "mom")?,
            LinkOrder::QdpJit | LinkOrder::MilcSite => refuse!(
                Unsupported,
                "param.gauge_order",
                expected("QUDA_MILC_GAUGE_ORDER or QUDA_QDP_GAUGE_ORDER for momenta of the host"),
                found("{}", self.order),
                hint("or keep momenta on the device (use_resident_mom, make_resident_mom)")
            ),
        };
        let location = self.session.external(&arrays, "mom")?.location();
        let sites = self.session.geometry.volume();
        let (mut copies, mut places) = (vec![], arrays);
        let device = (location == Location::Device).then(|| {
            let bytes = 4 * TEN * sites * self.outside.bytes() / places.len();
            copies = vec![vec![0u8; bytes]; places.len()];
            let addresses = places.iter().map(|a| *a as u64).collect();
            places = copies.iter_mut().map(|c| c.as_mut_ptr().cast()).collect();
            (self.session.context.device().clone(), addresses)
        });
        let arrays = places.into_iter().map(|a| DataOut::at(a, "mom")).collect::<Result<_>>()?;
        Ok(HostMomenta { arrays, sites, outside: self.outside, copies, device })
    }
}

/// Momenta of the host: antihermitian matrices, sqrt(2) i p, ten reals each.
pub struct HostMomenta {
    /// Arrays in the host's memory: those of the program, or `copies` if its arrays are on a device.
    arrays: Vec<DataOut>,
    sites: usize,
    outside: Precision,
    /// Copies, in the host's memory, of arrays that are in a device's memory.
    copies: Vec<Vec<u8>>,
    /// The device, and the addresses of the arrays in its memory; None: the arrays are in the host's memory.
    device: Option<(Device, Vec<u64>)>,
}

/// Changed momenta that have yet to be written to the host's arrays.
pub struct MomentaResult {
    to: HostMomenta,
    numbers: Vec<f64>,
}

const TEN: usize = 10;

impl HostMomenta {
    pub fn load(&mut self, momenta: &mut Momenta) -> Result<()> {
        if let Some((device, addresses)) = &self.device {
            for (copy, address) in self.copies.iter_mut().zip(addresses) {
                device.read_at(*address, copy)?;
            }
        }
        let each = 4 * TEN * self.sites / self.arrays.len();
        let arrays: Vec<Vec<f64>> =
            self.arrays.iter().map(|a| a.numbers(self.outside, each)).collect();
        let all = match arrays.as_slice() {
            [one] => one.clone(),
            four => {
                let sites = (0..self.sites).map(|s| s * TEN);
                sites.flat_map(|s| four.iter().flat_map(move |a| &a[s..s + TEN])).copied().collect()
            }
        };
        momenta.load(&all, MomentaForm::Ten, SiteOrder::EvenOdd, SQRT_2)
    }

    pub fn numbers_of(self, momenta: &Momenta) -> Result<MomentaResult> {
        let mut numbers = vec![0.0; 4 * TEN * self.sites];
        momenta.save(&mut numbers, MomentaForm::Ten, SiteOrder::EvenOdd, SQRT_2)?;
        Ok(MomentaResult { to: self, numbers })
    }
}

impl MomentaResult {
    pub fn write(self) -> Result<()> {
        let (arrays, count) = (&self.to.arrays, self.to.arrays.len());
        for (mu, array) in arrays.iter().enumerate() {
            let own = self.numbers.chunks(TEN).skip(mu).step_by(count).flatten();
            array.write(self.to.outside, &own.copied().collect::<Vec<_>>());
        }
        let Some((device, addresses)) = &self.to.device else { return Ok(()) };
        let mut all = self.to.copies.iter().zip(addresses);
        all.try_for_each(|(copy, address)| device.write_at(*address, copy))
    }
}
