//! Hadron structure: operators between two propagators, three quarks of any kind, sequential sources, gluon operators.

use std::sync::Arc;

use super::args::{Array, Handle, Maybe, OutArray, Params};
use super::contract::{
    check_extent, check_times, count, lines, pairs, phases_of, place, plaq_contract_params, triples,
};
use super::gauge::{plaq_gauge, Gauge};
use super::path::{lists_of, steps_of};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::fields::GaugeField;
use crate::operators::phase;
use crate::ops::paths::LONGEST as LONGEST_PATH;
use crate::ops::structure::gluons::gluon_pairs;
use crate::ops::structure::insertions::{conserved_current, insertions, Lines};
use crate::ops::structure::lines::{Factor, LONGEST};
use crate::ops::structure::sequential::{
    through_baryon, through_meson, through_operator, Replaced, SliceWave,
};
use crate::ops::structure::spin::Spin;
use crate::ops::structure::three_quarks::{Pairing, ThreeQuarks};
use crate::refuse;

interface! {
    "Hadron structure"
    functions {
        /// Operators between two quark lines: the sum over z of exp(i q (z - x0)) sum over columns of X(z)^dagger gamma5 Gamma [line]
        /// S(z). `forward` is S(z, x0), `back` the solution X of a sequential source (plaq_spinor_sequential_meson, -_baryon): X^dagger
        /// gamma5 is the line from z to the sink, with a gamma5-hermitian operator. A line is a product of `lengths[i]` factors, 0 for a
        /// local operator; `steps` has those of all lines one after the other: 0 to 3 carry q along a link forward in x, y, z, t,
        /// U_mu(z) q(z + mu), 7 - mu back, U_mu(z - mu)^dagger q(z - mu), 8 + mu is the derivative (D - D')_mu / 2, D q = [U_mu(z) q(z +
        /// mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor acts first on q, the first on qbar. What
        /// crosses the lattice's end takes the quark's boundary phase along. Zero handle for `gauge`: without links. A derivative
        /// across an end where the two quarks have different phases is refused. `momenta`: three numbers each, q_i = 2 pi n_i / L_i. `correlators`: (re, im) of [line][Gamma, all
        /// 16][momentum][t], t the time from the source, `times` the extent of the lattice. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
        /// OUT_OF_MEMORY.
        plaq_spinor_contract_insertions(back: Handle<plaq_spinor>, forward: Handle<plaq_spinor>, gauge: Maybe<plaq_gauge>, params: Params<plaq_contract_params>, lengths: Array<i32>[lines], lines: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[32 lines nmomenta times]) = insertions_of;
        /// The same for the conserved vector current V_mu(z) = [qbar(z + mu) (1 + gamma_mu) U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu)
        /// U_mu(z) q(z + mu)] / 2 of Wilson's operators, exp(i q (z - x0)) at z: [mu][momentum][t]. Of anisotropic operators it is
        /// without the weight of the hops.
        plaq_spinor_contract_current(back: Handle<plaq_spinor>, forward: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, params: Params<plaq_contract_params>, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[8 nmomenta times]) = current_of;
        /// Baryons eps_abc (q1_a^T Gamma q2_b) q3_c of three propagators with twelve columns, which may differ in mass, smearing or
        /// displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>,
        /// Obar = O^dagger gamma_t, Gamma `sink` and `source` matrices of 16 (re, im), row by row. `correlators`: (re, im) of
        /// [pairing][momentum][t][s][s']. Pairings name the slots of the source to which the quarks of slots 1, 2, 3 of the sink go: 123,
        /// 213, 132, 321, 231, 312; quarks belong to the sink's slots. All have the sign +, as colours are antisymmetric. Add those
        /// which flavours allow; boundary phases beyond the lattice's end are taken out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_contract_quarks(first: Handle<plaq_spinor>, second: Maybe<plaq_spinor>, third: Maybe<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[192 nmomenta times]) = quarks_of;
        /// to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or on all of them with -1: the source
        /// of the line that goes on from an operator. `matrix`: Gamma as 16 (re, im); `steps` 0 to 7 as of plaq_spinor_contract_insertions. Any
        /// number of columns, in single or double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_sequential_operator(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, gauge: Maybe<plaq_gauge>, params: Params<plaq_contract_params>, matrix: Array<f64>[32], steps: Array<i32>[nsteps], nsteps: i64, momentum: Array<i32>[3], time: i32) = operator_source;
        /// The sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar' Gamma_B q at the source, `time` of
        /// the sink counted from the source and its momentum p: from the propagator of the antiquark (given as that of a quark, smeared
        /// where the sink is) to = -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). Smear it where the sink is
        /// smeared; with its solution X plaq_spinor_contract_insertions gives <O_A(x) J O_B(x0)^dagger>, J on q, with exp(-i p (x - x0)), in
        /// the sign of plaq_contract_mesons. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_sequential_meson(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], momentum: Array<i32>[3], time: i32) = meson_source;
        /// The sequential source through the sink of a baryon: as of plaq_spinor_contract_quarks, of the sum of `terms` contractions, each with a
        /// `pairings` number 0 to 5 in the order given there, the slot 0, 1 or 2 of the sink (`slots`) whose quark the operator acts on, and
        /// a weight. `projector` P closes the spins, tr[P C]. With the solution X of the result, smeared before where the sink is,
        /// plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For the nucleon, quarks u d u:
        /// an operator on u is pairings 0 and 3 with slots 0 and 2 each, one on d the same with slot 1. Errors: INVALID_ARGUMENT,
        /// FIELD_MISMATCH.
        plaq_spinor_sequential_baryon(first: Handle<plaq_spinor>, second: Maybe<plaq_spinor>, third: Maybe<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], projector: Array<f64>[32], pairings: Array<i32>[terms], slots: Array<i32>[terms], weights: Array<f64>[terms], terms: i64, momentum: Array<i32>[3], time: i32) = baryon_source;
        /// Pairs of field strengths joined by adjoint lines, gluon operators: the sum over x of exp(-i p x) tr[F_a(x) W F_b(x + d)
        /// W^dagger], where W is the product of links along the first n of `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x
        /// to x + d, and F = (Q - Q^dagger) / 8 the sum of the four clover leaves without its trace. `correlators`: (re, im) of [n][plane a]
        /// [plane b][momentum][t] for n = 0 to `nsteps`, which are `places` = nsteps + 1, planes xy, xz, yz, xt, yt, zt, t and x of the first
        /// one from the lattice's origin. Links are those of `gauge`, which may have flowed. Errors: INVALID_ARGUMENT, UNSUPPORTED,
        /// OUT_OF_MEMORY.
        plaq_gauge_gluon_pairs(gauge: Handle<plaq_gauge>, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, places: i64, times: i64, correlators: OutArray<f64>[72 places nmomenta times]) = gluons_of;
    }
}

#[allow(clippy::too_many_arguments)]
fn gluons_of(
    gauge: &Arc<Gauge>,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    places: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    if !(0..=LONGEST_PATH as i64).contains(&nsteps) {
        refuse!(InvalidArgument, "nsteps", expected("0 to {LONGEST_PATH}"), found("{nsteps}"));
    }
    if places != nsteps + 1 {
        refuse!(
            InvalidArgument,
            "places",
            expected("{}, the steps and one more", nsteps + 1),
            found("{places}")
        );
    }
    let path = steps_of(&steps.get(nsteps as usize)?)?;
    let momenta = triples(momenta, nmomenta)?;
    let links = gauge.read("gauge")?;
    check_extent(links.geometry(), times)?;
    correlators.set(pairs(gluon_pairs(&links, &path, &momenta)?).collect());
    Ok(())
}

fn matrix(numbers: &Array<f64>, argument: &str) -> Result<Spin> {
    Spin::from_numbers(&numbers.get(32)?, argument)
}

fn links(gauge: Option<&Arc<Gauge>>) -> Result<Option<Arc<GaugeField>>> {
    gauge.map(|gauge| gauge.read("gauge")).transpose()
}

/// Refuses two quarks whose boundary phases differ in a direction in which an operator moves the antiquark: z, where it stands,
/// would not be the only place on which its phase depends.
fn check_phases(back: &Spinor, forward: [f64; 4], moves_back: [bool; 4]) -> Result<()> {
    let other = back.origin().phases(forward);
    let apart = |mu: usize| (phase(other[mu]) - phase(forward[mu])).norm() > 1e-12;
    if let Some(mu) = (0..4).find(|&mu| moves_back[mu] && apart(mu)) {
        refuse!(
            InvalidArgument,
            "back",
            expected(
                "the boundary phase of forward in {}, {}, where an operator moves both quarks",
                ["x", "y", "z", "t"][mu],
                forward[mu]
            ),
            found("{}", other[mu])
        );
    }
    Ok(())
}

/// Calls `run` with the two lines of an operator, which moves the antiquark in some directions.
fn between<T>(
    [back, forward]: [&Arc<Spinor>; 2],
    gauge: Option<&Arc<Gauge>>,
    params: &plaq_contract_params,
    (momenta, times): (&[[i32; 3]], i64),
    (moves, moves_back): (bool, [bool; 4]),
    run: impl FnOnce(Lines) -> Result<T>,
) -> Result<T> {
    forward.context().check_same(back.context(), "back")?;
    if let Some(gauge) = gauge {
        forward.context().check_same(gauge.context(), "gauge")?;
    }
    let (origin, _) = lines([(forward, "forward"), (back, "back")], params)?;
    let boundary = forward.origin().phases(phases_of(params)?);
    check_phases(back, boundary, moves_back)?;
    let links = links(gauge)?;
    if let Some(links) = links.as_ref().filter(|_| moves) {
        forward.check_links("forward", links, "gauge")?;
        back.check_links("back", links, "gauge")?;
    }
    let s = forward.read("forward")?;
    // One field may be both.
    let x = if Arc::ptr_eq(back, forward) { None } else { Some(back.read("back")?) };
    check_times(&s, times)?;
    run(Lines {
        back: x.as_deref().unwrap_or(&s),
        forward: &s,
        links: links.as_ref(),
        boundary,
        origin: place(origin, momenta)?,
    })
}

/// Operators as a host lists them.
pub(super) struct Operators {
    pub lines: Vec<Vec<Factor>>,
    pub momenta: Vec<[i32; 3]>,
}

impl Operators {
    /// Checks lengths of lines, their factors, one line after the other, and momenta, each with the argument that counts them.
    pub fn of(
        lengths: (&Array<i32>, i64),
        steps: (&Array<i32>, i64),
        (momenta, nmomenta): (&Array<i32>, i64),
    ) -> Result<Operators> {
        let lines = factors_of(lengths, steps)?;
        Ok(Operators { lines, momenta: triples(momenta, nmomenta)? })
    }

    /// Whether any line carries quarks along links, and for each direction whether some line has a derivative in it,
    /// which carries the antiquark as well.
    fn moves(&self) -> (bool, [bool; 4]) {
        let mut back = [false; 4];
        for factor in self.lines.iter().flatten() {
            if let Factor::Derivative(mu) = factor {
                back[usize::from(*mu)] = true;
            }
        }
        (self.lines.iter().any(|line| !line.is_empty()), back)
    }
}

fn factors_of(
    (lengths, nlines): (&Array<i32>, i64),
    (steps, nsteps): (&Array<i32>, i64),
) -> Result<Vec<Vec<Factor>>> {
    let lines = lists_of((lengths, count(nlines, "lines")?), (steps, nsteps), Some(LONGEST))?;
    let factors = |line: Vec<i32>| -> Result<Vec<Factor>> {
        line.into_iter().map(Factor::from_number).collect()
    };
    lines.into_iter().map(factors).collect()
}

#[allow(clippy::too_many_arguments)]
fn insertions_of(
    back: &Arc<Spinor>,
    forward: &Arc<Spinor>,
    gauge: Option<&Arc<Gauge>>,
    params: &plaq_contract_params,
    lengths: &Array<i32>,
    nlines: i64,
    steps: &Array<i32>,
    nsteps: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let asked = Operators::of((lengths, nlines), (steps, nsteps), (momenta, nmomenta))?;
    let at = (&asked.momenta[..], times);
    let found = between([back, forward], gauge, params, at, asked.moves(), |lines| {
        insertions(lines, &asked.lines, &asked.momenta)
    })?;
    correlators.set(pairs(found).collect());
    Ok(())
}

/// Refuses lines of two quarks between which no vector current is conserved: of other masses, or with the twisted masses of one
/// flavour and of another (X is solved with -mu).
fn check_one_quark(back: &Spinor, forward: &Spinor) -> Result<()> {
    let (x, s) = (back.origin(), forward.origin());
    let apart = |one: f64, other: f64| (one - other).abs() > 1e-9 * (1.0 + one.abs());
    if let Some((one, other)) = s.mass.zip(x.mass).filter(|(a, b)| apart(*a, *b)) {
        refuse!(InvalidArgument, "back", expected("the mass of forward, {one}"), found("{other}"));
    }
    if let Some((one, other)) = s.mu.zip(x.mu).filter(|(a, b)| apart(-*a, *b)) {
        let wanted = -one;
        refuse!(
            InvalidArgument,
            "back",
            expected("the opposite twisted mass of forward, {wanted}"),
            found("{other}")
        );
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn current_of(
    back: &Arc<Spinor>,
    forward: &Arc<Spinor>,
    gauge: &Arc<Gauge>,
    params: &plaq_contract_params,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let momenta = triples(momenta, nmomenta)?;
    check_one_quark(back, forward)?;
    let (at, moves) = ((&momenta[..], times), (true, [true; 4]));
    let found = between([back, forward], Some(gauge), params, at, moves, |lines| {
        conserved_current(lines, &momenta)
    })?;
    correlators.set(pairs(found).collect());
    Ok(())
}

/// Calls `run` with three quarks, of which the second and third may be the first.
fn together<T>(
    [first, second, third]: [Option<&Arc<Spinor>>; 3],
    params: &plaq_contract_params,
    momenta: &[[i32; 3]],
    run: impl FnOnce(ThreeQuarks) -> Result<T>,
) -> Result<T> {
    let Some(first) = first else {
        refuse!(InvalidArgument, "first", expected("a propagator"), found("none"));
    };
    let objects =
        [(first, "first"), (second.unwrap_or(first), "second"), (third.unwrap_or(first), "third")];
    for (object, name) in &objects[1..] {
        first.context().check_same(object.context(), name)?;
    }
    let (origin, phases) = lines(objects, params)?;
    let mut guards = vec![];
    // Where one field is several quarks it is locked once.
    let mut places = [0; 3];
    for (k, (object, name)) in objects.iter().enumerate() {
        let same = (0..k).find(|&j| Arc::ptr_eq(objects[j].0, object));
        places[k] = match same {
            Some(j) => places[j],
            None => {
                guards.push(object.read(name)?);
                guards.len() - 1
            }
        };
    }
    run(ThreeQuarks {
        quarks: places.map(|k| &*guards[k]),
        origin: place(origin, momenta)?,
        phases,
    })
}

#[allow(clippy::too_many_arguments)]
fn quarks_of(
    first: &Arc<Spinor>,
    second: Option<&Arc<Spinor>>,
    third: Option<&Arc<Spinor>>,
    params: &plaq_contract_params,
    sink: &Array<f64>,
    source: &Array<f64>,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let momenta = triples(momenta, nmomenta)?;
    let ends = [matrix(sink, "sink")?, matrix(source, "source")?];
    let found = together([Some(first), second, third], params, &momenta, |quarks| {
        check_times(quarks.quarks[0], times)?;
        quarks.pairings(ends, &Pairing::ALL, &momenta)
    })?;
    let numbers = found.into_iter().flatten().flatten().flatten();
    correlators.set(pairs(numbers).collect());
    Ok(())
}

/// The time slice of the lattice that is `time` after the source's slice `start`, and whether it lies beyond the end of
/// the lattice, which is periodic. `time` is from 0 to `times` - 1.
fn later(start: usize, time: i32, times: usize) -> Result<(usize, bool)> {
    if !(0..times as i64).contains(&i64::from(time)) {
        refuse!(InvalidArgument, "time", expected("0 to {}", times - 1), found("{time}"));
    }
    let there = start + time as usize;
    Ok((there % times, there >= times))
}

fn triple(momentum: &Array<i32>) -> Result<[i32; 3]> {
    let n = momentum.get(3)?;
    Ok([n[0], n[1], n[2]])
}

#[allow(clippy::too_many_arguments)]
fn operator_source(
    from: &Arc<Spinor>,
    to: &Arc<Spinor>,
    gauge: Option<&Arc<Gauge>>,
    params: &plaq_contract_params,
    gamma: &Array<f64>,
    steps: &Array<i32>,
    nsteps: i64,
    momentum: &Array<i32>,
    time: i32,
) -> Result<()> {
    from.context().check_same(to.context(), "to")?;
    if let Some(gauge) = gauge {
        from.context().check_same(gauge.context(), "gauge")?;
    }
    if !(0..=LONGEST as i64).contains(&nsteps) {
        refuse!(InvalidArgument, "nsteps", expected("0 to {LONGEST}"), found("{nsteps}"));
    }
    let path = steps_of(&steps.get(nsteps as usize)?)?;
    let (origin, _) = lines([(from, "from")], params)?;
    let momentum = triple(momentum)?;
    let boundary = from.origin().phases(phases_of(params)?);
    let links = links(gauge)?;
    if let Some(links) = links.as_ref().filter(|_| !path.is_empty()) {
        from.check_links("from", links, "gauge")?;
    }
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    let times = psi.geometry().global_extents()[3];
    let (origin, time) = match time {
        // Nothing depends on the source's time.
        -1 => (place(origin_with_time(origin), &[momentum])?, None),
        _ => {
            let origin = place(origin, &[momentum])?;
            (origin, Some(later(origin[3], time, times)?.0))
        }
    };
    let wave = SliceWave { time, momentum, origin };
    through_operator(
        &mut out,
        &psi,
        matrix(gamma, "matrix")?,
        wave,
        (links.as_ref(), &path, boundary),
    )?;
    to.set_origin(from.origin());
    Ok(())
}

/// The origin, with time 0 where it is not known.
fn origin_with_time(mut origin: crate::io::Origin) -> crate::io::Origin {
    origin.position[3] = origin.position[3].or(Some(0));
    origin
}

#[allow(clippy::too_many_arguments)]
fn meson_source(
    from: &Arc<Spinor>,
    to: &Arc<Spinor>,
    params: &plaq_contract_params,
    sink: &Array<f64>,
    source: &Array<f64>,
    momentum: &Array<i32>,
    time: i32,
) -> Result<()> {
    from.context().check_same(to.context(), "to")?;
    let (origin, _) = lines([(from, "from")], params)?;
    let momentum = triple(momentum)?;
    let ends = [matrix(sink, "sink")?, matrix(source, "source")?];
    let origin = place(origin, &[momentum])?;
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    let times = psi.geometry().global_extents()[3];
    let wave = SliceWave { time: Some(later(origin[3], time, times)?.0), momentum, origin };
    through_meson(&mut out, &psi, ends, wave)?;
    to.set_origin(from.origin());
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn baryon_source(
    first: &Arc<Spinor>,
    second: Option<&Arc<Spinor>>,
    third: Option<&Arc<Spinor>>,
    to: &Arc<Spinor>,
    params: &plaq_contract_params,
    sink: &Array<f64>,
    source: &Array<f64>,
    projector: &Array<f64>,
    pairings: &Array<i32>,
    slots: &Array<i32>,
    weights: &Array<f64>,
    nterms: i64,
    momentum: &Array<i32>,
    time: i32,
) -> Result<()> {
    first.context().check_same(to.context(), "to")?;
    let n = count(nterms, "terms")?;
    let (pairings, slots, weights) = (pairings.get(n)?, slots.get(n)?, weights.get(n)?);
    let term = |k: usize| {
        let place = |value: i32, count: usize, name: &str| match usize::try_from(value) {
            Ok(value) if value < count => Ok(value),
            _ => {
                refuse!(InvalidArgument, "{name}", expected("0 to {}", count - 1), found("{value}"))
            }
        };
        if !weights[k].is_finite() {
            refuse!(InvalidArgument, "weights", expected("a number"), found("{}", weights[k]));
        }
        Ok(Replaced {
            pairing: Pairing::ALL[place(pairings[k], 6, "pairings")?],
            line: place(slots[k], 3, "slots")?,
            weight: weights[k],
        })
    };
    let terms: Vec<Replaced> = (0..n).map(term).collect::<Result<_>>()?;
    let momentum = triple(momentum)?;
    let spins = [matrix(sink, "sink")?, matrix(source, "source")?, matrix(projector, "projector")?];
    together([Some(first), second, third], params, &[momentum], |quarks| {
        let times = quarks.quarks[0].geometry().global_extents()[3];
        let (at, crossed) = later(quarks.origin[3], time, times)?;
        let wave = SliceWave { time: Some(at), momentum, origin: quarks.origin };
        let mut out = to.write("to")?;
        through_baryon(&mut out, quarks, spins, &terms, (wave, crossed))
    })?;
    to.set_origin(first.origin());
    Ok(())
}
