//! Vector operations, with one coefficient per right-hand side. Sums are in double precision, in a fixed order;
//! scalar products are <x, y> = sum conj(x) y.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use num_complex::Complex64;

use super::{Geometry, Precision, RhsOrder, VectorField};
use crate::backend::args::*;
use crate::backend::{kernels, Device, FieldView, Ptr, Reduction, Work};
use crate::bail;
use crate::error::Result;

/// A list with the coefficient `a` for every right-hand side.
pub fn uniform(nrhs: usize, a: f64) -> Vec<Complex64> {
    vec![Complex64::new(a, 0.0); nrhs]
}

/// Complex coefficients from real ones.
pub fn complex(a: &[f64]) -> Vec<Complex64> {
    a.iter().map(|&x| Complex64::new(x, 0.0)).collect()
}

/// The sums <x, y> and |x|^2 of every right-hand side, which the device may still be computing. Kernels launched later
/// can read them from device memory ([`Times`]); the host waits for the device only in [`Sums::get`].
pub struct Sums(SumStatus);

enum SumStatus {
    Known(Vec<[f64; 3]>),
    Reduction(Box<PendingSums>),
}

/// Sums that a device may still be computing, with the number of partial sums that make up a right-hand side's sum.
struct PendingSums {
    started: Reduction,
    geometry: Arc<Geometry>,
    device: Device,
    planes: usize,
    known: OnceCell<Vec<[f64; 3]>>,
}

impl Sums {
    /// Sums <x, y> and |x|^2 that are known on the host.
    pub fn of(dots: &[Complex64], norms: &[f64]) -> Sums {
        Sums(SumStatus::Known(dots.iter().zip(norms).map(|(d, &n)| [d.re, d.im, n]).collect()))
    }
    /// Norms that are known on the host, as [`Sums`].
    pub fn of_norms(norms: &[f64]) -> Sums {
        Sums::of(&uniform(norms.len(), 0.0), norms)
    }
    /// Whether the host knows the sums without waiting.
    pub fn known(&self) -> bool {
        match &self.0 {
            SumStatus::Known(_) => true,
            SumStatus::Reduction(under) => under.known.get().is_some(),
        }
    }
    /// The sums <x, y> and |x|^2 on the host; the first call waits for the device.
    pub fn get(&self) -> Result<(Vec<Complex64>, Vec<f64>)> {
        let sums = self.wait()?;
        Ok(sums.iter().map(|s| (Complex64::new(s[0], s[1]), s[2])).unzip())
    }
    fn wait(&self) -> Result<&[[f64; 3]]> {
        let under = match &self.0 {
            SumStatus::Known(sums) => return Ok(sums),
            SumStatus::Reduction(under) => under,
        };
        if let Some(known) = under.known.get() {
            return Ok(known);
        }
        let sums = under.geometry.finish(&under.device, &under.started)?;
        Ok(under.known.get_or_init(|| per_rhs(&sums, under.planes).collect()))
    }
    /// The address on the device at which kernels find the sums; Err: the sums themselves, if the host knows them
    /// already.
    pub(crate) fn place(&self) -> std::result::Result<Ptr, &[[f64; 3]]> {
        match &self.0 {
            SumStatus::Known(sums) => Err(sums),
            SumStatus::Reduction(under) => Ok(under.started.totals()),
        }
    }
}

/// A factor, computed from sums, by which a kernel multiplies coefficients. A term whose factor is not finite, as after
/// a division by 0, is left out.
#[derive(Clone, Copy)]
pub enum Times<'a> {
    /// The factor 1 / <x, y>.
    OverDot(&'a Sums),
    /// The factor 1 / Re <x, y>.
    OverReal(&'a Sums),
    /// The factor 1 / |x|^2.
    OverNorm(&'a Sums),
    /// The factor <x, y> / |x|^2.
    DotOverNorm(&'a Sums),
    /// The factor |u|^2 / Re <x, y>, with |u|^2 from the first sums and <x, y> from the second.
    NormOverReal(&'a Sums, &'a Sums),
    /// The factor |u|^2 / |x|^2, with |u|^2 from the first sums and |x|^2 from the second.
    NormOverNorm(&'a Sums, &'a Sums),
}

/// A factor as kernels take it: a TIMES_* code, the address of the sums, and that of the sums in the numerator.
type Factor = (i32, Ptr, Ptr);
const NO_FACTOR: Factor = (TIMES_NOTHING, Ptr::NULL, Ptr::NULL);

impl<'a> Times<'a> {
    fn denominator(&self) -> &'a Sums {
        match *self {
            Times::OverDot(s) | Times::OverReal(s) | Times::OverNorm(s) => s,
            Times::DotOverNorm(s) | Times::NormOverReal(_, s) | Times::NormOverNorm(_, s) => s,
        }
    }
    fn numerator(&self) -> Option<&'a Sums> {
        match *self {
            Times::NormOverReal(s, _) | Times::NormOverNorm(s, _) => Some(s),
            _ => None,
        }
    }
    /// This factor with its numerator replaced by 1.
    fn inverse(&self) -> Times<'a> {
        match *self {
            Times::NormOverReal(_, s) => Times::OverReal(s),
            Times::NormOverNorm(_, s) => Times::OverNorm(s),
            one => one,
        }
    }
    fn code(&self) -> i32 {
        match self {
            Times::OverDot(_) => TIMES_OVER_DOT,
            Times::OverReal(_) => TIMES_OVER_REAL,
            Times::OverNorm(_) => TIMES_OVER_NORM,
            Times::DotOverNorm(_) => TIMES_DOT_OVER_NORM,
            Times::NormOverReal(..) => TIMES_NORM_OVER_REAL,
            Times::NormOverNorm(..) => TIMES_NORM_OVER_NORM,
        }
    }
    /// Multiplies the coefficients of all right-hand sides by this factor, as far as the host knows the sums in it;
    /// returns the part that is left for the kernel.
    fn scale(&self, coefs: &mut [Cow<[Complex64]>]) -> Factor {
        let mut multiply = |by: &dyn Fn(&[f64; 3]) -> Complex64, sums: &[[f64; 3]]| {
            for coef in coefs.iter_mut() {
                let product = |(c, s): (&Complex64, &[f64; 3])| c * by(s);
                *coef = Cow::Owned(coef.iter().zip(sums).map(product).collect());
            }
        };
        let above = self.numerator().and_then(|above| match above.place() {
            Ok(place) => Some(place),
            Err(sums) => {
                multiply(&|s| Complex64::new(s[2], 0.0), sums);
                None
            }
        });
        let below = match self.denominator().place() {
            Ok(place) => Some(place),
            Err(sums) => {
                multiply(&|s| self.inverse().of(s), sums);
                None
            }
        };
        match (above, below) {
            (None, None) => (TIMES_ONE, Ptr::NULL, Ptr::NULL),
            (None, Some(below)) => (self.inverse().code(), below, Ptr::NULL),
            (Some(above), None) => (TIMES_NORM, Ptr::NULL, above),
            (Some(above), Some(below)) => (self.code(), below, above),
        }
    }
    /// The value of the factor for the sums `s` = [Re <x, y>, Im <x, y>, |x|^2]; for factors of two sums without the
    /// numerator |u|^2.
    fn of(&self, s: &[f64; 3]) -> Complex64 {
        match self {
            Times::OverDot(_) => Complex64::new(s[0], s[1]).inv(),
            Times::OverReal(_) | Times::NormOverReal(..) => Complex64::new(1.0 / s[0], 0.0),
            Times::OverNorm(_) | Times::NormOverNorm(..) => Complex64::new(1.0 / s[2], 0.0),
            Times::DotOverNorm(_) => Complex64::new(s[0], s[1]) / s[2],
        }
    }
}

/// Coefficients of an operation, with the factors by which its kernel multiplies them.
struct Scaled<'a> {
    coef: [Cow<'a, [Complex64]>; 3],
    times: [Factor; 2],
}

impl<'a> Scaled<'a> {
    fn plain(coef: [&'a [Complex64]; 3]) -> Self {
        Scaled { coef: coef.map(Cow::Borrowed), times: [NO_FACTOR; 2] }
    }
    /// Multiplies the first coefficient by a factor made of sums.
    fn first(mut self, times: Times) -> Self {
        self.times[0] = times.scale(&mut self.coef[..1]);
        self
    }
    /// Multiplies all coefficients except the first by a factor made of sums.
    fn others(mut self, times: Times) -> Self {
        self.times[1] = times.scale(&mut self.coef[1..]);
        self
    }
    /// Multiplies the second coefficient by a factor made of sums; the third coefficient stays as it is.
    fn second(mut self, times: Times) -> Self {
        self.times[1] = times.scale(&mut self.coef[1..2]);
        self
    }
}

/// Computes y = x; precisions may differ.
pub fn copy(y: &mut VectorField, x: &VectorField) -> Result<()> {
    x.check_like(y, "copy")?;
    run(BLAS_COPY, [Some(x), Some(y), None, None, None], Scaled::plain([&[], &[], &[]]))
}

/// Computes y = a x + b y; precisions of x and y may differ.
pub fn axpby(a: &[Complex64], x: &VectorField, b: &[Complex64], y: &mut VectorField) -> Result<()> {
    x.check_like(y, "axpby")?;
    run(BLAS_AXPBY, [Some(x), Some(y), None, None, None], Scaled::plain([a, b, &[]]))
}

/// Computes y += a x.
pub fn axpy(a: &[Complex64], x: &VectorField, y: &mut VectorField) -> Result<()> {
    axpby(a, x, &uniform(x.nrhs(), 1.0), y)
}

/// Computes y += (a times a factor made of sums) x.
pub fn axpy_times(
    a: &[Complex64],
    times: Times,
    x: &VectorField,
    y: &mut VectorField,
) -> Result<()> {
    same(&[x, y], "axpy")?;
    let one = uniform(x.nrhs(), 1.0);
    let coef = Scaled::plain([a, &one, &[]]).first(times);
    run(BLAS_AXPBY, [Some(x), Some(y), None, None, None], coef)
}

/// Computes z = a x + b y + c z.
pub fn axpbypcz(
    a: &[Complex64],
    x: &VectorField,
    b: &[Complex64],
    y: &VectorField,
    c: &[Complex64],
    z: &mut VectorField,
) -> Result<()> {
    same(&[x, y, z], "axpbypcz")?;
    run(BLAS_AXPBYPCZ, [Some(x), Some(y), Some(z), None, None], Scaled::plain([a, b, c]))
}

/// Makes an update of CG in one pass: solution += a p, then p = b p + c r.
pub fn cg_update(
    solution: &mut VectorField,
    a: &[Complex64],
    p: &mut VectorField,
    b: &[Complex64],
    r: &VectorField,
    c: &[Complex64],
) -> Result<()> {
    same(&[p, r, solution], "cg_update")?;
    run(BLAS_CG_UPDATE, [Some(p), Some(r), Some(solution), None, None], Scaled::plain([a, b, c]))
}

/// Makes an update of CG in one pass with factors made of sums: solution += (a times the first factor) p, then p = (b
/// times the second factor) p + c r.
pub fn cg_update_times(
    solution: &mut VectorField,
    (a, alpha): (&[Complex64], Times),
    p: &mut VectorField,
    (b, beta): (&[Complex64], Times),
    r: &VectorField,
    c: &[Complex64],
) -> Result<()> {
    same(&[p, r, solution], "cg_update")?;
    let coef = Scaled::plain([a, b, c]).first(alpha).second(beta);
    run(BLAS_CG_UPDATE, [Some(p), Some(r), Some(solution), None, None], coef)
}

/// Computes |x|^2 of every right-hand side.
pub fn norm2(x: &VectorField) -> Result<Vec<f64>> {
    Ok(norm2_later(x)?.get()?.1)
}

/// Starts computing |x|^2 of every right-hand side, without waiting for the results.
pub fn norm2_later(x: &VectorField) -> Result<Sums> {
    sums(BLAS_NORM, x, [None; 4], Scaled::plain([&[], &[], &[]]))
}

/// Computes <x, y> and |x|^2 of every right-hand side.
pub fn dot_norm(x: &VectorField, y: &VectorField) -> Result<(Vec<Complex64>, Vec<f64>)> {
    dot_norm_later(x, y)?.get()
}

/// Starts computing <x, y> and |x|^2 of every right-hand side, without waiting for the results.
pub fn dot_norm_later(x: &VectorField, y: &VectorField) -> Result<Sums> {
    same(&[x, y], "dot")?;
    sums(BLAS_DOT, x, [Some(y), None, None, None], Scaled::plain([&[], &[], &[]]))
}

/// Computes <x, y> of every right-hand side.
pub fn dot(x: &VectorField, y: &VectorField) -> Result<Vec<Complex64>> {
    Ok(dot_norm(x, y)?.0)
}

/// Computes <x, y> and |x|^2 for every pair (x, y) of fields, which all have equally many right-hand sides; if x and y
/// are the same field, only |x|^2. If ranks add up through MPI, all products are summed over ranks together; otherwise
/// reductions are started one after the other without waiting.
pub fn dots_norms(
    pairs: &[(&VectorField, &VectorField)],
) -> Result<Vec<(Vec<Complex64>, Vec<f64>)>> {
    let Some(&(first, _)) = pairs.first() else { return Ok(vec![]) };
    let (geometry, device) = (first.geometry(), first.device());
    let alone = |&(x, y): &(&VectorField, &VectorField)| std::ptr::eq(x, y);
    if geometry.adds_by_hosts(device)? != Some(true) {
        let later = |pair: &(&_, &_)| match alone(pair) {
            true => norm2_later(pair.0),
            false => dot_norm_later(pair.0, pair.1),
        };
        let started: Vec<Sums> = pairs.iter().map(later).collect::<Result<_>>()?;
        return started.iter().map(Sums::get).collect();
    }
    let nothing = Scaled::plain([&[], &[], &[]]);
    let mut started = vec![];
    for pair in pairs {
        let &(x, y) = pair;
        same(&[first, x, y], "dot")?;
        let (op, y) = if alone(pair) { (BLAS_NORM, None) } else { (BLAS_DOT, Some(y)) };
        for (first, count) in groups(x.nrhs()) {
            let args = arguments(op, [Some(x), y, None, None, None], &nothing, first, count);
            let work = elements(x, None, count, true);
            started.push(device.start(kernels::BlasSum(x.precision()), &args, work)?);
        }
    }
    let mut own: Vec<[f64; 3]> = vec![];
    for one in &started {
        own.extend(per_rhs(&geometry.finish_here(device, one)?, planes(first)));
    }
    // Ranks send what is asked for, and of every x its norm once: pairs that have a dot, and those that have a norm.
    let n = first.nrhs();
    let norm_of = |k: usize| (0..k).find(|&j| std::ptr::eq(pairs[j].0, pairs[k].0)).unwrap_or(k);
    let sent = |k: usize| match (alone(&pairs[k]), norm_of(k) == k) {
        (true, true) => 2..3,
        (false, true) => 0..3,
        (false, false) => 0..2,
        (true, false) => 0..0,
    };
    let places = || (0..pairs.len()).flat_map(|k| (n * k..n * (k + 1)).map(move |i| (k, i)));
    let mut words: Vec<f64> = places().flat_map(|(k, i)| own[i][sent(k)].to_vec()).collect();
    geometry.comm().sum(&mut words)?;
    let mut words = words.into_iter();
    places()
        .for_each(|(k, i)| own[i][sent(k)].iter_mut().zip(&mut words).for_each(|(s, w)| *s = w));
    let of_pair = |k: usize| {
        let norms = own[n * norm_of(k)..][..n].iter().map(|s| s[2]).collect();
        (own[n * k..][..n].iter().map(|s| Complex64::new(s[0], s[1])).collect(), norms)
    };
    Ok((0..pairs.len()).map(of_pair).collect())
}

/// Computes y += a x; returns |y|^2 of every right-hand side.
pub fn axpy_norm(a: &[Complex64], x: &VectorField, y: &mut VectorField) -> Result<Vec<f64>> {
    same(&[x, y], "axpy_norm")?;
    let coef = Scaled::plain([a, &[], &[]]);
    Ok(sums(BLAS_AXPY_NORM, x, [Some(y), None, None, None], coef)?.get()?.1)
}

/// Computes y += (a times a factor made of sums) x, and starts computing |y|^2 without waiting for the results.
pub fn axpy_norm_times(
    a: &[Complex64],
    times: Times,
    x: &VectorField,
    y: &mut VectorField,
) -> Result<Sums> {
    same(&[x, y], "axpy_norm")?;
    let coef = Scaled::plain([a, &[], &[]]).first(times);
    sums(BLAS_AXPY_NORM, x, [Some(y), None, None, None], coef)
}

/// Computes y += a x; returns <z, y> and |y|^2 of every right-hand side.
pub fn axpy_dot(
    a: &[Complex64],
    x: &VectorField,
    y: &mut VectorField,
    z: &VectorField,
) -> Result<(Vec<Complex64>, Vec<f64>)> {
    same(&[x, y, z], "axpy_dot")?;
    let coef = Scaled::plain([a, &[], &[]]);
    sums(BLAS_AXPY_DOT, x, [Some(y), Some(z), None, None], coef)?.get()
}

/// Makes an update of BiCGStab in one pass: solution += alpha p + omega r, then r -= omega t; returns <shadow, r> and
/// |r|^2. alpha is a times the first factor, omega b times the second.
#[allow(clippy::too_many_arguments)]
pub fn bicgstab_update(
    solution: &mut VectorField,
    (a, alpha): (&[Complex64], Times),
    p: &VectorField,
    (b, omega): (&[Complex64], Times),
    r: &mut VectorField,
    t: &VectorField,
    shadow: &VectorField,
) -> Result<(Vec<Complex64>, Vec<f64>)> {
    same(&[p, r, t, solution, shadow], "bicgstab_update")?;
    let minus: Vec<Complex64> = b.iter().map(|b| -b).collect();
    let coef = Scaled::plain([a, b, &minus]).first(alpha).others(omega);
    sums(BLAS_BICGSTAB, p, [Some(r), Some(t), Some(solution), Some(shadow)], coef)?.get()
}

/// Computes the heavy-quark residual sqrt( sum_s |r(s)|^2/|x(s)|^2 / sites ) of every right-hand side; a site with x
/// = 0 counts as 1 (the definition of QUDA and MILC). Sites where quarks vanish at boundaries in time, on which x and r
/// are zero, do not count.
pub fn heavy_quark_residual(x: &VectorField, r: &VectorField) -> Result<Vec<f64>> {
    same(&[x, r], "heavy_quark_residual")?;
    let nothing = Scaled::plain([&[], &[], &[]]);
    let slices = x.geometry().global_extents()[3];
    let slice = (x.geometry().global_volume() / slices * x.rhs_planes()) as f64 / 2.0;
    let zero = x.components().zero_slices(x.geometry());
    let sites = slice * (slices - zero) as f64;
    let mut all = Vec::new();
    for (first, count) in groups(x.nrhs()) {
        let args = arguments(0, [Some(x), Some(r), None, None, None], &nothing, first, count);
        let mut work = x.geometry().work(count * x.rhs_planes());
        // The number of sites with x = 0 that do not count.
        let mut empty = slice * zero as f64;
        if fastest(x) {
            // The sites that pad a plane are included.
            let padded = x.geometry().plane_sites() * x.rhs_planes();
            work = Work { n: padded, batches: count, ..work };
            let padding = padded as f64 - (x.geometry().volume() * x.rhs_planes()) as f64 / 2.0;
            empty += padding * x.geometry().comm().size() as f64;
        }
        let sums =
            x.geometry().reduce(x.device(), kernels::HeavyQuark(x.precision()), &args, work)?;
        let residual =
            |[zero, others]: [f64; 2]| (((zero - empty).max(0.0) + others) / sites).sqrt();
        all.extend(per_rhs(&sums, planes(x)).map(residual));
    }
    Ok(all)
}

/// The largest |x(s)| over sites s on all ranks, for every right-hand side; different slices of a site count as
/// different sites.
pub fn largest_site(x: &VectorField) -> Result<Vec<f64>> {
    let nothing = Scaled::plain([&[], &[], &[]]);
    let mut all = Vec::new();
    for (first, count) in groups(x.nrhs()) {
        let args = arguments(0, [Some(x), None, None, None, None], &nothing, first, count);
        let mut work = x.geometry().work(count * x.rhs_planes());
        if fastest(x) {
            let padded = x.geometry().plane_sites() * x.rhs_planes();
            work = Work { n: padded, batches: count, ..work };
        }
        let kernel = kernels::SiteLargest(x.precision());
        let pairs = x.geometry().reduce_here(x.device(), kernel, &args, work)?;
        let largest = |planes: &[f64]| {
            planes.chunks(2).fold(0.0f64, |largest, pair| match pair[0].is_finite() {
                true => largest.max(pair[1]),
                false => f64::INFINITY,
            })
        };
        all.extend(pairs.chunks(2 * planes(x)).map(largest));
    }
    x.geometry().comm().max(&mut all)?;
    Ok(all.into_iter().map(f64::sqrt).collect())
}

pub(crate) fn same(fields: &[&VectorField], what: &str) -> Result<()> {
    for f in &fields[1..] {
        fields[0].check_like(f, what)?;
        if f.precision() != fields[0].precision() {
            bail!(
                FieldMismatch,
                "{what}: precisions {} and {}",
                fields[0].precision(),
                f.precision()
            );
        }
    }
    Ok(())
}

type Operands<'a> = [Option<&'a VectorField>; 5];

/// Divides right-hand sides into groups (first, count) of at most MAX_RHS, the number of coefficients of a launch.
fn groups(nrhs: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = MAX_RHS as usize;
    (0..nrhs).step_by(step).map(move |first| (first, step.min(nrhs - first)))
}

fn arguments(
    op: i32,
    fields: Operands,
    Scaled { coef, times }: &Scaled,
    first: usize,
    count: usize,
) -> BlasArgs {
    let shape = fields[0].expect("the first operand is always there");
    let view = |f: Option<&VectorField>| {
        let mut v = f.map_or(
            FieldView { volume: shape.geometry().outer() as i32, ..Default::default() },
            |f| f.view(),
        );
        if fastest(shape) {
            let complex = f.map_or(0, |f| 2 * f.precision().bytes());
            v.data = v.data.offset((first * complex) as u64);
            return v;
        }
        let skip = (first * shape.rhs_planes()) as u64;
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
        parities: if fastest(shape) { 1 } else { shape.rhs_planes() as i32 },
        reals: shape.components().reals() as i32,
        fastest: fastest(shape) as i32,
        rhs: shape.nrhs() as i32,
        count: count as i32,
        x: view(fields[0]),
        y: view(fields[1]),
        z: view(fields[2]),
        w: view(fields[3]),
        v: view(fields[4]),
        a: pack(&coef[0]),
        b: pack(&coef[1]),
        c: pack(&coef[2]),
        times: times[0].0,
        times_bc: times[1].0,
        sums: times[0].1,
        sums_bc: times[1].1,
        above: times[0].2,
        above_bc: times[1].2,
    }
}

pub(crate) fn fastest(x: &VectorField) -> bool {
    x.order() == RhsOrder::Fastest
}

/// The work of a launch over single numbers. Sites are not distinguished (kernels/blas.h, Piece) unless the storage
/// is fixed point or, on a GPU, mixed. `apart`: a separate batch for every right-hand side.
pub(crate) fn elements(
    x: &VectorField,
    y: Option<&VectorField>,
    count: usize,
    apart: bool,
) -> Work {
    let mut work = x.geometry().work(count * x.rhs_planes());
    let y = y.unwrap_or(x);
    // The padding of the last tile is included; it holds zeros.
    let reals = x.geometry().plane_sites() * x.components().reals();
    let fixed = x.precision() == Precision::F16 || y.precision() == Precision::F16;
    if fastest(x) {
        let complex = reals / 2 * x.rhs_planes();
        work.n = if apart { complex } else { complex * count };
        work.batches = if apart { count } else { 1 };
    } else if fixed || (!x.device().is_cpu() && y.precision() != x.precision()) {
        return work;
    } else {
        work.n = match x.device().is_cpu() {
            true => reals / work.lanes / 8,
            false => reals * x.precision().bytes() / 16,
        };
    }
    work
}

fn run(op: i32, fields: Operands, coef: Scaled) -> Result<()> {
    let x = fields[0].expect("the first operand is always there");
    let y = fields[1];
    for (first, count) in groups(x.nrhs()) {
        let args = arguments(op, fields, &coef, first, count);
        let mut work = elements(x, y, count, false);
        let several = BLAS_NUMBERS as usize;
        if fastest(x)
            && !x.device().is_cpu()
            && count > 1
            && x.components().reals().is_multiple_of(2 * several)
        {
            work.n /= several;
        }
        match y.filter(|y| y.precision() != x.precision()) {
            Some(y) => {
                x.device().launch(kernels::BlasMixed(x.precision(), y.precision()), &args, work)?
            }
            None => x.device().launch(kernels::Blas(x.precision()), &args, work)?,
        }
    }
    Ok(())
}

/// Number of planes of x over which the sum of one right-hand side runs.
fn planes(x: &VectorField) -> usize {
    if fastest(x) {
        1
    } else {
        x.rhs_planes()
    }
}

/// The `N` sums of each right-hand side, over its `planes` planes.
fn per_rhs<const N: usize>(sums: &[f64], planes: usize) -> impl Iterator<Item = [f64; N]> + '_ {
    sums.chunks(N * planes).map(|planes| {
        let mut s = [0.0; N];
        for plane in planes.chunks(N) {
            for (s, p) in s.iter_mut().zip(plane) {
                *s += p;
            }
        }
        s
    })
}

fn sums(
    op: i32,
    field: &VectorField,
    [y, z, w, v]: [Option<&VectorField>; 4],
    coef: Scaled,
) -> Result<Sums> {
    let fields = [Some(field), y, z, w, v];
    let (geometry, device) = (field.geometry(), field.device());
    let mut known = Vec::new();
    for (first, count) in groups(field.nrhs()) {
        let args = arguments(op, fields, &coef, first, count);
        let work = elements(field, None, count, true);
        // Kernels can read sums from the device only if one launch has computed them for all right-hand sides.
        if count == field.nrhs() {
            if let Some(started) =
                geometry.start(device, kernels::BlasSum(field.precision()), &args, work)?
            {
                let under = PendingSums {
                    started,
                    geometry: geometry.clone(),
                    device: device.clone(),
                    planes: planes(field),
                    known: OnceCell::new(),
                };
                return Ok(Sums(SumStatus::Reduction(Box::new(under))));
            }
        }
        let out = geometry.reduce(device, kernels::BlasSum(field.precision()), &args, work)?;
        known.extend(per_rhs(&out, planes(field)));
    }
    Ok(Sums(SumStatus::Known(known)))
}
