//! The search for modes. All time slices are searched together on the device; if its memory does not suffice, groups
//! of slices are searched one after the other, each on a lattice of these slices alone, and the host holds the
//! results.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use num_complex::Complex64;

use super::vectors::{colour_vectors, portions};
use crate::backend::{Device, External};
use crate::error::{host_array, Result};
use crate::fields::time_slices::{combine, dots, Combination};
use crate::fields::{
    Components, GaugeField, Geometry, Layout, LinkOptions, Precision, Recon, VectorField, VectorSet,
};
use crate::linop::{LinOp, Shape};
use crate::operators::Laplace;
use crate::ops::smearing::SPACE;
use crate::solvers::{
    slice_modes, slice_modes_memory, EigenParams, EigenReport, Monitor, Progress, VectorMemory,
};

/// Memory of a rank for the search of modes, and for the modes found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModesMemory {
    /// Bytes of device memory of the search, besides the links of the lattice.
    pub search: u64,
    /// Bytes of device memory that the modes take.
    pub device: u64,
    /// Bytes of the host's memory that the modes take.
    pub host: u64,
    /// Number of time slices of this rank that are searched at a time.
    pub slices: usize,
}

impl ModesMemory {
    /// The memory for a search of `count` modes and for these, which are stored as `vectors` asks for or, if automatic,
    /// as memory allows; the same on all ranks. `links`: bytes of the Laplacian's links on the whole lattice; `made`:
    /// these exist already, else they are counted with the search.
    ///
    /// # Errors
    /// `OutOfMemory`: not even two slices fit on the device, or modes that are to stay on the device do not fit.
    pub fn of(
        shape: &Shape,
        (links, made): (&dyn Fn(&Geometry) -> u64, bool),
        count: usize,
        vectors: VectorMemory,
    ) -> Result<Self> {
        let (geometry, device) = (&shape.geometry, &shape.device);
        let (comm, all) = (geometry.comm(), geometry.extents()[3]);
        let own = if made { 0 } else { links(geometry) };
        let need = |slices: usize| -> Result<u64> {
            if slices == all {
                return Ok(own + slice_modes_memory(shape, count));
            }
            let part = part_geometry(geometry, device, slices)?;
            let bytes = links(&part);
            Ok(own + bytes + slice_modes_memory(&Shape { geometry: part, ..shape.clone() }, count))
        };
        let free = comm.agree(device.memory())?.0;
        let mut mine = all;
        while vectors != VectorMemory::Device && mine > 2 {
            // A part of the free memory is left for other fields.
            let available = if mine == all { free } else { free - free / 32 };
            if need(mine)? <= available {
                break;
            }
            mine -= 2;
        }
        let mut fewest = [-(mine as f64)];
        comm.max(&mut fewest)?;
        let slices = -fewest[0] as usize;
        let search = need(slices)?;
        geometry.require(device, search, "the search for modes of time slices")?;
        let modes = shape.bytes(count);
        let resident =
            vectors == VectorMemory::Device || (vectors == VectorMemory::Auto && slices == all);
        let here = match vectors {
            _ if resident => modes,
            VectorMemory::Host => shape.bytes(1),
            _ => {
                let left = free.saturating_sub(own);
                (left - left / 4).clamp(shape.bytes(1), modes)
            }
        };
        Ok(ModesMemory { search, device: here, host: modes - here, slices })
    }
}

/// Bytes of device memory of the Laplacian's links on a lattice, with their copy in single precision if `mixed`.
pub(super) fn bytes_of(like: &GaugeField, geometry: &Geometry, recon: Recon, mixed: bool) -> u64 {
    let bytes = |precision| GaugeField::bytes(geometry, precision, recon) as u64;
    let precision = like.precision();
    let copy = mixed && precision == Precision::F64;
    bytes(precision) + if copy { bytes(Precision::F32) } else { 0 }
}

/// The lattice on which `slices` time slices of each rank are searched at a time.
fn part_geometry(geometry: &Geometry, device: &Device, slices: usize) -> Result<Arc<Geometry>> {
    let (here, [x, y, z, times]) = (geometry.extents()[3], geometry.global_extents());
    Geometry::decomposed([x, y, z, times / here * slices], device, geometry.comm())
}

/// The operator -D^2 in space.
pub(super) fn laplacian(links: &Arc<GaugeField>) -> Result<Laplace> {
    Laplace::massive(links.clone(), Components::COLOUR, SPACE, 0.0)
}

/// Multiplies the vectors of every slice by phases, so that colour 0 at site 0, 0, 0 is real and positive, or the
/// first colour there that is not almost zero.
fn fix_phases(v: &mut VectorField) -> Result<()> {
    let geometry = v.geometry().clone();
    let times = geometry.global_extents()[3];
    let unknowns = 3 * geometry.global_volume() / times;
    let comm = geometry.comm();
    let layout = Layout::lexicographic_colour(Precision::F64);
    let ([x, y, z, t], origin) = (geometry.extents(), geometry.origin());
    let n = v.nrhs();
    let mut numbers = vec![[Complex64::ZERO; 3]; n * times];
    for colour in 0..3 {
        let ones = host_array(6 * geometry.volume(), 0.0f64, "a vector on the host");
        let mut ones = comm.agree(ones)?;
        if origin[..3] == [0; 3] {
            (0..t).for_each(|t| ones[6 * t * x * y * z + 2 * colour] = 1.0);
        }
        let mut unit = colour_vectors(v, 1)?;
        unit.load(&layout, &External::read(&[&ones[..]]), false)?;
        for (k, z) in dots(&unit, v)?.into_iter().enumerate() {
            numbers[k][colour] = z;
        }
    }
    let least = 1e-6 / (unknowns as f64).sqrt();
    let less_one = |z: &[Complex64; 3]| {
        let first = z.iter().find(|z| z.norm() > least);
        first.map_or(Complex64::ZERO, |z| z.conj() / z.norm() - 1.0)
    };
    let turn: Vec<Complex64> = numbers.iter().map(less_one).collect();
    let mut turned = v.like(v.precision())?;
    turned.copy_rhs(0, v, 0, n)?;
    combine(&mut turned, v, &turn, Combination::AddDiagonal)?;
    *v = turned;
    Ok(())
}

/// An array in the host's memory for this number of reals, in words of 64 bits.
fn numbers(reals: usize, precision: Precision) -> Result<Vec<u64>> {
    host_array(reals * precision.bytes() / size_of::<u64>(), 0, "modes on the host")
}

/// Searches for the lowest modes of the Laplacian with these links, and fixes their phases; they are stored where
/// `vectors` says.
///
/// # Errors
/// Errors of [`ModesMemory::of`] and [`slice_modes`].
pub(super) fn search(
    links: &Arc<GaugeField>,
    params: &EigenParams,
    mixed: bool,
    monitor: &mut Monitor,
) -> Result<(VectorSet, EigenReport)> {
    let op = laplacian(links)?;
    let shape = op.shape();
    let (count, vectors) = (params.count, params.vectors);
    let bytes = |geometry: &Geometry| bytes_of(links, geometry, links.recon(), mixed);
    let memory = ModesMemory::of(&shape, (&bytes, true), count, vectors)?;
    if memory.slices < shape.geometry.extents()[3] {
        log::info!(
            "modes: {} time slices at a time fit on {}, {:.2} GB of {:.2} GB of modes wait on the host",
            memory.slices,
            shape.device.name(),
            memory.host as f64 * 1e-9,
            (memory.host + memory.device) as f64 * 1e-9
        );
        return by_parts(links, (params, mixed), memory.slices, monitor);
    }
    let (v, report) = of_links(links, params, mixed, monitor)?;
    if vectors != VectorMemory::Host {
        return Ok((v.into(), report));
    }
    let mut set = VectorSet::new(shape.field(1)?, count - 1);
    set.put(0, &v, 0, count)?;
    Ok((set, report))
}

/// Searches for the modes of all slices of these links together.
fn of_links(
    links: &Arc<GaugeField>,
    params: &EigenParams,
    mixed: bool,
    monitor: &mut Monitor,
) -> Result<(VectorField, EigenReport)> {
    let single = match mixed && links.precision() == Precision::F64 {
        true => Some(laplacian(&Arc::new(links.to(Precision::F32, links.recon())?))?),
        false => None,
    };
    let rough = single.as_ref().map(|op| op as &dyn LinOp);
    let (mut v, report) = slice_modes(&laplacian(links)?, rough, params, monitor)?;
    for (first, n) in portions(v.nrhs()) {
        let mut some = v.columns(first, n)?;
        fix_phases(&mut some)?;
        v.copy_rhs(first, &some, 0, n)?;
    }
    Ok((v, report))
}

/// Searches for the modes of `slices` time slices of each rank at a time.
fn by_parts(
    links: &Arc<GaugeField>,
    (params, mixed): (&EigenParams, bool),
    slices: usize,
    monitor: &mut Monitor,
) -> Result<(VectorSet, EigenReport)> {
    let (start, geometry, precision) = (Instant::now(), links.geometry(), links.precision());
    let comm = geometry.comm();
    let (all, count) = (geometry.extents()[3], params.count);
    let sites = geometry.volume() / all;
    let layout = Layout::lexicographic_colour(precision);
    let mut kept = (0..count)
        .map(|_| comm.agree(numbers(6 * sites * all, precision)))
        .collect::<Result<Vec<_>>>()?;
    let times = geometry.global_extents()[3];
    let mut total = EigenReport {
        converged: true,
        verified: true,
        count,
        values: vec![0.0; times * count],
        residuals: vec![0.0; times * count],
        bounds: vec![0.0; times * count],
        beyond: vec![0.0; times],
        least: f64::INFINITY,
        ..EigenReport::default()
    };
    let mut all_links = comm.agree(numbers(72 * geometry.volume(), precision))?;
    let order = Layout::lexicographic(precision);
    links.save(&order, &mut External::write(vec![&mut all_links[..]]))?;
    let (mut stopped, mut before, mut work) = (false, 0, 0.0);
    for first in (0..all).step_by(slices) {
        let n = slices.min(all - first);
        let part = part_of(links, &all_links, first, n)?;
        let mut told = |p: &Progress| {
            let (iteration, seconds) = (before + p.iteration, start.elapsed().as_secs_f64());
            stopped |= monitor(&Progress { iteration, seconds, ..*p }).is_break();
            if stopped {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let left = (params.max_seconds - start.elapsed().as_secs_f64()).max(0.0);
        let params = EigenParams { max_seconds: left, ..params.clone() };
        let (v, report) = of_links(&part, &params, mixed, &mut told)?;
        drop(part);
        let mut one = comm.agree(numbers(6 * sites * n, precision))?;
        for (k, kept) in kept.iter_mut().enumerate() {
            v.columns(k, 1)?.save(&layout, &mut External::write(vec![&mut one[..]]))?;
            let at = first * one.len() / n;
            kept[at..at + one.len()].copy_from_slice(&one);
        }
        before += report.restarts;
        work += (report.applications as usize * n) as f64 / all as f64;
        // Copies results of all ranks: time slice t of the part is slice `first` + t mod n of rank t / n, where each
        // rank has n slices in the part.
        for t in 0..n * times / all {
            let whole = t / n * all + first + t % n;
            let copy = |to: &mut [f64], from: &[f64]| {
                let each = from.len() * all / (n * times);
                to[whole * each..][..each].copy_from_slice(&from[t * each..][..each]);
            };
            copy(&mut total.values, &report.values);
            copy(&mut total.residuals, &report.residuals);
            copy(&mut total.bounds, &report.bounds);
            copy(&mut total.beyond, &report.beyond);
        }
        total = EigenReport {
            converged: total.converged && report.converged,
            verified: total.verified && report.verified,
            stopped: total.stopped || report.stopped,
            stopped_by: total.stopped_by.max(report.stopped_by),
            least: total.least.min(report.least),
            largest: total.largest.max(report.largest),
            restarts: total.restarts.max(report.restarts),
            degree: report.degree,
            from: report.from,
            to: report.to,
            ..total
        };
    }
    drop(all_links);
    total.applications = work.ceil() as u64;
    let mut one = laplacian(links)?.shape().field(1)?;
    let mut set = match params.vectors {
        VectorMemory::Host => VectorSet::new(one.like(precision)?, count - 1),
        _ => VectorSet::fitting(&one, count)?,
    };
    for (k, kept) in kept.iter_mut().enumerate() {
        one.load_once(&layout, &External::read(&[&kept[..]]))?;
        set.put(k, &one, 0, 1)?;
        *kept = vec![];
    }
    total.seconds = start.elapsed().as_secs_f64();
    Ok((set, total))
}

/// The links of `slices` time slices of each rank, from slice `first` of the rank on, as a lattice; `all`: the links
/// of this rank in lexicographic order.
fn part_of(
    links: &GaugeField,
    all: &[u64],
    first: usize,
    slices: usize,
) -> Result<Arc<GaugeField>> {
    let (geometry, device) = (links.geometry(), links.device());
    let each = all.len() / geometry.extents()[3];
    let some = &all[first * each..(first + slices) * each];
    let part = part_geometry(geometry, device, slices)?;
    let form = (links.precision(), links.recon());
    let (layout, from) = (Layout::lexicographic(links.precision()), External::read(&[some]));
    let options = LinkOptions::UNCHECKED;
    Ok(Arc::new(GaugeField::from_external(device, &part, form, &layout, &from, options)?))
}
