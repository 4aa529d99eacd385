//! A lattice divided over ranks gives the results of the undivided lattice. On one rank, faces pass through messages
//! to itself in single directions, in some and in all; under mpirun (scripts/ranks.sh) they pass between the ranks.

use crate::common;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Instant;

use common::remote::{connected_but_for, remotes, shared_but_for, SUMS};
use common::{devices, distance, extents_on, largest, over_ranks, ranks, Lex, EXTENTS};
use num_complex::Complex64;
use plaq::backend::Device;
use plaq::comm::Comm;
use plaq::compose::{DiracSolver, Equations, Schur, SolveParams};
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{Boundary, DiracParams, Wilson};
use plaq::ops::correlators::correlators;
use plaq::ops::observables::{field_strength, plaquette, polyakov_loop, unitarity};
use plaq::ops::propagator::{propagator, COLUMNS};
use plaq::ops::quenched::Quenched;
use plaq::ops::smearing::{wuppertal, SPACE};
use plaq::ops::source::Source;
use plaq::solvers::{no_monitor, SolverKind, SolverParams, Stop};

/// Masks of directions with halos: each alone, some together, all.
const MASKS: [u8; 8] = [1, 2, 4, 8, 0b1001, 0b0110, 0b1110, 0b1111];

/// Divisions of a lattice to test: fewer on a GPU, which compiles kernels for every lattice and mask.
fn divisions(device: &Device) -> Vec<Arc<Comm>> {
    if ranks().size() > 1 {
        return vec![ranks()];
    }
    let masks: &[u8] = if device.is_cpu() { &MASKS } else { &[1, 8, 0b1111] };
    masks.iter().map(|mask| Comm::looped(std::array::from_fn(|mu| mask >> mu & 1 == 1))).collect()
}

/// Results of `run` on every division of a lattice and on the undivided lattice, with a name. The undivided lattice
/// has as many lanes as a part: sets of kernels for different numbers of lanes round differently, with or without
/// fused multiply-add, and a chain of updates is chaotic.
fn compare<T: Send>(
    device: &Device,
    extents: [usize; 4],
    run: impl Fn(&Arc<Geometry>) -> T + Sync,
    check: impl Fn(&T, &T, &str),
) {
    let extents = over_ranks(extents);
    let divided = |comm: &Arc<Comm>| Geometry::decomposed(extents, device, comm).unwrap();
    let mut geometries: Vec<_> = divisions(device).iter().map(divided).collect();
    let parts = geometries.len();
    for lanes in geometries.iter().map(|g| g.lanes()).collect::<BTreeSet<_>>() {
        geometries.push(Geometry::with_lanes(extents, lanes).unwrap());
    }
    // A GPU compiles for each of them: side by side. Ranks meet in the same order.
    let found: Vec<T> = if device.is_cpu() || ranks().size() > 1 {
        geometries.iter().map(&run).collect()
    } else {
        std::thread::scope(|scope| {
            let started: Vec<_> = geometries.iter().map(|g| scope.spawn(|| run(g))).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    };
    let (found, whole) = found.split_at(parts);
    for (geometry, found) in geometries.iter().zip(found) {
        let what = format!("{} {extents:?} {:04b}", device.name(), geometry.halo_mask());
        let same = |g: &Arc<Geometry>| g.lanes() == geometry.lanes();
        let expected = &whole[geometries[parts..].iter().position(same).unwrap()];
        check(found, expected, &what);
    }
}

fn links(device: &Device, geometry: &Arc<Geometry>, precision: Precision) -> GaugeField {
    let mut u = GaugeField::new(device, geometry, precision, Recon::R18).unwrap();
    u.set_random(11).unwrap();
    u
}

/// Compares D x and D† x in lexicographic order on every division of a lattice with those of the whole.
fn operator(device: &Device, extents: [usize; 4], precision: Precision, recon: Recon, nrhs: usize) {
    let phases = [
        Complex64::from_polar(1.0, 0.3),
        -Complex64::ONE,
        Complex64::ONE,
        Complex64::from_polar(1.0, -0.7),
    ];
    let params = DiracParams {
        mass: 0.1,
        csw: 1.2,
        csw_t: 0.9,
        cf: 1.0,
        cf_prime: 1.0,
        mu: 0.2,
        rho: 0.0,
        hop: [0.8, 0.9, 1.1, 1.0],
        boundary: phases,
        ..Default::default()
    };
    let run = |geometry: &Arc<Geometry>| {
        let u = links(device, geometry, Precision::F64);
        let op = Wilson::new(Arc::new(u), params).unwrap();
        let op = op.to(precision, recon).unwrap();
        let mut x = SpinorField::new(device, geometry, precision, Subset::Full, nrhs).unwrap();
        x.set_noise(Noise::Normal, 3, 0).unwrap();
        let mut y = x.like(precision).unwrap();
        op.apply(&mut y, &x).unwrap();
        let forward = y.save_lex().unwrap();
        op.apply_dagger(&mut y, &x).unwrap();
        (forward, y.save_lex().unwrap())
    };
    compare(device, extents, run, |found, expected, what| {
        let apart = distance(&found.0, &expected.0);
        let apart = largest([apart, distance(&found.1, &expected.1)]);
        let bound = match precision {
            // Eight faces rounded once more, each with a unit of its own.
            Precision::F16 => 8.0 * precision.epsilon() * 4.0,
            // A CPU does the same with the same numbers.
            _ if device.is_cpu() => 0.0,
            // NVRTC may fuse differently in the two launches.
            p => 64.0 * p.epsilon(),
        };
        let form = format!("{precision:?} {recon:?} {nrhs}");
        assert!(apart <= bound, "{what} {form}: {apart:e} > {bound:e}");
    });
}

#[test]
fn operators() {
    // Several ranks also go the ways of GPUs.
    for device in devices().into_iter().chain(remotes(&ranks())) {
        for extents in extents_on(&device) {
            for (precision, recon, nrhs) in [
                (Precision::F64, Recon::R18, 1),
                (Precision::F32, Recon::R12, 1),
                (Precision::F32, Recon::R12, 3),
                (Precision::F16, Recon::R8, 2),
            ] {
                operator(&device, extents, precision, recon, nrhs);
            }
        }
    }
}

/// Faces to ranks of the same host are exchanged directly, others through NCCL if it is there, else through the host.
#[test]
fn faces_go_the_shortest_way() {
    let comm = ranks();
    for device in devices().into_iter().chain(remotes(&comm)) {
        let geometry = Geometry::decomposed(over_ranks([4; 4]), &device, &comm).unwrap();
        links(&device, &geometry, Precision::F32);
        let crossings = geometry.crossings(&device);
        let split = (0..4).filter(|&mu| comm.split(mu)).count();
        assert_eq!(crossings.len(), 2 * split);
        for face in &crossings {
            println!("{}: {face}", device.name());
            assert_eq!(face.rank, comm.neighbour(face.mu, face.upper));
            let near = comm.host().contains(&face.rank);
            let asked = std::env::var("PLAQ_HALO").unwrap_or_default();
            let far = if comm.takes_gpu_memory() && asked != "staged" {
                "MPI"
            } else {
                "MPI from copies on the host"
            };
            let name = device.name();
            let mut words = name.split(' ');
            let expected = match (words.next(), words.next(), &*asked) {
                (Some("cpu"), ..) => "MPI",
                (Some("remote"), Some("shared"), "" | "peer") if near => "its memory",
                (Some("remote"), Some("connected"), "" | "peer" | "nccl") => "NCCL",
                (Some("remote"), ..) => far,
                // GPUs use the way that PLAQ_HALO asks for.
                (.., "nccl") => "NCCL",
                (.., "mpi" | "staged") => far,
                // Without a request they use what the machine offers, which is not checked.
                _ => continue,
            };
            assert_eq!(face.route, expected, "{}: {face}", device.name());
        }
    }
}

/// Operators where one rank cannot take the way of the others: the same numbers, by the ways that are left, and no rank
/// waits for one that gave up.
#[test]
fn one_rank_cannot_go_the_way_of_the_others() {
    let comm = ranks();
    if comm.size() == 1 {
        return println!("skipped: one rank");
    }
    let last = comm.size() - 1;
    let mut all = vec![];
    // Here no rank reaches all of its neighbours' memory. Otherwise some would wait for signals of kernels, which a CPU
    // does not send.
    if comm.hosts() > 1 || comm.size() == 2 {
        all.push((shared_but_for(last, &comm), false));
    }
    all.extend(connected_but_for(last, &comm).map(|device| (device, true)));
    for (device, connects) in all {
        let start = Instant::now();
        operator(&device, EXTENTS[0], Precision::F64, Recon::R18, 1);
        let waited = start.elapsed();
        assert!(waited < comm.timeout() / 4, "{}: {waited:?}", device.name());
        let geometry = Geometry::decomposed(over_ranks(EXTENTS[0]), &device, &comm).unwrap();
        for face in geometry.crossings(&device) {
            let whole = !connects && face.rank != last && comm.rank() != last;
            let near = whole && comm.host().contains(&face.rank);
            assert_eq!(face.route == "its memory", near, "{}: {face}", device.name());
            assert_ne!(face.route, "NCCL", "{}", device.name());
        }
    }
}

/// What a solve announces holds the memory of the messages that it sends, by the ways that there are: no more and no
/// less than these take.
#[test]
fn messages_are_announced() {
    let comm = ranks();
    if comm.size() == 1 {
        return println!("skipped: one rank");
    }
    let mut all = remotes(&comm);
    if comm.hosts() > 1 || comm.size() == 2 {
        all.push(shared_but_for(comm.size() - 1, &comm));
    }
    for device in all {
        let geometry = Geometry::decomposed(over_ranks(EXTENTS[0]), &device, &comm).unwrap();
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_near_unit(5, 0.3).unwrap();
        let op = Wilson::new(Arc::new(u), DiracParams::default().with_kappa(0.11)).unwrap();
        let params = SolveParams {
            solver: SolverParams { stop: Stop::at(1e-8), ..Default::default() },
            ..Default::default()
        };
        let op = Arc::new(op);
        let solver = DiracSolver::new(op.clone(), params).unwrap();
        // Once there is a place for the messages it is not announced any more: that of one column, with which residuals
        // are found, and that of both.
        let [(before, held), (after, more)] = [0, 2].map(|columns| {
            for columns in 1..=columns {
                let mut x = op.shape().field(columns).unwrap();
                x.set_noise(Noise::Normal, 3, 0).unwrap();
                let mut y = x.like(Precision::F64).unwrap();
                op.apply(&mut y, &x).unwrap();
            }
            (solver.memory(2).unwrap(), geometry.halo_bytes(&device))
        });
        assert!(more > held);
        assert_eq!(before - after, more - held, "{} rank {}", device.name(), comm.rank());
    }
}

/// Where devices send each other messages by themselves they add up by themselves, too: as MPI does but for rounding,
/// with the same bits on all ranks, and with the word that says whether a rank wants to stop.
#[test]
fn devices_add_up_by_themselves() {
    let comm = ranks();
    let devices = remotes(&comm);
    let connected = |device: &&Device| device.name().starts_with("remote connected");
    let Some(by_themselves) = devices.iter().find(connected) else {
        return println!("skipped: nothing stands in for NCCL");
    };
    // The first is one that others reach through the host alone.
    let [by_hosts, by_devices] = [&devices[0], by_themselves].map(|device| {
        let before = SUMS.load(Ordering::Relaxed);
        let geometry = Geometry::decomposed(over_ranks([4, 4, 4, 8]), device, &comm).unwrap();
        let u = links(device, &geometry, Precision::F64);
        let found = plaquette(&u).unwrap();
        let found = [found.spatial, found.temporal];
        let bits = comm.all_gather(bytemuck::cast_slice(&found)).unwrap();
        assert!(bits.chunks_exact(16).all(|theirs| *theirs == bits[..16]), "{}", device.name());
        // The last rank asks to stop: all hear of it with the next sums, and not before.
        let last = comm.rank() + 1 == comm.size();
        comm.guard(|| {
            assert!(!comm.stop(last));
            plaquette(&u)?;
            assert!(comm.stop(false), "{}", device.name());
            Ok(())
        })
        .unwrap();
        let sums = comm.counts().sums;
        plaquette(&u).unwrap();
        (found, SUMS.load(Ordering::Relaxed) - before, comm.counts().sums - sums)
    });
    assert_eq!((by_hosts.1, by_hosts.2), (0, 1));
    assert_eq!((by_devices.1, by_devices.2), (3, 0));
    for (a, b) in by_devices.0.iter().zip(&by_hosts.0) {
        assert!((a - b).abs() <= 1e-14, "{a} {b}");
    }
}

/// A rank sends each of its neighbours one message in an exchange, also one that is its neighbour both ways.
#[test]
fn one_message_a_neighbour() {
    let comm = ranks();
    if comm.size() == 1 {
        return println!("skipped: one rank");
    }
    let device = Device::cpu(1).unwrap();
    let geometry = Geometry::decomposed(over_ranks(EXTENTS[0]), &device, &comm).unwrap();
    let u = links(&device, &geometry, Precision::F64);
    let op = Wilson::new(Arc::new(u), DiracParams::default().with_kappa(0.11)).unwrap();
    let neighbours: BTreeSet<usize> = (0..4)
        .flat_map(|mu| [false, true].map(|upper| comm.neighbour(mu, upper)))
        .filter(|&rank| rank != comm.rank())
        .collect();
    for columns in [3, 1, 3] {
        let mut x = op.shape().field(columns).unwrap();
        x.set_noise(Noise::Normal, 3, 0).unwrap();
        let mut y = x.like(Precision::F64).unwrap();
        let before = comm.counts().messages;
        op.apply(&mut y, &x).unwrap();
        // The sites of one parity, then those of the other.
        assert_eq!(comm.counts().messages - before, 2 * neighbours.len() as u64);
    }
}

/// Exchanges of fewer columns use the buffers that were allocated for more, and are right.
#[test]
fn fewer_columns_take_no_messages_of_their_own() {
    for device in devices() {
        for comm in divisions(&device) {
            let extents = over_ranks(EXTENTS[0]);
            let geometry = Geometry::decomposed(extents, &device, &comm).unwrap();
            let u = links(&device, &geometry, Precision::F64);
            let params = DiracParams { mass: 0.1, csw: 1.2, csw_t: 0.9, ..Default::default() };
            let op = Wilson::new(Arc::new(u), params).unwrap();
            let x = || {
                let mut x = op.shape().field(6).unwrap();
                x.set_noise(Noise::Normal, 3, 0).unwrap();
                x
            };
            let (all, mut image) = (x(), x());
            op.apply(&mut image, &all).unwrap();
            let held = geometry.halo_bytes(&device);
            for (first, count) in [(1, 4), (5, 1), (0, 6), (2, 2)] {
                let columns = |f: &SpinorField| {
                    let mut part = f.like_with(Precision::F64, count).unwrap();
                    part.copy_rhs(0, f, first, count).unwrap();
                    part
                };
                let mut found = columns(&image).like(Precision::F64).unwrap();
                op.apply(&mut found, &columns(&all)).unwrap();
                assert_eq!(geometry.halo_bytes(&device), held);
                let [found, expected] =
                    [found, columns(&image)].map(|f: SpinorField| f.save_lex().unwrap());
                let apart = distance(&found, &expected);
                // NVRTC may fuse differently in the two launches.
                let bound = if device.is_cpu() { 0.0 } else { 64.0 * Precision::F64.epsilon() };
                let what = format!("{} {:04b}", device.name(), geometry.halo_mask());
                assert!(apart <= bound, "{what} {first} {count}: {apart:e}");
            }
        }
    }
}

/// Operators are right on a part whose inner sites move enough data for a GPU to compute outer sites at the same time
/// (`Hop::order` in kernels/wilson.h).
#[test]
fn operator_on_a_large_part() {
    for device in devices() {
        if device.is_cpu() {
            println!("left out on the CPU, which has one order of sites");
            continue;
        }
        operator(&device, [32, 16, 32, 32], Precision::F64, Recon::R18, 1);
    }
}

/// Several columns of spinors are smeared right, in space alone and in all directions, with t or space divided.
#[test]
fn columns_are_smeared() {
    for device in devices() {
        for directions in [SPACE, 15] {
            let run = |geometry: &Arc<Geometry>| {
                let u = Arc::new(links(&device, geometry, Precision::F64));
                let new = SpinorField::new(&device, geometry, Precision::F64, Subset::Full, 3);
                let mut x = new.unwrap();
                x.set_noise(Noise::Normal, 3, 0).unwrap();
                wuppertal(&mut x, &u, 0.7, 2, directions).unwrap();
                x.save_lex().unwrap()
            };
            compare(&device, [4, 4, 4, 8], run, |found, expected, what| {
                let apart = distance(found, expected);
                assert!(apart <= 1e-14, "{what} directions {directions}: {apart:e}");
            });
        }
    }
}

#[test]
fn random_fields() {
    for device in devices() {
        for extents in extents_on(&device) {
            let run = |geometry: &Arc<Geometry>| {
                let mut u = links(&device, geometry, Precision::F64);
                let haar = u.save_lex().unwrap();
                u.set_near_unit(4, 0.3).unwrap();
                let mut all = vec![haar, u.save_lex().unwrap()];
                for noise in [Noise::Normal, Noise::Z4] {
                    let new = SpinorField::new(&device, geometry, Precision::F64, Subset::Odd, 2);
                    let mut x = new.unwrap();
                    x.set_noise(noise, 3, 5).unwrap();
                    all.push(x.save_lex().unwrap());
                }
                all
            };
            // Every site draws its own numbers.
            compare(&device, extents, run, |found, expected, what| {
                assert!(found == expected, "{what}: other numbers");
            });
        }
    }
}

#[test]
fn gauge_fields() {
    for device in devices() {
        for extents in extents_on(&device) {
            for (precision, sweeps) in [(Precision::F64, 3), (Precision::F32, 1)] {
                let run = |geometry: &Arc<Geometry>| {
                    let mut u = links(&device, geometry, precision);
                    let before = (plaquette(&u).unwrap(), field_strength(&u).unwrap());
                    let loops: Vec<_> = (0..4).map(|mu| polyakov_loop(&u, mu).unwrap()).collect();
                    Quenched::new(5.7, 5).unwrap().run(&mut u, sweeps).unwrap();
                    let short = u.to(Precision::F16, Recon::R12).unwrap();
                    let short = plaquette(&short).unwrap().total;
                    (before, loops, short, unitarity(&u).unwrap().worst(), u.save_lex().unwrap())
                };
                // Sums of up to a thousand terms of order one; links that depend on links updated
                // before.
                let rounding = 1e4 * precision.epsilon();
                compare(&device, extents, run, |found, expected, what| {
                    let (((p, f), (q, g)), what) =
                        ((found.0, expected.0), format!("{what} {precision:?}"));
                    assert!((p.total - q.total).abs() < rounding, "{what}: {p:?} {q:?}");
                    assert!((p.temporal - q.temporal).abs() < rounding, "{what}: {p:?} {q:?}");
                    assert!((f.charge - g.charge).abs() < rounding, "{what}: {f:?} {g:?}");
                    for (a, b) in found.1.iter().zip(&expected.1) {
                        assert!((a - b).norm() < rounding, "{what}: {a} {b}");
                    }
                    assert!((found.2 - expected.2).abs() < 1e-4, "{what}");
                    assert!((found.3 - expected.3).abs() < rounding, "{what}: unitarity");
                    let apart = distance(&found.4, &expected.4);
                    assert!(apart < rounding, "{what}: links {apart:e}");
                });
            }
        }
    }
}

/// A propagator in mixed precision with even-odd preconditioning, and its hadrons, are the same on every division.
#[test]
fn propagators() {
    const TOL: f64 = 1e-11;
    for device in devices() {
        for extents in [EXTENTS[0], EXTENTS[2]] {
            let run = |geometry: &Arc<Geometry>| {
                let mut u = GaugeField::new(&device, geometry, Precision::F64, Recon::R18).unwrap();
                u.set_near_unit(5, 0.3).unwrap();
                let dirac = DiracParams { csw: 1.1, csw_t: 1.1, ..Default::default() };
                let op = Wilson::new(Arc::new(u), dirac.with_kappa(0.11)).unwrap();
                let kind = SolverKind::BiCgStab;
                let params = SolveParams {
                    solver: SolverParams { kind, stop: Stop::at(TOL), ..Default::default() },
                    equations: Equations::Direct,
                    even_odd: Some(Schur { parity: 1, symmetric: true }),
                    sloppy: Some((Precision::F32, Recon::R12)),
                    ..Default::default()
                };
                let solver = DiracSolver::new(Arc::new(op), params).unwrap();
                let source = Source::point([1, 0, 3, 1]);
                let (x, report) = propagator(&solver, source, COLUMNS, &mut no_monitor).unwrap();
                assert!(report.solver.converged);
                let hadrons = correlators(&x, source.position, Boundary::PERIODIC).unwrap();
                (x.save_lex().unwrap(), hadrons)
            };
            compare(&device, extents, run, |found, expected, what| {
                // Each solution is within TOL times the condition number, here about 10.
                let bound = 2.0 * 10.0 * TOL;
                let apart = distance(&found.0, &expected.0);
                assert!(apart < bound, "{what}: {apart:e}");
                let sums = |h: &plaq::ops::correlators::Correlators| {
                    [&h.pion[..], &h.rho[0], &h.rho[1], &h.rho[2]].concat()
                };
                let apart = distance(&sums(&found.1), &sums(&expected.1));
                assert!(apart < 2.0 * bound, "{what}: mesons {apart:e}");
                for (a, b) in found.1.nucleon.iter().zip(&expected.1.nucleon) {
                    let top = expected.1.nucleon.iter().fold(0.0f64, |m, z| m.max(z.norm()));
                    assert!((a - b).norm() < 3.0 * bound * top, "{what}: nucleon {a} {b}");
                }
            });
        }
    }
}
