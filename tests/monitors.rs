//! Monitors of searches for eigenvectors: they are called often, whatever a step of a search costs, and soon end it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plaq::error::Result;
use plaq::fields::{Components, Precision, VectorField};
use plaq::linop::{LinOp, Shape};
use plaq::operators::Laplace;
use plaq::solvers::{
    eigen, ritz, slice_modes, EigenParams, EigenReport, Filter, Monitor, Progress, RitzParams,
    StoppedBy,
};

use crate::common::{devices, over_ranks, ranks};
use crate::setup::Setup;

/// Milliseconds that an application to a vector takes.
const EACH: u64 = 4;

/// An operator that takes its time, and counts the vectors that it was applied to.
struct Slow(Laplace, AtomicUsize);

impl LinOp for Slow {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        std::thread::sleep(Duration::from_millis(EACH * inp.nrhs() as u64));
        self.1.fetch_add(inp.nrhs(), Ordering::Relaxed);
        self.0.apply(out, inp)
    }
    fn hermitian(&self) -> bool {
        true
    }
    fn flops(&self) -> f64 {
        self.0.flops()
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.0.bytes(nrhs)
    }
}

/// Number of vectors to which operators are applied until the monitor asks to end.
const ENOUGH: usize = 300;

/// The report of a search, the largest number of vectors between two calls of the monitor, and those after it asked.
fn watched(
    op: &Slow,
    search: impl FnOnce(&dyn LinOp, &mut Monitor) -> Result<(VectorField, EigenReport)>,
) -> (EigenReport, usize, usize) {
    let (mut last, mut largest) = (0, 0);
    let mut monitor = |_: &Progress| {
        let now = op.1.load(Ordering::Relaxed);
        largest = largest.max(now - last);
        last = now;
        match ranks().stop(now > ENOUGH) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let (_, report) = search(op, &mut monitor).unwrap();
    (report, largest, op.1.load(Ordering::Relaxed) - last)
}

#[test]
fn searches_tell_their_monitors_a_few_times_a_second() {
    let device = &devices()[0];
    let s = Setup::new(device, over_ranks([4, 4, 4, 4]), 0.4);
    let slow = |directions| {
        let op = Laplace::massive(s.gauge.clone(), Components::COLOUR, directions, 0.0);
        Slow(op.unwrap(), AtomicUsize::new(0))
    };
    assert_eq!(slow(7).shape().precision, Precision::F64);
    // The number of applications in a tenth of a second, three times that with several ranks; the vectors of the last
    // application come on top.
    let often = 100 / EACH as usize * if ranks().size() > 1 { 3 } else { 1 };
    let filter = Filter::Chebyshev { degree: 400, from: 2.0, to: 18.0 };
    let lanczos = EigenParams { count: 6, filter, tol: 1e-14, ..Default::default() };
    let slices = EigenParams { count: 20, tol: 1e-14, ..Default::default() };
    let minimised = RitzParams { count: 20, tol: 1e-14, ..Default::default() };
    let found = [
        ("Lanczos", watched(&slow(15), |op, m| eigen(op, None, &lanczos, None, m)), 4, 20),
        ("time slices", watched(&slow(7), |op, m| slice_modes(op, None, &slices, m)), 32, 90),
        ("Ritz", watched(&slow(15), |op, m| ritz(op, &minimised, None, m)), 4, 40),
    ];
    for (name, (report, largest, after), together, soon) in found {
        let what = format!("{name}: {largest} between, {after} after, {report:?}");
        assert!(largest <= often + together, "{what}");
        assert!(report.stopped && report.stopped_by == Some(StoppedBy::Callback), "{what}");
        assert!(after <= soon, "{what}");
    }
}
