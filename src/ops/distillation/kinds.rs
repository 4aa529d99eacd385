//! Kinds of arrays of distillation in files: for each kind its name, the names of the axes, and the formula of an
//! element. Python's `plaq.arrays` has the same table.

use crate::io::hdf5::{Attribute, Attributes};

/// The attribute with the formula of an array.
pub(super) const CONVENTION: &str = "convention";

/// A kind of array.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub kind: &'static str,
    pub indices: &'static str,
    pub convention: &'static str,
}

impl Kind {
    pub fn attributes(self) -> Attributes {
        let all = [("kind", self.kind), ("indices", self.indices), (CONVENTION, self.convention)];
        all.map(|(name, text)| (name, Attribute::Text(text.into()))).to_vec()
    }

    /// Replaces the kind of array in `about` by this one.
    pub fn replace(self, about: &mut Attributes) {
        about.retain(|(name, _)| !["kind", "indices", CONVENTION].contains(name));
        about.extend(self.attributes());
    }
}

pub(super) const VALUES: Kind = Kind {
    kind: "eigenvalues of modes",
    indices: "t, mode",
    convention:
        "-D^2 v = lambda v on every time slice, D^2 the second covariant difference in x, y, z",
};
pub(super) const RESIDUALS: Kind =
    Kind { kind: "residuals of modes", indices: "t, mode", convention: "|D^2 v + lambda v|" };
pub(super) const PERAMBULATORS: Kind = Kind {
    kind: "perambulator",
    indices: "sink time, sink spin, source spin, sink mode, source mode",
    convention: "tau(t', t) = V(t')^dagger M^-1 V(t), t the source_time",
};
pub(super) const GENERALISED: Kind = Kind {
    kind: "generalised perambulators of modes",
    indices: "sink time, insertion, t, sink spin, source spin, sink mode, source mode",
    convention: "V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma [shift along the path], t0 the \
                 source_time, q_i = 2 pi n_i / L_i",
};
pub(super) const MESONS: Kind = Kind {
    kind: "elementals of modes",
    indices: "momentum, operator, t, left mode, right mode",
    convention: "Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x), p_i = 2 pi n_i / L_i, the last step of O first",
};
const BARYON: &str = "B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k, p_i = 2 pi n_i / L_i, \
                      the last step of O first";
pub(super) const BARYONS: Kind = Kind {
    kind: "elementals of modes",
    indices: "momentum, t, triple of modes a < b < c with c fastest",
    convention: BARYON,
};
pub(super) const BARYONS_WITH_STEPS: Kind = Kind {
    kind: "elementals of modes",
    indices: "momentum, t, mode of quark 1, mode of quark 2, mode of quark 3",
    convention: BARYON,
};
pub(super) const NOISE: Kind = Kind {
    kind: "noise and solutions",
    indices: "column, t, spin, mode",
    convention: "eta(t, s, k) of the sources b = sum_tsk eta(t, s, k) v_k",
};
pub(super) const SOLUTIONS: Kind =
    Kind { convention: "V(t')^dagger M^-1 b of the sources b with these columns", ..NOISE };
