//! The update of the vectors of all shifts in a multi-shift solver, in one pass over memory (kernels/shifts.h).

use num_complex::Complex64;

use crate::backend::args::{ShiftArgs, MAX_RHS};
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::blas::{axpby, axpy, cg_update, complex, elements, fastest, same};
use crate::fields::{Components, Precision, VectorField};
use crate::refuse;

/// Number of shifts in one launch, and of right-hand sides of all of them together, that `ShiftArgs` has room for.
const SHIFTS: usize = 24;
const COLUMNS: usize = 120;

/// Real coefficients for the step of one shift, one of each per right-hand side: x += a p, then p = c p + d r.
/// Right-hand sides for which all three are 0 are not changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub a: Vec<f64>,
    pub c: Vec<f64>,
    pub d: Vec<f64>,
}

impl Step {
    /// Coefficients 0, with which none of `nrhs` right-hand sides is changed.
    pub fn none(nrhs: usize) -> Self {
        Step { a: vec![0.0; nrhs], c: vec![0.0; nrhs], d: vec![0.0; nrhs] }
    }
}

/// Computes for every shift k: x_k += a_k p_k, then p_k = c_k p_k + d_k r. The p_k have the precision of r; that of
/// the x_k may differ.
///
/// # Errors
/// `FieldMismatch`: other lattices, subsets, right-hand sides or precisions; `InvalidArgument`: not as many
/// vectors or coefficients as shifts and right-hand sides.
pub fn update(
    xs: &mut [&mut VectorField],
    ps: &mut [&mut VectorField],
    steps: &[Step],
    r: &VectorField,
) -> Result<()> {
    let Some(first) = xs.first() else { return Ok(()) };
    check(ps, steps, r)?;
    if xs.len() != ps.len() {
        bail!(InvalidArgument, "shifts: {} solutions for {} directions", xs.len(), ps.len());
    }
    for x in xs.iter() {
        r.check_like(x, "shifts")?;
        same(&[first, x], "shifts")?;
    }
    if !at_once(first, r) {
        for ((x, p), step) in xs.iter_mut().zip(ps).zip(steps) {
            one_by_one(x, p, step, r)?;
        }
        return Ok(());
    }
    let out: Vec<&VectorField> = xs.iter().map(|x| &**x).collect();
    launch(&out, ps, steps, r)
}

/// Computes x += sum_k a_k p_k for a single vector x, then p_k = c_k p_k + d_k r for every shift k.
///
/// # Errors
/// Errors of [`update`].
pub fn sum(
    x: &mut VectorField,
    ps: &mut [&mut VectorField],
    steps: &[Step],
    r: &VectorField,
) -> Result<()> {
    check(ps, steps, r)?;
    r.check_like(x, "shifts")?;
    if !at_once(x, r) {
        return ps.iter_mut().zip(steps).try_for_each(|(p, step)| one_by_one(x, p, step, r));
    }
    launch(&[x], ps, steps, r)
}

fn check(ps: &[&mut VectorField], steps: &[Step], r: &VectorField) -> Result<()> {
    for p in ps {
        same(&[r, p], "shifts")?;
    }
    let n = r.nrhs();
    let fits = |s: &Step| [&s.a, &s.c, &s.d].iter().all(|v| v.len() == n);
    if steps.len() != ps.len() || !steps.iter().all(fits) {
        refuse!(
            InvalidArgument,
            "shifts",
            expected("3 coefficients for each of {n} right-hand sides of {} shifts", ps.len())
        );
    }
    Ok(())
}

/// Whether the kernel that takes all shifts at once exists for vectors like these.
fn at_once(x: &VectorField, r: &VectorField) -> bool {
    // In 16 bits the kernel computes the scale of a site from the whole site.
    let whole = [Components::SPINOR, Components::COLOUR].contains(&r.components());
    let known = x.precision() != Precision::F16 && (whole || r.precision() != Precision::F16);
    known && !fastest(x)
}

fn one_by_one(
    x: &mut VectorField,
    p: &mut VectorField,
    step: &Step,
    r: &VectorField,
) -> Result<()> {
    let none = |i: usize| step.a[i] == 0.0 && step.c[i] == 0.0 && step.d[i] == 0.0;
    let c: Vec<Complex64> =
        (0..r.nrhs()).map(|i| if none(i) { 1.0 } else { step.c[i] }.into()).collect();
    let (a, d) = (complex(&step.a), complex(&step.d));
    if x.precision() == p.precision() {
        return cg_update(x, &a, p, &c, r, &d);
    }
    axpy(&a, p, x)?;
    axpby(&d, r, &c, p)
}

/// Launches the step of all shifts; `out` holds a vector for each shift, or one that is shared.
fn launch(
    out: &[&VectorField],
    ps: &[&mut VectorField],
    steps: &[Step],
    r: &VectorField,
) -> Result<()> {
    let one = ps.len() != out.len() || ps.len() == 1;
    let columns = (MAX_RHS as usize).min(r.nrhs());
    let shifts = SHIFTS.min(COLUMNS / columns);
    for first in (0..r.nrhs()).step_by(columns) {
        let count = columns.min(r.nrhs() - first);
        for some in (0..ps.len()).step_by(shifts) {
            let some = some..(some + shifts).min(ps.len());
            let planes = (first * r.rhs_planes()) as u64;
            let data = |f: &VectorField| f.view().data.offset(planes * f.view().plane_bytes as u64);
            let norm = |f: &VectorField| f.view().norm.offset(planes * f.view().norm_bytes as u64);
            let mut args = ShiftArgs {
                r: r.view(),
                x: out[0].view(),
                parities: r.rhs_planes() as i32,
                reals: r.components().reals() as i32,
                one: one as i32,
                shifts: some.len() as i32,
                count: count as i32,
                ..Default::default()
            };
            (args.r.data, args.r.norm) = (data(r), norm(r));
            for (k, shift) in some.enumerate() {
                let p = &*ps[shift];
                (args.p[k], args.norm[k]) = (data(p), norm(p));
                args.out[k] = data(out[if one { 0 } else { shift }]);
                for i in 0..count {
                    let Step { a, c, d } = &steps[shift];
                    let at = 3 * (k * count + i);
                    args.coef[at..at + 3].copy_from_slice(&[
                        a[first + i],
                        c[first + i],
                        d[first + i],
                    ]);
                }
            }
            let work = elements(r, Some(out[0]), count, false);
            let kernel = kernels::ShiftUpdate::of(r.precision(), out[0].precision())?;
            r.device().launch(kernel, &args, work)?;
        }
    }
    Ok(())
}
