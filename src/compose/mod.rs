//! Operators made of operators and solvers.
//!
//! ```
//! use std::sync::Arc;
//!
//! use plaq_core::backend::Device;
//! use plaq_core::compose::{DiracSolver, SolveParams};
//! use plaq_core::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
//! use plaq_core::operators::{ActionParams, DiracParams};
//! use plaq_core::solvers::{no_monitor, SolverKind, SolverParams, Stop};
//!
//! let device = Device::cpu(1)?;
//! let geometry = Geometry::new([4, 4, 4, 8], &device)?;
//! let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
//! links.set_near_unit(1, 0.3)?;
//! let clover = DiracParams { csw: 1.0, csw_t: 1.0, ..DiracParams::default() }.with_kappa(0.12);
//! let links = Arc::new(links.to(Precision::F64, Recon::R12)?);
//! let operator = ActionParams::from(clover).create(links)?;
//! // BiCGStab on the even-odd system, in single precision inside of double.
//! let (kind, stop) = (SolverKind::BiCgStab, Stop::at(1e-10));
//! let solver = SolverParams { kind, stop, ..SolverParams::default() };
//! let sloppy = Some((Precision::F32, Recon::R12));
//! let solver = DiracSolver::new(operator, SolveParams { solver, sloppy, ..SolveParams::default() })?;
//!
//! let mut b = SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 12)?;
//! b.set_noise(Noise::Normal, 7, 0)?;
//! let mut x = b.like(Precision::F64)?;
//! let report = solver.solve(&mut x, &b, &mut no_monitor)?.solver;
//! assert!(report.converged && report.residual.iter().all(|r| *r <= 1e-10));
//! # Ok::<(), plaq_core::error::Error>(())
//! ```

pub mod multigrid;
mod overlap;
mod solve;
mod spectrum;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::linop::{Schur, System};
pub use crate::operators::Normalisation;
pub use overlap::{
    approximation, HighMode, Method, ModeParams, Modes, ModesRecord, Overlap, OverlapAlgorithm,
    OverlapModes, OverlapModesRecord, OverlapPreconditioner, OverlapSolveParams, OverlapSolver,
    OverlapSquare, Preconditioned, Sign, SignParams,
};
pub(crate) use solve::{max_iterations_row, nkrylov_row, sloppy_storage_row};
pub use solve::{
    plaq_solve_report, plaq_solver_params, seconds_of, Chosen, Deflation, DiracSolver, Equations,
    LowModes, Solution, SolveParams, SolveReport, SolveTotals, SolverSettings, COLUMNS,
    MULTIGRID_DIRECTIONS,
};
pub use spectrum::{largest, smallest, EigenvalueBound};
