//! Conversions between colour vectors and spinors, and products of colour vectors with plane waves
//! (kernels/distillation.h).

use crate::backend::args::DistillArgs;
use crate::backend::{kernels, Buffer, Device};
use crate::bail;
use crate::error::Result;
use crate::fields::{Components, RhsOrder, SpinorField, Subset, VectorField};
use crate::refuse;

/// Number of vectors that are worked on together.
pub(super) const VECTOR_BLOCK: usize = 32;

/// Divides `count` vectors into groups of at most `VECTOR_BLOCK`: number of the first vector, and number of vectors.
pub(super) fn portions(count: usize) -> impl Iterator<Item = (usize, usize)> {
    portions_of(count, VECTOR_BLOCK)
}

/// Divides `count` vectors into groups of at most `size`.
pub(super) fn portions_of(count: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).step_by(size.max(1)).map(move |first| (first, size.min(count - first)))
}

/// Copies numbers to the memory of a device.
fn table(device: &Device, numbers: &[i32]) -> Result<Buffer> {
    let mut buffer = device.alloc(size_of_val(numbers))?;
    buffer.upload(bytemuck::cast_slice(numbers))?;
    Ok(buffer)
}

fn arguments(out: &VectorField, inp: &VectorField) -> Result<DistillArgs> {
    for f in [out, inp] {
        if f.order() != RhsOrder::Slowest || f.subset() != Subset::Full {
            refuse!(FieldMismatch, "distillation", expected("fields on the full lattice"));
        }
    }
    if out.geometry() != inp.geometry()
        || out.precision() != inp.precision()
        || out.device() != inp.device()
    {
        bail!(FieldMismatch, "distillation: the fields differ in lattice, device or precision");
    }
    let geom = inp.geometry().args();
    Ok(DistillArgs { geom, out: out.view(), inp: inp.view(), ..Default::default() })
}

fn check(f: &VectorField, components: Components) -> Result<()> {
    match f.components() == components {
        true => Ok(()),
        false => {
            refuse!(
                FieldMismatch,
                "distillation",
                expected("{components}"),
                found("{}", f.components())
            )
        }
    }
}

/// Makes `count` colour vectors on the lattice and in the precision of `like`.
pub(super) fn colour_vectors(like: &VectorField, count: usize) -> Result<VectorField> {
    let content = (Components::COLOUR, RhsOrder::Slowest);
    let (device, geometry) = (like.device(), like.geometry());
    VectorField::with_components(device, geometry, like.precision(), Subset::Full, count, content)
}

/// Makes `count` spinors on the lattice and in the precision of `like`.
pub(super) fn spinors(like: &VectorField, count: usize) -> Result<SpinorField> {
    let content = (Components::SPINOR, RhsOrder::Slowest);
    let (device, geometry) = (like.device(), like.geometry());
    VectorField::with_components(device, geometry, like.precision(), Subset::Full, count, content)
}

/// Makes spinors: spin s of column k is colour vector `from[4 k + s]`, or 0 if that number is negative, on time slice
/// `time`; 0 on all other slices.
pub(super) fn place(
    out: &SpinorField,
    inp: &VectorField,
    from: &[i32],
    time: Option<usize>,
) -> Result<()> {
    check(out, Components::SPINOR)?;
    check(inp, Components::COLOUR)?;
    if from.len() != 4 * out.nrhs() || from.iter().any(|&k| k >= inp.nrhs() as i32) {
        bail!(InvalidArgument, "distillation: {from:?} for {} vectors", inp.nrhs());
    }
    let from = table(inp.device(), from)?;
    let time = time.map_or(-1, |t| t as i32);
    let args = DistillArgs { table: from.ptr(), time, ..arguments(out, inp)? };
    inp.device().launch(kernels::SpinPlace::of(inp.precision())?, &args, out.work())
}

/// Makes colour vectors: vector 4 k + s is spin s of column k.
pub(super) fn take(inp: &SpinorField) -> Result<VectorField> {
    check(inp, Components::SPINOR)?;
    let out = colour_vectors(inp, 4 * inp.nrhs())?;
    let args = arguments(&out, inp)?;
    inp.device().launch(kernels::SpinTake::of(inp.precision())?, &args, inp.work())?;
    Ok(out)
}

/// Computes exp(i p x) v for every vector v, with p_i = 2 pi n_i / L_i.
pub(super) fn wave(inp: &VectorField, n: [i32; 3]) -> Result<VectorField> {
    check(inp, Components::COLOUR)?;
    let out = colour_vectors(inp, inp.nrhs())?;
    let which = table(inp.device(), &(0..inp.nrhs() as i32).collect::<Vec<_>>())?;
    let momentum = [n[0], n[1], n[2], 0];
    let args = DistillArgs { table: which.ptr(), momentum, ..arguments(&out, inp)? };
    inp.device().launch(kernels::ColourWave::of(inp.precision())?, &args, out.work())?;
    Ok(out)
}

/// Computes exp(i p x) conj(b x c) for pairs of vectors b and c, which are given by number.
pub(super) fn cross(
    b: &VectorField,
    c: &VectorField,
    pairs: &[[usize; 2]],
    n: [i32; 3],
) -> Result<VectorField> {
    check(b, Components::COLOUR)?;
    check(c, Components::COLOUR)?;
    if pairs.iter().any(|[j, k]| *j >= b.nrhs() || *k >= c.nrhs()) {
        bail!(InvalidArgument, "distillation: products of vectors that there are not");
    }
    let out = colour_vectors(b, pairs.len())?;
    let numbers: Vec<i32> = pairs.iter().flatten().map(|&k| k as i32).collect();
    let which = table(b.device(), &numbers)?;
    let args = DistillArgs {
        table: which.ptr(),
        momentum: [n[0], n[1], n[2], 0],
        other: arguments(&out, c)?.inp,
        ..arguments(&out, b)?
    };
    b.device().launch(kernels::ColourCross::of(b.precision())?, &args, out.work())?;
    Ok(out)
}
