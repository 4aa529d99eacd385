//! Every kernel that exists: family header, name, argument struct, kind and the template
//! parameters it is instantiated for. Shared with build.rs, which instantiates all of it for
//! the CPU; the GPU compiles what is launched.

/// What a kernel does with its sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// W lanes of a site at a time.
    Site,
    /// The same; on a GPU the body lays out its own blocks, each over all batches and, where
    /// there are several, with two threads per site.
    Block,
    /// One lane at a time: for work that is not hot, or not vectorisable.
    Lane,
    /// Sums of N doubles over the sites, per batch.
    Reduce(usize),
    /// Sums, and after them maxima of numbers that are not negative.
    ReduceMost(usize, usize),
    /// The same, one lane at a time.
    LaneReduce(usize, usize),
}

impl Kind {
    /// Numbers that a reduction gives per batch, and how many of them, the last ones, are maxima.
    #[allow(dead_code)]
    pub fn numbers(self) -> Option<(usize, usize)> {
        match self {
            Kind::Reduce(n) => Some((n, 0)),
            Kind::ReduceMost(n, m) | Kind::LaneReduce(n, m) => Some((n + m, m)),
            Kind::Site | Kind::Block | Kind::Lane => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// First part of the symbol; the parameters follow.
    pub name: &'static str,
    /// C++ template `K<W, params...>` in `header`.
    pub body: &'static str,
    pub header: &'static str,
    pub args: &'static str,
    pub kind: Kind,
    /// Allowed values of each template parameter.
    pub params: &'static [&'static [&'static str]],
    pub vectors: Vectors,
    /// Its instantiations take the compiler long: a translation unit for itself.
    pub large: bool,
    /// The GPU tuner measures its launch shape by running it again and again. A sweep of gauge fixing
    /// changes what it reads: its first call is on a copy (src/ops/gaugefix/sweeper.rs).
    pub tuned: bool,
    /// On a GPU it comes on the device while the kernel before still runs (plaq_dialect.h): for those
    /// whose blocks stay for long. The wait costs short blocks more than it gains, a copy a fifth.
    pub overlapping: bool,
    /// It takes each site for itself: where no direction is divided over ranks it does not need the extents, and
    /// is compiled once for all lattices.
    #[allow(dead_code)]
    pub by_site: bool,
    /// Its sums count what went wrong: a rehearsal has none.
    #[allow(dead_code)]
    pub failures: bool,
    pub blocks: Blocks,
}

/// For how many lanes a kernel is made with vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// Solvers spend their time in it: for any number.
    Hot,
    /// For 16.
    Usual,
    /// It runs once where others run a thousand times: for none.
    Cold,
}

/// Blocks of threads on a GPU: how many, and how many registers each thread may have. A
/// multiprocessor has 65536 registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// By kind: many warps hide the latency of streaming kernels; what is serial in a site takes all
    /// registers.
    Usual,
    /// A small block wastes least of the last wave. Single and half have 128 registers: a few words
    /// spill, but 16 warps hide more latency than the 12 that 168 registers leave. Double needs some
    /// 240, nearly what a thread may have.
    Small,
    /// The same in single precision: a small block spills least.
    SmallSingle,
    /// All registers, or single precision spills as well.
    AllRegisters,
    /// A link for each thread: large blocks share more links in the first-level cache.
    Links,
    /// The same with several matrices in work: double takes all registers, single 168.
    Rectangles,
}

impl Blocks {
    /// Sums in one wave of blocks, which go through the lattice together: neighbours of what they work on
    /// are still in the second-level cache, where several waves would each go through all of it.
    #[allow(dead_code)]
    pub fn one_wave(self) -> bool {
        matches!(self, Blocks::Links | Blocks::Rectangles)
    }
}

/// A row of the table.
const fn kernel(
    name: &'static str,
    body: &'static str,
    header: &'static str,
    args: &'static str,
    kind: Kind,
    params: &'static [&'static [&'static str]],
) -> Kernel {
    Kernel {
        name,
        body,
        header,
        args,
        kind,
        params,
        vectors: Vectors::Usual,
        large: false,
        tuned: false,
        overlapping: false,
        by_site: false,
        failures: false,
        blocks: Blocks::Usual,
    }
}

/// Words of a row.
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
    const fn by_site(self) -> Kernel {
        Kernel { by_site: true, ..self }
    }
    const fn failures(self) -> Kernel {
        Kernel { failures: true, ..self }
    }
    const fn blocks(self, blocks: Blocks) -> Kernel {
        Kernel { blocks, ..self }
    }
}

/// The row with this name; in a constant, a name that the table lacks does not compile.
#[allow(dead_code)]
pub const fn find(name: &str) -> &'static Kernel {
    let mut i = 0;
    while i < KERNELS.len() {
        if same(KERNELS[i].name.as_bytes(), name.as_bytes()) {
            return &KERNELS[i];
        }
        i += 1;
    }
    panic!("no kernel has this name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

pub const PRECISIONS: &[&str] = &["f64", "f32", "f16"];
/// SU(3) storages, and all of them (kernels/recon.h).
pub const RECONS: &[&str] = &["R18", "R12", "R8", "R8A"];
pub const STORAGES: &[&str] = &["R18", "R12", "R8", "R8A", "SU2"];
/// Links stored entry by entry: what cold kernels are made for.
pub const WHOLE: &[&str] = &["R18", "SU2"];
/// Precisions that fields are computed in before they are stored smaller.
pub const FLOATS: &[&str] = &["f64", "f32"];

include!("families_table.rs");

/// Kernels made with vectors of lanes; any layout and any instantiation that is not among these runs
/// on the generic set, slower and compiled much faster. For 16 lanes that is
/// all but lane-serial kernels and what is rare, for fewer lanes hot kernels only.
#[allow(dead_code)]
pub fn vectorised(kernel: &Kernel, params: &[&str], lanes: usize) -> bool {
    let has = |p: &str| params.contains(&p);
    let hot = kernel.vectors == Vectors::Hot;
    // Eight angles are sines and arctangents; whole links in 16 bit save less than they lose.
    if matches!(kernel.kind, Kind::Lane | Kind::LaneReduce(..))
        || has("R8A")
        || (has("f16") && has("R18"))
    {
        return false;
    }
    // Sweeps of gauge fixing take eight numbers a link on GPUs only.
    let cold = kernel.vectors == Vectors::Cold || has("f16") || has("R8");
    match lanes {
        16 => hot || !cold,
        _ => hot && !has("R8"),
    }
}

/// Symbol of one instantiation.
pub fn symbol(kernel: &Kernel, params: &[&str]) -> String {
    let mut s = String::from(kernel.name);
    for p in params {
        s.push('_');
        s.push_str(p);
    }
    s
}

/// The macro line that instantiates a kernel with vectors of `simd_bytes`, at most `lanes` numbers.
pub fn instantiate(kernel: &Kernel, params: &[&str], simd_bytes: usize, lanes: usize) -> String {
    let widest = if params.contains(&"f64") { 8 } else { 4 };
    let w = (simd_bytes / widest).clamp(1, lanes);
    let sym = symbol(kernel, params);
    let list: String = params.iter().map(|p| format!(", {p}")).collect();
    let body = format!("{}<{w}{list}>", kernel.body);
    let (args, name) = (kernel.args, kernel.name);
    match kernel.kind {
        Kind::Site | Kind::Lane => {
            format!("PLAQ_SITE_KERNEL({sym}, {w}, {args}, PLAQ_BODY({body}))  // {name}\n")
        }
        Kind::Block => {
            format!("PLAQ_BLOCK_KERNEL({sym}, {w}, {args}, PLAQ_BODY({body}))  // {name}\n")
        }
        Kind::Reduce(_) | Kind::LaneReduce(..) | Kind::ReduceMost(..) => {
            let (n, m) = kernel.kind.numbers().expect("a reduction");
            format!(
                "PLAQ_REDUCE_KERNEL({sym}, {w}, {n}, {m}, {args}, PLAQ_BODY({body}))  // {name}\n"
            )
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
