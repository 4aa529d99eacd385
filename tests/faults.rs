//! Tests in which one rank fails in set-up or in a solve, or does not respond: the others return its error, or return
//! within the time-out, and the ranks can go on. Runs only under mpirun (scripts/ranks.sh).

use crate::common;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::remote::remotes;
use common::{devices, ranks, Lex};
use plaq::backend::Device;
use plaq::comm::{Comm, Communicator, Options, RankMap};
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::{Error, Result, Status};
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::solvers::{no_monitor, SolverParams, Stop};

const TIMEOUT: f64 = 3.0;

/// A communicator whose ranks wait for each other for at most a short time-out.
fn comm() -> Arc<Comm> {
    let timeout = Some(Duration::from_secs_f64(TIMEOUT));
    let grid = ranks().grid().map(|n| n as i32);
    let options = Options { timeout, ..Default::default() };
    Comm::mpi(Communicator::World, grid, &RankMap::Default, &options).expect("ranks")
}

struct Job {
    comm: Arc<Comm>,
    solver: DiracSolver,
    source: SpinorField,
}

impl Job {
    fn new(device: &Device, comm: &Arc<Comm>) -> Result<Job> {
        let extents = std::array::from_fn(|mu| 4 * comm.grid()[mu]);
        let geometry = Geometry::decomposed(extents, device, comm)?;
        let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18)?;
        u.set_near_unit(5, 0.3)?;
        let dirac = DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() };
        let op = Wilson::new(Arc::new(u), dirac.with_kappa(0.11))?;
        let params = SolveParams {
            solver: SolverParams { stop: Stop::at(1e-10), ..Default::default() },
            sloppy: Some((Precision::F32, Recon::R12)),
            ..Default::default()
        };
        let mut source = SpinorField::new(device, &geometry, Precision::F64, Subset::Full, 1)?;
        source.set_noise(Noise::Normal, 3, 0)?;
        Ok(Job { comm: comm.clone(), solver: DiracSolver::new(Arc::new(op), params)?, source })
    }

    /// Number of iterations of a solve; `fault` is called before this rank takes part, and again during the solve.
    fn solve(&self, fault: impl Fn(usize) -> Result<()>) -> Result<usize> {
        self.comm.guard(|| {
            fault(0)?;
            let mut x = self.source.like(Precision::F64)?;
            let report = self.solver.solve(&mut x, &self.source, &mut no_monitor)?;
            fault(report.solver.iterations)?;
            assert!(report.solver.converged);
            Ok(report.solver.iterations)
        })
    }
}

/// The result of `body`, which must return within one and a half time-outs.
fn in_time<T>(body: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = body();
    let waited = start.elapsed().as_secs_f64();
    assert!(waited < 1.5 * TIMEOUT, "returned after {waited} s");
    result
}

#[test]
fn a_rank_that_fails_in_set_up_or_in_a_solve() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    for device in devices() {
        // A first solve, without a time limit, compiles the kernels.
        let healthy = Job::new(&device, &ranks()).unwrap().solve(|_| Ok(())).unwrap();
        let comm = comm();
        let mut job = Job::new(&device, &comm).unwrap();
        assert_eq!(job.solve(|_| Ok(())).unwrap(), healthy);
        let last = comm.size() - 1;
        let broken = |when: usize| {
            move |at: usize| match (at > 0) == (when > 0) && ranks().rank() == last {
                true => Err(Error::new(Status::OutOfMemory, "no room")),
                false => Ok(()),
            }
        };
        for when in [0, 1] {
            let error = in_time(|| job.solve(broken(when))).unwrap_err();
            assert_eq!(error.status, Status::OutOfMemory, "{error}");
            let own = comm.rank() == last;
            assert!(own || error.message().contains(&format!("rank {last}: no room")), "{error}");
            // Fields and operators of the failed call can be used as before.
            assert_eq!(job.solve(|_| Ok(())).unwrap(), healthy, "{}", device.name());
        }
        // The source has a NaN on the last rank.
        let good = job.source.save_lex().unwrap();
        let mut numbers = good.clone();
        *numbers.last_mut().unwrap() = f64::NAN;
        job.source.load_lex(&numbers).unwrap();
        let found = in_time(|| job.solve(|_| Ok(())));
        assert_eq!(found.unwrap_err().status, Status::NotFinite);
        job.source.load_lex(&good).unwrap();
        assert_eq!(job.solve(|_| Ok(())).unwrap(), healthy);
        ranks().agree(Ok(())).unwrap();
    }
}

#[test]
fn a_rank_that_does_not_answer() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    for device in devices() {
        // A first solve, without a time limit, compiles the kernels.
        Job::new(&device, &ranks()).unwrap().solve(|_| Ok(())).unwrap();
        let comm = comm();
        let job = Job::new(&device, &comm).unwrap();
        job.solve(|_| Ok(())).unwrap();
        ranks().agree(Ok(())).unwrap();
        if comm.rank() == 0 {
            // This rank does not answer until the others have given up, for which `in_time` sets a limit.
            std::thread::sleep(Duration::from_secs_f64(1.5 * TIMEOUT));
        } else {
            let error = in_time(|| job.solve(|_| Ok(()))).unwrap_err();
            assert_eq!(error.status, Status::CommFailed, "{}: {error}", device.name());
        }
        // The lost ranks refuse every call, while another Comm works.
        assert_eq!(job.solve(|_| Ok(())).unwrap_err().status, Status::CommFailed);
        ranks().agree(Ok(())).unwrap();
        drop(job);
        Job::new(&device, &ranks()).unwrap().solve(|_| Ok(())).unwrap();
    }
}

/// Operators on devices that stand in for GPUs, with every way of messages: a rank that fails between two operators
/// or does not respond ends the others in time, and then all can go on together.
#[test]
fn a_rank_that_leaves_the_others_without_messages() {
    if ranks().size() == 1 {
        return println!("skipped: one rank");
    }
    for device in devices().into_iter().chain(remotes(&ranks())) {
        let hops = |comm: &Arc<Comm>, fault: &dyn Fn() -> Result<()>| {
            let extents = std::array::from_fn(|mu| 4 * comm.grid()[mu]);
            let geometry = Geometry::decomposed(extents, &device, comm)?;
            comm.guard(|| {
                let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
                u.set_near_unit(5, 0.3)?;
                let op = Wilson::new(Arc::new(u), DiracParams::default().with_kappa(0.11))?;
                let mut x = op.shape().field(1)?;
                x.set_noise(Noise::Normal, 3, 0)?;
                for round in 0..6 {
                    let mut y = x.like(Precision::F64)?;
                    op.apply(&mut y, &x)?;
                    x = y;
                    if round == 3 {
                        fault()?;
                    }
                }
                x.save_lex()
            })
        };
        let well = hops(&ranks(), &|| Ok(())).unwrap();
        let last = ranks().size() - 1;
        let own = ranks().rank() == last;
        let comm = comm();
        assert!(hops(&comm, &|| Ok(())).unwrap() == well);
        let fails = || match own {
            true => Err(Error::new(Status::OutOfMemory, "no room")),
            false => Ok(()),
        };
        let error = in_time(|| hops(&comm, &fails)).unwrap_err();
        assert_eq!(error.status, Status::OutOfMemory, "{}: {error}", device.name());
        assert!(hops(&comm, &|| Ok(())).unwrap() == well, "{}", device.name());
        ranks().agree(Ok(())).unwrap();
        let sleeps = || {
            if own {
                std::thread::sleep(Duration::from_secs_f64(1.5 * TIMEOUT));
            }
            Ok(())
        };
        let start = Instant::now();
        let error = hops(&comm, &sleeps).unwrap_err();
        assert_eq!(error.status, Status::CommFailed, "{}: {error}", device.name());
        let waited = start.elapsed().as_secs_f64();
        assert!(own || waited < 1.5 * TIMEOUT, "{}: returned after {waited} s", device.name());
        ranks().agree(Ok(())).unwrap();
        drop(comm);
        assert!(hops(&ranks(), &|| Ok(())).unwrap() == well);
    }
}
