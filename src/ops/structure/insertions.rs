//! Operators between two quark propagators, with any lines, all Gammas and any momenta.

use std::sync::Arc;

use num_complex::Complex64;

use super::lines::{check_lengths, conserved, displacement, terms, Factor, Term, Tree};
use super::spin::Spin;
use super::waves::{from_source, inside, SamePrecision, Slices, Wave, Waves};
use crate::backend::args::SpinPairArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::{BoundaryTime, GaugeField, Group, Recon, SpinorField};
use crate::linop::LinOp;
use crate::operators::{Boundary, CovariantShift};
use crate::ops::gamma::{Gamma, SpinMatrix};
use crate::ops::source::{check_momentum, check_spinors};

/// Two quark propagators that meet at an operator: `forward` is S(z, x0), and `back` is the solution X = M^-1 b whose
/// source b is at the sink. The propagator from z to the sink is X^dagger gamma5, for gamma5-hermitian M.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    pub back: &'a SpinorField,
    pub forward: &'a SpinorField,
    /// Links that transport quarks from site to site; None: unit matrices, which is meaningful in a fixed gauge only.
    pub links: Option<&'a Arc<GaugeField>>,
    /// Boundaries of the quark in `forward`, whose phases belong to the links, and of the quark in `back`. Where these
    /// differ in space the momenta are shifted, q_i = (2 pi n_i - pi s_i) / L_i with s the
    /// [`Boundary::momentum_shift`] of the product of the first and of the conjugate of the second.
    pub boundary: [Boundary; 2],
    /// Origin of the results: times count from its t, and phases of momenta from its x, y, z.
    pub origin: [usize; 4],
}

/// Computes sums over space of exp(i q (z - origin)) sum_columns X(z)^dagger gamma5 Gamma [line] S(z), for times from
/// the origin's t: [line][Gamma][momentum][t], with all sixteen Gammas and q_i = 2 pi n_i / L_i.
///
/// # Errors
/// `FieldMismatch`: fields of other lattices or numbers of columns; `InvalidArgument`: an origin outside of the
/// lattice, or lines that are too long.
pub fn insertions(
    lines: Lines,
    operators: &[Vec<Factor>],
    momenta: &[[i32; 3]],
) -> Result<Vec<Complex64>> {
    let all: Vec<Vec<Term>> = operators.iter().map(|f| terms(f)).collect::<Result<_>>()?;
    check_lengths(operators, lines.forward.geometry().global_extents())?;
    let found = PathContractions::new(lines, all.iter().flatten(), momenta)?;
    let mut out = vec![];
    for of_line in &all {
        for gamma in Gamma::all() {
            let gamma = Spin::from(gamma.matrix());
            for p in 0..momenta.len() {
                out.extend(found.sum(of_line, |spin| gamma.times(spin), p));
            }
        }
    }
    Ok(out)
}

/// Computes the sums of [`insertions`] for the conserved vector current of Wilson's operator: [mu][momentum][t]. For
/// anisotropic operators the weights of their hops are not included.
///
/// # Errors
/// Errors of [`insertions`].
pub fn conserved_current(lines: Lines, momenta: &[[i32; 3]]) -> Result<Vec<Complex64>> {
    let all = [0, 1, 2, 3].map(conserved);
    let found = PathContractions::new(lines, all.iter().flatten(), momenta)?;
    let mut out = vec![];
    for terms in &all {
        for p in 0..momenta.len() {
            out.extend(found.sum(terms, |spin| spin, p));
        }
    }
    Ok(out)
}

/// Contractions for all paths: spin matrices summed over space.
struct PathContractions {
    paths: Vec<Vec<u8>>,
    /// Sums for each path, by momentum and by time of the lattice.
    slices: Vec<Slices>,
    momenta: Vec<[i32; 3]>,
    /// Shift of the momenta by boundary phases in space, in units of pi / L_mu.
    shift: [f64; 4],
    extents: [usize; 4],
    boundary: BoundaryTime,
    start: usize,
}

impl PathContractions {
    fn new<'t>(
        lines: Lines,
        terms: impl Iterator<Item = &'t Term>,
        momenta: &[[i32; 3]],
    ) -> Result<PathContractions> {
        let Lines { back, forward, origin, .. } = lines;
        check_spinors(forward, "forward")?;
        check_spinors(back, "back")?;
        forward.check_like(back, "back")?;
        momenta.iter().try_for_each(|&[x, y, z]| check_momentum([x, y, z, 0]))?;
        if !inside(forward.geometry(), origin) {
            let extents = forward.geometry().global_extents();
            bail!(InvalidArgument, "position: {origin:?} is outside of the lattice {extents:?}");
        }
        let mut paths: Vec<Vec<u8>> = vec![];
        for path in terms.map(Term::path) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let fields = [forward, back];
        let same = SamePrecision::new(&fields)?;
        let (forward, back) = (same.of(&fields, 0), same.of(&fields, 1));
        let [quark, other] = lines.boundary;
        let shift = Boundary::of_hadron(&[quark], &[other]).momentum_shift().map(|angle| -angle);
        let mut traversal = Traversal {
            back,
            waves: Waves::new(forward, momenta)?,
            shifts: vec![],
            links: links_for(lines.links, forward)?,
            wave: Wave { boundary: quark.0, shift, ..Wave::from(origin) },
            slices: vec![Slices::new(); paths.len()],
        };
        traversal.visit(&Tree::new(&paths), &mut TransportedField::Given(forward), &mut vec![])?;
        let extents = forward.geometry().global_extents();
        let boundary = traversal.links.geometry().boundary();
        let slices = traversal.slices;
        Ok(PathContractions {
            paths,
            slices,
            momenta: momenta.to_vec(),
            shift,
            extents,
            boundary,
            start: origin[3],
        })
    }

    /// The sum over the terms of an operator, for momentum number `p` and each time from the origin. `of` maps the spin
    /// matrix of a term to the one that is contracted. With boundaries in time terms count only where their paths stay
    /// between these.
    fn sum(&self, terms: &[Term], of: impl Fn(Spin) -> Spin, p: usize) -> Vec<Complex64> {
        let five = Spin::from(SpinMatrix::gamma5());
        let times = self.extents[3];
        let mut by_time = vec![Complex64::ZERO; times];
        for term in terms {
            let path = term.path();
            let number = self.paths.iter().position(|known| *known == path);
            let slices = &self.slices[number.expect("the path of a term")][p];
            // Sums are over the place y of qbar; the operator is at z = y - end.
            let end = displacement(&term.left);
            let turns: f64 = (0..3)
                .map(|i| {
                    let steps = i64::from(self.momenta[p][i]) * i64::from(end[i]);
                    let whole = steps.rem_euclid(self.extents[i] as i64) as f64;
                    (whole + 0.5 * self.shift[i] * f64::from(end[i])) / self.extents[i] as f64
                })
                .sum();
            let phase = Complex64::from_polar(1.0, -std::f64::consts::TAU * turns);
            let [first, last] = term.slices().map(i64::from);
            // Entry [alpha][gamma] of a slice has spin alpha of `forward` and spin gamma of `back`.
            let spin = five.times(of(term.spin)).transposed().scaled(phase);
            for (y, m) in slices.iter().enumerate() {
                let z = y as i64 - i64::from(end[3]);
                let inside = (0..times as i64).contains(&z)
                    && z + first >= 0
                    && z + last <= self.boundary.extent(times) as i64;
                if inside || self.boundary.is_periodic() {
                    by_time[z.rem_euclid(times as i64) as usize] += spin.contracted(m);
                }
            }
        }
        from_source(&by_time, self.start, |z| *z)
    }
}

/// Links with which the field is shifted, in a storage and precision that shifts take; None: unit links.
pub(super) fn links_for(
    links: Option<&Arc<GaugeField>>,
    field: &SpinorField,
) -> Result<Arc<GaugeField>> {
    let Some(links) = links else {
        let (device, geometry) = (field.device(), field.geometry());
        let mut unit = GaugeField::new(device, geometry, field.precision(), Recon::R12)?;
        unit.set_unit()?;
        return Ok(Arc::new(unit));
    };
    // Links of SU(2) are refused when they are used.
    if links.group() != Group::Su3 {
        return Ok(links.clone());
    }
    let recon = if links.recon() == Recon::R18 { Recon::R18 } else { Recon::R12 };
    match (links.precision(), links.recon()) == (field.precision(), recon) {
        true => Ok(links.clone()),
        false => links.shared_copy(field.precision(), recon),
    }
}

/// A field that was transported along a path: the caller's field, or one with memory of its own.
enum TransportedField<'a> {
    Given(&'a SpinorField),
    Own(SpinorField),
    /// The field is no longer available: its memory holds the field of a longer path.
    Gone,
}

impl TransportedField<'_> {
    fn field(&self) -> &SpinorField {
        match self {
            TransportedField::Given(field) => field,
            TransportedField::Own(field) => field,
            TransportedField::Gone => unreachable!("the last child takes the memory"),
        }
    }
}

struct Traversal<'a> {
    back: &'a SpinorField,
    waves: Waves,
    /// Shifts by one step, by the number of the step, made when they are first needed.
    shifts: Vec<(u8, CovariantShift)>,
    links: Arc<GaugeField>,
    wave: Wave,
    slices: Vec<Slices>,
}

impl Traversal<'_> {
    /// Contracts the paths that end at a node, and continues with its children, which are one step longer.
    fn visit(
        &mut self,
        node: &Tree,
        place: &mut TransportedField,
        path: &mut Vec<u8>,
    ) -> Result<()> {
        if let [first, rest @ ..] = node.wanted.as_slice() {
            let back: Vec<u8> = path.iter().rev().copied().collect();
            let wave = Wave { displacement: displacement(&back), ..self.wave };
            let forward = place.field();
            let args = SpinPairArgs {
                geom: forward.geometry().args(),
                forward: forward.view(),
                back: self.back.view(),
                columns: forward.nrhs() as i32,
                ..Default::default()
            };
            let kernel = kernels::SpinPairs::of(forward.precision())?;
            let found = self.waves.sum(forward, wave, |matrices, slice, work| {
                let args = SpinPairArgs { matrices, slice, ..args };
                forward.device().launch(kernel, &args, work)
            })?;
            rest.iter().for_each(|&number| self.slices[number] = found.clone());
            self.slices[*first] = found;
        }
        let mut spare = None;
        for (k, (step, child)) in node.children.iter().enumerate() {
            let from = place.field();
            let mut next = match spare.take() {
                Some(field) => field,
                None => from.like(from.precision())?,
            };
            self.shift(*step)?.apply(&mut next, from)?;
            if k + 1 == node.children.len() {
                *place = TransportedField::Gone;
            }
            path.push(*step);
            let mut next = TransportedField::Own(next);
            self.visit(child, &mut next, path)?;
            path.pop();
            if let TransportedField::Own(field) = next {
                spare = Some(field);
            }
        }
        Ok(())
    }

    fn shift(&mut self, step: u8) -> Result<&CovariantShift> {
        let place = match self.shifts.iter().position(|(s, _)| *s == step) {
            Some(place) => place,
            None => {
                let components = self.back.components();
                let new = CovariantShift::new(self.links.clone(), components, vec![step])?;
                self.shifts.push((step, new));
                self.shifts.len() - 1
            }
        };
        Ok(&self.shifts[place].1)
    }
}
