//! Hadron structure: operators between two propagators, baryons of any three quarks, sequential sources, gluon
//! operators.

use std::sync::Arc;

use num_complex::Complex64;

use super::args::{Array, Handle, OptionalHandle, OutArray, Params};
use super::contract::{
    check_extent, check_kind, check_propagators, check_times, count, lines, pairs, phases_of,
    place, place_of_sink, plaq_contract_params, triples, ContractParams,
};
use super::gauge::{plaq_gauge, Gauge};
use super::origin::LineKind;
use super::path::{lists_of, steps_of};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::fields::GaugeField;
use crate::io::Origin;
use crate::operators::{phase, Boundary};
use crate::ops::gamma::Gamma;
use crate::ops::paths::LONGEST as LONGEST_PATH;
use crate::ops::structure::gluons::gluon_pairs;
use crate::ops::structure::insertions::{conserved_current, insertions, Lines};
use crate::ops::structure::lines::{Factor, LONGEST};
use crate::ops::structure::sequential::{
    conserved_mesons, through_baryon, through_meson, through_operator, Replaced, SliceWave,
};
use crate::ops::structure::spin::Spin;
use crate::ops::structure::three_quarks::{Pairing, ThreeQuarks};
use crate::params::{Choice as _, InC as _};
use crate::refuse;

interface! {
    "Hadron structure"
    functions {
        /// Contracts operators between two quark propagators: the sum over z of exp(i q (z - x0)) sum over columns of
        /// X(z)^dagger gamma5 Gamma [line] S(z). `forward` is S(z, x0), `back` the solution X of a sequential source
        /// (plaq_spinor_sequential_meson, -_baryon): X^dagger gamma5 is the propagator from z to the sink; M must be
        /// gamma5-hermitian. A line is a product of `lengths[i]` factors, 0 for a local operator; `steps` lists the
        /// factors of all lines one after the other: 0 to 3 shift q along a link forward in x, y, z, t, U_mu(z) q(z +
        /// mu), 7 - mu shifts it back, U_mu(z - mu)^dagger q(z - mu), and 8 + mu is the derivative (D - D')_mu / 2, D
        /// q = [U_mu(z) q(z + mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor
        /// acts first on q, the first on qbar. Steps across the end of the lattice are multiplied by the quark's
        /// boundary phase. With a zero handle for `gauge` all links are 1. Fields that record another kind than these,
        /// plaq_line_kind, are refused. A derivative across an end where the two
        /// quarks have different phases is refused. `momenta`: three integers n_i for each, q_i = 2 pi n_i / L_i.
        /// `correlators`: complex numbers [line][Gamma, all 16][momentum][t], with t the time from the source;
        /// `times` must be the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
        /// OUT_OF_MEMORY.
        plaq_spinor_contract_insertions(back: Handle<plaq_spinor>, forward: Handle<plaq_spinor>, gauge: OptionalHandle<plaq_gauge>, params: Params<plaq_contract_params>, lengths: Array<i32>[lines], lines: i64, steps: Array<i32>[nsteps], nsteps: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[32 lines nmomenta times]) = insertions_of;
        /// Contracts the conserved vector current in the same way, V_mu(z) = [qbar(z + mu) (1 + gamma_mu)
        /// U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu) U_mu(z) q(z + mu)] / 2 of Wilson's operator, with exp(i q
        /// (z - x0)) at z: [mu][momentum][t]. For anisotropic operators the weights of the hops are not included.
        plaq_spinor_contract_current(back: Handle<plaq_spinor>, forward: Handle<plaq_spinor>, gauge: Handle<plaq_gauge>, params: Params<plaq_contract_params>, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[8 nmomenta times]) = current_of;
        /// Contracts correlators of mesons with the conserved vector current at the sink, the sum over x of exp(-i p (x -
        /// x0)) <V_mu(x) (qbar' Gamma q)(x0)^dagger>, in the signs of plaq_spinor_contract_mesons, from propagators of a
        /// quark and an antiquark (zero handle: the same) of one mass on the links of `gauge`. `gammas`: `count` numbers
        /// of Gammas at the source. `correlators`: complex numbers [momentum][Gamma][mu][t]. Errors: INVALID_ARGUMENT,
        /// FIELD_MISMATCH, OUT_OF_MEMORY.
        plaq_spinor_contract_conserved(quark: Handle<plaq_spinor>, antiquark: OptionalHandle<plaq_spinor>, gauge: Handle<plaq_gauge>, params: Params<plaq_contract_params>, gammas: Array<i32>[count], count: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[8 times count nmomenta]) = conserved_of;
        /// Contracts baryons eps_abc (q1_a^T Gamma q2_b) q3_c from three propagators with twelve columns, which may
        /// differ in mass, smearing or displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x
        /// exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>, Obar = O^dagger gamma_t. Gamma is the matrix `sink`
        /// at the sink and `source` at the source, 16 (re, im) row by row. `correlators`: complex numbers
        /// [pairing][momentum][t][s][s']. A pairing gives the positions in the source's operator to which the quarks
        /// at positions 1, 2, 3 of the sink's operator are connected: 123, 213, 132, 321, 231, 312. All count with
        /// sign +, since colours are antisymmetric at both ends; the caller adds those that the flavours allow.
        /// Boundary phases at times beyond the lattice's end are divided out. Errors: INVALID_ARGUMENT,
        /// FIELD_MISMATCH.
        plaq_spinor_contract_quarks(first: Handle<plaq_spinor>, second: OptionalHandle<plaq_spinor>, third: OptionalHandle<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[192 nmomenta times]) = quarks_of;
        /// Computes to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or
        /// with -1 on all: the source of the propagator that continues from an operator. `matrix`: Gamma as 16 (re,
        /// im), row by row; `steps` 0 to 7 as in plaq_spinor_contract_insertions. Any number of columns, in single or
        /// double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_sequential_operator(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, gauge: OptionalHandle<plaq_gauge>, params: Params<plaq_contract_params>, matrix: Array<f64>[32], steps: Array<i32>[nsteps], nsteps: i64, momentum: Array<i32>[3], time: i32) = operator_source;
        /// Computes the sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar'
        /// Gamma_B q at the source. `time` is that of the sink, counted from the source, and p the sink's momentum.
        /// From the propagator S' of the antiquark (given as that of a quark, smeared if the sink is) it makes to =
        /// -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). If the sink is smeared,
        /// the result has to be smeared, too. With its solution X plaq_spinor_contract_insertions gives <O_A(x) J
        /// O_B(x0)^dagger>, where J acts on q, with exp(-i p (x - x0)), in the sign of plaq_contract_mesons. For a
        /// sink beyond the end of the lattice in time, the result records the antiquark's boundary phase, and
        /// contractions of X take this and that of q out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_sequential_meson(from: Handle<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], momentum: Array<i32>[3], time: i32) = meson_source;
        /// Creates the sequential source through the sink of a baryon, for a sum of `terms` contractions of
        /// plaq_spinor_contract_quarks. Each contraction has a number 0 to 5 in `pairings`, in the order given there,
        /// a slot 0, 1 or 2 of the sink in `slots`, on whose quark the operator acts, and a weight. `projector` is
        /// the matrix P in tr[P C]. If the sink is smeared, the result has to be smeared, too. With its solution X
        /// plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For
        /// the nucleon with quarks u d u, an operator on u takes pairings 0 and 3, each with slots 0 and 2; an
        /// operator on d takes the same pairings with slot 1. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_sequential_baryon(first: Handle<plaq_spinor>, second: OptionalHandle<plaq_spinor>, third: OptionalHandle<plaq_spinor>, to: Handle<plaq_spinor>, params: Params<plaq_contract_params>, sink: Array<f64>[32], source: Array<f64>[32], projector: Array<f64>[32], pairings: Array<i32>[terms], slots: Array<i32>[terms], weights: Array<f64>[terms], terms: i64, momentum: Array<i32>[3], time: i32) = baryon_source;
        /// Computes gluon operators, pairs of field strengths connected by adjoint Wilson lines: the sum over x of
        /// exp(-i p x) tr[F_a(x) W F_b(x + d) W^dagger], where W is the product of links along the first n of
        /// `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x to x + d, and F = (Q - Q^dagger) / 8 the
        /// sum of the four clover leaves without its trace. `correlators`: complex numbers [n][plane a][plane
        /// b][momentum][t] for n = 0 to
        /// `nsteps` (`places` = nsteps + 1 values), with planes in the order xy, xz, yz, xt, yt, zt, and t and x of
        /// F_a counted from the lattice's origin. The links of `gauge` may have been flowed. Errors:
        /// INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
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

/// Refuses two quarks with different boundary phases in a direction in which an operator shifts the antiquark, since
/// the product would then not have a single phase.
fn check_phases(
    (back, name): (&Spinor, &str),
    (forward, of): ([f64; 4], &str),
    moves_back: [bool; 4],
) -> Result<()> {
    let other = back.origin().phases(forward);
    let apart = |mu: usize| (phase(other[mu]) - phase(forward[mu])).norm() > 1e-12;
    if let Some(mu) = (0..4).find(|&mu| moves_back[mu] && apart(mu)) {
        refuse!(
            InvalidArgument,
            "{name}",
            expected(
                "the boundary phase of {of} in {}, {}, where an operator moves both quarks",
                ["x", "y", "z", "t"][mu],
                forward[mu]
            ),
            found("{}", other[mu])
        );
    }
    Ok(())
}

/// Calls `run` with the two propagators around an operator, which shifts the antiquark in the directions
/// `moves_back`. Links of another configuration are refused.
fn between<T>(
    [(back, name_of_back), (forward, name)]: [(&Arc<Spinor>, &str); 2],
    gauge: Option<&Arc<Gauge>>,
    params: &plaq_contract_params,
    (momenta, times): (&[[i32; 3]], i64),
    moves_back: [bool; 4],
    run: impl FnOnce(Lines) -> Result<T>,
) -> Result<T> {
    forward.context().check_same(back.context(), name_of_back)?;
    if let Some(gauge) = gauge {
        forward.context().check_same(gauge.context(), "gauge")?;
    }
    let (origin, _) = lines([(forward, name), (back, name_of_back)], params)?;
    let boundary = forward.origin().phases(phases_of(params)?);
    check_phases((back, name_of_back), (boundary, name), moves_back)?;
    let boundary = [boundary, back.origin().phases(boundary)].map(Boundary);
    let links = links(gauge)?;
    if let Some(links) = &links {
        forward.check_links(name, links, "gauge")?;
        back.check_links(name_of_back, links, "gauge")?;
    }
    let s = forward.read(name)?;
    // `back` and `forward` may be the same field, which is locked only once.
    let x = if Arc::ptr_eq(back, forward) { None } else { Some(back.read(name_of_back)?) };
    check_times(&s, times)?;
    run(Lines {
        back: x.as_deref().unwrap_or(&s),
        forward: &s,
        links: links.as_ref(),
        boundary,
        origin: place(origin, momenta, Boundary::of_hadron(&boundary[..1], &boundary[1..]))?,
    })
}

/// Operators as given by a host.
pub(super) struct Operators {
    pub lines: Vec<Vec<Factor>>,
    pub momenta: Vec<[i32; 3]>,
}

impl Operators {
    /// Makes the operators from the host's arrays: `lengths` has the number of factors of each line, `steps` the factors
    /// of all lines one after the other, `momenta` three integers each. An error names the argument that counts them.
    pub fn of(
        lengths: (&Array<i32>, i64),
        steps: (&Array<i32>, i64),
        (momenta, nmomenta): (&Array<i32>, i64),
    ) -> Result<Operators> {
        let lines = factors_of(lengths, steps)?;
        Ok(Operators { lines, momenta: triples(momenta, nmomenta)? })
    }

    /// For each direction whether some line has a derivative in it, which also shifts the antiquark along links.
    fn moves_back(&self) -> [bool; 4] {
        let mut back = [false; 4];
        for factor in self.lines.iter().flatten() {
            if let Factor::Derivative(mu) = factor {
                back[usize::from(*mu)] = true;
            }
        }
        back
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
    check_solved((back, "back"), (forward, "forward"))?;
    if !ContractParams::from_c(params, "params")?.flavour_changing {
        check_one_quark((back, "back"), (forward, "forward"), " (or flavour_changing)")?;
    }
    let at = (&asked.momenta[..], times);
    let found = between(
        [(back, "back"), (forward, "forward")],
        gauge,
        params,
        at,
        asked.moves_back(),
        |lines| insertions(lines, &asked.lines, &asked.momenta),
    )?;
    let across = across_sink(back, forward, params)?;
    correlators.set(pairs(found.into_iter().map(|z| across * z)).collect());
    Ok(())
}

/// Refuses to contract lines that are not those of an operator: `forward` must be a propagator, `back` the solution for
/// a sequential source, or a propagator.
fn check_solved((back, name): (&Spinor, &str), (forward, of): (&Spinor, &str)) -> Result<()> {
    check_kind((forward, of), &[LineKind::Propagator])?;
    check_kind((back, name), &[LineKind::SequentialPropagator, LineKind::Propagator])
}

/// The factor that takes the boundary phases of quark and antiquark out of three-point functions of a meson whose sink
/// is beyond the end of the lattice in time; 1 where that is not so.
fn across_sink(
    back: &Spinor,
    forward: &Spinor,
    params: &plaq_contract_params,
) -> Result<Complex64> {
    let Some(antiquark) = back.origin().crossed else { return Ok(Complex64::ONE) };
    let [.., quark] = forward.origin().phases(phases_of(params)?);
    Ok(phase(quark) * phase(antiquark).conj())
}

/// The origin of a sequential source through the sink that was made of a field with the origin `of`.
fn sequential(of: Origin, crossed: Option<f64>) -> Origin {
    Origin { kind: Some(LineKind::SequentialSource.word()), crossed, ..of }
}

/// Refuses propagators of two quarks between which an operator changes the flavour, so that the vector current is not
/// conserved: of different masses or clover terms, or with twisted masses other than mu for S and -mu for X. `or` says
/// what else would do.
fn check_one_quark(
    (back, name): (&Spinor, &str),
    (forward, of): (&Spinor, &str),
    or: &str,
) -> Result<()> {
    let (x, s) = (back.origin(), forward.origin());
    let apart = |one: f64, other: f64| (one - other).abs() > 1e-9 * (1.0 + one.abs());
    if let Some((one, other)) = s.mass.zip(x.mass).filter(|(a, b)| apart(*a, *b)) {
        refuse!(
            InvalidArgument,
            "{name}",
            expected("the mass of {of}, {one}{or}"),
            found("{other}")
        );
    }
    if let Some((one, other)) = s.mu.zip(x.mu).filter(|(a, b)| apart(-*a, *b)) {
        let wanted = -one;
        refuse!(
            InvalidArgument,
            "{name}",
            expected("the opposite twisted mass of {of}, {wanted}{or}"),
            found("{other}")
        );
    }
    let differ = |(a, b): &([f64; 2], [f64; 2])| apart(a[0], b[0]) || apart(a[1], b[1]);
    if let Some((one, other)) = s.csw.zip(x.csw).filter(differ) {
        refuse!(
            InvalidArgument,
            "{name}",
            expected("the clover coefficients of {of}, {} and {}{or}", one[0], one[1]),
            found("{} and {}", other[0], other[1])
        );
    }
    // Without coefficients there is no clover term, whatever its form.
    let there = s.csw.is_none_or(|csw| csw != [0.0; 2]);
    if let Some((one, other)) = s.clover.zip(x.clover).filter(|(a, b)| there && a != b) {
        refuse!(
            InvalidArgument,
            "{name}",
            expected("the form of {of}'s clover term, {one}{or}"),
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
    check_solved((back, "back"), (forward, "forward"))?;
    check_one_quark((back, "back"), (forward, "forward"), "")?;
    {
        let links = gauge.read("gauge")?;
        forward.check_own_links("forward", &links, "gauge")?;
        back.check_own_links("back", &links, "gauge")?;
    }
    let at = (&momenta[..], times);
    let found = between(
        [(back, "back"), (forward, "forward")],
        Some(gauge),
        params,
        at,
        [true; 4],
        |lines| conserved_current(lines, &momenta),
    )?;
    let across = across_sink(back, forward, params)?;
    correlators.set(pairs(found.into_iter().map(|z| across * z)).collect());
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn conserved_of(
    quark: &Arc<Spinor>,
    antiquark: Option<&Arc<Spinor>>,
    gauge: &Arc<Gauge>,
    params: &plaq_contract_params,
    gammas: &Array<i32>,
    ngammas: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let antiquark = antiquark.unwrap_or(quark);
    let numbers = gammas.get(count(ngammas, "count")?)?;
    let gammas: Vec<Gamma> = numbers.into_iter().map(Gamma::new).collect::<Result<_>>()?;
    let against: Vec<[i32; 3]> =
        triples(momenta, nmomenta)?.into_iter().map(|p| p.map(i32::wrapping_neg)).collect();
    check_propagators(&[(quark, "quark"), (antiquark, "antiquark")])?;
    check_one_quark((antiquark, "antiquark"), (quark, "quark"), "")?;
    {
        let links = gauge.read("gauge")?;
        quark.check_own_links("quark", &links, "gauge")?;
        antiquark.check_own_links("antiquark", &links, "gauge")?;
    }
    let objects = [(antiquark, "antiquark"), (quark, "quark")];
    let at = (&against[..], times);
    let found = between(objects, Some(gauge), params, at, [true; 4], |lines| {
        let each = |gamma: &Gamma| conserved_mesons(lines, *gamma, &against);
        gammas.iter().map(each).collect::<Result<Vec<_>>>()
    })?;
    let (momenta, times) = (against.len(), times as usize);
    // Correlators [Gamma][mu][momentum][t].
    let mut all = Vec::with_capacity(4 * found.len() * momenta * times);
    for p in 0..momenta {
        for of_gamma in &found {
            for mu in 0..4 {
                let first = (mu * momenta + p) * times;
                all.extend(pairs(of_gamma[first..first + times].iter().copied()));
            }
        }
    }
    correlators.set(all);
    Ok(())
}

/// Calls `run` with three propagators, of which the second and third may be the first, and what they record together.
fn together<T>(
    [first, second, third]: [Option<&Arc<Spinor>>; 3],
    params: &plaq_contract_params,
    momenta: &[[i32; 3]],
    run: impl FnOnce(ThreeQuarks, Origin) -> Result<T>,
) -> Result<T> {
    let Some(first) = first else {
        refuse!(InvalidArgument, "first", expected("a propagator"), found("none"));
    };
    let objects =
        [(first, "first"), (second.unwrap_or(first), "second"), (third.unwrap_or(first), "third")];
    for (object, name) in &objects[1..] {
        first.context().check_same(object.context(), name)?;
    }
    check_propagators(&objects)?;
    let (origin, boundary) = lines(objects, params)?;
    let mut guards = vec![];
    // A field that is passed for several quarks is locked only once.
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
    let quarks = places.map(|k| &*guards[k]);
    let position = place(origin, momenta, Boundary::of_hadron(&boundary, &[]))?;
    run(ThreeQuarks { quarks, origin: position, boundary }, origin)
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
    let found = together([Some(first), second, third], params, &momenta, |quarks, _| {
        check_times(quarks.quarks[0], times)?;
        quarks.pairings(ends, &Pairing::ALL, &momenta)
    })?;
    let numbers = found.into_iter().flatten().flatten().flatten();
    correlators.set(pairs(numbers).collect());
    Ok(())
}

fn triple(momentum: &Array<i32>) -> Result<[i32; 3]> {
    let n = momentum.get(3)?;
    Ok([n[0], n[1], n[2]])
}

/// The phases in space of the quark that continues from a sequential source, and the boundary
/// of that quark with a conjugate one with the phases `own` before.
fn next_quark(own: [f64; 4], params: &plaq_contract_params) -> Result<([f64; 3], Boundary)> {
    let given = ContractParams::from_c(params, "params")?.next_boundary_space;
    if let Some(angle) = given.into_iter().find(|angle| angle.is_infinite()) {
        refuse!(
            InvalidArgument,
            "params.next_boundary_space",
            expected("angles"),
            found("{angle}")
        );
    }
    let next: [f64; 3] = std::array::from_fn(|i| if given[i].is_nan() { own[i] } else { given[i] });
    let [x, y, z] = next;
    let net = Boundary::of_hadron(&[Boundary([x, y, z, own[3]])], &[Boundary(own)]);
    Ok((next, net))
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
    let (next, net) = next_quark(boundary, params)?;
    let links = links(gauge)?;
    if let Some(links) = &links {
        from.check_links("from", links, "gauge")?;
    }
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    let (origin, slice) = place_of_sink(
        origin,
        (momentum, net),
        Some(i64::from(time)).filter(|time| *time != -1),
        &psi,
    )?;
    let (time, shift) = (slice.map(|(slice, _)| slice), net.momentum_shift());
    let wave = SliceWave { time, momentum, origin, shift };
    through_operator(
        &mut out,
        &psi,
        matrix(gamma, "matrix")?,
        wave,
        (links.as_ref(), &path, boundary),
    )?;
    to.set_origin(Origin { boundary_space: Some(next), ..from.origin() });
    Ok(())
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
    check_propagators(&[(from, "from")])?;
    let (origin, _) = lines([(from, "from")], params)?;
    let momentum = triple(momentum)?;
    let ends = [matrix(sink, "sink")?, matrix(source, "source")?];
    let psi = from.read("from")?;
    let mut out = to.write("to")?;
    let own = from.origin().phases(phases_of(params)?);
    let (next, net) = next_quark(own, params)?;
    let (origin, slice) = place_of_sink(origin, (momentum, net), Some(i64::from(time)), &psi)?;
    let shift = net.momentum_shift();
    let wave = SliceWave { time: slice.map(|(slice, _)| slice), momentum, origin, shift };
    through_meson(&mut out, &psi, ends, wave)?;
    // The quark, whose phase the contraction takes out together with that of the antiquark, is not known yet.
    let crossed = slice.is_some_and(|(_, crossed)| crossed).then_some(own[3]);
    to.set_origin(sequential(Origin { boundary_space: Some(next), ..from.origin() }, crossed));
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
    let next = together([Some(first), second, third], params, &[momentum], |quarks, known| {
        let next = quarks.boundary[terms[0].line];
        if let Some(other) = terms.iter().find(|t| !quarks.boundary[t.line].same_in_space(next)) {
            refuse!(
                InvalidArgument,
                "slots",
                expected("quarks with the same boundary phases in space, {:?}", &next.0[..3]),
                found("{:?}", &quarks.boundary[other.line].0[..3])
            );
        }
        let at = (momentum, Boundary::PERIODIC);
        let (origin, slice) = place_of_sink(known, at, Some(time.into()), quarks.quarks[0])?;
        let wave =
            SliceWave { time: slice.map(|(slice, _)| slice), momentum, origin, shift: [0.0; 4] };
        let crossed = slice.is_some_and(|(_, crossed)| crossed);
        let mut out = to.write("to")?;
        through_baryon(&mut out, quarks, spins, &terms, (wave, crossed))?;
        Ok(next)
    })?;
    let [x, y, z, _] = next.0;
    to.set_origin(sequential(Origin { boundary_space: Some([x, y, z]), ..first.origin() }, None));
    Ok(())
}
