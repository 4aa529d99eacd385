//! `quda.h`: correlators of propagators of the host with momenta.

#![allow(non_snake_case)]

use std::f64::consts::TAU;
use std::ffi::{c_int, c_void};

use num_complex::Complex64;

use super::arrays::List;
use super::enums::{Basis, Contraction, FourierPart, Numbers, QudaFFTSymmType};
use super::session::{self, Session};
use crate::backend::Location;
use crate::capi::args::{choose, Array, One, Raw};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::{Components, GammaBasis, Layout, RhsOrder, Subset, VectorField};
use crate::ops::distillation::wave_products::{split, wave_products};
use crate::ops::gamma::{Gamma, SpinMatrix};
use crate::params::Number;
use crate::refuse;

interface! {
    "Contractions"
    calls {
        /// Adds to result[0][momentum][slice][G], doubles (re, im), the sum over the sites of a slice of exp(i p (r -
        /// source_position)) tr[gamma5 G Y gamma5 G X^dagger], r the site, for the propagators of `src_colors` colours,
        /// columns src_colors s + c at x and y: G = gamma_1, ... gamma_4, gamma5 gamma_1, ... gamma5 gamma_4, 1,
        /// gamma5, sigma_12, sigma_13, sigma_14, sigma_23, sigma_24, sigma_34, sigma_mn = (i / 2) [gamma_m, gamma_n].
        /// Slices are those of t, or of z with QUDA_CONTRACT_TYPE_DR_FT_Z, on the whole lattice and on all ranks.
        /// `mom_modes`: four numbers for each momentum, p = 2 pi n / L. Of colour vectors, with
        /// QUDA_CONTRACT_TYPE_STAGGERED_FT_T, conj(x) y alone, each direction with its member of fft_type, exp(i p r),
        /// cos(p r) or i sin(p r). `cs_param_ptr`: a quda::ColorSpinorParam of color_spinor_field.h as plaq has it, in
        /// C++.
        contractFTQuda(x: List, y: List, result: List, cType: One<Contraction>, cs_param_ptr: Raw<*mut c_void>, src_colors: c_int, X: Array<c_int>, source_position: Array<c_int>, n_mom: c_int, mom_modes: Array<c_int>, fft_type: Raw<*const QudaFFTSymmType>) = together contract;
    }
}

/// The layout in C of quda::ColorSpinorParam in color_spinor_field.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct FieldParam {
    plaq: u32,
    nColor: c_int,
    nSpin: c_int,
    nVec: c_int,
    nDim: c_int,
    pad: c_int,
    x: [c_int; 6],
    precision: c_int,
    siteSubset: c_int,
    siteOrder: c_int,
    fieldOrder: c_int,
    gammaBasis: c_int,
}

/// The value of `FieldParam::plaq`, by which structs that plaq's header made are recognised.
const PLAQ: u32 = 0x7161_6c70;

fn param_of(at: *mut c_void) -> Result<FieldParam> {
    if at.is_null() {
        refuse!(NullPointer, "cs_param_ptr", expected("a pointer"), found("NULL"));
    }
    // SAFETY: the host's object, as the header asks; its first number tells whose class it is of.
    let plaq = unsafe { at.cast::<u32>().read_unaligned() };
    if plaq != PLAQ {
        refuse!(
            InvalidArgument,
            "cs_param_ptr",
            expected("a quda::ColorSpinorParam of plaq's color_spinor_field.h"),
            found("an object of another class, which begins with {plaq:#x}")
        );
    }
    // SAFETY: an object of that class.
    Ok(unsafe { at.cast::<FieldParam>().read_unaligned() })
}

/// Shape and layout of the vectors of the host that are contracted.
struct Form<'a> {
    session: &'a Session,
    layout: Layout,
    spins: usize,
}

impl Form<'_> {
    fn new<'a>(session: &'a Session, param: &FieldParam, spins: usize) -> Result<Form<'a>> {
        let part = session.geometry.extents().map(|l| l as c_int);
        let rows = [
            ("nColor", param.nColor, 3),
            ("nSpin", param.nSpin, spins as c_int),
            ("siteSubset", param.siteSubset, 2),
            ("siteOrder", param.siteOrder, 1),
            ("fieldOrder", param.fieldOrder, 9),
        ];
        for (name, found, expected) in rows {
            if found != expected {
                refuse!(
                    Unsupported,
                    "cs_param_ptr.{name}",
                    expected("{expected}"),
                    found("{found}")
                );
            }
        }
        check_part(&param.x[..4], part, "cs_param_ptr.x")?;
        let Numbers(outside) = choose(Number::new(param.precision), "cs_param_ptr.precision")?;
        // Colour vectors have no spin basis, so that any value will do.
        let basis = match spins {
            1 => GammaBasis::DeGrandRossi,
            _ => choose::<Basis>(Number::new(param.gammaBasis), "cs_param_ptr.gammaBasis")?.0,
        };
        let layout = Layout { spins, ..Layout::dirac(outside, basis) };
        Ok(Form { session, layout, spins })
    }

    fn load(&self, at: &[*mut c_void], name: &str) -> Result<VectorField> {
        let components = if self.spins == 1 { Components::COLOUR } else { Components::SPINOR };
        let (device, geometry) = (self.session.context.device(), &self.session.geometry);
        let (precision, form) = (self.layout.precision, (components, RhsOrder::Slowest));
        let (subset, n) = (Subset::Full, at.len());
        let mut field = VectorField::with_components(device, geometry, precision, subset, n, form)?;
        field.load_once(&self.layout, &self.session.external(at, name)?)?;
        split(field)
    }
}

fn check_part(found: &[c_int], part: [c_int; 4], name: &str) -> Result<()> {
    if found != part {
        refuse!(
            InvalidArgument,
            "{name}",
            expected("{part:?}, the lattice of this rank"),
            found("{found:?}")
        );
    }
    Ok(())
}

/// gamma5 times each of the sixteen matrices of QUDA's correlators, in their order.
fn matrices() -> Vec<(SpinMatrix, Complex64)> {
    let axis = |mu: usize| [Gamma::X, Gamma::Y, Gamma::Z, Gamma::T][mu].matrix();
    let five = Gamma::FIVE.matrix();
    let one = Complex64::ONE;
    let mut all: Vec<(SpinMatrix, Complex64)> = vec![];
    all.extend((0..4).map(|mu| (five.times(axis(mu)), one)));
    all.extend((0..4).map(|mu| (axis(mu), one)));
    all.extend([(five, one), (SpinMatrix::ONE, one)]);
    for mu in 0..3 {
        // i gamma_mu gamma_nu is (i / 2) [gamma_mu, gamma_nu].
        all.extend((mu + 1..4).map(|nu| (five.times(axis(mu)).times(axis(nu)), Complex64::I)));
    }
    all
}

/// Traces of all sixteen matrices from products [4 (column of x) + spin][4 (column of y) + spin] of `colours` columns a
/// spin.
fn traces(products: &[Complex64], colours: usize) -> Vec<Complex64> {
    let width = 16 * colours;
    let trace = |(m, factor): (SpinMatrix, Complex64)| {
        let mut sum = Complex64::ZERO;
        for a in 0..4 {
            for b in 0..4 {
                // The entries of the matrix that are not zero: row a has its entry in column s2, row b in column s1.
                let (s2, s1) = (m.column[a], m.column[b]);
                let of = |c: usize| {
                    let (x, y) = (s1 * colours + c, b * colours + c);
                    products[(4 * x + a) * width + 4 * y + s2]
                };
                sum += m.entry(a) * m.entry(b) * (0..colours).map(of).sum::<Complex64>();
            }
        }
        factor * factor * sum
    };
    matrices().into_iter().map(trace).collect()
}

/// The plane waves in space, as momenta with their weights, whose sum is the product of these parts in x, y and z.
fn waves(n: [c_int; 3], parts: [FourierPart; 3]) -> Vec<([i32; 3], Complex64)> {
    let mut all = vec![([0; 3], Complex64::ONE)];
    for (i, part) in parts.into_iter().enumerate() {
        let signs: &[(i32, f64)] = match part {
            FourierPart::Whole => &[(1, 1.0)],
            FourierPart::Even => &[(1, 0.5), (-1, 0.5)],
            FourierPart::Odd => &[(1, 0.5), (-1, -0.5)],
        };
        let more = |(momentum, weight): &([i32; 3], Complex64)| {
            let with = |(sign, factor): &(i32, f64)| {
                let mut momentum = *momentum;
                momentum[i] = sign * n[i];
                (momentum, *weight * *factor)
            };
            signs.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(more).collect();
    }
    all
}

/// The Fourier factor in time of momentum number `n`, at a distance of `steps` time slices.
fn in_time(n: c_int, part: FourierPart, steps: i64, extent: usize) -> Complex64 {
    let angle = TAU * (i64::from(n) * steps).rem_euclid(extent as i64) as f64 / extent as f64;
    match part {
        FourierPart::Whole => Complex64::from_polar(1.0, angle),
        FourierPart::Even => angle.cos().into(),
        FourierPart::Odd => Complex64::new(0.0, angle.sin()),
    }
}

#[allow(clippy::too_many_arguments)]
fn contract(
    x: &List,
    y: &List,
    result: &List,
    kind: Contraction,
    param: *mut c_void,
    src_colors: c_int,
    X: &Array<c_int>,
    source_position: &Array<c_int>,
    n_mom: c_int,
    mom_modes: &Array<c_int>,
    fft_type: *const QudaFFTSymmType,
) -> Result<()> {
    let session = session::get()?;
    let param = param_of(param)?;
    let at_least_one = |n: c_int, name: &str| match usize::try_from(n) {
        Ok(n) if (1..=1 << 16).contains(&n) => Ok(n),
        _ => refuse!(InvalidArgument, "{name}", expected("1 to 65536"), found("{n}")),
    };
    let (colours, momenta) =
        (at_least_one(src_colors, "src_colors")?, at_least_one(n_mom, "n_mom")?);
    let spins = if kind == Contraction::Staggered { 1 } else { 4 };
    let form = Form::new(&session, &param, spins)?;
    check_part(&X.own(4), session.geometry.extents().map(|l| l as c_int), "X")?;
    let whole = session.geometry.global_extents();
    let source = source_position.own(4);
    if source.iter().zip(whole).any(|(x, l)| !(0..l as c_int).contains(x)) {
        refuse!(
            InvalidArgument,
            "source_position",
            expected("a site of the lattice {whole:?}"),
            found("{source:?}")
        );
    }
    let modes = mom_modes.own(4 * momenta);
    if let Some(n) = modes.iter().find(|n| n.unsigned_abs() > 1 << 15) {
        refuse!(InvalidArgument, "mom_modes", expected("at most 32768 each"), found("{n}"));
    }
    let mut parts = vec![FourierPart::Whole; 4 * momenta];
    if spins == 1 {
        if fft_type.is_null() {
            refuse!(NullPointer, "fft_type", expected("a pointer"), found("NULL"));
        }
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: the host's array of four numbers for each momentum, as the header asks.
            let number = unsafe { fft_type.add(i).read_unaligned() };
            *part = choose(number, "fft_type")?;
        }
    }
    let columns = spins * colours;
    let into = result.get(1, "result")?[0];
    if session.context.device().location_of(into as u64)? != Location::Host {
        refuse!(
            Unsupported,
            "result",
            expected("an array of the host"),
            found("one of the device")
        );
    }
    let left = form.load(&x.get(columns, "x")?, "x")?;
    let right = form.load(&y.get(columns, "y")?, "y")?;
    // Products of one momentum by time slice, all matrices.
    let by_time = |n: [i32; 3]| -> Result<Vec<Vec<Complex64>>> {
        let found = wave_products(&left, &right, n)?;
        let width = columns * spins;
        let of = |slice: &[Complex64]| match spins {
            1 => vec![(0..width).map(|k| slice[k * width + k]).sum()],
            _ => traces(slice, colours),
        };
        // Phases count from the source's position.
        let back: f64 =
            (0..3).map(|i| f64::from(n[i]) * f64::from(source[i]) / whole[i] as f64).sum();
        let phase = Complex64::from_polar(1.0, -TAU * back);
        let slices = found.chunks(width * width).map(of);
        Ok(slices.map(|all| all.into_iter().map(|z| phase * z).collect()).collect())
    };
    let matrices = spins * spins;
    let slices = if kind == Contraction::InSpace { whole[2] } else { whole[3] };
    let mut all: Vec<Complex64> = vec![];
    for (n, parts) in modes.chunks(4).zip(parts.chunks(4)) {
        let time = |t: usize| in_time(n[3], parts[3], t as i64 - i64::from(source[3]), whole[3]);
        let mut found = vec![Complex64::ZERO; slices * matrices];
        let mut add = |slice: usize, weight: Complex64, values: &[Complex64]| {
            let row = &mut found[slice * matrices..][..matrices];
            row.iter_mut().zip(values).for_each(|(sum, z)| *sum += weight * z);
        };
        match kind {
            // The sums with all momenta in z together determine the sum of each slice in z.
            Contraction::InSpace => {
                let extent = whole[2];
                for k in 0..extent {
                    for (t, values) in by_time([n[0], n[1], k as i32])?.iter().enumerate() {
                        for z in 0..extent {
                            let steps = z as i64 - i64::from(source[2]);
                            let turn =
                                in_time(n[2] - k as c_int, FourierPart::Whole, steps, extent);
                            add(z, time(t) * turn / extent as f64, values);
                        }
                    }
                }
            }
            _ => {
                for (momentum, weight) in waves([n[0], n[1], n[2]], [parts[0], parts[1], parts[2]])
                {
                    for (t, values) in by_time(momentum)?.iter().enumerate() {
                        add(t, weight * time(t), values);
                    }
                }
            }
        }
        all.extend(found);
    }
    for (i, z) in all.into_iter().enumerate() {
        // SAFETY: the host's array with room for so many complex doubles, as the header asks.
        unsafe {
            let at = into.cast::<Complex64>().add(i);
            at.write_unaligned(at.read_unaligned() + z);
        }
    }
    Ok(())
}
