//! A cache of compiled kernels on disk, so that each is compiled only once per machine. Nothing in here fails:
//! without a usable folder, or with a damaged entry, kernels are compiled again.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::compiling;
use super::nvrtc::{Compiled, Usage};

/// A folder of compiled kernels, `<key>.cubin`: 32 bytes with the blake3 hash of the following bytes, 4 x u32 of
/// resources used, CUBIN.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

const HEAD: usize = 32 + 16;

impl Cache {
    /// Opens the cache in `$PLAQ_CACHE` (`off`: none), else `$XDG_CACHE_HOME/plaq`, else `~/.cache/plaq`.
    pub fn from_env() -> Cache {
        let var = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = match var("PLAQ_CACHE") {
            Some(v) if v.as_os_str() == "off" => return Cache { folder: None },
            Some(v) => Some(v),
            None => var("XDG_CACHE_HOME")
                .map(|p| p.join("plaq"))
                .or_else(|| var("HOME").map(|p| p.join(".cache/plaq"))),
        };
        folder.map_or(Cache { folder: None }, Cache::at)
    }

    /// Opens a cache in `folder`, which is created if necessary.
    pub fn at(folder: PathBuf) -> Cache {
        match fs::create_dir_all(&folder) {
            Ok(()) => Cache { folder: Some(folder) },
            Err(e) => {
                log::warn!("no kernel cache: cannot create {}: {e}", folder.display());
                Cache { folder: None }
            }
        }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Whether there is an entry for this key; it may be damaged.
    pub fn has(&self, key: &blake3::Hash) -> bool {
        let folder = self.folder.as_ref();
        folder.is_some_and(|folder| folder.join(format!("{}.cubin", key.to_hex())).exists())
    }

    /// The entry with this key, or the result of `compile`. Processes that need the same entry wait for the one that
    /// compiles it. The flag tells whether this call compiled.
    pub fn get_or_compile<E>(
        &self,
        key: &blake3::Hash,
        compile: impl FnOnce() -> Result<Compiled, E>,
    ) -> Result<(Compiled, bool), E> {
        let Some(folder) = &self.folder else { return Ok((compile()?, true)) };
        let key = key.to_hex();
        let entry = folder.join(format!("{key}.cubin"));
        if let Some(hit) = read(&entry) {
            return Ok((hit, false));
        }
        // A lock that cannot be had (some network file systems), or not soon, only means compiling twice.
        let lock_path = folder.join(format!("{key}.lock"));
        let lock = File::create(&lock_path).ok().filter(lock_soon);
        if let Some(hit) = read(&entry) {
            let _ = fs::remove_file(&lock_path);
            return Ok((hit, false));
        }
        let compiled = compile();
        // `begin` makes the end of the process wait until the file is written.
        if let (Ok(compiled), Ok(_running)) = (&compiled, compiling::begin()) {
            if let Err(e) = write_atomically(&entry, &encode(compiled)) {
                log::warn!("kernel cache: cannot write {}: {e}", entry.display());
            }
        }
        // Processes that wait for the lock then find the entry; processes that come later find it without a lock.
        let _ = fs::remove_file(&lock_path);
        drop(lock);
        Ok((compiled?, true))
    }
}

/// Time after which a wait for a lock ends, longer than any compilation takes: a process that was stopped may hold a
/// lock for ever.
const LOCK_LIMIT: Duration = Duration::from_secs(120);

fn lock_soon(file: &File) -> bool {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_LIMIT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(_) => return false,
        }
    }
}

fn encode(compiled: &Compiled) -> Vec<u8> {
    let u = compiled.usage;
    let mut body = Vec::with_capacity(16 + compiled.cubin.len());
    for n in [u.registers, u.spill_stores, u.spill_loads, u.stack] {
        body.extend_from_slice(&n.to_le_bytes());
    }
    body.extend_from_slice(&compiled.cubin);
    [blake3::hash(&body).as_bytes().as_slice(), &body].concat()
}

fn read(path: &Path) -> Option<Compiled> {
    let bytes = fs::read(path).ok()?;
    if bytes.len() <= HEAD || blake3::hash(&bytes[32..]).as_bytes() != &bytes[..32] {
        return None;
    }
    let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
    let usage = Usage {
        registers: word(32),
        spill_stores: word(36),
        spill_loads: word(40),
        stack: word(44),
    };
    Some(Compiled { cubin: bytes[HEAD..].to_vec(), usage })
}

/// Writes a file in such a way that readers see either the old file or the complete new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let unique = format!("tmp.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let temporary = path.with_extension(unique);
    let written = File::create(&temporary).and_then(|mut f| f.write_all(bytes));
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn scratch(name: &str) -> (PathBuf, Cache) {
        let folder = std::env::temp_dir().join(format!("plaq-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        (folder.clone(), Cache::at(folder))
    }
    fn sample(fill: u8) -> Compiled {
        let usage = Usage { registers: 96, spill_stores: 1, spill_loads: 2, stack: 3 };
        Compiled { cubin: vec![fill; 1000], usage }
    }
    fn get(cache: &Cache, fill: u8) -> (Compiled, bool) {
        cache.get_or_compile::<()>(&blake3::hash(b"key"), || Ok(sample(fill))).unwrap()
    }

    #[test]
    fn second_request_hits_and_damage_recompiles() {
        let (folder, cache) = scratch("hit");
        assert_eq!(get(&cache, 1), (sample(1), true));
        assert_eq!(get(&cache, 2), (sample(1), false));
        let entry = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        for damage in [vec![], vec![0; 10], {
            let mut b = fs::read(&entry).unwrap();
            b[500] ^= 1;
            b
        }] {
            fs::write(&entry, damage).unwrap();
            assert_eq!(get(&cache, 1), (sample(1), true));
        }
        // Only the entry is left: no temporary files, no locks.
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn threads_compile_an_entry_once() {
        let (folder, cache) = scratch("once");
        let count = AtomicUsize::new(0);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    let key = blake3::hash(b"shared");
                    let got = cache.get_or_compile::<()>(&key, || {
                        count.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(50));
                        Ok(sample(7))
                    });
                    assert_eq!(got.unwrap().0, sample(7));
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn failures_are_not_stored_and_no_folder_is_no_cache() {
        let (folder, cache) = scratch("fail");
        let key = blake3::hash(b"bad");
        assert_eq!(cache.get_or_compile(&key, || Err("no")), Err("no"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
        let none = Cache { folder: None };
        assert!(get(&none, 1).1 && get(&none, 1).1);
    }
}
