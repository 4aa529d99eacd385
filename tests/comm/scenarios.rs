//! Scenarios for tests of the ranks' messages: what each rank does, and checks.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plaq::backend::Device;
use plaq::comm::{host, Comm, Communicator, Message, Options, RankMap};
use plaq::compose::{DiracSolver, SolveParams};
use plaq::error::{Error, Result, Status};
use plaq::fields::{GaugeField, Geometry, Noise, Precision, Recon, SpinorField, Subset};
use plaq::linop::LinOp;
use plaq::operators::{DiracParams, Wilson};
use plaq::solvers::Progress;

use crate::common::ranks::{ranks, start_mpi};
use crate::common::remote::remotes;

pub fn run(name: &str) {
    match name {
        "sums" => sums(),
        "exchange" => exchange(),
        "silent" => silent(),
        "maps" => maps(),
        "wrong_grids" => wrong_grids(),
        "hosts" => hosts(),
        "ways" => ways(),
        "agree" => agree(),
        "guard" => guard(),
        "parts" => parts(),
        "part_fails" => part_fails(),
        "fail" => fail(),
        "hang" => hang(),
        "stop" => stop(),
        "killed" => dies(killed),
        "exits" => dies(|| std::process::exit(1)),
        "leaves" => dies(leaves),
        "staged" | "shared" | "connected" => dies_between_messages(name),
        "single" => threads(0),
        "funneled" => threads(1),
        "serialized" => threads(2),
        "multiple" => threads(3),
        "missing" => missing(),
        other => panic!("no scenario {other}"),
    }
}

fn world(options: &Options) -> Arc<Comm> {
    Comm::mpi(Communicator::World, ranks().grid().map(|n| n as i32), &RankMap::Default, options)
        .expect("ranks")
}

fn with_timeout(seconds: f64) -> Arc<Comm> {
    let timeout = Some(Duration::from_secs_f64(seconds));
    let comm = world(&Options { timeout, ..Default::default() });
    // All ranks have made their Comm before one fails: a failure would end the making on ranks that are not done.
    ranks().agree(Ok(())).expect("all ranks have it");
    comm
}

fn refused<T>(result: Result<T>, status: Status, words: &str) {
    let error = result.err().unwrap_or_else(|| panic!("expected {status:?} with {words:?}"));
    assert_eq!(error.status, status, "{}", error.message());
    assert!(error.message().contains(words), "{words:?} in {:?}", error.message());
}

/// Checks that ranks can still do every operation together.
fn well(comm: &Comm) {
    let mut one = [1.0];
    comm.sum(&mut one).expect("a sum");
    assert_eq!(one[0], comm.size() as f64);
    ring(comm, 100, |_, _| true);
}

fn sums() {
    let comm = ranks();
    let (rank, size) = (comm.rank(), comm.size());
    let mut values = [rank as f64 + 0.5, 1.0, -(rank as f64)];
    comm.sum(&mut values).unwrap();
    let triangle = (size * (size - 1)) as f64 / 2.0;
    assert_eq!(values, [triangle + 0.5 * size as f64, size as f64, -triangle]);
    comm.sum(&mut []).unwrap();
    let mut long: Vec<f64> = (0..1000).map(|i| (rank * 1000 + i) as f64).collect();
    comm.sum(&mut long).unwrap();
    let expected = |i: usize| triangle * 1000.0 + (size * i) as f64;
    assert!((0..1000).all(|i| long[i] == expected(i)));
    for n in [0, 1, 7, 100_000] {
        let mine = vec![rank as u8 + 1; n];
        let all = comm.all_gather(&mine).unwrap();
        let expected: Vec<u8> = (0..size).flat_map(|r| vec![r as u8 + 1; n]).collect();
        assert!(all == expected, "{n} bytes");
    }
    // The sum of these numbers depends on its order, which reproducible sums fix: they add up by rank.
    let ordered = world(&Options { reproducible: true, ..Default::default() });
    let given = |r: usize, i: usize| {
        ((r * 7 + i * 13) as f64 * 0.7).sin() * 10f64.powi((r * i) as i32 % 17)
    };
    let mut found: Vec<f64> = (0..200).map(|i| given(rank, i)).collect();
    ordered.sum(&mut found).unwrap();
    for (i, found) in found.iter().enumerate() {
        let expected: f64 = (0..size).map(|r| given(r, i)).sum();
        assert_eq!(found.to_bits(), expected.to_bits());
    }
    assert_eq!(comm.node().len(), size, "all on this machine");
    assert_eq!(comm.node_rank(), rank);
}

/// One rank alone calls each function that ranks otherwise call together: in silent mode it sends no messages, and
/// the other ranks do not wait for it.
fn silent() {
    let comm = ranks();
    let (rank, size) = (comm.rank(), comm.size());
    if rank == 0 {
        let alone = comm.silent(1);
        assert!(Arc::ptr_eq(&alone, &alone.silent(1)) && !Arc::ptr_eq(&alone, &comm.silent(2)));
        let mut values = [2.5, -1.0];
        alone.sum(&mut values).unwrap();
        alone.max(&mut values).unwrap();
        assert_eq!(values, [2.5, -1.0]);
        assert_eq!(alone.all_gather(&[7, 8]).unwrap(), [7, 8].repeat(size));
        let split = (0..4).find(|&mu| alone.neighbour(mu, true) != rank).unwrap();
        assert_eq!(alone.shift(split, &[1.5f64, 2.5]).unwrap(), [0.0; 2]);
        let own = own_error(&alone);
        refused(alone.agree::<()>(Err(own.clone())), own.status, &own.message());
        refused(alone.guard::<()>(|| Err(own.clone())), own.status, &own.message());
        assert_eq!(alone.fail(&own).message(), own.message());
        assert!(alone.stop(true) && !alone.stop(false));
        let part = alone.coarser([1; 4]).unwrap().unwrap();
        assert_eq!((part.size(), part.node()), (1, &[0][..]));
        refused(alone.divide(Some(0), 0, [1; 4]), Status::Unsupported, "divided together");
    }
    // No message of the ranks' common calls was lost, and none is left over.
    well(&comm);
    assert_eq!(comm.failures(), 0);
    let part = comm.coarser([1; 4]).unwrap();
    assert_eq!(part.is_some(), rank == 0);
}

/// Sends `bytes` to both neighbours in each direction with halos, between ranks that `talk`, and checks
/// what came.
fn ring(comm: &Comm, bytes: usize, talk: impl Fn(usize, usize) -> bool) {
    let fill = |rank: usize, mu: usize, forward: bool| {
        (0..bytes).map(|i| (i * 31 + rank * 7 + mu * 3 + forward as usize) as u8).collect()
    };
    let moves: Vec<(usize, bool)> =
        (0..4).filter(|&mu| comm.split(mu)).flat_map(|mu| [(mu, false), (mu, true)]).collect();
    let send: Vec<Vec<u8>> = moves.iter().map(|&(mu, f)| fill(comm.rank(), mu, f)).collect();
    let mut recv = vec![vec![0u8; bytes]; moves.len()];
    let messages: Vec<Message> = moves
        .iter()
        .enumerate()
        .map(|(i, &(mu, forward))| {
            let (to, from) = (comm.neighbour(mu, forward), comm.neighbour(mu, !forward));
            let half = |rank, address| if talk(comm.rank(), rank) { address } else { 0 };
            Message {
                to,
                from,
                tag: (2 * mu + forward as usize) as i32,
                send: half(to, send[i].as_ptr() as u64),
                recv: half(from, recv[i].as_mut_ptr() as u64),
                bytes,
            }
        })
        .collect();
    // SAFETY: the messages lie in buffers of this function, of `bytes` bytes each.
    let pending = unsafe { comm.start_raw(&messages, None) }.unwrap();
    comm.finish(pending).unwrap();
    for (&(mu, forward), found) in moves.iter().zip(&recv) {
        let from = comm.neighbour(mu, !forward);
        let expected =
            if talk(comm.rank(), from) { fill(from, mu, forward) } else { vec![0; bytes] };
        assert!(*found == expected, "{mu} {forward}");
    }
}

fn exchange() {
    let comm = world(&Options { looped: [true, false, true, true], ..Default::default() });
    assert!(comm.split(0) && comm.split(2) && comm.split(3));
    assert_eq!(comm.split(1), comm.grid()[1] > 1);
    for bytes in [0, 1, 1000, 3_000_000] {
        ring(&comm, bytes, |_, _| true);
    }
    ring(&comm, 1000, |a, b| a == b || (a + b) % 3 != 0);
    let (rank, grid, at) = (comm.rank(), comm.grid(), comm.coords());
    assert_eq!(((at[3] * grid[2] + at[2]) * grid[1] + at[1]) * grid[0] + at[0], rank);
    let local = comm.local_extents([12, 12, 16, 24]).unwrap();
    assert_eq!(local, [12 / grid[0], 12 / grid[1], 16 / grid[2], 24 / grid[3]]);
    let mut odd = [8; 4];
    let mu = (0..4).find(|&mu| grid[mu] > 1);
    if let Some(mu) = mu {
        odd[mu] = 2 * grid[mu] + grid[mu];
        refused(comm.local_extents(odd), Status::ProcessGrid, "even extent");
    }
}

fn maps() {
    ranks();
    let grid = [1, 2, 1, 2];
    let own = |comm: &Comm| (comm.coords(), comm.coords_of(0));
    let table =
        Comm::mpi(Communicator::World, grid, &RankMap::Table(&[3, 1, 2, 0]), &Options::default())
            .unwrap();
    let places = [[0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]];
    assert_eq!(own(&table), (places[table.rank()], places[0]));
    well(&table);
    // A map of ranks in which t runs fastest.
    let function = |c: [i32; 4]| c[1] * 2 + c[3];
    let map = RankMap::Function(&function);
    let t_fastest = Comm::mpi(Communicator::World, grid, &map, &Options::default()).unwrap();
    let rank = t_fastest.rank();
    assert_eq!(own(&t_fastest), ([0, rank / 2, 0, rank % 2], [0; 4]));
    assert_eq!(t_fastest.neighbour(1, true), (rank + 2) % 4);
    well(&t_fastest);
    let zeros = Comm::mpi(Communicator::World, [0; 4], &RankMap::Default, &Options::default());
    assert_eq!(zeros.unwrap().grid(), [1, 1, 1, 4]);
}

/// Ranks find the number of ranks per host that `PLAQ_TEST_PER_HOST` sets, and parts of the ranks know it as well.
fn hosts() {
    let all = ranks();
    assert_eq!((all.hosts(), all.host()), (1, all.node()));
    let per_host = std::env::var("PLAQ_TEST_PER_HOST").unwrap();
    std::env::set_var("PLAQ_RANKS_PER_HOST", &per_host);
    let made = || {
        let grid = all.grid().map(|n| n as i32);
        Comm::mpi(Communicator::World, grid, &RankMap::Default, &Options::default())
    };
    let Ok(each) = per_host.parse::<usize>() else {
        return refused(made(), Status::InvalidArgument, "PLAQ_RANKS_PER_HOST: expected a number");
    };
    let comm = made().unwrap();
    let (rank, size) = (comm.rank(), comm.size());
    let first = rank / each * each;
    assert_eq!(comm.hosts(), size.div_ceil(each));
    assert_eq!(comm.host(), (first..size.min(first + each)).collect::<Vec<_>>());
    // Cores and GPUs are still shared among all ranks of the machine.
    assert_eq!((comm.node().len(), comm.node_rank()), (size, rank));
    // Every other rank makes a part: with two ranks per host each rank of it has a host of its own.
    let part = comm.divide(
        Some(rank as u32 % 2),
        rank as u32,
        [1, 1, 1, size.div_ceil(2) - (size % 2) * (rank % 2)],
    );
    let part = part.unwrap().unwrap();
    assert_eq!((part.hosts(), part.host()), (part.size(), &[part.rank()][..]));
    well(&comm);
    std::env::remove_var("PLAQ_RANKS_PER_HOST");
}

/// Another way of messages on the last rank, or one that there is not, is an error on all ranks, which go on after it.
fn ways() {
    let comm = ranks();
    let last = comm.rank() + 1 == comm.size();
    let device = remotes(&comm).swap_remove(0);
    let links = || {
        let extents = std::array::from_fn(|mu| 4 * comm.grid()[mu]);
        let geometry = Geometry::decomposed(extents, &device, &comm)?;
        let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
        comm.guard(|| u.set_near_unit(5, 0.3))
    };
    for (ways, found) in [
        (["nccl", "staged"], "expected the same on all ranks"),
        (["nccl", "peer"], "expected the same on all ranks"),
        (["staged", "post"], "expected peer, nccl, mpi or staged"),
    ] {
        std::env::set_var("PLAQ_HALO", ways[usize::from(last)]);
        refused(links(), Status::InvalidArgument, found);
    }
    std::env::set_var("PLAQ_HALO", "staged");
    links().unwrap();
    std::env::remove_var("PLAQ_HALO");
    well(&comm);
}

fn wrong_grids() {
    let comm = ranks();
    let size = comm.size() as i32;
    let make = |grid: [i32; 4], map: &RankMap| {
        Comm::mpi(Communicator::World, grid, map, &Options::default())
    };
    let whole = [1, 1, 1, size];
    for grid in [[1, 1, 1, size + 1], [1, 0, 1, size], [-1, -1, 1, size], [i32::MAX; 4]] {
        refused(make(grid, &RankMap::Default), Status::ProcessGrid, "product");
    }
    let same = vec![0; size as usize];
    let short = &same[1..];
    if size > 1 {
        refused(make(whole, &RankMap::Table(&same)), Status::ProcessGrid, "again");
        refused(make(whole, &RankMap::Table(short)), Status::ProcessGrid, "rank map");
        // One rank alone asks for a wrong grid: the others return its status and message.
        let grid = if comm.rank() == 1 { [1, 1, 1, 77] } else { whole };
        refused(make(grid, &RankMap::Default), Status::ProcessGrid, "rank 1: process grid");
        // Each rank asks for a grid that is right by itself, but they differ.
        let turned = if comm.rank() == 1 { [1, 1, size, 1] } else { whole };
        refused(make(turned, &RankMap::Default), Status::ProcessGrid, "different");
    }
    refused(make(whole, &RankMap::Function(&|_| size)), Status::ProcessGrid, "rank map");
    well(&make(whole, &RankMap::Default).unwrap());
}

fn own_error(comm: &Comm) -> Error {
    Error::new(Status::OutOfMemory, format!("no room on {}", comm.rank()))
}

fn agree() {
    let comm = ranks();
    let last = comm.size() - 1;
    for _ in 0..20 {
        assert_eq!(comm.agree(Ok(5)).unwrap(), 5);
        let mine = if comm.rank() == last { Err(own_error(&comm)) } else { Ok(()) };
        refused(comm.agree(mine), Status::OutOfMemory, &format!("rank {last}: no room on {last}"));
        // If all ranks have the same status, each keeps its own message.
        let all = comm.agree::<()>(Err(own_error(&comm)));
        assert_eq!(all.unwrap_err().message(), format!("no room on {}", comm.rank()));
        // If all ranks have errors of different status, the first rank's is returned on all.
        let status = if comm.rank() == 0 { Status::NotFinite } else { Status::NotUnitary };
        let mixed = comm.agree::<()>(Err(Error::new(status, "x".repeat(5000))));
        refused(mixed, Status::NotFinite, "rank 0: xxx");
        well(&comm);
    }
}

fn guard() {
    let comm = ranks();
    let (rank, last) = (comm.rank(), comm.size() - 1);
    let message = format!("rank {last}: no room on {last}");
    let start = Instant::now();
    for round in 0..8 {
        assert_eq!(comm.guard(|| comm.guard(|| Ok(7))).unwrap(), 7);
        // One rank fails while the others wait in a sum, in an exchange, in an agreement, or not at all.
        let result: Result<()> = comm.guard(|| {
            if rank == last {
                if round % 2 == 1 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                return Err(own_error(&comm));
            }
            match round / 2 {
                0 => comm.sum(&mut [1.0]),
                1 => {
                    ring_or_fail(&comm)?;
                    panic!("an exchange with rank {last} ended");
                }
                2 => comm.agree(Ok(())),
                _ => Ok(()),
            }
        });
        refused(result, Status::OutOfMemory, &message);
        well(&comm);
        // If all ranks have the same wrong argument, each gets its own message.
        let all: Result<()> = comm.guard(|| Err(own_error(&comm)));
        assert_eq!(all.unwrap_err().message(), format!("no room on {rank}"));
        well(&comm);
        // Two ranks fail, the last one late: the error of the first is returned.
        let two: Result<()> = comm.guard(|| {
            if rank == last {
                std::thread::sleep(Duration::from_millis(30));
            }
            if rank == 0 {
                return Err(Error::new(Status::NotFinite, "a NaN"));
            }
            if rank == last {
                return Err(own_error(&comm));
            }
            comm.sum(&mut [1.0])
        });
        refused(two, Status::NotFinite, "rank 0: a NaN");
        well(&comm);
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Ranks are split in two colours, ordered by their keys, with one rank of no colour; the parts are split again.
fn parts() {
    let comm = ranks();
    let (rank, size) = (comm.rank(), comm.size());
    let alone = comm.divide(None, 0, [0; 4]).unwrap();
    assert!(alone.is_none());
    let colour = |r: usize| (r + 1 < size || size == 1).then_some(r as u32 % 2);
    let ranks_of: Vec<usize> =
        (0..size).rev().filter(|&r| colour(r).is_some() && colour(r) == colour(rank)).collect();
    let count = ranks_of.len();
    // The last rank has no colour and so no part, but takes part in the call.
    let part = comm.divide(colour(rank), (size - rank) as u32, [1, count, 1, 1]).unwrap();
    assert_eq!(part.is_some(), colour(rank).is_some());
    if let Some(part) = &part {
        assert_eq!((part.size(), part.grid()), (count, [1, count, 1, 1]));
        assert_eq!(part.rank(), ranks_of.iter().position(|r| *r == rank).unwrap());
        assert_eq!(part.coords(), [0, part.rank(), 0, 0]);
        well(part);
        let own = part.all_gather(&[rank as u8]).unwrap();
        assert_eq!(own, ranks_of.iter().map(|r| *r as u8).collect::<Vec<_>>());
        assert_eq!(part.node(), (0..count).collect::<Vec<_>>());
        let mine = if part.rank() + 1 == count { Err(own_error(&comm)) } else { Ok(()) };
        let words = format!("no room on {}", ranks_of[count - 1]);
        refused(part.agree(mine), Status::OutOfMemory, &words);
        well(part);
        let again = part.divide(Some(7), part.rank() as u32, [1, 1, 1, count]).unwrap().unwrap();
        assert_eq!((again.rank(), again.coords()), (part.rank(), [0, 0, 0, part.rank()]));
        well(&again);
    }
    well(&comm);
    // Coarser grids that keep the division in one direction, and one with a single rank that holds all.
    let grid = comm.grid();
    for mu in 0..5 {
        let coarse: [usize; 4] = std::array::from_fn(|nu| if mu == nu { grid[nu] } else { 1 });
        let alone = comm.silent(1).coarser(coarse).unwrap();
        let part = comm.coarser(coarse).unwrap();
        let own = comm.coords();
        let first = (0..4).all(|nu| nu == mu || own[nu] == 0);
        assert_eq!(part.is_some(), first, "{coarse:?} {own:?}");
        // A rank alone, in silent mode, knows as much about the part.
        let known = |part: &Option<Arc<Comm>>| {
            part.as_ref().map(|part| {
                let hops = [0, 1, 2, 3].map(|mu| [false, true].map(|up| part.neighbour(mu, up)));
                let split = [0, 1, 2, 3].map(|mu| part.split(mu));
                (part.rank(), part.grid(), part.coords(), part.node().to_vec(), hops, split)
            })
        };
        assert_eq!(known(&alone), known(&part), "{coarse:?}");
        let Some(part) = part else { continue };
        assert_eq!(part.grid(), coarse);
        assert_eq!(part.coords(), std::array::from_fn(|nu| if mu == nu { own[nu] } else { 0 }));
        well(&part);
        if part.size() > 1 {
            let last = part.coarser([1; 4]).unwrap();
            assert_eq!(last.is_some(), part.rank() == 0);
        }
    }
    let again = [comm.coarser([1; 4]).unwrap(), comm.coarser([1; 4]).unwrap()];
    if let [Some(one), Some(other)] = again {
        assert!(Arc::ptr_eq(&one, &other), "made once");
    }
    refused(comm.coarser([1, 0, 1, 1]), Status::ProcessGrid, "does not divide");
    refused(comm.coarser(grid.map(|n| n + 1)), Status::ProcessGrid, "does not divide");
    refused(comm.divide(Some(0), 0, [1, 1, 1, size + 1]), Status::ProcessGrid, "product");
    refused(comm.divide(Some(rank as u32), 0, [1, 1, 1, 2]), Status::ProcessGrid, "colour 0");
    if size > 1 {
        let turned = if rank == 1 { [size, 1, 1, 1] } else { [1, size, 1, 1] };
        refused(comm.divide(Some(3), 0, turned), Status::ProcessGrid, "ranks 0 and 1");
    }
    // All ranks send numbers to rank 0, which sends them to all.
    for n in [0, 1, 100_000] {
        let values = |r: usize| (0..n).map(|i| (r * 7 + i) as u32).collect::<Vec<u32>>();
        let takes: Vec<_> = (0..size).filter(|_| rank == 0).map(|r| (r, n)).collect();
        let found = comm.deliver(vec![(0, values(rank))], &takes).unwrap();
        assert!(found.iter().enumerate().all(|(r, v)| *v == values(r)));
        let sends = (0..size).filter(|_| rank == 0).map(|r| (r, values(r + 5))).collect();
        assert!(comm.deliver(sends, &[(0, n)]).unwrap()[0] == values(rank + 5));
    }
    assert_eq!(comm.shift(3, &[rank as u16]).unwrap()[0], comm.neighbour(3, true) as u16);
    well(&comm);
}

/// A rank of a part fails while other ranks of the part wait for a sum, and ranks outside wait for a message.
fn part_fails() {
    let comm = ranks();
    let (rank, size) = (comm.rank(), comm.size());
    let held = size.div_ceil(2);
    let part = comm.divide((rank < held).then_some(1), rank as u32, [1, 1, held, 1]).unwrap();
    let message = format!("rank {}: no room on {}", held - 1, held - 1);
    let start = Instant::now();
    for round in 0..4 {
        let result: Result<()> = comm.guard(|| {
            if rank + 1 == held {
                if round % 2 == 1 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                return Err(own_error(&comm));
            }
            match &part {
                Some(part) if round < 2 => part.guard(|| part.sum(&mut [1.0])),
                Some(part) => part.all_gather(&vec![1; 1 << 20]).map(|_| ()),
                None => comm.deliver::<u8>(vec![], &[(held - 1, 1 << 20)]).map(|_| ()),
            }
        });
        refused(result, Status::OutOfMemory, &message);
        // Messages that were under way when the part failed disturb nobody.
        part.iter().for_each(|part| well(part));
        well(&comm);
        comm.guard(|| part.as_ref().map_or(Ok(()), |part| part.sum(&mut [1.0]))).unwrap();
    }
    // A rank outside of the part fails, and one inside is lost: the whole part is lost with it.
    if size > 1 {
        let result: Result<()> = comm.guard(|| match &part {
            _ if rank + 1 == size => Err(own_error(&comm)),
            Some(part) if part.size() > 1 => {
                let mut forever = Ok(());
                while forever.is_ok() {
                    forever = part.sum(&mut [1.0]);
                }
                forever
            }
            _ => comm.sum(&mut [1.0]),
        });
        refused(result, Status::OutOfMemory, &format!("no room on {}", size - 1));
        part.iter().for_each(|part| well(part));
        let lost = with_timeout(30.0);
        let part = lost.divide(Some(0), rank as u32, [size, 1, 1, 1]).unwrap().unwrap();
        let error = if rank == 1 { Err(part.fail(&own_error(&comm))) } else { ring_or_fail(&part) };
        refused(error, Status::CommFailed, "rank 1 failed with PLAQ_OUT_OF_MEMORY");
        refused(lost.sum(&mut [1.0]), Status::CommFailed, "rank 1 failed");
        refused(part.sum(&mut [1.0]), Status::CommFailed, "rank 1 failed");
        well(&comm);
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Does as `ring` for exchanges that may fail, and returns their error.
fn ring_or_fail(comm: &Comm) -> Result<()> {
    let buffers = Arc::new(vec![vec![1u8; 1 << 20]; 16]);
    for mu in (0..4).filter(|&mu| comm.split(mu)) {
        let message = |forward: bool| Message {
            to: comm.neighbour(mu, forward),
            from: comm.neighbour(mu, !forward),
            tag: forward as i32,
            send: buffers[mu * 4 + forward as usize].as_ptr() as u64,
            recv: buffers[mu * 4 + 2 + forward as usize].as_ptr() as u64,
            bytes: 1 << 20,
        };
        let messages = [message(false), message(true)];
        // SAFETY: the exchange keeps the buffers.
        let pending = unsafe { comm.start_raw(&messages, Some(buffers.clone()))? };
        comm.finish(pending)?;
    }
    comm.sum(&mut [0.0])
}

fn fail() {
    let comm = with_timeout(30.0);
    let last = comm.size() - 1;
    let words = format!("rank {last} failed with PLAQ_OUT_OF_MEMORY: no room on {last}");
    let start = Instant::now();
    let result =
        if comm.rank() == last { Err(comm.fail(&own_error(&comm))) } else { ring_or_fail(&comm) };
    refused(result, Status::CommFailed, &words);
    assert!(start.elapsed() < Duration::from_secs(10), "news, not the time-out");
    let start = Instant::now();
    refused(comm.sum(&mut [1.0]), Status::CommFailed, &words);
    refused(comm.all_gather(&[1]), Status::CommFailed, &words);
    refused(comm.agree(Ok(())), Status::CommFailed, &words);
    refused(comm.guard(|| Ok(())), Status::CommFailed, &words);
    // SAFETY: there is no message.
    refused(unsafe { comm.start_raw(&[], None) }, Status::CommFailed, &words);
    assert!(start.elapsed() < Duration::from_secs(1), "at once");
    // A panic inside a guarded call.
    let comm = with_timeout(30.0);
    let result = if comm.rank() == 0 {
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let panics = std::panic::AssertUnwindSafe(|| comm.guard::<()>(|| panic!("a defect")));
        assert!(std::panic::catch_unwind(panics).is_err());
        std::panic::set_hook(quiet);
        comm.sum(&mut [1.0])
    } else {
        comm.guard(|| comm.sum(&mut [1.0]))
    };
    refused(result, Status::CommFailed, "rank 0 failed with PLAQ_INTERNAL");
    well(&with_timeout(30.0));
    well(&ranks());
}

fn hang() {
    let comm = with_timeout(1.5);
    let start = Instant::now();
    if comm.rank() == 0 {
        std::thread::sleep(Duration::from_secs(4));
        refused(comm.sum(&mut [1.0]), Status::CommFailed, "rank 1: no answer for 1.5 s");
    } else {
        refused(
            comm.guard(|| ring_or_fail(&comm)),
            Status::CommFailed,
            "rank 1: no answer for 1.5 s: a message from rank 0 (4 messages open)",
        );
        let waited = start.elapsed().as_secs_f64();
        assert!((1.5..3.5).contains(&waited), "{waited} s");
    }
    // The same MPI communicator can be used for a new Comm.
    well(&with_timeout(30.0));
    // A rank that comes later than the time limit to the making of its Comm.
    if comm.rank() == 0 {
        std::thread::sleep(Duration::from_secs(2));
    }
    let soon = Options { timeout: Some(Duration::from_secs(1)), ..Default::default() };
    let made = Comm::mpi(Communicator::World, [0; 4], &RankMap::Default, &soon);
    refused(made, Status::CommFailed, "duplicating");
}

/// Stops this process with a signal, as a debugger stops a rank.
fn stop() {
    let comm = with_timeout(2.0);
    let start = Instant::now();
    if comm.rank() == 2 {
        let own = std::process::id() as i32;
        // A child process wakes this process up after five seconds. SAFETY: the child only signals its parent and ends.
        unsafe {
            if libc::fork() == 0 {
                libc::sleep(5);
                libc::kill(own, libc::SIGCONT);
                libc::_exit(0);
            }
            libc::kill(own, libc::SIGSTOP);
        }
        // Another thread of the process may be the first to stop.
        std::thread::sleep(Duration::from_millis(200));
        assert!(start.elapsed() > Duration::from_secs(4));
        // The sum may succeed on this rank, if parts of the other ranks arrive before their failure.
        let _ = comm.sum(&mut [1.0]);
    } else {
        refused(comm.sum(&mut [1.0]), Status::CommFailed, "no answer for 2 s");
        let waited = start.elapsed().as_secs_f64();
        assert!((1.9..4.0).contains(&waited), "{waited} s");
    }
    refused(comm.sum(&mut [1.0]), Status::CommFailed, "no answer for 2 s");
    well(&with_timeout(30.0));
}

fn killed() {
    // SAFETY: the process ends.
    unsafe { libc::raise(libc::SIGKILL) };
}

/// Ends this process without its functions at exit, which would end MPI.
fn leaves() {
    // SAFETY: the process ends.
    unsafe { libc::_exit(1) };
}

/// The last rank ends in the middle of a solve. The other ranks print the error that they got, if mpirun lets them
/// run on.
fn dies(end: fn()) {
    let comm = with_timeout(3.0);
    let (rank, last) = (comm.rank(), comm.size() - 1);
    let device = Device::cpu(1).unwrap();
    let extents = std::array::from_fn(|mu| 4 * comm.grid()[mu]);
    let geometry = Geometry::decomposed(extents, &device, &comm).unwrap();
    let form = (Precision::F64, Recon::R18);
    let mut u = GaugeField::new(&device, &geometry, form.0, form.1).unwrap();
    u.set_near_unit(5, 0.3).unwrap();
    let op = Wilson::new(Arc::new(u), DiracParams::default().with_kappa(0.12)).unwrap();
    let solver = DiracSolver::new(Arc::new(op), SolveParams::default()).unwrap();
    let field = || SpinorField::new(&device, &geometry, form.0, Subset::Full, 1).unwrap();
    let (mut x, mut b) = (field(), field());
    b.set_noise(Noise::Normal, 3, 0).unwrap();
    let mut reached = None;
    let solved = comm.guard(|| {
        solver.solve(&mut x, &b, &mut |progress: &Progress| {
            if progress.iteration == 3 {
                reached = Some(Instant::now());
                if rank == last {
                    end();
                }
            }
            ControlFlow::Continue(())
        })
    });
    left_alone(rank, reached.expect("three iterations"), solved.map(|_| ()))
}

/// The last rank is killed between two exchanges of devices that stand in for GPUs, with messages sent as `way` says.
fn dies_between_messages(way: &str) {
    let comm = with_timeout(3.0);
    let (rank, last) = (comm.rank(), comm.size() - 1);
    let named = |device: &Device| match way {
        "staged" => device.name().starts_with("remote cpu"),
        _ => device.name().starts_with(&format!("remote {way}")),
    };
    let device = remotes(&comm).into_iter().find(named).expect("a device with this way");
    let extents = std::array::from_fn(|mu| 4 * comm.grid()[mu]);
    let geometry = Geometry::decomposed(extents, &device, &comm).unwrap();
    let form = (Precision::F64, Recon::R18);
    let mut u = GaugeField::new(&device, &geometry, form.0, form.1).unwrap();
    u.set_near_unit(5, 0.3).unwrap();
    let op = Wilson::new(Arc::new(u), DiracParams::default().with_kappa(0.12)).unwrap();
    let field = || SpinorField::new(&device, &geometry, form.0, Subset::Full, 1).unwrap();
    let (mut x, mut y) = (field(), field());
    let mut reached = None;
    let ended = comm.guard(|| {
        for round in 0.. {
            if round == 10 {
                reached = Some(Instant::now());
                if rank == last {
                    killed();
                }
            }
            op.apply(&mut y, &x)?;
            op.apply(&mut x, &y)?;
        }
        Ok(())
    });
    left_alone(rank, reached.expect("ten rounds"), ended)
}

/// Prints the error that a rank got after another rank had ended, and ends this process.
fn left_alone(rank: usize, reached: Instant, result: Result<()>) {
    let waited = reached.elapsed().as_secs_f64();
    let status = result.expect_err("a rank is gone").status;
    println!("rank {rank}: {status:?} after {waited:.1} s");
    assert!(status == Status::CommFailed && waited < 6.0);
    // MPI cannot be ended properly without the rank that is gone. SAFETY: the process ends.
    unsafe { libc::_exit(0) };
}

fn threads(level: i32) {
    start_mpi(level);
    refused(host::init(level), Status::MpiState, "already");
    let comm = Comm::mpi(Communicator::World, [0; 4], &RankMap::Default, &Options::default());
    let comm = comm.unwrap();
    well(&comm);
    let elsewhere = std::thread::scope(|s| s.spawn(|| comm.sum(&mut [1.0])).join().unwrap());
    if level < 2 {
        refused(elsewhere, Status::MpiThread, "MPI_THREAD_SERIALIZED");
        let made = std::thread::scope(|s| {
            let make =
                || Comm::mpi(Communicator::World, [0; 4], &RankMap::Default, &Options::default());
            s.spawn(make).join().unwrap()
        });
        refused(made, Status::MpiThread, "thread");
    } else {
        elsewhere.unwrap();
        std::thread::scope(|s| s.spawn(|| well(&comm)).join().unwrap());
    }
    well(&comm);
}

fn missing() {
    let made = Comm::mpi(Communicator::World, [0; 4], &RankMap::Default, &Options::default());
    refused(made, Status::MpiMissing, "make mpi");
}
