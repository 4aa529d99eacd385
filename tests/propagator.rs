//! Tests of propagators on configurations of other codes against the correlators of these codes.

use crate::{common, reference};
use std::sync::Arc;

use common::milc::{self, Milc, CSW};
use common::{devices, lex::links_from_lex, Lex};
use plaq::backend::Device;
use plaq::compose::{DiracSolver, Equations, Schur, SolveParams};
use plaq::error::Status;
use plaq::fields::blas::norm2;
use plaq::fields::{GaugeField, LinkOptions, Precision, Recon};
use plaq::io::{read_gauge, GaugeFile};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::propagator::{self as ops, memory, memory_on_host};
use plaq::ops::source::Source;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};
use reference::correlators::{pion, rho, Propagator};
use reference::numbers::{field_from, field_numbers};
use reference::{spinor, Lattice, C};

/// A configuration read by plaq, or `None` if the file is absent.
fn configuration(name: &str) -> Option<GaugeFile> {
    Some(read_gauge(&common::configuration(name)?, None).unwrap())
}

/// The operator on a configuration's links, which are in single precision and are projected onto SU(3) in double.
fn operator(device: &Device, file: &GaugeFile, dirac: DiracParams) -> Arc<Wilson> {
    let geometry = common::geometry(file.extents, device);
    let options = LinkOptions { reproject: true, ..LinkOptions::checked(Precision::F32) };
    let form = (Precision::F64, Recon::R12);
    let gauge = links_from_lex(device, &geometry, form, &file.links, options).unwrap();
    Arc::new(Wilson::new(Arc::new(gauge), dirac).unwrap())
}

/// Solves for twelve columns from a point source at the origin in one solve.
fn propagator(op: Arc<Wilson>, params: SolveParams) -> Propagator {
    let shape = op.shape();
    let lat = Lattice::new(shape.geometry.global_extents());
    let solver = DiracSolver::new(op, params).unwrap();
    let (mut b, mut x) = (shape.field(12).unwrap(), shape.field(12).unwrap());
    let source = |column: usize| field_numbers(&spinor::point(lat, 0, column / 3, column % 3));
    b.load_lex(&(0..12).flat_map(source).collect::<Vec<f64>>()).unwrap();
    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
    assert!(report.converged, "{report:?}");
    x.save_lex().unwrap().chunks(24 * lat.volume()).map(field_from).collect()
}

/// Checks correlators against MILC's to 1e-6, since links are in single precision.
fn agrees_with_milc(milc: &Milc) {
    let Some(file) = configuration(milc.name) else { return };
    let lat = Lattice::new(file.extents);
    let time = if milc.antiperiodic { -C::ONE } else { C::ONE };
    let dirac = DiracParams {
        csw: CSW,
        csw_t: CSW,
        boundary: [C::ONE, C::ONE, C::ONE, time],
        ..Default::default()
    }
    .with_kappa(milc.kappa);
    let single = Some((Precision::F32, Recon::R12));
    let half = Some((Precision::F16, Recon::R12));
    for device in devices() {
        let op = operator(&device, &file, dirac);
        for (kind, sloppy, even_odd) in [
            (SolverKind::Cg, None, Some(Schur { parity: 0, symmetric: true })),
            (SolverKind::BiCgStab, single, Some(Schur { parity: 1, symmetric: false })),
            (SolverKind::Cgne, half, Some(Schur { parity: 0, symmetric: false })),
            (SolverKind::Gcr, single, None),
        ] {
            let equations = match kind {
                SolverKind::Cg => Equations::NormalResidual,
                _ => Equations::Direct,
            };
            let solver = SolverParams { kind, stop: Stop::at(1e-12), ..Default::default() };
            let params = SolveParams { solver, equations, sloppy, even_odd, ..Default::default() };
            let columns = propagator(op.clone(), params);
            let rho = std::array::from_fn(|i| rho(lat, &columns, i));
            let what = format!("{kind:?} {sloppy:?}");
            milc.check_mesons(&pion(lat, &columns), &rho, 1e-6, &what);
        }
    }
}

#[test]
fn clover_mesons_agree_with_milc_periodic() {
    agrees_with_milc(&milc::PERIODIC);
}

#[test]
fn clover_mesons_agree_with_milc_antiperiodic() {
    agrees_with_milc(&milc::ANTIPERIODIC);
}

/// All solvers find the same propagator on a rougher lattice with a lighter quark; iteration counts and true
/// residuals are printed.
#[test]
fn solvers_agree_on_a_thermalised_lattice() {
    let Some(file) = configuration("ddalphaamg.8x8x8x8b6.0000id3n1") else { return };
    let lat = Lattice::new(file.extents);
    let dirac = DiracParams { mass: -0.4, csw: 1.0, csw_t: 1.0, ..Default::default() };
    let op = operator(&devices().pop().unwrap(), &file, dirac);
    let mut b = op.shape().field(1).unwrap();
    b.load_lex(&field_numbers(&spinor::point(lat, 0, 0, 0))).unwrap();
    let mut known: Option<reference::Field> = None;
    for kind in [SolverKind::Cgne, SolverKind::Cgnr, SolverKind::BiCgStab, SolverKind::Gcr] {
        for sloppy in [None, Some(Precision::F32), Some(Precision::F16)] {
            for even_odd in [Some(Schur { parity: 0, symmetric: true }), None] {
                let params = SolveParams {
                    solver: SolverParams {
                        kind,
                        nkrylov: 20,
                        stop: Stop::at(1e-12),
                        ..Default::default()
                    },
                    equations: Equations::Direct,
                    sloppy: sloppy.map(|p| (p, Recon::R12)),
                    precondition_steps: if kind == SolverKind::Gcr { 6 } else { 0 },
                    even_odd,
                    ..Default::default()
                };
                let solver = DiracSolver::new(op.clone(), params).unwrap();
                let mut x = b.like(Precision::F64).unwrap();
                let r = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                println!(
                    "{:9} sloppy {:4} {:9} {:5} iterations {:3} updates {:2} restarts, residual {:.1e}, {:.2} s",
                    kind.name(),
                    sloppy.map_or("-", Precision::token),
                    if even_odd.is_some() { "even-odd" } else { "full" },
                    r.iterations,
                    r.reliable_updates,
                    r.restarts,
                    r.residual[0],
                    r.seconds
                );
                assert!(r.converged && r.fallback.is_none(), "{kind:?} {sloppy:?} {r:?}");
                let x = field_from(&x.save_lex().unwrap());
                let first = known.get_or_insert_with(|| x.clone());
                let distance = spinor::relative_distance(&x, first);
                assert!(distance < 1e-9, "{kind:?} {sloppy:?}: {distance:e}");
            }
        }
    }
}

/// A propagator whose number of columns at a time is not given takes as many as memory allows.
#[test]
fn short_memory_makes_fewer_columns() {
    let dirac = DiracParams { csw: CSW, csw_t: CSW, ..Default::default() }.with_kappa(0.12);
    for device in devices() {
        let geometry = common::geometry(common::over_ranks([4, 4, 4, 8]), &device);
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
        links.set_near_unit(3, 0.3).unwrap();
        let op = Arc::new(Wilson::new(Arc::new(links), dirac).unwrap());
        let solver = SolverParams { stop: Stop::at(1e-10), ..Default::default() };
        let params = SolveParams { solver, ..Default::default() };
        let solver = DiracSolver::new(op, params).unwrap();
        let source = Source::point([1, 2, 3, 4]);
        let run = |at_once| ops::propagator(&solver, source, at_once, &mut no_monitor);
        let norms = |n| norm2(&run(n).unwrap().0).unwrap();
        let expected = norms(12);
        for columns in [12, 6, 4, 3, 2, 1] {
            device.limit_memory(device.used().0 + memory(&solver, 12, columns).unwrap());
            let made = run(0);
            device.limit_memory(u64::MAX);
            let (found, report) = made.unwrap();
            assert_eq!(report.columns, columns, "{}", device.name());
            for (a, b) in norm2(&found).unwrap().iter().zip(&expected) {
                assert!((a - b).abs() < 1e-8 * b, "{columns}: {a} {b}");
            }
        }
        let on_host = |columns| memory_on_host(&solver, 12, columns).unwrap();
        let fitting = |columns: usize| {
            *[12, 6, 4, 3, 2, 1].iter().find(|n| on_host(**n) <= on_host(columns)).unwrap()
        };
        assert!(
            on_host(2) < memory(&solver, 12, 1).unwrap(),
            "{} {}",
            on_host(2),
            memory(&solver, 12, 1).unwrap()
        );
        let refused = |limit: u64, asked| {
            device.limit_memory(device.used().0 + limit);
            let refused = run(asked).map(|_| ());
            device.limit_memory(u64::MAX);
            assert_eq!(refused.unwrap_err().status, Status::OutOfMemory);
        };
        // Nothing waits on a CPU, whose memory is that of the host.
        if device.is_cpu() {
            for (asked, columns) in [(0, 1), (2, 2), (5, 5)] {
                refused(memory(&solver, 12, columns).unwrap() - 1, asked);
            }
            continue;
        }
        // Columns wait on the host where they would fit on the device only without a solve.
        for (asked, columns) in [(0, 2), (0, 1), (2, 2), (5, 5)] {
            device.limit_memory(device.used().0 + on_host(columns));
            let made = run(asked);
            device.limit_memory(u64::MAX);
            let (found, report) = made.unwrap();
            assert_eq!(report.columns, if asked == 0 { fitting(columns) } else { asked });
            for (a, b) in norm2(&found).unwrap().iter().zip(&expected) {
                assert!((a - b).abs() < 1e-8 * b, "{columns} on the host: {a} {b}");
            }
        }
        refused(on_host(1) - 1, 0);
    }
}
