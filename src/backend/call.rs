//! A kernel call: the arguments, the amount of work, and the constants that are compiled into the kernel on GPUs.

use std::sync::OnceLock;

use super::families::{self, Instance, Kernel, NotCompiled};
use super::{Device, KernelArgs, Specs};
use crate::error::{Error, Status};

impl From<NotCompiled> for Error {
    fn from(NotCompiled { found, made }: NotCompiled) -> Self {
        let made = made.join(", ");
        Error::new(
            Status::Unsupported,
            format!("a kernel is made for {made}, asked for was {found}"),
        )
    }
}

/// For more elements than this, kernels of a GPU are compiled with `WIDE`, to count in 64 bits (kernels/element.h).
const FEW_ELEMENTS: usize = 1 << 30;
/// Name of the constant that makes kernels use 64-bit counters.
pub const WIDE: &str = "PLAQ_WIDE";

/// A kernel call in the form that the back ends take, whatever the kernel.
pub struct Call<'a> {
    pub kernel: &'static Kernel,
    pub params: &'a [&'static str],
    /// The argument struct, which exists for 'a.
    pub args: *const u8,
    pub args_bytes: usize,
    pub work: Work,
    specs: OnceLock<Specs>,
    /// Function that returns the constants (`spec` members) of the argument struct at an address.
    find_specs: unsafe fn(*const u8) -> Specs,
}

/// Amount of work of a launch: the ranges that the kernel's loops cover.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Number of outer sites over which the kernel loops, or of elements for kernels whose elements are not sites.
    pub n: usize,
    /// Number of batches, in most kernels planes or right-hand sides; every site is handled once for each batch.
    pub batches: usize,
    /// Number of lanes of a site in the layout of the fields.
    pub lanes: usize,
}

impl Work {
    /// The work on `sites` sites of kernels whose element is a whole site on a CPU, and on a GPU one of the `each`
    /// numbers of a site.
    pub fn rows(device: &Device, sites: usize, each: usize) -> Self {
        let n = if device.is_cpu() { sites } else { sites * each };
        Work { n, batches: 1, lanes: device.max_lanes() }
    }
}

impl<'a> Call<'a> {
    /// A call of a kernel of the table.
    pub fn new<K: Instance>(params: &'a [&'static str], args: &'a K::Args, work: Work) -> Self {
        // SAFETY: the address is that of the struct `args`, which lives as long as the call.
        let find_specs = |args: *const u8| specs_of(unsafe { &*args.cast::<K::Args>() });
        let (kernel, args_bytes) = (K::KERNEL, size_of::<K::Args>());
        let args = (args as *const K::Args).cast();
        Call { kernel, params, args, args_bytes, work, specs: OnceLock::new(), find_specs }
    }

    /// A call without arguments but with known constants, for which a kernel can be compiled but not run.
    pub(super) fn known(
        kernel: &'static Kernel,
        params: &'a [&'static str],
        specs: Specs,
        work: Work,
    ) -> Self {
        let (args, specs) = (std::ptr::null(), specs.into());
        Call { kernel, params, args, args_bytes: 0, work, specs, find_specs: |_| Specs::new() }
    }

    /// The constants of the call; they are computed on demand, which happens only when kernels are compiled or calls
    /// are recorded.
    pub fn specs(&self) -> &Specs {
        self.specs.get_or_init(|| {
            // SAFETY: `args` is alive, and is the struct that `new` was given.
            let mut specs = constants(self.kernel, unsafe { (self.find_specs)(self.args) });
            if self.kernel.elements && self.work.n > FEW_ELEMENTS {
                specs.push((WIDE, 1));
            }
            specs
        })
    }

    pub fn symbol(&self) -> String {
        families::symbol(self.kernel, self.params)
    }

    /// Count of numbers that a reduction gives for each batch, and how many of these, at the end, are maxima over
    /// sites; the others are sums.
    pub fn numbers(&self) -> (usize, usize) {
        self.kernel.kind.numbers().expect("kernels that implement Sums have them")
    }
}

/// The constants, out of `all` of an argument struct, on which a kernel depends; on a GPU they are compiled into it.
/// Kernels that work site by site do not depend on the extents if no direction has halos; kernels that do not depend on
/// extents do not depend on the number of sites either.
pub fn constants(kernel: &Kernel, mut all: Specs) -> Specs {
    const EXTENTS: [&str; 4] =
        ["PLAQ_SPEC_Geom_x", "PLAQ_SPEC_Geom_y", "PLAQ_SPEC_Geom_z", "PLAQ_SPEC_Geom_t"];
    if kernel.by_site && all.contains(&("PLAQ_SPEC_Geom_halos", 0)) {
        all.retain(|s| !EXTENTS.contains(&s.0));
    }
    if !all.iter().any(|s| EXTENTS.contains(&s.0)) {
        all.retain(|s| s.0 != "PLAQ_SPEC_FieldView_volume");
    }
    all
}

/// The constants (`spec` members) in the arguments of a call. Absent fields (volume 0) are skipped. A constant that has
/// different values at several places, as for fields of different volume, is left out: the kernel then reads it from
/// the arguments.
pub fn specs_of<A: KernelArgs>(args: &A) -> Specs {
    let mut all = Specs::new();
    args.specs(&mut all);
    all.retain(|s| *s != ("PLAQ_SPEC_FieldView_volume", 0));
    all.sort_unstable();
    all.dedup();
    let mut single = Specs::with_capacity(all.len());
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        if let [one] = same {
            single.push(*one);
        }
    }
    single
}
