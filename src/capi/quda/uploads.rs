//! Fields of the host that were uploaded before: they are known by their content, as hosts pass
//! the same arrays with every right-hand side, and new ones at the same addresses.

use rayon::prelude::*;

use crate::comm::Comm;
use crate::error::Result;

/// Hash of an array's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 32]);

/// Bytes that a thread hashes at a time.
const CHUNK: usize = 1 << 20;

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        let parts: Vec<[u8; 32]> =
            bytes.par_chunks(CHUNK).map(|chunk| *blake3::hash(chunk).as_bytes()).collect();
        Digest(*blake3::hash(parts.as_flattened()).as_bytes())
    }
}

/// The last thing made of something, and what that was.
pub struct Kept<K, T>(Option<(K, T)>);

impl<K, T> Default for Kept<K, T> {
    fn default() -> Self {
        Kept(None)
    }
}

impl<K: PartialEq, T: Clone> Kept<K, T> {
    /// What was made of `key`, or what `make` makes of it now; the former one is gone before. All
    /// ranks make anew where one does, as making takes all of them.
    pub fn get(&mut self, comm: &Comm, key: K, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let known = matches!(&self.0, Some((old, _)) if *old == key);
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
