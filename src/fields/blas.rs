//! Vector operations on spinor fields. Coefficients are one per right-hand side; sums are in
//! double, in a fixed order. Inner products are <x, y> = sum conj(x) y.

use num_complex::Complex64;

use super::{Precision, SpinorField};
use crate::backend::args::*;
use crate::backend::{FieldView, Work};
use crate::bail;
use crate::error::Result;

/// Coefficients that are the same for every right-hand side.
pub fn uniform(nrhs: usize, a: f64) -> Vec<Complex64> {
    vec![Complex64::new(a, 0.0); nrhs]
}

/// Complex coefficients from real ones.
pub fn complex(a: &[f64]) -> Vec<Complex64> {
    a.iter().map(|&x| Complex64::new(x, 0.0)).collect()
}

/// y = x, converting the precision.
pub fn copy(y: &mut SpinorField, x: &SpinorField) -> Result<()> {
    x.check_like(y, "copy")?;
    run(BLAS_COPY, [Some(x), Some(y), None, None, None], [&[], &[], &[]])
}

/// x = 0.
pub fn zero(x: &mut SpinorField) -> Result<()> {
    x.clear()
}

/// y = a x + b y; x and y may differ in precision.
pub fn axpby(a: &[Complex64], x: &SpinorField, b: &[Complex64], y: &mut SpinorField) -> Result<()> {
    x.check_like(y, "axpby")?;
    run(BLAS_AXPBY, [Some(x), Some(y), None, None, None], [a, b, &[]])
}

/// y += a x.
pub fn axpy(a: &[Complex64], x: &SpinorField, y: &mut SpinorField) -> Result<()> {
    axpby(a, x, &uniform(x.nrhs(), 1.0), y)
}

/// y = x + b y.
pub fn xpay(x: &SpinorField, b: &[Complex64], y: &mut SpinorField) -> Result<()> {
    axpby(&uniform(x.nrhs(), 1.0), x, b, y)
}

/// z = a x + b y + c z.
pub fn axpbypcz(
    a: &[Complex64],
    x: &SpinorField,
    b: &[Complex64],
    y: &SpinorField,
    c: &[Complex64],
    z: &mut SpinorField,
) -> Result<()> {
    same(&[x, y, z], "axpbypcz")?;
    run(BLAS_AXPBYPCZ, [Some(x), Some(y), Some(z), None, None], [a, b, c])
}

/// One pass of CG: solution += a p, then p = b p + c r.
pub fn cg_update(
    solution: &mut SpinorField,
    a: &[Complex64],
    p: &mut SpinorField,
    b: &[Complex64],
    r: &SpinorField,
    c: &[Complex64],
) -> Result<()> {
    same(&[p, r, solution], "cg_update")?;
    run(BLAS_CG_UPDATE, [Some(p), Some(r), Some(solution), None, None], [a, b, c])
}

/// |x|^2 of every right-hand side.
pub fn norm2(x: &SpinorField) -> Result<Vec<f64>> {
    Ok(sums(BLAS_NORM, [Some(x), None, None, None, None], [&[], &[], &[]])?.1)
}

/// <x, y> and |x|^2.
pub fn dot_norm(x: &SpinorField, y: &SpinorField) -> Result<(Vec<Complex64>, Vec<f64>)> {
    same(&[x, y], "dot")?;
    sums(BLAS_DOT, [Some(x), Some(y), None, None, None], [&[], &[], &[]])
}

/// <x, y>.
pub fn dot(x: &SpinorField, y: &SpinorField) -> Result<Vec<Complex64>> {
    Ok(dot_norm(x, y)?.0)
}

/// y += a x; returns |y|^2.
pub fn axpy_norm(a: &[Complex64], x: &SpinorField, y: &mut SpinorField) -> Result<Vec<f64>> {
    same(&[x, y], "axpy_norm")?;
    Ok(sums(BLAS_AXPY_NORM, [Some(x), Some(y), None, None, None], [a, &[], &[]])?.1)
}

/// y += a x; returns <z, y> and |y|^2.
pub fn axpy_dot(
    a: &[Complex64],
    x: &SpinorField,
    y: &mut SpinorField,
    z: &SpinorField,
) -> Result<(Vec<Complex64>, Vec<f64>)> {
    same(&[x, y, z], "axpy_dot")?;
    sums(BLAS_AXPY_DOT, [Some(x), Some(y), Some(z), None, None], [a, &[], &[]])
}

/// One pass of BiCGStab: solution += a p + b r, then r += c t; returns <shadow, r> and |r|^2.
#[allow(clippy::too_many_arguments)]
pub fn bicgstab_update(
    solution: &mut SpinorField,
    a: &[Complex64],
    p: &SpinorField,
    b: &[Complex64],
    r: &mut SpinorField,
    c: &[Complex64],
    t: &SpinorField,
    shadow: &SpinorField,
) -> Result<(Vec<Complex64>, Vec<f64>)> {
    same(&[p, r, t, solution, shadow], "bicgstab_update")?;
    sums(BLAS_BICGSTAB, [Some(p), Some(r), Some(t), Some(solution), Some(shadow)], [a, b, c])
}

/// Heavy-quark residual sqrt( sum_s |r(s)|^2/|x(s)|^2 / sites ) of every right-hand side: a site
/// where x vanishes counts as 1 (the definition of QUDA and MILC).
pub fn heavy_quark_residual(x: &SpinorField, r: &SpinorField) -> Result<Vec<f64>> {
    same(&[x, r], "heavy_quark_residual")?;
    let args = arguments(0, [Some(x), Some(r), None, None, None], [&[], &[], &[]], 0, x.nrhs());
    let params = [x.precision().token()];
    let sums = x.geometry().reduce(x.device(), "heavy_quark", &params, &args, x.work())?;
    let sites = (x.geometry().global_volume() / 2 * x.parities()) as f64;
    Ok(per_rhs(&sums, x).map(|s| (s[2] / sites).sqrt()).collect())
}

fn same(fields: &[&SpinorField], what: &str) -> Result<()> {
    for f in &fields[1..] {
        fields[0].check_like(f, what)?;
        if f.precision() != fields[0].precision() {
            bail!(
                FieldMismatch,
                "{what}: precisions {:?} and {:?}",
                fields[0].precision(),
                f.precision()
            );
        }
    }
    Ok(())
}

type Operands<'a> = [Option<&'a SpinorField>; 5];

/// Launches carry the coefficients of at most MAX_RHS right-hand sides.
fn groups(nrhs: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = MAX_RHS as usize;
    (0..nrhs).step_by(step).map(move |first| (first, step.min(nrhs - first)))
}

fn arguments(
    op: i32,
    fields: Operands,
    coef: [&[Complex64]; 3],
    first: usize,
    count: usize,
) -> BlasArgs {
    let shape = fields[0].expect("the first operand is always there");
    let view = |f: Option<&SpinorField>| {
        let mut v = f.map_or(
            FieldView { volume: shape.geometry().outer() as i32, ..Default::default() },
            |f| f.view(),
        );
        let skip = (first * shape.parities()) as u64;
        v.data = v.data.offset(skip * v.plane_bytes as u64);
        v.norm = v.norm.offset(skip * v.norm_bytes as u64);
        v
    };
    let pack = |c: &[Complex64]| {
        let mut out = [0.0; 2 * MAX_RHS as usize];
        for (i, z) in c.iter().skip(first).take(count).enumerate() {
            out[2 * i] = z.re;
            out[2 * i + 1] = z.im;
        }
        out
    };
    BlasArgs {
        op,
        parities: shape.parities() as i32,
        x: view(fields[0]),
        y: view(fields[1]),
        z: view(fields[2]),
        w: view(fields[3]),
        v: view(fields[4]),
        a: pack(coef[0]),
        b: pack(coef[1]),
        c: pack(coef[2]),
    }
}

/// Element-wise work does not care for sites on a GPU: there one element is a 16-byte load
/// (kernels/blas.h, Piece), unless the storage is fixed point or mixed.
fn elements(x: &SpinorField, y: Option<&SpinorField>, count: usize) -> Work {
    let mut work = x.geometry().work(count * x.parities());
    let mixed = y.is_some_and(|y| y.precision() != x.precision());
    if !x.device().is_cpu() && x.precision() != Precision::F16 && !mixed {
        // Room of the last tile included: it holds zeros.
        work.n = x.geometry().plane_sites() * 24 * x.precision().bytes() / 16;
    }
    work
}

fn run(op: i32, fields: Operands, coef: [&[Complex64]; 3]) -> Result<()> {
    let x = fields[0].expect("the first operand is always there");
    let y = fields[1];
    for (first, count) in groups(x.nrhs()) {
        let args = arguments(op, fields, coef, first, count);
        let work = elements(x, y, count);
        match y.filter(|y| y.precision() != x.precision()) {
            Some(y) => x.device().launch(
                "blas_mixed",
                &[x.precision().token(), y.precision().token()],
                &args,
                work,
            )?,
            None => x.device().launch("blas", &[x.precision().token()], &args, work)?,
        }
    }
    Ok(())
}

fn per_rhs<'a>(sums: &'a [f64], x: &'a SpinorField) -> impl Iterator<Item = [f64; 3]> + 'a {
    sums.chunks(3 * x.parities()).map(|planes| {
        let mut s = [0.0; 3];
        for plane in planes.chunks(3) {
            for (s, p) in s.iter_mut().zip(plane) {
                *s += p;
            }
        }
        s
    })
}

fn sums(op: i32, fields: Operands, coef: [&[Complex64]; 3]) -> Result<(Vec<Complex64>, Vec<f64>)> {
    let x = fields[0].expect("the first operand is always there");
    let (mut dots, mut norms) = (Vec::new(), Vec::new());
    for (first, count) in groups(x.nrhs()) {
        let args = arguments(op, fields, coef, first, count);
        let params = [x.precision().token()];
        let work = elements(x, None, count);
        let out = x.geometry().reduce(x.device(), "blas_sum", &params, &args, work)?;
        for s in per_rhs(&out, x) {
            dots.push(Complex64::new(s[0], s[1]));
            norms.push(s[2]);
        }
    }
    Ok((dots, norms))
}
