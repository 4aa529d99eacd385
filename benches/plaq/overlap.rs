//! The overlap operator on links near the unit matrix: an application of Q, of the sign function (degree of the
//! polynomial or number of poles in the name, for the polynomial the ratio of its time to that of its 2 n + 1
//! multiplications with Q), low modes of the kernel by Lanczos and by the Ritz functional, twelve columns of a
//! propagator by chiral CG in double without help, with all of it, by SUMR, by what the library chooses, and by
//! GCR with multigrid. Modes and propagators are of lattices up to 16^3 x 32, propagators on a CPU up to 8^4. The
//! rate of an eigensolver is that of its multiplications with Q^2; a search ends after 60 times the seconds of a row,
//! on a CPU both, on a GPU that by the Ritz functional, and its rate is what compares.

use std::sync::Arc;
use std::time::Instant;

use plaq::compose::multigrid::{Multigrid, MultigridParams};
use plaq::compose::{
    Method, ModeParams, Modes, Overlap, OverlapAlgorithm, OverlapPreconditioner,
    OverlapSolveParams, OverlapSolver, Sign, SignParams,
};
use plaq::error::Result;
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, Subset};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, HermitianWilson, KernelSquare};
use plaq::solvers::{eigen, no_monitor, ritz, EigenParams, EigenReport, End, RitzParams};

use super::{measure, row, slowest, Bench, Options};

const LINK: Option<Recon> = Some(Recon::R12);
const METHODS: [(Method, &str); 2] =
    [(Method::Polynomial, "polynomial"), (Method::Zolotarev, "zolotarev")];
const SOLVES: [&str; 5] = ["cg double", "cg", "sumr", "default", "gcr multigrid"];

pub fn rows(o: &mut Options, geometry: &Arc<Geometry>, copy: f64) -> Result<()> {
    let mut b = Bench { o, geometry, precision: Precision::F64, copy };
    let mut applications = vec![];
    for precision in Precision::ALL {
        b.precision = precision;
        for (method, name) in METHODS {
            for nrhs in [1, 12] {
                let half = precision == Precision::F16 && method == Method::Zolotarev;
                if !half && b.wanted(&format!("overlap {name}"), "R12", nrhs) {
                    applications.push((precision, method, name, nrhs));
                }
            }
        }
    }
    b.precision = Precision::F64;
    let max = 16 * 16 * 16 * 32;
    let small = geometry.global_volume() <= max;
    let modes = ["lanczos", "ritz"].map(|f| small && b.wanted(&format!("overlap {f}"), "R12", 1));
    let small = small && (!b.o.device.is_cpu() || geometry.global_volume() <= 8 * 8 * 8 * 8);
    let solves = SOLVES.map(|s| small && b.wanted(&format!("overlap propagator {s}"), "R12", 12));
    if applications.is_empty() && !modes.contains(&true) && !solves.contains(&true) {
        return Ok(());
    }
    let mut u = GaugeField::new(&b.o.device, geometry, Precision::F64, Recon::R18)?;
    u.set_near_unit(1, 0.4)?;
    let kernel = Overlap::kernel(Arc::new(u), 0.4, DiracParams::default())?;
    let kernel =
        Arc::new(HermitianWilson::new(Arc::new(kernel.op().to(Precision::F64, Recon::R12)?))?);
    finders(&mut b, &kernel, modes)?;
    // The low modes of this kernel are too dense to be projected.
    let params = ModeParams { count: Some(0), tol: 1e-6, ..Default::default() };
    let found = Arc::new(Modes::find(&kernel, None, &params, None, &mut no_monitor)?);
    for (method, name) in METHODS {
        if !applications.iter().any(|a| a.1 == method) {
            continue;
        }
        let params = SignParams { delta: 1e-8, method, ..Default::default() };
        let sign = Sign::new(kernel.clone(), found.clone(), params)?;
        for &(precision, _, _, nrhs) in applications.iter().filter(|a| a.1 == method) {
            b.precision = precision;
            let own = sign.to(precision, Recon::R12)?;
            let (inp, mut out) = (b.field(Subset::Full, nrhs)?, b.field(Subset::Full, nrhs)?);
            let (flops, bytes) = (nrhs as f64 * own.flops(), own.bytes(nrhs));
            let name = format!("overlap {name} {}", own.degree());
            let time = measure(&b, || own.apply(&mut out, &inp))?;
            if method != Method::Polynomial {
                row(&mut b, &name, LINK, nrhs, time, flops, bytes)?;
                continue;
            }
            let q = own.kernel();
            let one = measure(&b, || q.apply(&mut out, &inp))?;
            let work = (nrhs as f64 * q.flops(), q.op().bytes(nrhs));
            row(&mut b, "overlap kernel", LINK, nrhs, one, work.0, work.1)?;
            let ratio = time / ((2 * own.degree() + 1) as f64 * one);
            row(&mut b, &format!("{name} {ratio:.2} Q"), LINK, nrhs, time, flops, bytes)?;
        }
    }
    b.precision = Precision::F64;
    if solves.contains(&true) {
        let sign = Sign::new(kernel, found, SignParams::default())?;
        propagators(&mut b, &Arc::new(Overlap::new(Arc::new(sign), 0.05)?), solves)?;
    }
    Ok(())
}

/// Searches for 32 low modes to the same residual by both eigensolvers; a first search for few modes compiles kernels.
/// A row says if a search did not converge.
fn finders(b: &mut Bench, kernel: &Arc<HermitianWilson>, wanted: [bool; 2]) -> Result<()> {
    let square = KernelSquare(kernel.clone());
    let seconds = 60.0 * b.o.seconds;
    let max = [if b.o.device.is_cpu() { seconds } else { f64::INFINITY }, seconds];
    let largest = EigenParams { count: 1, end: End::Largest, tol: 1e-4, ..Default::default() };
    let top = eigen(&square, None, &largest, None, &mut no_monitor)?.1.values[0];
    for (k, what) in ["lanczos", "ritz"].into_iter().enumerate() {
        if !wanted[k] {
            continue;
        }
        let mut last = (0.0, EigenReport::default());
        for (count, max_seconds) in [(2, 0.1 * max[k]), (32, max[k])] {
            let tol = 1e-9;
            let start = Instant::now();
            let (_, found) = if k == 0 {
                let params = EigenParams { count, tol, max_seconds, ..Default::default() };
                eigen(&square, None, &params, None, &mut no_monitor)?
            } else {
                let tol = tol * top;
                let params = RitzParams { count, tol, max_seconds, ..Default::default() };
                ritz(&square, &params, None, &mut no_monitor)?
            };
            last = (slowest(b.geometry.comm(), start.elapsed().as_secs_f64())?, found);
        }
        let (time, found) = last;
        let cut = if found.converged { "" } else { " cut short" };
        let flops = found.applications as f64 * square.flops();
        row(b, &format!("overlap {what} 32{cut}"), LINK, 1, time, flops, 0.0)?;
    }
    Ok(())
}

/// Solves for twelve columns of noise, with the number of iterations in the name. A first solve to a large tolerance
/// compiles kernels.
fn propagators(b: &mut Bench, op: &Arc<Overlap>, wanted: [bool; 5]) -> Result<()> {
    let mut source = op.shape().field(12)?;
    source.set_noise(Noise::Normal, 3, 0)?;
    let mut x = op.shape().field(12)?;
    for (k, what) in SOLVES.into_iter().enumerate() {
        if !wanted[k] {
            continue;
        }
        let sloppy = Some((Precision::F32, Recon::R12));
        let algorithm = OverlapAlgorithm::ChiralCg;
        let plain = OverlapSolveParams { algorithm, tol: 1e-7, relax: false, ..Default::default() };
        let helped = OverlapSolveParams { sloppy, relax: true, ..plain.clone() };
        let mass = -0.05;
        let sumr = OverlapSolveParams { algorithm: OverlapAlgorithm::Sumr, ..helped.clone() };
        let default = OverlapSolveParams { algorithm: OverlapAlgorithm::Auto, ..helped.clone() };
        let multigrid = OverlapSolveParams {
            algorithm: OverlapAlgorithm::Gcr,
            preconditioner: OverlapPreconditioner::Wilson { mass, tol: 0.1, max_iterations: 100 },
            ..helped.clone()
        };
        let params = [plain, helped, sumr, default, multigrid][k].clone();
        let hierarchy = match what {
            "gcr multigrid" => {
                let levels = MultigridParams::for_lattice(b.geometry);
                let hierarchy = Multigrid::new(&*op.wilson(mass)?, &levels)?;
                let seconds = slowest(b.geometry.comm(), hierarchy.report().setup_seconds)?;
                row(b, "overlap multigrid setup", LINK, 1, seconds, 0.0, 0.0)?;
                Some(Arc::new(hierarchy))
            }
            _ => None,
        };
        let mut time = (0.0, 0);
        for tol in [0.1, params.tol] {
            let params = OverlapSolveParams { tol, ..params.clone() };
            let mut solver = OverlapSolver::new(op.clone(), None, params)?;
            if let Some(h) = &hierarchy {
                solver = solver.with_multigrid(h.clone())?;
            }
            let done = solver.solve(&mut x, &source, &mut no_monitor)?;
            time = (slowest(b.geometry.comm(), done.seconds)?, done.iterations);
        }
        row(b, &format!("overlap propagator {what} {}", time.1), LINK, 12, time.0, 0.0, 0.0)?;
    }
    Ok(())
}
