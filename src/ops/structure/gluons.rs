//! Gluon operators: pairs of field strengths connected by adjoint Wilson lines.

use std::sync::Arc;

use num_complex::Complex64;

use super::lines::{check_path, displacement};
use super::waves::{Slices, Wave, Waves};
use crate::backend::args::{FieldStrengthTimesArgs, SpinPairArgs};
use crate::backend::kernels;
use crate::error::Result;
use crate::fields::{Components, GaugeField, Group, Precision, Recon, SpinorField, Subset};
use crate::linop::{LinOp, Shape};
use crate::operators::CovariantShift;
use crate::ops::paths::LONGEST;
use crate::ops::source::check_momentum;
use crate::refuse;

/// Number of planes, in the order xy, xz, yz, xt, yt, zt.
pub const PLANES: usize = 6;

/// Computes the sums over x of exp(-i p x) tr[F_a(x) W F_b(x + d) W^dagger], where W is the product of links along
/// the first n steps of `path`, from x to x + d (0 to 3: forward in x, y, z, t; 7 - mu: back in mu), and F = (Q -
/// Q^dagger) / 8 is the sum of the four clover leaves without its trace, antihermitian. The result is
/// [n][a][b][momentum][t] for n from 0 to the length of the path, p_i = 2 pi n_i / L_i, and t and x count from the
/// lattice's origin.
///
/// A column for each colour k, F_a e_k, and one of unit vectors e_k are parallel transported along the path, one
/// shift for each step: the trace is minus the sum over k of <W^dagger F_a e_k, F_b W^dagger e_k>, with the planes in
/// the place of spins.
///
/// # Errors
/// `Unsupported`: SU(2); `InvalidArgument`: a path that is too long or has other steps, or momenta out of range;
/// `OutOfMemory`.
pub fn gluon_pairs(
    gauge: &Arc<GaugeField>,
    path: &[u8],
    momenta: &[[i32; 3]],
) -> Result<Vec<Complex64>> {
    if gauge.group() != Group::Su3 {
        refuse!(Unsupported, "gauge", expected("SU(3) links"), found("{}", gauge.recon()));
    }
    gauge.geometry().periodic_in_time("pairs of field strengths")?;
    if path.len() > LONGEST || path.iter().any(|step| *step > 7) {
        refuse!(
            InvalidArgument,
            "steps",
            expected("{LONGEST} steps 0 to 7 at most"),
            found("{path:?}")
        );
    }
    check_path(path, gauge.geometry().global_extents())?;
    momenta.iter().try_for_each(|&[x, y, z]| check_momentum([x, y, z, 0]))?;
    let recon = if gauge.recon() == Recon::R18 { Recon::R18 } else { Recon::R12 };
    let precision = gauge.precision().max(Precision::F32);
    let links = match (gauge.precision(), gauge.recon()) == (precision, recon) {
        true => gauge.clone(),
        false => gauge.shared_copy(precision, recon)?,
    };
    let back: Vec<[i32; 3]> = momenta.iter().map(|p| p.map(|n| -n)).collect();
    let mut fields = Fields::new(&links)?;
    let waves = Waves::new(&fields.first[0], &back)?;
    let (times, count) = (links.geometry().global_extents()[3], momenta.len());
    let mut out = vec![];
    for n in 0..=path.len() {
        if n > 0 {
            fields.transport_step(path[n - 1])?;
        }
        let end = displacement(&path[..n]);
        let phases: Vec<Complex64> =
            momenta.iter().map(|p| phase(&links.geometry().global_extents(), p, &end)).collect();
        let found = fields.products(&waves)?;
        for (a, b) in (0..PLANES).flat_map(|a| (0..PLANES).map(move |b| (a, b))) {
            let slices = &found[a / 3][b / 3];
            for p in 0..count {
                for t in 0..times {
                    // The sums are over the site x + d of the second field strength, where d = `end`.
                    let y = (t as i64 + i64::from(end[3])).rem_euclid(times as i64) as usize;
                    out.push(-phases[p] * slices[p][y][4 * (b % 3) + a % 3]);
                }
            }
        }
    }
    Ok(out)
}

/// The phase exp(i p d) for the displacement d = `end`.
fn phase(extents: &[usize; 4], p: &[i32; 3], end: &[i32; 4]) -> Complex64 {
    let turn = |i: usize| {
        let l = extents[i] as i64;
        (i64::from(p[i]) * i64::from(end[i])).rem_euclid(l) as f64 / l as f64
    };
    Complex64::from_polar(1.0, std::f64::consts::TAU * (turn(0) + turn(1) + turn(2)))
}

struct Fields {
    links: Arc<GaugeField>,
    /// Unit vectors of colour, parallel transported along the path.
    unit: SpinorField,
    /// Field strengths at the start of the path, magnetic and electric (planes in space and planes with t), times unit
    /// vectors of colour, parallel transported along the path.
    first: [SpinorField; 2],
    /// Field strengths at the end of the path, magnetic and electric, times the parallel transported unit vectors of
    /// colour.
    second: [SpinorField; 2],
}

impl Fields {
    fn new(links: &Arc<GaugeField>) -> Result<Self> {
        let shape = |components| Shape {
            device: links.device().clone(),
            geometry: links.geometry().clone(),
            precision: links.precision(),
            subset: Subset::Full,
            components,
            order: crate::fields::RhsOrder::Slowest,
        };
        let spinors = || shape(Components::SPINOR).field(3);
        let mut made = Fields {
            links: links.clone(),
            unit: shape(Components::COLOUR).field(3)?,
            first: [spinors()?, spinors()?],
            second: [spinors()?, spinors()?],
        };
        for electric in 0..2 {
            let (links, unit) = (&made.links, &mut made.unit);
            times_field_strength(links, unit, &mut made.first[electric], electric, true)?;
        }
        Ok(made)
    }

    /// Parallel transports all fields by one step of the path.
    fn transport_step(&mut self, step: u8) -> Result<()> {
        // A shift gives each site the value of a neighbour. The value at the end of a step comes from its beginning, so
        // that the shift goes opposite to the step.
        let shift = |of| CovariantShift::new(self.links.clone(), of, vec![7 - step]);
        let (colours, spinors) = (shift(Components::COLOUR)?, shift(Components::SPINOR)?);
        let mut next = self.unit.like(self.unit.precision())?;
        colours.apply(&mut next, &self.unit)?;
        self.unit = next;
        for (now, next) in self.first.iter_mut().zip(&mut self.second) {
            spinors.apply(next, now)?;
            std::mem::swap(now, next);
        }
        Ok(())
    }

    /// Products of field strengths of `first` and `second` for all pairs of planes, by momentum and time.
    fn products(&mut self, waves: &Waves) -> Result<Vec<Vec<Slices>>> {
        for electric in 0..2 {
            let second = &mut self.second[electric];
            times_field_strength(&self.links, &mut self.unit, second, electric, false)?;
        }
        let mut found = vec![];
        for back in &self.first {
            let mut row = vec![];
            for forward in &self.second {
                let args = SpinPairArgs {
                    geom: forward.geometry().args(),
                    forward: forward.view(),
                    back: back.view(),
                    columns: 3,
                    ..Default::default()
                };
                let kernel = kernels::SpinPairs::of(forward.precision())?;
                row.push(waves.sum(forward, Wave::from([0; 4]), |matrices, slice, work| {
                    let args = SpinPairArgs { matrices, slice, ..args };
                    forward.device().launch(kernel, &args, work)
                })?);
            }
            found.push(row);
        }
        Ok(found)
    }
}

/// Sets spins 0 to 2 of the columns of `out` to the field strengths of three planes times the columns of `vectors`;
/// with `begin`, `vectors` are first set to unit vectors.
fn times_field_strength(
    links: &GaugeField,
    vectors: &mut SpinorField,
    out: &mut SpinorField,
    electric: usize,
    begin: bool,
) -> Result<()> {
    let args = FieldStrengthTimesArgs {
        geom: links.geometry().args(),
        bounds: links.geometry().bounds(),
        gauge: links.view(),
        vectors: vectors.view(),
        out: out.view(),
        electric: electric as i32,
        begin: i32::from(begin),
    };
    let kernel = kernels::FieldStrengthTimes::of(links.precision(), links.recon())?;
    links.device().launch(kernel, &args, links.geometry().work(2))
}
