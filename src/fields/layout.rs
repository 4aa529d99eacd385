//! Descriptors of the memory layouts of host programs' arrays. docs/layouts.md has the index formula of each layout.

use num_complex::Complex64;

use super::{Group, Precision, Subset};
use crate::bail;
use crate::error::{words, Result};
use crate::params::{choices, hash_members};

/// An index of an array, named by the quantity that it counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Index {
    /// Time slice, for layouts in which it is slower than all other indices.
    Slice,
    /// Parity of a site: 0 even, 1 odd.
    Parity,
    /// Flavour of a doublet, for layouts in which one array holds both flavours.
    Flavour,
    /// Number of a site: among all sites or, if parity or time slice are indices of their own, among the sites of one
    /// parity and time slice.
    Site,
    /// Direction of a link.
    Direction,
    /// 0: the link that begins at the site; 1: the link that ends at it.
    Backward,
    Row,
    Column,
    Spin,
    Colour,
    /// One of the two blocks of a clover term.
    Chirality,
    /// Number of a real of a clover block (0 to 35) or, if [`Self::Complex`] is an index of its own, of a complex
    /// number below the diagonal (0 to 14).
    Packed,
    /// The index of the real and the imaginary part.
    Complex,
}

words!(Index {
    Slice => "slice",
    Parity => "parity",
    Flavour => "flavour",
    Site => "site",
    Direction => "direction",
    Backward => "backward",
    Row => "row",
    Column => "column",
    Spin => "spin",
    Colour => "colour",
    Chirality => "chirality",
    Packed => "packed",
    Complex => "complex",
});

/// Basis of the gamma matrices in an array of spinors (physics.md); plaq's own fields are in `DeGrandRossi`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum GammaBasis {
    DeGrandRossi,
    Ukqcd,
    /// The chiral basis of openQCD and tmLQCD.
    Chiral,
    DiracPauli,
}

words!(GammaBasis {
    DeGrandRossi => "PLAQ_BASIS_DEGRAND_ROSSI",
    Ukqcd => "PLAQ_BASIS_UKQCD",
    Chiral => "PLAQ_BASIS_CHIRAL",
    DiracPauli => "PLAQ_BASIS_DIRAC_PAULI",
});

choices! {
    /// Bases of the gamma matrices for arrays of spinors (docs/layouts.md).
    names GammaBasis: plaq_basis {
        /// DeGrand-Rossi basis, of MILC, Chroma and QUDA.
        DeGrandRossi = 0, PLAQ_BASIS_DEGRAND_ROSSI, "degrand_rossi";
        /// UKQCD basis, non-relativistic: gamma_t is diagonal.
        Ukqcd = 1, PLAQ_BASIS_UKQCD, "ukqcd";
        /// Chiral basis of openQCD.
        Chiral = 2, PLAQ_BASIS_CHIRAL, "chiral";
        /// Dirac-Pauli basis: gamma_t is diagonal.
        DiracPauli = 3, PLAQ_BASIS_DIRAC_PAULI, "dirac_pauli";
    }
}

impl GammaBasis {
    pub const ALL: [GammaBasis; 4] =
        [GammaBasis::DeGrandRossi, GammaBasis::Ukqcd, GammaBasis::Chiral, GammaBasis::DiracPauli];

    /// The 4 x 4 matrix T with psi_DeGrandRossi = T psi_basis, row by row. It is real and orthogonal: the Kronecker
    /// product of a 2 x 2 matrix with i sigma_2, or the unit matrix.
    pub fn to_degrand_rossi(self) -> [f64; 16] {
        let r = std::f64::consts::FRAC_1_SQRT_2;
        let block = match self {
            GammaBasis::DeGrandRossi => {
                return std::array::from_fn(|i| if i / 4 == i % 4 { 1.0 } else { 0.0 })
            }
            GammaBasis::Ukqcd => [[-r, -r], [-r, r]],
            GammaBasis::Chiral => [[0.0, -1.0], [1.0, 0.0]],
            GammaBasis::DiracPauli => [[r, -r], [r, r]],
        };
        let i_sigma2 = [[0.0, 1.0], [-1.0, 0.0]];
        std::array::from_fn(|i| {
            let (row, column) = (i / 4, i % 4);
            block[row / 2][column / 2] * i_sigma2[row % 2][column % 2]
        })
    }
}

/// The kind of field whose arrays a layout describes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Content {
    Links,
    Spinors,
    Clover,
}

words!(Content {
    Links => "links",
    Spinors => "spinors",
    Clover => "clover terms",
});

/// The layout of an array of a host program: the order of its indices, and what its numbers mean. Start from a named
/// constructor and change fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub name: &'static str,
    pub content: Content,
    /// Precision of the array's numbers, double or single.
    pub precision: Precision,
    /// The indices from the slowest to the fastest.
    pub order: Vec<Index>,
    /// Axes of the lattice from the fastest to the slowest (0 = x, 3 = t).
    pub axes: [usize; 4],
    /// Number of unused sites before the first and after the last site along each of `axes`, room for a halo; even, at
    /// most 14.
    pub halo: [usize; 4],
    /// Position of the directions x, y, z, t among the links of a site.
    pub directions: [usize; 4],
    /// True if odd sites come before even ones.
    pub odd_first: bool,
    /// True if the array of a field of one parity has the size of one for the whole lattice, of which the field uses
    /// the sites of its parity.
    pub whole: bool,
    /// True if each direction has an array of its own.
    pub separate: bool,
    /// For arrays of structs, one for each site: number of reals of a struct, and position of the field's first real in
    /// it.
    pub structs: Option<(usize, usize)>,
    /// Number of sites for which the array has memory in each block (parity and time slice), if that is more than the
    /// number of sites.
    pub capacity: Option<usize>,
    /// Factors that the array contains: it holds `scale` times the links.
    pub scale: [f64; 4],
    /// Boundary phases that the array contains: it holds these phases times the links that cross the boundary.
    pub boundary: [Complex64; 4],
    /// Staggered phases that the array contains: it holds (-1)^n times the links of each direction, where n is the
    /// sum of those coordinates on the whole lattice whose bits (x lowest) are set.
    pub staggered: [u8; 4],
    /// Number of spins of a vector field: 4 for spinors, 1 for colour vectors.
    pub spins: usize,
    /// Basis of the gamma matrices in an array of spinors.
    pub basis: GammaBasis,
}

hash_members!(Layout {
    name, content, precision, order, axes, halo, directions, odd_first, whole, separate, structs, capacity, staggered,
    spins, basis;
    scale, boundary
});

use Index::*;

const XYZT: [usize; 4] = [0, 1, 2, 3];
const ZYXT: [usize; 4] = [2, 1, 0, 3];
/// Positions of the directions x, y, z, t among the links of a site, for layouts with the order t, x, y, z.
const TIME_FIRST: [usize; 4] = [1, 2, 3, 0];

impl Layout {
    fn new(
        name: &'static str,
        content: Content,
        precision: Precision,
        axes: [usize; 4],
        order: &[Index],
    ) -> Self {
        Layout {
            name,
            content,
            precision,
            order: order.to_vec(),
            axes,
            halo: [0; 4],
            directions: XYZT,
            odd_first: false,
            whole: !order.contains(&Parity),
            separate: false,
            structs: None,
            capacity: None,
            scale: [1.0; 4],
            boundary: [Complex64::ONE; 4],
            staggered: [0; 4],
            spins: 4,
            basis: GammaBasis::DeGrandRossi,
        }
    }
    fn links(name: &'static str, precision: Precision, axes: [usize; 4], order: &[Index]) -> Self {
        Self::new(name, Content::Links, precision, axes, order)
    }
    fn spinors(
        name: &'static str,
        precision: Precision,
        axes: [usize; 4],
        order: &[Index],
    ) -> Self {
        Self::new(name, Content::Spinors, precision, axes, order)
    }

    /// Links of QDP++ and Chroma: one array for each direction, even sites, then odd.
    pub fn qdp(precision: Precision) -> Self {
        let order = [Parity, Site, Row, Column, Complex];
        Layout { separate: true, ..Self::links("QDP", precision, XYZT, &order) }
    }
    /// Links of QDP-JIT: one array for each direction, sites fastest.
    pub fn qdpjit(precision: Precision) -> Self {
        let order = [Complex, Row, Column, Parity, Site];
        Layout { separate: true, ..Self::links("QDP-JIT", precision, XYZT, &order) }
    }
    /// Links of MILC: even sites, then odd, four links for each site.
    pub fn milc(precision: Precision) -> Self {
        Self::links("MILC", precision, XYZT, &[Parity, Site, Direction, Row, Column, Complex])
    }
    /// Links in MILC's array of structs, one of `size` bytes for each site, with the four links from byte `offset` on.
    pub fn milc_site(precision: Precision, size: usize, offset: usize) -> Result<Self> {
        let real = precision.bytes();
        // Structs are far smaller than this limit, below which the arithmetic cannot overflow.
        let fits = size <= 1 << 32 && offset <= size && 72 * real <= size - offset;
        if !size.is_multiple_of(real) || !offset.is_multiple_of(real) || !fits {
            bail!(
                BadLayout,
                "site_bytes, site_offset: four links of {real}-byte numbers do not fit a struct of {size} \
                 bytes at offset {offset}"
            );
        }
        let structs = Some((size / real, offset / real));
        Ok(Layout { name: "MILC site", structs, ..Self::milc(precision) })
    }
    /// Links of MILC with its staggered phases, (-1)^t in x, (-1)^(t+x) in y, (-1)^(t+x+y) in z, and the antiperiodic
    /// sign in t.
    pub fn with_milc_phases(self) -> Self {
        let mut boundary = self.boundary;
        boundary[3] = -boundary[3];
        Layout { boundary, staggered: [0b1000, 0b1001, 0b1011, 0], ..self }
    }
    /// Links of CPS: as MILC, but with columns slower than rows; the array's links contain the factor `anisotropy`.
    pub fn cps(precision: Precision, anisotropy: f64) -> Self {
        let order = [Parity, Site, Direction, Column, Row, Complex];
        Layout { scale: [anisotropy; 4], ..Self::links("CPS", precision, XYZT, &order) }
    }
    /// Links of BQCD: direction slowest; the sites of each parity are followed by memory for a halo of one site.
    /// `extents` are those of this rank's part.
    pub fn bqcd(precision: Precision, extents: [usize; 4]) -> Self {
        let order = [Direction, Parity, Site, Column, Row, Complex];
        let rest: usize = extents[1..].iter().map(|l| l + 2).product();
        let capacity = Some((extents[0] / 2 + 2) * rest);
        Layout { capacity, ..Self::links("BQCD", precision, XYZT, &order) }
    }
    /// Links of TIFR: direction slowest; the array's links contain the factor `scale`.
    pub fn tifr(precision: Precision, scale: f64) -> Self {
        let order = [Direction, Parity, Site, Column, Row, Complex];
        Layout { scale: [scale; 4], ..Self::links("TIFR", precision, XYZT, &order) }
    }
    /// Links of TIFR with memory for a halo of two slices on both sides in z.
    pub fn tifr_padded(precision: Precision, scale: f64) -> Self {
        Layout { name: "TIFR padded", halo: [0, 0, 2, 0], ..Self::tifr(precision, scale) }
    }
    /// Links with sites in lexicographic order, x fastest, and four links for each site.
    pub fn lexicographic(precision: Precision) -> Self {
        Self::links("lexicographic", precision, XYZT, &[Site, Direction, Row, Column, Complex])
    }
    /// Links of openQCD's configuration files: for each odd site (z fastest, then y, x, t) the forward and backward
    /// link in t, then those in x, y and z.
    pub fn openqcd(precision: Precision) -> Self {
        let order = [Site, Direction, Backward, Row, Column, Complex];
        Layout { directions: TIME_FIRST, ..Self::links("openQCD", precision, ZYXT, &order) }
    }
    /// Links in cuLGT's StandardPattern, also of tmLQCD: sites with z fastest, then y, x, t; directions t, x, y, z.
    pub fn standard_pattern(precision: Precision) -> Self {
        Self::culgt("StandardPattern", precision, &[Site, Direction, Row, Column, Complex])
    }
    /// Links in cuLGT's GpuPattern: direction slowest, then matrix entries, parity and site.
    pub fn gpu_pattern(precision: Precision) -> Self {
        Self::culgt("GpuPattern", precision, &[Direction, Row, Column, Complex, Parity, Site])
    }
    /// Links in cuLGT's GpuPatternTimeslice: as GpuPattern, for each time slice.
    pub fn timeslice_pattern(precision: Precision) -> Self {
        let order = [Slice, Direction, Row, Column, Complex, Parity, Site];
        Self::culgt("GpuPatternTimeslice", precision, &order)
    }
    /// Links in cuLGT's GpuPatternParityPriority: parity slowest, then direction, matrix entries and site.
    pub fn parity_pattern(precision: Precision) -> Self {
        let order = [Parity, Direction, Row, Column, Complex, Site];
        Self::culgt("GpuPatternParityPriority", precision, &order)
    }
    /// Links in cuLGT's GpuPatternTimesliceParityPriority: as GpuPatternParityPriority, for each time slice.
    pub fn timeslice_parity_pattern(precision: Precision) -> Self {
        let order = [Slice, Parity, Direction, Row, Column, Complex, Site];
        Self::culgt("GpuPatternTimesliceParityPriority", precision, &order)
    }
    fn culgt(name: &'static str, precision: Precision, order: &[Index]) -> Self {
        Layout { directions: TIME_FIRST, ..Self::links(name, precision, ZYXT, order) }
    }

    /// Spinors in QUDA_DIRAC_ORDER, also of MILC: even sites, then odd, colour faster than spin.
    pub fn dirac(precision: Precision, basis: GammaBasis) -> Self {
        let order = [Parity, Site, Spin, Colour, Complex];
        Layout { basis, ..Self::spinors("Dirac", precision, XYZT, &order) }
    }
    /// Twisted-mass doublets in QUDA_DIRAC_ORDER: even sites, then odd; for each parity the first flavour, then the
    /// second.
    pub fn dirac_doublet(precision: Precision, basis: GammaBasis) -> Self {
        let order = [Parity, Flavour, Site, Spin, Colour, Complex];
        Layout { basis, ..Self::spinors("Dirac doublet", precision, XYZT, &order) }
    }
    /// Spinors in QUDA_QDP_DIRAC_ORDER: even sites, then odd, spin faster than colour.
    pub fn qdp_spinor(precision: Precision, basis: GammaBasis) -> Self {
        let order = [Parity, Site, Colour, Spin, Complex];
        Layout { basis, ..Self::spinors("QDP spinor", precision, XYZT, &order) }
    }
    /// Spinors of QDP-JIT: sites fastest; the array of a field of one parity has the size of one for the whole lattice.
    pub fn qdpjit_spinor(precision: Precision, basis: GammaBasis) -> Self {
        let order = [Complex, Colour, Spin, Parity, Site];
        Layout { basis, whole: true, ..Self::spinors("QDP-JIT spinor", precision, XYZT, &order) }
    }
    /// Spinors of CPS: odd sites, then even, colour faster than spin.
    pub fn cps_spinor(precision: Precision, basis: GammaBasis) -> Self {
        Layout { name: "CPS spinor", odd_first: true, ..Self::dirac(precision, basis) }
    }
    /// Spinors of TIFR: as `dirac`, with memory for a halo of two slices on both sides in z.
    pub fn tifr_padded_spinor(precision: Precision, basis: GammaBasis) -> Self {
        let halo = [0, 0, 2, 0];
        Layout { name: "TIFR padded spinor", halo, ..Self::dirac(precision, basis) }
    }
    /// Spinors with sites in lexicographic order, x fastest, and colour faster than spin.
    pub fn lexicographic_spinor(precision: Precision, basis: GammaBasis) -> Self {
        let order = [Site, Spin, Colour, Complex];
        Layout { basis, ..Self::spinors("lexicographic spinor", precision, XYZT, &order) }
    }
    /// Colour vectors with sites in lexicographic order, x fastest, and three complex numbers for each site.
    pub fn lexicographic_colour(precision: Precision) -> Self {
        let order = [Site, Spin, Colour, Complex];
        Layout { spins: 1, ..Self::spinors("lexicographic colour vector", precision, XYZT, &order) }
    }

    /// Spinors of openQCD and tmLQCD: sites with z fastest, then y, x, t; chiral basis.
    pub fn openqcd_spinor(precision: Precision) -> Self {
        let order = [Site, Spin, Colour, Complex];
        let basis = GammaBasis::Chiral;
        Layout { basis, ..Self::spinors("openQCD spinor", precision, ZYXT, &order) }
    }

    /// Clover terms in QUDA_PACKED_CLOVER_ORDER, also of MILC: for each chirality 6 reals on the diagonal, then 15
    /// complex numbers below the diagonal, column by column.
    pub fn packed_clover(precision: Precision) -> Self {
        let order = [Parity, Site, Chirality, Packed];
        Self::new("packed clover", Content::Clover, precision, XYZT, &order)
    }
    /// Clover terms with sites in lexicographic order, x fastest, and blocks as in `packed_clover`.
    pub(super) fn lexicographic_clover(precision: Precision) -> Self {
        let order = [Site, Chirality, Packed];
        Self::new("lexicographic clover", Content::Clover, precision, XYZT, &order)
    }
    /// Clover terms of QDP-JIT: an array of the complex numbers below the diagonal (row by row) and one of the reals on
    /// the diagonal, sites fastest.
    pub fn qdpjit_clover(precision: Precision) -> Self {
        let order = [Complex, Packed, Chirality, Parity, Site];
        let layout = Self::new("QDP-JIT clover", Content::Clover, precision, XYZT, &order);
        Layout { separate: true, ..layout }
    }

    /// All named layouts of links with default parameters; `extents` are those of this rank's part, on which the memory
    /// for a halo depends.
    pub fn all_links(precision: Precision, extents: [usize; 4]) -> Vec<Layout> {
        let p = precision;
        let site = Self::milc_site(p, 252 * p.bytes(), 14 * p.bytes());
        let mut all = vec![
            Self::qdp(p),
            Self::qdpjit(p),
            Self::milc(p),
            Self::cps(p, 1.0),
            Self::bqcd(p, extents),
            Self::tifr(p, 1.0),
            Self::tifr_padded(p, 1.0),
            Self::lexicographic(p),
            Self::openqcd(p),
            Self::standard_pattern(p),
            Self::gpu_pattern(p),
            Self::timeslice_pattern(p),
            Self::parity_pattern(p),
            Self::timeslice_parity_pattern(p),
        ];
        all.extend(site);
        all
    }
    /// Every named layout of spinors.
    pub fn all_spinors(precision: Precision, basis: GammaBasis) -> Vec<Layout> {
        vec![
            Self::dirac(precision, basis),
            Self::qdp_spinor(precision, basis),
            Self::qdpjit_spinor(precision, basis),
            Self::cps_spinor(precision, basis),
            Self::tifr_padded_spinor(precision, basis),
            Self::lexicographic_spinor(precision, basis),
            Layout { basis, ..Self::openqcd_spinor(precision) },
        ]
    }
    /// Every named layout of clover blocks.
    pub fn all_clover(precision: Precision) -> Vec<Layout> {
        vec![Self::packed_clover(precision), Self::qdpjit_clover(precision)]
    }

    pub(crate) fn has(&self, index: Index) -> bool {
        self.order.contains(&index)
    }
    /// Number of flavours that one array holds: 1 or 2.
    pub(crate) fn flavours(&self) -> usize {
        1 + self.has(Flavour) as usize
    }
    /// Number of arrays that hold a field; for spinors, one right-hand side of the field.
    pub fn arrays(&self) -> usize {
        match (self.separate, self.content) {
            (false, _) | (_, Content::Spinors) => 1,
            (true, Content::Links) => 4,
            (true, Content::Clover) => 2,
        }
    }
    /// Bytes of each array, for a part of the lattice with these extents; for spinors, of one right-hand side.
    pub fn bytes(&self, extents: [usize; 4], group: Group, subset: Subset) -> Result<Vec<usize>> {
        let shape = Strides::new(self, extents, group, subset)?;
        Ok(shape.reals.iter().map(|reals| reals * self.precision.bytes()).collect())
    }

    fn check(&self, extents: [usize; 4]) -> Result<()> {
        let expected: &[Index] = match self.content {
            Content::Links => &[Row, Column, Complex],
            Content::Spinors => &[Spin, Colour, Complex],
            Content::Clover => &[Chirality, Packed],
        };
        let name = self.name;
        for index in [&[Site], expected].concat() {
            if self.order.iter().filter(|i| **i == index).count() != 1 {
                bail!(BadLayout, "layout {name}: the index {index} must occur once");
            }
        }
        if self.content == Content::Links && self.has(Direction) == self.separate {
            bail!(BadLayout, "layout {name}: Direction is an index or the arrays are separate");
        }
        if self.has(Flavour) && self.content != Content::Spinors {
            bail!(BadLayout, "layout {name}: only spinors have flavours");
        }
        if self.content == Content::Clover && self.has(Complex) != self.separate {
            bail!(BadLayout, "layout {name}: separate diagonals go with the index Complex");
        }
        if self.precision == Precision::F16 {
            bail!(BadLayout, "layout {name}: arrays are in double or single precision");
        }
        let mut sorted = (self.axes, self.directions);
        sorted.0.sort_unstable();
        sorted.1.sort_unstable();
        if sorted != (XYZT, XYZT) {
            bail!(BadLayout, "layout {name}: axes and directions must be permutations of 0..3");
        }
        if self.halo.iter().any(|&h| h > 15 || h % 2 != 0) {
            bail!(BadLayout, "layout {name}: halos must be even and at most 14");
        }
        let (halo, slice) = (self.halo != [0; 4], self.has(Slice));
        if halo && (slice || self.structs.is_some()) {
            bail!(BadLayout, "layout {name}: a halo goes with neither slices nor structs");
        }
        if self.has(Backward) && (self.has(Parity) || slice || self.separate || halo) {
            bail!(BadLayout, "layout {name}: Backward counts links of odd sites in one array");
        }
        let sites = Strides::sites(self, extents);
        if self.capacity.is_some_and(|capacity| capacity < sites) {
            bail!(BadLayout, "layout {name}: room for less than the {sites} sites of a block");
        }
        Ok(())
    }
}

/// A layout applied to this rank's part of the lattice: positions and strides of an array, in reals. A block is the
/// sites of one time slice and one parity, or of all of them if the layout has no such index.
#[derive(Clone)]
pub(crate) struct Strides {
    /// Number of sites in a block.
    pub sites: usize,
    /// For each block its parity, its time slice and the position of its first real.
    pub blocks: Vec<(usize, usize, usize)>,
    pub stride_site: usize,
    /// For each real component of a site, in the order of the field: the number of its array, and its position there
    /// relative to the site's first real.
    pub components: Vec<(usize, usize)>,
    /// Distance in reals from the forward to the backward link of a direction; 0 if the array has no backward links.
    pub back: usize,
    /// Number of reals of each array; in an array with several right-hand sides also the distance between them.
    pub reals: Vec<usize>,
    pub span: usize,
    /// Distance in reals from one flavour to the next; 0 if an array holds one flavour.
    pub stride_flavour: usize,
    /// True if unused sites of a halo lie between the sites of a block.
    pub gaps: bool,
    pub sliced: bool,
    pub split: bool,
    axes: [usize; 4],
    extents: [usize; 4],
    halo: [usize; 4],
}

impl Strides {
    fn sites(layout: &Layout, extents: [usize; 4]) -> usize {
        let volume: usize = extents.iter().product();
        let slices = if layout.has(Slice) { extents[layout.axes[3]] } else { 1 };
        let split = layout.has(Parity) || layout.has(Backward);
        volume / slices / if split { 2 } else { 1 }
    }

    pub fn new(
        layout: &Layout,
        extents: [usize; 4],
        group: Group,
        subset: Subset,
    ) -> Result<Strides> {
        layout.check(extents)?;
        let along = layout.axes.map(|axis| extents[axis]);
        let sites = Self::sites(layout, extents);
        let split = layout.has(Parity) || layout.has(Backward);
        // Extents of the box of sites in memory, with the halo on both sides.
        let padded: [usize; 4] = std::array::from_fn(|k| along[k] + 2 * layout.halo[k]);
        let mut capacity: usize = padded.iter().product();
        if layout.has(Slice) {
            capacity /= along[3];
        }
        if split {
            capacity /= 2;
        }
        let capacity = layout.capacity.unwrap_or(capacity);
        let parities = if subset == Subset::Full || layout.whole { 2 } else { 1 };
        let slices = if layout.has(Slice) { along[3] } else { 1 };

        let packed = if layout.separate { 15 } else { 36 };
        let (mut strides, mut stride) = (Vec::new(), 1);
        for &index in layout.order.iter().rev() {
            let count = match index {
                Slice => slices,
                Parity => parities,
                Site => capacity,
                Direction => 4,
                Flavour => layout.flavours(),
                Row | Column => group.colours(),
                Spin => layout.spins,
                Colour => 3,
                Packed => packed,
                Chirality | Complex | Backward => 2,
            };
            if let (Site, Some((size, _))) = (index, layout.structs) {
                stride = size;
            }
            strides.push((index, stride));
            stride *= count;
        }
        let of = |index| strides.iter().find(|s| s.0 == index).map_or(0, |s| s.1);

        let offset = layout.structs.map_or(0, |s| s.1);
        let mut blocks = Vec::new();
        let first_parity = layout.odd_first as usize;
        for slice in 0..slices {
            let here: Vec<(usize, usize)> = match (layout.has(Parity), subset) {
                (false, _) => vec![(layout.has(Backward) as usize, 0)],
                (true, Subset::Full) => vec![(first_parity, 0), (1 - first_parity, 1)],
                (true, one) => {
                    let parity = (one == Subset::Odd) as usize;
                    vec![(parity, if layout.whole { parity ^ first_parity } else { 0 })]
                }
            };
            for (parity, position) in here {
                let at = slice * of(Slice) + position * of(Parity) + offset;
                blocks.push((parity, slice, at));
            }
        }

        let mut components = Vec::new();
        match layout.content {
            Content::Links => {
                let n = group.colours();
                for mu in 0..4 {
                    let array = if layout.separate { layout.directions[mu] } else { 0 };
                    for i in 0..2 * n * n {
                        let (row, column, part) = (i / 2 / n, i / 2 % n, i % 2);
                        let at = layout.directions[mu] * of(Direction)
                            + row * of(Row)
                            + column * of(Column)
                            + part * of(Complex);
                        components.push((array, at));
                    }
                }
            }
            Content::Spinors => {
                for i in 0..6 * layout.spins {
                    let (spin, colour, part) = (i / 6, i / 2 % 3, i % 2);
                    components
                        .push((0, spin * of(Spin) + colour * of(Colour) + part * of(Complex)));
                }
            }
            Content::Clover => {
                // For each entry below the diagonal, column by column, its position in the order row by row.
                let by_row: Vec<usize> =
                    (0..5).flat_map(|j| (j + 1..6).map(move |i| i * (i - 1) / 2 + j)).collect();
                for i in 0..72 {
                    let (k, block) = (i % 36, i / 36 * of(Chirality));
                    components.push(match (layout.separate, k) {
                        (false, _) => (0, block + k * of(Packed)),
                        (true, 0..6) => (1, block + k * of(Packed)),
                        (true, _) => {
                            let (pair, part) = ((k - 6) / 2, (k - 6) % 2);
                            (0, block + by_row[pair] * of(Packed) + part * of(Complex))
                        }
                    });
                }
            }
        }
        let mut shape = Strides {
            sites,
            blocks,
            stride_site: of(Site),
            components,
            back: of(Backward),
            reals: Vec::new(),
            span: stride,
            stride_flavour: of(Flavour),
            gaps: layout.halo != [0; 4],
            sliced: layout.has(Slice),
            split,
            axes: layout.axes,
            extents: along,
            halo: layout.halo,
        };
        if split {
            shape.extents[0] /= 2;
            shape.halo[0] /= 2;
        }
        let last = shape.blocks.iter().map(|b| b.2).max().unwrap_or(0) - offset;
        let last = last + shape.memory_index(sites - 1) * shape.stride_site + shape.stride_flavour;
        for array in 0..layout.arrays() {
            let inside = shape.components.iter().filter(|c| c.0 == array).map(|c| c.1);
            let reals = offset + inside.max().unwrap_or(0) + shape.back + 1;
            // For arrays of structs the last struct is complete.
            shape.reals.push(last + layout.structs.map_or(reals, |s| s.0));
        }
        Ok(shape)
    }

    /// Local coordinates (x, y, z, t) of site number `i` of the block with this parity and time slice; the same formula
    /// as in kernels/layout.h.
    pub fn coordinates(&self, i: usize, parity: usize, slice: usize) -> [usize; 4] {
        let e = self.extents;
        let mut c = [i % e[0], i / e[0] % e[1], i / e[0] / e[1] % e[2], i / e[0] / e[1] / e[2]];
        if self.split {
            c[0] = 2 * c[0] + (parity + c[1] + c[2] + c[3]) % 2;
        }
        if self.sliced {
            c[3] = slice;
        }
        let mut x = [0; 4];
        for k in 0..4 {
            x[self.axes[k]] = c[k];
        }
        x
    }

    /// Position of site number `i` of a block, counted in sites of the block's memory including the halo.
    pub fn memory_index(&self, i: usize) -> usize {
        let (e, h) = (self.extents, self.halo);
        let c = [i % e[0], i / e[0] % e[1], i / e[0] / e[1] % e[2], i / e[0] / e[1] / e[2]];
        let p: [usize; 4] = std::array::from_fn(|k| e[k] + 2 * h[k]);
        c[0] + h[0] + p[0] * (c[1] + h[1] + p[1] * (c[2] + h[2] + p[2] * (c[3] + h[3])))
    }
}
