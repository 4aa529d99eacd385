//! Tests of the kernels that rehearsals of solves ask for.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::multigrid::{Multigrid, MultigridParams, Transfer};
use super::{
    DiracSolver, Method, ModeParams, Modes, Overlap, OverlapAlgorithm, OverlapModes,
    OverlapPreconditioner, OverlapSolveParams, OverlapSolver, Sign, SignParams, SolveParams,
};
use crate::backend::families::symbol;
use crate::backend::tests::common::{devices, Lex};
use crate::backend::{Device, RequestedKernel, WIDE};
use crate::error::Result;
use crate::fields::{
    basis, blas, CoarseField, CoarseGrid, GaugeField, Geometry, Noise, Precision, Recon,
    SpinorField, Subset,
};
use crate::linop::LinOp;
use crate::operators::{
    ActionParams, DiracParams, Distance, HermitianWilson, LinkPrecision, QuarkAction,
};
use crate::solvers::{no_monitor, SolverKind, SolverParams, Stop};

/// The names of the requested kernels, with their constants.
pub(crate) fn kernels(asked: &[RequestedKernel]) -> BTreeSet<String> {
    let line = |a: &RequestedKernel| format!("{} {:?} {:?}", a.kernel.name, a.params, a.specs);
    asked.iter().map(line).collect()
}

fn clover(extents: [usize; 4]) -> (Device, Arc<Geometry>, Arc<dyn QuarkAction>) {
    let device = Device::cpu(2).unwrap();
    let geometry = Geometry::new(extents, &device).unwrap();
    let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
    links.set_near_unit(7, 0.4).unwrap();
    let dirac = DiracParams { csw: 1.2, csw_t: 1.2, ..DiracParams::default() }.with_kappa(0.11);
    let op = ActionParams::from(dirac).create(Arc::new(links)).unwrap();
    (device, geometry, op)
}

#[test]
fn a_rehearsed_set_up_asks_for_most_kernels() {
    let (device, _, op) = clover([8, 8, 8, 8]);
    let params = MultigridParams::for_lattice(op.links().geometry());
    let dry = device.dry();
    let there = op.like_on(&dry).unwrap();
    let rehearsed = kernels(&dry.recorded(|| {
        let _ = Multigrid::new(&*there, &params);
    }));
    let launched = kernels(&device.recorded(|| {
        Multigrid::new(&*op, &params).unwrap();
    }));
    let missed: Vec<_> = launched.difference(&rehearsed).collect();
    assert!(5 * missed.len() < launched.len(), "not rehearsed: {missed:#?} of {}", launched.len());
}

#[test]
fn a_rehearsed_solve_asks_for_its_kernels_and_changes_nothing() {
    let (device, geometry, op) = clover([4, 4, 4, 8]);
    for kind in [SolverKind::BiCgStab, SolverKind::Cgnr, SolverKind::Gcr] {
        let solver = SolverParams { kind, stop: Stop::at(1e-9), ..SolverParams::default() };
        let sloppy = Some((Precision::F32, Recon::R12));
        let distance = (kind == SolverKind::Gcr).then_some(Distance { alpha: 0.1, t0: 1 });
        let params = SolveParams { solver, sloppy, distance, ..SolveParams::default() };
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        let field =
            || SpinorField::new(&device, &geometry, Precision::F64, Subset::Full, 2).unwrap();
        let (mut x, mut b) = (field(), field());
        x.set_noise(Noise::Normal, 1, 0).unwrap();
        b.set_noise(Noise::Normal, 2, 0).unwrap();
        let before = x.save_lex().unwrap();
        let dry = device.dry();
        let rehearsed = {
            let params = solver.params().clone();
            let there = DiracSolver::new(op.like_on(&dry).unwrap(), params).unwrap();
            let (mut x, b) = (x.like_on(&dry).unwrap(), b.like_on(&dry).unwrap());
            dry.recorded(|| there.run_through(&mut x, &b))
        };
        assert_eq!(x.save_lex().unwrap(), before, "{kind:?}");
        let launched = device.recorded(|| {
            solver.solve(&mut x, &b, &mut |_| ControlFlow::Continue(())).unwrap();
        });
        let names = |asked: &[RequestedKernel]| -> BTreeSet<String> {
            asked.iter().map(|a| symbol(a.kernel, &a.params)).collect()
        };
        let planned = solver.needs(2).unwrap().kernels;
        let announced: BTreeSet<String> = planned.names.iter().cloned().collect();
        let missed = names(&launched).difference(&announced).count();
        assert!(10 * missed < launched.len() && planned.to_compile == 0, "{kind:?}: {planned:?}");
        assert!(announced.is_subset(&names(&rehearsed)), "{kind:?}: {planned:?}");
        let (launched, rehearsed) = (kernels(&launched), kernels(&rehearsed));
        let missed: Vec<_> = launched.difference(&rehearsed).collect();
        // Rehearsals with made-up sums miss some kernels.
        assert!(10 * missed.len() < launched.len(), "{kind:?}: not rehearsed: {missed:#?}");
        assert!(launched.len() > 5, "{kind:?}: {launched:#?}");
    }
}

fn overlap() -> (Arc<HermitianWilson>, ModeParams, SignParams) {
    let (_, _, op) = clover([4, 4, 4, 8]);
    let kernel = Overlap::kernel(op.links().clone(), 0.4, DiracParams::default()).unwrap();
    let modes = ModeParams { count: Some(4), tol: 1e-8, ..ModeParams::default() };
    (kernel, modes, SignParams { delta: 1e-4, ..SignParams::default() })
}

/// Fails if more than `max` launched kernels were not rehearsed, or if more than a tenth as many were rehearsed and
/// not launched, since compiling those takes time for nothing.
pub(crate) fn compare(
    what: &str,
    rehearsed: &[RequestedKernel],
    launched: &[RequestedKernel],
    max: usize,
) {
    let (rehearsed, launched) = (kernels(rehearsed), kernels(launched));
    assert!(launched.len() > 4, "{what}: {launched:#?}");
    let missed: Vec<_> = launched.difference(&rehearsed).collect();
    assert!(missed.len() <= max, "{what}: not rehearsed: {missed:#?} of {}", launched.len());
    let vain: Vec<_> = rehearsed.difference(&launched).collect();
    assert!(10 * vain.len() <= launched.len(), "{what}: in vain: {vain:#?} of {}", launched.len());
}

/// Checks that `work` launches on a device exactly the kernels for which it asks in a rehearsal.
fn covered<T>(what: &str, device: &Device, mut work: impl FnMut(&Device) -> Result<T>) -> T {
    let dry = device.dry();
    let rehearsed = dry.recorded(|| _ = work(&dry));
    let mut done = None;
    let launched = device.recorded(|| done = Some(work(device).unwrap()));
    compare(what, &rehearsed, &launched, 0);
    done.unwrap()
}

#[test]
fn a_rehearsed_overlap_operator_asks_for_its_kernels() {
    let (kernel, modes, sign) = overlap();
    let device = kernel.shape().device;
    // The kernel itself on its own device, or a kernel like it on another device.
    let kernel_on = |on: &Device| match *on == device {
        true => Ok(kernel.clone()),
        false => kernel.like_on(on).map(Arc::new),
    };
    let modes = Arc::new(covered("modes", &device, |on| {
        Modes::find(&kernel_on(on)?, None, &modes, None, &mut no_monitor)
    }));
    for method in [Method::Polynomial, Method::Zolotarev] {
        let params = SignParams { method, ..sign.clone() };
        let sign = Arc::new(Sign::new(kernel.clone(), modes.clone(), params).unwrap());
        let op = Overlap::new(sign.clone(), 0.05).unwrap();
        let shape = op.shape();
        let (mut x, mut y) = (shape.field(2).unwrap(), shape.field(2).unwrap());
        x.set_noise(Noise::Normal, 1, 0).unwrap();
        covered("application", &device, |on| match *on == device {
            true => op.apply(&mut y, &x),
            false => op.like_on(on)?.apply(&mut y.like_on(on)?, &x.like_on(on)?),
        });
        let (image, work) = (y.save_lex().unwrap(), sign.multiplications());
        let dry = device.dry();
        let there = op.like_on(&dry).unwrap();
        there.apply(&mut y.like_on(&dry).unwrap(), &x.like_on(&dry).unwrap()).unwrap();
        assert_eq!(y.save_lex().unwrap(), image, "{method:?}");
        assert_eq!(sign.multiplications(), work, "{method:?}");
    }
}

#[test]
fn rehearsed_inverses_of_the_overlap_operator_ask_for_their_kernels() {
    let (kernel, modes, sign) = overlap();
    let op = Arc::new(Overlap::build(kernel, 0.3, &modes, sign, &mut no_monitor).unwrap());
    let (shape, device) = (op.shape(), op.shape().device);
    let op_on = |on: &Device| match *on == device {
        true => Ok(op.clone()),
        false => op.like_on(on).map(Arc::new),
    };
    let low = Arc::new(covered("low modes", &device, |on| {
        OverlapModes::find(&*op_on(on)?, 2, 1e-3, &mut no_monitor)
    }));
    let mut b = shape.field(2).unwrap();
    b.set_noise(Noise::Normal, 1, 0).unwrap();
    let wilson = OverlapPreconditioner::wilson(0.0);
    for (algorithm, preconditioner) in [
        (OverlapAlgorithm::ChiralCg, OverlapPreconditioner::None),
        (OverlapAlgorithm::Sumr, OverlapPreconditioner::None),
        (OverlapAlgorithm::Gcr, wilson),
    ] {
        let params = OverlapSolveParams {
            algorithm,
            preconditioner,
            tol: 1e-3,
            sloppy: Some((Precision::F32, Recon::R12)),
            ..Default::default()
        };
        let solver = OverlapSolver::new(op.clone(), Some(low.clone()), params).unwrap();
        let on = |on: &Device| -> Result<_> {
            match *on == device {
                true => Ok((None, b.alias()?)),
                false => Ok((Some(solver.like_on(on)?), b.like_on(on)?)),
            }
        };
        covered(&format!("{algorithm:?}"), &device, |device| {
            let (like, b) = on(device)?;
            let mut x = b.like(b.precision())?;
            like.as_ref().unwrap_or(&solver).solve(&mut x, &b, &mut no_monitor)
        });
        if algorithm == OverlapAlgorithm::ChiralCg {
            covered("masses", &device, |device| {
                let (like, b) = on(device)?;
                let mut xs = [b.like(b.precision())?, b.like(b.precision())?];
                let solver = like.as_ref().unwrap_or(&solver);
                solver.solve_masses(&[0.3, 0.5], &mut xs, &b, &mut no_monitor)
            });
        }
    }
}

/// A solve on a second lattice compiles only those kernels that have the lattice's extents as constants.
#[test]
fn a_second_lattice_shares_kernels_that_know_no_lattice() {
    let solves = |extents| {
        let (device, _, op) = clover(extents);
        let asked = device.recorded(|| {
            let params = MultigridParams::for_lattice(op.links().geometry());
            for kind in [SolverKind::BiCgStab, SolverKind::Cgnr, SolverKind::Gcr] {
                let solver = SolverParams { kind, stop: Stop::at(1e-8), ..SolverParams::default() };
                let sloppy = Some((Precision::F32, Recon::R12));
                let params = SolveParams { solver, sloppy, ..SolveParams::default() };
                let solver = DiracSolver::new(op.clone(), params).unwrap();
                let shape = op.shape();
                let (mut x, mut b) = (shape.field(2).unwrap(), shape.field(2).unwrap());
                b.set_noise(Noise::Normal, 2, 0).unwrap();
                solver.solve(&mut x, &b, &mut no_monitor).unwrap();
            }
            Multigrid::new(&*op, &params).unwrap();
        });
        kernels(&asked)
    };
    let (first, second) = (solves([8, 8, 8, 8]), solves([8, 8, 8, 16]));
    let anew: Vec<_> = second.difference(&first).collect();
    let extents = |k: &str| k.contains("PLAQ_SPEC_Geom_t\"");
    let plain: Vec<_> = anew.iter().filter(|k| !extents(k)).collect();
    println!(
        "{} of {} kernels anew, {} of them without extents",
        anew.len(),
        second.len(),
        plain.len()
    );
    let names =
        ["blas ", "blas_sum ", "blas_mixed ", "heavy_quark ", "convert_gauge ", "clover_invert "];
    for name in names {
        let of = |all: &BTreeSet<String>| -> Vec<String> {
            all.iter().filter(|k| k.starts_with(name)).cloned().collect()
        };
        assert!(!of(&second).is_empty(), "{name}");
        assert!(of(&second).iter().all(|k| !k.contains("volume") && !extents(k)), "{name}");
    }
    assert!(plain.is_empty(), "{plain:#?}");
    assert!(2 * anew.len() < second.len(), "{anew:#?}");
}

/// Multigrid is chosen for light quarks, many solves and large lattices; if the set-up has been done already, its
/// cost does not count.
#[test]
fn multigrid_is_chosen_where_its_set_up_pays() {
    use super::overlap::choice::Work;
    let work = |l: usize, cpu, distance, solves| Work {
        sites: [l * l * l * 2 * l; 2],
        cpu,
        distance,
        tol: 1e-7,
        solves,
        ready: false,
    };
    // Twelve columns at m = 0.05, 0.02, 0.01, on one CPU and one GPU.
    let wins = |l, cpu| [0.1, 0.04, 0.01].map(|e| work(l, cpu, e, 12).multigrid_wins());
    assert_eq!(wins(8, true), [false, true, true]);
    assert_eq!(wins(16, false), [false, false, true]);
    assert_eq!(wins(32, false), [false, true, true]);
    assert_eq!(wins(4, true), [false; 3]);
    // A set-up of multigrid does not pay for one column.
    let one = work(8, true, 0.04, 1);
    assert!(!one.multigrid_wins() && Work { ready: true, ..one }.multigrid_wins());
    assert!(!Work { distance: 0.1, ready: true, ..one }.multigrid_wins());
}

/// Products that exceed 2^31 or 2^32 are right: sites times components times right-hand sides, bytes, and elements of
/// a launch.
#[test]
fn objects_have_more_numbers_than_32_bits_count() {
    let cpu = Device::cpu(1).unwrap();
    for device in [cpu.stand_in_gpu(), cpu.stand_in()] {
        for work in [many_sites, many_columns] {
            let mut done = Ok(());
            let asked = device.recorded(|| done = work(&device));
            done.unwrap();
            let (elements, sites): (Vec<_>, Vec<_>) =
                asked.iter().partition(|asked| asked.kernel.elements);
            assert!(sites.iter().all(|asked| asked.work.n < 1 << 31));
            let wide = |a: &&&RequestedKernel| a.specs.contains(&(WIDE, 1));
            let many: Vec<_> = elements.iter().filter(|a| a.work.n > 1 << 31).collect();
            assert!(many.iter().all(wide));
            // On a CPU an element is a whole site.
            if !device.is_cpu() {
                assert!(many.iter().any(|a| a.work.n > 1 << 32), "{}", many.len());
            }
        }
        assert!(device.used().1 > 1 << 36, "{:?}", device.used());
    }
}

/// Runs tests on a lattice with 2^30 sites, the largest number that a rank may have.
fn many_sites(device: &Device) -> Result<()> {
    let geometry = Geometry::new([256, 256, 128, 128], device)?;
    for precision in Precision::ALL {
        let field = || SpinorField::new(device, &geometry, precision, Subset::Full, 2);
        let (mut x, mut y) = (field()?, field()?);
        x.set_noise(Noise::Normal, 1, 0)?;
        y.copy_rhs(0, &x, 0, 2)?;
        blas::axpby(&blas::uniform(2, 1.0), &x, &blas::uniform(2, 2.0), &mut y)?;
        blas::dot_norm(&x, &y)?;
        if precision != Precision::F16 {
            basis::dots(&x, 0..2, &y, 0..2)?;
            basis::combine(&x, 0..2, &blas::uniform(4, 1.0), 1.0, &mut y, 0..2)?;
            basis::rotate(&mut y, 0..2, &blas::uniform(4, 1.0))?;
        }
    }
    let links = GaugeField::new(device, &geometry, Precision::F64, Recon::R18)?;
    let dirac = DiracParams { csw: 1.0, csw_t: 1.0, ..DiracParams::default() }.with_kappa(0.11);
    let links = Arc::new(links.to(Precision::F32, Recon::R12)?);
    let op = ActionParams::from(dirac).create(links)?;
    let x = SpinorField::new(device, &geometry, Precision::F32, Subset::Full, 2)?;
    let mut y = x.like_with(Precision::F32, 2)?;
    op.apply(&mut y, &x)
}

/// Runs tests on 2^20 sites with 352 null vectors and 352 columns.
fn many_columns(device: &Device) -> Result<()> {
    let geometry = Geometry::new([32; 4], device)?;
    let (grid, columns) = (CoarseGrid::finest(&geometry, device)?, 352);
    for precision in [Precision::F64, Precision::F32] {
        let mut vectors = CoarseField::new(&grid, precision, Subset::Full, 12, columns)?;
        let mut one = SpinorField::new(device, &geometry, precision, Subset::Full, 8)?;
        vectors.copy_from_spinors(columns - 8, &one, None)?;
        vectors.copy_to_spinors(columns - 8, &mut one, 0)?;
        let mut other = vectors.like(columns)?;
        other.copy_from_columns(0, &vectors, 0, columns, 0)?;
        other.axpy(&blas::uniform(columns, 1.0), &vectors)?;
        other.dot_norm(&vectors)?;
        let transfer = Transfer::new(vectors, [4; 4])?;
        let mut coarse =
            CoarseField::new(transfer.coarse(), precision, Subset::Full, 2 * columns, columns)?;
        transfer.restrict(&mut coarse, &other)?;
        transfer.prolong(&mut other, &coarse)?;
        if precision == Precision::F32 {
            for bits in [LinkPrecision::Half, LinkPrecision::Quarter] {
                let mut short = Transfer::new(other.like(columns)?, [4; 4])?;
                short.shorten(bits, None)?;
                short.prolong(&mut other, &coarse)?;
            }
        }
    }
    Ok(())
}

/// On a GPU with enough memory, vectors have more than 2^31 complex numbers, elsewhere a few: every column is stored
/// where it belongs, and null vectors that are restricted and prolonged again are unchanged.
#[test]
fn columns_that_32_bits_do_not_count_are_right() {
    for device in devices() {
        let large = !device.is_cpu() && device.memory().unwrap().0 > 70_000_000_000;
        let (extents, columns) = if large { ([32; 4], 176) } else { ([8, 4, 4, 8], 16) };
        let geometry = Geometry::new(extents, &device).unwrap();
        let grid = CoarseGrid::finest(&geometry, &device).unwrap();
        println!("{}: {} complex numbers", device.name(), geometry.volume() * 12 * columns);
        let new = || CoarseField::new(&grid, Precision::F32, Subset::Full, 12, columns).unwrap();
        let mut noise =
            SpinorField::new(&device, &geometry, Precision::F32, Subset::Full, 8).unwrap();
        let (mut x, mut y) = (new(), new());
        let mut norms = vec![];
        for first in (0..columns).step_by(8) {
            noise.set_noise(Noise::Normal, 3, first as u32).unwrap();
            x.copy_from_spinors(first, &noise, None).unwrap();
            norms.extend(blas::norm2(&noise).unwrap());
        }
        let near = |found: &[f64], factor: f64| {
            let off = found.iter().zip(&norms).map(|(f, n)| (f / (factor * n) - 1.0).abs());
            assert!(found.len() == columns && off.fold(0.0, f64::max) < 1e-6, "{found:?}");
        };
        near(&x.norm2().unwrap(), 1.0);
        y.copy_from_columns(0, &x, 0, columns, 0).unwrap();
        y.axpby(&blas::uniform(columns, 3.0), &x, &blas::uniform(columns, 2.0)).unwrap();
        near(&y.norm2().unwrap(), 25.0);
        let mut back = noise.like_with(Precision::F32, 8).unwrap();
        x.copy_to_spinors(columns - 8, &mut back, 0).unwrap();
        assert!(back.save_lex().unwrap() == noise.save_lex().unwrap());

        y.copy(&x).unwrap();
        let transfer = Transfer::new(x, [4; 4]).unwrap();
        let coarse = transfer.coarse();
        let mut c = CoarseField::new(coarse, Precision::F32, Subset::Full, 2 * columns, columns);
        let c = c.as_mut().unwrap();
        transfer.restrict(c, &y).unwrap();
        near(&c.norm2().unwrap(), 1.0);
        let mut z = new();
        transfer.prolong(&mut z, c).unwrap();
        z.axpy(&blas::uniform(columns, -1.0), &y).unwrap();
        let left = z.norm2().unwrap();
        assert!(left.iter().zip(&norms).all(|(l, n)| l / n < 1e-9), "{left:?}");
    }
}

/// Right-hand sides are solved for in even parts, as large as memory allows.
#[test]
fn right_hand_sides_at_a_time_fit() {
    let device = Device::cpu(1).unwrap();
    let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
    let links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
    let dirac = DiracParams::default().with_kappa(0.11);
    let op = ActionParams::from(dirac).create(Arc::new(links)).unwrap();
    let solver = SolverParams { kind: SolverKind::BiCgStab, ..Default::default() };
    let params = SolveParams { solver, ..SolveParams::default() };
    let solver = DiracSolver::new(op.clone(), params).unwrap();
    for (columns, nrhs, expected) in [(12, 12, 12), (11, 12, 6), (5, 12, 4), (5, 7, 4), (1, 5, 1)] {
        let need = 2 * op.shape().bytes(columns) + solver.memory(columns).unwrap();
        device.limit_memory(device.used().0 + need);
        let found = solver.part_of(nrhs);
        device.limit_memory(u64::MAX);
        assert_eq!(found.unwrap(), expected, "{columns} {nrhs}");
    }
    device.limit_memory(device.used().0 + 1);
    let found = solver.part_of(12);
    device.limit_memory(u64::MAX);
    assert_eq!(found.unwrap(), 1);
}
