//! A lattice with smooth links on a device and in the reference.

use std::borrow::Borrow;
use std::sync::Arc;

use plaq::backend::Device;
use plaq::fields::{
    CloverForm, Components, GaugeField, Geometry, Precision, Recon, RhsOrder, SpinorField, Subset,
    VectorField,
};
use plaq::linop::Shape;
use plaq::operators::{DiracParams, Wilson};

use crate::common::{devices, extents_on, geometry, over_ranks, Lex};
use crate::reference::dirac::Params;
use crate::reference::numbers::{field_numbers, gauge_numbers};
use crate::reference::{su3, Field, Gauge, Lattice, C};

pub struct Setup {
    pub device: Device,
    pub geometry: Arc<Geometry>,
    pub lat: Lattice,
    pub links: Gauge,
    /// The same links in double precision.
    pub gauge: Arc<GaugeField>,
}

impl Setup {
    /// Creates the setup with links of this roughness. They are projected onto SU(3), since products of many factors
    /// miss it by 1e-13, and storages of two rows need links unitary to rounding.
    pub fn new(device: &Device, extents: [usize; 4], roughness: f64) -> Self {
        let links = su3::smooth_gauge(Lattice::new(extents), roughness, 7);
        Self::of(device, extents, links.iter().map(su3::reunitarise).collect())
    }
    pub fn of(device: &Device, extents: [usize; 4], links: Gauge) -> Self {
        let geometry = geometry(extents, device);
        let mut gauge = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
        gauge.load_lex(&gauge_numbers(&links)).unwrap();
        let (device, lat) = (device.clone(), Lattice::new(extents));
        Setup { device, geometry, lat, links, gauge: Arc::new(gauge) }
    }
    pub fn wilson(&self, params: DiracParams) -> Arc<Wilson> {
        Arc::new(Wilson::new(self.gauge.clone(), params).unwrap())
    }
    pub fn wilson_in(&self, params: DiracParams, precision: Precision, recon: Recon) -> Wilson {
        Wilson::new(self.gauge.clone(), params).unwrap().to(precision, recon).unwrap()
    }
    pub fn spinors(
        &self,
        precision: Precision,
        subset: Subset,
        fields: &[impl Borrow<Field>],
    ) -> SpinorField {
        let (device, geometry) = (&self.device, &self.geometry);
        let mut f = SpinorField::new(device, geometry, precision, subset, fields.len()).unwrap();
        let numbers: Vec<f64> = fields.iter().flat_map(|f| field_numbers(f.borrow())).collect();
        f.load_lex(&numbers).unwrap();
        f
    }
    /// Shape of full fields with this many right-hand sides, right-hand sides slowest.
    pub fn shape(&self, precision: Precision, components: Components) -> Shape {
        Shape {
            device: self.device.clone(),
            geometry: self.geometry.clone(),
            precision,
            subset: Subset::Full,
            components,
            order: RhsOrder::Slowest,
        }
    }
    pub fn vectors(
        &self,
        precision: Precision,
        components: Components,
        columns: &[&[C]],
    ) -> VectorField {
        let mut field = self.shape(precision, components).field(columns.len()).unwrap();
        field
            .load_lex(&columns.iter().flat_map(|c| complex_numbers(c)).collect::<Vec<_>>())
            .unwrap();
        field
    }
}

/// Setups on all devices, with the lattices that are tested there.
pub fn setups() -> Vec<Setup> {
    let on = |device: Device| {
        let extents = extents_on(&device).into_iter().map(over_ranks);
        extents.map(move |extents| Setup::new(&device, extents, 0.4))
    };
    devices().into_iter().flat_map(on).collect()
}

pub fn complex_numbers(v: &[C]) -> Vec<f64> {
    v.iter().flat_map(|z| [z.re, z.im]).collect()
}

/// Parameters of the reference for the same operator.
pub fn reference_params(p: &DiracParams) -> Params {
    Params {
        mass: p.mass,
        csw: p.csw,
        csw_t: p.csw_t,
        exponential: p.clover == CloverForm::Exponential,
        mu: p.mu,
        hop: p.hop,
        boundary: p.boundary,
    }
}
