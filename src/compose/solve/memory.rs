//! The memory that solves need, found by rehearsals before they run, and the number of right-hand sides that fit in
//! it.

use std::collections::hash_map::Entry;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::inverter::{Inverter, SolveRequest};
use crate::backend::Device;
use crate::compose::multigrid::Multigrid;
use crate::error::Result;
use crate::fields::{Needs, VectorField};
use crate::operators::QuarkAction;
use crate::params::Key;
use crate::solvers::{no_monitor, Stop};

/// A solve with its fields, made on a rehearsal's device; calling it runs the solve there.
pub type PreparedSolve = Box<dyn FnOnce()>;

/// The size of a solve: the number of its algorithm (0: the first one, larger numbers for those that may continue it),
/// and its numbers of solutions and of right-hand sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    pub algorithm: usize,
    pub solutions: usize,
    pub nrhs: usize,
}

/// Makes a solve on the given device; the hierarchy is one on that device that replaces the solve's own.
pub type PrepareSolve =
    dyn Fn(&Device, Option<&Arc<Multigrid>>, Size) -> Result<PreparedSolve> + Send + Sync;

/// The device memory of solves with an action, besides x and b, as counted in a rehearsal of a first solve, which
/// shares no temporary fields with earlier work. For a solve with several possible algorithms it is the largest of
/// theirs. Inverse clover blocks that are kept only if memory allows it are not included.
pub struct SolveMemory {
    action: Arc<dyn QuarkAction>,
    multigrid: Option<Arc<Multigrid>>,
    make: Box<PrepareSolve>,
    /// Number of algorithms that the solve may use, one after the other.
    algorithms: usize,
    /// Bytes of device memory of solves that have been rehearsed, by their size and the bytes of message buffers at the
    /// time.
    known: Mutex<HashMap<(Size, u64), u64>>,
}

impl SolveMemory {
    pub fn new(
        action: Arc<dyn QuarkAction>,
        multigrid: Option<Arc<Multigrid>>,
        algorithms: usize,
        make: Box<PrepareSolve>,
    ) -> Self {
        SolveMemory { action, multigrid, make, algorithms, known: Mutex::default() }
    }

    fn device(&self) -> Device {
        self.action.shape().device
    }

    /// Bytes of device memory of a solve for `nrhs` right-hand sides, with one solution for each.
    ///
    /// # Errors
    /// `InvalidArgument`: `nrhs` is not a possible number of right-hand sides.
    pub fn bytes(&self, nrhs: usize) -> Result<u64> {
        self.bytes_of(1, nrhs)
    }

    /// Bytes of device memory of a solve with this number of solutions for each right-hand side.
    pub fn bytes_of(&self, solutions: usize, nrhs: usize) -> Result<u64> {
        let messages = self.action.links().geometry().halo_bytes(&self.device());
        let mut largest = 0;
        for algorithm in 0..self.algorithms {
            let size = Size { algorithm, solutions, nrhs };
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let found = match known.entry((size, messages)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => *place.insert(self.footprint(size)?),
            };
            largest = largest.max(found);
        }
        Ok(largest)
    }

    fn footprint(&self, size: Size) -> Result<u64> {
        let geometry = self.action.links().geometry();
        let (_, taken) = self.in_rehearsal(|device, multigrid| {
            let there = || (self.make)(device, multigrid, size);
            geometry.footprint((&self.device(), device), None, there, |made| {
                made();
                Ok(())
            })
        })?;
        Ok(taken)
    }

    /// Compiles, in parallel, the kernels of a first solve for `nrhs` right-hand sides by the first algorithm; `key` is
    /// the key of all settings on which kernels depend.
    pub fn compile(&self, key: Key, nrhs: usize) {
        let (geometry, size) =
            (self.action.links().geometry(), Size { algorithm: 0, solutions: 1, nrhs });
        let run = |device: &Device, multigrid: Option<&Arc<Multigrid>>| {
            (self.make)(device, multigrid, size).map(|made| made())
        };
        match &self.multigrid {
            None => {
                geometry.precompile(&self.device(), None, false, key, |device| run(device, None))
            }
            Some(multigrid) => multigrid.with_stand_in(|like| {
                let device = like.device();
                let work = |dry: &Device| run(dry, Some(like));
                geometry.precompile(&self.device(), Some(&device), false, key, work);
            }),
        }
    }

    /// The memory of a solve, and the kernels of its first algorithm.
    ///
    /// # Errors
    /// Errors of [`SolveMemory::bytes`].
    pub fn needs(&self, nrhs: usize) -> Result<Needs> {
        let geometry = self.action.links().geometry();
        let needs = self.in_rehearsal(|device, multigrid| {
            let there =
                || (self.make)(device, multigrid, Size { algorithm: 0, solutions: 1, nrhs });
            geometry.needs((&self.device(), device), there, |made| {
                made();
                Ok(())
            })
        })?;
        Ok(Needs { memory: self.bytes(nrhs)?, ..needs })
    }

    /// Runs `work` in a rehearsal; its arguments are the device of the rehearsal and the hierarchy there that replaces
    /// the solve's own.
    fn in_rehearsal<T>(&self, work: impl FnOnce(&Device, Option<&Arc<Multigrid>>) -> T) -> T {
        match &self.multigrid {
            None => work(&self.device().stand_in(), None),
            Some(multigrid) => multigrid.with_stand_in(|like| work(&like.device(), Some(like))),
        }
    }

    /// Runs, in a rehearsal, all kernels that the links of the chain launch.
    pub fn run_through(
        &self,
        chain: &dyn Inverter,
        request: &SolveRequest,
        x: &mut VectorField,
        b: &VectorField,
    ) {
        let request =
            SolveRequest { stop: Stop { seconds: f64::INFINITY, ..request.stop }, ..*request };
        // The sums of a rehearsal are made up and may end the solve with an error, which is ignored.
        let _ = chain.solve(x, b, &request, &mut no_monitor);
    }

    /// Refuses work that needs more memory than is free. A solve may use the vectors that multigrid's cycles keep; if
    /// memory is short, they are freed.
    pub fn require(&self, bytes: u64, what: &str) -> Result<()> {
        let device = self.device();
        device.require(bytes, what).or_else(|short| match self.frees() {
            true => device.require(bytes, what),
            false => Err(short),
        })
    }

    /// Frees vectors that earlier cycles of multigrid left; returns true if there is a hierarchy, which may have left
    /// some.
    fn frees(&self) -> bool {
        if let Some(multigrid) = &self.multigrid {
            multigrid.free_idle();
        }
        self.multigrid.is_some()
    }

    /// Refuses, on all ranks, work that needs more memory than there is on one.
    pub fn make(&self, bytes: impl FnOnce() -> Result<u64>) -> Result<()> {
        let fits = bytes().and_then(|bytes| self.require(bytes, "this solve"));
        self.action.links().geometry().comm().agree(fits)
    }

    /// Whether all ranks have this number of bytes free, for something that can be left out. All ranks call this and
    /// get the same answer.
    ///
    /// # Errors
    /// `CommFailed`: ranks do not agree.
    pub fn has(&self, bytes: impl Fn() -> Result<u64>) -> Result<bool> {
        let here = || self.device().has_memory_for(&bytes, "this solve");
        let here = here().and_then(|fits| Ok(fits || (self.frees() && here()?)));
        self.everywhere(here)
    }

    /// The first of these choices for whose `bytes` all ranks have enough memory; None: there is none. All ranks call
    /// this and get the same answer.
    ///
    /// # Errors
    /// `CommFailed`: ranks do not agree.
    pub fn first_to_fit<T: Copy>(
        &self,
        choices: &[T],
        bytes: impl Fn(T) -> Result<u64>,
    ) -> Result<Option<T>> {
        let comm = self.action.links().geometry().comm();
        for &choice in choices {
            let bytes = comm.agree(bytes(choice))?;
            if self.everywhere(Ok(self.require(bytes, "this solve").is_ok()))? {
                return Ok(Some(choice));
            }
        }
        Ok(None)
    }

    /// Whether `here` is true on all ranks; an error of one rank is an error of all.
    fn everywhere(&self, here: Result<bool>) -> Result<bool> {
        let comm = self.action.links().geometry().comm();
        let mut short = [f64::from(!comm.agree(here)?)];
        comm.max(&mut short)?;
        Ok(short[0] == 0.0)
    }

    /// The number of right-hand sides, whose x and b exist already, that are solved for together: all `nrhs` if they
    /// fit, or the largest part of equal size that does. All ranks call this and get the same number.
    ///
    /// # Errors
    /// `OutOfMemory`: not even one fits.
    pub fn at_once(&self, nrhs: usize) -> Result<usize> {
        self.at_once_of(1, nrhs)
    }

    /// The number of [`SolveMemory::at_once`] for solves with several solutions for each right-hand side.
    ///
    /// # Errors
    /// Errors of [`SolveMemory::at_once`].
    pub fn at_once_of(&self, solutions: usize, nrhs: usize) -> Result<usize> {
        match self.first_to_fit(&even_parts(nrhs), |n| self.bytes_of(solutions, n))? {
            Some(n) => Ok(n),
            None => self.make(|| self.bytes_of(solutions, 1)).map(|()| 1),
        }
    }

    /// The largest number of right-hand sides, at most `nrhs`, that can be solved at once in the memory of this rank
    /// alone; [`SolveMemory::at_once`] takes the least of all ranks. `None`: not even one fits.
    pub fn at_once_here(&self, nrhs: usize) -> Option<usize> {
        let device = self.device();
        let fits =
            |n: &usize| self.bytes(*n).is_ok_and(|b| device.require(b, "this solve").is_ok());
        even_parts(nrhs).into_iter().find(fits)
    }
}

/// Sizes of parts into which `nrhs` right-hand sides can be divided evenly, the largest first.
pub fn even_parts(nrhs: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..=nrhs).map(|parts| nrhs.div_ceil(parts)).collect();
    sizes.dedup();
    sizes
}
