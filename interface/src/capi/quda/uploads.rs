//! Fields that were uploaded from the host before. They are recognised by their content: hosts pass the same arrays
//! with every right-hand side, but also new contents at the same addresses.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::comm::Comm;
use crate::compose::{DiracSolver, SolveParams};
use crate::error::Result;
use crate::fields::{CloverField, GaugeField, Precision, Recon, SpinorField};

/// Hash of an array's bytes: 128 bits of XXH3, so that different arrays practically never have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u128);

/// Number of bytes that a thread hashes at a time.
const CHUNK: usize = 1 << 20;

impl Digest {
    /// The digest of bytes, computed by the thread pool in which this is called.
    pub fn of(bytes: &[u8]) -> Digest {
        let parts: Vec<u128> = bytes.par_chunks(CHUNK).map(xxh3_128).collect();
        Digest(xxh3_128(bytemuck::cast_slice(&parts)))
    }
}

/// The last value that was made, with its key.
pub struct Cached<K, T>(Option<(K, T)>);

impl<K, T> Default for Cached<K, T> {
    fn default() -> Self {
        Cached(None)
    }
}

/// Whether two keys are equal. It is not inlined: otherwise compilers compare the key before checking that it exists,
/// which valgrind reports as an error.
#[inline(never)]
fn same<K: PartialEq>(old: &K, new: &K) -> bool {
    old == new
}

impl<K: PartialEq, T: Clone> Cached<K, T> {
    /// Returns the object made of `key`: the stored one if the key is the same, else a new one by `make`, before which
    /// the stored one is dropped. All ranks make a new one if any rank does, since `make` takes all of them.
    pub fn get(&mut self, comm: &Comm, key: K, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let known = self.0.as_ref().is_some_and(|(old, _)| same(old, &key));
        let mut missing = [!known as i32 as f64];
        comm.sum(&mut missing)?;
        if let (0.0, Some((_, value))) = (missing[0], &self.0) {
            return Ok(value.clone());
        }
        self.0 = None;
        let value = make()?;
        self.0 = Some((key, value.clone()));
        Ok(value)
    }
}

/// Links of the host on the device, stored whole or as two rows of each matrix.
#[derive(Clone)]
pub struct Links {
    pub field: Arc<GaugeField>,
    /// Storage in which the iteration may keep these links.
    pub sloppy: Recon,
}

pub type LinksKey = (Digest, [f64; 4], Precision, Precision);
pub type CloverKey = (Digest, Precision, Precision);
pub type SolverKey = (LinksKey, [CloverKey; 2], u64, Precision, SolveParams);

/// Objects that a solve leaves for the next one.
#[derive(Default)]
pub struct Solves {
    pub links: Cached<LinksKey, Links>,
    pub clover: [Cached<CloverKey, Arc<CloverField>>; 2],
    pub solver: Cached<SolverKey, Arc<DiracSolver>>,
    pub spinors: Option<[SpinorField; 2]>,
}
