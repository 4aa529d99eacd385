//! Elementals of distillation (Peardon et al., Phys. Rev. D 80, 054506): matrix elements of operators between modes of
//! the same time slice.

use num_complex::Complex64;

use super::modes::Modes;
use super::vectors::{colour_vectors, cross, portions, wave};
use crate::error::{Error, Result};
use crate::fields::time_slices::dots;
use crate::fields::{blas, Components, VectorField};
use crate::linop::LinOp;
use crate::operators::CovariantShift;
use crate::ops::links_mark::check_same_links;
use crate::ops::source::check_momentum;
use crate::params::choices;
use crate::refuse;

choices! {
    /// Operators, made of the Laplacian's links, that act on a mode v.
    pub enum Step: plaq_modes_step {
        /// D_x v(n) = [U_x(n) v(n + x) - U_x(n - x)^dagger v(n - x)] / 2.
        DerivativeX = 0, PLAQ_MODES_DERIVATIVE_X, "dx";
        /// D_y, the covariant derivative [U_y v(n + y) - U_y^dagger v(n - y)] / 2.
        DerivativeY = 1, PLAQ_MODES_DERIVATIVE_Y, "dy";
        /// D_z, the covariant derivative [U_z v(n + z) - U_z^dagger v(n - z)] / 2.
        DerivativeZ = 2, PLAQ_MODES_DERIVATIVE_Z, "dz";
        /// U_x(n) v(n + x).
        ForwardX = 3, PLAQ_MODES_FORWARD_X, "+x";
        /// U_y(n) v(n + y).
        ForwardY = 4, PLAQ_MODES_FORWARD_Y, "+y";
        /// U_z(n) v(n + z).
        ForwardZ = 5, PLAQ_MODES_FORWARD_Z, "+z";
        /// U_x(n - x)^dagger v(n - x).
        BackX = 6, PLAQ_MODES_BACK_X, "-x";
        /// U_y(n - y)^dagger v(n - y).
        BackY = 7, PLAQ_MODES_BACK_Y, "-y";
        /// U_z(n - z)^dagger v(n - z).
        BackZ = 8, PLAQ_MODES_BACK_Z, "-z";
    }
}

/// Largest number of steps in an operator.
pub const LONGEST: usize = 8;

impl Step {
    /// The direction of the step, and its terms: (true for a hop forward, false for back; coefficient).
    fn parts(self) -> (u8, &'static [(bool, f64)]) {
        const BOTH: &[(bool, f64)] = &[(true, 0.5), (false, -0.5)];
        const FORWARD: &[(bool, f64)] = &[(true, 1.0)];
        const BACK: &[(bool, f64)] = &[(false, 1.0)];
        let number = self as u8;
        (number % 3, [BOTH, FORWARD, BACK][usize::from(number / 3)])
    }
}

/// Applies the steps of an operator to vectors; the last step acts first.
fn applied(modes: &Modes, v: &VectorField, steps: &[Step]) -> Result<Option<VectorField>> {
    let mut from: Option<VectorField> = None;
    let shift = |path: u8, out: &mut VectorField, inp: &VectorField| {
        CovariantShift::new(modes.links().clone(), Components::COLOUR, vec![path])?.apply(out, inp)
    };
    for step in steps.iter().rev() {
        let (mu, hops) = step.parts();
        let inp = from.as_ref().unwrap_or(v);
        let mut sum = colour_vectors(inp, inp.nrhs())?;
        let mut moved = colour_vectors(inp, inp.nrhs())?;
        for &(forward, factor) in hops {
            shift(if forward { mu } else { 7 - mu }, &mut moved, inp)?;
            let n = inp.nrhs();
            blas::axpby(&blas::uniform(n, factor), &moved, &blas::uniform(n, 1.0), &mut sum)?;
        }
        from = Some(sum);
    }
    Ok(from)
}

fn check(steps: &[Step]) -> Result<()> {
    match steps.len() <= LONGEST {
        true => Ok(()),
        false => refuse!(
            InvalidArgument,
            "operators",
            expected("at most {LONGEST} steps"),
            found("{}", steps.len())
        ),
    }
}

/// Meson elementals Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x) for every time slice,
/// [momentum][operator][t][a][b]. u are the modes `left`, p_i = 2 pi n_i / L_i, and x counts from the lattice's
/// origin. O is the product of steps, of which the last acts first, with the links of v.
///
/// # Errors
/// `InvalidArgument`: momenta or operators out of range; `FieldMismatch`: modes of other lattices, devices, precisions
/// or links; `OutOfMemory`.
pub fn meson_elementals(
    left: &Modes,
    modes: &Modes,
    operators: &[Vec<Step>],
    momenta: &[[i32; 3]],
) -> Result<Vec<Complex64>> {
    momenta.iter().try_for_each(|&[x, y, z]| check_momentum([x, y, z, 0]))?;
    operators.iter().try_for_each(|steps| check(steps))?;
    let kind = |m: &Modes| {
        let v = m.vectors().first();
        (v.geometry().clone(), v.device().clone(), v.precision())
    };
    if kind(left) != kind(modes) {
        refuse!(
            FieldMismatch,
            "left",
            expected("modes on the lattice and device, and in the precision of the others")
        );
    }
    check_same_links((modes.mark(), "modes"), (left.mark(), "left"))?;
    let (rows, n, times) = (left.count(), modes.count(), modes.times());
    let each = times * rows * n;
    let mut all = vec![Complex64::ZERO; momenta.len() * operators.len() * each];
    for (first, count) in portions(n) {
        let v = modes.some(first, count)?;
        for (o, steps) in operators.iter().enumerate() {
            let moved = applied(modes, &v, steps)?;
            let right = moved.as_ref().unwrap_or(&v);
            for (p, momentum) in momenta.iter().enumerate() {
                let found = match momentum {
                    [0, 0, 0] => left.products(right)?,
                    p => left.products(&wave(right, p.map(|n| -n))?)?,
                };
                let start = (p * operators.len() + o) * each;
                for (row, part) in all[start..start + each].chunks_mut(n).zip(found.chunks(count)) {
                    row[first..first + count].copy_from_slice(part);
                }
            }
        }
    }
    Ok(all)
}

/// Number of pairs of vectors whose products are computed together.
const PAIRS: usize = 32;

/// Number of triples a < b < c of mode numbers below n.
pub fn triples(n: usize) -> usize {
    if n < 3 {
        return 0;
    }
    n * (n - 1) * (n - 2) / 6
}

/// Number of complex numbers that [`baryon_elementals`] returns for a momentum and a time slice.
pub fn baryon_count(n: usize, operators: &[Vec<Step>; 3]) -> usize {
    match operators.iter().all(Vec::is_empty) {
        true => triples(n),
        false => n * n * n,
    }
}

/// B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k of every time slice, O as of
/// [`meson_elementals`]: [momentum][t][a][b][c]. Without operators only a < b < c are computed, c fastest, as other
/// orders differ by a sign.
///
/// # Errors
/// Errors of [`meson_elementals`].
pub fn baryon_elementals(
    modes: &Modes,
    operators: &[Vec<Step>; 3],
    momenta: &[[i32; 3]],
) -> Result<Vec<Complex64>> {
    momenta.iter().try_for_each(|&[x, y, z]| check_momentum([x, y, z, 0]))?;
    operators.iter().try_for_each(|steps| check(steps))?;
    let (n, times) = (modes.count(), modes.times());
    let whole = operators.iter().any(|steps| !steps.is_empty());
    let each = baryon_count(n, operators);
    let mut all = vec![Complex64::ZERO; momenta.len() * times * each];
    // Place of the triple (a, b, c) in the result: among all triples, or among those with a < b < c.
    let place = |a: usize, b: usize, c: usize| match whole {
        true => (a * n + b) * n + c,
        false => {
            let before = triples(n) - triples(n - a);
            let left = n - a - 1;
            let second = b - a - 1;
            before + second * (left - 1) - second * second.saturating_sub(1) / 2 + c - b - 1
        }
    };
    let of = |which: usize, first: usize, count: usize| {
        let v = modes.some(first, count)?;
        Ok::<_, Error>(applied(modes, &v, &operators[which])?.unwrap_or(v))
    };
    for (first_b, count_b) in portions(n) {
        let b = of(1, first_b, count_b)?;
        for (first_c, count_c) in portions(n).filter(|(first, n)| whole || first + n > first_b) {
            let c = of(2, first_c, count_c)?;
            let pairs: Vec<[usize; 2]> = (0..count_b)
                .flat_map(|j| (0..count_c).map(move |k| [j, k]))
                .filter(|[j, k]| whole || (first_b + j > 0 && first_b + j < first_c + k))
                .collect();
            for some in pairs.chunks(PAIRS) {
                for (p, &momentum) in momenta.iter().enumerate() {
                    let w = cross(&b, &c, some, momentum)?;
                    let last = some.iter().map(|[j, _]| first_b + j).max().unwrap_or(0);
                    for (first_a, count_a) in
                        portions(n).filter(|(first, _)| whole || *first < last)
                    {
                        let a = of(0, first_a, count_a)?;
                        for (at, z) in dots(&w, &a)?.into_iter().enumerate() {
                            let size = some.len() * count_a;
                            let (t, [j, k]) = (at / size, some[at / count_a % some.len()]);
                            let (a, b, c) = (first_a + at % count_a, first_b + j, first_c + k);
                            if whole || a < b {
                                all[(p * times + t) * each + place(a, b, c)] = z;
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(all)
}
