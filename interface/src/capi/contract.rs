//! Contractions of propagators into hadron correlators.

use std::sync::Arc;

use num_complex::Complex64;

use super::args::{choose, Array, Handle, One, OptionalHandle, OutArray, Params};
use super::origin::LineKind;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::error::Result;
use crate::fields::{BoundaryKind, Geometry, SpinorField};
use crate::io::Origin;
use crate::operators::Boundary;
use crate::ops::contract::{self, mesons, Baryon, Closing, Projection, Sink};
use crate::ops::gamma::Gamma;
use crate::ops::links_mark::check_same_links;
use crate::ops::source::slice_after;
use crate::ops::structure::spin::{Diquark, Projector};
use crate::params::{Choice as _, InC as _, Number};
use crate::refuse;

crate::params::parameters! {
    /// Parameters for contractions of propagators.
    pub struct ContractParams: plaq_contract_params {
        /// Position x, y, z, t of the source: times are counted from its t, and phases of momenta are 1 at its x,
        /// y, z. -1: the position that the propagators record (plaq_spinor_origin); if they do not, contractions
        /// that need it are refused.
        position: [Option<usize>; 4] = [None; 4], within(0, i32::MAX as i64), absent("unknown");
        /// Boundary phase in time, in units of pi (1: antiperiodic), for propagators that do not record theirs.
        /// At times before the source's every quark propagator has this phase, which is divided out.
        boundary: f64 = 1.0;
        /// Parity of baryons that propagate forward in time, 1 or -1.
        parity: i32 = 1;
        /// Projection of the spins of baryons.
        projection: Projection = Projection::Trace;
        /// Boundary phases in x, y, z, in units of pi, for propagators that do not record theirs; used by
        /// operators that shift quarks across the lattice's end. Where the phases of a hadron's quarks, those of
        /// antiquarks with the opposite sign, have a sum s in x, y or z other than a multiple of 2, the hadron has
        /// the momenta p_i = (2 pi n_i + pi s_i) / L_i, s_i above -1 and at most 1 by adding a multiple of 2, and
        /// sums over the sites x of the lattice are taken with these.
        boundary_space: [f64; 3] = [0.0; 3];
        /// Projector of the spins of baryons, with `parity`.
        projector: Projector = Projector::Unpolarised;
        /// True: the operator between two quarks may change the flavour, so that their masses and twisted masses may
        /// differ.
        flavour_changing: bool = false;
        /// Boundary phases in x, y, z, in units of pi, of the quark that continues from a sequential source through
        /// the sink of a meson or through an operator; NaN: those of the propagator. Where they differ the momentum
        /// is shifted as that of a hadron.
        next_boundary_space: [f64; 3] = [f64::NAN; 3];
    }
}

interface! {
    "Contractions"
    choices {
        plaq_projection = Projection;
        plaq_baryon = Baryon;
        plaq_diquark = Diquark;
        plaq_projector = Projector;
    }
    tables {
        plaq_contract_params, plaq_contract_params_init;
    }
    functions {
        /// Contracts connected correlators of mesons: the sum over x of exp(-i p (x - x0)) times the correlator of
        /// qbar' Gamma_A q at (x, t0 + t) with the adjoint of qbar' Gamma_B q at the source, with signs such that for
        /// A = B, with antiperiodic fermions, it is positive on average. `quark` and `antiquark` (zero handle: the
        /// same) are propagators, each with its mass: twelve columns 3 spin + colour, or four of noise diluted in
        /// spin. `gammas`: `pairs` pairs (A at the sink, B at the source) of plaq_gamma. `momenta`: three integers
        /// n_i for each, p_i = 2 pi n_i / L_i. `correlators`: complex numbers [momentum][pair][t]; `times` must be
        /// the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_contract_mesons(quark: Handle<plaq_spinor>, antiquark: OptionalHandle<plaq_spinor>, params: Params<plaq_contract_params>, gammas: Array<i32>[2 pairs], pairs: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[2 times pairs nmomenta]) = mesons_of;
        /// Contracts correlators of `count` baryons of plaq_baryon. `strange` may be the zero handle for those without
        /// strange quarks. Both have twelve columns. `momenta` and `correlators` are those of mesons. Errors:
        /// INVALID_ARGUMENT, FIELD_MISMATCH.
        plaq_spinor_contract_baryons(light: Handle<plaq_spinor>, strange: OptionalHandle<plaq_spinor>, params: Params<plaq_contract_params>, baryons: Array<i32>[count], count: i64, momenta: Array<i32>[3 nmomenta], nmomenta: i64, times: i64, correlators: OutArray<f64>[2 times count nmomenta]) = baryons_of;
        /// Gives the matrix of two quarks in an interpolator, 16 (re, im) row by row.
        plaq_diquark_matrix(diquark: One<Diquark>, matrix: OutArray<f64>[32]) = diquark_matrix;
        /// Gives the matrix of a spin projector for states of parity 1 or -1 forward in time, 16 (re, im) row by row.
        /// Errors: INVALID_ARGUMENT.
        plaq_projector_matrix(projector: One<Projector>, parity: i32, matrix: OutArray<f64>[32]) = projector_matrix;
    }
}

fn diquark_matrix(diquark: Diquark, matrix: &mut OutArray<f64>) -> Result<()> {
    matrix.set(diquark.matrix().to_kernel().to_vec());
    Ok(())
}

fn projector_matrix(projector: Projector, parity: i32, matrix: &mut OutArray<f64>) -> Result<()> {
    if !matches!(parity, 1 | -1) {
        refuse!(InvalidArgument, "parity", expected("1 or -1"), found("{parity}"));
    }
    matrix.set(projector.matrix(parity).to_kernel().to_vec());
    Ok(())
}

/// Boundary phases in x, y, z and t, in units of pi, from the parameters, for propagators that do not record theirs.
pub(super) fn phases_of(params: &plaq_contract_params) -> Result<[f64; 4]> {
    let params = ContractParams::from_c(params, "params")?;
    let [x, y, z] = params.boundary_space;
    for (name, angle) in [
        ("boundary", params.boundary),
        ("boundary_space", x),
        ("boundary_space", y),
        ("boundary_space", z),
    ] {
        if !angle.is_finite() {
            refuse!(InvalidArgument, "params.{name}", expected("an angle"), found("{angle}"));
        }
    }
    Ok([x, y, z, params.boundary])
}

/// Refuses to contract two propagators that differ in normalisation or links.
fn check_pair((a, first): (Origin, &str), (b, second): (Origin, &str)) -> Result<()> {
    if let (Some(one), Some(other)) = (a.normalisation, b.normalisation) {
        if one != other {
            refuse!(
                InvalidArgument,
                second,
                expected("a propagator in the normalisation of {first}, {one}"),
                found("{other}")
            );
        }
    }
    match (a.links, b.links) {
        (Some(one), Some(other)) => check_same_links((&one, first), (&other, second)),
        _ => Ok(()),
    }
}

/// Refuses fields that are known to be of another kind than a contraction takes.
pub(super) fn check_kind((object, name): (&Spinor, &str), allowed: &[LineKind]) -> Result<()> {
    let words = allowed.iter().map(|kind| kind.word());
    match object.origin().kind {
        Some(kind) if !words.clone().any(|word| word == kind) => refuse!(
            InvalidArgument,
            "{name}",
            expected("a {}", words.collect::<Vec<_>>().join(" or ").replace('_', " ")),
            found("a {}", kind.replace('_', " "))
        ),
        _ => Ok(()),
    }
}

/// Refuses fields that are known to be no propagators.
pub(super) fn check_propagators(objects: &[(&Arc<Spinor>, &str)]) -> Result<()> {
    objects
        .iter()
        .try_for_each(|(object, name)| check_kind((object, name), &[LineKind::Propagator]))
}

/// The common source position and other properties of the propagators of a contraction, and the boundary of each.
/// Propagators from different positions are refused, unless the parameters give a position.
pub(super) fn lines<const N: usize>(
    objects: [(&Arc<Spinor>, &str); N],
    params: &plaq_contract_params,
) -> Result<(Origin, [Boundary; N])> {
    let phases = phases_of(params)?;
    let all = objects.map(|(object, name)| (object.origin(), name));
    let given = ContractParams::from_c(params, "params")?.position;
    for (k, &(b, second)) in all.iter().enumerate() {
        for &(a, first) in &all[..k] {
            let apart = |mu: usize| a.position[mu].zip(b.position[mu]).is_some_and(|(a, b)| a != b);
            if let Some(mu) = (0..4).find(|&mu| given[mu].is_none() && apart(mu)) {
                let say = |o: Origin| o.position[mu].unwrap_or_default();
                refuse!(
                    InvalidArgument,
                    "{second}",
                    expected("the source of {first}, {} = {}", ["x", "y", "z", "t"][mu], say(a)),
                    found("{}", say(b))
                );
            }
            check_pair((a, first), (b, second))?;
        }
    }
    let known = Origin { position: given, ..Default::default() };
    let together = all.iter().fold(known, |known, (origin, _)| known.or(*origin));
    Ok((together, all.map(|(origin, _)| Boundary(origin.phases(phases)))))
}

/// Refuses a number of times other than the extent of the field's lattice in time.
pub(super) fn check_times(field: &SpinorField, times: i64) -> Result<()> {
    check_extent(field.geometry(), times)
}

/// Refuses a number of times other than the extent of this lattice in time.
pub(super) fn check_extent(geometry: &Geometry, times: i64) -> Result<()> {
    let extent = geometry.global_extents()[3];
    if times != extent as i64 {
        refuse!(InvalidArgument, "times", expected("the extent {extent}"), found("{times}"));
    }
    Ok(())
}

/// Reads `nmomenta` momenta from C, three integers for each.
pub(super) fn triples(momenta: &Array<i32>, nmomenta: i64) -> Result<Vec<[i32; 3]>> {
    let n = count(nmomenta, "nmomenta")?;
    Ok(momenta.get(3 * n)?.chunks_exact(3).map(|n| [n[0], n[1], n[2]]).collect())
}

/// Position of the source. Its time must be known; a spatial coordinate may be unknown if all momenta have component
/// 0 in its direction, where a phase of the hadron's boundary does not shift them.
pub(super) fn place(
    origin: Origin,
    momenta: &[[i32; 3]],
    boundary: Boundary,
) -> Result<[usize; 4]> {
    let shift = boundary.momentum_shift();
    let moves = |mu: usize| momenta.iter().any(|n| n[mu] != 0) || shift[mu] != 0.0;
    let needed = |mu: usize| mu == 3 || moves(mu);
    if let Some(mu) = (0..4).find(|&mu| origin.position[mu].is_none() && needed(mu)) {
        refuse!(
            InvalidArgument,
            "params.position",
            expected(
                "the {} of the source, which the propagator does not know",
                ["x", "y", "z", "t"][mu]
            )
        );
    }
    Ok(origin.position.map(Option::unwrap_or_default))
}

/// The slice of the lattice with a sink, and whether it lies beyond the lattice's end; None: all slices.
type SinkSlice = Option<(usize, bool)>;

/// Position of the source, and the slice of the lattice at `time` after it, with whether that lies beyond the lattice's
/// end. None: all slices, for which the source's time need not be known. `field`: a propagator on the lattice.
pub(super) fn place_of_sink(
    origin: Origin,
    (momentum, boundary): ([i32; 3], Boundary),
    time: Option<i64>,
    field: &SpinorField,
) -> Result<([usize; 4], SinkSlice)> {
    let Some(time) = time else {
        let time = Origin { position: [None, None, None, Some(0)], ..Default::default() };
        return Ok((place(origin.or(time), &[momentum], boundary)?, None));
    };
    let position = place(origin, &[momentum], boundary)?;
    let known = BoundaryKind::named().find(|(name, _)| Some(name.word) == origin.boundary_time);
    let boundary = known.map_or(BoundaryKind::Periodic, |(_, kind)| kind);
    let times = field.geometry().global_extents()[3];
    Ok((position, Some(slice_after(boundary, position[3], time, times)?)))
}

pub(super) fn count(n: i64, argument: &str) -> Result<usize> {
    if !(1..=100_000).contains(&n) {
        refuse!(InvalidArgument, "{argument}", expected("1 to 100000"), found("{n}"));
    }
    Ok(n as usize)
}

pub(super) fn pairs(values: impl IntoIterator<Item = Complex64>) -> impl Iterator<Item = f64> {
    values.into_iter().flat_map(|z| [z.re, z.im])
}

/// Reads pairs of Gammas from C: at the sink, and at the source.
pub(super) fn gammas_of(gammas: &Array<i32>, npairs: i64) -> Result<Vec<(Gamma, Gamma)>> {
    let numbers = gammas.get(2 * count(npairs, "pairs")?)?;
    let pair = |pair: &[i32]| Ok((Gamma::new(pair[0])?, Gamma::new(pair[1])?));
    numbers.chunks_exact(2).map(pair).collect()
}

#[allow(clippy::too_many_arguments)]
fn mesons_of(
    quark: &Arc<Spinor>,
    antiquark: Option<&Arc<Spinor>>,
    params: &plaq_contract_params,
    gammas: &Array<i32>,
    npairs: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    let antiquark = antiquark.unwrap_or(quark);
    quark.context().check_same(antiquark.context(), "antiquark")?;
    let objects = [(quark, "quark"), (antiquark, "antiquark")];
    check_propagators(&objects)?;
    let (origin, [of_quark, of_antiquark]) = lines(objects, params)?;
    let boundary = Boundary::of_hadron(&[of_quark], &[of_antiquark]);
    let (s, other) = (quark.read("quark")?, antiquark.read("antiquark")?);
    let (gammas, mut all) = (gammas_of(gammas, npairs)?, Vec::new());
    check_times(&s, times)?;
    for momentum in triples(momenta, nmomenta)? {
        let origin = place(origin, &[momentum], boundary)?;
        let lines = mesons(&s, &other, Sink { origin, momentum, boundary })?;
        for (sink, source) in &gammas {
            all.extend(pairs(lines.correlator(*sink, *source)));
        }
    }
    correlators.set(all);
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn baryons_of(
    light: &Arc<Spinor>,
    strange: Option<&Arc<Spinor>>,
    params: &plaq_contract_params,
    baryons: &Array<i32>,
    nbaryons: i64,
    momenta: &Array<i32>,
    nmomenta: i64,
    times: i64,
    correlators: &mut OutArray<f64>,
) -> Result<()> {
    if let Some(strange) = strange {
        light.context().check_same(strange.context(), "strange")?;
    }
    let objects = [(light, "light"), (strange.unwrap_or(light), "strange")];
    check_propagators(&objects)?;
    let (origin, boundary) = lines(objects, params)?;
    let l = light.read("light")?;
    let s = strange.map(|s| s.read("strange")).transpose()?;
    let names = baryons.get(count(nbaryons, "count")?)?;
    let names: Result<Vec<Baryon>> =
        names.into_iter().map(|n| choose(Number::new(n), "baryons")).collect();
    let ContractParams { parity, projection, projector, .. } =
        ContractParams::from_c(params, "params")?;
    let closed = Closing { parity, projector, projection, boundary };
    check_times(&l, times)?;
    let momenta = triples(momenta, nmomenta)?;
    let names = names?;
    let mut position = [0; 4];
    for name in &names {
        position = place(origin, &momenta, name.boundary(boundary))?;
    }
    // Correlators [baryon][momentum][t].
    let found: Vec<Vec<Vec<Complex64>>> = names
        .into_iter()
        .map(|name| contract::baryons(name, &l, s.as_deref(), (position, &momenta), closed))
        .collect::<Result<_>>()?;
    let of = |p: usize| found.iter().flat_map(move |name| pairs(name[p].iter().copied()));
    correlators.set((0..momenta.len()).flat_map(of).collect());
    Ok(())
}
