//! Propagators with the overlap operator.

use super::propagator::COLUMNS;
use super::source::Source;
use crate::bail;
use crate::compose::OverlapSolver;
use crate::error::Result;
use crate::fields::{blas, SpinorField};
use crate::linop::LinOp;
use crate::solvers::stop::Limit;
use crate::solvers::{Monitor, SolverReport};

/// Columns of a source with one chirality.
const HALF: usize = COLUMNS / 2;

/// D(m)^-1 source for all twelve columns and every mass, six columns of one chirality at a time. With
/// `subtract` the contact term is taken out, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)): the propagator
/// of quark fields that transform as in the continuum, what hadron correlators are made of. The solver's
/// `max_seconds` are those of all solves together.
///
/// # Errors
/// As of [`OverlapSolver::solve_masses`] and [`Source::set`].
pub fn overlap_propagators(
    solver: &OverlapSolver,
    masses: &[f64],
    source: Source,
    subtract: bool,
    monitor: &mut Monitor,
) -> Result<(Vec<SpinorField>, SolverReport)> {
    if masses.is_empty() {
        bail!(BadParameter, "masses: expected at least one");
    }
    if source.columns() != COLUMNS {
        let found = source.columns();
        bail!(BadParameter, "source: expected {COLUMNS} columns, spin x colour, found {found}");
    }
    let (shape, rho) = (solver.op().shape(), solver.op().rho());
    let wanted = (2 + masses.len()) * COLUMNS + (1 + 2 * masses.len()) * HALF;
    shape.geometry.require(&shape.device, shape.bytes(wanted), "these propagators")?;
    let mut sources = shape.field(COLUMNS)?;
    source.set(&mut sources)?;
    let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(COLUMNS)).collect();
    let mut all = fields?;
    let mut total: Option<SolverReport> = None;
    let limit = Limit::new(solver.params().max_seconds)?;
    let alone = masses == [solver.op().mass()];
    for first in [0, HALF] {
        let mut b = shape.field(HALF)?;
        b.copy_rhs(0, &sources, first, HALF)?;
        let fields: Result<Vec<SpinorField>> = masses.iter().map(|_| shape.field(HALF)).collect();
        let mut xs = fields?;
        let part = match alone {
            true => solver.solve_within(limit.left(), &mut xs[0], &b, monitor)?,
            false => solver.solve_masses_within(limit.left(), masses, &mut xs, &b, monitor)?,
        };
        for (to, x) in all.iter_mut().zip(&xs) {
            to.copy_rhs(first, x, 0, HALF)?;
        }
        total = Some(match total {
            Some(before) => before.beside(part),
            None => part,
        });
    }
    if subtract {
        for (x, m) in all.iter_mut().zip(masses) {
            let scale = 1.0 / (1.0 - m / (2.0 * rho));
            let contact = blas::uniform(COLUMNS, -scale / (2.0 * rho));
            blas::axpby(&contact, &sources, &blas::uniform(COLUMNS, scale), x)?;
        }
    }
    let Some(report) = total else { bail!(Internal, "no columns") };
    Ok((all, report))
}
