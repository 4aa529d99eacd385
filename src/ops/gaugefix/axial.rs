//! Axial gauge: where all links of one direction are unit matrices but the last ones of its lines,
//! sweeps neither read nor multiply a quarter of the links (a third in Coulomb gauge). It is a gauge
//! like any other, and what sweeps do does not depend on where they start from but for rounding.

use super::sweeper::Functional;
use crate::backend::args::AxialArgs;
use crate::backend::families::Double;
use crate::backend::kernels;
use crate::backend::Work;
use crate::error::Result;
use crate::fields::{GaugeField, Precision, Transformation};

/// The transformation h that brings the links to axial gauge.
#[derive(Debug)]
pub(super) struct Axial {
    direction: usize,
    h: Transformation,
}

impl Axial {
    /// Finds h and returns it with the links in axial gauge, in double with every entry. The direction whose links
    /// become unit matrices is the one of the functional in which sites are furthest apart in memory.
    pub fn new(gauge: &GaugeField, functional: Functional) -> Result<(Self, GaugeField)> {
        let (device, geometry) = (gauge.device(), gauge.geometry());
        let direction = if functional.without == Some(3) { 2 } else { 3 };
        let h = Transformation::unit(device, geometry, Precision::F64, gauge.group())?;
        let mut links = gauge.to(Precision::F64, gauge.recon().whole())?;
        let all = geometry.work(2);
        let Work { n, batches: slices, .. } = geometry.slice_work(direction);
        let mut args = AxialArgs {
            geom: geometry.args(),
            gauge: links.view(),
            g: h.view(),
            direction: direction as i32,
            slice: 0,
        };
        // Pieces that follow each other, lanes and ranks: each is right when the one before is.
        for _ in 0..geometry.global_extents()[direction] / slices {
            for slice in 0..slices {
                args.slice = slice as i32;
                device.launch(
                    kernels::AxialStep(Double::F64, h.whole()),
                    &args,
                    Work { n, ..all },
                )?;
            }
            h.exchange()?;
        }
        h.apply_in_place(&mut links)?;
        device.launch(kernels::AxialUnit(Double::F64, h.whole()), &args, all)?;
        links.exchange(None)?;
        Ok((Axial { direction, h }, links))
    }

    /// Bit mu is set if the links of direction mu inside of pieces of the lattice are unit matrices.
    pub fn mask(&self) -> i32 {
        1 << self.direction
    }

    /// The transformation g h^dagger, which does to the links in axial gauge what `g` does to those given, in the
    /// precision of `g`.
    pub fn enter(&self, g: Transformation) -> Result<Transformation> {
        let precision = g.precision();
        let g = g.after(&self.h, true)?;
        if precision == Precision::F64 {
            return Ok(g);
        }
        g.to(precision)
    }

    /// The reverse of `enter`: g h, in double.
    pub fn back(&self, g: Transformation) -> Result<Transformation> {
        g.after(&self.h, false)
    }
}
