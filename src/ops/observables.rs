//! Gauge observables of SU(3) and SU(2) fields in any storage. Links are periodic: boundary
//! phases belong to the fermions and enter nowhere here (physics.md).

use num_complex::Complex64;

use crate::backend::args::ObservableArgs;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Group};

/// Average plaquettes Re tr U_munu / N: 1 for unit links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plaquette {
    /// All six planes: 1/(6 N V) sum over x, mu < nu of Re tr U_munu(x).
    pub total: f64,
    /// Planes xy, xz, yz.
    pub spatial: f64,
    /// Planes xt, yt, zt.
    pub temporal: f64,
    /// Average Re tr U / N of the links themselves.
    pub link_trace: f64,
}

/// The largest violation of unitarity over all links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unitarity {
    /// Largest modulus of an entry of U U^dagger - 1; infinite where a link is not finite.
    pub unitary: f64,
    /// Largest |det U - 1|.
    pub det: f64,
    /// The link with the larger of the two: coordinates x, y, z, t and direction.
    pub site: [usize; 4],
    pub direction: usize,
}

impl Unitarity {
    pub fn worst(&self) -> f64 {
        self.unitary.max(self.det)
    }
}

/// What the clover-leaf field strength gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldStrength {
    /// Q = 1/(32 pi^2) sum eps_mnrs tr F_mn F_rs, eps_xyzt = 1, F hermitian and traceless: near an
    /// integer on smooth fields.
    pub charge: f64,
    /// Action density E = 1/2 sum_munu tr F_munu F_munu (Luescher, JHEP 08 (2010) 071, Eq. (2.1)),
    /// average per site, of the planes xy, xz, yz and of the planes xt, yt, zt.
    pub energy_spatial: f64,
    pub energy_temporal: f64,
}

/// Average plaquettes and link trace, accumulated in double.
pub fn plaquette(gauge: &GaugeField) -> Result<Plaquette> {
    let [spatial, temporal, links] = sums(gauge, "plaquette_sum", 0)?;
    let norm = (gauge.group().colours() * gauge.geometry().volume()) as f64;
    Ok(Plaquette {
        total: (spatial + temporal) / (6.0 * norm),
        spatial: spatial / (3.0 * norm),
        temporal: temporal / (3.0 * norm),
        link_trace: links / (4.0 * norm),
    })
}

/// Average over the lattice of tr prod U_mu / N along the closed lines in `direction` (3: time).
///
/// The links are periodic, so this is the plain trace; QUDA's `qudaPolyakovLoopPhased` returns
/// minus the loop of the phased (antiperiodic) links, which is the same number.
pub fn polyakov_loop(gauge: &GaugeField, direction: usize) -> Result<Complex64> {
    if direction > 3 {
        bail!(InvalidArgument, "direction: expected 0 to 3, found {direction}");
    }
    let [re, im, lines] = gauge.with_whole(|u| sums(u, "polyakov_sum", direction))?;
    Ok(Complex64::new(re, im) / (gauge.group().colours() as f64 * lines))
}

/// Wilson action beta sum_{x, mu<nu} (1 - Re tr U_munu / N).
pub fn wilson_action(gauge: &GaugeField, beta: f64) -> Result<f64> {
    Ok(beta * 6.0 * gauge.geometry().volume() as f64 * (1.0 - plaquette(gauge)?.total))
}

/// Topological charge and action density of an SU(3) field.
pub fn field_strength(gauge: &GaugeField) -> Result<FieldStrength> {
    if gauge.group() != Group::Su3 {
        bail!(Unsupported, "field strength: expected SU(3) links, found SU(2)");
    }
    let [charge, spatial, temporal] = gauge.with_whole(|u| sums(u, "field_strength_sum", 0))?;
    let volume = gauge.geometry().volume() as f64;
    Ok(FieldStrength {
        charge,
        energy_spatial: spatial / volume,
        energy_temporal: temporal / volume,
    })
}

/// How far the links are from the group, and which is worst.
pub fn unitarity(gauge: &GaugeField) -> Result<Unitarity> {
    let geometry = gauge.geometry();
    let mut sites = vec![0.0; 3 * geometry.volume()];
    let buffer = gauge.device().alloc(8 * sites.len())?;
    gauge.with_whole(|u| {
        let args = ObservableArgs {
            geom: geometry.args(),
            gauge: u.view(),
            out: buffer.ptr(),
            ..Default::default()
        };
        let params = [u.precision().token(), u.recon().token()];
        u.device().launch("unitarity", &params, &args, geometry.work(2))
    })?;
    buffer.download(bytemuck::cast_slice_mut(&mut sites))?;
    let mut worst = Unitarity { unitary: 0.0, det: 0.0, site: [0; 4], direction: 0 };
    // The kernel writes 1e300 for what is not finite.
    let value = |v: f64| if v < 1e300 { v } else { f64::INFINITY };
    for (lex, s) in sites.chunks(3).enumerate() {
        let (unitary, det) = (value(s[0]), value(s[1]));
        if unitary.max(det) > worst.worst() {
            let mut rest = lex;
            worst.site = geometry.extents().map(|l| {
                let x = rest % l;
                rest /= l;
                x
            });
            worst.direction = s[2] as usize;
        }
        worst.unitary = worst.unitary.max(unitary);
        worst.det = worst.det.max(det);
    }
    Ok(worst)
}

/// Sums over both parities of a reduction with three sums.
fn sums(gauge: &GaugeField, kernel: &str, direction: usize) -> Result<[f64; 3]> {
    let args = ObservableArgs {
        geom: gauge.geometry().args(),
        gauge: gauge.view(),
        direction: direction as i32,
        ..Default::default()
    };
    let params = [gauge.precision().token(), gauge.recon().token()];
    let s = gauge.device().reduce(kernel, &params, &args, gauge.geometry().work(2))?;
    Ok(std::array::from_fn(|k| s[k] + s[3 + k]))
}
