//! Sequential sources (Martinelli, Sachrajda, Nucl. Phys. B 316 (1989) 355), through the sink and through an
//! operator.

use std::sync::Arc;

use num_complex::Complex64;

use super::insertions::{conserved_current, links_for, Lines};
use super::lines::{check_path, displacement};
use super::spin::Spin;
use super::three_quarks::{arguments, conjugate, Form, Pairing, ThreeQuarks};
use super::waves::{inside, SamePrecision, Wave};
use crate::backend::args::{QuarkTripleArgs, SpinProductArgs};
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::{blas, GaugeField, Precision, SpinorField};
use crate::linop::LinOp;
use crate::operators::CovariantShift;
use crate::ops::gamma::{Gamma, SpinMatrix};
use crate::ops::source::{check_momentum, check_spinors};
use crate::refuse;

/// A plane wave on one time slice of the lattice or on all of them: delta(t, time) exp(i p (x - origin)).
#[derive(Clone, Copy, Debug)]
pub struct SliceWave {
    pub time: Option<usize>,
    /// Integer momentum: p_i = 2 pi momentum_i / L_i.
    pub momentum: [i32; 3],
    /// Coordinates x, y, z at which the wave's phase is 1; t is ignored.
    pub origin: [usize; 4],
    /// Shift of the momentum by boundary phases in space, in units of pi / L_mu.
    pub shift: [f64; 4],
}

impl SliceWave {
    fn check(&self, field: &SpinorField) -> Result<()> {
        let [x, y, z] = self.momentum;
        check_momentum([x, y, z, 0])?;
        let [x, y, z, t] = self.origin;
        let position = [x, y, z, self.time.unwrap_or(t)];
        if !inside(field.geometry(), position) {
            let extents = field.geometry().global_extents();
            bail!(
                InvalidArgument,
                "position, time: {position:?} is outside of the lattice {extents:?}"
            );
        }
        Ok(())
    }
}

/// Computes out = wave(x) left in right. `left` acts on the sink's spin; `right`, if given, acts on the spins of the
/// twelve columns. `moved`: the displacement of the path along which `in` was transported, and the boundary phases
/// for it.
fn product(
    out: &SpinorField,
    inp: &SpinorField,
    wave: SliceWave,
    (left, right): (Spin, Option<Spin>),
    (displacement, boundary): ([i32; 4], [f64; 4]),
) -> Result<()> {
    let spins = if right.is_some() { 4 } else { 1 };
    let colours = inp.nrhs() / spins;
    let one = Spin::diagonal(Complex64::ONE);
    let [x, y, z] = wave.momentum;
    let SliceWave { time, origin: position, shift, .. } = wave;
    let at = Wave { position, displacement, boundary, shift, time };
    let args = SpinProductArgs {
        geom: inp.geometry().args(),
        out: out.view(),
        inp: inp.view(),
        wave: at.args(),
        momentum: [x, y, z, 0],
        left: left.to_kernel(),
        right: right.unwrap_or(one).to_kernel(),
        spins: spins as i32,
        colours: colours as i32,
    };
    let work = inp.geometry().work(2 * colours);
    inp.device().launch(kernels::SpinProduct::of(inp.precision())?, &args, work)
}

/// Multiplies a field that was transported along a path with this displacement by the boundary phases, in units of pi, for
/// each boundary that the path crosses.
///
/// # Errors
/// `OutOfMemory`.
pub fn times_boundary(
    field: &mut SpinorField,
    displacement: [i32; 4],
    boundary: [f64; 4],
) -> Result<()> {
    if (0..4).all(|mu| displacement[mu] == 0 || boundary[mu] == 0.0) {
        return Ok(());
    }
    if field.precision() == Precision::F16 {
        let mut single = field.like(Precision::F32)?;
        blas::copy(&mut single, field)?;
        times_boundary(&mut single, displacement, boundary)?;
        return blas::copy(field, &single);
    }
    let everywhere = SliceWave { time: None, momentum: [0; 3], origin: [0; 4], shift: [0.0; 4] };
    let one = Spin::diagonal(Complex64::ONE);
    product(field, field, everywhere, (one, None), (displacement, boundary))
}

/// Computes field <- spin field.
pub(super) fn times_spin(field: &SpinorField, spin: Spin) -> Result<()> {
    let everywhere = SliceWave { time: None, momentum: [0; 3], origin: [0; 4], shift: [0.0; 4] };
    product(field, field, everywhere, (spin, None), ([0; 4], [0.0; 4]))
}

fn check_pair(from: &SpinorField, to: &SpinorField) -> Result<()> {
    check_spinors(from, "from")?;
    from.check_like(to, "to")?;
    if from.precision() != to.precision() || from.precision() == Precision::F16 {
        refuse!(
            FieldMismatch,
            "to",
            expected("fields in the same precision, single or double"),
            found("{} and {}", from.precision(), to.precision())
        );
    }
    Ok(())
}

/// Computes to = wave(x) Gamma [path] from: an operator applied to a propagator, as the source of the propagator that
/// continues from there. `path` is that of a [`CovariantShift`], with boundary phases in units of pi; without links
/// these are 1.
///
/// # Errors
/// `FieldMismatch`: other lattices, precisions or numbers of columns, half precision; `InvalidArgument`: a time or an
/// origin outside of the lattice; errors of [`CovariantShift::new`].
pub fn through_operator(
    to: &mut SpinorField,
    from: &SpinorField,
    gamma: Spin,
    wave: SliceWave,
    (links, path, boundary): (Option<&Arc<GaugeField>>, &[u8], [f64; 4]),
) -> Result<()> {
    check_pair(from, to)?;
    wave.check(from)?;
    if path.is_empty() {
        return product(to, from, wave, (gamma, None), ([0; 4], boundary));
    }
    check_path(path, from.geometry().global_extents())?;
    let shift = CovariantShift::new(links_for(links, from)?, from.components(), path.to_vec())?;
    shift.apply(to, from)?;
    product(to, to, wave, (gamma, None), (displacement(path), boundary))
}

/// Computes the source of the propagator that continues through the sink of a meson qbar' Gamma_A q, from the
/// propagator S' of the antiquark (given as that of a quark): -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B
/// gamma_t exp(i p (x - x0)) on the sink's time slice. With X = M^-1 to, where `to` is smeared first if the sink is
/// smeared, sum_z X(z)^dagger gamma5 J S(z) is sum_x exp(-i p (x - x0)) <O_A(x) J O_B(x0)^dagger>, where J acts on q.
///
/// # Errors
/// Errors of [`through_operator`]; `FieldMismatch`: not twelve columns.
pub fn through_meson(
    to: &mut SpinorField,
    antiquark: &SpinorField,
    [sink, source]: [Spin; 2],
    wave: SliceWave,
) -> Result<()> {
    check_pair(antiquark, to)?;
    crate::ops::source::check_propagator(antiquark, "from")?;
    wave.check(antiquark)?;
    let [five, t] = [SpinMatrix::gamma5(), SpinMatrix::axis(3)].map(Spin::from);
    let left = five.times(sink.dagger()).times(five).scaled((-1.0).into());
    let right = five.times(t).times(source).times(t);
    product(to, antiquark, wave, (left, Some(right)), ([0; 4], [0.0; 4]))
}

/// Computes correlators of the conserved vector current with a meson, sum_x exp(i q (x - x0)) <V_mu(x) (qbar' Gamma
/// q)(x0)^dagger> \[mu\]\[q\]\[t\], from the propagators `lines.forward` of the quark and `lines.back` of the antiquark,
/// given as that of a quark. The antiquark's line to the source with Gamma stands in the place of a sequential
/// propagator.
///
/// # Errors
/// Errors of [`conserved_current`] and [`through_meson`].
pub fn conserved_mesons(
    lines: Lines,
    gamma: Gamma,
    momenta: &[[i32; 3]],
) -> Result<Vec<Complex64>> {
    let everywhere =
        SliceWave { time: None, momentum: [0; 3], origin: lines.origin, shift: [0.0; 4] };
    let ends = [SpinMatrix::ONE, gamma.matrix()].map(Spin::from);
    let mut back = lines.back.like(lines.back.precision())?;
    through_meson(&mut back, lines.back, ends, everywhere)?;
    conserved_current(Lines { back: &back, ..lines }, momenta)
}

/// A term of a baryon's contractions in which the quark at position `line` of the sink's operator has an insertion.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    pub pairing: Pairing,
    pub line: usize,
    pub weight: f64,
}

/// Computes the source of the quark propagator that continues through the sink of a baryon: gamma5 times the complex
/// conjugate of the derivative of the sum over `terms` of weight tr\[P C\] with respect to the replaced line, with
/// exp(-i p (x - x0)) on the sink's time slice. With X = M^-1 to, where `to` is smeared first if the sink is smeared,
/// sum_z X(z)^dagger gamma5 J S(z) is sum_x exp(-i p (x - x0)) tr\[P <O(x) J Obar(x0)>\]. `crossed`: the sink's time,
/// counted from the source, is beyond the end of the lattice, and the boundary phases of the three quarks are taken
/// out.
///
/// # Errors
/// Errors of [`ThreeQuarks::pairings`] and [`through_operator`].
pub fn through_baryon(
    to: &mut SpinorField,
    quarks: ThreeQuarks,
    [sink, source, projector]: [Spin; 3],
    terms: &[Replaced],
    (wave, crossed): (SliceWave, bool),
) -> Result<()> {
    quarks.check(&[wave.momentum])?;
    let same = SamePrecision::new(&quarks.quarks)?;
    let fields = [0, 1, 2].map(|k| same.of(&quarks.quarks, k));
    wave.check(fields[0])?;
    fields[0].check_like(to, "to")?;
    // The sum is computed in the precision of the propagators.
    let sum = fields[0].like(fields[0].precision())?;
    let boundary = quarks.together();
    let phase = if crossed { boundary.across_time() } else { Complex64::ONE };
    let wave = SliceWave { shift: boundary.momentum_shift(), ..wave };
    for term in terms {
        let form = Form::new(term.pairing, sink, conjugate(source));
        let which = form.lines.iter().position(|&line| line == term.line);
        let Some(which) = which else {
            refuse!(InvalidArgument, "lines", expected("0, 1 or 2"), found("{}", term.line));
        };
        let scale = (phase * term.weight).conj();
        let mut args = QuarkTripleArgs {
            out: sum.view(),
            p: projector.to_kernel(),
            scale: [scale.re, scale.im],
            which: which as i32,
            ..arguments(fields, &form)
        };
        if which == 0 {
            (args.g, args.h) = (form.g.transposed().to_kernel(), form.h.transposed().to_kernel());
        }
        let kernel = kernels::QuarkTripleSource::of(sum.precision())?;
        sum.device().launch(kernel, &args, sum.geometry().work(2))?;
    }
    let five = Spin::from(SpinMatrix::gamma5());
    product(&sum, &sum, wave, (five, None), ([0; 4], [0.0; 4]))?;
    blas::copy(to, &sum)
}
