//! Handles: 64-bit ids of kind (7 bits), generation (24 bits) and slot (32 bits). An id that is
//! not the current one of a slot is refused, so stale and made-up handles do no harm.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use crate::bail;
use crate::comm::Comm;
use crate::error::Result;

/// A C handle struct and the object behind it.
pub trait HandleType: Copy {
    type Object: Send + Sync + 'static;
    const KIND: u8;
    const NAME: &'static str;
    fn from_id(id: i64) -> Self;
    fn id(self) -> i64;
    /// The ranks that share the object.
    fn ranks(object: &Self::Object) -> &Arc<Comm>;
}

type Object = Arc<dyn Any + Send + Sync>;

struct Slot {
    kind: u8,
    /// Never 0, so that no id is 0.
    generation: u32,
    /// Id of the context that the object belongs to.
    owner: i64,
    object: Option<Object>,
}

static SLOTS: Mutex<Vec<Slot>> = Mutex::new(Vec::new());
const GENERATIONS: u32 = 1 << 24;

fn slots() -> MutexGuard<'static, Vec<Slot>> {
    // Nothing in here panics half-way, so a poisoned table is still whole.
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id_of(slot: usize, s: &Slot) -> i64 {
    (s.kind as i64) << 56 | (s.generation as i64) << 32 | slot as i64
}

fn slot_of(id: i64) -> usize {
    (id & 0xffff_ffff) as usize
}

/// A new handle; the object dies with its context, whose id is `owner` (0 for contexts).
pub(crate) fn insert<H: HandleType>(object: Arc<H::Object>, owner: i64) -> Result<H> {
    let mut slots = slots();
    let owner_lives = |s: &Slot| s.object.is_some() && id_of(slot_of(owner), s) == owner;
    if owner != 0 && !slots.get(slot_of(owner)).is_some_and(owner_lives) {
        bail!(InvalidHandle, "context: destroyed while this call made a {} in it", H::NAME);
    }
    let free = slots.iter().position(|s| s.object.is_none() && s.generation < GENERATIONS - 1);
    let slot = free.unwrap_or_else(|| {
        slots.push(Slot { kind: 0, generation: 0, owner: 0, object: None });
        slots.len() - 1
    });
    let entry = &mut slots[slot];
    entry.kind = H::KIND;
    entry.generation += 1;
    entry.owner = owner;
    entry.object = Some(object);
    Ok(H::from_id(id_of(slot, entry)))
}

/// The slot of a living object, or what is wrong with the handle.
fn find<H: HandleType>(slots: &[Slot], handle: H, argument: &str) -> Result<usize> {
    let id = handle.id();
    let slot = slot_of(id);
    if id == 0 {
        bail!(InvalidHandle, "{argument}: expected a {}, found the zero handle", H::NAME);
    }
    if (id >> 56) as u8 != H::KIND {
        bail!(InvalidHandle, "{argument}: expected a {}, found {id:#x}, not one", H::NAME);
    }
    match slots.get(slot) {
        Some(s) if s.object.is_some() && id_of(slot, s) == id => Ok(slot),
        _ => bail!(
            InvalidHandle,
            "{argument}: expected a living {}, found {id:#x}, destroyed or never made",
            H::NAME
        ),
    }
}

/// The object behind a handle, kept alive for the call.
pub(crate) fn get<H: HandleType>(handle: H, argument: &str) -> Result<Arc<H::Object>> {
    let object = {
        let slots = slots();
        slots[find(&slots, handle, argument)?].object.clone()
    };
    match object.map(|o| o.downcast::<H::Object>()) {
        Some(Ok(object)) => Ok(object),
        _ => bail!(Internal, "{argument}: a {} is of another type", H::NAME),
    }
}

/// Forgets an object and all that it owns. The zero handle is accepted, like `free(NULL)`.
pub(crate) fn remove<H: HandleType>(handle: H, argument: &str) -> Result<()> {
    if handle.id() == 0 {
        return Ok(());
    }
    let mut dropped = Vec::new();
    {
        let mut slots = slots();
        let slot = find(&slots, handle, argument)?;
        dropped.push(slots[slot].object.take());
        let owned = slots.iter_mut().filter(|s| s.owner == handle.id());
        dropped.extend(owned.map(|s| s.object.take()));
    }
    // The fields die before the device, and outside the lock.
    dropped.reverse();
    Ok(())
}

/// Something that calls read or change. A call never waits for another: the second is refused,
/// so that neither threads nor callbacks can lock each other out.
#[derive(Debug)]
pub(crate) struct Shared<T>(RwLock<T>);

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        Shared(RwLock::new(value))
    }

    pub fn read(&self, argument: &str) -> Result<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => {
                bail!(Busy, "{argument} is being changed by this or another call")
            }
            Err(TryLockError::Poisoned(_)) => {
                bail!(Internal, "{argument} was lost to an earlier internal error")
            }
        }
    }

    pub fn write(&self, argument: &str) -> Result<RwLockWriteGuard<'_, T>> {
        match self.0.try_write() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => {
                bail!(Busy, "{argument} is in use by this or another call: use different fields")
            }
            Err(TryLockError::Poisoned(_)) => {
                bail!(Internal, "{argument} was lost to an earlier internal error")
            }
        }
    }
}
