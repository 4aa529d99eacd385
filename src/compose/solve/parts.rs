//! The first link of the chain: it divides right-hand sides into parts that fit in memory.

use std::sync::Arc;
use std::time::Instant;

use super::equation::SolveReport;
use super::inverter::{Inverter, SolveRequest};
use super::memory::SolveMemory;
use crate::bail;
use crate::error::{Error, Result, Status};
use crate::fields::VectorField;
use crate::linop::Shape;
use crate::params::Key;
use crate::solvers::{InRange, Monitor, PartsMonitor};

/// A link that divides right-hand sides into equal parts, as few as possible so that each fits in memory: beside the
/// caller's x and b only the vectors of one part exist. The kernels of a first solve are compiled in parallel.
pub struct Parts {
    pub next: Arc<dyn Inverter>,
    pub memory: Arc<SolveMemory>,
    /// The key of everything that the solve's kernels depend on, but for the number of right-hand sides.
    pub key: Key,
}

impl Parts {
    /// The number of the `nrhs` right-hand sides that are solved for together. All ranks call this and get the same
    /// number.
    ///
    /// # Errors
    /// `OutOfMemory`: not even one fits.
    pub fn at_once(&self, nrhs: usize) -> Result<usize> {
        self.memory.at_once(nrhs)
    }

    /// Runs, in a rehearsal, all that a solve launches; sums that are made up there may end it early.
    pub fn run_through(&self, request: &SolveRequest, x: &mut VectorField, b: &VectorField) {
        self.memory.run_through(&*self.next, request, x, b);
    }

    fn compile(&self, nrhs: usize) {
        self.memory.compile(Key::of(("part", self.key, nrhs)), nrhs);
    }
}

impl Inverter for Parts {
    fn solve(
        &self,
        x: &mut VectorField,
        b: &VectorField,
        request: &SolveRequest,
        watch: &mut Monitor,
    ) -> Result<SolveReport> {
        let start = Instant::now();
        request.stop.check()?;
        let (shape, n) = (self.shape(), b.nrhs());
        for (field, name) in [(&*x, "x"), (b, "b")] {
            shape.check(field, name)?;
        }
        b.check_like(x, "x")?;
        self.prepare()?;
        let at_once = self.at_once(n)?;
        let peak = shape.device.watch_peak();
        let mut report = if at_once == n {
            let request = SolveRequest { stop: request.stop.since(start), ..*request };
            self.compile(n);
            self.next.solve(x, b, &request, watch)?
        } else {
            log::info!("{n} right-hand sides: {at_once} at a time fit in {}", shape.device.name());
            in_parts((x, b), at_once, request, watch, |x, b, request, watch| {
                self.compile(b.nrhs());
                self.next.solve(x, b, request, watch)
            })?
        };
        shape.device.synchronize()?;
        report.solver.seconds = start.elapsed().as_secs_f64();
        Ok(SolveReport { memory_peak: peak.bytes(), columns: at_once, ..report })
    }

    fn shape(&self) -> Shape {
        self.next.shape()
    }
    fn next(&self) -> Option<&dyn Inverter> {
        Some(&*self.next)
    }
    fn name(&self, nrhs: usize) -> String {
        match (nrhs, self.memory.at_once_here(nrhs)) {
            (0, _) | (_, None) => "as many columns at a time as fit".into(),
            (_, Some(1)) => "1 column at a time".into(),
            (_, Some(n)) => format!("{n} columns at a time"),
        }
    }
}

/// Solves for `at_once` right-hand sides at a time. If a part is refused no x changes; after a breakdown all of x is
/// 0.
pub fn in_parts(
    (x, b): (&mut VectorField, &VectorField),
    at_once: usize,
    request: &SolveRequest,
    watch: &mut Monitor,
    mut solve: impl FnMut(
        &mut VectorField,
        &VectorField,
        &SolveRequest,
        &mut Monitor,
    ) -> Result<SolveReport>,
) -> Result<SolveReport> {
    let (start, n) = (Instant::now(), b.nrhs());
    let sizes = || (0..n).step_by(at_once).map(|first| (first, at_once.min(n - first)));
    for (first, count) in sizes() {
        let (mut x, b) = (x.columns(first, count)?, b.columns(first, count)?);
        let at = |e: Error| e.at(format!("right-hand sides from {first} on"));
        InRange::new(&mut [&mut x], &b, request.guess).map_err(at)?;
    }
    let mut watched = PartsMonitor::new(watch, vec![1.0; n], start);
    let mut total: Option<SolveReport> = None;
    for (first, count) in sizes() {
        let (mut part_x, part_b) = (x.columns(first, count)?, b.columns(first, count)?);
        let mut notify = watched.of(first..first + count, 0);
        let later = request.later + n - first - count;
        let request = SolveRequest { stop: request.stop.since(start), later, ..*request };
        let part = match solve(&mut part_x, &part_b, &request, &mut notify) {
            Err(e) if e.status == Status::SolverBreakdown => {
                x.clear()?;
                return Err(e);
            }
            part => part?,
        };
        total = Some(match total {
            Some(before) => before.join(part),
            None => part,
        });
    }
    match total {
        Some(report) => Ok(report),
        None => bail!(Internal, "a solve without right-hand sides"),
    }
}
