//! Baryons of any three quarks, between operators eps_abc (q1_a^T Gamma q2_b) q3_c.

use num_complex::Complex64;

use super::spin::Spin;
use super::waves::{from_source, inside, SamePrecision, Slices, Wave, Waves};
use crate::backend::args::QuarkTripleArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::SpinorField;
use crate::operators::Boundary;
use crate::ops::gamma::SpinMatrix;
use crate::ops::source::{check_momentum, check_propagator};

/// A Wick pairing: the positions in the source's operator to which the quarks at positions 0, 1, 2 of the sink's
/// operator are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing(pub [usize; 3]);

impl Pairing {
    /// All pairings of three quarks, in the order of results. Each counts with a positive sign, since colours are
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

/// A contraction in the form that kernels take (structure.h, QuarkTriples): the numbers of the propagators X, Y, Z,
/// the matrices G, H, and the form of the product.
pub(super) struct Form {
    pub lines: [usize; 3],
    pub g: Spin,
    pub h: Spin,
    pub open: bool,
}

impl Form {
    /// The contraction of a pairing for operators with matrix Gamma = `sink` at the sink and `conjugate` at the
    /// source.
    pub fn new(Pairing(to): Pairing, sink: Spin, conjugate: Spin) -> Form {
        // X is a quark of the sink's pair that is connected to the source's pair; Y is the other quark of the sink's
        // pair.
        let x = if to[0] < 2 { 0 } else { 1 };
        let y = 1 - x;
        // Rows of X~ have the spin of Y at the sink, columns the spin of the other position of the source's pair.
        let g = if x == 0 { sink.transposed() } else { sink };
        let h = if to[x] == 0 { conjugate } else { conjugate.transposed() };
        Form { lines: [x, y, 2], g, h, open: to[2] != 2 }
    }
}

/// For Obar = O^dagger gamma_t of an operator O with matrix Gamma, the matrix at the source, gamma_t Gamma^dagger
/// gamma_t^T transposed, so that rows are the first quark's spin.
pub(super) fn conjugate(gamma: Spin) -> Spin {
    let t = Spin::from(SpinMatrix::axis(3));
    t.times(gamma.dagger()).times(t.transposed()).transposed()
}

/// The kernel's arguments, without lattice and results.
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

/// Three propagators, of the quarks at positions 0, 1, 2 of the sink's operator; they may differ in mass, smearing or
/// displacement.
#[derive(Clone, Copy)]
pub struct ThreeQuarks<'a> {
    pub quarks: [&'a SpinorField; 3],
    /// Position of the source: times count from its t, and phases of momenta from its x, y, z.
    pub origin: [usize; 4],
    /// Boundaries of the three quarks. Phases in time are divided out of contractions at times before the source's;
    /// the sums of those in space shift the momenta ([`Boundary::momentum_shift`]).
    pub boundary: [Boundary; 3],
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

    /// The boundary of the product of the three quarks.
    pub(super) fn together(&self) -> Boundary {
        Boundary::of_hadron(&self.boundary, &[])
    }

    /// Computes C_ss'(t) = sum_x exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)> for every pairing, with both spins
    /// open: O = eps_abc (q1_a^T Gamma q2_b) q3_c at the sink; Obar = O^dagger gamma_t at the source, whose Gamma may
    /// differ. The result is [pairing][momentum][t][4 s + s'], with times from the source.
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
        let same = SamePrecision::new(&self.quarks)?;
        let fields = [0, 1, 2].map(|k| same.of(&self.quarks, k));
        let backwards: Vec<[i32; 3]> = momenta.iter().map(|p| p.map(|n| -n)).collect();
        let waves = Waves::new(fields[0], &backwards)?;
        let kernel = kernels::QuarkTriples::of(fields[0].precision())?;
        let boundary = self.together();
        let across = boundary.across_time();
        let shift = boundary.momentum_shift().map(|angle| -angle);
        let wave = Wave { shift, ..Wave::from(self.origin) };
        let one = |pairing: &Pairing| {
            let form = Form::new(*pairing, sink, conjugate(source));
            let args = arguments(fields, &form);
            let found = waves.sum(fields[0], wave, |matrices, slice, work| {
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
