//! Tests against MILC's su3_clov: mesons of a Gaussian source in Coulomb gauge with all Gammas and momenta, Gaussian
//! sinks and baryons on its sample configuration (kappa 0.1, csw 1.2, periodic, in single precision).

use std::sync::Arc;

use plaq::compose::{DiracSolver, SolveParams};
use plaq::fields::{LinkOptions, Precision, Recon};
use plaq::io::read_gauge;
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::contract::{mesons, Mesons, Sink};
use plaq::ops::gamma::Gamma;
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
use plaq::ops::propagator::propagator_of;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

use super::common::{self, devices, lex::links_from_lex, Lex};
use super::numbers;
use super::reference::contract::{self, Operator};
use super::reference::correlators::Propagator;
use super::reference::gamma::{gammas, Basis};
use super::reference::matrix::{dag, product, zero};
use super::reference::numbers::field_from;
use super::reference::{spinor, Field, Lattice, C};

/// A meson of MILC: name, Gammas (sink, source) whose mean it is, sign of MILC's definition relative to ours, and
/// correlators for p = 0, for p = 2 pi / L along an axis, and for a quark that is smeared at the sink, too.
type Row = (&'static str, &'static [(i32, i32)], f64, [f64; 4], [f64; 4], [(f64, f64); 4]);

const MILC: [Row; 9] = [
    (
        "PION",
        &[(15, 15)],
        1.0,
        [2.821280e+02, 1.783301e+01, 3.974405e+00, 1.684037e+01],
        [1.132146e+02, 5.398233e+00, 8.120558e-01, 4.695981e+00],
        [
            (9.559698e+02, 1.573674e+00),
            (4.130137e+01, -1.433629e-01),
            (5.892876e+00, 1.448914e-01),
            (3.215426e+01, 1.898212e+00),
        ],
    ),
    (
        "PS505",
        &[(7, 15)],
        1.0,
        [4.643841e-01, 1.531080e+01, 8.271506e-02, -1.456289e+01],
        [2.744644e-01, 5.058201e+00, 9.012255e-02, -4.308331e+00],
        [
            (2.177022e+00, -5.505405e-01),
            (4.077864e+01, 1.444368e-01),
            (7.556450e-01, 3.178058e-01),
            (-3.130528e+01, -2.017884e+00),
        ],
    ),
    (
        "PS0505",
        &[(7, 7)],
        1.0,
        [2.538099e+02, 1.469503e+01, 3.361751e+00, 1.403028e+01],
        [1.066755e+02, 4.832470e+00, 7.374298e-01, 4.154708e+00],
        [
            (9.347562e+02, -2.770730e+00),
            (3.978372e+01, -1.616849e-01),
            (5.779362e+00, 1.568606e-01),
            (3.082288e+01, 1.892953e+00),
        ],
    ),
    (
        "RHO",
        &[(1, 1), (2, 2), (4, 4)],
        1.0,
        [2.678359e+02, 1.626791e+01, 3.620223e+00, 1.537598e+01],
        [1.095879e+02, 5.096865e+00, 7.611215e-01, 4.390676e+00],
        [
            (9.443458e+02, -2.037866e-02),
            (4.037591e+01, -5.141410e-02),
            (5.739878e+00, 1.614308e-01),
            (3.127609e+01, 1.908909e+00),
        ],
    ),
    (
        "RHO0",
        &[(9, 9), (10, 10), (12, 12)],
        1.0,
        [2.586475e+02, 1.526195e+01, 3.427480e+00, 1.447943e+01],
        [1.074521e+02, 4.914016e+00, 7.375247e-01, 4.217296e+00],
        [
            (9.373679e+02, -1.476012e+00),
            (3.988623e+01, -6.046565e-02),
            (5.706948e+00, 1.656330e-01),
            (3.084669e+01, 1.909476e+00),
        ],
    ),
    (
        "SCALAR",
        &[(0, 0)],
        -1.0,
        [2.579199e+02, 2.702608e+00, 2.826721e+00, 2.770271e+00],
        [1.083853e+02, 4.279688e-01, 6.116646e-01, 3.893836e-01],
        [
            (9.392563e+02, -3.148867e+00),
            (4.188701e+00, -1.233898e-01),
            (5.553132e+00, 2.223658e-01),
            (3.253080e+00, -4.129697e-01),
        ],
    ),
    (
        "SCAL0",
        &[(8, 8)],
        -1.0,
        [2.770348e+02, 3.168389e+00, 3.081317e+00, 3.089725e+00],
        [1.112496e+02, 3.973287e-01, 6.215556e-01, 3.196686e-01],
        [
            (9.509032e+02, 1.972987e+00),
            (3.880414e+00, -1.015658e-01),
            (5.523390e+00, 1.966016e-01),
            (2.968925e+00, 1.172866e-01),
        ],
    ),
    (
        "PV",
        &[(14, 14), (13, 13), (11, 11)],
        1.0,
        [-2.600486e+02, -2.745929e+00, -2.831499e+00, -2.773783e+00],
        [-1.080163e+02, -4.011308e-01, -6.015044e-01, -3.508389e-01],
        [
            (-9.387656e+02, 1.627787e+00),
            (-3.959180e+00, 7.511016e-02),
            (-5.471178e+00, -2.082215e-01),
            (-3.052346e+00, 2.352766e-01),
        ],
    ),
    (
        "B",
        &[(3, 3), (6, 6), (5, 5)],
        1.0,
        [-2.662550e+02, -2.893415e+00, -2.911267e+00, -2.873451e+00],
        [-1.089505e+02, -3.907268e-01, -6.045834e-01, -3.284012e-01],
        [
            (-9.426273e+02, -7.102498e-02),
            (-3.859062e+00, 6.162961e-02),
            (-5.460545e+00, -1.997915e-01),
            (-2.962844e+00, 5.584327e-02),
        ],
    ),
];

/// Correlators of MILC's baryons (d C gamma5 u) u and (u C gamma_- u) u: name, spin matrix of the pair as (row,
/// column, number), operator, factor by which Wick's theorem has more contractions than MILC counts, and the
/// correlator of spin 1 at both ends.
type Nucleon = (&'static str, [(usize, usize, f64); 4], Operator, f64, [(f64, f64); 4]);

const BARYONS: [Nucleon; 2] = [
    (
        "PROTON",
        [(1, 0, 1.0), (0, 1, -1.0), (3, 2, 1.0), (2, 3, -1.0)],
        &[(1.0, [1, 0, 0])],
        1.0,
        [
            (9.230250e+00, 9.897795e-03),
            (1.042629e-01, -6.740332e-04),
            (1.029983e-02, -2.809164e-04),
            (9.333931e-02, -1.564987e-03),
        ],
    ),
    (
        "DELTA",
        [(1, 3, -1.0), (3, 1, -1.0), (0, 0, 0.0), (0, 0, 0.0)],
        &[(1.0, [0, 0, 0])],
        2.0,
        [
            (7.171661e+00, 7.574030e-03),
            (9.592949e-02, 1.261524e-05),
            (8.036867e-03, -2.916438e-04),
            (8.660620e-02, -2.219258e-03),
        ],
    ),
];

/// The weight exp(-(r / 1.5)^2) of two sites of a time slice, periodic; 0 for different slices.
fn near(lat: Lattice, lex: usize, origin: [usize; 4]) -> f64 {
    let x = lat.coords(lex);
    let steps = |mu: usize| {
        let d = x[mu].abs_diff(origin[mu]);
        d.min(lat.extents[mu] - d) as f64
    };
    let r2: f64 = (0..3).map(|mu| steps(mu).powi(2)).sum();
    f64::from(u8::from(x[3] == origin[3])) * (-r2 / 2.25).exp()
}

/// Sums the field over each time slice with this weight.
fn smeared(lat: Lattice, column: &Field) -> Field {
    let at = |lex: usize| {
        let mut sum = [[C::ZERO; 3]; 4];
        let slice = lat.volume() / lat.extents[3];
        for y in lex / slice * slice..(lex / slice + 1) * slice {
            let weight = near(lat, y, lat.coords(lex));
            for (to, from) in sum.iter_mut().flatten().zip(column[y].iter().flatten()) {
                *to += weight * *from;
            }
        }
        sum
    };
    (0..lat.volume()).map(at).collect()
}

#[test]
fn all_gammas_and_momenta_agree_with_milc() {
    let Some(path) = common::configuration("milc.lat.sample.l4444") else { return };
    let file = read_gauge(&path, None).unwrap();
    let lat = Lattice::new(file.extents);
    for device in devices() {
        let geometry = common::geometry(file.extents, &device);
        let options = LinkOptions { reproject: true, ..LinkOptions::checked(Precision::F32) };
        let form = (Precision::F64, Recon::R18);
        let links = links_from_lex(&device, &geometry, form, &file.links, options).unwrap();
        let params = GaugeFixParams::new(Condition::Coulomb { time: 3 });
        let fixed = fix_gauge(&links, &params, &mut |_| false).unwrap();
        let dirac =
            DiracParams { csw: 1.2, csw_t: 1.2, boundary: [C::ONE; 4], ..Default::default() }
                .with_kappa(0.1);
        let op = Arc::new(Wilson::new(Arc::new(fixed.gauge), dirac).unwrap());
        let kind = SolverKind::BiCgStab;
        let solver = SolverParams { kind, stop: Stop::at(1e-12), ..Default::default() };
        let params = SolveParams { solver, ..Default::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let columns = (0..12).map(|k| {
            let mut b = spinor::zero(lat);
            for (lex, site) in b.iter_mut().enumerate() {
                site[k / 3][k % 3] = C::new(near(lat, lex, [0; 4]), 0.0);
            }
            b
        });
        let mut b = op.shape().field(12).unwrap();
        b.load_lex(&numbers(&columns.collect())).unwrap();
        let (x, report) = propagator_of(&solver, &b, 12, &mut no_monitor).unwrap();
        assert!(report.solver.converged);
        let at = |momentum: [i32; 3]| mesons(&x, &x, Sink::new([0; 4], momentum)).unwrap();
        let rest = vec![at([0; 3])];
        // Both directions of each axis are needed, since MILC takes cosines.
        let moving: Vec<_> = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            .iter()
            .flat_map(|&p| [p, p.map(|n| -n)])
            .map(at)
            .collect();
        let columns: Propagator =
            x.save_lex().unwrap().chunks(24 * lat.volume()).map(field_from).collect();
        let mut wide = op.shape().field(12).unwrap();
        wide.load_lex(&numbers(&columns.iter().map(|c| smeared(lat, c)).collect())).unwrap();
        // MILC's phase has the other sign, exp(i p x).
        let one_wide = [[-1, 0, 0], [0, -1, 0], [0, 0, -1]]
            .map(|momentum| mesons(&wide, &x, Sink::new([0; 4], momentum)).unwrap());
        for (name, gammas, sign, at_rest, at_one, at_one_wide) in MILC {
            for (t, (re, im)) in at_one_wide.into_iter().enumerate() {
                let of = |m: &Mesons, (sink, source)| {
                    m.correlator(Gamma::new(sink).unwrap(), Gamma::new(source).unwrap())[t]
                };
                let all = one_wide.iter().flat_map(|m| gammas.iter().map(move |&g| of(m, g)));
                let ours = all.sum::<C>() * sign / (3 * gammas.len()) as f64;
                // MILC stopped its gauge fixing when the functional changed by less than 1e-7.
                let off = (ours - C::new(re, im)).norm() / of(&one_wide[0], (15, 15)).norm();
                assert!(off < 1e-4, "{name}, smeared sink, t={t}: {ours:e} {re:e} {im:e} {off:e}");
            }
            for (all, theirs) in [(&rest, at_rest), (&moving, at_one)] {
                for t in 0..4 {
                    let mut ours = 0.0;
                    for m in all.iter() {
                        for &(sink, source) in gammas {
                            let gamma = |n| Gamma::new(n).unwrap();
                            ours += m.correlator(gamma(sink), gamma(source))[t].re;
                        }
                    }
                    ours *= sign / (all.len() * gammas.len()) as f64;
                    // MILC fixed the gauge and solved in single precision.
                    let scale = all[0].correlator(Gamma::FIVE, Gamma::FIVE)[t].re;
                    let off = (ours - theirs[t]).abs() / scale;
                    assert!(off < 2e-5, "{name} t={t}: {ours:e} {:e} {off:e}", theirs[t]);
                }
            }
        }
        // The reference's baryons are compared, with which plaq's agree elsewhere: MILC has one spin component instead
        // of a trace.
        for (name, pair, operator, more, theirs) in BARYONS {
            let mut g = zero::<4>();
            for (i, j, value) in pair {
                g[i][j] += C::new(value, 0.0);
            }
            let gt = gammas(Basis::DeGrandRossi)[3];
            let source = product(&[&gt, &dag(&g), &gt]);
            // MILC divides by the number of sites of a time slice.
            let sites = (lat.volume() / lat.extents[3]) as f64;
            let sign = (source[pair[0].1][pair[0].0] / g[pair[0].0][pair[0].1]).re;
            let all = contract::baryon(lat, [&columns; 3], operator, [&g; 2], ([0; 3], [0; 4]));
            for (t, (re, im)) in theirs.into_iter().enumerate() {
                let ours = all[t][1][1] * sign / more / sites;
                let off = (ours - C::new(re, im)).norm() / re;
                assert!(off < 3e-5, "{name} t={t}: {ours:e} {re:e} {im:e} {off:e}");
            }
        }
    }
}
