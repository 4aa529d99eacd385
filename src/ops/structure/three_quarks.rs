//! Baryons of any kind: three quark lines between operators eps_abc (q1_a^T Gamma q2_b) q3_c.

use num_complex::Complex64;

use super::spin::Spin;
use super::waves::{from_source, inside, Same, Slices, Wave, Waves};
use crate::backend::args::QuarkTripleArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::SpinorField;
use crate::ops::gamma::SpinMatrix;
use crate::ops::source::{check_momentum, check_propagator};

/// The slots of the source's operator that the quarks of the sink's slots 0, 1, 2 go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing(pub [usize; 3]);

impl Pairing {
    /// All pairings of three quarks, in the order in which results have them. None has a sign, since colours are
    /// antisymmetric at both ends.
    pub const ALL: [Pairing; 6] = [
        Pairing([0, 1, 2]),
        Pairing([1, 0, 2]),
        Pairing([0, 2, 1]),
        Pairing([2, 1, 0]),
        Pairing([1, 2, 0]),
        Pairing([2, 0, 1]),
    ];
}

/// A contraction as kernels take it (structure.h, QuarkTriples): lines X, Y, Z by number, G, H and the form.
pub(super) struct Form {
    pub lines: [usize; 3],
    pub g: Spin,
    pub h: Spin,
    pub open: bool,
}

impl Form {
    /// The form of a pairing of operators with Gamma at the sink and `conjugate` at the source.
    pub fn new(Pairing(to): Pairing, sink: Spin, conjugate: Spin) -> Form {
        // X is a line of the sink's pair that ends in the pair of the source; Y is the other one of the sink's pair.
        let x = if to[0] < 2 { 0 } else { 1 };
        let y = 1 - x;
        // Rows of X~ are the spin of Y at the sink, and its columns that of the source's other slot of the pair.
        let g = if x == 0 { sink.transposed() } else { sink };
        let h = if to[x] == 0 { conjugate } else { conjugate.transposed() };
        Form { lines: [x, y, 2], g, h, open: to[2] != 2 }
    }
}

/// The matrix at the source of Obar = O^dagger gamma_t for operators O with Gamma, rows the first quark's spin:
/// gamma_t Gamma^dagger gamma_t^T, transposed.
pub(super) fn conjugate(gamma: Spin) -> Spin {
    let t = Spin::from(SpinMatrix::axis(3));
    t.times(gamma.dagger()).times(t.transposed()).transposed()
}

/// Arguments of kernels but for lattice and results.
pub(super) fn arguments(fields: [&SpinorField; 3], form: &Form) -> QuarkTripleArgs {
    let [x, y, z] = form.lines.map(|k| fields[k].view());
    QuarkTripleArgs {
        geom: fields[0].geometry().args(),
        x,
        y,
        z,
        g: form.g.to_kernel(),
        h: form.h.to_kernel(),
        open: form.open as i32,
        ..Default::default()
    }
}

/// Three propagators that may differ in mass, smearing or displacement, of the quarks in the sink's slots.
#[derive(Clone, Copy)]
pub struct ThreeQuarks<'a> {
    pub quarks: [&'a SpinorField; 3],
    /// Position of the source: times count from its t, phases of momenta from its x, y, z.
    pub origin: [usize; 4],
    /// Boundary phases in time of the three, which are taken out of times before the source's.
    pub phases: [Complex64; 3],
}

pub(super) const NAMES: [&str; 3] = ["first", "second", "third"];

impl ThreeQuarks<'_> {
    pub(super) fn check(&self, momenta: &[[i32; 3]]) -> Result<()> {
        for (quark, name) in self.quarks.iter().zip(NAMES) {
            check_propagator(quark, name)?;
            self.quarks[0].check_like(quark, name)?;
        }
        momenta.iter().try_for_each(|&[x, y, z]| check_momentum([x, y, z, 0]))?;
        let geometry = self.quarks[0].geometry();
        if !inside(geometry, self.origin) {
            let (origin, extents) = (self.origin, geometry.global_extents());
            bail!(InvalidArgument, "position: {origin:?} is outside of the lattice {extents:?}");
        }
        Ok(())
    }

    /// The factor of a contraction whose quarks cross the end of the lattice in time: the product of their three
    /// boundary phases.
    pub(super) fn across(&self) -> Complex64 {
        self.phases.iter().product()
    }

    /// C_ss'(t) = sum_x exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)> of one pairing after the other, with both spins
    /// open: O = eps_abc (q1_a^T Gamma q2_b) q3_c with Gamma at the sink, Obar = O^dagger gamma_t with another one at the
    /// source. [pairing][momentum][t][4 s + s'], times from the source.
    ///
    /// # Errors
    /// `FieldMismatch`: not twelve columns, or other lattices; `InvalidArgument`: a source outside of the lattice.
    pub fn pairings(
        &self,
        [sink, source]: [Spin; 2],
        pairings: &[Pairing],
        momenta: &[[i32; 3]],
    ) -> Result<Vec<Slices>> {
        self.check(momenta)?;
        let same = Same::new(&self.quarks)?;
        let fields = [0, 1, 2].map(|k| same.of(&self.quarks, k));
        let backwards: Vec<[i32; 3]> = momenta.iter().map(|p| p.map(|n| -n)).collect();
        let waves = Waves::new(fields[0], &backwards)?;
        let kernel = kernels::QuarkTriples::of(fields[0].precision())?;
        let across = self.across();
        let one = |pairing: &Pairing| {
            let form = Form::new(*pairing, sink, conjugate(source));
            let args = arguments(fields, &form);
            let found =
                waves.sum(fields[0], Wave::from(self.origin), |matrices, slice, work| {
                    let args = QuarkTripleArgs { matrices, slice, ..args };
                    fields[0].device().launch(kernel, &args, work)
                })?;
            let turn = |by_time: &Vec<[Complex64; 16]>| {
                from_source(by_time, self.origin[3], |m| m.map(|z| z * across))
            };
            Ok(found.iter().map(turn).collect())
        };
        pairings.iter().map(one).collect()
    }
}
