//! The origin of a field's columns: their source and operator.

use std::sync::Arc;

use super::args::{number_of, Handle, Local, OutArray, Params, Report};
use super::dirac::{plaq_clover_form, plaq_normalisation};
use super::gauge::plaq_boundary_time;
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::compose::Normalisation;
use crate::error::Result;
use crate::fields::{BoundaryKind, CloverForm};
use crate::io::{LinksMark, Origin};
use crate::ops::source::support;
use crate::params::{Choice, InC as _, Number};
use crate::refuse;

crate::params::choices! {
    /// Kind of the columns of a field in contractions.
    pub enum LineKind: plaq_line_kind {
        /// Quark lines from a source, also those that continue through an operator.
        Propagator = 1, PLAQ_LINE_PROPAGATOR, "propagator";
        /// A sequential source: the source of a quark line that continues through the sink of a hadron.
        SequentialSource = 2, PLAQ_LINE_SEQUENTIAL_SOURCE, "sequential_source";
        /// The solution of a sequential source: the quark line from the sink of a hadron to an operator.
        SequentialPropagator = 3, PLAQ_LINE_SEQUENTIAL_PROPAGATOR, "sequential_propagator";
    }
}

crate::params::parameters! {
    /// Source and operator from which the columns of a field were made, for plaq_contract_params and files.
    pub struct OriginParams: plaq_origin_params {
        /// Coordinates x, y, z, t of the source, from which times and phases of momenta are counted; -1: not
        /// known.
        position: [Option<usize>; 4] = [None; 4], within(0, i32::MAX as i64), absent("unknown");
        /// Normalisation of the operator whose inverse a propagator is; -1: not known.
        normalisation: Option<Normalisation> = None, absent("unknown");
        /// Boundaries in time of the operator's links; 0: not known.
        boundary_time: Option<BoundaryKind> = None;
        /// Boundary phase of the fermions in time in units of pi, 1: antiperiodic. NaN: not known.
        boundary: Option<f64> = None, absent("unknown");
        /// Boundary phases in x, y and z in units of pi. NaN: not known.
        boundary_space: [f64; 3] = [f64::NAN; 3];
        /// Bare mass of the operator. NaN: not known.
        mass: Option<f64> = None, absent("unknown");
        /// Twisted mass of the operator. NaN: not known.
        mu: Option<f64> = None, absent("unknown");
        /// Averages that identify the operator's links: their average spatial and temporal plaquettes, and Re tr
        /// U / 3. NaN: not known.
        links: [f64; 3] = [f64::NAN; 3];
        /// Kind of the columns: contractions refuse columns of another kind than they need. 0: not known.
        kind: Option<LineKind> = None;
        /// Form of the operator's clover term; -1: not known.
        clover: Option<CloverForm> = None, absent("unknown");
        /// Clover coefficients csw of the operator, in planes of space and in those with t. NaN: not known.
        csw: [f64; 2] = [f64::NAN; 2];
        /// Boundary phase in time of a meson's antiquark, in units of pi, for a sequential source through a sink beyond
        /// the end of the lattice in time and its solution; contractions take it out together with that of the quark.
        /// NaN: there is none to take out.
        crossed: Option<f64> = None, absent("none");
    }
}

/// The origin of solutions for right-hand sides with the origin `b`, by an operator with the origin `of`.
pub(crate) fn solved(b: Origin, of: Origin) -> Origin {
    let source = LineKind::SequentialSource.word();
    let kind = match b.kind {
        Some(kind) if kind == source => Some(LineKind::SequentialPropagator.word()),
        kind => kind,
    };
    Origin { position: b.position, kind, crossed: b.crossed, ..of }
}

/// The origin of propagators from a source at this position, by an operator with the origin `of`.
pub(crate) fn propagated(position: [Option<usize>; 4], of: Origin) -> Origin {
    Origin { position, kind: Some(LineKind::Propagator.word()), ..of }
}

interface! {
    "Sources of fields"
    choices {
        plaq_line_kind = LineKind;
    }
    tables {
        plaq_origin_params, plaq_origin_params_init;
    }
    reports {
        /// Source and operator from which the columns of a field were made, as far as known; members are as in
        /// plaq_origin_params.
        plaq_origin_report, plaq_origin_report_init {
            /// Coordinates x, y, z, t of the source; -1: not known.
            position: [i32; 4],
            /// Normalisation of the operator whose inverse a propagator is; -1: not known.
            normalisation: plaq_normalisation,
            /// Boundaries in time of the operator's links; 0: not known.
            boundary_time: plaq_boundary_time,
            /// Boundary phase of the fermions in time in units of pi; NaN: not known.
            boundary: f64,
            /// Boundary phases in x, y and z in units of pi; NaN: not known.
            boundary_space: [f64; 3],
            /// Bare mass of the operator; NaN: not known.
            mass: f64,
            /// Twisted mass of the operator; NaN: not known.
            mu: f64,
            /// Averages that identify the operator's links; NaN: not known.
            links: [f64; 3],
            /// Kind of the columns; 0: not known.
            kind: plaq_line_kind,
            /// Form of the operator's clover term; -1: not known.
            clover: plaq_clover_form,
            /// Clover coefficients of the operator, in planes of space and in those with t; NaN: not known.
            csw: [f64; 2],
            /// Boundary phase in time of the antiquark of a meson whose sink is beyond the end of the lattice, of
            /// sequential sources and their solutions; NaN: none.
            crossed: f64,
        }
    }
    functions {
        /// Gives the source and operator of a field, as far as known. Propagators, solutions and sources have them
        /// from the calls that made them or from their file; copies, smeared, shifted and sequential fields from the
        /// field of which they were made. After plaq_spinor_load nothing is known.
        plaq_spinor_origin(spinor: Local<plaq_spinor>, origin: Report<plaq_origin_report>) = origin_of;
        /// Sets the source and operator of a field that comes from another code. Errors: BAD_PARAMETER, INVALID_ARGUMENT.
        plaq_spinor_set_origin(spinor: Handle<plaq_spinor>, origin: Params<plaq_origin_params>) = set_origin;
        /// Finds the coordinates x, y, z, t of the whole lattice at which columns of spinors on both parities are not
        /// zero: the site of a point source, the time of a wall; -1 for a direction with several coordinates, or if
        /// all columns are zero. The search runs on the host.
        plaq_spinor_support(spinor: Handle<plaq_spinor>, position: OutArray<i32>[4]) = support_of;
    }
}

/// Coordinates x, y, z, t for C, with -1 for unknown ones.
fn to_c_position(position: [Option<usize>; 4]) -> [i32; 4] {
    position.map(|x| x.map_or(-1, |x| x as i32))
}

fn origin_of(spinor: &Arc<Spinor>, report: &mut Report<plaq_origin_report>) -> Result<()> {
    let origin = spinor.origin();
    fn number<T: Choice + PartialEq>(word: Option<&str>, unknown: i32) -> Number<T> {
        let found = T::named().find(|(name, _)| Some(name.word) == word);
        found.map_or(Number::new(unknown), |(_, value)| number_of(value))
    }
    report.set(plaq_origin_report {
        position: to_c_position(origin.position),
        boundary: origin.boundary.unwrap_or(f64::NAN),
        boundary_space: origin.boundary_space.unwrap_or([f64::NAN; 3]),
        mass: origin.mass.unwrap_or(f64::NAN),
        mu: origin.mu.unwrap_or(f64::NAN),
        links: origin.links.map_or([f64::NAN; 3], |mark| mark.numbers),
        normalisation: number::<Normalisation>(origin.normalisation, -1),
        boundary_time: number::<BoundaryKind>(origin.boundary_time, 0),
        kind: number::<LineKind>(origin.kind, 0),
        clover: number::<CloverForm>(origin.clover, -1),
        csw: origin.csw.unwrap_or([f64::NAN; 2]),
        crossed: origin.crossed.unwrap_or(f64::NAN),
        ..Default::default()
    });
    Ok(())
}

fn set_origin(spinor: &Arc<Spinor>, params: &plaq_origin_params) -> Result<()> {
    let p = OriginParams::from_c(params, "params")?;
    let extents = spinor.read_any("spinor")?.geometry().global_extents();
    if p.position.iter().zip(extents).any(|(x, l)| x.is_some_and(|x| x >= l)) {
        let found = params.position;
        refuse!(
            InvalidArgument,
            "params.position",
            expected("a site of the lattice {extents:?}"),
            found("{found:?}")
        );
    }
    let angles = p.boundary.into_iter().chain(p.boundary_space).chain(p.crossed);
    if let Some(angle) = angles.into_iter().find(|angle| angle.is_infinite()) {
        refuse!(InvalidArgument, "params.boundary", expected("an angle"), found("{angle}"));
    }
    for (name, value) in [("mass", p.mass), ("mu", p.mu)] {
        if let Some(value) = value.filter(|value| value.is_infinite()) {
            refuse!(InvalidArgument, "params.{name}", expected("a number"), found("{value}"));
        }
    }
    fn known<const N: usize>(numbers: [f64; N]) -> Option<[f64; N]> {
        Some(numbers).filter(|numbers| numbers.iter().all(|x| x.is_finite()))
    }
    // Links whose numbers the host passes unchanged belong to the same configuration as before.
    let before = spinor.origin().links;
    let links = known(p.links).map(|numbers| match before {
        Some(mark) if mark.numbers == numbers => mark,
        _ => LinksMark { numbers, projection: None, coarse: false, configuration: None },
    });
    spinor.set_origin(Origin {
        position: p.position,
        boundary: p.boundary,
        boundary_space: known(p.boundary_space),
        normalisation: p.normalisation.map(|normalisation| normalisation.word()),
        boundary_time: p.boundary_time.map(|kind| kind.word()),
        mass: p.mass,
        mu: p.mu,
        links,
        kind: p.kind.map(|kind| kind.word()),
        crossed: p.crossed,
        csw: known(p.csw),
        clover: p.clover.map(|form| form.word()),
    });
    Ok(())
}

fn support_of(spinor: &Arc<Spinor>, position: &mut OutArray<i32>) -> Result<()> {
    position.set(to_c_position(support(&*spinor.read("spinor")?)?).to_vec());
    Ok(())
}
