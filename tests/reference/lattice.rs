//! Geometry of a periodic four-dimensional lattice with any extents.

/// A lattice of extents X, Y, Z, T; sites are numbered with x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lattice {
    pub extents: [usize; 4],
}

impl Lattice {
    pub fn new(extents: [usize; 4]) -> Self {
        assert!(extents.iter().all(|&l| l > 0), "extents {extents:?} must be positive");
        Lattice { extents }
    }

    #[inline]
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    #[inline]
    pub fn lex(&self, x: [usize; 4]) -> usize {
        let [lx, ly, lz, _] = self.extents;
        x[0] + lx * (x[1] + ly * (x[2] + lz * x[3]))
    }

    #[inline]
    pub fn coords(&self, lex: usize) -> [usize; 4] {
        let mut rest = lex;
        self.extents.map(|l| {
            let x = rest % l;
            rest /= l;
            x
        })
    }

    /// The coordinate mu of a site, and the difference of site numbers for one step in direction mu.
    #[inline]
    fn along(&self, lex: usize, mu: usize) -> (usize, usize) {
        let stride: usize = self.extents[..mu].iter().product();
        (lex / stride % self.extents[mu], stride)
    }

    /// The site one step along +mu, with periodic wrapping.
    #[inline]
    pub fn forward(&self, lex: usize, mu: usize) -> usize {
        let (at, stride) = self.along(lex, mu);
        if at + 1 == self.extents[mu] {
            lex - at * stride
        } else {
            lex + stride
        }
    }

    /// The site one step along -mu, with periodic wrapping.
    #[inline]
    pub fn backward(&self, lex: usize, mu: usize) -> usize {
        let (at, stride) = self.along(lex, mu);
        if at == 0 {
            lex + (self.extents[mu] - 1) * stride
        } else {
            lex - stride
        }
    }

    /// Whether the step from lex along +mu crosses the boundary.
    #[inline]
    pub fn wraps_forward(&self, lex: usize, mu: usize) -> bool {
        self.along(lex, mu).0 + 1 == self.extents[mu]
    }

    /// Whether the step from lex along -mu crosses the boundary.
    #[inline]
    pub fn wraps_backward(&self, lex: usize, mu: usize) -> bool {
        self.along(lex, mu).0 == 0
    }

    /// Parity of a site: 0 on even sites, 1 on odd ones.
    #[inline]
    pub fn parity(&self, lex: usize) -> usize {
        self.coords(lex).iter().sum::<usize>() & 1
    }

    /// Index of the site among the sites of its parity.
    #[inline]
    pub fn cb(&self, lex: usize) -> usize {
        lex / 2
    }

    /// Sites of one parity in the order of their checkerboard index.
    pub fn sites_of_parity(&self, parity: usize) -> Vec<usize> {
        (0..self.volume()).filter(|&lex| self.parity(lex) == parity).collect()
    }

    /// A lexicographic field with `per_site` entries on a site, reordered to all even sites
    /// and then all odd ones.
    pub fn even_odd_order<T: Clone>(&self, field: &[T], per_site: usize) -> Vec<T> {
        let mut out = Vec::with_capacity(field.len());
        for parity in 0..2 {
            for lex in self.sites_of_parity(parity) {
                out.extend_from_slice(&field[lex * per_site..(lex + 1) * per_site]);
            }
        }
        out
    }

    /// The inverse of [`Lattice::even_odd_order`].
    pub fn lexicographic_order<T: Clone>(&self, field: &[T], per_site: usize) -> Vec<T> {
        let mut out = field.to_vec();
        let order = self.sites_of_parity(0).into_iter().chain(self.sites_of_parity(1));
        for (from, lex) in order.enumerate() {
            out[lex * per_site..(lex + 1) * per_site]
                .clone_from_slice(&field[from * per_site..(from + 1) * per_site]);
        }
        out
    }
}
