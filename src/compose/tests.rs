//! What a rehearsal of a solve asks for.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::multigrid::{Multigrid, MultigridParams};
use super::{DiracSolver, SolveParams};
use crate::backend::{Asked, Device};
use crate::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use crate::operators::{DiracParams, Wilson};
use crate::solvers::{SolverKind, SolverParams};

/// Kernels with their constants.
pub(crate) fn kernels(asked: &[Asked]) -> BTreeSet<String> {
    let line = |a: &Asked| format!("{} {:?} {:?}", a.kernel.name, a.params, a.specs);
    asked.iter().map(line).collect()
}

fn clover(extents: [usize; 4]) -> (Device, Arc<Geometry>, Arc<Wilson>) {
    let device = Device::cpu(2).unwrap();
    let geometry = Geometry::new(extents, &device).unwrap();
    let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
    links.set_near_unit(7, 0.4).unwrap();
    let dirac = DiracParams { csw_s: 1.2, csw_t: 1.2, ..DiracParams::default() }.with_kappa(0.11);
    let op = Arc::new(Wilson::new(Arc::new(links), dirac).unwrap());
    (device, geometry, op)
}

#[test]
fn a_rehearsed_set_up_asks_for_most_kernels() {
    let (_, _, op) = clover([8, 8, 8, 8]);
    let params = MultigridParams::for_lattice(op.gauge().geometry());
    let rehearsed = kernels(&Device::recorded(false, || {
        let _ = Multigrid::new(&op, &params);
    }));
    let launched = kernels(&Device::recorded(true, || {
        Multigrid::new(&op, &params).unwrap();
    }));
    let missed: Vec<_> = launched.difference(&rehearsed).collect();
    assert!(5 * missed.len() < launched.len(), "not rehearsed: {missed:#?} of {}", launched.len());
}

#[test]
fn a_rehearsed_solve_asks_for_its_kernels_and_changes_nothing() {
    let (device, geometry, op) = clover([4, 4, 4, 8]);
    for kind in [SolverKind::BiCgStab, SolverKind::Cgnr, SolverKind::Gcr] {
        let solver = SolverParams { kind, tol: 1e-9, ..SolverParams::default() };
        let sloppy = Some((Precision::F32, Recon::R12));
        let params = SolveParams { solver, sloppy, ..SolveParams::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let field =
            || SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 2).unwrap();
        let (mut x, mut b) = (field(), field());
        x.set_noise(Noise::Normal, 1, 0).unwrap();
        b.set_noise(Noise::Normal, 2, 0).unwrap();
        let before = x.save_lex().unwrap();
        let rehearsed = kernels(&Device::recorded(false, || solver.run_through(&mut x, &b)));
        assert_eq!(x.save_lex().unwrap(), before, "{kind:?}");
        let launched = Device::recorded(true, || {
            solver.solve(&mut x, &b, &mut |_| ControlFlow::Continue(())).unwrap();
        });
        let launched = kernels(&launched);
        let missed: Vec<_> = launched.difference(&rehearsed).collect();
        // Made-up sums do not lead everywhere.
        assert!(10 * missed.len() < launched.len(), "{kind:?}: not rehearsed: {missed:#?}");
        assert!(launched.len() > 5, "{kind:?}: {launched:#?}");
    }
}
