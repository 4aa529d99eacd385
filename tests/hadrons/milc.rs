//! Mesons of a Gaussian source in Coulomb gauge with all Gammas and momenta, against those of MILC's
//! su3_clov on its sample configuration (kappa 0.1, csw 1.2, periodic, in single precision).

use std::sync::Arc;

use plaq::compose::{DiracSolver, SolveParams};
use plaq::fields::{LinkOptions, Precision, Recon};
use plaq::io::read_gauge;
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::contract::{mesons, Sink};
use plaq::ops::gamma::Gamma;
use plaq::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
use plaq::ops::propagator::propagator_of;
use plaq::solvers::{unwatched, SolverKind, SolverParams, Stop};

use super::common::{self, devices, lex::links_from_lex, Lex};
use super::numbers;
use super::reference::{spinor, Lattice, C};

/// Name, Gammas (sink, source) whose mean it is, the sign between MILC's definition and ours, p = 0, p =
/// 2 pi / L along an axis.
type Row = (&'static str, &'static [(i32, i32)], f64, [f64; 4], [f64; 4]);

const MILC: [Row; 9] = [
    (
        "PION",
        &[(15, 15)],
        1.0,
        [2.821280e+02, 1.783301e+01, 3.974405e+00, 1.684037e+01],
        [1.132146e+02, 5.398233e+00, 8.120558e-01, 4.695981e+00],
    ),
    (
        "PS505",
        &[(7, 15)],
        1.0,
        [4.643841e-01, 1.531080e+01, 8.271506e-02, -1.456289e+01],
        [2.744644e-01, 5.058201e+00, 9.012255e-02, -4.308331e+00],
    ),
    (
        "PS0505",
        &[(7, 7)],
        1.0,
        [2.538099e+02, 1.469503e+01, 3.361751e+00, 1.403028e+01],
        [1.066755e+02, 4.832470e+00, 7.374298e-01, 4.154708e+00],
    ),
    (
        "RHO",
        &[(1, 1), (2, 2), (4, 4)],
        1.0,
        [2.678359e+02, 1.626791e+01, 3.620223e+00, 1.537598e+01],
        [1.095879e+02, 5.096865e+00, 7.611215e-01, 4.390676e+00],
    ),
    (
        "RHO0",
        &[(9, 9), (10, 10), (12, 12)],
        1.0,
        [2.586475e+02, 1.526195e+01, 3.427480e+00, 1.447943e+01],
        [1.074521e+02, 4.914016e+00, 7.375247e-01, 4.217296e+00],
    ),
    (
        "SCALAR",
        &[(0, 0)],
        -1.0,
        [2.579199e+02, 2.702608e+00, 2.826721e+00, 2.770271e+00],
        [1.083853e+02, 4.279688e-01, 6.116646e-01, 3.893836e-01],
    ),
    (
        "SCAL0",
        &[(8, 8)],
        -1.0,
        [2.770348e+02, 3.168389e+00, 3.081317e+00, 3.089725e+00],
        [1.112496e+02, 3.973287e-01, 6.215556e-01, 3.196686e-01],
    ),
    (
        "PV",
        &[(14, 14), (13, 13), (11, 11)],
        1.0,
        [-2.600486e+02, -2.745929e+00, -2.831499e+00, -2.773783e+00],
        [-1.080163e+02, -4.011308e-01, -6.015044e-01, -3.508389e-01],
    ),
    (
        "B",
        &[(3, 3), (6, 6), (5, 5)],
        1.0,
        [-2.662550e+02, -2.893415e+00, -2.911267e+00, -2.873451e+00],
        [-1.089505e+02, -3.907268e-01, -6.045834e-01, -3.284012e-01],
    ),
];

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
            DiracParams { csw_s: 1.2, csw_t: 1.2, boundary: [C::ONE; 4], ..Default::default() }
                .with_kappa(0.1);
        let op = Arc::new(Wilson::new(Arc::new(fixed.gauge), dirac).unwrap());
        let kind = SolverKind::BiCgStab;
        let solver = SolverParams { kind, stop: Stop::at(1e-12), ..Default::default() };
        let params = SolveParams { solver, ..Default::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        // exp(-(r / 1.5)^2) around the origin, periodic.
        let columns = (0..12).map(|k| {
            let mut b = spinor::zero(lat);
            for (lex, site) in b.iter_mut().enumerate() {
                let x = lat.coords(lex);
                let near = |mu: usize| x[mu].min(lat.extents[mu] - x[mu]) as f64;
                let r2: f64 = (0..3).map(|mu| near(mu).powi(2)).sum();
                if x[3] == 0 {
                    site[k / 3][k % 3] = C::new((-r2 / 2.25).exp(), 0.0);
                }
            }
            b
        });
        let mut b = op.shape().field(12).unwrap();
        b.load_lex(&numbers(&columns.collect())).unwrap();
        let (x, report) = propagator_of(&solver, &b, 12, &mut unwatched).unwrap();
        assert!(report.solver.converged);
        let at = |momentum: [i32; 3]| mesons(&x, &x, Sink { origin: [0; 4], momentum }).unwrap();
        let rest = vec![at([0; 3])];
        // Both directions of each axis: MILC takes cosines.
        let moving: Vec<_> = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            .iter()
            .flat_map(|&p| [p, p.map(|n| -n)])
            .map(at)
            .collect();
        for (name, gammas, sign, at_rest, at_one) in MILC {
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
                    // MILC fixes the gauge and solves in single precision.
                    let scale = all[0].correlator(Gamma::FIVE, Gamma::FIVE)[t].re;
                    let off = (ours - theirs[t]).abs() / scale;
                    assert!(off < 2e-5, "{name} t={t}: {ours:e} {:e} {off:e}", theirs[t]);
                }
            }
        }
    }
}
