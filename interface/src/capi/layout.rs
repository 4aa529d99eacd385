//! Arrays of the host: order of their indices, precision, where they lie.

use std::ffi::c_void;

use num_complex::Complex64;

use super::args::{choose, number_of, Memory};
use super::field::plaq_precision;
use super::table::interface;
use crate::backend::{External, Location};
use crate::bail;
use crate::error::{words, Error, Result, Status};
use crate::fields::{GammaBasis, Group, Layout, LinkOptions, Precision, Subset};
use crate::operators::phase;
use crate::refuse;

/// Names of orders, whatever they hold.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    Lexicographic,
    Qdp,
    QdpJit,
    Milc,
    MilcSite,
    Cps,
    Bqcd,
    Tifr,
    TifrPadded,
    OpenQcd,
    Standard,
    Gpu,
    Timeslice,
    Parity,
    TimesliceParity,
}

words!(Order {
    Lexicographic => "PLAQ_ORDER_LEXICOGRAPHIC",
    Qdp => "PLAQ_ORDER_QDP",
    QdpJit => "PLAQ_ORDER_QDPJIT",
    Milc => "PLAQ_ORDER_MILC",
    MilcSite => "PLAQ_ORDER_MILC_SITE",
    Cps => "PLAQ_ORDER_CPS",
    Bqcd => "PLAQ_ORDER_BQCD",
    Tifr => "PLAQ_ORDER_TIFR",
    TifrPadded => "PLAQ_ORDER_TIFR_PADDED",
    OpenQcd => "PLAQ_ORDER_OPENQCD",
    Standard => "PLAQ_ORDER_CULGT_STANDARD",
    Gpu => "PLAQ_ORDER_CULGT_GPU",
    Timeslice => "PLAQ_ORDER_CULGT_TIMESLICE",
    Parity => "PLAQ_ORDER_CULGT_PARITY",
    TimesliceParity => "PLAQ_ORDER_CULGT_TIMESLICE_PARITY",
});

interface! {
    "Layouts: arrays of the host program"
    choices {
        plaq_location = Location;
        plaq_basis = GammaBasis;
    }
    constants {
        /// Order of an array's indices; docs/layouts.md has the formulas. Complex numbers are
        /// (re, im), colour matrices row-major unless it says otherwise.
        plaq_order: Order {
            /// Site (x fastest), then direction, row, column, or spin, colour.
            PLAQ_ORDER_LEXICOGRAPHIC = 0 => Order::Lexicographic,
            /// Links: four arrays, even sites, then odd. Spinors: spin inside colour.
            PLAQ_ORDER_QDP = 1 => Order::Qdp,
            /// Sites fastest; links in four arrays, clover blocks in two.
            PLAQ_ORDER_QDPJIT = 2 => Order::QdpJit,
            /// Even sites, then odd; four links on a site, or spin, colour (QUDA_DIRAC_ORDER), or
            /// packed clover blocks (QUDA_PACKED_CLOVER_ORDER).
            PLAQ_ORDER_MILC = 3 => Order::Milc,
            /// Links inside an array of structs: site_bytes, site_offset.
            PLAQ_ORDER_MILC_SITE = 4 => Order::MilcSite,
            /// Links with columns outside rows; spinors with odd sites first.
            PLAQ_ORDER_CPS = 5 => Order::Cps,
            /// Links of BQCD.
            PLAQ_ORDER_BQCD = 6 => Order::Bqcd,
            /// Links of the TIFR code.
            PLAQ_ORDER_TIFR = 7 => Order::Tifr,
            /// TIFR's order with two slices of halo on both sides of z.
            PLAQ_ORDER_TIFR_PADDED = 8 => Order::TifrPadded,
            /// openQCD; its spinors are in PLAQ_BASIS_CHIRAL.
            PLAQ_ORDER_OPENQCD = 9 => Order::OpenQcd,
            /// Links in cuLGT's StandardPattern.
            PLAQ_ORDER_CULGT_STANDARD = 10 => Order::Standard,
            /// Links in cuLGT's GpuPattern.
            PLAQ_ORDER_CULGT_GPU = 11 => Order::Gpu,
            /// Links in cuLGT's GpuPatternTimeslice.
            PLAQ_ORDER_CULGT_TIMESLICE = 12 => Order::Timeslice,
            /// Links in cuLGT's GpuPatternParityPriority.
            PLAQ_ORDER_CULGT_PARITY = 13 => Order::Parity,
            /// Links in cuLGT's GpuPatternTimesliceParityPriority.
            PLAQ_ORDER_CULGT_TIMESLICE_PARITY = 14 => Order::TimesliceParity,
        }
    }
    params {
        /// An array of the host.
        plaq_layout_params, plaq_layout_params_init {
            /// Order of the array's indices.
            order: plaq_order = PLAQ_ORDER_LEXICOGRAPHIC,
            /// Double or single.
            precision: plaq_precision = Precision::F64.into(),
            /// Memory that the array is in.
            location: plaq_location = number_of(Location::Host),
            /// Gamma basis of spinors.
            basis: plaq_basis = number_of(GammaBasis::DeGrandRossi),
            /// 0: `data` is the array, several arrays (QDP links, right-hand sides) one after the
            /// other in it. n: `data` is the address of n pointers to arrays.
            arrays: i32 = 0,
            /// 1: links are put on the group after the check.
            project: i32 = 0,
            /// Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in
            /// single. Negative: nothing is checked, also not for NaN.
            tolerance: f64 = 0.0,
            /// The array holds scale[mu] times the links, e.g. an anisotropy.
            scale: [f64; 4] = [1.0; 4],
            /// The array's links that cross the boundary carry exp(i pi boundary[mu]).
            boundary: [f64; 4] = [0.0; 4],
            /// Bytes of a site's struct, with PLAQ_ORDER_MILC_SITE.
            site_bytes: i64 = 0,
            /// Bytes that precede the links in that struct.
            site_offset: i64 = 0,
            /// Device arrays: the CUstream (cudaStream_t) on which the host works on them; the call
            /// comes after what is on it. NULL: that of plaq_context_params; 1: the legacy default
            /// stream; 2: the calling thread's. The call itself returns when its work is done.
            stream: *mut c_void = std::ptr::null_mut(),
        }
    }
}

/// Phases of all directions from angles in units of pi.
pub(crate) fn phases(angles: [f64; 4], status: Status, name: &str) -> Result<[Complex64; 4]> {
    match angles.iter().position(|angle| !angle.is_finite()) {
        None => Ok(angles.map(phase)),
        Some(mu) => {
            let found = angles[mu];
            Err(Error::refused(
                status,
                format!("{name}[{mu}]"),
                "a finite angle",
                found.to_string(),
            ))
        }
    }
}

impl plaq_layout_params {
    fn order(&self) -> Result<Order> {
        choose(self.order, "layout.order")
    }

    fn precision(&self) -> Result<Precision> {
        match choose(self.precision, "layout.precision")? {
            Precision::F16 => refuse!(
                BadLayout,
                "layout.precision",
                expected("PLAQ_PRECISION_DOUBLE (8) or PLAQ_PRECISION_SINGLE (4)"),
                found("{}", self.precision)
            ),
            precision => Ok(precision),
        }
    }

    fn no_such(&self, what: &str) -> Result<Layout> {
        bail!(BadLayout, "layout.order: there is no {} of {what}", self.order()?)
    }

    /// Links on a lattice of these extents.
    pub(crate) fn links(&self, extents: [usize; 4]) -> Result<Layout> {
        let p = self.precision()?;
        let layout = match self.order()? {
            Order::Lexicographic => Layout::lexicographic(p),
            Order::Qdp => Layout::qdp(p),
            Order::QdpJit => Layout::qdpjit(p),
            Order::Milc => Layout::milc(p),
            Order::MilcSite => {
                let size = |n: i64| n.clamp(0, 1 << 40) as usize;
                Layout::milc_site(p, size(self.site_bytes), size(self.site_offset))?
            }
            Order::Cps => Layout::cps(p, 1.0),
            Order::Bqcd => Layout::bqcd(p, extents),
            Order::Tifr => Layout::tifr(p, 1.0),
            Order::TifrPadded => Layout::tifr_padded(p, 1.0),
            Order::OpenQcd => Layout::openqcd(p),
            Order::Standard => Layout::standard_pattern(p),
            Order::Gpu => Layout::gpu_pattern(p),
            Order::Timeslice => Layout::timeslice_pattern(p),
            Order::Parity => Layout::parity_pattern(p),
            Order::TimesliceParity => Layout::timeslice_parity_pattern(p),
        };
        for (mu, scale) in self.scale.into_iter().enumerate() {
            if !scale.is_finite() || scale == 0.0 {
                refuse!(
                    BadLayout,
                    "layout.scale[{mu}]",
                    expected("a number that is not 0"),
                    found("{scale}")
                );
            }
        }
        let boundary = phases(self.boundary, Status::BadLayout, "layout.boundary")?;
        Ok(Layout { scale: self.scale, boundary, ..layout })
    }

    pub(crate) fn link_options(&self) -> Result<LinkOptions> {
        if !(0..=1).contains(&self.project) {
            refuse!(
                InvalidArgument,
                "layout.project",
                expected("0 or 1"),
                found("{}", self.project)
            );
        }
        let reproject = self.project == 1;
        let standard = LinkOptions::checked(self.precision()?).tolerance;
        let tolerance = match self.tolerance {
            t if t.is_nan() => {
                refuse!(InvalidArgument, "layout.tolerance", expected("a number"), found("NaN"))
            }
            0.0 => standard,
            t if t < 0.0 => None,
            t => Some(t),
        };
        Ok(LinkOptions { tolerance, reproject })
    }

    /// Are numbers checked on load?
    pub(crate) fn checked(&self) -> bool {
        self.tolerance >= 0.0
    }

    pub(crate) fn spinors(&self) -> Result<Layout> {
        let p = self.precision()?;
        let basis = choose(self.basis, "layout.basis")?;
        Ok(match self.order()? {
            Order::Lexicographic => Layout::lexicographic_spinor(p, basis),
            Order::Qdp => Layout::qdp_spinor(p, basis),
            Order::QdpJit => Layout::qdpjit_spinor(p, basis),
            Order::Milc => Layout::dirac(p, basis),
            Order::Cps => Layout::cps_spinor(p, basis),
            Order::TifrPadded => Layout::tifr_padded_spinor(p, basis),
            Order::OpenQcd => Layout { basis, ..Layout::openqcd_spinor(p) },
            _ => return self.no_such("spinors"),
        })
    }

    pub(crate) fn clover(&self) -> Result<Layout> {
        let p = self.precision()?;
        Ok(match self.order()? {
            Order::Milc => Layout::packed_clover(p),
            Order::QdpJit => Layout::qdpjit_clover(p),
            _ => return self.no_such("clover blocks"),
        })
    }

    /// The host's memory behind `data`; `lists` of one array each can also lie in one block.
    pub(crate) fn external<'a>(
        &self,
        data: &'a impl Memory,
        layout: &Layout,
        shape: ([usize; 4], Group, Subset),
        nrhs: usize,
    ) -> Result<External<'a>> {
        let (extents, group, subset) = shape;
        let location = choose(self.location, "layout.location")?;
        let bytes = layout.bytes(extents, group, subset)?;
        let wanted = if nrhs > 1 { nrhs } else { bytes.len() };
        let memory = match self.arrays {
            0 if nrhs == 1 => Ok(data.block(&bytes, location)),
            // All right-hand sides in one array: the layout knows their distance.
            0 => Ok(data.block(&[usize::MAX / 2], location)),
            n if n as i64 == wanted as i64 => Ok(data.list(wanted, location)),
            n => refuse!(
                BadLayout,
                "layout.arrays",
                expected("0 or {wanted} for {} here", self.order()?),
                found("{n}")
            ),
        };
        // SAFETY: a stream of the host, as the header asks.
        memory.map(|memory| unsafe { memory.on_stream(self.stream as u64) })
    }
}
