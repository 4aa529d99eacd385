//! Axial gauge, in which gauge fixing starts: all links of one direction are unit matrices except at the ends of
//! lines, so that sweeps neither read nor multiply a quarter of the links (a third in Coulomb gauge). The result of
//! sweeps does not depend on the gauge in which they start, except for rounding.

use super::sweeper::Functional;
use crate::backend::args::AxialArgs;
use crate::backend::families::Double;
use crate::backend::kernels;
use crate::backend::Work;
use crate::error::Result;
use crate::fields::{GaugeField, Precision, Transformation};

/// The gauge transformation h that brings the links to axial gauge.
#[derive(Debug)]
pub(super) struct Axial {
    direction: usize,
    h: Transformation,
}

impl Axial {
    /// Finds h, and returns it with the links in axial gauge, stored whole in double precision. The direction whose
    /// links become unit matrices is, of those in the functional, the one in which neighbours are furthest apart in
    /// memory.
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
        // A line is divided into pieces among lanes and ranks. A piece is right only once the piece before it is, so
        // that the pass over the slices is repeated for every piece.
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

    /// Bit mu is set if the links in direction mu are unit matrices inside of each lane's part of the lattice.
    pub fn mask(&self) -> i32 {
        1 << self.direction
    }

    /// The transformation g h^dagger: it has the same effect on the links in axial gauge as `g` has on the original
    /// links. Its precision is that of `g`.
    pub fn enter(&self, g: Transformation) -> Result<Transformation> {
        let precision = g.precision();
        let g = g.after(&self.h, true)?;
        if precision == Precision::F64 {
            return Ok(g);
        }
        g.to(precision)
    }

    /// The reverse of [`Axial::enter`]: g h, in double precision.
    pub fn back(&self, g: Transformation) -> Result<Transformation> {
        g.after(&self.h, false)
    }
}
