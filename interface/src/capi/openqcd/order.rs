//! openQxD's order of the sites and links of a rank, with coordinates in the order t, x, y, z.

/// Number of reals of a spinor at one site.
pub const SPINOR: usize = 24;
/// Number of reals of a link.
pub const LINK: usize = 18;
/// Number of reals of the clover term at one site.
pub const CLOVER: usize = 72;

/// The direction of `quda.h` for each direction of openQxD.
const AXIS: [usize; 4] = [3, 0, 1, 2];

/// Index tables of a rank's part of the lattice.
pub struct Order {
    /// Extents of this rank's part in t, x, y, z.
    extents: [usize; 4],
    blocks: [usize; 4],
    /// Whether a direction has neighbours on other ranks, for t, x, y, z.
    divided: [bool; 4],
    /// For each divided direction the indices of the sites on its last slice, in ascending order, which puts even
    /// sites first.
    faces: [Vec<u32>; 4],
    /// For each site its index in the order of `quda.h`: even sites first, x fastest.
    sites: Vec<u32>,
    /// Number of the matrix U_mu(x) in the array of links, for mu = x, y, z, t and sites in that order.
    links: Vec<u32>,
}

impl Order {
    /// Makes the tables for `local` extents and numbers of `ranks` in x, y, z, t.
    pub fn new(local: [usize; 4], ranks: [usize; 4]) -> Order {
        let extents = AXIS.map(|axis| local[axis]);
        let block = |mu: usize| match extents[mu] {
            l if mu == 0 => l,
            l if l % 4 == 0 => 4,
            l if l % 3 == 0 => 3,
            l if l % 2 == 0 => 2,
            _ => 1,
        };
        let mut order = Order {
            extents,
            blocks: std::array::from_fn(block),
            divided: AXIS.map(|axis| ranks[axis] > 1),
            faces: Default::default(),
            sites: vec![],
            links: vec![],
        };
        let all: Vec<[usize; 4]> = (0..order.volume()).map(|n| coordinates(local, n)).collect();
        for mu in (0..4).filter(|mu| order.divided[*mu]) {
            let last = all.iter().filter(|x| x[mu] == extents[mu] - 1);
            let mut face: Vec<u32> = last.map(|x| order.index(*x) as u32).collect();
            face.sort_unstable();
            order.faces[mu] = face;
        }
        order.sites = all.iter().map(|x| order.index(*x) as u32).collect();
        let links = [1, 2, 3, 0].iter().flat_map(|mu| all.iter().map(|x| order.link(*x, *mu)));
        order.links = links.map(|n| n as u32).collect();
        order
    }

    pub fn extents(&self) -> [usize; 4] {
        self.extents
    }

    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    /// Number of sites outside of this rank's part that are neighbours of it.
    pub fn boundary(&self) -> usize {
        2 * self.faces.iter().map(Vec::len).sum::<usize>()
    }

    /// The index of a site, openQxD's `ipt`: even sites first; the part consists of blocks, and z is fastest inside
    /// of a block and among the blocks.
    pub fn index(&self, x: [usize; 4]) -> usize {
        let lexical = |x: [usize; 4], e: [usize; 4]| (0..4).fold(0, |n, mu| n * e[mu] + x[mu]);
        let b = self.blocks;
        let inside = std::array::from_fn(|mu| x[mu] % b[mu]);
        let block = std::array::from_fn(|mu| x[mu] / b[mu]);
        let number = lexical(block, std::array::from_fn(|mu| self.extents[mu] / b[mu]));
        let half = lexical(inside, b) / 2 + b.iter().product::<usize>() * number / 2;
        half + x.iter().sum::<usize>() % 2 * (self.volume() / 2)
    }

    /// The position of a site on the last slice in direction mu, among the sites of its parity there.
    fn place(&self, index: usize, mu: usize) -> usize {
        let face = &self.faces[mu];
        let place = face.partition_point(|site| (*site as usize) < index);
        place % (face.len() / 2)
    }

    fn step(&self, mut x: [usize; 4], mu: usize) -> [usize; 4] {
        x[mu] = (x[mu] + 1) % self.extents[mu];
        x
    }

    fn leaves(&self, x: [usize; 4], mu: usize) -> bool {
        self.divided[mu] && x[mu] == self.extents[mu] - 1
    }

    /// The index of x + mu, openQxD's `iup`. If that site is outside of this rank's part, it is the volume plus the
    /// number of the site among all such sites: even sites come first, and for each direction the sites below the part
    /// come before those above it.
    pub fn up(&self, x: [usize; 4], mu: usize) -> usize {
        if !self.leaves(x, mu) {
            return self.index(self.step(x, mu));
        }
        let halves = |mu: usize| self.faces[mu].len() / 2;
        let before = (0..mu).map(|nu| 2 * halves(nu)).sum::<usize>() + halves(mu);
        let odd_outside = x.iter().sum::<usize>() % 2 == 0;
        let start = if odd_outside { self.boundary() / 2 } else { 0 };
        self.volume() + start + before + self.place(self.index(x), mu)
    }

    /// Number of the matrix U_mu(x): eight stand on each odd site, two in each direction. Links that leave this part
    /// from an even site come behind these, direction by direction.
    fn link(&self, x: [usize; 4], mu: usize) -> usize {
        let half = self.volume() / 2;
        if x.iter().sum::<usize>() % 2 == 1 {
            return 8 * (self.index(x) - half) + 2 * mu;
        }
        if !self.leaves(x, mu) {
            return 8 * (self.index(self.step(x, mu)) - half) + 2 * mu + 1;
        }
        let before: usize = self.faces[..mu].iter().map(|face| face.len() / 2).sum();
        4 * self.volume() + before + self.place(self.index(x), mu)
    }

    /// Number of matrices of the host's array of links that are read.
    pub fn matrices(&self) -> usize {
        4 * self.volume() + self.boundary() / 4
    }

    /// Converts links to the four arrays of `quda.h`, one after the other.
    pub fn links(&self, host: &[f64]) -> Vec<f64> {
        gather(&self.links, host, LINK)
    }

    /// Coordinates t, x, y, z of site number n in the order of `quda.h`.
    pub fn site(&self, n: usize) -> [usize; 4] {
        let [t, x, y, z] = self.extents;
        coordinates([x, y, z, t], n)
    }

    /// Converts numbers of each site to the order of `quda.h`.
    pub fn gathered(&self, host: &[f64], each: usize) -> Vec<f64> {
        gather(&self.sites, host, each)
    }

    /// Converts numbers of each site to openQxD's order.
    pub fn scattered(&self, numbers: &[f64], each: usize) -> Vec<f64> {
        let mut host = vec![0.0; numbers.len()];
        for (site, numbers) in self.sites.iter().zip(numbers.chunks_exact(each)) {
            host[*site as usize * each..][..each].copy_from_slice(numbers);
        }
        host
    }

    /// Converts clover terms to QUDA_PACKED_CLOVER_ORDER and multiplies them by a factor. openQxD's consist of the
    /// blocks of the upper and of the lower spins, each with the diagonal first and then the elements above it, row
    /// by row.
    pub fn clover(&self, host: &[f64], factor: f64) -> Vec<f64> {
        let packed: Vec<(usize, f64)> = (0..CLOVER).map(packed).collect();
        let sites = self.sites.iter().map(|site| &host[*site as usize * CLOVER..][..CLOVER]);
        let numbers =
            sites.flat_map(|term| packed.iter().map(|(k, sign)| factor * sign * term[*k]));
        numbers.collect()
    }
}

/// Coordinates t, x, y, z of site number n in the order of `quda.h`.
fn coordinates(local: [usize; 4], n: usize) -> [usize; 4] {
    let half = local.iter().product::<usize>() / 2;
    let (parity, mut left) = (n / half, 2 * (n % half));
    let mut x = local.map(|l| {
        let c = left % l;
        left /= l;
        c
    });
    x[0] += (x[1] + x[2] + x[3] + parity) % 2;
    AXIS.map(|axis| x[axis])
}

fn gather(places: &[u32], host: &[f64], each: usize) -> Vec<f64> {
    places.iter().flat_map(|n| &host[*n as usize * each..][..each]).copied().collect()
}

/// The place in openQxD's order of number k of a packed clover term, and its sign. Spins 0, 1, 2, 3 of the
/// DeGrand-Rossi basis are openQxD's -3, 2, 1, -0.
fn packed(k: usize) -> (usize, f64) {
    let theirs = |row: usize| {
        let (spin, sign) = [(3, -1.0), (2, 1.0), (1, 1.0), (0, -1.0)][row / 3];
        (3 * (spin % 2) + row % 3, sign)
    };
    let (block, k) = (k / 36, k % 36);
    let rows = |i: usize| theirs(i + 6 * block);
    let start = 36 * (1 - block);
    if k < 6 {
        return (start + rows(k).0, 1.0);
    }
    let (pair, part) = ((k - 6) / 2, (k - 6) % 2);
    // Elements below the diagonal as (row, column), column by column.
    let below: Vec<(usize, usize)> =
        (0..5).flat_map(|column| (column + 1..6).map(move |row| (row, column))).collect();
    let ((row, a), (column, b)) = (rows(below[pair].0), rows(below[pair].1));
    let (first, second) = (row.min(column), row.max(column));
    let above = (0..first).map(|i| 5 - i).sum::<usize>() + second - first - 1;
    let conjugate = if part == 1 && row > column { -1.0 } else { 1.0 };
    (start + 6 + 2 * above + part, a * b * conjugate)
}
