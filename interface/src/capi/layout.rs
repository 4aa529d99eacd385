//! Layouts of the host's arrays: order of the indices, precision, and memory.

use std::ffi::c_void;

use num_complex::Complex64;

use super::args::Memory;
use super::table::interface;
use crate::backend::{External, Location};
use crate::bail;
use crate::error::{Error, Result, Status};
use crate::fields::{GammaBasis, Group, Layout, LinkOptions, Precision, Subset};
use crate::operators::phase;
use crate::params::{number_of, Host, InC as _};
use crate::refuse;

crate::params::choices! {
    /// Order of an array's indices, from the slowest to the fastest; docs/layouts.md has the formulas. Complex
    /// numbers are (re, im), colour matrices row-major unless stated otherwise.
    pub enum Order: plaq_order {
        /// Sites in lexicographic order (x fastest), at each of them direction, row, column of links, or spin, colour.
        Lexicographic = 0, PLAQ_ORDER_LEXICOGRAPHIC, "lexicographic";
        /// QDP: even sites, then odd; links in four arrays, spinors with the index of spin faster than that of colour.
        Qdp = 1, PLAQ_ORDER_QDP, "qdp";
        /// QDP-JIT: sites fastest; links in four arrays, clover blocks in two.
        QdpJit = 2, PLAQ_ORDER_QDPJIT, "qdpjit";
        /// MILC: even sites, then odd; at each site four links, or spin, then colour (QUDA_DIRAC_ORDER), or packed
        /// clover blocks (QUDA_PACKED_CLOVER_ORDER).
        Milc = 3, PLAQ_ORDER_MILC, "milc";
        /// MILC: links in an array of structs, one for each site, of the size site_bytes, in which links begin at
        /// site_offset.
        MilcSite = 4, PLAQ_ORDER_MILC_SITE, "milc_site";
        /// CPS: links with the index of columns slower than that of rows; spinors with odd sites first.
        Cps = 5, PLAQ_ORDER_CPS, "cps";
        /// Links of BQCD.
        Bqcd = 6, PLAQ_ORDER_BQCD, "bqcd";
        /// Links of the TIFR code.
        Tifr = 7, PLAQ_ORDER_TIFR, "tifr";
        /// TIFR's order with two slices of halo on both sides of z.
        TifrPadded = 8, PLAQ_ORDER_TIFR_PADDED, "tifr_padded";
        /// Links, spinors and clover terms of openQCD; its spinors are in PLAQ_BASIS_CHIRAL.
        OpenQcd = 9, PLAQ_ORDER_OPENQCD, "openqcd";
        /// Links in cuLGT's StandardPattern.
        Standard = 10, PLAQ_ORDER_CULGT_STANDARD, "culgt_standard";
        /// Links in cuLGT's GpuPattern.
        Gpu = 11, PLAQ_ORDER_CULGT_GPU, "culgt_gpu";
        /// Links in cuLGT's GpuPatternTimeslice.
        Timeslice = 12, PLAQ_ORDER_CULGT_TIMESLICE, "culgt_timeslice";
        /// Links in cuLGT's GpuPatternParityPriority.
        Parity = 13, PLAQ_ORDER_CULGT_PARITY, "culgt_parity";
        /// Links in cuLGT's GpuPatternTimesliceParityPriority.
        TimesliceParity = 14, PLAQ_ORDER_CULGT_TIMESLICE_PARITY, "culgt_timeslice_parity";
    }
}

crate::params::parameters! {
    /// Layout of an array of the host.
    pub struct LayoutParams: plaq_layout_params {
        /// Order of the array's indices, and the code that uses it.
        order: Order = Order::Lexicographic;
        /// Precision of the array's numbers, double or single.
        precision: Precision = Precision::F64;
        /// Memory that holds the array.
        location: Location = Location::Host;
        /// Gamma basis of spinors.
        basis: GammaBasis = GammaBasis::DeGrandRossi;
        /// 0: `data` is the array itself; several arrays (QDP links, right-hand sides) follow each other in it. n:
        /// `data` is the address of n pointers to arrays.
        arrays: i32 = 0;
        /// True: links are projected onto the group after the check.
        project: bool = false;
        /// Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in single. Negative: nothing
        /// is checked, not even for NaN.
        tolerance: f64 = 0.0;
        /// Factors of the array's links: it contains scale[mu] times the links, for example an anisotropy.
        scale: [f64; 4] = [1.0; 4];
        /// Boundary phases contained in the array: its links that cross the boundary are multiplied by exp(i pi
        /// boundary[mu]).
        boundary: [f64; 4] = [0.0; 4];
        /// Size in bytes of a site's struct, for PLAQ_ORDER_MILC_SITE.
        site_bytes: u64 = 0, within(0, 1 << 40);
        /// Offset in bytes of the links in a site's struct, for PLAQ_ORDER_MILC_SITE.
        site_offset: u64 = 0, within(0, 1 << 40);
        /// For device arrays, the CUstream (cudaStream_t) on which the host works with them: the call runs after the
        /// work on it. NULL: that of plaq_context_params; 1: the legacy default stream; 2: the calling thread's. The
        /// call itself returns when its work is done.
        stream: Host<*mut c_void> = Host(std::ptr::null_mut());
    }
}

interface! {
    "Layouts: arrays of the host program"
    choices {
        plaq_location = Location;
        plaq_basis = GammaBasis;
        plaq_order = Order;
    }
    tables {
        plaq_layout_params, plaq_layout_params_init;
    }
}

/// Boundary phases of all directions, from angles in units of pi.
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

impl LayoutParams {
    /// Converts the host's parameters of a layout.
    pub(crate) fn of(layout: &plaq_layout_params) -> Result<Self> {
        LayoutParams::from_c(layout, "layout")
    }

    fn precision(&self) -> Result<Precision> {
        match self.precision {
            Precision::F16 => refuse!(
                BadLayout,
                "layout.precision",
                expected("PLAQ_PRECISION_DOUBLE (8) or PLAQ_PRECISION_SINGLE (4)"),
                found("{}", number_of(self.precision))
            ),
            precision => Ok(precision),
        }
    }

    fn no_such(&self, what: &str) -> Result<Layout> {
        bail!(BadLayout, "layout.order: there is no {} of {what}", self.order)
    }

    /// The layout for links on a lattice of these extents.
    pub(crate) fn links(&self, extents: [usize; 4]) -> Result<Layout> {
        let p = self.precision()?;
        let layout = match self.order {
            Order::Lexicographic => Layout::lexicographic(p),
            Order::Qdp => Layout::qdp(p),
            Order::QdpJit => Layout::qdpjit(p),
            Order::Milc => Layout::milc(p),
            Order::MilcSite => {
                Layout::milc_site(p, self.site_bytes as usize, self.site_offset as usize)?
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
        let reproject = self.project;
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

    /// Whether numbers are checked when they are loaded.
    pub(crate) fn checked(&self) -> bool {
        self.tolerance >= 0.0
    }

    pub(crate) fn spinors(&self) -> Result<Layout> {
        let p = self.precision()?;
        let basis = self.basis;
        Ok(match self.order {
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
        Ok(match self.order {
            Order::Milc => Layout::packed_clover(p),
            Order::QdpJit => Layout::qdpjit_clover(p),
            _ => return self.no_such("clover blocks"),
        })
    }

    /// The host's memory at `data` for fields of this layout: one block, or `arrays` arrays,
    /// one for each right-hand side, or of a single right-hand side one for each array of the layout.
    pub(crate) fn external<'a>(
        &self,
        data: &'a impl Memory,
        layout: &Layout,
        shape: ([usize; 4], Group, Subset),
        nrhs: usize,
    ) -> Result<External<'a>> {
        let (extents, group, subset) = shape;
        let location = self.location;
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
                expected("0 or {wanted} for {} here", self.order),
                found("{n}")
            ),
        };
        // SAFETY: a stream of the host, as the header asks.
        memory.map(|memory| unsafe { memory.on_stream(self.stream.0 as u64) })
    }
}
