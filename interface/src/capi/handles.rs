//! Handles: 64-bit ids made of kind (7 bits), generation (24 bits) and slot (32 bits). An id that is not the present
//! one of its slot is refused, so that handles of destroyed objects and invented ones do no harm.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::sync::{RwLockReadGuard, RwLockWriteGuard, Weak};

use crate::bail;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// A C struct for a handle, and the kind of object behind it.
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
    /// Name of the kind of object in C.
    name: &'static str,
    /// Number of the use of the slot, part of the object's id; never 0, so that no id is 0.
    generation: u32,
    /// Id of the context to which the object belongs.
    owner: i64,
    object: Option<Object>,
    /// True if other objects have belonged to this one.
    owns: bool,
    /// Number of the call of all ranks that made the object (`Comm::call`), by which ranks identify it.
    made_in: i64,
    /// The ranks of the last object in this slot, as long as they exist.
    ranks: Weak<Comm>,
}

struct Table {
    slots: Vec<Slot>,
    /// Empty slots that can be used again.
    free: Vec<usize>,
}

static SLOTS: Mutex<Table> = Mutex::new(Table { slots: Vec::new(), free: Vec::new() });
const GENERATIONS: u32 = 1 << 24;

impl Table {
    /// Takes the object out of its slot, which may then be used again.
    fn empty(&mut self, slot: usize) -> Option<Object> {
        if self.slots[slot].generation < GENERATIONS - 1 {
            self.free.push(slot);
        }
        self.slots[slot].object.take()
    }
}

fn slots() -> MutexGuard<'static, Table> {
    // No code panics between two changes of the table that belong together, so that a poisoned one is still whole.
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id_of(slot: usize, s: &Slot) -> i64 {
    (s.kind as i64) << 56 | (s.generation as i64) << 32 | slot as i64
}

fn slot_of(id: i64) -> usize {
    (id & 0xffff_ffff) as usize
}

thread_local! {
    /// Handles that calls of this thread have made and not yet passed to the host.
    static MADE: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

/// A guard for the handles that a call makes: they are passed to the host if the call succeeds on all ranks, and
/// otherwise destroyed.
pub(crate) struct NewHandles(usize);

impl NewHandles {
    pub fn begin() -> Self {
        NewHandles(MADE.with_borrow(Vec::len))
    }
    /// Keeps the handles, as the host has received them.
    pub fn keep(self) {
        MADE.with_borrow_mut(|made| made.truncate(self.0));
    }
}

impl Drop for NewHandles {
    fn drop(&mut self) {
        let lost = MADE.with_borrow_mut(|made| made.split_off(self.0.min(made.len())));
        let mut dropped = Vec::new();
        {
            let mut table = slots();
            for id in lost {
                let slot = slot_of(id);
                if table.slots.get(slot).is_some_and(|s| s.object.is_some() && id_of(slot, s) == id)
                {
                    dropped.push(table.empty(slot));
                }
            }
        }
    }
}

/// Makes a handle for an object that is destroyed with its context, whose id is `owner` (0 for contexts).
pub(crate) fn insert<H: HandleType>(object: Arc<H::Object>, owner: i64) -> Result<H> {
    let ranks = H::ranks(&object);
    let (made_in, ranks) = (ranks.call(), Arc::downgrade(ranks));
    let mut table = slots();
    if owner != 0 {
        let lives = |s: &&mut Slot| s.object.is_some() && id_of(slot_of(owner), s) == owner;
        match table.slots.get_mut(slot_of(owner)).filter(lives) {
            Some(owner) => owner.owns = true,
            None => {
                bail!(InvalidHandle, "context: destroyed while this call made a {} in it", H::NAME)
            }
        }
    }
    let slot = table.free.pop().unwrap_or_else(|| {
        let (object, ranks) = (None, Weak::new());
        let none = Slot {
            kind: 0,
            name: "",
            generation: 0,
            owner: 0,
            object,
            owns: false,
            made_in: 0,
            ranks,
        };
        table.slots.push(none);
        table.slots.len() - 1
    });
    let entry = &mut table.slots[slot];
    (entry.owns, entry.made_in, entry.ranks) = (false, made_in, ranks);
    (entry.kind, entry.name) = (H::KIND, H::NAME);
    entry.generation += 1;
    entry.owner = owner;
    entry.object = Some(object);
    let id = id_of(slot, entry);
    MADE.with_borrow_mut(|made| made.push(id));
    Ok(H::from_id(id))
}

/// The slot of an existing object, or the error for a wrong handle.
fn find<H: HandleType>(slots: &[Slot], handle: H, argument: &str) -> Result<usize> {
    let id = handle.id();
    let slot = slot_of(id);
    if id == 0 {
        refuse!(InvalidHandle, "{argument}", expected("a {}", H::NAME), found("the zero handle"));
    }
    if (id >> 56) as u8 != H::KIND {
        match slots.get(slot).filter(|s| s.object.is_some() && id_of(slot, s) == id) {
            Some(s) => {
                refuse!(
                    InvalidHandle,
                    "{argument}",
                    expected("a {}", H::NAME),
                    found("a {}", s.name)
                )
            }
            None => {
                refuse!(
                    InvalidHandle,
                    "{argument}",
                    expected("a {}", H::NAME),
                    found("{id:#x}, not one")
                )
            }
        }
    }
    match slots.get(slot) {
        Some(s) if s.object.is_some() && id_of(slot, s) == id => Ok(slot),
        _ => refuse!(
            InvalidHandle,
            "{argument}",
            expected("a living {}", H::NAME),
            found("{id:#x}, destroyed or never made")
        ),
    }
}

/// The object behind a handle, which exists at least until the call ends.
pub(crate) fn get<H: HandleType>(handle: H, argument: &str) -> Result<Arc<H::Object>> {
    let object = {
        let table = slots();
        table.slots[find(&table.slots, handle, argument)?].object.clone()
    };
    match object.map(|o| o.downcast::<H::Object>()) {
        Some(Ok(object)) => Ok(object),
        _ => bail!(Internal, "{argument}: a {} is of another type", H::NAME),
    }
}

/// The number of the call that made an object; 0 if it is not known.
pub(crate) fn made_in<H: HandleType>(handle: H) -> i64 {
    let table = slots();
    find(&table.slots, handle, "").map_or(0, |slot| table.slots[slot].made_in)
}

/// For the handle of a destroyed object, its ranks, as long as its context or another object keeps them.
pub(crate) fn ranks_of_stale<H: HandleType>(handle: H) -> Option<Arc<Comm>> {
    let table = slots();
    let slot = table.slots.get(slot_of(handle.id()))?;
    // An id that was never given out belongs to no ranks.
    let generation = (handle.id() >> 32) as u32 & (GENERATIONS - 1);
    if slot.kind != (handle.id() >> 56) as u8 || generation > slot.generation {
        return None;
    }
    slot.ranks.upgrade()
}

/// Destroys an object and all that it owns. The zero handle is accepted, like `free(NULL)`.
pub(crate) fn remove<H: HandleType>(handle: H, argument: &str) -> Result<()> {
    if handle.id() == 0 {
        return Ok(());
    }
    let mut dropped = Vec::new();
    {
        let mut table = slots();
        let slot = find(&table.slots, handle, argument)?;
        dropped.push(table.empty(slot));
        if table.slots[slot].owns {
            let owned = |s: &Slot| s.owner == handle.id() && s.object.is_some();
            for slot in 0..table.slots.len() {
                if owned(&table.slots[slot]) {
                    dropped.push(table.empty(slot));
                }
            }
        }
    }
    // Fields are dropped before the device, and after the lock is released.
    dropped.reverse();
    Ok(())
}

/// An object that calls read or change. A call never waits for another one: if the object is in use the call is
/// refused, so that neither threads nor callbacks can block each other.
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
