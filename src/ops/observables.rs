//! Gauge observables of SU(3) and SU(2) fields in any storage. They are computed from periodic links; boundary phases
//! belong to fermions and have no effect here (physics.md).

use num_complex::Complex64;

use crate::backend::args::ObservableArgs;
use crate::backend::families::Sums;
use crate::backend::{kernels, Ptr, Work};
use crate::comm::Comm;
use crate::error::{host_array, Result};
use crate::fields::{GaugeField, Geometry, Group};
use crate::params::reports;
use crate::refuse;

reports! {
    /// Average plaquettes Re tr U_munu / N: 1 for unit links. With boundaries in time the average is over plaquettes
    /// that exist, spatial ones of a boundary slice with weight 1/2, as in openQCD's logs; those of fixed links are
    /// included.
    #[derive(Copy)]
    pub part Plaquette: plaq_plaquette {
        /// Average over all six planes.
        total: f64;
        /// Average over the planes xy, xz, yz.
        spatial: f64;
        /// Average over the planes xt, yt, zt.
        temporal: f64;
        /// Average Re tr U / N of the links themselves.
        link_trace: f64;
    } besides {
        /// The sum of all plaquettes with weight 1, divided by 6 N V, as in headers of openQCD's files; it
        /// includes those of the slice behind the last stored one. For periodic links it equals `total`.
        unweighted: f64;
    }
    /// The largest violation of unitarity over all links.
    #[derive(Copy)]
    pub part Unitarity: plaq_unitarity {
        /// Largest modulus of an entry of U U^dagger - 1; infinite where a link is not finite.
        unitary: f64;
        /// Largest |det U - 1| of a link.
        det: f64;
        /// Coordinates x, y, z, t of the link with the largest violation.
        site: [usize; 4];
        /// Direction of the link with the largest violation, 0 to 3.
        direction: usize;
    }
    /// Averages of the clover-leaf field strength.
    #[derive(Copy)]
    pub part FieldStrength: plaq_topology {
        /// Topological charge 1/(32 pi^2) sum eps_mnrs tr F_mn F_rs, eps_xyzt = 1, F hermitian: near an integer on
        /// smooth fields.
        charge: f64;
        /// Average per site of 1/2 sum tr F F over the planes xy, xz and yz (Luescher, JHEP 08 (2010) 071, Eq. (2.1)).
        energy_spatial: f64;
        /// Average per site of 1/2 sum tr F F over the planes xt, yt and zt.
        energy_temporal: f64;
    }
}

impl Unitarity {
    pub fn worst(&self) -> f64 {
        self.unitary.max(self.det)
    }
}

/// Computes average plaquettes and link trace, with sums in double precision.
pub fn plaquette(gauge: &GaugeField) -> Result<Plaquette> {
    let [spatial, temporal, links, bounded] =
        sums(gauge, kernels::PlaquetteSum(gauge.precision(), gauge.recon()), Ptr::default())?;
    let (geometry, colours) = (gauge.geometry(), gauge.group().colours() as f64);
    let (boundary, slices) = (geometry.boundary(), geometry.global_extents()[3]);
    let volume = geometry.global_volume() as f64;
    let space = volume / slices as f64;
    // On the slice of the upper boundary, which is not stored, links are fixed and diagonal, and spatial plaquettes are
    // 1.
    let behind = match boundary.phi_prime() {
        Some(_) => 3.0 * colours * space,
        None => 0.0,
    };
    let norm = colours * space * boundary.extent(slices) as f64;
    let weighted = spatial - 0.5 * bounded + 0.5 * behind;
    let active = volume - if boundary.lacks_links() { space / 4.0 } else { 0.0 };
    Ok(Plaquette {
        total: (weighted + temporal) / (6.0 * norm),
        spatial: weighted / (3.0 * norm),
        temporal: temporal / (3.0 * norm),
        link_trace: links / (4.0 * colours * active),
        unweighted: (spatial + temporal + behind) / (6.0 * colours * volume),
    })
}

/// Real and imaginary part of a weighted sum over all entries of all links, over the root of the volume: of order one,
/// and another number for other links, translated, conjugate and gauge-transformed ones included.
pub fn projection(gauge: &GaugeField) -> Result<[f64; 2]> {
    let kernel = kernels::LinksProjection(gauge.precision(), gauge.recon());
    let found: [f64; 2] = sums(gauge, kernel, Ptr::default())?;
    let root = (gauge.geometry().global_volume() as f64).sqrt();
    Ok(found.map(|x| x / root))
}

/// Average over the lattice of tr prod U_mu / N along the closed lines in `direction` (3: time).
///
/// The links are periodic, so this is the plain trace; QUDA's `qudaPolyakovLoopPhased` returns
/// minus the loop of the phased (antiperiodic) links, which is the same number.
pub fn polyakov_loop(gauge: &GaugeField, direction: usize) -> Result<Complex64> {
    if direction == 3 {
        gauge.geometry().periodic_in_time("Polyakov loop")?;
    }
    if direction > 3 {
        refuse!(InvalidArgument, "direction", expected("0 to 3"), found("{direction}"));
    }
    let (geometry, colours) = (gauge.geometry(), gauge.group().colours());
    let lines = geometry.volume() / geometry.extents()[direction];
    let mut products = vec![Complex64::ZERO; lines * colours * colours];
    gauge.with_whole(|u| {
        let buffer = u.device().alloc(16 * products.len())?;
        let args = ObservableArgs {
            geom: geometry.args(),
            bounds: geometry.bounds(),
            gauge: u.view(),
            direction: direction as i32,
            out: buffer.ptr(),
        };
        let lanes = geometry.lanes();
        let work = Work { n: lines.div_ceil(lanes), batches: 1, lanes };
        u.device().launch(kernels::Lines::of(u.precision(), u.recon())?, &args, work)?;
        buffer.download(bytemuck::cast_slice_mut(&mut products))
    })?;
    close_lines(geometry, direction, colours, &mut products)?;
    // All ranks along a line have its trace; only the first of them adds it to the sum.
    let counts = geometry.comm().coords()[direction] == 0;
    let mut sum = [0.0; 2];
    for line in products.chunks_exact(colours * colours).filter(|_| counts) {
        let trace: Complex64 = line.iter().step_by(colours + 1).sum();
        (sum[0], sum[1]) = (sum[0] + trace.re, sum[1] + trace.im);
    }
    geometry.comm().sum(&mut sum)?;
    let all = geometry.global_volume() / geometry.global_extents()[direction];
    Ok(Complex64::new(sum[0], sum[1]) / (colours * all) as f64)
}

/// Multiplies this rank's parts of the lines by those of the ranks that follow in this direction.
fn close_lines(
    geometry: &Geometry,
    direction: usize,
    n: usize,
    products: &mut [Complex64],
) -> Result<()> {
    let comm = geometry.comm();
    let mut ahead = products.to_vec();
    for _ in 1..comm.grid()[direction] {
        ahead = comm.shift(direction, &ahead)?;
        for (line, next) in products.chunks_exact_mut(n * n).zip(ahead.chunks_exact(n * n)) {
            let old = line.to_vec();
            for (k, entry) in line.iter_mut().enumerate() {
                *entry = (0..n).map(|j| old[k / n * n + j] * next[j * n + k % n]).sum();
            }
        }
    }
    Ok(())
}

/// Wilson action beta sum_{x, mu<nu} (1 - Re tr U_munu / N).
pub fn wilson_action(gauge: &GaugeField, beta: f64) -> Result<f64> {
    gauge.geometry().periodic_in_time("Wilson action")?;
    Ok(beta * 6.0 * gauge.geometry().global_volume() as f64 * (1.0 - plaquette(gauge)?.total))
}

/// Topological charge and action density of an SU(3) field, from the traceless field strength F.
pub fn field_strength(gauge: &GaugeField) -> Result<FieldStrength> {
    Ok(field_strengths(gauge)?[0])
}

/// Topological charge and action density of an SU(3) field, from a field strength that keeps the trace of the clover
/// leaves, as in the quarks' clover term and in QUDA's charge; the difference is of higher order in the lattice
/// spacing.
pub fn field_strength_with_trace(gauge: &GaugeField) -> Result<FieldStrength> {
    Ok(field_strengths(gauge)?[1])
}

/// Topological charge density q(x), whose sum over the lattice is the charge, on this rank's sites in lexicographic
/// order, x fastest; with `trace` the field strength keeps its trace.
pub fn charge_density(gauge: &GaugeField, trace: bool) -> Result<Vec<f64>> {
    let sites = field_strength_sites(gauge)?;
    Ok(sites.into_iter().skip(if trace { 3 } else { 0 }).step_by(6).collect())
}

/// Calls `measure` with the address of an array of `numbers` doubles for each of this rank's sites, and returns its
/// contents.
fn of_sites(
    gauge: &GaugeField,
    numbers: usize,
    measure: impl FnOnce(Ptr) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut sites = host_array(numbers * gauge.geometry().volume(), 0.0, "numbers of every site")?;
    let buffer = gauge.device().alloc(8 * sites.len())?;
    measure(buffer.ptr())?;
    buffer.download(bytemuck::cast_slice_mut(&mut sites))?;
    Ok(sites)
}

/// For each of this rank's sites, in lexicographic order, two numbers: the sums of Re tr of the spatial plaquettes
/// that start there, and of the temporal ones.
pub(super) fn plaquette_sites(gauge: &GaugeField) -> Result<Vec<f64>> {
    of_sites(gauge, 2, |out| {
        let kernel = kernels::PlaquetteSum(gauge.precision(), gauge.recon());
        sums::<4>(gauge, kernel, out).map(|_| ())
    })
}

/// For each of this rank's sites, in lexicographic order, six numbers: charge, spatial and temporal energy density,
/// without and then with the trace of the field strength.
pub(super) fn field_strength_sites(gauge: &GaugeField) -> Result<Vec<f64>> {
    of_sites(gauge, 6, |out| field_strength_sums(gauge, out).map(|_| ()))
}

/// Charge and action density, from the field strength without and with its trace.
fn field_strengths(gauge: &GaugeField) -> Result<[FieldStrength; 2]> {
    let sums = field_strength_sums(gauge, Ptr::default())?;
    // Averages are over the time slices on which the field strength is defined.
    let (geometry, slices) = (gauge.geometry(), gauge.geometry().global_extents()[3]);
    let with = geometry.boundary().factors(slices).iter().sum::<f64>();
    let volume = geometry.global_volume() as f64 * with / slices as f64;
    Ok([0, 3].map(|k| FieldStrength {
        charge: sums[k],
        energy_spatial: sums[k + 1] / volume,
        energy_temporal: sums[k + 2] / volume,
    }))
}

/// Charge, spatial and temporal energy, without and then with the trace of the field strength, summed over the
/// lattice; the values of each site are written to address `sites`, if it is not null.
fn field_strength_sums(gauge: &GaugeField, sites: Ptr) -> Result<[f64; 6]> {
    if gauge.group() != Group::Su3 {
        refuse!(Unsupported, "field strength", expected("SU(3) links"), found("SU(2)"));
    }
    gauge.with_whole(|u| sums(u, kernels::FieldStrengthSum::of(u.precision(), u.recon())?, sites))
}

/// The largest deviations of the links from the group, and the link that deviates most.
pub fn unitarity(gauge: &GaugeField) -> Result<Unitarity> {
    let geometry = gauge.geometry();
    let mut sites = vec![0.0; 3 * geometry.volume()];
    let buffer = gauge.device().alloc(8 * sites.len())?;
    gauge.with_whole(|u| {
        let args = ObservableArgs {
            geom: geometry.args(),
            bounds: geometry.bounds(),
            gauge: u.view(),
            out: buffer.ptr(),
            ..Default::default()
        };
        u.device().launch(
            kernels::Unitarity::of(u.precision(), u.recon())?,
            &args,
            geometry.work(2),
        )
    })?;
    buffer.download(bytemuck::cast_slice_mut(&mut sites))?;
    let mut worst = Unitarity { unitary: 0.0, det: 0.0, site: [0; 4], direction: 0 };
    // The kernel writes 1e300 for a violation that is not finite.
    let value = |v: f64| if v < 1e300 { v } else { f64::INFINITY };
    for (lex, s) in sites.chunks(3).enumerate() {
        let (unitary, det) = (value(s[0]), value(s[1]));
        if unitary.max(det) > worst.worst() {
            let mut remainder = lex;
            worst.site = std::array::from_fn(|mu| {
                let l = geometry.extents()[mu];
                let x = remainder % l + geometry.origin()[mu];
                remainder /= l;
                x
            });
            worst.direction = s[2] as usize;
        }
        worst.unitary = worst.unitary.max(unitary);
        worst.det = worst.det.max(det);
    }
    worst_of_ranks(geometry.comm(), worst)
}

fn worst_of_ranks(comm: &Comm, mine: Unitarity) -> Result<Unitarity> {
    let place = mine.site.into_iter().chain([mine.direction]).map(|x| x as f64);
    let numbers: Vec<f64> = [mine.unitary, mine.det].into_iter().chain(place).collect();
    let bytes = comm.all_gather(bytemuck::cast_slice(&numbers))?;
    let mut all = mine;
    for theirs in bytes.chunks_exact(8 * numbers.len()) {
        let v = |k: usize| f64::from_ne_bytes(theirs[8 * k..][..8].try_into().expect("8 bytes"));
        if v(0).max(v(1)) > all.worst() {
            all.site = std::array::from_fn(|mu| v(2 + mu) as usize);
            all.direction = v(6) as usize;
        }
        (all.unitary, all.det) = (all.unitary.max(v(0)), all.det.max(v(1)));
    }
    Ok(all)
}

/// Runs a reduction with N sums over both parities; values of each site are written to address `out`, if it is not
/// null.
fn sums<const N: usize>(
    gauge: &GaugeField,
    kernel: impl Sums<Args = ObservableArgs>,
    out: Ptr,
) -> Result<[f64; N]> {
    let geometry = gauge.geometry();
    let args = ObservableArgs {
        geom: geometry.args(),
        bounds: geometry.bounds(),
        gauge: gauge.view(),
        out,
        ..Default::default()
    };
    let s = geometry.reduce(gauge.device(), kernel, &args, geometry.work(2))?;
    Ok(std::array::from_fn(|k| s[k] + s[N + k]))
}
