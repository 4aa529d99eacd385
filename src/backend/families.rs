//! The table of all kernels. For each it has a Rust type, the header, the name, the argument struct, the kind and the
//! values of its template parameters. build.rs also reads this file and compiles all of them for the CPU; for a GPU a
//! kernel is compiled when it is first needed.

/// The kind of loop over sites in which a kernel's body runs, and the reductions that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The body handles W lanes of a site at a time, W being the number of numbers in a vector register.
    Site,
    /// Like `Site` on a CPU. On a GPU the body itself divides the sites among thread blocks; a block handles all batches
    /// of its sites, with two threads per site if there are several batches.
    Block,
    /// The body handles one lane of a site at a time, for work that takes little time or cannot be vectorised.
    Lane,
    /// Sums of N doubles over the sites, per batch.
    Reduce(usize),
    /// Sums of N doubles, followed by maxima of M numbers that are not negative, over the sites, per batch.
    ReduceMax(usize, usize),
    /// Sums and maxima as `ReduceMax`, but the body handles one lane of a site at a time.
    LaneReduce(usize, usize),
}

impl Kind {
    /// Count of numbers that a reduction gives per batch, and how many of them, at the end, are maxima.
    #[allow(dead_code)]
    pub fn numbers(self) -> Option<(usize, usize)> {
        match self {
            Kind::Reduce(n) => Some((n, 0)),
            Kind::ReduceMax(n, m) | Kind::LaneReduce(n, m) => Some((n + m, m)),
            Kind::Site | Kind::Block | Kind::Lane => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// First part of the symbol; the values of the template parameters follow.
    pub name: &'static str,
    /// C++ template `K<W, params...>` in `header`.
    pub body: &'static str,
    pub header: &'static str,
    pub args: &'static str,
    pub kind: Kind,
    /// Allowed values of each template parameter.
    pub params: &'static [&'static [&'static str]],
    pub vectors: Vectors,
    /// True if the compiler takes long for an instantiation, which is then a translation unit of its own.
    pub large: bool,
    /// True if on a GPU other block sizes are tried by default, for every amount of work, once the kernel has run for
    /// some time (src/backend/cuda/trials.rs).
    pub tuned: bool,
    /// True if the kernel starts on a GPU while the one before it still runs (plaq_dialect.h). This pays for blocks
    /// that run long; short blocks lose more time by the wait (a plain copy becomes a fifth slower).
    pub overlapping: bool,
    /// True if all batches read the same links or vectors at a site. On a GPU all batches of the same sites then run
    /// one after the other and find these data in the second-level cache.
    pub batches_first: bool,
    /// True if on a GPU two threads together handle all batches of a site.
    pub pairs: bool,
    /// True if the kernel reads no other sites than the one that it computes. If no direction is divided over ranks,
    /// it then does not depend on the extents and is compiled once for all lattices.
    #[allow(dead_code)]
    pub by_site: bool,
    /// True if the kernel's elements are numbers and not sites; there may be 2^32 or more of them (kernels/element.h).
    pub elements: bool,
    /// True if the kernel's sums count errors; in a rehearsal they are 0.
    #[allow(dead_code)]
    pub failures: bool,
    pub blocks: Blocks,
}

impl Kernel {
    /// On a GPU, for kernels whose threads handle all batches of a site, the number of threads that share a site.
    #[allow(dead_code)]
    pub fn threads_per_site(&self, batches: usize) -> Option<usize> {
        match self.kind {
            Kind::Block => Some(if batches > 1 { 2 } else { 1 }),
            _ => self.pairs.then_some(2),
        }
    }

    /// Whether results have the same bits for all sizes of a GPU's blocks. This does not hold for sums and for kernels
    /// whose blocks run in a certain order.
    #[allow(dead_code)]
    pub fn any_shape(&self) -> bool {
        self.tuned || (matches!(self.kind, Kind::Site) && self.blocks == Blocks::Usual)
    }
}

/// The numbers of lanes of a CPU's layout for which a kernel is compiled with vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// All numbers of lanes, for kernels in which solvers spend their time.
    Hot,
    /// Layouts with 16 lanes and, for kernels whose elements are sites, with 8 lanes.
    Usual,
    /// No number of lanes, for kernels that are called once where others are called a thousand times.
    Cold,
}

/// Limits on the size of a GPU's thread blocks and on the registers of a thread. A multiprocessor has 65536 registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Limits that depend on the kind of kernel: many warps hide the latency of streaming kernels; kernels with
    /// serial work per site use all registers.
    Usual,
    /// Small blocks, so that few multiprocessors are idle while the last blocks of a launch run. Single and half
    /// precision have 128 registers: a few words spill, but 16 warps hide more latency than the 12 that 168 registers
    /// leave. Double needs some 240, nearly all that a thread may have.
    Small,
    /// Small blocks as in `Small`; in single precision a thread has the number of registers that spills the fewest.
    SmallSingle,
    /// A thread has all registers in every precision, as even single precision would spill with fewer.
    AllRegisters,
    /// Large blocks with a thread for each link; the more threads, the more links they share in the first-level cache.
    Links,
    /// A thread for each link, which keeps several matrices in registers: all registers in double precision, 168 in
    /// single.
    Rectangles,
}

impl Blocks {
    /// Whether a reduction launches only as many blocks as run at a time. They go through the lattice together, so that
    /// neighbouring sites are still in the second-level cache.
    #[allow(dead_code)]
    pub fn one_wave(self) -> bool {
        matches!(self, Blocks::Links | Blocks::Rectangles)
    }
}

/// The default values of a row of the table.
impl Kernel {
    const PLAIN: Kernel = Kernel {
        name: "",
        body: "",
        header: "",
        args: "",
        kind: Kind::Site,
        params: &[],
        vectors: Vectors::Usual,
        large: false,
        tuned: false,
        overlapping: false,
        batches_first: false,
        pairs: false,
        by_site: false,
        elements: false,
        failures: false,
        blocks: Blocks::Usual,
    };
}

/// The options with which a row of the table can end.
impl Kernel {
    const fn hot(self) -> Kernel {
        Kernel { vectors: Vectors::Hot, ..self }
    }
    const fn cold(self) -> Kernel {
        Kernel { vectors: Vectors::Cold, ..self }
    }
    const fn large(self) -> Kernel {
        Kernel { large: true, ..self }
    }
    const fn tuned(self) -> Kernel {
        Kernel { tuned: true, blocks: Blocks::Small, ..self }
    }
    const fn overlapping(self) -> Kernel {
        Kernel { overlapping: true, ..self }
    }
    const fn batches_first(self) -> Kernel {
        Kernel { batches_first: true, ..self }
    }
    const fn pairs(self) -> Kernel {
        Kernel { pairs: true, ..self }
    }
    const fn by_site(self) -> Kernel {
        Kernel { by_site: true, ..self }
    }
    const fn elements(self) -> Kernel {
        Kernel { elements: true, ..self }
    }
    const fn failures(self) -> Kernel {
        Kernel { failures: true, ..self }
    }
    const fn blocks(self, blocks: Blocks) -> Kernel {
        Kernel { blocks, ..self }
    }
}

/// A set of values of a template parameter, as a type, so that a kernel cannot be called with a value for which it is
/// not compiled.
pub trait Values: Copy {
    /// The enum to which the values belong: storage precisions or storages of links.
    type All: Copy;
    /// The names of all values of the set, as they occur in kernel symbols.
    const TOKENS: &'static [&'static str];
    /// The member of the set for `value`; an error if the set does not have it.
    fn of(value: Self::All) -> Result<Self, NotCompiled>;
    fn token(self) -> &'static str;
}

/// The error for a value for which a kernel is not compiled.
#[derive(Debug)]
pub struct NotCompiled {
    pub found: &'static str,
    pub made: &'static [&'static str],
}

macro_rules! values {
    ($($(#[$m:meta])* $All:ident { $($(#[$d:meta])* $V:ident $(= $n:literal)? $token:literal,)* })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $All { $($(#[$d])* $V $(= $n)?,)* }
        impl $All {
            /// The name of the value in kernel symbols.
            pub const fn token(self) -> &'static str {
                match self { $($All::$V => $token,)* }
            }
        }
        impl Values for $All {
            type All = $All;
            const TOKENS: &'static [&'static str] = &[$($token),*];
            fn of(value: $All) -> Result<Self, NotCompiled> { Ok(value) }
            fn token(self) -> &'static str { $All::token(self) }
        }
    )*};
    ($($(#[$m:meta])* $Some:ident of $All:ident { $($V:ident),* })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum $Some { $($V,)* }
        impl Values for $Some {
            type All = $All;
            const TOKENS: &'static [&'static str] = &[$($All::$V.token()),*];
            fn of(value: $All) -> Result<Self, NotCompiled> {
                match value {
                    $($All::$V => Ok($Some::$V),)*
                    #[allow(unreachable_patterns)]
                    other => Err(NotCompiled { found: other.token(), made: Self::TOKENS }),
                }
            }
            fn token(self) -> &'static str {
                match self { $($Some::$V => $All::$V.token(),)* }
            }
        }
    )*};
}

values! {
    /// Storage precision. Arithmetic is in double precision for `F64`, else in single; sums are in double.
    Precision {
        F64 = 64 "f64",
        F32 = 32 "f32",
        /// 16-bit fixed point; spinors and clover blocks with one unit per site.
        F16 = 16 "f16",
    }
    /// Storage of a link (kernels/recon.h): which real numbers are kept, and how the matrix is computed from them. It
    /// also determines the gauge group.
    Recon {
        /// All nine complex entries.
        R18 "R18",
        /// The first two rows.
        R12 "R12",
        /// Eight numbers, two unit vectors by stereographic projection: uniform error of a few units of
        /// roundoff, without roots or trigonometry.
        R8 "R8",
        /// Eight angles (Walk's thesis, Appendix B): uniform error, but slow.
        R8Angles "R8A",
        /// SU(2): a0 + i a.sigma as four reals.
        Su2 "SU2",
    }
}

values! {
    /// Precisions of arithmetic, from which fields are converted to shorter storage.
    Float of Precision { F64, F32 }
    Double of Precision { F64 }
    Single of Precision { F32 }
    SixteenBits of Precision { F16 }
    /// Storages of SU(3).
    Su3 of Recon { R18, R12, R8, R8Angles }
    /// Storages with every matrix entry, for which rarely used kernels are compiled.
    FullLinks of Recon { R18, Su2 }
    /// Storages of SU(3) with every matrix entry.
    FullSu3 of Recon { R18 }
    /// Storages of SU(3) in whole rows.
    Rows of Recon { R18, R12 }
    /// Storages of links and transformations in gauge fixing.
    GaugeFixing of Recon { R8, R12, Su2 }
    /// Storages of gauge transformations.
    Transformations of Recon { R12, Su2 }
}

/// A kernel of the table with values of its template parameters.
pub trait Instance: Copy + Send + Sync {
    type Args: super::args::KernelArgs;
    type Params: AsRef<[&'static str]>;
    const KERNEL: &'static Kernel;
    /// The names of the values of the template parameters, as they occur in the symbol.
    fn params(self) -> Self::Params;
}

/// A kernel that runs over sites.
pub trait Sites: Instance {}
/// A kernel that adds up numbers of all sites.
pub trait Sums: Instance {}

/// Makes a type in `kernels` from each row of the table, whose fields are the values of its template parameters, and
/// collects the rows. A row consists of the type (also the name of the C++ template, unless that is given), the first
/// part of the symbol, the header, the argument struct, the kind, the sets of values, and options.
macro_rules! kernels {
    ($($K:ident $(= $body:ident)?: $name:literal in $header:literal takes $args:ident,
       $kind:ident $(($($n:literal),*))? [$($P:ident),*] $(. $word:ident($($arg:expr)?))*;)*) => {
        /// A type for each kernel: `kernels::Hop(precision, storage)` is one instantiation.
        pub mod kernels {
            use super::*;
            $(
                #[derive(Clone, Copy)]
                pub struct $K($(pub $P),*);
                kernels!(@values $K $args $($P)*);
                kernels!(@runs $kind $K);
            )*
            $(impl $K {
                pub const ROW: Kernel = Kernel {
                    name: $name,
                    body: [$(stringify!($body),)? stringify!($K)][0],
                    header: $header,
                    args: stringify!($args),
                    kind: Kind::$kind $(($($n),*))?,
                    params: &[$($P::TOKENS),*],
                    ..Kernel::PLAIN
                }$(.$word($($arg)?))*;
            })*
        }
        /// The table of kernels.
        pub const KERNELS: &[Kernel] = &[$(kernels::$K::ROW),*];
    };
    (@values $K:ident $args:ident) => {
        kernels!(@instance $K $args self, 0, []);
    };
    (@values $K:ident $args:ident $A:ident) => {
        impl $K {
            /// The kernel with this value, if it is compiled for it.
            pub fn of(a: <$A as Values>::All) -> Result<Self, NotCompiled> {
                Ok(Self($A::of(a)?))
            }
        }
        kernels!(@instance $K $args self, 1, [Values::token(self.0)]);
    };
    (@values $K:ident $args:ident $A:ident $B:ident) => {
        impl $K {
            /// The kernel with these values, if it is compiled for them.
            pub fn of(a: <$A as Values>::All, b: <$B as Values>::All) -> Result<Self, NotCompiled> {
                Ok(Self($A::of(a)?, $B::of(b)?))
            }
        }
        kernels!(@instance $K $args self, 2, [Values::token(self.0), Values::token(self.1)]);
    };
    (@instance $K:ident $args:ident $self:ident, $count:literal, $tokens:expr) => {
        impl Instance for $K {
            type Args = super::super::args::$args;
            type Params = [&'static str; $count];
            const KERNEL: &'static Kernel = &Self::ROW;
            fn params($self) -> Self::Params {
                $tokens
            }
        }
    };
    (@runs Site $K:ident) => { impl Sites for $K {} };
    (@runs Block $K:ident) => { impl Sites for $K {} };
    (@runs Lane $K:ident) => { impl Sites for $K {} };
    (@runs $kind:ident $K:ident) => { impl Sums for $K {} };
}

include!("families_table.rs");

/// Whether a kernel is compiled with vector instructions for layouts with this number of lanes; otherwise it runs in
/// the generic set, which is slower but compiles much faster. With 16 lanes all kernels have vectors except lane-serial
/// and rarely called ones; with 8 lanes (one extent is not divisible by four) only those of them whose elements are
/// sites; with fewer lanes only `Hot` ones.
#[allow(dead_code)]
pub fn vectorised(kernel: &Kernel, params: &[&str], lanes: usize) -> bool {
    let has = |p: &str| params.contains(&p);
    let hot = kernel.vectors == Vectors::Hot;
    // Storage by eight angles spends its time in sines and arctangents, and links with all entries in 16 bits gain too
    // little from vectors.
    if matches!(kernel.kind, Kind::Lane | Kind::LaneReduce(..))
        || has("R8A")
        || (has("f16") && has("R18"))
    {
        return false;
    }
    // Gauge fixing uses the storage R8 on GPUs only, so that these kernels are rare on a CPU.
    let cold = kernel.vectors == Vectors::Cold || has("f16") || has("R8");
    match lanes {
        16 => hot || !cold,
        8 => hot || (!cold && !kernel.elements),
        _ => hot && !has("R8"),
    }
}

/// The symbol of one instantiation of a kernel.
pub fn symbol(kernel: &Kernel, params: &[&str]) -> String {
    let mut s = String::from(kernel.name);
    for p in params {
        s.push('_');
        s.push_str(p);
    }
    s
}

/// The macro line that instantiates a kernel with vectors of `simd_bytes` bytes, holding at most `lanes` numbers.
pub fn instantiate(kernel: &Kernel, params: &[&str], simd_bytes: usize, lanes: usize) -> String {
    let widest = if params.contains(&"f64") { 8 } else { 4 };
    let w = (simd_bytes / widest).clamp(1, lanes);
    let sym = symbol(kernel, params);
    let list: String = params.iter().map(|p| format!(", {p}")).collect();
    let body = format!("{}<{w}{list}>", kernel.body);
    let (args, name) = (kernel.args, kernel.name);
    let [site, reduce] = match kernel.elements {
        true => ["PLAQ_ELEMENT_KERNEL", "PLAQ_ELEMENT_REDUCE"],
        false if kernel.pairs => ["PLAQ_PAIRS_KERNEL", "PLAQ_REDUCE_KERNEL"],
        false if kernel.batches_first => ["PLAQ_BATCHES_KERNEL", "PLAQ_REDUCE_KERNEL"],
        false => ["PLAQ_SITE_KERNEL", "PLAQ_REDUCE_KERNEL"],
    };
    match kernel.kind {
        Kind::Site | Kind::Lane => {
            format!("{site}({sym}, {w}, {args}, PLAQ_BODY({body}))  // {name}\n")
        }
        Kind::Block => {
            format!("PLAQ_BLOCK_KERNEL({sym}, {w}, {args}, PLAQ_BODY({body}))  // {name}\n")
        }
        Kind::Reduce(_) | Kind::LaneReduce(..) | Kind::ReduceMax(..) => {
            let (n, m) = kernel.kind.numbers().expect("a reduction");
            format!("{reduce}({sym}, {w}, {n}, {m}, {args}, PLAQ_BODY({body}))  // {name}\n")
        }
    }
}

/// Every combination of the parameters' values.
#[allow(dead_code)]
pub fn combinations(params: &[&'static [&'static str]]) -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    for values in params {
        all = all
            .into_iter()
            .flat_map(|head: Vec<&str>| {
                values.iter().map(move |v| [head.as_slice(), &[*v]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}
