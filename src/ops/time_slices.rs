//! Energy and topological charge of links on every time slice.

use super::observables::{field_strength_sites, plaquette_sites};
use crate::error::Result;
use crate::fields::{GaugeField, Geometry};
use crate::refuse;

/// Energy and charge, summed over each time slice of the whole lattice. Divided by the spatial volume they are
/// densities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSlices {
    /// Energy of every time slice from plaquettes, E = 2 sum over plaquettes of Re tr (1 - P): plaquettes in the slice,
    /// with weight 1/2 if the slice is a boundary in time, and half of the plaquettes between the slice and its two
    /// neighbours.
    pub plaquette: Vec<f64>,
    /// Energy of every time slice from clover leaves, E = 1/2 sum_munu tr F_munu F_munu, F without its trace (Luescher,
    /// JHEP 08 (2010) 071, Eq. (2.1)); 0 on boundaries in time.
    pub clover: Vec<f64>,
    /// Topological charge of every time slice, from the field strength of which `clover` is the energy.
    pub charge: Vec<f64>,
}

/// Sums `N` numbers for each of this rank's sites over time slices and ranks.
fn over_slices<const N: usize>(geometry: &Geometry, sites: &[f64]) -> Result<Vec<[f64; N]>> {
    let (extents, first) = (geometry.extents(), geometry.origin()[3]);
    let mut sums = vec![0.0; N * geometry.global_extents()[3]];
    let slice = N * extents[..3].iter().product::<usize>();
    for (t, here) in sites.chunks_exact(slice).enumerate() {
        let to = &mut sums[N * (first + t)..][..N];
        for site in here.chunks_exact(N) {
            to.iter_mut().zip(site).for_each(|(sum, v)| *sum += v);
        }
    }
    geometry.comm().sum(&mut sums)?;
    Ok(sums.chunks_exact(N).map(|s| std::array::from_fn(|k| s[k])).collect())
}

/// Computes energy and charge of every time slice. All ranks call this and get all slices.
///
/// # Errors
/// `Unsupported`: links of SU(2); `OutOfMemory`.
pub fn time_slices(gauge: &GaugeField) -> Result<TimeSlices> {
    let colours = gauge.group().colours();
    if colours != 3 {
        refuse!(Unsupported, "time slices", expected("SU(3) links"), found("SU(2)"));
    }
    let geometry = gauge.geometry();
    let (boundary, slices) = (geometry.boundary(), geometry.global_extents()[3]);
    let planes = (9 * geometry.global_volume() / slices) as f64;
    let traces = over_slices::<2>(geometry, &plaquette_sites(gauge)?)?;
    let between = |t: usize| match boundary.lacks_links() && t + 1 == slices {
        true => 0.0,
        false => 2.0 * (planes - traces[t][1]),
    };
    let energy = |t: usize| {
        let weight = if boundary.vanishes(t, slices) { 0.5 } else { 1.0 };
        let before = match t {
            0 if !boundary.is_periodic() => 0.0,
            _ => between((t + slices - 1) % slices),
        };
        weight * 2.0 * (planes - traces[t][0]) + 0.5 * (before + between(t))
    };
    let plaquette = (0..slices).map(energy).collect();
    let fields = over_slices::<6>(geometry, &field_strength_sites(gauge)?)?;
    let clover = fields.iter().map(|f| f[1] + f[2]).collect();
    Ok(TimeSlices { plaquette, clover, charge: fields.iter().map(|f| f[0]).collect() })
}
